/* Inlets and outlets: data shared by their files. */
#ifndef COLLISION_FLOW_H
#define COLLISION_FLOW_H

#include "kernels/collision/general/functions.h"
#include "kernels/collision/run.h"

enum { COLLISION_INLET_GRID = 34 }; /* most cells along a side of an inlet */

/* A sphere or periodic image near an inlet, in a cell list. */
typedef struct collision_obstacle {
  double x[3], r;
  int32_t next;
} collision_obstacle;

typedef struct collision_newcomer {
  double x[3], r;
  int inlet;
  int64_t index; /* index of the new grain in the state */
} collision_newcomer;

/* Scratch memory of one event (removal and insertion of grains); arrays keep their largest size. Owned by the run. */
typedef struct collision_flow {
  collision_indices going, come; /* going: removed grains (old indices); come: inserted grains (new indices) */
  collision_indices near;        /* grains near an inlet */
  collision_move *move;          /* stretches of grains that remain */
  collision_obstacle *obstacle;
  collision_newcomer *newcomer;
  int64_t moves, move_room, newcomers, newcomer_room, obstacles, obstacle_room;
  int32_t head[COLLISION_INLET_GRID * COLLISION_INLET_GRID * COLLISION_INLET_GRID];
  collision_region *outlet; /* regions whose grains are removed: `remove`, and the space beyond outlets */
  int outlets;
  collision_fields *fields; /* NULL: no external acceleration */
} collision_flow;

/* Draws positions for the grains that inlet `which` still has to insert, and appends the grains that find room to
 * `newcomer`. SIM_ERR_NO_MEMORY. */
sim_status collision_inlet_come(collision_run *run, int which, const sim_clock *clock) SIM_MUST_CHECK;
/* Finds the grains with centres inside any region: on the device where ops->pick exists, else on the host. *out:
 * increasing indices. SIM_ERR_NO_MEMORY. */
sim_status collision_flow_find(collision_run *run, const collision_region *regions, int count,
                               collision_indices *out) SIM_MUST_CHECK;
/* Removes the grains in `going` from the state and adds the newcomers, with ids from `first_id` on. `whole`: the
 * state's arrays hold the whole state; else the operations' `exchange` moves the other data. */
sim_status collision_flow_pack(collision_run *run, bool whole, uint64_t first_id, double t) SIM_MUST_CHECK;

#endif
