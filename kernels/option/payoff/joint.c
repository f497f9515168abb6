/* American payoffs on several assets, or by a function: their keys, their payment and the functions of the regression
 * as a graph of the prices, and its normal equations. Functions: F. Longstaff and E. Schwartz, Review of Financial
 * Studies 14 (2001) 113, section 8; L. Andersen and M. Broadie, Management Science 50 (2004) 1222. */
#include "kernels/option/payoff/exercise.h"

#include "kernels/option/payoff/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions of the regression for each highest price that the payment reads: powers of the ratio of price and highest,
 * and one more. */
enum { RATIO_DEGREE = 4, PER_MAXIMUM = RATIO_DEGREE + 1 };

/* Functions of the regression for a random volatility alone, and for each of several: see add_volatility. */
enum { ALONE = 5, SHARED = 3 };

/* ---- keys ---- */

/* Whether the function of an exercise reads "last_2" or "max_2", say. */
static bool reads(const option_payoff *o, const char *what, int asset) {
  char name[24];
  snprintf(name, sizeof name, "%s_%d", what, asset + 1);
  return o->exercise != NULL && sim_expr_input_find(o->exercise, name) >= 0;
}

/* Whether the payment is the price of an asset, such as a rate of exchange, times what does not depend on it. The value
 * of holding on is then that price times a function of the other prices, for what the price grows by does not depend on
 * it. By functions of another form the derivative by that price, along the kept rule, was 1 to 2 % low. */
static bool is_factor(const option_parameters *p, const option_payoff *o, int asset) {
  const option_asset *a = option_asset_at(p, asset);
  char name[24];
  if (o->basis != OPTION_BASIS_AUTO || !reads(o, "last", asset) || reads(o, "max", asset)) return false;
  if (!option_asset_is_scaled(a) || a->dividends.rows > 0) return false;
  snprintf(name, sizeof name, "last_%d", asset + 1);
  return sim_expr_is_proportional(o->exercise, 0, sim_expr_input_find(o->exercise, name));
}

static int factors_of(const option_parameters *p, const option_payoff *o) {
  int count = 0;
  for (int a = 0; a < (int)p->assets.count; a++) count += is_factor(p, o, a);
  return count;
}

static int bases_of(const option_parameters *p, const option_payoff *o, int basis) {
  const int assets = (int)p->assets.count - factors_of(p, o), powers = (int)o->degree + 1;
  const int ordered = 3 * assets, more = assets == 1 && o->degree > 2 ? (int)o->degree - 2 : 0,
            each = assets * (assets + 3) / 2 + more;
  int maxima = 0;
  for (int a = 0; a < (int)p->assets.count; a++) maxima += reads(o, "max", a);
  return powers +
         (basis == OPTION_BASIS_ORDERED  ? ordered
          : basis == OPTION_BASIS_ASSETS ? each
          : basis == OPTION_BASIS_ALL    ? ordered + each
                                         : 0) +
         (basis != OPTION_BASIS_PAYOFF ? PER_MAXIMUM * maxima : 0);
}

/* The best or the worst of assets alike depends on the ordered prices alone; of others the rule is poorer without their
 * own prices. */
static int basis_of(const option_parameters *p, const option_payoff *o) {
  const bool one = o->exercise == NULL && (o->on == OPTION_ON_BEST || o->on == OPTION_ON_WORST);
  if (o->basis != OPTION_BASIS_AUTO) return o->basis;
  if (!option_is_joint(o) || (p->assets.count == 1 && o->exercise == NULL)) return OPTION_BASIS_PAYOFF;
  const int wanted = one ? OPTION_BASIS_ALL : OPTION_BASIS_ASSETS;
  if (bases_of(p, o, wanted) <= OPTION_BASES_MAX) return wanted;
  return bases_of(p, o, OPTION_BASIS_ORDERED) <= OPTION_BASES_MAX ? OPTION_BASIS_ORDERED : OPTION_BASIS_PAYOFF;
}

