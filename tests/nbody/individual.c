/* Individual steps: forces on some bodies, the same steps and bits as of shared steps where all bodies have one level,
 * binaries with steps of their own, order 2, the same bits for any threads, instruction set and restart; in fp64
 * multipoles on every device. tests/parity tests forces on some bodies on a GPU. */
#include "tests/nbody/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* 40 bodies take the tiles; the reference form is for fewer than 32. */
enum { FEW = 20, SMALL = 40, LARGE = 1500, SAME = 1000 };

static driver_place on_cpu(sim_precision precision) { return (driver_place){&sim_backend_cpu, precision}; }
/* Individual steps in a periodic box are on the CPU alone. */
static bool on_the_cpu(driver_place place) { return place.backend->kind == SIM_BACKEND_CPU; }

static driver make(driver_place place, nbody_method method, int n, double dt, double t_end, int levels, double eta) {
  static nbody_sphere groups[2];
  driver d = driver_make(place, NBODY_LEAPFROG, dt, t_end, 0.02);
  d.parameters.gravity.solver = method;
  d.parameters.gravity.error = d.parameters.gravity.error_tail = NAN;
  d.parameters.integrate.steps = levels >= 0 ? NBODY_INDIVIDUAL : NBODY_SHARED;
  d.parameters.integrate.levels = levels >= 0 ? levels : SIM_INT_KEYWORD;
  d.parameters.integrate.eta = levels >= 0 ? eta : NAN;
  for (int g = 0; g < 2; g++) {
    groups[g] = (nbody_sphere){
        .group = {.position = {3 * g, 0, 0}}, .n = n / 2, .mass = 1, .radius = g == 0 ? 0.1 : 1, .cutoff = NAN};
    driver_add(&d, &nbody_plummer_schema, &groups[g]);
  }
  return d;
}

static void put_in_box(driver *d, double size) {
  if (size > 0) d->parameters.box = (nbody_box){.given = true, .size = size};
}

/* Copies positions and velocities at the end. */
static void state_of(driver *d, double *out) {
  const int64_t n = driver_count(d);
  for (int c = 0; c < 3; c++)
    for (int64_t i = 0; i < n; i++) {
      out[c * n + i] = driver_get(d, "position", c, i);
      out[(3 + c) * n + i] = driver_get(d, "velocity", c, i);
    }
}

/* ---- all bodies on one level ---- */

/* eta = 1 and a short dt put all bodies at level 0; a tiny eta puts all at the deepest level. */
static void one_level(driver_place place) {
  static double expected[6 * LARGE], got[6 * LARGE];
  static const struct {
    nbody_method method;
    int n;
    double box; /* the centre of a group is in a corner */
  } cases[] = {{NBODY_DIRECT, FEW, 0}, {NBODY_DIRECT, SMALL, 0}, {NBODY_DIRECT, LARGE, 0},
               {NBODY_FMM, LARGE, 0},  {NBODY_DIRECT, SMALL, 8}, {NBODY_FMM, LARGE, 8}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    if (cases[k].box > 0 && (place.precision == SIM_MIXED || !on_the_cpu(place))) continue;
    const double dt = 0x1p-10, t_end = 4 * dt;
    driver shared = make(place, cases[k].method, cases[k].n, dt, t_end, -1, NAN);
    driver top = make(place, cases[k].method, cases[k].n, dt, t_end, 5, 1);
    driver bottom = make(place, cases[k].method, cases[k].n, 4 * dt, t_end, 2, 1e-6);
    driver *const runs[] = {&shared, &top, &bottom};
    for (int r = 0; r < 3; r++) {
      put_in_box(runs[r], cases[k].box);
      driver_create(runs[r]);
      driver_run(runs[r]);
      state_of(runs[r], r == 0 ? expected : got);
      if (r > 0) assert_memory_equal(got, expected, (size_t)(6 * cases[k].n) * sizeof *got);
    }
    assert_true(driver_value(&top, "levels", "level_0") == cases[k].n);
    assert_true(driver_value(&bottom, "levels", "level_2") == cases[k].n);
    for (int r = 0; r < 3; r++) driver_destroy(runs[r]);
  }
}

static void test_one_level(void **state) {
  (void)state;
  driver_everywhere(one_level);
}

