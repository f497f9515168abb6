#include "engine/reduce.h"

#include <math.h>

double sim_reduce_tree(double *partial, size_t count) {
  if (count == 0) return 0;
  for (size_t width = 1; width < count; width *= 2)
    for (size_t i = 0; i + width < count; i += 2 * width) partial[i] += partial[i + width];
  return partial[0];
}

size_t sim_reduce_blocks(size_t count) { return (count + SIM_REDUCE_BLOCK - 1) / SIM_REDUCE_BLOCK; }

static double block_sum(const double *x, size_t count) {
  double lanes[SIM_REDUCE_LANES] = {0};
  size_t i = 0;
  for (; i + SIM_REDUCE_LANES <= count; i += SIM_REDUCE_LANES)
    for (size_t lane = 0; lane < SIM_REDUCE_LANES; lane++) lanes[lane] += x[i + lane];
  for (size_t lane = 0; i + lane < count; lane++) lanes[lane] += x[i + lane];
  return sim_reduce_tree(lanes, SIM_REDUCE_LANES);
}

double sim_reduce_sum(const double *x, size_t count, double *partial, int threads) {
  size_t blocks = sim_reduce_blocks(count);
  (void)threads; /* unused without OpenMP */
#pragma omp parallel for schedule(static) num_threads(threads) if (blocks > 8 && threads > 1)
  for (size_t b = 0; b < blocks; b++) {
    size_t first = b * SIM_REDUCE_BLOCK, left = count - first;
    partial[b] = block_sum(x + first, left < SIM_REDUCE_BLOCK ? left : SIM_REDUCE_BLOCK);
  }
  return sim_reduce_tree(partial, blocks);
}

double sim_reduce_extreme(const double *x, size_t count, bool greatest) {
  double out = x[0];
  for (size_t i = 1; i < count && !isnan(out); i++)
    if (isnan(x[i]) || (greatest ? x[i] > out : x[i] < out)) out = x[i];
  return out;
}
