/* CUDA for models: the stream of steps, and the names of kernels in failures, traces and profiles. No CUDA type appears
 * here. */
#ifndef SIM_ENGINE_CUDA_H
#define SIM_ENGINE_CUDA_H

#include "engine/device/backend.h"
#include "engine/device/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const sim_backend sim_backend_cuda;
extern const sim_queue sim_queue_cuda; /* the queue of sim_backend_cuda */

/* The cudaStream_t in which the steps run. */
void *sim_cuda_stream(void);
int sim_cuda_multiprocessors(void);
/* From now on small blocks that `free` of the backend gets are kept for later allocations: for a process that makes one
 * run after another. */
void sim_cuda_keep_memory(void);
/* Whether the device and the driver let a kernel begin while its predecessor ends (programmatic dependent launch). The
 * kernel's code must also be for compute capability 9.0 or newer. */
int sim_cuda_overlaps(void);

/* Call around each launch. `amount`: bytes moved, or floating-point instructions of all threads, whichever limits the
 * kernel. sim_cuda_end records an error of the launch for sim_queue.status; the first error counts. */
void sim_cuda_begin(const sim_kernel *kernel);
void sim_cuda_end(const sim_kernel *kernel, double amount);
/* Records a failure that this device has not caused, but another rank. The first failure counts. Any thread. */
void sim_cuda_failed_by(sim_status status, const char *message);
/* From now on no graph is captured, as during a profile: the enqueued work includes waits of the host. */
void sim_cuda_refuse_graphs(void);
/* Records the error of another call: `error` is its cudaError_t. Returns whether it is an error. */
int sim_cuda_failed(int error, const char *call, const char *what);

#ifdef __cplusplus
}
#endif

#endif
