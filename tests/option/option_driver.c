#include "tests/option/option_driver.h"

#include "kernels/option/payoff/names.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The list that CMake makes for the command. */
const sim_model *const sim_models[] = {&option_model, NULL};

static void must(sim_status status, const char *what) {
  if (status != SIM_OK) fail_msg("%s: %s", what, sim_error_last()->message);
}

sim_expr *pricing_constant(double value) {
  sim_expr_builder *builder;
  sim_expr_ref input, out;
  sim_expr *expr;
  must(sim_expr_builder_create(&builder), "builder");
  must(sim_expr_builder_input(builder, "t", &input), "input");
  must(sim_expr_builder_number(builder, value, &out), "number");
  must(sim_expr_builder_finish(builder, &out, (const char *const[]){"out"}, 1, &expr), "finish");
  sim_expr_builder_free(&builder);
  return expr;
}

sim_expr *pricing_line(double a, double b) {
  sim_expr_builder *builder;
  sim_expr_ref t, number, out;
  sim_expr *expr;
  must(sim_expr_builder_create(&builder), "builder");
  must(sim_expr_builder_input(builder, "t", &t), "input");
  must(sim_expr_builder_number(builder, b, &number), "number");
  must(sim_expr_builder_call(builder, SIM_EXPR_MUL, (const sim_expr_ref[]){number, t}, &out), "call");
  must(sim_expr_builder_number(builder, a, &number), "number");
  must(sim_expr_builder_call(builder, SIM_EXPR_ADD, (const sim_expr_ref[]){number, out}, &out), "call");
  must(sim_expr_builder_finish(builder, &out, (const char *const[]){"out"}, 1, &expr), "finish");
  sim_expr_builder_free(&builder);
  return expr;
}

sim_expr *pricing_curve(const sim_curve_point *point, int count, bool flat) {
  sim_expr_builder *builder;
  sim_expr_ref t, out;
  sim_expr *expr;
  must(sim_expr_builder_create(&builder), "builder");
  must(sim_expr_builder_input(builder, "t", &t), "input");
  must(sim_curve_build(point, count, flat, builder, t, &out), "curve");
  must(sim_expr_builder_finish(builder, &out, (const char *const[]){"out"}, 1, &expr), "finish");
  sim_expr_builder_free(&builder);
  return expr;
}

option_heston pricing_heston(double v, double kappa, double theta, double sigma, double rho) {
  return (option_heston){.given = true,
                         .v = v,
                         .kappa = pricing_constant(kappa),
                         .theta = pricing_constant(theta),
                         .sigma = pricing_constant(sigma),
                         .rho = pricing_constant(rho)};
}

sim_expr *pricing_displaced(double a, double b) {
  sim_expr_builder *builder;
  sim_expr_ref in[2], number[2], out;
  sim_expr *expr;
  must(sim_expr_builder_create(&builder), "builder");
  must(sim_expr_builder_input(builder, "S", &in[0]), "input");
  must(sim_expr_builder_input(builder, "t", &in[1]), "input");
  must(sim_expr_builder_number(builder, a, &number[0]), "number");
  must(sim_expr_builder_number(builder, b, &number[1]), "number");
  must(sim_expr_builder_call(builder, SIM_EXPR_DIV, (const sim_expr_ref[]){number[0], in[0]}, &out), "call");
  must(sim_expr_builder_call(builder, SIM_EXPR_ADD, (const sim_expr_ref[]){out, number[1]}, &out), "call");
  must(sim_expr_builder_finish(builder, &out, (const char *const[]){"out"}, 1, &expr), "finish");
  sim_expr_builder_free(&builder);
  return expr;
}

sim_expr *pricing_root(double a) {
  sim_expr_builder *builder;
  sim_expr_ref in[2], number, root, out;
  sim_expr *expr;
  must(sim_expr_builder_create(&builder), "builder");
  must(sim_expr_builder_input(builder, "S", &in[0]), "input");
  must(sim_expr_builder_input(builder, "t", &in[1]), "input");
  must(sim_expr_builder_number(builder, a, &number), "number");
  must(sim_expr_builder_call(builder, SIM_EXPR_SQRT, in, &root), "call");
  must(sim_expr_builder_call(builder, SIM_EXPR_DIV, (const sim_expr_ref[]){number, root}, &out), "call");
  must(sim_expr_builder_finish(builder, &out, (const char *const[]){"out"}, 1, &expr), "finish");
  sim_expr_builder_free(&builder);
  return expr;
}

void pricing_set_motion(pricing *d, int asset) { sim_expr_free(&d->assets[asset].vol); }

void pricing_add_asset(pricing *d, double spot, double vol) {
  const size_t a = d->p.assets.count++;
  d->assets[a] = (option_asset){.spot = spot, .vol = pricing_constant(vol), .dividend = pricing_constant(0)};
  d->asset_items[a] = (sim_item){.data = &d->assets[a]};
}

