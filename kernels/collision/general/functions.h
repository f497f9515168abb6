/* Functions of the scenario on the CPU: external acceleration and potential, and a custom contact law. GPU counterpart:
 * cuda/laws.h. */
#ifndef COLLISION_FUNCTIONS_H
#define COLLISION_FUNCTIONS_H

#include "kernels/collision/scenario/options.h"

typedef struct collision_fields collision_fields;

enum { COLLISION_FIELD_BLOCK = 256 };

/* Compiles the functions; *out NULL where the options have none; collision_fields_destroy frees it. */
sim_status collision_fields_create(const collision_options *options, collision_fields **out) SIM_MUST_CHECK;
/* Checks that the custom law is finite in a contact of this reduced radius and mass, at overlaps up to the one of which
 * a run warns, at rest and at the speed overlap / `time`. SIM_ERR_SCENARIO. */
sim_status collision_fields_check(const collision_options *options, double radius, double mass,
                                  double time) SIM_MUST_CHECK;
/* Shortest contact under the custom law. */
typedef struct collision_custom_contact {
  double time, radius, mass; /* time INFINITY: no custom law; radius, mass: reduced */
} collision_custom_contact;

/* Finds the shortest contact among the lightest, heaviest, smallest and largest of n grains with each other and with
 * walls, at overlaps up to the same limit: half a period of the law's stiffness, or ten times the longest step that
 * a dashpot of the same strength allows. mass, radius [n]: host memory. */
sim_status collision_fields_shortest(const collision_options *options, int64_t n, const double *mass,
                                     const double *radius, collision_custom_contact *out) SIM_MUST_CHECK;
/* Returns the ratio of damping for the coefficient of restitution at an impact of this speed; NaN where the coefficient
 * is not above 0 and at most 1. */
double collision_fields_damping(collision_fields *fields, double speed);
/* Checks that the coefficient of restitution is above 0 and at most 1 at speeds up to `most`. SIM_ERR_SCENARIO. */
sim_status collision_fields_check_restitution(const collision_options *options, double most) SIM_MUST_CHECK;
void collision_fields_destroy(collision_fields **fields);
double collision_fields_bytes(const collision_options *options);

/* Computes the external acceleration a[c][k] at up to COLLISION_FIELD_BLOCK positions x[c][k] in the calling thread's
 * memory; a is valid until the thread's next call. */
void collision_fields_external(collision_fields *fields, double *const x[3], int count, double t, const double *a[3]);
/* Returns the calling thread's memory for positions, x[c][COLLISION_FIELD_BLOCK]. */
void collision_fields_positions(collision_fields *fields, double *x[3]);
/* Potential at positions in the calling thread's memory; false: the scenario gives only the acceleration. */
bool collision_fields_potential(collision_fields *fields, double *const x[3], int count, double t,
                                const double **potential);
/* Evaluates the custom law. still: force at rate 0; energy: work of that force from no overlap on, or NULL. */
void collision_fields_law(collision_fields *fields, double overlap, double rate, double radius, double mass,
                          double *force, double *still, double *energy);

#endif
