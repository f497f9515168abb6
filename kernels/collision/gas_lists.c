/* The gas's lists: grains sorted into slabs and cells, pairs of a wide and of a narrow reach. */
#include "kernels/collision/gas_cpu.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int64_t collision_gas_next(const collision_work *w, int64_t slab) {
  return slab + 1 < (int64_t)w->cells[0] ? slab + 1 : 0;
}

gas_sides collision_gas_sides(const collision_work *w, int64_t slab, int which) {
  const int64_t a = w->slab[slab].first * w->stride;
  const int64_t b = which == GAS_OWN ? a : w->slab[collision_gas_next(w, slab)].first * w->stride;
  return (gas_sides){.xa = w->now.x + a, .xb = w->now.x + b, .pa = w->now.p + a, .pb = w->now.p + b};
}

void collision_gas_share(const collision_work *w, int thread, int64_t *first, int64_t *end) {
  *first = (int64_t)w->cells[0] * thread / w->threads;
  *end = (int64_t)w->cells[0] * (thread + 1) / w->threads;
}

static uint32_t cell_along(uint32_t x, uint32_t cells) { return (uint32_t)((uint64_t)x * cells >> 32); }

/* ---- sorting ---- */

/* Of old slots from ... to. */
static void count_slabs(collision_work *w, int thread, int64_t from, int64_t to) {
  int64_t *counted = w->counted + (int64_t)thread * w->cells[0];
  memset(counted, 0, w->cells[0] * sizeof *counted);
  for (int64_t k = from; k < to; k++) {
    if (w->now.id[k] == UINT32_MAX) continue;
    counted[cell_along(w->now.x[k * w->stride + w->axis[0]], w->cells[0])]++;
  }
}

/* From counts to where each thread's share of a slab begins in `order`. */
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
    slot += (at - first + GAS_GROUP) / GAS_GROUP * GAS_GROUP;
  }
  w->slots = slot;
}

static void scatter(collision_work *w, int thread, int64_t from, int64_t to) {
  int64_t *next = w->counted + (int64_t)thread * w->cells[0];
  for (int64_t k = from; k < to; k++) {
    if (w->now.id[k] == UINT32_MAX) continue;
    const uint32_t *x = w->now.x + k * w->stride;
    const int64_t to_slot = next[cell_along(x[w->axis[0]], w->cells[0])]++;
    w->order[to_slot] = (uint32_t)k;
    w->cell[to_slot] = cell_along(x[w->axis[1]], w->cells[1]) * w->cells[2] + cell_along(x[w->axis[2]], w->cells[2]);
  }
}

/* Grains of a slab, at `begin` in `order`, to their slots, by cells. */
static void fill_slab(collision_work *w, int64_t s, int64_t begin) {
  const int64_t cells = (int64_t)w->cells[1] * w->cells[2], count = w->slab[s].count, first = w->slab[s].first;
  const size_t bytes = (size_t)w->stride * sizeof(uint32_t);
  uint32_t *at = w->cell_first + s * (cells + 1);
  memset(at, 0, (size_t)(cells + 1) * sizeof *at);
  for (int64_t k = begin; k < begin + count; k++) at[w->cell[k] + 1]++;
  for (int64_t c = 0; c < cells; c++) at[c + 1] += at[c];
  for (int64_t k = begin; k < begin + count; k++) {
    const int64_t from = w->order[k], to = first + at[w->cell[k]]++;
    memcpy(w->spare.x + to * w->stride, w->now.x + from * w->stride, bytes);
    memcpy(w->spare.p + to * w->stride, w->now.p + from * w->stride, bytes);
    w->spare.id[to] = w->now.id[from];
    w->spare.collisions[to] = w->now.collisions[from];
  }
  for (int64_t c = cells; c > 0; c--) at[c] = at[c - 1];
  at[0] = 0;
  const int64_t end = first + (count + GAS_GROUP) / GAS_GROUP * GAS_GROUP;
  for (int64_t k = first + count; k < end; k++) {
    memset(w->spare.x + k * w->stride, 0, bytes);
    memset(w->spare.p + k * w->stride, 0, bytes);
    w->spare.id[k] = UINT32_MAX;
    w->spare.collisions[k] = 0;
  }
}

/* One array a coordinate, for the search, in what is spare. */
static uint32_t *coordinates(const collision_work *w, int c) { return w->spare.x + c * w->room; }
static void split_slab(collision_work *w, int64_t s) {
  const int64_t first = w->slab[s].first;
  for (int64_t k = first; k < first + w->slab[s].count; k++)
    for (int c = 0; c < w->stride; c++) coordinates(w, c)[k] = w->now.x[k * w->stride + c];
}

