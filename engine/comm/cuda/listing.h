/* Exchange of listed columns between the ranks of a run on GPUs. Arrays are [rows][n] of 8-byte values in device
 * memory; the lists of each rank's columns are in device memory too and may change from call to call. It uses the ways
 * of exchange.h: a graph may contain it if the ranks are peers. */
#ifndef SIM_ENGINE_LISTING_H
#define SIM_ENGINE_LISTING_H

#include "engine/comm/cuda/exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sim_listing sim_listing;

/* The list of columns; the same on all ranks, in device memory. */
typedef struct sim_listed {
  const uint32_t *order;     /* [n]: the column of entry i; NULL: i */
  const uint32_t *ends;      /* [ranks]: rank r has the entries ends[r - 1] (r = 0: 0) up to ends[r] - 1 */
  const unsigned char *mark; /* [n], by column: only columns with mark >= least are needed. NULL: all */
  int least;
} sim_listed;

/* Bytes that create allocates in device memory, and on the host if staged. */
double sim_listing_bytes(const sim_comm *comm, int rows, size_t n, size_t words);
/* Creates an exchange of arrays of up to `rows` rows, and of `words` 8-byte values of each rank. All ranks call it;
 * errors as of sim_exchange_create. n < 2^32. */
sim_status sim_listing_create(const sim_comm *comm, int rows, size_t n, size_t words, sim_listing **out) SIM_MUST_CHECK;
void sim_listing_destroy(sim_listing **listing);
/* Allocates `bytes` bytes of device memory on each rank, into which kernels of all ranks may store. memory[ranks]: at
 * this rank's addresses; all NULL if the ranks are not peers. All ranks call it. The memory remains until the process
 * ends, as others may be storing into it. SIM_ERR_NO_MEMORY. */
sim_status sim_listing_window(sim_listing *listing, size_t bytes, void **memory) SIM_MUST_CHECK;

/* All ranks call these in the same order; the queue keeps failures.
 * Gathers the listed columns of array[rows][n] in device memory: each rank fills in its own columns before the call and
 * has the columns of all ranks after it. Columns that are not listed are undefined. */
void sim_listing_gather(sim_listing *listing, void *array, int rows, const sim_listed *which);
/* Gathers array[ranks][words] in device memory: each rank fills in its own row before the call and has all rows
 * after. */
void sim_listing_gather_words(sim_listing *listing, void *array);
/* For ranks that are peers: what any rank has stored before this call, all can read after it. */
void sim_listing_meet(sim_listing *listing);

#ifdef __cplusplus
}
#endif

#endif
