#include "kernels/option/cpu/bends.h"

#include "engine/expr/comparisons.h"
#include "kernels/option/cpu/sampler.h"
#include "kernels/option/cpu/spread.h"
#include "kernels/option/payoff/builder.h"
#include "kernels/option/payoff/exercise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATHS = OPTION_CHUNK, TOGETHER = 32 };

/* Change of the logarithms of prices by which comparisons are differentiated. */
#define MOVED 1e-4
/* Deviations from its change of sign within which a comparison counts: a kink further away has 1e-5 of the density. */
#define REACH 5
/* Least change of a comparison, over that of the logarithm of a spot, that counts. */
#define STILL 1e-9
/* Distance to a level, as a change of the logarithm of a spot, below which the spot is at it. */
#define AT_LEVEL 1e-9
/* A certain comparison is a kink where two steps of both spots may change its sign. */
#define NEAR 0.1

/* Features of PATHS paths, as inputs of an expression. */
typedef struct inputs {
  int count;
  const double *value[SIM_EXPR_INPUTS_MAX]; /* [PATHS] each */
  int asset[SIM_EXPR_INPUTS_MAX];           /* with whose spot it grows; -1: with none */
} inputs;

typedef struct survey {
  option_parameters *p;
  option_parameters q; /* what is simulated */
  option_asset asset[OPTION_ASSETS_MAX];
  sim_item item[OPTION_ASSETS_MAX];
  option_sampler *sampler;
  option_feature feature[2 * OPTION_FEATURES_MAX];
  int features;
  double *room; /* [features][PATHS] of `feature`, owned */
  double *work; /* [TOGETHER + TOGETHER + 1][PATHS] and scaled inputs [SIM_EXPR_INPUTS_MAX][PATHS], owned */
  bool valid;   /* no local volatility of a path was out of its range */
} survey;

/* One comparison over the paths. */
typedef struct comparison {
  double middle, deviation, most;
  bool reached;
  double moves[OPTION_ASSETS_MAX];     /* its change over that of the logarithm of a spot, the median */
  option_peak peak[OPTION_ASSETS_MAX]; /* of the change of the logarithm of a spot that changes its sign */
} comparison;

/* Least deviations of the comparisons of a payoff, as changes of the logarithm of each spot; INFINITY: none. */
typedef struct least {
  double bend[OPTION_ASSETS_MAX];
  bool unsmoothed; /* a certain comparison is near its change of sign */
  bool pays;       /* the output may be above 0 */
} least;

/* Simulates the features of s->feature. */
static sim_status simulate(survey *s) {
  void *out[2 * OPTION_FEATURES_MAX];
  option_paths paths = s->sampler->paths;
  free(s->room);
  s->room = aligned_alloc(64, ((size_t)s->features + 1) * PATHS * sizeof *s->room);
  if (s->room == NULL) return sim_no_memory("the greeks");
  for (int f = 0; f < s->features; f++) out[f] = s->room + (size_t)f * PATHS;
  paths.features = s->features;
  paths.feature = s->feature;
  s->valid &=
      s->sampler->kernel(&paths, OPTION_PILOT_FIRST + OPTION_PILOT, PATHS, out, s->sampler->workspaces[0].kernel);
  return SIM_OK;
}

static const double *values_of(const survey *s, int feature) { return s->room + (size_t)feature * PATHS; }

/* Evaluates the comparisons with the prices of one asset (-1: of none) moved: out[comparisons][PATHS]. */
static void evaluate(const survey *s, const sim_expr_program *program, const inputs *in, int asset, int count,
                     void *scratch, double *out) {
  const void *from[SIM_EXPR_INPUTS_MAX];
  void *to[TOGETHER];
  double *moved = s->work + (2 * TOGETHER + 1) * (size_t)PATHS;
  for (int i = 0; i < in->count; i++) {
    from[i] = in->value[i];
    if (asset < 0 || in->asset[i] != asset) continue;
    for (int k = 0; k < PATHS; k++) moved[k] = in->value[i][k] * (1 + MOVED);
    from[i] = moved;
    moved += PATHS;
  }
  for (int k = 0; k < count; k++) to[k] = out + (size_t)k * PATHS;
  sim_expr_program_run(program, PATHS, from, to, scratch);
}

