/* The remark of a run: one line on a request that was not met. */
#include "kernels/option/result/result.h"

#include <math.h>
#include <stdio.h>

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
    const double needed = option_carriers_needed(run, n, q, carriers);
    if (needed == 0 &&
        (option_is_kind(run, run->quantity[q].payoff, &option_digital_schema) || !(carriers < OPTION_CARRIED_GREEK)))
      continue;
    const double enough = option_is_other_date(run, q) ? OPTION_CARRIED_GREEK : needed;
    if (needed == OPTION_CARRIED_EQUAL && !(carriers < enough)) continue;
    count++;
    if (!(carriers < least) || (q >= payoffs && worst >= 0 && worst < payoffs)) continue;
    least = carriers;
    worst = q;
  }
  if (worst < 0) return;
  const option_quantity *of = &run->quantity[worst];
  char name[OPTION_PAYOFF_NAME], what[40];
  option_payoff_name(p, of->payoff, name, sizeof name);
  option_column_name(p, of, what, sizeof what);
  sim_bytes_format(out, "%sabout %.0f of %.0f paths carry the %s of %s%s", out->size > 0 ? "; " : "",
                   fmax(floor(least), 1) * run->pair, n * run->pair, what, name, of->point > 0 ? " in the ladder" : "");
  if (count > 1) sim_bytes_format(out, " (and %d more numbers have few)", count - 1);
  sim_bytes_format(out, ": rarer paths may be worth more, and its error %s; expected more paths%s",
                   isnan(option_error(run, n, worst)) ? "is unknown" : "may be too small",
                   of->greek >= 0                                     ? ", or another greeks.method"
                   : p->sampling.control == OPTION_CONTROL_UNDERLYING ? ", or control = \"none\""
                                                                      : ", or a control");
}

/* Remarks on a second derivative at a kink, or a Greek at a level. */
static void remark_kink(const option_run *run, sim_bytes *out) {
  int first = -1, count = 0;
  char name[OPTION_PAYOFF_NAME], what[40];
  for (int q = 0; q < run->told; q++) {
    if (!option_at_kink(run, q)) continue;
    if (first < 0) first = q;
    count++;
  }
  if (count == 0) return;
  option_payoff_name(run->parameters, run->quantity[first].payoff, name, sizeof name);
  option_column_name(run->parameters, &run->quantity[first], what, sizeof what);
  sim_bytes_format(out, "%sthe %s of %s", out->size > 0 ? "; " : "", what, name);
  if (count > 1) sim_bytes_format(out, " (and %d more)", count - 1);
  const option_quantity *of = &run->quantity[first];
  sim_bytes_text(out,
                 run->parameters->level[of->payoff][of->asset] == 0
                     ? ": the spot is at a level of its continuous extremes, where this derivative jumps; its error "
                       "is unknown; expected another spot, or another level"
                     : ": nothing random smooths the kinks of its payoff or exercise, so that this derivative may be "
                       "infinite; its error is unknown");
}

/* Remarks on the Greek whose step is too long by most. */
static void remark_steps(const option_run *run, sim_bytes *out) {
  int worst = -1, count = 0;
  char name[OPTION_PAYOFF_NAME], what[40];
  for (int q = 0; q < run->told; q++) {
    if (!(run->step_change[q] > 0)) continue;
    if (worst < 0 || run->step_change[q] > run->step_change[worst]) worst = q;
    count++;
  }
  if (count == 0) return;
  option_payoff_name(run->parameters, run->quantity[worst].payoff, name, sizeof name);
  option_column_name(run->parameters, &run->quantity[worst], what, sizeof what);
  sim_bytes_format(out, "%shalf the step changes the %s of %s by %.2g %%", out->size > 0 ? "; " : "", what, name,
                   100 * fmin(run->step_change[worst], 9.99));
  if (count > 1) sim_bytes_format(out, " (and %d more numbers by 5 %% or more)", count - 1);
  sim_bytes_text(out,
                 ": the payoff bends within less than the step, and what is told is the Greek of a smoother one; its "
                 "error is unknown");
}

/* Remarks on a payoff whose short steps others have to share. */
static void remark_cramped(const option_run *run, sim_bytes *out) {
  char name[OPTION_PAYOFF_NAME];
  if (run->parameters->cramped == 0) return;
  option_payoff_name(run->parameters, run->parameters->cramped - 1, name, sizeof name);
  sim_bytes_format(out,
                   "%swhat %s compares deviates by so little that Greeks of other payoffs, which share the short steps "
                   "of its differences, have larger errors; expected it in a run of its own",
                   out->size > 0 ? "; " : "", name);
}

/* Remarks on a price that is its control's alone. */
static void remark_control(const option_run *run, double n, sim_bytes *out) {
  char name[OPTION_PAYOFF_NAME];
  for (int k = 0; k < option_payoff_count(run->parameters); k++) {
    if (!option_only_control(run, n, k)) continue;
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
    if (!option_is_shifted(run, n, q) || !(ratio > most) || (q >= payoffs && worst >= 0 && worst < payoffs)) continue;
    most = ratio;
    worst = q;
  }
  if (worst < 0) return;
  char name[OPTION_PAYOFF_NAME], shift[64], what[40];
  option_payoff_name(run->parameters, run->quantity[worst].payoff, name, sizeof name);
  option_column_name(run->parameters, &run->quantity[worst], what, sizeof what);
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
  option_remark_scrambles(run, n, out);
  remark_kink(run, out);
  remark_steps(run, out);
  remark_cramped(run, out);
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
