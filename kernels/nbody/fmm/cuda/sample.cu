/* Direct sums for a sample of bodies, with which a run measures the error of its forces. */
#include "kernels/nbody/fmm/cuda/sample.h"

#include "engine/device/cuda.h"
#include "kernels/common/device.cuh"
#include "kernels/nbody/direct/cuda/periodic.cuh"

enum { THREADS = 256 };

/* One block for each body. out[9][count]: acceleration of the state, direct sum over G, position. */
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

/* As before in a periodic box, with the images of all bodies. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    periodic_sample(int n, const real *mass, const real *position, const double *acceleration, double per_size,
                    const periodic_pairs<double> pairs, const int64_t *numbers, double *out) {
  __shared__ double shared[THREADS / 32];
  const size_t i = (size_t)numbers[blockIdx.x], stride = (size_t)n;
  double x[3], sum[3] = {0, 0, 0};
  for (int c = 0; c < 3; c++) x[c] = (double)position[c * stride + i] * per_size;
  for (size_t j = threadIdx.x; j < stride; j += THREADS) {
    double d[3];
    for (int c = 0; c < 3; c++) d[c] = (double)position[c * stride + j] * per_size - x[c];
    pairs.add(d, (double)mass[j], j == i, sum);
  }
  for (int c = 0; c < 3; c++) {
    const double all = block_sum<THREADS>(sum[c], shared);
    if (threadIdx.x > 0) continue;
    out[c * gridDim.x + blockIdx.x] = acceleration[c * stride + i];
    out[(3 + c) * gridDim.x + blockIdx.x] = all * (per_size * per_size);
    out[(6 + c) * gridDim.x + blockIdx.x] = (double)position[c * stride + i];
  }
}

template <typename real>
static void launch(const nbody_state *state, double softening, double box, const double *table, const int64_t *drawn,
                   int count, double *found) {
  const int n = (int)state->n;
  const real *const mass = (const real *)state->mass, *const position = (const real *)state->position;
  const cudaStream_t stream = (cudaStream_t)sim_cuda_stream();
  if (box > 0) {
    const periodic_pairs<double> pairs = {table, softening / box * (softening / box)};
    periodic_sample<<<(unsigned)count, THREADS, 0, stream>>>(n, mass, position, state->acceleration, 1 / box, pairs,
                                                             drawn, found);
  } else
    sample<<<(unsigned)count, THREADS, 0, stream>>>(n, mass, position, state->acceleration, softening * softening,
                                                    drawn, found);
}

/* One block for each body. out[2][count] as nbody_fmm_sample_energy. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    sample_energy(int n, const real *mass, const real *position, double per_size, const periodic_pairs<double> pairs,
                  const unsigned *id, const double *of_body, const double *per_edge, const int64_t *numbers,
                  double *out) {
  __shared__ double shared[THREADS / 32];
  const size_t i = (size_t)numbers[blockIdx.x], stride = (size_t)n;
  const bool periodic = pairs.table != nullptr;
  double x[3], sum = 0;
  for (int c = 0; c < 3; c++) x[c] = (double)position[c * stride + i] * per_size;
  for (size_t j = threadIdx.x; j < stride; j += THREADS) {
    double d[3], y;
    for (int c = 0; c < 3; c++) d[c] = (double)position[c * stride + j] * per_size - x[c];
    if (periodic)
      y = pairs.potential(d, j == i);
    else
      y = j == i ? 0 : 1 / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + pairs.softening2);
    sum += (double)mass[j] * y;
    if (id[j] == i) out[blockIdx.x] = of_body[j] * *per_edge;
  }
  const double all = block_sum<THREADS>(sum, shared);
  if (threadIdx.x == 0) out[gridDim.x + blockIdx.x] = (double)mass[i] * all * per_size;
}

size_t nbody_fmm_sample_bytes() { return 10 * NBODY_SAMPLES * sizeof(double); }

sim_status nbody_fmm_sample(const nbody_state *state, double softening, double box, const double *table,
                            const int64_t *numbers, int count, void *memory, double *out) {
  static const sim_kernel kernel = {"nbody_fmm_sample", "observe", SIM_LIMIT_FP64};
  int64_t *const drawn = (int64_t *)memory;
  double *const found = (double *)(drawn + NBODY_SAMPLES);
  SIM_TRY(sim_backend_cuda.copy(drawn, numbers, (size_t)count * sizeof *numbers));
  sim_cuda_begin(&kernel);
  if (state->dtype == SIM_F64)
    launch<double>(state, softening, box, table, drawn, count, found);
  else
    launch<float>(state, softening, box, table, drawn, count, found);
  sim_cuda_end(&kernel, 20.0 * count * (double)state->n); /* instructions a pair */
  return sim_backend_cuda.copy(out, found, 9 * (size_t)count * sizeof *out);
}

template <typename real>
static void launch_energy(const nbody_state *state, double per_size, const periodic_pairs<double> &pairs,
                          const unsigned *id, const double *of_body, const double *per_edge, const int64_t *drawn,
                          int count, double *found) {
  sample_energy<<<(unsigned)count, THREADS, 0, (cudaStream_t)sim_cuda_stream()>>>(
      (int)state->n, (const real *)state->mass, (const real *)state->position, per_size, pairs, id, of_body, per_edge,
      drawn, found);
}

sim_status nbody_fmm_sample_energy(const nbody_state *state, double softening, double box, const double *table,
                                   const unsigned *id, const double *of_body, const double *per_edge,
                                   const int64_t *numbers, int count, void *memory, double *out) {
  static const sim_kernel kernel = {"nbody_fmm_sample_energy", "observe", SIM_LIMIT_FP64};
  int64_t *const drawn = (int64_t *)memory;
  double *const found = (double *)(drawn + NBODY_SAMPLES);
  const double per_size = box > 0 ? 1 / box : 1;
  const periodic_pairs<double> pairs = {box > 0 ? table : nullptr, softening * per_size * (softening * per_size)};
  SIM_TRY(sim_backend_cuda.copy(drawn, numbers, (size_t)count * sizeof *numbers));
  sim_cuda_begin(&kernel);
  if (state->dtype == SIM_F64)
    launch_energy<double>(state, per_size, pairs, id, of_body, per_edge, drawn, count, found);
  else
    launch_energy<float>(state, per_size, pairs, id, of_body, per_edge, drawn, count, found);
  sim_cuda_end(&kernel, 20.0 * count * (double)state->n); /* instructions a pair */
  return sim_backend_cuda.copy(out, found, 2 * (size_t)count * sizeof *out);
}
