/* Prints what the models' tables say: sim list, describe, new; and sim info. */
#include "cli/show.h"

#include "build_info.h"
#include "cli/run/launcher.h"
#include "io/io.h"
#include "lua/scenario.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

const char cli_version_text[] = SIM_VERSION, cli_revision_text[] = SIM_REVISION,
           cli_compiler_text[] = SIM_COMPILER " " SIM_BUILD_TYPE;

void cli_version(void) { printf("sim %s (%s)\n", SIM_VERSION, SIM_REVISION); }

sim_status cli_list(void) {
  for (const sim_model *const *model = sim_models; *model; model++) {
    printf("%-12s %s [", (*model)->name, (*model)->doc);
    const char *comma = "";
    for (const sim_backend *const *backend = sim_backends; *backend; backend++) {
      if (!sim_model_runs(*model, (*backend)->kind, NULL)) continue;
      printf("%s%s", comma, (*backend)->name);
      comma = ", ";
    }
    puts("]");
  }
  return SIM_OK;
}

sim_status cli_find_model(const char *name, const sim_model **out) {
  const char *names[64];
  size_t count = 0;
  for (const sim_model *const *model = sim_models; *model && count < 64; model++) names[count++] = (*model)->name;
  *out = sim_model_find(name);
  if (*out) return SIM_OK;
  const char *nearest = sim_nearest(name, names, count);
  return sim_fail(SIM_ERR_USAGE, "no model '%s'%s%s (see sim list)", name, nearest ? ", nearest is " : "",
                  nearest ? nearest : "");
}

/* ---- describe ---- */

void cli_dimension_text(sim_dimension d, char *out, size_t capacity) {
  static const char *const names[] = {"length", "mass", "time"};
  int powers[] = {d.length, d.mass, d.time};
  size_t used = 0;
  out[0] = '\0';
  for (int i = 0; i < 3 && used < capacity; i++) {
    if (!powers[i]) continue;
    int n = powers[i] == 1 ? snprintf(out + used, capacity - used, "%s%s", used ? " " : "", names[i])
                           : snprintf(out + used, capacity - used, "%s%s^%d", used ? " " : "", names[i], powers[i]);
    used += (size_t)n;
  }
}

void cli_type_text(const sim_field *field, char *out, size_t capacity) {
  static const char *const names[] = {
      [SIM_BOOL] = "true or false", [SIM_INT] = "integer",
      [SIM_REAL] = "number",        [SIM_CHOICE] = "",
      [SIM_STRING] = "string",      [SIM_UNIT] = "unit",
      [SIM_CADENCE] = "cadence",    [SIM_STRUCT] = "table",
      [SIM_LIST] = "list",          [SIM_NUMBERS] = "list of rows",
      [SIM_FUNCTION] = "",          [SIM_FUNCTION_MAP] = "names with ",
  };
  char dimension[64];
  cli_dimension_text(field->dimension, dimension, sizeof dimension);
  size_t used =
      (size_t)snprintf(out, capacity, "%s%s",
                       field->flags & SIM_OR_NUMBER && field->flags & SIM_OR_FILE ? "number, path of a text file, or "
                       : field->flags & SIM_OR_NUMBER                             ? "number or "
                       : field->flags & SIM_OR_BOOL                               ? "true, false or "
                       : field->flags & SIM_OR_FILE                               ? "path of a text file, or "
                                                                                  : "",
                       names[field->type]);
  if (field->signature && used < capacity) {
    sim_signature_text(field->signature, out + used, capacity - used);
    used = strlen(out);
  }
  for (int i = 0; field->type == SIM_CHOICE && field->choices[i] && used < capacity; i++)
    used += (size_t)snprintf(out + used, capacity - used, "%s\"%s\"", i ? " | " : "", field->choices[i]);
  if (field->components > 1 && used < capacity)
    used += (size_t)snprintf(out + used, capacity - used, " x %d", field->components);
  if (field->keyword && used < capacity)
    used += (size_t)snprintf(out + used, capacity - used, " or \"%s\"", field->keyword);
  if (*dimension && used < capacity) used += (size_t)snprintf(out + used, capacity - used, ", %s", dimension);
  if (field->flags & SIM_RANGE && used < capacity) {
    if (isfinite(field->min) && used < capacity)
      used += (size_t)snprintf(out + used, capacity - used, ", %s %.15g",
                               field->flags & SIM_MIN_OPEN ? ">" : ">=", field->min);
    if (isfinite(field->max) && used < capacity)
      snprintf(out + used, capacity - used, ", %s %.15g", field->flags & SIM_MAX_OPEN ? "<" : "<=", field->max);
  }
}

void cli_need_text(const sim_field *field, char *out, size_t capacity) {
  const bool may_lack = field->flags & SIM_OPTIONAL || field->type == SIM_STRING || field->type == SIM_FUNCTION ||
                        field->type == SIM_FUNCTION_MAP;
  if (field->initial && !(field->flags & SIM_REQUIRED))
    snprintf(out, capacity, "default %s", field->initial);
  else
    snprintf(out, capacity, "%s", field->flags & SIM_REQUIRED ? "required" : may_lack ? "optional" : "");
}

static void describe_schema(const sim_schema *schema, int depth);

static void describe_field(const sim_field *field, int depth);

