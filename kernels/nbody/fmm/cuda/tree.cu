/* The tree, level by level. The positions of children follow from a scan over the cells of their level, so that the
 * layout is the same in every run. Scan: D. Merrill and M. Garland, "Single-pass parallel prefix scan with decoupled
 * look-back", NVIDIA NVR-2016-002. */
#include "kernels/nbody/fmm/cuda/stages.cuh"

#include "engine/device/cuda.h"
#include "kernels/common/launch.cuh"

enum { THREADS = 8 * NBODY_FMM_TILE }; /* 8 lanes a cell */

static __global__ void plant(uint4 *cell, unsigned char *level, unsigned *stage, int n, nbody_fmm_counters *counters) {
  after_previous();
  cell[0] = make_uint4(0, (unsigned)n, 0, 0);
  level[0] = 0;
  stage[0] = FMM_STAGE_NEW;
  counters->level_begin[0] = 0;
  counters->level_begin[1] = 1;
}

/* First body of [first, first + count) whose digit of this level is at least `octant`. */
__device__ static unsigned lower_bound(const unsigned long long *key, unsigned first, unsigned count, int shift,
                                       unsigned octant) {
  while (count > 0) {
    const unsigned half = count / 2;
    if (((unsigned)(key[first + half] >> shift) & 7) < octant) {
      first += half + 1;
      count -= half + 1;
    } else
      count = half;
  }
  return first;
}

/* Words of nbody_fmm_tree.status: level + 1, whether the tile's own children or all up to it are counted, their number.
 */
enum { STATUS_OWN = 1, STATUS_ALL = 2 };
__device__ static unsigned long long status_of(int level, unsigned kind, unsigned count) {
  return (unsigned long long)(4 * (level + 1) + kind) << 32 | count;
}

/* Children of the tiles before this one; by a whole warp. All earlier tiles are in work or done. */
__device__ static unsigned look_back(unsigned long long *status, int level, int tile, unsigned own) {
  volatile unsigned long long *const word = status;
  const int lane = (int)fmm_lane();
  unsigned before = 0;
  if (lane == 0) word[tile] = status_of(level, tile == 0 ? STATUS_ALL : STATUS_OWN, own);
  for (int nearest = tile - 1; nearest >= 0; nearest -= 32) {
    const int at = nearest - lane;
    unsigned long long seen;
    do {
      seen = at >= 0 ? word[at] : status_of(level, STATUS_ALL, 0);
    } while (!warp_all((unsigned)(seen >> 34) == (unsigned)(level + 1)));
    const unsigned whole = warp_ballot(((unsigned)(seen >> 32) & 3) == STATUS_ALL);
    const int last = whole != 0 ? __ffs((int)whole) - 1 : 31;
    unsigned count = lane <= last ? (unsigned)seen : 0;
    before += warp_sum_all(count);
    if (whole != 0) break;
  }
  if (lane == 0 && tile > 0) word[tile] = status_of(level, STATUS_ALL, before + own);
  return before;
}

/* Cells of a level that are split, and their children. */
template <typename real> static __global__ void __launch_bounds__(THREADS) split(nbody_fmm_tree<real> t, int level) {
  __shared__ unsigned taken, warp_children[THREADS / 32], children_before;
  after_previous();
  nbody_fmm_counters *const counters = t.counters;
  const unsigned begin = counters->level_begin[level], end = counters->level_begin[level + 1];
  const unsigned tiles = (end - begin + NBODY_FMM_TILE - 1) / NBODY_FMM_TILE;
  const unsigned lane = fmm_lane(), warp = threadIdx.x / 32, octant = threadIdx.x % 8;
  if (tiles == 0 && blockIdx.x == 0 && threadIdx.x == 0) counters->level_begin[level + 2] = end;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) taken = atomicAdd(&counters->ticket[level], 1u);
    __syncthreads();
    const unsigned tile = taken, c = begin + tile * NBODY_FMM_TILE + threadIdx.x / 8;
    if (tile >= tiles) return;
    uint4 me = make_uint4(0, 0, 0, 0);
    if (c < end) me = t.cell[c];
    const bool splits = me.y > 1 && (me.y > (unsigned)t.leaf || level < t.dense_level);
    unsigned from = 0;
    if (splits) from = lower_bound(t.key, me.x, me.y, 3 * (NBODY_FMM_LEVEL_MAX - level), octant);
    const unsigned next = warp_read(from, (int)lane + 1), to = octant == 7 ? me.x + me.y : next;
    const bool filled = splits && to > from;
    const unsigned all = warp_ballot(filled), mine = all >> (lane & 24) & 255;
    if (lane == 0) warp_children[warp] = (unsigned)__popc(all);
    __syncthreads();
    if (warp == 0) {
      unsigned own = 0;
      for (int w = 0; w < THREADS / 32; w++) own += warp_children[w];
      const unsigned before = look_back(t.status, level, (int)tile, own);
      if (lane == 0) {
        children_before = before;
        if (tile == tiles - 1) counters->level_begin[level + 2] = min(end + before + own, t.cells_most);
      }
    }
    __syncthreads();
    unsigned first = end + children_before; /* child of this warp's first cell */
    for (unsigned w = 0; w < warp; w++) first += warp_children[w];
    first += (unsigned)__popc(all & ((1u << (lane & 24)) - 1)); /* of this cell */
    if (!splits) continue;
    const unsigned children = (unsigned)__popc(mine), child = first + (unsigned)__popc(mine & ((1u << octant) - 1));
    const bool fits = first + children <= t.cells_most;
    if (octant == 0 && fits) t.cell[c].z = fmm_range(first, children);
    if (octant == 0 && !fits) fmm_fail(t, NBODY_FMM_CELLS_FULL);
    if (filled && child < t.cells_most) {
      t.cell[child] = make_uint4(from, to - from, 0, fits ? c : 0); /* who does not fit must still have a parent */
      t.level[child] = (unsigned char)(level + 1);
      t.stage[child] = FMM_STAGE_NEW;
    }
  }
}

template <typename real> void nbody_fmm_plant(const nbody_fmm_tree<real> *t) {
  static const sim_kernel root = {"nbody_fmm_root", "tree", SIM_LIMIT_BYTES},
                          splitting = {"nbody_fmm_split", "tree", SIM_LIMIT_BYTES};
  const unsigned most = 4 * (unsigned)sim_cuda_multiprocessors();
  device_launch(&root, 0, 1, 1, plant, t->cell, t->level, t->stage, t->n, t->counters);
  for (int level = 0; level < NBODY_FMM_LEVEL_MAX; level++) {
    const unsigned long long cells = level < 10 ? 1ull << 3 * level : t->cells_most;
    const unsigned tiles = (unsigned)((cells < t->cells_most ? cells : t->cells_most) / NBODY_FMM_TILE + 1);
    device_launch(&splitting, 0, tiles < most ? tiles : most, THREADS, split<real>, *t, level);
  }
}
template void nbody_fmm_plant<float>(const nbody_fmm_tree<float> *);
template void nbody_fmm_plant<double>(const nbody_fmm_tree<double> *);
