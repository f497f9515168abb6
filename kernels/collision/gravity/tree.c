#include "kernels/collision/gravity/tree.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF = 8, DEPTH = 48, CHUNK = 64 };

typedef struct cell {
  double centre[3], mass, radius; /* centre of mass; greatest distance of a grain from it */
  double second[6], trace;        /* sum of m x x about the centre: xx yy zz xy yz zx */
  int64_t first, count;           /* grains, in the order of the tree */
  int64_t next;                   /* the cell after all that are inside; children follow their parent */
  bool leaf;
} cell;

typedef struct point {
  double x[3], m;
  int64_t index;
} point;

struct collision_tree {
  int64_t n, cells, room;
  int threads;
  point *at, *spare; /* [n] */
  int64_t *place;    /* [n]: of each grain in `at` */
  cell *cell;        /* [room] */
};

sim_status collision_tree_create(int64_t n, int threads, collision_tree **out) {
  collision_tree *t = *out = calloc(1, sizeof *t);
  if (t == NULL) return sim_no_memory("a tree");
  t->n = n;
  t->threads = threads;
  t->room = n + 64;
  t->at = malloc((size_t)n * sizeof *t->at + 1);
  t->spare = malloc((size_t)n * sizeof *t->spare + 1);
  t->place = malloc((size_t)n * sizeof *t->place + 1);
  t->cell = malloc((size_t)t->room * sizeof *t->cell);
  if (t->at && t->spare && t->place && t->cell) return SIM_OK;
  collision_tree_destroy(out);
  return sim_no_memory("a tree of %lld grains", (long long)n);
}

void collision_tree_destroy(collision_tree **tree) {
  collision_tree *t = *tree;
  if (t == NULL) return;
  free(t->at), free(t->spare), free(t->place), free(t->cell);
  free(t);
  *tree = NULL;
}

double collision_tree_bytes(double n) { return n * (2 * sizeof(point) + sizeof(int64_t) + sizeof(cell)); }

/* ---- cells ---- */

static double square_of(const double d[3]) { return d[0] * d[0] + d[1] * d[1] + d[2] * d[2]; }

/* Adds a mass m with second moments (NULL: none) at x to those about c's centre. */
static void add_second(cell *c, double m, const double x[3], const double second[6]) {
  const double d[3] = {x[0] - c->centre[0], x[1] - c->centre[1], x[2] - c->centre[2]};
  for (int k = 0; k < 3; k++) {
    c->second[k] += m * d[k] * d[k] + (second != NULL ? second[k] : 0);
    c->second[3 + k] += m * d[k] * d[(k + 1) % 3] + (second != NULL ? second[3 + k] : 0);
  }
}

static void close_leaf(const collision_tree *t, cell *c) {
  double far = 0;
  for (int64_t i = c->first; i < c->first + c->count; i++) {
    const point *p = &t->at[i];
    const double d[3] = {p->x[0] - c->centre[0], p->x[1] - c->centre[1], p->x[2] - c->centre[2]};
    add_second(c, p->m, p->x, NULL);
    far = fmax(far, square_of(d));
  }
  c->radius = sqrt(far);
}

static void close_inner(const collision_tree *t, int64_t index) {
  cell *c = &t->cell[index];
  for (int64_t child = index + 1; child < c->next; child = t->cell[child].next) {
    const cell *from = &t->cell[child];
    const double d[3] = {from->centre[0] - c->centre[0], from->centre[1] - c->centre[1],
                         from->centre[2] - c->centre[2]};
    add_second(c, from->mass, from->centre, from->second);
    c->radius = fmax(c->radius, sqrt(square_of(d)) + from->radius);
  }
}

