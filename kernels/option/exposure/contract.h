/* What a contract is at a date of the exposure: paid, known, or alive in a state that its value depends on. */
#ifndef OPTION_EXPOSURE_CONTRACT_H
#define OPTION_EXPOSURE_CONTRACT_H

#include "kernels/option/payoff/exercise.h"

enum { EXPOSURE_RAWS_MAX = 2 * OPTION_ASSETS_MAX + 2 };

/* Prices of one chunk of paths: price[row][assets][OPTION_CHUNK] at the steps with a row, variance[date][assets][...].
 */
typedef struct exposure_columns {
  const int *row; /* [steps + 1]: row of each step, from 1 on; -1: none */
  int assets;
  double *price, *variance;
} exposure_columns;

static inline const double *exposure_price(const exposure_columns *c, int step, int asset) {
  return c->price + ((size_t)c->row[step] * (size_t)c->assets + (size_t)asset) * OPTION_CHUNK;
}

typedef enum exposure_status {
  EXPOSURE_ALIVE,      /* the value is a function of the state */
  EXPOSURE_KNOCKED_IN, /* likewise, another function */
  EXPOSURE_SURE,       /* the payment is known, and comes later */
  EXPOSURE_NOW,        /* the payment is made at this date */
  EXPOSURE_PAID        /* the payment was made earlier */
} exposure_status;
enum { EXPOSURE_GROUPS = 2 /* of EXPOSURE_ALIVE and EXPOSURE_KNOCKED_IN */ };

typedef struct exposure_contract {
  const sim_item *item;
  const option_payoff *payoff;
  const option_rule *rule; /* of early exercise; NULL: none */
  int number;              /* among the named payoffs */
  int end;                 /* step of the payment */
  int start;               /* step at which a forward start's strike is set */
  int assets, asset[OPTION_ASSETS_MAX];
  double weight[OPTION_ASSETS_MAX];
  int observations, *observed; /* steps of its own dates, ascending; owned */
  double quantity;
  bool hedged;    /* the mean of its underlying's last price is known: no cash dividends */
  bool not_below; /* its payment is never negative */
  bool known;     /* Black's formula is its value: European or digital, on an asset with a `vol` and nothing else */
} exposure_contract;

/* State at one date. u: what is expected of the underlying at the payment; raw: other variables. */
typedef struct exposure_state {
  exposure_status status[OPTION_CHUNK];
  double u[OPTION_CHUNK];
  double guess[OPTION_CHUNK]; /* the payment if the underlying ended at u */
  double
      curve[OPTION_CHUNK]; /* the undiscounted value by Black's formula, of a European one on a constant vol; else 0 */
  double hedge[OPTION_CHUNK]; /* what the underlying ends above u: 0 in the mean, given the state; else 0 */
  int raws;
  double raw[EXPOSURE_RAWS_MAX][OPTION_CHUNK];
} exposure_state;

/* Describes named payoff `number`; out->observed is freed by option_exposure_contract_free. */
sim_status option_exposure_contract_create(const option_parameters *p, const option_market *market,
                                           const option_rule *rule, int number, exposure_contract *out) SIM_MUST_CHECK;
void option_exposure_contract_free(exposure_contract *contract);
/* Marks the steps whose prices the contract needs: mark[steps + 1]. */
void option_exposure_contract_mark(const exposure_contract *contract, bool *mark);
/* Value of a `known` contract at the end of `step` >= 0, not discounted, where u is the mean of the last price. */
double option_exposure_known(const option_market *market, const exposure_contract *contract, int step, double u);
/* The state at the end of `step`, the date number `date`; 0 < step <= contract->end. */
void option_exposure_state_of(const option_parameters *p, const option_market *market,
                              const exposure_contract *contract, const exposure_columns *columns, int date, int step,
                              exposure_state *out);

#endif
