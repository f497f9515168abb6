/* Forcing of a shell on the CPU, on one rank. Twin: the kernels of cuda/measure.cu. */
#ifndef DIFFUSION_CPU_FORCING_H
#define DIFFUSION_CPU_FORCING_H

#include "kernels/diffusion/diffusion.h"

/* The numbers of the shell's coefficients; *out is NULL without forcing. */
typedef struct diffusion_shell diffusion_shell;
sim_status diffusion_shell_create(const diffusion_parameters *p, const diffusion_spectral *spectral,
                                  diffusion_shell **out) SIM_MUST_CHECK;
double diffusion_shell_bytes(const diffusion_parameters *p);
void diffusion_shell_destroy(diffusion_shell **shell);
/* Gives a stage of diffusion_method_with, in a step of h, its factor; `arrays` hold the coefficients. As
 * diffusion_force_factor. */
sim_status diffusion_shell_apply(const diffusion_shell *shell, const diffusion_arrays *arrays, double h,
                                 diffusion_stage *stage) SIM_MUST_CHECK;

#endif
