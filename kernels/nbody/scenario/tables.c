#include "kernels/nbody/scenario/tables.h"

#include "kernels/nbody/ops.h"

#include <stdio.h>
#include <string.h>

#define ENERGY                                                                                                         \
  { 2, 1, -2 }
#define COLUMN(text, ...)                                                                                              \
  { .name = #text, .type = SIM_REAL, __VA_ARGS__ }

static const sim_field energy_columns[] = {
    COLUMN(kinetic, .dimension = ENERGY, .doc = "kinetic energy"),
    COLUMN(potential, .dimension = ENERGY,
           .doc = "potential energy of pairs (softened) and in the external potential; NaN if unknown"),
    COLUMN(total, .dimension = ENERGY, .doc = "kinetic + potential"),
    COLUMN(
        error, .flags = SIM_HEALTH, .display = SIM_DISPLAY_ERROR,
        .doc =
            "relative energy error: (total - total at the start)/|total at the start|; NaN if external depends on t"),
    COLUMN(virial_ratio, .display = SIM_DISPLAY_RATIO, .doc = "2 kinetic / |potential|: 1 in virial equilibrium"),
    COLUMN(momentum_x, .dimension = {1, 1, -1}, .doc = "total momentum, x"),
    COLUMN(momentum_y, .dimension = {1, 1, -1}, .doc = "total momentum, y"),
    COLUMN(momentum_z, .dimension = {1, 1, -1}, .doc = "total momentum, z"),
    COLUMN(angular_momentum_x, .dimension = {2, 1, -1}, .doc = "total angular momentum about the origin, x"),
    COLUMN(angular_momentum_y, .dimension = {2, 1, -1}, .doc = "total angular momentum about the origin, y"),
    COLUMN(angular_momentum_z, .dimension = {2, 1, -1}, .doc = "total angular momentum about the origin, z"),
    COLUMN(centre_x, .dimension = {1, 0, 0}, .doc = "centre of mass, x"),
    COLUMN(centre_y, .dimension = {1, 0, 0}, .doc = "centre of mass, y"),
    COLUMN(centre_z, .dimension = {1, 0, 0}, .doc = "centre of mass, z"),
    {0}};

const double nbody_radius_fractions[NBODY_RADII] = {0.10, 0.25, 0.50, 0.75, 0.90};
static const sim_field lagrangian_columns[] = {
    COLUMN(r10, .display = SIM_DISPLAY_LOG, .dimension = {1, 0, 0},
           .doc = "radius about the centre of mass that contains 10 % of the total mass"),
    COLUMN(r25, .display = SIM_DISPLAY_LOG, .dimension = {1, 0, 0}, .doc = "the same, 25 %"),
    COLUMN(r50, .display = SIM_DISPLAY_LOG, .dimension = {1, 0, 0}, .doc = "the same, 50 %"),
    COLUMN(r75, .display = SIM_DISPLAY_LOG, .dimension = {1, 0, 0}, .doc = "the same, 75 %"),
    COLUMN(r90, .display = SIM_DISPLAY_LOG, .dimension = {1, 0, 0}, .doc = "the same, 90 %"),
    {0}};

static const sim_table energy_table = {"energy", "conserved quantities and virial ratio", energy_columns};
static const sim_table lagrangian_table = {"lagrangian", "Lagrangian radii", lagrangian_columns};
const sim_table *const nbody_tables[] = {&energy_table, &lagrangian_table, NULL};
static const sim_field observe_columns[] = {
    COLUMN(NAME, .display = SIM_DISPLAY_ALONE, .doc = "the function NAME of `observe`, reduced over all bodies"), {0}};
static const sim_table observe_table = {"observe", "functions of the scenario; with observe", observe_columns};
static const sim_field level_described[] = {COLUMN(level_L, .doc = "bodies of level L, with steps of dt / 2^L"), {0}};
static const sim_table level_table = {
    "levels", "levels that the bodies have at the beginning of a step; with integrate.steps = \"individual\"",
    level_described};
const sim_table *const nbody_described_tables[] = {&level_table, &observe_table, NULL};

#define LEVEL(number)                                                                                                  \
  { .name = "level_" #number, .type = SIM_REAL, .doc = "bodies with steps of dt / 2^" #number }
static const sim_field level_columns[NBODY_LEVELS_MAX + 1] = {
    LEVEL(0),  LEVEL(1),  LEVEL(2),  LEVEL(3),  LEVEL(4),  LEVEL(5),  LEVEL(6),
    LEVEL(7),  LEVEL(8),  LEVEL(9),  LEVEL(10), LEVEL(11), LEVEL(12), LEVEL(13),
    LEVEL(14), LEVEL(15), LEVEL(16), LEVEL(17), LEVEL(18), LEVEL(19), LEVEL(20)};

static void make_level_table(nbody_parameters *p) {
  memcpy(p->level_columns, level_columns, ((size_t)p->integrate.levels + 1) * sizeof *level_columns);
  p->level_columns[p->integrate.levels + 1] = (sim_field){0};
  p->level_table = (sim_table){level_table.name, level_table.doc, p->level_columns};
}

void nbody_make_tables(nbody_parameters *p, sim_faults *faults) {
  static const char *const docs[] = {"sum over all bodies", "mean over all bodies", "minimum over all bodies",
                                     "maximum over all bodies"};
  const sim_table **table = p->tables;
  for (const sim_table *const *own = nbody_tables; *own != NULL; own++) *table++ = *own;
  if (p->integrate.steps == NBODY_INDIVIDUAL) {
    make_level_table(p);
    *table++ = &p->level_table;
  }
  *table = NULL;
  if (p->observe.count > SIM_COLUMNS_MAX)
    sim_faults_add(faults, 0, "observe", "expected at most %d functions, got %zu", SIM_COLUMNS_MAX, p->observe.count);
  if (p->observe.count == 0 || p->observe.count > SIM_COLUMNS_MAX) return;
  for (size_t i = 0; i < p->observe.count; i++) {
    const sim_named_function *item = &p->observe.items[i];
    char path[SIM_EXPR_NAME_MAX + 16];
    snprintf(path, sizeof path, "observe.%s", item->name);
    if (strcmp(item->name, "step") == 0 || strcmp(item->name, "time") == 0)
      sim_faults_add(faults, item->line, path, "this name is taken: every table has a column %s", item->name);
    p->observe_columns[i] = (sim_field){.name = item->name,
                                        .type = SIM_REAL,
                                        .doc = docs[item->reduce],
                                        .flags = SIM_REPORTED,
                                        .display = SIM_DISPLAY_ALONE};
  }
  p->observe_columns[p->observe.count] = (sim_field){0};
  p->observe_table = (sim_table){"observe", "functions of the scenario", p->observe_columns};
  *table++ = &p->observe_table;
  *table = NULL;
}
