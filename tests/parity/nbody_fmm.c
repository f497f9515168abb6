/* The fast multipole method on the GPU against direct sums: exact cases, errors that decrease with the order, and the
 * same bits for any number of thread blocks, for forces on some bodies as on the CPU, and where lists must grow. */
#include "engine/device/cuda.h"
#include "kernels/nbody/direct/cuda/direct.h"
#include "kernels/nbody/fmm/cuda/fmm.h"
#include "tests/gpu/gpu.h"
#include "tests/must.h"
#include "tests/nbody/driver.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bodies ---- */

typedef struct system {
  int n;
  double softening;
  double *mass, *position; /* [n], [3][n]; numbers that fp32 holds too */
} system_of;

static double *need(size_t count) {
  double *data = calloc(count, sizeof *data);
  assert_non_null(data);
  return data;
}

static system_of make(int n, double softening) {
  return (system_of){n, softening, need((size_t)n), need(3 * (size_t)n)};
}

static void drop(system_of *s) {
  free(s->mass);
  free(s->position);
}

static uint64_t word = 1;
static double draw(void) {
  word = word * 6364136223846793005u + 1442695040888963407u;
  return (double)(word >> 40) * 0x1p-24; /* 24 bits */
}

/* A Plummer sphere of scale length 1, with coordinates that fp32 holds. */
static system_of plummer(int n, double softening, double heaviest) {
  system_of s = make(n, softening);
  for (int i = 0; i < n; i++) {
    const double r = 1 / sqrt(pow(0.999 * (draw() + 0x1p-25), -2.0 / 3) - 1), z = 2 * draw() - 1;
    const double angle = 6.28318530717958647 * draw();
    s.mass[i] = i % 100 == 0 ? heaviest : 1;
    s.position[i] = (double)(float)(r * sqrt(1 - z * z) * cos(angle));
    s.position[n + i] = (double)(float)(r * sqrt(1 - z * z) * sin(angle));
    s.position[2 * n + i] = (double)(float)(r * z);
  }
  return s;
}

/* ---- forces ---- */

typedef enum precision { SINGLE, MIXED, DOUBLE, PRECISIONS } precision;

static void *on_device(const double *data, size_t count, bool single) {
  void *out, *typed = malloc(count * sizeof(double));
  assert_non_null(typed);
  for (size_t k = 0; k < count; k++)
    if (single)
      ((float *)typed)[k] = (float)data[k];
    else
      ((double *)typed)[k] = data[k];
  const size_t bytes = count * (single ? sizeof(float) : sizeof(double));
  must(sim_backend_cuda.alloc(bytes, &out));
  must(sim_backend_cuda.copy(out, typed, bytes));
  free(typed);
  return out;
}

/* Energies of some bodies by multipoles and by direct sums. */
typedef struct energies {
  int count;
  double by[2][NBODY_SAMPLES];
} energies;

static void take_energies(const nbody_solver *solver, nbody_solver_work *work, int n, energies *out) {
  int64_t numbers[NBODY_SAMPLES];
  out->count = n < NBODY_SAMPLES ? n : NBODY_SAMPLES;
  for (int k = 0; k < out->count; k++) numbers[k] = (int64_t)k * n / out->count;
  must(solver->sample_potential(work, numbers, out->count, out->by[0], out->by[1]));
}

static energies sampled; /* by the last `compute` with settings */

