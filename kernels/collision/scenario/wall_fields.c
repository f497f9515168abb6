/* Walls in a scenario: field tables, and the rules between fields. */
#include "kernels/collision/scenario/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const sim_signature motion_signature = {
    .inputs = (const char *const[]){"t", NULL}, .outputs = {3}, .returns = "vx, vy, vz"};
static const sim_signature turning_signature = {.inputs = (const char *const[]){"t", NULL}, .outputs = {1}};

static const sim_field moving_fields[] = {
    {FIELD(collision_moving, material), .type = SIM_STRING, .initial = "wall",
     .doc = "name of the material, for contact.pairs"},
    {FIELD(collision_moving, velocity), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}", .dimension = SPEED,
     .doc = "velocity; of a plane along itself: a conveyor belt"},
    {FIELD(collision_moving, motion), .type = SIM_FUNCTION, .signature = &motion_signature,
     .doc = "velocity as a function of time, instead of `velocity`"},
    {FIELD(collision_moving, spin), .type = SIM_REAL, .initial = "0", .dimension = {0, 0, -1},
     .doc = "angular velocity about `axis` through `point`, which move with the wall; in radians per unit of time"},
    {FIELD(collision_moving, turning), .type = SIM_FUNCTION, .signature = &turning_signature,
     .doc = "angular velocity as a function of time, instead of `spin`"},
    {FIELD(collision_moving, temperature), .type = SIM_REAL, .initial = "none", .keyword = "none",
     .doc = "temperature at which the wall is held, with `heat`; none: it conducts none"},
    {0}};
static const sim_schema moving_schema = {
    SIM_SCHEMA(collision_moving, "wall", "common fields of all walls", moving_fields)};

#define POINT(T, text)                                                                                                 \
  { FIELD(T, point), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED, .dimension = LENGTH, .doc = text }
#define CENTRE(T, text)                                                                                                \
  { FIELD(T, point), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}", .dimension = LENGTH, .doc = text }
#define DIRECTION(T, text)                                                                                             \
  { FIELD(T, axis), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED, .doc = text }
#define TURN_AXIS(T)                                                                                                   \
  { FIELD(T, axis), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 1}", .doc = "axis of rotation" }
#define RADIUS(T, member, text)                                                                                        \
  {                                                                                                                    \
    FIELD(T, member), .type = SIM_REAL, .flags = SIM_REQUIRED | POSITIVE, .max = INFINITY, .dimension = LENGTH,        \
                      .doc = text                                                                                      \
  }
#define AT_LEAST_0(T, member, text)                                                                                    \
  {                                                                                                                    \
    FIELD(T, member), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE, .max = INFINITY, .dimension = LENGTH,       \
                      .doc = text                                                                                      \
  }
#define FLAG(T, member, text)                                                                                          \
  { FIELD(T, member), .type = SIM_BOOL, .initial = "false", .doc = text }
#define SCHEMA(word, text)                                                                                             \
  const sim_schema collision_##word##_schema = {                                                                       \
      .name = #word, .doc = text, .fields = word##_fields, .base = &moving_schema, .size = sizeof(collision_##word)}

static const sim_field servo_fields[] = {
    OPTIONAL(collision_servo, force, POSITIVE, INFINITY, "force with which grains are to press on the plane",
             .dimension = {1, 1, -2}),
    OPTIONAL(collision_servo, pressure, POSITIVE, INFINITY,
             "force over the box's cross-section, instead: of a plane along two axes of the box",
             .dimension = PRESSURE),
    OPTIONAL(collision_servo, speed, POSITIVE, INFINITY,
             "largest speed; the plane moves at speed (1 - F/force) towards the grains, F the force of 20 steps before "
             "at most",
             .dimension = SPEED),
    {0}};
static const sim_schema servo_schema = {
    SIM_SCHEMA(collision_servo, "servo", "a plane that holds a force", servo_fields)};

static const sim_field plane_fields[] = {POINT(collision_plane, "a point of the plane, at time 0"),
                                         {FIELD(collision_plane, normal), .type = SIM_REAL, .components = 3,
                                          .flags = SIM_REQUIRED, .doc = "normal, towards the side of the grains"},
                                         TURN_AXIS(collision_plane),
                                         {FIELD(collision_plane, servo), .type = SIM_STRUCT, .flags = SIM_OPTIONAL,
                                          .table = &servo_schema,
                                          .doc = "moves the plane until grains press on it as wanted"},
                                         {0}};
SCHEMA(plane, "an infinite plane");

static const sim_field cylinder_fields[] = {POINT(collision_cylinder, "a point on the axis"),
                                            DIRECTION(collision_cylinder, "direction of the axis"),
                                            RADIUS(collision_cylinder, radius, "radius of the cylinder"),
                                            FLAG(collision_cylinder, outside, "grains are outside, not inside"),
                                            {0}};
SCHEMA(cylinder, "an infinite cylinder");

static const sim_field cone_fields[] = {POINT(collision_cone, "centre of the first end"),
                                        DIRECTION(collision_cone, "direction to the other end"),
                                        AT_LEAST_0(collision_cone, length, "length; 0: a ring or disc"),
                                        AT_LEAST_0(collision_cone, radius, "radius of the first end"),
                                        AT_LEAST_0(collision_cone, end_radius, "radius of the other end"),
                                        {0}};
SCHEMA(cone, "a thin sheet, part of a cone, a cylinder or a disc, with grains on both sides");

static const sim_field ball_fields[] = {POINT(collision_ball, "centre"),
                                        TURN_AXIS(collision_ball),
                                        RADIUS(collision_ball, radius, "radius of the sphere"),
                                        FLAG(collision_ball, inside, "grains are inside, not outside"),
                                        {0}};
