/* Direct sums over all pairs: interactions a second (an interaction is one ordered pair), and the share of the limit
 * that counted floating-point instructions set.
 *
 *   bench_nbody [--precision single|double] [--n N]... [--threads T] [--isa plain|avx2|avx512] [--seconds S]
 *               [--rate-only] */
#include "bench/peak.h"
#include "engine/wall_clock.h"
#include "kernels/nbody/direct/cpu/direct.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES_MAX = 16, REPEATS_MAX = 100000, REPEATS_MIN = 3 };

typedef enum quantity { ACCELERATION, JERK, POTENTIAL, QUANTITIES } quantity;
static const char *const quantity_names[QUANTITIES] = {"acceleration", "with jerk", "potential"};

/* Floating-point instructions for one vector of pairs in the inner loops of tile.c; the potential is fp64 always.
 * Plain code has no limit worth the name: its fp64 FMA may be a function call. */
static const int instructions[SIM_ISA_COUNT][2][QUANTITIES] = {
    [SIM_ISA_AVX2] = {{23, 43, 15}, {20, 40, 15}},
    [SIM_ISA_AVX512] = {{23, 43, 15}, {19, 38, 15}},
};
/* The same in slots of the two ports of an Intel core that take FMAs. With 512 bits rsqrt14 takes 3 there, and a
 * conversion between float and double 2. */
static const int slots[SIM_ISA_COUNT][2][QUANTITIES] = {
    [SIM_ISA_AVX2] = {{23, 43, 15}, {20, 40, 15}},
    [SIM_ISA_AVX512] = {{25, 45, 17}, {21, 40, 17}},
};
static const int width[SIM_ISA_COUNT][2] = {{1, 1}, {4, 8}, {8, 16}};

static bench_peak *const peaks[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {bench_peak_double_plain, bench_peak_single_plain},
#if NBODY_X86
    [SIM_ISA_AVX2] = {bench_peak_double_avx2, bench_peak_single_avx2},
    [SIM_ISA_AVX512] = {bench_peak_double_avx512, bench_peak_single_avx512},
#endif
};

typedef struct settings {
  bool single, rate_only;
  int threads, sizes;
  sim_isa isa;
  int64_t n[SIZES_MAX];
  double seconds;
} settings;

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Best of `times` rounds with all threads at once: instructions a second of them together. */
static double measure_peak(const settings *of, int times) {
  double best = 0;
  for (int r = 0; r < times; r++) {
    double rate[1024] = {0}, sum = 0;
#pragma omp parallel num_threads(of->threads)
    rate[omp_get_thread_num()] = peaks[of->isa][of->single]();
    for (int t = 0; t < of->threads; t++) sum += rate[t];
    best = sum > best ? sum : best;
  }
  return best;
}

/* Uniform in a cube, in the type of the state that goes with the precision. */
static bool make_bodies(nbody_state *b, int64_t n, bool single) {
  size_t size = (size_t)n * (single ? sizeof(float) : sizeof(double));
  *b = (nbody_state){.n = n, .dtype = single ? SIM_F32 : SIM_F64};
  b->mass = malloc(size), b->position = malloc(3 * size), b->velocity = malloc(3 * size);
  b->acceleration = malloc(3 * (size_t)n * sizeof(double));
  b->jerk = malloc(3 * (size_t)n * sizeof(double));
  if (!b->mass || !b->position || !b->velocity || !b->acceleration || !b->jerk) return false;
  void *columns[3] = {b->mass, b->position, b->velocity};
  uint64_t state = 1;
  for (int c = 0; c < 3; c++)
    for (int64_t i = 0; i < (c ? 3 : 1) * n; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      double value = (double)(state >> 11) * 0x1p-53 + (c ? -0.5 : 0.5);
      if (single)
        ((float *)columns[c])[i] = (float)value;
      else
        ((double *)columns[c])[i] = value;
    }
  return true;
}

static void free_bodies(nbody_state *b) {
  free(b->mass), free(b->position), free(b->velocity), free(b->acceleration), free(b->jerk);
}

/* Keeps the potential from being optimised away. */
static volatile double last_potential;

static void call(nbody_solver_work *work, quantity what) {
  nbody_raw_force form;
  if (what == POTENTIAL)
    last_potential = nbody_direct_cpu.potential(work);
  else
    nbody_direct_cpu.accelerate(work, false, &form);
}

