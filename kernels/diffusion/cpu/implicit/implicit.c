/* RODAS3, a linearly implicit method of four stages and order 3, with an estimate by its own scheme of order 2 (Sandu
 * et al., Atmos. Environ. 31, 1997). Both are L-stable. u_t = F(u, t) = L u + N - div flux, J is the derivative of F by
 * u at the beginning of the step, and the stages k_i follow from
 *
 *   (1/(g h) - J) k_i = F(u_i, t_i) + sum_(j<i) (c_ij/h) k_j + g_i h F_t,    u_i = u + sum_(j<i) a_ij k_j,  g = 1/2.
 *
 * The new state is u_4 + k_4, the estimate of its error k_4.
 *
 * These equations are solved by GMRES in the space of coefficients. Each is multiplied by an approximate inverse P of
 * 1/(g h) - J (levels.h), which is made of that of 1/(g h) - J_mean. J_mean has the means over all cells of the
 * derivatives of N and of the flux, so that it is a number at each wavenumber. A residual after P is nearly the error
 * of k_i. Its norm is that of each field over the size of the field. Wavenumber 0 has J_mean alone, so that a field
 * that only fluxes change keeps its mean to rounding, whatever the residual is.
 *
 * Where the state grows by a rate above 1/(g h), 1/(g h) - J is negative. The equations then have a solution that
 * decays, although the true one grows, and may even have no bound within the step. Such a step is too long. */
#include "kernels/diffusion/cpu/implicit/implicit.h"

#include "kernels/diffusion/cpu/implicit/levels.h"
#include "kernels/diffusion/cpu/implicit/vectors.h"
#include "kernels/diffusion/cpu/work.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* iterations: at most for a system, and for the choice of P */
enum { STAGES = 4, MOST = 300, TRIED = 8 };
/* indices of arrays of a pass over columns, and of tables */
enum { NOW, IN, OUT };
enum { LINEAR, FACTOR };
enum { NONE = -1 };

static const double gamma_ = 0.5;
static const double a[STAGES][STAGES - 1] = {{0}, {0}, {2, 0, 0}, {2, 0, 1}};
static const double c[STAGES][STAGES - 1] = {{0}, {4}, {1, -1}, {1, -1, -8.0 / 3}};
static const double by_time[STAGES] = {0.5, 1.5, 0, 0};
static const double at[STAGES] = {0, 0, 1, 1};

struct diffusion_linearized {
  diffusion_entries entries;
  diffusion_rates *by_time; /* derivatives of rates and fluxes by t; NULL: they do not depend on t */
  diffusion_vectors vectors;
  diffusion_solver solver;
  diffusion_spectral *plain; /* transforms of fields alone */
  diffusion_levels levels;
  bool started;  /* levels.symbols, levels.linear and `levelled` are known */
  bool by_level; /* P has the levels, or J_mean alone */
  /* vectors: u_i, F(u_i), F_t, P times the right-hand side, the symbol of J_mean, the numbers to which levels apply (1,
   * others 0), scratch, and the k_i */
  sim_buffer state, force, forced, right, symbol, levelled, sum, part, mixed, stage[STAGES],
      basis[DIFFUSION_KRYLOV + 1];
  double weight[DIFFUSION_FIELDS];
  double h, tolerance;
  diffusion_solved solved;
};

/* Returns all vectors, out[VECTORS]. */
enum { VECTORS = 9 + (int)STAGES + (int)DIFFUSION_KRYLOV + 1 };
static void all_vectors(diffusion_linearized *l, sim_buffer **out) {
  sim_buffer *const arrays[] = {&l->state,    &l->force, &l->forced, &l->right, &l->symbol,
                                &l->levelled, &l->sum,   &l->part,   &l->mixed};
  int count = 0;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) out[count++] = arrays[i];
  for (int i = 0; i < STAGES; i++) out[count++] = &l->stage[i];
  for (int i = 0; i <= DIFFUSION_KRYLOV; i++) out[count++] = &l->basis[i];
}

