#include "kernels/option/result/result.h"

#include "kernels/option/models/rough.h"

#include <math.h>

double option_mean(const option_run *run, int q) {
  if (run->levels != NULL) return option_levels_mean(run->levels, q);
  double sum = 0;
  for (int g = 0; g < run->groups; g++) sum += run->mean[g * run->quantities + q];
  return sum / run->groups;
}

/* E[Y^2]/E[Y], Y the payoff of a quantity less its median: the height of a function that jumps from the median by c,
 * however rarely. Between 1 and 16 times the root of E[Y^2], because E[Y] may vanish. */
static double typical_value(const option_run *run, double n, int q) {
  const int payoff = run->quantity[q].payoff;
  if (run->jump_factor[q] == 0) return 0;
  double squares = 0;
  for (int g = 0; g < run->groups; g++) squares += run->squares[g * run->quantities + payoff];
  const double mean = fabs(option_mean(run, payoff) - run->rest[payoff]), root = sqrt(squares / n + mean * mean);
  return root * (mean > 0 ? fmin(fmax(root / mean, 1), 16) : 16);
}

/* How much one path that jumps changes a quantity. For a barrier only the order is known beforehand: the forward or the
 * strike. A knock-in that pays little would so be told the error of a forward. Therefore the jump is at most three
 * times E X^2/E X: the mean of what paths are paid, weighted by the payment itself. Three, because a path at a barrier
 * may be worth more than that mean: double knock-outs needed it in 100 seeds. X is the payment without the rebate,
 * which all other paths get. */
static double jump_worth(const option_run *run, double n, int q) {
  const int payoff = run->quantity[q].payoff;
  const double jump = run->jump[q], most = run->jump[payoff], rest = run->rest[payoff];
  const double mean = fabs(option_mean(run, payoff) - rest);
  double squares = 0;
  if (!(jump > 0 && most > 0 && mean > 0x1p-20 * rest) || run->unit > 1) return jump; /* also of no barrier: NaN */
  for (int g = 0; g < run->groups; g++) squares += run->squares[g * run->quantities + payoff];
  return jump * fmin(1, 3 * (squares / n / mean + mean) / most);
}

/* Change of the mean by one sample more or less: the cash of a digital where every path, or every scramble, gave the
 * same count, and of a Greek that is a difference of digitals where no path pays in one market alone. For other
 * quantities on Sobol points it is a deviation: where such a quantity is c with probability p and else 0, twice the
 * deviation is at least c for p from 0.15 to 0.85, and deviation^2/mean is c (1 - p) for small p. */
static double point_worth(const option_run *run, double n, int q) {
  double squares = 0;
  const double least = fmax(jump_worth(run, n, q), run->jump_factor[q] * typical_value(run, n, q));
  if (run->groups == 1) return least / n;
  for (int g = 0; g < run->groups; g++) squares += run->squares[g * run->quantities + q];
  const double deviation = sqrt(squares / n), mean = fabs(option_mean(run, q));
  const double share = mean > 0 ? fmin(fmax(deviation / mean, 2), 16) : 2;
  return fmax(share * deviation, least) / n;
}

/* Least error by the jumps of a function. Sobol points err less than random ones, but by the worth of two points: all
 * scrambles may miss a jump that some points are expected to meet. */
static double jump_error(const option_run *run, double n, int q) {
  const double random = run->jump_deviation[q] / sqrt(n);
  return run->groups == 1 ? random : fmin(random, 2 * run->jump[q] / n);
}

/* Standard error from the spread of samples, or of scrambles, alone. */
static double bare_spread(const option_run *run, double n, int q) {
  if (run->levels != NULL) return option_levels_error(run->levels, q);
  n /= run->unit;
  if (run->groups == 1) return n > 1 ? sqrt(run->squares[q] / (n - 1) / n) : NAN;
  const double mean = option_mean(run, q);
  double squares = 0;
  for (int g = 0; g < run->groups; g++) squares += pow(run->mean[g * run->quantities + q] - mean, 2);
  return n > 0 ? sqrt(squares / (run->groups - 1) / run->groups) : NAN;
}

