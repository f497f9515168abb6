/* sim verify SCENARIO: which digits of its observables to trust, by runs in memory with half the step and in another
 * precision. */
#include "cli/prepare.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows of one table in the order of time. */
typedef struct rows {
  char name[64];
  const char *columns[SIM_COLUMNS_MAX]; /* owned by the model, or by the run's parameters */
  int width;                            /* number of columns without step and time */
  double *values;                       /* [count][1 + width]: time, columns; owned */
  size_t count, capacity;
} rows;

/* One run in memory, without files. */
typedef struct trial {
  cli_options options;
  cli_job *job; /* owned; the column names in `tables` belong to it */
  rows tables[SIM_TABLES_MAX];
  size_t table_count;
  double dt;          /* value of integrate.dt that gives the same steps */
  double first;       /* length of the first step */
  bool fixed;         /* all steps have this length, or are in proportion to dt */
  bool kept;          /* the run was made */
  char failure[1024]; /* why the run was not made; "": it was not begun */
} trial;

static sim_status keep_row(rows *table, double time, const double *values) {
  const size_t width = (size_t)table->width + 1;
  if (table->count == table->capacity) {
    const size_t capacity = table->capacity ? 2 * table->capacity : 64;
    double *more = realloc(table->values, capacity * width * sizeof *more);
    if (!more) return sim_no_memory("the rows of %s", table->name);
    table->values = more;
    table->capacity = capacity;
  }
  double *row = table->values + width * table->count++;
  row[0] = time;
  memcpy(row + 1, values, (width - 1) * sizeof *values);
  return SIM_OK;
}

/* Keeps the rows of a frame; it is the `write` of a sim_sink. */
static sim_status keep(void *self, const sim_frame *frame) {
  trial *t = self;
  for (size_t r = 0; r < frame->row_count; r++) {
    const sim_table *table = frame->rows[r].table;
    rows *to = t->tables;
    while (to < t->tables + t->table_count && strcmp(to->name, table->name) != 0) to++;
    if (to == t->tables + t->table_count) {
      if (t->table_count == SIM_TABLES_MAX) return sim_fail(SIM_ERR_INTERNAL, "more than %d tables", SIM_TABLES_MAX);
      snprintf(to->name, sizeof to->name, "%s", table->name);
      for (const sim_field *column = table->columns; column->name; column++) to->columns[to->width++] = column->name;
      t->table_count++;
    }
    SIM_TRY(keep_row(to, frame->clock.t, frame->rows[r].values));
  }
  return SIM_OK;
}

static const sim_value *integrate_value(const cli_job *job, const char *key) {
  const sim_value *integrate = sim_value_get(job->resolved, "integrate");
  return integrate ? sim_value_get(integrate, key) : NULL;
}

/* Returns integrate.dt as a number; NaN: it is absent or a keyword. */
static double given_step(const cli_job *job) {
  const sim_value *dt = integrate_value(job, "dt");
  return !dt ? NAN : dt->kind == SIM_VALUE_REAL ? dt->u.real : dt->kind == SIM_VALUE_INT ? (double)dt->u.integer : NAN;
}

/* Whether the scenario has an expansion. Then dt is not a time: steps are in proportion to it. */
static bool expands(const cli_job *job) {
  const sim_value *expansion = sim_value_get(job->resolved, "expansion");
  return expansion && expansion->kind == SIM_VALUE_TABLE && expansion->u.table.count > 0;
}

static sim_status make_steps(trial *t, void **self) {
  cli_job *job = t->job;
  sim_sink sink;
  sim_run run;
  cli_memory_run(job, keep, t, &sink, &run);
  SIM_TRY(cli_of_scenario(job, job->model->create(job->parameters, &job->setup, &run.clock, self)));
  run.self = *self;
  t->first = fmin(run.clock.dt, run.clock.t_end - run.clock.t);
  t->dt = expands(job) ? given_step(job) : t->first;
  return sim_run_loop(&run);
}

/* Whether all steps have the length of the first one, or are in proportion to a given dt. Not so for adaptive steps,
 * and for individual steps of bodies (integrate.steps of sim.nbody), whose lengths do not follow integrate.dt. */
static bool has_fixed_steps(const cli_job *job) {
  const sim_value *steps = integrate_value(job, "steps");
  const bool shared = !steps || steps->kind != SIM_VALUE_STRING || strcmp(steps->u.string.data, "shared") == 0;
  const bool known = expands(job) ? isfinite(given_step(job)) : isfinite(job->plan.steps);
  return integrate_value(job, "dt") && shared && known;
}