double diffusion_linearized_bytes(const diffusion_parameters *p, double field, int threads) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_gradients read = diffusion_gradients_of(p);
  diffusion_series series;
  diffusion_jacobian jacobian;
  sim_expr *entries, *timed;
  if (diffusion_jacobian_graph(p, &jacobian, &entries, &timed) != SIM_OK) return 0; /* a fault of the scenario */
  sim_expr_free(&entries);
  sim_expr_free(&timed);
  const double transforms = diffusion_spectral_bytes(
      &grid, (int)p->fields.count, 0, 0, diffusion_series_of(p, &read, &series), diffusion_single(p), threads);
  return VECTORS * field + diffusion_entries_bytes(p, jacobian.count) + diffusion_levels_bytes(p, jacobian.count) +
         transforms + 2 * diffusion_rates_bytes(p, threads);
}

void diffusion_linearized_destroy(diffusion_linearized **linearized) {
  diffusion_linearized *l = *linearized;
  if (!l) return;
  diffusion_entries_destroy(&l->entries);
  diffusion_rates_destroy(&l->by_time);
  sim_buffer *vectors[VECTORS];
  all_vectors(l, vectors);
  for (int i = 0; i < VECTORS; i++) sim_buffer_destroy(vectors[i]);
  diffusion_spectral_destroy(&l->plain);
  diffusion_levels_destroy(&l->levels);
  free(l->vectors.partial);
  free(l);
  *linearized = NULL;
}

static sim_status create_vectors(diffusion_linearized *l, const diffusion_work *w, const sim_setup *setup) {
  const sim_buffer *like = &w->array[1];
  const grid_shape *grid = &w->grid;
  bool walls = true;
  for (int axis = 0; axis < grid->rank; axis++) walls = walls && grid->boundary[axis] != GRID_PERIODIC;
  l->vectors = (diffusion_vectors){.fields = w->fields,
                                   .threads = w->threads,
                                   .count = like->shape[1],
                                   .single = w->single,
                                   .lanes = walls ? 0 : (int)fft_group(w->single)};
  l->vectors.partial = calloc((size_t)diffusion_vectors_blocks(&l->vectors) * DIFFUSION_VECTOR_TERMS, sizeof(double));
  if (!l->vectors.partial) return sim_no_memory("the implicit scheme");
  sim_buffer *vectors[VECTORS];
  all_vectors(l, vectors);
  for (int i = 0; i < VECTORS; i++) SIM_TRY(sim_buffer_create(setup->backend, like->dtype, 2, like->shape, vectors[i]));
  return SIM_OK;
}

/* Creates the transforms of levels, with the coefficients of the run in the same order. */
static sim_status create_plain(diffusion_linearized *l, const diffusion_work *w, const sim_setup *setup) {
  const diffusion_gradients none = {0};
  diffusion_series series;
  SIM_TRY(diffusion_spectral_create(&w->grid, w->comm, w->fields, &none, diffusion_series_of(w->p, &w->read, &series),
                                    w->single, setup->isa, w->threads, &l->plain));
  return diffusion_spectral_keep(l->plain, diffusion_dealias(&w->p->integrate));
}

sim_status diffusion_linearized_create(const diffusion_work *w, const sim_setup *setup, diffusion_linearized **out) {
  diffusion_linearized *l = *out = calloc(1, sizeof *l);
  diffusion_jacobian jacobian;
  sim_expr *entries, *timed;
  if (!l) return sim_no_memory("the implicit scheme");
  sim_status status = diffusion_jacobian_graph(w->p, &jacobian, &entries, &timed);
  if (status == SIM_OK) status = diffusion_entries_create(w->p, setup, w->rates, &jacobian, entries, &l->entries);
  if (status == SIM_OK && timed) status = diffusion_rates_compile(w->p, timed, setup->isa, setup->threads, &l->by_time);
  sim_expr_free(&entries);
  sim_expr_free(&timed);
  if (status == SIM_OK) status = create_vectors(l, w, setup);
  if (status == SIM_OK) status = diffusion_levels_create(&l->entries, w->threads, &l->levels);
  if (status == SIM_OK) status = create_plain(l, w, setup);
  if (status != SIM_OK) diffusion_linearized_destroy(out);
  return status;
}

