#include "engine/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const precisions[] = {"single", "mixed", "double", "half", NULL};

const char *sim_precision_name(sim_precision precision) { return precisions[precision]; }

static const sim_field units_fields[] = {
    {"length", SIM_UNIT, "unit of length", offsetof(sim_units, length), .flags = SIM_REQUIRED, .dimension = {1, 0, 0}},
    {"mass", SIM_UNIT, "unit of mass", offsetof(sim_units, mass), .flags = SIM_REQUIRED, .dimension = {0, 1, 0}},
    {"time", SIM_UNIT, "unit of time", offsetof(sim_units, time), .flags = SIM_REQUIRED, .dimension = {0, 0, 1}},
    {0}};
static const sim_schema units_schema = {SIM_SCHEMA(sim_units, "units", "units of all numbers", units_fields)};

static const sim_schema *const slice_variants[] = {&sim_slice_schema, NULL};
static const sim_field output_fields[] = {
    {"snapshots", SIM_CADENCE, "cadence of snapshots of particles or grids (openPMD)", offsetof(sim_output, snapshots),
     .initial = "ends"},
    {"tables", SIM_CADENCE, "cadence of the tables of observables", offsetof(sim_output, tables),
     .initial = "every 100 steps"},
    {"checkpoint", SIM_CADENCE, "cadence of checkpoints, from which a run continues", offsetof(sim_output, checkpoint),
     .initial = "every 5 min"},
    {"slices", SIM_LIST, "parts of the grid, each with its own cadence", offsetof(sim_output, slices),
     .variants = slice_variants},
    {"fields", SIM_STRING,
     "names of derived fields that snapshots and slices have too; fluids: \"vorticity, q, shear\"; diffusion: "
     "functions "
     "of `derived` and `observe`",
     offsetof(sim_output, fields)},
    {0}};
static const sim_schema output_schema = {SIM_SCHEMA(sim_output, "output", "cadences", output_fields)};

static const sim_signature stop_signature = {
    .record = true, .parameter = "o", .outputs = {1}, .condition = true, .returns = "o.COLUMN of any table"};

static const sim_field common_fields[] = {
    {"title", SIM_STRING, "title of the run, written to every file", offsetof(sim_common, title),
     .flags = SIM_MAY_CHANGE},
    {"author", SIM_STRING, "author of the run, written to every file", offsetof(sim_common, author),
     .flags = SIM_MAY_CHANGE},
    {"seed", SIM_INT, "seed of all random numbers", offsetof(sim_common, seed), .flags = SIM_UNSIGNED, .initial = "0"},
    {"precision", SIM_CHOICE,
     "single: fp32; mixed: fp64 state and sums, pair terms or paths in fp32; double: fp64; half: fp16 state, terms in "
     "fp32",
     offsetof(sim_common, precision), .choices = precisions, .initial = "double"},
    {"units", SIM_STRUCT, "units of all numbers; none: dimensionless", offsetof(sim_common, units),
     .flags = SIM_OPTIONAL, .table = &units_schema},
    {"output", SIM_STRUCT, "outputs and their cadences", offsetof(sim_common, output), .flags = SIM_MAY_CHANGE,
     .table = &output_schema},
    {"stop_when", SIM_FUNCTION, "condition that ends the run, tested on each row of the tables",
     offsetof(sim_common, stop_when), .signature = &stop_signature},
    {0}};
const sim_schema sim_common_schema = {SIM_SCHEMA(sim_common, "", "parameters of every model", common_fields)};

static void note_input(sim_bytes *inputs, const char *path) {
  const char *data = (const char *)inputs->data;
  for (size_t at = 0; at < inputs->size; at += strlen(data + at) + 1)
    if (strcmp(data + at, path) == 0) return;
  sim_bytes_add(inputs, path, strlen(path) + 1);
}

