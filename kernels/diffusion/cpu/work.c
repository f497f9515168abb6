/* Memory and tables of a run on the CPU. */
#include "kernels/diffusion/cpu/work.h"

#include "engine/reduce.h"

#include <stdlib.h>

void diffusion_work_destroy(diffusion_work **work) {
  diffusion_work *w = *work;
  if (!w) return;
  diffusion_spectral_destroy(&w->spectral);
  diffusion_spectral_destroy(&w->white);
  diffusion_rates_destroy(&w->rates);
  diffusion_norm_destroy(&w->norm);
  diffusion_coupled_destroy(&w->coupled);
  diffusion_derivation_destroy(&w->derivation);
  diffusion_shell_destroy(&w->shell);
  diffusion_stirring_destroy(&w->stirring);
  diffusion_linearized_destroy(&w->linearized);
  sim_buffer_destroy(&w->column);
  for (int a = 0; a < DIFFUSION_ARRAYS; a++) sim_buffer_destroy(&w->array[a]);
  for (int t = 0; t < DIFFUSION_TABLES; t++) sim_buffer_destroy(&w->table[t]);
  sim_buffer_destroy(&w->gradients);
  sim_buffer_destroy(&w->real);
  sim_comm_unmap(w->common, w->common_bytes);
  sim_buffer *const others[] = {&w->columns, &w->sent, &w->turned, &w->partial, &w->block};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) sim_buffer_destroy(others[i]);
  free(w);
  *work = NULL;
}

static sim_status create_array(const diffusion_work *w, const sim_setup *setup, int count, double numbers,
                               sim_buffer *out) {
  if (numbers * count > 0x1p60) return sim_fail(SIM_ERR_NO_MEMORY, "the grid is too large");
  return sim_buffer_create(setup->backend, w->single ? SIM_F32 : SIM_F64, 2, (int64_t[]){count, (int64_t)numbers}, out);
}

/* Creates array [0] and the derivatives, as slabs of whole fields in memory that the ranks of a host share. */
static sim_status create_common(diffusion_work *w) {
  const int64_t numbers = (int64_t)diffusion_field_numbers(&w->grid, w->single);
  const int gradients = w->read.count + w->read.fluxes;
  const size_t field = (size_t)numbers * work_number_size(w);
  void *memory = NULL;
  if (!diffusion_in_common(&w->slab, w->comm)) return SIM_OK;
  w->common_bytes = (size_t)(w->fields + gradients) * field;
  const size_t first = work_begin_bytes(w);
  const size_t own = (size_t)diffusion_slab_numbers(&w->grid, w->single, &w->slab) * work_number_size(w);
  SIM_TRY(sim_comm_map(w->comm, (size_t)(w->fields + gradients), field, first, first + own, &memory));
  w->common = memory;
  if (!w->common) return SIM_OK;
  w->arrays.shared = true;
  w->array[0] = (sim_buffer){.data = w->common + work_begin_bytes(w),
                             .dtype = w->single ? SIM_F32 : SIM_F64,
                             .rank = 2,
                             .shape = {w->fields, numbers},
                             .space = SIM_SPACE_HOST};
  if (gradients == 0) return SIM_OK;
  w->gradients = w->array[0];
  w->gradients.data = w->common + (size_t)w->fields * field + work_begin_bytes(w);
  w->gradients.shape[0] = gradients;
  return SIM_OK;
}

/* Creates the memory that only several ranks need. */
static sim_status create_exchange(diffusion_work *w, const sim_setup *setup) {
  const double column = diffusion_column_numbers(&w->grid, w->single, &w->slab);
  const int columns =
      w->common ? diffusion_columns_of(w->p, &w->slab, w->comm) : diffusion_inputs_of(w->p) + w->read.fluxes;
  if (!w->slab.turned) return SIM_OK;
  if (columns > 0) SIM_TRY(create_array(w, setup, columns, column, &w->columns));
  if (!w->common || diffusion_needs_sent(w->p, &w->slab, w->comm))
    SIM_TRY(create_array(w, setup, 1, diffusion_turn_numbers(&w->grid, w->single, w->comm), &w->sent));
  if (!diffusion_needs_turned(w->p, &w->slab, w->comm)) return SIM_OK;
  return create_array(w, setup, w->fields, diffusion_slab_numbers(&w->grid, w->single, &w->slab), &w->turned);
}

static sim_status create_measured(diffusion_work *w, const sim_setup *setup) {
  const double blocks = (double)sim_reduce_blocks((size_t)grid_cells(&w->grid));
  SIM_TRY(create_array(w, setup, 1, SIM_REDUCE_BLOCK, &w->block));
  SIM_TRY(sim_buffer_create(setup->backend, SIM_F64, 1, (int64_t[]){(int64_t)blocks}, &w->partial));
  w->measured = (diffusion_measured){.grid = w->grid,
                                     .single = w->single,
                                     .comm = w->comm,
                                     .partial = w->partial.data,
                                     .block = w->block.data,
                                     .threads = w->threads};
  return SIM_OK;
}

