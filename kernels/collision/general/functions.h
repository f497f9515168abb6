/* The scenario's functions, as the CPU's operations use them: external acceleration, and a contact law. */
#ifndef COLLISION_FUNCTIONS_H
#define COLLISION_FUNCTIONS_H

#include "kernels/collision/scenario/options.h"

typedef struct collision_fields collision_fields;

enum { COLLISION_FIELD_BLOCK = 256 };

/* *out NULL where the options have no functions. */
sim_status collision_fields_create(const collision_options *options, collision_fields **out) SIM_MUST_CHECK;
/* SIM_ERR_SCENARIO where the own law is not finite in a contact of this reduced radius and mass, up to the overlap that
 * is warned of, at rest or at an overlap in `time`. */
sim_status collision_fields_check(const collision_options *options, double radius, double mass,
                                  double time) SIM_MUST_CHECK;
/* A contact under the own law. */
typedef struct collision_own_contact {
  double time, radius, mass; /* INFINITY: there is no such law; reduced */
} collision_own_contact;

/* The shortest, up to the same overlap, of the lightest, heaviest, smallest and largest of n grains, which meet each
 * other and walls: half a period of the law's stiffness there, or ten times what a dashpot as strong may take. */
sim_status collision_fields_shortest(const collision_options *options, int64_t n, const double *mass,
                                     const double *radius, collision_own_contact *out) SIM_MUST_CHECK;
void collision_fields_destroy(collision_fields **fields);
double collision_fields_bytes(const collision_options *options);

/* Of up to COLLISION_FIELD_BLOCK places x[c][k] in the calling thread's room; a[c][k] is there until its next call. */
void collision_fields_external(collision_fields *fields, double *const x[3], int count, double t, const double *a[3]);
/* Where to write the places. */
void collision_fields_places(collision_fields *fields, double *x[3]);
/* Potential of those places; false: it is not known. */
bool collision_fields_potential(collision_fields *fields, double *const x[3], int count, double t,
                                const double **potential);
/* `still`: the force at rate 0. `held` NULL: not wanted. */
void collision_fields_law(collision_fields *fields, double overlap, double rate, double radius, double mass,
                          double *force, double *still, double *held);

#endif
