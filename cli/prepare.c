#include "cli/prepare.h"

#include "cli/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { NAMES_MAX = 128 };

const sim_common *cli_common(const cli_job *job) { return job->parameters; }

/* ---- scenario ---- */

/* Adds the names of all constructors sim.NAME of a schema: the variants of its lists. */
static size_t constructor_names(const sim_schema *schema, const char **names, size_t count) {
  if (schema->base) count = constructor_names(schema->base, names, count);
  for (const sim_field *field = schema->fields; field->name; field++) {
    if (field->type == SIM_STRUCT) count = constructor_names(field->table, names, count);
    if (field->type != SIM_LIST) continue;
    for (const sim_schema *const *variant = field->variants; *variant; variant++) {
      bool known = !*(*variant)->name || strcmp((*variant)->name, "each") == 0; /* sim.each belongs to the language */
      for (size_t i = 0; i < count && !known; i++) known = strcmp(names[i], (*variant)->name) == 0;
      if (!known && count < NAMES_MAX) names[count++] = (*variant)->name;
      count = constructor_names(*variant, names, count);
    }
  }
  return count;
}

/* Replaces the value of a key in the scenario's table by `value`; takes ownership. */
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

/* Sets integrate.dt of the scenario. */
static sim_status override_step(sim_value *table, double dt) {
  for (size_t i = 0; i < table->u.table.count; i++) {
    const sim_entry *entry = &table->u.table.entries[i];
    if (entry->key && strcmp(entry->key, "integrate") == 0 && entry->value->kind == SIM_VALUE_TABLE)
      return override(entry->value, "dt", sim_value_real(dt));
  }
  return sim_fail(SIM_ERR_INTERNAL, "the scenario has no table integrate");
}

/* Refuses --precision with a message about the option: decoding would name a line of the scenario, which has no
 * fault. */
static sim_status check_precision(const sim_model *model, const char *asked) {
  char offered[64];
  for (int k = 0; k < SIM_PRECISIONS; k++)
    if (model->precisions[k] && strcmp(sim_precision_name((sim_precision)k), asked) == 0) return SIM_OK;
  sim_model_precisions(model, offered, sizeof offered);
  return sim_fail(SIM_ERR_USAGE, "--precision: expected %s, got \"%s\": sim.%s has no %s precision", offered, asked,
                  model->name, asked);
}

