/* The solver table of direct summation on an NVIDIA GPU. */
#include "kernels/nbody/direct/cuda/direct.h"

#include "engine/device/cuda.h"
#include "kernels/nbody/cuda/partials.cuh"
#include "kernels/nbody/cuda/range.h"
#include "kernels/nbody/direct/cuda/tile.cuh"
#include "kernels/nbody/direct/direct.h"

#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- choice of the plan ---- */

/* Chosen by the time of whole steps (bench_nbody_cuda --sweep); the time of a force alone would favour fewer, longer
 * thread blocks. In a step, thread blocks are placed while the preceding kernel still runs: where all blocks are
 * resident at once, some multiprocessors get more of them and delay the step, up to twice its time. */
enum {
  SYMMETRIC_FROM = 5120, /* bodies; below, too few tiles to fill a device */
  SPLIT_BLOCKS = 4096,   /* thread blocks that a split sum is cut into */
  SPLITS_MAX = 64
};

/* Fixed point represents sums up to G M 0.385 / eps^2 with 61 bits. The bits left for G M / R^2, the acceleration of
 * the system as a whole, must exceed the precision of fp32 terms. */
static const double spread_limit = 6600; /* R / eps: the largest sum is 2^24 times G M / R^2, 37 bits left */

static bool fits_fixed(const nbody_options *options) {
  return options->single_pairs && !options->jerk && options->laws.pair == NULL && options->softening > 0 &&
         options->spread <= spread_limit * options->softening;
}

nbody_direct_plan nbody_direct_choose(const nbody_options *options) {
  const int64_t n = options->n;
  nbody_direct_plan plan = {};
  if (options->laws.no_pairs) {
    plan.method = NBODY_DIRECT_NO_PAIRS;
    return plan;
  }
  if (fits_fixed(options) && n >= SYMMETRIC_FROM && n <= NBODY_CUDA_MOST_SYMMETRIC) {
    plan.method = NBODY_DIRECT_SYMMETRIC;
    plan.bodies = n < 14336 ? 4 : n < 49152 ? 8 : 12;
    plan.chunk = n < 7168 ? 32 : n < 10240 ? 64 : n < 14336 ? 128 : n < 131072 ? 256 : n < 4194304 ? 512 : 1024;
    return plan;
  }
  plan.method = NBODY_DIRECT_TILE;
  const bool single = options->single_pairs;
  if (options->jerk)
    plan.bodies = n >= 32768 && !single ? 2 : n >= 8192 ? 4 : 1;
  else
    plan.bodies = n >= 8192 ? 4 : single ? 2 : n >= 5120 ? 4 : 1;
  const int64_t blocks = (n + 128 * plan.bodies - 1) / (128 * plan.bodies), groups = (n + 31) / 32;
  int64_t splits = SPLIT_BLOCKS / blocks;
  if (single && !options->jerk && n < 3072) splits = 16;
  if (options->jerk && splits > 32) splits = 32;
  if (splits > groups) splits = groups;
  plan.splits = (int)(splits < 1 ? 1 : splits > SPLITS_MAX ? (int64_t)SPLITS_MAX : splits);
  return plan;
}

static void write_description(nbody_solver_work *w) {
  const nbody_direct_plan *p = &w->plan;
  if (p->method == NBODY_DIRECT_SYMMETRIC)
    snprintf(w->description, sizeof w->description,
             "Newton's third law in fixed point, %d bodies a thread, chunks of %d", p->bodies, p->chunk);
  else if (p->method == NBODY_DIRECT_REFERENCE)
    snprintf(w->description, sizeof w->description, "plain loop");
  else if (p->method == NBODY_DIRECT_NO_PAIRS)
    snprintf(w->description, sizeof w->description, "none");
  else if (p->splits > 1)
    snprintf(w->description, sizeof w->description, "shared-memory tiles, %d %s a thread, %d splits", p->bodies,
             p->bodies == 1 ? "body" : "bodies", p->splits);
  else
    snprintf(w->description, sizeof w->description, "shared-memory tiles, %d bodies a thread", p->bodies);
}

/* ---- memory ---- */

/* Byte offsets of the arrays, in an order that keeps all aligned. */
typedef struct layout {
  size_t result, partial, parts, parts_jerk, some_parts, target, group_mass, total;
} layout;