/* Seconds of a call, best and median; small systems are called many times between two looks at the clock. */
static void time_calls(nbody_solver_work *work, const settings *of, int64_t n, quantity what, double *best,
                       double *median) {
  static double times[REPEATS_MAX];
  int count = 0, inner = n < 64 ? 1000 : 1;
  double start = sim_wall_clock(), now = start;
  call(work, what); /* pages, threads */
  while (count < REPEATS_MIN || (now - start < of->seconds && count < REPEATS_MAX)) {
    double before = sim_wall_clock();
    for (int k = 0; k < inner; k++) call(work, what);
    now = sim_wall_clock();
    times[count++] = (now - before) / inner;
  }
  qsort(times, (size_t)count, sizeof times[0], compare);
  *best = times[0];
  *median = times[count / 2];
}

static int bench(const settings *of, int64_t n) {
  nbody_state b;
  nbody_options options = {
      .n = n, .single_pairs = of->single, .isa = of->isa, .threads = of->threads, .G = 1, .softening = 0.01};
  if (!make_bodies(&b, n, of->single)) {
    fprintf(stderr, "bench_nbody: no memory for %lld bodies\n", (long long)n);
    free_bodies(&b);
    return 1;
  }
  double interactions = (double)n * (double)(n - 1);
  for (quantity what = ACCELERATION; what < QUANTITIES; what++) {
    double best, median;
    nbody_solver_work *work = NULL;
    options.jerk = what == JERK;
    if (nbody_direct_cpu.create(&options, &b, &work) != SIM_OK) {
      fprintf(stderr, "bench_nbody: %s\n", sim_error_last()->message);
      free_bodies(&b);
      return 1;
    }
    time_calls(work, of, n, what, &best, &median);
    if (what == POTENTIAL && !of->rate_only) printf("          (%s)\n", nbody_direct_cpu.describe(work));
    nbody_direct_cpu.destroy(&work);
    if (of->rate_only) {
      printf("%.6g\n", interactions / best);
      break;
    }
    printf("%8lld  %-12s  best %11.3f us  median %11.3f us", (long long)n, quantity_names[what], best * 1e6,
           median * 1e6);
    if (n >= 64) {
      bool single = of->single && what != POTENTIAL;
      printf("  %7.3f e9/s", interactions / best / 1e9);
      if (instructions[of->isa][single][what]) {
        double vectors = interactions / 2 / width[of->isa][single] / best, peak = measure_peak(of, 5);
        printf("  %3.0f %% of the limit by instructions, %3.0f %% by slots",
               100 * vectors * instructions[of->isa][single][what] / peak,
               100 * vectors * slots[of->isa][single][what] / peak);
      }
    }
    printf("\n");
  }
  free_bodies(&b);
  return 0;
}

static int usage(void) {
  fprintf(stderr, "bench_nbody [--precision single|double] [--n N]... [--threads T] [--isa plain|avx2|avx512]"
                  " [--seconds S] [--rate-only]\n");
  return 64;
}

int main(int count, char **arguments) {
  settings of = {.single = true, .threads = omp_get_num_procs(), .isa = sim_isa_best(), .seconds = 1};
  for (int k = 1; k < count; k++) {
    const char *key = arguments[k];
    if (!strcmp(key, "--rate-only")) {
      of.rate_only = true;
      continue;
    }
    if (++k == count) return usage();
    const char *value = arguments[k];
    if (!strcmp(key, "--precision")) {
      of.single = !strcmp(value, "single");
      if (!of.single && strcmp(value, "double")) return usage();
    } else if (!strcmp(key, "--n") && of.sizes < SIZES_MAX && atoll(value) > 0) {
      of.n[of.sizes++] = atoll(value);
    } else if (!strcmp(key, "--threads") && atoi(value) > 0 && atoi(value) <= 1024) {
      of.threads = atoi(value);
    } else if (!strcmp(key, "--seconds") && atof(value) > 0) {
      of.seconds = atof(value);
    } else if (!strcmp(key, "--isa")) {
      sim_isa isa = SIM_ISA_PLAIN;
      while (isa < SIM_ISA_COUNT && strcmp(value, sim_isa_name(isa)) != 0) isa++;
      if (isa > sim_isa_best()) {
        fprintf(stderr, "bench_nbody: %s: not an instruction set of this processor\n", value);
        return 64;
      }
      of.isa = isa;
    } else {
      return usage();
    }
  }
  if (!of.sizes) {
    static const int64_t usual[] = {3, 1024, 4096, 16384, 65536};
    of.sizes = sizeof usual / sizeof usual[0];
    memcpy(of.n, usual, sizeof usual);
  }
  if (!of.rate_only) {
    double peak = measure_peak(&of, 20);
    printf("%s, %s, %d threads: %.2f e9 vector FMA/s = %.0f GFLOP/s\n", of.single ? "single" : "double",
           sim_isa_name(of.isa), of.threads, peak / 1e9, 2 * width[of.isa][of.single] * peak / 1e9);
  }
  for (int k = 0; k < of.sizes; k++)
    if (bench(&of, of.n[k])) return 1;
  return 0;
}
