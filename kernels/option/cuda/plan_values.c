/* The numbers of a plan: the table's rows for each step, and the constants. */
#include "kernels/option/cuda/plan.h"
#include "kernels/option/models/hull_white.h"

#include <math.h>

static const double ln2 = 0.69314718055994530942;

static void put(const option_cuda_plan *plan, void *numbers, size_t i, double value) {
  if (plan->single)
    ((float *)numbers)[i] = (float)value;
  else
    ((double *)numbers)[i] = value;
}

static size_t place(const option_cuda_plan *plan, int row, int step) {
  return 4 * ((size_t)(step / 4) * (size_t)plan->rows + (size_t)row) + (size_t)(step % 4);
}

/* Sum of the drifts of a line up to `step`. */
static double level(const option_cuda_plan *plan, int line, int step) {
  const option_market *m = &plan->estimate->market[plan->line_market[line]];
  double sum = 0;
  for (int s = 0; s < step; s++) sum += m->drift[s * plan->assets + plan->track_asset[plan->line_track[line]]];
  return sum;
}

static double mean_level(const option_cuda_plan *plan, int line) {
  const option_market *m = &plan->estimate->market[plan->line_market[line]];
  double sum = 0;
  for (int s = 0; s < plan->steps; s++)
    sum += m->drift[s * plan->assets + plan->track_asset[plan->line_track[line]]] * (plan->steps - s) / plan->steps;
  return sum;
}

static double first_vol(const option_cuda_plan *plan, int track) {
  return plan->estimate->market[plan->track_market[track]].vol[plan->track_asset[track]];
}

static void fill_table(const option_cuda_plan *plan, void *table) {
  for (int l = 0; l < plan->lines; l++) {
    const option_market *m = &plan->estimate->market[plan->line_market[l]];
    const int asset = plan->track_asset[plan->line_track[l]];
    double x = 0;
    for (int s = 0; s < plan->steps; s++) {
      x += m->drift[s * plan->assets + asset];
      if (plan->row_level > plan->row_weight) put(plan, table, place(plan, plan->row_weight + l, s), exp2(x));
      if (plan->row_vol > plan->row_level)
        put(plan, table, place(plan, plan->row_level + l, s), plan->moved ? m->drift[s * plan->assets + asset] : x);
    }
  }
  for (int t = 0; t < plan->tracks && !plan->folded; t++)
    for (int s = 0; s < plan->steps; s++)
      put(plan, table, place(plan, plan->row_vol + t, s),
          plan->estimate->market[plan->track_market[t]].vol[s * plan->assets + plan->track_asset[t]]);
  for (int k = 0; k < plan->fixings; k++) put(plan, table, place(plan, plan->row_mark, plan->fixing_step[k] - 1), 1);
  const option_graph *g = &plan->estimate->graph;
  for (int k = 0; k < g->schedules; k++)
    for (int s = 0; s < plan->steps; s++)
      put(plan, table, place(plan, plan->row_schedule + k, s), g->schedule[k].mark[s]);
}

/* Kind and time of each step, cash dividends as shares of the spot, and the tilt of normals, of each track. */
static void fill_steps(const option_cuda_plan *plan, void *table) {
  for (int t = 0; t < plan->tracks; t++) {
    const option_market *m = option_cuda_market(plan, t);
    const int asset = plan->track_asset[t];
    for (int s = 0; s < plan->steps; s++) {
      if (plan->kinds > 1) {
        put(plan, table, place(plan, plan->row_kind + t, s), m->grid.kind[s]);
        put(plan, table, place(plan, plan->row_time + t, s), m->grid.time[s]);
      }
      if (plan->cash)
        put(plan, table, place(plan, plan->row_cash + t, s), m->cash[s * plan->assets + asset] / m->spot[asset]);
      if (plan->tilted) put(plan, table, place(plan, plan->row_tilt + t, s), m->tilt[s * plan->assets + asset]);
    }
  }
}