static sim_status create_arrays(diffusion_work *w, const sim_setup *setup) {
  const int gradients = w->read.count + w->read.fluxes;
  const bool unfolded = diffusion_unfolded(w->p);
  const int slots = diffusion_adaptive(w->p) ? DIFFUSION_SLOTS : 1;
  const double field = diffusion_slab_numbers(&w->grid, w->single, &w->slab);
  const double column = diffusion_column_numbers(&w->grid, w->single, &w->slab);
  SIM_TRY(create_common(w));
  for (int a = w->common ? 1 : 0; a <= w->method.arrays; a++)
    SIM_TRY(create_array(w, setup, w->fields, a > 0 ? column : field, &w->array[a]));
  if (diffusion_has_noise(w->p)) SIM_TRY(create_array(w, setup, w->fields, column, &w->array[DIFFUSION_NOISE]));
  if (diffusion_crossed(w->p)) {
    SIM_TRY(diffusion_coupled_create(w->p, w->spectral, slots, &w->coupled));
    SIM_TRY(create_array(w, setup, w->fields, column, &w->column));
  }
  for (int f = 0; f < w->fields; f++) {
    const int first = diffusion_tables_field(w->p, f);
    w->shared[f] = first == f ? w->distinct++ : w->shared[first];
  }
  for (int t = 0; t < w->method.tables && !w->coupled; t++)
    SIM_TRY(create_array(w, setup, w->distinct * slots,
                         diffusion_table_numbers(&w->grid, w->single, unfolded, &w->slab), &w->table[t]));
  SIM_TRY(create_array(w, setup, w->fields, (double)(w->end - w->first), &w->real));
  if (gradients > 0 && !w->common) SIM_TRY(create_array(w, setup, gradients, field, &w->gradients));
  for (int g = 0; g < gradients; g++)
    *(g < w->read.count ? &w->arrays.gradient[g] : &w->flux[g - w->read.count]) = work_part(&w->gradients, g);
  SIM_TRY(diffusion_derivation_create(w->p, &w->read, w->spectral, &w->derivation));
  w->arrays.symbols = diffusion_derivation_symbols(w->derivation);
  SIM_TRY(create_exchange(w, setup));
  SIM_TRY(create_measured(w, setup));
  w->arrays.complex = unfolded;
  for (int f = 0; f < w->fields; f++)
    for (int a = 0; a < DIFFUSION_ARRAYS; a++)
      if (w->array[a].data) w->arrays.array[f][a] = work_part(&w->array[a], f);
  work_set_tables(w);
  return SIM_OK;
}

sim_status diffusion_work_tables(diffusion_work *w, double dt) {
  if (w->coupled) return diffusion_coupled_fill(w->coupled, w->slot, dt);
  for (int f = 0, ready = 0; f < w->fields; f++) {
    diffusion_filling filling;
    if (w->shared[f] < ready) continue; /* those of a field before it */
    ready++;
    SIM_TRY(diffusion_filling_begin(w->p, f, dt, diffusion_scale(&w->grid), &filling));
    diffusion_tables(w->spectral, f, w->method.tables, w->arrays.table[f], w->arrays.complex, diffusion_method_fill,
                     &filling);
    diffusion_filling_end(&filling);
  }
  return SIM_OK;
}

static sim_status create_rates(diffusion_work *w, const sim_setup *setup) {
  if (!w->p->rates) return SIM_OK;
  return diffusion_rates_create(w->p, diffusion_form_of(w->p->integrate.scheme), setup->isa, w->threads, &w->rates);
}

sim_status diffusion_work_create(const diffusion_parameters *p, const sim_setup *setup, const diffusion_method *method,
                                 diffusion_work **out) {
  diffusion_work *w = *out = calloc(1, sizeof *w);
  if (!w) return sim_no_memory("the model");
  w->p = p;
  w->grid = diffusion_grid_of(p);
  w->fields = (int)p->fields.count;
  w->single = diffusion_single(p);
  w->threads = setup->threads;
  w->comm = setup->comm;
  w->slab = diffusion_own_slab(&w->grid, w->single, w->comm);
  w->first = w->slab.first * diffusion_plane_cells(&w->grid);
  w->end = w->slab.end * diffusion_plane_cells(&w->grid);
  w->method = *method;
  w->read = diffusion_gradients_of(p);
  diffusion_series series;
  sim_status status =
      diffusion_spectral_create(&w->grid, w->comm, w->fields, &w->read, diffusion_series_of(p, &w->read, &series),
                                w->single, setup->isa, w->threads, &w->spectral);
  /* the state must have zeros where dealiasing cuts: it is no mixed field and no sum with matrices */
  if (status == SIM_OK && method->arrays > 0 && !diffusion_crossed(p))
    status = diffusion_spectral_keep(w->spectral, diffusion_dealias(&p->integrate));
  if (status == SIM_OK && diffusion_white_series(p, &series))
    status = diffusion_spectral_create(&w->grid, w->comm, w->fields, &(diffusion_gradients){0}, &series, w->single,
                                       setup->isa, w->threads, &w->white);
  if (status == SIM_OK) status = create_arrays(w, setup);
  if (status == SIM_OK) status = create_rates(w, setup);
  if (status == SIM_OK) status = diffusion_shell_create(p, w->spectral, w->comm, &w->shell);
  if (status == SIM_OK) status = diffusion_stirring_create(p, w->spectral, &w->stirring);
  if (status == SIM_OK && diffusion_implicit(p)) status = diffusion_linearized_create(w, setup, &w->linearized);
  if (status == SIM_OK && (diffusion_estimates(p) || p->lyapunov.given))
    status = diffusion_norm_create(w->spectral, &w->norm);
  if (status != SIM_OK) diffusion_work_destroy(out);
  return status;
}