void pricing_make(pricing *d, sim_precision precision, double vol, double rate, double maturity, int steps) {
  *d = (pricing){
      .setup = {
          .backend = &sim_backend_cpu, .comm = &sim_comm_alone, .isa = sim_isa_best(), .threads = 2, .folder = ""}};
  d->p.common.seed = 1;
  d->p.common.precision = (int)precision;
  d->p.rate = pricing_constant(rate);
  d->p.maturity = maturity;
  d->p.steps = steps;
  d->p.sampling = (option_sampling){.paths = 0x1p20, .standard_error = NAN};
  pricing_add_asset(d, 100, vol);
}

option_payoff *pricing_add(pricing *d, const sim_schema *schema, double strike, option_type type) {
  const size_t k = d->p.payoffs.count++;
  d->payoffs[k] = (option_payoff){
      .asset = 1, .strike = strike, .type = (int)type, .cash = 1, .every = 1, .degree = 5, .fit_paths = 65536};
  d->payoff_items[k] = (sim_item){.schema = schema, .data = &d->payoffs[k]};
  return &d->payoffs[k];
}

void pricing_create(pricing *d, const sim_frame *saved) {
  sim_faults faults = {0};
  d->p.assets.items = d->asset_items;
  d->p.payoffs.items = d->payoff_items;
  d->setup.saved = saved;
  const char *generator = getenv("OPTION_GENERATOR"); /* of a whole test program */
  if (generator != NULL && strcmp(generator, "mrg32k3a") == 0) d->p.sampling.generator = OPTION_MRG32K3A;
  must(option_model.validate(&d->p, &faults), "validate");
  if (faults.count > 0) fail_msg("%s", faults.text.data);
  must(option_model.create(&d->p, &d->setup, &d->clock, &d->self), "create");
}

void pricing_step(pricing *d) { must(option_model.step(d->self, &d->clock), "step"); }

void pricing_run(pricing *d) {
  pricing_create(d, NULL);
  while (d->clock.t < d->clock.t_end) pricing_step(d);
}

estimate pricing_price(pricing *d, int payoff) {
  double values[2][SIM_COLUMNS_MAX];
  if (option_payoff_count(&d->p) == 1) {
    must(option_model.observe(d->self, &d->clock, 0, values[0]), "observe");
    return (estimate){values[0][1], values[0][2]};
  }
  for (int t = 0; t < 2; t++) must(option_model.observe(d->self, &d->clock, 1 + t, values[t]), "observe");
  return (estimate){values[0][payoff], values[1][payoff]};
}

estimate pricing_greek(pricing *d, const char *column) {
  double values[SIM_COLUMNS_MAX];
  must(option_model.observe(d->self, &d->clock, 0, values), "observe");
  for (int c = 0; d->p.price_columns[c].name != NULL; c++)
    if (strcmp(d->p.price_columns[c].name, column) == 0) return (estimate){values[c], values[c + 1]};
  fail_msg("no column %s", column);
  return (estimate){0, 0};
}

estimate pricing_greek_of(pricing *d, int payoff, option_greek greek) {
  double values[2][SIM_COLUMNS_MAX];
  for (int t = 0; d->p.tables[t] != NULL; t++)
    for (int k = 0; k < 2; k++)
      if (d->p.tables[t] == &d->p.greek_tables[greek][k])
        must(option_model.observe(d->self, &d->clock, t, values[k]), "observe");
  return (estimate){values[0][payoff], values[1][payoff]};
}

sim_frame pricing_state(pricing *d) {
  sim_frame frame = {.clock = d->clock};
  must(option_model.view(d->self, d->arrays, NULL, &frame), "view");
  frame.arrays = d->arrays;
  return frame;
}

void pricing_destroy(pricing *d) { option_model.destroy(&d->self); }

void pricing_free(pricing *d) {
  pricing_destroy(d);
  sim_expr_free(&d->p.rate);
  sim_expr_free(&d->p.payoff);
  for (size_t i = 0; i < d->p.payoffs.count; i++) sim_expr_free(&d->payoffs[i].exercise);
  for (size_t a = 0; a < d->p.assets.count; a++) {
    sim_expr_free(&d->assets[a].vol);
    sim_expr_free(&d->assets[a].dividend);
    sim_expr_free(&d->assets[a].local_vol);
    sim_expr_free(&d->assets[a].rough_bergomi.xi);
    sim_expr_free(&d->assets[a].heston.kappa);
    sim_expr_free(&d->assets[a].heston.theta);
    sim_expr_free(&d->assets[a].heston.sigma);
    sim_expr_free(&d->assets[a].heston.rho);
  }
}
