/* Spheres that collide: parameters, state, and the table of operations that a device fills. */
#ifndef COLLISION_COLLISION_H
#define COLLISION_COLLISION_H

#include "engine/model.h"

#include <stdbool.h>
#include <stdint.h>

extern const sim_model collision_model;

enum { COLLISION_WALLS_MAX = 20, COLLISION_MATERIALS_MAX = 16 };

/* ---- parameters ---- */

/* What every kind of group of grains begins with. */
typedef struct collision_group {
  char *species, *material;
  double density;
  double velocity[3];
} collision_group;

typedef struct collision_grain {
  collision_group group; /* velocity is the grain's own */
  double radius;
  double position[3], angular_velocity[3];
} collision_grain;

typedef enum collision_distribution {
  COLLISION_AUTO,
  COLLISION_DEALT,
  COLLISION_UNIFORM,
  COLLISION_LOGNORMAL
} collision_distribution;

/* Radii of a group: one, or a row with a distribution. */
typedef struct collision_radii {
  double radius; /* NaN: `radii` holds them */
  sim_doubles radii;
  int distribution; /* collision_distribution */
} collision_radii;

typedef struct collision_random_spheres {
  collision_group group;
  collision_radii size;
  int64_t n;
  sim_doubles low, high; /* [3][1], or none: the box's */
  double temperature;
} collision_random_spheres;

typedef struct collision_lattice {
  collision_group group;
  collision_radii size;
  int64_t n;
  sim_doubles low, high;
  double temperature;
} collision_lattice;

typedef struct collision_from_file {
  collision_group group;
  char *path;
  double radius;
} collision_from_file;

/* Rows are grains: radius [n][1], position, velocity, angular_velocity [n][3]. */
typedef struct collision_each {
  collision_group group;
  sim_doubles radius, position, velocity, angular_velocity;
} collision_each;

extern const sim_schema collision_grain_schema, collision_random_spheres_schema, collision_lattice_schema,
    collision_from_file_schema, collision_each_schema, collision_schema;

typedef struct collision_plane {
  char *material;
  double point[3], normal[3], velocity[3];
} collision_plane;

typedef struct collision_cylinder {
  char *material;
  double point[3], axis[3], radius, spin;
  bool outside;
} collision_cylinder;

extern const sim_schema collision_plane_schema, collision_cylinder_schema;

typedef enum collision_side { COLLISION_SAME, COLLISION_PERIODIC, COLLISION_WALL, COLLISION_OPEN } collision_side;

typedef struct collision_box {
  double size[3], origin[3];
  int boundary; /* collision_side - 1 */
  int sides[6]; /* collision_side: x low, x high, y low ...; SAME only until validate */
} collision_box;

typedef enum collision_force { COLLISION_LINEAR, COLLISION_HERTZ } collision_force;

/* NaN: not given. In `pairs`, what is not given is as in `contact`. */
typedef struct collision_values {
  double stiffness, contact_time, young, poisson, restitution, damping, tangential_stiffness, friction,
      rolling_friction, twisting_friction, surface_energy;
} collision_values;

typedef struct collision_pair {
  collision_values values;
  char *a, *b;
} collision_pair;

typedef struct collision_contact {
  collision_values values;
  int law; /* collision_force */
  sim_list pairs;
} collision_contact;

typedef struct collision_integrate {
  double dt; /* NaN: auto */
  double steps_per_contact;
  double skin; /* NaN: auto */
  double t_end;
} collision_integrate;

typedef struct collision_parameters {
  sim_common common;
  collision_box box;
  sim_list grains, walls;
  collision_contact contact;
  double gravity[3];
  collision_integrate integrate;
  /* Made by validate. */
  char wall_names[3 * COLLISION_WALLS_MAX][24];
  sim_field wall_columns[3 * COLLISION_WALLS_MAX + 1];
  sim_table wall_table;
  const sim_table *tables[6];
} collision_parameters;

/* sim_model.validate, sim_model.tables_of */
sim_status collision_validate(void *parameters, sim_faults *faults);
const sim_table *const *collision_tables_of(const void *parameters);

/* ---- what is derived from them ---- */

/* One pair of materials, for a contact of reduced mass m and reduced radius R.
 * Linear: k = k0 + km m, damping g = g0 + gh sqrt(m) + gm m, tangential kt = tangential k, gt = tangential g.
 * Hertz: force 4/3 E sqrt(R) d^(3/2), tangential stiffness 8 G sqrt(R d), damping by beta. */
