/* The CUDA backend: one device, a stream for steps, and a stream for outputs. */
#include "engine/device/cuda_parts.h"

#include "engine/device/calls.h"

#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_graph {
  cudaGraphExec_t work;
  const char *last_kernel;
};

/* Bytes not offered to a run: kernels load at their first use, and graphs take some memory. */
static const size_t reserve = (size_t)64 << 20;

static struct {
  bool open, capturing, refuses_graphs;
  int device, multiprocessors, overlaps;
  cudaStream_t steps, outputs;
  cudaEvent_t staged, copied, throttle; /* events of the last `stage`, `copy_out` and `throttle` */
  cudaEvent_t marks[SIM_MARKS];
  const char *_Atomic last_kernel; /* name of the kernel enqueued last; NULL: none */
} cuda;

/* ---- failures ---- */

/* Turns the error of a CUDA call that starts no kernel into a status. The cause may be an earlier kernel, so the
 * message names the kernel that was started last. */
static sim_status check(cudaError_t error, const char *call) {
  if (error == cudaSuccess) return SIM_OK;
  char what[160];
  snprintf(what, sizeof what, "last kernel: %s", cuda.last_kernel ? cuda.last_kernel : "none");
  sim_cuda_failed((int)error, call, what);
  return sim_cuda_status();
}

void sim_cuda_call_begin(sim_call_kind kind, const char *call) {
  const char *kernel = cuda.last_kernel;
  sim_call_begin(kind, call, kernel ? kernel : "");
}

static cudaError_t returned(cudaError_t error) {
  sim_call_end();
  return error;
}

/* Makes a call that may wait for the device, and watches it. */
#define CALL(function, ...) (sim_cuda_call_begin(SIM_CALL_WAITS, #function), returned(function(__VA_ARGS__)))
#define CUDA_TRY(function, ...) SIM_TRY(check(CALL(function, __VA_ARGS__), #function))
/* Makes a call that enqueues work and returns, unless the queue is full. */
#define ENQUEUE(function, ...) (sim_cuda_call_begin(SIM_CALL_ENQUEUES, #function), returned(function(__VA_ARGS__)))
#define ENQUEUE_TRY(function, ...) SIM_TRY(check(ENQUEUE(function, __VA_ARGS__), #function))

/* ---- device ---- */

/* Prepares a device. Records no error, as another device may be tried. */
static cudaError_t start(int device) {
  cudaError_t error = cudaSetDevice(device);
  if (!error) error = cudaStreamCreateWithFlags(&cuda.steps, cudaStreamNonBlocking);
  if (!error) error = cudaStreamCreateWithFlags(&cuda.outputs, cudaStreamNonBlocking);
  if (!error) error = cudaEventCreateWithFlags(&cuda.staged, cudaEventDisableTiming);
  if (!error) error = cudaEventCreateWithFlags(&cuda.copied, cudaEventDisableTiming | cudaEventBlockingSync);
  if (!error) error = cudaEventCreateWithFlags(&cuda.throttle, cudaEventDisableTiming | cudaEventBlockingSync);
  for (int i = 0; i < SIM_MARKS && !error; i++)
    error = cudaEventCreateWithFlags(&cuda.marks[i], cudaEventDisableTiming | cudaEventBlockingSync);
  if (!error) error = cudaDeviceGetAttribute(&cuda.multiprocessors, cudaDevAttrMultiProcessorCount, device);
  int major = 0, driver = 0;
  if (!error) error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (!error) error = cudaDriverGetVersion(&driver);
  /* from this version on graphs keep the overlap */
  cuda.overlaps = major >= 9 && CUDART_VERSION >= 12030 && driver >= 12030;
  if (error) {
    (void)cudaDeviceReset();
    (void)cudaGetLastError();
  }
  return error;
}

