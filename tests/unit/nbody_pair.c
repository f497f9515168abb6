/* The direct sums: every instruction set and precision against a reference in long double and against the plain twin,
 * the same bits where they are promised, momentum. */
#include "kernels/nbody/pair.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const double U64 = DBL_EPSILON / 2, U32 = FLT_EPSILON / 2; /* unit roundoffs */
static const int sizes[] = {1, 2, 3, 7, 31, 32, 33, 64, 100, 255, 256, 257, 500, 1000, 1025};

/* Units, place and type of the input. */
typedef struct setting {
  const char *name;
  double length, mass, softening, offset;
  sim_dtype dtype;
} setting;

static const setting settings[] = {
    {"double", 1, 1, 0, 0, SIM_F64},
    {"float, softened", 1, 1, 0.05, 0, SIM_F32},
    {"SI, huge", 1e20, 1e30, 0, 0, SIM_F64},
    {"SI, huge, float", 1e18, 1e30, 0.05, 0, SIM_F32},
    {"tiny", 1e-20, 1e-30, 0.05, 0, SIM_F64},
    {"tiny, float", 1e-20, 1e-30, 0, 0, SIM_F32},
    {"far away", 1, 1, 0, 1000, SIM_F64},
    {"far away, float", 1, 1, 0, 1000, SIM_F32},
    {"softened by far", 1e-3, 1, 50, 0, SIM_F64},
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

/* Bodies, and for each what the sums are, and sums of absolute terms that errors are measured by. */
typedef struct system {
  int n;
  setting of;
  double softening;
  float *f32; /* mass[n], position[3][n], velocity[3][n] */
  double *f64;
  double *a, *j;                 /* [3][n], reference */
  double *terms, *tide, *jerked; /* [n]: G sum m d/s^3, G sum m/s^3, G sum m w/s^3 */
  double u;                      /* reference */
  double unit;                   /* length that fp32 roundoff of positions is relative to: twice the extent */
} system_t;

static const double G = 0.7;

static double uniform(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

static void *need(size_t count) {
  void *out = calloc(count, sizeof(double));
  assert_non_null(out);
  return out;
}

static system_t make(int n, setting of) {
  const size_t count = (size_t)n;
  system_t s = {.n = n, .of = of, .softening = of.softening * of.length};
  s.f32 = need(7 * count), s.f64 = need(7 * count), s.a = need(3 * count), s.j = need(3 * count);
  s.terms = need(count), s.tide = need(count), s.jerked = need(count);
  uint64_t state = (uint64_t)n;
  for (int i = 0; i < 7 * n; i++) {
    double r = uniform(&state), value;
    if (i < n) /* some have no mass */
      value = i % 7 == 3 ? 0 : of.mass * (0.1 + r);
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
      long double s2 = d2 + soft2, distance = sqrtl(s2), f = (long double)G * (long double)m[k] / (s2 * distance);
      for (int c = 0; c < 3; c++) {
        a[c] += f * d[c];
        jerk[c] += f * (w[c] - 3 * dw / s2 * d[c]);
      }
      terms += f * sqrtl(d2), tide += f, jerked += f * sqrtl(w2);
      if (k > i) total -= (long double)G * (long double)m[i] * (long double)m[k] / distance;
    }
    for (int c = 0; c < 3; c++) s.a[c * n + i] = (double)a[c], s.j[c * n + i] = (double)jerk[c];
    s.terms[i] = (double)terms, s.tide[i] = (double)tide, s.jerked[i] = (double)jerked;
  }
  s.u = (double)total;
  return s;
}

static void release(system_t *s) {
  free(s->f32), free(s->f64), free(s->a), free(s->j), free(s->terms), free(s->tide), free(s->jerked);
}

typedef struct result {
  double *a, *a2, *j; /* [3][n]; a2: of the jerk's own call */
  double u;
} result;

static result compute(const system_t *s, bool single, sim_isa isa, int threads, bool plain) {
  const size_t count = 3 * (size_t)s->n;
  nbody_pair_options options = {.n = s->n,
                                .single = single,
                                .jerk = true,
                                .isa = isa,
                                .threads = threads,
                                .G = G,
                                .softening = s->softening,
                                .plain = plain};
  nbody_pair *pair;
  assert_int_equal(nbody_pair_create(&options, &pair), SIM_OK);
  result r = {.a = need(count), .a2 = need(count), .j = need(count)};
  const void *m = s->f64, *x = s->f64 + s->n, *v = s->f64 + 4 * s->n;
  if (s->of.dtype == SIM_F32) m = s->f32, x = s->f32 + s->n, v = s->f32 + 4 * s->n;
  nbody_pair_acceleration(pair, s->of.dtype, m, x, r.a);
  nbody_pair_jerk(pair, s->of.dtype, m, x, v, r.a2, r.j);
  r.u = nbody_pair_potential(pair, s->of.dtype, m, x);
  nbody_pair_destroy(&pair);
  assert_null(pair);
  return r;
}

static void drop(result *r) { free(r->a), free(r->a2), free(r->j); }

static bool same(const result *r, const result *q, int n) {
  size_t bytes = 3 * (size_t)n * sizeof(double);
  return !memcmp(r->a, q->a, bytes) && !memcmp(r->a2, q->a2, bytes) && !memcmp(r->j, q->j, bytes) &&
         !memcmp(&r->u, &q->u, sizeof(double));
}

/* Each component within `times` roundoffs of the sum of the absolute terms, plus what rounded positions may do. */
static void expect_close(const double *got, const double *expected, const double *terms, const double *slack, int n,
                         double bound, const char *what) {
  for (int i = 0; i < 3 * n; i++) {
    double allowed = bound * terms[i % n] + (slack ? slack[i % n] : 0);
    if (!(fabs(got[i] - expected[i]) <= allowed))
      fail_msg("%s, n = %d, component %d: %.17g instead of %.17g, allowed %.3g", what, n, i, got[i], expected[i],
               allowed);
  }
}

/* Bounds, in units u of roundoff. A term d f with f = s^-3: s^2 has at most 5 u (d twice, square, two sums), its power
 * -3/2 7.5 u, the evaluation of f 6, its truncation 1, mass and products 4: below 24. A jerk's term has in addition
 * w, d.w/s^2 and two sums, each of its two parts is at most 3 w f: below 3 (24 + 16) = 120. Sums of n terms add at most
 * n u; in fp32 at most the 512 terms of a block. */
static double term_bound(int n, bool single, bool jerk) {
  double sum = single && n > 512 ? 512 : n;
  return ((jerk ? 120 : 24) + (jerk ? 4 : 1) * sum) * (single ? U32 : U64);
}

static void check(const system_t *s, bool single, sim_isa isa, bool plain) {
  const int n = s->n;
  char what[128];
  snprintf(what, sizeof what, "%s, %s%s, %s pair terms", s->of.name, sim_isa_name(isa), plain ? " (twin)" : "",
           single ? "single" : "double");
  result r = compute(s, single, isa, 2, plain);
  /* fp32 terms of fp64 input: each coordinate moves by at most u of twice the extent, a distance vector by 2 sqrt(3)
   * of that; d/s^3 changes by at most 4/s^3 of it (its steepest slope is 2/s^3), a jerk's term by 18 w/s^4. The sum of
   * w/s^4 is at most that of w/s^3 over the least distance of these systems, which is above 0.003 length. */
  double *slack = NULL, *jerk_slack = NULL;
  if (single && s->of.dtype == SIM_F64) {
    double moved = 2 * sqrt(3) * U32 * s->unit;
    slack = need((size_t)n), jerk_slack = need((size_t)n);
    for (int i = 0; i < n; i++) {
      slack[i] = 4 * moved * s->tide[i];
      jerk_slack[i] = 18 * moved * s->jerked[i] / fmax(0.003 * s->of.length, s->softening);
    }
    /* velocities are rounded as well: u of twice their extent of 6 */
    for (int i = 0; i < n; i++) jerk_slack[i] += 4 * 2 * sqrt(3) * U32 * 12 * s->tide[i];
  }
  expect_close(r.a, s->a, s->terms, slack, n, term_bound(n, single, false), what);
  expect_close(r.a2, s->a, s->terms, slack, n, term_bound(n, single, false), what);
  expect_close(r.j, s->j, s->jerked, jerk_slack, n, term_bound(n, single, true), what);
  free(slack), free(jerk_slack);
  /* The potential is a sum of terms of one sign, n of them a body and n bodies, each within 12 u. */
  if (!(fabs(r.u - s->u) <= (12 + 2 * n) * U64 * fabs(s->u)))
    fail_msg("%s, n = %d: potential %.17g instead of %.17g", what, n, r.u, s->u);
  drop(&r);
}

static void against_reference(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
    for (size_t q = 0; q < SETTINGS; q++) {
      system_t s = make(sizes[k], settings[q]);
      for (int single = 0; single < 2; single++) {
        check(&s, single, SIM_ISA_PLAIN, true);
        for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++)
          if (isa > SIM_ISA_PLAIN || sizes[k] < 300) check(&s, single, isa, false); /* slow */
      }
      release(&s);
    }
}

