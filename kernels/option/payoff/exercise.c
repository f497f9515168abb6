/* Regression of exercise rules (F. Longstaff and E. Schwartz 2001): least squares for the continuation value, from
 * the last date but one backwards, on paths with a positive payoff. */
#include "kernels/option/payoff/exercise.h"

#include "kernels/option/payoff/builder.h"

#include <math.h>
#include <stdlib.h>

enum { MOMENTS = OPTION_REGRESSION_MOMENTS, SUMS = OPTION_REGRESSION_SUMS, UNKNOWN = OPTION_DEGREE_MAX + 1 };

/* Cholesky factor of the normal equations; returns the number of unknowns before they become singular. */
static int factor(const double *sum, int unknowns, double l[UNKNOWN][UNKNOWN]) {
  for (int n = 0; n < unknowns; n++)
    for (int j = 0; j <= n; j++) {
      double s = sum[n + j];
      for (int k = 0; k < j; k++) s -= l[n][k] * l[j][k];
      if (j == n && !(s > 1e-11 * sum[2 * n])) return n;
      l[n][j] = j < n ? s / l[j][j] : sqrt(s);
    }
  return unknowns;
}

/* Solves the normal equations; lowers the degree where they are singular. Returns the number of unknowns solved. */
static int solve(const double *sum, int unknowns, double *beta) {
  double l[UNKNOWN][UNKNOWN];
  const int n = factor(sum, unknowns, l);
  for (int i = 0; i < n; i++) {
    double s = sum[MOMENTS + i];
    for (int k = 0; k < i; k++) s -= l[i][k] * beta[k];
    beta[i] = s / l[i][i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) beta[i] -= l[k][i] * beta[k];
    beta[i] /= l[i][i];
  }
  return n;
}

/* Centre and scale of x: the mean of the prices with a positive payoff, and twice their deviation, for
 * well-conditioned powers. */
static sim_status set_scale(const option_regression *regression, option_rule *rule) {
  double n = 0, mean = 0, square = 0, sum[SUMS];
  option_rule line = *rule;
  line.centre = rule->centre = rule->strike;
  line.scale = rule->scale = 1 / rule->strike;
  line.degree = 1;
  for (int d = 0; d < rule->dates; d++) {
    SIM_TRY(regression->sums(regression->self, &line, d, NULL, 1, sum));
    n += sum[0];
    mean += sum[1];
    square += sum[2];
  }
  if (n < 2) return SIM_OK;
  mean /= n;
  const double variance = square / n - mean * mean;
  rule->centre += mean * rule->strike;
  if (variance > 0) rule->scale = 1 / (2 * sqrt(variance) * rule->strike);
  return SIM_OK;
}

/* Goes back from the last date, where the continuation value is 0. */
static sim_status go_back(const option_regression *regression, const option_rule *r, const double *bond, double *beta) {
  for (int date = r->dates - 2; date >= 0; date--) {
    double *mine = beta + (size_t)date * UNKNOWN, sum[SUMS];
    const int step = r->step[date] - 1, next = r->step[date + 1] - 1;
    SIM_TRY(regression->sums(regression->self, r, date, mine + UNKNOWN, bond[next] / bond[step], sum));
    /* fewer than 20 paths a coefficient are too few: no exercise at this date */
    const int most = (int)fmin(r->degree + 1, sum[0] / 20);
    if (solve(sum, most, mine) == 0) mine[0] = 1e30;
  }
  return SIM_OK;
}

static sim_status make_rule(const option_regression *regression, const double *bond, int asset, int chunks,
                            option_rule *rule, double *beta) {
  sim_status status = regression->simulate(regression->self, rule, asset, chunks);
  if (status == SIM_OK) status = set_scale(regression, rule);
  if (status == SIM_OK) status = go_back(regression, rule, bond, beta);
  regression->release(regression->self);
  return status;
}

size_t option_date_count(const option_parameters *p, const option_payoff *o) {
  if (o->dates.rows > 0) return o->dates.rows;
  return (size_t)(lround(option_own_maturity(p, o) / p->maturity * (double)p->steps) / o->every);
}

/* Sets the steps of a rule's dates: step[steps], date[steps]. */
static void set_dates(const option_parameters *p, const option_market *market, const option_payoff *o, int *step,
                      int *date, option_rule *rule) {
  rule->dates = option_dates(p, market, o, step);
  for (int s = 0; s < market->steps; s++) date[s] = -1;
  for (int d = 0; d < rule->dates; d++) date[step[d] - 1] = d;
  rule->step = step;
  rule->date = date;
  rule->end = option_steps_until(market, option_own_maturity(p, o));
}

