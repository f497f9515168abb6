/* The initial state: files, functions and noise, dealiased and checked. */
#include "kernels/diffusion/observe.h"

#include <stdio.h>

static grid_start start_of(const diffusion_parameters *p, int field) {
  const diffusion_field *s = diffusion_field_of(p, field);
  grid_start start = {.name = s->name,
                      .initial = s->initial,
                      .file = &s->file,
                      .noise = s->noise,
                      .draw = DIFFUSION_DRAW_FIELD + (uint32_t)field};
  snprintf(start.path, sizeof start.path, "fields[%d]", field + 1);
  return start;
}

bool diffusion_has_files(const diffusion_parameters *p) {
  for (int f = 0; f < (int)p->fields.count; f++)
    if (diffusion_field_of(p, f)->file.given) return true;
  return false;
}

sim_status diffusion_read_files(const diffusion_parameters *p, const sim_setup *setup, void *const *real_fields) {
  const grid_shape grid = diffusion_grid_of(p);
  const grid_range rows = diffusion_own_rows(&grid, diffusion_single(p), setup->comm);
  for (int f = 0; f < (int)p->fields.count; f++) {
    const grid_start start = start_of(p, f);
    SIM_TRY(grid_read_file(&grid, rows, &start, diffusion_single(p), setup, real_fields ? real_fields[f] : NULL));
  }
  return SIM_OK;
}

sim_status diffusion_start(const diffusion_parameters *p, const sim_setup *setup, void *const *real_fields) {
  const grid_shape grid = diffusion_grid_of(p);
  const bool single = diffusion_single(p);
  const grid_range rows = diffusion_own_rows(&grid, single, setup->comm);
  const void *const *fields = (const void *const *)real_fields;
  SIM_TRY(diffusion_read_files(p, setup, real_fields));
  for (int f = 0; f < (int)p->fields.count; f++) {
    const grid_start start = start_of(p, f);
    SIM_TRY(grid_fill(&grid, rows, &start, single, p->common.seed, setup->isa, setup->threads, real_fields[f]));
  }
  SIM_TRY(diffusion_cut(p, setup, real_fields));
  if (!p->rates) return SIM_OK;
  SIM_TRY(diffusion_check_rates(p, setup, fields));
  SIM_TRY(diffusion_check_derived(p, setup, fields));
  SIM_TRY(diffusion_check_tolerance(p, setup, fields));
  return diffusion_check_step(p, setup, fields);
}
