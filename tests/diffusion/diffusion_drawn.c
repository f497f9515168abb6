/* Fields of output.fields: derived fields, and functions of `observe` in each cell. */
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

/* Two waves that decay as exp(-D k^2 t) with k^2 = 5 and 10, and whose exact derived fields are written below. */
#define WAVES(more, time)                                                                                              \
  "return sim.diffusion { grid = { n = {%d, %d}, size = {2*math.pi, 2*math.pi} }, precision = '%s', " more             \
  "fields = { { name = 'u', D = 0.1, initial = function(x, y) return math.cos(2*x)*math.sin(y) end },"                 \
  " { name = 'v', D = 0.1, initial = function(x, y) return math.sin(x)*math.cos(3*y) end } },"                         \
  "derived = { psi = function(k2, u) return -u/k2 end, idle = function(v) return 2*v end,"                             \
  " w = function(kx, ky, u, v) return 0, kx*v - ky*u end },"                                                           \
  "observe = { speed = { function(u, v) return math.sqrt(u^2 + v^2) end, reduce = 'max' },"                            \
  " curl = { function(x, t, v_x, u_y, psi_xy) return v_x - u_y + x*t*psi_xy end, reduce = 'mean' } }," time            \
  " output = { fields = 'curl, w, speed, psi' } }"
#define EXACT "integrate = { t_end = 1 },"
#define ETD "rates = function(u, v) return 0, 0 end, integrate = { scheme = 'etdrk4', dt = 0.5, t_end = 1%s },"

/* Compares the drawn fields: derived ones, then functions of `observe`, both by their names. The derived field `idle`
 * is none of them. */
static void check_waves(system_run *s, double bound) {
  static const char *const names[] = {"u", "v", "psi", "w", "curl", "speed"};
  const grid_shape grid = diffusion_grid_of(s->p);
  const double a = exp(-0.5 * s->clock.t), b = exp(-s->clock.t);
  look(s);
  assert_int_equal(s->frame.array_count, 7);
  for (int f = 0; f < 6; f++) assert_string_equal(s->arrays[1 + f].field->name, names[f]);
  for (int64_t c = 0; c < cells(s); c++) {
    const double x = grid_centre(&grid, 0, c % grid.n[0]), y = grid_centre(&grid, 1, c / grid.n[0] % grid.n[1]);
    const double u = a * cos(2 * x) * sin(y), v = b * sin(x) * cos(3 * y);
    const double w = b * cos(x) * cos(3 * y) - a * cos(2 * x) * cos(y);
    const double exact[] = {u, v, -u / 5, w, w + x * s->clock.t * a * 2 * sin(2 * x) * cos(y) / 5, sqrt(u * u + v * v)};
    for (int f = 0; f < 6; f++)
      if (!(fabs(value(s, f, c) - exact[f]) <= bound))
        fail_msg("%s: %s, cell %lld: %.17g for %.17g", current, names[f], (long long)c, value(s, f, c), exact[f]);
  }
}

/* Rounding: a transform of 20 cells has errors below log2(20 * 24) = 9 u, times k <= 3 and x t <= 2 pi; in single
 * precision u = 6e-8, and with padding four transforms a step. */
static void test_values(void **state) {
  (void)state;
  for (int single = 0; single < 2; single++)
    for (int form = 0; form < 5; form++) {
      static const char *const ends[] = {"", ", dealias = true", ", dealias = 'padding'"};
      const char *kind = single ? "single" : "double";
      char text[2048];
      system_run s;
      if (form == 0)
        snprintf(text, sizeof text, WAVES("", EXACT), 24, 20, kind);
      else if (form == 1)
        snprintf(text, sizeof text, WAVES("members = 3,", EXACT), 15, 20, kind);
      else
        snprintf(text, sizeof text, WAVES("", ETD), 24, 20, kind, ends[form - 2]);
      open_with(&s, text, sim_isa_best(), 3, NULL);
      check_waves(&s, single ? 4e-6 : 2e-14);
      run_to(&s, INT64_MAX);
      check_waves(&s, single ? 1e-5 : 2e-14);
      shut(&s);
    }
}

/* Between walls with a value and a slope: the derivative of T = 1 - y/2 + cos x sin(pi y/2) exp(-D (1 + pi^2/4) t), and
 * a potential of a field without them. */
