/* Forcing of a shell at a fixed power, against exact solutions and budgets, and budgets by |k|. */
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void row(system_run *s, int table, double *values) {
  must(diffusion_model.observe(s->self, &s->clock, table, values), "observe");
}

/* Fields whose forced modes all have |k|^2 = K, with D K = 0.4. Their energy E(t) follows E' = P - 2 D K E, so that the
 * fields are the start times a(t) = sqrt(E(t)/E(0)), which is SHAPE(P, E(0)). Modes outside of the shell, and the
 * second field of a case, are not forced and decay. Each case observes the largest difference from this solution. */
#define DECAY "math.exp(-0.8*t)"
#define SHAPE(power, energy) "math.sqrt(" power "/0.8/(" energy ")*(1 - " DECAY ") + " DECAY ")"
#define SHAPE_OF_MODES SHAPE("0.7", "5/16")
#define SHAPE_OF_VECTOR SHAPE("0.7", "1.5")
#define SHAPE_OF_WAVES SHAPE("0.7", "1/4")

/* periodic axes: two modes of |k| = sqrt 5, of energy 1/4 + 1/16; a mode of |k| = 3 */
static const char modes[] =
    "return sim.diffusion { grid = { n = {12, 10}, size = {2*math.pi, 2*math.pi} }, fields = {"
    "{ name = 'u', D = 0.08,"
    " initial = function(x, y) return math.cos(x + 2*y) + 0.5*math.sin(2*x - y) + math.sin(3*x) end },"
    "{ name = 'v', D = 0.08, initial = function(x, y) return math.cos(2*x + y) end }},"
    "forcing = { fields = 'u', k = {2, 2.5}, power = 0.7 }, rates = function(u, v) return 0*u, 0*v end,"
    "observe = { a = { function(u, x, y, t)"
    " local shell, free = math.cos(x + 2*y) + 0.5*math.sin(2*x - y), math.exp(-0.72*t)*math.sin(3*x)"
    " return math.abs(u - free - shell*" SHAPE_OF_MODES ") end, reduce = 'max' },"
    "b = { function(v, x, y, t)"
    " return math.abs(v - math.exp(-0.4*t)*math.cos(2*x + y)) end, reduce = 'max' }},";

/* a vector of three components: flow of Arnold, Beltrami and Childress, whose rates are 0; energy 3/2 */
static const char vector[] =
    "return sim.diffusion { grid = { n = {8, 9, 10}, size = {2*math.pi, 2*math.pi, 2*math.pi} },"
    "solenoidal = 'u, v, w', fields = {"
    "{ name = 'u', D = 0.4, initial = function(y, z) return math.sin(z) + math.cos(y) end },"
    "{ name = 'v', D = 0.4, initial = function(x, z) return math.sin(x) + math.cos(z) end },"
    "{ name = 'w', D = 0.4, initial = function(x, y) return math.sin(y) + math.cos(x) end }},"
    "derived = { a = function(ky, kz, v, w) return 0, ky*w - kz*v end,"
    "b = function(kz, kx, u, w) return 0, kz*u - kx*w end,"
    "c = function(kx, ky, u, v) return 0, kx*v - ky*u end },"
    "rates = function(u, v, w, a, b, c) return v*c - w*b, w*a - u*c, u*b - v*a end,"
    "forcing = { fields = 'w u v', k = {1, 1}, power = 0.7 },"
    "observe = { a = { function(u, y, z, t)"
    " return math.abs(u - (math.sin(z) + math.cos(y))*" SHAPE_OF_VECTOR ") end, reduce = 'max' },"
    "b = { function(w, x, y, t)"
    " return math.abs(w - (math.sin(y) + math.cos(x))*" SHAPE_OF_VECTOR ") end, reduce = 'max' }},";

/* between walls: quarter waves along x, sines along y; K = 1/4 + 1 */
static const char waves[] =
    "return sim.diffusion { grid = { n = {9, 10}, size = {math.pi, math.pi}, boundary = 'no_flux' }, fields = {"
    "{ name = 'u', D = 0.32, sides = { x_low = { value = 0 }, y_low = { value = 0 }, y_high = { value = 0 } },"
    " initial = function(x, y) return math.sin(x/2)*math.sin(y) end },"
    "{ name = 'v', D = 0.32, sides = { y_high = { value = 0 } },"
    " initial = function(x, y) return math.cos(x)*math.cos(y/2) end }},"
    "rates = function(u, v) return 0*u, 0*v end, forcing = { fields = 'u, v', k = {1.1, 1.2}, power = 0.7 },"
    "observe = { a = { function(u, x, y, t)"
    " return math.abs(u - math.sin(x/2)*math.sin(y)*" SHAPE_OF_WAVES ") end, reduce = 'max' },"
    "b = { function(v, x, y, t)"
    " return math.abs(v - math.cos(x)*math.cos(y/2)*" SHAPE_OF_WAVES ") end, reduce = 'max' }},";

