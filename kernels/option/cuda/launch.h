/* What the host gives each launch. */
#ifndef OPTION_CUDA_LAUNCH_H
#define OPTION_CUDA_LAUNCH_H

enum { OPTION_CUDA_THREADS = 256, OPTION_CUDA_GROUP = 16 /* quantities that are summed together */ };

enum { OPTION_MRG_BYTES = 7 }; /* see mrg.h */

/* Of the rounds of Philox: the seed and what is added to it; or the numbers of option_mrg, on the device. */
typedef struct option_keys {
  unsigned key[10][2];
  const unsigned *mrg;
} option_keys;

/* Samples first .. first + count - 1; first is a multiple of 2^16 (and of 4096 for the pilot's). With scrambles they
 * are whole logical blocks of `block` samples: see option_block_samples. */
typedef struct option_range {
  unsigned long long first, count;
  unsigned block, scrambles; /* 0 scrambles: words of Philox */
  unsigned matched;          /* whether the normals' moments are */
} option_range;

/* Tables of option_quasi on the device; weights: three of each place of the bridge, or the components. */
typedef struct option_points {
  const unsigned *direction, *shift;
  const int *bridge; /* [steps][3]: point, left, right */
  const void *weights;
  int dimensions, each;
} option_points;

/* A step back of a fit: see option_fitter. */
enum { OPTION_CUDA_FIT_CHUNK = 1024, OPTION_CUDA_FIT_MOMENTS = 17, OPTION_CUDA_FIT_SUMS = 26 };
typedef struct option_fit_step {
  double sign, strike, centre, scale, discount, beta[9];
  int degree, exercise; /* whether beta is to be followed at the date after this one */
} option_fit_step;

#endif
