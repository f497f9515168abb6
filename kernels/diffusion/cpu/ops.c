/* The CPU's table of operations: two passes over memory for each stage.
 *
 * Between stages array [0] of every field is mixed (spectral.h). Split steps have no other array, and it is the
 * state; other schemes keep the coefficients along all axes in array [1], the state, from which array [0] is
 * restored.
 *
 * On several ranks array [0] is the rank's slab, and the other arrays are its columns (slabs.h). Ranks of one host have
 * array [0] in memory that all of them see: the pass over columns reads and writes it in place, between two exchanges
 * that wait for all. Otherwise that pass turns the fields before and after. */
#include "kernels/diffusion/cpu/coupled.h"
#include "kernels/diffusion/cpu/derivation.h"
#include "kernels/diffusion/cpu/forcing.h"
#include "kernels/diffusion/cpu/plan.h"

#include "engine/reduce.h"
#include "kernels/diffusion/modes.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct diffusion_work {
  const diffusion_parameters *p;
  grid_shape grid;
  diffusion_spectral *spectral;
  diffusion_rates *rates;
  diffusion_method method;
  diffusion_arrays arrays;
  diffusion_gradients read;
  sim_buffer array[DIFFUSION_ARRAYS], table[DIFFUSION_TABLES], real;
  sim_buffer gradients; /* what the rates read beside the fields, and fluxes */
  void *flux[DIFFUSION_FLUXES];
  diffusion_derivation *derivation; /* coefficients of derived fields; NULL: none */
  diffusion_shell *shell;           /* of the forcing; NULL: none */
  const sim_comm *comm;
  diffusion_slab slab;
  /* Where columns differ from slabs: those of the mixed fields and derivatives, what one turn sends, and fields of a
   * slab that arrays of columns are turned to. */
  sim_buffer columns, sent, turned;
  /* Of ranks on one host: the mixed fields and derivatives, whole, [inputs][numbers of a field]; array [0] and
   * `gradients` are this rank's slabs in it. NULL: each rank has its own memory. */
  char *common;
  size_t common_bytes;
  sim_buffer partial, block;
  diffusion_measured measured;
  diffusion_coupled *coupled; /* cross diffusion: matrices instead of tables; else NULL */
  sim_buffer column;          /* and the transformed columns */
  int slot;
  diffusion_norm *norm;           /* of the error of a step; NULL: errors are not estimated */
  double length[DIFFUSION_SLOTS]; /* adaptive steps: tables in slot s are for steps of length[s] */
  int64_t first, end;             /* cells of the slab */
  int threads, fields;
  bool single;
};