static bool only_zeros(const option_run *run, double n, int q) {
  return option_mean(run, q) == 0 && !(bare_spread(run, n, q) > 0);
}

/* Whether every path got the same, other than 0, from a function that may jump: rarer paths may get anything. Of early
 * exercise, whose rest is 0, the spread alone tells. */
static bool only_one_value(const option_run *run, double n, int q) {
  const double median = run->rest[run->quantity[q].payoff];
  const double mean = option_mean(run, q), rest = median != 0 ? median : mean;
  const double off = fabs(mean - rest), size = fabs(rest);
  return run->jump_factor[q] > 0 && size > 0 && off <= 0x1p-40 * size &&
         !(bare_spread(run, n, q) * sqrt(n) > 0x1p-20 * size);
}

/* A price at a point of the ladder is unknown by its own paths. A change is, where either of its prices is; paths that
 * all get the same at both change nothing, but for a jump that none has met (option_run.jump). */
static bool is_unknown_point(const option_run *run, double n, int q) {
  const option_quantity *of = &run->quantity[q];
  if (run->certain || !(n > 0)) return false;
  if (!of->change) return only_zeros(run, n, q) || only_one_value(run, n, q);
  return is_unknown_point(run, n, q - 1) || only_zeros(run, n, of->payoff) || only_one_value(run, n, of->payoff);
}

/* A Greek of a payoff that no path has paid is as unknown as its price: bumped paths or a tie may give any number.
 * Where paths have paid, a difference that none has changed is 0, with the least error of a function that jumps. */
bool option_unpaid(const option_run *run, double n, int q) {
  const option_quantity *of = &run->quantity[q];
  if (of->point > 0) return is_unknown_point(run, n, q);
  const int named = of->payoff - (option_payoff_count(run->parameters) - (int)run->parameters->payoffs.count);
  const bool swap = named >= 0 && option_is_swap(&run->parameters->payoffs.items[named]);
  const bool by_asset = option_greek_by_asset(of->greek) || of->greek == OPTION_CROSS_GAMMA,
             by_spot = by_asset && !option_greek_is_vega(of->greek) && of->greek != OPTION_VOLGA;
  const bool zero = of->greek >= 0 && by_asset &&
                    ((swap && by_spot) || /* of the changes of the logarithm alone */
                     !option_payoff_feels(run->parameters, of->payoff, of->greek, of->asset) ||
                     (of->greek == OPTION_CROSS_GAMMA && !option_payoff_sees(run->parameters, of->payoff, of->second)));
  if (of->greek >= OPTION_BUCKETS && (zero || run->unmoved[q])) return false;
  const bool least = of->greek >= 0 && run->jump_deviation[q] + run->jump_factor[q] > 0;
  if (run->certain || zero || !(n > 0)) return false;
  if (run->levels != NULL) return option_level_unpaid(option_levels_sums(run->levels), of->payoff);
  return (only_zeros(run, n, q) && !least) || only_zeros(run, n, of->payoff) || only_one_value(run, n, of->payoff);
}

/* Rounding error of a second derivative that is a difference of prices: each price is off by 2^-52 of it in fp64,
 * 2^-24 in fp32, and is divided by both steps. The programs of different markets may round differently, on every path
 * in the same way, also where the payoff does not depend on what changes. In fp32 that is told of such payoffs alone,
 * whose derivative is 0: the rounding of others varies from path to path, so that the spread has it. */
static double difference_rounding(const option_run *run, int q) {
  const option_parameters *p = run->parameters;
  const option_quantity *of = &run->quantity[q];
  const bool single = option_is_single(p);
  if (of->greek < 0 || run->inverse_step[q] == 0 || of->point > 0) return 0;
  if (single && option_payoff_feels(p, of->payoff, of->greek, of->asset)) return 0;
  return 4 * (single ? 0x1p-24 : 0x1p-52) * fabs(option_mean(run, of->payoff)) * run->inverse_step[q];
}