static sim_status decode(cli_job *job, const char *file, const sim_value *value) {
  sim_faults faults = {.file = file};
  sim_status status = sim_model_decode(job->model, value, &job->parameters, &faults);
  if (status == SIM_OK && faults.count) {
    size_t shown = 0;
    for (char *at = faults.text.data, *end; at && (end = strchr(at, '\n')); at = end + 1, shown++) {
      *end = '\0';
      cli_report(SIM_ERR_SCENARIO, at, job->options->log_json);
    }
    char more[128];
    snprintf(more, sizeof more, "and %zu more faults", faults.count - shown);
    if (faults.count > shown) cli_report(SIM_ERR_SCENARIO, more, job->options->log_json);
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
  if (!job->resolved || job->blob.failed || job->json.failed) return sim_no_memory("the scenario's parameters");
  cli_log_functions(job);
  return SIM_OK;
}

/* Reads text files of numbers. If a file is missing, tells how to continue a run that has begun: its checkpoints hold
 * the rows. */
static sim_status read_rows(cli_job *job) {
  const sim_status status = cli_read_rows(job->model->parameters, job->folder, job->source.value, &job->rows);
  const sim_error cause = *sim_error_last();
  struct stat info;
  if (status != SIM_ERR_NO_INPUT || job->options->resume == CLI_RESUME_NO) return status;
  SIM_TRY(cli_prepare_output(job, ".out"));
  if (stat(job->output, &info) != 0) return status;
  return sim_fail_at(status, cause.file, cause.line, "%.600s; sim resume %.300s goes on without this file",
                     cause.message, job->output);
}

/* Names, values and limits of the scenario language. */
static scenario_options language_of(const cli_options *options) {
  static const char *models[NAMES_MAX + 1], *constructors[NAMES_MAX + 1];
  if (!*models) {
    size_t count = 0;
    for (const sim_model *const *model = sim_models; *model && count < NAMES_MAX; model++)
      models[count++] = (*model)->name;
    memcpy(constructors, models, sizeof models);
    for (const sim_model *const *model = sim_models; *model; model++)
      count = constructor_names((*model)->parameters, constructors, count);
  }
  return (scenario_options){.constructors = constructors,
                            .models = models,
                            .sets = options->sets,
                            .seconds = options->lua_seconds,
                            .memory = (size_t)128 << 20};
}

void cli_prepare_language(const cli_options *options) {
  const scenario_options language = language_of(options);
  scenario_prepare(&language);
}

sim_status cli_prepare_scenario(cli_job *job) {
  const cli_options *options = job->options;
  const scenario_options language = language_of(options);
  SIM_TRY(scenario_load(options->target, &language, &job->source));
  job->model = sim_model_find(job->source.value->u.table.tag);
  if (!job->model) return sim_fail(SIM_ERR_INTERNAL, "the scenario's model is not registered");
  if (options->precision) {
    SIM_TRY(check_precision(job->model, options->precision));
    SIM_TRY(override(job->source.value, "precision", sim_value_string(options->precision, strlen(options->precision))));
  }
  if (options->seed_given) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)options->seed);
    sim_value *seed =
        options->seed <= INT64_MAX ? sim_value_int((int64_t)options->seed) : sim_value_string(text, strlen(text));
    SIM_TRY(override(job->source.value, "seed", seed));
  }
  if (job->dt > 0) SIM_TRY(override_step(job->source.value, job->dt));
  const char *slash = strrchr(options->target, '/');
  const int length = slash == options->target ? 1 : slash ? (int)(slash - options->target) : 0;
  snprintf(job->folder, sizeof job->folder, "%.*s", length, options->target);
  job->setup.folder = job->folder;
  SIM_TRY(read_rows(job));
  SIM_TRY(decode(job, options->target, job->source.value));
  return SIM_OK;
}

sim_status cli_prepare_saved(cli_job *job) {
  job->model = sim_model_find(job->saved.model);
  if (!job->model)
    return sim_fail(SIM_ERR_INCOMPATIBLE,
                    "%s: a run of the model '%s', which this build lacks: resume it with a build that has it",
                    job->saved.path, job->saved.model);
  job->setup.folder = job->folder;
  /* of the scenario only the text is still needed, for the files */
  job->source.text = job->saved.scenario_text;
  job->source.path = job->saved.scenario_path;
  job->source.size = job->saved.scenario_size;
  job->saved.scenario_text = job->saved.scenario_path = NULL;
  sim_status status = decode(job, job->saved.path, job->saved.parameters);
  if (status == SIM_ERR_SCENARIO)
    return sim_fail(SIM_ERR_INCOMPATIBLE,
                    "%s: its parameters do not fit this version: resume it with the version that started the run, or "
                    "start a new run with --force",
                    job->saved.path);
  return status;
}

static bool same_value(const sim_value *a, const sim_value *b) {
  if (!a || !b) return a == b;
  sim_bytes left = {0}, right = {0};
  sim_value_write(a, &left);
  sim_value_write(b, &right);
  bool same = !left.failed && !right.failed && left.size == right.size && memcmp(left.data, right.data, left.size) == 0;
  sim_bytes_free(&left);
  sim_bytes_free(&right);
  return same;
}

/* Finds the first parameter in which two resolved structs differ although a restart may not change it; writes
 * path[capacity]. */
static bool difference(const sim_schema *schema, const sim_value *a, const sim_value *b, char *path, size_t capacity) {
  if (schema->base && difference(schema->base, a, b, path, capacity)) return true;
  for (const sim_field *field = schema->fields; field->name; field++) {
    const sim_value *here = sim_value_get(a, field->name), *there = sim_value_get(b, field->name);
    if (field->flags & SIM_MAY_CHANGE || same_value(here, there)) continue;
    size_t used = strlen(path);
    snprintf(path + used, capacity - used, "%s%s", used ? "." : "", field->name);
    if (field->type != SIM_STRUCT || !here || !there || difference(field->table, here, there, path, capacity))
      return true;
    path[used] = '\0';
  }
  return false;
}

