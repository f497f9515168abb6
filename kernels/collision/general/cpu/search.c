#include "kernels/collision/general/cpu/search.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 12 }; /* neighbours a grain to begin with */

sim_status collision_search_create(const collision_options *o, double smallest, double largest, collision_search *out) {
  const size_t n = (size_t)o->n;
  *out = (collision_search){.n = o->n,
                            .threads = o->threads,
                            .smallest = smallest,
                            .largest = largest,
                            .room = ROOM * o->n,
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

void collision_search_destroy(collision_search *s) {
  free(s->cell_first), free(s->cell_of), free(s->order), free(s->first), free(s->neighbour), free(s->block);
  *s = (collision_search){0};
}

void collision_search_limit(collision_search *s, const collision_span *span, int count) {
  s->blocks = 0;
  for (int k = 0; k < count; k++)
    for (int64_t i = span[k].first; i < span[k].end; i += COLLISION_BLOCK)
      s->block[s->blocks++] =
          (collision_span){i, i + COLLISION_BLOCK < span[k].end ? i + COLLISION_BLOCK : span[k].end};
}

double collision_search_bytes(int64_t n) { return (double)n * (16 + 4 + 4 + 8 + 4.0 * ROOM); }
