/* The model's parameters: field tables, and the rules between fields. */
#include "kernels/collision/collision.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LENGTH                                                                                                         \
  { 1, 0, 0 }
#define TIME                                                                                                           \
  { 0, 0, 1 }
#define SPEED                                                                                                          \
  { 1, 0, -1 }
#define PRESSURE                                                                                                       \
  { -1, 1, -2 }
#define FIELD(T, member) .name = #member, .offset = offsetof(T, member)
#define POSITIVE SIM_RANGE | SIM_MIN_OPEN
/* A number > 0, or >= 0, that may be left out. */
#define OPTIONAL(T, member, flag, top, text, ...)                                                                      \
  {                                                                                                                    \
    FIELD(T, member), .type = SIM_REAL, .flags = flag, .max = top, .initial = "none", .keyword = "none", .doc = text,  \
                      __VA_ARGS__                                                                                      \
  }

/* ---- grains ---- */

static const sim_field group_fields[] = {
    {FIELD(collision_group, species), .type = SIM_STRING, .initial = "grains",
     .doc = "name under which the grains are written"},
    {FIELD(collision_group, material), .type = SIM_STRING, .initial = "grain", .doc = "what contact.pairs name"},
    {FIELD(collision_group, density), .type = SIM_REAL, .flags = POSITIVE, .max = INFINITY, .initial = "1",
     .dimension = {-3, 1, 0}, .doc = "mass over volume of a grain"},
    {FIELD(collision_group, velocity), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}", .dimension = SPEED,
     .doc = "velocity of the group"},
    {0}};
static const sim_schema group_schema = {
    .name = "group", .doc = "what all groups of grains share", .fields = group_fields, .size = sizeof(collision_group)};

static const sim_field grain_fields[] = {
    {FIELD(collision_grain, radius), .type = SIM_REAL, .flags = SIM_REQUIRED | POSITIVE, .max = INFINITY,
     .dimension = LENGTH, .doc = "radius"},
    {FIELD(collision_grain, position), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED, .dimension = LENGTH,
     .doc = "where its centre is"},
    {FIELD(collision_grain, angular_velocity), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}",
     .dimension = {0, 0, -1}, .doc = "how it turns, radians a time"},
    {0}};
const sim_schema collision_grain_schema = {
    .name = "", .doc = "one grain", .fields = grain_fields, .base = &group_schema, .size = sizeof(collision_grain)};

static const char *const distribution_names[] = {"auto", "list", "uniform", "lognormal", NULL};
#define RADII(T)                                                                                                       \
  {.name = "radius",                                                                                                   \
   .offset = offsetof(T, size.radius),                                                                                 \
   .type = SIM_REAL,                                                                                                   \
   .flags = POSITIVE,                                                                                                  \
   .max = INFINITY,                                                                                                    \
   .initial = "none",                                                                                                  \
   .keyword = "none",                                                                                                  \
   .dimension = LENGTH,                                                                                                \
   .doc = "radius of all; or give `radii`"},                                                                           \
      {.name = "radii",                                                                                                \
       .offset = offsetof(T, size.radii),                                                                              \
       .type = SIM_ARRAY,                                                                                              \
       .components = 1,                                                                                                \
       .flags = POSITIVE,                                                                                              \
       .max = INFINITY,                                                                                                \
       .dimension = LENGTH,                                                                                            \
       .doc = "list: dealt out in turn; uniform: least and greatest; "                                                 \
              "lognormal: median, and standard deviation of the logarithm"},                                           \
  {                                                                                                                    \
    .name = "distribution", .offset = offsetof(T, size.distribution), .type = SIM_CHOICE, .initial = "auto",           \
    .choices = distribution_names, .doc = "of `radii`; auto: uniform where there are two, list otherwise"              \
  }
