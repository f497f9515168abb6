/* The way `general`, which supports every run; where the scenario asks for slabs, with slabs.c. Between stages array
 * [0] of every field holds the coefficients along all axes. So does array [1] of schemes that have it. */
#include "kernels/diffusion/cuda/general/passes.h"

#include "engine/device/cuda.h"
#include "kernels/diffusion/cuda/implicit/implicit.h"

#include <stdio.h>
#include <stdlib.h>

static bool supports(const diffusion_parameters *p) {
  (void)p;
  return true;
}

/* ---- memory ---- */

static sim_status create_array(const diffusion_work *w, int64_t fields, sim_buffer *out) {
  return sim_buffer_create(&sim_backend_cuda, w->single ? SIM_F32 : SIM_F64, 3,
                           (int64_t[]){fields, w->layout.field / 2, 2}, out);
}

/* Returns the number of fields that are converted for outputs at once. */
static int shown_together(const diffusion_work *w) {
  const diffusion_general *g = w->own.general;
  return !w->slabs && diffusion_fourier_batch(g->fourier) >= w->fields * g->grids ? w->fields : 1;
}

static sim_status create_fourier(diffusion_work *w) {
  diffusion_general *g = w->own.general;
  const diffusion_lines l = diffusion_general_lines_of(&w->grid, w->aligned);
  const long long batch = diffusion_general_batch(w->p, &l), members = grid_members(&w->grid);
  g->grids = l.rank > 0 ? l.grids / members * w->members : 1;
  return diffusion_fourier_create(l.rank, l.n, batch, members > 1 && g->grids % batch != 0, w->single, &g->fourier);
}

static sim_status create_series(diffusion_work *w) {
  const int64_t field = w->planes.field;
  for (int i = 0; i < 3; i++)
    if (w->layout.series[i] != (int)GRID_PERIODIC) SIM_TRY(diffusion_general_cosines(w, w->layout.axis[i]));
  return sim_buffer_create(&sim_backend_cuda, w->single ? SIM_F32 : SIM_F64, 1, &field, &w->own.general->line);
}

/* Transforms in place. */
static sim_status create_whole(diffusion_work *w) {
  diffusion_general *g = w->own.general;
  SIM_TRY(create_fourier(w));
  if (w->aligned) SIM_TRY(create_series(w));
  SIM_TRY(create_array(w, w->fields, &w->array[0]));
  if (diffusion_has_noise(w->p)) SIM_TRY(create_array(w, w->fields, &w->array[DIFFUSION_NOISE]));
  if (diffusion_general_slopes(w->p) > 0) SIM_TRY(create_array(w, diffusion_general_slopes(w->p), &g->derivatives));
  g->real = w->array[0].data;
  g->slopes = g->derivatives.data;
  return SIM_OK;
}

/* Columns first, first + 1, ... of coefficients as an array. */
static sim_buffer rows_from(const diffusion_work *w, int first, int count) {
  return (sim_buffer){.data = diffusion_slabs_rows(w, first),
                      .dtype = w->single ? SIM_F32 : SIM_F64,
                      .rank = 3,
                      .shape = {count, w->layout.field / 2, 2},
                      .space = SIM_SPACE_DEVICE};
}

/* Transforms between planes and blocks of rows. */
static sim_status create_slabs(diffusion_work *w) {
  diffusion_general *g = w->own.general;
  const int slopes = diffusion_general_slopes(w->p), columns = w->fields + slopes;
  SIM_TRY(diffusion_slabs_create(w, columns, columns + (diffusion_has_noise(w->p) ? w->fields : 0)));
  if (w->aligned) SIM_TRY(create_series(w));
  w->array[0] = rows_from(w, 0, w->fields);
  if (diffusion_has_noise(w->p)) w->array[DIFFUSION_NOISE] = rows_from(w, columns, w->fields);
  if (slopes > 0) g->derivatives = rows_from(w, w->fields, slopes);
  g->real = diffusion_slabs_planes(w, 0);
  g->slopes = diffusion_slabs_planes(w, w->fields);
  return SIM_OK;
}

