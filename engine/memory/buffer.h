/* Typed n-dimensional arrays: type, shape, memory space, owner. */
#ifndef SIM_ENGINE_BUFFER_H
#define SIM_ENGINE_BUFFER_H

#include "engine/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sim_dtype { SIM_F32, SIM_F64, SIM_I64, SIM_U64, SIM_U8 } sim_dtype;
size_t sim_dtype_size(sim_dtype dtype);

enum { SIM_RANK_MAX = 4 };

typedef enum sim_space { SIM_SPACE_HOST, SIM_SPACE_DEVICE } sim_space;

typedef struct sim_backend sim_backend;

/* `data` is aligned to 64 bytes, in the memory of `owner`. A view has owner NULL and does not own its data. */
typedef struct sim_buffer {
  void *data;
  sim_dtype dtype;
  int rank;
  int64_t shape[SIM_RANK_MAX];
  sim_space space;
  const sim_backend *owner; /* frees `data`; NULL: a view */
} sim_buffer;

/* Allocates a zeroed array [shape] in the memory of `backend`. SIM_ERR_NO_MEMORY. */
sim_status sim_buffer_create(const sim_backend *backend, sim_dtype dtype, int rank, const int64_t *shape,
                             sim_buffer *out) SIM_MUST_CHECK;
void sim_buffer_destroy(sim_buffer *buffer); /* frees the data and zeroes *buffer */
size_t sim_buffer_bytes(const sim_buffer *buffer);

#ifdef __cplusplus
}
#endif

#endif