/* Runs the scenario in memory; dt 0: with its own step. */
static sim_status run_trial(trial *t, const cli_options *options, const char *precision, double dt) {
  void *self = NULL;
  t->options = *options;
  if (precision) t->options.precision = precision;
  t->job = calloc(1, sizeof *t->job);
  if (!t->job) return sim_no_memory("a run");
  t->job->options = &t->options;
  t->job->dt = dt;
  t->job->scheduler = cli_scheduler_find();
  SIM_TRY(cli_prepare_scenario(t->job));
  SIM_TRY(cli_prepare_device(t->job));
  SIM_TRY(cli_prepare_memory(t->job));
  t->fixed = has_fixed_steps(t->job);
  if (!sim_model_tables(t->job->model, t->job->parameters)[0])
    return sim_fail(SIM_ERR_SCENARIO, "%s: sim.%s has no tables, and no digits to compare", options->target,
                    t->job->model->name);
  const sim_status status = make_steps(t, &self);
  if (self) t->job->model->destroy(&self);
  t->kept = status == SIM_OK;
  return status;
}

static void free_trial(trial *t) {
  for (size_t i = 0; i < t->table_count; i++) free(t->tables[i].values);
  if (t->job) cli_prepare_free(t->job);
  free(t->job);
}

static const rows *find_table(const trial *t, const char *name) {
  for (size_t i = 0; i < t->table_count; i++)
    if (strcmp(t->tables[i].name, name) == 0) return &t->tables[i];
  return NULL;
}

static int find_column(const rows *table, const char *name) {
  for (int c = 0; table && c < table->width; c++)
    if (strcmp(table->columns[c], name) == 0) return c;
  return -1;
}

static double value_at(const rows *table, size_t row, int column) {
  return table->values[(size_t)(table->width + 1) * row + 1 + (size_t)column];
}
static double time_at(const rows *table, size_t row) { return table->values[(size_t)(table->width + 1) * row]; }
static double last_value(const rows *table, int column) { return value_at(table, table->count - 1, column); }

static double distance(double x, double y) {
  if (x == y || (isnan(x) && isnan(y))) return 0;
  return isfinite(x) && isfinite(y) ? fabs(x - y) : INFINITY;
}

/* Largest difference of a column between two runs: of the last rows, and of all rows of equal time in the second half
 * of the run, so that agreement by chance at the end does not count. NaN: the other run was not made. */
static double difference(const rows *a, const trial *other, int column) {
  const rows *b = other->kept ? find_table(other, a->name) : NULL;
  const int there = find_column(b, a->columns[column]);
  if (there < 0 || b->count == 0) return NAN;
  const double end = time_at(a, a->count - 1);
  double most = distance(last_value(a, column), last_value(b, there));
  for (size_t i = 0, k = 0; i < a->count; i++) {
    const double t = time_at(a, i), near = 1e-9 * fabs(end);
    while (k < b->count && time_at(b, k) < t - near) k++;
    if (2 * t < end || k == b->count || time_at(b, k) > t + near) continue;
    most = fmax(most, distance(value_at(a, i, column), value_at(b, k, there)));
  }
  return most;
}

/* Last value of a column in another table; NaN: there is no such column. */
static double last_of(const trial *t, const char *table, const char *column) {
  const rows *other = find_table(t, table);
  const int c = find_column(other, column);
  return c >= 0 ? last_value(other, c) : NAN;
}

/* Returns the statistical error of a column, as two of the standard errors that the run states (95 %), plus its bias by
 * time steps. The same table states them in NAME_error, for the column price in standard_error and bias; or the table
 * NAME_errors for the table NAMEs, errors and biases for prices. NaN: not stated. */
static double stated_error(const trial *t, const rows *table, int column) {
  char name[160];
  const char *own = table->columns[column];
  const bool price = strcmp(own, "price") == 0, prices = strcmp(table->name, "prices") == 0;
  const size_t stem = strlen(table->name) - (*table->name != '\0');
  double error, bias = NAN, bias_error = NAN;
  snprintf(name, sizeof name, "%s_error", own);
  error = last_of(t, table->name, price ? "standard_error" : name);
  if (price) bias = last_of(t, table->name, "bias"), bias_error = last_of(t, table->name, "bias_error");
  snprintf(name, sizeof name, "%.*s_errors", (int)stem, table->name);
  if (isnan(error) && table->name[stem] == 's') error = last_of(t, prices ? "errors" : name, own);
  if (prices) bias = last_of(t, "biases", own), bias_error = last_of(t, "bias_errors", own);
  return isnan(bias) ? 2 * error : 2 * error + fabs(bias) + 2 * bias_error;
}

/* Ratio of the rounding units of double and single precision: a difference by rounding is in proportion to them while
 * it is small. */
