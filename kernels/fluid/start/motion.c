/* Where bodies are: prescribed motion, and what of it cannot be right. */
#include "kernels/fluid/meshes.h"
#include "kernels/fluid/start/bodies.h"

#include "engine/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values of the functions of a body at three times: out[result][3]. */
static void evaluate(const fluid_motion *v, int body, int which, const double times[3], double out[3][3]) {
  memset(out, 0, 9 * sizeof(double));
  sim_expr_program_run(v->program[body][which], 3, (const void *const[]){times},
                       (void *const[]){out[0], out[1], out[2]}, v->scratch);
}

/* Moves a pose from one time to another: Simpson's rule, or the number of the scenario. */
static void move(fluid_motion *v, int body, double from, double to) {
  const fluid_shape rest = fluid_body_shape(v->p, v->meshes, body, NULL);
  const geometry_pose plain = geometry_wall_pose(&rest.wall, to);
  const double times[3] = {from, from + (to - from) / 2, to};
  geometry_pose *pose = &v->pose[body];
  double values[3][3];
  if (v->program[body][0]) {
    evaluate(v, body, 0, times, values);
    for (int a = 0; a < 3; a++) {
      pose->shift[a] += (to - from) / 6 * (values[a][0] + 4 * values[a][1] + values[a][2]);
      pose->velocity[a] = values[a][2];
    }
  } else {
    memcpy(pose->shift, plain.shift, sizeof pose->shift);
    memcpy(pose->velocity, plain.velocity, sizeof pose->velocity);
  }
  if (rest.wall.shape != GEOMETRY_BLOCK && rest.wall.shape != GEOMETRY_MESH) { /* its surface alone turns */
    if (v->program[body][1]) evaluate(v, body, 1, times, values);
    pose->spin = v->program[body][1] ? values[0][2] : plain.spin;
  } else if (v->program[body][1]) {
    evaluate(v, body, 1, times, values);
    pose->angle += (to - from) / 6 * (values[0][0] + 4 * values[0][1] + values[0][2]);
    pose->spin = values[0][2];
  } else {
    pose->angle = plain.angle;
    pose->spin = plain.spin;
  }
}

/* Sets motion.rate of a body for the step after step number `step`. */
static void find_rate(fluid_motion *v, int body, int64_t step) {
  const double from = (double)step * v->dt, times[3] = {from, from + v->dt, from + v->dt};
  const fluid_shape now = fluid_body_shape(v->p, v->meshes, body, &v->pose[body]);
  const double *axis = now.wall.turn, *velocity = now.pose.velocity;
  geometry_pose *rate = &v->rate[body];
  double values[3][3];
  *rate = now.pose;
  rate->spin = 0;
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    rate->velocity[a] = -now.pose.spin * v->dt * (axis[b] * velocity[c] - axis[c] * velocity[b]);
  }
  if (v->program[body][0]) {
    evaluate(v, body, 0, times, values);
    for (int a = 0; a < 3; a++) rate->velocity[a] += values[a][1] - values[a][0];
  }
  if (v->program[body][1]) {
    evaluate(v, body, 1, times, values);
    rate->spin = values[0][1] - values[0][0];
  }
}

void fluid_motion_resume(fluid_motion *v, int64_t step) {
  for (int b = 0; b < (int)v->p->bodies.count; b++) find_rate(v, b, step);
}

sim_status fluid_motion_create(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_meshes *meshes,
                               fluid_motion *out) {
  size_t scratch = 64;
  *out = (fluid_motion){.p = p, .meshes = meshes, .dt = numbers->dt};
  for (int b = 0; b < (int)p->bodies.count; b++) {
    const fluid_body *body = fluid_body_of(p, b);
    const sim_expr *functions[2] = {body->motion, body->turning};
    for (int k = 0; k < 2; k++) {
      if (!functions[k]) continue;
      SIM_TRY(sim_expr_program_create(functions[k], &(sim_expr_target){0}, &out->program[b][k]));
      const size_t bytes = (sim_expr_program_scratch(out->program[b][k]) + 63) / 64 * 64;
      scratch = bytes > scratch ? bytes : scratch;
    }
  }
  out->scratch = aligned_alloc(64, scratch);
  if (!out->scratch) return sim_no_memory("motion of bodies");
  for (int b = 0; b < (int)p->bodies.count; b++) move(out, b, 0, numbers->dt / 2);
  fluid_motion_resume(out, 0);
  return SIM_OK;
}

