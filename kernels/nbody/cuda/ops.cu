/* The operations on an NVIDIA GPU, and how a direct sum is chosen. */
#include "kernels/nbody/cuda/laws.cuh"
#include "kernels/nbody/cuda/observe.cuh"
#include "kernels/nbody/cuda/steps.cuh"

#include "engine/device/cuda.h"

#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the choice ---- */

/* Chosen by the time of whole steps (bench_nbody_cuda --sweep); a force that is timed alone would choose fewer, longer
 * thread blocks. In a step, blocks are placed while the kernel before them still runs: where all of them are resident
 * at once, some multiprocessors get more than others and hold up the step, up to twice its time. */
enum {
  SYMMETRIC_FROM = 5120, /* bodies; below, too few tiles to fill a device */
  SPLIT_BLOCKS = 4096,   /* thread blocks that a split sum is cut into */
  SPLITS_MAX = 64
};

/* Fixed point holds sums up to G M 0.385 / eps^2 with 61 bits: what is left for an acceleration of G M / R^2, that of
 * the system as a whole, must be more than fp32 terms have. */
static const double spread_limit = 6600; /* R / eps: 2^24 times the acceleration, 37 bits left */

static bool fits_fixed(const nbody_options *options) {
  return options->single_pairs && !options->jerk && options->laws.pair == NULL && options->softening > 0 &&
         options->spread <= spread_limit * options->softening;
}

nbody_cuda_plan nbody_cuda_choose(const nbody_options *options) {
  const int64_t n = options->n;
  nbody_cuda_plan plan = {};
  if (options->laws.alone) {
    plan.method = NBODY_ALONE;
    return plan;
  }
  if (fits_fixed(options) && n >= SYMMETRIC_FROM && n <= NBODY_CUDA_MOST_SYMMETRIC) {
    plan.method = NBODY_SYMMETRIC;
    plan.bodies = n < 14336 ? 4 : n < 49152 ? 8 : 12;
    plan.chunk = n < 7168 ? 32 : n < 10240 ? 64 : n < 14336 ? 128 : n < 131072 ? 256 : n < 4194304 ? 512 : 1024;
    return plan;
  }
  plan.method = NBODY_TILE;
  const bool narrow = options->single_pairs;
  if (options->jerk)
    plan.bodies = n >= 32768 && !narrow ? 2 : n >= 8192 ? 4 : 1;
  else
    plan.bodies = n >= 8192 ? 4 : narrow ? 2 : n >= 5120 ? 4 : 1;
  const int64_t blocks = (n + 128 * plan.bodies - 1) / (128 * plan.bodies), groups = (n + 31) / 32;
  int64_t splits = SPLIT_BLOCKS / blocks;
  if (narrow && !options->jerk && n < 3072) splits = 16;
  if (options->jerk && splits > 32) splits = 32;
  if (splits > groups) splits = groups;
  plan.splits = (int)(splits < 1 ? 1 : splits > SPLITS_MAX ? (int64_t)SPLITS_MAX : splits);
  return plan;
}

static void put_name(nbody_work *w) {
  const nbody_cuda_plan *p = &w->plan;
  if (p->method == NBODY_SYMMETRIC)
    snprintf(w->name, sizeof w->name, "Newton's third law in fixed point, %d bodies a thread, chunks of %d", p->bodies,
             p->chunk);
  else if (p->method == NBODY_TWIN)
    snprintf(w->name, sizeof w->name, "plain loop");
  else if (p->method == NBODY_ALONE)
    snprintf(w->name, sizeof w->name, "none");
  else if (p->splits > 1)
    snprintf(w->name, sizeof w->name, "shared-memory tiles, %d %s a thread, %d splits", p->bodies,
             p->bodies == 1 ? "body" : "bodies", p->splits);
  else
    snprintf(w->name, sizeof w->name, "shared-memory tiles, %d bodies a thread", p->bodies);
}

