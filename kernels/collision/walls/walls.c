/* Walls of a run: from the parameters, with their meshes, and how they move. */
#include "kernels/collision/run.h"

#include "kernels/collision/scenario/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void unit(const double from[3], double out[3]) {
  const double size = sqrt(from[0] * from[0] + from[1] * from[1] + from[2] * from[2]);
  for (int c = 0; c < 3; c++) out[c] = size > 0 ? from[c] / size : c == 2;
}

static void set_shape(const sim_item *item, int plane, collision_wall *wall) {
  if (item->schema == &collision_plane_schema) {
    wall->shape = COLLISION_PLANE;
    unit(((const collision_plane *)item->data)->normal, wall->axis);
  } else if (item->schema == &collision_cylinder_schema) {
    const collision_cylinder *cylinder = item->data;
    wall->shape = COLLISION_CYLINDER;
    wall->radius = cylinder->radius;
    wall->outside = cylinder->outside;
  } else if (item->schema == &collision_cone_schema) {
    const collision_cone *cone = item->data;
    wall->shape = COLLISION_CONE;
    wall->radius = cone->radius;
    wall->end_radius = cone->end_radius;
    wall->length = cone->length;
  } else if (item->schema == &collision_ball_schema) {
    const collision_ball *ball = item->data;
    wall->shape = COLLISION_BALL;
    wall->radius = ball->radius;
    wall->outside = !ball->inside;
  } else if (item->schema == &collision_block_schema) {
    const collision_block *block = item->data;
    wall->shape = block->inside ? COLLISION_PLANE : COLLISION_BLOCK;
    wall->outside = !block->inside;
    for (int c = 0; c < 3; c++) {
      wall->point[c] = 0.5 * (block->low[c] + block->high[c]);
      wall->half[c] = 0.5 * (block->high[c] - block->low[c]);
      if (block->inside) wall->axis[c] = 0;
    }
    if (!block->inside) return;
    wall->point[plane / 2] = plane % 2 ? block->high[plane / 2] : block->low[plane / 2];
    wall->axis[plane / 2] = plane % 2 ? -1 : 1;
  } else {
    wall->shape = COLLISION_MESH;
    wall->touches = COLLISION_TOUCHES_MAX;
  }
}

void collision_add_walls(const collision_parameters *p, const char *const *names, collision_options *o) {
  for (int s = 0; s < 6; s++) {
    if (p->box.sides[s] != COLLISION_WALL) continue;
    collision_wall *wall = &o->wall[o->walls++];
    *wall = (collision_wall){.shape = COLLISION_PLANE,
                             .side = s,
                             .number = o->forces++,
                             .touches = 1,
                             .turn = {0, 0, 1},
                             .material = collision_material_index(names, o->materials, "wall")};
    for (int c = 0; c < 3; c++) wall->point[c] = p->box.origin[c] + (s % 2 ? p->box.size[c] : 0);
    wall->axis[s / 2] = s % 2 ? -1 : 1;
  }
  for (size_t i = 0; i < p->walls.count; i++, o->forces++) {
    const sim_item *item = &p->walls.items[i];
    const collision_moving *moving = item->data;
    const int planes = collision_wall_planes(item);
    for (int k = 0; k < planes && o->walls < COLLISION_WALLS_MAX; k++) {
      collision_wall *wall = &o->wall[o->walls++];
      *wall = (collision_wall){.side = -1,
                               .number = o->forces,
                               .touches = 1,
                               .spin = moving->spin,
                               .motion = moving->motion,
                               .turning = moving->turning};
      wall->material = collision_material_index(names, o->materials, moving->material);
      memcpy(wall->point, moving->point, sizeof wall->point);
      memcpy(wall->pivot, moving->point, sizeof wall->pivot);
      memcpy(wall->velocity, moving->velocity, sizeof wall->velocity);
      unit(moving->axis, wall->axis);
      unit(moving->axis, wall->turn);
      set_shape(item, k, wall);
      if (wall->shape == COLLISION_MESH) o->meshes++;
    }
  }
}

int collision_touch_numbers(const collision_wall *wall, int springs) {
  return wall->shape == COLLISION_MESH ? springs + 3 : springs;
}

/* ---- periodic boxes ---- */

