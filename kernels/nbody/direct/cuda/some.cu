/* Direct sums for some bodies over all: their numbers are listed, threads hold K of them, and thread blocks stage all
 * bodies in shared memory, in as many parts as fill a device. Every body has its own sum, so that the order of the list
 * does not matter. */
#include "kernels/nbody/direct/cuda/bodies.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/nbody/cuda/targets.cuh"
#include "kernels/nbody/direct/cuda/tile.cuh"

/* The plan of a sum for `count` bodies; it depends on them and on all bodies alone. */
enum { SOME_BLOCKS = 4096, SOME_SPLITS = 64, SOME_WIDE = 8192 /* targets from which a thread holds more than one */ };

struct some_plan {
  int bodies, blocks, splits, per_split;
};

static some_plan plan_of(int64_t n, int64_t count) {
  some_plan p = {count < SOME_WIDE ? 1 : 4, 0, 0, 0};
  const int64_t own = (int64_t)TILE_THREADS * p.bodies, groups = (n + TILE_THREADS - 1) / TILE_THREADS;
  p.blocks = (int)((count + own - 1) / own);
  const int64_t most = groups < SOME_SPLITS ? groups : (int64_t)SOME_SPLITS, splits = SOME_BLOCKS / p.blocks;
  p.splits = (int)(splits < 1 ? 1 : splits < most ? splits : most);
  const int64_t each = (n + p.splits - 1) / p.splits;
  p.per_split = (int)((each + TILE_THREADS - 1) / TILE_THREADS * TILE_THREADS);
  return p;
}

int64_t nbody_cuda_some_parts(int64_t n) {
  const int64_t most = (int64_t)SOME_BLOCKS * TILE_THREADS * 4;
  return SOME_SPLITS * n < most ? SOME_SPLITS * n : most > n ? most : n;
}

/* `self`: numbers in the tile of the bodies that the thread holds. SELF: one of them may be there. */
template <bool SELF, typename pair_real, int K>
__device__ __forceinline__ void add_tile(thread_bodies<pair_real, K, 3> &mine, const staged<pair_real, false> &tile,
                                         const gravity<pair_real> &law, int count, const int (&self)[K]) {
#pragma unroll(sizeof(pair_real) == 8 ? 4 : 8)
  for (int j = 0; j < count; j++) {
#pragma unroll
    for (int k = 0; k < K; k++) add_pair(mine, tile, j, law, k, SELF && j == self[k]);
  }
}

/* parts[splits][3][count], in packed units. */
template <typename real, typename pair_real, int K>
static __global__ void __launch_bounds__(TILE_THREADS)
    some_tile(const bodies<real> b, const gravity<pair_real> law, const int *target, int count, int per_split,
              double *parts) {
  __shared__ staged<pair_real, false> tile;
  after_previous();
  const int begin = blockIdx.y * per_split, end = min(b.n, begin + per_split);
  const double3 centre = centre_of(b.position, b.n, (pair_real)0);
  thread_bodies<pair_real, K, 3> mine;
  double total[K][3];
  int place[K], self[K];
#pragma unroll
  for (int k = 0; k < K; k++) {
    place[k] = (blockIdx.x * K + k) * TILE_THREADS + threadIdx.x;
    const int i = place[k] < count ? target[place[k]] : b.n;
    mine.x[k] = load_body<pair_real>(b, centre, i);
    self[k] = i - begin;
    for (int c = 0; c < 3; c++) mine.sum[k][c] = 0, total[k][c] = 0;
  }
  int tiles = 0;
  for (int first = begin; first < end; first += TILE_THREADS, tiles++) {
    bool here = false;
#pragma unroll
    for (int k = 0; k < K; k++) here = here || (unsigned)self[k] < TILE_THREADS;
    const bool any = __syncthreads_or(here) != 0;
    tile.body[threadIdx.x] = load_body<pair_real>(b, centre, first + threadIdx.x);
    __syncthreads();
    const int in_tile = min((int)TILE_THREADS, end - first);
    if (any)
      add_tile<true>(mine, tile, law, in_tile, self);
    else
      add_tile<false>(mine, tile, law, in_tile, self);
#pragma unroll
    for (int k = 0; k < K; k++) self[k] -= TILE_THREADS;
    if (sizeof(pair_real) == sizeof(float) && tiles % TILE_FLUSH == TILE_FLUSH - 1) {
#pragma unroll
      for (int k = 0; k < K; k++)
        for (int c = 0; c < 3; c++) total[k][c] += mine.sum[k][c], mine.sum[k][c] = 0;
    }
  }
#pragma unroll
  for (int k = 0; k < K; k++)
    for (int c = 0; c < 3; c++)
      if (place[k] < count)
        parts[((size_t)blockIdx.y * 3 + c) * (size_t)count + place[k]] = total[k][c] + mine.sum[k][c];
}

template <typename real, typename pair_real>
void nbody_cuda_some(nbody_solver_work *w, const nbody_targets *targets, double unit) {
  static const sim_kernel summing = {"nbody_some_tile", "force",
                                     sizeof(pair_real) == sizeof(float) ? SIM_LIMIT_FP32 : SIM_LIMIT_FP64};
  const int n = (int)w->state.n, count = (int)targets->count;
  const some_plan p = plan_of(n, count);
  const double eps = w->options.softening * w->scaling.position, pairs = (double)n * count;
  nbody_cuda_list_targets(n, targets, w->target, w->target_count);
  device_launch(&summing, (sizeof(pair_real) == sizeof(float) ? 13 : 16) * pairs,
                dim3((unsigned)p.blocks, (unsigned)p.splits), TILE_THREADS,
                p.bodies == 1 ? some_tile<real, pair_real, 1> : some_tile<real, pair_real, 4>, bodies_of<real>(w),
                gravity<pair_real>{(pair_real)(eps * eps)}, w->target, count, p.per_split, w->some_parts);
  nbody_cuda_add_target_parts(n, w->target, count, w->some_parts, p.splits, unit, w->state.acceleration);
}
template void nbody_cuda_some<float, float>(nbody_solver_work *, const nbody_targets *, double);
template void nbody_cuda_some<double, float>(nbody_solver_work *, const nbody_targets *, double);
template void nbody_cuda_some<double, double>(nbody_solver_work *, const nbody_targets *, double);
