/* The operations on an NVIDIA GPU: a kernel compiled for the run, launched for several blocks at a time. Each rank
 * computes its share of the blocks of a step, and their sums are gathered on the host. Twin: cpu/ops.c. */
#include "engine/device/cuda.h"
#include "kernels/option/cpu/leverage.h"
#include "kernels/option/cuda/plan.h"
#include "kernels/option/random/mrg.h"
#include "kernels/option/models/rough.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct option_sampler {
  const sim_comm *comm;
  option_estimate estimate;
  option_policies policies;
  option_cuda_plan plan;
  sim_module *module;
  sim_bytes text;        /* source of the kernels, kept until it is compiled */
  void *sample, *gather; /* kernels of the compiled source */
  option_keys keys;
  void *table, *constants; /* table: device memory; constants: host memory */
  double *partial, *sums;  /* device memory, of this rank: [parts][quantities][2], [blocks][quantities][2] */
  double *host;            /* [blocks + ranks][quantities][2], of all ranks */
  void *tables;            /* device memory: Sobol tables */
  option_points points;
  int batch, scrambles, block;      /* scrambles = 0: pseudo-random numbers; block: samples of a logical block */
  int64_t all;                      /* samples of the run; 0: unknown, the run ends when its accuracy is reached */
  int64_t ahead_first, ahead_count; /* samples that are queued and not requested yet */
  char name[48];
};

/* A thread keeps the Brownian motions of its path in local memory, and the normals of rough volatilities: 8 bytes a
 * dimension on 3e5 threads are 2 GiB. */
enum { DIMENSIONS_MAX = 1024 };

/* Steps times assets with matched moments: two numbers each in shared memory, beside the sums of 256 quantities: 12
 * KiB in fp64. */
enum { MATCHED_MAX = 768 };

/* Normals of rough volatilities that a path keeps. */
static double rough_normals(const option_parameters *p) {
  double assets = 0;
  for (int a = 0; a < (int)p->assets.count; a++) assets += option_asset_at(p, a)->rough_bergomi.given;
  return assets * (double)p->nodes;
}

/* Limits that only the estimate and its plan tell: where these cannot be made, the run says why. */
static bool estimate_fits(const option_parameters *p, char *lacks, size_t capacity) {
  const double signs = p->sampling.antithetic ? 2 : 1, terms = 4; /* of a combination, about */
  const double features = (double)p->nodes * (double)p->assets.count;
  option_estimate e;
  option_cuda_plan plan;
  int markets = 0, views = 0;
  if (option_quantities(p, NULL) * terms * signs * fmax(1, features) <= OPTION_CUDA_VARIANTS) return true;
  if (option_estimate_create(p, true, &e) != SIM_OK) return true;
  markets = e.markets * e.signs;
  if (markets <= OPTION_CUDA_VARIANTS && option_cuda_plan_create(p, &e, &plan) == SIM_OK) {
    views = plan.views > SIM_EXPR_INPUTS_MAX ? option_cuda_views_together(&plan) : 0;
    option_cuda_plan_free(&plan);
  }
  option_estimate_free(&e);
  if (markets > OPTION_CUDA_VARIANTS)
    snprintf(lacks, capacity, "Greeks and ladders by more than %d paths of the same random numbers are",
             OPTION_CUDA_VARIANTS);
  else if (views > SIM_EXPR_INPUTS_MAX)
    snprintf(lacks, capacity, "results that together see more than %d numbers of a path are", SIM_EXPR_INPUTS_MAX);
  return markets <= OPTION_CUDA_VARIANTS && views <= SIM_EXPR_INPUTS_MAX;
}

