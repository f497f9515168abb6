#include "kernels/nbody/cpu/functions.h"

#include "engine/reduce.h"
#include "kernels/nbody/cpu/evaluator.h"

#include <stdlib.h>

/* number of bodies; with fewer, starting threads costs more than it saves */
enum { PARALLEL_FROM = 4096 };

struct nbody_functions {
  nbody_options options;
  nbody_state state;
  double *terms, *partial;
  nbody_evaluator *force, *potential; /* of laws.external; NULL: no such function */
  nbody_evaluator **observe;          /* [options.observe->count] */
  const nbody_targets *targets;       /* bodies that the external force is added to; NULL: all */
};

static size_t observe_count(const nbody_options *options) { return options->observe ? options->observe->count : 0; }

static sim_status create_part(const nbody_options *options, int first, int count, nbody_evaluator **out) {
  sim_expr *part;
  SIM_TRY(nbody_laws_pick(options->laws.external, first, count, &part));
  sim_status status = nbody_evaluator_create(part, "t", options->isa, options->threads, out);
  sim_expr_free(&part);
  return status;
}

static sim_status create_fields(nbody_functions *f) {
  const nbody_options *options = &f->options;
  const int forces = options->jerk ? 6 : 3;
  if (options->laws.external != NULL) {
    SIM_TRY(create_part(options, 0, forces, &f->force));
    SIM_TRY(create_part(options, forces, 1, &f->potential));
  }
  f->observe = calloc(observe_count(options) + 1, sizeof *f->observe);
  if (f->observe == NULL) return sim_no_memory("functions of bodies");
  for (size_t i = 0; i < observe_count(options); i++)
    SIM_TRY(
        nbody_evaluator_create(options->observe->items[i].expr, "t", options->isa, options->threads, &f->observe[i]));
  return SIM_OK;
}

sim_status nbody_functions_create(const nbody_options *options, const nbody_state *state, double *terms,
                                  double *partial, nbody_functions **out) {
  nbody_functions *f = *out = calloc(1, sizeof *f);
  if (f == NULL) return sim_no_memory("functions of bodies");
  *f = (nbody_functions){.options = *options, .terms = terms, .partial = partial};
  if (state != NULL) f->state = *state;
  sim_status status = create_fields(f);
  if (status != SIM_OK) nbody_functions_destroy(out);
  return status;
}

void nbody_functions_destroy(nbody_functions **functions) {
  nbody_functions *f = *functions;
  if (f == NULL) return;
  nbody_evaluator_destroy(&f->force);
  nbody_evaluator_destroy(&f->potential);
  for (size_t i = 0; f->observe != NULL && i < observe_count(&f->options); i++) nbody_evaluator_destroy(&f->observe[i]);
  free(f->observe);
  free(f);
  *functions = NULL;
}

double nbody_functions_bytes(const nbody_options *options) {
  nbody_functions *f;
  if (nbody_functions_create(options, NULL, NULL, NULL, &f) != SIM_OK) return 0;
  double bytes = sizeof *f + (double)(observe_count(options) + 1) * (double)sizeof *f->observe;
  if (f->force != NULL) bytes += nbody_evaluator_bytes(f->force) + nbody_evaluator_bytes(f->potential);
  for (size_t i = 0; i < observe_count(options); i++) bytes += nbody_evaluator_bytes(f->observe[i]);
  nbody_functions_destroy(&f);
  return bytes;
}

/* ---- loops over all bodies ---- */

static nbody_evaluator_input component(const nbody_functions *f, const void *vectors, sim_dtype dtype, int c) {
  const size_t bytes = (size_t)(c * f->state.n) * sim_dtype_size(dtype);
  return (nbody_evaluator_input){(const char *)vectors + bytes, dtype, false};
}

/* Fills in inputs x y z [vx vy vz] t of the external force. */
static void external_inputs(const nbody_functions *f, const double *t, nbody_evaluator_input in[7]) {
  int count = 0;
  for (int c = 0; c < 3; c++) in[count++] = component(f, f->state.position, f->state.dtype, c);
  for (int c = 0; c < 3 && (f->options.jerk || f->options.laws.velocity_dependent); c++)
    in[count++] = component(f, f->state.velocity, f->state.dtype, c);
  in[count] = (nbody_evaluator_input){t, SIM_F64, true};
}

