/* Greeks as graphs of path features.
 *
 * Pathwise: all features of an asset but probabilities grow in proportion to its spot (not with a local volatility), so
 * that the delta of a payoff Y without jumps is the mean of sum_F dY/dF F/S. By likelihood ratio, of the first step's
 * density with the score s: the delta of any Y of the fixings is the mean of Y s. Second derivatives: payoff/score.h.
 */
#include "kernels/option/estimate.h"
#include "kernels/option/payoff/score.h"
#include "kernels/option/scenario/currency.h"
#include "kernels/option/scenario/ladder.h"

#include <stdlib.h>

static sim_expr_ref op2(option_builder *m, sim_expr_op op, sim_expr_ref a, sim_expr_ref b) {
  return option_builder_call(m, op, a, b, 0);
}

enum { BY_BUMP, BY_PATH, BY_SCORE };

/* What all payoffs of a run share. */
typedef struct greek_maker {
  option_builder *m;
  const option_parameters *p;
  option_first_step step;
  bool known; /* whether the density of the first step is known */
  bool roomy; /* and second derivatives of all payoffs from it and from the slopes along the path have room */
  sim_expr_ref *refs;
} greek_maker;

/* Whether second derivatives of a payoff come from the density of the first step: where that does not vary too much,
 * and of one asset with a control, whose noise by the score is that of the payoff. */
static bool is_mixed(const greek_maker *of, int k) {
  const bool controlled = of->p->assets.count == 1 && of->p->sampling.control != OPTION_NO_CONTROL;
  return of->roomy && (controlled || option_first_step_is_long(&of->step, of->m->graph->deviation[k]));
}

/* Chooses the methods of delta and gamma of a payoff; `item` NULL: the scenario's function. option_check_methods has
 * refused what a requested method cannot do. */
static void choose(const greek_maker *of, int k, const sim_item *item, int *delta, int *gamma) {
  const option_builder *m = of->m;
  const option_parameters *p = of->p;
  const option_graph *g = m->graph;
  const option_payoff *o = item != NULL ? item->data : NULL;
  const bool barrier = item != NULL && item->schema == &option_barrier_schema;
  /* one: a single asset with a known density of its first step */
  const bool one = p->assets.count == 1 && of->known;
  bool local = false;
  for (int a = 0; a < (int)p->assets.count; a++) {
    local |= !option_asset_is_scaled(option_asset_at(p, a));
    local |= option_asset_at(p, a)->dividends.rows > 0; /* prices do not grow in proportion to the spot */
  }
  bool continuous = o != NULL && o->monitoring == OPTION_CONTINUOUS;
  /* Extremes within the first step depend on the spot directly, not through the fixings alone. */
  for (int f = 0; f < g->features && item == NULL; f++)
    continuous |= g->feature[f].kind == OPTION_HIGH || g->feature[f].kind == OPTION_LOW;
  const bool two = item != NULL && item->schema == &option_double_barrier_schema;
  const bool jumps = item != NULL && (item->schema == &option_digital_schema || ((barrier || two) && !continuous));
  const bool late = item != NULL && option_has_every(item);
  *delta = *gamma = BY_BUMP;
  if (p->greeks.method == OPTION_BUMP || ((barrier || two) && continuous) || local) return;
  if (p->greeks.method == OPTION_AUTO && (item == NULL || late)) return;
  const bool score =
      one && !continuous && (p->greeks.method == OPTION_LIKELIHOOD || (p->greeks.method == OPTION_AUTO && jumps));
  if (p->greeks.method == OPTION_LIKELIHOOD && !score) return; /* the payoff may jump: no pathwise derivative */
  *delta = score ? BY_SCORE : jumps && p->greeks.method == OPTION_AUTO ? BY_BUMP : BY_PATH;
  *gamma = score ? BY_SCORE : is_mixed(of, k) && *delta == BY_PATH && !continuous ? BY_PATH : BY_BUMP;
}

