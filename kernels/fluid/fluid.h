/* Fluids at low Mach numbers by a lattice Boltzmann method: parameters, units of the lattice, walls, and steps.
 *
 * Physical quantities are in the scenario's units; dx is the width of a cell, dt a step. In units of the lattice a cell
 * is 1 wide, a step takes 1, and the fluid at rest has density 1; its speed of sound is 1/sqrt(3). */
#ifndef FLUID_FLUID_H
#define FLUID_FLUID_H

#include "engine/model.h"
#include "kernels/collision/coupled.h"
#include "kernels/common/geometry/geometry.h"
#include "kernels/common/grid/grid.h"
#include "kernels/fluid/cpu/kernels.h"
#include "kernels/fluid/cpu/ranks.h"

extern const sim_model fluid_model;
extern const sim_bench fluid_bench[]; /* bench.c */

/* ---- scenario/: parameters and rules ---- */

/* In `grid` GRID_NO_FLUX is "slip" and GRID_FIXED "wall". */

/* What a side of the box has beside its boundary. */
typedef struct fluid_side {
  bool given;
  sim_doubles velocity; /* [rank] or none: of the wall, or of the fluid that comes in */
  sim_expr *profile;    /* x, y, z, t -> the same at a point of the side; NULL: none */
  sim_expr *push;       /* x, y, z, t -> pressure; NULL: none */
  double pressure;      /* of it, of a function at the middle of the side at t = 0; NaN: none; filled by validate */
  bool straight;        /* the fluid passes this open side without a velocity along it */
  double sponge;        /* width of the layer that absorbs sound; NaN: none */
} fluid_side;

enum { FLUID_SIDES = 6, FLUID_PROBES = 16, FLUID_BODIES = 10 };
enum { FLUID_NAMED = 6, FLUID_TABLES = FLUID_NAMED + 2 }; /* tables whose columns a scenario names; all tables */
extern const char *const fluid_side_names[FLUID_SIDES];   /* x_low, x_high, y_low, ... */

/* What the coefficients of a body are of. */
typedef struct fluid_reference {
  bool given;
  double area, length;         /* area; 2-D: of a layer 1 thick */
  double speed;                /* NaN: fluid_parameters.speed */
  sim_doubles direction, lift; /* [rank] or none */
  sim_doubles centre;          /* [3] or none: the body's own point */
} fluid_reference;

/* A body, as it stands at time 0; which shape it is says the schema of its item. */
typedef struct fluid_body {
  char *name, *path;
  double point[3], axis[3], radius, low[3], high[3], velocity[3], spin;
  sim_expr *motion, *turning; /* t -> velocity, spin; NULL: the numbers above */
  sim_doubles pivot;          /* [3] or none: a point of the axis about which a block turns */
  bool inside;                /* the fluid is in it */
  double scale, shift[3];     /* of a file */
  double temperature, flux;   /* NaN: none; without either it is adiabatic */
  fluid_reference reference;
  bool yplus; /* y+ is told without a reference too */
} fluid_body;
extern const sim_schema fluid_ball_schema, fluid_cylinder_schema, fluid_block_schema, fluid_stl_schema;

/* Solid cells from images or an array. */
typedef struct fluid_solid {
  bool given;
  char *path, *dataset;
  int channel;   /* sim_channel */
  int64_t first; /* number of the first image of a stack */
  double threshold;
  bool dark; /* solid below the threshold, not above */
} fluid_solid;

typedef struct fluid_turbulence {
  bool given;
  double smagorinsky; /* constant of the eddy viscosity; 0: none */
  double prandtl;     /* eddy viscosity over the diffusivity of eddies, with `heat` */
} fluid_turbulence;

/* Temperature, carried by the flow; it pushes the fluid where expansion and gravity are given. */
typedef struct fluid_heat {
  bool given;
  double diffusivity, expansion, reference;
  sim_doubles gravity;      /* [rank] or none */
  sim_expr *initial;        /* x, y, z -> temperature; NULL: reference */
  double side[FLUID_SIDES]; /* temperatures of sides; NaN: none */
  double flux[FLUID_SIDES]; /* heat that enters through them, by area, time and heat capacity; NaN: none */
} fluid_heat;

