/* Fixed-point solver on the CPU: memory, state and queue of steps. GPU counterpart: cuda/ops.cu. */
#include "kernels/collision/fixed_point/cpu/work.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ISAS(set)                                                                                                      \
  extern const fixed_lanes collision_fixed_point_lanes_single_##set;                                                   \
  static const fixed_lanes *const set##_lanes = &collision_fixed_point_lanes_single_##set;
ISAS(plain)
#if COLLISION_X86
ISAS(avx2)
ISAS(avx512)
static const fixed_lanes *const *const all_lanes[SIM_ISA_COUNT] = {&plain_lanes, &avx2_lanes, &avx512_lanes};
#else
static const fixed_lanes *const *const all_lanes[SIM_ISA_COUNT] = {&plain_lanes};
#endif

/* ---- memory ---- */

static double bytes(const collision_options *o) {
  /* Bytes of a grain: two sets of at most 4 + 4 + 2 words; order and cell; 4 outer pairs and 1 inner pair; cells;
   * impulses. On several ranks also a layer of grains and its impulses, sent and received. */
  const double halo = o->comm->size > 1 ? 2 * 1.2 * pow((double)o->n, 2.0 / 3) * (24 + 4) : 0;
  const double pairs = 5 * 2 * sizeof(uint32_t) / (double)o->comm->size; /* of own slabs */
  return (double)o->n * (2 * 10 * 4 + 8 + pairs + 8 + 8) + halo;
}

static void free_grains(fixed_grains *g) {
  free(g->x), free(g->p), free(g->id), free(g->collisions);
  *g = (fixed_grains){0};
}

static bool make_grains(const collision_work *w, fixed_grains *g) {
  /* Vectors of words are read and written beyond the last grain. */
  const size_t room = (size_t)w->room, words = room * (size_t)w->stride + 2 * FIXED_GROUP;
  *g = (fixed_grains){calloc(words, sizeof *g->x), calloc(words, sizeof *g->p), malloc(room * sizeof *g->id),
                      calloc(room, sizeof *g->collisions)};
  return g->x && g->p && g->id && g->collisions;
}

static void destroy(collision_work **work) {
  collision_work *w = *work;
  if (w == NULL) return;
  collision_fixed_lists_free(w);
  collision_mail_destroy(&w->mail);
  free_grains(&w->now);
  free_grains(&w->spare);
  free(w->order), free(w->cell), free(w->cell_first), free(w->counted), free(w->slab), free(w->team), free(w->report),
      free(w->near);
  free(w);
  *work = NULL;
}

/* Slabs across the longest side; cells as wide as the outer reach, at least three each way. */
static void lay_cells(collision_work *w) {
  const fixed_point_system *system = &w->system;
  const double diameter = system->radius[0] + system->radius[1], touch = 2 * system->radius[1];
  double least = INFINITY;
  int longest = 0;
  for (int c = 0; c < 3; c++) {
    least = fmin(least, system->size[c]);
    if (system->size[c] > system->size[longest]) longest = c;
  }
  w->inner = 0.055 * diameter;
  w->outer = isnan(w->o.skin) ? 0.4 * diameter : fmax(w->o.skin, 2 * w->inner);
  w->outer = fmin(w->outer, (least / 3 - touch) * (1 - 1e-4));
  for (int c = 0; c < 3; c++) {
    w->axis[c] = (longest + c) % 3;
    const double cells = floor(system->size[w->axis[c]] / ((touch + w->outer) * (1 + 2e-5)));
    w->cells[c] = (uint32_t)fmax(3, fmin(cells, c == 0 ? 0x1p20 : 0x1p14));
  }
  /* Dilute systems get at most about two cells a grain. */
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
  const char *missing = collision_fixed_point_excludes(options, options->n, state->mass, state->radius, &w->system);
  if (missing != NULL) return sim_fail(SIM_ERR_INTERNAL, "the fixed-point solver excludes %s", missing);
  w->before = options->before;
  w->stride = w->system.equal ? 3 : 4;
  lay_cells(w);
  int isa = options->isa < sim_isa_best() ? (int)options->isa : (int)sim_isa_best();
  while (all_lanes[isa] == NULL) isa--;
  w->lanes = *all_lanes[isa];
  const size_t slabs = w->cells[0], cells = (size_t)w->cells[1] * w->cells[2];
  SIM_TRY(collision_fixed_ranks_create(w, options->threads));
  w->room = options->n + (int64_t)slabs * FIXED_GROUP;
  w->order = malloc((size_t)options->n * sizeof *w->order);
  w->cell = malloc((size_t)options->n * sizeof *w->cell);
  w->cell_first = malloc(slabs * (cells + 1) * sizeof *w->cell_first);
  w->counted = malloc(slabs * (size_t)w->threads * sizeof *w->counted);
  w->slab = calloc(slabs, sizeof *w->slab);
  w->team = calloc((size_t)w->threads, sizeof *w->team);
  w->report = calloc(slabs, sizeof *w->report);
  w->near = calloc(slabs, sizeof *w->near);
  if (!w->near || !w->report || !w->order || !w->cell || !w->cell_first || !w->counted || !w->slab || !w->team ||
      !make_grains(w, &w->now) || !make_grains(w, &w->spare)) {
    destroy(out);
    return sim_no_memory("%" PRId64 " grains", options->n);
  }
  return SIM_OK;
}