static const double rounding_ratio = DBL_EPSILON / FLT_EPSILON;
static const double linear_limit = 1e-3;

/* Estimates the rounding error of the first run from its difference to a run in another precision. If the first run is
 * in double, scales the difference by the ratio of the units, unless it may be too large for that. */
static double rounding_error(double difference, double value, bool own_is_double) {
  if (!own_is_double || !(difference < linear_limit * fabs(value))) return difference;
  return difference * rounding_ratio;
}

/* Number of correct decimal digits of a value with this error: 0 to 15. */
static int digits_of(double value, double error) {
  if (!isfinite(value) || !isfinite(error)) return 0;
  if (error <= 0) return DBL_DIG;
  const double digits = floor(log10(fabs(value) / error));
  return digits > 0 ? (int)fmin(digits, DBL_DIG) : 0;
}

static void print_error(double error) {
  if (isnan(error))
    printf(" %10s", "-");
  else
    printf(" %10.1e", error);
}

enum { ROWS_LEAST = 4 };

/* Whether a table has too few rows in the second half of the run, with its end, to tell agreement from chance. A table
 * of a run without time steps has only the row of its result. */
static bool has_few_rows(const trial *own, const rows *table) {
  size_t late = 0;
  if (!integrate_value(own->job, "dt")) return false;
  for (size_t i = 0; i < table->count; i++) late += 2 * time_at(table, i) >= time_at(table, table->count - 1);
  return late < ROWS_LEAST;
}

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Whether a column is itself the standard error of another: as samples give it, it has at most two correct digits. */
static bool is_standard_error(const rows *table, int column) {
  return ends_with(table->columns[column], "_error") || strcmp(table->name, "errors") == 0 ||
         ends_with(table->name, "_errors");
}
enum { STANDARD_ERROR_DIGITS = 2 };

/* Whether an error that the run may have was not tested: by its steps, or by its rounding. */
static bool lacks_tests(const trial *own, const trial *half, const trial *other) {
  return (integrate_value(own->job, "dt") && !half->kept) || !other->kept;
}

/* Writes a value with so many digits, also where these are zero: 0.5000, 100, 5. */
static void write_digits(char *text, size_t size, double value, int digits) {
  snprintf(text, size, digits > 1 ? "%#.*g" : "%.*g", digits, value);
  const size_t length = strlen(text);
  if (length > 0 && text[length - 1] == '.') text[length - 1] = '\0';
}

/* Prints one line: name, value with the digits to trust, their number, the error and its parts. If a test is missing,
 * no digit is to be trusted, and the number of digits is an upper limit. */
static void print_column(const trial *own, const trial *half, const trial *other, const rows *table, int column) {
  const int precision = cli_common(own->job)->precision;
  const double value = last_value(table, column);
  /* the error of a method of order p is 2^p / (2^p - 1) times the difference: at most twice, for p >= 1 */
  const double step = 2 * difference(table, half, column);
  const double rounding = rounding_error(difference(table, other, column), value, precision == SIM_DOUBLE);
  const double stated = stated_error(own, table, column);
  const double finest = fabs(value) * (precision == SIM_SINGLE || precision == SIM_HALF ? FLT_EPSILON : DBL_EPSILON);
  const double error = fmax(fmax(fmax(step, rounding), stated), finest);
  const bool limit = lacks_tests(own, half, other) || has_few_rows(own, table);
  const bool sampled = is_standard_error(table, column);
  const int known = digits_of(value, error),
            digits = sampled && known > STANDARD_ERROR_DIGITS ? STANDARD_ERROR_DIGITS : known;
  char name[160], text[40] = "?", number[16];
  snprintf(name, sizeof name, "%s.%s", table->name, table->columns[column]);
  snprintf(number, sizeof number, "%s%d", limit && digits > 0 ? "<=" : "", digits);
  if (digits > 0 && !limit) write_digits(text, sizeof text, value, digits);
  if (value == 0 && error == 0 && !limit) snprintf(text, sizeof text, "0");
  if (isnan(value)) snprintf(text, sizeof text, "none");
  printf("%-32s %-22s %6s", name, text, number);
  print_error(sampled ? NAN : error);
  print_error(step);
  print_error(rounding);
  print_error(stated);
  puts("");
}

/* Returns the other precision that tells most: double, or for a run in double the next coarser one. NULL: there is
 * none. */
static const char *other_precision(const sim_model *model, int own) {
  static const sim_precision order[SIM_PRECISIONS] = {SIM_DOUBLE, SIM_MIXED, SIM_SINGLE, SIM_HALF};
  for (int k = 0; k < SIM_PRECISIONS; k++)
    if ((int)order[k] != own && model->precisions[order[k]]) return sim_precision_name(order[k]);
  return NULL;
}

