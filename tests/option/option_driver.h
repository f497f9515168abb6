/* Runs the model `option` through its descriptor, without a scenario file. A call that fails ends the test. */
#ifndef TESTS_PHYSICS_OPTION_DRIVER_H
#define TESTS_PHYSICS_OPTION_DRIVER_H

#include "engine/expr/curve.h"
#include "kernels/option/option.h"

typedef struct pricing {
  option_parameters p;
  option_asset assets[12];
  sim_item asset_items[12];
  option_payoff payoffs[24];
  sim_item payoff_items[24];
  sim_setup setup;
  sim_clock clock;
  void *self;
  sim_array arrays[SIM_ARRAYS_MAX];
} pricing;

typedef struct estimate {
  double value, error;
} estimate;

/* One asset at 100 with this volatility; 2^20 paths, seed 1, two threads, no payoff yet. */
void pricing_make(pricing *d, sim_precision precision, double vol, double rate, double maturity, int steps);
void pricing_add_asset(pricing *d, double spot, double vol);
/* Removes the volatility: set another motion. */
void pricing_set_motion(pricing *d, int asset);
/* A function of t that is one number. */
sim_expr *pricing_constant(double value);
/* The function a + b t. */
sim_expr *pricing_line(double a, double b);
/* The curve through points. */
sim_expr *pricing_curve(const sim_curve_point *point, int count, bool flat);
/* Heston's model of constant parameters. */
option_heston pricing_heston(double v, double kappa, double theta, double sigma, double rho);
/* The local volatility a/S + b. */
sim_expr *pricing_displaced(double a, double b);
/* The local volatility a/sqrt(S). */
sim_expr *pricing_root(double a);
/* Returns the new payoff: asset 1, with the schema's defaults that are zero. */
option_payoff *pricing_add(pricing *d, const sim_schema *schema, double strike, option_type type);
void pricing_create(pricing *d, const sim_frame *saved);
void pricing_step(pricing *d);
/* Creates the run, and makes its steps to the end. */
void pricing_run(pricing *d);
estimate pricing_price(pricing *d, int payoff);
/* Returns a column of the table of prices, with COLUMN_error; of the first payoff. */
estimate pricing_greek(pricing *d, const char *column);
/* A Greek of one of several payoffs, by the first asset of one. */
estimate pricing_greek_of(pricing *d, int payoff, option_greek greek);
/* Views of the state. */
sim_frame pricing_state(pricing *d);
/* Releases the model, and the parameters' functions too. */
void pricing_destroy(pricing *d);
void pricing_free(pricing *d);

#endif