/* ---- the step ---- */

/* Enqueues a step; several queued steps are computed together, or when the state is needed. */
static sim_status step(collision_work *w, double t, double dt) {
  SIM_TRY(w->failed);
  w->pending[w->pending_count++] = (fixed_queued_step){t, dt};
  return w->pending_count < FIXED_QUEUED ? SIM_OK : collision_fixed_sweep(w);
}

/* ---- state ---- */

static void decode_grain(collision_work *w, int64_t i, int c, uint64_t word) {
  w->now.x[i * w->stride + c] = (uint32_t)word;
  w->now.p[i * w->stride + c] = (int32_t)(uint32_t)(word >> 32);
}

/* Fills the grains from the state's arrays, in the order of ids, without lists. */
static sim_status load(collision_work *w) {
  const collision_state *s = &w->state;
  const int64_t n = w->o.n;
  double fastest = 0;
  for (int64_t i = 0; i < n; i++) {
    const float radius = ((const float *)s->radius)[i],
                heavy = (float)(w->system.mass / (double)((const float *)s->mass)[i]);
    double square = 0;
    for (int c = 0; c < 3; c++) {
      decode_grain(w, i, c, s->quanta[c * n + i]);
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
  w->virial = w->dissipated = 0;
  for (int64_t i = 0; i < n; i++) {
    w->virial += s->virial[i];
    w->dissipated += s->dissipated[i];
  }
  w->fastest = collision_fixed_speed(w, fastest);
  w->listed = false;
  w->known = w->ids = true;
  w->pending_count = 0;
  return SIM_OK;
}

/* Encodes positions and velocities at the start, and moves the momenta back by half a step. */
static void begin(collision_work *w, double t) {
  const collision_state *s = &w->state;
  const int64_t n = w->o.n;
  (void)t;
  for (int64_t k = 0; k < 3 * n; k++) {
    const int c = (int)(k / n);
    const double mass = (double)((const float *)s->mass)[k % n];
    s->quanta[k] = collision_fixed_point_encode(&w->system, c, (double)((const float *)s->position)[k],
                                                mass * (double)((const float *)s->velocity)[k]);
  }
  w->failed = load(w);
  fixed_tally tally = {0};
  if (w->failed == SIM_OK) w->failed = collision_fixed_lists(w);
  if (w->failed != SIM_OK) return;
  w->failed = collision_fixed_impulses(w, true, &tally);
  if (w->failed != SIM_OK) return;
  /* Half of the first step's impulses lie before the start. */
  w->virial = -0.5 * (double)tally.virial * w->system.virial_unit;
  w->dissipated = -0.5 * (double)tally.dissipated * w->system.dissipated_unit;
  for (int64_t k = 0; k < w->slots; k++)
    for (int c = 0; c < 3; c++) w->now.p[k * w->stride + c] -= w->spare.p[k * w->stride + c] >> 1;
}

static sim_status store(collision_work *w) {
  const collision_state *s = &w->state;
  const int64_t n = w->o.n;
  fixed_tally tally = {0};
  SIM_TRY(collision_fixed_lists(w));
  SIM_TRY(collision_fixed_impulses(w, false, &tally));
  SIM_TRY(collision_fixed_gather(w));
#pragma omp parallel for schedule(static) num_threads(w->threads)
  for (int64_t k = 0; k < w->slots; k++) {
    const int64_t id = w->now.id[k];
    if (w->now.id[k] == UINT32_MAX) continue;
    const double unit = w->system.quantum / (double)((const float *)s->mass)[id];
    for (int c = 0; c < 3; c++) {
      const uint32_t x = w->now.x[k * w->stride + c];
      const int32_t p = w->now.p[k * w->stride + c], q = w->spare.p[k * w->stride + c];
      const float place = (float)(w->system.low[c] + (double)x * 0x1p-32 * w->system.size[c]);
      /* Rounding may give the upper end of the box, which is the image of its lower end and is stored as that. */
      ((float *)s->position)[c * n + id] =
          (double)place < w->system.low[c] + w->system.size[c] ? place : (float)w->system.low[c];
      ((float *)s->velocity)[c * n + id] = (float)(((double)p + 0.5 * (double)q) * unit);
      s->quanta[c * n + id] = (uint64_t)(uint32_t)p << 32 | x;
    }
    s->collisions[id] = w->now.collisions[k];
  }
  s->virial[0] = w->virial;
  s->dissipated[0] = w->dissipated;
  return SIM_OK;
}

const collision_ops collision_fixed_point_cpu = {.dtype = SIM_F32,
                                                 .exact = true,
                                                 .bytes = bytes,
                                                 .create = create,
                                                 .destroy = destroy,
                                                 .load = load,
                                                 .begin = begin,
                                                 .step = step,
                                                 .store = store,
                                                 .sums = collision_fixed_sums};
