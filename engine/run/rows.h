/* The rows of all tables at one step, and the value of run->stop_when on them. Host memory. */
#ifndef SIM_ENGINE_ROWS_H
#define SIM_ENGINE_ROWS_H

#include "engine/run/run.h"

typedef struct sim_rows {
  sim_run *run;
  const sim_table *const *tables; /* tables of the run */
  size_t columns;                 /* number of columns of all tables */
  double *row;                    /* [2 + columns]: step, time, and the values */
  int64_t step;                   /* step of these values; -1: none */
  /* private */
  bool *lost; /* [columns]: the column was not finite in a finite state, so it no longer indicates an invalid state */
  sim_expr_program *stop; /* compiled run->stop_when */
  void *scratch;
} sim_rows;

/* run->self must be set. After a failure call sim_rows_destroy too. */
sim_status sim_rows_create(sim_run *run, sim_rows *rows) SIM_MUST_CHECK;
void sim_rows_destroy(sim_rows *rows);

/* Computes the rows of run->clock.step and sets run->last.health. *finite false: a value is not finite, perhaps because
 * the state is invalid; if the state is valid, call sim_rows_accept. Errors of the model and the device. */
sim_status sim_rows_compute(sim_rows *rows, bool *finite) SIM_MUST_CHECK;

/* Accepts values that are not finite, and warns of each column once (a function of the scenario gave it). */
void sim_rows_accept(sim_rows *rows);

/* Whether run->stop_when holds; it must not be NULL. */
bool sim_rows_stop(const sim_rows *rows);

#endif
