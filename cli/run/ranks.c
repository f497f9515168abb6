#include "cli/run/ranks.h"

#include "cli/run/launcher.h"
#include "cli/run/status.h"
#include "engine/comm/forked.h"
#include "engine/comm/heartbeat.h"
#include "engine/wall_clock.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RANK_VARIABLE "SIM_RANK" /* in a started rank: "RANK:DESCRIPTOR" */

static sim_comm comm;
static struct {
  int rank, size;
} sharing; /* for ranks of a launcher: rank and size among those that share cores with this one */
const sim_comm *cli_comm(void) { return comm.size > 0 ? &comm : &sim_comm_alone; }
bool cli_ranks_started(void) { return comm.size > 0; }

static const int passed_on[] = {SIGTERM, SIGHUP, SIGINT, SIGUSR1, SIGUSR2};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };

static void add_passed_on(sigset_t *set) {
  for (int i = 0; i < PASSED_ON; i++) sigaddset(set, passed_on[i]);
}

/* ---- a started rank ---- */

sim_status cli_ranks_attach(void) {
  const char *text = getenv(RANK_VARIABLE);
  int rank, descriptor;
  if (!text) return SIM_OK;
  if (sscanf(text, "%d:%d", &rank, &descriptor) != 2)
    return sim_fail(SIM_ERR_USAGE, RANK_VARIABLE " is set by sim --ranks: unset it");
  const sim_status attached = sim_forked_attach(descriptor, rank, &comm);
  if (attached == SIM_ERR_USAGE)
    return sim_fail(SIM_ERR_USAGE, RANK_VARIABLE " = \"%s\" is not what sim --ranks sets: unset it", text);
  if (rank > 0) cli_terminal_mute();
  SIM_TRY(attached);
  unsetenv(RANK_VARIABLE);
  sigset_t set; /* unblocks signals; those passed on until now have waited for the handlers */
  sigemptyset(&set);
  add_passed_on(&set);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  return SIM_OK;
}

static bool run_over; /* cli_ranks_end has told the other ranks how the run ended here */

sim_status cli_ranks_end(sim_status status) {
  const sim_error cause = *sim_error_last();
  uint64_t most;
  if (comm.size == 0) return status;
  run_over = true;
  if (status != SIM_OK && status != SIM_ERR_STOPPED) {
    comm.ops->abandon(&comm, status, cause.message);
    if (sim_mpi_given_up(&comm)) cli_terminal_mute(); /* another rank has reported the failure */
    return status;
  }
  const sim_status met = sim_comm_agree(&comm, 0, &most);
  const bool whole = status == SIM_OK && comm.rank == 0 && !sim_mpi_is(&comm); /* all files are written */
  if (met != SIM_OK && !whole) return met;
  sim_forked_end(&comm);
  return status == SIM_OK ? SIM_OK : sim_fail_at(status, cause.file, cause.line, "%s", cause.message);
}

/* ---- ranks of a launcher ---- */

static bool json; /* messages are JSON */

static bool asked_to_stop(void) { return cli_requests.stop || cli_requests.warning; }

static atomic_bool spoken; /* a failure has been reported, or is being reported */

bool cli_ranks_speak(void) { return !atomic_exchange(&spoken, true); }

/* Called before this rank is ended because it does not stop after a failure, or is to stop before it has joined the
 * others. Reports that, unless the main thread is reporting it and then ends all processes. */
static void on_lost(sim_status status, const char *message) {
  if (!cli_ranks_speak()) {
    (void)nanosleep(&(struct timespec){.tv_sec = 5}, NULL);
    return;
  }
  cli_terminal_unmute();
  cli_report(status, message, json);
  if (status == SIM_ERR_STOPPED && cli_signals_which() == SIGINT) cli_signals_end_by(SIGINT);
}

/* Called if the MPI library does not end this process in time. */
static void on_alarm(int n) {
  (void)n;
  _exit(sim_status_exit_code(SIM_ERR_RANK));
}

