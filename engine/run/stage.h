/* Staging buffers of outputs: a copy of the state in host memory that later steps do not change. A state on a device is
 * first copied to a second block of device memory, between two steps. If ranks divide the state (sim_frame.divided),
 * rank 0 stages the whole state, and the other ranks their parts. */
#ifndef SIM_ENGINE_STAGE_H
#define SIM_ENGINE_STAGE_H

#include "engine/digest.h"
#include "engine/model.h"

/* Stages of a run: stage 0 for whole states (checkpoints), the others for snapshots. Stages beyond SIM_STAGES_FIRST are
 * allocated when a step would otherwise wait for a free stage. */
enum { SIM_STAGES_FIRST = 8, SIM_STAGES_MAX = SIM_MARKS };

typedef struct sim_stage {
  const sim_backend *backend;
  const sim_comm *comm; /* ranks of the run; NULL: one */
  bool whole;           /* has room for all arrays; else for those with SIM_IN_SNAPSHOT */
  int mark;             /* mark in the queue after the copies into this stage */
  void *device, *host;  /* device: NULL where no array lies in device memory; host is pageable memory then */
  size_t device_bytes, host_bytes;
  bool pinned; /* the host memory is the backend's, else the CPU's */
  sim_array arrays[SIM_ARRAYS_MAX];
  bool undivided[SIM_ARRAYS_MAX]; /* of each array: every rank has the whole */
  /* On several ranks, of each array that every rank has whole: the digests of its blocks, computed as it was copied
   * into a whole state; else NULL. */
  const sim_block_digest *blocks[SIM_ARRAYS_MAX];
  sim_block_digest *block; /* all of them, one array after another; NULL on one rank, and in a stage for snapshots */
  sim_species species[SIM_SPECIES_MAX];
  sim_frame frame; /* the staged state; its arrays are in host memory */
} sim_stage;

/* Most stages of a run with snapshots of this size: more stages for smaller snapshots, so that a burst of snapshots
 * delays no step. At most 64 MiB in all (256 MiB for the first stages); 1 without snapshots. */
int sim_stage_count(double snapshot_bytes, bool snapshots);

/* Adds the memory of the stages to the plan, computed from its sizes of snapshots and checkpoints; call after
 * sim_model.plan. `snapshots`, `checkpoints`: whether the run writes any. */
void sim_stage_plan(const sim_backend *backend, const sim_comm *comm, bool snapshots, bool checkpoints, sim_plan *plan);

/* Allocates a stage for states of the size of `view`, or of the arrays' `room` if that is larger. sim_stage_copy
 * enlarges it if a state has grown further. SIM_ERR_NO_MEMORY. */
sim_status sim_stage_create(const sim_backend *backend, const sim_comm *comm, const sim_frame *view, bool whole,
                            int mark, sim_stage *out) SIM_MUST_CHECK;
void sim_stage_destroy(sim_stage *stage); /* frees and zeroes it */

/* Copies the state in `view`, as it is at this point of the queue, to stage->frame. With `whole`: all arrays, complete
 * on return; else the arrays with SIM_IN_SNAPSHOT, complete after sim_stage_wait. If ranks divide the state, all ranks
 * call it. */
sim_status sim_stage_copy(sim_stage *stage, const sim_frame *view, bool whole) SIM_MUST_CHECK;
/* Waits for the copies of the last sim_stage_copy; from any thread. SIM_ERR_DEVICE. */
sim_status sim_stage_wait(const sim_stage *stage) SIM_MUST_CHECK;

#endif
