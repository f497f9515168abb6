/* What jumps of payoffs are worth: the least error of a price, or of a Greek by differences, where no path has jumped.
 *
 * Named payoffs: the amount by which one path changes the sum. Functions: let X be the sample of a Greek by differences
 * of step h. A path crosses a jump with a probability as h, and changes without one are as h or, of second differences,
 * as h^2, but as h at the paths that cross a kink, so that
 *
 *   E[X^2] = a/h + b       first differences: a/h by jumps
 *   E[X^2] = a/h^3 + b/h   second differences: a/h^3 by jumps
 *
 * Two longer steps, which thousands of paths tell well, give a, and so the deviation of a sample of the run's step,
 * which the run's own paths may not show. Changes of the spot show whether the function jumps at all, and how far;
 * where it does, three paths more than were seen may cross the jump in every Greek: of 95 % probability where none was.
 * Early exercise by a function that may jump: one path more of the typical value of what the run's own paths got.
 */
#include "kernels/option/cpu/stretch.h"
#include "kernels/option/payoff/builder.h"
#include "kernels/option/payoff/exercise.h"
#include "kernels/option/payoff/names.h"
#include "kernels/option/run.h"
#include "kernels/option/scenario/currency.h"

#include "engine/log.h"

#include <math.h>
#include <stdlib.h>

/* Mean price of an asset after `end` steps, of none: the spot. */
static double mean_price(const option_market *market, int asset, int end) {
  return market->spot[asset] * (end > 0 ? exp(market->growth[(end - 1) * market->assets + asset]) : 1);
}

/* The same of the price that a payoff sees, which is another one where each price is converted. */
static double seen_forward(const option_parameters *p, const option_market *market, const option_payoff *o, int end) {
  const int asset = (int)o->asset - 1, currency = (int)option_asset_at(p, asset)->currency - 1;
  const double price = mean_price(market, asset, end);
  return o->exchange == OPTION_COMPOSITE && currency >= 0 ? price * mean_price(market, currency, end) : price;
}

/* Money of the run for one of the payment's. */
static double exchange_of(const option_parameters *p, const option_market *market, const sim_item *item, int end) {
  const option_payoff *o = item->data;
  const int asset = option_foreign_asset(p, item);
  if (o->exchange != OPTION_AT_PAYMENT || asset < 0) return option_quanto_rate(o);
  return mean_price(market, (int)option_asset_at(p, asset)->currency - 1, end);
}

/* Whether no path reaches a level: it is further from the spot and from the forward than OUT_OF_REACH deviations of the
 * logarithm of the price at the end, which a path of 1e15 exceeds. Known of geometric Brownian motions alone. */
#define OUT_OF_REACH 8
static bool is_out_of_reach(const option_parameters *p, const option_market *market, const option_payoff *o, int end,
                            double deviation) {
  const double nearest =
      fmin(fabs(log(o->level / seen_forward(p, market, o, 0))), fabs(log(o->level / seen_forward(p, market, o, end))));
  const bool known = option_asset_is_gbm(option_asset_at(p, (int)o->asset - 1)) && o->exchange != OPTION_COMPOSITE;
  return known && deviation > 0 && nearest > OUT_OF_REACH * deviation;
}

/* An accumulator that is knocked out loses all purchases to come: each is worth the distance of level and strike, or
 * what the price moves from one date to the next. Shares that are delivered later jump by the gearing, too. */
static double jump_of_accumulator(const option_parameters *p, const option_market *market, const option_payoff *o,
                                  int end) {
  const double ln2 = 0.69314718055994530942, dates = (double)option_date_count(p, o);
  const int asset = (int)o->asset - 1;
  double variance = 0, size = 0;
  for (int s = 0; s < end; s++) variance += pow(market->vol[s * market->assets + asset] * ln2, 2);
  const bool reached = o->level > 0 && !is_out_of_reach(p, market, o, end, sqrt(variance));
  if (variance == 0) variance = 0.04 * market->grid.time[end]; /* not known beforehand: of a usual volatility */
  const double moves = seen_forward(p, market, o, end) * sqrt(variance);
  if (reached) size = dates * fmax(fabs(o->level - o->strike), moves / sqrt(dates));
  if (o->settle == OPTION_SETTLE_MATURITY) size = fmax(size, fabs(o->gearing - 1) * moves);
  return size * o->shares;
}