/* Sorts grains first ... end by octants about `middle`, in each as they were; ends [8]: the end of each octant. */
static void sort_octants(collision_tree *t, int64_t first, int64_t end, const double middle[3], int64_t ends[8]) {
  int64_t next[8], at = first;
  memset(ends, 0, 8 * sizeof *ends);
#define OCTANT(p) (((p).x[0] >= middle[0]) | ((p).x[1] >= middle[1]) << 1 | ((p).x[2] >= middle[2]) << 2)
  for (int64_t i = first; i < end; i++) ends[OCTANT(t->at[i])]++;
  for (int o = 0; o < 8; o++) {
    next[o] = at;
    at += ends[o];
    ends[o] = at;
  }
  for (int64_t i = first; i < end; i++) t->spare[next[OCTANT(t->at[i])]++] = t->at[i];
#undef OCTANT
  memcpy(t->at + first, t->spare + first, (size_t)(end - first) * sizeof *t->at);
}

/* Makes the cell of grains first ... end in the cube about `middle`, and those inside it. */
static sim_status make_cell(collision_tree *t, int64_t first, int64_t end, const double middle[3], double half,
                            int depth) {
  if (t->cells == t->room) {
    cell *more = realloc(t->cell, (size_t)(2 * t->room) * sizeof *more);
    if (more == NULL) return sim_no_memory("a tree of %lld cells", (long long)t->room);
    t->cell = more;
    t->room *= 2;
  }
  const int64_t index = t->cells++;
  cell *c = &t->cell[index];
  *c = (cell){.first = first, .count = end - first, .leaf = end - first <= LEAF || depth == DEPTH};
  for (int64_t i = first; i < end; i++) {
    c->mass += t->at[i].m;
    for (int k = 0; k < 3; k++) c->centre[k] += t->at[i].m * t->at[i].x[k];
  }
  for (int k = 0; k < 3; k++) c->centre[k] /= c->mass;
  if (c->leaf) {
    close_leaf(t, c);
  } else {
    int64_t ends[8], from = first;
    sort_octants(t, first, end, middle, ends);
    for (int o = 0; o < 8; o++) {
      const double quarter = 0.5 * half;
      const double child[3] = {middle[0] + (o & 1 ? quarter : -quarter), middle[1] + (o & 2 ? quarter : -quarter),
                               middle[2] + (o & 4 ? quarter : -quarter)};
      if (ends[o] > from) SIM_TRY(make_cell(t, from, ends[o], child, quarter, depth + 1));
      from = ends[o];
    }
  }
  c = &t->cell[index];
  c->next = t->cells;
  if (!c->leaf) close_inner(t, index);
  c->trace = c->second[0] + c->second[1] + c->second[2];
  return SIM_OK;
}

sim_status collision_tree_build(collision_tree *t, const double *position, const double *mass) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, middle[3], half = 0;
  for (int64_t i = 0; i < t->n; i++) {
    t->at[i] = (point){.m = mass[i], .index = i};
    for (int c = 0; c < 3; c++) {
      const double x = t->at[i].x[c] = position[c * t->n + i];
      low[c] = fmin(low[c], x);
      high[c] = fmax(high[c], x);
    }
  }
  for (int c = 0; c < 3; c++) {
    middle[c] = 0.5 * (low[c] + high[c]);
    half = fmax(half, 0.5 * (high[c] - low[c]));
  }
  t->cells = 0;
  SIM_TRY(make_cell(t, 0, t->n, middle, half, 0));
  for (int64_t i = 0; i < t->n; i++) t->place[t->at[i].index] = i;
  return SIM_OK;
}

/* ---- attraction ---- */

static inline double nearest(double d, double size) {
  return isinf(size) ? d : d - size * rint(d / size);
}

/* Of one column of images: vectors from a target to a source at x, y from it in the box. */
typedef struct column {
  double x, y;
  int number; /* of the image along x */
} column;

static inline column column_of(const collision_images *im, double dx, double dy, int n) {
  column c = {.number = n};
  if (isinf(im->size[0])) return (column){dx, dy, 0};
  c.number -= (int)rint(dx / im->size[0]);
  c.x = dx + im->size[0] * c.number;
  c.y = nearest(dy + im->offset * c.number, im->size[1]);
  return c;
}

