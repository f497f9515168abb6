/* Minimum of a Brownian bridge whose maximum is known, for payoffs that depend on both. Twin: cuda/paths/joint.cuh.
 *
 * In units of the bridge's standard deviation let the maximum be a above the start and b above the end, and let the
 * range D be the maximum less the minimum. The method of images for a bridge between two walls, differentiated by
 * the upper wall, gives
 *
 *   2 (a + b) P(D > d) = sum over k >= 1 of (4 k^2 d + 2 k (a - b)) exp(-2 (k d + a)(k d - b))
 *                                          + (4 k^2 d - 2 k (a - b)) exp(-2 (k d - a)(k d + b))
 *                                          - 2 (k - 1)(2 k d - a - b) exp(-2 k d (k d - a - b))
 *                                          - 2 (k + 1)(2 k d + a + b) exp(-2 k d (k d + a + b)).
 *
 * D solves P(D > d) = u for a uniform number u: Newton's method on the logarithm of the smaller tail, inside a
 * bracket. The probability of D < JOINT_LEAST is below 1e-10. */
#ifndef OPTION_JOINT_H
#define OPTION_JOINT_H

#include "kernels/option/cpu/motion.h"

enum { JOINT_TERMS = 12, JOINT_TURNS = 40 };
#define JOINT_LEAST ((real)0.4)
#define JOINT_SPAN 8 /* the probability that D exceeds max(a, b) + JOINT_SPAN is below 1e-30 */
#define JOINT_NEAR                                                                                                     \
  ((real)(OPTION_SINGLE ? 1e-5 : 1e-7)) /* Newton stops at a step of this length; the error is its square */

static inline bool any_lane(vwhole lanes) {
  whole any = 0;
  for (int i = 0; i < LANES; i++) any |= lanes[i];
  return any != 0;
}

/* 2^x for x <= 0; x above 0 by rounding counts as 0, x below -120 as -120. */
LANES_INLINE vreal power_below(vreal x) { return v_exp2(v_max(v_min(x, v_set(0)), v_set(-120))); }

/* Returns P(D > d); *falls is minus its derivative. Each lane skips its terms below 1e-14. */
static inline vreal range_probability(vreal d, vreal a, vreal b, vreal *falls) {
  const real minus_two = (real)-2.8853900817779268; /* -2/ln 2 */
  const vreal s = a + b, c = a - b;
  vreal sum = v_set(0), slopes = v_set(0);
  for (int n = 1; n <= JOINT_TERMS; n++) {
    const real k = (real)n;
    const vwhole counts = d * d * (k * (k - 2)) <= v_set(16);
    if (!any_lane(counts)) break;
    const vreal kd = d * k, up = (2 * kd + c) * (2 * k), down = (2 * kd - c) * (2 * k), in = 2 * kd - s,
                out = 2 * kd + s;
    const vreal e1 = power_below((kd + a) * (kd - b) * minus_two), e2 = power_below((kd - a) * (kd + b) * minus_two);
    const vreal e3 = power_below(kd * (kd - s) * minus_two), e4 = power_below(kd * (kd + s) * minus_two);
    const vreal term = up * e1 + down * e2 - in * e3 * (2 * (k - 1)) - out * e4 * (2 * (k + 1));
    const vreal bend = (4 * k * k - up * up) * e1 + (4 * k * k - down * down) * e2 -
                       (1 - in * in) * e3 * (4 * k * (k - 1)) - (1 - out * out) * e4 * (4 * k * (k + 1));
    sum += v_pick(counts, term, v_set(0));
    slopes += v_pick(counts, bend, v_set(0));
  }
  const vreal scale = (real)0.5 / v_max(s, v_set((real)1e-6));
  *falls = slopes * scale;
  return sum * scale;
}

/* Minimum of a bridge from x to y with deviation `vol` and maximum `high`. */
static inline vreal bridge_minimum(vreal x, vreal y, vreal vol, vreal high, vbits w) {
  const vreal deviation = v_max(v_max(vol, -vol), v_set((real)1e-15));
  const vreal a = v_max((high - x) / deviation, v_set(0)), b = v_max((high - y) / deviation, v_set(0));
  const vreal nearer = v_max(a, b), u = v_uniform(w), tiny = v_set((real)1e-30);
  const vwhole upper = u < v_set((real)0.5);
  const vreal known = v_log2(v_pick(upper, u, v_max(1 - u, v_set((real)0x1p-33))));
  vreal least = v_max(nearer, v_set(JOINT_LEAST)), most = nearer + JOINT_SPAN;
  /* Starting value: D as if the maximum and the minimum were independent. */
  vreal d = v_max(v_max((a + b + v_root((a - b) * (a - b) + minus_two_log(w))) * (real)0.5, v_set((real)0.7)), nearer);
  vwhole done = {0};
  for (int turn = 0; turn < JOINT_TURNS && any_lane(~done); turn++) {
    vreal falls;
    const vreal above = range_probability(d, a, b, &falls), tail = v_max(v_pick(upper, above, 1 - above), tiny);
    const vwhole left = above > u;
    least = v_pick(left, d, least);
    most = v_pick(left, most, d);
    const vreal step = (v_log2(tail) - known) * NATURAL_2 * tail / falls;
    vreal next = v_pick(upper, d - step, d + step);
    next = v_pick((next > least) & (next < most), next, (least + most) * (real)0.5);
    const vreal change = v_max(next - d, d - next);
    d = v_pick(done, d, next);
    done |= change < v_set(JOINT_NEAR);
  }
  return v_min(v_min(high - d * deviation, x), y);
}

#endif