static bool supports(const option_parameters *p, char *lacks, size_t capacity) {
  for (int g = OPTION_SECOND; g < OPTION_BUCKETS; g++)
    if (p->greeks.want[g] && option_is_single(p)) { /* rounding of fp32 over the squares of the steps is in no error */
      snprintf(lacks, capacity, "greeks.%s without precision = \"double\" is", option_greek_names[g]);
      return false;
    }
  if (p->sampling.multilevel) {
    snprintf(lacks, capacity, "multilevel runs are");
    return false;
  }
  if (p->sampling.sequence == OPTION_SOBOL && option_quasi_dimensions(p) > DIMENSIONS_MAX) {
    snprintf(lacks, capacity, "Sobol points of more than %d dimensions are", DIMENSIONS_MAX);
    return false;
  }
  if (rough_normals(p) > DIMENSIONS_MAX) {
    snprintf(lacks, capacity, "rough Bergomi assets of more than %d steps times assets are", DIMENSIONS_MAX);
    return false;
  }
  if (p->sampling.moment_matching && p->nodes * (int64_t)p->assets.count > MATCHED_MAX) {
    snprintf(lacks, capacity, "matched moments of more than %d steps times assets are", MATCHED_MAX);
    return false;
  }
  return estimate_fits(p, lacks, capacity);
}

/* ---- sizes ---- */

/* Blocks of a step: some milliseconds of work, the same number on every GPU, so that tables have the same rows. */
static int batch(const option_parameters *p) {
  const double work = (double)p->nodes * (double)p->assets.count * OPTION_BLOCK;
  const double quantities = option_quantities(p, NULL);
  const double blocks = fmin(fmin(0x1p33 / work, 0x1p14), 0x1p17 / quantities);
  return (int)fmax(floor(blocks / OPTION_GROUP), 4) * OPTION_GROUP;
}

static int64_t divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Parts of a logical block. */
static int block_parts(const option_sampler *s) { return (int)divide(s->block, s->plan.part); }
static int parts_of(const option_sampler *s, int64_t count) {
  return s->scrambles > 0 ? (int)(count / s->block) * block_parts(s) : (int)divide(count, s->plan.part);
}

/* Numbers of the joint exercise rules in one market. */
static double joint_numbers(const option_parameters *p) {
  double sum = 0;
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    if (p->payoffs.items[i].schema != &option_american_schema) continue;
    if (option_rule_is_joint(p, o)) sum += (1.0 + option_joint_bases(p, o)) * (double)option_date_count(p, o);
  }
  return sum * (p->sampling.antithetic ? 2 : 1);
}

/* Estimated device memory in bytes; before a plan exists with the smallest part. */
static double bytes(const option_parameters *p, const sim_setup *setup) {
  const double real = option_is_single(p) ? sizeof(float) : sizeof(double), blocks = batch(p);
  const double quantities = option_quantities(p, NULL), assets = (double)p->assets.count;
  const double parts =
      blocks * fmax(p->sampling.moment_matching ? OPTION_CHUNKS : OPTION_BLOCK / (8 * OPTION_CUDA_THREADS),
                    2 * option_groups(p));
  const double greeks = option_step_kinds(p) * (5 * assets + p->buckets[0] + p->buckets[1]);
  const double lines = assets * (1 + 2 * fmin(quantities - option_payoff_count(p), greeks));
  const bool quasi = p->sampling.sequence == OPTION_SOBOL;
  const double motions = 0x1p18 * real * (rough_normals(p) + (quasi ? option_quasi_dimensions(p) : 0));
  /* rows of dates: of lines their times, kinds and dividends, of payoffs schedules and dates of exercise; and constants
   * of as many kinds of steps as there may be */
  bool moved = false;
  for (int a = 0; a < (int)p->assets.count; a++) moved |= !option_asset_is_gbm(option_asset_at(p, a));
  const double kinds = moved ? OPTION_CUDA_DYNAMICS_NUMBERS + OPTION_JUMPS_MAX : 0;
  const double rates = p->hull_white.given ? 3 * (5 + 2 * assets + 2) : 0; /* of theta's two markets too */
  const double rows = (option_is_dated(p) ? (3 + kinds) * lines : 0) + (double)p->payoffs.count * (assets + 1) + rates;
  const double weights = option_rough_bytes(p) / sizeof(double) * real * lines / assets;
  return option_policy_bytes(p, setup->comm->size) + option_quasi_bytes(p) + motions + weights +
         (3 * lines + rows) * ((double)p->nodes + 4) * real + joint_numbers(p) * lines / assets * real +
         ceil((parts + blocks) / setup->comm->size) * quantities * 2 * sizeof(double);
}

/* ---- launches ---- */

static int blocks_of(const option_sampler *s, int64_t count) { return (int)divide(count, s->block); }

