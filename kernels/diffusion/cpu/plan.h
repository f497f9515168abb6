/* Memory, work and exchanges of a run on the CPU, on one rank or several. */
#ifndef DIFFUSION_PLAN_H
#define DIFFUSION_PLAN_H

#include "kernels/diffusion/diffusion.h"

void diffusion_cpu_plan(const diffusion_parameters *p, const sim_setup *setup, sim_plan *out); /* diffusion_ops.plan */
/* Returns the number of fields and derivatives that the columns of a stage write. */
int diffusion_inputs_of(const diffusion_parameters *p);
/* Whether ranks should share the memory of their mixed fields: they divide columns, and are on one host. */
bool diffusion_in_common(const diffusion_slab *slab, const sim_comm *comm);
/* For ranks that share this memory: the number of fields that are turned to columns all the same (noise), whether a
 * turn needs scratch, and whether slabs are assembled for outputs because they are not one array. */
int diffusion_columns_of(const diffusion_parameters *p, const diffusion_slab *slab, const sim_comm *comm);
bool diffusion_needs_sent(const diffusion_parameters *p, const diffusion_slab *slab, const sim_comm *comm);
bool diffusion_needs_turned(const diffusion_parameters *p, const diffusion_slab *slab, const sim_comm *comm);

/* ---- budget.c: budgets by |k| of fields in double, on one rank; bins as of diffusion_power ---- */

/* Makes of a run's parameters those of its budgets: in double, with one step, without forcing and twin. */
void diffusion_budget_form(diffusion_parameters *p);

/* Creates the work of budgets. p: valid until `destroy`, in double, with the scheme etd1, steps of a given length, and
 * no forcing. */
sim_status diffusion_budget_create(const diffusion_parameters *p, sim_isa isa, int threads,
                                   diffusion_work **out) SIM_MUST_CHECK;
void diffusion_budget_destroy(diffusion_work **work);
double diffusion_budget_bytes(const diffusion_parameters *p, int threads);
/* Computes the coefficients of the fields in array [1] of the work, and those of their rates N in array [2]. */
sim_status diffusion_budget_rates(diffusion_work *work, double *const *fields, double t) SIM_MUST_CHECK;
/* Computes transfer[fields][bins], means of u N(u), and dissipation[fields][bins], means of -u L u.
 * fields[fields][cells] at time t. */
sim_status diffusion_budget_of(diffusion_work *work, double *const *fields, double t, int bins, double *transfer,
                               double *dissipation) SIM_MUST_CHECK;

typedef enum diffusion_quantity { DIFFUSION_ENSTROPHY, DIFFUSION_HELICITY } diffusion_quantity;
/* Computes budgets of the solenoidal vector u, out[3][bins]: half the mean of (curl u)^2, or the mean of u . curl u, in
 * each bin; the rate at which the rates add to it; and the rate at which linear terms reduce it. Helicity needs three
 * periodic axes. */
sim_status diffusion_vector_budget_of(diffusion_work *work, double *const *fields, double t,
                                      diffusion_quantity quantity, int bins, double *const out[3]) SIM_MUST_CHECK;

/* Returns whether white noise has transforms other than the fields': cosines along walls with robin. *out: its series.
 */
bool diffusion_white_series(const diffusion_parameters *p, diffusion_series *out);

/* ---- pressure.c: the pressure of the solenoidal vector, in double, on one rank: lap p = div N with the mean 0, where
 * N are the rates and fluxes without the forcing ---- */

typedef struct diffusion_pressure diffusion_pressure;
sim_status diffusion_pressure_create(const diffusion_parameters *p, sim_isa isa, int threads,
                                     diffusion_pressure **out) SIM_MUST_CHECK;
void diffusion_pressure_destroy(diffusion_pressure **pressure);
double diffusion_pressure_bytes(const diffusion_parameters *p, int threads);
/* Computes it at time t. fields[fields]: on the grid of the rates; out[cells]: on the run's grid. */
sim_status diffusion_pressure_of(diffusion_pressure *pressure, double *const *fields, double t,
                                 double *out) SIM_MUST_CHECK;

#endif
