#include "kernels/option/multilevel/allocate.h"

#include <math.h>

/* ---- what the sums say ---- */

static double at(const option_level_sums *s, const double *of, int level, int q) { return of[level * s->width + q]; }

double option_level_variance(const option_level_sums *s, int level, int q) {
  const double n = s->count[level], variance = n > 1 ? at(s, s->squares, level, q) / (n - 1) : 0;
  const double least = at(s, s->hits, level, q) < OPTION_LEVELS_HITS ? 0.75 : level > 1 ? 0.125 : 0;
  return level > 0 && least > 0 ? fmax(variance, least * option_level_variance(s, level - 1, q)) : variance;
}

bool option_level_unpaid(const option_level_sums *s, int q) { return !s->certain && !(at(s, s->hits, 0, q) > 0); }

double option_level_spread(const option_level_sums *s, int q) {
  double sum = 0;
  for (int l = 0; l < s->levels; l++) sum += option_level_variance(s, l, q) / s->count[l];
  return sum;
}

/* What a level adds to 1/carriers. */
static double concentration(const option_level_sums *s, int level, int q) {
  const double n = s->count[level], squares = at(s, s->squares, level, q);
  if (!(squares > 0)) return 0;
  const double share = option_level_variance(s, level, q) / n / option_level_spread(s, q);
  return share * share * fmax(at(s, s->tails, level, q) / (squares * squares) - OPTION_LEVELS_PIECE / n, 1 / n);
}

double option_level_carriers(const option_level_sums *s, int q) {
  double sum = 0;
  for (int l = 0; l < s->levels; l++) sum += concentration(s, l, q);
  return sum > 0 ? 1 / sum : INFINITY;
}

/* Standard error of the mean of a level. */
static double mean_error(const option_level_sums *s, int level, int q) {
  return sqrt(option_level_variance(s, level, q) / s->count[level]);
}

/* Factor from the bias of the finest level by the mean of a level, where means fall in order. The mean of the random
 * level, once it has samples, is the sum of those from it to the finest one. */
static double bias_factor(const option_level_sums *s, int level) {
  const bool random = s->tail > 0 && s->levels > s->tail;
  const int finest = random ? s->finest : s->levels - 1;
  const double rest = exp2(-s->order * (finest - level)) / (exp2(s->order) - 1);
  if (!random || level < s->tail) return rest;
  return rest * (1 - exp2(-s->order)) / (1 - exp2(-s->order * (finest - level + 1)));
}

/* The bias by the two finest means, each smaller by `errors` of its standard errors, at least 0. */
static double bias_beyond(const option_level_sums *s, int q, double errors) {
  double bias = 0;
  for (int l = s->levels - 1; l > 0 && l > s->levels - 3; l--)
    bias = fmax(bias, (fabs(at(s, s->mean, l, q)) - errors * mean_error(s, l, q)) * bias_factor(s, l));
  return bias;
}

/* The bias by the three finest means together, each with the weight of its accuracy. */
static double bias_fitted(const option_level_sums *s, int q) {
  double sum = 0, weights = 0;
  for (int l = s->levels - 1; l > 0 && l > s->levels - 4; l--) {
    const double factor = bias_factor(s, l), error = mean_error(s, l, q) * factor,
                 weight = 1 / (error * error + 1e-300);
    sum += weight * factor * at(s, s->mean, l, q);
    weights += weight;
  }
  return fabs(sum) / weights;
}

double option_level_bias(const option_level_sums *s, int q) {
  return s->levels > 1 ? fmax(bias_fitted(s, q), bias_beyond(s, q, 1)) : 0;
}

/* What is taken for the bias; certain: by two standard errors. */
typedef enum bias_kind { NO_BIAS, CERTAIN_BIAS, LIKELY_BIAS } bias_kind;

static double bias_of(const option_level_sums *s, int q, bias_kind kind) {
  return kind == NO_BIAS ? 0 : kind == CERTAIN_BIAS ? bias_beyond(s, q, 2) : option_level_bias(s, q);
}

/* ---- numbers of samples ---- */

/* Variances of each level and payoff over the payoff's part of the squared tolerance; and samples of each level. */
typedef struct allocation {
  int levels;
  double share[OPTION_LEVELS_MAX][OPTION_PAYOFFS_MAX], samples[OPTION_LEVELS_MAX];
} allocation;

/* The least work with which sum_l share[l][k]/samples[l] <= 1 for every payoff; sets the samples. For one payoff they
 * are as sqrt(share/cost). For several the shares are added with weights, which are the multipliers of the constraints:
 * they grow where a constraint is not met, until the work of the least samples is that of the best ones. */
