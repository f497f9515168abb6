/* Clumps of spheres in a scenario: field tables, and the rules between fields. */
#include "kernels/collision/clumps/clumps.h"
#include "kernels/collision/scenario/fields.h"

#include <math.h>
#include <stdio.h>

static const char *const volume_names[] = {"auto", "exact", "sampled", NULL};
#define RIGID(T)                                                                                                       \
  {.name = "species",                                                                                                  \
   .offset = offsetof(T, rigid.group.species),                                                                         \
   .type = SIM_STRING,                                                                                                 \
   .initial = "grains",                                                                                                \
   .doc = "name of the species of the spheres in files"},                                                              \
      {.name = "material",                                                                                             \
       .offset = offsetof(T, rigid.group.material),                                                                    \
       .type = SIM_STRING,                                                                                             \
       .initial = "grain",                                                                                             \
       .doc = "name of the material, for contact.pairs"},                                                              \
      {.name = "spheres",                                                                                              \
       .offset = offsetof(T, rigid.spheres),                                                                           \
       .type = SIM_NUMBERS,                                                                                            \
       .components = 4,                                                                                                \
       .flags = SIM_REQUIRED,                                                                                          \
       .doc = "spheres of the body, {x, y, z, radius} each, with any origin; they may overlap"},                       \
      {.name = "density",                                                                                              \
       .offset = offsetof(T, rigid.group.density),                                                                     \
       .type = SIM_REAL,                                                                                               \
       .flags = POSITIVE,                                                                                              \
       .max = INFINITY,                                                                                                \
       .initial = "none",                                                                                              \
       .keyword = "none",                                                                                              \
       .dimension = {-3, 1, 0},                                                                                        \
       .doc = "mass density of the body; none: from the mass, or 1"},                                                  \
      {.name = "mass",                                                                                                 \
       .offset = offsetof(T, rigid.mass),                                                                              \
       .type = SIM_REAL,                                                                                               \
       .flags = POSITIVE,                                                                                              \
       .max = INFINITY,                                                                                                \
       .initial = "none",                                                                                              \
       .keyword = "none",                                                                                              \
       .dimension = {0, 1, 0},                                                                                         \
       .doc = "mass of a body, instead of density"},                                                                   \
      {.name = "volume",                                                                                               \
       .offset = offsetof(T, rigid.volume),                                                                            \
       .type = SIM_CHOICE,                                                                                             \
       .initial = "auto",                                                                                              \
       .choices = volume_names,                                                                                        \
       .doc = "mass, centre and inertia of the body: exact: sums over the spheres, which must not overlap; sampled: "  \
              "of their union, by lines through it; auto: exact where none overlap"},                                  \
  {                                                                                                                    \
    .name = "velocity", .offset = offsetof(T, rigid.group.velocity), .type = SIM_REAL, .components = 3,                \
    .initial = "{0, 0, 0}", .dimension = SPEED, .doc = "velocity of the centre of mass"                                \
  }

static const sim_field clump_fields[] = {
    RIGID(collision_clump),
    {FIELD(collision_clump, position), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED, .dimension = LENGTH,
     .doc = "position of the centre of mass"},
    {FIELD(collision_clump, orientation), .type = SIM_REAL, .components = 4, .initial = "{1, 0, 0, 0}",
     .doc = "quaternion {w, x, y, z} that turns the spheres about the centre of mass; its length does not matter"},
    {FIELD(collision_clump, angular_velocity), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}",
     .dimension = {0, 0, -1}, .doc = "angular velocity along the axes of the box, in radians per unit of time"},
    {0}};
const sim_schema collision_clump_schema = {
    SIM_SCHEMA(collision_clump, "clump", "a rigid body of spheres", clump_fields)};

static const sim_field clumps_fields[] = {
    RIGID(collision_clumps),
    {FIELD(collision_clumps, n), .type = SIM_INT, .flags = SIM_REQUIRED | SIM_RANGE, .min = 1, .max = 4e9,
     .doc = "number of bodies"},
    REGION_CORNERS(collision_clumps, "bodies"),
    {FIELD(collision_clumps, temperature), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .dimension = {2, 1, -2},
     .doc = "granular temperature m <v^2>/3 of Maxwell-distributed velocities with zero total momentum; bodies do not "
            "turn at the start"},
    {0}};
