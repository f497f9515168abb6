/* The CPU's table of operations: two passes over memory for each stage.
 *
 * Between stages array [0] of every field is mixed (spectral.h). Split steps have no other array, and it is the
 * state; other schemes keep the coefficients along all axes in array [1], the state, from which array [0] is
 * restored.
 *
 * On several ranks array [0] is the rank's slab, and the other arrays are its columns (slabs.h). Ranks of one host have
 * array [0] in memory that all of them see: the pass over columns reads and writes it in place, between two exchanges
 * that wait for all. Otherwise that pass turns the fields before and after. */
#include "kernels/diffusion/cpu/work.h"

#include "kernels/diffusion/modes.cuh"

#include <math.h>
#include <string.h>

static sim_status create(const diffusion_parameters *p, const sim_setup *setup, diffusion_work **out) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_method method = diffusion_method_with(p, diffusion_scale(&grid));
  sim_status status = diffusion_work_create(p, setup, &method, out);
  if (status == SIM_OK && method.stages > 0 && !diffusion_adaptive(p))
    status = diffusion_work_tables(*out, diffusion_dt(&p->integrate));
  if (status != SIM_OK) diffusion_work_destroy(out);
  return status;
}

static const sim_buffer *real_fields(const diffusion_work *w) { return &w->real; }
static const sim_buffer *state(const diffusion_work *w) { return &w->array[work_state_array(w)]; }

/* ---- the state of several ranks, as slabs of the whole ---- */

static sim_status state_slab(diffusion_work *w, sim_array *out) {
  const sim_buffer *slab = state(w);
  const double numbers = diffusion_slab_numbers(&w->grid, w->single, &w->slab);
  const bool columns = w->slab.turned && work_state_array(w) > 0, apart = w->common && w->fields > 1 && !columns;
  for (int f = 0; f < w->fields && columns; f++)
    SIM_TRY(diffusion_to_slab(w->spectral, work_part(slab, f), work_part(&w->turned, f), w->sent.data));
  for (int f = 0; f < w->fields && apart; f++)
    memcpy(work_part(&w->turned, f), work_part(slab, f), (size_t)numbers * work_number_size(w));
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
  const bool turned = w->slab.turned && work_state_array(w) > 0;
  for (int f = 0; f < w->fields; f++) {
    const char *from = (const char *)saved->data + (size_t)(f * saved->shape[1]) * size;
    if (turned)
      diffusion_take_columns(w->spectral, from, work_part(to, f));
    else
      memcpy(work_part(to, f), from + (size_t)diffusion_slab_begin(&w->grid, w->single, &w->slab) * size, bytes);
  }
  return SIM_OK;
}

/* ---- the operations ---- */

/* Adds `sign` times the lifts to the real fields. */
static void lift(diffusion_work *w, double sign, double t) {
  for (int f = 0; f < w->fields; f++)
    diffusion_add_lift(w->p, f, sign, t, w->first, w->end, work_part(&w->real, f), w->threads);
}

static sim_status load(diffusion_work *w, double t) {
  void *mixed[DIFFUSION_FIELDS], *fields[DIFFUSION_FIELDS];
  work_each_field(w, &w->array[0], mixed);
  work_each_field(w, &w->real, fields);
  lift(w, -1, t);
  diffusion_planes_load(w->spectral, (const void *const *)fields, mixed);
  SIM_TRY(diffusion_work_visit(w, 1, w->method.stages > 0, work_state_array(w), 0, -1, diffusion_scale(&w->grid)));
  if (!w->shell || diffusion_adaptive(w->p)) return SIM_OK;
  diffusion_stage first = w->method.stage[0]; /* checks whether the shell has enough energy for the first step */
  return diffusion_shell_apply(w->shell, &w->arrays, diffusion_dt(&w->p->integrate), true, &first);
}

static sim_status resume(diffusion_work *w) {
  return work_state_array(w) && w->method.stages > 0 ? diffusion_work_visit(w, 0, 1, 0, 1, -1, 1) : SIM_OK;
}

/* Fills array [DIFFUSION_NOISE] with the transformed normal numbers of a step, which overwrites the real fields, or
 * with random forcing. */
static sim_status make_noise(diffusion_work *w, int64_t step) {
  const diffusion_stage forward = {1, 0, 1, {{DIFFUSION_NOISE, 1, {{1, -1, 0}}}}};
  diffusion_arrays arrays = {.complex = w->arrays.complex};
  void *noise[DIFFUSION_FIELDS], *fields[DIFFUSION_FIELDS];
  if (w->stirring) {
    work_each_field(w, &w->array[DIFFUSION_NOISE], noise);
    diffusion_stirring_fill(w->stirring, step, noise);
    return SIM_OK;
  }
  work_each_field(w, w->slab.turned ? &w->turned : &w->array[DIFFUSION_NOISE], noise);
  work_each_field(w, &w->real, fields);
  diffusion_white_noise(w->p, step, w->first, w->end, w->threads, fields);
  diffusion_spectral *own = w->spectral;
  if (w->white) w->spectral = w->white;
  diffusion_planes_load(w->spectral, (const void *const *)fields, noise);
  for (int f = 0; f < w->fields; f++) {
    arrays.array[f][0] = noise[f];
    arrays.array[f][DIFFUSION_NOISE] = work_part(&w->array[DIFFUSION_NOISE], f);
  }
  const sim_status status = diffusion_work_columns(w, &forward, &arrays);
  w->spectral = own;
  return status;
}

