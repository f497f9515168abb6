/* The gas on the CPU: its state and its step. */
#include "kernels/collision/fixed_point/cpu/work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ISAS(set)                                                                                                      \
  extern const gas_lanes collision_gas_lanes_single_##set;                                                             \
  static const gas_lanes *const set##_lanes = &collision_gas_lanes_single_##set;
ISAS(plain)
#if GAS_X86
ISAS(avx2)
ISAS(avx512)
static const gas_lanes *const *const all_lanes[SIM_ISA_COUNT] = {&plain_lanes, &avx2_lanes, &avx512_lanes};
#else
static const gas_lanes *const *const all_lanes[SIM_ISA_COUNT] = {&plain_lanes};
#endif

/* ---- memory ---- */

static double bytes(const collision_options *o) {
  /* Two sets of at most 4 + 4 + 2 words, order and cell; 4 outer and 1 inner pairs; cells and events. */
  return (double)o->n * (2 * 10 * 4 + 8 + 5 * 2 * sizeof(uint32_t) + 8 + 8);
}

static void free_grains(gas_grains *g) {
  free(g->x), free(g->p), free(g->id), free(g->collisions);
  *g = (gas_grains){0};
}

static bool make_grains(const collision_work *w, gas_grains *g) {
  /* Four words are read and written at once: some more behind the last. */
  const size_t room = (size_t)w->room, words = room * (size_t)w->stride + 2 * GAS_GROUP;
  *g = (gas_grains){calloc(words, sizeof *g->x), calloc(words, sizeof *g->p), malloc(room * sizeof *g->id),
                    calloc(room, sizeof *g->collisions)};
  return g->x && g->p && g->id && g->collisions;
}

static void destroy(collision_work **work) {
  collision_work *w = *work;
  if (w == NULL) return;
  collision_gas_lists_free(w);
  free_grains(&w->now);
  free_grains(&w->spare);
  free(w->order), free(w->cell), free(w->cell_first), free(w->counted), free(w->slab), free(w->team);
  free(w);
  *work = NULL;
}

/* Slabs across the longest side; cells as wide as the outer reach, at least three each way. */
static void lay_cells(collision_work *w) {
  const collision_gas *gas = &w->gas;
  const double diameter = gas->radius[0] + gas->radius[1], touch = 2 * gas->radius[1];
  double least = INFINITY;
  int longest = 0;
  for (int c = 0; c < 3; c++) {
    least = fmin(least, gas->size[c]);
    if (gas->size[c] > gas->size[longest]) longest = c;
  }
  w->inner = 0.055 * diameter;
  w->outer = isnan(w->o.skin) ? 0.4 * diameter : fmax(w->o.skin, 2 * w->inner);
  w->outer = fmin(w->outer, (least / 3 - touch) * (1 - 1e-4));
  for (int c = 0; c < 3; c++) {
    w->axis[c] = (longest + c) % 3;
    const double cells = floor(gas->size[w->axis[c]] / ((touch + w->outer) * (1 + 2e-5)));
    w->cells[c] = (uint32_t)fmax(3, fmin(cells, c == 0 ? 0x1p20 : 0x1p14));
  }
  /* No more cells than grains: the dilute. */
  while ((double)w->cells[0] * w->cells[1] * w->cells[2] > 2 * (double)w->o.n + 27) {
    int most = 0;
    for (int c = 1; c < 3; c++)
      if (w->cells[c] > w->cells[most]) most = c;
    w->cells[most] = w->cells[most] * 3 / 4 > 3 ? w->cells[most] * 3 / 4 : 3;
  }
}

static sim_status create(const collision_options *options, const collision_state *state, collision_work **out) {
  collision_work *w = calloc(1, sizeof *w);
  *out = w;
  if (w == NULL) return sim_no_memory("the model");
  w->o = *options;
  w->state = *state;
  const char *missing = collision_gas_fits(options, options->n, state->mass, state->radius, &w->gas);
  if (missing != NULL) return sim_fail(SIM_ERR_INTERNAL, "the gas has no %s", missing);
  w->before = options->before;
  w->levels = 2;
  w->stride = w->gas.equal ? 3 : 4;
  lay_cells(w);
  int isa = options->isa < sim_isa_best() ? (int)options->isa : (int)sim_isa_best();
  while (all_lanes[isa] == NULL) isa--;
  w->lanes = *all_lanes[isa];
  const size_t slabs = w->cells[0], cells = (size_t)w->cells[1] * w->cells[2];
  w->threads = options->threads < (int)slabs ? options->threads : (int)slabs;
  w->room = options->n + (int64_t)slabs * GAS_GROUP;
  w->order = malloc((size_t)options->n * sizeof *w->order);
  w->cell = malloc((size_t)options->n * sizeof *w->cell);
  w->cell_first = malloc(slabs * (cells + 1) * sizeof *w->cell_first);
  w->counted = malloc(slabs * (size_t)w->threads * sizeof *w->counted);
  w->slab = calloc(slabs, sizeof *w->slab);
  w->team = calloc((size_t)w->threads, sizeof *w->team);
  if (!w->order || !w->cell || !w->cell_first || !w->counted || !w->slab || !w->team || !make_grains(w, &w->now) ||
      !make_grains(w, &w->spare)) {
    destroy(out);
    return sim_no_memory("%" PRId64 " grains", options->n);
  }
  return SIM_OK;
}

/* ---- the step ---- */

/* A contact may begin within half a step. */
float collision_gas_trial(const collision_work *w, double fastest, double before) {
  const double touch = 2 * w->gas.radius[1], slack = 1e-5 * touch + (w->gas.damped ? fastest * before : 0);
  return (float)((w->gas.equal ? touch : 0) + slack);
}