#define REGION(T)                                                                                                      \
  {FIELD(T, n), .type = SIM_INT, .flags = SIM_REQUIRED | SIM_RANGE, .min = 1, .max = 4e9, .doc = "grains"}, RADII(T),  \
      {FIELD(T, low), .type = SIM_ARRAY, .components = 1, .dimension = LENGTH,                                         \
       .doc = "lower corner of the region that holds them, {x, y, z}; none: the box's"},                               \
      {FIELD(T, high), .type = SIM_ARRAY, .components = 1, .dimension = LENGTH,                                        \
       .doc = "its upper corner; none: the box's"},                                                                    \
  {                                                                                                                    \
    FIELD(T, temperature), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",                      \
                           .dimension = {2, 1, -2}, .doc = "m <v^2>/3 of Maxwell's velocities; their sum is at rest"   \
  }

static const sim_field random_fields[] = {REGION(collision_random_spheres), {0}};
const sim_schema collision_random_spheres_schema = {
    .name = "random_spheres",
    .doc = "spheres at random, without overlap: thrown, then grown and pushed apart",
    .fields = random_fields,
    .base = &group_schema,
    .size = sizeof(collision_random_spheres)};

static const sim_field lattice_fields[] = {REGION(collision_lattice), {0}};
const sim_schema collision_lattice_schema = {.name = "lattice",
                                             .doc = "spheres on a simple cubic lattice that fills the region",
                                             .fields = lattice_fields,
                                             .base = &group_schema,
                                             .size = sizeof(collision_lattice)};

static const sim_field file_fields[] = {
    {FIELD(collision_from_file, path), .type = SIM_STRING, .flags = SIM_REQUIRED,
     .doc = "openPMD snapshot, of which `species` is read, or CSV with a header line naming mass, x, y, z, vx, vy, vz; "
            "relative to the scenario's folder. The radius follows from mass and density unless it is given"},
    OPTIONAL(collision_from_file, radius, POSITIVE, INFINITY, "radius of all; none: from mass and density",
             .dimension = LENGTH),
    {0}};
const sim_schema collision_from_file_schema = {.name = "from_file",
                                               .doc = "grains of a file",
                                               .fields = file_fields,
                                               .base = &group_schema,
                                               .size = sizeof(collision_from_file)};

static const sim_field each_fields[] = {
    {FIELD(collision_group, species), .type = SIM_STRING, .initial = "grains",
     .doc = "name under which the grains are written"},
    {FIELD(collision_group, material), .type = SIM_STRING, .initial = "grain", .doc = "what contact.pairs name"},
    {FIELD(collision_group, density), .type = SIM_REAL, .flags = POSITIVE, .max = INFINITY, .initial = "1",
     .dimension = {-3, 1, 0}, .doc = "mass over volume of a grain"},
    {FIELD(collision_each, radius), .type = SIM_ARRAY, .components = 1, .flags = SIM_REQUIRED | POSITIVE,
     .max = INFINITY, .dimension = LENGTH, .doc = "radius of each"},
    {FIELD(collision_each, position), .type = SIM_ARRAY, .components = 3, .flags = SIM_REQUIRED, .dimension = LENGTH,
     .doc = "position of each"},
    {FIELD(collision_each, velocity), .type = SIM_ARRAY, .components = 3, .dimension = SPEED,
     .doc = "velocity of each; none: all are at rest"},
    {FIELD(collision_each, angular_velocity), .type = SIM_ARRAY, .components = 3, .dimension = {0, 0, -1},
     .doc = "how each turns; none: not at all"},
    {0}};
const sim_schema collision_each_schema = {.name = "each",
                                          .doc = "grains made one by one by a Lua function",
                                          .fields = each_fields,
                                          .size = sizeof(collision_each)};

static const sim_schema *const grain_variants[] = {&collision_grain_schema,   &collision_random_spheres_schema,
                                                   &collision_lattice_schema, &collision_from_file_schema,
                                                   &collision_each_schema,    NULL};

/* ---- walls and box ---- */

#define WALL_MATERIAL(T)                                                                                               \
  { FIELD(T, material), .type = SIM_STRING, .initial = "wall", .doc = "what contact.pairs name" }

static const sim_field plane_fields[] = {
    WALL_MATERIAL(collision_plane),
    {FIELD(collision_plane, point), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED, .dimension = LENGTH,
     .doc = "a point of the plane, at time 0"},
    {FIELD(collision_plane, normal), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED,
     .doc = "points to the side where the grains are"},
    {FIELD(collision_plane, velocity), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}", .dimension = SPEED,
     .doc = "how the plane moves; along itself: as a belt"},
    {0}};
const sim_schema collision_plane_schema = {
    .name = "plane", .doc = "an endless plane", .fields = plane_fields, .size = sizeof(collision_plane)};

static const sim_field cylinder_fields[] = {
    WALL_MATERIAL(collision_cylinder),
    {FIELD(collision_cylinder, point), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED, .dimension = LENGTH,
     .doc = "a point of its axis"},
    {FIELD(collision_cylinder, axis), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED,
     .doc = "direction of its axis"},
    {FIELD(collision_cylinder, radius), .type = SIM_REAL, .flags = SIM_REQUIRED | POSITIVE, .max = INFINITY,
     .dimension = LENGTH, .doc = "its radius"},
    {FIELD(collision_cylinder, spin), .type = SIM_REAL, .initial = "0", .dimension = {0, 0, -1},
     .doc = "how fast it turns about its axis, radians a time"},
    {FIELD(collision_cylinder, outside), .type = SIM_BOOL, .initial = "false",
     .doc = "the grains are around it, not in it"},
    {0}};
