/* What makes the steps of a run: its rows, walls and laws, and what a step does to a state. */
#ifndef FLUID_MACHINE_H
#define FLUID_MACHINE_H

#include "kernels/fluid/cpu/kernels.h"
#include "kernels/fluid/cpu/ranks.h"
#include "kernels/fluid/start/bodies.h"
#include "kernels/fluid/start/sponge.h"
#include "kernels/fluid/start/walls.h"

/* Room for a state: two of them make a step. Rows behind FLUID_PAD numbers. */
fluid_rows fluid_rows_of(const fluid_parameters *p);
double fluid_state_numbers(const fluid_rows *rows);
/* Numbers of a plane of a state, of as many rows. */
static inline int64_t fluid_plane_numbers(const fluid_rows *rows, int64_t count) {
  return count / rows->group * rows->numbers * rows->stride;
}
static inline void *fluid_first(const sim_buffer *state) {
  return (char *)state->data + FLUID_PAD * sim_dtype_size(state->dtype);
}
/* Where the numbers of plane 0 begin: a row of moments has one number before its first cell. (Behind a plane of
 * populations there is more than one number of room.) */
enum { FLUID_BEFORE = FLUID_PAD - 1 };

typedef struct fluid_machine {
  grid_shape grid;
  fluid_part part; /* what this rank makes; on a GPU all */
  fluid_rows rows;
  const fluid_lattice *lattice;
  const fluid_kernels *kernels;
  fluid_collision collision;
  fluid_walls walls;
  fluid_sponge sponge;
  fluid_motion *motion;            /* NULL: no body moves */
  struct fluid_warmth *warmth;     /* NULL: no heat (heat.h) */
  struct fluid_grains *grains;     /* NULL: none (grains/grains.h) */
  struct fluid_rheology *rheology; /* NULL: the viscosity is a number (cpu/rheology.h) */
  struct fluid_push *push;         /* NULL: no force that is a function (cpu/push.h) */
  double *drag;                    /* [cells]: resistance by a step; NULL: none */
  double *rest[3];                 /* [n[axis]]: density of layers with which the fluid begins; NULL: 1 (start.h) */
  bool single, populations;        /* populations: a state is of these, not of moments (cpu/trt.c) */
  int threads;
} fluid_machine;
/* Without walls. (model.c) */
fluid_machine fluid_machine_of(const fluid_parameters *p, const fluid_numbers *numbers, const sim_setup *setup);
const fluid_kernels *fluid_kernels_of(bool single, bool populations, sim_isa isa);
/* Density - 1 and three times the momentum of a cell, whose first number is number `at` of a state. (cpu/measure.c) */
double fluid_cell_momentum(const fluid_machine *m, const void *first, int64_t at, double j[3]);
/* Makes a step of this rank's rows from one state to another. *wrong: some density of them may have left (1/2, 3/2), or
 * a speed may be above collision.fastest: see fluid_find_worst. */
sim_status fluid_sweep(const fluid_machine *m, const sim_buffer *from, const sim_buffer *to,
                       bool *wrong) SIM_MUST_CHECK;
/* The links, with the force in a state at the cells of this rank: until the next call. */
sim_status fluid_find_links(const fluid_machine *m, const sim_buffer *state, fluid_links *out) SIM_MUST_CHECK;
/* Copies the ends of this rank's rows beyond them along a periodic x, and clears solid cells. */
void fluid_finish_rows(const fluid_machine *m, const sim_buffer *state);
/* Moves the bodies after step number `step` has made a state: clears cells that they cover now, fills those that they
 * have left, with the velocity of their surface, and keeps the mass above that at rest. The planes beside those of this
 * rank are there. (cpu/cover.c) */
sim_status fluid_move_bodies(fluid_machine *m, int64_t step, const sim_buffer *state) SIM_MUST_CHECK;
/* The part of it on the host: moves poses and walls, and finds the cells whose walls have changed,
 * walls.changed[*count]; *old: where cells were solid before. */
sim_status fluid_move_walls(fluid_machine *m, int64_t step, const bool **old, int64_t *count) SIM_MUST_CHECK;
/* The neighbour of a cell in a direction; -1: outside of the box. */
int64_t fluid_neighbour(const grid_shape *g, int64_t cell, const int8_t c[3]);
/* Velocity, in units of the lattice, of the surface that a cell has come out of, at the end of the step: of the body
 * that is nearest, the mean of those half a step before and after. */
void fluid_surface_velocity(const fluid_machine *m, int64_t cell, double out[3]);
/* Sets member[cells with links] to the number of each among walls.member, or -1, and walls.lost to 0. */
void fluid_number_members(const fluid_machine *m, int32_t *member);
/* Adds to what a cell, or for a solid one its first neighbour that touches a body, is to get back. */
void fluid_give(const fluid_machine *m, const int32_t *member, int64_t cell, double mass);
/* Mass that walls which move push into a cell in a step: of the fluid at rest. */
double fluid_pushed(const fluid_machine *m, const fluid_cell *cell);
/* Gives the walls.lost of each patch to its cells in equal parts; what rounding keeps from a cell goes to the next one.
 * add: adds mass to the cell walls.member[member], and returns what it has got after rounding. */
typedef double fluid_add_mass(void *context, int64_t member, double mass);
void fluid_share_mass(const fluid_walls *walls, fluid_add_mass *add, void *context);
/* Gives walls.lost[members] back to the cells of each patch, by fluid_share_mass. Each rank has lost[] of its own
 * cells. */
sim_status fluid_return_mass(const fluid_machine *m, const sim_buffer *state) SIM_MUST_CHECK;
/* Sets moment `at` of the cell at x and its copies beyond the ends of the row. Returns what rounding left of it. */
double fluid_set_moment(const fluid_machine *m, void *first, int64_t at, int64_t x, double value);
/* Clears this rank's solid cells: they are at rest. */
void fluid_clear_solid(const fluid_machine *m, const sim_buffer *state);
/* Copies the ends of the moments of the row at `row` beyond them, along a periodic x; size: of a number. Populations
 * have no copies. */
void fluid_copy_ends(const fluid_machine *m, char *row, size_t size);

/* Sets the means of a sponge to a state; each rank has those of its own planes. */
sim_status fluid_sponge_start(const fluid_machine *m, const sim_buffer *state) SIM_MUST_CHECK;
/* With heat: takes off the means what half a step's force has added to a first state since. In a step a sponge sees the
 * flow before the force, half a step's of which is in it at the start, of the step before. */
sim_status fluid_sponge_delay(const fluid_machine *m, const sim_buffer *state) SIM_MUST_CHECK;
/* What inlets bring more than before, more[FLUID_SIDES], adds to the flow through the planes of a layer, along its
 * axis: before a side that brings it, and before the only side with a pressure. Each cell that is fluid takes its
 * share. */
double fluid_sponge_gain(const fluid_layer *layer, const double more[FLUID_SIDES]);
/* Changes the mean flow through planes by that. */
void fluid_sponge_follow(const fluid_machine *m, const double more[FLUID_SIDES]);
/* Damps a state that a step has made. */
sim_status fluid_sponge_damp(const fluid_machine *m, const sim_buffer *state) SIM_MUST_CHECK;
/* Changes the density of a cell, and its momentum by push[rank], in units of the lattice; S follows as that of the
 * equilibrium does, by the change of j j/rho. (cpu/sponge.c) */
void fluid_kick(const fluid_machine *m, void *first, int64_t cell, double dense, const double *push);
/* Gathers the means: then all ranks have all. */
sim_status fluid_sponge_gather(const fluid_machine *m) SIM_MUST_CHECK;

#endif
