/* Where the time goes: ranges of the host, kernels and copies of a device. Profilers from outside see the ranges (NVTX)
 * where there is GPU code; after sim_profile_start they are kept here too, for a table and a trace. Nothing here
 * changes a result. */
#ifndef SIM_ENGINE_PROFILE_H
#define SIM_ENGINE_PROFILE_H

#include "engine/bytes.h"
#include "engine/device/kernel.h"

#include <stdbool.h>

/* Around a piece of the host's work, on any thread; ranges nest. `name` is kept: a literal. Next to nothing while
 * nobody looks. */
void sim_profile_range_begin(const char *name);
void sim_profile_range_end(void);

/* Begins to keep what happens; from the main thread. */
void sim_profile_start(void);
bool sim_profile_on(void);
double sim_profile_now(void); /* seconds since the start */
/* Frees all that was kept. */
void sim_profile_stop(void);

typedef enum sim_profile_track { SIM_TRACK_STEPS, SIM_TRACK_COPIES } sim_profile_track;

/* One that a device has done; the kernel is kept. Any thread. */
typedef struct sim_profile_event {
  const sim_kernel *kernel;
  sim_profile_track track;
  double begin, seconds; /* begin: as sim_profile_now */
  double amount;         /* as in sim_cuda_end */
} sim_profile_event;
void sim_profile_add(const sim_profile_event *event);
/* The device's nominal limits a second: limits[sim_limit]. */
void sim_profile_limits(const double limits[SIM_LIMITS]);

/* Lines of text: kernels (calls, time, share, rate beside the limit), then ranges. After all that is queued is done. */
void sim_profile_table(sim_bytes *out);
/* The same one by one, in the Trace Event Format that Perfetto and chrome://tracing open. It keeps the first 200000
 * events; the table counts all. */
void sim_profile_trace(sim_bytes *out);

#endif
