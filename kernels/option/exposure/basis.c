#include "kernels/option/exposure/basis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = OPTION_CHUNK, LEAST = 64 };

static int in_order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Mean and half the inverse deviation of sorted numbers; a factor of 0 where they are all alike. */
static void scale_of(const double *x, int count, double *centre, double *factor) {
  double sum = 0, squares = 0;
  for (int i = 0; i < count; i++) sum += x[i] / count;
  for (int i = 0; i < count; i++) squares += (x[i] - sum) * (x[i] - sum) / count;
  *centre = sum;
  *factor = squares > 1e-20 * sum * sum ? 1 / (2 * sqrt(squares)) : 0;
}

/* Knots at quantiles, without those that are too near to the one before. */
static void set_knots(const double *u, int count, exposure_basis *b) {
  static const double at[EXPOSURE_KNOTS_MAX] = {0.01, 0.08, 0.25, 0.42, 0.58, 0.75, 0.92, 0.99};
  scale_of(u, count, &b->centre, &b->factor);
  b->knots = 0;
  for (int k = 0; k < EXPOSURE_KNOTS_MAX && b->factor > 0; k++) {
    const double knot = (u[(int)(at[k] * (count - 1))] - b->centre) * b->factor;
    if (b->knots == 0 || knot - b->knot[b->knots - 1] > 0.02) b->knot[b->knots++] = knot;
  }
  if (b->knots < 3) b->knots = 0;
}

static int spline_count(const exposure_basis *b) { return b->factor == 0 ? 1 : b->knots == 0 ? 2 : b->knots; }

/* Functions of the spline that each raw variable is multiplied by. */
static int products_of(const exposure_basis *b) {
  const int spline = spline_count(b);
  return b->simple && spline > 2 ? 2 : spline;
}

static void count_functions(exposure_basis *b, bool hedged) {
  const int spline = spline_count(b), n = b->raws, room = OPTION_BASES_MAX - (hedged ? spline : 0);
  const int alone = spline + 2 + n * (n + 1) / 2;
  b->simple = alone + n * spline > room;
  b->values = alone + n * products_of(b);
  if (b->values > room) b->values = room;
  b->count = b->values + (hedged ? spline : 0);
}

void option_exposure_basis_make(const exposure_state *s, exposure_status group, bool hedged, exposure_basis *b) {
  double sorted[CHUNK];
  int count = 0;
  *b = (exposure_basis){.raws = s->raws};
  for (int i = 0; i < CHUNK; i++)
    if (s->status[i] == group) sorted[count++] = s->u[i];
  if (count < LEAST) {
    option_exposure_basis_constant(hedged, b);
    b->few = true;
    return;
  }
  qsort(sorted, (size_t)count, sizeof *sorted, in_order);
  set_knots(sorted, count, b);
  for (int r = 0; r < s->raws; r++) {
    count = 0;
    for (int i = 0; i < CHUNK; i++)
      if (s->status[i] == group) sorted[count++] = s->raw[r][i];
    qsort(sorted, (size_t)count, sizeof *sorted, in_order);
    scale_of(sorted, count, &b->raw_centre[r], &b->raw_factor[r]);
    b->low[r] = sorted[0];
    b->high[r] = sorted[count - 1];
  }
  count_functions(b, hedged);
}

void option_exposure_basis_constant(bool hedged, exposure_basis *b) {
  *b = (exposure_basis){.values = 1, .count = hedged ? 2 : 1};
}

static double cubed(double x) { return x > 0 ? x * x * x : 0; }

/* Natural cubic spline: 1, x, and d_k - d_(K-2), d_k = ((x - knot_k)^3 - (x - knot_(K-1))^3)/(knot_(K-1) - knot_k),
 * each cube 0 below its knot. */
static void spline_of(const exposure_basis *b, double u, double *out) {
  const double x = (u - b->centre) * b->factor;
  const int last = b->knots - 1;
  out[0] = 1;
  if (b->factor == 0) return;
  out[1] = x;
  if (b->knots == 0) return;
  const double end = cubed(x - b->knot[last]);
  const double before = (cubed(x - b->knot[last - 1]) - end) / (b->knot[last] - b->knot[last - 1]);
  for (int k = 0; k + 2 < b->knots; k++)
    out[k + 2] = (cubed(x - b->knot[k]) - end) / (b->knot[last] - b->knot[k]) - before;
}

static void add(const exposure_basis *b, double value, int *count, double *out) {
  if (*count < b->values) out[(*count)++] = value;
}

/* All functions of one path. */
static void functions_of(const exposure_basis *b, const exposure_state *s, int i, double *out) {
  double spline[EXPOSURE_KNOTS_MAX], raw[EXPOSURE_RAWS_MAX];
  const int splines = spline_count(b), hedges = b->count - b->values;
  int n = 0;
  spline_of(b, s->u[i], spline);
  for (int k = 0; k < splines; k++) add(b, spline[k], &n, out);
  add(b, s->guess[i], &n, out);
  add(b, s->curve[i], &n, out);
  for (int r = 0; r < b->raws; r++)
    raw[r] = (fmin(fmax(s->raw[r][i], b->low[r]), b->high[r]) - b->raw_centre[r]) * b->raw_factor[r];
  for (int r = 0; r < b->raws; r++)
    for (int k = 0; k < products_of(b); k++) add(b, raw[r] * spline[k], &n, out);
  for (int r = 0; r < b->raws; r++) add(b, raw[r] * raw[r], &n, out);
  for (int r = 0; r < b->raws && n < b->values; r++)
    for (int q = 0; q < r; q++) add(b, raw[r] * raw[q], &n, out);
  for (int k = 0; k < hedges; k++) out[b->values + k] = spline[k] * s->hedge[i];
}

void option_exposure_basis_evaluate(const exposure_basis *b, const exposure_state *s, double *out) {
  double one[OPTION_BASES_MAX];
  for (int i = 0; i < CHUNK; i++) {
    functions_of(b, s, i, one);
    for (int k = 0; k < b->count; k++) out[k * CHUNK + i] = one[k];
  }
}
