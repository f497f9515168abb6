/* The integral I of the variance over some steps: exactly, and as the steps of Andersen's scheme have it, dt/2 (v + v')
 * of each. Both have conditional moments that are linear in v, so that mean and variance follow step by step. */
#include "kernels/option/models/heston_steps.h"

#include "engine/log.h"
#include "kernels/option/payoff/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Largest |mean| and |variance| of option_heston_moments. Beyond `warned` a line says how many steps are needed. Beyond
 * `refused` the bias told, twice the change by steps half as long, may be half of the error. */
static const option_heston_moments warned = {0.05, 0.05}, refused = {0.25, 0.5};

/* Moments of (v', J) given v, J the integral over a step of length t: conditional means of v' and J, variances and
 * covariance. y = kappa t. */
typedef struct law {
  double mean, integral, variance, covariance, spread;
} law;

static law law_of(const option_heston_step *h, double t, double v) {
  const double y = h->kappa * t, e = exp(-y), gone = -expm1(-y), s = h->sigma * h->sigma * t, away = v - h->theta;
  const bool small = y < 0.01; /* where the differences cancel */
  const double share = small ? 1 - y / 2 + y * y / 6 : gone / y;
  const double late = small ? (0.5 - y / 6 + y * y / 24) * e : e * (y - gone) / (y * y);
  const double flat = small ? y / 6 - y * y / 6 + 11. / 120 * y * y * y : (gone * (1 + e) - 2 * y * e) / (2 * y * y);
  const double first = small ? 1. / 3 - y / 3 + 11. / 60 * y * y : (gone * (1 + e) - 2 * y * e) / (y * y * y);
  const double level =
      small ? y / 12 - y * y / 15 + 11. / 360 * y * y * y : (y + 2 * y * e + (-5 + 4 * e + e * e) / 2) / (y * y * y);
  return (law){.mean = h->theta + away * e,
               .integral = t * (h->theta + away * share),
               .variance = s * share * (v * e + h->theta * gone / 2),
               .covariance = s * t * (v * late + h->theta * flat),
               .spread = s * t * t * (v * first + h->theta * level)};
}

/* Mean, variance, and covariance with v, of a sum of integrals. */
typedef struct sum {
  double mean, variance, covariance;
} sum;

/* Adds an integral whose mean given v is linear in v with `slope`. */
static void add(sum *of, double mean, double slope, double spread, double covariance, double keep, double variance) {
  of->mean += mean;
  of->variance += slope * (2 * of->covariance + slope * variance) + spread;
  of->covariance = keep * (of->covariance + slope * variance) + covariance;
}

void option_heston_moments_of(double v, const option_grid *grid, const option_heston_step *each, int from, int to,
                              const double *weight, option_heston_moments *out) {
  sum exact = {0}, scheme = {0};
  double variance = 0;
  for (int s = 0; s < to; s++) {
    const option_heston_step *of = &each[grid->kind[s]];
    const double t = grid->length[s], y = of->kappa * t, keep = exp(-y), half = t / 2;
    const double w = weight != NULL ? weight[s] : 1;
    const law l = law_of(of, t, v);
    if (s >= from) {
      add(&exact, w * l.integral, w * (y < 1e-8 ? t : -expm1(-y) / of->kappa), w * w * l.spread, w * l.covariance, keep,
          variance);
      add(&scheme, w * half * (v + l.mean), w * half * (1 + keep), w * w * half * half * l.variance,
          w * half * l.variance, keep, variance);
    }
    variance = keep * keep * variance + l.variance;
    v = l.mean;
  }
  out->mean = scheme.mean / exact.mean - 1;
  out->variance = (scheme.variance - exact.variance) / (exact.mean * exact.mean);
}

/* How far the moments are beyond bounds; at most 1 within them. */
static double excess(const option_heston_moments *m, const option_heston_moments *bound) {
  if (isnan(m->mean) || isnan(m->variance)) return INFINITY;
  return fmax(fabs(m->mean) / bound->mean, fabs(m->variance) / bound->variance);
}

/* Times between which the variance moves the price that a payoff sees. */
typedef struct window {
  double from, to;
  const option_payoff *mean; /* a mean of prices: the variance counts by the square of the share of fixings after it */
  double share;              /* of the doubt that counts */
} window;

/* The first date at which a named payoff sees a price; 0: its maturity alone. */
static double first_date(const option_parameters *p, const sim_item *item) {
  const option_payoff *o = item->data;
  const bool dated = option_has_every(item);
  const bool watched = item->schema == &option_barrier_schema || item->schema == &option_double_barrier_schema ||
                       item->schema == &option_lookback_schema;
  if (!dated && !watched) return 0;
  if (watched && o->monitoring == OPTION_CONTINUOUS) return o->from;
  if (o->dates.rows > 0) return o->dates.data[0];
  return p->maturity / (double)p->steps * (dated ? (double)o->every : 1);
}

