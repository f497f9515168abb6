/* Wisdom and Holman's map in Jacobi coordinates: each body moves along a Kepler orbit about the centre of mass of the
 * bodies inside of its orbit, and the rest of the forces act as kicks (J. Wisdom and M. Holman, AJ 102 (1991) 1528; H.
 * Rein and D. Tamayo, MNRAS 452 (2015) 376). Order 2, errors in proportion to the masses of the planets; symplectic.
 *
 *   drift dt/2, kick dt, drift dt, kick dt, ..., drift dt/2
 *
 * Between steps the integrator's state is half a drift ahead of the clock, so that a step has one drift; a state that
 * somebody looks at is drifted back. Sums are compensated. */
#include "kernels/nbody/few/few.h"

#include "kernels/nbody/few/kepler.h"
#include "kernels/nbody/few/pairs.h"
#include "kernels/nbody/few/sums.h"
#include "kernels/common/vector.h"

#include "engine/log.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT, CLOCKS }; /* COUNT: number of kicks made */
/* Largest mass of all other bodies together, over the mass of the central body. */
static const double most_mass = 0.1;
/* Largest acceleration by other forces, over that of the Kepler orbit, without a warning. */
static const double most_pull = 0.1;
/* Least number of steps in the time of an orbit with the angular speed of the pericentre; with fewer, Kepler drifts and
 * kicks resonate (J. Wisdom, AJ 150 (2015) 127). */
static const double least_steps = 16;

typedef struct motion {
  double x[3], v[3], x_low[3], v_low[3];
} motion;

/* Bodies are in the order of their orbits, the central one first. */
typedef struct nbody_few_work {
  int64_t n;
  double *order;        /* [n]: index in the state's arrays; memory of the state array `integrator` */
  motion *body;         /* [n]: Jacobi coordinates, half a step ahead of the clock; memory of the state array */
  motion *copy;         /* [n]: Jacobi coordinates at the time of an output */
  double *mass, *inner; /* [n]: mass of a body; mass of the body and all bodies before it */
  double *share;        /* [n]: mass / inner */
  double *x, *a;        /* [3][n]: inertial positions, accelerations */
  bool warned;
} work;

enum { NUMBERS = 1 + sizeof(motion) / sizeof(double) };

static double numbers(double n) { return CLOCKS + NUMBERS * n; }
static double scratch(double n) { return (sizeof(motion) / sizeof(double) + 9) * n; }
static double bytes(double n) { return sizeof(work) + scratch(n) * sizeof(double); }

static void destroy(nbody_run *run) {
  if (run->few_work == NULL) return;
  free(run->few_work->copy);
  free(run->few_work);
  run->few_work = NULL;
}

static sim_status create(nbody_run *run) {
  work *w = run->few_work = calloc(1, sizeof *w);
  const int64_t n = run->n;
  if (w != NULL) w->copy = calloc((size_t)scratch((double)n), sizeof(double));
  if (w == NULL || w->copy == NULL) return sim_no_memory("the integrator");
  w->n = n;
  w->order = (double *)run->kept.data + CLOCKS;
  w->body = (motion *)(w->order + n);
  w->mass = (double *)(w->copy + n);
  w->inner = w->mass + n;
  w->share = w->inner + n;
  w->x = w->share + n;
  w->a = w->x + 3 * n;
  return SIM_OK;
}

/* ---- Jacobi coordinates ---- */

/* Computes member `member` of w->body: differences to the centre of mass of the bodies before, from inertial vectors
 * from[3][n], in the order of orbits, or with `order` in the order of the state's arrays. */
static void to_jacobi(const work *w, const double *from, const double *order, size_t member) {
  double centre[3] = {0, 0, 0};
  for (int64_t i = 0; i < w->n; i++) {
    const int64_t at = order != NULL ? (int64_t)order[i] : i;
    double *out = (double *)(void *)((char *)&w->body[i] + member);
    for (int c = 0; c < 3; c++) {
      const double value = from[c * w->n + at];
      out[c] = i == 0 ? value : value - centre[c];
      centre[c] += w->share[i] * out[c];
    }
  }
  memcpy((char *)&w->body[0] + member, centre, sizeof centre);
}

