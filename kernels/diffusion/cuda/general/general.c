/* The way `general`, which supports every run. Between stages array [0] of every field holds the coefficients along all
 * axes. So does array [1] of schemes that have it. */
#include "kernels/diffusion/cuda/general/passes.h"

#include "engine/device/cuda.h"

#include <stdio.h>
#include <stdlib.h>

static bool supports(const diffusion_parameters *p) {
  (void)p;
  return true;
}

/* ---- memory ---- */

/* Returns the number of fields that are transformed at once: on small grids all of them, with their derivatives. */
static int together(const diffusion_parameters *p) {
  const int fields = (int)p->fields.count;
  return diffusion_gradients_of(p).count % fields == 0 ? fields : 1;
}

/* Returns the number of the rates' inputs beside the fields, which the fluxes replace. */
static int slopes_of(const diffusion_parameters *p) {
  const diffusion_gradients g = diffusion_gradients_of(p);
  return g.count > g.fluxes ? g.count : g.fluxes;
}

static void plan(const diffusion_parameters *p, sim_plan *out) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_gradients read = diffusion_gradients_of(p);
  diffusion_series series;
  const bool aligned = diffusion_aligned(p, &read);
  const diffusion_layout layout = diffusion_cuda_layout(&grid, aligned);
  const diffusion_spectrum spectrum = diffusion_cuda_spectrum(&layout, diffusion_unfolded(p));
  const diffusion_method *method = diffusion_method_of(p);
  const int arrays = diffusion_method_with(p, 1).arrays;
  const int slots = diffusion_adaptive(p) ? DIFFUSION_SLOTS : 1;
  const double fields = (double)p->fields.count, number = diffusion_cuda_number_size(p);
  const double parts = diffusion_crossed(p) ? fields * fields : fields;
  const double field = number * (double)layout.field, table = number * (double)spectrum.tables;
  const int slopes = slopes_of(p);
  const double batch = layout.field < 1 << 22 ? together(p) : 1;
  sim_plan_add(out, "transformed fields", fields * field);
  sim_plan_add(out, "arrays of the scheme", fields * field * (arrays + diffusion_fluctuates(p)));
  if (slopes > 0)
    sim_plan_add(out, diffusion_gradients_of(p).fluxes > 0 ? "derivatives and fluxes" : "derivatives of fields",
                 slopes * field);
  sim_plan_add(out, "tables of the scheme", parts * table * diffusion_table_count(p) * slots);
  if (diffusion_estimates(p)) sim_plan_add(out, "errors", diffusion_cuda_norms_bytes(fields, (double)spectrum.field));
  if (diffusion_forced(p) != 0)
    sim_plan_add(out, "energy of the forcing", diffusion_cuda_force_bytes(fields, (double)spectrum.field));
  sim_plan_add(out, "transforms (about)", batch * field);
  if (method->arrays == 0) sim_plan_add(out, "fields for outputs, transformed", batch * field);
  for (int i = 0; i < 3 && aligned; i++)
    if (layout.series[i] != (int)GRID_PERIODIC)
      sim_plan_add(out, "cosines along walls", 8 * number * (double)layout.n[i]);
  if (aligned) sim_plan_add(out, "a field between transforms", field);
  if (diffusion_series_of(p, &read, &series)) diffusion_bases_plan(p, &series, out);
  out->checkpoint_bytes = fields * field;
  out->work_rate_guess = p->rates ? 4e10 / (method->stages > 0 ? method->stages : 1) : 1e13;
}

static sim_status create_array(const diffusion_work *w, int64_t fields, sim_buffer *out) {
  return sim_buffer_create(&sim_backend_cuda, w->single ? SIM_F32 : SIM_F64, 3,
                           (int64_t[]){fields, w->layout.field / 2, 2}, out);
}