/* Computes a[3][n] and returns the potential energy. settings NULL: a direct sum in fp64. */
static double compute(const system_of *s, precision p, const nbody_fmm_settings *settings, double *a) {
  const size_t n = (size_t)s->n;
  const nbody_options options = {.n = s->n,
                                 .single_pairs = p != DOUBLE,
                                 .comm = &sim_comm_alone,
                                 .G = 2,
                                 .softening = s->softening,
                                 .spread = 1,
                                 .fmm = settings != NULL ? *settings : (nbody_fmm_settings){0}};
  nbody_state state = {.n = s->n,
                       .dtype = p == SINGLE ? SIM_F32 : SIM_F64,
                       .mass = on_device(s->mass, n, p == SINGLE),
                       .position = on_device(s->position, 3 * n, p == SINGLE)};
  void *acceleration;
  must(sim_backend_cuda.alloc(3 * n * sizeof(double), &acceleration));
  state.acceleration = acceleration;
  state.velocity = on_device(s->position, 3 * n, p == SINGLE);
  const nbody_solver *solver = settings != NULL ? &nbody_fmm_cuda : &nbody_direct_cuda;
  const nbody_direct_plan plan = {.method = NBODY_DIRECT_REFERENCE};
  nbody_solver_work *work;
  if (settings != NULL)
    must(nbody_fmm_cuda.create(&options, &state, &work));
  else
    must(nbody_direct_cuda_create(&options, &state, &plan, &work));
  nbody_raw_force raw;
  solver->accelerate(work, false, &raw);
  assert_int_equal(raw.kind, NBODY_FORCE_PARTS);
  assert_int_equal(raw.parts, 1);
  must(sim_backend_cuda.copy(a, raw.acceleration, 3 * n * sizeof(double)));
  for (size_t k = 0; k < 3 * n; k++) a[k] *= raw.unit;
  const double energy = solver->potential(work);
  must(sim_queue_cuda.finish());
  if (settings != NULL) must(solver->check(work));
  if (settings != NULL) take_energies(solver, work, s->n, &sampled);
  solver->destroy(&work);
  void *const arrays[] = {state.mass, state.position, state.velocity, acceleration};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) sim_backend_cuda.free(arrays[k]);
  return energy;
}

/* Energies of bodies in fp64. Energies by multipoles have terms of the same bits except for the roots of pairs, which
 * the CPU rounds otherwise, by 2 units in the last place. Direct sums have terms of one sign, up to 30000, each with a
 * few roundings. */
static void expect_energies(const energies *gpu, const energies *cpu, const char *what) {
  for (int which = 0; which < 2; which++)
    for (int k = 0; k < gpu->count; k++) {
      const double got = gpu->by[which][k], should = cpu->by[which][k];
      if (got != should && !(fabs(got - should) <= 1e-13 * fabs(should)))
        fail_msg("%s: the energy of sample %d is %.17g, on the CPU %.17g", what, k, got, should);
    }
}

/* In fp64 the CPU's multipoles have the same bits. The energy is a sum of n terms of one sign in another order: the GPU
 * adds at most n / 25 + 64 times in sequence, the CPU less often. */
