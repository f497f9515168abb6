/* Kernels of removal and insertion, as templates on the real type. Grains are kept in the order of ids, through the
 * other set, in the order that the host uses. */
#ifndef COLLISION_GENERAL_CUDA_FLOW_CUH
#define COLLISION_GENERAL_CUDA_FLOW_CUH

#include "kernels/collision/general/cuda/domain.cuh"
#include "kernels/collision/general/cuda/observe.cuh"

struct region_batch {
  int count;
  double low[8][3], high[8][3];
};

template <typename real> static __device__ bool is_within(const region_batch &batch, const vec4<real> &p) {
  const double x[3] = {(double)p.x, (double)p.y, (double)p.z};
  for (int s = 0; s < batch.count; s++) {
    bool in = true;
    for (int c = 0; c < 3; c++) in = in && x[c] >= batch.low[s][c] && x[c] < batch.high[s][c];
    if (in) return true;
  }
  return false;
}

/* *any = 1 where some own grain is in one of the regions. */
template <typename real>
static __global__ void find_within(general_arrays<real> a, const __grid_constant__ region_batch batch, unsigned k,
                                   int *any) {
  after_previous();
  const vec4<real> *const position = a.grains[a.control[k & 1].order].position;
  for (uint32_t t = blockIdx.x * GENERAL_THREADS + threadIdx.x; t < a.own.threads; t += gridDim.x * GENERAL_THREADS) {
    const uint32_t i = own_grain(a.own, t);
    if (i != GENERAL_NONE && is_within(batch, position[i])) *any = 1;
  }
}

/* Sets rank[id]: whether the grain is in one of the regions; `more`: or in a region of an earlier launch. */
template <typename real>
static __global__ void mark_within(general_arrays<real> a, const __grid_constant__ region_batch batch, bool more,
                                   unsigned k) {
  after_previous();
  const general_numbers &b = *a.numbers;
  const vec4<real> *const position = a.grains[a.control[k & 1].order].position;
  for (uint32_t id = blockIdx.x * GENERAL_THREADS + threadIdx.x; id < b.n; id += gridDim.x * GENERAL_THREADS) {
    const bool in = is_within(batch, position[a.slot[id]]);
    a.rank[id] = in || (more && a.rank[id] != 0);
  }
}

/* Copies the marked grains in the order of ids: ids into `order`, data into the other set; rank[n]: their number. */
template <typename real>
static __global__ void __launch_bounds__(GENERAL_THREADS) pick_marked(general_arrays<real> a, unsigned k) {
  __shared__ uint32_t shared[33];
  const general_numbers &b = *a.numbers;
  const general_control now = a.control[k & 1];
  unsigned round = *(volatile unsigned *)(a.barrier + 1);
  const uint32_t first = blockIdx.x * GENERAL_THREADS + threadIdx.x;
  scan(a.rank, b.n, a.partial, a.barrier, &round, shared);
  for (uint32_t id = first; id < b.n; id += gridDim.x * GENERAL_THREADS) {
    const uint32_t to = a.rank[id], i = a.slot[id];
    if (a.rank[id + 1] == to) continue;
    a.order[to] = id;
    a.grains[now.order ^ 1].position[to] = a.grains[now.order].position[i];
    move_kept(b, a.records[now.home ^ 1], a.records[now.home], to, i);
  }
  if (first == 0) a.barrier[1] = round;
}

/* Moves of an exchange: stretch k of many[k] grains moves from from[k] to to[k]. Device memory, [count]. */
struct grain_moves {
  uint32_t count, before, after; /* count: of stretches; grains before and after */
  const uint32_t *from, *many, *to;
};

/* Returns the new index of a grain; UINT32_MAX: it was removed. */
static inline __device__ uint32_t new_index(const grain_moves &moves, uint32_t id) {
  uint32_t low = 0, high = moves.count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (moves.from[middle] <= id)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0 || id - moves.from[low - 1] >= moves.many[low - 1]) return UINT32_MAX;
  return moves.to[low - 1] + id - moves.from[low - 1];
}

/* Moves the remaining grains out of the other set, where order_by_id left them; the stride of gates and walls
 * becomes `after`. */
template <typename real> static __global__ void move_staying(general_arrays<real> a, grain_moves moves, unsigned k) {
  after_previous();
  const general_numbers &b = *a.numbers;
  const general_control now = a.control[k & 1];
  const general_records<real> &to = a.records[now.home], &from = a.records[now.home ^ 1];
  for (uint32_t id = blockIdx.x * GENERAL_THREADS + threadIdx.x; id < moves.before; id += gridDim.x * GENERAL_THREADS) {
    const uint32_t i = new_index(moves, id);
    if (i == UINT32_MAX) continue;
    move_grain(a.grains[now.order], a.grains[now.order ^ 1], i, id, false);
    to.dissipated[i] = from.dissipated[id];
    to.virial[i] = from.virial[id];
    to.collisions[i] = from.collisions[id];
    to.id[i] = i;
    to.material[i] = from.material[id];
    if (b.worked) to.work[i] = from.work[id];
    for (int s = 0; s < b.gates; s++)
      to.crossed[(size_t)s * moves.after + i] = from.crossed[(size_t)s * moves.before + id];
    for (int s = 0; s < b.wall_numbers; s++)
      to.wall_spring[(size_t)s * moves.after + i] = from.wall_spring[(size_t)s * moves.before + id];
  }
}

