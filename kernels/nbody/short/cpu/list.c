#include "kernels/nbody/short/cpu/list.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Least mean number of bodies in a column: narrower columns cost more than they save. */
enum { LEAST_BODIES = 16 };

typedef struct item {
  double z;
  int32_t number;
} item;

int nbody_short_side(int64_t n, double box, double reach) {
  const double side = fmin(floor(box / reach), floor(sqrt((double)n / LEAST_BODIES)));
  return side >= 3 ? (int)fmin(side, 4096) : 1;
}

/* ---- memory ---- */

/* Number of pairs that a column has room for at first: one and a half times the mean. */
static double room_of(double pairs, int side) { return 1.5 * pairs / ((double)side * side) + 1024; }

double nbody_short_lists_bytes(int64_t n, double box, double reach, double pairs) {
  const int side = nbody_short_side(n, box, reach);
  const double columns = (double)side * side;
  return (double)n * (3 * sizeof(double) + sizeof(int32_t) + sizeof(uint32_t) + 1 + 2 * sizeof(item)) +
         columns * (sizeof(int64_t) + sizeof(nbody_short_column) + sizeof(int)) +
         columns * room_of(pairs + NBODY_SHORT_GROUP * (double)n / 2, side) * sizeof(int32_t) + 4096;
}

/* Colour of a column. Along x two colours alternate, and a third one is for the last of an odd number; along y there
 * are three, and two more for the columns left over. */
static int colour_of(int side, int column) {
  const int x = column / side, y = column % side, whole = side - side % 3;
  if (side == 1) return 0;
  const int along_x = side % 2 == 1 && x == side - 1 ? 2 : x % 2, along_y = y < whole ? y % 3 : 3 + y - whole;
  return 5 * along_x + along_y;
}

static void sort_colours(nbody_short_lists *l) {
  const int columns = l->side * l->side;
  int at = 0;
  for (int colour = 0; colour < NBODY_SHORT_COLOURS; colour++) {
    l->colour[colour] = at;
    for (int k = 0; k < columns; k++)
      if (colour_of(l->side, k) == colour) l->coloured[at++] = k;
  }
  l->colour[NBODY_SHORT_COLOURS] = at;
}

sim_status nbody_short_lists_create(nbody_short_lists *l) {
  const size_t n = (size_t)l->n;
  l->side = nbody_short_side(l->n, l->box, l->reach);
  const size_t columns = (size_t)l->side * (size_t)l->side;
  l->first = calloc(columns + 1, sizeof *l->first);
  l->order = malloc(n * sizeof *l->order);
  l->x[0] = malloc(3 * n * sizeof *l->x[0]);
  l->length = malloc(n * sizeof *l->length);
  l->image = malloc(n);
  l->column = calloc(columns, sizeof *l->column);
  l->coloured = malloc(columns * sizeof *l->coloured);
  l->sorted = malloc(2 * n * sizeof(item));
  if (l->first == NULL || l->order == NULL || l->x[0] == NULL || l->length == NULL || l->image == NULL ||
      l->column == NULL || l->coloured == NULL || l->sorted == NULL)
    return sim_no_memory("lists of pairs");
  l->x[1] = l->x[0] + n;
  l->x[2] = l->x[1] + n;
  sort_colours(l);
  return SIM_OK;
}

void nbody_short_lists_destroy(nbody_short_lists *l) {
  for (int k = 0; l->column != NULL && k < l->side * l->side; k++) free(l->column[k].pairs);
  free(l->first);
  free(l->order);
  free(l->x[0]);
  free(l->length);
  free(l->image);
  free(l->column);
  free(l->coloured);
  free(l->sorted);
  *l = (nbody_short_lists){0};
}

/* ---- order ---- */

static int cut(double x, int side, double box) {
  const int at = (int)(x / box * side);
  return at < 0 ? 0 : at >= side ? side - 1 : at;
}

static bool before(const item *a, const item *b) { return a->z < b->z || (a->z == b->z && a->number < b->number); }

/* Sorts items[count] by z, then number; the result is in items. Runs of 8 by insertion, then merged. */
static void sort_items(item *items, item *other, int64_t count) {
  enum { RUN = 8 };
  for (int64_t first = 0; first < count; first += RUN) {
    const int64_t end = first + RUN < count ? first + RUN : count;
    for (int64_t i = first + 1; i < end; i++) {
      const item moved = items[i];
      int64_t k = i;
      for (; k > first && before(&moved, &items[k - 1]); k--) items[k] = items[k - 1];
      items[k] = moved;
    }
  }
  item *from = items, *to = other;
  for (int64_t run = RUN; run < count; run *= 2) {
    for (int64_t first = 0; first < count; first += 2 * run) {
      const int64_t middle = first + run < count ? first + run : count;
      const int64_t end = middle + run < count ? middle + run : count;
      int64_t a = first, b = middle;
      for (int64_t k = first; k < end; k++)
        to[k] = b == end || (a < middle && before(&from[a], &from[b])) ? from[a++] : from[b++];
    }
    item *const swap = from;
    from = to;
    to = swap;
  }
  if (from != items) memcpy(items, from, (size_t)count * sizeof *items);
}

