/* Square roots and quotients that round as the operators do, by the compiler's own sequences for arguments far from the
 * ends of single precision's range (mid_range), without the branch for arguments near them. */
#ifndef COLLISION_GENERAL_CUDA_ROUND_CUH
#define COLLISION_GENERAL_CUDA_ROUND_CUH

#include "kernels/common/device.cuh"

template <typename real> static __device__ __forceinline__ bool mid_range(real x) {
  return x > (real)0x1p-60 && x < (real)0x1p60;
}

template <typename real> static __device__ __forceinline__ real root_of(real x) {
  if constexpr (sizeof(real) == 4) {
    const float first = approximate_rsqrt((float)x), root = __fmul_rn((float)x, first);
    return __fmaf_rn(__fmaf_rn(-root, root, (float)x), __fmul_rn(first, 0.5f), root);
  } else {
    return (real)sqrt(x);
  }
}

template <typename real> static __device__ __forceinline__ real inverse_of(real x) {
  if constexpr (sizeof(real) == 4) {
    const float first = approximate_inverse((float)x);
    return __fmaf_rn(first, __fmaf_rn(-(float)x, first, 1.0f), first);
  } else {
    return 1 / x;
  }
}

/* a / by, from inverse = 1 / by. */
template <typename real> static __device__ __forceinline__ real quotient_of(real a, real by, real inverse) {
  if constexpr (sizeof(real) == 4) {
    const float first = __fmul_rn((float)a, (float)inverse);
    return __fmaf_rn((float)inverse, __fmaf_rn(-(float)by, first, (float)a), first);
  } else {
    return a / by;
  }
}

#endif
