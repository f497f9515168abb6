/* Blobs on disk, found again by a key; see engine/device/compile.h for where, and for how many. They are code: a folder
 * or a file that another user has, or may write to, is not used, and the first such folder is a warning. No other
 * failure shows, but at the level of debugging: what is not there is made anew. */
#ifndef SIM_ENGINE_CACHE_H
#define SIM_ENGINE_CACHE_H

#include "engine/bytes.h"

typedef struct sim_cache_key {
  unsigned char bytes[16];
} sim_cache_key;

/* Of the format of the cache, and of what is added. */
typedef struct sim_cache_hash sim_cache_hash;
sim_cache_hash *sim_cache_hash_begin(void); /* NULL: no memory */
void sim_cache_hash_add(sim_cache_hash *hash, const void *data, size_t size);
void sim_cache_hash_text(sim_cache_hash *hash, const char *text); /* with its end */
sim_cache_key sim_cache_hash_end(sim_cache_hash *hash);           /* and frees it */

/* Adds the blob of the key; false where there is no sound one of this user's. */
bool sim_cache_read(const sim_cache_key *key, sim_bytes *out);
void sim_cache_write(const sim_cache_key *key, const void *data, size_t size);

#endif