static sim_status cuda_open(const char *which) {
  static char opened[80]; /* the text that chose this device last */
  const char *asked = which ? which : "";
  int devices[SIM_CUDA_DEVICES_MAX], count;
  if (cuda.open && strcmp(asked, opened) == 0) return sim_cuda_status();
  SIM_TRY(sim_cuda_find(which, devices, &count));
  for (int i = 0; i < count && cuda.open; i++)
    if (devices[i] == cuda.device) {
      snprintf(opened, sizeof opened, "%s", asked);
      return sim_cuda_status();
    }
  if (cuda.open) return sim_fail(SIM_ERR_NO_DEVICE, "this process uses GPU %d already", cuda.device);
  cudaError_t first = cudaSuccess;
  for (int i = 0; i < count; i++) {
    cudaError_t error = start(devices[i]);
    if (error == cudaSuccess) {
      static char name[32];
      cuda.device = devices[i];
      snprintf(opened, sizeof opened, "%s", asked);
      sim_cuda_failures_of(cuda.device);
      snprintf(name, sizeof name, "GPU %d", cuda.device);
      sim_calls_of(name);
      cuda.open = true;
      return SIM_OK;
    }
    if (!first) first = error;
  }
  return sim_fail(SIM_ERR_NO_DEVICE, "GPU %d cannot be used: %s (%s)", devices[0], cudaGetErrorString(first),
                  cudaGetErrorName(first));
}

/* Writing about a device selects it for the thread, so the process's device is selected again. */
static bool cuda_list(int device, char *out, size_t capacity) {
  const bool found = sim_cuda_list(device, out, capacity);
  if (cuda.open) (void)cudaSetDevice(cuda.device);
  return found;
}

/* Asks the driver once: its answer takes milliseconds. */
static void cuda_describe(char *out, size_t capacity) {
  static char about[320];
  static int of = -1;
  if (of != cuda.device) sim_cuda_about(cuda.device, about, sizeof about);
  of = cuda.device;
  snprintf(out, capacity, "%s", about);
}

void *sim_cuda_stream(void) { return cuda.steps; }
int sim_cuda_multiprocessors(void) { return cuda.multiprocessors; }
int sim_cuda_overlaps(void) { return cuda.overlaps; }

/* ---- memory ---- */

/* Small blocks that were freed and are kept for later allocations, because cudaMalloc and cudaFree wait for the device
 * and take 0.1 ms: for a program that makes many small runs. */
enum { KEPT_MAX = 16, LENT_MAX = 64 };
static const size_t kept_most = (size_t)16 << 20; /* bytes of a block */

typedef struct cuda_block {
  void *data;
  size_t bytes;
} cuda_block;

static struct {
  bool on;
  pthread_mutex_t lock;
  cuda_block kept[KEPT_MAX], lent[LENT_MAX]; /* data NULL: an empty place */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sim_cuda_keep_memory(void) { pool.on = true; }

/* Moves the block at `from` to an empty place among to[count]; false if there is none. */
static bool move_block(cuda_block *from, cuda_block *to, int count) {
  int i = 0;
  while (i < count && to[i].data != NULL) i++;
  if (i == count) return false;
  to[i] = *from;
  *from = (cuda_block){0};
  return true;
}

/* Takes the smallest kept block with room for `bytes` and at most four times that much (or 64 KiB); NULL: none. */
static void *take_kept(size_t bytes) {
  const size_t most = bytes < (size_t)1 << 14 ? (size_t)1 << 16 : 4 * bytes;
  cuda_block *best = NULL;
  if (!pool.on) return NULL;
  pthread_mutex_lock(&pool.lock);
  for (int i = 0; i < KEPT_MAX; i++) {
    cuda_block *b = &pool.kept[i];
    if (b->data == NULL || b->bytes < bytes || b->bytes > most) continue;
    if (best == NULL || b->bytes < best->bytes) best = b;
  }
  void *data = best != NULL ? best->data : NULL;
  if (best != NULL && !move_block(best, pool.lent, LENT_MAX)) data = NULL;
  pthread_mutex_unlock(&pool.lock);
  return data;
}

/* Notes a new block, so that it is kept once it is freed. */
static void note_lent(void *data, size_t bytes) {
  if (!pool.on || bytes > kept_most) return;
  pthread_mutex_lock(&pool.lock);
  (void)move_block(&(cuda_block){data, bytes}, pool.lent, LENT_MAX);
  pthread_mutex_unlock(&pool.lock);
}

/* Keeps a freed block; false: the caller gives it back to the driver. */
static bool keep_freed(void *data) {
  bool kept = false;
  if (!pool.on) return false;
  pthread_mutex_lock(&pool.lock);
  for (int i = 0; i < LENT_MAX; i++) {
    if (pool.lent[i].data != data) continue;
    kept = move_block(&pool.lent[i], pool.kept, KEPT_MAX);
    if (!kept) pool.lent[i] = (cuda_block){0};
    break;
  }
  pthread_mutex_unlock(&pool.lock);
  return kept;
}

/* Gives all kept blocks back to the driver; false if there were none. */
static bool release_kept(void) {
  bool any = false;
  pthread_mutex_lock(&pool.lock);
  for (int i = 0; i < KEPT_MAX; i++) {
    if (pool.kept[i].data == NULL) continue;
    any = true;
    if (CALL(cudaFree, pool.kept[i].data) != cudaSuccess) (void)cudaGetLastError();
    pool.kept[i] = (cuda_block){0};
  }
  pthread_mutex_unlock(&pool.lock);
  return any;
}

/* Clears a kept block in the order of the steps; copies of outputs out of its earlier content are waited for. */
static sim_status reuse(void *data, size_t bytes) {
  CUDA_TRY(cudaStreamSynchronize, cuda.outputs);
  ENQUEUE_TRY(cudaMemsetAsync, data, 0, bytes, cuda.steps);
  return SIM_OK;
}

static sim_status cuda_alloc(size_t bytes, void **out) {
  *out = NULL;
  SIM_TRY(sim_cuda_status());
  void *data = take_kept(bytes);
  if (data != NULL) {
    *out = data;
    return reuse(data, bytes);
  }
  cudaError_t error = CALL(cudaMalloc, &data, bytes ? bytes : 1);
  if (error == cudaErrorMemoryAllocation && release_kept()) {
    (void)cudaGetLastError();
    error = CALL(cudaMalloc, &data, bytes ? bytes : 1);
  }
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return sim_no_memory("an array of %zu bytes on GPU %d", bytes, cuda.device);
  }
  SIM_TRY(check(error, "cudaMalloc"));
  sim_status status = check(ENQUEUE(cudaMemsetAsync, data, 0, bytes, cuda.steps), "cudaMemsetAsync");
  if (status == SIM_OK) status = check(CALL(cudaStreamSynchronize, cuda.steps), "cudaStreamSynchronize");
  if (status == SIM_OK) {
    *out = data;
    note_lent(data, bytes ? bytes : 1);
  } else {
    (void)cudaFree(data);
  }
  return status;
}

