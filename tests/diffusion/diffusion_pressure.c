/* The pressure and the curl of a solenoidal vector, in outputs, observed functions and rates. */
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PI 3.14159265358979323846
#define PLANE_RATES "rates = function(u, v, u_x, u_y, v_x, v_y) return -u*u_x - v*u_y, -u*v_x - v*v_y end,"
#define CUBE_RATES                                                                                                     \
  "rates = function(u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, w_z) return -u*u_x - v*u_y - w*u_z,"              \
  " -u*v_x - v*v_y - w*v_z, -u*w_x - v*w_y - w*w_z end,"
#define PLANE_FIELDS(u, v)                                                                                             \
  "fields = { { name = 'u', D = 0.1, initial = function(x, y) return math.sin(x)*math.cos(y) end " u " },"             \
  " { name = 'v', D = 0.1, initial = function(x, y) return -math.cos(x)*math.sin(y) end " v " } },"                    \
  " solenoidal = 'u, v',"
#define FINE_FIELDS                                                                                                    \
  "fields = { { name = 'u', D = 0.1, initial = function(x, y) return math.sin(3*x)*math.cos(3*y) end },"               \
  " { name = 'v', D = 0.1, initial = function(x, y) return -math.cos(3*x)*math.sin(3*y) end } },"                      \
  " solenoidal = 'u, v',"
#define CUBE_FIELDS(u, v, w)                                                                                           \
  "fields = { { name = 'u', D = 0.1, initial = function(x, y, z) return math.sin(x)*math.cos(y)*math.cos(z) end " u    \
  " }, { name = 'v', D = 0.1, initial = function(x, y, z) return -math.cos(x)*math.sin(y)*math.cos(z) end " v " },"    \
  " { name = 'w', D = 0.1 " w " } }, solenoidal = 'u, v, w',"
#define STEPS(more) " integrate = { scheme = 'etdrk4', dt = 0.1, t_end = 0.5 " more " },"
#define SLIP(a) ", sides = { " a "_low = { value = 0 }, " a "_high = { value = 0 } }"

/* The exact pressure, and the vorticity v_x - u_y, of one flow at time t. */
typedef double exact_form(const double x[3], double t);
static double plane_pressure(const double x[3], double t) {
  return exp(-0.4 * t) * (cos(2 * x[0]) + cos(2 * x[1])) / 4;
}
static double plane_vorticity(const double x[3], double t) { return 2 * exp(-0.2 * t) * sin(x[0]) * sin(x[1]); }
static double cube_pressure(const double x[3], double t) {
  (void)t;
  return (cos(2 * x[0]) + cos(2 * x[1])) * (cos(2 * x[2]) + 2) / 16;
}
static double cube_curl(const double x[3], double t) {
  (void)t;
  return 2 * sin(x[0]) * sin(x[1]) * cos(x[2]);
}
static double shear_pressure(const double x[3], double t) { return cos(x[0]) * cos(x[1]) + sin(x[0] + t); }
static double shear_vorticity(const double x[3], double t) {
  (void)t;
  return -cos(x[1]);
}
static double quarter_pressure(const double x[3], double t) {
  (void)t;
  return cos(x[0]) * cos(x[1]);
}

static double fine_pressure(const double x[3], double t) {
  (void)t;
  return (cos(6 * x[0]) + cos(6 * x[1])) / 4;
}
static double no_pressure(const double x[3], double t) {
  (void)x, (void)t;
  return 0;
}
static double fine_vorticity(const double x[3], double t) {
  (void)t;
  return 6 * sin(3 * x[0]) * sin(3 * x[1]);
}

typedef struct flow {
  const char *text, *curl;
  exact_form *pressure, *vorticity;
  bool evolves; /* exact at all times, not at the start alone */
} flow;

