/* Groups of grains in a scenario: field tables, and the rules between fields. */
#include "kernels/collision/clumps/clumps.h"
#include "kernels/collision/scenario/fields.h"
#include "kernels/collision/scenario/sizes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const sim_field group_fields[] = {{FIELD(collision_group, species), .type = SIM_STRING, .initial = "grains",
                                          .doc = "name of the grains' species in files"},
                                         {FIELD(collision_group, material), .type = SIM_STRING, .initial = "grain",
                                          .doc = "name of the material, for contact.pairs"},
                                         {FIELD(collision_group, density), .type = SIM_REAL, .flags = POSITIVE,
                                          .max = INFINITY, .initial = "1", .dimension = {-3, 1, 0},
                                          .doc = "mass density of the grains"},
                                         {FIELD(collision_group, velocity), .type = SIM_REAL, .components = 3,
                                          .initial = "{0, 0, 0}", .dimension = SPEED, .doc = "velocity of the group"},
                                         {0}};
const sim_schema collision_group_schema = {
    SIM_SCHEMA(collision_group, "group", "common fields of all groups of grains", group_fields)};

static const sim_field grain_fields[] = {
    {FIELD(collision_grain, radius), .type = SIM_REAL, .flags = SIM_REQUIRED | POSITIVE, .max = INFINITY,
     .dimension = LENGTH, .doc = "distance from the centre to the surface"},
    {FIELD(collision_grain, position), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED, .dimension = LENGTH,
     .doc = "position of the centre"},
    {FIELD(collision_grain, angular_velocity), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}",
     .dimension = {0, 0, -1}, .doc = "angular velocity, in radians per unit of time"},
    {0}};
const sim_schema collision_grain_schema = {SIM_SCHEMA(collision_grain, "", "one grain", grain_fields),
                                           .base = &collision_group_schema};

