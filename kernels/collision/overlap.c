/* The deepest overlap of a run, told with both partners. */
#include "kernels/collision/run.h"
#include "kernels/collision/walls/walls.h"

#include "engine/log.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Moves a difference to its nearest image along axis c. */
static double nearest(const collision_options *o, int c, double d) {
  return o->periodic[c] ? d - o->size[c] * round(d / o->size[c]) : d;
}

/* Overlap of two grains at time t over the smaller radius, from the state's arrays; below 0: they are apart. */
static double overlap_of(const collision_run *run, double t, int64_t i, int64_t j) {
  const collision_options *o = &run->options;
  const double r = collision_get(run, COLLISION_RADIUS, 0, i), s = collision_get(run, COLLISION_RADIUS, 0, j);
  double d[3];
  for (int c = 0; c < 3; c++)
    d[c] = collision_get(run, COLLISION_POSITION, c, i) - collision_get(run, COLLISION_POSITION, c, j);
  if (o->shear != 0) /* images across the shear are displaced along it */
    d[o->along] -= round(d[o->across] / o->size[o->across]) * collision_image_offset(o, t);
  for (int c = 0; c < 3; c++) d[c] = nearest(o, c, d[c]);
  return (r + s - sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])) / fmin(r, s);
}

static bool in_one_clump(const collision_run *run, int64_t i, int64_t j) {
  const uint64_t *body = run->array[COLLISION_BODY].data;
  return run->bodies > 0 && body[i] != 0 && body[i] == body[j];
}

/* The wall that grain i overlaps by most; -1: none. */
static int find_wall(const collision_run *run, int64_t i) {
  const geometry_pose *pose = run->array[COLLISION_POSES].data;
  double x[3], least = collision_get(run, COLLISION_RADIUS, 0, i);
  int wall = -1;
  for (int c = 0; c < 3; c++) x[c] = collision_get(run, COLLISION_POSITION, c, i);
  for (int b = 0; b < run->options.walls; b++) {
    geometry_contact contact[GEOMETRY_CONTACTS_MAX];
    if (geometry_wall_contacts(&run->options.wall[b], &pose[b], x, least, contact) == 0) continue;
    least = contact[0].distance;
    wall = b;
  }
  return wall;
}

static void name_wall(const collision_run *run, int wall, char *out, size_t capacity) {
  static const char *const sides[] = {"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"};
  const int side = wall < 0 ? -1 : run->options.wall[wall].side;
  if (wall < 0)
    snprintf(out, capacity, "a wall");
  else if (side >= 0)
    snprintf(out, capacity, "the side %s of the box", sides[side]);
  else
    snprintf(out, capacity, "walls[%d]", collision_wall_item(&run->options, wall));
}

void collision_overlap_name(const collision_run *run, const collision_sums *sums, double t, char *out,
                            size_t capacity) {
  const uint64_t *id = run->array[COLLISION_ID].data;
  const int64_t i = (int64_t)sums->overlap_grain;
  double most = 0;
  int64_t other = -1;
  for (int64_t j = 0; j < run->n; j++) {
    const double depth = j == i || in_one_clump(run, i, j) ? 0 : overlap_of(run, t, i, j);
    if (depth > most) most = depth, other = j;
  }
  /* Positions in fp32 give a depth within 1 % in boxes of up to 10^4 radii. */
  if (other >= 0 && most >= 0.99 * sums->overlap) {
    const uint64_t one = id[i] < id[other] ? id[i] : id[other], two = id[i] < id[other] ? id[other] : id[i];
    snprintf(out, capacity, "%" PRIu64 " and %" PRIu64 " (ids, from 0) overlap by %.3g of the smaller radius", one, two,
             sums->overlap);
  } else if (run->options.walls > 0) {
    char wall[32];
    name_wall(run, find_wall(run, i), wall, sizeof wall);
    snprintf(out, capacity, "%" PRIu64 " (id, from 0) overlaps %s by %.3g of its radius", id[i], wall, sums->overlap);
  } else {
    snprintf(out, capacity, "%" PRIu64 " (id, from 0) overlaps another grain by %.3g of the smaller radius", id[i],
             sums->overlap);
  }
}

sim_status collision_overlap_watch(collision_run *run, const collision_sums *sums, double t) {
  collision_overlap *deepest = &run->deepest;
  if (!(sums->overlap > run->options.overlap_limit && sums->overlap > deepest->depth)) return SIM_OK;
  const bool first = deepest->depth == 0;
  SIM_TRY(run->ops->store(run->work));
  deepest->depth = sums->overlap;
  deepest->t = t;
  collision_overlap_name(run, sums, t, deepest->text, sizeof deepest->text);
  if (first)
    sim_log(SIM_LOG_WARN, "grains: %s at t = %.9g: contacts are too soft for these speeds and loads", deepest->text, t);
  return SIM_OK;
}

void collision_overlap_report(const void *self, const sim_clock *clock, sim_bytes *out) {
  const collision_run *run = self;
  (void)clock;
  if (run->deepest.depth > 0)
    sim_bytes_format(out, "deepest overlap of grains in a row of tables: %s at t = %.9g\n", run->deepest.text,
                     run->deepest.t);
}
