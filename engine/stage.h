/* A state that lies in a device, on its way to the sinks: one block there that a snapshot's arrays are copied to
 * between two steps, and one mirror on the host, of the whole state. */
#ifndef SIM_ENGINE_STAGE_H
#define SIM_ENGINE_STAGE_H

#include "engine/model.h"

typedef struct sim_stage {
  const sim_backend *backend;
  void *device, *host;
  size_t device_bytes, host_bytes;
  sim_array arrays[SIM_ARRAYS_MAX];
  sim_species species[SIM_SPECIES_MAX];
  sim_frame frame; /* of host arrays, in the mirror */
} sim_stage;

/* Adds what a stage will take, from the plan's snapshot_bytes, staged_bytes and checkpoint_bytes; nothing where the
 * backend has no queue. After sim_model.plan. */
void sim_stage_plan(const sim_backend *backend, sim_plan *plan);

/* For states as large as this one and as their arrays have room for; taken anew where one has grown beyond that.
 * SIM_ERR_NO_MEMORY. */
sim_status sim_stage_create(const sim_backend *backend, const sim_frame *view, sim_stage *out) SIM_MUST_CHECK;
void sim_stage_destroy(sim_stage *stage); /* and zeroes it */

/* Makes stage->frame show the state that `view` shows, as it is at this point of the queue. `whole`: every array; waits
 * for them. Else those of SIM_OUTPUT alone, and without waiting: they are there after backend->left. Nobody looks at
 * the frame while it changes. */
sim_status sim_stage_take(sim_stage *stage, const sim_frame *view, bool whole) SIM_MUST_CHECK;

#endif