static const char *const exact[] = {modes, vector, waves};

static double greatest_error(const char *text, const char *scheme, double dt, const char *dealias) {
  system_run s;
  double e[2], forcing[3];
  whole(&s, "%s integrate = { scheme = '%s', dt = %.17g, t_end = 1, dealias = %s } }", text, scheme, dt, dealias);
  row(&s, 1, e);
  row(&s, 2, forcing);
  assert_true(forcing[1] == 0.7 && forcing[2] == 0.7 * s.clock.t);
  shut(&s);
  return fmax(e[0], e[1]);
}

/* Orders 1, 2 and 4 of the schemes, to the next order: dt = 1/16 and c dt is up to 1/5, so that ratios are between 2^p
 * (1 - 0.2) and 2^p (1 + 0.3). The error of etdrk4 is far above rounding (1e-14). */
static void test_exact(void **state) {
  static const char *const schemes[] = {"etd1", "etdrk2", "etdrk4"};
  static const int orders[] = {1, 2, 4};
  (void)state;
  for (size_t c = 0; c < sizeof exact / sizeof *exact; c++)
    for (int i = 0; i < 3; i++) {
      const double one = greatest_error(exact[c], schemes[i], 1.0 / 16, "false");
      const double two = greatest_error(exact[c], schemes[i], 1.0 / 32, "true"), ratio = one / two / (1 << orders[i]);
      if (!(ratio > 0.8 && ratio < 1.3 && one < 0.05))
        fail_msg("case %zu: %s: ratio %.3f, errors %.3g, %.3g", c, schemes[i], ratio, one, two);
    }
}

/* A turbulent start: energy - start = input - dissipation. Their integral by Boole's rule over 1/32 has an error of h^6
 * of a function with the time scale 1/2: 1e-8. The scheme's error is of order 4 and was 1.1e-10 for dt = 1/64. */
static void test_budget(void **state) {
  static const int weights[] = {7, 32, 12, 32, 7};
  system_run s;
  double e[2], forcing[3], first = 0, dissipated = 0;
  (void)state;
  open_with(
      &s,
      "return sim.diffusion { grid = { n = {16, 18, 20}, size = {2*math.pi, 2*math.pi, 2*math.pi} },"
      "fields = {{ name = 'u', D = 0.05, initial = function(x, y, z) return math.sin(x)*math.cos(y)*math.cos(z) +"
      " 0.3*math.sin(2*y + z) end }, { name = 'v', D = 0.05, initial = function(x, y, z) return -math.cos(x)*"
      "math.sin(y)*math.cos(z) + 0.2*math.cos(x - 2*z) end },"
      "{ name = 'w', D = 0.05, initial = function(x, y) return 0.2*math.sin(x + 2*y) end }},"
      "solenoidal = 'u, v, w', derived = { a = function(ky, kz, v, w) return 0, ky*w - kz*v end,"
      "b = function(kz, kx, u, w) return 0, kz*u - kx*w end, c = function(kx, ky, u, v) return 0, kx*v - ky*u end },"
      "rates = function(u, v, w, a, b, c) return v*c - w*b, w*a - u*c, u*b - v*a end,"
      "forcing = { fields = 'u, v, w', k = {1, 2}, power = 0.3 },"
      "observe = { e = { function(u, v, w) return 0.5*(u^2 + v^2 + w^2) end, reduce = 'mean' },"
      "eps = { function(a, b, c) return 0.05*(a^2 + b^2 + c^2) end, reduce = 'mean' } },"
      "integrate = { scheme = 'etdrk4', dt = 1/32, t_end = 1, dealias = true } }",
      sim_isa_best(), 2, NULL);
  for (int64_t i = 0; i <= 32; i++) {
    run_to(&s, i);
    row(&s, 1, e);
    if (i == 0) first = e[0];
    const int weight = i == 0 || i == 32 ? 7 : i % 4 == 0 ? 14 : weights[i % 4];
    dissipated += weight * 2.0 / 45 / 32 * e[1];
  }
  row(&s, 2, forcing);
  const double defect = e[0] - first - forcing[2] + dissipated;
  if (!(fabs(defect) < 2e-8) || fabs(forcing[0] - e[0]) > 1e-14)
    fail_msg("defect %.3g, energy %.17g and %.17g", defect, forcing[0], e[0]);
  assert_true(e[0] - first > 0.1); /* the forcing did add energy */
  shut(&s);
}

