/* The tables of a run. */
#ifndef OPTION_RESULT_TABLES_H
#define OPTION_RESULT_TABLES_H

#include "kernels/option/scenario/parameters.h"

extern const sim_table option_price_table;
extern const sim_table *const option_described[]; /* sim_model.described */

/* Fills p->tables: price and Greeks of the first payoff, and tables of all payoffs where there are several. Too many
 * columns are a fault. */
void option_make_tables(option_parameters *p, sim_faults *faults);

#endif
