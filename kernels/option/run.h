/* State of a run: sums over its samples, and the estimates computed from them. */
#ifndef OPTION_RUN_H
#define OPTION_RUN_H

#include "kernels/option/exposure/exposure.h"
#include "kernels/option/multilevel/levels.h"
#include "kernels/option/ops.h"
#include "kernels/option/result/bias.h"

#include "engine/memory/bytes.h"

#include <math.h>

/* A sampler of the points of the ladder from `first` on: the parameters of its estimate, which has the prices of all
 * payoffs before them. */
typedef struct option_ladder_part {
  option_parameters p;
  option_sampler *sampler;
} option_ladder_part;

typedef struct option_run {
  const option_parameters *parameters;
  const option_ops *ops;
  const sim_comm *comm;
  option_sampler *sampler;
  option_quantity *quantity;   /* [quantities], owned */
  int quantities, pair, batch; /* pair: paths of a sample; batch: blocks (OPTION_BLOCK samples) of a step, at most */
  int told;                    /* quantities without those of the ladder, which come last */
  option_ladder_part *part;    /* [parts], owned: of the ladder */
  int parts;
  double *part_mean, *part_squares,
      *part_tails;        /* room for a step of the largest part, or of the other quantities; owned */
  double *dataset;        /* numbers of the dataset given last; owned */
  const char **labels;    /* and its labels, with their texts behind them; owned */
  sim_setup setup;        /* with which the run was created */
  int groups, block;      /* groups: scrambles, each with its own mean; block: samples of a logical block */
  double round;           /* samples in one logical block of every scramble; a restart begins at a multiple */
  int unit;               /* samples whose mean counts as one independent sample */
  bool certain;           /* nothing is random: no asset has a volatility */
  double begin;           /* wall-clock time at the beginning */
  double *mean, *squares; /* over all samples so far: [groups][quantities] each, contiguous */
  double *whole;          /* mean and squares of the whole rounds: [2][groups][quantities] */
  double *block_mean, *block_squares, *block_tails;
  double *tails,
      *whole_tails;      /* [quantities][2] each: see option_ops.sample; over all samples, and over whole rounds */
  double group;          /* samples of a group of `tails` */
  option_levels *levels; /* owned; NULL: not multilevel */
  option_bias *bias;     /* NULL: the steps are exact, or multilevel */
  double *bias_mean, *bias_squares, bias_chunks; /* [quantities]; from bias_chunks chunks */
  double *bias_doubt; /* [payoffs]: standard error of the bias by long steps (Heston), as a share of a payment */
  /* [payoffs], discounted: of barriers what they pay where they leave no European payoff; of functions that may jump
   * the median of what they pay; else NaN */
  double *rest;
  double *gap, *gap_error; /* [payoffs] each: by how much the upper bound is above the price; NaN: no bound */
  struct option_quote
      *quotes; /* [assets][OPTION_QUOTES] of calibrated leverage functions, owned; NULL: there are none */
  option_exposures *exposure; /* owned; NULL: not asked for */
  bool *unmoved; /* [quantities], owned, of Greeks by nodes: the payoff sees no time at which the node changes the curve
                  */
  double *jump;  /* [quantities], by which a path more or less changes the quantity, where it is known; else 0 */
  /* [quantities], of functions that may jump: the deviation of a sample by jumps; and the factor of a jump as high as
   * the payoff's typical value, where too few paths carry the payoff for that deviation. Else 0. */
  double *jump_deviation, *jump_factor;
  bool *kinked;         /* [quantities], behind unmoved: second derivatives that may be infinite, option_has_kink */
  double *inverse_step; /* [quantities], 1 over the product of the two steps of a second derivative, else 0 */
  /* [quantities] of result/steps.c: the error of a step as half the step shows it, else 0; and, where the payoff bends
   * within less than the step, by which share half the step changes the Greek, else 0 */
  double *step_error, *step_change;
  double *step_share; /* [quantities], the error of a step by what the payoff compares, as a share of the Greek */
} option_run;

static inline double option_samples(const option_run *run, double t) { return t / run->pair; }

/* Paths in this many logical blocks, at most those of the run. */
static inline double option_paths_of(const option_parameters *p, double blocks) {
  return fmin(blocks * OPTION_BLOCK * (p->sampling.antithetic ? 2 : 1), p->sampling.paths);
}

/* model.c's entries in files of their own: see sim_model. */
sim_status option_plan(const void *parameters, const sim_setup *setup, sim_plan *out) SIM_MUST_CHECK;
sim_status option_step(void *self, sim_clock *clock) SIM_MUST_CHECK;
sim_status option_observe(void *self, const sim_clock *clock, int table, double *values) SIM_MUST_CHECK;
sim_status option_view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) SIM_MUST_CHECK;
/* Paths after which a run that has done t paths ends, as its sums tell. */
double option_end_of(const option_run *run, double t);

/* state.c: sim_model.state; bytes of a checkpoint. */
extern const sim_field option_state[];
double option_state_bytes(const option_parameters *p);
/* Takes the sums of a checkpoint, and sets the clock, which is the checkpoint's, back to a whole round where the run
 * has been given more paths. SIM_ERR_INCOMPATIBLE where the checkpoint is not one of this run. */
sim_status option_state_restore(option_run *run, const sim_frame *saved, sim_clock *clock) SIM_MUST_CHECK;

