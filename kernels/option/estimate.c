#include "kernels/option/estimate.h"

#include "kernels/option/payoff/builder.h"
#include "kernels/option/scenario/ladder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int option_quantities(const option_parameters *p, option_quantity *out) {
  const int payoffs = option_payoff_count(p);
  int count = 0;
  for (int k = 0; k < payoffs; k++, count++)
    if (out != NULL) out[count] = (option_quantity){.payoff = k, .greek = -1};
  for (int k = 0; k < payoffs; k++)
    for (int g = 0; g < OPTION_GREEKS; g++) {
      const int all = p->greeks.want[g] ? option_greek_count(p, g) : 0;
      int second = 1, first = 0;
      for (int i = 0; i < all; i++, count++) {
        const bool pair = g == OPTION_CROSS_GAMMA, node = g >= OPTION_BUCKETS;
        if (out != NULL)
          out[count] = (option_quantity){.payoff = k,
                                         .greek = g,
                                         .asset = node   ? p->bucket[g - OPTION_BUCKETS][i].asset
                                                  : pair ? first
                                                         : i,
                                         .bucket = node ? i : 0,
                                         .second = pair ? second : 0};
        if (++first < second) continue;
        first = 0;
        second++;
      }
    }
  for (int i = 0; i < 2 * p->points * payoffs; i++, count++)
    if (out != NULL)
      out[count] = (option_quantity){.payoff = i / 2 % payoffs,
                                     .greek = -1,
                                     .point = p->first_point + i / (2 * payoffs) + 1,
                                     .change = i % 2 == 1};
  return count;
}

sim_status option_estimate_market(option_estimate *e, const option_parameters *p, const option_bump *bump,
                                  int *market) {
  for (int m = 0; m < e->markets; m++)
    if (option_bump_equal(&e->bump[m], bump)) {
      *market = m;
      return SIM_OK;
    }
  if ((e->markets + 1) * e->signs > OPTION_MARKETS_MAX)
    return sim_fail(SIM_ERR_SCENARIO, "greeks: more than %d paths of the same random numbers are needed",
                    OPTION_MARKETS_MAX);
  *market = e->markets;
  e->bump[e->markets] = *bump;
  return option_market_create(p, bump, &e->market[e->markets++]);
}

/* Adds the markets with the bump and with its opposite: market[2]. */
static sim_status add_markets(option_estimate *e, const option_parameters *p, const option_bump *bump, int *market) {
  const option_bump other = {.asset = bump->asset,
                             .spot = -bump->spot,
                             .vol = -bump->vol,
                             .rate = -bump->rate,
                             .maturity = -bump->maturity,
                             .bucket = bump->bucket};
  SIM_TRY(option_estimate_market(e, p, bump, &market[0]));
  return option_estimate_market(e, p, &other, &market[1]);
}

/* A Greek of the first payoff's discounted control. */
static sim_status differentiate_control(const option_parameters *p, const option_market *market, int greek, int which,
                                        double *out) {
  const double share = 0.01; /* second differences are then exact to 1e-8 */
  option_market above, below = {0};
  double width;
  SIM_TRY(option_market_near(p, greek, which, share, &width, &above));
  const sim_status status = option_market_near(p, greek, which, -share, &width, &below);
  width *= share;
  if (status == SIM_OK) {
    const int end = option_steps_until(market, option_maturity_of(p, 0)) - 1;
    const double most = above.bond[end] * option_control_mean(p, &above, 0),
                 least = below.bond[end] * option_control_mean(p, &below, 0),
                 middle = market->bond[end] * option_control_mean(p, market, 0);
    *out = greek == OPTION_GAMMA ? (most - 2 * middle + least) / (width * width) : (most - least) / width;
  }
  option_market_free(&above);
  option_market_free(&below);
  return status;
}

static int is_flat(const option_estimate *e, int tangent) {
  return option_greek_is_rho(e->graph.tangent[tangent].greek);
}

