/* Failures of the CUDA backend: the first one is kept. */
#include "engine/device/cuda_parts.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>

static struct {
  pthread_mutex_t lock;
  int device;
  sim_status status; /* SIM_OK: none */
  char text[512];
} failure = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sim_cuda_failures_of(int device) { failure.device = device; }

int sim_cuda_failed(int error, const char *call, const char *what) {
  if (error == cudaSuccess) return 0;
  pthread_mutex_lock(&failure.lock);
  if (failure.status == SIM_OK)
    snprintf(failure.text, sizeof failure.text, "GPU %d: %s (%s): %s (%s)", failure.device, call, what,
             cudaGetErrorString((cudaError_t)error), cudaGetErrorName((cudaError_t)error));
  if (failure.status == SIM_OK) failure.status = SIM_ERR_DEVICE;
  pthread_mutex_unlock(&failure.lock);
  return 1;
}

void sim_cuda_failed_by(sim_status status, const char *message) {
  pthread_mutex_lock(&failure.lock);
  if (failure.status == SIM_OK) {
    snprintf(failure.text, sizeof failure.text, "%s", message);
    failure.status = status;
  }
  pthread_mutex_unlock(&failure.lock);
}

sim_status sim_cuda_status(void) {
  pthread_mutex_lock(&failure.lock);
  sim_status status = failure.status != SIM_OK ? sim_fail(failure.status, "%s", failure.text) : SIM_OK;
  pthread_mutex_unlock(&failure.lock);
  return status;
}
