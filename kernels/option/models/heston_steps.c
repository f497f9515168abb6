/* The integral I of the variance over some steps: exactly, and as the steps of Andersen's scheme have it, dt/2 (v + v')
 * of each. Both have conditional moments that are linear in v, so that mean and variance follow step by step. */
#include "kernels/option/models/heston_steps.h"

#include "engine/log.h"
#include "kernels/option/payoff/names.h"

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
                              option_heston_moments *out) {
  sum exact = {0}, scheme = {0};
  double variance = 0;
  for (int s = 0; s < to; s++) {
    const option_heston_step *of = &each[grid->kind[s]];
    const double t = grid->length[s], y = of->kappa * t, keep = exp(-y), half = t / 2;
    const law l = law_of(of, t, v);
    if (s >= from) {
      add(&exact, l.integral, y < 1e-8 ? t : -expm1(-y) / of->kappa, l.spread, l.covariance, keep, variance);
      add(&scheme, half * (v + l.mean), half * (1 + keep), half * half * l.variance, half * l.variance, keep, variance);
    }
    variance = keep * keep * variance + l.variance;
    v = l.mean;
  }
  out->mean = scheme.mean / exact.mean - 1;
  out->variance = (scheme.variance - exact.variance) / (exact.mean * exact.mean);
}

/* How far the moments are beyond bounds; at most 1 within them. */
static double excess(const option_heston_moments *m, const option_heston_moments *bound) {
  return fmax(fabs(m->mean) / bound->mean, fabs(m->variance) / bound->variance);
}

/* Times between which the variance moves the price that a payoff sees. */
typedef struct window {
  double from, to;
} window;

/* The windows of a payoff: until its maturity, of a forward start from its start on; of an autocallable also until its
 * first date. Returns their count. */
static int windows_of(const option_parameters *p, int payoff, window out[2]) {
  const int named = payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  const double step = p->maturity / (double)p->steps;
  out[0] = (window){0, option_maturity_of(p, payoff)};
  if (named < 0) return 1;
  const sim_item *item = &p->payoffs.items[named];
  const option_payoff *o = item->data;
  if (item->schema == &option_forward_start_schema)
    out[0].from = o->start_time > 0 ? o->start_time : step * (double)o->start;
  if (item->schema != &option_autocallable_schema) return 1;
  out[1] = (window){0, o->dates.rows > 0 ? o->dates.data[0] : step * (double)o->every};
  return 2;
}

/* The moments of each payoff with this number of steps, the worse where it has two windows: out[payoffs]; 0 for
 * payoffs that do not see the asset. until: of windows from now until a payoff's maturity alone. */
static sim_status moments_at(const option_parameters *p, int asset, int64_t steps, bool until,
                             option_heston_moments *out) {
  const option_heston *h = &option_asset_at(p, asset)->heston;
  option_parameters q = *p;
  option_grid grid;
  q.steps = steps;
  SIM_TRY(option_grid_create(&q, 0, false, &grid));
  option_heston_step *each = malloc((size_t)grid.kinds * sizeof *each);
  sim_status status =
      each != NULL ? option_heston_steps(h, asset, &grid, 0, each) : sim_no_memory("Heston's parameters");
  window last = {0};
  option_heston_moments m = {0};
  for (int k = 0; k < option_payoff_count(p) && status == SIM_OK; k++) {
    window windows[2];
    int count = option_payoff_sees(p, k, asset) ? windows_of(p, k, windows) : 0;
    if (count > 0 && until) count = windows[0].from > 0 ? 0 : 1;
    out[k] = (option_heston_moments){0};
    for (int w = 0; w < count; w++) {
      if (windows[w].from != last.from || windows[w].to != last.to)
        option_heston_moments_of(h->v, &grid, each, option_grid_at(&grid, windows[w].from),
                                 option_grid_at(&grid, windows[w].to), &m);
      last = windows[w];
      if (excess(&m, &warned) >= excess(&out[k], &warned)) out[k] = m;
    }
  }
  free(each);
  option_grid_free(&grid);
  return status;
}

/* The payoff whose moments are farthest beyond bounds. */
static int worst_of(const option_parameters *p, const option_heston_moments *m, const option_heston_moments *bound) {
  int worst = 0;
  for (int k = 1; k < option_payoff_count(p); k++)
    if (excess(&m[k], bound) > excess(&m[worst], bound)) worst = k;
  return worst;
}

/* The least power of two times the steps that keeps all moments within `warned`; above OPTION_STEPS_MAX: none. */
static sim_status steps_needed(const option_parameters *p, int asset, int64_t *out) {
  option_heston_moments m[OPTION_PAYOFFS_MAX];
  for (*out = 2 * p->steps; *out <= OPTION_STEPS_MAX; *out *= 2) {
    SIM_TRY(moments_at(p, asset, *out, false, m));
    if (excess(&m[worst_of(p, m, &warned)], &warned) <= 1) break;
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
  option_heston_moments m[OPTION_PAYOFFS_MAX];
  char path[48], text[256 + OPTION_PAYOFF_NAME];
  if (!option_asset_at(p, asset)->heston.given) return SIM_OK;
  SIM_TRY(moments_at(p, asset, p->steps, true, m));
  const int worst = worst_of(p, m, &refused);
  if (excess(&m[worst], &refused) <= 1) return SIM_OK;
  SIM_TRY(describe(p, asset, worst, &m[worst], text, sizeof text));
  snprintf(path, sizeof path, "assets[%d].heston", asset + 1);
  sim_faults_add(faults, p->assets.items[asset].line, path, "%s", text);
  return SIM_OK;
}

sim_status option_warn_heston(const option_parameters *p, double *doubt) {
  const int payoffs = option_payoff_count(p);
  for (int k = 0; k < payoffs; k++) doubt[k] = 0;
  for (int a = 0; a < (int)p->assets.count; a++) {
    option_heston_moments m[OPTION_PAYOFFS_MAX];
    char text[256 + OPTION_PAYOFF_NAME];
    if (!option_asset_at(p, a)->heston.given) continue;
    SIM_TRY(moments_at(p, a, p->steps, false, m));
    for (int k = 0; k < payoffs; k++)
      doubt[k] =
          fmax(doubt[k], (fabs(m[k].mean) / 2 + fabs(m[k].variance) / 8) * (excess(&m[k], &warned) <= 1 ? 1 : 2));
    const int worst = worst_of(p, m, &warned);
    if (excess(&m[worst], &warned) <= 1) continue;
    SIM_TRY(describe(p, a, worst, &m[worst], text, sizeof text));
    sim_log(SIM_LOG_WARN, "assets[%d].heston: %s", a + 1, text);
  }
  return SIM_OK;
}
