/* Fields that diffuse across each other: L of a wavenumber is a matrix of all fields, and so are its exponential and
 * the coefficients of the schemes. On the CPU: the passes over columns transform alone, and between them stands one
 * more over the coefficients. */
#ifndef DIFFUSION_COUPLED_H
#define DIFFUSION_COUPLED_H

#include "kernels/diffusion/diffusion.h"

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

typedef struct diffusion_coupled diffusion_coupled;
double diffusion_coupled_bytes(const diffusion_parameters *p, int slots);
sim_status diffusion_coupled_create(const diffusion_parameters *p, const diffusion_spectral *spectral, int slots,
                                    diffusion_coupled **out) SIM_MUST_CHECK;
void diffusion_coupled_destroy(diffusion_coupled **coupled);
/* The scheme's matrices for steps of dt. */
sim_status diffusion_coupled_fill(diffusion_coupled *coupled, int slot, double dt) SIM_MUST_CHECK;
/* The sums of a stage; arrays[field][array] are coefficients, [0] too. */
void diffusion_coupled_apply(const diffusion_coupled *coupled, int slot, const diffusion_stage *stage,
                             void *(*arrays)[DIFFUSION_ARRAYS]);

#endif
