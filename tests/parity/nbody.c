/* The GPU's operations against references and against the CPU's: the direct sums in every form, and the other
 * operations bit by bit, since both sides compute the same formulas without contraction. */
#include "engine/device/cuda.h"
#include "tests/gpu/gpu.h"
#include "tests/nbody/pair_system.h"
#include "tests/parity/nbody_side.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPU_RUN = 1024 }; /* terms of an fp32 sum */

/* ---- a state on the device and on the host ---- */

typedef struct pair_state {
  nbody_state host, device;
  size_t real; /* bytes of mass, position, velocity */
} pair_state;

static void *on_device(const void *data, size_t bytes) {
  void *out;
  must(sim_backend_cuda.alloc(bytes, &out));
  must(sim_backend_cuda.copy(out, data, bytes));
  return out;
}

static pair_state upload(const pair_system *s, bool jerk) {
  const size_t n = (size_t)s->n;
  pair_state out = {.real = s->of.dtype == SIM_F32 ? sizeof(float) : sizeof(double)};
  char *data = s->of.dtype == SIM_F32 ? (char *)s->f32 : (char *)s->f64;
  out.host = (nbody_state){.n = s->n,
                           .dtype = s->of.dtype,
                           .mass = data,
                           .position = data + n * out.real,
                           .velocity = data + 4 * n * out.real,
                           .acceleration = pair_need(3 * n),
                           .jerk = jerk ? pair_need(3 * n) : NULL};
  out.device = (nbody_state){.n = s->n,
                             .dtype = s->of.dtype,
                             .mass = on_device(out.host.mass, n * out.real),
                             .position = on_device(out.host.position, 3 * n * out.real),
                             .velocity = on_device(out.host.velocity, 3 * n * out.real),
                             .acceleration = on_device(out.host.acceleration, 3 * n * sizeof(double)),
                             .jerk = jerk ? on_device(out.host.jerk, 3 * n * sizeof(double)) : NULL};
  return out;
}

static void drop(pair_state *s) {
  free(s->host.acceleration);
  free(s->host.jerk);
  void *const arrays[] = {s->device.mass, s->device.position, s->device.velocity, s->device.acceleration,
                          s->device.jerk};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) sim_backend_cuda.free(arrays[k]);
}

static nbody_options options_of(const pair_system *s, bool single_pairs, bool jerk) {
  return (nbody_options){.n = s->n,
                         .single_pairs = single_pairs,
                         .jerk = jerk,
                         .isa = sim_isa_best(),
                         .threads = 2,
                         .comm = &sim_comm_alone,
                         .G = PAIR_G,
                         .softening = s->softening,
                         .spread = s->of.length};
}

static void expect_equal(const void *host, const void *device, size_t bytes, const char *what) {
  void *copy = malloc(bytes);
  assert_non_null(copy);
  must(sim_backend_cuda.copy(copy, device, bytes));
  if (memcmp(copy, host, bytes) != 0) fail_msg("%s differs from the CPU's", what);
  free(copy);
}

/* ---- direct sums ---- */

static void compute(const pair_system *s, const nbody_options *options, const nbody_direct_plan *plan, double *a,
                    double *j) {
  const size_t bytes = 3 * (size_t)s->n * sizeof(double);
  pair_state state = upload(s, options->jerk);
  side gpu = side_gpu(options, &state.device, plan);
  gpu.ops->force(gpu.work, 0);
  gpu.ops->finish(gpu.work);
  must(sim_backend_cuda.copy(a, state.device.acceleration, bytes));
  if (options->jerk) must(sim_backend_cuda.copy(j, state.device.jerk, bytes));
  must(sim_queue_cuda.finish());
  side_destroy(&gpu);
  drop(&state);
}

/* All contributions to a body are rounded to units of 2^-61 of at most twice G M 0.385 / eps^2. There is at most one
 * for every 32 bodies of each kind, and one more. */
static double fixed_slack(const pair_system *s) {
  double mass = 0;
  for (int i = 0; i < s->n; i++) mass += s->f64[i];
  const double most = 2 * PAIR_G * mass * 0.385 / (s->softening * s->softening);
  return (s->n / 16 + 2) * 0.5 * most * 0x1p-61;
}

