/* Start of a run: its arrays and bodies, and checks of the first force and energy. */
#include "kernels/nbody/few/few.h"

#include "kernels/nbody/cpu/evaluator.h"
#include "kernels/nbody/physics.h"
#include "kernels/nbody/scenario/cosmos.h"

#include "kernels/common/laws/sides.h"

#include "engine/log.h"
#include "engine/run/startup.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sim_status nbody_create_arrays(nbody_run *run, const sim_setup *setup) {
  const int64_t shape[] = {3, run->n};
  const sim_backend *backend = setup->backend;
  SIM_TRY(sim_buffer_create(&sim_backend_cpu, SIM_U64, 1, &run->n, &run->id));
  SIM_TRY(sim_buffer_create(backend, run->ops->dtype, 1, &run->n, &run->mass));
  SIM_TRY(sim_buffer_create(backend, run->ops->dtype, 2, shape, &run->position));
  SIM_TRY(sim_buffer_create(backend, run->ops->dtype, 2, shape, &run->velocity));
  SIM_TRY(sim_buffer_create(backend, SIM_F64, 2, shape, &run->acceleration));
  if (run->integrate.scheme == NBODY_HERMITE4) SIM_TRY(sim_buffer_create(backend, SIM_F64, 2, shape, &run->jerk));
  if (run->few != NULL) {
    const int64_t numbers = (int64_t)run->few->numbers((double)run->n);
    SIM_TRY(sim_buffer_create(backend, SIM_F64, 1, &numbers, &run->kept));
  }
  if (run->merge) SIM_TRY(sim_buffer_create(backend, SIM_F64, 1, &run->n, &run->radius));
  if (!run->cut) return SIM_OK;
  SIM_TRY(sim_buffer_create(backend, SIM_F64, 2, shape, &run->searched));
  SIM_TRY(sim_buffer_create(backend, SIM_F64, 2, shape, &run->travelled));
  return SIM_OK;
}

/* Copies component c of all bodies from the order of ids to that of species, into `stage`, in the state's type. */
static sim_status sort_component(const nbody_run *run, const double *values, int c, const char *what, void *stage) {
  const uint64_t *id = run->id.data;
  const int64_t n = run->n;
  if (run->ops->dtype == SIM_F64) {
    for (int64_t i = 0; i < n; i++) ((double *)stage)[c * n + i] = values[id[i]];
    return SIM_OK;
  }
  float *out = (float *)stage + c * n;
  for (int64_t i = 0; i < n; i++) {
    out[i] = (float)values[id[i]];
    if (!isfinite(out[i]))
      return sim_fail(SIM_ERR_SCENARIO,
                      "bodies: the %s %.9g of body %" PRIu64
                      " (from 0) is out of the range of single precision: use other "
                      "units, or precision = \"mixed\"",
                      what, values[id[i]], id[i]);
  }
  return SIM_OK;
}

/* Fills one array of the state from values[count][n], its components. */
static sim_status fill_array(nbody_run *run, const sim_setup *setup, double *const *values, int count, const char *what,
                             void *stage, sim_buffer *out) {
  for (int c = 0; c < count; c++) SIM_TRY(sort_component(run, values[c], c, what, stage));
  return setup->backend->copy(out->data, stage, sim_buffer_bytes(out));
}

static sim_status fill_bodies(nbody_run *run, const nbody_bodies *bodies, const sim_setup *setup) {
  void *stage = malloc(sim_buffer_bytes(&run->position));
  if (stage == NULL) return sim_no_memory("%" PRId64 " bodies", run->n);
  sim_status status = fill_array(run, setup, &bodies->mass, 1, "mass", stage, &run->mass);
  if (status == SIM_OK) status = fill_array(run, setup, bodies->position, 3, "position", stage, &run->position);
  if (status == SIM_OK) status = fill_array(run, setup, bodies->velocity, 3, "velocity", stage, &run->velocity);
  free(stage);
  return status;
}