/* ---- forces on some bodies ---- */

typedef struct system {
  int n;
  double *mass, *x, *a;
  uint8_t *level;
  nbody_options options;
  nbody_state state;
} system_of;

/* Returns the bodies of `make`, with levels 0 to 3 in turn. */
static system_of take_system(int n, double box, bool single, int threads, sim_isa isa) {
  system_of s = {.n = n};
  driver d = make(on_cpu(SIM_DOUBLE), NBODY_DIRECT, n, 1, 1, -1, NAN);
  put_in_box(&d, box);
  driver_create(&d);
  s.mass = calloc(10 * (size_t)n, sizeof *s.mass);
  s.level = calloc((size_t)n, 1);
  assert_true(s.mass != NULL && s.level != NULL);
  s.x = s.mass + n;
  s.a = s.x + 6 * n;
  for (int i = 0; i < n; i++) {
    s.mass[i] = driver_get(&d, "mass", 0, i);
    for (int c = 0; c < 3; c++) s.x[c * n + i] = driver_get(&d, "position", c, i);
    for (int c = 0; c < 3; c++) s.x[(3 + c) * n + i] = driver_get(&d, "velocity", c, i);
    s.level[i] = (uint8_t)(i % 4);
  }
  driver_destroy(&d);
  s.options = (nbody_options){.n = n,
                              .single_pairs = single,
                              .individual = true,
                              .levels = 3,
                              .isa = isa,
                              .threads = threads,
                              .comm = &sim_comm_alone,
                              .G = 1,
                              .softening = 0.02,
                              .box = box,
                              .fmm = {5, 0.7, 1.5, 16}};
  s.state = (nbody_state){
      .n = n, .dtype = SIM_F64, .mass = s.mass, .position = s.x, .velocity = s.x + 3 * n, .acceleration = s.a};
  return s;
}

static void drop_system(system_of *s) { free(s->mass), free(s->level); }

static nbody_targets targets_of(const system_of *s, int least) {
  nbody_targets out = {.level = s->level, .least = least};
  for (int i = 0; i < s->n; i++) out.count += s->level[i] >= least;
  return out;
}

/* Returns the mean of |difference| / |exact| over the bodies of level >= least. */
static double mean(const system_of *s, const double *some, const double *exact, int least) {
  double out = 0, count = 0;
  for (int i = 0; i < s->n; i++) {
    double d2 = 0, a2 = 0;
    for (int k = i; k < 3 * s->n; k += s->n) d2 += pow(some[k] - exact[k], 2), a2 += exact[k] * exact[k];
    if (s->level[i] >= least) out += sqrt(d2 / a2), count++;
  }
  return out / count;
}

/* Returns the greatest |difference| / |all| over the bodies of level >= least. */
static double worst(const system_of *s, const double *some, const double *all, int least) {
  double out = 0;
  for (int i = 0; i < s->n; i++) {
    double d2 = 0, a2 = 0;
    for (int k = i; k < 3 * s->n; k += s->n) d2 += pow(some[k] - all[k], 2), a2 += all[k] * all[k];
    if (s->level[i] >= least) out = fmax(out, sqrt(d2 / a2));
  }
  return out;
}

/* Multipoles: a tree that has just been built, or refitted to the same positions, gives the bits of the force on all
 * bodies. Direct sums add in another order. They are sums of 1500 terms, whose sizes exceed the sum by up to 100 near
 * the centre of a group. Roundings of a term (fp32: 2^-22, rows of 256 in fp32) add up at random: 100 sqrt(1500) 2^-24,
 * or 2^-52 in fp64. */
