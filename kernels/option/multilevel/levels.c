#include "kernels/option/multilevel/levels.h"

#include "kernels/option/cpu/sampler.h"
#include "kernels/option/models/heston_steps.h"
#include "kernels/option/multilevel/tail.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Path numbers of two levels are so far apart. */
#define LEVEL_STRIDE (UINT64_C(1) << 52)
enum { PIECE = OPTION_LEVELS_PIECE };

struct option_levels {
  const option_parameters *parameters;
  sim_setup setup;
  bool swaps; /* fine paths are averaged with the ones whose random numbers are swapped */
  option_sampler *sampler[OPTION_LEVELS_MAX][2]; /* coarse and fine; the coarse one of level 0 is NULL */
  option_tail tail;                              /* of a randomised run */
  double cost[OPTION_LEVELS_MAX];
  double *state, *samples; /* samples: [threads][quantities][PIECE] */
  double *sums;            /* of the pieces of a step, with room for the same share of every rank */
  size_t room;             /* pieces in `sums` */
  option_level_sums of;
};

int option_levels_most(const option_parameters *p) {
  int levels = 1;
  while (levels < OPTION_LEVELS_MAX && (double)p->nodes * exp2(levels) <= OPTION_STEPS_MAX) levels++;
  return levels;
}

double option_levels_first_samples(void) { return 4 * OPTION_CHUNK + (OPTION_LEVELS_LEAST - 1) * OPTION_CHUNK; }

int64_t option_levels_numbers(const option_parameters *p) {
  return OPTION_LEVELS_MAX * (1 + 4 * (int64_t)option_quantities(p, NULL));
}

double option_levels_bytes(const option_parameters *p, const sim_setup *setup) {
  if (!p->sampling.multilevel) return 0;
  const double finest = exp2(option_levels_most(p));
  option_parameters q = *p;
  q.nodes = (int64_t)((double)p->nodes * finest * 2);
  return 2 * option_ops_cpu.bytes(&q, setup);
}

/* Swapping the random numbers of two steps takes the largest difference of a path out of the mean, where the price
 * moves by random volatilities (M. Giles and L. Szpruch, Annals of Applied Probability 24 (2014) 1585). Steps
 * of strong order 1 with a local volatility need none. */
static bool wants_swaps(const option_parameters *p) {
  bool any = false;
  for (int a = 0; a < (int)p->assets.count; a++)
    any |= option_asset_at(p, a)->heston.given || option_asset_at(p, a)->sabr.given;
  return any;
}

/* Work of a sample of one level in steps of the run. */
static double cost_of(const option_levels *o, int level) {
  const double fine = exp2(level), coarse = level > 0 ? fine / 2 : 0, paths = level > 0 && o->swaps ? 2 : 1;
  return (paths * fine + coarse) * (double)o->parameters->nodes;
}

/* Local volatilities take steps of strong order 1, so that differences between levels shrink faster: V_l as 4^-l and
 * not 2^-l. */
static sim_status make_level(option_levels *o, int level) {
  option_sampler **of = o->sampler[level];
  if (level == 0)
    SIM_TRY(option_sampler_single(o->parameters, &o->setup, &of[1]));
  else
    SIM_TRY(option_sampler_pair(o->parameters, &o->setup, 1 << level, of));
  for (int k = 0; k < 2; k++)
    if (of[k] != NULL) of[k]->paths.milstein = true;
  return SIM_OK;
}

/* Work of a sample of the random level, in the mean. */
static double tail_cost(const option_levels *o) {
  double cost = 0;
  for (int k = 0; k < o->tail.levels; k++) cost += o->tail.chance[k] * cost_of(o, o->tail.first + k);
  return cost;
}

/* The random level comes after the ones that a run begins with. */
static void make_tail(option_levels *o) {
  option_level_sums *s = &o->of;
  s->finest = s->most - 1;
  s->tail = s->least < s->finest ? s->least : s->finest;
  option_tail_make(s->tail, s->most, &o->tail);
  s->least = s->most = s->tail + 1;
}

static void point_to_state(option_levels *o) {
  const size_t most = OPTION_LEVELS_MAX, numbers = most * (size_t)o->of.width;
  o->of.count = o->state;
  o->of.mean = o->state + most;
  o->of.squares = o->of.mean + numbers;
  o->of.hits = o->of.squares + numbers;
  o->of.tails = o->of.hits + numbers;
}

static sim_status make(option_levels *o, const option_parameters *p, const sim_setup *setup, bool certain) {
  o->parameters = p;
  o->setup = *setup;
  o->swaps = wants_swaps(p);
  o->of = (option_level_sums){.most = option_levels_most(p),
                              .least = OPTION_LEVELS_LEAST,
                              .payoffs = option_payoff_count(p),
                              .width = option_quantities(p, NULL),
                              .order = 1,
                              .certain = certain,
                              .cost = o->cost};
  SIM_TRY(option_heston_levels(p, &o->of.least));
  if (p->sampling.randomised) make_tail(o);
  if (o->of.least > o->of.most) o->of.least = o->of.most;
  o->state = calloc((size_t)option_levels_numbers(p), sizeof *o->state);
  o->samples = calloc((size_t)setup->threads * (size_t)o->of.width * PIECE, sizeof *o->samples);
  if (o->state == NULL || o->samples == NULL) return sim_no_memory("the levels");
  point_to_state(o);
  for (int l = 0; l < OPTION_LEVELS_MAX; l++) o->cost[l] = cost_of(o, l);
  if (p->sampling.randomised) o->cost[o->of.tail] = tail_cost(o);
  return make_level(o, 0);
}

