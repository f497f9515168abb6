#include "kernels/nbody/direct/cuda/time_scale.cuh"

#include "engine/device/cuda.h"
#include "kernels/nbody/cuda/partials.cuh"
#include "kernels/nbody/direct/cuda/direct.h"
#include "kernels/nbody/physics.h"

/* Time of the free fall of two bodies towards each other. */
struct free_fall {
  double softening2, G;
  __device__ double square(double dx, double dy, double dz, double masses) const {
    return nbody_fall_time2(dx, dy, dz, softening2, G * masses);
  }
};

template <typename real>
static __global__ void __launch_bounds__(NBODY_PARTIAL_BODIES)
    free_fall_times(int n, const real *m, const real *x, const double *a, const double *j, free_fall law,
                    double *partial) {
  least_time(n, m, x, a, j, law, partial);
}

template <typename real> void nbody_cuda_start(nbody_solver_work *w) {
  static const sim_kernel kernel = {"nbody_start_step", "time step", SIM_LIMIT_FP64};
  const nbody_state *s = &w->state;
  const double n = (double)s->n, eps = w->options.softening;
  sim_cuda_begin(&kernel);
  free_fall_times<real><<<(unsigned)nbody_partials(s->n), NBODY_PARTIAL_BODIES, 0, (cudaStream_t)sim_cuda_stream()>>>(
      (int)s->n, (const real *)s->mass, (const real *)s->position, s->acceleration, s->jerk,
      free_fall{eps * eps, w->plan.method == NBODY_DIRECT_NO_PAIRS ? 0 : w->options.G}, w->partial);
  sim_cuda_end(&kernel, 30 * n * n);
}
template void nbody_cuda_start<float>(nbody_solver_work *w);
template void nbody_cuda_start<double>(nbody_solver_work *w);