/* Flat tangents: the cumulative derivative of drift; others: the derivatives of drift and volatility of each step. */
static void fill_tangents(const option_cuda_plan *plan, void *table, void *constants) {
  const size_t steps = (size_t)plan->steps;
  for (int g = 0; g < plan->tangent_begin[plan->assets]; g++) {
    const double *drift = plan->estimate->tangent + 2 * (size_t)plan->tangent[g] * steps, *vol = drift + steps;
    const int asset = plan->estimate->graph.tangent[plan->tangent[g]].asset;
    const bool flat = option_greek_is_rho(plan->estimate->graph.tangent[plan->tangent[g]].greek);
    double sum = 0;
    for (int s = 0; s < plan->steps; s++) {
      sum = flat ? drift[s] : sum + drift[s];
      put(plan, table, place(plan, plan->row_slope + g, s), sum);
      if (!plan->folded) put(plan, table, place(plan, plan->row_vol_slope + g, s), flat ? 0 : vol[s]);
    }
    if (plan->folded)
      put(plan, constants, (size_t)(plan->at_vol_slope + g), vol[0] / first_vol(plan, plan->track_begin[asset]));
  }
}

static void fill_view(const option_cuda_plan *plan, int v, void *constants) {
  const option_cuda_view *view = &plan->view[v];
  const option_feature *f = &plan->estimate->graph.feature[view->feature];
  if (f->asset < 0) return; /* exercises on all assets and deflators are read as they are */
  const double spot = plan->estimate->market[view->market].spot[f->asset];
  double at = 0, scale = spot;
  if (f->schedule > 0 && f->kind < OPTION_FIXING) { /* x itself is kept, or a sum of prices or squares */
    const int count = plan->estimate->graph.schedule[f->schedule - 1].count;
    if (f->kind == OPTION_MEAN) scale = spot / count;
    if (f->kind == OPTION_SQUARES) scale = 1;
    put(plan, constants, (size_t)(plan->at_view + 2 * v), scale);
    put(plan, constants, (size_t)(plan->at_view + 2 * v + 1), 1.0 / count);
    return;
  }
  if (plan->moved) {
    put(plan, constants, (size_t)(plan->at_view + 2 * v), f->kind == OPTION_MEAN ? spot / plan->steps : spot);
    return;
  }
  if (f->kind == OPTION_LAST) at = level(plan, view->line, plan->steps);
  if (f->kind == OPTION_FIXING) at = level(plan, view->line, f->step);
  if (f->kind == OPTION_GEOMETRIC) at = mean_level(plan, view->line);
  if (f->kind == OPTION_MEAN) scale = spot / plan->steps;
  if (!plan->far) scale *= exp2(at);
  put(plan, constants, (size_t)(plan->at_view + 2 * v), scale);
  put(plan, constants, (size_t)(plan->at_view + 2 * v + 1), at);
}

/* Constants of a track's steps of one kind, at index `at` of `out`, and the probabilities of jumps at `above`. */
static void fill_kind(const option_cuda_plan *plan, int t, int kind, void *out, size_t at, size_t above) {
  const option_dynamics *m = option_cuda_dynamics(plan, t, kind);
  const double spot = plan->estimate->market[plan->track_market[t]].spot[plan->track_asset[t]];
  const double numbers[OPTION_CUDA_DYNAMICS_NUMBERS] = {m->v,
                                                        m->keep,
                                                        m->pull,
                                                        m->spread / 2,
                                                        m->floor / 2,
                                                        m->k2 + m->k4 / 2,
                                                        m->k2 / ln2,
                                                        -m->k3 / (2 * ln2),
                                                        m->k3 / (ln2 * ln2),
                                                        m->dt,
                                                        sqrt(m->dt) / ln2,
                                                        m->motion == OPTION_LEVERAGE ? m->link : m->shift,
                                                        spot,
                                                        m->jump_mean,
                                                        m->jump_deviation};
  const double sabr[] = {m->v,
                         m->dt > 0 ? sqrt(m->dt) : 0,
                         m->rho,
                         m->free,
                         m->beta,
                         m->noise,
                         m->mean_square,
                         m->spread,
                         m->far_from_zero,
                         m->power,
                         m->first,
                         m->fineness};
  const double rough[] = {m->v, m->rho, m->free};
  const bool is_rough = m->motion == OPTION_ROUGH_BERGOMI;
  const double *first = is_rough ? rough : sabr;
  const int own = m->motion == OPTION_SABR ? (int)(sizeof sabr / sizeof *sabr) : is_rough ? 3 : 0;
  for (int k = 0; k < OPTION_CUDA_DYNAMICS_NUMBERS; k++)
    put(plan, out, at + (size_t)k, k < own ? first[k] : numbers[k]);
  for (int k = 0; k < m->jumps; k++) put(plan, out, above + (size_t)k, m->above[k]);
}

