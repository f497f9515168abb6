/* Functions of a scenario in the GPU's kernels: pairs against sums in double precision by the CPU's evaluator, an
 * external law and the steps around it against the CPU's operations bit by bit, and observables. */
#include "engine/device/cuda.h"
#include "tests/gpu/gpu.h"
#include "tests/gpu/text/law_graphs.h"
#include "tests/parity/nbody_side.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

enum { MOST = 700 };

/* ---- a state on both sides ---- */

typedef struct pair_of_states {
  nbody_state host, device;
  size_t real; /* bytes */
  bool single;
} pair_of_states;

static double uniform(uint64_t *word) {
  *word = *word * 6364136223846793005u + 1442695040888963407u;
  return (double)(*word >> 11) * 0x1p-53;
}

static void *on_device(const void *data, size_t bytes) {
  void *out;
  must(sim_backend_cuda.alloc(bytes, &out));
  must(sim_backend_cuda.copy(out, data, bytes));
  return out;
}

static double value(const pair_of_states *s, const void *data, int64_t i) {
  return s->single ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static void *numbers(int64_t n, bool single, double low, double high, uint64_t *word) {
  double *out = calloc((size_t)n, sizeof *out);
  for (int64_t i = 0; i < n; i++) {
    const double x = low + (high - low) * uniform(word);
    if (single)
      ((float *)out)[i] = (float)x;
    else
      out[i] = x;
  }
  return out;
}

static pair_of_states make(int64_t n, bool single, bool jerk) {
  uint64_t word = (uint64_t)n;
  const size_t real = single ? sizeof(float) : sizeof(double), vector = 3 * (size_t)n;
  pair_of_states s = {.real = real, .single = single};
  s.host = (nbody_state){.n = n,
                         .dtype = single ? SIM_F32 : SIM_F64,
                         .mass = numbers(n, single, 0.5, 1.5, &word),
                         .position = numbers(3 * n, single, -1, 1, &word),
                         .velocity = numbers(3 * n, single, -1, 1, &word),
                         .acceleration = calloc(vector, sizeof(double)),
                         .jerk = jerk ? calloc(vector, sizeof(double)) : NULL};
  s.device = (nbody_state){.n = n,
                           .dtype = s.host.dtype,
                           .mass = on_device(s.host.mass, (size_t)n * real),
                           .position = on_device(s.host.position, vector * real),
                           .velocity = on_device(s.host.velocity, vector * real),
                           .acceleration = on_device(s.host.acceleration, vector * sizeof(double)),
                           .jerk = jerk ? on_device(s.host.jerk, vector * sizeof(double)) : NULL};
  return s;
}

static void drop(pair_of_states *s) {
  void *const host[] = {s->host.mass, s->host.position, s->host.velocity, s->host.acceleration, s->host.jerk};
  void *const device[] = {s->device.mass, s->device.position, s->device.velocity, s->device.acceleration,
                          s->device.jerk};
  for (int k = 0; k < 5; k++) {
    free(host[k]);
    sim_backend_cuda.free(device[k]);
  }
}

static nbody_options options_of(int64_t n, bool single_pairs, bool jerk) {
  return (nbody_options){.n = n,
                         .single_pairs = single_pairs,
                         .jerk = jerk,
                         .isa = sim_isa_best(),
                         .threads = 2,
                         .comm = &sim_comm_alone,
                         .G = NAN,
                         .spread = 1};
}

/* ---- pairs ---- */

/* Sums over all others in double precision, and for each body the scale of errors. */
typedef struct reference {
  double a[3 * MOST], j[3 * MOST], u;
  double terms[MOST], turns[MOST], energy;
} reference;

static reference sums;

/* Rounding of r2 and of each operation may change a multiple of S = |f| + 2 r2 |f'| of each pair: a force that is a
 * difference of larger terms is small only where its slope is not. A law may jump at r = 1: pairs near that distance
 * count with their whole force. */
static void sum_directly(const pair_of_states *s, int law) {
  static double r2[MOST], results[3][MOST];
  const int64_t n = s->host.n;
  sim_expr *graph = law_pair(law, true);
  const sim_expr_target target = {.isa = SIM_ISA_PLAIN};
  sim_expr_program *program;
  must(sim_expr_program_create(graph, &target, &program));
  void *scratch = aligned_alloc(64, (sim_expr_program_scratch(program) + 64) / 64 * 64);
  memset(&sums, 0, sizeof sums);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = 0; k < n; k++) {
      r2[k] = 0;
      for (int c = 0; c < 3; c++) {
        const double d = value(s, s->host.position, c * n + k) - value(s, s->host.position, c * n + i);
        r2[k] += d * d;
      }
    }
    sim_expr_program_run(program, (size_t)n, (const void *const[]){r2},
                         (void *const[]){results[0], results[1], results[2]}, scratch);
    for (int64_t k = 0; k < n; k++) {
      if (k == i) continue;
      const double m = value(s, s->host.mass, k), f = results[0][k], g = results[1][k];
      double dw = 0, w2 = 0, size = fabs(f) + 2 * r2[k] * fabs(g);
      if (fabs(r2[k] - 1) < 1e-5) size += 1e7;
      for (int c = 0; c < 3; c++) {
        const double w = value(s, s->host.velocity, c * n + k) - value(s, s->host.velocity, c * n + i);
        dw += w * (value(s, s->host.position, c * n + k) - value(s, s->host.position, c * n + i));
        w2 += w * w;
      }
      for (int c = 0; c < 3; c++) {
        const double d = value(s, s->host.position, c * n + k) - value(s, s->host.position, c * n + i);
        const double w = value(s, s->host.velocity, c * n + k) - value(s, s->host.velocity, c * n + i);
        sums.a[c * n + i] += m * f * d;
        sums.j[c * n + i] += m * (f * w + 2 * g * dw * d);
      }
      sums.terms[i] += m * size * sqrt(r2[k]);
      sums.turns[i] += m * size * sqrt(w2);
      const double both = 0.5 * m * value(s, s->host.mass, i);
      sums.u += both * results[2][k];
      sums.energy += both * (fabs(results[2][k]) + r2[k] * size);
    }
  }
  free(scratch);
  sim_expr_program_free(&program);
  sim_expr_free(&graph);
}