/* Fills in inputs NBODY_BODY_INPUTS of an observable. */
static void body_inputs(const nbody_functions *f, const double *t, nbody_evaluator_input in[11]) {
  in[0] = component(f, f->state.mass, f->state.dtype, 0);
  for (int c = 0; c < 3; c++) {
    in[1 + c] = component(f, f->state.position, f->state.dtype, c);
    in[4 + c] = component(f, f->state.velocity, f->state.dtype, c);
    in[7 + c] = component(f, f->state.acceleration, SIM_F64, c);
  }
  in[10] = (nbody_evaluator_input){t, SIM_F64, true};
}

typedef void block_work(nbody_functions *f, const double *results, int64_t first, int64_t count);

static void over_bodies(nbody_functions *f, const nbody_evaluator *field, const nbody_evaluator_input *in,
                        block_work *work) {
  const int64_t n = f->state.n;
#pragma omp parallel for schedule(static) num_threads(f->options.threads) if (n >= PARALLEL_FROM)
  for (int64_t first = 0; first < n; first += NBODY_EVALUATOR_BLOCK) {
    const int64_t count = n - first < NBODY_EVALUATOR_BLOCK ? n - first : NBODY_EVALUATOR_BLOCK;
    work(f, nbody_evaluator_run(field, in, first, count), first, count);
  }
}

static void add_force(nbody_functions *f, const double *results, int64_t first, int64_t count) {
  const nbody_targets *targets = f->targets;
  for (int c = 0; c < (f->options.jerk ? 6 : 3); c++) {
    double *out = (c < 3 ? f->state.acceleration + c * f->state.n : f->state.jerk + (c - 3) * f->state.n) + first;
    const double *more = results + c * NBODY_EVALUATOR_BLOCK;
    for (int64_t i = 0; i < count; i++)
      if (targets == NULL || targets->level[first + i] >= targets->least) out[i] += more[i];
  }
}

static void keep_energy(nbody_functions *f, const double *results, int64_t first, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    const double m = f->state.dtype == SIM_F32 ? (double)((const float *)f->state.mass)[first + i]
                                               : ((const double *)f->state.mass)[first + i];
    f->terms[first + i] = m * results[i];
  }
}

static void keep_terms(nbody_functions *f, const double *results, int64_t first, int64_t count) {
  for (int64_t i = 0; i < count; i++) f->terms[first + i] = results[i];
}

static double total(const nbody_functions *f) {
  return sim_reduce_sum(f->terms, (size_t)f->state.n, f->partial, f->options.threads);
}

void nbody_functions_force(nbody_functions *f, double t, const nbody_targets *targets) {
  nbody_evaluator_input in[7];
  if (f->force == NULL) return;
  f->targets = targets;
  external_inputs(f, &t, in);
  over_bodies(f, f->force, in, add_force);
}

double nbody_functions_potential(nbody_functions *f, double t) {
  nbody_evaluator_input in[7];
  if (f->potential == NULL) return 0;
  external_inputs(f, &t, in);
  over_bodies(f, f->potential, in, keep_energy);
  return total(f);
}

void nbody_functions_observe(nbody_functions *f, double t, double *values) {
  nbody_evaluator_input in[11];
  body_inputs(f, &t, in);
  for (size_t i = 0; i < observe_count(&f->options); i++) {
    over_bodies(f, f->observe[i], in, keep_terms);
    switch ((sim_reduction)f->options.observe->items[i].reduce) {
    case SIM_SUM: values[i] = total(f); break;
    case SIM_MEAN: values[i] = total(f) / (double)f->state.n; break;
    case SIM_LEAST: values[i] = sim_reduce_extreme(f->terms, (size_t)f->state.n, false); break;
    case SIM_GREATEST: values[i] = sim_reduce_extreme(f->terms, (size_t)f->state.n, true); break;
    }
  }
}
