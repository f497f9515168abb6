/* A run of the model, shared by the files that make one up. */
#ifndef COLLISION_RUN_H
#define COLLISION_RUN_H

#include "kernels/collision/collision.h"

/* Numbers that the run keeps for itself; those from COLLISION_NEXT_ID on change where grains come and go. */
enum {
  COLLISION_INITIAL_ENERGY,
  COLLISION_ENERGY_SCALE,
  COLLISION_STEP, /* length of a step */
  COLLISION_NEXT_ID,
  COLLISION_INSERTED,
  COLLISION_INSERTED_MASS,
  COLLISION_REMOVED,
  COLLISION_REMOVED_MASS,
  COLLISION_CARRIED_DISSIPATED, /* of grains that were removed */
  COLLISION_CARRIED_VIRIAL,
  COLLISION_CARRIED_COLLISIONS,
  COLLISION_CARRIED_WORK,
  COLLISION_OF_INLET,                                                   /* how many each has brought */
  COLLISION_CARRIED_GRAINS = COLLISION_OF_INLET + COLLISION_INLETS_MAX, /* through each gate */
  COLLISION_CARRIED_MASS = COLLISION_CARRIED_GRAINS + COLLISION_GATES_MAX,
  COLLISION_CONTROLS = COLLISION_CARRIED_MASS + COLLISION_GATES_MAX
};

enum { COLLISION_FLOW_STEPS = 100, COLLISION_PROFILES = 5 }; /* grains come and go every so many steps */

/* The state's arrays in the order of the descriptor's fields. */
typedef enum collision_array {
  COLLISION_ID,
  COLLISION_RADIUS,
  COLLISION_MASS,
  COLLISION_POSITION,
  COLLISION_VELOCITY,
  COLLISION_SPIN,
  COLLISION_ACCELERATION,
  COLLISION_TWIRL,
  COLLISION_MATERIAL,
  COLLISION_DISSIPATED,
  COLLISION_VIRIAL,
  COLLISION_WORK,
  COLLISION_COLLISIONS,
  COLLISION_CONTACT_GRAIN,
  COLLISION_CONTACT_PARTNER,
  COLLISION_CONTACT_SPRING,
  COLLISION_WALL_SPRING,
  COLLISION_CROSSED,
  COLLISION_POSES,
  COLLISION_MESHES,
  COLLISION_QUANTA,
  COLLISION_CONTROLLER,
  COLLISION_ARRAYS
} collision_array;

typedef struct collision_run {
  const collision_ops *ops;
  const sim_backend *backend;
  collision_work *work;
  collision_options options;
  const collision_parameters *parameters;
  int64_t n, room; /* n may be 0 where grains come and go: the operations are not called then */
  double dt;
  sim_buffer array[COLLISION_ARRAYS];
  sim_species species[SIM_SPECIES_MAX];
  size_t species_count;
  collision_sums sums;
  int64_t sums_step;
  bool warned, unbalanced; /* that was said */
  int64_t limit;           /* grains that there is room for; grows where more come */
  bool varies;             /* grains come and go */
  struct collision_flow *flow;
  double profile[COLLISION_PROFILES][COLLISION_BINS_MAX];
  int64_t profile_step;
  int64_t triangles; /* of all meshes */
  collision_mesh *mesh[COLLISION_WALLS_MAX];
  int mesh_count;
  sim_expr_program *motion[COLLISION_WALLS_MAX][2]; /* of velocity and spin; NULL: numbers */
  void *motion_scratch;
} collision_run;

extern const sim_field collision_state_fields[], collision_energy_columns[], collision_gas_columns[],
    collision_contact_columns[], collision_momentum_columns[];

sim_status collision_create_arrays(collision_run *run) SIM_MUST_CHECK;
/* Room for `limit` grains: the state's arrays are taken anew, one by one. */
sim_status collision_grow_arrays(collision_run *run, int64_t limit) SIM_MUST_CHECK;
/* false: this run has no such array. */
bool collision_view_array(collision_run *run, int which, sim_array *out);
/* Whether its last axis runs over grains, or contacts. */
bool collision_is_of_grains(int which);
bool collision_is_of_contacts(int which);
/* saved.c. Whether all that a run takes from a checkpoint's state is in the range that it may have, before anything is
 * counted or indexed by it; *n: its grains. SIM_ERR_INCOMPATIBLE. */
