#include "kernels/collision/gravity/tree.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* LEAF: most grains of a leaf, and of a group whose attraction is computed at once. */
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

/* Image (number, row) of the box: by what its grains are moved, and what counts of them: places up to `edge` from a
 * target along x and y. */
typedef struct image {
  double x, y, number, edge[2];
} image;

static image image_at(const collision_images *im, int n, int m) {
  if (isinf(im->size[0])) return (image){.edge = {INFINITY, INFINITY}};
  const double ahead = n * im->offset, most = im->rings + 0.5;
  return (image){n * im->size[0],
                 ahead - im->size[1] * rint(ahead / im->size[1]) + m * im->size[1],
                 n,
                 {most * im->size[0], most * im->size[1]}};
}

/* Grains of a leaf, up to LEAF at once: places from a centre, and what they feel. */
typedef struct group {
  double centre[3], radius; /* greatest distance of a grain from the centre */
  int64_t first, count;
  double x[LEAF], y[LEAF], z[LEAF];
  double ax[LEAF], ay[LEAF], az[LEAF], potential[LEAF], swept[LEAF];
} group;

static group group_of(const collision_tree *t, const cell *leaf, int64_t first) {
  const int64_t rest = leaf->first + leaf->count - first;
  group g = {.centre = {leaf->centre[0], leaf->centre[1], leaf->centre[2]},
             .radius = leaf->radius,
             .first = first,
             .count = rest < LEAF ? rest : LEAF};
  for (int64_t i = 0; i < LEAF; i++) { /* those beyond the count are the last one again */
    const point *p = &t->at[first + (i < g.count ? i : g.count - 1)];
    g.x[i] = p->x[0] - leaf->centre[0];
    g.y[i] = p->x[1] - leaf->centre[1];
    g.z[i] = p->x[2] - leaf->centre[2];
  }
  return g;
}

/* Adds a mass at (x, y, z) from the group's centre, an image of this number, to what all of the group feel. */
static void add_point(group *g, double m, double x, double y, double z, double softening2, double number) {
  for (int i = 0; i < LEAF; i++) {
    const double dx = x - g->x[i], dy = y - g->y[i], dz = z - g->z[i];
    const double y1 = 1 / sqrt(dx * dx + dy * dy + dz * dz + softening2), f = m * y1 * y1 * y1, along = f * dy;
    g->ax[i] += f * dx;
    g->ay[i] += along;
    g->az[i] += f * dz;
    g->potential[i] += m * y1;
    g->swept[i] += number * along;
  }
}

/* The same for grain i of the group alone; (dx, dy, dz) from it. */
static void add_to_one(group *g, int64_t i, double m, double dx, double dy, double dz, double softening2,
                       double number) {
  const double y1 = 1 / sqrt(dx * dx + dy * dy + dz * dz + softening2), f = m * y1 * y1 * y1, along = f * dy;
  g->ax[i] += f * dx;
  g->ay[i] += along;
  g->az[i] += f * dz;
  g->potential[i] += m * y1;
  g->swept[i] += number * along;
}

static void add_cell(group *g, const cell *c, double x, double y, double z, double softening2, double number) {
  const double *s = c->second, mass = c->mass, trace = c->trace;
  for (int i = 0; i < LEAF; i++) {
    const double dx = x - g->x[i], dy = y - g->y[i], dz = z - g->z[i];
    const double y2 = 1 / (dx * dx + dy * dy + dz * dz + softening2), y1 = sqrt(y2), y3 = y1 * y2, y5 = y3 * y2;
    const double sx = s[0] * dx + s[3] * dy + s[5] * dz, sy = s[3] * dx + s[1] * dy + s[4] * dz,
                 sz = s[5] * dx + s[4] * dy + s[2] * dz, q = sx * dx + sy * dy + sz * dz;
    const double f = mass * y3 + (7.5 * q * y2 - 1.5 * trace) * y5, h = -3 * y5, along = f * dy + h * sy;
    g->ax[i] += f * dx + h * sx;
    g->ay[i] += along;
    g->az[i] += f * dz + h * sz;
    g->potential[i] += mass * y1 + 0.5 * (3 * q * y5 - trace * y3);
    g->swept[i] += number * along;
  }
}