void fluid_motion_destroy(fluid_motion *motion) {
  for (int b = 0; b < FLUID_BODIES; b++)
    for (int k = 0; k < 2; k++) sim_expr_program_free(&motion->program[b][k]);
  free(motion->scratch);
  motion->scratch = NULL;
}

/* Greatest speed of the surface of a body; far: of a mesh, its greatest distance from the axis. */
static double surface_speed(const fluid_shape *s, double far) {
  const geometry_wall *w = &s->wall;
  double reach = w->shape == GEOMETRY_BLOCK ? 0 : w->shape == GEOMETRY_MESH ? far : w->radius, square = 0;
  for (int corner = 0; corner < 8 && w->shape == GEOMETRY_BLOCK; corner++) {
    double arm[3], along = 0, across = 0;
    for (int a = 0; a < 3; a++) {
      const double half = isinf(w->half[a]) ? 0 : w->half[a];
      arm[a] = w->point[a] - w->pivot[a] + (corner & 1 << a ? half : -half);
      along += arm[a] * w->turn[a];
    }
    for (int a = 0; a < 3; a++) across += (arm[a] - along * w->turn[a]) * (arm[a] - along * w->turn[a]);
    reach = fmax(reach, sqrt(across));
  }
  for (int a = 0; a < 3; a++) square += s->pose.velocity[a] * s->pose.velocity[a];
  return sqrt(square) + fabs(s->pose.spin) * reach;
}

/* A body that moves along an axis with sides stays between them, or reaches beyond both of them; along a periodic one
 * a block that turns is shorter than the box. */
static sim_status check_room(const fluid_motion *v, int body, const fluid_shape *now, double t) {
  const grid_shape g = fluid_grid_of(v->p);
  const fluid_shape rest = fluid_body_shape(v->p, v->meshes, body, NULL);
  double low[3], high[3], first[2][3];
  fluid_body_extent(now, low, high);
  fluid_body_extent(&rest, first[0], first[1]);
  for (int a = 0; a < g.rank; a++) {
    const double size = g.size[a], bit = 1e-9 * size;
    if (isinf(low[a])) continue;
    if (grid_is_periodic(&g, a)) {
      if (now->pose.angle != 0 && isfinite(now->wall.half[a]) && now->wall.half[a] > 0 && high[a] - low[a] > size + bit)
        return sim_fail(SIM_ERR_SCENARIO,
                        "bodies[%d]: meets its own image across the periodic sides along %c at t = %.9g: expected a "
                        "longer box",
                        body + 1, "xyz"[a], t);
      continue;
    }
    if (fabs(low[a] - first[0][a]) <= bit && fabs(high[a] - first[1][a]) <= bit) continue;
    if ((low[a] >= -bit && high[a] <= size + bit) || (low[a] <= bit && high[a] >= size - bit)) continue;
    return sim_fail(SIM_ERR_SCENARIO,
                    "bodies[%d]: passes the side %s of the box at t = %.9g, where it reaches from %c = %.6g to %.6g: "
                    "expected a body that moves to stay in the box, from 0 to %.6g, or to reach beyond both sides",
                    body + 1, fluid_side_names[2 * a + (low[a] >= 0)], t, "xyz"[a], low[a], high[a], size);
  }
  return SIM_OK;
}

static sim_status check(const fluid_motion *v, int body, double t, double *most) {
  const geometry_pose *pose = &v->pose[body];
  const fluid_shape now = fluid_body_shape(v->p, v->meshes, body, pose);
  const double speed = surface_speed(&now, v->meshes ? v->meshes->reach[body] : 0);
  if (!isfinite(speed + pose->shift[0] + pose->shift[1] + pose->shift[2] + pose->angle))
    return sim_fail(SIM_ERR_SCENARIO, "bodies[%d]: its motion is not finite at t = %.9g", body + 1, t);
  if (speed > 1.01 * v->p->speed)
    return sim_fail(SIM_ERR_SCENARIO,
                    "bodies[%d]: its surface is faster, %.6g, at t = %.9g than `speed`, %.6g, which sets the time step",
                    body + 1, speed, t, v->p->speed);
  *most = fmax(*most, speed);
  return check_room(v, body, &now, t);
}