/* Enqueues the sums of `count` samples from `first` on, block by block, into `sums` (device memory). */
static void queue(option_sampler *s, int64_t first, int64_t count, bool pilot, double *sums) {
  static const sim_kernel sampling = {"option_sample", "paths", SIM_LIMIT_FP32},
                          gathering = {"option_gather", "sums", SIM_LIMIT_BYTES};
  option_range range = {(unsigned long long)first, (unsigned long long)count, (unsigned)s->block,
                        pilot ? 0 : (unsigned)s->scrambles, !pilot && s->plan.matched};
  int parts = pilot ? (int)divide(count, s->plan.part) : parts_of(s, count), numbers = 2 * s->estimate.quantities;
  int per_block = pilot ? parts : block_parts(s), matched = !pilot && s->plan.matched;
  const int blocks = pilot ? 1 : blocks_of(s, count);
  /* 18 multiply-add instructions a path-step for the normals; payoffs and Greeks are not counted */
  const double work = 18.0 * (double)count * s->plan.steps * s->plan.assets;
  option_cuda_launch(&sampling, work, s->sample, parts, OPTION_CUDA_THREADS,
                     (void *[]){s->constants, &s->keys, &s->table, &range, &s->points, &s->partial});
  option_cuda_launch(&gathering, 8.0 * parts * numbers, s->gather, (blocks * numbers + 127) / 128, 128,
                     (void *[]){&s->partial, &parts, &per_block, &numbers, &matched, &sums});
}

/* Enqueues the blocks of this rank among those of `count` samples from `first` on. */
static void queue_own(option_sampler *s, int64_t first, int64_t count) {
  size_t end;
  const int64_t own = (int64_t)sim_comm_first(s->comm, (size_t)blocks_of(s, count), &end) * s->block;
  const int64_t last = (int64_t)end * s->block < count ? (int64_t)end * s->block : count;
  if (own < last) queue(s, first + own, last - own, false, s->sums);
}

/* Waits for the sums of these samples of all ranks in s->host. Enqueues the next range before it returns, so that the
 * device works while the host adds blocks up. */
static sim_status run(option_sampler *s, int64_t first, int64_t count) {
  const size_t numbers = 2 * (size_t)s->estimate.quantities, blocks = (size_t)blocks_of(s, count);
  const size_t sent = sim_comm_share(s->comm, blocks) * numbers;
  double *own = s->host + (size_t)s->comm->rank * sent;
  size_t end, begin = sim_comm_first(s->comm, blocks, &end);
  if (first != s->ahead_first || count != s->ahead_count) queue_own(s, first, count);
  s->ahead_count = 0;
  if (begin < end) SIM_TRY(sim_backend_cuda.copy(own, s->sums, (end - begin) * numbers * sizeof(double)));
  if (s->all - first > count) {
    const int64_t left = s->all - first - count, most = (int64_t)s->batch * OPTION_BLOCK;
    s->ahead_first = first + count;
    s->ahead_count = left < most ? left : most;
    queue_own(s, s->ahead_first, s->ahead_count);
  }
  SIM_TRY(sim_queue_cuda.status());
  return s->comm->ops->gather(s->comm, own, sent * sizeof(double), s->host);
}

/* ---- the pilot ---- */

enum { PILOTS = 3 }; /* slopes that the pilot is made with */

static double get(const option_sampler *s, int i) {
  return s->plan.single ? (double)((const float *)s->constants)[i] : ((const double *)s->constants)[i];
}

static void set_shift(option_sampler *s, int q, double shift, double slope) {
  const int at = s->plan.at_quantity + 2 * q;
  if (s->plan.vanilla) { /* a number that is subtracted from an fp32 price is rounded to fp32 */
    const option_plain *plain = &s->estimate.graph.plain[0];
    slope = (double)(float)(-plain->sign * plain->strike - shift);
    shift = -plain->sign * plain->strike - slope;
  }
  if (s->plan.single) {
    ((float *)s->constants)[at] = (float)shift;
    ((float *)s->constants)[at + 1] = (float)slope;
  } else {
    ((double *)s->constants)[at] = shift;
    ((double *)s->constants)[at + 1] = slope;
  }
}

/* The known mean of a control in the kernel's unit. */
static double known_mean(const option_sampler *s, const option_combination *c) {
  return s->plan.signs * c->control_mean / c->control_factor;
}