/* Ids in the order of species, increasing within each. */
static void fill_ids(nbody_run *run, const nbody_groups *groups) {
  int64_t next[SIM_SPECIES_MAX];
  uint64_t id = 0, *ids = run->id.data;
  for (size_t s = 0; s < run->species_count; s++) next[s] = run->species[s].first;
  for (size_t i = 0; i < groups->count; i++) {
    size_t s = 0;
    while (strcmp(run->species[s].name, groups->group[i].species) != 0) s++;
    for (int64_t k = 0; k < groups->group[i].n; k++) ids[next[s]++] = id++;
  }
}

static double radius_of(const nbody_group *group, int64_t k) {
  if (group->item->schema == &nbody_body_schema) return ((const nbody_body *)group->item->data)->radius;
  if (group->item->schema != &nbody_each_schema) return 0;
  const nbody_each *each = group->item->data;
  return each->radius.rows > 0 ? each->radius.data[k] : 0;
}

/* Fills in the radii in the order of species, with `merge`. */
static void fill_radii(nbody_run *run, const nbody_groups *groups) {
  const uint64_t *id = run->id.data;
  double *radius = run->radius.data;
  for (int64_t i = 0; i < run->n && radius != NULL; i++) {
    int64_t k = (int64_t)id[i];
    const nbody_group *group = groups->group;
    for (; k >= group->n; group++) k -= group->n;
    radius[i] = radius_of(group, k);
  }
}

/* Root mean square distance from the mean position; computed in units of the largest coordinate, because squares may
 * overflow. */
static double spread_of(const nbody_bodies *bodies, int64_t n) {
  double squares = 0, unit = 0;
  for (int c = 0; c < 3; c++)
    for (int64_t i = 0; i < n; i++) unit = fmax(unit, fabs(bodies->position[c][i]));
  if (unit == 0) return 0;
  for (int c = 0; c < 3; c++) {
    double mean = 0;
    for (int64_t i = 0; i < n; i++) mean += bodies->position[c][i] / unit / (double)n;
    for (int64_t i = 0; i < n; i++) squares += pow(bodies->position[c][i] / unit - mean, 2);
  }
  return fmin(unit * sqrt(squares / (double)n), DBL_MAX);
}

/* Moves bodies into the periodic box, as drifts do, to coordinates that the state's type can hold. Warns of bodies more
 * than a box away. */
static void wrap_positions(const nbody_run *run, double size, nbody_bodies *bodies) {
  const bool single = run->ops->dtype == SIM_F32;
  int64_t far = 0;
  for (int c = 0; c < 3 && size > 0; c++)
    for (int64_t i = 0; i < run->n; i++) {
      double *const x = &bodies->position[c][i];
      far += *x < -size || *x >= 2 * size;
      *x = nbody_wrapped(*x, size);
      if (single) *x = (float)nbody_wrapped((float)*x, size);
    }
  if (far > 0)
    sim_log(SIM_LOG_WARN,
            "bodies: %" PRId64
            " coordinates lie more than box.size = %.9g outside the box from 0 to that size, and are "
            "moved into it: is the box as large as the system?",
            far, size);
}

/* Most bodies that share the smallest cell of a multipole tree with one of 16 sampled bodies; 0: few. A single body far
 * away makes the tree so large that all other bodies are in one such cell. */
static double crowd_of(const nbody_bodies *bodies, int64_t n) {
  enum { DRAWN = 16 };
  double extent = 0, most = 0, low[3];
  for (int c = 0; c < 3; c++) {
    double high = low[c] = bodies->position[c][0];
    for (int64_t i = 0; i < n; i++) {
      low[c] = fmin(low[c], bodies->position[c][i]);
      high = fmax(high, bodies->position[c][i]);
    }
    extent = fmax(extent, high - low[c]);
  }
  if (!(extent > 0) || !isfinite(extent)) return 0;
  const double scale = ldexp(1, NBODY_FMM_LEVEL_MAX) / extent;
  for (int k = 0; k < DRAWN; k++) {
    const int64_t of = k * (n / DRAWN);
    double count = 0;
    for (int64_t i = 0; i < n; i++) {
      bool same = true;
      for (int c = 0; c < 3; c++)
        same = same &&
               floor((bodies->position[c][i] - low[c]) * scale) == floor((bodies->position[c][of] - low[c]) * scale);
      count += same;
    }
    most = fmax(most, count);
  }
  return most > 1024 ? most : 0;
}