/* ---- passes ---- */

static void each(const diffusion_work *w, const void *vector, int array, diffusion_arrays *out) {
  const size_t bytes = (size_t)w->array[1].shape[1] * work_number_size(w);
  for (int f = 0; f < w->fields; f++) out->array[f][array] = (char *)(uintptr_t)vector + (size_t)f * bytes;
}

/* Transforms coefficients to mixed fields and derivatives. */
static sim_status inverse(diffusion_work *w, const void *vector) {
  static const diffusion_stage stage = {0, 1, 1, {{NOW, 1, {{1, NONE, IN}}}}};
  diffusion_arrays arrays = w->arrays;
  each(w, vector, IN, &arrays);
  return diffusion_work_columns(w, &stage, &arrays);
}

/* Does pointwise work on the mixed fields, and computes out = L vector + the result. vector: NULL for 0. */
static sim_status forward(diffusion_work *w, diffusion_pointwise *work, void *context, const void *vector, void *out) {
  void *mixed[DIFFUSION_COLUMNS];
  const double scale = diffusion_scale(&w->grid);
  const diffusion_stage with = {1, 0, 1, {{OUT, 2, {{scale, FACTOR, NOW}, {1, LINEAR, IN}}}}};
  const diffusion_stage without = {1, 0, 1, {{OUT, 1, {{scale, FACTOR, NOW}}}}};
  diffusion_arrays arrays = w->arrays;
  work_each_field(w, &w->array[0], mixed);
  memcpy(mixed + w->fields, w->arrays.gradient, sizeof w->arrays.gradient);
  memcpy(mixed + w->fields + w->read.count, w->flux, sizeof w->flux);
  memcpy(arrays.flux, w->flux, sizeof w->flux);
  diffusion_planes(w->spectral, mixed, work, context);
  if (vector) each(w, vector, IN, &arrays);
  each(w, out, OUT, &arrays);
  return diffusion_work_columns(w, vector ? &with : &without, &arrays);
}

/* Pointwise work: replaces fields by the derivatives of their rates by t. */
static void apply_by_time(void *rates, const diffusion_piece *piece) { diffusion_rates_apply(rates, piece); }

/* ---- the approximate inverse ---- */

/* Adds to l->sum the part of each level of the vector whose mixed fields are in l->mixed. */
static sim_status add_level(diffusion_work *w, diffusion_linearized *l, int number) {
  const diffusion_stage stage = {1, 0, 1, {{OUT, 1, {{diffusion_scale(&w->grid), NONE, NOW}}}}};
  diffusion_arrays arrays = {.complex = w->arrays.complex};
  diffusion_level level = {&l->levels, number};
  void *mixed[DIFFUSION_FIELDS];
  work_each_field(w, &w->array[0], mixed);
  for (int f = 0; f < w->fields; f++) arrays.array[f][NOW] = mixed[f];
  each(w, l->part.data, OUT, &arrays);
  memcpy(w->array[0].data, l->mixed.data, sim_buffer_bytes(&l->mixed));
  diffusion_planes(l->plain, mixed, diffusion_level_apply, &level);
  diffusion_columns(l->plain, &stage, &arrays);
  diffusion_vectors_resolve(&l->vectors, l->part.data, 1 / (gamma_ * l->h), l->levels.factor[number], l->symbol.data);
  diffusion_vectors_sum(&l->vectors, l->sum.data, 2, (const double[]){1, 1},
                        (const void *const[]){l->sum.data, l->part.data});
  return SIM_OK;
}

