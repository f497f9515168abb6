/* From paths to samples of every quantity, and from these to the means of blocks. */
#include "engine/reduce.h"
#include "kernels/option/option.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS_MAX = 3, MARKETS_MAX = OPTION_VARIANTS_MAX, LANES = 16, PILOT = 4 * OPTION_CHUNK };
/* The pilot's paths, far from all others. */
static const uint64_t pilot_first = UINT64_C(1) << 62;

typedef struct term {
  int market, output;
  double factor; /* with the discount */
} term;

/* A sample is the sum of its terms, less slope (control - its mean). */
typedef struct combination {
  term term[TERMS_MAX];
  int terms, control;
  double slope, control_mean, control_factor;
  double shift; /* near the mean: squares are taken about it */
} combination;

/* One thread's memory. */
typedef struct room {
  char *all;
  void **features, **outputs; /* [variants][features], [variants][outputs] of OPTION_CHUNK numbers */
  void *kernel, *program;
  double *sample, *control; /* [OPTION_CHUNK] */
} room;

struct option_sampler {
  bool single;
  sim_isa isa;
  int threads, markets, signs, quantities;
  option_market market[MARKETS_MAX];
  option_graph graph;
  sim_expr_program *program;
  option_path_kernel *kernel;
  option_paths paths;
  option_variant variant[OPTION_VARIANTS_MAX];
  void *numbers;            /* drifts, volatilities and the correlation's factor, in the kernel's precision */
  combination *combination; /* [quantities] */
  room *rooms;              /* [threads] */
  double *sums;             /* [chunks][quantities][2], of a batch */
};

/* ---- what is estimated ---- */

const char *const option_greek_names[OPTION_GREEKS] = {"delta", "gamma", "vega", "rho", "theta"};

static bool per_asset(int greek) { return greek <= OPTION_VEGA; }

int option_sampler_quantities(const option_parameters *p, option_quantity *out) {
  const int payoffs = option_payoff_count(p);
  int count = 0;
  for (int k = 0; k < payoffs; k++, count++)
    if (out != NULL) out[count] = (option_quantity){k, -1, 0};
  for (int k = 0; k < payoffs; k++)
    for (int g = 0; g < OPTION_GREEKS; g++)
      for (int a = 0; p->greeks.want[g] && a < (per_asset(g) ? (int)p->assets.count : 1); a++, count++)
        if (out != NULL) out[count] = (option_quantity){k, g, a};
  return count;
}

static option_bump bump_of(const option_parameters *p, int greek, int asset, double *width) {
  option_bump bump = {.asset = asset};
  switch (greek) {
  case OPTION_DELTA: *width = 2 * (bump.spot = 1e-3) * option_asset_at(p, asset)->spot; break;
  case OPTION_GAMMA: *width = (bump.spot = 1e-2) * option_asset_at(p, asset)->spot; break;
  case OPTION_VEGA: *width = 2 * (bump.vol = 1e-3); break;
  case OPTION_RHO: *width = 2 * (bump.rate = 1e-3); break;
  default: *width = -2 * (bump.maturity = 1e-3 * p->maturity); break;
  }
  return bump;
}

/* The markets that differ by the bump and by its opposite: *first and *first + 1. */
static sim_status add_markets(option_sampler *s, const option_parameters *p, const option_bump *bump, int *first) {
  const option_bump other = {bump->asset, -bump->spot, -bump->vol, -bump->rate, -bump->maturity};
  if ((s->markets + 2) * s->signs > MARKETS_MAX)
    return sim_fail(SIM_ERR_SCENARIO, "greeks: more than %d paths of the same random numbers are needed", MARKETS_MAX);
  *first = s->markets;
  SIM_TRY(option_market_create(p, bump, &s->market[s->markets++]));
  return option_market_create(p, &other, &s->market[s->markets++]);
}

static void combine(option_sampler *s, combination *c, int market, int output, double factor) {
  c->term[c->terms++] = (term){market, output, factor * s->market[market].discount};
}

