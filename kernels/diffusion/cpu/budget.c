/* Budgets by |k|: what rates and linear terms do to each bin of the spectrum. */
#include "kernels/diffusion/cpu/work.h"

#include <string.h>

static void fill_linear(void *context, const double k[3], const int64_t mode[3], double (*values)[2]) {
  diffusion_filling_linear(context, k, mode, values[0]);
}

sim_status diffusion_budget_create(const diffusion_parameters *p, sim_isa isa, int threads, diffusion_work **out) {
  const sim_setup setup = {.backend = &sim_backend_cpu, .comm = &sim_comm_alone, .isa = isa, .threads = threads};
  const grid_shape grid = diffusion_grid_of(p);
  /* array [2]: N(u), or L u; array [1] is u */
  const diffusion_method method = {
      .name = "budget",
      .arrays = 2,
      .tables = 1,
      .stages = 2,
      .stage = {{1, 0, 1, {{2, 1, {{diffusion_scale(&grid), -1, 0}}}}}, {0, 0, 1, {{2, 1, {{1, 0, 1}}}}}}};
  SIM_TRY(diffusion_work_create(p, &setup, &method, out));
  diffusion_work *w = *out;
  for (int f = 0; f < w->fields; f++) {
    diffusion_filling filling;
    const sim_status status = diffusion_filling_begin(p, f, 1, 1, &filling);
    if (status == SIM_OK)
      diffusion_tables(w->spectral, f, 1, w->arrays.table[f], w->arrays.complex, fill_linear, &filling);
    diffusion_filling_end(&filling);
    if (status == SIM_OK) continue;
    diffusion_work_destroy(out);
    return status;
  }
  return SIM_OK;
}

void diffusion_budget_destroy(diffusion_work **work) { diffusion_work_destroy(work); }

sim_status diffusion_budget_of(diffusion_work *w, double *const *fields, double t, int bins, double *transfer,
                               double *dissipation) {
  const diffusion_step_context context = {t, 0, 1, 0};
  for (int f = 0; f < w->fields; f++)
    memcpy(work_part(&w->real, f), fields[f], (size_t)w->real.shape[1] * sizeof(double));
  SIM_TRY(diffusion_ops_cpu.load(w, t));
  SIM_TRY(diffusion_ops_cpu.stage(w, 0, &context));
  for (int f = 0; f < w->fields; f++)
    diffusion_power(w->spectral, f, w->arrays.array[f][1], w->arrays.array[f][2], bins, transfer + f * bins);
  SIM_TRY(diffusion_ops_cpu.stage(w, 1, &context));
  for (int f = 0; f < w->fields; f++)
    diffusion_power(w->spectral, f, w->arrays.array[f][1], w->arrays.array[f][2], bins, dissipation + f * bins);
  for (int i = 0; i < w->fields * bins; i++) dissipation[i] = 0 - dissipation[i]; /* no -0 */
  return SIM_OK;
}
