/* The solver table of the fast multipole method on an NVIDIA GPU. */
extern "C" {
#include "engine/log.h"
}

#include "kernels/nbody/fmm/cuda/stages.cuh"

#include "engine/device/calls.h"
#include "engine/device/cuda.h"
#include "kernels/nbody/cuda/partials.cuh"
#include "kernels/nbody/cuda/range.h"
#include "kernels/nbody/fmm/cuda/outer.cuh"
#include "kernels/nbody/fmm/cuda/ranks.cuh"
#include "kernels/nbody/fmm/cuda/sample.h"
#include "kernels/nbody/periodic/lattice.h"

#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int nbody_fmm_cuda_blocks = 0;
double nbody_fmm_cuda_share = 1;

/* Cells and segments of lists that there is memory for. */
struct fmm_room {
  double cells, segments;
};

struct nbody_solver_work {
  nbody_options options;
  nbody_state state;
  double mass_unit; /* a power of two */
  char description[96];
  fmm_room room, potential_room;
  void *memory; /* one piece for all arrays but the lists, on the device */
  void *lists;  /* one piece; NULL: there is none, and all forces fail */
  void *images; /* in a periodic box, one piece for the arrays of `outer` */
  nbody_fmm_cuda_outer outer;
  nbody_fmm_ranks ranks;
  unsigned long long *told; /* on the host, written by the device: nbody_fmm_tree.told */
  unsigned forces;          /* that were queued, with potentials, since `memory` was taken */
  sim_graph *graph;         /* a force on all bodies; NULL: not captured yet */
  bool swapped;             /* what nbody_fmm_sort_bodies returns */
  int refits;               /* forces on some bodies that may keep the tree; 0: the next one builds it */
  sim_status failure;       /* first error of forces and potentials since the last check */
  char message[1024];
};

/* ---- memory ---- */

/* Byte offsets of the arrays; pool, next and task within `lists`. `counters` is the same for both types. */
struct layout {
  unsigned cells, segments;
  size_t frame, counters, result, sample, key[2], id[2], room, room_bytes, body, cell, level, walked, stage, sphere,
      moment, field, open, near, status, of_cell, total;
  size_t pool, next, task, lists_total;
};

template <typename real> static nbody_fmm_stages<real> stages_of(int order) {
  switch (order) {
  case 3: return nbody_fmm_stages_of<real, 3>();
  case 4: return nbody_fmm_stages_of<real, 4>();
  case 5: return nbody_fmm_stages_of<real, 5>();
  default: return nbody_fmm_stages_of<real, 6>();
  }
}

static size_t take(size_t *total, double count, size_t size) {
  const size_t at = *total;
  *total = (at + (size_t)count * size + 255) / 256 * 256;
  return at;
}

/* Largest numbers of cells and segments: entries of lists (tree.cuh), and 32 bits, can number no more. */
static fmm_room most_room(const nbody_options *options) { return {options->box > 0 ? 0x1p24 : 0x1p29, 0x1p31}; }

/* Cells: bodies that fill a level evenly have at most 64/7 cells for each full leaf. Lists: measured for Plummer
 * spheres at theta 0.8 and w 1.5 as 0.1 segments a body with leaves of 64, and with the volume that is not accepted. */
static fmm_room planned_room(const nbody_options *options) {
  const nbody_fmm_settings *settings = &options->fmm;
  const double leaves = (double)options->n / settings->leaf;
  const double reach = (1 + settings->weight) / 2.5 * 0.8 / settings->theta;
  const double images = options->box > 0 ? 2 : 1; /* cells at a face have neighbours behind it too */
  const fmm_room most = most_room(options);
  return {fmin(10 * leaves + 8 * NBODY_FMM_LEVEL_MAX + 1024, most.cells),
          fmin(images * (13 * leaves * fmax(reach * reach * reach, 0.5) + 16384), most.segments)};
}

