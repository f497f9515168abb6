/* Cross diffusion: L of a wavenumber is a matrix over all fields, and so are its exponential and the coefficients of
 * the schemes. On the CPU the passes over columns then only transform. A further pass between them multiplies the
 * coefficients. */
#ifndef DIFFUSION_COUPLED_H
#define DIFFUSION_COUPLED_H

#include "kernels/diffusion/diffusion.h"

typedef struct diffusion_coupled diffusion_coupled;
/* Returns the bytes of the matrices for the columns of a rank. */
double diffusion_coupled_bytes(const diffusion_parameters *p, const diffusion_slab *slab, int slots);
sim_status diffusion_coupled_create(const diffusion_parameters *p, const diffusion_spectral *spectral, int slots,
                                    diffusion_coupled **out) SIM_MUST_CHECK;
void diffusion_coupled_destroy(diffusion_coupled **coupled);
/* Computes the scheme's matrices for steps of dt into a slot of tables. */
sim_status diffusion_coupled_fill(diffusion_coupled *coupled, int slot, double dt) SIM_MUST_CHECK;
/* Applies the sums of a stage. arrays[field][array] are coefficients of the rank's columns, [0] included. */
void diffusion_coupled_apply(const diffusion_coupled *coupled, int slot, const diffusion_stage *stage,
                             void *(*arrays)[DIFFUSION_ARRAYS]);

#endif
