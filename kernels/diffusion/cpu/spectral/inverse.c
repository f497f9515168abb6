/* Gauss and Jordan's method for blocks of pivots. For each block, the columns that hold its pivots are eliminated
 * first. Then every other column gets the same row operations. All operations on one number are in the order of the
 * pivots, as in the method without blocks. Threads divide the columns, and wait for each other once a block. */
#include "kernels/diffusion/cpu/spectral/inverse.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32, TILE = 64, CHUNK = 8 }; /* pivots of a block; columns of a tile; numbers that stay in registers */

/* Row operations of the pivots first <= p < first + count: rows p and best[p] are exchanged, row p is divided by
 * pivot[p], and factor[row][BLOCK] times row p is subtracted from every other row. */
typedef struct operations {
  int64_t n, first, count, best[BLOCK];
  double pivot[BLOCK], *factor;
} operations;

static void swap(int64_t count, double *x, double *y) {
  for (int64_t i = 0; i < count && x != y; i++) {
    const double t = x[i];
    x[i] = y[i];
    y[i] = t;
  }
}

/* Eliminates the block's columns of a. Returns false where a pivot is 0. */
static bool eliminate(operations *o, double *a) {
  const int64_t n = o->n, end = o->first + o->count;
  memset(o->factor, 0, (size_t)(n * BLOCK) * sizeof(double));
  for (int64_t p = o->first; p < end; p++) {
    const int64_t c = p - o->first;
    int64_t best = p;
    for (int64_t i = p + 1; i < n; i++)
      if (fabs(a[i * n + p]) > fabs(a[best * n + p])) best = i;
    const double pivot = a[best * n + p];
    if (!(fabs(pivot) > 0)) return false;
    o->best[c] = best;
    o->pivot[c] = pivot;
    swap(o->count, a + p * n + o->first, a + best * n + o->first);
    swap(BLOCK, o->factor + p * BLOCK, o->factor + best * BLOCK);
    for (int64_t j = p; j < end; j++) a[p * n + j] /= pivot;
    for (int64_t i = 0; i < n; i++) {
      const double factor = a[i * n + p];
      if (i == p) continue;
      o->factor[i * BLOCK + c] = factor;
      for (int64_t j = p + 1; j < end; j++) a[i * n + j] -= factor * a[p * n + j];
    }
  }
  return true;
}

/* Subtracts from numbers of a row the multiples of the pivots' rows. */
static void subtract(int64_t count, const double *factor, const double (*rows)[TILE], double *x) {
  for (int64_t j = 0; j + CHUNK <= count; j += CHUNK) {
    double sum[CHUNK];
    for (int i = 0; i < CHUNK; i++) sum[i] = x[j + i];
    for (int c = 0; c < BLOCK; c++)
      for (int i = 0; i < CHUNK; i++) sum[i] -= factor[c] * rows[c][j + i];
    for (int i = 0; i < CHUNK; i++) x[j + i] = sum[i];
  }
  for (int64_t j = count / CHUNK * CHUNK; j < count; j++)
    for (int c = 0; c < BLOCK; c++) x[j] -= factor[c] * rows[c][j];
}

/* Applies the operations to `count` <= TILE columns; m: the first of them, in rows of n numbers. */
static void apply(const operations *o, int64_t count, double *m) {
  const int64_t n = o->n, end = o->first + o->count;
  double rows[BLOCK][TILE] = {{0}};
  bool any = false;
  for (int64_t c = 0; c < o->count; c++) swap(count, m + (o->first + c) * n, m + o->best[c] * n);
  for (int64_t c = 0; c < o->count; c++) {
    double *row = m + (o->first + c) * n;
    for (int64_t j = 0; j < count; j++) {
      rows[c][j] = row[j] /= o->pivot[c];
      any = any || row[j] != 0;
    }
    for (int64_t i = o->first; i < end; i++)
      for (int64_t j = 0; j < count && i != o->first + c; j++) m[i * n + j] -= o->factor[i * BLOCK + c] * rows[c][j];
  }
  for (int64_t i = 0; i < n && any; i++)
    if (i < o->first || i >= end) subtract(count, o->factor + i * BLOCK, (const double(*)[TILE])rows, m + i * n);
}

double diffusion_inverse_bytes(int64_t n) { return sizeof(double) * (double)(n * BLOCK); }

sim_status diffusion_inverse(int64_t n, double *a, double *out, int threads) {
  (void)threads;
  operations o = {.n = n, .factor = malloc((size_t)(n * BLOCK) * sizeof(double))};
  if (!o.factor) return sim_no_memory("the inverse of a matrix of %lld rows", (long long)n);
  sim_status status = SIM_OK;
  memset(out, 0, (size_t)(n * n) * sizeof *out);
  for (int64_t i = 0; i < n; i++) out[i * n + i] = 1;
  for (o.first = 0; o.first < n && status == SIM_OK; o.first += BLOCK) {
    o.count = n - o.first < BLOCK ? n - o.first : BLOCK;
    if (!eliminate(&o, a)) status = sim_fail(SIM_ERR_INTERNAL, "a matrix of %lld rows has no inverse", (long long)n);
    const int64_t tiles = (n + TILE - 1) / TILE;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1 && n > 256)
    for (int64_t t = 0; t < 2 * tiles; t++) {
      const int64_t begin = t % tiles * TILE, end = begin + TILE < n ? begin + TILE : n;
      const int64_t first = t < tiles && begin < o.first + o.count ? o.first + o.count : begin;
      if (first < end && status == SIM_OK) apply(&o, end - first, (t < tiles ? a : out) + first);
    }
  }
  free(o.factor);
  return status;
}
