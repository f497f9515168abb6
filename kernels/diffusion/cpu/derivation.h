/* Coefficients of the scenario's derived fields at each wavenumber. */
#ifndef DIFFUSION_DERIVATION_H
#define DIFFUSION_DERIVATION_H

#include "kernels/diffusion/diffusion.h"

typedef struct diffusion_derivation diffusion_derivation;
/* Creates the derived fields among `read`, for the columns of `spectral`. *out is NULL where there are none.
 * SIM_ERR_SCENARIO where a coefficient is not finite at a wavenumber other than 0. */
sim_status diffusion_derivation_create(const diffusion_parameters *p, const diffusion_gradients *read,
                                       diffusion_spectral *spectral, diffusion_derivation **out) SIM_MUST_CHECK;
void diffusion_derivation_destroy(diffusion_derivation **derivation);
const diffusion_symbols *diffusion_derivation_symbols(const diffusion_derivation *derivation); /* NULL for NULL */
double diffusion_derivation_bytes(const diffusion_parameters *p, const diffusion_gradients *read, bool single,
                                  const diffusion_slab *slab);

#endif