/* The same of the scenario's function: its first fixing, or the first step where it sees extremes at the steps. */
static double first_of_function(const option_parameters *p, int asset) {
  int64_t first = p->steps;
  for (int i = 0; i < sim_expr_input_count(p->payoff); i++) {
    option_feature feature;
    if (!option_feature_parse(sim_expr_input_name(p->payoff, i), p, &feature) || feature.asset != asset) continue;
    if (feature.kind == OPTION_FIXING && feature.step < first) first = feature.step;
    if (feature.kind == OPTION_MAX || feature.kind == OPTION_MIN) first = 1;
  }
  return p->maturity / (double)p->steps * (double)first;
}

/* The windows of a payoff: until its maturity, of a forward start from its start on; and until the first date at which
 * it sees a price, where that may end or pay it. The distribution at an early date moves an early exercise and a
 * lookback by its own width, which grows as the root of time. A barrier and an autocallable jump there. Returns their
 * count. */
static int windows_of(const option_parameters *p, int payoff, int asset, window out[2]) {
  const int named = payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  const double step = p->maturity / (double)p->steps, end = option_maturity_of(p, payoff);
  out[0] = (window){.to = end, .share = 1};
  if (named < 0) {
    out[1] = (window){.to = first_of_function(p, asset), .share = 1};
    return out[1].to < end ? 2 : 1;
  }
  const sim_item *item = &p->payoffs.items[named];
  const option_payoff *o = item->data;
  if (item->schema == &option_forward_start_schema)
    out[0].from = o->start_time > 0 ? o->start_time : step * (double)o->start;
  if (item->schema == &option_asian_schema) out[0].mean = o;
  const double first = first_date(p, item);
  const bool grows = item->schema == &option_american_schema || item->schema == &option_lookback_schema;
  out[1] = (window){.to = first, .share = grows ? sqrt(first / end) : 1};
  return first > 0 && first < end ? 2 : 1;
}

/* Squares of the shares of a payoff's fixings that come after the beginning of each step: out[grid->steps]. */
static void weigh_fixings(const option_parameters *p, const option_grid *grid, const option_payoff *o, double *out) {
  const double step = p->maturity / (double)p->steps, near = OPTION_SAME_DATE * p->maturity;
  const int n = option_observation_count(p, o);
  int passed = 0;
  for (int s = 0; s < grid->steps; s++) {
    while (passed < n && (o->dates.rows > 0 ? o->dates.data[passed] : step * (passed + 1)) < grid->time[s] + near)
      passed++;
    const double share = (double)(n - passed) / n;
    out[s] = share * share;
  }
}

/* What the steps miss of one payoff. */
typedef struct miss {
  option_heston_moments worst; /* of its windows */
  double doubt;                /* as a share of what it pays */
} miss;

/* How far the moments are off in a window. */
static void look(const option_parameters *p, double v, const option_grid *grid, const option_heston_step *each,
                 const window *w, double *weight, miss *out) {
  option_heston_moments m;
  if (w->mean != NULL) weigh_fixings(p, grid, w->mean, weight);
  option_heston_moments_of(v, grid, each, option_grid_at(grid, w->from), option_grid_at(grid, w->to),
                           w->mean != NULL ? weight : NULL, &m);
  const double far = excess(&m, &warned), doubt = (fabs(m.mean) / 2 + fabs(m.variance) / 8) * (far <= 1 ? 1 : 2);
  if (far >= excess(&out->worst, &warned)) out->worst = m;
  out->doubt = fmax(out->doubt, w->share * doubt);
}

/* The moments of each payoff with this number of steps: out[payoffs]; 0 for payoffs that do not see the asset. until:
 * of windows from now until a payoff's maturity alone. */
static sim_status moments_at(const option_parameters *p, int asset, int64_t steps, bool until, miss *out) {
  const option_heston *h = &option_asset_at(p, asset)->heston;
  option_parameters q = *p;
  option_grid grid;
  q.steps = steps;
  SIM_TRY(option_grid_create(&q, 0, 1, &grid));
  option_heston_step *each = malloc((size_t)grid.kinds * sizeof *each);
  double *weight = malloc((size_t)grid.steps * sizeof *weight);
  sim_status status = each != NULL && weight != NULL ? option_heston_steps(h, asset, &grid, 0, each)
                                                     : sim_no_memory("Heston's parameters");
  for (int k = 0; k < option_payoff_count(p) && status == SIM_OK; k++) {
    window windows[2];
    int count = option_payoff_sees(p, k, asset) ? windows_of(p, k, asset, windows) : 0;
    if (count > 0 && until) count = windows[0].from > 0 ? 0 : 1;
    out[k] = (miss){0};
    for (int w = 0; w < count; w++) look(p, h->v, &grid, each, &windows[w], weight, &out[k]);
  }
  free(weight);
  free(each);
  option_grid_free(&grid);
  return status;
}

