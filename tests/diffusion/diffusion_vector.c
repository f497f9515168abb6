/* Budgets of enstrophy and helicity by |k|, and structure functions. */
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void row(system_run *s, const char *name, double *values) {
  int table = 0;
  while (s->p->tables[table] && strcmp(s->p->tables[table]->name, name) != 0) table++;
  assert_non_null(s->p->tables[table]);
  must(diffusion_model.observe(s->self, &s->clock, table, values), name);
}

static double sum_of(const double *values, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += values[i];
  return sum;
}

/* ---- budgets ---- */

enum { BINS = 7 };

/* Flows of three and two axes, on odd and even grids, and between walls. `total`: the whole quantity, as a function. */
static const struct {
  const char *text, *key, *total;
  bool moves_only; /* rates add nothing to the sum over all bins */
} flows[] = {
#define THREE(n)                                                                                                       \
  "grid = { n = " n ", size = {2*math.pi, 2*math.pi, 4*math.pi} }, solenoidal = 'u, v, w', fields = {"                 \
  "{ name = 'u', D = 0.05, initial = function(x, y, z)"                                                                \
  " return math.sin(x)*math.cos(y)*math.cos(z/2) + 0.7*math.sin(z/2) end },"                                           \
  "{ name = 'v', D = 0.05, initial = function(x, y, z)"                                                                \
  " return -math.cos(x)*math.sin(y)*math.cos(z/2) + 0.2*math.cos(x - z) + 0.7*math.cos(z/2) end },"                    \
  "{ name = 'w', D = 0.05, initial = function(x, y) return 0.5*math.sin(x + 2*y) end }},"                              \
  "derived = { a = function(ky, kz, v, w) return 0, ky*w - kz*v end,"                                                  \
  "b = function(kz, kx, u, w) return 0, kz*u - kx*w end, c = function(kx, ky, u, v) return 0, kx*v - ky*u end },"      \
  "rates = function(u, v, w, a, b, c) return v*c - w*b, w*a - u*c, u*b - v*a end,"
    {THREE("{16, 12, 20}"), "enstrophy", "function(a, b, c) return (a^2 + b^2 + c^2)/2 end", false},
    {THREE("{15, 14, 16}"), "helicity", "function(u, v, w, a, b, c) return u*a + v*b + w*c end", true},
    {"grid = { n = {16, 18}, size = {2*math.pi, 2*math.pi} }, solenoidal = 'u, v', fields = {"
     "{ name = 'u', D = 0.05, initial = function(x, y) return math.sin(y) + 0.3*math.cos(2*y + x) end },"
     "{ name = 'v', D = 0.05, initial = function(x, y) return math.cos(2*x) + 0.2*math.sin(x - y) end }},"
     "rates = function(u, v, u_x, u_y, v_x, v_y) return -u*u_x - v*u_y, -u*v_x - v*v_y end,",
     "enstrophy", "function(u_y, v_x) return (v_x - u_y)^2/2 end", true},
    {"grid = { n = {16, 18}, size = {math.pi, math.pi}, boundary = 'no_flux' }, solenoidal = 'u, v', fields = {"
     "{ name = 'u', D = 0.05, sides = { x_low = { value = 0 }, x_high = { value = 0 } },"
     " initial = function(x, y) return math.sin(x)*math.cos(2*y) + math.sin(2*x)*math.cos(y) end },"
     "{ name = 'v', D = 0.05, sides = { y_low = { value = 0 }, y_high = { value = 0 } },"
     " initial = function(x, y) return -0.5*math.cos(x)*math.sin(2*y) - 2*math.cos(2*x)*math.sin(y) end }},"
     "rates = function(u, v, u_x, u_y, v_x, v_y) return -u*u_x - v*u_y, -u*v_x - v*v_y end,",
     "enstrophy", "function(u_y, v_x) return (v_x - u_y)^2/2 end", true},
};

