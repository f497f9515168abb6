/* Simulated paths: path-steps a second of whole samples (random numbers, paths, payoffs, sums).
 *
 *   bench_option [--work asian|antithetic|strikes|greeks|european|accuracy|heston|american]... [--device cpu|cuda]
 *                [--precision mixed|double] [--isa plain|avx2|avx512] [--threads T] [--seconds S] [--rate-only]
 *
 * All are of one asset at 100, volatility 20 %, rate 5 %, over a year. asian: a call on 252 prices; antithetic: the
 * same in pairs; strikes: 64 of them on the same paths; greeks: delta, vega and rho with it; european: one step;
 * accuracy: the time that asian takes to a standard error of 1e-4 with the geometric control; heston: a call after 252
 * steps of variance 0.09, kappa 2, theta 0.09, sigma 1, rho -0.3; american: the time of a put at 36 on 40, 6 %, on 50
 * dates, 200 chunks of 1024 paths each for its rule and its price, from the scenario to the price. */
#include "engine/wall_clock.h"
#include "kernels/option/option.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const sim_model *const sim_models[] = {&option_model, NULL};

enum { WORKS = 8, STRIKES = 64 };
static const char *const works[WORKS] = {"asian",    "antithetic", "strikes", "greeks",
                                         "european", "accuracy",   "heston",  "american"};

typedef struct settings {
  bool want[WORKS], any, rate_only;
  int precision, threads;
  sim_isa isa;
  const sim_backend *backend;
  double seconds;
} settings;

static sim_status constant(double value, sim_expr **out) {
  sim_expr_builder *builder;
  sim_expr_ref t, number;
  SIM_TRY(sim_expr_builder_create(&builder));
  sim_status status = sim_expr_builder_input(builder, "t", &t);
  if (status == SIM_OK) status = sim_expr_builder_number(builder, value, &number);
  if (status == SIM_OK) status = sim_expr_builder_finish(builder, &number, (const char *const[]){"x"}, 1, out);
  sim_expr_builder_free(&builder);
  return status;
}