/* Budgets by |k|: half the change of each bin of the spectrum in time is the transfer minus the dissipation. Cases: a
 * flow, dispersion and drift, fluxes and quarter waves between walls, and members. The derivative by five points of
 * steps of 1/256 has the error h^4/30 of a function with the time scale 1/20: 1e-7 of it. The scheme's error is
 * smaller. */
static const char *const budgets[] = {
    "grid = { n = {16, 12, 10}, size = {2*math.pi, 2*math.pi, 2*math.pi} }, solenoidal = 'u, v, w', fields = {"
    "{ name = 'u', D = 0.05, initial = function(x, y, z) return math.sin(x)*math.cos(y)*math.cos(z) end },"
    "{ name = 'v', D = 0.05, initial = function(x, y, z)"
    " return -math.cos(x)*math.sin(y)*math.cos(z) + 0.2*math.cos(x - 2*z) end },"
    "{ name = 'w', D = 0.05, initial = function(x, y) return 0.2*math.sin(x + 2*y) end }},"
    "derived = { a = function(ky, kz, v, w) return 0, ky*w - kz*v end,"
    "b = function(kz, kx, u, w) return 0, kz*u - kx*w end, c = function(kx, ky, u, v) return 0, kx*v - ky*u end },"
    "rates = function(u, v, w, a, b, c) return v*c - w*b, w*a - u*c, u*b - v*a end,",
    "grid = { n = {33}, size = {2*math.pi} }, fields = {"
    "{ name = 'u', D = 0.1, drift = {0.5, 0, 0}, hyper = 0.001, linear = function(kx) return 0, 0.01*kx^3 end,"
    " initial = function(x) return math.sin(x) + 0.5*math.cos(2*x) end }},"
    "rates = function(u, u_x) return -u*u_x end,",
    "grid = { n = {14, 12}, size = {3, 2}, x = 'no_flux', y = 'no_flux' }, fields = {"
    "{ name = 'u', D = 0.1, sides = { x_low = { value = 0 } },"
    " initial = function(x, y) return x*math.cos(y) end },"
    "{ name = 'v', D = 0.05, initial = function(x, y) return math.cos(x + y) end }},"
    "flux = function(u, v, u_x, v_y) return -0.1*u_x*v, 0*u, 0*u, -0.1*v_y*u end,"
    "rates = function(u, v) return v, -u end,",
    "members = 2, grid = { n = {16}, size = {2*math.pi} }, fields = {"
    "{ name = 'u', D = 0.1, decay = 0.3, initial = function(x, member) return member*math.sin(x) end }},"
    "rates = function(u, u_x) return -u*u_x end,",
};

static void test_transfer(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof budgets / sizeof *budgets; c++) {
    double power[5][SIM_COLUMNS_MAX], transfer[SIM_COLUMNS_MAX], dissipation[SIM_COLUMNS_MAX], most = 0, sum = 0;
    char text[2048];
    system_run s;
    snprintf(text, sizeof text,
             "return sim.diffusion { %s spectrum = 8, transfer = 8,"
             " integrate = { scheme = 'etdrk4', dt = 1/256, t_end = 1, dealias = true } }",
             budgets[c]);
    open_with(&s, text, sim_isa_best(), 2, NULL);
    const int columns = 8 * (int)s.p->fields.count, first = s.p->members > 1 ? 3 : 2;
    for (int i = 0; i < 5; i++) {
      run_to(&s, 8 + i);
      row(&s, 1, power[i]);
      if (i != 2) continue;
      row(&s, first, transfer);
      row(&s, first + 1, dissipation);
    }
    for (int b = 0; b < columns; b++) most = fmax(most, fabs(transfer[b]) + fabs(dissipation[b]));
    for (int b = 0; b < columns; b++) {
      const double change = (power[0][b] - 8 * power[1][b] + 8 * power[3][b] - power[4][b]) / 12 * 256 / 2;
      if (!(fabs(change - transfer[b] + dissipation[b]) < 1e-7 * most))
        fail_msg("case %zu, column %d: change %.12g, transfer %.12g, dissipation %.12g", c, b, change, transfer[b],
                 dissipation[b]);
      sum += transfer[b];
    }
    /* transfers only move energy */
    if (c < 2 && !(fabs(sum) < 1e-15)) fail_msg("case %zu: transfers add up to %g", c, sum);
    shut(&s);
  }
}

