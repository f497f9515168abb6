/* Sums, products and GMRES. */
#include "kernels/diffusion/cpu/implicit/vectors.h"

#include "engine/reduce.h"

#include <math.h>

#define real float
#define NAME(word) word##_single
#include "kernels/diffusion/cpu/implicit/vectors.inc"
#define real double
#define NAME(word) word##_double
#include "kernels/diffusion/cpu/implicit/vectors.inc"

/* Blocks of whole points, each within one field. */
static int64_t field_blocks(const diffusion_vectors *v) { return (v->count + SIM_REDUCE_BLOCK - 1) / SIM_REDUCE_BLOCK; }
int64_t diffusion_vectors_blocks(const diffusion_vectors *v) { return v->fields * field_blocks(v); }

static void block_at(const diffusion_vectors *v, int64_t block, int64_t *first, int64_t *end) {
  const int64_t in_field = block % field_blocks(v), field = block / field_blocks(v);
  const int64_t last = (in_field + 1) * SIM_REDUCE_BLOCK;
  *first = field * v->count + in_field * SIM_REDUCE_BLOCK;
  *end = field * v->count + (last < v->count ? last : v->count);
}

static int team(const diffusion_vectors *v) { return diffusion_vectors_blocks(v) > 8 ? v->threads : 1; }

void diffusion_vectors_sum(const diffusion_vectors *v, void *out, int terms, const double *factor,
                           const void *const *of) {
  /* the target goes first, so that it may be one of the terms */
  const void *ordered[DIFFUSION_VECTOR_TERMS];
  double factors[DIFFUSION_VECTOR_TERMS];
  int own = 0;
  for (int t = 0; t < terms; t++)
    if (of[t] == out) own = t;
  for (int t = 0; t < terms; t++) {
    const int from = t == 0 ? own : t <= own ? t - 1 : t;
    ordered[t] = of[from];
    factors[t] = factor[from];
  }
  const int64_t blocks = diffusion_vectors_blocks(v);
#pragma omp parallel for schedule(static) num_threads(team(v)) if (team(v) > 1)
  for (int64_t block = 0; block < blocks; block++) {
    int64_t first, end;
    block_at(v, block, &first, &end);
    if (v->single)
      sum_single(out, first, end, terms, factors, ordered);
    else
      sum_double(out, first, end, terms, factors, ordered);
  }
}

void diffusion_vectors_resolve(const diffusion_vectors *v, void *out, double first, const double *factor,
                               const void *symbol) {
  const int64_t blocks = diffusion_vectors_blocks(v);
#pragma omp parallel for schedule(static) num_threads(team(v)) if (team(v) > 1)
  for (int64_t block = 0; block < blocks; block++) {
    int64_t from, end;
    block_at(v, block, &from, &end);
    const double own = factor[block / field_blocks(v)];
    if (v->single)
      resolve_single(out, from, end, v->lanes, first, own, symbol);
    else
      resolve_double(out, from, end, v->lanes, first, own, symbol);
  }
}

void diffusion_vectors_choose(const diffusion_vectors *v, void *out, const void *other, const void *where) {
  const int64_t blocks = diffusion_vectors_blocks(v);
#pragma omp parallel for schedule(static) num_threads(team(v)) if (team(v) > 1)
  for (int64_t block = 0; block < blocks; block++) {
    int64_t first, end;
    block_at(v, block, &first, &end);
    if (v->single)
      choose_single(out, first, end, other, where);
    else
      choose_double(out, first, end, other, where);
  }
}

void diffusion_vectors_dots(const diffusion_vectors *v, const double *weight, const void *a, int count,
                            const void *const *of, double *dots) {
  const int64_t blocks = diffusion_vectors_blocks(v);
#pragma omp parallel for schedule(static) num_threads(team(v)) if (team(v) > 1)
  for (int64_t block = 0; block < blocks; block++) {
    int64_t first, end;
    block_at(v, block, &first, &end);
    const double w = weight[block / field_blocks(v)];
    for (int i = 0; i < count; i++)
      v->partial[i * blocks + block] =
          w * (v->single ? dot_single(a, of[i], first, end) : dot_double(a, of[i], first, end));
  }
  for (int i = 0; i < count; i++) dots[i] = sim_reduce_tree(v->partial + i * blocks, (size_t)blocks);
}

/* ---- GMRES ---- */

enum { M = DIFFUSION_KRYLOV };

static double norm(const diffusion_solver *s, const void *a) {
  double square;
  diffusion_vectors_dots(s->vectors, s->weight, a, 1, &a, &square);
  return sqrt(square);
}

