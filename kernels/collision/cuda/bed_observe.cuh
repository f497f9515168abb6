/* What is seen of grains: sums in the order of ids, and contacts' history by ids. `real` is defined before this is
 * included. */
#ifndef COLLISION_CUDA_BED_OBSERVE_CUH
#define COLLISION_CUDA_BED_OBSERVE_CUH

#include "kernels/collision/cuda/bed_contacts.cuh"

enum {
  BED_MASS,
  BED_KINETIC,
  BED_ROTATIONAL,
  BED_ELASTIC,
  BED_GRAVITY,
  BED_DISSIPATED,
  BED_VIRIAL,
  BED_COLLISIONS,
  BED_MOMENTUM,
  BED_ANGULAR = BED_MOMENTUM + 3,
  BED_FLUX = BED_ANGULAR + 3,
  BED_STRESS = BED_FLUX + 6,
  BED_TOUCHING = BED_STRESS + 6,
  BED_TOUCHING_WALLS,
  BED_WALL,
  BED_SUMS = BED_WALL + BED_WORDS
};

static __global__ void invert(bed_arrays a, unsigned k) {
  after_previous();
  const bed_numbers &b = *a.numbers;
  const uint32_t *const id = a.kept[a.control[k & 1].home].id;
  for (uint32_t i = blockIdx.x * BED_THREADS + threadIdx.x; i < b.n; i += gridDim.x * BED_THREADS) a.slot[id[i]] = i;
}

/* Over the threads of a block; the result is thread 0's. */
static __device__ double over_block(double value, double *shared) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < BED_THREADS / 32 ? shared[threadIdx.x] : 0;
  if (threadIdx.x < 32)
    for (int step = BED_THREADS / 64; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  return value;
}

/* partial [quantities][blocks]: blocks of 256 ids, so that a sum has one order on all devices. */
template <int SPRINGS>
static __global__ void __launch_bounds__(BED_THREADS)
    sum_blocks(bed_arrays a, const __grid_constant__ bed_poses poses, int forces, double *partial,
               unsigned long long *deepest, unsigned k) {
  __shared__ double shared[BED_THREADS / 32];
  after_previous();
  const bed_numbers &b = *a.numbers;
  const bed_control now = a.control[k & 1];
  const bed_grains &g = a.grains[now.order];
  const bed_kept &kept = a.kept[now.home];
  for (uint32_t block = blockIdx.x; block < b.blocks; block += gridDim.x) {
    const uint32_t id = block * BED_THREADS + threadIdx.x;
    double part[BED_WALL] = {}, wall[BED_WORDS];
    for (int q = 0; q < 3 * forces; q++) wall[q] = 0;
    if (id < b.n) {
      const uint32_t i = a.slot[id];
      bed_sum sum = {};
      bed_look at = {};
      look_at_pairs<SPRINGS>(b, a, now, i, &at);
      gather_walls<SPRINGS, true>(b, a, poses, now, i, 0, 0, &sum, &at, wall);
      const four place = g.place[i], velocity = g.velocity[i], spin = g.spin[i];
      const double m = (double)velocity.w, r = (double)place.w, inertia = 0.4 * m * r * r;
      const double x[3] = {(double)place.x, (double)place.y, (double)place.z};
      const double v[3] = {(double)velocity.x, (double)velocity.y, (double)velocity.z};
      const double s[3] = {(double)spin.x, (double)spin.y, (double)spin.z};
      for (int c = 0; c < 3; c++) {
        const int d = (c + 1) % 3, e = (c + 2) % 3;
        part[BED_KINETIC] += 0.5 * m * v[c] * v[c];
        part[BED_ROTATIONAL] += 0.5 * inertia * s[c] * s[c];
        part[BED_GRAVITY] -= m * b.gravity[c] * x[c];
        part[BED_MOMENTUM + c] = m * v[c];
        part[BED_ANGULAR + c] = m * (x[d] * v[e] - x[e] * v[d]) + inertia * s[c];
        part[BED_FLUX + c] = m * v[c] * v[c];
        part[BED_FLUX + 3 + c] = m * v[c] * v[d];
      }
      for (int q = 0; q < 6; q++) part[BED_STRESS + q] = at.stress[q];
      part[BED_MASS] = m;
      part[BED_ELASTIC] = at.elastic;
      part[BED_DISSIPATED] = kept.dissipated[i];
      part[BED_VIRIAL] = kept.virial[i];
      part[BED_COLLISIONS] = (double)kept.collisions[i];
      part[BED_TOUCHING] = at.touching;
      part[BED_TOUCHING_WALLS] = at.touching_walls;
      if (at.overlap > 0)
        atomicMax(deepest, (unsigned long long)__float_as_uint((float)at.overlap) << 32 | (uint32_t)~id);
    }
    for (int q = 0; q < BED_WALL + 3 * forces; q++) {
      const double all = over_block(q < BED_WALL ? part[q] : wall[q - BED_WALL], shared);
      if (threadIdx.x == 0) partial[(size_t)q * b.blocks + block] = all;
    }
  }
}