sim_status option_levels_create(const option_parameters *p, const sim_setup *setup, bool certain, option_levels **out) {
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return sim_no_memory("the levels");
  const sim_status status = make(*out, p, setup, certain);
  if (status != SIM_OK) option_levels_destroy(out);
  return status;
}

void option_levels_destroy(option_levels **levels) {
  option_levels *o = *levels;
  if (o == NULL) return;
  for (int l = 0; l < OPTION_LEVELS_MAX; l++)
    for (int k = 1; k >= 0; k--) option_ops_cpu.destroy(&o->sampler[l][k]);
  free(o->state);
  free(o->samples);
  free(o->sums);
  free(o);
  *levels = NULL;
}

double *option_levels_state(option_levels *o) { return o->state; }

sim_status option_levels_restored(option_levels *o) {
  o->of.levels = 0;
  while (o->of.levels < o->of.most && o->of.count[o->of.levels] > 0) o->of.levels++;
  for (int l = 0; l < o->of.levels; l++)
    if (!(o->of.count[l] > 0 && o->of.count[l] <= 0x1p52 && fmod(o->of.count[l], PIECE) == 0))
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's level %d has %.9g samples", l, o->of.count[l]);
  return SIM_OK;
}

const option_level_sums *option_levels_sums(const option_levels *o) { return &o->of; }

double option_levels_samples(const option_levels *o) {
  double sum = 0;
  for (int l = 0; l < o->of.levels; l++) sum += o->of.count[l];
  return sum;
}

option_level_step option_levels_next(const option_levels *o) {
  const option_sampling *s = &o->parameters->sampling;
  const double left = s->paths / (s->antithetic ? 2 : 1) - option_levels_samples(o);
  const double least = 0x1p-400; /* squares of a smaller tolerance, and what is divided by them, leave the range */
  return option_level_next(&o->of, fmax(s->standard_error, least), left);
}

/* ---- samples ---- */

/* Adds `weight` times the quantities of `count` samples in the workspace to samples[width][PIECE]. */
static void add(const option_sampler *s, const option_workspace *room, double weight, int width, int count,
                double *samples) {
  for (int q = 0; q < width; q++) option_add_terms(s, room, q, weight, count, samples + (size_t)q * PIECE);
}

/* Adds `weight` times the first `count` samples of a piece of a level. Returns whether all are valid. */
static bool add_samples(const option_levels *o, int level, double number, double weight, int count, double *samples) {
  const int thread = omp_get_thread_num(), width = o->of.width;
  const option_sampler *coarse = o->sampler[level][0], *fine = o->sampler[level][1];
  const uint64_t first = (uint64_t)level * LEVEL_STRIDE + (uint64_t)number * OPTION_CHUNK;
  const bool swaps = coarse != NULL && o->swaps;
  bool valid = option_simulate(fine, &fine->workspaces[thread], first, count);
  add(fine, &fine->workspaces[thread], swaps ? weight / 2 : weight, width, count, samples);
  if (swaps) {
    valid &= option_simulate_swapped(fine, &fine->workspaces[thread], first, count);
    add(fine, &fine->workspaces[thread], weight / 2, width, count, samples);
  }
  if (coarse != NULL) {
    valid &= option_simulate(coarse, &coarse->workspaces[thread], first, count);
    add(coarse, &coarse->workspaces[thread], -weight, width, count, samples);
  }
  return valid;
}

/* The samples of a piece of the random level. */
static bool add_tail(const option_levels *o, double number, double *samples) {
  int count[OPTION_LEVELS_MAX];
  bool valid = true;
  option_tail_counts(&o->tail, o->parameters->common.seed, number, PIECE, count);
  for (int k = 0; k < o->tail.levels; samples += count[k++])
    if (count[k] > 0) valid &= add_samples(o, o->tail.first + k, number, 1 / o->tail.chance[k], count[k], samples);
  return valid;
}

