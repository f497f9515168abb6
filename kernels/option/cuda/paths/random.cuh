/* Normals and elementary functions. Twins: cpu/random.h, cpu/lanes.h. Device code.
 *
 * fp32 uses the hardware's approximations: 2^x and log2 within 2^-22, sine and cosine within 2^-20.9; fp64 uses
 * CUDA's library, within 2 units in the last place. */
#ifndef OPTION_CUDA_RANDOM_CUH
#define OPTION_CUDA_RANDOM_CUH

#include "kernels/common/device.cuh"
#include "kernels/option/cuda/launch.h"

#if OPTION_MRG
#include "kernels/option/cuda/paths/mrg.cuh"
#else
#include "kernels/option/cuda/paths/philox.cuh"
#endif

/* ---- functions ---- */

__device__ inline float power_of_two(float x) { return approximate_exp2(x); }
__device__ inline double power_of_two(double x) { return exp2(x); }

__device__ inline float binary_log(float x) { return approximate_log2(x); }
__device__ inline double binary_log(double x) { return log2(x); }

/* Square root; numbers below 0 by rounding count as 0. */
__device__ inline float root(float x) { return approximate_sqrt(fabsf(x)); }
__device__ inline double root(double x) { return sqrt(fabs(x)); }

__device__ inline float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline double fused(double a, double b, double c) { return __fma_rn(a, b, c); }
__device__ inline float least(float a, float b) { return fminf(a, b); }
__device__ inline double least(double a, double b) { return fmin(a, b); }
__device__ inline float greatest(float a, float b) { return fmaxf(a, b); }
__device__ inline double greatest(double a, double b) { return fmax(a, b); }

/* NaN where a is. */
__device__ inline float number_max(float a, float b) { return max_nan(a, b); }
__device__ inline double number_max(double a, double b) { return b > a ? b : a; }
__device__ inline float number_min(float a, float b) { return -number_max(-a, -b); }
__device__ inline double number_min(double a, double b) { return b < a ? b : a; }

/* ---- normals ---- */

/* Uniform number (k + 1/2)/2^31 of the upper 31 bits k; fp32 also uses the last bit, which saves an instruction and
 * changes the number by 2^-33. */
template <typename real> __device__ inline real uniform(unsigned w);
template <> __device__ inline float uniform<float>(unsigned w) { return fused((float)w, 0x1p-32f, 0x1p-33f); }
template <> __device__ inline double uniform<double>(unsigned w) { return (double)(w | 1) * 0x1p-32; }

/* Cosine and sine of w (fp32) or w + 1/2 (fp64) times 2^-32 turns; in fp32 the 1/2 vanishes. */
__device__ inline void direction(unsigned w, float *cosine, float *sine) {
  const float angle = (float)(int)w * 0x1.921fb6p-30f;
  *cosine = approximate_cos(angle);
  *sine = approximate_sin(angle);
}
__device__ inline void direction(unsigned w, double *cosine, double *sine) {
  sincospi(((double)(int)w + 0.5) * 0x1p-31, sine, cosine);
}

/* Two normals times sqrt(-spread/(2 ln 2)); spread = -2 ln 2 gives standard normals. */
template <typename real> __device__ inline void two_normals(unsigned radius, unsigned angle, real spread, real *z) {
  const real r = root(binary_log(uniform<real>(radius)) * spread);
  real cosine, sine;
  direction(angle, &cosine, &sine);
  z[0] = r * cosine;
  z[1] = r * sine;
}

#endif
