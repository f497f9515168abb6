/* A run of the model: its start, steps, outputs and restart. */
#ifndef COLLISION_RUN_H
#define COLLISION_RUN_H

#include "kernels/collision/solver.h"
#include "kernels/common/laws/scratch.h"

/* Indices into the array "controller"; those from COLLISION_NEXT_ID on change where grains are inserted or removed. */
enum {
  COLLISION_INITIAL_ENERGY,
  COLLISION_ENERGY_SCALE,
  COLLISION_STEP, /* length of a step */
  COLLISION_NEXT_ID,
  COLLISION_INSERTED,
  COLLISION_INSERTED_MASS,
  COLLISION_REMOVED,
  COLLISION_REMOVED_MASS,
  COLLISION_CARRIED_DISSIPATED, /* from here on: sums over removed grains */
  COLLISION_CARRIED_VIRIAL,
  COLLISION_CARRIED_COLLISIONS,
  COLLISION_CARRIED_WORK,
  COLLISION_OF_INLET, /* grains inserted by each inlet */
  COLLISION_CARRIED_GRAINS =
      COLLISION_OF_INLET + COLLISION_INLETS_MAX, /* net number of removed grains through each gate */
  COLLISION_CARRIED_MASS = COLLISION_CARRIED_GRAINS + COLLISION_GATES_MAX,
  COLLISION_CONTROLS = COLLISION_CARRIED_MASS + COLLISION_GATES_MAX
};

/* Indices into the array "mergers". */
enum {
  COLLISION_MERGER_COUNT,
  COLLISION_MERGER_TIME, /* of the last merger */
  COLLISION_MERGER_ID,
  COLLISION_MERGER_OTHER,
  COLLISION_MERGER_SPEED,
  COLLISION_MERGER_ENERGY, /* energy dissipated by all mergers */
  COLLISION_MERGER_NUMBERS
};

enum { COLLISION_FLOW_STEPS = 100, COLLISION_PROFILES = 5 }; /* steps between insertions and removals; profiles */

/* The deepest overlap in the rows of this process, where it was above the limit. */
typedef struct collision_overlap {
  double depth, t; /* overlap over the smaller radius, 0: none yet; its time */
  char text[128];  /* of collision_overlap_name */
} collision_overlap;

typedef struct collision_run {
  const collision_ops *ops;
  const sim_backend *backend;
  collision_work *work;
  collision_options options;
  const collision_parameters *parameters;
  /* n: number of grains; it may be 0 with inlets and outlets, and then no operation is called. room: of contacts */
  int64_t n, room;
  int64_t bodies; /* number of clumps, whose spheres are among the grains */
  double dt;
  sim_buffer array[COLLISION_ARRAYS];
  sim_species species[SIM_SPECIES_MAX];
  size_t species_count;
  collision_sums sums;
  int64_t sums_step;
  collision_overlap deepest;
  bool unbalanced; /* the warning has been given */
  int64_t limit;   /* number of grains that the memory has room for; grows with inlets */
  bool varies;     /* grains are inserted, removed or merged during the run */
  struct collision_flow *flow;
  struct collision_gravity *gravity; /* NULL: none */
  double pull_left;                  /* time for which self-gravity is kept after the middle of the present step */
  double profile[COLLISION_PROFILES][COLLISION_BINS_MAX];
  int64_t profile_step;
  int64_t triangles;                        /* number of triangles of all meshes */
  geometry_mesh *mesh[COLLISION_WALLS_MAX]; /* [mesh_count], owned */
  int mesh_count;
  sim_expr_program *motion[COLLISION_WALLS_MAX][2]; /* velocity and spin of each wall; NULL: constant */
  laws_scratch motion_scratch;
} collision_run;

extern const sim_field collision_energy_columns[], collision_gas_columns[], collision_contact_columns[],
    collision_momentum_columns[], collision_heat_columns[], collision_ring_columns[], collision_attraction_columns[],
    collision_merger_columns[];
extern const sim_table *const collision_tables[]; /* of every run; ends with NULL */

/* Size of the entry of each wall in the array "swings". */
enum { COLLISION_SWING_NUMBERS = 4 };

/* ---- state.c ---- */

/* Allocates the state's arrays for run->n grains. SIM_ERR_NO_MEMORY. */
sim_status collision_create_arrays(collision_run *run) SIM_MUST_CHECK;
/* Enlarges the state's arrays to `limit` grains, one by one. SIM_ERR_NO_MEMORY. */
sim_status collision_grow_arrays(collision_run *run, int64_t limit) SIM_MUST_CHECK;
/* Fills in the view of an array for outputs and checkpoints; false: this run does not have it. */
bool collision_view_array(collision_run *run, int which, sim_array *out);
/* Whether the last axis of an array counts grains; otherwise it counts contacts. */
bool collision_is_of_grains(int which);
bool collision_is_of_contacts(int which);
/* Reads or writes component c of grain i in an array of the state. */
double collision_get(const collision_run *run, int which, int c, int64_t i);
void collision_put(const collision_run *run, int which, int c, int64_t i, double value);

/* ---- start/ ---- */

/* Checks a checkpoint's state before anything is counted or indexed by it; *n: its grains. SIM_ERR_INCOMPATIBLE. */
sim_status collision_saved_check(const collision_options *o, bool varies, const sim_frame *saved,
                                 int64_t *n) SIM_MUST_CHECK;
