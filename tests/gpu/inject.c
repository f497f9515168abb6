/* Linked into the program in front of the CUDA runtime. Call number SIM_INJECT of those below fails. Before the first
 * call after the file SIM_INJECT_SPIN was created, a kernel is enqueued that never ends. With SIM_INJECT_RANK only on
 * this rank of sim --ranks. */
#include "tests/gpu/kernels.h"

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long left;         /* calls until the one that fails; 0 or less: none does */
static const char *_Atomic spin; /* NULL: no kernel, or already enqueued */

__attribute__((constructor)) static void read_environment(void) {
  const char *text = getenv("SIM_INJECT");
  const char *only = getenv("SIM_INJECT_RANK"), *rank = getenv("SIM_RANK"); /* "1:3": rank 1 */
  const bool here = !only || (rank && atoi(rank) == atoi(only));
  left = text && here ? atol(text) : 0;
  spin = here ? getenv("SIM_INJECT_SPIN") : NULL;
}

/* The n-th call fails as for a lost device. Its name is written into the file `injected`. */
static cudaError_t inject(const char *name) {
  const char *when = spin;
  if (when && access(when, F_OK) == 0 && atomic_compare_exchange_strong(&spin, &when, NULL)) gpu_test_wait(LLONG_MAX);
  if (atomic_fetch_sub(&left, 1) != 1) return cudaSuccess;
  int file = open("injected", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || write(file, name, strlen(name)) < 0) abort();
  close(file);
  return cudaErrorLaunchFailure;
}

#define WRAP(name, parameters, arguments)                                                                              \
  cudaError_t __real_##name parameters;                                                                                \
  cudaError_t __wrap_##name parameters;                                                                                \
  cudaError_t __wrap_##name parameters {                                                                               \
    cudaError_t error = inject(#name);                                                                                 \
    return error ? error : __real_##name arguments;                                                                    \
  }

WRAP(cudaMalloc, (void **a, size_t b), (a, b))
WRAP(cudaHostAlloc, (void **a, size_t b, unsigned c), (a, b, c))
WRAP(cudaMemsetAsync, (void *a, int b, size_t c, cudaStream_t d), (a, b, c, d))
WRAP(cudaMemcpyAsync, (void *a, const void *b, size_t c, enum cudaMemcpyKind d, cudaStream_t e), (a, b, c, d, e))
WRAP(cudaStreamSynchronize, (cudaStream_t a), (a))
WRAP(cudaStreamWaitEvent, (cudaStream_t a, cudaEvent_t b, unsigned c), (a, b, c))
WRAP(cudaEventRecord, (cudaEvent_t a, cudaStream_t b), (a, b))
WRAP(cudaEventSynchronize, (cudaEvent_t a), (a))
WRAP(cudaStreamBeginCapture, (cudaStream_t a, enum cudaStreamCaptureMode b), (a, b))
WRAP(cudaStreamEndCapture, (cudaStream_t a, cudaGraph_t *b), (a, b))
WRAP(cudaGraphInstantiateWithFlags, (cudaGraphExec_t * a, cudaGraph_t b, unsigned long long c), (a, b, c))
WRAP(cudaGraphUpload, (cudaGraphExec_t a, cudaStream_t b), (a, b))
WRAP(cudaGraphLaunch, (cudaGraphExec_t a, cudaStream_t b), (a, b))
WRAP(cudaMemGetInfo, (size_t * a, size_t *b), (a, b))
WRAP(cudaSetDevice, (int a), (a))
WRAP(cudaLaunchKernelExC, (const cudaLaunchConfig_t *a, const void *b, void **c), (a, b, c))
WRAP(cudaGetLastError, (void), ())
