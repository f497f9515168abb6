/* Gravity in a periodic box against exact Ewald sums, computed here separately, and known answers: lattices, Madelung's
 * constant, the same bits, momentum, energy, shifts, restarts. */
#include "kernels/nbody/run.h"
#include "tests/nbody/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static uint64_t drawn = 1;

/* Uniform in (0, 1). */
static double draw(void) {
  drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return ((double)(drawn >> 11) + 0.5) * 0x1p-53;
}

static void *need(size_t bytes) {
  void *out = calloc(1, bytes);
  assert_non_null(out);
  return out;
}

/* ---- exact sums ---- */

/* Adds m times Ewald's sum for unit masses at distance d in a box of edge 1: its negated gradient in d, and its
 * potential, by erf and a splitting length other than the solvers'. With d = 0 the image at 0 is left out. Cut off
 * below 1e-13: erfc(2.2 x 2.5) and exp(-pi^2 x 25 / 2.2^2). Images up to the ninth are softened. The images beyond
 * change the force by 3 h^2 / 9.5^2 x 1.47 d < 0.03 h^2 (lattice.c), and the potential by a constant that diverges, so
 * that the energy of softened bodies is not compared. */
static void add_ewald(const double d[3], double m, double softening, double a[3], double *u) {
  enum { WAVES = 4 };
  const double split = 2.2;
  const int images = softening > 0 ? 9 : 3;
  const bool self = d[0] == 0 && d[1] == 0 && d[2] == 0;
  double force[3] = {0, 0, 0}, value = -pi / (split * split);
  for (int p = -images; p <= images; p++)
    for (int q = -images; q <= images; q++)
      for (int s = -images; s <= images; s++) {
        const double x[3] = {d[0] + p, d[1] + q, d[2] + s}, r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], r = sqrt(r2);
        if (self && r == 0) {
          value -= 2 * split / sqrt(pi);
          continue;
        }
        const double s2 = r2 + softening * softening;
        /* (erfc(split r) - 1) / r + the softened term */
        value += 1 / sqrt(s2) - erf(split * r) / r;
        const double f =
            1 / (s2 * sqrt(s2)) - (erf(split * r) / r - 2 * split / sqrt(pi) * exp(-split * split * r2)) / r2;
        for (int c = 0; c < 3; c++) force[c] += f * x[c];
      }
  for (int p = -WAVES; p <= WAVES; p++)
    for (int q = -WAVES; q <= WAVES; q++)
      for (int s = -WAVES; s <= WAVES; s++) {
        const int square = p * p + q * q + s * s;
        if (square == 0) continue;
        const double k[3] = {2 * pi * p, 2 * pi * q, 2 * pi * s}, k2 = 4 * pi * pi * square;
        const double w = 4 * pi / k2 * exp(-k2 / (4 * split * split)), phase = k[0] * d[0] + k[1] * d[1] + k[2] * d[2];
        value += w * cos(phase);
        for (int c = 0; c < 3; c++) force[c] += w * k[c] * sin(phase);
      }
  for (int c = 0; c < 3; c++) a[c] += m * force[c];
  *u += m * value;
}

/* ---- systems and forces ---- */

typedef struct bodies {
  int n;
  double size, softening;
  double *mass, *x; /* [n], [3][n] */
} bodies;

static bodies take_bodies(int n, double size, double softening) {
  bodies b = {.n = n, .size = size, .softening = softening};
  b.mass = need(7 * (size_t)n * sizeof(double)); /* with velocities, which are not read */
  b.x = b.mass + n;
  for (int i = 0; i < n; i++) b.mass[i] = 1;
  return b;
}

/* Three quarters of the bodies are in one corner of the box, on both sides of its faces. */
static bodies lopsided(int n, double size, double softening) {
  bodies b = take_bodies(n, size, softening);
  for (int i = 0; i < n; i++) {
    b.mass[i] = 0.5 + draw();
    for (int c = 0; c < 3; c++) {
      const double at = i % 4 == 0 ? draw() : 0.9 + 0.2 * draw();
      b.x[c * n + i] = size * (at < 1 ? at : at - 1);
    }
  }
  return b;
}

