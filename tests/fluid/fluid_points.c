/* Grains that are points with a law of drag: the law, speeds of settling, what is kept, and the bits on other threads
 * and after a restart. */
#include "tests/fluid/driver.h"

#include "kernels/fluid/grains/points.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void near_to(double got, double expected, double tolerance, const char *what) {
  if (!(fabs(got - expected) <= tolerance))
    fail_msg("%s: got %.9g, expected %.9g within %.1e (off by %.2e)", what, got, expected, tolerance, got - expected);
}

/* Coefficients of drag of spheres as measured (Clift, Grace and Weber, Bubbles, Drops and Particles (1978), table 5.2):
 * the law is within 5 % of them. Di Felice's exponent is that of Richardson and Zaki, Trans. Inst. Chem. Eng. 32 (1954)
 * 35, at both ends: speeds fall as (1 - solid)^4.65 in Stokes flow and ^2.39 at Re 1000. */
static void test_law(void **state) {
  (void)state;
  static const double measured[][2] = {{0.1, 244}, {1, 27.2}, {10, 4.26}, {100, 1.09}, {1000, 0.46}};
  for (int i = 0; i < 5; i++) {
    const double re = measured[i][0], drag = 24 / re * fluid_drag_factor(FLUID_SCHILLER_NAUMANN, re, 0.3);
    near_to(drag / measured[i][1], 1, 0.05, "coefficient of drag");
  }
  near_to(fluid_drag_factor(FLUID_SCHILLER_NAUMANN, 1e5, 0) * 24 / 1e5, 0.44, 1e-12, "above 1000");
  near_to(log(fluid_drag_factor(FLUID_DI_FELICE, 0, 0.2)) / -log(0.8), 4.65, 0.1, "exponent in Stokes flow");
  const double fast = fluid_drag_factor(FLUID_DI_FELICE, 1e4, 0.2) / fluid_drag_factor(FLUID_DI_FELICE, 1e4, 0);
  near_to(log(fast) / -log(0.8) / 2, 2.39, 0.06, "exponent of fast grains");
}

/* The share is 1 of a slow kernel alone, and falls as Oseen's drag grows: by 3/8 sqrt(pi) s v/nu. */
static void test_own_share(void **state) {
  (void)state;
  near_to(fluid_own_share(0), 1, 1e-12, "share at rest");
  near_to((1 - fluid_own_share(1e-3)) / 1e-3, 3 * sqrt(pi) / 8, 2e-3, "share of a slow one");
  for (int k = 1; k < 5; k++) {
    double sum = 0; /* by the rule of the midpoint in c */
    for (int i = 0; i < 100000; i++) {
      const double c = (i + 0.5) / 100000, x = 0.5 * k * k * c;
      sum += 1.5 * (1 - c * c) * (x < 6 ? 1 - sqrt(pi) * x * exp(x * x) * erfc(x) : 1 / (2 * x * x)) / 100000;
    }
    near_to(fluid_own_share(0.5 * k * k), sum, 1e-3, "share");
  }
  /* Scattering of hard spheres at k = 0 by Percus and Yevick, (1 - p)^4/(1 + 2 p)^2, is 4 % lower at p = 0.3. */
  near_to(fluid_crowd_share(0), 1, 1e-15, "share alone");
  near_to(fluid_crowd_share(0.1) / (0.6561 / 1.44), 1, 0.005, "share among others");
  near_to(fluid_crowd_share(0.3) / (0.2401 / 2.56), 1, 0.05, "share among many");
}

/* ---- speeds of settling ---- */

typedef struct settling {
  const char *law;
  double radius, viscosity, reynolds;
  int n;
  const char *more; /* keys */
} settling;

/* Factor of a law, not by the model's own function. */
static double factor_of(const settling *s) {
  return strcmp(s->law, "stokes") == 0 ? 1 : 1 + 0.15 * pow(s->reynolds, 0.687);
}

/* Speed, over that of the law in an endless fluid, of one grain that settles along {1, 2, 3} through a periodic box of
 * n^3 cells; the fluid is held by a force that takes its weight, so that its mean velocity stays 0. */