const sim_schema collision_cylinder_schema = {
    .name = "cylinder", .doc = "an endless cylinder", .fields = cylinder_fields, .size = sizeof(collision_cylinder)};

static const sim_schema *const wall_variants[] = {&collision_plane_schema, &collision_cylinder_schema, NULL};

static const char *const boundary_names[] = {"periodic", "wall", "open", NULL};
static const char *const side_names[] = {"box.boundary", "periodic", "wall", "open", NULL};
#define SIDE(k, word, text)                                                                                            \
  {                                                                                                                    \
    .name = word, .offset = offsetof(collision_box, sides) + (k) * sizeof(int), .type = SIM_CHOICE,                    \
    .initial = "box.boundary", .choices = side_names, .doc = text                                                      \
  }
static const sim_field box_fields[] = {
    {FIELD(collision_box, size), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED | POSITIVE, .max = INFINITY,
     .dimension = LENGTH, .doc = "its sides"},
    {FIELD(collision_box, origin), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}", .dimension = LENGTH,
     .doc = "its lower corner"},
    {FIELD(collision_box, boundary), .type = SIM_CHOICE, .initial = "periodic", .choices = boundary_names,
     .doc = "of all sides that say nothing else; grains that leave an open one go on"},
    SIDE(0, "x_low", "this side"),
    SIDE(1, "x_high", "this side"),
    SIDE(2, "y_low", "this side"),
    SIDE(3, "y_high", "this side"),
    SIDE(4, "z_low", "this side"),
    SIDE(5, "z_high", "this side"),
    {0}};
static const sim_schema box_schema = {
    .name = "box", .doc = "where it happens", .fields = box_fields, .size = sizeof(collision_box)};

/* ---- contacts ---- */

static const sim_field value_fields[] = {
    OPTIONAL(collision_values, stiffness, POSITIVE, INFINITY, "linear: force over overlap", .dimension = {0, 1, -2}),
    OPTIONAL(collision_values, contact_time, POSITIVE, INFINITY,
             "linear, in place of stiffness: how long a collision lasts", .dimension = TIME),
    OPTIONAL(collision_values, young, POSITIVE, INFINITY, "hertz: Young's modulus", .dimension = PRESSURE),
    {FIELD(collision_values, poisson), .type = SIM_REAL, .flags = SIM_RANGE, .min = 0, .max = 0.5, .initial = "none",
     .keyword = "none", .doc = "hertz: Poisson's ratio; 0.3 where none is given"},
    OPTIONAL(collision_values, restitution, POSITIVE, 1,
             "speed after a head-on collision over that before; 1 where "
             "neither this nor damping is given",
             .dimension = {0}),
    OPTIONAL(collision_values, damping, SIM_RANGE, INFINITY, "linear, in place of restitution: force over speed",
             .dimension = {0, 1, -1}),
    OPTIONAL(collision_values, tangential_stiffness, SIM_RANGE, INFINITY,
             "linear: tangential over normal stiffness, and damping; 2/7 where none is given", .dimension = {0}),
    OPTIONAL(collision_values, friction, SIM_RANGE, INFINITY, "Coulomb's coefficient; 0 where none is given",
             .dimension = {0}),
    OPTIONAL(collision_values, rolling_friction, SIM_RANGE, INFINITY,
             "largest torque against rolling, over normal force and reduced radius; 0 where none is given",
             .dimension = {0}),
    OPTIONAL(collision_values, twisting_friction, SIM_RANGE, INFINITY,
             "the same against turning about the normal; 0 where none is given", .dimension = {0}),
    OPTIONAL(collision_values, surface_energy, SIM_RANGE, INFINITY,
             "cohesion: 4 pi surface_energy R pulls while two grains touch (DMT); 0 where none is given",
             .dimension = {0, 1, -2}),
    {0}};
static const sim_schema values_schema = {.name = "values",
                                         .doc = "the constants of a pair of materials",
                                         .fields = value_fields,
                                         .size = sizeof(collision_values)};

static const sim_field pair_fields[] = {
    {FIELD(collision_pair, a), .type = SIM_STRING, .flags = SIM_REQUIRED, .doc = "a material of grains or walls"},
    {FIELD(collision_pair, b), .type = SIM_STRING, .flags = SIM_REQUIRED, .doc = "the other one, or the same"},
    {0}};
static const sim_schema pair_schema = {.name = "",
                                       .doc = "constants of two materials; what is not given is as in `contact`",
                                       .fields = pair_fields,
                                       .base = &values_schema,
                                       .size = sizeof(collision_pair)};