static void destroy(diffusion_work **work) {
  diffusion_work *w = *work;
  if (!w) return;
  diffusion_spectral_destroy(&w->spectral);
  diffusion_rates_destroy(&w->rates);
  diffusion_norm_destroy(&w->norm);
  diffusion_coupled_destroy(&w->coupled);
  diffusion_derivation_destroy(&w->derivation);
  diffusion_shell_destroy(&w->shell);
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

static void *part(const sim_buffer *buffer, int field) {
  return (char *)buffer->data + (size_t)field * (size_t)buffer->shape[1] * sim_dtype_size(buffer->dtype);
}

static void each_field(const diffusion_work *w, const sim_buffer *buffer, void **out) {
  for (int f = 0; f < w->fields; f++) out[f] = part(buffer, f);
}

static sim_status create_array(const diffusion_work *w, const sim_setup *setup, int count, double numbers,
                               sim_buffer *out) {
  if (numbers * count > 0x1p60) return sim_fail(SIM_ERR_NO_MEMORY, "the grid is too large");
  return sim_buffer_create(setup->backend, w->single ? SIM_F32 : SIM_F64, 2, (int64_t[]){count, (int64_t)numbers}, out);
}

static size_t number_size(const diffusion_work *w) { return w->single ? sizeof(float) : sizeof(double); }

/* Bytes of a whole field before this rank's slab. */
static size_t begin_bytes(const diffusion_work *w) {
  return (size_t)diffusion_slab_begin(&w->grid, w->single, &w->slab) * number_size(w);
}

/* Array [0] and the derivatives, as slabs of whole fields that the ranks of a host have in common. */
static sim_status create_common(diffusion_work *w) {
  const int64_t numbers = (int64_t)diffusion_field_numbers(&w->grid, w->single);
  const int gradients = w->read.count + w->read.fluxes;
  const size_t field = (size_t)numbers * number_size(w);
  void *memory = NULL;
  if (!diffusion_in_common(&w->slab, w->comm)) return SIM_OK;
  w->common_bytes = (size_t)(w->fields + gradients) * field;
  const size_t first = begin_bytes(w);
  const size_t own = (size_t)diffusion_slab_numbers(&w->grid, w->single, &w->slab) * number_size(w);
  SIM_TRY(sim_comm_map(w->comm, (size_t)(w->fields + gradients), field, first, first + own, &memory));
  w->common = memory;
  if (!w->common) return SIM_OK;
  w->arrays.shared = true;
  w->array[0] = (sim_buffer){.data = w->common + begin_bytes(w),
                             .dtype = w->single ? SIM_F32 : SIM_F64,
                             .rank = 2,
                             .shape = {w->fields, numbers},
                             .space = SIM_SPACE_HOST};
  if (gradients == 0) return SIM_OK;
  w->gradients = w->array[0];
  w->gradients.data = w->common + (size_t)w->fields * field + begin_bytes(w);
  w->gradients.shape[0] = gradients;
  return SIM_OK;
}

/* What only several ranks need. */
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
  if (diffusion_fluctuates(w->p)) SIM_TRY(create_array(w, setup, w->fields, column, &w->array[DIFFUSION_NOISE]));
  if (diffusion_crossed(w->p)) {
    SIM_TRY(diffusion_coupled_create(w->p, w->spectral, slots, &w->coupled));
    SIM_TRY(create_array(w, setup, w->fields, column, &w->column));
  }
  for (int t = 0; t < w->method.tables && !w->coupled; t++)
    SIM_TRY(create_array(w, setup, w->fields * slots, diffusion_table_numbers(&w->grid, w->single, unfolded, &w->slab),
                         &w->table[t]));
  SIM_TRY(create_array(w, setup, w->fields, (double)(w->end - w->first), &w->real));
  if (gradients > 0 && !w->common) SIM_TRY(create_array(w, setup, gradients, field, &w->gradients));
  for (int g = 0; g < gradients; g++)
    *(g < w->read.count ? &w->arrays.gradient[g] : &w->flux[g - w->read.count]) = part(&w->gradients, g);
  SIM_TRY(diffusion_derivation_create(w->p, &w->read, w->spectral, &w->derivation));
  w->arrays.symbols = diffusion_derivation_symbols(w->derivation);
  SIM_TRY(create_exchange(w, setup));
  SIM_TRY(create_measured(w, setup));
  w->arrays.complex = unfolded;
  for (int f = 0; f < w->fields; f++) {
    for (int a = 0; a < DIFFUSION_ARRAYS; a++)
      if (w->array[a].data) w->arrays.array[f][a] = part(&w->array[a], f);
    for (int t = 0; t < w->method.tables && !w->coupled; t++) w->arrays.table[f][t] = part(&w->table[t], f);
  }
  return SIM_OK;
}