/* How far it reaches along axis c at time 0; false: it is the same at every place of it. */
static bool extent(const collision_wall *w, int c, double *low, double *high) {
  const double along = fabs(w->axis[c]), across = sqrt(fmax(0, 1 - along * along));
  double reach = w->radius;
  *low = *high = w->point[c];
  switch (w->shape) {
  case COLLISION_PLANE: /* of a block with grains in it, or tilted */
    if (along < 1e-12) return false;
    if (along < 1 - 1e-12) *low = -INFINITY, *high = INFINITY;
    return true;
  case COLLISION_CYLINDER:
    if (along > 1 - 1e-12) return false;
    if (along > 1e-12) reach = INFINITY;
    break;
  case COLLISION_CONE: {
    const double end = w->point[c] + w->length * w->axis[c];
    *low = fmin(w->point[c] - across * w->radius, end - across * w->end_radius);
    *high = fmax(w->point[c] + across * w->radius, end + across * w->end_radius);
    return true;
  }
  case COLLISION_BLOCK: reach = w->half[c]; break;
  case COLLISION_MESH: return false; /* has images: mesh_images.c */
  default: break;
  }
  *low -= reach;
  *high += reach;
  return true;
}

/* A wall but a mesh has no images. Along a periodic axis it has to be without end, as long as the box, or so far from
 * the sides that no grain touches it through one of them. */
sim_status collision_walls_check_images(const collision_options *o) {
  int sides = 0;
  for (int b = 0; b < o->walls; b++) {
    const collision_wall *w = &o->wall[b];
    if (w->side >= 0) sides++;
    for (int c = 0; c < 3 && w->side < 0; c++) {
      double low, high;
      if (!o->periodic[c] || !extent(w, c, &low, &high)) continue;
      const bool twin = (b > 0 && o->wall[b - 1].number == w->number) ||
                        (b + 1 < o->walls && o->wall[b + 1].number == w->number); /* of a block around the grains */
      const bool around = w->shape == COLLISION_PLANE ? twin : w->shape != COLLISION_BLOCK && !w->outside;
      const double margin = around && w->shape != COLLISION_CONE ? 0 : o->radius_most;
      const double first = o->low[c], last = first + o->size[c];
      const bool straight = w->shape == COLLISION_BLOCK || (fabs(w->axis[c]) > 1 - 1e-12 && w->radius == w->end_radius);
      const bool spans = straight && low <= first && high >= last && isfinite(high) && w->shape != COLLISION_PLANE;
      if (w->shape == COLLISION_PLANE && !twin) low = -INFINITY;
      if (spans || (low >= first + margin && high <= last - margin && w->velocity[c] == 0)) continue;
      return sim_fail(SIM_ERR_SCENARIO,
                      "walls[%d]: the box is periodic in %c, where walls have no images: expected one that is the same "
                      "all along %c, or that stays more than a grain's radius inside the box there",
                      w->number - sides + 1, "xyz"[c], "xyz"[c]);
    }
  }
  return SIM_OK;
}

/* ---- meshes ---- */

static sim_status read_mesh(const collision_stl *stl, const sim_setup *setup, collision_triangles *out) {
  char path[4096];
  SIM_TRY(collision_path(stl->path, setup, path));
  SIM_TRY(collision_stl_read(path, out));
  if (stl->closed && collision_triangles_closed(out) != SIM_OK) return sim_fail_context("%s", path);
  return collision_triangles_move(out, stl->scale, stl->shift) == SIM_OK ? SIM_OK : sim_fail_context("%s", path);
}

sim_status collision_meshes_read(const collision_parameters *p, const sim_setup *setup, collision_triangles *out,
                                 size_t *count) {
  *count = 0;
  for (size_t i = 0; i < p->walls.count; i++) {
    const sim_item *item = &p->walls.items[i];
    if (item->schema != &collision_stl_schema) continue;
    if (read_mesh(item->data, setup, &out[(*count)++]) != SIM_OK)
      return sim_fail_context("line %d: walls[%zu].path", item->line, i + 1);
  }
  return SIM_OK;
}

/* Reads and forgets them. */
sim_status collision_meshes_count(const collision_parameters *p, const sim_setup *setup, int64_t *triangles) {
  collision_triangles *meshes = calloc(p->walls.count + 1, sizeof *meshes);
  size_t count = 0;
  if (meshes == NULL) return sim_no_memory("meshes");
  sim_status status = collision_meshes_read(p, setup, meshes, &count);
  *triangles = 0;
  for (size_t i = 0; i < count; i++) *triangles += meshes[i].count;
  collision_meshes_free(meshes, count);
  free(meshes);
  return status;
}

