/* Minimum of a Brownian bridge whose maximum is known. Twin: cpu/joint.h, which has the formula. Device code. */
#ifndef OPTION_CUDA_JOINT_CUH
#define OPTION_CUDA_JOINT_CUH

#include "kernels/option/cuda/paths/random.cuh"

template <typename real> __device__ inline real power_below(real x) {
  return power_of_two(greatest(least(x, (real)0), (real)-120));
}

/* Returns P(D > d); `slope` is minus its derivative. */
template <typename real> __device__ inline real range_probability(real d, real a, real b, real &slope) {
  const real minus_two = (real)-2.8853900817779268; /* -2/ln 2 */
  const real s = a + b, c = a - b, scale = (real)0.5 / greatest(s, (real)1e-6);
  real sum = 0, slopes = 0;
#pragma unroll 1
  for (int n = 1; n <= 12; n++) {
    const real k = (real)n;
    if (d * d * (k * (k - 2)) > 16) break;
    const real kd = d * k, up = (2 * kd + c) * (2 * k), down = (2 * kd - c) * (2 * k), in = 2 * kd - s,
               out = 2 * kd + s;
    const real e1 = power_below((kd + a) * (kd - b) * minus_two), e2 = power_below((kd - a) * (kd + b) * minus_two);
    const real e3 = power_below(kd * (kd - s) * minus_two), e4 = power_below(kd * (kd + s) * minus_two);
    sum += up * e1 + down * e2 - in * e3 * (2 * (k - 1)) - out * e4 * (2 * (k + 1));
    slopes += (4 * k * k - up * up) * e1 + (4 * k * k - down * down) * e2 - (1 - in * in) * e3 * (4 * k * (k - 1)) -
              (1 - out * out) * e4 * (4 * k * (k + 1));
  }
  slope = slopes * scale;
  return sum * scale;
}

/* Minimum of a bridge from x to y with deviation `vol` and maximum `high`. */
template <typename real> __device__ inline real bridge_minimum(real x, real y, real vol, real high, unsigned w) {
  const real deviation = greatest((real)fabs(vol), (real)1e-15);
  const real a = greatest((high - x) / deviation, (real)0), b = greatest((high - y) / deviation, (real)0);
  const real nearer = greatest(a, b), u = uniform<real>(w), logarithm = binary_log(u);
  const bool upper = u < (real)0.5;
  const real known = upper ? logarithm : binary_log(greatest(1 - u, (real)0x1p-33));
  real from = greatest(nearer, (real)0.4), to = nearer + 8;
  real d = (a + b + root(fused(a - b, a - b, logarithm * (real)-1.3862943611198906))) * (real)0.5;
  d = greatest(greatest(d, (real)0.7), nearer);
#pragma unroll 1
  for (int turn = 0; turn < 40; turn++) {
    real slope;
    const real above = range_probability(d, a, b, slope), tail = greatest(upper ? above : 1 - above, (real)1e-30);
    if (above > u)
      from = d;
    else
      to = d;
    const real step = (binary_log(tail) - known) * (real)0.69314718055994530942 * tail / slope;
    real next = upper ? d - step : d + step;
    if (!(next > from && next < to)) next = (from + to) * (real)0.5;
    const real change = fabs(next - d);
    d = next;
    if (change < (sizeof(real) == 4 ? (real)1e-5 : (real)1e-7)) break;
  }
  return least(least(high - d * deviation, x), y);
}

#endif