static void check(const pair_system *s, bool single, bool jerk, nbody_direct_plan plan) {
  const nbody_options options = options_of(s, single, jerk);
  const size_t n = (size_t)s->n;
  char what[160];
  snprintf(what, sizeof what, "%s, %s pair terms, method %d, %d bodies, chunk %d, %d splits", s->of.name,
           single ? "single" : "double", (int)plan.method, plan.bodies, plan.chunk, plan.splits);
  double *a = pair_need(3 * n), *j = pair_need(3 * n), *again = pair_need(3 * n), *slack = pair_need(n),
         *jerk_slack = pair_need(n);
  pair_slack(s, single, slack, jerk_slack);
  if (plan.method == NBODY_DIRECT_SYMMETRIC)
    for (size_t i = 0; i < n; i++) slack[i] += fixed_slack(s);
  compute(s, &options, &plan, a, j);
  pair_expect_close(a, s->a, s->terms, slack, s->n, pair_term_bound(s->n, GPU_RUN, single, false), what);
  if (jerk) pair_expect_close(j, s->j, s->jerked, jerk_slack, s->n, pair_term_bound(s->n, GPU_RUN, single, true), what);
  compute(s, &options, &plan, again, j);
  if (memcmp(a, again, 3 * n * sizeof *a) != 0) fail_msg("%s: other bits the second time", what);
  free(a), free(j), free(again), free(slack), free(jerk_slack);
}

static void check_all_plans(const pair_system *s) {
  static const int lanes[] = {4, 8, 12}, chunks[] = {32, 96, 256, 1024}, bodies[] = {1, 2, 4}, splits[] = {1, 3, 8};
  for (int single = s->of.dtype == SIM_F32; single < 2; single++) {
    for (int jerk = 0; jerk < 2; jerk++) {
      check(s, single, jerk, (nbody_direct_plan){.method = NBODY_DIRECT_REFERENCE});
      for (int k = 0; k < 3; k++)
        for (int p = 0; p < 3; p++)
          check(s, single, jerk,
                (nbody_direct_plan){.method = NBODY_DIRECT_TILE, .bodies = bodies[k], .splits = splits[p]});
    }
    if (!single || s->softening == 0) continue;
    for (int k = 0; k < 3; k++)
      for (int c = 0; c < 4; c++)
        check(s, true, false,
              (nbody_direct_plan){.method = NBODY_DIRECT_SYMMETRIC, .bodies = lanes[k], .chunk = chunks[c]});
  }
}

static void test_direct_sums(void **state) {
  (void)state;
  static const int sizes[] = {1, 2, 3, 33, 100, 257, 1025};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (int q = 0; q < PAIR_SETTINGS; q++) {
      pair_system s = pair_system_make(sizes[k], pair_settings[q]);
      check_all_plans(&s);
      pair_system_free(&s);
    }
}

/* Many blocks, with odd and even numbers of them, and the plan that a run would choose. */
static void test_many_bodies(void **state) {
  (void)state;
  static const int sizes[] = {3072, 9000};
  for (int k = 0; k < 2; k++)
    for (int q = 0; q < PAIR_SETTINGS; q++) {
      if (pair_settings[q].softening != 0.05 && q != 0) continue;
      pair_system s = pair_system_make(sizes[k], pair_settings[q]);
      for (int single = s.of.dtype == SIM_F32; single < 2; single++) {
        const nbody_options options = options_of(&s, single, false);
        check(&s, single, false, nbody_direct_choose(&options));
        if (single && s.softening > 0)
          for (int lanes = 4; lanes <= 12; lanes += 4)
            check(&s, true, false,
                  (nbody_direct_plan){.method = NBODY_DIRECT_SYMMETRIC, .bodies = lanes, .chunk = 512});
      }
      pair_system_free(&s);
    }
}

