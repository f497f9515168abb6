/* sim sweep: runs a grid of parameters in parallel on this machine. Finished runs are not repeated, and each run
 * continues from its checkpoint, so that the same command continues a sweep that was killed. */
#include "cli/run/status.h"
#include "cli/batch/sweep.h"
#include "engine/wall_clock.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { ASK_ABOVE = 1000, ARGUMENTS_MAX = 2 * AXES_MAX + 40 };
static const double most_runs = 1e7;

/* ---- the grid ---- */

static sim_status add_value(axis *a, const char *text, size_t length, size_t *room, size_t *used) {
  if (*used + length + 1 > *room) {
    *room = 2 * (*used + length + 64);
    char *more = realloc(a->text, *room);
    if (!more) return sim_no_memory("the values of %s", a->name);
    a->text = more;
  }
  memcpy(a->text + *used, text, length);
  a->text[*used + length] = '\0';
  *used += length + 1;
  a->count++;
  return SIM_OK;
}

/* Parses a range of integers "1..8"; false if it is not a range. */
static bool parse_range(const char *text, size_t length, long long *first, long long *last) {
  char copy[64], *end;
  if (length >= sizeof copy) return false;
  memcpy(copy, text, length);
  copy[length] = '\0';
  *first = strtoll(copy, &end, 10);
  if (end == copy || strncmp(end, "..", 2) != 0) return false;
  const char *at = end + 2;
  *last = strtoll(at, &end, 10);
  return end != at && !*end;
}

/* Parses a list such as "a,b,1..8". */
static sim_status parse_values(axis *a, const char *option, const char *list) {
  size_t room = 0, used = 0;
  for (const char *at = list;; at++) {
    size_t length = strcspn(at, ",");
    long long first, last;
    if (length == 0) return sim_fail(SIM_ERR_USAGE, "%s: a value is missing in '%s'", option, list);
    if (!parse_range(at, length, &first, &last)) {
      SIM_TRY(add_value(a, at, length, &room, &used));
    } else {
      if (last < first) return sim_fail(SIM_ERR_USAGE, "%s: %lld..%lld has no value", option, first, last);
      if ((double)last - (double)first >= most_runs)
        return sim_fail(SIM_ERR_USAGE, "%s: more than %.0f values", option, most_runs);
      for (long long i = first; i <= last; i++) {
        char text[32];
        SIM_TRY(add_value(a, text, (size_t)snprintf(text, sizeof text, "%lld", i), &room, &used));
      }
    }
    at += length;
    if (!*at) break;
  }
  a->value = calloc(a->count, sizeof *a->value);
  if (!a->value) return sim_no_memory("the values of %s", a->name);
  char *at = a->text;
  for (size_t i = 0; i < a->count; i++, at += strlen(at) + 1) a->value[i] = at;
  return SIM_OK;
}

static sim_status parse_axes(sweep *s) {
  const cli_options *o = s->job->options;
  double runs = 1;
  for (const char *const *set = o->sets; *set; set++) {
    if (s->axis_count == AXES_MAX) return sim_fail(SIM_ERR_USAGE, "a sweep over more than %d parameters", AXES_MAX);
    axis *a = &s->axes[s->axis_count++];
    const char *equals = strchr(*set, '=');
    snprintf(a->name, sizeof a->name, "%.*s", (int)(equals - *set), *set);
    char option[sizeof a->name + 8];
    snprintf(option, sizeof option, "--set %s", a->name);
    SIM_TRY(parse_values(a, option, equals + 1));
  }
  if (o->seed_given) {
    if (s->axis_count == AXES_MAX) return sim_fail(SIM_ERR_USAGE, "a sweep over more than %d parameters", AXES_MAX);
    axis *a = &s->axes[s->axis_count++];
    snprintf(a->name, sizeof a->name, "seed");
    a->seed = true;
    SIM_TRY(parse_values(a, "--seed", o->seed_text));
  }
  for (size_t i = 0; i < s->axis_count; i++) runs *= (double)s->axes[i].count;
  if (s->axis_count == 0)
    return sim_fail(SIM_ERR_USAGE, "a sweep without parameters: give --set NAME=A,B,C, --set NAME=1..8 or --seed 1..8");
  if (runs > most_runs) return sim_fail(SIM_ERR_USAGE, "a sweep of %.3g runs: at most %.0f", runs, most_runs);
  if (runs > ASK_ABOVE && !o->yes) return sim_fail(SIM_ERR_USAGE, "a sweep of %.0f runs: confirm it with --yes", runs);
  s->runs = (size_t)runs;
  return SIM_OK;
}