static sim_status make_tables(diffusion_work *w, double dt) {
  if (w->coupled) return diffusion_coupled_fill(w->coupled, w->slot, dt);
  for (int f = 0; f < w->fields; f++) {
    diffusion_filling filling;
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

static sim_status create_with(const diffusion_parameters *p, const sim_setup *setup, const diffusion_method *method,
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
  if (status == SIM_OK) status = create_arrays(w, setup);
  if (status == SIM_OK) status = create_rates(w, setup);
  if (status == SIM_OK) status = diffusion_shell_create(p, w->spectral, &w->shell);
  if (status == SIM_OK && diffusion_estimates(p)) status = diffusion_norm_create(w->spectral, &w->norm);
  if (status != SIM_OK) destroy(out);
  return status;
}

static sim_status create(const diffusion_parameters *p, const sim_setup *setup, diffusion_work **out) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_method method = diffusion_method_with(p, diffusion_scale(&grid));
  sim_status status = create_with(p, setup, &method, out);
  if (status == SIM_OK && method.stages > 0 && !diffusion_adaptive(p))
    status = make_tables(*out, diffusion_dt(&p->integrate));
  if (status != SIM_OK) destroy(out);
  return status;
}

/* ---- passes ---- */

/* The pass over columns of whole fields that all ranks see: when all have written theirs, and until all are done. */
static sim_status columns_in_common(diffusion_work *w, const diffusion_stage *stage, const diffusion_arrays *arrays) {
  diffusion_arrays of = *arrays;
  uint64_t most;
  for (int f = 0; f < w->fields; f++) of.array[f][0] = (char *)arrays->array[f][0] - begin_bytes(w);
  for (int g = 0; g < w->read.count; g++) of.gradient[g] = (char *)arrays->gradient[g] - begin_bytes(w);
  for (int i = 0; i < w->read.fluxes && arrays->flux[i]; i++) of.flux[i] = (char *)arrays->flux[i] - begin_bytes(w);
  SIM_TRY(sim_comm_agree(w->comm, 0, &most));
  diffusion_columns(w->spectral, stage, &of);
  return sim_comm_agree(w->comm, 0, &most);
}

/* The pass over columns of arrays whose mixed fields and derivatives are those of slabs. */
static sim_status columns(diffusion_work *w, const diffusion_stage *stage, const diffusion_arrays *arrays) {
  diffusion_arrays of = *arrays;
  if (arrays->shared) return columns_in_common(w, stage, arrays);
  if (!w->slab.turned) {
    diffusion_columns(w->spectral, stage, arrays);
    return SIM_OK;
  }
  for (int f = 0; f < w->fields; f++) {
    of.array[f][0] = part(&w->columns, f);
    if (stage->forward) SIM_TRY(diffusion_to_columns(w->spectral, arrays->array[f][0], of.array[f][0], w->sent.data));
  }
  for (int g = 0; g < w->read.count; g++) of.gradient[g] = part(&w->columns, w->fields + g);
  for (int i = 0; i < w->read.fluxes && arrays->flux[i]; i++) {
    of.flux[i] = part(&w->columns, w->fields + w->read.count + i);
    SIM_TRY(diffusion_to_columns(w->spectral, arrays->flux[i], of.flux[i], w->sent.data));
  }
  diffusion_columns(w->spectral, stage, &of);
  for (int f = 0; f < w->fields && stage->inverse; f++)
    SIM_TRY(diffusion_to_slab(w->spectral, of.array[f][0], arrays->array[f][0], w->sent.data));
  for (int g = 0; g < w->read.count && stage->inverse; g++)
    SIM_TRY(diffusion_to_slab(w->spectral, of.gradient[g], arrays->gradient[g], w->sent.data));
  return SIM_OK;
}

/* A stage with one term: array [target] = factor table array [source]. */
static sim_status visit(diffusion_work *w, int forward, int inverse, int target, int source, int table, double factor) {
  diffusion_stage stage = {forward, inverse, 1, {{target, 1, {{factor, table, source}}}}};
  if (target != 0 && inverse) stage.set[stage.sets++] = (diffusion_set){0, 1, {{1, -1, target}}};
  return columns(w, &stage, &w->arrays);
}

/* The sums of a stage with matrices, between two passes that transform all columns. */
static sim_status sum_coupled(diffusion_work *w, const diffusion_stage *stage) {
  static const diffusion_stage forward = {1, 0, 1, {{1, 1, {{1, -1, 0}}}}}, inverse = {0, 1, 1, {{0, 1, {{1, -1, 1}}}}};
  diffusion_arrays of = w->arrays;
  void *arrays[DIFFUSION_FIELDS][DIFFUSION_ARRAYS];
  memcpy(arrays, w->arrays.array, sizeof arrays);
  for (int f = 0; f < w->fields; f++) {
    of.array[f][1] = arrays[f][0] = part(&w->column, f);
    for (int a = 2; a < DIFFUSION_ARRAYS; a++) of.array[f][a] = NULL;
  }
  if (stage->forward) SIM_TRY(columns(w, &forward, &of));
  diffusion_coupled_apply(w->coupled, w->slot, stage, arrays);
  return stage->inverse ? columns(w, &inverse, &of) : SIM_OK;
}

static int state_array(const diffusion_work *w) { return w->method.arrays > 0 ? 1 : 0; }

static const sim_buffer *real_fields(const diffusion_work *w) { return &w->real; }
static const sim_buffer *state(const diffusion_work *w) { return &w->array[state_array(w)]; }

/* ---- the state of several ranks, as slabs of the whole ---- */

static sim_status state_slab(diffusion_work *w, sim_array *out) {
  const sim_buffer *slab = state(w);
  const double numbers = diffusion_slab_numbers(&w->grid, w->single, &w->slab);
  const bool columns = w->slab.turned && state_array(w) > 0, apart = w->common && w->fields > 1 && !columns;
  for (int f = 0; f < w->fields && columns; f++)
    SIM_TRY(diffusion_to_slab(w->spectral, part(slab, f), part(&w->turned, f), w->sent.data));
  for (int f = 0; f < w->fields && apart; f++)
    memcpy(part(&w->turned, f), part(slab, f), (size_t)numbers * number_size(w));
  out->data = columns || apart ? w->turned.data : slab->data;
  out->shape[1] = (int64_t)numbers;
  out->global[1] = (int64_t)diffusion_field_numbers(&w->grid, w->single);
  out->offset[1] = (int64_t)diffusion_slab_begin(&w->grid, w->single, &w->slab);
  return SIM_OK;
}

static void whole(const diffusion_work *w, sim_array *out) {
  out->shape[1] = (int64_t)diffusion_field_numbers(&w->grid, w->single);
}

static sim_status restore_slab(diffusion_work *w, const sim_array *saved) {
  const sim_buffer *to = state(w);
  const size_t size = sim_dtype_size(to->dtype),
               bytes = (size_t)diffusion_slab_numbers(&w->grid, w->single, &w->slab) * size;
  const bool turned = w->slab.turned && state_array(w) > 0;
  for (int f = 0; f < w->fields; f++) {
    const char *from = (const char *)saved->data + (size_t)(f * saved->shape[1]) * size;
    if (turned)
      diffusion_take_columns(w->spectral, from, part(to, f));
    else
      memcpy(part(to, f), from + (size_t)diffusion_slab_begin(&w->grid, w->single, &w->slab) * size, bytes);
  }
  return SIM_OK;
}

/* ---- the operations ---- */

/* Adds `sign` times their lifts to the real fields. */
static void lift(diffusion_work *w, double sign, double t) {
  for (int f = 0; f < w->fields; f++)
    diffusion_add_lift(w->p, f, sign, t, w->first, w->end, part(&w->real, f), w->threads);
}

static sim_status load(diffusion_work *w, double t) {
  void *mixed[DIFFUSION_FIELDS], *fields[DIFFUSION_FIELDS];
  each_field(w, &w->array[0], mixed);
  each_field(w, &w->real, fields);
  lift(w, -1, t);
  diffusion_planes_load(w->spectral, (const void *const *)fields, mixed);
  SIM_TRY(visit(w, 1, w->method.stages > 0, state_array(w), 0, -1, diffusion_scale(&w->grid)));
  if (!w->shell || diffusion_adaptive(w->p)) return SIM_OK;
  diffusion_stage first = w->method.stage[0]; /* whether the shell has enough energy for the first step */
  return diffusion_shell_apply(w->shell, &w->arrays, diffusion_dt(&w->p->integrate), &first);
}

static sim_status resume(diffusion_work *w) {
  return state_array(w) && w->method.stages > 0 ? visit(w, 0, 1, 0, 1, -1, 1) : SIM_OK;
}

/* Array [DIFFUSION_NOISE]: the transformed normal numbers of a step. Overwrites the real fields. */
static sim_status make_noise(diffusion_work *w, int64_t step) {
  const diffusion_stage forward = {1, 0, 1, {{DIFFUSION_NOISE, 1, {{1, -1, 0}}}}};
  diffusion_arrays arrays = {.complex = w->arrays.complex};
  void *noise[DIFFUSION_FIELDS], *fields[DIFFUSION_FIELDS];
  each_field(w, w->slab.turned ? &w->turned : &w->array[DIFFUSION_NOISE], noise);
  each_field(w, &w->real, fields);
  diffusion_white_noise(w->p, step, w->first, w->end, w->threads, fields);
  diffusion_planes_load(w->spectral, (const void *const *)fields, noise);
  for (int f = 0; f < w->fields; f++) {
    arrays.array[f][0] = noise[f];
    arrays.array[f][DIFFUSION_NOISE] = part(&w->array[DIFFUSION_NOISE], f);
  }
  return columns(w, &forward, &arrays);
}

static sim_status stage(diffusion_work *w, int index, const diffusion_step_context *context) {
  void *mixed[DIFFUSION_COLUMNS];
  diffusion_stage now = w->method.stage[index];
  const bool flows = now.forward && w->read.fluxes > 0;
  each_field(w, &w->array[0], mixed);
  memcpy(mixed + w->fields, w->arrays.gradient, sizeof w->arrays.gradient);
  memcpy(mixed + w->fields + w->read.count, w->flux, sizeof w->flux);
  if (index == w->method.stages - 1 && diffusion_fluctuates(w->p)) SIM_TRY(make_noise(w, context->step));
  if (w->shell) SIM_TRY(diffusion_shell_apply(w->shell, &w->arrays, context->h, &now));
  diffusion_rates_set(w->rates, context);
  if (now.forward) diffusion_planes(w->spectral, mixed, diffusion_rates_apply, w->rates);
  if (flows) memcpy(w->arrays.flux, w->flux, sizeof w->flux);
  const sim_status status = w->coupled ? sum_coupled(w, &now) : columns(w, &now, &w->arrays);
  memset(w->arrays.flux, 0, sizeof w->arrays.flux);
  return status;
}

static sim_status jump(diffusion_work *w, double t) {
  SIM_TRY(make_tables(w, t));
  if (!w->coupled) return visit(w, 0, 1, 0, 1, 0, 1);
  return sum_coupled(w, &(diffusion_stage){0, 1, 1, {{0, 1, {{1, 0, 1}}}}});
}

static sim_status show(diffusion_work *w, double t, const diffusion_step_context *half) {
  void *mixed[DIFFUSION_FIELDS], *fields[DIFFUSION_FIELDS];
  each_field(w, &w->array[0], mixed);
  each_field(w, &w->real, fields);
  if (half) diffusion_rates_set(w->rates, half);
  diffusion_planes_store(w->spectral, (const void *const *)mixed, NULL, fields, half ? diffusion_rates_apply : NULL,
                         w->rates);
  lift(w, 1, t);
  return SIM_OK;
}

static sim_status measure(diffusion_work *w, int field, double cell, diffusion_statistics *out) {
  (void)cell; /* of w->grid */
  return diffusion_measure(&w->measured, part(&w->real, field), out);
}

/* Every rank fills in the cells that it has, and zeros elsewhere; together the bits of all ranks are the lines. */
static sim_status lines(diffusion_work *w, int field, int axis, int64_t count, void *out) {
  const long long n[3] = {w->grid.n[0], w->grid.n[1], w->grid.n[2]};
  const size_t size = w->single ? sizeof(float) : sizeof(double), bytes = (size_t)(count * n[axis]) * size;
  const char *values = part(&w->real, field);
  const int64_t step = diffusion_line_stride(n, axis);
  char *to = out;
  memset(to, 0, bytes);
  for (int64_t j = 0; j < count; j++) {
    const int64_t begin = diffusion_line_begin(n, axis, count, j);
    for (int64_t i = 0; i < n[axis]; i++, to += size) {
      const int64_t cell = begin + i * step;
      if (cell >= w->first && cell < w->end) memcpy(to, values + (size_t)(cell - w->first) * size, size);
    }
  }
  return diffusion_join_lines(w->comm, bytes, out);
}

static sim_status use(diffusion_work *w, double h, int slot) {
  w->slot = slot;
  for (int f = 0; f < w->fields; f++)
    for (int t = 0; t < w->method.tables && !w->coupled; t++)
      w->arrays.table[f][t] = part(&w->table[t], slot * w->fields + f);
  if (w->length[slot] == h) return SIM_OK;
  w->length[slot] = NAN; /* until the tables are complete */
  SIM_TRY(make_tables(w, h));
  w->length[slot] = h;
  return SIM_OK;
}

/* Root mean square of a field from its coefficients, in an array of columns. */
static sim_status norm_of(diffusion_work *w, int field, const void *coefficients, double *out) {
  if (!w->slab.turned) return diffusion_norm_of(w->norm, field, coefficients, out);
  SIM_TRY(diffusion_to_slab(w->spectral, coefficients, w->turned.data, w->sent.data));
  return diffusion_norm_of(w->norm, field, w->turned.data, out);
}

static sim_status error(diffusion_work *w, double *errors, double *sizes) {
  for (int f = 0; f < w->fields; f++) {
    double between;
    SIM_TRY(norm_of(w, f, w->arrays.array[f][DIFFUSION_ERROR], &errors[f]));
    SIM_TRY(norm_of(w, f, w->arrays.array[f][DIFFUSION_BETWEEN], &between));
    if (!(between <= errors[f]) && !isnan(errors[f])) errors[f] = between;
    SIM_TRY(norm_of(w, f, w->arrays.array[f][DIFFUSION_NEXT], &sizes[f]));
  }
  return SIM_OK;
}

static sim_status broken(diffusion_work *w, int *field) {
  uint64_t from = 0;
  for (int f = w->fields - 1; f >= 0; f--)
    if (!diffusion_finite(w->spectral, w->arrays.array[f][state_array(w)], state_array(w) > 0))
      from = (uint64_t)(w->fields - f);
  return diffusion_first_broken(w->comm, w->fields, from, field);
}

static void accept(diffusion_work *w) {
  const sim_buffer old = w->array[1];
  w->array[1] = w->array[DIFFUSION_NEXT];
  w->array[DIFFUSION_NEXT] = old;
  for (int f = 0; f < w->fields; f++) {
    w->arrays.array[f][1] = part(&w->array[1], f);
    w->arrays.array[f][DIFFUSION_NEXT] = part(&w->array[DIFFUSION_NEXT], f);
  }
}

static const char *name(const diffusion_work *w) {
  (void)w;
  return "two passes";
}

/* ---- budgets ---- */

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
  SIM_TRY(create_with(p, &setup, &method, out));
  diffusion_work *w = *out;
  for (int f = 0; f < w->fields; f++) {
    diffusion_filling filling;
    const sim_status status = diffusion_filling_begin(p, f, 1, 1, &filling);
    if (status == SIM_OK)
      diffusion_tables(w->spectral, f, 1, w->arrays.table[f], w->arrays.complex, fill_linear, &filling);
    diffusion_filling_end(&filling);
    if (status == SIM_OK) continue;
    destroy(out);
    return status;
  }
  return SIM_OK;
}