/* Counts the ranks of this host that share at least one core with this rank. */
static sim_status find_sharing(void) {
  cpu_set_t own, both, *cores = malloc((size_t)comm.size * sizeof own);
  if (!cores) return sim_no_memory("the ranks");
  CPU_ZERO(&own);
  (void)sched_getaffinity(0, sizeof own, &own);
  const sim_status status = comm.ops->gather(&comm, &own, sizeof own, cores);
  sharing.size = sharing.rank = 0;
  for (int r = 0; r < comm.size && status == SIM_OK; r++) {
    CPU_AND(&both, &own, &cores[r]);
    if (r != comm.rank && (!sim_mpi_same_host(&comm, r, comm.rank) || CPU_COUNT(&both) == 0)) continue;
    sharing.rank += r < comm.rank;
    sharing.size++;
  }
  free(cores);
  return status;
}

bool cli_ranks_launched(void) { return sim_mpi_is(&comm); }

void cli_ranks_cores(const sim_comm *ranks, int *rank, int *size) {
  const bool launched = sim_mpi_is(ranks);
  *rank = launched ? sharing.rank : ranks->host_rank;
  *size = launched ? sharing.size : ranks->host_size;
}

/* Returns why a command does not make one run of a launcher's processes; NULL: it does. */
static const char *refusal(cli_command command) {
  if (command == CLI_SWEEP)
    return "start sim sweep alone: it runs as many runs side by side as there are cores and GPUs";
  if (command == CLI_BENCH) return "start sim bench alone: it starts all processes that it measures";
  return NULL;
}

sim_status cli_ranks_join(const cli_options *options, bool *done) {
  const cli_launcher launcher = cli_launcher_find();
  const cli_command command = options->command;
  const bool makes_run = command == CLI_RUN || command == CLI_RESUME;
  const bool refused = refusal(command) && !options->script;
  const bool joins = launcher.size > 1 && (makes_run || command == CLI_CHECK);
  const bool silent = launcher.rank > 0 && cli_launcher_lives(); /* one process prints for all */
  *done = false;
  if (joins && silent && (options->gpus > 0 || options->ranks > 1)) cli_terminal_mute();
  if (joins && options->gpus > 0)
    return sim_fail(SIM_ERR_USAGE,
                    "--gpus %d in one of %d processes of %s: its processes are the ranks, each with a GPU of its own; "
                    "leave out --gpus",
                    options->gpus, launcher.size, launcher.name);
  if (joins && options->ranks > 1)
    return sim_fail(SIM_ERR_USAGE,
                    "--ranks %d in one of %d processes of %s: its processes are the ranks; leave out --ranks, or give "
                    "--ranks 1 for runs of their own",
                    options->ranks, launcher.size, launcher.name);
  const bool own_ranks = options->ranks > 0 && command != CLI_BENCH;
  if (launcher.size <= 1 || own_ranks || !(makes_run || refused || command == CLI_CHECK)) return SIM_OK;
  if (silent) cli_terminal_mute();
  *done = command == CLI_CHECK && silent;
  if (refused)
    return sim_fail(SIM_ERR_USAGE, "%s has started %d processes of sim %s: %s", launcher.name, launcher.size,
                    command == CLI_SWEEP ? "sweep" : "bench", refusal(command));
  if (!makes_run) return SIM_OK;
  json = options->log_json;
  (void)signal(SIGALRM, on_alarm);
  SIM_TRY(cli_mpi_join(&launcher, on_lost, asked_to_stop, &comm));
  if (comm.rank > 0) cli_terminal_mute(); /* also where the launcher is not seen */
  SIM_TRY(cli_ranks_compare(options, &comm));
  return find_sharing();
}

void cli_ranks_text(char *out, size_t capacity) {
  const int hosts = sim_mpi_hosts(&comm);
  if (sim_mpi_is(&comm))
    snprintf(out, capacity, "%d ranks on %d host%s, by %s", comm.size, hosts, hosts == 1 ? "" : "s", cli_mpi_joined());
  else
    snprintf(out, capacity, "%d ranks on this host, by shared memory", comm.size);
}

/* Prints the failure of a mute rank. */
static void speak_alone(int rank, sim_status status) {
  const sim_error *error = sim_error_last();
  char host[64] = "", message[sizeof error->message];
  (void)gethostname(host, sizeof host - 1);
  snprintf(message, sizeof message, "rank %d on %s: %.900s", rank, host, error->message);
  cli_terminal_unmute();
  cli_report(status, message, json);
}