static const sim_schema *const pair_variants[] = {&pair_schema, NULL};

static const char *const law_names[] = {"linear", "hertz", NULL};
static const sim_field contact_fields[] = {
    {FIELD(collision_contact, law), .type = SIM_CHOICE, .initial = "linear", .choices = law_names,
     .doc = "linear: spring and dashpot; hertz: Hertz and Mindlin"},
    {FIELD(collision_contact, pairs), .type = SIM_LIST, .variants = pair_variants,
     .doc = "pairs of materials with constants of their own"},
    {0}};
static const sim_schema contact_schema = {.name = "contact",
                                          .doc = "the law of contacts",
                                          .fields = contact_fields,
                                          .base = &values_schema,
                                          .size = sizeof(collision_contact)};

static const sim_field integrate_fields[] = {
    {FIELD(collision_integrate, dt), .type = SIM_REAL, .flags = POSITIVE, .max = INFINITY, .initial = "auto",
     .keyword = "auto", .dimension = TIME,
     .doc = "time step; auto: the shortest contact, or 5 times Rayleigh's with hertz, over steps_per_contact"},
    {FIELD(collision_integrate, steps_per_contact), .type = SIM_REAL, .flags = SIM_RANGE, .min = 10, .max = 1e6,
     .initial = "50", .doc = "how fine the automatic step is"},
    {FIELD(collision_integrate, skin), .type = SIM_REAL, .flags = POSITIVE, .max = INFINITY, .initial = "auto",
     .keyword = "auto", .dimension = LENGTH, .doc = "neighbours are listed up to this gap; changes no result"},
    {FIELD(collision_integrate, t_end), .type = SIM_REAL, .flags = SIM_REQUIRED | POSITIVE | SIM_MAY_CHANGE,
     .max = INFINITY, .dimension = TIME, .doc = "when the run ends; it starts at 0"},
    {0}};
static const sim_schema integrate_schema = {
    .name = "integrate", .doc = "how time passes", .fields = integrate_fields, .size = sizeof(collision_integrate)};

static const sim_field fields[] = {
    {FIELD(collision_parameters, box), .type = SIM_TABLE, .flags = SIM_REQUIRED, .table = &box_schema,
     .doc = "where it happens"},
    {FIELD(collision_parameters, grains), .type = SIM_LIST, .flags = SIM_REQUIRED, .variants = grain_variants,
     .doc = "groups of grains, or single ones as { radius = , position = , velocity = }"},
    {FIELD(collision_parameters, walls), .type = SIM_LIST, .variants = wall_variants,
     .doc = "walls beside those of the box"},
    {FIELD(collision_parameters, contact), .type = SIM_TABLE, .flags = SIM_REQUIRED, .table = &contact_schema,
     .doc = "the law of contacts"},
    {FIELD(collision_parameters, gravity), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}",
     .dimension = {1, 0, -2}, .doc = "acceleration of all grains"},
    {FIELD(collision_parameters, integrate), .type = SIM_TABLE, .flags = SIM_REQUIRED, .table = &integrate_schema,
     .doc = "how time passes"},
    {0}};
const sim_schema collision_schema = {.name = "collision",
                                     .doc = "spheres that collide",
                                     .fields = fields,
                                     .base = &sim_common_schema,
                                     .size = sizeof(collision_parameters)};

/* ---- rules ---- */

static void check_name(const char *name, int line, const char *path, sim_faults *faults) {
  const size_t length = name != NULL ? strlen(name) : 0;
  const char *const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  if (length == 0 || length > 63 || strspn(name, word) != length)
    sim_faults_add(faults, line, path, "expected 1 to 63 letters, digits or _, got \"%s\"", name != NULL ? name : "");
}

static void check_radii(const collision_radii *size, int line, const char *path, sim_faults *faults) {
  const sim_doubles *radii = &size->radii;
  if (isnan(size->radius) == (radii->rows == 0)) {
    sim_faults_add(faults, line, path, "expected one of radius and radii, got %s", radii->rows ? "both" : "neither");
    return;
  }
  const bool uniform = size->distribution == COLLISION_UNIFORM, lognormal = size->distribution == COLLISION_LOGNORMAL;
  if ((uniform || lognormal) && radii->rows != 2) {
    sim_faults_add(faults, line, path, "expected two numbers for radii that are %s, got %zu",
                   distribution_names[size->distribution], radii->rows);
    return;
  }
  double least = INFINITY, most = 0;
  for (size_t i = 0; i < radii->rows; i++) {
    least = fmin(least, radii->data[i]);
    most = fmax(most, radii->data[i]);
  }
  if (lognormal && radii->data[1] > 0.75)
    sim_faults_add(faults, line, path,
                   "expected a standard deviation up to 0.75, so that radii stay within 1:20, got %.9g",
                   radii->data[1]);
  else if (!lognormal && radii->rows > 0 && most > 20 * least)
    sim_faults_add(faults, line, path, "expected radii within 1:20, got %.9g to %.9g", least, most);
}