sim_status sim_setup_path(const sim_setup *setup, const char *path, char out[4096]) {
  const bool alone = path[0] == '/' || setup->folder == NULL || setup->folder[0] == '\0';
  const int length = alone ? snprintf(out, 4096, "%s", path) : snprintf(out, 4096, "%s/%s", setup->folder, path);
  if (length >= 4096) return sim_fail(SIM_ERR_SCENARIO, "the path is too long: %d characters", length);
  if (setup->inputs) note_input(setup->inputs, out);
  return SIM_OK;
}

const sim_table *const *sim_model_tables(const sim_model *model, const void *parameters) {
  return model->tables_of ? model->tables_of(parameters) : model->tables;
}

bool sim_model_runs(const sim_model *model, sim_backend_kind kind, const char **reason) {
  const sim_model_backend *backend = &model->backends[kind];
  const char *why = backend->reason ? backend->reason : "the model has no operations for it";
#ifdef SIM_HAS_CUDA
  const bool built = true;
#else
  const bool built = kind != SIM_BACKEND_CUDA;
  if (backend->runs && !built) why = "this build has no CUDA backend";
#endif
  if (reason) *reason = why;
  return backend->runs && built;
}

/* ---- stop_when ---- */

/* Names that stop_when may use; `room` stores the names that have a table's name in front. */
typedef struct stop_names {
  const char *names[SIM_EXPR_INPUTS_MAX + 1];
  char room[SIM_EXPR_INPUTS_MAX][SIM_EXPR_NAME_MAX + 1];
  size_t count;
} stop_names;

static bool in_other_table(const sim_table *const *tables, const sim_table *own, const char *name) {
  for (; *tables; tables++)
    for (const sim_field *column = (*tables)->columns; *tables != own && column->name; column++)
      if (strcmp(column->name, name) == 0) return true;
  return false;
}

static sim_status add_name(stop_names *names, const char *table, const char *column) {
  if (names->count == SIM_EXPR_INPUTS_MAX)
    return sim_fail(SIM_ERR_INTERNAL, "tables have more than %d columns together", SIM_EXPR_INPUTS_MAX - 2);
  char *room = names->room[names->count];
  int length = snprintf(room, sizeof names->room[0], "%s%s%s", table ? table : "", table ? "_" : "", column);
  if (length <= SIM_EXPR_NAME_MAX) names->names[names->count++] = room; /* longer names cannot be inputs */
  return SIM_OK;
}

static sim_status list_names(const sim_table *const *tables, stop_names *names) {
  SIM_TRY(add_name(names, NULL, "step"));
  SIM_TRY(add_name(names, NULL, "time"));
  for (const sim_table *const *table = tables; *table; table++)
    for (const sim_field *column = (*table)->columns; column->name; column++)
      SIM_TRY(add_name(names, in_other_table(tables, *table, column->name) ? (*table)->name : NULL, column->name));
  return SIM_OK;
}

/* Adds a fault if stop_when uses a column name that several tables have. */
static void check_ambiguous(const sim_expr *stop, const sim_table *const *tables, sim_faults *faults, int line) {
  for (int i = 0; i < sim_expr_input_count(stop); i++) {
    const char *name = sim_expr_input_name(stop, i);
    const sim_table *found[2];
    int count = 0;
    for (const sim_table *const *table = tables; *table && count < 2; table++)
      for (const sim_field *column = (*table)->columns; column->name && count < 2; column++)
        if (strcmp(column->name, name) == 0) found[count++] = *table;
    if (count == 2)
      sim_faults_add(faults, line, "stop_when", "the tables %s and %s both have a column %s: write %s_%s or %s_%s",
                     found[0]->name, found[1]->name, name, found[0]->name, name, found[1]->name, name);
  }
}