/* Frees memory. Errors are ignored: after one the context and its memory are gone, and no caller handles it. */
static void cuda_free(void *data) {
  if (data == NULL || keep_freed(data)) return;
  if (CALL(cudaFree, data) != cudaSuccess) (void)cudaGetLastError();
}

static sim_status cuda_copy(void *destination, const void *source, size_t bytes) {
  SIM_TRY(sim_cuda_status());
  sim_calls_move(bytes); /* pageable memory passes through buffers of the driver, or comes from the swap file */
  cudaError_t error = CALL(cudaMemcpyAsync, destination, source, bytes, cudaMemcpyDefault, cuda.steps);
  const char *call = "cudaMemcpyAsync";
  if (!error) {
    call = "cudaStreamSynchronize";
    error = CALL(cudaStreamSynchronize, cuda.steps);
  }
  sim_calls_move(0);
  SIM_TRY(check(error, call));
  return sim_cuda_status(); /* if another rank failed, kernels may have ended without their data */
}

static size_t cuda_memory_free(void) {
  size_t here = 0, total = 0;
  if (check(cudaMemGetInfo(&here, &total), "cudaMemGetInfo") != SIM_OK) return 0;
  return here > reserve ? here - reserve : 0;
}

/* Blocks of this size or more are pinned after allocation: the driver's own pages are small, and one thread clears
 * them. The header before each block says which way it was pinned. */
static const size_t pinned_in_place = (size_t)64 << 20;
enum { PINNED_HEADER = 256 }; /* a multiple of all required alignments */

static void *after_header(void *block, bool in_place) {
  *(bool *)block = in_place;
  return (char *)block + PINNED_HEADER;
}

