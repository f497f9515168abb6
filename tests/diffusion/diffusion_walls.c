/* Walls of each field, against exact solutions: every kind of wall, values and slopes, orders in dt, derivatives along
 * walls, boxes and plates where a fluid slips, and fluxes. */
#include "tests/diffusion/diffusion_driver.h"

#include "engine/log.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static void row(system_run *s, int table, double *values) {
  must(diffusion_model.observe(s->self, &s->clock, table, values), "observe");
}

/* Returns the text with each Q replaced by a letter. */
static const char *along(const char *text, char letter) {
  static char out[4096];
  assert_true(strlen(text) < sizeof out);
  for (size_t i = 0; i <= strlen(text); i++) out[i] = text[i] == 'Q' ? letter : text[i];
  return out;
}

/* Columns are in the order of their names. Heat between walls 2 apart, of each kind, with values and slopes: the exact
 * solutions, their slopes and curvatures. Slopes that differ at both ends give a parabola that grows by 2 D c. */
static const char heat[] =
    "fields = {{ name = 'a', D = 0.3, sides = { Q_low = { value = 0 } },"
    " initial = function(Q) return math.sin(math.pi/4*Q) end },"
    "{ name = 'b', D = 0.3, sides = { Q_high = { value = 0 } },"
    " initial = function(Q) return math.cos(math.pi*3/4*Q) end },"
    "{ name = 'c', D = 0.3, sides = { Q_low = { slope = 1 }, Q_high = { slope = 3 } },"
    " initial = function(Q) return Q + Q^2/2 + math.cos(math.pi/2*Q) end },"
    "{ name = 'd', D = 0.3, sides = { Q_low = { slope = 2 }, Q_high = { value = 3 } },"
    " initial = function(Q) return 3 + 2*(Q - 2) + math.cos(math.pi/4*Q) end },"
    "{ name = 'e', D = 0.3, sides = { Q_low = { value = 2 }, Q_high = { slope = 3 } },"
    " initial = function(Q) return 2 + 3*Q + math.sin(math.pi/4*Q) end },"
    "{ name = 'f', D = 0.3, sides = { Q_low = { value = 2 }, Q_high = { value = 3 } },"
    " initial = function(Q) return 2 + Q/2 + math.sin(math.pi/2*Q) end }},"
    "observe = {"
    "a = { function(a, Q, t) return math.abs(a - math.exp(-0.3*(math.pi/4)^2*t)*math.sin(math.pi/4*Q)) end, "
    "reduce = 'max' },"
    "b = { function(b, Q, t) return math.abs(b - math.exp(-0.3*(math.pi*3/4)^2*t)*math.cos(math.pi*3/4*Q)) end, "
    "reduce = 'max' },"
    "c = { function(c, Q, t) return math.abs(c - (Q + Q^2/2 + 0.3*t +"
    " math.exp(-0.3*(math.pi/2)^2*t)*math.cos(math.pi/2*Q))) end, reduce = 'max' },"
    "d = { function(d, Q, t) return math.abs(d - (2*Q - 1 + math.exp(-0.3*(math.pi/4)^2*t)*math.cos(math.pi/4*Q))) "
    "end, reduce = 'max' },"
    "e = { function(e, Q, t) return math.abs(e - (2 + 3*Q + math.exp(-0.3*(math.pi/4)^2*t)*math.sin(math.pi/4*Q))) "
    "end, reduce = 'max' },"
    "f = { function(f, Q, t) return math.abs(f - (2 + Q/2 + math.exp(-0.3*(math.pi/2)^2*t)*math.sin(math.pi/2*Q))) "
    "end, reduce = 'max' },"
    "c_slope = { function(c_Q, Q, t) return math.abs(c_Q - (1 + Q - math.exp(-0.3*(math.pi/2)^2*t)*math.pi/2*"
    "math.sin(math.pi/2*Q))) end, reduce = 'max' },"
    "c_curve = { function(c_QQ, Q, t) return math.abs(c_QQ - (1 - math.exp(-0.3*(math.pi/2)^2*t)*(math.pi/2)^2*"
    "math.cos(math.pi/2*Q))) end, reduce = 'max' },"
    "e_slope = { function(e_Q, Q, t) return math.abs(e_Q - (3 + math.exp(-0.3*(math.pi/4)^2*t)*math.pi/4*"
    "math.cos(math.pi/4*Q))) end, reduce = 'max' },"
    "d_slope = { function(d_Q, Q, t) return math.abs(d_Q - (2 - math.exp(-0.3*(math.pi/4)^2*t)*math.pi/4*"
    "math.sin(math.pi/4*Q))) end, reduce = 'max' } },";