/* Creates the program of a graph and its scratch memory, both owned by the caller, also where it fails. */
static sim_status compile(const sim_expr *ratios, sim_expr_program **program, void **scratch) {
  *program = NULL;
  *scratch = NULL;
  SIM_TRY(sim_expr_program_create(ratios, &(sim_expr_target){.isa = SIM_ISA_PLAIN}, program));
  *scratch = aligned_alloc(64, (sim_expr_program_scratch(*program) + 127) / 64 * 64);
  return *scratch != NULL ? SIM_OK : sim_no_memory("the greeks");
}

/* Puts the changes of the logarithm of a spot that change the sign of a comparison, from its values and those of moved
 * prices, into out[PATHS]; INFINITY: it does not move. `out` may be `moved`. */
static void find_changes(const double *value, const double *moved, double *out) {
  for (int i = 0; i < PATHS; i++) {
    const double slope = (moved[i] - value[i]) / MOVED;
    out[i] = fabs(slope) > STILL ? -value[i] / slope : INFINITY;
  }
}

/* Measures the comparisons of a graph: out[its outputs]. */
static sim_status measure(const survey *s, const sim_expr *ratios, const inputs *in, comparison *out) {
  const int count = sim_expr_output_count(ratios), assets = (int)s->p->assets.count;
  double *base = s->work, *other = base + (size_t)TOGETHER * PATHS, *change = other + (size_t)TOGETHER * PATHS;
  sim_expr_program *program;
  void *scratch;
  const sim_status status = compile(ratios, &program, &scratch);
  for (int a = 0; status == SIM_OK && a < assets; a++) {
    evaluate(s, program, in, -1, count, scratch, base);
    evaluate(s, program, in, a, count, scratch, other);
    for (int k = 0; k < count; k++) {
      const double *value = base + (size_t)k * PATHS;
      double *moves = other + (size_t)k * PATHS;
      find_changes(value, moves, change);
      out[k].peak[a] = option_narrowest_peak(change, PATHS, REACH, NEAR);
      for (int i = 0; i < PATHS; i++) moves[i] = fabs(moves[i] - value[i]) / MOVED;
      option_sort(moves, PATHS);
      out[k].moves[a] = option_median(moves, PATHS) > STILL ? option_median(moves, PATHS) : 0;
    }
  }
  for (int k = 0; status == SIM_OK && k < count; k++) {
    double *value = base + (size_t)k * PATHS;
    option_sort(value, PATHS);
    out[k].middle = option_median(value, PATHS);
    out[k].deviation = option_deviation(value, PATHS);
    out[k].most = value[PATHS - 1];
    out[k].reached = (value[0] < 0 && value[PATHS - 1] > 0) || fabs(out[k].middle) < REACH * out[k].deviation;
  }
  free(scratch);
  sim_expr_program_free(&program);
  return status;
}

/* Takes a comparison into account: of all paths where `near`, and where `parts` the part of them that deviates much
 * less. */
static void take(const survey *s, const comparison *of, bool near, bool parts, least *into) {
  for (int a = 0; a < (int)s->p->assets.count; a++) {
    const option_peak *peak = &of->peak[a];
    const double moves = of->moves[a], usual = moves > 0 && of->deviation > 0 ? of->deviation / moves : INFINITY;
    if (near) into->bend[a] = fmin(into->bend[a], usual);
    into->unsmoothed |= moves > 0 && !(of->deviation > 0) && fabs(of->middle) < NEAR * moves;
    if (!parts || !(peak->deviation < OPTION_NARROW * usual)) continue;
    if (peak->deviation > 0)
      into->bend[a] = fmin(into->bend[a], peak->deviation);
    else
      into->unsmoothed = true;
  }
}

/* Creates the graph of the comparisons of an output from number `skip` on, at most TOGETHER; *out NULL: none remains,
 * or the graph becomes too large. */
static sim_status list_comparisons(const sim_expr *expr, int output, int skip, sim_expr **out) {
  const sim_status status = sim_expr_comparisons(expr, output, skip, TOGETHER, out);
  if (status == SIM_ERR_SCENARIO) *out = NULL;
  return status == SIM_ERR_SCENARIO ? SIM_OK : status;
}

/* Surveys an output of a graph: all comparisons, and where it is the payment of an exercise also the output itself, of
 * all paths alone: prices of one date deviate alike. */