template <typename real> static layout layout_of(const nbody_options *options, const fmm_room &room) {
  const double n = (double)options->n;
  const nbody_fmm_stages<real> stages = stages_of<real>(options->fmm.order);
  const size_t quad_bytes = 4 * sizeof(real);
  layout l = {};
  l.cells = (unsigned)room.cells;
  l.segments = (unsigned)room.segments;
  l.room_bytes = nbody_fmm_sort_room((int)options->n);
  l.frame = take(&l.total, 1, sizeof(nbody_fmm_frame));
  l.counters = take(&l.total, 1, sizeof(nbody_fmm_counters));
  l.result = take(&l.total, 1, sizeof(double));
  l.sample = take(&l.total, (double)nbody_fmm_sample_bytes(), 1);
  for (int k = 0; k < 2; k++) l.key[k] = take(&l.total, n, sizeof(unsigned long long));
  for (int k = 0; k < 2; k++) l.id[k] = take(&l.total, n, sizeof(unsigned));
  l.room = take(&l.total, (double)l.room_bytes, 1);
  l.body = take(&l.total, n, quad_bytes);
  l.status = take(&l.total, l.cells / NBODY_FMM_TILE + 1, sizeof(unsigned long long));
  size_t packed = l.total; /* bodies, before there are cells */
  take(&packed, n, quad_bytes);
  l.cell = take(&l.total, l.cells, sizeof(uint4));
  l.level = take(&l.total, l.cells, 1);
  l.walked = take(&l.total, options->individual ? l.cells : 0, 1);
  l.stage = take(&l.total, l.cells, sizeof(unsigned));
  l.sphere = take(&l.total, l.cells, quad_bytes);
  l.moment = take(&l.total, l.cells, (size_t)stages.moment_stride * sizeof(real));
  l.field = take(&l.total, l.cells, (size_t)stages.field_stride * sizeof(real));
  l.open = take(&l.total, l.cells, sizeof(uint2));
  l.near = take(&l.total, l.cells, sizeof(uint2));
  l.pool = take(&l.lists_total, l.segments, FMM_SEGMENT * sizeof(unsigned));
  l.next = take(&l.lists_total, l.segments, sizeof(unsigned));
  l.task = take(&l.lists_total, l.segments, sizeof(uint4));
  l.of_cell = sizeof(real) == sizeof(double) ? take(&l.total, l.cells, sizeof(double)) : 0;
  if (l.total < packed) l.total = packed;
  return l;
}

template <typename real>
static nbody_fmm_tree<real> tree_of(const nbody_solver_work *w, const nbody_options *options, const layout &l) {
  char *const at = (char *)w->memory, *const lists = (char *)w->lists;
  nbody_fmm_tree<real> t = {};
  t.n = (int)options->n;
  t.leaf = options->fmm.leaf;
  t.box = options->box;
  for (double cells = options->fmm.leaf; cells < (double)t.n; cells *= 8) t.dense_level++;
  t.cells_most = l.cells;
  t.segments_most = l.segments;
  t.pieces = 4;
  t.weight = (real)options->fmm.weight;
  t.theta2 = (real)options->fmm.theta * (real)options->fmm.theta;
  t.frame = (nbody_fmm_frame *)(at + l.frame);
  t.counters = (nbody_fmm_counters *)(at + l.counters);
  t.body = (typename nbody_fmm_tree<real>::body_type *)(at + l.body);
  t.cell = (uint4 *)(at + l.cell);
  t.level = (unsigned char *)(at + l.level);
  t.stage = (unsigned *)(at + l.stage);
  t.sphere = (typename nbody_fmm_tree<real>::body_type *)(at + l.sphere);
  t.moment = (real *)(at + l.moment);
  t.field = (real *)(at + l.field);
  t.open = (uint2 *)(at + l.open);
  t.near = (uint2 *)(at + l.near);
  t.pool = (unsigned *)(lists + l.pool);
  t.next = (unsigned *)(lists + l.next);
  t.task = (uint4 *)(lists + l.task);
  t.status = (unsigned long long *)(at + l.status);
  t.told = w->told;
  t.unit = 1;
  return t;
}

/* The potential is always in fp64, in the same memory. Beside forces in fp32 it has leaves of twice as many bodies, so
 * that it needs no more memory than the forces. */