const char *const collision_distribution_names[] = {"auto", "list", "uniform", "lognormal", NULL};
#define REGION(T)                                                                                                      \
  {FIELD(T, n), .type = SIM_INT, .flags = SIM_REQUIRED | SIM_RANGE, .min = 1, .max = 4e9, .doc = "number of grains"},  \
      RADII(T), REGION_CORNERS(T, "grains"), {                                                                         \
    FIELD(T, temperature),                                                                                             \
        .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0", .dimension = {2, 1, -2},                \
        .doc = "granular temperature m <v^2>/3 of Maxwell-distributed velocities with zero total momentum"             \
  }

static const sim_field random_fields[] = {REGION(collision_random_spheres), {0}};
const sim_schema collision_random_spheres_schema = {
    SIM_SCHEMA(collision_random_spheres, "random_spheres", "random packing of spheres without overlap", random_fields),
    .base = &collision_group_schema};

static const sim_field lattice_fields[] = {REGION(collision_lattice), {0}};
const sim_schema collision_lattice_schema = {
    SIM_SCHEMA(collision_lattice, "lattice", "spheres on a simple cubic lattice that fills the region", lattice_fields),
    .base = &collision_group_schema};

static const sim_field file_fields[] = {
    {FIELD(collision_from_file, path), .type = SIM_STRING, .flags = SIM_REQUIRED,
     .doc = "openPMD snapshot (its species `species`), or CSV with column names mass, x, y, z, vx, vy, vz in the first "
            "line; relative to the scenario's folder. Without `radius`, radii and masses are those of the snapshot, or "
            "radii follow from mass and density"},
    OPTIONAL(collision_from_file, radius, POSITIVE, INFINITY,
             "radius of all grains; none: those of the file, or from mass and density", .dimension = LENGTH),
    {0}};
const sim_schema collision_from_file_schema = {
    SIM_SCHEMA(collision_from_file, "from_file", "grains from a file", file_fields), .base = &collision_group_schema};

static const sim_field each_fields[] = {
    {FIELD(collision_group, species), .type = SIM_STRING, .initial = "grains",
     .doc = "name of the grains' species in files"},
    {FIELD(collision_group, material), .type = SIM_STRING, .initial = "grain",
     .doc = "name of the material, for contact.pairs"},
    {FIELD(collision_group, density), .type = SIM_REAL, .flags = POSITIVE, .max = INFINITY, .initial = "1",
     .dimension = {-3, 1, 0}, .doc = "mass density of the grains"},
    {FIELD(collision_each, radius), .type = SIM_NUMBERS, .components = 1, .flags = SIM_REQUIRED | POSITIVE,
     .max = INFINITY, .dimension = LENGTH, .doc = "radius of each grain"},
    {FIELD(collision_each, position), .type = SIM_NUMBERS, .components = 3, .flags = SIM_REQUIRED, .dimension = LENGTH,
     .doc = "position of each grain"},
    {FIELD(collision_each, velocity), .type = SIM_NUMBERS, .components = 3, .dimension = SPEED,
     .doc = "velocity of each grain; none: at rest"},
    {FIELD(collision_each, angular_velocity), .type = SIM_NUMBERS, .components = 3, .dimension = {0, 0, -1},
     .doc = "angular velocity of each grain; none: 0"},
    {0}};
const sim_schema collision_each_schema = {
    SIM_SCHEMA(collision_each, "each", "grains from a Lua function of their number", each_fields)};

const sim_schema *const collision_grain_variants[] = {
    &collision_grain_schema, &collision_random_spheres_schema, &collision_lattice_schema, &collision_from_file_schema,
    &collision_each_schema,  &collision_clump_schema,          &collision_clumps_schema,  NULL};

/* ---- rules ---- */

void collision_check_radii(const collision_radii *size, int line, const char *path, sim_faults *faults) {
  const sim_doubles *radii = &size->radii;
  if (isnan(size->radius) == (radii->rows == 0)) {
    sim_faults_add(faults, line, path, "expected one of radius and radii, got %s", radii->rows ? "both" : "neither");
    return;
  }
  const bool uniform = size->distribution == COLLISION_UNIFORM, lognormal = size->distribution == COLLISION_LOGNORMAL;
  if ((uniform || lognormal) && radii->rows != 2) {
    sim_faults_add(faults, line, path, "expected two numbers for radii that are %s, got %zu",
                   collision_distribution_names[size->distribution], radii->rows);
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
  else if (!lognormal && radii->rows > 0 && collision_radii_apart(least, most, COLLISION_RATIO))
    sim_faults_add(faults, line, path, "expected radii within 1:%d, got %.9g to %.9g", COLLISION_RATIO, least, most);
}

void collision_check_region(const sim_doubles *low, const sim_doubles *high, int line, const char *path,
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

void collision_check_grains(const collision_parameters *p, sim_faults *faults) {
  if (p->grains.count + p->insert.count == 0)
    sim_faults_add(faults, 0, "grains", "expected at least one grain, at the start or from an inlet, got none");
  for (size_t i = 0; i < p->grains.count; i++) {
    const sim_item *item = &p->grains.items[i];
    const collision_group *group = item->data;
    char path[64];
    snprintf(path, sizeof path, "grains[%zu].species", i + 1);
    sim_faults_check_name(faults, item->line, path, group->species);
    snprintf(path, sizeof path, "grains[%zu].material", i + 1);
    sim_faults_check_name(faults, item->line, path, group->material);
    snprintf(path, sizeof path, "grains[%zu]", i + 1);
    if (item->schema == &collision_random_spheres_schema || item->schema == &collision_lattice_schema) {
      const collision_random_spheres *region = item->data; /* a lattice has the same struct */
      collision_check_radii(&region->size, item->line, path, faults);
      collision_check_region(&region->low, &region->high, item->line, path, faults);
    }
    if (item->schema == &collision_each_schema) check_each(item->data, item->line, path, faults);
    if (collision_rigid_of(item) != NULL) collision_check_clump(item, path, faults);
  }
}
