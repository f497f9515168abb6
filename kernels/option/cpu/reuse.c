/* What the markets of an estimate share. A market of a difference changes one or two assets; the paths of the others
 * are those of market 0, with the same bits. Where prices grow in proportion to the spot, a changed spot scales the
 * features of its asset, and no path is simulated. Each market evaluates only the outputs that a quantity reads there.
 * Twin: the lines and views of cuda/plan.c. */
#include "kernels/option/cpu/reuse.h"

#include <stdlib.h>
#include <string.h>

static bool is_early(const option_estimate *e, bool joint) {
  for (int f = 0; f < e->graph.features; f++)
    if (e->graph.feature[f].kind == OPTION_EARLY && (!joint || e->graph.feature[f].asset < 0)) return true;
  return false;
}

/* Whether all features of an asset are known in a market with another spot: multiples of today's, or the squared
 * changes, which stay. */
static bool follows_spot(const option_estimate *e, const option_parameters *p, int asset) {
  if (!option_asset_is_scaled(option_asset_at(p, asset)) || option_asset_at(p, asset)->dividends.rows > 0) return false;
  for (int f = 0; f < e->graph.features; f++)
    if (e->graph.feature[f].asset == asset && e->graph.feature[f].kind > OPTION_FIXING) return false;
  return true;
}

static bool has_same_vol(const option_bump *x, const option_bump *y, int asset) {
  return option_bump_vol(x, asset) == option_bump_vol(y, asset) &&
         (x->bucket == y->bucket || option_bump_vol(x, asset) == 0);
}

/* Whether the path of an asset in one market is that in another, but for a factor. `asset` -1: what belongs to no
 * asset.
 */
static bool has_same_path(const option_estimate *e, const option_parameters *p, int market, int other, int asset) {
  const option_bump *x = &e->bump[market], *y = &e->bump[other];
  if (x->rate != y->rate || x->maturity != y->maturity) return false;
  if (x->bucket != y->bucket && x->rate != 0) return false;
  if (asset < 0) return true;
  if (!has_same_vol(x, y, asset)) return false;
  const int currency = (int)option_asset_at(p, asset)->currency;
  if (currency > 0 && !has_same_vol(x, y, currency - 1)) return false;
  return option_bump_spot(x, asset) == option_bump_spot(y, asset) || follows_spot(e, p, asset);
}

/* The first market with the path of an asset: the market itself where the path is simulated there. */
static int base_of(const option_estimate *e, const option_parameters *p, int market, int asset) {
  int base = 0;
  /* a rule on several assets sees all of their paths; the points of a ladder have rules of their own */
  if (is_early(e, true) || (p->points > 0 && is_early(e, false))) return market;
  while (base < market && !has_same_path(e, p, market, base, asset)) base++;
  return base;
}

/* Whether any path of a market is simulated. */
static bool is_simulated(const option_estimate *e, const option_parameters *p, int market) {
  for (int a = 0; a < (int)p->assets.count; a++)
    if (base_of(e, p, market, a) == market) return true;
  return false;
}

/* Puts the simulated markets first, in the same order. */
static sim_status order_markets(option_sampler *s, const option_parameters *p) {
  option_estimate *e = &s->estimate;
  int place[OPTION_MARKETS_MAX], count = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int m = 0; m < e->markets; m++)
      if (is_simulated(e, p, m) == (pass == 0)) place[m] = count++;
    if (pass == 0) s->simulated = count;
  }
  option_bump bump[OPTION_MARKETS_MAX];
  option_market *market = malloc(sizeof e->market);
  if (market == NULL) return sim_no_memory("the market");
  memcpy(market, e->market, sizeof e->market);
  memcpy(bump, e->bump, sizeof bump);
  for (int m = 0; m < e->markets; m++) {
    e->market[place[m]] = market[m];
    e->bump[place[m]] = bump[m];
  }
  free(market);
  for (int q = 0; q < e->quantities; q++)
    for (int t = 0; t < e->combination[q].terms; t++)
      e->combination[q].term[t].market = place[e->combination[q].term[t].market];
  return SIM_OK;
}