static bool is_split(const nbody_direct_plan *plan) { return plan->method == NBODY_DIRECT_TILE && plan->splits > 1; }

static layout layout_of(const nbody_options *options, const nbody_direct_plan *plan) {
  const size_t n = (size_t)options->n, blocks = (n + NBODY_PARTIAL_BODIES - 1) / NBODY_PARTIAL_BODIES;
  const size_t split = is_split(plan) ? (size_t)plan->splits * 3 * n * sizeof(double) : 0;
  layout l = {};
  l.result = 0;
  l.partial = sizeof(double);
  l.parts = l.partial + NBODY_POTENTIAL_PARTS * blocks * sizeof(double);
  l.parts_jerk = l.parts + split;
  l.some_parts = l.parts_jerk + (options->jerk ? split : 0);
  l.target = l.some_parts + (options->individual ? 3 * (size_t)nbody_cuda_some_parts(options->n) * sizeof(double) : 0);
  l.group_mass = l.target + (options->individual ? (n + 1) * sizeof(int) : 0);
  const int groups = plan->method == NBODY_DIRECT_SYMMETRIC ? nbody_cuda_groups(options, plan) : 0;
  l.total = l.group_mass + (size_t)groups * sizeof(float);
  return l;
}

/* Bodies of a thread block, or of a row of tiles. */
static int block_bodies(const nbody_direct_plan *plan) {
  return (plan->method == NBODY_DIRECT_SYMMETRIC ? 32 : TILE_THREADS) * (plan->bodies > 0 ? plan->bodies : 1);
}

static double exchange_bytes(const nbody_options *options, const nbody_direct_plan *plan) {
  return nbody_cuda_share_bytes(options->comm, options->n, block_bodies(plan));
}

/* The spread is unknown before bodies exist: the larger of the two plans that are possible. */
static void bytes(const nbody_options *options, double *host, double *device) {
  nbody_options wide = *options;
  wide.spread = INFINITY;
  const nbody_direct_plan plan = nbody_direct_choose(options), other = nbody_direct_choose(&wide);
  *host = fmax(exchange_bytes(options, &plan), exchange_bytes(options, &other));
  *device = *host + fmax((double)layout_of(options, &plan).total, (double)layout_of(&wide, &other).total);
}

typedef struct extent {
  double position, velocity; /* largest difference in one coordinate */
  double mass, total;        /* largest, and sum */
} extent;

static sim_status widest(const void *vectors, const nbody_state *state, double *out) {
  const size_t n = (size_t)state->n;
  *out = 0;
  for (size_t c = 0; c < 3; c++) {
    nbody_range r;
    SIM_TRY(nbody_cuda_range(vectors, state->dtype, c * n, n, &r));
    *out = fmax(*out, r.high - r.low);
  }
  return SIM_OK;
}

static sim_status measure(const nbody_state *state, extent *out) {
  nbody_range mass;
  SIM_TRY(widest(state->position, state, &out->position));
  SIM_TRY(widest(state->velocity, state, &out->velocity));
  SIM_TRY(nbody_cuda_range(state->mass, state->dtype, 0, (size_t)state->n, &mass));
  out->mass = mass.high;
  out->total = mass.sum;
  return SIM_OK;
}

/* All units are powers of two: they change no bit of a result that neither over- nor underflows. The unit of the fixed
 * point follows from masses and softening, which a restart finds unchanged. */
static void set_units(nbody_solver_work *w, const extent *e) {
  const double eps = w->options.softening;
  w->scaling = (nbody_scaling){1, 1, 1};
  if (!w->options.single_pairs || w->options.laws.pair != NULL) return; /* a custom law is in the scenario's units */
  w->scaling.position = 1 / nbody_power_above(fmax(e->position, eps));
  w->scaling.velocity = 1 / nbody_power_above(e->velocity);
  w->scaling.mass = 1 / nbody_power_above(e->mass);
  const double s = w->scaling.position;
  if (eps > 0) w->fixed = 0x1p61 / nbody_power_above(0.385 * e->total / (eps * eps)) * (s * s) / w->scaling.mass;
}

static void destroy(nbody_solver_work **work) {
  if (*work == NULL) return;
  nbody_cuda_share_destroy(&(*work)->share);
  nbody_cuda_custom_law_destroy(&(*work)->law);
  sim_backend_cuda.free((*work)->memory);
  free(*work);
  *work = NULL;
}

