/* Outer images of a periodic box on an NVIDIA GPU (../outer.h): in fp64 for all precisions, as fmm.h defines them. */
#ifndef NBODY_FMM_CUDA_OUTER_CUH
#define NBODY_FMM_CUDA_OUTER_CUH

#include "kernels/nbody/fmm/cuda/tree.cuh"
#include "kernels/nbody/fmm/outer.h"

/* Arrays of the outer images, in device memory. */
typedef struct nbody_fmm_cuda_outer {
  double *tensors; /* of nbody_fmm_outer_tensors */
  double *table;   /* of nbody_lattice_fill_table: direct sums, against which the error is measured */
  double *moments; /* [NBODY_FMM_OUTER_COUNT][z][y][3 - x of the cube] */
  double *fields;  /* [cubes in the order of keys][NBODY_FMM_OUTER_COUNT] */
  double *pieces;  /* [nbody_fmm_outer_pieces(n)][NBODY_FMM_OUTER_COUNT]: moments */
  double *partial; /* [nbody_partials(n)], of the potential, and its sum */
  int *first;      /* [cubes + 1]: first body of a cube; then its first piece */
} nbody_fmm_cuda_outer;

/* Returns the greatest number of pieces of n bodies. */
inline int64_t nbody_fmm_outer_pieces(int64_t n) { return n / NBODY_FMM_OUTER_PIECE + NBODY_FMM_OUTER_CUBES; }

/* Computes the fields of all cubes; after the sort of bodies. */
template <typename real> void nbody_fmm_queue_outer(const nbody_fmm_tree<real> *t, const nbody_fmm_cuda_outer *o);
/* Adds the outer images to acceleration[3][n] of nbody_fmm_stages.near, then multiplies by `unit`; of the targets. */
template <typename real>
void nbody_fmm_add_outer(const nbody_fmm_tree<real> *t, const nbody_fmm_cuda_outer *o, double unit,
                         double *acceleration);
/* *sum, on the device: sum over all bodies of m times their potential, in units of the box. The potential is also added
 * to that of each body, in the memory of its key. */
void nbody_fmm_sum_outer(const nbody_fmm_tree<double> *t, const nbody_fmm_cuda_outer *o, double *sum);

#endif
