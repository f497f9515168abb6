/* Gates, and the spectrum: their fields and rules. */
#include "kernels/fluid/gates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LENGTH                                                                                                         \
  { 1, 0, 0 }
#define RANGE(axis, i)                                                                                                 \
  {                                                                                                                    \
    .name = axis, .offset = offsetof(fluid_gate, range) + (i) * sizeof(sim_doubles), .type = SIM_NUMBERS,              \
    .dimension = LENGTH, .doc = "{from, to} along " axis ", of a plane across another axis; none: the whole box"       \
  }
static const char *const axes[] = {"x", "y", "z", NULL};
static const sim_field gate_fields[] = {
    {SIM_FIELD(fluid_gate, name), .type = SIM_STRING, .doc = "in the columns of the table `gates`; none: gate1, ..."},
    {SIM_FIELD(fluid_gate, axis), .type = SIM_CHOICE, .flags = SIM_REQUIRED, .choices = axes,
     .doc = "axis across which the plane lies: the flux along it counts above 0"},
    {SIM_FIELD(fluid_gate, at), .type = SIM_REAL, .flags = SIM_REQUIRED, .dimension = LENGTH,
     .doc = "coordinate of the plane along it"},
    RANGE("x", 0),
    RANGE("y", 1),
    RANGE("z", 2),
    {0}};
static const sim_schema gate_schema = {.name = "",
                                       .doc = "a plane section of the box, or a part of one",
                                       .fields = gate_fields,
                                       .size = sizeof(fluid_gate)};
const sim_schema *const fluid_gate_variants[] = {&gate_schema, NULL};

void fluid_gate_name(const fluid_parameters *p, int gate, char out[FLUID_BODY_NAME]) {
  fluid_name(fluid_gate_of(p, gate)->name, "gate", gate, out);
}

static void check_range(const fluid_gate *gate, const grid_shape *grid, int g, int a, int line, sim_faults *faults) {
  const sim_doubles *range = &gate->range[a];
  char path[64];
  snprintf(path, sizeof path, "gates[%d].%c", g + 1, "xyz"[a]);
  if (range->rows == 0) return;
  if (a >= grid->rank || a == gate->axis)
    sim_faults_add(faults, line, path,
                   a == gate->axis ? "the plane lies across this axis: expected a range of others"
                                   : "the grid has no axis z: grid.n has 2 numbers");
  else if (range->rows != 2)
    sim_faults_add(faults, line, path, "expected {from, to}, got %zu numbers", range->rows);
  else if (!(range->data[0] >= 0 && range->data[0] < range->data[1] && range->data[1] <= grid->size[a]))
    sim_faults_add(faults, line, path, "expected a range within 0 and %.6g, got %.6g to %.6g", grid->size[a],
                   range->data[0], range->data[1]);
}

static void check_gate(const fluid_parameters *p, const grid_shape *grid, int g, sim_faults *faults) {
  const fluid_gate *gate = fluid_gate_of(p, g);
  const int line = p->gates.items[g].line;
  char path[64], own[FLUID_BODY_NAME], taken[FLUID_BODY_NAME];
  snprintf(path, sizeof path, "gates[%d].name", g + 1);
  if (gate->name && !fluid_is_name(gate->name))
    sim_faults_add(faults, line, path, "expected at most 40 letters, digits and _, no digit first, got \"%.60s\"",
                   gate->name);
  fluid_gate_name(p, g, own);
  for (int other = 0; other < g; other++) {
    fluid_gate_name(p, other, taken);
    if (strcmp(own, taken) == 0)
      sim_faults_add(faults, line, path, "expected a name of its own, got that of gates[%d]", other + 1);
  }
  snprintf(path, sizeof path, "gates[%d].axis", g + 1);
  if (gate->axis >= grid->rank) {
    sim_faults_add(faults, line, path, "the grid has no axis z: grid.n has 2 numbers");
    return;
  }
  snprintf(path, sizeof path, "gates[%d].at", g + 1);
  if (!(gate->at >= 0 && gate->at <= grid->size[gate->axis]))
    sim_faults_add(faults, line, path, "expected a coordinate from 0 to %.6g, got %.6g", grid->size[gate->axis],
                   gate->at);
  for (int a = 0; a < 3; a++) check_range(gate, grid, g, a, line, faults);
}

void fluid_check_gates(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults) {
  const int columns = FLUID_GATE_COLUMNS(grid->rank), most = SIM_COLUMNS_FEW / columns;
  if (p->gates.count > (size_t)most) {
    sim_faults_add(faults, 0, "gates", "expected at most %d on a grid of %d axes, got %zu", most, grid->rank,
                   p->gates.count);
    return;
  }
  for (int g = 0; g < (int)p->gates.count; g++) check_gate(p, grid, g, faults);
}

void fluid_check_spectrum(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults) {
  if (p->spectrum == 0) return;
  for (int a = 0; a < grid->rank; a++)
    if (!grid_is_periodic(grid, a))
      sim_faults_add(faults, 0, "spectrum", "needs a box that is periodic along all axes: along %c it is not",
                     "xyz"[a]);
  if (p->bodies.count > 0 || p->solid.given)
    sim_faults_add(faults, 0, "spectrum", "is not supported together with %s, where the fluid has no velocity",
                   p->solid.given ? "`solid`" : "bodies");
}
