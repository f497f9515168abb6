/* Multipliers that are a product of one factor an axis: L without mixed terms, by a split scheme. */
#ifndef DIFFUSION_CUDA_PRODUCT_H
#define DIFFUSION_CUDA_PRODUCT_H

#include "kernels/diffusion/cuda/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a step of dt. */
sim_status diffusion_product_begin(const diffusion_parameters *p, int field, double dt,
                                   diffusion_filling *out) SIM_MUST_CHECK;
/* Whether one pass over memory an axis, or two, may serve: a split scheme, and such products for all fields. */
bool diffusion_product_supports(const diffusion_parameters *p);
/* sim_model.plan of a way that keeps the fields alone, with so many bytes of tables. */
void diffusion_product_plan(const diffusion_parameters *p, double tables, sim_plan *out);
sim_status diffusion_product_create(diffusion_work *work) SIM_MUST_CHECK; /* the method, and array [0] for the fields */
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
