/* Rules between parameters: the parts of fluid_validate. */
#ifndef FLUID_RULES_H
#define FLUID_RULES_H

#include "kernels/fluid/fluid.h"

/* The nearest number of so many decimal digits that is not below or not above x: advice that is followed holds. */
double fluid_round_up(double x, int digits);
double fluid_round_down(double x, int digits);

/* A flux where no temperature is given, at surfaces that the fluid does not pass. */
void fluid_check_fluxes(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults);
/* Grains: those of the model `collision`, and what is not supported beside them; fills `coupled`. (rules_grains.c) */
void fluid_check_grains(fluid_parameters *p, const grid_shape *grid, sim_faults *faults);
/* Fills viscosity and thickest; false: there is no such number. (rules_viscosity.c) */
bool fluid_find_viscosity(fluid_parameters *p, const grid_shape *grid, sim_faults *faults);
/* What is not supported beside a viscosity that is a function, and relaxation times out of range. */
void fluid_check_viscosity(const fluid_parameters *p, sim_faults *faults);
void fluid_check_relaxation(const fluid_parameters *p, const fluid_numbers *numbers, sim_faults *faults);
/* Tells the range of viscosities and relaxation times; warns where a shear rate of the grid leaves it. */
void fluid_tell_viscosity(const fluid_parameters *p, const fluid_numbers *numbers);
/* Fills the pressures of sides. (rules_pressure.c) */
void fluid_find_pressures(fluid_parameters *p, const grid_shape *grid);
/* The velocity of the fluid inwards through the middle of a side that it passes (fluid_side_passes) at t = 0. */
double fluid_first_inflow(const fluid_parameters *p, int s);
/* What is not supported beside a force that is a function, and faults of its values. (rules_force.c) */
void fluid_check_force(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults);
void fluid_check_force_values(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults);
void fluid_tell_force(const fluid_parameters *p, const fluid_numbers *numbers);
/* What is not supported beside sides that change with time. */
void fluid_check_timed(const fluid_parameters *p, sim_faults *faults);
/* What populations have not. */
void fluid_check_collision(const fluid_parameters *p, sim_faults *faults);
void fluid_check_porous(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults);

/* Faults of pressures of sides, and of the fluid's own weight, that change the density too much; warnings of those that
 * change it by more than 5 %. (scenario/rules_pressure.c) */
void fluid_check_pressures(const fluid_parameters *p, const fluid_numbers *numbers, sim_faults *faults);
void fluid_tell_pressures(const fluid_parameters *p, const fluid_numbers *numbers);

/* The axis along which an acceleration drives the fluid and nothing holds it; -1: none. (rules_drive.c) */
int fluid_free_axis(const fluid_parameters *p);
/* Warns of flows that are driven far above `speed`: by a weight along an open side, without an end. */
void fluid_tell_drive(const fluid_parameters *p);

void fluid_check_average(const fluid_parameters *p, sim_faults *faults); /* scenario/steady.c */
/* Rules of `steady`; makes the stop_when of the run. (scenario/steady.c) */
sim_status fluid_check_steady(fluid_parameters *p, sim_faults *faults) SIM_MUST_CHECK;
void fluid_check_references(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults);
/* Tells the Reynolds number and the directions of each reference. */
void fluid_tell_references(const fluid_parameters *p);

void fluid_name_tables(fluid_parameters *p); /* scenario/tables.c */

#endif
