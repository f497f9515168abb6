/* Shared by the files of the CUDA backend: cuda.c (queue, memory, graphs), cuda_device.c (choice of the GPU),
 * cuda_failure.c (the first failure), cuda_pool.c (memory that is kept), cuda_profile.c (times of kernels). No CUDA
 * type appears here. */
#ifndef SIM_ENGINE_CUDA_PARTS_H
#define SIM_ENGINE_CUDA_PARTS_H

#include "engine/device/cuda.h"
#include "engine/run/profile.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- cuda_device.c ---- */

enum { SIM_CUDA_DEVICES_MAX = 64 };

const char *sim_cuda_unavailable(void);
bool sim_cuda_list(int device, char *out, size_t capacity);
bool sim_cuda_identity(int number, char *out, size_t capacity); /* see sim_backend.identity */
/* Finds the devices that `which` (as in sim_backend.open) may mean, best first. SIM_ERR_NO_DEVICE: no usable device. */
sim_status sim_cuda_find(const char *which, int devices[SIM_CUDA_DEVICES_MAX], int *count);
void sim_cuda_about(int device, char *out, size_t capacity); /* writes one line about a device, without its memory */
/* Nominal rates per second at the highest clock: limits[sim_limit]. */
void sim_cuda_limits(int device, double limits[SIM_LIMITS]);

/* ---- cuda_failure.c; sim_cuda_failed keeps a failure ---- */

void sim_cuda_failures_of(int device); /* sets the GPU that messages name from now on */
sim_status sim_cuda_status(void);      /* the first failure */

/* ---- cuda_pool.c: blocks that are kept after sim_cuda_keep_memory ---- */

/* Takes the smallest kept block with room for `bytes` and at most four times that much (or 64 KiB); NULL: none. It is
 * not cleared, and copies of outputs may still read it. */
void *sim_cuda_pool_take(size_t bytes);
void sim_cuda_pool_note(void *data, size_t bytes); /* notes a new block, so that it is kept once it is freed */
bool sim_cuda_pool_keep(void *data);               /* keeps a freed block; false: the caller frees it */
bool sim_cuda_pool_release(void);                  /* frees all kept blocks; false: there were none */
size_t sim_cuda_pool_bytes(void);                  /* bytes of all kept blocks */

/* ---- cuda_profile.c; call only while sim_profile_on ---- */

/* Call around a launch or copy on a stream. */
void sim_cuda_profile_begin(void *stream);
void sim_cuda_profile_end(void *stream, const sim_kernel *kernel, sim_profile_track track, double amount);
/* Reports the times of completed work; `all`: waits for the rest first. */
void sim_cuda_profile_gather(bool all);

#endif
