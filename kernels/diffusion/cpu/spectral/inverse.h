/* Inverse of a dense matrix in host memory. */
#ifndef DIFFUSION_SPECTRAL_INVERSE_H
#define DIFFUSION_SPECTRAL_INVERSE_H

#include "engine/status.h"

#include <stdint.h>

/* Inverts the matrix a[n][n] by the method of Gauss and Jordan, with the largest pivot of each column. a is
 * overwritten; out[n][n] does not overlap it. The result does not depend on the threads. SIM_ERR_NO_MEMORY;
 * SIM_ERR_INTERNAL where a pivot is 0. */
sim_status diffusion_inverse(int64_t n, double *a, double *out, int threads) SIM_MUST_CHECK;
double diffusion_inverse_bytes(int64_t n); /* bytes that it allocates */

#endif
