/* The CPU's table of operations: samples of all quantities from paths, and sums over blocks. Each rank computes its
 * share of the chunks of a step; their sums are gathered, and every rank adds them in the same tree. Twin:
 * cuda/ops.c. */
#include "engine/reduce.h"
#include "kernels/option/cpu/leverage.h"
#include "kernels/option/cpu/reuse.h"
#include "kernels/option/models/hull_white.h"
#include "kernels/option/models/rough.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }

static size_t real_size(const option_sampler *s) { return s->single ? sizeof(float) : sizeof(double); }

static sim_status make_workspace(const option_sampler *s, option_workspace *r) {
  const size_t variants = (size_t)(s->estimate.markets * s->estimate.signs), chunk = OPTION_CHUNK * real_size(s);
  const size_t features = variants * (size_t)s->estimate.graph.features,
               outputs = variants * (size_t)s->estimate.graph.outputs, made = option_reuse_features(s);
  const size_t kernel =
      rounded(option_path_scratch(s->paths.assets + s->paths.schedules, s->paths.variants, s->local_scratch));
  const size_t program = rounded(s->program_scratch + 64);
  const size_t all = (made + outputs) * chunk + kernel + program + 2 * OPTION_CHUNK * sizeof(double);
  r->all = aligned_alloc(64, rounded(all));
  r->features = calloc(features + outputs + 1, sizeof(void *));
  if (r->all == NULL || r->features == NULL) return sim_no_memory("paths");
  r->outputs = r->features + features;
  option_reuse_place(s, r->all, chunk, r->features);
  for (size_t i = 0; i < outputs; i++) r->outputs[i] = r->all + (made + i) * chunk;
  r->kernel = r->all + (made + outputs) * chunk;
  r->program = r->all + (made + outputs) * chunk + kernel;
  r->sample = (void *)(r->all + (made + outputs) * chunk + kernel + program);
  r->control = r->sample + OPTION_CHUNK;
  return SIM_OK;
}

/* Stores a double in the kernel's precision at index `i`. */
static void store(const option_sampler *s, void *at, size_t i, double value) {
  if (s->single)
    ((float *)at)[i] = (float)value;
  else
    ((double *)at)[i] = value;
}

static sim_status make_variants(option_sampler *s, const option_parameters *p) {
  const size_t assets = (size_t)s->paths.assets, numbers = assets * (size_t)s->paths.steps, size = real_size(s);
  const int variants = s->paths.variants;
  double *cholesky = calloc(assets * assets, sizeof *cholesky);
  const size_t each = s->estimate.market[0].tilt != NULL ? 3 : 2;
  s->numbers = aligned_alloc(64, rounded((each * numbers * (size_t)variants + assets * assets) * size));
  if (cholesky == NULL || s->numbers == NULL) {
    free(cholesky);
    return sim_no_memory("the market");
  }
  sim_status status = option_cholesky(p, cholesky);
  char *at = s->numbers;
  double share = 0, farthest = 0;
  for (size_t i = 0; i < assets; i++) {
    double row = 0;
    for (size_t j = 0; j <= i; j++) row += fabs(cholesky[i * assets + j]);
    share = fmax(share, row);
  }
  for (int v = 0; v < variants; v++) {
    const option_market *market = &s->estimate.market[v / s->estimate.signs];
    const double sign = v % s->estimate.signs == 1 ? -1 : 1;
    s->variant[v] = (option_variant){.drift = at,
                                     .vol = at + numbers * size,
                                     .spot = market->spot,
                                     .dynamics = market->dynamics,
                                     .kind = market->grid.kind,
                                     .time = market->grid.time,
                                     .rates = market->rates,
                                     .rise = market->rise,
                                     .tilt = market->tilt != NULL ? at + 2 * numbers * size : NULL,
                                     .mirrored = sign < 0};
    for (size_t i = 0; i < numbers; i++) {
      store(s, at, i, market->drift[i]);
      store(s, at, numbers + i, sign * market->vol[i]);
      if (market->tilt != NULL) store(s, at, 2 * numbers + i, market->tilt[i]);
    }
    for (size_t a = 0; a < assets; a++) {
      double reach = 0;
      for (size_t i = a; i < numbers; i += assets)
        reach += fabs(market->drift[i]) + market->vol[i] * share * OPTION_NORMAL_MAX;
      farthest = fmax(farthest, reach);
    }
    at += each * numbers * size;
  }
  for (size_t i = 0; i < assets * assets; i++) store(s, at, i, cholesky[i]);
  s->paths.cholesky = at;
  s->paths.far = s->variant[0].dynamics != NULL || s->paths.cash != NULL || farthest > (s->single ? 120 : 1000);
  free(cholesky);
  return status;
}

