/* The tables of a scenario, and their columns. */
#include "kernels/fluid/gates.h"
#include "kernels/fluid/grains/grains.h"
#include "kernels/fluid/heat.h"
#include "kernels/fluid/meshes.h"
#include "kernels/fluid/scenario/rules.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FLOW_COLUMNS                                                                                                   \
  {.name = "mass",                                                                                                     \
   .type = SIM_REAL,                                                                                                   \
   .doc = "mass of the fluid",                                                                                         \
   .display = SIM_DISPLAY_NUMBER,                                                                                      \
   .dimension = {0, 1, 0}},                                                                                            \
      {.name = "kinetic", .type = SIM_REAL, .doc = "kinetic energy", .dimension = {2, 1, -2}},                         \
      {.name = "enstrophy",                                                                                            \
       .type = SIM_REAL,                                                                                               \
       .doc = "half the integral of the squared vorticity",                                                            \
       .dimension = {3, 0, -2}},                                                                                       \
      {.name = "speed", .type = SIM_REAL, .doc = "greatest speed", .dimension = {1, 0, -1}},                           \
      {.name = "mach", .type = SIM_REAL, .doc = "its Mach number", .display = SIM_DISPLAY_NUMBER},                     \
      {.name = "momentum_x", .type = SIM_REAL, .doc = "momentum along x", .dimension = {1, 1, -1}}, {                  \
    .name = "momentum_y", .type = SIM_REAL, .doc = "momentum along y", .dimension = { 1, 1, -1 }                       \
  }
static const sim_field flow_columns_2d[] = {FLOW_COLUMNS, {0}};
static const sim_field flow_columns_3d[] = {
    FLOW_COLUMNS, {.name = "momentum_z", .type = SIM_REAL, .doc = "momentum along z", .dimension = {1, 1, -1}}, {0}};
#define CHANGE_COLUMN                                                                                                  \
  {                                                                                                                    \
    .name = "change", .type = SIM_REAL, .display = SIM_DISPLAY_NUMBER,                                                 \
    .doc = "change of the velocity in the last step, its root mean square over `speed`; with `steady`"                 \
  }
static const sim_field change_column = CHANGE_COLUMN;
static const sim_field described_flow[] = {
    FLOW_COLUMNS,
    {.name = "momentum_z", .type = SIM_REAL, .doc = "momentum along z", .dimension = {1, 1, -1}},
    CHANGE_COLUMN,
    {0}};
#define FLOW_DOC "sums over the fluid, and its greatest speed"
static const sim_table flow_2d = {.name = "flow", .doc = FLOW_DOC, .columns = flow_columns_2d};
static const sim_table flow_3d = {.name = "flow", .doc = FLOW_DOC, .columns = flow_columns_3d};

#define COLUMN(word, text)                                                                                             \
  { .name = word, .type = SIM_REAL, .doc = text }
static const sim_field described_bodies[] = {
    COLUMN("NAME_fx", "force of the fluid on a body; also fy, fz in 3-D"),
    COLUMN("NAME_tz", "torque about its point; also tx, ty in 3-D"),
    COLUMN("NAME_cd", "coefficient of drag; with `reference`"),
    COLUMN("NAME_cl", "coefficient of lift; also cs, of the side force, in 3-D"),
    COLUMN("NAME_cm", "coefficient of the moment that raises the nose"),
    COLUMN("NAME_yplus", "greatest y+ of the first cells; with `reference` or `yplus`"),
    COLUMN("NAME_yplus_mean", "mean of it"),
    COLUMN("NAME_sure", "1: y+ is at most 5; 0: forces are not sure"),
    {0}};
static const sim_field described_probes[] = {COLUMN("velocity_x_NUMBER", "velocity at a probe; also y, z"),
                                             COLUMN("pressure_NUMBER", "pressure at a probe"),
                                             {0}};
static const sim_field described_heat[] = {
    COLUMN("mean", "mean temperature"),
    COLUMN("least", "least temperature"),
    COLUMN("greatest", "greatest temperature"),
    COLUMN("flux_SIDE", "heat that enters through a side with a temperature or a flux, by time and heat capacity"),
    COLUMN("temperature_SIDE", "mean temperature of a side with a flux"),
    COLUMN("nusselt_SIDE", "Nusselt number: this heat over what the fluid at rest would conduct between both sides"),
    COLUMN("flux_NAME", "heat that a body with a temperature or a flux gives to the fluid, by time and heat capacity"),
    COLUMN("temperature_NAME", "mean temperature of the surface of a body with a flux"),
    COLUMN("nusselt_NAME",
           "of a round body: the same over area diffusivity (temperature - reference)/diameter, its Nusselt number"),
    {0}};