/* Computes inertial vectors out[3][n], in the order of orbits, from member `member` of bodies. */
static void from_jacobi(const work *w, const motion *bodies, size_t member, double *out) {
  double centre[3];
  memcpy(centre, (const char *)&bodies[0] + member, sizeof centre);
  for (int64_t i = w->n - 1; i > 0; i--) {
    const double *of = (const double *)(const void *)((const char *)&bodies[i] + member);
    for (int c = 0; c < 3; c++) {
      centre[c] -= w->share[i] * of[c];
      out[c * w->n + i] = centre[c] + of[c];
    }
  }
  for (int c = 0; c < 3; c++) out[c * w->n] = centre[c];
}

/* ---- drift and kick ---- */

static uint64_t id_of(const nbody_run *run, int64_t i) {
  return ((const uint64_t *)run->id.data)[(int64_t)run->few_work->order[i]];
}

static sim_status drift(const nbody_run *run, motion *bodies, double dt) {
  const work *w = run->few_work;
  for (int c = 0; c < 3; c++) nbody_add(&bodies[0].x[c], &bodies[0].x_low[c], dt * bodies[0].v[c]);
  for (int64_t i = 1; i < w->n; i++) {
    motion *b = &bodies[i];
    double dx[3], dv[3];
    if (!nbody_kepler_step(run->G * w->inner[i], dt, b->x, b->v, dx, dv))
      return sim_fail(SIM_ERR_DIVERGED,
                      "whfast: body %" PRIu64
                      " (id, from 0) falls onto the centre, or its orbit is not finite: take integrate.scheme = "
                      "\"ias15\"",
                      id_of(run, i));
    for (int c = 0; c < 3; c++) {
      nbody_add(&b->x[c], &b->x_low[c], dx[c]);
      nbody_add(&b->v[c], &b->v_low[c], dv[c]);
    }
  }
  return SIM_OK;
}

/* Computes w->a, the accelerations by all forces in the order of orbits. Without external forces the force between the
 * first two bodies is left out: it is all in their Kepler orbit. */
static void accelerate(const nbody_run *run, const motion *bodies, double t) {
  const work *w = run->few_work;
  const int64_t n = w->n;
  from_jacobi(w, bodies, offsetof(motion, x), w->x);
  if (run->laws.external == NULL) {
    nbody_pairs(n, 2, run->G, 0, w->mass, w->x, w->a);
    return;
  }
  for (int c = 0; c < 3; c++)
    for (int64_t i = 0; i < n; i++) ((double *)run->position.data)[c * n + (int64_t)w->order[i]] = w->x[c * n + i];
  run->ops->force(run->work, t);
  for (int c = 0; c < 3; c++)
    for (int64_t i = 0; i < n; i++)
      w->a[c * n + i] = ((const double *)run->acceleration.data)[c * n + (int64_t)w->order[i]];
}

/* Warns once where other forces are no perturbation of the Kepler orbit. */
static void warn_of_encounter(const nbody_run *run, int64_t i, double t) {
  run->few_work->warned = true;
  sim_log(SIM_LOG_WARN,
          "whfast: at t = %.9g other bodies or external forces pull body %" PRIu64
          " (id, from 0) more than %g times as much as the centre: its error is then large; take integrate.scheme = "
          "\"ias15\"",
          t, id_of(run, i), most_pull);
}

