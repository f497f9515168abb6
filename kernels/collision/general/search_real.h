/* The search for one precision: `real` is defined before this is included. */
#include "kernels/collision/general/search.h"

#include <math.h>
#include <stdlib.h>

typedef struct place {
  real x[3], r;
} place;

static int level_of(const collision_search *s, double r) {
  int level = 0;
  double most = s->largest;
  while (level + 1 < COLLISION_LEVELS && r <= 0.5 * most && most > s->smallest) {
    most *= 0.5;
    level++;
  }
  return level;
}

/* Cells of each level for where the grains are; a side is at least a diameter of the level and the cutoff. */
static sim_status lay_cells(collision_search *s, const place *p) {
  double low[3], high[3];
  int64_t count[COLLISION_LEVELS] = {0};
  for (int l = 0; l < COLLISION_LEVELS; l++) s->level[l] = (collision_level){0};
  s->levels = 1;
  for (int c = 0; c < 3; c++) {
    low[c] = INFINITY;
    high[c] = -INFINITY;
  }
  for (int64_t i = 0; i < s->n; i++) {
    const double r = (double)p[i].r;
    const int l = level_of(s, r);
    count[l]++;
    if (l >= s->levels) s->levels = l + 1;
    s->level[l].radius = fmax(s->level[l].radius, r);
    for (int c = 0; c < 3; c++) {
      low[c] = fmin(low[c], (double)p[i].x[c]);
      high[c] = fmax(high[c], (double)p[i].x[c]);
    }
  }
  s->cells = 0;
  for (int l = 0; l < s->levels; l++) {
    collision_level *level = &s->level[l];
    double side = 2 * level->radius + s->cutoff, total = 1;
    for (int c = 0; c < 3; c++) {
      level->low[c] = s->periodic[c] ? s->low[c] : low[c];
      level->width[c] = s->periodic[c] ? s->size[c] : high[c] - low[c];
      total *= fmax(1, level->width[c] / side);
    }
    /* No more cells than a few a grain: those who have gone far do not cost memory. */
    const double most = 4 * (double)count[l] + 64;
    if (total > most) side *= cbrt(total / most) * 1.01;
    for (int pass = 0; pass < 64; pass++) {
      total = 1;
      for (int c = 0; c < 3; c++) {
        level->cells[c] = (int64_t)fmax(1, fmin(floor(level->width[c] / side), 1e6));
        total *= (double)level->cells[c];
      }
      if (total <= most) break;
      side *= 1.3;
    }
    for (int c = 0; c < 3; c++) level->width[c] /= (double)level->cells[c];
    level->first_cell = s->cells;
    s->cells += level->cells[0] * level->cells[1] * level->cells[2];
  }
  if (s->cells + 1 > s->cells_room) {
    free(s->cell_first);
    s->cells_room = s->cells + s->cells / 4 + 1;
    s->cell_first = malloc((size_t)s->cells_room * sizeof *s->cell_first);
    if (s->cell_first == NULL) {
      s->cells_room = 0;
      return sim_no_memory("%lld cells", (long long)s->cells);
    }
  }
  return SIM_OK;
}

static int64_t cell_along(const collision_level *level, int c, double x) {
  if (!(level->width[c] > 0)) return 0;
  const double k = floor((x - level->low[c]) / level->width[c]);
  return !(k > 0) ? 0 : k >= (double)level->cells[c] ? level->cells[c] - 1 : (int64_t)k;
}

/* Fills `order`: old indices by level, cell, old index. */
static sim_status sort_cells(collision_search *s, const place *p) {
  SIM_TRY(lay_cells(s, p));
  int64_t *first = s->cell_first;
#pragma omp parallel for schedule(static) num_threads(s->threads) if (s->n > 4096)
  for (int64_t k = 0; k <= s->cells; k++) first[k] = 0;
#pragma omp parallel for schedule(static) num_threads(s->threads) if (s->n > 4096)
  for (int64_t i = 0; i < s->n; i++) {
    const collision_level *level = &s->level[level_of(s, (double)p[i].r)];
    int64_t at[3];
    for (int c = 0; c < 3; c++) at[c] = cell_along(level, c, (double)p[i].x[c]);
    s->cell_of[i] = (uint32_t)(level->first_cell + (at[0] * level->cells[1] + at[1]) * level->cells[2] + at[2]);
  }
  for (int64_t i = 0; i < s->n; i++) first[s->cell_of[i] + 1]++;
  for (int64_t k = 0; k < s->cells; k++) first[k + 1] += first[k];
  for (int64_t i = 0; i < s->n; i++) s->order[first[s->cell_of[i]]++] = (uint32_t)i;
  for (int64_t k = s->cells; k > 0; k--) first[k] = first[k - 1];
  first[0] = 0;
  return SIM_OK;
}

/* Positions stand in the box, so that one image away is enough. Odd in d, to the bit. */
static inline real nearest_image(real d, real size, real half) {
  return d > half ? d - size : d < -half ? d + size : d;
}

typedef struct image {
  real size[3], half[3]; /* half: infinite where the box is not periodic */
  real offset;           /* along x, of the image above in y */
} image;

static image image_of(const collision_search *s) {
  image box = {{0}, {INFINITY, INFINITY, INFINITY}, 0};
  for (int c = 0; c < 3; c++) {
    if (!s->periodic[c]) continue;
    box.size[c] = (real)s->size[c];
    box.half[c] = (real)(0.5 * s->size[c]);
  }
  box.offset = (real)s->offset;
  return box;
}