#define GRAINS_DOC "energies, momentum and means of the grains"
static const sim_table grains_table = {.name = "grains", .doc = GRAINS_DOC, .columns = fluid_grains_columns};
#define POROUS_DOC "flow through a porous box"
static const sim_field described_porous[] = {
    COLUMN("porosity", "part of the cells that is fluid"),
    COLUMN("darcy_x", "mean velocity over the whole box; also y, z"),
    COLUMN(
        "permeability",
        "permeability, viscosity times the mean velocity along what drives it, over that: acceleration, and pressures "
        "at both ends of an axis"),
    {0}};
#define GATES_DOC "what passes plane sections of the box"
static const sim_field described_gates[] = {
    COLUMN("NAME_flux", "mass that passes a gate in a unit of time, along its axis"),
    COLUMN("NAME_pressure", "mean pressure of the fluid in it, above that at rest"),
    COLUMN("NAME_momentum_x", "momentum along x that the fluid carries through it in a unit of time; also y, z"),
    {0}};
#define SPECTRUM_DOC "kinetic energy by wavenumber"
static const sim_field described_spectrum[] = {
    COLUMN("energy_BIN", "kinetic energy by mass of the wavenumbers near BIN = 0, 1, 2, ... times the least one, over "
                         "that one, the width of the bin"),
    {0}};
static const sim_table described[] = {{"flow", FLOW_DOC "; always", described_flow},
                                      {"bodies", "forces on bodies; with bodies", described_bodies},
                                      {"probes", "the fluid at points; with probes", described_probes},
                                      {"heat", "temperature, and heat through sides; with heat", described_heat},
                                      {"porous", POROUS_DOC "; with solid or resistance", described_porous},
                                      {"gates", GATES_DOC "; with gates", described_gates},
                                      {"spectrum", SPECTRUM_DOC "; with spectrum", described_spectrum},
                                      {"grains", GRAINS_DOC "; with grains", fluid_grains_columns}};
const sim_table *const fluid_described[] = {&described[0], &described[1], &described[2], &described[3], &described[4],
                                            &described[5], &described[6], &described[7], NULL};

void fluid_name(const char *own, const char *kind, int index, char out[FLUID_BODY_NAME]) {
  if (own)
    snprintf(out, FLUID_BODY_NAME, "%s", own);
  else
    snprintf(out, FLUID_BODY_NAME, "%s%d", kind, index + 1);
}

void fluid_body_name(const fluid_parameters *p, int body, char out[FLUID_BODY_NAME]) {
  fluid_name(fluid_body_of(p, body)->name, "body", body, out);
}

typedef struct column_list {
  char (*names)[96];
  sim_field *columns;
  int count;
} column_list;

__attribute__((format(printf, 4, 5))) static void add_column(column_list *to, const char *doc, sim_dimension dimension,
                                                             const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(to->names[to->count], sizeof to->names[0], format, arguments);
  va_end(arguments);
  to->columns[to->count] =
      (sim_field){.name = to->names[to->count], .type = SIM_REAL, .doc = doc, .dimension = dimension};
  to->count++;
}

static const sim_dimension speed = {1, 0, -1};

/* Columns of a body with a reference, in the order of fluid_bodies_row (run/bodies.c). */
static void name_coefficients(int rank, const char *name, column_list *out) {
  add_column(out, "coefficient of drag", (sim_dimension){0}, "%s_cd", name);
  add_column(out, "coefficient of lift", (sim_dimension){0}, "%s_cl", name);
  if (rank == 3) add_column(out, "coefficient of the side force", (sim_dimension){0}, "%s_cs", name);
  add_column(out, "coefficient of the moment that raises the nose", (sim_dimension){0}, "%s_cm", name);
}

static void name_plus(const char *name, column_list *out) {
  const int first = out->count;
  add_column(out, "greatest y+ of the first cells", (sim_dimension){0}, "%s_yplus", name);
  add_column(out, "mean y+ of the first cells", (sim_dimension){0}, "%s_yplus_mean", name);
  add_column(out, "1: forces are sure, y+ is at most 5; 0: they are not", (sim_dimension){0}, "%s_sure", name);
  for (int i = first; i < out->count; i++) out->columns[i].display = SIM_DISPLAY_NUMBER;
}