/* Computes a[3][n] and returns the potential energy. Distances are to the nearest image, for add_ewald's images. */
static double exact(const bodies *b, double *a) {
  const int n = b->n;
  double energy = 0;
  for (int i = 0; i < n; i++) {
    double sum[3] = {0, 0, 0}, u = 0;
    for (int j = 0; j < n; j++) {
      double d[3];
      for (int c = 0; c < 3; c++) {
        d[c] = (b->x[c * n + j] - b->x[c * n + i]) / b->size;
        d[c] -= rint(d[c]);
      }
      add_ewald(d, b->mass[j], b->softening / b->size, sum, &u);
    }
    for (int c = 0; c < 3; c++) a[c * n + i] = sum[c] / (b->size * b->size);
    energy -= 0.5 * b->mass[i] * u / b->size;
  }
  return energy;
}

typedef struct asked {
  const nbody_solver *solver;
  nbody_fmm_settings settings;
  bool single;
  int threads;
  sim_isa isa;
} asked;

static asked direct(void) { return (asked){.solver = &nbody_direct_periodic_cpu, .threads = 2, .isa = sim_isa_best()}; }

static asked multipoles(int order, int leaf) {
  asked how = direct();
  how.solver = &nbody_fmm_cpu;
  how.settings = (nbody_fmm_settings){order, 0.7, 1.5, leaf};
  return how;
}

/* Returns the accelerations [3][n]; the potential energy in *u, unless it is NULL. */
static double *force(const asked *how, const bodies *b, double *u) {
  const nbody_options options = {.n = b->n,
                                 .single_pairs = how->single,
                                 .isa = how->isa,
                                 .threads = how->threads,
                                 .comm = &sim_comm_alone,
                                 .G = 1,
                                 .softening = b->softening,
                                 .box = b->size,
                                 .fmm = how->settings};
  double *a = need(3 * (size_t)b->n * sizeof *a);
  const nbody_state state = {
      .n = b->n, .dtype = SIM_F64, .mass = b->mass, .position = b->x, .velocity = b->x + 3 * b->n, .acceleration = a};
  nbody_solver_work *work;
  nbody_raw_force form;
  assert_int_equal(how->solver->create(&options, &state, &work), SIM_OK);
  if (u != NULL) *u = how->solver->potential(work);
  how->solver->accelerate(work, false, &form);
  if (how->solver->check != NULL) assert_int_equal(how->solver->check(work), SIM_OK);
  how->solver->destroy(&work);
  assert_null(work);
  return a;
}

static double length(const double *a, int n, int i) {
  return sqrt(a[i] * a[i] + a[n + i] * a[n + i] + a[2 * n + i] * a[2 * n + i]);
}

/* Returns the greatest |a - b|, and in *size the root mean square of |b|. */
static double worst(const double *a, const double *b, int n, double *size) {
  double most = 0, square = 0;
  for (int i = 0; i < n; i++) {
    double off = 0;
    for (int c = 0; c < 3; c++) off += pow(a[c * n + i] - b[c * n + i], 2);
    if (!(sqrt(off) <= most)) most = sqrt(off);
    square += pow(length(b, n, i), 2) / n;
  }
  if (size != NULL) *size = sqrt(square);
  return most;
}

/* ---- known answers ---- */

/* A simple cubic lattice has no forces. One body alone has exactly no force, and the energy of its images, 2.837297479
 * / 2 G m^2 / L (B. R. A. Nijboer and F. W. de Wette, Physica 23 (1957) 309; CODATA of the Coulomb lattice). */
