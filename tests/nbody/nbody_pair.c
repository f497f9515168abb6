/* The direct sums: every instruction set and precision against a sum in long double and against the reference form, the
 * same bits where they are promised, and momentum. */
#include "kernels/nbody/direct/cpu/direct.h"
#include "tests/nbody/pair_system.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const int sizes[] = {1, 2, 3, 7, 31, 32, 33, 64, 100, 255, 256, 257, 500, 1000, 1025};
enum { BLOCK = 512 }; /* terms of an fp32 sum */

typedef struct result {
  double *a, *a2, *j; /* [3][n]; a2: from the call that computes the jerk too */
  double u;
} result;

/* Computes the acceleration alone or with the jerk into the arrays. Returns the potential. */
static double sum(const pair_system *s, bool single, sim_isa isa, int threads, bool reference, double *a, double *j) {
  const size_t n = (size_t)s->n, real = sim_dtype_size(s->of.dtype);
  const nbody_options options = {.n = s->n,
                                 .single_pairs = single,
                                 .jerk = j != NULL,
                                 .isa = isa,
                                 .threads = threads,
                                 .comm = &sim_comm_alone,
                                 .G = PAIR_G,
                                 .softening = s->softening};
  char *data = s->of.dtype == SIM_F32 ? (char *)s->f32 : (char *)s->f64;
  const nbody_state state = {.n = s->n,
                             .dtype = s->of.dtype,
                             .mass = data,
                             .position = data + n * real,
                             .velocity = data + 4 * n * real,
                             .acceleration = a,
                             .jerk = j};
  const nbody_solver *solver = &nbody_direct_cpu;
  nbody_solver_work *work;
  nbody_raw_force form;
  assert_int_equal(nbody_direct_cpu_create(&options, &state, reference, &work), SIM_OK);
  solver->accelerate(work, false, &form);
  assert_int_equal(form.kind, NBODY_FORCE_FINAL);
  const double potential = solver->potential(work);
  solver->destroy(&work);
  assert_null(work);
  return potential;
}

static result compute(const pair_system *s, bool single, sim_isa isa, int threads, bool reference) {
  const size_t count = 3 * (size_t)s->n;
  result r = {.a = pair_need(count), .a2 = pair_need(count), .j = pair_need(count)};
  r.u = sum(s, single, isa, threads, reference, r.a, NULL);
  const double again = sum(s, single, isa, threads, reference, r.a2, r.j);
  assert_memory_equal(&again, &r.u, sizeof again);
  return r;
}

static void drop(result *r) { free(r->a), free(r->a2), free(r->j); }

static bool same(const result *r, const result *q, int n) {
  size_t bytes = 3 * (size_t)n * sizeof(double);
  return !memcmp(r->a, q->a, bytes) && !memcmp(r->a2, q->a2, bytes) && !memcmp(r->j, q->j, bytes) &&
         !memcmp(&r->u, &q->u, sizeof(double));
}

static void check(const pair_system *s, bool single, sim_isa isa, bool reference) {
  const int n = s->n;
  char what[128];
  snprintf(what, sizeof what, "%s, %s%s, %s pair terms", s->of.name, sim_isa_name(isa), reference ? " (reference)" : "",
           single ? "single" : "double");
  result r = compute(s, single, isa, 2, reference);
  double *slack = pair_need((size_t)n), *jerk_slack = pair_need((size_t)n);
  pair_slack(s, single, slack, jerk_slack);
  pair_expect_close(r.a, s->a, s->terms, slack, n, pair_term_bound(n, BLOCK, single, false), what);
  pair_expect_close(r.a2, s->a, s->terms, slack, n, pair_term_bound(n, BLOCK, single, false), what);
  pair_expect_close(r.j, s->j, s->jerked, jerk_slack, n, pair_term_bound(n, BLOCK, single, true), what);
  free(slack), free(jerk_slack);
  /* The potential is a sum of terms of one sign, n for each of n bodies, each within 12 u. */
  if (!(fabs(r.u - s->u) <= (12 + 2 * n) * PAIR_U64 * fabs(s->u)))
    fail_msg("%s, n = %d: potential %.17g instead of %.17g", what, n, r.u, s->u);
  drop(&r);
}

static void against_reference(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
    for (size_t q = 0; q < PAIR_SETTINGS; q++) {
      pair_system s = pair_system_make(sizes[k], pair_settings[q]);
      for (int single = 0; single < 2; single++) {
        check(&s, single, SIM_ISA_PLAIN, true);
        for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++)
          if (isa > SIM_ISA_PLAIN || sizes[k] < 300) check(&s, single, isa, false); /* slow */
      }
      pair_system_free(&s);
    }
}

/* Tiles and reference form begin from the same packed bodies, so fp32 positions need no slack here. */
static void against_reference_form(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
    for (size_t q = 0; q < PAIR_SETTINGS; q += 3) {
      const int n = sizes[k];
      pair_system s = pair_system_make(n, pair_settings[q]);
      for (int single = 0; single < 2; single++) {
        result slow = compute(&s, single, SIM_ISA_PLAIN, 1, true);
        for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++) {
          result r = compute(&s, single, isa, 2, false);
          pair_expect_close(r.a, slow.a, s.terms, NULL, n, 2 * pair_term_bound(n, BLOCK, single, false), s.of.name);
          pair_expect_close(r.j, slow.j, s.jerked, NULL, n, 2 * pair_term_bound(n, BLOCK, single, true), s.of.name);
          drop(&r);
        }
        drop(&slow);
      }
      pair_system_free(&s);
    }
}

static void same_bits(void **state) {
  (void)state;
  static const int some[] = {3, 33, 257, 600, 1025}, threads[] = {1, 2, 3, 7, 16};
  for (size_t k = 0; k < sizeof some / sizeof some[0]; k++)
    for (size_t q = 0; q < 2; q++) {
      pair_system s = pair_system_make(some[k], pair_settings[q]);
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
      pair_system_free(&s);
    }
}

/* |sum m a| <= 1e-6 (fp32), 1e-14 (fp64) of sum |m a|: the two forces of a pair differ by a few roundoffs of either
 * sign, and sums of n terms of random sign by about sqrt(n) of these. */
static void momentum(void **state) {
  (void)state;
  pair_system s = pair_system_make(1025, pair_settings[0]);
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
  pair_system_free(&s);
}

/* Two bodies at one position must be reported unless they are softened. The other bodies, and a body with itself, must
 * not. */
static void coincident(void **state) {
  (void)state;
  for (int softened = 0; softened < 2; softened++)
    for (int n = 10; n <= 200; n += 190)
      for (int single = 0; single < 2; single++)
        for (sim_isa isa = SIM_ISA_PLAIN; isa <= sim_isa_best(); isa++) {
          pair_system s = pair_system_make(n, pair_settings[softened]);
          for (int c = 0; c < 3; c++) {
            s.f64[n + c * n + n - 1] = s.f64[n + c * n];
            s.f32[n + c * n + n - 1] = s.f32[n + c * n];
          }
          result r = compute(&s, single, isa, 1, false);
          for (int i = 0; i < n; i++) assert_true(!isfinite(r.a[i]) == (!softened && (i == 0 || i == n - 1)));
          drop(&r), pair_system_free(&s);
        }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(against_reference), cmocka_unit_test(against_reference_form),
      cmocka_unit_test(same_bits),         cmocka_unit_test(momentum),
      cmocka_unit_test(coincident),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
