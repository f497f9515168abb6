/* Spheres that collide: what follows from the parameters, state, and the table of operations that a device fills. */
#ifndef COLLISION_COLLISION_H
#define COLLISION_COLLISION_H

#include "kernels/collision/scenario/parameters.h"

extern const sim_model collision_model;
extern const sim_bench collision_bench[]; /* bench.c */

/* ---- what is derived from them ---- */

/* One pair of materials, for a contact of reduced mass m and reduced radius R.
 * Linear: k = k0 + km m, damping g = g0 + gh sqrt(m) + gm m, tangential kt = tangential k, gt = tangential g.
 * Hertz: force 4/3 E sqrt(R) d^(3/2), tangential stiffness 8 G sqrt(R d), damping by beta. */
typedef struct collision_law {
  double k0, km, g0, gh, gm, tangential;
  double E, G, beta;
  double friction, rolling, twisting;
  double pull;    /* times R: attraction while in contact */
  double limited; /* 1: the dashpot never pulls; 0: it may */
} collision_law;

typedef struct collision_options {
  int64_t n;
  int threads;
  double low[3], size[3];
  bool periodic[3];
  double gravity[3];
  int force; /* collision_force */
  int materials;
  collision_law law[COLLISION_MATERIALS_MAX][COLLISION_MATERIALS_MAX];
  int walls;
  collision_wall wall[COLLISION_WALLS_MAX];
  int springs;  /* numbers of history a contact: 0, 3 (tangential) or 7 (and rolling, and twist) */
  bool damped;  /* some pair has a dashpot */
  bool turning; /* some grain turns at the start */
  bool varies;  /* grains come and go: n is how many there is room for */
  double skin;  /* NaN: chosen */
  sim_isa isa;
  double dt;                /* of all steps but those about the end of a run */
  double before;            /* of the step before the first */
  double shear;             /* rate dv_x/dy of a box sheared by Lees and Edwards; 0: none */
  bool worked;              /* some wall moves, the box is sheared, or gravity acts along a periodic side */
  const sim_expr *own;      /* COLLISION_OWN: COLLISION_FORCE_INPUTS -> force */
  const sim_expr *external; /* x y z t -> potential, or three components of the acceleration; NULL: none */
  bool timed;               /* and it depends on t */
  sim_expr *gradient;       /* of the potential, owned: see collision_options_free */
  int gates;
  const collision_gate *gate;       /* [gates], of the parameters */
  double radius_least, radius_most; /* greatest of all grains ever; least of those that come */
  int wall_numbers;                 /* numbers of history a grain with walls */
  int forces;                       /* walls in the table of forces */
  int meshes;                       /* of the walls */
} collision_options;

/* Materials in the order in which they appear: of groups, then of walls. NULL where there is no more room. */
sim_status collision_materials(const collision_parameters *p, const char *names[COLLISION_MATERIALS_MAX], int *count);
int collision_material_index(const char *const *names, int count, const char *name);
/* All but n, threads, isa. */
sim_status collision_options_fill(const collision_parameters *p, collision_options *out) SIM_MUST_CHECK;
void collision_options_free(collision_options *options);
/* Shortest contact of grains of these masses and radii, and the longest step that holds for springs and dashpots.
 * Hertz: 5 times the time that Rayleigh's wave takes over a grain (C. Thornton and C. W. Randall, 1988). */
double collision_contact_time(const collision_options *o, int64_t n, const double *mass, const double *radius,
                              const uint64_t *material, double *most);

/* The automatic step of the smallest grains of all groups and inlets, before any are made; NaN where a file holds their
 * radii. `limit`: no step above it holds for springs and dashpots, whatever radii are drawn. */
double collision_step_guess(const collision_parameters *p, const collision_options *o, double *limit);

/* That a step is not above its limit. SIM_ERR_SCENARIO. */
sim_status collision_step_check(double dt, double most) SIM_MUST_CHECK;

/* ---- grains ---- */