/* Assets with a random volatility, on whose prices an exercise pays. */
static uint64_t random_volatilities(const option_parameters *p, const option_payoff *o) {
  uint64_t out = 0;
  for (int a = 0; a < (int)p->assets.count; a++) {
    const option_asset *asset = option_asset_at(p, a);
    const bool paid = o->exercise != NULL        ? reads(o, "last", a) || reads(o, "max", a)
                      : o->on == OPTION_ON_ASSET ? a + 1 == o->asset
                                                 : true;
    if (paid && (option_has_variance(asset) || asset->rough_bergomi.given)) out |= (uint64_t)1 << a;
  }
  return out;
}

static int count_of(uint64_t bits) {
  int count = 0;
  for (; bits != 0; bits &= bits - 1) count++;
  return count;
}

/* Number of the random volatilities, and of a random rate. */
static int random_states(const option_parameters *p, const option_payoff *o) {
  return count_of(random_volatilities(p, o)) + p->hull_white.given;
}

/* Functions of the regression for each random volatility and a random rate; 0: the rule sees none. An exposure reads
 * prices alone at the dates of an exercise. */
static int per_volatility(const option_parameters *p, const option_payoff *o) {
  const int count = random_states(p, o);
  if (count == 0 || o->basis == OPTION_BASIS_PAYOFF || p->exposure.given) return 0;
  if (option_joint_scaled_assets(p, o) + count > OPTION_SCALES_MAX - OPTION_SCALE_ASSETS) return 0;
  const int room = (OPTION_BASES_MAX - bases_of(p, o, basis_of(p, o))) / count, most = count == 1 ? ALONE : SHARED;
  return room < most ? (room > 0 ? room : 0) : most;
}

uint64_t option_joint_volatilities(const option_parameters *p, const option_payoff *o) {
  return per_volatility(p, o) > 0 ? random_volatilities(p, o) : 0;
}

bool option_joint_rate(const option_parameters *p, const option_payoff *o) {
  return p->hull_white.given && per_volatility(p, o) > 0;
}

bool option_rule_is_joint(const option_parameters *p, const option_payoff *o) {
  return option_is_joint(o) || p->hull_white.given || per_volatility(p, o) > 0;
}

int option_joint_bases(const option_parameters *p, const option_payoff *o) {
  return bases_of(p, o, basis_of(p, o)) + per_volatility(p, o) * random_states(p, o);
}

/* Place among the prices, and the highest prices so far behind them, of an input "last_2" or "max_2" of the function;
 * -1: another input. */
static int place_of(const option_parameters *p, const char *name) {
  option_feature feature;
  if (!option_feature_parse(name, p, &feature)) return -1;
  return feature.kind == OPTION_LAST  ? feature.asset
         : feature.kind == OPTION_MAX ? (int)p->assets.count + feature.asset
                                      : -1;
}

bool option_reads_maxima(const option_payoff *o) {
  bool reads = false;
  for (int i = 0; o->exercise != NULL && i < sim_expr_input_count(o->exercise); i++)
    reads |= strncmp(sim_expr_input_name(o->exercise, i), "max_", strlen("max_")) == 0;
  return reads;
}

/* Reason against an upper bound, or NULL. */
static const char *against_upper(const option_parameters *p) {
  for (int a = 0; a < (int)p->assets.count; a++) {
    const option_asset *asset = option_asset_at(p, a);
    if (asset->sabr.given && (asset->jumps.given || asset->dividends.rows > 0))
      return "the paths from a date on do not know SABR's f behind jumps or cash dividends: expected none of both";
  }
  return NULL;
}