/* Values up to 8, and derivatives up to k^2 = 1000 times their rounding. */
static void test_heat(void **state) {
  static const char *const n[] = {"20", "20, 18", "20, 18, 10"}, *const size[] = {"2", "2, 2", "2, 2, 2"};
  static const int rank[] = {1, 2, 2, 3, 3, 3}, axis[] = {0, 0, 1, 0, 1, 2};
  (void)state;
  for (int c = 0; c < 6 * 2 * 2 * 2; c++) {
    const int r = rank[c % 6], a = axis[c % 6], single = c / 6 % 2, walls = c / 12 % 2, fixed = c / 24;
    const char letter = "xyz"[a], *beside = walls ? fixed ? "fixed" : "no_flux" : "periodic";
    const double u = single ? 0x1p-24 : 0x1p-53;
    double values[10];
    system_run s;
    /* along the axis itself: both ends are given, or one has the grid's boundary */
    if (fixed && (r > 1 || walls)) continue;
    char text[2048];
    snprintf(
        text, sizeof text,
        "return sim.diffusion { precision = '%s', grid = { n = {%s}, size = {%s}, boundary = '%s', Q = 'no_flux' },",
        single ? "single" : "double", n[r - 1], size[r - 1], r > 1 ? beside : "periodic");
    char head[4096], body[4096];
    strcpy(head, along(text, letter));
    strcpy(body, along(heat, letter));
    whole(&s, "%s %s integrate = { t_end = 2, dt = 0.5 } }", head, body);
    row(&s, 1, values);
    for (int i = 0; i < 10; i++)
      if (!(values[i] < (i == 3 || i == 4 || i == 6 || i == 8 ? 8 * 1000 : 100) * u))
        fail_msg("case %d: column %d is %.3g", c, i, values[i]);
    shut(&s);
  }
}

/* Slopes at walls of two axes, and one value at all walls; of two members. */
static void test_two_axes(void **state) {
  (void)state;
  for (int members = 1; members <= 2; members++) {
    double values[3];
    system_run s;
    whole(
        &s,
        "return sim.diffusion { members = %d, grid = { n = {12, 10}, size = {2, 1}, boundary = 'no_flux' }, fields = {"
        "{ name = 'u', D = 0.2, axes = {1, 3, 1}, sides = { x_low = { slope = 1 }, x_high = { slope = 3 },"
        " y_low = { slope = -1 }, y_high = { slope = 1 } }, initial = function(x, y) return x + x^2/2 - y + y^2 +"
        " math.cos(math.pi*x/2)*math.cos(math.pi*y) end },"
        "{ name = 'v', D = 0.2, sides = { x_low = { value = 5 }, y_low = { value = 5 }, y_high = { value = 5 } },"
        " initial = function(x, y) return 5 + math.sin(math.pi*x/4)*math.sin(math.pi*y) end }},"
        "observe = { u = { function(u, x, y, t) return math.abs(u - (x + x^2/2 - y + y^2 + 0.2*(1 + 3*2)*t +"
        " math.exp(-0.2*(math.pi^2/4 + 3*math.pi^2)*t)*math.cos(math.pi*x/2)*math.cos(math.pi*y))) end, reduce = "
        "'max' }, v = { function(v, x, y, t) return math.abs(v - 5 - math.exp(-0.2*(math.pi^2/16 + math.pi^2)*t)*"
        "math.sin(math.pi*x/4)*math.sin(math.pi*y)) end, reduce = 'max' },"
        "w = { function(u, u_x, u_y, v_x, x, y, t) return math.abs(u_y - (-1 + 2*y - math.pi*"
        "math.exp(-0.2*(math.pi^2/4 + 3*math.pi^2)*t)*math.cos(math.pi*x/2)*math.sin(math.pi*y))) end, reduce = 'max' "
        "} }, integrate = { t_end = 1 } }",
        members);
    row(&s, 1, values);
    assert_true(values[0] < 1e-13 && values[1] < 1e-13 && values[2] < 1e-12); /* values below 8, k up to 31 */
    shut(&s);
  }
}

/* Orders of all schemes where fields have walls of their own, a value, slopes and a growing parabola. N = f - p for
 * known u and v: the rates f are chosen so that e and c are exact solutions; p has products of both fields. */
static const char coupled[] =
    "local D = 0.3 local function E(x, t) return 2 + 3*x + math.exp(-t)*math.sin(math.pi/4*x) end "
    "local function C(x, t) return x + x^2/2 + D*t + math.cos(2*t)*math.cos(math.pi/2*x) end "
    "return sim.diffusion { grid = { n = {16}, size = {2}, boundary = 'no_flux' }, fields = {"
    "{ name = 'e', D = D, sides = { x_low = { value = 2 }, x_high = { slope = 3 } },"
    " initial = function(x) return E(x, 0) end },"
    "{ name = 'c', D = D, sides = { x_low = { slope = 1 }, x_high = { slope = 3 } },"
    " initial = function(x) return C(x, 0) end }},"
    "rates = function(e, c, x, t)"
    " return (D*math.pi^2/16 - 1)*math.exp(-t)*math.sin(math.pi/4*x) + 0.2*c*(E(x, t) - e),"
    " (D*math.pi^2/4*math.cos(2*t) - 2*math.sin(2*t))*math.cos(math.pi/2*x) + 0.1*(C(x, t)^2 - c^2) +"
    " 0.1*(e - E(x, t)) end,"
    "observe = { e = { function(e, x, t) return (e - E(x, t))^2 end, reduce = 'mean' },"
    " c = { function(c, x, t) return (c - C(x, t))^2 end, reduce = 'mean' } },";

