/* Grains that come and go: what its files share. */
#ifndef COLLISION_FLOW_H
#define COLLISION_FLOW_H

#include "kernels/collision/general/functions.h"
#include "kernels/collision/run.h"

enum { COLLISION_INLET_GRID = 34 }; /* most cells along a side of an inlet */

/* Spheres that are in the way of an inlet, in cells. */
typedef struct collision_obstacle {
  double x[3], r;
  int32_t next;
} collision_obstacle;

typedef struct collision_newcomer {
  double x[3], r;
  int inlet;
  int64_t index; /* in the state */
} collision_newcomer;

/* Lists are of one event, and as long as the longest so far. */
typedef struct collision_flow {
  collision_indices going, come; /* who goes, by the old indices; where new ones are, by the new */
  collision_indices near;        /* who may be in the way of an inlet */
  collision_move *move;          /* who stays */
  collision_obstacle *obstacle;
  collision_newcomer *newcomer;
  int64_t moves, move_room, newcomers, newcomer_room, obstacles, obstacle_room;
  int32_t head[COLLISION_INLET_GRID * COLLISION_INLET_GRID * COLLISION_INLET_GRID];
  collision_region *outlet; /* where grains are taken away: `remove`, and what is beyond outlets */
  int outlets;
  collision_fields *fields; /* NULL: no external acceleration */
} collision_flow;

/* Grains that this inlet owes and finds room for become newcomers. */
sim_status collision_inlet_come(collision_run *run, int which, const sim_clock *clock) SIM_MUST_CHECK;
/* Those in one of these regions: on the host, or as the operations find them. */
sim_status collision_flow_find(collision_run *run, const collision_region *regions, int count,
                               collision_indices *out) SIM_MUST_CHECK;
/* The state without those that go and with the newcomers, whose ids begin with `first_id`. `whole`: the state's arrays
 * hold all of it; otherwise the operations do. */
sim_status collision_flow_pack(collision_run *run, bool whole, uint64_t first_id, double t) SIM_MUST_CHECK;

#endif