static sim_status compare(const survey *s, const sim_expr *expr, int output, bool exercise, const inputs *in,
                          least *into) {
  comparison of[TOGETHER];
  for (int skip = 0;; skip += TOGETHER) {
    sim_expr *ratios;
    SIM_TRY(list_comparisons(expr, output, skip, &ratios));
    if (ratios == NULL) return SIM_OK;
    const int count = sim_expr_output_count(ratios);
    const sim_status status = measure(s, ratios, in, of);
    sim_expr_free(&ratios);
    if (status != SIM_OK) return status;
    if (skip == 0) {
      into->pays |= of[0].most > 0 || of[0].reached;
      if (exercise && into->pays) take(s, &of[0], true, false, into);
    }
    for (int k = skip == 0 ? 1 : 0; k < count; k++) take(s, &of[k], of[k].reached, !exercise, into);
  }
}

static least nothing(void) {
  least out = {.pays = false};
  for (int a = 0; a < OPTION_ASSETS_MAX; a++) out.bend[a] = INFINITY;
  return out;
}

static void keep(const survey *s, int payoff, const least *of, double (*into)[OPTION_ASSETS_MAX]) {
  for (int a = 0; a < (int)s->p->assets.count; a++) into[payoff][a] = fmin(into[payoff][a], of->bend[a]);
  if (of->unsmoothed) s->p->unsmoothed |= UINT64_C(1) << payoff;
}

/* ---- payoffs of prices until the maturity ---- */

/* The price of an asset after a step of `steps`; step 0: after the last one. */
static option_feature price_after(int asset, int step, int steps) {
  const bool last = step == 0 || step == steps;
  return (option_feature){.kind = last ? OPTION_LAST : OPTION_FIXING, .asset = asset, .step = last ? 0 : step};
}

static bool is_extreme(const option_feature *of) { return of->kind == OPTION_MAX || of->kind == OPTION_MIN; }

/* The first price that counts in an extreme. */
static option_feature first_of(const option_graph *g, const option_feature *of, int steps) {
  int step = 1;
  while (of->schedule > 0 && step < steps && !g->schedule[of->schedule - 1].mark[step - 1]) step++;
  return price_after(of->asset, step, steps);
}

/* Whether a payoff sees an extreme of the prices at the steps. */
static bool sees_extremes(const option_graph *g, int payoff) {
  bool any = false;
  for (int f = 0; f < g->features; f++) any |= is_extreme(&g->feature[f]) && sim_expr_depends(g->expr, payoff, f);
  return any;
}

/* Whether prices themselves, which grow with the spot. */
static bool is_price(option_kind kind) { return kind <= OPTION_FIXING && kind != OPTION_SQUARES; }

/* Surveys results of the function and named payoffs but early exercise. An extreme of fixings compares each of them:
 * the first one deviates least. */
static sim_status survey_prices(survey *s) {
  const option_graph *g = &s->sampler->estimate.graph;
  inputs in = {.count = g->features};
  s->features = 2 * g->features;
  for (int f = 0; f < g->features; f++) {
    const option_feature *of = &g->feature[f];
    s->feature[f] = of->kind == OPTION_EARLY ? (option_feature){.kind = OPTION_LAST} : *of;
    s->feature[g->features + f] = is_extreme(of) ? first_of(g, of, s->sampler->paths.steps) : s->feature[f];
    in.asset[f] = is_price(of->kind) ? of->asset : -1;
  }
  SIM_TRY(simulate(s));
  for (int k = 0; k < g->payoffs; k++) {
    least of = nothing();
    const int passes = sees_extremes(g, k) ? 2 : 1;
    if (option_is_early(s->p, k)) continue;
    for (int first = 0; first < passes; first++) {
      for (int f = 0; f < g->features; f++) in.value[f] = values_of(s, first * g->features + f);
      SIM_TRY(compare(s, g->expr, k, false, &in, &of));
    }
    keep(s, k, &of, s->p->bend);
  }
  return SIM_OK;
}

/* ---- extremes that are watched continuously from now on ---- */

static bool is_watched(option_kind kind) { return kind == OPTION_HIGH || kind == OPTION_LOW; }

/* Lowers level[asset] to the distance at which comparisons change their sign with the extremes of this asset. */
static sim_status find_levels(const survey *s, const sim_expr *ratios, int first, const inputs *in, double *level) {
  const int count = sim_expr_output_count(ratios), assets = (int)s->p->assets.count;
  double *base = s->work, *other = s->work + (size_t)TOGETHER * PATHS;
  sim_expr_program *program;
  void *scratch;
  const sim_status status = compile(ratios, &program, &scratch);
  if (status == SIM_OK) evaluate(s, program, in, -1, count, scratch, base);
  for (int a = 0; a < assets && status == SIM_OK; a++) {
    evaluate(s, program, in, a, count, scratch, other);
    for (int k = first; k < count; k++) {
      const double *value = base + (size_t)k * PATHS;
      double *distance = other + (size_t)k * PATHS;
      find_changes(value, distance, distance);
      level[a] = fmin(level[a], option_common(distance, PATHS, AT_LEVEL));
    }
  }
  free(scratch);
  sim_expr_program_free(&program);
  return status;
}

