/* A state on its way to the sinks: a copy on the host that the next steps leave alone. Where the state lies in a device
 * there is a block beside it, that a snapshot's arrays are copied to between two steps. */
#ifndef SIM_ENGINE_STAGE_H
#define SIM_ENGINE_STAGE_H

#include "engine/model.h"

/* Stages of a run: one for whole states, as checkpoints need them, and some for snapshots. Those beyond
 * SIM_STAGES_FIRST are made when the steps would have to wait for one. */
enum { SIM_STAGES_FIRST = 8, SIM_STAGES_MAX = SIM_MARKS };

typedef struct sim_stage {
  const sim_backend *backend;
  bool whole; /* has room for all arrays; else for those of SIM_IN_SNAPSHOT */
  int mark;   /* the backend's, of the copies into this stage */
  void *device, *host;
  size_t device_bytes, host_bytes;
  sim_array arrays[SIM_ARRAYS_MAX];
  sim_species species[SIM_SPECIES_MAX];
  sim_frame frame; /* of host arrays, in the mirror */
} sim_stage;

/* The most that a run has whose snapshots take so many bytes: the more the smaller they are, so that a burst of
 * snapshots holds no step. Within 64 MiB in all, or for the first ones within 256 MiB; 1 where no snapshot is due. */
int sim_stage_count(double snapshot_bytes, bool snapshots);

/* Adds what the stages will take, from the plan's bytes of snapshots and checkpoints. After sim_model.plan;
 * `snapshots`, `checkpoints`: some will be due. */
void sim_stage_plan(const sim_backend *backend, bool snapshots, bool checkpoints, sim_plan *plan);

/* For states as large as this one and as their arrays have room for; taken anew where one has grown beyond that.
 * SIM_ERR_NO_MEMORY. */
sim_status sim_stage_create(const sim_backend *backend, const sim_frame *view, bool whole, int mark,
                            sim_stage *out) SIM_MUST_CHECK;
void sim_stage_destroy(sim_stage *stage); /* and zeroes it */

/* Makes stage->frame show the state that `view` shows, as it is at this point of the queue. `whole`: every array; waits
 * for them. Else those of SIM_IN_SNAPSHOT alone, and without waiting: they are there after sim_stage_wait. Nobody looks
 * at the frame while it changes. */
sim_status sim_stage_take(sim_stage *stage, const sim_frame *view, bool whole) SIM_MUST_CHECK;
/* Waits for what sim_stage_take began; from any thread. SIM_ERR_DEVICE. */
sim_status sim_stage_wait(const sim_stage *stage) SIM_MUST_CHECK;

#endif
