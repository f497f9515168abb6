/* The ways of the exchange between GPUs, one of which exchange.c chooses. */
#ifndef SIM_ENGINE_EXCHANGE_WAYS_H
#define SIM_ENGINE_EXCHANGE_WAYS_H

#include "engine/comm/cuda/exchange_parts.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SIM_EXCHANGE_WHY = 256 }; /* bytes of a text why a way cannot be used; "": it can */

typedef struct sim_exchange_way {
  const char *name;
  /* See sim_exchange_gather and sim_exchange_add; `columns` describe the array. */
  void (*gather)(sim_exchange *x, const sim_columns *columns, void *array);
  void (*add)(sim_exchange *x, int64_t *array);
  /* Ends waits for other ranks, in kernels and on the host; NULL: the way has no such waits. Any thread. */
  void (*abandon)(sim_exchange *x);
} sim_exchange_way;

struct sim_exchange {
  const sim_comm *comm;
  sim_columns columns;
  const sim_exchange_way *way; /* also set during its trial */
  sim_peers peers;             /* "peer" */
  uint64_t *parts;             /* "nccl", "mpi": received values to add, [ranks][rows][share], device memory */
  bool watched;
  atomic_bool trusted; /* the trial has succeeded: from now on a rank that does not answer is a failure */
  int over;            /* an eventfd, readable when the watch must end */
  pthread_t watch;
  int64_t *sent, *received; /* "staged": pinned host memory, [ranks][rows][share] each */
};

/* Prepare a way, or write into why[SIM_EXCHANGE_WHY] why some rank cannot use it: the same text on all ranks, each of
 * which calls it. */
sim_status sim_exchange_peers_begin(sim_exchange *x, char *why) SIM_MUST_CHECK;
sim_status sim_exchange_nccl_begin(sim_exchange *x, char *why) SIM_MUST_CHECK;
sim_status sim_exchange_mpi_begin(sim_exchange *x, char *why) SIM_MUST_CHECK;
sim_status sim_exchange_staged_begin(sim_exchange *x) SIM_MUST_CHECK;
/* Writes NCCL's version and memory for the log. */
void sim_exchange_nccl_text(char *out, size_t capacity);

extern const sim_exchange_way sim_exchange_peers_way, sim_exchange_nccl_way, sim_exchange_mpi_way,
    sim_exchange_staged_way;

/* In exchange.c. *all: whether all ranks can use a way, that is, have an empty `own`; else `why` is the text of the
 * first rank that cannot. */
sim_status sim_exchange_unanimous(const sim_comm *comm, const char own[SIM_EXCHANGE_WHY], char why[SIM_EXCHANGE_WHY],
                                  bool *all) SIM_MUST_CHECK;
/* In exchange.c. Starts a thread in which all signals are blocked, also for threads that it starts. */
sim_status sim_exchange_thread(pthread_t *thread, void *(*work)(void *context), void *context) SIM_MUST_CHECK;
/* In exchange.c. Starts the thread that watches for failures of other ranks; call it before the first wait. */
sim_status sim_exchange_watch(sim_exchange *x) SIM_MUST_CHECK;
/* In exchange.c. Tries x->way: sends one number to each rank and compares what arrives; writes a failure into `why`. */
sim_status sim_exchange_try(sim_exchange *x, char why[SIM_EXCHANGE_WHY]) SIM_MUST_CHECK;

/* In exchange.c. Adds arrays by `move`, which brings the parts of all ranks into x->parts if `parts` is set, else the
 * columns of all ranks into `array`. */
typedef void sim_exchange_move(sim_exchange *x, const sim_columns *columns, void *array, bool parts);
void sim_exchange_add_parts(sim_exchange *x, sim_exchange_move *move, int64_t *array);

/* Longest duration of a trial in nanoseconds. */
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
