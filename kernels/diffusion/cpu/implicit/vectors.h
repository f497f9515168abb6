/* Vectors of coefficients in host memory. */
#ifndef DIFFUSION_CPU_VECTORS_H
#define DIFFUSION_CPU_VECTORS_H

#include "kernels/diffusion/implicit/vectors.h"

int64_t diffusion_vectors_blocks(const diffusion_vectors *vectors); /* blocks of a sum, the size of `partial` */

#endif
