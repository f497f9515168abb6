/* Real fields on the scenario's grid. The operations of a backend have them on a finer grid where `dealias` is
 * "padding"; there every rank gathers the whole fields, and changes the grid by itself. Elsewhere the two are the same.
 */
#include "kernels/diffusion/run/run.h"

#include "engine/reduce.h"
#include "kernels/diffusion/modes.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t number_size(const diffusion_run *run) {
  return diffusion_single(run->p) ? sizeof(float) : sizeof(double);
}

sim_status diffusion_fields_create(diffusion_run *run, const sim_setup *setup) {
  const sim_dtype type = diffusion_single(run->p) ? SIM_F32 : SIM_F64;
  const grid_shape fine = diffusion_grid_of(&run->rest);
  run->resampled = -1;
  if (!diffusion_padded(run->p)) return SIM_OK;
  SIM_TRY(sim_buffer_create(&sim_backend_cpu, type, 2, (int64_t[]){run->fields, run->cells}, &run->coarse));
  SIM_TRY(sim_buffer_create(&sim_backend_cpu, type, 2, (int64_t[]){run->fields, grid_cells(&fine)}, &run->fine));
  return diffusion_resample_create(run->p, &run->rest, setup->isa, setup->threads, &run->resample);
}

void diffusion_fields_destroy(diffusion_run *run) {
  diffusion_resample_destroy(&run->resample);
  sim_buffer_destroy(&run->coarse);
  sim_buffer_destroy(&run->fine);
}

double diffusion_fields_bytes(const diffusion_parameters *p, const diffusion_parameters *fine, int threads) {
  const grid_shape coarse = diffusion_grid_of(p), finer = diffusion_grid_of(fine);
  if (!diffusion_padded(p)) return 0;
  return diffusion_resample_bytes(p, fine, threads) + (double)p->fields.count *
                                                          (diffusion_single(p) ? sizeof(float) : sizeof(double)) *
                                                          (grid_cells_wanted(&coarse) + grid_cells_wanted(&finer));
}

const sim_buffer *diffusion_fields_of(const diffusion_run *run) {
  return run->resample ? &run->coarse : run->ops->real(run->work);
}

static void parts_of(const diffusion_run *run, const sim_buffer *buffer, void **out) {
  for (int f = 0; f < run->fields; f++) out[f] = run_part(buffer, f);
}

/* The first cell of this rank's slab of a whole field. */
static void *own_of(const diffusion_run *run, const sim_buffer *whole, const diffusion_parameters *p, int field) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_slab slab = diffusion_own_slab(&grid, diffusion_single(p), run->comm);
  return (char *)run_part(whole, field) + (size_t)(slab.first * diffusion_plane_cells(&grid)) * number_size(run);
}

void *diffusion_fields_own(const diffusion_run *run, int field) {
  return run->resample ? own_of(run, &run->coarse, run->p, field) : run_part(run->ops->real(run->work), field);
}

void *diffusion_fields_fine(const diffusion_run *run, int field) { return own_of(run, &run->fine, &run->rest, field); }

/* Gathers whole fields, of which each rank has its slab before. */
static sim_status gather(const diffusion_run *run, const sim_buffer *whole, const diffusion_parameters *p) {
  const grid_shape grid = diffusion_grid_of(p);
  const size_t row = (size_t)grid.n[0] * number_size(run);
  for (int f = 0; f < run->fields && run->comm->size > 1; f++)
    SIM_TRY(diffusion_gather_rows(&grid, diffusion_single(p), run->comm, row, run_part(whole, f)));
  return SIM_OK;
}

/* Copies between the real fields of the operations and this rank's slab of the whole ones on the same grid. */
static sim_status copy_fine(const diffusion_run *run, bool out) {
  const sim_buffer *real = run->ops->real(run->work);
  const size_t bytes = (size_t)run_numbers(real) * number_size(run);
  for (int f = 0; f < run->fields && bytes > 0; f++) {
    void *fine = diffusion_fields_fine(run, f), *there = run_part(real, f);
    SIM_TRY(run->backend->copy(out ? fine : there, out ? there : fine, bytes));
  }
  return SIM_OK;
}

sim_status diffusion_fields_begin(diffusion_run *run) {
  void *coarse[DIFFUSION_FIELDS], *fine[DIFFUSION_FIELDS];
  parts_of(run, &run->coarse, coarse);
  parts_of(run, &run->fine, fine);
  SIM_TRY(gather(run, &run->coarse, run->p));
  SIM_TRY(diffusion_resample_up(run->resample, 0, coarse, fine));
  return copy_fine(run, false);
}

sim_status diffusion_fields_show(diffusion_run *run, const sim_clock *clock) {
  SIM_TRY(diffusion_run_show(run, clock));
  if (!run->resample || run->resampled == clock->step) return SIM_OK;
  void *coarse[DIFFUSION_FIELDS], *fine[DIFFUSION_FIELDS];
  parts_of(run, &run->coarse, coarse);
  parts_of(run, &run->fine, fine);
  SIM_TRY(copy_fine(run, true));
  SIM_TRY(gather(run, &run->fine, &run->rest));
  SIM_TRY(diffusion_resample_down(run->resample, clock->t, fine, coarse));
  run->resampled = clock->step;
  return SIM_OK;
}

sim_status diffusion_fields_measure(diffusion_run *run, int field, diffusion_statistics *out) {
  const double cell = grid_cell_volume(&run->grid);
  if (!run->resample) return run->ops->measure(run->work, field, cell, out);
  const size_t partial = ((size_t)diffusion_measure_bytes(&run->grid) + 63) / 64 * 64;
  char *memory = aligned_alloc(64, partial + SIM_REDUCE_BLOCK * sizeof(double));
  if (!memory) return sim_no_memory("the statistics");
  const diffusion_measured measured = {.grid = run->grid,
                                       .single = diffusion_single(run->p),
                                       .comm = &sim_comm_alone, /* every rank has the whole field */
                                       .partial = (double *)(void *)memory,
                                       .block = memory + partial,
                                       .threads = 1};
  const sim_status status = diffusion_measure(&measured, run_part(&run->coarse, field), out);
  free(memory);
  return status;
}

sim_status diffusion_fields_lines(diffusion_run *run, int field, int axis, int64_t count, void *out) {
  if (!run->resample) return run->ops->lines(run->work, field, axis, count, out);
  const long long n[3] = {run->grid.n[0], run->grid.n[1], run->grid.n[2]};
  const size_t size = number_size(run);
  const char *values = run_part(&run->coarse, field);
  char *to = out;
  for (int64_t j = 0; j < count; j++) {
    const int64_t begin = diffusion_line_begin(n, axis, count, j), step = diffusion_line_stride(n, axis);
    for (int64_t i = 0; i < n[axis]; i++, to += size) memcpy(to, values + (size_t)(begin + i * step) * size, size);
  }
  return SIM_OK;
}