/* Tiles and twin start from the same packed bodies, so fp32 positions need no slack here. */
static void against_twin(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
    for (size_t q = 0; q < SETTINGS; q += 3) {
      const int n = sizes[k];
      system_t s = make(n, settings[q]);
      for (int single = 0; single < 2; single++) {
        result twin = compute(&s, single, SIM_ISA_PLAIN, 1, true);
        for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++) {
          result r = compute(&s, single, isa, 2, false);
          expect_close(r.a, twin.a, s.terms, NULL, n, 2 * term_bound(n, single, false), s.of.name);
          expect_close(r.j, twin.j, s.jerked, NULL, n, 2 * term_bound(n, single, true), s.of.name);
          drop(&r);
        }
        drop(&twin);
      }
      release(&s);
    }
}

static void same_bits(void **state) {
  (void)state;
  static const int some[] = {3, 33, 257, 600, 1025}, threads[] = {1, 2, 3, 7, 16};
  for (size_t k = 0; k < sizeof some / sizeof some[0]; k++)
    for (size_t q = 0; q < 2; q++) {
      system_t s = make(some[k], settings[q]);
      for (int single = 0; single < 2; single++) {
        result first = compute(&s, single, sim_isa_best(), 1, false);
        for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++) {
          if (single) { /* promised for each instruction set */
            drop(&first);
            first = compute(&s, single, isa, 1, false);
          }
          for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
            result r = compute(&s, single, isa, threads[t], false);
            if (!same(&first, &r, s.n))
              fail_msg("other bits: n = %d, %s, %d threads, %s", s.n, sim_isa_name(isa), threads[t],
                       single ? "single" : "double");
            drop(&r);
          }
        }
        drop(&first);
      }
      release(&s);
    }
}