sim_status option_policy_regress(const option_parameters *p, const option_market *market,
                                 const option_regression *regression, option_policy *out) {
  size_t numbers = 0, rules = 0;
  const size_t steps = (size_t)market->steps;
  *out = (option_policy){.count = (int)p->payoffs.count};
  for (size_t i = 0; i < p->payoffs.count; i++)
    if (p->payoffs.items[i].schema == &option_american_schema) {
      numbers += option_date_count(p, p->payoffs.items[i].data) * UNKNOWN;
      rules++;
    }
  if (numbers == 0) return SIM_OK;
  out->rule = calloc(p->payoffs.count, sizeof *out->rule);
  out->joint = calloc(p->payoffs.count, sizeof *out->joint);
  double *beta = out->numbers = calloc(numbers, sizeof(double) + sizeof(float));
  int *step = out->steps = calloc(2 * rules * steps, sizeof *step);
  if (out->rule == NULL || out->joint == NULL || beta == NULL || step == NULL) return sim_no_memory("early exercise");
  float *single = (float *)(void *)(beta + numbers);
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const sim_item *item = &p->payoffs.items[i];
    if (item->schema != &option_american_schema) continue;
    const option_payoff *o = item->data;
    option_rule *rule = &out->rule[i];
    *rule = (option_rule){.single = option_is_single(p),
                          .degree = (int)o->degree,
                          .strike = o->strike,
                          .sign = o->type == OPTION_CALL ? 1 : -1,
                          .beta = beta,
                          .beta_single = single};
    rule->maxima = option_reads_maxima(o);
    rule->volatilities = option_joint_volatilities(p, o);
    rule->rate = option_joint_rate(p, o);
    set_dates(p, market, o, step, step + steps, rule);
    step += 2 * steps;
    const int chunks = (int)((o->fit_paths + OPTION_CHUNK - 1) / OPTION_CHUNK);
    if (option_rule_is_joint(p, o)) {
      SIM_TRY(regression->joint(regression->self, o, (int)i, chunks, rule, &out->joint[i]));
      continue;
    }
    SIM_TRY(make_rule(regression, market->bond, (int)o->asset - 1, chunks, rule, beta));
    const size_t count = option_date_count(p, o) * UNKNOWN;
    for (size_t k = 0; k < count; k++) single[k] = (float)beta[k];
    beta += count;
    single += count;
  }
  return SIM_OK;
}

/* Sums of a chunk at a date. */
static double sums_of(const option_parameters *p, const option_payoff *o) {
  const double bases = option_joint_bases(p, o);
  return option_rule_is_joint(p, o) ? fmax(bases * (bases + 3) / 2, 3 + 2 * (double)option_joint_scaled(p, o, NULL))
                                    : SUMS;
}

/* Each date's sums are gathered, once for the scale and once on the way back, which begins before the last date; of
 * several assets once for the scale of all dates. */
void option_policy_exchanges(const option_parameters *p, int ranks, double *bytes, double *exchanges) {
  *bytes = *exchanges = 0;
  for (size_t i = 0; i < p->payoffs.count && ranks > 1; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    if (p->payoffs.items[i].schema != &option_american_schema) continue;
    const double share = ceil(ceil((double)o->fit_paths / OPTION_CHUNK) / ranks),
                 dates = (double)option_date_count(p, o);
    const double gathers = option_rule_is_joint(p, o) ? dates : 2 * dates - 1;
    *exchanges += gathers;
    *bytes += gathers * (ranks - 1) * share * sums_of(p, o) * sizeof(double);
  }
}

double option_policy_bytes(const option_parameters *p, int ranks) {
  double most = 0;
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    if (p->payoffs.items[i].schema != &option_american_schema) continue;
    const double chunks = (double)o->fit_paths / OPTION_CHUNK, dates = (double)option_date_count(p, o);
    const option_rule rule = {.maxima = option_reads_maxima(o),
                              .volatilities = option_joint_volatilities(p, o),
                              .rate = option_joint_rate(p, o)};
    const int inputs = option_rule_is_joint(p, o) ? option_rule_inputs(&rule, (int)p->assets.count) : 1;
    const double kept = dates * (inputs + p->hull_white.given);
    most = fmax(most, (ceil(chunks / ranks) * (kept + 1) * OPTION_CHUNK + (chunks + ranks) * (sums_of(p, o) + 1)) *
                          sizeof(double));
  }
  return most;
}

size_t option_policy_scratch(const option_policy *policy) {
  size_t most = 0;
  for (int i = 0; i < policy->count && policy->joint != NULL; i++)
    if (policy->joint[i].program != NULL)
      most = (size_t)fmax((double)most, (double)sim_expr_program_scratch(policy->joint[i].program) + 128);
  return most;
}

void option_policy_free(option_policy *policy) {
  for (int i = 0; i < policy->count && policy->joint != NULL; i++) {
    sim_expr_program_free(&policy->joint[i].program);
    sim_expr_program_free(&policy->joint[i].in_double);
    free(policy->joint[i].beta);
  }
  free(policy->joint);
  free(policy->rule);
  free(policy->numbers);
  free(policy->steps);
  *policy = (option_policy){0};
}

void option_policy_for_market(const option_policy *policy, const option_market *market, option_rule *out,
                              double *growth) {
  for (int i = 0; i < policy->count; i++) {
    double *mine = growth + (size_t)i * (size_t)market->steps;
    out[i] = policy->rule[i];
    out[i].growth = mine;
    for (int d = 0; d < out[i].dates; d++) mine[d] = market->bond[out[i].step[d] - 1] / market->bond[out[i].end - 1];
  }
}
