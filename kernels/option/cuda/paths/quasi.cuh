/* Scrambled Sobol points and Brownian bridges, one path a thread. Twin: cpu/quasi.h. Tables: random/quasi.h. Device
 * code. */
#ifndef OPTION_CUDA_QUASI_CUH
#define OPTION_CUDA_QUASI_CUH

#include "kernels/option/cuda/paths/motion.cuh"

/* Brownian motion of each asset of a path at the steps, in units of a step's standard deviation; local memory. */
template <class S> struct motions {
  unsigned scramble, index;
  typename S::real at[S::SOBOL ? S::ASSETS : 1][S::SOBOL ? S::STEPS + 1 : 1];
};

__device__ inline unsigned sobol_bits(const option_points &q, unsigned scramble, unsigned index, int dimension) {
  const size_t place = (size_t)scramble * q.dimensions + dimension;
  const unsigned *v = q.direction + 32 * place;
  unsigned word = __ldg(q.shift + place);
  for (unsigned rest = index, bit = 0; rest != 0; rest >>= 1, bit++) word ^= __ldg(v + bit) & (0 - (rest & 1));
  return word;
}

__device__ inline float inverse_normal(unsigned w, float) {
  const float u = folded(w);
  return -falling_normal(u, binary_log(fused(-u, u, fabsf(u))), true);
}
__device__ inline double inverse_normal(unsigned w, double) {
  return -falling_normal(folded((unsigned long long)w), 0.0, true);
}

template <class S> __device__ inline void make_motions(const option_points &q, motions<S> &m) {
  typedef typename S::real real;
  const real *weights = (const real *)q.weights;
#pragma unroll 1
  for (int a = 0; a < S::ASSETS; a++) {
    real *at = m.at[a];
#pragma unroll 1
    for (int i = 0; i <= S::STEPS; i++) at[i] = 0;
#pragma unroll 1
    for (int k = 0; k < S::STEPS; k++) {
      const real z = inverse_normal(sobol_bits(q, m.scramble, m.index, k * q.each + a), (real)0);
      if (S::PCA) {
#pragma unroll 1
        for (int i = 0; i < S::STEPS; i++) at[i + 1] = fused(z, __ldg(weights + k * S::STEPS + i), at[i + 1]);
        continue;
      }
      const int *b = q.bridge + 3 * k;
      const real *w = weights + 3 * k;
      at[__ldg(b)] = fused(at[__ldg(b + 1)], __ldg(w), fused(at[__ldg(b + 2)], __ldg(w + 1), z * __ldg(w + 2)));
    }
  }
}

#endif