static sim_status bind_stop(const sim_model *model, sim_common *common, const sim_value *value, void *parameters,
                            sim_faults *faults) {
  const sim_value *given = sim_value_get(value, "stop_when");
  const sim_cadence_kind tables = common->output.tables.kind;
  int line = given ? given->line : 0;
  if (tables == SIM_NEVER || tables == SIM_EVERY_WALL)
    sim_faults_add(faults, line, "stop_when", "reads rows of tables: output.tables must be %s",
                   tables == SIM_NEVER ? "given" : "in steps or in simulated time");
  const size_t before = faults->count;
  check_ambiguous(common->stop_when, sim_model_tables(model, parameters), faults, line);
  if (faults->count != before) return SIM_OK;
  stop_names *names = calloc(1, sizeof *names);
  if (!names) return sim_no_memory("the scenario's parameters");
  sim_status status = list_names(sim_model_tables(model, parameters), names);
  sim_signature signature = stop_signature;
  signature.inputs = signature.must_depend = names->names;
  if (status == SIM_OK) status = sim_function_bind(&common->stop_when, &signature, faults, line, "stop_when");
  free(names);
  return status;
}

/* ---- output.fields ---- */

/* Takes the next name of a list with commas between names, without the blanks around it; *at is NULL behind the last.
 */
static void next_name(const char **at, const char **name, size_t *length) {
  static const char blanks[] = " \t\n";
  const char *end = *at + strcspn(*at, ",");
  *name = *at + strspn(*at, blanks);
  *at = *end ? end + 1 : NULL;
  while (end > *name && strchr(blanks, end[-1])) end--;
  *length = end > *name ? (size_t)(end - *name) : 0;
}

/* How often a list has a name. */
static int count_name(const char *list, const char *name, size_t length) {
  const char *found;
  size_t own;
  int count = 0;
  while (list) {
    next_name(&list, &found, &own);
    count += own == length && memcmp(found, name, length) == 0;
  }
  return count;
}

bool sim_output_has_field(const sim_output *output, const char *name) {
  return count_name(output->fields, name, strlen(name)) > 0;
}

void sim_output_check_fields(const sim_output *output, bool shown, sim_faults *faults) {
  if (output->fields && !shown && output->snapshots.kind == SIM_NEVER && output->slices.count == 0)
    sim_faults_add(faults, 0, "output.fields",
                   "has no effect: no output has fields: expected snapshots or slices, got snapshots = \"never\"");
}

static void check_fields(const sim_model *model, const void *parameters, const sim_output *output, sim_faults *faults) {
  const char *at = output->fields, *found, *offered[SIM_DERIVED_MAX];
  const int count = model->derived ? model->derived(parameters, offered) : 0;
  size_t length;
  while (at) {
    bool known = false;
    next_name(&at, &found, &length);
    char names[1024] = "";
    for (int i = 0; i < count; i++) {
      const size_t used = strlen(names);
      known = known || (strlen(offered[i]) == length && memcmp(found, offered[i], length) == 0);
      snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", offered[i]);
    }
    if (count == 0)
      sim_faults_add(faults, 0, "output.fields",
                     "expected no names: snapshots and slices of %ssim.%s have the fields of its state alone",
                     model->derived ? "this " : "", model->name);
    else if (length == 0)
      sim_faults_add(faults, 0, "output.fields", "expected names among %s, with commas between them: a name is missing",
                     names);
    else if (!known)
      sim_faults_add(faults, 0, "output.fields", "expected names among %s, with commas between them, got \"%.*s\"",
                     names, (int)(length < 60 ? length : 60), found);
    else if (count_name(output->fields, found, length) > 1)
      sim_faults_add(faults, 0, "output.fields", "has \"%.*s\" more than once", (int)length, found);
    if (!known || count_name(output->fields, found, length) > 1) return;
  }
}

/* ---- parameters ---- */

void sim_model_precisions(const sim_model *model, char *out, size_t capacity) {
  size_t used = 0;
  if (capacity) out[0] = '\0';
  for (int k = 0; k < SIM_PRECISIONS && used < capacity; k++)
    if (model->precisions[k])
      used += (size_t)snprintf(out + used, capacity - used, "%s\"%s\"", used ? " or " : "", precisions[k]);
}

