/* Tables of observables. */
#ifndef NBODY_TABLES_H
#define NBODY_TABLES_H

#include "kernels/nbody/nbody.h"

/* Tables of every run; tables that a scenario may add, for `sim describe`. NULL-terminated. */
extern const sim_table *const nbody_tables[], *const nbody_described_tables[];
enum { NBODY_TABLE_ENERGY, NBODY_TABLE_LAGRANGIAN };
/* Table of runs that may use fast multipoles: force errors of the median and of 99.9 % of the bodies. */
extern const sim_table nbody_force_error_table;

/* Table of runs with merge or escape; rows from nbody_observe_events. */
extern const sim_table nbody_events_table;
enum { NBODY_EVENT_COLUMNS = 8 };

/* Index of `table` among the tables of p; -1: the run does not have it. */
int nbody_table_of(const nbody_parameters *p, const sim_table *table);

/* Columns of the table `energy`. */
enum {
  NBODY_COLUMN_KINETIC,
  NBODY_COLUMN_POTENTIAL,
  NBODY_COLUMN_TOTAL,
  NBODY_COLUMN_ERROR,
  NBODY_COLUMN_VIRIAL_RATIO,
  NBODY_COLUMN_MOMENTUM,
  NBODY_COLUMN_ANGULAR_MOMENTUM = NBODY_COLUMN_MOMENTUM + 3,
  NBODY_COLUMN_CENTRE = NBODY_COLUMN_ANGULAR_MOMENTUM + 3
};

/* Fills in p->tables, with the tables of individual steps, p->observe and p->spectrum; adds faults of names. */
void nbody_make_tables(nbody_parameters *p, sim_faults *faults);

#endif