/* ---- memory ---- */

/* Bytes of each array after the other, in an order that keeps all aligned. */
typedef struct layout {
  size_t search, result, partial, mapped, parts, parts_jerk, before, x0, v0, group_mass, total;
} layout;

static layout layout_of(const nbody_options *options, const nbody_cuda_plan *plan, bool single) {
  const size_t n = (size_t)options->n, vector = 3 * n * sizeof(double);
  const size_t split = plan->method == NBODY_TILE && plan->splits > 1 ? (size_t)plan->splits * vector : 0;
  const size_t blocks = (n + NBODY_PARTIAL_BODIES - 1) / NBODY_PARTIAL_BODIES;
  layout l = {};
  l.search = 0;
  l.result = sizeof(nbody_search);
  l.partial = l.result + NBODY_QUANTITIES * sizeof(double);
  l.mapped = l.partial + NBODY_QUANTITIES * blocks * sizeof(double);
  l.parts = l.mapped + (options->observe != NULL ? options->observe->count : 0) * (blocks + 1) * sizeof(double);
  l.parts_jerk = l.parts + split;
  l.before = l.parts_jerk + (options->jerk ? split : 0);
  l.x0 = l.before + (options->jerk ? 2 * vector : 0);
  const size_t old = options->jerk ? 3 * n * (single ? sizeof(float) : sizeof(double)) : 0;
  l.v0 = l.x0 + old;
  l.group_mass = l.v0 + old;
  const int groups = plan->method == NBODY_SYMMETRIC ? nbody_cuda_groups(options, plan) : 0;
  l.total = l.group_mass + (size_t)groups * sizeof(float);
  return l;
}

/* The least power of two above a; 1 for 0 and for what is not finite. */
static double power_above(double a) {
  int exponent = 0;
  if (a > 0 && isfinite(a)) (void)frexp(a, &exponent);
  return ldexp(1, exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent);
}

typedef struct extent {
  double position, velocity; /* greatest difference in one coordinate */
  double mass, total;        /* greatest, and sum */
} extent;

/* Least, greatest and sum of an array, which comes to the host in pieces. */
typedef struct range {
  double low, high, sum;
} range;

static sim_status range_of(const void *data, bool single, size_t first, size_t count, range *out) {
  static double piece[16384];
  const size_t most = sizeof piece / sizeof *piece;
  const size_t size = single ? sizeof(float) : sizeof(double);
  *out = (range){INFINITY, -INFINITY, 0};
  for (size_t done = 0; done < count; done += most) {
    const size_t here = count - done < most ? count - done : most;
    SIM_TRY(sim_backend_cuda.copy(piece, (const char *)data + (first + done) * size, here * size));
    for (size_t i = 0; i < here; i++) {
      const double value = single ? (double)((const float *)piece)[i] : piece[i];
      out->low = fmin(out->low, value);
      out->high = fmax(out->high, value);
      out->sum += value;
    }
  }
  return SIM_OK;
}

static sim_status widest(const void *vectors, bool single, size_t n, double *out) {
  *out = 0;
  for (size_t c = 0; c < 3; c++) {
    range r;
    SIM_TRY(range_of(vectors, single, c * n, n, &r));
    *out = fmax(*out, r.high - r.low);
  }
  return SIM_OK;
}

static sim_status measure(const nbody_state *state, bool single, extent *out) {
  range mass;
  const size_t n = (size_t)state->n;
  SIM_TRY(widest(state->position, single, n, &out->position));
  SIM_TRY(widest(state->velocity, single, n, &out->velocity));
  SIM_TRY(range_of(state->mass, single, 0, n, &mass));
  out->mass = mass.high;
  out->total = mass.sum;
  return SIM_OK;
}

/* Powers of two alone: they change no bit of a result that neither over- nor underflows. The unit of the fixed point
 * comes from G, masses and softening, which a restart finds unchanged. */
