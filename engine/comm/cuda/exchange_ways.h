/* The ways of the exchange between GPUs, for exchange.c, which chooses one of them. */
#ifndef SIM_ENGINE_EXCHANGE_WAYS_H
#define SIM_ENGINE_EXCHANGE_WAYS_H

#include "engine/comm/cuda/exchange_parts.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SIM_EXCHANGE_WHY = 256 }; /* bytes of a reason against a way; "": none */

typedef struct sim_exchange_way {
  const char *name;
  /* As sim_exchange_gather and sim_exchange_add, of an array with these columns. */
  void (*gather)(sim_exchange *x, const sim_columns *columns, void *array);
  void (*add)(sim_exchange *x, int64_t *array);
  /* Ends waits for other ranks, in kernels and on the host; NULL: there are none to end. Any thread. */
  void (*abandon)(sim_exchange *x);
} sim_exchange_way;

struct sim_exchange {
  const sim_comm *comm;
  sim_columns columns;
  const sim_exchange_way *way; /* during its trial, too */
  sim_peers peers;             /* "peer" */
  uint64_t *parts;             /* "nccl", "mpi": what comes to be added, [ranks][rows][share] in device memory */
  bool watched;
  atomic_bool trusted; /* the trial has succeeded: a rank that does not answer is a failure */
  int over;            /* of the watch: an eventfd, readable at its end */
  pthread_t watch;
  int64_t *sent, *received; /* "staged": pinned host memory, [ranks][rows][share] each */
};

/* Each is called by all ranks, and prepares a way or writes into why[SIM_EXCHANGE_WHY] what is against it on some rank:
 * the same on all. */
sim_status sim_exchange_peers_begin(sim_exchange *x, char *why) SIM_MUST_CHECK;
sim_status sim_exchange_nccl_begin(sim_exchange *x, char *why) SIM_MUST_CHECK;
sim_status sim_exchange_mpi_begin(sim_exchange *x, char *why) SIM_MUST_CHECK;
sim_status sim_exchange_staged_begin(sim_exchange *x) SIM_MUST_CHECK;
/* What a line at the start says of NCCL. */
void sim_exchange_nccl_text(char *out, size_t capacity);

extern const sim_exchange_way sim_exchange_peers_way, sim_exchange_nccl_way, sim_exchange_mpi_way,
    sim_exchange_staged_way;

/* From exchange.c. Whether no rank has a reason against a way; else *why is the reason of the first one. */
sim_status sim_exchange_unanimous(const sim_comm *comm, const char own[SIM_EXCHANGE_WHY], char why[SIM_EXCHANGE_WHY],
                                  bool *all) SIM_MUST_CHECK;
/* From exchange.c. Starts a thread that gets no signals, nor do those that it starts. */
sim_status sim_exchange_thread(pthread_t *thread, void *(*work)(void *context), void *context) SIM_MUST_CHECK;
/* From exchange.c. Begins to look for failures of other ranks; before the first wait. */
sim_status sim_exchange_watch(sim_exchange *x) SIM_MUST_CHECK;
/* From exchange.c. Sends one number to each rank by x->way, and compares what has come; a rank to which nothing comes
 * ends the way. */
sim_status sim_exchange_try(sim_exchange *x, char why[SIM_EXCHANGE_WHY]) SIM_MUST_CHECK;

/* From exchange.c. An addition by `move`, which brings the parts of all ranks into x->parts (`parts`), and the columns
 * of all ranks into `array` (else). */
typedef void sim_exchange_move(sim_exchange *x, const sim_columns *columns, void *array, bool parts);
void sim_exchange_add_parts(sim_exchange *x, sim_exchange_move *move, int64_t *array);

/* Nanoseconds of a trial at most. */
static const unsigned long long sim_exchange_trial = 20000000000;

/* ---- sizes ---- */

static inline size_t sim_part_bytes(const sim_columns *c) { return (size_t)c->rows * c->share * sizeof(int64_t); }
static inline size_t sim_all_bytes(const sim_comm *comm, const sim_columns *c) {
  return (size_t)comm->size * sim_part_bytes(c);
}
static inline size_t sim_first_column(const sim_columns *c, int rank) {
  const size_t first = c->share * (size_t)rank;
  return first < c->n ? first : c->n;
}
static inline size_t sim_column_count(const sim_columns *c, int rank) {
  return sim_first_column(c, rank + 1) - sim_first_column(c, rank);
}

#endif