/* Replaces a vector by P times it. */
static sim_status precondition(diffusion_work *w, diffusion_linearized *l, void *vector) {
  static const diffusion_stage back = {0, 1, 1, {{NOW, 1, {{1, NONE, IN}}}}};
  const double one[DIFFUSION_FIELDS] = {1, 1, 1, 1, 1, 1, 1, 1};
  if (l->by_level) {
    diffusion_arrays arrays = {.complex = w->arrays.complex};
    for (int f = 0; f < w->fields; f++) arrays.array[f][NOW] = work_part(&w->array[0], f);
    each(w, vector, IN, &arrays);
    diffusion_columns(l->plain, &back, &arrays);
    memcpy(l->mixed.data, w->array[0].data, sim_buffer_bytes(&l->mixed));
    memset(l->sum.data, 0, sim_buffer_bytes(&l->sum));
    for (int q = 0; q < l->levels.count; q++) SIM_TRY(add_level(w, l, q));
  }
  diffusion_vectors_resolve(&l->vectors, vector, 1 / (gamma_ * l->h), one, l->symbol.data);
  if (l->by_level) diffusion_vectors_choose(&l->vectors, vector, l->sum.data, l->levelled.data);
  return SIM_OK;
}

/* out = P (1/(g h) - J) v */
static sim_status apply(void *context, const void *v, void *out) {
  diffusion_work *w = context;
  diffusion_linearized *l = w->linearized;
  SIM_TRY(inverse(w, v));
  SIM_TRY(forward(w, diffusion_entries_apply, &l->entries, v, out));
  diffusion_vectors_sum(&l->vectors, out, 2, (const double[]){1 / (gamma_ * l->h), -1}, (const void *const[]){v, out});
  return precondition(w, l, out);
}

/* Sets a number of each coefficient of a field to 1 + 0 i. */
static void set_ones(const diffusion_work *w, const diffusion_vectors *v, void *field) {
  for (int64_t i = 0; i < v->count; i++)
    grid_set_number(field, w->single, i, v->lanes == 0 || i % (2 * v->lanes) < v->lanes ? 1 : 0);
}

/* Computes the symbol of J_mean without L for one field: its result for a field whose coefficients are all 1. */
static sim_status symbol_of(diffusion_work *w, diffusion_linearized *l, int field, sim_buffer *out) {
  memset(l->part.data, 0, sim_buffer_bytes(&l->part));
  set_ones(w, &l->vectors, work_part(&l->part, field));
  SIM_TRY(inverse(w, l->part.data));
  SIM_TRY(forward(w, diffusion_entries_apply_means, &l->entries, NULL, l->state.data));
  memcpy(work_part(out, field), work_part(&l->state, field), (size_t)l->vectors.count * work_number_size(w));
  return SIM_OK;
}

/* Of a vector without divergence, a component's symbol is that of its projection, which is 1 - k_a^2/k^2 times what is
 * sought; all components together have rank - 1 times that. */
static void join_components(const diffusion_work *w, diffusion_linearized *l) {
  int vector[3];
  const int components = diffusion_vector_of(w->p, vector);
  diffusion_vectors one = l->vectors;
  one.fields = 1;
  for (int i = 1; i < components; i++) {
    void *sum = work_part(&l->symbol, vector[0]), *other = work_part(&l->symbol, vector[i]);
    const double factor = i == components - 1 ? 1.0 / (components - 1) : 1;
    diffusion_vectors_sum(&one, sum, 2, (const double[]){factor, factor}, (const void *const[]){sum, other});
  }
  for (int i = 1; i < components; i++)
    memcpy(work_part(&l->symbol, vector[i]), work_part(&l->symbol, vector[0]),
           (size_t)l->vectors.count * work_number_size(w));
}

/* Computes out = the sum of terms of a column pass without transforms, from IN. */
static sim_status sum_columns(diffusion_work *w, const void *in, const void *out, int terms,
                              const diffusion_term *term) {
  diffusion_stage stage = {0, 0, 1, {{OUT, terms, {{0}}}}};
  diffusion_arrays arrays = w->arrays;
  memcpy(stage.set[0].term, term, (size_t)terms * sizeof *term);
  each(w, in, IN, &arrays);
  each(w, out, OUT, &arrays);
  return diffusion_work_columns(w, &stage, &arrays);
}