static void set_units(nbody_work *w, const extent *e) {
  const double eps = w->options.softening;
  w->scaling = (nbody_scaling){1, 1, 1};
  w->mass_unit = 0x1p61 / power_above(e->total);
  if (!w->options.single_pairs || w->options.laws.pair != NULL) return; /* a law is in the scenario's own units */
  w->scaling.position = 1 / power_above(fmax(e->position, eps));
  w->scaling.velocity = 1 / power_above(e->velocity);
  w->scaling.mass = 1 / power_above(e->mass);
  const double s = w->scaling.position;
  if (eps > 0) w->fixed = 0x1p61 / power_above(0.385 * e->total / (eps * eps)) * (s * s) / w->scaling.mass;
}

void nbody_cuda_destroy(nbody_work **work) {
  if (*work == NULL) return;
  nbody_cuda_laws_destroy(&(*work)->laws);
  sim_backend_cuda.free((*work)->memory);
  free(*work);
  *work = NULL;
}

sim_status nbody_cuda_create(const nbody_options *options, const nbody_state *state, bool single,
                             const nbody_cuda_plan *plan, nbody_work **out) {
  nbody_work *w = *out = (nbody_work *)calloc(1, sizeof *w);
  if (w == NULL) return sim_no_memory("the integrator");
  w->options = *options;
  w->state = *state;
  w->plan = *plan;
  w->single = single;
  put_name(w);
  const layout l = layout_of(options, plan, single);
  extent e;
  sim_status status = sim_backend_cuda.alloc(l.total, &w->memory);
  if (status == SIM_OK) status = measure(state, single, &e);
  if (status == SIM_OK) status = nbody_cuda_laws_create(options, single, plan->bodies, &w->laws);
  if (status != SIM_OK) {
    nbody_cuda_destroy(out);
    return status;
  }
  char *at = (char *)w->memory;
  const bool split = plan->method == NBODY_TILE && plan->splits > 1;
  w->search = (nbody_search *)(at + l.search);
  w->result = (double *)(at + l.result);
  w->partial = (double *)(at + l.partial);
  w->mapped = (double *)(at + l.mapped);
  w->parts = split ? (double *)(at + l.parts) : state->acceleration;
  w->parts_jerk = !options->jerk ? NULL : split ? (double *)(at + l.parts_jerk) : state->jerk;
  w->a0 = (double *)(at + l.before);
  w->j0 = w->a0 + 3 * options->n;
  w->x0 = at + l.x0;
  w->v0 = at + l.v0;
  w->group_mass = (float *)(at + l.group_mass);
  set_units(w, &e);
  if (plan->method == NBODY_SYMMETRIC && single) nbody_cuda_symmetric_prepare<float>(w);
  if (plan->method == NBODY_SYMMETRIC && !single) nbody_cuda_symmetric_prepare<double>(w);
  return sim_queue_cuda.status();
}

/* ---- the table ---- */

static void mark_raw(nbody_work *w) {
  const nbody_scaling *s = &w->scaling;
  /* A law brings its own constants, and `scaling` is 1. */
  const bool own = w->options.laws.pair != NULL || w->plan.method == NBODY_ALONE;
  const double unit = (own ? 1 : w->options.G) * s->position * s->position / s->mass;
  w->raw = (nbody_raw){};
  w->raw.kind = w->plan.method == NBODY_SYMMETRIC ? nbody_raw::NBODY_RAW_FIXED : nbody_raw::NBODY_RAW_PARTIAL;
  w->raw.parts = w->plan.method == NBODY_TILE ? w->plan.splits : 1;
  w->raw.acceleration = w->parts;
  w->raw.jerk = w->parts_jerk;
  w->raw.unit = w->plan.method == NBODY_SYMMETRIC ? unit / w->fixed : unit;
  w->raw.unit_jerk = unit * s->position / s->velocity;
}

