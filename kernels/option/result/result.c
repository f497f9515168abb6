/* Means and standard errors of a run, its report and its remark. */
#include "kernels/option/models/rough.h"
#include "kernels/option/result/leverage.h"
#include "kernels/option/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- means and errors ---- */

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
static double rounding(const option_run *run, int q) {
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
  if (run->certain || !(n > 0) || !(bare_spread(run, n, q) > rounding(run, q))) return INFINITY;
  if (run->levels != NULL) return option_level_carriers(option_levels_sums(run->levels), q);
  const double sum = run->tails[2 * q], squares = run->tails[2 * q + 1];
  return sum > 0 ? 1 / fmax(squares / (sum * sum) - run->group / n, 1 / n) : INFINITY;
}

/* Whether a path more or less changes a quantity by an amount that is known, which is its least error. */
static bool has_least(const option_run *run, int q) {
  return run->jump[q] + run->jump_deviation[q] + run->jump_factor[q] > 0;
}

/* Whether a payoff is a named one of this kind. */
static bool is_kind(const option_run *run, int payoff, const sim_schema *schema) {
  const option_parameters *p = run->parameters;
  const int named = payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  return named >= 0 && p->payoffs.items[named].schema == schema;
}

/* Fewer carriers than these tell no standard error. Paths that are paid get about the same where (sum y)^2 / sum y^2 of
 * a price is about the number of carriers. A barrier's price jumps, but by payments of all sizes: one path's worth is
 * no least error where few carry it. */
static double carriers_needed(const option_run *run, double n, int q, double carriers) {
  const option_quantity *of = &run->quantity[q];
  double squares = 0;
  bool equal = false;
  if (has_least(run, q) && (of->greek >= 0 || !is_kind(run, of->payoff, &option_barrier_schema))) return 0;
  for (int g = 0; g < run->groups && run->levels == NULL; g++) squares += run->squares[g * run->quantities + q];
  if (of->greek < 0 && run->levels == NULL && run->unit == 1) {
    const double mean = option_mean(run, q);
    equal |= n * mean * mean < 1.5 * carriers * (squares / n + mean * mean);
  }
  if (equal || has_least(run, q)) return OPTION_CARRIED_EQUAL;
  return of->greek >= 0 ? OPTION_CARRIED_GREEK : OPTION_CARRIED_LEAST;
}

/* Whether so few paths carry a quantity that its spread tells no error. */
static bool is_carried_by_few(const option_run *run, double n, int q) {
  const double carriers = option_carriers(run, n, q);
  return carriers < OPTION_CARRIED_LEAST && carriers < carriers_needed(run, n, q, carriers);
}

/* Whether no path has differed from the control of a price, which is another payoff: rarer ones may. */
static bool only_control(const option_run *run, double n, int q) {
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
         option_payoff_feels(p, of->payoff, of->greek, of->asset) && fabs(option_mean(run, q)) <= rounding(run, q) &&
         !(bare_spread(run, n, q) > rounding(run, q));
}

double option_spread(const option_run *run, double n, int q) {
  if (only_linear(run, n, q)) return NAN;
  if (option_unpaid(run, n, q) || is_carried_by_few(run, n, q) || only_control(run, n, q)) return NAN;
  const double spread = bare_spread(run, n, q);
  if (run->levels != NULL) return spread;
  return isnan(spread) ? spread : fmax(fmax(spread, point_worth(run, n, q)), jump_error(run, n, q));
}

double option_error(const option_run *run, double n, int q) {
  const double error = option_spread(run, n, q);
  return isnan(error) ? error : fmax(error, rounding(run, q));
}

/* The size of a quantity: of a Greek at least its order of magnitude for a payoff of this value. */
static double size_of(const option_run *run, int q, double value) {
  const option_quantity *of = &run->quantity[q];
  const double size = fabs(option_mean(run, q));
  return of->greek < 0 ? size : fmax(size, option_greek_size(run->parameters, of, value));
}

/* Rounding error of the difference between two fp64 numbers, each off by up to 2^-40. */
static double shift_rounding(const option_run *run, int q) {
  return 0x1p-39 * size_of(run, q, option_mean(run, run->quantity[q].payoff));
}