sim_status option_check_american(const option_parameters *p, size_t item, sim_faults *faults) {
  option_payoff *o = p->payoffs.items[item].data;
  const int line = p->payoffs.items[item].line;
  char path[64];
  snprintf(path, sizeof path, "payoffs[%zu]", item + 1);
  if (o->exercise != NULL && (!isnan(o->strike) || o->type == OPTION_PUT || o->on != OPTION_ON_ASSET))
    sim_faults_add(faults, line, path, "exercise: says the payment alone: expected no strike, type or on beside it");
  if (o->exercise == NULL && isnan(o->strike))
    sim_faults_add(faults, line, path, "strike: missing: expected a number, or exercise = function(path) ... end");
  if (!option_is_joint(o) && o->asset == 0)
    sim_faults_add(faults, line, path, "asset: expected the number of an asset, from 1, got 0");
  if (option_is_joint(o) && o->asset > 1)
    sim_faults_add(faults, line, path, "asset: expected none beside on or exercise, which see all assets, got %lld",
                   (long long)o->asset);
  if (o->on != OPTION_ON_BASKET && o->weights.rows > 0)
    sim_faults_add(faults, line, path, "weights: are for on = \"basket\"");
  if (o->on == OPTION_ON_BASKET && o->weights.rows > 0 && o->weights.rows != p->assets.count)
    sim_faults_add(faults, line, path, "weights: expected %zu, got %zu", p->assets.count, o->weights.rows);
  if (!option_is_joint(o) && o->basis > OPTION_BASIS_PAYOFF)
    sim_faults_add(faults, line, path,
                   "basis: of one asset: expected \"auto\", or \"payoff\", powers of its price alone");
  if (option_is_joint(o) && option_joint_bases(p, o) > OPTION_BASES_MAX)
    sim_faults_add(faults, line, path,
                   "basis: expected at most %d functions, got %d of %zu assets: expected \"ordered\", \"payoff\" or a "
                   "lower degree",
                   OPTION_BASES_MAX, option_joint_bases(p, o), p->assets.count);
  if (o->upper_paths == 0 && o->inner_paths > 0)
    sim_faults_add(faults, line, path, "inner_paths: are of an upper bound: expected upper_paths beside them");
  if (o->upper_paths > 0 && o->inner_paths == SIM_INT_KEYWORD) o->inner_paths = 1024;
  if (o->upper_paths > 0 && against_upper(p) != NULL)
    sim_faults_add(faults, line, path, "upper_paths: %s", against_upper(p));
  if (option_is_joint(o)) o->asset = 0;
  if (o->exercise == NULL) return SIM_OK;
  const char *inputs[SIM_EXPR_INPUTS_MAX + 1];
  const size_t before = faults->count;
  const int count = sim_expr_input_count(o->exercise);
  bool varies = false;
  for (int i = 0; i < count; i++) varies |= sim_expr_depends(o->exercise, 0, i);
  if (!varies) {
    sim_faults_add(faults, line, path, "exercise: expected a function of prices, got a constant");
    return SIM_OK;
  }
  for (int i = 0; i < count; i++) {
    inputs[i] = sim_expr_input_name(o->exercise, i);
    if (place_of(p, inputs[i]) < 0)
      sim_faults_add(faults, line, path,
                     "exercise: unknown input '%s', expected path.last[i], the price of asset i (1 to %zu) at the "
                     "date, or path.max[i], its highest price at the steps so far",
                     inputs[i], p->assets.count);
  }
  if (option_reads_maxima(o) && option_is_dated(p))
    sim_faults_add(faults, line, path,
                   "exercise: path.max is of equal steps: expected every, and no dates or maturities in the run");
  if (option_reads_maxima(o) && o->upper_paths > 0)
    sim_faults_add(faults, line, path,
                   "upper_paths: the paths from a date on begin at prices and volatilities alone: expected no path.max "
                   "in exercise");
  inputs[count] = NULL;
  if (sim_expr_output_count(o->exercise) != 1)
    sim_faults_add(faults, line, path, "exercise: expected one number, got %d", sim_expr_output_count(o->exercise));
  if (faults->count > before) return SIM_OK;
  char kept[SIM_EXPR_INPUTS_MAX][SIM_EXPR_NAME_MAX + 1];
  for (int i = 0; i < count; i++) {
    snprintf(kept[i], sizeof kept[i], "%s", inputs[i]);
    inputs[i] = kept[i];
  }
  strncat(path, ".exercise", sizeof path - strlen(path) - 1);
  const sim_signature signature = {.inputs = inputs, .record = true, .parameter = "path"};
  return sim_function_bind(&o->exercise, &signature, faults, line, path);
}