static void expect_near(const double *got, const double *wanted, const double *terms, int64_t n, double bound,
                        const char *what) {
  for (int64_t k = 0; k < 3 * n; k++)
    if (!(fabs(got[k] - wanted[k]) <= bound * terms[k % n] + DBL_MIN))
      fail_msg("%s: body %d: %.17g, expected %.17g within %.3g", what, (int)(k % n), got[k], wanted[k],
               bound * terms[k % n]);
}

/* With unit roundoff u of the pairs: each r2 is within 4 u, powers of it within 60 u
 * (kernels/nbody/direct/cuda/power.cuh; the other operations of these laws less), and a sum of at most 1024 terms
 * within as many u. Positions in double that become single differ by u of the extent of the system, here 2, over
 * distances of which few are below 0.02: 200 u. A jerk also has the slope of the slope, at most 12 of it for the powers
 * here. */
static void check_pairs(const pair_of_states *s, int law, bool single_pairs, bool jerk, nbody_direct_plan plan) {
  static double got[3 * MOST];
  const int64_t n = s->host.n;
  const double u = single_pairs ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
  const double bound = (64 + 200 + (n < 1024 ? (double)n : 1024)) * u;
  nbody_options options = options_of(n, single_pairs, jerk);
  char what[160];
  snprintf(what, sizeof what, "%s, %s pairs, %s state, n = %d, %d bodies, %d splits%s", law_names[law],
           single_pairs ? "single" : "double", s->single ? "single" : "double", (int)n, plan.bodies, plan.splits,
           jerk ? ", jerk" : "");
  options.laws.pair = law_pair(law, jerk);
  side gpu = side_gpu(&options, &s->device, &plan);
  gpu.ops->force(gpu.work, 0);
  gpu.ops->finish(gpu.work);
  must(sim_backend_cuda.copy(got, s->device.acceleration, 3 * (size_t)n * sizeof *got));
  expect_near(got, sums.a, sums.terms, n, bound, what);
  if (jerk) {
    must(sim_backend_cuda.copy(got, s->device.jerk, 3 * (size_t)n * sizeof *got));
    expect_near(got, sums.j, sums.turns, n, 12 * bound, what);
  }
  nbody_sums all;
  gpu.ops->sums(gpu.work, 0, &all);
  const double slack = (64 + (double)n) * DBL_EPSILON * sums.energy;
  if (!(fabs(all.potential - sums.u) <= slack)) fail_msg("%s: U = %.17g, not %.17g", what, all.potential, sums.u);
  side_destroy(&gpu);
  sim_expr_free(&options.laws.pair);
}