/* ---- searching ---- */

static bool grow(gas_list *list, size_t room) {
  if (room <= list->room) return true;
  gas_pair *pair = realloc(list->pair, (room + room / 4) * sizeof *pair);
  if (pair == NULL) return false;
  list->pair = pair;
  list->room = room + room / 4;
  return true;
}

/* The cells z - 1, z, z + 1 of a row, or from z on; one range, or two where the row begins anew. */
static void add_row(const collision_work *w, const uint32_t *row, uint32_t z, bool half, gas_cell *cell) {
  const uint32_t last = w->cells[2] - 1;
  uint32_t from = half || z == 0 ? z : z - 1, to = z == last ? last : z + 1;
  cell->range[cell->count][0] = row[from];
  cell->range[cell->count++][1] = row[to + 1];
  if (z == 0 && !half) {
    cell->range[cell->count][0] = row[last];
    cell->range[cell->count++][1] = row[last + 1];
  }
  if (z == last) {
    cell->range[cell->count][0] = row[0];
    cell->range[cell->count++][1] = row[1];
  }
}

static bool add_pairs(const collision_work *w, const gas_reach *reach, const gas_cell *cell, gas_list *list) {
  size_t candidates = 0;
  for (int k = 0; k < cell->count; k++) candidates += (size_t)(cell->range[k][1] - cell->range[k][0]);
  if (!grow(list, list->count + candidates * (size_t)(cell->to - cell->from) + GAS_GROUP)) return false;
  list->count += w->lanes->search(reach, cell, list->pair + list->count);
  return true;
}

static bool search_slab(collision_work *w, const gas_reach *reach, int64_t s) {
  const int64_t cells = (int64_t)w->cells[1] * w->cells[2], next = collision_gas_next(w, s);
  const uint32_t *own = w->cell_first + s * (cells + 1), *other = w->cell_first + next * (cells + 1);
  gas_slab *slab = &w->slab[s];
  const uint32_t rows = w->cells[1];
  slab->outer[GAS_OWN].count = slab->outer[GAS_NEXT].count = 0;
  for (uint32_t y = 0; y < rows; y++) {
    const size_t up = y + 1 < rows ? y + 1 : 0, down = y > 0 ? y - 1 : rows - 1;
    for (uint32_t z = 0; z < w->cells[2]; z++) {
      const uint32_t *here = own + (size_t)y * w->cells[2];
      gas_cell cell = {.from = here[z], .to = here[z + 1], .self = true};
      if (cell.from == cell.to) continue;
      for (int c = 0; c < w->stride; c++) { cell.a[c] = cell.b[c] = coordinates(w, c) + slab->first; }
      add_row(w, here, z, true, &cell);
      add_row(w, own + up * w->cells[2], z, false, &cell);
      if (!add_pairs(w, reach, &cell, &slab->outer[GAS_OWN])) return false;
      cell.self = false;
      cell.count = 0;
      for (int c = 0; c < w->stride; c++) cell.b[c] = coordinates(w, c) + w->slab[next].first;
      add_row(w, other + down * w->cells[2], z, false, &cell);
      add_row(w, other + (size_t)y * w->cells[2], z, false, &cell);
      add_row(w, other + up * w->cells[2], z, false, &cell);
      if (!add_pairs(w, reach, &cell, &slab->outer[GAS_NEXT])) return false;
    }
  }
  return true;
}

/* Pairs nearer than the sum of their radii and `skin`. */
static gas_reach reach_of(const collision_work *w, double skin) {
  gas_reach reach = {.equal = w->gas.equal};
  /* Rounding of positions' differences and of the square: some 1e-7. */
  reach.reach = (float)(((w->gas.equal ? 2 * w->gas.radius[1] : 0) + skin) * (1 + 1e-5));
  for (int c = 0; c < 3; c++) reach.length[c] = (float)(w->gas.size[c] * 0x1p-32);
  return reach;
}

static sim_status check_memory(const collision_work *w) {
  for (int t = 0; t < w->threads; t++)
    if (w->team[t].failed) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the pairs of %" PRId64 " grains", w->o.n);
  return SIM_OK;
}

