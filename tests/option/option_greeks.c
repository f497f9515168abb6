/* Greeks of a book: those of each payoff are those that it has alone, from the same random numbers, whatever gives
 * them: derivatives along the paths, densities or bumped markets. */
#include "tests/option/option_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MODELS = 4, BOOK = 4, EACH = OPTION_GREEKS - 1 /* of one asset, without cross gammas */ };

static void make(pricing *d, int model) {
  pricing_make(d, SIM_DOUBLE, 0.2, 0.05, 1, 4);
  if (model > 0) pricing_set_motion(d, 0);
  if (model == 1) d->assets[0].local_vol = pricing_displaced(10, 0.1);
  if (model == 2) d->assets[0].heston = pricing_heston(0.04, 1, 0.04, 0.3, -0.5);
  if (model == 3) d->assets[0].sabr = (option_sabr){true, 4, 0.5, -0.3, 0.4};
  d->p.sampling.paths = 0x1p14;
  for (int g = 0; g < OPTION_GREEKS; g++) d->p.greeks.want[g] = g != OPTION_CROSS_GAMMA;
}

static void add(pricing *d, int which) {
  if (which == 0) pricing_add(d, &option_european_schema, 100, OPTION_CALL);
  if (which == 1) pricing_add(d, &option_asian_schema, 95, OPTION_PUT);
  if (which == 2) pricing_add(d, &option_american_schema, 105, OPTION_PUT)->fit_paths = 4096;
  if (which == 3) pricing_add(d, &option_digital_schema, 100, OPTION_CALL);
}

/* Means of the first payoffs' prices, then of the Greeks of each: out[count (1 + EACH)]. */
static void means(pricing *d, double *out) {
  pricing_run(d);
  memcpy(out, pricing_state(d).arrays[0].data, d->p.payoffs.count * (1 + EACH) * sizeof *out);
  pricing_free(d);
}

/* Means are sums about other shifts: equal up to rounding, which a gamma divides by 1e-4 of its price's square. */
static void test_book(void **state) {
  (void)state;
  for (int model = 0; model < MODELS; model++) {
    double book[BOOK * (1 + EACH)], alone[1 + EACH];
    pricing d;
    make(&d, model);
    for (int k = 0; k < BOOK; k++) add(&d, k);
    means(&d, book);
    for (int k = 0; k < BOOK; k++) {
      make(&d, model);
      add(&d, k);
      means(&d, alone);
      for (int g = 0; g < EACH; g++) {
        const double together = book[BOOK + k * EACH + g];
        if (!(fabs(together - alone[1 + g]) <= 1e-8 * (1 + fabs(alone[1 + g]))))
          fail_msg("model %d, payoff %d, greek %d: %.12g in the book, %.12g alone", model, k, g, together,
                   alone[1 + g]);
      }
      print_message("    model %d, payoff %d: delta %.4f\n", model, k, alone[1]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_book)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