static double speed_of(const settling *s) {
  const int n = s->n;
  const double r = s->radius, nu = s->viscosity, speed = s->reynolds * nu / (2 * r), cells = (double)n * n * n;
  const double volume = 4 * pi / 3 * r * r * r, weight = 6 * pi * nu * r * factor_of(s) * speed; /* at density 1 */
  const double g = weight / (2 * volume), d[3] = {1 / sqrt(14), 2 / sqrt(14), 3 / sqrt(14)}, hold = weight / cells;
  double out = 0;
  flow f;
  flow_run(&f,
           "return sim.fluid { precision = 'double', grid = { n = {%d, %d, %d}, size = {%d, %d, %d} },\n"
           "  viscosity = %g, speed = 0.1, drag = '%s', %s acceleration = {%.17g, %.17g, %.17g},\n"
           "  gravity = {%.17g, %.17g, %.17g}, contact = { contact_time = 50 }, integrate = { dt = 1, t_end = %d },\n"
           "  grains = { { radius = %.17g, position = {3.1, 2.2, 1.7}, velocity = {%.17g, %.17g, %.17g},\n"
           "    density = 3 } } }",
           n, n, n, n, n, n, nu, s->law, s->more, -hold * d[0], -hold * d[1], -hold * d[2], g * d[0], g * d[1],
           g * d[2], (int)(0.15 * n * n / nu), r, speed * d[0], speed * d[1], speed * d[2]);
  for (int a = 0; a < 3; a++) {
    char column[16];
    snprintf(column, sizeof column, "velocity_%c", "xyz"[a]);
    out += d[a] * flow_value(&f, "grains", column);
    snprintf(column, sizeof column, "momentum_%c", "xyz"[a]);
    out -= d[a] * flow_value(&f, "flow", column) / cells;
  }
  flow_close(&f);
  return out / speed;
}

/* Slow grains: an array of points is slower than one alone by Hasimoto's 1.7601 c^(1/3), c its part of the box (J.
 * Fluid Mech. 5 (1959) 317). His term in c, 2/9 r^2 F/(mu V), is that of a sphere's surface; that of two kernels of
 * variance s^2 is 2/3 s^2 F/(mu V). What a kernel does not add in cells is known to 0.006 F sum(weight^2)/(mu dx), up
 * to 0.15 % of the speed; after 0.15 n^2/nu steps the slowest wave is below exp(-5.9) of the rest; wide kernels leave
 * out s^4 terms of (1.9/24)^4. Without the correction for a grain's own force the speed would be 1/(1 - 0.4) times this
 * at the radii 0.8 and 2.5 (Horwitz and Mani 2016). */
