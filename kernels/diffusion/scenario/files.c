/* Values that fields begin with, from files. */
#include "kernels/diffusion/diffusion.h"

#include <stdio.h>
#include <stdlib.h>

enum { FILE_INPUT = 3 }; /* of `initial` */

bool diffusion_takes_file(const diffusion_species *s) { return s->initial && diffusion_takes(s->initial, FILE_INPUT); }

bool diffusion_has_files(const diffusion_parameters *p) {
  for (int f = 0; f < (int)p->fields.count; f++)
    if (diffusion_species_of(p, f)->file.given) return true;
  return false;
}

static sim_status read_file(const diffusion_species *s, const diffusion_grid *grid, const sim_setup *setup,
                            double *values) {
  const diffusion_file *file = &s->file;
  const bool alone = file->path[0] == '/' || !setup->folder || !setup->folder[0];
  char path[4096];
  const int length = alone ? snprintf(path, sizeof path, "%s", file->path)
                           : snprintf(path, sizeof path, "%s/%s", setup->folder, file->path);
  if (length >= (int)sizeof path) return sim_fail(SIM_ERR_SCENARIO, "a path of %d letters is too long", length);
  if (!setup->read_grid) return sim_fail(SIM_ERR_INTERNAL, "nothing that reads %s", path);
  return setup->read_grid(&(sim_grid_source){.path = path,
                                             .dataset = file->dataset,
                                             .name = s->name,
                                             .channel = file->channel,
                                             .rank = grid->rank,
                                             .n = {grid->n[0], grid->n[1], grid->n[2]}},
                          values);
}

sim_status diffusion_read_files(const diffusion_parameters *p, const sim_setup *setup, void *const *real_fields) {
  diffusion_grid grid = diffusion_grid_of(p);
  const int64_t members = grid.apart ? grid.n[grid.apart] : 1; /* all of which begin with the same values */
  if (grid.apart) grid.n[--grid.rank] = 1;
  const double all = (double)grid.n[0] * (double)grid.n[1] * (double)grid.n[2];
  if (!diffusion_has_files(p)) return SIM_OK;
  double *values = real_fields && all < 0x1p57 ? malloc((size_t)all * sizeof *values) : NULL;
  sim_status status = real_fields && !values ? sim_no_memory("values of a file") : SIM_OK;
  for (int f = 0; status == SIM_OK && f < (int)p->fields.count; f++) {
    const diffusion_species *s = diffusion_species_of(p, f);
    if (!s->file.given) continue;
    status = read_file(s, &grid, setup, values);
    if (status != SIM_OK) status = sim_fail_context("fields[%d].file", f + 1);
    const double low = s->file.range[0], width = s->file.range[1] - low;
    for (int64_t i = 0; status == SIM_OK && values && i < members * (int64_t)all; i++) {
      const double value = low + width * values[i % (int64_t)all];
      if (diffusion_single(p))
        ((float *)real_fields[f])[i] = (float)value;
      else
        ((double *)real_fields[f])[i] = value;
    }
  }
  free(values);
  return status;
}
