/* Lists of the bodies whose forces a substep of individual steps needs, for direct sums. */
#ifndef NBODY_CUDA_TARGETS_CUH
#define NBODY_CUDA_TARGETS_CUH

#include "kernels/nbody/solver.h"

/* target[targets->count], in device memory: the numbers of the targets among n bodies, in any order. *count: a word of
 * device memory for the kernel. Enqueued. */
void nbody_cuda_list_targets(int n, const nbody_targets *targets, int *target, unsigned *count);
/* acceleration[3][n] of the bodies target[count]: unit times the sum of parts[splits][3][count], in order. Enqueued. */
void nbody_cuda_add_target_parts(int n, const int *target, int count, const double *parts, int splits, double unit,
                                 double *acceleration);

#endif
