/* Statistics of a real field. */
#include "kernels/diffusion/diffusion.h"

#include "engine/reduce.h"

#include <math.h>

/* Sum of the values of a block, or of the squares of their differences from `about`. */
static double block_sum(const void *values, bool single, int64_t count, bool squares, double about) {
  double lanes[SIM_REDUCE_LANES] = {0};
  for (int64_t i = 0; i < count; i++) {
    const double value = grid_number(values, single, i) - about;
    lanes[i % SIM_REDUCE_LANES] += squares ? value * value : value;
  }
  return sim_reduce_tree(lanes, SIM_REDUCE_LANES);
}

static double total(const void *values, bool single, int64_t count, bool squares, double about, double *partial,
                    int threads) {
  const int64_t blocks = (int64_t)sim_reduce_blocks((size_t)count);
  const size_t size = single ? sizeof(float) : sizeof(double);
  (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (blocks > 8 && threads > 1)
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t first = b * SIM_REDUCE_BLOCK, left = count - first;
    partial[b] = block_sum((const char *)values + (size_t)first * size, single,
                           left < SIM_REDUCE_BLOCK ? left : SIM_REDUCE_BLOCK, squares, about);
  }
  return sim_reduce_tree(partial, (size_t)blocks);
}

diffusion_statistics diffusion_measure(const void *values, bool single, int64_t count, double cell, double *partial,
                                       int threads) {
  diffusion_statistics s = {.least = INFINITY, .greatest = -INFINITY};
  const double sum = total(values, single, count, false, 0, partial, threads);
  s.mean = sum / (double)count;
  s.mass = sum * cell;
  s.variance = total(values, single, count, true, s.mean, partial, threads) / (double)count;
  for (int64_t i = 0; i < count; i++) {
    const double value = grid_number(values, single, i);
    if (!(value >= s.least)) s.least = value; /* true for NaN too */
    if (!(value <= s.greatest)) s.greatest = value;
  }
  return s;
}
