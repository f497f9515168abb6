/* What implicit steps need of the CPU: passes over columns and planes. */
#include "kernels/diffusion/cpu/implicit/linearized.h"

#include "kernels/diffusion/cpu/implicit/levels.h"
#include "kernels/diffusion/cpu/implicit/vectors.h"
#include "kernels/diffusion/cpu/work.h"
#include "kernels/diffusion/implicit/parts.h"

#include <stdlib.h>
#include <string.h>

/* indices of arrays of a pass over columns */
enum { NOW, IN, OUT };
enum { NONE = -1 };

typedef struct own_memory {
  diffusion_entries entries;
  diffusion_rates *by_time;  /* derivatives of rates and fluxes by t; NULL: they do not depend on t */
  diffusion_spectral *plain; /* transforms of fields alone */
  diffusion_places places;
  sim_buffer mixed; /* [fields][numbers of the slab]: mixed fields of the vector that levels divide */
} own_memory;

double diffusion_linearized_bytes(const diffusion_parameters *p, const sim_setup *setup, double field) {
  const grid_shape grid = diffusion_grid_of(p);
  const bool single = diffusion_single(p);
  const int fields = (int)p->fields.count, threads = setup->threads;
  const diffusion_slab slab = diffusion_own_slab(&grid, single, setup->comm);
  const diffusion_gradients read = diffusion_gradients_of(p);
  diffusion_series series;
  diffusion_jacobian jacobian;
  sim_expr *entries, *timed;
  if (diffusion_jacobian_graph(p, &jacobian, &entries, &timed) != SIM_OK) return 0; /* a fault of the scenario */
  sim_expr_free(&entries);
  sim_expr_free(&timed);
  const double transforms =
      diffusion_spectral_bytes(&grid, fields, 0, 0, diffusion_series_of(p, &read, &series), single, threads);
  const double mixed =
      fields * diffusion_slab_numbers(&grid, single, &slab) * (single ? sizeof(float) : sizeof(double));
  return diffusion_linearized_vector_bytes(field) + mixed +
         diffusion_vectors_bytes(&grid, setup->comm, fields, single) +
         diffusion_entries_bytes(p, setup->comm, jacobian.count) +
         diffusion_places_bytes(p, setup->comm, jacobian.count) + transforms + 2 * diffusion_rates_bytes(p, threads);
}

static void destroy(diffusion_linearized *l) {
  own_memory *own = l->own;
  diffusion_vectors_destroy(&l->vectors);
  if (!own) return;
  diffusion_entries_destroy(&own->entries);
  diffusion_rates_destroy(&own->by_time);
  sim_buffer_destroy(&own->mixed);
  diffusion_spectral_destroy(&own->plain);
  diffusion_places_destroy(&own->places);
  free(own);
}

static sim_status create_vectors(diffusion_linearized *l, const diffusion_work *w) {
  const sim_buffer *like = &w->array[1];
  const int64_t slab = (int64_t)diffusion_slab_numbers(&w->grid, w->single, &w->slab);
  l->comm = w->comm;
  l->plane = w->slab.turned ? w->slab.stride * 2 * (int64_t)fft_group(w->single) : 0;
  SIM_TRY(diffusion_vectors_create(&w->grid, w->comm, w->fields, like->shape[1], w->single, w->threads, &l->vectors));
  SIM_TRY(diffusion_linearized_vectors(l, like));
  return sim_buffer_create(l->on->backend, like->dtype, 2, (int64_t[]){w->fields, slab},
                           &((own_memory *)l->own)->mixed);
}

/* Creates the transforms of levels, with the coefficients of the run in the same order. */
static sim_status create_plain(own_memory *own, const diffusion_work *w, const sim_setup *setup) {
  const diffusion_gradients none = {0};
  diffusion_series series;
  SIM_TRY(diffusion_spectral_create(&w->grid, w->comm, w->fields, &none, diffusion_series_of(w->p, &w->read, &series),
                                    w->single, setup->isa, w->threads, &own->plain));
  return diffusion_spectral_keep(own->plain, diffusion_dealias(&w->p->integrate));
}

static const diffusion_linear_ops ops;

