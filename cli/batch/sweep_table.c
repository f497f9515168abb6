/* sweep.csv: the results table of a sweep, with one row per run. */
#include "cli/run/status.h"
#include "cli/batch/sweep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CSV_COLUMNS = 4 * SIM_COLUMNS_MAX };
typedef struct csv {
  char name[CSV_COLUMNS][200]; /* "energy.kinetic" */
  double value[CSV_COLUMNS];
  bool set[CSV_COLUMNS];
  size_t count;
} csv;

static void add_column(void *context, const char *table, const char *column, double value) {
  csv *c = context;
  char name[200];
  snprintf(name, sizeof name, "%.90s.%.100s", table, column);
  size_t i = 0;
  while (i < c->count && strcmp(c->name[i], name) != 0) i++;
  if (i == CSV_COLUMNS) return;
  if (i == c->count) snprintf(c->name[c->count++], sizeof c->name[0], "%s", name);
  c->value[i] = value;
  c->set[i] = true;
}

static void put_cell(FILE *file, const char *text) {
  if (!strpbrk(text, ",\"\n")) {
    fputs(text, file);
    return;
  }
  putc('"', file);
  for (; *text; text++) {
    if (*text == '"') putc('"', file);
    putc(*text, file);
  }
  putc('"', file);
}

static void put_row(const sweep *s, FILE *file, size_t run, csv *columns) {
  char folder[4200];
  cli_status status;
  cli_sweep_folder(s, run, folder);
  const bool own = cli_sweep_own(s, run) == SIM_OK;
  if (!own || cli_status_read(folder, &status) != SIM_OK) status = (cli_status){.state = "waiting", .exit_code = -1};
  memset(columns->set, 0, sizeof columns->set);
  if (own) (void)!io_table_last(folder, add_column, columns);
  sim_error_clear();
  fprintf(file, "run_%04zu", run + 1);
  for (size_t i = 0; i < s->axis_count; i++) {
    putc(',', file);
    put_cell(file, cli_sweep_value(s, run, i));
  }
  putc(',', file);
  put_cell(file, status.state);
  putc(',', file);
  bool over = strcmp(status.state, "running") != 0 && strcmp(status.state, "lost") != 0;
  if (over && status.exit_code >= 0) fprintf(file, "%d", status.exit_code);
  putc(',', file);
  put_cell(file, status.digest);
  for (size_t i = 0; i < columns->count; i++) fprintf(file, columns->set[i] ? ",%.17g" : ",", columns->value[i]);
  putc('\n', file);
}

sim_status cli_sweep_write(const sweep *s) {
  static const char name[] = "sweep.csv";
  char temporary[96], folder[4200];
  csv *columns = calloc(1, sizeof *columns);
  if (!columns) return sim_no_memory("sweep.csv");
  for (size_t run = 0; run < s->runs; run++) { /* collects all columns first */
    cli_sweep_folder(s, run, folder);
    if (cli_sweep_own(s, run) == SIM_OK) (void)!io_table_last(folder, add_column, columns);
    sim_error_clear();
  }
  FILE *file = cli_sweep_create(s, name, temporary);
  sim_status status = SIM_OK;
  if (file) {
    fputs("run", file);
    for (size_t i = 0; i < s->axis_count; i++) fprintf(file, ",%s", s->axes[i].name);
    fputs(",state,exit,digest", file);
    for (size_t i = 0; i < columns->count; i++) fprintf(file, ",%s", columns->name[i]);
    putc('\n', file);
    for (size_t run = 0; run < s->runs; run++) put_row(s, file, run, columns);
    status = cli_sweep_commit(s, file, name, temporary);
  } else {
    status = sim_fail(SIM_ERR_IO, "%s/%s: %s", s->folder, name, strerror(errno));
  }
  free(columns);
  return status;
}