enum { FEW = 3 }; /* tangents that the kernel has its special case for */

/* Finds the steps at which a node of a volatility changes the path, where it is some of them. */
static void find_local_steps(const option_sampler *s, int which, option_tangent *out) {
  const option_graph *g = &s->estimate.graph;
  const int steps = s->paths.steps;
  const double *drift = s->estimate.tangent + 2 * (size_t)which * (size_t)steps, *vol = drift + steps;
  out->local = g->tangents > FEW && g->tangent[which].greek == OPTION_VEGA_BUCKET;
  for (int f = 0; f < g->features; f++)
    if (g->feature[f].kind == OPTION_MAX || g->feature[f].kind == OPTION_MIN) out->local = false;
  out->end = steps;
  while (out->first < out->end && drift[out->first] == 0 && vol[out->first] == 0) out->first++;
  while (out->first < out->end && drift[out->end - 1] == 0 && vol[out->end - 1] == 0) out->end--;
}

static sim_status make_tangents(option_sampler *s) {
  const size_t steps = (size_t)s->paths.steps, count = (size_t)s->estimate.graph.tangents, size = real_size(s);
  s->slopes = malloc(2 * count * steps * size + 1);
  if (s->slopes == NULL) return sim_no_memory("the greeks");
  for (size_t i = 0; i < 2 * count * steps; i++) store(s, s->slopes, i, s->estimate.tangent[i]);
  for (size_t t = 0; t < count; t++) {
    s->tangent[t] = (option_tangent){.asset = s->estimate.graph.tangent[t].asset,
                                     .flat = option_greek_is_rho(s->estimate.graph.tangent[t].greek),
                                     .drift = s->slopes + 2 * t * steps * size,
                                     .vol = s->slopes + (2 * t + 1) * steps * size};
    find_local_steps(s, (int)t, &s->tangent[t]);
  }
  s->paths.tangents = (int)count;
  s->paths.tangent = s->tangent;
  s->local_scratch += option_tangent_scratch((int)count, s->paths.variants);
  return SIM_OK;
}

static sim_status make_policy(void *self, const option_starts *starts, option_policy *out) {
  return option_policy_create(starts, self, out);
}

static size_t policies_scratch(const option_policies *policies) {
  size_t most = 0;
  for (int k = 0; k < policies->count; k++) {
    const size_t own = option_policy_scratch(&policies->policy[k]);
    if (own > most) most = own;
  }
  return most;
}

static sim_status make_rules(option_sampler *s, const option_parameters *p, const sim_setup *setup) {
  const size_t payoffs = p->payoffs.count, markets = (size_t)s->estimate.markets, steps = (size_t)s->paths.steps;
  SIM_TRY(option_policies_create(&s->estimate, p, setup, make_policy, (void *)(uintptr_t)setup, &s->policies));
  if (s->policies.count == 0) return SIM_OK;
  s->local_scratch += policies_scratch(&s->policies);
  s->rules = calloc(markets * payoffs, sizeof *s->rules);
  s->growth = calloc(markets * payoffs * steps, sizeof *s->growth);
  if (s->rules == NULL || s->growth == NULL) return sim_no_memory("early exercise");
  for (size_t m = 0; m < markets; m++)
    option_policy_for_market(option_policy_of(&s->policies, (int)m), &s->estimate.market[m], s->rules + m * payoffs,
                             s->growth + m * payoffs * steps);
  for (int v = 0; v < s->paths.variants; v++) s->variant[v].rule = s->rules + (size_t)(v / s->estimate.signs) * payoffs;
  return SIM_OK;
}