sim_status collision_saved_check(const collision_options *o, bool varies, const sim_frame *saved,
                                 int64_t *n) SIM_MUST_CHECK;
/* From a checkpoint's state. */
sim_status collision_restore(collision_run *run, const sim_frame *saved) SIM_MUST_CHECK;
/* The operations' own memory, for the state as it is at t. */
sim_status collision_create_work(collision_run *run, double t) SIM_MUST_CHECK;
/* All of a run but ops, parameters and clock. */
sim_status collision_start(collision_run *run, const sim_setup *setup) SIM_MUST_CHECK;
/* walls.c */
sim_status collision_meshes_read(const collision_parameters *p, const sim_setup *setup, collision_triangles *out,
                                 size_t *count) SIM_MUST_CHECK; /* out[walls.count], for collision_meshes_free */
sim_status collision_meshes_count(const collision_parameters *p, const sim_setup *setup,
                                  int64_t *triangles) SIM_MUST_CHECK;
void collision_meshes_free(collision_triangles *meshes, size_t count);
sim_status collision_meshes_create(collision_run *run, double largest) SIM_MUST_CHECK; /* from the state */
/* mesh_images.c. A mesh with the images that wall b has in the box; for grains up to this radius. */
sim_status collision_mesh_place(const collision_options *o, int b, const collision_triangles *triangles, double largest,
                                collision_mesh **out) SIM_MUST_CHECK;
sim_status collision_motion_create(collision_run *run) SIM_MUST_CHECK;
void collision_motion_destroy(collision_run *run);
/* Walls to where they are at t, from t - dt. */
sim_status collision_motion_step(collision_run *run, double t, double dt) SIM_MUST_CHECK;

/* flow.c, inlet.c. With those `n`, all that ever come; whether grains come or go. */
double collision_flow_total(const collision_parameters *p, double n);
bool collision_flow_varies(const collision_parameters *p);
/* For how many there is room at first: `n` are there. Where more come together, more memory is taken. */
double collision_flow_estimate(const collision_parameters *p, double n);
sim_status collision_flow_create(collision_run *run) SIM_MUST_CHECK;
void collision_flow_destroy(collision_run *run);
/* Removes and inserts what is due. */
sim_status collision_flow_step(collision_run *run, const sim_clock *clock) SIM_MUST_CHECK;
/* Least and greatest radius and lightest grain that an inlet brings. */
void collision_inlet_bounds(const collision_inlet *inlet, double *least, double *most, double *mass);

/* profile.c */
sim_status collision_profile_at(collision_run *run, const sim_clock *clock) SIM_MUST_CHECK;
void collision_observe_flow(const collision_run *run, double *values);
double collision_get(const collision_run *run, int which, int c, int64_t i);
void collision_put(const collision_run *run, int which, int c, int64_t i, double value);

double collision_step_count(double t_end, double dt);
/* derive.c */
void collision_radii_bounds(const collision_radii *size, double *least, double *most);
/* sizes.c. Of a part's grains one is surely as small as `least`, and one as large as `most`; INFINITY and 0: not known.
 */
void collision_sure_radii(const sim_item *item, double *least, double *most);
/* grains.c. Sites of a simple cubic lattice of n grains in a region. */
void collision_lattice_sites(const double side[3], int64_t n, int64_t sites[3]);
/* radius_least and radius_most of all that are there or come, as far as they are known before grains are made. */
void collision_options_bound(const collision_parameters *p, const sim_frame *saved, collision_options *o);

/* sim_model.observe */
sim_status collision_observe(void *self, const sim_clock *clock, int table, double *values);
/* Those of clock->step. */
sim_status collision_sums_at(collision_run *run, const sim_clock *clock, const collision_sums **out) SIM_MUST_CHECK;
double collision_energy(const collision_sums *sums); /* with what was lost, less what walls and shear gave */
double collision_energy_scale(const collision_sums *sums);

#endif
