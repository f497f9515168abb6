/* For tests that need a GPU. */
#ifndef SIM_TESTS_GPU_GPU_H
#define SIM_TESTS_GPU_GPU_H

#include "engine/backend.h"

#include <stdio.h>

/* NULL: there is none, the reason was printed, and the test ends with 77. */
static inline const sim_backend *gpu_or_skip(void) {
  const sim_backend *backend = NULL;
  if (sim_backend_select("cuda", &backend) == SIM_OK) return backend;
  printf("skipped: %s\n", sim_error_last()->message);
  return NULL;
}

#endif