/* Returns the number of fields that are converted for outputs at once. */
static int shown_together(const diffusion_work *w) {
  const long long batch = diffusion_fourier_batch(w->own.general->fourier) / w->own.general->grids;
  return batch > 1 ? (int)batch : 1;
}

/* Creates the plan of cuFFT: along the axes with a Fourier series, or with Makhoul's order of cells. */
static sim_status create_fourier(diffusion_work *w) {
  diffusion_general *g = w->own.general;
  const diffusion_layout *layout = &w->layout;
  long long n[3], lines = 1;
  int rank = 0;
  for (int i = 2; i >= 0; i--) {
    const bool live = layout->n[i] > 1 && (i == 0 || i != layout->member_axis);
    if (live && (!w->aligned || layout->series[i] == (int)GRID_PERIODIC))
      n[rank++] = layout->n[i];
    else
      lines *= layout->n[i];
  }
  if (!w->aligned) {
    g->grids = w->members;
    return diffusion_fourier_create(rank, n, together(w->p) * w->members, 1, w->single, &g->fourier);
  }
  g->grids = rank > 0 ? lines : 1; /* rank 0: nothing is transformed */
  return diffusion_fourier_create(rank, n, layout->field < 1 << 22 ? together(w->p) : 1, g->grids, w->single,
                                  &g->fourier);
}

static sim_status create_series(diffusion_work *w) {
  for (int i = 0; i < 3; i++)
    if (w->layout.series[i] != (int)GRID_PERIODIC) SIM_TRY(diffusion_general_cosines(w, i));
  return create_array(w, 1, &w->own.general->line);
}

static sim_status create(diffusion_work *w) {
  diffusion_general *g = w->own.general = calloc(1, sizeof *g);
  if (!g) return sim_no_memory("the model");
  w->method = diffusion_method_with(w->p, 0);
  w->spectrum = diffusion_cuda_spectrum(&w->layout, diffusion_unfolded(w->p));
  w->scale = diffusion_cuda_scale(&w->grid);
  SIM_TRY(create_fourier(w));
  if (w->aligned) SIM_TRY(create_series(w));
  for (int a = 0; a <= w->method.arrays; a++) SIM_TRY(create_array(w, w->fields, &w->array[a]));
  if (diffusion_fluctuates(w->p)) SIM_TRY(create_array(w, w->fields, &w->array[DIFFUSION_NOISE]));
  if (slopes_of(w->p) > 0) SIM_TRY(create_array(w, slopes_of(w->p), &g->derivatives));
  if (w->method.arrays == 0) SIM_TRY(create_array(w, shown_together(w), &g->scratch));
  return diffusion_cuda_take_tables(w);
}

static void destroy(diffusion_work *w) {
  diffusion_general *g = w->own.general;
  if (!g) return;
  diffusion_fourier_destroy(&g->fourier);
  sim_buffer_destroy(&g->scratch);
  sim_buffer_destroy(&g->derivatives);
  sim_buffer_destroy(&g->line);
  for (int i = 0; i < 3; i++) sim_buffer_destroy(&g->cosines[i]);
  free(g);
}

/* ---- kernels ---- */

static void add_visit(const diffusion_work *w, const diffusion_stage *stage, int number, sim_bytes *text) {
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
  for (int s = 0; s < w->method.stages; s++) add_visit(w, &w->method.stage[s], s, text);
  add_visit(w, &load, DIFFUSION_VISIT_LOAD, text);
  if (state) add_visit(w, &resume, DIFFUSION_VISIT_RESUME, text);
  if (w->method.stages == 0) add_visit(w, &jump, DIFFUSION_VISIT_JUMP, text);
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
  for (int s = 0; s < w->method.stages; s++) SIM_TRY(find_visit(w, s));
  SIM_TRY(find_visit(w, DIFFUSION_VISIT_LOAD));
  if (w->method.arrays > 0) SIM_TRY(find_visit(w, DIFFUSION_VISIT_RESUME));
  SIM_TRY(find_flows(w));
  return w->method.stages == 0 ? find_visit(w, DIFFUSION_VISIT_JUMP) : SIM_OK;
}

