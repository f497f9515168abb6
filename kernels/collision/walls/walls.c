/* Walls and meshes of a scenario, from its parameters and files. */
#include "kernels/collision/walls/walls.h"

#include "kernels/collision/start/grains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void unit(const double from[3], double out[3]) {
  const double size = sqrt(from[0] * from[0] + from[1] * from[1] + from[2] * from[2]);
  for (int c = 0; c < 3; c++) out[c] = size > 0 ? from[c] / size : c == 2;
}

static void set_shape(const sim_item *item, int plane, geometry_wall *wall) {
  if (item->schema == &collision_plane_schema) {
    wall->shape = GEOMETRY_PLANE;
    unit(((const collision_plane *)item->data)->normal, wall->axis);
  } else if (item->schema == &collision_cylinder_schema) {
    const collision_cylinder *cylinder = item->data;
    wall->shape = GEOMETRY_CYLINDER;
    wall->radius = cylinder->radius;
    wall->outside = cylinder->outside;
  } else if (item->schema == &collision_cone_schema) {
    const collision_cone *cone = item->data;
    wall->shape = GEOMETRY_CONE;
    wall->radius = cone->radius;
    wall->end_radius = cone->end_radius;
    wall->length = cone->length;
  } else if (item->schema == &collision_ball_schema) {
    const collision_ball *ball = item->data;
    wall->shape = GEOMETRY_BALL;
    wall->radius = ball->radius;
    wall->outside = !ball->inside;
  } else if (item->schema == &collision_block_schema) {
    const collision_block *block = item->data;
    wall->shape = block->inside ? GEOMETRY_PLANE : GEOMETRY_BLOCK;
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
    wall->shape = GEOMETRY_MESH;
    wall->touches = GEOMETRY_CONTACTS_MAX;
  }
}

/* Sets the servo of the next wall. */
static void set_servo(const sim_item *item, collision_options *o) {
  const int b = o->walls;
  o->servo_force[b] = o->servo_speed[b] = NAN;
  if (item->schema != &collision_plane_schema) return;
  const collision_plane *plane = item->data;
  double area = 1;
  for (int c = 0; c < 3; c++) area *= plane->normal[c] == 0 ? o->size[c] : 1;
  o->servo_force[b] = isnan(plane->servo.force) ? plane->servo.pressure * area : plane->servo.force;
  o->servo_speed[b] = plane->servo.speed;
  o->servos += !isnan(o->servo_force[b]);
}

void collision_add_walls(const collision_parameters *p, const char *const *names, collision_options *o) {
  for (int s = 0; s < 6; s++) {
    if (p->box.sides[s] != COLLISION_WALL) continue;
    o->wall_temperature[o->walls] = o->servo_force[o->walls] = o->servo_speed[o->walls] = NAN;
    geometry_wall *wall = &o->wall[o->walls++];
    *wall = (geometry_wall){.shape = GEOMETRY_PLANE,
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
      o->wall_temperature[o->walls] = moving->temperature;
      set_servo(item, o);
      geometry_wall *wall = &o->wall[o->walls++];
      *wall = (geometry_wall){.side = -1,
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
      if (wall->shape == GEOMETRY_MESH) o->meshes++;
    }
  }
}

int collision_wall_history(const geometry_wall *wall, int springs) {
  return wall->shape == GEOMETRY_MESH ? springs + 3 : springs;
}

/* ---- periodic boxes ---- */

static geometry_box box_of(const collision_options *o) {
  geometry_box box = {.sheared = o->shear != 0};
  memcpy(box.low, o->low, sizeof box.low);
  memcpy(box.size, o->size, sizeof box.size);
  memcpy(box.periodic, o->periodic, sizeof box.periodic);
  return box;
}

int collision_wall_item(const collision_options *o, int b) {
  int sides = 0;
  while (sides < o->walls && o->wall[sides].side >= 0) sides++;
  return o->wall[b].number - sides + 1;
}

/* Puts the name of wall b, an item of `walls`, in front of the last error's message. */
static sim_status name_wall(const collision_options *o, int b) {
  return sim_fail_context("walls[%d]", collision_wall_item(o, b));
}

/* Whether wall b is a face of a block around the grains. */
static bool is_paired(const collision_options *o, int b) {
  return (b > 0 && o->wall[b - 1].number == o->wall[b].number) ||
         (b + 1 < o->walls && o->wall[b + 1].number == o->wall[b].number);
}

sim_status collision_walls_check_images(const collision_options *o, double end) {
  const geometry_box box = box_of(o);
  for (int b = 0; b < o->walls; b++) {
    const geometry_wall *w = &o->wall[b];
    if (w->side < 0 && geometry_wall_check_images(w, is_paired(o, b), &box, o->radius_most + o->reach, end) != SIM_OK)
      return name_wall(o, b);
  }
  return SIM_OK;
}

sim_status collision_wall_check_shift(const collision_options *o, int b, const double shift[3], double t) {
  const geometry_box box = box_of(o);
  for (int c = 0; c < 3; c++) {
    double room[2];
    if (shift[c] == 0 || !geometry_wall_room(&o->wall[b], is_paired(o, b), &box, o->radius_most + o->reach, c, room))
      continue;
    if (shift[c] >= room[0] && shift[c] <= room[1]) continue;
    (void)sim_fail(
        SIM_ERR_SCENARIO,
        "`motion` has moved the wall by %.6g along %c at t = %.9g: the box is periodic there and walls have no "
        "images: expected %.6g to %.6g",
        shift[c], "xyz"[c], t, room[0], room[1]);
    return name_wall(o, b);
  }
  return SIM_OK;
}

sim_status collision_mesh_create(const collision_options *o, int b, const geometry_triangles *triangles, double largest,
                                 geometry_mesh **out) {
  const geometry_box box = box_of(o);
  const sim_status status = geometry_mesh_create_periodic(triangles, &o->wall[b], &box, largest, out);
  return status == SIM_ERR_SCENARIO ? name_wall(o, b) : status;
}

/* ---- meshes ---- */

static sim_status read_mesh(const collision_stl *stl, const sim_setup *setup, geometry_triangles *out) {
  char path[4096];
  SIM_TRY(sim_setup_path(setup, stl->path, path));
  SIM_TRY(geometry_stl_read(path, out));
  if (stl->closed && geometry_triangles_closed(out) != SIM_OK) return sim_fail_context("%s", path);
  return geometry_triangles_move(out, stl->scale, stl->shift) == SIM_OK ? SIM_OK : sim_fail_context("%s", path);
}

sim_status collision_meshes_read(const collision_parameters *p, const sim_setup *setup, geometry_triangles *out,
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

sim_status collision_meshes_count(const collision_parameters *p, const sim_setup *setup, int64_t *triangles) {
  geometry_triangles *meshes = calloc(p->walls.count + 1, sizeof *meshes);
  size_t count = 0;
  if (meshes == NULL) return sim_no_memory("meshes");
  sim_status status = collision_meshes_read(p, setup, meshes, &count);
  *triangles = 0;
  for (size_t i = 0; i < count; i++) *triangles += meshes[i].count;
  collision_meshes_free(meshes, count);
  free(meshes);
  return status;
}

void collision_meshes_free(geometry_triangles *meshes, size_t count) {
  for (size_t i = 0; i < count; i++) free(meshes[i].corner);
}