sim_status diffusion_linearized_create(diffusion_work *w, const sim_setup *setup, diffusion_linearized **out) {
  sim_expr *entries, *timed;
  sim_status status = diffusion_linearized_begin(w->p, &ops, w, out, &entries, &timed);
  diffusion_linearized *l = *out;
  own_memory *own = l ? l->own = calloc(1, sizeof *own) : NULL;
  if (status == SIM_OK && !own) status = sim_no_memory("the implicit scheme");
  if (status == SIM_OK) status = diffusion_entries_create(w->p, setup, w->rates, l, entries, &own->entries);
  if (status == SIM_OK && timed)
    status = diffusion_rates_compile(w->p, timed, setup->isa, setup->threads, &own->by_time);
  sim_expr_free(&entries);
  sim_expr_free(&timed);
  if (status == SIM_OK) status = create_vectors(l, w);
  if (status == SIM_OK) status = diffusion_places_create(&own->entries, w->threads, &own->places);
  if (status == SIM_OK) status = create_plain(own, w, setup);
  if (status != SIM_OK) diffusion_linearized_destroy(out);
  return status;
}

/* ---- passes ---- */

static void each(const diffusion_work *w, const void *vector, int array, diffusion_arrays *out) {
  const size_t bytes = (size_t)w->array[1].shape[1] * work_number_size(w);
  for (int f = 0; f < w->fields; f++) out->array[f][array] = (char *)(uintptr_t)vector + (size_t)f * bytes;
}

/* Transforms coefficients to mixed fields and derivatives. */
static sim_status inverse(diffusion_linearized *l, const void *vector) {
  static const diffusion_stage stage = {0, 1, 1, {{NOW, 1, {{1, NONE, IN}}}}};
  diffusion_arrays arrays = l->work->arrays;
  each(l->work, vector, IN, &arrays);
  return diffusion_work_columns(l->work, &stage, &arrays);
}

/* Pointwise work: replaces fields by the derivatives of their rates by t. */
static void apply_by_time(void *rates, const diffusion_piece *piece) { diffusion_rates_apply(rates, piece); }

/* Sets the time of rates, and finds the function and context of pointwise work. */
static diffusion_pointwise *work_of(const diffusion_linearized *l, diffusion_linear_work work,
                                    const diffusion_step_context *now, void **context) {
  own_memory *own = l->own;
  *context = &own->entries;
  switch (work) {
  case DIFFUSION_LINEAR_RATES:
    diffusion_rates_set(l->work->rates, now);
    *context = l->work->rates;
    return diffusion_rates_apply;
  case DIFFUSION_LINEAR_ENTRIES:
    diffusion_rates_set(l->work->rates, now);
    if (own->entries.function) diffusion_rates_set(own->entries.function, now);
    return diffusion_entries_compute;
  case DIFFUSION_LINEAR_BY_TIME:
    diffusion_rates_set(own->by_time, now);
    *context = own->by_time;
    return apply_by_time;
  case DIFFUSION_LINEAR_PRODUCTS: return diffusion_entries_apply;
  case DIFFUSION_LINEAR_MEANS: break;
  }
  return diffusion_entries_apply_means;
}

static sim_status forward(diffusion_linearized *l, diffusion_linear_work work, const diffusion_step_context *now,
                          const void *vector, void *out) {
  diffusion_work *w = l->work;
  void *mixed[DIFFUSION_COLUMNS], *context;
  const double scale = diffusion_scale(&w->grid);
  const diffusion_stage with = {
      1, 0, 1, {{OUT, 2, {{scale, DIFFUSION_FACTOR_TABLE, NOW}, {1, DIFFUSION_LINEAR_TABLE, IN}}}}};
  const diffusion_stage without = {1, 0, 1, {{OUT, 1, {{scale, DIFFUSION_FACTOR_TABLE, NOW}}}}};
  diffusion_arrays arrays = w->arrays;
  work_each_field(w, &w->array[0], mixed);
  memcpy(mixed + w->fields, w->arrays.gradient, sizeof w->arrays.gradient);
  memcpy(mixed + w->fields + w->read.count, w->flux, sizeof w->flux);
  memcpy(arrays.flux, w->flux, sizeof w->flux);
  diffusion_pointwise *const apply = work_of(l, work, now, &context);
  diffusion_planes(w->spectral, mixed, apply, context);
  if (vector) each(w, vector, IN, &arrays);
  each(w, out, OUT, &arrays);
  return diffusion_work_columns(w, vector ? &with : &without, &arrays);
}