static sim_status stage(diffusion_work *w, int index, const diffusion_step_context *context) {
  if (w->linearized) return diffusion_linearized_stage(w, context);
  void *mixed[DIFFUSION_COLUMNS];
  diffusion_stage now = w->method.stage[index];
  const bool flows = now.forward && w->read.fluxes > 0;
  work_each_field(w, &w->array[0], mixed);
  memcpy(mixed + w->fields, w->arrays.gradient, sizeof w->arrays.gradient);
  memcpy(mixed + w->fields + w->read.count, w->flux, sizeof w->flux);
  if (index == w->method.stages - 1 && diffusion_has_noise(w->p)) SIM_TRY(make_noise(w, context->step));
  if (w->shell) SIM_TRY(diffusion_shell_apply(w->shell, &w->arrays, context->h, false, &now));
  diffusion_rates_set(w->rates, context);
  if (now.forward) diffusion_planes(w->spectral, mixed, diffusion_rates_apply, w->rates);
  if (flows) memcpy(w->arrays.flux, w->flux, sizeof w->flux);
  const sim_status status = w->coupled ? diffusion_work_sum(w, &now) : diffusion_work_columns(w, &now, &w->arrays);
  memset(w->arrays.flux, 0, sizeof w->arrays.flux);
  return status;
}

static sim_status jump(diffusion_work *w, double t) {
  SIM_TRY(diffusion_work_tables(w, t));
  if (!w->coupled) return diffusion_work_visit(w, 0, 1, 0, 1, 0, 1);
  return diffusion_work_sum(w, &(diffusion_stage){0, 1, 1, {{0, 1, {{1, 0, 1}}}}});
}

static sim_status show(diffusion_work *w, double t, const diffusion_step_context *half) {
  void *mixed[DIFFUSION_FIELDS], *fields[DIFFUSION_FIELDS];
  work_each_field(w, &w->array[0], mixed);
  work_each_field(w, &w->real, fields);
  if (half) diffusion_rates_set(w->rates, half);
  diffusion_planes_store(w->spectral, (const void *const *)mixed, NULL, fields, half ? diffusion_rates_apply : NULL,
                         w->rates);
  lift(w, 1, t);
  return SIM_OK;
}

static sim_status measure(diffusion_work *w, int field, double cell, diffusion_statistics *out) {
  (void)cell; /* of w->grid */
  return diffusion_measure(&w->measured, work_part(&w->real, field), out);
}

/* Every rank fills in the cells of its slab, and zeros elsewhere. The union of the ranks' bits are the lines. */
static sim_status lines(diffusion_work *w, int field, int axis, int64_t count, void *out) {
  const long long n[3] = {w->grid.n[0], w->grid.n[1], w->grid.n[2]};
  const size_t size = w->single ? sizeof(float) : sizeof(double), bytes = (size_t)(count * n[axis]) * size;
  const char *values = work_part(&w->real, field);
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
  work_set_tables(w);
  if (w->length[slot] == h) return SIM_OK;
  w->length[slot] = NAN; /* until the tables are complete */
  SIM_TRY(diffusion_work_tables(w, h));
  w->length[slot] = h;
  return SIM_OK;
}

static sim_status error(diffusion_work *w, double *errors, double *sizes) {
  for (int f = 0; f < w->fields; f++) {
    double between;
    SIM_TRY(diffusion_work_norm(w, f, w->arrays.array[f][DIFFUSION_ERROR], &errors[f]));
    SIM_TRY(diffusion_work_norm(w, f, w->arrays.array[f][DIFFUSION_BETWEEN], &between));
    if (!(between <= errors[f]) && !isnan(errors[f])) errors[f] = between;
    SIM_TRY(diffusion_work_norm(w, f, w->arrays.array[f][DIFFUSION_NEXT], &sizes[f]));
  }
  return SIM_OK;
}

static sim_status broken(diffusion_work *w, int *field) {
  uint64_t from = 0;
  for (int f = w->fields - 1; f >= 0; f--)
    if (!diffusion_finite(w->spectral, w->arrays.array[f][work_state_array(w)], work_state_array(w) > 0))
      from = (uint64_t)(w->fields - f);
  return diffusion_first_broken(w->comm, w->fields, from, field);
}

static void accept(diffusion_work *w) {
  const sim_buffer old = w->array[1];
  w->array[1] = w->array[DIFFUSION_NEXT];
  w->array[DIFFUSION_NEXT] = old;
  for (int f = 0; f < w->fields; f++) {
    w->arrays.array[f][1] = work_part(&w->array[1], f);
    w->arrays.array[f][DIFFUSION_NEXT] = work_part(&w->array[DIFFUSION_NEXT], f);
  }
}

static void solved(const diffusion_work *w, diffusion_solved *out) {
  *out = w->linearized ? diffusion_linearized_solved(w->linearized) : (diffusion_solved){0};
}

static const char *name(const diffusion_work *w) {
  (void)w;
  return "two passes";
}

const diffusion_ops diffusion_ops_cpu = {.plan = diffusion_cpu_plan,
                                         .create = create,
                                         .destroy = diffusion_work_destroy,
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
                                         .solved = solved,
                                         .broken = broken,
                                         .use = use,
                                         .error = error,
                                         .accept = accept,
                                         .twin = diffusion_work_twin,
                                         .whole = whole,
                                         .state_slab = state_slab,
                                         .restore_slab = restore_slab};
