/* Dealiasing of the initial state: on every backend it begins without the wavenumbers that steps cut. On the host,
 * with the passes of spectral.h. */
#include "kernels/diffusion/diffusion.h"

#include <stdlib.h>

typedef struct cutter {
  diffusion_spectral *spectral;
  void *mixed, *table;
} cutter;

static size_t bytes_of(const diffusion_parameters *p, double numbers) {
  return ((size_t)numbers * (diffusion_single(p) ? sizeof(float) : sizeof(double)) + 63) / 64 * 64;
}

double diffusion_cut_bytes(const diffusion_parameters *p, int threads) {
  const grid_shape grid = diffusion_grid_of(p);
  const bool single = diffusion_single(p);
  const diffusion_slab all = diffusion_own_slab(&grid, single, &sim_comm_alone);
  if (!(diffusion_dealias(&p->integrate) > 0)) return 0;
  return (single ? sizeof(float) : sizeof(double)) *
             (diffusion_field_numbers(&grid, single) + diffusion_table_numbers(&grid, single, false, &all)) +
         diffusion_spectral_bytes(&grid, 1, 0, single, threads);
}

/* Scale of the transforms for wavenumbers that are kept, 0 for the others. */
static void fill(void *context, const double k[3], const int64_t mode[3], double (*values)[2]) {
  const diffusion_filling *f = context;
  (void)k;
  values[0][0] = diffusion_filling_keeps(f, mode) ? f->scale : 0;
}

static sim_status begin(const diffusion_parameters *p, sim_isa isa, int threads, cutter *c) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_gradients none = {0};
  const bool single = diffusion_single(p);
  diffusion_filling filling = {
      .grid = grid, .scale = diffusion_scale(&grid), .dealias = diffusion_dealias(&p->integrate)};
  const diffusion_slab all = diffusion_own_slab(&grid, single, &sim_comm_alone);
  SIM_TRY(diffusion_spectral_create(&grid, &sim_comm_alone, 1, &none, single, isa, threads, &c->spectral));
  c->mixed = aligned_alloc(64, bytes_of(p, diffusion_field_numbers(&grid, single)));
  c->table = aligned_alloc(64, bytes_of(p, diffusion_table_numbers(&grid, single, false, &all)));
  if (!c->mixed || !c->table) return sim_no_memory("the cut of the first state");
  diffusion_tables(c->spectral, 1, &c->table, false, fill, &filling);
  return SIM_OK;
}

sim_status diffusion_cut(const diffusion_parameters *p, sim_isa isa, int threads, void *const *real_fields) {
  const diffusion_stage stage = {1, 1, 1, {{0, 1, {{1, 0, 0}}}}};
  const grid_shape grid = diffusion_grid_of(p);
  const int64_t cells = grid_cells(&grid);
  cutter c = {0};
  if (!(diffusion_dealias(&p->integrate) > 0)) return SIM_OK;
  const sim_status status = begin(p, isa, threads, &c);
  for (int f = 0; status == SIM_OK && f < (int)p->fields.count; f++) {
    const diffusion_arrays arrays = {.array = {{c.mixed}}, .table = {{c.table}}};
    diffusion_add_lift(p, f, -1, 0, cells, real_fields[f], threads);
    diffusion_planes_load(c.spectral, (const void *const[]){real_fields[f]}, (void *const[]){c.mixed});
    diffusion_columns(c.spectral, &stage, &arrays);
    diffusion_planes_store(c.spectral, (const void *const[]){c.mixed}, (void *const[]){real_fields[f]}, NULL, NULL);
    diffusion_add_lift(p, f, 1, 0, cells, real_fields[f], threads);
  }
  diffusion_spectral_destroy(&c.spectral);
  free(c.mixed);
  free(c.table);
  return status;
}
