/* The tables of operations on an NVIDIA GPU. */
#include "kernels/nbody/cuda/bath.cuh"
#include "kernels/nbody/cuda/functions.cuh"
#include "kernels/nbody/cuda/levels.cuh"
#include "kernels/nbody/cuda/observe.cuh"
#include "kernels/nbody/cuda/partials.cuh"
#include "kernels/nbody/cuda/range.h"
#include "kernels/nbody/cuda/steps.cuh"

#include "engine/device/cuda.h"

#include <stdlib.h>

/* ---- memory ---- */

/* Byte offsets of the arrays, in an order that keeps all aligned. */
typedef struct layout {
  size_t search, histogram, result, partial, observed, before, x0, v0, level, total;
} layout;

static layout layout_of(const nbody_options *options, bool single) {
  const size_t n = (size_t)options->n, blocks = (n + NBODY_PARTIAL_BODIES - 1) / NBODY_PARTIAL_BODIES;
  const size_t old = options->jerk ? 3 * n * (single ? sizeof(float) : sizeof(double)) : 0;
  layout l = {};
  l.search = 0;
  l.histogram = sizeof(nbody_search);
  l.result = l.histogram + sizeof(nbody_histogram);
  l.partial = l.result + NBODY_RESULTS * sizeof(double);
  l.observed = l.partial + NBODY_QUANTITIES * blocks * sizeof(double);
  l.before = l.observed + (options->observe != NULL ? options->observe->count : 0) * (blocks + 1) * sizeof(double);
  l.x0 = l.before + (options->jerk ? 6 * n * sizeof(double) : 0);
  l.v0 = l.x0 + old;
  l.level = l.v0 + old;
  l.total = l.level + (options->individual ? n : 0);
  return l;
}

template <bool SINGLE> static double bytes(const nbody_options *options) {
  return (double)layout_of(options, SINGLE).total;
}

static void destroy(nbody_work **work) {
  if (*work == NULL) return;
  nbody_cuda_functions_destroy(&(*work)->functions);
  sim_backend_cuda.free((*work)->memory);
  free(*work);
  *work = NULL;
}

static sim_status create(const nbody_options *options, const nbody_state *state, nbody_forces forces,
                         nbody_work **out) {
  nbody_work *w = *out = (nbody_work *)calloc(1, sizeof *w);
  if (w == NULL) return sim_no_memory("the integrator");
  const bool single = state->dtype == SIM_F32;
  const layout l = layout_of(options, single);
  nbody_range mass;
  w->options = *options;
  w->state = *state;
  w->forces = forces;
  sim_status status = sim_backend_cuda.alloc(l.total, &w->memory);
  if (status == SIM_OK) status = nbody_cuda_range(state->mass, state->dtype, 0, (size_t)state->n, &mass);
  if (status == SIM_OK) status = nbody_cuda_functions_create(options, single, &w->functions);
  if (status != SIM_OK) {
    destroy(out);
    return status;
  }
  char *at = (char *)w->memory;
  w->mass_unit = 0x1p61 / nbody_power_above(mass.sum);
  w->search = (nbody_search *)(at + l.search);
  w->result = (double *)(at + l.result);
  w->partial = (double *)(at + l.partial);
  w->observed = (double *)(at + l.observed);
  w->a0 = (double *)(at + l.before);
  w->j0 = w->a0 + 3 * options->n;
  w->x0 = at + l.x0;
  w->v0 = at + l.v0;
  w->histogram = (nbody_histogram *)(at + l.histogram);
  w->level = (uint8_t *)(at + l.level);
  return SIM_OK;
}

/* ---- the table ---- */

/* Completes a force between bodies: it is not final where an external force is still to be added. */
static void take(nbody_work *w, double t) {
  if (w->raw.kind == NBODY_FORCE_FINAL && w->functions.finish != nullptr)
    w->raw = {NBODY_FORCE_PARTS, 1, w->state.acceleration, w->state.jerk, 1, 1};
  w->zeroed = false;
  w->t = t;
}

static void force(nbody_work *w, double t) {
  w->forces.solver->accelerate(w->forces.work, w->zeroed, &w->raw);
  take(w, t);
}

static void choose_levels(nbody_work *w, double dt, int least, nbody_histogram *out) {
  nbody_cuda_choose_levels(w, dt, least, &w->counts);
  *out = w->counts;
}

static void force_levels(nbody_work *w, double t, int least) {
  nbody_targets targets = {w->level, least, 0};
  for (int level = least; level <= w->options.levels; level++) targets.count += w->counts.bodies[level];
  if (targets.count == w->state.n) {
    force(w, t);
    return;
  }
  w->forces.solver->accelerate_some(w->forces.work, &targets);
  w->raw.kind = NBODY_FORCE_FINAL;
  take(w, t);
}

template <typename real> static void kick_drift(nbody_work *w, double kick, double drift) {
  nbody_cuda_kick_drift<real>(w, kick, drift);
  w->zeroed = true;
}

static sim_status observe(nbody_work *w, double t, double *values) {
  nbody_cuda_finish(w);
  return nbody_cuda_observe(w, t, values);
}

template <typename real> static constexpr nbody_ops table_of(sim_dtype dtype) {
  return {
      .dtype = dtype,
      .bytes = bytes<sizeof(real) == sizeof(float)>,
      .create = create,
      .destroy = destroy,
      .force = force,
      .finish = nbody_cuda_finish,
      .kick = nbody_cuda_kick<real>,
      .drift = nbody_cuda_drift<real>,
      .kick_drift = kick_drift<real>,
      .choose_levels = choose_levels,
      .force_levels = force_levels,
      .kick_levels = nbody_cuda_kick_levels<real>,
      .hermite_predict = nbody_cuda_predict<real>,
      .hermite_correct = nbody_cuda_correct<real>,
      .step_softened = nbody_cuda_step_softened,
      .step_aarseth = nbody_cuda_step_aarseth,
      .kinetic = nbody_cuda_kinetic<real>,
      .bathe = nbody_cuda_bathe<real>,
      .sums = nbody_cuda_sums<real>,
      .observe = observe,
  };
}

const nbody_ops nbody_ops_cuda_f32 = table_of<float>(SIM_F32);
const nbody_ops nbody_ops_cuda_f64 = table_of<double>(SIM_F64);
