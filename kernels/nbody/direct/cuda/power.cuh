/* s^(k/2) for s > 0, in custom laws: the function that sim_expr_emission.powers (engine/expr/expr.h) names. Device
 * code.
 *
 * Relative error, u = 2^-24 or 2^-53: below (2.2 |k| + 2) u in fp32, where a reciprocal root is within 2^-22.9 and a
 * reciprocal within 2^-23, and each product adds half a unit; below (2 |k| + 2) u in fp64, where both come with cubic
 * corrections. s below 2^-126 (fp32) or 2^-1022 counts as 0. */
#ifndef NBODY_CUDA_POWER_CUH
#define NBODY_CUDA_POWER_CUH

#include "kernels/nbody/direct/cuda/pair.cuh"

__device__ inline float reciprocal(float a) { return approximate_inverse(a); }
/* With e = 1 - a y, about 2^-20, it is y (1 + e + e^2 + O(e^3)). */
__device__ inline double reciprocal(double a) {
  const double y = approximate_inverse(a), e = fused(-a, y, 1.0);
  return fused(y, fused(e, e, e), y);
}

/* y^P. FORM 1: by steps of y^2, which other powers share; else by squares. */
template <int P, int FORM, typename real> __device__ inline real chain(real y) {
  if constexpr (P == 0) {
    return 1;
  } else if constexpr (P == 1) {
    return y;
  } else if constexpr (P % 2 == 1 && FORM == 1) {
    return chain<P - 2, FORM>(y) * (y * y);
  } else if constexpr (P % 2 == 1) {
    return chain<P - 1, FORM>(y) * y;
  } else {
    const real half = chain<P / 2, FORM>(y);
    return half * half;
  }
}

/* s^(-P/2), P odd, alone. fp64: with e = 1 - s y^2 it is y^P (1 - e)^(-P/2) = y^P (1 + p e + p (p + 1) / 2 e^2 +
 * O(e^3)), p = P/2; the rest grows with p^3, from 5 on the root is corrected first. */
template <int P> __device__ inline float inverse_power(float s) { return chain<P, 0>(approximate_rsqrt(s)); }
template <int P> __device__ inline double inverse_power(double s) {
  if constexpr (P > 5) {
    return chain<P, 0>(inverse_root(s));
  } else {
    constexpr double p = 0.5 * P;
    const double y = approximate_rsqrt(s), e = fused(-s, y * y, 1.0), power = chain<P, 0>(y);
    return fused(power, e * fused(e, p * (p + 1) / 2, p), power);
  }
}

/* s^(K/2). FORM 0: no other power of s, K odd; 1: others too; 2: even ones alone. */
template <int K, int FORM, typename real> __device__ inline real nbody_power(real s) {
  constexpr int size = K < 0 ? -K : K;
  if constexpr (K < 0 && FORM == 0) {
    return inverse_power<size>(s);
  } else if constexpr (K < 0 && FORM == 1) {
    return chain<size, FORM>(inverse_root(s));
  } else if constexpr (K < 0) {
    return chain<size / 2, FORM>(reciprocal(s));
  } else if constexpr (K % 2 == 0) {
    return chain<K / 2, FORM>(s);
  } else {
    const real root = s > 0 ? s * inverse_root(s) : s;
    return chain<K / 2, FORM>(s) * root;
  }
}

#endif
