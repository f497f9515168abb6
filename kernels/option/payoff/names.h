/* Payoffs and path features by the names that a scenario gives them. */
#ifndef OPTION_PAYOFF_NAMES_H
#define OPTION_PAYOFF_NAMES_H

#include "kernels/option/payoff/feature.h"
#include "kernels/option/scenario/parameters.h"

/* Results of the scenario's function and named payoffs together, in this order. */
int option_payoff_count(const option_parameters *p);
/* Where a payoff stands in the scenario: "payoffs[2]", "payoff", "result 2 of payoff". */
void option_payoff_name(const option_parameters *p, int payoff, char *out, size_t capacity);
/* Whether a payoff depends on an asset; all results of a function depend on the same ones. */
bool option_payoff_sees(const option_parameters *p, int payoff, int asset);
/* The feature that an input of the function names, such as "mean_1" or "fixing_1_3"; false: none. */
bool option_feature_parse(const char *name, const option_parameters *p, option_feature *out);
/* The feature as the scenario writes it, "last[1]"; false: no scenario can. */
bool option_feature_text(const option_feature *feature, char *out, size_t capacity);
/* Binds the scenario's function to the features that it names; unknown names are faults. */
sim_status option_bind_payoff(option_parameters *p, sim_faults *faults) SIM_MUST_CHECK;

#endif