/* Forces on some bodies: on every second one, on all but few (more bodies a thread), on one. */
static void check_some(const pair_system *s, bool single, int every, bool those) {
  nbody_options options = options_of(s, single, false);
  options.individual = true;
  options.levels = 1;
  const size_t n = (size_t)s->n;
  uint8_t *level = calloc(n, 1);
  double *a = pair_need(3 * n), *again = pair_need(3 * n), *slack = pair_need(n), *unused = pair_need(n);
  assert_non_null(level);
  nbody_targets targets = {.least = 1};
  for (size_t i = 0; i < n; i++) {
    level[i] = (i % (size_t)every == 0) == those;
    targets.count += level[i];
  }
  void *const levels = on_device(level, n);
  targets.level = levels;
  pair_state state = upload(s, false);
  side gpu = side_gpu(&options, &state.device, NULL);
  pair_slack(s, single, slack, unused);
  for (int time = 0; time < 2; time++) {
    double *const out = time == 0 ? a : again;
    gpu.forces.solver->accelerate_some(gpu.forces.work, &targets);
    must(sim_backend_cuda.copy(out, state.device.acceleration, 3 * n * sizeof *a));
    for (size_t k = 0; k < 3 * n; k++)
      if (level[k % n] == 0) out[k] = s->a[k];
  }
  char what[120];
  snprintf(what, sizeof what, "%s, %lld of %d bodies, %s pair terms", s->of.name, (long long)targets.count, s->n,
           single ? "single" : "double");
  pair_expect_close(a, s->a, s->terms, slack, s->n, pair_term_bound(s->n, GPU_RUN, single, false), what);
  if (memcmp(a, again, 3 * n * sizeof *a) != 0) fail_msg("%s: other bits the second time", what);
  side_destroy(&gpu);
  drop(&state);
  sim_backend_cuda.free(levels);
  free(level), free(a), free(again), free(slack), free(unused);
}

static void test_some(void **state) {
  (void)state;
  static const int sizes[] = {2, 33, 257, 1025, 9000};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (int q = 0; q < PAIR_SETTINGS; q++) {
      if (sizes[k] == 9000 && q > 1) continue;
      pair_system s = pair_system_make(sizes[k], pair_settings[q]);
      for (int single = s.of.dtype == SIM_F32; single < 2; single++) {
        check_some(&s, single, 2, true);
        check_some(&s, single, 50, false);
        check_some(&s, single, sizes[k], true);
      }
      pair_system_free(&s);
    }
}

/* |sum m a| <= 1e-6 of sum |m a| with fp32 terms: the forces of a pair are opposite, except for the rounding of sums.
 */
static void test_momentum(void **state) {
  (void)state;
  pair_system s = pair_system_make(9000, pair_settings[1]);
  const nbody_options options = options_of(&s, true, false);
  const nbody_direct_plan plan = nbody_direct_choose(&options);
  double *a = pair_need(3 * (size_t)s.n);
  assert_int_equal(plan.method, NBODY_DIRECT_SYMMETRIC);
  compute(&s, &options, &plan, a, NULL);
  for (int c = 0; c < 3; c++) {
    double sum = 0, size = 0;
    for (int i = 0; i < s.n; i++) {
      sum += s.f64[i] * a[c * s.n + i];
      size += fabs(s.f64[i] * a[c * s.n + i]);
    }
    assert_true(fabs(sum) <= 1e-6 * size);
  }
  free(a);
  pair_system_free(&s);
}

/* One body far away does not reduce the accuracy of the others: in mixed precision they have fp32 relative to their own
 * extent. Compared with the reference form in fp64, whose error is far below. */
static void test_escaper(void **state) {
  (void)state;
  pair_setting of = pair_settings[0];
  of.softening = 0.05;
  pair_system s = pair_system_make(9000, of);
  s.f64[s.n] = 1e6; /* x of body 0, which is among the bodies that determine the centre */
  const nbody_options exact = options_of(&s, false, false), mixed = options_of(&s, true, false);
  const nbody_direct_plan slow = {.method = NBODY_DIRECT_REFERENCE}, plan = nbody_direct_choose(&mixed);
  double *a = pair_need(3 * (size_t)s.n), *b = pair_need(3 * (size_t)s.n);
  assert_int_equal(plan.method, NBODY_DIRECT_SYMMETRIC);
  compute(&s, &exact, &slow, a, NULL);
  compute(&s, &mixed, &plan, b, NULL);
  double *slack = pair_need((size_t)s.n), *unused = pair_need((size_t)s.n);
  pair_slack(&s, true, slack, unused);
  for (int i = 1; i < s.n; i++)
    for (int c = 0; c < 3; c++) {
      const double allowed = pair_term_bound(s.n, GPU_RUN, true, false) * s.terms[i] + slack[i] + fixed_slack(&s);
      const double off = fabs(a[c * s.n + i] - b[c * s.n + i]);
      if (!(off <= allowed)) fail_msg("body %d: off by %g, allowed %g", i, off, allowed);
    }
  free(a), free(b), free(slack), free(unused);
  pair_system_free(&s);
}

