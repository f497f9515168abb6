#include "engine/run/profile.h"

#include "engine/wall_clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SIM_HAS_CUDA
#include <nvtx3/nvToolsExt.h>
#else
static void nvtxRangePushA(const char *name) { (void)name; }
static void nvtxRangePop(void) {}
#endif

enum { KEPT_MAX = 200000, TOTALS_MAX = 128, DEPTH_MAX = 16, HOST_TRACK = 2 };

/* One event of the trace. Tracks: 0 steps and 1 copies of the device; from 2 on the threads of the host. */
typedef struct entry {
  const char *name, *group;
  double begin, seconds;
  int track;
} entry;

/* Sum over all events of a name. */
typedef struct total {
  const char *name;
  const sim_kernel *kernel; /* NULL: a range of the host */
  sim_profile_track track;
  double calls, seconds, amount;
} total;

static struct {
  pthread_mutex_t lock;
  bool on;
  double start;
  entry *entries;
  size_t count, capacity, dropped;
  total totals[TOTALS_MAX];
  size_t total_count;
  double limits[SIM_LIMITS];
  int threads;
} profile = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Ranges that this thread has begun and not ended. */
static _Thread_local struct {
  const char *name;
  double begin;
} open_ranges[DEPTH_MAX];
static _Thread_local int depth, thread; /* thread: number of this thread, from 1 on; 0: no range yet */

/* ---- records ---- */

void sim_profile_start(void) {
  sim_profile_stop();
  profile.start = sim_wall_clock();
  profile.on = true;
}

bool sim_profile_on(void) { return profile.on; }
double sim_profile_now(void) { return sim_wall_clock() - profile.start; }

void sim_profile_stop(void) {
  free(profile.entries);
  profile.entries = NULL;
  profile.count = profile.capacity = profile.dropped = profile.total_count = 0;
  memset(profile.limits, 0, sizeof profile.limits);
  profile.on = false;
}

void sim_profile_limits(const double limits[SIM_LIMITS]) { memcpy(profile.limits, limits, sizeof profile.limits); }

/* Makes room for an event; false if the trace is full or memory is lacking. */
static bool room(void) {
  if (profile.count < profile.capacity) return true;
  if (profile.count == KEPT_MAX) return false;
  size_t more = profile.capacity ? 2 * profile.capacity : 1024;
  if (more > KEPT_MAX) more = KEPT_MAX;
  entry *grown = realloc(profile.entries, more * sizeof *grown);
  if (!grown) return false;
  profile.entries = grown;
  profile.capacity = more;
  return true;
}

static total *find_total(const char *name, const sim_kernel *kernel) {
  for (size_t i = 0; i < profile.total_count; i++) {
    total *t = &profile.totals[i];
    if (!t->kernel == !kernel && (t->name == name || strcmp(t->name, name) == 0)) return t;
  }
  if (profile.total_count == TOTALS_MAX) return NULL;
  total *t = &profile.totals[profile.total_count++];
  *t = (total){.name = name, .kernel = kernel};
  return t;
}

static void keep(const entry *e, const sim_kernel *kernel, double amount) {
  pthread_mutex_lock(&profile.lock);
  total *t = find_total(e->name, kernel);
  if (t) {
    t->track = e->track == SIM_TRACK_COPIES ? SIM_TRACK_COPIES : SIM_TRACK_STEPS;
    t->calls++;
    t->seconds += e->seconds;
    t->amount += amount;
  }
  if (room())
    profile.entries[profile.count++] = *e;
  else
    profile.dropped++;
  pthread_mutex_unlock(&profile.lock);
}

void sim_profile_add(const sim_profile_event *event) {
  if (!profile.on) return;
  entry e = {event->kernel->name, event->kernel->group, event->begin, event->seconds, (int)event->track};
  keep(&e, event->kernel, event->amount);
}

void sim_profile_range_begin(const char *name) {
  nvtxRangePushA(name);
  if (!profile.on) return;
  if (depth < DEPTH_MAX) {
    open_ranges[depth].name = name;
    open_ranges[depth].begin = sim_profile_now();
  }
  depth++;
}

void sim_profile_range_end(void) {
  nvtxRangePop();
  if (!profile.on || depth == 0 || --depth >= DEPTH_MAX) return;
  if (!thread) {
    pthread_mutex_lock(&profile.lock);
    thread = ++profile.threads;
    pthread_mutex_unlock(&profile.lock);
  }
  double begin = open_ranges[depth].begin;
  entry e = {open_ranges[depth].name, "host", begin, sim_profile_now() - begin, HOST_TRACK + thread - 1};
  keep(&e, NULL, 0);
}

/* ---- the table ---- */

static int longest_first(const void *a, const void *b) {
  const total *left = a, *right = b;
  if (!left->kernel != !right->kernel) return left->kernel ? -1 : 1;
  if (left->seconds != right->seconds) return left->seconds > right->seconds ? -1 : 1;
  return strcmp(left->name, right->name);
}

/* Writes a time with a suitable unit: "1.25 ms". */
static void time_text(double seconds, char out[32]) {
  static const struct {
    double unit;
    const char *name;
  } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  int i = 0;
  while (i < 3 && seconds < units[i].unit) i++;
  snprintf(out, 32, "%.3g %s", seconds / units[i].unit, units[i].name);
}

static const char *const rate_units[SIM_LIMITS] = {"B/s", "fp32/s", "fp64/s"};