static void test_orders(void **state) {
  static const char *const names[] = {"lie", "strang", "etd1", "etdrk2", "etdrk4"};
  static const double order[] = {1, 2, 1, 2, 4};
  (void)state;
  for (int i = 0; i < 5; i++) {
    double error[2];
    for (int half = 0; half < 2; half++) {
      double values[2];
      system_run s;
      whole(&s, "%s integrate = { scheme = '%s', dt = 1/%d, t_end = 1 } }", coupled, names[i], half ? 64 : 32);
      row(&s, 1, values);
      error[half] = sqrt(values[0] + values[1]);
      shut(&s);
    }
    const double got = log2(error[0] / error[1]);
    /* the next order's share of the error is some 2/32 */
    if (!(fabs(got - order[i]) < 0.2) || !(error[1] < (order[i] == 1 ? 0.05 : order[i] == 2 ? 2e-3 : 1e-5)))
      fail_msg("%s: order %.2f, error %.3g", names[i], got, error[1]);
  }
  double values[2];
  system_run s;
  whole(&s, "%s integrate = { scheme = 'etdrk4', dt = 'auto', rtol = 1e-7, t_end = 1 } }", coupled);
  row(&s, 1, values);
  assert_true(sqrt(values[0] + values[1]) < 1e-5); /* some 100 steps of 1e-7 times 4 */
  shut(&s);
}

/* Every derivative of a product of two series, of all kinds along x and y, beside a periodic axis or a wall: observed,
 * and in a step by Lie's scheme of u_xy, which has the other series along both axes. */
static void test_derivatives(void **state) {
  static const char *const function[] = {"math.cos(math.pi*2*Q)", "math.sin(math.pi*2*Q)", "math.sin(math.pi*1.5*Q)",
                                         "math.cos(math.pi*2.5*Q)"};
  static const char *const derived[] = {"(-2*math.pi)*math.sin(math.pi*2*Q)", "2*math.pi*math.cos(math.pi*2*Q)",
                                        "1.5*math.pi*math.cos(math.pi*1.5*Q)",
                                        "(-2.5*math.pi)*math.sin(math.pi*2.5*Q)"};
  static const char *const low[] = {"slope", "value", "value", "slope"}, *const high[] = {"slope", "value", "slope",
                                                                                          "value"};
  static const double k[] = {2, 2, 1.5, 2.5};
  (void)state;
  for (int c = 0; c < 4 * 4 * 2 * 3; c++) {
    const int i = c % 4, j = c / 4 % 4, wall = c / 16 % 2, order = c / 32; /* order: which axes have the walls */
    const char x = "xyz"[order], y = "yzx"[order], z = "zxy"[order];
    static const char *const sides[] = {"x", "y", "z"};
    char f[64], g[64], df[64], dg[64], mixed[3] = {x < y ? x : y, x < y ? y : x, 0};
    double values[5];
    system_run s;
    strcpy(f, along(function[i], x)), strcpy(g, along(function[j], y));
    strcpy(df, along(derived[i], x)), strcpy(dg, along(derived[j], y));
    whole(
        &s,
        "return sim.diffusion { grid = { n = {12, 10, 14}, size = {1, 1, 1}, boundary = 'no_flux', %c = '%s' }, fields "
        "= {{ name = 'u', sides = { %s_low = { %s = 0 }, %s_high = { %s = 0 }, %s_low = { %s = 0 }, %s_high = { %s = 0 "
        "} }, initial = function(x, y, z) return %s*%s*math.cos(2*math.pi*%c) end }},"
        "rates = function(u_%s, lap_u, u_%c) return 0 end, observe = {"
        "a = { function(x, y, z, u_%c) return math.abs(u_%c - %s*%s*math.cos(2*math.pi*%c)) end, reduce = 'max' },"
        "b = { function(x, y, z, u_%s) return math.abs(u_%s - %s*%s*math.cos(2*math.pi*%c)) end, reduce = 'max' },"
        "c = { function(u, lap_u) return math.abs(lap_u + %.17g*u) end, reduce = 'max' },"
        "d = { function(x, y, z, u_%c) return math.abs(u_%c + 2*math.pi*%s*%s*math.sin(2*math.pi*%c)) end, reduce = "
        "'max' }, e = { function(u, x, y, z) return math.abs(u - %s*%s*math.cos(2*math.pi*%c)) end, reduce = 'max' } },"
        "integrate = { scheme = 'etd1', dt = 1, t_end = 1 } }",
        z, wall ? "no_flux" : "periodic", sides[order], low[i], sides[order], high[i], sides[(order + 1) % 3], low[j],
        sides[(order + 1) % 3], high[j], f, g, z, mixed, x, x, x, df, g, z, mixed, mixed, df, dg, z,
        pi * pi * (k[i] * k[i] + k[j] * k[j] + 4), z, z, f, g, z, f, g, z);
    row(&s, 1, values);
    for (int v = 0; v < 5; v++) /* rounding of u times k^2 up to 3 pi^2 14^2 */
      if (!(values[v] < 2e-12)) fail_msg("case %d: column %d is %.3g", c, v, values[v]);
    shut(&s);
  }
}