/* Greek of all payoffs by one asset. */
static sim_status make_greek(option_sampler *s, const option_parameters *p, int greek, int asset) {
  const option_graph *g = &s->graph;
  option_quantity *quantity = calloc((size_t)s->quantities, sizeof *quantity);
  if (quantity == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the greeks");
  option_sampler_quantities(p, quantity);
  double width;
  const option_bump bump = bump_of(p, greek, asset, &width);
  int first = -1;
  sim_status status = SIM_OK;
  for (int q = 0; q < s->quantities && status == SIM_OK; q++) {
    if (quantity[q].greek != greek || quantity[q].asset != asset) continue;
    const int k = quantity[q].payoff, delta = g->delta[k][asset];
    const int direct = greek == OPTION_DELTA ? delta : greek == OPTION_GAMMA ? g->gamma[k][asset] : -1;
    combination *c = &s->combination[q];
    if (direct >= 0) {
      combine(s, c, 0, direct, 1);
      continue;
    }
    if (first < 0) status = add_markets(s, p, &bump, &first);
    if (status != SIM_OK) break;
    if (greek == OPTION_GAMMA && delta >= 0) { /* the graph divides by the spot that is not bumped */
      combine(s, c, first, delta, 1 / (2 * width * (1 + bump.spot)));
      combine(s, c, first + 1, delta, -1 / (2 * width * (1 - bump.spot)));
    } else if (greek == OPTION_GAMMA) {
      combine(s, c, first, k, 1 / (width * width));
      combine(s, c, 0, k, -2 / (width * width));
      combine(s, c, first + 1, k, 1 / (width * width));
    } else {
      combine(s, c, first, k, 1 / width);
      combine(s, c, first + 1, k, -1 / width);
    }
  }
  free(quantity);
  return status;
}

static sim_status make_combinations(option_sampler *s, const option_parameters *p) {
  const option_graph *g = &s->graph;
  for (int q = 0; q < s->quantities; q++) s->combination[q].control = -1;
  for (int k = 0; k < g->payoffs; k++) {
    combination *c = &s->combination[k];
    combine(s, c, 0, k, 1);
    c->control = g->control[k];
    c->control_mean = g->control_mean[k] * s->market[0].discount;
    c->control_factor = s->market[0].discount;
  }
  for (int greek = 0; greek < OPTION_GREEKS; greek++)
    for (int a = 0; p->greeks.want[greek] && a < (per_asset(greek) ? s->paths.assets : 1); a++)
      SIM_TRY(make_greek(s, p, greek, a));
  return SIM_OK;
}

/* ---- memory ---- */

static size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }

static size_t real_size(const option_sampler *s) { return s->single ? sizeof(float) : sizeof(double); }