void collision_meshes_free(collision_triangles *meshes, size_t count) {
  for (size_t i = 0; i < count; i++) free(meshes[i].corner);
}

sim_status collision_meshes_create(collision_run *run, double largest) {
  const double *corner = run->array[COLLISION_MESHES].data;
  const int64_t total = run->triangles;
  int64_t at = 0;
  for (int b = 0; b < run->options.walls; b++) {
    collision_wall *wall = &run->options.wall[b];
    if (wall->shape != COLLISION_MESH) continue;
    const int64_t first = at;
    while (at < total && corner[10 * at + 9] == (double)run->mesh_count) at++;
    collision_triangles triangles = {.corner = malloc((size_t)(at - first + 1) * 9 * sizeof(double)), at - first};
    if (triangles.corner == NULL) return sim_no_memory("a mesh");
    for (int64_t i = first; i < at; i++)
      memcpy(triangles.corner + 9 * (i - first), corner + 10 * i, 9 * sizeof *corner);
    sim_status status = triangles.count > 0
                            ? collision_mesh_place(&run->options, b, &triangles, largest, &run->mesh[run->mesh_count])
                            : sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint has too few triangles");
    free(triangles.corner);
    if (status != SIM_OK) return status;
    wall->mesh = run->mesh[run->mesh_count++];
  }
  return SIM_OK;
}

/* ---- motion ---- */

static sim_status create_program(const sim_expr *expr, const collision_options *o, sim_expr_program **out) {
  return expr == NULL ? SIM_OK : sim_expr_program_create(expr, &(sim_expr_target){.isa = o->isa}, out);
}

sim_status collision_motion_create(collision_run *run) {
  size_t scratch = 64;
  for (int b = 0; b < run->options.walls; b++) {
    const collision_wall *wall = &run->options.wall[b];
    sim_expr_program **program = run->motion[b];
    SIM_TRY(create_program(wall->motion, &run->options, &program[0]));
    SIM_TRY(create_program(wall->turning, &run->options, &program[1]));
    for (int k = 0; k < 2; k++)
      if (program[k] != NULL && sim_expr_program_scratch(program[k]) > scratch)
        scratch = sim_expr_program_scratch(program[k]);
  }
  return sim_backend_cpu.alloc(scratch, &run->motion_scratch);
}

void collision_motion_destroy(collision_run *run) {
  for (int b = 0; b < run->options.walls; b++)
    for (int k = 0; k < 2; k++) sim_expr_program_free(&run->motion[b][k]);
  sim_backend_cpu.free(run->motion_scratch);
  for (int k = 0; k < run->mesh_count; k++) collision_mesh_destroy(&run->mesh[k]);
}

/* At the beginning, middle and end of the step: [result][3]. */
static void look(const collision_run *run, const sim_expr_program *program, int results, double t, double dt,
                 double out[3][3]) {
  const double times[3] = {t - dt, t - 0.5 * dt, t};
  const void *in[1] = {times};
  void *columns[3];
  for (int k = 0; k < results; k++) columns[k] = out[k];
  sim_expr_program_run(program, 3, in, columns, run->motion_scratch);
}

/* By Simpson's rule where functions move it. */
sim_status collision_motion_step(collision_run *run, double t, double dt) {
  collision_pose *pose = run->array[COLLISION_POSES].data;
  for (int b = 0; b < run->options.walls; b++, pose++) {
    const collision_pose plain = collision_wall_pose(&run->options.wall[b], t);
    double values[3][3];
    if (run->motion[b][0] != NULL) {
      look(run, run->motion[b][0], 3, t, dt, values);
      for (int c = 0; c < 3; c++) {
        pose->shift[c] += dt / 6 * (values[c][0] + 4 * values[c][1] + values[c][2]);
        pose->velocity[c] = values[c][2];
      }
    } else {
      memcpy(pose->shift, plain.shift, sizeof pose->shift);
      memcpy(pose->velocity, plain.velocity, sizeof pose->velocity);
    }
    if (run->motion[b][1] != NULL) {
      look(run, run->motion[b][1], 1, t, dt, values);
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
