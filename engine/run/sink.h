/* An output: it sees the state, never changes it. */
#ifndef SIM_ENGINE_SINK_H
#define SIM_ENGINE_SINK_H

#include "engine/frame.h"

#include <stdbool.h>

typedef enum sim_sink_kind { SIM_SINK_SNAPSHOT, SIM_SINK_TABLE, SIM_SINK_CHECKPOINT } sim_sink_kind;

/* Checkpoints that became durable behind the run. */
typedef struct sim_saved {
  int64_t step;   /* of the newest; -1: none yet */
  double t;       /* its time */
  double seconds; /* that the slowest took */
  bool under_way; /* there are others that are not durable yet */
  bool failed;    /* the last one that is not under way did */
} sim_saved;

typedef struct sim_sink {
  const char *name; /* for messages */
  sim_sink_kind kind;
  sim_cadence cadence;
  void *self;
  /* A failed write is reported, and tried again when next due; the run goes on, but ends with SIM_ERR_IO at the second
   * checkpoint in a row that fails. Rows reach table sinks only, which may be shown no arrays; others may be shown
   * those alone that are theirs: of SIM_IN_SNAPSHOT, or of a checkpoint. All sinks are called by one thread at a time,
   * not always by the same. */
  sim_status (*write)(void *self, const sim_frame *frame);
  /* Makes what was written durable; called now and then, and at the end. Files become durable in the order in which
   * they are written, so that a checkpoint needs no flush before it. May be NULL. */
  sim_status (*flush)(void *self);
  /* At the end of a run, before the last flush: brings what others read into its last form. May be NULL. */
  sim_status (*finish)(void *self);
  /* Of checkpoints that become durable behind the run; from any thread. NULL: what was written is durable. */
  void (*saved)(void *self, sim_saved *out);
  /* Of snapshots: files that failed behind the run, so far; called after flush. NULL: what failed was told by write. */
  int64_t (*failures)(void *self);
  void (*destroy)(void **self);
  /* kept by the run loop */
  int64_t lost;                    /* snapshots that write failed with */
  bool write_failed, flush_failed; /* the last one did */
  char why[256];                   /* and what was said then */
  double last_wall;                /* when it was last due */
} sim_sink;

#endif