/* A step of dt u_xy u_x by Lie's scheme: of u = sin(1.5 pi x) cos(2 pi y) it is 9 pi^3 /2 cos^2 sin cos, whose series
 * along x is u's. */
static void test_rates(void **state) {
  system_run s;
  (void)state;
  whole(&s, "return sim.diffusion { grid = { n = {14, 12}, size = {1, 1}, boundary = 'no_flux' }, fields = {"
            "{ name = 'u', sides = { x_low = { value = 0 } },"
            " initial = function(x, y) return math.sin(1.5*math.pi*x)*math.cos(2*math.pi*y) end }},"
            "rates = function(u, u_xy, u_y) return u_xy^2*u + u_y^2*u end,"
            "integrate = { scheme = 'lie', dt = 2^-16, t_end = 2^-16 } }");
  for (int64_t i = 0; i < cells(&s); i++) {
    const double x = 1.5 * pi * ((double)(i % 14) + 0.5) / 14, y = 2 * pi * ((double)(i / 14) + 0.5) / 12;
    const double u = sin(x) * cos(y), u_xy = -3 * pi * pi * cos(x) * sin(y), u_y = -2 * pi * sin(x) * sin(y);
    assert_true(fabs(value(&s, 0, i) - u - 0x1p-16 * (u_xy * u_xy + u_y * u_y) * u) < 1e-13);
  }
  shut(&s);
}

/* A box where a fluid slips. Taylor and Green's vortex is an exact solution: its pressure takes all of u grad u. */
static void test_box(void **state) {
  static const char *const grids[] = {"n = {12, 10}, size = {math.pi, math.pi}, boundary = 'no_flux'",
                                      "n = {12, 10, 6}, size = {math.pi, math.pi, 2}, boundary = 'no_flux'",
                                      "n = {12, 10, 6}, size = {math.pi, math.pi, 2}, boundary = 'no_flux', z = "
                                      "'periodic'",
                                      "n = {12, 20}, size = {math.pi, 2*math.pi}, x = 'no_flux'",
                                      "n = {24, 10}, size = {2*math.pi, math.pi}, y = 'no_flux'"};
  (void)state;
  for (int c = 0; c < 5; c++) {
    const bool three = c == 1 || c == 2, x = c != 4, y = c != 3;
    double values[2];
    system_run s;
    whole(&s,
          "return sim.diffusion { grid = { %s }, solenoidal = 'u, v%s', fields = {"
          "{ name = 'u', D = 0.1, %s initial = function(x, y) return math.sin(x)*math.cos(y) + 0.3*math.sin(2*x) end },"
          "{ name = 'v', D = 0.1, %s initial = function(x, y) return -math.cos(x)*math.sin(y) end } %s },"
          "rates = function(u, v, u_x, u_y, v_x, v_y) return -u*u_x - v*u_y, -u*v_x - v*v_y %s end,"
          "observe = { gap = { function(u, v, x, y, t) return math.abs(u - math.exp(-0.2*t)*math.sin(x)*math.cos(y)) +"
          " math.abs(v + math.exp(-0.2*t)*math.cos(x)*math.sin(y)) end, reduce = 'max' },"
          "div = { function(u_x, v_y) return math.abs(u_x + v_y) end, reduce = 'max' } },"
          "integrate = { scheme = 'etdrk4', dt = 1/16, t_end = 1 } }",
          grids[c], three ? ", w" : "", x ? "sides = { x_low = { value = 0 }, x_high = { value = 0 } }," : "",
          y ? "sides = { y_low = { value = 0 }, y_high = { value = 0 } }," : "",
          !three   ? ""
          : c == 1 ? ", { name = 'w', D = 0.1, sides = { z_low = { value = 0 }, z_high = { value = 0 } } }"
                   : ", { name = 'w', D = 0.1 }",
          three ? ", 0" : "");
    row(&s, 1, values); /* 0.3 sin(2 x) has a divergence, and is removed at the start */
    if (!(values[0] < 1e-12 && values[1] < 1e-12)) fail_msg("case %d: %.3g %.3g", c, values[0], values[1]);
    shut(&s);
  }
}

/* A flow in a box, and in the periodic box of twice the lengths, where u is odd along x and even along y and so on. The
 * series are the same, and so is the flow except for rounding, which it stretches. Dealiased, because a vector between
 * walls lacks the sines of n half waves. */