/* Where the bonds' derivatives by a Greek are. */
static double *bond_slope_of(const option_estimate *e, int greek, int which) {
  return e->bond_slope +
         (size_t)(greek == OPTION_RHO_BUCKET ? OPTION_GREEKS + which : greek) * (size_t)e->market[0].steps;
}

/* Creates the tangents, with those that are not flat first; the graph's numbering is permuted to match. */
static sim_status make_tangents(option_estimate *e, const option_parameters *p) {
  option_graph *g = &e->graph;
  const size_t steps = (size_t)e->market[0].steps;
  int place[OPTION_TANGENTS_MAX], count = 0;
  for (int flat = 0; flat < 2; flat++)
    for (int t = 0; t < g->tangents; t++)
      if (is_flat(e, t) == flat) place[t] = count++;
  for (int f = 0; f < g->features; f++)
    if (g->feature[f].tangent > 0) g->feature[f].tangent = place[g->feature[f].tangent - 1] + 1;
  e->tangent = calloc(((size_t)g->tangents * 2 + OPTION_GREEKS + (size_t)p->buckets[1]) * steps, sizeof *e->tangent);
  e->bond_slope = e->tangent + (size_t)g->tangents * 2 * steps;
  if (e->tangent == NULL) return sim_no_memory("the greeks");
  option_sensitivity before[OPTION_TANGENTS_MAX];
  memcpy(before, g->tangent, sizeof before);
  for (int t = 0; t < g->tangents; t++) {
    const int greek = before[t].greek, which = before[t].which;
    double *out = e->tangent + (size_t)place[t] * 2 * steps;
    g->tangent[place[t]] = before[t];
    SIM_TRY(option_market_slope(p, greek, which, out, bond_slope_of(e, greek, which)));
    for (size_t s = 1; s < steps && option_greek_is_rho(greek); s++) out[s] += out[s - 1];
  }
  return SIM_OK;
}

double option_discount(const option_estimate *e, int market, int payoff) {
  return e->market[market].bond[e->graph.end[payoff] - 1];
}

/* Adds an output that is paid with `payoff`. */
static void combine(option_estimate *e, option_combination *c, int payoff, int market, int output, double factor) {
  c->term[c->terms++] = (option_term){market, output, factor * option_discount(e, market, payoff)};
}

/* Adds a Greek of all payoffs by one asset, or by one node of a curve. */
static sim_status make_greek(option_estimate *e, const option_parameters *p, int greek, int which) {
  const option_graph *g = &e->graph;
  option_quantity *quantity = calloc((size_t)e->quantities, sizeof *quantity);
  if (quantity == NULL) return sim_no_memory("the greeks");
  option_quantities(p, quantity);
  const double *bond = bond_slope_of(e, greek, which);
  sim_status status = SIM_OK;
  for (int q = 0; q < e->quantities && status == SIM_OK; q++) {
    if (quantity[q].greek != greek || option_greek_place(&quantity[q]) != which) continue;
    const int k = quantity[q].payoff, delta = greek <= OPTION_GAMMA ? g->delta[k][which] : -1;
    const int direct = greek == OPTION_DELTA ? delta : greek == OPTION_GAMMA ? g->gamma[k][which] : -1;
    option_combination *c = &e->combination[q];
    if (greek >= OPTION_VEGA && g->slope[k][greek][which] >= 0) {
      combine(e, c, k, 0, g->slope[k][greek][which], 1);
      if (!option_greek_is_vega(greek)) combine(e, c, k, 0, k, bond[g->end[k] - 1]);
      for (int t = 0; t < c->terms && greek == OPTION_THETA; t++) c->term[t].factor *= -1;
      continue;
    }
    if (direct >= 0) {
      combine(e, c, k, 0, direct, 1);
      continue;
    }
    if (greek == OPTION_GAMMA && delta >= 0) {
      status = option_estimate_second(e, p, q, &quantity[q]);
      continue;
    }
    double width;
    int market[2];
    const int set = p->step_set[k];
    if (greek == OPTION_GAMMA && option_second_steps(p, which, -1, set).fourth) {
      status = option_estimate_second(e, p, q, &quantity[q]);
      continue;
    }
    const option_bump bump = option_bump_of(p, greek, which, set, &width);
    status = add_markets(e, p, &bump, market);
    if (status != SIM_OK) break;
    if (greek == OPTION_GAMMA) {
      combine(e, c, k, market[0], k, 1 / (width * width));
      combine(e, c, k, 0, k, -2 / (width * width));
      combine(e, c, k, market[1], k, 1 / (width * width));
    } else {
      combine(e, c, k, market[0], g->bumped[k][greek][0], 1 / width);
      combine(e, c, k, market[1], g->bumped[k][greek][1], -1 / width);
    }
  }
  free(quantity);
  return status;
}