static void test_lattice(void **state) {
  (void)state;
  const asked how = direct();
  bodies one = take_bodies(1, 3, 0), b = take_bodies(64, 3, 0);
  double u, *a;
  for (int c = 0; c < 3; c++) one.x[c] = 1.1 + c;
  one.mass[0] = 2;
  a = force(&how, &one, &u);
  for (int c = 0; c < 3; c++) assert_true(a[c] == 0);
  assert_true(fabs(u - 2.837297479480620 / 2 * 4 / 3) < 1e-14 * 10);
  free(a);
  for (int i = 0; i < 64; i++)
    for (int c = 0; c < 3; c++) b.x[c * 64 + i] = (0.1 + (i >> 2 * c & 3)) * 3 / 4;
  a = force(&how, &b, &u);
  /* 63 bodies, each at a node of the table, where its series is exact: rounding of forces of at most (4/3)^2 */
  for (int k = 0; k < 192; k++) assert_true(fabs(a[k]) < 64 * 16.0 / 9 * 0x1p-52 * 10);
  assert_true(fabs(u - 64 * 2.837297479480620 / 2 / 0.75) < 1e-11);
  free(a), free(b.mass), free(one.mass);
}

/* Rock salt, with masses of both signs: each ion has the potential -1.7475645946 / r (O. Emersleben, Math. Nachr. 4
 * (1951) 468). */
static void expect_madelung(const asked *how, double allowed) {
  bodies b = take_bodies(64, 4, 0);
  double u;
  for (int i = 0; i < 64; i++) {
    int parity = 0;
    for (int c = 0; c < 3; c++) {
      const int at = i >> 2 * c & 3;
      b.x[c * 64 + i] = at + 0.25;
      parity += at;
    }
    b.mass[i] = parity % 2 == 0 ? 1 : -1;
  }
  double *a = force(how, &b, &u);
  print_message("  Madelung constant %.10f, error %.1e\n", u / 32, fabs(u / 32 - 1.7475645946331822));
  assert_true(fabs(u / 32 - 1.7475645946331822) < allowed);
  for (int k = 0; k < 192; k++) assert_true(fabs(a[k]) < allowed);
  free(a), free(b.mass);
}

static void test_madelung(void **state) {
  (void)state;
  const asked how = direct();
  expect_madelung(&how, 1e-10);
  const asked lists = multipoles(6, 64); /* one leaf: the lists are exact, and the outer images are multipoles */
  expect_madelung(&lists, 64 * 1e-5);
}

/* Random bodies against exact sums. The series of the table errs by at most 1e-7 G m / L^2 (potential 3e-10 G m / L) a
 * pair, see lattice.h. Errors of pairs have any direction: 10 n^(1/2) of that is a generous bound. fp32: rounding of
 * coordinates near 1 for pairs that may be 0.02 edges apart. */
static void test_exact(void **state) {
  (void)state;
  for (int softened = 0; softened < 2; softened++) {
    const int n = softened ? 30 : 100;
    bodies b = lopsided(n, 7, softened * 0.1);
    double *a = need(3 * (size_t)n * sizeof *a), u, size;
    const double energy = exact(&b, a);
    asked how = direct();
    double *got = force(&how, &b, &u);
    const double off = worst(got, a, n, &size);
    print_message("  direct, softening %g: force error %.1e of rms |a|, %.1e G m / L^2; energy %.1e\n", b.softening,
                  off / size, off * 49, fabs(u / energy - 1));
    assert_true(off * 49 < 10 * sqrt(n) * 1e-7 + n * 0.03 * pow(b.softening / b.size, 2));
    if (!softened) assert_true(fabs(u - energy) * 7 < 10 * n * 3e-10 * sqrt(n));
    how.single = true;
    double *single = force(&how, &b, NULL);
    const double rounded = worst(single, a, n, NULL);
    print_message("  fp32: %.1e of rms |a|\n", rounded / size);
    assert_true(rounded > off && rounded / size < 1e-4);
    free(single), free(got), free(a), free(b.mass);
  }
}

