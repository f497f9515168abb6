/* Launches of kernels with a custom law. The kernels have the types of the wrappers in custom_law_text.c. */
#include "engine/device/cuda.h"
#include "kernels/common/launch.cuh"
#include "kernels/nbody/cuda/partials.cuh"
#include "kernels/nbody/direct/cuda/bodies.cuh"
#include "kernels/nbody/direct/cuda/potential.cuh"
#include "kernels/nbody/direct/cuda/tile.cuh"

template <typename real> using tile_kernel = void(bodies<real>, int, double *, double *);
template <typename real> using potential_kernel = void(bodies<real>, int, double *);
typedef void start_kernel(int, const void *, const void *, const double *, const double *, double *);

template <typename real> void nbody_cuda_custom_tile(nbody_solver_work *w) {
  static const sim_kernel single = {"nbody_custom_tile_f32", "force", SIM_LIMIT_FP32};
  static const sim_kernel wide = {"nbody_custom_tile_f64", "force", SIM_LIMIT_FP64};
  const double n = (double)w->options.n;
  const nbody_cuda_tiles cut = nbody_cuda_cut(w);
  bodies<real> b = bodies_of<real>(w);
  b.scale_mass = w->law.factor;
  /* 13, 16, 28 or 31 additions or multiplications without the inverse root; the number in the law is unknown here */
  const double counted = (w->options.jerk ? 24 : 10) * nbody_cuda_part(w);
  if (cut.blocks == 0) return;
  device_launch(w->options.single_pairs ? &single : &wide, counted * n * n, dim3(cut.blocks, cut.splits), TILE_THREADS,
                (tile_kernel<real> *)w->law.tile, b, cut.per_split, w->parts, w->parts_jerk);
}

template <typename real> void nbody_cuda_custom_potential(nbody_solver_work *w) {
  static const sim_kernel kernel = {"nbody_custom_potential", "observe", SIM_LIMIT_FP64};
  const int blocks = nbody_partials(w->options.n), parts = nbody_potential_parts(blocks);
  const double n = (double)w->options.n;
  bodies<real> b = bodies_of<real>(w);
  b.begin = w->potential_share.first;
  b.scale = b.scale_mass = 1;
  const unsigned own = (unsigned)w->potential_share.count;
  if (own > 0)
    device_launch(&kernel, 4.5 * n * n * own / blocks, dim3(own, (unsigned)parts), POTENTIAL_THREADS,
                  (potential_kernel<real> *)w->law.potential, b, blocks, w->partial);
  nbody_cuda_share_partials(&w->potential_share, w->partial, parts);
  nbody_reduce_partials<reduce_sum>(w->partial, 1, parts * blocks, w->result);
}

void nbody_cuda_custom_start(nbody_solver_work *w) {
  static const sim_kernel kernel = {"nbody_custom_start", "time step", SIM_LIMIT_FP64};
  const nbody_state *s = &w->state;
  device_launch(&kernel, 10.0 * (double)s->n * (double)s->n, dim3((unsigned)nbody_partials(s->n)), NBODY_PARTIAL_BODIES,
                (start_kernel *)w->law.start, s->n, s->mass, s->position, s->acceleration, s->jerk, w->partial);
}

template void nbody_cuda_custom_tile<float>(nbody_solver_work *w);
template void nbody_cuda_custom_tile<double>(nbody_solver_work *w);
template void nbody_cuda_custom_potential<float>(nbody_solver_work *w);
template void nbody_cuda_custom_potential<double>(nbody_solver_work *w);
