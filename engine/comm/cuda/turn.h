/* Exchange of parts of large device arrays between the GPUs of a run, piece by piece, while kernels compute the next
 * pieces. Every rank has arrays in device memory into which the other ranks store.
 *
 * By peer pointers (exchange.h) the copy engine stores into the memory of the other GPU, in a stream of its own, and
 * the steps continue meanwhile. Staged, each piece passes through pinned host memory while the host waits. */
#ifndef SIM_ENGINE_TURN_H
#define SIM_ENGINE_TURN_H

#include "engine/comm/cuda/exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SIM_TURN_ARRAYS = 4 };

typedef struct sim_turn sim_turn;

/* Rows of bytes that are copied into an array of one rank. */
typedef struct sim_box {
  const void *from;            /* device memory */
  size_t from_pitch, to_pitch; /* bytes from row to row */
  size_t to;                   /* offset in bytes of the first row in the array */
  size_t width, rows;          /* bytes of a row; rows = 0: nothing is sent */
} sim_box;

/* Creates this rank's arrays: bytes[arrays] are their sizes; most: the most bytes that one sim_turn_send of any rank
 * sends. All ranks call it. `exchange` must outlive the turn. SIM_ERR_NO_MEMORY, SIM_ERR_NO_DEVICE. */
sim_status sim_turn_create(const sim_comm *comm, sim_exchange *exchange, int arrays, const size_t *bytes, size_t most,
                           sim_turn **out) SIM_MUST_CHECK;
/* Frees the turn. Device memory into which other ranks may store remains until the process ends. */
void sim_turn_destroy(sim_turn **turn);
void *sim_turn_array(const sim_turn *turn, int array); /* zeroed at first */
/* The array of another rank, into which kernels may store between `begin` and `end`; NULL if the ranks are not
 * peers. */
void *sim_turn_peer(const sim_turn *turn, int rank, int array);
/* Bytes of device memory that create allocates; staged, it also allocates 2 * most bytes of pinned host memory. */
double sim_turn_bytes(const sim_comm *comm, int arrays, const size_t *bytes);

/* All ranks call these in the same order; the queue keeps failures.
 * begin: lets other ranks store into this rank's arrays after all work enqueued so far. Between ranks that are peers,
 *   what any rank's kernels have stored before, all can read after it.
 * send: copies boxes[size], one for each rank (this one too), after all work enqueued so far. The source of a box must
 *   stay unchanged until `end`.
 * end: work enqueued later finds the boxes that all ranks have sent since `begin` in this rank's arrays. */
void sim_turn_begin(sim_turn *turn);
void sim_turn_send(sim_turn *turn, int array, const sim_box *boxes);
void sim_turn_end(sim_turn *turn);

#ifdef __cplusplus
}
#endif

#endif