static void expect_cpu(const system_of *s, const nbody_fmm_settings *settings, const char *what) {
  const size_t n = (size_t)s->n;
  double *a = need(3 * n), *b = need(3 * n);
  const double energy = compute(s, DOUBLE, settings, a);
  const nbody_options options = {.n = s->n,
                                 .isa = sim_isa_best(),
                                 .threads = 2,
                                 .comm = &sim_comm_alone,
                                 .G = 2,
                                 .softening = s->softening,
                                 .spread = 1,
                                 .fmm = *settings};
  nbody_state state = {.n = s->n, .dtype = SIM_F64, .mass = s->mass, .position = s->position, .acceleration = b};
  nbody_solver_work *work;
  nbody_raw_force raw;
  must(nbody_fmm_cpu.create(&options, &state, &work));
  nbody_fmm_cpu.accelerate(work, false, &raw);
  must(nbody_fmm_cpu.check(work));
  assert_int_equal(raw.kind, NBODY_FORCE_FINAL);
  for (size_t k = 0; k < 3 * n; k++)
    if (memcmp(&a[k], &b[k], sizeof *a) != 0)
      fail_msg("%s, order %d: component %zu of %zu is %.17g, on the CPU %.17g", what, settings->order, k, 3 * n, a[k],
               b[k]);
  const double should = nbody_fmm_cpu.potential(work);
  if (!(fabs(energy - should) <= ((double)n / 12 + 128) * 0x1p-53 * fabs(should)))
    fail_msg("%s, order %d: energy %.17g, on the CPU %.17g", what, settings->order, energy, should);
  energies on_cpu;
  take_energies(&nbody_fmm_cpu, work, s->n, &on_cpu);
  expect_energies(&sampled, &on_cpu, what);
  nbody_fmm_cpu.destroy(&work);
  free(a), free(b);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Computes |a - b| / |b| of all bodies, sorted; error[n]. */
static void errors_of(const double *a, const double *b, int n, double *error) {
  for (int i = 0; i < n; i++) {
    double off = 0, size = 0;
    for (int c = 0; c < 3; c++) {
      off += (a[c * n + i] - b[c * n + i]) * (a[c * n + i] - b[c * n + i]);
      size += b[c * n + i] * b[c * n + i];
    }
    error[i] = off == 0 ? 0 : sqrt(off / size);
    if (!(error[i] >= 0)) error[i] = INFINITY;
  }
  qsort(error, (size_t)n, sizeof *error, ascending);
}

static const nbody_fmm_settings usual = {5, 0.8, 1.5, 32};

/* All orders and precisions give the direct sum, up to `allowed` for fp32 and 1e-13 for fp64. */
static void expect_exact(const system_of *s, int leaf, const char *what) {
  double *a = need(3 * (size_t)s->n), *b = need(3 * (size_t)s->n), *error = need((size_t)s->n);
  const double should = compute(s, DOUBLE, NULL, b);
  for (int order = NBODY_FMM_ORDER_MIN; order <= NBODY_FMM_ORDER_MAX; order++)
    for (precision p = SINGLE; p < PRECISIONS; p++) {
      const nbody_fmm_settings settings = {order, 0.8, 1.5, leaf};
      const double energy = compute(s, p, &settings, a);
      errors_of(a, b, s->n, error);
      if (p == DOUBLE) expect_cpu(s, &settings, what);
      /* fp32: about 10 roundings in a term and fewer than 2 n in a sum of terms that partly cancel */
      const double allowed = p == DOUBLE ? 1e-13 * s->n : 0x1p-24 * (20 + 2 * s->n);
      if (!(error[s->n - 1] <= allowed))
        fail_msg("%s, order %d, precision %d: error %g, allowed %g", what, order, (int)p, error[s->n - 1], allowed);
      if (!(fabs(energy - should) <= 1e-13 * s->n * fabs(should)))
        fail_msg("%s, order %d, precision %d: energy %.17g instead of %.17g", what, order, (int)p, energy, should);
    }
  free(a), free(b), free(error);
}

/* Two bodies, alone in their leaves or together; the eight corners of a cube; as many as a leaf holds. */
static void test_exact(void **state) {
  (void)state;
  for (int softened = 0; softened < 2; softened++) {
    system_of two = make(2, softened * 0.25), corners = make(8, softened * 0.25);
    two.mass[0] = 1, two.mass[1] = 3;
    two.position[1] = 1, two.position[3] = 0.5, two.position[5] = -0.25;
    for (int i = 0; i < 8; i++) {
      corners.mass[i] = 1 + i;
      for (int c = 0; c < 3; c++) corners.position[c * 8 + i] = i >> c & 1;
    }
    for (int leaf = 1; leaf <= 8; leaf *= 8) {
      expect_exact(&two, leaf, "two bodies");
      expect_exact(&corners, leaf, "eight corners");
    }
    system_of full = plummer(64, softened * 0.25, 1);
    expect_exact(&full, 64, "a full leaf");
    drop(&two), drop(&corners), drop(&full);
  }
}

/* One body: no force. One more than a leaf holds; many at one point, on a line, in a plane; masses of 1 and 10^6, and
 * none at all. All forces are finite and near the direct sum: the median within `allowed`. */
static void expect_close(const system_of *s, double allowed, const char *what) {
  double *a = need(3 * (size_t)s->n), *b = need(3 * (size_t)s->n), *error = need((size_t)s->n);
  compute(s, DOUBLE, NULL, b);
  expect_cpu(s, &usual, what);
  for (precision p = SINGLE; p < PRECISIONS; p++) {
    compute(s, p, &usual, a);
    for (int k = 0; k < 3 * s->n; k++)
      if (!isfinite(a[k])) fail_msg("%s, precision %d: a[%d] is %g", what, (int)p, k, a[k]);
    errors_of(a, b, s->n, error);
    if (!(error[s->n / 2] <= allowed)) fail_msg("%s, precision %d: median error %g", what, (int)p, error[s->n / 2]);
  }
  free(a), free(b), free(error);
}

static void test_collapsed(void **state) {
  (void)state;
  system_of one = plummer(1, 0, 1), more = plummer(33, 0.01, 1), heavy = plummer(5000, 0.01, 1e6);
  expect_close(&one, 1e-3, "one body");
  expect_close(&more, 1e-3, "33 bodies");
  expect_close(&heavy, 1e-3, "masses 1 and 10^6");
  for (int i = 0; i < 5000; i++) heavy.mass[i] = i % 2;
  expect_close(&heavy, 1e-3, "every second body without mass");
  for (int i = 0; i < 10000; i++) heavy.position[5000 + i] = 0.5;
  /* Errors of all sources on one side have one sign, and the forces of both sides nearly cancel: the bound of the CPU's
   * test, five times its error. */
  expect_close(&heavy, 0.05, "a line");
  for (int i = 0; i < 5000; i++) heavy.position[5000 + i] = draw();
  expect_close(&heavy, 1e-3, "a plane");
  /* All but one at one point: the force on these is exact up to the rounding of a sum, and 0 between them. */
  for (int k = 0; k < 15000; k++) heavy.position[k] = 0.5;
  heavy.position[0] = 2;
  expect_close(&heavy, 1e-3, "one point and one body");
  for (int k = 0; k < 15000; k++) heavy.position[k] = 0.5;
  double *a = need(15000);
  compute(&heavy, SINGLE, &usual, a);
  for (int k = 0; k < 15000; k++) assert_true(a[k] == 0);
  free(a);
  drop(&one), drop(&more), drop(&heavy);
}

/* Two bodies at one point without softening are detected. */
static void test_coincident(void **state) {
  (void)state;
  system_of s = plummer(1000, 0, 1);
  double *a = need(3000);
  for (int c = 0; c < 3; c++) s.position[c * 1000 + 999] = s.position[c * 1000];
  for (precision p = SINGLE; p < PRECISIONS; p++) {
    compute(&s, p, &usual, a);
    for (int i = 0; i < 1000; i++) assert_true(!isfinite(a[i]) == (i == 0 || i == 999));
  }
  free(a);
  drop(&s);
}

/* The same bits for any number of thread blocks and again; potential included. */
static void test_same_bits(void **state) {
  (void)state;
  static const int blocks[] = {0, 0, 1, 3, 100};
  system_of s = plummer(20000, 0.001, 1);
  double *a = need(60000), *b = need(60000);
  for (precision p = SINGLE; p < PRECISIONS; p++)
    for (int order = NBODY_FMM_ORDER_MIN; order <= NBODY_FMM_ORDER_MAX; order++) {
      const nbody_fmm_settings settings = {order, 0.8, 1.5, 32};
      double first = 0;
      for (int k = 0; k < 5; k++) {
        nbody_fmm_cuda_blocks = blocks[k];
        const double energy = compute(&s, p, &settings, k == 0 ? b : a);
        if (k == 0)
          first = energy;
        else if (memcmp(a, b, 60000 * sizeof *a) != 0 || energy != first)
          fail_msg("precision %d, order %d: other bits with %d thread blocks", (int)p, order, blocks[k]);
      }
      nbody_fmm_cuda_blocks = 0;
    }
  free(a), free(b);
  drop(&s);
}

/* Orders, angles and leaves; without softening too. */
static void test_cpu(void **state) {
  (void)state;
  for (int softened = 0; softened < 2; softened++) {
    system_of s = plummer(20000, softened * 0.01, 1e3);
    for (int order = NBODY_FMM_ORDER_MIN; order <= NBODY_FMM_ORDER_MAX; order++) {
      const nbody_fmm_settings settings[] = {{order, 0.8, 1.5, 64}, {order, 0.6, 1, 8}};
      for (int k = 0; k < 2; k++) expect_cpu(&s, &settings[k], "a Plummer sphere");
    }
    drop(&s);
  }
}

/* Twice the errors of the CPU for this system: the median of |da| / |a|, and 99.9 % of |da| over the median |a|, since
 * a tail of |da| / |a| is that of bodies whose forces nearly cancel. At this angle each order gains more than 2. */
static void test_errors(void **state) {
  (void)state;
  static const double median[] = {2e-3, 5.3e-4, 1.9e-4, 7.9e-5}, tail[] = {1.7e-2, 6.1e-3, 3.3e-3, 1.8e-3};
  const int n = 50000;
  system_of s = plummer(n, 0.001, 1);
  double *a = need(3 * (size_t)n), *b = need(3 * (size_t)n), *error = need((size_t)n), *size = need((size_t)n);
  const double should = compute(&s, DOUBLE, NULL, b);
  for (int i = 0; i < n; i++) size[i] = hypot(hypot(b[i], b[n + i]), b[2 * n + i]);
  qsort(size, (size_t)n, sizeof *size, ascending);
  for (precision p = SINGLE; p < PRECISIONS; p++) {
    double before = INFINITY;
    for (int order = NBODY_FMM_ORDER_MIN; order <= NBODY_FMM_ORDER_MAX; order++) {
      const nbody_fmm_settings settings = {order, 0.8, 1.5, 48};
      const double energy = compute(&s, p, &settings, a);
      errors_of(a, b, n, error);
      const double middle = error[n / 2];
      for (int i = 0; i < n; i++)
        error[i] = hypot(hypot(a[i] - b[i], a[n + i] - b[n + i]), a[2 * n + i] - b[2 * n + i]);
      qsort(error, (size_t)n, sizeof *error, ascending);
      const double most = error[n / 1000 * 999] / size[n / 2];
      print_message(
          "precision %d order %d: median %.2e, 99.9 %% %.2e and greatest %.2e of the median |a|, energy %.1e\n", (int)p,
          order, middle, most, error[n - 1] / size[n / 2], fabs(energy / should - 1));
      assert_true(middle <= median[order - 3] && most <= tail[order - 3]);
      assert_true(middle * 2 < before);
      assert_true(fabs(energy / should - 1) <= median[order - 3]);
      before = middle;
    }
  }
  free(a), free(b), free(error), free(size);
  drop(&s);
}

/* Distant leaves have the dense core in their near lists: many pieces, which several warps share. */
static void test_long_lists(void **state) {
  (void)state;
  static const int blocks[] = {0, 1, 7};
  const nbody_fmm_settings settings = {4, 0.5, 1.5, 64};
  system_of s = plummer(30000, 0.01, 1);
  for (int i = 0; i < 200; i++) /* two and a half leaves */
    for (int c = 0; c < 3; c++) s.position[c * s.n + i] = 3 + draw();
  double *a = need(3 * (size_t)s.n), *b = need(3 * (size_t)s.n);
  expect_cpu(&s, &settings, "long lists");
  for (precision p = SINGLE; p < PRECISIONS; p++) {
    double first = 0;
    for (int k = 0; k < 3; k++) {
      nbody_fmm_cuda_blocks = blocks[k];
      const double energy = compute(&s, p, &settings, k == 0 ? b : a);
      if (k == 0)
        first = energy;
      else if (memcmp(a, b, 3 * (size_t)s.n * sizeof *a) != 0 || energy != first)
        fail_msg("precision %d: other bits with %d thread blocks", (int)p, blocks[k]);
    }
    nbody_fmm_cuda_blocks = 0;
  }
  free(a), free(b);
  drop(&s);
}

/* ---- forces on some bodies ---- */

enum { SUBSTEPS = 20 /* more than a tree is kept for */, BODIES = 6000, DEEPEST = 3 };

static uint8_t level_of(int i) { return (uint8_t)(i % 7 == 0 ? 2 + i % 2 : i % 2); }

/* [SUBSTEPS][3][n], 0 for bodies that are no targets: forces on some bodies, which then move by a thousandth of their
 * position, and in the middle forces on all. */
static void compute_some(bool gpu, const system_of *of, precision p, const nbody_fmm_settings *settings, double *out) {
  const int n = of->n;
  const size_t vectors = 3 * (size_t)n;
  const bool single = p == SINGLE;
  system_of s = make(n, of->softening);
  memcpy(s.mass, of->mass, (size_t)n * sizeof *s.mass);
  memcpy(s.position, of->position, vectors * sizeof *s.position);
  uint8_t *level = calloc((size_t)n, 1);
  double *a = need(vectors);
  assert_non_null(level);
  for (int i = 0; i < n; i++) level[i] = level_of(i);
  const nbody_options options = {.n = n,
                                 .comm = &sim_comm_alone,
                                 .single_pairs = p != DOUBLE,
                                 .individual = true,
                                 .levels = DEEPEST,
                                 .isa = sim_isa_best(),
                                 .threads = 2,
                                 .G = 2,
                                 .softening = s.softening,
                                 .spread = 1,
                                 .fmm = *settings};
  nbody_state state = {
      .n = n, .dtype = single ? SIM_F32 : SIM_F64, .mass = s.mass, .position = s.position, .acceleration = a};
  nbody_targets targets = {.level = level};
  void *there = NULL, *levels = NULL;
  if (gpu) {
    must(sim_backend_cuda.alloc(vectors * sizeof(double), &there));
    must(sim_backend_cuda.alloc((size_t)n, &levels));
    must(sim_backend_cuda.copy(levels, level, (size_t)n));
    state.mass = on_device(s.mass, (size_t)n, single);
    state.position = on_device(s.position, vectors, single);
    state.velocity = on_device(s.position, vectors, single);
    state.acceleration = there;
    targets.level = levels;
  }
  const nbody_solver *solver = gpu ? &nbody_fmm_cuda : &nbody_fmm_cpu;
  nbody_solver_work *work;
  must(solver->create(&options, &state, &work));
  for (int substep = 0; substep < SUBSTEPS; substep++) {
    nbody_raw_force raw;
    targets.least = 1 + substep % DEEPEST;
    targets.count = 0;
    for (int i = 0; i < n; i++) targets.count += level[i] >= targets.least;
    if (substep == SUBSTEPS / 4) {
      solver->accelerate(work, false, &raw);
      (void)solver->potential(work);
    }
    solver->accelerate_some(work, &targets);
    must(solver->check(work));
    if (gpu) must(sim_backend_cuda.copy(a, there, vectors * sizeof *a));
    for (size_t k = 0; k < vectors; k++) out[substep * vectors + k] = level[k % (size_t)n] >= targets.least ? a[k] : 0;
    for (size_t k = 0; k < vectors; k++) s.position[k] = (double)(float)(s.position[k] * (k % 5 == 0 ? 1.001 : 0.999));
    if (gpu) {
      void *const moved = on_device(s.position, vectors, single);
      must(sim_backend_cuda.copy(state.position, moved, vectors * (single ? sizeof(float) : sizeof(double))));
      sim_backend_cuda.free(moved);
    }
  }
  solver->destroy(&work);
  void *const arrays[] = {there, levels, gpu ? state.mass : NULL, gpu ? state.position : NULL, state.velocity};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) sim_backend_cuda.free(arrays[k]);
  free(level), free(a);
  drop(&s);
}

