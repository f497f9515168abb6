#include "kernels/option/cuda/plan.h"
#include "kernels/option/models/hull_white.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)OPTION_CUDA_THREADS == (int)OPTION_SHARE_STRIDE, "a thread's paths share random bits");

/* ---- tracks and lines ---- */

static bool same_course(const double *a, const double *b, int asset, int assets, int steps) {
  for (int s = 0; s < steps; s++)
    if (a[s * assets + asset] != b[s * assets + asset]) return false;
  return true;
}

/* Whether an asset has the same dynamics and dividends in two markets, apart from vol and drift. */
static bool same_motion(const option_market *a, const option_market *b, int asset) {
  for (int s = 0; s < a->steps && a->cash != NULL; s++)
    if (a->cash[s * a->assets + asset] > 0 && a->spot[asset] != b->spot[asset]) return false;
  if (a->dynamics == NULL) return true;
  for (int s = 0; s < a->steps; s++)
    if (a->grid.length[s] != b->grid.length[s]) return false;
  const option_dynamics *m = &a->dynamics[asset], *n = &b->dynamics[asset];
  if (m->motion == OPTION_LEVERAGE)
    return memcmp(m->row, n->row, (size_t)m->nodes * (size_t)a->steps * sizeof *m->row) == 0;
  if (m->motion == OPTION_ROUGH_BERGOMI)
    return memcmp(m->node, n->node, option_cuda_rough_numbers(m, a->steps) * sizeof *m->node) == 0;
  const bool local = m->motion == OPTION_LOCAL_FUNCTION || m->motion == OPTION_LOCAL_GRID || m->motion == OPTION_SABR;
  return m->shift == n->shift && (!local || a->spot[asset] == b->spot[asset]);
}

/* Numbers the random rates: markets whose rates have the same constants share one. */
static void list_rates(option_cuda_plan *plan) {
  const option_market *m = plan->estimate->market;
  const size_t steps = (size_t)plan->steps;
  for (int k = 0; k < plan->estimate->markets && m[0].rates != NULL; k++) {
    int r = 0;
    for (; r < plan->rates; r++) {
      const option_market *other = &m[plan->rate_market[r]];
      if (other->grid.kinds == m[k].grid.kinds &&
          memcmp(other->grid.kind, m[k].grid.kind, steps * sizeof *m[k].grid.kind) == 0 &&
          memcmp(other->rates, m[k].rates, (size_t)m[k].grid.kinds * sizeof *m[k].rates) == 0 &&
          memcmp(other->rise, m[k].rise, steps * sizeof *m[k].rise) == 0)
        break;
    }
    if (r == plan->rates) plan->rate_market[plan->rates++] = k;
    plan->rate_of[k] = r;
  }
}

static int find_track(const option_cuda_plan *plan, int first, int asset, int market) {
  const option_market *m = plan->estimate->market;
  for (int t = first; t < plan->tracks; t++) {
    const option_market *other = &m[plan->track_market[t]];
    if (!same_course(other->vol, m[market].vol, asset, plan->assets, plan->steps)) continue;
    if (plan->moved && !same_course(other->drift, m[market].drift, asset, plan->assets, plan->steps)) continue;
    if (plan->rate_of[plan->track_market[t]] != plan->rate_of[market]) continue;
    if (plan->tilted && !same_course(other->tilt, m[market].tilt, asset, plan->assets, plan->steps)) continue;
    if (same_motion(other, &m[market], asset)) return t;
  }
  return -1;
}

static int find_line(const option_cuda_plan *plan, int track, int market) {
  const option_market *m = plan->estimate->market;
  for (int l = plan->line_begin[track]; l < plan->lines; l++)
    if (same_course(m[plan->line_market[l]].drift, m[market].drift, plan->track_asset[track], plan->assets,
                    plan->steps))
      return l;
  return -1;
}

static void list_tracks(option_cuda_plan *plan) {
  for (int a = 0; a < plan->assets; a++) {
    const int first = plan->track_begin[a] = plan->tracks;
    for (int m = 0; m < plan->estimate->markets; m++) {
      if (find_track(plan, first, a, m) >= 0) continue;
      plan->track_asset[plan->tracks] = a;
      plan->track_market[plan->tracks++] = m;
    }
  }
  plan->track_begin[plan->assets] = plan->tracks;
}

