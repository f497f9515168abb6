/* Multipliers that are a product of one factor an axis: L without mixed terms, by a split scheme. */
#ifndef DIFFUSION_CUDA_PRODUCT_H
#define DIFFUSION_CUDA_PRODUCT_H

#include "kernels/diffusion/diffusion.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a step of dt. */
sim_status diffusion_product_begin(const diffusion_parameters *p, int field, double dt,
                                   diffusion_filling *out) SIM_MUST_CHECK;
/* Whether those of all fields are such products. */
bool diffusion_is_product(const diffusion_parameters *p);
/* That of mode 0, with the transforms' scale, and what others along one axis are to it. */
double diffusion_product_whole(const diffusion_filling *filling);
double diffusion_product_factor(const diffusion_filling *filling, int axis, int64_t mode);
/* float4 [16][n/32] of lines of n points (dft.cuh). */
void diffusion_line_turns(float *at, int64_t n);
void diffusion_turn(float *at, int64_t index, int64_t n); /* exp(-2 pi i index / n) */

#ifdef __cplusplus
}
#endif

#endif