static void check_region(const sim_doubles *low, const sim_doubles *high, int line, const char *path,
                         sim_faults *faults) {
  if ((low->rows != 0 && low->rows != 3) || (high->rows != 0 && high->rows != 3)) {
    sim_faults_add(faults, line, path, "expected three numbers for low and for high");
    return;
  }
  for (size_t c = 0; c < 3 && low->rows == 3 && high->rows == 3; c++)
    if (!(low->data[c] < high->data[c])) {
      sim_faults_add(faults, line, path, "expected low below high, got %.9g and %.9g in %c", low->data[c],
                     high->data[c], "xyz"[c]);
      return;
    }
}

static void check_each(const collision_each *each, int line, const char *path, sim_faults *faults) {
  const size_t n = each->radius.rows;
  if (n == 0) sim_faults_add(faults, line, path, "expected at least one grain, got none");
  if (each->position.rows != n || (each->velocity.rows != 0 && each->velocity.rows != n) ||
      (each->angular_velocity.rows != 0 && each->angular_velocity.rows != n))
    sim_faults_add(faults, line, path, "expected numbers for each of %zu grains", n);
}

static void check_grains(const collision_parameters *p, sim_faults *faults) {
  if (p->grains.count == 0) sim_faults_add(faults, 0, "grains", "expected at least one grain, got none");
  for (size_t i = 0; i < p->grains.count; i++) {
    const sim_item *item = &p->grains.items[i];
    const collision_group *group = item->data;
    char path[64];
    snprintf(path, sizeof path, "grains[%zu].species", i + 1);
    check_name(group->species, item->line, path, faults);
    snprintf(path, sizeof path, "grains[%zu].material", i + 1);
    check_name(group->material, item->line, path, faults);
    snprintf(path, sizeof path, "grains[%zu]", i + 1);
    if (item->schema == &collision_random_spheres_schema || item->schema == &collision_lattice_schema) {
      const collision_random_spheres *region = item->data; /* a lattice is the same struct */
      check_radii(&region->size, item->line, path, faults);
      check_region(&region->low, &region->high, item->line, path, faults);
    }
    if (item->schema == &collision_each_schema) check_each(item->data, item->line, path, faults);
  }
}

static void check_box(collision_box *box, sim_faults *faults) {
  for (int s = 0; s < 6; s++)
    if (box->sides[s] == COLLISION_SAME) box->sides[s] = box->boundary + 1;
  for (int c = 0; c < 3; c++)
    if ((box->sides[2 * c] == COLLISION_PERIODIC) != (box->sides[2 * c + 1] == COLLISION_PERIODIC)) {
      char path[32];
      snprintf(path, sizeof path, "box.%c_%s", "xyz"[c], box -> sides[2 * c] == COLLISION_PERIODIC ? "low" : "high");
      sim_faults_add(faults, 0, path, "expected \"periodic\" on both sides of %c, or on none", "xyz"[c]);
    }
}

static void check_walls(const collision_parameters *p, sim_faults *faults) {
  int count = 0;
  for (int s = 0; s < 6; s++) count += p->box.sides[s] == COLLISION_WALL;
  if (p->walls.count > (size_t)(COLLISION_WALLS_MAX - count))
    sim_faults_add(faults, 0, "walls", "expected at most %d walls with those of the box, got %zu", COLLISION_WALLS_MAX,
                   p->walls.count + (size_t)count);
  for (size_t i = 0; i < p->walls.count; i++) {
    const sim_item *item = &p->walls.items[i];
    const bool plane = item->schema == &collision_plane_schema;
    const double *axis =
        plane ? ((const collision_plane *)item->data)->normal : ((const collision_cylinder *)item->data)->axis;
    char path[64];
    snprintf(path, sizeof path, "walls[%zu].%s", i + 1, plane ? "normal" : "axis");
    if (!(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2] > 0))
      sim_faults_add(faults, item->line, path, "expected a direction, got {0, 0, 0}");
  }
}