static void test_images(void **state) {
  static const char *const grids[] = {"n = {18, 16, 8}, size = {1, 1, 1}, boundary = 'no_flux'",
                                      "n = {36, 32, 16}, size = {2, 2, 2}",
                                      "n = {36, 16, 16}, size = {2, 1, 2}, y = 'no_flux'"};
  system_run s[3];
  (void)state;
  for (int c = 0; c < 3; c++) {
    const char *none = "";
    whole(
        &s[c],
        "local p = math.pi return sim.diffusion { grid = { %s }, solenoidal = 'u, v, w', fields = {"
        "{ name = 'u', D = 0.02, %s initial = function(x, y, z) return math.sin(p*x)*math.cos(2*p*y)*math.cos(p*z) end "
        "}, { name = 'v', D = 0.02, %s initial = function(x, y, z) return math.cos(p*x)*math.sin(p*y) +"
        " math.sin(p*y)*math.cos(p*z) end },"
        "{ name = 'w', D = 0.02, %s initial = function(x, y, z) return math.sin(2*p*z)*math.cos(p*y) end }},"
        "rates = function(u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, w_z)"
        " return -u*u_x - v*u_y - w*u_z, -u*v_x - v*v_y - w*v_z, -u*w_x - v*w_y - w*w_z end,"
        "integrate = { scheme = 'etdrk2', dt = 1/64, t_end = 1/8, dealias = true } }",
        grids[c], c == 0 ? "sides = { x_low = { value = 0 }, x_high = { value = 0 } }," : none,
        c != 1 ? "sides = { y_low = { value = 0 }, y_high = { value = 0 } }," : none,
        c == 0 ? "sides = { z_low = { value = 0 }, z_high = { value = 0 } }," : none);
  }
  for (int c = 0; c < 3; c += 2) {
    const grid_shape g = diffusion_grid_of(s[c].p);
    for (int64_t i = 0; i < cells(&s[c]); i++) {
      const int64_t x = i % g.n[0], y = i / g.n[0] % g.n[1], z = i / g.n[0] / g.n[1], at = (z * 32 + y) * 36 + x;
      for (int f = 0; f < 3; f++)
        if (!(fabs(value(&s[c], f, i) - value(&s[1], f, at)) < 1e-13))
          fail_msg("grid %d field %d cell %lld: %.17g, %.17g", c, f, (long long)i, value(&s[c], f, i),
                   value(&s[1], f, at));
    }
  }
  for (int c = 0; c < 3; c++) shut(&s[c]);
}

/* Convection between free plates by velocities: u slips, v is 0 at the plates, T has values. Rolls with k = pi/sqrt(2)
 * = 2.2214 grow above the Rayleigh number 27 pi^4/4 = 657.511 (Rayleigh 1916) and decay below it, by K/2 (Ra/Ra_c - 1),
 * K = k^2 + pi^2. The test is at 1e-6 from it, so that the number is found to 1e-6. It measures from t = 1 on, when the
 * other mode has decayed by exp(-2 K). Rolls of 1e-6 change the mean by 1e-12; the bound is 1e-4 of the rate. Along y
 * and along x. */
static void test_critical_rayleigh_number(void **state) {
  (void)state;
  for (int c = 0; c < 4; c++) {
    const int sign = c % 2 ? -1 : 1, turned = c / 2;
    const char x = turned ? 'y' : 'x', y = turned ? 'x' : 'y';
    double t_1 = 0, t_2 = 0;
    char text[2048];
    system_run s;
    snprintf(
        text, sizeof text,
        "local Ra = 27*math.pi^4/4*(1 + %d*1e-6) local k = math.pi/math.sqrt(2) local K = k^2 + math.pi^2 "
        "return sim.diffusion { grid = { n = {8, 8}, size = {%s}, %c = 'no_flux' }, solenoidal = '%s', fields = {"
        "{ name = 'u', D = 1, initial = function(x, y) return math.pi/k*1e-6*K*math.sin(k*%c)*math.cos(math.pi*%c) "
        "end }, { name = 'v', D = 1, sides = { %c_low = { value = 0 }, %c_high = { value = 0 } },"
        " initial = function(x, y) return -1e-6*K*math.cos(k*%c)*math.sin(math.pi*%c) end },"
        "{ name = 'T', D = 1, sides = { %c_low = { value = 1 }, %c_high = { value = 0 } },"
        " initial = function(x, y) return 1 - %c - 1e-6*math.cos(k*%c)*math.sin(math.pi*%c) end }},"
        "rates = function(u, v, T, u_x, u_y, v_x, v_y, T_x, T_y)"
        " return -u*u_%c - v*u_%c, -u*v_%c - v*v_%c + Ra*T, -u*T_%c - v*T_%c end,"
        "integrate = { scheme = 'etdrk4', dt = 1/64, t_end = 2 } }",
        sign, turned ? "1, 2*math.pi/k" : "2*math.pi/k, 1", y, turned ? "v, u" : "u, v", x, y, y, y, x, y, y, y, y, x,
        y, x, y, x, y, x, y);
    open_with(&s, text, sim_isa_best(), 1, NULL);
    run_to(&s, 64);
    look(&s);
    for (int64_t i = 0; i < cells(&s); i++) t_1 += value(&s, 1, i) * value(&s, 1, i);
    run_to(&s, INT64_MAX);
    look(&s);
    for (int64_t i = 0; i < cells(&s); i++) t_2 += value(&s, 1, i) * value(&s, 1, i);
    const double rate = log(t_2 / t_1) / 2, want = sign * 1e-6 * 0.75 * pi * pi;
    if (!(fabs(rate - want) < 1e-4 * fabs(want))) fail_msg("case %d: rate %.6g, expected %.6g", c, rate, want);
    shut(&s);
  }
}

