/* Profile of a run: ranges of the host, kernels and copies of a device. In builds with GPU code external profilers see
 * the ranges (NVTX); after sim_profile_start they are also recorded here, for a table and a trace. */
#ifndef SIM_ENGINE_PROFILE_H
#define SIM_ENGINE_PROFILE_H

#include "engine/memory/bytes.h"
#include "engine/device/kernel.h"

#include <stdbool.h>

/* Begin and end a range of the host, on any thread; ranges nest. `name` is a string literal. Nearly free without a
 * profile. */
void sim_profile_range_begin(const char *name);
void sim_profile_range_end(void);

/* Starts recording; from the main thread. */
void sim_profile_start(void);
bool sim_profile_on(void);
double sim_profile_now(void); /* seconds since the start */
/* Frees the records. */
void sim_profile_stop(void);

typedef enum sim_profile_track { SIM_TRACK_STEPS, SIM_TRACK_COPIES } sim_profile_track;

/* A kernel or copy that a device has completed; `kernel` is a static object. */
typedef struct sim_profile_event {
  const sim_kernel *kernel;
  sim_profile_track track;
  double begin, seconds; /* begin: as sim_profile_now */
  double amount;         /* amount of work as in sim_cuda_end */
} sim_profile_event;
void sim_profile_add(const sim_profile_event *event);
/* Sets the device's nominal limits, per second: limits[sim_limit]. */
void sim_profile_limits(const double limits[SIM_LIMITS]);

/* Appends a table: kernels (calls, time, share, rate and limit), then ranges. Finish the queue first. */
void sim_profile_table(sim_bytes *out);
/* Appends the first 200000 events in the Trace Event Format (Perfetto, chrome://tracing); the table counts all
 * events. */
void sim_profile_trace(sim_bytes *out);

#endif
