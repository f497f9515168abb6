#include "kernels/option/scenario/bucket.h"

#include "engine/expr/curve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct curve {
  sim_curve_point *point; /* owned */
  int count;
  bool flat;
} curve;

static const sim_expr *function_of(const option_parameters *p, int greek, int asset) {
  return greek == OPTION_VEGA_BUCKET ? option_asset_at(p, asset)->vol : p->rate;
}

static sim_status find(const option_parameters *p, int greek, int asset, curve *out) {
  const sim_expr *of = function_of(p, greek, asset);
  *out = (curve){0};
  return of != NULL ? sim_curve_find(of, &out->point, &out->count, &out->flat) : SIM_OK;
}

/* Adds the nodes of one curve. */
static sim_status add(option_parameters *p, int greek, int asset, int *count) {
  const int which = greek - OPTION_BUCKETS;
  curve c;
  SIM_TRY(find(p, greek, asset, &c));
  for (int j = 0; j < c.count; j++, ++*count) {
    if (*count >= OPTION_BUCKETS_MAX) continue;
    p->bucket[which][*count] = (option_bucket){.asset = asset,
                                               .node = j,
                                               .t = c.point[j].t,
                                               .from = j == 0 ? -INFINITY : c.point[c.flat ? j : j - 1].t,
                                               .to = j + 1 < c.count ? c.point[j + 1].t : INFINITY};
  }
  free(c.point);
  return SIM_OK;
}

sim_status option_find_buckets(option_parameters *p, sim_faults *faults) {
  for (int greek = OPTION_BUCKETS; greek < OPTION_GREEKS; greek++) {
    const bool by_vol = greek == OPTION_VEGA_BUCKET;
    char path[32];
    int count = 0;
    p->buckets[greek - OPTION_BUCKETS] = 0;
    if (!p->greeks.want[greek]) continue;
    for (int a = 0; a < (by_vol ? (int)p->assets.count : 1); a++) SIM_TRY(add(p, greek, a, &count));
    snprintf(path, sizeof path, "greeks.%s", option_greek_names[greek]);
    if (count == 0)
      sim_faults_add(faults, 0, path, "expected %s = sim.curve { {t, value}, ... }, or a file of its points%s",
                     by_vol ? "an asset with vol" : "rate", by_vol ? "" : ": the rate has no nodes");
    if (count > OPTION_BUCKETS_MAX)
      sim_faults_add(faults, 0, path, "expected at most %d nodes together, got %d", OPTION_BUCKETS_MAX, count);
    else
      p->buckets[greek - OPTION_BUCKETS] = count;
  }
  return SIM_OK;
}

/* ---- integrals ---- */

/* Piece i of a curve: between its points i and i + 1, -1: before all points. The curve and the hat function of point j
 * are linear in it. */
static double curve_in(const curve *c, int i, double t) {
  const double value = c->point[i < 0 ? 0 : i].value;
  if (i < 0 || c->flat || i + 1 == c->count) return value;
  return value + (t - c->point[i].t) * sim_curve_slope(c->point, i);
}
static double hat_in(const curve *c, int i, int j, double t) {
  const double at = c->point[j].t;
  if (c->flat || i < 0 || i + 1 == c->count) return 1;
  const double other = c->point[i < j ? i : j + 1].t;
  return (t - other) / (at - other);
}

/* Adds the integrals over the part of each step in piece i: of products of two linear functions, by Simpson's rule. */
static void add_piece(const curve *c, int i, int j, const option_grid *grid, const option_hat *out) {
  const double first = i < 0 ? -INFINITY : c->point[i].t, last = i + 1 < c->count ? c->point[i + 1].t : INFINITY;
  for (int s = 0; s < grid->steps; s++) {
    const double a = fmax(grid->time[s], first), b = fmin(grid->time[s + 1], last);
    if (!(b > a)) continue;
    static const double weight[3] = {1. / 6, 4. / 6, 1. / 6};
    for (int k = 0; k < 3; k++) {
      const double t = a + (b - a) * k / 2, hat = hat_in(c, i, j, t), part = weight[k] * (b - a) * hat;
      if (out->whole != NULL) out->whole[s] += part;
      if (out->value != NULL) out->value[s] += part * curve_in(c, i, t);
      if (out->squares != NULL) out->squares[s] += part * hat;
    }
  }
}

sim_status option_bucket_integrate(const option_parameters *p, int greek, int bucket, const option_grid *grid,
                                   const option_hat *out) {
  const option_bucket *of = &p->bucket[greek - OPTION_BUCKETS][bucket];
  const int j = of->node;
  curve c;
  SIM_TRY(find(p, greek, of->asset, &c));
  for (int s = 0; s < grid->steps; s++) {
    if (out->whole != NULL) out->whole[s] = 0;
    if (out->value != NULL) out->value[s] = 0;
    if (out->squares != NULL) out->squares[s] = 0;
  }
  if (j == 0 || !c.flat) add_piece(&c, j - 1, j, grid, out);
  add_piece(&c, j, j, grid, out);
  free(c.point);
  return SIM_OK;
}

double option_bucket_share(const option_parameters *p, int greek, int bucket) {
  const option_bucket *of = &p->bucket[greek - OPTION_BUCKETS][bucket];
  const bool by_vol = greek == OPTION_VEGA_BUCKET;
  double time[2] = {0, p->maturity}, sum = 0, all = 0, part;
  const option_grid grid = {.steps = 1, .time = time};
  const option_hat hat = {by_vol ? NULL : &part, by_vol ? &part : NULL, NULL};
  curve c;
  if (find(p, greek, of->asset, &c) != SIM_OK) return 0;
  const int nodes = c.count;
  free(c.point);
  for (int j = 0; j < nodes; j++) { /* hat functions have the sum 1 */
    const int other = bucket + j - of->node;
    if (option_bucket_integrate(p, greek, other, &grid, &hat) != SIM_OK) return 0;
    all += part;
    if (other == bucket) sum = part;
  }
  return all > 0 ? sum / all : 0;
}