static void expect_same(const double *got, const double *expected, size_t count, const char *what) {
  for (size_t k = 0; k < count; k++)
    if (memcmp(&got[k], &expected[k], sizeof *got) != 0)
      fail_msg("%s: component %zu is %.17g, not %.17g", what, k, got[k], expected[k]);
}

/* In fp64 the bits of the CPU. In all precisions the same bits for any number of thread blocks, and with memory for a
 * hundredth of the lists at first. */
static void test_some(void **state) {
  (void)state;
  static const struct {
    int blocks;
    double share;
  } cases[] = {{1, 1}, {7, 1}, {0, 0.01}};
  const size_t count = SUBSTEPS * 3 * (size_t)BODIES;
  system_of s = plummer(BODIES, 0.01, 1e3);
  double *a = need(count), *b = need(count);
  for (int order = NBODY_FMM_ORDER_MIN; order <= NBODY_FMM_ORDER_MAX; order++)
    for (precision p = SINGLE; p < PRECISIONS; p++) {
      const nbody_fmm_settings settings = {order, 0.7, 1.5, 40};
      compute_some(true, &s, p, &settings, b);
      if (p == DOUBLE) {
        compute_some(false, &s, p, &settings, a);
        expect_same(b, a, count, "forces on some bodies, beside the CPU's");
      }
      for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        nbody_fmm_cuda_blocks = cases[k].blocks;
        nbody_fmm_cuda_share = cases[k].share;
        compute_some(true, &s, p, &settings, a);
        expect_same(a, b, count, cases[k].share < 1 ? "with lists that grow" : "with few thread blocks");
        nbody_fmm_cuda_blocks = 0;
        nbody_fmm_cuda_share = 1;
      }
    }
  free(a), free(b);
  drop(&s);
}

