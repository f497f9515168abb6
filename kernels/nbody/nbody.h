/* Gravitating bodies by direct summation: parameters, state, and the table of operations that a device fills. */
#ifndef NBODY_NBODY_H
#define NBODY_NBODY_H

#include "engine/model.h"

#include <stdbool.h>
#include <stdint.h>

extern const sim_model nbody_model;
extern const sim_bench nbody_bench[]; /* bench.c */

typedef enum nbody_scheme { NBODY_LEAPFROG, NBODY_YOSHIDA4, NBODY_HERMITE4 } nbody_scheme;

/* What every kind of group of bodies begins with: turned by |rotation| degrees about `rotation`, then moved. Then the
 * velocity field (x y z -> vx vy vz; NULL: none) is added where the bodies stand. */
typedef struct nbody_group {
  char *species;
  double position[3], velocity[3], rotation[3];
  sim_expr *velocity_field;
} nbody_group;

typedef struct nbody_body {
  nbody_group group; /* position and velocity are the body's own */
  double mass;
} nbody_body;

/* Plummer and Hernquist spheres. */
typedef struct nbody_sphere {
  nbody_group group;
  int64_t n;
  double mass, radius, cutoff;
} nbody_sphere;

typedef struct nbody_uniform_sphere {
  nbody_group group;
  int64_t n;
  double mass, radius, virial;
} nbody_uniform_sphere;

typedef struct nbody_halo {
  int64_t n;
  char *species;
  double mass, radius, cutoff;
} nbody_halo;

typedef struct nbody_exponential_disk {
  nbody_group group;
  int64_t n;
  double mass, radius, thickness, Q, cutoff;
  nbody_halo halo;
} nbody_exponential_disk;

typedef struct nbody_from_file {
  nbody_group group;
  char *path;
} nbody_from_file;

/* Rows are bodies: mass [n][1], position [n][3], velocity [n][3]. Of `group` the species and the velocity field are
 * used. */
typedef struct nbody_each {
  nbody_group group;
  sim_doubles mass, position, velocity;
} nbody_each;

extern const sim_schema nbody_body_schema, nbody_plummer_schema, nbody_hernquist_schema, nbody_uniform_sphere_schema,
    nbody_exponential_disk_schema, nbody_from_file_schema, nbody_each_schema, nbody_schema;

typedef struct nbody_gravity {
  double G, softening;
} nbody_gravity;

typedef struct nbody_integrate {
  int scheme;    /* nbody_scheme */
  double dt;     /* NaN: adaptive */
  double eta;    /* NaN until validate puts the scheme's own */
  double dt_max; /* NaN: none */
  double t_end;
  double max_energy_error; /* NaN: none */
} nbody_integrate;

typedef struct nbody_parameters {
  sim_common common;
  sim_list bodies;
  nbody_gravity gravity;
  sim_expr *external;          /* x y z t -> potential, or three components of the acceleration */
  sim_expr *pair, *pair_force; /* r2 -> potential, force: one of them in place of gravity, G then is NaN */
  sim_function_map observe;
  nbody_integrate integrate;
  /* Made by validate; the names are those of `observe`. */
  sim_field observe_columns[SIM_COLUMNS_MAX + 1];
  sim_table observe_table;
  const sim_table *tables[4];
} nbody_parameters;

/* sim_model.validate */
sim_status nbody_validate(void *parameters, sim_faults *faults);
/* gravity.G, or what "auto" means: also where another law stands in place of gravity, for groups in equilibrium. */
double nbody_constant(const nbody_parameters *p);

/* The bodies on a device. Vectors by component: [3][n]. */
typedef struct nbody_state {
  int64_t n;
  void *mass, *position, *velocity; /* of the ops' dtype */
  double *acceleration;
  double *jerk; /* Hermite only, else NULL */
} nbody_state;

/* Laws of the user's own as graphs, owned; NULL: none. Jerk and rate in brackets: only where options.jerk is set. */
typedef struct nbody_laws {
  /* Evaluated in fp64 whatever the precision, as t needs it:
   * x y z [vx vy vz] t -> ax ay az [jx jy jz] potential, per unit mass; added to the pairs' forces. The potential is
   * NaN where the scenario gives an acceleration alone. */
  sim_expr *external;
  /* r2 -> force [rate] potential: in place of gravity, a_i = sum m_j force(r2) d with d = x_j - x_i and r2 = d.d, rate
   * is its derivative by r2, U = sum over pairs of m_i m_j potential(r2). NaN potential: not known. In the precision
   * of the pair terms; never called with a body and itself, nor with bodies that fill up a block. */
  sim_expr *pair;
  bool alone;     /* the pair's force and potential are 0: no sums over pairs are needed */
  bool timed;     /* external depends on t */
  bool potential; /* all potentials are known */
} nbody_laws;