/* The payoff whose moments are farthest beyond bounds. */
static int worst_of(const option_parameters *p, const miss *m, const option_heston_moments *bound) {
  int worst = 0;
  for (int k = 1; k < option_payoff_count(p); k++)
    if (excess(&m[k].worst, bound) > excess(&m[worst].worst, bound)) worst = k;
  return worst;
}

/* The least power of two times the steps that keeps all moments within `warned`; above OPTION_STEPS_MAX: none. */
static sim_status steps_needed(const option_parameters *p, int asset, int64_t *out) {
  miss m[OPTION_PAYOFFS_MAX];
  for (*out = 2 * p->steps; *out <= OPTION_STEPS_MAX; *out *= 2) {
    SIM_TRY(moments_at(p, asset, *out, false, m));
    if (excess(&m[worst_of(p, m, &warned)].worst, &warned) <= 1) break;
  }
  return SIM_OK;
}

/* Writes what is wrong with the moments of a payoff and what to do. */
static sim_status describe(const option_parameters *p, int asset, int payoff, const option_heston_moments *m, char *out,
                           size_t capacity) {
  char expected[48] = "a smaller kappa: no number of steps will do", name[OPTION_PAYOFF_NAME];
  int64_t needed;
  SIM_TRY(steps_needed(p, asset, &needed));
  if (needed <= OPTION_STEPS_MAX) snprintf(expected, sizeof expected, "steps = %lld or more", (long long)needed);
  option_payoff_name(p, payoff, name, sizeof name);
  snprintf(out, capacity,
           "steps = %lld are too long for %s: the mean of the integrated variance that it sees is off by %.2g of "
           "itself, the variance of that by %.2g of the squared mean: expected %s",
           (long long)p->steps, name, fabs(m->mean), fabs(m->variance), expected);
  return SIM_OK;
}

sim_status option_check_heston(const option_parameters *p, int asset, sim_faults *faults) {
  miss m[OPTION_PAYOFFS_MAX];
  char path[48], text[256 + OPTION_PAYOFF_NAME];
  if (!option_asset_at(p, asset)->heston.given) return SIM_OK;
  SIM_TRY(moments_at(p, asset, p->steps, true, m));
  const int worst = worst_of(p, m, &refused);
  if (excess(&m[worst].worst, &refused) <= 1) return SIM_OK;
  if (isnan(m[worst].worst.mean) || isnan(m[worst].worst.variance))
    snprintf(text, sizeof text, "its moments are not finite numbers: expected a smaller sigma, v, theta or kappa");
  else
    SIM_TRY(describe(p, asset, worst, &m[worst].worst, text, sizeof text));
  snprintf(path, sizeof path, "assets[%d].heston", asset + 1);
  sim_faults_add(faults, p->assets.items[asset].line, path, "%s", text);
  return SIM_OK;
}

sim_status option_warn_heston(const option_parameters *p, double *doubt) {
  const int payoffs = option_payoff_count(p);
  for (int k = 0; k < payoffs; k++) doubt[k] = 0;
  for (int a = 0; a < (int)p->assets.count; a++) {
    miss m[OPTION_PAYOFFS_MAX];
    char text[256 + OPTION_PAYOFF_NAME];
    if (!option_asset_at(p, a)->heston.given) continue;
    SIM_TRY(moments_at(p, a, p->steps, false, m));
    for (int k = 0; k < payoffs; k++) doubt[k] = fmax(doubt[k], m[k].doubt);
    const int worst = worst_of(p, m, &warned);
    if (excess(&m[worst].worst, &warned) <= 1 || p->sampling.multilevel) continue;
    SIM_TRY(describe(p, a, worst, &m[worst].worst, text, sizeof text));
    sim_log(SIM_LOG_WARN, "assets[%d].heston: %s", a + 1, text);
  }
  return SIM_OK;
}

sim_status option_heston_levels(const option_parameters *p, int *levels) {
  for (int a = 0; a < (int)p->assets.count; a++) {
    miss m[OPTION_PAYOFFS_MAX];
    int64_t needed;
    if (!option_asset_at(p, a)->heston.given) continue;
    SIM_TRY(moments_at(p, a, p->steps, false, m));
    if (excess(&m[worst_of(p, m, &warned)].worst, &warned) <= 1) continue;
    SIM_TRY(steps_needed(p, a, &needed));
    const int finest = (int)round(log2((double)needed / (double)p->steps)) + 1;
    if (*levels < finest + 1) *levels = finest + 1;
  }
  return SIM_OK;
}
