/* Payoffs as graphs of path features: each named one is built here, a function of the scenario is inserted. Controls
 * are further outputs of the same graph. */
#include "kernels/option/payoff/payoff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a builder that remembers its first failure ---- */

sim_expr_ref option_call(option_maker *m, sim_expr_op op, sim_expr_ref a, sim_expr_ref b, sim_expr_ref c) {
  sim_expr_ref out = 0;
  if (m->status == SIM_OK) m->status = sim_expr_builder_call(m->builder, op, (const sim_expr_ref[]){a, b, c}, &out);
  return out;
}

sim_expr_ref option_number(option_maker *m, double value) {
  sim_expr_ref out = 0;
  if (m->status == SIM_OK) m->status = sim_expr_builder_number(m->builder, value, &out);
  return out;
}

sim_expr_ref option_see(option_maker *m, option_feature feature) {
  option_graph *g = m->graph;
  for (int f = 0; f < g->features; f++) {
    const option_feature *known = &g->feature[f];
    if (known->kind == feature.kind && known->asset == feature.asset && known->step == feature.step &&
        known->level == feature.level && known->tangent == feature.tangent)
      return m->feature[f];
  }
  if (m->status == SIM_OK && g->features == OPTION_FEATURES_MAX)
    m->status = sim_fail(SIM_ERR_SCENARIO, "the payoffs need more than %d numbers of a path", OPTION_FEATURES_MAX);
  if (m->status != SIM_OK) return 0;
  char name[16];
  snprintf(name, sizeof name, "f%d", g->features);
  m->status = sim_expr_builder_input(m->builder, name, &m->feature[g->features]);
  g->feature[g->features] = feature;
  return m->feature[g->features++];
}

static sim_expr_ref see(option_maker *m, option_kind kind, int asset) {
  return option_see(m, (option_feature){.kind = kind, .asset = asset});
}

static sim_expr_ref sub(option_maker *m, sim_expr_ref a, sim_expr_ref b) {
  return option_call(m, SIM_EXPR_SUB, a, b, 0);
}
static sim_expr_ref mul(option_maker *m, sim_expr_ref a, sim_expr_ref b) {
  return option_call(m, SIM_EXPR_MUL, a, b, 0);
}
static sim_expr_ref positive(option_maker *m, sim_expr_ref a) {
  return option_call(m, SIM_EXPR_MAX, a, option_number(m, 0), 0);
}
/* 1 where a < b, else 0. */
static sim_expr_ref below(option_maker *m, sim_expr_ref a, sim_expr_ref b) {
  return option_call(m, SIM_EXPR_WHERE, option_call(m, SIM_EXPR_LT, a, b, 0), option_number(m, 1), option_number(m, 0));
}

/* ---- the named payoffs ---- */

static sim_expr_ref plain(option_maker *m, sim_expr_ref price, double strike, int type) {
  sim_expr_ref k = option_number(m, strike);
  return positive(m, type == OPTION_CALL ? sub(m, price, k) : sub(m, k, price));
}

static sim_expr_ref barrier(option_maker *m, const option_payoff *o, int asset) {
  const bool up = o->direction == OPTION_UP;
  sim_expr_ref alive, level = option_number(m, o->level);
  if (o->monitoring == OPTION_CONTINUOUS)
    alive = option_see(m, (option_feature){up ? OPTION_NOT_ABOVE : OPTION_NOT_BELOW, asset, 0, o->level});
  else if (up)
    alive = below(m, see(m, OPTION_MAX, asset), level);
  else
    alive = below(m, level, see(m, OPTION_MIN, asset));
  if (o->knock == OPTION_IN) alive = sub(m, option_number(m, 1), alive);
  return mul(m, plain(m, see(m, OPTION_LAST, asset), o->strike, o->type), alive);
}

static sim_expr_ref lookback(option_maker *m, const option_payoff *o, int asset) {
  const bool continuous = o->monitoring == OPTION_CONTINUOUS, call = o->type == OPTION_CALL;
  const option_kind high = continuous ? OPTION_HIGH : OPTION_MAX, low = continuous ? OPTION_LOW : OPTION_MIN;
  if (!isnan(o->strike)) return plain(m, see(m, call ? high : low, asset), o->strike, o->type);
  sim_expr_ref last = see(m, OPTION_LAST, asset);
  return call ? positive(m, sub(m, last, see(m, low, asset))) : positive(m, sub(m, see(m, high, asset), last));
}