double option_shift(const option_run *run, int q) {
  if (!(run->bias_chunks > 0 && run->bias_squares[q] >= 0)) return NAN;
  const double shift = run->bias_mean[q];
  return fabs(shift) > shift_rounding(run, q) ? shift : 0;
}

/* By the paths alone. */
static double shift_spread(const option_run *run, int q) {
  const double n = run->bias_chunks, squares = run->bias_squares[q];
  if (!(n > 1 && squares >= 0)) return NAN;
  if (run->bias_mean[q] == 0 && squares == 0) return NAN; /* no sampled path differs */
  return fmax(sqrt(squares / (n - 1) / n), shift_rounding(run, q));
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
  const bool moved = spread > shift_rounding(run, q); /* not of an asset whose steps are exact */
  const double doubt = run->bias_doubt[payoff] * (q == payoff ? typical : size_of(run, q, typical));
  return hypot(spread, hypot(order, moved ? doubt : 0));
}

double option_upper(const option_run *run, int payoff) {
  return option_wants_upper(run->parameters) ? option_mean(run, payoff) + run->gap[payoff] : NAN;
}

double option_upper_error(const option_run *run, double n, int payoff) {
  return option_wants_upper(run->parameters) ? hypot(option_error(run, n, payoff), run->gap_error[payoff]) : NAN;
}

/* ---- report ---- */

void option_cell_text(double value, double error, char *out, size_t capacity) {
  const int digits = error > 0 && isfinite(error) ? 1 - (int)floor(log10(error)) : 6;
  if (isnan(error))
    snprintf(out, capacity, "%.6g +- ?", value);
  else if (error == 0)
    snprintf(out, capacity, "%.9g +- 0", value);
  else if (digits < 0 || digits > 9 || fabs(value) >= 1e9)
    snprintf(out, capacity, "%.10g +- %.1e", value, error);
  else
    snprintf(out, capacity, "%.*f +- %.*f", digits, value, digits, error);
}

/* The cell of a quantity: "0" where value and error are rounding alone, as a Greek by an asset that a payoff does not
 * see. */
static void quantity_text(const option_run *run, double n, int q, char *out, size_t capacity) {
  const double value = option_mean(run, q), error = option_error(run, n, q), least = rounding(run, q);
  if (fabs(value) <= least && error <= least)
    snprintf(out, capacity, "0");
  else if (fabs(value) <= least && isnan(error) && run->quantity[q].greek >= 0)
    snprintf(out, capacity, "unknown");
  else
    option_cell_text(value, error, out, capacity);
}

