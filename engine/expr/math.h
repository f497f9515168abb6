/* Functions of one double: no branch, no table, no fused multiply-add, so that the compiler can vectorize loops over
 * them, with the same bits on every instruction set. Single precision uses these functions too.
 *
 * Methods: W. J. Cody and W. Waite, Software Manual for the Elementary Functions (1980): reductions by constants in
 * pieces; T. J. Dekker, Numer. Math. 18, 224 (1971): products and sums in two pieces; K. C. Ng's forms of log(1 + f),
 * tanh and asin, as published with fdlibm (Sun Microsystems, 1993); M. Payne and R. Hanek, SIGNUM Newsl. 18, 19 (1983):
 * angles beyond REDUCE_MAX; M. M. Shepherd and J. G. Laframboise, Math. Comp. 36, 249 (1981): the polynomial of
 * (1 + 2x) exp(x^2) erfc(x) in (x - 4)/(x + 4). Coefficients: fit.py. Error bounds: docs/functions.md;
 * tests/engine/expr_functions.c tests them. */
#ifndef SIM_EXPR_MATH_H
#define SIM_EXPR_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define LANE static inline __attribute__((always_inline))

LANE uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
LANE double of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
LANE double magnitude(double x) { return of_bits(bits_of(x) & ~(UINT64_C(1) << 63)); }
LANE double signed_as(double x, double sign) {
  return of_bits((bits_of(x) & ~(UINT64_C(1) << 63)) | (bits_of(sign) & (UINT64_C(1) << 63)));
}
/* Returns x with its first 27 or fewer bits, so that products of two such values are exact. */
LANE double upper(double x) { return of_bits(bits_of(x) & ~UINT64_C(0x7ffffff)); }

/* Adding ROUND puts the nearest integer into the low bits of the sum, for |x| < 2^51. */
#define ROUND 0x1.8p52
LANE double nearest(double x) { return (x + ROUND) - ROUND; }
/* 2^k for an integer -1022 <= k <= 1023. */
LANE double power_of_two(double k) { return of_bits((bits_of(k + ROUND) << 52) + (UINT64_C(1023) << 52)); }
/* m 2^k, rounded once, for |k| < 2000, also if the result is subnormal or overflows. */
LANE double scaled(double m, double k) {
  double half = nearest(k * 0.5);
  return m * power_of_two(half) * power_of_two(k - half);
}

/* Horner's scheme: continues polynomial p in x by the next 2, 3 or 4 coefficients, highest power first. */
LANE double horner2(double p, double x, double a, double b) { return (p * x + a) * x + b; }
LANE double horner3(double p, double x, double a, double b, double c) { return horner2(p, x, a, b) * x + c; }
LANE double horner4(double p, double x, double a, double b, double c, double d) {
  return horner2(horner2(p, x, a, b), x, c, d);
}

#define LN2_HI 0x1.62e42fefa3p-1 /* 41 bits: its product with an integer below 2^12 is exact */
#define LN2_LO 0x1.3de6af278ece6p-42

/* ---- exponentials ---- */

/* exp(x + tail) = (1 + q) 2^k with |q| < 0.42. Returns q; clamps |x| to 1400; `tail` is small. */
LANE double exp_parts(double x, double tail, double *k) {
  x = x > 1400 ? 1400 : x;
  x = x < -1400 ? -1400 : x;
  *k = nearest(x * 0x1.71547652b82fep+0);
  double hi = x - *k * LN2_HI, lo = *k * LN2_LO, r = hi - lo;
  double lost = (hi - r) - lo;
  double p = 0x1.1f7340dbc337ep-29;
  p = horner4(p, r, 0x1.af4e554377204p-26, 0x1.27e4db46cddd1p-22, 0x1.71de01fdbf9cap-19, 0x1.a01a01a6e1e2ap-16);
  p = horner4(p, r, 0x1.a01a01abf85abp-13, 0x1.6c16c16c162c3p-10, 0x1.11111111100bep-7, 0x1.5555555555556p-5);
  p = horner2(p, r, 0x1.5555555555557p-3, 0.5);
  double bend = r * r * p;
  return r + (bend + (lost + tail * (1 + (r + bend))));
}
/* exp(x) 2^shift */
LANE double exp_shifted(double x, double shift) {
  double k, q = exp_parts(x, 0, &k);
  return scaled(1 + q, k + shift);
}
LANE double lane_exp(double x) { return exp_shifted(x, 0); }