static sim_status rebuild(collision_work *w) {
  const gas_reach reach = reach_of(w, w->outer);
  const int64_t slots = w->slots;
#pragma omp parallel num_threads(w->threads)
  {
#pragma omp for schedule(static, 1)
    for (int t = 0; t < w->threads; t++) count_slabs(w, t, slots * t / w->threads, slots * (t + 1) / w->threads);
#pragma omp single
    place_slabs(w);
#pragma omp for schedule(static, 1)
    for (int t = 0; t < w->threads; t++) scatter(w, t, slots * t / w->threads, slots * (t + 1) / w->threads);
#pragma omp for schedule(static, 1)
    for (int t = 0; t < w->threads; t++) {
      int64_t first, end;
      collision_gas_share(w, t, &first, &end);
      /* The last thread's share of a slab ends where the slab does. */
      for (int64_t s = first; s < end; s++)
        fill_slab(w, s, w->counted[(int64_t)(w->threads - 1) * w->cells[0] + s] - w->slab[s].count);
    }
#pragma omp single
    {
      const gas_grains old = w->now;
      w->now = w->spare;
      w->spare = old;
    }
#pragma omp for schedule(static, 1)
    for (int t = 0; t < w->threads; t++) {
      int64_t first, end;
      collision_gas_share(w, t, &first, &end);
      for (int64_t s = first; s < end; s++) split_slab(w, s);
    }
#pragma omp for schedule(static, 1)
    for (int t = 0; t < w->threads; t++) {
      int64_t first, end;
      collision_gas_share(w, t, &first, &end);
      w->team[t].failed = false;
      for (int64_t s = first; s < end && !w->team[t].failed; s++) w->team[t].failed = !search_slab(w, &reach, s);
    }
  }
  w->listed = true;
  w->since_outer = 0;
  return check_memory(w);
}

/* ---- the inner list ---- */

static bool make_buffers(gas_team *team, size_t room) {
  for (int k = 0; k < GAS_BUFFERS; k++) {
    free(team->event[k]);
    team->event[k] = malloc(room * sizeof *team->event[k]);
    if (team->event[k] == NULL) return false;
  }
  team->room = room;
  return true;
}

enum { TRIED = 4096 }; /* pairs at a time: the inner list holds a fifth of the outer one */

static bool prune_list(collision_work *w, const gas_reach *reach, int64_t s, int which) {
  const gas_list *outer = &w->slab[s].outer[which];
  gas_list *inner = &w->slab[s].inner[which];
  const gas_sides sides = collision_gas_sides(w, s, which);
  inner->count = 0;
  for (size_t k = 0; k < outer->count; k += TRIED) {
    const size_t count = outer->count - k < TRIED ? outer->count - k : TRIED;
    if (!grow(inner, inner->count + count + GAS_GROUP)) return false;
    inner->count += w->lanes->within(reach, outer->pair + k, count, &sides, inner->pair + inner->count);
  }
  return true;
}

static bool prune_slabs(collision_work *w, const gas_reach *reach, int thread) {
  int64_t first, end;
  size_t most = 0;
  gas_team *team = &w->team[thread];
  collision_gas_share(w, thread, &first, &end);
  for (int64_t s = first; s < end; s++)
    for (int which = 0; which < 2; which++) {
      if (!prune_list(w, reach, s, which)) return false;
      most = w->slab[s].inner[which].count > most ? w->slab[s].inner[which].count : most;
    }
  return most + GAS_GROUP <= team->room || make_buffers(team, most + most / 4 + GAS_GROUP);
}

static sim_status prune(collision_work *w) {
  const gas_reach reach = reach_of(w, w->inner);
#pragma omp parallel for schedule(static, 1) num_threads(w->threads)
  for (int t = 0; t < w->threads; t++) w->team[t].failed = !prune_slabs(w, &reach, t);
  w->since_inner = 0;
  return check_memory(w);
}

sim_status collision_gas_lists(collision_work *w) {
  const double margin = collision_gas_margin(w);
  if (w->listed && w->since_inner + margin <= w->inner) return SIM_OK;
  if (!w->listed || w->since_outer + w->inner > w->outer) SIM_TRY(rebuild(w));
  return prune(w);
}

void collision_gas_lists_free(collision_work *w) {
  for (int64_t s = 0; w->slab != NULL && s < (int64_t)w->cells[0]; s++)
    for (int which = 0; which < 2; which++) free(w->slab[s].outer[which].pair), free(w->slab[s].inner[which].pair);
  for (int t = 0; w->team != NULL && t < w->threads; t++)
    for (int k = 0; k < GAS_BUFFERS; k++) free(w->team[t].event[k]);
}
