/* Which steps a payoff sees. */
#include "kernels/option/payoff/builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int option_steps_until(const option_market *market, double t) {
  const int step = option_grid_at(&market->unmoved, t);
  return step > 0 ? step : market->steps;
}

int option_observations(const option_parameters *p, const option_market *market, const option_payoff *o, int *out) {
  const option_grid *grid = &market->unmoved;
  if (o != NULL && o->dates.rows > 0) {
    for (size_t k = 0; k < o->dates.rows; k++) out[k] = option_grid_at(grid, o->dates.data[k]);
    return (int)o->dates.rows;
  }
  const double end = o != NULL ? option_own_maturity(p, o) : p->maturity;
  const int count = (int)lround(end / p->maturity * (double)p->steps);
  for (int k = 1; k <= count; k++)
    out[k - 1] = p->nodes == p->steps ? k : option_steps_until(market, p->maturity * ((double)k / (double)p->steps));
  return count;
}

int option_observation_count(const option_parameters *p, const option_payoff *o) {
  if (o->dates.rows > 0) return (int)o->dates.rows;
  return (int)lround(option_own_maturity(p, o) / p->maturity * (double)p->steps);
}

int option_dates(const option_parameters *p, const option_market *market, const option_payoff *o, int *out) {
  const int all = option_observations(p, market, o, out), every = o->dates.rows > 0 ? 1 : (int)o->every;
  for (int d = 0; d < all / every; d++) out[d] = out[(d + 1) * every - 1];
  return all / every;
}

/* The schedule of an asset with these marks; 0 where they are those of all steps. */
static int find(option_builder *m, int asset, const unsigned char *mark, int count) {
  option_graph *g = m->graph;
  const size_t steps = (size_t)m->market->steps;
  for (int k = 0; k < g->schedules; k++)
    if (g->schedule[k].asset == asset && memcmp(g->schedule[k].mark, mark, steps) == 0) return k + 1;
  if (g->schedules == OPTION_SCHEDULES_MAX) {
    m->status = sim_fail(SIM_ERR_SCENARIO, "payoffs: expected at most %d different lists of dates together",
                         OPTION_SCHEDULES_MAX);
    return 0;
  }
  unsigned char *own = malloc(steps);
  if (own == NULL) {
    m->status = sim_no_memory("the dates");
    return 0;
  }
  memcpy(own, mark, steps);
  g->schedule[g->schedules] = (option_schedule){.asset = asset, .count = count, .mark = own};
  return ++g->schedules;
}

/* Schedule of prices at the payoff's dates or steps (o NULL: the run's), or of the time when it is watched; 0 where
 * that is all of it, unless `always`. */
static int schedule_of(option_builder *m, const option_payoff *o, int asset, bool continuous, bool always) {
  const size_t steps = (size_t)m->market->steps;
  unsigned char *mark = calloc(steps, 1);
  int *step = calloc(steps + 1, sizeof *step), count = 0, found = 0;
  if (mark == NULL || step == NULL) m->status = sim_no_memory("the dates");
  if (m->status == SIM_OK && continuous) {
    const int end = option_steps_until(m->market, o->to > 0 ? o->to : option_own_maturity(m->p, o));
    for (int s = option_grid_at(&m->market->unmoved, o->from); s < end; s++, count++) mark[s] = OPTION_WATCHED;
  } else if (m->status == SIM_OK) {
    count = option_observations(m->p, m->market, o, step);
    for (int k = 0; k < count; k++) mark[step[k] - 1] = OPTION_OBSERVED;
  }
  if (m->status == SIM_OK && (count < (int)steps || always)) found = find(m, asset, mark, count);
  free(mark);
  free(step);
  return found;
}

sim_expr_ref option_observed(option_builder *m, option_kind kind, int asset, const option_payoff *o) {
  const bool continuous = kind == OPTION_HIGH || kind == OPTION_LOW;
  const int schedule = m->status == SIM_OK ? schedule_of(m, o, asset, continuous, kind == OPTION_SQUARES) : 0;
  if (schedule > 0) m->graph->schedule[schedule - 1].need |= 1u << kind;
  return option_builder_feature(m, (option_feature){.kind = kind, .asset = asset, .schedule = schedule});
}

sim_expr_ref option_survival(option_builder *m, option_kind kind, int asset, const option_payoff *o) {
  const int schedule = m->status == SIM_OK ? schedule_of(m, o, asset, true, false) : 0;
  return option_builder_feature(
      m, (option_feature){.kind = kind, .asset = asset, .level = o->level, .schedule = schedule});
}

sim_expr_ref option_price_at(option_builder *m, int asset, int step) {
  const bool last = step == m->market->steps;
  return option_builder_feature(
      m, (option_feature){.kind = last ? OPTION_LAST : OPTION_FIXING, .asset = asset, .step = last ? 0 : step});
}

void option_schedules_free(option_graph *graph) {
  for (int k = 0; k < graph->schedules; k++) free((void *)(uintptr_t)graph->schedule[k].mark);
  graph->schedules = 0;
}