/* ---- memory of lists ---- */

/* Returns the memory that the last force of a new solver took. */
static nbody_fmm_use use_of(const system_of *s, double share) {
  const nbody_options options = {
      .n = s->n, .comm = &sim_comm_alone, .G = 2, .softening = s->softening, .spread = 1, .fmm = usual};
  const size_t n = (size_t)s->n;
  void *acceleration;
  must(sim_backend_cuda.alloc(3 * n * sizeof(double), &acceleration));
  nbody_state state = {.n = s->n,
                       .dtype = SIM_F64,
                       .mass = on_device(s->mass, n, false),
                       .position = on_device(s->position, 3 * n, false),
                       .acceleration = acceleration};
  nbody_solver_work *work;
  nbody_raw_force raw;
  nbody_fmm_use use;
  nbody_fmm_cuda_share = share;
  must(nbody_fmm_cuda.create(&options, &state, &work));
  nbody_fmm_cuda_share = 1;
  nbody_fmm_cuda.accelerate(work, false, &raw);
  must(nbody_fmm_cuda.check(work));
  must(nbody_fmm_cuda_use(work, &use));
  nbody_fmm_cuda.destroy(&work);
  void *const arrays[] = {state.mass, state.position, acceleration};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) sim_backend_cuda.free(arrays[k]);
  return use;
}

