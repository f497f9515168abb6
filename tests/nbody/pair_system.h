/* Systems of bodies with the sums over their pairs in long double, and the bounds that direct sums must keep. */
#ifndef TESTS_UNIT_PAIR_SYSTEM_H
#define TESTS_UNIT_PAIR_SYSTEM_H

#include "engine/memory/buffer.h"

#include <float.h>
#include <stdbool.h>
#include <stddef.h>

#define PAIR_U64 (DBL_EPSILON / 2) /* unit roundoffs */
#define PAIR_U32 (FLT_EPSILON / 2)
#define PAIR_G 0.7

/* Units, position and type of the input. */
typedef struct pair_setting {
  const char *name;
  double length, mass, softening, offset; /* softening and offset in lengths */
  sim_dtype dtype;
  bool equal; /* masses */
} pair_setting;

enum { PAIR_SETTINGS = 10 };
extern const pair_setting pair_settings[PAIR_SETTINGS];

/* Bodies, with reference sums for each body, and sums of absolute terms as the scale of errors. */
typedef struct pair_system {
  int n;
  pair_setting of;
  double softening;
  float *f32; /* mass[n], position[3][n], velocity[3][n] */
  double *f64;
  double *a, *j;                 /* [3][n], reference */
  double *terms, *tide, *jerked; /* [n]: G sum m d/s^3, G sum m/s^3, G sum m w/s^3 */
  double u;                      /* reference */
  double unit;                   /* length to which fp32 roundoff of positions is relative: twice the extent */
} pair_system;

pair_system pair_system_make(int n, pair_setting of);
void pair_system_free(pair_system *system);
/* Allocates zeroed memory. Ends the test where there is none. */
void *pair_need(size_t count);

/* Checks that each component is within `bound` times the sum of the absolute terms, plus `slack` (may be NULL). Arrays
 * [3][n] and [n]. */
void pair_expect_close(const double *got, const double *expected, const double *terms, const double *slack, int n,
                       double bound, const char *what);
/* `run`: terms that one fp32 sum may take. */
double pair_term_bound(int n, int run, bool single, bool jerk);
/* Computes the effect of rounding fp64 positions and velocities to fp32, [n] each; zeros where they are not rounded. */
void pair_slack(const pair_system *system, bool single, double *acceleration, double *jerk);

#endif