static sim_status make_local(option_sampler *s, const option_parameters *p) {
  const bool uniform[] = {false, true};
  for (int a = 0; a < s->paths.assets; a++) {
    const sim_expr *expr = option_asset_at(p, a)->local_vol;
    if (expr == NULL) continue;
    SIM_TRY(sim_expr_program_create(expr, &(sim_expr_target){.single = s->single, .isa = s->isa, .uniform = uniform},
                                    &s->local[a]));
    for (int m = 0; m < s->estimate.markets; m++)
      for (int k = 0; k < s->estimate.market[m].grid.kinds; k++)
        s->estimate.market[m].dynamics[k * s->paths.assets + a].local = s->local[a];
    const size_t scratch = rounded(sim_expr_program_scratch(s->local[a]) + 64);
    if (scratch > s->local_scratch) s->local_scratch = scratch;
  }
  return SIM_OK;
}

/* ---- samples ---- */

static void add_output(const option_sampler *s, const option_workspace *r, int market, int output, double factor,
                       int count, double *sample) {
  for (int sign = 0; sign < s->estimate.signs; sign++) {
    const void *from = r->outputs[(market * s->estimate.signs + sign) * s->estimate.graph.outputs + output];
    const double f = factor / s->estimate.signs;
    if (s->single)
      for (int i = 0; i < count; i++) sample[i] += f * (double)((const float *)from)[i];
    else
      for (int i = 0; i < count; i++) sample[i] += f * ((const double *)from)[i];
  }
}

static bool simulate(const option_sampler *s, const option_paths *paths, const option_workspace *r, uint64_t first,
                     int count) {
  const bool valid = s->kernel(paths, first, count, r->features, r->kernel);
  option_reuse_scale(s, count, r->features);
  for (int v = 0; v < s->estimate.markets * s->estimate.signs; v++)
    option_reuse_evaluate(s, v, count, r->features, r->outputs, r->program);
  return valid;
}

bool option_simulate(const option_sampler *s, const option_workspace *r, uint64_t first, int count) {
  return simulate(s, &s->paths, r, first, count);
}

bool option_simulate_swapped(const option_sampler *s, const option_workspace *r, uint64_t first, int count) {
  option_paths paths = s->paths;
  paths.swapped = true;
  return simulate(s, &paths, r, first, count);
}

void option_add_terms(const option_sampler *s, const option_workspace *r, int quantity, double weight, int count,
                      double *sample) {
  const option_combination *c = &s->estimate.combination[quantity];
  for (int t = 0; t < c->terms; t++)
    add_output(s, r, c->term[t].market, c->term[t].output, weight * c->term[t].factor, count, sample);
}

/* s->sample: the quantity without its control; s->control: the sum of its controls. */
static void sum_terms(const option_sampler *s, const option_workspace *r, int quantity, int count) {
  const option_combination *c = &s->estimate.combination[quantity];
  memset(r->sample, 0, (size_t)count * sizeof *r->sample);
  option_add_terms(s, r, quantity, 1, count, r->sample);
  if (c->control < 0) return;
  memset(r->control, 0, (size_t)count * sizeof *r->control);
  add_output(s, r, 0, c->control, c->control_factor, count, r->control);
}

static int add_addends(const option_sampler *s, const option_workspace *r, int market, int output, double factor,
                       option_addend *out) {
  const int signs = s->estimate.signs;
  for (int sign = 0; sign < signs; sign++)
    out[sign] =
        (option_addend){r->outputs[(market * signs + sign) * s->estimate.graph.outputs + output], factor / signs};
  return signs;
}

