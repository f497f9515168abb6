/* What the host gives each launch. */
#ifndef OPTION_CUDA_LAUNCH_H
#define OPTION_CUDA_LAUNCH_H

#include "kernels/option/limits.h"

enum { OPTION_CUDA_THREADS = 256, OPTION_CUDA_GROUP = 16 /* quantities that are summed together */ };

/* Of the rounds of Philox: the seed and what is added to it; or the numbers of option_mrg, on the device. */
typedef struct option_keys {
  unsigned key[10][2];
  const unsigned *mrg;
} option_keys;

/* Samples first .. first + count - 1; first is a multiple of 2^16 (and of 4096 for the pilot's). With scrambles they
 * are whole logical blocks of `block` samples: see option_block_samples. */
typedef struct option_range {
  unsigned long long first, count;
  unsigned block, scrambles; /* 0 scrambles: random bits */
  unsigned matched;          /* whether the normals' moments are */
} option_range;

/* Tables of option_quasi on the device; weights: three of each place of the bridge, or the components. */
typedef struct option_points {
  const unsigned *direction, *shift;
  const int *bridge; /* [steps][3]: point, left, right */
  const void *weights;
  int dimensions, each;
} option_points;

/* A step back of a fit: see option_regression. */
typedef struct option_regression_step {
  double sign, strike, centre, scale, discount, beta[OPTION_DEGREE_MAX + 1];
  int degree, exercise; /* whether beta is to be followed at the date after this one */
} option_regression_step;

/* Where the prices of one asset at every so many steps go: out[dates][stride], on the device. */
typedef struct option_recorder {
  double *out;
  unsigned stride;
  int asset, every;
} option_recorder;

#endif