static const flow flows[] = {
    /* Taylor and Green, with even, odd and cut numbers of cells; members; slip walls */
    {"grid = { n = {16, 18}, size = {2*math.pi, 2*math.pi} }," PLANE_FIELDS("", "") PLANE_RATES STEPS(""), "vorticity",
     plane_pressure, plane_vorticity, true},
    {"grid = { n = {16, 20}, size = {2*math.pi, 2*math.pi} }," PLANE_FIELDS("", "")
         PLANE_RATES STEPS(", dealias = 'padding'"),
     "vorticity", plane_pressure, plane_vorticity, true},
    {"members = 3, grid = { n = {16, 16}, size = {2*math.pi, 2*math.pi} }," PLANE_FIELDS("", "")
         PLANE_RATES STEPS(", dealias = true"),
     "vorticity", plane_pressure, plane_vorticity, true},
    {"grid = { n = {12, 10}, size = {math.pi, math.pi}, boundary = 'no_flux' }," PLANE_FIELDS(SLIP("x"), SLIP("y"))
         PLANE_RATES STEPS(""),
     "vorticity", plane_pressure, plane_vorticity, true},
    {"grid = { n = {12, 10}, size = {2*math.pi, math.pi}, y = 'no_flux' }," PLANE_FIELDS("", SLIP("y"))
         PLANE_RATES STEPS(", dealias = 'padding'"),
     "vorticity", plane_pressure, plane_vorticity, true},
    {"grid = { n = {12, 10}, size = {math.pi, 2*math.pi}, x = 'no_flux' }," PLANE_FIELDS(
         SLIP("x"), "") "flux = function(u, v) return u*u, u*v, u*v, v*v end," STEPS(", dealias = true"),
     "vorticity", plane_pressure, plane_vorticity, true},
    {"grid = { n = {16, 12, 14}, size = {2*math.pi, 2*math.pi, 2*math.pi} }," CUBE_FIELDS("", "", "")
         CUBE_RATES STEPS(""),
     "curl_w", cube_pressure, cube_curl, false},
    {"grid = { n = {10, 12, 9}, size = {math.pi, math.pi, math.pi}, boundary = 'no_flux' }," CUBE_FIELDS(
         SLIP("x"), SLIP("y"), SLIP("z")) CUBE_RATES STEPS(""),
     "curl_w", cube_pressure, cube_curl, false},
    {"grid = { n = {16, 12, 10}, size = {2*math.pi, 2*math.pi, math.pi}, z = 'no_flux' }," CUBE_FIELDS(
         "", "", SLIP("z")) CUBE_RATES STEPS(", dealias = 'padding'"),
     "curl_w", cube_pressure, cube_curl, false},
    /* `dealias` cuts what it cuts of the rates: wavenumber 6 of 16 cells, and not of padded ones */
    {"grid = { n = {16, 16}, size = {2*math.pi, 2*math.pi} }," FINE_FIELDS PLANE_RATES STEPS(", dealias = true"),
     "vorticity", no_pressure, fine_vorticity, false},
    {"grid = { n = {16, 16}, size = {2*math.pi, 2*math.pi} }," FINE_FIELDS PLANE_RATES STEPS(", dealias = 'padding'"),
     "vorticity", fine_pressure, fine_vorticity, false},
    /* Kolmogorov's flow has no pressure; a force with a potential that changes in time is all of it */
    {"grid = { n = {12, 16}, size = {2*math.pi, 2*math.pi} }, fields = { { name = 'u', D = 0.1, initial = function(x, "
     "y)"
     " return math.sin(y) end }, { name = 'v', D = 0.1 } }, solenoidal = 'u, v', rates = function(u, v, u_x, u_y, v_x,"
     " v_y, x, y, t) return -u*u_x - v*u_y + 0.1*math.sin(y) - math.sin(x)*math.cos(y) + math.cos(x + t),"
     " -u*v_x - v*v_y - math.cos(x)*math.sin(y) end," STEPS(""),
     "vorticity", shear_pressure, shear_vorticity, true},
    /* a wall that lets fluid through, where the pressure is 0: quarter waves */
    {"grid = { n = {12, 14}, size = {math.pi/2, 2*math.pi}, x = 'no_flux' }," PLANE_FIELDS(
         ", sides = { x_low = { value = 0 }, x_high = { slope = 0 } }",
         ", sides = { x_low = { slope = 0 }, x_high = { value = 0 } }") "rates = function(x, y) return "
                                                                        "-math.sin(x)*math.cos(y), "
                                                                        "-math.cos(x)*math.sin(y) end," STEPS(""),
     "vorticity", quarter_pressure, plane_vorticity, true}};

static void check_flow(system_run *s, const flow *f, double bound) {
  const grid_shape grid = diffusion_grid_of(s->p);
  const int fields = (int)s->p->fields.count;
  look(s);
  assert_int_equal(s->frame.array_count, fields + 4);
  assert_string_equal(s->arrays[1 + fields].field->name, "copy");
  assert_string_equal(s->arrays[2 + fields].field->name, f->curl);
  assert_string_equal(s->arrays[3 + fields].field->name, "pressure");
  for (int64_t c = 0; c < cells(s); c++) {
    const double x[3] = {grid_centre(&grid, 0, c % grid.n[0]), grid_centre(&grid, 1, c / grid.n[0] % grid.n[1]),
                         grid_centre(&grid, 2, c / grid.n[0] / grid.n[1])};
    const double p = f->pressure(x, s->clock.t), w = f->vorticity(x, s->clock.t);
    if (!(fabs(value(s, fields + 2, c) - p) <= bound && fabs(value(s, fields + 1, c) - w) <= bound &&
          fabs(value(s, fields, c) - 2 * p - w) <= 3 * bound))
      fail_msg("%s: t = %g, cell %lld: pressure %.17g for %.17g, curl %.17g for %.17g", current, s->clock.t,
               (long long)c, value(s, fields + 2, c), p, value(s, fields + 1, c), w);
  }
}

