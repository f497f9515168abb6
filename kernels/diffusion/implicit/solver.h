/* A linear solver for vectors of coefficients. */
#ifndef DIFFUSION_SOLVER_H
#define DIFFUSION_SOLVER_H

#include "kernels/diffusion/implicit/vectors.h"

/* Computes out = A v. */
typedef sim_status diffusion_operator(void *context, const void *v, void *out);
typedef struct diffusion_solver {
  const diffusion_vector_ops *on;
  const diffusion_vectors *vectors;
  const double *weight;              /* [fields], of the norm */
  void *basis[DIFFUSION_KRYLOV + 1]; /* work space: vectors */
  diffusion_operator *apply;
  void *context;
  bool from; /* begin at the given x; else at x = 0 */
  /* give up after `tried` products A v, fewer than KRYLOV, where |b - A x| is above `worth`; 0: never */
  int tried;
  double worth;
} diffusion_solver;
/* Solves A x = b by GMRES(KRYLOV) (Saad and Schultz, SIAM J. Sci. Stat. Comput. 7, 1986), until |b - A x| is at most
 * `tolerance`, or `most` products A v are made. *applied: their number. *residual: the last |b - A x|; NaN
 * where A v is not finite. */
sim_status diffusion_solve(const diffusion_solver *solver, const void *b, void *x, double tolerance, int most,
                           int *applied, double *residual) SIM_MUST_CHECK;

#endif
