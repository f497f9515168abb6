/* Inner loops of the direct sums for a custom law: all pairs of one block of bodies with another block, each pair once.
 * Compiled once for each instruction set and precision (NBODY_ISA, NBODY_SINGLE, NBODY_CUSTOM_TILES).
 *
 *   rows of i --> r2 of up to NBODY_CUSTOM_PAIRS pairs --program--> force [rate] --> sums of i (lanes) and of j
 *
 * The law is evaluated for pairs of two different bodies only, never for the padding of the last block. The lane of a
 * pair follows from its index in the row alone, so that the bits do not depend on the vector width. */
#include "kernels/nbody/cpu/real.h"
#include "kernels/nbody/direct/cpu/tile.h"

#ifdef _OPENMP
#include <omp.h>
static int thread_number(void) { return omp_get_thread_num(); }
#else
static int thread_number(void) { return 0; }
#endif

enum { LANES = 8 };

/* Pairs of body i with the bodies j ... j + count - 1; `at`: index of the first pair in the columns. */
typedef struct row {
  int64_t i, j;
  int count, at;
} row;

typedef struct batch {
  const nbody_packed *packed;
  real *r2, *force, *rate;
  void *scratch;
  row rows[NBODY_CUSTOM_PAIRS];
  int row_count, pairs;
} batch;

typedef void finish_rows(batch *b);

static void add_row(batch *b, int64_t i, int64_t j, int count) {
  const nbody_packed *p = b->packed;
  const real *restrict x = p->body[NBODY_X], *restrict y = p->body[NBODY_X + 1], *restrict z = p->body[NBODY_X + 2];
  const real xi = x[i], yi = y[i], zi = z[i];
  real *restrict r2 = b->r2 + b->pairs;
  for (int k = 0; k < count; k++) {
    const real dx = x[j + k] - xi, dy = y[j + k] - yi, dz = z[j + k] - zi;
    r2[k] = dx * dx + dy * dy + dz * dz;
  }
  b->rows[b->row_count++] = (row){i, j, count, b->pairs};
  b->pairs += count;
}

static void over_tile(const nbody_packed *p, int64_t i0, int64_t j0, finish_rows *finish) {
  const nbody_custom_law *law = p->law;
  char *scratch = law->scratch + (size_t)thread_number() * law->stride;
  real *columns = (real *)(void *)(scratch + law->columns);
  batch b = {.packed = p,
             .r2 = columns,
             .force = columns + NBODY_CUSTOM_PAIRS,
             .rate = columns + 2 * NBODY_CUSTOM_PAIRS,
             .scratch = scratch};
  const int64_t i1 = i0 + p->block < p->n ? i0 + p->block : p->n, j1 = j0 + p->block < p->n ? j0 + p->block : p->n;
  for (int64_t i = i0; i < i1; i++) {
    const int64_t j = i0 == j0 ? i + 1 : j0;
    if (j >= j1) continue;
    if (b.pairs + (int)(j1 - j) > NBODY_CUSTOM_PAIRS) {
      finish(&b);
      b.row_count = b.pairs = 0;
    }
    add_row(&b, i, j, (int)(j1 - j));
  }
  if (b.pairs > 0) finish(&b);
}