static double positions_of_run(nbody_steps steps, double share, double *out) {
  static nbody_sphere cold;
  cold = (nbody_sphere){.group = {.species = "stars"}, .n = 3000, .mass = 1, .radius = 1, .cutoff = NAN};
  driver d = driver_make((driver_place){&sim_backend_cuda, SIM_MIXED}, NBODY_LEAPFROG, 0x1p-5, 0.5, 0.02);
  d.parameters.gravity.solver = NBODY_FMM;
  d.parameters.gravity.error = d.parameters.gravity.error_tail = NAN;
  d.parameters.integrate.steps = (int)steps;
  if (steps == NBODY_INDIVIDUAL) d.parameters.integrate.levels = 6, d.parameters.integrate.eta = 0.05;
  driver_add(&d, &nbody_plummer_schema, &cold);
  nbody_fmm_cuda_share = share;
  driver_create(&d);
  driver_run(&d);
  nbody_fmm_cuda_share = 1;
  for (int c = 0; c < 3; c++)
    for (int64_t i = 0; i < 3000; i++) out[c * 3000 + i] = driver_get(&d, "position", c, i);
  const double energy = driver_value(&d, "energy", "total");
  driver_destroy(&d);
  return energy;
}

/* Lists that begin with a fiftieth of their memory grow, and change no bit of forces, potentials and runs. */
static void test_growth(void **state) {
  (void)state;
  const double share = 0.02;
  system_of s = plummer(20000, 0.001, 1);
  double *a = need(60000), *b = need(60000);
  const nbody_fmm_use planned = use_of(&s, 1), grown = use_of(&s, share);
  assert_true(planned.cells > share * planned.cells_most + 1 && planned.segments > share * planned.segments_most + 1);
  assert_true(grown.cells == planned.cells && grown.cells_most >= grown.cells);
  assert_true(grown.segments_most >= grown.segments);
  for (precision p = SINGLE; p < PRECISIONS; p++) {
    const double energy = compute(&s, p, &usual, b);
    nbody_fmm_cuda_share = share;
    const double again = compute(&s, p, &usual, a);
    nbody_fmm_cuda_share = 1;
    expect_same(a, b, 60000, "forces with lists that grow");
    assert_true(again == energy);
  }
  for (int steps = NBODY_SHARED; steps <= NBODY_INDIVIDUAL; steps++) {
    const double energy = positions_of_run((nbody_steps)steps, 1, b),
                 again = positions_of_run((nbody_steps)steps, share, a);
    expect_same(a, b, 9000, steps == NBODY_SHARED ? "a run with lists that grow" : "one with individual steps");
    assert_true(again == energy);
  }
  free(a), free(b);
  drop(&s);
}