sim_status fluid_motion_step(fluid_motion *v, int64_t step) {
  const double from = ((double)step - 0.5) * v->dt, to = ((double)step + 0.5) * v->dt;
  double most = 0;
  memcpy(v->last, v->pose, sizeof v->last);
  for (int b = 0; b < (int)v->p->bodies.count; b++) {
    if (!fluid_body_moves(v->p, b)) continue;
    move(v, b, from, to);
    find_rate(v, b, step);
    SIM_TRY(check(v, b, to, &most));
  }
  return SIM_OK;
}

static sim_status follow(fluid_motion *v, int body, int64_t steps) {
  enum { MOST = 1000000 };
  const fluid_body *b = fluid_body_of(v->p, body);
  double most = 0;
  SIM_TRY(check(v, body, v->dt / 2, &most));
  const bool straight = !b->motion && !b->turning && b->spin == 0; /* its extent is greatest at an end */
  sim_status end = SIM_ERR_SCENARIO;
  if (straight) {
    const double to = ((double)steps + 0.5) * v->dt;
    move(v, body, to - v->dt, to);
    end = check(v, body, to, &most);
  }
  for (int64_t step = 1; end != SIM_OK && step <= steps && step <= MOST; step++) { /* when first, if at the end */
    const double to = ((double)step + 0.5) * v->dt;
    move(v, body, to - v->dt, to);
    SIM_TRY(check(v, body, to, &most));
  }
  if (straight) SIM_TRY(end);
  sim_log(SIM_LOG_INFO, "bodies[%d]: moves, its surface with at most %.4g", body + 1, most);
  return SIM_OK;
}

sim_status fluid_motion_check(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_meshes *meshes) {
  fluid_motion v;
  sim_status status = fluid_motion_create(p, numbers, meshes, &v);
  const int64_t steps = (int64_t)fmin(ceil(p->integrate.t_end / numbers->dt * (1 - 1e-12)), 1e15);
  for (int b = 0; status == SIM_OK && b < (int)p->bodies.count; b++)
    if (fluid_body_moves(p, b)) status = follow(&v, b, steps);
  fluid_motion_destroy(&v);
  return status;
}

/* By cell of the surface 53 halvings of some 5 links (3 in 2-D), by cell of the grid a look at whether it is solid. */
double fluid_motion_seconds(const fluid_parameters *p, const fluid_meshes *meshes) {
  static const double pi = 3.14159265358979323846, by_surface = 18e-6, by_cell = 2e-9;
  const grid_shape g = fluid_grid_of(p);
  const double dx = g.size[0] / (double)g.n[0];
  double surface = 0;
  for (int b = 0; b < (int)p->bodies.count; b++) {
    const fluid_shape s = fluid_body_shape(p, meshes, b, NULL);
    const double r = s.wall.radius;
    double side[3] = {dx, dx, dx}, area = 0; /* of a block; flat along z on a grid of two axes */
    if (!fluid_body_moves(p, b)) continue;
    for (int a = 0; a < g.rank; a++) side[a] = fmin(2 * s.wall.half[a], g.size[a]);
    for (int a = 0; a < g.rank; a++) area += 2 * side[0] * side[1] * side[2] / side[a];
    if (s.wall.shape == GEOMETRY_BALL) area = g.rank == 2 ? 2 * pi * r * dx : 4 * pi * r * r;
    if (s.wall.shape == GEOMETRY_CYLINDER)
      area = 2 * pi * r * (g.rank == 2 ? dx : fmax(g.size[0], fmax(g.size[1], g.size[2])));
    if (s.wall.shape == GEOMETRY_MESH) area = meshes->area[b];
    surface += area / (dx * dx);
  }
  return by_surface * surface + by_cell * grid_cells_wanted(&g);
}