static nbody_options for_potential(const nbody_options *options) {
  nbody_options out = *options;
  if (options->single_pairs) out.fmm.leaf *= 2;
  return out;
}

/* Byte offsets of the arrays of nbody_fmm_cuda_outer. */
struct outer_layout {
  size_t tensors, table, moments, fields, pieces, partial, first, total;
};

static const size_t table_size = (size_t)NBODY_TABLE_ROWS * NBODY_TABLE_ROW;

static outer_layout outer_layout_of(const nbody_options *options) {
  const double number = NBODY_FMM_OUTER_COUNT, cubes = NBODY_FMM_OUTER_CUBES;
  outer_layout l = {};
  if (options->box == 0) return l;
  l.tensors = take(&l.total, (double)NBODY_FMM_OUTER_TENSORS, sizeof(double));
  l.table = take(&l.total, (double)table_size, sizeof(double));
  l.moments = take(&l.total, number * cubes, sizeof(double));
  l.fields = take(&l.total, number * cubes, sizeof(double));
  l.pieces = take(&l.total, number * (double)nbody_fmm_outer_pieces(options->n), sizeof(double));
  l.partial = take(&l.total, (double)nbody_partials(options->n) + 1, sizeof(double));
  l.first = take(&l.total, 2 * (cubes + 1), sizeof(int));
  return l;
}

/* Bytes of `memory` and of `lists`, for forces as well as for the potential. */
static void sizes_of(const nbody_options *options, const fmm_room &room, const fmm_room &potential_room, size_t *memory,
                     size_t *lists) {
  const nbody_options potential = for_potential(options);
  const layout l = options->single_pairs ? layout_of<float>(options, room) : layout_of<double>(options, room);
  const layout p = layout_of<double>(&potential, potential_room);
  *memory = l.total > p.total ? l.total : p.total;
  *lists = l.lists_total > p.lists_total ? l.lists_total : p.lists_total;
}

static void bytes(const nbody_options *options, double *host, double *device) {
  const nbody_options potential = for_potential(options);
  size_t memory, lists;
  sizes_of(options, planned_room(options), planned_room(&potential), &memory, &lists);
  const double shared = nbody_fmm_ranks_bytes(options);
  *host = sizeof(unsigned long long) + shared;
  *device = shared + (double)memory + (double)lists + (double)outer_layout_of(options).total;
}

static sim_status create_outer(nbody_solver_work *w) {
  const outer_layout l = outer_layout_of(&w->options);
  const double softening = w->options.softening / w->options.box;
  double *const tensors = (double *)malloc(NBODY_FMM_OUTER_TENSORS * sizeof *tensors);
  double *const table = (double *)malloc(table_size * sizeof *table);
  sim_status status = tensors == NULL || table == NULL ? sim_no_memory("the images of a periodic box") : SIM_OK;
  if (status == SIM_OK) status = sim_backend_cuda.alloc(l.total, &w->images);
  if (status == SIM_OK) {
    char *const at = (char *)w->images;
    w->outer = {(double *)(at + l.tensors), (double *)(at + l.table),  (double *)(at + l.moments),
                (double *)(at + l.fields),  (double *)(at + l.pieces), (double *)(at + l.partial),
                (int *)(at + l.first)};
    nbody_fmm_outer_tensors(softening, tensors);
    nbody_lattice_fill_table(softening, w->options.threads > 0 ? w->options.threads : 1, table);
    status = sim_backend_cuda.copy(w->outer.tensors, tensors, NBODY_FMM_OUTER_TENSORS * sizeof *tensors);
  }
  if (status == SIM_OK) status = sim_backend_cuda.copy(w->outer.table, table, table_size * sizeof *table);
  free(tensors);
  free(table);
  return status;
}

static void destroy(nbody_solver_work **work) {
  if (*work == NULL) return;
  sim_queue_cuda.graph_destroy(&(*work)->graph);
  nbody_fmm_ranks_destroy(&(*work)->ranks);
  sim_backend_cuda.free((*work)->memory);
  sim_backend_cuda.free((*work)->lists);
  sim_backend_cuda.free((*work)->images);
  sim_backend_cuda.free_host((*work)->told);
  free(*work);
  *work = NULL;
}

