/* Deltas and gammas as graphs of path features.
 *
 * Pathwise: all features of an asset but probabilities grow in proportion to its spot (not with a local volatility), so
 * that the delta of a payoff Y without jumps is the mean of sum_F dY/dF F/S. By likelihood ratio (Broadie and
 * Glasserman, Management Science 42 (1996) 269), of the first step's density: with score s = (ln(S_1/S) - m)/(v^2 S), m
 * and v^2 the first step's mean and variance, the delta of any Y of the fixings is the mean of Y s, the gamma that of Y
 * (s^2 - s/S - 1/(v S)^2), and, of the pathwise delta D, of D s - D/S, which varies less. Of several assets the score
 * by the spot of asset a is s_a = sum_b W_ab (ln(S_b1/S_b) - m_b)/S_a, W the inverse of the covariance of the first
 * step's logarithms; it has the deviation W_aa^(1/2)/S_a. */
#include "kernels/option/payoff/builder.h"
#include "kernels/option/scenario/ladder.h"

#include <stdlib.h>

static sim_expr_ref op2(option_builder *m, sim_expr_op op, sim_expr_ref a, sim_expr_ref b) {
  return option_builder_call(m, op, a, b, 0);
}

enum { BY_BUMP, BY_PATH, BY_SCORE };
enum { SCORED_MAX = 8 /* assets whose gammas come from scores */ };

/* Chooses the methods of delta and gamma of a payoff; `item` NULL: the scenario's function. option_check_methods has
 * refused what a requested method cannot do. `dense`: of several assets a score is known, and does not vary too much.
 */
static void choose(const option_builder *m, const option_parameters *p, const sim_item *item, bool dense, int *delta,
                   int *gamma) {
  const option_graph *g = m->graph;
  const option_payoff *o = item != NULL ? item->data : NULL;
  const bool barrier = item != NULL && item->schema == &option_barrier_schema;
  /* one: a single asset with a known density of its first step */
  bool one = p->assets.count == 1 && m->market->vol[0] > 0 && !p->hull_white.given, local = false;
  for (int a = 0; a < (int)p->assets.count; a++) {
    one &= option_asset_is_gbm(option_asset_at(p, a));
    local |= !option_asset_is_scaled(option_asset_at(p, a));
    local |= option_asset_at(p, a)->dividends.rows > 0; /* prices do not grow in proportion to the spot */
  }
  bool continuous = o != NULL && o->monitoring == OPTION_CONTINUOUS;
  /* Extremes within the first step depend on the spot directly, not through the fixings alone. */
  for (int f = 0; f < g->features && item == NULL; f++)
    continuous |= g->feature[f].kind == OPTION_HIGH || g->feature[f].kind == OPTION_LOW;
  const bool two = item != NULL && item->schema == &option_double_barrier_schema;
  const bool jumps = item != NULL && (item->schema == &option_digital_schema || ((barrier || two) && !continuous));
  const bool late =
      item != NULL && (item->schema == &option_american_schema || item->schema == &option_autocallable_schema);
  *delta = *gamma = BY_BUMP;
  if (p->greeks.method == OPTION_BUMP || ((barrier || two) && continuous) || local) return;
  if (p->greeks.method == OPTION_AUTO && (item == NULL || late)) return;
  const bool score =
      one && !continuous && (p->greeks.method == OPTION_LIKELIHOOD || (p->greeks.method == OPTION_AUTO && jumps));
  if (p->greeks.method == OPTION_LIKELIHOOD && !score) return; /* the payoff may jump: no pathwise derivative */
  *delta = score ? BY_SCORE : jumps && p->greeks.method == OPTION_AUTO ? BY_BUMP : BY_PATH;
  *gamma = score ? BY_SCORE : (one || dense) && *delta == BY_PATH && !continuous ? BY_PATH : BY_BUMP;
}