/* Whether all features that payoff k depends on have tangents. */
static bool has_tangents(const option_builder *m, const option_parameters *p, const sim_expr_ref *slope, int features) {
  for (int a = 0; a < m->market->assets; a++)
    if (!option_asset_is_gbm(option_asset_at(p, a))) return false;
  if (option_any_currency(p)) return false; /* a parameter of one asset moves others, too */
  for (int f = 0; f < features; f++) {
    double value;
    const option_kind kind = m->graph->feature[f].kind;
    const bool used = !sim_expr_builder_constant(m->builder, slope[f], &value) || value != 0;
    if (used &&
        (kind > OPTION_FIXING || kind == OPTION_HIGH || kind == OPTION_LOW || m->graph->feature[f].schedule > 0))
      return false;
  }
  return m->status == SIM_OK;
}

static int tangent_of(option_builder *m, int greek, int asset, int which) {
  option_graph *g = m->graph;
  for (int t = 0; t < g->tangents; t++)
    if (g->tangent[t].greek == greek && g->tangent[t].asset == asset && g->tangent[t].which == which) return t + 1;
  if (m->status == SIM_OK && g->tangents == OPTION_TANGENTS_MAX)
    m->status = sim_fail(SIM_ERR_SCENARIO, "greeks: more than %d parameters of assets", OPTION_TANGENTS_MAX);
  if (m->status != SIM_OK) return 1;
  g->tangent[g->tangents] = (option_sensitivity){greek, asset, which};
  return ++g->tangents;
}

/* The asset whose features change with a Greek's parameter; -1: all. */
static int changed_asset(const option_parameters *p, int greek, int which) {
  if (greek == OPTION_VEGA_BUCKET) return p->bucket[0][which].asset;
  return greek == OPTION_VEGA ? which : -1;
}

/* sum_F dY/dF dF/dtheta; theta: a Greek's parameter, of the asset or node `which`. */
static sim_expr_ref along_path(option_builder *m, const sim_expr_ref *slope, int features, int greek, int which) {
  const int asset = changed_asset(m->p, greek, which);
  sim_expr_ref sum = option_builder_number(m, 0);
  for (int f = 0; f < features && m->status == SIM_OK; f++) {
    double value;
    option_feature feature = m->graph->feature[f];
    if (feature.tangent > 0 || (asset >= 0 && feature.asset != asset)) continue;
    if (sim_expr_builder_constant(m->builder, slope[f], &value) && value == 0) continue;
    feature.tangent = tangent_of(m, greek, feature.asset, greek >= OPTION_BUCKETS ? which : feature.asset);
    sum = op2(m, SIM_EXPR_ADD, sum, op2(m, SIM_EXPR_MUL, slope[f], option_builder_feature(m, feature)));
  }
  return sum;
}

/* Whether the features, parameters and outputs of a Greek by nodes have room, with those of a control; else it comes
 * from differences. */
static bool has_room(const option_builder *m, const sim_expr_ref *slope, int features, int greek) {
  const option_graph *g = m->graph;
  const option_parameters *p = m->p;
  const int nodes = option_greek_count(p, greek), controls = g->control[0] >= 0 ? 2 : 1;
  int used = 0, kept = 0;
  for (int f = 0; f < features; f++) {
    double value;
    const bool none = sim_expr_builder_constant(m->builder, slope[f], &value) && value == 0;
    if (none || g->feature[f].tangent > 0) continue;
    kept++;
    for (int i = 0; i < nodes; i++) {
      const int asset = changed_asset(p, greek, i);
      used += asset < 0 || asset == g->feature[f].asset;
    }
  }
  const int parameters = nodes * (greek == OPTION_RHO_BUCKET && kept > 0 ? m->market->assets : 1);
  return g->features + controls * used <= OPTION_FEATURES_MAX && g->tangents + parameters <= OPTION_TANGENTS_MAX &&
         g->outputs + controls * nodes <= SIM_EXPR_OUTPUTS_MAX;
}

/* sum_F dY/dF F/S for one asset, without the squared changes, which do not grow with the spot; `slope`: dY/dF of this
 * payoff, [features]. */
static sim_expr_ref path_delta(option_builder *m, const sim_expr_ref *slope, int features, int asset) {
  sim_expr_ref sum = option_builder_number(m, 0);
  for (int f = 0; f < features; f++)
    if (m->graph->feature[f].asset == asset && m->graph->feature[f].tangent == 0 &&
        m->graph->feature[f].kind != OPTION_SQUARES)
      sum = op2(m, SIM_EXPR_ADD, sum, op2(m, SIM_EXPR_MUL, slope[f], m->feature[f]));
  return op2(m, SIM_EXPR_MUL, sum, option_builder_number(m, 1 / m->market->spot[asset]));
}