/* `memory` and `lists`, each if it is not large enough any more. SIM_ERR_NO_MEMORY. */
static sim_status take_memory(nbody_solver_work *w, const fmm_room &room, const fmm_room &potential_room) {
  size_t before[2] = {0, 0}, now[2];
  if (w->memory != NULL) sizes_of(&w->options, w->room, w->potential_room, &before[0], &before[1]);
  sizes_of(&w->options, room, potential_room, &now[0], &now[1]);
  w->room = room;
  w->potential_room = potential_room;
  sim_queue_cuda.graph_destroy(&w->graph);
  if (now[1] > before[1]) {
    sim_backend_cuda.free(w->lists);
    w->lists = NULL;
    SIM_TRY(sim_backend_cuda.alloc(now[1], &w->lists));
  }
  if (now[0] > before[0]) {
    sim_backend_cuda.free(w->memory);
    w->memory = NULL;
    w->forces = 0;
    *w->told = 0;
    SIM_TRY(sim_backend_cuda.alloc(now[0], &w->memory));
  }
  return SIM_OK;
}

static fmm_room share_of(const fmm_room &room) {
  return {ceil(nbody_fmm_cuda_share * room.cells), ceil(nbody_fmm_cuda_share * room.segments)};
}

static sim_status create(const nbody_options *options, const nbody_state *state, nbody_solver_work **out) {
  nbody_solver_work *w = *out = (nbody_solver_work *)calloc(1, sizeof *w);
  if (w == NULL) return sim_no_memory("the fast multipole method");
  w->options = *options;
  w->state = *state;
  snprintf(w->description, sizeof w->description, "leaves of %d", options->fmm.leaf);
  const nbody_options potential = for_potential(options);
  nbody_range mass;
  void *told = NULL;
  sim_status status = sim_backend_cuda.alloc_host(sizeof *w->told, &told);
  w->told = (unsigned long long *)told;
  if (status == SIM_OK) status = nbody_fmm_ranks_create(options, &w->ranks);
  if (status == SIM_OK) status = take_memory(w, share_of(planned_room(options)), share_of(planned_room(&potential)));
  if (status == SIM_OK) status = nbody_cuda_range(state->mass, state->dtype, 0, (size_t)state->n, &mass);
  if (status == SIM_OK && options->box > 0) status = create_outer(w);
  if (status == SIM_OK) status = sim_queue_cuda.status();
  if (status != SIM_OK) {
    destroy(out);
    return status;
  }
  double bodies = 1;
  while (bodies < (double)options->n) bodies *= 2;
  w->mass_unit = nbody_power_above(mass.high) * bodies;
  return SIM_OK;
}

/* ---- a step ---- */

/* Forces are not asked for their failures one by one. */
static void keep_failure(nbody_solver_work *w, sim_status status) {
  if (status == SIM_OK || w->failure != SIM_OK) return;
  w->failure = status;
  snprintf(w->message, sizeof w->message, "%s", sim_error_last()->message);
}

/* More memory for what had none: in a force or, `potential`, a potential. */
static sim_status grow(nbody_solver_work *w, bool potential, unsigned failed) {
  const nbody_options options = potential ? for_potential(&w->options) : w->options;
  const fmm_room most = most_room(&options);
  const size_t at = layout_of<double>(&options, w->room).counters;
  const bool cells = (failed & NBODY_FMM_CELLS_FULL) != 0, segments = (failed & NBODY_FMM_SEGMENTS_FULL) != 0;
  const fmm_room before = potential ? w->potential_room : w->room;
  nbody_fmm_counters counters;
  SIM_TRY(sim_backend_cuda.copy(&counters, (const char *)w->memory + at, sizeof counters));
  fmm_room now = before;
  if (cells) now.cells = fmin(2 * before.cells + 64, most.cells);
  if (segments) /* as many as were asked for, and more: dropped entries would have opened cells */
    now.segments = fmin(fmax(2 * before.segments, 1.25 * counters.segments), most.segments);
  sim_status status = SIM_ERR_NO_MEMORY;
  if (now.cells > before.cells || now.segments > before.segments)
    status = take_memory(w, potential ? w->room : now, potential ? now : w->potential_room);
  if (status == SIM_OK)
    sim_log(SIM_LOG_INFO,
            "fast multipoles: %.9g cells and %.9g segments of lists have no room; memory for %.9g and %.9g",
            before.cells, before.segments, now.cells, now.segments);
  if (status != SIM_ERR_NO_MEMORY) return status;
  return sim_fail(SIM_ERR_NO_MEMORY, cells
                                         ? "fast multipoles: the bodies are so unevenly spread that the tree has more "
                                           "cells than there is memory for on the GPU: take gravity.solver = \"direct\""
                                         : "fast multipoles: the lists of cells are longer than there is memory for on "
                                           "the GPU: take a larger gravity.error, or gravity.solver = \"direct\"");
}

