/* Grains that come and go, on the device: kept in the order of ids, by way of the other set, as the host would pack
 * them. `real` is defined before this is included. */
#ifndef COLLISION_CUDA_BED_FLOW_CUH
#define COLLISION_CUDA_BED_FLOW_CUH

#include "kernels/collision/general/cuda/observe.cuh"

struct bed_boxes {
  int count;
  double low[8][3], high[8][3];
};

static __device__ bool is_within(const bed_boxes &boxes, const four &p) {
  const double x[3] = {(double)p.x, (double)p.y, (double)p.z};
  for (int s = 0; s < boxes.count; s++) {
    bool in = true;
    for (int c = 0; c < 3; c++) in = in && x[c] >= boxes.low[s][c] && x[c] < boxes.high[s][c];
    if (in) return true;
  }
  return false;
}

/* Whether a grain is in one of them. */
static __global__ void find_within(bed_arrays a, const __grid_constant__ bed_boxes boxes, unsigned k, int *any) {
  after_previous();
  const bed_numbers &b = *a.numbers;
  const four *const place = a.grains[a.control[k & 1].order].place;
  for (uint32_t i = blockIdx.x * BED_THREADS + threadIdx.x; i < b.n; i += gridDim.x * BED_THREADS)
    if (is_within(boxes, place[i])) *any = 1;
}

/* rank[id] = 1 where it is; `more`: others were asked for before. */
static __global__ void mark_within(bed_arrays a, const __grid_constant__ bed_boxes boxes, bool more, unsigned k) {
  after_previous();
  const bed_numbers &b = *a.numbers;
  const four *const place = a.grains[a.control[k & 1].order].place;
  for (uint32_t id = blockIdx.x * BED_THREADS + threadIdx.x; id < b.n; id += gridDim.x * BED_THREADS) {
    const bool in = is_within(boxes, place[a.slot[id]]);
    a.rank[id] = in || (more && a.rank[id] != 0);
  }
}

/* Those that are marked, in the order of ids: their ids into `order`, their numbers into the other set; rank[n]: how
 * many. */
static __global__ void __launch_bounds__(BED_THREADS) pick_marked(bed_arrays a, unsigned k) {
  __shared__ uint32_t shared[33];
  const bed_numbers &b = *a.numbers;
  const bed_control now = a.control[k & 1];
  unsigned round = *(volatile unsigned *)(a.barrier + 1);
  const uint32_t first = blockIdx.x * BED_THREADS + threadIdx.x;
  scan(a.rank, b.n, a.partial, a.barrier, &round, shared);
  for (uint32_t id = first; id < b.n; id += gridDim.x * BED_THREADS) {
    const uint32_t to = a.rank[id], i = a.slot[id];
    if (a.rank[id + 1] == to) continue;
    a.order[to] = id;
    a.grains[now.order ^ 1].place[to] = a.grains[now.order].place[i];
    move_kept(b, a.kept[now.home ^ 1], a.kept[now.home], to, i);
  }
  if (first == 0) a.barrier[1] = round;
}

/* Where the grains of an event go. */
struct bed_moves {
  uint32_t count, before, after; /* grains before and after */
  const uint32_t *from, *many, *to;
};

/* UINT32_MAX: it has gone. */
static __device__ uint32_t moved(const bed_moves &moves, uint32_t id) {
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

/* From the other set, as by_id left it; numbers of each gate and wall come to be `after` apart. */
static __global__ void keep_moved(bed_arrays a, bed_moves moves, unsigned k) {
  after_previous();
  const bed_numbers &b = *a.numbers;
  const bed_control now = a.control[k & 1];
  const bed_kept &to = a.kept[now.home], &from = a.kept[now.home ^ 1];
  for (uint32_t id = blockIdx.x * BED_THREADS + threadIdx.x; id < moves.before; id += gridDim.x * BED_THREADS) {
    const uint32_t i = moved(moves, id);
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

/* New ones, whose numbers stand in the other set. */
static __global__ void add_newcomers(bed_arrays a, bed_moves moves, const uint32_t *index, uint32_t count, unsigned k) {
  after_previous();
  const bed_numbers &b = *a.numbers;
  const bed_control now = a.control[k & 1];
  const bed_grains &to = a.grains[now.order], &from = a.grains[now.order ^ 1];
  const bed_kept &kept = a.kept[now.home];
  for (uint32_t n = blockIdx.x * BED_THREADS + threadIdx.x; n < count; n += gridDim.x * BED_THREADS) {
    const uint32_t i = index[n];
    to.place[i] = from.place[n];
    to.velocity[i] = from.velocity[n];
    to.acceleration[i] = from.spin[n];
    to.spin[i] = to.twirl[i] = {0, 0, 0, 0};
    kept.dissipated[i] = kept.virial[i] = 0;
    kept.collisions[i] = 0;
    kept.id[i] = i;
    kept.material[i] = a.kept[now.home ^ 1].material[n];
    if (b.worked) kept.work[i] = 0;
    for (int s = 0; s < b.gates; s++) kept.crossed[(size_t)s * moves.after + i] = 0;
    for (int s = 0; s < b.wall_numbers; s++) kept.wall_spring[(size_t)s * moves.after + i] = 0;
  }
}

/* Contacts as list_history left them, into the other list, by the new ids; `start`: where those of an id begin. */
static __global__ void __launch_bounds__(BED_THREADS)
    keep_history(bed_arrays a, bed_moves moves, uint32_t *start, unsigned k) {
  __shared__ uint32_t shared[33];
  const bed_numbers &b = *a.numbers;
  const int home = a.control[k & 1].home;
  const bed_list &to = a.list[home], &from = a.list[home ^ 1];
  const uint32_t first = blockIdx.x * BED_THREADS + threadIdx.x, all = gridDim.x * BED_THREADS;
  unsigned round = *(volatile unsigned *)(a.barrier + 1);
  for (uint32_t i = first; i < moves.after; i += all) start[i] = 0;
  wait_for_all(a.barrier, &round);
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t id = first; id < moves.before; id += all) {
      const uint32_t i = moved(moves, id);
      uint32_t count = 0;
      for (uint32_t e = a.rank[id]; i != UINT32_MAX && e < a.rank[id + 1]; e++) {
        const uint32_t partner = moved(moves, from.neighbour[e]);
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

#endif