/* Inserts new grains, whose numbers stand in the other set, at index [count]. */
template <typename real>
static __global__ void insert_grains(general_arrays<real> a, grain_moves moves, const uint32_t *index, uint32_t count,
                                     unsigned k) {
  after_previous();
  const general_numbers &b = *a.numbers;
  const general_control now = a.control[k & 1];
  const general_grains<real> &to = a.grains[now.order], &from = a.grains[now.order ^ 1];
  const general_records<real> &records = a.records[now.home];
  for (uint32_t n = blockIdx.x * GENERAL_THREADS + threadIdx.x; n < count; n += gridDim.x * GENERAL_THREADS) {
    const uint32_t i = index[n];
    to.position[i] = from.position[n];
    to.velocity[i] = from.velocity[n];
    to.acceleration[i] = from.spin[n];
    to.spin[i] = to.angular_acceleration[i] = {0, 0, 0, 0};
    records.dissipated[i] = records.virial[i] = 0;
    records.collisions[i] = 0;
    records.id[i] = i;
    records.material[i] = a.records[now.home ^ 1].material[n];
    if (b.worked) records.work[i] = 0;
    for (int s = 0; s < b.gates; s++) records.crossed[(size_t)s * moves.after + i] = 0;
    for (int s = 0; s < b.wall_numbers; s++) records.wall_spring[(size_t)s * moves.after + i] = 0;
  }
}

/* Moves the history that pack_history left into the other list, under the new ids; start [after + 1]: where the
 * contacts of each id begin. */
template <typename real>
static __global__ void __launch_bounds__(GENERAL_THREADS)
    move_history(general_arrays<real> a, grain_moves moves, uint32_t *start, unsigned k) {
  __shared__ uint32_t shared[33];
  const general_numbers &b = *a.numbers;
  const int home = a.control[k & 1].home;
  const general_list<real> &to = a.list[home], &from = a.list[home ^ 1];
  const uint32_t first = blockIdx.x * GENERAL_THREADS + threadIdx.x, all = gridDim.x * GENERAL_THREADS;
  unsigned round = *(volatile unsigned *)(a.barrier + 1);
  for (uint32_t i = first; i < moves.after; i += all) start[i] = 0;
  wait_for_all(a.barrier, &round);
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t id = first; id < moves.before; id += all) {
      const uint32_t i = new_index(moves, id);
      uint32_t count = 0;
      for (uint32_t e = a.rank[id]; i != UINT32_MAX && e < a.rank[id + 1]; e++) {
        const uint32_t partner = new_index(moves, from.neighbour[e]);
        if (partner == UINT32_MAX) continue;
        const uint32_t at = start[i] + count++;
        if (pass == 0) continue;
        to.neighbour[at] = partner;
        for (int s = 0; s < b.springs; s++) to.spring[(size_t)s * b.room + at] = from.spring[(size_t)s * b.room + e];
      }
      if (pass == 0 && i != UINT32_MAX) start[i] = count;
    }
    wait_for_all(a.barrier, &round);
    if (pass == 0) scan(start, moves.after, a.partial, a.barrier, &round, shared);
  }
  if (first == 0) a.barrier[1] = round;
}

/* Sends packed contacts `first` ... first + count - 1 of the other list to all other ranks, each with its grain's id,
 * its partner's id and its springs. to: see general_mail. */
template <typename real>
static __global__ void send_history(general_arrays<real> a, uint32_t first, uint32_t count, char *const *to, int ranks,
                                    int rank, unsigned k) {
  after_previous();
  const general_numbers &b = *a.numbers;
  const general_list<real> &from = a.list[a.control[k & 1].home ^ 1];
  const size_t size = contact_bytes<real>(b.springs);
  for (uint32_t t = blockIdx.x * GENERAL_THREADS + threadIdx.x; t < count; t += gridDim.x * GENERAL_THREADS) {
    const uint32_t at = first + t;
    uint32_t low = 0, high = b.n; /* the last id whose contacts begin at `at` or before */
    while (high - low > 1) {
      const uint32_t middle = low + (high - low) / 2;
      if (a.rank[middle] <= at)
        low = middle;
      else
        high = middle;
    }
    for (int r = 0; r < ranks; r++) {
      if (r == rank) continue;
      char *const contact = to[r] + size * t;
      ((uint32_t *)contact)[0] = low;
      ((uint32_t *)contact)[1] = from.neighbour[at];
      for (int s = 0; s < b.springs; s++) ((real *)(contact + 8))[s] = from.spring[(size_t)s * b.room + at];
    }
  }
}

template <typename real>
static __global__ void receive_history(general_arrays<real> a, const char *from, uint32_t count, unsigned k) {
  after_previous();
  const general_numbers &b = *a.numbers;
  const general_list<real> &list = a.list[a.control[k & 1].home];
  const size_t size = contact_bytes<real>(b.springs);
  for (uint32_t t = blockIdx.x * GENERAL_THREADS + threadIdx.x; t < count; t += gridDim.x * GENERAL_THREADS) {
    const uint32_t *const ids = (const uint32_t *)(from + size * t);
    unpack_contact(b, a, list, ids[0], ids[1], (const real *)(ids + 2), 1);
  }
}

#endif
