/* Type of 128 random bits. Device code. */
#ifndef OPTION_CUDA_BITS_CUH
#define OPTION_CUDA_BITS_CUH

#include "kernels/option/cuda/launch.h"
#include "kernels/option/random/draws.h"

struct bits4 {
  unsigned bits[4];
};

#endif