/* What a pair takes from `contact` where it says nothing. */
static collision_values merged(const collision_values *general, const collision_values *own) {
  collision_values v = *own;
  if (isnan(v.stiffness) && isnan(v.contact_time)) {
    v.stiffness = general->stiffness;
    v.contact_time = general->contact_time;
  }
  if (isnan(v.restitution) && isnan(v.damping)) {
    v.restitution = general->restitution;
    v.damping = general->damping;
  }
#define TAKE(member)                                                                                                   \
  if (isnan(v.member)) v.member = general->member
  TAKE(young);
  TAKE(poisson);
  TAKE(tangential_stiffness);
  TAKE(friction);
  TAKE(rolling_friction);
  TAKE(twisting_friction);
  TAKE(surface_energy);
#undef TAKE
  return v;
}

static void check_values(const collision_values *v, int law, int line, const char *path, sim_faults *faults) {
  char at[96];
#define FAULT(key, ...)                                                                                                \
  do {                                                                                                                 \
    snprintf(at, sizeof at, "%s.%s", path, key);                                                                       \
    sim_faults_add(faults, line, at, __VA_ARGS__);                                                                     \
  } while (0)
  if (law == COLLISION_LINEAR) {
    if (isnan(v->stiffness) && isnan(v->contact_time))
      FAULT("stiffness", "missing: the linear law needs stiffness or contact_time");
    if (!isnan(v->stiffness) && !isnan(v->contact_time))
      FAULT("contact_time", "expected one of stiffness and contact_time, got both");
    if (!isnan(v->young) || !isnan(v->poisson)) FAULT("young", "has no meaning with law = \"linear\"");
  } else {
    if (isnan(v->young)) FAULT("young", "missing: the law of Hertz needs Young's modulus");
    if (!isnan(v->stiffness) || !isnan(v->contact_time) || !isnan(v->damping) || !isnan(v->tangential_stiffness))
      FAULT("stiffness",
            "stiffness, contact_time, damping and tangential_stiffness have no meaning with law = \"hertz\"");
  }
  if (!isnan(v->restitution) && !isnan(v->damping))
    FAULT("damping", "expected one of restitution and damping, got both");
  if (!isnan(v->damping) && !isnan(v->contact_time))
    FAULT("damping", "expected restitution beside contact_time, got damping");
#undef FAULT
}

static void check_contact(const collision_parameters *p, sim_faults *faults) {
  const char *names[COLLISION_MATERIALS_MAX];
  int count;
  check_values(&p->contact.values, p->contact.law, 0, "contact", faults);
  if (collision_materials(p, names, &count) != SIM_OK) {
    sim_faults_add(faults, 0, "grains", "expected at most %d materials", COLLISION_MATERIALS_MAX);
    return;
  }
  for (size_t i = 0; i < p->contact.pairs.count; i++) {
    const sim_item *item = &p->contact.pairs.items[i];
    const collision_pair *pair = item->data;
    const collision_values v = merged(&p->contact.values, &pair->values);
    char path[64];
    snprintf(path, sizeof path, "contact.pairs[%zu]", i + 1);
    check_values(&v, p->contact.law, item->line, path, faults);
    for (int k = 0; k < 2; k++) {
      const char *name = k ? pair->b : pair->a, *nearest;
      if (collision_material_index(names, count, name) >= 0) continue;
      nearest = sim_nearest(name, names, (size_t)count);
      snprintf(path, sizeof path, "contact.pairs[%zu].%c", i + 1, "ab"[k]);
      sim_faults_add(faults, item->line, path, "no grain or wall is of material \"%s\"%s%s%s", name,
                     nearest ? ", nearest is '" : "", nearest ? nearest : "", nearest ? "'" : "");
    }
  }
}

/* Three columns a wall: those of the box, then those of `walls`. */
static void make_tables(collision_parameters *p) {
  static const char *const sides[] = {"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"};
  const sim_table **table = p->tables;
  int columns = 0;
  for (const sim_table *const *own = collision_model.tables; *own != NULL; own++) *table++ = *own;
  for (int wall = 0; wall < 6 + (int)p->walls.count && columns < 3 * COLLISION_WALLS_MAX; wall++) {
    if (wall < 6 && p->box.sides[wall] != COLLISION_WALL) continue;
    for (int c = 0; c < 3; c++, columns++) {
      char *name = p->wall_names[columns];
      if (wall < 6)
        snprintf(name, sizeof p->wall_names[0], "%s_force_%c", sides[wall], "xyz"[c]);
      else
        snprintf(name, sizeof p->wall_names[0], "wall%d_force_%c", wall - 5, "xyz"[c]);
      p->wall_columns[columns] = (sim_field){
          .name = name, .type = SIM_REAL, .dimension = {1, 1, -2}, .doc = "force of the grains on this wall"};
    }
  }
  p->wall_columns[columns] = (sim_field){0};
  p->wall_table = (sim_table){"walls", "forces on walls", p->wall_columns};
  if (columns > 0) *table++ = &p->wall_table;
  *table = NULL;
}

