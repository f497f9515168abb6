/* Assets whose prices are in another currency than the run's, and what payoffs on them pay. */
#ifndef OPTION_SCENARIO_CURRENCY_H
#define OPTION_SCENARIO_CURRENCY_H

#include "kernels/option/scenario/parameters.h"

/* Whether any asset is in another currency. */
bool option_any_currency(const option_parameters *p);
/* Whether the asset, from 0, is the price of the currency of another one. */
bool option_is_currency(const option_parameters *p, int asset);
/* Whether a named payoff is on the price of an asset, from 0. */
bool option_is_on(const option_parameters *p, const sim_item *item, int asset);
/* The first asset in another currency that a named payoff is on, from 0; -1: none. */
int option_foreign_asset(const option_parameters *p, const sim_item *item);
/* Today's price of its asset as a payoff sees it: converted where each price is. */
double option_seen_spot(const option_parameters *p, const option_payoff *o);
/* Money of the run that a quanto pays for one of the price's currency; 1 of other payoffs. */
static inline double option_quanto_rate(const option_payoff *o) {
  return o->exchange == OPTION_QUANTO && o->exchange_rate > 0 ? o->exchange_rate : 1;
}
/* Checks `currency` of the assets and `exchange` of the payoffs; `asset` and `second` are known to be assets. */
void option_check_currencies(const option_parameters *p, sim_faults *faults);

#endif
