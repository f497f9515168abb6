/* Sine, cosine, tangent and their inverses for one double; see math.h. */
#ifndef SIM_EXPR_TRIG_H
#define SIM_EXPR_TRIG_H

#include "engine/expr/math.h"

#define PI_2_HI 0x1.921fb54442d18p+0
#define PI_2_LO 0x1.1a62633145c07p-54

/* Largest argument that reduce_near can reduce; larger ones, infinities and NaN go to reduce_far. */
#define REDUCE_MAX 0x1p20

/* x = quadrant pi/2 + r + rest, with |r| < 0.79; only the lowest two bits of `quadrant` matter. */
typedef struct angle {
  double r, rest;
  uint64_t quadrant;
} angle;

/* Reduces |x| <= REDUCE_MAX with pi/2 in pieces of 33 bits, whose multiples are exact. */
LANE angle reduce_near(double x) {
  double t = x * 0x1.45f306dc9c883p-1 + ROUND, n = t - ROUND;
  double a = x - n * 0x1.921fb544p+0, w = n * 0x1.0b4611a6p-34;
  double b = a - w, lost = (a - b) - w;
  double v = n * 0x1.3198a2ep-69 + n * 0x1.b839a252049c1p-104 - lost;
  double r = b - v;
  return (angle){r, (b - r) - v, bits_of(t)};
}

static inline uint64_t product_high(uint64_t a, uint64_t b) {
  uint64_t low = (uint32_t)a * (b & 0xffffffff), cross = (a >> 32) * (b & 0xffffffff) + (low >> 32);
  uint64_t other = (uint32_t)a * (b >> 32) + (cross & 0xffffffff);
  return (a >> 32) * (b >> 32) + (cross >> 32) + (other >> 32);
}

/* Payne-Hanek reduction: uses only the 192 bits of 2/pi that follow those for whole turns. */
static angle reduce_far(double x) {
  static const uint64_t two_over_pi[] = {
      0,
      0xa2f9836e4e441529,
      0xfc2757d1f534ddc0,
      0xdb6295993c439041,
      0xfe5163abdebbc561,
      0xb7246e3a424dd2e0,
      0x06492eea09d1921c,
      0xfe1deb1cb129a73e,
      0xe88235f52ebb4484,
      0xe99c7026b45f7e41,
      0x3991d639835339f4,
      0x9c845f8bbdf9283b,
      0x1ff897ffde05980f,
      0xef2f118b5a0a6d1f,
      0x6d367ecf27cb09b7,
      0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b,
      0x3d0739f78a5292ea,
      0x6bfb5fb11f8d5d08,
      0x56033046fc7b6bab,
      0xf0cfbc209af4361d,
  };
  if (!(magnitude(x) < (double)INFINITY)) return (angle){(double)NAN, 0, 0};
  uint64_t bits = bits_of(x), m = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(1) << 52;
  unsigned offset = (unsigned)(bits >> 52 & 0x7ff) - 1075 - 2 + 64, word = offset / 64, shift = offset % 64;
  uint64_t w[3];
  for (unsigned i = 0; i < 3; i++)
    w[i] = two_over_pi[word + i] << shift | (shift ? two_over_pi[word + i + 1] >> (64 - shift) : 0);
  /* the low 192 bits of m w; their first two bits are the quadrant */
  uint64_t middle = m * w[1], carry = product_high(m, w[2]);
  uint64_t second = middle + carry, first = m * w[0] + product_high(m, w[1]) + (second < middle);
  uint64_t quadrant = first >> 62;
  first = first << 2 | second >> 62;
  second = second << 2 | (m * w[2]) >> 62;
  double sign = 1;
  if (first >> 63) { /* round to the nearest quadrant */
    quadrant++;
    sign = -1;
    first = ~first;
    second = ~second;
  }
  double scale = 0x1p-64;
  while (!(first >> 63)) {
    if (!(first | second)) break;
    first = first << 1 | second >> 63;
    second <<= 1;
    scale *= 0.5;
  }
  double hi = (double)(first & ~UINT64_C(0x7ff)) * scale;
  double lo = ((double)(first & 0x7ff) + (double)second * 0x1p-64) * scale;
  double r = hi * PI_2_HI, rest = (product_tail(hi, PI_2_HI, r) + (hi * PI_2_LO + lo * PI_2_HI));
  if (bits >> 63) {
    sign = -sign;
    quadrant = -quadrant;
  }
  double sum = r + rest;
  return (angle){sign * sum, sign * ((r - sum) + rest), quadrant};
}

LANE double sin_of(angle a) {
  double z = a.r * a.r, cube = z * a.r;
  double p = -0x1.ab161757d924ap-41;
  p = horner4(p, z, 0x1.61217c1864ca9p-33, -0x1.ae64540f0ba13p-26, 0x1.71de3a545e7p-19, -0x1.a01a01a019926p-13);
  p = p * z + 0x1.111111111111p-7;
  return a.r + (cube * (z * p - 0x1.5555555555555p-3) + a.rest * (1 - 0.5 * z));
}
LANE double cos_of(angle a) {
  double z = a.r * a.r;
  double p = 0x1.ab76cf6e86314p-45;
  p = horner4(p, z, -0x1.9394b76d1efc1p-37, 0x1.1eed8de9ef73cp-29, -0x1.27e4fb7711e1dp-22, 0x1.a01a01a019d02p-16);
  p = horner2(p, z, -0x1.6c16c16c16c16p-10, 0x1.5555555555555p-5);
  double h = 0.5 * z, c = 1 - h;
  return c + (((1 - c) - h) + (z * z * p - a.r * a.rest));
}
/* The sine of an angle increased by `ahead` quadrants. */
LANE double sine(angle a, uint64_t ahead) {
  double s = sin_of(a), c = cos_of(a);
  uint64_t q = a.quadrant + ahead, use_cos = 0 - (q & 1);
  uint64_t bits = (bits_of(s) & ~use_cos) | (bits_of(c) & use_cos);
  return of_bits(bits ^ ((q & 2) << 62));
}
LANE double tangent(angle a) {
  double s = sin_of(a), c = cos_of(a);
  uint64_t odd = 0 - (a.quadrant & 1), sb = bits_of(s), cb = bits_of(c);
  double up = of_bits((sb & ~odd) | (cb & odd)), down = of_bits((cb & ~odd) | (sb & odd));
  return of_bits(bits_of(up / down) ^ (odd << 63));
}
LANE double lane_sin(double x) { return x == 0 ? x : sine(reduce_near(x), 0); }
LANE double lane_cos(double x) { return sine(reduce_near(x), 1); }
LANE double lane_tan(double x) { return x == 0 ? x : tangent(reduce_near(x)); }
static inline double far_sin(double x) { return sine(reduce_far(x), 0); }
static inline double far_cos(double x) { return sine(reduce_far(x), 1); }
static inline double far_tan(double x) { return tangent(reduce_far(x)); }

