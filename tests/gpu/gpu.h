/* For tests that need a GPU. */
#ifndef SIM_TESTS_GPU_GPU_H
#define SIM_TESTS_GPU_GPU_H

#include "engine/device/cuda.h"

#include <stdio.h>

/* Returns NULL without a GPU. The reason was then printed, and the test ends with 77. */
static inline const sim_backend *gpu_or_skip(void) {
  const sim_backend *backend = NULL;
  if (sim_backend_select("cuda", &backend) == SIM_OK) return backend;
  printf("skipped: %s\n", sim_error_last()->message);
  return NULL;
}

/* Returns 0, or the result of main(): 77 where there is no GPU, 1 where it does not open. The reason was then printed.
 */
static inline int gpu_open(void) {
  const char *reason = sim_backend_cuda.unavailable();
  if (reason != NULL) {
    printf("skipped: %s\n", reason);
    return 77;
  }
  if (sim_backend_cuda.open(NULL) == SIM_OK) return 0;
  fprintf(stderr, "%s\n", sim_error_last()->message);
  return 1;
}

#endif