static void test_walls(void **state) {
  system_run s;
  (void)state;
  open_with(&s,
            "return sim.diffusion { grid = { n = {12, 9}, size = {2*math.pi, 1}, y = 'no_flux' }, fields = {"
            "{ name = 'T', D = 0.1, initial = function(x, y) return 1 - y/2 + math.cos(x)*math.sin(math.pi*y/2) end,"
            " sides = { y_low = { value = 1 }, y_high = { slope = -0.5 } } },"
            "{ name = 'c', initial = function(x, y) return math.cos(x)*math.cos(math.pi*y) end } },"
            "derived = { p = function(k2, c) return -c/k2 end },"
            "observe = { heat = function(T, T_y) return T - 0.1*T_y end },"
            "integrate = { t_end = 1 }, output = { fields = 'heat,p' } }",
            sim_isa_best(), 1, NULL);
  run_to(&s, INT64_MAX);
  look(&s);
  const double decay = exp(-0.1 * (1 + pi * pi / 4));
  for (int64_t i = 0; i < cells(&s); i++) {
    const double x = ((double)(i % 12) + 0.5) * pi / 6, y = ((double)(i / 12) + 0.5) / 9;
    assert_true(fabs(value(&s, 2, i) + cos(x) * cos(pi * y) / (1 + pi * pi)) < 1e-14);
    const double T = 1 - y / 2 + decay * cos(x) * sin(pi * y / 2),
                 slope = decay * cos(x) * pi / 2 * cos(pi * y / 2) - 0.5;
    assert_true(fabs(value(&s, 3, i) - (T - 0.1 * slope)) < 1e-14);
  }
  shut(&s);
}

/* Probes show drawn fields after the fields: the cell of the array. */
static void test_probes(void **state) {
  char text[2048];
  double row[12];
  system_run s;
  (void)state;
  snprintf(text, sizeof text, WAVES("probes = {{1, 2, 0}, {0, 6.28, 0}},", EXACT), 24, 20, "double");
  open_with(&s, text, sim_isa_best(), 2, NULL);
  run_to(&s, 40);
  look(&s);
  assert_string_equal(s.p->tables[2]->name, "probes");
  assert_string_equal(s.p->tables[2]->columns[4].name, "psi_1");
  assert_string_equal(s.p->tables[2]->columns[11].name, "speed_2");
  must(diffusion_model.observe(s.self, &s.clock, 2, row), "observe");
  for (int f = 0; f < 6; f++) {
    assert_true(row[2 * f] == value(&s, f, 6 * 24 + 3));
    assert_true(row[2 * f + 1] == value(&s, f, 19 * 24));
  }
  shut(&s);
}

/* The same bits from a checkpoint, with other threads and instructions; and fields have the bits of the run without. */
static void test_same_bits(void **state) {
  static const char *const schemes[] = {"'strang', dt = 0.01", "'etdrk4', dt = 0.01", "'etdrk2', dealias = 'padding'",
                                        "'etdrk2', courant = 0.5, velocity = 'u, v'"};
  (void)state;
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    system_run s, again, without;
    char text[1024];
    static const char form[] =
        "return sim.diffusion { grid = { n = {18, 10}, size = {6, 5} }, fields = { { name = 'u', D = 0.1, noise = 1 },"
        " { name = 'v', D = 0.1, noise = 0.5 } }, rates = function(u, v) return u - u^3 - v, u end,"
        "derived = { p = function(k2, u) return -u/k2 end }, observe = { uv = function(u, v) return u*v end },"
        "integrate = { scheme = %s, t_end = 0.1 }, output = { %s } }";
    snprintf(text, sizeof text, form, schemes[i], "fields = 'p, uv'");
    restart_at(5, text, &s, &again);
    assert_int_equal(s.arrays[4].field->flags, SIM_IN_SNAPSHOT | SIM_NO_CHECKPOINT);
    for (int f = 0; f < 4; f++)
      for (int64_t c = 0; c < cells(&s); c++) assert_true(value(&s, f, c) == value(&again, f, c));
    whole(&without, form, schemes[i], "");
    assert_true(distance(&s, &without) == 0);
    shut(&s), shut(&again), shut(&without);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_walls),
                                     cmocka_unit_test(test_probes), cmocka_unit_test(test_same_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
