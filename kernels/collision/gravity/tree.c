#include "kernels/collision/gravity/walk.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 48, CHUNK = 64 };

extern collision_walk collision_walk_double_plain, collision_walk_double_avx2, collision_walk_double_avx512;
#if COLLISION_X86
static collision_walk *const all_walks[SIM_ISA_COUNT] = {collision_walk_double_plain, collision_walk_double_avx2,
                                                         collision_walk_double_avx512};
#else
static collision_walk *const all_walks[SIM_ISA_COUNT] = {collision_walk_double_plain};
#endif

sim_status collision_tree_create(int64_t n, int threads, sim_isa isa, collision_tree **out) {
  collision_tree *t = *out = calloc(1, sizeof *t);
  if (t == NULL) return sim_no_memory("a tree");
  t->n = n;
  t->threads = threads;
  int best = isa < sim_isa_best() ? (int)isa : (int)sim_isa_best();
  while (all_walks[best] == NULL) best--;
  t->walk = all_walks[best];
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
#ifdef SIM_HAS_CUDA
  collision_walk_cuda_destroy(&t->there);
#endif
  free(t->at), free(t->spare), free(t->place), free(t->cell);
  free(t);
  *tree = NULL;
}

double collision_tree_bytes(double n) {
  return n * (2 * sizeof(collision_point) + sizeof(int64_t) + sizeof(collision_cell));
}

/* ---- cells ---- */

static double square_of(const double d[3]) { return d[0] * d[0] + d[1] * d[1] + d[2] * d[2]; }

/* Adds a mass m at x with its own second moments (NULL: none) to the second moments about c's centre. */
static void add_second(collision_cell *c, double m, const double x[3], const double second[6]) {
  const double d[3] = {x[0] - c->centre[0], x[1] - c->centre[1], x[2] - c->centre[2]};
  for (int k = 0; k < 3; k++) {
    c->second[k] += m * d[k] * d[k] + (second != NULL ? second[k] : 0);
    c->second[3 + k] += m * d[k] * d[(k + 1) % 3] + (second != NULL ? second[3 + k] : 0);
  }
}

static void close_leaf(const collision_tree *t, collision_cell *c) {
  double far = 0;
  for (int64_t i = c->first; i < c->first + c->count; i++) {
    const collision_point *p = &t->at[i];
    const double d[3] = {p->x[0] - c->centre[0], p->x[1] - c->centre[1], p->x[2] - c->centre[2]};
    add_second(c, p->m, p->x, NULL);
    far = fmax(far, square_of(d));
  }
  c->radius = sqrt(far);
}

static void close_inner(const collision_tree *t, int64_t index) {
  collision_cell *c = &t->cell[index];
  for (int64_t child = index + 1; child < c->next; child = t->cell[child].next) {
    const collision_cell *from = &t->cell[child];
    const double d[3] = {from->centre[0] - c->centre[0], from->centre[1] - c->centre[1],
                         from->centre[2] - c->centre[2]};
    add_second(c, from->mass, from->centre, from->second);
    c->radius = fmax(c->radius, sqrt(square_of(d)) + from->radius);
  }
}

/* Sorts grains first ... end - 1 by octants about `middle`, and keeps their order within an octant; ends [8]: the end
 * of each octant. */
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

/* Makes the cell of grains first ... end - 1 in the cube about `middle`, and the cells inside it. */
static sim_status make_cell(collision_tree *t, int64_t first, int64_t end, const double middle[3], double half,
                            int depth) {
  if (t->cells == t->room) {
    collision_cell *more = realloc(t->cell, (size_t)(2 * t->room) * sizeof *more);
    if (more == NULL) return sim_no_memory("a tree of %lld cells", (long long)t->room);
    t->cell = more;
    t->room *= 2;
  }
  const int64_t index = t->cells++;
  collision_cell *c = &t->cell[index];
  *c = (collision_cell){.first = first, .count = end - first, .leaf = end - first <= COLLISION_LEAF || depth == DEPTH};
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
  for (int k = 0; k < 2; k++) c->slope[k] = 1 / (sqrt(12 * c->second[k] / c->mass) + 1e-12 * half + DBL_MIN);
  return SIM_OK;
}

