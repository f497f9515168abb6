/* Implicit steps on the device: what implicit/ needs of it. */
#include "kernels/diffusion/cuda/implicit/implicit.h"

#include "engine/device/cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* indices of arrays in a pass over coefficients */
enum { NOW, IN, OUT };
enum { NONE = -1 };
/* the passes, from DIFFUSION_VISIT_LINEAR on; the last two have one for each table */
enum { WITH, WITHOUT, PRODUCT, SUM = PRODUCT + 2, PASSES = SUM + 2 };
_Static_assert((int)PASSES == DIFFUSION_VISITS_LINEAR, "passes.h has as many");

static diffusion_implicit_memory *own_of(const diffusion_linearized *l) { return l->own; }

/* ---- memory ---- */

/* Returns the numbers of diffusion_reduced.partial. */
static double partial_numbers(const diffusion_layout *layout, const diffusion_layout *planes, int fields, int entries) {
  return fmax((double)DIFFUSION_VECTOR_TERMS * (double)diffusion_implicit_blocks(fields, layout->field),
              2.0 * (entries > 1 ? entries : 1) * (double)diffusion_implicit_pieces(planes));
}

void diffusion_implicit_plan(const diffusion_parameters *p, const diffusion_layout *layout,
                             const diffusion_layout *planes, sim_plan *out) {
  const double number = diffusion_cuda_number_size(p), fields = (double)p->fields.count;
  const double field = fields * number * (double)layout->field;
  diffusion_jacobian jacobian;
  sim_expr *entries, *timed;
  if (diffusion_jacobian_graph(p, &jacobian, &entries, &timed) != SIM_OK) return; /* a fault of the scenario */
  sim_expr_free(&entries);
  sim_expr_free(&timed);
  const double cells = number * (double)planes->field;
  sim_plan_add(out, "implicit equations",
               diffusion_linearized_vector_bytes(field) + (jacobian.count + 2 * fields) * cells +
                   sizeof(double) * partial_numbers(layout, planes, (int)fields, jacobian.count));
}

static void destroy(diffusion_linearized *l) {
  diffusion_implicit_memory *own = l->own;
  if (!own) return;
  sim_expr_free(&own->entries);
  sim_expr_free(&own->by_time);
  sim_buffer_destroy(&own->values);
  sim_buffer_destroy(&own->means);
  sim_buffer_destroy(&own->place);
  sim_buffer_destroy(&own->mixed);
  sim_buffer_destroy(&own->partial);
  sim_backend_cuda.free_host(own->reduced.host);
  free(own);
}

static sim_status create_cells(diffusion_work *w, int entries) {
  diffusion_implicit_memory *own = diffusion_implicit_of(w);
  const sim_dtype real = w->single ? SIM_F32 : SIM_F64;
  const int64_t numbers = (int64_t)partial_numbers(&w->layout, &w->planes, w->fields, entries);
  const int64_t count = entries > 0 ? entries : 1;
  void *host = NULL;
  SIM_TRY(sim_buffer_create(&sim_backend_cuda, real, 2, (int64_t[]){count, w->planes.field}, &own->values));
  SIM_TRY(sim_buffer_create(&sim_backend_cuda, real, 1, &count, &own->means));
  SIM_TRY(sim_buffer_create(&sim_backend_cuda, real, 2, (int64_t[]){w->fields, w->planes.field}, &own->place));
  SIM_TRY(sim_buffer_create(&sim_backend_cuda, real, 2, (int64_t[]){w->fields, w->planes.field}, &own->mixed));
  SIM_TRY(sim_buffer_create(&sim_backend_cuda, SIM_F64, 1, &numbers, &own->partial));
  SIM_TRY(sim_backend_cuda.alloc_host(DIFFUSION_RESULTS * sizeof(double), &host));
  own->reduced = (diffusion_reduced){host, own->partial.data};
  return SIM_OK;
}

static const diffusion_linear_ops ops;

sim_status diffusion_implicit_create(diffusion_work *w) {
  sim_expr *entries, *timed;
  const sim_status status = diffusion_linearized_begin(w->p, &ops, w, &w->own.general->linearized, &entries, &timed);
  diffusion_linearized *l = w->own.general->linearized;
  diffusion_implicit_memory *own = l ? l->own = calloc(1, sizeof *own) : NULL;
  if (!own) {
    sim_expr_free(&entries);
    sim_expr_free(&timed);
    return sim_no_memory("the implicit scheme");
  }
  own->entries = entries;
  own->by_time = timed;
  SIM_TRY(status);
  SIM_TRY(create_cells(w, l->jacobian.count));
  l->vectors = (diffusion_vectors){.fields = w->fields,
                                   .threads = 1,
                                   .count = w->layout.field,
                                   .single = w->single,
                                   .lanes = w->spectrum.factor == DIFFUSION_EACH ? 0 : 1,
                                   .own = &own->reduced};
  return diffusion_linearized_vectors(l, &w->array[1]);
}

/* ---- kernels ---- */

