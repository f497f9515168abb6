/* Individual steps, as in nbody_ops. */
#ifndef NBODY_CUDA_LEVELS_CUH
#define NBODY_CUDA_LEVELS_CUH

#include "kernels/nbody/cuda/work.h"

void nbody_cuda_choose_levels(nbody_work *w, double dt, int least, nbody_histogram *out);
template <typename real> void nbody_cuda_kick_levels(nbody_work *w, double dt, int least);

#endif