static int add(option_builder *m, sim_expr_ref ref, sim_expr_ref *refs) {
  if (m->status == SIM_OK && m->graph->outputs == SIM_EXPR_OUTPUTS_MAX)
    m->status = sim_fail(SIM_ERR_SCENARIO, "greeks: more than %d numbers of a path together", SIM_EXPR_OUTPUTS_MAX);
  if (m->status != SIM_OK) return -1;
  refs[m->graph->outputs] = ref;
  return m->graph->outputs++;
}

/* Derivatives of payoff k by every feature that it depends on. */
static void slopes(option_builder *m, sim_expr_ref payoff, sim_expr_ref *out) {
  sim_expr *expr = NULL, *gradient = NULL;
  if (m->status == SIM_OK)
    m->status = sim_expr_builder_finish(m->builder, &payoff, (const char *const[]){"payoff"}, 1, &expr);
  if (m->status == SIM_OK) m->status = sim_expr_gradient(expr, 0, &gradient);
  if (m->status == SIM_OK) m->status = sim_expr_builder_insert(m->builder, gradient, m->feature, out);
  sim_expr_free(&gradient);
  sim_expr_free(&expr);
}

/* The Greeks of the first payoff's control, by the payoff's own methods. */
static void control_greeks(greek_maker *by, int delta, int gamma) {
  option_builder *m = by->m;
  const option_parameters *p = by->p;
  sim_expr_ref *refs = by->refs;
  option_graph *g = m->graph;
  const int assets = m->market->assets, features = g->features;
  sim_expr_ref slope[SIM_EXPR_INPUTS_MAX], of = refs[g->control[0]];
  if (delta == BY_SCORE && p->greeks.want[OPTION_DELTA])
    g->control_slope[OPTION_DELTA][0] = add(m, op2(m, SIM_EXPR_MUL, of, option_score(m, &by->step, 0)), refs);
  if (gamma == BY_SCORE && p->greeks.want[OPTION_GAMMA])
    g->control_slope[OPTION_GAMMA][0] =
        add(m, op2(m, SIM_EXPR_MUL, of, option_score_weight(m, &by->step, OPTION_GAMMA)), refs);
  if (delta != BY_PATH) return;
  slopes(m, of, slope);
  for (int a = 0; a < assets && p->greeks.want[OPTION_DELTA]; a++)
    g->control_slope[OPTION_DELTA][a] = add(m, path_delta(m, slope, features, a), refs);
  sim_expr_ref deltas[OPTION_SCORED_MAX];
  const option_slopes slopes_of = {.delta = deltas};
  for (int a = 0; a < assets && gamma == BY_PATH && p->greeks.want[OPTION_GAMMA]; a++) {
    deltas[a] = path_delta(m, slope, features, a);
    g->control_slope[OPTION_GAMMA][a] = add(m, option_mixed(m, &by->step, OPTION_GAMMA, a, a, &slopes_of), refs);
  }
  double *bond = calloc((size_t)m->market->steps, sizeof *bond);
  if (bond == NULL) m->status = sim_no_memory("the greeks");
  for (int greek = OPTION_VEGA; greek < OPTION_GREEKS && bond != NULL; greek++)
    for (int a = 0; a < option_greek_count(p, greek) && option_greek_is_controlled(greek) && p->greeks.want[greek] &&
                    g->slope[0][greek][a] >= 0 && m->status == SIM_OK;
         a++) {
      if (!option_greek_is_vega(greek)) m->status = option_market_slope(p, greek, a, NULL, bond);
      const double discount = option_greek_is_vega(greek) ? 0 : bond[g->end[0] - 1];
      sim_expr_ref along = along_path(m, slope, features, greek, a);
      along = op2(m, SIM_EXPR_ADD, along, op2(m, SIM_EXPR_MUL, of, option_builder_number(m, discount)));
      g->control_slope[greek][a] = add(m, along, refs);
    }
  free(bond);
}

