/* The integral I of the variance over the run: exactly, and as the steps of Andersen's scheme have it, dt/2 (v + v') of
 * each. Both have conditional moments that are linear in v, so that mean and variance follow step by step. */
#include "kernels/option/models/heston_steps.h"

#include "engine/log.h"

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

sim_status option_heston_moments_of(const option_heston *h, int asset, const option_grid *grid,
                                    option_heston_moments *out) {
  option_heston_step *each = malloc((size_t)grid->kinds * sizeof *each);
  if (each == NULL) return sim_no_memory("Heston's parameters");
  const sim_status status = option_heston_steps(h, asset, grid, 0, each);
  sum exact = {0}, scheme = {0};
  double v = h->v, variance = 0;
  for (int s = 0; s < grid->steps && status == SIM_OK; s++) {
    const option_heston_step *of = &each[grid->kind[s]];
    const double t = grid->length[s], y = of->kappa * t, keep = exp(-y), half = t / 2;
    const law l = law_of(of, t, v);
    add(&exact, l.integral, y < 1e-8 ? t : -expm1(-y) / of->kappa, l.spread, l.covariance, keep, variance);
    add(&scheme, half * (v + l.mean), half * (1 + keep), half * half * l.variance, half * l.variance, keep, variance);
    variance = keep * keep * variance + l.variance;
    v = l.mean;
  }
  free(each);
  out->mean = scheme.mean / exact.mean - 1;
  out->variance = (scheme.variance - exact.variance) / (exact.mean * exact.mean);
  return status;
}

/* How far the moments are beyond bounds; at most 1 within them. */
static double excess(const option_heston_moments *m, const option_heston_moments *bound) {
  return fmax(fabs(m->mean) / bound->mean, fabs(m->variance) / bound->variance);
}

static sim_status moments_at(const option_parameters *p, int asset, int64_t steps, option_heston_moments *out) {
  option_parameters q = *p;
  option_grid grid;
  q.steps = steps;
  SIM_TRY(option_grid_create(&q, 0, false, &grid));
  const sim_status status = option_heston_moments_of(&option_asset_at(p, asset)->heston, asset, &grid, out);
  option_grid_free(&grid);
  return status;
}

/* The least power of two times the steps that keeps the moments within `warned`; above OPTION_STEPS_MAX: none. */
static sim_status steps_needed(const option_parameters *p, int asset, int64_t *out) {
  option_heston_moments m;
  for (*out = 2 * p->steps; *out <= OPTION_STEPS_MAX; *out *= 2) {
    SIM_TRY(moments_at(p, asset, *out, &m));
    if (excess(&m, &warned) <= 1) break;
  }
  return SIM_OK;
}

/* Writes what is wrong and what to do. */
static sim_status describe(const option_parameters *p, int asset, const option_heston_moments *m, char *out,
                           size_t capacity) {
  char expected[48] = "a smaller kappa: no number of steps will do";
  int64_t needed;
  SIM_TRY(steps_needed(p, asset, &needed));
  if (needed <= OPTION_STEPS_MAX) snprintf(expected, sizeof expected, "steps = %lld or more", (long long)needed);
  snprintf(
      out, capacity,
      "steps = %lld are too long: the mean of its integrated variance is off by %.2g of itself, the variance of that "
      "by %.2g of the squared mean: expected %s",
      (long long)p->steps, fabs(m->mean), fabs(m->variance), expected);
  return SIM_OK;
}

sim_status option_check_heston(const option_parameters *p, int asset, sim_faults *faults) {
  option_heston_moments m;
  char path[48], text[256];
  if (!option_asset_at(p, asset)->heston.given) return SIM_OK;
  SIM_TRY(moments_at(p, asset, p->steps, &m));
  if (excess(&m, &refused) <= 1) return SIM_OK;
  SIM_TRY(describe(p, asset, &m, text, sizeof text));
  snprintf(path, sizeof path, "assets[%d].heston", asset + 1);
  sim_faults_add(faults, p->assets.items[asset].line, path, "%s", text);
  return SIM_OK;
}

sim_status option_warn_heston(const option_parameters *p, double *doubt) {
  *doubt = 0;
  for (int a = 0; a < (int)p->assets.count; a++) {
    option_heston_moments m;
    char text[256];
    if (!option_asset_at(p, a)->heston.given) continue;
    SIM_TRY(moments_at(p, a, p->steps, &m));
    const bool within = excess(&m, &warned) <= 1;
    *doubt = fmax(*doubt, (fabs(m.mean) / 2 + fabs(m.variance) / 8) * (within ? 1 : 2));
    if (within) continue;
    SIM_TRY(describe(p, a, &m, text, sizeof text));
    sim_log(SIM_LOG_WARN, "assets[%d].heston: %s", a + 1, text);
  }
  return SIM_OK;
}