static sim_status make_room(const option_sampler *s, room *r) {
  const size_t variants = (size_t)(s->markets * s->signs), chunk = OPTION_CHUNK * real_size(s);
  const size_t features = variants * (size_t)s->graph.features, outputs = variants * (size_t)s->graph.outputs;
  const size_t kernel = rounded(option_path_scratch(s->paths.assets, (int)variants));
  const size_t program = rounded(sim_expr_program_scratch(s->program) + 64);
  const size_t all = (features + outputs) * chunk + kernel + program + 2 * OPTION_CHUNK * sizeof(double);
  r->all = aligned_alloc(64, rounded(all));
  r->features = calloc(features + outputs + 1, sizeof(void *));
  if (r->all == NULL || r->features == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for paths");
  r->outputs = r->features + features;
  for (size_t i = 0; i < features + outputs; i++) r->features[i] = r->all + i * chunk;
  r->kernel = r->all + (features + outputs) * chunk;
  r->program = r->all + (features + outputs) * chunk + kernel;
  r->sample = (void *)(r->all + (features + outputs) * chunk + kernel + program);
  r->control = r->sample + OPTION_CHUNK;
  return SIM_OK;
}

/* A double in the kernel's precision at place `i`. */
static void put(const option_sampler *s, void *at, size_t i, double value) {
  if (s->single)
    ((float *)at)[i] = (float)value;
  else
    ((double *)at)[i] = value;
}

static sim_status make_variants(option_sampler *s, const option_parameters *p) {
  const size_t assets = (size_t)s->paths.assets, numbers = assets * (size_t)s->paths.steps, size = real_size(s);
  const int variants = s->markets * s->signs;
  double *cholesky = calloc(assets * assets, sizeof *cholesky);
  s->numbers = aligned_alloc(64, rounded((2 * numbers * (size_t)variants + assets * assets) * size));
  if (cholesky == NULL || s->numbers == NULL) {
    free(cholesky);
    return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the market");
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
    const option_market *market = &s->market[v / s->signs];
    const double sign = v % s->signs == 1 ? -1 : 1;
    s->variant[v] = (option_variant){at, at + numbers * size, market->spot};
    for (size_t i = 0; i < numbers; i++) {
      put(s, at, i, market->drift[i]);
      put(s, at, numbers + i, sign * market->vol[i]);
    }
    for (size_t a = 0; a < assets; a++) {
      double reach = 0;
      for (size_t i = a; i < numbers; i += assets)
        reach += fabs(market->drift[i]) + market->vol[i] * share * option_normal_max;
      farthest = fmax(farthest, reach);
    }
    at += 2 * numbers * size;
  }
  for (size_t i = 0; i < assets * assets; i++) put(s, at, i, cholesky[i]);
  s->paths.cholesky = at;
  s->paths.far = farthest > (s->single ? 120 : 1000);
  free(cholesky);
  return status;
}

/* ---- samples ---- */

static void add_output(const option_sampler *s, const room *r, int market, int output, double factor, int count,
                       double *sample) {
  for (int sign = 0; sign < s->signs; sign++) {
    const void *from = r->outputs[(market * s->signs + sign) * s->graph.outputs + output];
    const double f = factor / s->signs;
    if (s->single)
      for (int i = 0; i < count; i++) sample[i] += f * (double)((const float *)from)[i];
    else
      for (int i = 0; i < count; i++) sample[i] += f * ((const double *)from)[i];
  }
}

static void sum(const double *sample, int count, double shift, double *out) {
  double first[LANES] = {0}, second[LANES] = {0};
  for (int i = 0; i + LANES <= count; i += LANES)
    for (int l = 0; l < LANES; l++) {
      const double d = sample[i + l] - shift;
      first[l] += d;
      second[l] += d * d;
    }
  for (int i = count / LANES * LANES; i < count; i++) {
    const double d = sample[i] - shift;
    first[i % LANES] += d;
    second[i % LANES] += d * d;
  }
  out[0] = sim_reduce_tree(first, LANES);
  out[1] = sim_reduce_tree(second, LANES);
}

/* Payoffs of a chunk of paths. */
static void walk(const option_sampler *s, const room *r, uint64_t first, int count) {
  s->kernel(&s->paths, first, count, r->features, r->kernel);
  for (int v = 0; v < s->paths.variants; v++)
    sim_expr_program_run(s->program, (size_t)count, (const void *const *)(r->features + v * s->graph.features),
                         r->outputs + v * s->graph.outputs, r->program);
}

/* Samples of a quantity without its control, and of the control. */
static void take(const option_sampler *s, const room *r, const combination *c, int count) {
  memset(r->sample, 0, (size_t)count * sizeof *r->sample);
  for (int t = 0; t < c->terms; t++)
    add_output(s, r, c->term[t].market, c->term[t].output, c->term[t].factor, count, r->sample);
  if (c->control < 0) return;
  memset(r->control, 0, (size_t)count * sizeof *r->control);
  add_output(s, r, 0, c->control, c->control_factor, count, r->control);
}

static void sample_chunk(const option_sampler *s, const room *r, uint64_t first, int count, double *sums) {
  walk(s, r, first, count);
  for (int q = 0; q < s->quantities; q++) {
    const combination *c = &s->combination[q];
    take(s, r, c, count);
    if (c->control >= 0)
      for (int i = 0; i < count; i++) r->sample[i] -= c->slope * (r->control[i] - c->control_mean);
    sum(r->sample, count, c->shift, sums + 2 * q);
  }
}

/* Slopes of the controls, and a number near each mean. */
static void pilot(option_sampler *s) {
  enum { Y, X, XX, XY, MOMENTS };
  const room *r = &s->rooms[0];
  const double n = PILOT;
  double *moments = s->sums; /* [quantities][MOMENTS] */
  memset(moments, 0, MOMENTS * (size_t)s->quantities * sizeof *moments);
  for (int chunk = 0; chunk < PILOT / OPTION_CHUNK; chunk++) {
    walk(s, r, pilot_first + (uint64_t)(chunk * OPTION_CHUNK), OPTION_CHUNK);
    for (int q = 0; q < s->quantities; q++) {
      const combination *c = &s->combination[q];
      double *m = moments + MOMENTS * q;
      take(s, r, c, OPTION_CHUNK);
      for (int i = 0; i < OPTION_CHUNK; i++) {
        m[Y] += r->sample[i];
        if (c->control < 0) continue;
        const double d = r->control[i] - c->control_mean;
        m[X] += d;
        m[XX] += d * d;
        m[XY] += d * r->sample[i];
      }
    }
  }
  for (int q = 0; q < s->quantities; q++) {
    combination *c = &s->combination[q];
    const double *m = moments + MOMENTS * q, spread = m[XX] - m[X] * m[X] / n;
    c->slope = c->control >= 0 && spread > 0 ? (m[XY] - m[X] * m[Y] / n) / spread : 0;
    c->shift = isfinite(m[Y]) ? (m[Y] - c->slope * m[X]) / n : 0;
  }
}

/* Every sum of a block by the tree: [chunks][quantities][2] -> mean and squared deviations. */
static void close_block(const option_sampler *s, const double *sums, int chunks, int64_t count, double *mean,
                        double *squares) {
  for (int q = 0; q < s->quantities; q++) {
    double part[2][OPTION_CHUNKS];
    for (int c = 0; c < chunks; c++)
      for (int k = 0; k < 2; k++) part[k][c] = sums[2 * ((size_t)c * (size_t)s->quantities + (size_t)q) + (size_t)k];
    const double first = sim_reduce_tree(part[0], (size_t)chunks), second = sim_reduce_tree(part[1], (size_t)chunks);
    mean[q] = s->combination[q].shift + first / (double)count;
    squares[q] = fmax(second - first * first / (double)count, 0);
    if (isnan(second)) squares[q] = NAN;
  }
}

sim_status option_sample(option_sampler *s, int64_t first, int64_t count, double *mean, double *squares) {
  const int chunks = (int)((count + OPTION_CHUNK - 1) / OPTION_CHUNK);
  const size_t row = 2 * (size_t)s->quantities;
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads)
  for (int c = 0; c < chunks; c++) {
    const int64_t left = count - (int64_t)c * OPTION_CHUNK;
    sample_chunk(s, &s->rooms[omp_get_thread_num()], (uint64_t)(first + (int64_t)c * OPTION_CHUNK),
                 (int)(left < OPTION_CHUNK ? left : OPTION_CHUNK), s->sums + (size_t)c * row);
  }
  for (int b = 0; b * OPTION_CHUNKS < chunks; b++) {
    const int here = chunks - b * OPTION_CHUNKS < OPTION_CHUNKS ? chunks - b * OPTION_CHUNKS : OPTION_CHUNKS;
    const int64_t left = count - (int64_t)b * OPTION_BLOCK;
    close_block(s, s->sums + (size_t)(b * OPTION_CHUNKS) * row, here, left < OPTION_BLOCK ? left : OPTION_BLOCK,
                mean + b * s->quantities, squares + b * s->quantities);
  }
  return SIM_OK;
}

