/* Grains that become one where they touch, in a scenario. */
#include "kernels/collision/scenario/fields.h"
#include "kernels/collision/scenario/sizes.h"

#include <math.h>

static const char *const when_names[] = {"never", "touch", "bound", "slow", NULL};
static const sim_field merge_fields[] = {
    {FIELD(collision_merge, when), .type = SIM_CHOICE, .initial = "never", .choices = when_names,
     .doc = "which of the grains that begin to touch merge: touch: all; bound: those whose relative speed is below the "
            "speed of escape from each other, by self_gravity.G; slow: those whose relative speed is below `speed`"},
    OPTIONAL(collision_merge, speed, POSITIVE, INFINITY, "slow: the speed below which grains merge",
             .dimension = SPEED),
    {0}};
const sim_schema collision_merge_schema = {
    SIM_SCHEMA(collision_merge, "merge", "grains that become one where they touch", merge_fields)};

void collision_check_merge(const collision_parameters *p, sim_faults *faults) {
  const collision_merge *m = &p->merge;
  if (m->when == COLLISION_MERGE_NEVER) {
    if (m->given)
      sim_faults_add(faults, 0, "merge.when", "expected \"touch\", \"bound\" or \"slow\"; without merge none do");
    return;
  }
  if (m->when == COLLISION_MERGE_SLOW && isnan(m->speed))
    sim_faults_add(faults, 0, "merge.speed", "missing: when = \"slow\" needs it");
  if (m->when != COLLISION_MERGE_SLOW && !isnan(m->speed))
    sim_faults_add(faults, 0, "merge.speed", "has a meaning with when = \"slow\" alone");
  if (m->when == COLLISION_MERGE_BOUND && isnan(p->self_gravity.G))
    sim_faults_add(faults, 0, "merge.when", "\"bound\" needs self_gravity, whose G gives the speed of escape");
  bool walls = p->walls.count > 0;
  for (int s = 0; s < 6; s++) walls = walls || p->box.sides[s] == COLLISION_WALL;
  if (walls)
    sim_faults_add(faults, 0, "merge", "expected a box without walls, into which merged grains would be pressed");
  if (p->contact.law == COLLISION_CUSTOM)
    sim_faults_add(faults, 0, "merge", "needs contact.law = \"linear\" or \"hertz\"");
  const int cohesion = p->contact.values.cohesion.model;
  if (cohesion != COLLISION_NO_COHESION && cohesion != COLLISION_DMT)
    sim_faults_add(faults, 0, "merge", "not possible with a contact.cohesion that reaches beyond the touch");
  if (!isnan(p->heat.capacity)) sim_faults_add(faults, 0, "merge", "not possible with heat");
}
