/* Coefficients of derived fields that are not finite. */
#include "kernels/diffusion/cuda/general/passes.h"

#include "engine/device/cuda.h"
#include "kernels/diffusion/waves.h"

#include <limits.h>

/* Adds the fault of one coefficient at a wavenumber, with the CPU's program of the coefficient. */
static sim_status find_fault(const diffusion_work *w, int derived, int field, const int64_t mode[3]) {
  sim_expr_program *program;
  double k[3], out[2];
  for (int a = 0; a < 3; a++) {
    const bool there = a < w->grid.rank && !grid_is_member_axis(&w->grid, a);
    const int kind = diffusion_cuda_kind(w, w->fields + derived, a);
    const double at = (double)mode[a] + (kind == (int)GRID_FIXED_LOW || kind == (int)GRID_FIXED_HIGH ? 0.5 : 0);
    const double *mix = w->series.mix[w->fields + derived][a];
    k[a] = kind == (int)GRID_ROBIN ? diffusion_robin_wave(mix, w->grid.size[a], mode[a])
           : there ? (kind == (int)GRID_PERIODIC ? 2 * DIFFUSION_PI : DIFFUSION_PI) * at / w->grid.size[a]
                   : 0;
  }
  SIM_TRY(diffusion_symbol_program(w->p, derived, field, &program));
  const bool finite = diffusion_symbol_at(w->p, &w->grid, program, k, mode, out);
  sim_expr_program_free(&program);
  return finite ? SIM_OK : diffusion_symbol_fault(w->p, derived, field, k);
}

/* Returns the mode of an entry along axis i of the layout, for a derived field. */
static int64_t mode_at(const diffusion_work *w, int derived, int i, int64_t entry) {
  const int axis = w->layout.axis[i], kind = diffusion_cuda_kind(w, w->fields + derived, axis);
  const int64_t n = w->layout.n[i];
  if (grid_is_member_axis(&w->grid, axis)) return w->layout.first + entry;
  if (kind == (int)GRID_PERIODIC) return 2 * entry > n ? entry - n : entry;
  if (w->aligned && entry >= n) entry = n - 1;
  return kind == (int)GRID_FIXED && (!w->aligned || entry == 0) ? n - entry : entry;
}

/* Returns the fault at the wavenumber with this number. */
static sim_status fault_at(const diffusion_work *w, long long number) {
  const diffusion_layout *p = &w->layout;
  const int64_t n0 = p->row / 2, row = number / n0, first = number % n0;
  const bool pairs = w->aligned && p->series[0] != (int)GRID_PERIODIC;
  for (int part = 0; part < 2; part++) { /* the imaginary part has its own wavenumber between walls */
    const int64_t fast = pairs ? 2 * first + part : part > 0 && first > 0 ? p->n[0] - first : first;
    const int64_t line = row / p->wide; /* as layout_wave */
    const int64_t entry[3] = {fast, p->begin + line / p->n[2] * p->wide + row % p->wide, line % p->n[2]};
    for (int d = 0; d < (int)w->p->derived.count; d++) {
      int64_t mode[3];
      for (int i = 0; i < 3; i++) mode[p->axis[i]] = mode_at(w, d, i, entry[i]);
      for (int f = 0; f < w->fields; f++)
        if (diffusion_general_has_symbol(w, d, f)) SIM_TRY(find_fault(w, d, f, mode));
    }
  }
  return SIM_OK;
}

sim_status diffusion_cuda_check_derived(diffusion_work *w) {
  unsigned long long number = ULLONG_MAX;
  void *bad = NULL, *kernel;
  SIM_TRY(sim_module_kernel(w->module, "diffusion_check", &kernel));
  SIM_TRY(sim_backend_cuda.alloc(sizeof number, &bad));
  sim_status status = sim_backend_cuda.copy(bad, &number, sizeof number);
  if (status == SIM_OK) {
    diffusion_general_check(w, kernel, bad);
    status = sim_backend_cuda.copy(&number, bad, sizeof number);
  }
  sim_backend_cuda.free(bad);
  SIM_TRY(status);
  return number == ULLONG_MAX ? SIM_OK : fault_at(w, (long long)number);
}
