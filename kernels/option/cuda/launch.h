/* Parameters of the kernels, passed by value at each launch. */
#ifndef OPTION_CUDA_LAUNCH_H
#define OPTION_CUDA_LAUNCH_H

#include "kernels/option/limits.h"

enum { OPTION_CUDA_THREADS = 256, OPTION_CUDA_GROUP = 16 /* quantities summed together */ };

/* Philox: the key of each round. mrg: device copy of option_mrg's numbers, or NULL. */
typedef struct option_keys {
  unsigned key[10][2];
  const unsigned *mrg;
} option_keys;

/* Samples first .. first + count - 1; first is a multiple of 2^16 (of 4096 for the pilot). With scrambles: whole
 * logical blocks of `block` samples, see option_block_samples. */
typedef struct option_range {
  unsigned long long first, count;
  unsigned block, scrambles; /* scrambles = 0: pseudo-random numbers */
  unsigned matched;          /* whether normals are moment-matched */
} option_range;

/* Device copies of option_quasi's tables. weights: from_left, from_right, spread of each point of the bridge, or the
 * principal components. */
typedef struct option_points {
  const unsigned *direction, *shift;
  const int *bridge; /* [steps][3]: point, left, right */
  const void *weights;
  int dimensions, each;
} option_points;

/* One date of the backward induction: see option_regression. */
typedef struct option_regression_step {
  double sign, strike, centre, scale, discount, beta[OPTION_DEGREE_MAX + 1];
  int degree, exercise; /* exercise: whether beta is the rule of the date after this one */
} option_regression_step;

/* The same of a rule on several assets: see option_joint_sums. */
typedef struct option_joint_step {
  double scale[OPTION_SCALES_MAX][2], beta[OPTION_BASES_MAX], discount;
  int holds; /* whether beta is the rule of the date after this one; else holding on is worth 0 there */
} option_joint_step;

/* Device buffer for prices at exercise dates: out[dates][stride] of one asset, or with asset -1 out[dates][numbers]
 * [stride] of all. Behind them: the highest prices so far with `highest`, the volatilities of the assets whose bits are
 * set, x of a random rate with `rate`, and in a run with a random rate its deflator. date[steps]: number of the date at
 * each step's end, or -1; device memory. */
typedef struct option_recorder {
  double *out;
  const int *date;
  unsigned stride;
  int asset, numbers;
  unsigned long long volatilities;
  int highest, rate;
} option_recorder;

#endif
