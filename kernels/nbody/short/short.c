#include "kernels/nbody/short/short.h"

#include "kernels/nbody/cpu/evaluator.h"
#include "kernels/common/vector.h"

#include <math.h>

/* Skin over the mean distance of bodies, measured for liquids: a thicker skin makes lists longer and searches rarer.
 * For gases at most a quarter of the cutoff. */
static const double skin_spacings = 0.35, skin_most = 0.25;

double nbody_short_skin(const nbody_options *options) {
  const double spacing = options->box / cbrt((double)options->n);
  return fmin(skin_spacings * spacing, skin_most * options->cutoff);
}

double nbody_short_pairs(const nbody_options *options, double n) {
  const double reach = options->cutoff + nbody_short_skin(options), share = reach / options->box;
  return 0.5 * n * fmin(n, n * (4 * pi / 3) * share * share * share);
}

sim_status nbody_short_count(const nbody_options *options, double n, nbody_cost *out) {
  double pair = 0;
  const double pairs = nbody_short_pairs(options, n);
  out->interactions = n + 2 * pairs;
  out->most_ranks = 1;
  SIM_TRY(nbody_laws_work(options->laws.pair, 1, &pair));
  out->additions = pairs * pair;
  return SIM_OK;
}

sim_status nbody_short_supports(const nbody_options *options) {
  const int64_t most = INT64_C(1) << 29; /* lists have four times the index of a body, in 31 bits */
  if (options->individual)
    return sim_fail(SIM_ERR_SCENARIO, "integrate.steps: expected \"shared\" with cutoff, got \"individual\"");
  if (options->n <= most) return SIM_OK;
  return sim_fail(SIM_ERR_SCENARIO, "bodies: %.9g are more than the %lld that lists of pairs take", (double)options->n,
                  (long long)most);
}

/* ---- potential at and beyond the cutoff ---- */

/* Evaluates out[count]: the potential (result 1) or the force (result 0) of the law at r2[count]. */
static sim_status evaluate(const nbody_laws *laws, int result, const double *r2, int count, double *out) {
  sim_expr *part;
  nbody_evaluator *law;
  SIM_TRY(nbody_laws_pick(laws->pair, result, 1, &part));
  sim_status status = nbody_evaluator_create(part, NULL, SIM_ISA_PLAIN, 1, &law);
  sim_expr_free(&part);
  SIM_TRY(status);
  const double *values = nbody_evaluator_run(law, &(nbody_evaluator_input){r2, SIM_F64, false}, 0, count);
  for (int k = 0; k < count; k++) out[k] = values[k];
  nbody_evaluator_destroy(&law);
  return SIM_OK;
}

sim_status nbody_short_shift(const nbody_options *options, double *out) {
  const double r2 = options->cutoff * options->cutoff;
  *out = 0;
  return options->shifted ? evaluate(&options->laws, 1, &r2, 1, out) : SIM_OK;
}

/* Integrals over r from the cutoff c to infinity, with s = c / r from 0 to 1: r^2 phi becomes c^3 phi / s^4, and r^3
 * phi' = r^4 force becomes c^5 force / s^6. Simpson's rule in intervals [2^-(k+1), 2^-k] of s, until an interval adds
 * nothing. For a law that falls as 1/r^p each interval adds 2^(p-3) times less than the one before, so that a slow law
 * has a geometric series left after the last one; where intervals do not become smaller the integral has no limit. */
enum { PARTS = 40, INTERVALS = 480 };

static sim_status integral(const nbody_laws *laws, double cutoff, int result, int power, double *out) {
  double sum = 0, last = INFINITY;
  *out = NAN;
  for (int k = 0; k < PARTS; k++) {
    double r2[INTERVALS + 1], value[INTERVALS + 1], part = 0;
    const double low = ldexp(1, -(k + 1)), step = low / INTERVALS;
    for (int i = 0; i <= INTERVALS; i++) r2[i] = pow(cutoff / (low + i * step), 2);
    SIM_TRY(evaluate(laws, result, r2, INTERVALS + 1, value));
    for (int i = 0; i <= INTERVALS; i++) {
      const double weight = i == 0 || i == INTERVALS ? 1 : i % 2 == 1 ? 4 : 2;
      if (value[i] != 0) part += weight * step / 3 * value[i] * pow(low + i * step, -power);
    }
    sum += part;
    if (!isfinite(sum) || (k > 2 && fabs(part) > 0.9 * fabs(last))) return SIM_OK;
    if (fabs(part) <= 1e-14 * fabs(sum)) break;
    if (k == PARTS - 1) sum += part * part / (last - part);
    last = part;
  }
  *out = sum * pow(cutoff, power - 1);
  return SIM_OK;
}

sim_status nbody_tail_of(const nbody_laws *laws, double cutoff, nbody_tail *out) {
  SIM_TRY(integral(laws, cutoff, 1, 4, &out->energy));
  SIM_TRY(integral(laws, cutoff, 0, 6, &out->pressure));
  out->energy *= 2 * pi;
  out->pressure *= -2 * pi / 3;
  return SIM_OK;
}
