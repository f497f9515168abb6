/* Flows without bodies: exact solutions, their order, and the cavity of the literature. */
#include "tests/fluid/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void near_to(double got, double expected, double tolerance, const char *what) {
  if (!(fabs(got - expected) <= tolerance))
    fail_msg("%s: got %.9g, expected %.9g within %.1e (off by %.2e)", what, got, expected, tolerance, got - expected);
}

/* dt ~ dx^2: the Mach number falls as dx, and the errors of compression and of the cells fall as dx^2. */
static void order_two(const double *errors, int count, const char *what) {
  for (int i = 1; i < count; i++) {
    const double order = log2(errors[i - 1] / errors[i]);
    if (!(order > 1.8 && order < 2.3))
      fail_msg("%s: errors %.3e and %.3e are of order %.2f, expected 2", what, errors[i - 1], errors[i], order);
  }
}

/* u = -cos kx sin ky, v = sin kx cos ky, p = -(cos 2kx + cos 2ky)/4, all decaying: exp(-2 nu k^2 t), p by its square.
 * Greatest error of the velocity over the greatest velocity. */
static double taylor_green(int n) {
  const double k = 2 * pi, decay = exp(-2 * 0.02 * k * k * 0.5);
  flow f;
  double most = 0;
  flow_run(
      &f,
      "local k = 2 * math.pi\n"
      "return sim.fluid { precision = 'double', grid = { n = {%d, %d}, size = {1, 1} }, viscosity = 0.02, speed = 1,\n"
      "  initial = function(x, y) return -math.cos(k*x) * math.sin(k*y), math.sin(k*x) * math.cos(k*y),\n"
      "                                  -(math.cos(2*k*x) + math.cos(2*k*y)) / 4 end,\n"
      "  integrate = { dt = 1 / %d^2, t_end = 0.5 } }",
      n, n, n);
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      const double a = k * (x + 0.5) / n, b = k * (y + 0.5) / n;
      most = fmax(most, fabs(flow_field(&f, "velocity/x", x, y, 0) + decay * cos(a) * sin(b)));
      most = fmax(most, fabs(flow_field(&f, "velocity/y", x, y, 0) - decay * sin(a) * cos(b)));
    }
  flow_close(&f);
  return most / decay;
}

static void test_taylor_green(void **state) {
  (void)state;
  const double errors[] = {taylor_green(32), taylor_green(64), taylor_green(128)};
  order_two(errors, 3, "Taylor-Green");
  near_to(errors[2], 0, 6e-4, "Taylor-Green at 128 cells"); /* (k dx)^2 = 2.4e-3 times a factor below 1/4 */
}

/* The flow of Arnold, Beltrami and Childress with A = B = C = 1 decays as exp(-nu k^2 t) in three dimensions; its
 * pressure is -u^2/2 and a constant, which makes the mean 0. */
static double beltrami(int n) {
  const double k = 2 * pi, decay = exp(-0.05 * k * k * 0.2);
  flow f;
  double most = 0;
  flow_run(&f,
           "local k, sin, cos = 2 * math.pi, math.sin, math.cos\n"
           "local function u(x, y, z)\n"
           "  return (sin(k*z) + cos(k*y)) / 2, (sin(k*x) + cos(k*z)) / 2, (sin(k*y) + cos(k*x)) / 2\n"
           "end\n"
           "return sim.fluid { precision = 'double', grid = { n = {%d, %d, %d}, size = {1, 1, 1} }, viscosity = 0.05,\n"
           "  speed = 1.3, initial = function(x, y, z)\n"
           "    local a, b, c = u(x, y, z)\n"
           "    return a, b, c, 3/8 - (a^2 + b^2 + c^2) / 2\n"
           "  end,\n"
           "  integrate = { dt = 0.8 / %d^2, t_end = 0.2 } }",
           n, n, n, n);
  for (int z = 0; z < n; z++)
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) {
        const double a = k * (x + 0.5) / n, b = k * (y + 0.5) / n, c = k * (z + 0.5) / n;
        most = fmax(most, fabs(flow_field(&f, "velocity/x", x, y, z) - decay * (sin(c) + cos(b)) / 2));
        most = fmax(most, fabs(flow_field(&f, "velocity/y", x, y, z) - decay * (sin(a) + cos(c)) / 2));
        most = fmax(most, fabs(flow_field(&f, "velocity/z", x, y, z) - decay * (sin(b) + cos(a)) / 2));
      }
  flow_close(&f);
  return most / decay;
}

