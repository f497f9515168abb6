/* A run, and what its parts in this folder share. */
#ifndef FLUID_RUN_H
#define FLUID_RUN_H

#include "kernels/common/fft/power.h"
#include "kernels/fluid/grains/grains.h"
#include "kernels/fluid/heat.h"
#include "kernels/fluid/meshes.h"
#include "kernels/fluid/ops.h"

typedef struct fluid_run {
  const fluid_parameters *p;
  const sim_backend *backend;
  const fluid_ops *ops;
  fluid_work *work;
  fluid_numbers numbers;
  fluid_machine machine;
  fluid_motion motion;
  fluid_warmth warmth;
  fluid_scratch scratch; /* of machine.part */
  fluid_grains grains;
  fluid_meshes meshes;
  sim_mesh mesh;
  int64_t shown, checked; /* steps whose fields are shown, whose guards are known; -1: none */
  bool fast;              /* the Mach number has passed FLUID_MACH_FAST */
  double first[3];        /* where it did so first, as stored in checkpoints: step, row, x */
  double excess; /* density above that at rest of all cells at the start, or where this run resumed with a pressure */
  double dense;  /* of a box with an open side: mean density over that at rest in the last row of `flow`, less 1 */
  bool told_mass, told_speed, told_heat;
  fluid_plus plus[FLUID_BODIES]; /* of the last row of `bodies`, of bodies with a reference */
  double change;                 /* of the last row of `flow`, with `steady` */
  void *derived;                 /* [count][cells] of derived fields; NULL: none */
  void *velocity;                /* [rank][cells] in host memory, of fields that are not there; NULL: not wanted */
  double *means;                 /* [count][cells] of running means, in memory of the backend; NULL: none */
  fft_power *spectrum;           /* NULL: no such table */
  double *pieces;                /* [pieces][bins] of it, and [pieces] */
  double porous[2];              /* time and permeability of the last row of `porous`, 0: none */
  double unsteady; /* change of the permeability at the rate between the last two rows over the time of the run, as a
                      part of it; 0: not known */
  double inertia; /* Reynolds number of the last row of `porous`: darcy velocity, root of the permeability, viscosity */
} fluid_run;

/* ---- plan.c ---- */

const fluid_ops *fluid_ops_of(const fluid_parameters *p, const sim_setup *setup);
void fluid_extent(const void *parameters, sim_extent *out);
/* Whether a plan looks at the start, which takes a byte a cell and some 50 ns. */
bool fluid_counted(const grid_shape *grid);
sim_status fluid_plan(const void *parameters, const sim_setup *setup, sim_plan *out) SIM_MUST_CHECK;
/* Whether a kind of device has all of a scenario, and what it lacks. */
bool fluid_supports(const void *parameters, sim_backend_kind backend, char *lacks, size_t capacity);

/* ---- state.c ---- */

extern const sim_field fluid_state_fields[];
/* The poses of bodies that move. */
sim_array fluid_poses_of(fluid_run *run);
/* Restores all but the poses, which have to be there before walls are made. */
sim_status fluid_restore(fluid_run *run, const sim_setup *setup) SIM_MUST_CHECK;
sim_status fluid_view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) SIM_MUST_CHECK;

/* ---- bodies.c ---- */

/* A row of `bodies`: forces, torques, and coefficients where there is a reference. */
sim_status fluid_bodies_row(fluid_run *run, double *values) SIM_MUST_CHECK;
/* Says of bodies whose forces are not sure, by the last row. */
void fluid_remark_on_bodies(const fluid_run *run, sim_bytes *out);

/* ---- fields.c ---- */

/* Fields that are made of velocity and pressure, [cells], of this rank's rows: derived ones, in host memory and in the
 * precision of the run, and running means and Reynolds stresses, in double, which checkpoints have too. */
/* Numbers of the derived fields of a scenario, and of the means. */
int fluid_derived_count(const fluid_parameters *p);
int fluid_means_count(const fluid_parameters *p);
int fluid_derived_names(const void *parameters, const char *names[SIM_DERIVED_MAX]); /* sim_model.derived */
/* vorticity of two axes, vorticity along x, y, z, q, shear, solid cells; mean velocity, pressure, stresses xx, yy,
 * zz, xy, xz, yz, mean temperature, and mean velocity as checkpoints have it */
extern const sim_field *const fluid_derived_fields, *const fluid_mean_fields;
/* Whether snapshots have the mask `solid`, a byte a cell: 1 where there is no fluid. */
bool fluid_has_mask(const fluid_parameters *p);
sim_status fluid_fields_create(fluid_run *run) SIM_MUST_CHECK;
void fluid_fields_destroy(fluid_run *run);
/* The velocity that is shown, of each axis, in host memory: out[axis][cells]; NULL beyond the grid's axes. */
sim_status fluid_velocity_here(fluid_run *run, const void *out[3]) SIM_MUST_CHECK;
/* Bytes of host memory that it takes where the fields are on a device. */
double fluid_velocity_bytes(const fluid_parameters *p);
/* Adds their arrays to a frame, of fields that are shown. */
sim_status fluid_add_fields(fluid_run *run, sim_array *arrays, sim_frame *frame) SIM_MUST_CHECK;
sim_status fluid_restore_means(fluid_run *run, const sim_setup *setup) SIM_MUST_CHECK;
/* Takes a sample of the state of the clock's step, if there is to be one. */
sim_status fluid_take_sample(fluid_run *run, const sim_clock *clock) SIM_MUST_CHECK;

/* ---- gates.c, spectrum.c ---- */

/* A row of `gates`. */
sim_status fluid_gates_row(fluid_run *run, double *values) SIM_MUST_CHECK;
/* Bytes of host memory that fluid_spectrum_create takes. */
double fluid_spectrum_bytes(const fluid_parameters *p, int threads);
/* Does nothing without the table `spectrum`. SIM_ERR_NO_MEMORY. */
sim_status fluid_spectrum_create(fluid_run *run, const sim_setup *setup) SIM_MUST_CHECK;
void fluid_spectrum_destroy(fluid_run *run);
/* A row of `spectrum`, of fields that are shown: in each bin the kinetic energy by mass over the width of the bin. */
sim_status fluid_spectrum_row(fluid_run *run, double *values) SIM_MUST_CHECK;

/* ---- watch.c ---- */

/* Asks the guards of all steps: ends the run where a density has left (1/2, 3/2), which at low Mach numbers no flow
 * has, or a Mach number is above FLUID_MACH_FASTEST; warns once above FLUID_MACH_FAST. */
sim_status fluid_check_stable(fluid_run *run, const sim_clock *clock) SIM_MUST_CHECK;
/* Makes the fields of the clock's step there. */
sim_status fluid_show_fields(fluid_run *run, const sim_clock *clock) SIM_MUST_CHECK;
/* Warns once, of a row of `flow`, of a mass that makes its numbers wrong, and of speeds far from `speed`. */
void fluid_warn_of_flow(fluid_run *run, const sim_clock *clock, const double *values);
/* Warns once of temperatures that diffusion cannot make: beyond those of the start and of the sides. */
void fluid_warn_of_heat(fluid_run *run, const sim_clock *clock, const fluid_heat_sums *sums);
/* Keeps what a row of `porous` says of the flow, for the remarks that it is not steady or not slow. */
void fluid_watch_porous(fluid_run *run, const sim_clock *clock, const double *row);
/* Says how steady the flow is, with `steady`. */
void fluid_report(const void *self, const sim_clock *clock, sim_bytes *out);
void fluid_remark(const void *self, const sim_clock *clock, sim_bytes *out);

#endif
