/* Gravitating bodies: parameters of a scenario, and the model's descriptor. */
#ifndef NBODY_NBODY_H
#define NBODY_NBODY_H

#include "engine/model.h"
#include "kernels/nbody/cosmos/expansion.h"

#include <stdbool.h>
#include <stdint.h>

extern const sim_model nbody_model;
extern const sim_bench nbody_bench[]; /* rows of `sim bench`, bench.c */

typedef enum nbody_scheme { NBODY_LEAPFROG, NBODY_YOSHIDA4, NBODY_HERMITE4, NBODY_IAS15, NBODY_WHFAST } nbody_scheme;
/* The scenario's names of the schemes, NULL-terminated. */
extern const char *const nbody_scheme_names[];
/* Whether a scheme is for few bodies; these compute on the CPU in double precision alone. */
bool nbody_scheme_is_few(int scheme);

/* Orbital elements about the centre of mass of `primary`; angles in degrees. */
typedef struct nbody_orbit {
  bool given;
  double a, e, inc, node, peri, M;
  char *primary; /* a species listed before, or "all" bodies listed before */
} nbody_orbit;
enum { NBODY_ELEMENTS = 6, NBODY_ORBITS_MAX = SIM_COLUMNS_FEW / NBODY_ELEMENTS };

/* First member of every kind of group of bodies. The group is rotated by |rotation| degrees about the vector
 * `rotation`, then moved by position and velocity, or by the orbit of its centre. Then the velocity field (x y z -> vx
 * vy vz; NULL: none) at the position of each body is added to the body's velocity.
 */
typedef struct nbody_group_fields {
  char *species;
  double position[3], velocity[3], rotation[3];
  nbody_orbit orbit;
  sim_expr *velocity_field;
} nbody_group_fields;

typedef struct nbody_body {
  nbody_group_fields group; /* with the position and velocity of the body */
  double mass, radius;
} nbody_body;

/* Plummer and Hernquist spheres. */
typedef struct nbody_sphere {
  nbody_group_fields group;
  int64_t n;
  double mass, radius, cutoff;
} nbody_sphere;

typedef struct nbody_uniform_sphere {
  nbody_group_fields group;
  int64_t n;
  double mass, radius, virial;
} nbody_uniform_sphere;

typedef struct nbody_halo {
  int64_t n;
  char *species;
  double mass, radius, cutoff;
} nbody_halo;

typedef struct nbody_exponential_disk {
  nbody_group_fields group;
  int64_t n;
  double mass, radius, thickness, Q, cutoff;
  nbody_halo halo;
} nbody_exponential_disk;

typedef struct nbody_from_file {
  nbody_group_fields group;
  char *path;
} nbody_from_file;

/* Bodies given one by one, in rows: mass [n][1], position [n][3], velocity [n][3], radius [n][1]. Only species and
 * velocity field of `group` apply. */
typedef struct nbody_each {
  nbody_group_fields group;
  sim_doubles mass, position, velocity, radius;
} nbody_each;

/* How the amplitudes of waves are drawn: from the normal distribution, or all at their root mean square (R. E. Angulo
 * and A. Pontzen, MNRAS 462 (2016) L1). */
typedef enum nbody_amplitudes { NBODY_RANDOM, NBODY_FIXED } nbody_amplitudes;

/* Bodies on a lattice that fills the periodic box, with velocities of a temperature. Only the species of `group`
 * applies. */
typedef enum nbody_lattice_kind { NBODY_FCC, NBODY_BCC, NBODY_SC } nbody_lattice_kind;
typedef struct nbody_lattice {
  nbody_group_fields group;
  int kind;      /* nbody_lattice_kind */
  int64_t cells; /* along a side */
  double mass;   /* of a body */
  double temperature;
} nbody_lattice;

/* A lattice of n^3 bodies in a periodic cube, displaced by waves of a power spectrum. Only the species of `group`
 * applies. NaN: not given. */
typedef struct nbody_zeldovich {
  nbody_group_fields group;
  int64_t n;                     /* bodies along a side */
  sim_doubles power;             /* rows {k, P} at a = 1; none: Eisenstein and Hu's formula */
  double index, omega_b, sigma8; /* of the formula; sigma8 also scales `power` */
  int amplitudes;                /* nbody_amplitudes */
} nbody_zeldovich;

extern const sim_schema nbody_body_schema, nbody_plummer_schema, nbody_hernquist_schema, nbody_uniform_sphere_schema,
    nbody_exponential_disk_schema, nbody_from_file_schema, nbody_each_schema, nbody_zeldovich_schema,
    nbody_lattice_schema, nbody_schema;

/* Method that computes the forces between bodies. */
typedef enum nbody_method { NBODY_AUTO, NBODY_DIRECT, NBODY_FMM } nbody_method;

typedef struct nbody_gravity {
  double G, softening;
  int solver;        /* nbody_method */
  double error;      /* relative, of the force, median over the bodies; NaN: NBODY_ERROR, with expansion 100 times */
  double error_tail; /* relative error of the force that 99.9 % of the bodies stay below; NaN: any */
} nbody_gravity;
#define NBODY_ERROR 1e-4