static sim_expr_ref basket(option_maker *m, const option_payoff *o) {
  sim_expr_ref sum = 0;
  for (int a = 0; a < m->market->assets; a++) {
    const double weight = o->weights.rows > 0 ? o->weights.data[a] : 1.0 / m->market->assets;
    sim_expr_ref part = mul(m, option_number(m, weight), see(m, OPTION_LAST, a));
    sum = a == 0 ? part : option_call(m, SIM_EXPR_ADD, sum, part, 0);
  }
  return plain(m, sum, o->strike, o->type);
}

static sim_expr_ref best(option_maker *m, const option_payoff *o) {
  sim_expr_ref most = see(m, OPTION_LAST, 0);
  for (int a = 1; a < m->market->assets; a++) most = option_call(m, SIM_EXPR_MAX, most, see(m, OPTION_LAST, a), 0);
  return plain(m, most, o->strike, o->type);
}

/* Cash with its coupons at the first date whose price is at least the level, carried on to maturity. */
static sim_expr_ref autocallable(option_maker *m, const option_payoff *o, int asset) {
  const option_market *market = m->market;
  const int dates = (int)(market->steps / o->every);
  sim_expr_ref level = option_number(m, o->level), last = see(m, OPTION_LAST, asset);
  sim_expr_ref share = mul(m, last, option_number(m, o->cash / market->spot[asset]));
  sim_expr_ref safe = option_call(m, SIM_EXPR_LE, option_number(m, o->protection), last, 0);
  sim_expr_ref out = option_call(m, SIM_EXPR_WHERE, safe, option_number(m, o->cash), share);
  for (int d = dates; d > 0; d--) {
    const int step = d * (int)o->every;
    const double growth = market->bond[step - 1] / market->bond[market->steps - 1];
    sim_expr_ref price = d == dates ? last : option_see(m, (option_feature){OPTION_FIXING, asset, step, 0, 0});
    sim_expr_ref called = option_call(m, SIM_EXPR_LE, level, price, 0);
    sim_expr_ref paid = option_number(m, o->cash * (1 + o->coupon * d) * growth);
    out = option_call(m, SIM_EXPR_WHERE, called, paid, out);
  }
  return out;
}

static sim_expr_ref european(option_maker *m, const option_payoff *o, int asset, int payoff) {
  sim_expr_ref last = see(m, OPTION_LAST, asset);
  option_plain *as = &m->graph->plain[payoff];
  while (as->feature < m->graph->features && m->feature[as->feature] != last) as->feature++;
  as->sign = o->type == OPTION_CALL ? 1 : -1;
  as->strike = o->strike;
  return plain(m, last, o->strike, o->type);
}

/* `number`: among the named ones, `payoff`: among all. */
static sim_expr_ref named(option_maker *m, const sim_item *item, int number, int payoff) {
  const option_payoff *o = item->data;
  const int asset = (int)o->asset - 1;
  if (item->schema == &option_american_schema)
    return option_see(m, (option_feature){.kind = OPTION_EARLY, .asset = asset, .step = number});
  if (item->schema == &option_autocallable_schema) return autocallable(m, o, asset);
  if (item->schema == &option_european_schema) return european(m, o, asset, payoff);
  if (item->schema == &option_digital_schema) {
    sim_expr_ref last = see(m, OPTION_LAST, asset), strike = option_number(m, o->strike);
    sim_expr_ref pays = o->type == OPTION_CALL ? below(m, strike, last) : below(m, last, strike);
    return mul(m, option_number(m, o->cash), pays);
  }
  if (item->schema == &option_asian_schema)
    return plain(m, see(m, o->average == OPTION_ARITHMETIC ? OPTION_MEAN : OPTION_GEOMETRIC, asset), o->strike,
                 o->type);
  if (item->schema == &option_barrier_schema) return barrier(m, o, asset);
  if (item->schema == &option_lookback_schema) return lookback(m, o, asset);
  if (item->schema == &option_basket_schema) return basket(m, o);
  if (item->schema == &option_best_of_schema) return best(m, o);
  return plain(m, sub(m, see(m, OPTION_LAST, asset), see(m, OPTION_LAST, (int)o->second - 1)), o->strike, o->type);
}

/* ---- functions of the scenario ---- */