static void list_lines(option_cuda_plan *plan) {
  for (int t = 0; t < plan->tracks; t++) {
    const int a = plan->track_asset[t], first = plan->track_begin[a];
    plan->line_begin[t] = plan->lines;
    for (int m = 0; m < plan->estimate->markets; m++) {
      if (find_track(plan, first, a, m) != t) continue;
      int line = find_line(plan, t, m);
      if (line < 0) {
        line = plan->lines++;
        plan->line_market[line] = m;
        plan->line_track[line] = t;
      }
      plan->line_of[m * plan->assets + a] = line;
    }
  }
  plan->line_begin[plan->tracks] = plan->lines;
}

/* ---- features ---- */

/* Whether a path keeps a number of its own for the feature. */
static bool is_kept(const option_feature *f) { return f->schedule > 0 && f->kind < OPTION_FIXING; }

static void add_features(option_cuda_plan *plan, int market, int output) {
  const option_graph *g = &plan->estimate->graph;
  for (int f = 0; f < g->features; f++) {
    if (!sim_expr_depends(g->expr, output, f)) continue;
    const option_kind kind = g->feature[f].kind;
    const bool kept = is_kept(&g->feature[f]), within = kind == OPTION_HIGH || kind == OPTION_LOW;
    const int asset = g->feature[f].asset; /* -1: an exercise on all assets, or a deflator */
    const bool highest = kind == OPTION_EARLY && asset < 0 &&
                         option_reads_maxima(plan->parameters->payoffs.items[g->feature[f].step].data);
    for (int a = asset < 0 ? 0 : asset; a <= (asset < 0 ? plan->assets - 1 : asset) && kind != OPTION_DEFLATOR; a++)
      plan->need[a] |=
          (kept ? OPTION_CUDA_KEPT : 0) | (!kept || within ? 1u << kind : 0) | (unsigned)highest << OPTION_MAX;
    for (int s = 0; s < plan->signs; s++) {
      int *at = &plan->view_of[(market * plan->signs + s) * g->features + f];
      if (*at >= 0) continue;
      *at = plan->views;
      plan->view[plan->views++] =
          (option_cuda_view){market, s, f, plan->line_of[market * plan->assets + (asset < 0 ? 0 : asset)], 0};
    }
  }
}

static void list_views(option_cuda_plan *plan) {
  const option_estimate *e = plan->estimate;
  for (int i = 0; i < e->markets * plan->signs * e->graph.features; i++) plan->view_of[i] = -1;
  for (int q = 0; q < e->quantities; q++) {
    const option_combination *c = &e->combination[q];
    for (int t = 0; t < c->terms; t++) add_features(plan, c->term[t].market, c->term[t].output);
    if (c->control >= 0) add_features(plan, 0, c->control);
  }
  for (int a = 0; a < plan->assets; a++)
    if (e->graph.joint >> a & 1) plan->need[a] |= OPTION_CUDA_JOINT;
}