void diffusion_implicit_visits(const diffusion_work *w, sim_bytes *text) {
  diffusion_stage passes[PASSES] = {
      [WITH] = {1, 0, 1, {{OUT, 2, {{0, DIFFUSION_FACTOR_TABLE, NOW}, {1, DIFFUSION_LINEAR_TABLE, IN}}}}},
      [WITHOUT] = {1, 0, 1, {{OUT, 1, {{0, DIFFUSION_FACTOR_TABLE, NOW}}}}}};
  for (int t = 0; t < 2; t++) {
    passes[PRODUCT + t] = (diffusion_stage){0, 0, 1, {{OUT, 1, {{1, t, IN}}}}};
    passes[SUM + t] = (diffusion_stage){0, 0, 1, {{OUT, 2, {{1, NONE, OUT}, {1, t, IN}}}}};
  }
  for (int i = 0; i < PASSES; i++) diffusion_general_add_visit(w, &passes[i], DIFFUSION_VISIT_LINEAR + i, text);
}

sim_status diffusion_implicit_find(diffusion_work *w) {
  diffusion_implicit_memory *own = diffusion_implicit_of(w);
  if (own->entries) SIM_TRY(sim_module_kernel(w->module, "diffusion_entries", &own->kernel));
  if (own->by_time) SIM_TRY(sim_module_kernel(w->module, "diffusion_by_time", &own->timed));
  SIM_TRY(sim_module_kernel(w->module, "diffusion_products", &own->products));
  sim_expr_free(&own->entries);
  sim_expr_free(&own->by_time);
  return SIM_OK;
}

static void visit(const diffusion_linearized *l, int pass, const void *in, void *out) {
  diffusion_sums s = diffusion_cuda_sums(l->work);
  s.array[NOW] = l->work->array[0].data;
  s.array[IN] = (void *)(uintptr_t)in;
  s.array[OUT] = out;
  diffusion_general_visit_of(l->work, DIFFUSION_VISIT_LINEAR + pass, &s);
}

/* ---- passes ---- */

static void copy(const diffusion_linearized *l, void *to, const void *from) {
  const double one = 1;
  l->on->vectors->sum(&l->vectors, to, 1, &one, &from);
}

static sim_status inverse(diffusion_linearized *l, const void *vector) {
  copy(l, l->work->array[0].data, vector);
  return diffusion_general_to_cells(l->work);
}

/* Enqueues the kernel that computes the entries. */
static void compute_entries(diffusion_work *w, const diffusion_step_context *now) {
  static const sim_kernel kernel = {"diffusion_entries", "rates", SIM_LIMIT_BYTES};
  const diffusion_general *g = w->own.general;
  const diffusion_implicit_memory *own = diffusion_implicit_of(w);
  diffusion_layout p = w->planes;
  double t = now->t, h = now->h;
  void *fields = g->real, *derivatives = g->slopes, *values = own->values.data;
  void *arguments[] = {&fields, &derivatives, &values, &p, &t, &h};
  if (!own->kernel) return;
  diffusion_general_pointwise(w, &kernel, w->fields + w->gradients.count + g->linearized->jacobian.count, own->kernel,
                              arguments);
}

static void apply_by_time(diffusion_work *w, const diffusion_step_context *now) {
  static const sim_kernel kernel = {"diffusion_by_time", "rates", SIM_LIMIT_BYTES};
  const diffusion_general *g = w->own.general;
  const diffusion_implicit_memory *own = diffusion_implicit_of(w);
  diffusion_layout p = w->planes;
  double t = now->t, h = now->h;
  void *fields = g->real, *derivatives = g->slopes;
  void *arguments[] = {&fields, &derivatives, &p, &t, &h};
  diffusion_general_pointwise(w, &kernel, 2 * w->fields + w->gradients.count + w->gradients.fluxes, own->timed,
                              arguments);
}

/* Replaces fields by the products of entries, or of their means. */
static void multiply(diffusion_work *w, bool means) {
  static const sim_kernel kernel = {"diffusion_products", "rates", SIM_LIMIT_BYTES};
  const diffusion_general *g = w->own.general;
  const diffusion_implicit_memory *own = diffusion_implicit_of(w);
  diffusion_layout p = w->planes;
  void *fields = g->real, *derivatives = g->slopes;
  const void *values = means ? own->means.data : own->values.data;
  long long entry = means ? 1 : p.field, cell = means ? 0 : 1;
  void *arguments[] = {&fields, &derivatives, &values, &entry, &cell, &p};
  diffusion_general_pointwise(w, &kernel,
                              2 * w->fields + w->gradients.count + w->gradients.fluxes +
                                  (means ? 0 : g->linearized->jacobian.count),
                              own->products, arguments);
}

/* Copies the means to the device, those that are not even as 0. */
static sim_status upload_means(const diffusion_linearized *l) {
  double means[DIFFUSION_ENTRIES];
  for (int i = 0; i < l->jacobian.count; i++)
    grid_set_number(means, l->vectors.single, i, l->even[i] ? l->means[i] : 0);
  return sim_backend_cuda.copy(own_of(l)->means.data, means, sim_buffer_bytes(&own_of(l)->means));
}

