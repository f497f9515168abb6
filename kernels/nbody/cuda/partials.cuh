/* The second half of a reduction: over the results of thread blocks. */
#ifndef NBODY_CUDA_PARTIALS_CUH
#define NBODY_CUDA_PARTIALS_CUH

#include "kernels/nbody/cuda/reduce.cuh"

#include <stdint.h>

/* Thread blocks of a reduction over n bodies. */
inline int nbody_partials(int64_t n) { return (int)((n + NBODY_PARTIAL_BODIES - 1) / NBODY_PARTIAL_BODIES); }

/* result[q], for each of the quantities, from partial[q][0 .. count); device memory. Queued, with one thread block a
 * quantity. */
template <typename Op> void nbody_reduce_partials(const double *partial, int quantities, int count, double *result);

#endif
