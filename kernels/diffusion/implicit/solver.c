/* GMRES. */
#include "kernels/diffusion/implicit/solver.h"

#include <math.h>

enum { M = DIFFUSION_KRYLOV };

static sim_status norm(const diffusion_solver *s, const void *a, double *out) {
  SIM_TRY(s->on->dots(s->vectors, s->weight, a, 1, &a, out));
  *out = sqrt(*out);
  return SIM_OK;
}

static void scale(const diffusion_solver *s, void *a, double factor) {
  s->on->sum(s->vectors, a, 1, &factor, (const void *const[]){a});
}

/* Makes basis[j + 1] orthogonal to the vectors before it, by two classical Gram-Schmidt steps, and normal. column:
 * its parts along them, and its length. */
static sim_status orthogonalize(const diffusion_solver *s, int j, double *column) {
  const void *of[DIFFUSION_VECTOR_TERMS];
  double dots[M], factor[DIFFUSION_VECTOR_TERMS];
  for (int i = 0; i <= j + 1; i++) of[i] = s->basis[i];
  for (int i = 0; i <= j; i++) column[i] = 0;
  for (int pass = 0; pass < 2; pass++) {
    SIM_TRY(s->on->dots(s->vectors, s->weight, s->basis[j + 1], j + 1, of, dots));
    for (int i = 0; i <= j; i++) {
      column[i] += dots[i];
      factor[i] = -dots[i];
    }
    factor[j + 1] = 1;
    s->on->sum(s->vectors, s->basis[j + 1], j + 2, factor, of);
  }
  SIM_TRY(norm(s, s->basis[j + 1], &column[j + 1]));
  if (column[j + 1] > 0) scale(s, s->basis[j + 1], 1 / column[j + 1]);
  return SIM_OK;
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
  s->on->sum(s->vectors, x, count + 1, factor, of);
}

static bool gives_up(const diffusion_solver *s, int applied, double residual) {
  return s->tried > 0 && applied == s->tried && residual > s->worth;
}

/* One cycle from the residual in basis[0], whose length is *residual. */
static sim_status cycle(const diffusion_solver *s, void *x, double tolerance, int most, int *applied,
                        double *residual) {
  double r[M][M + 1], g[M + 1] = {*residual}, cosine[M], sine[M];
  int count = 0;
  scale(s, s->basis[0], 1 / *residual);
  while (count < M && (*applied < most) && (*residual > tolerance) && !gives_up(s, *applied, *residual)) {
    double *column = r[count];
    SIM_TRY(s->apply(s->context, s->basis[count], s->basis[count + 1]));
    ++*applied;
    SIM_TRY(orthogonalize(s, count, column));
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
  if (s->from) {
    SIM_TRY(s->apply(s->context, x, s->basis[0]));
    ++*applied;
    s->on->sum(s->vectors, s->basis[0], 2, both, (const void *const[]){b, s->basis[0]});
  } else {
    s->on->sum(s->vectors, x, 1, &none, &b);
    s->on->sum(s->vectors, s->basis[0], 1, &one, &b);
  }
  SIM_TRY(norm(s, s->basis[0], residual));
  while (*residual > tolerance && *applied < most) {
    SIM_TRY(cycle(s, x, tolerance, most, applied, residual));
    if (!(*residual > tolerance) || *applied >= most || gives_up(s, *applied, *residual)) return SIM_OK;
    SIM_TRY(s->apply(s->context, x, s->basis[0]));
    ++*applied;
    s->on->sum(s->vectors, s->basis[0], 2, both, (const void *const[]){b, s->basis[0]});
    SIM_TRY(norm(s, s->basis[0], residual));
  }
  return SIM_OK;
}
