/* Gravity in a periodic box on the GPU against the CPU: in fp64 multipoles have the same bits, direct sums agree to
 * rounding; drifts through the faces have the same bits; fp32 agrees with fp64 to its rounding. */
#include "engine/device/cuda.h"
#include "kernels/nbody/fmm/cuda/fmm.h"
#include "kernels/nbody/ops.h"
#include "tests/gpu/gpu.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void must(sim_status status) {
  if (status != SIM_OK) fail_msg("%s", sim_error_last()->message);
}

static void *need(size_t bytes) {
  void *data = calloc(1, bytes);
  assert_non_null(data);
  return data;
}

static uint64_t word = 1;
static double draw(void) {
  word = word * 6364136223846793005u + 1442695040888963407u;
  return (double)(word >> 40) * 0x1p-24;
}

/* ---- bodies ---- */

typedef struct system {
  int n;
  double size, softening;
  double *mass, *position, *velocity; /* [n], [3][n]; numbers that fp32 holds too */
} system_of;

/* Three quarters of the bodies in one corner, on both sides of the faces; some without mass. */
static system_of lopsided(int n, double size, double softening) {
  system_of s = {.n = n, .size = size, .softening = softening};
  s.mass = need((size_t)n * sizeof(double));
  s.position = need(3 * (size_t)n * sizeof(double));
  s.velocity = need(3 * (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) {
    s.mass[i] = i % 50 == 49 ? 0 : 1 + draw();
    for (int c = 0; c < 3; c++) {
      const double at = i % 4 == 0 ? draw() : 0.9 + 0.2 * draw();
      s.position[c * n + i] = (double)(float)(0.999999 * size * (at < 1 ? at : at - 1));
      s.velocity[c * n + i] = (double)(float)(draw() - 0.5);
    }
  }
  return s;
}

static void drop(system_of *s) { free(s->mass), free(s->position), free(s->velocity); }

/* ---- forces ---- */

typedef enum precision { SINGLE, MIXED, DOUBLE, PRECISIONS } precision;

static nbody_options options_of(const system_of *s, precision p, const nbody_fmm_settings *settings) {
  return (nbody_options){.n = s->n,
                         .single_pairs = p != DOUBLE,
                         .isa = sim_isa_best(),
                         .threads = 2,
                         .comm = &sim_comm_alone,
                         .G = 2,
                         .softening = s->softening,
                         .box = s->size,
                         .spread = 1,
                         .fmm = settings != NULL ? *settings : (nbody_fmm_settings){0}};
}

static void *put(const sim_backend *backend, const double *data, size_t count, bool single) {
  void *out, *typed = need(count * sizeof(double));
  for (size_t k = 0; k < count; k++)
    if (single)
      ((float *)typed)[k] = (float)data[k];
    else
      ((double *)typed)[k] = data[k];
  const size_t bytes = count * (single ? sizeof(float) : sizeof(double));
  must(backend->alloc(bytes, &out));
  must(backend->copy(out, typed, bytes));
  free(typed);
  return out;
}

enum { SAMPLES = 100 };

/* The results of a device: forces by `solver`, final; and the positions after a kick and a drift of a third of the box.
 */
typedef struct outcome {
  double *a, *x; /* [3][n] */
  double energy, median;
  double energies[2][SAMPLES]; /* of some bodies by multipoles, and by direct sums */
} outcome;

static void discard(outcome *o) { free(o->a), free(o->x); }

static outcome run(const sim_backend *backend, const nbody_solver *solver, const nbody_ops *ops, const system_of *s,
                   precision p, const nbody_fmm_settings *settings) {
  const size_t n = (size_t)s->n;
  const bool single = p == SINGLE;
  const nbody_options options = options_of(s, p, settings);
  outcome out = {.a = need(3 * n * sizeof(double)), .x = need(3 * n * sizeof(double))};
  nbody_state state = {.n = s->n,
                       .dtype = single ? SIM_F32 : SIM_F64,
                       .mass = put(backend, s->mass, n, single),
                       .position = put(backend, s->position, 3 * n, single),
                       .velocity = put(backend, s->velocity, 3 * n, single)};
  void *acceleration;
  must(backend->alloc(3 * n * sizeof(double), &acceleration));
  state.acceleration = acceleration;
  nbody_forces forces = {.solver = solver};
  nbody_work *work;
  must(solver->supports(&options));
  must(solver->create(&options, &state, &forces.work));
  must(ops->create(&options, &state, forces, &work));
  int64_t numbers[SAMPLES];
  for (int k = 0; k < SAMPLES; k++) numbers[k] = k * (s->n / SAMPLES);
  out.energy = solver->potential(forces.work);
  if (solver->sample_potential != NULL)
    must(solver->sample_potential(forces.work, numbers, SAMPLES, out.energies[0], out.energies[1]));
  ops->force(work, 0);
  ops->finish(work);
  must(backend->copy(out.a, acceleration, 3 * n * sizeof(double)));
  if (solver->check != NULL) must(solver->check(forces.work));
  if (solver->sample != NULL) { /* measured errors */
    double at[3 * SAMPLES], got[3 * SAMPLES], exact[3 * SAMPLES], off = 0, size = 0;
    must(solver->sample(forces.work, numbers, SAMPLES, at, got, exact));
    for (int k = 0; k < 3 * SAMPLES; k++) off += pow(got[k] - exact[k], 2), size += pow(exact[k], 2);
    out.median = sqrt(off / size);
  }
  ops->kick_drift(work, 0, s->size / 3 / 0.5);
  ops->drift(work, -s->size * 2.5);
  void *position = need(3 * n * sizeof(double));
  must(backend->copy(position, state.position, 3 * n * (single ? sizeof(float) : sizeof(double))));
  for (size_t k = 0; k < 3 * n; k++) out.x[k] = single ? (double)((float *)position)[k] : ((double *)position)[k];
  free(position);
  ops->destroy(&work);
  solver->destroy(&forces.work);
  void *const arrays[] = {state.mass, state.position, state.velocity, acceleration};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) backend->free(arrays[k]);
  return out;
}