/* Adds the payoffs whose graphs depend on today's date, in another market: out[payoff * stride] of each. */
static void add_timed(option_builder *m, const option_parameters *p, const option_market *market, sim_expr_ref *refs,
                      int *out, int stride) {
  const option_market *unmoved = m->market;
  const int functions = m->graph->payoffs - (int)p->payoffs.count;
  m->market = market;
  for (size_t i = 0; i < p->payoffs.count && m->status == SIM_OK; i++) {
    const sim_item *item = &p->payoffs.items[i];
    if (!option_payoff_is_timed(item)) continue;
    out[(functions + (int)i) * stride] = add(m, option_timed(m, item), refs);
  }
  m->market = unmoved;
}

/* Adds these payoffs in the market of rho's, theta's or charm's difference, side 0 with the bump, 1 with its opposite.
 */
static void bump_timed(option_builder *m, const option_parameters *p, int greek, int side, sim_expr_ref *refs) {
  option_market market;
  double width;
  m->status = option_market_near(p, greek, 0, 1 - 2 * side, &width, &market);
  if (m->status != SIM_OK) return;
  add_timed(m, p, &market, refs, &m->graph->bumped[0][greek][side], 2 * OPTION_GREEKS);
  option_market_free(&market);
}

static bool any_timed(const option_parameters *p) {
  bool any = false;
  for (size_t i = 0; i < p->payoffs.count; i++) any |= option_payoff_is_timed(&p->payoffs.items[i]);
  return any;
}

static void set_bumped(option_builder *m, const option_parameters *p, sim_expr_ref *refs) {
  option_graph *g = m->graph;
  for (int k = 0; k < g->payoffs; k++)
    for (int i = 0; i < 2 * OPTION_GREEKS; i++) g->bumped[k][i / 2][i % 2] = k;
  for (int greek = OPTION_RHO; any_timed(p) && greek < OPTION_GREEKS; greek++)
    for (int side = 0;
         (greek <= OPTION_THETA || greek == OPTION_CHARM) && p->greeks.want[greek] && side < 2 && m->status == SIM_OK;
         side++)
      bump_timed(m, p, greek, side, refs);
}

/* Adds these payoffs at each time of the ladder that one of the estimate's points has. */
static void set_timed(option_builder *m, const option_parameters *p, sim_expr_ref *refs) {
  option_graph *g = m->graph;
  int last = -1;
  for (int i = 0; i < g->payoffs * OPTION_LADDER_MAX; i++)
    g->timed[i / OPTION_LADDER_MAX][i % OPTION_LADDER_MAX] = i / OPTION_LADDER_MAX;
  for (int i = 0; i < p->points && any_timed(p) && m->status == SIM_OK; i++) {
    const option_point point = option_ladder_point(p, p->first_point + i);
    option_market market;
    if (point.time == last || point.bump.maturity == 0) continue;
    last = point.time;
    m->status = option_market_create(p, &point.bump, &market);
    if (m->status != SIM_OK) return;
    add_timed(m, p, &market, refs, &g->timed[0][point.time], OPTION_LADDER_MAX);
    option_market_free(&market);
  }
}

