/* Launches of kernels with functions of a scenario. The kernels have the types of the wrappers in function_text.c. */
#include "kernels/nbody/cuda/functions.cuh"

#include "kernels/nbody/cuda/external.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/nbody/cuda/partials.cuh"

/* ---- an external force ---- */

typedef void finish_kernel(nbody_raw_force, double *, double *, const void *, const void *, int, double);
typedef void kick_kernel(nbody_raw_force, void *, void *, double *, int, double, double, double, double);
typedef void correct_kernel(nbody_raw_force, void *, void *, const double *, const double *, const void *, const void *,
                            const double *, const double *, int, double, double);
typedef void energy_kernel(const void *, const void *, const void *, int, double, double *);

static dim3 grid_of(const nbody_work *w) {
  const int64_t blocks = (w->state.n + EXTERNAL_THREADS - 1) / EXTERNAL_THREADS, most = 16 * sim_cuda_multiprocessors();
  return dim3((unsigned)(blocks < most ? blocks : most));
}

static double real_bytes(const nbody_work *w) { return w->state.dtype == SIM_F32 ? 4 : 8; }

/* Bytes moved for all bodies: `reals` components of the state's type, `doubles` of fp64, and the raw force. */
static double bytes_of(const nbody_work *w, double reals, double doubles) {
  const double raw = w->raw.kind == NBODY_FORCE_PARTS ? 24.0 * w->raw.parts : 24.0;
  return (double)w->state.n * (reals * real_bytes(w) + doubles * 8 + (w->options.jerk ? 2 : 1) * raw);
}

void nbody_cuda_external_finish(nbody_work *w) {
  static const sim_kernel kernel = {"nbody_external_finish", "force", SIM_LIMIT_BYTES};
  const nbody_state *s = &w->state;
  device_launch(&kernel, bytes_of(w, w->options.jerk ? 6 : 3, w->options.jerk ? 6 : 3), grid_of(w), EXTERNAL_THREADS,
                (finish_kernel *)w->functions.finish, w->raw, s->acceleration, s->jerk, s->position, s->velocity, s->n,
                w->t);
}

void nbody_cuda_external_kick(nbody_work *w, double dt) {
  static const sim_kernel kernel = {"nbody_external_kick", "kick and drift", SIM_LIMIT_BYTES};
  const nbody_state *s = &w->state;
  device_launch(&kernel, bytes_of(w, 9, 3), grid_of(w), EXTERNAL_THREADS, (kick_kernel *)w->functions.kick, w->raw,
                s->position, s->velocity, s->acceleration, s->n, dt, 0.0, 0.0, w->t);
}

void nbody_cuda_external_kick_drift(nbody_work *w, double kick, double drift) {
  static const sim_kernel kernel = {"nbody_external_kick_drift", "kick and drift", SIM_LIMIT_BYTES};
  const nbody_state *s = &w->state;
  device_launch(&kernel, bytes_of(w, 12, 3), grid_of(w), EXTERNAL_THREADS, (kick_kernel *)w->functions.kick_drift,
                w->raw, s->position, s->velocity, s->acceleration, s->n, kick, drift, w->options.box, w->t);
}

void nbody_cuda_external_correct(nbody_work *w, double dt) {
  static const sim_kernel kernel = {"nbody_external_correct", "predict and correct", SIM_LIMIT_BYTES};
  const nbody_state *s = &w->state;
  device_launch(&kernel, bytes_of(w, 18, 6), grid_of(w), EXTERNAL_THREADS, (correct_kernel *)w->functions.correct,
                w->raw, s->position, s->velocity, s->acceleration, s->jerk, w->x0, w->v0, w->a0, w->j0, s->n, dt, w->t);
}

void nbody_cuda_external_energy(nbody_work *w, double t) {
  static const sim_kernel kernel = {"nbody_external_energy", "observe", SIM_LIMIT_BYTES};
  const nbody_state *s = &w->state;
  const int blocks = nbody_partials(s->n);
  device_launch(&kernel, (double)s->n * 7 * real_bytes(w), dim3((unsigned)blocks), NBODY_PARTIAL_BODIES,
                (energy_kernel *)w->functions.energy, s->mass, s->position, s->velocity, s->n, t, w->partial);
  nbody_reduce_partials<reduce_sum>(w->partial, 1, blocks, w->result + NBODY_EXTERNAL_ENERGY);
}

/* ---- observables ---- */

typedef void observe_kernel(int, const void *, const void *, const void *, const double *, double, double *);
typedef void gather_kernel(const double *, int, double *);

sim_status nbody_cuda_observe(nbody_work *w, double t, double *values) {
  static const sim_kernel mapping = {"nbody_observe", "observe", SIM_LIMIT_BYTES};
  static const sim_kernel gathering = {"nbody_gather", "observe", SIM_LIMIT_BYTES};
  const nbody_state *s = &w->state;
  const sim_function_map *map = w->options.observe;
  if (map == NULL || map->count == 0) return SIM_OK;
  const int blocks = nbody_partials(s->n);
  device_launch(&mapping, (double)s->n * (7 * real_bytes(w) + 24), dim3((unsigned)blocks), NBODY_PARTIAL_BODIES,
                (observe_kernel *)w->functions.observe, s->n, s->mass, s->position, s->velocity, s->acceleration, t,
                w->observed + map->count);
  device_launch(&gathering, 8.0 * (double)map->count * blocks, dim3((unsigned)map->count), NBODY_PARTIAL_BODIES,
                (gather_kernel *)w->functions.gather, w->observed + map->count, blocks, w->observed);
  const sim_status status = sim_backend_cuda.copy(values, w->observed, map->count * sizeof *values);
  for (size_t k = 0; k < map->count; k++)
    if (map->items[k].reduce == SIM_MEAN) values[k] /= (double)s->n;
  return status;
}