sim_status nbody_begin(nbody_run *run, const nbody_parameters *p, const sim_setup *setup, const nbody_groups *groups) {
  nbody_bodies bodies;
  if (!(groups->n < 0x1p40)) return sim_no_memory("%.9g bodies", groups->n);
  run->n = (int64_t)groups->n;
  run->species_count = nbody_groups_species(groups, run->species);
  SIM_TRY(nbody_create_arrays(run, setup));
  fill_ids(run, groups);
  fill_radii(run, groups);
  run->events[NBODY_EVENT_BODIES] = (double)run->n;
  SIM_TRY(nbody_bodies_create(p, setup, groups, &bodies));
  sim_status status = nbody_bodies_check_mass(&bodies, run->ops->dtype == SIM_F32);
  if (status == SIM_OK) status = nbody_bath_check(p, &bodies);
  if (status == SIM_OK && p->box.given) wrap_positions(run, p->box.size, &bodies);
  const double low[3] = {0}, size[3] = {p->box.size, p->box.size, p->box.size};
  const bool periodic[3] = {p->box.given, p->box.given, p->box.given};
  if (status == SIM_OK) status = laws_check_sides(p->external, low, size, periodic, 0);
  sim_startup("comparing places", 0, 0);
  if (status == SIM_OK) status = nbody_check_density(p, &bodies);
  if (status == SIM_OK) status = nbody_check_positions(run, p, &bodies);
  if (status == SIM_OK) status = fill_bodies(run, &bodies, setup);
  run->controller[NBODY_SPREAD] = spread_of(&bodies, run->n);
  run->crowd = crowd_of(&bodies, run->n);
  nbody_bodies_free(&bodies);
  return status;
}

/* Fetches the values of a state array to the host; the caller frees *copy. */
static sim_status fetch(const nbody_run *run, const sim_buffer *buffer, const void **out, void **copy) {
  *out = buffer->data;
  *copy = NULL;
  if (buffer->space == SIM_SPACE_HOST) return SIM_OK;
  *out = *copy = malloc(sim_buffer_bytes(buffer));
  if (*copy == NULL) return sim_no_memory("%" PRId64 " bodies", run->n);
  return run->backend->copy(*copy, buffer->data, sim_buffer_bytes(buffer));
}

static double position_at(const nbody_run *run, const void *positions, int c, int64_t i) {
  const int64_t k = c * run->n + i;
  return run->ops->dtype == SIM_F32 ? (double)((const float *)positions)[k] : ((const double *)positions)[k];
}

sim_status nbody_name_infinite(const nbody_run *run, int64_t step) {
  const void *positions;
  void *copy;
  SIM_TRY(fetch(run, &run->position, &positions, &copy));
  const uint64_t *id = run->id.data;
  int64_t bad = -1;
  for (int64_t k = 0; bad < 0 && k < 3 * run->n; k++)
    if (!isfinite(position_at(run, positions, 0, k))) bad = k % run->n;
  free(copy);
  if (bad < 0) return SIM_OK;
  return sim_fail(SIM_ERR_DIVERGED,
                  "the position of body %" PRIu64 " (id, from 0) is not finite at step %" PRId64
                  ": take a shorter integrate.dt, or a larger gravity.softening",
                  id[bad], step);
}

/* Finds *body, the body of the first value in [3][n] that is not finite; -1: none. */
static sim_status find_infinite(const nbody_run *run, const sim_buffer *buffer, int64_t *body) {
  const void *values;
  void *copy;
  *body = -1;
  if (buffer->data == NULL) return SIM_OK;
  sim_status status = fetch(run, buffer, &values, &copy);
  for (int64_t k = 0; status == SIM_OK && k < 3 * run->n && *body < 0; k++)
    if (!isfinite(((const double *)values)[k])) *body = k % run->n;
  free(copy);
  return status;
}