typedef enum fluid_collision_kind { FLUID_MOMENTS, FLUID_TRT } fluid_collision_kind;
typedef enum fluid_drag_law { FLUID_NO_DRAG, FLUID_STOKES, FLUID_SCHILLER_NAUMANN, FLUID_DI_FELICE } fluid_drag_law;
typedef enum fluid_lattice_kind { FLUID_LATTICE_AUTO, FLUID_D3Q27 } fluid_lattice_kind;

/* Running means: of the steps that are multiples of `every`, from a time on. */
typedef struct fluid_average {
  bool given;
  double from;
  int64_t every;
} fluid_average;

typedef struct fluid_integrate {
  double dt, t_end; /* dt NaN: by mach and viscosity */
} fluid_integrate;

typedef struct fluid_parameters {
  sim_common common;
  grid_parameters grid;
  sim_expr *law;    /* shear, T -> kinematic viscosity; constant of a number */
  double viscosity; /* of it at the shear rate `speed` over the distance of sides, filled by validate */
  double thickest;  /* the greatest of it from no shear to that one; the viscosity where it is a number */
  double density, speed, mach;
  sim_doubles acceleration; /* [rank] or none */
  sim_expr *force;          /* x, y, z, t, ux, uy, uz, T -> more of it; NULL: none */
  int collision;            /* fluid_collision_kind */
  double magic;             /* of TRT */
  int lattice;              /* fluid_lattice_kind */
  sim_expr *initial;        /* x, y, z -> velocity, and pressure where there is one result more; NULL: at rest */
  fluid_side sides[FLUID_SIDES];
  fluid_solid solid;
  sim_expr *resistance; /* x, y, z -> force by mass and velocity; NULL: none */
  fluid_turbulence turbulence;
  fluid_heat heat;
  sim_list grains; /* as of the model `collision` */
  collision_contact contact;
  double gravity[3];  /* of grains */
  int drag;           /* fluid_drag_law: grains are points; none: cells resolve them */
  sim_list bodies;    /* of fluid_body */
  sim_doubles probes; /* [count][3] */
  sim_list gates;     /* of fluid_gate (gates.h) */
  int64_t spectrum;   /* bins of the table `spectrum`; 0: none */
  fluid_average average;
  double steady; /* change of the velocity in a step, over `speed`, that ends the run; NaN: none */
  fluid_integrate integrate;
  collision_parameters coupled; /* filled by validate: the grains, which borrow the lists above */
  /* filled by validate: tables whose columns the scenario names */
  char names[FLUID_NAMED][SIM_COLUMNS_MAX][96];
  sim_field columns[FLUID_NAMED][SIM_COLUMNS_MAX + 1];
  sim_table table[FLUID_NAMED + 1];
  sim_field flow[16]; /* columns of the table `flow` where they are not the usual ones */
  const sim_table *tables[FLUID_TABLES + 1];
  int kinds[FLUID_TABLES]; /* of the tables: fluid_table_kind */
} fluid_parameters;
extern const sim_schema fluid_schema;

typedef enum fluid_table_kind {
  FLUID_FLOW_TABLE,
  FLUID_BODIES_TABLE,
  FLUID_PROBES_TABLE,
  FLUID_HEAT_TABLE,
  FLUID_POROUS_TABLE,
  FLUID_GRAINS_TABLE,
  FLUID_GATES_TABLE,
  FLUID_SPECTRUM_TABLE
} fluid_table_kind;
/* Columns of the table `flow`; those of momentum that the grid has not are left out. */
enum {
  FLUID_MASS,
  FLUID_KINETIC,
  FLUID_ENSTROPHY,
  FLUID_SPEED,
  FLUID_MACH,
  FLUID_MOMENTUM /* + axis */
};

/* Numbers of the lattice that follow from the parameters and a step. */
typedef struct fluid_numbers {
  double dx, dt;
  double tau;      /* relaxation time: 3 viscosity dt/dx^2 + 1/2 */
  double heat_tau; /* relaxation time of heat: 4 diffusivity dt/dx^2 + 1/2 */
  double mach;     /* of `speed` */
  double reynolds; /* of `speed` and the shortest distance of sides that are not periodic; of all if all are */
  double cell_reynolds;
  bool viscous; /* the step is as long as viscosity or diffusivity, not as mach, allows */
} fluid_numbers;

