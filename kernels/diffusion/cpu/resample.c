#include "kernels/diffusion/cpu/resample.h"

#include <stdlib.h>

/* One of the two grids. */
typedef struct side {
  const diffusion_parameters *p;
  grid_shape grid;
  diffusion_spectral *spectral;
  void *coefficients[DIFFUSION_FIELDS];
} side;

struct diffusion_resample {
  side coarse, fine;
  int fields, threads;
};

static double field_bytes(const diffusion_parameters *p) {
  const grid_shape grid = diffusion_grid_of(p);
  return diffusion_field_numbers(&grid, diffusion_single(p)) * (diffusion_single(p) ? sizeof(float) : sizeof(double));
}

static double side_bytes(const diffusion_parameters *p, int threads) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_gradients none = {0};
  diffusion_series series;
  const int fields = (int)p->fields.count;
  return fields * field_bytes(p) + diffusion_spectral_bytes(&grid, fields, 0, 0, diffusion_series_of(p, &none, &series),
                                                            diffusion_single(p), threads);
}

double diffusion_resample_bytes(const diffusion_parameters *coarse, const diffusion_parameters *fine, int threads) {
  return side_bytes(coarse, threads) + side_bytes(fine, threads);
}

static sim_status open_side(const diffusion_parameters *p, sim_isa isa, int threads, side *out) {
  const diffusion_gradients none = {0};
  diffusion_series series;
  out->p = p;
  out->grid = diffusion_grid_of(p);
  SIM_TRY(diffusion_spectral_create(&out->grid, &sim_comm_alone, (int)p->fields.count, &none,
                                    diffusion_series_of(p, &none, &series), diffusion_single(p), isa, threads,
                                    &out->spectral));
  for (int f = 0; f < (int)p->fields.count; f++) {
    const double bytes = field_bytes(p);
    out->coefficients[f] = bytes < 0x1p60 ? aligned_alloc(64, ((size_t)bytes + 64) / 64 * 64) : NULL;
    if (!out->coefficients[f]) return sim_no_memory("fields on the grid of the rates");
  }
  return SIM_OK;
}

static void close_side(side *s) {
  diffusion_spectral_destroy(&s->spectral);
  for (int f = 0; f < DIFFUSION_FIELDS; f++) free(s->coefficients[f]);
}

sim_status diffusion_resample_create(const diffusion_parameters *coarse, const diffusion_parameters *fine, sim_isa isa,
                                     int threads, diffusion_resample **out) {
  diffusion_resample *r = *out = calloc(1, sizeof *r);
  if (!r) return sim_no_memory("fields on the grid of the rates");
  r->fields = (int)coarse->fields.count;
  r->threads = threads;
  sim_status status = open_side(coarse, isa, threads, &r->coarse);
  if (status == SIM_OK) status = open_side(fine, isa, threads, &r->fine);
  if (status != SIM_OK) diffusion_resample_destroy(out);
  return status;
}

void diffusion_resample_destroy(diffusion_resample **resample) {
  if (!*resample) return;
  close_side(&(*resample)->coarse);
  close_side(&(*resample)->fine);
  free(*resample);
  *resample = NULL;
}

static sim_status transform(diffusion_resample *r, const side *from, const side *to, double t, void *const *values,
                            void *const *out) {
  const diffusion_stage forward = {1, 0, 1, {{1, 1, {{diffusion_scale(&from->grid), -1, 0}}}}};
  const diffusion_stage inverse = {0, 1, 1, {{0, 1, {{1, -1, 1}}}}};
  diffusion_arrays a = {0}, b = {0};
  for (int f = 0; f < r->fields; f++) { /* columns are transformed in place */
    a.array[f][0] = a.array[f][1] = from->coefficients[f];
    b.array[f][0] = b.array[f][1] = to->coefficients[f];
    diffusion_add_lift(from->p, f, -1, t, 0, grid_cells(&from->grid), values[f], r->threads);
  }
  diffusion_planes_load(from->spectral, (const void *const *)values, from->coefficients);
  diffusion_columns(from->spectral, &forward, &a);
  for (int f = 0; f < r->fields; f++)
    SIM_TRY(diffusion_copy_modes(from->spectral, from->coefficients[f], to->spectral, to->coefficients[f], f));
  diffusion_columns(to->spectral, &inverse, &b);
  diffusion_planes_store(to->spectral, (const void *const *)to->coefficients, NULL, out, NULL, NULL);
  for (int f = 0; f < r->fields; f++) diffusion_add_lift(to->p, f, 1, t, 0, grid_cells(&to->grid), out[f], r->threads);
  return SIM_OK;
}

sim_status diffusion_resample_up(diffusion_resample *r, double t, void *const *from, void *const *to) {
  return transform(r, &r->coarse, &r->fine, t, from, to);
}

sim_status diffusion_resample_down(diffusion_resample *r, double t, void *const *from, void *const *to) {
  return transform(r, &r->fine, &r->coarse, t, from, to);
}