/* ---- the scenario with the first and the last values ---- */

static sim_status try_run(sweep *s, size_t run) {
  static cli_options options;
  static char sets[AXES_MAX][4096];
  cli_job *job = s->job;
  options = *job->options;
  size_t count = 0;
  options.seed_given = false;
  for (size_t i = 0; i < s->axis_count; i++) {
    const char *value = cli_sweep_value(s, run, i);
    if (s->axes[i].seed) {
      options.seed_given = true;
      SIM_TRY(cli_parse_seed(value, &options.seed));
      continue;
    }
    snprintf(sets[count], sizeof sets[count], "%s=%s", s->axes[i].name, value);
    options.sets[count] = sets[count];
    count++;
  }
  options.sets[count] = NULL;
  const cli_options *given = job->options;
  job->options = &options;
  sim_status status = cli_prepare_scenario(job);
  if (status == SIM_OK) status = cli_prepare_device(job);
  if (status == SIM_OK) status = cli_prepare_memory(job);
  if (status == SIM_OK) status = cli_prepare_duration(job);
  job->options = given;
  return status;
}

/* Checks all seeds, so that no run starts, and no script is printed, with a seed that a run would refuse. */
static sim_status check_seeds(const sweep *s) {
  uint64_t seed;
  for (size_t i = 0; i < s->axis_count; i++)
    for (size_t k = 0; s->axes[i].seed && k < s->axes[i].count; k++)
      SIM_TRY(cli_parse_seed(s->axes[i].value[k], &seed));
  return SIM_OK;
}

/* Tries the first run. If the scenario has no sim.param named "seed", --set seed=... means --seed. */
static sim_status try_first(sweep *s) {
  SIM_TRY(check_seeds(s));
  sim_status status = try_run(s, 0);
  axis *seed = NULL;
  for (size_t i = 0; i < s->axis_count; i++)
    if (strcmp(s->axes[i].name, "seed") == 0 && !s->axes[i].seed) seed = &s->axes[i];
  if (status != SIM_ERR_USAGE || !seed || s->job->options->seed_given) return status;
  seed->seed = true;
  SIM_TRY(check_seeds(s));
  cli_prepare_again(s->job);
  return try_run(s, 0);
}

/* Chooses the number of parallel runs and their threads: uses all cores, one run per GPU, within the memory. */
static sim_status share(sweep *s) {
  const cli_job *job = s->job;
  const cli_options *o = job->options;
  const char *limit;
  int cores = cli_scheduler_cores(&job->scheduler, 0, 1, false, &limit);
  const sim_space space = job->setup.backend->space;
  if (space == SIM_SPACE_DEVICE)
    s->gpus = strcmp(o->device, "auto") == 0 || strcmp(o->device, "cuda") == 0 ? cli_gpus() : 1;
  double each = sim_plan_bytes(&job->plan, SIM_SPACE_HOST) + job->resident;
  double fit = floor(0.9 * (double)sim_backend_cpu.memory_free() / each);
  double jobs = o->jobs > 0 ? o->jobs : s->gpus > 0 ? s->gpus : o->threads > 0 ? fmax(1, cores / o->threads) : cores;
  if (o->jobs == 0) jobs = fmax(1, fmin(jobs, fit));
  if (o->jobs > 0 && jobs > fit) {
    char text[32];
    cli_bytes(each, text, sizeof text);
    return sim_fail(SIM_ERR_NO_MEMORY, "--jobs %d: a run takes %s, and memory holds %.0f of them", o->jobs, text, fit);
  }
  s->jobs = o->only > 0 ? 1 : (size_t)fmin(jobs, (double)s->runs); /* a single run gets all cores */
  s->threads = o->threads > 0 ? o->threads : cores / (int)s->jobs > 1 ? cores / (int)s->jobs : 1;
  return SIM_OK;
}

/* ---- one run ---- */