static bool has_memory(const nbody_solver_work *w) { return w->memory != NULL && w->lists != NULL; }

/* Whether a force can begin. After a failure other ranks may be elsewhere. */
static bool can_begin(const nbody_solver_work *w) {
  return has_memory(w) && (w->options.comm->size == 1 || w->failure == SIM_OK);
}

/* Waits until the lists of the last force or potential are made, while the device goes on with it. Returns whether it
 * is to be repeated: its lists had no room, and now there is more. */
static bool settle(nbody_solver_work *w, bool potential) {
  enum { SLEEP_FROM = 200000 /* bodies; the rest of a force then takes much longer than a sleep */ };
  const struct timespec pause = {0, w->options.n < SLEEP_FROM ? 0 : 20000};
  const volatile unsigned long long *const told = w->told;
  const cudaStream_t stream = (cudaStream_t)sim_cuda_stream();
  sim_cuda_call_begin(SIM_CALL_WAITS, "lists of a force");
  while ((unsigned)*told != w->forces) {
    if (cudaStreamQuery(stream) != cudaErrorNotReady) break;
    (void)cudaGetLastError(); /* that is no error */
    if (pause.tv_nsec > 0) nanosleep(&pause, NULL);
  }
  sim_call_end();
  const unsigned long long word = *told;
  const unsigned failed = (unsigned)(word >> 32);
  sim_status status = SIM_OK;
  if ((unsigned)word != w->forces) { /* the device has failed */
    status = sim_queue_cuda.finish();
    if (status == SIM_OK)
      status = sim_fail(SIM_ERR_INTERNAL, "fast multipoles: force %u, not %u", (unsigned)word, w->forces);
  } else if ((failed & NBODY_FMM_NOT_FINITE) != 0)
    status = sim_fail(SIM_ERR_DIVERGED, "a position is not finite");
  else if (failed != 0)
    status = grow(w, potential, failed);
  keep_failure(w, status);
  return failed != 0 && status == SIM_OK;
}

/* Up to the fields of all cells. `refit`: with the cells of the last tree. */
template <typename real>
static void queue_fields(nbody_solver_work *w, const nbody_options *options, const layout &l,
                         const nbody_fmm_stages<real> &stages, bool with_potential, const nbody_targets *targets,
                         bool refit, nbody_fmm_tree<real> *t) {
  char *const at = (char *)w->memory;
  nbody_fmm_sort s = {};
  for (int k = 0; k < 2; k++) {
    s.key[k] = (unsigned long long *)(at + l.key[k]);
    s.id[k] = (unsigned *)(at + l.id[k]);
  }
  s.room = at + l.room;
  s.bytes = l.room_bytes;
  s.packed = at + l.cell;
  *t = tree_of<real>(w, options, l);
  if (targets != NULL) {
    t->pieces = 1;
    t->walked = (unsigned char *)(at + l.walked);
    t->target_level = targets->level;
    t->least = targets->least;
    if (options->box == 0) t->unit = w->options.G * w->mass_unit; /* in a box the unit follows from the outer images */
  }
  const double softening = w->options.softening, mass_scale = 1 / w->mass_unit;
  const bool wide = w->state.dtype == SIM_F64;
  if (refit) {
    nbody_fmm_take_order(t, &s, w->swapped);
    if (wide)
      nbody_fmm_refit<real, double>(t, &w->state, mass_scale);
    else
      nbody_fmm_refit<real, float>(t, &w->state, mass_scale);
  } else {
    w->swapped = wide ? nbody_fmm_sort_bodies<real, double>(t, &s, &w->state, softening, mass_scale)
                      : nbody_fmm_sort_bodies<real, float>(t, &s, &w->state, softening, mass_scale);
    if (options->box > 0) nbody_fmm_queue_outer(t, &w->outer);
    nbody_fmm_plant(t);
  }
  const int kind = with_potential ? nbody_fmm_rank_kinds(&w->options) - 1 : targets != NULL ? targets->least : 0;
  nbody_fmm_cut(&w->ranks, options, kind, t);
  stages.up(t);
  stages.far(t, with_potential);
  nbody_fmm_agree(&w->ranks, kind, t);
  stages.down(t);
}

