#include "cli/batch/scheduler.h"

#include "engine/wall_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <omp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* ---- the environment ---- */

static const char *set(const char *name) {
  const char *text = getenv(name);
  return text && *text ? text : NULL;
}

/* The first of these variables that is set; NULL: none. */
static const char *first_set(const char *const *names) {
  for (; *names; names++)
    if (set(*names)) return set(*names);
  return NULL;
}

/* Integer in the first of these environment variables that is set; `otherwise` if there is none or it is not an
 * integer. */
static int number(const char *const *names, int least, int otherwise) {
  const char *text = first_set(names);
  char *end;
  long n = text ? strtol(text, &end, 10) : 0;
  return text && end != text && !*end && n >= least && n <= 1000000 ? (int)n : otherwise;
}

/* Characters of job ids, which become arguments of commands. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-[]";

static const struct {
  const char *name, *job, *array, *task; /* array and task are NULL if the id contains the task */
  const char *const restart[2], *const cores[3], *const local[2];
  const char *const gpu[3], *const gpus[4]; /* gpu: lists of devices ("0": device 0); gpus: counts */
} systems[] = {
    {"Slurm",
     "SLURM_JOB_ID",
     "SLURM_ARRAY_JOB_ID",
     "SLURM_ARRAY_TASK_ID",
     {"SLURM_RESTART_COUNT"},
     {"SLURM_CPUS_PER_TASK"},
     {"SLURM_LOCALID"},
     {"SLURM_JOB_GPUS", "SLURM_STEP_GPUS"},
     {"SLURM_GPUS", "SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_TASK"}},
    {"PBS", "PBS_JOBID", NULL, NULL, {NULL}, {"NCPUS", "PBS_NUM_PPN"}, {"PBS_VNODENUM"}, {NULL}, {"PBS_NGPUS"}},
    {"LSF", "LSB_JOBID", "LSB_JOBID", "LSB_JOBINDEX", {NULL}, {"LSB_DJOB_NUMPROC"}, {NULL}, {"LSB_GPU_ALLOC_INFO"}},
    {"Grid Engine", "JOB_ID", "JOB_ID", "SGE_TASK_ID", {NULL}, {"NSLOTS"}, {NULL}, {"SGE_HGR_gpu", "SGE_HGR_GPU"}},
};
enum { SLURM, PBS, LSF, GRID_ENGINE, SYSTEMS };

cli_scheduler cli_scheduler_find(void) {
  cli_scheduler found = {.local = -1};
  for (int i = 0; i < SYSTEMS && !found.name; i++) {
    const char *job = set(systems[i].job);
    if (!job || strspn(job, plain) != strlen(job)) continue;
    if (i == GRID_ENGINE && !set("SGE_ROOT") && !set("SGE_CELL")) continue; /* JOB_ID alone is too common a name */
    const char *array = systems[i].array ? set(systems[i].array) : NULL, *task = array ? set(systems[i].task) : NULL;
    if (task && strcmp(task, "undefined") != 0 && (i == SLURM || strcmp(task, "0") != 0))
      snprintf(found.job, sizeof found.job, "%.40s_%.20s", array, task);
    else
      snprintf(found.job, sizeof found.job, "%.63s", job);
    found.name = systems[i].name;
    found.restart = number(systems[i].restart, 0, 0);
    found.cores = number(systems[i].cores, 1, 0);
    found.task = i == SLURM;
    found.local = number(systems[i].local, 0, -1);
    const char *gpus = first_set(systems[i].gpus), *visible = set("CUDA_VISIBLE_DEVICES");
    found.gpu = first_set(systems[i].gpu) || (gpus && strcmp(gpus, "0") != 0) ||
                (visible && strcmp(visible, "NoDevFiles") != 0 && strcmp(visible, "-1") != 0);
  }
  return found;
}

/* ---- time left ---- */

double cli_parse_time(const char *text) {
  double total = 0, days = 0;
  const char *dash = strchr(text, '-'), *at = text;
  char *end;
  if (dash) {
    if (*text < '0' || *text > '9' || dash - text > 5) return NAN;
    days = (double)strtoul(text, &end, 10);
    if (end != dash) return NAN;
    at = dash + 1;
  }
  int parts = 0;
  for (bool more = true; more; parts++) {
    if (*at < '0' || *at > '9' || parts == 3) return NAN;
    double part = (double)strtoul(at, &end, 10);
    if ((*end != '\0' && *end != ':') || (parts > 0 && part >= 60) || end - at > 9) return NAN;
    total = total * 60 + part;
    more = *end == ':';
    at = end + 1;
  }
  if (dash) total *= parts == 3 ? 1 : parts == 2 ? 60 : 3600; /* after days come hours: "1-12:30" */
  return total + 86400 * days;
}

