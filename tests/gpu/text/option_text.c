/* Kernels of the model of options, tested without a GPU: every case of the parity test compiles, and NVRTC is given the
 * files of this tree. One case of each kind in one precision; with an argument all cases in all precisions. */
#include "engine/device/cuda.h"
#include "kernels/option/cuda/plan.h"
#include "tests/parity/option_cases.h"
#include "tests/gpu/text/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool all;

static void test_files(void **state) {
  (void)state;
  sources_expect(option_cuda_files, 5);
}

static pricing d;

/* Compiles the kernels of rules of early exercise. */
static void compile_fit(const option_estimate *made, const char *name) {
  static option_estimate bare;
  option_cuda_plan plan;
  sim_bytes text = {0}, code = {0};
  bare = (option_estimate){.markets = 1, .signs = 1};
  bare.market[0] = made->market[0];
  must(option_cuda_plan_record(&d.p, &bare, &plan));
  must(option_cuda_write_exercise(&plan, &text));
  const sim_source source = option_cuda_source(&plan, &text);
  if (sim_compile(&source, 90, &code) != SIM_OK) fail_msg("fit of %s: %s", name, sim_error_last()->message);
  sim_bytes_free(&text);
  sim_bytes_free(&code);
  option_cuda_plan_free(&plan);
}

static void compile(int which, sim_precision precision) {
  sim_faults faults = {0};
  option_estimate made;
  option_cuda_plan plan;
  sim_bytes text = {0}, code = {0};
  option_case_make(&d, which, precision, &sim_backend_cuda);
  d.p.assets.items = d.asset_items;
  d.p.payoffs.items = d.payoff_items;
  must(option_model.validate(&d.p, &faults));
  must(option_estimate_create(&d.p, true, &made));
  must(option_cuda_plan_create(&d.p, &made, &plan));
  must(option_cuda_write(&plan, &text));
  const sim_source source = option_cuda_source(&plan, &text);
  if (sim_compile(&source, 90, &code) != SIM_OK)
    fail_msg("%s, %s: %s", option_cases[which].name, sim_precision_name(precision), sim_error_last()->message);
  assert_true(code.size > 1000);
  if (option_policy_bytes(&d.p, 1) > 0) compile_fit(&made, option_cases[which].name);
  sim_bytes_free(&text);
  sim_bytes_free(&code);
  option_cuda_plan_free(&plan);
  option_estimate_free(&made);
  pricing_free(&d);
}

static void test_cases(void **state) {
  static const char *const quick[] = {"asian",
                                      "barriers",
                                      "several assets",
                                      "high and low",
                                      "Heston",
                                      "jumps",
                                      "american",
                                      "Sobol, Heston",
                                      "matched",
                                      "dates, cash, Heston",
                                      "ladder, joint exercise",
                                      "SABR, Sobol",
                                      "leverage, dates, Sobol",
                                      "random rates, matched",
                                      "buckets, bumped",
                                      "currencies",
                                      "rough volatility's greeks",
                                      "exercise by highest",
                                      "random rates, joint exercise"};
  const int names = sizeof quick / sizeof *quick;
  int found = 0;
  (void)state;
  for (int which = 0; which < OPTION_CASES; which++) {
    int k = 0;
    while (k < names && strcmp(quick[k], option_cases[which].name) != 0) k++;
    found += k < names;
    if (all || (k < names && k % 4 == 0)) compile(which, SIM_SINGLE);
    if (all || (k < names && k % 4 != 0)) compile(which, SIM_DOUBLE);
  }
  assert_int_equal(found, names);
}

/* Text of a book of calls and a digital with other strikes and cash. */
static void write_book(double shift, sim_bytes *text, int place[3]) {
  sim_faults faults = {0};
  option_estimate made;
  option_cuda_plan plan;
  pricing_make(&d, SIM_DOUBLE, 0.2, 0.05, 1, 1);
  for (int i = 0; i < 3; i++) pricing_add(&d, &option_european_schema, 90 + 10 * i + shift, OPTION_CALL);
  pricing_add(&d, &option_digital_schema, 105 + shift, OPTION_CALL)->cash = 10 + shift;
  d.p.assets.items = d.asset_items;
  d.p.payoffs.items = d.payoff_items;
  must(option_model.validate(&d.p, &faults));
  must(option_estimate_create(&d.p, true, &made));
  must(option_cuda_plan_create(&d.p, &made, &plan));
  must(option_cuda_write(&plan, text));
  sim_bytes_add(text, "", 1);
  assert_true(plan.literals >= 4 && plan.constants == plan.at_literal + plan.literals);
  for (int i = 0; i < 3; i++) {
    int k = 0;
    while (k < plan.literals && plan.literal[k] != 90 + 10 * i + shift) k++;
    assert_true(k < plan.literals);
    place[i] = k;
  }
  option_cuda_plan_free(&plan);
  option_estimate_free(&made);
  pricing_free(&d);
}

/* A book with other strikes has the same text, and with it the compiled kernel; each strike keeps its place. */
static void test_strikes(void **state) {
  (void)state;
  sim_bytes first = {0}, second = {0};
  int place[2][3]; /* of the strikes of the calls among the literals */
  write_book(0, &first, place[0]);
  write_book(0.37, &second, place[1]);
  assert_string_equal(first.data, second.data);
  assert_memory_equal(place[0], place[1], sizeof place[0]);
  sim_bytes_free(&first);
  sim_bytes_free(&second);
}

int main(int argc, char **argv) {
  (void)argv;
  all = argc > 1;
  if (!sources_compile()) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_files), cmocka_unit_test(test_strikes),
                                     cmocka_unit_test(test_cases)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
