/* Launches of kernels that hold a scenario's functions. Their types are those of the wrappers in law_text.c. */
#include "kernels/nbody/cuda/laws.cuh"

#include "kernels/nbody/direct/cuda/bodies.cuh"
#include "kernels/nbody/cuda/external.cuh"
#include "kernels/nbody/cuda/launch.cuh"
#include "kernels/nbody/cuda/partials.cuh"
#include "kernels/nbody/direct/cuda/potential.cuh"
#include "kernels/nbody/direct/cuda/tile.cuh"

#include <string.h>

/* ---- pairs ---- */

template <typename Real> using tile_kernel = void(bodies<Real>, int, double *, double *);
template <typename Real> using potential_kernel = void(bodies<Real>, int, double *);
typedef void start_kernel(int, const void *, const void *, const double *, const double *, double *);

template <typename Real> void nbody_cuda_law_tile(nbody_work *w) {
  static const sim_kernel narrow = {"nbody_law_tile_f32", "force", SIM_LIMIT_FP32};
  static const sim_kernel broad = {"nbody_law_tile_f64", "force", SIM_LIMIT_FP64};
  const double n = (double)w->options.n;
  const nbody_cuda_tiles cut = nbody_cuda_cut(w);
  bodies<Real> b = bodies_of<Real>(w);
  b.scale_mass = w->laws.factor;
  /* what is left of 13, 16, 28 or 31 without an inverse root: what the law costs is not known here */
  const double counted = w->options.jerk ? 24 : 10;
  nbody_launch(w->options.single_pairs ? &narrow : &broad, counted * n * n, dim3(cut.blocks, cut.splits), TILE_THREADS,
               (tile_kernel<Real> *)w->laws.tile, b, cut.per_split, w->parts, w->parts_jerk);
}

template <typename Real> void nbody_cuda_law_potential(nbody_work *w) {
  static const sim_kernel kernel = {"nbody_law_potential", "observe", SIM_LIMIT_FP64};
  const int blocks = nbody_partials(w->options.n), parts = nbody_potential_parts(blocks);
  const double n = (double)w->options.n;
  bodies<Real> b = bodies_of<Real>(w);
  b.scale = b.scale_mass = 1;
  nbody_launch(&kernel, 4.5 * n * n, dim3((unsigned)blocks, (unsigned)parts), POTENTIAL_THREADS,
               (potential_kernel<Real> *)w->laws.potential, b, blocks, w->partial);
  nbody_reduce_partials<add>(w, NBODY_POTENTIAL, 1, parts * blocks);
}

void nbody_cuda_law_start(nbody_work *w) {
  static const sim_kernel kernel = {"nbody_law_start", "time step", SIM_LIMIT_FP64};
  const nbody_state *s = &w->state;
  nbody_launch(&kernel, 10.0 * (double)s->n * (double)s->n, dim3((unsigned)nbody_partials(s->n)), NBODY_PARTIAL_BODIES,
               (start_kernel *)w->laws.start, s->n, s->mass, s->position, s->acceleration, s->jerk, w->partial);
}

/* ---- an external law ---- */

typedef void finish_kernel(nbody_raw, double *, double *, const void *, const void *, int, double);
typedef void kick_kernel(nbody_raw, void *, void *, double *, int, double, double, double);
typedef void correct_kernel(nbody_raw, void *, void *, const double *, const double *, const void *, const void *,
                            const double *, const double *, int, double, double);
typedef void outer_kernel(const void *, const void *, const void *, int, double, double *);

static dim3 grid_of(const nbody_work *w) {
  const int64_t blocks = (w->state.n + EXTERNAL_THREADS - 1) / EXTERNAL_THREADS, most = 16 * sim_cuda_multiprocessors();
  return dim3((unsigned)(blocks < most ? blocks : most));
}

/* Of all bodies, with `reals` components of the state's type and `doubles` others read or written. */
static double bytes_of(const nbody_work *w, bool single, double reals, double doubles) {
  const double raw = w->raw.kind == nbody_raw::NBODY_RAW_PARTIAL ? 24.0 * w->raw.parts : 24.0;
  return (double)w->state.n * (reals * (single ? 4 : 8) + doubles * 8 + (w->options.jerk ? 2 : 1) * raw);
}

