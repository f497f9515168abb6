/* Grains that become one where they touch. The heaviest keeps its id, material and species, and gets the mass, volume,
 * momentum and angular momentum of all about their centre of mass. Grains that touch in a chain in one step become one:
 * components of the graph of touches, each in the order of indices, so that the result depends on nothing else. */
#include "kernels/collision/flow/flow.h"
#include "kernels/collision/gravity/gravity.h"
#include "kernels/collision/hill.h"
#include "kernels/common/vector.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A grain of a component, relative to the image of the component's first grain. */
typedef struct member {
  int64_t index;
  double x[3], jump; /* position; what its image adds to its velocity along the shear */
  bool placed;
} member;

typedef struct merging {
  collision_touches touches;
  collision_indices fresh; /* merged grains of the last round, by their present indices */
  member *member;          /* [members], by index */
  int64_t members;
  int64_t *root; /* [members]: of its component, a position in `member` */
  /* [members] the next one of its component, the first touch of a root; [touches] the next one of the component; -1:
   * none */
  int64_t *next, *first_touch, *next_touch;
} merging;

/* ---- which pairs merge ---- */

static bool merges(const collision_run *run, const collision_touch *t) {
  const collision_parameters *p = run->parameters;
  double speed = 0;
  for (int c = 0; c < 3; c++) speed += t->speed[c] * t->speed[c];
  if (p->merge.when == COLLISION_MERGE_SLOW) return speed < p->merge.speed * p->merge.speed;
  if (p->merge.when == COLLISION_MERGE_TOUCH) return true;
  const double mass = collision_get(run, COLLISION_MASS, 0, t->first) + collision_get(run, COLLISION_MASS, 0, t->other);
  const double both =
      collision_get(run, COLLISION_RADIUS, 0, t->first) + collision_get(run, COLLISION_RADIUS, 0, t->other);
  const double softening = p->self_gravity.softening;
  return speed < 2 * p->self_gravity.G * mass / sqrt(both * both + softening * softening);
}

/* A merged grain takes up those for which it leaves no room, whatever their speed. */
static bool is_buried(const collision_run *run, const collision_touch *t) {
  const double r = collision_get(run, COLLISION_RADIUS, 0, t->first),
               q = collision_get(run, COLLISION_RADIUS, 0, t->other);
  const double distance = sqrt(t->d[0] * t->d[0] + t->d[1] * t->d[1] + t->d[2] * t->d[2]);
  return r + q - distance > run->options.overlap_limit * fmin(r, q);
}

static void choose(const collision_run *run, merging *m) {
  int64_t kept = 0;
  for (int64_t k = 0; k < m->touches.count; k++) {
    const collision_touch *t = &m->touches.at[k];
    if (merges(run, t) || (m->fresh.count > 0 && is_buried(run, t))) m->touches.at[kept++] = *t;
  }
  m->touches.count = kept;
}

/* ---- components ---- */

