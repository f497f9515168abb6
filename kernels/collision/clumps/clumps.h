/* Clumps of spheres: mass properties of the scenario's shapes. */
#ifndef COLLISION_CLUMPS_H
#define COLLISION_CLUMPS_H

#include "kernels/collision/clumps/rigid.h"
#include "kernels/collision/scenario/parameters.h"

/* A clump of a scenario: the body, at rest at the origin in the axes of the scenario's spheres. */
typedef struct collision_shape {
  collision_body body;
  double centre[3];      /* of mass, among the scenario's spheres */
  double error;          /* estimate, relative, of mass and moments; 0: exact */
  double volume;         /* of the body */
  double (*at)[3];       /* [count]: the spheres in the principal axes; owned */
  const double *spheres; /* [count][4]: borrowed from the scenario */
  int64_t count;
} collision_shape;

/* The clump of an item of `grains`; NULL: the item is not one. */
const collision_rigid *collision_rigid_of(const sim_item *item);
/* The first two spheres that overlap; false: none do. */
bool collision_spheres_overlap(const collision_rigid *rigid, size_t pair[2]);
/* Computes mass, centre and inertia of a scenario's clump. SIM_ERR_NO_MEMORY. */
sim_status collision_shape_create(const collision_rigid *rigid, collision_shape *out) SIM_MUST_CHECK;
void collision_shape_free(collision_shape *shape);
/* Whether some item of `grains` is one. */
bool collision_any_clumps(const collision_parameters *p);

#endif
