/* Tables of observables. */
#ifndef NBODY_TABLES_H
#define NBODY_TABLES_H

#include "kernels/nbody/nbody.h"

/* Tables of every run, and those that a scenario adds for `sim describe`; NULL-terminated. */
extern const sim_table *const nbody_tables[], *const nbody_described_tables[];
enum { NBODY_TABLE_ENERGY, NBODY_TABLE_LAGRANGIAN };

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

/* Fills p->tables, with the tables of individual steps and of p->observe; adds faults of the latter's names. */
void nbody_make_tables(nbody_parameters *p, sim_faults *faults);

#endif
