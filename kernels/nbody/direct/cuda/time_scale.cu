#include "kernels/nbody/direct/cuda/time_scale.cuh"

#include "engine/device/cuda.h"
#include "kernels/nbody/cuda/partials.cuh"
#include "kernels/nbody/direct/cuda/direct.h"
#include "kernels/nbody/physics.h"

/* Two bodies that fall towards each other. */
struct falling {
  double softening2, G;
  __device__ double square(double dx, double dy, double dz, double masses) const {
    return nbody_fall_time2(dx, dy, dz, softening2, G * masses);
  }
};

template <typename Real>
static __global__ void __launch_bounds__(NBODY_PARTIAL_BODIES)
    fall(int n, const Real *m, const Real *x, const double *a, const double *j, falling law, double *partial) {
  least_time(n, m, x, a, j, law, partial);
}

template <typename Real> void nbody_cuda_start(nbody_solver_work *w) {
  static const sim_cuda_kernel kernel = {"nbody_start_step", "time step", SIM_LIMIT_FP64};
  const nbody_state *s = &w->state;
  const double n = (double)s->n, eps = w->options.softening;
  sim_cuda_begin(&kernel);
  fall<Real><<<(unsigned)nbody_partials(s->n), NBODY_PARTIAL_BODIES, 0, (cudaStream_t)sim_cuda_stream()>>>(
      (int)s->n, (const Real *)s->mass, (const Real *)s->position, s->acceleration, s->jerk,
      falling{eps * eps, w->plan.method == NBODY_DIRECT_NO_PAIRS ? 0 : w->options.G}, w->partial);
  sim_cuda_end(&kernel, 30 * n * n);
}
template void nbody_cuda_start<float>(nbody_solver_work *w);
template void nbody_cuda_start<double>(nbody_solver_work *w);
