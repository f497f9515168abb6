/* The solver table of pair forces with a cutoff on an NVIDIA GPU. */
#include "kernels/nbody/short/cuda/short.cuh"

#include "engine/device/cuda.h"
#include "kernels/common/launch.cuh"
#include "kernels/nbody/cuda/partials.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

template <typename type> using force_kernel = void(const short_lists, const type *, double, double, double *);
template <typename real>
using sums_kernel = void(const short_lists, const real *, const real *, const double *, const double *, double, double,
                         double *);

/* ---- memory ---- */

/* Byte offsets of the arrays. */
struct layout {
  size_t keys, sorted_keys, numbers, order, cell, length, places, moved, partial, result, sort, total;
};

/* Cells at least as wide as the reach; not many more than bodies. */
static int side_for(const nbody_options *o) {
  const double side = fmin(floor(o->box / (o->cutoff + nbody_short_skin(o))), floor(cbrt(8 * (double)o->n)));
  return side >= 3 ? (int)fmin(side, 1024) : 1;
}

/* Neighbours of a body by the mean density, and some more. */
static int room_for(const nbody_options *o) {
  const double mean = 2 * nbody_short_pairs(o, (double)o->n) / (double)o->n;
  return (int)fmin(1.3 * mean + 24, (double)o->n);
}

static size_t take(size_t *total, size_t bytes) {
  const size_t at = *total;
  *total = (at + bytes + 255) / 256 * 256;
  return at;
}

static layout layout_of(const nbody_options *o) {
  const size_t n = (size_t)o->n, side = (size_t)side_for(o), blocks = (size_t)nbody_partials(o->n);
  layout l = {};
  l.keys = take(&l.total, n * sizeof(unsigned));
  l.sorted_keys = take(&l.total, n * sizeof(unsigned));
  l.numbers = take(&l.total, n * sizeof(int));
  l.order = take(&l.total, n * sizeof(int));
  l.cell = take(&l.total, (side * side * side + 1) * sizeof(int));
  l.length = take(&l.total, n * sizeof(int));
  l.places = take(&l.total, n * (o->single_pairs ? sizeof(int4) : sizeof(double_quad)));
  l.moved = take(&l.total, 2 * sizeof(unsigned long long));
  l.partial = take(&l.total, SHORT_SUMS * blocks * sizeof(double));
  l.result = take(&l.total, SHORT_SUMS * sizeof(double));
  l.sort = l.total;
  return l;
}

static void bytes(const nbody_options *options, double *host, double *device) {
  *host = 0;
  /* the sort takes at most a copy of keys and numbers, and some */
  *device = (double)layout_of(options).total + 12.0 * (double)options->n + 0x1p22 +
            (double)room_for(options) * (double)options->n * sizeof(int);
}

static void destroy(nbody_solver_work **work) {
  if (*work == NULL) return;
  nbody_short_law_destroy(&(*work)->law);
  sim_backend_cuda.free((*work)->memory);
  sim_backend_cuda.free((*work)->list);
  free(*work);
  *work = NULL;
}

static sim_status create_list(nbody_solver_work *w, int room) {
  void *list;
  sim_backend_cuda.free(w->list);
  w->list = NULL;
  w->room = room;
  SIM_TRY(sim_backend_cuda.alloc((size_t)room * (size_t)w->options.n * sizeof(int), &list));
  w->list = (int *)list;
  return SIM_OK;
}

static sim_status create_arrays(nbody_solver_work *w) {
  const nbody_options *o = &w->options;
  SIM_TRY(nbody_short_law_create(o, w->state.dtype == SIM_F32, &w->law));
  SIM_TRY(nbody_short_shift(o, &w->shift));
  const layout l = layout_of(o);
  w->side = side_for(o);
  w->sort_bytes = nbody_short_sort_bytes((int)o->n);
  SIM_TRY(sim_backend_cuda.alloc(l.total + w->sort_bytes, &w->memory));
  char *const at = (char *)w->memory;
  w->keys = (unsigned *)(at + l.keys);
  w->sorted_keys = (unsigned *)(at + l.sorted_keys);
  w->numbers = (int *)(at + l.numbers);
  w->order = (int *)(at + l.order);
  w->cell = (int *)(at + l.cell);
  w->length = (int *)(at + l.length);
  w->places = at + l.places;
  w->moved = (unsigned long long *)(at + l.moved);
  w->partial = (double *)(at + l.partial);
  w->result = (double *)(at + l.result);
  w->sort = at + l.sort;
  return create_list(w, room_for(o));
}

static sim_status create(const nbody_options *options, const nbody_state *state, nbody_solver_work **out) {
  nbody_solver_work *w = *out = (nbody_solver_work *)calloc(1, sizeof *w);
  if (w == NULL) return sim_no_memory("pair forces");
  w->options = *options;
  w->state = *state;
  const sim_status status = create_arrays(w);
  if (status != SIM_OK) destroy(out);
  return status;
}

static const char *describe(const nbody_solver_work *w) {
  return w->side == 1 ? "lists of neighbours" : "lists of neighbours from cells";
}

/* ---- lists ---- */

/* Lists at state->searched; `anew`: at the present positions, which become that. */
static sim_status make_lists(nbody_solver_work *w, bool anew) {
  if (anew) nbody_short_move(w, !w->listed && !w->options.listed);
  nbody_short_sort(w);
  nbody_short_pack(w, true); /* positions of a resumed run have moved since the search */
  unsigned long long most;
  nbody_short_search(w);
  SIM_TRY(sim_backend_cuda.copy(&most, w->moved + 1, sizeof most));
  if (most > (unsigned long long)w->room) {
    SIM_TRY(create_list(w, (int)fmin(1.1 * (double)most + 8, (double)w->options.n)));
    nbody_short_search(w);
  }
  w->listed = true;
  return SIM_OK;
}

