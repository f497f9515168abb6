#include "engine/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const precisions[] = {"single", "mixed", "double", NULL};

const char *sim_precision_name(sim_precision precision) { return precisions[precision]; }

static const sim_field units_fields[] = {
    {"length", SIM_UNIT, "unit of length", offsetof(sim_units, length), .flags = SIM_REQUIRED, .dimension = {1, 0, 0}},
    {"mass", SIM_UNIT, "unit of mass", offsetof(sim_units, mass), .flags = SIM_REQUIRED, .dimension = {0, 1, 0}},
    {"time", SIM_UNIT, "unit of time", offsetof(sim_units, time), .flags = SIM_REQUIRED, .dimension = {0, 0, 1}},
    {0}};
static const sim_schema units_schema = {
    .name = "units", .doc = "units of all numbers", .fields = units_fields, .size = sizeof(sim_units)};

static const sim_field output_fields[] = {{"snapshots", SIM_CADENCE,
                                           "when the particles or grids are written (openPMD)",
                                           offsetof(sim_output, snapshots), .initial = "ends"},
                                          {"tables", SIM_CADENCE, "when the observables are computed and written",
                                           offsetof(sim_output, tables), .initial = "every 100 steps"},
                                          {"checkpoint", SIM_CADENCE, "when the whole state is saved for a restart",
                                           offsetof(sim_output, checkpoint), .initial = "every 5 min"},
                                          {0}};
static const sim_schema output_schema = {
    .name = "output", .doc = "cadences", .fields = output_fields, .size = sizeof(sim_output)};

static const sim_field common_fields[] = {
    {"title", SIM_STRING, "what this run is about; goes into every file", offsetof(sim_common, title),
     .flags = SIM_MAY_CHANGE},
    {"author", SIM_STRING, "who runs it; goes into every file", offsetof(sim_common, author), .flags = SIM_MAY_CHANGE},
    {"seed", SIM_INT, "seed of all random numbers", offsetof(sim_common, seed), .flags = SIM_UNSIGNED, .initial = "0"},
    {"precision", SIM_CHOICE, "fp32; fp64 state with fp32 pair terms; or fp64 throughout",
     offsetof(sim_common, precision), .choices = precisions, .initial = "double"},
    {"units", SIM_TABLE, "what the numbers are measured in; none: pure numbers", offsetof(sim_common, units),
     .flags = SIM_OPTIONAL, .table = &units_schema},
    {"output", SIM_TABLE, "what is written, and when", offsetof(sim_common, output), .flags = SIM_MAY_CHANGE,
     .table = &output_schema},
    {0}};
const sim_schema sim_common_schema = {
    .name = "", .doc = "parameters of every model", .fields = common_fields, .size = sizeof(sim_common)};

sim_status sim_model_decode(const sim_model *model, const sim_value *value, void **out, sim_faults *faults) {
  *out = calloc(1, model->parameters->size);
  if (!*out) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the scenario's parameters");
  /* The units first: all other numbers may be given in them. Their faults are reported with the rest. */
  sim_common units = {0};
  sim_faults ignored = {0};
  const sim_value *given = sim_value_get(value, "units");
  sim_status status = SIM_OK;
  if (given && given->kind == SIM_VALUE_TABLE) {
    status = sim_schema_decode(&units_schema, given, &units.units, &units.units, &ignored);
    units.units.given = ignored.count == 0;
  }
  sim_faults_free(&ignored);
  if (status == SIM_OK) status = sim_schema_decode(model->parameters, value, &units.units, *out, faults);
  if (status == SIM_OK && faults->count == 0 && model->validate) status = model->validate(*out, faults);
  return status;
}

void sim_model_parameters_free(const sim_model *model, void **parameters) {
  if (!*parameters) return;
  sim_schema_free(model->parameters, *parameters);
  free(*parameters);
  *parameters = NULL;
}

void sim_particles_free(sim_particles *particles) {
  free(particles->mass);
  for (int i = 0; i < 3; i++) {
    free(particles->position[i]);
    free(particles->velocity[i]);
  }
  *particles = (sim_particles){0};
}

static void add_in(sim_plan *plan, const char *what, double bytes, sim_space space) {
  size_t most = sizeof plan->items / sizeof plan->items[0], i = plan->count;
  if (i == most) /* the last item of its kind takes what has no room of its own */
    for (i = most - 1; i > 0 && plan->items[i].space != space; i--) {}
  else
    plan->items[plan->count++].bytes = 0;
  snprintf(plan->items[i].what, sizeof plan->items[i].what, "%s", what);
  plan->items[i].bytes += bytes;
  plan->items[i].space = space;
}

void sim_plan_add(sim_plan *plan, const char *what, double bytes) { add_in(plan, what, bytes, plan->space); }

void sim_plan_add_host(sim_plan *plan, const char *what, double bytes) { add_in(plan, what, bytes, SIM_SPACE_HOST); }

double sim_plan_bytes(const sim_plan *plan, sim_space space) {
  double total = 0;
  for (size_t i = 0; i < plan->count; i++)
    if (plan->items[i].space == space) total += plan->items[i].bytes;
  return total;
}

double sim_plan_total(const sim_plan *plan) {
  double total = 0;
  for (size_t i = 0; i < plan->count; i++) total += plan->items[i].bytes;
  return total;
}
