#include "tests/gpu/fake_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake fake = {.driver = 13000, .memory = (size_t)1 << 40};

struct CUevent_st {
  double at;
  bool recorded, done;
};

/* Number of copies that can be captured. */
enum { COPIES_MAX = 16 };
typedef struct copies {
  int count;
  struct {
    void *to;
    const void *from;
    size_t bytes;
  } copy[COPIES_MAX];
} copies;
static copies *capture;

static cudaError_t say(const char *call) {
  fake.calls++;
  if (!fake.fails || strcmp(fake.fails, call) != 0 || fake.after-- > 0) return cudaSuccess;
  fake.after = 0;
  fake.failed = true;
  if (fake.once) fake.fails = NULL;
  return fake.error;
}
#define SAY(call)                                                                                                      \
  do {                                                                                                                 \
    cudaError_t said = say(#call);                                                                                     \
    if (said) return said;                                                                                             \
  } while (0)

cudaError_t cudaDriverGetVersion(int *version) { return *version = fake.driver, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int *version) { return *version = 13000, cudaSuccess; }
cudaError_t cudaGetDeviceCount(int *count) { return *count = fake.device_count, fake.count_error; }
cudaError_t cudaGetDevice(int *device) { return *device = fake.current, cudaSuccess; }
cudaError_t cudaSetDevice(int device) {
  if (fake.devices[device].start) return fake.devices[device].start;
  return fake.current = device, say("cudaSetDevice");
}
cudaError_t cudaDeviceReset(void) { return cudaSuccess; }
const char *cudaGetErrorName(cudaError_t error) { return error == cudaErrorLaunchFailure ? "launchName" : "otherName"; }
const char *cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorLaunchFailure ? "launch text" : "other text";
}

cudaError_t cudaGetLastError(void) {
  cudaError_t error = fake.pending;
  fake.pending = cudaSuccess;
  return error;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
  memset(properties, 0, sizeof *properties);
  snprintf(properties->name, sizeof properties->name, "%s", fake.devices[device].name);
  memcpy(&properties->uuid, fake.devices[device].uuid, 16);
  properties->major = fake.devices[device].major;
  properties->minor = fake.devices[device].minor;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int device) {
  const struct fake_device *d = &fake.devices[device];
  *value = which == cudaDevAttrComputeCapabilityMajor   ? d->major
           : which == cudaDevAttrComputeCapabilityMinor ? d->minor
           : which == cudaDevAttrComputeMode            ? d->mode
           : which == cudaDevAttrMultiProcessorCount    ? 10
           : which == cudaDevAttrClockRate              ? 1000000 /* kHz */
           : which == cudaDevAttrMemoryClockRate        ? 1000000
           : which == cudaDevAttrGlobalMemoryBusWidth   ? 1024
                                                        : 0;
  return cudaSuccess;
}

/* For pairs of devices. */
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int other) {
  return *can = (device ^ other) == 1, cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  *available = *total = fake.memory;
  return say("cudaMemGetInfo");
}