sim_status option_reuse_create(option_sampler *s, const option_parameters *p) {
  const option_estimate *e = &s->estimate;
  const int columns = s->paths.assets + 1;
  SIM_TRY(order_markets(s, p));
  s->share = calloc((size_t)e->markets * (size_t)columns, sizeof *s->share);
  if (s->share == NULL) return sim_no_memory("the market");
  for (int m = 0; m < e->markets; m++)
    for (int a = -1; a < s->paths.assets; a++) {
      const int base = base_of(e, p, m, a);
      const double here = a < 0 ? 0 : option_bump_spot(&e->bump[m], a),
                   there = a < 0 ? 0 : option_bump_spot(&e->bump[base], a);
      s->share[m * columns + a + 1] = (option_origin){base, here == there ? 1 : (1 + here) / (1 + there)};
      for (int sign = 0; sign < e->signs && m < s->simulated && a >= 0 && base < m; sign++)
        s->kept[m * e->signs + sign] |= UINT64_C(1) << a;
    }
  s->paths.kept = s->kept;
  return SIM_OK;
}

/* Where a feature of a market comes from. */
static option_origin share_of(const option_sampler *s, int market, int feature) {
  const option_feature *f = &s->estimate.graph.feature[feature];
  option_origin share = s->share[market * (s->paths.assets + 1) + f->asset + 1];
  if (f->kind == OPTION_SQUARES) share.ratio = 1;
  return share;
}

/* Whether a market has an array of its own for a feature. */
static bool is_own(const option_sampler *s, int market, int feature) {
  const option_origin share = share_of(s, market, feature);
  return share.base == market || share.ratio != 1;
}

size_t option_reuse_features(const option_sampler *s) {
  const option_estimate *e = &s->estimate;
  size_t count = 0;
  for (int m = 0; m < e->markets; m++)
    for (int f = 0; f < e->graph.features; f++) count += is_own(s, m, f);
  return count * (size_t)e->signs;
}

void option_reuse_place(const option_sampler *s, char *room, size_t row, void **features) {
  const option_estimate *e = &s->estimate;
  const int count = e->graph.features;
  for (int v = 0; v < e->markets * e->signs; v++)
    for (int f = 0; f < count; f++) {
      const int market = v / e->signs, base = share_of(s, market, f).base * e->signs + v % e->signs;
      const bool own = is_own(s, market, f);
      features[v * count + f] = own ? room : features[base * count + f];
      if (own) room += row;
    }
}

/* to = ratio from */
static void scale(const option_sampler *s, const void *from, double ratio, int count, void *to) {
  if (s->single) {
    const float r = (float)ratio, *x = from;
    float *y = to;
    for (int i = 0; i < count; i++) y[i] = r * x[i];
  } else {
    const double *x = from;
    double *y = to;
    for (int i = 0; i < count; i++) y[i] = ratio * x[i];
  }
}

void option_reuse_scale(const option_sampler *s, int count, void *const *features) {
  const option_estimate *e = &s->estimate;
  const int all = e->graph.features;
  for (int v = e->signs; v < e->markets * e->signs; v++)
    for (int f = 0; f < all; f++) {
      const option_origin share = share_of(s, v / e->signs, f);
      const int base = share.base * e->signs + v % e->signs;
      if (base != v && share.ratio != 1) scale(s, features[base * all + f], share.ratio, count, features[v * all + f]);
    }
}

/* ---- outputs of each market ---- */

bool option_is_read(const option_sampler *s, int market, int output) {
  const option_estimate *e = &s->estimate;
  bool any = false;
  for (int q = 0; q < e->quantities && !any; q++) {
    const option_combination *c = &e->combination[q];
    any = market == 0 && c->control == output;
    for (int t = 0; t < c->terms; t++) any |= c->term[t].market == market && c->term[t].output == output;
  }
  return any;
}

