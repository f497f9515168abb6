#include "engine/ceiling/ceiling.h"
#include "engine/ceiling/lanes.h"
#include "engine/wall_clock.h"

#include <math.h>
#include <omp.h>
#include <string.h>

static const sim_ceiling_lanes *const lanes[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {&sim_ceiling_lanes_double_plain, &sim_ceiling_lanes_single_plain},
#if CEILING_X86
    [SIM_ISA_AVX2] = {&sim_ceiling_lanes_double_avx2, &sim_ceiling_lanes_single_avx2},
    [SIM_ISA_AVX512] = {&sim_ceiling_lanes_double_avx512, &sim_ceiling_lanes_single_avx512},
#endif
};

enum { VECTORS = 600000 }; /* takes a few tenths of a millisecond */

/* Highest rate of all threads together, over repeated loops; each thread times its own loops. */
static double best_of(double (*loop)(long count), int threads, double seconds) {
  const double begin = sim_wall_clock();
  double best = 0;
  do {
    double all = 0;
#pragma omp parallel num_threads(threads)
    {
      const double from = sim_wall_clock(), done = loop(VECTORS), rate = done / (sim_wall_clock() - from);
#pragma omp critical
      all += rate;
    }
    best = fmax(best, all);
  } while (sim_wall_clock() - begin < seconds);
  return best;
}

/* Copies between two arrays of 128 MiB. */
static sim_status measure_copy(int threads, double seconds, double *out) {
  const size_t bytes = (size_t)128 << 20;
  void *from = NULL, *to = NULL;
  sim_status status = sim_backend_cpu.alloc(bytes, &from);
  if (status == SIM_OK) status = sim_backend_cpu.alloc(bytes, &to);
  const double begin = sim_wall_clock();
  for (int k = 0; status == SIM_OK && (k < 3 || sim_wall_clock() - begin < seconds); k++) {
    const double start = sim_wall_clock();
#pragma omp parallel num_threads(threads)
    {
      const size_t piece = bytes / (size_t)omp_get_num_threads() / 64 * 64, at = piece * (size_t)omp_get_thread_num();
      memcpy((char *)to + at, (const char *)from + at, piece);
    }
    *out = fmax(*out, 2 * (double)(bytes / (size_t)threads / 64 * 64 * (size_t)threads) / (sim_wall_clock() - start));
  }
  if (from) sim_backend_cpu.free(from);
  if (to) sim_backend_cpu.free(to);
  return status;
}

sim_status sim_ceilings_cpu(sim_isa isa, int threads, double seconds, sim_ceilings *out) {
  *out = (sim_ceilings){.fft = NAN, .host_copy = NAN, .launch = NAN};
  out->fma32 = best_of(lanes[isa][1]->fma, threads, seconds);
  out->fma64 = best_of(lanes[isa][0]->fma, threads, seconds);
  out->rsqrt = best_of(lanes[isa][1]->rsqrt, threads, seconds);
  return measure_copy(threads, seconds, &out->copy);
}