/* The end of a process that fails before it has joined the others. Mostly all fail alike, and the first of all prints
 * the reason: mute processes go later, the first of their host before the others, and print theirs if no process before
 * them fails. Open MPI's launcher ends all processes once one has failed, and loses what it has not passed on. */
static void let_line_pass(sim_status status) {
  const cli_launcher launcher = cli_launcher_find();
  const struct timespec moment = {.tv_nsec = 300000000};
  const bool ends_all = launcher.family && strcmp(launcher.family, "openmpi") == 0;
  if (launcher.size <= 1 || !(ends_all || cli_terminal_muted())) return;
  if (cli_terminal_muted()) {
    (void)nanosleep(&(struct timespec){.tv_sec = cli_launcher_first_of_host() ? 2 : 3}, NULL);
    if (status == SIM_ERR_STOPPED || !*sim_error_last()->message || !cli_launcher_fails_alone(&launcher)) return;
    speak_alone(launcher.rank, status);
  }
  (void)nanosleep(&moment, NULL);
}

/* A failure between joining and the run: the other ranks wait for this one in an exchange. */
static void tell_early(sim_status status) {
  const sim_error cause = *sim_error_last();
  if (run_over) return;
  if (sim_mpi_tells(&comm))
    comm.ops->abandon(&comm, status, cause.message);
  else if (cli_terminal_muted())
    speak_alone(comm.rank, status);
}

void cli_ranks_leave(sim_status status, bool in_json) {
  const int code = sim_status_exit_code(status);
  json = in_json;
  if (!sim_mpi_is(&comm)) {
    if (code != 0) let_line_pass(status);
    if (cli_ranks_started() && code != 0 && status != SIM_ERR_STOPPED) {
      (void)fflush(stdout);
      _exit(code); /* NCCL and the driver may wait for the lost rank when they are taken down */
    }
    return;
  }
  if (code != 0 && code != sim_status_exit_code(SIM_ERR_STOPPED)) {
    tell_early(status);
    sim_mpi_abort(&comm, code);
  }
  const sim_status left = sim_mpi_detach(&comm);
  if (left == SIM_OK) return;
  cli_report(left, sim_error_last()->message, json);
  sim_mpi_abort(&comm, sim_status_exit_code(left));
}

void cli_ranks_leave_now(int code) {
  if (sim_mpi_is(&comm)) sim_mpi_abort(&comm, code);
}

/* ---- the starting process ---- */

static const double patience = 20;     /* seconds after a failure until the other ranks are killed */
static const double end_patience = 3;  /* the same after the end of rank 0: the other ranks have nothing to save */
static const double short_silence = 5; /* seconds without a sign of life, once the run must stop or a rank has failed */

typedef struct launch {
  sim_forked *forked;
  pid_t ranks[SIM_RANKS_MAX]; /* 0: the rank has ended */
  pid_t first;                /* process of rank 0 once it has ended; else 0 */
  int size, left;
  int how[SIM_RANKS_MAX]; /* wait status of each rank */
  bool interrupted;       /* stopped by SIGINT */
  bool early;             /* rank 0 ended before the run, with an exit code that does not tell so */
  bool stopping;          /* a signal that ends the run was passed on */
  double end;             /* time by which all ranks must have ended; INFINITY: no failure yet */
  sim_heartbeat heartbeat;
} launch;

/* In the new process: becomes a rank. The signals that may be passed on stay blocked until it has handlers
 * (cli_ranks_attach). It dies with the starting process, as then no process would tell the others of its end. */
_Noreturn static void become_rank(const launch *l, int rank, pid_t parent, const sigset_t *before, char **argv) {
  char text[32];
  sigset_t blocked = *before;
  add_passed_on(&blocked);
  snprintf(text, sizeof text, "%d:%d", rank, sim_forked_descriptor(l->forked));
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && setenv(RANK_VARIABLE, text, 1) == 0 &&
      sigprocmask(SIG_SETMASK, &blocked, NULL) == 0)
    (void)execv("/proc/self/exe", argv);
  _exit(sim_status_exit_code(SIM_ERR_INTERNAL));
}

/* Whether a rank has ended without a failure before its run was over (a library that calls exit): it has told no
 * one. */
