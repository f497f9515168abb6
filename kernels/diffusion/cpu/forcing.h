/* Forcing of a shell at fixed power, with the factor from the present state, on the CPU. cuda/measure.cu has the same
 * for a GPU. */
#ifndef DIFFUSION_CPU_FORCING_H
#define DIFFUSION_CPU_FORCING_H

#include "kernels/diffusion/diffusion.h"

/* The rank's numbers of the shell's coefficients. *out is NULL without this forcing. */
typedef struct diffusion_shell diffusion_shell;
sim_status diffusion_shell_create(const diffusion_parameters *p, const diffusion_spectral *spectral,
                                  const sim_comm *comm, diffusion_shell **out) SIM_MUST_CHECK;
double diffusion_shell_bytes(const diffusion_parameters *p);
double diffusion_shell_received(const diffusion_parameters *p); /* bytes of all ranks' sums, in each stage */
/* Returns the numbers of the box of wavenumbers around the shell of a field: at least those of the shell. */
double diffusion_shell_numbers(const diffusion_parameters *p, int field);
void diffusion_shell_destroy(diffusion_shell **shell);
/* Gives a stage of diffusion_method_with its factor, in a step of h. `arrays` hold the coefficients. All ranks call it
 * and get the same factor. Errors as of diffusion_force_factor. */
sim_status diffusion_shell_apply(const diffusion_shell *shell, const diffusion_arrays *arrays, double h, bool start,
                                 diffusion_stage *stage) SIM_MUST_CHECK;

#endif
