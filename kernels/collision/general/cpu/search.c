#include "kernels/collision/general/cpu/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sim_status collision_search_create(const collision_options *o, double smallest, double largest, collision_search *out) {
  const size_t n = (size_t)o->n;
  *out = (collision_search){.n = o->n,
                            .threads = o->threads,
                            .smallest = smallest,
                            .largest = largest,
                            .room = COLLISION_NEIGHBOURS * o->n,
                            .sheared = o->shear != 0,
                            .turned = o->across == 0};
  memcpy(out->low, o->low, sizeof out->low);
  memcpy(out->size, o->size, sizeof out->size);
  memcpy(out->periodic, o->periodic, sizeof out->periodic);
  out->cell_of = malloc(n * sizeof *out->cell_of);
  out->order = malloc(n * sizeof *out->order);
  out->first = malloc((n + 1) * sizeof *out->first);
  out->neighbour = malloc((size_t)out->room * sizeof *out->neighbour);
  out->block = malloc((n / COLLISION_BLOCK + COLLISION_LEVELS) * sizeof *out->block);
  if (out->cell_of && out->order && out->first && out->neighbour && out->block) return SIM_OK;
  collision_search_destroy(out);
  return sim_no_memory("the neighbours of %zu grains", n);
}

double collision_search_skin(const collision_options *o, double smallest) {
  return isnan(o->skin) ? 0.3 * smallest : o->skin;
}

void collision_search_destroy(collision_search *s) {
  free(s->cell_first), free(s->cell_of), free(s->order), free(s->first), free(s->neighbour), free(s->block);
  *s = (collision_search){0};
}

/* Estimated work of a search: rows of cells and candidates that all grains visit, if classes are divided into levels
 * where a bit of `cuts` is set. Grains are assumed to be spread evenly over the volume. */
static double work_of(const collision_search *s, int classes, const double *count, const double *radius, double volume,
                      unsigned cuts) {
  /* Time of visiting a row of cells over that of visiting a grain, roughly: factors of two change little. */
  const double row = 4;
  double work = 0;
  for (int k = 0; k < classes; k++) {
    double most = radius[k], all = count[k];
    while (k + 1 < classes && !(cuts >> k & 1)) k++, most = fmax(most, radius[k]), all += count[k];
    const double side = fmax(2 * most + s->cutoff, cbrt(volume / (4 * all + 64))); /* as in lay_cells */
    for (int i = 0; i < classes; i++) {
      const double wide = 2 * (radius[i] + most + s->cutoff) + side;
      work += count[i] * (row * (wide / side) * (wide / side) + all * fmin(1, wide * wide * wide / volume));
    }
  }
  return work;
}

void collision_search_choose(collision_search *s, const int64_t count[COLLISION_LEVELS],
                             const double radius[COLLISION_LEVELS], double volume) {
  double number[COLLISION_LEVELS], most[COLLISION_LEVELS], least = INFINITY;
  int from[COLLISION_LEVELS], classes = 0;
  unsigned best = s->halved ? ~0u : 0;
  for (int k = 0; k < COLLISION_LEVELS; k++) {
    s->level[k] = (collision_level){0};
    if (count[k] == 0) continue;
    number[classes] = (double)count[k];
    most[classes] = radius[k];
    from[classes++] = k;
  }
  for (unsigned cuts = 0; classes > 0 && cuts < 1u << (classes - 1) && !s->halved; cuts++) {
    const double work = work_of(s, classes, number, most, volume, cuts);
    if (work < least) least = work, best = cuts;
  }
  s->levels = 1;
  for (int k = 0, c = 0; k < COLLISION_LEVELS; k++) {
    s->level_of_class[k] = s->levels - 1;
    if (c == classes || from[c] != k) continue;
    s->level[s->levels - 1].radius = fmax(s->level[s->levels - 1].radius, radius[k]);
    if (++c < classes && (best >> (c - 1) & 1)) s->levels++;
  }
}

void collision_search_limit(collision_search *s, const collision_span *span, int count) {
  s->blocks = 0;
  for (int k = 0; k < count; k++)
    for (int64_t i = span[k].first; i < span[k].end; i += COLLISION_BLOCK)
      s->block[s->blocks++] =
          (collision_span){i, i + COLLISION_BLOCK < span[k].end ? i + COLLISION_BLOCK : span[k].end};
}

double collision_search_bytes(int64_t n) { return (double)n * (16 + 4 + 4 + 8 + 4.0 * COLLISION_NEIGHBOURS); }
