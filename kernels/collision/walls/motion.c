/* Walls of a run: meshes and motion. */
#include "kernels/collision/run.h"
#include "kernels/collision/walls/walls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sim_status collision_meshes_create(collision_run *run, double largest) {
  const double *corner = run->array[COLLISION_MESHES].data;
  const int64_t total = run->triangles;
  int64_t at = 0;
  for (int b = 0; b < run->options.walls; b++) {
    geometry_wall *wall = &run->options.wall[b];
    if (wall->shape != GEOMETRY_MESH) continue;
    const int64_t first = at;
    while (at < total && corner[10 * at + 9] == (double)run->mesh_count) at++;
    geometry_triangles triangles = {.corner = malloc((size_t)(at - first + 1) * 9 * sizeof(double)), at - first};
    if (triangles.corner == NULL) return sim_no_memory("a mesh");
    for (int64_t i = first; i < at; i++)
      memcpy(triangles.corner + 9 * (i - first), corner + 10 * i, 9 * sizeof *corner);
    sim_status status = triangles.count > 0
                            ? collision_mesh_create(&run->options, b, &triangles, largest, &run->mesh[run->mesh_count])
                            : sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint has too few triangles");
    free(triangles.corner);
    if (status != SIM_OK) return status;
    wall->mesh = run->mesh[run->mesh_count++];
  }
  return SIM_OK;
}

sim_status collision_motion_create(collision_run *run) {
  const sim_expr_target target = {.isa = run->options.isa};
  for (int b = 0; b < run->options.walls; b++) {
    const geometry_wall *wall = &run->options.wall[b];
    const sim_expr *functions[2] = {wall->motion, wall->turning};
    for (int k = 0; k < 2; k++)
      if (functions[k] != NULL) SIM_TRY(sim_expr_program_create(functions[k], &target, &run->motion[b][k]));
  }
  return laws_scratch_create(run->motion[0], 2 * (size_t)run->options.walls, 0, 1, &run->motion_scratch);
}

void collision_motion_destroy(collision_run *run) {
  for (int b = 0; b < run->options.walls; b++)
    for (int k = 0; k < 2; k++) sim_expr_program_free(&run->motion[b][k]);
  laws_scratch_destroy(&run->motion_scratch);
  for (int k = 0; k < run->mesh_count; k++) geometry_mesh_destroy(&run->mesh[k]);
}

/* Evaluates a function of time at the beginning, middle and end of the step: out[result][3]. */
static void evaluate(const collision_run *run, const sim_expr_program *program, double t, double dt, double out[3][3]) {
  const double times[3] = {t - dt, t - 0.5 * dt, t};
  sim_expr_program_run(program, 3, (const void *const[]){times}, (void *const[]){out[0], out[1], out[2]},
                       run->motion_scratch.memory);
}

/* Functions of time are integrated by Simpson's rule. */
sim_status collision_motion_step(collision_run *run, double t, double dt) {
  geometry_pose *pose = run->array[COLLISION_POSES].data;
  for (int b = 0; b < run->options.walls; b++, pose++) {
    const geometry_pose plain = geometry_wall_pose(&run->options.wall[b], t);
    double values[3][3];
    if (!isnan(run->options.servo_force[b])) {
      for (int c = 0; c < 3; c++) pose->shift[c] += dt * pose->velocity[c];
    } else if (run->motion[b][0] != NULL) {
      evaluate(run, run->motion[b][0], t, dt, values);
      for (int c = 0; c < 3; c++) {
        pose->shift[c] += dt / 6 * (values[c][0] + 4 * values[c][1] + values[c][2]);
        pose->velocity[c] = values[c][2];
      }
      SIM_TRY(collision_wall_check_shift(&run->options, b, pose->shift, t));
    } else {
      memcpy(pose->shift, plain.shift, sizeof pose->shift);
      memcpy(pose->velocity, plain.velocity, sizeof pose->velocity);
    }
    if (run->motion[b][1] != NULL) {
      evaluate(run, run->motion[b][1], t, dt, values);
      pose->angle += dt / 6 * (values[0][0] + 4 * values[0][1] + values[0][2]);
      pose->spin = values[0][2];
    } else {
      pose->angle = plain.angle;
      pose->spin = plain.spin;
    }
    const double all = pose->shift[0] + pose->shift[1] + pose->shift[2] + pose->angle + pose->spin;
    if (!isfinite(all + pose->velocity[0] + pose->velocity[1] + pose->velocity[2]))
      return sim_fail(SIM_ERR_DIVERGED, "the motion of wall %d is not finite at t = %.9g", b + 1, t);
  }
  return SIM_OK;
}