void option_row_name(const option_parameters *p, int payoff, char *out, size_t capacity) {
  static const char *const types[] = {" call", " put"}, *const ways[] = {"down", "up"}, *const knocks[] = {"out", "in"};
  const int functions = option_payoff_count(p) - (int)p->payoffs.count;
  if (payoff < functions) {
    snprintf(out, capacity, functions > 1 ? "%d result of payoff" : "%d payoff", payoff + 1);
    return;
  }
  const sim_item *item = &p->payoffs.items[payoff - functions];
  const option_payoff *o = item->data;
  if (o->name != NULL) {
    snprintf(out, capacity, "%d %s", payoff + 1, o->name);
    return;
  }
  const bool note = item->schema == &option_autocallable_schema, barrier = item->schema == &option_barrier_schema;
  const bool swap = option_is_swap(item), untyped = note || swap || o->exercise != NULL;
  const bool two = item->schema == &option_double_barrier_schema,
             forward = item->schema == &option_forward_start_schema;
  const bool bermudan = item->schema == &option_american_schema && (o->every > 1 || o->dates.rows > 0);
  static const char *const ons[] = {"", " on the best", " on the worst", " on the basket"};
  static const char *const ways_of_exchange[] = {"", "quanto", "composite", "converted"};
  char kind[32], strike[24] = "", level[48] = "", asset[16] = "";
  snprintf(kind, sizeof kind, "%s", bermudan ? "bermudan" : item->schema->name);
  if (barrier) snprintf(kind, sizeof kind, "%s-%s", ways[o->direction], knocks[o->knock]);
  if (two) snprintf(kind, sizeof kind, "double-%s", knocks[o->knock]);
  if (swap)
    snprintf(kind, sizeof kind, "%s",
             item->schema == &option_variance_swap_schema ? "variance-swap" : "volatility-swap");
  if (forward) {
    snprintf(kind, sizeof kind, "forward-start");
    if (o->start > 0)
      snprintf(level, sizeof level, ", %.6g from step %lld", o->moneyness, (long long)o->start);
    else
      snprintf(level, sizeof level, ", %.6g from %.6g", o->moneyness, o->start_time);
  }
  if (!note && !forward && !isnan(o->strike)) snprintf(strike, sizeof strike, " %.6g", o->strike);
  if (o->level > 0) snprintf(level, sizeof level, " at %.6g", o->level);
  if (two) snprintf(level, sizeof level, " at %.6g, %.6g", o->low, o->high);
  if (item->schema == &option_american_schema) snprintf(level, sizeof level, "%s", ons[o->on]);
  if (p->assets.count > 1 && o->asset > 0) snprintf(asset, sizeof asset, " of %d", (int)o->asset);
  snprintf(out, capacity, "%d %s%s%s%s%s%s", payoff + 1, kind, untyped ? "" : types[o->type], strike, asset, level,
           o->monitoring == OPTION_CONTINUOUS ? ", continuous" : "");
  size_t used = strlen(out);
  if (o->from > 0) used += (size_t)snprintf(out + used, capacity - used, " from %.6g", o->from);
  if (o->to > 0) used += (size_t)snprintf(out + used, capacity - used, " until %.6g", o->to);
  if (o->maturity > 0) used += (size_t)snprintf(out + used, capacity - used, ", to %.6g", o->maturity);
  if (o->exchange != OPTION_NO_EXCHANGE) snprintf(out + used, capacity - used, ", %s", ways_of_exchange[o->exchange]);
}

/* "vega at 0.5 of asset 2": by the node at t = 0.5 */
static void bucket_name(const option_parameters *p, const option_quantity *of, char *out, size_t capacity) {
  const double t = p->bucket[of->greek - OPTION_BUCKETS][of->bucket].t;
  char asset[20] = "";
  const bool by_vol = of->greek == OPTION_VEGA_BUCKET;
  if (by_vol && p->assets.count > 1) snprintf(asset, sizeof asset, " of asset %hd", (short)(of->asset + 1));
  snprintf(out, capacity, "%s at %.6g%s", by_vol ? "vega" : "rho", t, asset);
}

/* "delta of asset 2" */
static void column_name(const option_parameters *p, const option_quantity *of, char *out, size_t capacity) {
  if (of->greek < 0)
    snprintf(out, capacity, "price");
  else if (of->greek == OPTION_CROSS_GAMMA)
    snprintf(out, capacity, "cross_gamma of assets %d and %d", of->asset + 1, of->second + 1);
  else if (of->greek >= OPTION_BUCKETS)
    bucket_name(p, of, out, capacity);
  else if (option_greek_by_asset(of->greek) && p->assets.count > 1)
    snprintf(out, capacity, "%s of asset %d", option_greek_names[of->greek], of->asset + 1);
  else
    snprintf(out, capacity, "%s", option_greek_names[of->greek]);
}

/* Index of the quantity: a payoff's price (column 0) or its Greek. */
static int place_of(int payoffs, int columns, int payoff, int column) {
  return column == 0 ? payoff : payoffs + payoff * (columns - 1) + column - 1;
}

/* Whether the bias of a quantity is above three of its own errors by the paths, and above the standard error. */
static bool is_shifted(const option_run *run, double n, int q) {
  const double shift = fabs(option_shift(run, q));
  return shift > 3 * shift_spread(run, q) && shift > option_error(run, n, q);
}