/* ---- the graph ---- */

typedef struct maker {
  sim_expr_builder *builder;
  sim_status status;
  sim_expr_ref price[2 * OPTION_ASSETS_MAX]; /* and the highest so far */
  sim_expr_ref volatility[OPTION_ASSETS_MAX], rate;
  sim_expr_ref scale[OPTION_SCALES_MAX][2]; /* see option_joint_scale */
  sim_expr_ref factor;                      /* what multiplies the functions of the regression */
  int factors, states;                      /* assets that multiply the payment, and the others */
  int state[OPTION_ASSETS_MAX];             /* numbers of the latter */
  sim_expr_ref out[1 + OPTION_BASES_MAX];
  int count, degree;
} maker;

static sim_expr_ref call(maker *m, sim_expr_op op, sim_expr_ref a, sim_expr_ref b) {
  sim_expr_ref out = 0;
  if (m->status == SIM_OK) m->status = sim_expr_builder_call(m->builder, op, (const sim_expr_ref[]){a, b}, &out);
  return out;
}

static sim_expr_ref number(maker *m, double value) {
  sim_expr_ref out = 0;
  if (m->status == SIM_OK) m->status = sim_expr_builder_number(m->builder, value, &out);
  return out;
}

static void add(maker *m, sim_expr_ref ref) { m->out[m->count++] = ref; }

static sim_expr_ref scaled(maker *m, sim_expr_ref x, int scale) {
  return call(m, SIM_EXPR_MUL, call(m, SIM_EXPR_SUB, x, m->scale[scale][0]), m->scale[scale][1]);
}

static sim_expr_ref payment(maker *m, const option_parameters *p, const option_payoff *o) {
  const int assets = (int)p->assets.count;
  if (o->exercise != NULL) {
    sim_expr_ref in[SIM_EXPR_INPUTS_MAX], out = 0;
    for (int i = 0; i < sim_expr_input_count(o->exercise); i++)
      in[i] = m->price[place_of(p, sim_expr_input_name(o->exercise, i))];
    if (m->status == SIM_OK) m->status = sim_expr_builder_insert(m->builder, o->exercise, in, &out);
    return out;
  }
  sim_expr_ref of = m->price[o->on == OPTION_ON_ASSET ? o->asset - 1 : 0];
  for (int a = 0; a < assets && o->on != OPTION_ON_ASSET; a++) {
    const double weight = o->weights.rows > 0 ? o->weights.data[a] : 1.0 / assets;
    sim_expr_ref part = o->on == OPTION_ON_BASKET ? call(m, SIM_EXPR_MUL, m->price[a], number(m, weight)) : m->price[a];
    const sim_expr_op op = o->on == OPTION_ON_BEST    ? SIM_EXPR_MAX
                           : o->on == OPTION_ON_WORST ? SIM_EXPR_MIN
                                                      : SIM_EXPR_ADD;
    of = a == 0 ? part : call(m, op, of, part);
  }
  sim_expr_ref strike = number(m, o->strike);
  return o->type == OPTION_CALL ? call(m, SIM_EXPR_SUB, of, strike) : call(m, SIM_EXPR_SUB, strike, of);
}

/* Adds a function of the regression, times the prices that multiply the payment. */
static void add_function(maker *m, sim_expr_ref ref) {
  add(m, m->factors > 0 ? call(m, SIM_EXPR_MUL, m->factor, ref) : ref);
}

/* Adds the powers of x from `first` to `last`. */
static void add_powers(maker *m, sim_expr_ref x, int first, int last) {
  sim_expr_ref power = x;
  for (int k = 1; k <= last; k++) {
    if (k > 1) power = call(m, SIM_EXPR_MUL, power, x);
    if (k >= first) add_function(m, power);
  }
}