static int name_bodies(fluid_parameters *p, int rank) {
  static const sim_dimension force = {1, 1, -2}, torque = {2, 1, -2};
  column_list out = {p->names[0], p->columns[0], 0};
  for (int b = 0; b < (int)p->bodies.count; b++) {
    char name[FLUID_BODY_NAME];
    fluid_body_name(p, b, name);
    for (int a = 0; a < rank; a++) add_column(&out, "force of the fluid on the body", force, "%s_f%c", name, "xyz"[a]);
    for (int a = rank == 2 ? 2 : 0; a < 3; a++)
      add_column(&out, "torque of the fluid on the body", torque, "%s_t%c", name, "xyz"[a]);
    if (fluid_body_of(p, b)->reference.given) name_coefficients(rank, name, &out);
    if (fluid_tells_plus(p, b)) name_plus(name, &out);
  }
  return out.count;
}

static int name_probes(fluid_parameters *p, int rank) {
  static const sim_dimension pressure = {-1, 1, -2};
  column_list out = {p->names[1], p->columns[1], 0};
  for (int i = 0; i < (int)p->probes.rows; i++) {
    for (int a = 0; a < rank; a++) add_column(&out, "velocity at a probe", speed, "velocity_%c_%d", "xyz"[a], i + 1);
    add_column(&out, "pressure at a probe", pressure, "pressure_%d", i + 1);
  }
  return out.count;
}

/* Columns of side s in the table `heat`; sets nusselt[column] of its Nusselt number. */
static void name_heat_of_side(const fluid_parameters *p, int rank, int s, column_list *out, bool *nusselt) {
  const char *name = fluid_side_names[s];
  if (!fluid_tells_side(p, s)) return;
  add_column(out, "heat that enters through a side, by time and heat capacity",
             (sim_dimension){(signed char)rank, 0, -1}, "flux_%s", name);
  if (!isnan(p->heat.flux[s]))
    add_column(out, "mean temperature of a side with a flux", (sim_dimension){0}, "temperature_%s", name);
  if (!fluid_has_nusselt(p, s / 2)) return;
  nusselt[out->count] = true;
  add_column(out, "Nusselt number: this heat over what the fluid at rest would conduct", (sim_dimension){0},
             "nusselt_%s", name);
}

/* The same of a body. */
static void name_heat_of_body(const fluid_parameters *p, int rank, int b, column_list *out, bool *nusselt) {
  char name[FLUID_BODY_NAME];
  double area;
  const bool flux = !isnan(fluid_body_of(p, b)->flux);
  if (isnan(fluid_body_of(p, b)->temperature) && !flux) return;
  fluid_body_name(p, b, name);
  add_column(out, "heat that a body gives to the fluid, by time and heat capacity",
             (sim_dimension){(signed char)rank, 0, -1}, "flux_%s", name);
  if (flux)
    add_column(out, "mean temperature of the surface of a body with a flux", (sim_dimension){0}, "temperature_%s",
               name);
  if (!(fluid_body_length(p, b, &area) > 0)) return;
  nusselt[out->count] = true;
  add_column(out, "Nusselt number: this heat by area over diffusivity (temperature - reference)/diameter",
             (sim_dimension){0}, "nusselt_%s", name);
}

static int name_heat(fluid_parameters *p, int rank) {
  bool nusselt[SIM_COLUMNS_FEW] = {false}, some = false;
  column_list out = {p->names[2], p->columns[2], 0};
  if (!p->heat.given) return 0;
  add_column(&out, "mean temperature", (sim_dimension){0}, "mean");
  add_column(&out, "least temperature", (sim_dimension){0}, "least");
  add_column(&out, "greatest temperature", (sim_dimension){0}, "greatest");
  out.columns[0].display = SIM_DISPLAY_ALONE;
  out.columns[1].display = out.columns[2].display = SIM_DISPLAY_NUMBER;
  for (int s = 0; s < 2 * rank; s++) name_heat_of_side(p, rank, s, &out, nusselt);
  for (int b = 0; b < (int)p->bodies.count; b++) name_heat_of_body(p, rank, b, &out, nusselt);
  for (int i = 0; i < out.count; i++) some = some || nusselt[i];
  for (int i = 0; i < out.count && some; i++) /* pictures have these alone */
    if (!nusselt[i]) out.columns[i].display = SIM_DISPLAY_NUMBER;
  return out.count;
}

