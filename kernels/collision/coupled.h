/* Grains as a part of another model, which makes their substeps and gives them accelerations. The only header of this
 * folder that other models include. The grains are in double precision, on the CPU, on one rank. */
#ifndef COLLISION_COUPLED_H
#define COLLISION_COUPLED_H

#include "kernels/collision/scenario/parameters.h"

/* What the other model's schema takes over: the lists of grains and the laws of contact. */
extern const sim_schema *const collision_grain_variants[];
extern const sim_schema collision_contact_schema;

/* Fills in and checks the parameters of coupled grains, whose `common`, `grains`, `contact` and integrate.t_end are
 * set, in a box from the origin; periodic: by axis, other sides are walls. Paths of faults are those of the scenario:
 * "grains[1].radius", "contact.restitution". */
void collision_coupled_validate(collision_parameters *p, const double size[3], const bool periodic[3],
                                sim_faults *faults);

typedef struct collision_coupled collision_coupled;

/* Creates the grains at the start of a run, or from setup->saved, whose arrays hold those of collision_coupled_view.
 * step: length of a step of the other model; the grains make the least number of substeps that their contacts bear.
 * *out is freed by collision_coupled_destroy, also after a failure. SIM_ERR_SCENARIO: grains overlap or do not fit. */
sim_status collision_coupled_create(const collision_parameters *p, const sim_setup *setup, double step,
                                    collision_coupled **out) SIM_MUST_CHECK;
void collision_coupled_destroy(collision_coupled **coupled);
int64_t collision_coupled_substeps(const collision_coupled *coupled);

/* The grains' arrays in host memory, at the end of the last step: radius[n], mass[n], the others [3][n]. The other
 * model may change velocities and spins, and sets push: the acceleration in the next step beside contacts. */
typedef struct collision_coupled_state {
  int64_t n;
  const uint64_t *id;
  const double *radius, *mass, *position;
  double *velocity, *spin, *push;
} collision_coupled_state;
collision_coupled_state collision_coupled_state_of(const collision_coupled *coupled);

/* Makes the substeps of one step, from the arrays and back to them. SIM_ERR_DIVERGED. */
sim_status collision_coupled_step(collision_coupled *coupled) SIM_MUST_CHECK;

/* Energies of all grains; contacts between grains, each counted twice; the largest overlap over the smaller radius. */
typedef struct collision_coupled_sums {
  double kinetic, rotational, elastic, dissipated, touching, overlap;
} collision_coupled_sums;
sim_status collision_coupled_sums_of(collision_coupled *coupled, collision_coupled_sums *out) SIM_MUST_CHECK;

/* Appends views of the grains' arrays to `arrays`, and sets the species. */
void collision_coupled_view(collision_coupled *coupled, sim_array *arrays, sim_species *species, sim_frame *frame);

#endif