static void sort_bodies(nbody_short_lists *l, const double *position) {
  const int64_t n = l->n;
  const int side = l->side, columns = side * side;
  item *const items = l->sorted;
  int32_t *const at = (int32_t *)l->length; /* memory lent until the lengths are known: column of each body */
  memset(l->first, 0, ((size_t)columns + 1) * sizeof *l->first);
#pragma omp parallel for schedule(static) num_threads(l->threads)
  for (int64_t i = 0; i < n; i++) at[i] = cut(position[i], side, l->box) * side + cut(position[n + i], side, l->box);
  for (int64_t i = 0; i < n; i++) l->first[at[i] + 1]++;
  for (int k = 0; k < columns; k++) l->first[k + 1] += l->first[k];
  for (int64_t i = 0; i < n; i++) items[l->first[at[i]]++] = (item){position[2 * n + i], (int32_t)i};
  for (int k = columns; k > 0; k--) l->first[k] = l->first[k - 1];
  l->first[0] = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(l->threads)
  for (int k = 0; k < columns; k++) {
    const int64_t first = l->first[k];
    sort_items(items + first, items + n + first, l->first[k + 1] - first);
    for (int64_t i = first; i < l->first[k + 1]; i++) {
      l->order[i] = items[i].number;
      for (int c = 0; c < 3; c++) l->x[c][i] = position[c * n + items[i].number];
    }
  }
}

/* ---- search ---- */

/* Bodies of one column that may be in reach of a body, while that body moves up along z: from z - reach to z + reach,
 * and the same one box lower and one box higher. */
typedef struct window {
  int64_t first, end;                /* bodies of the column: first <= k < end */
  int64_t low, high;                 /* in reach: low <= k < high */
  int64_t wrapped_high, wrapped_low; /* in reach as images: first <= k < wrapped_high, wrapped_low <= k < end */
  double shift[2];                   /* added to x and y of the body */
} window;

static window window_of(const nbody_short_lists *l, int x, int y) {
  const int side = l->side, column = (x + side) % side * side + (y + side) % side;
  const int64_t first = l->first[column], end = l->first[column + 1];
  return (window){.first = first,
                  .end = end,
                  .low = first,
                  .high = first,
                  .wrapped_high = first,
                  .wrapped_low = first,
                  .shift = {x >= side ? -l->box
                            : x < 0   ? l->box
                                      : 0,
                            y >= side ? -l->box
                            : y < 0   ? l->box
                                      : 0}};
}

static void move_up(const nbody_short_lists *l, window *w, double z) {
  const double *const to = l->x[2], box = l->box, reach = l->reach;
  while (w->low < w->end && to[w->low] < z - reach) w->low++;
  while (w->high < w->end && to[w->high] <= z + reach) w->high++;
  while (w->wrapped_high < w->end && to[w->wrapped_high] <= z + reach - box) w->wrapped_high++;
  while (w->wrapped_low < w->end && to[w->wrapped_low] < z - reach + box) w->wrapped_low++;
}

/* Makes room for `more` entries beyond `used`; false: no memory. */
static bool make_room(nbody_short_column *column, size_t used, size_t more) {
  if (used + more <= column->room) return true;
  const size_t room = used + more + used / 2;
  int32_t *const pairs = realloc(column->pairs, room * sizeof *pairs);
  if (pairs == NULL) return false;
  column->pairs = pairs;
  column->room = room;
  return true;
}

/* Opens windows of the columns in which bodies of column `number` have neighbours; returns their number. *room: entries
 * that the list of one body may need, without padding. */
enum { WINDOWS = 5 };
static int open_windows(const nbody_short_lists *l, int number, window windows[WINDOWS], size_t *room) {
  static const int next[WINDOWS][2] = {{0, 0}, {0, 1}, {1, -1}, {1, 0}, {1, 1}};
  const int side = l->side, x = number / side, y = number % side, count = side == 1 ? 1 : WINDOWS;
  *room = 0;
  for (int k = 0; k < count; k++) {
    windows[k] = window_of(l, x + next[k][0], y + next[k][1]);
    *room += (size_t)(windows[k].end - windows[k].first) + 3 * 8;
  }
  return count;
}

/* Makes the list of body i; returns its length. Call it for the bodies of a column in their order. *images: pairs with
 * an image. */