static void expect_some_forces(const nbody_solver *solver, int n, double box, bool single, bool same) {
  static double all[3 * LARGE];
  system_of s = take_system(n, box, single, 2, sim_isa_best());
  nbody_solver_work *work;
  nbody_raw_force form;
  assert_int_equal(solver->create(&s.options, &s.state, &work), SIM_OK);
  solver->accelerate(work, false, &form);
  memcpy(all, s.a, 3 * (size_t)n * sizeof *all);
  const double rounding = same ? 0 : 100 * sqrt(n) * (single ? 0x1p-24 : 0x1p-52);
  for (int least = 1; least <= 3; least++) {
    const nbody_targets targets = targets_of(&s, least);
    for (int k = 0; k < 3 * n; k++) s.a[k] = NAN;
    solver->accelerate_some(work, &targets);
    const double error = worst(&s, s.a, all, least);
    if (!(error <= rounding)) fail_msg("%s, box %g, single %d, n %d: %g", solver->name, box, single, n, error);
  }
  const nbody_targets none = {.level = s.level, .least = 4};
  for (int k = 0; k < 3 * n; k++) s.a[k] = 7;
  solver->accelerate_some(work, &none); /* few bodies: sums over all of them */
  for (int k = 0; k < 3 * n && !same && n >= LARGE; k++) assert_true(s.a[k] == 7);
  solver->destroy(&work);
  drop_system(&s);
}

static void test_some_forces(void **state) {
  (void)state;
  for (int single = 0; single < 2; single++)
    for (int n = FEW; n <= LARGE; n = n == FEW ? SMALL : n == SMALL ? LARGE : n + 1) {
      expect_some_forces(&nbody_direct_cpu, n, 0, single, false);
      expect_some_forces(&nbody_fmm_cpu, n, 0, single, true);
      if (n > FEW && n < SMALL) continue;
      expect_some_forces(&nbody_direct_periodic_cpu, n, 8, single, true);
      expect_some_forces(&nbody_fmm_cpu, n, 8, single, true);
    }
}

/* A kept tree of bodies that have moved through many leaves has the error of a new tree, on the average of 750 bodies.
 * With larger radii fewer cells are accepted, at the same angle. */
static void test_moved_tree(void **state) {
  (void)state;
  static double exact[3 * LARGE];
  system_of s = take_system(LARGE, 0, false, 2, sim_isa_best());
  nbody_solver_work *direct, *kept, *anew;
  nbody_raw_force form;
  const nbody_targets targets = targets_of(&s, 2);
  assert_int_equal(nbody_direct_cpu.create(&s.options, &s.state, &direct), SIM_OK);
  assert_int_equal(nbody_fmm_cpu.create(&s.options, &s.state, &kept), SIM_OK);
  assert_int_equal(nbody_fmm_cpu.create(&s.options, &s.state, &anew), SIM_OK);
  double differing = 0;
  for (int substep = 0; substep < 40; substep++) {
    nbody_direct_cpu.accelerate(direct, false, &form);
    memcpy(exact, s.a, sizeof exact);
    nbody_fmm_cpu.accelerate(anew, false, &form);
    const double expected = mean(&s, s.a, exact, 2);
    nbody_fmm_cpu.accelerate_some(kept, &targets);
    assert_int_equal(nbody_fmm_cpu.check(kept), SIM_OK);
    const double error = mean(&s, s.a, exact, 2);
    if (!(error < 2 * expected)) fail_msg("substep %d: %g, with a new tree %g", substep, error, expected);
    differing += error != expected;
    for (int k = 0; k < 3 * LARGE; k++) s.x[k] += 0.02 * s.x[3 * LARGE + k];
  }
  /* Trees are new at substeps 0, 16 and 32. */
  assert_true(differing == 37);
  nbody_direct_cpu.destroy(&direct);
  nbody_fmm_cpu.destroy(&kept);
  nbody_fmm_cpu.destroy(&anew);
  drop_system(&s);
}

/* ---- two binaries ---- */

/* Adds two bodies on circular orbits of separation s about a common centre at x. */
static void add_binary(driver *d, nbody_body two[2], double x, double s) {
  const double v = sqrt(1 / s) / 2;
  for (int k = 0; k < 2; k++) {
    const double side = k == 0 ? 0.5 : -0.5;
    two[k] = (nbody_body){.group = {.position = {x + side * s, 0, 0}, .velocity = {0, 2 * side * v, 0}}, .mass = 0.5};
    driver_add(d, &nbody_body_schema, &two[k]);
  }
}

enum { TIGHT_LEVEL = 6, WIDE_LEVEL = 1 };

