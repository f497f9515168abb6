/* Forces by multipoles on several ranks of this host: processor time of each rank by stage, beside one rank with as
 * many threads.
 *
 *   bench_nbody_ranks [--ranks R]... [--threads T] [--precision single|double] [--n N]... [--error E] [--forces F]
 *                     [--box B]
 *
 * Bodies are a Plummer sphere, or with --box B uniform in a periodic cube. Times are milliseconds of a force, the
 * median of F forces; processor time is divided by the threads of a rank. The last column is a digest of all
 * accelerations. */
#define _POSIX_C_SOURCE 200809L
#include "bench/arguments.h"
#include "engine/comm/forked.h"
#include "engine/wall_clock.h"
#include "kernels/nbody/fmm/cpu/fmm.h"

#include <math.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORCES_MAX = 64, RANKS_MAX = 64 };

static void must(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "bench_nbody_ranks: %s: %s\n", what, sim_error_last()->message);
  _exit(1);
}

static double draw(void) {
  static uint64_t state = 1;
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

static void set(nbody_state *s, int64_t i, double x) {
  if (s->dtype == SIM_F32)
    ((float *)s->position)[i] = (float)x;
  else
    ((double *)s->position)[i] = x;
}

static nbody_state make_bodies(int64_t n, bool single, double box) {
  const size_t size = single ? sizeof(float) : sizeof(double);
  nbody_state s = {.n = n, .dtype = single ? SIM_F32 : SIM_F64};
  s.mass = malloc((size_t)n * size), s.position = malloc(3 * (size_t)n * size);
  s.acceleration = malloc(3 * (size_t)n * sizeof(double));
  must(s.mass != NULL && s.position != NULL && s.acceleration != NULL, "memory");
  for (int64_t i = 0; i < n; i++) {
    if (single)
      ((float *)s.mass)[i] = 1 / (float)n;
    else
      ((double *)s.mass)[i] = 1 / (double)n;
    if (box > 0) {
      for (int c = 0; c < 3; c++) set(&s, c * n + i, box * draw() * (1 - 0x1p-20));
      continue;
    }
    double r;
    do r = 1 / sqrt(pow(draw(), -2.0 / 3) - 1);
    while (r > 20);
    const double z = 2 * draw() - 1, angle = 6.283185307179586 * draw(), across = r * sqrt(1 - z * z);
    set(&s, i, across * cos(angle)), set(&s, n + i, across * sin(angle)), set(&s, 2 * n + i, r * z);
  }
  return s;
}

typedef struct result {
  double stage[NBODY_FMM_STAGES], all, wall;
  uint64_t digest;
} result;

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *of, int count) {
  qsort(of, (size_t)count, sizeof *of, compare);
  return of[count / 2];
}

