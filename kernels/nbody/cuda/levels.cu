/* Individual steps: levels of bodies, and kicks of bodies whose step begins or ends. The host reads the number of
 * bodies of each level, to find the length of the next substep: one copy of 200 bytes a substep. */
#include "kernels/nbody/cuda/levels.cuh"

#include "kernels/common/launch.cuh"
#include "kernels/nbody/cuda/reduce.cuh"
#include "kernels/nbody/cuda/steps.cuh"
#include "kernels/nbody/physics.h"

enum { THREADS = 256 };

/* Chooses the levels of bodies, and adds the number of bodies of each level to counted[most + 2]. Entry [most + 1]
 * counts bodies that want a shorter step than that of level `most`; they get level `most`. */
static __global__ void __launch_bounds__(THREADS)
    choose(int n, const double *acceleration, double softening, double eta, double dt, int least, int most,
           uint8_t *level, unsigned long long *counted) {
  __shared__ unsigned count[NBODY_LEVELS_MAX + 2];
  after_previous();
  if (threadIdx.x < NBODY_LEVELS_MAX + 2) count[threadIdx.x] = 0;
  __syncthreads();
  for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < n; i += (long long)gridDim.x * THREADS) {
    int mine = level[i];
    if (least == 0 || mine >= least) {
      mine = max(nbody_level(square3(acceleration, n, i), softening, eta, dt, most), least);
      level[i] = (uint8_t)min(mine, most);
    }
    atomicAdd(&count[mine], 1u);
  }
  __syncthreads();
  if (threadIdx.x < NBODY_LEVELS_MAX + 2 && count[threadIdx.x] > 0)
    atomicAdd(&counted[threadIdx.x], (unsigned long long)count[threadIdx.x]);
}

/* v += a dt / 2^level of the bodies of level >= least, whose accelerations become final. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    kick_levels(nbody_raw_force raw, int n, real *v, double *acceleration, const uint8_t *level, int least, double dt) {
  after_previous();
  for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < n; i += (long long)gridDim.x * THREADS) {
    const int mine = level[i];
    if (mine < least) continue;
    const double step = ldexp(dt, -mine);
    for (int c = 0; c < 3; c++) {
      const size_t k = (size_t)c * n + i;
      const double a = raw_component(raw, acceleration, raw.acceleration, raw.unit, k, 3 * (size_t)n);
      v[k] = (real)nbody_kicked(v[k], a, step);
      if (raw.kind != NBODY_FORCE_FINAL) acceleration[k] = a;
    }
  }
}

static unsigned grid_of(const nbody_work *w) {
  const int64_t blocks = (w->state.n + THREADS - 1) / THREADS, most = 8 * (int64_t)sim_cuda_multiprocessors();
  return (unsigned)(blocks < most ? blocks : most);
}

void nbody_cuda_choose_levels(nbody_work *w, double dt, int least, nbody_histogram *out) {
  static const sim_kernel kernel = {"nbody_choose_levels", "time step", SIM_LIMIT_BYTES};
  const nbody_options *o = &w->options;
  const double n = (double)w->state.n;
  *out = {};
  nbody_cuda_finish(w);
  sim_cuda_failed(cudaMemsetAsync(w->histogram, 0, sizeof *w->histogram, (cudaStream_t)sim_cuda_stream()),
                  "cudaMemsetAsync", "the levels");
  device_launch(&kernel, 26 * n, grid_of(w), THREADS, choose, (int)w->state.n, w->state.acceleration, o->softening,
                o->eta, dt, least, o->levels, w->level, (unsigned long long *)w->histogram->bodies);
  if (sim_backend_cuda.copy(out, w->histogram, sizeof *out) != SIM_OK) *out = {}; /* the queue keeps the error */
  out->bodies[o->levels] += out->bodies[o->levels + 1];
}

template <typename real> void nbody_cuda_kick_levels(nbody_work *w, double dt, int least) {
  static const sim_kernel kernel = {"nbody_kick_levels", "kick and drift", SIM_LIMIT_BYTES};
  const double n = (double)w->state.n;
  if (w->functions.finish != nullptr) nbody_cuda_finish(w); /* an external force is still to be added */
  device_launch(&kernel, (1 + 6 * sizeof(real) + 24) * n, grid_of(w), THREADS, kick_levels<real>, w->raw,
                (int)w->state.n, (real *)w->state.velocity, w->state.acceleration, w->level, least, dt);
  w->raw.kind = NBODY_FORCE_FINAL;
}
template void nbody_cuda_kick_levels<float>(nbody_work *w, double dt, int least);
template void nbody_cuda_kick_levels<double>(nbody_work *w, double dt, int least);
