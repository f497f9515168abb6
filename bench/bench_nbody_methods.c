/* Direct sums and fast multipoles for the same bodies, and the method that gravity.solver = "auto" takes. Prints the
 * time of a force by each method, and the time of the chosen method over that of the faster one.
 *
 *   bench_nbody_methods [--device cpu|cuda] [--precision single|double] [--threads T] [--isa plain|avx2|avx512]
 *                       [--error E] [--n N]... [--limit SECONDS] [--bodies plummer|uniform|box]
 *
 * Bodies are a Plummer sphere, a uniform cube, or a uniform cube in a periodic box. A method that is estimated to take
 * longer than --limit for one force is not measured, and the other one counts as the faster. On the CPU a time is
 * processor time over the number of threads, which other programs disturb less than the clock on the wall. */
#define _POSIX_C_SOURCE 200809L
#include "bench/arguments.h"
#include "engine/wall_clock.h"
#include "kernels/nbody/solver.h"

#include <math.h>
#include <omp.h>
#include <time.h>

enum { PLUMMER, UNIFORM, BOX };

typedef struct settings {
  const sim_backend *backend;
  int precision, threads, bodies;
  sim_isa isa;
  double error, limit;
} settings;

static void must(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "bench_nbody_methods: %s: %s\n", what, sim_error_last()->message);
  exit(1);
}

static double now(const settings *of) {
  struct timespec t;
  if (of->backend->kind != SIM_BACKEND_CPU) return sim_wall_clock();
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec) / of->threads;
}

