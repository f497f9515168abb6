/* Direct sums on the GPUs of several ranks: every rank has all bodies, sums over the bodies of its own thread blocks,
 * and has all sums afterwards. A single rank copies nothing. */
#ifndef NBODY_CUDA_RANKS_H
#define NBODY_CUDA_RANKS_H

#include "engine/comm/cuda/exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Thread blocks, of `bodies` bodies each, that this rank sums over. */
typedef struct nbody_cuda_share {
  const sim_comm *comm;
  sim_exchange *exchange; /* exchange of arrays [3][n]; NULL: a single rank */
  int64_t n;
  int bodies, blocks; /* bodies of a block; number of blocks of all ranks */
  int first, count;   /* blocks of this rank */
} nbody_cuda_share;

/* Divides the blocks among the ranks; all ranks call it. `forces`: forces will be exchanged. */
sim_status nbody_cuda_share_create(const sim_comm *comm, int64_t n, int bodies, bool forces,
                                   nbody_cuda_share *out) SIM_MUST_CHECK;
void nbody_cuda_share_destroy(nbody_cuda_share *share);
/* Device memory in bytes that nbody_cuda_share_create allocates. */
double nbody_cuda_share_bytes(const sim_comm *comm, int64_t n, int bodies);
/* Adds parts[splits][3][n] of this rank's bodies, in order, to out[3][n], and gathers `out` on all ranks. With one
 * split `parts` may be `out`. Device memory; enqueued. */
void nbody_cuda_share_sums(const nbody_cuda_share *share, const double *parts, int splits, double *out);
/* Gathers partial[parts][blocks] of all ranks' thread blocks, in device memory. Waits for the device; the queue keeps
 * an error. */
void nbody_cuda_share_partials(const nbody_cuda_share *share, double *partial, int parts);

#ifdef __cplusplus
}
#endif

#endif