/* ---- beginning and end ---- */

static sim_status make(option_sampler *s, const option_parameters *p, const sim_setup *setup) {
  s->single = p->common.precision != SIM_DOUBLE;
  s->isa = setup->isa;
  s->threads = setup->threads;
  s->signs = p->sampling.antithetic ? 2 : 1;
  s->kernel = option_path_find(s->single, s->isa);
  if (s->kernel == NULL) return sim_fail(SIM_ERR_INTERNAL, "no paths for %s", sim_isa_name(s->isa));
  s->paths = (option_paths){.seed = p->common.seed, .assets = (int)p->assets.count, .steps = (int)p->steps};
  SIM_TRY(option_market_create(p, NULL, &s->market[s->markets++]));
  SIM_TRY(option_graph_create(p, &s->market[0], &s->graph));
  s->quantities = option_sampler_quantities(p, NULL);
  s->combination = calloc((size_t)s->quantities, sizeof *s->combination);
  s->rooms = calloc((size_t)s->threads, sizeof *s->rooms);
  s->sums = calloc((size_t)OPTION_BATCH * OPTION_CHUNKS * 2, (size_t)s->quantities * sizeof(double));
  if (s->combination == NULL || s->rooms == NULL || s->sums == NULL)
    return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the sums");
  SIM_TRY(make_combinations(s, p));
  s->paths.variants = s->markets * s->signs;
  s->paths.features = s->graph.features;
  s->paths.feature = s->graph.feature;
  s->paths.variant = s->variant;
  SIM_TRY(sim_expr_program_create(s->graph.expr, &(sim_expr_target){.single = s->single, .isa = s->isa}, &s->program));
  SIM_TRY(make_variants(s, p));
  for (int t = 0; t < s->threads; t++) SIM_TRY(make_room(s, &s->rooms[t]));
  pilot(s);
  return SIM_OK;
}