/* The negative gradient of the potential energy is the force, to the error of the table, for differences over 1e-4. */
static void test_gradient(void **state) {
  (void)state;
  const int n = 50;
  const double by = 1e-4;
  bodies b = lopsided(n, 1, 0.05);
  const asked how = direct();
  double *a = force(&how, &b, NULL), off = 0;
  for (int c = 0; c < 3; c++) {
    double u[2];
    for (int side = 0; side < 2; side++) {
      b.x[c * n] += side == 0 ? by : -2 * by;
      free(force(&how, &b, &u[side]));
    }
    b.x[c * n] += by;
    off = fmax(off, fabs(b.mass[0] * a[c * n] + (u[0] - u[1]) / (2 * by)));
  }
  /* (by / h)^2 of the force, for bodies about h apart; twice 50 x 1e-7 of the table */
  print_message("  force and energy: %.1e of %.1e\n", off, b.mass[0] * length(a, n, 0));
  assert_true(off < 4e-6 * b.mass[0] * length(a, n, 0) + 1e-5);
  free(a), free(b.mass);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Returns the median of |a - b| / |b|. */
static double median_error(const double *a, const double *b, int n) {
  double *error = need((size_t)n * sizeof *error);
  for (int i = 0; i < n; i++) {
    double square = 0;
    for (int c = 0; c < 3; c++) square += pow(a[c * n + i] - b[c * n + i], 2);
    error[i] = sqrt(square) / length(b, n, i);
  }
  qsort(error, (size_t)n, sizeof *error, ascending);
  const double out = error[n / 2];
  free(error);
  return out;
}

/* Multipoles against direct sums: the median of |da| / |a| falls with the order as in open space, by more than 2 an
 * order. With leaves of 8 bodies no cube of the outer images contains them. With fewer bodies than a leaf holds, the
 * lists are exact and only the outer images err, by 1e-5 G m / L^2 a pair at most. */
static void test_multipoles(void **state) {
  (void)state;
  static const double allowed[] = {7e-3, 2.8e-3, 1.1e-3, 5e-4}; /* twice the errors of the first run */
  bodies few = lopsided(60, 3, 0.03), b = lopsided(4000, 3, 0.003);
  const asked pairs = direct();
  double *exactly = need(180 * sizeof *exactly), size, u, v, before = INFINITY;
  exact(&few, exactly);
  double *reference = force(&pairs, &b, &v);
  for (int order = NBODY_FMM_ORDER_MIN; order <= NBODY_FMM_ORDER_MAX; order++) {
    asked how = multipoles(order, 64);
    double *a = force(&how, &few, NULL);
    const double off = worst(a, exactly, few.n, &size);
    print_message("  60 bodies in a leaf, order %d: %.1e G m / L^2, %.1e of rms |a|\n", order, off * 9, off / size);
    assert_true(off * 9 < 60 * 1e-5 + 60 * 0.03 * 1e-4);
    free(a);
    how = multipoles(order, 8);
    a = force(&how, &b, &u);
    const double median = median_error(a, reference, b.n);
    print_message("  4000 bodies, order %d: median %.1e; energy %.1e\n", order, median, fabs(u / v - 1));
    assert_true(median < allowed[order - NBODY_FMM_ORDER_MIN] && 2 * median < before);
    assert_true(fabs(u / v - 1) < median);
    before = median;
    free(a);
    how.single = true; /* coordinates near 1 are rounded by 2^-25, and distances are 0.01; order 6 without rank 5 */
    a = force(&how, &b, NULL);
    const double single = median_error(a, reference, b.n);
    print_message("  the same in fp32: median %.1e\n", single);
    assert_true(single < (order == 6 ? 1.3 : 1) * median + 1e-5);
    free(a);
  }
  free(exactly), free(reference), free(few.mass), free(b.mass);
}

/* Potential energy by multipoles of order 6; with a state in fp32, or the same numbers in fp64. */
static double energy_of(const bodies *b, bool state_in_fp32) {
  const size_t n = (size_t)b->n;
  const nbody_options options = {.n = b->n,
                                 .single_pairs = true,
                                 .isa = sim_isa_best(),
                                 .threads = 2,
                                 .comm = &sim_comm_alone,
                                 .G = 1,
                                 .softening = b->softening,
                                 .box = b->size,
                                 .fmm = multipoles(6, 64).settings};
  float *single = need(4 * n * sizeof *single);
  double *a = need(3 * n * sizeof *a);
  for (size_t k = 0; k < n; k++) single[k] = (float)b->mass[k];
  for (size_t k = 0; k < 3 * n; k++) single[n + k] = (float)b->x[k];
  nbody_state state = {.n = b->n, .dtype = SIM_F64, .mass = b->mass, .position = b->x, .acceleration = a};
  if (state_in_fp32) state.dtype = SIM_F32, state.mass = single, state.position = single + n;
  nbody_solver_work *work;
  assert_int_equal(nbody_fmm_cpu.create(&options, &state, &work), SIM_OK);
  const double out = nbody_fmm_cpu.potential(work);
  assert_int_equal(nbody_fmm_cpu.check(work), SIM_OK);
  nbody_fmm_cpu.destroy(&work);
  free(single), free(a);
  return out;
}

/* A lattice of 12^3 bodies, where the potentials of all images cancel to some 10^-3 of themselves: a state in fp32 has
 * the energy of the same numbers in fp64. */
static void test_energy_of_single(void **state) {
  (void)state;
  bodies b = take_bodies(1728, 1, 1e-3);
  for (int i = 0; i < b.n; i++) {
    const int at[3] = {i / 144, i / 12 % 12, i % 12};
    b.mass[i] = 0x1p-10;
    for (int c = 0; c < 3; c++) b.x[c * b.n + i] = (float)((at[c] + 0.5) / 12);
  }
  const double u = energy_of(&b, true), should = energy_of(&b, false);
  print_message("  energy %.12g, in fp64 %.12g\n", u, should);
  assert_true(u == should);
  free(b.mass);
}

/* The same bits for any threads and instruction sets; momentum to rounding. */
static void test_bits(void **state) {
  (void)state;
  const int n = 333;
  bodies b = lopsided(n, 1, 0.01);
  asked how = multipoles(4, 16);
  double *first = NULL, sum[3] = {0}, scale = 0;
  for (int solver = 0; solver < 2; solver++) {
    free(first);
    first = force(&how, &b, NULL);
    for (how.threads = 1; how.threads <= 3; how.threads++)
      for (int isa = SIM_ISA_PLAIN; isa <= (int)sim_isa_best(); isa++) {
        how.isa = (sim_isa)isa;
        double *a = force(&how, &b, NULL);
        assert_memory_equal(a, first, 3 * (size_t)n * sizeof *a);
        free(a);
      }
    how = direct();
  }
  for (int i = 0; i < n; i++) {
    for (int c = 0; c < 3; c++) sum[c] += b.mass[i] * first[c * n + i];
    scale += b.mass[i] * length(first, n, i);
  }
  /* the table is even in each axis, so that forces of a pair are opposite except for the rounding of d */
  for (int c = 0; c < 3; c++) assert_true(fabs(sum[c]) < 1e-13 * scale);
  free(first), free(b.mass);
}

/* Another origin of the box changes forces only by rounding: coordinates change by 2^-53, and distances may be 0.002.
 */
static void test_shift(void **state) {
  (void)state;
  const int n = 200;
  bodies b = lopsided(n, 1, 0.01), moved = take_bodies(n, 1, 0.01);
  const double by[3] = {0.3, 0.77, 0.5};
  double size;
  for (int i = 0; i < n; i++) {
    moved.mass[i] = b.mass[i];
    for (int c = 0; c < 3; c++) moved.x[c * n + i] = fmod(b.x[c * n + i] + by[c], 1);
  }
  const asked how = direct();
  double u, v, *first = force(&how, &b, &u), *second = force(&how, &moved, &v);
  /* a distance may fall on another node of the table */
  assert_true(worst(second, first, n, &size) < 3 * sqrt(n) * 1e-7 * 10);
  print_message("  a shift: %.1e of rms |a|\n", worst(second, first, n, NULL) / size);
  assert_true(fabs(u - v) < 1e-9 * fabs(u));
  free(first), free(second), free(b.mass), free(moved.mass);
}

/* ---- runs ---- */

/* A ball of bodies that collapses while it crosses two faces and then an edge of the box. */
static nbody_uniform_sphere ball;

static driver make_run(driver_place place, int solver, double dt) {
  driver d = driver_make(place, NBODY_LEAPFROG, dt, 0.5, 0.05);
  d.parameters.box = (nbody_box){.given = true, .size = 1};
  d.parameters.gravity.solver = solver;
  ball = (nbody_uniform_sphere){
      .group = {.position = {0.95, 0.5, 0.02}, .velocity = {0.5, 1.5, -0.2}}, .n = 200, .mass = 0.1, .radius = 0.25};
  driver_add(&d, &nbody_uniform_sphere_schema, &ball);
  return d;
}

static void expect_inside(driver *d) {
  for (int64_t i = 0; i < 200; i++)
    for (int c = 0; c < 3; c++) {
      const double x = driver_get(d, "position", c, i);
      assert_true(x >= 0 && x < 1);
    }
}

/* Returns the energy error of a run of direct sums. Momentum is conserved to rounding, and there is no centre of mass.
 */
static double energy_error(driver_place place, double dt) {
  driver d = make_run(place, NBODY_DIRECT, dt);
  driver_create(&d);
  const double before = driver_value(&d, "energy", "total");
  expect_inside(&d);
  driver_run(&d);
  expect_inside(&d);
  const double after = driver_value(&d, "energy", "total");
  /* fp32: the momentum 0.15 of 200 bodies, rounded once a step */
  const double allowed = place.precision == SIM_SINGLE ? 0.15 * 0x1p-24 * 64 : 1e-6;
  assert_true(fabs(driver_value(&d, "energy", "momentum_y") - 0.15) < allowed);
  assert_true(isnan(driver_value(&d, "energy", "centre_x")) && isnan(driver_value(&d, "lagrangian", "r50")));
  driver_destroy(&d);
  return fabs(after - before);
}

/* Kinetic energies of the collapse are some 0.01. Leapfrog: a quarter of the error for half the step. */
static void expect_energy(driver_place place) {
  const double coarse = energy_error(place, 0x1p-6), fine = energy_error(place, 0x1p-7);
  print_message("    energy errors %.1e, %.1e\n", coarse, fine);
  assert_true(coarse < 1e-4 && (place.precision == SIM_SINGLE || (fine < coarse / 3 && fine > coarse / 5)));
}

static void test_energy(void **state) {
  (void)state;
  driver_everywhere(expect_energy);
}

/* Stopped and continued, with another number of threads: the same bits. */
static void expect_restart(driver_place place) {
  for (int solver = NBODY_DIRECT; solver <= NBODY_FMM; solver++) {
    char whole[33], resumed[33];
    driver d = make_run(place, solver, 0x1p-6);
    driver_create(&d);
    driver_run(&d);
    driver_digest(&d, whole);
    driver_destroy(&d);
    d = make_run(place, solver, 0x1p-6);
    d.setup.threads = 1;
    driver_create(&d);
    for (int k = 0; k < 13; k++) driver_step(&d);
    driver_frame kept;
    driver_keep(&d, &kept);
    driver_destroy(&d);
    d = make_run(place, solver, 0x1p-6);
    driver_restore(&d, &kept.frame);
    driver_run(&d);
    driver_digest(&d, resumed);
    driver_destroy(&d);
    assert_string_equal(whole, resumed);
    int64_t count; /* positions must be inside the box */
    assert_int_equal(nbody_saved_check(&d.parameters.integrate, 1, &kept.frame, &count), SIM_OK);
    assert_int_equal(nbody_saved_check(&d.parameters.integrate, 0.1, &kept.frame, &count), SIM_ERR_INCOMPATIBLE);
    driver_frame_free(&kept);
  }
}

static void test_restart(void **state) {
  (void)state;
  driver_everywhere(expect_restart);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lattice),    cmocka_unit_test(test_madelung), cmocka_unit_test(test_exact),
      cmocka_unit_test(test_multipoles), cmocka_unit_test(test_gradient), cmocka_unit_test(test_energy_of_single),
      cmocka_unit_test(test_bits),       cmocka_unit_test(test_shift),    cmocka_unit_test(test_energy),
      cmocka_unit_test(test_restart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
