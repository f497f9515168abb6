/* Rules between parameters: heat fluxes, populations, porous media. */
#include "kernels/fluid/heat.h"
#include "kernels/fluid/meshes.h"
#include "kernels/fluid/scenario/rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void fluid_check_fluxes(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults) {
  for (int s = 0; s < FLUID_SIDES; s++) {
    char path[64];
    snprintf(path, sizeof path, "heat.flux.%s", fluid_side_names[s]);
    if (isnan(p->heat.flux[s])) continue;
    if (s / 2 >= grid->rank)
      sim_faults_add(faults, 0, path, "the grid has no axis %c: grid.n has %d numbers", "xyz"[s / 2], grid -> rank);
    else if (grid_is_periodic(grid, s / 2))
      sim_faults_add(faults, 0, path, "expected grid.%c = \"wall\" or \"slip\", got \"periodic\"", "xyz"[s / 2]);
    else if (fluid_side_kind_of(p, s) != FLUID_SIDE_KEEPS)
      sim_faults_add(faults, 0, path, "the fluid passes sides.%s: expected a temperature, or neither",
                     fluid_side_names[s]);
    if (!isnan(p->heat.side[s]))
      sim_faults_add(faults, 0, path, "expected one of heat.%s and heat.flux.%s, got both", fluid_side_names[s],
                     fluid_side_names[s]);
  }
  for (int b = 0; b < (int)p->bodies.count && b < FLUID_BODIES; b++) {
    char path[64];
    snprintf(path, sizeof path, "bodies[%d].flux", b + 1);
    if (!isnan(fluid_body_of(p, b)->flux) && !isnan(fluid_body_of(p, b)->temperature))
      sim_faults_add(faults, p->bodies.items[b].line, path, "expected one of temperature and flux, got both");
  }
}

void fluid_check_collision(const fluid_parameters *p, sim_faults *faults) {
  const grid_shape grid = fluid_grid_of(p);
  if (fluid_half(p) && p->collision != FLUID_TRT)
    sim_faults_add(faults, 0, "precision", "\"half\" stores populations: expected collision = \"trt\"");
  else if (fluid_half(p) && grid.n[grid.rank - 1] % 2 != 0)
    sim_faults_add(faults, 0, "grid.n", "expected an even number of cells along %c with precision = \"half\", got %lld",
                   "xyz"[grid.rank - 1], (long long)grid.n[grid.rank - 1]);
  if (p->lattice == FLUID_D3Q27 && grid.rank != 3)
    sim_faults_add(faults, 0, "lattice", "\"D3Q27\" is one of three axes: expected \"auto\" on a grid of two");
  if (p->lattice == FLUID_D3Q27 && fluid_half(p))
    sim_faults_add(faults, 0, "lattice", "\"D3Q27\" is not supported with precision = \"half\"");
  if (p->collision != FLUID_TRT && p->magic != 3.0 / 16)
    sim_faults_add(faults, 0, "magic", "has an effect with collision = \"trt\" alone");
  /* Third moments, which a fixed magic number makes slow where the viscosity is small, are reflected by walls into the
   * strain of the cells there: the eddy viscosity of a shear between moving walls came out 3.6 % too high at 16 cells,
   * at every Mach number. */
  if (p->collision == FLUID_TRT && p->turbulence.given)
    sim_faults_add(faults, 0, "collision", "\"trt\" is not supported with `turbulence`: expected \"regularised\"");
}

void fluid_check_porous(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults) {
  int before, width, after;
  if (p->resistance && p->collision != FLUID_TRT)
    sim_faults_add(faults, 0, "resistance", "expected collision = \"trt\", which has it");
  if (p->resistance && p->heat.given) sim_faults_add(faults, 0, "resistance", "is not supported together with `heat`");
  if (p->resistance && fluid_moves(p))
    sim_faults_add(faults, 0, "resistance", "is not supported together with bodies that move");
  if (!p->solid.given) return;
  if (p->bodies.count > 0) sim_faults_add(faults, 0, "solid", "is not supported together with `bodies`");
  if (p->heat.given) sim_faults_add(faults, 0, "solid", "is not supported together with `heat`");
  if (!strchr(p->solid.path, '%')) return;
  if (!fluid_path_is_stack(p->solid.path, &before, &width, &after))
    sim_faults_add(faults, 0, "solid.path", "expected one %%d or %%03d for the number of an image, got \"%.200s\"",
                   p->solid.path);
  else if (grid->rank != 3)
    sim_faults_add(faults, 0, "solid.path", "a stack of images needs a grid of three axes");
}