static outcome on_cpu(const system_of *s, precision p, const nbody_fmm_settings *settings) {
  const nbody_solver *solver = settings != NULL ? &nbody_fmm_cpu : &nbody_direct_periodic_cpu;
  return run(&sim_backend_cpu, solver, p == SINGLE ? &nbody_ops_cpu_f32 : &nbody_ops_cpu_f64, s, p, settings);
}

static outcome on_gpu(const system_of *s, precision p, const nbody_fmm_settings *settings) {
  const nbody_solver *solver = settings != NULL ? &nbody_fmm_cuda : &nbody_direct_periodic_cuda;
  return run(&sim_backend_cuda, solver, p == SINGLE ? &nbody_ops_cuda_f32 : &nbody_ops_cuda_f64, s, p, settings);
}

static void expect_same(const double *got, const double *expected, int n, const char *what) {
  for (int k = 0; k < 3 * n; k++)
    if (memcmp(&got[k], &expected[k], sizeof *got) != 0)
      fail_msg("%s: component %d of %d is %.17g, on the CPU %.17g", what, k, 3 * n, got[k], expected[k]);
}

/* Root mean square of |a - b| over that of |b|. */
static double difference(const double *a, const double *b, int n) {
  double off = 0, size = 0;
  for (int k = 0; k < 3 * n; k++) off += pow(a[k] - b[k], 2), size += pow(b[k], 2);
  return sqrt(off / size);
}

/* Positions are inside the box, and the same. */
static void expect_positions(const outcome *gpu, const outcome *cpu, const system_of *s, const char *what) {
  expect_same(gpu->x, cpu->x, s->n, what);
  for (int k = 0; k < 3 * s->n; k++) assert_true(gpu->x[k] >= 0 && gpu->x[k] < s->size);
}

/* Energies of bodies. Direct sums of up to 30000 terms in fp64, mostly of one sign, each with a few roundings; in
 * precision single masses are rounded to 2^-24. Energies by multipoles have terms of the same bits in fp64. With fp32
 * forces leaves have twice as many bodies. */
static void expect_energies(const outcome *gpu, const outcome *cpu, precision p) {
  double size = 0;
  for (int k = 0; k < SAMPLES; k++) size = fmax(size, fabs(cpu->energies[1][k]));
  assert_true(size > 0);
  for (int which = 0; which < 2; which++)
    for (int k = 0; k < SAMPLES; k++) {
      const double off = fabs(gpu->energies[which][k] - cpu->energies[which][k]) / size;
      if (!(off < (p == DOUBLE ? 1e-12 : which == 0 ? 1e-3 : p == MIXED ? 1e-12 : 0x1p-22)))
        fail_msg("the energy of sample %d %s is %g off", k, which == 1 ? "by direct sums" : "by multipoles", off);
    }
}

