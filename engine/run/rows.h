/* The rows of all tables at one step, and run->stop_when on them. Host memory. */
#ifndef SIM_ENGINE_ROWS_H
#define SIM_ENGINE_ROWS_H

#include "engine/run/run.h"

typedef struct sim_rows {
  sim_run *run;
  const sim_table *const *tables; /* of the run */
  size_t columns;                 /* of all tables */
  double *row;                    /* [2 + columns]: step, time, and the values */
  int64_t step;                   /* whose values these are; -1: none */
  /* private */
  bool *lost; /* [columns]: had a value that is not finite in a finite state, and no longer indicates the state */
  sim_expr_program *stop; /* of run->stop_when */
  void *scratch;
} sim_rows;

/* run->self is set. After a failure call destroy too. */
sim_status sim_rows_create(sim_run *run, sim_rows *rows) SIM_MUST_CHECK;
void sim_rows_destroy(sim_rows *rows);

/* Computes the rows of run->clock.step; sets run->last.health. *finite false: a value is not finite, perhaps because
 * the state is invalid. Where that is valid, call accept. Errors of the model and the device. */
sim_status sim_rows_compute(sim_rows *rows, bool *finite) SIM_MUST_CHECK;

/* Takes the values as they are, and reports those that are not finite, once a column (a function of the scenario). */
void sim_rows_accept(sim_rows *rows);

/* Whether run->stop_when, which is not NULL, holds. */
bool sim_rows_stop(const sim_rows *rows);

#endif