/* The second derivatives of payoff k beside gamma, where the graph gives them. */
static void add_seconds(greek_maker *by, int k, int delta, int gamma, bool along) {
  option_builder *m = by->m;
  option_graph *g = m->graph;
  const option_greeks *greeks = &by->p->greeks;
  const int assets = m->market->assets;
  const bool whole = m->market->steps == 1;
  sim_expr_ref deltas[OPTION_SCORED_MAX], vegas[OPTION_SCORED_MAX];
  option_slopes slopes_of = {deltas, vegas, 0};
  double *bond = NULL, b = 0;
  if (greeks->want[OPTION_CHARM] && (bond = calloc((size_t)m->market->steps, sizeof *bond)) != NULL) {
    if (m->status == SIM_OK) m->status = option_market_slope(by->p, OPTION_THETA, 0, NULL, bond);
    b = bond[g->end[k] - 1];
    free(bond);
  } else if (greeks->want[OPTION_CHARM])
    m->status = sim_no_memory("the greeks");
  const bool score = delta == BY_SCORE && whole, path = delta == BY_PATH && gamma == BY_PATH;
  if (!score && !path) return;
  for (int a = 0; a < assets; a++) {
    deltas[a] = by->refs[g->delta[k][a]];
    if (path && along && g->slope[k][OPTION_VEGA][a] >= 0) vegas[a] = by->refs[g->slope[k][OPTION_VEGA][a]];
  }
  if (path && along && g->slope[k][OPTION_THETA][0] >= 0) slopes_of.theta = by->refs[g->slope[k][OPTION_THETA][0]];
  for (int greek = OPTION_SECOND; greek < OPTION_BUCKETS; greek++) {
    if (!greeks->want[greek] || (greek != OPTION_CROSS_GAMMA && path && !along) || (greek == OPTION_VOLGA && path))
      continue;
    for (int a = 0; a < assets; a++)
      for (int second = a + 1; second < (greek == OPTION_CROSS_GAMMA ? assets : a + 2); second++) {
        const option_quantity of = {.greek = greek, .asset = a, .second = second};
        sim_expr_ref out = score ? op2(m, SIM_EXPR_MUL, by->refs[k], option_score_weight(m, &by->step, greek))
                                 : option_mixed(m, &by->step, greek, a, second, &slopes_of);
        if (greek == OPTION_CHARM)
          out = op2(m, SIM_EXPR_ADD, out, op2(m, SIM_EXPR_MUL, deltas[a], option_builder_number(m, b)));
        g->slope[k][greek][option_greek_place(&of)] = add(m, out, by->refs);
      }
  }
}

/* The deltas by the first step's density in the markets of vanna's and charm's differences. */
static void add_scored(greek_maker *by, int k) {
  option_builder *m = by->m;
  const option_market *unmoved = m->market;
  for (int greek = OPTION_VANNA; greek <= OPTION_CHARM; greek++)
    for (int side = 0; side < 2 && greek != OPTION_VOLGA && by->p->greeks.want[greek] && m->status == SIM_OK; side++) {
      option_market market;
      option_first_step step;
      double width;
      bool known = false;
      m->status = option_market_near(by->p, greek, 0, 1 - 2 * side, &width, &market);
      if (m->status != SIM_OK) return;
      m->market = &market;
      m->status = option_first_step_find(m, by->p, &step, &known);
      m->graph->scored[k][greek][side] = add(m, op2(m, SIM_EXPR_MUL, by->refs[k], option_score(m, &step, 0)), by->refs);
      m->market = unmoved;
      option_market_free(&market);
    }
}

/* The slopes of payoff k along the paths; returns whether vega, rho and theta come from them. */
static bool add_slopes(greek_maker *by, int k) {
  option_builder *m = by->m;
  option_graph *g = m->graph;
  const bool *want = by->p->greeks.want;
  const int features = g->features, assets = m->market->assets;
  const bool need[OPTION_SECOND] = {[OPTION_VEGA] = want[OPTION_VEGA] || want[OPTION_VANNA],
                                    [OPTION_RHO] = want[OPTION_RHO],
                                    [OPTION_THETA] = want[OPTION_THETA] || want[OPTION_CHARM]};
  sim_expr_ref slope[SIM_EXPR_INPUTS_MAX];
  bool second = want[OPTION_DELTA] || want[OPTION_GAMMA];
  for (int greek = OPTION_SECOND; greek < OPTION_BUCKETS; greek++) second |= want[greek];
  slopes(m, by->refs[k], slope);
  for (int a = 0; a < assets && second; a++) g->delta[k][a] = add(m, path_delta(m, slope, features, a), by->refs);
  const bool along = m->tangents && has_tangents(m, by->p, slope, features);
  for (int greek = OPTION_VEGA; along && greek < OPTION_SECOND; greek++)
    for (int a = 0; need[greek] && a < (greek == OPTION_VEGA ? assets : 1); a++)
      g->slope[k][greek][a] = add(m, along_path(m, slope, features, greek, a), by->refs);
  for (int greek = OPTION_BUCKETS; along && greek < OPTION_GREEKS; greek++) {
    const int nodes = want[greek] && has_room(m, slope, features, greek) ? option_greek_count(by->p, greek) : 0;
    for (int i = 0; i < nodes; i++) g->slope[k][greek][i] = add(m, along_path(m, slope, features, greek, i), by->refs);
  }
  return along;
}

