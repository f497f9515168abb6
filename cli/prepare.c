#include "cli/prepare.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { NAMES_MAX = 128 };

const sim_common *cli_common(const cli_job *job) { return job->parameters; }

/* ---- scenario ---- */

/* Names of all sim.NAME that make a table: the models, and every variant that their lists take. */
static size_t constructor_names(const sim_schema *schema, const char **names, size_t count) {
  if (schema->base) count = constructor_names(schema->base, names, count);
  for (const sim_field *field = schema->fields; field->name; field++) {
    if (field->type == SIM_TABLE) count = constructor_names(field->table, names, count);
    if (field->type != SIM_LIST) continue;
    for (const sim_schema *const *variant = field->variants; *variant; variant++) {
      bool known = !*(*variant)->name || strcmp((*variant)->name, "each") == 0; /* sim.each is the language's own */
      for (size_t i = 0; i < count && !known; i++) known = strcmp(names[i], (*variant)->name) == 0;
      if (!known && count < NAMES_MAX) names[count++] = (*variant)->name;
      count = constructor_names(*variant, names, count);
    }
  }
  return count;
}

/* Puts `value` in place of the scenario's own; takes it over. */
static sim_status override(sim_value *table, const char *key, sim_value *value) {
  for (size_t i = 0; value && i < table->u.table.count; i++) {
    sim_entry *entry = &table->u.table.entries[i];
    if (!entry->key || strcmp(entry->key, key) != 0) continue;
    sim_value_free(&entry->value);
    entry->value = value;
    return SIM_OK;
  }
  return sim_value_add(table, key, 0, value);
}

static sim_status decode(cli_job *job, const char *file, const sim_value *value) {
  sim_faults faults = {.file = file};
  sim_status status = sim_model_decode(job->model, value, &job->parameters, &faults);
  if (status == SIM_OK && faults.count) {
    size_t shown = 0;
    for (const char *at = faults.text.data; at && *at; at++) shown += *at == '\n';
    if (faults.text.data) fputs(faults.text.data, stderr);
    if (faults.count > shown) fprintf(stderr, "%s: and %zu more\n", file, faults.count - shown);
    sim_error_clear();
    status = SIM_ERR_SCENARIO;
  }
  sim_faults_free(&faults);
  if (status != SIM_OK) return status;
  job->resolved = sim_schema_encode(job->model->parameters, job->parameters);
  if (job->resolved) {
    sim_value_write(job->resolved, &job->blob);
    sim_value_json(job->resolved, 1000, &job->json);
  }
  if (!job->resolved || job->blob.failed || job->json.failed)
    return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the scenario's parameters");
  return SIM_OK;
}

sim_status cli_prepare_scenario(cli_job *job) {
  const cli_options *options = job->options;
  const char *models[NAMES_MAX + 1] = {0}, *constructors[NAMES_MAX + 1] = {0};
  size_t count = 0;
  for (const sim_model *const *model = sim_models; *model && count < NAMES_MAX; model++)
    models[count++] = (*model)->name;
  memcpy(constructors, models, sizeof models);
  for (const sim_model *const *model = sim_models; *model; model++)
    count = constructor_names((*model)->parameters, constructors, count);
  scenario_options language = {.constructors = constructors,
                               .models = models,
                               .sets = options->sets,
                               .seconds = options->lua_seconds,
                               .memory = (size_t)128 << 20};
  SIM_TRY(scenario_load(options->target, &language, &job->source));
  job->model = sim_model_find(job->source.value->u.table.tag);
  if (!job->model) return sim_fail(SIM_ERR_INTERNAL, "the scenario's model is not registered");
  if (options->precision)
    SIM_TRY(override(job->source.value, "precision", sim_value_string(options->precision, strlen(options->precision))));
  if (options->seed_given) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)options->seed);
    sim_value *seed =
        options->seed <= INT64_MAX ? sim_value_int((int64_t)options->seed) : sim_value_string(text, strlen(text));
    SIM_TRY(override(job->source.value, "seed", seed));
  }
  const char *slash = strrchr(options->target, '/');
  int length = slash ? (int)(slash - options->target) + 1 : 0;
  snprintf(job->folder, sizeof job->folder, "%.*s", length, options->target);
  job->setup.folder = job->folder;
  SIM_TRY(decode(job, options->target, job->source.value));
  return SIM_OK;
}

sim_status cli_prepare_saved(cli_job *job) {
  job->model = sim_model_find(job->saved.model);
  if (!job->model)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: a run of the model '%s', which this build does not have",
                    job->saved.path, job->saved.model);
  job->setup.folder = job->folder;
  /* The scenario goes on as a text alone: it goes into every file. */
  job->source.text = job->saved.scenario_text;
  job->source.path = job->saved.scenario_path;
  job->source.size = job->saved.scenario_size;
  job->saved.scenario_text = job->saved.scenario_path = NULL;
  sim_status status = decode(job, job->saved.path, job->saved.parameters);
  if (status == SIM_ERR_SCENARIO)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: its parameters are not those of this version", job->saved.path);
  return status;
}