/* A kick takes the raw sums of the direct sum: the same bits as after conversion to numbers. */
static void raw_form(const pair_system *s, bool jerk, nbody_direct_plan plan) {
  const nbody_options options = options_of(s, true, jerk);
  for (int what = 0; what < 3; what++) { /* kick, kick_drift, a hermite step */
    pair_state state[2];
    for (int finished = 0; finished < 2; finished++) {
      state[finished] = upload(s, jerk);
      side gpu = side_gpu(&options, &state[finished].device, &plan);
      const nbody_ops *ops = gpu.ops;
      nbody_work *work = gpu.work;
      ops->force(work, 0);
      if (finished) ops->finish(work);
      if (what == 0) ops->kick(work, 0.01);
      if (what == 1) ops->kick_drift(work, 0.01, 0.02);
      if (what == 2 && jerk) {
        ops->hermite_predict(work, 0.01);
        ops->force(work, 0);
        if (finished) ops->finish(work);
        ops->hermite_correct(work, 0.01);
      }
      must(sim_queue_cuda.finish());
      side_destroy(&gpu);
    }
    const size_t bytes = 3 * (size_t)s->n * state[0].real;
    void *here = malloc(bytes);
    assert_non_null(here);
    must(sim_backend_cuda.copy(here, state[0].device.position, bytes));
    expect_equal(here, state[1].device.position, bytes, "position");
    must(sim_backend_cuda.copy(here, state[0].device.velocity, bytes));
    expect_equal(here, state[1].device.velocity, bytes, "velocity");
    free(here);
    drop(&state[0]), drop(&state[1]);
  }
}

static void test_raw_forms(void **state) {
  (void)state;
  for (int q = 0; q < 2; q++) {
    pair_setting of = pair_settings[q];
    of.softening = 0.05;
    pair_system s = pair_system_make(1025, of);
    raw_form(&s, false, (nbody_direct_plan){.method = NBODY_DIRECT_SYMMETRIC, .bodies = 8, .chunk = 64});
    for (int jerk = 0; jerk < 2; jerk++)
      for (int splits = 1; splits < 8; splits += 3)
        raw_form(&s, jerk, (nbody_direct_plan){.method = NBODY_DIRECT_TILE, .bodies = 2, .splits = splits});
    pair_system_free(&s);
  }
}

/* Two bodies at one position must be detected, unless softened. */
static void test_coincident(void **state) {
  (void)state;
  for (int softened = 0; softened < 2; softened++)
    for (int single = 0; single < 2; single++) {
      pair_system s = pair_system_make(200, pair_settings[softened]);
      for (int c = 0; c < 3; c++) {
        s.f64[200 + c * 200 + 199] = s.f64[200 + c * 200];
        s.f32[200 + c * 200 + 199] = s.f32[200 + c * 200];
      }
      if (softened && !single) continue; /* fp32 input */
      const nbody_options options = options_of(&s, single, false);
      const nbody_direct_plan plan = nbody_direct_choose(&options);
      double *a = pair_need(600);
      compute(&s, &options, &plan, a, NULL);
      for (int i = 0; i < 200; i++) assert_true(!isfinite(a[i]) == (!softened && (i == 0 || i == 199)));
      free(a);
      pair_system_free(&s);
    }
}

/* A widely spread or unsoftened system does not use fixed point. */
static void test_choice(void **state) {
  (void)state;
  nbody_options options = {
      .n = 100000, .single_pairs = true, .comm = &sim_comm_alone, .G = 1, .softening = 0.01, .spread = 1};
  assert_int_equal(nbody_direct_choose(&options).method, NBODY_DIRECT_SYMMETRIC);
  options.spread = 100;
  assert_int_equal(nbody_direct_choose(&options).method, NBODY_DIRECT_TILE);
  options.spread = 1;
  options.softening = 0;
  assert_int_equal(nbody_direct_choose(&options).method, NBODY_DIRECT_TILE);
}

/* ---- the other operations ---- */

static void expect_same_motion(const pair_state *s, const char *what) {
  const size_t bytes = 3 * (size_t)s->host.n * s->real;
  expect_equal(s->host.position, s->device.position, bytes, what);
  expect_equal(s->host.velocity, s->device.velocity, bytes, what);
}