const sim_table *const *collision_tables_of(const void *parameters) {
  return ((const collision_parameters *)parameters)->tables;
}

sim_status collision_validate(void *parameters, sim_faults *faults) {
  collision_parameters *p = parameters;
  if (p->common.precision == SIM_MIXED)
    sim_faults_add(faults, 0, "precision", "expected \"single\" or \"double\", got \"mixed\"");
  check_box(&p->box, faults);
  check_grains(p, faults);
  check_walls(p, faults);
  check_contact(p, faults);
  const collision_integrate *integrate = &p->integrate;
  if (integrate->t_end / integrate->dt > 0x1p62)
    sim_faults_add(faults, 0, "integrate.dt", "expected at most 2^62 steps, got t_end/dt = %.9g",
                   integrate->t_end / integrate->dt);
  make_tables(p);
  return SIM_OK;
}

/* ---- what follows ---- */

static int add_material(const char *names[COLLISION_MATERIALS_MAX], int count, const char *name) {
  if (count < 0 || collision_material_index(names, count, name) >= 0) return count;
  if (count == COLLISION_MATERIALS_MAX) return -1;
  names[count] = name;
  return count + 1;
}

int collision_material_index(const char *const *names, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

sim_status collision_materials(const collision_parameters *p, const char *names[COLLISION_MATERIALS_MAX], int *count) {
  *count = 0;
  for (size_t i = 0; i < p->grains.count; i++)
    *count = add_material(names, *count, ((const collision_group *)p->grains.items[i].data)->material);
  *count = add_material(names, *count, "wall");
  for (size_t i = 0; i < p->walls.count; i++) /* `material` is the first member of both */
    *count = add_material(names, *count, ((const collision_plane *)p->walls.items[i].data)->material);
  if (*count < 0) return sim_fail(SIM_ERR_SCENARIO, "expected at most %d materials", COLLISION_MATERIALS_MAX);
  return SIM_OK;
}

static const double pi = 3.14159265358979323846;
static double or_else(double x, double otherwise) { return isnan(x) ? otherwise : x; }

/* Linear: m* x'' + g x' + k x = 0 leaves with e = exp(-g/(2 m*) t), t = pi/sqrt(k/m* - g^2/(4 m*^2)). Hertz: Antypov
 * and Elliott, EPL 94 (2011) 50004; two bodies of one material. */
static collision_law law_of(const collision_values *v, int force) {
  const double log_e = log(or_else(v->restitution, 1)), root = sqrt(pi * pi + log_e * log_e);
  collision_law law = {.friction = or_else(v->friction, 0),
                       .rolling = or_else(v->rolling_friction, 0),
                       .twisting = or_else(v->twisting_friction, 0),
                       .pull = 4 * pi * or_else(v->surface_energy, 0),
                       .tangential = or_else(v->tangential_stiffness, 2.0 / 7)};
  if (force == COLLISION_HERTZ) {
    const double nu = or_else(v->poisson, 0.3);
    law.E = v->young / (2 * (1 - nu * nu));
    law.G = v->young / (4 * (2 - nu) * (1 + nu));
    law.beta = -2 * sqrt(5.0 / 6) * log_e / root;
    if (law.beta == 0) law.beta = 0; /* no -0 */
  } else if (!isnan(v->contact_time)) {
    law.km = root * root / (v->contact_time * v->contact_time);
    law.gm = fabs(-2 * log_e / v->contact_time);
  } else {
    law.k0 = v->stiffness;
    if (!isnan(v->damping))
      law.g0 = v->damping;
    else
      law.gh = fabs(-2 * log_e * sqrt(v->stiffness) / root);
  }
  return law;
}

static void add_walls(const collision_parameters *p, const char *const *names, int count, collision_options *o) {
  for (int s = 0; s < 6; s++) {
    if (p->box.sides[s] != COLLISION_WALL) continue;
    collision_wall *wall = &o->wall[o->walls++];
    *wall = (collision_wall){
        .shape = COLLISION_PLANE, .side = s, .material = collision_material_index(names, count, "wall")};
    for (int c = 0; c < 3; c++) wall->point[c] = p->box.origin[c] + (s % 2 ? p->box.size[c] : 0);
    wall->axis[s / 2] = s % 2 ? -1 : 1;
  }
  for (size_t i = 0; i < p->walls.count && o->walls < COLLISION_WALLS_MAX; i++) {
    const sim_item *item = &p->walls.items[i];
    collision_wall *wall = &o->wall[o->walls++];
    *wall = (collision_wall){.side = -1};
    const collision_plane *plane = item->data;
    wall->material = collision_material_index(names, count, plane->material);
    memcpy(wall->point, plane->point, sizeof wall->point);
    memcpy(wall->axis, plane->normal, sizeof wall->axis); /* a cylinder's axis stands in the same place */
    if (item->schema == &collision_plane_schema) {
      wall->shape = COLLISION_PLANE;
      memcpy(wall->velocity, plane->velocity, sizeof wall->velocity);
    } else {
      const collision_cylinder *cylinder = item->data;
      wall->shape = COLLISION_CYLINDER;
      memcpy(wall->point, cylinder->point, sizeof wall->point);
      memcpy(wall->axis, cylinder->axis, sizeof wall->axis);
      wall->radius = cylinder->radius;
      wall->spin = cylinder->spin;
      wall->outside = cylinder->outside;
    }
    const double size =
        sqrt(wall->axis[0] * wall->axis[0] + wall->axis[1] * wall->axis[1] + wall->axis[2] * wall->axis[2]);
    for (int c = 0; c < 3; c++) wall->axis[c] /= size;
  }
}

sim_status collision_options_fill(const collision_parameters *p, collision_options *o) {
  const char *names[COLLISION_MATERIALS_MAX];
  *o = (collision_options){.force = p->contact.law, .skin = p->integrate.skin};
  SIM_TRY(collision_materials(p, names, &o->materials));
  for (int c = 0; c < 3; c++) {
    o->low[c] = p->box.origin[c];
    o->size[c] = p->box.size[c];
    o->periodic[c] = p->box.sides[2 * c] == COLLISION_PERIODIC;
    o->gravity[c] = p->gravity[c];
  }
  for (int a = 0; a < o->materials; a++)
    for (int b = 0; b < o->materials; b++) o->law[a][b] = law_of(&p->contact.values, p->contact.law);
  for (size_t i = 0; i < p->contact.pairs.count; i++) {
    const collision_pair *pair = p->contact.pairs.items[i].data;
    const collision_values v = merged(&p->contact.values, &pair->values);
    const int a = collision_material_index(names, o->materials, pair->a);
    const int b = collision_material_index(names, o->materials, pair->b);
    if (a < 0 || b < 0) return sim_fail(SIM_ERR_SCENARIO, "contact.pairs: no such material");
    o->law[a][b] = o->law[b][a] = law_of(&v, p->contact.law);
  }
  add_walls(p, names, o->materials, o);
  for (int a = 0; a < o->materials; a++)
    for (int b = 0; b < o->materials; b++) {
      const collision_law *law = &o->law[a][b];
      if (law->rolling > 0 || law->twisting > 0) o->springs = 7;
      if (law->friction > 0 && o->springs == 0) o->springs = 3;
      if (law->g0 > 0 || law->gh > 0 || law->gm > 0 || law->beta > 0) o->damped = true;
    }
  return SIM_OK;
}

double collision_contact_time(const collision_options *o, int64_t n, const double *mass, const double *radius,
                              const uint64_t *material) {
  double least = INFINITY, lightest[COLLISION_MATERIALS_MAX];
  for (int a = 0; a < o->materials; a++) lightest[a] = INFINITY;
  for (int64_t i = 0; i < n; i++) {
    const collision_law *law = &o->law[material[i]][material[i]];
    lightest[material[i]] = fmin(lightest[material[i]], mass[i]);
    if (o->force != COLLISION_HERTZ) continue;
    /* E and G of a pair of one material give Poisson's ratio: E/G = 2 (2 - nu)/(1 - nu). */
    const double q = law->E / law->G, nu = (q - 4) / (q - 2), shear = law->G * 2 * (2 - nu);
    const double density = mass[i] / (4 * pi / 3 * radius[i] * radius[i] * radius[i]);
    least = fmin(least, 5 * pi * radius[i] * sqrt(density / shear) / (0.1631 * nu + 0.8766));
  }
  for (int a = 0; a < o->materials && o->force == COLLISION_LINEAR; a++)
    for (int b = 0; b < o->materials; b++) {
      const collision_law *law = &o->law[a][b];
      const double m = isinf(lightest[b]) ? lightest[a] : 1 / (1 / lightest[a] + 1 / lightest[b]);
      if (!isfinite(m)) continue;
      const double g = law->g0 + law->gh * sqrt(m) + law->gm * m, w2 = (law->k0 + law->km * m) / m;
      /* A dashpot may not be faster than the step either. */
      least = fmin(least, fmin(pi / sqrt(w2), g > 0 ? 2 * pi * m / g : INFINITY));
    }
  return least;
}