typedef struct waves {
  const diffusion_work *w;
  sim_buffer *levelled;
  const double *size; /* [numbers] */
  int field;
  int64_t stiffest;
} waves;

/* Leaves wavenumber 0 out of the levels, and finds the stiffest one. */
static void visit_wave(void *context, const diffusion_number *number) {
  waves *all = context;
  if (number->k2 == 0) grid_set_number(work_part(all->levelled, all->field), all->w->single, number->at, 0);
  if (!number->imaginary && all->size[number->at] > all->size[all->stiffest]) all->stiffest = number->at;
}

/* Returns |z| of a number of coefficients. */
static double magnitude(const diffusion_work *w, const diffusion_vectors *v, const void *field, int64_t i) {
  return v->lanes > 0 ? hypot(grid_number(field, w->single, i), grid_number(field, w->single, i + v->lanes))
                      : fabs(grid_number(field, w->single, i));
}

/* Adds to size[numbers] the symbol of one entry over its maximum. */
static void add_size(const diffusion_work *w, const diffusion_vectors *v, const void *field, double *size) {
  double most = 0;
  const int64_t lanes = v->lanes > 0 ? 2 * v->lanes : 1;
  for (int64_t i = 0; i < v->count; i++)
    if (i % lanes < (v->lanes > 0 ? v->lanes : 1)) most = fmax(most, magnitude(w, v, field, i));
  for (int64_t i = 0; i < v->count && most > 0; i++)
    if (i % lanes < (v->lanes > 0 ? v->lanes : 1)) size[i] += magnitude(w, v, field, i) / most;
}

/* Finds the wavenumbers of levels, and the entries' symbols at the stiffest one of each field. A vector without
 * divergence has no levels, which would give it one. */
static sim_status start_levels(diffusion_work *w, diffusion_linearized *l) {
  const int entries = l->entries.jacobian.count;
  const diffusion_vectors *v = &l->vectors;
  int vector[3];
  double *size = calloc((size_t)v->count, sizeof *size), *means = calloc((size_t)entries + 1, sizeof *means);
  sim_status status = size && means ? SIM_OK : sim_no_memory("the implicit scheme");
  if (status == SIM_OK && entries > 0) memcpy(means, l->entries.means, (size_t)entries * sizeof *means);
  for (int f = 0; f < w->fields && status == SIM_OK; f++) {
    int64_t stiffest = 0;
    memset(size, 0, (size_t)v->count * sizeof *size);
    for (int pass = 0; pass < 2 && status == SIM_OK; pass++) {
      for (int i = 0; i < entries && status == SIM_OK; i++) {
        if (diffusion_entry_field(&l->entries, i) != f || !l->entries.even[i]) continue;
        for (int k = 0; k < entries; k++) l->entries.means[k] = k == i;
        status = symbol_of(w, l, f, &l->symbol);
        if (pass == 0)
          add_size(w, v, work_part(&l->symbol, f), size);
        else
          l->levels.symbols[i] = grid_number(work_part(&l->symbol, f), w->single, stiffest);
      }
      waves all = {w, &l->levelled, size, f, 0};
      if (pass == 0) diffusion_each_number(w->spectral, f, visit_wave, &all);
      stiffest = pass == 0 ? all.stiffest : stiffest;
    }
    set_ones(w, v, work_part(&l->part, f));
    if (status == SIM_OK) status = sum_columns(w, l->part.data, l->symbol.data, 1, &(diffusion_term){1, LINEAR, IN});
    l->levels.linear[f] = grid_number(work_part(&l->symbol, f), w->single, stiffest);
  }
  if (status == SIM_OK && entries > 0) memcpy(l->entries.means, means, (size_t)entries * sizeof *means);
  for (int i = 0; i < entries && diffusion_vector_of(w->p, vector) > 0; i++) l->levels.symbols[i] = 0;
  free(size);
  free(means);
  return status;
}

