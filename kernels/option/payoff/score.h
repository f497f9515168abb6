/* Greeks from the density of the first step: weights of payoffs and of their pathwise derivatives. */
#ifndef OPTION_PAYOFF_SCORE_H
#define OPTION_PAYOFF_SCORE_H

#include "kernels/option/payoff/builder.h"

enum { OPTION_SCORED_MAX = 8 /* assets whose second derivatives come from scores */ };

/* The law of the first step, in natural logarithms. */
typedef struct option_first_step {
  int assets;
  double mean[OPTION_SCORED_MAX], vol[OPTION_SCORED_MAX], spot[OPTION_SCORED_MAX];
  double weight[OPTION_SCORED_MAX * OPTION_SCORED_MAX]; /* W, the inverse of the covariance: [assets][assets] */
  /* Derivatives of mean and vol of an asset by its own volatility, once and twice, and by the maturity. */
  double mean_vega[OPTION_SCORED_MAX], vol_vega[OPTION_SCORED_MAX], mean_volga[OPTION_SCORED_MAX],
      vol_volga[OPTION_SCORED_MAX], mean_theta[OPTION_SCORED_MAX], vol_theta[OPTION_SCORED_MAX];
} option_first_step;

/* Finds the law; *known: whether all assets are geometric Brownian motions with a density and with W. Errors as of
 * option_market_create. */
sim_status option_first_step_find(const option_builder *builder, const option_parameters *p, option_first_step *out,
                                  bool *known) SIM_MUST_CHECK;
/* Whether the scores vary so little that second derivatives by them are not worse than by differences;
 * deviation[assets]: of the logarithms at the maturity. */
bool option_first_step_is_long(const option_first_step *step, const double *deviation);

/* The score by the spot of an asset: s. */
sim_expr_ref option_score(option_builder *builder, const option_first_step *step, int asset);
/* Second derivatives of the mean of a payoff Y of one asset, jumps allowed: Y times a weight. `greek`: OPTION_GAMMA;
 * OPTION_VANNA and OPTION_VOLGA where the run has a single step; OPTION_CHARM likewise without the discount. */
sim_expr_ref option_score_weight(option_builder *builder, const option_first_step *step, int greek);
/* The same of a payoff without jumps from its derivatives along the path: delta[assets], vega[assets] and theta, each
 * not discounted; `second`: the other asset of OPTION_CROSS_GAMMA; not OPTION_VOLGA. */
typedef struct option_slopes {
  const sim_expr_ref *delta, *vega;
  sim_expr_ref theta;
} option_slopes;
sim_expr_ref option_mixed(option_builder *builder, const option_first_step *step, int greek, int asset, int second,
                          const option_slopes *slopes);

#endif