sim_status fluid_validate(void *parameters, sim_faults *faults); /* sim_model.validate */
/* ---- scenario/rules_media.c: parts of fluid_validate ---- */

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
/* Whether fluid passes the middle of a side with a profile, by more than 1 % of `speed`, at t = 0. */
bool fluid_profile_begins(const fluid_parameters *p, int s);
/* What is not supported beside a force that is a function, and faults of its values. (rules_force.c) */
void fluid_check_force(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults);
void fluid_check_force_values(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults);
void fluid_tell_force(const fluid_parameters *p, const fluid_numbers *numbers);
/* What is not supported beside sides that change with time. */
void fluid_check_timed(const fluid_parameters *p, sim_faults *faults);
/* What populations have not. */
void fluid_check_collision(const fluid_parameters *p, sim_faults *faults);
void fluid_check_porous(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults);

bool fluid_is_name(const char *name); /* whether columns may be named so: at most 40 letters, digits and _ */
/* The name of a body in columns. */
enum { FLUID_BODY_NAME = 64 };
void fluid_body_name(const fluid_parameters *p, int body, char out[FLUID_BODY_NAME]);
/* The name `own`, or without one "kindN", where N counts from 1. */
void fluid_name(const char *own, const char *kind, int index, char out[FLUID_BODY_NAME]);
/* ---- scenario/rules_reference.c ---- */

/* Above this y+ of the first cells forces are not sure: they need a wall model, which is not there. */
#define FLUID_PLUS_SURE 5.0
/* The unit vectors of drag, lift and the side force of a body with a reference: the drag's is `direction`, or of the
 * fluid that comes in by one side, or of the acceleration; lift is at a right angle to it, in 2-D turned by 90 degrees
 * from x to y; the side force is along drag x lift. Returns false where no direction is known. */
bool fluid_reference_axes(const fluid_parameters *p, int body, double drag[3], double lift[3], double side[3]);
double fluid_reference_speed(const fluid_parameters *p, int body);
void fluid_check_average(const fluid_parameters *p, sim_faults *faults); /* scenario/steady.c */
/* Rules of `steady`; makes the stop_when of the run. (scenario/steady.c) */
sim_status fluid_check_steady(fluid_parameters *p, sim_faults *faults) SIM_MUST_CHECK;
void fluid_check_references(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults);
bool fluid_has_references(const fluid_parameters *p);
bool fluid_tells_plus(const fluid_parameters *p, int body); /* whether y+ of a body is told */
bool fluid_tells_some_plus(const fluid_parameters *p);      /* of some body */
/* Tells the Reynolds number and the directions of each reference. */
void fluid_tell_references(const fluid_parameters *p);

void fluid_name_tables(fluid_parameters *p);                     /* scenario/tables.c */
const sim_table *const *fluid_tables_of(const void *parameters); /* sim_model.tables_of */
extern const sim_table *const fluid_described[];                 /* sim_model.described */
grid_shape fluid_grid_of(const fluid_parameters *p);
const fluid_lattice *fluid_lattice_for(const fluid_parameters *p);
/* Whether eddies below a cell are damped enough for a flow without a viscosity to be stable: with a constant C the cell
 * Reynolds number of a shear from cell to cell is at most 1/C^2. */
static inline bool fluid_damps_eddies(const fluid_parameters *p) {
  return p->turbulence.given && p->turbulence.smagorinsky >= 0.05;
}
/* Whether the viscosity is a function of the shear rate or of the temperature. */
bool fluid_has_law(const fluid_parameters *p);
/* Whether a state has the rate of relaxation of each cell. */
static inline bool fluid_has_rates(const fluid_parameters *p) {
  return fluid_has_law(p) || (p->heat.given && p->turbulence.given);
}
/* The shortest distance of sides that are not periodic; of all if all are. */
double fluid_length_of(const grid_shape *grid);
/* Whether arithmetic and fields are in single precision; half: and populations are stored in fp16. */
static inline bool fluid_half(const fluid_parameters *p) { return p->common.precision == SIM_HALF; }
static inline bool fluid_single(const fluid_parameters *p) {
  return p->common.precision == SIM_SINGLE || fluid_half(p);
}
static inline const fluid_body *fluid_body_of(const fluid_parameters *p, int body) {
  return p->bodies.items[body].data;
}

