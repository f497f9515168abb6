/* The fast multipole method on an NVIDIA GPU: its settings and its memory. The table is nbody_fmm_cuda (solver.h); the
 * arithmetic and the order of sums are those of kernels/nbody/fmm/fmm.h.
 *
 *   positions -> box -> keys, sorted -> tree -> moments (up) -> lists and M2L (far) -> L2L (down) -> L2P and P2P (near)
 *
 * All stages are queued without the host: numbers of cells stay on the device. A plan gives the memory of the lists.
 * Once the lists are made, while fields and near pairs are still computed, the device tells the host whether the memory
 * was sufficient. If not, the host allocates more and repeats the force, before anything uses it. */
#ifndef NBODY_FMM_CUDA_FMM_H
#define NBODY_FMM_CUDA_FMM_H

#include "kernels/nbody/fmm/fmm.h"
#include "kernels/nbody/solver.h"

/* Units of a force, on the device. In a periodic box per_edge is 1 / the box's edge, rounded, and the origin is 0. */
typedef struct nbody_fmm_frame {
  double origin[3]; /* a body is at (x - origin) per_edge */
  double per_edge;  /* 1 / edge of the box, a power of two in open space */
  double low[3];    /* lowest corner of the box, in edges */
  double softening; /* in edges */
} nbody_fmm_frame;

/* Why a force is NaN, in nbody_fmm_counters.failed: no room, or a position that is not a number. */
enum { NBODY_FMM_CELLS_FULL = 1, NBODY_FMM_SEGMENTS_FULL = 2, NBODY_FMM_NOT_FINITE = 4 };

/* Tickets of the levels of the tree, then of the stages (tree.cuh). */
enum { NBODY_FMM_TICKETS = NBODY_FMM_LEVEL_MAX + 5 };

typedef struct nbody_fmm_counters {
  unsigned long long low[3], high[3];            /* greatest -x and x, as ordered integers */
  unsigned level_begin[NBODY_FMM_LEVEL_MAX + 2]; /* first cell of each level, and the number of all cells */
  unsigned ticket[NBODY_FMM_TICKETS];            /* pieces of work that were taken */
  unsigned segments;                             /* segments of lists that were taken */
  unsigned tasks;                                /* pieces of long near lists */
  unsigned failed;                               /* reasons why this force is NaN */
  unsigned forces;                               /* forces begun since the memory was taken */
} nbody_fmm_counters;

/* Largest number of bodies: indices have 31 bits. */
#define NBODY_FMM_CUDA_MOST (INT64_C(1) << 30)

/* Memory that a force used. */
typedef struct nbody_fmm_use {
  unsigned cells, cells_most, segments, segments_most, levels, tasks;
} nbody_fmm_use;

#ifdef __cplusplus
extern "C" {
#endif

/* Fills in the use of the last force; waits for the device. SIM_ERR_DEVICE. */
sim_status nbody_fmm_cuda_use(const nbody_solver_work *work, nbody_fmm_use *out) SIM_MUST_CHECK;
/* Most thread blocks of the stages after the tree, for tests that results do not depend on them; 0: as many as
 * fit. */
extern int nbody_fmm_cuda_blocks;
/* Share of the planned cells and lists that a solver allocates when it is created: 1; less in tests of how memory
 * grows. */
extern double nbody_fmm_cuda_share;

#ifdef __cplusplus
}
#endif

#endif