/* result/steps.c: sets step_error, step_change and step_share; after option_find_jumps. */
sim_status option_find_long_steps(option_run *run) SIM_MUST_CHECK;
/* result/jumps.c: sets `certain` (nothing is random) and the jumps; warns where few paths jump. */
sim_status option_find_jumps(option_run *run) SIM_MUST_CHECK;

double option_mean(const option_run *run, int quantity);
/* Number of paths that carry the squared deviations of a quantity, (sum d^2)^2 / sum d^4 as groups of samples show it:
 * the relative error of the squared standard error is its root's inverse. Infinite where that is not known, or nothing
 * but rounding. The paths that are most worth are the rarest: of lognormal payments whose paths are few even the
 * order of the standard error is lost. See OPTION_CARRIED. */
double option_carriers(const option_run *run, double n, int quantity);
/* Fewer carriers tell no standard error, or one that may be too small: lognormal payments of all volatilities and
 * strikes are off by more than 5 standard errors in a fifth of the runs with less than 8 carriers, 1 of 60 with 16 to
 * 24, 1 of 400 with 32 to 64, and by more than 3 in a third, 1 of 17, 1 of 60. Paths that all get about the same, as of
 * a digital, are told by 4. Of Greeks, whose tails are often those of their steps alone (Heston's variance near 0), 8
 * are enough. */
enum { OPTION_CARRIED = 50, OPTION_CARRIED_LEAST = 16, OPTION_CARRIED_GREEK = 8, OPTION_CARRIED_EQUAL = 4 };
/* Standard error of a mean of n samples, from their spread; NaN while unknown, and where no path has paid: the
 * spread of zeros says nothing about rare payments. With scrambles, which are independent: from the spread of their
 * means, at least what one point is worth, because all scrambles may count the same number of points where a payoff
 * jumps. */
double option_spread(const option_run *run, double n, int quantity);
/* The reported standard error: at least the rounding error. */
double option_error(const option_run *run, double n, int quantity);
/* Bias of a price or Greek by the time steps, 0 where it is below rounding; and its standard error, at least the
 * rounding error, with the doubts about long steps and the order of the bias. NaN: not known yet, or no path has
 * shown a difference. */
double option_shift(const option_run *run, int quantity);
double option_shift_error(const option_run *run, double n, int quantity);
/* Upper bound of a price, and its standard error; NaN: none. */
double option_upper(const option_run *run, int payoff);
double option_upper_error(const option_run *run, double n, int payoff);
/* Whether all samples of a quantity were 0 although its mean need not be 0. */
bool option_unpaid(const option_run *run, double n, int quantity);
/* Whether a quantity is a second derivative at a kink that nothing smooths: its steps alone make it finite. */
bool option_at_kink(const option_run *run, int quantity);

/* result/ladder.c: makes the samplers of the ladder's points; run->quantity and run->told are set. */
sim_status option_ladder_create(option_run *run, const sim_setup *setup) SIM_MUST_CHECK;
void option_ladder_destroy(option_run *run);
/* Blocks of a step at most, which all samplers take. */
int option_ladder_batch(const option_parameters *p, const option_ops *ops);
/* Number of quantities of the ladder; bytes of its samplers; its markets, each of which costs a path. */
int option_ladder_quantities(const option_parameters *p);
double option_ladder_bytes(const option_parameters *p, const option_ops *ops, const sim_setup *setup);
double option_ladder_markets(const option_parameters *p);
/* Samplings and exchanges of rules, of one step and before it. */
int option_ladder_parts(const option_parameters *p);
/* Samples all quantities into run->block_mean, block_squares and block_tails: see option_ops.sample. */
sim_status option_ladder_sample(option_run *run, int64_t first, int64_t count) SIM_MUST_CHECK;
/* The reason why a quantity of the ladder is not finite. */
sim_status option_ladder_diverged(const option_run *run, const option_quantity *quantity);
/* Reports the ladder, where it is short. */
void option_ladder_report(const option_run *run, double n, sim_bytes *out);
/* Gives the dataset `ladder`. */
sim_status option_ladder_dataset(option_run *run, double n, sim_dataset *out) SIM_MUST_CHECK;
/* Makes room for `count` numbers of a dataset at run->dataset, and sets run->labels, of each payoff. SIM_ERR_NO_MEMORY.
 */
sim_status option_dataset_room(option_run *run, size_t count) SIM_MUST_CHECK;
/* result/buckets.c: gives the dataset `vega_buckets` or `rho_buckets`. SIM_ERR_NO_MEMORY. */
sim_status option_bucket_dataset(option_run *run, double n, int greek, sim_dataset *out) SIM_MUST_CHECK;
/* result/values.c: gives the dataset `exposure`: values of the book along paths of the exposure, the prices, and what
 * the book holds. SIM_ERR_NO_MEMORY. */
sim_status option_value_dataset(option_run *run, sim_dataset *out) SIM_MUST_CHECK;
/* Bytes of its numbers; 0: not asked for. */
double option_value_bytes(const option_parameters *p);
/* Writes "10.4427 +- 0.0144": digits down to the second of the error. */
void option_cell_text(double value, double error, char *out, size_t capacity);
/* Writes "2 down-out put 100 at 80, continuous". */
void option_row_name(const option_parameters *p, int payoff, char *out, size_t capacity);

/* sim_model.report: the price, or a table of all prices and Greeks. */
void option_report(const void *self, const sim_clock *clock, sim_bytes *out);
/* sim_model.remark: nothing, or one line on a request that was not met. */
void option_remark(const void *self, const sim_clock *clock, sim_bytes *out);

#endif