/* Relative rounding error of a quantity (of a Greek: relative to its order of magnitude): 2^-20 for fp32 paths,
 * 2^-40 for fp64. A Greek with a control adds the control's own, a difference of formulas: 2^-33, 2^-25 for gamma. */
double option_rounding(const option_run *run, int q) {
  const option_parameters *p = run->parameters;
  const option_quantity *of = &run->quantity[q];
  const bool controlled = of->payoff == 0 && of->greek >= 0 && option_greek_is_controlled(of->greek) &&
                          p->sampling.control != OPTION_NO_CONTROL;
  double share = option_is_single(p) ? 0x1p-20 : 0x1p-40, size = fabs(option_mean(run, q));
  if (controlled) share = fmax(share, of->greek == OPTION_GAMMA ? 0x1p-25 : 0x1p-33);
  if (of->greek >= 0) size = fmax(size, option_greek_size(p, of, option_mean(run, of->payoff)));
  if (of->change) size = fmax(fabs(option_mean(run, q - 1)), fabs(option_mean(run, of->payoff)));
  return fmax(share * size, difference_rounding(run, q));
}

double option_carriers(const option_run *run, double n, int q) {
  if (run->certain || !(n > 0) || !(bare_spread(run, n, q) > option_rounding(run, q))) return INFINITY;
  if (run->levels != NULL) return option_level_carriers(option_levels_sums(run->levels), q);
  const double sum = run->tails[2 * q], squares = run->tails[2 * q + 1];
  return sum > 0 ? 1 / fmax(squares / (sum * sum) - run->group / n, 1 / n) : INFINITY;
}

/* Whether a path more or less changes a quantity by an amount that is known, which is its least error. */
static bool has_least(const option_run *run, int q) {
  return run->jump[q] + run->jump_deviation[q] + run->jump_factor[q] > 0;
}

/* Whether a payoff is a named one of this kind. */
bool option_is_kind(const option_run *run, int payoff, const sim_schema *schema) {
  const option_parameters *p = run->parameters;
  const int named = payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  return named >= 0 && p->payoffs.items[named].schema == schema;
}

/* Whether a Greek is carried by the paths that the kept rule exercises at another date, as the theta of an American
 * put: each changes by about a payment, and none by more than the strike. Of a put on 50 dates, 200 seeds: with 8
 * carriers the mean square of errors was 1.0 of what they told, with 4 to 8 it was 1.6. */
bool option_is_other_date(const option_run *run, int q) {
  const option_parameters *p = run->parameters;
  const option_quantity *of = &run->quantity[q];
  if (of->greek != OPTION_THETA || !option_is_kind(run, of->payoff, &option_american_schema)) return false;
  const int named = of->payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  const option_payoff *o = p->payoffs.items[named].data;
  return o->type == OPTION_PUT && o->exercise == NULL;
}

/* Whether the paths that a payoff pays may all get about the same: it jumps, or is exercised early. A payment that
 * grows from 0 on, as of a call, is never alike: of the call at 180 on a spot of 100, which 43 of 2^14 of Sobol's
 * points expect to pay, half of the seeds would seem so, those whose error is too small (mean square 1.7 of 300 seeds).
 */
static bool may_pay_alike(const option_run *run, int payoff) {
  static const sim_schema *const kinds[] = {&option_digital_schema,        &option_barrier_schema,
                                            &option_double_barrier_schema, &option_autocallable_schema,
                                            &option_accumulator_schema,    &option_american_schema};
  const option_parameters *p = run->parameters;
  bool any = payoff < option_payoff_count(p) - (int)p->payoffs.count && sim_expr_may_jump(p->payoff);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) any |= option_is_kind(run, payoff, kinds[k]);
  return any;
}

/* Fewer carriers than these tell no standard error. Paths that are paid get about the same where (sum y)^2 / sum y^2 of
 * a price is about the number of carriers. A barrier's price jumps, but by payments of all sizes: one path's worth is
 * no least error where few carry it. */