/* Fluxes between walls with a varying diffusivity, compared with the periodic box of twice the length; the mass is
 * conserved. */
static void test_fluxes(void **state) {
  static const char *const grids[] = {"n = {20, 9}, size = {1, 1}, boundary = 'no_flux'", "n = {40, 18}, size = {2, 2}",
                                      "n = {20, 18}, size = {1, 2}, x = 'no_flux'",
                                      "n = {40, 9}, size = {2, 1}, y = 'no_flux'"};
  system_run s[4];
  (void)state;
  for (int c = 0; c < 4; c++)
    whole(
        &s[c],
        "return sim.diffusion { grid = { %s }, fields = {{ name = 'u', D = 0.1,"
        " initial = function(x, y) return 1 + 0.5*math.cos(math.pi*x)*math.cos(2*math.pi*y) + 0.2*math.cos(math.pi*y) "
        "end }}, flux = function(u, u_x, u_y, x) local D = 0.03*u*(1 + 0.5*math.cos(math.pi*x)) return -D*u_x, -D*u_y "
        "end, integrate = { scheme = 'etdrk4', dt = 1/128, t_end = 0.25 } }",
        grids[c]);
  for (int c = 0; c < 4; c++) {
    const grid_shape g = diffusion_grid_of(s[c].p);
    double sum = 0;
    for (int64_t i = 0; i < cells(&s[c]); i++) {
      const int64_t at = i / g.n[0] * 40 + i % g.n[0];
      assert_true(fabs(value(&s[c], 0, i) - value(&s[1], 0, at)) < 1e-13);
      sum += value(&s[c], 0, i) / (double)cells(&s[c]);
    }
    assert_true(fabs(sum - 1) < 1e-14);
  }
  for (int c = 0; c < 4; c++) shut(&s[c]);
}

/* Parseval and bins of |k| of quarter waves; dealiasing of a start that it keeps; noise and a resolved spectrum. */
static void test_spectrum(void **state) {
  double values[8];
  system_run s;
  (void)state;
  whole(&s, "return sim.diffusion { grid = { n = {20, 16}, size = {1, 1}, boundary = 'no_flux' }, fields = {"
            "{ name = 'u', sides = { x_low = { value = 0 }, y_low = { value = 0 }, y_high = { value = 0 } },"
            " initial = function(x, y) return math.sin(1.5*math.pi*x)*math.sin(2*math.pi*y) end }}, spectrum = 8,"
            "rates = function(u) return 0*u end,"
            "integrate = { scheme = 'etdrk2', dt = 1, t_end = 1, dealias = true } }");
  row(&s, 1, values);
  for (int b = 0; b < 8; b++) /* |k| = 2.5 pi; the mean square is 1/4 */
    assert_true(fabs(values[b] - (b == 3 ? 0.25 : 0)) < 1e-14);
  for (int64_t i = 0; i < cells(&s); i++) {
    const double x = 1.5 * pi * ((double)(i % 20) + 0.5) / 20, y = 2 * pi * ((double)(i / 20) + 0.5) / 16;
    assert_true(fabs(value(&s, 0, i) - sin(x) * sin(y)) < 1e-14);
  }
  shut(&s);
}

/* A wave midway between two bins, whose |k| is 1.5 times the least one, belongs to the upper one, along each axis and
 * in boxes whose sizes round each their own way. */
static void test_middle_of_bins(void **state) {
  (void)state;
  for (int i = 0; i < 80; i++) {
    double values[8];
    const double unit = 0.1 + 0.0371 * i, x = (i % 2 ? 3 : 2) * unit, y = (i % 2 ? 2 : 3) * unit;
    system_run s;
    whole(&s,
          "return sim.diffusion { grid = { n = {10, 12}, size = {%.17g, %.17g}, boundary = '%s' }, fields = {{ name = "
          "'u', initial = function(x, y) return math.cos(%s*math.pi*%s/%.17g) end }}, spectrum = 8,"
          "rates = function(u) return 0*u end, integrate = { scheme = 'etdrk2', dt = 1, t_end = 1 } }",
          x, y, i % 4 < 2 ? "periodic" : "no_flux", i % 4 < 2 ? "2" : "1", i % 2 ? "y" : "x", 2 * unit);
    row(&s, 1, values);
    for (int b = 0; b < 8; b++)
      if (!(fabs(values[b] - (b == 2 ? 0.5 : 0)) < 1e-14)) fail_msg("case %d: %.3g in bin %d", i, values[b], b);
    shut(&s);
  }
}