gas_rules collision_gas_rules(const collision_work *w, double before, double dt, bool start) {
  return (gas_rules){.equal = w->gas.equal,
                     .damped = w->gas.damped,
                     .start = start,
                     .reach = (float)w->gas.radius[0] + (float)w->gas.radius[0],
                     .trial = collision_gas_trial(w, w->fastest, before),
                     .numbers = collision_gas_step(&w->gas, before, dt)};
}

double collision_gas_speed(const collision_work *w, double square) {
  return sqrt(square) * w->gas.quantum / w->gas.mass * (1 + 1e-6);
}

double collision_gas_stride_most(const collision_work *w, double dt) {
  return COLLISION_GAS_SPEED_MOST * w->gas.quantum / w->gas.mass * dt;
}

/* Steps are made some at a time, or when somebody looks. */
static sim_status step(collision_work *w, double t, double dt) {
  SIM_TRY(w->failed);
  w->due[w->dues++] = (gas_step){t, dt};
  return w->dues < w->levels ? SIM_OK : collision_gas_sweep(w);
}

/* ---- state ---- */

static void put_grain(collision_work *w, int64_t i, int c, uint64_t word) {
  w->now.x[i * w->stride + c] = (uint32_t)word;
  w->now.p[i * w->stride + c] = (int32_t)(uint32_t)(word >> 32);
}

/* Without lists, in the order of ids. */
static sim_status load(collision_work *w) {
  const collision_state *s = &w->state;
  const int64_t n = w->o.n;
  double fastest = 0;
  for (int64_t i = 0; i < n; i++) {
    const float radius = ((const float *)s->radius)[i],
                heavy = (float)(w->gas.mass / (double)((const float *)s->mass)[i]);
    double square = 0;
    for (int c = 0; c < 3; c++) {
      put_grain(w, i, c, s->quanta[c * n + i]);
      square += (double)w->now.p[i * w->stride + c] * w->now.p[i * w->stride + c];
    }
    fastest = fmax(fastest, square * (double)heavy * (double)heavy);
    if (w->stride == 4) {
      memcpy(w->now.x + i * 4 + 3, &radius, sizeof radius);
      memcpy(w->now.p + i * 4 + 3, &heavy, sizeof heavy);
    }
    w->now.id[i] = (uint32_t)i;
    w->now.collisions[i] = (uint32_t)s->collisions[i];
  }
  w->slots = n;
  w->virial = w->lost = 0;
  for (int64_t i = 0; i < n; i++) {
    w->virial += s->virial[i];
    w->lost += s->dissipated[i];
  }
  w->fastest = collision_gas_speed(w, fastest);
  w->listed = false;
  w->dues = 0;
  return SIM_OK;
}

/* From positions and velocities at the start: momenta of half a step before. */
static void begin(collision_work *w, double t) {
  const collision_state *s = &w->state;
  const int64_t n = w->o.n;
  (void)t;
  for (int64_t k = 0; k < 3 * n; k++) {
    const int c = (int)(k / n);
    const double mass = (double)((const float *)s->mass)[k % n];
    s->quanta[k] = collision_gas_word(&w->gas, c, (double)((const float *)s->position)[k],
                                      mass * (double)((const float *)s->velocity)[k]);
  }
  w->failed = load(w);
  gas_tally tally = {0};
  if (w->failed == SIM_OK) w->failed = collision_gas_lists(w);
  if (w->failed != SIM_OK) return;
  collision_gas_impulses(w, true, &tally);
  /* The first step's impulses lie half before the start. */
  w->virial = -0.5 * (double)tally.virial * w->gas.virial_unit;
  w->lost = -0.5 * (double)tally.lost * w->gas.lost_unit;
  for (int64_t k = 0; k < w->slots; k++)
    for (int c = 0; c < 3; c++) w->now.p[k * w->stride + c] -= w->spare.p[k * w->stride + c] >> 1;
}

static sim_status store(collision_work *w) {
  const collision_state *s = &w->state;
  const int64_t n = w->o.n;
  gas_tally tally = {0};
  SIM_TRY(collision_gas_lists(w));
  collision_gas_impulses(w, false, &tally);
#pragma omp parallel for schedule(static) num_threads(w->threads)
  for (int64_t k = 0; k < w->slots; k++) {
    const int64_t id = w->now.id[k];
    if (w->now.id[k] == UINT32_MAX) continue;
    const double unit = w->gas.quantum / (double)((const float *)s->mass)[id];
    for (int c = 0; c < 3; c++) {
      const uint32_t x = w->now.x[k * w->stride + c];
      const int32_t p = w->now.p[k * w->stride + c], q = w->spare.p[k * w->stride + c];
      const float place = (float)(w->gas.low[c] + (double)x * 0x1p-32 * w->gas.size[c]);
      /* Rounded up to the box's end it is its beginning. */
      ((float *)s->position)[c * n + id] =
          (double)place < w->gas.low[c] + w->gas.size[c] ? place : (float)w->gas.low[c];
      ((float *)s->velocity)[c * n + id] = (float)(((double)p + 0.5 * (double)q) * unit);
      s->quanta[c * n + id] = (uint64_t)(uint32_t)p << 32 | x;
    }
    s->collisions[id] = w->now.collisions[k];
  }
  s->virial[0] = w->virial;
  s->dissipated[0] = w->lost;
  return SIM_OK;
}

const collision_ops collision_gas_ops_cpu = {.dtype = SIM_F32,
                                             .exact = true,
                                             .bytes = bytes,
                                             .create = create,
                                             .destroy = destroy,
                                             .load = load,
                                             .begin = begin,
                                             .step = step,
                                             .store = store,
                                             .sums = collision_gas_sums};
