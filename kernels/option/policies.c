#include "kernels/option/policies.h"

#include "kernels/option/cpu/leverage.h"

#include <stdlib.h>

static bool exercises_early(const option_parameters *p) {
  bool any = false;
  for (size_t i = 0; i < p->payoffs.count; i++) any |= p->payoffs.items[i].schema == &option_american_schema;
  return any;
}

/* Whether a market's rule is fitted in a market with other spots. */
static bool is_moved(const option_estimate *e, const option_parameters *p, int market) {
  return p->points == 0 && (e->bump[market].spot != 0 || e->bump[market].second_spot != 0);
}

/* The bump of the market in which a market's rule is fitted. */
static option_bump bump_of(const option_estimate *e, const option_parameters *p, int market) {
  option_bump bump = e->bump[market];
  if (p->points > 0) return bump;
  bump.spot = bump.second_spot = 0;
  bump.second = 0;
  if (bump.vol == 0 && bump.bucket == 0) bump.asset = OPTION_NO_ASSET;
  return bump;
}

/* Numbers the policies: of[markets], and of each policy the first market that has it. Returns their count. */
static int number(const option_estimate *e, const option_parameters *p, int *of, int *first) {
  int count = 0;
  for (int m = 0; m < e->markets; m++) {
    const option_bump bump = bump_of(e, p, m);
    int k = 0;
    for (; k < count; k++) {
      const option_bump other = bump_of(e, p, first[k]);
      if (option_bump_equal(&bump, &other)) break;
    }
    if (k == count) first[count++] = m;
    of[m] = k;
  }
  return count;
}

int option_policies_count(const option_estimate *e, const option_parameters *p) {
  int of[OPTION_MARKETS_MAX], first[OPTION_MARKETS_MAX];
  return exercises_early(p) ? number(e, p, of, first) : 0;
}

/* Spreads the starts of the assets whose spots any market changes. */
static void spread_starts(const option_estimate *e, const option_parameters *p, option_starts *out) {
  for (int a = 0; a < (int)p->assets.count && p->points == 0; a++)
    for (int m = 0; m < e->markets && !(out->range[a] > 0); m++)
      if (option_bump_spot(&e->bump[m], a) != 0) {
        out->range[a] = option_start_range(p, a);
        out->spread = true;
      }
}

/* Fits the rule of a market. */
static sim_status fit(const option_estimate *e, const option_parameters *p, const sim_setup *host, int market,
                      option_policy_maker *make, void *self, option_policy *out) {
  option_starts starts = {.p = p, .market = &e->market[market], .bump = bump_of(e, p, market)};
  spread_starts(e, p, &starts);
  if (!is_moved(e, p, market)) return make(self, &starts, out);
  option_market own;
  SIM_TRY(option_market_create(p, &starts.bump, &own));
  starts.market = &own;
  sim_status status = option_leverage_calibrate(p, host, &own, 1);
  if (status == SIM_OK) status = make(self, &starts, out);
  option_market_free(&own);
  return status;
}

sim_status option_policies_create(const option_estimate *e, const option_parameters *p, const sim_setup *host,
                                  option_policy_maker *make, void *self, option_policies *out) {
  int first[OPTION_MARKETS_MAX];
  *out = (option_policies){0};
  const int count = exercises_early(p) ? number(e, p, out->of, first) : 0;
  out->policy = calloc((size_t)count + 1, sizeof *out->policy);
  if (out->policy == NULL) return sim_no_memory("early exercise");
  for (; out->count < count; out->count++)
    SIM_TRY(fit(e, p, host, first[out->count], make, self, &out->policy[out->count]));
  return SIM_OK;
}

void option_policies_free(option_policies *policies) {
  for (int k = 0; policies->policy != NULL && k <= policies->count; k++) option_policy_free(&policies->policy[k]);
  free(policies->policy);
  *policies = (option_policies){0};
}