static void arguments(const sweep *s, size_t run, char *const texts[4], const char *argv[ARGUMENTS_MAX],
                      char sets[AXES_MAX][4224], size_t slot) {
  const cli_options *o = s->job->options;
  size_t n = 0;
  argv[n++] = "sim";
  argv[n++] = "run";
  argv[n++] = o->target;
  for (size_t i = 0; i < s->axis_count; i++) {
    argv[n++] = s->axes[i].seed ? "--seed" : "--set";
    if (s->axes[i].seed)
      snprintf(sets[i], sizeof sets[i], "%s", cli_sweep_value(s, run, i));
    else
      snprintf(sets[i], sizeof sets[i], "%s=%s", s->axes[i].name, cli_sweep_value(s, run, i));
    argv[n++] = sets[i];
  }
  cli_sweep_folder(s, run, texts[0]);
  snprintf(texts[1], 64, "%d", s->threads);
  const bool named = s->gpus > 1 && cli_gpu((int)slot % s->gpus, texts[2]);
  snprintf(texts[3], 64, "%g", o->lua_seconds);
  argv[n++] = "-o";
  argv[n++] = texts[0];
  argv[n++] = "--resume=auto";
  argv[n++] = "--no-progress";
  argv[n++] = "--threads";
  argv[n++] = texts[1];
  argv[n++] = "--lua-seconds";
  argv[n++] = texts[3];
  argv[n++] = "--device";
  argv[n++] = named ? texts[2] : o->device;
  if (o->precision) argv[n++] = "--precision", argv[n++] = o->precision;
  if (o->isa_given) argv[n++] = "--isa", argv[n++] = sim_isa_name(o->isa);
  if (o->wall_text) argv[n++] = "--wall", argv[n++] = o->wall_text;
  argv[n] = NULL;
}

static sim_status start(const sweep *s, size_t run, size_t slot, pid_t *child) {
  static char sets[AXES_MAX][4224], folder[4200], threads[64], device[CLI_GPU_NAME], lua[64];
  char *const texts[4] = {folder, threads, device, lua};
  const char *argv[ARGUMENTS_MAX];
  int log;
  SIM_TRY(cli_sweep_log(s, run, &log));
  arguments(s, run, texts, argv, sets, slot);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log, 1);
  posix_spawn_file_actions_adddup2(&actions, log, 2);
  posix_spawnattr_t attributes; /* own process group: Ctrl-C reaches only the sweep, which stops its runs */
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  int error = posix_spawn(child, "/proc/self/exe", &actions, &attributes, (char *const *)(uintptr_t)argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  (void)close(log);
  return error ? sim_fail(SIM_ERR_IO, "cannot start a run: %s", strerror(error)) : SIM_OK;
}

static bool is_done(const sweep *s, size_t run) {
  char folder[4200];
  cli_status status;
  cli_sweep_folder(s, run, folder);
  bool done = cli_status_read(folder, &status) == SIM_OK && strcmp(status.state, "done") == 0;
  sim_error_clear();
  return done;
}

/* ---- all runs ---- */

typedef struct slot {
  pid_t child; /* 0: no run */
  size_t run;
  double begin;
} slot;

typedef struct tally {
  size_t skipped, done, stopped, failed;
  int code; /* exit code of the first failed run */
} tally;

static void say_end(const sweep *s, const slot *at, int code, tally *t) {
  char took[32], what[512] = "";
  size_t used = 0;
  for (size_t i = 0; i < s->axis_count && used < sizeof what; i++)
    used +=
        (size_t)snprintf(what + used, sizeof what - used, " %s=%s", s->axes[i].name, cli_sweep_value(s, at->run, i));
  cli_duration(sim_wall_clock() - at->begin, took, sizeof took);
  const bool stopped = code == sim_status_exit_code(SIM_ERR_STOPPED) ||
                       (cli_requests.stop && code == 128 + SIGTERM); /* stopped by the sweep before it began */
  if (code == 0)
    t->done++;
  else if (stopped)
    t->stopped++;
  else if (t->failed++ == 0)
    t->code = code;
  const char *word = code == 0 ? "done" : stopped ? "stopped" : "failed";
  cli_say("run_%04zu%s: %s in %s%s", at->run + 1, what, word, took, code == 0 ? "" : " (see logs/)");
}

static void collect(const sweep *s, slot *slots, tally *t, size_t *running) {
  for (size_t k = 0; k < s->jobs; k++) {
    int end;
    if (slots[k].child == 0 || waitpid(slots[k].child, &end, WNOHANG) != slots[k].child) continue;
    say_end(s, &slots[k], WIFEXITED(end) ? WEXITSTATUS(end) : 128 + WTERMSIG(end), t);
    slots[k].child = 0;
    --*running;
  }
}

