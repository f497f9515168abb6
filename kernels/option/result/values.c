/* Values of the netted book along paths of the exposure, for a file. */
#include "kernels/option/payoff/names.h"
#include "kernels/option/run.h"

double option_value_bytes(const option_parameters *p) {
  const double paths = (double)p->exposure.values, dates = p->exposures, assets = (double)p->assets.count;
  if (!(paths > 0)) return 0;
  return (paths * (dates * (2 + assets) + 1) + assets + dates + 2 * (double)p->payoffs.count) * sizeof(double);
}

/* Writes the numbers of the axes, then quantities and maturities of the contracts. */
static void fill(const option_run *run, double *at) {
  const option_parameters *p = run->parameters;
  const sim_doubles *quantities = &p->exposure.quantities;
  for (int64_t i = 0; i < p->exposure.values; i++) *at++ = (double)i;
  for (size_t a = 0; a < p->assets.count; a++) *at++ = (double)a + 1;
  for (int d = 0; d < p->exposures; d++) *at++ = run->exposure->row[d].time;
  for (size_t k = 0; k < p->payoffs.count; k++) *at++ = quantities->rows > 0 ? quantities->data[k] : 1;
  for (size_t k = 0; k < p->payoffs.count; k++) *at++ = option_own_maturity(p, p->payoffs.items[k].data);
}

sim_status option_value_dataset(option_run *run, sim_dataset *out) {
  enum { PATH, ASSET, TIME, CONTRACT };
  const option_parameters *p = run->parameters;
  const option_exposures *e = run->exposure;
  const int64_t paths = p->exposure.values, assets = (int64_t)p->assets.count, dates = p->exposures,
                contracts = (int64_t)p->payoffs.count;
  SIM_TRY(option_dataset_room(run, (size_t)(paths + assets + dates + 2 * contracts)));
  const double *path = run->dataset, *asset = path + paths, *time = asset + assets, *quantity = time + dates;
  fill(run, run->dataset);
  *out = (sim_dataset){
      .name = "exposure",
      .doc = "values of the netted book along the first paths of its exposure",
      .axes = {[PATH] = {.name = "path", .doc = "number of the path, from 0 on", .count = paths, .values = path},
               [ASSET] = {.name = "asset",
                          .doc = "number of the asset, from 1 on, as in assets of the scenario",
                          .count = assets,
                          .values = asset},
               [TIME] = {.name = "time", .doc = "time", .unit = "years", .count = dates, .values = time},
               [CONTRACT] = {.name = "contract",
                             .doc = "number of the contract, from 1 on, as in payoffs of the scenario, and what it is",
                             .count = contracts,
                             .labels = run->labels}},
      .axis_count = 4,
      .variables = {{.name = "value",
                     .doc = "V(t) of all contracts times their quantities, before the payments of that time; not "
                            "discounted",
                     .unit = "money of the run",
                     .rank = 2,
                     .axis = {PATH, TIME},
                     .data = e->value},
                    {.name = "value_error",
                     .doc =
                         "its standard error by the fit of the regressions; 0 where the value is a formula or known; "
                         "NaN where fit_paths are too few to tell",
                     .unit = "money of the run",
                     .rank = 2,
                     .axis = {PATH, TIME},
                     .data = e->error},
                    {.name = "price",
                     .doc = "price of each asset, in its own currency, after cash dividends of that time",
                     .unit = "money",
                     .rank = 3,
                     .axis = {PATH, ASSET, TIME},
                     .data = e->price},
                    {.name = "quantity",
                     .doc = "quantity of the contract in the book, negative where it is sold",
                     .unit = "1",
                     .rank = 1,
                     .axis = {CONTRACT},
                     .data = quantity},
                    {.name = "maturity",
                     .doc = "time of the contract's last payment",
                     .unit = "years",
                     .rank = 1,
                     .axis = {CONTRACT},
                     .data = quantity + contracts}},
      .variable_count = 5};
  return SIM_OK;
}