static bool is_early(const launch *l, int rank, int how) {
  if (!WIFEXITED(how) || sim_forked_ended(l->forked, rank)) return false;
  const bool gave_up = sim_forked_failure(l->forked) == SIM_ERR_STOPPED; /* it has reported why */
  return WEXITSTATUS(how) == 0 || (WEXITSTATUS(how) == sim_status_exit_code(SIM_ERR_STOPPED) && !gave_up);
}

static void note_end(launch *l, int rank, int how) {
  char message[96];
  const bool early = is_early(l, rank, how);
  if (rank == 0) l->first = l->ranks[0];
  if (rank == 0) l->early = early;
  l->ranks[rank] = 0;
  l->how[rank] = how;
  l->left--;
  if (WIFSIGNALED(how)) {
    snprintf(message, sizeof message, "was killed by signal %d (%s)", WTERMSIG(how), strsignal(WTERMSIG(how)));
    const bool stopped = l->interrupted || WTERMSIG(how) == SIGINT; /* agreed by all ranks before */
    sim_forked_fail(l->forked, rank, stopped ? SIM_ERR_STOPPED : SIM_ERR_RANK, message);
  } else if (early) {
    snprintf(message, sizeof message, "ended with exit code %d before the end of the run", WEXITSTATUS(how));
    sim_forked_fail(l->forked, rank, SIM_ERR_RANK, message);
  } else if (WEXITSTATUS(how) == sim_status_exit_code(SIM_ERR_NO_MEMORY)) { /* unless it sent a better one */
    snprintf(message, sizeof message, "got no memory or no thread at its start (ulimit -u, ulimit -v)");
    sim_forked_fail(l->forked, rank, SIM_ERR_NO_MEMORY, message);
  } else if (WEXITSTATUS(how) != 0 && WEXITSTATUS(how) != sim_status_exit_code(SIM_ERR_STOPPED)) {
    snprintf(message, sizeof message, "ended with exit code %d", WEXITSTATUS(how));
    sim_forked_fail(l->forked, rank, SIM_ERR_RANK, message);
  }
  if (sim_forked_failure(l->forked) == SIM_OK) return;
  const double now = sim_wall_clock(), end = now + (l->ranks[0] > 0 ? patience : end_patience);
  if (isinf(l->end) || rank == 0) l->end = fmin(l->end, end);
}

static void reap(launch *l) {
  int how;
  for (pid_t ended; (ended = waitpid(-1, &how, WNOHANG)) > 0;)
    for (int r = 0; r < l->size; r++)
      if (l->ranks[r] == ended) note_end(l, r, how);
}

static void kill_all(const launch *l) {
  for (int r = 0; r < l->size; r++)
    if (l->ranks[r] > 0) (void)kill(l->ranks[r], SIGKILL);
}

/* Kills ranks that give no sign of life: stopped (SIGSTOP), or not run by the system. Nothing else can end them. */
static void kill_silent(launch *l) {
  uint64_t words[SIM_RANKS_MAX];
  char message[96];
  sim_forked_words(l->forked, words);
  sim_heartbeat_look(&l->heartbeat, words, sim_wall_clock());
  const double usual = sim_heartbeat_limit();
  for (int r = 0; r < l->size; r++) {
    const double silence = sim_heartbeat_silence(&l->heartbeat, r);
    const bool ending = l->stopping || !isinf(l->end);
    if (l->ranks[r] == 0 || silence <= (ending ? fmin(short_silence, usual) : usual)) continue;
    snprintf(message, sizeof message, "gave no sign of life for %.0f s and was killed", silence);
    sim_forked_fail(l->forked, r, SIM_ERR_RANK, message);
    (void)kill(l->ranks[r], SIGKILL);
  }
}

static void wait_for_ranks(launch *l, const sigset_t *signals) {
  const struct timespec second = {.tv_sec = 1};
  sim_heartbeat_begin(&l->heartbeat, l->size, sim_wall_clock());
  for (reap(l); l->left > 0; reap(l)) {
    const int n = sigtimedwait(signals, NULL, &second);
    if (sim_wall_clock() > l->end) kill_all(l);
    kill_silent(l);
    if (n <= 0 || n == SIGCHLD) continue;
    l->interrupted |= n == SIGINT;
    l->stopping |= n != SIGUSR1 && n != SIGUSR2;
    if (l->ranks[0] > 0) (void)kill(l->ranks[0], n);
  }
}

