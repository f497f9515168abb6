/* Watches phases in which signals are not checked: the creation of a model, the steps of a run, and its waits for other
 * ranks between steps. Reports the phase of a long start. Ends the process if the phase takes too long after a signal,
 * near the limit of the batch job, or after the failure of a rank. */
#include "cli/run/watch.h"

#include "cli/run/ranks.h"
#include "engine/run/startup.h"
#include "engine/thread.h"
#include "engine/wall_clock.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const double quiet = 1;          /* seconds before the first line about a start */
static const double interval = 10;      /* seconds between such lines */
static const double start_patience = 1; /* seconds: a start that ends so soon after a signal is saved */
static const double step_patience = 15; /* seconds for a step after a signal; batch systems kill after twice that */
/* seconds for a start or step after the failure of another rank, and for a wait between steps near the limit */
static const double rank_patience = 5;
static const double step_word = 2;                 /* seconds after which a pending step is reported */
static const double settle = 10;                   /* seconds for outputs that are being written */
static const double look_every = 0.2;              /* seconds between two checks */
static const double device_patience[] = {300, 20}; /* shortest limit of a device call in seconds: one rank, several */

struct cli_watch {
  cli_watched on;
  pthread_t thread;
  pthread_mutex_t lock;      /* protects `over`; held while the process ends */
  int ended;                 /* an eventfd, readable once `over` is set */
  double begin, said, asked; /* asked: time at which a request to stop was first seen; INFINITY: none */
  double failed;             /* time at which a failed rank was first seen; INFINITY: none */
  unsigned waits;            /* run->waits at the last look */
  double waits_seen;         /* time at which it was first seen */
  sim_call_watch calls;
  bool over, told;
};

/* Whether the run must stop. A warning near a known limit does not count: the run stops in time itself. */
static bool asked_to_stop(const cli_watch *w, double now) {
  if (cli_requests.stop) return true;
  return cli_requests.warning && !(w->on.limit - now <= SIM_WARNING_LEAD);
}

_Noreturn static void leave(cli_watch *w, sim_status status, const char *message) {
  sim_log(SIM_LOG_ERROR, "%s", message);
  w->on.stopped(w->on.context, status, message);
  cli_ranks_leave_now(sim_status_exit_code(status));
  if (status == SIM_ERR_STOPPED && cli_signals_which() == SIGINT) cli_signals_end_by(SIGINT);
  _exit(sim_status_exit_code(status));
}

/* Appends to the message of a run that is given up from where it can continue. */
static void say_where(const cli_watch *w, char *message, size_t capacity) {
  const size_t used = strlen(message);
  if (w->on.run && w->on.run->checkpoint_step >= 0)
    snprintf(message + used, capacity - used,
             "; a step was abandoned: the run continues from its checkpoint of step %lld",
             (long long)w->on.run->checkpoint_step);
  else
    snprintf(message + used, capacity - used, "; nothing was saved: run the same command again");
}

/* ---- a device that does not finish its work ---- */

/* Ends the process if the device does not finish its work. All ranks are told at once. The thread that waits for the
 * device never returns from its call. */
static void look_at_device(cli_watch *w) {
  sim_call_found found;
  char message[sizeof sim_error_last()->message] = "", host[64] = "";
  if (!sim_call_watch_look(&w->calls, look_every, &found) || !sim_call_give_up(&found)) return;
  const sim_comm *comm = w->on.comm ? w->on.comm : &sim_comm_alone;
  comm->ops->abandon(comm, SIM_ERR_DEVICE, found.text);
  if (w->on.device_alone) {
    cli_ranks_leave_now(sim_status_exit_code(SIM_ERR_DEVICE));
    _exit(sim_status_exit_code(SIM_ERR_DEVICE));
  }
  if (w->on.run) sim_run_settle(w->on.run, settle);
  (void)gethostname(host, sizeof host - 1);
  if (comm->size > 1)
    snprintf(message, sizeof message, "rank %d on %s: %s", comm->rank, host, found.text);
  else
    snprintf(message, sizeof message, "%s", found.text);
  say_where(w, message, sizeof message);
  leave(w, SIM_ERR_DEVICE, message);
}

/* ---- ranks: in a long step a rank does not notice that another one has failed ---- */

static void look_at_ranks(cli_watch *w, double now) {
  const sim_status failed = sim_comm_check(w->on.comm);
  if (failed == SIM_OK) return;
  char message[sizeof sim_error_last()->message];
  w->failed = fmin(w->failed, now);
  if (now - w->failed < rank_patience || (w->on.run && !sim_run_give_up(w->on.run, settle))) return;
  snprintf(message, sizeof message, "%.800s", sim_error_last()->message);
  say_where(w, message, sizeof message);
  leave(w, failed, message);
}

/* ---- start: the folder contains nothing of the run yet ---- */