/* Runs the scenario for a test; if that fails, keeps the reason, and t->kept is false. An interruption, or lack of
 * memory, ends the verification. */
static sim_status run_test(trial *t, const cli_options *options, const char *precision, double dt) {
  const sim_status status = run_trial(t, options, precision, dt);
  if (status == SIM_OK || status == SIM_ERR_STOPPED || status == SIM_ERR_NO_MEMORY) return status;
  const char *message = sim_error_last()->message;
  snprintf(t->failure, sizeof t->failure, "%s", *message ? message : "the scenario cannot be run so");
  sim_error_clear();
  return SIM_OK;
}

/* Drops the run with half the step if its first step is not half as long, as it then tests nothing. */
static void check_half(const trial *own, trial *half) {
  if (!half->kept || fabs(half->first - 0.5 * own->first) <= 1e-3 * own->first) return;
  half->kept = false;
  snprintf(half->failure, sizeof half->failure, "the first step is %.9g with this dt, and %.9g with half of it",
           own->first, half->first);
}

static void print_failure(const char *test, const trial *t) {
  char line[2 * sizeof t->failure];
  sim_text_escape(line, sizeof line, t->failure, strlen(t->failure));
  printf("no %s test: %s\n", test, line);
}

/* Prints why a test was left out. */
static void say_left_out(const trial *own, const trial *half, const trial *other) {
  if (!integrate_value(own->job, "dt"))
    puts("no step test: the model has no integrate.dt. Its own estimates are in the column stated");
  else if (!own->fixed)
    puts("no step test: the steps are not all integrate.dt long. Digits are an upper limit; compare with a run of a "
         "smaller accuracy parameter (eta, rtol)");
  else if (!half->kept)
    print_failure("step", half);
  if (*other->failure)
    print_failure("precision", other);
  else if (!other->kept)
    puts("no precision test: the scenario runs in one precision. Rounding is not in the errors");
}

static sim_status verify_trials(const cli_options *options, trial *trials) {
  trial *own = &trials[0], *half = &trials[1], *other = &trials[2];
  if (access(options->target, F_OK) == 0) sim_log(SIM_LOG_INFO, "run 1: the scenario as it is");
  SIM_TRY(run_trial(own, options, NULL, 0));
  const int precision = cli_common(own->job)->precision;
  const char *name = other_precision(own->job->model, precision);
  if (own->fixed) {
    sim_log(SIM_LOG_INFO, "run 2: with the step %.9g, half of %.9g", 0.5 * own->dt, own->dt);
    SIM_TRY(run_test(half, options, NULL, 0.5 * own->dt));
    check_half(own, half);
  }
  if (name) {
    sim_log(SIM_LOG_INFO, "run %d: in %s precision", own->fixed ? 3 : 2, name);
    SIM_TRY(run_test(other, options, name, own->fixed && isnan(given_step(own->job)) ? own->dt : 0));
  }
  printf("%s: sim.%s, %s precision, seed %llu", options->target, own->job->model->name,
         sim_precision_name((sim_precision)precision), (unsigned long long)cli_common(own->job)->seed);
  if (half->kept) printf("; steps of %.9g and %.9g", own->dt, half->dt);
  if (other->kept) printf("; also in %s", name);
  puts("");
  say_left_out(own, half, other);
  for (size_t i = 0; i < own->table_count; i++)
    if (has_few_rows(own, &own->tables[i]))
      printf("%s has fewer than %d rows in the second half of the run: its digits are an upper limit, as two runs may "
             "agree there by chance; give output.tables more often\n",
             own->tables[i].name, ROWS_LEAST);
  printf("%-32s %-22s %6s %10s %10s %10s %10s\n", "last row", "trusted", "digits", "error", "step", "rounding",
         "stated");
  for (size_t i = 0; i < own->table_count; i++)
    for (int c = 0; c < own->tables[i].width; c++) print_column(own, half, other, &own->tables[i], c);
  return SIM_OK;
}

sim_status cli_verify_digits(const cli_options *options) {
  trial *trials = calloc(3, sizeof *trials);
  if (!trials) return sim_no_memory("the runs");
  cli_terminal_start(options);
  const sim_status status = verify_trials(options, trials);
  if (status == SIM_ERR_STOPPED) sim_log(SIM_LOG_WARN, "interrupted: the runs are not complete");
  cli_terminal_stop();
  for (int i = 0; i < 3; i++) free_trial(&trials[i]);
  free(trials);
  return status;
}
