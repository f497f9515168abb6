/* Ranks exchange the bytes of the plan: rank 0 of 3, whose transport counts, and returns rank 0's own bytes in place of
 * the others'. */
#include "tests/option/option_driver.h"

#include "tests/must.h"

#include <string.h>

static sim_comm_totals counted;

static sim_status gather(const sim_comm *comm, const void *in, size_t bytes, void *out) {
  counted.exchanges++;
  counted.bytes += (double)bytes * (comm->size - 1);
  for (int r = 0; r < comm->size; r++) memmove((char *)out + (size_t)r * bytes, in, bytes);
  return SIM_OK;
}

static void check(bool local) {
  static const sim_transport transport = {.name = "counts", .gather = gather};
  const sim_comm comm = {.size = 3, .host_size = 3, .ops = &transport};
  sim_plan plan = {0};
  pricing d;
  pricing_make(&d, SIM_DOUBLE, 0.2, 0.05, 1, 12);
  if (local) {
    pricing_set_motion(&d, 0);
    d.assets[0].local_vol = pricing_displaced(5, 0.15);
  }
  d.p.sampling.paths = 300000;
  d.setup.comm = &comm;
  option_payoff *each = pricing_add(&d, &option_american_schema, 100, OPTION_PUT);
  each->fit_paths = 70000;
  option_payoff *quarterly = pricing_add(&d, &option_american_schema, 110, OPTION_PUT);
  quarterly->fit_paths = 5000;
  quarterly->every = 3;
  counted = (sim_comm_totals){0};
  pricing_create(&d, NULL);
  must(option_model.plan(&d.p, &d.setup, &plan));
  assert_true(plan.start_exchanges == (local ? 2 : 1) * (23 + 7));
  assert_true(counted.exchanges == plan.start_exchanges);
  assert_true(counted.bytes == plan.start_received);
  if (!local) { /* else the time-step bias exchanges too, in some of the steps */
    counted = (sim_comm_totals){0};
    pricing_step(&d);
    assert_true(counted.exchanges == plan.exchanges);
    assert_true(counted.bytes == plan.bytes_received);
  }
  pricing_destroy(&d);
  pricing_free(&d);
}

static void test_exercise(void **state) {
  (void)state;
  check(false);
}

static void test_exercise_and_bias(void **state) {
  (void)state;
  check(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_exercise), cmocka_unit_test(test_exercise_and_bias)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