static void fill(pair_state *s, double phase) {
  const size_t bytes = 3 * (size_t)s->host.n * sizeof(double);
  for (int64_t k = 0; k < 3 * s->host.n; k++) {
    s->host.acceleration[k] = sin(phase + (double)k);
    s->host.jerk[k] = cos(phase + 2 * (double)k);
  }
  must(sim_backend_cuda.copy(s->device.acceleration, s->host.acceleration, bytes));
  must(sim_backend_cuda.copy(s->device.jerk, s->host.jerk, bytes));
}

static void steps(int n, sim_dtype dtype) {
  pair_setting of = pair_settings[0];
  of.dtype = dtype;
  of.softening = 0.05;
  pair_system s = pair_system_make(n, of);
  const nbody_options options = options_of(&s, dtype == SIM_F32, true);
  pair_state state = upload(&s, true);
  side host = side_cpu(&options, &state.host), device = side_gpu(&options, &state.device, NULL);
  const nbody_ops *cpu = host.ops, *gpu = device.ops;
  nbody_work *here = host.work, *there = device.work;
  fill(&state, 1);
  cpu->kick(here, 0.1), gpu->kick(there, 0.1);
  expect_same_motion(&state, "kick");
  cpu->drift(here, 0.1), gpu->drift(there, 0.1);
  expect_same_motion(&state, "drift");
  cpu->kick_drift(here, 0.03, 0.7), gpu->kick_drift(there, 0.03, 0.7);
  expect_same_motion(&state, "kick_drift");
  fill(&state, 2);
  assert_true(cpu->step_softened(here, 0.02) == gpu->step_softened(there, 0.02));
  assert_true(side_start_time(&host) == side_start_time(&device));
  cpu->hermite_predict(here, 0.1), gpu->hermite_predict(there, 0.1);
  expect_same_motion(&state, "hermite_predict");
  fill(&state, 3);
  cpu->hermite_correct(here, 0.1), gpu->hermite_correct(there, 0.1);
  expect_same_motion(&state, "hermite_correct");
  assert_true(cpu->step_aarseth(here, 0.02, 0.1) == gpu->step_aarseth(there, 0.02, 0.1));
  side_destroy(&host), side_destroy(&device);
  drop(&state);
  pair_system_free(&s);
}

static void test_steps(void **state) {
  (void)state;
  static const int sizes[] = {1, 2, 31, 257, 1025};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    steps(sizes[k], SIM_F32);
    steps(sizes[k], SIM_F64);
  }
}

/* Levels, and kicks of bodies on some levels, in turn with drifts, as in a step; bit by bit. */
static void levels(int n, sim_dtype dtype) {
  enum { LEVELS = 6 };
  pair_setting of = pair_settings[0];
  of.dtype = dtype;
  of.softening = 0.05;
  pair_system s = pair_system_make(n, of);
  nbody_options options = options_of(&s, dtype == SIM_F32, false);
  options.individual = true;
  options.levels = LEVELS;
  options.eta = 0.2;
  pair_state state = upload(&s, false);
  side host = side_cpu(&options, &state.host), device = side_gpu(&options, &state.device, NULL);
  for (int least = 0; least <= LEVELS; least++) {
    nbody_histogram here, there;
    const size_t bytes = 3 * (size_t)n * sizeof(double);
    for (int64_t k = 0; k < 3 * n; k++) /* |a| of e^-10 to e^10, with steps of 5 to 0.0002 */
      state.host.acceleration[k] = exp(10 * sin((least + 1.5) * (double)(k % n)));
    must(sim_backend_cuda.copy(state.device.acceleration, state.host.acceleration, bytes));
    host.ops->choose_levels(host.work, 0.7, least, &here);
    device.ops->choose_levels(device.work, 0.7, least, &there);
    assert_memory_equal(&here, &there, sizeof here);
    assert_true(n < 1000 || (here.bodies[LEVELS] > 0 && here.bodies[LEVELS + 1] > 0));
    host.ops->kick_levels(host.work, 0.1, least), device.ops->kick_levels(device.work, 0.1, least);
    host.ops->drift(host.work, 0.01), device.ops->drift(device.work, 0.01);
    expect_same_motion(&state, "kick_levels");
  }
  side_destroy(&host), side_destroy(&device);
  drop(&state);
  pair_system_free(&s);
}

