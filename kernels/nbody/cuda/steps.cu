/* Kicks, drifts, prediction and correction: memory-bound loops over all components, with the formulas of physics.h.
 * They read the acceleration in the raw form of the solver. */
#include "kernels/nbody/cuda/steps.cuh"

#include "kernels/common/launch.cuh"
#include "kernels/nbody/cuda/functions.cuh"
#include "kernels/nbody/physics.h"

enum { THREADS = 128 };

static __global__ void finish(nbody_raw_force raw, double *acceleration, double *jerk, size_t components) {
  after_previous();
  for (size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x; k < components; k += (size_t)gridDim.x * THREADS) {
    acceleration[k] = raw_component(raw, acceleration, raw.acceleration, raw.unit, k, components);
    if (jerk != nullptr) jerk[k] = raw_component(raw, jerk, raw.jerk, raw.unit_jerk, k, components);
  }
}

/* v += a dt; DRIFT: also x += v drift, and the acceleration is cleared, so that a solver can add to it. */
template <typename real, bool DRIFT>
static __global__ void kick(nbody_raw_force raw, real *x, real *v, double *acceleration, size_t components, double dt,
                            double drift, double box) {
  after_previous();
  for (size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x; k < components; k += (size_t)gridDim.x * THREADS) {
    const double a = raw_component(raw, acceleration, raw.acceleration, raw.unit, k, components);
    const real after = (real)nbody_kicked(v[k], a, dt);
    v[k] = after;
    if (DRIFT) x[k] = nbody_moved(x[k], after, drift, box);
    if (DRIFT || raw.kind != NBODY_FORCE_FINAL) acceleration[k] = DRIFT ? 0 : a;
  }
}

template <typename real>
static __global__ void drift(real *x, const real *v, size_t components, double dt, double box) {
  after_previous();
  for (size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x; k < components; k += (size_t)gridDim.x * THREADS)
    x[k] = nbody_moved(x[k], v[k], dt, box);
}

template <typename real>
static __global__ void predict(real *x, real *v, const double *a, const double *j, real *x0, real *v0, double *a0,
                               double *j0, size_t components, double dt) {
  after_previous();
  for (size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x; k < components; k += (size_t)gridDim.x * THREADS) {
    const real xk = x[k], vk = v[k];
    const double ak = a[k], jk = j[k];
    x0[k] = xk, v0[k] = vk, a0[k] = ak, j0[k] = jk;
    x[k] = (real)nbody_predicted_position(xk, vk, ak, jk, dt);
    v[k] = (real)nbody_predicted_velocity(vk, ak, jk, dt);
  }
}

template <typename real>
static __global__ void correct(nbody_raw_force raw, real *x, real *v, const double *a, const double *j, const real *x0,
                               const real *v0, const double *a0, const double *j0, size_t components, double dt) {
  after_previous();
  for (size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x; k < components; k += (size_t)gridDim.x * THREADS) {
    const double a1 = raw_component(raw, a, raw.acceleration, raw.unit, k, components);
    const double j1 = raw_component(raw, j, raw.jerk, raw.unit_jerk, k, components);
    const double v1 = nbody_corrected_velocity(v0[k], a0[k], j0[k], a1, j1, dt);
    x[k] = (real)nbody_corrected_position(x0[k], v0[k], v1, a0[k], a1, dt);
    v[k] = (real)v1;
  }
}

/* ---- launches ---- */

static size_t components_of(const nbody_work *w) { return 3 * (size_t)w->state.n; }

static unsigned grid_of(size_t components) {
  const size_t blocks = (components + THREADS - 1) / THREADS, most = 16 * (size_t)sim_cuda_multiprocessors();
  return (unsigned)(blocks < most ? blocks : most);
}

/* Bytes of a raw force other than the state's acceleration. */
static double raw_bytes(const nbody_work *w) {
  return w->raw.kind == NBODY_FORCE_PARTS ? 8.0 * w->raw.parts * (double)components_of(w) : 0;
}

void nbody_cuda_finish(nbody_work *w) {
  static const sim_kernel kernel = {"nbody_finish", "force", SIM_LIMIT_BYTES};
  if (w->raw.kind == NBODY_FORCE_FINAL) return;
  if (w->functions.finish != nullptr) {
    nbody_cuda_external_finish(w);
    w->raw.kind = NBODY_FORCE_FINAL;
    return;
  }
  const size_t components = components_of(w);
  device_launch(&kernel, (w->state.jerk != nullptr ? 2 : 1) * (16.0 * (double)components + raw_bytes(w)),
                grid_of(components), THREADS, finish, w->raw, w->state.acceleration, w->state.jerk, components);
  w->raw.kind = NBODY_FORCE_FINAL;
}

