/* What benchmarks of parts of the program on a GPU share. A failure ends them. */
#ifndef BENCH_DEVICE_CUH
#define BENCH_DEVICE_CUH

#include "engine/device/cuda.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <errno.h>
#include <vector>

static inline cudaStream_t stream() { return (cudaStream_t)sim_cuda_stream(); }

static inline void must(bool ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, sim_error_last()->message);
  exit(1);
}

/* Memory on the device. */
static inline void *allocate(size_t bytes) {
  void *data;
  must(sim_backend_cuda.alloc(bytes, &data) == SIM_OK, "memory");
  return data;
}

/* Median milliseconds of what `queue` queues, over 3 to `most` calls and at least `least` ms, after a call that does
 * not count. */
template <typename F> static double milliseconds(F queue, size_t most = 1000, double least = 200) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  std::vector<float> times;
  double total = 0;
  queue();
  while (times.size() < 3 || (total < least && times.size() < most)) {
    float ms;
    cudaEventRecord(begin, stream());
    queue();
    cudaEventRecord(end, stream());
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    times.push_back(ms);
    total += ms;
  }
  must(sim_queue_cuda.finish() == SIM_OK, "the device");
  std::sort(times.begin(), times.end());
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return times[times.size() / 2];
}

#endif
