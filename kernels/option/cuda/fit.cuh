/* Paths that rules of early exercise are fitted on, and their normal equations. Device code; a run's text gives the
 * struct `scheme`, in fp64, with S::RECORD. */
#ifndef OPTION_CUDA_FIT_CUH
#define OPTION_CUDA_FIT_CUH

#include "kernels/option/cuda/walk.cuh"

/* Prices at the dates of one path a thread. */
template <class S>
__device__ inline void record_path(const constants<S> &c, const option_keys &keys, const typename S::real *table,
                                   unsigned high, unsigned low, const recorder &to) {
  const unsigned thread = blockIdx.x * OPTION_CUDA_THREADS + threadIdx.x, number = low + thread;
  const unsigned turn = S::SHARE > 1 ? number / 256 % S::SHARE : 0;
  const stream own = begin_stream(high, number), s = S::SHARE > 1 ? begin_stream(high, number % 256) : own;
  walk<S> p;
  draws<S> d;
  begin_walk(p, c);
  p.record = to;
  p.record.out += thread;
#pragma unroll 1
  for (int i = 0; i < S::STEPS; i++) {
    const unsigned group = S::SHARE > 1 ? number / (256 * S::SHARE) : i / 4;
    const rows<S> row(table, i / 4);
    if (i % 4 == 0) draw(c, s, prepare(s, keys, 0), keys, common(high, keys, group), d);
    step(p, c, own, keys, d, row, i % 4, (S::STEPS * turn + i) % 4);
  }
}

/* Sums of OPTION_FIT_CHUNK paths: partial[blocks][OPTION_CUDA_FIT_SUMS]. */
__device__ inline void fit_sums(const option_fit_step &f, const double *now, const double *next, double *cash,
                                double *partial) {
  enum { WARPS = OPTION_CUDA_THREADS / 32, MOMENTS = OPTION_CUDA_FIT_MOMENTS, SUMS = OPTION_CUDA_FIT_SUMS };
  __shared__ double all[WARPS][SUMS];
  double sum[SUMS];
#pragma unroll
  for (int k = 0; k < SUMS; k++) sum[k] = 0;
  for (int j = 0; j < OPTION_CUDA_FIT_CHUNK; j += OPTION_CUDA_THREADS) {
    const size_t i = (size_t)blockIdx.x * OPTION_CUDA_FIT_CHUNK + j + threadIdx.x;
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
    const double a = warp_sum(sum[k]);
    if (threadIdx.x % 32 == 0) all[threadIdx.x / 32][k] = a;
  }
  __syncthreads();
  if (threadIdx.x >= SUMS) return;
  double a = 0;
  for (int warp = 0; warp < WARPS; warp++) a += all[warp][threadIdx.x];
  partial[(size_t)blockIdx.x * SUMS + threadIdx.x] = a;
}

/* A warp for each sum. */
__device__ inline void fit_total(const double *partial, int blocks, double *out) {
  double a = 0;
  for (int b = threadIdx.x % 32; b < blocks; b += 32) a += partial[(size_t)b * OPTION_CUDA_FIT_SUMS + threadIdx.x / 32];
  a = warp_sum(a);
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = a;
}

#endif