static int64_t find_member(const merging *m, int64_t index) {
  int64_t low = 0, high = m->members;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (m->member[middle].index < index)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static int64_t root_of(const merging *m, int64_t k) {
  while (m->root[k] != k) k = m->root[k];
  return k;
}

static int by_index(const void *a, const void *b) {
  const int64_t x = ((const member *)a)->index, y = ((const member *)b)->index;
  return (x > y) - (x < y);
}

/* Chains the members of each component from its root on, and its touches, in their order. */
static void chain_up(merging *m) {
  for (int64_t k = 0; k < m->members; k++) m->next[k] = m->first_touch[k] = -1;
  for (int64_t k = m->members - 1; k >= 0; k--) {
    const int64_t root = m->root[k];
    if (root == k) continue;
    m->next[k] = m->next[root];
    m->next[root] = k;
  }
  for (int64_t k = m->touches.count - 1; k >= 0; k--) {
    int64_t *first = &m->first_touch[m->root[find_member(m, m->touches.at[k].first)]];
    m->next_touch[k] = *first;
    *first = k;
  }
}

/* Lists the grains of all touches, and joins them; the root of a component is its grain of lowest index. */
static sim_status join(merging *m) {
  const int64_t ends = 2 * m->touches.count;
  free(m->member), free(m->root), free(m->next), free(m->first_touch), free(m->next_touch);
  m->member = calloc((size_t)ends, sizeof *m->member);
  m->root = malloc((size_t)ends * sizeof *m->root);
  m->next = malloc((size_t)ends * sizeof *m->next);
  m->first_touch = malloc((size_t)ends * sizeof *m->first_touch);
  m->next_touch = malloc((size_t)m->touches.count * sizeof *m->next_touch);
  if (!m->member || !m->root || !m->next || !m->first_touch || !m->next_touch)
    return sim_no_memory("grains that merge");
  for (int64_t k = 0; k < ends; k++)
    m->member[k].index = k % 2 ? m->touches.at[k / 2].other : m->touches.at[k / 2].first;
  qsort(m->member, (size_t)ends, sizeof *m->member, by_index);
  m->members = 0;
  for (int64_t k = 0; k < ends; k++)
    if (k == 0 || m->member[k].index != m->member[m->members - 1].index) m->member[m->members++] = m->member[k];
  for (int64_t k = 0; k < m->members; k++) m->root[k] = k;
  for (int64_t k = 0; k < m->touches.count; k++) {
    const int64_t a = root_of(m, find_member(m, m->touches.at[k].first));
    const int64_t b = root_of(m, find_member(m, m->touches.at[k].other));
    m->root[a > b ? a : b] = a > b ? b : a;
  }
  for (int64_t k = 0; k < m->members; k++) m->root[k] = root_of(m, k);
  chain_up(m);
  return SIM_OK;
}

/* Places the grains along touches, from the roots on, in the order of touches. */
static void place(merging *m) {
  bool more = true;
  for (int64_t k = 0; k < m->members; k++) m->member[k].placed = m->root[k] == k;
  while (more) {
    more = false;
    for (int64_t k = 0; k < m->touches.count; k++) {
      const collision_touch *t = &m->touches.at[k];
      member *a = &m->member[find_member(m, t->first)], *b = &m->member[find_member(m, t->other)];
      if (a->placed == b->placed) continue;
      member *to = a->placed ? b : a;
      const member *from = a->placed ? a : b;
      const double sign = a->placed ? -1 : 1;
      for (int c = 0; c < 3; c++) to->x[c] = from->x[c] + sign * t->d[c];
      to->jump = from->jump - sign * t->jump;
      to->placed = more = true;
    }
  }
}

/* ---- a merged grain ---- */

static double inertia(const collision_run *run, int64_t i) {
  const double r = collision_get(run, COLLISION_RADIUS, 0, i);
  return 0.4 * collision_get(run, COLLISION_MASS, 0, i) * r * r;
}

/* Mass-weighted mean of a vector of the members of a component (out), and the mean turning that goes with it (turn):
 * angular momentum of `vector` about the centre, and that of `spin`, over the inertia of the merged sphere. */
static void mean_motion(const collision_run *run, const merging *m, int64_t root, int vector, int spin, double mass,
                        const double centre[3], double moment, double out[3], double turn[3]) {
  double sum[3] = {0}, angular[3] = {0};
  for (int64_t k = root; k >= 0; k = m->next[k]) {
    const member *at = &m->member[k];
    for (int c = 0; c < 3; c++) {
      const double jump = vector == COLLISION_VELOCITY && c == run->options.along ? at->jump : 0;
      sum[c] += collision_get(run, COLLISION_MASS, 0, at->index) * (collision_get(run, vector, c, at->index) + jump);
    }
  }
  for (int c = 0; c < 3; c++) out[c] = sum[c] / mass;
  for (int64_t k = root; k >= 0; k = m->next[k]) {
    const member *at = &m->member[k];
    double arm[3], v[3], l[3];
    for (int c = 0; c < 3; c++) {
      const double jump = vector == COLLISION_VELOCITY && c == run->options.along ? at->jump : 0;
      arm[c] = at->x[c] - centre[c];
      v[c] = collision_get(run, vector, c, at->index) + jump - out[c];
    }
    vector_cross(arm, v, l);
    for (int c = 0; c < 3; c++)
      angular[c] += collision_get(run, COLLISION_MASS, 0, at->index) * l[c] +
                    inertia(run, at->index) * collision_get(run, spin, c, at->index);
  }
  for (int c = 0; c < 3; c++) turn[c] = angular[c] / moment;
}

/* Takes a position and velocity into the box where it is periodic, across a shear first. */
static void wrap(const collision_run *run, double offset, double x[3], double v[3]) {
  const collision_options *o = &run->options;
  for (int pass = 0; pass < 2; pass++)
    for (int c = 0; c < 3; c++) {
      if (!o->periodic[c] || (c == o->across) != (pass == 0)) continue;
      const double turns = floor((x[c] - o->low[c]) / o->size[c]);
      x[c] -= turns * o->size[c];
      if (pass > 0 || o->shear == 0) continue;
      x[o->along] -= turns * offset;
      v[o->along] -= turns * o->shear * o->size[c];
    }
}

/* Potential energy of a unit of mass that is not periodic where the box is: of gravity, and Hill's tide. */
static double uneven_potential(const collision_options *o, const double x[3]) {
  const hill_flow flow = hill_flow_of(o, 0);
  const double tide = o->hill ? hill_potential(&flow, x[0], x[2]) : 0;
  return tide - o->gravity[0] * x[0] - o->gravity[1] * x[1] - o->gravity[2] * x[2];
}

/* Counts the energy that a grain gains as its image at x with velocity v takes its place, as the solver does where
 * grains leave the box. */
static void count_image(collision_run *run, int64_t to, double mass, const double x0[3], const double v0[3],
                        const double x1[3], const double v1[3]) {
  double *work = run->array[COLLISION_WORK].data, gain = 0;
  if (work == NULL) return;
  for (int c = 0; c < 3; c++) gain += 0.5 * (v1[c] - v0[c]) * (v1[c] + v0[c]);
  work[to] += mass * (gain + uneven_potential(&run->options, x1) - uneven_potential(&run->options, x0));
}

/* Adds what the solver has summed over time of grain `from` to that of `to`. */
static void add_tally(collision_run *run, int64_t to, int64_t from) {
  double *const sums[] = {run->array[COLLISION_DISSIPATED].data, run->array[COLLISION_VIRIAL].data,
                          run->array[COLLISION_WORK].data};
  uint64_t *collisions = run->array[COLLISION_COLLISIONS].data;
  for (int k = 0; k < 3; k++)
    if (sums[k] != NULL) sums[k][to] += sums[k][from];
  collisions[to] += collisions[from];
}

/* Adds the passages of gates by a grain, whose mass will change, to the sums of grains that are gone. */
static void carry_gates(collision_run *run, int64_t i) {
  double *controls = run->array[COLLISION_CONTROLLER].data;
  for (int b = 0; b < run->options.gates; b++) {
    int64_t *times = (int64_t *)run->array[COLLISION_CROSSED].data + b * run->n + i;
    controls[COLLISION_CARRIED_GRAINS + b] += (double)*times;
    controls[COLLISION_CARRIED_MASS + b] += (double)*times * collision_get(run, COLLISION_MASS, 0, i);
    *times = 0;
  }
}

/* Counts the energy that a member gains as it is taken to the image of the component's first grain. */
static void count_member(collision_run *run, int64_t to, int64_t first, const member *at) {
  double x0[3], v0[3], x1[3], v1[3];
  for (int c = 0; c < 3; c++) {
    x0[c] = collision_get(run, COLLISION_POSITION, c, at->index);
    v0[c] = v1[c] = collision_get(run, COLLISION_VELOCITY, c, at->index);
    x1[c] = collision_get(run, COLLISION_POSITION, c, first) + at->x[c];
  }
  v1[run->options.along] += at->jump;
  count_image(run, to, collision_get(run, COLLISION_MASS, 0, at->index), x0, v0, x1, v1);
}

/* Counts the touches of a component that the solver did not: of grains that met in less than half a step. */
static void count_touches(collision_run *run, const merging *m, int64_t root, int64_t keep) {
  uint64_t *collisions = run->array[COLLISION_COLLISIONS].data;
  for (int64_t k = m->first_touch[root]; k >= 0; k = m->next_touch[k]) {
    const collision_touch *t = &m->touches.at[k];
    const double both =
        collision_get(run, COLLISION_RADIUS, 0, t->first) + collision_get(run, COLLISION_RADIUS, 0, t->other);
    if (!(both - sqrt(t->d[0] * t->d[0] + t->d[1] * t->d[1] + t->d[2] * t->d[2]) > 0)) collisions[keep] += 2;
  }
}

static void note(collision_run *run, const merging *m, int64_t keep, int64_t root, double t) {
  const uint64_t *id = run->array[COLLISION_ID].data;
  double *mergers = run->array[COLLISION_MERGERS].data;
  for (int64_t k = m->first_touch[root]; k >= 0; k = m->next_touch[k]) {
    const collision_touch *touch = &m->touches.at[k];
    const int64_t other = touch->first == keep ? touch->other : touch->first;
    mergers[COLLISION_MERGER_TIME] = t;
    mergers[COLLISION_MERGER_ID] = (double)id[keep];
    mergers[COLLISION_MERGER_OTHER] = (double)id[other];
    mergers[COLLISION_MERGER_SPEED] =
        sqrt(touch->speed[0] * touch->speed[0] + touch->speed[1] * touch->speed[1] + touch->speed[2] * touch->speed[2]);
  }
}

/* Makes one grain of a component; lists the others in `going`. */
static sim_status merge_component(collision_run *run, merging *m, int64_t root, const sim_clock *clock) {
  const collision_options *o = &run->options;
  double mass = 0, volume = 0, centre[3] = {0}, x[3], v[3], spin[3], a[3], angular_acceleration[3], pull[4] = {0};
  double *own_pull = run->array[COLLISION_PULL].data;
  int64_t keep = m->member[root].index;
  for (int64_t k = root; k >= 0; k = m->next[k]) {
    const int64_t i = m->member[k].index;
    const double own = collision_get(run, COLLISION_MASS, 0, i);
    mass += own;
    volume += pow(collision_get(run, COLLISION_RADIUS, 0, i), 3);
    for (int c = 0; c < 3; c++) centre[c] += own * m->member[k].x[c];
    for (int c = 0; c < 4 && own_pull != NULL; c++) pull[c] += (c < 3 ? own : 1) * own_pull[c * run->n + i];
    if (own_pull != NULL) pull[3] += own * own_pull[o->along * run->n + i] * m->member[k].jump;
    if (own > collision_get(run, COLLISION_MASS, 0, keep)) keep = i;
  }
  const double radius = cbrt(volume), moment = 0.4 * mass * radius * radius;
  for (int c = 0; c < 3; c++) centre[c] /= mass;
  mean_motion(run, m, root, COLLISION_VELOCITY, COLLISION_SPIN, mass, centre, moment, v, spin);
  mean_motion(run, m, root, COLLISION_ACCELERATION, COLLISION_ANGULAR_ACCELERATION, mass, centre, moment, a,
              angular_acceleration);
  for (int c = 0; c < 3; c++) x[c] = collision_get(run, COLLISION_POSITION, c, m->member[root].index) + centre[c];
  const double along = o->size[o->along], offset = collision_image_offset(o, clock->t);
  const double x0[3] = {x[0], x[1], x[2]}, v0[3] = {v[0], v[1], v[2]};
  wrap(run, offset < 0 ? offset + along : offset, x, v);
  pull[3] += pull[o->along] * (v[o->along] - v0[o->along]); /* power of images: of an image now, as of the members */
  count_image(run, keep, mass, x0, v0, x, v);
  for (int64_t k = root; k >= 0; k = m->next[k]) count_member(run, keep, m->member[root].index, &m->member[k]);
  note(run, m, keep, root, clock->t);
  count_touches(run, m, root, keep);
  for (int64_t k = root; k >= 0; k = m->next[k]) {
    const int64_t i = m->member[k].index;
    carry_gates(run, i);
    if (i == keep) continue;
    add_tally(run, keep, i);
    if (!collision_indices_add(&run->flow->going, i)) return sim_no_memory("grains that merge");
    ((double *)run->array[COLLISION_MERGERS].data)[COLLISION_MERGER_COUNT]++;
  }
  collision_put(run, COLLISION_MASS, 0, keep, mass);
  collision_put(run, COLLISION_RADIUS, 0, keep, radius);
  for (int c = 0; c < 3; c++) {
    collision_put(run, COLLISION_POSITION, c, keep, x[c]);
    collision_put(run, COLLISION_VELOCITY, c, keep, v[c]);
    collision_put(run, COLLISION_SPIN, c, keep, spin[c]);
    collision_put(run, COLLISION_ACCELERATION, c, keep, a[c]);
    collision_put(run, COLLISION_ANGULAR_ACCELERATION, c, keep, angular_acceleration[c]);
  }
  for (int c = 0; c < 4 && own_pull != NULL; c++) own_pull[c * run->n + keep] = c < 3 ? pull[c] / mass : pull[c];
  run->options.radius_most = fmax(o->radius_most, radius);
  if (!collision_indices_add(&m->fresh, keep)) return sim_no_memory("grains that merge");
  for (int c = 0; c < 3; c++)
    if (o->periodic[c] && o->size[c] < 5 * radius)
      return sim_fail(SIM_ERR_DIVERGED,
                      "grain %" PRIu64 " has grown to a radius of %.9g by merging at t = %.9g: the box, %.9g in %c, is "
                      "periodic and less than 5 times as long",
                      ((const uint64_t *)run->array[COLLISION_ID].data)[keep], radius, clock->t, o->size[c], "xyz"[c]);
  return SIM_OK;
}

static int ascending(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Merges the pairs in `touches`; `fresh` becomes the merged grains. */
static sim_status merge_all(collision_run *run, merging *m, const sim_clock *clock) {
  collision_indices *going = &run->flow->going;
  SIM_TRY(join(m));
  place(m);
  m->fresh.count = going->count = run->flow->newcomers = 0;
  for (int64_t k = 0; k < m->members; k++)
    if (m->root[k] == k) SIM_TRY(merge_component(run, m, k, clock));
  qsort(going->at, (size_t)going->count, sizeof *going->at, ascending);
  qsort(m->fresh.at, (size_t)m->fresh.count, sizeof *m->fresh.at, ascending);
  SIM_TRY(collision_flow_pack(run, true, 0, clock->t));
  for (int64_t k = 0, gone = 0; k < m->fresh.count; k++) { /* packing keeps the order of the grains that stay */
    while (gone < going->count && going->at[gone] < m->fresh.at[k]) gone++;
    m->fresh.at[k] -= gone;
  }
  return SIM_OK;
}

/* Energy of all, for what mergers dissipate. */
static sim_status energy_now(collision_run *run, const sim_clock *clock, double *out) {
  const collision_sums *sums;
  run->sums_step = run->profile_step = -1;
  SIM_TRY(collision_sums_at(run, clock, &sums));
  *out = collision_energy(sums);
  return SIM_OK;
}

/* Merges the pairs found, and then what the merged grains overlap. */
static sim_status merge_rounds(collision_run *run, merging *m, const sim_clock *clock) {
  double before, after, dissipated = 0;
  double *controls = run->array[COLLISION_CONTROLLER].data, *mergers = run->array[COLLISION_MERGERS].data;
  SIM_TRY(energy_now(run, clock, &before));
  for (int64_t k = 0; k < m->touches.count; k++) { /* as if their contacts had not begun */
    before -= m->touches.at[k].gained;
    dissipated += m->touches.at[k].dissipated;
  }
  SIM_TRY(run->ops->store(run->work));
  while (m->touches.count > 0) {
    SIM_TRY(merge_all(run, m, clock));
    m->touches.count = 0;
    SIM_TRY(run->ops->touches(run->work, &m->fresh, &m->touches));
    choose(run, m);
  }
  if (run->gravity != NULL) {
    collision_gravity_destroy(run);
    SIM_TRY(collision_gravity_create(run));
  }
  SIM_TRY(energy_now(run, clock, &after));
  mergers[COLLISION_MERGER_ENERGY] += before - after + dissipated;
  controls[COLLISION_CARRIED_DISSIPATED] += before - after;
  run->sums_step = run->profile_step = -1;
  return SIM_OK;
}

sim_status collision_merge_step(collision_run *run, const sim_clock *clock) {
  merging m = {0};
  if (run->options.merge == COLLISION_MERGE_NEVER || run->n == 0) return SIM_OK;
  sim_status status = run->ops->touches(run->work, NULL, &m.touches);
  if (status == SIM_OK) choose(run, &m);
  if (status == SIM_OK && m.touches.count > 0) status = merge_rounds(run, &m, clock);
  free(m.touches.at), free(m.fresh.at), free(m.member), free(m.root);
  free(m.next), free(m.first_touch), free(m.next_touch);
  return status;
}

sim_status collision_merge_check_start(const collision_run *run, const collision_sums *sums) {
  if (run->options.merge == COLLISION_MERGE_NEVER || !(sums->touching > 0)) return SIM_OK;
  return sim_fail(SIM_ERR_SCENARIO,
                  "grains: some touch each other at the start: with merge expected gaps between them");
}

enum {
  MERGERS,
  GRAINS,
  GREATEST_MASS,
  MEAN_MASS,
  GREATEST_RADIUS,
  LAST_TIME,
  LAST_GRAIN,
  LAST_OTHER,
  LAST_SPEED,
  LOST
};

void collision_observe_mergers(const collision_run *run, double *values) {
  const double *mergers = run->array[COLLISION_MERGERS].data;
  double mass = 0, square = 0;
  values[MERGERS] = mergers[COLLISION_MERGER_COUNT];
  values[GRAINS] = (double)run->n;
  values[GREATEST_MASS] = values[GREATEST_RADIUS] = 0;
  for (int64_t i = 0; i < run->n; i++) {
    const double m = collision_get(run, COLLISION_MASS, 0, i);
    mass += m;
    square += m * m;
    values[GREATEST_MASS] = fmax(values[GREATEST_MASS], m);
    values[GREATEST_RADIUS] = fmax(values[GREATEST_RADIUS], collision_get(run, COLLISION_RADIUS, 0, i));
  }
  values[MEAN_MASS] = square / mass;
  const bool none = values[MERGERS] == 0;
  values[LAST_TIME] = none ? NAN : mergers[COLLISION_MERGER_TIME];
  values[LAST_GRAIN] = none ? NAN : mergers[COLLISION_MERGER_ID];
  values[LAST_OTHER] = none ? NAN : mergers[COLLISION_MERGER_OTHER];
  values[LAST_SPEED] = none ? NAN : mergers[COLLISION_MERGER_SPEED];
  values[LOST] = mergers[COLLISION_MERGER_ENERGY];
}
