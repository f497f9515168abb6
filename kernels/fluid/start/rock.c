/* Porous media: solid cells from images or arrays, resistance to the flow, and the permeability of the box. */
#include "kernels/fluid/meshes.h"

#include "engine/log.h"
#include "engine/run/startup.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fluid_path_is_stack(const char *path, int *before, int *width, int *after) {
  const char *mark = strchr(path, '%');
  if (!mark) return false;
  char *end = (char *)mark + 1;
  *before = (int)(mark - path);
  *width = isdigit((unsigned char)*end) ? (int)strtol(end, &end, 10) : 0;
  *after = (int)(end + 1 - path);
  return *end == 'd' && !strchr(end, '%') && *width < 20;
}

/* values[cells]: of an array, an image, or one image for each plane of z. */
static sim_status read_values(const fluid_parameters *p, const sim_setup *setup, double *values) {
  const fluid_solid *s = &p->solid;
  const grid_shape g = fluid_grid_of(p);
  int before, width, after;
  const bool stack = fluid_path_is_stack(s->path, &before, &width, &after);
  sim_startup("reading solid cells", 0, 0);
  if (!setup->read_grid) return sim_fail(SIM_ERR_INTERNAL, "nothing that reads %s", s->path);
  for (int64_t z = 0; z < (stack ? g.n[2] : 1); z++) {
    char name[4096], path[4096];
    const int length = stack ? snprintf(name, sizeof name, "%.*s%0*lld%s", before, s->path, width,
                                        (long long)(s->first + z), s->path + after)
                             : snprintf(name, sizeof name, "%s", s->path);
    if (length >= (int)sizeof name) return sim_fail(SIM_ERR_SCENARIO, "the path is too long: %d characters", length);
    SIM_TRY(sim_setup_path(setup, name, path));
    SIM_TRY(setup->read_grid(&(sim_grid_source){.path = path,
                                                .dataset = s->dataset,
                                                .name = "solid",
                                                .channel = s->channel,
                                                .rank = stack ? 2 : g.rank,
                                                .n = {g.n[0], g.n[1], stack ? 1 : g.n[2]}},
                             values + z * g.n[0] * g.n[1]));
  }
  return SIM_OK;
}

static sim_status restore(const sim_setup *setup, fluid_meshes *out) {
  static const sim_field field = {.name = FLUID_SOLID, .type = SIM_INT};
  const sim_array array = fluid_solid_array(out, &field);
  return sim_frame_restore(setup->saved, &sim_backend_cpu, &array);
}

/* Cells of the fluid beside solid ones, with the diagonals. */
static double count_beside(const grid_shape *g, const fluid_meshes *meshes) {
  const int64_t *n = g->n;
  double out = 0;
  for (int64_t cell = 0; cell < grid_cells(g); cell++) {
    bool near = false;
    if (fluid_solid_at(meshes, cell)) continue;
    for (int k = 0; k < 27 && !near; k++) {
      const int64_t x = (cell % n[0] + k % 3 - 1 + n[0]) % n[0], y = (cell / n[0] % n[1] + k / 3 % 3 - 1 + n[1]) % n[1],
                    z = (cell / n[0] / n[1] + k / 9 - 1 + n[2]) % n[2];
      near = fluid_solid_at(meshes, (z * n[1] + y) * n[0] + x);
    }
    out += near;
  }
  return out;
}

sim_status fluid_solid_create(const fluid_parameters *p, const sim_setup *setup, fluid_meshes *out) {
  const grid_shape g = fluid_grid_of(p);
  const int64_t cells = grid_cells(&g);
  if (!p->solid.given) return SIM_OK;
  out->solid_words = (cells + 63) / 64;
  out->solid = calloc((size_t)out->solid_words, sizeof *out->solid);
  if (!out->solid) return sim_no_memory("solid cells");
  if (setup->saved) {
    SIM_TRY(restore(setup, out));
    out->solid_beside = count_beside(&g, out);
    return SIM_OK;
  }
  double *values = malloc((size_t)cells * sizeof *values);
  if (!values) return sim_no_memory("solid cells");
  sim_status status = read_values(p, setup, values);
  if (status != SIM_OK) status = sim_fail_context("solid.path");
  for (int64_t i = 0; status == SIM_OK && i < cells; i++)
    if (p->solid.dark ? values[i] < p->solid.threshold : values[i] > p->solid.threshold)
      out->solid[i / 64] |= (uint64_t)1 << (i % 64);
  free(values);
  out->solid_beside = count_beside(&g, out);
  return status;
}