/* Chooses the wavenumbers of levels: all that rates can change. */
static sim_status set_levelled(diffusion_work *w, diffusion_linearized *l) {
  for (int f = 0; f < w->fields; f++) set_ones(w, &l->vectors, work_part(&l->part, f));
  SIM_TRY(sum_columns(w, l->part.data, l->levelled.data, 1, &(diffusion_term){1, FACTOR, IN}));
  const int lanes = l->vectors.lanes;
  for (int f = 0; f < w->fields; f++)
    for (int64_t i = 0; i < l->vectors.count; i++) {
      const int64_t re = lanes > 0 && i % (2 * lanes) >= lanes ? i - lanes : i;
      const bool any = grid_number(work_part(&l->levelled, f), w->single, re) != 0;
      grid_set_number(work_part(&l->levelled, f), w->single, i, any ? 1 : 0);
    }
  return SIM_OK;
}

/* Computes the symbol of J_mean, and chooses levels. */
static sim_status make_inverse(diffusion_work *w, diffusion_linearized *l) {
  if (!l->started) {
    SIM_TRY(set_levelled(w, l));
    SIM_TRY(start_levels(w, l));
    l->started = true;
  }
  for (int f = 0; f < w->fields; f++) SIM_TRY(symbol_of(w, l, f, &l->symbol));
  join_components(w, l);
  for (int f = 0; f < w->fields; f++) set_ones(w, &l->vectors, work_part(&l->part, f));
  SIM_TRY(sum_columns(w, l->part.data, l->symbol.data, 2,
                      (const diffusion_term[]){{1, NONE, OUT}, {1, LINEAR, IN}})); /* adds L */
  diffusion_levels_place(&l->levels, gamma_ * l->h);
  l->by_level = false;
  return SIM_OK;
}

/* ---- a step ---- */

/* Sets the weights of the norm to the inverse squares of the fields' sizes, or of what the estimate of the error may
 * be. A field that is 0 has the size of its change. */
static void set_weights(const diffusion_work *w, diffusion_linearized *l) {
  const diffusion_vectors *v = &l->vectors;
  const diffusion_integrate *i = &w->p->integrate;
  const double one = 1;
  diffusion_vectors own = *v;
  own.fields = 1;
  for (int f = 0; f < w->fields; f++) {
    const void *u = work_part(&w->array[1], f), *k = work_part(&l->right, f);
    double size, change;
    diffusion_vectors_dots(&own, &one, u, 1, &u, &size);
    diffusion_vectors_dots(&own, &one, k, 1, &k, &change);
    const double reach = sqrt(size > 0 ? size : change > 0 ? change : 1);
    const double held = diffusion_estimates(w->p) ? i->atol + i->rtol * reach : reach;
    l->weight[f] = 1 / (held * held);
  }
}

/* Computes P times the right-hand side of a stage. */
static sim_status set_right(diffusion_work *w, diffusion_linearized *l, int stage) {
  const void *of[STAGES + 2] = {l->force.data};
  double factor[STAGES + 2] = {1};
  int terms = 1;
  for (int j = 0; j < stage; j++) {
    of[terms] = l->stage[j].data;
    factor[terms++] = c[stage][j] / l->h;
  }
  if (l->by_time && by_time[stage] != 0) {
    of[terms] = l->forced.data;
    factor[terms++] = by_time[stage] * l->h;
  }
  diffusion_vectors_sum(&l->vectors, l->right.data, terms, factor, of);
  return precondition(w, l, l->right.data);
}