static inline void add_point(double m, double dx, double dy, double dz, double softening2, int number,
                             collision_attraction *out) {
  const double y = 1 / sqrt(dx * dx + dy * dy + dz * dz + softening2), g = m * y * y * y, along = g * dy;
  out->a[0] += g * dx;
  out->a[1] += along;
  out->a[2] += g * dz;
  out->potential += m * y;
  out->swept += number * along;
}

static inline void add_cell(const cell *c, double dx, double dy, double dz, double softening2, int number,
                            collision_attraction *out) {
  const double *s = c->second;
  const double y2 = 1 / (dx * dx + dy * dy + dz * dz + softening2), y = sqrt(y2), y3 = y * y2, y5 = y3 * y2;
  const double sx = s[0] * dx + s[3] * dy + s[5] * dz, sy = s[3] * dx + s[1] * dy + s[4] * dz,
               sz = s[5] * dx + s[4] * dy + s[2] * dz, q = sx * dx + sy * dy + sz * dz;
  const double g = c->mass * y3 + (7.5 * q * y2 - 1.5 * c->trace) * y5, h = -3 * y5, along = g * dy + h * sy;
  out->a[0] += g * dx + h * sx;
  out->a[1] += along;
  out->a[2] += g * dz + h * sz;
  out->potential += c->mass * y + 0.5 * (3 * q * y5 - c->trace * y3);
  out->swept += number * along;
}

/* Adds column n of the images, counted from the nearest one, of all grains to what point p feels. */
static void add_column(const collision_tree *t, const collision_images *im, double softening2, double opening2,
                       const point *p, int n, collision_attraction *out) {
  const int rows = isinf(im->size[1]) ? 0 : im->rings;
  const double half[2] = {0.5 * im->size[0], 0.5 * im->size[1]};
  for (int64_t k = 0; k < t->cells;) {
    const cell *c = &t->cell[k];
    const double dz = c->centre[2] - p->x[2];
    const column to = column_of(im, c->centre[0] - p->x[0], c->centre[1] - p->x[1], n);
    const double x0 = isinf(im->size[0]) ? 0 : to.x - n * im->size[0];
    const bool whole = fabs(x0) + c->radius < half[0] && fabs(to.y) + c->radius < half[1];
    if (whole && c->radius * c->radius < opening2 * (to.x * to.x + to.y * to.y + dz * dz)) {
      for (int m = -rows; m <= rows; m++)
        add_cell(c, to.x, rows > 0 ? to.y + m * im->size[1] : to.y, dz, softening2, to.number, out);
      k = c->next;
      continue;
    }
    for (int64_t j = c->first; c->leaf && j < c->first + c->count; j++) {
      const point *q = &t->at[j];
      const column at = column_of(im, q->x[0] - p->x[0], q->x[1] - p->x[1], n);
      for (int m = -rows; m <= rows; m++)
        if (q != p || n != 0 || m != 0)
          add_point(q->m, at.x, rows > 0 ? at.y + m * im->size[1] : at.y, q->x[2] - p->x[2], softening2, at.number,
                    out);
    }
    k = c->leaf ? c->next : k + 1;
  }
}

static collision_attraction attract(const collision_tree *t, const collision_images *im, double softening,
                                    double opening, const point *p) {
  collision_attraction out = {{0}, 0, 0};
  const int columns = isinf(im->size[0]) ? 0 : im->rings;
  for (int n = -columns; n <= columns; n++)
    add_column(t, im, softening * softening, opening * opening, p, n, &out);
  return out;
}

void collision_tree_attract(const collision_tree *t, const collision_images *images, double softening, double opening,
                            collision_attraction *out) {
#pragma omp parallel for schedule(dynamic, CHUNK) num_threads(t->threads) if (t->n > 512)
  for (int64_t k = 0; k < t->n; k++) out[t->at[k].index] = attract(t, images, softening, opening, &t->at[k]);
}

collision_attraction collision_tree_attract_one(const collision_tree *t, const collision_images *images,
                                                double softening, double opening, int64_t i) {
  return attract(t, images, softening, opening, &t->at[t->place[i]]);
}