/* Control coefficients from the second moments of v - slope x at the slopes 0, 1 and -1, and a shift near each mean;
 * on the same paths as the CPU. Every rank computes all of it. */
static sim_status pilot(option_sampler *s) {
  static const double slopes[PILOTS] = {0, 1, -1};
  const int quantities = s->estimate.quantities;
  const size_t numbers = 2 * (size_t)quantities;
  for (int k = 0; k < PILOTS; k++) { /* a launch takes the constants as they are */
    for (int q = 0; q < quantities; q++) set_shift(s, q, 0, slopes[k]);
    queue(s, (int64_t)OPTION_PILOT_FIRST, OPTION_PILOT, true, s->sums + (size_t)k * numbers);
  }
  SIM_TRY(sim_backend_cuda.copy(s->host, s->sums, PILOTS * numbers * sizeof(double)));
  option_moments *mean = calloc((size_t)quantities, sizeof *mean); /* of the control itself, in the kernel's unit */
  if (mean == NULL) return sim_no_memory("the pilot");
  for (int q = 0; q < quantities; q++) {
    double m[PILOTS], v[PILOTS]; /* means of v - slope x, and of its square */
    for (int k = 0; k < PILOTS; k++) {
      m[k] = s->host[(size_t)k * numbers + 2 * (size_t)q] / OPTION_PILOT;
      v[k] = s->host[(size_t)k * numbers + 2 * (size_t)q + 1] / OPTION_PILOT;
    }
    mean[q] = (option_moments){m[0], (m[2] - m[1]) / 2, (v[1] + v[2]) / 2 - v[0], (v[2] - v[1]) / 4};
  }
  for (int q = 0; q < quantities; q++) {
    const option_combination *c = &s->estimate.combination[q], *price = &s->estimate.combination[c->carried];
    const option_moments *of = &mean[q], *carried = &mean[c->carried];
    const double spread = of->xx - of->x * of->x;
    const bool used =
        c->control >= 0 && spread > 0 &&
        option_is_carried(OPTION_PILOT * carried->x, OPTION_PILOT * carried->xx, known_mean(s, price), OPTION_PILOT);
    double slope = used ? (of->xy - of->x * of->y) / spread : 0;
    if (!isfinite(slope)) slope = 0;
    set_shift(s, q, isfinite(of->y) ? of->y - slope * of->x : 0, slope);
  }
  free(mean);
  return SIM_OK;
}

/* ---- constants and samples ---- */

/* Whether no path has paid: each then contributes -shift, up to the rounding of the sum. */
static bool never_paid(double shift, const double *sums, double n) {
  return shift != 0 && fabs(shift + sums[0] / n) <= 1e-6 * fabs(shift) &&
         fabs(sums[1] / n - shift * shift) <= 1e-6 * shift * shift;
}

static sim_status sample(option_sampler *s, int64_t first, int64_t count, double *mean, double *squares,
                         double *tails) {
  SIM_TRY(run(s, first, count));
  const int quantities = s->estimate.quantities;
  for (int64_t b = 0; b * s->block < count; b++) {
    const double n = (double)(count - b * s->block < s->block ? count - b * s->block : s->block);
    for (int q = 0; q < quantities; q++) {
      const option_combination *c = &s->estimate.combination[q];
      const double *sums = s->host + 2 * (b * quantities + q), scale = s->plan.scale[q];
      const double shift = get(s, s->plan.at_quantity + 2 * q), slope = get(s, s->plan.at_quantity + 2 * q + 1);
      /* v - slope x, with the control's mean put back; of an antithetic pair x is a sum of two */
      const double known = c->control >= 0 ? slope * known_mean(s, c) : 0;
      mean[b * quantities + q] = scale * (shift + sums[0] / n + known);
      const double unit = s->plan.matched ? OPTION_CHUNK : 1; /* number of samples whose mean counts as one */
      squares[b * quantities + q] = scale * scale * fmax(sums[1] - sums[0] * sums[0] / (unit * n), 0);
      if (never_paid(shift, sums, n)) mean[b * quantities + q] = squares[b * quantities + q] = 0;
      if (isnan(sums[1])) squares[b * quantities + q] = NAN;
      const double spread = squares[b * quantities + q];
      tails[2 * (b * quantities + q)] = spread;
      tails[2 * (b * quantities + q) + 1] = spread * spread;
    }
  }
  return SIM_OK;
}

