/* Fixed-point solver on the CPU: searches the outer lists, which have the pairs of a slab with itself and with the next
 * slab, row by row of cells. Only this code enlarges lists. GPU counterpart: the second half of cuda/lists.cu. */
#include "kernels/collision/fixed_point/cpu/work.h"

#include <stdlib.h>
#include <string.h>

bool collision_fixed_grow_pairs(fixed_pairs *list, size_t room) {
  if (room <= list->room) return true;
  room += room / 4;
  uint32_t *words = malloc(2 * room * sizeof *words);
  if (words == NULL) return false;
  if (list->count > 0) {
    memcpy(words, list->a, list->count * sizeof *words);
    memcpy(words + room, list->b, list->count * sizeof *words);
  }
  free(list->a);
  list->a = words;
  list->b = words + room;
  list->room = room;
  return true;
}

/* ---- coordinates ---- */

static bool make_rows(const collision_work *w, fixed_rows *rows, size_t count) {
  const size_t room = 2 * count + 2 * FIXED_GROUP, firsts = (size_t)w->cells[1] * (w->cells[2] + 3);
  rows->slab = -1;
  if (room > rows->room) {
    free(rows->word);
    rows->room = room + room / 4;
    rows->word = calloc(5 * rows->room + firsts, sizeof *rows->word);
    if (rows->word == NULL) return false;
    for (int c = 0; c < 4; c++) rows->x[c] = (float *)(void *)(rows->word + (size_t)(c + 1) * rows->room);
    rows->first = rows->word + 5 * rows->room;
  }
  return true;
}

/* Copies slots from ... to - 1 of the slab, shifted along the row; returns the index behind the last copy. */
static inline uint32_t put_slots(const collision_work *w, int64_t slab_first, fixed_rows *rows, uint32_t at,
                                 uint32_t from, uint32_t to, float shift, int stride) {
  const int *axis = w->axis;
  float length[3];
  for (int c = 0; c < 3; c++) length[c] = (float)(w->system.size[axis[c]] * 0x1p-32);
  const uint32_t *x = w->now.x + slab_first * stride;
  for (uint32_t k = from; k < to; k++, at++) {
    for (int c = 0; c < 3; c++) rows->x[c][at] = (float)x[k * (uint32_t)stride + (uint32_t)axis[c]] * length[c];
    rows->x[2][at] += shift;
    if (stride == 4) memcpy(&rows->x[3][at], x + k * 4 + 3, sizeof(float));
    rows->word[at] = k * (uint32_t)stride;
  }
  return at;
}

static inline void fill_rows(const collision_work *w, int64_t s, fixed_rows *rows, int stride) {
  const uint32_t nz = w->cells[2];
  const int64_t cells = (int64_t)w->cells[1] * nz, slab_first = w->slab[s].first;
  const float size = (float)w->system.size[w->axis[2]];
  uint32_t at = 0;
  for (uint32_t y = 0; y < w->cells[1]; y++) {
    const uint32_t *cell = w->cell_first + s * (cells + 1) + (size_t)y * nz;
    uint32_t *first = rows->first + (size_t)y * (nz + 3);
    first[0] = at;
    at = put_slots(w, slab_first, rows, at, cell[nz - 1], cell[nz], -size, stride);
    for (uint32_t z = 0; z < nz; z++) first[z + 1] = at + (cell[z] - cell[0]);
    at = put_slots(w, slab_first, rows, at, cell[0], cell[nz], 0, stride);
    first[nz + 1] = at;
    at = put_slots(w, slab_first, rows, at, cell[0], cell[1], size, stride);
    first[nz + 2] = at;
  }
  rows->slab = s;
}

/* Returns the coordinates of slab s, in one of the thread's two buffers; `keep`: the buffer in use. */
static fixed_rows *rows_of(const collision_work *w, fixed_thread *team, int64_t s, const fixed_rows *keep) {
  for (int k = 0; k < 2; k++)
    if (team->rows[k].slab == s) return &team->rows[k];
  fixed_rows *rows = &team->rows[keep == &team->rows[0]];
  if (!make_rows(w, rows, (size_t)w->slab[s].count)) return NULL;
  if (w->stride == 3)
    fill_rows(w, s, rows, 3);
  else
    fill_rows(w, s, rows, 4);
  return rows;
}

/* ---- pairs ---- */

static fixed_row row_of(const collision_work *w, const fixed_rows *rows, int64_t y, float shift) {
  const float size = (float)w->system.size[w->axis[1]];
  const int64_t count = w->cells[1], at = y < 0 ? y + count : y >= count ? y - count : y;
  return (fixed_row){.x = {rows->x[0], rows->x[1], rows->x[2], rows->x[3]},
                     .word = rows->word,
                     .first = rows->first + at * ((int64_t)w->cells[2] + 3),
                     .shift = {shift, y < 0        ? -size
                                      : y >= count ? size
                                                   : 0}};
}