/* In fp64, in the order of ids. */
typedef struct collision_grains {
  int64_t n;
  double *radius, *mass, *position[3], *velocity[3], *spin[3];
  uint64_t *material;
} collision_grains;

typedef struct collision_part {
  const sim_item *item;
  int64_t n;
} collision_part;

typedef struct collision_parts {
  collision_part *part; /* owned */
  size_t count;
  double n;
} collision_parts;

/* Relative to the scenario's folder. */
sim_status collision_path(const char *path, const sim_setup *setup, char out[4096]) SIM_MUST_CHECK;
sim_status collision_parts_list(const collision_parameters *p, const sim_setup *setup,
                                collision_parts *out) SIM_MUST_CHECK;
void collision_parts_free(collision_parts *parts);
size_t collision_parts_species(const collision_parts *parts, sim_species species[SIM_SPECIES_MAX]);
/* `sized` is called once the radii are there, before grains are placed. */
sim_status collision_grains_create(const collision_parameters *p, const sim_setup *setup, const collision_parts *parts,
                                   const collision_options *options,
                                   sim_status (*sized)(void *context, double least, double most), void *context,
                                   collision_grains *out) SIM_MUST_CHECK;
/* The greatest logarithm of a radius over the median that is drawn; whether radii are not within 1:20. */
double collision_lognormal_most(double deviation);
bool collision_radii_apart(double least, double most);
/* Of grain `id`, the number-th of its group. */
double collision_radius_of(const collision_radii *size, uint64_t seed, uint64_t id, size_t number);
void collision_grains_free(collision_grains *grains);
/* Moves grains with loose[i] apart until none overlap. `low` and `high` [3][n] bound their centres; `filled`: volume
 * share that they take of their region. SIM_ERR_SCENARIO where that fails. */
sim_status collision_pack(const collision_options *options, collision_grains *grains, const bool *loose,
                          double *const low[3], double *const high[3], double filled) SIM_MUST_CHECK;

/* ---- walls ---- */

/* At time t, where no function of time moves it. */
collision_pose collision_wall_pose(const collision_wall *wall, double t);
/* Where x is nearer to it than `reach`, the nearest first; returns how many. */
int collision_wall_touch(const collision_wall *wall, const collision_pose *pose, const double x[3], double reach,
                         collision_touch out[COLLISION_TOUCHES_MAX]);

/* Triangles of a file or of a checkpoint, three corners each: [count][9], owned. */
typedef struct collision_triangles {
  double *corner;
  int64_t count;
} collision_triangles;

/* Of an STL file, in text or binary; triangles without an area are left out. */
sim_status collision_stl_read(const char *path, collision_triangles *out) SIM_MUST_CHECK;
/* To scale * x + shift. */
sim_status collision_triangles_move(collision_triangles *triangles, double scale, const double shift[3]) SIM_MUST_CHECK;
/* Whether each edge belongs to two triangles. SIM_ERR_SCENARIO names one that does not. */
sim_status collision_triangles_closed(const collision_triangles *triangles) SIM_MUST_CHECK;
/* Keeps a copy; with images every so far along axes of a period > 0, which it is no longer than (NULL: none). */
sim_status collision_mesh_create(const collision_triangles *triangles, const double period[3],
                                 collision_mesh **out) SIM_MUST_CHECK;
void collision_mesh_destroy(collision_mesh **mesh);
double collision_mesh_bytes(int64_t triangles);
int collision_mesh_touch(const collision_mesh *mesh, const double x[3], double reach,
                         collision_touch out[COLLISION_TOUCHES_MAX]);

/* ---- state and operations ---- */

/* On the host, in the order of species and then ids; vectors [3][n], of the ops' dtype unless said. Contacts with
 * history stand once, at the grain of the smaller index, in no more than `room` entries; grain UINT64_MAX: empty. */
