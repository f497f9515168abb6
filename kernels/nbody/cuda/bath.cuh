/* Velocities in a heat bath, as in nbody_ops. */
#ifndef NBODY_CUDA_BATH_CUH
#define NBODY_CUDA_BATH_CUH

#include "kernels/nbody/cuda/work.h"

/* Waits for the device. */
template <typename real> double nbody_cuda_bathe(nbody_work *w, const nbody_bath *bath);

#endif