/* Amount by which one path more or less changes a payoff, not discounted: the cash of a digital, the most that an
 * autocallable pays, what an accumulator loses, and the order of a knocked European payoff, the strike of a put or the
 * forward of a call, in the money of the payment. 0: the
 * payoff has no jump. */
static double jump_of(const option_parameters *p, const option_market *market, const sim_item *item, int end) {
  const option_payoff *o = item->data;
  if (item->schema == &option_digital_schema) return fabs(o->cash);
  if (item->schema == &option_accumulator_schema) return jump_of_accumulator(p, market, o, end);
  if (item->schema == &option_autocallable_schema) {
    const double dates = (double)option_date_count(p, o) + (double)o->passed;
    return fabs(o->cash) *
           fmax(1 + o->coupon * dates, o->protection / (o->initial > 0 ? o->initial : seen_forward(p, market, o, 0)));
  }
  const bool two = item->schema == &option_double_barrier_schema;
  if (!two && (item->schema != &option_barrier_schema || o->monitoring == OPTION_CONTINUOUS)) return 0;
  return fmax(o->type == OPTION_PUT ? o->strike : seen_forward(p, market, o, end), o->rebate);
}

/* Whether early exercise pays by a function that may jump, whose height is not known beforehand. */
static bool exercise_jumps(const sim_item *item) {
  const option_payoff *o = item->data;
  return item->schema == &option_american_schema && o->exercise != NULL && sim_expr_may_jump(o->exercise);
}

/* Root mean square of the weight by which the density of the first step gives a Greek. `deviation`: of the first step's
 * price. Of vanna and charm v'/(v^2 S) (w^3 - 3 w), of volga (v'/v)^2 (w^4 - 5 w^2 + 2), but for terms of the drift. */
static double score_size(const option_run *run, const option_quantity *of, double deviation) {
  const option_parameters *p = run->parameters;
  switch (of->greek) {
  case OPTION_DELTA: return 1 / deviation;
  case OPTION_GAMMA: return sqrt(2) / (deviation * deviation);
  case OPTION_VANNA: return sqrt(6) / (deviation * option_least_volatility(p, of->asset));
  case OPTION_VOLGA: return sqrt(26) / pow(option_least_volatility(p, of->asset), 2);
  default: return sqrt(6) / (deviation * 2 * p->maturity);
  }
}

/* Whether an output is a payoff, or the same in the market of a difference. */
static bool is_payoff(const option_graph *g, const option_quantity *of, int output) {
  return output == of->payoff || output == g->bumped[of->payoff][of->greek][0] ||
         output == g->bumped[of->payoff][of->greek][1];
}

/* Of Greeks that are differences: one path more in one of the two markets. By the density of the first step: one path
 * with a weight of its root mean square; of differences of such deltas, one path more with the score of delta. */
static sim_status find_jumps_of_greeks(option_run *run, double deviation) {
  option_estimate estimate;
  SIM_TRY(option_estimate_create(run->parameters, false, &estimate));
  for (int q = option_payoff_count(run->parameters); q < run->told; q++) {
    const option_combination *c = &estimate.combination[q];
    const int payoff = run->quantity[q].payoff;
    const double discount = option_discount(&estimate, 0, payoff), cash = run->jump[payoff] / discount;
    const option_quantity *of = &run->quantity[q];
    if (option_greek_by_asset(of->greek) && !option_payoff_feels(run->parameters, payoff, of->greek, of->asset))
      continue;
    if (run->unmoved[q]) continue;
    if (of->greek == OPTION_CROSS_GAMMA && !(option_payoff_sees(run->parameters, payoff, of->asset) &&
                                             option_payoff_sees(run->parameters, payoff, of->second)))
      continue;
    const bool scored = of->greek <= OPTION_GAMMA || !option_greek_is_controlled(of->greek);
    if (c->terms == 1 && scored && deviation > 0) run->jump[q] = run->jump[payoff] * score_size(run, of, deviation);
    for (int t = 0; t < c->terms; t++)
      if (c->terms > 1 && c->term[t].output == estimate.graph.scored[payoff][of->greek][t % 2] && deviation > 0) {
        run->jump[q] = fmax(run->jump[q], cash * fabs(c->term[t].factor) / deviation);
      } else if (c->terms > 1 && is_payoff(&estimate.graph, of, c->term[t].output)) {
        const double factor = fabs(c->term[t].factor);
        run->jump[q] = fmax(run->jump[q], cash * factor);
        run->jump_factor[q] = fmax(run->jump_factor[q], run->jump_factor[payoff] * factor / discount);
      }
  }
  option_estimate_free(&estimate);
  return SIM_OK;
}