static int name_porous(fluid_parameters *p, int rank) {
  column_list out = {p->names[3], p->columns[3], 0};
  double drive[3];
  if (!fluid_is_porous(p)) return 0;
  add_column(&out, "part of the cells that is fluid", (sim_dimension){0}, "porosity");
  for (int a = 0; a < rank; a++) add_column(&out, "mean velocity over the whole box", speed, "darcy_%c", "xyz"[a]);
  if (fluid_driving(p, drive) > 0)
    add_column(&out, "permeability, viscosity times the mean velocity along what drives it, over that",
               (sim_dimension){2, 0, 0}, "permeability");
  return out.count;
}

static int name_gates(fluid_parameters *p, int rank) {
  column_list out = {p->names[4], p->columns[4], 0};
  for (int i = 0; i < (int)p->gates.count; i++) {
    char name[FLUID_BODY_NAME];
    fluid_gate_name(p, i, name);
    add_column(&out, "mass that passes the gate in a unit of time", (sim_dimension){0, 1, -1}, "%s_flux", name);
    add_column(&out, "mean pressure of the gate", (sim_dimension){-1, 1, -2}, "%s_pressure", name);
    for (int a = 0; a < rank; a++)
      add_column(&out, "momentum that the fluid carries through the gate in a unit of time", (sim_dimension){1, 1, -2},
                 "%s_momentum_%c", name, "xyz"[a]);
  }
  return out.count;
}

static int name_spectrum(fluid_parameters *p) {
  column_list out = {p->names[5], p->columns[5], 0};
  for (int i = 0; i < (int)p->spectrum; i++) {
    add_column(&out, "kinetic energy by mass of the wavenumbers about so many times the least one, over that one",
               (sim_dimension){3, 0, -2}, "energy_%d", i);
    out.columns[i].display = SIM_DISPLAY_SPECTRUM;
  }
  return out.count;
}

/* The table `flow`, with the change where `steady` looks at it. */
static const sim_table *flow_table(fluid_parameters *p, int rank) {
  const sim_table *usual = rank == 2 ? &flow_2d : &flow_3d;
  const int count = FLUID_MOMENTUM + rank;
  if (isnan(p->steady)) return usual;
  memcpy(p->flow, usual->columns, (size_t)count * sizeof *p->flow);
  p->flow[count] = change_column;
  p->flow[count + 1] = (sim_field){0};
  p->table[FLUID_NAMED] = (sim_table){.name = "flow", .doc = FLOW_DOC, .columns = p->flow};
  return &p->table[FLUID_NAMED];
}

void fluid_name_tables(fluid_parameters *p) {
  const int rank = fluid_grid_of(p).rank;
  const int counts[] = {name_bodies(p, rank), name_probes(p, rank), name_heat(p, rank),
                        name_porous(p, rank), name_gates(p, rank),  name_spectrum(p)};
  /* In the order of a file's tables; the numbers are those of p->table. */
  static const struct {
    int number, kind;
    const char *name, *doc;
  } order[] = {{0, FLUID_BODIES_TABLE, "bodies", "forces of the fluid on bodies"},
               {1, FLUID_PROBES_TABLE, "probes", "the fluid at points"},
               {3, FLUID_POROUS_TABLE, "porous", POROUS_DOC},
               {2, FLUID_HEAT_TABLE, "heat", "temperature, and heat through sides"},
               {4, FLUID_GATES_TABLE, "gates", GATES_DOC},
               {5, FLUID_SPECTRUM_TABLE, "spectrum", SPECTRUM_DOC}};
  int count = 0;
  p->kinds[count] = FLUID_FLOW_TABLE;
  p->tables[count++] = flow_table(p, rank);
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    const int n = order[i].number;
    p->table[n] = (sim_table){.name = order[i].name, .doc = order[i].doc, .columns = p->columns[n]};
    if (counts[n] == 0) continue;
    p->kinds[count] = order[i].kind;
    p->tables[count++] = &p->table[n];
  }
  if (p->grains.count > 0) {
    p->kinds[count] = FLUID_GRAINS_TABLE;
    p->tables[count++] = &grains_table;
  }
}

const sim_table *const *fluid_tables_of(const void *parameters) {
  return ((const fluid_parameters *)parameters)->tables;
}