/* A cube with one corner at the origin, repeated without end. */
typedef struct nbody_box {
  bool given; /* false: open space */
  double size;
  int boundary; /* 0: periodic */
} nbody_box;

/* Whether all bodies make steps of one length, or each body steps of dt / 2^level, with a level of its own. */
typedef enum nbody_steps { NBODY_SHARED, NBODY_INDIVIDUAL } nbody_steps;
enum { NBODY_LEVELS_MAX = 20 };

typedef struct nbody_integrate {
  int scheme;     /* nbody_scheme */
  int steps;      /* nbody_steps */
  double dt;      /* step; with individual steps the longest; NaN: adaptive */
  int64_t levels; /* deepest level of individual steps, at most NBODY_LEVELS_MAX; SIM_INT_KEYWORD: shared steps */
  double eta;     /* NaN: fixed steps */
  double dt_max;  /* NaN: no limit */
  double t_end;
  double max_energy_error; /* NaN: no limit */
} nbody_integrate;

/* What is subtracted from the pair potential within the cutoff: its value at the cutoff, or nothing. */
typedef enum nbody_shift { NBODY_SHIFT_POTENTIAL, NBODY_SHIFT_NONE } nbody_shift;

/* Thermostats: Langevin's equation in the splitting of B. Leimkuhler and C. Matthews, Appl. Math. Res. Express 2013
 * (2013) 34, and a chain of three Nose-Hoover thermostats by G. J. Martyna et al., Mol. Phys. 87 (1996) 1117. */
typedef enum nbody_thermostat_kind { NBODY_LANGEVIN, NBODY_NOSE_HOOVER } nbody_thermostat_kind;
typedef struct nbody_thermostat {
  bool given;
  int kind;           /* nbody_thermostat_kind */
  double temperature; /* k T, an energy */
  double friction;    /* for langevin: a rate; NaN: not given */
  double time;        /* for nose_hoover: a time; NaN: not given */
} nbody_thermostat;

/* The table `rdf`: g(r) in `bins` shells of equal thickness up to `radius` (NaN: half the box). */
typedef struct nbody_rdf {
  bool given;
  int64_t bins;
  double radius;
} nbody_rdf;

/* Distance from the centre of mass beyond which bodies are removed. */
typedef struct nbody_escape {
  bool given;
  double radius;
} nbody_escape;

typedef struct nbody_parameters {
  sim_common common;
  sim_list bodies;
  bool recentre; /* the centre of mass of all bodies starts at rest in the origin */
  nbody_box box;
  nbody_gravity gravity;
  sim_expr *external;          /* function of x y z vx vy vz t: potential, or three components of the acceleration */
  sim_expr *pair, *pair_force; /* functions of r2: potential; force. Either replaces gravity; G is then NaN */
  double cutoff;               /* of pair or pair_force; NaN or 0: none */
  int shift;                   /* nbody_shift */
  nbody_thermostat thermostat;
  nbody_rdf rdf;
  sim_function_map observe;
  nbody_expansion expansion;
  int64_t spectrum; /* points along a side of the grid of the table `spectrum`; 0: no table */
  char *orbits;     /* species about which the table `orbits` has elements; NULL: no table */
  bool merge;       /* bodies whose radii touch merge */
  nbody_escape escape;
  nbody_integrate integrate;
  /* Filled in by validation: tables of individual steps, `observe`, `spectrum` and `orbits`, and all tables of the
   * run. */
  sim_field level_columns[NBODY_LEVELS_MAX + 2];
  sim_field observe_columns[SIM_COLUMNS_FEW + 1];
  sim_field spectrum_columns[SIM_COLUMNS_FEW + 1];
  char spectrum_names[SIM_COLUMNS_FEW][24], spectrum_docs[SIM_COLUMNS_FEW][96];
  sim_field orbit_columns[SIM_COLUMNS_FEW + 1];
  char orbit_names[SIM_COLUMNS_FEW][72];
  sim_field rdf_columns[SIM_COLUMNS_FEW + 1];
  char rdf_names[SIM_COLUMNS_FEW][8], rdf_docs[SIM_COLUMNS_FEW][64];
  sim_table level_table, observe_table, spectrum_table, orbit_table, rdf_table;
  const sim_table *tables[11];
} nbody_parameters;

/* sim_model.validate: fills in defaults, and adds the faults of rules between parameters. */
sim_status nbody_validate(void *parameters, sim_faults *faults);
/* Side of the periodic cube; NaN: no periodic box. */
double nbody_box_side(const nbody_parameters *p);
/* The item of `bodies` whose bodies come from a power spectrum; NULL: none. */
const nbody_zeldovich *nbody_zeldovich_of(const nbody_parameters *p);
/* Returns gravity.G, or the value of "auto"; with a custom law too, because generators in equilibrium use it. */
double nbody_gravitational_constant(const nbody_parameters *p);

#endif
