/* The only time loop of all models: clock, cadences, sinks, external requests, limits. */
#ifndef SIM_ENGINE_RUN_H
#define SIM_ENGINE_RUN_H

#include "engine/model.h"
#include "engine/run/sink.h"

#include <stdatomic.h>

/* Requests to a run, set by signal handlers and watching threads and read between steps: lock-free atomics. */
typedef struct sim_requests {
  atomic_int stop;       /* finish the step, checkpoint, SIM_ERR_STOPPED */
  atomic_int warning;    /* the same, unless the run knows that its time limit is near and stops in time */
  atomic_int checkpoint; /* write a checkpoint and continue */
} sim_requests;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "signal handlers set them");

/* Progress of a run at the time of the call. */
typedef struct sim_progress {
  sim_clock clock;
  int64_t first_step;  /* step at which this process began */
  double fraction;     /* of t_end, 0 to 1 */
  double elapsed, eta; /* seconds of this process; eta NaN while unknown */
  double rate;         /* work in the model's unit per second */
  double health;       /* last value of the SIM_HEALTH column; NaN: no such column */
  const char *health_name;
  bool health_error; /* it is an error: SIM_DISPLAY_ERROR */
} sim_progress;

/* A warning within this many seconds of a known limit does not stop the run: `--signal=USR1@60` of Slurm may come a
 * minute early, and the run stops later with a shorter margin. An earlier warning means preemption or the like. */
enum { SIM_WARNING_LEAD = 150 };

typedef struct sim_run {
  const sim_model *model;
  const sim_backend *backend;     /* where the model runs */
  const sim_comm *comm;           /* NULL: one rank */
  const sim_table *const *tables; /* tables of this run; NULL: the model's */
  const sim_expr *stop_when;      /* stop_when of sim_common; NULL: none */
  void *self;
  sim_clock clock;
  int64_t lost; /* snapshots and slices that could not be written; final after the loop */
  bool ended;   /* stop_when holds: no more steps. Set by the loop, or by the caller for a restored state */
  bool resumed; /* continued from a checkpoint: nothing is written before the first step */
  bool direct;  /* sinks are called by the loop itself: their outputs take no time, as in memory, and no thread */
  double work_per_step;
  sim_sink *sinks;
  size_t sink_count;
  sim_requests *requests; /* `checkpoint` is reset when read; NULL: none are possible */
  double wall_limit;      /* seconds from the start of the loop; INFINITY: none */
  double wall_asked;      /* limit that the user gave, from the start of the process; for messages */
  bool wall_reserve;      /* stop earlier, by the time of two checkpoints, one step and a margin */
  void (*progress)(void *context, const sim_progress *progress);
  void *progress_context;
  double progress_interval; /* seconds */

  /* results */
  sim_progress last;
  char digest[33];           /* digest of the final state */
  bool differ;               /* ranks ended with different states: no file of this run can be trusted */
  int64_t checkpoint_step;   /* step of the newest good checkpoint; -1: none */
  double checkpoint_t;       /* its time; 0: none */
  double checkpoint_seconds; /* duration of the slowest checkpoint so far; initially an estimate */

  /* private to the loop */
  struct sim_outputs *outputs;
  atomic_int computing; /* see sim_run_give_up */
  atomic_uint waits;    /* begun and ended waits for other ranks between two steps; odd: in a wait */
} sim_run;

/* Makes steps until t_end, or until stop_when holds: SIM_OK. Stopped early with a checkpoint: SIM_ERR_STOPPED. Several
 * ranks all make the same steps and outputs, with as many sinks of the same cadences; wall_limit and progress of rank 0
 * count. SIM_ERR_INTERNAL if ranks end with different states, SIM_ERR_IO if outputs could not be written by the end;
 * errors of the model and the device as they are. */
sim_status sim_run_loop(sim_run *run) SIM_MUST_CHECK;

/* Ends the loop from another thread while a model computes a step or observables, or waits for other ranks before an
 * output or at the end, and so reads no requests. Waits at most `seconds` until the enqueued outputs are written, and
 * sets checkpoint_step and checkpoint_t. The loop never continues: end the process. Returns false if nothing is being
 * computed or waited for. */
bool sim_run_give_up(sim_run *run, double seconds);
/* The same for a loop that cannot continue, whatever it does: waits for outputs, and sets checkpoint_step and
 * checkpoint_t. Call it from another thread. */
void sim_run_settle(sim_run *run, double seconds);
/* In computing.c. The loop and its outputs call compute_begin and compute_end around steps and observables, and
 * wait_begin and wait_end around waits for other ranks between steps; none within another. give_up returns false if the
 * loop does neither; otherwise compute_end or wait_end does not return any more. */
void sim_run_compute_begin(sim_run *run);
void sim_run_compute_end(sim_run *run);
void sim_run_wait_begin(sim_run *run);
void sim_run_wait_end(sim_run *run);
bool sim_run_compute_give_up(sim_run *run);

/* Whether an output of this cadence is due in (before, now]. Depends on the two clocks alone. */
bool sim_cadence_due(const sim_cadence *cadence, const sim_clock *before, const sim_clock *now);

#endif
