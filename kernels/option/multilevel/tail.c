#include "kernels/option/multilevel/tail.h"

#include "engine/rng.h"

#include <math.h>

/* Ratio of the chances of two levels: 2^(-5/4). */
#define RATIO 0.42044820762685727152
/* Draw of the offset of a piece, which no path takes: see random/draws.h. */
enum { DRAW_LEVEL = 448 };

void option_tail_make(int first, int most, option_tail *out) {
  double chance = 1, all = 0;
  *out = (option_tail){.first = first, .levels = most - first};
  for (int k = 0; k < out->levels; k++, chance *= RATIO) all += out->chance[k] = chance;
  for (int k = 0; k < out->levels; k++) out->chance[k] /= all;
}

void option_tail_counts(const option_tail *tail, uint64_t seed, double piece, int samples, int *count) {
  double offset[2], share = 0;
  int before = 0;
  sim_rng_uniform(seed, (uint64_t)piece, 0, DRAW_LEVEL, offset);
  for (int k = 0; k < tail->levels; k++) {
    share += tail->chance[k];
    const int end = k + 1 < tail->levels ? (int)ceil(samples * share - offset[0]) : samples;
    count[k] = end - before;
    before = end;
  }
}