sim_status cli_prepare_same(const cli_job *job) {
  char path[256] = "";
  static const char what[] = "sim resume continues the original scenario; --force or another -o starts "
                             "this one";
  if (strcmp(job->saved.model, job->model->name) != 0)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: of the model '%s', but the scenario is of '%s': %s", job->saved.path,
                    job->saved.model, job->model->name, what);
  if (!difference(job->model->parameters, job->resolved, job->saved.parameters, path, sizeof path)) return SIM_OK;
  return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: of another scenario: '%s' differs; %s", job->saved.path, path, what);
}

sim_status cli_of_scenario(const cli_job *job, sim_status status) {
  return status == SIM_ERR_SCENARIO || status == SIM_ERR_NO_INPUT ? sim_fail_context("%s", job->source.path) : status;
}

/* ---- outputs, memory ---- */

double cli_times_due(const sim_cadence *cadence, const sim_plan *plan) {
  switch (cadence->kind) {
  case SIM_NEVER: return 0;
  case SIM_ENDS: return 2;
  case SIM_EVERY_TIME:
    return fmin(floor(plan->t_end / cadence->interval), isnan(plan->steps) ? INFINITY : plan->steps) + 1;
  case SIM_EVERY_STEPS: return floor(plan->steps / cadence->interval) + 1;
  case SIM_EVERY_WALL: break;
  }
  return NAN;
}

double cli_row_bytes(const cli_job *job) {
  double columns = 0, rows = cli_times_due(&cli_common(job)->output.tables, &job->plan);
  for (const sim_table *const *table = sim_model_tables(job->model, job->parameters); *table; table++) {
    columns += 2; /* step and time */
    for (const sim_field *column = (*table)->columns; column->name; column++) columns++;
  }
  return isnan(rows) ? 0 : rows * columns * (double)sizeof(double);
}

double cli_slice_bytes(const cli_job *job, size_t index) {
  sim_extent extent;
  job->model->extent(job->parameters, &extent);
  return sim_slice_share(cli_common(job)->output.slices.items[index].data, &extent) * job->plan.snapshot_bytes;
}

/* Address space of the threads' stacks, in bytes; 0 if address space is not limited. */
static double stack_bytes(int threads) {
  struct rlimit space, stack;
  if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return 0;
  double each = 8 << 20;
  if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY) each = (double)stack.rlim_cur;
  return (threads - 1) * each;
}

/* SIM_ERR_NO_MEMORY, with the list of items, if the items of so many ranks in one kind of memory, and the stacks, do
 * not fit. */
static sim_status check_space(const cli_job *job, sim_space space, int ranks, double stacks, size_t available) {
  const sim_plan *plan = &job->plan;
  double total = space == SIM_SPACE_HOST ? sim_plan_host_bytes(plan, ranks, stacks) : sim_plan_bytes(plan, space);
  if (total <= (double)available) return SIM_OK;
  char size[32], here[32];
  sim_bytes items = {0};
  for (size_t i = 0; i < plan->count; i++) {
    if (plan->items[i].space != space) continue;
    cli_bytes(plan->items[i].bytes, size, sizeof size);
    sim_bytes_format(&items, "%s%s %s", items.size ? ", " : "", plan->items[i].what, size);
  }
  cli_bytes(stacks, size, sizeof size);
  if (stacks > 0) sim_bytes_format(&items, ", stacks of %d threads %s", job->setup.threads, size);
  if (ranks > 1) sim_bytes_format(&items, ", on each of %d ranks", ranks);
  cli_bytes(plan->first_bytes, size, sizeof size);
  if (ranks > 1 && plan->first_bytes > 0) sim_bytes_format(&items, " (%s less beyond rank 0)", size);
  cli_bytes(total, size, sizeof size);
  cli_bytes((double)available, here, sizeof here);
  sim_fail(SIM_ERR_NO_MEMORY, "the run needs %s more memory%s, %s are free: %s", size,
           space == SIM_SPACE_DEVICE ? " on the GPU" : "", here, items.data ? items.data : "");
  sim_bytes_free(&items);
  return SIM_ERR_NO_MEMORY;
}