static sim_status create(diffusion_work *w) {
  diffusion_general *g = w->own.general = calloc(1, sizeof *g);
  if (!g) return sim_no_memory("the model");
  w->method = diffusion_method_with(w->p, 0);
  w->spectrum = diffusion_cuda_spectrum(&w->layout, diffusion_unfolded(w->p));
  w->scale = diffusion_cuda_scale(&w->grid);
  SIM_TRY(w->slabs ? create_slabs(w) : create_whole(w));
  for (int a = 1; a <= w->method.arrays; a++) SIM_TRY(create_array(w, w->fields, &w->array[a]));
  if (w->method.arrays == 0) SIM_TRY(create_array(w, shown_together(w), &g->scratch));
  g->stirred = diffusion_stirred_deviation(w->p);
  SIM_TRY(diffusion_cuda_take_tables(w));
  return diffusion_implicit(w->p) ? diffusion_implicit_create(w) : SIM_OK;
}

static void destroy(diffusion_work *w) {
  diffusion_general *g = w->own.general;
  if (!g) return;
  diffusion_linearized_destroy(&g->linearized);
  diffusion_slabs_destroy(w);
  diffusion_fourier_destroy(&g->fourier);
  sim_buffer_destroy(&g->scratch);
  sim_buffer_destroy(&g->derivatives);
  sim_buffer_destroy(&g->line);
  for (int i = 0; i < 3; i++) sim_buffer_destroy(&g->cosines[i]);
  free(g);
}

/* ---- kernels ---- */

void diffusion_general_add_visit(const diffusion_work *w, const diffusion_stage *stage, int number, sim_bytes *text) {
  sim_bytes_format(text,
                   "struct visit_%d {\n"
                   "  __device__ static __forceinline__ void at(const diffusion_sums &s, long long i, long long k) {\n",
                   number);
  if (w->crossed)
    diffusion_cuda_write_crossed_sums(stage, w->spectrum.factor, w->fields, text);
  else
    diffusion_cuda_write_sums(stage, w->spectrum.factor, 0, 0, text);
  sim_bytes_format(text,
                   "  }\n};\n"
                   "extern \"C\" __global__ void __launch_bounds__(DIFFUSION_THREADS)\n"
                   "    diffusion_visit_%d(diffusion_sums s) {\n"
                   "  visit<visit_%d>(s);\n"
                   "}\n",
                   number, number);
}

static void write(const diffusion_work *w, diffusion_programs *programs) {
  sim_bytes *text = diffusion_programs_add(programs, false);
  const int state = w->method.arrays > 0 ? 1 : 0;
  const diffusion_stage load = diffusion_cuda_load_stage(state), resume = diffusion_cuda_resume_stage(state);
  const diffusion_stage jump = {0, 1, 1, {{0, 1, {{1, 0, state}}}}};
  for (int s = 0; s < w->method.stages && !diffusion_implicit(w->p); s++)
    diffusion_general_add_visit(w, &w->method.stage[s], s, text);
  if (diffusion_implicit(w->p)) diffusion_implicit_visits(w, text);
  diffusion_general_add_visit(w, &load, DIFFUSION_VISIT_LOAD, text);
  if (state) diffusion_general_add_visit(w, &resume, DIFFUSION_VISIT_RESUME, text);
  if (w->method.stages == 0) diffusion_general_add_visit(w, &jump, DIFFUSION_VISIT_JUMP, text);
}

static sim_status find_visit(diffusion_work *w, int visit) {
  char name[32];
  snprintf(name, sizeof name, "diffusion_visit_%d", visit);
  return sim_module_kernel(w->module, name, &w->own.general->visit[visit]);
}

/* Finds the kernels of flows.c. */
static sim_status find_flows(diffusion_work *w) {
  diffusion_general *g = w->own.general;
  if (w->gradients.count > 0) SIM_TRY(sim_module_kernel(w->module, "diffusion_derive", &g->derive));
  if (diffusion_cuda_joins(&w->gradients)) SIM_TRY(sim_module_kernel(w->module, "diffusion_join", &g->join));
  return diffusion_cuda_derives(w) ? diffusion_cuda_check_derived(w) : SIM_OK;
}

static sim_status find(diffusion_work *w) {
  const bool implicit = diffusion_implicit(w->p);
  for (int s = 0; s < w->method.stages && !implicit; s++) SIM_TRY(find_visit(w, s));
  for (int i = 0; i < DIFFUSION_VISITS_LINEAR && implicit; i++) SIM_TRY(find_visit(w, DIFFUSION_VISIT_LINEAR + i));
  if (implicit) SIM_TRY(diffusion_implicit_find(w));
  SIM_TRY(find_visit(w, DIFFUSION_VISIT_LOAD));
  if (w->method.arrays > 0) SIM_TRY(find_visit(w, DIFFUSION_VISIT_RESUME));
  SIM_TRY(find_flows(w));
  return w->method.stages == 0 ? find_visit(w, DIFFUSION_VISIT_JUMP) : SIM_OK;
}