double option_carriers_needed(const option_run *run, double n, int q, double carriers) {
  const option_quantity *of = &run->quantity[q];
  double squares = 0;
  bool equal = false;
  if (has_least(run, q) && (of->greek >= 0 || !option_is_kind(run, of->payoff, &option_barrier_schema))) return 0;
  for (int g = 0; g < run->groups && run->levels == NULL; g++) squares += run->squares[g * run->quantities + q];
  if (of->greek < 0 && run->levels == NULL && run->unit == 1 && may_pay_alike(run, of->payoff)) {
    const double mean = option_mean(run, q);
    equal |= n * mean * mean < 1.5 * carriers * (squares / n + mean * mean);
  }
  if (equal || has_least(run, q) || option_is_other_date(run, q)) return OPTION_CARRIED_EQUAL;
  return of->greek >= 0 ? OPTION_CARRIED_GREEK : OPTION_CARRIED_LEAST;
}

/* Whether so few paths carry a quantity that its spread tells no error. */
static bool is_carried_by_few(const option_run *run, double n, int q) {
  const double carriers = option_carriers(run, n, q);
  return carriers < OPTION_CARRIED_LEAST && carriers < option_carriers_needed(run, n, q, carriers);
}

/* Whether no path has differed from the control of a price, which is another payoff: rarer ones may. */
bool option_only_control(const option_run *run, double n, int q) {
  const option_parameters *p = run->parameters;
  const option_quantity *of = &run->quantity[q];
  if (p->sampling.control != OPTION_CONTROL_UNDERLYING || of->greek >= 0 || run->certain || !(n > 0)) return false;
  return !(bare_spread(run, n, q) * sqrt(n) > 0x1p-40 * fabs(option_mean(run, q)));
}

/* Whether a gamma by differences has met no path near the strike: rounding alone. Of a floating strike or one that is a
 * share of a price, gamma is 0. */
static bool only_linear(const option_run *run, double n, int q) {
  const option_parameters *p = run->parameters;
  const option_quantity *of = &run->quantity[q];
  const int named = of->payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  if (of->greek != OPTION_GAMMA || named < 0 || run->certain || !(n > 0)) return false;
  const option_payoff *o = p->payoffs.items[named].data;
  return o->strike > 0 && !option_is_swap(&p->payoffs.items[named]) &&
         option_payoff_feels(p, of->payoff, of->greek, of->asset) &&
         fabs(option_mean(run, q)) <= option_rounding(run, q) && !(bare_spread(run, n, q) > option_rounding(run, q));
}

bool option_at_kink(const option_run *run, int q) {
  return run->kinked[q] && fabs(option_mean(run, q)) > 16 * option_rounding(run, q);
}

/* What the share of a step's error is of: the Greek, but of delta the slope of the payoff where it pays, E[X^2]/E[X] of
 * its sample X. Between 1 and 4 times the root of E[X^2], because E[X] may vanish; a delta of 1e-3 of the slope, whose
 * step is off by 0.04 of what it is by the kink, is covered, too. Of named payoffs that jump, X^2 is the jump's. */
static double stepped_size(const option_run *run, double n, int q) {
  const double mean = fabs(option_mean(run, q));
  const option_parameters *p = run->parameters;
  const int payoff = run->quantity[q].payoff, functions = option_payoff_count(p) - (int)p->payoffs.count;
  const bool jumps = payoff >= functions && (has_least(run, q) || option_is_early(p, payoff));
  double squares = 0;
  if (run->quantity[q].greek != OPTION_DELTA || run->step_share[q] == 0 || jumps) return mean;
  for (int g = 0; g < run->groups; g++) squares += run->squares[g * run->quantities + q];
  const double root = sqrt(squares * run->unit * run->unit / n + mean * mean);
  return root * (mean > 0 ? fmin(fmax(root / mean, 1), 4) : 4);
}