static double distance(const nbody_run *run, const void *positions, int64_t i, int64_t j) {
  double d[3];
  for (int c = 0; c < 3; c++) d[c] = fabs(position_at(run, positions, c, i) - position_at(run, positions, c, j));
  return fmax(d[0], fmax(d[1], d[2]));
}

/* Reports two bodies that are too close, where the force on body `bad` is not finite. Only the first force shows
 * whether the rounded pair terms separate two bodies. Pair terms keep 24 bits (fp64: 53) of twice the extent, and
 * inverse cubes down to 2^-40 (2^-100) of it. A force that is not finite between bodies farther apart has another
 * cause. */
static sim_status refuse_close(const nbody_run *run, const nbody_options *options, const void *positions, int64_t bad) {
  int64_t nearest = -1;
  double least = INFINITY, extent = 0;
  for (int64_t i = 0; i < run->n; i++) {
    const double d = i != bad ? distance(run, positions, bad, i) : INFINITY;
    if (i != bad) extent = fmax(extent, d);
    if (d < least) nearest = i;
    least = fmin(least, d);
  }
  if (nearest < 0 || !isfinite(extent) || !(least <= extent * (options->single_pairs ? 0x1p-21 : 0x1p-50)))
    return SIM_OK;
  const uint64_t *id = run->id.data;
  const uint64_t first = id[bad] < id[nearest] ? id[bad] : id[nearest], second = id[bad] + id[nearest] - first;
  char apart[64] = "both";
  if (least > 0)
    snprintf(apart, sizeof apart, "only %.3g apart, too close for %s pair terms,", least,
             options->single_pairs ? "fp32" : "fp64");
  return sim_fail(SIM_ERR_SCENARIO,
                  "bodies: %" PRIu64 " and %" PRIu64 " (ids, from 0) are %s at {%.9g, %.9g, %.9g}: their force is "
                  "infinite without gravity.softening",
                  first, second, apart, position_at(run, positions, 0, bad), position_at(run, positions, 1, bad),
                  position_at(run, positions, 2, bad));
}

/* Whether a value is in the range of fp32. */
static bool fits_single(double value) {
  return value == 0 || (fabs(value) >= FLT_MIN && fabs(value) <= FLT_MAX) || !isfinite(value);
}

/* Samples r2[], squared distances of bodies whose ids differ by powers of two; with a cutoff distances of nearest
 * images within it. Returns their number. */
static int64_t sample_distances(const nbody_run *run, const void *positions, double r2[NBODY_EVALUATOR_BLOCK]) {
  int64_t count = 0;
  for (int64_t apart = 1; apart < run->n; apart *= 2)
    for (int64_t k = 0; k < 8 && count < NBODY_EVALUATOR_BLOCK; k++) {
      const int64_t i = k * (run->n - apart) / 8;
      r2[count] = 0;
      for (int c = 0; c < 3; c++) {
        double d = position_at(run, positions, c, i + apart) - position_at(run, positions, c, i);
        if (run->cut) d -= run->box * rint(d / run->box);
        r2[count] += d * d;
      }
      if (!run->cut || r2[count] < run->options.cutoff * run->options.cutoff) count++;
    }
  return count;
}

/* Checks that fp32 terms of a custom law are within the range of fp32: they are in the scenario's units, and in SI
 * units they may not be. */
