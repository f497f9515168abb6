/* The only time loop: clock, cadences, sinks, external requests, limits. */
#ifndef SIM_ENGINE_RUN_H
#define SIM_ENGINE_RUN_H

#include "engine/model.h"
#include "engine/run/sink.h"

#include <stdatomic.h>

/* Set by signal handlers and watching threads, read between steps: lock-free atomics. */
typedef struct sim_requests {
  atomic_int stop;       /* finish the step, checkpoint, SIM_ERR_STOPPED */
  atomic_int warning;    /* the same, unless the run knows that its limit is near and stops in time */
  atomic_int checkpoint; /* write a checkpoint and continue */
} sim_requests;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "signal handlers set them");

/* Progress of a run at the time of the call. */
typedef struct sim_progress {
  sim_clock clock;
  int64_t first_step;  /* first step of this process */
  double fraction;     /* of t_end */
  double elapsed, eta; /* seconds of this process; eta NaN while unknown */
  double rate;         /* work of the model a second */
  double health;       /* last value of the SIM_HEALTH column; NaN: no such column */
  const char *health_name;
} sim_progress;

/* A warning within this many seconds of a known limit does not stop the run: `--signal=USR1@60` of Slurm comes up to
 * a minute early, and the run's own margin is shorter. An earlier warning means something else, such as preemption. */
enum { SIM_WARNING_LEAD = 150 };

typedef struct sim_run {
  const sim_model *model;
  const sim_backend *backend;     /* of the model */
  const sim_comm *comm;           /* NULL: one rank */
  const sim_table *const *tables; /* of this run; NULL: the model's */
  const sim_expr *stop_when;      /* of sim_common; NULL: none */
  void *self;
  sim_clock clock;
  int64_t lost; /* snapshots and slices that could not be written; final after the loop */
  bool ended;   /* stop_when holds: no more steps. Set by the loop, or by the caller for a saved state */
  bool resumed; /* continued from a checkpoint: no first outputs */
  double work_per_step;
  sim_sink *sinks;
  size_t sink_count;
  sim_requests *requests; /* `checkpoint` is reset when read; NULL: no requests */
  double wall_limit;      /* seconds from now; INFINITY: none */
  double wall_asked;      /* limit given by the user, from the start of the process; for messages */
  bool wall_reserve;      /* stop earlier by the time of two checkpoints, one step and a margin */
  void (*progress)(void *context, const sim_progress *progress);
  void *progress_context;
  double progress_interval; /* seconds */

  /* results */
  sim_progress last;
  char digest[33];           /* of the final state */
  int64_t checkpoint_step;   /* newest good checkpoint; -1: none */
  double checkpoint_t;       /* its time; 0: none */
  double checkpoint_seconds; /* duration of the slowest so far; initially an estimate */

  /* private to the loop */
  struct sim_outputs *outputs;
  atomic_int computing; /* see sim_run_give_up */
} sim_run;

/* Makes steps until t_end, or until stop_when holds: SIM_OK. Stopped early with a checkpoint: SIM_ERR_STOPPED. Of
 * several ranks all make the same steps and outputs, with as many sinks of the same cadences; wall_limit and progress
 * are rank 0's. SIM_ERR_INTERNAL where ranks end with different states.
 * Outputs that could not be written by the end: SIM_ERR_IO. Errors of the model and device as they are. */
sim_status sim_run_loop(sim_run *run) SIM_MUST_CHECK;

/* Ends the loop from another thread while a model computes a step or observables and reads no requests. Waits at
 * most `seconds` until the enqueued outputs are written, and sets checkpoint_step and checkpoint_t. The loop never
 * continues: end the process. Returns false if nothing is being computed. */
bool sim_run_give_up(sim_run *run, double seconds);
/* The same of a loop that cannot continue, wherever it is: waits for outputs, and sets checkpoint_step and
 * checkpoint_t. From another thread. */
void sim_run_settle(sim_run *run, double seconds);
/* computing.c: called around steps and observables by the loop and its outputs. After sim_run_compute_give_up, which
 * returns false if the loop does not compute, sim_run_compute_end does not return. */
void sim_run_compute_begin(sim_run *run);
void sim_run_compute_end(sim_run *run);
bool sim_run_compute_give_up(sim_run *run);

/* Whether an output of this cadence is due in (before, now]. A function of the two clocks alone. */
bool sim_cadence_due(const sim_cadence *cadence, const sim_clock *before, const sim_clock *now);

#endif