static void test_pairs(void **state) {
  (void)state;
  static const int64_t sizes[] = {2, 33, 700};
  static const nbody_direct_plan plans[] = {
      {NBODY_DIRECT_TILE, 1, 0, 1}, {NBODY_DIRECT_TILE, 2, 0, 3}, {NBODY_DIRECT_TILE, 4, 0, 8}};
  for (int law = 0; law < LAWS; law++)
    for (int k = 0; k < 3; k++)
      for (int form = 0; form < 3; form++) {
        const bool jerk = (law + k + form) % 2;
        pair_of_states s = make(sizes[k], form == 0, jerk);
        sum_directly(&s, law);
        check_pairs(&s, law, form < 2, jerk, plans[(law + form) % 3]);
        drop(&s);
      }
}

/* Gravity as a custom law gives gravity: the built-in tile sum with the same plan, within the rounding of both. */
static void test_gravity(void **state) {
  (void)state;
  static double built_in[3 * MOST], law[3 * MOST];
  const nbody_direct_plan plan = {NBODY_DIRECT_TILE, 2, 0, 1};
  for (int single = 0; single < 2; single++) {
    pair_of_states s = make(MOST, single, false);
    nbody_options options = options_of(MOST, single, false);
    const size_t bytes = sizeof built_in;
    sum_directly(&s, 0);
    options.G = LAW_G;
    options.softening = sqrt(LAW_SOFTENING2);
    side gpu = side_gpu(&options, &s.device, &plan);
    gpu.ops->force(gpu.work, 0);
    gpu.ops->finish(gpu.work);
    must(sim_backend_cuda.copy(built_in, s.device.acceleration, bytes));
    side_destroy(&gpu);
    options.laws.pair = law_pair(0, false);
    assert_int_equal(nbody_direct_choose(&options).method, NBODY_DIRECT_TILE);
    gpu = side_gpu(&options, &s.device, &plan);
    gpu.ops->force(gpu.work, 0);
    gpu.ops->finish(gpu.work);
    must(sim_backend_cuda.copy(law, s.device.acceleration, bytes));
    side_destroy(&gpu);
    /* both within 40 u of a term and n u of the sum, as above */
    expect_near(law, built_in, sums.terms, MOST, 2 * (40 + MOST) * (single ? FLT_EPSILON : DBL_EPSILON) / 2,
                "gravity as a law");
    sim_expr_free(&options.laws.pair);
    drop(&s);
  }
}

/* ---- an external law ---- */

static void expect_equal(const pair_of_states *s, const char *what) {
  const size_t vector = 3 * (size_t)s->host.n;
  static double copy[3 * MOST];
  must(sim_backend_cuda.copy(copy, s->device.position, vector * s->real));
  if (memcmp(copy, s->host.position, vector * s->real) != 0) fail_msg("%s: other positions than the CPU's", what);
  must(sim_backend_cuda.copy(copy, s->device.velocity, vector * s->real));
  if (memcmp(copy, s->host.velocity, vector * s->real) != 0) fail_msg("%s: other velocities than the CPU's", what);
}

static void expect_same_force(const pair_of_states *s, const char *what) {
  const size_t bytes = 3 * (size_t)s->host.n * sizeof(double);
  static double copy[3 * MOST];
  must(sim_backend_cuda.copy(copy, s->device.acceleration, bytes));
  if (memcmp(copy, s->host.acceleration, bytes) != 0) fail_msg("%s: another acceleration than the CPU's", what);
  if (s->host.jerk == NULL) return;
  must(sim_backend_cuda.copy(copy, s->device.jerk, bytes));
  if (memcmp(copy, s->host.jerk, bytes) != 0) fail_msg("%s: another jerk than the CPU's", what);
}