static sim_status check_single_range(const nbody_run *run) {
  const void *positions;
  void *copy;
  nbody_evaluator *field = NULL;
  double r2[NBODY_EVALUATOR_BLOCK];
  sim_status status = fetch(run, &run->position, &positions, &copy);
  const int64_t count = status == SIM_OK ? sample_distances(run, positions, r2) : 0;
  free(copy);
  if (status == SIM_OK) status = nbody_evaluator_create(run->laws.pair, NULL, SIM_ISA_PLAIN, 1, &field);
  if (status == SIM_OK) {
    const double *force = nbody_evaluator_run(field, &(nbody_evaluator_input){r2, SIM_F64, false}, 0, count);
    for (int64_t k = 0; k < count && status == SIM_OK; k++)
      if (!fits_single(r2[k]) || !fits_single(force[k]))
        status = sim_fail(SIM_ERR_SCENARIO,
                          "pair: at r2 = %.3g the force is %.3g times the distance; single and mixed precision compute "
                          "both in fp32, from 1e-38 to 3e38: use other units, or precision = \"double\"",
                          r2[k], force[k]);
  }
  nbody_evaluator_destroy(&field);
  return status;
}

sim_status nbody_find_greatest(const nbody_run *run, const sim_buffer *buffer, int64_t *at, double *value) {
  const void *values;
  void *copy;
  const int64_t count = (int64_t)(sim_buffer_bytes(buffer) / sim_dtype_size(buffer->dtype));
  *at = 0;
  *value = 0;
  sim_status status = fetch(run, buffer, &values, &copy);
  for (int64_t k = 0; status == SIM_OK && k < count; k++) {
    const double x = fabs(buffer->dtype == SIM_F32 ? (double)((const float *)values)[k] : ((const double *)values)[k]);
    if (x > *value) *value = x, *at = k % run->n;
  }
  free(copy);
  return status;
}

sim_status nbody_count_massive(nbody_run *run) {
  const void *values;
  void *copy;
  run->massive = 0;
  sim_status status = fetch(run, &run->mass, &values, &copy);
  for (int64_t i = 0; status == SIM_OK && i < run->n; i++)
    run->massive += run->mass.dtype == SIM_F32 ? ((const float *)values)[i] > 0 : ((const double *)values)[i] > 0;
  free(copy);
  return status;
}

sim_status nbody_check_force(const nbody_run *run, const nbody_options *options) {
  int64_t bad, heaviest;
  const void *positions;
  void *copy;
  double mass;
  const bool own = run->laws.pair != NULL || run->laws.external != NULL;
  if (run->laws.pair != NULL && !run->laws.no_pairs && options->single_pairs) SIM_TRY(check_single_range(run));
  SIM_TRY(find_infinite(run, &run->acceleration, &bad));
  if (bad < 0) SIM_TRY(find_infinite(run, &run->jerk, &bad));
  if (bad < 0) return SIM_OK;
  SIM_TRY(nbody_find_greatest(run, &run->mass, &heaviest, &mass));
  SIM_TRY(fetch(run, &run->position, &positions, &copy));
  const uint64_t *id = run->id.data;
  sim_status status = SIM_OK;
  if (run->laws.pair == NULL && options->softening == 0) status = refuse_close(run, options, positions, bad);
  if (status == SIM_OK && own)
    status = sim_fail(
        SIM_ERR_SCENARIO,
        "bodies: the force on body %" PRIu64 " (from 0) at {%.9g, %.9g, %.9g}, or its rate, is not finite", id[bad],
        position_at(run, positions, 0, bad), position_at(run, positions, 1, bad), position_at(run, positions, 2, bad));
  else if (status == SIM_OK)
    status = sim_fail(SIM_ERR_SCENARIO,
                      "bodies: the force on body %" PRIu64 " (from 0) at {%.9g, %.9g, %.9g}, or its rate, exceeds the "
                      "range of double precision; the heaviest body is %" PRIu64 " of mass %.3g: use other units",
                      id[bad], position_at(run, positions, 0, bad), position_at(run, positions, 1, bad),
                      position_at(run, positions, 2, bad), id[heaviest], mass);
  free(copy);
  return status;
}