/* The bins add up to the whole quantity, and each bin changes in time by its transfer less its dissipation. The
 * derivative by five points of steps of 1/256 has the error h^4/30 of a function with the time scale 1/20: 1e-7 of it.
 * The scheme's error is smaller. Sums are of some 1e4 numbers: 1e-13 of the largest. */
static void test_budgets(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof flows / sizeof *flows; c++) {
    double content[5][BINS], transfer[BINS], dissipation[BINS], whole_of[1], most = 0, size = 0;
    char text[4096], name[64];
    system_run s;
    snprintf(text, sizeof text,
             "return sim.diffusion { %s %s = %d, observe = { whole = { %s, reduce = 'mean' } },"
             " integrate = { scheme = 'etdrk4', dt = 1/256, t_end = 1, dealias = true } }",
             flows[c].text, flows[c].key, BINS, flows[c].total);
    open_with(&s, text, sim_isa_best(), 2, NULL);
    for (int i = 0; i < 5; i++) {
      run_to(&s, 32 + i);
      row(&s, flows[c].key, content[i]);
      row(&s, "observe", whole_of);
      for (int b = 0; b < BINS; b++) size = fmax(size, fabs(content[i][b]));
      if (!(fabs(sum_of(content[i], BINS) - whole_of[0]) < 1e-13 * size))
        fail_msg("case %zu: bins add up to %.17g of %.17g", c, sum_of(content[i], BINS), whole_of[0]);
      if (i != 2) continue;
      snprintf(name, sizeof name, "%s_transfer", flows[c].key);
      row(&s, name, transfer);
      snprintf(name, sizeof name, "%s_dissipation", flows[c].key);
      row(&s, name, dissipation);
    }
    for (int b = 0; b < BINS; b++) most = fmax(most, fabs(transfer[b]) + fabs(dissipation[b]));
    for (int b = 0; b < BINS; b++) {
      const double change = (content[0][b] - 8 * content[1][b] + 8 * content[3][b] - content[4][b]) / 12 * 256;
      if (!(fabs(change - transfer[b] + dissipation[b]) < 1e-7 * most))
        fail_msg("case %zu, bin %d: change %.12g, transfer %.12g, dissipation %.12g", c, b, change, transfer[b],
                 dissipation[b]);
    }
    if (!(most > 0.01)) fail_msg("case %zu: at most %g", c, most);
    if (flows[c].moves_only != (fabs(sum_of(transfer, BINS)) < 1e-13 * most))
      fail_msg("case %zu: transfers add up to %g of %g", c, sum_of(transfer, BINS), most);
    shut(&s);
  }
}

/* ---- structure functions ---- */

/* Taylor and Green's u = sin x cos y, v = -cos x sin y: u(x + r, y) - u(x, y) = 2 sin(r/2) cos(x + r/2) cos y, and
 * along y -2 sin(r/2) sin x sin(y + r/2), so that both moments of order 2 are sin^2(r/2) and those of order 4 are
 * (2 sin(r/2))^4 (3/8)^2. Of u = sin(x + y) + sin(2x + 2y)/2 = -v, which is not symmetric, the moment of order 3 along
 * r is the mean over s of (f(s + r) - f(s))^3, of both signs: by a sum over 64 points, exact for its harmonics. */
static double third_moment(double r) {
  double sum = 0;
  for (int i = 0; i < 64; i++) {
    const double s = 2 * acos(-1.0) * i / 64;
    sum += pow(sin(s + r) + 0.5 * sin(2 * (s + r) + 0.4) - sin(s) - 0.5 * sin(2 * s + 0.4), 3) / 64;
  }
  return sum;
}