/* Whether a body is a mesh from a file. (start/meshes.c) */
bool fluid_is_mesh(const fluid_parameters *p, int body);

/* Whether the walls of a body change during a run: all that is more than a constant spin of a round body. */
bool fluid_body_moves(const fluid_parameters *p, int body);
bool fluid_moves(const fluid_parameters *p); /* whether one of them does */

typedef struct fluid_meshes fluid_meshes; /* what a run has from files: meshes.h */

/* The step of the scenario; dt > 0: of a run that has begun with this one. */
fluid_numbers fluid_numbers_of(const fluid_parameters *p, double dt);
/* The acceleration in units of the lattice. */
void fluid_force_of(const fluid_parameters *p, const fluid_numbers *numbers, double out[3]);
/* Faults of pressures of sides, and of the fluid's own weight, that change the density too much; warnings of those that
 * change it by more than 5 %. (scenario/rules_pressure.c) */
void fluid_check_pressures(const fluid_parameters *p, const fluid_numbers *numbers, sim_faults *faults);
void fluid_tell_pressures(const fluid_parameters *p, const fluid_numbers *numbers);

/* ---- start/walls.c: which cells are solid, and the links of cells at walls ---- */

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
  double *lost; /* [members]: scratch of fluid_sweep */
  int64_t patches, members;
  int32_t *scratch[2]; /* [room]: of patches.c, and of cover.c where bodies move */
  int64_t *changed;    /* [changed_room]: of cover.c */
  int64_t room, changed_room;
  double *profile[FLUID_SIDES]; /* [cells of the side][3]: velocity of a side with a profile; NULL: it has none */
  geometry_pose pose[FLUID_BODIES];
  const fluid_meshes *meshes;  /* borrowed */
  double (*speed)[3];          /* [links]: velocity of the surface, in units of the lattice; NULL: no body moves */
  struct fluid_moving *moving; /* NULL: no body moves */
  struct fluid_timed *timed;   /* NULL: no side changes with time */
} fluid_walls;
/* Releases with fluid_walls_destroy, also after a failure. pose[bodies]: NULL: those of the start; `meshes` live as
 * long as the walls. SIM_ERR_SCENARIO: a profile is wrong, or no cell is fluid. */
sim_status fluid_walls_create(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_meshes *meshes,
                              int threads, const geometry_pose *pose, fluid_walls *out) SIM_MUST_CHECK;
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
/* Bound on the cells that touch walls or bodies. */
double fluid_wall_cells(const fluid_parameters *p, const fluid_meshes *meshes);
/* ---- start/patches.c ---- */

/* Finds the patches, in memory that grows where links are found again. Called by fluid_walls_create when they are
 * there. */
sim_status fluid_patches_create(const fluid_lattice *lattice, const grid_shape *grid,
                                fluid_walls *walls) SIM_MUST_CHECK;
/* The number of the cell with links at (row, x); -1: none. */
int64_t fluid_cell_of(const fluid_walls *walls, int64_t row, int64_t x);
/* The part of a link that is fluid. */
static inline double fluid_link_part(const fluid_link *link) {
  return link->kind == FLUID_FAR ? 0.5 / link->weight : link->weight / 2;
}
/* The link by which a direction arrives at a cell; NULL: none. */
const fluid_link *fluid_link_of(const fluid_walls *walls, int64_t row, int64_t x, int arriving);

/* ---- start/moving.c: walls that move ---- */

/* Moves the bodies to poses[bodies]: the solid cells, links and patches. `old` is where cells were solid before, until
 * the next call. SIM_ERR_NO_MEMORY, SIM_ERR_SCENARIO: no cell is fluid. */
sim_status fluid_walls_move(fluid_walls *walls, const geometry_pose *pose, const bool **old) SIM_MUST_CHECK;
/* Called by fluid_walls_create where bodies move. */
sim_status fluid_moving_create(const fluid_parameters *p, const fluid_numbers *numbers, int threads,
                               fluid_walls *walls) SIM_MUST_CHECK;
