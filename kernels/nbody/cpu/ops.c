/* The operations on the CPU. Compiled once for each type `real` of mass, position and velocity (NBODY_SINGLE, and
 * NBODY_OPS: the name of the table). */
#include "kernels/nbody/ops.h"

#include "engine/reduce.h"
#include "kernels/nbody/cpu/distances.h"
#include "kernels/nbody/cpu/functions.h"
#include "kernels/nbody/cpu/normals.h"
#include "kernels/nbody/cpu/real.h"
#include "kernels/nbody/physics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Loops over components are cut into ranges of RANGE; one thread runs all of them below PARALLEL_FROM. */
enum { RANGE = SIM_REDUCE_BLOCK, PARALLEL_FROM = 32768 };

struct nbody_work {
  nbody_options options;
  nbody_state state;
  nbody_forces forces;
  nbody_functions *functions;
  void *memory;  /* one allocation for all arrays below */
  real *x0, *v0; /* Hermite scheme: positions and velocities before the step, [3][n] */
  double *a0, *j0;
  double *terms, *partial;   /* [2 n], [ranges] */
  uint8_t *level;            /* individual steps: level of each body, [n] */
  nbody_histogram histogram; /* bodies of each level */
};

static double scratch_bytes(const nbody_options *options, double n) {
  return (options->jerk ? 6 * n * (sizeof(real) + sizeof(double)) : 0) + (2 * n + n / RANGE + 1) * sizeof(double) +
         (options->individual ? n : 0);
}

static double bytes(const nbody_options *options) {
  return scratch_bytes(options, (double)options->n) + nbody_functions_bytes(options);
}

static void destroy(nbody_work **work) {
  if (*work == NULL) return;
  nbody_functions_destroy(&(*work)->functions);
  sim_backend_cpu.free((*work)->memory);
  free(*work);
  *work = NULL;
}

static sim_status create(const nbody_options *options, const nbody_state *state, nbody_forces forces,
                         nbody_work **out) {
  nbody_work *w = *out = calloc(1, sizeof *w);
  if (w == NULL) return sim_no_memory("the integrator");
  w->options = *options;
  w->state = *state;
  w->forces = forces;
  const size_t n = (size_t)options->n;
  sim_status status = sim_backend_cpu.alloc((size_t)scratch_bytes(options, (double)n), &w->memory);
  if (status != SIM_OK) {
    destroy(out);
    return status;
  }
  double *next = w->memory;
  w->terms = next;
  next += 2 * n;
  if (options->jerk) {
    w->a0 = next;
    w->j0 = next + 3 * n;
    next += 6 * n;
  }
  w->partial = next;
  if (options->jerk) {
    w->x0 = (real *)(void *)(w->partial + sim_reduce_blocks(n)); /* after the doubles, so that all are aligned */
    w->v0 = w->x0 + 3 * n;
  }
  if (options->individual) w->level = (uint8_t *)(w->partial + sim_reduce_blocks(n)); /* excludes the Hermite scheme */
  status = nbody_functions_create(options, state, w->terms, w->partial, &w->functions);
  if (status != SIM_OK) destroy(out);
  return status;
}

/* ---- loops over bodies ---- */

typedef void range_loop(nbody_work *w, double a, double b, int64_t first, int64_t last);