static __global__ void __launch_bounds__(BED_THREADS) sum_all(const double *partial, uint32_t blocks, double *out) {
  __shared__ double shared[BED_THREADS / 32];
  after_previous();
  double sum = 0;
  for (uint32_t b = threadIdx.x; b < blocks; b += BED_THREADS) sum += partial[(size_t)blockIdx.x * blocks + b];
  const double all = over_block(sum, shared);
  if (threadIdx.x == 0) out[blockIdx.x] = all;
}

/* The second half of a step. */
static __global__ void finish(bed_arrays a, real ended, unsigned k) {
  after_previous();
  const bed_numbers &b = *a.numbers;
  const bed_grains &g = a.grains[a.control[k & 1].order];
  const real rest = (real)0.5 * ended;
  for (uint32_t i = blockIdx.x * BED_THREADS + threadIdx.x; i < b.n; i += gridDim.x * BED_THREADS) {
    const four da = g.acceleration[i], dw = g.twirl[i];
    four v = g.velocity[i], s = g.spin[i];
    v.x += rest * da.x, v.y += rest * da.y, v.z += rest * da.z;
    s.x += rest * dw.x, s.y += rest * dw.y, s.z += rest * dw.z;
    g.velocity[i] = g.seen[i] = v;
    g.spin[i] = g.turned[i] = s;
  }
}

/* What the state keeps in the order of ids into the other set. */
static __global__ void by_id(bed_arrays a, unsigned k) {
  after_previous();
  const bed_numbers &b = *a.numbers;
  const bed_control now = a.control[k & 1];
  for (uint32_t id = blockIdx.x * BED_THREADS + threadIdx.x; id < b.n; id += gridDim.x * BED_THREADS) {
    move_grain(a.grains[now.order ^ 1], a.grains[now.order], id, a.slot[id], false);
    move_kept(b, a.kept[now.home ^ 1], a.kept[now.home], id, a.slot[id]);
  }
}

/* What by_id has written over. */
static __global__ void see_again(bed_arrays a, unsigned k) {
  after_previous();
  const bed_grains &g = a.grains[a.control[k & 1].order];
  const uint32_t n = a.numbers->n;
  for (uint32_t i = blockIdx.x * BED_THREADS + threadIdx.x; i < n; i += gridDim.x * BED_THREADS) see_now(g, i);
}

/* History by ids, each contact once, into the other list; rank[id]: where those of an id begin. */
static __global__ void __launch_bounds__(BED_THREADS) list_history(bed_arrays a, unsigned k) {
  __shared__ uint32_t shared[33];
  const bed_numbers &b = *a.numbers;
  const int home = a.control[k & 1].home;
  const bed_list &list = a.list[home], &out = a.list[home ^ 1];
  const uint32_t *const ids = a.kept[home].id;
  const uint32_t first = blockIdx.x * BED_THREADS + threadIdx.x, all = gridDim.x * BED_THREADS;
  unsigned round = *(volatile unsigned *)(a.barrier + 1);
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t id = first; id < b.n; id += all) {
      const uint32_t i = a.slot[id], base = list.base[i / 32] + i % 32;
      uint32_t count = 0;
      for (uint32_t e = 0; e < list.count[i]; e++) {
        const uint32_t from = base + 32 * e, partner = ids[list.neighbour[from]];
        bool any = false;
        for (int s = 0; s < b.springs; s++) any = any || list.spring[(size_t)s * b.room + from] != 0;
        if (partner < id || !any) continue;
        if (pass == 1) {
          const uint32_t to = a.rank[id] + count;
          out.neighbour[to] = partner;
          for (int s = 0; s < b.springs; s++)
            out.spring[(size_t)s * b.room + to] = list.spring[(size_t)s * b.room + from];
        }
        count++;
      }
      if (pass == 0) a.rank[id] = count;
    }
    wait_for_all(a.barrier, &round);
    if (pass == 0) scan(a.rank, b.n, a.partial, a.barrier, &round, shared);
  }
  if (first == 0) a.barrier[1] = round;
}

/* The way back: from the other list, as list_history left it. */
static __global__ void take_history(bed_arrays a, unsigned k) {
  after_previous();
  const bed_numbers &b = *a.numbers;
  const int home = a.control[k & 1].home;
  const bed_list &list = a.list[home], &from = a.list[home ^ 1];
  for (uint32_t id = blockIdx.x * BED_THREADS + threadIdx.x; id < b.n; id += gridDim.x * BED_THREADS) {
    for (uint32_t at = a.rank[id]; at < a.rank[id + 1]; at++) {
      const uint32_t side[2] = {a.slot[id], a.slot[from.neighbour[at]]};
      for (int t = 0; t < 2; t++) {
        const uint32_t i = side[t], base = list.base[i / 32] + i % 32;
        for (uint32_t e = 0; e < list.count[i]; e++) {
          if (list.neighbour[base + 32 * e] != side[1 - t]) continue;
          for (int s = 0; s < b.springs; s++) {
            const real value = from.spring[(size_t)s * b.room + at];
            list.spring[(size_t)s * b.room + base + 32 * e] = t == 0 || s == 6 ? value : -value;
          }
        }
      }
    }
  }
}

#endif