int option_reuse_sloped(const option_sampler *s) {
  const option_estimate *e = &s->estimate;
  const option_graph *g = &e->graph;
  int last = 0;
  for (int m = 0; m < e->markets; m++)
    for (int f = 0; f < g->features; f++) {
      const int base = share_of(s, m, f).base;
      if (g->feature[f].tangent == 0 || base <= last) continue;
      for (int o = 0; o < g->outputs; o++)
        if (option_is_read(s, m, o) && sim_expr_depends(g->expr, o, f)) last = base;
    }
  return (last + 1) * e->signs;
}

/* The graph of some outputs alone. */
static sim_status select_outputs(const sim_expr *expr, const int *output, int count, sim_expr **out) {
  sim_expr_builder *builder;
  sim_expr_ref in[SIM_EXPR_INPUTS_MAX], all[SIM_EXPR_OUTPUTS_MAX], some[SIM_EXPR_OUTPUTS_MAX];
  const char *names[SIM_EXPR_OUTPUTS_MAX];
  SIM_TRY(sim_expr_builder_create(&builder));
  sim_status status = SIM_OK;
  for (int f = 0; f < sim_expr_input_count(expr) && status == SIM_OK; f++)
    status = sim_expr_builder_input(builder, sim_expr_input_name(expr, f), &in[f]);
  if (status == SIM_OK) status = sim_expr_builder_insert(builder, expr, in, all);
  for (int k = 0; k < count; k++) {
    some[k] = all[output[k]];
    names[k] = sim_expr_output_name(expr, output[k]);
  }
  if (status == SIM_OK) status = sim_expr_builder_finish(builder, some, names, count, out);
  sim_expr_builder_free(&builder);
  return status;
}

static bool same_outputs(const option_outputs *a, const option_outputs *b) {
  return a->outputs == b->outputs && memcmp(a->output, b->output, (size_t)a->outputs * sizeof *a->output) == 0;
}

sim_status option_reuse_programs(option_sampler *s) {
  const option_estimate *e = &s->estimate;
  s->view = calloc((size_t)e->markets, sizeof *s->view);
  if (s->view == NULL) return sim_no_memory("the payoffs");
  for (int m = 0; m < e->markets; m++) {
    option_outputs *view = &s->view[m];
    for (int o = 0; o < e->graph.outputs; o++)
      if (option_is_read(s, m, o)) view->output[view->outputs++] = o;
    for (int k = 0; k < m && view->program == NULL; k++)
      if (same_outputs(view, &s->view[k])) view->program = s->view[k].program;
    if (view->program != NULL || view->outputs == 0) continue;
    sim_expr *expr;
    SIM_TRY(select_outputs(e->graph.expr, view->output, view->outputs, &expr));
    const sim_status status =
        sim_expr_program_create(expr, &(sim_expr_target){.single = s->single, .isa = s->isa}, &view->owned);
    sim_expr_free(&expr);
    SIM_TRY(status);
    view->program = view->owned;
    const size_t scratch = sim_expr_program_scratch(view->owned);
    if (scratch > s->program_scratch) s->program_scratch = scratch;
  }
  return SIM_OK;
}

void option_reuse_evaluate(const option_sampler *s, int variant, int count, void *const *features, void *const *outputs,
                           void *scratch) {
  const option_graph *g = &s->estimate.graph;
  const option_outputs *view = &s->view[variant / s->estimate.signs];
  void *out[SIM_EXPR_OUTPUTS_MAX];
  for (int k = 0; k < view->outputs; k++) out[k] = outputs[variant * g->outputs + view->output[k]];
  if (view->outputs > 0)
    sim_expr_program_run(view->program, (size_t)count, (const void *const *)(features + variant * g->features), out,
                         scratch);
}

void option_reuse_free(option_sampler *s) {
  for (int m = 0; m < s->estimate.markets && s->view != NULL; m++) sim_expr_program_free(&s->view[m].owned);
  free(s->view);
  free(s->share);
}
