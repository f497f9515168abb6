#include "engine/memory/buffer.h"

#include "engine/device/backend.h"

#include <string.h>

size_t sim_dtype_size(sim_dtype dtype) { return dtype == SIM_U8 ? 1 : dtype == SIM_F32 ? 4 : 8; }

size_t sim_buffer_bytes(const sim_buffer *buffer) {
  size_t bytes = sim_dtype_size(buffer->dtype);
  for (int i = 0; i < buffer->rank; i++) bytes *= (size_t)buffer->shape[i];
  return bytes;
}

sim_status sim_buffer_create(const sim_backend *backend, sim_dtype dtype, int rank, const int64_t *shape,
                             sim_buffer *out) {
  size_t bytes = sim_dtype_size(dtype);
  *out = (sim_buffer){.dtype = dtype, .rank = rank, .space = backend->space};
  for (int i = 0; i < rank; i++) {
    if (shape[i] < 0 || __builtin_mul_overflow(bytes, (size_t)shape[i], &bytes))
      return sim_no_memory("an array of more than 2^64 bytes");
    out->shape[i] = shape[i];
  }
  SIM_TRY(backend->alloc(bytes, &out->data));
  out->owner = backend;
  return SIM_OK;
}

void sim_buffer_destroy(sim_buffer *buffer) {
  if (buffer->owner) buffer->owner->free(buffer->data);
  memset(buffer, 0, sizeof *buffer);
}