static const char *name(const option_sampler *s) { return s->name; }

static void destroy(option_sampler **sampler) {
  option_sampler *s = *sampler;
  if (s == NULL) return;
  option_policies_free(&s->policies);
  option_cuda_plan_free(&s->plan);
  option_estimate_free(&s->estimate);
  sim_module_free(&s->module);
  sim_bytes_free(&s->text);
  sim_backend_cuda.free(s->table);
  sim_backend_cuda.free(s->partial);
  sim_backend_cuda.free(s->tables);
  sim_backend_cuda.free((void *)(uintptr_t)s->keys.mrg);
  free(s->constants);
  free(s->host);
  free(s);
  *sampler = NULL;
}

/* Compiles the kernels in the background while the host prepares the first launch. */
static sim_status begin_kernel(option_sampler *s) {
  SIM_TRY(option_cuda_write(&s->plan, &s->text));
  const sim_source source = option_cuda_source(&s->plan, &s->text);
  return sim_module_begin(&source, 1, &s->module);
}

static sim_status end_kernel(option_sampler *s) {
  SIM_TRY(sim_module_end(s->module));
  sim_bytes_free(&s->text);
  s->gather = option_cuda_gather();
  return sim_module_kernel(s->module, "option_sample", &s->sample);
}

/* Logical blocks of a step, at most: a small run has few, whose memory takes no time. */
static size_t most_blocks(const option_sampler *s) {
  const size_t blocks = (size_t)s->batch * (size_t)(s->scrambles > 0 ? s->scrambles : 1);
  const size_t all = (size_t)divide(s->all, s->block);
  return s->all > 0 && all < blocks ? all : blocks;
}

static sim_status fill(option_sampler *s) {
  const size_t real = s->plan.single ? sizeof(float) : sizeof(double);
  const size_t table = (s->plan.table + 4) * real; /* + 4: never an empty allocation */
  const size_t numbers = 2 * (size_t)s->estimate.quantities, blocks = most_blocks(s);
  const size_t own = sim_comm_share(s->comm, blocks), pilot_parts = (size_t)divide(OPTION_PILOT, s->plan.part);
  const size_t of_blocks = own * (size_t)block_parts(s), parts = of_blocks > pilot_parts ? of_blocks : pilot_parts;
  void *host = calloc(1, table), *device = NULL;
  s->constants = calloc((size_t)s->plan.constants, real);
  const size_t on_host = blocks + (size_t)s->comm->size, sums = own > PILOTS ? own : PILOTS;
  s->host = calloc((on_host > PILOTS ? on_host : PILOTS) * numbers, sizeof(double));
  sim_status status = host == NULL || s->constants == NULL || s->host == NULL ? sim_no_memory("the market") : SIM_OK;
  if (status == SIM_OK) status = sim_backend_cuda.alloc(table, &s->table);
  if (status == SIM_OK) status = sim_backend_cuda.alloc((parts + sums) * numbers * sizeof(double), &device);
  s->partial = device;
  s->sums = s->partial + parts * numbers;
  if (status == SIM_OK) option_cuda_plan_fill(&s->plan, &s->policies, host, s->constants);
  if (status == SIM_OK) status = sim_backend_cuda.copy(s->table, host, table);
  free(host);
  return status;
}