/* Vector from the nearest image of q to p; returns which image that is in y, -1 ... 1. */
static inline int apart(const image *box, const place *p, const place *q, real d[3]) {
  int which = 0;
  for (int c = 0; c < 3; c++) d[c] = p->x[c] - q->x[c];
  if (d[1] > box->half[1]) which = 1;
  if (d[1] < -box->half[1]) which = -1;
  d[0] -= (real)which * box->offset;
  d[0] = nearest_image(d[0], box->size[0], box->half[0]);
  d[0] = nearest_image(d[0], box->size[0], box->half[0]); /* an offset may take it two images away */
  d[1] = nearest_image(d[1], box->size[1], box->half[1]);
  d[2] = nearest_image(d[2], box->size[2], box->half[2]);
  return which;
}

/* Neighbours of i among a stretch of grains; returns how many; `out` NULL: only counts. */
static int64_t near_in(const place *p, const image *box, int64_t i, int64_t from, int64_t to, real cutoff,
                       uint32_t *out) {
  int64_t count = 0;
  for (int64_t j = from; j < to; j++) {
    real d[3];
    (void)apart(box, &p[i], &p[j], d);
    const real square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    const real reach = p[i].r + p[j].r + cutoff;
    if (square < reach * reach && i != j) {
      if (out != NULL) out[count] = (uint32_t)j;
      count++;
    }
  }
  return count;
}

static int64_t near_of(const collision_search *s, const place *p, const image *box, int64_t i, uint32_t *out) {
  int64_t count = 0;
  for (int l = 0; l < s->levels; l++) {
    const collision_level *level = &s->level[l];
    if (!(level->radius > 0)) continue;
    /* A little more than the reach: rounding of single precision may put a neighbour one cell farther. */
    const double reach = ((double)p[i].r + level->radius + s->cutoff) * 1.0001;
    int64_t least[3], number[3];
    for (int c = 0; c < 3; c++) {
      const double x = (double)p[i].x[c] - level->low[c], w = level->width[c];
      int64_t a = 0, b = level->cells[c] - 1;
      if (w > 0) {
        a = (int64_t)floor((x - reach) / w);
        b = (int64_t)floor((x + reach) / w);
      }
      if (!s->periodic[c]) {
        a = a < 0 ? 0 : a >= level->cells[c] ? level->cells[c] - 1 : a;
        b = b < 0 ? 0 : b >= level->cells[c] ? level->cells[c] - 1 : b;
      }
      least[c] = a;
      number[c] = b - a + 1 < level->cells[c] ? b - a + 1 : level->cells[c];
    }
    for (int64_t v = 0; v < number[1]; v++) {
      const int64_t y = least[1] + v, cy = (y % level->cells[1] + level->cells[1]) % level->cells[1];
      /* Beyond a sheared boundary the whole row: what lies there moves on. */
      const bool beyond = s->sheared && (y != cy || number[1] == level->cells[1]);
      const int64_t across = beyond ? level->cells[0] : number[0];
      for (int64_t u = 0; u < across; u++) {
        const int64_t cx = ((least[0] + u) % level->cells[0] + level->cells[0]) % level->cells[0];
        const int64_t row = level->first_cell + (cx * level->cells[1] + cy) * level->cells[2];
        const int64_t start = ((least[2]) % level->cells[2] + level->cells[2]) % level->cells[2];
        const int64_t whole = start + number[2] <= level->cells[2] ? number[2] : level->cells[2] - start;
        count += near_in(p, box, i, s->cell_first[row + start], s->cell_first[row + start + whole], (real)s->cutoff,
                         out != NULL ? out + count : NULL);
        if (whole < number[2])
          count += near_in(p, box, i, s->cell_first[row], s->cell_first[row + number[2] - whole], (real)s->cutoff,
                           out != NULL ? out + count : NULL);
      }
    }
  }
  return count;
}

static void sort_row(uint32_t *row, int64_t count, const uint32_t *id) {
  for (int64_t k = 1; k < count; k++) {
    const uint32_t j = row[k];
    int64_t at = k;
    for (; at > 0 && id[row[at - 1]] > id[j]; at--) row[at] = row[at - 1];
    row[at] = j;
  }
}

/* Rows for grains that stand in the cells' order, with these ids. */
static sim_status list_neighbours(collision_search *s, const place *p, const uint32_t *id) {
  const image box = image_of(s);
#pragma omp parallel for schedule(dynamic, 1024) num_threads(s->threads) if (s->n > 4096)
  for (int64_t i = 0; i < s->n; i++) s->first[i + 1] = near_of(s, p, &box, i, NULL);
  s->first[0] = 0;
  for (int64_t i = 0; i < s->n; i++) s->first[i + 1] += s->first[i];
  if (s->first[s->n] > s->room) {
    free(s->neighbour);
    s->room = s->first[s->n] + s->first[s->n] / 8;
    s->neighbour = malloc((size_t)s->room * sizeof *s->neighbour);
    if (s->neighbour == NULL) {
      s->room = 0;
      return sim_no_memory("a list of %lld neighbours", (long long)s->first[s->n]);
    }
  }
#pragma omp parallel for schedule(dynamic, 1024) num_threads(s->threads) if (s->n > 4096)
  for (int64_t i = 0; i < s->n; i++) {
    near_of(s, p, &box, i, s->neighbour + s->first[i]);
    sort_row(s->neighbour + s->first[i], s->first[i + 1] - s->first[i], id);
  }
  return SIM_OK;
}
