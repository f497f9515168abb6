#include "kernels/nbody/few/encounters.h"

#include "kernels/nbody/scenario/tables.h"
#include "kernels/common/vector.h"

#include "engine/log.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- along a step ---- */

/* Pieces of a step, short enough that the distance of two bodies has at most one minimum in each: a step of ias15 is a
 * tenth of the time in which the motion changes. */
enum { PIECES = 8, HALVINGS = 60 };

typedef struct relative {
  double x[3], v[3];
} relative;

/* Body j relative to body i at part s of the step. */
static relative relative_at(const nbody_path *p, int64_t i, int64_t j, double s) {
  const int64_t n = p->n, m = 3 * n;
  relative out;
  for (int64_t c = 0; c < 3; c++) {
    const int64_t at = c * n + i, to = c * n + j;
    double path = 0, speed = 0;
    for (int k = 6; k >= 0; k--) {
      const double b = p->b[k * m + to] - p->b[k * m + at];
      path = s * (path + b / ((k + 2) * (k + 3)));
      speed = s * (speed + b / (k + 2));
    }
    const double a0 = p->a0[to] - p->a0[at], v = p->v[to] - p->v[at], u = p->h * s;
    out.x[c] = p->x[to] - p->x[at] + u * (v + u * (0.5 * a0 + path));
    out.v[c] = v + u * (a0 + speed);
  }
  return out;
}

/* Part of the step at which two bodies, farther apart at its start, are first at the distance `touch`; INFINITY:
 * never. */
static double first_touch(const nbody_path *p, int64_t i, int64_t j, double touch) {
  relative before = relative_at(p, i, j, 0);
  for (int k = 1; k <= PIECES; k++) {
    double low = (k - 1.0) / PIECES, high = (double)k / PIECES;
    const relative after = relative_at(p, i, j, high);
    if (vector_dot(before.x, before.v) < 0 && vector_dot(after.x, after.v) > 0 &&
        vector_dot(after.x, after.x) > touch * touch) {
      double left = low; /* bisects for the minimum of the distance */
      for (int h = 0; h < HALVINGS; h++) {
        const double middle = 0.5 * (left + high);
        const relative r = relative_at(p, i, j, middle);
        if (vector_dot(r.x, r.v) < 0)
          left = middle;
        else
          high = middle;
      }
    }
    const relative nearest = relative_at(p, i, j, high);
    if (vector_dot(nearest.x, nearest.x) <= touch * touch) {
      for (int h = 0; h < HALVINGS; h++) {
        const double middle = 0.5 * (low + high);
        const relative r = relative_at(p, i, j, middle);
        if (vector_dot(r.x, r.x) > touch * touch)
          low = middle;
        else
          high = middle;
      }
      return high;
    }
    before = after;
  }
  return INFINITY;
}

/* Whether two bodies may touch: whether their smaller distance at the ends of the step is at most `touch` plus the path
 * that they move. */
static bool may_touch(const relative *start, const relative *end, double h, double touch) {
  const double near = sqrt(fmin(vector_dot(start->x, start->x), vector_dot(end->x, end->x)));
  return near <= touch + h * (sqrt(vector_dot(start->v, start->v)) + sqrt(vector_dot(end->v, end->v)));
}

static nbody_event find_touch(const nbody_run *run, const nbody_path *p) {
  const double *radius = run->radius.data;
  nbody_event out = {-1, -1, INFINITY};
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = i + 1; j < p->n; j++) {
      const double touch = radius[i] + radius[j];
      if (!(touch > 0)) continue;
      const relative start = relative_at(p, i, j, 0), end = relative_at(p, i, j, 1);
      if (!may_touch(&start, &end, p->h, touch)) continue;
      const double part = first_touch(p, i, j, touch);
      if (part < out.part) out = (nbody_event){i, j, part};
    }
  return out;
}

/* Position of body i relative to body 0 at part s of a step; p NULL: in the state. */
static void place_of(const nbody_run *run, const nbody_path *p, int64_t i, double s, double out[3]) {
  const double *x = run->position.data;
  if (p != NULL) {
    const relative r = relative_at(p, 0, i, s);
    memcpy(out, r.x, sizeof r.x);
  } else {
    for (int c = 0; c < 3; c++) out[c] = x[c * run->n + i] - x[c * run->n];
  }
}

