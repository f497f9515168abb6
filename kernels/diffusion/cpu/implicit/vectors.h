/* Vectors of coefficients, [fields][count] numbers of the run's precision in host memory, and a linear solver for
 * them. Sums have the same bits for every number of threads. */
#ifndef DIFFUSION_VECTORS_H
#define DIFFUSION_VECTORS_H

#include "engine/status.h"
#include "kernels/diffusion/cpu/spectral/spectral.h"

/* GMRES keeps KRYLOV vectors, then starts again from its solution. */
enum { DIFFUSION_KRYLOV = 30, DIFFUSION_VECTOR_TERMS = DIFFUSION_KRYLOV + 1 };

typedef struct diffusion_vectors {
  int fields, threads;
  int64_t count;
  bool single;
  int lanes;       /* complex numbers of a point, stored as [lanes re][lanes im]; 0: real numbers */
  double *partial; /* [VECTOR_TERMS][diffusion_vectors_blocks] */
} diffusion_vectors;

int64_t diffusion_vectors_blocks(const diffusion_vectors *vectors); /* blocks of a sum */
/* Computes out = sum of factor[i] of[i], 1 <= terms <= VECTOR_TERMS. `out` may be one of them. */
void diffusion_vectors_sum(const diffusion_vectors *vectors, void *out, int terms, const double *factor,
                           const void *const *of);
/* Replaces each number by its quotient with first - factor[field] * symbol. Where modes grow, the real part of the
 * divisor is kept at first/2 or above. */
void diffusion_vectors_resolve(const diffusion_vectors *vectors, void *out, double first, const double *factor,
                               const void *symbol);
/* Sets out[i] to other[i] where where[i] is not 0. */
void diffusion_vectors_choose(const diffusion_vectors *vectors, void *out, const void *other, const void *where);
/* Computes dots[i] = sum over the fields of weight[field] times the product a . of[i]. count: number of them, at most
 * VECTOR_TERMS. */
void diffusion_vectors_dots(const diffusion_vectors *vectors, const double *weight, const void *a, int count,
                            const void *const *of, double *dots);

/* Computes out = A v. */
typedef sim_status diffusion_operator(void *context, const void *v, void *out);
typedef struct diffusion_solver {
  const diffusion_vectors *vectors;
  const double *weight;              /* [fields], of the norm */
  void *basis[DIFFUSION_KRYLOV + 1]; /* work space: vectors */
  diffusion_operator *apply;
  void *context;
} diffusion_solver;
/* Solves A x = b by GMRES(KRYLOV) from x = 0 (Saad and Schultz, SIAM J. Sci. Stat. Comput. 7, 1986), until |b - A x| is
 * at most `tolerance`, or `most` products A v are made. *applied: their number. *residual: the last |b - A x|; NaN
 * where A v is not finite. */
sim_status diffusion_solve(const diffusion_solver *solver, const void *b, void *x, double tolerance, int most,
                           int *applied, double *residual) SIM_MUST_CHECK;

#endif