static void zero(double *vectors, const char *what, const nbody_work *w) {
  const size_t bytes = 3 * (size_t)w->state.n * sizeof(double);
  sim_cuda_failed(cudaMemsetAsync(vectors, 0, bytes, (cudaStream_t)sim_cuda_stream()), "cudaMemsetAsync", what);
}

template <typename Real, typename Pair> static void sum_directly(nbody_work *w) {
  if (w->plan.method == NBODY_TILE)
    nbody_cuda_tile<Real, Pair>(w);
  else
    nbody_cuda_twin<Real, Pair>(w);
}

template <typename Real> static void force(nbody_work *w, double t) {
  w->t = t;
  if ((w->plan.method == NBODY_SYMMETRIC || w->plan.method == NBODY_ALONE) && !w->zeroed)
    zero(w->state.acceleration, "the acceleration", w);
  if (w->plan.method == NBODY_ALONE) {
    if (w->options.jerk) zero(w->state.jerk, "the jerk", w);
  } else if (w->laws.tile != NULL) {
    nbody_cuda_law_tile<Real>(w);
  } else if (w->plan.method == NBODY_SYMMETRIC) {
    nbody_cuda_symmetric<Real>(w);
  } else if constexpr (sizeof(Real) == sizeof(double)) {
    if (w->options.single_pairs)
      sum_directly<double, float>(w);
    else
      sum_directly<double, double>(w);
  } else {
    sum_directly<float, float>(w);
  }
  w->zeroed = false;
  mark_raw(w);
}

template <typename Real> static void kick_drift(nbody_work *w, double kick, double drift) {
  nbody_cuda_kick_drift<Real>(w, kick, drift);
  w->zeroed = true;
}

/* Before the bodies are there, neither is their spread: the larger of what it may lead to. */
template <bool SINGLE> static double bytes(const nbody_options *options) {
  nbody_options wide = *options;
  wide.spread = INFINITY;
  const nbody_cuda_plan plan = nbody_cuda_choose(options), other = nbody_cuda_choose(&wide);
  return fmax((double)layout_of(options, &plan, SINGLE).total, (double)layout_of(&wide, &other, SINGLE).total);
}

template <bool SINGLE>
static sim_status create(const nbody_options *options, const nbody_state *state, nbody_work **out) {
  const nbody_cuda_plan plan = nbody_cuda_choose(options);
  return nbody_cuda_create(options, state, SINGLE, &plan, out);
}

static const char *name(const nbody_work *w) { return w->name; }

static sim_status observe(nbody_work *w, double t, double *values) {
  nbody_cuda_finish(w);
  return nbody_cuda_law_observe(w, t, values);
}

template <typename Real, bool SINGLE> static constexpr nbody_ops table(sim_dtype dtype) {
  nbody_ops ops = {};
  ops.dtype = dtype;
  ops.most = NBODY_CUDA_MOST;
  ops.bytes = bytes<SINGLE>;
  ops.create = create<SINGLE>;
  ops.destroy = nbody_cuda_destroy;
  ops.name = name;
  ops.force = force<Real>;
  ops.finish = nbody_cuda_finish;
  ops.kick = nbody_cuda_kick<Real>;
  ops.drift = nbody_cuda_drift<Real>;
  ops.kick_drift = kick_drift<Real>;
  ops.hermite_predict = nbody_cuda_predict<Real>;
  ops.hermite_correct = nbody_cuda_correct<Real>;
  ops.step_softened = nbody_cuda_step_softened;
  ops.step_aarseth = nbody_cuda_step_aarseth;
  ops.step_start = nbody_cuda_step_start<Real>;
  ops.sums = nbody_cuda_sums<Real>;
  ops.observe = observe;
  ops.radii = nbody_cuda_radii<Real>;
  return ops;
}

const nbody_ops nbody_ops_cuda_f32 = table<float, true>(SIM_F32);
const nbody_ops nbody_ops_cuda_f64 = table<double, false>(SIM_F64);