static void add_payoff(greek_maker *by, int k, const sim_item *item) {
  option_builder *m = by->m;
  option_graph *g = m->graph;
  const option_parameters *p = by->p;
  sim_expr_ref *refs = by->refs;
  int delta, gamma;
  choose(by, k, item, &delta, &gamma);
  const bool along = delta == BY_PATH && add_slopes(by, k);
  if (delta == BY_SCORE) g->delta[k][0] = add(m, op2(m, SIM_EXPR_MUL, refs[k], option_score(m, &by->step, 0)), refs);
  if (gamma == BY_SCORE)
    g->gamma[k][0] = add(m, op2(m, SIM_EXPR_MUL, refs[k], option_score_weight(m, &by->step, OPTION_GAMMA)), refs);
  sim_expr_ref deltas[OPTION_SCORED_MAX];
  const option_slopes slopes_of = {.delta = deltas};
  for (int a = 0; a < m->market->assets && gamma == BY_PATH && p->greeks.want[OPTION_GAMMA] && m->status == SIM_OK;
       a++) {
    deltas[a] = refs[g->delta[k][a]];
    g->gamma[k][a] = add(m, option_mixed(m, &by->step, OPTION_GAMMA, a, a, &slopes_of), refs);
  }
  if (m->status == SIM_OK) add_seconds(by, k, delta, gamma, along);
  if (m->status == SIM_OK && delta == BY_SCORE && m->market->steps > 1) add_scored(by, k);
  if (k == 0 && g->control[0] >= 0 && m->status == SIM_OK) control_greeks(by, delta, gamma);
}

/* Finds the first step's law and the deviations at the maturities. */
static void find_first_step(greek_maker *by) {
  const option_parameters *p = by->p;
  const int payoffs = by->m->graph->payoffs, assets = (int)p->assets.count, each = 4 + 2 * assets;
  double deviation[OPTION_PAYOFFS_MAX];
  for (int a = 0; a < assets && by->m->status == SIM_OK; a++) {
    by->m->status = option_deviations(p, a, deviation);
    for (int k = 0; k < payoffs; k++) by->m->graph->deviation[k][a] = deviation[k];
  }
  if (by->m->status == SIM_OK) by->m->status = option_first_step_find(by->m, p, &by->step, &by->known);
  bool second = false;
  for (int greek = OPTION_SECOND; greek < OPTION_BUCKETS; greek++) second |= p->greeks.want[greek];
  const int outputs = (second ? payoffs * each + option_quantities(p, NULL) : 4 * payoffs * assets) +
                      2 * payoffs * (p->buckets[0] + p->buckets[1]);
  by->roomy = by->known && outputs <= SIM_EXPR_OUTPUTS_MAX;
}

void option_add_greeks(option_builder *m, const option_parameters *p, sim_expr_ref *refs) {
  option_graph *g = m->graph;
  const int functions = g->payoffs - (int)p->payoffs.count;
  greek_maker by = {.m = m, .p = p, .refs = refs};
  bool any = false;
  for (int i = 0; i < OPTION_GREEKS * OPTION_ASSETS_MAX; i++)
    g->control_slope[i / OPTION_ASSETS_MAX][i % OPTION_ASSETS_MAX] = -1;
  for (int greek = 0; greek < OPTION_GREEKS; greek++) any |= p->greeks.want[greek];
  if (any) find_first_step(&by);
  for (int k = 0; k < g->payoffs && m->status == SIM_OK; k++) {
    for (int a = 0; a < m->market->assets; a++) g->delta[k][a] = g->gamma[k][a] = -1;
    for (int i = 0; i < OPTION_GREEKS * OPTION_ASSETS_MAX; i++)
      g->slope[k][i / OPTION_ASSETS_MAX][i % OPTION_ASSETS_MAX] = -1;
    for (int i = 0; i < 2 * OPTION_GREEKS; i++) g->scored[k][i / 2][i % 2] = -1;
    if (any) add_payoff(&by, k, k < functions ? NULL : &p->payoffs.items[k - functions]);
  }
  set_bumped(m, p, refs);
  set_timed(m, p, refs);
}