static double tree(const double *lane) {
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static void evaluate(const batch *b, const sim_expr_program *program) {
  sim_expr_program_run(program, (size_t)b->pairs, (const void *const[]){b->r2}, (void *const[]){b->force, b->rate},
                       b->scratch);
}

/* ---- acceleration ---- */

static void finish_acceleration(batch *b) {
  const nbody_packed *p = b->packed;
  const real *mass = p->body[NBODY_MASS];
  evaluate(b, p->law->force);
  for (int r = 0; r < b->row_count; r++) {
    const row *w = &b->rows[r];
    const real *restrict f = b->force + w->at, *restrict m = mass + w->j, mi = mass[w->i];
    for (int c = 0; c < 3; c++) {
      const real *x = p->body[NBODY_X + c], xi = x[w->i];
      const real *restrict xj = x + w->j;
      double *restrict sum = p->sum[c] + w->j, side[LANES] = {0};
      int k = 0;
      for (; k + LANES <= w->count; k += LANES) {
        for (int l = 0; l < LANES; l++) {
          const real term = f[k + l] * (xj[k + l] - xi);
          side[l] += (double)(m[k + l] * term);
          sum[k + l] -= (double)(mi * term);
        }
      }
      for (int l = 0; k < w->count; k++, l++) {
        const real term = f[k] * (xj[k] - xi);
        side[l] += (double)(m[k] * term);
        sum[k] -= (double)(mi * term);
      }
      p->sum[c][w->i] += tree(side);
    }
  }
}

static void acceleration(const nbody_packed *p, int64_t i0, int64_t j0) { over_tile(p, i0, j0, finish_acceleration); }

/* ---- acceleration and jerk: d/dt (f d) = f w + 2 f' (d . w) d, with w the relative velocity ---- */

/* Replaces r2 by d . w, and the rate f' by 2 f' (d . w). */
static void make_rates(batch *b, const row *w) {
  const nbody_packed *p = b->packed;
  real *restrict dot = b->r2 + w->at, *restrict rate = b->rate + w->at;
  for (int k = 0; k < w->count; k++) dot[k] = 0;
  for (int c = 0; c < 3; c++) {
    const real *x = p->body[NBODY_X + c], *v = p->body[NBODY_V + c], xi = x[w->i], vi = v[w->i];
    for (int k = 0; k < w->count; k++) dot[k] += (x[w->j + k] - xi) * (v[w->j + k] - vi);
  }
  for (int k = 0; k < w->count; k++) rate[k] *= 2 * dot[k];
}

static void finish_jerk(batch *b) {
  const nbody_packed *p = b->packed;
  const real *mass = p->body[NBODY_MASS];
  evaluate(b, p->law->force);
  for (int r = 0; r < b->row_count; r++) {
    const row *w = &b->rows[r];
    make_rates(b, w);
    const real *restrict f = b->force + w->at, *restrict g = b->rate + w->at, *restrict m = mass + w->j;
    const real mi = mass[w->i];
    for (int c = 0; c < 3; c++) {
      const real *x = p->body[NBODY_X + c], *v = p->body[NBODY_V + c], xi = x[w->i], vi = v[w->i];
      const real *restrict xj = x + w->j, *restrict vj = v + w->j;
      double *restrict sum = p->sum[c] + w->j, *restrict sum_jerk = p->sum[3 + c] + w->j;
      double side[LANES] = {0}, side_jerk[LANES] = {0};
      for (int k = 0; k < w->count; k++) {
        const real d = xj[k] - xi, term = f[k] * d, jerk = f[k] * (vj[k] - vi) + g[k] * d;
        side[k % LANES] += (double)(m[k] * term);
        side_jerk[k % LANES] += (double)(m[k] * jerk);
        sum[k] -= (double)(mi * term);
        sum_jerk[k] -= (double)(mi * jerk);
      }
      p->sum[c][w->i] += tree(side);
      p->sum[3 + c][w->i] += tree(side_jerk);
    }
  }
}

static void jerk(const nbody_packed *p, int64_t i0, int64_t j0) { over_tile(p, i0, j0, finish_jerk); }

/* ---- potential, added to the sum of body i ---- */

static void finish_potential(batch *b) {
  const nbody_packed *p = b->packed;
  const real *mass = p->body[NBODY_MASS];
  evaluate(b, p->law->potential);
  for (int r = 0; r < b->row_count; r++) {
    const row *w = &b->rows[r];
    double side[LANES] = {0};
    for (int k = 0; k < w->count; k++) side[k % LANES] += (double)(mass[w->i] * mass[w->j + k] * b->force[w->at + k]);
    p->sum[0][w->i] += tree(side);
  }
}

static void potential(const nbody_packed *p, int64_t i0, int64_t j0) { over_tile(p, i0, j0, finish_potential); }

const nbody_tiles NBODY_CUSTOM_TILES = {
    .acceleration = acceleration, .jerk = jerk, .potential = potential, .cube = 1, .inverse = 1};