void fluid_moving_destroy(struct fluid_moving **moving);

/* ---- start/timed.c: sides that change with time ---- */

bool fluid_side_is_timed(const fluid_side *side);
/* Whether fluid comes in or leaves by the velocity or the profile of side number s, not only along it. */
bool fluid_side_passes(const fluid_side *side, int s);
bool fluid_is_timed(const fluid_parameters *p); /* whether some side does */
/* Called by fluid_walls_create where sides change with time. */
sim_status fluid_timed_create(const fluid_parameters *p, const fluid_numbers *numbers, int threads,
                              fluid_walls *walls) SIM_MUST_CHECK;
enum { FLUID_TIMED_POINT = 56, FLUID_TIMED_LINK = 32 }; /* bytes that it takes for a cell of a side, and for a link */
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

/* ---- start/motion.c: where bodies are ---- */

/* Poses of the bodies of a run, half a step ahead of the clock: in the middle of the step that comes next. Velocities
 * that are functions of time are integrated by Simpson's rule. */
typedef struct fluid_motion {
  const fluid_parameters *p;
  const fluid_meshes *meshes; /* borrowed */
  double dt;
  geometry_pose pose[FLUID_BODIES], last[FLUID_BODIES]; /* last: a step before, half a step behind the clock */
  sim_expr_program *program[FLUID_BODIES][2];           /* motion, turning */
  void *scratch;
} fluid_motion;
/* With the poses of the start. Destroy with fluid_motion_destroy, also after a failure. */
sim_status fluid_motion_create(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_meshes *meshes,
                               fluid_motion *out) SIM_MUST_CHECK;
void fluid_motion_destroy(fluid_motion *motion);
/* Moves the poses over the step that ends half a step after the clock's step `step`. SIM_ERR_SCENARIO: a body leaves
 * the box, is faster than `speed`, or its velocity is not finite. */
sim_status fluid_motion_step(fluid_motion *motion, int64_t step) SIM_MUST_CHECK;
/* The same of the steps of a whole run, or of its first 10^6; tells of the bodies that move. */
sim_status fluid_motion_check(const fluid_parameters *p, const fluid_numbers *numbers,
                              const fluid_meshes *meshes) SIM_MUST_CHECK;
/* Seconds, about, in which the walls of a step are found; by one thread, as most of it is made. */
double fluid_motion_seconds(const fluid_parameters *p, const fluid_meshes *meshes);

/* ---- start/bodies.c ---- */

typedef struct fluid_shape {
  geometry_wall wall;
  geometry_pose pose;
  double centre[3]; /* where the wall's point is now: centre of a ball or a block, a point of the axis */
} fluid_shape;
/* pose NULL: at time 0. meshes NULL: no shape of a body from a file is asked for. */
fluid_shape fluid_body_shape(const fluid_parameters *p, const fluid_meshes *meshes, int body,
                             const geometry_pose *pose);
/* A cylinder that is parallel to no axis. */
bool fluid_body_tilted(const geometry_wall *wall);
/* Extent of a body; infinite along the axis of a cylinder. */
void fluid_body_extent(const fluid_shape *shape, double low[3], double high[3]);
/* Whether no fluid is at x because of a body or its images; points farther from the surface by less than `thick`
 * count. */
bool fluid_body_holds(const grid_shape *grid, const fluid_shape *shape, const double x[3], double thick);
/* The part of the way from one point to another at which a body begins; INFINITY: not known. */
double fluid_body_cut(const grid_shape *grid, const fluid_shape *shape, const double from[3], const double to[3]);
/* Distance of x to a body and its images, negative where no fluid is, and the velocity of the surface next to x; NULL:
 * not wanted. */
double fluid_body_distance(const grid_shape *grid, const fluid_shape *shape, const double x[3], double velocity[3]);
/* The unit normal of the surface, of either sign, next to a point of it. */
void fluid_body_normal(const grid_shape *grid, const fluid_shape *shape, const double x[3], double normal[3]);
/* Its centre, in the image that is nearest to x. */
void fluid_body_centre(const fluid_parameters *p, const fluid_meshes *meshes, int body, const geometry_pose *pose,
                       const double x[3], double out[3]);

