/* Streams, events and graphs. Work in a stream is done at once, by the thread that enqueues it; work that is captured
 * is done at each launch of the graph. */
#include "runtime.h"

#include <time.h>
#include <vector>

struct CUevent_st {
  bool recorded;
  double at; /* ms */
};
struct CUgraph_st {
  std::vector<std::function<void()>> work;
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> work;
};

namespace {

thread_local CUgraph_st *capture; /* of this thread */
thread_local cudaStream_t captured;

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

} // namespace

namespace emulated {

cudaError_t refused_in_capture() { return capture ? failed(cudaErrorStreamCaptureUnsupported) : cudaSuccess; }

EXPORT void enqueue(cudaStream_t stream, std::function<void()> work) {
  if (capture && stream == captured)
    capture->work.push_back(std::move(work));
  else
    work();
}

} // namespace emulated
using namespace emulated;

extern "C" {

EXPORT cudaError_t cudaDeviceSynchronize(void) { return refused_in_capture(); }
EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned, int) {
  return *stream = (cudaStream_t)malloc(1), cudaSuccess;
}
EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
EXPORT cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream) { return free((void *)stream), cudaSuccess; }
EXPORT cudaError_t cudaStreamQuery(cudaStream_t) { return refused_in_capture(); }
EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return capture && stream == captured ? failed(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}
EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  return *event = new CUevent_st(), cudaSuccess;
}
EXPORT cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event, cudaSuccess; }
EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  return event->recorded = true, event->at = now(), cudaSuccess;
}
EXPORT cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
EXPORT cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end) {
  if (!begin->recorded || !end->recorded) return failed(cudaErrorInvalidResourceHandle);
  return *ms = (float)(end->at - begin->at), cudaSuccess;
}
EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode) {
  if (capture) return failed(cudaErrorInvalidValue);
  capture = new CUgraph_st();
  captured = stream;
  return cudaSuccess;
}
EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph) {
  return *graph = std::exchange(capture, nullptr), cudaSuccess;
}
EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long) {
  return *out = new CUgraphExec_st{graph->work}, cudaSuccess;
}
EXPORT cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  for (const auto &work : graph->work) work();
  return cudaSuccess;
}
EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete graph, cudaSuccess; }
EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { return delete graph, cudaSuccess; }

} // extern "C"