static sim_status cuda_alloc_host(size_t bytes, void **out) {
  *out = NULL;
  SIM_TRY(sim_cuda_status());
  if (bytes >= pinned_in_place) {
    void *data = NULL;
    SIM_TRY(sim_backend_cpu.alloc(PINNED_HEADER + bytes, &data));
    sim_calls_move(bytes);
    const cudaError_t pinned = CALL(cudaHostRegister, data, PINNED_HEADER + bytes, cudaHostRegisterDefault);
    sim_calls_move(0);
    if (pinned == cudaSuccess) {
      *out = after_header(data, true);
      return SIM_OK;
    }
    (void)cudaGetLastError(); /* some systems cannot pin existing memory */
    sim_backend_cpu.free(data);
  }
  void *block = NULL;
  cudaError_t error = CALL(cudaHostAlloc, &block, PINNED_HEADER + bytes, cudaHostAllocDefault);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return sim_no_memory("%zu bytes of pinned memory on the host", bytes);
  }
  SIM_TRY(check(error, "cudaHostAlloc"));
  *out = after_header(block, false);
  return SIM_OK;
}

static void cuda_free_host(void *data) {
  if (data == NULL) return;
  void *const block = (char *)data - PINNED_HEADER;
  const bool in_place = *(bool *)block;
  if ((in_place ? CALL(cudaHostUnregister, block) : CALL(cudaFreeHost, block)) != cudaSuccess) (void)cudaGetLastError();
  if (in_place) sim_backend_cpu.free(block);
}

/* ---- queue ---- */

bool sim_cuda_wait(const char *what) {
  const int failed = sim_cuda_failed(CALL(cudaStreamSynchronize, cuda.steps), "cudaStreamSynchronize", what);
  return !failed && sim_cuda_status() == SIM_OK;
}

static sim_status cuda_finish(void) {
  SIM_TRY(sim_cuda_status());
  CUDA_TRY(cudaStreamSynchronize, cuda.steps);
  CUDA_TRY(cudaStreamSynchronize, cuda.outputs);
  if (sim_profile_on()) sim_cuda_profile_gather(true);
  return sim_cuda_status();
}

static sim_status cuda_throttle(void) {
  SIM_TRY(sim_cuda_status());
  CUDA_TRY(cudaEventSynchronize, cuda.throttle);
  ENQUEUE_TRY(cudaEventRecord, cuda.throttle, cuda.steps);
  return SIM_OK;
}

static const sim_kernel staging = {"copy to staging", "output", SIM_LIMIT_BYTES};
static const sim_kernel copying = {"copy to the host", "output", SIM_LIMIT_BYTES};

static sim_status cuda_stage(void *staged, const void *source, size_t bytes) {
  SIM_TRY(sim_cuda_status());
  bool profiled = sim_profile_on();
  if (profiled) sim_cuda_profile_begin(cuda.steps);
  ENQUEUE_TRY(cudaMemcpyAsync, staged, source, bytes, cudaMemcpyDeviceToDevice, cuda.steps);
  if (profiled) sim_cuda_profile_end(cuda.steps, &staging, SIM_TRACK_STEPS, 2 * (double)bytes);
  ENQUEUE_TRY(cudaEventRecord, cuda.staged, cuda.steps);
  return SIM_OK;
}

static sim_status cuda_copy_out(void *host, const void *staged, size_t bytes) {
  SIM_TRY(sim_cuda_status());
  ENQUEUE_TRY(cudaStreamWaitEvent, cuda.outputs, cuda.staged, 0);
  bool profiled = sim_profile_on();
  if (profiled) sim_cuda_profile_begin(cuda.outputs);
  ENQUEUE_TRY(cudaMemcpyAsync, host, staged, bytes, cudaMemcpyDeviceToHost, cuda.outputs);
  if (profiled) sim_cuda_profile_end(cuda.outputs, &copying, SIM_TRACK_COPIES, (double)bytes);
  ENQUEUE_TRY(cudaEventRecord, cuda.copied, cuda.outputs);
  return SIM_OK;
}

static sim_status cuda_wait_copies(void) {
  SIM_TRY(sim_cuda_status());
  ENQUEUE_TRY(cudaSetDevice, cuda.device); /* selects the device for this thread */
  CUDA_TRY(cudaEventSynchronize, cuda.copied);
  return sim_cuda_status();
}

static sim_status cuda_mark_copies(int mark) {
  SIM_TRY(sim_cuda_status());
  ENQUEUE_TRY(cudaEventRecord, cuda.marks[mark], cuda.outputs);
  return SIM_OK;
}

static sim_status cuda_wait_mark(int mark) {
  SIM_TRY(sim_cuda_status());
  ENQUEUE_TRY(cudaSetDevice, cuda.device); /* selects the device for this thread */
  CUDA_TRY(cudaEventSynchronize, cuda.marks[mark]);
  return sim_cuda_status();
}

