/* Walls: solid cells and the links of cells at walls; bodies that move, and sides that change with time. */
#ifndef FLUID_WALLS_H
#define FLUID_WALLS_H

#include "kernels/common/geometry/geometry.h"
#include "kernels/fluid/cpu/kernels.h"
#include "kernels/fluid/fluid.h"

/* ---- start/walls.c ---- */

typedef struct fluid_span {
  int64_t row;
  int32_t x, count;
} fluid_span;

typedef struct fluid_walls {
  bool *solid; /* [cells]; NULL: none */
  fluid_cell *cell;
  fluid_link *link;
  fluid_span *span;                   /* solid cells */
  int64_t cells, links, spans, fluid; /* fluid: cells that are not solid */
  /* Patches of cells that touch bodies: patch i is member[patch[i]] to member[patch[i + 1] - 1], numbers of cells. */
  int32_t *patch, *member;
  double *lost;   /* [members]: scratch of fluid_sweep */
  int32_t *first; /* [rows + 1]: scratch of patches.c */
  int64_t patches, members;
  int32_t *scratch[2]; /* [room]: of patches.c, and of cover.c where bodies move */
  int64_t *changed;    /* [changed_room]: of cover.c */
  int64_t room, changed_room;
  double *profile[FLUID_SIDES]; /* [cells of the side][3]: velocity of a side with a profile; NULL: it has none */
  geometry_pose pose[FLUID_BODIES], rate[FLUID_BODIES]; /* as of fluid_motion */
  const fluid_meshes *meshes;                           /* borrowed */
  double (*speed)[3];          /* [links]: velocity of the surface, in units of the lattice; NULL: no body moves */
  struct fluid_moving *moving; /* NULL: no body moves */
  struct fluid_timed *timed;   /* NULL: no side changes with time */
} fluid_walls;
struct fluid_motion; /* bodies.h */
/* Releases with fluid_walls_destroy, also after a failure. motion NULL: bodies stand as at the start; `meshes` live as
 * long as the walls. SIM_ERR_SCENARIO: a profile is wrong, or no cell is fluid. */
sim_status fluid_walls_create(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_meshes *meshes,
                              int threads, const struct fluid_motion *motion, fluid_walls *out) SIM_MUST_CHECK;
/* SIM_ERR_SCENARIO: no cell of the fluid touches a body. */
sim_status fluid_check_bodies(const fluid_parameters *p, const fluid_numbers *numbers,
                              const fluid_walls *walls) SIM_MUST_CHECK;
void fluid_walls_destroy(fluid_walls *walls);
/* Room for `more` items of `size` bytes behind `count`; `array` is the address of the pointer. (links.c) */
bool fluid_reserve(void *array, int64_t *room, int64_t count, int64_t more, size_t size);
/* Number of the cell `at` of a grid among the cells of the side at which it lies. */
static inline int64_t fluid_side_cell(const grid_shape *grid, int side, const int64_t at[3]) {
  const int b = side / 2 == 0 ? 1 : 0, c = side / 2 == 2 ? 1 : 2;
  return at[c] * grid->n[b] + at[b];
}
/* Bytes: counted, where the grid is not large or has no bodies; else a bound. */
double fluid_walls_bytes(const fluid_parameters *p, const fluid_meshes *meshes);
/* Bytes among them that a run usually leaves unused. */
double fluid_walls_room(const fluid_parameters *p, const fluid_meshes *meshes);
/* Bound on the cells that touch walls or bodies; and about their number. */
double fluid_wall_cells(const fluid_parameters *p, const fluid_meshes *meshes);
double fluid_wall_cells_expected(const fluid_parameters *p, const fluid_meshes *meshes);
/* ---- start/patches.c ---- */

/* Finds the patches, in memory that grows where links are found again. Called by fluid_walls_create when they are
 * there. */
sim_status fluid_patches_create(const fluid_lattice *lattice, const grid_shape *grid,
                                fluid_walls *walls) SIM_MUST_CHECK;
/* The number of the cell with links at (row, x); -1: none. */
int64_t fluid_cell_of(const fluid_walls *walls, int64_t row, int64_t x);
/* The fluid between the half of a link to a body and the surface, in cells, negative where the surface comes first;
 * sums over the links of a surface are the volume between it and the sides of cells. rate[3]: what a step adds to the
 * velocity of the surface there, in units of the lattice. (bodies.c) */
double fluid_link_room(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_walls *walls,
                       const fluid_cell *cell, const fluid_link *link, double rate[3]);
