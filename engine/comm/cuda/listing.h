/* Exchange of columns that the ranks list themselves, between the ranks of a run on GPUs: arrays are [rows][n] of
 * 8-byte values in device memory, the ranges of the ranks are there too and may change from call to call. By the ways
 * of exchange.h: a graph may contain it where they are peers. */
#ifndef SIM_ENGINE_LISTING_H
#define SIM_ENGINE_LISTING_H

#include "engine/comm/cuda/exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sim_listing sim_listing;

/* Which columns; the same on all ranks, in device memory. */
typedef struct sim_listed {
  const uint32_t *order; /* [n]: the column of entry i; NULL: i */
  const uint32_t *ends;  /* [ranks]: a rank has the entries up to here, from the end of the rank before; the last: n */
  const unsigned char *mark; /* [n], of columns; only those with at least `least` are needed. NULL: all */
  int least;
} sim_listed;

/* Bytes that create allocates in device memory, and on the host if staged. */
double sim_listing_bytes(const sim_comm *comm, int rows, size_t n, size_t words);
/* For arrays of up to `rows` rows, and for `words` of each rank. All ranks call it; as sim_exchange_create. n < 2^32.
 */
sim_status sim_listing_create(const sim_comm *comm, int rows, size_t n, size_t words, sim_listing **out) SIM_MUST_CHECK;
void sim_listing_destroy(sim_listing **listing);
/* Device memory of `bytes` bytes on each rank, into which kernels of all ranks may store: memory[ranks], as this rank
 * sees it; all NULL where the ranks are no peers. All ranks call it. It stays until the process ends, as others may be
 * storing. SIM_ERR_NO_MEMORY. */
sim_status sim_listing_window(sim_listing *listing, size_t bytes, void **memory) SIM_MUST_CHECK;

/* All are called by all ranks in the same order; failures are kept by the queue.
 * Gathers the listed columns of array[rows][n] in device memory: each rank fills in its own columns before the call and
 * has the columns of all ranks after it. Columns that are not listed are undefined.
 */
void sim_listing_gather(sim_listing *listing, void *array, int rows, const sim_listed *which);
/* Gathers array[ranks][words] in device memory: each rank fills in its own words before the call, and has all after. */
void sim_listing_gather_words(sim_listing *listing, void *array);
/* Ranks that are peers: what all have stored before can be read after. */
void sim_listing_meet(sim_listing *listing);

#ifdef __cplusplus
}
#endif

#endif