static const char *const kind_names[OPTION_KINDS] = {
    [OPTION_LAST] = "last", [OPTION_MEAN] = "mean",    [OPTION_GEOMETRIC] = "geometric",
    [OPTION_MAX] = "max",   [OPTION_MIN] = "min",      [OPTION_HIGH] = "high",
    [OPTION_LOW] = "low",   [OPTION_FIXING] = "fixing"};

bool option_feature_text(const option_feature *feature, char *out, size_t capacity) {
  if (feature->kind > OPTION_FIXING) return false;
  const int used = snprintf(out, capacity, "%s[%d]", kind_names[feature->kind], feature->asset + 1);
  if (feature->kind == OPTION_FIXING) snprintf(out + used, capacity - (size_t)used, "[%d]", feature->step);
  return true;
}

bool option_feature_parse(const char *name, const option_parameters *p, option_feature *out) {
  int asset = 0, step = 0, end = 0;
  for (int kind = OPTION_LAST; kind <= OPTION_FIXING; kind++) {
    const size_t length = strlen(kind_names[kind]);
    if (strncmp(name, kind_names[kind], length) != 0 || name[length] != '_') continue;
    if (kind == OPTION_FIXING)
      (void)sscanf(name + length, "_%d_%d%n", &asset, &step, &end);
    else
      (void)sscanf(name + length, "_%d%n", &asset, &end);
    *out = (option_feature){.kind = (option_kind)kind, .asset = asset - 1, .step = step};
    return end > 0 && name[length + (size_t)end] == '\0' && asset >= 1 && (size_t)asset <= p->assets.count &&
           (kind != OPTION_FIXING || (step >= 1 && step <= p->steps));
  }
  return false;
}

/* "fixing_1_300", an input, as it stands in the function: path.fixing[1][300]. */
static void name_in_words(const char *name, char *out, size_t capacity) {
  size_t used = (size_t)snprintf(out, capacity, "path.");
  for (bool number = false; *name != '\0' && used + 3 < capacity; name++) {
    const bool begins = *name == '_' && name[1] >= '0' && name[1] <= '9';
    if (number && (begins || *name == '_')) out[used++] = ']';
    out[used++] = begins ? '[' : *name;
    number = begins || (number && *name != '_');
  }
  if (out[used - 1] >= '0' && out[used - 1] <= '9' && strchr(out, '[') != NULL) out[used++] = ']';
  out[used] = '\0';
}

/* An input that no path has: why not. */
static void refuse_input(const option_parameters *p, const char *name, sim_faults *faults) {
  char word[SIM_EXPR_NAME_MAX + 1], shown[2 * SIM_EXPR_NAME_MAX];
  const size_t length = strcspn(name, "_");
  snprintf(word, sizeof word, "%.*s", (int)length, name);
  name_in_words(name, shown, sizeof shown);
  const char *nearest = sim_nearest(word, kind_names, OPTION_FIXING + 1);
  int kind = OPTION_LAST, asset = 0, step = 0;
  while (kind <= OPTION_FIXING && strcmp(word, kind_names[kind]) != 0) kind++;
  const int numbers = sscanf(name + length, "_%d_%d", &asset, &step);
  const long long assets = (long long)p->assets.count, steps = (long long)p->steps;
  if (kind > OPTION_FIXING)
    sim_faults_add(faults, 0, "payoff",
                   "unknown input '%s'%s%s%s, expected last[i], mean[i], geometric[i], max[i], "
                   "min[i], high[i], low[i] or fixing[i][k]",
                   shown, nearest != NULL ? ", nearest is '" : "", nearest != NULL ? nearest : "",
                   nearest != NULL ? "'" : "");
  else if (numbers < 1 || (numbers < 2) == (kind == OPTION_FIXING))
    sim_faults_add(faults, 0, "payoff", "unknown input '%s', expected path.%s[i]%s", shown, kind_names[kind],
                   kind == OPTION_FIXING ? "[k]: of asset i, at step k" : ": of asset i");
  else if (asset < 1 || asset > assets)
    sim_faults_add(faults, 0, "payoff", "unknown input '%s', expected an asset from 1 to %lld", shown, assets);
  else
    sim_faults_add(faults, 0, "payoff", "unknown input '%s', expected a step from 1 to %lld", shown, steps);
}