static sim_status kick(const nbody_run *run, motion *bodies, double t, double dt) {
  work *w = run->few_work;
  const int64_t n = w->n,
                first = run->laws.external == NULL ? 2 : 1; /* bodies before: the Kepler orbit's force was left out */
  double centre[3], sum = 0;
  accelerate(run, bodies, t);
  for (int c = 0; c < 3; c++) centre[c] = w->a[c * n];
  for (int64_t i = 1; i < n; i++) {
    motion *b = &bodies[i];
    const double r2 = b->x[0] * b->x[0] + b->x[1] * b->x[1] + b->x[2] * b->x[2];
    const double kepler = run->G * w->inner[i] / (r2 * sqrt(r2)), taken = i < first ? 0 : kepler;
    double rest2 = 0;
    for (int c = 0; c < 3; c++) {
      const double a = w->a[c * n + i] - centre[c], rest = a + taken * b->x[c];
      centre[c] += w->share[i] * a;
      rest2 += rest * rest;
      nbody_add(&b->v[c], &b->v_low[c], dt * rest);
    }
    sum += rest2;
    if (rest2 > most_pull * most_pull * kepler * kepler * r2 && !w->warned) warn_of_encounter(run, i, t);
  }
  for (int c = 0; c < 3; c++) nbody_add(&bodies[0].v[c], &bodies[0].v_low[c], dt * centre[c]);
  return isfinite(sum) ? SIM_OK : nbody_few_diverged(run, t);
}

/* ---- steps of the run ---- */

typedef struct rank {
  double distance2;
  int64_t at;
} rank;

static int by_orbit(const void *a, const void *b) {
  const rank *p = a, *q = b;
  if (p->distance2 != q->distance2) return p->distance2 < q->distance2 ? -1 : 1;
  return p->at < q->at ? -1 : p->at > q->at;
}

/* Sorts the bodies: the central body, then the others by their distance from it. */
static sim_status sort_bodies(const nbody_run *run, const work *w) {
  const int64_t n = w->n;
  const double *m = run->mass.data, *x = run->position.data;
  rank *ranks = calloc((size_t)n, sizeof *ranks);
  if (ranks == NULL) return sim_no_memory("the integrator");
  int64_t centre = 0;
  double others = 0;
  for (int64_t i = 0; i < n; i++)
    if (m[i] > m[centre]) centre = i;
  for (int64_t i = 0; i < n; i++) {
    ranks[i] = (rank){i == centre ? -1 : 0, i};
    for (int64_t c = 0; c < 3; c++) {
      const double d = x[c * n + i] - x[c * n + centre];
      ranks[i].distance2 += d * d;
    }
    if (i != centre) others += m[i];
  }
  qsort(ranks, (size_t)n, sizeof *ranks, by_orbit);
  for (int64_t i = 0; i < n; i++) w->order[i] = (double)ranks[i].at;
  free(ranks);
  if (others <= most_mass * m[centre]) return SIM_OK;
  return sim_fail(SIM_ERR_SCENARIO,
                  "integrate.scheme: whfast needs a central body with %.3g times the mass of all others together, but "
                  "body %" PRIu64 " (from 0), the heaviest, has %.3g, and the others %.3g: take \"ias15\"",
                  1 / most_mass, id_of(run, 0), m[centre], others);
}

/* Checks that the state array has each body once. SIM_ERR_INCOMPATIBLE. */
static sim_status check_order(const work *w) {
  for (int64_t i = 0; i < w->n; i++) w->a[i] = 0;
  for (int64_t i = 0; i < w->n; i++) {
    const double at = w->order[i];
    if (!(at >= 0 && at < (double)w->n) || floor(at) != at || w->a[(int64_t)at]++ > 0)
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's integrator has no order of bodies");
  }
  return SIM_OK;
}

static sim_status fill_masses(const nbody_run *run, work *w) {
  double inner = 0;
  for (int64_t i = 0; i < w->n; i++) {
    w->mass[i] = ((const double *)run->mass.data)[(int64_t)w->order[i]];
    w->inner[i] = inner += w->mass[i];
    w->share[i] = w->mass[i] / inner;
  }
  return w->mass[0] > 0 ? SIM_OK : sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's central body has no mass");
}

