/* Arithmetic of one pair of bodies, and loading of bodies into packed units. Device code. Fused multiply-adds are
 * written out: contraction is off. */
#ifndef NBODY_CUDA_PAIR_CUH
#define NBODY_CUDA_PAIR_CUH

#include "kernels/common/device.cuh"

__device__ inline float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline double fused(double a, double b, double c) { return __fma_rn(a, b, c); }

/* a^(-3/2). fp64: with e = 1 - a y^2 it is y^3 (1 - e)^(-3/2) = y^3 (1 + 3/2 e + 15/8 e^2 + O(e^3)). */
__device__ inline float inverse_cube(float a) {
  const float y = approximate_rsqrt(a);
  return y * y * y;
}
__device__ inline double inverse_cube(double a) {
  const double y = approximate_rsqrt(a), t = y * y, e = fused(-a, t, 1.0);
  const double cube = t * y;
  return fused(cube, e * fused(e, 1.875, 1.5), cube);
}

/* a^(-1/2). fp64: y (1 + 1/2 e + 3/8 e^2 + O(e^3)). */
__device__ inline float inverse_root(float a) { return approximate_rsqrt(a); }
__device__ inline double inverse_root(double a) {
  const double y = approximate_rsqrt(a), e = fused(-a, y * y, 1.0);
  return fused(y, e * fused(e, 0.375, 0.5), y);
}

struct alignas(16) double_quad {
  double x, y, z, w;
};
template <typename pair_real> struct quad;
template <> struct quad<float> { typedef float4 type; };
template <> struct quad<double> { typedef double_quad type; };

/* Bodies of the state in device memory: mass[n], position[3][n], velocity[3][n]. */
template <typename real> struct bodies {
  int n, begin; /* begin: number of the first thread block of a launch, where each rank has some */
  const real *mass, *position, *velocity;
  double scale, scale_velocity, scale_mass; /* powers of two */
};

/* Median of 32 of vectors[3][n], component by component. It is subtracted from fp64 positions before they are
 * rounded to fp32, so that most bodies keep their digits wherever the system is and however far a few bodies are.
 * All lanes of a warp must call it; every warp gets the same result. */
__device__ inline double3 centre_of(const double *vectors, int n, float) {
  const int lane = threadIdx.x % 32;
  double centre[3];
  for (int c = 0; c < 3; c++) {
    const double mine = vectors[(size_t)c * n + (long long)lane * n / 32];
    int below = 0; /* equal values are ordered by lane */
    for (int other = 0; other < 32; other++) {
      const double theirs = warp_read(mine, other);
      below += theirs < mine || (theirs == mine && other < lane);
    }
    const unsigned middle = warp_ballot(below == 16);
    centre[c] = warp_read(mine, middle != 0 ? __ffs((int)middle) - 1 : 0); /* none where a value is NaN */
  }
  return make_double3(centre[0], centre[1], centre[2]);
}
__device__ inline double3 centre_of(const double *, int, double) { return make_double3(0, 0, 0); }
__device__ inline double3 centre_of(const float *, int, float) { return make_double3(0, 0, 0); }

template <typename pair_real> __device__ inline pair_real packed(float x, double, double scale) {
  return x * (float)scale;
}
template <typename pair_real> __device__ inline pair_real packed(double x, double centre, double scale) {
  return (pair_real)((x - centre) * scale);
}

/* x, y, z and mass of body j in packed units; j >= n: a body without mass at the centre. */
template <typename pair_real, typename real>
__device__ inline typename quad<pair_real>::type load_body(const bodies<real> &b, const double3 &centre, int j) {
  typename quad<pair_real>::type out = {};
  if (j >= b.n) return out;
  const size_t n = (size_t)b.n;
  out.x = packed<pair_real>(b.position[j], centre.x, b.scale);
  out.y = packed<pair_real>(b.position[n + j], centre.y, b.scale);
  out.z = packed<pair_real>(b.position[2 * n + j], centre.z, b.scale);
  out.w = packed<pair_real>(b.mass[j], 0, b.scale_mass);
  return out;
}

template <typename pair_real, typename real>
__device__ inline typename quad<pair_real>::type load_velocity(const bodies<real> &b, const double3 &centre, int j) {
  typename quad<pair_real>::type out = {};
  if (j >= b.n) return out;
  const size_t n = (size_t)b.n;
  out.x = packed<pair_real>(b.velocity[j], centre.x, b.scale_velocity);
  out.y = packed<pair_real>(b.velocity[n + j], centre.y, b.scale_velocity);
  out.z = packed<pair_real>(b.velocity[2 * n + j], centre.z, b.scale_velocity);
  return out;
}

#endif
