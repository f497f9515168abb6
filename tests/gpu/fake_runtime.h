/* A stand-in for the CUDA runtime: the host's memory, a queue that works at once, and failures on demand. It runs the
 * backend's own code where there is no GPU. */
#ifndef SIM_TESTS_FAKE_RUNTIME_H
#define SIM_TESTS_FAKE_RUNTIME_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

enum { FAKE_DEVICES_MAX = 4 };

struct fake_device {
  const char *name;
  int major, minor, mode;
  unsigned char uuid[16];
  cudaError_t start; /* result of cudaSetDevice */
};

extern struct fake {
  int driver; /* 13000 */
  cudaError_t count_error;
  int device_count;
  struct fake_device devices[FAKE_DEVICES_MAX];
  size_t memory;
  void *pinned;      /* the block of the last cudaHostRegister */
  const char *fails; /* this call fails with `error`, after `after` successful calls */
  cudaError_t error;
  bool once;   /* later calls succeed */
  bool failed; /* a call has failed */
  int after;
  cudaError_t pending; /* next result of cudaGetLastError */
  bool slow;           /* events are complete only when they are waited for */
  double clock;        /* ms: a quarter is added for each event that is recorded */
  int current;
  const char *kernel; /* the name of every kernel; NULL: f */
  long calls, frees, libraries;
  void (*wait)(void); /* called by every call that waits for the device; NULL: nothing */
} fake;

#endif
