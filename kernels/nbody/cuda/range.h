/* Range of the numbers in an array on the device, found on the host when a run begins. */
#ifndef NBODY_CUDA_RANGE_H
#define NBODY_CUDA_RANGE_H

#include "kernels/nbody/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nbody_range {
  double low, high, sum;
} nbody_range;

/* Computes minimum, maximum and sum of numbers first ... first + count - 1 of `data`, device memory of `dtype`. */
sim_status nbody_cuda_range(const void *data, sim_dtype dtype, size_t first, size_t count,
                            nbody_range *out) SIM_MUST_CHECK;
/* Returns the smallest power of two above a, within 2^+-1000; 1 for 0 and for values that are not finite. */
double nbody_power_above(double a);

#ifdef __cplusplus
}
#endif

#endif
