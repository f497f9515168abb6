/* Vectors in host memory. */
#include "kernels/diffusion/cpu/implicit/vectors.h"

#include "engine/reduce.h"
#include "kernels/common/fft/fft.h"

#include <math.h>
#include <stdlib.h>

/* Work on blocks of numbers that belong to one field each. The loops of vectors.inc say what it reads. */
typedef struct block_task {
  void *out;
  int terms, lanes;
  double first;
  const double *factor;
  const void *const *of;
} block_task;
typedef void block_work(const block_task *task, int64_t field, int64_t first, int64_t end);

#define real float
#define NAME(word) word##_single
#include "kernels/diffusion/cpu/implicit/vectors.inc"
#define real double
#define NAME(word) word##_double
#include "kernels/diffusion/cpu/implicit/vectors.inc"

/* ---- the division of sums ---- */

/* Returns the end of a rank's units. */
static int64_t units_to(const grid_shape *grid, bool single, const sim_comm *comm, int rank) {
  const diffusion_slab slab = diffusion_slab_of(grid, single, comm, rank);
  if (grid->rank > 1 && grid_is_member_axis(grid, grid->rank - 1)) return slab.end;
  return grid->rank == 3 ? slab.middle_end : slab.group_end;
}

static diffusion_units units_of(const grid_shape *grid, bool single, const sim_comm *comm) {
  const diffusion_slab slab = diffusion_own_slab(grid, single, comm);
  const int64_t lanes = 2 * fft_group(single), rows = diffusion_row_stride(grid, single) * lanes;
  diffusion_units u = {.repeats = slab.backs, .stride = slab.stride * lanes};
  for (int r = 0; r < comm->size; r++) u.ends[r] = units_to(grid, single, comm, r);
  u.all = u.ends[comm->size - 1];
  u.end = u.ends[comm->rank];
  u.first = comm->rank > 0 ? u.ends[comm->rank - 1] : 0;
  u.length = u.step = grid->rank == 3 ? rows : lanes;
  if (grid->rank > 1 && grid_is_member_axis(grid, grid->rank - 1)) {
    u.step = u.stride;
    u.length = grid->rank == 3 ? grid->n[1] * rows : rows;
    u.repeats = 1;
  }
  u.depth = SIM_REDUCE_BLOCK / u.length < 1 ? 1 : SIM_REDUCE_BLOCK / u.length < 64 ? SIM_REDUCE_BLOCK / u.length : 64;
  u.chunks = (u.repeats + u.depth - 1) / u.depth;
  return u;
}

static size_t partial_numbers(const diffusion_units *u, int fields) {
  return (size_t)(DIFFUSION_VECTOR_TERMS * (u->end - u->first) * fields * u->chunks);
}
static size_t sums_numbers(const diffusion_units *u) { return (size_t)((DIFFUSION_VECTOR_TERMS + 1) * u->all); }

double diffusion_vectors_bytes(const grid_shape *grid, const sim_comm *comm, int fields, bool single) {
  const diffusion_units u = units_of(grid, single, comm);
  return sizeof(double) * ((double)partial_numbers(&u, fields) + (double)sums_numbers(&u));
}

double diffusion_vectors_received(const grid_shape *grid, bool single, const sim_comm *comm) {
  return sizeof(double) * (double)units_to(grid, single, comm, comm->size - 1);
}

sim_status diffusion_vectors_create(const grid_shape *grid, const sim_comm *comm, int fields, int64_t count,
                                    bool single, int threads, diffusion_vectors *out) {
  diffusion_host_sums *own = calloc(1, sizeof *own);
  bool walls = true;
  for (int axis = 0; axis < grid->rank; axis++) walls = walls && grid->boundary[axis] != GRID_PERIODIC;
  *out = (diffusion_vectors){.fields = fields,
                             .threads = threads,
                             .count = count,
                             .single = single,
                             .lanes = walls ? 0 : (int)fft_group(single),
                             .own = own};
  if (!own) return sim_no_memory("the implicit scheme");
  own->comm = comm;
  own->units = units_of(grid, single, comm);
  own->partial = calloc(partial_numbers(&own->units, fields) + 1, sizeof(double));
  own->sums = calloc(sums_numbers(&own->units), sizeof(double));
  return own->partial && own->sums ? SIM_OK : sim_no_memory("the implicit scheme");
}

void diffusion_vectors_destroy(diffusion_vectors *v) {
  diffusion_host_sums *own = (diffusion_host_sums *)(uintptr_t)v->own;
  if (!own) return;
  free(own->partial);
  free(own->sums);
  free(own);
  v->own = NULL;
}

/* ---- sums of vectors ---- */

/* Blocks of whole points, each within one field. */
static int64_t field_blocks(const diffusion_vectors *v) { return (v->count + SIM_REDUCE_BLOCK - 1) / SIM_REDUCE_BLOCK; }

static void each_block(const diffusion_vectors *v, block_work *work, const block_task *task) {
  const int64_t blocks = v->fields * field_blocks(v);
  const int team = blocks > 8 ? v->threads : 1;
#pragma omp parallel for schedule(static) num_threads(team) if (team > 1)
  for (int64_t block = 0; block < blocks; block++) {
    const int64_t in_field = block % field_blocks(v), field = block / field_blocks(v);
    const int64_t last = (in_field + 1) * SIM_REDUCE_BLOCK, begin = field * v->count;
    work(task, field, begin + in_field * SIM_REDUCE_BLOCK, begin + (last < v->count ? last : v->count));
  }
}

