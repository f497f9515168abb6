/* Planes that hold a force: their speed, the largest stable speed, and the detection of a force that swings. */
#include "kernels/collision/run.h"
#include "kernels/collision/scenario/sizes.h"
#include "kernels/collision/walls/walls.h"

#include "engine/log.h"

#include <math.h>

/* Cross-section of the box along the normal of a plane. */
static double cross_section(const collision_options *o, const geometry_wall *wall) {
  double volume = 1, length = 0;
  for (int c = 0; c < 3; c++) {
    volume *= o->size[c];
    length += o->size[c] * fabs(wall->axis[c]);
  }
  return volume / length;
}

/* Stiffness and damping of one contact of a plane under the load `force`. */
static void contact_of(const collision_options *o, const collision_law *law, double mass, double radius, double force,
                       double *stiffness, double *damping) {
  if (o->force == COLLISION_HERTZ) {
    const double a = cbrt(0.75 * force * radius / law->E);
    *stiffness = 2 * law->E * a;
    *damping = law->beta * sqrt(*stiffness * mass);
    return;
  }
  *stiffness = law->k0 + law->km * mass;
  *damping = law->g0 + law->gh * sqrt(mass) + law->gm * mass;
}

/* Between two measurements the plane moves by speed (1 - f) T, with f the force over the wanted force. f then grows by
 * b (1 - f), b = speed k T/force, k the stiffness of all contacts; their dashpots c add a (1 - f), a = speed c/force.
 * So f'' - f' = b (1 - f') - a (f' - f), whose roots are inside the unit circle for a + b/2 < 1. Grains that yield
 * between measurements change this by a factor of about 1.5. */
double collision_servo_limit(const collision_options *o, int wall, double n, double mass, double radius, int material,
                             double dt) {
  const double share = 0.5; /* share of the cross-section that touching grains cover */
  const geometry_wall *w = &o->wall[wall];
  const double most = share * cross_section(o, w) / (COLLISION_PI * radius * radius), force = o->servo_force[wall];
  const double touching = fmax(1, fmin(n, most));
  double k, c;
  contact_of(o, &o->law[material][w->material], mass, radius, force / touching, &k, &c);
  return force / (touching * (c + 0.5 * k * COLLISION_SERVO_STEPS * dt));
}

static void warn(const collision_options *o, int wall, double limit) {
  if (!(o->servo_speed[wall] > limit)) return;
  sim_log(
      SIM_LOG_WARN,
      "walls[%d].servo.speed: %.4g is too large for these contacts and steps: above about %.3g the force on the plane "
      "swings about the wanted one; give %.2g or less",
      collision_wall_item(o, wall), o->servo_speed[wall], limit, 0.5 * limit);
}

void collision_servo_check(const collision_parameters *p, const collision_options *o, double n, double dt) {
  const char *names[COLLISION_MATERIALS_MAX];
  int count = 0;
  if (o->servos == 0 || collision_materials(p, names, &count) != SIM_OK) return;
  for (int b = 0; b < o->walls; b++) {
    double least, most, limit = 0, groups = 0;
    for (size_t i = 0; i < p->grains.count && !isnan(o->servo_force[b]); i++) {
      const collision_group *group = p->grains.items[i].data;
      collision_sure_radii(&p->grains.items[i], &least, &most);
      if (!isfinite(least) || !(most > 0) || isnan(group->density)) continue; /* masses in a file, or given */
      const double radius = 0.5 * (least + most), mass = group->density * 4 * COLLISION_PI / 3 * pow(radius, 3);
      limit +=
          collision_servo_limit(o, b, n, mass, radius, collision_material_index(names, count, group->material), dt);
      groups++;
    }
    if (groups > 0) warn(o, b, limit / groups);
  }
}

/* Mean over the grains of the largest stable speed. */
static double limit_of(const collision_run *run, int wall) {
  double sum = 0;
  for (int64_t i = 0; i < run->n; i++)
    sum += collision_servo_limit(&run->options, wall, (double)run->n, collision_get(run, COLLISION_MASS, 0, i),
                                 collision_get(run, COLLISION_RADIUS, 0, i),
                                 (int)((const uint64_t *)run->array[COLLISION_MATERIAL].data)[i], run->dt);
  return run->n > 0 ? sum / (double)run->n : INFINITY;
}

/* Counts how often the force passes from below half to above 1.5 of the wanted force, or back, at most SWING_APART
 * measurements after the last passage. Grains that hit a slow plane one by one have the same effect: the speed tells
 * them from an unstable plane. */
enum { SWING_SIDE, SWING_AGE, SWING_COUNT, SWING_MOST, SWING_APART = 8, SWING_LIMIT = 60 };

static sim_status count_swings(collision_run *run, const sim_clock *clock, int wall, double part) {
  double *swing = (double *)run->array[COLLISION_SWINGS].data + (ptrdiff_t)COLLISION_SWING_NUMBERS * wall;
  const double before = swing[SWING_SIDE], now = part > 1.5 ? 1 : part < 0.5 ? -1 : before;
  swing[SWING_AGE] = fmin(swing[SWING_AGE] + 1, SWING_APART + 1);
  if (swing[SWING_AGE] > SWING_APART) swing[SWING_COUNT] = swing[SWING_MOST] = 0;
  swing[SWING_SIDE] = now;
  swing[SWING_MOST] = fmax(swing[SWING_MOST], part);
  if (before == 0 || now == before) return SIM_OK;
  swing[SWING_AGE] = 0;
  if (++swing[SWING_COUNT] < SWING_LIMIT) return SIM_OK;
  swing[SWING_COUNT] = 0;
  if (run->n > 0) SIM_TRY(run->ops->store(run->work));
  const double limit = limit_of(run, wall);
  if (run->options.servo_speed[wall] < 0.3 * limit) return SIM_OK;
  return sim_fail(SIM_ERR_DIVERGED,
                  "walls[%d].servo: the force on the plane swings, to %.3g times the wanted one, since about t = %.6g: "
                  "servo.speed = %.4g is too large for these contacts; give %.2g or less",
                  collision_wall_item(&run->options, wall), swing[SWING_MOST],
                  clock->t - SWING_LIMIT * COLLISION_SERVO_STEPS * run->dt, run->options.servo_speed[wall],
                  fmin(0.5 * limit, 0.25 * run->options.servo_speed[wall]));
}

sim_status collision_servo_step(collision_run *run, const sim_clock *clock) {
  geometry_pose *pose = run->array[COLLISION_POSES].data;
  const collision_sums *sums;
  if (run->options.servos == 0 || clock->step % COLLISION_SERVO_STEPS != 0) return SIM_OK;
  SIM_TRY(collision_sums_at(run, clock, &sums));
  for (int b = 0; b < run->options.walls; b++) {
    const geometry_wall *wall = &run->options.wall[b];
    const double wanted = run->options.servo_force[b], *on = sums->wall[wall->number];
    if (isnan(wanted)) continue;
    const double force = -(on[0] * wall->axis[0] + on[1] * wall->axis[1] + on[2] * wall->axis[2]);
    const double part = fmax(-1, fmin(1, 1 - force / wanted));
    for (int c = 0; c < 3; c++) pose[b].velocity[c] = run->options.servo_speed[b] * part * wall->axis[c];
    SIM_TRY(count_swings(run, clock, b, force / wanted));
  }
  return SIM_OK;
}
