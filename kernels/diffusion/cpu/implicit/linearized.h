/* Steps of a linearly implicit scheme on the CPU, on any number of ranks. */
#ifndef DIFFUSION_CPU_LINEARIZED_H
#define DIFFUSION_CPU_LINEARIZED_H

#include "kernels/diffusion/implicit/implicit.h"

/* Creates the memory of steps of `work`, whose arrays exist. */
sim_status diffusion_linearized_create(diffusion_work *work, const sim_setup *setup,
                                       diffusion_linearized **out) SIM_MUST_CHECK;
/* Returns the bytes of that memory. field: bytes of the coefficients of all fields of this rank. */
double diffusion_linearized_bytes(const diffusion_parameters *p, const sim_setup *setup, double field);
/* Makes a step of context->h from array [1]. Steps of fixed length leave the new state there; others leave it in array
 * [DIFFUSION_NEXT], and the error in [DIFFUSION_ERROR]. */
sim_status diffusion_linearized_stage(diffusion_work *work, const diffusion_step_context *context) SIM_MUST_CHECK;

#endif