bool cli_ask(char *const argv[], char *out, size_t capacity) {
  posix_spawn_file_actions_t actions;
  int ends[2], code = -1;
  pid_t child;
  if (pipe(ends) != 0) return false;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  int error = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  size_t used = 0;
  const double until = sim_wall_clock() + 15;
  bool open = error == 0;
  while (open) {
    struct pollfd wait = {.fd = ends[0], .events = POLLIN};
    int left = (int)(1000 * (until - sim_wall_clock())), ready = left > 0 ? poll(&wait, 1, left) : 0;
    if (ready < 0 && errno == EINTR) continue;
    char piece[512];
    ssize_t n = ready > 0 ? read(ends[0], piece, sizeof piece) : -1;
    if (n <= 0) {
      open = false;
      if (n < 0) kill(child, SIGKILL);
      continue;
    }
    size_t room = capacity - 1 - used, kept = (size_t)n < room ? (size_t)n : room;
    memcpy(out + used, piece, kept);
    used += kept;
  }
  out[used] = '\0';
  close(ends[0]);
  while (error == 0 && waitpid(child, &code, 0) < 0 && errno == EINTR) continue;
  return error == 0 && WIFEXITED(code) && WEXITSTATUS(code) == 0;
}

/* Copies the word that follows `key` in a text; "" if it is absent. */
static void word_after(const char *text, const char *key, char word[64]) {
  const char *at = strstr(text, key);
  at = at ? at + strlen(key) : "";
  at += strspn(at, " =\t");
  snprintf(word, 64, "%.*s", (int)strcspn(at, " ,\t\r\n"), at);
}

/* Age in seconds of this session's leader, which is the job's shell. */
static double session_age(void) {
  char path[64], text[1024];
  double up = 0;
  unsigned long long began = 0;
  snprintf(path, sizeof path, "/proc/%ld/stat", (long)getsid(0));
  FILE *file = fopen(path, "re");
  size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  text[n] = '\0';
  const char *at = strrchr(text, ')'); /* fields from the third on; field 22 is the start time in clock ticks */
  for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
  if (at) began = strtoull(at + 1, NULL, 10);
  file = fopen("/proc/uptime", "re");
  if (file && fscanf(file, "%lf", &up) != 1) up = 0;
  if (file) fclose(file);
  return at && up > 0 ? up - (double)began / (double)sysconf(_SC_CLK_TCK) : 0;
}

static double left_by_slurm(const cli_scheduler *s, char *how, size_t capacity) {
  char text[256], *end;
  const char *at = set("SLURM_JOB_END_TIME");
  if (at) {
    double seconds = (double)strtoll(at, &end, 10) - (double)time(NULL);
    snprintf(how, capacity, "SLURM_JOB_END_TIME");
    if (!*end && seconds > -86400 && seconds < 1e9) return seconds;
  }
  char id[64];
  snprintf(id, sizeof id, "%s", s->job);
  char *const argv[] = {"squeue", "-h", "-j", id, "-o", "%L", NULL};
  snprintf(how, capacity, "squeue -h -j %s -o %%L", id);
  if (!cli_ask(argv, text, sizeof text)) return NAN;
  text[strcspn(text, " \r\n")] = '\0';
  return strcmp(text, "UNLIMITED") == 0 ? INFINITY : cli_parse_time(text);
}

static double left_by_pbs(const cli_scheduler *s, char *how, size_t capacity) {
  static char text[1 << 16];
  char id[64], limit[64], used[64];
  const char *at = set("PBS_WALLTIME");
  snprintf(how, capacity, "PBS_WALLTIME");
  if (at) return cli_parse_time(at) - session_age();
  snprintf(id, sizeof id, "%s", s->job);
  char *const argv[] = {"qstat", "-f", id, NULL};
  snprintf(how, capacity, "qstat -f %s", id);
  if (!cli_ask(argv, text, sizeof text)) return NAN;
  word_after(text, "Resource_List.walltime", limit);
  word_after(text, "resources_used.walltime", used);
  if (!*limit) return INFINITY;
  double gone = cli_parse_time(used);
  return cli_parse_time(limit) - (isnan(gone) ? session_age() : gone);
}