/* ---- passes ---- */

/* Returns the column of coefficients in slabs that a column of this number has: the fields, then derivatives or fluxes,
 * then the noise. */
static int slab_column(const diffusion_work *w, int number, bool white) {
  return white ? w->fields + diffusion_general_slopes(w->p) : number < w->fields ? number : w->fields;
}

/* Transforms the columns first, first + 1, ... (numbers of diffusion_cuda_column_kind). white: of white noise. */
static sim_status forward_as(diffusion_work *w, void *columns, int first, int count, bool white) {
  const diffusion_pass pass = white ? DIFFUSION_WHITE : DIFFUSION_FORWARD;
  if (w->slabs) return diffusion_slabs_forward(w, slab_column(w, first, white), first, count, pass);
  SIM_TRY(diffusion_fourier_forward(w->own.general->fourier, columns, count * w->own.general->grids));
  if (w->natural.field == w->members && w->layout.series[0] == (int)GRID_PERIODIC)
    diffusion_general_blank(w, columns, count * w->members);
  if (w->aligned)
    diffusion_general_series(w, columns, first, count, pass);
  else
    diffusion_general_fold(w, columns, &w->planes, count, true);
  return SIM_OK;
}

sim_status diffusion_general_forward(diffusion_work *w, void *columns, int first, int count) {
  return forward_as(w, columns, first, count, false);
}

sim_status diffusion_general_inverse(diffusion_work *w, void *columns, int first, int count) {
  if (w->slabs) return diffusion_slabs_inverse(w, columns, first, count);
  if (w->aligned)
    diffusion_general_series(w, columns, first, count, DIFFUSION_INVERSE);
  else
    diffusion_general_fold(w, columns, &w->planes, count, false);
  return diffusion_fourier_inverse(w->own.general->fourier, columns, count * w->own.general->grids);
}

static sim_status visit(diffusion_work *w, int visit) {
  diffusion_general_visit(w, visit);
  return sim_queue_cuda.status();
}

/* Checks whether the shell of the forcing has enough energy at the start. */
static sim_status check_force(diffusion_work *w) {
  const double h = diffusion_dt(&w->p->integrate);
  double energy, factor;
  diffusion_cuda_force(w, 1, h);
  SIM_TRY(diffusion_cuda_force_energy(w, &energy));
  return diffusion_force_factor(w->p, energy, h, true, &factor);
}

static sim_status load(diffusion_work *w) {
  diffusion_general_load(w, w->own.general->real);
  SIM_TRY(diffusion_general_forward(w, w->array[0].data, 0, w->fields));
  if (w->gradients.solenoidal) diffusion_general_join(w, w->array[0].data, NULL);
  SIM_TRY(visit(w, DIFFUSION_VISIT_LOAD));
  return w->force && w->slots == 1 ? check_force(w) : SIM_OK; /* steps by the Courant number have no tables yet */
}

static sim_status resume(diffusion_work *w) { return visit(w, DIFFUSION_VISIT_RESUME); }

static sim_status jump(diffusion_work *w) { return visit(w, DIFFUSION_VISIT_JUMP); }

/* Computes real fields from their coefficients in array [0]. Where fields are transformed one by one, fields whose
 * values are not read are skipped: the rates replace them. */
static sim_status inverse_fields(diffusion_work *w) {
  const size_t bytes = (size_t)w->layout.field * (size_t)diffusion_cuda_number_size(w->p);
  if (!w->slabs && diffusion_fourier_batch(w->own.general->fourier) > w->own.general->grids)
    return diffusion_general_inverse(w, w->array[0].data, 0, w->fields);
  for (int f = 0; f < w->fields; f++)
    if (diffusion_cuda_reads_values(w->p, f))
      SIM_TRY(diffusion_general_inverse(w, (char *)w->array[0].data + (size_t)f * bytes, f, 1));
  return SIM_OK;
}

sim_status diffusion_general_to_cells(diffusion_work *w) {
  if (w->gradients.count > 0) {
    diffusion_general_derive(w);
    SIM_TRY(diffusion_general_inverse(w, w->own.general->derivatives.data, w->fields, w->gradients.count));
  }
  return inverse_fields(w);
}

sim_status diffusion_general_to_coefficients(diffusion_work *w) {
  void *derivatives = w->own.general->derivatives.data;
  const int fluxes = w->gradients.fluxes;
  SIM_TRY(diffusion_general_forward(w, w->array[0].data, 0, w->fields));
  if (fluxes > 0) SIM_TRY(diffusion_general_forward(w, derivatives, w->fields + w->gradients.count, fluxes));
  if (diffusion_cuda_joins(&w->gradients)) diffusion_general_join(w, w->array[0].data, fluxes > 0 ? derivatives : NULL);
  return sim_queue_cuda.status();
}