/* Computes u_i of a stage, and F there. */
static sim_status evaluate(diffusion_work *w, diffusion_linearized *l, int stage,
                           const diffusion_step_context *context) {
  const void *of[STAGES + 1] = {w->array[1].data};
  double factor[STAGES + 1] = {1};
  int terms = 1;
  for (int j = 0; j < stage; j++)
    if (a[stage][j] != 0) {
      of[terms] = l->stage[j].data;
      factor[terms++] = a[stage][j];
    }
  diffusion_vectors_sum(&l->vectors, l->state.data, terms, factor, of);
  diffusion_step_context now = *context;
  now.t = context->t + at[stage] * context->h;
  now.substeps = 1;
  diffusion_rates_set(w->rates, &now);
  SIM_TRY(inverse(w, l->state.data));
  return forward(w, diffusion_rates_apply, w->rates, l->state.data, l->force.data);
}

/* Computes F, F_t and the derivatives at the beginning of a step, and from these P. */
static sim_status linearize(diffusion_work *w, diffusion_linearized *l, const diffusion_step_context *context) {
  const void *u = w->array[1].data;
  const grid_shape *grid = &w->grid;
  diffusion_step_context now = *context;
  now.substeps = 1;
  diffusion_rates_set(w->rates, &now);
  if (l->entries.function) diffusion_rates_set(l->entries.function, &now);
  SIM_TRY(inverse(w, u));
  SIM_TRY(forward(w, diffusion_entries_compute, &l->entries, u, l->force.data));
  diffusion_entries_average(&l->entries, grid_cells_wanted(grid));
  if (l->by_time) {
    diffusion_rates_set(l->by_time, &now);
    SIM_TRY(inverse(w, u));
    SIM_TRY(forward(w, apply_by_time, l->by_time, NULL, l->forced.data));
  }
  return make_inverse(w, l);
}

/* Fills a vector with a number. */
static void fill(const diffusion_work *w, const sim_buffer *vector, double number) {
  for (int64_t i = 0; i < vector->shape[0] * vector->shape[1]; i++) grid_set_number(vector->data, w->single, i, number);
}

/* Sets the tolerance of a step's systems, from the first one. The error of a step of order 3 is of the fourth power of
 * its change, so that the tolerance of a residual over the change is the third power. With an estimate it is a share of
 * what that may be, and of the change: a state that is small beside atol may grow. It is above the rounding of products
 * in the change, whatever the size of the fields: else slow changes would be lost. */
static void set_tolerance(const diffusion_work *w, diffusion_linearized *l) {
  const double rounding = 64 * (w->single ? FLT_EPSILON : DBL_EPSILON);
  double square;
  set_weights(w, l);
  diffusion_vectors_dots(&l->vectors, l->weight, l->right.data, 1, (const void *const[]){l->right.data}, &square);
  const double change = sqrt(square), part = fmin(fmax(change * square, 1e-9), 1e-4);
  l->tolerance = fmax(diffusion_estimates(w->p) ? fmin(0.02, 1e-3 * change) : part * change, rounding * change);
}

/* Makes a few iterations of the first system. Returns by how much they reduce the residual. */
static sim_status begin_system(diffusion_work *w, diffusion_linearized *l, bool by_level, double *reduction) {
  double residual, square;
  int applied;
  l->by_level = by_level;
  SIM_TRY(set_right(w, l, 0));
  diffusion_vectors_dots(&l->vectors, l->weight, l->right.data, 1, (const void *const[]){l->right.data}, &square);
  SIM_TRY(diffusion_solve(&l->solver, l->right.data, l->stage[0].data, l->tolerance, TRIED, &applied, &residual));
  *reduction = residual > l->tolerance ? residual / sqrt(square) : 0;
  return SIM_OK;
}

/* Chooses P where there are levels, which take twice the time or more for an iteration. */
static sim_status choose_inverse(diffusion_work *w, diffusion_linearized *l) {
  double mean, level;
  if (l->levels.count == 1) return SIM_OK;
  SIM_TRY(begin_system(w, l, false, &mean));
  if (mean == 0) return SIM_OK;
  SIM_TRY(begin_system(w, l, true, &level));
  l->by_level = level * level < mean * mean * mean;
  return SIM_OK;
}