static void test_slow(void **state) {
  (void)state;
  static const settling cases[] = {{"stokes", 0.1, 0.05, 1e-3, 16, ""},
                                   {"schiller_naumann", 0.8, 0.02, 1e-3, 16, ""},
                                   {"schiller_naumann", 0.8, 0.15, 1e-3, 16, ""},
                                   {"schiller_naumann", 0.8, 0.15, 1e-3, 16, "lattice = 'D3Q27',"},
                                   {"stokes", 2.5, 0.15, 1e-3, 24, ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const settling *k = &cases[i];
    const double cells = pow(k->n, 3), c = 4 * pi / 3 * pow(k->radius, 3) / cells;
    const double s = 0.36151232 * fmax(3, 2.5 * k->radius / sqrt(pi) / 0.36151232);
    const double exact = 1 - 1.7601 * cbrt(c) + 4 * pi * k->radius * s * s / cells;
    near_to(speed_of(k), exact, 3e-3, "speed of a slow grain");
  }
}

/* Faster grains: 1 less the velocity that the periodic images add in an Oseen flow, by NumPy: the sum over wave vectors
 * k of |w|^2 (1 - (d.k)^2/k^2) F/(nu k^2 - i v d.k) less the integral over all of them, w the kernel and v the speed.
 * Beyond Oseen's flow a part of it of some Re/30 is left at a box of 24 cells, as wakes are narrower. */
static void test_fast(void **state) {
  (void)state;
  static const settling cases[] = {{"schiller_naumann", 0.8, 0.05, 0.3, 24, ""},
                                   {"schiller_naumann", 0.8, 0.05, 2.7, 24, ""},
                                   {"schiller_naumann", 2, 0.1, 3, 24, ""}};
  static const double exact[] = {0.93921, 0.97098, 0.91324};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    near_to(speed_of(&cases[i]), exact[i], 0.015, "speed of a grain");
}

/* ---- clouds ---- */

/* Mean speed of a suspension over that of one grain, relative to the mean of fluid and grains, by Richardson and Zaki
 * (1954): (1 - p)^4.65 for slow spheres that take a part p of the volume. Places at random: from seed to seed it varies
 * by 4 % (seven seeds in 20^3 cells), by some (20/16)^1.5 times as much here. */
static void test_hindered(void **state) {
  (void)state;
  const double speed = 1e-3 * 0.1 / 1.6, weight = 6 * pi * 0.1 * 0.8 * speed, volume = 4 * pi / 3 * 0.512;
  flow f;
  flow_run(
      &f,
      "return sim.fluid { precision = 'double', grid = { n = {16, 16, 16}, size = {16, 16, 16} }, viscosity = 0.1,\n"
      "  speed = 0.1, drag = 'di_felice', acceleration = {0, 0, %.17g}, gravity = {0, 0, -%.17g}, seed = 2,\n"
      "  grains = { sim.random_spheres { n = 191, radius = 0.8, density = 3 } },\n"
      "  contact = { contact_time = 20 }, integrate = { dt = 1, t_end = 400 } }",
      191 * weight / 4096, weight / (2 * volume));
  const double mean = flow_value(&f, "flow", "momentum_z") / 4096;
  const double part = 191 * volume / 4096;
  near_to((mean - flow_value(&f, "grains", "velocity_z")) / speed / pow(1 - part, 4.65), 1, 0.1, "mean speed");
  flow_close(&f);
}

static void at_grain(const flow *f, const char *name, int64_t i, int64_t n, double out[3]) {
  for (size_t k = 0; k < f->frame.array_count; k++)
    if (strcmp(f->arrays[k].field->name, name) == 0)
      for (int a = 0; a < 3; a++) out[a] = ((const double *)f->arrays[k].data)[a * n + i];
}

/* Grains as heavy as the fluid, in a uniform shear flow at the fluid's velocity, stay with it: a kernel averages a
 * linear velocity exactly far from walls, so that nothing is given but rounding. Heavy and small ones, at rest at the
 * start, take up the velocity of the fluid where they are, as 1 - exp(-t/tau): tau = 2/9 density r^2/nu. Their own
 * force changes the fluid by r/(sqrt(pi) s) = 2.6 % of what is left, and all of them by a part of mass that is 6 % of
 * the layers where they are. */
static void test_shear(void **state) {
  (void)state;
  enum { N = 6 };
  for (int heavy = 0; heavy < 2; heavy++) {
    static const double height[N] = {6, 7.5, 9.2, 11, 12.4, 14};
    const double rate = 0.005, radius = heavy ? 0.05 : 0.6, nu = 0.1, density = heavy ? 3600 : 1;
    const double tau = 2.0 / 9 * density * radius * radius / nu;
    char grains[1024] = "";
    flow f;
    for (int i = 0; i < N; i++) {
      char one[160];
      snprintf(one, sizeof one, "{ radius = %g, density = %g, position = {%d, %d, %g}, velocity = {%.17g, 0, 0} },\n",
               radius, density, 3 * i, (7 * i) % 20, height[i], heavy ? 0 : rate * (height[i] - 10));
      strcat(grains, one);
    }
    flow_run(&f,
             "local rate = %g return sim.fluid { precision = 'double', drag = 'stokes',\n"
             "  grid = { n = {20, 20, 20}, size = {20, 20, 20}, z = 'wall' }, viscosity = %g, speed = 0.1,\n"
             "  sides = { z_low = { velocity = {-10*rate, 0, 0} }, z_high = { velocity = {10*rate, 0, 0} } },\n"
             "  initial = function(x, y, z) return rate*(z - 10), 0, 0 end, contact = { contact_time = 50 },\n"
             "  grains = { %s }, integrate = { dt = 1, t_end = 40 } }",
             rate, nu, grains);
    for (int i = 0; i < N; i++) {
      double x[3] = {0}, v[3] = {0};
      at_grain(&f, "position", i, N, x);
      at_grain(&f, "velocity", i, N, v);
      const double u = rate * (height[i] - 10), left = heavy ? exp(-40 / tau) : 0;
      near_to(v[0], u * (1 - left), heavy ? 0.03 * fabs(u) : 1e-6, "velocity along the flow");
      near_to(v[2], 0, heavy ? 0.01 * fabs(u) : 1e-6, "velocity across it");
      near_to(x[2], height[i], heavy ? 0.4 * fabs(u) : 4e-5, "height");
    }
    flow_close(&f);
  }
}

/* A crowd of points of many sizes that meet, in a fluid that swirls. */
static const char crowd[] =
    "local pi, seed, cloud = math.pi, 7, {}\n"
    "local function draw() seed = (seed * 16807) %% 2147483647 return seed / 2147483647 end\n"
    "for i = 0, %d do cloud[i + 1] = { radius = 0.3 + 0.6*draw(), density = 8,\n"
    "  position = { 5*(i%%4) + 1 + 3*draw(), 5*(i//4%%4) + 1 + 3*draw(), 6*(i//16%%4) + 1 + 3*draw() },\n"
    "  velocity = { 0.15*(draw() - 0.5), 0.15*(draw() - 0.5), 0.15*(draw() - 0.5) } } end\n"
    "return sim.fluid { precision = '%s', grid = { n = {20, 22, 24}, size = {20, 22, 24}, z = '%s' },\n"
    "  viscosity = 0.03, speed = 0.15, drag = 'di_felice',\n"
    "  initial = function(x, y, z) return 0.04*math.sin(2*pi*z/24), 0.03*math.sin(2*pi*x/20), 0 end,\n"
    "  grains = cloud, gravity = {0, 0, %g},\n"
    "  contact = { contact_time = 5, restitution = 0.7, friction = 0.3 }, integrate = { dt = 1, t_end = 400 } }";

static double whole(flow *f, char axis) {
  char column[16];
  snprintf(column, sizeof column, "momentum_%c", axis);
  return flow_value(f, "flow", column) + flow_value(f, "grains", column);
}

static void open_crowd(flow *f, const char *precision, const char *side, int n, double pull, sim_isa isa, int threads,
                       const sim_frame *saved) {
  char text[2048];
  snprintf(text, sizeof text, crowd, n - 1, precision, side, pull);
  flow_open(f, text, isa, threads, saved);
}

static double energy_of(flow *f) {
  return flow_value(f, "grains", "kinetic") + flow_value(f, "grains", "rotational") +
         flow_value(f, "grains", "elastic");
}

/* A periodic box keeps the momentum of fluid and grains: of some 10000 cells with values of some 0.05, which round a
 * few times a step; in single, `flow` does not count what rounding took and what is kept beside the moments. The work
 * of the fluid makes the energy of the grains and what contacts dissipate, up to the sums over substeps of a contact,
 * as in fluid_grains.c. */
static void test_budget(void **state) {
  (void)state;
  static const char *const kinds[] = {"double", "single"};
  static const double limit[] = {1e-11, 1e-5};
  for (int k = 0; k < 2; k++) {
    double before[3];
    flow f;
    open_crowd(&f, kinds[k], "periodic", 60, 0, sim_isa_best(), 2, NULL);
    for (int a = 0; a < 3; a++) before[a] = whole(&f, "xyz"[a]);
    const double first = energy_of(&f);
    flow_steps(&f, 200);
    for (int a = 0; a < 3; a++) near_to(whole(&f, "xyz"[a]), before[a], limit[k], "momentum");
    const double work = flow_value(&f, "grains", "work_fluid"), lost = flow_value(&f, "grains", "dissipated");
    const double energy = energy_of(&f) + lost - first;
    assert_true(lost > 1e-3 * first);
    near_to(energy, work, 0.03 * lost + 1e-9, "energy of the grains");
    flow_close(&f);
  }
}

/* Steady settling: of the work F v of gravity, drag dissipates F (v - u) and the fluid gets F u, u its velocity in the
 * middle of a step as the kernel averages it. By Stokes F = 6 pi mu r w, v - u = (1 - own) w, and v = 0.8610 w
 * (test_slow). own = r/(1.0243 sqrt(pi) s) - 6 pi r W (0.088 - nu/2), sqrt(pi) s = 2.5 r, W = sum(weight^2) =
 * (0.75/width)^3 within 3 %, is known to 0.002. */
static void test_dragged(void **state) {
  (void)state;
  const double r = 0.8, nu = 0.05, weight = 4 * pi / 3 * r * r * r * 1e-4, hold = weight / 4096;
  const double own = 1 / (1.0243 * 2.5) - 6 * pi * r * pow(0.75 / 3.1213, 3) * (0.088 - nu / 2);
  double work[2], dragged[2];
  flow f;
  char text[1024];
  snprintf(
      text, sizeof text,
      "return sim.fluid { precision = 'double', grid = { n = {16, 16, 16}, size = {16, 16, 16} }, viscosity = 0.05,\n"
      "  speed = 0.1, drag = 'stokes', acceleration = {0, 0, %.17g}, gravity = {0, 0, -5e-5},\n"
      "  contact = { contact_time = 50 }, integrate = { dt = 1, t_end = 1000 },\n"
      "  grains = { { radius = 0.8, position = {3.1, 2.2, 1.7}, density = 3 } } }",
      hold);
  flow_open(&f, text, sim_isa_best(), 2, NULL);
  for (int k = 0; k < 2; k++) {
    flow_steps(&f, k ? 100 : 900);
    work[k] = flow_value(&f, "grains", "work_gravity");
    dragged[k] = flow_value(&f, "grains", "dragged");
  }
  near_to((dragged[1] - dragged[0]) / (work[1] - work[0]), (1 - own) / 0.8610, 0.006, "energy that drag dissipates");
  flow_close(&f);
}

/* Gravity gives the whole momentum the weight less buoyancy in each step. */
static void test_weight(void **state) {
  (void)state;
  enum { STEPS = 30 };
  flow f;
  open_crowd(&f, "double", "periodic", 20, -1e-4, sim_isa_best(), 2, NULL);
  double weight = 0;
  flow_look(&f);
  for (size_t k = 0; k < f.frame.array_count; k++)
    if (strcmp(f.arrays[k].field->name, "mass") == 0)
      for (int i = 0; i < 20; i++) weight += 1e-4 * 7.0 / 8 * ((const double *)f.arrays[k].data)[i];
  assert_true(weight > 0);
  const double before = whole(&f, 'z');
  flow_steps(&f, STEPS);
  near_to((whole(&f, 'z') - before) / (-weight * STEPS), 1, 1e-9, "momentum by the weight");
  flow_close(&f);
}

/* ---- bits ---- */

static void crowd_digest(const char *precision, sim_isa isa, int threads, char out[33]) {
  flow f;
  open_crowd(&f, precision, "wall", 30, -2e-4, isa, threads, NULL);
  flow_steps(&f, 40);
  flow_digest(&f, out);
  flow_close(&f);
}

static void test_threads(void **state) {
  (void)state;
  static const char *const kinds[] = {"single", "double"};
  for (int k = 0; k < 2; k++) {
    char one[33], other[33];
    crowd_digest(kinds[k], sim_isa_best(), 1, one);
    for (int threads = 2; threads <= 7; threads += 5) {
      crowd_digest(kinds[k], sim_isa_best(), threads, other);
      assert_string_equal(one, other);
    }
    crowd_digest(kinds[k], SIM_ISA_PLAIN, 2, other);
    assert_string_equal(one, other);
  }
}

static void test_restart(void **state) {
  (void)state;
  static const char *const columns[] = {"dragged", "work_fluid", "momentum_z", "elastic"};
  char straight[33], resumed[33];
  flow f, g;
  crowd_digest("single", sim_isa_best(), 2, straight);
  open_crowd(&f, "single", "wall", 30, -2e-4, sim_isa_best(), 2, NULL);
  flow_steps(&f, 17);
  flow_look(&f);
  open_crowd(&g, "single", "wall", 30, -2e-4, sim_isa_best(), 3, &f.frame);
  for (int c = 0; c < 4; c++) assert_true(flow_value(&f, "grains", columns[c]) == flow_value(&g, "grains", columns[c]));
  flow_steps(&g, 23);
  flow_digest(&g, resumed);
  assert_string_equal(straight, resumed);
  flow_close(&f);
  flow_close(&g);
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_law),     cmocka_unit_test(test_own_share), cmocka_unit_test(test_slow),
      cmocka_unit_test(test_fast),    cmocka_unit_test(test_hindered),  cmocka_unit_test(test_shear),
      cmocka_unit_test(test_budget),  cmocka_unit_test(test_dragged),   cmocka_unit_test(test_weight),
      cmocka_unit_test(test_threads), cmocka_unit_test(test_restart)};
  if (count > 1) cmocka_set_test_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
