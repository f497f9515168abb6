#include "kernels/option/payoff/names.h"

#include "kernels/option/scenario/currency.h"

#include <stdio.h>
#include <string.h>

int option_payoff_count(const option_parameters *p) {
  return (p->payoff != NULL ? sim_expr_output_count(p->payoff) : 0) + (int)p->payoffs.count;
}

bool option_payoff_sees(const option_parameters *p, int payoff, int asset) {
  const int named = payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  if (named >= 0) {
    const sim_item *item = &p->payoffs.items[named];
    const int exchange = ((const option_payoff *)item->data)->exchange;
    bool sees = option_is_on(p, item, asset);
    for (int a = 0; a < (int)p->assets.count && (exchange == OPTION_COMPOSITE || exchange == OPTION_AT_PAYMENT); a++)
      sees |= option_asset_at(p, a)->currency == asset + 1 && option_is_on(p, item, a);
    return sees;
  }
  bool sees = false;
  for (int i = 0; i < sim_expr_input_count(p->payoff); i++) {
    option_feature feature;
    sees |= option_feature_parse(sim_expr_input_name(p->payoff, i), p, &feature) && feature.asset == asset &&
            sim_expr_depends(p->payoff, payoff, i);
  }
  return sees;
}

bool option_payoff_feels(const option_parameters *p, int payoff, int greek, int asset) {
  const bool by_vol = option_greek_is_vega(greek) || greek == OPTION_VOLGA || greek == OPTION_VANNA;
  bool feels = option_payoff_sees(p, payoff, asset);
  for (int a = 0; a < (int)p->assets.count && by_vol; a++)
    feels |= option_asset_at(p, a)->currency == asset + 1 && option_payoff_sees(p, payoff, a);
  return feels;
}

const char *option_own_name(const option_parameters *p, int payoff) {
  const int named = payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  return named >= 0 ? ((const option_payoff *)p->payoffs.items[named].data)->name : NULL;
}

void option_payoff_name(const option_parameters *p, int payoff, char *out, size_t capacity) {
  const int functions = option_payoff_count(p) - (int)p->payoffs.count;
  const char *own = option_own_name(p, payoff);
  if (own != NULL)
    snprintf(out, capacity, "payoffs[%d] (%s)", payoff - functions + 1, own);
  else if (payoff >= functions)
    snprintf(out, capacity, "payoffs[%d]", payoff - functions + 1);
  else if (functions > 1)
    snprintf(out, capacity, "result %d of payoff", payoff + 1);
  else
    snprintf(out, capacity, "payoff");
}

/* Features that a scenario's function can read. */
enum { NAMES = 8 };
static const char *const names[NAMES] = {"last", "mean", "geometric", "max", "min", "high", "low", "fixing"};
static const option_kind kinds[NAMES] = {OPTION_LAST, OPTION_MEAN, OPTION_GEOMETRIC, OPTION_MAX,
                                         OPTION_MIN,  OPTION_HIGH, OPTION_LOW,       OPTION_FIXING};

bool option_feature_text(const option_feature *feature, char *out, size_t capacity) {
  int k = 0;
  while (k < NAMES && kinds[k] != feature->kind) k++;
  if (k == NAMES) return false;
  const int used = snprintf(out, capacity, "%s[%d]", names[k], feature->asset + 1);
  if (feature->kind == OPTION_FIXING) snprintf(out + used, capacity - (size_t)used, "[%d]", feature->step);
  return true;
}

bool option_feature_parse(const char *name, const option_parameters *p, option_feature *out) {
  int asset = 0, step = 0, end = 0;
  for (int k = 0; k < NAMES; k++) {
    const option_kind kind = kinds[k];
    const size_t length = strlen(names[k]);
    if (strncmp(name, names[k], length) != 0 || name[length] != '_') continue;
    if (kind == OPTION_FIXING)
      (void)sscanf(name + length, "_%d_%d%n", &asset, &step, &end);
    else
      (void)sscanf(name + length, "_%d%n", &asset, &end);
    *out = (option_feature){.kind = kind, .asset = asset - 1, .step = step};
    return end > 0 && name[length + (size_t)end] == '\0' && asset >= 1 && (size_t)asset <= p->assets.count &&
           (kind != OPTION_FIXING || (step >= 1 && step <= p->steps));
  }
  return false;
}