double option_greek_size(const option_parameters *p, const option_quantity *of, double price) {
  const int greek = of->greek;
  const double spot = option_asset_at(p, of->asset)->spot, T = option_maturity_of(p, of->payoff);
  const double factor[OPTION_GREEKS] = {
      [OPTION_DELTA] = 1 / spot,       [OPTION_GAMMA] = 1 / (spot * spot),
      [OPTION_VEGA] = sqrt(T),         [OPTION_RHO] = T,
      [OPTION_THETA] = 1 / T,          [OPTION_CROSS_GAMMA] = 1 / (spot * option_asset_at(p, of->second)->spot),
      [OPTION_VANNA] = sqrt(T) / spot, [OPTION_VOLGA] = T,
      [OPTION_CHARM] = 1 / (spot * T), [OPTION_VEGA_BUCKET] = sqrt(T),
      [OPTION_RHO_BUCKET] = T};
  return fabs(price) * factor[greek];
}

/* Adds controls to the Greeks of the first payoff. A Greek whose control is the same on every path up to rounding
 * (rho of a discounted spot) has none. */
static sim_status control_greeks(option_estimate *e, const option_parameters *p) {
  option_quantity *quantity = calloc((size_t)e->quantities, sizeof *quantity);
  if (quantity == NULL) return sim_no_memory("the greeks");
  option_quantities(p, quantity);
  sim_status status = SIM_OK;
  for (int q = e->graph.payoffs; q < e->quantities && quantity[q].payoff == 0 && status == SIM_OK; q++) {
    const int greek = quantity[q].greek, which = option_greek_place(&quantity[q]);
    option_combination *c = &e->combination[q];
    c->control = option_greek_is_controlled(greek) ? e->graph.control_slope[greek][which] : -1;
    if (c->control < 0) continue;
    c->control_factor = (greek == OPTION_THETA ? -1 : 1) * option_discount(e, 0, 0);
    c->control_least = 1e-4 * option_greek_size(p, &quantity[q], e->combination[0].control_mean);
    status = differentiate_control(p, &e->market[0], greek, which, &c->control_mean);
  }
  free(quantity);
  return status;
}

/* Adds price and change of all payoffs at the points of the ladder. Both have the control of today's price, whose mean
 * is known: the pilot finds how far it goes up and down with them. */
static sim_status make_points(option_estimate *e, const option_parameters *p) {
  const option_graph *g = &e->graph;
  option_combination *c = e->combination + e->quantities - 2 * p->points * g->payoffs;
  for (int i = 0; i < p->points; i++) {
    const option_point point = option_ladder_point(p, p->first_point + i);
    int market = 0;
    if (!point.today) SIM_TRY(option_estimate_market(e, p, &point.bump, &market));
    for (int k = 0; k < g->payoffs; k++, c += 2) {
      const int output = g->timed[k][point.time];
      for (int change = 0; change < 2; change++) {
        c[change] = e->combination[k]; /* today's price with its control */
        c[change].terms = 0;
        combine(e, &c[change], k, market, output, 1);
      }
      combine(e, &c[1], k, 0, k, -1);
      if (point.today) c[1].control = -1;
    }
  }
  return SIM_OK;
}

