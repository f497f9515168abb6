/* Operators of the fast multipole method for the device, and the layout of rows of moments and fields. Device code. */
#ifndef NBODY_FMM_CUDA_OPERATORS_CUH
#define NBODY_FMM_CUDA_OPERATORS_CUH

#include "kernels/common/device.cuh"
#include "kernels/nbody/direct/cuda/pair.cuh"
#include "kernels/nbody/fmm/cuda/fmm.h"

namespace fmm_device {
template <typename real> __device__ __forceinline__ real v_add(real a, real b) { return a + b; }
template <typename real> __device__ __forceinline__ real v_mul(real a, real b) { return a * b; }
__device__ __forceinline__ float v_fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ __forceinline__ double v_fma(double a, double b, double c) { return __fma_rn(a, b, c); }
__device__ __forceinline__ float v_inverse_root(float a) { return approximate_rsqrt(a); }
__device__ __forceinline__ double v_inverse_root(double a) { return __drcp_rn(__dsqrt_rn(a)); }
#define FMM_FUNCTION static __device__ __forceinline__
namespace of_float {
typedef float real;
typedef float vreal;
#define v_set(number) (number)
#include "kernels/nbody/fmm/operators.inc"
} // namespace of_float
#undef FMM_BY_ORDER
namespace of_double {
typedef double real;
typedef double vreal;
#include "kernels/nbody/fmm/operators.inc"
} // namespace of_double
#undef v_set
#undef FMM_FUNCTION
using namespace of_float;
using namespace of_double;
} // namespace fmm_device

/* Rows of cells: moments in whole pieces of 16 bytes, fields in whole cache sectors. */
template <typename real, int P> struct fmm_row {
  static constexpr int moments = NBODY_FMM_MOMENTS(P), fields = NBODY_FMM_FIELD(P);
  static constexpr int piece = 16 / (int)sizeof(real), sector = 32 / (int)sizeof(real);
  static constexpr int moment_stride = (moments + piece - 1) / piece * piece;
  static constexpr int field_stride = (fields + sector - 1) / sector * sector;
};

/* How a row is read: from L2, because other multiprocessors may have just written it, or through any cache. */
struct fmm_written {
  template <typename T> __device__ static T at(const T *piece) { return __ldcg(piece); }
};
struct fmm_settled {
  template <typename T> __device__ static T at(const T *piece) { return *piece; }
};

/* Reads a row, 16 bytes at a time. */
template <typename Memory, int COUNT>
__device__ __forceinline__ void fmm_read_row(const float *row, float (&out)[COUNT]) {
#pragma unroll
  for (int k = 0; k < COUNT; k += 4) {
    const float4 piece = Memory::at((const float4 *)(row + k));
    out[k] = piece.x;
    if (k + 1 < COUNT) out[k + 1] = piece.y;
    if (k + 2 < COUNT) out[k + 2] = piece.z;
    if (k + 3 < COUNT) out[k + 3] = piece.w;
  }
}
template <typename Memory, int COUNT>
__device__ __forceinline__ void fmm_read_row(const double *row, double (&out)[COUNT]) {
#pragma unroll
  for (int k = 0; k < COUNT; k += 2) {
    const double2 piece = Memory::at((const double2 *)(row + k));
    out[k] = piece.x;
    if (k + 1 < COUNT) out[k + 1] = piece.y;
  }
}

template <int COUNT> __device__ __forceinline__ void fmm_write_row(float *row, const float (&of)[COUNT]) {
#pragma unroll
  for (int k = 0; k < COUNT; k += 4)
    *(float4 *)(row + k) =
        make_float4(of[k], k + 1 < COUNT ? of[k + 1] : 0, k + 2 < COUNT ? of[k + 2] : 0, k + 3 < COUNT ? of[k + 3] : 0);
}
template <int COUNT> __device__ __forceinline__ void fmm_write_row(double *row, const double (&of)[COUNT]) {
#pragma unroll
  for (int k = 0; k < COUNT; k += 2) *(double2 *)(row + k) = make_double2(of[k], k + 1 < COUNT ? of[k + 1] : 0);
}

template <typename real> __device__ __forceinline__ real fmm_square(real x, real y, real z) {
  return fused(z, z, fused(y, y, x * x));
}

/* Square of the softening length in lengths of the box. */
template <typename real> __device__ __forceinline__ real fmm_softening2(const nbody_fmm_frame *frame) {
  const real h = (real)frame->softening;
  return h * h;
}

/* 2^exponent; with the level of a cell as exponent it is 1 / edge. */
template <typename real> __device__ __forceinline__ real fmm_power(int exponent) {
  if constexpr (sizeof(real) == sizeof(float))
    return __int_as_float((127 + exponent) << 23);
  else
    return __longlong_as_double((long long)(1023 + exponent) << 52);
}

#endif