/* The body farthest from the centre of mass, beyond the radius of escape, there; -1: none. */
static int64_t escaped_at(const nbody_run *run, const nbody_path *p, double s) {
  const double *mass = run->mass.data;
  double all = 0, centre[3] = {0, 0, 0}, far2 = run->escape * run->escape, x[3];
  int64_t out = -1;
  for (int64_t i = 0; i < run->n; i++) {
    place_of(run, p, i, s, x);
    for (int c = 0; c < 3; c++) centre[c] += mass[i] * x[c];
    all += mass[i];
  }
  for (int64_t i = 0; i < run->n; i++) {
    place_of(run, p, i, s, x);
    for (int c = 0; c < 3; c++) x[c] -= centre[c] / all;
    if (!(vector_dot(x, x) > far2)) continue;
    far2 = vector_dot(x, x);
    out = i;
  }
  return out;
}

/* The first body beyond the radius of escape, looked for at the end of each piece of the step. */
static nbody_event find_escape(const nbody_run *run, const nbody_path *p) {
  for (int k = 1; k <= PIECES; k++) {
    double low = (k - 1.0) / PIECES, high = (double)k / PIECES;
    if (escaped_at(run, p, high) < 0) continue;
    for (int h = 0; h < HALVINGS; h++) {
      const double middle = 0.5 * (low + high);
      if (escaped_at(run, p, middle) < 0)
        low = middle;
      else
        high = middle;
    }
    return (nbody_event){escaped_at(run, p, high), -1, high};
  }
  return (nbody_event){-1, -1, INFINITY};
}

nbody_event nbody_find_event(const nbody_run *run, const nbody_path *path) {
  nbody_event touch = {-1, -1, INFINITY}, escape = touch;
  if (run->radius.data != NULL) touch = find_touch(run, path);
  if (run->escape > 0) escape = find_escape(run, path);
  return escape.part < touch.part ? escape : touch;
}

nbody_event nbody_find_overlap(const nbody_run *run) {
  const int64_t n = run->n;
  const double *x = run->position.data, *radius = run->radius.data;
  for (int64_t i = 0; radius != NULL && i < n; i++)
    for (int64_t j = i + 1; j < n; j++) {
      const double d[3] = {x[j] - x[i], x[n + j] - x[n + i], x[2 * n + j] - x[2 * n + i]},
                   touch = radius[i] + radius[j];
      if (vector_dot(d, d) <= touch * touch && touch > 0) return (nbody_event){i, j, 0};
    }
  return (nbody_event){-1, -1, INFINITY};
}

nbody_event nbody_find_outside(const nbody_run *run) {
  const int64_t out = run->escape > 0 ? escaped_at(run, NULL, 0) : -1;
  return out >= 0 ? (nbody_event){out, -1, 0} : (nbody_event){-1, -1, INFINITY};
}

/* ---- in the state's arrays ---- */

/* Removes column `at` from an array of [rows][n]. */
static void take_out(sim_buffer *buffer, int64_t n, int64_t at) {
  if (buffer->data == NULL) return;
  char *data = buffer->data;
  const size_t size = sim_dtype_size(buffer->dtype), rows = sim_buffer_bytes(buffer) / size / (size_t)n;
  size_t to = 0;
  for (size_t k = 0; k < rows * (size_t)n; k++)
    if ((int64_t)(k % (size_t)n) != at) memmove(data + size * to++, data + size * k, size);
  buffer->shape[buffer->rank - 1] = n - 1;
}

static void remove_body(nbody_run *run, int64_t at) {
  sim_buffer *const buffers[] = {&run->id,       &run->mass,         &run->position,
                                 &run->velocity, &run->acceleration, &run->radius};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) take_out(buffers[i], run->n, at);
  for (size_t s = 0; s < run->species_count; s++) {
    sim_species *of = &run->species[s];
    if (at < of->first)
      of->first--;
    else if (at < of->first + of->count)
      of->count--;
  }
  run->n--;
}

static double speed_between(const nbody_run *run, int64_t i, int64_t j) {
  const double *v = run->velocity.data;
  double sum = 0;
  for (int64_t c = 0; c < 3 * run->n; c += run->n) sum += pow(v[c + j] - v[c + i], 2);
  return sqrt(sum);
}