/* Makes room for all pairs that a row may add. */
static bool make_room(const fixed_row row[FIXED_ROWS], uint32_t cells, fixed_pairs list[2]) {
  size_t most[2] = {0, 0};
  for (uint32_t z = 0; z < cells; z++) {
    size_t around[2] = {0, 0};
    for (int k = 0; k < FIXED_ROWS; k++) around[k >= FIXED_OWN_ROWS] += row[k].first[z + 3] - row[k].first[z];
    const size_t grains = row[0].first[z + 2] - row[0].first[z + 1];
    for (int which = 0; which < 2; which++) most[which] += grains * around[which];
  }
  for (int which = 0; which < 2; which++)
    if (!collision_fixed_grow_pairs(&list[which], list[which].count + most[which] + FIXED_GROUP)) return false;
  return true;
}

static bool search_slab(collision_work *w, fixed_thread *team, const fixed_reach *reach, int64_t s) {
  const int64_t next = collision_fixed_next_slab(w, s);
  const float beyond = next < s ? (float)w->system.size[w->axis[0]] : 0;
  fixed_slab *slab = &w->slab[s];
  const fixed_rows *own = rows_of(w, team, s, NULL);
  const fixed_rows *other = own != NULL ? rows_of(w, team, next, own) : NULL;
  if (other == NULL) return false;
  slab->outer[FIXED_WITHIN].count = slab->outer[FIXED_NEXT].count = 0;
  for (int64_t y = 0; y < (int64_t)w->cells[1]; y++) {
    const fixed_row row[FIXED_ROWS] = {row_of(w, own, y, 0), row_of(w, own, y + 1, 0), row_of(w, other, y - 1, beyond),
                                       row_of(w, other, y, beyond), row_of(w, other, y + 1, beyond)};
    if (!make_room(row, w->cells[2], slab->outer)) return false;
    w->lanes->search(reach, row, w->cells[2], slab->outer);
  }
  for (int which = 0; which < 2; which++) {
    fixed_pairs *list = &slab->outer[which];
    memset(list->a + list->count, 0, FIXED_GROUP * sizeof *list->a);
    memset(list->b + list->count, 0, FIXED_GROUP * sizeof *list->b);
    slab->inner[which].count = 0;
    if (!collision_fixed_grow_pairs(&slab->inner[which], list->count + FIXED_GROUP)) return false;
  }
  return true;
}

/* ---- impulses ---- */

/* One allocation for all arrays of impulses, each with room for all pairs of a list. */
static bool make_buffers(fixed_thread *team, size_t room, int levels) {
  const size_t arrays = 3 + 2 + 5 * (size_t)levels;
  if (room > team->room) {
    free(team->memory);
    team->room = 0;
    room += room / 4;
    team->memory = malloc(arrays * room * sizeof *team->memory);
    if (team->memory == NULL) return false;
    team->room = room;
  }
  fixed_impulse *at = team->memory;
  for (int k = 0; k < 3; k++, at += team->room) team->now.impulse[k] = at;
  for (int k = 0; k < 2; k++, at += team->room) team->between[k].impulse = at;
  for (int l = 0; l < levels; l++) {
    for (int k = 0; k < 3; k++, at += team->room) team->level[l].first.impulse[k] = at;
    for (int k = 0; k < 2; k++, at += team->room) team->level[l].carried[k].impulse = at;
  }
  return true;
}

bool collision_fixed_search(collision_work *w, int thread, const fixed_reach *reach) {
  fixed_thread *team = &w->team[thread];
  int64_t first, end;
  collision_fixed_thread_chain(w, thread, 1, 0, &first, &end);
  for (int k = 0; k < 2; k++) team->rows[k].slab = -1;
  for (int64_t s = first; s < end; s++)
    if (!search_slab(w, team, reach, collision_fixed_wrapped(w, s))) return false;
  return true;
}

bool collision_fixed_reserve_impulses(collision_work *w, int thread) {
  size_t most = 0;
  /* A thread may also work on lists of the next thread, between the slabs of both: room for the longest list. */
  for (int64_t s = 0; s < (int64_t)w->cells[0]; s++)
    for (int which = 0; which < 2; which++)
      most = w->slab[s].outer[which].count > most ? w->slab[s].outer[which].count : most;
  return make_buffers(&w->team[thread], most + FIXED_GROUP, w->levels);
}