static void force(const sim_comm *comm, nbody_options options, int forces, result *out) {
  static double stage[NBODY_FMM_STAGES][FORCES_MAX], all[FORCES_MAX], wall[FORCES_MAX];
  const nbody_state state = make_bodies(options.n, options.single_pairs, options.box);
  nbody_solver_work *work;
  nbody_raw_force form;
  uint64_t most;
  options.comm = comm;
  must(nbody_fmm_cpu.create(&options, &state, &work) == SIM_OK, "solver");
  for (int k = -1; k < forces; k++) {
    must(sim_comm_agree(comm, 0, &most) == SIM_OK, "ranks");
    const double begin = sim_wall_clock();
    nbody_fmm_cpu.accelerate(work, false, &form);
    if (k < 0) continue;
    const nbody_fmm_counts counts = nbody_fmm_cpu_counts(work);
    wall[k] = sim_wall_clock() - begin;
    all[k] = 0;
    for (int s = 0; s < NBODY_FMM_STAGES; s++) all[k] += stage[s][k] = counts.seconds[s];
  }
  must(nbody_fmm_cpu.check(work) == SIM_OK, "force");
  out->digest = 0;
  for (int64_t i = 0; i < 3 * options.n; i++) {
    uint64_t bits;
    memcpy(&bits, &state.acceleration[i], sizeof bits);
    out->digest = (out->digest ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
  }
  out->wall = median(wall, forces), out->all = median(all, forces);
  for (int s = 0; s < NBODY_FMM_STAGES; s++) out->stage[s] = median(stage[s], forces);
}

static void show(const char *name, const result *r, int threads) {
  printf("  %-10s", name);
  for (int s = 0; s < NBODY_FMM_STAGES; s++) printf(" %9.2f", 1e3 * r->stage[s] / threads);
  printf(" %9.2f %9.2f  %016llx\n", 1e3 * r->all / threads, 1e3 * r->wall, (unsigned long long)r->digest);
  fflush(stdout);
}

/* Returns the greatest processor time of a rank over its threads. */
static double measure(int ranks, const nbody_options *options, int forces) {
  sim_forked *forked;
  result *results = mmap(NULL, RANKS_MAX * sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  double longest = 0;
  must(results != MAP_FAILED && sim_forked_create(ranks, &forked) == SIM_OK, "ranks");
  for (int r = 0; r < ranks; r++) {
    const pid_t rank = fork();
    must(rank >= 0, "fork");
    if (rank > 0) continue;
    sim_comm comm = sim_comm_alone;
    if (ranks > 1) must(sim_forked_attach(dup(sim_forked_descriptor(forked)), r, &comm) == SIM_OK, "rank");
    force(&comm, *options, forces, &results[r]);
    if (ranks > 1) sim_forked_detach(&comm);
    _exit(0);
  }
  for (int left = ranks, how; left > 0; left--) must(wait(&how) > 0 && how == 0, "a rank has failed");
  for (int r = 0; r < ranks; r++) {
    char name[32];
    snprintf(name, sizeof name, "%d of %d x %d", r, ranks, options->threads);
    show(name, &results[r], options->threads);
    longest = fmax(longest, results[r].all / options->threads);
  }
  sim_forked_destroy(&forked);
  (void)munmap(results, RANKS_MAX * sizeof *results);
  return longest;
}

int main(int argc, char **argv) {
  static const char *const precisions[] = {"single", "double", NULL};
  int precision = 0;
  double threads = 1, error = 1e-4, forces = 5, box = 0;
  bench_list sizes = {0}, ranks = {0};
  const bench_argument arguments[] = {{"--ranks", BENCH_LIST, &ranks, 1, NULL},
                                      {"--threads", BENCH_NUMBER, &threads, 1, NULL},
                                      {"--precision", BENCH_INDEX, &precision, 0, precisions},
                                      {"--n", BENCH_LIST, &sizes, 1, NULL},
                                      {"--error", BENCH_NUMBER, &error, 1e-7, NULL},
                                      {"--forces", BENCH_NUMBER, &forces, 1, NULL},
                                      {"--box", BENCH_NUMBER, &box, 0, NULL},
                                      {NULL, BENCH_END, NULL, 0, NULL}};
  bench_arguments(argc, argv, arguments);
  if (sizes.count == 0) sizes = (bench_list){1, {100000}};
  if (ranks.count == 0) ranks = (bench_list){1, {4}};
  for (int k = 0; k < sizes.count; k++)
    for (int j = 0; j < ranks.count; j++) {
      const int64_t n = sizes.value[k];
      const int count = (int)fmin((double)ranks.value[j], RANKS_MAX), some = (int)fmin(forces, FORCES_MAX);
      nbody_options options = {.n = n, .single_pairs = precision == 0, .isa = sim_isa_best(), .G = 1, .box = box};
      options.softening = 1e-3;
      options.fmm = nbody_fmm_settings_for(error, NAN, (double)n, precision == 0);
      printf("%lld bodies; ms    tree        up      down     outer   results       all      wall\n", (long long)n);
      options.threads = (int)threads * count;
      const double alone = measure(1, &options, some);
      options.threads = (int)threads;
      const double longest = count > 1 ? measure(count, &options, some) : alone;
      printf("  longest of %d ranks over 1 x %d: %.3f\n", count, (int)threads * count, longest / alone);
    }
  return 0;
}