/* Whether all features that payoff k depends on have tangents. */
static bool has_tangents(const option_builder *m, const option_parameters *p, const sim_expr_ref *slope, int features) {
  for (int a = 0; a < m->market->assets; a++)
    if (!option_asset_is_gbm(option_asset_at(p, a))) return false;
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

static int tangent_of(option_builder *m, int greek, int asset) {
  option_graph *g = m->graph;
  for (int t = 0; t < g->tangents; t++)
    if (g->tangent[t].greek == greek && g->tangent[t].asset == asset) return t + 1;
  if (m->status == SIM_OK && g->tangents == OPTION_TANGENTS_MAX)
    m->status = sim_fail(SIM_ERR_SCENARIO, "greeks: more than %d parameters of assets", OPTION_TANGENTS_MAX);
  if (m->status != SIM_OK) return 1;
  g->tangent[g->tangents].greek = greek;
  g->tangent[g->tangents].asset = asset;
  return ++g->tangents;
}

/* sum_F dY/dF dF/dtheta, for one asset or (asset < 0) all. */
static sim_expr_ref along_path(option_builder *m, const sim_expr_ref *slope, int features, int greek, int asset) {
  sim_expr_ref sum = option_builder_number(m, 0);
  for (int f = 0; f < features && m->status == SIM_OK; f++) {
    double value;
    option_feature feature = m->graph->feature[f];
    if (feature.tangent > 0 || (asset >= 0 && feature.asset != asset)) continue;
    if (sim_expr_builder_constant(m->builder, slope[f], &value) && value == 0) continue;
    feature.tangent = tangent_of(m, greek, feature.asset);
    sum = op2(m, SIM_EXPR_ADD, sum, op2(m, SIM_EXPR_MUL, slope[f], option_builder_feature(m, feature)));
  }
  return sum;
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

static sim_expr_ref first_score(option_builder *m) {
  const double ln2 = 0.69314718055994530942, v = m->market->vol[0] * ln2, spot = m->market->spot[0];
  const bool one = m->market->steps == 1;
  sim_expr_ref price =
      option_builder_feature(m, (option_feature){one ? OPTION_LAST : OPTION_FIXING, 0, one ? 0 : 1, 0});
  sim_expr_ref log =
      option_builder_call(m, SIM_EXPR_LOG, op2(m, SIM_EXPR_MUL, price, option_builder_number(m, 1 / spot)), 0, 0);
  log = op2(m, SIM_EXPR_SUB, log, option_builder_number(m, m->market->drift[0] * ln2));
  return op2(m, SIM_EXPR_MUL, log, option_builder_number(m, 1 / (v * v * spot)));
}

/* W of several assets: out[assets][assets]; false where it is not to be used. A gamma of a payoff with a kink by
 * differences of 1 % of the spot has samples that deviate about as much as one by scores that deviate by 16/S. */
static bool score_weights(const option_builder *m, const option_parameters *p, double *out) {
  const double ln2 = 0.69314718055994530942, most = 16;
  const size_t n = p->assets.count;
  bool dense = n > 1 && n <= SCORED_MAX && !p->hull_white.given;
  double l[SCORED_MAX * SCORED_MAX] = {0};
  for (size_t a = 0; a < n && dense; a++)
    dense = option_asset_is_gbm(option_asset_at(p, (int)a)) && m->market->vol[a] > 0;
  if (!dense || option_cholesky(p, l) != SIM_OK) return false;
  for (size_t a = 0; a < n && dense; a++) {
    double *z = out + a * n;
    dense = l[a * n + a] > 0;
    for (size_t i = 0; i < n && dense; i++) {
      z[i] = i == a;
      for (size_t k = 0; k < i; k++) z[i] -= l[i * n + k] * z[k];
      z[i] /= l[i * n + i];
    }
    for (size_t i = n; i-- > 0 && dense;) {
      for (size_t k = i + 1; k < n; k++) z[i] -= l[k * n + i] * z[k];
      z[i] /= l[i * n + i];
    }
    for (size_t i = 0; i < n; i++) z[i] /= m->market->vol[a] * m->market->vol[i] * ln2 * ln2;
    dense = dense && z[a] <= most * most;
  }
  return dense;
}

/* s_a - 1/S_a, by which the pathwise delta of an asset gives its gamma; `weights`: W of several assets. */
static sim_expr_ref gamma_score(option_builder *m, const double *weights, int asset) {
  const double ln2 = 0.69314718055994530942, spot = m->market->spot[asset];
  const int n = m->market->assets;
  sim_expr_ref sum = n == 1 ? first_score(m) : option_builder_number(m, 0);
  for (int b = 0; b < n && n > 1; b++) {
    sim_expr_ref log = op2(m, SIM_EXPR_MUL, option_price_at(m, b, 1), option_builder_number(m, 1 / m->market->spot[b]));
    log = op2(m, SIM_EXPR_SUB, option_builder_call(m, SIM_EXPR_LOG, log, 0, 0),
              option_builder_number(m, m->market->drift[b] * ln2));
    sum = op2(m, SIM_EXPR_ADD, sum, op2(m, SIM_EXPR_MUL, log, option_builder_number(m, weights[asset * n + b] / spot)));
  }
  return op2(m, SIM_EXPR_SUB, sum, option_builder_number(m, 1 / spot));
}

/* s^2 - s/S - 1/(v S)^2 */
static sim_expr_ref second_score(option_builder *m, sim_expr_ref s) {
  const double ln2 = 0.69314718055994530942, v = m->market->vol[0] * ln2, spot = m->market->spot[0];
  sim_expr_ref product = op2(m, SIM_EXPR_MUL, s, op2(m, SIM_EXPR_SUB, s, option_builder_number(m, 1 / spot)));
  return op2(m, SIM_EXPR_SUB, product, option_builder_number(m, 1 / (v * v * spot * spot)));
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
static void control_greeks(option_builder *m, const option_parameters *p, const double *weights, int delta, int gamma,
                           sim_expr_ref *refs) {
  option_graph *g = m->graph;
  const int assets = m->market->assets, features = g->features;
  sim_expr_ref slope[SIM_EXPR_INPUTS_MAX], of = refs[g->control[0]];
  if (delta == BY_SCORE && p->greeks.want[OPTION_DELTA])
    g->control_slope[OPTION_DELTA][0] = add(m, op2(m, SIM_EXPR_MUL, of, first_score(m)), refs);
  if (gamma == BY_SCORE && p->greeks.want[OPTION_GAMMA])
    g->control_slope[OPTION_GAMMA][0] = add(m, op2(m, SIM_EXPR_MUL, of, second_score(m, first_score(m))), refs);
  if (delta != BY_PATH) return;
  slopes(m, of, slope);
  for (int a = 0; a < assets && p->greeks.want[OPTION_DELTA]; a++)
    g->control_slope[OPTION_DELTA][a] = add(m, path_delta(m, slope, features, a), refs);
  for (int a = 0; a < assets && gamma == BY_PATH && p->greeks.want[OPTION_GAMMA]; a++)
    g->control_slope[OPTION_GAMMA][a] =
        add(m, op2(m, SIM_EXPR_MUL, path_delta(m, slope, features, a), gamma_score(m, weights, a)), refs);
  double *bond = calloc((size_t)m->market->steps, sizeof *bond);
  if (bond == NULL) m->status = sim_no_memory("the greeks");
  for (int greek = OPTION_VEGA; greek < OPTION_GREEKS && bond != NULL; greek++)
    for (int a = 0; a < assets && g->slope[0][greek][a] >= 0 && m->status == SIM_OK; a++) {
      if (greek != OPTION_VEGA) m->status = option_market_slope(p, greek, 0, NULL, bond);
      const double discount = greek != OPTION_VEGA ? bond[g->end[0] - 1] : 0;
      sim_expr_ref along = along_path(m, slope, features, greek, greek == OPTION_VEGA ? a : -1);
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

/* Adds these payoffs in the market of rho's or theta's difference, side 0 with the bump, 1 with its opposite. */
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
  for (int greek = OPTION_RHO; any_timed(p) && greek <= OPTION_THETA; greek++)
    for (int side = 0; p->greeks.want[greek] && side < 2 && m->status == SIM_OK; side++)
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

void option_add_greeks(option_builder *m, const option_parameters *p, sim_expr_ref *refs) {
  option_graph *g = m->graph;
  const int functions = g->payoffs - (int)p->payoffs.count, assets = m->market->assets;
  double weights[SCORED_MAX * SCORED_MAX];
  /* half of the graph's outputs at most */
  const bool dense =
      p->greeks.want[OPTION_GAMMA] && 4 * g->payoffs * assets <= SIM_EXPR_OUTPUTS_MAX && score_weights(m, p, weights);
  bool any = false;
  for (int i = 0; i < OPTION_GREEKS * OPTION_ASSETS_MAX; i++)
    g->control_slope[i / OPTION_ASSETS_MAX][i % OPTION_ASSETS_MAX] = -1;
  for (int greek = 0; greek < OPTION_GREEKS; greek++) any |= p->greeks.want[greek];
  for (int k = 0; k < g->payoffs && m->status == SIM_OK; k++) {
    int delta = BY_BUMP, gamma = BY_BUMP;
    for (int a = 0; a < assets; a++) g->delta[k][a] = g->gamma[k][a] = -1;
    if (any) choose(m, p, k < functions ? NULL : &p->payoffs.items[k - functions], dense, &delta, &gamma);
    for (int i = 0; i < OPTION_GREEKS * OPTION_ASSETS_MAX; i++)
      g->slope[k][i / OPTION_ASSETS_MAX][i % OPTION_ASSETS_MAX] = -1;
    if (delta == BY_PATH) {
      sim_expr_ref slope[SIM_EXPR_INPUTS_MAX];
      const int features = g->features;
      slopes(m, refs[k], slope);
      if (p->greeks.want[OPTION_DELTA] || p->greeks.want[OPTION_GAMMA])
        for (int a = 0; a < assets; a++) g->delta[k][a] = add(m, path_delta(m, slope, features, a), refs);
      const bool along = m->tangents && has_tangents(m, p, slope, features);
      for (int greek = OPTION_VEGA; along && greek < OPTION_GREEKS; greek++)
        for (int a = 0; p->greeks.want[greek] && a < (greek == OPTION_VEGA ? assets : 1); a++)
          g->slope[k][greek][a] = add(m, along_path(m, slope, features, greek, greek == OPTION_VEGA ? a : -1), refs);
    }
    if (delta == BY_SCORE) g->delta[k][0] = add(m, op2(m, SIM_EXPR_MUL, refs[k], first_score(m)), refs);
    if (gamma == BY_SCORE)
      g->gamma[k][0] = add(m, op2(m, SIM_EXPR_MUL, refs[k], second_score(m, first_score(m))), refs);
    for (int a = 0; a < assets && gamma == BY_PATH && p->greeks.want[OPTION_GAMMA] && m->status == SIM_OK; a++)
      g->gamma[k][a] = add(m, op2(m, SIM_EXPR_MUL, refs[g->delta[k][a]], gamma_score(m, weights, a)), refs);
    if (any && k == 0 && g->control[0] >= 0 && m->status == SIM_OK) control_greeks(m, p, weights, delta, gamma, refs);
  }
  set_bumped(m, p, refs);
  set_timed(m, p, refs);
}
