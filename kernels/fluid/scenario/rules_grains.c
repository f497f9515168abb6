/* Rules of grains in a fluid. */
#include "kernels/fluid/fluid.h"
#include "kernels/fluid/scenario/rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Features that are not supported beside grains. */
static void check_beside(const fluid_parameters *p, sim_faults *faults) {
  const char *const path = "grains";
  if (p->bodies.count > 0) sim_faults_add(faults, 0, path, "are not supported together with `bodies`");
  if (p->solid.given) sim_faults_add(faults, 0, path, "are not supported together with `solid`");
  if (p->heat.given) sim_faults_add(faults, 0, path, "are not supported together with `heat`");
  if (p->turbulence.given) sim_faults_add(faults, 0, path, "are not supported together with `turbulence`");
  if (p->collision == FLUID_TRT) sim_faults_add(faults, 0, path, "are not supported with collision = \"trt\"");
}

/* Sides that the fluid passes have no wall for grains, and contacts know no wall that slides. */
static void check_sides(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults) {
  bool rubs = p->contact.values.friction > 0;
  for (size_t i = 0; i < p->contact.pairs.count; i++)
    rubs = rubs || ((const collision_pair *)p->contact.pairs.items[i].data)->values.friction > 0;
  for (int s = 0; s < 2 * grid->rank; s++) {
    const fluid_side *side = &p->sides[s];
    char path[64];
    if (!side->given) continue;
    snprintf(path, sizeof path, "sides.%s", fluid_side_names[s]);
    const bool along = side->velocity.rows == (size_t)grid->rank && side->velocity.data[s / 2] == 0;
    if (!along)
      sim_faults_add(faults, 0, path,
                     "grains need sides that are walls: expected a velocity along the side, and no "
                     "profile and no pressure");
    else if (rubs)
      sim_faults_add(faults, 0, path,
                     "grains with friction at a side that moves are not supported: expected "
                     "contact.friction = 0, or a side at rest");
  }
}

void fluid_check_grains(fluid_parameters *p, const grid_shape *grid, sim_faults *faults) {
  const collision_values *v = &p->contact.values;
  bool periodic[3], pulled = false;
  for (int a = 0; a < 3; a++) pulled = pulled || p->gravity[a] != 0;
  if (p->grains.count == 0) {
    if (v->stiffness > 0 || v->contact_time > 0 || v->young > 0)
      sim_faults_add(faults, 0, "contact", "has an effect with `grains` alone");
    if (p->drag) sim_faults_add(faults, 0, "drag", "has an effect with `grains` alone");
    if (pulled)
      sim_faults_add(faults, 0, "gravity",
                     "acts on `grains` alone, and there are none: expected `acceleration`, which acts on the fluid");
    return;
  }
  if (grid->rank != 3) {
    if (p->drag)
      sim_faults_add(
          faults, 0, "drag",
          "expected a grid of three axes, got %d: a disc that moves slowly through an unbounded fluid has no "
          "drag of its own (Stokes' paradox)",
          grid->rank);
    else
      sim_faults_add(faults, 0, "grains", "are spheres: expected a grid of three axes, got %d", grid->rank);
    return;
  }
  const fluid_numbers k = fluid_numbers_of(p, 0);
  if (k.tau > 1 + 1e-9)
    sim_faults_add(
        faults, 0, "integrate.dt",
        "the relaxation time is %.4g with dt = %.6g, and grains need at most 1: expected dt = \"auto\", or at "
        "most %.3g",
        k.tau, k.dt, k.dt / (2 * k.tau - 1));
  check_beside(p, faults);
  check_sides(p, grid, faults);
  for (int a = 0; a < 3; a++) periodic[a] = grid_is_periodic(grid, a);
  memset(&p->coupled, 0, sizeof p->coupled);
  p->coupled.common.seed = p->common.seed;
  p->coupled.common.units = p->common.units;
  p->coupled.grains = p->grains;
  p->coupled.contact = p->contact;
  p->coupled.integrate.t_end = p->integrate.t_end;
  for (size_t i = 0; i < p->grains.count; i++)
    if (strcmp(p->grains.items[i].schema->name, "clump") == 0 || strcmp(p->grains.items[i].schema->name, "clumps") == 0)
      sim_faults_add(faults, p->grains.items[i].line, "grains", "clumps in a fluid are not supported");
  collision_coupled_validate(&p->coupled, grid->size, periodic, faults);
}