/* ---- inverses ---- */

/* atan(q) for q >= 0: reduced to t = q, (q - 1)/(q + 1) or -1/q, with |t| < 0.4143. */
LANE double atan_positive(double q) {
  const double low = 0.4142135623730950, high = 2.414213562373095;
  double above = q > low ? q - 1 : q, below = q > low ? q + 1 : 1;
  above = q > high ? -1 : above;
  below = q > high ? q : below;
  double base = q > low ? PI_2_HI * 0.5 : 0, rest = q > low ? PI_2_LO * 0.5 : 0;
  base = q > high ? PI_2_HI : base;
  rest = q > high ? PI_2_LO : rest;
  double t = above / below, z = t * t;
  double p = 0x1.0a997b8b6c2abp-6;
  p = horner4(p, z, -0x1.1b19929e7a70ap-5, 0x1.74d3a7af22981p-5, -0x1.ac785852604f4p-5, 0x1.e199c6212568ap-5);
  p = horner4(p, z, -0x1.110e84aa34645p-4, 0x1.3b1392a9c2af3p-4, -0x1.745d165c497d7p-4, 0x1.c71c71c2fc235p-4);
  p = horner3(p, z, -0x1.249249248d739p-3, 0x1.9999999999952p-3, -0x1.5555555555555p-2);
  return base + (t + (t * z * p + rest));
}
LANE double lane_atan(double x) { return signed_as(atan_positive(magnitude(x)), x); }

/* Special cases are those of atan2 in C. */
LANE double lane_atan2(double y, double x) {
  double p = magnitude(y), q = magnitude(x), a = p > q ? p : q, b = p > q ? q : p;
  double ratio = b / a;
  ratio = a == 0 ? 0 : ratio;
  ratio = b == (double)INFINITY ? 1 : ratio;
  double r = atan_positive(ratio);
  uint64_t negative = bits_of(x) >> 63 ? UINT64_C(1) << 63 : 0;
  double inner = of_bits(bits_of(r) ^ negative), base = negative ? 2 * PI_2_HI : 0, rest = negative ? 2 * PI_2_LO : 0;
  double turned = of_bits(bits_of(r) ^ negative ^ UINT64_C(1) << 63);
  inner = p > q ? turned : inner;
  base = p > q ? PI_2_HI : base;
  rest = p > q ? PI_2_LO : rest;
  double result = signed_as(base + (inner + rest), y);
  result = y != y ? y : result;
  return x != x ? x : result;
}

/* asin(s) = s + s z R(z), with z = s^2 <= 1/4. */
LANE double asin_series(double z) {
  double p = 0x1.e529c7346692bp-6;
  p = horner4(p, z, -0x1.3b416c1541e6bp-6, 0x1.406193170421fp-6, 0x1.8f19364e6bd85p-9, 0x1.3162247b377efp-7);
  p = horner4(p, z, 0x1.3b49de6dc2167p-7, 0x1.7b027ee251612p-7, 0x1.c990ad3d85071p-7, 0x1.1c4efce230728p-6);
  p = horner4(p, z, 0x1.6e8ba123e4911p-6, 0x1.f1c71c7a52ba5p-6, 0x1.6db6db6dac1ep-5, 0x1.3333333333388p-4);
  p = p * z + 0x1.5555555555555p-3;
  return z * p;
}
/* For |x| > 1/2: asin(|x|) = pi/2 - 2 asin(s), with s = sqrt((1 - |x|)/2) = df + c. */
LANE double lane_asin(double x) {
  double a = magnitude(x), z = a > 0.5 ? (1 - a) * 0.5 : x * x, series = asin_series(z);
  double s = sqrt(z), df = upper(s), c = (z - df * df) / (s + df);
  c = s > 0 ? c : s; /* for a = 1 and NaN */
  double far = PI_2_HI * 0.5 - ((2 * s * series - (PI_2_LO - 2 * c)) - (PI_2_HI * 0.5 - 2 * df));
  double near = a + a * series;
  return signed_as(a > 0.5 ? far : near, x);
}
LANE double lane_acos(double x) {
  double a = magnitude(x), z = a > 0.5 ? (1 - a) * 0.5 : x * x, series = asin_series(z);
  double s = sqrt(z), df = upper(s), c = (z - df * df) / (s + df);
  c = s > 0 ? c : s;
  double near = PI_2_HI - (x - (PI_2_LO - x * series));
  double right = 2 * (df + (s * series + c)), left = 2 * (PI_2_HI - (s + (s * series - PI_2_LO)));
  double far = x < 0 ? left : right;
  return a > 0.5 ? far : near;
}
#endif