/* ---- passes ---- */

/* Transforms the columns first, first + 1, ... (numbers of diffusion_cuda_column_kind). white: of white noise. */
static sim_status forward_as(diffusion_work *w, void *columns, int first, int count, bool white) {
  SIM_TRY(diffusion_fourier_forward(w->own.general->fourier, columns, count * w->own.general->grids));
  if (w->natural.field == w->members && w->layout.series[0] == (int)GRID_PERIODIC)
    diffusion_general_blank(w, columns, count * w->members);
  if (w->aligned)
    diffusion_general_series(w, columns, first, count, white ? DIFFUSION_WHITE : DIFFUSION_FORWARD);
  else
    diffusion_general_fold(w, columns, count, true);
  return SIM_OK;
}

static sim_status forward(diffusion_work *w, void *columns, int first, int count) {
  return forward_as(w, columns, first, count, false);
}

static sim_status inverse(diffusion_work *w, void *columns, int first, int count) {
  if (w->aligned)
    diffusion_general_series(w, columns, first, count, DIFFUSION_INVERSE);
  else
    diffusion_general_fold(w, columns, count, false);
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
  diffusion_general_load(w);
  SIM_TRY(forward(w, w->array[0].data, 0, w->fields));
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
  if (diffusion_fourier_batch(w->own.general->fourier) > w->own.general->grids)
    return inverse(w, w->array[0].data, 0, w->fields);
  for (int f = 0; f < w->fields; f++)
    if (diffusion_cuda_reads_values(w->p, f)) SIM_TRY(inverse(w, (char *)w->array[0].data + (size_t)f * bytes, f, 1));
  return SIM_OK;
}

/* Changes array [0] from coefficients of the fields to coefficients of their rates. */
static sim_status make_rates(diffusion_work *w, const diffusion_step_context *context) {
  void *derivatives = w->own.general->derivatives.data;
  const int fluxes = w->gradients.fluxes;
  if (w->gradients.count > 0) {
    diffusion_general_derive(w);
    SIM_TRY(inverse(w, derivatives, w->fields, w->gradients.count));
  }
  SIM_TRY(inverse_fields(w));
  diffusion_cuda_rates(w, w->array[0].data, derivatives, &w->layout, context);
  SIM_TRY(forward(w, w->array[0].data, 0, w->fields));
  if (fluxes > 0) SIM_TRY(forward(w, derivatives, w->fields + w->gradients.count, fluxes));
  if (diffusion_cuda_joins(&w->gradients)) diffusion_general_join(w, w->array[0].data, fluxes > 0 ? derivatives : NULL);
  return sim_queue_cuda.status();
}

static sim_status stage(diffusion_work *w, int index, const diffusion_step_context *context) {
  const diffusion_set *rates = &w->method.stage[index].set[0];
  if (w->force) diffusion_cuda_force(w, rates->term[rates->terms - 1].source, context->h);
  if (w->method.stage[index].forward) SIM_TRY(make_rates(w, context));
  if (index == w->method.stages - 1 && w->fluctuating) {
    diffusion_general_noise(w, context->step);
    SIM_TRY(forward_as(w, w->array[DIFFUSION_NOISE].data, 0, w->fields, true));
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
    SIM_TRY(inverse(w, fields, f, batch));
    diffusion_general_store(w, fields, f, batch);
  }
  return w->method.arrays > 0 ? resume(w) : SIM_OK;
}

const diffusion_way diffusion_way_general = {.name = "cuFFT",
                                             .fill = "fill_entries",
                                             .supports = supports,
                                             .plan = plan,
                                             .create = create,
                                             .destroy = destroy,
                                             .write = write,
                                             .find = find,
                                             .load = load,
                                             .resume = resume,
                                             .stage = stage,
                                             .jump = jump,
                                             .store = store};
