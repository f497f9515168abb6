/* Grains at the start of a run: from groups of the scenario to arrays in host memory. */
#ifndef COLLISION_GRAINS_H
#define COLLISION_GRAINS_H

#include "kernels/collision/clumps/clumps.h"
#include "kernels/collision/scenario/options.h"

/* Random draws of a grain: (seed, id, step, draw); step 0 at the start, else the step in which it is inserted. */
enum collision_draw {
  COLLISION_DRAW_POSITION = 0,       /* two draws, at the start */
  COLLISION_DRAW_RADIUS = 2,         /* up to 65 draws, for lognormal radii */
  COLLISION_DRAW_VELOCITY = 80,      /* two draws, at the start */
  COLLISION_DRAW_ORIENTATION = 90,   /* two draws, of a clump at the start */
  COLLISION_DRAW_INLET_POSITION = 0, /* two draws for each trial */
};

/* [n] each, fp64, in the order of ids; owned. Clumps: their spheres; while these are placed, one grain a clump. */
typedef struct collision_grains {
  int64_t n;
  double *radius, *mass, *position[3], *velocity[3], *spin[3], *temperature;
  uint64_t *material;
  int64_t bodies;
  collision_body *body; /* [bodies]: clumps, in the order of their spheres' ids */
  double (*member)[3];  /* [n] with clumps: positions in the clump */
} collision_grains;

/* A group of the scenario: number of grains, and number of placed bodies (clumps, else grains). */
typedef struct collision_part {
  const sim_item *item;
  int64_t n, places;
  collision_shape shape; /* of clumps */
} collision_part;

typedef struct collision_parts {
  collision_part *part; /* [count], owned */
  size_t count;
  double n, places; /* totals of all groups */
  double bodies;    /* number of clumps in all groups */
  double bound;     /* radius of the largest sphere that holds a clump */
} collision_parts;

/* Counts the grains of every group, and computes the shapes of clumps; reads files if needed. Free with
 * collision_parts_free. SIM_ERR_SCENARIO, SIM_ERR_NO_MEMORY. */
sim_status collision_parts_list(const collision_parameters *p, const sim_setup *setup,
                                collision_parts *out) SIM_MUST_CHECK;
void collision_parts_free(collision_parts *parts);
/* Fills in the species that the groups name; returns their number. */
size_t collision_parts_species(const collision_parts *parts, sim_species species[SIM_SPECIES_MAX]);
/* Creates the grains of all groups in host memory. Calls `sized` with the smallest and largest radius, and that of the
 * largest sphere around a clump, before grains are placed. Free with collision_grains_free, after failures too. */
sim_status collision_grains_create(const collision_parameters *p, const sim_setup *setup, const collision_parts *parts,
                                   const collision_options *options,
                                   sim_status (*sized)(void *context, double least, double most, double bound),
                                   void *context, collision_grains *out) SIM_MUST_CHECK;
void collision_grains_free(collision_grains *grains);
/* Allocates arrays for n grains, zeroed. SIM_ERR_NO_MEMORY; free with collision_grains_free, after failures too. */
sim_status collision_grains_reserve(int64_t n, collision_grains *out) SIM_MUST_CHECK;
/* Replaces the grain that stands for a clump by the clump's spheres. Free *out as above, after failures too. */
sim_status collision_clumps_expand(const collision_parameters *p, const collision_parts *parts,
                                   const collision_grains *places, collision_grains *out) SIM_MUST_CHECK;
/* Checks that no clump can touch its own image. SIM_ERR_SCENARIO. */
sim_status collision_clumps_check_box(const collision_options *o, const collision_parts *parts) SIM_MUST_CHECK;
/* Logs mass, inertia and their error for clumps that were sampled. */
void collision_clumps_tell(const collision_parts *parts);
/* Radius of grain `number` of its group; `id` keys the random draw. */
double collision_radius_of(const collision_radii *size, uint64_t seed, uint64_t id, size_t number);
/* Moves the grains with loose[i] until no grains overlap. Their centres stay within low, high [3][n]; `filled`: volume
 * fraction of the grains in their region. SIM_ERR_SCENARIO: no packing found. */
sim_status collision_pack(const collision_options *options, collision_grains *grains, const bool *loose,
                          double *const low[3], double *const high[3], double filled) SIM_MUST_CHECK;

#endif
