/* What each form takes of memory. */
#include "kernels/diffusion/cuda/work.h"

static double number_size(const diffusion_parameters *p) {
  return diffusion_single(p) ? sizeof(float) : sizeof(double);
}

static void plan_passes(const diffusion_parameters *p, double tables, sim_plan *out) {
  const diffusion_grid grid = diffusion_grid_of(p);
  const double cells = (double)grid.n[0] * (double)grid.n[1] * (double)grid.n[2];
  const double field = (double)p->fields.count * cells * sizeof(float);
  sim_plan_add(out, "transformed fields", field);
  sim_plan_add(out, "tables of the scheme", tables);
  sim_plan_add(out, "statistics", diffusion_cuda_measure_bytes(cells) + diffusion_lines_bytes(&grid, true));
  out->checkpoint_bytes = field;
  out->work_rate_guess = 1.4e11;
}

int diffusion_cuda_together(const diffusion_parameters *p) {
  const int fields = (int)p->fields.count;
  return diffusion_gradients_of(p).count % fields == 0 ? fields : 1;
}

void diffusion_cuda_plan_cufft(const diffusion_parameters *p, const sim_setup *setup, sim_plan *out) {
  const diffusion_grid grid = diffusion_grid_of(p);
  const diffusion_place place = diffusion_cuda_place(&grid);
  const diffusion_spectrum spectrum = diffusion_cuda_spectrum(&place, diffusion_unfolded(p));
  const diffusion_method *method = diffusion_method_of(p);
  const int slots = diffusion_adaptive(p) ? DIFFUSION_SLOTS : 1;
  const double fields = (double)p->fields.count, number = number_size(p);
  const double parts = diffusion_crossed(p) ? fields * fields : fields;
  const double field = number * (double)place.field, table = number * (double)spectrum.tables;
  const int slopes = diffusion_gradients_of(p).count;
  const double batch = place.field < 1 << 22 ? diffusion_cuda_together(p) : 1;
  (void)setup;
  sim_plan_add(out, "transformed fields", fields * field);
  sim_plan_add(out, "arrays of the scheme", fields * field * (method->arrays + diffusion_fluctuates(p)));
  if (slopes > 0) sim_plan_add(out, "derivatives of fields", slopes * field);
  sim_plan_add(out, "tables of the scheme", parts * table * diffusion_table_count(p) * slots);
  if (slots > 1) sim_plan_add(out, "errors", diffusion_cuda_norms_bytes(fields, (double)spectrum.field));
  sim_plan_add(out, "transforms (about)", batch * field);
  if (method->arrays == 0) sim_plan_add(out, "fields for outputs, transformed", batch * field);
  sim_plan_add(out, "statistics",
               diffusion_cuda_measure_bytes((double)grid.n[0] * (double)grid.n[1] * (double)grid.n[2]) +
                   diffusion_lines_bytes(&grid, diffusion_single(p)));
  out->checkpoint_bytes = fields * field;
  out->work_rate_guess = p->rates ? 4e10 / (method->stages > 0 ? method->stages : 1) : 1e13;
}

void diffusion_cuda_plan_axes(const diffusion_parameters *p, const sim_setup *setup, sim_plan *out) {
  (void)setup;
  plan_passes(p, diffusion_axes_bytes(p), out);
}

void diffusion_cuda_plan(const diffusion_parameters *p, const sim_setup *setup, sim_plan *out) {
  if (diffusion_flat_fits(p))
    diffusion_flat_plan(p, out);
  else if (diffusion_fused_fits(p))
    plan_passes(p, diffusion_fused_bytes(p), out);
  else if (diffusion_axes_fit(p))
    diffusion_cuda_plan_axes(p, setup, out);
  else
    diffusion_cuda_plan_cufft(p, setup, out);
}
