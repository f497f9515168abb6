/* The tree of grains: keys of positions, the cells that begin at a grain, and moments of cells. C and nvcc compile this
 * text: both devices make the same tree, with the same bits.
 *
 * Of each axis a key has COLLISION_DEPTH bits of the position in the cube about all grains; grains stand in the order
 * of keys, equal keys in the order of indices. A cell of level l holds the grains whose keys agree in the first 3 l
 * bits. It is divided if it has more than COLLISION_LEAF grains and its level is below COLLISION_DEPTH. Cells stand
 * depth first, so that those that begin at one grain are a run, from the largest to a leaf. */
#ifndef COLLISION_GRAVITY_CELLS_H
#define COLLISION_GRAVITY_CELLS_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define WALK_INLINE static __device__ __forceinline__
#define WALK_LEADING_ZEROS(bits) __clzll((long long)(bits))
#else
#define WALK_INLINE static inline __attribute__((always_inline))
#define WALK_LEADING_ZEROS(bits) __builtin_clzll(bits)
#endif

/* COLLISION_LEAF: most grains of a leaf above the last level, and of a group whose attraction is computed at once. */
enum { COLLISION_LEAF = 8, COLLISION_DEPTH = 21 };

typedef struct collision_cell {
  double centre[3], mass, radius;    /* centre of mass; greatest distance of a grain from it */
  double second[6], trace;           /* sum of m x x about the centre: xx yy zz xy yz zx */
  double slope[2];                   /* one over the widths along x and y of a uniform cell of these moments */
  int32_t first, count, next, level; /* grains, in the order of the tree; first cell behind all cells inside */
} collision_cell;

typedef struct collision_point {
  double x[3], m;
} collision_point;

/* Cube about all grains, with their middle: lowest corner, edge, and 2^COLLISION_DEPTH over the edge (0: all grains at
 * one point). */
typedef struct collision_cube {
  double low[3], edge, scale;
} collision_cube;

WALK_INLINE bool cell_is_leaf(const collision_cell *c) {
  return c->count <= COLLISION_LEAF || c->level == COLLISION_DEPTH;
}

WALK_INLINE collision_cube cell_cube(const double low[3], const double high[3]) {
  collision_cube cube = {{0}, 0, 0};
  for (int c = 0; c < 3; c++) cube.edge = fmax(cube.edge, high[c] - low[c]);
  for (int c = 0; c < 3; c++) cube.low[c] = 0.5 * (low[c] + high[c]) - 0.5 * cube.edge;
  if (cube.edge > 0) cube.scale = (double)(1 << COLLISION_DEPTH) / cube.edge;
  return cube;
}

/* Bits 3 k + 2, 3 k + 1 and 3 k of a key are bit k along z, y and x. */
WALK_INLINE uint64_t cell_key(const collision_cube *cube, const double x[3]) {
  const double most = (double)((1 << COLLISION_DEPTH) - 1);
  uint64_t key = 0;
  for (int c = 0; c < 3; c++) {
    const double place = (x[c] - cube->low[c]) * cube->scale;
    uint64_t bits = (uint64_t)(place < most ? fmax(place, 0.0) : most);
    bits = (bits | bits << 32) & 0x001f00000000ffffull; /* spreads 21 bits */
    bits = (bits | bits << 16) & 0x001f0000ff0000ffull;
    bits = (bits | bits << 8) & 0x100f00f00f00f00full;
    bits = (bits | bits << 4) & 0x10c30c30c30c30c3ull;
    bits = (bits | bits << 2) & 0x1249249249249249ull;
    key |= bits << c;
  }
  return key;
}

/* Last level at which grains of two keys share a cell. */
WALK_INLINE int cell_common(uint64_t a, uint64_t b) {
  return a == b ? COLLISION_DEPTH : (WALK_LEADING_ZEROS(a ^ b) - 1) / 3;
}

