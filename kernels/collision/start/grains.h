/* Grains at the start of a run: from groups of the scenario to arrays in host memory. */
#ifndef COLLISION_GRAINS_H
#define COLLISION_GRAINS_H

#include "kernels/collision/clumps/clumps.h"
#include "kernels/collision/scenario/options.h"

/* Random draws of a grain: (seed, id, step, draw); step 0 at the start, else the step of an inlet's event. */
enum collision_draw {
  COLLISION_DRAW_POSITION = 0,       /* and the next; at the start */
  COLLISION_DRAW_RADIUS = 2,         /* and up to 64 more: lognormal */
  COLLISION_DRAW_VELOCITY = 80,      /* and the next; at the start */
  COLLISION_DRAW_ORIENTATION = 90,   /* and the next; of a clump at the start */
  COLLISION_DRAW_INLET_POSITION = 0, /* 2 for each trial */
};

/* [n] each, fp64, in the order of ids; owned. Clumps: their spheres; while they are made, one grain about each. */
typedef struct collision_grains {
  int64_t n;
  double *radius, *mass, *position[3], *velocity[3], *spin[3];
  uint64_t *material;
  int64_t bodies;
  collision_body *body; /* [bodies]: clumps, in the order of their spheres' ids */
  double (*member)[3];  /* [n] with clumps: places in them */
} collision_grains;

/* A group of the scenario: its number of grains, and of places: bodies of clumps, else grains. */
typedef struct collision_part {
  const sim_item *item;
  int64_t n, places;
  collision_shape shape; /* of clumps */
} collision_part;

typedef struct collision_parts {
  collision_part *part; /* [count], owned */
  size_t count;
  double n, places; /* of all groups */
  double bodies;    /* clumps of all groups */
  double bound;     /* radius of the largest sphere about a clump */
} collision_parts;

/* Counts the grains of every group, and computes the shapes of clumps; reads files if needed. Free with
 * collision_parts_free. */
sim_status collision_parts_list(const collision_parameters *p, const sim_setup *setup,
                                collision_parts *out) SIM_MUST_CHECK;
void collision_parts_free(collision_parts *parts);
/* Fills the species that the groups name; returns their number. */
size_t collision_parts_species(const collision_parts *parts, sim_species species[SIM_SPECIES_MAX]);
/* Creates the grains of all groups in host memory. `sized` is called with the smallest and largest radius, and that of
 * the largest sphere about a clump, before grains are placed. Free with collision_grains_free, after failures too. */
sim_status collision_grains_create(const collision_parameters *p, const sim_setup *setup, const collision_parts *parts,
                                   const collision_options *options,
                                   sim_status (*sized)(void *context, double least, double most, double bound),
                                   void *context, collision_grains *out) SIM_MUST_CHECK;
void collision_grains_free(collision_grains *grains);
/* Arrays for n grains, zero. SIM_ERR_NO_MEMORY; free with collision_grains_free, after failures too. */
sim_status collision_grains_reserve(int64_t n, collision_grains *out) SIM_MUST_CHECK;
/* Puts the spheres of clumps at the places of the grains about them. Free *out as above, after failures too. */
sim_status collision_clumps_expand(const collision_parameters *p, const collision_parts *parts,
                                   const collision_grains *places, collision_grains *out) SIM_MUST_CHECK;
/* SIM_ERR_SCENARIO where a clump could meet its own image. */
sim_status collision_clumps_check_box(const collision_options *o, const collision_parts *parts) SIM_MUST_CHECK;
/* Logs mass and inertia of clumps that were sampled, and the error. */
void collision_clumps_tell(const collision_parts *parts);
/* Radius of grain `number` of its group; `id` keys the random draw. */
double collision_radius_of(const collision_radii *size, uint64_t seed, uint64_t id, size_t number);
/* Moves the grains with loose[i] until none overlap. Their centres stay within low, high [3][n]; `filled`: volume
 * fraction of the grains in their region. SIM_ERR_SCENARIO: no packing found. */
sim_status collision_pack(const collision_options *options, collision_grains *grains, const bool *loose,
                          double *const low[3], double *const high[3], double filled) SIM_MUST_CHECK;

#endif