sim_array fluid_solid_array(const fluid_meshes *meshes, const sim_field *field) {
  return (sim_array){.field = field,
                     .dtype = SIM_U64,
                     .rank = 1,
                     .shape = {meshes->solid_words},
                     .global = {meshes->solid_words},
                     .data = meshes->solid,
                     .space = SIM_SPACE_HOST};
}

void fluid_tell_solid(const fluid_parameters *p, const fluid_walls *w) {
  const grid_shape g = fluid_grid_of(p);
  const double part = 1 - (double)w->fluid / grid_cells_wanted(&g);
  if (!p->solid.given) return;
  sim_log(SIM_LOG_INFO, "solid: %.4g %% of the cells, porosity %.6g", 100 * part, 1 - part);
  if (part == 0) sim_log(SIM_LOG_WARN, "solid: no cell is solid: look at `threshold` and `dark`");
}

/* ---- resistance ---- */

sim_status fluid_drag_create(const fluid_parameters *p, const fluid_numbers *k, const sim_setup *setup, double **out) {
  static const grid_file none = {0};
  const grid_shape g = fluid_grid_of(p);
  const grid_start start = {.path = "resistance", .name = "resistance", .initial = p->resistance, .file = &none};
  *out = NULL;
  if (!p->resistance) return SIM_OK;
  double *drag = *out = malloc((size_t)grid_cells(&g) * sizeof *drag);
  if (!drag) return sim_no_memory("resistance");
  SIM_TRY(grid_fill(&g, grid_all_rows(&g), &start, false, 0, setup->isa, setup->threads, drag));
  for (int64_t i = 0; i < grid_cells(&g); i++) {
    if (!(drag[i] >= 0) || drag[i] * k->dt > 1)
      return sim_fail(SIM_ERR_SCENARIO,
                      "resistance: is %.6g at x = %.6g, y = %.6g, z = %.6g: expected from 0 to 1/dt = %.6g, or a "
                      "shorter integrate.dt",
                      drag[i], grid_centre(&g, 0, i % g.n[0]), grid_centre(&g, 1, i / g.n[0] % g.n[1]),
                      grid_centre(&g, 2, i / g.n[0] / g.n[1]), 1 / k->dt);
    drag[i] *= k->dt;
  }
  return SIM_OK;
}

/* ---- the table porous ---- */

bool fluid_is_porous(const fluid_parameters *p) { return p->solid.given || p->resistance; }

double fluid_driving(const fluid_parameters *p, double out[3]) {
  const grid_shape g = fluid_grid_of(p);
  double square = 0;
  for (int a = 0; a < 3; a++) {
    const fluid_side *low = &p->sides[2 * a], *high = &p->sides[2 * a + 1];
    out[a] = (size_t)a < p->acceleration.rows ? p->acceleration.data[a] : 0;
    if (a < g.rank && low->given && high->given && !isnan(low->pressure) && !isnan(high->pressure))
      out[a] += (low->pressure - high->pressure) / (p->density * g.size[a]);
    square += out[a] * out[a];
  }
  return sqrt(square);
}

void fluid_porous_row(const fluid_parameters *p, const fluid_walls *w, const double *flow, double *values) {
  const grid_shape g = fluid_grid_of(p);
  double drive[3], volume = 1, along = 0;
  const double size = fluid_driving(p, drive);
  for (int a = 0; a < g.rank; a++) volume *= g.size[a];
  *values++ = (double)w->fluid / grid_cells_wanted(&g);
  for (int a = 0; a < g.rank; a++) {
    const double u = flow[FLUID_MOMENTUM + a] / (p->density * volume);
    *values++ = u;
    along += u * drive[a];
  }
  if (size > 0) *values++ = p->viscosity * along / (size * size);
}