static void look_at_start(cli_watch *w, double now) {
  char message[512];
  double share;
  const char *what = sim_startup_phase(&share);
  if (!what) what = "making the model";
  if (now - w->said >= interval) {
    if (isnan(share))
      sim_log(SIM_LOG_INFO, "starting: %s, %.0f s", what, now - w->begin);
    else
      sim_log(SIM_LOG_INFO, "starting: %s, %.0f %%, %.0f s", what, 100 * share, now - w->begin);
    w->said = now;
    if (w->on.starting) w->on.starting(w->on.context, what);
  }
  const bool late = now >= w->on.limit - w->on.margin;
  if (!late && now - w->asked < start_patience) return;
  snprintf(message, sizeof message, "stopped before the first step, while %s%s: nothing was saved; %s", what,
           late ? ", because the limit of the job is near" : "",
           late ? "give the job more time" : "run the same command again");
  leave(w, SIM_ERR_STOPPED, message);
}

/* ---- steps ---- */

static void look_at_steps(cli_watch *w, double now) {
  char message[512];
  sim_run *run = w->on.run;
  const bool late = now >= w->on.limit - 0.5 * w->on.margin; /* the run's own margin was not sufficient */
  const unsigned waits = atomic_load(&run->waits);
  if (waits != w->waits) w->waits_seen = now;
  w->waits = waits;
  if (isinf(w->asked) && !late) return;
  if (!w->told && now - w->asked >= step_word) {
    w->told = true;
    sim_log(SIM_LOG_INFO, "stop requested: waiting up to %.0f s for the end of the step", step_patience);
  }
  /* a step counts from the request, a wait between steps, also of the last checkpoint, from its own beginning */
  if (waits % 2 && now - w->waits_seen < (late ? rank_patience : step_patience)) return;
  if (!late && now - w->asked < step_patience) return;
  if (!sim_run_give_up(run, settle)) return;
  const char *why = late ? "the limit of the job is near" : "it did not end in time";
  if (run->checkpoint_step < 0)
    snprintf(message, sizeof message, "a step was abandoned because %s: nothing was saved; %s", why,
             late ? "give the job more time" : "run the same command again");
  else
    snprintf(message, sizeof message,
             "a step was abandoned because %s: the run continues from its checkpoint of step %lld", why,
             (long long)run->checkpoint_step);
  leave(w, SIM_ERR_STOPPED, message);
}

/* ---- the thread ---- */

/* Waits with poll, which follows the kernel's monotonic clock: setting the time of day does not disturb the watch. */
static void wait_a_little(cli_watch *w) {
  struct pollfd ended = {.fd = w->ended, .events = POLLIN};
  pthread_mutex_unlock(&w->lock);
  (void)poll(&ended, 1, (int)(look_every * 1e3));
  pthread_mutex_lock(&w->lock);
}

static void *watch(void *context) {
  cli_watch *w = context;
  pthread_mutex_lock(&w->lock);
  while (!w->over) {
    wait_a_little(w);
    const double now = sim_wall_clock();
    if (w->over) break;
    look_at_device(w);
    if (w->on.device_alone) continue;
    if (asked_to_stop(w, now)) w->asked = fmin(w->asked, now);
    look_at_ranks(w, now);
    if (w->on.run)
      look_at_steps(w, now);
    else
      look_at_start(w, now);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

sim_status cli_watch_begin(const cli_watched *watched, cli_watch **out) {
  cli_watch *w = *out = calloc(1, sizeof *w);
  if (!w) return sim_no_memory("the watch of a run");
  w->on = *watched;
  w->begin = sim_wall_clock();
  sim_call_watch_begin(&w->calls, device_patience[w->on.comm && w->on.comm->size > 1], w->on.step);
  if (w->calls.misread && !w->on.run && !w->on.device_alone && w->on.comm) /* at the start only */
    sim_log(SIM_LOG_WARN, "SIM_DEVICE_TIMEOUT = \"%.64s\" is no number of seconds: ignored",
            getenv("SIM_DEVICE_TIMEOUT"));
  if (!w->on.run && !w->on.device_alone) sim_startup(NULL, 0, 0);
  w->said = w->begin + quiet - interval;
  w->asked = w->failed = INFINITY;
  pthread_mutex_init(&w->lock, NULL);
  w->ended = eventfd(0, EFD_CLOEXEC);
  const int error = w->ended < 0 ? errno : sim_thread_create(&w->thread, NULL, watch, w);
  if (!error) return SIM_OK;
  if (w->ended >= 0) (void)close(w->ended);
  pthread_mutex_destroy(&w->lock);
  free(w);
  *out = NULL;
  return sim_fail(SIM_ERR_NO_MEMORY, "the thread that watches a run cannot start: %s (ulimit -u)", strerror(error));
}

void cli_watch_end(cli_watch *w) {
  if (!w) return;
  pthread_mutex_lock(&w->lock);
  w->over = true;
  pthread_mutex_unlock(&w->lock);
  (void)!write(w->ended, &(uint64_t){1}, sizeof(uint64_t));
  pthread_join(w->thread, NULL);
  (void)close(w->ended);
  pthread_mutex_destroy(&w->lock);
  free(w);
}