template <typename real>
static void queue_accelerations_in(nbody_solver_work *w, const nbody_targets *targets, bool refit) {
  const nbody_fmm_stages<real> stages = stages_of<real>(w->options.fmm.order);
  nbody_fmm_tree<real> t;
  queue_fields(w, &w->options, layout_of<real>(&w->options, w->room), stages, false, targets, refit, &t);
  double *acceleration = w->state.acceleration;
  if (targets == NULL) acceleration = nbody_fmm_take_window(&w->ranks, &t, acceleration);
  stages.near(&t, acceleration);
  const double unit = targets != NULL ? w->options.G * w->mass_unit : 1;
  if (w->options.box > 0) nbody_fmm_add_outer(&t, &w->outer, unit, acceleration);
  nbody_fmm_gather_forces(&w->ranks, &t, acceleration);
}

/* targets NULL: of all bodies. */
static void queue_accelerations(nbody_solver_work *w, const nbody_targets *targets, bool refit) {
  if (w->options.single_pairs)
    queue_accelerations_in<float>(w, targets, refit);
  else
    queue_accelerations_in<double>(w, targets, refit);
}

/* Queues the launches of a force. They are the same in each force, and captured once. */
static void queue_all(nbody_solver_work *w) {
  const sim_queue *queue = &sim_queue_cuda;
  if (w->graph == NULL) {
    if (queue->graph_begin() != SIM_OK) return;
    queue_accelerations(w, NULL, false);
    if (queue->graph_end(&w->graph) != SIM_OK || w->graph == NULL) return; /* it was queued at once, for a profile */
  }
  (void)queue->graph_launch(w->graph);
}

/* Where no force can begin. */
static void set_nan(nbody_solver_work *w, double *acceleration) {
  const size_t size = 3 * (size_t)w->state.n * sizeof(double);
  keep_failure(w, sim_no_memory("the lists of fast multipoles"));
  sim_cuda_failed(cudaMemsetAsync(acceleration, 0xff, size, (cudaStream_t)sim_cuda_stream()), "cudaMemsetAsync",
                  "the acceleration");
}

static void accelerate(nbody_solver_work *w, bool, nbody_raw_force *out) {
  double *const acceleration = w->ranks.window != NULL ? w->ranks.window : w->state.acceleration;
  w->refits = 0;
  if (!can_begin(w)) set_nan(w, acceleration);
  for (bool again = can_begin(w); again; again = settle(w, false)) {
    w->forces++;
    queue_all(w);
  }
  *out = {};
  out->kind = NBODY_FORCE_PARTS;
  out->parts = 1;
  out->acceleration = acceleration;
  out->unit = w->options.G * w->mass_unit;
}

/* In a box a body that is wrapped leaves its cell, so that every force builds a new tree. */
static void accelerate_some(nbody_solver_work *w, const nbody_targets *targets) {
  const int refits = w->refits;
  w->refits = 0; /* until this force has succeeded */
  if (!can_begin(w)) set_nan(w, w->state.acceleration);
  for (bool again = can_begin(w); again; again = settle(w, false)) {
    w->forces++;
    queue_accelerations(w, targets, refits > 0);
  }
  if (w->failure == SIM_OK && w->options.box == 0) w->refits = refits > 0 ? refits - 1 : NBODY_FMM_REFITS;
}

