/* cuFFT, loaded at first use: from $SIM_CUFFT, or as libcufft.so from the toolkit that built the program, from
 * LD_LIBRARY_PATH, or from the usual folders. */
#ifndef DIFFUSION_CUDA_FOURIER_H
#define DIFFUSION_CUDA_FOURIER_H

#include "engine/status.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Plans in-place transforms of real grids in device memory, `batch` grids at once. Rows are padded to 2 (n/2 + 1)
 * numbers. n[rank]: cells of a grid, slowest axis first, each above 1; rank 0: the plan does nothing. cuFFT may choose
 * its algorithm, and with it the last bits, by the batch, so `batch` must not depend on the number of ranks.
 * ragged: whether some call transforms a number of grids that is no multiple of the batch.
 * SIM_ERR_NO_DEVICE without cuFFT. */
typedef struct diffusion_fourier diffusion_fourier;
sim_status diffusion_fourier_create(int rank, const long long *n, long long batch, bool ragged, bool single,
                                    diffusion_fourier **out) SIM_MUST_CHECK;
/* Plans in-place transforms of complex lines of n numbers, which are `stride` apart; lines 0, 1, ..., stride - 1 begin
 * at neighbouring numbers and are transformed at once, as one grid for the calls below. */
sim_status diffusion_fourier_lines(long long n, long long stride, bool single, diffusion_fourier **out) SIM_MUST_CHECK;
void diffusion_fourier_destroy(diffusion_fourier **fourier);
long long diffusion_fourier_batch(const diffusion_fourier *fourier);
/* Transform `count` grids. Forward, then inverse, multiplies by the product of n. */
sim_status diffusion_fourier_forward(diffusion_fourier *fourier, void *data, long long count) SIM_MUST_CHECK;
sim_status diffusion_fourier_inverse(diffusion_fourier *fourier, void *data, long long count) SIM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