LANE double lane_expm1(double x) {
  double k, q = exp_parts(x, 0, &k);
  double near = k < -60 ? -60 : k > 60 ? 60 : k;
  double two = power_of_two(near);
  double small = two * q + (two - 1), large = scaled(1 + q, k);
  double y = k > 60 ? large : small;
  return x == 0 ? x : y; /* keeps -0 */
}

/* With e = expm1(2a): tanh(a) = 1 - 2/(e + 2) for a >= 1. For a < 1, with e' = expm1(-2a): -e'/(e' + 2). */
LANE double lane_tanh(double x) {
  double a = magnitude(x), t = a >= 1 ? a : -a;
  double e = lane_expm1(2 * t);
  double y = a >= 1 ? 1 - 2 / (e + 2) : -e / (e + 2);
  return signed_as(y, x);
}
LANE double lane_sinh(double x) {
  double a = magnitude(x), e = lane_expm1(a > 40 ? 40 : a);
  double y = a > 40 ? exp_shifted(a, -1) : 0.5 * (e + e / (e + 1));
  return signed_as(y, x);
}
LANE double lane_cosh(double x) {
  double half = exp_shifted(magnitude(x), -1);
  return half + 0.25 / half;
}

/* ---- logarithms ---- */

/* Splits x > 0 (finite) into x = m 2^k with sqrt(1/2) <= m < sqrt(2). */
LANE double log_parts(double x, double *k) {
  double tiny = x < 0x1p-1022 ? 54 : 0;
  x = x < 0x1p-1022 ? x * 0x1p54 : x;
  const uint64_t root = UINT64_C(0x3fe6a09e667f3bcd), bias = UINT64_C(2048) << 52;
  uint64_t shifted = bits_of(x) - root + bias; /* this makes the exponent positive, as the shift below is unsigned */
  *k = of_bits((shifted >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 2048) - tiny;
  return of_bits((shifted & UINT64_C(0xfffffffffffff)) + root);
}
/* Returns s (h + R) of log(1 + f) = f - (h - s (h + R)), with s = f/(2 + f) and h = f^2/2. */
LANE double log_tail(double f, double h) {
  double s = f / (2 + f), z = s * s;
  double p = 0x1.0c0aff14839e8p-3;
  p = horner4(p, z, 0x1.0fbde0f2e263bp-3, 0x1.3b1c3c1c960c9p-3, 0x1.745cf8e4bb2cfp-3, 0x1.c71c7201a55edp-3);
  p = horner3(p, z, 0x1.2492492476a1ap-2, 0x1.9999999999a39p-2, 0x1.5555555555555p-1);
  return s * (h + z * p);
}
/* Corrects the logarithm y of an argument x that is not positive and finite. */
LANE double log_special(double y, double x) {
  y = x == 0 ? -(double)INFINITY : y;
  y = x < 0 ? (double)NAN : y;
  return x < (double)INFINITY ? y : x;
}
LANE double lane_log(double x) {
  double k, f = log_parts(x, &k) - 1, h = 0.5 * f * f;
  return log_special(k * LN2_HI - ((h - (log_tail(f, h) + k * LN2_LO)) - f), x);
}
/* log(1 + x): rounding gives 1 + x = u + lost, and log(u + lost) = log(u) + lost/u to first order. */
LANE double lane_log1p(double x) {
  double u = 1 + x, lost = x > 1 ? 1 - (u - x) : x - (u - 1);
  double k, f = log_parts(u, &k) - 1, c = lost / u;
  double near = magnitude(x) < 0.25;
  k = near > 0 ? 0 : k;
  f = near > 0 ? x : f;
  c = near > 0 ? 0 : c;
  double h = 0.5 * f * f;
  double y = k * LN2_HI - ((h - (log_tail(f, h) + (k * LN2_LO + c))) - f);
  y = x == 0 ? x : y;
  return log_special(y, u);
}
/* k (base_hi + base_lo) + log(m) (scale_hi + scale_lo), with log(m) in two pieces, the upper one of about 21 bits. */
LANE double log_scaled(double x, double scale_hi, double scale_lo, double base_hi, double base_lo) {
  double k, f = log_parts(x, &k) - 1, h = 0.5 * f * f;
  double hi = of_bits(bits_of(f - h) & ~UINT64_C(0xffffffff));
  double lo = ((f - hi) - h) + log_tail(f, h);
  double large = k * base_hi, main = hi * scale_hi;
  double rest = k * base_lo + ((lo + hi) * scale_lo + lo * scale_hi);
  double sum = large + main;
  rest += (large - sum) + main;
  return log_special(sum + rest, x);
}
LANE double lane_log2(double x) { return log_scaled(x, 0x1.71547652p+0, 0x1.705fc2eefa2p-33, 1, 0); }
LANE double lane_log10(double x) {
  return log_scaled(x, 0x1.bcb7b152p-2, 0x1.b9438ca9aadd5p-36, 0x1.34413509f7p-2, 0x1.3fde623e2566bp-43);
}

/* ---- powers ---- */

/* Rounding errors of a sum and of a product (Dekker). */
LANE double sum_tail(double a, double b, double sum) {
  double part = sum - a;
  return (a - (sum - part)) + (b - part);
}
LANE double product_tail(double a, double b, double product) {
  double ah = upper(a), al = a - ah, bh = upper(b), bl = b - bh;
  return al * bl - (((product - ah * bh) - al * bh) - ah * bl);
}

LANE double whole(double y) {
  return magnitude(y) < 0x1p51 ? signed_as(nearest(magnitude(y)), y) : y; /* rounds y to the nearest integer */
}

/* x^y = exp(y log x), with log x in two pieces of together about 65 bits. Special cases are those of pow in C. */
LANE double lane_pow(double x, double y) {
  double a = magnitude(x), k, m = log_parts(a, &k), f = m - 1, d = m + 1, dl = m - (d - 1);
  /* s + sl = f/(m + 1), and z + zl is its square; log m = 2 s + s z (2/3 + z q) */
  double s = f / d, back = s * d, sl = (((f - back) - product_tail(s, d, back)) - s * dl) / d;
  double z = s * s, zl = product_tail(s, s, z) + 2 * s * sl;
  double q = 0x1.e03a7aec6ada2p-4;
  q = horner4(q, z, 0x1.df7ba1f141b59p-4, 0x1.1118cd673776bp-3, 0x1.3b1395b826983p-3, 0x1.745d177ad437ep-3);
  q = horner3(q, z, 0x1.c71c71c6ea5acp-3, 0x1.2492492492522p-2, 0x1.999999999999ap-2);
  const double two_thirds = 0x1.5555555555555p-1, two_thirds_rest = 0x1.5555555555555p-55;
  double t = z * q, c = two_thirds + t, cl = (two_thirds - c) + t + two_thirds_rest;
  double w = s * z, wl = product_tail(s, z, w) + (s * zl + sl * z);
  double v = w * c, vl = product_tail(w, c, v) + (w * cl + wl * c);
  double l0 = k * LN2_HI, l1 = l0 + 2 * s, l1l = sum_tail(l0, 2 * s, l1);
  double l2 = l1 + v, l2l = sum_tail(l1, v, l2);
  double rest = l2l + (l1l + (vl + (2 * sl + k * LN2_LO)));
  double hi = l2 + rest, lo = (l2 - hi) + rest;
  double b = y > 0x1p66 ? 0x1p66 : y;
  b = b < -0x1p66 ? -0x1p66 : b;
  double e = b * hi, el = product_tail(b, hi, e) + b * lo;
  double scale, g = exp_parts(e, magnitude(e) < 1400 ? el : 0, &scale);
  double r = scaled(1 + g, scale);

  const double infinity = (double)INFINITY;
  double integer = whole(y) == y ? 1 : 0, half = y * 0.5;
  double odd = whole(half) != half ? integer : 0;
  double of_zero = y > 0 ? 0 : infinity, of_infinity = y > 0 ? infinity : 0;
  r = a == 0 ? of_zero : r;
  r = a == infinity ? of_infinity : r;
  double fails = a < infinity ? 1 - integer : 0;
  fails = x < 0 ? fails : 0;
  r = fails > 0 ? (double)NAN : r;
  double with_sign = signed_as(r, x);
  r = odd > 0 ? with_sign : r;
  r = x != x ? x : r;
  r = y != y ? y : r;
  r = x == 1 ? 1 : r;
  return y == 0 ? 1 : r;
}

/* Initial guess: a third of the upper 32 bits plus (1023 - 1023/3 - 0.033) 2^20 (within 5 %). Then two Halley steps,
 * and one more step from a value of 26 bits, whose square is exact. */
LANE double lane_cbrt(double x) {
  double a = magnitude(x), up = a < 0x1p-1000 ? 0x1p54 : 1, down = a < 0x1p-1000 ? 0x1p-18 : 1;
  up = a > 0x1p1000 ? 0x1p-54 : up;
  down = a > 0x1p1000 ? 0x1p18 : down;
  double n = a * up;
  double third = (of_bits((bits_of(n) >> 32) | UINT64_C(0x4330000000000000)) - 0x1p52) * (1.0 / 3) + 715094163.0;
  double t = of_bits(bits_of(nearest(third) + 0x1p52) << 32);
  for (int i = 0; i < 2; i++) {
    double cube = t * t * t;
    t = t + t * ((n - cube) / (2 * cube + n));
  }
  t = upper(t);
  double r = n / (t * t);
  double y = (t + t * ((r - t) / (t + t + r))) * down;
  y = a < (double)INFINITY ? y : a;
  return x == 0 ? x : signed_as(y, x);
}

LANE double lane_hypot(double x, double y) {
  double p = magnitude(x), q = magnitude(y), a = q > p ? q : p, b = q > p ? p : q;
  double up = a > 0x1p500 ? 0x1p-600 : 1, down = a > 0x1p500 ? 0x1p600 : 1;
  up = a < 0x1p-400 ? 0x1p600 : up;
  down = a < 0x1p-400 ? 0x1p-600 : down;
  double c = a * up, d = b * up, r = sqrt(c * c + d * d) * down;
  r = p == (double)INFINITY ? p : r;
  return q == (double)INFINITY ? q : r;
}

/* ---- the error function ---- */

/* erf(x) = x + x P(x^2) for |x| < 0.9. */
LANE double erf_near(double x) {
  double z = x * x;
  double p = 0x1.1da77cbd2c7c3p-34;
  p = horner4(p, z, -0x1.404cfeeca6776p-30, 0x1.f9e53ae63b0b6p-27, -0x1.5f4cb9da6cdaap-23, 0x1.b9e3ea24a8007p-20);
  p = horner4(p, z, -0x1.f4d237523b423p-17, 0x1.f9a325b45db23p-14, -0x1.c02db3f8bcd96p-11, 0x1.565bcd0e4dc6ap-8);
  p = horner4(p, z, -0x1.b82ce3128833dp-6, 0x1.ce2f21a042bcfp-4, -0x1.812746b0379e7p-2, 0x1.06eba8214db69p-3);
  return x + x * p;
}
/* erfc(a) for a > 0.4, from the polynomial of Shepherd and Laframboise. */
LANE double erfc_far(double a) {
  a = a > 30 ? 30 : a;
  double u = (a - 4) / (a + 4);
  double p = 0x1.cf42f8a832582p-29;
  p = horner4(p, u, -0x1.49225673899e8p-27, -0x1.8d19f6fa0dcddp-26, 0x1.bb080cf6da9f5p-24, 0x1.613b1cfb1d475p-24);
  p = horner4(p, u, -0x1.b7fc765db4e18p-21, 0x1.34bb5d94945ddp-22, 0x1.7ef78054a43d7p-18, -0x1.787102ba61340p-17);
  p = horner4(p, u, -0x1.995570cd8b480p-16, 0x1.3bdfd6cbb8de9p-13, -0x1.a1df3caf50283p-13, -0x1.8d4a94976246cp-11);
  p = horner4(p, u, 0x1.49c67299e5109p-8, -0x1.0962388a79f74p-6, 0x1.3079edf667ccbp-5, -0x1.0fb06dfe30599p-4);
  p = horner4(p, u, 0x1.7fee004e11f85p-4, -0x1.9ddb23c3e9ee0p-4, 0x1.16ecefcfa5442p-4, 0x1.f7f5df66fd925p-7);
  p = horner2(p, u, -0x1.1df1ad154a290p-3, 0x1.3ba5916e9fd7fp+0);
  double square = a * a, k, q = exp_parts(-square, -product_tail(a, a, square), &k);
  return scaled((1 + q) * (p / (1 + 2 * a)), k);
}
LANE double lane_erf(double x) {
  double a = magnitude(x), near = erf_near(x), far = signed_as(1 - erfc_far(a), x);
  return a > 0.9 ? far : near;
}
LANE double lane_erfc(double x) {
  double near = 1 - erf_near(x), far = erfc_far(magnitude(x)), negative = 2 - far;
  far = x < 0 ? negative : far;
  return magnitude(x) > 0.45 ? far : near;
}
#endif
