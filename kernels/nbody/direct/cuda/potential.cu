/* Potential energy of gravity. */
#include "engine/device/cuda.h"
#include "kernels/nbody/direct/cuda/bodies.cuh"
#include "kernels/nbody/cuda/partials.cuh"
#include "kernels/nbody/direct/cuda/potential.cuh"

template <typename real>
static __global__ void __launch_bounds__(POTENTIAL_THREADS)
    potential(const bodies<real> b, const gravity_potential law, int blocks, double *partial) {
  potential_sum<real>(b, law, blocks, partial);
}

template <typename real> void nbody_cuda_potential(nbody_solver_work *w) {
  static const sim_kernel kernel = {"nbody_potential", "observe", SIM_LIMIT_FP64};
  const int blocks = nbody_partials(w->options.n), parts = nbody_potential_parts(blocks);
  const double n = (double)w->options.n;
  bodies<real> b = bodies_of<real>(w);
  b.begin = w->potential_share.first;
  b.scale = b.scale_mass = 1;
  const unsigned own = (unsigned)w->potential_share.count;
  sim_cuda_begin(&kernel);
  if (own > 0)
    potential<real><<<dim3(own, (unsigned)parts), POTENTIAL_THREADS, 0, (cudaStream_t)sim_cuda_stream()>>>(
        b, gravity_potential{w->options.softening * w->options.softening}, blocks, w->partial);
  sim_cuda_end(&kernel, 6 * n * n * own / blocks); /* 12 instructions a pair */
  nbody_cuda_share_partials(&w->potential_share, w->partial, parts);
  nbody_reduce_partials<reduce_sum>(w->partial, 1, parts * blocks, w->result);
}
template void nbody_cuda_potential<float>(nbody_solver_work *w);
template void nbody_cuda_potential<double>(nbody_solver_work *w);