sim_status option_bind_payoff(option_parameters *p, sim_faults *faults) {
  const char *inputs[SIM_EXPR_INPUTS_MAX + 1];
  char kept[SIM_EXPR_INPUTS_MAX][SIM_EXPR_NAME_MAX + 1];
  option_feature feature;
  int count = 0;
  bool wrong = false;
  for (int i = 0; i < sim_expr_input_count(p->payoff); i++) {
    const char *name = sim_expr_input_name(p->payoff, i);
    if (!option_feature_parse(name, p, &feature)) {
      refuse_input(p, name, faults);
      wrong = true;
      continue;
    }
    const bool high = feature.kind == OPTION_HIGH;
    if ((high || feature.kind == OPTION_LOW) && option_asset_at(p, feature.asset)->jumps.given)
      sim_faults_add(faults, 0, "payoff",
                     "expected path.%s[%d] in place of %s[%d], for this asset jumps, and a Brownian bridge does not",
                     high ? "max" : "min", feature.asset + 1, high ? "high" : "low", feature.asset + 1);
    snprintf(kept[count], sizeof kept[0], "%s", name);
    inputs[count] = kept[count];
    count++;
  }
  if (wrong) return SIM_OK;
  inputs[count] = NULL;
  const sim_signature signature = {.inputs = inputs, .record = true, .parameter = "path"};
  return sim_function_bind(&p->payoff, &signature, faults, 0, "payoff");
}

static void insert_function(option_maker *m, const option_parameters *p, sim_expr_ref *out) {
  sim_expr_ref in[SIM_EXPR_INPUTS_MAX];
  for (int i = 0; i < sim_expr_input_count(p->payoff); i++) {
    option_feature feature;
    const char *name = sim_expr_input_name(p->payoff, i);
    if (m->status == SIM_OK && !option_feature_parse(name, p, &feature))
      m->status = sim_fail(SIM_ERR_INCOMPATIBLE, "payoff: no path has a %s", name);
    if (m->status != SIM_OK) return;
    in[i] = option_see(m, feature);
  }
  if (m->status == SIM_OK) m->status = sim_expr_builder_insert(m->builder, p->payoff, in, out);
}

int option_payoff_count(const option_parameters *p) {
  return (p->payoff != NULL ? sim_expr_output_count(p->payoff) : 0) + (int)p->payoffs.count;
}

bool option_payoff_sees(const option_parameters *p, int payoff, int asset) {
  const int named = payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  if (named >= 0) {
    const option_payoff *o = p->payoffs.items[named].data;
    return o->asset == 0 || o->asset == asset + 1 || o->second == asset + 1;
  }
  bool sees = false;
  for (int i = 0; i < sim_expr_input_count(p->payoff); i++) {
    option_feature feature;
    sees |= option_feature_parse(sim_expr_input_name(p->payoff, i), p, &feature) && feature.asset == asset;
  }
  return sees;
}

void option_payoff_name(const option_parameters *p, int payoff, char *out, size_t capacity) {
  const int functions = option_payoff_count(p) - (int)p->payoffs.count;
  if (payoff >= functions)
    snprintf(out, capacity, "payoffs[%d]", payoff - functions + 1);
  else if (functions > 1)
    snprintf(out, capacity, "result %d of payoff", payoff + 1);
  else
    snprintf(out, capacity, "payoff");
}

/* ---- controls ---- */

/* Mean and variance of the logarithm of an asset's last price or of its geometric mean. */
static void logarithm(const option_market *market, int asset, bool geometric, double *mean, double *variance) {
  const double ln2 = 0.69314718055994530942, n = market->steps;
  *mean = log(market->spot[asset]);
  *variance = 0;
  for (int s = 0; s < market->steps; s++) {
    const double share = geometric ? (n - s) / n : 1, vol = market->vol[s * market->assets + asset] * ln2 * share;
    *mean += market->drift[s * market->assets + asset] * ln2 * share;
    *variance += vol * vol;
  }
}

/* The sum of all assets' last prices or geometric means. */
static sim_expr_ref sum_control(option_maker *m, bool geometric) {
  sim_expr_ref sum = 0;
  for (int a = 0; a < m->market->assets; a++) {
    sim_expr_ref one = see(m, geometric ? OPTION_GEOMETRIC : OPTION_LAST, a);
    sum = a == 0 ? one : option_call(m, SIM_EXPR_ADD, sum, one, 0);
  }
  return sum;
}

