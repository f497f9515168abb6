/* Forces by mass that are functions of place, time, velocity and temperature. Twin: cuda/push.cuh.
 *
 * A step without the force leaves a cell the velocity u*, of which half of the force is still missing. So the velocity
 * is the solution of u = u* + dt/2 f(x, t, u, T) at the end of the step: the trapezoidal rule, of second order in time,
 * which keeps the speed of a flow that f turns, and under which drag damps for any dt. Newton's method solves it to
 * rounding, for each cell by itself. The whole force of a step, g = 2 (u - u*) in cells per step^2, is then added as
 * that of Guo, Zheng and Shi (Phys. Rev. E 65 (2002) 046308) to the first order in g, whose shares do not depend on the
 * rates of relaxation: j -> j + rho g, S -> S + rho (u g + g u). The state of each cell has g, [rank] numbers behind
 * all others (fluid_rows.force), which outputs take half of off j/rho. */
#ifndef FLUID_CPU_PUSH_H
#define FLUID_CPU_PUSH_H

#include "kernels/fluid/heat.h"
#include "kernels/fluid/machine.h"

typedef struct fluid_push {
  sim_expr_program *force;    /* x, y, z, t, ux, uy, uz, T -> acceleration, in double */
  sim_expr_program *slope[3]; /* its derivatives by ux, uy, uz; NULL: it does not depend on this velocity */
  bool depends, linear;       /* on the velocity; as a linear function of it */
  const fluid_heat_kernels *kernels;
  fluid_heat_law law[2]; /* with half a force, and a whole one */
  double dt, unit;       /* of the scenario; unit: a cell per step */
  double t;              /* time at the end of the step */
  size_t scratch;        /* bytes for each thread, a multiple of 64 */
  char *memory;          /* [threads][scratch] */
  double *x;             /* [cells along x]: centres */
  int failed;            /* a cell has no force: its g is NaN */
} fluid_push;

/* *out is NULL without a force. Release with fluid_push_destroy, also after a failure. */
sim_status fluid_push_create(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_machine *m,
                             sim_isa isa, fluid_push **out) SIM_MUST_CHECK;
void fluid_push_destroy(fluid_push **push);
/* Adds half of the force at time 0 to the first state, which has the velocities of the start; before the buoyancy. */
void fluid_push_start(const fluid_machine *m, const sim_buffer *state);
/* Adds the force to a row of a state that a step has made, at push->t; warm[n]: temperatures above the shift, of which
 * the buoyancy is not yet in the state; NULL without heat. Sets push->failed. */
void fluid_push_row(const fluid_machine *m, const sim_buffer *state, int64_t row, const double *warm);
/* The same of all rows of this rank, without heat. */
void fluid_push_rows(const fluid_machine *m, const sim_buffer *state);
/* SIM_ERR_DIVERGED: the force of a cell of some rank was not found in step number `step`. */
sim_status fluid_push_guard(const fluid_machine *m, const sim_buffer *state, int64_t step) SIM_MUST_CHECK;
/* The force at push->t of a fluid without heat that has the velocity u in a cell, in units of the lattice; 0 without
 * one. */
void fluid_push_at(const fluid_machine *m, int64_t cell, const double u[3], double g[3]);
/* The failure of a cell: its velocity u and the time, in the scenario's units. */
sim_status fluid_push_fail(const grid_shape *g, int64_t cell, const double u[3], double t, int64_t step) SIM_MUST_CHECK;
/* slope[b]: the derivatives of a force by the velocity along b, for the caller to free, also after a failure; NULL: it
 * does not depend on it. *linear: it is a linear function of the velocity. */
sim_status fluid_push_slopes(const sim_expr *force, int rank, sim_expr *slope[3], bool *linear) SIM_MUST_CHECK;
/* The force of a cell, in units of the lattice; 0 without one. */
void fluid_push_of(const fluid_machine *m, const sim_buffer *state, int64_t row, int64_t x, double g[3]);

#endif
