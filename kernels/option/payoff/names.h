/* Names of payoffs and path features in a scenario. */
#ifndef OPTION_PAYOFF_NAMES_H
#define OPTION_PAYOFF_NAMES_H

#include "kernels/option/payoff/feature.h"
#include "kernels/option/scenario/parameters.h"

/* Number of payoffs: results of the scenario's function, then the named payoffs. */
int option_payoff_count(const option_parameters *p);
/* The name that the scenario gives a payoff; NULL: none. */
const char *option_own_name(const option_parameters *p, int payoff);
/* Writes the key of a payoff: "payoffs[2]", "payoffs[2] (NAME)", "payoff", "result 2 of payoff". */
enum { OPTION_PAYOFF_NAME = OPTION_NAME_MAX + 24 }; /* capacity that is always enough */
void option_payoff_name(const option_parameters *p, int payoff, char *out, size_t capacity);
/* Whether a payoff depends on the prices of an asset. */
bool option_payoff_sees(const option_parameters *p, int payoff, int asset);
/* Whether a payoff's Greek by an asset may differ from 0: volatilities of rates of exchange move prices of assets in
 * their currencies, too. */
bool option_payoff_feels(const option_parameters *p, int payoff, int greek, int asset);
/* Parses an input name of the function, such as "mean_1" or "fixing_1_3"; false: no such feature. */
bool option_feature_parse(const char *name, const option_parameters *p, option_feature *out);
/* Writes the feature as a scenario does, "last[1]"; false: no scenario can name it. */
bool option_feature_text(const option_feature *feature, char *out, size_t capacity);
/* Binds the scenario's function to the features that it names; unknown names are reported as faults. */
sim_status option_bind_payoff(option_parameters *p, sim_faults *faults) SIM_MUST_CHECK;

/* Whether the payoff is a variance or volatility swap. */
static inline bool option_is_swap(const sim_item *item) {
  return item->schema == &option_variance_swap_schema || item->schema == &option_volatility_swap_schema;
}

/* Whether it pays at several dates, and its graph carries the payments to its maturity. */
static inline bool option_pays_at_dates(const sim_item *item) {
  return item->schema == &option_autocallable_schema || item->schema == &option_accumulator_schema;
}
/* Whether its dates, where it has no list of them, are every `every`-th step. */
static inline bool option_has_every(const sim_item *item) {
  return item->schema == &option_american_schema || option_pays_at_dates(item);
}

#endif