static double allocate(const option_level_sums *s, allocation *a) {
  enum { ROUNDS = 60 };
  double weight[OPTION_PAYOFFS_MAX], work = 0;
  for (int k = 0; k < s->payoffs; k++) weight[k] = 1.0 / s->payoffs;
  for (int round = 0; round < (s->payoffs > 1 ? ROUNDS : 1); round++) {
    double root[OPTION_LEVELS_MAX], all = 0, worst = 0, sum = 0, met[OPTION_PAYOFFS_MAX];
    for (int l = 0; l < a->levels; l++) {
      double share = 0;
      for (int k = 0; k < s->payoffs; k++) share += weight[k] * a->share[l][k];
      root[l] = sqrt(share);
      all += root[l] * sqrt(s->cost[l]);
    }
    for (int l = 0; l < a->levels; l++) a->samples[l] = fmax(root[l] * all / sqrt(s->cost[l]), 1e-300);
    for (int k = 0; k < s->payoffs; k++) {
      met[k] = 0;
      for (int l = 0; l < a->levels; l++) met[k] += a->share[l][k] / a->samples[l];
      worst = fmax(worst, met[k]);
      sum += weight[k] *= met[k];
    }
    for (int k = 0; k < s->payoffs; k++) weight[k] /= sum > 0 ? sum : 1;
    work = 0;
    for (int l = 0; l < a->levels; l++) {
      a->samples[l] *= worst;
      work += a->samples[l] * s->cost[l];
    }
  }
  return work;
}

/* Ratio of the variances of the two finest levels, for one that has no samples yet. */
static double ratio_of(const option_level_sums *s, int q) {
  const int last = s->levels - 1;
  const double before = option_level_variance(s, last - 1, q), ratio = option_level_variance(s, last, q) / before;
  return before > 0 && last > 1 ? fmin(fmax(ratio, 0.25), 0.75) : 0.5;
}

/* The work of the best samples where the run ends on `levels` levels, of which the finest may have no samples yet;
 * INFINITY where the bias leaves no room; `least`: but at least this part of the squared
 * tolerance is for the spread. */
static double work_of(const option_level_sums *s, int levels, double tolerance, bias_kind kind, double least,
                      allocation *a) {
  a->levels = levels;
  for (int k = 0; k < s->payoffs; k++) {
    const double bias = bias_of(s, k, kind) * exp2(-s->order * (levels - s->levels));
    const double room = fmax(tolerance * tolerance - bias * bias, least * tolerance * tolerance);
    if (!(room > 0)) return INFINITY;
    for (int l = 0; l < levels; l++)
      a->share[l][k] =
          option_level_variance(s, l < s->levels ? l : s->levels - 1, k) / room * (l < s->levels ? 1 : ratio_of(s, k));
  }
  return allocate(s, a);
}

/* ---- decisions ---- */

static double pieces(double samples) { return ceil(samples / OPTION_LEVELS_PIECE) * OPTION_LEVELS_PIECE; }

/* The first samples of a level. */
static double first_samples(int level) { return level == 0 ? 4 * OPTION_CHUNK : OPTION_CHUNK; }

static bool is_reached(const option_level_sums *s, double tolerance) {
  for (int k = 0; k < s->payoffs; k++) {
    const double bias = option_level_bias(s, k);
    if (option_level_unpaid(s, k)) return false;
    if (!(option_level_spread(s, k) + bias * bias <= tolerance * tolerance)) return false;
  }
  return true;
}

/* Whether few samples of the random level carry the spread of a payoff, so that it says little: rare levels weigh most.
 */
static bool is_tail_heavy(const option_level_sums *s) {
  const double most = 1.0 / 64;
  bool any = false;
  for (int k = 0; k < s->payoffs && s->tail > 0 && s->levels > s->tail; k++) any |= concentration(s, s->tail, k) > most;
  return any;
}

/* Whether a level more would pay: where the bias leaves so little room that the other levels would work more. */
static bool wants_level(const option_level_sums *s, double tolerance, bias_kind kind) {
  allocation here, more;
  if (s->levels >= s->most) return false;
  const double first = first_samples(s->levels) * s->cost[s->levels];
  return work_of(s, s->levels, tolerance, kind, 0, &here) >
         work_of(s, s->levels + 1, tolerance, kind, 0.0625, &more) + first;
}

static option_level_step step_of(const option_level_sums *s, int level, double samples, double most) {
  samples = fmin(samples, fmax(pieces(256 * OPTION_CHUNK * s->cost[0] / s->cost[level]), 16 * OPTION_LEVELS_PIECE));
  return (option_level_step){level, fmin(pieces(samples), floor(most / OPTION_LEVELS_PIECE) * OPTION_LEVELS_PIECE)};
}

static option_level_step new_level(const option_level_sums *s, double most) {
  return step_of(s, s->levels, first_samples(s->levels), most);
}

/* Whether the samples of the two finest levels tell the bias to a third of the tolerance, or are those that a run
 * without bias would take. Else *level: the one that lacks *samples, -1 where it has four times the part of these that
 * another level has, so that a run that its paths end has samples of all levels. */
