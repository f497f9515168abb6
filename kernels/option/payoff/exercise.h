/* Early exercise: rules by the regression of F. Longstaff and E. Schwartz (Review of Financial Studies 14 (2001)
 * 113), on separate paths that are never used for pricing. */
#ifndef OPTION_PAYOFF_EXERCISE_H
#define OPTION_PAYOFF_EXERCISE_H

#include "engine/device/backend.h"
#include "kernels/option/payoff/rule.h"
#include "kernels/option/scenario/market.h"
#include "kernels/option/starts.h"

/* What a rule by functions of several numbers of a path owns. */
typedef struct option_joint_rule {
  sim_expr_program *program, *in_double; /* in the paths' precision; for the regression */
  double *beta;                          /* [dates][bases], and the same rounded to fp32 */
  double scale[OPTION_SCALES_MAX][2];    /* see option_joint_scale */
} option_joint_rule;

typedef struct option_policy {
  int count;
  option_rule *rule; /* [payoffs], owned; zero (growth NULL) for payoffs without early exercise; NULL: no rules */
  void *numbers;     /* owned; the coefficients beta of all rules */
  int *steps;        /* owned; rule.step and rule.date of all rules */
  option_joint_rule *joint; /* [payoffs], owned; zero for other payoffs */
} option_policy;

/* The parts of a regression that run on the backend; fp64, with sums in an order that depends on the paths alone.
 * `self` is the first argument of each. */
typedef struct option_regression {
  void *self;
  /* Simulates `chunks` chunks of paths from all starts and keeps the asset's prices at the rule's dates; sets all cash
   * to zero. */
  sim_status (*simulate)(void *self, const option_rule *rule, int asset, int chunks);
  /* Goes back to `date`. With beta, the coefficients of the next date: cash becomes that date's payoff on paths that
   * exercise there. Then discounts cash to `date` and sums over the paths with a positive payoff here: sum[k] of x^k
   * for k <= 2 degree, and sum[OPTION_REGRESSION_MOMENTS + k] of x^k cash for k <= degree. */
  sim_status (*sums)(void *self, const option_rule *rule, int date, const double *beta, double discount, double *sum);
  /* Frees what `simulate` allocated, also if that failed. */
  void (*release)(void *self);
  /* Finds the rule of a payoff on several assets, whose dates are set: beta, bases, programs. NULL: never asked for. */
  sim_status (*joint)(void *self, const option_payoff *payoff, int number, int chunks, option_rule *rule,
                      option_joint_rule *out);
} option_regression;

/* Places of the centre and factor of what functions of the regression are scaled by: of the payment, of the ordered
 * prices, of each price where those are scaled, and of each volatility that the rule sees. */
enum { OPTION_SCALE_PAYMENT, OPTION_SCALE_COMMON, OPTION_SCALE_ASSETS };

/* OPTION_JOINT_OPEN: inputs centre_k and factor_k of each scale k stand behind the prices. */
typedef enum option_joint_form { OPTION_JOINT_PAYMENT, OPTION_JOINT_SCALED, OPTION_JOINT_OPEN } option_joint_form;

/* joint.c: the payment of an exercise, and but for OPTION_JOINT_PAYMENT the functions of the regression, as one graph
 * of the prices of all assets, of their highest prices so far where `exercise` reads them, and of the volatilities that
 * the rule sees: outputs 1 + *bases. scale[option_joint_scales()]: numbers of OPTION_JOINT_SCALED. */
sim_status option_joint_graph(const option_parameters *p, const option_payoff *o, option_joint_form form,
                              const double (*scale)[2], sim_expr **out, int *bases) SIM_MUST_CHECK;
/* Whether the rule of an American payoff is by functions of several numbers of a path: of all prices, or of a price and
 * its volatility. */