template <typename real> void nbody_cuda_kick(nbody_work *w, double dt) {
  static const sim_kernel kernel = {"nbody_kick", "kick and drift", SIM_LIMIT_BYTES};
  if (w->state.jerk != NULL) nbody_cuda_finish(w); /* the jerk is raw as well */
  if (w->functions.kick != nullptr && w->raw.kind != NBODY_FORCE_FINAL) {
    nbody_cuda_external_kick(w, dt);
    w->raw.kind = NBODY_FORCE_FINAL;
    return;
  }
  const size_t components = components_of(w);
  const bool raw = w->raw.kind != NBODY_FORCE_FINAL;
  device_launch(&kernel, (double)components * (2 * sizeof(real) + (raw ? 16 : 8)) + raw_bytes(w), grid_of(components),
                THREADS, kick<real, false>, w->raw, nullptr, (real *)w->state.velocity, w->state.acceleration,
                components, dt, 0, 0.0);
  w->raw.kind = NBODY_FORCE_FINAL;
}

template <typename real> void nbody_cuda_drift(nbody_work *w, double dt) {
  static const sim_kernel kernel = {"nbody_drift", "kick and drift", SIM_LIMIT_BYTES};
  const size_t components = components_of(w);
  device_launch(&kernel, (double)components * 3 * sizeof(real), grid_of(components), THREADS, drift<real>,
                (real *)w->state.position, (const real *)w->state.velocity, components, dt, w->options.box);
}

template <typename real> void nbody_cuda_kick_drift(nbody_work *w, double kicked, double drifted) {
  static const sim_kernel kernel = {"nbody_kick_drift", "kick and drift", SIM_LIMIT_BYTES};
  if (w->state.jerk != NULL) nbody_cuda_finish(w); /* the jerk is raw as well */
  if (w->functions.kick_drift != nullptr && w->raw.kind != NBODY_FORCE_FINAL) {
    nbody_cuda_external_kick_drift(w, kicked, drifted);
    w->raw.kind = NBODY_FORCE_FINAL;
    return;
  }
  const size_t components = components_of(w);
  device_launch(&kernel, (double)components * (4 * sizeof(real) + 16) + raw_bytes(w), grid_of(components), THREADS,
                kick<real, true>, w->raw, (real *)w->state.position, (real *)w->state.velocity, w->state.acceleration,
                components, kicked, drifted, w->options.box);
  w->raw.kind = NBODY_FORCE_FINAL;
}

template <typename real> void nbody_cuda_predict(nbody_work *w, double dt) {
  static const sim_kernel kernel = {"nbody_predict", "predict and correct", SIM_LIMIT_BYTES};
  const size_t components = components_of(w);
  nbody_cuda_finish(w);
  device_launch(&kernel, (double)components * (6 * sizeof(real) + 32), grid_of(components), THREADS, predict<real>,
                (real *)w->state.position, (real *)w->state.velocity, w->state.acceleration, w->state.jerk,
                (real *)w->x0, (real *)w->v0, w->a0, w->j0, components, dt);
}

template <typename real> void nbody_cuda_correct(nbody_work *w, double dt) {
  static const sim_kernel kernel = {"nbody_correct", "predict and correct", SIM_LIMIT_BYTES};
  if (w->functions.correct != nullptr && w->raw.kind != NBODY_FORCE_FINAL) {
    nbody_cuda_external_correct(w, dt);
    return;
  }
  const size_t components = components_of(w);
  device_launch(&kernel, (double)components * (4 * sizeof(real) + 32) + 2 * raw_bytes(w), grid_of(components), THREADS,
                correct<real>, w->raw, (real *)w->state.position, (real *)w->state.velocity, w->state.acceleration,
                w->state.jerk, (const real *)w->x0, (const real *)w->v0, w->a0, w->j0, components, dt);
}

#define NBODY_STEPS_OF(real)                                                                                           \
  template void nbody_cuda_kick<real>(nbody_work * w, double dt);                                                      \
  template void nbody_cuda_drift<real>(nbody_work * w, double dt);                                                     \
  template void nbody_cuda_kick_drift<real>(nbody_work * w, double kicked, double drifted);                            \
  template void nbody_cuda_predict<real>(nbody_work * w, double dt);                                                   \
  template void nbody_cuda_correct<real>(nbody_work * w, double dt);
NBODY_STEPS_OF(float)
NBODY_STEPS_OF(double)
