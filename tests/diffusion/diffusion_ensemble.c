/* Ensembles: each member gives the results of a run of its own, with tables and restarts. */
#include "tests/diffusion/diffusion_driver.h"

#include "kernels/diffusion/observe.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MEMBERS = 5 };

typedef struct form {
  const char *grid, *scheme;
  bool single;
} form;

/* Writes the scenario with `member` as an input of functions, or with a number in its place. */
static void scenario_of(char *text, size_t size, const form *f, int member, const char *more) {
  const bool all = member == 0;
  char first[64] = "", members[64] = "";
  if (!all) snprintf(first, sizeof first, "local member = %d\n", member);
  if (all) snprintf(members, sizeof members, "members = %d,", (int)MEMBERS);
  const char *takes = all ? ", member" : "";
  const bool still = strcmp(f->scheme, "exact") == 0;
  char rates[256];
  snprintf(rates, sizeof rates,
           "rates = function(u, v, x, y, t%s) return u*(1 - u) + 0.1*member*v*x, 0.2*u*member - v*y + t end,", takes);
  snprintf(text, size,
           "%sreturn sim.diffusion { precision = '%s', %s grid = { %s }, fields = {\n"
           "{ name = 'u', D = 0.02, initial = function(x, y%s) return math.cos(3*x + member)*y + 0.1*member end },\n"
           "{ name = 'v', D = 0.01, linear = function(k2%s) return -0.003*member*k2 end, initial = 0.5 }}, %s %s\n"
           "integrate = { scheme = '%s', dt = 0.02, t_end = 0.1 } }",
           first, f->single ? "single" : "double", members, f->grid, takes, takes, still ? "" : rates, more, f->scheme);
}

static const form forms[] = {
    {"n = {17}, size = {1}", "lie", false},
    {"n = {16, 11}, size = {1, 2}", "etdrk4", false},
    {"n = {40, 12}, size = {1, 2}, boundary = 'no_flux'", "etdrk2", true},
    {"n = {12, 20}, size = {1, 2}, x = 'fixed'", "strang", false},
    {"n = {9, 8}, size = {1, 2}, y = 'no_flux'", "exact", false},
    {"n = {33}, size = {1}, boundary = 'fixed'", "etd1", true},
};

/* Rounding of five steps of transforms of numbers near 1, as in tests/parity/diffusion.c. */
static void test_members(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    char text[2048];
    system_run all, one;
    scenario_of(text, sizeof text, &forms[i], 0, "");
    whole(&all, "%s", text);
    assert_int_equal(all.arrays[1].shape[0], MEMBERS);
    for (int m = 1; m <= MEMBERS; m++) {
      scenario_of(text, sizeof text, &forms[i], m, "");
      whole(&one, "%s", text);
      assert_int_equal(cells(&all), MEMBERS * cells(&one));
      for (int f = 0; f < 2; f++)
        for (int64_t c = 0; c < cells(&one); c++) {
          const double a = value(&one, f, c), b = value(&all, f, (m - 1) * cells(&one) + c);
          if (!(fabs(a - b) < (forms[i].single ? 2e-5 : 1e-12)))
            fail_msg("%s\nfield %d, cell %lld: %.17g alone, %.17g as member %d", text, f, (long long)c, a, b, m);
        }
      shut(&one);
    }
    shut(&all);
  }
}

/* The row of an ensemble from the rows of its members' runs, and a probe in one of them. */
static void test_tables(void **state) {
  (void)state;
  char text[2048];
  system_run all, one;
  double means[MEMBERS], variances[MEMBERS], row[2 * DIFFUSION_OVER_MEMBERS], probe[2], own[2 * DIFFUSION_STATISTICS];
  scenario_of(text, sizeof text, &forms[1], 0, "probes = {{0.3, 1.1, 4}}, spectrum = 3,");
  whole(&all, "%s", text);
  double there = 0, powers[6], power[6], mean_powers[6] = {0};
  for (int m = 1; m <= MEMBERS; m++) {
    scenario_of(text, sizeof text, &forms[1], m, "spectrum = 3,");
    whole(&one, "%s", text);
    must(diffusion_model.observe(one.self, &one.clock, 0, own), "observe");
    must(diffusion_model.observe(one.self, &one.clock, 1, power), "observe");
    for (int k = 0; k < 6; k++) mean_powers[k] += power[k] / MEMBERS;
    means[m - 1] = own[0];
    variances[m - 1] = own[1];
    if (m == 4) there = value(&one, 0, 6 * 16 + 4); /* 1.1 of 2 in 11 rows, 0.3 of 1 in 16 cells */
    shut(&one);
  }
  assert_string_equal(all.p->tables[3]->name, "ensemble");
  must(diffusion_model.observe(all.self, &all.clock, 3, row), "observe");
  must(diffusion_model.observe(all.self, &all.clock, 2, probe), "observe");
  must(diffusion_model.observe(all.self, &all.clock, 1, powers), "observe");
  const double *of[2] = {means, variances};
  for (int k = 0; k < 2; k++) {
    double mean = 0, square = 0;
    for (int m = 0; m < MEMBERS; m++) mean += of[k][m] / MEMBERS;
    for (int m = 0; m < MEMBERS; m++) square += (of[k][m] - mean) * (of[k][m] - mean) / MEMBERS;
    assert_true(fabs(row[2 * k] - mean) < 1e-12);
    assert_true(fabs(row[2 * k + 1] - square) < 1e-12);
    assert_true(square > 1e-6);
  }
  assert_true(fabs(probe[0] - there) < 1e-12);
  for (int k = 0; k < 6; k++) assert_true(fabs(powers[k] - mean_powers[k]) < 1e-12);
  shut(&all);
}

/* The same bits with other threads, and after a restart. */
static void test_bits(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    char text[2048];
    system_run one, two, three;
    scenario_of(text, sizeof text, &forms[i], 0, "");
    open_with(&one, text, sim_isa_best(), 1, NULL);
    open_with(&two, text, sim_isa_best(), 3, NULL);
    run_to(&one, 2), run_to(&two, 2);
    look(&two);
    sim_frame saved = two.frame;
    open_with(&three, text, sim_isa_best(), 2, &saved);
    run_to(&one, INT64_MAX), run_to(&three, INT64_MAX);
    look(&one), look(&three);
    assert_true(distance(&one, &three) == 0);
    shut(&one), shut(&two), shut(&three);
  }
}

static void test_faults(void **state) {
  (void)state;
  static const struct {
    const char *grid, *more, *fault;
  } cases[] = {
      {"n = {4, 4, 4}, size = {1, 1, 1}", "", "expected 1, because the grid has three axes, got 5"},
      {"n = {4, 4}, size = {1, 1}", "probes = {{0.5, 0.5, 6}},", "expected the member, 1 to 5"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[2048], faults[512];
    system_run s;
    scenario_of(text, sizeof text, &(form){cases[i].grid, "lie", false}, 0, cases[i].more);
    assert_false(decode(&s, text, faults));
    if (!strstr(faults, cases[i].fault)) fail_msg("%s", faults);
    void *p = s.p;
    sim_model_parameters_free(&diffusion_model, &p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_members), cmocka_unit_test(test_tables),
                                     cmocka_unit_test(test_bits), cmocka_unit_test(test_faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
