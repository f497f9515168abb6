/* Times of the steps of a run: every date is the end of a step. */
#ifndef OPTION_SCENARIO_GRID_H
#define OPTION_SCENARIO_GRID_H

#include "kernels/option/scenario/parameters.h"

/* Dates closer to each other than this share of the maturity are one date. */
#define OPTION_SAME_DATE 1e-9

typedef struct option_grid {
  int steps, kinds; /* kinds: different lengths of steps; or all of them, where parameters of steps change in time */
  double *time, *length; /* [steps + 1] from 0 on, [steps]; owned, one allocation at time */
  double *span;          /* [kinds] lengths */
  int *kind;             /* [steps] */
} option_grid;

/* Makes the steps. Without dates: `steps` equal ones. With dates: between two of them, and 0, the fewest equal steps
 * that are not longer than maturity/steps. `later` is added to the maturity and, where there are dates, to each of
 * them. parts: of each step, of equal length. SIM_ERR_NO_MEMORY. */
sim_status option_grid_create(const option_parameters *p, double later, int parts, option_grid *out) SIM_MUST_CHECK;
void option_grid_free(option_grid *grid);
/* Number of the step, from 1, that ends at time t; 0: time 0; -1: no step ends there. */
int option_grid_at(const option_grid *grid, double t);

/* Whether parameters of a model change in time, so that every step is a kind of its own. */
bool option_steps_vary(const option_parameters *p);
/* Whether the scenario has dates of its own: of payoffs or of dividends. */
bool option_is_dated(const option_parameters *p);
/* The earliest date of all; INFINITY without dates. */
double option_first_date(const option_parameters *p);
/* Whether a named payoff observes prices at the steps, at none of its own dates. */
bool option_at_steps(const sim_item *item);
/* The payment date of a named payoff. */
static inline double option_own_maturity(const option_parameters *p, const option_payoff *o) {
  return o->maturity > 0 ? o->maturity : p->maturity;
}
/* The same of any payoff, by its number among all. */
double option_maturity_of(const option_parameters *p, int payoff);
/* Whether a payoff has early exercise. */
bool option_is_early(const option_parameters *p, int payoff);
/* Lengths of the step by which a Greek is a difference, at most: those of early exercise, and of other payoffs. */
int option_step_kinds(const option_parameters *p);

/* Refuses dates that a payoff, a dividend or the run cannot have; sets p->nodes. */
sim_status option_check_dates(option_parameters *p, sim_faults *faults);

#endif
