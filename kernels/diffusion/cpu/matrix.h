/* Small complex matrices [fields][fields]. */
#ifndef DIFFUSION_MATRIX_H
#define DIFFUSION_MATRIX_H

#include "kernels/diffusion/cpu/spectral/spectral.h"

/* phi_0 = exp, phi_j(A) = (phi_{j-1}(A) - 1/(j-1)!)/A of a complex n x n matrix, by Taylor series and doubling
 * (Higham, Functions of Matrices, SIAM 2008, ch. 10). For an eigenvalue far below the norm the relative error is
 * norm/|eigenvalue| times the rounding unit. */
typedef struct diffusion_matrix {
  double re[DIFFUSION_FIELDS][DIFFUSION_FIELDS], im[DIFFUSION_FIELDS][DIFFUSION_FIELDS];
} diffusion_matrix;
enum { DIFFUSION_PHIS = 4 };
void diffusion_matrix_phis(int n, const diffusion_matrix *a, diffusion_matrix phi[DIFFUSION_PHIS]);
void diffusion_matrix_double(int n, diffusion_matrix phi[DIFFUSION_PHIS]); /* from phi(A) to phi(2A) */
/* Whether exp(-D t) stays bounded for t -> infinity; real matrices only. */
bool diffusion_matrix_stable(int n, const diffusion_matrix *d);

#endif
