/* Dealiasing of the initial state: on every backend it begins without the wavenumbers that steps cut. On the host,
 * with the passes of spectral.h. */
#include "kernels/diffusion/diffusion.h"

#include <stdlib.h>

typedef struct cutter {
  diffusion_spectral *spectral;
  void *mixed, *columns, *sent, *table; /* columns, sent: NULL where a slab needs no turn */
} cutter;

static size_t bytes_of(const diffusion_parameters *p, double numbers) {
  return ((size_t)numbers * (diffusion_single(p) ? sizeof(float) : sizeof(double)) + 64) / 64 * 64;
}

double diffusion_cut_bytes(const diffusion_parameters *p, const sim_setup *setup) {
  const grid_shape grid = diffusion_grid_of(p);
  const bool single = diffusion_single(p);
  const diffusion_slab slab = diffusion_own_slab(&grid, single, setup->comm);
  if (!(diffusion_dealias(&p->integrate) > 0)) return 0;
  diffusion_series series;
  double numbers = diffusion_slab_numbers(&grid, single, &slab) + diffusion_table_numbers(&grid, single, false, &slab);
  if (slab.turned)
    numbers += diffusion_column_numbers(&grid, single, &slab) + diffusion_turn_numbers(&grid, single, setup->comm);
  return (single ? sizeof(float) : sizeof(double)) * numbers +
         diffusion_spectral_bytes(&grid, 1, 0, 0, diffusion_series_of(p, &(diffusion_gradients){0}, &series), single,
                                  setup->threads);
}

/* Scale of the transforms for wavenumbers that are kept, 0 for the others. */
static void fill(void *context, const double k[3], const int64_t mode[3], double (*values)[2]) {
  const diffusion_filling *f = context;
  (void)k;
  values[0][0] = diffusion_filling_keeps(f, mode) ? f->scale : 0;
}

static void end(cutter *c) {
  diffusion_spectral_destroy(&c->spectral);
  free(c->mixed);
  free(c->columns);
  free(c->sent);
  free(c->table);
  *c = (cutter){0};
}

static sim_status begin(const diffusion_parameters *p, const sim_setup *setup, int field, cutter *c) {
  const grid_shape grid = diffusion_grid_of(p), own = diffusion_shape_of(p, field);
  const diffusion_gradients none = {0};
  const diffusion_series series = diffusion_own_series(p, field);
  const bool single = diffusion_single(p);
  const diffusion_slab slab = diffusion_own_slab(&grid, single, setup->comm);
  diffusion_filling filling = {
      .grid = own, .scale = diffusion_scale(&grid), .dealias = diffusion_dealias(&p->integrate)};
  SIM_TRY(diffusion_spectral_create(&grid, setup->comm, 1, &none, diffusion_aligned(p, &none) ? &series : NULL, single,
                                    setup->isa, setup->threads, &c->spectral));
  c->mixed = aligned_alloc(64, bytes_of(p, diffusion_slab_numbers(&grid, single, &slab)));
  c->table = aligned_alloc(64, bytes_of(p, diffusion_table_numbers(&grid, single, false, &slab)));
  if (slab.turned) {
    c->columns = aligned_alloc(64, bytes_of(p, diffusion_column_numbers(&grid, single, &slab)));
    c->sent = aligned_alloc(64, bytes_of(p, diffusion_turn_numbers(&grid, single, setup->comm)));
  }
  if (!c->mixed || !c->table || (slab.turned && (!c->columns || !c->sent)))
    return sim_no_memory("the cut of the first state");
  diffusion_tables(c->spectral, 0, 1, &c->table, false, fill, &filling);
  return SIM_OK;
}

static sim_status cut(const diffusion_parameters *p, const sim_setup *setup, const cutter *c, int field,
                      void *real_field) {
  const diffusion_stage stage = {1, 1, 1, {{0, 1, {{1, 0, 0}}}}};
  const diffusion_arrays arrays = {.array = {{c->columns ? c->columns : c->mixed}}, .table = {{c->table}}};
  const grid_shape grid = diffusion_grid_of(p);
  const grid_range rows = diffusion_own_rows(&grid, diffusion_single(p), setup->comm);
  const int64_t first = rows.first * grid.n[0], end = rows.end * grid.n[0];
  diffusion_add_lift(p, field, -1, 0, first, end, real_field, setup->threads);
  diffusion_planes_load(c->spectral, (const void *const[]){real_field}, (void *const[]){c->mixed});
  SIM_TRY(diffusion_to_columns(c->spectral, c->mixed, c->columns, c->sent));
  diffusion_columns(c->spectral, &stage, &arrays);
  SIM_TRY(diffusion_to_slab(c->spectral, c->columns, c->mixed, c->sent));
  diffusion_planes_store(c->spectral, (const void *const[]){c->mixed}, NULL, (void *const[]){real_field}, NULL, NULL);
  diffusion_add_lift(p, field, 1, 0, first, end, real_field, setup->threads);
  return SIM_OK;
}

sim_status diffusion_cut(const diffusion_parameters *p, const sim_setup *setup, void *const *real_fields) {
  cutter c = {0};
  if (!(diffusion_dealias(&p->integrate) > 0)) return SIM_OK;
  sim_status status = SIM_OK;
  for (int f = 0; status == SIM_OK && f < (int)p->fields.count; f++) {
    if (f > 0 && !diffusion_same_walls(p, f, f - 1)) end(&c);
    if (!c.spectral) status = begin(p, setup, f, &c);
    if (status == SIM_OK) status = cut(p, setup, &c, f, real_fields[f]);
  }
  end(&c);
  return status;
}