static bool is_resolved(const option_level_sums *s, double tolerance, int *level, double *samples) {
  allocation a;
  double part = 1;
  bool resolved = true;
  *level = -1;
  work_of(s, s->levels, tolerance, NO_BIAS, 0, &a);
  for (int l = 0; l < s->levels; l++) part = fmin(part, 4 * s->count[l] / a.samples[l]);
  for (int l = s->levels - 1; l > 0 && l > s->levels - 3; l--) {
    double enough = 0;
    for (int k = 0; k < s->payoffs; k++)
      enough = fmax(enough, option_level_variance(s, l, k) * pow(3 * bias_factor(s, l) / tolerance, 2));
    if (s->count[l] >= fmin(enough, a.samples[l])) continue;
    resolved = false;
    if (*level >= 0 || s->count[l] >= part * a.samples[l]) continue;
    *level = l;
    *samples = fmin(enough, part * a.samples[l]);
  }
  return resolved;
}

/* Of the two finest levels the one whose mean makes the bias large, where it may be the noise of few samples: those of
 * a run without bias, which a run on more levels takes at least. A likely bias waits for up to twice as many, for half
 * of what another level would cost. -1: it has them. */
static int doubtful(const option_level_sums *s, double tolerance, bias_kind kind, double *samples) {
  allocation a, more;
  double largest = 0;
  int level = -1;
  const double errors = kind == CERTAIN_BIAS ? 2 : 1;
  const double work = work_of(s, s->levels, tolerance, NO_BIAS, 0, &a);
  const double added = work_of(s, s->levels + 1, tolerance, NO_BIAS, 0, &more) - work;
  for (int l = s->levels - 1; l > 0 && l > s->levels - 3; l--)
    for (int k = 0; k < s->payoffs; k++) {
      const double beyond = (fabs(at(s, s->mean, l, k)) - errors * mean_error(s, l, k)) * bias_factor(s, l);
      if (!(beyond > largest)) continue;
      largest = beyond;
      level = l;
    }
  if (level < 0) return -1;
  *samples = a.samples[level];
  if (kind == LIKELY_BIAS) *samples += fmin(a.samples[level], added / (2 * s->cost[level]));
  return s->count[level] < *samples ? level : -1;
}

/* The level that has the smallest part of its best samples, -1: all have theirs. */
static int neediest(const option_level_sums *s, double tolerance, bias_kind kind, double *samples) {
  allocation a;
  double least = 1;
  int level = -1;
  work_of(s, s->levels, tolerance, kind, 0.25, &a);
  for (int l = 0; l < s->levels; l++)
    if (s->count[l] / a.samples[l] < least) {
      least = s->count[l] / a.samples[l];
      *samples = a.samples[l];
      level = l;
    }
  return level;
}

option_level_step option_level_next(const option_level_sums *s, double tolerance, double most) {
  double samples = 0;
  for (int l = 0; l < s->levels; l++)
    if (s->count[l] < first_samples(l)) return step_of(s, l, first_samples(l) - s->count[l], most);
  if (s->levels < s->least) return new_level(s, most);
  if (is_reached(s, tolerance))
    return is_tail_heavy(s) ? step_of(s, s->tail, s->count[s->tail], most) : (option_level_step){0, 0};
  for (int k = 0; k < s->payoffs; k++)
    if (option_level_unpaid(s, k)) return step_of(s, 0, s->count[0], most);
  int level = -1;
  bool resolved = false;
  if (wants_level(s, tolerance, CERTAIN_BIAS)) {
    level = doubtful(s, tolerance, CERTAIN_BIAS, &samples);
    if (level < 0) return new_level(s, most);
  } else {
    resolved = is_resolved(s, tolerance, &level, &samples);
  }
  if (level < 0 && !resolved) level = neediest(s, tolerance, CERTAIN_BIAS, &samples);
  if (level < 0 && wants_level(s, tolerance, LIKELY_BIAS)) {
    level = doubtful(s, tolerance, LIKELY_BIAS, &samples);
    if (level < 0) return new_level(s, most);
  }
  if (level < 0) level = neediest(s, tolerance, LIKELY_BIAS, &samples);
  /* no level has more than twice its samples before all are looked at again */
  if (level >= 0) return step_of(s, level, fmin(samples - s->count[level], s->count[level]), most);
  return s->levels < s->most ? new_level(s, most) : (option_level_step){0, 0};
}

double option_level_least_work(const option_level_sums *s, double tolerance, double *done) {
  double least = INFINITY;
  *done = 0;
  for (int l = 0; l < s->levels; l++) *done += s->count[l] * s->cost[l];
  for (int levels = s->least; levels <= s->levels; levels++) {
    allocation a;
    option_level_sums part = *s;
    part.levels = levels;
    least = fmin(least, work_of(&part, levels, tolerance, LIKELY_BIAS, 0, &a));
  }
  return least;
}