static sim_status forward(diffusion_linearized *l, diffusion_linear_work work, const diffusion_step_context *now,
                          const void *vector, void *out) {
  diffusion_work *w = l->work;
  if (work == DIFFUSION_LINEAR_ENTRIES) compute_entries(w, now);
  if (work == DIFFUSION_LINEAR_ENTRIES || work == DIFFUSION_LINEAR_RATES)
    diffusion_cuda_rates(w, w->own.general->real, w->own.general->slopes, &w->planes, now);
  if (work == DIFFUSION_LINEAR_BY_TIME) apply_by_time(w, now);
  if (work == DIFFUSION_LINEAR_MEANS) SIM_TRY(upload_means(l));
  if (work == DIFFUSION_LINEAR_MEANS || work == DIFFUSION_LINEAR_PRODUCTS) multiply(w, work == DIFFUSION_LINEAR_MEANS);
  SIM_TRY(diffusion_general_to_coefficients(w));
  visit(l, vector ? WITH : WITHOUT, vector, out);
  return sim_queue_cuda.status();
}

static sim_status by_table(diffusion_linearized *l, int table, bool add, const void *in, void *out) {
  visit(l, (add ? SUM : PRODUCT) + table, in, out);
  return sim_queue_cuda.status();
}

/* Whether number 0 of an axis of a field's series has wavenumber 0. */
static bool begins_at_0(const diffusion_work *w, int field, int axis) {
  if (axis >= w->grid.rank || grid_is_member_axis(&w->grid, axis)) return true;
  const int kind = diffusion_cuda_kind(w, field, axis);
  return kind == GRID_PERIODIC || kind == GRID_NO_FLUX;
}

static void each_number(diffusion_linearized *l, int field, diffusion_visit *work, void *context) {
  const diffusion_work *w = l->work;
  const diffusion_layout *p = &w->layout;
  bool zeros = true;
  for (int axis = 0; axis < 3; axis++) zeros = zeros && begins_at_0(w, field, axis);
  for (int64_t i = 0; i < p->field; i++) {
    const int64_t row = i / p->row, fast = i % p->row;
    const bool imaginary = l->vectors.lanes > 0 && fast % 2 == 1, first = l->vectors.lanes > 0 ? fast < 2 : fast == 0;
    const bool zero = zeros && first && row % p->n[1] == 0 && (p->member_axis == 2 || row / p->n[1] == 0);
    work(context, &(diffusion_number){.at = i, .k2 = zero ? 0 : 1, .imaginary = imaginary});
  }
}

/* ---- cells ---- */

static sim_status average(diffusion_linearized *l, double *growth) {
  double sums[DIFFUSION_ENTRIES], most[DIFFUSION_ENTRIES];
  SIM_TRY(diffusion_cells_average(l->work, l->jacobian.count, sums, most));
  *growth = 0;
  for (int i = 0; i < l->jacobian.count; i++) {
    l->means[i] = sums[i] / grid_cells_wanted(&l->work->grid);
    if (l->jacobian.of[i].result == l->jacobian.of[i].input) *growth = fmax(*growth, most[i]);
  }
  return SIM_OK;
}

static sim_status stiffness(diffusion_linearized *l, int field, double first, int terms, const double *factor,
                            const int *of, double *least, double *greatest) {
  return diffusion_cells_stiffness(l->work, field, first, terms, factor, of, least, greatest);
}

static void place(diffusion_linearized *l, int field, double low, double ratio, int levels) {
  diffusion_cells_place(l->work, field, low, ratio, levels);
}

static sim_status split(diffusion_linearized *l, const void *vector) {
  diffusion_work *w = l->work;
  copy(l, w->array[0].data, vector);
  SIM_TRY(diffusion_general_inverse(w, w->array[0].data, 0, w->fields));
  copy(l, own_of(l)->mixed.data, w->array[0].data);
  return SIM_OK;
}

static sim_status level(diffusion_linearized *l, int number, void *out) {
  diffusion_work *w = l->work;
  const void *from = w->array[0].data;
  diffusion_cells_weigh(w, number, w->array[0].data);
  SIM_TRY(diffusion_general_forward(w, w->array[0].data, 0, w->fields));
  l->on->vectors->sum(&l->vectors, out, 1, &w->scale, &from);
  return SIM_OK;
}

static const diffusion_linear_ops ops = {.vectors = &diffusion_vectors_cuda,
                                         .backend = &sim_backend_cuda,
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

sim_status diffusion_implicit_stage(diffusion_work *w, const diffusion_step_context *context) {
  diffusion_linearized *l = w->own.general->linearized;
  const bool estimates = diffusion_estimates(w->p);
  const diffusion_implicit_step step = {.state = w->array[1].data,
                                        .next = w->array[estimates ? DIFFUSION_NEXT : 1].data,
                                        .error = estimates ? w->array[DIFFUSION_ERROR].data : NULL};
  SIM_TRY(diffusion_linearized_step(l, &step, context));
  copy(l, w->array[0].data, step.next);
  return sim_queue_cuda.status();
}