/* The payoff whose option is the control, or NULL: it is the sum of all assets. */
static const option_payoff *control_payoff(const option_parameters *p, int payoff) {
  const int named = payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  const option_payoff *o = named >= 0 ? p->payoffs.items[named].data : NULL;
  const bool struck = o != NULL && o->asset > 0 && o->second == 0 && o->strike > 0;
  return struck && p->sampling.control != OPTION_CONTROL_UNDERLYING ? o : NULL;
}

static sim_expr_ref control(option_maker *m, const option_parameters *p, int payoff) {
  const bool geometric = p->sampling.control == OPTION_CONTROL_GEOMETRIC;
  const option_payoff *o = control_payoff(p, payoff);
  if (o == NULL) return sum_control(m, geometric);
  return plain(m, see(m, geometric ? OPTION_GEOMETRIC : OPTION_LAST, (int)o->asset - 1), o->strike, o->type);
}

double option_control_mean(const option_parameters *p, const option_market *market, int payoff) {
  const bool geometric = p->sampling.control == OPTION_CONTROL_GEOMETRIC;
  const option_payoff *o = control_payoff(p, payoff);
  double mean, variance, sum = 0;
  if (o != NULL) {
    logarithm(market, (int)o->asset - 1, geometric, &mean, &variance);
    return option_lognormal_price(mean, sqrt(variance), o->strike, o->type);
  }
  for (int a = 0; a < market->assets; a++) {
    logarithm(market, a, geometric, &mean, &variance);
    /* The last price has its mean in every model; its logarithm has drift and vol only without jumps. */
    sum += geometric ? exp(mean + variance / 2) : market->spot[a] * exp(market->growth[a]);
  }
  return sum;
}

/* ---- all of them ---- */

static void make(option_maker *m, const option_parameters *p, sim_expr_ref *refs) {
  option_graph *g = m->graph;
  int functions = 0;
  g->payoffs = g->outputs = option_payoff_count(p);
  if (p->payoff != NULL) {
    functions = sim_expr_output_count(p->payoff);
    insert_function(m, p, refs);
  }
  for (size_t i = 0; i < p->payoffs.count && m->status == SIM_OK; i++)
    refs[functions + (int)i] = named(m, &p->payoffs.items[i], (int)i, functions + (int)i);
  for (int k = 0; k < g->payoffs && m->status == SIM_OK; k++) {
    g->control[k] = -1;
    if (p->sampling.control == OPTION_NO_CONTROL) continue;
    g->control[k] = g->outputs;
    refs[g->outputs++] = control(m, p, k);
  }
  option_make_greeks(m, p, refs);
}

/* Of which assets one output sees both the high and the low. */
static uint64_t find_joint(const option_graph *g) {
  uint64_t joint = 0;
  for (int o = 0; o < g->outputs; o++) {
    uint64_t seen[2] = {0, 0};
    for (int f = 0; f < g->features; f++)
      if ((g->feature[f].kind == OPTION_HIGH || g->feature[f].kind == OPTION_LOW) && sim_expr_depends(g->expr, o, f))
        seen[g->feature[f].kind == OPTION_LOW] |= UINT64_C(1) << g->feature[f].asset;
    joint |= seen[0] & seen[1];
  }
  return joint;
}

sim_status option_graph_create(const option_parameters *p, const option_market *market, bool tangents,
                               option_graph *out) {
  sim_expr_ref refs[SIM_EXPR_OUTPUTS_MAX];
  char names[SIM_EXPR_OUTPUTS_MAX][8];
  const char *pointers[SIM_EXPR_OUTPUTS_MAX];
  *out = (option_graph){0};
  option_maker *m = calloc(1, sizeof *m);
  if (m == NULL) return sim_no_memory("the payoffs");
  *m = (option_maker){.graph = out, .market = market, .tangents = tangents};
  m->status = sim_expr_builder_create(&m->builder);
  if (m->status == SIM_OK) make(m, p, refs);
  for (int i = 0; i < out->outputs; i++) {
    snprintf(names[i], sizeof names[i], "o%d", i);
    pointers[i] = names[i];
  }
  if (m->status == SIM_OK) m->status = sim_expr_builder_finish(m->builder, refs, pointers, out->outputs, &out->expr);
  sim_expr_builder_free(&m->builder);
  const sim_status status = m->status;
  free(m);
  if (status == SIM_OK)
    out->joint = find_joint(out);
  else
    option_graph_free(out);
  return status;
}

void option_graph_free(option_graph *graph) { sim_expr_free(&graph->expr); }