static sim_status check(nbody_solver_work *w) {
  const sim_status status = w->failure;
  w->failure = SIM_OK;
  return status == SIM_OK ? SIM_OK : sim_fail(status, "%s", w->message);
}

sim_status nbody_fmm_cuda_use(const nbody_solver_work *w, nbody_fmm_use *out) {
  const layout l = layout_of<double>(&w->options, w->room); /* counters lie where they do in fp32 */
  nbody_fmm_counters counters;
  SIM_TRY(sim_backend_cuda.copy(&counters, (const char *)w->memory + l.counters, sizeof counters));
  *out = {};
  out->cells = counters.level_begin[NBODY_FMM_LEVEL_MAX + 1];
  out->cells_most = l.cells;
  out->segments = counters.segments;
  out->segments_most = l.segments;
  out->tasks = counters.tasks;
  while (out->levels <= NBODY_FMM_LEVEL_MAX &&
         counters.level_begin[out->levels + 1] > counters.level_begin[out->levels])
    out->levels++;
  return SIM_OK;
}

static double potential(nbody_solver_work *w) {
  const nbody_options options = for_potential(&w->options);
  const nbody_fmm_stages<double> stages = stages_of<double>(w->options.fmm.order);
  nbody_fmm_tree<double> t;
  double *result = NULL;
  w->refits = 0; /* the memory of the tree is taken */
  for (bool again = can_begin(w); again; again = settle(w, true)) {
    const layout l = layout_of<double>(&options, w->potential_room);
    double *const of_cell = (double *)((char *)w->memory + l.of_cell);
    result = (double *)((char *)w->memory + l.result);
    w->forces++;
    queue_fields(w, &options, l, stages, true, NULL, false, &t);
    sim_cuda_failed(cudaMemsetAsync(of_cell, 0, l.cells * sizeof(double), (cudaStream_t)sim_cuda_stream()),
                    "cudaMemsetAsync", "the potential");
    stages.potential(&t, of_cell);
    nbody_fmm_gather_potentials(&w->ranks, &t, (double *)((char *)w->memory + l.key[!w->swapped]), of_cell);
    nbody_reduce_partials<reduce_sum>(of_cell, 1, (int)l.cells, result);
  }
  if (!has_memory(w)) keep_failure(w, sim_no_memory("the lists of fast multipoles"));
  double sum = 0;
  if (result == NULL || sim_backend_cuda.copy(&sum, result, sizeof sum) != SIM_OK) return NAN;
  if (options.box > 0) {
    double outer = 0, *const at = w->outer.partial + nbody_partials(options.n);
    nbody_fmm_sum_outer(&t, &w->outer, at);
    if (sim_backend_cuda.copy(&outer, at, sizeof outer) != SIM_OK) return NAN;
    sum += outer / options.box;
  }
  return -0.5 * w->options.G * w->mass_unit * w->mass_unit * sum;
}

/* The tree ends, as on the CPU. Each rank takes a share of the bodies. */
static sim_status sample(nbody_solver_work *w, const int64_t *numbers, int count, double *position, double *got,
                         double *exact) {
  const sim_comm *comm = w->options.comm;
  size_t end;
  const int share = (int)sim_comm_share(comm, (size_t)count), first = (int)sim_comm_first(comm, (size_t)count, &end);
  const int own = (int)end > first ? (int)end - first : 0;
  if (!can_begin(w)) return sim_no_memory("the lists of fast multipoles");
  w->refits = 0;
  void *const memory = (char *)w->memory + layout_of<double>(&w->options, w->room).sample;
  double *const all = (double *)malloc((size_t)share * 9 * (size_t)(comm->size + 1) * sizeof *all);
  double *const out = all + (size_t)share * 9 * (size_t)comm->size;
  sim_status status = all == NULL ? sim_no_memory("the force error of %d bodies", count) : SIM_OK;
  if (status == SIM_OK && own > 0)
    status = nbody_fmm_sample(&w->state, w->options.softening, w->options.box, w->outer.table, numbers + first, own,
                              memory, out);
  if (status == SIM_OK) status = comm->ops->gather(comm, out, (size_t)share * 9 * sizeof *out, all);
  for (int k = 0; k < count && status == SIM_OK; k++) {
    const int rank = k / share, here = k % share, of_rank = count - rank * share < share ? count - rank * share : share;
    const double *const from = all + (size_t)rank * 9 * (size_t)share + here;
    for (int c = 0; c < 3; c++) {
      got[c * count + k] = from[c * of_rank];
      exact[c * count + k] = w->options.G * from[(3 + c) * of_rank];
      position[c * count + k] = from[(6 + c) * of_rank];
    }
  }
  free(all);
  return status;
}

