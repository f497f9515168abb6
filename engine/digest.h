/* Digests of states: the xxh3-128 hash of a list of hashes, one for every MiB of each array, so that threads and
 * processes can compute them apart. */
#ifndef SIM_ENGINE_DIGEST_H
#define SIM_ENGINE_DIGEST_H

#include "engine/frame.h"

/* The xxh3-128 hash of one block of an array, in canonical byte order. */
typedef struct sim_block_digest {
  unsigned char bytes[16];
} sim_block_digest;

/* Returns the number of blocks of an array: every MiB, and what remains. */
size_t sim_digest_blocks(size_t bytes);

/* Copies an array in host memory with all threads of the caller, and computes out[sim_digest_blocks(bytes)] from the
 * bytes while they are in the cache. `out` NULL: copies only. */
void sim_digest_copy(void *to, const void *from, size_t bytes, sim_block_digest *out);

/* Computes out[sim_digest_blocks(bytes)] of an array in host memory, with all threads of the caller. */
void sim_digest_array(const void *data, size_t bytes, sim_block_digest *out);

/* Writes the digest of a state as sim_frame_digest does. blocks[frame->array_count]: the digests of the blocks of each
 * array, or NULL for an array whose blocks are to be computed. */
void sim_frame_digest_of(const sim_frame *frame, const sim_block_digest *const *blocks, char out[33]);

#endif
