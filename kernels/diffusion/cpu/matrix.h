/* Small complex matrices: [fields][fields]. */
#ifndef DIFFUSION_MATRIX_H
#define DIFFUSION_MATRIX_H

#include "kernels/diffusion/cpu/spectral.h"

/* Functions phi_0 = exp, phi_j(A) = (phi_{j-1}(A) - 1/(j-1)!)/A of a complex matrix of n rows, by Taylor's series and
 * doubling (Higham, Functions of Matrices, SIAM 2008, ch. 10). An eigenvalue that is small beside the norm loses
 * norm/|eigenvalue| times the rounding of numbers. */
typedef struct diffusion_matrix {
  double re[DIFFUSION_FIELDS][DIFFUSION_FIELDS], im[DIFFUSION_FIELDS][DIFFUSION_FIELDS];
} diffusion_matrix;
enum { DIFFUSION_PHIS = 4 };
void diffusion_matrix_phis(int n, const diffusion_matrix *a, diffusion_matrix phi[DIFFUSION_PHIS]);
void diffusion_matrix_double(int n, diffusion_matrix phi[DIFFUSION_PHIS]); /* of A to those of 2A */
/* Whether exp(-D t) stays bounded: real matrices alone. */
bool diffusion_matrix_stable(int n, const diffusion_matrix *d);

#endif
