#include "engine/run/rows.h"

#include "engine/expr/expr.h"
#include "engine/log.h"
#include "engine/run/profile.h"

#include <math.h>
#include <stdlib.h>

static sim_status create_stop(sim_rows *rows) {
  const sim_expr *stop = rows->run->stop_when;
  if ((size_t)sim_expr_input_count(stop) != rows->columns + 2)
    return sim_fail(SIM_ERR_INTERNAL, "stop_when is not of this run's tables");
  SIM_TRY(sim_expr_program_create(stop, &(sim_expr_target){.isa = SIM_ISA_PLAIN}, &rows->stop));
  return sim_backend_cpu.alloc(sim_expr_program_scratch(rows->stop), &rows->scratch);
}

sim_status sim_rows_create(sim_run *run, sim_rows *rows) {
  *rows = (sim_rows){.run = run, .tables = run->tables ? run->tables : run->model->tables, .step = -1};
  for (const sim_table *const *table = rows->tables; *table; table++)
    for (const sim_field *column = (*table)->columns; column->name; column++) rows->columns++;
  rows->row = calloc(rows->columns + 2, sizeof *rows->row);
  rows->lost = calloc(rows->columns + 1, sizeof *rows->lost);
  if (!rows->row || !rows->lost) return sim_no_memory("rows of tables");
  return run->stop_when ? create_stop(rows) : SIM_OK;
}

void sim_rows_destroy(sim_rows *rows) {
  sim_expr_program_free(&rows->stop);
  sim_backend_cpu.free(rows->scratch);
  free(rows->row);
  free(rows->lost);
}

sim_status sim_rows_compute(sim_rows *rows, bool *finite) {
  sim_run *run = rows->run;
  double *values = rows->row + 2;
  const bool *lost = rows->lost;
  sim_status status = SIM_OK;
  bool all = true;
  *finite = true;
  rows->step = -1;
  for (int t = 0; status == SIM_OK && rows->tables[t]; t++) {
    sim_profile_range_begin("observe");
    sim_run_compute_begin(run);
    status = run->model->observe(run->self, &run->clock, t, values);
    sim_run_compute_end(run);
    sim_profile_range_end();
    if (status != SIM_OK && status != SIM_ERR_DIVERGED) return status;
    if (run->backend && run->backend->queue)
      SIM_TRY(run->backend->queue->status()); /* values that were read back after a device error are invalid */
    for (const sim_field *column = rows->tables[t]->columns; column->name; column++, values++, lost++) {
      if (!isfinite(*values) && !*lost) all = false;
      if (!(column->flags & SIM_HEALTH)) continue;
      run->last.health = *values;
      run->last.health_name = column->name;
      run->last.health_error = column->display == SIM_DISPLAY_ERROR;
    }
  }
  *finite = all;
  rows->row[0] = (double)run->clock.step;
  rows->row[1] = run->clock.t;
  if (status == SIM_OK && all) rows->step = run->clock.step;
  return status;
}

static void report_value(const sim_rows *rows, size_t at, double value) {
  for (const sim_table *const *table = rows->tables; *table; table++)
    for (const sim_field *column = (*table)->columns; column->name; column++)
      if (at-- == 0 && column->flags & SIM_REPORTED) {
        sim_log(SIM_LOG_WARN, "%s.%s is %s at step %lld, t = %.9g, though the state is finite: look at its function",
                (*table)->name, column->name, isnan(value) ? "not a number" : "infinite",
                (long long)rows->run->clock.step, rows->run->clock.t);
        return;
      }
}

void sim_rows_accept(sim_rows *rows) {
  rows->step = rows->run->clock.step;
  for (size_t i = 0; i < rows->columns; i++) {
    const double value = rows->row[2 + i];
    if (isfinite(value) || rows->lost[i]) continue;
    rows->lost[i] = true;
    report_value(rows, i, value);
  }
}

bool sim_rows_stop(const sim_rows *rows) {
  const void *inputs[SIM_EXPR_INPUTS_MAX];
  double holds = 0;
  for (size_t i = 0; i < rows->columns + 2; i++) inputs[i] = &rows->row[i];
  sim_expr_program_run(rows->stop, 1, inputs, (void *const[]){&holds}, rows->scratch);
  return holds != 0;
}
