/* Stands in for the CUDA runtime: memory of the host, a queue that is done at once, and failures on demand. It lets the
 * backend's own code run where there is no GPU. */
#ifndef SIM_TESTS_FAKE_RUNTIME_H
#define SIM_TESTS_FAKE_RUNTIME_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

enum { FAKE_DEVICES_MAX = 4 };

struct fake_device {
  const char *name;
  int major, minor, mode;
  unsigned char uuid[16];
  cudaError_t start; /* what cudaSetDevice says */
};

extern struct fake {
  int driver; /* 13000 */
  cudaError_t count_error;
  int device_count;
  struct fake_device devices[FAKE_DEVICES_MAX];
  size_t memory;
  void *pinned;      /* the block of the last cudaHostRegister */
  const char *fails; /* this call does, with `error`, once `after` calls of it were good */
  cudaError_t error;
  bool once;   /* later ones are good again */
  bool failed; /* one has */
  int after;
  cudaError_t pending; /* what cudaGetLastError says next */
  bool slow;           /* events are done only when they are waited for */
  double clock;        /* ms: each event that is recorded comes a quarter later */
  int current;
  const char *kernel; /* the name of every kernel; NULL: f */
  long calls, frees, libraries;
  void (*wait)(void); /* every call that waits for the device calls it; NULL: nothing */
} fake;

#endif
