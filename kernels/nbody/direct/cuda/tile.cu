/* Direct sum over every ordered pair, where fixed point cannot be used: fp64, jerk, no softening, few bodies. */
#include "kernels/nbody/direct/cuda/bodies.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/nbody/direct/cuda/tile.cuh"

template <typename real, typename pair_real, int K, int SUMS>
static __global__ void __launch_bounds__(TILE_THREADS)
    tile(const bodies<real> b, const gravity<pair_real> law, int per_split, double *acceleration, double *jerk) {
  tile_sum<real, pair_real, K, SUMS>(b, law, per_split, acceleration, jerk);
}

nbody_cuda_tiles nbody_cuda_cut(const nbody_solver_work *w) {
  const int64_t n = w->options.n;
  const int per = (int)((n + w->plan.splits - 1) / w->plan.splits);
  return {(unsigned)w->share.count, (unsigned)w->plan.splits, (per + 31) / 32 * 32};
}

template <typename real, typename pair_real, int K, int SUMS> static void launch(nbody_solver_work *w) {
  static const bool narrow = sizeof(pair_real) == sizeof(float);
  static const sim_kernel kernel = {SUMS == 6 ? "nbody_tile_jerk" : "nbody_tile", "force",
                                    narrow ? SIM_LIMIT_FP32 : SIM_LIMIT_FP64};
  const double n = (double)w->options.n, eps = w->options.softening * w->scaling.position;
  const nbody_cuda_tiles cut = nbody_cuda_cut(w);
  const double counted = (SUMS == 6 ? (narrow ? 28 : 31) : narrow ? 13 : 16) * nbody_cuda_part(w);
  if (cut.blocks == 0) return;
  device_launch(&kernel, counted * n * n, dim3(cut.blocks, cut.splits), TILE_THREADS, tile<real, pair_real, K, SUMS>,
                bodies_of<real>(w), gravity<pair_real>{(pair_real)(eps * eps)}, cut.per_split, w->parts, w->parts_jerk);
}

template <typename real, typename pair_real, int K> static void launch(nbody_solver_work *w) {
  if (w->options.jerk)
    launch<real, pair_real, K, 6>(w);
  else
    launch<real, pair_real, K, 3>(w);
}

template <typename real, typename pair_real> void nbody_cuda_tile(nbody_solver_work *w) {
  switch (w->plan.bodies) {
  case 1: launch<real, pair_real, 1>(w); break;
  case 2: launch<real, pair_real, 2>(w); break;
  default: launch<real, pair_real, 4>(w); break;
  }
}
template void nbody_cuda_tile<float, float>(nbody_solver_work *w);
template void nbody_cuda_tile<double, float>(nbody_solver_work *w);
template void nbody_cuda_tile<double, double>(nbody_solver_work *w);
