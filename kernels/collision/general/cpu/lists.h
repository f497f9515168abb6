/* The order of the grains, and their contacts' history as it moves. Part of cpu.c, for one precision: `real` is defined
 * before this is included. */
#ifndef COLLISION_CPU_LISTS_H
#define COLLISION_CPU_LISTS_H

#include "kernels/collision/general/cpu/work.h"

/* All numbers of the grains into the order of the cells. */
static void rearrange(collision_work *w) {
  const grains *a = &w->now, *b = &w->spare;
  const uint32_t *order = w->search.order;
  const size_t springs = wall_numbers(&w->o);
#pragma omp parallel for schedule(static) num_threads(w->o.threads) if (w->o.n > 4096)
  for (int64_t i = 0; i < w->o.n; i++) {
    const uint32_t k = order[i];
    b->place[i] = a->place[k];
    b->seen[i] = a->seen[k];
    b->turned[i] = a->turned[k];
    b->velocity[i] = a->velocity[k];
    b->spin[i] = a->spin[k];
    b->acceleration[i] = a->acceleration[k];
    b->twirl[i] = a->twirl[k];
    b->tally[i] = a->tally[k];
    b->id[i] = a->id[k];
    b->material[i] = a->material[k];
    memcpy(b->wall_spring + (size_t)i * springs, a->wall_spring + k * springs, springs * sizeof(real));
    memcpy(b->crossed + i * w->o.gates, a->crossed + (int64_t)k * w->o.gates, (size_t)w->o.gates * sizeof *b->crossed);
  }
  const grains old = w->now;
  w->now = w->spare;
  w->spare = old;
}

/* History from the old rows to the new ones; both are in the order of ids. The old ids stand in `spare`. */
static void move_springs(collision_work *w) {
  const int springs = w->o.springs;
  const uint32_t *old_id = w->spare.id, *id = w->now.id;
#pragma omp parallel for schedule(static) num_threads(w->o.threads) if (w->o.n > 4096)
  for (int64_t i = 0; i < w->o.n; i++) {
    const int64_t k = w->search.order[i];
    int64_t at = w->old_first[k];
    for (int64_t e = w->search.first[i]; e < w->search.first[i + 1]; e++) {
      const uint32_t partner = id[w->search.neighbour[e]];
      real *to = w->spring + e * springs;
      while (at < w->old_first[k + 1] && old_id[w->old_neighbour[at]] < partner) at++;
      if (at < w->old_first[k + 1] && old_id[w->old_neighbour[at]] == partner)
        memcpy(to, w->old_spring + at * springs, (size_t)springs * sizeof(real));
      else
        memset(to, 0, (size_t)springs * sizeof(real));
    }
  }
}

static void keep_list(collision_work *w) {
  uint32_t *neighbour = w->old_neighbour;
  const int64_t room = w->old_room;
  real *spring = w->old_spring;
  const int64_t spring_room = w->old_spring_room;
  int64_t *first = w->old_first;
  w->old_neighbour = w->search.neighbour;
  w->old_room = w->search.room;
  w->old_first = w->search.first;
  w->old_spring = w->spring;
  w->old_spring_room = w->spring_room;
  w->search.neighbour = neighbour;
  w->search.room = room;
  w->search.first = first;
  w->spring = spring;
  w->spring_room = spring_room;
}

static sim_status make_list(collision_work *w) {
  const int springs = w->o.springs;
  if (springs > 0 && w->listed) keep_list(w);
  SIM_TRY(sort_cells(&w->search, w->now.place));
  rearrange(w);
  for (int64_t i = 0; i < w->o.n; i++) w->slot[w->now.id[i]] = (uint32_t)i;
  SIM_TRY(list_neighbours(&w->search, w->now.place, w->now.id));
  const int64_t entries = w->search.first[w->o.n];
  if (springs > 0 && entries > w->spring_room) {
    free(w->spring);
    w->spring_room = entries + entries / 8;
    w->spring = malloc((size_t)(w->spring_room * springs) * sizeof *w->spring);
    if (w->spring == NULL) {
      w->spring_room = 0;
      return sim_no_memory("the history of %" PRId64 " contacts", entries);
    }
  }
  if (springs > 0 && w->listed)
    move_springs(w);
  else if (springs > 0 && entries > 0)
    memset(w->spring, 0, (size_t)(entries * springs) * sizeof *w->spring);
  w->listed = true;
  w->moved = 0;
  return SIM_OK;
}

#endif
