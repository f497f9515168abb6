/* Second derivatives as combinations of outputs in several markets: gamma from delta or five prices, cross gamma,
 * vanna, volga, charm.
 *
 * Where the graph has the second derivative itself (payoff/score.h), it is the mean of that output. Slopes along the
 * paths are differentiated by the spot, and prices twice by the volatility, with differences of fourth order: errors of
 * 1e-4 and less. Other Greeks are differences of four prices, with errors as the squares of the steps. Of a payoff with
 * a kink the samples deviate as the step to the power -1/2, of one that jumps to the power -3/2. */
#include "kernels/option/estimate.h"

#include <math.h>

/* One Greek in the making. */
typedef struct second_greek {
  option_estimate *e;
  const option_parameters *p;
  option_combination *c;
  int payoff, greek;
} second_greek;

/* Adds `factor` times an output of the market with a bump. */
static sim_status add(const second_greek *of, const option_bump *bump, int output, double factor) {
  int market;
  SIM_TRY(option_estimate_market(of->e, of->p, bump, &market));
  of->c->term[of->c->terms++] = (option_term){market, output, factor * option_discount(of->e, market, of->payoff)};
  return SIM_OK;
}

/* The derivative of an output by the spot of an asset; `delta`: a delta by this spot, which the graph has divided by
 * the spot of market 0. */
static sim_status add_by_spot(const second_greek *of, int asset, int output, bool delta, double factor) {
  static const int side[4] = {1, -1, 2, -2};
  static const double weight[4] = {8. / 12, -8. / 12, -1. / 12, 1. / 12};
  const double step = option_slope_step(of->p, of->payoff, asset, of->e->graph.deviation[of->payoff][asset]),
               width = step * option_asset_at(of->p, asset)->spot;
  for (int k = 0; k < 4; k++) {
    const option_bump bump = {.asset = asset, .spot = side[k] * step};
    SIM_TRY(add(of, &bump, output, factor * weight[k] / (width * (delta ? 1 + bump.spot : 1))));
  }
  return SIM_OK;
}

/* The central difference by the volatility or the maturity: of outputs[2], one for each side. */
static sim_status add_by_parameter(const second_greek *of, int asset, const int *outputs) {
  double width;
  const option_bump step = option_bump_of(of->p, of->greek, asset, 0, &width);
  for (int k = 0; k < 2; k++) {
    const int side = 1 - 2 * k;
    const option_bump bump = {.asset = asset, .vol = side * step.vol, .maturity = side * step.maturity};
    SIM_TRY(add(of, &bump, outputs[k], side / width));
  }
  return SIM_OK;
}

/* The difference of four prices: by the spot of an asset, and by its volatility, the maturity or another asset's spot.
 * Near a kink of eight: 4/3 of that, less a third of the same with twice the changes of the spots. */
static sim_status add_prices(const second_greek *of, int asset, int second) {
  const option_graph *g = &of->e->graph;
  const bool cross = of->greek == OPTION_CROSS_GAMMA;
  const int set = of->p->step_set[of->payoff];
  const option_spot_steps spot = option_second_steps(of->p, asset, cross ? second : -1, set);
  double other = cross ? 2 * spot.step[1] * option_asset_at(of->p, second)->spot : 0;
  const option_bump step =
      cross ? (option_bump){.asset = second} : option_bump_of(of->p, of->greek, asset, set, &other);
  const double width = 2 * spot.step[0] * option_asset_at(of->p, asset)->spot;
  for (int k = 0; k < (spot.fourth ? 8 : 4); k++) {
    const int side = 1 - 2 * (k / 2 % 2), by = 1 - 2 * (k % 2), times = 1 + k / 4;
    const double weight = (spot.fourth ? (times == 1 ? 4. / 3 : -1. / 3) : 1) / (times * (cross ? times : 1));
    const option_bump bump = {.asset = asset,
                              .spot = side * times * spot.step[0],
                              .vol = by * step.vol,
                              .maturity = by * step.maturity,
                              .second = cross ? second : 0,
                              .second_spot = cross ? by * times * spot.step[1] : 0};
    SIM_TRY(add(of, &bump, g->bumped[of->payoff][of->greek][k % 2], weight * side * by / (width * other)));
  }
  return SIM_OK;
}

