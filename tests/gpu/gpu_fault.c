/* gpu_fault CASE: a real failure of the device in a process of its own. The first failure is kept, nothing hangs, and
 * the process ends in order. */
#include "engine/device/cuda.h"
#include "tests/gpu/gpu.h"
#include "tests/gpu/kernels.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #condition, sim_error_last()->message);     \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

static const sim_backend *gpu;

static int fails(sim_status status, const char *text) {
  return status == SIM_ERR_DEVICE && strstr(sim_error_last()->message, text) != NULL;
}

/* An impossible launch: reported at once, by its name. */
static void bad_launch(unsigned *data) {
  unsigned here;
  gpu_test_bad_launch();
  CHECK(fails(gpu->queue->status(), "launch (gpu_test_bad_launch): "));
  gpu_test_add(data, 256, 1);
  CHECK(fails(gpu->queue->finish(), "gpu_test_bad_launch"));
  CHECK(fails(gpu->copy(&here, data, sizeof here), "cudaErrorInvalid"));
}

/* A kernel that writes to address 0: reported when a call waits. The context is lost with it. */
static void bad_address(unsigned *data) {
  unsigned here;
  void *more;
  gpu_test_bad_address();
  CHECK(fails(gpu->queue->finish(), "last kernel: gpu_test_bad_address"));
  CHECK(fails(gpu->queue->status(), "cudaErrorIllegalAddress"));
  gpu_test_add(data, 256, 1);
  CHECK(fails(gpu->copy(&here, data, sizeof here), "last kernel: gpu_test_bad_address"));
  CHECK(fails(gpu->alloc(64, &more), "cudaErrorIllegalAddress"));
  CHECK(fails(gpu->queue->graph_begin(), "cudaErrorIllegalAddress"));
  CHECK(fails(gpu->queue->wait_copies(), "cudaErrorIllegalAddress"));
}

/* The same from within a graph. */
static void bad_graph(unsigned *data) {
  sim_graph *graph = NULL;
  CHECK(gpu->queue->graph_begin() == SIM_OK);
  gpu_test_add(data, 256, 1);
  gpu_test_bad_address();
  CHECK(gpu->queue->graph_end(&graph) == SIM_OK && graph);
  CHECK(gpu->queue->finish() == SIM_OK);
  CHECK(gpu->queue->graph_launch(graph) == SIM_OK);
  CHECK(fails(gpu->queue->finish(), "cudaErrorIllegalAddress"));
  CHECK(fails(gpu->queue->graph_launch(graph), "cudaErrorIllegalAddress"));
  gpu->queue->graph_destroy(&graph);
}

/* A launch that fails while it is captured. */
static void bad_capture(unsigned *data) {
  sim_graph *graph = NULL;
  CHECK(gpu->queue->graph_begin() == SIM_OK);
  gpu_test_add(data, 256, 1);
  gpu_test_bad_launch();
  CHECK(fails(gpu->queue->graph_end(&graph), "launch (gpu_test_bad_launch)") && !graph);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*work)(unsigned *);
  } cases[] = {{"launch", bad_launch}, {"address", bad_address}, {"graph", bad_graph}, {"capture", bad_capture}};
  gpu = gpu_or_skip();
  if (!gpu) return 77;
  alarm(60);
  void *data, *host;
  CHECK(gpu->alloc(256 * sizeof(unsigned), &data) == SIM_OK && gpu->alloc_host(64, &host) == SIM_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (argc != 2 || strcmp(argv[1], cases[i].name) != 0) continue;
    cases[i].work(data);
    gpu->free(data);
    gpu->free_host(host);
    return 0;
  }
  return 64;
}
