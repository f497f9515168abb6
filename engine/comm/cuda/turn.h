/* Exchange of parts of large device arrays between the GPUs of a run, piece by piece beside the kernels that compute
 * them. Every rank has arrays in device memory into which the others store.
 *
 * By peer pointers (exchange.h) the copy engine stores into the memory of the other GPU, in a stream of its own: the
 * steps go on meanwhile. Staged, each piece passes through pinned host memory while the host waits. */
#ifndef SIM_ENGINE_TURN_H
#define SIM_ENGINE_TURN_H

#include "engine/comm/cuda/exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SIM_TURN_ARRAYS = 4 };

typedef struct sim_turn sim_turn;

/* Rows of bytes for one rank, copied into an array of that rank. */
typedef struct sim_box {
  const void *from;            /* device memory */
  size_t from_pitch, to_pitch; /* bytes from row to row */
  size_t to;                   /* byte of the array at which the first row begins */
  size_t width, rows;          /* bytes of a row; no rows: nothing is sent */
} sim_box;

/* bytes[arrays]: sizes of this rank's arrays; most: bytes that one sim_turn_send of any rank sends, at most. All ranks
 * call it. SIM_ERR_NO_MEMORY, SIM_ERR_NO_DEVICE. `exchange` outlives the turn. */
sim_status sim_turn_create(const sim_comm *comm, sim_exchange *exchange, int arrays, const size_t *bytes, size_t most,
                           sim_turn **out) SIM_MUST_CHECK;
/* Device memory that others may store into stays until the process ends. */
void sim_turn_destroy(sim_turn **turn);
void *sim_turn_array(const sim_turn *turn, int array); /* zeroed at first */
/* The same of another rank, where kernels may store between `begin` and `end`; NULL where stores do not reach it. */
void *sim_turn_peer(const sim_turn *turn, int rank, int array);
/* Bytes of device memory that create takes; staged, it takes 2 * most bytes of pinned host memory too. */
double sim_turn_bytes(const sim_comm *comm, int arrays, const size_t *bytes);

/* All ranks call these in the same order; failures are kept by the queue.
 * begin: lets other ranks store into this rank's arrays after all work enqueued so far.
 * send: copies boxes[size], one box for each rank including this rank, after all work enqueued so far. The source of a
 * box must stay unchanged until `end`.
 * end: work enqueued later finds in this rank's arrays the boxes of all ranks since `begin`. */
void sim_turn_begin(sim_turn *turn);
void sim_turn_send(sim_turn *turn, int array, const sim_box *boxes);
void sim_turn_end(sim_turn *turn);

#ifdef __cplusplus
}
#endif

#endif
