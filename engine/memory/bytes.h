/* A growing byte string, for texts and binary data. */
#ifndef SIM_ENGINE_BYTES_H
#define SIM_ENGINE_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* Initialize with {0}. `data` is NUL-terminated after the first addition. After a failed allocation `failed` stays set
 * and later additions do nothing, so that a caller can check once at the end. */
typedef struct sim_bytes {
  char *data; /* owned */
  size_t size, capacity;
  bool failed;
} sim_bytes;

void sim_bytes_add(sim_bytes *bytes, const void *data, size_t size);
void sim_bytes_text(sim_bytes *bytes, const char *text);
void sim_bytes_format(sim_bytes *bytes, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_bytes_json_string(sim_bytes *bytes, const char *text, size_t size); /* quoted; invalid UTF-8: \u00XX */
void sim_bytes_free(sim_bytes *bytes);

/* Copies text into out[capacity], with control characters and invalid bytes as \xNN; truncated with "..." if too
 * long. */
void sim_text_escape(char *out, size_t capacity, const char *text, size_t size);

#endif