static int compare(const void *a, const void *b) {
  return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

/* Number of the value that a path keeps for a view: markets with the same paths share it. */
static int find_kept(option_cuda_plan *plan, const option_cuda_view *view) {
  const option_feature *f = &plan->estimate->graph.feature[view->feature];
  int k = 0;
  while (k < plan->kept && (plan->keep[k].kind != f->kind || plan->keep[k].line != view->line ||
                            plan->keep[k].sign != view->sign || plan->keep[k].schedule != f->schedule - 1))
    k++;
  if (k == plan->kept) plan->keep[plan->kept++] = (option_cuda_kept){f->kind, view->line, view->sign, f->schedule - 1};
  return k;
}

static void list_slots(option_cuda_plan *plan) {
  const option_feature *feature = plan->estimate->graph.feature;
  for (int v = 0; v < plan->views; v++) {
    option_cuda_view *view = &plan->view[v];
    if (is_kept(&feature[view->feature])) {
      view->slot = find_kept(plan, view);
    } else if (feature[view->feature].kind == OPTION_FIXING) {
      int known = 0;
      while (known < plan->fixings && plan->fixing_step[known] != feature[view->feature].step) known++;
      if (known == plan->fixings) plan->fixing_step[plan->fixings++] = feature[view->feature].step;
    } else if (feature[view->feature].kind == OPTION_EARLY) {
      view->slot = plan->exercises;
      plan->early[plan->exercises++] = *view;
    } else if (feature[view->feature].kind == OPTION_DEFLATOR) {
      view->slot = plan->deflators;
      plan->deflator[plan->deflators++] = *view;
    } else if (feature[view->feature].kind > OPTION_FIXING) {
      view->slot = plan->survivals;
      plan->survival[plan->survivals++] = *view;
    }
  }
  qsort(plan->fixing_step, (size_t)plan->fixings, sizeof(int), compare);
  for (int v = 0; v < plan->views; v++) {
    option_cuda_view *view = &plan->view[v];
    if (feature[view->feature].kind != OPTION_FIXING) continue;
    while (plan->fixing_step[view->slot] != feature[view->feature].step) view->slot++;
  }
}

static void list_tangents(option_cuda_plan *plan) {
  const option_graph *g = &plan->estimate->graph;
  int count = 0;
  for (int a = 0; a < plan->assets; a++) {
    plan->tangent_begin[a] = count;
    for (int t = 0; t < g->tangents; t++) {
      if (g->tangent[t].asset != a) continue;
      plan->place[t] = count;
      plan->tangent[count++] = t;
    }
  }
  plan->tangent_begin[plan->assets] = count;
}

/* ---- sizes and offsets ---- */

static bool is_flat(const option_cuda_plan *plan) {
  for (int t = 0; t < plan->tracks; t++) {
    const double *vol = plan->estimate->market[plan->track_market[t]].vol + plan->track_asset[t];
    if (!(vol[0] > 0)) return false;
    for (int s = 1; s < plan->steps; s++) /* vol of a constant volatility may differ by rounding from step to step */
      if (fabs(vol[s * plan->assets] - vol[0]) > 1e-14 * vol[0]) return false;
  }
  for (int g = 0; g < plan->tangent_begin[plan->assets] && plan->dated; g++) { /* theta is of the first steps alone */
    const double *slope = plan->estimate->tangent + (2 * (size_t)g + 1) * (size_t)plan->steps;
    for (int s = 1; s < plan->steps; s++)
      if (fabs(slope[s] - slope[0]) > 1e-6 * fabs(slope[0])) return false;
  }
  return true;
}

static void find_reach(option_cuda_plan *plan) {
  double share = 0, farthest = 0;
  for (int i = 0; i < plan->assets; i++) {
    double row = 0;
    for (int j = 0; j <= i; j++) row += fabs(plan->cholesky[i * plan->assets + j]);
    share = fmax(share, row);
  }
  for (int l = 0; l < plan->lines; l++) {
    const int asset = plan->track_asset[plan->line_track[l]];
    const option_market *m = &plan->estimate->market[plan->line_market[l]];
    double reach = 0;
    for (int i = asset; i < plan->steps * plan->assets; i += plan->assets)
      reach += fabs(m->drift[i]) + m->vol[i] * share * OPTION_NORMAL_MAX;
    farthest = fmax(farthest, reach);
  }
  plan->far = plan->moved || farthest > (plan->single ? 120 : 1000);
}

static const option_payoff *early_payoff(const option_cuda_plan *plan, int early) {
  const option_feature *f = &plan->estimate->graph.feature[plan->early[early].feature];
  return plan->parameters->payoffs.items[f->step].data;
}

/* Numbers of an exercise rule in the table; of several assets as settle_jointly reads them. */
static size_t early_numbers(const option_cuda_plan *plan, int early) {
  const option_parameters *p = plan->parameters;
  const option_payoff *o = early_payoff(plan, early);
  const size_t dates = option_date_count(p, o);
  if (!option_rule_is_joint(p, o)) return (size_t)(o->degree + 2) * dates;
  return (size_t)plan->assets + 2 * (size_t)option_joint_scales(p, o) + (size_t)(1 + option_joint_bases(p, o)) * dates;
}

static void choose_form(option_cuda_plan *plan) {
  const int slow = 1 << OPTION_MAX | 1 << OPTION_MIN | 1 << OPTION_HIGH | 1 << OPTION_LOW | 1 << OPTION_NOT_ABOVE |
                   1 << OPTION_NOT_BELOW | 1 << OPTION_EARLY | OPTION_CUDA_KEPT;
  unsigned any = 0;
  for (int a = 0; a < plan->assets; a++) {
    any |= plan->need[a];
    for (int b = 0; b < a; b++) plan->correlated |= plan->cholesky[a * plan->assets + b] != 0;
  }
  plan->folded = !plan->moved && is_flat(plan);
  find_reach(plan);
  plan->large = plan->assets > 8 || plan->lines > 24 || plan->survivals > 24 || plan->kept > 24;
  const bool sums = any & 1u << OPTION_MEAN, levels = any & (unsigned)slow || (sums && plan->far) || plan->moved;
  plan->row_weight = 0;
  plan->row_level = plan->row_weight + (sums && !plan->far ? plan->lines : 0);
  plan->row_vol = plan->row_level + (levels ? plan->lines : 0);
  plan->row_mark = plan->row_vol + (plan->folded ? 0 : plan->tracks);
  const int tangents = plan->tangent_begin[plan->assets];
  plan->row_slope = plan->row_mark + (plan->fixings > 0);
  plan->row_vol_slope = plan->row_slope + tangents;
  plan->row_kind = plan->row_vol_slope + (plan->folded ? 0 : tangents);
  plan->row_time = plan->row_kind + (plan->kinds > 1 ? plan->tracks : 0);
  plan->row_cash = plan->row_time + (plan->kinds > 1 ? plan->tracks : 0);
  plan->row_date = plan->row_cash + (plan->cash ? plan->tracks : 0);
  plan->row_schedule = plan->row_date + (plan->dated ? plan->exercises : 0);
  plan->row_rise = plan->row_schedule + plan->estimate->graph.schedules;
  plan->row_rate_kind = plan->row_rise + plan->rates;
  plan->row_tilt = plan->row_rate_kind + plan->rates;
  plan->rows = plan->row_tilt + (plan->tilted ? plan->tracks : 0);
  plan->at_factor = 1; /* the first number is the spread of the normals */
  plan->at_ratio = plan->at_factor + (plan->correlated ? plan->assets * (plan->assets + 1) / 2 : plan->assets);
  plan->at_vol = plan->at_ratio + plan->tracks;
  plan->at_view = plan->at_vol + plan->tracks;
  plan->at_survival = plan->at_view + 2 * plan->views;
  plan->at_dynamics = plan->at_survival + plan->survivals;
  plan->at_above = plan->at_dynamics + (plan->moved ? plan->tracks * OPTION_CUDA_DYNAMICS_NUMBERS : 0);
  for (int t = 0; t < plan->tracks && plan->moved; t++)
    for (int kind = 0; kind < plan->kinds; kind++) {
      const int jumps = option_cuda_dynamics(plan, t, kind)->jumps;
      plan->jumps = jumps > plan->jumps ? jumps : plan->jumps;
    }
  plan->at_vol_slope = plan->at_above + plan->tracks * plan->jumps;
  plan->at_early = plan->at_vol_slope + tangents;
  plan->at_quantity = plan->at_early + (plan->record ? plan->assets : plan->exercises * OPTION_CUDA_EARLY_NUMBERS);
  /* The size of a part depends on the scenario alone, and so does the order of sums. */
  const bool several = plan->estimate->quantities > OPTION_CUDA_GROUP;
  const int slots = (plan->estimate->quantities + OPTION_CUDA_GROUP - 1) / OPTION_CUDA_GROUP * OPTION_CUDA_GROUP;
  plan->constants = plan->at_literal = plan->at_quantity + 2 * slots;
  const bool few = plan->steps * plan->assets <= 2;
  const option_combination *only = &plan->estimate->combination[0];
  plan->vanilla = plan->single && few && !plan->matched && plan->estimate->quantities == 1 && plan->signs == 1 &&
                  only->terms == 1 && only->control < 0 && plan->estimate->graph.plain[0].sign != 0;
  plan->inner = plan->matched ? OPTION_CHUNK / OPTION_CUDA_THREADS : several ? 16 : few ? 32 : 8;
  plan->outer = plan->steps * plan->assets <= 16 && !plan->matched ? 8 : 1;
  plan->part = plan->inner * plan->outer * OPTION_CUDA_THREADS;
  plan->table = 4 * (size_t)plan->rows * (size_t)((plan->steps + 3) / 4);
  for (int t = 0; t < plan->tracks && plan->moved; t++) {
    plan->grid_at[t] = plan->table;
    const option_dynamics *m = option_cuda_dynamics(plan, t, 0);
    plan->table +=
        (size_t)m->nodes * (size_t)(plan->steps + 1) + 8 * (size_t)m->cells + option_cuda_rough_numbers(m, plan->steps);
    plan->kinds_at[t] = plan->table;
    if (plan->kinds > 1) plan->table += (size_t)plan->kinds * option_cuda_kind_numbers(plan);
  }
  for (int r = 0; r < plan->rates; r++) {
    plan->rates_at[r] = plan->table;
    plan->table += (size_t)plan->estimate->market[plan->rate_market[r]].grid.kinds * option_cuda_rate_numbers(plan);
  }
  for (int k = 0; k < plan->exercises; k++) {
    plan->early_at[k] = plan->table;
    plan->table += early_numbers(plan, k);
  }
}

/* ---- create and free ---- */

static sim_status make(option_cuda_plan *plan, const option_parameters *p) {
  const option_estimate *e = plan->estimate;
  const size_t assets = (size_t)plan->assets, most = assets * (size_t)e->markets;
  const size_t views = (size_t)(e->markets * plan->signs * e->graph.features) + 1;
  int *numbers = calloc(6 * most + assets + 2 + 2 * views, sizeof(int));
  plan->line_of = numbers;
  plan->view = calloc(4 * views, sizeof *plan->view);
  plan->cholesky = calloc(assets * assets + (size_t)e->quantities, sizeof(double));
  plan->grid_at = calloc(2 * most + views, sizeof *plan->grid_at);
  plan->keep = calloc(views, sizeof *plan->keep);
  if (numbers == NULL || plan->grid_at == NULL || plan->view == NULL || plan->cholesky == NULL || plan->keep == NULL)
    return sim_no_memory("the market");
  plan->track_begin = numbers + most;
  plan->line_begin = plan->track_begin + assets + 1;
  plan->track_market = plan->line_begin + most + 1;
  plan->track_asset = plan->track_market + most;
  plan->line_market = plan->track_asset + most;
  plan->line_track = plan->line_market + most;
  plan->view_of = plan->line_track + most;
  plan->fixing_step = plan->view_of + views;
  plan->survival = plan->view + views;
  plan->early = plan->survival + views;
  plan->deflator = plan->early + views;
  plan->kinds_at = plan->grid_at + most;
  plan->early_at = plan->kinds_at + most;
  plan->scale = plan->cholesky + assets * assets;
  SIM_TRY(option_cholesky(p, plan->cholesky));
  for (int q = 0; q < e->quantities; q++) plan->scale[q] = e->combination[q].term[0].factor / plan->signs;
  for (int m = 0; m < e->markets && e->market[0].dynamics != NULL; m++)
    if (plan->kinds < e->market[m].grid.kinds) plan->kinds = e->market[m].grid.kinds;
  list_rates(plan);
  list_tracks(plan);
  list_lines(plan);
  list_views(plan);
  list_slots(plan);
  list_tangents(plan);
  for (size_t i = 0; i < p->payoffs.count && plan->record; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    if (p->payoffs.items[i].schema != &option_american_schema) continue;
    for (int a = 0; a < plan->assets; a++)
      if (option_rule_is_joint(p, o) || a + 1 == o->asset)
        plan->need[a] |= 1u << OPTION_EARLY | (unsigned)option_reads_maxima(o) << OPTION_MAX;
  }
  choose_form(plan);
  return SIM_OK;
}

static sim_status plan_create(const option_parameters *p, const option_estimate *estimate, bool record,
                              option_cuda_plan *out) {
  *out = (option_cuda_plan){.parameters = p,
                            .estimate = estimate,
                            .moved = estimate->market[0].dynamics != NULL || estimate->market[0].cash != NULL ||
                                     estimate->market[0].rates != NULL,
                            .dated = option_is_dated(p),
                            .cash = estimate->market[0].cash != NULL,
                            .tilted = estimate->market[0].tilt != NULL,
                            .kinds = 1,
                            .single = !record && option_is_single(p),
                            .record = record,
                            .matched = !record && p->sampling.moment_matching,
                            .assets = estimate->market[0].assets,
                            .steps = estimate->market[0].steps,
                            .signs = estimate->signs};
  const sim_status status = make(out, p);
  if (status != SIM_OK) option_cuda_plan_free(out);
  return status;
}

sim_status option_cuda_plan_create(const option_parameters *p, const option_estimate *estimate, option_cuda_plan *out) {
  return plan_create(p, estimate, false, out);
}

sim_status option_cuda_plan_record(const option_parameters *p, const option_estimate *bare, option_cuda_plan *out) {
  return plan_create(p, bare, true, out);
}

void option_cuda_plan_free(option_cuda_plan *plan) {
  free(plan->line_of);
  free(plan->view);
  free(plan->cholesky);
  free(plan->grid_at);
  free(plan->keep);
  *plan = (option_cuda_plan){0};
}