/* |sum m a| <= 1e-6 (fp32), 1e-14 (fp64) of sum |m a|: each pair's two forces differ by a few roundoffs of either sign,
 * and sums of n terms of random sign by about sqrt(n) of them. */
static void momentum(void **state) {
  (void)state;
  system_t s = make(1025, settings[0]);
  for (int single = 0; single < 2; single++)
    for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++) {
      result r = compute(&s, single, isa, 2, false);
      for (int c = 0; c < 3; c++) {
        double sum = 0, size = 0;
        for (int i = 0; i < s.n; i++) {
          double force = s.f64[i] * r.a[c * s.n + i];
          sum += force, size += fabs(force);
        }
        assert_true(fabs(sum) <= (single ? 1e-6 : 1e-14) * size);
      }
      drop(&r);
    }
  release(&s);
}

/* Two bodies in one place must show, unless softened; the others, and a body with itself, must not. */
static void coincident(void **state) {
  (void)state;
  for (int softened = 0; softened < 2; softened++)
    for (int n = 10; n <= 200; n += 190)
      for (int single = 0; single < 2; single++)
        for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++) {
          system_t s = make(n, settings[softened]);
          for (int c = 0; c < 3; c++) {
            s.f64[n + c * n + n - 1] = s.f64[n + c * n];
            s.f32[n + c * n + n - 1] = s.f32[n + c * n];
          }
          result r = compute(&s, single, isa, 1, false);
          for (int i = 0; i < n; i++) assert_true(!isfinite(r.a[i]) == (!softened && (i == 0 || i == n - 1)));
          drop(&r), release(&s);
        }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(against_reference), cmocka_unit_test(against_twin), cmocka_unit_test(same_bits),
      cmocka_unit_test(momentum),          cmocka_unit_test(coincident),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