/* ---- functions ---- */

enum { STRETCHES = 3, RARE = 64 /* kurtosis above which pilot paths do not tell how a payoff jumps */ };
static const double stretches[STRETCHES] = {2, 4, 16}; /* second differences: the first two; first ones: the last two */

/* The step of a Greek by differences. */
static double step_of(const option_parameters *p, const option_quantity *of, double stretch) {
  option_parameters q = *p;
  q.greeks.stretch = stretch;
  double width;
  (void)option_bump_of(&q, of->greek, option_greek_place(of), p->step_set[of->payoff], &width);
  return fabs(width);
}

/* Squares of a sample by jumps at the step h0 from moments at steps h[0] < h[1]. */
static double squares_by_jumps(bool second, const option_stretch *const m[2], const double h[2], double h0) {
  const double a = second ? (m[0]->squares * h[0] - m[1]->squares * h[1]) / (1 / (h[0] * h[0]) - 1 / (h[1] * h[1]))
                          : (m[0]->squares - m[1]->squares) / (1 / h[0] - 1 / h[1]);
  return fmax(a / (second ? h0 * h0 * h0 : h0), 0);
}

/* Moments of the scenario's functions at all stretches: of[quantities], moments[STRETCHES][quantities]. */
typedef struct survey {
  const option_parameters *p;
  int quantities;
  option_quantity *of;
  option_stretch *moments;
} survey;

/* Moments at two stretches and their steps; false: the longer step was cut, at a first date or a level, or a moment is
 * not finite. */
typedef struct two_steps {
  const option_stretch *m[2];
  double h[2], h0;
} two_steps;
static bool find(const survey *all, const option_quantity *of, two_steps *out) {
  const int from = of->greek == OPTION_GAMMA ? 0 : 1;
  int i = 0;
  *out = (two_steps){0};
  while (i < all->quantities && (all->of[i].payoff != of->payoff || all->of[i].greek != of->greek ||
                                 all->of[i].asset != of->asset || all->of[i].bucket != of->bucket))
    i++;
  if (i == all->quantities) return false; /* a delta without room */
  out->h0 = step_of(all->p, of, 1);
  for (int k = 0; k < 2; k++) {
    out->m[k] = &all->moments[(from + k) * all->quantities + i];
    out->h[k] = step_of(all->p, of, stretches[from + k]);
  }
  return out->h[1] > 1.5 * out->h[0] && isfinite(out->m[0]->fourth + out->m[1]->fourth);
}

/* The discounted height of the jumps that changes of the spots meet, 0: none. Smooth changes have a hundredth of the
 * squares by their curvature. */
static double height_of(const survey *all, int payoff) {
  double height = 0;
  for (int a = 0; a < (int)all->p->assets.count; a++) {
    two_steps by;
    if (find(all, &(option_quantity){.payoff = payoff, .greek = OPTION_DELTA, .asset = a}, &by) &&
        squares_by_jumps(false, by.m, by.h, by.h[0]) > 0.03 * by.m[0]->squares)
      height = fmax(height, sqrt(by.m[0]->fourth / by.m[0]->squares) * by.h[0]);
  }
  return height;
}

/* Sets the jumps of quantity q of the run. */
static void set_jump(option_run *run, int q, const two_steps *by, double height) {
  const bool second = run->quantity[q].greek == OPTION_GAMMA;
  const double worth = height / (second ? by->h0 * by->h0 : by->h0);
  const double more = 3. / OPTION_STRETCH_PATHS * by->h0 / by->h[0];
  run->jump_deviation[q] = sqrt(squares_by_jumps(second, by->m, by->h, by->h0) + more * worth * worth);
  run->jump[q] = worth;
}

/* Warns where few of the run's paths jump. Of n paths with a deviation D by jumps of height J, n (D/J)^2 do. */
static void warn_of_few(const option_run *run, int q) {
  enum { FEW = 16 };
  const option_quantity *of = &run->quantity[q];
  const option_parameters *p = run->parameters;
  const bool likelihood =
      of->greek <= OPTION_GAMMA && p->assets.count == 1 && option_asset_is_gbm(option_asset_at(p, 0));
  const double n = p->sampling.paths / run->pair, share = run->jump_deviation[q] / run->jump[q];
  char name[OPTION_PAYOFF_NAME];
  if (!(run->jump_deviation[q] > 0 && n * share * share < FEW)) return;
  option_payoff_name(p, of->payoff, name, sizeof name);
  sim_log(SIM_LOG_WARN,
          "greeks.%s: %s jumps, and of %.0f paths %.2g are expected to carry this difference: its error is large; take "
          "more paths%s",
          option_greek_names[of->greek], name, p->sampling.paths, n * share * share,
          likelihood ? ", or method = \"likelihood\"" : "");
}