/* Sums of one piece: out[width][3], mean, squared deviations and samples other than 0; then 1 where it is valid. */
static void sample_piece(const option_levels *o, int level, double number, double *samples, double *out) {
  const int width = o->of.width;
  memset(samples, 0, (size_t)width * PIECE * sizeof *samples);
  const bool valid = o->of.tail > 0 && level == o->of.tail ? add_tail(o, number, samples)
                                                           : add_samples(o, level, number, 1, PIECE, samples);
  for (int q = 0; q < width; q++) {
    const double *y = samples + (size_t)q * PIECE;
    double sum = 0, squares = 0, hits = 0;
    for (int i = 0; i < PIECE; i++) {
      sum += y[i];
      hits += y[i] != 0;
    }
    for (int i = 0; i < PIECE; i++) squares += (y[i] - sum / PIECE) * (y[i] - sum / PIECE);
    out[3 * q] = sum / PIECE;
    out[3 * q + 1] = squares;
    out[3 * q + 2] = hits;
  }
  out[3 * width] = valid;
}

/* Adds a piece to the sums of a level: the update of Chan, Golub and LeVeque. */
static sim_status add_piece(option_levels *o, int level, const double *piece) {
  const int width = o->of.width;
  double *count = &o->state[level], *mean = o->state + OPTION_LEVELS_MAX + (size_t)level * (size_t)width;
  double *squares = mean + OPTION_LEVELS_MAX * (size_t)width, *hits = squares + OPTION_LEVELS_MAX * (size_t)width;
  double *tails = hits + OPTION_LEVELS_MAX * (size_t)width;
  bool valid = piece[3 * width] == 1;
  for (int q = 0; q < width; q++) {
    const double d = piece[3 * q] - mean[q], all = *count + PIECE;
    mean[q] += d * (PIECE / all);
    squares[q] += piece[3 * q + 1] + d * d * (*count * (PIECE / all));
    hits[q] += piece[3 * q + 2];
    tails[q] += piece[3 * q + 1] * piece[3 * q + 1];
    valid &= isfinite(squares[q]) && isfinite(mean[q]);
  }
  *count += PIECE;
  if (valid) return SIM_OK;
  return sim_fail(
      SIM_ERR_DIVERGED,
      "a payoff or a local volatility is not finite, or a local volatility below 0, on a path of level %d%s, "
      "with each step in %d: without multilevel, and with steps = %.0f, the run says where",
      level, o->of.tail > 0 && level == o->of.tail ? " or a later one" : "", 1 << level,
      (double)o->parameters->nodes * exp2(level));
}

static sim_status make_room(option_levels *o, size_t pieces, size_t row) {
  const size_t needed = pieces + (size_t)o->setup.comm->size;
  if (needed <= o->room) return SIM_OK;
  double *more = realloc(o->sums, needed * row * sizeof *more);
  if (more == NULL) return sim_no_memory("the levels");
  o->sums = more;
  o->room = needed;
  return SIM_OK;
}

/* Makes the samplers that the pieces of a level from `before` on take. */
static sim_status make_samplers(option_levels *o, int level, double before, size_t pieces) {
  const bool random = o->of.tail > 0 && level == o->of.tail;
  bool wanted[OPTION_LEVELS_MAX] = {false};
  wanted[level] = !random;
  for (size_t c = 0; c < pieces && random; c++) {
    int count[OPTION_LEVELS_MAX];
    option_tail_counts(&o->tail, o->parameters->common.seed, before + (double)c, PIECE, count);
    for (int k = 0; k < o->tail.levels; k++) wanted[o->tail.first + k] |= count[k] > 0;
  }
  for (int l = 0; l < OPTION_LEVELS_MAX; l++)
    if (wanted[l] && o->sampler[l][1] == NULL) SIM_TRY(make_level(o, l));
  return SIM_OK;
}

sim_status option_levels_sample(option_levels *o, option_level_step step) {
  const sim_comm *comm = o->setup.comm;
  const size_t row = 3 * (size_t)o->of.width + 1, pieces = (size_t)(step.samples / PIECE);
  const double before = o->of.count[step.level] / PIECE;
  SIM_TRY(make_room(o, pieces, row));
  SIM_TRY(make_samplers(o, step.level, before, pieces));
  const size_t sent = sim_comm_share(comm, pieces) * row;
  size_t end;
  const int own = (int)sim_comm_first(comm, pieces, &end);
#pragma omp parallel for schedule(dynamic, 1) num_threads(o->setup.threads)
  for (int c = own; c < (int)end; c++)
    sample_piece(o, step.level, before + c, o->samples + (size_t)omp_get_thread_num() * (size_t)o->of.width * PIECE,
                 o->sums + (size_t)c * row);
  SIM_TRY(comm->ops->gather(comm, o->sums + (size_t)comm->rank * sent, sent * sizeof(double), o->sums));
  for (size_t c = 0; c < pieces; c++) SIM_TRY(add_piece(o, step.level, o->sums + c * row));
  if (o->of.levels <= step.level) o->of.levels = step.level + 1;
  return SIM_OK;
}

/* ---- results ---- */

double option_levels_mean(const option_levels *o, int q) {
  double sum = 0;
  for (int l = 0; l < o->of.levels; l++) sum += o->of.mean[l * o->of.width + q];
  return sum;
}

double option_levels_error(const option_levels *o, int q) {
  if (o->of.levels < 2) return NAN;
  return hypot(sqrt(option_level_spread(&o->of, q)), option_level_bias(&o->of, q));
}