/* Reports the bias of each price, of the Greeks of a single payoff, and of those of several whose bias shows. */
static void report_bias(const option_run *run, double n, sim_bytes *out) {
  const int payoffs = option_payoff_count(run->parameters);
  char name[128] = "", cell[64], greek[48] = "";
  for (int q = 0; q < run->told && run->bias != NULL; q++) {
    if (q >= payoffs && payoffs > 1 && !is_shifted(run, n, q)) continue;
    if (payoffs > 1) option_row_name(run->parameters, run->quantity[q].payoff, name, sizeof name);
    if (q >= payoffs) {
      snprintf(greek, sizeof greek, ", of ");
      column_name(run->parameters, &run->quantity[q], greek + 5, sizeof greek - 5);
    }
    const double shift = option_shift(run, q), error = option_shift_error(run, n, q);
    option_cell_text(shift, error, cell, sizeof cell);
    if (shift == 0 && error <= shift_rounding(run, q)) snprintf(cell, sizeof cell, "0 but for rounding");
    sim_bytes_format(out, "bias %s of the time steps, not in the standard error%s%s%s\n", cell, greek,
                     payoffs > 1 ? ": " : "", name);
  }
}

/* Reports the upper bound of each price that has one. */
static void report_upper(const option_run *run, double n, sim_bytes *out) {
  const int payoffs = option_payoff_count(run->parameters);
  char name[128] = "", cell[64];
  for (int k = 0; k < payoffs; k++) {
    if (isnan(option_upper(run, k))) continue;
    if (payoffs > 1) option_row_name(run->parameters, k, name, sizeof name);
    option_cell_text(option_upper(run, k), option_upper_error(run, n, k), cell, sizeof cell);
    sim_bytes_format(out, "upper bound %s, of the best rule for exercise%s%s\n", cell, payoffs > 1 ? ": " : "", name);
  }
}

/* Reports the exposure of each date, and the adjustments. */
static void report_exposure(const option_run *run, sim_bytes *out) {
  char cell[3][64];
  if (run->exposure == NULL) return;
  sim_bytes_format(out, "exposure at  %-24s %-24s PFE, %.6g of all paths below\n", "EPE", "ENE",
                   run->parameters->exposure.quantile);
  for (int d = 0; d < run->parameters->exposures; d++) {
    const option_exposure_row *row = &run->exposure->row[d];
    option_cell_text(row->epe, row->epe_error, cell[0], sizeof cell[0]);
    option_cell_text(row->ene, row->ene_error, cell[1], sizeof cell[1]);
    option_cell_text(row->pfe, row->pfe_error, cell[2], sizeof cell[2]);
    sim_bytes_format(out, "%-12.6g %-24s %-24s %s\n", row->time, cell[0], cell[1], cell[2]);
  }
  option_cell_text(run->exposure->cva, run->exposure->cva_error, cell[0], sizeof cell[0]);
  option_cell_text(run->exposure->dva, run->exposure->dva_error, cell[1], sizeof cell[1]);
  if (!isnan(run->exposure->cva)) sim_bytes_format(out, "CVA %s, to be subtracted\n", cell[0]);
  if (!isnan(run->exposure->dva)) sim_bytes_format(out, "DVA %s, to be added\n", cell[1]);
}

void option_report(const void *self, const sim_clock *clock, sim_bytes *out) {
  enum { ACROSS = 3, NAME = 42, CELL = 24 };
  const option_run *run = self;
  const option_parameters *p = run->parameters;
  const double n = option_samples(run, clock->t);
  const int payoffs = option_payoff_count(p), columns = run->told / payoffs;
  char text[128];
  for (int c = 0; c < columns && payoffs == 1; c++) { /* one line each */
    char name[40];
    column_name(p, &run->quantity[c], name, sizeof name);
    if (columns == 1 && !isnan(option_error(run, n, c)))
      snprintf(text, sizeof text, "%.8g +- %.2g", option_mean(run, c), option_error(run, n, c));
    else
      quantity_text(run, n, c, text, sizeof text);
    sim_bytes_format(out, "%-*s %s\n", columns == 1 ? 0 : p->assets.count > 1 ? 16 : 5, name, text);
  }
  int width = NAME; /* at least */
  for (int row = 0; row < payoffs; row++) {
    option_row_name(p, row, text, sizeof text);
    if (width < (int)strlen(text)) width = (int)strlen(text);
  }
  for (int from = 0; from < columns && payoffs > 1; from += ACROSS) {
    const int to = from + ACROSS < columns ? from + ACROSS : columns;
    for (int row = -1; row < payoffs; row++) {
      if (row >= 0)
        option_row_name(p, row, text, sizeof text);
      else
        snprintf(text, sizeof text, "payoff");
      sim_bytes_format(out, "%-*s", width, text);
      for (int c = from; c < to; c++) {
        const int q = place_of(payoffs, columns, row < 0 ? 0 : row, c);
        if (row < 0)
          column_name(p, &run->quantity[q], text, sizeof text);
        else
          quantity_text(run, n, q, text, sizeof text);
        sim_bytes_format(out, c + 1 < to ? " %-*s" : " %*s", c + 1 < to ? CELL : 0, text);
      }
      sim_bytes_text(out, "\n");
    }
  }
  report_bias(run, n, out);
  report_upper(run, n, out);
  option_leverage_report(run, out);
  report_exposure(run, out);
  option_ladder_report(run, n, out);
  if (run->levels != NULL) option_levels_report(run->levels, p, out);
}

