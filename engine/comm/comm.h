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
  int rank; /* the other rank; each at most once in a swap */
  const void *in;
  void *out;
  size_t in_bytes, out_bytes; /* in_bytes equals the other rank's out_bytes for this rank */
} sim_piece;

/* What a transport has counted since the start of the process, for profiles. */
typedef struct sim_comm_totals {
  double waited; /* seconds that this rank has waited for others in gather and swap */
  double bytes;  /* bytes received from other ranks */
  double exchanges;
} sim_comm_totals;

typedef struct sim_comm {
  int rank, size;           /* among all ranks of the run: 0 <= rank < size */
  int host_rank, host_size; /* among the ranks on this host */
  const struct sim_transport *ops;
  void *self;                    /* data of the transport */
  const sim_comm_totals *totals; /* NULL: not counted */
} sim_comm;

/* Functions of a transport; all pointers are to host memory. gather waits for all ranks, swap at least for the ranks
 * that it receives from. Once a rank has failed or died, gather, swap and test fail with that rank's status and "rank N
 * on HOST: its message". Threads: gather and swap one, post and test one at a time, abandon and check any. */
typedef struct sim_transport {
  const char *name; /* "alone", "forked", "mpi" */
  /* Gathers `in` of every rank into out[size][bytes], in the order of ranks. `in` may be this rank's row of `out`. */
  sim_status (*gather)(const sim_comm *comm, const void *in, size_t bytes, void *out);
  /* See sim_comm_gather_parts. NULL: sim_comm_gather_parts uses swap. */
  sim_status (*gather_parts)(const sim_comm *comm, void *data, const size_t *ends);
  /* Sends and receives all pieces. Every rank calls it, even with count 0. */
  sim_status (*swap)(const sim_comm *comm, const sim_piece *pieces, size_t count);
  /* Begins a round in which every rank posts one word; one round at a time. Never waits. */
  sim_status (*post)(const sim_comm *comm, uint64_t word);
  /* Sets *complete to whether every rank has posted in the current round, and then words[size] in the order of ranks.
   * Never waits. */
  sim_status (*test)(const sim_comm *comm, bool *complete, uint64_t *words);
  /* Ends the exchange: from now on the calls of all ranks fail. The first failure counts. Any thread. */
  void (*abandon)(const sim_comm *comm, sim_status status, const char *message);
  /* Returns the failure that has ended the exchange, as gather reports it, or SIM_OK. Never waits. Any thread. May be
   * NULL. */
  sim_status (*check)(const sim_comm *comm);
} sim_transport;

/* The transport of a run with one rank: its calls copy memory. */
extern const sim_comm sim_comm_alone;

/* What the transport has counted so far; zeros if it does not count. */
static inline sim_comm_totals sim_comm_counted(const sim_comm *comm) {
  const sim_comm_totals none = {0, 0, 0};
  return comm->totals ? *comm->totals : none;
}

/* Returns the failure that has ended the exchange; SIM_OK without one, or if the transport cannot tell. Any thread. */
sim_status sim_comm_check(const sim_comm *comm);

/* Gathers unequal parts in place, in host memory. `data` holds the parts of all ranks in the order of ranks; the
 * part of rank r ends before byte ends[r], and all ranks know `ends`. Each rank fills in its own part and gets all
 * others. */
sim_status sim_comm_gather_parts(const sim_comm *comm, void *data, const size_t *ends) SIM_MUST_CHECK;

/* *most: the maximum of all ranks' words. Waits for all ranks. */
sim_status sim_comm_agree(const sim_comm *comm, uint64_t word, uint64_t *most) SIM_MUST_CHECK;

/* *same: whether all ranks gave the same word. Waits for all ranks. */
sim_status sim_comm_same(const sim_comm *comm, uint64_t word, bool *same) SIM_MUST_CHECK;

/* Maps host memory that all ranks share, filled with zeros: `count` arrays of `each` bytes. The other ranks see what a
 * rank has written after the next exchange of all ranks. This rank allocates the pages of bytes [first, end) of each
 * array. *out is NULL with one rank, on several hosts, and, with a warning, if a host has too little of such memory.
 * All ranks call the function, with the same `count` and `each`. */
sim_status sim_comm_map(const sim_comm *comm, size_t count, size_t each, size_t first, size_t end,
                        void **out) SIM_MUST_CHECK;
void sim_comm_unmap(void *memory, size_t bytes); /* NULL does nothing */

/* Number of items of each rank where `count` items are divided in order: rank r has the items from r * share on, the
 * last ranks fewer or none. Results gathered by rank are then in the order of items. */
static inline size_t sim_comm_share(const sim_comm *comm, size_t count) {
  return (count + (size_t)comm->size - 1) / (size_t)comm->size;
}
/* This rank has the items first <= i < *end; returns first. */
static inline size_t sim_comm_first(const sim_comm *comm, size_t count, size_t *end) {
  const size_t share = sim_comm_share(comm, count), first = share * (size_t)comm->rank;
  *end = first + share < count ? first + share : count;
  return first < count ? first : count;
}

#ifdef __cplusplus
}
#endif

#endif