static void sample_chunk(const option_sampler *s, const option_workspace *r, uint64_t first, int count, double *sums) {
  const bool valid = option_simulate(s, r, first, count);
  for (int q = 0; q < s->estimate.quantities; q++) {
    const option_combination *c = &s->estimate.combination[q];
    option_sum sum;
    sum.addends = sum.controls = 0;
    sum.slope = c->slope;
    sum.shift = c->shift;
    sum.control_mean = c->control_mean;
    for (int t = 0; t < c->terms; t++)
      sum.addends +=
          add_addends(s, r, c->term[t].market, c->term[t].output, c->term[t].factor, sum.addend + sum.addends);
    if (c->control >= 0) sum.controls = add_addends(s, r, 0, c->control, c->control_factor, sum.control);
    double *out = sums + OPTION_SUMS_OF * q;
    s->sum(&sum, count, out);
    if (!valid) out[OPTION_SUM_FIRST] = out[OPTION_SUM_SECOND] = NAN;
  }
}

/* Sets the control coefficients, and a shift near each mean, from the pilot paths. */
static void pilot(option_sampler *s) {
  const option_workspace *r = &s->workspaces[0];
  option_moments *moments = (option_moments *)(void *)s->sums; /* [quantities] */
  memset(moments, 0, (size_t)s->estimate.quantities * sizeof *moments);
  for (int chunk = 0; chunk < OPTION_PILOT / OPTION_CHUNK; chunk++) {
    (void)option_simulate(s, r, OPTION_PILOT_FIRST + (uint64_t)(chunk * OPTION_CHUNK), OPTION_CHUNK);
    for (int q = 0; q < s->estimate.quantities; q++) {
      const option_combination *c = &s->estimate.combination[q];
      option_moments *m = &moments[q];
      sum_terms(s, r, q, OPTION_CHUNK);
      for (int i = 0; i < OPTION_CHUNK; i++) {
        m->y += r->sample[i];
        if (c->control < 0) continue;
        const double d = r->control[i] - c->control_mean;
        m->x += d;
        m->xx += d * d;
        m->xy += d * r->sample[i];
      }
    }
  }
  option_estimate_set(&s->estimate, moments, OPTION_PILOT);
}

/* Sums a block's chunks in the fixed tree: [chunks][quantities][OPTION_SUMS_OF] -> mean and squared deviations of
 * `count` samples, and the sums over lanes. */
static void close_block(const option_sampler *s, const double *sums, int chunks, int64_t count, double *mean,
                        double *squares, double *tails) {
  for (int q = 0; q < s->estimate.quantities; q++) {
    double part[OPTION_SUMS_OF][OPTION_CHUNKS];
    for (int c = 0; c < chunks; c++)
      for (int k = 0; k < OPTION_SUMS_OF; k++)
        part[k][c] = sums[OPTION_SUMS_OF * ((size_t)c * (size_t)s->estimate.quantities + (size_t)q) + (size_t)k];
    /* The lanes of Sobol's points are strata of their first dimension, each with another spread: chunks are groups. */
    for (int c = 0; c < chunks && s->paths.quasi != NULL; c++)
      part[OPTION_SUM_LANE_SQUARE][c] = part[OPTION_SUM_LANE][c] * part[OPTION_SUM_LANE][c];
    tails[2 * q] = sim_reduce_tree(part[OPTION_SUM_LANE], (size_t)chunks);
    tails[2 * q + 1] = sim_reduce_tree(part[OPTION_SUM_LANE_SQUARE], (size_t)chunks);
    for (int c = 0; c < chunks && s->matched; c++) {
      part[0][c] /= OPTION_CHUNK;
      part[1][c] = part[0][c] * part[0][c];
    }
    const double first = sim_reduce_tree(part[0], (size_t)chunks), second = sim_reduce_tree(part[1], (size_t)chunks);
    const double shift = s->estimate.combination[q].shift;
    mean[q] = shift + first / (double)count;
    squares[q] = fmax(second - first * first / (double)count, 0);
    /* Only zeros, each -shift in the sums, but for rounding: a payoff that pilot paths alone have got. */
    if (fabs(mean[q]) <= 0x1p-40 * fabs(shift) && squares[q] <= 0x1p-40 * (double)count * shift * shift)
      mean[q] = squares[q] = tails[2 * q] = tails[2 * q + 1] = 0;
    if (isnan(second)) squares[q] = NAN;
  }
}

