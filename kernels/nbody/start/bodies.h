/* Bodies at the start of a run: groups, generators, files. All arrays are on the host, in fp64. */
#ifndef NBODY_BODIES_H
#define NBODY_BODIES_H

#include "kernels/nbody/nbody.h"

/* Bodies in the order of ids: body i has id `id` + i. mass[n], position[c][n], velocity[c][n]. */
typedef struct nbody_bodies {
  int64_t n, id;
  double *mass, *position[3], *velocity[3];
} nbody_bodies;

/* A run of consecutive ids with one species: an item of `bodies`, or the halo of an exponential_disk. */
typedef struct nbody_group {
  const sim_item *item;
  const char *species;
  int64_t n;
  bool halo;
} nbody_group;

typedef struct nbody_groups {
  nbody_group *group; /* [count], owned */
  size_t count;
  double n; /* number of all bodies; a double, because the sum may exceed 2^63 */
} nbody_groups;

/* Lists the groups of a scenario; reads only the number of bodies of files. SIM_ERR_SCENARIO: too many species, or the
 * reader's error. */
sim_status nbody_groups_list(const nbody_parameters *p, const sim_setup *setup, nbody_groups *out) SIM_MUST_CHECK;
void nbody_groups_free(nbody_groups *groups);

/* Lists the species in the order of their first appearance; returns their number, SIZE_MAX for too many. */
size_t nbody_groups_species(const nbody_groups *groups, sim_species species[SIM_SPECIES_MAX]);

/* Peak host memory of nbody_bodies_create, and of the `stage` bytes that are allocated once all bodies exist.
 * `recentred`: the scenario's `recentre`. */
double nbody_bodies_bytes(const nbody_groups *groups, bool recentred, int threads, double stage);
/* Creates all bodies. Random numbers are functions of the seed, the id of a body and nbody_draw. SIM_ERR_SCENARIO,
 * SIM_ERR_NO_MEMORY, or the reader's error. */
sim_status nbody_bodies_create(const nbody_parameters *p, const sim_setup *setup, const nbody_groups *groups,
                               nbody_bodies *out) SIM_MUST_CHECK;
void nbody_bodies_free(nbody_bodies *bodies);
/* SIM_ERR_SCENARIO where the sum of all masses is 0; `single`: after rounding to fp32. */
sim_status nbody_bodies_check_mass(const nbody_bodies *bodies, bool single) SIM_MUST_CHECK;

/* Adds position and velocity of the orbit of `which`, if it has an orbit, to the bodies in `part`. `all`: bodies of all
 * groups before. SIM_ERR_SCENARIO where the primary has no mass, or the orbit is out of range. */
sim_status nbody_place_on_orbit(double G, const nbody_groups *groups, const nbody_group *which, const nbody_bodies *all,
                                nbody_bodies *part) SIM_MUST_CHECK;

/* Random draws of one body, two numbers each: the `draw` of sim_rng_uniform and sim_rng_normal (engine/rng.h). */
typedef enum nbody_draw {
  NBODY_DRAW_RADIUS,        /* uniform: radius; first number of the position's direction, or angle in the disk */
  NBODY_DRAW_DIRECTION,     /* uniform: second number of that direction, or height; first of the velocity's */
  NBODY_DRAW_VELOCITY,      /* uniform: second number of the velocity's direction; or normal: vx, vy */
  NBODY_DRAW_VELOCITY_Z,    /* normal: vz */
  NBODY_DRAW_WAVE = 0,      /* normal, for a wave instead of a body: both parts of its amplitude */
  NBODY_DRAW_SPEED = 3,     /* uniform: speed by rejection, with this draw and all later ones */
  NBODY_DRAW_BATH = 0x8000, /* normal, for a thermostat in steps from 1 on: x, y */
  NBODY_DRAW_BATH_Z         /* normal, for a thermostat: z */
} nbody_draw;

/* Parameters of generators, which fill `part` around the origin, at rest as a whole except for sampling noise. Radii
 * are stratified: body i of n is drawn from the shell with the fraction [i/n, (i + 1)/n) of the mass, so that the mass
 * within a radius is exact to one body. */
typedef struct nbody_maker {
  uint64_t seed;
  double G, softening;
  int threads;
  sim_isa isa;
} nbody_maker;
void nbody_make_plummer(const nbody_maker *maker, const nbody_sphere *sphere, nbody_bodies *part);
void nbody_make_uniform(const nbody_maker *maker, const nbody_uniform_sphere *sphere, nbody_bodies *part);
sim_status nbody_make_hernquist(const nbody_maker *maker, const nbody_sphere *sphere,
                                nbody_bodies *part) SIM_MUST_CHECK;
sim_status nbody_make_disk(const nbody_maker *maker, const nbody_exponential_disk *disk,
                           nbody_bodies *part) SIM_MUST_CHECK;
sim_status nbody_make_halo(const nbody_maker *maker, const nbody_exponential_disk *disk,
                           nbody_bodies *part) SIM_MUST_CHECK;

/* Fills `part` with a lattice in [0, size)^3 displaced by waves, at a_start, with masses of the mean density. Positions
 * may be outside of the box by a displacement; `velocity` is the momentum a^2 dx/dt. SIM_ERR_NO_MEMORY. */
sim_status nbody_make_zeldovich(const nbody_maker *maker, const nbody_zeldovich *z, const nbody_expansion *e,
                                double size, nbody_bodies *part) SIM_MUST_CHECK;
int64_t nbody_lattice_count(const nbody_lattice *lattice);
/* Fills `part` with a lattice in [0, size)^3, with Maxwell's velocities without total momentum. scratch: [n +
 * sim_reduce_blocks(n)]. */
void nbody_make_lattice(const nbody_maker *maker, const nbody_lattice *lattice, double size, double *scratch,
                        nbody_bodies *part);
double nbody_zeldovich_bytes(const nbody_zeldovich *z, int threads); /* memory that it needs for a while */

/* Radius, in scale lengths, that contains the fraction (0, 1] of the mass of a Plummer sphere; 2^26 where the
 * fraction rounds to 1. */
double nbody_plummer_radius(double share);
/* Computes speed2[rings]: squared circular speeds in the attraction of an infinite exponential disk alone, times Rd/(G
 * M), at the radii spacing (k + 1/2). Lengths are in units of Rd; density goes as sech^2(z/thickness). */
void nbody_disk_circular_speed2(double spacing, double thickness, double softening, double *speed2, int rings);

/* Isotropic unit vector from two numbers in (0, 1). */
void nbody_direction(double u, double v, double out[3]);

#endif