/* The prices from the highest to the lowest, in one scale: each, its square, products of neighbours and of all. */
static void add_ordered(maker *m) {
  const int assets = m->states;
  sim_expr_ref x[OPTION_ASSETS_MAX];
  for (int a = 0; a < assets; a++) x[a] = m->price[m->state[a]];
  for (int last = assets - 1; last > 0; last--) /* bubble sort, whose comparisons do not depend on the prices */
    for (int a = 0; a < last; a++) {
      sim_expr_ref high = call(m, SIM_EXPR_MAX, x[a], x[a + 1]), low = call(m, SIM_EXPR_MIN, x[a], x[a + 1]);
      x[a] = high;
      x[a + 1] = low;
    }
  sim_expr_ref all = 0;
  for (int a = 0; a < assets; a++) {
    x[a] = scaled(m, x[a], OPTION_SCALE_COMMON);
    all = a == 0 ? x[a] : call(m, SIM_EXPR_MUL, all, x[a]);
  }
  for (int a = 0; a < assets; a++) add_function(m, x[a]);
  for (int a = 0; a < assets; a++) add_function(m, call(m, SIM_EXPR_MUL, x[a], x[a]));
  for (int a = 0; a + 1 < assets; a++) add_function(m, call(m, SIM_EXPR_MUL, x[a], x[a + 1]));
  if (assets > 0) add_function(m, all);
}

static void add_assets(maker *m) {
  sim_expr_ref x[OPTION_ASSETS_MAX];
  for (int a = 0; a < m->states; a++)
    add_function(m, x[a] = scaled(m, m->price[m->state[a]], OPTION_SCALE_ASSETS + m->state[a]));
  for (int a = 0; a < m->states; a++)
    for (int b = 0; b <= a; b++) add_function(m, call(m, SIM_EXPR_MUL, x[a], x[b]));
  if (m->states == 1) add_powers(m, x[0], 3, m->degree);
}

/* What the payment grows by depends on how far the price is below its highest: PER_MAXIMUM functions. */
static void add_maximum(maker *m, const option_parameters *p, int asset, sim_expr_ref payment) {
  sim_expr_ref highest = m->price[(int)p->assets.count + asset];
  add_function(m, call(m, SIM_EXPR_MUL, payment, scaled(m, m->price[asset], OPTION_SCALE_ASSETS + asset)));
  add_powers(m, call(m, SIM_EXPR_SUB, call(m, SIM_EXPR_DIV, m->price[asset], highest), number(m, 1)), 1, RATIO_DEGREE);
}

/* The volatility of an asset, or the rate, and its products with powers of the scaled payment: the first `count` of w,
 * w y, w w, w y y, w w y. */
static void add_volatility(maker *m, sim_expr_ref w, sim_expr_ref y, int count) {
  static const int powers[][2] = {{1, 0}, {1, 1}, {2, 0}, {1, 2}, {2, 1}};
  for (int k = 0; k < count; k++) {
    sim_expr_ref product = w;
    if (powers[k][0] == 2) product = call(m, SIM_EXPR_MUL, w, w);
    for (int i = 0; i < powers[k][1]; i++) product = call(m, SIM_EXPR_MUL, product, y);
    add_function(m, product);
  }
}

static sim_expr_ref input(maker *m, const char *what, int number) {
  char name[24];
  sim_expr_ref out = 0;
  snprintf(name, sizeof name, "%s_%d", what, number);
  if (m->status == SIM_OK) m->status = sim_expr_builder_input(m->builder, name, &out);
  return out;
}

/* Divides the assets into those that multiply the payment, each price by its centre, and the others. */
static void find_factor(maker *m, const option_parameters *p, const option_payoff *o) {
  for (int a = 0; a < (int)p->assets.count; a++) {
    if (!is_factor(p, o, a)) {
      m->state[m->states++] = a;
      continue;
    }
    sim_expr_ref x = call(m, SIM_EXPR_DIV, m->price[a], m->scale[OPTION_SCALE_ASSETS + a][0]);
    m->factor = m->factors++ == 0 ? x : call(m, SIM_EXPR_MUL, m->factor, x);
  }
}

