/* Snapshots against dd: seconds from the call until the file is durable, and the same bytes by
 * `dd if=/dev/zero bs=1M conv=fsync` in the same folder, in turns. The least time of each counts. On a busy machine
 * the processor time, of all threads, says more: a disk is fast or slow, but that is what a file costs.
 *
 *   bench_snapshot FOLDER [--bodies N] [--rounds N]
 *
 * 56 bytes a body: an id, position and velocity in fp64, and masses that are equal. FOLDER is emptied first. */
#define _POSIX_C_SOURCE 200809L
#include "bench/arguments.h"
#include "engine/wall_clock.h"
#include "io/io.h"

#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

static void must(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "bench_snapshot: %s: %s\n", what, sim_error_last()->message);
  exit(1);
}

enum { ARRAYS = 4 };
static const sim_field fields[ARRAYS] = {
    {.name = "id", .doc = "numbers", .flags = SIM_IN_SNAPSHOT},
    {.name = "mass", .doc = "masses", .dimension = {0, 1, 0}, .flags = SIM_IN_SNAPSHOT},
    {.name = "position", .doc = "positions", .dimension = {1, 0, 0}, .flags = SIM_IN_SNAPSHOT},
    {.name = "velocity", .doc = "velocities", .dimension = {1, 0, -1}, .flags = SIM_IN_SNAPSHOT}};

static sim_array make_array(int k, int64_t n) {
  const int rank = k < 2 ? 1 : 2;
  const size_t count = (size_t)n * (k < 2 ? 1 : 3);
  sim_array a = {.field = &fields[k], .dtype = k == 0 ? SIM_U64 : SIM_F64, .rank = rank, .shape = {k < 2 ? n : 3, n}};
  a.data = malloc(count * sizeof(double));
  must(a.data != NULL, "memory");
  memcpy(a.global, a.shape, sizeof a.shape);
  for (size_t i = 0; i < count; i++) {
    if (k == 0)
      ((uint64_t *)a.data)[i] = i;
    else
      ((double *)a.data)[i] = k == 1 ? 1.0 : sin((double)(i % 9973)) + (double)i;
  }
  return a;
}

/* Returns the processor seconds of this process, or of its finished child processes. */
static double spent(int who) {
  struct rusage use;
  getrusage(who, &use);
  return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

typedef struct cost {
  double took, used; /* seconds on the clock, and of the processor */
} cost;

static cost dd(const char *folder, double bytes) {
  char command[4400];
  snprintf(command, sizeof command, "dd if=/dev/zero of='%s/dd' bs=1M count=%.0f conv=fsync 2>/dev/null", folder,
           bytes / (1 << 20));
  const double begin = sim_wall_clock(), before = spent(RUSAGE_CHILDREN);
  if (system(command) != 0) must(false, command);
  const cost out = {sim_wall_clock() - begin, spent(RUSAGE_CHILDREN) - before};
  snprintf(command, sizeof command, "%s/dd", folder);
  (void)unlink(command);
  return out;
}

static cost snapshot(sim_sink *sink, const sim_frame *frame, const char *folder) {
  char path[4400];
  const double begin = sim_wall_clock(), before = spent(RUSAGE_SELF);
  must(sink->write(sink->self, frame) == SIM_OK && sink->flush(sink->self) == SIM_OK, "snapshot");
  const cost out = {sim_wall_clock() - begin, spent(RUSAGE_SELF) - before};
  snprintf(path, sizeof path, "%s/snap/snap_%08lld.h5", folder, (long long)frame->clock.step);
  must(unlink(path) == 0, path);
  return out;
}

int main(int count, char **arguments) {
  double bodies = 2e7, rounds = 3;
  cost best[2] = {{INFINITY, INFINITY}, {INFINITY, INFINITY}};
  const bench_argument known[] = {
      {"--bodies", BENCH_NUMBER, &bodies, 1, NULL}, {"--rounds", BENCH_NUMBER, &rounds, 1, NULL}, {.kind = BENCH_END}};
  if (count < 2) return 64;
  const char *folder = arguments[1];
  arguments[1] = arguments[0];
  bench_arguments(count - 1, arguments + 1, known);
  const int64_t n = (int64_t)bodies;
  const double bytes = 56.0 * bodies;
  sim_array arrays[ARRAYS];
  for (int k = 0; k < ARRAYS; k++) arrays[k] = make_array(k, n);
  sim_species species = {.name = "bodies", .count = n};
  sim_units units = {0};
  io_provenance from = {.model = "nbody", .version = "bench", .units = &units, .scenario_text = "", .run = ""};
  io_folder *out;
  sim_sink sink;
  must(io_init() == SIM_OK && io_folder_open(folder, IO_FOLDER_FORCE, &out) == SIM_OK, folder);
  must(io_snapshot_sink(out, &from, (sim_cadence){0}, &sink) == SIM_OK, "sink");
  printf("%.0f bodies, %.3g GB\n", bodies, bytes * 1e-9);
  for (int i = 0; i < (int)rounds; i++) {
    sim_frame frame = {.clock = {.step = i},
                       .arrays = arrays,
                       .array_count = ARRAYS,
                       .species = &species,
                       .species_count = 1,
                       .finite = true};
    const cost now[2] = {snapshot(&sink, &frame, folder), dd(folder, bytes)};
    for (int k = 0; k < 2; k++) {
      best[k] = (cost){fmin(best[k].took, now[k].took), fmin(best[k].used, now[k].used)};
      printf("%s %.3g s, %.3g GB/s, processor %.3g s%s", k ? "dd" : "snapshot", now[k].took, 1e-9 * bytes / now[k].took,
             now[k].used, k ? "\n" : "; ");
    }
  }
  printf("snapshot / dd: %.2f of its rate, %.2f times its processor time\n", best[1].took / best[0].took,
         best[0].used / best[1].used);
  sink.destroy(&sink.self);
  io_folder_close(&out);
  for (int k = 0; k < ARRAYS; k++) free(arrays[k].data);
  return 0;
}
