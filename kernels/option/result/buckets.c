/* Vega and rho by node as datasets: payoffs along the first axis, nodes along the second. */
#include "kernels/option/run.h"

sim_status option_bucket_dataset(option_run *run, double n, int greek, sim_dataset *out) {
  static const char *const texts[2][5] = {
      {"vega_buckets", "derivatives of prices by the values of the nodes of volatility curves", "vega",
       "price per unit of volatility (1 is 100 %) at this node: the sum over an asset's nodes is its vega",
       "vega_error"},
      {"rho_buckets", "derivatives of prices by the values of the nodes of the rate's curve", "rho",
       "price per unit of the rate (1 is 100 %) at this node: the sum over the nodes is rho", "rho_error"}};
  const option_parameters *p = run->parameters;
  const int by = greek - OPTION_BUCKETS, nodes = p->buckets[by], payoffs = option_payoff_count(p);
  const size_t all = (size_t)nodes * (size_t)payoffs;
  SIM_TRY(option_dataset_room(run, 2 * all + 3 * (size_t)nodes));
  double *value = run->dataset, *error = value + all, *number = error + all, *time = number + nodes,
         *asset = time + nodes;
  for (int q = 0; q < run->told; q++) {
    const option_quantity *of = &run->quantity[q];
    if (of->greek != greek) continue;
    value[of->payoff * nodes + of->bucket] = option_mean(run, q);
    error[of->payoff * nodes + of->bucket] = option_error(run, n, q);
  }
  for (int i = 0; i < nodes; i++) {
    number[i] = i + 1;
    time[i] = p->bucket[by][i].t;
    asset[i] = p->bucket[by][i].asset + 1;
  }
  const char *const *text = texts[by];
  *out = (sim_dataset){
      .name = text[0],
      .doc = text[1],
      .axes = {{.name = "payoff", .doc = "payoff", .count = payoffs, .labels = run->labels},
               {.name = "node", .doc = "number of the node, from 1 on", .count = nodes, .values = number}},
      .axis_count = 2,
      .variables = {{text[2], text[3], 2, {0, 1}, value, "money of the run"},
                    {text[4], "its standard error", 2, {0, 1}, error, "money of the run"},
                    {"time", "time of the node", 1, {1}, time, "years"},
                    {"asset", "number of the asset whose volatility it is, from 1 on", 1, {1}, asset}},
      .variable_count = greek == OPTION_VEGA_BUCKET ? 4 : 3};
  return SIM_OK;
}