static void make(maker *m, const option_parameters *p, const option_payoff *o, option_joint_form form,
                 const double (*scale)[2]) {
  const int assets = (int)p->assets.count, basis = basis_of(p, o);
  for (int a = 0; a < assets; a++) m->price[a] = input(m, "last", a + 1);
  for (int a = 0; a < assets && option_reads_maxima(o); a++) m->price[assets + a] = input(m, "max", a + 1);
  const uint64_t volatilities = option_joint_volatilities(p, o);
  for (int a = 0; a < assets; a++)
    if (volatilities >> a & 1) m->volatility[a] = input(m, "volatility", a + 1);
  if (option_joint_rate(p, o)) m->rate = input(m, "rate", 1);
  add(m, payment(m, p, o));
  if (form == OPTION_JOINT_PAYMENT) return;
  for (int k = 0; k < 2 * option_joint_scales(p, o); k++)
    m->scale[k / 2][k % 2] =
        form == OPTION_JOINT_OPEN ? input(m, k % 2 ? "factor" : "centre", k / 2) : number(m, scale[k / 2][k % 2]);
  find_factor(m, p, o);
  m->degree = (int)o->degree;
  sim_expr_ref paid = m->factors > 0 ? call(m, SIM_EXPR_DIV, m->out[0], m->factor) : m->out[0];
  sim_expr_ref power = number(m, 1), y = scaled(m, paid, OPTION_SCALE_PAYMENT);
  for (int k = 0; k <= o->degree; k++) {
    add_function(m, power);
    power = k == 0 ? y : call(m, SIM_EXPR_MUL, power, y);
  }
  if (basis == OPTION_BASIS_ORDERED || basis == OPTION_BASIS_ALL) add_ordered(m);
  if (basis == OPTION_BASIS_ASSETS || basis == OPTION_BASIS_ALL) add_assets(m);
  for (int a = 0; a < assets && basis != OPTION_BASIS_PAYOFF; a++)
    if (reads(o, "max", a)) add_maximum(m, p, a, y);
  int k = OPTION_SCALE_ASSETS + option_joint_scaled_assets(p, o);
  for (int a = 0; a < assets; a++)
    if (volatilities >> a & 1) add_volatility(m, scaled(m, m->volatility[a], k++), y, per_volatility(p, o));
  if (option_joint_rate(p, o)) add_volatility(m, scaled(m, m->rate, k), y, per_volatility(p, o));
}

sim_status option_joint_graph(const option_parameters *p, const option_payoff *o, option_joint_form form,
                              const double (*scale)[2], sim_expr **out, int *bases) {
  char names[1 + OPTION_BASES_MAX][8];
  const char *pointers[1 + OPTION_BASES_MAX];
  maker m = {.count = 0};
  m.status = sim_expr_builder_create(&m.builder);
  if (m.status == SIM_OK) make(&m, p, o, form, scale);
  for (int k = 0; k < m.count; k++) {
    snprintf(names[k], sizeof names[k], "o%d", k);
    pointers[k] = names[k];
  }
  if (m.status == SIM_OK) m.status = sim_expr_builder_finish(m.builder, m.out, pointers, m.count, out);
  sim_expr_builder_free(&m.builder);
  *bases = m.count - 1;
  return m.status;
}

/* ---- scales ---- */

int option_joint_scaled_assets(const option_parameters *p, const option_payoff *o) {
  return basis_of(p, o) == OPTION_BASIS_PAYOFF ? 0 : (int)p->assets.count;
}

int option_joint_scaled(const option_parameters *p, const option_payoff *o, int *out) {
  const int prices = option_joint_scaled_assets(p, o), assets = (int)p->assets.count,
            volatilities = count_of(option_joint_volatilities(p, o)) + option_joint_rate(p, o);
  for (int k = 0; k < prices && out != NULL; k++) out[k] = k;
  for (int k = 0; k < volatilities && out != NULL; k++)
    out[prices + k] = (option_reads_maxima(o) ? 2 * assets : assets) + k;
  return prices + volatilities;
}