sim_status option_sampler_create(const option_parameters *p, const sim_setup *setup, option_sampler **out) {
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the model");
  const sim_status status = make(*out, p, setup);
  if (status != SIM_OK) option_sampler_destroy(out);
  return status;
}

void option_sampler_destroy(option_sampler **sampler) {
  option_sampler *s = *sampler;
  if (s == NULL) return;
  for (int t = 0; s->rooms != NULL && t < s->threads; t++) {
    free(s->rooms[t].all);
    free(s->rooms[t].features);
  }
  for (int m = 0; m < s->markets; m++) option_market_free(&s->market[m]);
  option_graph_free(&s->graph);
  sim_expr_program_free(&s->program);
  free(s->rooms);
  free(s->sums);
  free(s->combination);
  free(s->numbers);
  free(s);
  *sampler = NULL;
}

double option_sampler_bytes(const option_parameters *p, const sim_setup *setup) {
  const double real = p->common.precision != SIM_DOUBLE ? sizeof(float) : sizeof(double),
               payoffs = option_payoff_count(p);
  const double assets = (double)p->assets.count, quantities = option_sampler_quantities(p, NULL);
  const double variants = (p->sampling.antithetic ? 2 : 1) * (1 + 2 * fmin(quantities - payoffs, 5 * assets));
  const double shown = variants * (fmin(3 * assets + payoffs, OPTION_FEATURES_MAX) + quantities + payoffs);
  const double steps = (double)p->steps * assets * variants * 2 * (real + sizeof(double));
  return steps + setup->threads * (shown * OPTION_CHUNK * real + 0x1p18) +
         quantities * OPTION_BATCH * OPTION_CHUNKS * 2 * sizeof(double);
}

const char *option_sampler_name(const option_sampler *s) { return sim_isa_name(s->isa); }
