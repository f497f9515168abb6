/* The bodies that a run begins with. */
#ifndef NBODY_BODIES_H
#define NBODY_BODIES_H

#include "kernels/nbody/nbody.h"

/* In fp64, in the order of ids: body i has id `id` + i. A part is a view. */
typedef struct nbody_bodies {
  int64_t n, id;
  double *mass, *position[3], *velocity[3];
} nbody_bodies;

/* Bodies of one species that stand together in the order of ids. */
typedef struct nbody_part {
  const sim_item *item;
  const char *species;
  int64_t n;
  bool halo; /* of an exponential_disk */
} nbody_part;

typedef struct nbody_parts {
  nbody_part *part; /* owned */
  size_t count;
  double n; /* all bodies; a double, as the sum may pass 2^63 */
} nbody_parts;

/* Looks into files only for how many bodies they hold. SIM_ERR_SCENARIO: too many species; what the reader says. */
sim_status nbody_parts_list(const nbody_parameters *p, const sim_setup *setup, nbody_parts *out) SIM_MUST_CHECK;
void nbody_parts_free(nbody_parts *parts);

/* Species in the order in which they first appear; returns how many. */
size_t nbody_parts_species(const nbody_parts *parts, sim_species species[SIM_SPECIES_MAX]);

/* The most that making them takes, with `stage` bytes that are there once all are made. */
double nbody_bodies_bytes(const nbody_parts *parts, double stage);
/* Makes all bodies. Random numbers are functions of the seed and a body's id. */
sim_status nbody_bodies_create(const nbody_parameters *p, const sim_setup *setup, const nbody_parts *parts,
                               nbody_bodies *out) SIM_MUST_CHECK;
void nbody_bodies_free(nbody_bodies *bodies);
/* SIM_ERR_SCENARIO where no mass is left, rounded to fp32 if `single`. */
sim_status nbody_bodies_check_mass(const nbody_bodies *bodies, bool single) SIM_MUST_CHECK;

/* Generators: fill a part about the origin, at rest as a whole to sampling noise. Radii are stratified: body i of n is
 * drawn from the shell that holds the share [i/n, (i + 1)/n) of the mass, so that the mass within a radius is right to
 * one body. */
typedef struct nbody_maker {
  uint64_t seed;
  double G, softening;
  int threads;
} nbody_maker;
void nbody_make_plummer(const nbody_maker *maker, const nbody_sphere *sphere, nbody_bodies *part);
void nbody_make_uniform(const nbody_maker *maker, const nbody_uniform_sphere *sphere, nbody_bodies *part);
sim_status nbody_make_hernquist(const nbody_maker *maker, const nbody_sphere *sphere,
                                nbody_bodies *part) SIM_MUST_CHECK;
sim_status nbody_make_disk(const nbody_maker *maker, const nbody_exponential_disk *disk,
                           nbody_bodies *part) SIM_MUST_CHECK;
sim_status nbody_make_halo(const nbody_maker *maker, const nbody_exponential_disk *disk,
                           nbody_bodies *part) SIM_MUST_CHECK;

/* Radius, in scale lengths, within which the share (0, 1] of a Plummer sphere lies: 2^26 where no double tells the
 * share from 1. */
double nbody_plummer_radius(double share);
/* Square of the circular speed in the pull of an endless exponential disk alone, times Rd/(G M), at the radii
 * spacing (k + 1/2), k = 0 ... rings - 1. Lengths in Rd; thickness is that of sech^2(z/thickness). */
void nbody_disk_pull(double spacing, double thickness, double softening, double *pull, int rings);

/* Isotropic direction from two numbers in (0, 1). */
void nbody_direction(double u, double v, double out[3]);

#endif