static void over_ranges(nbody_work *w, range_loop *loop, double a, double b, int64_t count) {
  if (count < PARALLEL_FROM || w->options.threads == 1) {
    for (int64_t first = 0; first < count; first += RANGE)
      loop(w, a, b, first, first + RANGE < count ? first + RANGE : count);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(w->options.threads)
  for (int64_t first = 0; first < count; first += RANGE)
    loop(w, a, b, first, first + RANGE < count ? first + RANGE : count);
}

/* Minimum over the ranges of the values that `loop` stores in partial[range]. */
static double least_over_ranges(nbody_work *w, range_loop *loop, double a, double b) {
  over_ranges(w, loop, a, b, w->state.n);
  double least = INFINITY;
  for (int64_t r = 0; r * RANGE < w->state.n; r++) least = fmin(least, w->partial[r]);
  return least;
}

static void force(nbody_work *w, double t) {
  nbody_raw_force final; /* a default-initialized raw force is NBODY_FORCE_FINAL, the only kind on the CPU */
  w->forces.solver->accelerate(w->forces.work, false, &final);
  nbody_functions_force(w->functions, t, NULL);
}

static void finish(nbody_work *w) { (void)w; } /* the CPU's force writes final values */

static void kick_range(nbody_work *w, double dt, double unused, int64_t first, int64_t last) {
  (void)unused;
  real *restrict v = w->state.velocity;
  const double *restrict a = w->state.acceleration;
  for (int64_t k = first; k < last; k++) v[k] = (real)nbody_kicked(v[k], a[k], dt);
}

static void drift_range(nbody_work *w, double dt, double unused, int64_t first, int64_t last) {
  (void)unused;
  real *restrict x = w->state.position;
  const real *restrict v = w->state.velocity;
  const double box = w->options.box;
  for (int64_t k = first; k < last; k++) x[k] = (real)nbody_drifted(x[k], v[k], dt);
  for (int64_t k = first; k < last && box > 0; k++) x[k] = (real)nbody_wrapped((real)nbody_wrapped(x[k], box), box);
}

static void kick_drift_range(nbody_work *w, double kick, double drift, int64_t first, int64_t last) {
  kick_range(w, kick, 0, first, last);
  drift_range(w, drift, 0, first, last);
}

static void kick(nbody_work *w, double dt) { over_ranges(w, kick_range, dt, 0, 3 * w->state.n); }
static void drift(nbody_work *w, double dt) { over_ranges(w, drift_range, dt, 0, 3 * w->state.n); }

static void kick_drift(nbody_work *w, double kicked, double drifted) {
  over_ranges(w, kick_drift_range, kicked, drifted, 3 * w->state.n);
}

static void predict_range(nbody_work *w, double dt, double unused, int64_t first, int64_t last) {
  (void)unused;
  real *restrict x = w->state.position, *restrict v = w->state.velocity;
  const double *restrict a = w->state.acceleration, *restrict j = w->state.jerk;
  for (int64_t k = first; k < last; k++) {
    w->x0[k] = x[k];
    w->v0[k] = v[k];
    w->a0[k] = a[k];
    w->j0[k] = j[k];
    x[k] = (real)nbody_predicted_position(w->x0[k], w->v0[k], a[k], j[k], dt);
    v[k] = (real)nbody_predicted_velocity(w->v0[k], a[k], j[k], dt);
  }
}

static void correct_range(nbody_work *w, double dt, double unused, int64_t first, int64_t last) {
  (void)unused;
  real *restrict x = w->state.position, *restrict v = w->state.velocity;
  const double *restrict a = w->state.acceleration, *restrict j = w->state.jerk;
  for (int64_t k = first; k < last; k++) {
    const double v1 = nbody_corrected_velocity(w->v0[k], w->a0[k], w->j0[k], a[k], j[k], dt);
    x[k] = (real)nbody_corrected_position(w->x0[k], w->v0[k], v1, w->a0[k], a[k], dt);
    v[k] = (real)v1;
  }
}

static void hermite_predict(nbody_work *w, double dt) { over_ranges(w, predict_range, dt, 0, 3 * w->state.n); }
static void hermite_correct(nbody_work *w, double dt) { over_ranges(w, correct_range, dt, 0, 3 * w->state.n); }

/* ---- individual steps ---- */

static double square3(const double *x, int64_t n, int64_t i) {
  return x[i] * x[i] + x[n + i] * x[n + i] + x[2 * n + i] * x[2 * n + i];
}

static void level_range(nbody_work *w, double dt, double least, int64_t first, int64_t last) {
  const nbody_options *o = &w->options;
  for (int64_t i = first; i < last; i++) {
    if (w->level[i] < least) continue;
    const int level = nbody_level(square3(w->state.acceleration, w->state.n, i), o->softening, o->eta, dt, o->levels);
    w->level[i] = (uint8_t)fmax(level, least);
  }
}

/* A body whose step is too long gets level levels + 1 first: it is counted as one, and its level becomes `levels`. */
static void choose_levels(nbody_work *w, double dt, int least, nbody_histogram *out) {
  const int most = w->options.levels;
  if (least == 0) memset(w->level, 0, (size_t)w->state.n);
  over_ranges(w, level_range, dt, least, w->state.n);
  nbody_histogram found = {0};
  for (int64_t i = 0; i < w->state.n; i++) found.bodies[w->level[i]]++;
  if (found.bodies[most + 1] > 0)
    for (int64_t i = 0; i < w->state.n; i++)
      if (w->level[i] > most) w->level[i] = (uint8_t)most;
  found.bodies[most] += found.bodies[most + 1];
  *out = w->histogram = found;
}

static void force_levels(nbody_work *w, double t, int least) {
  nbody_targets targets = {.level = w->level, .least = least};
  for (int level = least; level <= w->options.levels; level++) targets.count += w->histogram.bodies[level];
  if (targets.count == w->state.n) {
    force(w, t);
    return;
  }
  w->forces.solver->accelerate_some(w->forces.work, &targets);
  nbody_functions_force(w->functions, t, &targets);
}

static void kick_level_range(nbody_work *w, double dt, double least, int64_t first, int64_t last) {
  const int64_t n = w->state.n;
  double kicks[NBODY_LEVELS_MAX + 1];
  for (int level = 0; level <= NBODY_LEVELS_MAX; level++) kicks[level] = ldexp(dt, -level);
  for (int c = 0; c < 3; c++) {
    real *restrict v = (real *)w->state.velocity + c * n;
    const double *restrict a = w->state.acceleration + c * n;
    for (int64_t i = first; i < last; i++)
      if (w->level[i] >= least) v[i] = (real)nbody_kicked(v[i], a[i], kicks[w->level[i]]);
  }
}

static void kick_levels(nbody_work *w, double dt, int least) {
  over_ranges(w, kick_level_range, dt, least, w->state.n);
}

/* ---- shared time steps ---- */

static void softened_range(nbody_work *w, double unused, double also, int64_t first, int64_t last) {
  (void)unused, (void)also;
  double most = 0;
  for (int64_t i = first; i < last; i++) most = fmax(most, square3(w->state.acceleration, w->state.n, i));
  w->partial[first / RANGE] = 1 / sqrt(most);
}

static double step_softened(nbody_work *w, double eta) {
  return eta * sqrt(w->options.softening * least_over_ranges(w, softened_range, 0, 0));
}

static void aarseth_range(nbody_work *w, double dt, double unused, int64_t first, int64_t last) {
  (void)unused;
  const int64_t n = w->state.n;
  const double *a = w->state.acceleration, *j = w->state.jerk;
  double least = INFINITY;
  for (int64_t i = first; i < last; i++) {
    double s2 = 0, c2 = 0;
    for (int64_t k = i; k < 3 * n; k += n) {
      const double crackle = nbody_crackle(w->a0[k], w->j0[k], a[k], j[k], dt);
      const double snap = nbody_snap(w->a0[k], w->j0[k], a[k], j[k], dt) + dt * crackle;
      s2 += snap * snap;
      c2 += crackle * crackle;
    }
    least = fmin(least, nbody_aarseth(square3(a, n, i), square3(j, n, i), s2, c2));
  }
  w->partial[first / RANGE] = least;
}

static double step_aarseth(nbody_work *w, double eta, double dt) {
  return sqrt(eta * least_over_ranges(w, aarseth_range, dt, 0));
}

/* ---- observables ---- */

/* Sum of `terms` over all bodies.  */
static double total(nbody_work *w) {
  return sim_reduce_sum(w->terms, (size_t)w->state.n, w->partial, w->options.threads);
}

static double kinetic(nbody_work *w) {
  const int64_t n = w->state.n;
  const real *m = w->state.mass, *v = w->state.velocity;
  double *term = w->terms;
  for (int64_t i = 0; i < n; i++) {
    const double vx = v[i], vy = v[n + i], vz = v[2 * n + i];
    term[i] = 0.5 * m[i] * (vx * vx + vy * vy + vz * vz);
  }
  return total(w);
}

static double bathe(nbody_work *w, const nbody_bath *bath) {
  const int64_t n = w->state.n;
  const real *m = w->state.mass;
  real *v = w->state.velocity;
  double *term = w->terms;
#pragma omp parallel for schedule(static) num_threads(w->options.threads)
  for (int64_t first = 0; first < n; first += NBODY_NORMALS) {
    const int64_t count = n - first < NBODY_NORMALS ? n - first : NBODY_NORMALS;
    double xi[3][NBODY_NORMALS];
    if (bath->noise > 0) nbody_draw_normals(bath->seed, bath->step, first, count, xi);
    for (int64_t i = first; i < first + count; i++) {
      const double each = bath->noise > 0 && m[i] > 0 ? bath->noise / sqrt((double)m[i]) : 0;
      double growth = 0;
      for (int c = 0; c < 3; c++) {
        const double old = v[c * n + i], now = bath->keep * old + (each > 0 ? each * xi[c][i - first] : 0);
        v[c * n + i] = (real)now;
        growth += (double)v[c * n + i] * v[c * n + i] - old * old;
      }
      term[i] = 0.5 * m[i] * growth;
    }
  }
  return total(w);
}

static sim_status observe(nbody_work *w, double t, double *values) {
  nbody_functions_observe(w->functions, t, values);
  return SIM_OK;
}

/* Radii about the centre of mass, from the mass and the moment in *sums; NaN in a periodic box, which has no centre of
 * mass. */
static void radii(nbody_work *w, nbody_sums *sums) {
  double *out = sums->radii;
  if (w->options.box > 0) {
    for (int q = 0; q < NBODY_RADII; q++) out[q] = NAN;
    return;
  }
  const double *moment = sums->moment, all = sums->mass;
  const double centre[3] = {moment[0] / all, moment[1] / all, moment[2] / all};
  const int64_t n = w->state.n;
  const real *m = w->state.mass, *x = w->state.position;
  nbody_distance *bodies = (nbody_distance *)(void *)w->terms;
  double mass = 0, within = 0, far = 0;
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) far = fmax(far, fabs(x[c * n + i] - centre[c]));
  const double unit = far > 0x1p500 ? 0x1p-600 : 1; /* of squares that are in range */
  for (int64_t i = 0; i < n; i++) {
    const double dx = unit * (x[i] - centre[0]), dy = unit * (x[n + i] - centre[1]),
                 dz = unit * (x[2 * n + i] - centre[2]);
    bodies[i] = (nbody_distance){dx * dx + dy * dy + dz * dz, m[i]};
    mass += m[i];
  }
  nbody_sort_distances(bodies, n, w->options.threads);
  int next = 0;
  for (int64_t i = 0; i < n && next < NBODY_RADII; i++) {
    within += bodies[i].mass;
    for (; next < NBODY_RADII && (within >= nbody_radius_fractions[next] * mass || i == n - 1); next++)
      out[next] = sqrt(bodies[i].distance2) / unit;
  }
}