/* Levels `from` to `to` of the cells that begin at grain i of n; from > to: none. */
WALK_INLINE void cell_levels(const uint64_t *key, int64_t n, int64_t i, int *from, int *to) {
  int divided = -1; /* last level of a cell with grain i that is divided */
  *from = i == 0 ? 0 : cell_common(key[i - 1], key[i]) + 1;
  for (int64_t j = i < COLLISION_LEAF ? 0 : i - COLLISION_LEAF; j <= i && j + COLLISION_LEAF < n; j++) {
    const int common = cell_common(key[j], key[j + COLLISION_LEAF]);
    divided = common > divided ? common : divided;
  }
  *to = divided < COLLISION_DEPTH ? divided + 1 : COLLISION_DEPTH;
}

/* The first grain behind the cell of this level that begins at grain `first`. */
WALK_INLINE int64_t cell_end(const uint64_t *key, int64_t n, int64_t first, int level) {
  int64_t inside = first, step = 1;
  while (inside + step < n && cell_common(key[first], key[inside + step]) >= level) {
    inside += step;
    step *= 2;
  }
  int64_t behind = inside + step < n ? inside + step : n;
  while (behind - inside > 1) {
    const int64_t middle = inside + (behind - inside) / 2;
    if (cell_common(key[first], key[middle]) >= level)
      inside = middle;
    else
      behind = middle;
  }
  return behind;
}

/* Writes the cells that begin at grain i; offset [n + 1]: number of cells that begin before a grain. */
WALK_INLINE void cell_begin(const uint64_t *key, int64_t n, const uint32_t *offset, int64_t i, collision_cell *cell) {
  int from, to;
  if (offset[i] == offset[i + 1]) return;
  cell_levels(key, n, i, &from, &to);
  for (int level = from; level <= to; level++) {
    collision_cell *c = &cell[offset[i] + (uint32_t)(level - from)];
    const int64_t end = cell_end(key, n, i, level);
    c->first = (int32_t)i;
    c->count = (int32_t)(end - i);
    c->next = (int32_t)offset[end];
    c->level = level;
  }
}

/* ---- moments ---- */

/* Adds a mass m at x with its own second moments (NULL: none) to the second moments about c's centre. Returns the
 * square of its distance from there. */
WALK_INLINE double cell_add_second(collision_cell *c, double m, const double x[3], const double *second) {
  const double d[3] = {x[0] - c->centre[0], x[1] - c->centre[1], x[2] - c->centre[2]};
  for (int k = 0; k < 3; k++) {
    c->second[k] += m * d[k] * d[k] + (second != NULL ? second[k] : 0);
    c->second[3 + k] += m * d[k] * d[(k + 1) % 3] + (second != NULL ? second[3 + k] : 0);
  }
  return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* Computes the moments of a cell; the cells inside have theirs. `edge`: of the cube about all grains. */
WALK_INLINE void cell_close(collision_cell *cell, int64_t index, const collision_point *at, double edge) {
  collision_cell c = cell[index];
  const bool leaf = cell_is_leaf(&c);
  const int32_t from = leaf ? c.first : (int32_t)index + 1, end = leaf ? c.first + c.count : c.next;
  c.mass = c.radius = 0;
  for (int k = 0; k < 3; k++) c.centre[k] = c.second[k] = c.second[3 + k] = 0;
  for (int32_t i = from; i < end; i = leaf ? i + 1 : cell[i].next) {
    const double m = leaf ? at[i].m : cell[i].mass, *x = leaf ? at[i].x : cell[i].centre;
    c.mass += m;
    for (int k = 0; k < 3; k++) c.centre[k] += m * x[k];
  }
  for (int k = 0; k < 3; k++) c.centre[k] /= c.mass;
  for (int32_t i = from; i < end; i = leaf ? i + 1 : cell[i].next) {
    const double m = leaf ? at[i].m : cell[i].mass, *x = leaf ? at[i].x : cell[i].centre;
    const double square = cell_add_second(&c, m, x, leaf ? NULL : cell[i].second);
    c.radius = fmax(c.radius, leaf ? sqrt(square) : sqrt(square) + cell[i].radius);
  }
  c.trace = c.second[0] + c.second[1] + c.second[2];
  for (int k = 0; k < 2; k++)
    c.slope[k] = 1 / (sqrt(12 * c.second[k] / c.mass) + 1e-12 * edge / (double)(2 << c.level) + DBL_MIN);
  cell[index] = c;
}

#endif
