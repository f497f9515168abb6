/* Cache of compiled code on disk; engine/device/compile.h documents its place and size. A folder or file that another
 * user owns or may write to is not used (one warning). Other failures are logged at debug level only, and the code is
 * compiled again. */
#ifndef SIM_ENGINE_CACHE_H
#define SIM_ENGINE_CACHE_H

#include "engine/memory/bytes.h"

typedef struct sim_cache_key {
  unsigned char bytes[16];
} sim_cache_key;

/* Hash of the cache's format and all added data. */
typedef struct sim_cache_hash sim_cache_hash;
sim_cache_hash *sim_cache_hash_begin(void); /* NULL: out of memory */
void sim_cache_hash_add(sim_cache_hash *hash, const void *data, size_t size);
void sim_cache_hash_text(sim_cache_hash *hash, const char *text); /* adds the text and its final NUL */
sim_cache_key sim_cache_hash_end(sim_cache_hash *hash);           /* returns the key and frees the hash */

/* Appends the entry of the key to `out`; returns false if the cache has no valid entry of this user. */
bool sim_cache_read(const sim_cache_key *key, sim_bytes *out);
void sim_cache_write(const sim_cache_key *key, const void *data, size_t size);

#endif
