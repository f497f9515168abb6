/* Parameters of a scenario of colliding spheres. */
#ifndef COLLISION_PARAMETERS_H
#define COLLISION_PARAMETERS_H

#include "engine/model.h"
#include "kernels/collision/scenario/limits.h"

#include <stdbool.h>
#include <stdint.h>

#define COLLISION_PI 3.14159265358979323846

/* First member of every kind of group of grains. */
typedef struct collision_group {
  char *species, *material;
  double density;
  double velocity[3];
} collision_group;

typedef struct collision_grain {
  collision_group group; /* velocity: of the grain */
  double radius;
  double position[3], angular_velocity[3];
} collision_grain;

typedef enum collision_distribution {
  COLLISION_AUTO,
  COLLISION_DEALT,
  COLLISION_UNIFORM,
  COLLISION_LOGNORMAL
} collision_distribution;

/* Radii of a group: one radius, or a list or distribution. */
typedef struct collision_radii {
  double radius; /* NaN: `radii` holds them */
  sim_doubles radii;
  int distribution; /* collision_distribution */
} collision_radii;

typedef struct collision_random_spheres {
  collision_group group;
  collision_radii size;
  int64_t n;
  sim_doubles low, high; /* [3][1]; no rows: the limits of the box */
  double temperature;
} collision_random_spheres, collision_lattice;

typedef struct collision_from_file {
  collision_group group;
  char *path;
  double radius;
} collision_from_file;

/* Grains given one by one, in rows: radius [n][1], position, velocity, angular_velocity [n][3]. */
typedef struct collision_each {
  collision_group group;
  sim_doubles radius, position, velocity, angular_velocity;
} collision_each;

/* How mass and inertia of a clump are computed from its spheres; auto: exact where no spheres overlap. */
typedef enum collision_volume {
  COLLISION_VOLUME_AUTO,
  COLLISION_VOLUME_EXACT,
  COLLISION_VOLUME_SAMPLED
} collision_volume;

/* First member of both kinds of clumps: a rigid body of spheres {x, y, z, radius}. */
typedef struct collision_rigid {
  collision_group group; /* density NaN: computed from the mass; after validation exactly one of both is NaN */
  sim_doubles spheres;   /* [count][4] */
  double mass;
  int volume; /* collision_volume */
} collision_rigid;

typedef struct collision_clump {
  collision_rigid rigid;
  double position[3], angular_velocity[3], orientation[4];
} collision_clump;

typedef struct collision_clumps {
  collision_rigid rigid;
  int64_t n;
  sim_doubles low, high; /* as in random_spheres */
  double temperature;
} collision_clumps;

extern const sim_schema collision_grain_schema, collision_random_spheres_schema, collision_lattice_schema,
    collision_from_file_schema, collision_each_schema, collision_clump_schema, collision_clumps_schema,
    collision_schema;

/* First members of every kind of wall. */
#define COLLISION_MOVING                                                                                               \
  char *material;                                                                                                      \
  double point[3], axis[3]; /* of the rotation, and of the shape if it has an axis */                                  \
  double velocity[3], spin;                                                                                            \
  double temperature;        /* NaN: an insulator */                                                                   \
  sim_expr *motion, *turning /* functions of t: velocity, spin; NULL: the constants */

typedef struct collision_moving {
  COLLISION_MOVING;
} collision_moving;

/* A plane that moves until grains press on it with a given force, or pressure. NaN: not given. */
typedef struct collision_servo {
  bool given;
  double force, pressure, speed;
} collision_servo;

typedef struct collision_plane {
  COLLISION_MOVING;
  double normal[3];
  collision_servo servo;
} collision_plane;

typedef struct collision_cylinder {
  COLLISION_MOVING;
  double radius;
  bool outside;
} collision_cylinder;

typedef struct collision_cone {
  COLLISION_MOVING;
  double length, radius, end_radius;
} collision_cone;

typedef struct collision_ball {
  COLLISION_MOVING;
  double radius;
  bool inside;
} collision_ball;

typedef struct collision_block {
  COLLISION_MOVING;
  double low[3], high[3];
  bool inside;
} collision_block;

typedef struct collision_stl {
  COLLISION_MOVING;
  char *path;
  double scale, shift[3];
  bool closed;
} collision_stl;

extern const sim_schema collision_plane_schema, collision_cylinder_schema, collision_cone_schema, collision_ball_schema,
    collision_block_schema, collision_stl_schema;
/* Number of walls in the options for an item of `walls`: 6 for the inside of a block, else 1. */
int collision_wall_planes(const sim_item *item);

typedef enum collision_side {
  COLLISION_SAME,
  COLLISION_PERIODIC,
  COLLISION_WALL,
  COLLISION_OPEN,
  COLLISION_OUTLET
} collision_side;

typedef struct collision_box {
  double size[3], origin[3];
  int boundary; /* collision_side - 1 */
  double shear_rate;
  double shear_offset; /* of images across the shear at the start, along it; NaN: not given, which means 0 */
  int sides[6];        /* collision_side: x low, x high, y low ...; SAME only before validation */
} collision_box;