static sim_status measure(const settings *of, int work) {
  static option_parameters p;
  option_asset asset = {.spot = 100};
  option_payoff payoff[STRIKES];
  sim_item items[STRIKES], asset_item = {.data = &asset};
  sim_faults faults = {0};
  const bool european = strcmp(works[work], "european") == 0, strikes = strcmp(works[work], "strikes") == 0;
  const bool heston = strcmp(works[work], "heston") == 0, american = strcmp(works[work], "american") == 0;
  memset(&p, 0, sizeof p);
  if (heston)
    asset.heston = (option_heston){true, 0.09, 2, 0.09, 1, -0.3};
  else
    SIM_TRY(constant(0.2, &asset.vol));
  if (american) asset.spot = 36;
  SIM_TRY(constant(0, &asset.dividend));
  SIM_TRY(constant(american ? 0.06 : 0.05, &p.rate));
  p.common.precision = of->precision;
  p.maturity = 1;
  p.steps = european ? 1 : american ? 50 : 252;
  p.assets = (sim_list){&asset_item, 1};
  p.payoffs = (sim_list){items, strikes ? STRIKES : 1};
  for (int k = 0; k < STRIKES; k++) {
    payoff[k] = (option_payoff){.asset = 1, .strike = strikes ? 68 + k : 100};
    items[k] = (sim_item){.schema = european || heston ? &option_european_schema
                                    : american         ? &option_american_schema
                                                       : &option_asian_schema,
                          .data = &payoff[k]};
  }
  p.sampling =
      (option_sampling){.paths = 0x1p40, .standard_error = NAN, .antithetic = strcmp(works[work], "antithetic") == 0};
  const bool accuracy = strcmp(works[work], "accuracy") == 0;
  if (american) {
    payoff[0] = (option_payoff){
        .asset = 1, .strike = 40, .type = OPTION_PUT, .every = 1, .degree = 5, .fit_paths = 200 * OPTION_CHUNK};
    p.sampling.paths = 200 * OPTION_CHUNK;
  }
  if (accuracy) {
    p.sampling.standard_error = 1e-4;
    p.sampling.control = OPTION_CONTROL_GEOMETRIC;
  }
  if (strcmp(works[work], "greeks") == 0)
    p.greeks.want[OPTION_DELTA] = p.greeks.want[OPTION_VEGA] = p.greeks.want[OPTION_RHO] = true;
  SIM_TRY(option_model.validate(&p, &faults));
  const sim_setup setup = {
      .backend = of->backend, .comm = &sim_comm_alone, .isa = of->isa, .threads = of->threads, .folder = ""};
  sim_clock clock = {0};
  void *self = NULL;
  SIM_TRY(option_model.create(&p, &setup, &clock, &self));
  double best = 0, least = INFINITY, spent = 0, values[SIM_COLUMNS_MAX];
  sim_status status = SIM_OK;
  /* A GPU works ahead of the step that is asked for: the time of several counts. */
  const int together = of->backend->kind == SIM_BACKEND_CPU || accuracy || american ? 1 : 16;
  for (int k = 0; status == SIM_OK && (spent < of->seconds || k < 2); k++) {
    double begin = sim_wall_clock();
    if (accuracy || american) { /* from the start each time */
      option_model.destroy(&self);
      if (american) begin = sim_wall_clock();
      SIM_TRY(option_model.create(&p, &setup, &clock, &self));
      if (accuracy) begin = sim_wall_clock();
    }
    const double from = clock.t;
    int steps = 0;
    do status = option_model.step(self, &clock);
    while (status == SIM_OK && (accuracy || american ? clock.t < clock.t_end : ++steps < together));
    const double taken = sim_wall_clock() - begin;
    best = fmax(best, (clock.t - from) * (double)p.steps / taken);
    least = fmin(least, taken);
    spent += taken;
  }
  if (status == SIM_OK) status = option_model.observe(self, &clock, 0, values);
  if (of->rate_only)
    printf("%.6g\n", best);
  else
    printf("%-10s %s, %s: %.4g path-steps/s, %.4g ms; price %.5f +- %.5f\n", works[work],
           sim_precision_name((sim_precision)of->precision), of->backend->name, best, 1e3 * least / together, values[1],
           values[2]);
  option_model.destroy(&self);
  sim_expr_free(&asset.vol);
  sim_expr_free(&asset.dividend);
  sim_expr_free(&p.rate);
  return status;
}

static bool read_option(settings *of, const char *name, const char *value) {
  if (strcmp(name, "--device") == 0) return sim_backend_select(value, &of->backend) == SIM_OK;
  if (strcmp(name, "--threads") == 0) return (of->threads = atoi(value)) > 0;
  if (strcmp(name, "--seconds") == 0) return (of->seconds = atof(value)) > 0;
  if (strcmp(name, "--precision") == 0) {
    of->precision = strcmp(value, "mixed") == 0 ? SIM_MIXED : SIM_DOUBLE;
    return of->precision == SIM_MIXED || strcmp(value, "double") == 0;
  }
  for (sim_isa isa = SIM_ISA_PLAIN; strcmp(name, "--isa") == 0 && isa <= sim_isa_best(); isa++)
    if (strcmp(value, sim_isa_name(isa)) == 0) {
      of->isa = isa;
      return true;
    }
  for (int w = 0; strcmp(name, "--work") == 0 && w < WORKS; w++)
    if (strcmp(value, works[w]) == 0) return of->want[w] = of->any = true;
  return false;
}

int main(int argc, char **argv) {
  settings of = {.backend = &sim_backend_cpu,
                 .precision = SIM_MIXED,
                 .threads = omp_get_max_threads(),
                 .isa = sim_isa_best(),
                 .seconds = 1};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--rate-only") == 0) {
      of.rate_only = true;
    } else if (i + 1 == argc || !read_option(&of, argv[i], argv[i + 1])) {
      fprintf(stderr, "bench_option: %s?\n", argv[i]);
      return 64;
    } else {
      i++;
    }
  }
  for (int w = 0; w < WORKS; w++) {
    if (of.any && !of.want[w]) continue;
    if (measure(&of, w) == SIM_OK) continue;
    fprintf(stderr, "bench_option: %s\n", sim_error_last()->message);
    return 1;
  }
  return 0;
}
