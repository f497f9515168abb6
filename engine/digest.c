#include "engine/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdio.h>
#include <string.h>

/* BLOCK is a part of the definition of a digest. PIECE bytes and their copy stay in the first cache of a core. */
enum { BLOCK = 1 << 20, PIECE = 1 << 13, LIST = 64 };

size_t sim_digest_blocks(size_t bytes) { return (bytes + BLOCK - 1) / BLOCK; }

static size_t block_bytes(size_t bytes, size_t block) {
  return bytes - block * BLOCK < BLOCK ? bytes - block * BLOCK : BLOCK;
}

static void store_digest(XXH128_hash_t hash, sim_block_digest *out) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  memcpy(out->bytes, canonical.digest, sizeof out->bytes);
}

static void copy_block(char *to, const char *from, size_t bytes, sim_block_digest *out) {
  XXH3_state_t state; /* aligned by its type */
  XXH3_128bits_reset(&state);
  for (size_t at = 0; at < bytes; at += PIECE) {
    const size_t here = bytes - at < PIECE ? bytes - at : PIECE;
    memcpy(to + at, from + at, here);
    XXH3_128bits_update(&state, from + at, here);
  }
  store_digest(XXH3_128bits_digest(&state), out);
}

void sim_digest_copy(void *to, const void *from, size_t bytes, sim_block_digest *out) {
  const size_t blocks = sim_digest_blocks(bytes);
#pragma omp parallel for if (blocks > 1)
  for (size_t b = 0; b < blocks; b++) {
    char *target = (char *)to + b * BLOCK;
    const char *source = (const char *)from + b * BLOCK;
    if (out)
      copy_block(target, source, block_bytes(bytes, b), &out[b]);
    else
      memcpy(target, source, block_bytes(bytes, b));
  }
}

void sim_digest_array(const void *data, size_t bytes, sim_block_digest *out) {
  const size_t blocks = sim_digest_blocks(bytes);
#pragma omp parallel for if (blocks > 1)
  for (size_t b = 0; b < blocks; b++)
    store_digest(XXH3_128bits((const char *)data + b * BLOCK, block_bytes(bytes, b)), &out[b]);
}

/* Adds the digests of an array's blocks to the list; blocks NULL: computes them. */
static void add_array(XXH3_state_t *list, const char *data, size_t bytes, const sim_block_digest *blocks) {
  sim_block_digest some[LIST];
  if (blocks) XXH3_128bits_update(list, blocks, sim_digest_blocks(bytes) * sizeof *blocks);
  for (size_t at = 0; at < bytes && !blocks; at += (size_t)LIST * BLOCK) {
    const size_t here = bytes - at < (size_t)LIST * BLOCK ? bytes - at : (size_t)LIST * BLOCK;
    sim_digest_array(data + at, here, some);
    XXH3_128bits_update(list, some, sim_digest_blocks(here) * sizeof *some);
  }
}

void sim_frame_digest_of(const sim_frame *frame, const sim_block_digest *const *blocks, char out[33]) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, &frame->clock.step, sizeof frame->clock.step);
  XXH3_128bits_update(&state, &frame->clock.t, sizeof frame->clock.t);
  XXH3_128bits_update(&state, &frame->clock.dt, sizeof frame->clock.dt);
  for (size_t i = 0; i < frame->species_count; i++) {
    const sim_species *species = &frame->species[i];
    XXH3_128bits_update(&state, species->name, strlen(species->name) + 1);
    XXH3_128bits_update(&state, &species->first, sizeof species->first);
    XXH3_128bits_update(&state, &species->count, sizeof species->count);
  }
  for (size_t i = 0; i < frame->array_count; i++) {
    const sim_array *array = &frame->arrays[i];
    if (array->field->flags & SIM_NO_CHECKPOINT) continue;
    XXH3_128bits_update(&state, array->field->name, strlen(array->field->name) + 1);
    add_array(&state, array->data, sim_array_bytes(array), blocks ? blocks[i] : NULL);
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  snprintf(out, 33, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}

void sim_frame_digest(const sim_frame *frame, char out[33]) { sim_frame_digest_of(frame, NULL, out); }