double option_spread(const option_run *run, double n, int q) {
  if (only_linear(run, n, q) || option_at_kink(run, q) || run->step_change[q] > 0) return NAN;
  if (option_unpaid(run, n, q) || is_carried_by_few(run, n, q) || option_only_control(run, n, q)) return NAN;
  const double spread = bare_spread(run, n, q);
  if (run->levels != NULL) return spread;
  if (isnan(spread)) return spread;
  const double by_step = hypot(run->step_error[q], run->step_share[q] * stepped_size(run, n, q));
  return hypot(fmax(fmax(spread, point_worth(run, n, q)), jump_error(run, n, q)), by_step);
}

double option_error(const option_run *run, double n, int q) {
  const double error = option_spread(run, n, q);
  return isnan(error) ? error : fmax(error, option_rounding(run, q));
}

/* The size of a quantity: of a Greek at least its order of magnitude for a payoff of this value. */
static double size_of(const option_run *run, int q, double value) {
  const option_quantity *of = &run->quantity[q];
  const double size = fabs(option_mean(run, q));
  return of->greek < 0 ? size : fmax(size, option_greek_size(run->parameters, of, value));
}

/* Rounding error of the difference between two fp64 numbers, each off by up to 2^-40. */
double option_shift_rounding(const option_run *run, int q) {
  return 0x1p-39 * size_of(run, q, option_mean(run, run->quantity[q].payoff));
}

double option_shift(const option_run *run, int q) {
  if (!(run->bias_chunks > 0 && run->bias_squares[q] >= 0)) return NAN;
  const double shift = run->bias_mean[q];
  return fabs(shift) > option_shift_rounding(run, q) ? shift : 0;
}

/* By the paths alone. */
static double shift_spread(const option_run *run, int q) {
  const double n = run->bias_chunks, squares = run->bias_squares[q];
  if (!(n > 1 && squares >= 0)) return NAN;
  if (run->bias_mean[q] == 0 && squares == 0) return NAN; /* no sampled path differs */
  return fmax(sqrt(squares / (n - 1) / n), option_shift_rounding(run, q));
}

/* What paths get that a wrong variance moves. Of an autocallable the deviation, for its cash is paid anyway: a relative
 * change e of the width of a normal z changes the mean of f(z) by e cov(f, z^2 - 1), at most root 2 e of f's deviation.
 * Of others the larger one of price and deviation: a payoff far out of the money is small, but not what its paths are
 * paid. */
static double typical_payment(const option_run *run, double n, int payoff) {
  const option_parameters *p = run->parameters;
  const int named = payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  const bool note = named >= 0 && p->payoffs.items[named].schema == &option_autocallable_schema;
  double squares = 0;
  for (int g = 0; g < run->groups; g++) squares += run->squares[g * run->quantities + payoff];
  return fmax(note ? 0 : fabs(option_mean(run, payoff)), n > 0 ? run->unit * sqrt(squares / n) : 0);
}

double option_shift_error(const option_run *run, double n, int q) {
  const int payoff = run->quantity[q].payoff;
  const double spread = shift_spread(run, q), order = option_bias_doubt(run->parameters) * option_shift(run, q);
  const double typical = typical_payment(run, n, payoff);
  const bool moved = spread > option_shift_rounding(run, q); /* not of an asset whose steps are exact */
  const double doubt = run->bias_doubt[payoff] * (q == payoff ? typical : size_of(run, q, typical));
  return hypot(spread, hypot(order, moved ? doubt : 0));
}

double option_upper(const option_run *run, int payoff) {
  return option_wants_upper(run->parameters) ? option_mean(run, payoff) + run->gap[payoff] : NAN;
}

double option_upper_error(const option_run *run, double n, int payoff) {
  return option_wants_upper(run->parameters) ? hypot(option_error(run, n, payoff), run->gap_error[payoff]) : NAN;
}

/* Whether the bias of a quantity is above three of its own errors by the paths, and above the standard error. */
bool option_is_shifted(const option_run *run, double n, int q) {
  const double shift = fabs(option_shift(run, q));
  return shift > 3 * shift_spread(run, q) && shift > option_error(run, n, q);
}