static void fill_dynamics(const option_cuda_plan *plan, int t, void *table, void *constants) {
  const option_dynamics *m = option_cuda_dynamics(plan, t, 0);
  fill_kind(plan, t, 0, constants, (size_t)(plan->at_dynamics + t * OPTION_CUDA_DYNAMICS_NUMBERS),
            (size_t)(plan->at_above + t * plan->jumps));
  for (int kind = 0; kind < plan->kinds && plan->kinds > 1; kind++) {
    const size_t at = plan->kinds_at[t] + (size_t)kind * option_cuda_kind_numbers(plan);
    fill_kind(plan, t, kind, table, at, at + OPTION_CUDA_DYNAMICS_NUMBERS);
  }
  const size_t nodes = (size_t)m->nodes;
  const size_t cubics = (m->cells > 0 ? 8 * (size_t)m->cells : 0) + option_cuda_rough_numbers(m, plan->steps);
  for (size_t k = 0; k < nodes + cubics; k++) put(plan, table, plan->grid_at[t] + k, m->node[k]);
  for (size_t k = 0; k < nodes * (size_t)plan->steps; k++) put(plan, table, plan->grid_at[t] + nodes + k, m->row[k]);
}

/* Constants of the random rates for each kind of step, and what changes with the step. */
static void fill_rates(const option_cuda_plan *plan, void *table) {
  for (int r = 0; r < plan->rates; r++) {
    const option_market *m = &plan->estimate->market[plan->rate_market[r]];
    size_t at = plan->rates_at[r];
    for (int kind = 0; kind < m->grid.kinds; kind++) {
      const option_rate_step *step = &m->rates[kind];
      put(plan, table, at++, step->keep);
      put(plan, table, at++, step->reach);
      for (int k = 0; k < 3; k++) put(plan, table, at++, step->own[k]);
      for (int a = 0; a < 2 * plan->assets; a++) put(plan, table, at++, step->asset[a / 2][a % 2]);
    }
    for (int s = 0; s < plan->steps; s++) {
      put(plan, table, place(plan, plan->row_rise + r, s), m->rise[s]);
      put(plan, table, place(plan, plan->row_rate_kind + r, s), m->grid.kind[s]);
    }
  }
}

static double growth(const option_market *market, const option_rule *r, int date) {
  return market->bond[r->step[date] - 1] / market->bond[r->end - 1];
}

/* The rule of exercise k on several assets, as settle_jointly reads it. */
static void fill_joint(const option_cuda_plan *plan, int k, const option_rule *r, const option_joint_rule *joint,
                       void *table) {
  const option_parameters *p = plan->parameters;
  const option_feature *f = &plan->estimate->graph.feature[plan->early[k].feature];
  const option_market *market = &plan->estimate->market[plan->early[k].market];
  const int scales = option_joint_scales(p, p->payoffs.items[f->step].data);
  size_t at = plan->early_at[k];
  for (int a = 0; a < plan->assets; a++) put(plan, table, at++, market->spot[a]);
  for (int i = 0; i < 2 * scales; i++) put(plan, table, at++, joint->scale[i / 2][i % 2]);
  for (int d = 0; d < r->dates; d++) {
    put(plan, table, at++, growth(market, r, d));
    for (int i = 0; i < r->bases; i++) put(plan, table, at++, r->beta[(size_t)d * (size_t)r->bases + (size_t)i]);
  }
}