typedef struct collision_state {
  int64_t n, room;
  void *radius, *mass, *position, *velocity, *spin, *acceleration, *angular_acceleration;
  uint64_t *material, *collisions;
  double *dissipated, *virial; /* sums over time: energy; of d . F dt over contacts, half of each a grain */
  uint64_t *contact_grain, *contact_partner; /* [room] */
  void *contact_spring;                      /* [springs][room] */
  double time;                               /* of this state, at `create` */
  const int64_t *live;                       /* grains now, where they come and go; n is what there was at `create` */
  int64_t *crossed;           /* [gates][n]: how often it has passed each, along the normal less against it */
  double *work;               /* energy that walls, shear and images higher up gave each; NULL unless options.worked */
  void *wall_spring;          /* [wall_numbers][n] */
  uint64_t *quanta;           /* [3][n], see gas.h; NULL where the ops have no use for it */
  const collision_pose *pose; /* [walls], at the time of the step */
} collision_state;

/* Sums over all grains, in fp64. */
typedef struct collision_sums {
  double external; /* potential energy; NaN: not known */
  double mass, kinetic, rotational, elastic, gravity, dissipated, work, virial, collisions;
  double momentum[3], angular[3];
  double flux[6], stress[6]; /* sums of m v v and of d F over contacts: xx yy zz xy yz zx */
  double touching;           /* contacts of grains, each counted at both */
  double touching_walls;
  double overlap; /* largest, over the smaller radius */
  uint64_t overlap_grain;
  double wall[COLLISION_WALLS_MAX][3]; /* force of the grains on it */
} collision_sums;

/* Grains `from` and on go to `to` and on. */
typedef struct collision_move {
  int64_t from, count, to;
} collision_move;

/* Indices, rising. */
typedef struct collision_indices {
  int64_t *at; /* owned */
  int64_t count, room;
} collision_indices;

#ifdef __cplusplus
extern "C" {
#endif
bool collision_indices_add(collision_indices *indices, int64_t index) SIM_MUST_CHECK;
/* At most 15 contacts a grain on average in a packing of spheres of any radii; each stands once. */
int64_t collision_contact_room(int64_t n, int springs);
#ifdef __cplusplus
}
#endif

typedef struct collision_work collision_work;

typedef struct collision_ops {
  sim_dtype dtype;
  bool exact; /* position and velocity of a restart are in `quanta` */
  double (*bytes)(const collision_options *options);
  sim_status (*create)(const collision_options *options, const collision_state *state, collision_work **out);
  void (*destroy)(collision_work **work);
  /* Takes over what the state holds. */
  sim_status (*load)(collision_work *work);
  /* Acceleration at time t, without a step: at the beginning. */
  void (*begin)(collision_work *work, double t);
  /* One step of dt that ends at t. */
  sim_status (*step)(collision_work *work, double t, double dt);
  /* Into the state's arrays. */
  sim_status (*store)(collision_work *work);
  sim_status (*sums)(collision_work *work, double t, collision_sums *out);

  /* Where the state is far away, grains come and go without it; NULL, all three: `store` and `load` do. */

  /* Whether some grain's centre is in one of these regions. */
  sim_status (*within)(collision_work *work, const collision_region *regions, int count, bool *out);
  /* Adds those whose centres are. Of them alone, positions and sums over time come into the state's arrays. */
  sim_status (*pick)(collision_work *work, const collision_region *regions, int count, collision_indices *out);
  /* All but those of `moves` (rising) have gone; at `come` are new ones. Of these the state's arrays hold radius, mass,
   * material, position, velocity and acceleration; the count has changed. Instead of `load`. */
  sim_status (*exchange)(collision_work *work, const collision_move *moves, int64_t move_count,
                         const collision_indices *come);
} collision_ops;

/* Operations of one kind of backend. */
typedef struct collision_ops_pair {
  const collision_ops *f32, *f64;
  const collision_ops *gas; /* of gas.h, in fp32; NULL: none */
} collision_ops_pair;
const collision_ops_pair *collision_ops_of(sim_backend_kind kind);
extern const collision_ops collision_ops_cpu_f32, collision_ops_cpu_f64, collision_gas_ops_cpu;

#endif
