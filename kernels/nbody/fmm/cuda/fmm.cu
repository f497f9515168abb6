/* The solver table of the fast multipole method on an NVIDIA GPU. */
#include "kernels/nbody/fmm/cuda/memory.cuh"

#include "engine/device/calls.h"
#include "engine/device/cuda.h"
#include "kernels/nbody/cuda/partials.cuh"
#include "kernels/nbody/fmm/cuda/sample.h"

#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int nbody_fmm_cuda_blocks = 0;

/* ---- a step ---- */

/* Keeps the first failure: the host does not ask for the failure of each force. */
static void keep_failure(nbody_solver_work *w, sim_status status) {
  if (status == SIM_OK || w->failure != SIM_OK) return;
  w->failure = status;
  snprintf(w->message, sizeof w->message, "%s", sim_error_last()->message);
}

static bool has_memory(const nbody_solver_work *w) { return w->memory != NULL && w->lists != NULL; }

/* Whether a force can begin: after a failure, other ranks may not take part in its exchanges. */
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
    (void)cudaGetLastError(); /* clears it: not an error here */
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
    status = nbody_fmm_grow(w, potential, failed);
  keep_failure(w, status);
  return failed != 0 && status == SIM_OK;
}

/* Queues a force up to the fields of all cells. refit: with the cells of the last tree. */
template <typename real>
static void queue_fields(nbody_solver_work *w, const nbody_options *options, const nbody_fmm_layout &l,
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
  *t = nbody_fmm_tree_of<real>(w, options, l);
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
  const nbody_fmm_stages<real> stages = nbody_fmm_stages_for<real>(w->options.fmm.order);
  nbody_fmm_tree<real> t;
  queue_fields(w, &w->options, nbody_fmm_layout_of<real>(&w->options, w->room), stages, false, targets, refit, &t);
  double *acceleration = w->state.acceleration;
  if (targets == NULL) acceleration = nbody_fmm_take_window(&w->ranks, &t, acceleration);
  stages.near(&t, acceleration);
  const double unit = targets != NULL ? w->options.G * w->mass_unit : 1;
  if (w->options.box > 0) nbody_fmm_add_outer(&t, &w->outer, unit, acceleration);
  nbody_fmm_gather_forces(&w->ranks, &t, acceleration);
}

/* Queues the launches of a force; targets NULL: on all bodies. */
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
    if (queue->graph_end(&w->graph) != SIM_OK || w->graph == NULL) return; /* a profile queues without a graph */
  }
  (void)queue->graph_launch(w->graph);
}

/* Fills the accelerations with NaN, where no force can begin. */
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
  const nbody_fmm_layout l = nbody_fmm_layout_of<double>(&w->options, w->room); /* counters lie where they do in fp32 */
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
  const nbody_options options = nbody_fmm_for_potential(&w->options);
  const nbody_fmm_stages<double> stages = nbody_fmm_stages_for<double>(w->options.fmm.order);
  nbody_fmm_tree<double> t;
  double *result = NULL;
  w->refits = 0; /* the potential overwrites the memory of the tree */
  for (bool again = can_begin(w); again; again = settle(w, true)) {
    const nbody_fmm_layout l = nbody_fmm_layout_of<double>(&options, w->potential_room);
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

/* Ends the life of the tree, as on the CPU. Each rank computes a share of the bodies. */
static sim_status sample(nbody_solver_work *w, const int64_t *numbers, int count, double *position, double *got,
                         double *exact) {
  const sim_comm *comm = w->options.comm;
  size_t end;
  const int share = (int)sim_comm_share(comm, (size_t)count), first = (int)sim_comm_first(comm, (size_t)count, &end);
  const int own = (int)end > first ? (int)end - first : 0;
  if (!can_begin(w)) return sim_no_memory("the lists of fast multipoles");
  w->refits = 0;
  void *const memory = (char *)w->memory + nbody_fmm_layout_of<double>(&w->options, w->room).sample;
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
  const nbody_options options = nbody_fmm_for_potential(&w->options);
  const nbody_fmm_layout l = nbody_fmm_layout_of<double>(&options, w->potential_room);
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
    .bytes = nbody_fmm_bytes,
    .estimate = estimate,
    .create = nbody_fmm_create,
    .destroy = nbody_fmm_destroy,
    .describe = describe,
    .accelerate = accelerate,
    .accelerate_some = accelerate_some,
    .check = check,
    .sample = sample,
    .sample_potential = sample_potential,
    .potential = potential,
};