bool option_rule_is_joint(const option_parameters *p, const option_payoff *o);
/* Bit a: the rule sees the volatility of asset a, which is random. */
uint64_t option_joint_volatilities(const option_parameters *p, const option_payoff *o);
/* Whether the rule sees x of a random rate. */
bool option_joint_rate(const option_parameters *p, const option_payoff *o);
/* Number of the scales that the functions of the regression take. */
int option_joint_scales(const option_parameters *p, const option_payoff *o);
/* The inputs of the graph that have a scale of their own: all prices, or none, all volatilities, and a rate. Returns
 * their count; out[OPTION_SCALES_MAX] may be NULL. */
int option_joint_scaled(const option_parameters *p, const option_payoff *o, int *out);
/* Number of the prices among them: all, or 0. */
int option_joint_scaled_assets(const option_parameters *p, const option_payoff *o);
/* Centres and factors from sums over the paths and dates with a positive payment: sum[0] their number, sum[1] and
 * sum[2] the payment and its square, sum[3 + 2k] and sum[4 + 2k] scaled input k and its square. A centre is a mean, a
 * factor half the inverse of the deviation. `assets`: prices among the `count` scaled inputs. */
void option_joint_scale(const double *sum, int assets, int count, double (*scale)[2]);
/* Whether the function of an exercise reads the highest prices so far, path.max[i]. */
bool option_reads_maxima(const option_payoff *o);
/* Number of the functions of the regression. */
int option_joint_bases(const option_parameters *p, const option_payoff *o);
/* Solves the normal equations of `count` functions, without those that depend on earlier ones, whose coefficients are
 * 0. sum: products of functions i >= j at i (i + 1)/2 + j, then of functions and values from bases (bases + 1)/2 on. */
void option_joint_solve(const double *sum, int bases, int count, double *beta);
/* Goes back to `date`: exercises at the next one by the coefficients beta (NULL: by the payment alone), discounts, and
 * sums over the paths with a positive payment, as option_joint_solve reads it. */
typedef sim_status option_joint_sums(void *self, int date, const double *beta, double discount, double *sum);
/* Finds the coefficients of all dates but the last: beta[dates][bases]. bond[steps]: discount factors of the market. */
sim_status option_joint_go_back(const option_rule *rule, const double *bond, option_joint_sums *sums, void *self,
                                double *beta) SIM_MUST_CHECK;
/* Fails on all ranks where the payment of payoff `number` is not finite on a path of one of them. */
sim_status option_joint_check(const sim_comm *comm, bool wrong, int number) SIM_MUST_CHECK;
/* Adds faults of the keys of an American payoff, and binds its function. */
sim_status option_check_american(const option_parameters *p, size_t item, sim_faults *faults) SIM_MUST_CHECK;

/* Number of the dates of early exercise of a payoff. */
size_t option_date_count(const option_parameters *p, const option_payoff *o);

/* Makes the rules of all payoffs; out is freed by option_policy_free. */
sim_status option_policy_regress(const option_parameters *p, const option_market *market,
                                 const option_regression *regression, option_policy *out) SIM_MUST_CHECK;
void option_policy_free(option_policy *policy);
/* Most memory in bytes that a regression holds, on each of `ranks`; of the host or of the device that runs it. */
double option_policy_bytes(const option_parameters *p, int ranks);
/* What a rank receives, and how often it exchanges, in a regression of each payoff by `ranks`; 0 for one. */
void option_policy_exchanges(const option_parameters *p, int ranks, double *bytes, double *exchanges);
/* Adapts the rules to one market: out[payoffs], with their growth in growth[payoffs][steps]. */
void option_policy_for_market(const option_policy *policy, const option_market *market, option_rule *out,
                              double *growth);
/* Bytes of scratch that evaluating the rules on several assets takes. */
size_t option_policy_scratch(const option_policy *policy);
/* Payoff of the rule at a price; negative where exercise does not pay. */
static inline double option_rule_payoff(const option_rule *rule, double price) {
  return rule->sign * (price - rule->strike);
}

/* cpu/exercise.c: computes the rules of starts->market on the CPU, on all ranks of setup->comm together; the result
 * depends on no field of setup. */
sim_status option_policy_create(const option_starts *starts, const sim_setup *setup, option_policy *out) SIM_MUST_CHECK;

#endif