static const char *variant_name(const sim_schema *variant) { return *variant->name ? variant->name : "plain tables"; }

/* Prints the variants of a list. Parameters that most variants share are printed once, after the variants. */
static void describe_variants(const sim_field *field, int depth) {
  const sim_schema *shared = field->variants[0]->base;
  for (const sim_schema *const *variant = field->variants; *variant; variant++) {
    const sim_schema *base = (*variant)->base;
    printf("%*s%s%s { }   %s\n", 2 * depth, "", *(*variant)->name ? "sim." : "a plain table", (*variant)->name,
           (*variant)->doc);
    for (const sim_field *own = (*variant)->fields; own->name; own++) describe_field(own, depth + 1);
    if (base && base != shared) describe_schema(base, depth + 1);
  }
  if (!shared) return;
  printf("%*salso in", 2 * depth, "");
  const char *comma = " ";
  for (const sim_schema *const *variant = field->variants; *variant; variant++) {
    if ((*variant)->base != shared) continue;
    printf("%s%s", comma, variant_name(*variant));
    comma = ", ";
  }
  puts(":");
  describe_schema(shared, depth + 1);
}

static void describe_field(const sim_field *field, int depth) {
  char type[800], need[400];
  cli_type_text(field, type, sizeof type);
  cli_need_text(field, need, sizeof need);
  int width = 20 - 2 * depth;
  printf("%*s%-*s %s\n", 2 * depth, "", width > 1 ? width : 1, field->name, field->doc);
  printf("%24s%s%s%s\n", "", type, *need ? "; " : "", need);
  if (field->type == SIM_STRUCT) describe_schema(field->table, depth + 1);
  if (field->type == SIM_LIST) describe_variants(field, depth + 1);
}

static void describe_schema(const sim_schema *schema, int depth) {
  for (const sim_field *field = schema->fields; field->name; field++) describe_field(field, depth);
  if (schema->base) describe_schema(schema->base, depth);
}

static void describe_columns(const char *name, const char *doc, const sim_field *fields) {
  printf("  %s   %s\n", name, doc);
  for (const sim_field *field = fields; field->name; field++) {
    char dimension[64];
    cli_dimension_text(field->dimension, dimension, sizeof dimension);
    printf("    %-18s %s%s%s%s\n", field->name, field->doc, *dimension ? " [" : "", dimension, *dimension ? "]" : "");
  }
}

sim_status cli_describe(const char *name) {
  const sim_model *model;
  SIM_TRY(cli_find_model(name, &model));
  printf("sim.%s { }   %s\n\nPrecisions:", model->name, model->doc);
  for (int k = 0; k < SIM_PRECISIONS; k++)
    if (model->precisions[k]) printf(" %s", sim_precision_name((sim_precision)k));
  puts("\n\nParameters");
  describe_schema(model->parameters, 1);
  puts("\nTables (tables.h5), each with step and time");
  for (const sim_table *const *table = model->tables; *table; table++)
    describe_columns((*table)->name, (*table)->doc, (*table)->columns);
  if (model->described && *model->tables) puts("  and where the scenario asks for them (capitals: names of its own)");
  for (const sim_table *const *table = model->described; table && *table; table++)
    describe_columns((*table)->name, (*table)->doc, (*table)->columns);
  puts("\nState");
  describe_columns("arrays", "as in snapshots and checkpoints", model->state);
  puts("\nReferences");
  for (const char *const *reference = model->references; *reference; reference++) printf("  %s\n", *reference);
  return SIM_OK;
}

sim_status cli_new(const char *name) {
  const sim_model *model;
  SIM_TRY(cli_find_model(name, &model));
  fputs(model->example, stdout);
  printf("\n-- All parameters, their defaults and units: sim describe %s\n", model->name);
  return SIM_OK;
}

/* ---- info ---- */

sim_status cli_info(void) {
  char text[256], memory[32];
  printf("sim        %s (%s)\n", SIM_VERSION, SIM_REVISION);
  printf("built with %s, %s\n", SIM_COMPILER, SIM_BUILD_TYPE);
  printf("libraries  %s, %s, OpenMP %d\n", io_library_versions(), scenario_library_version(), _OPENMP);
  for (const sim_backend *const *backend = sim_backends; *backend; backend++) {
    const char *reason = (*backend)->unavailable();
    int listed = 0;
    char line[768];
    if ((*backend)->list)
      for (; (*backend)->list(listed, line, sizeof line); listed++) printf("%-10s %s\n", (*backend)->name, line);
    if (listed) continue;
    if (reason) {
      printf("%-10s not usable: %s\n", (*backend)->name, reason);
      continue;
    }
    (*backend)->describe(text, sizeof text);
    cli_bytes((double)(*backend)->memory_free(), memory, sizeof memory);
    printf("%-10s %s, %s free\n", (*backend)->name, text, memory);
  }
  cli_mpi_info();
  printf("threads    %d\n", omp_get_max_threads());
  puts("random     Philox4x32-10; of option also MRG32k3a, the numbers of cuRAND's curandStateMRG32k3a");
  printf("isa        %s (of avx512, avx2, plain)\n", sim_isa_name(sim_isa_best()));
  printf("models    ");
  for (const sim_model *const *model = sim_models; *model; model++) printf(" %s", (*model)->name);
  puts("");
  return SIM_OK;
}
