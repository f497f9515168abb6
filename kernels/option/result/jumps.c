/* What jumps of payoffs are worth: the least error of a price, or of a Greek by differences, where no path has jumped.
 */
#include "kernels/option/payoff/builder.h"
#include "kernels/option/payoff/exercise.h"
#include "kernels/option/run.h"

#include <math.h>

/* Amount by which one path more or less changes a payoff, not discounted: the cash of a digital, the most that an
 * autocallable pays, and the order of a knocked European payoff, the strike of a put or the forward of a call. 0: the
 * payoff has no jump. */
static double jump_of(const option_parameters *p, const option_market *market, const sim_item *item, int end) {
  const option_payoff *o = item->data;
  const int asset = (int)o->asset - 1;
  if (item->schema == &option_digital_schema) return fabs(o->cash);
  if (item->schema == &option_autocallable_schema) {
    const double dates = (double)option_date_count(p, o) + (double)o->passed;
    return fabs(o->cash) *
           fmax(1 + o->coupon * dates, o->protection / (o->initial > 0 ? o->initial : market->spot[asset]));
  }
  const bool two = item->schema == &option_double_barrier_schema;
  if (!two && (item->schema != &option_barrier_schema || o->monitoring == OPTION_CONTINUOUS)) return 0;
  const double forward = market->spot[asset] * exp(market->growth[(end - 1) * market->assets + asset]);
  return fmax(o->type == OPTION_PUT ? o->strike : forward, o->rebate);
}

/* Of Greeks that are differences: one path more in one of the two markets. */
static sim_status find_jumps_of_greeks(option_run *run) {
  option_estimate estimate;
  SIM_TRY(option_estimate_create(run->parameters, false, &estimate));
  for (int q = option_payoff_count(run->parameters); q < run->quantities; q++) {
    const option_combination *c = &estimate.combination[q];
    const int payoff = run->quantity[q].payoff;
    const double cash = run->jump[payoff] / option_discount(&estimate, 0, payoff);
    for (int t = 0; t < c->terms; t++)
      if (c->term[t].output == payoff && c->terms > 1)
        run->jump[q] = fmax(run->jump[q], cash * fabs(c->term[t].factor));
  }
  option_estimate_free(&estimate);
  return SIM_OK;
}

sim_status option_find_jumps(option_run *run) {
  const option_parameters *p = run->parameters;
  const int functions = option_payoff_count(p) - (int)p->payoffs.count;
  option_market market;
  SIM_TRY(option_market_create(p, NULL, &market));
  run->certain = market.dynamics == NULL;
  for (int i = 0; i < market.steps * market.assets; i++) run->certain &= market.vol[i] == 0;
  const bool bare = !run->certain && p->sampling.control == OPTION_NO_CONTROL;
  bool any = false;
  for (size_t i = 0; i < p->payoffs.count && bare; i++) {
    const int payoff = functions + (int)i, end = option_steps_until(&market, option_maturity_of(p, payoff));
    run->jump[payoff] = market.bond[end - 1] * jump_of(p, &market, &p->payoffs.items[i], end);
    any |= run->jump[payoff] > 0;
  }
  option_market_free(&market);
  return any ? find_jumps_of_greeks(run) : SIM_OK;
}