static void enqueue_force(nbody_solver_work *w) {
  static const sim_kernel single = {"nbody_short_force_f32", "force", SIM_LIMIT_FP32};
  static const sim_kernel wide = {"nbody_short_force_f64", "force", SIM_LIMIT_FP64};
  const nbody_options *o = &w->options;
  const short_lists lists = {(int)o->n, w->order, w->length, w->list};
  const unsigned grid = (unsigned)((o->n + SHORT_THREADS - 1) / SHORT_THREADS);
  const double counted = 14 * 2 * nbody_short_pairs(o, (double)o->n), cutoff2 = o->cutoff * o->cutoff;
  if (o->single_pairs)
    device_launch(&single, counted, grid, SHORT_THREADS, (force_kernel<int4> *)w->law.force, lists,
                  (const int4 *)w->places, o->box, cutoff2, w->state.acceleration);
  else
    device_launch(&wide, counted, grid, SHORT_THREADS, (force_kernel<double_quad> *)w->law.force, lists,
                  (const double_quad *)w->places, o->box, cutoff2, w->state.acceleration);
}

/* Packed bodies with lists that serve for their positions, and with `force` their acceleration: it is computed before
 * the displacements are known on the host, and again where lists were too old. */
static sim_status prepare(nbody_solver_work *w, bool force) {
  const double half_skin = 0.5 * nbody_short_skin(&w->options) * (1 - 1e-5);
  unsigned long long bits;
  double moved;
  if (w->listed && w->list == NULL) return sim_no_memory("the lists of neighbours"); /* as the search before */
  if (!w->listed) SIM_TRY(make_lists(w, !w->options.listed));
  nbody_short_pack(w, false);
  if (force) enqueue_force(w);
  SIM_TRY(sim_backend_cuda.copy(&bits, w->moved, sizeof bits));
  memcpy(&moved, &bits, sizeof moved);
  if (moved <= half_skin * half_skin) return SIM_OK;
  if (!(moved < INFINITY)) return sim_fail(SIM_ERR_DIVERGED, "positions are not finite");
  SIM_TRY(make_lists(w, true));
  if (force) enqueue_force(w);
  return SIM_OK;
}

/* ---- sums ---- */

static void accelerate(nbody_solver_work *w, bool, nbody_raw_force *out) {
  *out = {};
  out->kind = NBODY_FORCE_FINAL;
  w->summed = false;
  if (nbody_failure_keep(&w->failure, prepare(w, true)) == SIM_OK) return;
  sim_cuda_failed(cudaMemsetAsync(w->state.acceleration, 0xff, 3 * (size_t)w->state.n * sizeof(double),
                                  (cudaStream_t)sim_cuda_stream()),
                  "cudaMemsetAsync", "the acceleration"); /* NaN */
}

template <typename real> static void launch_sums(nbody_solver_work *w) {
  static const sim_kernel kernel = {"nbody_short_sums", "observe", SIM_LIMIT_FP64};
  const nbody_state *s = &w->state;
  const short_lists lists = {(int)s->n, w->order, w->length, w->list};
  device_launch(&kernel, 20 * 2 * nbody_short_pairs(&w->options, (double)s->n), (unsigned)nbody_partials(s->n),
                NBODY_PARTIAL_BODIES, (sums_kernel<real> *)w->law.sums, lists, (const real *)s->mass,
                (const real *)s->position, s->searched, s->travelled, w->options.box,
                w->options.cutoff * w->options.cutoff, w->partial);
}

static sim_status find_sums(nbody_solver_work *w) {
  double sums[SHORT_SUMS];
  SIM_TRY(prepare(w, false));
  if (w->state.dtype == SIM_F32)
    launch_sums<float>(w);
  else
    launch_sums<double>(w);
  nbody_reduce_partials<reduce_sum>(w->partial, SHORT_SUMS, nbody_partials(w->state.n), w->result);
  SIM_TRY(sim_backend_cuda.copy(sums, w->result, sizeof sums));
  w->sums.weight = sums[SHORT_WEIGHT];
  w->sums.shifted_by = w->shift * sums[SHORT_WEIGHT];
  w->sums.potential = sums[SHORT_POTENTIAL] - w->sums.shifted_by;
  w->sums.virial = sums[SHORT_VIRIAL];
  w->sums.displacement2 = sums[SHORT_DISPLACEMENT] / (double)w->state.n;
  w->summed = true;
  return SIM_OK;
}

static void pairs(nbody_solver_work *w, nbody_pair_sums *out) {
  if (!w->summed && nbody_failure_keep(&w->failure, find_sums(w)) != SIM_OK) w->sums = {NAN, NAN, NAN, NAN, NAN};
  *out = w->sums;
}

static double potential(nbody_solver_work *w) {
  nbody_pair_sums sums;
  pairs(w, &sums);
  return sums.potential;
}

static sim_status check(nbody_solver_work *w) { return nbody_failure_report(&w->failure); }

static sim_status estimate(const nbody_options *options, double n, nbody_cost *out) {
  out->rate = options->single_pairs ? 2e11 : 5e10;
  return nbody_short_count(options, n, out);
}

const nbody_solver nbody_short_cuda = {
    .name = "pairs within the cutoff",
    .supports = nbody_short_supports,
    .bytes = bytes,
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .describe = describe,
    .accelerate = accelerate,
    .check = check,
    .potential = potential,
    .pairs = pairs,
};
