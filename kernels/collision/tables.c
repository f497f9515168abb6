/* The tables of a run: common tables, and tables that a scenario adds. */
#include "kernels/collision/run.h"
#include "kernels/collision/scenario/fields.h"
#include "kernels/collision/scenario/sizes.h"

#include <math.h>
#include <stdio.h>

static const sim_table energy_table = {"energy", "energies and their balance", collision_energy_columns};
static const sim_table gas_table = {"gas", "temperature and stress", collision_gas_columns};
static const sim_table contact_table = {"contacts", "collisions, contacts and overlap", collision_contact_columns};
static const sim_table momentum_table = {"momentum", "momentum and angular momentum", collision_momentum_columns};
static const sim_table heat_table = {"heat", "heat of the grains", collision_heat_columns};
static const sim_table ring_table = {"rings", "velocity dispersion, thickness and viscosity of a patch with hill",
                                     collision_ring_columns};
static const sim_table attraction_table = {"self_gravity", "energy and errors of self-gravity",
                                           collision_attraction_columns};
static const sim_table merger_table = {"events", "grains that merged", collision_merger_columns};
const sim_table *const collision_tables[] = {&energy_table, &gas_table, &contact_table, &momentum_table, NULL};

static const sim_field wall_columns[] = {
    {.name = "WALL_force_x",
     .type = SIM_REAL,
     .dimension = {1, 1, -2},
     .doc = "force of the grains on the wall; WALL is wall1, ... or a side, x_low, ..."},
    {.name = "WALL_force_y", .type = SIM_REAL, .dimension = {1, 1, -2}, .doc = "the same, y"},
    {.name = "WALL_force_z", .type = SIM_REAL, .dimension = {1, 1, -2}, .doc = "the same, z"},
    {0}};
static const sim_field flow_columns[] = {
    {.name = "inserted", .type = SIM_REAL, .doc = "grains inserted since the start"},
    {.name = "inserted_mass", .type = SIM_REAL, .dimension = {0, 1, 0}, .doc = "their mass"},
    {.name = "removed", .type = SIM_REAL, .doc = "grains removed since the start"},
    {.name = "removed_mass", .type = SIM_REAL, .dimension = {0, 1, 0}, .doc = "their mass"},
    {.name = "gateGATE_grains", .type = SIM_REAL, .doc = "grains that passed the gate along the normal, net"},
    {.name = "gateGATE_mass", .type = SIM_REAL, .dimension = {0, 1, 0}, .doc = "their mass"},
    {0}};
static const sim_field profile_columns[] = {
    {.name = "sliceSLICE",
     .type = SIM_REAL,
     .display = SIM_DISPLAY_PROFILE,
     .doc = "slice 1, 2, ... from the lower side of the box; grains with their centres in it; without grains density "
            "is 0 and the others are NaN"},
    {0}};
static const sim_table described[] = {
    {"walls", "forces on walls; with walls", wall_columns},
    {"flow", "inserted, removed and counted grains; with insert, remove or gates", flow_columns},
    {"profile_KIND",
     "profiles across the box: density (volume fraction of grains), velocity_x, velocity_y, velocity_z (V, "
     "mass-weighted) and temperature (mean of m (v - V)^2/3); with profile",
     profile_columns},
    {"heat", "heat of the grains; with heat", collision_heat_columns},
    {"rings", "velocity dispersion, thickness and viscosity; with hill", collision_ring_columns},
    {"self_gravity", "energy and errors of self-gravity; with self_gravity", collision_attraction_columns},
    {"events", "grains that merged; with merge", collision_merger_columns}};
const sim_table *const collision_described[] = {&described[0], &described[1], &described[2], &described[3],
                                                &described[4], &described[5], &described[6], NULL};

static const sim_table *make_flow(collision_parameters *p) {
  sim_field *column = p->flow_columns;
  for (int k = 0; k < 4; k++) *column++ = flow_columns[k];
  for (size_t i = 0; i < 2 * p->gates.count; i++) {
    char *name = p->flow_names[i];
    snprintf(name, sizeof p->flow_names[0], "gate%zu_%s", i / 2 + 1, i % 2 ? "mass" : "grains");
    *column++ =
        (sim_field){.name = name,
                    .type = SIM_REAL,
                    .dimension = {0, i % 2, 0},
                    .doc = i % 2 ? "the same, their mass" : "grains that passed the gate along the normal, net"};
  }
  *column = (sim_field){0};
  p->flow_table = (sim_table){"flow", "inserted, removed and counted grains since the start", p->flow_columns};
  return &p->flow_table;
}

static const sim_table **make_profiles(collision_parameters *p, const sim_table **table) {
  static const struct {
    const char *name, *doc;
    sim_dimension dimension;
  } kinds[] = {
      {"profile_density", "volume fraction of grains, each counted where its centre is", {0}},
      {"profile_velocity_x", "mass-weighted mean velocity V in a slice, x; NaN without grains", {1, 0, -1}},
      {"profile_velocity_y", "the same, y", {1, 0, -1}},
      {"profile_velocity_z", "the same, z", {1, 0, -1}},
      {"profile_temperature", "mean over the grains in a slice of m (v - V)^2/3; NaN without grains", {2, 1, -2}}};
  for (int k = 0; k < p->profile.bins; k++) snprintf(p->bin_names[k], sizeof p->bin_names[0], "slice%d", k + 1);
  for (int which = 0; which < 5; which++) {
    sim_field *column = p->bin_columns[which];
    for (int k = 0; k < p->profile.bins; k++)
      column[k] = (sim_field){.name = p->bin_names[k],
                              .type = SIM_REAL,
                              .dimension = kinds[which].dimension,
                              .display = SIM_DISPLAY_PROFILE,
                              .doc = "this slice, counted from the lower side of the box"};
    column[p->profile.bins] = (sim_field){0};
    p->bin_tables[which] = (sim_table){kinds[which].name, kinds[which].doc, column};
    *table++ = &p->bin_tables[which];
  }
  return table;
}

/* Makes three columns for each wall: first the sides of the box, then the items of `walls`. */
void collision_make_tables(collision_parameters *p) {
  static const char *const sides[] = {"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"};
  const sim_table **table = p->tables;
  int columns = 0;
  for (const sim_table *const *own = collision_tables; *own != NULL; own++) *table++ = *own;
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
  if (p->gates.count > 0 || collision_flow_varies(p)) *table++ = make_flow(p);
  if (!isnan(p->heat.capacity)) *table++ = &heat_table;
  if (!isnan(p->hill.omega)) *table++ = &ring_table;
  if (!isnan(p->self_gravity.G)) *table++ = &attraction_table;
  if (p->merge.when != COLLISION_MERGE_NEVER) *table++ = &merger_table;
  if (p->profile.bins > 0) table = make_profiles(p, table);
  *table = NULL;
}
