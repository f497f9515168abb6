/* Memory, work and exchanges of the way `general`, and what cuFFT transforms at once. */
#include "kernels/diffusion/cuda/implicit/implicit.h"

int diffusion_general_together(const diffusion_parameters *p) {
  const int fields = (int)p->fields.count;
  return diffusion_gradients_of(p).count % fields == 0 ? fields : 1;
}

int diffusion_general_slopes(const diffusion_parameters *p) {
  const diffusion_gradients g = diffusion_gradients_of(p);
  return g.count > g.fluxes ? g.count : g.fluxes;
}

diffusion_lines diffusion_general_lines_of(const grid_shape *grid, bool aligned) {
  const diffusion_layout layout = diffusion_cuda_layout(grid, NULL, aligned, false);
  diffusion_lines l = {.numbers = 1, .grids = 1};
  for (int i = 2; i >= 0; i--) {
    const bool live = layout.n[i] > 1 && (i == 0 || i != layout.member_axis);
    if (live && (!aligned || layout.series[i] == (int)GRID_PERIODIC)) {
      l.n[l.rank++] = layout.n[i];
      l.numbers *= i == 0 ? layout.row : layout.n[i];
    } else if (aligned || i == layout.member_axis) {
      l.grids *= layout.n[i];
    }
  }
  if (l.rank == 0) l.grids = 1; /* nothing is transformed */
  return l;
}

long long diffusion_general_batch(const diffusion_parameters *p, const diffusion_lines *l) {
  enum { MOST = 1 << 22, ENSEMBLE = 1 << 20 }; /* numbers */
  const double field = (double)l->numbers * (double)l->grids;
  if (p->members <= 1) return field < MOST ? diffusion_general_together(p) * l->grids : l->grids;
  if (diffusion_general_together(p) * field <= ENSEMBLE) return diffusion_general_together(p) * l->grids;
  return l->numbers < ENSEMBLE ? ENSEMBLE / l->numbers : 1;
}

/* Bytes of the transforms, about. */
static double fourier_bytes(const diffusion_parameters *p, bool aligned, const diffusion_layout *layout,
                            const diffusion_layout *planes) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_lines l = diffusion_general_lines_of(&grid, aligned);
  const double number = diffusion_cuda_number_size(p), field = number * (double)layout->field;
  if (p->integrate.method == DIFFUSION_SLABS) return diffusion_slabs_fourier_bytes(p, layout, planes);
  if (p->members > 1) return 2 * number * (double)(diffusion_general_batch(p, &l) * l.numbers);
  return layout->field < 1 << 22 ? diffusion_general_together(p) * field : field;
}

