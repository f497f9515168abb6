/* Molecules in a scenario: a pair law with a cutoff, thermostats, lattices, and the tables `thermo` and `rdf`. */
#ifndef NBODY_SCENARIO_MOLECULES_H
#define NBODY_SCENARIO_MOLECULES_H

#include "kernels/nbody/run.h"

extern const sim_schema nbody_thermostat_schema, nbody_rdf_schema;

/* Columns of the table `thermo`. */
enum {
  NBODY_THERMO_TEMPERATURE,
  NBODY_THERMO_PRESSURE,
  NBODY_THERMO_CONSERVED,
  NBODY_THERMO_FULL_POTENTIAL,
  NBODY_THERMO_FULL_PRESSURE,
  NBODY_THERMO_DISPLACEMENT,
  NBODY_THERMO_COLUMNS
};
/* Table of runs with a cutoff or a thermostat; table `rdf` as `sim describe` shows it. */
extern const sim_table nbody_thermo_table, nbody_rdf_described;
/* Fills in p->rdf_table, and returns it. */
const sim_table *nbody_make_rdf_table(nbody_parameters *p);

/* Adds the faults of `cutoff`, `shift`, `thermostat`, `rdf` and sim.lattice. */
void nbody_check_molecules(const nbody_parameters *p, sim_faults *faults);

#endif