/* Threads, instruction sets (in double) and a restart, also with steps by a Courant number, change no bit. */
static void test_same_bits(void **state) {
  static const char *const steps[] = {"dt = 1/64", "dt = 'auto', courant = 0.2, dt_max = 1/16", "dt = 1/64"};
  (void)state;
  for (int i = 0; i < 3; i++) {
    char text[2048];
    system_run first, s;
    snprintf(text, sizeof text,
             "return sim.diffusion { precision = '%s', grid = { n = {24, 18, 14}, size = {6, 5, 4}, z = 'no_flux' },"
             "solenoidal = 'u, v, w', fields = {{ name = 'u', D = 0.02, noise = 0.1 }, { name = 'v', D = 0.02,"
             " noise = 0.1 }, { name = 'w', D = 0.02, sides = { z_low = { value = 0 }, z_high = { value = 0 } },"
             " noise = 0.1 }}, rates = function(u, v, w, u_x, v_x, w_x) return -u*u_x, -u*v_x, -u*w_x end,"
             "forcing = { fields = 'u, v, w', k = {2, 4}, power = 1e-3 },"
             "integrate = { scheme = '%s', %s, dealias = true, t_end = 1/4 } }",
             i == 2 ? "single" : "double", i == 1 ? "etdrk2" : "etdrk4", steps[i]);
    open_with(&first, text, i == 2 ? sim_isa_best() : SIM_ISA_PLAIN, 1, NULL);
    run_to(&first, 4);
    look(&first);
    open_with(&s, text, sim_isa_best(), 3, &first.frame);
    run_to(&first, INT64_MAX);
    run_to(&s, INT64_MAX);
    look(&first);
    look(&s);
    if (!(first.clock.step > 4 && distance(&first, &s) == 0)) fail_msg("%s", text);
    shut(&s);
    shut(&first);
  }
}

/* Random forcing between walls, against a separate code in NumPy (tests/diffusion/stirred.py) that draws the same
 * numbers: a shell of sines; two fields of unlike walls beside a periodic axis, in two and three dimensions; walls
 * along all axes, one of them of two kinds. Values are below 3; each of 8 steps makes and unmakes series of at most 24
 * cells an axis, with rounding below 3 x 24 u of the values a step on either side: 8 x 2 x 72 x 3 x 1.1e-16 = 4e-13. A
 * checkpoint in the midst, with other threads and instructions, changes no bit. */
static void test_stirred(void **state) {
  static const struct {
    const char *name, *text;
    int fields;
  } cases[] = {
      {"line",
       "grid = { n = {24}, size = {3}, boundary = 'fixed' }, fields = {{ name = 'u', D = 0.02,"
       " initial = function(x) return 0.2*x*(3 - x) end }}, rates = function(u) return u - u^3 end,"
       "forcing = { fields = 'u', k = {2, 6}, power = 0.3, random = true },",
       1},
      {"channel",
       "grid = { n = {16, 12}, size = {6, 2}, y = 'no_flux' }, fields = {{ name = 'u', D = 0.02,"
       " initial = function(x, y) return 0.3*math.cos(math.pi/3*x) end }, { name = 'v', D = 0.05, sides = {"
       " y_low = { value = 0 }, y_high = { value = 0 } }, initial = function(x, y) return 0.1*y*(2 - y) end }},"
       "rates = function(u, v) return u - u^3, v - v^3 end,"
       "forcing = { fields = 'u, v', k = {1, 4}, power = 0.3, random = true },",
       2},
      {"box",
       "grid = { n = {10, 9, 8}, size = {3, 2, 4}, x = 'no_flux', y = 'no_flux' }, fields = {{ name = 'u', D = 0.02,"
       " sides = { y_low = { value = 0 } }, initial = function(x, y) return 0.2*y end }, { name = 'v', D = 0.05,"
       " sides = { x_low = { value = 0 }, x_high = { value = 0 }, y_high = { value = 0 } },"
       " initial = function(x, y) return 0.1*x*(2 - y) end }}, rates = function(u, v) return u - u^3, v - v^3 end,"
       "forcing = { fields = 'u, v', k = {2, 4}, power = 0.3, random = true },",
       2},
      {"sealed",
       "grid = { n = {9, 7, 8}, size = {3, 2, 4}, boundary = 'no_flux' }, fields = {{ name = 'u', D = 0.03,"
       " sides = { y_low = { value = 0 }, y_high = { value = 0 }, z_low = { value = 0 } },"
       " initial = function(x, y, z) return 0.1*y*z end }}, rates = function(u) return u - u^3 end,"
       "forcing = { fields = 'u', k = {1, 3}, power = 0.3, random = true },",
       1}};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[2048];
    system_run first, s;
    snprintf(text, sizeof text,
             "return sim.diffusion { seed = 11, %s integrate = { scheme = 'etd1', dt = 0.05, t_end = 0.4 } }",
             cases[c].text);
    restart_at(3, text, &first, &s);
    if (distance(&first, &s) != 0) fail_msg("%s: a restart changes bits", cases[c].name);
    for (int f = 0; f < cases[c].fields; f++) {
      double want[1024];
      assert_true(cells(&s) <= 1024);
      read_reference("stirred.txt", cases[c].name, f, cells(&s), want);
      for (int64_t i = 0; i < cells(&s); i++)
        if (!(fabs(value(&s, f, i) - want[i]) < 4e-13))
          fail_msg("%s, field %d, cell %lld: %.15g, not %.15g", cases[c].name, f, (long long)i, value(&s, f, i),
                   want[i]);
    }
    shut(&s);
    shut(&first);
  }
}

