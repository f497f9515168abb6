#include "kernels/nbody/scenario/orbits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const sim_field orbit_fields[] = {
    {SIM_FIELD(nbody_orbit, a), .type = SIM_REAL, .flags = SIM_REQUIRED, .dimension = {1, 0, 0},
     .doc = "semi-major axis; negative for a hyperbola, with e > 1"},
    {SIM_FIELD(nbody_orbit, e), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .doc = "eccentricity, not 1"},
    {SIM_FIELD(nbody_orbit, inc), .type = SIM_REAL, .initial = "0", .doc = "inclination to the x-y plane, degrees"},
    {SIM_FIELD(nbody_orbit, node), .type = SIM_REAL, .initial = "0",
     .doc = "longitude of the ascending node from the x axis, degrees"},
    {SIM_FIELD(nbody_orbit, peri), .type = SIM_REAL, .initial = "0",
     .doc = "argument of the pericentre from the node, degrees"},
    {SIM_FIELD(nbody_orbit, M), .type = SIM_REAL, .initial = "0",
     .doc = "mean anomaly, degrees: time since the pericentre times (G m / |a|^3)^(1/2)"},
    {SIM_FIELD(nbody_orbit, primary), .type = SIM_STRING, .initial = NBODY_ORBIT_ALL,
     .doc = "species, listed before, whose centre of mass is in the focus; all: that of all bodies listed before"},
    {0}};
const sim_schema nbody_orbit_schema = {
    .name = "orbit", .doc = "orbit of the body or group", .fields = orbit_fields, .size = sizeof(nbody_orbit)};

nbody_group_fields *nbody_group_with_orbit(const sim_item *item) {
  const bool without = item->schema == &nbody_each_schema || item->schema == &nbody_zeldovich_schema ||
                       item->schema == &nbody_lattice_schema;
  return without ? NULL : item->data;
}

static bool is_zero(const double x[3]) { return x[0] == 0 && x[1] == 0 && x[2] == 0; }

static bool names_species(const sim_item *item, const char *species) {
  if (strcmp(((const nbody_group_fields *)item->data)->species, species) == 0) return true;
  return item->schema == &nbody_exponential_disk_schema &&
         strcmp(((const nbody_exponential_disk *)item->data)->halo.species, species) == 0;
}

static bool is_listed(const sim_list *bodies, size_t count, const char *species) {
  for (size_t i = 0; i < count; i++)
    if (names_species(&bodies->items[i], species)) return true;
  return false;
}

static void check_orbit(const nbody_parameters *p, size_t i, sim_faults *faults) {
  const sim_item *item = &p->bodies.items[i];
  const nbody_group_fields *group = nbody_group_with_orbit(item);
  if (group == NULL || !group->orbit.given) return;
  const nbody_orbit *orbit = &group->orbit;
  char path[64];
  snprintf(path, sizeof path, "bodies[%zu].orbit", i + 1);
  if (!is_zero(group->position) || !is_zero(group->velocity))
    sim_faults_add(faults, item->line, path, "has position and velocity: expected either these or the orbit");
  if (p->pair != NULL || p->pair_force != NULL)
    sim_faults_add(faults, item->line, path, "is one under gravity, which %s replaces",
                   p->pair ? "pair" : "pair_force");
  if (p->expansion.given) sim_faults_add(faults, item->line, path, "expected no orbit beside expansion");
  const bool ellipse = orbit->a > 0 && orbit->e < 1, hyperbola = orbit->a < 0 && orbit->e > 1;
  if (!ellipse && !hyperbola)
    sim_faults_add(faults, item->line, path,
                   "expected a > 0 with e < 1, an ellipse, or a < 0 with e > 1, a hyperbola; got a = %.9g, e = %.9g",
                   orbit->a, orbit->e);
  const bool all = strcmp(orbit->primary, NBODY_ORBIT_ALL) == 0;
  if (i == 0 || (!all && !is_listed(&p->bodies, i, orbit->primary)))
    sim_faults_add(faults, item->line, path, "expected a primary listed before this body, got \"%s\"", orbit->primary);
}

