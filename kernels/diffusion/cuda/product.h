/* Multipliers exp(L dt) that are a product of one factor for each axis: L without mixed terms, in a split scheme. */
#ifndef DIFFUSION_CUDA_PRODUCT_H
#define DIFFUSION_CUDA_PRODUCT_H

#include "kernels/diffusion/cuda/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The filling for steps of dt. */
sim_status diffusion_product_begin(const diffusion_parameters *p, int field, double dt,
                                   diffusion_filling *out) SIM_MUST_CHECK;
/* Whether one or two passes over memory a step are possible: a split scheme, and a product for each field. */
bool diffusion_product_supports(const diffusion_parameters *p);
/* sim_model.plan of a way that stores only the fields. `tables`: bytes of its tables. */
void diffusion_product_plan(const diffusion_parameters *p, double tables, sim_plan *out);
/* Fills the method, and creates array [0]. */
sim_status diffusion_product_create(diffusion_work *work, const int64_t shape[4]) SIM_MUST_CHECK;
/* Returns the multiplier of mode 0, with the transforms' scale. The other factors along an axis are relative to it. */
double diffusion_product_whole(const diffusion_filling *filling);
double diffusion_product_factor(const diffusion_filling *filling, int axis, int64_t mode);
/* Writes the twiddle factors, float4 [16][n/32], of lines of n points (dft.cuh) to host memory. */
void diffusion_line_turns(float *at, int64_t n);
void diffusion_turn(float *at, int64_t index, int64_t n); /* exp(-2 pi i index / n) */

#ifdef __cplusplus
}
#endif

#endif