/* Copies a checkpoint's state into the run's arrays. */
sim_status collision_restore(collision_run *run, const sim_frame *saved) SIM_MUST_CHECK;
/* Creates the solver for the present state, at time t. */
sim_status collision_create_work(collision_run *run, double t) SIM_MUST_CHECK;
/* `fault` where a grain is so fast that its energy is out of the range of the state's precision, or that it moves by a
 * side of a periodic box in a step, after which it is not in the box; names the first one. The state is in host
 * memory. */
sim_status collision_check_speeds(const collision_run *run, sim_status fault) SIM_MUST_CHECK;
/* Fills a run whose ops, parameters and clock are set: grains, step, solver, first forces. */
sim_status collision_start(collision_run *run, const sim_setup *setup) SIM_MUST_CHECK;
double collision_step_count(double t_end, double dt);
/* Number of bodies that move on their own: clumps, and grains outside clumps. */
int64_t collision_body_count(const collision_run *run);
/* Mass of grain i that limits the step: for a sphere of a clump the least mass that its contacts may act on. */
double collision_judged_mass(const collision_run *run, int64_t i);

/* Sets the temperatures of the grains by the scenario's function of their positions. SIM_ERR_SCENARIO. */
sim_status collision_heat_start(collision_run *run) SIM_MUST_CHECK;
/* Checks that the step is short enough for the exchange of heat. SIM_ERR_SCENARIO. */
sim_status collision_heat_check(const collision_run *run) SIM_MUST_CHECK;

/* ---- walls/motion.c ---- */

/* Creates the meshes of the walls from the array "meshes", for grains of radii up to `largest`. */
sim_status collision_meshes_create(collision_run *run, double largest) SIM_MUST_CHECK;
/* Compiles the scenario's functions that move walls. */
sim_status collision_motion_create(collision_run *run) SIM_MUST_CHECK;
/* Frees the programs and the meshes. */
void collision_motion_destroy(collision_run *run);
/* Advances the walls' poses from t - dt to t. SIM_ERR_DIVERGED. */
sim_status collision_motion_step(collision_run *run, double t, double dt) SIM_MUST_CHECK;

/* ---- walls/servo.c ---- */

/* Sets the speeds of walls that hold a force, every COLLISION_SERVO_STEPS steps, from the forces at `clock`.
 * SIM_ERR_DIVERGED where a wall is too fast and its force swings. */
sim_status collision_servo_step(collision_run *run, const sim_clock *clock) SIM_MUST_CHECK;

/* ---- flow/ ---- */

sim_status collision_flow_create(collision_run *run) SIM_MUST_CHECK;
void collision_flow_destroy(collision_run *run);
/* Removes grains at outlets, and inserts grains that inlets still owe, every COLLISION_FLOW_STEPS steps. */
sim_status collision_flow_step(collision_run *run, const sim_clock *clock) SIM_MUST_CHECK;
/* Merges the grains that began to touch in this step, by the rule `merge`. SIM_ERR_DIVERGED where a merged grain is too
 * large for a periodic box. */
sim_status collision_merge_step(collision_run *run, const sim_clock *clock) SIM_MUST_CHECK;
/* Checks that no grains touch at the start, because such pairs would never begin to touch. SIM_ERR_SCENARIO. */
sim_status collision_merge_check_start(const collision_run *run, const collision_sums *sums) SIM_MUST_CHECK;
/* Fills in a row of the table "events". Reads the state's arrays. */
void collision_observe_mergers(const collision_run *run, double *values);
/* Computes the profiles of this step, unless they are known already. */
sim_status collision_profile_at(collision_run *run, const sim_clock *clock) SIM_MUST_CHECK;
/* Fills in a row of the table "flow". */
void collision_observe_flow(const collision_run *run, double *values);

/* ---- observe.c ---- */

/* sim_model.observe */
sim_status collision_observe(void *self, const sim_clock *clock, int table, double *values);
/* The sums at clock->step, borrowed until the next step. */
sim_status collision_sums_at(collision_run *run, const sim_clock *clock, const collision_sums **out) SIM_MUST_CHECK;
/* Conserved energy: energies of the grains and the dissipated energy, minus the work of walls, shear and periodic
 * gravity. collision_energy_scale: size of the energies, for relative errors. */
double collision_energy(const collision_sums *sums);
double collision_energy_scale(const collision_sums *sums);

/* ---- overlap.c ---- */

/* Writes who has the overlap of `sums` at time t: "3 and 7 (ids, from 0) overlap by 0.2 of the smaller radius", or
 * "3 (id, from 0) overlaps walls[1] by 0.2 of its radius", or "the side x_low of the box". Reads the state's arrays;
 * compares with all grains. */
void collision_overlap_name(const collision_run *run, const collision_sums *sums, double t, char *out, size_t capacity);
/* Keeps the deepest overlap above the limit, and warns of the first one. Stores the state. All ranks call it. */
sim_status collision_overlap_watch(collision_run *run, const collision_sums *sums, double t) SIM_MUST_CHECK;
/* sim_model.report: the deepest overlap, where it was above the limit. */
void collision_overlap_report(const void *self, const sim_clock *clock, sim_bytes *out);

#endif