sim_status cli_prepare_memory(const cli_job *job) {
  const sim_backend *backend = job->setup.backend;
  if (backend->space == SIM_SPACE_DEVICE) {
    const size_t free_bytes = backend->memory_free();
    SIM_TRY(backend->queue->status());
    SIM_TRY(check_space(job, SIM_SPACE_DEVICE, 1, 0, free_bytes));
  }
  const double stacks = stack_bytes(job->setup.threads);
  SIM_TRY(check_space(job, SIM_SPACE_HOST, 1, stacks, sim_backend_cpu.memory_free()));
  return check_space(job, SIM_SPACE_HOST, job->setup.comm->host_size, stacks, sim_host_memory_free());
}

sim_status cli_prepare_duration(const cli_job *job) {
  enum { YEAR = 31557600 };
  const sim_plan *plan = &job->plan;
  const double seconds = plan->steps * cli_step_seconds(job);
  if (job->has_saved || plan->lazy || cli_common(job)->stop_when || sim_value_get(job->resolved, "integrate") == NULL ||
      !(seconds > YEAR))
    return SIM_OK;
  sim_fail(SIM_ERR_SCENARIO,
           "integrate: %.3g steps until t_end = %.9g take about %.3g years at %.2g %s/s; at most a year is "
           "accepted without stop_when: set a shorter t_end, or what allows longer steps, such as softer "
           "contacts or a coarser grid",
           plan->steps, plan->t_end, seconds / YEAR, plan->work_rate_guess, job->model->work_unit);
  return cli_of_scenario(job, SIM_ERR_SCENARIO);
}

double cli_step_seconds(const cli_job *job) {
  const sim_plan *plan = &job->plan;
  return plan->work_rate_guess > 0 ? plan->work_per_step / plan->work_rate_guess : 0;
}

void cli_memory_text(const cli_job *job, char *out, size_t capacity) {
  char host[32], device[32];
  cli_bytes(sim_plan_host_bytes(&job->plan, job->setup.comm->host_size, job->resident), host, sizeof host);
  cli_bytes(sim_plan_bytes(&job->plan, SIM_SPACE_DEVICE), device, sizeof device);
  if (job->setup.backend->space == SIM_SPACE_DEVICE)
    snprintf(out, capacity, "%s of the GPU's memory, %s of the host's", device, host);
  else
    snprintf(out, capacity, "%s of memory", host);
}

void cli_prepare_again(cli_job *job) {
  if (job->model) sim_model_parameters_free(job->model, &job->parameters);
  job->model = NULL;
  sim_value_free(&job->resolved);
  sim_bytes_free(&job->inputs);
  sim_bytes_free(&job->rows);
  sim_bytes_free(&job->blob);
  sim_bytes_free(&job->json);
  scenario_free(&job->source);
  job->plan = (sim_plan){0};
}

void cli_prepare_free(cli_job *job) {
  cli_prepare_again(job);
  if (job->has_saved) io_checkpoint_free(&job->saved);
}

sim_status cli_prepare_output(cli_job *job, const char *suffix) {
  const char *given = job->options->output, *path = job->options->target;
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
  int length = dot && strcmp(dot, ".lua") == 0 ? (int)(dot - name) : (int)strlen(name);
  int n = given ? snprintf(job->output, sizeof job->output, "%s", given)
                : snprintf(job->output, sizeof job->output, "%.*s%s", length, name, suffix);
  if (n >= (int)sizeof job->output)
    return sim_fail(SIM_ERR_CANT_CREATE, "the path of the output folder is longer than %zu bytes",
                    sizeof job->output - 1);
  return SIM_OK;
}