SCHEMA(ball, "a sphere as a wall");

static const sim_field block_fields[] = {{FIELD(collision_block, low), .type = SIM_REAL, .components = 3,
                                          .flags = SIM_REQUIRED, .dimension = LENGTH, .doc = "lower corner, at time 0"},
                                         {FIELD(collision_block, high), .type = SIM_REAL, .components = 3,
                                          .flags = SIM_REQUIRED, .dimension = LENGTH, .doc = "upper corner"},
                                         CENTRE(collision_block, "axis of rotation"),
                                         TURN_AXIS(collision_block),
                                         FLAG(collision_block, inside, "grains are inside, not outside: six planes"),
                                         {0}};
SCHEMA(block, "a box as a wall");

static const sim_field stl_fields[] = {
    {FIELD(collision_stl, path), .type = SIM_STRING, .flags = SIM_REQUIRED,
     .doc = "STL file, in text or binary; relative to the scenario's folder"},
    {FIELD(collision_stl, scale), .type = SIM_REAL, .flags = POSITIVE, .max = INFINITY, .initial = "1",
     .doc = "length of a unit of the file"},
    {FIELD(collision_stl, shift), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}", .dimension = LENGTH,
     .doc = "position of the file's origin"},
    CENTRE(collision_stl, "axis of rotation"),
    TURN_AXIS(collision_stl),
    FLAG(collision_stl, closed, "refuse a mesh that is not closed: each edge must belong to two triangles"),
    {0}};
SCHEMA(stl, "triangle mesh from a file: a thin surface with grains on both sides");

const sim_schema *const collision_wall_variants[] = {&collision_plane_schema,
                                                     &collision_cylinder_schema,
                                                     &collision_cone_schema,
                                                     &collision_ball_schema,
                                                     &collision_block_schema,
                                                     &collision_stl_schema,
                                                     NULL};

/* ---- rules ---- */

static bool is_zero(const double v[3]) { return !(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] > 0); }

int collision_wall_planes(const sim_item *item) {
  return item->schema == &collision_block_schema && ((const collision_block *)item->data)->inside ? 6 : 1;
}

static void check_wall(const sim_item *item, bool heated, const char *path, sim_faults *faults) {
  const collision_moving *wall = item->data;
  char at[96];
#define FAULT(key, ...)                                                                                                \
  do {                                                                                                                 \
    snprintf(at, sizeof at, "%s.%s", path, key);                                                                       \
    sim_faults_add(faults, item->line, at, __VA_ARGS__);                                                               \
  } while (0)
  if (item->schema == &collision_plane_schema && is_zero(((const collision_plane *)item->data)->normal))
    FAULT("normal", "expected a direction, got {0, 0, 0}");
  if (item->schema == &collision_plane_schema) {
    const collision_plane *plane = item->data;
    const collision_servo *s = &plane->servo;
    const bool some = !isnan(s->force) || !isnan(s->pressure);
    int along = 0;
    for (int c = 0; c < 3; c++) along += plane->normal[c] != 0;
    if (!isnan(s->force) && !isnan(s->pressure)) FAULT("servo", "expected one of force and pressure, got both");
    if (s->given && !some && isnan(s->speed)) FAULT("servo", "is empty: expected force or pressure, and speed");
    if (some && isnan(s->speed)) FAULT("servo.speed", "missing: the plane needs it");
    if (!some && !isnan(s->speed)) FAULT("servo.force", "missing: a servo needs force or pressure");
    if (!isnan(s->pressure) && along != 1) FAULT("servo.pressure", "needs a normal along an axis: give force");
    if (some && (!is_zero(plane->velocity) || plane->motion != NULL || plane->turning != NULL || plane->spin != 0))
      FAULT("servo", "moves the plane: expected neither velocity, motion, spin nor turning");
  }
  const bool turns = item->schema == &collision_cylinder_schema || item->schema == &collision_cone_schema;
  if ((turns || wall->spin != 0 || wall->turning != NULL) && is_zero(wall->axis))
    FAULT("axis", "expected a direction, got {0, 0, 0}");
  if (wall->motion != NULL && !is_zero(wall->velocity))
    FAULT("motion", "expected one of velocity and motion, got both");
  if (!isnan(wall->temperature) && !heated) FAULT("temperature", "has an effect with `heat` alone");
  if (wall->turning != NULL && wall->spin != 0) FAULT("turning", "expected one of spin and turning, got both");
  if (item->schema == &collision_cone_schema) {
    const collision_cone *cone = item->data;
    if (!(cone->length > 0) && cone->radius == cone->end_radius)
      FAULT("length", "expected more than 0 where both radii are equal");
  }
  if (item->schema == &collision_block_schema) {
    const collision_block *block = item->data;
    for (int c = 0; c < 3; c++)
      if (!(block->low[c] < block->high[c]))
        FAULT("low", "expected low below high, got %.9g and %.9g in %c", block->low[c], block->high[c], "xyz"[c]);
  }
#undef FAULT
}

void collision_check_walls(const collision_parameters *p, sim_faults *faults) {
  size_t count = 0;
  for (int s = 0; s < 6; s++) count += p->box.sides[s] == COLLISION_WALL;
  for (size_t i = 0; i < p->walls.count; i++) {
    char path[64];
    snprintf(path, sizeof path, "walls[%zu]", i + 1);
    check_wall(&p->walls.items[i], !isnan(p->heat.capacity), path, faults);
    count += (size_t)collision_wall_planes(&p->walls.items[i]);
  }
  if (count > COLLISION_WALLS_MAX)
    sim_faults_add(faults, 0, "walls",
                   "expected at most %d walls with those of the box, and six for a block with grains in it, got %zu",
                   COLLISION_WALLS_MAX, count);
}