sim_status nbody_direct_cuda_create(const nbody_options *options, const nbody_state *state,
                                    const nbody_direct_plan *plan, nbody_solver_work **out) {
  nbody_solver_work *w = *out = (nbody_solver_work *)calloc(1, sizeof *w);
  if (w == NULL) return sim_no_memory("the direct sum");
  const bool single = state->dtype == SIM_F32;
  w->options = *options;
  w->state = *state;
  w->plan = *plan;
  write_description(w);
  const layout l = layout_of(options, plan);
  extent e;
  const bool divided = plan->method == NBODY_DIRECT_SYMMETRIC || plan->method == NBODY_DIRECT_TILE;
  sim_status status = nbody_cuda_share_create(options->comm, options->n, block_bodies(plan), divided, &w->share);
  if (status == SIM_OK)
    status = nbody_cuda_share_create(options->comm, options->n, NBODY_PARTIAL_BODIES, false, &w->potential_share);
  if (status == SIM_OK) status = sim_backend_cuda.alloc(l.total, &w->memory);
  if (status == SIM_OK) status = measure(state, &e);
  if (status == SIM_OK) status = nbody_cuda_custom_law_create(options, single, plan->bodies, &w->law);
  if (status != SIM_OK) {
    destroy(out);
    return status;
  }
  char *at = (char *)w->memory;
  w->result = (double *)(at + l.result);
  w->partial = (double *)(at + l.partial);
  w->parts = is_split(plan) ? (double *)(at + l.parts) : state->acceleration;
  w->parts_jerk = !options->jerk ? NULL : is_split(plan) ? (double *)(at + l.parts_jerk) : state->jerk;
  w->some_parts = (double *)(at + l.some_parts);
  w->target = (int *)(at + l.target);
  w->target_count = (unsigned *)(w->target + options->n);
  w->group_mass = (float *)(at + l.group_mass);
  set_units(w, &e);
  if (plan->method == NBODY_DIRECT_SYMMETRIC && single) nbody_cuda_symmetric_prepare<float>(w);
  if (plan->method == NBODY_DIRECT_SYMMETRIC && !single) nbody_cuda_symmetric_prepare<double>(w);
  return sim_queue_cuda.status();
}

static sim_status create(const nbody_options *options, const nbody_state *state, nbody_solver_work **out) {
  const nbody_direct_plan plan = nbody_direct_choose(options);
  return nbody_direct_cuda_create(options, state, &plan, out);
}

static const char *describe(const nbody_solver_work *w) { return w->description; }

/* ---- forces ---- */

static void set_zero(double *vectors, const char *what, const nbody_solver_work *w) {
  const size_t size = 3 * (size_t)w->state.n * sizeof(double);
  sim_cuda_failed(cudaMemsetAsync(vectors, 0, size, (cudaStream_t)sim_cuda_stream()), "cudaMemsetAsync", what);
}

template <typename real, typename pair_real> static void sum_ordered_pairs(nbody_solver_work *w) {
  if (w->plan.method == NBODY_DIRECT_TILE)
    nbody_cuda_tile<real, pair_real>(w);
  else
    nbody_cuda_reference<real, pair_real>(w);
}

template <typename real> static void sum_pairs(nbody_solver_work *w) {
  if (w->law.tile != NULL) {
    nbody_cuda_custom_tile<real>(w);
  } else if (w->plan.method == NBODY_DIRECT_SYMMETRIC) {
    nbody_cuda_symmetric<real>(w);
  } else if constexpr (sizeof(real) == sizeof(double)) {
    if (w->options.single_pairs)
      sum_ordered_pairs<double, float>(w);
    else
      sum_ordered_pairs<double, double>(w);
  } else {
    sum_ordered_pairs<float, float>(w);
  }
}

/* On several ranks: the sums of all, in the state's own arrays. */
static void share_sums(nbody_solver_work *w, nbody_raw_force *out) {
  if (out->kind == NBODY_FORCE_FIXED) {
    sim_exchange_add(w->share.exchange, (int64_t *)w->state.acceleration);
    return;
  }
  nbody_cuda_share_sums(&w->share, w->parts, out->parts, w->state.acceleration);
  if (w->options.jerk) nbody_cuda_share_sums(&w->share, w->parts_jerk, out->parts, w->state.jerk);
  out->parts = 1;
  out->acceleration = w->state.acceleration;
  out->jerk = w->state.jerk;
}