static void test_levels(void **state) {
  (void)state;
  static const int sizes[] = {1, 31, 257, 1025};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    levels(sizes[k], SIM_F32);
    levels(sizes[k], SIM_F64);
  }
}

/* ---- observables ---- */

static double value(const pair_system *s, int64_t k) { return s->of.dtype == SIM_F32 ? (double)s->f32[k] : s->f64[k]; }

/* Both sides sum the same n terms of fp64 in trees of other shapes: (log2 n + 9) u of the sum of sizes would suffice.
 */
static void expect_sum(double cpu, double gpu, double sizes, const char *what) {
  if (!(fabs(cpu - gpu) <= 64 * PAIR_U64 * sizes)) fail_msg("%s: %.17g on the CPU, %.17g on the GPU", what, cpu, gpu);
}

static void check_sums(const pair_system *s, const nbody_sums *a, const nbody_sums *b) {
  double mass = 0, reach = 0, speed = 0;
  for (int i = 0; i < s->n; i++) {
    mass += value(s, i);
    for (int c = 0; c < 3; c++) {
      reach = fmax(reach, fabs(value(s, s->n + c * s->n + i)));
      speed = fmax(speed, fabs(value(s, 4 * s->n + c * s->n + i)));
    }
  }
  expect_sum(a->mass, b->mass, mass, "mass");
  expect_sum(a->kinetic, b->kinetic, a->kinetic, "kinetic");
  for (int c = 0; c < 3; c++) {
    expect_sum(a->moment[c], b->moment[c], mass * reach, "moment");
    expect_sum(a->momentum[c], b->momentum[c], mass * speed, "momentum");
    expect_sum(a->angular_momentum[c], b->angular_momentum[c], 2 * mass * reach * speed, "angular momentum");
  }
  /* Terms of one sign; each within 12 u, n of them in a row (tests/nbody/nbody_pair.c). */
  assert_true(fabs(b->potential - s->u) <= (12 + 2 * s->n) * PAIR_U64 * fabs(s->u));
}

/* The mass within a radius is less than its share; with the bodies at the radius it is at least the share. Masses are
 * integers of 2^-61. */
static void check_radii(const pair_system *s, const double radii[NBODY_RADII], const double centre[3]) {
  for (int q = 0; q < NBODY_RADII; q++) {
    double inside = 0, within = 0, all = 0;
    for (int i = 0; i < s->n; i++) {
      double d2 = 0;
      for (int c = 0; c < 3; c++) {
        const double d = value(s, s->n + c * s->n + i) - centre[c];
        d2 += d * d;
      }
      all += value(s, i);
      if (sqrt(d2) < radii[q]) inside += value(s, i);
      if (sqrt(d2) <= radii[q]) within += value(s, i);
    }
    assert_true(inside <= nbody_radius_fractions[q] * all * (1 + 1e-12));
    assert_true(within >= nbody_radius_fractions[q] * all * (1 - 1e-12));
  }
}

static void test_observables(void **state) {
  (void)state;
  static const int sizes[] = {1, 2, 100, 257, 1025, 3000};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (int q = 0; q < PAIR_SETTINGS; q++) {
      pair_system s = pair_system_make(sizes[k], pair_settings[q]);
      const nbody_options options = options_of(&s, s.of.dtype == SIM_F32, false);
      pair_state both = upload(&s, false);
      side host = side_cpu(&options, &both.host), device = side_gpu(&options, &both.device, NULL);
      nbody_sums a, b;
      host.ops->sums(host.work, 0, &a);
      device.ops->sums(device.work, 0, &b);
      check_sums(&s, &a, &b);
      const double centre[3] = {b.moment[0] / b.mass, b.moment[1] / b.mass, b.moment[2] / b.mass};
      check_radii(&s, b.radii, centre);
      side_destroy(&host), side_destroy(&device);
      drop(&both);
      pair_system_free(&s);
    }
}

int main(void) {
  const int missing = gpu_open();
  if (missing != 0) return missing;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_direct_sums), cmocka_unit_test(test_many_bodies), cmocka_unit_test(test_momentum),
      cmocka_unit_test(test_coincident),  cmocka_unit_test(test_escaper),     cmocka_unit_test(test_raw_forms),
      cmocka_unit_test(test_choice),      cmocka_unit_test(test_steps),       cmocka_unit_test(test_observables),
      cmocka_unit_test(test_some),        cmocka_unit_test(test_levels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