sim_status nbody_check_energy(const nbody_run *run, const nbody_sums *sums) {
  int64_t heaviest, fastest;
  double mass, speed;
  const bool kinetic = isfinite(sums->kinetic);
  if (kinetic && (isfinite(sums->potential) || !run->laws.potential_known)) return SIM_OK;
  SIM_TRY(nbody_find_greatest(run, &run->mass, &heaviest, &mass));
  SIM_TRY(nbody_find_greatest(run, &run->velocity, &fastest, &speed));
  const uint64_t *id = run->id.data;
  if (!kinetic)
    return sim_fail(SIM_ERR_SCENARIO,
                    "bodies: the kinetic energy exceeds the range of double precision; the fastest body is %" PRIu64
                    " (from 0) with a speed of %.3g and a mass of at most %.3g: use other units",
                    id[fastest], speed, mass);
  return sim_fail(SIM_ERR_SCENARIO,
                  "bodies: the potential energy is not finite; the heaviest body is %" PRIu64
                  " (from 0) of mass %.3g: use other units, or check the potential",
                  id[heaviest], mass);
}

/* ---- the first step in an external force ---- */

/* The state on the host, [3][n] each: inputs of nbody_laws_snap, and the jerk by all forces. */
typedef struct motion {
  const void *position, *velocity, *acceleration, *jerk;
  void *copies[4];
} motion;

static sim_status fetch_motion(const nbody_run *run, motion *out) {
  const sim_buffer *const buffers[] = {&run->position, &run->velocity, &run->acceleration, &run->jerk};
  const void **const to[] = {&out->position, &out->velocity, &out->acceleration, &out->jerk};
  *out = (motion){0};
  for (int i = 0; i < 4; i++) SIM_TRY(fetch(run, buffers[i], to[i], &out->copies[i]));
  return SIM_OK;
}

static double length(const double *x, int64_t stride) {
  return sqrt(x[0] * x[0] + x[stride] * x[stride] + x[2 * stride] * x[2 * stride]);
}

static double least_time(const nbody_run *run, const nbody_evaluator *field, const motion *m) {
  static const double begin = 0;
  const void *const vectors[] = {m->position, m->velocity, m->acceleration};
  const size_t real = sim_dtype_size(run->ops->dtype), n = (size_t)run->n;
  nbody_evaluator_input in[10];
  double least = INFINITY;
  for (size_t k = 0; k < 9; k++) {
    const size_t size = k < 6 ? real : sizeof(double);
    in[k] = (nbody_evaluator_input){(const char *)vectors[k / 3] + k % 3 * n * size, k < 6 ? run->ops->dtype : SIM_F64,
                                    false};
  }
  in[9] = (nbody_evaluator_input){&begin, SIM_F64, true};
  for (int64_t first = 0; first < run->n; first += NBODY_EVALUATOR_BLOCK) {
    const int64_t count = run->n - first < NBODY_EVALUATOR_BLOCK ? run->n - first : NBODY_EVALUATOR_BLOCK;
    const double *snap = nbody_evaluator_run(field, in, first, count);
    for (int64_t k = 0; k < count; k++) {
      const double a = length((const double *)m->acceleration + first + k, run->n);
      const double j = length((const double *)m->jerk + first + k, run->n), s = length(snap + k, NBODY_EVALUATOR_BLOCK);
      if (j > 0 && a > 0) least = fmin(least, a / j);
      if (s > 0 && a > 0) least = fmin(least, sqrt(a / s));
      if (s > 0 && j > 0) least = fmin(least, j / s);
    }
  }
  return least;
}

sim_status nbody_external_start(const nbody_run *run, double *out) {
  sim_expr *snap;
  nbody_evaluator *field = NULL;
  motion m = {0};
  SIM_TRY(nbody_laws_snap(&run->laws, &snap));
  sim_status status = nbody_evaluator_create(snap, "t", SIM_ISA_PLAIN, 1, &field);
  if (status == SIM_OK) status = fetch_motion(run, &m);
  if (status == SIM_OK) *out = least_time(run, field, &m);
  for (int i = 0; i < 4; i++) free(m.copies[i]);
  nbody_evaluator_destroy(&field);
  sim_expr_free(&snap);
  return status;
}
