/* A sink: one output of a run (snapshots, tables or checkpoints). It reads the state and never changes it. */
#ifndef SIM_ENGINE_SINK_H
#define SIM_ENGINE_SINK_H

#include "engine/frame.h"

#include <stdbool.h>

typedef enum sim_sink_kind { SIM_SINK_SNAPSHOT, SIM_SINK_TABLE, SIM_SINK_CHECKPOINT } sim_sink_kind;

/* Progress of checkpoints that are written in the background. */
typedef struct sim_saved {
  int64_t step;   /* step of the newest checkpoint; -1: none yet */
  double t;       /* its time */
  double seconds; /* duration of the slowest one */
  bool under_way; /* further checkpoints are being written */
  bool failed;    /* the last completed one failed */
} sim_saved;

typedef struct sim_sink {
  const char *name; /* for messages */
  sim_sink_kind kind;
  sim_cadence cadence;
  void *self;
  /* Writes one frame. A failure is reported, and the sink is called again when next due; the second failed checkpoint
   * in a row ends the run with SIM_ERR_IO. Table sinks get rows, possibly without arrays; snapshot sinks get the arrays
   * with SIM_IN_SNAPSHOT, checkpoint sinks those without SIM_NO_CHECKPOINT. Only one thread at a time calls it, not
   * always the same one. */
  sim_status (*write)(void *self, const sim_frame *frame);
  /* Whether all ranks write this frame together and exchange bytes in `write`: the thread of the loop then calls write,
   * on every rank in the same order. Returns the same on all ranks. NULL: never. */
  bool (*together)(const void *self, const sim_frame *frame);
  /* Flushes written data to disk; called from time to time and at the end. Files become durable in the order in which
   * they were written, so that a checkpoint needs no flush before it. A failure is logged, unless the sink writes in
   * the background (`saved`, `failures`) and has logged it itself. May be NULL. */
  sim_status (*flush)(void *self);
  /* At the end of a run, before the last flush: writes the final form of the files. May be NULL. */
  sim_status (*finish)(void *self);
  /* Progress of checkpoints written in the background; any thread. NULL: write makes them durable. */
  void (*saved)(void *self, sim_saved *out);
  /* For snapshot sinks that write in the background: number of failed files, after flush. NULL: write reports
   * failures. */
  int64_t (*failures)(void *self);
  void (*destroy)(void **self);
  /* private to the time loop */
  int64_t lost;                    /* snapshots that could not be written */
  bool write_failed, flush_failed; /* the last write or flush failed */
  char why[256];                   /* message of that failure */
  double last_wall;                /* wall-clock time at which the sink was last due */
} sim_sink;

#endif
