#include "kernels/common/grid/grid.h"

#include <stdlib.h>

void grid_rows_end(grid_rows *r) {
  sim_expr_program_free(&r->program);
  free(r->scratch);
  free(r->x);
  free(r->buffers);
}

sim_status grid_rows_begin(const grid_shape *g, const sim_expr *expr, const bool *uniform, sim_isa isa, int count,
                           grid_rows *r) {
  *r = (grid_rows){0};
  SIM_TRY(sim_expr_program_create(expr, &(sim_expr_target){.isa = isa, .uniform = uniform}, &r->program));
  const size_t n = (size_t)g->n[0], scratch = (sim_expr_program_scratch(r->program) + 64) / 64 * 64;
  r->scratch = aligned_alloc(64, scratch);
  r->x = calloc(n, sizeof(double));
  r->buffers = calloc(n * (size_t)count, sizeof(double));
  if (!r->scratch || !r->x || !r->buffers) {
    grid_rows_end(r);
    return sim_no_memory("the initial values");
  }
  for (int64_t i = 0; i < g->n[0]; i++) r->x[i] = grid_centre(g, 0, i);
  return SIM_OK;
}

/* Runs a failed part again on the calling thread, because error messages belong to threads. */
sim_status grid_over_rows(const grid_shape *g, grid_range rows, int threads, grid_row_work *work, void *context) {
  enum { PARTS = 64 };
  const int64_t first = rows.first, count = rows.end - first;
  bool failed[PARTS] = {false};
  (void)threads;
  if (count < PARTS || count * g->n[0] < 1 << 16) return work(context, first, rows.end);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
  for (int part = 0; part < PARTS; part++)
    failed[part] = work(context, first + count * part / PARTS, first + count * (part + 1) / PARTS) != SIM_OK;
  for (int part = 0; part < PARTS; part++)
    if (failed[part]) SIM_TRY(work(context, first + count * part / PARTS, first + count * (part + 1) / PARTS));
  return SIM_OK;
}