/* The unit normal, of either sign, of the surface that a link meets. (bodies.c) */
void fluid_link_normal(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_walls *walls,
                       const fluid_cell *cell, const fluid_link *link, double normal[3]);

/* The centre of a body in the image that is nearest to a cell, for the torque of what arrives there by a direction from
 * a part of the way. At the cut between two images of an endless body, half a period from its centre, a link across it
 * belongs by that part to the other: cells have their shear at their centres, which leaves shear times `part` as a
 * couple of each, and on an endless surface these add up to no torque. (bodies.c) */
void fluid_link_centre(const fluid_parameters *p, const fluid_walls *walls, const fluid_cell *cell, int arriving,
                       double part, int body, double out[3]);

/* ---- start/edges.c: where bodies meet sides ---- */

/* What a link adds to the force on a body beside what links to the body give: `factor` times the momentum of
 * fluid_kernels.force, axis by axis, and `room` (as of fluid_link_room) times the force of a step less `rate`. Where a
 * cell is at a side and at a body, a diagonal link crosses both, and by its one kind belongs to what it meets first;
 * its momentum across the side is the side's, and that along the side the body's. */
typedef struct fluid_edge_term {
  int64_t link;     /* among all */
  int body;         /* which gets it */
  double factor[3]; /* by axis */
  double point[3];  /* where it acts, in cells */
  double room, rate[3];
} fluid_edge_term;
enum { FLUID_EDGE_TERMS = FLUID_DIRECTIONS_MAX * 9 }; /* of a cell at most: of a link to a body 4, 3 and 2 */
/* The terms of a cell, in the order of its links; returns their number. */
int fluid_edge_terms(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_walls *walls,
                     const fluid_cell *cell, fluid_edge_term out[FLUID_EDGE_TERMS]);
/* The link by which a direction arrives at a cell; NULL: none. */
const fluid_link *fluid_link_of(const fluid_walls *walls, int64_t row, int64_t x, int arriving);

/* ---- start/moving.c: walls that move ---- */

/* Moves the bodies to the poses of `motion`: the solid cells, links and patches. `old` is where cells were solid
 * before, until the next call. SIM_ERR_NO_MEMORY, SIM_ERR_SCENARIO: no cell is fluid. */
sim_status fluid_walls_move(fluid_walls *walls, const struct fluid_motion *motion, const bool **old) SIM_MUST_CHECK;
/* Called by fluid_walls_create where bodies move. */
sim_status fluid_moving_create(const fluid_parameters *p, const fluid_numbers *numbers, int threads,
                               const struct fluid_motion *motion, fluid_walls *walls) SIM_MUST_CHECK;
void fluid_moving_destroy(struct fluid_moving **moving);

/* ---- start/timed.c: sides that change with time ---- */

bool fluid_side_is_timed(const fluid_side *side);
/* Whether fluid comes in or leaves by the velocity or the profile of side number s, not only along it. */
bool fluid_side_passes(const fluid_side *side, int s);
bool fluid_is_timed(const fluid_parameters *p); /* whether some side does */
/* Called by fluid_walls_create where sides change with time. */
sim_status fluid_timed_create(const fluid_parameters *p, const fluid_numbers *numbers, int threads,
                              fluid_walls *walls) SIM_MUST_CHECK;
enum { FLUID_TIMED_POINT = 56, FLUID_TIMED_LINK = 48 }; /* bytes that it takes for a cell of a side, and for a link */
/* The links whose constants fluid_walls_time sets, rising: *count numbers. NULL: none. */
const int32_t *fluid_timed_links(const fluid_walls *walls, int64_t *count);
void fluid_timed_destroy(struct fluid_timed **timed);
/* Sets the sides to a time: the middle of the step that comes next; walls are made for that of the first step. Does
 * nothing where no side changes. SIM_ERR_SCENARIO: a velocity or a pressure is out of range. */
sim_status fluid_walls_time(fluid_walls *walls, double t) SIM_MUST_CHECK;
/* The same; more[FLUID_SIDES]: what profiles that change with time bring in more than before, cells of volume a step.
 */
sim_status fluid_walls_change(fluid_walls *walls, double t, double more[FLUID_SIDES]) SIM_MUST_CHECK;
/* The same at times of a whole run: 1000, or fewer of large sides. */
sim_status fluid_timed_check(const fluid_parameters *p, const fluid_numbers *numbers,
                             fluid_walls *walls) SIM_MUST_CHECK;

#endif
