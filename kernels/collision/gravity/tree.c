#include "kernels/collision/gravity/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* CHUNK: cells that a thread walks at a time; DIGIT: bits of a key that one pass of the sort orders. */
enum { CHUNK = 64, DIGIT = 11 };

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
  t->key = malloc((size_t)n * sizeof *t->key + 1);
  t->spare = malloc((size_t)n * sizeof *t->spare + 1);
  t->index = malloc((size_t)n * sizeof *t->index + 1);
  t->moved = malloc((size_t)n * sizeof *t->moved + 1);
  t->place = malloc((size_t)n * sizeof *t->place + 1);
  t->offset = malloc(((size_t)n + 1) * sizeof *t->offset);
  t->cell = malloc((size_t)t->room * sizeof *t->cell);
  if (t->at && t->key && t->spare && t->index && t->moved && t->place && t->offset && t->cell) return SIM_OK;
  collision_tree_destroy(out);
  return sim_no_memory("a tree of %lld grains", (long long)n);
}

void collision_tree_destroy(collision_tree **tree) {
  collision_tree *t = *tree;
  if (t == NULL) return;
  free(t->at), free(t->key), free(t->spare), free(t->index), free(t->moved), free(t->place), free(t->offset);
  free(t->cell);
  free(t);
  *tree = NULL;
}

double collision_tree_bytes(double n) {
  return n * (sizeof(collision_point) + 2 * sizeof(uint64_t) + 4 * sizeof(uint32_t) + sizeof(collision_cell));
}

/* ---- cells ---- */

static collision_cube cube_of(const collision_tree *t, const double *position) {
  double low[3], high[3];
  for (int c = 0; c < 3; c++) {
    double least = INFINITY, most = -INFINITY;
    const double *x = position + c * t->n;
    for (int64_t i = 0; i < t->n; i++) {
      least = fmin(least, x[i]);
      most = fmax(most, x[i]);
    }
    low[c] = least, high[c] = most;
  }
  return cell_cube(low, high);
}

/* Sorts keys with their indices by the bits from `shift` on; equal ones keep their order. */
static void sort_digit(collision_tree *t, int shift) {
  const uint64_t mask = (1u << DIGIT) - 1;
  int64_t next[1 << DIGIT] = {0}, at = 0;
  for (int64_t i = 0; i < t->n; i++) next[t->key[i] >> shift & mask]++;
  if (t->n > 0 && next[t->key[0] >> shift & mask] == t->n) return;
  for (int digit = 0; digit < 1 << DIGIT; digit++) {
    const int64_t here = next[digit];
    next[digit] = at;
    at += here;
  }
  for (int64_t i = 0; i < t->n; i++) {
    const int64_t to = next[t->key[i] >> shift & mask]++;
    t->spare[to] = t->key[i];
    t->moved[to] = t->index[i];
  }
  uint64_t *const key = t->key;
  uint32_t *const index = t->index;
  t->key = t->spare, t->spare = key;
  t->index = t->moved, t->moved = index;
}

static void sort_grains(collision_tree *t, const collision_cube *cube, const double *position, const double *mass) {
  const int64_t n = t->n;
#pragma omp parallel for schedule(static) num_threads(t->threads) if (n > 4096)
  for (int64_t i = 0; i < n; i++) {
    const double x[3] = {position[i], position[n + i], position[2 * n + i]};
    t->key[i] = cell_key(cube, x);
    t->index[i] = (uint32_t)i;
  }
  for (int shift = 0; shift < 3 * COLLISION_DEPTH; shift += DIGIT) sort_digit(t, shift);
#pragma omp parallel for schedule(static) num_threads(t->threads) if (n > 4096)
  for (int64_t k = 0; k < n; k++) {
    const uint32_t i = t->index[k];
    t->at[k] = (collision_point){{position[i], position[n + i], position[2 * n + i]}, mass[i]};
    t->place[i] = (uint32_t)k;
  }
}

/* Counts the cells, and makes room for them. */
static sim_status count_cells(collision_tree *t) {
  const int64_t n = t->n;
#pragma omp parallel for schedule(static) num_threads(t->threads) if (n > 4096)
  for (int64_t i = 0; i < n; i++) {
    int from, to;
    cell_levels(t->key, n, i, &from, &to);
    t->offset[i] = from <= to ? (uint32_t)(to - from + 1) : 0;
  }
  int64_t all = 0;
  for (int64_t i = 0; i < n; i++) {
    const uint32_t here = t->offset[i];
    t->offset[i] = (uint32_t)all;
    all += here;
  }
  t->offset[n] = (uint32_t)all;
  t->cells = all;
  if (all > INT32_MAX) return sim_no_memory("a tree of %lld cells", (long long)all);
  if (all <= t->room) return SIM_OK;
  free(t->cell);
  t->room = all + all / 4;
  t->cell = malloc((size_t)t->room * sizeof *t->cell);
  if (t->cell != NULL) return SIM_OK;
  t->room = t->cells = 0;
  return sim_no_memory("a tree of %lld cells", (long long)all);
}

sim_status collision_tree_build(collision_tree *t, const double *position, const double *mass) {
  const collision_cube cube = cube_of(t, position);
  sort_grains(t, &cube, position, mass);
  SIM_TRY(count_cells(t));
#pragma omp parallel for schedule(static) num_threads(t->threads) if (t->n > 4096)
  for (int64_t i = 0; i < t->n; i++) cell_begin(t->key, t->n, t->offset, i, t->cell);
  for (int64_t k = t->cells - 1; k >= 0; k--) cell_close(t->cell, k, t->at, cube.edge);
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
    for (int64_t first = leaf->first; cell_is_leaf(leaf) && first < leaf->first + leaf->count;
         first += COLLISION_LEAF) {
      const collision_walk_group g = walk_group(t, &plan, leaf, first);
      for (int64_t i = 0; i < g.count; i++) out[t->index[first + i]] = attraction_of(&g, i);
    }
  }
}

collision_attraction collision_tree_attract_one(const collision_tree *t, const collision_images *images,
                                                double softening, double opening, int64_t i) {
  const walk_plan plan = plan_walk(images, softening, opening);
  const int64_t at = t->place[i];
  int64_t k = 0;
  while (!cell_is_leaf(&t->cell[k]) || at >= t->cell[k].first + t->cell[k].count)
    k = at < t->cell[k].first + t->cell[k].count ? k + 1 : t->cell[k].next;
  const int64_t first = t->cell[k].first + (at - t->cell[k].first) / COLLISION_LEAF * COLLISION_LEAF;
  const collision_walk_group g = walk_group(t, &plan, &t->cell[k], first);
  return attraction_of(&g, at - first);
}