/* At the start the highest and lowest prices are the spot, and never on its other side. So the value of a payoff that
 * compares them with a number has a kink where the spot is this number: with the extremes equal to the spot, the change
 * of the extremes that changes the sign is the distance to it. Prices of the other features are those of
 * survey_prices. */
static sim_status survey_levels(survey *s) {
  const option_graph *g = &s->sampler->estimate.graph;
  const double *spot = s->sampler->estimate.market[0].spot;
  inputs in = {.count = g->features};
  for (int f = 0; f < g->features; f++) {
    double *value = s->room + (size_t)f * PATHS;
    const bool watched = is_watched(g->feature[f].kind);
    for (int i = 0; i < PATHS && watched; i++) value[i] = spot[g->feature[f].asset];
    in.value[f] = value;
    in.asset[f] = watched ? g->feature[f].asset : -1;
  }
  for (int k = 0; k < g->payoffs; k++) {
    bool any = false;
    for (int f = 0; f < g->features; f++) any |= in.asset[f] >= 0 && sim_expr_depends(g->expr, k, f);
    for (int skip = 0; any; skip += TOGETHER) {
      sim_expr *ratios;
      SIM_TRY(list_comparisons(g->expr, k, skip, &ratios));
      if (ratios == NULL) break;
      const sim_status status = find_levels(s, ratios, skip == 0 ? 1 : 0, &in, s->p->level[k]);
      sim_expr_free(&ratios);
      SIM_TRY(status);
    }
  }
  return SIM_OK;
}

/* ---- windows of barriers ---- */

/* A level that is watched continuously from one step until another. */
typedef struct window {
  int feature, from, to; /* of the graph; steps, from 0 and from 1 */
} window;

/* Lists the windows of the graph: out[its features]. Returns their count. */
static int list_windows(const option_graph *g, int steps, window *out) {
  int count = 0;
  for (int f = 0; f < g->features; f++) {
    const option_feature *of = &g->feature[f];
    if (of->kind != OPTION_NOT_ABOVE && of->kind != OPTION_NOT_BELOW) continue;
    const unsigned char *mark = of->schedule > 0 ? g->schedule[of->schedule - 1].mark : NULL;
    window w = {f, 0, steps};
    while (mark != NULL && w.from < steps - 1 && !mark[w.from]) w.from++;
    while (mark != NULL && w.to > w.from + 1 && !mark[w.to - 1]) w.to--;
    out[count++] = w;
  }
  return count;
}

/* Lowers into[payoff][asset] of all payoffs that see the window's feature. */
static void keep_window(const option_graph *g, int feature, double value, double (*into)[OPTION_ASSETS_MAX]) {
  const int asset = g->feature[feature].asset;
  for (int k = 0; k < g->payoffs; k++)
    if (sim_expr_depends(g->expr, k, feature)) into[k][asset] = fmin(into[k][asset], value);
}

/* A price at the window's begin or end counts where it is near the level. Where the window begins now, the value of the
 * payoff has a kink at the level. */
static sim_status survey_windows(survey *s) {
  const option_graph *g = &s->sampler->estimate.graph;
  const int steps = s->sampler->paths.steps;
  window all[OPTION_FEATURES_MAX];
  const int count = list_windows(g, steps, all);
  s->features = 2 * count;
  for (int i = 0; i < 2 * count; i++) {
    const int step = i % 2 == 0 ? all[i / 2].from : all[i / 2].to;
    s->feature[i] = price_after(g->feature[all[i / 2].feature].asset, step, steps);
  }
  if (count > 0) SIM_TRY(simulate(s));
  for (int i = 0; i < 2 * count; i++) {
    const option_feature *of = &g->feature[all[i / 2].feature];
    const double spot = s->sampler->estimate.market[0].spot[of->asset];
    memcpy(s->work, values_of(s, i), PATHS * sizeof *s->work);
    option_sort(s->work, PATHS);
    const double middle = option_median(s->work, PATHS), deviation = option_deviation(s->work, PATHS) / middle;
    if (i % 2 == 0 && all[i / 2].from == 0)
      keep_window(g, all[i / 2].feature, fabs(log(spot / of->level)), s->p->level);
    else if (deviation > 0 && fabs(log(middle / of->level)) < REACH * deviation)
      keep_window(g, all[i / 2].feature, deviation, s->p->bend);
  }
  return SIM_OK;
}