int option_joint_scales(const option_parameters *p, const option_payoff *o) {
  return OPTION_SCALE_ASSETS + option_joint_scaled(p, o, NULL);
}

void option_joint_scale(const double *sum, int assets, int count, double (*scale)[2]) {
  double common[2] = {0, 0};
  for (int k = 0; k <= count; k++) {
    const double n = sum[0], mean = n > 0 ? sum[1 + 2 * k] / n : 0;
    const double variance = n > 0 ? sum[2 + 2 * k] / n - mean * mean : 0;
    const int at = k == 0 ? OPTION_SCALE_PAYMENT : OPTION_SCALE_ASSETS + k - 1;
    scale[at][0] = mean;
    scale[at][1] = variance > 1e-12 * mean * mean ? 1 / (2 * sqrt(variance)) : mean != 0 ? 1 / fabs(mean) : 1;
    for (int i = 0; i < 2 && k > 0 && k <= assets; i++) common[i] += scale[at][i] / assets;
  }
  memcpy(scale[OPTION_SCALE_COMMON], common, sizeof common);
}

/* ---- normal equations ---- */

void option_joint_solve(const double *sum, int bases, int count, double *beta) {
  double l[OPTION_BASES_MAX][OPTION_BASES_MAX];
  bool left_out[OPTION_BASES_MAX];
  const double *right = sum + bases * (bases + 1) / 2;
  for (int i = 0; i < count; i++) {
    for (int j = 0; j <= i; j++) {
      double s = sum[i * (i + 1) / 2 + j];
      for (int k = 0; k < j; k++) s -= l[i][k] * l[j][k];
      if (j < i) {
        l[i][j] = left_out[j] ? 0 : s / l[j][j];
        continue;
      }
      left_out[i] = !(s > 1e-9 * sum[i * (i + 1) / 2 + i]);
      l[i][i] = left_out[i] ? 0 : sqrt(s);
    }
    double s = right[i];
    for (int k = 0; k < i; k++) s -= l[i][k] * beta[k];
    beta[i] = left_out[i] ? 0 : s / l[i][i];
  }
  for (int i = count - 1; i >= 0; i--) {
    for (int k = i + 1; k < count; k++) beta[i] -= l[k][i] * beta[k];
    beta[i] = left_out[i] ? 0 : beta[i] / l[i][i];
  }
}

sim_status option_joint_go_back(const option_rule *rule, const double *bond, option_joint_sums *sums, void *self,
                                double *beta) {
  const size_t bases = (size_t)rule->bases;
  double *sum = calloc(bases * (bases + 3) / 2, sizeof *sum);
  if (sum == NULL) return sim_no_memory("early exercise");
  sim_status status = SIM_OK;
  for (int date = rule->dates - 2; date >= 0 && status == SIM_OK; date--) {
    double *mine = beta + (size_t)date * bases;
    const double discount = bond[rule->step[date + 1] - 1] / bond[rule->step[date] - 1];
    status = sums(self, date, date + 2 < rule->dates ? mine + bases : NULL, discount, sum);
    /* the first function is 1; fewer than 20 paths a coefficient are too few: no exercise without any */
    const int most = (int)fmin(rule->bases, sum[0] / 20);
    if (status == SIM_OK) option_joint_solve(sum, rule->bases, most, mine);
    if (most == 0) mine[0] = 1e30;
  }
  free(sum);
  return status;
}

sim_status option_joint_check(const sim_comm *comm, bool wrong, int number) {
  uint64_t any = 0;
  SIM_TRY(sim_comm_agree(comm, wrong, &any));
  if (any == 0) return SIM_OK;
  return sim_fail(SIM_ERR_DIVERGED, "payoffs[%d].exercise is not finite at prices that the paths reach", number + 1);
}
