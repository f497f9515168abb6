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

/* Plans in-place transforms of `fields` real fields in device memory. Each field has `parts` grids, with rows padded to
 * 2 (n/2 + 1) numbers. n[rank]: cells of a grid, slowest axis first, each above 1; rank 0: the plan does nothing.
 * SIM_ERR_NO_DEVICE without cuFFT. */
typedef struct diffusion_fourier diffusion_fourier;
sim_status diffusion_fourier_create(int rank, const long long *n, int fields, long long parts, bool single,
                                    diffusion_fourier **out) SIM_MUST_CHECK;
void diffusion_fourier_destroy(diffusion_fourier **fourier);
/* Returns the grids that a call transforms at once: the grids of one field, or of all fields if they are small. */
long long diffusion_fourier_batch(const diffusion_fourier *fourier);
/* Transform `count` grids, a multiple of the batch. Forward, then inverse, multiplies by the product of n. */
sim_status diffusion_fourier_forward(diffusion_fourier *fourier, void *data, long long count) SIM_MUST_CHECK;
sim_status diffusion_fourier_inverse(diffusion_fourier *fourier, void *data, long long count) SIM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
