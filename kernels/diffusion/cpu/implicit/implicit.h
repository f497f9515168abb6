/* Steps of a linearly implicit scheme on the CPU. */
#ifndef DIFFUSION_IMPLICIT_H
#define DIFFUSION_IMPLICIT_H

#include "kernels/diffusion/diffusion.h"

typedef struct diffusion_linearized diffusion_linearized;

/* Creates the memory of steps of `work`, whose arrays exist. */
sim_status diffusion_linearized_create(const diffusion_work *work, const sim_setup *setup,
                                       diffusion_linearized **out) SIM_MUST_CHECK;
void diffusion_linearized_destroy(diffusion_linearized **linearized);
/* Returns the bytes of that memory. field: bytes of the coefficients of all fields. */
double diffusion_linearized_bytes(const diffusion_parameters *p, double field, int threads);
/* Makes a step of context->h from array [1]. Steps of fixed length leave the new state there; others leave it in array
 * [DIFFUSION_NEXT], and the error in [DIFFUSION_ERROR]. SIM_ERR_DIVERGED where steps of fixed length find no solution;
 * the error of others is then infinite. */
sim_status diffusion_linearized_step(diffusion_work *work, diffusion_linearized *linearized,
                                     const diffusion_step_context *context) SIM_MUST_CHECK;
diffusion_solved diffusion_linearized_solved(const diffusion_linearized *linearized);

#endif