static double speed_to_centre(const nbody_run *run, int64_t i, const nbody_sums *sums) {
  const double *v = run->velocity.data;
  double sum = 0;
  for (int c = 0; c < 3; c++) sum += pow(v[c * run->n + i] - sums->momentum[c] / sums->mass, 2);
  return sqrt(sum);
}

static void merge_into(nbody_run *run, int64_t keep, int64_t drop) {
  double *mass = run->mass.data,
         *radius = run->radius.data, *const vectors[] = {run->position.data, run->velocity.data};
  const double all = mass[keep] + mass[drop], share = all > 0 ? mass[drop] / all : 0.5;
  for (int k = 0; k < 2; k++)
    for (int64_t c = 0; c < 3 * run->n; c += run->n)
      vectors[k][c + keep] += share * (vectors[k][c + drop] - vectors[k][c + keep]);
  mass[keep] = all;
  radius[keep] = cbrt(pow(radius[keep], 3) + pow(radius[drop], 3));
}

static double energy_of(nbody_run *run, double t, nbody_sums *sums) {
  run->ops->sums(run->work, t, sums);
  return run->laws.potential_known ? sums->kinetic + sums->potential : 0;
}

sim_status nbody_apply_event(nbody_run *run, const nbody_event *event, double t) {
  const uint64_t *id = run->id.data;
  const double *mass = run->mass.data;
  const bool merger = event->other >= 0;
  const int64_t keep = merger && mass[event->other] > mass[event->first] ? event->other : event->first;
  const int64_t drop = merger ? event->first + event->other - keep : event->first;
  double *events = run->events;
  nbody_sums sums;
  const double before = energy_of(run, t, &sums);
  const double speed = merger ? speed_between(run, keep, drop) : speed_to_centre(run, drop, &sums);
  events[merger ? NBODY_MERGERS : NBODY_ESCAPERS]++;
  events[NBODY_EVENT_TIME] = t;
  events[NBODY_EVENT_BODY] = (double)id[keep];
  events[NBODY_EVENT_OTHER] = merger ? (double)id[drop] : -1;
  events[NBODY_EVENT_SPEED] = speed;
  if (merger)
    sim_log(SIM_LOG_INFO, "at t = %.9g bodies %" PRIu64 " and %" PRIu64 " (ids) merge, with a relative speed of %.4g",
            t, id[keep], id[drop], speed);
  else
    sim_log(SIM_LOG_INFO, "at t = %.9g body %" PRIu64 " (id) escapes, with a speed of %.4g", t, id[drop], speed);
  if (merger) merge_into(run, keep, drop);
  remove_body(run, drop);
  SIM_TRY(nbody_create_forces(run));
  double left = 0;
  for (int64_t i = 0; i < run->n; i++) left += ((const double *)run->mass.data)[i];
  if (!(left > 0)) return sim_fail(SIM_ERR_DIVERGED, "at t = %.9g no body with mass is left", t);
  run->ops->force(run->work, t);
  run->ops->finish(run->work);
  const double lost = before - energy_of(run, t, &sums);
  events[NBODY_EVENT_ENERGY] += lost;
  run->controller[NBODY_INITIAL_ENERGY] -= lost;
  run->sums_step = -1;
  return SIM_OK;
}

void nbody_observe_events(const nbody_run *run, double *values) {
  const double *e = run->events;
  const bool any = e[NBODY_MERGERS] + e[NBODY_ESCAPERS] > 0;
  const double row[NBODY_EVENT_COLUMNS] = {e[NBODY_MERGERS],
                                           e[NBODY_ESCAPERS],
                                           (double)run->n,
                                           any ? e[NBODY_EVENT_TIME] : NAN,
                                           any ? e[NBODY_EVENT_BODY] : NAN,
                                           any && e[NBODY_EVENT_OTHER] >= 0 ? e[NBODY_EVENT_OTHER] : NAN,
                                           any ? e[NBODY_EVENT_SPEED] : NAN,
                                           run->laws.potential_known ? e[NBODY_EVENT_ENERGY] : NAN};
  memcpy(values, row, sizeof row);
}