/* Waits for a run that an earlier, killed sweep has left. */
static void wait_for_other(const sweep *s, size_t run) {
  char folder[4200];
  cli_sweep_folder(s, run, folder);
  if (io_folder_held(folder)) cli_say("run_%04zu is still running from an earlier sweep: waiting for it", run + 1);
  while (io_folder_held(folder) && !cli_requests.stop) nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

static void tell(const sweep *s, const slot *slots, int signal) {
  for (size_t k = 0; k < s->jobs; k++)
    if (slots[k].child != 0) kill(slots[k].child, signal);
}

static sim_status run_all(const sweep *s, size_t first, size_t last, tally *t) {
  const cli_options *o = s->job->options;
  slot *slots = calloc(s->jobs, sizeof *slots);
  if (!slots) return sim_no_memory("%zu runs at once", s->jobs);
  size_t next = first, running = 0;
  bool told = false;
  sim_status status = SIM_OK;
  while (running > 0 || (next < last && status == SIM_OK && !cli_requests.stop)) {
    for (size_t k = 0; k < s->jobs && next < last && status == SIM_OK && !cli_requests.stop; k++) {
      if (slots[k].child != 0) continue;
      while (next < last && (status = cli_sweep_own(s, next)) == SIM_OK && is_done(s, next)) next++, t->skipped++;
      if (next == last || status != SIM_OK) break;
      wait_for_other(s, next);
      slots[k] = (slot){0, next++, sim_wall_clock()};
      status = start(s, slots[k].run, k, &slots[k].child);
      if (status == SIM_OK) running++;
    }
    collect(s, slots, t, &running);
    /* A run that knows the job's limit handles a warning itself; after one has stopped because of it, no other is
     * started. */
    const bool warned = cli_requests.warning != 0;
    if (warned) cli_requests.warning = 0;
    if (warned && o->wall_auto) tell(s, slots, SIGUSR1);
    if (o->wall_auto ? t->stopped > 0 : warned) cli_requests.stop = 1;
    if (cli_requests.stop && !told) tell(s, slots, SIGTERM);
    told = cli_requests.stop != 0;
    if (running > 0) nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  }
  free(slots);
  return status;
}

static sim_status summary(const sweep *s, const tally *t) {
  cli_say("%zu run%s: %zu done%s, %zu stopped, %zu failed; %.4000s/sweep.csv", s->runs, s->runs == 1 ? "" : "s",
          t->done + t->skipped, t->skipped > 0 ? " (some before)" : "", t->stopped, t->failed, s->folder);
  if (t->failed > 0) {
    sim_status status = SIM_ERR_INTERNAL;
    for (sim_status i = 0; i < SIM_STATUS_COUNT; i++)
      if (sim_status_exit_code(i) == t->code) status = i;
    if (t->code > 128)
      return sim_fail(SIM_ERR_STOPPED, "%s: %zu of the runs were killed; the same command continues it", s->folder,
                      t->failed);
    return sim_fail(status, "%s: %zu of the runs failed, the first with exit %d", s->folder, t->failed, t->code);
  }
  if (t->stopped > 0 || cli_requests.stop)
    return sim_fail(SIM_ERR_STOPPED, "%s: the same command continues it", s->folder);
  return SIM_OK;
}

sim_status cli_sweep_run(cli_job *job) {
  const cli_options *o = job->options;
  static sweep s;
  s = (sweep){.job = job, .folder = job->output, .root = -1, .logs = -1};
  tally t = {0};
  sim_status status = parse_axes(&s);
  if (status == SIM_OK && (o->only < 0 || (size_t)o->only > s.runs))
    status = sim_fail(SIM_ERR_USAGE, "--only %d: the sweep has the runs 1 to %zu", o->only, s.runs);
  if (status == SIM_OK) status = try_first(&s);
  if (status == SIM_OK) status = cli_prepare_output(job, ".sweep");
  if (status == SIM_OK && s.runs > 1) {
    cli_prepare_again(job);
    status = try_run(&s, s.runs - 1);
  }
  if (status == SIM_OK) status = share(&s);
  if (status == SIM_OK && o->script) {
    status = cli_script_print(job, s.runs);
  } else if (status == SIM_OK) {
    const size_t first = o->only > 0 ? (size_t)o->only - 1 : 0, last = o->only > 0 ? (size_t)o->only : s.runs;
    status = cli_sweep_open(&s);
    if (status == SIM_OK)
      cli_say("%zu run%s, %zu at once with %d thread%s each, in %s", last - first, last - first == 1 ? "" : "s", s.jobs,
              s.threads, s.threads == 1 ? "" : "s", s.folder);
    if (status == SIM_OK) status = run_all(&s, first, last, &t);
    if (status == SIM_OK) status = cli_sweep_write(&s);
    if (status == SIM_OK) status = summary(&s, &t);
  }
  cli_sweep_close(&s);
  for (size_t i = 0; i < s.axis_count; i++) {
    free(s.axes[i].text);
    free(s.axes[i].value);
  }
  return status;
}