static void sums(nbody_work *w, double t, nbody_sums *out) {
  const int64_t n = w->state.n;
  const real *m = w->state.mass, *x = w->state.position, *v = w->state.velocity;
  double *term = w->terms;
  for (int64_t i = 0; i < n; i++) term[i] = m[i];
  out->mass = total(w);
  out->kinetic = kinetic(w);
  for (int c = 0; c < 3; c++) {
    const int64_t p = (c + 1) % 3 * n, q = (c + 2) % 3 * n;
    for (int64_t i = 0; i < n; i++) term[i] = (double)m[i] * x[c * n + i];
    out->moment[c] = total(w);
    for (int64_t i = 0; i < n; i++) term[i] = (double)m[i] * v[c * n + i];
    out->momentum[c] = total(w);
    for (int64_t i = 0; i < n; i++) term[i] = m[i] * ((double)x[p + i] * v[q + i] - (double)x[q + i] * v[p + i]);
    out->angular_momentum[c] = total(w);
  }
  radii(w, out);
  out->potential = w->forces.solver->potential(w->forces.work) + nbody_functions_potential(w->functions, t);
}

const nbody_ops NBODY_OPS = {
    .dtype = NBODY_SINGLE ? SIM_F32 : SIM_F64,
    .bytes = bytes,
    .create = create,
    .destroy = destroy,
    .force = force,
    .finish = finish,
    .kick = kick,
    .drift = drift,
    .kick_drift = kick_drift,
    .choose_levels = choose_levels,
    .force_levels = force_levels,
    .kick_levels = kick_levels,
    .hermite_predict = hermite_predict,
    .hermite_correct = hermite_correct,
    .step_softened = step_softened,
    .step_aarseth = step_aarseth,
    .kinetic = kinetic,
    .bathe = bathe,
    .sums = sums,
    .observe = observe,
};
