/* What the CPU's operations keep. Part of cpu.c, for one precision: `real` is defined before this is included. */
#ifndef COLLISION_CPU_WORK_H
#define COLLISION_CPU_WORK_H

#include "kernels/collision/general/functions.h"
#include "kernels/collision/general/law_real.h"
#include "kernels/collision/general/search_real.h"
#include "kernels/collision/solver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct motion {
  real v[3], m;
} motion;

typedef struct triple {
  real v[3];
} triple;

typedef struct tally {
  double dissipated, virial, work;
  uint64_t collisions;
} tally;

/* One grain's numbers, in the cells' order; two sets, for sorting. */
typedef struct grains {
  place *place;
  motion *seen;   /* velocity that contacts see, mass */
  triple *turned; /* angular velocity that contacts see */
  triple *velocity, *spin, *acceleration, *twirl;
  tally *tally;
  uint32_t *id, *material;
  real *wall_spring; /* [n][wall_numbers] */
  int32_t *crossed;  /* [n][gates] */
} grains;

struct collision_work {
  collision_options o;
  collision_state state;
  contact_law law[COLLISION_MATERIALS_MAX][COLLISION_MATERIALS_MAX];
  image box;
  collision_search search;
  grains now, spare;
  uint32_t *slot;          /* [n]: where id i stands */
  uint32_t *old_neighbour; /* the list before this one, while history moves */
  int64_t *old_first, old_room;
  real *spring, *old_spring; /* [room of the list][springs] */
  int64_t spring_room, old_spring_room;
  int64_t blocks;
  double *block;  /* [blocks]: greatest square of a speed */
  double moved;   /* how much nearer two grains may have come since the list was made */
  double fastest; /* speed in the last step */
  double held;    /* widest gap over which two still have a history */
  bool listed;
  collision_fields *fields;  /* the scenario's functions; NULL: none */
  real jump;                 /* of the velocity, at the image above in y */
  geometry_mesh_cache *near; /* [n][meshes], by id */
};

enum { BLOCK = 1024 };

static double default_skin(const collision_options *o, double smallest) {
  return isnan(o->skin) ? 0.3 * smallest : o->skin;
}

static size_t wall_numbers(const collision_options *o) { return (size_t)o->wall_numbers; }

#endif