cudaError_t cudaMalloc(void **out, size_t bytes) {
  SAY(cudaMalloc);
  if (bytes > fake.memory) return fake.pending = cudaErrorMemoryAllocation;
  return *out = malloc(bytes), cudaSuccess;
}
cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags) {
  (void)flags;
  SAY(cudaHostAlloc);
  if (bytes > fake.memory) return fake.pending = cudaErrorMemoryAllocation;
  return *out = malloc(bytes), cudaSuccess;
}
cudaError_t cudaFree(void *data) {
  free(data);
  fake.frees++;
  return say("cudaFree");
}
cudaError_t cudaFreeHost(void *data) { return cudaFree(data); }
cudaError_t cudaHostRegister(void *data, size_t bytes, unsigned flags) {
  (void)flags;
  SAY(cudaHostRegister);
  fake.pinned = data;
  return bytes > fake.memory ? (fake.pinned = NULL, fake.pending = cudaErrorMemoryAllocation) : cudaSuccess;
}
cudaError_t cudaHostUnregister(void *data) {
  if (!data || data != fake.pinned) return fake.pending = cudaErrorHostMemoryNotRegistered;
  fake.pinned = NULL;
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *data, int value, size_t bytes, cudaStream_t stream) {
  (void)stream;
  memset(data, value, bytes);
  return say("cudaMemsetAsync");
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
  (void)kind, (void)stream;
  SAY(cudaMemcpyAsync);
  if (!capture)
    memcpy(to, from, bytes);
  else if (capture->count < COPIES_MAX)
    capture->copy[capture->count].to = to, capture->copy[capture->count].from = from,
    capture->copy[capture->count++].bytes = bytes;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  static char places[8];
  static int next;
  *stream = (cudaStream_t)(void *)&places[next++];
  return flags == cudaStreamNonBlocking ? say("cudaStreamCreateWithFlags") : cudaErrorInvalidValue;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (fake.wait) fake.wait();
  return (void)stream, say("cudaStreamSynchronize");
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return (void)stream, (void)event, (void)flags, say("cudaStreamWaitEvent");
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  (void)flags;
  *event = calloc(1, sizeof **event);
  return say("cudaEventCreate");
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  (void)stream;
  event->recorded = true;
  event->done = !fake.slow;
  event->at = fake.clock += 0.25;
  return say("cudaEventRecord");
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (event->done) return say("cudaEventQuery");
  return fake.pending = cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (fake.wait) fake.wait();
  event->done = true;
  return say("cudaEventSynchronize");
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end) {
  if (!begin->recorded || !end->recorded) return cudaErrorInvalidValue;
  *ms = (float)(end->at - begin->at);
  return say("cudaEventElapsedTime");
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
  (void)stream;
  SAY(cudaStreamBeginCapture);
  if (mode != cudaStreamCaptureModeThreadLocal || capture) return cudaErrorInvalidValue;
  capture = calloc(1, sizeof *capture);
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  (void)stream;
  *graph = (cudaGraph_t)(void *)capture;
  capture = NULL;
  return say("cudaStreamEndCapture");
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags) {
  (void)flags;
  SAY(cudaGraphInstantiate);
  copies *made = malloc(sizeof *made);
  memcpy(made, (void *)graph, sizeof *made);
  *out = (cudaGraphExec_t)(void *)made;
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t graph, cudaStream_t stream) {
  return (void)graph, (void)stream, say("cudaGraphUpload");
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  (void)stream;
  const copies *all = (const void *)graph;
  for (int i = 0; i < all->count; i++) memcpy(all->copy[i].to, all->copy[i].from, all->copy[i].bytes);
  return say("cudaGraphLaunch");
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return free((void *)graph), cudaSuccess; }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { return free((void *)graph), cudaSuccess; }

/* Any text counts as code with one kernel. */
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *jit, void **jit_values,
                                unsigned jit_count, enum cudaLibraryOption *options, void **values, unsigned count) {
  (void)code, (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
  SAY(cudaLibraryLoadData);
  fake.libraries++;
  return *library = (cudaLibrary_t)(void *)&fake, cudaSuccess;
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  (void)library;
  fake.libraries--;
  return say("cudaLibraryUnload");
}
cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library) {
  (void)library;
  return *count = 1, say("cudaLibraryGetKernelCount");
}
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned count, cudaLibrary_t library) {
  for (unsigned i = 0; i < count; i++) kernels[i] = (cudaKernel_t)(void *)library;
  return say("cudaLibraryEnumerateKernels");
}
cudaError_t cudaFuncGetName(const char **name, const void *kernel) {
  (void)kernel;
  return *name = fake.kernel ? fake.kernel : "f", say("cudaFuncGetName");
}
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel) {
  (void)kernel;
  memset(attributes, 0, sizeof *attributes);
  return say("cudaFuncGetAttributes");
}
