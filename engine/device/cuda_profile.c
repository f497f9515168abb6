/* Times of kernels and copies: a pair of events around each, from a ring. Pairs are read once they are complete, so
 * that the host waits only when the ring is full. */
#include "engine/device/cuda_parts.h"

#include "engine/device/calls.h"

#include <cuda_runtime_api.h>

enum { PAIRS = 2048, ROOM = PAIRS - 2 }; /* the last pair that was read must stay: it is the time origin of the next */

typedef struct pair {
  cudaEvent_t begin, end;
  const sim_kernel *kernel;
  sim_profile_track track;
  double amount;
} pair;

static struct {
  bool made, broken;
  pair pairs[PAIRS];
  size_t first, count; /* pairs not yet read */
  cudaEvent_t origin;  /* an event that was already read */
  double origin_at;    /* time of `origin`, as sim_profile_now */
} ring;

/* Records an error, which ends the profile; the run's own calls return it too. Returns whether the profile has
 * ended. */
static bool broke(cudaError_t error, const char *call) {
  if (sim_cuda_failed((int)error, call, "profile")) ring.broken = true;
  return ring.broken;
}

static void make(cudaStream_t stream) {
  ring.made = true;
  for (size_t i = 0; i < PAIRS; i++)
    if (broke(cudaEventCreate(&ring.pairs[i].begin), "cudaEventCreate") ||
        broke(cudaEventCreate(&ring.pairs[i].end), "cudaEventCreate"))
      return;
  ring.origin = ring.pairs[PAIRS - 1].begin;
  if (broke(cudaEventRecord(ring.origin, stream), "cudaEventRecord")) return;
  if (broke(cudaEventSynchronize(ring.origin), "cudaEventSynchronize")) return;
  ring.origin_at = sim_profile_now();
  int device;
  double limits[SIM_LIMITS];
  if (broke(cudaGetDevice(&device), "cudaGetDevice")) return;
  sim_cuda_limits(device, limits);
  sim_profile_limits(limits);
}

/* Reads the oldest pair; false if it is not complete and `wait` is false. */
static bool read_one(bool wait) {
  pair *p = &ring.pairs[ring.first];
  if (wait) sim_cuda_call_begin(SIM_CALL_WAITS, "cudaEventSynchronize");
  cudaError_t error = wait ? cudaEventSynchronize(p->end) : cudaEventQuery(p->end);
  if (wait) sim_call_end();
  if (error == cudaErrorNotReady) {
    (void)cudaGetLastError(); /* an event that is not complete is no error */
    return false;
  }
  /* in ms, from a recent event: times since the start of the profile would lose their last digits */
  float since = 0, took = 0;
  if (broke(error, "cudaEventSynchronize")) return false;
  if (broke(cudaEventElapsedTime(&since, ring.origin, p->begin), "cudaEventElapsedTime")) return false;
  if (broke(cudaEventElapsedTime(&took, p->begin, p->end), "cudaEventElapsedTime")) return false;
  ring.origin = p->begin;
  ring.origin_at += 1e-3 * (double)since;
  sim_profile_event event = {p->kernel, p->track, ring.origin_at, 1e-3 * (double)took, p->amount};
  sim_profile_add(&event);
  ring.first = (ring.first + 1) % PAIRS;
  ring.count--;
  return true;
}

void sim_cuda_profile_gather(bool all) {
  while (!ring.broken && ring.count && read_one(all)) {}
}

void sim_cuda_profile_begin(void *stream) {
  if (!ring.made) make(stream);
  if (ring.count > ROOM / 2) sim_cuda_profile_gather(false);
  while (!ring.broken && ring.count == ROOM && read_one(true)) {}
  if (ring.broken) return;
  (void)broke(cudaEventRecord(ring.pairs[(ring.first + ring.count) % PAIRS].begin, stream), "cudaEventRecord");
}

void sim_cuda_profile_end(void *stream, const sim_kernel *kernel, sim_profile_track track, double amount) {
  if (ring.broken) return;
  pair *p = &ring.pairs[(ring.first + ring.count) % PAIRS];
  p->kernel = kernel;
  p->track = track;
  p->amount = amount;
  if (!broke(cudaEventRecord(p->end, stream), "cudaEventRecord")) ring.count++;
}
