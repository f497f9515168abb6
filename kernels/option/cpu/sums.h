/* Sums of samples over a chunk of paths. */
#ifndef OPTION_SUM_H
#define OPTION_SUM_H

#include "kernels/option/cpu/path.h"
#include "kernels/option/estimate.h"

enum { OPTION_SUM_LANES = 16, OPTION_ADDENDS_MAX = 2 * OPTION_TERMS_MAX };

/* One addend: factor times an output of the payoffs, which is in the kernel's precision. */
typedef struct option_addend {
  const void *from;
  double factor;
} option_addend;

/* sample = sum of addends - slope (sum of controls - control_mean). */
typedef struct option_sum {
  int addends, controls;
  option_addend addend[OPTION_ADDENDS_MAX], control[OPTION_ADDENDS_MAX];
  double slope, control_mean, shift;
} option_sum;

/* Sums of a chunk, in trees of fixed shape: of d = sample - shift, of d^2, and over the lanes of the squared deviations
 * from the lane's own mean and of their squares. A lane has each OPTION_SUM_LANES-th sample. */
enum { OPTION_SUM_FIRST, OPTION_SUM_SECOND, OPTION_SUM_LANE, OPTION_SUM_LANE_SQUARE, OPTION_SUMS_OF };
typedef void option_sum_kernel(const option_sum *sum, int count, double out[OPTION_SUMS_OF]);
option_sum_kernel *option_sum_find(bool single, sim_isa isa);

#endif