static void test_beltrami(void **state) {
  (void)state;
  const double errors[] = {beltrami(12), beltrami(24), beltrami(48)};
  order_two(errors, 3, "Beltrami");
  near_to(errors[2], 0, 4.3e-3, "Beltrami at 48 cells"); /* (k dx)^2 = 1.7e-2 times a factor below 1/4 */
}

/* Between a wall at rest and a moving wall u is linear; half-way walls are exact for it at any relaxation time. The
 * remaining error is of the third power of the speed in units of the lattice, (1/96)^3 = 1e-6; the start decays as
 * exp(-pi^2 nu t) = 1e-13. */
static void test_couette(void **state) {
  (void)state;
  flow f;
  flow_run(&f, "return sim.fluid { precision = 'double', grid = { n = {4, 16}, size = {0.25, 1}, y = 'wall' },\n"
               "  viscosity = 1, speed = 1, sides = { y_high = { velocity = {1, 0} } },\n"
               "  integrate = { t_end = 3 } }");
  for (int y = 0; y < 16; y++) near_to(flow_field(&f, "velocity/x", 1, y, 0), (y + 0.5) / 16, 1e-6, "Couette");
  /* The fluid exerts viscosity times the rate of shear on the wall. The enstrophy is 1/2 of the square of the rate. */
  near_to(flow_value(&f, "flow", "enstrophy"), 0.5 * 0.25, 1e-6, "Couette: enstrophy");
  flow_close(&f);
}

/* u = g y (1 - y)/(2 nu) between walls, by a driving force. Relative error of the flux, with a fixed relaxation time.
 */
static double poiseuille(int n, int rank) {
  const double g = 0.8, nu = 0.1;
  flow f;
  double sum = 0;
  flow_run(&f,
           "local n, rank = %d, %d\n"
           "return sim.fluid { precision = 'double', viscosity = %g, speed = 1,\n"
           "  grid = rank == 2 and { n = {2, n}, size = {2/n, 1}, y = 'wall' }\n"
           "                    or { n = {2, 2, n}, size = {2/n, 2/n, 1}, z = 'wall' },\n"
           "  acceleration = rank == 2 and {%g, 0} or {0, %g, 0}, integrate = { dt = 1 / n^2, t_end = 30 } }",
           n, rank, nu, g, g);
  for (int i = 0; i < n; i++)
    sum += rank == 2 ? flow_field(&f, "velocity/x", 0, i, 0) : flow_field(&f, "velocity/y", 1, 0, i);
  flow_close(&f);
  return fabs(sum / n / (g / (12 * nu)) - 1);
}

static void test_poiseuille(void **state) {
  (void)state;
  for (int rank = 2; rank <= 3; rank++) {
    const double errors[] = {poiseuille(8, rank), poiseuille(16, rank), poiseuille(32, rank)};
    order_two(errors, 3, "Poiseuille");
    near_to(errors[2], 0, 5e-3, "Poiseuille at 32 cells"); /* 1/32^2 times a factor below 5 */
  }
}

/* The same channel with the eddy viscosity (C dx)^2 |u'| = L^2 |u'|, L fixed: (nu + L^2 |u'|) u' = g s at a distance s
 * from its middle, so that u' = (sqrt D(s) - nu)/(2 L^2) with D(s) = nu^2 + 4 L^2 g s, and
 * u(y) = ((D(1/2)^(3/2) - D(1/2 - y)^(3/2))/(6 L^2 g) - nu y)/(2 L^2) above a wall. Its eddy viscosity is 1.3 nu at the
 * walls. The flow starts as this; what cells make of it grows for 10 times, the same share for all n. Greatest error
 * over the greatest velocity, in the quarters next to the walls: in the middle |u'| has a kink, of a lower order. */
