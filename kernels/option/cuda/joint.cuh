/* The lowest point of a Brownian bridge whose highest is known: see kernels/option/cpu/joint.h, which this follows path
 * by path. Device code. */
#ifndef OPTION_CUDA_JOINT_CUH
#define OPTION_CUDA_JOINT_CUH

#include "kernels/option/cuda/random.cuh"

template <typename Real> __device__ inline Real power_below(Real x) {
  return power_of_two(greatest(least(x, (Real)0), (Real)-120));
}

/* P(D > d) and its slope. */
template <typename Real> __device__ inline Real range_above(Real d, Real a, Real b, Real &slope) {
  const Real minus_two = (Real)-2.8853900817779268; /* -2/ln 2 */
  const Real s = a + b, c = a - b, scale = (Real)0.5 / greatest(s, (Real)1e-6);
  Real sum = 0, slopes = 0;
#pragma unroll 1
  for (int n = 1; n <= 12; n++) {
    const Real k = (Real)n;
    if (d * d * (k * (k - 2)) > 16) break;
    const Real kd = d * k, up = (2 * kd + c) * (2 * k), down = (2 * kd - c) * (2 * k), in = 2 * kd - s,
               out = 2 * kd + s;
    const Real e1 = power_below((kd + a) * (kd - b) * minus_two), e2 = power_below((kd - a) * (kd + b) * minus_two);
    const Real e3 = power_below(kd * (kd - s) * minus_two), e4 = power_below(kd * (kd + s) * minus_two);
    sum += up * e1 + down * e2 - in * e3 * (2 * (k - 1)) - out * e4 * (2 * (k + 1));
    slopes += (4 * k * k - up * up) * e1 + (4 * k * k - down * down) * e2 - (1 - in * in) * e3 * (4 * k * (k - 1)) -
              (1 - out * out) * e4 * (4 * k * (k + 1));
  }
  slope = slopes * scale;
  return sum * scale;
}

/* Of a bridge from x to y with the highest point `high`. */
template <typename Real> __device__ inline Real lowest(Real x, Real y, Real vol, Real high, unsigned w) {
  const Real deviation = greatest((Real)fabs(vol), (Real)1e-15);
  const Real a = greatest((high - x) / deviation, (Real)0), b = greatest((high - y) / deviation, (Real)0);
  const Real nearer = greatest(a, b), u = uniform<Real>(w), logarithm = binary_log(u);
  const bool upper = u < (Real)0.5;
  const Real known = upper ? logarithm : binary_log(greatest(1 - u, (Real)0x1p-33));
  Real from = greatest(nearer, (Real)0.4), to = nearer + 8;
  Real d = (a + b + root(fused(a - b, a - b, logarithm * (Real)-1.3862943611198906))) * (Real)0.5;
  d = greatest(greatest(d, (Real)0.7), nearer);
#pragma unroll 1
  for (int turn = 0; turn < 40; turn++) {
    Real slope;
    const Real above = range_above(d, a, b, slope), tail = greatest(upper ? above : 1 - above, (Real)1e-30);
    if (above > u)
      from = d;
    else
      to = d;
    const Real step = (binary_log(tail) - known) * (Real)0.69314718055994530942 * tail / slope;
    Real next = upper ? d - step : d + step;
    if (!(next > from && next < to)) next = (from + to) * (Real)0.5;
    const Real change = fabs(next - d);
    d = next;
    if (change < (sizeof(Real) == 4 ? (Real)1e-5 : (Real)1e-7)) break;
  }
  return least(least(high - d * deviation, x), y);
}

#endif