const sim_schema collision_clumps_schema = {
    SIM_SCHEMA(collision_clumps, "clumps",
               "rigid bodies of spheres at random places and orientations, so that the spheres about each do not "
               "overlap",
               clumps_fields)};

/* ---- rules ---- */

enum { SPHERES_MOST = 1000 };

void collision_clear_clumps(collision_parameters *p) {
  for (size_t i = 0; i < p->grains.count; i++) {
    if (collision_rigid_of(&p->grains.items[i]) == NULL) continue;
    collision_rigid *rigid = p->grains.items[i].data;
    if (isnan(rigid->group.density) && isnan(rigid->mass)) rigid->group.density = 1;
  }
}

void collision_check_clump(const sim_item *item, const char *path, sim_faults *faults) {
  const collision_rigid *rigid = collision_rigid_of(item);
  const size_t count = rigid->spheres.rows;
  char at[96];
  size_t pair[2];
#define FAULT(key, ...)                                                                                                \
  do {                                                                                                                 \
    snprintf(at, sizeof at, "%s.%s", path, key);                                                                       \
    sim_faults_add(faults, item->line, at, __VA_ARGS__);                                                               \
  } while (0)
  if (count < 1 || count > SPHERES_MOST) {
    FAULT("spheres", "expected 1 to %d spheres, got %zu", SPHERES_MOST, count);
    return;
  }
  for (size_t k = 0; k < count; k++) {
    const double r = rigid->spheres.data[4 * k + 3];
    if (!(r > 0)) FAULT("spheres", "expected radii above 0, got %.9g of sphere %zu", r, k + 1);
  }
  if (!isnan(rigid->mass) && !isnan(rigid->group.density)) FAULT("mass", "expected one of density and mass, got both");
  if (rigid->volume == COLLISION_VOLUME_EXACT && collision_spheres_overlap(rigid, pair))
    FAULT("volume", "spheres %zu and %zu overlap: their union is \"sampled\"", pair[0] + 1, pair[1] + 1);
  if (item->schema == &collision_clumps_schema) {
    const collision_clumps *clumps = item->data;
    collision_check_region(&clumps->low, &clumps->high, item->line, path, faults);
    return;
  }
  const double *q = ((const collision_clump *)item->data)->orientation;
  const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (!(square > 0 && isfinite(square))) FAULT("orientation", "expected a quaternion that is not 0");
#undef FAULT
}

void collision_check_clumps(const collision_parameters *p, sim_faults *faults) {
  bool timed = !isnan(p->contact.values.contact_time);
  if (!collision_any_clumps(p)) return;
  for (size_t i = 0; i < p->contact.pairs.count; i++)
    timed = timed || !isnan(((const collision_pair *)p->contact.pairs.items[i].data)->values.contact_time);
  if (timed)
    sim_faults_add(faults, 0, "contact.contact_time",
                   "not possible with clumps, whose contacts last the shorter the farther they are from the centre: "
                   "give stiffness");
  const struct {
    const char *key;
    bool given;
  } absent[] = {{"external", p->external != NULL},
                {"self_gravity", !isnan(p->self_gravity.G)},
                {"hill", !isnan(p->hill.omega)},
                {"box.shear_rate", p->box.shear_rate != 0},
                {"merge", p->merge.when != COLLISION_MERGE_NEVER},
                {"heat", !isnan(p->heat.capacity)},
                {"insert", p->insert.count > 0},
                {"remove", p->remove.count > 0},
                {"gates", p->gates.count > 0},
                {"profile", p->profile.bins > 0}};
  for (size_t k = 0; k < sizeof absent / sizeof *absent; k++)
    if (absent[k].given) sim_faults_add(faults, 0, absent[k].key, "not possible with clumps");
  for (int s = 0; s < 6; s++)
    if (p->box.sides[s] == COLLISION_OUTLET) {
      sim_faults_add(faults, 0, "box", "sides that are outlets are not possible with clumps");
      return;
    }
}