/* For rank 0 that was killed or ended early: releases its lock, and fails with the message that rank 0 could not
 * print. */
static sim_status stand_in(const launch *l, const cli_options *options) {
  static cli_job job; /* only for the path of its folder */
  job.options = options;
  sim_status status = sim_forked_failure(l->forked);
  if (status == SIM_OK) status = sim_fail(SIM_ERR_RANK, "rank 0 was killed");
  const sim_error cause = *sim_error_last();
  if (options->command == CLI_RESUME)
    snprintf(job.output, sizeof job.output, "%s", options->target);
  else if (cli_prepare_output(&job, ".out") != SIM_OK)
    *job.output = '\0';
  io_folder_end_of(job.output, l->first);
  cli_status_fail(job.output, l->first, status, cause.message);
  return sim_fail_at(status, cause.file, cause.line, "%.700s; see why, then: sim resume %.300s", cause.message,
                     job.output);
}

/* Returns the exit code for all: that of rank 0, which knows every failure before its end; without rank 0, the
 * failure's. */
static int exit_code(const launch *l, const cli_options *options) {
  if (l->first == 0) return sim_status_exit_code(sim_forked_failure(l->forked));
  if (!WIFSIGNALED(l->how[0]) && !l->early) return WEXITSTATUS(l->how[0]);
  if (!l->early && WTERMSIG(l->how[0]) == SIGINT && l->interrupted) cli_signals_end_by(SIGINT);
  const sim_status status = stand_in(l, options);
  cli_report(status, sim_error_last()->message, options->log_json);
  return sim_status_exit_code(status);
}

/* Checks that the scenario is a regular file, which every rank reads: a pipe would give each rank a part. */
static sim_status check_file(const cli_options *options) {
  struct stat info;
  if (options->command != CLI_RUN || stat(options->target, &info) != 0 || S_ISREG(info.st_mode)) return SIM_OK;
  return sim_fail(SIM_ERR_USAGE, "--ranks %d: %s is not a regular file, and every rank reads it", options->ranks,
                  options->target);
}

int cli_ranks_launch(const cli_options *options, char **argv) {
  launch l = {.size = options->ranks, .end = INFINITY};
  sigset_t signals, before;
  const pid_t self = getpid();
  sim_status status = check_file(options);
  if (status == SIM_OK) status = sim_forked_create(l.size, &l.forked);
  if (status != SIM_OK) {
    cli_report(status, sim_error_last()->message, options->log_json);
    return sim_status_exit_code(status);
  }
  signal(SIGCHLD, SIG_DFL); /* if inherited as ignored, the ranks could not be waited for */
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  for (int i = 0; i < PASSED_ON; i++) {
    struct sigaction now;
    if (sigaction(passed_on[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&signals, passed_on[i]);
  }
  sigprocmask(SIG_BLOCK, &signals, &before);
  /* Passes on requests that came earlier. */
  if (cli_requests.stop) (void)raise(cli_signals_which());
  if (cli_requests.warning) (void)raise(SIGUSR1);
  if (cli_requests.checkpoint) (void)raise(SIGUSR2);
  for (int r = 0; r < l.size; r++, l.left++) {
    l.ranks[r] = fork();
    if (l.ranks[r] == 0) become_rank(&l, r, self, &before, argv);
    if (l.ranks[r] < 0) {
      char message[96];
      snprintf(message, sizeof message, "cannot be started: %s", strerror(errno));
      l.ranks[r] = 0;
      l.size = r;
      sim_forked_fail(l.forked, r, SIM_ERR_NO_MEMORY, message);
      l.end = sim_wall_clock() + patience;
      if (r == 0) cli_report(SIM_ERR_NO_MEMORY, message, options->log_json);
      break;
    }
  }
  wait_for_ranks(&l, &signals);
  sigprocmask(SIG_SETMASK, &before, NULL);
  const int code = exit_code(&l, options);
  sim_forked_destroy(&l.forked);
  return code;
}