sim_status collision_tree_build(collision_tree *t, const double *position, const double *mass) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, middle[3], half = 0;
  for (int64_t i = 0; i < t->n; i++) {
    t->at[i] = (collision_point){.m = mass[i], .index = i};
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

static collision_walk_group group_of(const collision_tree *t, const collision_cell *leaf, int64_t first) {
  const int64_t rest = leaf->first + leaf->count - first;
  collision_walk_group g = {.centre = {leaf->centre[0], leaf->centre[1], leaf->centre[2]},
                            .radius = leaf->radius,
                            .first = first,
                            .count = rest < COLLISION_LEAF ? rest : COLLISION_LEAF};
  for (int64_t i = 0; i < COLLISION_LEAF; i++) { /* entries behind the last grain repeat it */
    const int64_t at = first + (i < g.count ? i : g.count - 1);
    const collision_point *p = &t->at[at];
    g.x[i] = p->x[0] - leaf->centre[0];
    g.y[i] = p->x[1] - leaf->centre[1];
    g.z[i] = p->x[2] - leaf->centre[2];
    g.place[i] = (double)at;
  }
  return g;
}

int collision_walk_images(const collision_images *images, collision_image *out) {
  int count = 0;
  if (isinf(images->size[0])) {
    out[0] = (collision_image){.edge = {INFINITY, INFINITY}};
    return 1;
  }
  const double *size = images->size, most = images->rings + 0.5;
  const int more = images->rings + 1;
  for (int n = -more; n <= more; n++)
    for (int m = -more - 1; m <= more + 1; m++) {
      const double ahead = n * images->offset;
      out[count++] = (collision_image){
          n * size[0], ahead - size[1] * rint(ahead / size[1]) + m * size[1], n, {most * size[0], most * size[1]}};
    }
  return count;
}

/* Cells with radii up to `blur` that the edge of the attracting region cuts count by the share within it, as if they
 * were uniform. Masses of some 12 L/s cells of a width s and a surface density S are wrong at random by 0.1 S s^2
 * (clumps). Together they err by 0.1 S s^2 sqrt(12 L/s)/(1.5 L)^2 = 0.15 S (s/L)^1.5; a usual acceleration is 4 S or
 * more. With s = 4.8 e^(2/3) L, which is 1.4 radii, this is 0.4 of the error e for which `opening` is 1.8 e^(1/4). */
collision_walk_numbers collision_walk_numbers_of(const collision_images *images, double softening, double opening) {
  const double side = fmin(images->size[0], images->size[1]);
  return (collision_walk_numbers){softening * softening, opening, isinf(side) ? 0 : 0.7 * side * pow(opening, 8.0 / 3)};
}

static collision_attraction attraction_of(const collision_walk_group *g, int64_t i) {
  return (collision_attraction){{g->ax[i], g->ay[i], g->az[i]}, g->potential[i], g->swept[i]};
}

/* Images and numbers of a walk: the attraction of the grains of a group by all images of all grains. */
typedef struct walk_plan {
  collision_image image[COLLISION_IMAGES_MAX];
  int images;
  collision_walk_numbers numbers;
} walk_plan;

static walk_plan plan_walk(const collision_images *images, double softening, double opening) {
  walk_plan plan = {.numbers = collision_walk_numbers_of(images, softening, opening)};
  plan.images = collision_walk_images(images, plan.image);
  return plan;
}

static collision_walk_group walk_group(const collision_tree *t, const walk_plan *plan, const collision_cell *leaf,
                                       int64_t first) {
  collision_walk_group g = group_of(t, leaf, first);
  for (int k = 0; k < plan->images; k++) t->walk(t, &plan->image[k], &plan->numbers, &g);
  return g;
}

void collision_tree_attract(const collision_tree *t, const collision_images *images, double softening, double opening,
                            collision_attraction *out) {
  const walk_plan plan = plan_walk(images, softening, opening);
#pragma omp parallel for schedule(dynamic, CHUNK) num_threads(t->threads) if (t->n > 512)
  for (int64_t k = 0; k < t->cells; k++) {
    const collision_cell *leaf = &t->cell[k];
    for (int64_t first = leaf->first; leaf->leaf && first < leaf->first + leaf->count; first += COLLISION_LEAF) {
      const collision_walk_group g = walk_group(t, &plan, leaf, first);
      for (int64_t i = 0; i < g.count; i++) out[t->at[first + i].index] = attraction_of(&g, i);
    }
  }
}

collision_attraction collision_tree_attract_one(const collision_tree *t, const collision_images *images,
                                                double softening, double opening, int64_t i) {
  const walk_plan plan = plan_walk(images, softening, opening);
  const int64_t at = t->place[i];
  int64_t k = 0;
  while (!t->cell[k].leaf || at >= t->cell[k].first + t->cell[k].count)
    k = at < t->cell[k].first + t->cell[k].count ? k + 1 : t->cell[k].next;
  const int64_t first = t->cell[k].first + (at - t->cell[k].first) / COLLISION_LEAF * COLLISION_LEAF;
  const collision_walk_group g = walk_group(t, &plan, &t->cell[k], first);
  return attraction_of(&g, at - first);
}
