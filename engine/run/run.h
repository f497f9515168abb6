/* The only time loop: clock, cadences, sinks, requests from outside, limits. */
#ifndef SIM_ENGINE_RUN_H
#define SIM_ENGINE_RUN_H

#include "engine/model.h"
#include "engine/run/sink.h"

#include <stdatomic.h>

/* Set by signal handlers, read between steps, and by a thread that watches: atomic for both, without a lock. */
typedef struct sim_requests {
  atomic_int stop;       /* finish the step, checkpoint, SIM_ERR_STOPPED */
  atomic_int warning;    /* the same, unless the run knows that its limit is near and will stop in time */
  atomic_int checkpoint; /* checkpoint and go on */
} sim_requests;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "signal handlers set them");

/* What progress shows; all at the time of the call. */
typedef struct sim_progress {
  sim_clock clock;
  int64_t first_step;  /* where this process began */
  double fraction;     /* of t_end */
  double elapsed, eta; /* seconds of this process; eta NaN while unknown */
  double rate;         /* model's work a second */
  double health;       /* last value of the SIM_HEALTH column, NaN without */
  const char *health_name;
} sim_progress;

/* Seconds before a known limit within which a warning is no reason to stop: `--signal=USR1@60` of Slurm comes up to a
 * minute early, and the run's own margin is shorter. A warning before that means something else, such as preemption. */
enum { SIM_WARNING_LEAD = 150 };

typedef struct sim_run {
  const sim_model *model;
  const sim_backend *backend;     /* that the model was made with */
  const sim_table *const *tables; /* of this run; NULL: the model's */
  const sim_expr *stop_when;      /* of sim_common; NULL: none */
  void *self;
  sim_clock clock;
  int64_t lost; /* snapshots and slices that could not be written; known at the end */
  bool ended;   /* stop_when holds: no more steps. Set by the loop, or before it for a state saved so */
  bool resumed; /* the state came from a checkpoint: no first outputs */
  double work_per_step;
  sim_sink *sinks;
  size_t sink_count;
  sim_requests *requests; /* `checkpoint` is reset when it is looked at; NULL: none can come */
  double wall_limit;      /* seconds from now; INFINITY: none */
  double wall_asked;      /* the same as a user gave it, before a start that took time: for the message */
  bool wall_reserve;      /* stop earlier than that, by what the end takes: two checkpoints, a step, and a margin */
  void (*progress)(void *context, const sim_progress *progress);
  void *progress_context;
  double progress_interval; /* seconds */

  /* results */
  sim_progress last;
  char digest[33];           /* of the state at the end */
  int64_t checkpoint_step;   /* newest one that is good; -1: none */
  double checkpoint_t;       /* its time; 0 where there is none */
  double checkpoint_seconds; /* of the slowest so far; before the loop a guess */

  /* the loop's */
  struct sim_outputs *outputs;
  atomic_int computing; /* see sim_run_give_up */
} sim_run;

/* Steps until t_end, or until stop_when holds: SIM_OK; or until stopped with a checkpoint: SIM_ERR_STOPPED. Failed
 * outputs that could not be made up for until the end: SIM_ERR_IO. */
sim_status sim_run_loop(sim_run *run) SIM_MUST_CHECK;

/* Ends the loop from another thread where it computes: in the step of a model or in its observables, which look at no
 * request. Waits, for at most `seconds`, until the outputs that were handed over are written, and fills checkpoint_step
 * and checkpoint_t. From then on the loop stands still, and the process is to end. False: it does not compute now. */
bool sim_run_give_up(sim_run *run, double seconds);
/* computing.c: around a step and around observables, for the loop and its outputs. After sim_run_compute_give_up, which
 * returns false where the loop does not compute, sim_run_compute_end does not return. */
void sim_run_compute_begin(sim_run *run);
void sim_run_compute_end(sim_run *run);
bool sim_run_compute_give_up(sim_run *run);

/* Whether a cadence falls into (before, now]. A function of the two times alone, so that nothing needs storing. */
bool sim_cadence_due(const sim_cadence *cadence, const sim_clock *before, const sim_clock *now);

#endif
