/* The first paths of a run: simulated once more on the CPU, with the run's own random numbers and precision. */
#include "kernels/option/result/paths.h"

#include "kernels/option/cpu/sampler.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* What is written: prices of all assets, Heston's variances, SABR's sigma, the deflator of a random rate. */
enum { PRICE, VARIANCE, SIGMA, DEFLATOR, KINDS };

typedef struct path_book {
  const option_parameters *p;
  option_sampler *sampler;
  int times, assets, *step; /* step[times], from step 0 on; owned */
  option_feature *feature;  /* [kinds that are given][assets or 1][times - 1], owned */
  int features;
  bool given[KINDS];
  double *out[KINDS]; /* [count][assets or 1][times]; in one allocation */
} path_book;

static int assets_of(const path_book *b, int kind) { return kind == DEFLATOR ? 1 : b->assets; }

static bool is_given(const option_parameters *p, int kind) {
  bool any = kind == PRICE || (kind == DEFLATOR && p->hull_white.given);
  for (int a = 0; a < (int)p->assets.count; a++) {
    const option_asset *of = option_asset_at(p, a);
    any |= (kind == VARIANCE && of->heston.given) || (kind == SIGMA && of->sabr.given);
  }
  return any;
}

/* Times that are written, with time 0. */
static double times_of(const option_parameters *p) {
  const option_path_output *o = &p->paths;
  return 1 + (o->dates.rows > 0 ? (double)o->dates.rows : floor((double)p->steps / fmax((double)o->every, 1)));
}

double option_path_numbers(const option_parameters *p) {
  double numbers = 0;
  if (!p->paths.given) return 0;
  for (int k = 0; k < KINDS; k++)
    if (is_given(p, k)) numbers += k == DEFLATOR ? 1 : (double)p->assets.count;
  return ((double)p->paths.count + 1) * numbers * times_of(p) * sizeof(double);
}

double option_path_bytes(const option_parameters *p, const sim_setup *host) {
  const double each = option_path_numbers(p) / ((double)p->paths.count + 1); /* of a path, as a kernel writes it */
  if (!p->paths.given) return 0;
  return option_path_numbers(p) + option_ops_cpu.bytes(p, host) +
         (p->sampling.antithetic ? 2 : 1) * each * OPTION_CHUNK * fmax(host->threads, 1);
}

static void list_steps(path_book *b) {
  const option_path_output *o = &b->p->paths;
  const option_grid *grid = &b->sampler->estimate.market[0].grid;
  for (int k = 1; k < b->times; k++) {
    const double t = o->dates.rows > 0 ? o->dates.data[k - 1]
                                       : b->p->maturity * (k * fmax((double)o->every, 1) / (double)b->p->steps);
    b->step[k] = option_grid_at(grid, t);
  }
}

static void list_features(path_book *b) {
  static const option_kind kinds[KINDS] = {OPTION_FIXING, OPTION_VARIANCE, OPTION_VARIANCE, OPTION_DEFLATOR};
  option_feature *of = b->feature;
  for (int k = 0; k < KINDS; k++)
    for (int a = 0; b->given[k] && a < assets_of(b, k); a++)
      for (int t = 1; t < b->times; t++)
        *of++ = (option_feature){.kind = kinds[k], .asset = k == DEFLATOR ? -1 : a, .step = b->step[t]};
  b->features = (int)(of - b->feature);
}

/* Value at time 0. */
static double first_value(const path_book *b, int kind, int asset) {
  const option_asset *of = option_asset_at(b->p, asset);
  switch (kind) {
  case PRICE: return of->spot;
  case VARIANCE: return of->heston.given ? of->heston.v : NAN;
  case SIGMA: return of->sabr.given ? of->sabr.alpha : NAN;
  default: return 1;
  }
}

/* Factor of a number of the kernel: sigma is kept as the volatility at the spot. */
static double factor_of(const path_book *b, int kind, int asset) {
  const option_asset *of = option_asset_at(b->p, asset);
  if (kind == VARIANCE) return of->heston.given ? 1 : NAN;
  if (kind == SIGMA) return of->sabr.given ? pow(of->spot, 1 - of->sabr.beta) : NAN;
  return 1;
}

/* Copies the numbers of one variant of a chunk to paths first, first + stride, ... */
static void copy_chunk(const path_book *b, void *const *from, int samples, int64_t first, int stride) {
  for (int k = 0; k < KINDS; k++)
    for (int a = 0; b->given[k] && a < assets_of(b, k); a++, from += b->times - 1) {
      const double factor = factor_of(b, k, a), start = first_value(b, k, a);
      for (int i = 0; i < samples; i++) {
        const int64_t path = first + (int64_t)i * stride;
        if (path >= b->p->paths.count) break;
        double *to = b->out[k] + ((size_t)path * (size_t)assets_of(b, k) + (size_t)a) * (size_t)b->times;
        to[0] = start;
        for (int t = 1; t < b->times; t++)
          to[t] = factor *
                  (b->sampler->single ? (double)((const float *)from[t - 1])[i] : ((const double *)from[t - 1])[i]);
      }
    }
}

/* Simulates one chunk into room[variants * features][OPTION_CHUNK]; false where a local volatility is invalid. */
static bool simulate(const path_book *b, int64_t sample, char *room, void **out) {
  const option_sampler *s = b->sampler;
  option_paths paths = s->paths;
  const size_t row = OPTION_CHUNK * (s->single ? sizeof(float) : sizeof(double));
  paths.features = b->features;
  paths.feature = b->feature;
  for (int i = 0; i < b->features * paths.variants; i++) out[i] = room + (size_t)i * row;
  const bool valid =
      s->kernel(&paths, option_path_of(s, sample), s->chunk, out, s->workspaces[omp_get_thread_num()].kernel);
  for (int v = 0; v < paths.variants; v++)
    copy_chunk(b, out + v * b->features, s->chunk, sample * paths.variants + v, paths.variants);
  return valid;
}

