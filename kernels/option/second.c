/* Second derivatives as combinations of outputs in several markets: gamma from delta, cross gamma, vanna, volga, charm.
 *
 * Where the graph has the second derivative itself (payoff/score.h), it is the mean of that output. Slopes along the
 * paths are differentiated by the spot, and prices twice by the volatility, with differences of fourth order: errors of
 * 1e-4 and less. Other Greeks are differences of four prices, with errors as the squares of the steps. Of a payoff with
 * a kink the samples deviate as the step to the power -1/2, of one that jumps to the power -3/2. */
#include "kernels/option/estimate.h"

#include <math.h>

/* Deviations of a ratio of two prices, at which a payoff has a kink, that count as one of a price: at most half a
 * deviation is a step then, and differences of fourth order of the smoothed kink are off by 3 h^4/30, 0.6 %. */
#define RATIO 5

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
  const double ratio = option_ratio_deviation(of->p, of->payoff, asset, NULL),
               deviation = of->e->graph.deviation[of->payoff][asset],
               shortened = of->p->greeks.stretch > 0 ? fmin(of->p->greeks.stretch, 1) : 1,
               step = shortened * option_spot_step(ratio > 0 ? fmin(deviation, RATIO * ratio) : deviation),
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
  const option_bump step = option_bump_of(of->p, of->greek, asset, false, &width);
  for (int k = 0; k < 2; k++) {
    const int side = 1 - 2 * k;
    const option_bump bump = {.asset = asset, .vol = side * step.vol, .maturity = side * step.maturity};
    SIM_TRY(add(of, &bump, outputs[k], side / width));
  }
  return SIM_OK;
}

/* The difference of four prices: by the spot of an asset, and by its volatility, the maturity or another asset's spot.
 */
static sim_status add_prices(const second_greek *of, int asset, int second) {
  const option_graph *g = &of->e->graph;
  double width, other;
  const bool cross = of->greek == OPTION_CROSS_GAMMA, early = option_is_early(of->p, of->payoff);
  const option_bump spot = option_bump_of(of->p, OPTION_GAMMA, asset, early, &width),
                    step = cross ? option_bump_of(of->p, OPTION_GAMMA, second, early, &other)
                                 : option_bump_of(of->p, of->greek, asset, early, &other);
  if (cross) other *= 2;
  for (int k = 0; k < 4; k++) {
    const int side = 1 - 2 * (k / 2), by = 1 - 2 * (k % 2);
    const option_bump bump = {.asset = asset,
                              .spot = side * spot.spot,
                              .vol = by * step.vol,
                              .maturity = by * step.maturity,
                              .second = cross ? second : 0,
                              .second_spot = cross ? by * step.spot : 0};
    SIM_TRY(add(of, &bump, g->bumped[of->payoff][of->greek][k % 2], side * by / (2 * width * other)));
  }
  return SIM_OK;
}

/* The second derivative of prices by a volatility. */
static sim_status add_volga(const second_greek *of, int asset) {
  static const double weight[5] = {-30. / 12, 16. / 12, 16. / 12, -1. / 12, -1. / 12};
  static const int side[5] = {0, 1, -1, 2, -2};
  double width;
  const bool early = option_is_early(of->p, of->payoff);
  const double step = option_bump_of(of->p, OPTION_VOLGA, asset, early, &width).vol;
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
  if (greek == OPTION_GAMMA) return add_by_spot(&into, a, delta, true, 1);
  if (greek == OPTION_CROSS_GAMMA && delta >= 0) return add_by_spot(&into, of->second, delta, false, 1);
  if (greek == OPTION_VANNA && g->slope[k][OPTION_VEGA][a] >= 0)
    return add_by_spot(&into, a, g->slope[k][OPTION_VEGA][a], false, 1);
  if (greek == OPTION_CHARM && g->slope[k][OPTION_THETA][0] >= 0)
    return add_charm(&into, a, g->slope[k][OPTION_THETA][0]);
  return add_prices(&into, a, of->second);
}