static double eddy_channel(int n, int rank) {
  const double g = 0.1, nu = 0.002, l = 1.0 / 64;
  flow f;
  double most = 0, top = 0;
  flow_run(&f,
           "local n, rank, g, nu, L = %d, %d, %g, %g, %.17g\n"
           "local function D(s) return (nu^2 + 4 * L^2 * g * s)^1.5 end\n"
           "local function u(y)\n"
           "  local d = 0.5 - math.abs(0.5 - y)\n"
           "  return ((D(0.5) - D(0.5 - d)) / (6 * L^2 * g) - nu * d) / (2 * L^2)\n"
           "end\n"
           "return sim.fluid { precision = 'double', viscosity = nu, speed = 4, turbulence = { smagorinsky = L * n },\n"
           "  grid = rank == 2 and { n = {2, n}, size = {2/n, 1}, y = 'wall' }\n"
           "                    or { n = {2, 2, n}, size = {2/n, 2/n, 1}, z = 'wall' },\n"
           "  initial = function(x, y, z) if rank == 2 then return u(y), 0 end return 0, u(z), 0 end,\n"
           "  acceleration = rank == 2 and {g, 0} or {0, g, 0}, integrate = { dt = 0.3 / n^2, t_end = 10 } }",
           n, rank, g, nu, l);
  for (int i = 0; i < n; i++) {
    const double y = (i + 0.5) / n, d = 0.5 - fabs(0.5 - y), a = nu * nu + 2 * l * l * g, b = a - 4 * l * l * g * d;
    const double exact = ((pow(a, 1.5) - pow(b, 1.5)) / (6 * l * l * g) - nu * d) / (2 * l * l);
    const double got = rank == 2 ? flow_field(&f, "velocity/x", 0, i, 0) : flow_field(&f, "velocity/y", 1, 0, i);
    if (d < 0.25) most = fmax(most, fabs(got - exact));
    top = fmax(top, exact);
  }
  flow_close(&f);
  return most / top;
}

static void test_eddy_viscosity(void **state) {
  (void)state;
  for (int rank = 2; rank <= 3; rank++) {
    const double errors[] = {eddy_channel(12, rank), eddy_channel(24, rank), eddy_channel(48, rank)};
    order_two(errors, 3, "eddy viscosity");
    near_to(errors[2], 0, 2.2e-3, "eddy viscosity at 48 cells"); /* 1/48^2 times a factor below 5 */
  }
}

/* Returns the share of its kinetic energy that a shear wave of length 1 keeps, along an axis (its strain has no
 * diagonal terms) or along a diagonal (its strain has only these), with the same eddy viscosity L^2 |strain| on cells
 * of about the same width. */
static double eddy_wave(bool diagonal, int rank, double l) {
  const int n = diagonal ? 45 : 32;
  flow f;
  char text[1024];
  snprintf(
      text, sizeof text,
      "local n, rank, L, along, k = %d, %d, %g, %s, 2 * math.pi\n"
      "local size = along and 1 or math.sqrt(2)\n"
      "local dx = size / n\n"
      "return sim.fluid { viscosity = 0.001, speed = 1, turbulence = { smagorinsky = L / dx },\n"
      "  grid = rank == 2 and { n = {n, n}, size = {size, size} } or { n = {4, n, n}, size = {4 * dx, size, size} },\n"
      "  initial = function(x, y, z)\n"
      "    if rank == 3 then x, y = y, z end\n"
      "    local a, b = 0, math.sin(k * x)\n"
      "    if not along then a = math.sin(k * (x - y) / math.sqrt(2)) / math.sqrt(2) b = a end\n"
      "    if rank == 2 then return a, b end\n"
      "    return 0, a, b\n"
      "  end, integrate = { t_end = 0.5 } }",
      n, rank, l, diagonal ? "false" : "true");
  flow_open(&f, text, sim_isa_best(), 2, NULL);
  const double before = flow_value(&f, "flow", "kinetic");
  flow_steps(&f, INT64_MAX);
  const double share = flow_value(&f, "flow", "kinetic") / before;
  flow_close(&f);
  return share;
}

/* Without eddies below a cell the share is exp(-nu k^2) = 0.96, with them below 0.85. Both directions agree to 1 % of
 * the loss, of order (k dx)^2 = 4e-2 times a factor below 1/4. */
static void test_eddy_isotropy(void **state) {
  (void)state;
  for (int rank = 2; rank <= 3; rank++) {
    const double along = eddy_wave(false, rank, 0.03), across = eddy_wave(true, rank, 0.03);
    if (!(along < 0.85)) fail_msg("eddy viscosity: the wave keeps %.3g", along);
    near_to(across, along, 0.01 * (1 - along), "eddy viscosity along a diagonal");
  }
}