static int64_t search_body(const nbody_short_lists *l, int64_t i, window windows[WINDOWS], int window_count,
                           int32_t *list, int64_t *images) {
  const double *const to[3] = {l->x[0], l->x[1], l->x[2]}, p[3] = {to[0][i], to[1][i], to[2][i]};
  const double reach2 = l->reach * l->reach;
  int64_t found = 0;
  *images = 0;
  if (l->side == 1) return *images = l->loops->search(to, i + 1, l->n, p, reach2, l->box, list);
  for (int k = 0; k < window_count; k++) {
    window *const w = &windows[k];
    const double here[3] = {p[0] + w->shift[0], p[1] + w->shift[1], p[2]};
    const double above[3] = {here[0], here[1], p[2] - l->box}, below[3] = {here[0], here[1], p[2] + l->box};
    const int64_t before = found;
    move_up(l, w, p[2]);
    found += l->loops->search(to, k == 0 ? i + 1 : w->low, w->high, here, reach2, 0, list + found);
    if (w->shift[0] == 0 && w->shift[1] == 0) *images -= found - before;
    found += l->loops->search(to, w->first, w->wrapped_high, above, reach2, 0, list + found);
    if (k > 0) found += l->loops->search(to, w->wrapped_low, w->end, below, reach2, 0, list + found);
    *images += found - before;
  }
  return found;
}

static bool search_column(nbody_short_lists *l, int number) {
  nbody_short_column *const column = &l->column[number];
  window windows[WINDOWS];
  size_t most, used = 0;
  const int count = open_windows(l, number, windows, &most);
  for (int64_t i = l->first[number]; i < l->first[number + 1]; i++) {
    if (!make_room(column, used, most + NBODY_SHORT_GROUP)) return false;
    int32_t *const list = column->pairs + used;
    int64_t images, found = search_body(l, i, windows, count, list, &images);
    l->length[i] = (uint32_t)found;
    l->image[i] = images > 0;
    while (found % NBODY_SHORT_GROUP != 0) list[found++] = (int32_t)i;
    for (int64_t k = 0; k < found; k++) list[k] *= 4;
    used += (size_t)found;
  }
  return true;
}

typedef void visitor(void *self, int thread, const double *r2, int64_t count);

/* Calls `visit` with the squared distances of body i from the bodies in a list. */
static void visit_body(const nbody_short_lists *l, int64_t i, const int32_t *list, int64_t found, bool images,
                       visitor *visit, void *self) {
  enum { BLOCK = 256 };
  for (int64_t first = 0; first < found; first += BLOCK) {
    double r2[BLOCK];
    const int64_t some = found - first < BLOCK ? found - first : BLOCK;
    for (int64_t k = 0; k < some; k++) {
      r2[k] = 0;
      for (int c = 0; c < 3; c++) {
        double d = l->x[c][list[first + k]] - l->x[c][i];
        if (images) d -= l->box * rint(d * (1 / l->box));
        r2[k] += d * d;
      }
    }
    visit(self, omp_get_thread_num(), r2, some);
  }
}

/* Threads share the columns, or, with a single column, its bodies, whose searches are then independent of each
 * other. */
sim_status nbody_short_lists_visit(nbody_short_lists *l, const double *position, visitor *visit, void *self) {
  const int64_t columns = (int64_t)l->side * l->side, units = l->side == 1 ? l->n : columns;
  bool failed = false;
  sort_bodies(l, position);
#pragma omp parallel num_threads(l->threads)
  {
    int32_t *const list = malloc(((size_t)l->n + 3 * 8 * WINDOWS) * sizeof *list);
#pragma omp for schedule(dynamic, 1)
    for (int64_t unit = 0; unit < units; unit++) {
      const int number = l->side == 1 ? 0 : (int)unit;
      const int64_t begin = l->side == 1 ? unit : l->first[number],
                    end = l->side == 1 ? unit + 1 : l->first[number + 1];
      window windows[WINDOWS];
      size_t most;
      const int count = open_windows(l, number, windows, &most);
      for (int64_t i = begin; i < end && list != NULL; i++) {
        int64_t images;
        const int64_t found = search_body(l, i, windows, count, list, &images);
        visit_body(l, i, list, found, images > 0, visit, self);
      }
    }
    if (list == NULL) {
#pragma omp atomic write
      failed = true;
    }
    free(list);
  }
  return failed ? sim_no_memory("lists of pairs") : SIM_OK;
}

sim_status nbody_short_lists_search(nbody_short_lists *l, const double *position) {
  const int columns = l->side * l->side;
  bool failed = false;
  sort_bodies(l, position);
#pragma omp parallel for schedule(dynamic, 1) num_threads(l->threads)
  for (int k = 0; k < columns; k++)
    if (!search_column(l, k)) {
#pragma omp atomic write
      failed = true;
    }
  return failed ? sim_no_memory("lists of pairs") : SIM_OK;
}

nbody_short_rows nbody_short_lists_rows(const nbody_short_lists *l, int column) {
  const int64_t first = l->first[column];
  return (nbody_short_rows){.first = first,
                            .count = l->first[column + 1] - first,
                            .length = l->length,
                            .image = l->image,
                            .list = l->column[column].pairs};
}
