/* Fluids at low Mach numbers by a lattice Boltzmann method: parameters, and the numbers of the lattice that follow.
 *
 * Physical quantities are in the scenario's units; dx is the width of a cell, dt a step. In units of the lattice a cell
 * is 1 wide, a step takes 1, and the fluid at rest has density 1; its speed of sound is 1/sqrt(3). */
#ifndef FLUID_FLUID_H
#define FLUID_FLUID_H

#include "engine/model.h"
#include "kernels/collision/coupled.h"
#include "kernels/common/grid/grid.h"
#include "kernels/fluid/lattice.h"

extern const sim_model fluid_model;
extern const sim_bench fluid_bench[]; /* bench.c */

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
  char names[FLUID_NAMED][SIM_COLUMNS_FEW][96];
  sim_field columns[FLUID_NAMED][SIM_COLUMNS_FEW + 1];
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

bool fluid_is_name(const char *name); /* whether columns may be named so: at most 40 letters, digits and _ */
/* The name of a body in columns. */
enum { FLUID_BODY_NAME = 64 };
void fluid_body_name(const fluid_parameters *p, int body, char out[FLUID_BODY_NAME]);
/* The name `own`, or without one "kindN", where N counts from 1. */
void fluid_name(const char *own, const char *kind, int index, char out[FLUID_BODY_NAME]);

/* The unit vectors of drag, lift and the side force of a body with a reference: the drag's is `direction`, or of the
 * fluid that comes in by one side, or of the acceleration; lift is at a right angle to it, in 2-D turned by 90 degrees
 * from x to y; the side force is along drag x lift. Returns false where no direction is known. */
bool fluid_reference_axes(const fluid_parameters *p, int body, double drag[3], double lift[3], double side[3]);
double fluid_reference_speed(const fluid_parameters *p, int body);
bool fluid_tells_plus(const fluid_parameters *p, int body); /* whether y+ of a body is told */
bool fluid_tells_some_plus(const fluid_parameters *p);      /* of some body */

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

#endif