/* The same bits for any number of threads, for every instruction set in double, and after a restart. */
static void test_same_bits(void **state) {
  static const char text[] =
      "return sim.diffusion { grid = { n = {24, 18, 14}, size = {1, 1, 1}, boundary = 'no_flux', y = 'periodic' },"
      "solenoidal = 'u, v, w', fields = {"
      "{ name = 'u', D = 0.02, sides = { x_low = { value = 0 }, x_high = { value = 0 } }, noise = 0.1 },"
      "{ name = 'v', D = 0.02, noise = 0.1 },"
      "{ name = 'w', D = 0.02, sides = { z_low = { value = 0 }, z_high = { value = 0 } }, noise = 0.1 },"
      "{ name = 'T', D = 0.1, sides = { z_low = { slope = 1 }, z_high = { slope = 2 } }, noise = 0.1 }},"
      "rates = function(u, v, w, T, u_x, v_x, w_x, T_x, T_xz) return -u*u_x, -u*v_x, -u*w_x + T, -u*T_x + 0.01*T_xz "
      "end,"
      "integrate = { scheme = 'etdrk4', dt = 'auto', rtol = 1e-4, dealias = true, t_end = 1/8 } }";
  system_run first, s;
  (void)state;
  open_with(&first, text, SIM_ISA_PLAIN, 1, NULL);
  run_to(&first, 4);
  look(&first);
  open_with(&s, text, sim_isa_best(), 3, &first.frame);
  run_to(&first, INT64_MAX);
  run_to(&s, INT64_MAX);
  look(&first);
  look(&s);
  assert_true(first.clock.step > 4 && distance(&first, &s) == 0);
  shut(&s);
  shut(&first);
}

/* A run with split steps that continues to an end that its steps do not fill: the growing lift counts once. */
static void test_later_end(void **state) {
  static const char text[] =
      "return sim.diffusion { grid = { n = {16}, size = {2}, boundary = 'no_flux' },"
      "fields = {{ name = 'u', D = 0.3, sides = { x_low = { slope = 1 }, x_high = { slope = 3 } },"
      "  initial = function(x) return x + x^2/2 end }},"
      "rates = function(u) return 0*u end, integrate = { scheme = '%s', dt = 0.1, t_end = %g } }";
  static const char *const schemes[] = {"lie", "strang", "etd1", "etdrk2", "etdrk4"};
  (void)state;
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    system_run first, s;
    char longer[sizeof text + 32];
    whole(&first, text, schemes[i], 1.0);
    snprintf(longer, sizeof longer, text, schemes[i], 2.05);
    open_with(&s, longer, sim_isa_best(), 1, &first.frame);
    s.clock.t_end = 2.05;
    run_to(&s, INT64_MAX);
    look(&s);
    for (int64_t c = 0; c < 16; c++) {
      const double x = ((double)c + 0.5) / 8;
      if (!(fabs(value(&s, 0, c) - (x + x * x / 2 + 0.3 * 2.05)) < 1e-13))
        fail_msg("%s: %.17g at x = %g", schemes[i], value(&s, 0, c), x);
    }
    shut(&s);
    shut(&first);
  }
}

static void count_walls(void *context, sim_log_level level, const char *message) {
  if (level == SIM_LOG_WARN && (strstr(message, "together let") || strstr(message, "not half the change")))
    ++*(int *)context;
}

/* Returns the warnings of a start and a plan that `count` counts. */
static int plan_warnings(const char *text, void (*count)(void *context, sim_log_level level, const char *message)) {
  int warnings = 0;
  system_run s = {0};
  sim_plan plan = {0};
  assert_true(sim_log_add(count, &warnings));
  open_with(&s, text, sim_isa_best(), 1, NULL);
  must(diffusion_model.plan(s.p, &s.setup, &plan), "plan");
  sim_log_remove(count, &warnings);
  shut(&s);
  return warnings;
}

static void count_idle(void *context, sim_log_level level, const char *message) {
  *(int *)context += level == SIM_LOG_WARN && strstr(message, "has no effect") != NULL;
}

/* Walls of a field that nothing spreads through them are warned of, where nothing uses its series; a slope of 0 is
 * none. So are derived fields that nothing takes. */
static void test_idle(void **state) {
  static const struct {
    const char *field, *rates;
    int warnings;
    const char *more, *dealias;
  } cases[] = {{"", "-u", 1},
               {"D = 0.1, ", "-u", 0},
               {"D = 0.1, axes = {0, 1, 1}, ", "-u", 1},
               {"hyper = 1e-4, ", "-u", 0},
               {"linear = function(k2) return -k2 end, ", "-u", 0},
               {"", "-u*u_x", 0},
               {"", "-u, 0*v end, flux = function(u) return 0.1*u*u, 0", 0},
               {"", "-u", 0, "", "true"},
               {"", "-u", 0, "", "'padding'"},
               {"", "-u", 0, "spectrum = 4,"},
               {"", "-u", 1, "observe = { s = function(u, x) return u*x end },"},
               {"", "-u", 0, "observe = { s = function(u_x) return u_x end },"},
               {"", "-u", 1,
                "derived = { p = function(k2, v) return v/(1 + k2) end }, observe = { s = function(p)"
                " return p end },"},
               {"", "-u", 2, "derived = { p = function(k2, v) return v/(1 + k2) end },"},
               {"", "-u", 1, "forcing = { fields = 'v', k = {3, 7}, power = 1, random = true },"},
               {"", "-u", 0, "forcing = { fields = 'u', k = {3, 7}, power = 1, random = true },"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "return sim.diffusion { grid = { n = {8, 8}, size = {1, 1}, boundary = 'no_flux', y = 'periodic' }, fields"
             " = {{ name = 'u', %ssides = { x_low = { slope = 0 }, %s } }, { name = 'v', D = 1 }},"
             " rates = function(u, v, u_x) return %s%s end, %s"
             " integrate = { scheme = 'etdrk4', dt = 0.01, t_end = 1, dealias = %s } }",
             cases[i].field,
             strstr(cases[i].rates, "flux") || (cases[i].more && strstr(cases[i].more, "forcing"))
                 ? "x_high = { value = 0 }"
             : strstr(cases[i].field, "linear") ? "x_high = { robin = { a = 1 } }"
                                                : "x_high = { robin = { a = 1, g = 1 } }",
             cases[i].rates, strstr(cases[i].rates, "flux") ? ", 0, 0" : ", 0*v", cases[i].more ? cases[i].more : "",
             cases[i].dealias ? cases[i].dealias : "false");
    const int warnings = plan_warnings(text, count_idle);
    if (warnings != cases[i].warnings) fail_msg("%s, %s: %d warnings", cases[i].field, cases[i].rates, warnings);
  }
}