size_t nbody_orbits_list(const nbody_parameters *p, const sim_item *items[NBODY_ORBITS_MAX]) {
  size_t count = 0;
  for (size_t i = 0; i < p->bodies.count; i++) {
    const sim_item *item = &p->bodies.items[i];
    const char *species = ((const nbody_group_fields *)item->data)->species;
    if (item->schema != &nbody_body_schema || strcmp(species, p->orbits) == 0) continue;
    size_t with = 0;
    for (size_t k = 0; k < p->bodies.count; k++) with += names_species(&p->bodies.items[k], species);
    if (with > 1) continue;
    if (count < NBODY_ORBITS_MAX) items[count] = item;
    count++;
  }
  return count;
}

void nbody_check_orbits(const nbody_parameters *p, sim_faults *faults) {
  for (size_t i = 0; i < p->bodies.count; i++) check_orbit(p, i, faults);
  if (p->orbits == NULL) return;
  const sim_item *items[NBODY_ORBITS_MAX];
  const size_t count = nbody_orbits_list(p, items);
  if (!is_listed(&p->bodies, p->bodies.count, p->orbits))
    sim_faults_add(faults, 0, "orbits", "expected a species of `bodies`, the primary of the orbits, got \"%s\"",
                   p->orbits);
  else if (count == 0 || count > NBODY_ORBITS_MAX)
    sim_faults_add(faults, 0, "orbits",
                   "expected 1 to %d single bodies with a species of their own beside the primary, got %zu",
                   NBODY_ORBITS_MAX, count);
  if (p->pair != NULL || p->pair_force != NULL || p->expansion.given || p->box.given)
    sim_faults_add(faults, 0, "orbits", "expected gravity in open space, without pair, pair_force, box and expansion");
}

/* ---- table ---- */

#define COLUMN(text, ...)                                                                                              \
  { .name = text, .type = SIM_REAL, __VA_ARGS__ }
static const sim_field described[] = {
    COLUMN("a_SPECIES", .dimension = {1, 0, 0}, .doc = "semi-major axis; negative for a hyperbola"),
    COLUMN("e_SPECIES", .doc = "eccentricity"),
    COLUMN("inc_SPECIES", .display = SIM_DISPLAY_NUMBER, .doc = "inclination, degrees, 0 to 180"),
    COLUMN("node_SPECIES", .display = SIM_DISPLAY_NUMBER,
           .doc = "longitude of the ascending node, degrees, 0 to 360; without inclination 0"),
    COLUMN("peri_SPECIES", .display = SIM_DISPLAY_ALONE,
           .doc = "argument of the pericentre, degrees, 0 to 360; of a circle, e up to 1e-12, 0"),
    COLUMN("M_SPECIES", .display = SIM_DISPLAY_NUMBER, .doc = "mean anomaly, degrees; of an ellipse 0 to 360"),
    {0}};
_Static_assert(sizeof described / sizeof *described == NBODY_ELEMENTS + 1, "a column for each element");
const sim_table nbody_orbits_described = {
    "orbits", "osculating elements of single bodies about the species `orbits`; with orbits", described};

const sim_table *nbody_make_orbit_table(nbody_parameters *p) {
  const sim_item *items[NBODY_ORBITS_MAX];
  size_t count = nbody_orbits_list(p, items), column = 0;
  for (size_t i = 0; i < count && i < NBODY_ORBITS_MAX; i++)
    for (int k = 0; k < NBODY_ELEMENTS; k++, column++) {
      const char *species = ((const nbody_group_fields *)items[i]->data)->species;
      const int letters = (int)(strchr(described[k].name, '_') - described[k].name);
      p->orbit_columns[column] = described[k];
      p->orbit_columns[column].name = p->orbit_names[column];
      snprintf(p->orbit_names[column], sizeof p->orbit_names[column], "%.*s_%s", letters, described[k].name, species);
    }
  p->orbit_columns[column] = (sim_field){0};
  p->orbit_table = (sim_table){"orbits", nbody_orbits_described.doc, p->orbit_columns};
  return &p->orbit_table;
}
