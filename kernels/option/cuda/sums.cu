/* Kernels that are the same for every run: sums over parts (twin: cpu/sums.c) and the normal equations of exercise
 * rules (twin: `sums` in cpu/exercise.c). */
#include "kernels/option/cuda/sums.h"

#include "kernels/option/cuda/paths/random.cuh"
#include "kernels/option/random/moments.h"

/* Sums the parts of each block in order: partial[parts][numbers] -> out[blocks][numbers]; even columns: first sums,
 * odd columns: second sums. `matched`: the mean of a part is one sample, and the second sum is that of its square. */
static __global__ void gather(const double *partial, int parts, int per_block, int numbers, int matched, double *out) {
  const int blocks = (parts + per_block - 1) / per_block;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < blocks * numbers; i += gridDim.x * blockDim.x) {
    const int first = i / numbers * per_block, last = min(first + per_block, parts), number = i % numbers;
    const bool squared = matched && number % 2 == 1;
    double sum = 0;
#pragma unroll 8
    for (int part = first; part < last; part++) {
      const double a = partial[(size_t)part * numbers + (squared ? number - 1 : number)];
      sum += squared ? a * a / (MATCH_M * MATCH_M) : a;
    }
    out[i] = sum;
  }
}

/* ---- early exercise ---- */

/* Sums over OPTION_CHUNK paths: partial[blocks][OPTION_REGRESSION_SUMS]. */
static __global__ void __launch_bounds__(OPTION_CUDA_THREADS)
    fit(const option_regression_step f, const double *now, const double *next, double *cash, double *partial) {
  enum { WARPS = OPTION_CUDA_THREADS / 32, MOMENTS = OPTION_REGRESSION_MOMENTS, SUMS = OPTION_REGRESSION_SUMS };
  __shared__ double all[WARPS][SUMS];
  double sum[SUMS];
#pragma unroll
  for (int k = 0; k < SUMS; k++) sum[k] = 0;
  for (int j = 0; j < OPTION_CHUNK; j += OPTION_CUDA_THREADS) {
    const size_t i = (size_t)blockIdx.x * OPTION_CHUNK + j + threadIdx.x;
    double brings = cash[i];
    if (f.exercise) {
      const double price = next[i], payoff = f.sign * (price - f.strike), x = (price - f.centre) * f.scale;
      double hold = 0;
      for (int k = f.degree; k >= 0; k--) hold = hold * x + f.beta[k];
      if (payoff > 0 && payoff >= hold) brings = payoff;
    }
    cash[i] = brings *= f.discount;
    const double price = now[i], x = (price - f.centre) * f.scale;
    if (!(f.sign * (price - f.strike) > 0)) continue;
    double power = 1;
#pragma unroll
    for (int k = 0; k < MOMENTS; k++) {
      if (k > 2 * f.degree) break;
      sum[k] += power;
      if (k <= f.degree && k < SUMS - MOMENTS) sum[MOMENTS + k] += power * brings;
      power *= x;
    }
  }
#pragma unroll
  for (int k = 0; k < SUMS; k++) {
    const double a = warp_sum_all(sum[k]);
    if (threadIdx.x % 32 == 0) all[threadIdx.x / 32][k] = a;
  }
  __syncthreads();
  if (threadIdx.x >= SUMS) return;
  double a = 0;
  for (int warp = 0; warp < WARPS; warp++) a += all[warp][threadIdx.x];
  partial[(size_t)blockIdx.x * SUMS + threadIdx.x] = a;
}

/* Sums of the columns of partial[rows][columns]: 32 columns a thread block, each row in eight turns. */
static __global__ void __launch_bounds__(OPTION_CUDA_THREADS)
    total(const double *partial, int rows, int columns, double *out) {
  enum { TURNS = OPTION_CUDA_THREADS / 32 };
  __shared__ double all[TURNS][32];
  const int column = (int)(blockIdx.x * 32 + threadIdx.x % 32), turn = (int)threadIdx.x / 32;
  double a = 0;
#pragma unroll 4
  for (int row = turn; row < rows && column < columns; row += TURNS) a += partial[(size_t)row * columns + column];
  all[turn][threadIdx.x % 32] = a;
  __syncthreads();
  if (turn > 0 || column >= columns) return;
  a = 0;
  for (int k = 0; k < TURNS; k++) a += all[k][threadIdx.x];
  out[column] = a;
}

void *option_cuda_gather(void) { return (void *)gather; }
void *option_cuda_regression_sums(void) { return (void *)fit; }
void *option_cuda_regression_total(void) { return (void *)total; }
