/* Grains that come and go: what its files share. */
#ifndef COLLISION_FLOW_H
#define COLLISION_FLOW_H

#include "kernels/collision/functions.h"
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
} collision_newcomer;

typedef struct collision_flow {
  int64_t *order; /* [limit]: new index -> old one, or < 0: -1 - number of a new grain */
  int64_t *place; /* [limit]: old index -> new one; -1: gone */
  char *room;     /* for one array */
  collision_obstacle *obstacle;
  int32_t count, most, head[COLLISION_INLET_GRID * COLLISION_INLET_GRID * COLLISION_INLET_GRID];
  collision_newcomer *newcomer; /* of one event, [limit] */
  int64_t newcomers;
  collision_region *outlet; /* where grains are taken away: `remove`, and what is beyond outlets */
  int outlets;
  collision_fields *fields; /* NULL: no external acceleration */
} collision_flow;

/* How many grains an inlet owes by t, since the start. */
double collision_inlet_total(const collision_inlet *inlet, double t);
/* Grains that this inlet owes and finds room for become newcomers. */
void collision_inlet_come(collision_run *run, int which, const sim_clock *clock);
/* The state without those that go and with the newcomers, whose ids begin with `first_id`. */
sim_status collision_flow_pack(collision_run *run, uint64_t first_id, double t) SIM_MUST_CHECK;

#endif
