/* Vectors of coefficients in host memory, and the division of their sums among ranks. */
#ifndef DIFFUSION_CPU_VECTORS_H
#define DIFFUSION_CPU_VECTORS_H

#include "kernels/diffusion/cpu/spectral/slabs.h"
#include "kernels/diffusion/implicit/vectors.h"

/* How sums divide the numbers of a field. Unit u is a row of columns with three axes, a column with one or two, and a
 * plane of members that are not transformed along the last axis. One rank has all of its numbers: `length` neighbours
 * from (u - first) step on, in each of `repeats` planes that are `stride` apart. */
typedef struct diffusion_units {
  int64_t all, first, end; /* of the whole field, and first <= u < end of this rank */
  int64_t ends[SIM_RANKS_MAX];
  int64_t length, step, repeats, stride; /* in numbers */
  int64_t depth, chunks;                 /* planes of one partial sum; partial sums of a unit */
} diffusion_units;

/* diffusion_vectors.own. */
typedef struct diffusion_host_sums {
  const sim_comm *comm;
  diffusion_units units;
  double *partial; /* [VECTOR_TERMS][units of this rank][fields][chunks] */
  double *sums;    /* [units][VECTOR_TERMS], and [units] */
} diffusion_host_sums;

/* count: numbers of a field's columns of this rank. */
sim_status diffusion_vectors_create(const grid_shape *grid, const sim_comm *comm, int fields, int64_t count,
                                    bool single, int threads, diffusion_vectors *out) SIM_MUST_CHECK;
void diffusion_vectors_destroy(diffusion_vectors *vectors);
double diffusion_vectors_bytes(const grid_shape *grid, const sim_comm *comm, int fields, bool single);
/* Returns the bytes that all ranks gather for one product. */
double diffusion_vectors_received(const grid_shape *grid, bool single, const sim_comm *comm);

#endif