/* Changes array [0] from coefficients of the fields to coefficients of their rates. */
static sim_status make_rates(diffusion_work *w, const diffusion_step_context *context) {
  const diffusion_general *g = w->own.general;
  SIM_TRY(diffusion_general_to_cells(w));
  diffusion_cuda_rates(w, g->real, g->slopes, &w->planes, context);
  return diffusion_general_to_coefficients(w);
}

static sim_status stage(diffusion_work *w, int index, const diffusion_step_context *context) {
  const diffusion_set *rates = &w->method.stage[index].set[0];
  if (w->own.general->linearized) return diffusion_implicit_stage(w, context);
  if (w->force) diffusion_cuda_force(w, rates->term[rates->terms - 1].source, context->h);
  if (w->method.stage[index].forward) SIM_TRY(make_rates(w, context));
  if (index == w->method.stages - 1 && w->own.general->stirred > 0) diffusion_general_stir(w, context->step);
  if (index == w->method.stages - 1 && w->fluctuating) {
    void *noise = w->array[DIFFUSION_NOISE].data;
    diffusion_general_noise(w, w->slabs ? w->own.general->real : noise, context->step);
    SIM_TRY(forward_as(w, noise, 0, w->fields, true));
    if (w->gradients.solenoidal) diffusion_general_join(w, w->array[DIFFUSION_NOISE].data, NULL);
  }
  return visit(w, index);
}

/* Writes the real fields. Array [0] is overwritten where it is not the state, and restored from the state later. */
static sim_status store(diffusion_work *w) {
  const int batch = shown_together(w);
  const size_t bytes = (size_t)w->layout.field * (w->single ? sizeof(float) : sizeof(double));
  for (int f = 0; f < w->fields; f += batch) {
    char *fields = (char *)w->array[0].data + (size_t)f * bytes;
    if (w->method.arrays == 0) {
      void *scratch = w->own.general->scratch.data;
      SIM_TRY(sim_queue_cuda.stage(scratch, fields, (size_t)batch * bytes));
      fields = scratch;
    }
    SIM_TRY(diffusion_general_inverse(w, fields, f, batch));
    diffusion_general_store(w, w->slabs ? diffusion_slabs_planes(w, f) : fields, f, batch);
  }
  return w->method.arrays > 0 ? resume(w) : SIM_OK;
}

/* ---- several ranks, which share out the parts of the coefficients ---- */

static sim_status state_slab(diffusion_work *w, sim_array *out) {
  const diffusion_share *parts = &w->parts;
  *out = (sim_array){.field = out->field,
                     .dtype = out->dtype,
                     .rank = 3,
                     .shape = {w->fields, parts->own * parts->numbers, 2},
                     .global = {w->fields, parts->all * parts->numbers, 2},
                     .offset = {0, parts->first * parts->numbers},
                     .data = w->array[w->method.arrays > 0 ? 1 : 0].data,
                     .space = SIM_SPACE_DEVICE};
  return SIM_OK;
}

static sim_status restore_slab(diffusion_work *w, const sim_array *whole) {
  const diffusion_share *parts = &w->parts;
  const size_t pair = 2 * sim_dtype_size(whole->dtype), bytes = (size_t)(parts->own * parts->numbers) * pair;
  const char *from = (const char *)whole->data + (size_t)(parts->first * parts->numbers) * pair;
  char *to = w->array[w->method.arrays > 0 ? 1 : 0].data;
  for (int f = 0; f < w->fields && bytes > 0; f++)
    SIM_TRY(sim_backend_cuda.copy(to + (size_t)f * bytes, from + (size_t)f * (size_t)whole->shape[1] * pair, bytes));
  return SIM_OK;
}

const diffusion_way diffusion_way_general = {.name = "cuFFT",
                                             .fill = "fill_entries",
                                             .supports = supports,
                                             .plan = diffusion_general_plan,
                                             .create = create,
                                             .destroy = destroy,
                                             .write = write,
                                             .find = find,
                                             .load = load,
                                             .resume = resume,
                                             .stage = stage,
                                             .jump = jump,
                                             .store = store,
                                             .plan_ranks = diffusion_general_plan_ranks,
                                             .state_slab = state_slab,
                                             .restore_slab = restore_slab};
