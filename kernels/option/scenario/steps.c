/* Which payoffs and assets need a number of steps, and which need a joint law between the steps that is not known. */
#include "kernels/option/payoff/names.h"
#include "kernels/option/scenario/grid.h"

#include <stdio.h>
#include <string.h>

static bool varies(const sim_expr *function) { return function != NULL && sim_expr_depends(function, 0, 0); }

/* Whether drift and volatility are constant, so that a Brownian bridge between two steps is exact. */
static bool is_even(const option_parameters *p, int asset) {
  const option_asset *a = option_asset_at(p, asset);
  return !varies(p->rate) && !varies(a->vol) && !varies(a->dividend);
}

static const char
    with_steps[] = "whose error falls with the number of steps",
    at_steps[] = "depends on the prices at the steps",
    within[] =
        "depends on prices between the steps, where bridges are exact for a constant rate, dividend and vol alone";

/* Reason why the asset's dynamics needs a number of steps, or NULL; *what: the key. */
static const char *asset_needs(const option_asset *a, const char **what) {
  *what = a->heston.given          ? ".heston"
          : a->rough_bergomi.given ? ".rough_bergomi"
          : a->sabr.given          ? ".sabr"
          : a->local_vol != NULL   ? ".local_vol"
          : a->vol_grid.given      ? ".vol_grid"
                                   : "";
  return **what != '\0' ? with_steps : NULL;
}

static const char *payoff_needs(const option_parameters *p, const sim_item *item) {
  const option_payoff *o = item->data;
  if (option_at_steps(item))
    return option_has_every(item) || item->schema == &option_forward_start_schema ? "has its dates at steps" : at_steps;
  if (item->schema != &option_barrier_schema && item->schema != &option_double_barrier_schema &&
      item->schema != &option_lookback_schema)
    return NULL;
  if (o->monitoring != OPTION_CONTINUOUS) return NULL;
  return o->asset >= 1 && o->asset <= (int64_t)p->assets.count && !is_even(p, (int)o->asset - 1) ? within : NULL;
}

/* Whether the function's input is of prices at the steps. Inputs may not be bound yet: "mean_1", "fixing_1_3". */
static bool is_at_steps(const char *name) {
  static const char *const kinds[] = {"mean_", "geometric_", "max_", "min_", "fixing_", NULL};
  for (const char *const *kind = kinds; *kind != NULL; kind++)
    if (strncmp(name, *kind, strlen(*kind)) == 0) return true;
  return false;
}

/* Reason why the scenario's function needs a number of steps, or NULL. */
static const char *function_needs(const option_parameters *p) {
  for (int i = 0; p->payoff != NULL && i < sim_expr_input_count(p->payoff); i++) {
    const char *name = sim_expr_input_name(p->payoff, i);
    int asset = 0;
    if (is_at_steps(name)) return at_steps;
    if (sscanf(name, "high_%d", &asset) != 1 && sscanf(name, "low_%d", &asset) != 1) continue;
    if (asset >= 1 && asset <= (int)p->assets.count && !is_even(p, asset - 1)) return within;
  }
  return NULL;
}

bool option_function_at_steps(const option_parameters *p) {
  for (int i = 0; p->payoff != NULL && i < sim_expr_input_count(p->payoff); i++)
    if (is_at_steps(sim_expr_input_name(p->payoff, i))) return true;
  return false;
}

/* Returns the first reason for a number of steps, or NULL; `what` names the asset or payoff. */
static const char *needs(const option_parameters *p, char *what, size_t capacity) {
  const char *reason, *key;
  for (int a = 0; a < (int)p->assets.count; a++)
    if ((reason = asset_needs(option_asset_at(p, a), &key)) != NULL) {
      snprintf(what, capacity, "assets[%d]%s moves in steps", a + 1, key);
      return reason;
    }
  snprintf(what, capacity, "payoff");
  if ((reason = function_needs(p)) != NULL) return reason;
  for (size_t i = 0; i < p->payoffs.count; i++)
    if ((reason = payoff_needs(p, &p->payoffs.items[i])) != NULL) {
      snprintf(what, capacity, "payoffs[%zu], %s,", i + 1, p->payoffs.items[i].schema->name);
      return reason;
    }
  return NULL;
}

void option_check_steps(option_parameters *p, sim_faults *faults) {
  char what[64];
  if (p->steps > 0) return;
  const char *reason = needs(p, what, sizeof what);
  bool empty = false; /* then option_check_dates names the list */
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const sim_doubles *dates = &((const option_payoff *)p->payoffs.items[i].data)->dates;
    empty |= dates->data != NULL && dates->rows == 0;
  }
  if (reason != NULL && !empty)
    sim_faults_add(faults, 0, "steps", "missing: %s %s: expected their number, such as steps = 50", what, reason);
  p->steps = 1;
}

/* Bits of the assets whose maximum or minimum a result of the function depends on. */
static uint64_t seen_between(const option_parameters *p, int result) {
  uint64_t seen = 0;
  option_feature feature;
  for (int i = 0; i < sim_expr_input_count(p->payoff); i++)
    if (option_feature_parse(sim_expr_input_name(p->payoff, i), p, &feature) &&
        (feature.kind == OPTION_HIGH || feature.kind == OPTION_LOW) && sim_expr_depends(p->payoff, result, i))
      seen |= UINT64_C(1) << feature.asset;
  return seen;
}

void option_check_between(const option_parameters *p, sim_faults *faults) {
  const size_t n = p->assets.count;
  if (p->payoff == NULL || p->correlation.rows != n || p->correlation.cols != n) return;
  for (int r = 0; r < sim_expr_output_count(p->payoff); r++) {
    const uint64_t seen = seen_between(p, r);
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < i; j++)
        if (seen >> i & seen >> j & 1 && p->correlation.data[i * n + j] != 0) {
          sim_faults_add(faults, 0, "payoff",
                         "high or low of assets %zu and %zu in one result: these are correlated, and so are their "
                         "bridges between the steps, whose joint law is not known: expected path.max and path.min of "
                         "all of them but one, which more steps bring near",
                         j + 1, i + 1);
          return;
        }
  }
}
