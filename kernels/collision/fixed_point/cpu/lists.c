/* Fixed-point solver on the CPU: sorts grains into slabs and cells, and decides when pair lists are rebuilt. GPU
 * counterpart: cuda/lists.cu. */
#include "kernels/collision/fixed_point/cpu/work.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t cell_along(uint32_t x, uint32_t cells) { return (uint32_t)((uint64_t)x * cells >> 32); }

/* ---- sorting ---- */

/* Counts the grains of old slots from ... to - 1 by slab. */
static void count_slabs(collision_work *w, int thread, int64_t from, int64_t to) {
  int64_t *counted = w->counted + (int64_t)thread * w->cells[0];
  memset(counted, 0, w->cells[0] * sizeof *counted);
  for (int64_t k = from; k < to; k++) {
    if (w->now.id[k] == UINT32_MAX) continue;
    counted[cell_along(w->now.x[k * w->stride + w->axis[0]], w->cells[0])]++;
  }
}

/* Turns the counts into the first index of each thread's share of a slab in `order`. */
static void place_slabs(collision_work *w) {
  int64_t at = 0, slot = 0;
  for (int64_t s = 0; s < (int64_t)w->cells[0]; s++) {
    const int64_t first = at;
    for (int t = 0; t < w->threads; t++) {
      int64_t *counted = &w->counted[(int64_t)t * w->cells[0] + s];
      const int64_t count = *counted;
      *counted = at;
      at += count;
    }
    w->slab[s].first = slot;
    w->slab[s].count = at - first;
    slot += (at - first + FIXED_GROUP) / FIXED_GROUP * FIXED_GROUP;
  }
  w->slots = slot;
}

static void scatter(collision_work *w, int thread, int64_t from, int64_t to) {
  int64_t *next = w->counted + (int64_t)thread * w->cells[0];
  for (int64_t k = from; k < to; k++) {
    if (w->now.id[k] == UINT32_MAX) continue;
    const uint32_t *x = w->now.x + k * w->stride;
    const uint32_t slab = cell_along(x[w->axis[0]], w->cells[0]);
    if (!w->near[slab]) continue;
    const int64_t to_slot = next[slab]++;
    w->order[to_slot] = (uint32_t)k;
    w->cell[to_slot] = cell_along(x[w->axis[1]], w->cells[1]) * w->cells[2] + cell_along(x[w->axis[2]], w->cells[2]);
  }
}

/* Copies the grains of slab s, from index `begin` on in `order`, to their slots, sorted by cell. */
static inline void fill_slots(collision_work *w, int64_t s, int64_t begin, int stride) {
  const int64_t cells = (int64_t)w->cells[1] * w->cells[2], count = w->slab[s].count, first = w->slab[s].first;
  const size_t bytes = (size_t)stride * sizeof(uint32_t);
  uint32_t *at = w->cell_first + s * (cells + 1);
  memset(at, 0, (size_t)(cells + 1) * sizeof *at);
  for (int64_t k = begin; k < begin + count; k++) at[w->cell[k] + 1]++;
  for (int64_t c = 0; c < cells; c++) at[c + 1] += at[c];
  for (int64_t k = begin; k < begin + count; k++) {
    const int64_t from = w->order[k], to = first + at[w->cell[k]]++;
    memcpy(w->spare.x + to * stride, w->now.x + from * stride, bytes);
    memcpy(w->spare.p + to * stride, w->now.p + from * stride, bytes);
    w->spare.id[to] = w->now.id[from];
    w->spare.collisions[to] = w->now.collisions[from];
  }
  for (int64_t c = cells; c > 0; c--) at[c] = at[c - 1];
  at[0] = 0;
  const int64_t end = first + (count + FIXED_GROUP) / FIXED_GROUP * FIXED_GROUP;
  for (int64_t k = first + count; k < end; k++) {
    memset(w->spare.x + k * stride, 0, bytes);
    memset(w->spare.p + k * stride, 0, bytes);
    w->spare.id[k] = UINT32_MAX;
    w->spare.collisions[k] = 0;
  }
}

/* No grain of slab s has moved since its lists were made. */
static void forget_moves(collision_work *w, int64_t s) {
  w->slab[s].fastest = w->fastest;
  w->slab[s].moved = 0;
  w->slab[s].moved_at[FIXED_WITHIN] = w->slab[s].moved_at[FIXED_NEXT] = -INFINITY;
}

/* Sorts slab s into cells; the last thread's share of it in `order` ends where the slab does. */
static void fill_slab(collision_work *w, int64_t s) {
  const int64_t begin = w->counted[(int64_t)(w->threads - 1) * w->cells[0] + s] - w->slab[s].count;
  if (w->stride == 3)
    fill_slots(w, s, begin, 3);
  else
    fill_slots(w, s, begin, 4);
}

/* ---- lists ---- */