static double draw(void) {
  static uint64_t state = 1;
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

/* Copies component c of n numbers to the state's array. */
static void store(const settings *of, sim_dtype dtype, const double *values, int64_t n, int c, void *to) {
  const size_t size = sim_dtype_size(dtype), bytes = (size_t)n * size;
  float *narrow = malloc(bytes);
  must(narrow != NULL, "memory");
  for (int64_t i = 0; dtype == SIM_F32 && i < n; i++) narrow[i] = (float)values[i];
  must(of->backend->copy((char *)to + (size_t)c * bytes, dtype == SIM_F32 ? (const void *)narrow : values, bytes) ==
           SIM_OK,
       "copy");
  free(narrow);
}

/* host[4][n]: positions and masses. */
static nbody_state make_bodies(const settings *of, int64_t n, double *host) {
  const sim_backend *backend = of->backend;
  nbody_state s = {.n = n, .dtype = of->precision == 0 ? SIM_F32 : SIM_F64};
  const size_t size = (size_t)n * sim_dtype_size(s.dtype);
  double *const x[] = {host, host + n, host + 2 * n, host + 3 * n};
  must(backend->alloc(size, &s.mass) == SIM_OK && backend->alloc(3 * size, &s.position) == SIM_OK &&
           backend->alloc(3 * size, &s.velocity) == SIM_OK &&
           backend->alloc(3 * (size_t)n * sizeof(double), (void **)&s.acceleration) == SIM_OK,
       "memory");
  for (int64_t i = 0; i < n; i++) {
    double r;
    x[3][i] = 1.0 / (double)n;
    for (int c = 0; c < 3 && of->bodies != PLUMMER; c++) x[c][i] = draw();
    if (of->bodies != PLUMMER) continue;
    do r = 1 / sqrt(pow(draw(), -2.0 / 3) - 1);
    while (r > 20);
    const double z = 2 * draw() - 1, angle = 6.283185307179586 * draw(), across = r * sqrt(1 - z * z);
    x[0][i] = across * cos(angle), x[1][i] = across * sin(angle), x[2][i] = r * z;
  }
  for (int c = 0; c < 3; c++) store(of, s.dtype, x[c], n, c, s.position);
  store(of, s.dtype, x[3], n, 0, s.mass);
  return s;
}

static void free_bodies(const settings *of, nbody_state *s) {
  of->backend->free(s->mass), of->backend->free(s->position), of->backend->free(s->velocity);
  of->backend->free(s->acceleration);
}

/* Returns the seconds of a force: the least of several rounds of a fifth of a second each, or of one force. */
static double measure(const settings *of, const nbody_options *options, const nbody_state *state,
                      const nbody_solver *solver) {
  nbody_solver_work *work;
  nbody_raw_force form;
  double best = INFINITY, all = 0;
  double end;
  must(solver->create(options, state, &work) == SIM_OK, solver->name);
  solver->accelerate(work, false, &form);
  must(of->backend->copy(&end, state->acceleration, sizeof end) == SIM_OK, "force");
  for (int round = 0; round < 7 && (round < 2 || all < 3); round++) {
    int forces = 0;
    const double start = now(of);
    double taken = 0;
    for (int batch = 1; taken < 0.2 && forces < 1 << 20; batch *= 2) {
      for (int k = 0; k < batch; k++) solver->accelerate(work, false, &form);
      must(of->backend->copy(&end, state->acceleration, sizeof end) == SIM_OK, "force"); /* waits for the device */
      forces += batch;
      taken = now(of) - start;
    }
    all += taken;
    best = fmin(best, taken / forces);
  }
  must(solver->check == NULL || solver->check(work) == SIM_OK, solver->name);
  solver->destroy(&work);
  return best;
}

static void show(double seconds) {
  if (isfinite(seconds))
    printf("  %11.3f", 1e3 * seconds);
  else
    printf("  %11s", "-");
}

static void compare(const settings *of, int64_t n) {
  const sim_backend_kind kind = of->backend->kind;
  double *const host = malloc(4 * (size_t)n * sizeof *host);
  must(host != NULL, "memory");
  nbody_state state = make_bodies(of, n, host);
  const bool cpu_single = kind == SIM_BACKEND_CPU && of->precision == 0;
  nbody_options options = {.n = n,
                           .single_pairs = of->precision == 0,
                           .isa = of->isa,
                           .threads = of->threads,
                           .comm = &sim_comm_alone,
                           .G = 1,
                           .softening = 0.01,
                           .box = of->bodies == BOX ? 1 : 0,
                           .fmm = nbody_fmm_settings_for(of->error, NAN, (double)n, cpu_single)};
  nbody_choice chosen, choice;
  double seconds[2];
  must(nbody_solver_choose(&options, kind, &chosen) == SIM_OK, "auto");
  if (chosen.other != NULL) { /* as a run does */
    const double *const position[] = {host, host + n, host + 2 * n};
    must(nbody_fmm_count(position, host + 3 * n, n, options.box, &options.fmm, &options.far, &options.near,
                         &options.depth) == SIM_OK,
         "lists");
    must(nbody_solver_choose(&options, kind, &chosen) == SIM_OK, "auto");
  }
  const nbody_fmm_estimate cost = nbody_fmm_estimate_for(&options, kind, (double)n);
  for (int method = 0; method < 2; method++) {
    options.method = method == 0 ? NBODY_DIRECT : NBODY_FMM;
    must(nbody_solver_choose(&options, kind, &choice) == SIM_OK, "choice");
    const bool short_enough = (method == 0 ? cost.direct : cost.seconds) < of->limit;
    seconds[method] = short_enough ? measure(of, &options, &state, choice.solver) : INFINITY;
  }
  const double best = fmin(seconds[0], seconds[1]);
  printf("%9lld", (long long)n);
  for (int method = 0; method < 2; method++) show(seconds[method]);
  show(cost.direct), show(cost.seconds);
  printf("  %-7s  %5.2f\n", chosen.method == NBODY_FMM ? "fmm" : "direct", seconds[chosen.method == NBODY_FMM] / best);
  fflush(stdout);
  free_bodies(of, &state);
  free(host);
}

int main(int count, char **arguments) {
  static const char *const precisions[] = {"single", "double", NULL};
  static const char *const isas[] = {"plain", "avx2", "avx512", NULL}, *const devices[] = {"cpu", "cuda", NULL};
  static const char *const bodies[] = {"plummer", "uniform", "box", NULL};
  int isa = (int)sim_isa_best(), device = 0;
  double threads = omp_get_num_procs();
  settings of = {.precision = 1, .error = NBODY_ERROR, .limit = 20};
  bench_list sizes = {0};
  const bench_argument known[] = {{"--device", BENCH_INDEX, &device, 0, devices},
                                  {"--precision", BENCH_INDEX, &of.precision, 0, precisions},
                                  {"--threads", BENCH_NUMBER, &threads, 1, NULL},
                                  {"--isa", BENCH_INDEX, &isa, 0, isas},
                                  {"--error", BENCH_NUMBER, &of.error, 1e-6, NULL},
                                  {"--limit", BENCH_NUMBER, &of.limit, 0, NULL},
                                  {"--bodies", BENCH_INDEX, &of.bodies, 0, bodies},
                                  {"--n", BENCH_LIST, &sizes, 0, NULL},
                                  {NULL, BENCH_END, NULL, 0, NULL}};
  bench_arguments(count, arguments, known);
  for (int k = 0; sim_backends[k] != NULL; k++)
    if (sim_backends[k]->kind == (device == 0 ? SIM_BACKEND_CPU : SIM_BACKEND_CUDA)) of.backend = sim_backends[k];
  if (of.backend == NULL || of.backend->unavailable() != NULL) {
    fprintf(stderr, "bench_nbody_methods: no %s\n", devices[device]);
    return 1;
  }
  if (of.backend->open != NULL) must(of.backend->open(NULL) == SIM_OK, "device");
  of.threads = (int)threads;
  of.isa = (sim_isa)isa < sim_isa_best() ? (sim_isa)isa : sim_isa_best();
  printf("%s, error %g: milliseconds of a force\n%9s  %11s  %11s  %11s  %11s  %-7s  %5s\n", precisions[of.precision],
         of.error, "bodies", "direct", "multipoles", "(estimate)", "(estimate)", "auto", "ratio");
  for (int k = 0; k < sizes.count; k++) compare(&of, sizes.value[k]);
  for (double n = 100; sizes.count == 0 && n < 1.1e7; n *= n < 1e3 || n > 2e5 ? 3.1622776601683795 : 1.4142135623730951)
    compare(&of, (int64_t)n);
  return 0;
}