void nbody_cuda_law_finish(nbody_work *w) {
  static const sim_kernel kernel = {"nbody_law_finish", "force", SIM_LIMIT_BYTES};
  const nbody_state *s = &w->state;
  nbody_launch(&kernel, bytes_of(w, w->single, w->options.jerk ? 6 : 3, w->options.jerk ? 6 : 3), grid_of(w),
               EXTERNAL_THREADS, (finish_kernel *)w->laws.finish, w->raw, s->acceleration, s->jerk, s->position,
               s->velocity, s->n, w->t);
}

void nbody_cuda_law_kick(nbody_work *w, double dt) {
  static const sim_kernel kernel = {"nbody_law_kick", "kick and drift", SIM_LIMIT_BYTES};
  const nbody_state *s = &w->state;
  nbody_launch(&kernel, bytes_of(w, w->single, 9, 3), grid_of(w), EXTERNAL_THREADS, (kick_kernel *)w->laws.kick, w->raw,
               s->position, s->velocity, s->acceleration, s->n, dt, 0.0, w->t);
}

void nbody_cuda_law_kick_drift(nbody_work *w, double kick, double drift) {
  static const sim_kernel kernel = {"nbody_law_kick_drift", "kick and drift", SIM_LIMIT_BYTES};
  const nbody_state *s = &w->state;
  nbody_launch(&kernel, bytes_of(w, w->single, 12, 3), grid_of(w), EXTERNAL_THREADS, (kick_kernel *)w->laws.kick_drift,
               w->raw, s->position, s->velocity, s->acceleration, s->n, kick, drift, w->t);
}

void nbody_cuda_law_correct(nbody_work *w, double dt) {
  static const sim_kernel kernel = {"nbody_law_correct", "predict and correct", SIM_LIMIT_BYTES};
  const nbody_state *s = &w->state;
  nbody_launch(&kernel, bytes_of(w, w->single, 18, 6), grid_of(w), EXTERNAL_THREADS, (correct_kernel *)w->laws.correct,
               w->raw, s->position, s->velocity, s->acceleration, s->jerk, w->x0, w->v0, w->a0, w->j0, s->n, dt, w->t);
}

void nbody_cuda_law_outer(nbody_work *w, double t) {
  static const sim_kernel kernel = {"nbody_law_outer", "observe", SIM_LIMIT_BYTES};
  const nbody_state *s = &w->state;
  const int blocks = nbody_partials(s->n);
  nbody_launch(&kernel, (double)s->n * 7 * (w->single ? 4 : 8), dim3((unsigned)blocks), NBODY_PARTIAL_BODIES,
               (outer_kernel *)w->laws.outer, s->mass, s->position, s->velocity, s->n, t, w->partial);
  nbody_reduce_partials<add>(w, NBODY_OUTER, 1, blocks);
}

/* ---- observables ---- */

typedef void observe_kernel(int, const void *, const void *, const void *, const double *, double, double *);
typedef void gather_kernel(const double *, int, double *);

sim_status nbody_cuda_law_observe(nbody_work *w, double t, double *values) {
  static const sim_kernel mapping = {"nbody_law_observe", "observe", SIM_LIMIT_BYTES};
  static const sim_kernel gathering = {"nbody_law_gather", "observe", SIM_LIMIT_BYTES};
  const nbody_state *s = &w->state;
  const sim_function_map *map = w->options.observe;
  if (map == NULL || map->count == 0) return SIM_OK;
  const int blocks = nbody_partials(s->n);
  nbody_launch(&mapping, (double)s->n * (7 * (w->single ? 4 : 8) + 24), dim3((unsigned)blocks), NBODY_PARTIAL_BODIES,
               (observe_kernel *)w->laws.observe, s->n, s->mass, s->position, s->velocity, s->acceleration, t,
               w->mapped + map->count);
  nbody_launch(&gathering, 8.0 * (double)map->count * blocks, dim3((unsigned)map->count), NBODY_PARTIAL_BODIES,
               (gather_kernel *)w->laws.gather, w->mapped + map->count, blocks, w->mapped);
  const sim_status status = sim_backend_cuda.copy(values, w->mapped, map->count * sizeof *values);
  for (size_t k = 0; k < map->count; k++)
    if (map->items[k].reduce == SIM_MEAN) values[k] /= (double)s->n;
  return status;
}

template void nbody_cuda_law_tile<float>(nbody_work *w);
template void nbody_cuda_law_tile<double>(nbody_work *w);
template void nbody_cuda_law_potential<float>(nbody_work *w);
template void nbody_cuda_law_potential<double>(nbody_work *w);
