/* Exchange between the ranks of a run. A rank is a process; all ranks of a run execute the same program on the same
 * parameters and make the same calls in the same order. A transport moves bytes and never adds floating-point numbers:
 * ranks gather partial results, and each rank adds them in one order, so that no bit depends on the number of ranks. */
#ifndef SIM_ENGINE_COMM_H
#define SIM_ENGINE_COMM_H

#include "engine/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SIM_RANKS_MAX = 256 };

/* What a rank sends to another rank and receives from it in one swap. */
typedef struct sim_piece {
  int rank; /* the other one; each at most once */
  const void *in;
  void *out;
  size_t in_bytes, out_bytes; /* in_bytes equals the other rank's out_bytes for this rank */
} sim_piece;

/* What a transport counts, for profiles; since the start of the process. */
typedef struct sim_comm_totals {
  double waited; /* seconds in gather and swap in which this rank waited for others */
  double bytes;  /* received from other ranks */
  double exchanges;
} sim_comm_totals;

typedef struct sim_comm {
  int rank, size;           /* of the run: 0 <= rank < size */
  int host_rank, host_size; /* among the ranks on this host */
  const struct sim_transport *ops;
  void *self;                    /* of the transport */
  const sim_comm_totals *totals; /* NULL: not counted */
} sim_comm;

/* Functions of a transport. Host memory. gather waits for all ranks, swap at least for those it receives from; they
 * and test fail once a rank has failed or died: with that rank's status and "rank N on HOST: its message". From one
 * thread, except abandon and check. */
typedef struct sim_transport {
  const char *name; /* "alone", "forked", "mpi" */
  /* out[size][bytes]: `in` of every rank, in the order of ranks. `in` may be this rank's place in `out`. */
  sim_status (*gather)(const sim_comm *comm, const void *in, size_t bytes, void *out);
  /* As sim_comm_gather_parts. NULL: that is made of swap. */
  sim_status (*gather_parts)(const sim_comm *comm, void *data, const size_t *ends);
  /* Sends and receives all pieces. Every rank takes part, also with none. */
  sim_status (*swap)(const sim_comm *comm, const sim_piece *pieces, size_t count);
  /* Begins a round in which every rank posts one word; one round at a time. Never waits. */
  sim_status (*post)(const sim_comm *comm, uint64_t word);
  /* Whether every rank has posted in the round begun last; then words[size] in the order of ranks. Never waits. */
  sim_status (*test)(const sim_comm *comm, bool *complete, uint64_t *words);
  /* Ends the exchange of all ranks: their calls fail from now on. The first failure counts. Any thread. */
  void (*abandon)(const sim_comm *comm, sim_status status, const char *message);
  /* The failure that has ended the exchange, as gather reports it; SIM_OK without one. Never waits. Any thread. May be
   * NULL. */
  sim_status (*check)(const sim_comm *comm);
} sim_transport;

/* The only rank of a run; calls are copies. */
extern const sim_comm sim_comm_alone;

/* What the transport has counted so far; zeros where it does not count. */
static inline sim_comm_totals sim_comm_counted(const sim_comm *comm) {
  const sim_comm_totals none = {0, 0, 0};
  return comm->totals ? *comm->totals : none;
}

/* The failure that has ended the exchange, SIM_OK without one or where the transport cannot say. Any thread. */
sim_status sim_comm_check(const sim_comm *comm);

/* A gather of unequal parts, in place: data holds the parts of all ranks in their order, that of rank r up to byte
 * ends[r], which all ranks know. Every rank has its own part; then all have all. */
sim_status sim_comm_gather_parts(const sim_comm *comm, void *data, const size_t *ends) SIM_MUST_CHECK;

/* *most: maximum of the ranks' words; all wait for each other. */
sim_status sim_comm_agree(const sim_comm *comm, uint64_t word, uint64_t *most) SIM_MUST_CHECK;

/* Sets *same to whether all ranks have this word; all wait for each other. */
sim_status sim_comm_same(const sim_comm *comm, uint64_t word, bool *same) SIM_MUST_CHECK;

/* Maps zeroed memory that all ranks see, of `count` arrays of `each` bytes: what a rank has written before an exchange
 * of all, the others read after it. This rank takes the pages of bytes [first, end) of each array. *out is NULL with
 * one rank, on several hosts, and, with a line, where a host has no such memory or not enough. All ranks call it, with
 * the same sizes. */
sim_status sim_comm_map(const sim_comm *comm, size_t count, size_t each, size_t first, size_t end,
                        void **out) SIM_MUST_CHECK;
void sim_comm_unmap(void *memory, size_t bytes); /* NULL does nothing */

/* Number of items of each rank where `count` items are divided in order: rank r has the items from r * share on, the
 * last ranks fewer or none. Results gathered by rank then lie in the order of items. */
static inline size_t sim_comm_share(const sim_comm *comm, size_t count) {
  return (count + (size_t)comm->size - 1) / (size_t)comm->size;
}
/* Items first <= i < *end of this rank. */
static inline size_t sim_comm_first(const sim_comm *comm, size_t count, size_t *end) {
  const size_t share = sim_comm_share(comm, count), first = share * (size_t)comm->rank;
  *end = first + share < count ? first + share : count;
  return first < count ? first : count;
}

#ifdef __cplusplus
}
#endif

#endif