/* ---- early exercise ---- */

/* The payment at a date, and the prices on which it is decided. The features of that date begin at `at`. */
static sim_status survey_date(const survey *s, const sim_expr *payment, int at, least *out) {
  const int assets = (int)s->p->assets.count;
  inputs in = {.count = sim_expr_input_count(payment)};
  *out = nothing();
  for (int i = 0; i < in.count; i++) {
    in.value[i] = values_of(s, at + (i < 2 * assets ? i : 0)); /* volatilities and a rate are not read by a payment */
    in.asset[i] = i < 2 * assets ? i % assets : -1;
  }
  SIM_TRY(compare(s, payment, 0, true, &in, out));
  for (int a = 0; a < assets && out->pays; a++) {
    memcpy(s->work, values_of(s, at + a), PATHS * sizeof *s->work);
    option_sort(s->work, PATHS);
    const double deviation = option_deviation(s->work, PATHS) / option_median(s->work, PATHS);
    if (deviation > 0 && sim_expr_depends(payment, 0, a)) out->bend[a] = fmin(out->bend[a], deviation);
  }
  return SIM_OK;
}

static void list_date(survey *s, const option_payoff *o, int step) {
  const int assets = (int)s->p->assets.count;
  for (int a = 0; a < assets; a++) s->feature[s->features++] = price_after(a, step, s->sampler->paths.steps);
  for (int a = 0; a < assets && option_reads_maxima(o); a++)
    s->feature[s->features++] = (option_feature){.kind = OPTION_HIGHEST, .asset = a, .step = step};
}

static bool is_found(const survey *s, const least *of) {
  bool found = false;
  for (int a = 0; a < (int)s->p->assets.count; a++) found |= isfinite(of->bend[a]);
  return found && of->pays;
}

/* The first date that may pay, and is random, then the last one, of step[dates]. */
static sim_status survey_dates(survey *s, int payoff, const option_payoff *o, const sim_expr *payment, const int *step,
                               int dates) {
  const int each = (int)s->p->assets.count * (option_reads_maxima(o) ? 2 : 1);
  const int together = 2 * OPTION_FEATURES_MAX / each;
  least of;
  bool found = false;
  for (int begin = 0; begin < dates && !found; begin += together) {
    s->features = 0;
    for (int d = begin; d < dates && d < begin + together; d++) list_date(s, o, step[d]);
    SIM_TRY(simulate(s));
    for (int d = begin; d < dates && d < begin + together && !found; d++) {
      SIM_TRY(survey_date(s, payment, (d - begin) * each, &of));
      of.unsmoothed |= of.pays && !is_found(s, &of);
      keep(s, payoff, &of, s->p->bend);
      found = is_found(s, &of);
    }
  }
  s->features = 0;
  list_date(s, o, step[dates - 1]);
  SIM_TRY(simulate(s));
  SIM_TRY(survey_date(s, payment, 0, &of));
  keep(s, payoff, &of, s->p->last_bend);
  return SIM_OK;
}

static sim_status survey_exercise(survey *s, int payoff, const option_payoff *o) {
  int *step = calloc((size_t)s->sampler->paths.steps + 1, sizeof *step), bases;
  sim_expr *payment = NULL;
  sim_status status = step != NULL ? SIM_OK : sim_no_memory("the dates");
  if (status == SIM_OK) status = option_joint_graph(s->p, o, OPTION_JOINT_PAYMENT, NULL, &payment, &bases);
  if (status == SIM_OK) {
    const int dates = option_dates(s->p, &s->sampler->estimate.market[0], o, step);
    if (dates > 0) status = survey_dates(s, payoff, o, payment, step, dates);
  }
  sim_expr_free(&payment);
  free(step);
  return status;
}

/* ---- all ---- */

/* The run's model without control and Greeks. Local volatilities alone give each price the law that it has by a
 * leverage function, which would take a calibration. */
