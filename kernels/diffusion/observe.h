/* Observations beyond statistics: functions over the grid, spectra, probes, fields of output.fields. Computed on the
 * host, from the real fields in double. */
#ifndef DIFFUSION_OBSERVE_H
#define DIFFUSION_OBSERVE_H

#include "kernels/diffusion/diffusion.h"

typedef enum diffusion_tables_kind {
  DIFFUSION_FIELD_TABLE,
  DIFFUSION_FUNCTIONS,
  DIFFUSION_SPECTRA,
  DIFFUSION_PROBES,
  DIFFUSION_ENSEMBLE,
  DIFFUSION_FORCING_TABLE,
  DIFFUSION_TRANSFER,
  DIFFUSION_DISSIPATION,
  DIFFUSION_LYAPUNOV_TABLE,
  DIFFUSION_IMPLICIT_TABLE,
  DIFFUSION_STRUCTURE,
  /* three budget tables of each quantity, in the order of diffusion_quantity and of diffusion_vector_budget_of */
  DIFFUSION_VECTOR_BUDGETS
} diffusion_tables_kind;

/* Columns of each field in the table of an ensemble: statistics over members. */
enum { DIFFUSION_OVER_MEMBERS = 4 };

typedef struct diffusion_observer diffusion_observer;
/* Creates the observer. *out is NULL where the scenario observes nothing. */
sim_status diffusion_observer_create(const diffusion_parameters *p, sim_isa isa, int threads,
                                     diffusion_observer **out) SIM_MUST_CHECK;
void diffusion_observer_destroy(diffusion_observer **observer);
double diffusion_observer_bytes(const diffusion_parameters *p, int threads);
/* Derivatives that `observe` reads, and derived fields that output.fields names. */
diffusion_gradients diffusion_observed_gradients(const diffusion_parameters *p);
/* Computes a row of a table. values[columns]; real_fields[fields]: host memory, the run's precision. */
sim_status diffusion_observer_row(diffusion_observer *observer, diffusion_tables_kind table,
                                  const void *const *real_fields, double t, double *values) SIM_MUST_CHECK;

/* Computes the drawn fields (diffusion_drawn), in their order. out[drawn]: host memory, the run's precision, [cells]
 * each. real_fields: as for a row. */
sim_status diffusion_observer_draw(diffusion_observer *observer, const void *const *real_fields, double t,
                                   void *const *out) SIM_MUST_CHECK;

/* Computes the value of a function of `observe` that is largest in size at a wall, end 0 or 1 of an axis, and the
 * largest size in the cells, of the fields of the last row of DIFFUSION_FUNCTIONS at t = 0. Values and slopes that
 * walls hold are exact there; the rest is extrapolated. Without members. */
void diffusion_observer_wall(diffusion_observer *observer, size_t function, int axis, int end, double *wall,
                             double *most);

/* SIM_ERR_SCENARIO where rates with derivatives are not finite. The check is skipped above 2^22 cells. */
sim_status diffusion_check_derived(const diffusion_parameters *p, const sim_setup *setup,
                                   const void *const *real_fields) SIM_MUST_CHECK;

#endif
