/* Kernels of the exchange between GPUs by peer pointers; for exchange.h, listing.h, turn.h and tests. */
#ifndef SIM_ENGINE_EXCHANGE_PARTS_H
#define SIM_ENGINE_EXCHANGE_PARTS_H

#include "engine/comm/cuda/exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SIM_PEERS_MAX = 32, SIM_FLAG_STRIDE = 64 /* bytes between flags */ };

/* Words in pinned host memory, through which the host and waiting kernels communicate. */
typedef struct sim_peer_words {
  volatile int abandoned;               /* set by the host: waits end at once */
  volatile int late;                    /* set by a kernel that has waited longer than `patience` */
  volatile int waiting;                 /* not 0 while kernels wait for other ranks: see sim_calls_excused_by */
  volatile unsigned long long patience; /* nanoseconds */
} sim_peer_words;

/* Arguments of the kernels, passed by value. The memory that the ranks share begins with one flag for each rank, which
 * that rank raises to the number of its meeting. Two areas of `area` bytes follow, used in turn: a rank stores for one
 * meeting while another still reads what was stored for the meeting before. */
typedef struct sim_peers {
  char *memory[SIM_PEERS_MAX];  /* shared memory of each rank, at this rank's addresses */
  unsigned long long *meetings; /* [3] in this rank's device memory: the number of meetings so far, then blocks that
                                   have come to a meeting */
  sim_peer_words *words;
  size_t flags, area; /* bytes of the flags, and of one area */
  int rank, ranks;
  sim_columns columns;
  unsigned delay; /* microseconds; 0: none */
} sim_peers;

/* Stores the columns of every other rank in `array` into that rank's area: [ranks][rows][share], by storing rank. */
void sim_peers_push_parts(const sim_peers *peers, const void *array);
/* After push_parts and a meeting: adds the other ranks' values to this rank's columns of `array`, int64 [rows][n]. */
void sim_peers_add_parts(const sim_peers *peers, void *array);
/* A complete gather, and a complete sum of all ranks' int64 arrays. */
void sim_peers_gather(const sim_peers *peers, void *array);
void sim_peers_add(const sim_peers *peers, void *array);

/* The steps of a gather, in their order. push: stores this rank's columns into every other rank's area, [rows][n]. */
void sim_peers_push(const sim_peers *peers, const void *array);
/* meet: tells all ranks that the work queued so far is complete, and waits until they have told the same. */
void sim_peers_meet(const sim_peers *peers);
/* pull: copies the other ranks' columns from the area to `array`. */
void sim_peers_pull(const sim_peers *peers, void *array);

/* Adds parts[ranks][rows][share] of the other ranks to the columns of `rank` in array[rows][n], int64; device
 * memory. */
void sim_parts_add(const sim_columns *columns, int rank, int ranks, const void *parts, void *array);

/* Sets a word in pinned host memory once the work queued so far is complete. */
void sim_parts_mark(volatile int *word, int value);

/* For tests: the arguments with which `exchange` calls these functions; NULL if it does not use peer pointers. */
const sim_peers *sim_exchange_peers(const sim_exchange *exchange);

#ifdef __cplusplus
}
#endif

#endif
