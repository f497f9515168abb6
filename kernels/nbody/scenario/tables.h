/* Tables of observables. */
#ifndef NBODY_TABLES_H
#define NBODY_TABLES_H

#include "kernels/nbody/nbody.h"

/* Tables of every run, and the table of `observe` for `sim describe`; NULL-terminated. */
extern const sim_table *const nbody_tables[], *const nbody_described_tables[];
enum { NBODY_TABLE_ENERGY, NBODY_TABLE_LAGRANGIAN, NBODY_TABLE_OBSERVE };

/* Index of the table `spectrum`, the last one; -1: none. */
int nbody_spectrum_table(const nbody_parameters *p);

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

/* Fills p->tables, with the tables of p->observe and p->spectrum; adds faults of names. */
void nbody_make_tables(nbody_parameters *p, sim_faults *faults);

#endif