typedef struct collision_law {
  double k0, km, g0, gh, gm, tangential;
  double E, G, beta;
  double friction, rolling, twisting;
  double pull; /* times R: attraction while in contact */
} collision_law;

typedef enum collision_shape { COLLISION_PLANE, COLLISION_CYLINDER } collision_shape;

/* Plane: grains are where (x - point - velocity t) . axis > 0. Cylinder: turns at `spin` about its axis. */
typedef struct collision_wall {
  collision_shape shape;
  double point[3], axis[3], velocity[3], radius, spin;
  bool outside;
  int material;
  int side; /* 0 ... 5 of the box, -1: one of `walls` */
} collision_wall;

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
  bool turning; /* some pair has friction, or some grain turns */
  double skin;  /* NaN: chosen */
} collision_options;

/* Materials in the order in which they appear: of groups, then of walls. NULL where there is no more room. */
sim_status collision_materials(const collision_parameters *p, const char *names[COLLISION_MATERIALS_MAX], int *count);
int collision_material_index(const char *const *names, int count, const char *name);
/* All but n, threads. */
sim_status collision_options_fill(const collision_parameters *p, collision_options *out) SIM_MUST_CHECK;
/* Shortest contact of grains of these masses and radii. Hertz: 5 times the time that Rayleigh's wave takes over a
 * grain (C. Thornton and C. W. Randall, 1988), a tenth of which is a safe step. */
double collision_contact_time(const collision_options *o, int64_t n, const double *mass, const double *radius,
                              const uint64_t *material);

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

sim_status collision_parts_list(const collision_parameters *p, const sim_setup *setup,
                                collision_parts *out) SIM_MUST_CHECK;
void collision_parts_free(collision_parts *parts);
size_t collision_parts_species(const collision_parts *parts, sim_species species[SIM_SPECIES_MAX]);
sim_status collision_grains_create(const collision_parameters *p, const sim_setup *setup, const collision_parts *parts,
                                   const collision_options *options, collision_grains *out) SIM_MUST_CHECK;
void collision_grains_free(collision_grains *grains);
/* Moves grains with loose[i] apart until none overlap. `low` and `high` [3][n] bound their centres; `filled`: volume
 * share that they take of their region. SIM_ERR_SCENARIO where that fails. */
sim_status collision_pack(const collision_options *options, collision_grains *grains, const bool *loose,
                          double *const low[3], double *const high[3], double filled) SIM_MUST_CHECK;

/* Distance of x from the wall's surface, unit normal towards x, velocity of the surface there. */
double collision_wall_distance(const collision_wall *wall, double t, const double x[3], double normal[3],
                               double velocity[3]);

/* ---- state and operations ---- */

/* On the host, in the order of species and then ids; vectors [3][n], of the ops' dtype unless said. Contacts with
 * history stand once, at the grain of the smaller index, in no more than `room` entries; grain UINT64_MAX: empty. */
typedef struct collision_state {
  int64_t n, room;
  void *radius, *mass, *position, *velocity, *spin, *acceleration, *twirl;
  uint64_t *material, *collisions;
  double *dissipated, *virial; /* sums over time: energy; of d . F dt over contacts, half of each a grain */
  uint64_t *contact_grain, *contact_partner; /* [room] */
  void *contact_spring;                      /* [springs][room] */
  void *wall_spring;                         /* [walls springs][n] */
} collision_state;

/* Sums over all grains, in fp64. */
typedef struct collision_sums {
  double mass, kinetic, rotational, elastic, gravity, dissipated, virial, collisions;
  double momentum[3], angular[3];
  double flux[6], stress[6]; /* sums of m v v and of d F over contacts: xx yy zz xy yz zx */
  double touching;           /* contacts of grains, each counted at both */
  double touching_walls;
  double overlap; /* largest, over the smaller radius */
  uint64_t overlap_grain;
  double wall[COLLISION_WALLS_MAX][3]; /* force of the grains on it */
} collision_sums;

typedef struct collision_work collision_work;

typedef struct collision_ops {
  sim_dtype dtype;
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
} collision_ops;

typedef struct collision_ops_pair {
  const collision_ops *f32, *f64;
} collision_ops_pair;
extern const collision_ops collision_ops_cpu_f32, collision_ops_cpu_f64;

#endif