static void scale(const diffusion_solver *s, void *a, double factor) {
  diffusion_vectors_sum(s->vectors, a, 1, &factor, (const void *const[]){a});
}

/* Makes basis[j + 1] orthogonal to the vectors before it, by two classical Gram-Schmidt steps, and normal. column:
 * its parts along them, and its length. */
static void orthogonalize(const diffusion_solver *s, int j, double *column) {
  const void *of[DIFFUSION_VECTOR_TERMS];
  double dots[M], factor[DIFFUSION_VECTOR_TERMS];
  for (int i = 0; i <= j + 1; i++) of[i] = s->basis[i];
  for (int i = 0; i <= j; i++) column[i] = 0;
  for (int pass = 0; pass < 2; pass++) {
    diffusion_vectors_dots(s->vectors, s->weight, s->basis[j + 1], j + 1, of, dots);
    for (int i = 0; i <= j; i++) {
      column[i] += dots[i];
      factor[i] = -dots[i];
    }
    factor[j + 1] = 1;
    diffusion_vectors_sum(s->vectors, s->basis[j + 1], j + 2, factor, of);
  }
  column[j + 1] = norm(s, s->basis[j + 1]);
  if (column[j + 1] > 0) scale(s, s->basis[j + 1], 1 / column[j + 1]);
}

/* Adds to x the combination of the basis that minimizes the residual: solves the triangle `r` (columns of the rotated
 * Hessenberg matrix) for the right-hand side g. */
static void add_solution(const diffusion_solver *s, int count, double (*r)[M + 1], double *g, void *x) {
  const void *of[DIFFUSION_VECTOR_TERMS];
  double factor[DIFFUSION_VECTOR_TERMS];
  for (int i = count - 1; i >= 0; i--) {
    for (int k = i + 1; k < count; k++) g[i] -= r[k][i] * factor[k];
    factor[i] = g[i] / r[i][i];
  }
  for (int i = 0; i < count; i++) of[i] = s->basis[i];
  factor[count] = 1;
  of[count] = x;
  diffusion_vectors_sum(s->vectors, x, count + 1, factor, of);
}

/* One cycle from the residual in basis[0], whose length is *residual. */
static sim_status cycle(const diffusion_solver *s, void *x, double tolerance, int most, int *applied,
                        double *residual) {
  double r[M][M + 1], g[M + 1] = {*residual}, cosine[M], sine[M];
  int count = 0;
  scale(s, s->basis[0], 1 / *residual);
  while (count < M && *applied<most && * residual> tolerance) {
    double *column = r[count];
    SIM_TRY(s->apply(s->context, s->basis[count], s->basis[count + 1]));
    ++*applied;
    orthogonalize(s, count, column);
    for (int i = 0; i < count; i++) {
      const double a = column[i], b = column[i + 1];
      column[i] = cosine[i] * a + sine[i] * b;
      column[i + 1] = cosine[i] * b - sine[i] * a;
    }
    const double length = hypot(column[count], column[count + 1]);
    if (!(length > 0)) { /* no new direction, or NaN */
      *residual = length == 0 ? *residual : NAN;
      break;
    }
    cosine[count] = column[count] / length;
    sine[count] = column[count + 1] / length;
    column[count] = length;
    g[count + 1] = -sine[count] * g[count];
    g[count] *= cosine[count];
    *residual = fabs(g[++count]);
  }
  if (!isnan(*residual)) add_solution(s, count, r, g, x);
  return SIM_OK;
}

sim_status diffusion_solve(const diffusion_solver *s, const void *b, void *x, double tolerance, int most, int *applied,
                           double *residual) {
  const double none = 0, one = 1, both[2] = {1, -1};
  *applied = 0;
  diffusion_vectors_sum(s->vectors, x, 1, &none, &b);
  diffusion_vectors_sum(s->vectors, s->basis[0], 1, &one, &b);
  *residual = norm(s, s->basis[0]);
  while (*residual > tolerance && *applied < most) {
    SIM_TRY(cycle(s, x, tolerance, most, applied, residual));
    if (!(*residual > tolerance) || *applied >= most) return SIM_OK;
    SIM_TRY(s->apply(s->context, x, s->basis[0]));
    ++*applied;
    diffusion_vectors_sum(s->vectors, s->basis[0], 2, both, (const void *const[]){b, s->basis[0]});
    *residual = norm(s, s->basis[0]);
  }
  return SIM_OK;
}