static sim_status make_seconds(option_estimate *e, const option_parameters *p) {
  option_quantity *quantity = calloc((size_t)e->quantities, sizeof *quantity);
  if (quantity == NULL) return sim_no_memory("the greeks");
  option_quantities(p, quantity);
  sim_status status = SIM_OK;
  for (int q = 0; q < e->quantities && status == SIM_OK; q++)
    if (quantity[q].greek >= OPTION_SECOND && quantity[q].greek < OPTION_BUCKETS)
      status = option_estimate_second(e, p, q, &quantity[q]);
  free(quantity);
  return status;
}

static sim_status make_combinations(option_estimate *e, const option_parameters *p) {
  const option_graph *g = &e->graph;
  for (int q = 0; q < e->quantities; q++) e->combination[q].control = -1;
  for (int k = 0; k < g->payoffs; k++) {
    option_combination *c = &e->combination[k];
    combine(e, c, k, 0, k, 1);
    c->control = g->control[k];
    c->carried = k;
    if (c->control < 0) continue;
    c->control_mean = option_control_mean(p, &e->market[0], k) * option_discount(e, 0, k);
    c->control_factor = option_discount(e, 0, k);
  }
  for (int greek = 0; greek < OPTION_GREEKS; greek++)
    for (int i = 0; p->greeks.want[greek] && option_greek_is_controlled(greek) && i < option_greek_count(p, greek); i++)
      SIM_TRY(make_greek(e, p, greek, i));
  SIM_TRY(make_seconds(e, p));
  SIM_TRY(control_greeks(e, p));
  return make_points(e, p);
}

bool option_is_carried(double sum, double squares, double mean, double count) {
  const double off = sum - count * mean, spread = squares - mean * (sum + off);
  return off * off < count * spread / 2 && sum * sum > OPTION_CARRIERS * squares;
}

/* The same of a price, from its moments. */
static bool is_carried(const option_combination *c, const option_moments *m, double count) {
  const double sum = m->x + count * c->control_mean;
  return option_is_carried(sum, m->xx + c->control_mean * (m->x + sum), c->control_mean, count);
}

void option_estimate_set(option_estimate *e, const option_moments *moments, double count) {
  for (int q = 0; q < e->quantities; q++) {
    option_combination *c = &e->combination[q];
    const option_moments *m = &moments[q];
    const double spread = m->xx - m->x * m->x / count, least = count * c->control_least * c->control_least;
    const bool used =
        c->control >= 0 && spread > least && is_carried(&e->combination[c->carried], &moments[c->carried], count);
    const double slope = used ? (m->xy - m->x * m->y / count) / spread : 0;
    c->slope = isfinite(slope) ? slope : 0;
    c->shift = isfinite(m->y) ? (m->y - c->slope * m->x) / count : 0;
  }
}

static sim_status make(option_estimate *e, const option_parameters *p, bool tangents) {
  e->signs = p->sampling.antithetic ? 2 : 1;
  e->bump[0] = (option_bump){.asset = OPTION_NO_ASSET};
  SIM_TRY(option_market_create(p, NULL, &e->market[e->markets++]));
  SIM_TRY(option_graph_create(p, &e->market[0], tangents, &e->graph));
  SIM_TRY(make_tangents(e, p));
  e->quantities = option_quantities(p, NULL);
  e->combination = calloc((size_t)e->quantities, sizeof *e->combination);
  if (e->combination == NULL) return sim_no_memory("the greeks");
  return make_combinations(e, p);
}

sim_status option_estimate_create(const option_parameters *p, bool tangents, option_estimate *out) {
  *out = (option_estimate){0};
  const sim_status status = make(out, p, tangents);
  if (status != SIM_OK) option_estimate_free(out);
  return status;
}

void option_estimate_free(option_estimate *estimate) {
  for (int m = 0; m < estimate->markets; m++) option_market_free(&estimate->market[m]);
  option_graph_free(&estimate->graph);
  free(estimate->combination);
  free(estimate->tangent);
  *estimate = (option_estimate){0};
}