static void kernel_line(const total *t, double busy, sim_bytes *out) {
  char took[32], each[32], share[16], rate[64], of[16] = "-";
  sim_limit limit = t->kernel->limit;
  time_text(t->seconds, took);
  time_text(t->seconds / t->calls, each);
  snprintf(share, sizeof share, "%.1f %%", busy > 0 ? 100 * t->seconds / busy : 0);
  double achieved = t->seconds > 0 ? t->amount / t->seconds : 0;
  snprintf(rate, sizeof rate, "%.3g %s", achieved, rate_units[limit]);
  if (profile.limits[limit] > 0 && t->track == SIM_TRACK_STEPS) /* copies to the host have another limit */
    snprintf(of, sizeof of, "%.1f %%", 100 * achieved / profile.limits[limit]);
  sim_bytes_format(out, "  %-28s %9.0f %10s %10s %8s %18s %9s\n", t->name, t->calls, took, each, share, rate, of);
}

static void range_line(const total *t, double wall, sim_bytes *out) {
  char took[32], each[32];
  time_text(t->seconds, took);
  time_text(t->seconds / t->calls, each);
  sim_bytes_format(out, "  %-28s %9.0f %10s %10s %6.1f %%\n", t->name, t->calls, took, each,
                   wall > 0 ? 100 * t->seconds / wall : 0);
}

void sim_profile_table(sim_bytes *out) {
  pthread_mutex_lock(&profile.lock);
  double wall = sim_profile_now(), busy = 0;
  size_t kernels = 0;
  qsort(profile.totals, profile.total_count, sizeof *profile.totals, longest_first);
  for (size_t i = 0; i < profile.total_count; i++) {
    const total *t = &profile.totals[i];
    if (!t->kernel) continue;
    kernels++;
    if (t->track == SIM_TRACK_STEPS) busy += t->seconds;
  }
  if (kernels) {
    sim_bytes_format(out, "profile of the GPU: its queue of steps was busy for %.1f %% of %.3g s\n",
                     wall > 0 ? 100 * busy / wall : 0, wall);
    sim_bytes_format(out, "  %-28s %9s %10s %10s %8s %18s %9s\n", "kernel", "calls", "time", "each", "share", "rate",
                     "of limit");
    for (size_t i = 0; i < kernels; i++) kernel_line(&profile.totals[i], busy, out);
    if (profile.limits[SIM_LIMIT_FP32] > 0)
      sim_bytes_format(out,
                       "  nominal limits (widths and lanes times the highest clock): %.3g B/s, %.3g fp32 and %.3g fp64 "
                       "instructions/s\n",
                       profile.limits[SIM_LIMIT_BYTES], profile.limits[SIM_LIMIT_FP32], profile.limits[SIM_LIMIT_FP64]);
  }
  sim_bytes_format(out, "profile of the host: %.3g s; a range includes those within it\n", wall);
  sim_bytes_format(out, "  %-28s %9s %10s %10s %8s\n", "range", "calls", "time", "each", "share");
  for (size_t i = kernels; i < profile.total_count; i++) range_line(&profile.totals[i], wall, out);
  if (profile.dropped)
    sim_bytes_format(out, "  the trace holds the first %zu of %zu events\n", profile.count,
                     profile.count + profile.dropped);
  pthread_mutex_unlock(&profile.lock);
}

/* ---- the trace ---- */

static void track_name(int track, const char *name, int number, sim_bytes *out) {
  int process = track >= HOST_TRACK;
  sim_bytes_format(out, "{\"ph\": \"M\", \"pid\": %d, \"tid\": %d, \"name\": \"thread_name\", \"args\": {\"name\": ",
                   process, track);
  if (number > 1)
    sim_bytes_format(out, "\"%s %d\"}},\n", name, number);
  else
    sim_bytes_format(out, "\"%s\"}},\n", name);
}

void sim_profile_trace(sim_bytes *out) {
  pthread_mutex_lock(&profile.lock);
  int last = HOST_TRACK;
  bool gpu = false;
  for (size_t i = 0; i < profile.count; i++) {
    gpu |= profile.entries[i].track < HOST_TRACK;
    if (profile.entries[i].track > last) last = profile.entries[i].track;
  }
  sim_bytes_text(out, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n");
  if (gpu) {
    sim_bytes_text(out, "{\"ph\": \"M\", \"pid\": 0, \"name\": \"process_name\", \"args\": {\"name\": \"GPU\"}},\n");
    track_name(SIM_TRACK_STEPS, "steps", 0, out);
    track_name(SIM_TRACK_COPIES, "copies", 0, out);
  }
  for (int track = HOST_TRACK; track <= last; track++) track_name(track, "thread", track - HOST_TRACK + 1, out);
  for (size_t i = 0; i < profile.count; i++) {
    const entry *e = &profile.entries[i];
    sim_bytes_format(out, "{\"ph\": \"X\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, \"name\": ",
                     e->track >= HOST_TRACK, e->track, 1e6 * e->begin, 1e6 * e->seconds);
    sim_bytes_json_string(out, e->name, strlen(e->name));
    sim_bytes_text(out, ", \"cat\": ");
    sim_bytes_json_string(out, e->group, strlen(e->group));
    sim_bytes_text(out, "},\n");
  }
  sim_bytes_text(out, "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {\"name\": \"host\"}}\n]}\n");
  pthread_mutex_unlock(&profile.lock);
}