/* Rolling or twisting. NaN: not given. */
typedef struct collision_turning_values {
  bool given;
  int model; /* collision_turning; in `pairs` COLLISION_NO_TURNING: as in `contact` */
  double coefficient, stiffness, damping;
} collision_turning_values;

typedef struct collision_cohesion_values {
  bool given;
  int model; /* collision_cohesion; in `pairs` COLLISION_NO_COHESION: as in `contact` */
  double surface_energy, energy, range, edge, surface_tension, contact_angle, volume;
} collision_cohesion_values;

/* Values of a contact law. NaN: not given; in `pairs` the value of `contact` then applies. */
typedef struct collision_values {
  double stiffness, contact_time, young, poisson, restitution, damping, tangential_stiffness, friction,
      rolling_friction, twisting_friction, surface_energy;
  collision_turning_values rolling, twisting;
  collision_cohesion_values cohesion;
} collision_values;

typedef struct collision_pair {
  collision_values values;
  char *a, *b;
} collision_pair;

#define COLLISION_SPEED_INPUTS "speed"
#define COLLISION_FORCE_INPUTS "overlap", "rate", "radius", "mass"

typedef struct collision_contact {
  collision_values values;
  int law; /* collision_force */
  bool limit_damping;
  int tangential; /* collision_tangential */
  double overlap_limit;
  sim_expr *restitution_law; /* COLLISION_SPEED_INPUTS -> restitution; NULL: the number */
  sim_expr *force;           /* COLLISION_CUSTOM: COLLISION_FORCE_INPUTS -> normal force, > 0: pushes */
  sim_list pairs;
} collision_contact;

/* An inlet: grains inserted during the run. `radii` as in random_spheres. */
typedef struct collision_inlet {
  collision_group group;
  collision_radii size;
  double rate, low[3], high[3], start, stop; /* stop NaN: none */
  double limit;                              /* most grains in total; NaN: as many as the rate inserts until t_end */
} collision_inlet;

typedef struct collision_region {
  double low[3], high[3];
} collision_region;

enum { COLLISION_BINS_MAX = 64, COLLISION_INLETS_MAX = 16, COLLISION_TABLES = 18 };

typedef struct collision_profile {
  bool given;
  int axis;
  int64_t bins; /* 0: none */
} collision_profile;

/* Frame that turns with a circular orbit, see hill_motion.h; kappa, vertical NaN: equal to omega. */
typedef struct collision_hill {
  bool given;
  double omega, kappa, vertical; /* omega NaN: no such frame */
} collision_hill;

typedef struct collision_self_gravity {
  bool given;
  double G, softening, error, step; /* G NaN: none; step NaN: automatic */
  int64_t images;
} collision_self_gravity;

/* When two grains that begin to touch merge: always; if gravity binds them to each other; if slower than
 * `speed`. */
typedef enum collision_merge_when {
  COLLISION_MERGE_NEVER,
  COLLISION_MERGE_TOUCH,
  COLLISION_MERGE_BOUND,
  COLLISION_MERGE_SLOW
} collision_merge_when;

/* Rule by which touching grains become one. */
typedef struct collision_merge {
  bool given;
  int when;     /* collision_merge_when */
  double speed; /* for COLLISION_MERGE_SLOW; NaN: not given */
} collision_merge;

/* Heat that touching grains conduct. */
typedef struct collision_heat {
  bool given;
  double conductivity, capacity; /* NaN: there is no heat */
  sim_expr *temperature;         /* function of x y z: temperature of grains at the start; NULL: 0 */
} collision_heat;

typedef struct collision_integrate {
  double dt; /* NaN: auto */
  double steps_per_contact;
  double skin; /* NaN: auto */
  double t_end;
} collision_integrate;

typedef struct collision_parameters {
  sim_common common;
  collision_box box;
  sim_list grains, walls, insert, remove, gates;
  collision_contact contact;
  collision_profile profile;
  double gravity[3];
  sim_expr *external;
  collision_hill hill;
  collision_self_gravity self_gravity;
  collision_heat heat;
  collision_merge merge;
  collision_integrate integrate;
  bool pushed; /* the model that has these grains gives them accelerations: coupled.h */
  /* Filled in by validation. */
  char wall_names[3 * COLLISION_WALLS_MAX][24];
  sim_field wall_columns[3 * COLLISION_WALLS_MAX + 1];
  sim_table wall_table;
  collision_gate gate[COLLISION_GATES_MAX]; /* of `gates`, with unit normals */
  char flow_names[2 * COLLISION_GATES_MAX][32], bin_names[COLLISION_BINS_MAX][16];
  sim_field flow_columns[2 * COLLISION_GATES_MAX + 5], bin_columns[5][COLLISION_BINS_MAX + 1];
  sim_table flow_table, bin_tables[5];
  const sim_table *tables[COLLISION_TABLES + 1];
} collision_parameters;

/* sim_model.validate, sim_model.tables_of */
sim_status collision_validate(void *parameters, sim_faults *faults);
const sim_table *const *collision_tables_of(const void *parameters);
extern const sim_table *const collision_described[]; /* sim_model.described */

#endif
