/* What is measured of a state: fields, rows of tables, the change in a step, y+. */
#ifndef FLUID_MEASURE_H
#define FLUID_MEASURE_H

#include "kernels/fluid/machine.h"

/* ---- cpu/measure.c ---- */

/* Density - 1 and velocity of a cell in units of the lattice. */
double fluid_cell_velocity(const fluid_machine *m, const sim_buffer *state, int64_t row, int64_t x, double u[3]);
/* The first cell whose density has left (1/2, 3/2); where there is none, the first of the greatest speed. */
typedef struct fluid_worst {
  int64_t row, x;
  bool dense;         /* the density has left */
  bool hot;           /* a GPU's: its temperature is out of bounds */
  double tau;         /* relaxation time, where a viscosity that is a function takes it out of its range; else 0 */
  double rho1, speed; /* density - 1 and speed, in units of the lattice */
  double temperature; /* where hot, above fluid_warmth.shift */
} fluid_worst;
/* Of all ranks. partial[rows]: scratch. */
sim_status fluid_find_worst(const fluid_machine *m, const sim_buffer *state, double *partial,
                            fluid_worst *out) SIM_MUST_CHECK;
/* Fields in physical units, of this rank's rows: values[rank][cells] of the velocity, values[rank] of the pressure; 0
 * in solid cells. */
void fluid_show(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *numbers,
                const sim_buffer *state, void *const *values);
/* Derivatives [of u_a][along axis b] of fields[rank][cells], by differences of neighbours and walls. */
void fluid_gradient(const fluid_machine *m, const fluid_parameters *p, double dx, const void *const *fields,
                    const int64_t at[3], double out[3][3]);
/* The surface of a body that cuts the link of a cell to its neighbour along an axis, whose cell is solid: how far it
 * is, in cells, and its velocity. */
void fluid_find_cut(const fluid_machine *m, const fluid_parameters *p, const int64_t at[3], int axis, int sign,
                    double *far, double velocity[3]);
/* The columns of `flow` from sums over cells: of density - 1, kinetic energy, enstrophy, the greatest squared speed,
 * momentum, with the density at rest and cells for units. */
enum { FLUID_FLOW_SUMS = FLUID_MOMENTUM + 3 };
void fluid_flow_row(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *numbers,
                    const double sums[FLUID_FLOW_SUMS], double *values);
/* A row of `flow`, from fields that are there on this rank's rows and beside them; partial[rows]. */
sim_status fluid_measure(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *numbers,
                         const sim_buffer *state, const void *const *fields, double *partial,
                         double *values) SIM_MUST_CHECK;

/* ---- cpu/change.c ---- */

/* The root mean square over the fluid's cells of the change of the velocity from one state to the next, over `speed`;
 * with heat the same of the temperature, over the range of temperatures, if that is more. */
sim_status fluid_find_change(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *numbers,
                             const sim_buffer *before, const sim_buffer *state, double *out) SIM_MUST_CHECK;

/* ---- cpu/plus.c ---- */

/* Of the cells beside a body along an axis: the greatest and the mean y+; 0 where there is none. */
typedef struct fluid_plus {
  double most, mean;
} fluid_plus;
/* The y+ of a point at a distance from a wall past which the fluid moves with a speed, of distance speed/viscosity:
 * by Spalding's law of the wall (J. Appl. Mech. 28 (1961) 455) with kappa = 0.41, B = 5; about its root below 5. */
double fluid_plus_of(double reynolds);
/* Of all bodies of the present state; out[bodies]. velocity[cells with links][3], in units of the lattice: those of the
 * state; NULL: it is on the host and tells them. */
sim_status fluid_find_plus(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *numbers,
                           const sim_buffer *state, const double *velocity, fluid_plus *out) SIM_MUST_CHECK;

/* Above this y+ of the first cells forces are not sure: they need a wall model, which is not there. */
#define FLUID_PLUS_SURE 5.0

#endif
