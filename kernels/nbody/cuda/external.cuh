/* The operations of steps.cu that use a raw force, with an external force added: loops over bodies instead of
 * components. Law::of(x, v, t, a, j) gives acceleration and jerk, Law::potential(x, v, t) the potential. Device code
 * for NVRTC. */
#ifndef NBODY_CUDA_EXTERNAL_CUH
#define NBODY_CUDA_EXTERNAL_CUH

#include "kernels/common/device.cuh"
#include "kernels/nbody/raw_force.h"
#include "kernels/nbody/cuda/reduce.cuh"
#include "kernels/nbody/physics.h"

enum { EXTERNAL_THREADS = 128 };

struct external_force {
  double a[3], j[3];
};

/* Adds the external force at body i to the raw force of the solver. */
template <typename Law, typename real>
__device__ inline external_force external_at(const real *x, const real *v, size_t n, size_t i, double t) {
  const double here[3] = {(double)x[i], (double)x[n + i], (double)x[2 * n + i]};
  double speed[3] = {0, 0, 0};
  if constexpr (Law::JERK)
    for (int c = 0; c < 3; c++) speed[c] = v[c * n + i];
  external_force out = {};
  Law::of(here, speed, t, out.a, out.j);
  return out;
}

template <typename Law, typename real>
__device__ __forceinline__ void external_finish(const nbody_raw_force &raw, double *acceleration, double *jerk,
                                                const real *x, const real *v, int bodies, double t) {
  after_previous();
  const size_t n = (size_t)bodies;
  for (size_t i = (size_t)blockIdx.x * EXTERNAL_THREADS + threadIdx.x; i < n;
       i += (size_t)gridDim.x * EXTERNAL_THREADS) {
    const external_force external = external_at<Law>(x, v, n, i, t);
    for (int c = 0; c < 3; c++) {
      const size_t k = c * n + i;
      acceleration[k] = raw_component(raw, acceleration, raw.acceleration, raw.unit, k, 3 * n) + external.a[c];
      if constexpr (Law::JERK) jerk[k] = raw_component(raw, jerk, raw.jerk, raw.unit_jerk, k, 3 * n) + external.j[c];
    }
  }
}

/* v += a dt; DRIFT: also x += v drift, and the acceleration is cleared, so that a solver can add to it. */
template <typename Law, bool DRIFT, typename real>
__device__ __forceinline__ void external_kick(const nbody_raw_force &raw, real *x, real *v, double *acceleration,
                                              int bodies, double dt, double drift, double box, double t) {
  after_previous();
  const size_t n = (size_t)bodies;
  for (size_t i = (size_t)blockIdx.x * EXTERNAL_THREADS + threadIdx.x; i < n;
       i += (size_t)gridDim.x * EXTERNAL_THREADS) {
    const external_force external = external_at<Law>(x, v, n, i, t);
    for (int c = 0; c < 3; c++) {
      const size_t k = c * n + i;
      const double a = raw_component(raw, acceleration, raw.acceleration, raw.unit, k, 3 * n) + external.a[c];
      const real after = (real)nbody_kicked(v[k], a, dt);
      v[k] = after;
      if (DRIFT) x[k] = nbody_moved(x[k], after, drift, box);
      acceleration[k] = DRIFT ? 0 : a;
    }
  }
}

template <typename Law, typename real>
__device__ __forceinline__ void
external_correct(const nbody_raw_force &raw, real *x, real *v, const double *acceleration, const double *jerk,
                 const real *x0, const real *v0, const double *a0, const double *j0, int bodies, double dt, double t) {
  after_previous();
  const size_t n = (size_t)bodies;
  for (size_t i = (size_t)blockIdx.x * EXTERNAL_THREADS + threadIdx.x; i < n;
       i += (size_t)gridDim.x * EXTERNAL_THREADS) {
    const external_force external = external_at<Law>(x, v, n, i, t);
    for (int c = 0; c < 3; c++) {
      const size_t k = c * n + i;
      const double a1 = raw_component(raw, acceleration, raw.acceleration, raw.unit, k, 3 * n) + external.a[c];
      const double j1 = raw_component(raw, jerk, raw.jerk, raw.unit_jerk, k, 3 * n) + external.j[c];
      const double v1 = nbody_corrected_velocity(v0[k], a0[k], j0[k], a1, j1, dt);
      x[k] = (real)nbody_corrected_position(x0[k], v0[k], v1, a0[k], a1, dt);
      v[k] = (real)v1;
    }
  }
}

/* partial[block] = sum over bodies of m times the potential. The kernel has __launch_bounds__(NBODY_PARTIAL_BODIES). */
template <typename Law, typename real>
__device__ __forceinline__ void external_potential(const real *mass, const real *x, const real *v, int bodies, double t,
                                                   double *partial) {
  __shared__ double shared[32];
  const size_t n = (size_t)bodies, i = (size_t)blockIdx.x * NBODY_PARTIAL_BODIES + threadIdx.x;
  double term = 0;
  after_previous();
  if (i < n) {
    const double here[3] = {(double)x[i], (double)x[n + i], (double)x[2 * n + i]};
    const double speed[3] = {(double)v[i], (double)v[n + i], (double)v[2 * n + i]};
    term = mass[i] * Law::potential(here, speed, t);
  }
  term = over_block<reduce_sum>(term, shared);
  if (threadIdx.x == 0) partial[blockIdx.x] = term;
}

#endif
