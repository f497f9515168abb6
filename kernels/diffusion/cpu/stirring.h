/* Random forcing of a shell, white in time, on the CPU: the random coefficients of one step. */
#ifndef DIFFUSION_CPU_STIRRING_H
#define DIFFUSION_CPU_STIRRING_H

#include "kernels/diffusion/diffusion.h"

/* The rank's numbers of the shell's coefficients. *out is NULL without random forcing. spectral: must live as long as
 * *out. */
typedef struct diffusion_stirring diffusion_stirring;
sim_status diffusion_stirring_create(const diffusion_parameters *p, const diffusion_spectral *spectral,
                                     diffusion_stirring **out) SIM_MUST_CHECK;
double diffusion_stirring_bytes(const diffusion_parameters *p);
void diffusion_stirring_destroy(diffusion_stirring **stirring);
/* Writes a step's normal coefficients into the shell. coefficients[fields]: arrays of the rank's columns, which are 0
 * elsewhere. Half the mean square of the coefficients is the power, on average. Multiplied by diffusion_noise_weight
 * they are the step's noise. */
void diffusion_stirring_fill(const diffusion_stirring *stirring, int64_t step, void *const *coefficients);

#endif