/* From valid parameters. SIM_ERR_SCENARIO where a derivative becomes too large. */
sim_status nbody_laws_create(const nbody_parameters *p, nbody_laws *out) SIM_MUST_CHECK;
void nbody_laws_free(nbody_laws *laws);
/* The graph of outputs first ... first + count - 1 of another one, with its inputs. */
sim_status nbody_laws_pick(const sim_expr *expr, int first, int count, sim_expr **out) SIM_MUST_CHECK;
/* External force alone: x y z vx vy vz ax ay az t -> its second time derivative along the path, sx sy sz. Needs a
 * law with jerk. */
sim_status nbody_laws_snap(const nbody_laws *laws, sim_expr **out) SIM_MUST_CHECK;

/* What a body shows to functions of the user's own, in this order. */
#define NBODY_BODY_INPUTS "mass", "x", "y", "z", "vx", "vy", "vz", "ax", "ay", "az", "t"

typedef struct nbody_options {
  int64_t n;
  bool single_pairs; /* fp32 pair terms */
  bool jerk;         /* Hermite: jerk, and room for the predictor */
  sim_isa isa;
  int threads;
  double G, softening;
  double spread; /* root mean square distance from the middle at the start of the run: the size of the system */
  nbody_laws laws;
  const sim_function_map *observe; /* of NBODY_BODY_INPUTS, one result each; NULL: none */
} nbody_options;

/* Sums over all bodies, in fp64. */
typedef struct nbody_sums {
  double mass, kinetic, potential;
  double moment[3]; /* sum of m x */
  double momentum[3], angular_momentum[3];
} nbody_sums;

enum { NBODY_RADII = 5 };
extern const double nbody_radius_fractions[NBODY_RADII];

/* What an ops table works with: scratch memory, the direct sum. It borrows the state. */
typedef struct nbody_work nbody_work;

/* One device and one precision of the state. Operations without a result only queue work, and need nothing from
 * the host but their arguments; those with one wait for it: observables, and the length of an adaptive step. */
typedef struct nbody_ops {
  sim_dtype dtype; /* of mass, position, velocity */
  int64_t most;    /* bodies that it takes; 0: any number */
  double (*bytes)(const nbody_options *options);
  sim_status (*create)(const nbody_options *options, const nbody_state *state, nbody_work **out);
  void (*destroy)(nbody_work **work);
  const char *(*name)(const nbody_work *work); /* of the direct sum */
  /* Acceleration, and jerk with options.jerk, at time t. */
  void (*force)(nbody_work *work, double t);
  void (*finish)(nbody_work *work);           /* those are in the state's arrays, for others to read */
  void (*kick)(nbody_work *work, double dt);  /* v += a dt; finishes */
  void (*drift)(nbody_work *work, double dt); /* x += v dt */
  void (*kick_drift)(nbody_work *work, double kick, double drift); /* both; the acceleration is used up */
  /* Keeps x, v, a, j and puts the predicted x and v in their place. */
  void (*hermite_predict)(nbody_work *work, double dt);
  /* From what was kept and the force at the prediction. */
  void (*hermite_correct)(nbody_work *work, double dt);
  /* Shortest over the bodies; INFINITY where nothing limits it. */
  double (*step_softened)(nbody_work *work, double eta);           /* eta sqrt(eps / |a|) */
  double (*step_aarseth)(nbody_work *work, double eta, double dt); /* after a corrected step of dt */
  /* Pairs' free fall, |a| / |j|. With a law, of a pair: ((|force| + 2 r2 |rate|) (m_i + m_j))^(-1/2). */
  double (*step_start)(nbody_work *work);
  void (*sums)(nbody_work *work, double t, nbody_sums *out); /* potential: with the external one's at time t */
  /* options.observe over all bodies at time t, in its order. */
  sim_status (*observe)(nbody_work *work, double t, double *values);
  /* About `centre`, within which each of nbody_radius_fractions of the mass lies. */
  void (*radii)(nbody_work *work, const double centre[3], double out[NBODY_RADII]);
} nbody_ops;

/* Operations of one kind of backend. */
typedef struct nbody_ops_pair {
  const nbody_ops *f32, *f64;
} nbody_ops_pair;
extern const nbody_ops nbody_ops_cpu_f32, nbody_ops_cpu_f64;
#ifdef SIM_HAS_CUDA
extern const nbody_ops nbody_ops_cuda_f32, nbody_ops_cuda_f64;
#endif

#endif