/* Gamma from five prices. */
static sim_status add_five(const second_greek *of, int asset) {
  static const int side[5] = {1, -1, 2, -2, 0};
  static const double weight[5] = {16. / 12, 16. / 12, -1. / 12, -1. / 12, -30. / 12};
  const double step = option_second_steps(of->p, asset, -1, of->p->step_set[of->payoff]).step[0],
               width = step * option_asset_at(of->p, asset)->spot;
  for (int k = 0; k < 5; k++) {
    const option_bump bump = {.asset = side[k] == 0 ? OPTION_NO_ASSET : asset, .spot = side[k] * step};
    SIM_TRY(add(of, &bump, of->payoff, weight[k] / (width * width)));
  }
  return SIM_OK;
}

/* The second derivative of prices by a volatility. */
static sim_status add_volga(const second_greek *of, int asset) {
  static const double weight[5] = {-30. / 12, 16. / 12, 16. / 12, -1. / 12, -1. / 12};
  static const int side[5] = {0, 1, -1, 2, -2};
  double width;
  const double step = option_bump_of(of->p, OPTION_VOLGA, asset, of->p->step_set[of->payoff], &width).vol;
  for (int k = 0; k < 5; k++) {
    const option_bump bump = {.asset = k == 0 ? OPTION_NO_ASSET : asset, .vol = side[k] * step};
    SIM_TRY(add(of, &bump, of->payoff, weight[k] / (step * step)));
  }
  return SIM_OK;
}

/* Charm from theta along the paths: minus the slope and the change of the discount. */
static sim_status add_charm(const second_greek *of, int asset, int theta) {
  const option_estimate *e = of->e;
  SIM_TRY(add_by_spot(of, asset, theta, false, -1));
  const double bond = e->bond_slope[OPTION_THETA * e->market[0].steps + e->graph.end[of->payoff] - 1];
  return add_by_spot(of, asset, of->payoff, false, -bond);
}

sim_status option_estimate_second(option_estimate *e, const option_parameters *p, int quantity,
                                  const option_quantity *of) {
  const option_graph *g = &e->graph;
  const int k = of->payoff, a = of->asset, greek = of->greek;
  const second_greek into = {e, p, &e->combination[quantity], k, greek};
  const option_bump none = {.asset = OPTION_NO_ASSET};
  const int direct = g->slope[k][greek][option_greek_place(of)], delta = g->delta[k][a];
  const bool scored = g->scored[k][greek][0] >= 0; /* then delta, by the density, is that of market 0 alone */
  if (direct >= 0) return add(&into, &none, direct, greek == OPTION_CHARM ? -1 : 1);
  if (scored) return add_by_parameter(&into, a, g->scored[k][greek]);
  if (greek == OPTION_VOLGA) return add_volga(&into, a);
  if (greek == OPTION_GAMMA) return delta >= 0 ? add_by_spot(&into, a, delta, true, 1) : add_five(&into, a);
  if (greek == OPTION_CROSS_GAMMA && delta >= 0) return add_by_spot(&into, of->second, delta, false, 1);
  if (greek == OPTION_VANNA && g->slope[k][OPTION_VEGA][a] >= 0)
    return add_by_spot(&into, a, g->slope[k][OPTION_VEGA][a], false, 1);
  if (greek == OPTION_CHARM && g->slope[k][OPTION_THETA][0] >= 0)
    return add_charm(&into, a, g->slope[k][OPTION_THETA][0]);
  return add_prices(&into, a, of->second);
}
