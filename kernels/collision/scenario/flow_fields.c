/* Inlets, outlets, gates and profiles in a scenario. */
#include "kernels/collision/scenario/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CORNERS(T, what)                                                                                               \
  {FIELD(T, low),         .type = SIM_REAL,    .components = 3,                                                        \
   .flags = SIM_REQUIRED, .dimension = LENGTH, .doc = "lower corner of the region " what},                             \
  {                                                                                                                    \
    FIELD(T, high), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED, .dimension = LENGTH,                     \
                    .doc = "upper corner"                                                                              \
  }

static const sim_field inlet_fields[] = {
    {FIELD(collision_inlet, rate), .type = SIM_REAL, .flags = SIM_REQUIRED | POSITIVE, .max = INFINITY,
     .dimension = {0, 0, -1}, .doc = "grains per unit of time, as far as there is room"},
    CORNERS(collision_inlet, "where grains appear"),
    RADII(collision_inlet),
    {FIELD(collision_inlet, start), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .dimension = TIME, .doc = "time of the first grain"},
    OPTIONAL(collision_inlet, stop, POSITIVE, INFINITY, "time of the last grain; none: end of the run",
             .dimension = TIME),
    OPTIONAL(collision_inlet, limit, SIM_RANGE, 9e15, "largest number of grains in all; none: unlimited",
             .dimension = {0}),
    {0}};
static const sim_schema inlet_schema = {
    SIM_SCHEMA(collision_inlet, "inlet", "spheres that appear at random in a region during the run", inlet_fields),
    .base = &collision_group_schema};
const sim_schema *const collision_inlet_variants[] = {&inlet_schema, NULL};

static const sim_field region_fields[] = {CORNERS(collision_region, "where grains are removed"), {0}};
static const sim_schema region_schema = {
    SIM_SCHEMA(collision_region, "", "a box whose grains are removed", region_fields)};
const sim_schema *const collision_region_variants[] = {&region_schema, NULL};

static const sim_field gate_fields[] = {
    {FIELD(collision_gate, point), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED, .dimension = LENGTH,
     .doc = "a point of the plane, or the centre of the disc"},
    {FIELD(collision_gate, normal), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED,
     .doc = "normal: a grain that passes along it counts +1, against it -1"},
    OPTIONAL(collision_gate, radius, POSITIVE, INFINITY, "radius of a disc; none: an infinite plane",
             .dimension = LENGTH),
    {0}};
static const sim_schema gate_schema = {SIM_SCHEMA(collision_gate, "", "a plane or disc", gate_fields)};
const sim_schema *const collision_gate_variants[] = {&gate_schema, NULL};

static const char *const axis_names[] = {"x", "y", "z", NULL};
static const sim_field profile_fields[] = {
    {FIELD(collision_profile, axis), .type = SIM_CHOICE, .initial = "z", .choices = axis_names,
     .doc = "axis along which the box is cut into slices"},
    {FIELD(collision_profile, bins), .type = SIM_INT, .flags = SIM_RANGE | SIM_REQUIRED, .max = COLLISION_BINS_MAX,
     .doc = "number of slices; 0: no profile"},
    {0}};
const sim_schema collision_profile_schema = {SIM_SCHEMA(
    collision_profile, "profile",
    "means over slices: tables profile_density, profile_velocity_x, y, z and profile_temperature", profile_fields)};

/* ---- rules ---- */

static void check_corners(const double low[3], const double high[3], int line, const char *path, sim_faults *faults) {
  for (int c = 0; c < 3; c++)
    if (!(low[c] < high[c]))
      sim_faults_add(faults, line, path, "expected low below high, got %.9g and %.9g in %c", low[c], high[c], "xyz"[c]);
}

static void check_inlet(const collision_parameters *p, const sim_item *item, const char *path, sim_faults *faults) {
  const collision_inlet *inlet = item->data;
  double most = isnan(inlet->size.radius) ? 0 : inlet->size.radius;
  collision_check_radii(&inlet->size, item->line, path, faults);
  sim_faults_check_name(faults, item->line, path, inlet->group.species);
  check_corners(inlet->low, inlet->high, item->line, path, faults);
  if (inlet->stop <= inlet->start)
    sim_faults_add(faults, item->line, path, "expected start before stop, got %.9g and %.9g", inlet->start,
                   inlet->stop);
  const bool lognormal = inlet->size.distribution == COLLISION_LOGNORMAL;
  for (size_t i = 0; i < inlet->size.radii.rows && !lognormal; i++) most = fmax(most, inlet->size.radii.data[i]);
  if (lognormal && inlet->size.radii.rows == 2) most = inlet->size.radii.data[0] * sqrt(20);
  for (int c = 0; c < 3; c++) {
    const double low = p->box.origin[c], high = low + p->box.size[c];
    if (inlet->low[c] < low || inlet->high[c] > high)
      sim_faults_add(faults, item->line, path, "expected a region in the box, got %.9g to %.9g in %c", inlet->low[c],
                     inlet->high[c], "xyz"[c]);
    else if (inlet->high[c] - inlet->low[c] < 2 * most)
      sim_faults_add(faults, item->line, path, "expected a region that holds a grain of radius %.9g, got %.9g in %c",
                     most, inlet->high[c] - inlet->low[c], "xyz"[c]);
  }
}

void collision_check_flow(collision_parameters *p, sim_faults *faults) {
  char path[64];
  if (p->insert.count > 0 && p->box.shear_rate != 0)
    sim_faults_add(faults, 0, "insert", "not possible in a sheared box: leave out insert or box.shear_rate");
  if (p->insert.count > COLLISION_INLETS_MAX)
    sim_faults_add(faults, 0, "insert", "expected at most %d, got %zu", COLLISION_INLETS_MAX, p->insert.count);
  for (size_t i = 0; i < p->insert.count; i++) {
    snprintf(path, sizeof path, "insert[%zu]", i + 1);
    check_inlet(p, &p->insert.items[i], path, faults);
  }
  for (size_t i = 0; i < p->remove.count; i++) {
    const collision_region *region = p->remove.items[i].data;
    snprintf(path, sizeof path, "remove[%zu]", i + 1);
    check_corners(region->low, region->high, p->remove.items[i].line, path, faults);
    for (int c = 0; c < 3; c++) { /* grains can leave the box at open sides only */
      const double low = p->box.origin[c], high = low + p->box.size[c];
      const bool below = region->high[c] <= low && p->box.sides[2 * c] != COLLISION_OPEN;
      if (!below && !(region->low[c] >= high && p->box.sides[2 * c + 1] != COLLISION_OPEN)) continue;
      sim_faults_add(faults, p->remove.items[i].line, path,
                     "no grain can be there: %.9g to %.9g in %c is outside the box, %.9g to %.9g", region->low[c],
                     region->high[c], "xyz"[c], low, high);
    }
  }
  if (p->gates.count > COLLISION_GATES_MAX) {
    sim_faults_add(faults, 0, "gates", "expected at most %d, got %zu", COLLISION_GATES_MAX, p->gates.count);
    return;
  }
  for (size_t i = 0; i < p->gates.count; i++) {
    collision_gate *gate = &p->gate[i];
    *gate = *(const collision_gate *)p->gates.items[i].data;
    const double *n = gate->normal, size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    snprintf(path, sizeof path, "gates[%zu].normal", i + 1);
    if (!(size > 0)) sim_faults_add(faults, p->gates.items[i].line, path, "expected a direction, got {0, 0, 0}");
    for (int c = 0; c < 3; c++) gate->normal[c] /= size;
  }
}
