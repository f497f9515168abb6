/* Watches the making of a model, which may take long and looks at no signals: says what it does, and ends it. */
#include "cli/prepare.h"

#include "engine/startup.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const double quiet = 1;     /* seconds before the first line */
static const double interval = 10; /* seconds between lines */
static const double patience = 1;  /* seconds for a start that is nearly over: the run then saves its state */
static const double look = 0.2;    /* seconds between two looks */

struct cli_startup {
  pthread_t thread;
  pthread_mutex_t lock; /* of `over`; held while the process ends */
  pthread_cond_t ended;
  io_folder **folder;
  bool over;
};

static void say(double now, double begin) {
  double share;
  const char *what = sim_startup_phase(&share);
  if (!what) what = "making the model";
  if (isnan(share))
    sim_log(SIM_LOG_INFO, "starting: %s, %.0f s", what, now - begin);
  else
    sim_log(SIM_LOG_INFO, "starting: %s, %.0f %%, %.0f s", what, 100 * share, now - begin);
}

/* Nothing of the run is in its folder yet. */
static void end(const cli_startup *s) {
  double share;
  const char *what = sim_startup_phase(&share);
  sim_log(SIM_LOG_ERROR, "stopped before the first step, while %s: nothing was saved; run the same command again",
          what ? what : "making the model");
  io_folder_abandon(s->folder);
  if (cli_signals_which() == SIGINT) cli_signals_end_by(SIGINT);
  _exit(sim_status_exit_code(SIM_ERR_STOPPED));
}

static void wait_a_little(cli_startup *s) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += (long)(look * 1e9);
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  (void)pthread_cond_timedwait(&s->ended, &s->lock, &until);
}

static void *watch(void *context) {
  cli_startup *s = context;
  const double begin = sim_wall_clock();
  double said = begin + quiet - interval, asked = INFINITY;
  pthread_mutex_lock(&s->lock);
  while (!s->over) {
    wait_a_little(s);
    const double now = sim_wall_clock();
    if (cli_requests.stop) asked = fmin(asked, now);
    if (!s->over && now - said >= interval) {
      say(now, begin);
      said = now;
    }
    if (!s->over && now - asked >= patience) end(s);
  }
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

cli_startup *cli_startup_begin(io_folder **folder) {
  cli_startup *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->folder = folder;
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->ended, NULL);
  sim_startup(NULL, 0, 0);
  if (pthread_create(&s->thread, NULL, watch, s) == 0) return s;
  pthread_cond_destroy(&s->ended);
  pthread_mutex_destroy(&s->lock);
  free(s);
  return NULL;
}

void cli_startup_end(cli_startup *s) {
  if (!s) return;
  pthread_mutex_lock(&s->lock);
  s->over = true;
  pthread_cond_signal(&s->ended);
  pthread_mutex_unlock(&s->lock);
  pthread_join(s->thread, NULL);
  pthread_cond_destroy(&s->ended);
  pthread_mutex_destroy(&s->lock);
  free(s);
}