void diffusion_budget_destroy(diffusion_work **work) { destroy(work); }

sim_status diffusion_budget_of(diffusion_work *w, double *const *fields, double t, int bins, double *transfer,
                               double *dissipation) {
  const diffusion_step_context context = {t, 0, 1, 0};
  for (int f = 0; f < w->fields; f++) memcpy(part(&w->real, f), fields[f], (size_t)w->real.shape[1] * sizeof(double));
  SIM_TRY(load(w, t));
  SIM_TRY(stage(w, 0, &context));
  for (int f = 0; f < w->fields; f++)
    diffusion_power(w->spectral, f, w->arrays.array[f][1], w->arrays.array[f][2], bins, transfer + f * bins);
  SIM_TRY(stage(w, 1, &context));
  for (int f = 0; f < w->fields; f++)
    diffusion_power(w->spectral, f, w->arrays.array[f][1], w->arrays.array[f][2], bins, dissipation + f * bins);
  for (int i = 0; i < w->fields * bins; i++) dissipation[i] = 0 - dissipation[i]; /* no -0 */
  return SIM_OK;
}

const diffusion_ops diffusion_ops_cpu = {.plan = diffusion_cpu_plan,
                                         .create = create,
                                         .destroy = destroy,
                                         .real = real_fields,
                                         .state = state,
                                         .load = load,
                                         .resume = resume,
                                         .stage = stage,
                                         .jump = jump,
                                         .show = show,
                                         .measure = measure,
                                         .lines = lines,
                                         .name = name,
                                         .broken = broken,
                                         .use = use,
                                         .error = error,
                                         .accept = accept,
                                         .whole = whole,
                                         .state_slab = state_slab,
                                         .restore_slab = restore_slab};