/* Unit of sums, which are in packed units and without G. A custom law has its own constants, and `scaling` is 1. */
static double unit_of(const nbody_solver_work *w) {
  const nbody_scaling *s = &w->scaling;
  return (w->law.tile != NULL ? 1 : w->options.G) * s->position * s->position / s->mass;
}

static void accelerate(nbody_solver_work *w, bool zeroed, nbody_raw_force *out) {
  const bool fixed = w->plan.method == NBODY_DIRECT_SYMMETRIC, none = w->plan.method == NBODY_DIRECT_NO_PAIRS;
  *out = {};
  out->kind = NBODY_FORCE_FINAL;
  if ((fixed || none) && !zeroed) set_zero(w->state.acceleration, "the acceleration", w);
  if (none) {
    if (w->options.jerk) set_zero(w->state.jerk, "the jerk", w);
    return;
  }
  if (w->state.dtype == SIM_F32)
    sum_pairs<float>(w);
  else
    sum_pairs<double>(w);
  const double unit = unit_of(w);
  out->kind = fixed ? NBODY_FORCE_FIXED : NBODY_FORCE_PARTS;
  out->parts = w->plan.method == NBODY_DIRECT_TILE ? w->plan.splits : 1;
  out->acceleration = w->parts;
  out->jerk = w->parts_jerk;
  out->unit = fixed ? unit / w->fixed : unit;
  out->unit_jerk = unit * w->scaling.position / w->scaling.velocity;
  if (w->share.exchange != NULL) share_sums(w, out);
}

static void accelerate_some(nbody_solver_work *w, const nbody_targets *targets) {
  const double unit = unit_of(w);
  if (w->plan.method == NBODY_DIRECT_NO_PAIRS)
    set_zero(w->state.acceleration, "the acceleration", w);
  else if (w->state.dtype == SIM_F32)
    nbody_cuda_some<float, float>(w, targets, unit);
  else if (w->options.single_pairs)
    nbody_cuda_some<double, float>(w, targets, unit);
  else
    nbody_cuda_some<double, double>(w, targets, unit);
}

/* Waits for the device. The backend keeps an error, which ends the run. */
static double read_result(const nbody_solver_work *w) {
  double value;
  return sim_backend_cuda.copy(&value, w->result, sizeof value) == SIM_OK ? value : 0;
}

static double potential(nbody_solver_work *w) {
  const bool single = w->state.dtype == SIM_F32, custom = w->law.tile != NULL;
  if (w->plan.method == NBODY_DIRECT_NO_PAIRS) return 0;
  if (custom && w->law.potential == NULL) return NAN;
  if (custom && single) nbody_cuda_custom_potential<float>(w);
  if (custom && !single) nbody_cuda_custom_potential<double>(w);
  if (!custom && single) nbody_cuda_potential<float>(w);
  if (!custom && !single) nbody_cuda_potential<double>(w);
  const double sum = read_result(w);
  return custom ? sum : -w->options.G * sum;
}

/* Once a run, so every rank computes all of it. */
static double start_time(nbody_solver_work *w) {
  if (w->law.start != NULL)
    nbody_cuda_custom_start(w);
  else if (w->state.dtype == SIM_F32)
    nbody_cuda_start<float>(w);
  else
    nbody_cuda_start<double>(w);
  nbody_reduce_partials<reduce_min>(w->partial, 1, nbody_partials(w->state.n), w->result);
  return sqrt(read_result(w));
}

/* ---- the table ---- */

static sim_status estimate(const nbody_options *options, double n, nbody_cost *out) {
  const double clipped = (double)options->n;
  const nbody_direct_plan plan = nbody_direct_choose(options);
  out->most_ranks = (int)((options->n + block_bodies(&plan) - 1) / block_bodies(&plan));
  out->rate = (options->single_pairs ? 1e12 : 3e11) * (options->jerk ? 0.5 : 1) * clipped / (clipped + 8192);
  return nbody_direct_count(options, n, out);
}

const nbody_solver nbody_direct_cuda = {
    .name = "direct sum",
    .supports = nbody_direct_fits_gpu,
    .bytes = bytes,
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .describe = describe,
    .accelerate = accelerate,
    .accelerate_some = accelerate_some,
    .potential = potential,
    .start_time = start_time,
};