/* A shell that is empty at the start is a fault of the scenario. A shell that loses its energy is a failure of the run.
 */
static void test_no_energy(void **state) {
  static const struct {
    const char *start, *message;
    sim_status status, at_step;
  } cases[] = {{"0", "wavenumbers 1 to 3 is 0, and forcing multiplies what is there", SIM_ERR_SCENARIO, SIM_OK},
               {"math.cos(x)", "and power times dt is 0.1, above twice that", SIM_OK, SIM_ERR_DIVERGED}};
  (void)state;
  for (int i = 0; i < 2; i++) {
    char text[1024];
    system_run s = {
        .setup = {
            .backend = &sim_backend_cpu, .comm = &sim_comm_alone, .isa = sim_isa_best(), .threads = 1, .folder = ""}};
    snprintf(text, sizeof text,
             "return sim.diffusion { grid = { n = {16}, size = {2*math.pi} }, fields = {"
             "{ name = 'u', D = 100, initial = function(x) return 0*x + %s end }}, rates = function(u) return 0*u end,"
             "forcing = { fields = 'u', k = {1, 3}, power = 1 },"
             "integrate = { scheme = 'etd1', dt = 0.1, t_end = 1 } }",
             cases[i].start);
    assert_true(decode(&s, text, NULL));
    assert_int_equal(diffusion_model.create(s.p, &s.setup, &s.clock, &s.self), cases[i].status);
    sim_status status = SIM_OK;
    for (int step = 0; step < 2 && s.self && status == SIM_OK; step++) status = diffusion_model.step(s.self, &s.clock);
    assert_int_equal(status, cases[i].at_step);
    assert_non_null(strstr(sim_error_last()->message, cases[i].message));
    if (s.self) diffusion_model.destroy(&s.self);
    void *p = s.p;
    sim_model_parameters_free(&diffusion_model, &p);
  }
}

/* The plan has the shell's numbers, 24 bytes each, and one more: 2 x 7 x 10 of all wavenumbers, 2 x 2 x 3 up to 1; and
 * a sum of 8 bytes for the one group of columns. */
static void test_plan(void **state) {
  static const struct {
    const char *k;
    double numbers;
  } cases[] = {{"{0.1, 1e4}", 140}, {"{1, 1}", 12}};
  (void)state;
  for (int i = 0; i < 2; i++) {
    system_run s;
    sim_plan plan = {0};
    double bytes = 0;
    whole(&s,
          "return sim.diffusion { grid = { n = {12, 10}, size = {2*math.pi, 2*math.pi} }, fields = {"
          "{ name = 'u', D = 0.1, initial = function(x) return math.sin(x) end }},"
          "rates = function(u) return 0*u end, forcing = { fields = 'u', k = %s, power = 0.1 }, integrate = { scheme = "
          "'etd1', dt = 0.1, t_end = 0.1 } }",
          cases[i].k);
    must(diffusion_model.plan(s.p, &s.setup, &plan), "plan");
    for (size_t k = 0; k < plan.count; k++)
      if (strcmp(plan.items[k].what, "shell of the forcing") == 0) bytes += plan.items[k].bytes;
    assert_true(bytes == 24 * (cases[i].numbers + 1) + 8);
    shut(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact),    cmocka_unit_test(test_budget),
                                     cmocka_unit_test(test_transfer), cmocka_unit_test(test_same_bits),
                                     cmocka_unit_test(test_stirred),  cmocka_unit_test(test_no_energy),
                                     cmocka_unit_test(test_plan)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