/* A channel in single precision whose flow, 0.9 of the parabola that its force holds, gains 0.1 g a time where walls
 * are farther than 6 sqrt(4 nu t) = 38 cells. A step adds 5e-10 to moments 3 u of 0.16, whose last place is 1.5e-8,
 * 1e-7 of them: rounded away, nothing would be gained. At the start and at the end half a place is lost there, and half
 * of one of 6e-8 in the field: 1.6e-7 in all of a cell. Roundings of each step's small terms, of 1e-2, lean to a side
 * that depends on the cell: 3e-10 times 0.1 to 0.01, a few thousandths of the force 3 g = 5e-9; the mean has a tenth of
 * it. Across the flow they add up to a density of 1 - 4e-7 in its middle; rho u is what the force drives. */
static double slow_flow(const flow *f, int y) {
  return flow_field(f, "velocity/x", 0, y, 0) * (1 + 3 * 0.05 * 0.05 * flow_field(f, "pressure", 0, y, 0));
}
static void test_slow_channel(void **state) {
  (void)state;
  const int n = 512;
  const double nu = 0.02, g = 8 * nu / (n * n), t = 500;
  flow f;
  double before[512], mean = 0;
  char text[1024];
  snprintf(text, sizeof text,
           "return sim.fluid { precision = 'single', grid = { n = {2, %d}, size = {2, %d}, y = 'wall' }, speed = 1.1,\n"
           "  viscosity = %g, acceleration = {%.17g, 0},\n"
           "  initial = function(x, y) return 0.9 * 4 * y * (%d - y) / %d^2, 0 end,\n"
           "  integrate = { dt = 0.05, t_end = %g } }",
           n, n, nu, g, n, n, t);
  flow_open(&f, text, sim_isa_best(), 2, NULL);
  flow_look(&f);
  for (int y = 0; y < n; y++) before[y] = slow_flow(&f, y);
  flow_steps(&f, INT64_MAX);
  flow_look(&f);
  for (int y = 40; y < n - 40; y++) {
    const double gain = slow_flow(&f, y) - before[y];
    near_to(gain, 0.1 * g * t, 1.6e-7 + 3e-3 * g * t, "slow channel");
    mean += gain / (n - 80);
  }
  near_to(mean, 0.1 * g * t, 3e-4 * g * t, "slow channel: mean gain");
  flow_close(&f);
}

/* Between walls that slip a shear wave cos(pi y) is a mode: exp(-nu pi^2 t). Order 2 in (pi dx)^2/12 = 2e-4. */
static void test_slip(void **state) {
  (void)state;
  const int n = 64;
  flow f;
  flow_run(&f,
           "return sim.fluid { precision = 'double', grid = { n = {%d, %d}, size = {1, 1}, boundary = 'slip',\n"
           "  x = 'periodic' }, viscosity = 0.05, speed = 1,\n"
           "  initial = function(x, y) return math.cos(math.pi * y), 0 end, integrate = { t_end = 1 } }",
           n, n);
  for (int y = 0; y < n; y++)
    near_to(flow_field(&f, "velocity/x", 5, y, 0), exp(-0.05 * pi * pi) * cos(pi * (y + 0.5) / n), 1e-3, "slip");
  flow_close(&f);
}

/* A channel with the parabola at its inlet and a pressure at its outlet keeps the parabola, and its pressure falls by 8
 * nu U per length. The outlet has its pressure half a cell beyond its cells. */
static void test_channel(void **state) {
  (void)state;
  const int n = 20;
  flow f;
  flow_run(&f,
           "local function profile(x, y) return 4 * y * (1 - y), 0 end\n"
           "return sim.fluid { precision = 'double', grid = { n = {%d, %d}, size = {2, 1}, boundary = 'wall' },\n"
           "  viscosity = 0.1, speed = 1, mach = 0.05, sides = { x_low = { profile = profile }, x_high = { pressure = "
           "0 } },\n"
           "  initial = profile, integrate = { t_end = 30 } }",
           2 * n, n);
  for (int y = 0; y < n; y++) {
    const double at = (y + 0.5) / n;
    near_to(flow_field(&f, "velocity/x", n, y, 0), 4 * at * (1 - at), 1e-2, "channel"); /* 4/n^2 */
  }
  /* Between the cells n/2 and 3n/2, 1 apart; Mach^2 = 2.5e-3 and 4/n^2 = 1e-2 of it. */
  near_to(flow_field(&f, "pressure", n / 2, n / 2, 0) - flow_field(&f, "pressure", 3 * n / 2, n / 2, 0), 8 * 0.1, 0.02,
          "channel: pressure");
  flow_close(&f);
}

/* A uniform inlet between walls lets in its velocity times its width. In a steady flow all of it passes every column of
 * cells, up to the change of a column's momentum in its strain: 1e-3. A third of the links at each of two corners would
 * be 1/(6 n), 1e-2. */