static void use(option_run *run, const survey *all) {
  const option_parameters *p = run->parameters;
  const int payoffs = option_payoff_count(p), functions = payoffs - (int)p->payoffs.count;
  for (int q = payoffs; q < run->told; q++) {
    const option_quantity *of = &run->quantity[q];
    if (of->payoff >= functions || run->unmoved[q] ||
        (p->greeks.method == OPTION_LIKELIHOOD && of->greek <= OPTION_GAMMA))
      continue;
    two_steps by;
    if (find(all, of, &by) && all->moments[of->payoff].kurtosis < RARE) {
      set_jump(run, q, &by, height_of(all, of->payoff));
      warn_of_few(run, q);
      if (run->groups == 1) run->jump[q] = 0; /* the deviation says more */
    } else if (by.h0 > 0) {
      const double ratio = by.h[0] / by.h0;
      run->jump_factor[q] = by.m[0]->factor / all->moments[of->payoff].factor * ratio;
      if (of->greek == OPTION_GAMMA) run->jump_factor[q] *= ratio;
    }
  }
}

static sim_status look(option_run *run, survey *all) {
  all->of = calloc((size_t)all->quantities, sizeof *all->of);
  all->moments = calloc((size_t)STRETCHES * (size_t)all->quantities, sizeof *all->moments);
  if (all->of == NULL || all->moments == NULL) return sim_no_memory("the greeks");
  (void)option_stretched_quantities(all->p, all->of);
  for (int k = 0; k < STRETCHES; k++)
    SIM_TRY(option_stretched(all->p, stretches[k], all->moments + (size_t)k * (size_t)all->quantities));
  use(run, all);
  return SIM_OK;
}

/* Whether a result of the scenario's function depends on prices: another is one number, beside whatever jumps. */
static bool varies(const sim_expr *payoff, int result) {
  bool any = false;
  for (int i = 0; i < sim_expr_input_count(payoff); i++) any |= sim_expr_depends(payoff, result, i);
  return any;
}

static sim_status find_jumps_of_functions(option_run *run, int functions) {
  const option_parameters *p = run->parameters;
  bool any = false;
  if (functions == 0 || run->certain || !sim_expr_may_jump(p->payoff)) return SIM_OK;
  SIM_TRY(option_medians(p, run->rest));
  for (int k = 0; k < functions && p->sampling.control == OPTION_NO_CONTROL; k++)
    run->jump_factor[k] = varies(p->payoff, k) ? 1 : 0;
  for (int g = 0; g < OPTION_GREEKS; g++) /* others are refused for such functions */
    any |= option_greek_is_controlled(g) && p->greeks.want[g];
  if (!any) return SIM_OK;
  survey all = {.p = p, .quantities = option_stretched_quantities(p, NULL)};
  const sim_status status = look(run, &all);
  free(all.of);
  free(all.moments);
  return status;
}

/* A path more or less changes a price at a point of the ladder, and its change, as it changes today's price. */
static void set_points(option_run *run) {
  for (int q = run->told; q < run->quantities; q++) {
    const int payoff = run->quantity[q].payoff;
    run->jump[q] = run->jump[payoff];
    run->jump_deviation[q] = run->jump_deviation[payoff];
    run->jump_factor[q] = run->jump_factor[payoff];
  }
}

/* The last time at which a payoff sees a price. */
static double last_seen(const option_parameters *p, int payoff) {
  const int named = payoff - (option_payoff_count(p) - (int)p->payoffs.count);
  if (named < 0) return p->maturity;
  const sim_item *item = &p->payoffs.items[named];
  const option_payoff *o = item->data;
  const bool dates_alone =
      item->schema == &option_asian_schema || item->schema == &option_american_schema || option_is_swap(item);
  return dates_alone && o->dates.rows > 0 ? o->dates.data[o->dates.rows - 1] : option_own_maturity(p, o);
}