/* Warns where a step is long compared with the passage of a pericentre. */
static void check_step(const nbody_run *run, const work *w) {
  double least = INFINITY;
  int64_t which = 0;
  for (int64_t i = 1; i < w->n; i++) {
    nbody_elements el;
    const double mu = run->G * w->inner[i];
    nbody_elements_of(mu, w->body[i].x, w->body[i].v, &el);
    const double q = el.a * (1 - el.e), time = 2 * pi * sqrt(q * q * q / (mu * (1 + el.e)));
    if (time < least) which = i;
    least = fmin(least, time);
  }
  if (run->integrate.dt * least_steps <= least) return;
  sim_log(SIM_LOG_WARN,
          "whfast: integrate.dt = %.4g is more than 1/%g of the time %.4g in which body %" PRIu64
          " (id, from 0) would go round with the speed of its pericentre: errors may grow; take a shorter step, or "
          "\"ias15\"",
          run->integrate.dt, least_steps, least, id_of(run, which));
}

static sim_status begin(nbody_run *run, const sim_clock *saved) {
  work *w = run->few_work;
  const double *kept = run->kept.data;
  if (saved != NULL) {
    if (!(kept[COUNT] >= 0 && kept[COUNT] * run->integrate.dt <= saved->t * (1 + 1e-9)))
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's integrator has another time than its clock");
    SIM_TRY(check_order(w));
    return fill_masses(run, w);
  }
  SIM_TRY(sort_bodies(run, w));
  SIM_TRY(fill_masses(run, w));
  to_jacobi(w, run->position.data, w->order, offsetof(motion, x));
  to_jacobi(w, run->velocity.data, w->order, offsetof(motion, v));
  check_step(run, w);
  return drift(run, w->body, 0.5 * run->integrate.dt);
}

/* Whether t has reached the time after `count` steps, within rounding. */
static bool reached(double t, double count, double dt) { return t >= count * dt - (1e-9 * dt + 1e-15 * t); }

static sim_status step(nbody_run *run, const sim_clock *clock, double *after) {
  work *w = run->few_work;
  double *count = (double *)run->kept.data + COUNT;
  const double dt = run->integrate.dt;
  (void)sim_clock_step(clock, dt, after);
  if (!reached(*after, *count + 1, dt)) return SIM_OK; /* rest of a step, up to t_end */
  SIM_TRY(kick(run, w->body, (*count + 0.5) * dt, dt));
  ++*count;
  return drift(run, w->body, dt);
}

static sim_status show(nbody_run *run, double t) {
  work *w = run->few_work;
  const int64_t n = w->n;
  const double dt = run->integrate.dt, whole = ((const double *)run->kept.data)[COUNT] * dt, rest = t - whole;
  memcpy(w->copy, w->body, (size_t)n * sizeof *w->copy);
  SIM_TRY(drift(run, w->copy, -0.5 * dt));
  if (rest > 1e-9 * dt + 1e-15 * t) {
    SIM_TRY(drift(run, w->copy, 0.5 * rest));
    SIM_TRY(kick(run, w->copy, whole + 0.5 * rest, rest));
    SIM_TRY(drift(run, w->copy, 0.5 * rest));
  }
  const size_t members[] = {offsetof(motion, x), offsetof(motion, v)};
  double *const to[] = {run->position.data, run->velocity.data};
  for (int k = 0; k < 2; k++) {
    from_jacobi(w, w->copy, members[k], w->x);
    for (int c = 0; c < 3; c++)
      for (int64_t i = 0; i < n; i++) to[k][c * n + (int64_t)w->order[i]] = w->x[c * n + i];
  }
  run->ops->force(run->work, t);
  run->ops->finish(run->work);
  return SIM_OK;
}

const nbody_few nbody_whfast = {.name = "whfast",
                                .numbers = numbers,
                                .bytes = bytes,
                                .create = create,
                                .destroy = destroy,
                                .begin = begin,
                                .step = step,
                                .show = show};