/* A column pass without transforms. */
static sim_status by_table(diffusion_linearized *l, int table, bool add, const void *in, void *out) {
  const diffusion_stage sum = {0, 0, 1, {{OUT, 2, {{1, NONE, OUT}, {1, table, IN}}}}};
  const diffusion_stage product = {0, 0, 1, {{OUT, 1, {{1, table, IN}}}}};
  diffusion_arrays arrays = l->work->arrays;
  each(l->work, in, IN, &arrays);
  each(l->work, out, OUT, &arrays);
  return diffusion_work_columns(l->work, add ? &sum : &product, &arrays);
}

static void each_number(diffusion_linearized *l, int field, diffusion_visit *visit, void *context) {
  diffusion_each_number(l->work->spectral, field, visit, context);
}

/* ---- cells ---- */

static sim_status average(diffusion_linearized *l, double *growth) {
  return diffusion_entries_average(&((own_memory *)l->own)->entries, growth);
}

static sim_status stiffness(diffusion_linearized *l, int field, double first, int terms, const double *factor,
                            const int *of, double *least, double *greatest) {
  return diffusion_places_compute(&((own_memory *)l->own)->places, field, first, terms, factor, of, least, greatest);
}

static void place(diffusion_linearized *l, int field, double low, double ratio, int levels) {
  diffusion_places_set(&((own_memory *)l->own)->places, field, low, ratio, levels);
}

/* Copies the mixed fields of the rank's slab to own->mixed, or back. */
static void copy_mixed(const diffusion_work *w, const own_memory *own, bool back) {
  const size_t bytes = (size_t)own->mixed.shape[1] * work_number_size(w);
  for (int f = 0; f < w->fields; f++) {
    void *mixed = work_part(&w->array[0], f), *copy = work_part(&own->mixed, f);
    memcpy(back ? mixed : copy, back ? copy : mixed, bytes);
  }
}

/* A pass over columns between a vector and the mixed fields alone, without derivatives. */
static sim_status plain_columns(diffusion_work *w, const own_memory *own, const diffusion_stage *stage,
                                const void *vector, int array) {
  diffusion_arrays arrays = {.complex = w->arrays.complex, .shared = w->arrays.shared};
  diffusion_spectral *spectral = w->spectral;
  for (int f = 0; f < w->fields; f++) arrays.array[f][NOW] = work_part(&w->array[0], f);
  each(w, vector, array, &arrays);
  w->spectral = own->plain;
  const sim_status status = diffusion_work_columns(w, stage, &arrays);
  w->spectral = spectral;
  return status;
}

static sim_status split(diffusion_linearized *l, const void *vector) {
  static const diffusion_stage back = {0, 1, 1, {{NOW, 1, {{1, NONE, IN}}}}};
  SIM_TRY(plain_columns(l->work, l->own, &back, vector, IN));
  copy_mixed(l->work, l->own, false);
  return SIM_OK;
}

static sim_status level(diffusion_linearized *l, int number, void *out) {
  diffusion_work *w = l->work;
  own_memory *own = l->own;
  const diffusion_stage stage = {1, 0, 1, {{OUT, 1, {{diffusion_scale(&w->grid), NONE, NOW}}}}};
  diffusion_level one = {&own->places, number};
  void *mixed[DIFFUSION_FIELDS];
  work_each_field(w, &w->array[0], mixed);
  copy_mixed(w, own, true);
  diffusion_planes(own->plain, mixed, diffusion_level_apply, &one);
  return plain_columns(w, own, &stage, out, OUT);
}

static const diffusion_linear_ops ops = {.vectors = &diffusion_vectors_cpu,
                                         .backend = &sim_backend_cpu,
                                         .destroy = destroy,
                                         .inverse = inverse,
                                         .forward = forward,
                                         .by_table = by_table,
                                         .each_number = each_number,
                                         .average = average,
                                         .stiffness = stiffness,
                                         .place = place,
                                         .split = split,
                                         .level = level};

sim_status diffusion_linearized_stage(diffusion_work *w, const diffusion_step_context *context) {
  const bool estimates = diffusion_estimates(w->p);
  const diffusion_implicit_step step = {.state = w->array[1].data,
                                        .next = w->array[estimates ? DIFFUSION_NEXT : 1].data,
                                        .error = estimates ? w->array[DIFFUSION_ERROR].data : NULL};
  SIM_TRY(diffusion_linearized_step(w->linearized, &step, context));
  return inverse(w->linearized, step.next);
}