uint64_t option_path_of(const option_sampler *s, int64_t sample) {
  if (s->groups == 1) return (uint64_t)sample;
  const int64_t block = sample / s->block, scramble = block % s->groups;
  return (uint64_t)scramble << OPTION_SCRAMBLE_SHIFT | (uint64_t)(block / s->groups * s->block + sample % s->block);
}

static sim_status sample(option_sampler *s, int64_t first, int64_t count, double *mean, double *squares,
                         double *tails) {
  const int chunks = (int)((count + s->chunk - 1) / s->chunk), each = s->block / s->chunk;
  const size_t row = OPTION_SUMS_OF * (size_t)s->estimate.quantities,
               sent = sim_comm_share(s->comm, (size_t)chunks) * row;
  size_t end;
  const int own = (int)sim_comm_first(s->comm, (size_t)chunks, &end);
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads)
  for (int c = own; c < (int)end; c++) {
    const int64_t left = count - (int64_t)c * s->chunk;
    sample_chunk(s, &s->workspaces[omp_get_thread_num()], option_path_of(s, first + (int64_t)c * s->chunk),
                 (int)(left < s->chunk ? left : s->chunk), s->sums + (size_t)c * row);
  }
  SIM_TRY(s->comm->ops->gather(s->comm, s->sums + (size_t)s->comm->rank * sent, sent * sizeof(double), s->sums));
  for (int b = 0; b * each < chunks; b++) {
    const int here = chunks - b * each < each ? chunks - b * each : each;
    const int64_t left = count - (int64_t)b * s->block, size = left < s->block ? left : s->block;
    close_block(s, s->sums + (size_t)(b * each) * row, here, s->matched ? here : size,
                mean + b * s->estimate.quantities, squares + b * s->estimate.quantities,
                tails + 2 * b * s->estimate.quantities);
  }
  return SIM_OK;
}

/* ---- create and destroy ---- */

/* Replaces the markets by ones whose steps are divided into `parts`, with the same payoffs. */
static sim_status divide_steps(option_sampler *s, const option_parameters *p, int parts) {
  sim_status status = SIM_OK;
  for (int m = 0; m < s->estimate.markets && status == SIM_OK; m++) {
    option_bump bump = s->estimate.bump[m];
    option_market *market = &s->estimate.market[m];
    double *cash = market->cash; /* of the steps that payoffs see */
    bump.parts = parts;
    market->cash = NULL;
    option_market_free(market);
    status = option_market_create(p, &bump, market);
    market->cash = cash;
  }
  return status;
}

/* Fills what all samplers of a run have in common; `parts`: steps of the paths in one that payoffs see. */
static sim_status begin(option_sampler *s, const option_parameters *p, const sim_setup *setup, int parts) {
  s->comm = setup->comm;
  s->single = option_is_single(p);
  s->isa = setup->isa;
  s->threads = setup->threads;
  snprintf(s->name, sizeof s->name, "vectorized over paths (%s)", sim_isa_name(s->isa));
  s->kernel = option_path_find(s->single, s->isa);
  s->sum = option_sum_find(s->single, s->isa);
  if (s->kernel == NULL) return sim_fail(SIM_ERR_INTERNAL, "no paths for %s", sim_isa_name(s->isa));
  s->paths = (option_paths){
      .seed = p->common.seed, .assets = (int)p->assets.count, .steps = (int)p->nodes * parts, .skip = parts - 1};
  SIM_TRY(option_estimate_create(p, true, &s->estimate));
  SIM_TRY(option_reuse_create(s, p));
  if (parts > 1) SIM_TRY(divide_steps(s, p, parts));
  SIM_TRY(option_leverage_calibrate(p, setup, s->estimate.market, s->estimate.markets));
  s->workspaces = calloc((size_t)s->threads, sizeof *s->workspaces);
  s->groups = option_groups(p);
  s->block = s->groups > 1 ? option_block_samples(p) : OPTION_BLOCK;
  s->chunk = s->block < OPTION_CHUNK ? s->block : OPTION_CHUNK;
  s->sums = calloc((size_t)OPTION_BATCH * OPTION_CHUNKS * (size_t)(OPTION_CHUNK / s->chunk) + (size_t)s->comm->size,
                   OPTION_SUMS_OF * (size_t)s->estimate.quantities * sizeof(double));
  if (s->workspaces == NULL || s->sums == NULL) return sim_no_memory("the sums");
  s->paths.variants = s->simulated * s->estimate.signs;
  s->paths.sloped = option_reuse_sloped(s);
  s->paths.features = s->estimate.graph.features;
  s->paths.feature = s->estimate.graph.feature;
  s->paths.variant = s->variant;
  s->paths.joint = s->estimate.graph.joint;
  s->paths.schedules = s->estimate.graph.schedules;
  s->paths.schedule = s->estimate.graph.schedule;
  s->paths.cash = s->estimate.market[0].cash;
  SIM_TRY(option_reuse_programs(s));
  SIM_TRY(make_variants(s, p));
  SIM_TRY(make_local(s, p));
  s->paths.rough = option_any_rough(p);
  s->paths.rates = p->hull_white.given;
  if (s->paths.rates) s->local_scratch += option_rates_scratch(s->paths.variants);
  if (s->paths.rough) s->local_scratch += option_rough_scratch(s->paths.assets, s->paths.steps);
  return make_tangents(s);
}