/* ---- remark ---- */

static void remark_unpaid(const option_run *run, double n, sim_bytes *out) {
  int first = -1, count = 0;
  char name[OPTION_PAYOFF_NAME];
  for (int k = 0; k < option_payoff_count(run->parameters); k++) {
    if (!option_unpaid(run, n, k)) continue;
    if (first < 0) first = k;
    count++;
  }
  if (count == 0) return;
  option_payoff_name(run->parameters, first, name, sizeof name);
  if (option_mean(run, first) != 0)
    sim_bytes_format(out, "all of %.0f paths got %.6g from %s, which may jump", n * run->pair, option_mean(run, first),
                     name);
  else
    sim_bytes_format(out, "no path of %.0f paid by %s", n * run->pair, name);
  if (count > 1) sim_bytes_format(out, " (and %d more payoffs)", count - 1);
  sim_bytes_text(out, option_mean(run, first) != 0
                          ? ": rarer paths may get more or less, and the error is unknown"
                          : ": the price comes from rarer paths, or is 0, and its error is unknown");
}

/* Remarks on the price or Greek that the fewest paths carry, relative to what its error needs: a price before any
 * Greek.
 */
static void remark_few(const option_run *run, double n, sim_bytes *out) {
  const option_parameters *p = run->parameters;
  const int payoffs = option_payoff_count(p);
  double least = OPTION_CARRIED;
  int worst = -1, count = 0;
  for (int q = 0; q < run->quantities; q++) {
    const double carriers = option_carriers(run, n, q);
    if (option_unpaid(run, n, q) || !(carriers < OPTION_CARRIED)) continue;
    const double needed = carriers_needed(run, n, q, carriers);
    if (needed == 0 &&
        (is_kind(run, run->quantity[q].payoff, &option_digital_schema) || !(carriers < OPTION_CARRIED_GREEK)))
      continue;
    if (needed == OPTION_CARRIED_EQUAL && !(carriers < needed)) continue;
    count++;
    if (!(carriers < least) || (q >= payoffs && worst >= 0 && worst < payoffs)) continue;
    least = carriers;
    worst = q;
  }
  if (worst < 0) return;
  const option_quantity *of = &run->quantity[worst];
  char name[OPTION_PAYOFF_NAME], what[40];
  option_payoff_name(p, of->payoff, name, sizeof name);
  column_name(p, of, what, sizeof what);
  sim_bytes_format(out, "%sabout %.0f of %.0f paths carry the %s of %s%s", out->size > 0 ? "; " : "",
                   fmax(floor(least), 1) * run->pair, n * run->pair, what, name, of->point > 0 ? " in the ladder" : "");
  if (count > 1) sim_bytes_format(out, " (and %d more numbers have few)", count - 1);
  sim_bytes_format(out, ": rarer paths may be worth more, and its error %s; expected more paths%s",
                   isnan(option_error(run, n, worst)) ? "is unknown" : "may be too small",
                   of->greek >= 0                                     ? ", or another greeks.method"
                   : p->sampling.control == OPTION_CONTROL_UNDERLYING ? ", or control = \"none\""
                                                                      : ", or a control");
}