/* The linker puts this in place of the runtime's function: arrays above `most_bytes` get no memory. */
static size_t most_bytes = SIZE_MAX;
cudaError_t __real_cudaMalloc(void **out, size_t bytes);
cudaError_t __wrap_cudaMalloc(void **out, size_t bytes);
cudaError_t __wrap_cudaMalloc(void **out, size_t bytes) {
  return bytes > most_bytes ? cudaErrorMemoryAllocation : __real_cudaMalloc(out, bytes);
}

/* Without more memory the force and all later forces are NaN, and the reason is kept for `check`. */
static void test_no_memory(void **state) {
  (void)state;
  const int n = 20000;
  system_of s = plummer(n, 0.001, 1);
  const nbody_options options = {
      .n = n, .comm = &sim_comm_alone, .G = 2, .softening = 0.001, .spread = 1, .fmm = usual};
  const size_t vectors = 3 * (size_t)n;
  double *a = need(vectors);
  void *acceleration;
  must(sim_backend_cuda.alloc(vectors * sizeof(double), &acceleration));
  nbody_state device = {.n = n,
                        .dtype = SIM_F64,
                        .mass = on_device(s.mass, (size_t)n, false),
                        .position = on_device(s.position, vectors, false),
                        .acceleration = acceleration};
  nbody_solver_work *work;
  nbody_raw_force raw;
  nbody_fmm_cuda_share = 0.02;
  must(nbody_fmm_cuda.create(&options, &device, &work));
  nbody_fmm_cuda_share = 1;
  most_bytes = 1 << 16;
  for (int time = 0; time < 2; time++) {
    nbody_fmm_cuda.accelerate(work, false, &raw);
    assert_int_equal(nbody_fmm_cuda.check(work), SIM_ERR_NO_MEMORY);
    assert_non_null(strstr(sim_error_last()->message, "fast multipoles"));
    assert_int_equal(nbody_fmm_cuda.check(work), SIM_OK);
    must(sim_backend_cuda.copy(a, acceleration, vectors * sizeof *a));
    for (size_t k = 0; k < vectors; k++) assert_true(isnan(a[k]));
    assert_true(isnan(nbody_fmm_cuda.potential(work)));
  }
  most_bytes = SIZE_MAX;
  nbody_fmm_cuda.destroy(&work);
  void *const arrays[] = {device.mass, device.position, acceleration};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) sim_backend_cuda.free(arrays[k]);
  free(a);
  drop(&s);
}