/* Path of the first difference of two trees, into path[capacity]; false where they are the same. */
static bool difference(const sim_value *a, const sim_value *b, char *path, size_t capacity) {
  sim_bytes left = {0}, right = {0};
  sim_value_write(a, &left);
  sim_value_write(b, &right);
  bool same = !left.failed && !right.failed && left.size == right.size && memcmp(left.data, right.data, left.size) == 0;
  sim_bytes_free(&left);
  sim_bytes_free(&right);
  if (same) return false;
  if (a->kind != SIM_VALUE_TABLE || b->kind != SIM_VALUE_TABLE) return true;
  for (size_t i = 0; i < a->u.table.count && i < b->u.table.count; i++) {
    const sim_entry *entry = &a->u.table.entries[i], *other = &b->u.table.entries[i];
    size_t used = strlen(path);
    if (entry->key)
      snprintf(path + used, capacity - used, "%s%s", used ? "." : "", entry->key);
    else
      snprintf(path + used, capacity - used, "[%zu]", i + 1);
    if (difference(entry->value, other->value, path, capacity)) return true;
    path[used] = '\0';
  }
  return true;
}

sim_status cli_prepare_same(const cli_job *job) {
  char path[256] = "";
  if (strcmp(job->saved.model, job->model->name) != 0)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: of the model '%s', but the scenario is of '%s'", job->saved.path,
                    job->saved.model, job->model->name);
  if (!difference(job->resolved, job->saved.parameters, path, sizeof path)) return SIM_OK;
  return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: of another scenario: '%s' differs", job->saved.path, path);
}

sim_status cli_of_scenario(const cli_job *job, sim_status status) {
  return status == SIM_ERR_SCENARIO ? sim_fail_context("%s", job->source.path) : status;
}

/* ---- device, memory ---- */

sim_status cli_prepare_device(cli_job *job) {
  const cli_options *options = job->options;
  sim_setup *setup = &job->setup;
  SIM_TRY(sim_backend_select(options->device, &setup->backend));
  if (!job->model->ops[setup->backend->kind])
    return sim_fail(SIM_ERR_NO_DEVICE, "model '%s' does not run on %s", job->model->name, setup->backend->name);
  setup->isa = options->isa;
  setup->threads = options->threads ? options->threads : omp_get_max_threads();
  setup->read_particles = io_read_particles;
  setup->count_particles = io_count_particles;
  char name[160];
  setup->backend->describe(name, sizeof name);
  snprintf(job->device, sizeof job->device, "%s, %d thread%s, %s", name, setup->threads, setup->threads == 1 ? "" : "s",
           sim_isa_name(setup->isa));
  if (job->has_saved) setup->saved = &job->saved.frame;
  SIM_TRY(cli_of_scenario(job, job->model->plan(job->parameters, setup, &job->plan)));
  if (job->has_saved) sim_plan_add(&job->plan, "checkpoint being read", job->plan.checkpoint_bytes);
  struct rusage here;
  if (getrusage(RUSAGE_SELF, &here) == 0)
    sim_plan_add(&job->plan, "program and libraries", 1024. * (double)here.ru_maxrss);
  return SIM_OK;
}

sim_status cli_prepare_memory(const cli_job *job) {
  double total = sim_plan_total(&job->plan);
  size_t available = job->setup.backend->memory_free();
  if (total <= (double)available) return SIM_OK;
  char wanted[32], here[32], items[512] = "", size[32];
  cli_bytes(total, wanted, sizeof wanted);
  cli_bytes((double)available, here, sizeof here);
  size_t used = 0;
  for (size_t i = 0; i < job->plan.count && used < sizeof items; i++) {
    cli_bytes(job->plan.items[i].bytes, size, sizeof size);
    used +=
        (size_t)snprintf(items + used, sizeof items - used, "%s%s %s", i ? ", " : "", job->plan.items[i].what, size);
  }
  return sim_fail(SIM_ERR_NO_MEMORY, "the run needs %s, %s are free: %s", wanted, here, items);
}

void cli_prepare_free(cli_job *job) {
  if (job->model) sim_model_parameters_free(job->model, &job->parameters);
  sim_value_free(&job->resolved);
  sim_bytes_free(&job->blob);
  sim_bytes_free(&job->json);
  scenario_free(&job->source);
  if (job->has_saved) io_checkpoint_free(&job->saved);
}
