#include "cli/cli.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

sim_requests cli_requests;
static atomic_int which; /* also read by the watching thread */

static void on_stop(int n) {
  which = n;
  cli_requests.stop = 1;
}

/* Slurm's --signal: the job's limit is near, or the job is preempted; the run distinguishes the two. */
static void on_warning(int n) {
  which = n;
  cli_requests.warning = 1;
}

/* Handles SIGINT: a second one ends the process. One within a second does not count, as launchers often send the same
 * signal twice, to the program and to its group. */
static void on_interrupt(int n) {
  static struct timespec first;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!cli_requests.stop) first = now;
  double passed = (double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec);
  if (cli_requests.stop && passed > 1) cli_signals_end_by(n);
  on_stop(n);
}

static void on_checkpoint(int n) {
  (void)n;
  cli_requests.checkpoint = 1;
}

static void handle(int n, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigemptyset(&action.sa_mask);
  sigaction(n, &action, NULL);
}

static bool ignored(int n) {
  struct sigaction action;
  return sigaction(n, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void cli_signals_install(void) {
  handle(SIGTERM, on_stop, SA_RESTART);
  handle(SIGUSR1, on_warning, SA_RESTART);
  if (!ignored(SIGHUP)) handle(SIGHUP, on_stop, SA_RESTART); /* under nohup it stays ignored */
  if (!ignored(SIGINT)) handle(SIGINT, on_interrupt, SA_RESTART);
  handle(SIGUSR2, on_checkpoint, SA_RESTART);
  handle(SIGPIPE, SIG_IGN, 0);
  handle(SIGXFSZ, SIG_IGN, 0);
}

int cli_signals_which(void) { return which; }

void cli_signals_end_by(int n) {
  sigset_t only;
  handle(n, SIG_DFL, 0);
  kill(getpid(), n);
  sigemptyset(&only); /* the signal is blocked inside its own handler */
  sigaddset(&only, n);
  sigprocmask(SIG_UNBLOCK, &only, NULL);
}
