/* Means and standard errors of a run; what its report and its remark tell of them. */
#ifndef OPTION_RESULT_RESULT_H
#define OPTION_RESULT_RESULT_H

#include "kernels/option/run.h"

/* Relative rounding error of a quantity times its size; of a bias likewise. */
double option_rounding(const option_run *run, int quantity);
double option_shift_rounding(const option_run *run, int quantity);
/* The fewest carriers that tell a standard error of a quantity which `carriers` paths carry; 0: any number, because one
 * path's worth is known. */
double option_carriers_needed(const option_run *run, double n, int quantity, double carriers);
/* Whether a payoff is a named one of this kind. */
bool option_is_kind(const option_run *run, int payoff, const sim_schema *schema);
/* Whether a Greek is carried by the paths that are exercised at another date. */
bool option_is_other_date(const option_run *run, int quantity);
/* Whether no path has differed from the control of a price. */
bool option_only_control(const option_run *run, double n, int quantity);
/* Whether the bias of a quantity is above three of its own errors by the paths, and above the standard error. */
bool option_is_shifted(const option_run *run, double n, int quantity);
/* Remarks on the price or Greek whose spread few points of each of Sobol's scrambles carry, of those that enough paths
 * carry by option_carriers; appends to `out`. n: samples of the run. */
void option_remark_scrambles(const option_run *run, double n, sim_bytes *out);
/* Writes "delta of asset 2". */
void option_column_name(const option_parameters *p, const option_quantity *of, char *out, size_t capacity);

#endif
