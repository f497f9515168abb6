#include "tests/nbody/pair_system.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

const pair_setting pair_settings[PAIR_SETTINGS] = {
    {"double", 1, 1, 0, 0, SIM_F64, false},
    {"float, softened", 1, 1, 0.05, 0, SIM_F32, false},
    {"SI, huge", 1e20, 1e30, 0, 0, SIM_F64, false},
    {"SI, huge, float", 1e18, 1e30, 0.05, 0, SIM_F32, false},
    {"tiny", 1e-20, 1e-30, 0.05, 0, SIM_F64, false},
    {"tiny, float", 1e-20, 1e-30, 0, 0, SIM_F32, false},
    {"far away", 1, 1, 0, 1000, SIM_F64, false},
    {"far away, float", 1, 1, 0, 1000, SIM_F32, false},
    {"equal masses, float", 1, 1, 0.05, 0, SIM_F32, true},
    {"softened by far", 1e-3, 1, 50, 0, SIM_F64, false},
};

static double uniform(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

void *pair_need(size_t count) {
  void *out = calloc(count, sizeof(double));
  assert_non_null(out);
  return out;
}

pair_system pair_system_make(int n, pair_setting of) {
  const size_t count = (size_t)n;
  pair_system s = {.n = n, .of = of, .softening = of.softening * of.length};
  s.f32 = pair_need(7 * count), s.f64 = pair_need(7 * count), s.a = pair_need(3 * count), s.j = pair_need(3 * count);
  s.terms = pair_need(count), s.tide = pair_need(count), s.jerked = pair_need(count);
  uint64_t state = (uint64_t)n;
  for (int i = 0; i < 7 * n; i++) {
    double r = uniform(&state), value;
    if (i < n) /* some have no mass */
      value = of.equal ? of.mass : i % 7 == 3 ? 0 : of.mass * (0.1 + r);
    else if (i < 4 * n)
      value = of.length * (2 * r - 1 + of.offset);
    else
      value = 3 * (2 * r - 1);
    s.f32[i] = (float)value;
    s.f64[i] = of.dtype == SIM_F32 ? (double)s.f32[i] : value;
  }
  s.unit = 4 * fmax(of.length, s.softening); /* twice the extent, which is at most 2 length or the softening */
  const double *m = s.f64, *x = m + n, *v = m + 4 * n;
  long double total = 0, soft2 = (long double)s.softening * (long double)s.softening;
  for (int i = 0; i < n; i++) {
    long double a[3] = {0}, jerk[3] = {0}, terms = 0, tide = 0, jerked = 0;
    for (int k = 0; k < n; k++) {
      if (k == i) continue;
      long double d[3], w[3], d2 = 0, w2 = 0, dw = 0;
      for (int c = 0; c < 3; c++) {
        d[c] = (long double)x[c * n + k] - (long double)x[c * n + i];
        w[c] = (long double)v[c * n + k] - (long double)v[c * n + i];
        d2 += d[c] * d[c], w2 += w[c] * w[c], dw += d[c] * w[c];
      }
      long double s2 = d2 + soft2, distance = sqrtl(s2), f = (long double)PAIR_G * (long double)m[k] / (s2 * distance);
      for (int c = 0; c < 3; c++) {
        a[c] += f * d[c];
        jerk[c] += f * (w[c] - 3 * dw / s2 * d[c]);
      }
      terms += f * sqrtl(d2), tide += f, jerked += f * sqrtl(w2);
      if (k > i) total -= (long double)PAIR_G * (long double)m[i] * (long double)m[k] / distance;
    }
    for (int c = 0; c < 3; c++) s.a[c * n + i] = (double)a[c], s.j[c * n + i] = (double)jerk[c];
    s.terms[i] = (double)terms, s.tide[i] = (double)tide, s.jerked[i] = (double)jerked;
  }
  s.u = (double)total;
  return s;
}

void pair_system_free(pair_system *s) {
  free(s->f32), free(s->f64), free(s->a), free(s->j), free(s->terms), free(s->tide), free(s->jerked);
}

void pair_expect_close(const double *got, const double *expected, const double *terms, const double *slack, int n,
                       double bound, const char *what) {
  for (int i = 0; i < 3 * n; i++) {
    double allowed = bound * terms[i % n] + (slack ? slack[i % n] : 0);
    if (!(fabs(got[i] - expected[i]) <= allowed))
      fail_msg("%s, n = %d, component %d: %.17g instead of %.17g, allowed %.3g", what, n, i, got[i], expected[i],
               allowed);
  }
}

/* Bounds, in units u of roundoff. A term d f with f = s^-3: s^2 has at most 5 u (d twice, square, two sums), its power
 * -3/2 7.5 u, the evaluation of f 6, its truncation 1, mass and products 4: below 24. A jerk's term has in addition w,
 * d.w/s^2 and two sums; each of its two parts is at most 3 w f: below 3 (24 + 16) = 120. Sums of n terms add at most n
 * u; in fp32 at most the terms of one run, before they become fp64. */
double pair_term_bound(int n, int run, bool single, bool jerk) {
  double sum = single && n > run ? run : n;
  return ((jerk ? 120 : 24) + (jerk ? 4 : 1) * sum) * (single ? PAIR_U32 : PAIR_U64);
}

/* Each coordinate moves by at most u of twice the extent, a distance vector by 2 sqrt(3) of that. d/s^3 changes by at
 * most 4/s^3 of it (its steepest slope is 2/s^3), a jerk's term by 18 w/s^4. The sum of w/s^4 is at most that of w/s^3
 * over the least distance of these systems, which is above 0.003 length. Velocities are rounded too: u of twice their
 * extent of 6. */
void pair_slack(const pair_system *s, bool single, double *acceleration, double *jerk) {
  const bool rounded = single && s->of.dtype == SIM_F64;
  const double moved = 2 * sqrt(3) * PAIR_U32 * s->unit;
  for (int i = 0; i < s->n; i++) {
    acceleration[i] = rounded ? 4 * moved * s->tide[i] : 0;
    jerk[i] = rounded ? 18 * moved * s->jerked[i] / fmax(0.003 * s->of.length, s->softening) +
                            4 * 2 * sqrt(3) * PAIR_U32 * 12 * s->tide[i]
                      : 0;
  }
}