/* Adds an image of the grains of a leaf; cut: not all of it counts for all of the group. */
static void add_leaf(const collision_tree *t, const image *im, double softening2, group *g, const cell *c, bool cut) {
  const bool box = im->number == 0 && im->x == 0 && im->y == 0;
  for (int64_t j = c->first; j < c->first + c->count; j++) {
    const point *q = &t->at[j];
    const double z = q->x[2] - g->centre[2];
    if (!cut && !(box && j >= g->first && j < g->first + g->count)) {
      add_point(g, q->m, q->x[0] - g->centre[0] + im->x, q->x[1] - g->centre[1] + im->y, z, softening2, im->number);
      continue;
    }
    for (int64_t i = 0; i < g->count; i++) {
      const point *p = &t->at[g->first + i];
      const double dx = q->x[0] - p->x[0] + im->x, dy = q->x[1] - p->x[1] + im->y;
      if (fabs(dx) <= im->edge[0] && fabs(dy) <= im->edge[1] && !(box && q == p))
        add_to_one(g, i, q->m, dx, dy, q->x[2] - p->x[2], softening2, im->number);
    }
  }
}

/* Adds an image of all grains to what a group feels. */
static void add_image(const collision_tree *t, const image *im, double softening2, double opening, group *g) {
  for (int64_t k = 0; k < t->cells;) {
    const cell *c = &t->cell[k];
    const double x = c->centre[0] - g->centre[0] + im->x, y = c->centre[1] - g->centre[1] + im->y,
                 z = c->centre[2] - g->centre[2];
    const double reach = c->radius + g->radius, far = g->radius + c->radius / opening;
    const double beyond = fmax(fabs(x) - im->edge[0], fabs(y) - im->edge[1]);
    const bool cut = beyond > -reach;
    if (beyond > reach) {
      k = c->next;
    } else if (opening > 0 && !cut && far * far < x * x + y * y + z * z) {
      add_cell(g, c, x, y, z, softening2, im->number);
      k = c->next;
    } else {
      if (c->leaf) add_leaf(t, im, softening2, g, c, cut);
      k = c->leaf ? c->next : k + 1;
    }
  }
}

/* Images that are in part within rings + 1/2 sides of a grain of the box. */
static void attract(const collision_tree *t, const collision_images *images, double softening, double opening,
                    group *g) {
  const int more = isinf(images->size[0]) ? 0 : images->rings + 1;
  for (int n = -more; n <= more; n++)
    for (int m = -more - (more > 0); m <= more + (more > 0); m++) {
      const image im = image_at(images, n, m);
      add_image(t, &im, softening * softening, opening, g);
    }
}

static collision_attraction attraction_of(const group *g, int64_t i) {
  return (collision_attraction){{g->ax[i], g->ay[i], g->az[i]}, g->potential[i], g->swept[i]};
}

void collision_tree_attract(const collision_tree *t, const collision_images *images, double softening, double opening,
                            collision_attraction *out) {
#pragma omp parallel for schedule(dynamic, CHUNK) num_threads(t->threads) if (t->n > 512)
  for (int64_t k = 0; k < t->cells; k++) {
    const cell *leaf = &t->cell[k];
    for (int64_t first = leaf->first; leaf->leaf && first < leaf->first + leaf->count; first += LEAF) {
      group g = group_of(t, leaf, first);
      attract(t, images, softening, opening, &g);
      for (int64_t i = 0; i < g.count; i++) out[t->at[first + i].index] = attraction_of(&g, i);
    }
  }
}

collision_attraction collision_tree_attract_one(const collision_tree *t, const collision_images *images,
                                                double softening, double opening, int64_t i) {
  const int64_t at = t->place[i];
  int64_t k = 0;
  while (!t->cell[k].leaf || at >= t->cell[k].first + t->cell[k].count)
    k = at < t->cell[k].first + t->cell[k].count ? k + 1 : t->cell[k].next;
  const int64_t first = t->cell[k].first + (at - t->cell[k].first) / LEAF * LEAF;
  group g = group_of(t, &t->cell[k], first);
  attract(t, images, softening, opening, &g);
  return attraction_of(&g, at - first);
}