/* Computes the separation vectors of both binaries at the end, [binary][component]. levels < 0: shared steps. */
static void binaries(driver_place place, double dt, int levels, double out[2][2], double *energy_error,
                     double *forces) {
  nbody_body tight[2], wide[2];
  driver d = driver_make(place, NBODY_LEAPFROG, dt, 4, 1e-3);
  d.parameters.integrate.steps = levels >= 0 ? NBODY_INDIVIDUAL : NBODY_SHARED;
  d.parameters.integrate.levels = levels >= 0 ? levels : SIM_INT_KEYWORD;
  d.parameters.integrate.eta = levels >= 0 ? 0.2 : NAN;
  add_binary(&d, tight, -50, 0.02);
  add_binary(&d, wide, 50, 0.5);
  driver_create(&d);
  driver_run(&d);
  for (int b = 0; b < 2; b++)
    for (int c = 0; c < 2; c++)
      out[b][c] = driver_get(&d, "position", c, 2 * b) - driver_get(&d, "position", c, 2 * b + 1);
  *energy_error = fabs(driver_value(&d, "energy", "error"));
  if (levels >= 0) {
    assert_true(driver_value(&d, "levels", "level_6") == 2 && driver_value(&d, "levels", "level_1") == 2);
    *forces = nbody_model.work_done(d.self, (double)d.clock.step) * 4;
  }
  driver_destroy(&d);
}

/* Accelerations within the binaries are 0.5 / s^2 = 1250 and 2, so that eta sqrt(eps / |a|) = 1.79e-4 and 4.47e-3: the
 * sixth and the first halving of dt = 2^-7. Each binary then moves as in a run with its own step. Over a distance of
 * 100 the other binary acts on a separation by its tide, 0.02 / 100^3 = 2e-8. The other's step changes less than 1e-3
 * of that, over t^2 / 2 = 8 and stretched by at most the 250 turns of the phase: 1e-7. A step of twice the length would
 * change the phase by (omega h)^2 omega t / 24, 0.5 for the tight and 3e-4 for the wide binary. */
static void two_binaries(driver_place place) {
  const double dt = 0x1p-7;
  double individual[2][2], shared[2][2], forces, error, fine_error, coarse_error;
  binaries(place, dt, 10, individual, &error, &forces);
  binaries(place, ldexp(dt, -TIGHT_LEVEL), -1, shared, &fine_error, NULL);
  for (int c = 0; c < 2; c++) assert_true(fabs(individual[0][c] - shared[0][c]) < 1e-7);
  binaries(place, ldexp(dt, -WIDE_LEVEL), -1, shared, &coarse_error, NULL);
  for (int c = 0; c < 2; c++) assert_true(fabs(individual[1][c] - shared[1][c]) < 1e-7);
  /* The tight binary has 12.5 of the energy 12.75; the wide binary's step has the same phase. */
  print_message("    energy error %.2g, with the short step for all %.2g, with the long one %.2g\n", error, fine_error,
                coarse_error);
  assert_true(error < 2 * fine_error + 1e-9);
  assert_true(coarse_error > 100 * error);
  /* 2 bodies with 64 forces and 2 with 2 forces a step, 512 steps; with the short step for all it would be 4 x 64 x 512
   */
  assert_true(forces == 512 * (2 * 64 + 2 * 2));
}

static void test_two_binaries(void **state) {
  (void)state;
  driver_everywhere_in(SIM_DOUBLE, two_binaries);
}

/* ---- order ---- */

/* Returns the root mean square difference of positions from `fine`; positions and velocities in *out. */
static double error_of(driver_place place, int halvings, const double *fine, double *out) {
  static double now[6 * SMALL];
  driver d = make(place, NBODY_DIRECT, SMALL, ldexp(0x1p-5, -halvings), 0.25, 10, ldexp(0.2, -halvings));
  double sum = 0;
  driver_create(&d);
  driver_run(&d);
  state_of(&d, now);
  for (int k = 0; fine != NULL && k < 3 * SMALL; k++) sum += pow(now[k] - fine[k], 2);
  if (out != NULL) memcpy(out, now, sizeof now);
  driver_destroy(&d);
  return sqrt(sum / SMALL);
}

/* Halving dt and eta quarters the error. The reference has a 64th of the last error, which adds up to 0.02 to the order
 * over two halvings. Levels that change at other times make the error uneven, by a tenth of it. */
