/* Exposure of a netted book: what the other party owes, or is owed, at dates, were it to default then.
 *
 * V(t) is the value of the contracts at a date, before the payments of that date; payments are netted by quantities.
 * EPE = E max(V, 0), ENE = E max(-V, 0), PFE the quantile of V; all in money of the date, under the pricing measure.
 * The value of a contract at a date is its regression on the state that it depends on then (prices, Heston's variances,
 * what the contract remembers), on separate paths. With Y the payments from t on, discounted to t,
 *
 *   EPE = mean of Y where the regression of V is positive,
 *
 * so that an error of the regression matters only where it gives V the wrong sign: it makes EPE too low, in second
 * order. (F. Longstaff and E. Schwartz 2001 take the same for early exercise.) The quantile is that of the regression
 * itself. */
#ifndef OPTION_EXPOSURE_EXPOSURE_H
#define OPTION_EXPOSURE_EXPOSURE_H

#include "kernels/option/scenario/grid.h"

/* Numbers of one date. */
typedef struct option_exposure_row {
  double time;
  double epe, epe_error, ene, ene_error;
  /* The quantile, and its error: from its order statistics, and from how far the payments of the paths near it are from
   * their regression, or the standard error of that distance if larger. */
  double pfe, pfe_error;
} option_exposure_row;

typedef struct option_exposures {
  option_exposure_row row[OPTION_EXPOSURES_MAX]; /* [p->exposures] */
  /* Credit and debit valuation adjustments: loss given default times the integral of the discounted EPE (ENE) over
   * the probability of default, by the trapezoid of the dates; NaN without an intensity. Errors: of the paths, and of
   * the dates, from the trapezoid of every second date, or from what the exposure is at the beginning of an interval
   * between two payments without a date. */
  double cva, cva_error, dva, dva_error;
  /* V(t) of the first p->exposure.values paths, [path][date], its standard error (NaN: too few fit_paths), and the
   * prices, [path][asset][date]; one allocation at `value`, owned, on rank 0; NULL: not asked for, or another rank */
  double *value, *error, *price;
} option_exposures;

/* Steps at whose ends the exposure is told, ascending, from step 0 on: out[1 + dates + p->steps + payoffs]. Returns
 * their count. */
int option_exposure_steps(const option_parameters *p, const option_grid *grid, int *out);
/* Computes the exposure on the CPU, by all ranks of setup->comm together; in fp64, on paths of its own. The numbers
 * depend on the parameters alone. SIM_ERR_DIVERGED, SIM_ERR_NO_MEMORY. */
sim_status option_exposure_create(const option_parameters *p, const sim_setup *setup,
                                  option_exposures *out) SIM_MUST_CHECK;
/* Frees the values. */
void option_exposure_free(option_exposures *exposures);
/* Bytes of host memory that this takes; 0: no exposure. */
double option_exposure_bytes(const option_parameters *p, const sim_setup *setup);
/* Bytes among them of the values that are written, which rank 0 alone has. */
double option_exposure_kept(const option_parameters *p);
/* Its path-steps times assets, with those that take as long as the regressions. */
double option_exposure_work(const option_parameters *p);
/* Adds what a rank receives, and how often it exchanges. */
void option_exposure_exchanges(const option_parameters *p, int ranks, double *bytes, double *exchanges);

#endif
