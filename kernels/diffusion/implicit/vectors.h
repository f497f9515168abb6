/* Vectors of coefficients, [fields][count] numbers of the run's precision in the memory of a backend. On several ranks
 * each has the numbers of its columns. */
#ifndef DIFFUSION_VECTORS_H
#define DIFFUSION_VECTORS_H

#include "engine/status.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* GMRES keeps KRYLOV vectors, then starts again from its solution. */
enum { DIFFUSION_KRYLOV = 30, DIFFUSION_VECTOR_TERMS = DIFFUSION_KRYLOV + 1 };

typedef struct diffusion_vectors {
  int fields, threads;
  int64_t count;
  bool single;
  int lanes;       /* complex numbers of a point, stored as [lanes re][lanes im]; 0: real numbers */
  const void *own; /* for sums, of the backend (cpu/implicit/vectors.h, cuda/implicit/implicit.h) */
} diffusion_vectors;

/* What a backend does with vectors. On a GPU an operation that returns nothing only goes into the queue: it is done
 * later, in the queue's order. Sums have the same bits in every run. On a CPU they do not depend on the number of
 * threads and ranks either, and every rank gets them. */
typedef struct diffusion_vector_ops {
  /* Computes out = sum of factor[i] of[i], 1 <= terms <= VECTOR_TERMS. `out` may be one of them. */
  void (*sum)(const diffusion_vectors *vectors, void *out, int terms, const double *factor, const void *const *of);
  /* Replaces each number by its quotient with first - factor[field] * symbol. Where modes grow, the real part of the
   * divisor is kept at first/2 or above. */
  void (*resolve)(const diffusion_vectors *vectors, void *out, double first, const double *factor, const void *symbol);
  /* Sets out[i] to other[i] where where[i] is not 0. */
  void (*choose)(const diffusion_vectors *vectors, void *out, const void *other, const void *where);
  /* Sets all numbers to re + im i; real ones to re. */
  void (*fill)(const diffusion_vectors *vectors, void *out, double re, double im);
  /* Computes dots[i] = sum over the fields of weight[field] times the product a . of[i]. count: number of them, at most
   * VECTOR_TERMS. */
  sim_status (*dots)(const diffusion_vectors *vectors, const double *weight, const void *a, int count,
                     const void *const *of, double *dots);
  /* Raises *most to the greatest real part on any rank. */
  sim_status (*greatest)(const diffusion_vectors *vectors, const void *a, double *most);
} diffusion_vector_ops;

extern const diffusion_vector_ops diffusion_vectors_cpu, diffusion_vectors_cuda;

#ifdef __cplusplus
}
#endif

#endif