static sim_status make_rooms(option_sampler *s) {
  for (int t = 0; t < s->threads; t++) SIM_TRY(make_workspace(s, &s->workspaces[t]));
  return SIM_OK;
}

/* The run's random numbers; quasi and matched ones are used from use_points on. */
static sim_status make_points(option_sampler *s, const option_parameters *p) {
  if (p->sampling.generator == OPTION_MRG32K3A) {
    s->paths.mrg = s->mrg = malloc(sizeof *s->mrg);
    if (s->mrg == NULL) return sim_no_memory("random numbers");
    option_mrg_make(p->common.seed, s->mrg);
  }
  if (s->groups > 1) {
    SIM_TRY(option_quasi_create(p, &s->quasi));
    s->local_scratch += option_bridge_scratch(s->paths.assets, s->paths.steps);
  }
  s->matched = p->sampling.moment_matching;
  if (s->matched) s->local_scratch += option_moments_scratch(s->paths.assets, s->paths.steps);
  return SIM_OK;
}

static void use_points(option_sampler *s) {
  if (s->groups > 1) s->paths.quasi = &s->quasi;
  s->paths.matched = s->matched;
}

static sim_status make(option_sampler *s, const option_parameters *p, const sim_setup *setup) {
  SIM_TRY(begin(s, p, setup, 1));
  SIM_TRY(make_points(s, p));
  SIM_TRY(make_rules(s, p, setup));
  SIM_TRY(make_rooms(s));
  pilot(s);
  use_points(s);
  return SIM_OK;
}

static void destroy(option_sampler **sampler) {
  option_sampler *s = *sampler;
  if (s == NULL) return;
  for (int t = 0; s->workspaces != NULL && t < s->threads; t++) {
    free(s->workspaces[t].all);
    free(s->workspaces[t].features);
  }
  option_policies_free(&s->policies);
  option_reuse_free(s);
  option_estimate_free(&s->estimate);
  for (int a = 0; a < OPTION_ASSETS_MAX; a++) sim_expr_program_free(&s->local[a]);
  option_quasi_free(&s->quasi);
  free(s->mrg);
  free(s->rules);
  free(s->slopes);
  free(s->growth);
  free(s->workspaces);
  free(s->sums);
  free(s->numbers);
  free(s);
  *sampler = NULL;
}

sim_status option_sampler_paths(const option_parameters *p, const sim_setup *setup, option_sampler **out) {
  option_sampler *s = *out = calloc(1, sizeof **out);
  if (s == NULL) return sim_no_memory("the paths");
  sim_status status = begin(s, p, setup, 1);
  if (status == SIM_OK) status = make_points(s, p);
  if (status == SIM_OK) status = make_rooms(s);
  use_points(s);
  if (status != SIM_OK) destroy(out);
  return status;
}

static sim_status create(const option_parameters *p, const sim_setup *setup, option_sampler **out) {
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return sim_no_memory("the model");
  const sim_status status = make(*out, p, setup);
  if (status != SIM_OK) destroy(out);
  return status;
}

