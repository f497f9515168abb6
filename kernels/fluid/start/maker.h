/* What makes solid cells and links: for walls.c, links.c and moving.c alone. */
#ifndef FLUID_MAKER_H
#define FLUID_MAKER_H

#include "kernels/fluid/fluid.h"
#include "kernels/fluid/start/bodies.h"
#include "kernels/fluid/start/walls.h"

typedef struct fluid_maker {
  const fluid_parameters *p;
  const fluid_numbers *numbers;
  const fluid_lattice *lattice;
  grid_shape grid;
  sim_expr_program *profile[FLUID_SIDES], *push[FLUID_SIDES];
  double time;   /* of the sides */
  void *scratch; /* scratch_bytes */
  size_t scratch_bytes;
  bool *within[3];                                       /* [n[axis]]: scratch of fluid_mark_body */
  fluid_shape shape[FLUID_BODIES], faster[FLUID_BODIES]; /* faster: at the poses fluid_walls.rate, where bodies move */
  bool without[FLUID_BODIES];                            /* bodies that are left out */
  int bodies;
  bool rock;         /* solid cells are from an image: their sides are walls, and there are no bodies */
  bool speeds;       /* stores the velocity of each link */
  double g[3];       /* acceleration, in units of the lattice */
  double surface[3]; /* velocity of the surface of the last link to a body, in units of the lattice */
  fluid_walls *out;
  int64_t cell_room, link_room, span_room, speed_room;
} fluid_maker;

/* Compiles and stores the profiles of the sides, and sets the bodies to out->pose. Free with fluid_maker_end, also
 * after a failure. */
sim_status fluid_maker_begin(fluid_maker *m, const fluid_parameters *p, const fluid_numbers *numbers,
                             fluid_walls *out) SIM_MUST_CHECK;
void fluid_maker_end(fluid_maker *m);
/* Velocity at which a body moves at x, and the distance, negative in it. */
double fluid_maker_distance(const fluid_maker *m, int body, const double x[3], double velocity[3]);
/* Walls of the bodies that do not move, at out->pose. Releases as fluid_walls_create. */
sim_status fluid_walls_build(const fluid_parameters *p, const fluid_numbers *numbers, int threads,
                             fluid_walls *out) SIM_MUST_CHECK;
/* Velocity of a side at x. */
sim_status fluid_side_velocity(const fluid_maker *m, int side, const double x[3], double u[3]) SIM_MUST_CHECK;
/* Pressure of an open side at x, in units of the lattice. */
sim_status fluid_side_pressure(const fluid_maker *m, int side, const double x[3], double *out) SIM_MUST_CHECK;
/* Either of them, the pressure in value[0], in units of the lattice. */
sim_status fluid_side_value(const fluid_maker *m, int side, const double x[3], double value[3]) SIM_MUST_CHECK;
/* The sides, but for slip sides, by which a link leaves the box, and the point at which its constant takes their
 * values; returns their number, 0 for all other links. */
int fluid_link_sides(const fluid_maker *m, const fluid_cell *cell, const fluid_link *link, int side[3], double x[3]);
/* The constant of such a link, which arrives by direction c, from the values of its sides. */
double fluid_side_constant(const fluid_maker *m, int c, int count, const int side[3], double value[3][3]);
/* The link from a side that the fluid passes with a given velocity, opposite to a link from a body; NULL: none. */
const fluid_link *fluid_link_entry(const fluid_maker *m, const fluid_cell *cell, const fluid_link *link);
/* Adds a cell with its links, if it has some; near_body: a body may be beside it. */
sim_status fluid_link_cell(fluid_maker *m, const int64_t at[3], bool near_body) SIM_MUST_CHECK;
/* SIM_ERR_SCENARIO: there are more links than a cell can number. */
sim_status fluid_check_links(int64_t links) SIM_MUST_CHECK;
/* Adds the spans of solid cells of a row. */
sim_status fluid_add_spans(fluid_maker *m, int64_t row) SIM_MUST_CHECK;
/* Sets solid[cells] in the cells that a body holds, and rows[rows] of those. */
void fluid_mark_body(const fluid_maker *m, int body, int threads, bool *solid, bool *rows);

#endif
