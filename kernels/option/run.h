/* State of a run: sums over its samples, and the estimates that follow from them. */
#ifndef OPTION_RUN_H
#define OPTION_RUN_H

#include "kernels/option/ops.h"
#include "kernels/option/result/bias.h"

#include "engine/bytes.h"

typedef struct option_run {
  const option_parameters *parameters;
  const option_ops *ops;
  option_sampler *sampler;
  option_quantity *quantity;   /* [quantities], owned */
  int quantities, pair, batch; /* pair: paths of a sample; batch: of OPTION_BLOCK samples, of a step at most */
  int groups, block;           /* scrambles, each of which has means of its own; samples of a logical block */
  double round;                /* samples of a logical block of each scramble: a restart goes on from a multiple */
  int unit;                    /* samples whose mean counts as one */
  bool certain;                /* nothing is random: no asset has a volatility */
  double begin;                /* by the wall clock */
  double *mean, *squares;      /* of all samples so far: [groups][quantities] each, one behind the other */
  double *whole;               /* the same of the whole rounds: [2][groups][quantities] */
  double *block_mean, *block_squares;
  option_bias *bias;                             /* NULL: the steps are exact */
  double *bias_mean, *bias_squares, bias_chunks; /* [payoffs], of so many chunks */
  double cash[OPTION_PAYOFFS_MAX];               /* what a payoff jumps by, discounted, where that is known; or 0 */
} option_run;

static inline double option_samples(const option_run *run, double t) { return t / run->pair; }

double option_mean(const option_run *run, int quantity);
/* Standard error of a mean of n samples, by their spread; NaN while there is none, and where no path has paid: the
 * spread of zeros says nothing of rare payments. Of scrambles, which are independent, from their means, and no less
 * than what one point of all is worth: where a payoff jumps, all scrambles may count the same number of points. */
double option_spread(const option_run *run, double n, int quantity);
/* The standard error that is reported: no less than what rounding leaves. */
double option_error(const option_run *run, double n, int quantity);
/* Bias of a price by the time steps, 0 where only rounding is left of it; and its standard error, no less than
 * rounding. NaN: not known (yet), or no path has shown a difference. */
double option_shift(const option_run *run, int payoff);
double option_shift_error(const option_run *run, int payoff);
/* Whether all samples of a quantity were 0, although it may not be 0. */
bool option_unpaid(const option_run *run, double n, int quantity);

/* sim_model.report: the price, or a table of all prices and Greeks. */
void option_report(const void *self, const sim_clock *clock, sim_bytes *out);
/* sim_model.remark: nothing, or one line on what was asked for and not reached. */
void option_remark(const void *self, const sim_clock *clock, sim_bytes *out);

#endif