/* A position that is not a number ends the force with that reason: lists are not tried with more and more memory. */
static void test_not_finite(void **state) {
  (void)state;
  system_of s = plummer(3000, 0.01, 1);
  s.position[1234] = INFINITY;
  const nbody_options options = {
      .n = s.n, .comm = &sim_comm_alone, .G = 2, .softening = 0.01, .spread = 1, .fmm = usual};
  void *acceleration;
  must(sim_backend_cuda.alloc(9000 * sizeof(double), &acceleration));
  nbody_state device = {.n = s.n,
                        .dtype = SIM_F64,
                        .mass = on_device(s.mass, 3000, false),
                        .position = on_device(s.position, 9000, false),
                        .acceleration = acceleration};
  nbody_solver_work *work;
  nbody_raw_force raw;
  must(nbody_fmm_cuda.create(&options, &device, &work));
  nbody_fmm_cuda.accelerate(work, false, &raw);
  assert_int_equal(nbody_fmm_cuda.check(work), SIM_ERR_DIVERGED);
  assert_int_equal(nbody_fmm_cuda.check(work), SIM_OK);
  nbody_fmm_cuda.destroy(&work);
  void *const arrays[] = {device.mass, device.position, acceleration};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) sim_backend_cuda.free(arrays[k]);
  drop(&s);
}

int main(void) {
  const int missing = gpu_open();
  if (missing != 0) return missing;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact),     cmocka_unit_test(test_collapsed),  cmocka_unit_test(test_coincident),
      cmocka_unit_test(test_same_bits), cmocka_unit_test(test_cpu),        cmocka_unit_test(test_long_lists),
      cmocka_unit_test(test_errors),    cmocka_unit_test(test_some),       cmocka_unit_test(test_growth),
      cmocka_unit_test(test_no_memory), cmocka_unit_test(test_not_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