/* ---- start/sponge.c ---- */

/* An absorbing layer before a side: planes of cells. In a step the density of each cell approaches its running mean by
 * a share of the difference, and the mean flow through each plane its own by the same share. So the layer has the
 * impedance of the fluid for plane waves and reflects none, and what passes it twice is damped by exp(-2
 * FLUID_SPONGE_DEPTH). The running means are those of selective frequency damping (Akervik et al., Phys. Fluids 18
 * (2006) 068102): a steady flow is not changed. What an inlet that changes brings more, they have at once, as a fluid
 * without compression. */
typedef struct fluid_layer {
  int side;
  bool alone;            /* the only side with a pressure */
  int64_t planes, cells; /* cells: of a plane */
  int64_t first;         /* of its means */
  double follow;         /* share of the difference that means take up in a step */
  double *share;         /* [planes], from the side on */
} fluid_layer;
typedef struct fluid_sponge {
  int layers;
  fluid_layer layer[FLUID_SIDES];
  int64_t means;
  double *mean; /* a layer: [planes] momentum through a plane, by cell; [planes][cells] density - 1; in units of the
                   lattice, after collision */
} fluid_sponge;
#define FLUID_SPONGE_DEPTH 3.5   /* damping of one passage, a power of e */
#define FLUID_SPONGE_MEMORY 30.0 /* time of the running mean: passages of sound through the layer */
enum { FLUID_SPONGE_LEAST = 8 }; /* cells */
bool fluid_has_sponge(const fluid_parameters *p);
/* Without layers where no side has a sponge; the means are not set. Destroy with fluid_sponge_destroy, also after a
 * failure. */
sim_status fluid_sponge_create(const fluid_parameters *p, fluid_sponge *out) SIM_MUST_CHECK;
void fluid_sponge_destroy(fluid_sponge *sponge);
double fluid_sponge_bytes(const fluid_parameters *p);

/* ---- cpu/sweep.c, cpu/sponge.c, cpu/measure.c ---- */

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
/* Number of cells of a plane that are fluid. */
int64_t fluid_sponge_open(const fluid_machine *m, const fluid_layer *layer, int64_t plane);
/* Changes the mean flow through planes by that. */
void fluid_sponge_follow(const fluid_machine *m, const double more[FLUID_SIDES]);
/* Damps a state that a step has made. */
sim_status fluid_sponge_damp(const fluid_machine *m, const sim_buffer *state) SIM_MUST_CHECK;
/* Changes the density of a cell, and its momentum by push[rank], in units of the lattice; S follows as that of the
 * equilibrium does, by the change of j j/rho. (cpu/sponge.c) */
void fluid_kick(const fluid_machine *m, void *first, int64_t cell, double dense, const double *push);
/* Gathers the means: then all ranks have all. */
sim_status fluid_sponge_gather(const fluid_machine *m) SIM_MUST_CHECK;

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

/* ---- start/tell.c ---- */

/* Tells how the grid resolves walls and bodies: cells of each body; warns of widths below 8 and gaps below 3 cells. */
void fluid_tell_walls(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_walls *walls);

/* ---- start/start.c ---- */

/* The cell that holds a probe. */
int64_t fluid_probe_cell(const fluid_parameters *p, size_t probe);
/* SIM_ERR_SCENARIO: a probe is in a body. */
sim_status fluid_check_probes(const fluid_parameters *p, const fluid_walls *walls) SIM_MUST_CHECK;

/* Finds the faults that a run would find at its start: as of fluid_walls_create and fluid_start, without the memory of
 * a state. Tells of walls and bodies. */
sim_status fluid_start_check(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_meshes *meshes,
                             const sim_setup *setup) SIM_MUST_CHECK;
/* Fills the fields of the start on this rank's rows, as of fluid_show, where there is `initial`. SIM_ERR_SCENARIO where
 * it is not finite, faster than `speed`, or its pressure too great. */
sim_status fluid_fill(const fluid_machine *m, const fluid_parameters *p, const sim_setup *setup,
                      void *const *values) SIM_MUST_CHECK;