static void test_structure(void **state) {
  (void)state;
  for (int order = 2; order <= 4; order++) {
    double values[8];
    system_run s;
    whole(
        &s,
        "return sim.diffusion { grid = { n = {16, 32}, size = {math.pi*2, math.pi*4} }, solenoidal = 'u, v', fields = {"
        "{ name = 'u', initial = function(x, y) return %s end }, { name = 'v', initial = function(x, y) return %s end "
        "}},"
        "rates = function(u, v) return 0*u, 0*v end, structure = { order = %d, separations = 4 },"
        "integrate = { scheme = 'etd1', dt = 1, t_end = 1 } }",
        order == 3 ? "math.sin(x + y) + 0.5*math.sin(2*x + 2*y + 0.4)" : "math.sin(x)*math.cos(y)",
        order == 3 ? "-math.sin(x + y) - 0.5*math.sin(2*x + 2*y + 0.4)" : "-math.cos(x)*math.sin(y)", order);
    row(&s, "structure", values);
    for (int i = 0; i < 4; i++) {
      const double r = 2 * acos(-1.0) / 16 * (1 << i);
      const double e = order == 3 ? third_moment(r) : pow(2 * sin(r / 2), order) * (order == 2 ? 0.25 : 9.0 / 64);
      /* u gives e along x, and v, its opposite, -e along y: their mean is 0, also across */
      const double expected = order == 3 ? 0 : e;
      if (!(fabs(values[i] - expected) < 1e-13 && fabs(values[4 + i] - expected) < 1e-13))
        fail_msg("order %d, distance %d: %.12g, %.12g, expected %.12g", order, 1 << i, values[i], values[4 + i],
                 expected);
    }
    shut(&s);
  }
}

/* A plane wave of three axes whose third moments differ from 0: only w is not 0, and varies along x and y. */
static void test_third_order(void **state) {
  double values[6];
  system_run s;
  (void)state;
  whole(&s, "return sim.diffusion { grid = { n = {16, 16, 16}, size = {math.pi*2, math.pi*2, math.pi*2} },"
            "solenoidal = 'u, v, w', fields = {{ name = 'u' }, { name = 'v' },"
            "{ name = 'w', initial = function(x, y) return math.sin(x + y) + 0.5*math.sin(2*x + 2*y + 0.4) end }},"
            "rates = function(u, v, w) return 0*u, 0*v, 0*w end, structure = { order = 3, separations = 3 },"
            "integrate = { scheme = 'etd1', dt = 1, t_end = 1 } }");
  row(&s, "structure", values);
  for (int i = 0; i < 3; i++) {
    const double across = third_moment(2 * acos(-1.0) / 16 * (1 << i)) * 2 / 6; /* 2 of 6 pairs of axis and component */
    if (!(fabs(values[i]) < 1e-15 && fabs(values[3 + i] - across) < 1e-13 && fabs(across) > 1e-3))
      fail_msg("distance %d: %.12g, %.12g, expected 0, %.12g", 1 << i, values[i], values[3 + i], across);
  }
  shut(&s);
}

/* One axis: the velocity is named, and there is nothing across the axis. */
static void test_one_axis(void **state) {
  double values[3];
  system_run s;
  (void)state;
  whole(&s, "return sim.diffusion { grid = { n = {16}, size = {math.pi*2} },"
            "fields = {{ name = 'u', initial = function(x) return math.sin(x) + 0.5*math.sin(2*x + 0.4) end }},"
            "rates = function(u) return 0*u end, structure = { order = 3, separations = 3 },"
            "integrate = { scheme = 'etd1', dt = 1, t_end = 1, velocity = 'u' } }");
  int table = 0;
  while (strcmp(s.p->tables[table]->name, "structure") != 0) table++;
  assert_null(s.p->tables[table]->columns[3].name);
  row(&s, "structure", values);
  for (int i = 0; i < 3; i++) {
    const double expected = third_moment(2 * acos(-1.0) / 16 * (1 << i));
    if (!(fabs(values[i] - expected) < 1e-13 && fabs(expected) > 1e-3))
      fail_msg("distance %d: %.12g, expected %.12g", 1 << i, values[i], expected);
  }
  shut(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_budgets), cmocka_unit_test(test_structure),
                                     cmocka_unit_test(test_third_order), cmocka_unit_test(test_one_axis)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
