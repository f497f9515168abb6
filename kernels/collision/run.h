/* A run of the model, shared by the files that make one up. */
#ifndef COLLISION_RUN_H
#define COLLISION_RUN_H

#include "kernels/collision/collision.h"

enum { COLLISION_INITIAL_ENERGY, COLLISION_ENERGY_SCALE, COLLISION_CONTROLS };

/* The state's arrays in the order of the descriptor's fields. */
typedef enum collision_array {
  COLLISION_ID,
  COLLISION_RADIUS,
  COLLISION_MASS,
  COLLISION_POSITION,
  COLLISION_VELOCITY,
  COLLISION_SPIN,
  COLLISION_ACCELERATION,
  COLLISION_TWIRL,
  COLLISION_MATERIAL,
  COLLISION_DISSIPATED,
  COLLISION_VIRIAL,
  COLLISION_COLLISIONS,
  COLLISION_CONTACT_GRAIN,
  COLLISION_CONTACT_PARTNER,
  COLLISION_CONTACT_SPRING,
  COLLISION_WALL_SPRING,
  COLLISION_CONTROLLER,
  COLLISION_ARRAYS
} collision_array;

typedef struct collision_run {
  const collision_ops *ops;
  collision_work *work;
  collision_options options;
  const collision_parameters *parameters;
  int64_t n, steps, room;
  double dt;
  sim_buffer array[COLLISION_ARRAYS];
  sim_species species[SIM_SPECIES_MAX];
  size_t species_count;
  collision_sums sums;
  int64_t sums_step;
  bool warned;
} collision_run;

extern const sim_field collision_state_fields[], collision_energy_columns[], collision_gas_columns[],
    collision_contact_columns[], collision_momentum_columns[];

/* sim_model.observe */
sim_status collision_observe(void *self, const sim_clock *clock, int table, double *values);
/* Those of clock->step. */
sim_status collision_sums_at(collision_run *run, const sim_clock *clock, const collision_sums **out) SIM_MUST_CHECK;
double collision_energy(const collision_sums *sums); /* with what was lost */

#endif