/* ---- graphs ---- */

void sim_cuda_refuse_graphs(void) { cuda.refuses_graphs = true; }

/* Single kernels in a graph cannot be timed: during a profile nothing is captured and the work runs directly. */
static sim_status cuda_graph_begin(void) {
  SIM_TRY(sim_cuda_status());
  if (sim_profile_on() || cuda.refuses_graphs) return SIM_OK;
  ENQUEUE_TRY(cudaStreamBeginCapture, cuda.steps, cudaStreamCaptureModeThreadLocal);
  cuda.capturing = true;
  return SIM_OK;
}

static sim_status cuda_graph_end(sim_graph **out) {
  *out = NULL;
  if (!cuda.capturing) return sim_cuda_status();
  cudaGraph_t graph = NULL;
  cudaError_t error = cudaStreamEndCapture(cuda.steps, &graph);
  cuda.capturing = false;
  sim_graph *made = calloc(1, sizeof *made);
  const char *call = "cudaStreamEndCapture";
  if (!error && made) {
    call = "cudaGraphInstantiate";
    error = cudaGraphInstantiateWithFlags(&made->work, graph, 0);
  }
  if (!error && made) {
    call = "cudaGraphUpload";
    error = cudaGraphUpload(made->work, cuda.steps);
  }
  if (graph) (void)cudaGraphDestroy(graph);
  sim_status status = sim_cuda_status();
  if (status == SIM_OK) status = check(error, call);
  if (status == SIM_OK && !made) status = sim_no_memory("a graph of kernels");
  if (status != SIM_OK) {
    if (made && made->work) (void)cudaGraphExecDestroy(made->work);
    free(made);
    return status;
  }
  made->last_kernel = cuda.last_kernel;
  *out = made;
  return SIM_OK;
}

static sim_status cuda_graph_launch(sim_graph *graph) {
  SIM_TRY(sim_cuda_status());
  cuda.last_kernel = graph->last_kernel;
  ENQUEUE_TRY(cudaGraphLaunch, graph->work, cuda.steps);
  return SIM_OK;
}

static void cuda_graph_destroy(sim_graph **graph) {
  if (!*graph) return;
  if (cudaGraphExecDestroy((*graph)->work) != cudaSuccess) (void)cudaGetLastError();
  free(*graph);
  *graph = NULL;
}

/* ---- launches ---- */

void sim_cuda_begin(const sim_kernel *kernel) {
  nvtxRangePushA(kernel->group);
  nvtxRangePushA(kernel->name);
  sim_call_begin(SIM_CALL_ENQUEUES, "launch", kernel->name);
  if (sim_profile_on()) sim_cuda_profile_begin(cuda.steps);
}

void sim_cuda_end(const sim_kernel *kernel, double amount) {
  cudaError_t error = cudaGetLastError();
  cuda.last_kernel = kernel->name;
  if (error) sim_cuda_failed((int)error, "launch", kernel->name);
  if (sim_profile_on()) sim_cuda_profile_end(cuda.steps, kernel, SIM_TRACK_STEPS, amount);
  sim_call_end();
  nvtxRangePop();
  nvtxRangePop();
}

const sim_queue sim_queue_cuda = {
    .status = sim_cuda_status,
    .finish = cuda_finish,
    .stage = cuda_stage,
    .copy_out = cuda_copy_out,
    .wait_copies = cuda_wait_copies,
    .mark_copies = cuda_mark_copies,
    .wait_mark = cuda_wait_mark,
    .throttle = cuda_throttle,
    .graph_begin = cuda_graph_begin,
    .graph_end = cuda_graph_end,
    .graph_launch = cuda_graph_launch,
    .graph_destroy = cuda_graph_destroy,
};

const sim_backend sim_backend_cuda = {
    .name = "cuda",
    .kind = SIM_BACKEND_CUDA,
    .space = SIM_SPACE_DEVICE,
    .queue = &sim_queue_cuda,
    .unavailable = sim_cuda_unavailable,
    .list = cuda_list,
    .identity = sim_cuda_identity,
    .open = cuda_open,
    .describe = cuda_describe,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .alloc_host = cuda_alloc_host,
    .free_host = cuda_free_host,
    .copy = cuda_copy,
    .memory_free = cuda_memory_free,
};