/* What a warning of a flux says first. */
static char said[256];

static void keep_walls(void *context, sim_log_level level, const char *message) {
  count_walls(context, level, message);
  if (strstr(message, "together let")) snprintf(said, sizeof said, "%s", message);
}

/* A flux that is not 0 at a wall with a slope or no flux is warned of, with its value there and the right wall. So are
 * budgets beside a spectrum that has the values at walls. u is 1 everywhere. */
static void test_warning(void **state) {
  static const struct {
    const char *sides, *flux;
    int warnings;
    const char *last;
  } cases[] = {{"{ x_low = { slope = 1 }, x_high = { slope = 1 } }", "-0.1*u_x, 0*u", 2, "u is -0.1 at x_high"},
               {"{ x_low = { slope = 1 }, x_high = { slope = 1 } }", "-x*u_x, 0*u", 1, "u is -1 at x_high"},
               {"{ x_low = { slope = 1 }, x_high = { slope = 1 } }", "(x - 1)*u_x, 0*u", 1, "u is -1 at x_low"},
               {"{ x_high = { slope = 1 } }", "-0.1*u_x, -0.1*u_y", 1, "together let -D * slope = -0.1 through"},
               {"{ x_low = { value = 1 }, x_high = { slope = 1 } }", "-u*u_x, -u*u_y", 1, "u is -1 at x_high"},
               {"{ x_low = { value = 1 }, x_high = { slope = 0 } }", "-u*u_x, -u*u_y", 0, ""},
               {"{ x_high = { slope = 1 } }", "u*x*(1 - x), -u*u_y", 0, ""},
               {"{}", "-0.1*u_x, -0.1*u_y", 0, ""},
               {"{}, noise = 0.3", "-u*u_x, -u*u_y", 0, ""}, /* odd at the walls: 0, though no value nearby is */
               {"{}, noise = 0.3", "u*u_xy, u_x*u_xy", 0, ""},
               {"{}, noise = 0.3", "u_x, u_x", 2, "at y_high"},
               {"{}", "0*u, u^2/2", 2, "u is 0.5 at y_high at the start: D and flux together let 0 through"},
               {"{ x_low = { value = 0 } }", "u^2/2, 0*u", 1, "u is 0.5 at x_high"},
               {"{ x_low = { value = 1 } }", "-u*u_x, -u*u_y end, transfer = 4", 0, ""},
               {"{ x_low = { value = 1 } }", "-u*u_x, -u*u_y end, transfer = 4, spectrum = 4", 1, ""},
               {"{ x_low = { value = 0 } }", "-u*u_x, -u*u_y end, transfer = 4, spectrum = 4", 0, ""}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[512];
    snprintf(
        text, sizeof text,
        "return sim.diffusion { grid = { n = {8, 8}, size = {1, 1}, boundary = 'no_flux' }, fields = {{ name = "
        "'u', D = 0.1, initial = 1, sides = %s }}, flux = function(u, u_x, u_y, u_xy, x) return %s%s, integrate = { "
        "scheme = 'etdrk4', dt = 0.01, t_end = 1 } }",
        cases[i].sides, cases[i].flux, strstr(cases[i].flux, " end") ? "" : " end");
    *said = 0;
    const int warnings = plan_warnings(text, keep_walls);
    if (warnings != cases[i].warnings || !strstr(said, cases[i].last))
      fail_msg("%s, %s: %d warnings, %s", cases[i].sides, cases[i].flux, warnings, said);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_heat),           cmocka_unit_test(test_two_axes),
      cmocka_unit_test(test_orders),         cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_rates),          cmocka_unit_test(test_box),
      cmocka_unit_test(test_images),         cmocka_unit_test(test_critical_rayleigh_number),
      cmocka_unit_test(test_fluxes),         cmocka_unit_test(test_spectrum),
      cmocka_unit_test(test_middle_of_bins), cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_later_end),      cmocka_unit_test(test_warning),
      cmocka_unit_test(test_idle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