/* Copies Sobol tables to the device: integers first, then the weights. */
static sim_status fill_points(option_sampler *s, const option_quasi *q, bool single) {
  const size_t steps = (size_t)s->plan.steps, all = (size_t)q->scrambles * (size_t)q->dimensions;
  const size_t weights = q->component != NULL ? steps * steps : 3 * steps,
               real = single ? sizeof(float) : sizeof(double);
  const size_t integers = (all * (OPTION_SOBOL_BITS + 1) + 3 * steps + 1) / 2 * 2 * sizeof(uint32_t);
  char *host = calloc(1, integers + weights * real), *device = NULL;
  if (host == NULL) return sim_no_memory("Sobol's numbers");
  int32_t *bridge = (int32_t *)(void *)host + all * (OPTION_SOBOL_BITS + 1);
  memcpy(host, q->direction, all * OPTION_SOBOL_BITS * sizeof(uint32_t));
  memcpy(host + all * OPTION_SOBOL_BITS * sizeof(uint32_t), q->shift, all * sizeof(uint32_t));
  for (size_t i = 0; i < weights; i++) {
    const option_bridge *b = &q->bridge[i / 3 < steps ? i / 3 : 0];
    const double parts[3] = {b->from_left, b->from_right, b->spread};
    const double value = q->component != NULL ? q->component[i] : parts[i % 3];
    if (single)
      ((float *)(void *)(host + integers))[i] = (float)value;
    else
      ((double *)(void *)(host + integers))[i] = value;
  }
  for (size_t k = 0; k < steps; k++) {
    bridge[3 * k] = q->bridge[k].point;
    bridge[3 * k + 1] = q->bridge[k].left;
    bridge[3 * k + 2] = q->bridge[k].right;
  }
  sim_status status = sim_backend_cuda.alloc(integers + weights * real, &s->tables);
  if (status == SIM_OK) status = sim_backend_cuda.copy(s->tables, host, integers + weights * real);
  device = s->tables;
  const unsigned *bits4 = (const unsigned *)(void *)device;
  s->points = (option_points){.direction = bits4,
                              .shift = bits4 + all * OPTION_SOBOL_BITS,
                              .bridge = (const int *)(bits4 + all * (OPTION_SOBOL_BITS + 1)),
                              .weights = device + integers,
                              .dimensions = q->dimensions,
                              .each = q->each};
  free(host);
  return status;
}

static sim_status make_points(option_sampler *s, const option_parameters *p) {
  option_quasi quasi;
  SIM_TRY(option_quasi_create(p, &quasi));
  const sim_status status = fill_points(s, &quasi, s->plan.single);
  option_quasi_free(&quasi);
  return status;
}

static sim_status make_policy(void *self, const option_starts *starts, option_policy *out) {
  return option_cuda_policy(starts, self, out);
}

static sim_status make(option_sampler *s, const option_parameters *p, const sim_setup *setup) {
  SIM_TRY(option_estimate_create(p, true, &s->estimate));
  if (s->estimate.markets * s->estimate.signs > OPTION_CUDA_VARIANTS)
    return sim_fail(SIM_ERR_SCENARIO,
                    "greeks: more than %d paths of the same random numbers are needed, which are not built on a GPU: "
                    "expected fewer Greeks, or --device cpu",
                    OPTION_CUDA_VARIANTS);
  const sim_setup host = option_host_setup(setup);
  SIM_TRY(option_leverage_calibrate(p, &host, s->estimate.market, s->estimate.markets));
  SIM_TRY(option_cuda_plan_create(p, &s->estimate, &s->plan));
  SIM_TRY(begin_kernel(s));
  SIM_TRY(option_policies_create(&s->estimate, p, &host, make_policy, (void *)(uintptr_t)s->comm, &s->policies));
  s->batch = batch(p);
  SIM_TRY(option_cuda_keys(p, &s->keys));
  snprintf(s->name, sizeof s->name, "one path a thread, batches of %d blocks", s->batch);
  s->scrambles = p->sampling.sequence == OPTION_SOBOL ? option_groups(p) : 0;
  s->block = s->scrambles > 0 ? option_block_samples(p) : OPTION_BLOCK;
  if (isnan(p->sampling.standard_error)) s->all = (int64_t)fmin(p->sampling.paths / s->plan.signs, 0x1p62);
  SIM_TRY(fill(s));
  if (s->scrambles > 0) SIM_TRY(make_points(s, p));
  SIM_TRY(end_kernel(s));
  SIM_TRY(pilot(s));
  return SIM_OK;
}

static sim_status create(const option_parameters *p, const sim_setup *setup, option_sampler **out) {
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return sim_no_memory("the model");
  (*out)->comm = setup->comm;
  const sim_status status = make(*out, p, setup);
  if (status != SIM_OK) destroy(out);
  return status;
}

const option_ops option_ops_cuda = {.supports = supports,
                                    .batch = batch,
                                    .bytes = bytes,
                                    .create = create,
                                    .destroy = destroy,
                                    .sample = sample,
                                    .name = name};