static void check_precision(const sim_model *model, const sim_common *common, sim_faults *faults) {
  char offered[64];
  if (model->precisions[common->precision]) return;
  sim_model_precisions(model, offered, sizeof offered);
  const char *asked = precisions[common->precision];
  sim_faults_add(faults, 0, "precision", "expected %s, got \"%s\": sim.%s has no %s precision", offered, asked,
                 model->name, asked);
}

sim_status sim_model_decode(const sim_model *model, const sim_value *value, void **out, sim_faults *faults) {
  *out = calloc(1, model->parameters->size);
  if (!*out) return sim_no_memory("the scenario's parameters");
  /* The units are decoded first, because all other numbers may use them. Their faults are reported with the others. */
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
  faults->root = value;
  sim_common *common = *out;
  if (status == SIM_OK && faults->count == 0) {
    check_precision(model, common, faults);
    if (model->validate) status = model->validate(*out, faults);
    check_fields(model, *out, &common->output, faults);
  }
  if (status == SIM_OK && faults->count == 0) {
    sim_extent extent;
    if (model->extent) model->extent(*out, &extent);
    sim_slices_place(&common->output.slices, model->name, model->extent ? &extent : NULL, faults);
  }
  faults->root = NULL;
  if (status == SIM_OK && faults->count == 0 && common->stop_when)
    status = bind_stop(model, common, value, *out, faults);
  return status;
}

void sim_model_parameters_free(const sim_model *model, void **parameters) {
  if (!*parameters) return;
  if (model->release) model->release(*parameters);
  sim_schema_free(model->parameters, *parameters);
  free(*parameters);
  *parameters = NULL;
}

void sim_particles_free(sim_particles *particles) {
  free(particles->mass), free(particles->radius), free(particles->body), free(particles->temperature);
  for (int i = 0; i < 3; i++) {
    free(particles->position[i]);
    free(particles->velocity[i]), free(particles->spin[i]);
  }
  *particles = (sim_particles){0};
}

static void add_in(sim_plan *plan, const char *what, double bytes, sim_space space) {
  size_t most = sizeof plan->items / sizeof plan->items[0], i = plan->count;
  if (i == most) /* when all items are used, the last one of this memory space collects the rest */
    for (i = most - 1; i > 0 && plan->items[i].space != space; i--) {}
  else
    plan->items[plan->count++].bytes = 0;
  snprintf(plan->items[i].what, sizeof plan->items[i].what, "%s", what);
  plan->items[i].bytes += bytes;
  plan->items[i].space = space;
}

void sim_plan_add(sim_plan *plan, const char *what, double bytes) { add_in(plan, what, bytes, plan->space); }

double sim_plan_shares(const sim_plan *plan, int ranks) {
  if (plan->parts > 0) return plan->parts / ceil((double)plan->parts / ranks);
  return plan->most_ranks > 0 ? fmin(ranks, plan->most_ranks) : ranks;
}

void sim_plan_add_host(sim_plan *plan, const char *what, double bytes) { add_in(plan, what, bytes, SIM_SPACE_HOST); }

void sim_plan_add_file(sim_plan *plan, const char *name, double bytes) {
  if (plan->file_count == (int)(sizeof plan->files / sizeof plan->files[0])) return;
  snprintf(plan->files[plan->file_count].name, sizeof plan->files[0].name, "%s", name);
  plan->files[plan->file_count++].bytes = bytes;
}

double sim_plan_bytes(const sim_plan *plan, sim_space space) {
  double total = 0;
  for (size_t i = 0; i < plan->count; i++)
    if (plan->items[i].space == space) total += plan->items[i].bytes;
  return total;
}

double sim_plan_host_bytes(const sim_plan *plan, int ranks, double more) {
  return (sim_plan_bytes(plan, SIM_SPACE_HOST) + more) * ranks - plan->first_bytes * (ranks - 1);
}