/* The needs of the fullest rank. */
static void plan_of(const diffusion_parameters *p, const sim_comm *comm, sim_plan *out) {
  const grid_shape grid = diffusion_grid_of(p);
  const sim_comm fullest = {.rank = 0, .size = comm->size};
  const diffusion_gradients read = diffusion_gradients_of(p);
  diffusion_series series;
  diffusion_layout layout, planes;
  diffusion_share parts;
  const bool aligned = diffusion_cuda_aligned(p, &read), slabs = p->integrate.method == DIFFUSION_SLABS;
  diffusion_cuda_divide(p, &fullest, aligned, &layout, &planes, &parts);
  const diffusion_layout whole = diffusion_cuda_layout(&grid, NULL, aligned, slabs);
  const diffusion_spectrum spectrum = diffusion_cuda_spectrum(&layout, diffusion_unfolded(p));
  const diffusion_method *method = diffusion_method_of(p);
  const int arrays = diffusion_method_with(p, 1).arrays, slopes = diffusion_general_slopes(p);
  const int slots = diffusion_adaptive(p) ? DIFFUSION_SLOTS : 1;
  const double fields = (double)p->fields.count, number = diffusion_cuda_number_size(p);
  const double each = diffusion_crossed(p) ? fields * fields : fields;
  const double field = number * (double)layout.field, table = number * (double)spectrum.tables;
  sim_plan_add(out, "transformed fields", fields * field);
  if (slabs) sim_plan_add(out, "planes of fields", (fields + slopes) * number * (double)planes.field);
  if (slabs && diffusion_slabs_landing_bytes(p, &layout, &planes, &parts) > 0)
    sim_plan_add(out, "fields before z", diffusion_slabs_landing_bytes(p, &layout, &planes, &parts));
  sim_plan_add(out, "arrays of the scheme", fields * field * (arrays + diffusion_has_noise(p)));
  if (diffusion_implicit(p)) diffusion_implicit_plan(p, &layout, &planes, out);
  if (slopes > 0)
    sim_plan_add(out, read.fluxes > 0 ? "derivatives and fluxes" : "derivatives of fields", slopes * field);
  sim_plan_add(out, "tables of the scheme", each * table * diffusion_table_count(p) * slots);
  if (diffusion_estimates(p) || p->lyapunov.given)
    sim_plan_add(out, p->lyapunov.given ? "distances" : "errors", diffusion_cuda_norms_bytes(&parts, fields));
  if (diffusion_held(p)) sim_plan_add(out, "energy of the forcing", diffusion_cuda_force_bytes(&parts, fields));
  sim_plan_add(out, "transforms (about)", fourier_bytes(p, aligned, &layout, &planes));
  if (method->arrays == 0)
    sim_plan_add(out, "fields for outputs, transformed",
                 (layout.field < 1 << 22 && !slabs ? diffusion_general_together(p) : 1) * field);
  for (int i = 0; i < 3 && aligned; i++)
    if (layout.series[i] != (int)GRID_PERIODIC)
      sim_plan_add(out, "cosines along walls", 8 * number * (double)layout.n[i]);
  if (aligned) sim_plan_add(out, "a field between transforms", number * (double)planes.field);
  if (diffusion_cuda_series(p, &read, &series)) diffusion_bases_plan(p, &series, out);
  out->checkpoint_bytes = fields * number * (double)whole.field;
  out->work_rate_guess = p->rates ? (slabs ? 2.2e10 : 4e10) / (diffusion_implicit(p) ? 300
                                                               : method->stages > 0  ? method->stages
                                                                                     : 1)
                                  : 1e13;
}

void diffusion_general_plan(const diffusion_parameters *p, sim_plan *out) { plan_of(p, &sim_comm_alone, out); }

/* Returns the transforms of one field in a step. */
static double transforms_of(const diffusion_parameters *p) {
  const diffusion_method *method = diffusion_method_of(p);
  const diffusion_gradients read = diffusion_gradients_of(p);
  double transforms = diffusion_fluctuates(p) ? (double)p->fields.count : 0;
  for (int i = 0; i < method->stages; i++)
    transforms += method->stage[i].forward * (2 * (double)p->fields.count + read.count + read.fluxes);
  return transforms;
}

/* Ranks exchange the errors of adaptive steps, and where they divide a grid each transform. */
void diffusion_general_plan_ranks(const diffusion_parameters *p, const sim_comm *comm, sim_plan *out) {
  const sim_comm fullest = {.rank = 0, .size = comm->size};
  const diffusion_gradients read = diffusion_gradients_of(p);
  diffusion_layout layout, planes;
  diffusion_share parts;
  diffusion_cuda_divide(p, &fullest, diffusion_cuda_aligned(p, &read), &layout, &planes, &parts);
  plan_of(p, comm, out);
  out->most_ranks = out->parts = (int)parts.all;
  if (diffusion_estimates(p)) {
    out->exchanges = 1;
    out->bytes_received = diffusion_cuda_norms_bytes(&parts, (double)p->fields.count);
  }
  if (p->integrate.method != DIFFUSION_SLABS) return;
  out->exchanges += transforms_of(p);
  out->bytes_received +=
      transforms_of(p) * (1 - 1 / (double)comm->size) * diffusion_cuda_number_size(p) * (double)layout.field;
  /* needed where GPUs cannot store into each other's memory; only the start finds this out */
  sim_plan_add_host(out, "staged for other ranks, at most", 2 * diffusion_slabs_sent(p, comm, &layout, &planes));
}