/* Makes this rank's rows of the first state from these fields, which are there beside them too. */
void fluid_start(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *numbers, void *const *values,
                 const sim_buffer *state);

/* ---- operations of a backend: cpu/ops.c, cuda/ops.c, cuda/trt.c ---- */

/* Mach numbers of the flow: a run warns above FAST and ends above FASTEST, where compression changes it by a quarter.
 */
#define FLUID_MACH_FAST 0.3
#define FLUID_MACH_FASTEST 0.5
double fluid_speed_of_mach(double mach); /* cells per step */

/* What the guards of all steps have seen first: a Mach number above FAST, and what ends the run. */
typedef enum fluid_warning { FLUID_WARN_FAST, FLUID_WARN_END, FLUID_WARNINGS } fluid_warning;
typedef struct fluid_seen {
  bool seen;
  int64_t step; /* after which the cell was so */
  fluid_worst cell;
} fluid_seen;

/* A run's state in the memory of a backend. */
typedef struct fluid_work fluid_work;
struct fluid_heat_sums; /* heat.h */
typedef struct fluid_ops {
  bool tables_of_state; /* rows of tables are made of the state alone, not of fields that are shown */
  void (*plan)(const fluid_parameters *p, const fluid_meshes *meshes, const sim_setup *setup, sim_plan *out);
  /* `m`, with the walls, p and k live as long as *out; release with `destroy`, also after a failure. */
  sim_status (*create)(fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k, const sim_setup *setup,
                       fluid_work **out);
  void (*destroy)(fluid_work **work);
  const sim_buffer *(*state)(const fluid_work *work);  /* the present one */
  const sim_buffer *(*fields)(const fluid_work *work); /* [rank + 1][cells], filled by `show` */
  sim_status (*start)(fluid_work *work, const sim_setup *setup);
  /* After the state of a step has been restored; fast: the Mach number had passed FAST. */
  sim_status (*resume)(fluid_work *work, int64_t step, bool fast);
  sim_status (*step)(fluid_work *work, int64_t step); /* makes step number `step` */
  /* What the guards have seen in all steps up to this one; on a GPU it waits for them. */
  sim_status (*guards)(fluid_work *work, int64_t step, fluid_seen seen[FLUID_WARNINGS]);
  sim_status (*show)(fluid_work *work);
  sim_status (*flow)(fluid_work *work, double *values);   /* a row of `flow`, of fields that are shown */
  sim_status (*bodies)(fluid_work *work, double *values); /* of `bodies` */
  sim_status (*probes)(fluid_work *work, double *values); /* of `probes`, of fields that are shown */
  /* Velocities of the cells with links, out[cells][3] in host memory, in units of the lattice. NULL: the state is
   * there.
   */
  sim_status (*wall_velocities)(fluid_work *work, double *out);
  /* Sums of gates, out[gates][FLUID_GATE_SUMS] (gate_sums.h). NULL: the state is in host memory. */
  sim_status (*gates)(fluid_work *work, double *out);
  /* Adds sample number n of the present state to running means in memory of the device, [count][cells] (run/run.h); n
   * 0: gives solid cells the temperature of bodies. NULL: all are in host memory. */
  sim_status (*sample)(fluid_work *work, int64_t n, double *means);
  /* As of fluid_find_change, of the last step; 1 before there was one. */
  sim_status (*change)(fluid_work *work, double *out);
  /* Called before a step after which `change` is asked for. NULL: not needed. */
  sim_status (*remember)(fluid_work *work);
  /* Sum over the fluid of the density above that at rest, in units of the lattice; for warnings alone. */
  sim_status (*excess)(fluid_work *work, double *out);
  double *(*means)(const fluid_work *work); /* of sponges, in memory of the backend: fluid_sponge.mean */
  /* What a row of `heat` is made of. */
  sim_status (*heat)(fluid_work *work, struct fluid_heat_sums *out);
  /* The field of the temperature in *out, double [cells] in memory of the backend; solid cells have the temperature of
   * the first body that they lie in, or `reference`. */
  sim_status (*temperature)(fluid_work *work, double **out);
} fluid_ops;
extern const fluid_ops fluid_ops_cpu, fluid_ops_cuda, fluid_ops_cuda_trt;

#endif