/* Bodies without mutual forces in a trap of sums and products: the same operations on both sides, none fused. */
static void trap(int64_t n, bool single, bool jerk) {
  pair_of_states s = make(n, single, jerk);
  nbody_options options = options_of(n, single, jerk);
  nbody_sums a, b;
  options.laws =
      (nbody_laws){.external = law_external(jerk), .no_pairs = true, .time_dependent = true, .potential_known = true};
  side host = side_cpu(&options, &s.host), device = side_gpu(&options, &s.device, NULL);
  const nbody_ops *cpu = host.ops, *gpu = device.ops;
  nbody_work *here = host.work, *there = device.work;
  cpu->force(here, 0.3), gpu->force(there, 0.3);
  cpu->finish(here), gpu->finish(there);
  expect_same_force(&s, "finish");
  cpu->kick_drift(here, 0.01, 0.02), gpu->kick_drift(there, 0.01, 0.02);
  expect_equal(&s, "kick_drift of numbers");
  for (int k = 0; k < 3; k++) { /* raw */
    cpu->force(here, 0.1 * k), gpu->force(there, 0.1 * k);
    cpu->kick_drift(here, 0.01, 0.02), gpu->kick_drift(there, 0.01, 0.02);
    expect_equal(&s, "kick_drift");
  }
  cpu->force(here, 0.5), gpu->force(there, 0.5);
  cpu->kick(here, 0.01), gpu->kick(there, 0.01);
  expect_equal(&s, "kick");
  expect_same_force(&s, "kick");
  if (jerk) {
    cpu->hermite_predict(here, 0.05), gpu->hermite_predict(there, 0.05);
    cpu->force(here, 0.55), gpu->force(there, 0.55);
    cpu->hermite_correct(here, 0.05), gpu->hermite_correct(there, 0.05);
    expect_equal(&s, "hermite_correct");
    cpu->force(here, 0.55), gpu->force(there, 0.55);
    cpu->finish(here), gpu->finish(there);
    expect_same_force(&s, "hermite");
    assert_true(side_start_time(&host) == side_start_time(&device));
  }
  cpu->sums(here, 0.55, &a), gpu->sums(there, 0.55, &b);
  /* n terms of one sign in two orders */
  assert_true(fabs(a.potential - b.potential) <= (double)n * DBL_EPSILON * fabs(a.potential));
  side_destroy(&host), side_destroy(&device);
  sim_expr_free(&options.laws.external);
  drop(&s);
}

static void test_external(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 31, 257, 700};
  for (int k = 0; k < 4; k++)
    for (int form = 0; form < 4; form++) trap(sizes[k], form & 1, form & 2);
}

/* ---- observables ---- */

static void test_observables(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 31, 257, 700};
  sim_function_map map = law_observables();
  for (int k = 0; k < 4; k++)
    for (int single = 0; single < 2; single++) {
      pair_of_states s = make(sizes[k], single, false);
      nbody_options options = options_of(sizes[k], single, false);
      double a[OBSERVABLES], b[OBSERVABLES];
      options.laws = (nbody_laws){.external = law_external(false), .no_pairs = true};
      options.observe = &map;
      side host = side_cpu(&options, &s.host), device = side_gpu(&options, &s.device, NULL);
      host.ops->force(host.work, 0.2), device.ops->force(device.work, 0.2);
      must(host.ops->observe(host.work, 0.2, a));
      must(device.ops->observe(device.work, 0.2, b));
      for (int q = 0; q < 2; q++) /* sums of n terms below 5 */
        assert_true(fabs(a[q] - b[q]) <= (double)(sizes[k] * sizes[k]) * 5 * DBL_EPSILON);
      for (int q = 2; q < OBSERVABLES; q++) /* square roots and extremes are exact */
        assert_true(a[q] == b[q] || (isnan(a[q]) && isnan(b[q])));
      side_destroy(&host), side_destroy(&device);
      sim_expr_free(&options.laws.external);
      drop(&s);
    }
  law_free_observables(&map);
}

int main(void) {
  const int missing = gpu_open();
  if (missing != 0) return missing;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pairs),
      cmocka_unit_test(test_gravity),
      cmocka_unit_test(test_external),
      cmocka_unit_test(test_observables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