static sim_status sample_potential(nbody_solver_work *w, const int64_t *numbers, int count, double *got,
                                   double *exact) {
  double out[2 * NBODY_SAMPLES];
  if (!has_memory(w)) return sim_no_memory("the lists of fast multipoles");
  const nbody_options options = for_potential(&w->options);
  const layout l = layout_of<double>(&options, w->potential_room);
  const char *const at = (const char *)w->memory;
  const nbody_fmm_frame *const frame = (const nbody_fmm_frame *)(at + l.frame);
  SIM_TRY(nbody_fmm_sample_energy(&w->state, w->options.softening, w->options.box, w->outer.table,
                                  (const unsigned *)(at + l.id[w->swapped]), (const double *)(at + l.key[w->swapped]),
                                  &frame->per_edge, numbers, count, (char *)w->memory + l.sample, out));
  for (int k = 0; k < count; k++) {
    got[k] = -w->options.G * w->mass_unit * w->mass_unit * out[k];
    exact[k] = -w->options.G * out[count + k];
  }
  return SIM_OK;
}

static const char *describe(const nbody_solver_work *w) { return w->description; }

/* ---- the table ---- */

static sim_status supports(const nbody_options *options) {
  SIM_TRY(nbody_fmm_serves(options));
  /* in a periodic box lists have less room for the numbers of cells: layout_of and tree.cuh */
  const double most = options->box > 0 ? 0x1.8p20 * options->fmm.leaf : (double)NBODY_FMM_CUDA_MOST;
  if ((double)options->n > most)
    return sim_fail(SIM_ERR_SCENARIO,
                    "bodies: %.9g are more than the %.9g that gravity.solver = \"fmm\" takes on cuda%s",
                    (double)options->n, most, options->box > 0 ? " in a periodic box" : "");
  return SIM_OK;
}

/* Every rank sorts all bodies and makes the tree. More are of no use where a share takes less than the exchange, as
 * `sim check` assumes it, or has no leaf. */
static void add_exchange(const nbody_options *options, double n, const nbody_fmm_estimate *force, nbody_cost *out) {
  const double ranks = options->comm->size, exchange_seconds = 1e-5, exchange_rate = 300e9;
  if (ranks == 1) return;
  out->undivided = fmin(1, force->undivided / force->seconds);
  out->bytes_received = 3 * n * sizeof(double) * (ranks - 1) / ranks + nbody_fmm_words_received(options->comm);
  out->exchanges = 2;
  const double exchange = out->exchanges * exchange_seconds + out->bytes_received / exchange_rate;
  const double most = fmin((1 - out->undivided) * force->seconds / exchange, n / options->fmm.leaf);
  out->most_ranks = (int)fmax(1, fmin(most, SIM_RANKS_MAX));
}

static sim_status estimate(const nbody_options *options, double n, nbody_cost *out) {
  const nbody_fmm_estimate cost = nbody_fmm_estimate_for(options, SIM_BACKEND_CUDA, n);
  *out = {};
  out->interactions = n * (cost.far + cost.near);
  out->rate = out->interactions / cost.seconds;
  add_exchange(options, n, &cost, out);
  return SIM_OK;
}

const nbody_solver nbody_fmm_cuda = {
    .name = "fast multipoles",
    .supports = supports,
    .bytes = bytes,
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .describe = describe,
    .accelerate = accelerate,
    .accelerate_some = accelerate_some,
    .check = check,
    .sample = sample,
    .sample_potential = sample_potential,
    .potential = potential,
};