/* The jumps of a coarse step are drawn twice, with those of the two fine ones in it. */
static void draw_jumps_twice(const option_market *market, const option_market *halves) {
  for (int i = 0; market->dynamics != NULL && i < market->steps * market->assets; i++) {
    const int step = i / market->assets, a = i % market->assets;
    option_dynamics *dynamics = &market->dynamics[market->grid.kind[step] * market->assets + a];
    const option_dynamics *half = &halves->dynamics[halves->grid.kind[2 * step] * market->assets + a];
    dynamics->jump_halves = half->jumps > 0;
    dynamics->jumps = half->jumps;
    memcpy(dynamics->above, half->above, sizeof dynamics->above);
  }
}

sim_status option_sampler_single(const option_parameters *p, const sim_setup *setup, option_sampler **out) {
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return sim_no_memory("the model");
  SIM_TRY(begin(*out, p, setup, 1));
  return make_rooms(*out);
}

sim_status option_sampler_pair(const option_parameters *p, const sim_setup *setup, int parts, option_sampler *out[2]) {
  for (int k = 0; k < 2; k++) {
    out[k] = calloc(1, sizeof *out[k]);
    if (out[k] == NULL) return sim_no_memory("the model");
    SIM_TRY(begin(out[k], p, setup, k == 1 ? parts : parts / 2));
  }
  option_sampler *coarse = out[0], *fine = out[1];
  coarse->paths.halved = true;
  SIM_TRY(make_rules(coarse, p, setup));
  for (int v = 0; v < fine->paths.variants; v++) fine->variant[v].rule = coarse->variant[v].rule;
  fine->local_scratch += policies_scratch(&coarse->policies);
  for (int m = 0; m < coarse->estimate.markets; m++)
    draw_jumps_twice(&coarse->estimate.market[m], &fine->estimate.market[m]);
  SIM_TRY(make_rooms(coarse));
  return make_rooms(fine);
}

static double bytes(const option_parameters *p, const sim_setup *setup) {
  const double real = option_is_single(p) ? sizeof(float) : sizeof(double), payoffs = option_payoff_count(p);
  const double assets = (double)p->assets.count, quantities = option_quantities(p, NULL);
  const double greeks = option_step_kinds(p) * (5 * assets + p->buckets[0] + p->buckets[1]);
  const double bumped = p->points > 0 ? p->points : 2 * fmin(quantities - payoffs, greeks);
  const double variants = (p->sampling.antithetic ? 2 : 1) * (1 + bumped);
  const double shown = variants * (fmin(3 * assets + payoffs, OPTION_FEATURES_MAX) + quantities + payoffs);
  const double steps = (double)p->nodes * assets * variants * 2 * (real + sizeof(double));
  const double matches = p->sampling.moment_matching ? 2 * sizeof(double) * assets * (double)p->nodes : 0;
  const double kinds = option_steps_vary(p) ? (double)p->nodes * assets * (variants + 1) * sizeof(option_dynamics) : 0;
  const double rough = option_rough_bytes(p), past = rough > 0 ? 2 * assets * (double)p->nodes * 64 : 0;
  const double rates = p->hull_white.given ? (double)p->nodes * (variants + 4) * sizeof(option_rate_step) : 0;
  return rates + option_quasi_bytes(p) + option_policy_bytes(p, setup->comm->size) + steps + kinds +
         rough * (variants + 4) + setup->threads * past +
         setup->threads * (shown * OPTION_CHUNK * real + 0x1p18 + matches) +
         quantities * (OPTION_BATCH * OPTION_CHUNKS + setup->comm->size) * OPTION_SUMS_OF * sizeof(double);
}

static const char *name(const option_sampler *s) { return s->name; }

static int batch(const option_parameters *p) { return isnan(p->sampling.standard_error) ? OPTION_BATCH : OPTION_GROUP; }

const option_ops option_ops_cpu = {.batch = batch,
                                   .bytes = bytes,
                                   .create = create,
                                   .destroy = destroy,
                                   .sample = sample,
                                   .lanes = OPTION_SUM_LANES,
                                   .name = name};