static void order_two(driver_place place) {
  static double fine[6 * SMALL];
  double error[3];
  (void)error_of(place, 7, NULL, fine);
  for (int k = 0; k < 3; k++) error[k] = error_of(place, 2 + k, fine, NULL);
  const double order = log2(error[0] / error[2]) / 2;
  print_message("    errors %.3g %.3g %.3g: order %.2f\n", error[0], error[1], error[2], order);
  assert_true(fabs(order - 2) < 0.1);
}

static void test_order(void **state) {
  (void)state;
  driver_everywhere_in(SIM_DOUBLE, order_two);
}

/* ---- the same bits ---- */

/* Stops and continues after each of the steps with a bit in `cuts`. */
static void run_digest(driver d, unsigned cuts, char digest[33]) {
  driver_create(&d);
  while (d.clock.t < d.clock.t_end) {
    driver_step(&d);
    if (cuts >> d.clock.step & 1) {
      driver_frame kept;
      driver_keep(&d, &kept);
      driver_destroy(&d);
      driver_restore(&d, &kept.frame);
      driver_frame_free(&kept);
    }
    (void)driver_value(&d, "levels", "level_0"); /* reading it changes nothing */
    if (d.clock.step % 2) (void)driver_value(&d, "energy", "total");
  }
  driver_digest(&d, digest);
  driver_destroy(&d);
}

/* Each run differs from the first in all: threads, instruction set (in double), and the second also by a restart and
 * one right after it. */
static void same_bits(driver_place place) {
  static const int threads[] = {1, 2, 7};
  static const sim_isa isas[] = {SIM_ISA_AVX512, SIM_ISA_PLAIN, SIM_ISA_AVX2}; /* or the best one below */
  const bool cpu = on_the_cpu(place);
  for (int k = 0; k < 4; k++) {
    char expected[33], got[33];
    const nbody_method method = k % 2 == 0 ? NBODY_DIRECT : NBODY_FMM;
    const bool box = k >= 2;
    if (box && (place.precision == SIM_MIXED || !cpu)) continue;
    driver d = make(place, method, box ? 300 : SAME, 0x1p-6, 3.5 * 0x1p-6, 8, 0.1);
    put_in_box(&d, box ? 8 : 0);
    for (int r = 0; r < (cpu ? 3 : 2); r++) {
      d.setup.threads = threads[r];
      if (cpu && place.precision == SIM_DOUBLE) d.setup.isa = isas[r] < sim_isa_best() ? isas[r] : sim_isa_best();
      run_digest(d, r == 1 ? 0xc : 0, r == 0 ? expected : got);
      if (r > 0 && strcmp(got, expected) != 0)
        fail_msg("method %d, box %d, %d threads, instruction set %d: other bits", method, box, threads[r], d.setup.isa);
    }
  }
}

static void test_same_bits(void **state) {
  (void)state;
  driver_everywhere(same_bits);
}

/* Multipoles in fp64: the bodies of a run have the same bits on all devices. */
static void on_all_devices(driver_place place) {
  static double expected[6 * LARGE], got[6 * LARGE];
  if (on_the_cpu(place)) return;
  for (int n = LARGE - 500; n <= LARGE; n += 500) {
    driver d = make(place, NBODY_FMM, n, 0x1p-6, 3 * 0x1p-6, 8, 0.1), of = d;
    of.setup.backend = &sim_backend_cpu;
    driver *const runs[] = {&of, &d};
    for (int r = 0; r < 2; r++) {
      driver_create(runs[r]);
      driver_run(runs[r]);
      state_of(runs[r], r == 0 ? expected : got);
      driver_destroy(runs[r]);
    }
    for (int k = 0; k < 6 * n; k++)
      if (memcmp(&got[k], &expected[k], sizeof *got) != 0)
        fail_msg("component %d of %d bodies: %.17g, on the CPU %.17g", k, n, got[k], expected[k]);
  }
}

static void test_devices(void **state) {
  (void)state;
  driver_everywhere_in(SIM_DOUBLE, on_all_devices);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_level),  cmocka_unit_test(test_some_forces),
                                     cmocka_unit_test(test_moved_tree), cmocka_unit_test(test_two_binaries),
                                     cmocka_unit_test(test_order),      cmocka_unit_test(test_same_bits),
                                     cmocka_unit_test(test_devices)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