/* Writes the input "fixing_1_300" as the scenario's function spells it: path.fixing[1][300]. */
static void scenario_spelling(const char *name, char *out, size_t capacity) {
  size_t used = (size_t)snprintf(out, capacity, "path.");
  for (bool number = false; *name != '\0' && used + 3 < capacity; name++) {
    const bool begins = *name == '_' && name[1] >= '0' && name[1] <= '9';
    if (number && (begins || *name == '_')) out[used++] = ']';
    out[used++] = begins ? '[' : *name;
    number = begins || (number && *name != '_');
  }
  if (out[used - 1] >= '0' && out[used - 1] <= '9' && strchr(out, '[') != NULL) out[used++] = ']';
  out[used] = '\0';
}

/* Adds a fault that says why there is no input of this name. */
static void refuse_input(const option_parameters *p, const char *name, sim_faults *faults) {
  char word[SIM_EXPR_NAME_MAX + 1], shown[2 * SIM_EXPR_NAME_MAX];
  const size_t length = strcspn(name, "_");
  snprintf(word, sizeof word, "%.*s", (int)length, name);
  scenario_spelling(name, shown, sizeof shown);
  const char *nearest = sim_nearest(word, names, NAMES);
  int k = 0, asset = 0, step = 0;
  while (k < NAMES && strcmp(word, names[k]) != 0) k++;
  const bool fixing = k < NAMES && kinds[k] == OPTION_FIXING;
  const int numbers = sscanf(name + length, "_%d_%d", &asset, &step);
  const long long assets = (long long)p->assets.count, steps = (long long)p->steps;
  if (k == NAMES)
    sim_faults_add(faults, 0, "payoff",
                   "unknown input '%s'%s%s%s, expected last[i], mean[i], geometric[i], max[i], "
                   "min[i], high[i], low[i] or fixing[i][k]",
                   shown, nearest != NULL ? ", nearest is '" : "", nearest != NULL ? nearest : "",
                   nearest != NULL ? "'" : "");
  else if (numbers < 1 || (numbers < 2) == fixing)
    sim_faults_add(faults, 0, "payoff", "unknown input '%s', expected path.%s[i]%s", shown, names[k],
                   fixing ? "[k]: of asset i, at step k" : ": of asset i");
  else if (asset < 1 || asset > assets)
    sim_faults_add(faults, 0, "payoff", "unknown input '%s', expected an asset from 1 to %lld", shown, assets);
  else
    sim_faults_add(faults, 0, "payoff", "unknown input '%s', expected a step from 1 to %lld", shown, steps);
}

sim_status option_bind_payoff(option_parameters *p, sim_faults *faults) {
  const char *inputs[SIM_EXPR_INPUTS_MAX + 1];
  char kept[SIM_EXPR_INPUTS_MAX][SIM_EXPR_NAME_MAX + 1];
  option_feature feature;
  int count = 0;
  bool wrong = false;
  for (int i = 0; i < sim_expr_input_count(p->payoff); i++) {
    const char *name = sim_expr_input_name(p->payoff, i);
    if (!option_feature_parse(name, p, &feature)) {
      refuse_input(p, name, faults);
      wrong = true;
      continue;
    }
    const bool high = feature.kind == OPTION_HIGH;
    if ((high || feature.kind == OPTION_LOW) && option_asset_at(p, feature.asset)->dividends.rows > 0)
      sim_faults_add(faults, 0, "payoff",
                     "expected path.%s[%d] in place of %s[%d], because this asset has cash dividends",
                     high ? "max" : "min", feature.asset + 1, high ? "high" : "low", feature.asset + 1);
    if ((high || feature.kind == OPTION_LOW) && option_asset_at(p, feature.asset)->jumps.given)
      sim_faults_add(
          faults, 0, "payoff",
          "expected path.%s[%d] in place of %s[%d], because this asset jumps, and a Brownian bridge does not",
          high ? "max" : "min", feature.asset + 1, high ? "high" : "low", feature.asset + 1);
    if ((high || feature.kind == OPTION_LOW) && option_asset_at(p, feature.asset)->sabr.given)
      sim_faults_add(faults, 0, "payoff", "expected path.%s[%d] in place of %s[%d], because this asset has sabr",
                     high ? "max" : "min", feature.asset + 1, high ? "high" : "low", feature.asset + 1);
    snprintf(kept[count], sizeof kept[0], "%s", name);
    inputs[count] = kept[count];
    count++;
  }
  if (wrong) return SIM_OK;
  inputs[count] = NULL;
  const sim_signature signature = {.inputs = inputs, .record = true, .parameter = "path"};
  return sim_function_bind(&p->payoff, &signature, faults, 0, "payoff");
}
