/* Direct sums of some bodies, against which a run measures the error of its forces. */
#include "kernels/nbody/fmm/cuda/sample.h"

#include "engine/device/cuda.h"
#include "kernels/common/device.cuh"

enum { THREADS = 256 };

/* A block a body. out [9][count]: the acceleration that the state has, the direct sum over G, the position. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    sample(int n, const real *mass, const real *position, const double *acceleration, double softening2,
           const int64_t *numbers, double *out) {
  __shared__ double shared[THREADS / 32];
  const size_t i = (size_t)numbers[blockIdx.x], stride = (size_t)n;
  double x[3], sum[3] = {0, 0, 0};
  for (int c = 0; c < 3; c++) x[c] = (double)position[c * stride + i];
  for (size_t j = threadIdx.x; j < stride; j += THREADS) {
    double d[3], s2 = softening2;
    for (int c = 0; c < 3; c++) {
      d[c] = (double)position[c * stride + j] - x[c];
      s2 += d[c] * d[c];
    }
    if (j == i) continue;
    const double y = 1 / sqrt(s2), g = (double)mass[j] * y * y * y;
    for (int c = 0; c < 3; c++) sum[c] += g * d[c];
  }
  for (int c = 0; c < 3; c++) {
    const double all = block_sum<THREADS>(sum[c], shared);
    if (threadIdx.x > 0) continue;
    out[c * gridDim.x + blockIdx.x] = acceleration[c * stride + i];
    out[(3 + c) * gridDim.x + blockIdx.x] = all;
    out[(6 + c) * gridDim.x + blockIdx.x] = x[c];
  }
}

size_t nbody_fmm_sample_bytes() { return 10 * NBODY_SAMPLES * sizeof(double); }

sim_status nbody_fmm_sample(const nbody_state *state, double softening, const int64_t *numbers, int count, void *memory,
                            double *out) {
  static const sim_kernel kernel = {"nbody_fmm_sample", "observe", SIM_LIMIT_FP64};
  const int n = (int)state->n;
  int64_t *const drawn = (int64_t *)memory;
  double *const found = (double *)(drawn + NBODY_SAMPLES);
  const cudaStream_t stream = (cudaStream_t)sim_cuda_stream();
  SIM_TRY(sim_backend_cuda.copy(drawn, numbers, (size_t)count * sizeof *numbers));
  sim_cuda_begin(&kernel);
  if (state->dtype == SIM_F64)
    sample<<<(unsigned)count, THREADS, 0, stream>>>(n, (const double *)state->mass, (const double *)state->position,
                                                    state->acceleration, softening * softening, drawn, found);
  else
    sample<<<(unsigned)count, THREADS, 0, stream>>>(n, (const float *)state->mass, (const float *)state->position,
                                                    state->acceleration, softening * softening, drawn, found);
  sim_cuda_end(&kernel, 20.0 * count * n); /* instructions a pair */
  return sim_backend_cuda.copy(out, found, 9 * (size_t)count * sizeof *out);
}
