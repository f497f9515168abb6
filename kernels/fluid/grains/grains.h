/* Grains in a fluid: spheres that the model `collision` moves, and cells that they cover in part.
 *
 * In a step the grains stand still and act on the fluid by their velocities; then they move, in substeps, by the
 * momentum that the fluid has given to them, by their weight less that of the fluid which they displace, and by their
 * contacts. Cells inside a grain hold fluid that moves with it. What the grain gives this fluid when its velocity
 * changes is no force of the fluid outside: it is given back one step later (Feng and Michaelides, Comput. Fluids 38
 * (2009) 370), so that the momentum of all cells, and of the grains less that of the fluid which they displace at their
 * velocities of the step before, is kept to rounding. */
#ifndef FLUID_GRAINS_H
#define FLUID_GRAINS_H

#include "kernels/fluid/fluid.h"
#include "kernels/fluid/grains/layers.h"
#include "kernels/fluid/machine.h"

/* Least cells across a grain; gap in cells below which lubrication is added, and the one below which it is constant. */
#define FLUID_GRAIN_LEAST 6
#define FLUID_GRAIN_GAP 1.0
#define FLUID_GRAIN_TOUCH 0.02

/* The part of a cell that a grain covers. */
typedef struct fluid_share {
  int64_t cell;
  int32_t grain, next; /* next: of the same cell, of a later grain; -1: none */
  double part;         /* of the cell's volume */
  double arm[3];       /* from the grain's centre to the cell's, in cells */
  double velocity[3];  /* of the grain at the cell's centre, in cells per step */
  double momentum[3];  /* that the grain has got in the step, in units of the lattice */
} fluid_share;

/* Sums over time, in the scenario's units: work of the fluid on the grains; work of gravity less buoyancy; energy
 * dissipated by lubrication; energy dissipated by the drag of points. */
enum { FLUID_WORK_FLUID, FLUID_WORK_GRAVITY, FLUID_LUBRICATED, FLUID_DRAGGED, FLUID_BUDGET };

/* Bins of grains that are at least as wide as the greatest diameter and a gap. */
typedef struct fluid_bins {
  int64_t n[3], count;
  int32_t *first, *next; /* first: by bin; next: by grain; -1: none */
} fluid_bins;

struct fluid_points; /* points.h */
typedef struct fluid_grains {
  const fluid_parameters *p;
  const fluid_numbers *numbers;
  fluid_part part; /* planes in which this rank finds what grains and fluid give each other; it moves all grains */
  collision_coupled *coupled;
  collision_coupled_state s;
  double *before; /* [6][n]: velocity and spin with which the grains acted on the fluid in the last step */
  double *start;  /* [3][n]: scratch: positions before a step */
  double *given;  /* [n][6]: scratch: momentum and angular momentum that the fluid gives in a step; not of points */
  fluid_bins bins;
  double budget[FLUID_BUDGET];
  int64_t *room; /* [n + 1]: the shares of grain i begin at room[i] */
  /* On the CPU alone: a GPU finds the shares itself. */
  int32_t *count;      /* [n]: of its shares */
  fluid_share *share;  /* [room[n]] */
  int32_t *head;       /* [cells of this rank]: the first share of a cell; -1: none; between steps all are */
  fluid_layers layers; /* momentum and angular momentum that grains get */
  fluid_blend *blend;  /* [blends] of room[n]: cells that grains cover */
  int32_t *of;         /* [blends]: the first share of each */
  int64_t blends;
  bool told_overlap;
  struct fluid_points *points; /* grains are points with a law of drag; NULL: cells resolve them */
} fluid_grains;

/* ---- shares.c ---- */

/* Radius, in cells, of the sphere that covers cells for a grain, so that the flow has its drag. In a solid the stress
 * keeps a part c of itself from step to step, and a plane wall that shears the fluid stands (1 - t)/(1 + t) (tau - 1/2)
 * cells behind the surface of the solid, t = c/(1 + sqrt(1 - c^2)): exact for a wall along an axis, 1/sqrt 3 (tau -
 * 1/2) at c = 1/2. What the curvature adds is fitted to spheres in periodic arrays (Hasimoto, J. Fluid Mech. 5 (1959)
 * 317) of 6.2 to 12.4 cells across: 0.22/radius. */