static void make_model(survey *s) {
  option_parameters *q = &s->q;
  *q = *s->p;
  q->greeks = (option_greeks){.method = OPTION_AUTO};
  q->sampling = (option_sampling){.paths = PATHS, .scrambles = NAN, .standard_error = NAN, .time = NAN};
  q->common.precision = SIM_DOUBLE;
  q->assets.items = s->item;
  for (size_t a = 0; a < q->assets.count; a++) {
    s->asset[a] = *option_asset_at(s->p, (int)a);
    s->item[a] = s->p->assets.items[a];
    s->item[a].data = &s->asset[a];
    if (s->asset[a].leverage.given) s->asset[a].leverage.given = s->asset[a].heston.given = false;
  }
}

static sim_status make(survey *s) {
  const sim_setup setup = {
      .backend = &sim_backend_cpu, .comm = &sim_comm_alone, .isa = sim_isa_best(), .threads = 1, .folder = ""};
  make_model(s);
  s->work = calloc((2 * TOGETHER + 1 + SIM_EXPR_INPUTS_MAX) * (size_t)PATHS, sizeof *s->work);
  if (s->work == NULL) return sim_no_memory("the greeks");
  SIM_TRY(option_sampler_paths(&s->q, &setup, &s->sampler));
  SIM_TRY(survey_prices(s));
  SIM_TRY(survey_levels(s));
  SIM_TRY(survey_windows(s));
  const int functions = option_payoff_count(s->p) - (int)s->p->payoffs.count;
  for (int i = 0; i < (int)s->p->payoffs.count; i++)
    if (s->p->payoffs.items[i].schema == &option_american_schema)
      SIM_TRY(survey_exercise(s, functions + i, s->p->payoffs.items[i].data));
  return SIM_OK;
}

static void clear(option_parameters *p) {
  for (int k = 0; k < OPTION_PAYOFFS_MAX; k++)
    for (int a = 0; a < OPTION_ASSETS_MAX; a++) p->bend[k][a] = p->last_bend[k][a] = p->level[k][a] = INFINITY;
  p->unsmoothed = 0;
  option_clear_step_sets(p);
}

/* Markets times signs that a GPU has room for: every device then takes the same steps. */
enum { ROOM = 128 };

/* Divides the payoffs into as many sets of steps as have room. */
static sim_status divide(option_parameters *p) {
  option_estimate *e = calloc(1, sizeof *e);
  sim_status status = e != NULL ? SIM_OK : sim_no_memory("the greeks");
  bool fits = false;
  for (int most = OPTION_STEP_SETS; !fits && status == SIM_OK; most--) {
    int sets;
    status = option_set_steps(p, most, &sets);
    if (status == SIM_OK && sets > 1) status = option_estimate_create(p, true, e);
    fits = status == SIM_OK && e->markets * e->signs <= ROOM;
    if (status == SIM_ERR_SCENARIO && sets > 1) status = SIM_OK; /* more markets than any device takes */
    option_estimate_free(e);
  }
  free(e);
  return status;
}

/* Whether any Greek is a difference by a spot, whose step depends on bends; not where an estimate of the Greeks is
 * refused, as the run's own is then. */
static sim_status are_needed(const option_parameters *p, bool *out) {
  bool by_spot = false;
  *out = false;
  for (int g = 0; g < OPTION_BUCKETS; g++)
    by_spot |= p->greeks.want[g] && g != OPTION_VEGA && g != OPTION_RHO && g != OPTION_THETA;
  option_estimate *e = by_spot ? calloc(1, sizeof *e) : NULL;
  if (e == NULL) return by_spot ? sim_no_memory("the greeks") : SIM_OK;
  const sim_status status = option_estimate_create(p, true, e);
  for (int m = 0; m < e->markets && status == SIM_OK; m++) *out |= e->bump[m].spot != 0 || e->bump[m].second_spot != 0;
  option_estimate_free(e);
  free(e);
  return status == SIM_ERR_SCENARIO ? SIM_OK : status;
}

sim_status option_bends_find(option_parameters *p) {
  bool needed;
  clear(p);
  SIM_TRY(are_needed(p, &needed));
  if (!needed) return SIM_OK;
  survey *s = calloc(1, sizeof *s);
  if (s == NULL) return sim_no_memory("the greeks");
  *s = (survey){.p = p, .valid = true};
  sim_status status = make(s);
  if (!s->valid) clear(p); /* the run tells it */
  if (status == SIM_OK && s->valid) status = divide(p);
  if (s->sampler != NULL) option_ops_cpu.destroy(&s->sampler);
  free(s->room);
  free(s->work);
  free(s);
  return status;
}
