/* Kernels with functions of a scenario: compiled when a run begins, and what their guards have seen. */
#include "kernels/fluid/cpu/push.h"
#include "kernels/fluid/cuda/host.h"

#include "engine/device/cuda.h"

#include <math.h>
#include <string.h>

enum { SOURCES = 2 };

bool fluid_cuda_stores_rates(const fluid_parameters *p) {
  return fluid_has_law(p) || (p->force && p->heat.given && p->turbulence.given);
}

static sim_status find_kernels(const fluid_parameters *p, fluid_laws *laws) {
  if (p->force) {
    SIM_TRY(sim_module_kernel(laws->module, "fluid_push", &laws->push));
    SIM_TRY(sim_module_kernel(laws->module, "fluid_push_start", &laws->push_start));
  }
  if (fluid_cuda_stores_rates(p)) {
    SIM_TRY(sim_module_kernel(laws->module, "fluid_law_cells", &laws->cells));
    SIM_TRY(sim_module_kernel(laws->module, "fluid_law_links", &laws->links));
  }
  return fluid_has_law(p) ? sim_module_kernel(laws->module, "fluid_law_begin", &laws->begin) : SIM_OK;
}

sim_status fluid_cuda_compile(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k,
                              fluid_device *d) {
  sim_bytes text[SOURCES] = {{0}};
  sim_source source[SOURCES];
  sim_status status = SIM_OK;
  int count = 0;
  void *made = NULL;
  for (int a = 0; a < 3; a++) {
    d->size[a] = m->grid.size[a];
    d->box[a] = (int)m->grid.n[a];
  }
  d->per_stress = 3 / sqrt(2) / k->dt;
  d->scale = 3 * k->dt / (k->dx * k->dx);
  d->rounding = m->single ? 3e-8 : 1e-12;
  if (p->force) {
    status = fluid_cuda_write_push(p, &text[count]);
    source[count] = fluid_cuda_law_source("fluid_push", &text[count]);
    count++;
  }
  if (fluid_cuda_stores_rates(p)) {
    if (status == SIM_OK) status = fluid_cuda_write_viscosity(p, &text[count]);
    source[count] = fluid_cuda_law_source("fluid_viscosity", &text[count]);
    count++;
  }
  if (count == 0) return SIM_OK;
  if (status == SIM_OK) status = sim_module_begin(source, count, &d->laws.module);
  if (status == SIM_OK) status = sim_module_end(d->laws.module);
  if (status == SIM_OK) status = find_kernels(p, &d->laws);
  for (int i = 0; i < SOURCES; i++) sim_bytes_free(&text[i]);
  SIM_TRY(status);
  SIM_TRY(sim_backend_cuda.alloc(sizeof *d->told, &made));
  d->told = made;
  return fluid_cuda_reset_laws(d);
}

void fluid_cuda_free_laws(fluid_device *d) {
  sim_module_free(&d->laws.module);
  sim_backend_cuda.free(d->told);
}

sim_status fluid_cuda_reset_laws(const fluid_device *d) {
  const fluid_law_guard none = {.push_step = ~0ull, .tau_step = ~0ull};
  return d->told ? sim_backend_cuda.copy(d->told, &none, sizeof none) : SIM_OK;
}

static float float_of(unsigned long long key) {
  const uint32_t bits = (uint32_t)key;
  float out;
  memcpy(&out, &bits, sizeof out);
  return out;
}

static int64_t cell_of(unsigned long long key) { return (int64_t)(uint32_t) ~(key >> 32); }

sim_status fluid_cuda_check_laws(const fluid_machine *m, const fluid_numbers *k, const fluid_device *d, int64_t step,
                                 fluid_seen *end) {
  fluid_law_guard told;
  double u[3];
  if (!d->told) return SIM_OK;
  SIM_TRY(sim_backend_cuda.copy(&told, d->told, sizeof told));
  SIM_TRY(fluid_cuda_gather_laws(m, d, &told));
  const int64_t thick = (int64_t)told.tau_step, nx = m->grid.n[0];
  /* of one step a density or a temperature that has left its bounds says more, a speed less */
  const bool first = !end->seen || thick < end->step || (thick == end->step && !end->cell.dense && !end->cell.hot);
  if (told.tau_step != ~0ull && first)
    *end = (fluid_seen){.seen = true,
                        .step = thick,
                        .cell = {.row = cell_of(told.tau_key) / nx,
                                 .x = cell_of(told.tau_key) % nx,
                                 .tau = (double)float_of(told.tau_key)}};
  if (told.push_step == ~0ull || (int64_t)told.push_step > (end->seen ? end->step : step)) return SIM_OK;
  for (int a = 0; a < 3; a++) u[a] = (double)float_of(told.push_key[a]);
  return fluid_push_fail(&m->grid, cell_of(told.push_key[0]), u, (double)told.push_step * k->dt,
                         (int64_t)told.push_step);
}