static void test_inlet(void **state) {
  (void)state;
  flow f;
  flow_run(
      &f,
      "return sim.fluid { grid = { n = {32, 16}, size = {2, 1}, boundary = 'wall' }, viscosity = 0.1, speed = 1.6,\n"
      "  sides = { x_low = { velocity = {1, 0} }, x_high = { pressure = 0 } }, integrate = { t_end = 30 } }");
  near_to(flow_value(&f, "flow", "momentum_x") / 2, 1, 1e-3, "a uniform inlet between walls");
  flow_close(&f);
}

/* Two open sides and a wall meet at edges: with the axes exchanged it is the same flow. */
static void test_open_edges(void **state) {
  (void)state;
  const char *const text =
      "return sim.fluid { precision = 'double', grid = { n = {16, 16}, size = {1, 1}, boundary = 'wall' },\n"
      "  viscosity = 0.1, speed = 1, sides = { x_%s = { pressure = %s }, y_%s = { pressure = %s } },\n"
      "  integrate = { t_end = 0.2 } }";
  flow f, g;
  flow_run(&f, text, "low", "0.3", "high", "-0.2");
  flow_run(&g, text, "high", "-0.2", "low", "0.3");
  for (int y = 0; y < 16; y++)
    for (int x = 0; x < 16; x++)
      near_to(flow_field(&f, "velocity/x", x, y, 0), flow_field(&g, "velocity/y", y, x, 0), 1e-13, "open edges");
  flow_close(&f);
  flow_close(&g);
}

/* The warnings of a plan, and of a run to its end. */
static flow_heard warnings_of(const char *text) {
  flow f;
  flow_heard h = {0};
  sim_plan plan = {0};
  flow_open(&f, text, sim_isa_best(), 1, NULL);
  assert_true(sim_log_add(flow_hear, &h));
  assert_int_equal(fluid_model.plan(f.p, &f.setup, &plan), SIM_OK);
  flow_steps(&f, INT64_MAX);
  (void)flow_value(&f, "flow", "mass");
  sim_log_remove(flow_hear, &h);
  sim_bytes remark = {0};
  fluid_model.remark(f.self, &f.clock, &remark);
  if (remark.size > 0) strncat(h.text, (const char *)remark.data, sizeof h.text - strlen(h.text) - 1);
  sim_bytes_free(&remark);
  flow_close(&f);
  return h;
}

/* Pressures that change the density by percents are told: of sides, of the fluid's weight, and, where none is given, of
 * the run. A step of dx^2/(6 viscosity) = 1/384 has c^2 = 768, and a channel of length 2 loses 12 U nu 2 = 24 U. */