/* Terms of fp64 differ by a few roundings. fp32: roundings of coordinates, 2^-25 of 1, over distances of about 0.01. */
static void test_direct(void **state) {
  (void)state;
  for (int softened = 0; softened < 2; softened++) {
    system_of s = lopsided(softened ? 3000 : 700, 0.3, 0.003 * softened);
    for (precision p = SINGLE; p < PRECISIONS; p++) {
      outcome gpu = on_gpu(&s, p, NULL), cpu = on_cpu(&s, p, NULL);
      const double off = difference(gpu.a, cpu.a, s.n), allowed = p == DOUBLE ? 1e-13 : softened ? 1e-5 : 1e-3;
      print_message("  direct, precision %d: force %.1e, energy %.1e\n", (int)p, off,
                    fabs(gpu.energy / cpu.energy - 1));
      if (!(off < allowed)) fail_msg("precision %d: the forces differ by %g", (int)p, off);
      assert_true(fabs(gpu.energy - cpu.energy) < 1e-12 * fabs(cpu.energy));
      expect_positions(&gpu, &cpu, &s, "a drift");
      discard(&gpu), discard(&cpu);
    }
    drop(&s);
  }
}

/* Bodies in one leaf, few leaves, and many; orders, angles and leaves. */
static void test_multipoles(void **state) {
  (void)state;
  static const int counts[] = {100, 3000, 30000};
  for (int k = 0; k < 3; k++) {
    system_of s = lopsided(counts[k], 7, k == 1 ? 0 : 0.01);
    for (int order = NBODY_FMM_ORDER_MIN; order <= NBODY_FMM_ORDER_MAX; order++) {
      const nbody_fmm_settings settings = {order, k == 1 ? 0.6 : 0.8, 1.5, k == 1 ? 8 : 128};
      outcome cpu = on_cpu(&s, DOUBLE, &settings);
      for (precision p = SINGLE; p < PRECISIONS; p++) {
        outcome gpu = on_gpu(&s, p, &settings);
        const double off = difference(gpu.a, cpu.a, s.n);
        print_message(
            "  %d bodies, order %d, precision %d: measured error %.1e, from the CPU's fp64 %.1e, energy %.1e\n", s.n,
            order, (int)p, gpu.median, off, fabs(gpu.energy / cpu.energy - 1));
        if (p == DOUBLE) expect_same(gpu.a, cpu.a, s.n, "multipoles");
        if (p == DOUBLE) expect_positions(&gpu, &cpu, &s, "a drift");
        assert_true(off < 1e-3);
        /* with fp32 forces the potential has leaves of twice as many bodies */
        assert_true(fabs(gpu.energy - cpu.energy) < (p == DOUBLE ? 1e-12 : 1e-3) * fabs(cpu.energy));
        expect_energies(&gpu, &cpu, p);
        /* measured against direct sums, on both devices */
        if (p == DOUBLE) assert_true(fabs(gpu.median - cpu.median) < 1e-6 + 1e-3 * cpu.median);
        discard(&gpu);
      }
      discard(&cpu);
    }
    drop(&s);
  }
}

/* The same bits for any number of thread blocks. */
static void test_blocks(void **state) {
  (void)state;
  static const int blocks[] = {0, 1, 3};
  const nbody_fmm_settings settings = {5, 0.7, 1.5, 32};
  system_of s = lopsided(20000, 1, 0.001);
  for (precision p = SINGLE; p < PRECISIONS; p++) {
    outcome first = on_gpu(&s, p, &settings);
    for (int k = 0; k < 3; k++) {
      nbody_fmm_cuda_blocks = blocks[k];
      outcome again = on_gpu(&s, p, &settings);
      if (memcmp(again.a, first.a, 3 * (size_t)s.n * sizeof(double)) != 0 || again.energy != first.energy)
        fail_msg("precision %d: other bits with %d thread blocks", (int)p, blocks[k]);
      discard(&again);
    }
    nbody_fmm_cuda_blocks = 0;
    discard(&first);
  }
  drop(&s);
}

/* ---- forces on some bodies ---- */

enum { SUBSTEPS = 4, DEEPEST = 3 };

static uint8_t level_of(int i) { return (uint8_t)(i % 7 == 0 ? 2 + i % 2 : i % 2); }

/* [SUBSTEPS][3][n], 0 for bodies that are no targets: forces on some bodies, which then move by up to 0.1 of the box,
 * some of them through its faces. `all`: by forces on all bodies. */