double fluid_cover_radius(const fluid_grains *g, int64_t i);
/* Bound on the cells that a sphere of radius r, in cells, touches. */
double fluid_share_room(double r);
/* The same of a box around it. */
int64_t fluid_box_cells(double r);
/* The lowest plane of z, before it is taken around the box, that a grain's sphere touches, and their number. */
int64_t fluid_share_planes(const fluid_grains *g, int64_t i, int64_t *count);
/* Finds the shares of all grains in this rank's planes, where they stand, and the cells that they cover. */
void fluid_find_shares(fluid_grains *g, const fluid_machine *m);
/* Empties `head`. */
void fluid_clear_shares(fluid_grains *g, const grid_shape *grid);

/* ---- couple.c ---- */

/* Mass of the fluid that a grain displaces, in the scenario's units. */
double fluid_displaced(const fluid_grains *g, int64_t i);
/* The grains stand in host memory on every kind of device, whole on every rank; all ranks of `part` call this. Destroy
 * with fluid_grains_destroy, also after a failure. SIM_ERR_SCENARIO: grains overlap, or are too small. */
sim_status fluid_grains_create(const fluid_parameters *p, const fluid_numbers *numbers, const grid_shape *grid,
                               const fluid_part *part, const sim_setup *setup, fluid_grains *out) SIM_MUST_CHECK;
void fluid_grains_destroy(fluid_grains *g);
/* Gives cells of the first state the velocities of the grains that cover them. */
void fluid_grains_start(const fluid_machine *m, const sim_buffer *state);
/* Makes the cells with grains of a step again, from `from` to `to`, and moves the grains. Sets *wrong as fluid_sweep.
 * SIM_ERR_DIVERGED. */
sim_status fluid_grains_step(const fluid_machine *m, const sim_buffer *from, const sim_buffer *to,
                             bool *wrong) SIM_MUST_CHECK;
/* The latter part of it: moves the grains by given[n][6], in the scenario's units. */
sim_status fluid_grains_move(const fluid_machine *m) SIM_MUST_CHECK;

/* ---- bins.c ---- */

/* gap: in the scenario's units. Destroy with fluid_bins_destroy, also after a failure. */
sim_status fluid_bins_create(const fluid_grains *g, const grid_shape *grid, double gap, fluid_bins *out) SIM_MUST_CHECK;
void fluid_bins_destroy(fluid_bins *b);
void fluid_bins_fill(const fluid_grains *g, const grid_shape *grid, fluid_bins *b); /* by where grains stand now */
/* The bins that have all neighbours of a grain; returns their number. */
int fluid_bins_near(const fluid_grains *g, const grid_shape *grid, const fluid_bins *b, int64_t i, int64_t out[27]);
/* Distance of two grains' centres, and d[3] from j to i: of the nearest images. */
double fluid_grains_apart(const fluid_grains *g, const grid_shape *grid, int64_t i, int64_t j, double d[3]);

/* ---- lubricate.c ---- */

/* Slows the approach of surfaces that are nearer than FLUID_GRAIN_GAP over a step, by what the cells between do not
 * resolve of the film: force 6 pi mu R^2 u (1/h - 1/gap), R = r1 r2/(r1 + r2), or r at a wall (Cox and Brenner, Chem.
 * Eng. Sci. 22 (1967) 1753; Nguyen and Ladd, Phys. Rev. E 66 (2002) 046708). Returns the energy that this dissipates.
 */
double fluid_lubricate(fluid_grains *g, const grid_shape *grid);

/* ---- tell.c ---- */

/* What a plan has of grains: bytes, and seconds of a step beside those of the fluid alone: those that ranks divide, and
 * those that each takes. received: by a rank from all, in `exchanges` exchanges of a step. */
typedef struct fluid_grains_plan {
  double cells, grains, snapshot, checkpoint, seconds, undivided, received;
  int exchanges;
} fluid_grains_plan;
/* Creates grains as a run would, tells of them and warns. SIM_ERR_SCENARIO: as of fluid_grains_create. */
sim_status fluid_grains_check(const fluid_parameters *p, const fluid_numbers *numbers, const sim_setup *setup,
                              fluid_grains_plan *out) SIM_MUST_CHECK;
/* A row of the table `grains`. */
sim_status fluid_grains_row(fluid_grains *g, double *values) SIM_MUST_CHECK;
extern const sim_field fluid_grains_columns[];

#endif
