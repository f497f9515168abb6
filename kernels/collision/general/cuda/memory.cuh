/* Memory and cells. `real` is defined before this is included. */
#ifndef COLLISION_CUDA_BED_MEMORY_CUH
#define COLLISION_CUDA_BED_MEMORY_CUH

#include "kernels/collision/general/cuda/work.cuh"
#include "kernels/collision/general/cuda/flow.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *take(const bed_work *w, size_t *at, size_t bytes) {
  void *const out = w->memory != NULL ? (char *)w->memory + *at : NULL;
  *at += (bytes + 255) / 256 * 256;
  return out;
}

template <typename T> static void take_array(const bed_work *w, size_t *at, T **out, uint64_t count) {
  *out = (T *)take(w, at, (size_t)count * sizeof(T));
}

/* Entries of a list: a slice is as long as its longest row, which radii make uneven. */
static uint64_t room_for(uint64_t n, double ratio) {
  return (ratio < 1.3 ? 11 : ratio < 2.5 ? 20 : 40) * (n + 32) + 4096;
}

/* Places all arrays; with no memory yet, only counts. */
static size_t place(bed_work *w) {
  bed_arrays *a = &w->arrays;
  const bed_numbers *b = &w->numbers;
  const uint64_t n = b->n;
  size_t at = 0;
  for (int s = 0; s < 2; s++) {
    bed_grains *g = &a->grains[s];
    four **const fours[] = {&g->place, &g->velocity, &g->spin, &g->seen, &g->turned};
    for (size_t k = 0; k < sizeof fours / sizeof *fours; k++) take_array(w, &at, fours[k], n);
    a->grains[1 - s].acceleration = g->seen;
    a->grains[1 - s].twirl = g->turned;
    bed_kept *kept = &a->kept[s];
    take_array(w, &at, &kept->dissipated, n);
    take_array(w, &at, &kept->virial, n);
    take_array(w, &at, &kept->collisions, n);
    take_array(w, &at, &kept->id, n);
    take_array(w, &at, &kept->material, n);
    take_array(w, &at, &kept->wall_spring, n * (uint64_t)b->wall_numbers);
    take_array(w, &at, &kept->work, b->worked ? n : 0);
    take_array(w, &at, &kept->crossed, n * (uint64_t)b->gates);
    bed_list *l = &a->list[s];
    take_array(w, &at, &l->base, (uint64_t)b->slices + 1);
    take_array(w, &at, &l->count, n);
    take_array(w, &at, &l->neighbour, b->room);
    take_array(w, &at, &l->spring, (uint64_t)b->room * (uint64_t)b->springs);
  }
  take_array(w, &at, &a->cell, (uint64_t)b->cells + 1);
  take_array(w, &at, &a->cell_of, n);
  take_array(w, &at, &a->rank, n + 1);
  take_array(w, &at, &a->order, n);
  a->slot = a->cell_of;
  take_array(w, &at, &a->partial, 4096);
  take_array(w, &at, &a->barrier, 2);
  take_array(w, &at, &a->control, 2);
  take_array(w, &at, &a->motion, 4);
  take_array(w, &at, &a->fault, 1);
  take_array(w, &at, (bed_numbers **)&a->numbers, 1);
  take_array(w, &at, (contact_law **)&a->law, COLLISION_MATERIALS_MAX * COLLISION_MATERIALS_MAX);
  take_array(w, &at, (geometry_wall **)&a->wall, COLLISION_WALLS_MAX);
  take_array(w, &at, (collision_gate **)&a->gate, COLLISION_GATES_MAX);
  take_array(w, &at, (four **)&a->outer, b->external ? n : 0);
  take_array(w, &at, &a->near, n * (uint64_t)b->meshes);
  take_array(w, &at, &w->sums, BED_SUMS);
  take_array(w, &at, &w->partial, (uint64_t)(BED_WALL + 3 * w->options.forces) * b->blocks);
  take_array(w, &at, &w->deepest, 1);
  take_array(w, &at, &w->any, 1);
  take_array(w, &at, &w->moves, w->options.varies ? 3 * n : 0);
  take_array(w, &at, &w->start, w->options.varies ? n + 1 : 0);
  return at;
}

static void count_grains(bed_numbers *b, int64_t n) {
  b->n = (uint32_t)n;
  b->slices = (b->n + 31) / 32;
  b->blocks = (b->n + BED_THREADS - 1) / BED_THREADS;
}

static void count(bed_work *w, double ratio) {
  bed_numbers *b = &w->numbers;
  const collision_options *o = &w->options;
  count_grains(b, o->n);
  b->worked = o->worked;
  b->gates = o->gates;
  b->external = o->external != NULL;
  b->springs = o->springs;
  b->walls = o->walls;
  b->meshes = o->meshes;
  b->wall_numbers = o->wall_numbers;
  b->room = (uint32_t)room_for(b->n, ratio);
}

static double bytes(const collision_options *options) {
  bed_work w = {};
  w.options = *options;
  count(&w, options->radius_most > 0 && options->radius_least > 0 ? options->radius_most / options->radius_least : 1);
  w.numbers.cells = 2 * w.numbers.n + 4096;
  return (double)place(&w);
}

/* One grid for each class of radii, of cells as long as two of its largest reach; all together no more than two cells a
 * grain and some. */
static void lay_cells(bed_work *w) {
  bed_numbers *b = &w->numbers;
  double top = w->largest;
  b->levels = 0;
  b->cells = 0;
  while (b->levels < BED_LEVELS) {
    b->level[b->levels++].radius = top;
    top /= 2;
    if (top < w->smallest) break;
  }
  for (int l = 0; l < b->levels; l++) {
    bed_level *level = &b->level[l];
    const double most = fmax(64, 2.0 * b->n / b->levels);
    double side = 2 * level->radius + b->skin, total;
    do {
      total = 1;
      for (int c = 0; c < 3; c++) {
        const double cells = fmax(1, fmin(floor(b->size[c] / side), 2e6));
        level->cells[c] = (uint32_t)cells;
        level->width[c] = b->size[c] / cells;
        total *= cells;
      }
      side *= 1.1;
    } while (total > most);
    level->first_cell = b->cells;
    b->cells += (uint32_t)total;
  }
}

#endif