/* Finds the nodes that change a curve at no time that a payoff sees: of a rate until the payment. */
static void find_unmoved(option_run *run) {
  const option_parameters *p = run->parameters;
  for (int q = 0; q < run->told; q++) {
    const option_quantity *of = &run->quantity[q];
    if (of->greek < OPTION_BUCKETS) continue;
    const option_bucket *node = &p->bucket[of->greek - OPTION_BUCKETS][of->bucket];
    const double last = of->greek == OPTION_RHO_BUCKET ? option_maturity_of(p, of->payoff) : last_seen(p, of->payoff);
    run->unmoved[q] = node->from >= last || node->to <= 0;
  }
}

/* The steps of second derivatives that may be differences of prices. */
static void find_steps(option_run *run) {
  const option_parameters *p = run->parameters;
  for (int q = 0; q < run->told; q++) {
    const option_quantity *of = &run->quantity[q];
    const int set = p->step_set[of->payoff];
    double width[2];
    if (of->greek != OPTION_GAMMA && !(of->greek >= OPTION_SECOND && of->greek < OPTION_BUCKETS)) continue;
    (void)option_bump_of(p, OPTION_GAMMA, of->asset, set, &width[0]);
    width[1] = width[0];
    for (int i = 0; i < 2 && of->greek == OPTION_CROSS_GAMMA; i++)
      width[i] = option_second_steps(p, of->asset, of->second, set).step[i] *
                 option_asset_at(p, i == 0 ? of->asset : of->second)->spot;
    if (of->greek >= OPTION_VANNA) (void)option_bump_of(p, of->greek, of->asset, set, &width[1]);
    if (of->greek >= OPTION_VANNA) width[1] /= 2;
    if (of->greek == OPTION_VOLGA) width[0] = width[1];
    run->inverse_step[q] = fabs(1 / (width[0] * width[1]));
  }
}

/* Finds the second derivatives that may be infinite, and Greeks by a spot that is at a level, where they jump: gamma,
 * and of a function that jumps all of them. */
static void find_kinks(option_run *run) {
  const option_parameters *p = run->parameters;
  const int functions = option_payoff_count(p) - (int)p->payoffs.count;
  const bool jumps = functions > 0 && sim_expr_may_jump(p->payoff);
  for (int q = 0; q < run->told; q++) {
    const option_quantity *of = &run->quantity[q];
    const bool second = of->greek == OPTION_GAMMA || (of->greek >= OPTION_SECOND && of->greek < OPTION_BUCKETS);
    const bool at_level = of->greek >= 0 && option_greek_by_spot(of->greek) && p->level[of->payoff][of->asset] == 0;
    run->kinked[q] = (second && (p->unsmoothed >> of->payoff & 1)) ||
                     (at_level && (of->greek == OPTION_GAMMA || (of->payoff < functions && jumps)));
  }
}

sim_status option_find_jumps(option_run *run) {
  const option_parameters *p = run->parameters;
  const int functions = option_payoff_count(p) - (int)p->payoffs.count;
  option_market market;
  find_unmoved(run);
  find_steps(run);
  find_kinks(run);
  SIM_TRY(option_market_create(p, NULL, &market));
  run->certain = market.dynamics == NULL;
  for (int i = 0; i < market.steps * market.assets; i++) run->certain &= market.vol[i] == 0;
  const bool bare = !run->certain && p->sampling.control == OPTION_NO_CONTROL;
  bool any = false;
  for (int k = 0; k < functions + (int)p->payoffs.count; k++) run->rest[k] = NAN;
  for (size_t i = 0; i < p->payoffs.count && bare; i++) {
    const sim_item *item = &p->payoffs.items[i];
    const int payoff = functions + (int)i, end = option_steps_until(&market, option_maturity_of(p, payoff));
    run->jump[payoff] = market.bond[end - 1] * jump_of(p, &market, item, end) * exchange_of(p, &market, item, end);
    if (item->schema == &option_barrier_schema || item->schema == &option_double_barrier_schema)
      run->rest[payoff] = market.bond[end - 1] * ((const option_payoff *)item->data)->rebate;
    if (exercise_jumps(item)) {
      run->jump_factor[payoff] = 1;
      run->rest[payoff] = 0;
    }
    any |= run->jump[payoff] + run->jump_factor[payoff] > 0;
  }
  const double deviation = market.spot[0] * market.vol[0] * 0.69314718055994530942;
  option_market_free(&market);
  if (any) SIM_TRY(find_jumps_of_greeks(run, deviation));
  SIM_TRY(find_jumps_of_functions(run, functions));
  set_points(run);
  return SIM_OK;
}
