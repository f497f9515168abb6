/* Patches of cells at bodies: the cells of a patch are neighbours of each other, and those of another patch are not. */
#include "kernels/fluid/fluid.h"
#include "kernels/fluid/start/walls.h"

#include <stdlib.h>
#include <string.h>

/* The number of the cell (row, x) among those from `low` to `high` - 1, which lie in the order of rows and of x; -1: it
 * is none of them. */
static int64_t find_cell(const fluid_walls *w, int64_t low, int64_t high, int64_t row, int64_t x) {
  const int64_t end = high;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const fluid_cell *cell = &w->cell[middle];
    if (cell->row < row || (cell->row == row && cell->x < x))
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && w->cell[low].row == row && w->cell[low].x == x ? low : -1;
}

int64_t fluid_cell_of(const fluid_walls *w, int64_t row, int64_t x) { return find_cell(w, 0, w->cells, row, x); }

const fluid_link *fluid_link_of(const fluid_walls *walls, int64_t row, int64_t x, int arriving) {
  const int64_t number = fluid_cell_of(walls, row, x);
  for (int i = 0; number >= 0 && i < walls->cell[number].count; i++)
    if (walls->link[walls->cell[number].first + i].arriving == arriving)
      return &walls->link[walls->cell[number].first + i];
  return NULL;
}

static bool touches_body(const fluid_walls *w, int64_t number) {
  bool out = false;
  for (int i = 0; i < w->cell[number].count; i++) out = out || w->link[w->cell[number].first + i].body >= 0;
  return out;
}

/* The number of a neighbour that touches a body too; -1: none. */
static int64_t neighbour(const grid_shape *g, const fluid_walls *w, const int32_t *root, int64_t number,
                         const int8_t c[3]) {
  const fluid_cell *cell = &w->cell[number];
  int64_t at[3] = {cell->x, cell->row % g->n[1], cell->row / g->n[1]};
  for (int a = 0; a < 3; a++) {
    at[a] += c[a];
    if ((at[a] < 0 || at[a] >= g->n[a]) && !grid_is_periodic(g, a)) return -1;
    at[a] = (at[a] + g->n[a]) % g->n[a];
  }
  const int64_t row = at[2] * g->n[1] + at[1], out = find_cell(w, w->first[row], w->first[row + 1], row, at[0]);
  return out >= 0 && root[out] >= 0 ? out : -1;
}

/* Numbers the first cell of each row, and behind them all cells; false: no memory. */
static bool find_rows(const grid_shape *g, fluid_walls *w) {
  const int64_t rows = g->n[1] * g->n[2];
  int64_t next = 0;
  if (!w->first) w->first = malloc((size_t)(rows + 1) * sizeof *w->first);
  for (int64_t row = 0; w->first && row <= rows; row++) {
    while (next < w->cells && w->cell[next].row < row) next++;
    w->first[row] = (int32_t)next;
  }
  return w->first;
}

/* The first cell of a tree; shortens the way there. */
static int32_t first_of(int32_t *root, int32_t number) {
  while (root[number] != number) number = root[number] = root[root[number]];
  return number;
}

/* Room for what is counted by cell, one more than there are; it only grows. */
static bool reserve(fluid_walls *w) {
  if (w->cells < w->room) return true;
  const int64_t room = w->cells + w->cells / 4 + 1;
  void **const all[] = {(void **)&w->patch, (void **)&w->member, (void **)&w->scratch[0], (void **)&w->scratch[1],
                        (void **)&w->lost};
  w->room = 0;
  for (int i = 0; i < 5; i++) {
    free(*all[i]);
    *all[i] = malloc((size_t)room * (i < 4 ? sizeof *w->patch : sizeof *w->lost));
    if (!*all[i]) return false;
  }
  w->room = room;
  return true;
}

sim_status fluid_patches_create(const fluid_lattice *l, const grid_shape *grid, fluid_walls *w) {
  if (!reserve(w) || !find_rows(grid, w)) return sim_no_memory("cells at bodies");
  int32_t *root = w->scratch[0], *place = w->scratch[1];
  w->patches = w->members = 0;
  memset(place, 0, (size_t)w->cells * sizeof *place);
  for (int64_t i = 0; i < w->cells; i++) {
    root[i] = touches_body(w, i) ? (int32_t)i : -1;
    w->members += root[i] >= 0;
  }
  for (int64_t i = 0; i < w->cells; i++)
    for (int c = 1; c < l->directions && root[i] >= 0; c += 2) { /* one of each two that are opposite */
      const int64_t other = neighbour(grid, w, root, i, l->c[c]);
      if (other < 0) continue;
      const int32_t a = first_of(root, (int32_t)i), b = first_of(root, (int32_t)other);
      root[a > b ? a : b] = a > b ? b : a;
    }
  for (int64_t i = 0; i < w->cells; i++)
    if (root[i] >= 0 && place[first_of(root, (int32_t)i)]++ == 0) w->patches++;
  int32_t used = 0, patch = 0;
  for (int64_t i = 0; i < w->cells; i++) { /* the first cell of a patch comes before its others */
    if (root[i] < 0) continue;
    const int32_t first = first_of(root, (int32_t)i);
    if (first == i) {
      const int32_t count = place[i];
      place[i] = used;
      w->patch[patch++] = used;
      used += count;
    }
    w->member[place[first]++] = (int32_t)i;
  }
  w->patch[patch] = used;
  return SIM_OK;
}