static void sum(const diffusion_vectors *v, void *out, int terms, const double *factor, const void *const *of) {
  /* the target goes first, so that it may be one of the terms */
  const void *ordered[DIFFUSION_VECTOR_TERMS];
  double factors[DIFFUSION_VECTOR_TERMS];
  int own = 0;
  for (int t = 0; t < terms; t++)
    if (of[t] == out) own = t;
  for (int t = 0; t < terms; t++) {
    const int from = t == 0 ? own : t <= own ? t - 1 : t;
    ordered[t] = of[from];
    factors[t] = factor[from];
  }
  each_block(v, v->single ? sum_single : sum_double,
             &(block_task){.out = out, .terms = terms, .factor = factors, .of = ordered});
}

static void resolve(const diffusion_vectors *v, void *out, double first, const double *factor, const void *symbol) {
  each_block(v, v->single ? resolve_single : resolve_double,
             &(block_task){.out = out, .lanes = v->lanes, .first = first, .factor = factor, .of = &symbol});
}

static void choose(const diffusion_vectors *v, void *out, const void *other, const void *where) {
  each_block(v, v->single ? choose_single : choose_double,
             &(block_task){.out = out, .of = (const void *const[]){other, where}});
}

/* Computes the partial sums of one chunk of one field in units first <= u < end of this rank. */
static void dot_units(const diffusion_vectors *v, double weight, int64_t field, int64_t chunk, int64_t first,
                      int64_t end, const void *a, int count, const void *const *of) {
  const diffusion_host_sums *sums = v->own;
  const diffusion_units *u = &sums->units;
  const int64_t own = u->end - u->first, from = chunk * u->depth, left = u->repeats - from;
  const int64_t depth = left < u->depth ? left : u->depth;
  for (int i = 0; i < count; i++)
    for (int64_t unit = first; unit < end; unit++) {
      const int64_t at = field * v->count + from * u->stride + unit * u->step;
      double *to = sums->partial + ((i * own + unit) * v->fields + field) * u->chunks + chunk;
      *to = weight * (v->single ? dot_single(a, of[i], at, u->length, depth, u->stride)
                                : dot_double(a, of[i], at, u->length, depth, u->stride));
    }
}

static sim_status dots(const diffusion_vectors *v, const double *weight, const void *a, int count,
                       const void *const *of, double *out) {
  const diffusion_host_sums *s = v->own;
  const diffusion_units *u = &s->units;
  const int64_t own = u->end - u->first, chunk = u->depth * u->length;
  const int64_t beside = chunk < SIM_REDUCE_BLOCK ? SIM_REDUCE_BLOCK / chunk : 1; /* units of one piece of work */
  const int64_t parts = (own + beside - 1) / beside, pieces = v->fields * u->chunks * parts;
#pragma omp parallel for schedule(static) num_threads(v->threads) if (v->threads > 1 && pieces > 8)
  for (int64_t piece = 0; piece < pieces; piece++) {
    const int64_t first = piece % parts * beside, above = piece / parts, field = above / u->chunks;
    const int64_t end = first + beside < own ? first + beside : own;
    dot_units(v, weight[field], field, above % u->chunks, first, end, a, count, of);
  }
  double *column = s->sums + DIFFUSION_VECTOR_TERMS * u->all;
  const size_t partial = (size_t)(v->fields * u->chunks);
  for (int64_t unit = 0; unit < own; unit++)
    for (int i = 0; i < count; i++)
      s->sums[(u->first + unit) * count + i] =
          sim_reduce_tree(s->partial + (i * own + unit) * (int64_t)partial, partial);
  if (s->comm->size > 1) {
    size_t ends[SIM_RANKS_MAX];
    for (int r = 0; r < s->comm->size; r++) ends[r] = (size_t)(u->ends[r] * count) * sizeof(double);
    SIM_TRY(sim_comm_gather_parts(s->comm, s->sums, ends));
  }
  for (int i = 0; i < count; i++) {
    for (int64_t unit = 0; unit < u->all; unit++) column[unit] = s->sums[unit * count + i];
    out[i] = sim_reduce_tree(column, (size_t)u->all);
  }
  return SIM_OK;
}

/* Whether number i of a field is a real part. */
static bool is_real(const diffusion_vectors *v, int64_t i) { return v->lanes == 0 || i % (2 * v->lanes) < v->lanes; }

static void fill(const diffusion_vectors *v, void *out, double re, double im) {
  for (int64_t i = 0; i < v->fields * v->count; i++)
    grid_set_number(out, v->single, i, is_real(v, i % v->count) ? re : im);
}

/* Returns the greatest real part of part `part` of `parts` of each field, at least `most`. */
static double greatest_of(const diffusion_vectors *v, const void *a, int part, int parts, double most) {
  for (int f = 0; f < v->fields; f++)
    for (int64_t i = v->count * part / parts; i < v->count * (part + 1) / parts; i++)
      if (is_real(v, i)) most = fmax(most, grid_number(a, v->single, f * v->count + i));
  return most;
}

static sim_status greatest(const diffusion_vectors *v, const void *a, double *most) {
  enum { PARTS = 64 };
  const sim_comm *comm = ((const diffusion_host_sums *)v->own)->comm;
  const double least = *most;
  double parts[PARTS], all[SIM_RANKS_MAX];
#pragma omp parallel for schedule(static) num_threads(v->threads) if (v->threads > 1 && field_blocks(v) > 8)
  for (int p = 0; p < PARTS; p++) parts[p] = greatest_of(v, a, p, PARTS, least);
  for (int p = 0; p < PARTS; p++) *most = fmax(*most, parts[p]);
  SIM_TRY(comm->ops->gather(comm, most, sizeof *most, all));
  for (int r = 0; r < comm->size; r++) *most = fmax(*most, all[r]);
  return SIM_OK;
}

const diffusion_vector_ops diffusion_vectors_cpu = {
    .sum = sum, .resolve = resolve, .choose = choose, .fill = fill, .dots = dots, .greatest = greatest};