/* Remarks on a price that is its control's alone. */
static void remark_control(const option_run *run, double n, sim_bytes *out) {
  char name[OPTION_PAYOFF_NAME];
  for (int k = 0; k < option_payoff_count(run->parameters); k++) {
    if (!only_control(run, n, k)) continue;
    option_payoff_name(run->parameters, k, name, sizeof name);
    sim_bytes_format(out,
                     "%sno path of %.0f tells %s from its control: what rarer paths add, and the error, are unknown; "
                     "expected more paths, or control = \"none\"",
                     out->size > 0 ? "; " : "", n * run->pair, name);
    return;
  }
}

/* Remarks on the price or Greek whose bias is largest relative to its error, where it significantly exceeds the error:
 * a price before any Greek. */
static void remark_bias(const option_run *run, double n, sim_bytes *out) {
  const int payoffs = option_payoff_count(run->parameters);
  int worst = -1;
  double most = 0;
  for (int q = 0; q < run->told && run->bias != NULL; q++) {
    const double ratio = fabs(option_shift(run, q)) / option_error(run, n, q);
    if (!is_shifted(run, n, q) || !(ratio > most) || (q >= payoffs && worst >= 0 && worst < payoffs)) continue;
    most = ratio;
    worst = q;
  }
  if (worst < 0) return;
  char name[OPTION_PAYOFF_NAME], shift[64], what[40];
  option_payoff_name(run->parameters, run->quantity[worst].payoff, name, sizeof name);
  column_name(run->parameters, &run->quantity[worst], what, sizeof what);
  option_cell_text(option_shift(run, worst), option_shift_error(run, n, worst), shift, sizeof shift);
  sim_bytes_format(out,
                   "%sthe time steps shift the %s of %s by about %s, which is more than its standard error %.2g: "
                   "expected more than steps = %lld",
                   out->size > 0 ? "; " : "", what, name, shift, option_error(run, n, worst),
                   (long long)run->parameters->steps);
}

/* Whether the run has all the paths that it may have; a multilevel run takes them in pieces. */
static bool is_full(const option_run *run, double t) {
  const double least = run->levels != NULL ? OPTION_LEVELS_PIECE * (double)run->pair : 1;
  return t + least > run->parameters->sampling.paths;
}

/* Whether a multilevel run has ended because no finer steps are possible. */
static bool is_at_finest(const option_run *run, double t) {
  return run->levels != NULL && option_levels_next(run->levels).samples == 0 && !is_full(run, t);
}

void option_remark(const void *self, const sim_clock *clock, sim_bytes *out) {
  const option_run *run = self;
  const option_sampling *s = &run->parameters->sampling;
  const double n = option_samples(run, clock->t);
  double by_paths = 0, reported = 0;
  remark_unpaid(run, n, out);
  remark_control(run, n, out);
  remark_few(run, n, out);
  bool unknown = false;
  for (int k = 0; k < option_payoff_count(run->parameters); k++) unknown |= isnan(option_spread(run, n, k));
  remark_bias(run, n, out);
  if (isnan(s->standard_error)) return;
  for (int k = 0; k < option_payoff_count(run->parameters); k++) {
    by_paths = fmax(by_paths, option_spread(run, n, k));
    reported = fmax(reported, option_error(run, n, k));
  }
  if (unknown || by_paths > s->standard_error) {
    sim_bytes_format(out, "%sstandard_error = %.3g is not reached", out->size > 0 ? "; " : "", s->standard_error);
    if (by_paths > s->standard_error) sim_bytes_format(out, ": it is %.3g", by_paths);
    const bool finest = is_at_finest(run, clock->t);
    if (finest && !(by_paths > s->standard_error))
      sim_bytes_format(out, " after %.0f paths, as an error is unknown", clock->t);
    else
      sim_bytes_format(out, " after %.0f paths, where %s ended the run", clock->t,
                       finest                   ? "the bias of the finest steps that are possible"
                       : is_full(run, clock->t) ? "sampling.paths"
                       : s->time > 0            ? "sampling.time"
                                                : "stop_when");
  } else if (reported > s->standard_error) {
    sim_bytes_format(out, "%sstandard_error = %.3g is below what rounding leaves: %.3g%s", out->size > 0 ? "; " : "",
                     s->standard_error, reported,
                     run->parameters->common.precision != SIM_DOUBLE ? "; precision = \"double\" leaves less" : "");
  }
}