static sim_status simulate_all(path_book *b) {
  const option_sampler *s = b->sampler;
  const int variants = s->paths.variants;
  const int64_t samples = (b->p->paths.count + variants - 1) / variants, chunks = (samples + s->chunk - 1) / s->chunk;
  const size_t each = (size_t)b->features * (size_t)variants;
  const size_t bytes = each * OPTION_CHUNK * (s->single ? sizeof(float) : sizeof(double));
  char *room = aligned_alloc(64, (bytes + 63) / 64 * 64 * (size_t)s->threads);
  void **out = calloc(each * (size_t)s->threads, sizeof *out);
  int wrong = 0; /* whether a path of any thread is invalid */
  if (room != NULL && out != NULL) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads)
    for (int64_t c = 0; c < chunks; c++) {
      const size_t thread = (size_t)omp_get_thread_num();
      if (simulate(b, c * s->chunk, room + thread * ((bytes + 63) / 64 * 64), out + thread * each)) continue;
#pragma omp atomic write
      wrong = 1;
    }
  }
  const sim_status status = room == NULL || out == NULL ? sim_no_memory("the paths")
                            : wrong == 0
                                ? SIM_OK
                                : sim_fail(SIM_ERR_DIVERGED, "paths: a local volatility is not finite on a path");
  free(room);
  free(out);
  return status;
}

static sim_status make(path_book *b, const option_run *run) {
  option_parameters q = *b->p;
  const sim_setup host = option_host_setup(&run->setup);
  q.greeks = (option_greeks){.method = OPTION_AUTO};
  SIM_TRY(option_sampler_paths(&q, &host, &b->sampler));
  b->times = (int)times_of(b->p);
  b->step = calloc((size_t)b->times, sizeof *b->step);
  b->feature = calloc(KINDS * (size_t)b->assets * (size_t)b->times, sizeof *b->feature);
  if (b->step == NULL || b->feature == NULL) return sim_no_memory("the paths");
  list_steps(b);
  list_features(b);
  return SIM_OK;
}

/* Places the arrays of all kinds in run->dataset, before the numbers of the assets and the times. */
static sim_status make_arrays(path_book *b, option_run *run) {
  const size_t each = (size_t)b->p->paths.count * (size_t)b->times;
  const size_t count = (size_t)b->p->paths.count;
  size_t numbers = count + (size_t)b->assets + (size_t)b->times;
  for (int k = 0; k < KINDS; k++) numbers += b->given[k] ? each * (size_t)assets_of(b, k) : 0;
  free(run->dataset);
  double *at = run->dataset = calloc(numbers, sizeof *run->dataset);
  if (at == NULL) return sim_no_memory("the paths");
  for (size_t i = 0; i < count; i++) *at++ = (double)i;
  for (int a = 0; a < b->assets; a++) *at++ = a + 1;
  for (int t = 0; t < b->times; t++) *at++ = b->sampler->estimate.market[0].grid.time[b->step[t]];
  for (int k = 0; k < KINDS; k++) {
    b->out[k] = at;
    at += b->given[k] ? each * (size_t)assets_of(b, k) : 0;
  }
  return SIM_OK;
}

static void describe(const path_book *b, const option_run *run, sim_dataset *out) {
  static const char *const names[KINDS][2] = {
      [PRICE] = {"price", "price of each asset, in its own currency, after cash dividends of that time"},
      [VARIANCE] = {"variance", "Heston's variance; NaN of assets without one"},
      [SIGMA] = {"sigma", "SABR's sigma; NaN of assets without one"},
      [DEFLATOR] = {"deflator", "discount factor along the path, over that of the forward rates `rate`"}};
  const size_t count = (size_t)b->p->paths.count;
  *out = (sim_dataset){.name = "paths",
                       .doc = "the first paths of the run",
                       .axes = {{.name = "path",
                                 .doc = "number of the path, from 0 on",
                                 .count = (int64_t)count,
                                 .values = run->dataset},
                                {.name = "asset",
                                 .doc = "number of the asset, from 1 on",
                                 .count = b->assets,
                                 .values = run->dataset + count},
                                {.name = "time",
                                 .doc = "time",
                                 .unit = "years",
                                 .count = b->times,
                                 .values = run->dataset + count + b->assets}},
                       .axis_count = 3};
  for (int k = 0; k < KINDS; k++) {
    if (!b->given[k]) continue;
    sim_variable *v = &out->variables[out->variable_count++];
    *v = (sim_variable){.name = names[k][0], .doc = names[k][1], .rank = 3, .axis = {0, 1, 2}, .data = b->out[k]};
    if (k == PRICE) v->unit = "money";
    if (k == DEFLATOR) v->rank = 2, v->axis[1] = 2;
  }
}

sim_status option_path_dataset(option_run *run, sim_dataset *out) {
  path_book b = {.p = run->parameters, .assets = (int)run->parameters->assets.count};
  for (int k = 0; k < KINDS; k++) b.given[k] = is_given(b.p, k);
  sim_status status = make(&b, run);
  if (status == SIM_OK) status = make_arrays(&b, run);
  if (status == SIM_OK) status = simulate_all(&b);
  if (status == SIM_OK) describe(&b, run, out);
  if (b.sampler != NULL) option_ops_cpu.destroy(&b.sampler);
  free(b.step);
  free(b.feature);
  return status;
}