/* Rounding: transforms of 20 points and derivatives with k <= 10 of numbers of 1, u = 1.1e-16 (6e-8). */
static void test_flows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
    for (int single = 0; single < 2; single++) {
      const flow *f = &flows[i];
      char text[4096];
      system_run s;
      snprintf(
          text, sizeof text,
          "return sim.diffusion { %s precision = '%s', observe = { copy = function(pressure, %s) return 2*pressure +"
          " %s end }, output = { fields = 'pressure, %s, copy' } }",
          f->text, single ? "single" : "double", f->curl, f->curl, f->curl);
      open_with(&s, text, sim_isa_best(), 2, NULL);
      check_flow(&s, f, single ? 3e-6 : 2e-14);
      run_to(&s, INT64_MAX);
      if (f->evolves) check_flow(&s, f, single ? 1e-5 : 4e-14);
      shut(&s);
    }
}

/* Rates with curls have the bits of rates with their derivatives, u_yx is u_xy, and a curl is the derived field that is
 * the same. A field and a function of `observe` keep their names. */
static void test_names(void **state) {
  static const char form[] =
      "return sim.diffusion { grid = { n = {10, 9, 8}, size = {6, 5, 4} }, fields = { { name = 'u', noise = 1, D = 0.1 "
      "},"
      " { name = 'v', noise = 1, D = 0.1 }, { name = 'w', noise = 1, D = 0.1 } }, solenoidal = 'u, v, w',"
      " derived = { a = function(ky, kz, v, w) return 0, ky*w - kz*v end }, rates = %s,"
      " integrate = { scheme = 'etdrk2', dt = 0.01, t_end = 0.05 }, output = { fields = 'a, curl_u' } }";
  system_run s, other;
  (void)state;
  whole(&s, form,
        "function(u, v, w, curl_u, curl_v, curl_w, u_yx, w_zy) return v*curl_w - w*curl_v + 0.1*u_yx, w*curl_u -"
        " u*curl_w, u*curl_v - v*curl_u + 0.1*w_zy end");
  whole(&other, form,
        "function(u, v, w, u_y, u_z, v_x, v_z, w_x, w_y, u_xy, w_yz) return v*(v_x - u_y) - w*(u_z - w_x) + 0.1*u_xy,"
        " w*(w_y - v_z) - u*(v_x - u_y), u*(u_z - w_x) - v*(w_y - v_z) + 0.1*w_yz end");
  assert_true(distance(&s, &other) == 0);
  look(&s);
  for (int64_t c = 0; c < cells(&s); c++) assert_true(fabs(value(&s, 3, c) - value(&s, 4, c)) < 1e-13);
  shut(&s), shut(&other);
  /* one step of explicit decay: a field `vorticity` is no curl */
  whole(&s,
        "return sim.diffusion { grid = { n = {4, 4}, size = {1, 1} }, fields = { { name = 'u' }, { name = 'v' },"
        " { name = 'vorticity', initial = function() return 1 end } }, solenoidal = 'u, v', rates ="
        " function(vorticity) return 0, 0, -vorticity end, observe = { pressure = function(vorticity) return 3 +"
        " vorticity end }, integrate = { scheme = 'lie', dt = 0.5, t_end = 0.5 }, output = { fields = 'pressure' } }");
  look(&s);
  assert_true(value(&s, 2, 5) == 0.5 && value(&s, 3, 5) == 3.5);
  shut(&s);
}

/* The same bits from a checkpoint, by other threads and instructions, and the fields have the bits of a run without. */
static void test_same_bits(void **state) {
  static const char form[] =
      "return sim.diffusion { grid = { n = {18, 16}, size = {6, 5} }, fields = { { name = 'u', D = 0.1, noise = 1 },"
      " { name = 'v', D = 0.1, noise = 0.5 } }, solenoidal = 'u, v', " PLANE_RATES
      " integrate = { scheme = 'etdrk4', dt = 0.01, t_end = 0.1 %s }, output = { %s } }";
  (void)state;
  for (int i = 0; i < 2; i++) {
    const char *more = i == 0 ? "" : ", dealias = 'padding'";
    system_run s, again, without;
    char text[1024];
    snprintf(text, sizeof text, form, more, "fields = 'vorticity, pressure'");
    restart_at(5, text, &s, &again);
    for (int f = 0; f < 4; f++)
      for (int64_t c = 0; c < cells(&s); c++) assert_true(value(&s, f, c) == value(&again, f, c));
    whole(&without, form, more, "");
    assert_true(distance(&s, &without) == 0);
    shut(&s), shut(&again), shut(&without);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_flows), cmocka_unit_test(test_names),
                                     cmocka_unit_test(test_same_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