static double left_by_lsf(const cli_scheduler *s, char *how, size_t capacity) {
  char text[256], id[80];
  snprintf(id, sizeof id, "%s", s->job);
  char *task = strchr(id, '_');
  if (task) snprintf(id, sizeof id, "%.*s[%s]", (int)(task - id), s->job, s->job + (task - id) + 1);
  char *const argv[] = {"bjobs", "-noheader", "-o", "time_left", id, NULL};
  snprintf(how, capacity, "bjobs -o time_left %s", id);
  if (!cli_ask(argv, text, sizeof text)) return NAN;
  char *at = text + strspn(text, " ");
  at[strcspn(at, " \r\n")] = '\0';
  return *at == '-' ? INFINITY : 60 * cli_parse_time(at); /* hours:minutes */
}

static double left_by_grid_engine(const cli_scheduler *s, char *how, size_t capacity) {
  static char text[1 << 16];
  char id[64], limit[64];
  snprintf(id, sizeof id, "%.*s", (int)strcspn(s->job, "_"), s->job);
  char *const argv[] = {"qstat", "-j", id, NULL};
  snprintf(how, capacity, "qstat -j %s", id);
  if (!cli_ask(argv, text, sizeof text)) return NAN;
  word_after(text, "h_rt", limit);
  return *limit ? cli_parse_time(limit) - session_age() : INFINITY;
}

double cli_scheduler_left(const cli_scheduler *s, char *how, size_t capacity) {
  snprintf(how, capacity, "no batch system");
  if (!s->name) return NAN;
  static double (*const left[SYSTEMS])(const cli_scheduler *, char *, size_t) = {left_by_slurm, left_by_pbs,
                                                                                 left_by_lsf, left_by_grid_engine};
  for (int i = 0; i < SYSTEMS; i++)
    if (strcmp(s->name, systems[i].name) == 0) return left[i](s, how, capacity);
  return NAN;
}

/* ---- cores ---- */

/* Quota of one control group in cores; INFINITY: no quota. */
static double quota_in(const char *folder) {
  char path[4200], text[64] = "";
  double quota = -1, period = 0;
  snprintf(path, sizeof path, "%s/cpu.max", folder);
  FILE *file = fopen(path, "re");
  if (file) {
    if (fscanf(file, "%63s %lf", text, &period) == 2 && strcmp(text, "max") != 0) quota = strtod(text, NULL);
    fclose(file);
    return quota > 0 && period > 0 ? quota / period : INFINITY;
  }
  const char *const parts[] = {"cpu.cfs_quota_us", "cpu.cfs_period_us"};
  double values[2] = {-1, 0};
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, parts[i]);
    if (!(file = fopen(path, "re"))) return INFINITY;
    if (fscanf(file, "%lf", &values[i]) != 1) values[i] = -1;
    fclose(file);
  }
  return values[0] > 0 && values[1] > 0 ? values[0] / values[1] : INFINITY;
}

/* Smallest quota of this process's control groups, version 2 or 1, up to the root. */
static double read_quota(void) {
  char line[4096], folder[4160];
  double least = INFINITY;
  FILE *file = fopen("/proc/self/cgroup", "re");
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) continue;
    *path++ = '\0';
    bool second = controllers[1] == '\0';
    if (!second && !strstr(controllers, "cpu")) continue;
    const char *root = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
    for (char *slash = path + strlen(path); slash; slash = strrchr(path, '/')) {
      *slash = '\0';
      snprintf(folder, sizeof folder, "%s%s", root, path);
      least = fmin(least, quota_in(folder));
    }
  }
  if (file) fclose(file);
  return least;
}

/* The same, as it was at the first call. */
static double quota(void) {
  static double known = -1;
  if (!(known > 0)) known = read_quota();
  return known;
}

/* Cores of one of several processes that share them; the first processes get those that remain. */
static int share_of(int cores, int rank, int ranks) {
  const int own = (cores + ranks - 1 - rank) / ranks;
  return own > 1 ? own : 1;
}

int cli_scheduler_cores(const cli_scheduler *s, int rank, int ranks, bool launched, const char **limit) {
  int cores = share_of(omp_get_num_procs(), rank, ranks);
  const double quotient = quota();
  *limit = NULL;
  if (quotient < omp_get_num_procs()) {
    cores = share_of((int)ceil(quotient), rank, ranks);
    *limit = "the quota of its control group";
  }
  const int given = launched && s->task ? s->cores : share_of(s->cores, rank, ranks);
  if (s->cores > 0 && given < cores) {
    cores = given;
    *limit = s->name;
  }
  return cores;
}