static void fill_early(const option_cuda_plan *plan, int k, const option_rule *r, void *table, void *constants) {
  const option_cuda_view *view = &plan->early[k];
  const option_market *market = &plan->estimate->market[view->market];
  const double spot = market->spot[plan->estimate->graph.feature[view->feature].asset];
  const double numbers[OPTION_CUDA_EARLY_NUMBERS] = {spot, r->strike, r->sign, r->centre, r->scale};
  for (int i = 0; i < OPTION_CUDA_EARLY_NUMBERS; i++)
    put(plan, constants, (size_t)(plan->at_early + k * OPTION_CUDA_EARLY_NUMBERS + i), numbers[i]);
  for (int d = 0; d < r->dates; d++) {
    const size_t at = plan->early_at[k] + (size_t)d * (size_t)(r->degree + 2);
    put(plan, table, at, growth(market, r, d));
    for (int i = 0; i <= r->degree; i++)
      put(plan, table, at + 1 + (size_t)i, r->beta[(size_t)d * (OPTION_DEGREE_MAX + 1) + (size_t)i]);
  }
}

void option_cuda_plan_fill(const option_cuda_plan *plan, const option_policies *policies, void *table,
                           void *constants) {
  const int n = plan->assets;
  fill_table(plan, table);
  fill_steps(plan, table);
  const double fold = plan->folded && n == 1 ? first_vol(plan, 0) : 1;
  put(plan, constants, 0, -2 * ln2 * fold * fold);
  for (int a = 0; a < n; a++) {
    const double unit = plan->folded ? first_vol(plan, plan->track_begin[a]) : 1;
    for (int b = plan->correlated ? 0 : a; b <= a; b++)
      put(plan, constants, (size_t)(plan->at_factor + (plan->correlated ? a * (a + 1) / 2 + b : a)),
          unit * plan->cholesky[a * n + b]);
    for (int t = plan->track_begin[a]; t < plan->track_begin[a + 1]; t++) {
      put(plan, constants, (size_t)(plan->at_ratio + t), first_vol(plan, t) / unit);
      put(plan, constants, (size_t)(plan->at_vol + t), first_vol(plan, t));
    }
  }
  fill_tangents(plan, table, constants);
  fill_rates(plan, table);
  for (int t = 0; t < plan->tracks && plan->moved; t++) fill_dynamics(plan, t, table, constants);
  for (int a = 0; a < n && plan->record; a++)
    put(plan, constants, (size_t)(plan->at_early + a), plan->estimate->market[0].spot[a]);
  for (int k = 0; k < plan->exercises; k++) {
    const option_feature *f = &plan->estimate->graph.feature[plan->early[k].feature];
    const option_policy *own = option_policy_of(policies, plan->early[k].market);
    const option_rule *r = &own->rule[f->step];
    for (int s = 0; s < plan->steps && plan->dated; s++)
      put(plan, table, place(plan, plan->row_date + k, s), r->date[s]);
    if (f->asset < 0)
      fill_joint(plan, k, r, &own->joint[f->step], table);
    else
      fill_early(plan, k, r, table, constants);
  }
  for (int v = 0; v < plan->views; v++) fill_view(plan, v, constants);
  for (int i = 0; i < plan->literals; i++) put(plan, constants, (size_t)(plan->at_literal + i), plan->literal[i]);
  for (int k = 0; k < plan->survivals; k++) {
    const option_feature *f = &plan->estimate->graph.feature[plan->survival[k].feature];
    put(plan, constants, (size_t)(plan->at_survival + k),
        log2(f->level / plan->estimate->market[plan->survival[k].market].spot[f->asset]));
  }
}
