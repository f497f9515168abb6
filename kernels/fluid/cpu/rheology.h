/* Viscosities that are functions of the shear rate and the temperature: generalised Newtonian fluids. Twin:
 * cuda/rheology.cuh.
 *
 * The shear rate of a cell is sqrt(2 E:E), E its rate of strain without its trace. With the stress Q of kernels.h
 * before collision, Q = -2/3 tau rho E in units of the lattice, so that the shear rate is 3/sqrt 2 |Q|/(rho tau), and
 * tau = 1/2 + 3 viscosity(shear rate, T) in these units. This equation is solved for tau in each cell and step, to the
 * rounding of the state. It has one solution where the stress viscosity times shear rate grows with the shear rate.
 * Where a function jumps, tau is between what is before and behind the jump. */
#ifndef FLUID_CPU_RHEOLOGY_H
#define FLUID_CPU_RHEOLOGY_H

#include "kernels/fluid/fluid.h"
#include "kernels/fluid/machine.h"

typedef struct fluid_rheology {
  sim_expr_program *program; /* shear, T -> viscosity, in double */
  size_t scratch;            /* bytes for each thread, a multiple of 64 */
  char *memory;              /* [threads][scratch] */
  bool warm;                 /* it is a function of the temperature */
  double per_stress;         /* shear rate of the scenario by |Q|/(rho tau) */
  double scale;              /* tau - 1/2 by viscosity */
  double rounding;           /* of tau, as a part of it */
} fluid_rheology;

/* *out is NULL where the viscosity is a number. Release with fluid_rheology_destroy. */
sim_status fluid_rheology_create(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_machine *m,
                                 sim_isa isa, fluid_rheology **out) SIM_MUST_CHECK;
void fluid_rheology_destroy(fluid_rheology **rheology);
/* As fluid_kernels.row of the row number `number`; and whether a viscosity is out of range. */
bool fluid_rheology_row(const fluid_machine *m, const fluid_row *row, int64_t number);
/* As fluid_kernels.cells of some cells with links; and whether a viscosity is out of range. */
bool fluid_rheology_cells(const fluid_machine *m, const fluid_links *links, grid_range some, const sim_buffer *from,
                          const sim_buffer *to);
/* The relaxation time at a shear rate of the scenario, at the temperature of the cell x of a row, within its range. */
double fluid_rheology_tau(const fluid_machine *m, double shear, int64_t row, int64_t x);
/* The relaxation time of the cell x of a row in the step that has made a state, if it is out of range; else 0. */
double fluid_rheology_beyond(const fluid_machine *m, const sim_buffer *state, int64_t row, int64_t x);

#endif