static void compute_some(const sim_backend *backend, const nbody_solver *solver, const nbody_ops *ops,
                         const system_of *s, precision p, const nbody_fmm_settings *settings, bool all, double *out) {
  const size_t n = (size_t)s->n;
  const bool single = p == SINGLE;
  nbody_options options = options_of(s, p, settings);
  options.individual = true;
  options.levels = DEEPEST;
  uint8_t *level = need(n);
  void *levels, *a;
  for (int i = 0; i < s->n; i++) level[i] = level_of(i);
  nbody_state state = {.n = s->n,
                       .dtype = single ? SIM_F32 : SIM_F64,
                       .mass = put(backend, s->mass, n, single),
                       .position = put(backend, s->position, 3 * n, single),
                       .velocity = put(backend, s->velocity, 3 * n, single)};
  must(backend->alloc(n, &levels));
  must(backend->copy(levels, level, n));
  must(backend->alloc(3 * n * sizeof(double), &a));
  state.acceleration = a;
  nbody_forces forces = {.solver = solver};
  nbody_work *work;
  must(solver->create(&options, &state, &forces.work));
  must(ops->create(&options, &state, forces, &work));
  for (int substep = 0; substep < SUBSTEPS; substep++) {
    nbody_targets targets = {.level = levels, .least = substep == 2 ? 0 : 1 + substep % DEEPEST};
    for (int i = 0; i < s->n; i++) targets.count += level[i] >= targets.least;
    double *const to = out + 3 * n * (size_t)substep;
    if (all) {
      ops->force(work, 0);
      ops->finish(work);
    } else
      solver->accelerate_some(forces.work, &targets);
    if (solver->check != NULL) must(solver->check(forces.work));
    must(backend->copy(to, a, 3 * n * sizeof(double)));
    for (size_t k = 0; k < 3 * n; k++)
      if (level[k % n] < targets.least) to[k] = 0;
    ops->drift(work, 0.2 * s->size);
  }
  ops->destroy(&work);
  solver->destroy(&forces.work);
  void *const arrays[] = {state.mass, state.position, state.velocity, levels, a};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) backend->free(arrays[k]);
  free(level);
}

/* Multipoles: the same as for all bodies, and in fp64 the bits of the CPU. Direct sums: the sums of all in other parts,
 * so that they differ as test_direct allows. */
static void test_some(void **state) {
  (void)state;
  static const int counts[] = {700, 20000};
  const nbody_fmm_settings settings = {5, 0.7, 1.5, 32};
  for (int k = 0; k < 2; k++) {
    system_of s = lopsided(counts[k], 3, 0.02);
    const size_t rows = SUBSTEPS * 3 * (size_t)s.n;
    double *some = need(rows * sizeof *some), *all = need(rows * sizeof *all);
    for (precision p = SINGLE; p < PRECISIONS; p++) {
      const nbody_ops *ops = p == SINGLE ? &nbody_ops_cuda_f32 : &nbody_ops_cuda_f64;
      compute_some(&sim_backend_cuda, &nbody_fmm_cuda, ops, &s, p, &settings, false, some);
      compute_some(&sim_backend_cuda, &nbody_fmm_cuda, ops, &s, p, &settings, true, all);
      expect_same(some, all, SUBSTEPS * s.n, "multipoles for some, beside all");
      if (p == DOUBLE) {
        compute_some(&sim_backend_cpu, &nbody_fmm_cpu, &nbody_ops_cpu_f64, &s, p, &settings, false, all);
        expect_same(some, all, SUBSTEPS * s.n, "multipoles for some");
      }
      compute_some(&sim_backend_cuda, &nbody_direct_periodic_cuda, ops, &s, p, NULL, false, some);
      compute_some(&sim_backend_cuda, &nbody_direct_periodic_cuda, ops, &s, p, NULL, true, all);
      const double off = difference(some, all, SUBSTEPS * s.n);
      print_message("  %d bodies, precision %d: direct sums for some, beside all %.1e\n", s.n, (int)p, off);
      assert_true(off < (p == DOUBLE ? 1e-13 : 1e-5));
    }
    free(some), free(all);
    drop(&s);
  }
}

int main(void) {
  const int missing = gpu_open();
  if (missing != 0) return missing;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_direct), cmocka_unit_test(test_multipoles),
                                     cmocka_unit_test(test_blocks), cmocka_unit_test(test_some)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