/* Criterion of a list of pairs: distance below the sum of the radii and `skin`. */
static fixed_reach reach_of(const collision_work *w, double skin) {
  fixed_reach reach = {.equal = w->system.equal};
  /* 1e-5 exceeds the rounding of differences and squares, about 1e-7. */
  reach.reach = (float)(((w->system.equal ? 2 * w->system.radius[1] : 0) + skin) * (1 + 1e-5));
  for (int c = 0; c < 3; c++) reach.length[c] = (float)(w->system.size[c] * 0x1p-32);
  return reach;
}

static sim_status rebuild(collision_work *w) {
  const int64_t slots = w->slots;
  SIM_TRY(collision_fixed_gather(w));
  /* The search uses fp32 coordinates, exact to about 1e-7 of the box. */
  const fixed_reach reach = reach_of(w, w->outer + 1e-6 * w->system.size[w->axis[0]]);
#pragma omp parallel num_threads(w->threads)
  {
#pragma omp for schedule(static, 1)
    for (int t = 0; t < w->threads; t++) count_slabs(w, t, slots * t / w->threads, slots * (t + 1) / w->threads);
#pragma omp single
    {
      place_slabs(w);
      collision_fixed_cut(w);
      for (int64_t s = 0; s < (int64_t)w->cells[0]; s++) forget_moves(w, s);
    }
#pragma omp for schedule(static, 1)
    for (int t = 0; t < w->threads; t++) scatter(w, t, slots * t / w->threads, slots * (t + 1) / w->threads);
#pragma omp for schedule(static, 1)
    for (int t = 0; t < w->threads; t++) {
      int64_t first, end;
      collision_fixed_thread_chain(w, t, 1, 1, &first, &end);
      for (int64_t s = first; s < end; s++) fill_slab(w, collision_fixed_wrapped(w, s));
    }
#pragma omp single
    {
      const fixed_grains old = w->now;
      w->now = w->spare;
      w->spare = old;
    }
#pragma omp for schedule(static, 1)
    for (int t = 0; t < w->threads; t++) w->team[t].failed = !collision_fixed_search(w, t, &reach);
#pragma omp for schedule(static, 1)
    for (int t = 0; t < w->threads; t++)
      w->team[t].failed = !collision_fixed_reserve_impulses(w, t) || w->team[t].failed;
  }
  w->listed = true;
  w->ahead = false;
  w->known = w->ids = w->comm->size == 1;
  for (int t = 0; t < w->threads; t++)
    if (w->team[t].failed) return sim_no_memory("the pairs of %" PRId64 " grains", w->o.n);
  return SIM_OK;
}

static const fixed_slab *other_slab(const collision_work *w, int64_t s, int which) {
  return &w->slab[which == FIXED_WITHIN ? s : collision_fixed_next_slab(w, s)];
}

/* Whether an inner list is still valid. It was made when the sum of both slabs' displacements was `moved_at`: two
 * grains have approached by at most `moved` since then, and a contact may begin within half a step. */
static bool list_holds(const collision_work *w, int64_t s, int which, double moved_at, double before) {
  const fixed_slab *slab = &w->slab[s], *other = other_slab(w, s, which);
  const double margin = w->system.damped ? 0.5 * (slab->fastest + other->fastest) * before : 0;
  return slab->moved + other->moved + margin - moved_at <= w->inner;
}

void collision_fixed_inner_list(collision_work *w, int64_t s, int which, double before) {
  if (list_holds(w, s, which, w->slab[s].moved_at[which], before)) return;
  const fixed_reach reach = reach_of(w, w->inner);
  const fixed_slab_pair sides = collision_fixed_slab_pair(w, s, which);
  fixed_slab *slab = &w->slab[s];
  w->lanes->within(&reach, &slab->outer[which], &sides, &slab->inner[which]);
  slab->moved_at[which] = slab->moved + other_slab(w, s, which)->moved;
}

sim_status collision_fixed_outer_lists(collision_work *w, bool fresh, double *rest) {
  const double most = w->outer - w->inner;
  bool needed = !w->listed;
  *rest = INFINITY;
  if (w->listed) SIM_TRY(collision_fixed_report(w));
  for (int64_t s = 0; s < (int64_t)w->cells[0] && !needed; s++)
    for (int which = 0; which < 2; which++) {
      const double moved = w->slab[s].moved + other_slab(w, s, which)->moved;
      *rest = fmin(*rest, most - moved);
      const double moved_at = w->comm->size > 1 ? w->report[s].moved_at[which] : w->slab[s].moved_at[which];
      needed = needed || (moved > most && (fresh || !list_holds(w, s, which, moved_at, w->before)));
    }
  if (!needed) return SIM_OK;
  *rest = most;
  return rebuild(w);
}

void collision_fixed_lists_free(collision_work *w) {
  for (int64_t s = 0; w->slab != NULL && s < (int64_t)w->cells[0]; s++)
    for (int which = 0; which < 2; which++) free(w->slab[s].outer[which].a), free(w->slab[s].inner[which].a);
  for (int t = 0; w->team != NULL && t < w->threads; t++) {
    free(w->team[t].memory);
    for (int k = 0; k < 2; k++) free(w->team[t].rows[k].word);
  }
}
