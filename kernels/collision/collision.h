/* The model: rigid spheres ("grains") with contact forces. */
#ifndef COLLISION_COLLISION_H
#define COLLISION_COLLISION_H

#include "kernels/collision/scenario/parameters.h"

extern const sim_model collision_model;
extern const sim_bench collision_bench[]; /* rows of `sim bench`; ends with a NULL title */

#endif