/* Returns by what rate the state grows at most: J_mean at each wavenumber, and the derivative of each field's rate by
 * that field in each cell. */
static double growth_of(const diffusion_work *w, const diffusion_linearized *l) {
  double most = diffusion_entries_growth(&l->entries);
  const int lanes = l->vectors.lanes;
  for (int f = 0; f < w->fields; f++)
    for (int64_t i = 0; i < l->vectors.count; i++)
      if (lanes == 0 || i % (2 * lanes) < lanes) most = fmax(most, grid_number(work_part(&l->symbol, f), w->single, i));
  return most;
}

/* Whether a step of this length follows what grows. */
static sim_status check_growth(const diffusion_work *w, const diffusion_linearized *l,
                               const diffusion_step_context *context, bool *follows) {
  const double growth = growth_of(w, l);
  *follows = gamma_ * l->h * growth < 1;
  if (*follows || diffusion_estimates(w->p)) return SIM_OK;
  return sim_fail(
      SIM_ERR_DIVERGED,
      "at step %lld, t = %.9g, the solution grows by a rate of up to %.3g, which steps of rodas3 with dt = %.3g "
      "cannot follow: use dt below %.2g, or dt = \"auto\"",
      (long long)context->step, context->t, growth, l->h, 1 / growth);
}

/* Solves for all stages. *found: whether there is a solution. */
static sim_status solve(diffusion_work *w, diffusion_linearized *l, const diffusion_step_context *context,
                        bool *found) {
  double residual = 0;
  *found = true;
  SIM_TRY(set_right(w, l, 0));
  set_tolerance(w, l);
  SIM_TRY(choose_inverse(w, l));
  for (int s = 0; s < STAGES && *found; s++) {
    int applied;
    if (s >= 2) SIM_TRY(evaluate(w, l, s, context));
    SIM_TRY(set_right(w, l, s));
    SIM_TRY(diffusion_solve(&l->solver, l->right.data, l->stage[s].data, l->tolerance, MOST, &applied, &residual));
    l->solved.systems++;
    l->solved.iterations += applied;
    l->solved.most = applied > l->solved.most ? applied : l->solved.most;
    *found = residual <= l->tolerance;
  }
  if (*found || diffusion_estimates(w->p)) return SIM_OK;
  return sim_fail(SIM_ERR_DIVERGED,
                  "the implicit equations of rodas3 at step %lld, t = %.9g have no solution within %d iterations "
                  "(residual %.2g, expected %.2g of the fields): dt = %.3g is too long, the grid is too coarse, or the "
                  "solution itself grows without bound",
                  (long long)context->step, context->t, MOST, residual, l->tolerance, context->h);
}

sim_status diffusion_linearized_step(diffusion_work *w, diffusion_linearized *l,
                                     const diffusion_step_context *context) {
  const bool estimates = diffusion_estimates(w->p);
  sim_buffer *next = &w->array[estimates ? DIFFUSION_NEXT : 1];
  bool found;
  l->h = context->h;
  l->solver = (diffusion_solver){.vectors = &l->vectors, .weight = l->weight, .apply = apply, .context = w};
  for (int i = 0; i <= DIFFUSION_KRYLOV; i++) l->solver.basis[i] = l->basis[i].data;
  SIM_TRY(linearize(w, l, context));
  SIM_TRY(check_growth(w, l, context, &found));
  if (found) SIM_TRY(solve(w, l, context, &found));
  diffusion_vectors_sum(&l->vectors, next->data, 2, (const double[]){1, 1},
                        (const void *const[]){l->state.data, l->stage[STAGES - 1].data});
  if (estimates && found)
    memcpy(w->array[DIFFUSION_ERROR].data, l->stage[STAGES - 1].data, sim_buffer_bytes(&l->right));
  else if (estimates)
    fill(w, &w->array[DIFFUSION_ERROR], INFINITY);
  return inverse(w, next->data);
}

diffusion_solved diffusion_linearized_solved(const diffusion_linearized *l) { return l->solved; }