static void test_compression(void **state) {
  (void)state;
  static const char *const box = "grid = { n = {16, 8}, size = {2, 1}, boundary = 'wall' }, viscosity = 1, speed = 5";
  static const char *const cases[][2] = {
      {"sides = { x_low = { pressure = 60 }, x_high = { pressure = 0 } }", "sides.x_low.pressure: changes the density"},
      {"sides = { x_low = { pressure = 30 }, x_high = { pressure = 0 } }", NULL},
      {"acceleration = {0, -60}", "the weight of the fluid changes the density by 7.8 % along y"},
      {"acceleration = {0, -30}", NULL},
      {"acceleration = {30, 0}, sides = { x_low = { pressure = 0 }, x_high = { pressure = 0 } }", NULL},
      {"acceleration = {0, -60}, sides = { x_low = { pressure = 0 } }", NULL},
      {"sides = { x_low = { velocity = {3, 0} }, x_high = { pressure = 0 } }", "the mean density is"},
      {"sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0 } }", NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[512];
    snprintf(text, sizeof text, "return sim.fluid { %s, %s,\n  integrate = { dt = 1/384, t_end = 2 } }", box,
             cases[i][0]);
    const flow_heard h = warnings_of(text);
    const bool told = strstr(h.text, "density") != NULL;
    if (told != (cases[i][1] != NULL) || (told && !strstr(h.text, cases[i][1])))
      fail_msg("%s: warnings\n%s", cases[i][0], h.text);
  }
}

/* ---- the cavity ---- */

/* Returns the value at s of a cubic through four neighbours at (i + 1/2)/n. */
static double cubic(const double *values, int n, double s) {
  int i = (int)floor(s * n - 0.5) - 1;
  i = i < 0 ? 0 : i > n - 4 ? n - 4 : i;
  const double t = s * n - 0.5 - i;
  return -values[i] * (t - 1) * (t - 2) * (t - 3) / 6 + values[i + 1] * t * (t - 2) * (t - 3) / 2 -
         values[i + 2] * t * (t - 1) * (t - 3) / 2 + values[i + 3] * t * (t - 1) * (t - 2) / 6;
}

typedef struct cavity_extremes {
  double least_u, greatest_v, least_v;
} cavity_extremes;

/* Extremes along the middle lines; n even. */
static cavity_extremes cavity(int n, double reynolds, double mach, double t_end) {
  flow f;
  double u[512], v[512];
  cavity_extremes out = {0};
  flow_run(&f,
           "return sim.fluid { precision = 'double', grid = { n = {%d, %d}, size = {1, 1}, boundary = 'wall' },\n"
           "  viscosity = 1 / %g, speed = 1, mach = %g, sides = { y_high = { velocity = {1, 0} } },\n"
           "  integrate = { t_end = %g } }",
           n, n, reynolds, mach, t_end);
  for (int i = 0; i < n; i++) {
    u[i] = (flow_field(&f, "velocity/x", n / 2 - 1, i, 0) + flow_field(&f, "velocity/x", n / 2, i, 0)) / 2;
    v[i] = (flow_field(&f, "velocity/y", i, n / 2 - 1, 0) + flow_field(&f, "velocity/y", i, n / 2, 0)) / 2;
  }
  for (int i = 20; i <= 980; i++) {
    out.least_u = fmin(out.least_u, cubic(u, n, i / 1000.0));
    out.greatest_v = fmax(out.greatest_v, cubic(v, n, i / 1000.0));
    out.least_v = fmin(out.least_v, cubic(v, n, i / 1000.0));
  }
  near_to(flow_value(&f, "flow", "mass"), 1, 1e-12, "cavity: mass");
  flow_close(&f);
  return out;
}

/* Ghia, Ghia and Shin, J. Comput. Phys. 48 (1982) 387, Re 100: least u -0.21090, greatest v 0.17527, least v -0.24533
 * on 129^2 points, of which they are extremes: within 0.004 of those between them. 64 cells: (1/64)^2 times second
 * derivatives of 10 to 30, and Mach^2 = 1e-2 of them: 0.006. */
static void test_cavity(void **state) {
  (void)state;
  const cavity_extremes got = cavity(64, 100, 0.1, 15);
  near_to(got.least_u, -0.21090, 0.006, "cavity, Re 100: least u");
  near_to(got.greatest_v, 0.17527, 0.006, "cavity, Re 100: greatest v");
  near_to(got.least_v, -0.24533, 0.01, "cavity, Re 100: least v");
}

/* Botella and Peyret, Comput. Fluids 27 (1998) 421, Re 1000, spectral. Boundary layers of Re^(-1/2) are 4 cells thick:
 * second order, (1/4)^2 times a factor below 1/3 is 2 %; 3 % in the jet that falls along a wall. */
static void test_cavity_1000(void **state) {
  (void)state;
  const cavity_extremes got = cavity(128, 1000, 0.1, 80);
  near_to(got.least_u, -0.3885698, 0.02 * 0.3885698, "cavity, Re 1000: least u");
  near_to(got.greatest_v, 0.3769447, 0.02 * 0.3769447, "cavity, Re 1000: greatest v");
  near_to(got.least_v, -0.5270771, 0.03 * 0.5270771, "cavity, Re 1000: least v");
}

int main(int count, char **words) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_taylor_green),  cmocka_unit_test(test_beltrami),     cmocka_unit_test(test_couette),
      cmocka_unit_test(test_poiseuille),    cmocka_unit_test(test_slow_channel), cmocka_unit_test(test_slip),
      cmocka_unit_test(test_channel),       cmocka_unit_test(test_inlet),        cmocka_unit_test(test_cavity),
      cmocka_unit_test(test_open_edges),    cmocka_unit_test(test_compression),  cmocka_unit_test(test_eddy_viscosity),
      cmocka_unit_test(test_eddy_isotropy),
  };
  const struct CMUnitTest long_tests[] = {cmocka_unit_test(test_cavity_1000)};
  if (count > 1 && strcmp(words[1], "long") != 0) cmocka_set_test_filter(words[1]);
  if (count > 1 && strcmp(words[1], "long") == 0) return cmocka_run_group_tests(long_tests, NULL, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
