#include "kernels/nbody/fmm/cuda/memory.cuh"

extern "C" {
#include "engine/log.h"
}

#include "engine/device/cuda.h"
#include "kernels/nbody/cuda/partials.cuh"
#include "kernels/nbody/cuda/range.h"
#include "kernels/nbody/fmm/cuda/sample.h"
#include "kernels/nbody/periodic/lattice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double nbody_fmm_cuda_share = 1;

/* ---- where each array lies ---- */

template <typename real> nbody_fmm_stages<real> nbody_fmm_stages_for(int order) {
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
static nbody_fmm_room most_room(const nbody_options *options) { return {options->box > 0 ? 0x1p24 : 0x1p29, 0x1p31}; }

/* Cells: bodies that fill a level evenly have at most 64/7 cells for each full leaf. Lists: measured for Plummer
 * spheres at theta 0.8 and w 1.5 as 0.1 segments a body with leaves of 64, and with the volume that is not accepted. */
static nbody_fmm_room planned_room(const nbody_options *options) {
  const nbody_fmm_settings *settings = &options->fmm;
  const double leaves = (double)options->n / settings->leaf;
  const double reach = (1 + settings->weight) / 2.5 * 0.8 / settings->theta;
  const double images = options->box > 0 ? 2 : 1; /* cells at a face have neighbours behind it too */
  const nbody_fmm_room most = most_room(options);
  return {fmin(10 * leaves + 8 * NBODY_FMM_LEVEL_MAX + 1024, most.cells),
          fmin(images * (13 * leaves * fmax(reach * reach * reach, 0.5) + 16384), most.segments)};
}

template <typename real>
nbody_fmm_layout nbody_fmm_layout_of(const nbody_options *options, const nbody_fmm_room &room) {
  const double n = (double)options->n;
  const nbody_fmm_stages<real> stages = nbody_fmm_stages_for<real>(options->fmm.order);
  const size_t quad_bytes = 4 * sizeof(real);
  nbody_fmm_layout l = {};
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
  size_t packed = l.total; /* unsorted bodies take the place of cells, which do not exist yet */
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
nbody_fmm_tree<real> nbody_fmm_tree_of(const nbody_solver_work *w, const nbody_options *options,
                                       const nbody_fmm_layout &l) {
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

nbody_options nbody_fmm_for_potential(const nbody_options *options) {
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
static void sizes_of(const nbody_options *options, const nbody_fmm_room &room, const nbody_fmm_room &potential_room,
                     size_t *memory, size_t *lists) {
  const nbody_options potential = nbody_fmm_for_potential(options);
  const nbody_fmm_layout l =
      options->single_pairs ? nbody_fmm_layout_of<float>(options, room) : nbody_fmm_layout_of<double>(options, room);
  const nbody_fmm_layout p = nbody_fmm_layout_of<double>(&potential, potential_room);
  *memory = l.total > p.total ? l.total : p.total;
  *lists = l.lists_total > p.lists_total ? l.lists_total : p.lists_total;
}

void nbody_fmm_bytes(const nbody_options *options, double *host, double *device) {
  const nbody_options potential = nbody_fmm_for_potential(options);
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

void nbody_fmm_destroy(nbody_solver_work **work) {
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

/* Allocates `memory` and `lists`, each if it is no longer large enough. SIM_ERR_NO_MEMORY. */
static sim_status take_memory(nbody_solver_work *w, const nbody_fmm_room &room, const nbody_fmm_room &potential_room) {
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

static nbody_fmm_room share_of(const nbody_fmm_room &room) {
  return {ceil(nbody_fmm_cuda_share * room.cells), ceil(nbody_fmm_cuda_share * room.segments)};
}

sim_status nbody_fmm_create(const nbody_options *options, const nbody_state *state, nbody_solver_work **out) {
  nbody_solver_work *w = *out = (nbody_solver_work *)calloc(1, sizeof *w);
  if (w == NULL) return sim_no_memory("the fast multipole method");
  w->options = *options;
  w->state = *state;
  snprintf(w->description, sizeof w->description, "leaves of %d", options->fmm.leaf);
  const nbody_options potential = nbody_fmm_for_potential(options);
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
    nbody_fmm_destroy(out);
    return status;
  }
  double bodies = 1;
  while (bodies < (double)options->n) bodies *= 2;
  w->mass_unit = nbody_power_above(mass.high) * bodies;
  return SIM_OK;
}

sim_status nbody_fmm_grow(nbody_solver_work *w, bool potential, unsigned failed) {
  const nbody_options options = potential ? nbody_fmm_for_potential(&w->options) : w->options;
  const nbody_fmm_room most = most_room(&options);
  const size_t at = nbody_fmm_layout_of<double>(&options, w->room).counters;
  const bool cells = (failed & NBODY_FMM_CELLS_FULL) != 0, segments = (failed & NBODY_FMM_SEGMENTS_FULL) != 0;
  const nbody_fmm_room before = potential ? w->potential_room : w->room;
  nbody_fmm_counters counters;
  SIM_TRY(sim_backend_cuda.copy(&counters, (const char *)w->memory + at, sizeof counters));
  nbody_fmm_room now = before;
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

template nbody_fmm_stages<float> nbody_fmm_stages_for(int);
template nbody_fmm_stages<double> nbody_fmm_stages_for(int);
template nbody_fmm_layout nbody_fmm_layout_of<float>(const nbody_options *, const nbody_fmm_room &);
template nbody_fmm_layout nbody_fmm_layout_of<double>(const nbody_options *, const nbody_fmm_room &);
template nbody_fmm_tree<float> nbody_fmm_tree_of(const nbody_solver_work *, const nbody_options *,
                                                 const nbody_fmm_layout &);
template nbody_fmm_tree<double> nbody_fmm_tree_of(const nbody_solver_work *, const nbody_options *,
                                                  const nbody_fmm_layout &);
