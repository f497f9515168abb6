/* Grains at the start of a run: from groups of the scenario to arrays in host memory. */
#ifndef COLLISION_GRAINS_H
#define COLLISION_GRAINS_H

#include "kernels/collision/scenario/options.h"

/* Random draws of a grain: (seed, id, step, draw); step 0 at the start, else the step of an inlet's event. */
enum collision_draw {
  COLLISION_DRAW_POSITION = 0,       /* and the next; at the start */
  COLLISION_DRAW_RADIUS = 2,         /* and up to 64 more: lognormal */
  COLLISION_DRAW_VELOCITY = 80,      /* and the next; at the start */
  COLLISION_DRAW_INLET_POSITION = 0, /* 2 for each trial */
};

/* [n] each, fp64, in the order of ids; owned. */
typedef struct collision_grains {
  int64_t n;
  double *radius, *mass, *position[3], *velocity[3], *spin[3];
  uint64_t *material;
} collision_grains;

/* A group of the scenario with its number of grains. */
typedef struct collision_part {
  const sim_item *item;
  int64_t n;
} collision_part;

typedef struct collision_parts {
  collision_part *part; /* [count], owned */
  size_t count;
  double n; /* grains of all groups */
} collision_parts;

/* Counts the grains of every group; reads files if needed. Free with collision_parts_free. */
sim_status collision_parts_list(const collision_parameters *p, const sim_setup *setup,
                                collision_parts *out) SIM_MUST_CHECK;
void collision_parts_free(collision_parts *parts);
/* Fills the species that the groups name; returns their number. */
size_t collision_parts_species(const collision_parts *parts, sim_species species[SIM_SPECIES_MAX]);
/* Creates the grains of all groups in host memory. `sized` is called with the smallest and largest radius before
 * grains are placed. Free with collision_grains_free, after failures too. */
sim_status collision_grains_create(const collision_parameters *p, const sim_setup *setup, const collision_parts *parts,
                                   const collision_options *options,
                                   sim_status (*sized)(void *context, double least, double most), void *context,
                                   collision_grains *out) SIM_MUST_CHECK;
void collision_grains_free(collision_grains *grains);
/* Radius of grain `number` of its group; `id` keys the random draw. */
double collision_radius_of(const collision_radii *size, uint64_t seed, uint64_t id, size_t number);
/* Moves the grains with loose[i] until none overlap. Their centres stay within low, high [3][n]; `filled`: volume
 * fraction of the grains in their region. SIM_ERR_SCENARIO: no packing found. */
sim_status collision_pack(const collision_options *options, collision_grains *grains, const bool *loose,
                          double *const low[3], double *const high[3], double filled) SIM_MUST_CHECK;

#endif
