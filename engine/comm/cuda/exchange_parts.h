/* Kernels of the exchange between GPUs by peer pointers. For the exchange, others like it, and tests. */
#ifndef SIM_ENGINE_EXCHANGE_PARTS_H
#define SIM_ENGINE_EXCHANGE_PARTS_H

#include "engine/comm/cuda/exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SIM_PEERS_MAX = 32, SIM_FLAG_STRIDE = 64 /* bytes between flags */ };

/* Pinned host words, through which host and kernels that wait see each other. */
typedef struct sim_peer_words {
  volatile int abandoned;               /* set by the host: waits end at once */
  volatile int late;                    /* set by a kernel that has waited for `patience` */
  volatile int waiting;                 /* not 0 while kernels wait for other ranks: see sim_calls_excused_by */
  volatile unsigned long long patience; /* nanoseconds */
} sim_peer_words;

/* Arguments of the kernels, passed by value. Memory that the ranks share begins with a flag for each rank, which that
 * rank raises to the number of its meeting, and has two areas of `area` bytes, used in turn: a rank stores for one
 * meeting while another still reads what was stored for the one before. */
typedef struct sim_peers {
  char *memory[SIM_PEERS_MAX];  /* shared memory of each rank, as this one sees it */
  unsigned long long *meetings; /* [3] in this rank's device memory: the number of meetings so far, then blocks that
                                   have come to a meeting */
  sim_peer_words *words;
  size_t flags, area; /* bytes */
  int rank, ranks;
  sim_columns columns;
  unsigned delay; /* microseconds; 0: none */
} sim_peers;

/* Stores the other ranks' columns of `array` into their owners' areas: [ranks][rows][share], by the rank that stores.
 */
void sim_peers_push_parts(const sim_peers *peers, const void *array);
/* After push_parts and a meeting: adds the others' values to this rank's columns of `array`, int64. */
void sim_peers_add_parts(const sim_peers *peers, void *array);
/* A gather; and the sum of all ranks' arrays, of int64. */
void sim_peers_gather(const sim_peers *peers, void *array);
void sim_peers_add(const sim_peers *peers, void *array);

/* The parts of a gather, in their order. Stores this rank's columns into the area of every other rank: [rows][n]. */
void sim_peers_push(const sim_peers *peers, const void *array);
/* Tells all ranks that what was queued before is done, and waits until they say so. */
void sim_peers_meet(const sim_peers *peers);
/* Copies the others' columns from the area to `array`. */
void sim_peers_pull(const sim_peers *peers, void *array);

/* Adds parts[ranks][rows][share] of the other ranks to the columns of `rank` in `array`, int64. */
void sim_parts_add(const sim_columns *columns, int rank, int ranks, const void *parts, void *array);

/* Sets a pinned word of the host once everything queued before is done. */
void sim_parts_mark(volatile int *word, int value);

/* For tests: the arguments with which `exchange` calls these; NULL: it is staged. */
const sim_peers *sim_exchange_peers(const sim_exchange *exchange);

#ifdef __cplusplus
}
#endif

#endif
