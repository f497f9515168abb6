/* The operations on an NVIDIA GPU: two passes over memory a step or a stage where fused.h or flat.h have
 * them, one an axis where axes.h has them, else transforms in place by cuFFT, and kernels for what stands between them.
 *
 * Between two stages array [0] of every field holds coefficients of all axes, with cuFFT, and so does array [1] of
 * schemes that keep it; with two passes it is mixed (fused_planes.cuh), with one an axis the field (fused_axes.cuh). */
#include "kernels/diffusion/cuda/work.h"

#include "engine/device/cuda.h"

#include <stdio.h>
#include <stdlib.h>

static void destroy(diffusion_work **work) {
  diffusion_work *w = *work;
  if (!w) return;
  diffusion_fused_destroy(&w->fused);
  diffusion_axes_destroy(&w->axes);
  diffusion_flat_destroy(&w->flat);
  if (w->fourier) diffusion_fourier_destroy(&w->fourier);
  sim_module_free(&w->module);
  diffusion_programs_free(&w->programs);
  for (int a = 0; a < DIFFUSION_ARRAYS; a++) sim_buffer_destroy(&w->array[a]);
  for (int t = 0; t < DIFFUSION_TABLES; t++) sim_buffer_destroy(&w->table[t]);
  sim_buffer_destroy(&w->real);
  sim_buffer_destroy(&w->scratch);
  sim_buffer_destroy(&w->derivatives);
  sim_backend_cuda.free(w->statistics);
  sim_backend_cuda.free(w->lines);
  sim_backend_cuda.free(w->norms);
  free(w);
  *work = NULL;
}

/* ---- memory ---- */

/* Of rank 2 is what outputs show; what is transformed is of rank 3 with cuFFT and 4 with two passes, so that none is
 * taken for another when a run goes on. */
static sim_status take_array(const diffusion_work *w, int64_t fields, sim_buffer *out) {
  return sim_buffer_create(&sim_backend_cuda, w->single ? SIM_F32 : SIM_F64, 3,
                           (int64_t[]){fields, w->place.field / 2, 2}, out);
}
static sim_status take_mixed(const diffusion_work *w, sim_buffer *out) {
  const int64_t *n = w->grid.n;
  return sim_buffer_create(&sim_backend_cuda, SIM_F32, 4, (int64_t[]){w->fields, n[2], n[1], n[0]}, out);
}

static sim_status take(const diffusion_work *w, int64_t fields, int64_t numbers, sim_buffer *out) {
  return sim_buffer_create(&sim_backend_cuda, w->single ? SIM_F32 : SIM_F64, 2, (int64_t[]){fields, numbers}, out);
}

static sim_status create_shown(diffusion_work *w) {
  void *statistics = NULL;
  SIM_TRY(take(w, w->fields, w->natural.field, &w->real));
  SIM_TRY(sim_backend_cuda.alloc((size_t)diffusion_cuda_measure_bytes((double)w->natural.field), &statistics));
  w->statistics = statistics;
  return sim_backend_cuda.alloc((size_t)diffusion_lines_bytes(&w->grid, w->single), &w->lines);
}

/* Fields that are shown at once. */
static int shown_together(const diffusion_work *w) {
  const int batch = diffusion_fourier_batch(w->fourier) / w->members;
  return batch > 1 ? batch : 1;
}

static sim_status create_arrays(diffusion_work *w) {
  for (int a = 0; a <= w->method.arrays; a++) SIM_TRY(take_array(w, w->fields, &w->array[a]));
  if (diffusion_fluctuates(w->p)) SIM_TRY(take_array(w, w->fields, &w->array[DIFFUSION_NOISE]));
  for (int t = 0; t < w->method.tables; t++)
    SIM_TRY(take(w, w->slots * diffusion_cuda_table_parts(w), w->spectrum.tables, &w->table[t]));
  if (w->gradients.count > 0) SIM_TRY(take_array(w, w->gradients.count, &w->derivatives));
  if (w->method.arrays == 0) SIM_TRY(take_array(w, shown_together(w), &w->scratch));
  return create_shown(w);
}

int diffusion_cuda_table_parts(const diffusion_work *w) { return w->crossed ? w->fields * w->fields : w->fields; }

/* Of the first field, in the slot that is used. */
void *diffusion_cuda_table(const diffusion_work *w, int table) {
  const size_t bytes = (size_t)w->spectrum.tables * (w->single ? sizeof(float) : sizeof(double));
  return (char *)w->table[table].data + (size_t)(w->slot * diffusion_cuda_table_parts(w)) * bytes;
}

static void make_tables(diffusion_work *w, double dt) {
  diffusion_making m = diffusion_cuda_making(w->p, diffusion_cuda_scale(&w->grid));
  m.dt = dt;
  if (w->flat) {
    diffusion_flat_making(w->flat, w->slot, &m);
  } else {
    for (int i = 0; i < 3; i++) {
      m.entries[i] = w->spectrum.table[i];
      m.axis[i] = w->place.axis[i];
    }
    m.factor = (int)w->spectrum.factor;
    m.numbers = w->spectrum.tables;
    for (int t = 0; t < m.tables; t++) m.table[t] = diffusion_cuda_table(w, t);
  }
  diffusion_cuda_fill(w, &m);
}

/* ---- kernels ---- */

static sim_status find_visit(diffusion_work *w, int visit) {
  char name[32];
  snprintf(name, sizeof name, "diffusion_visit_%d", visit);
  return sim_module_kernel(w->module, name, &w->visit[visit]);
}

/* Compiles them beside what the caller does next. */
static sim_status begin_kernels(diffusion_work *w) {
  sim_source sources[DIFFUSION_PROGRAMS];
  SIM_TRY(diffusion_cuda_write(w, &w->programs));
  for (int i = 0; i < w->programs.count; i++) sources[i] = diffusion_programs_source(&w->programs, i);
  return sim_module_begin(sources, w->programs.count, &w->module);
}

static sim_status find_kernels(diffusion_work *w) {
  const bool strang = w->p->integrate.scheme == DIFFUSION_STRANG;
  if (diffusion_cuda_has_tables(w)) SIM_TRY(sim_module_kernel(w->module, "diffusion_fill", &w->fill));
  if (diffusion_cuda_has_rates(w)) SIM_TRY(sim_module_kernel(w->module, "diffusion_rates", &w->rates));
  if (w->fused) return diffusion_fused_kernels(w->fused, w->module, strang);
  if (w->axes) return diffusion_axes_kernels(w->axes, w->module, strang);
  if (w->flat) return diffusion_flat_kernels(w->flat, w->module);
  for (int s = 0; s < w->method.stages; s++) SIM_TRY(find_visit(w, s));
  SIM_TRY(find_visit(w, DIFFUSION_VISIT_LOAD));
  if (w->method.arrays > 0) SIM_TRY(find_visit(w, DIFFUSION_VISIT_RESUME));
  return w->method.stages == 0 ? find_visit(w, DIFFUSION_VISIT_JUMP) : SIM_OK;
}

/* Before the first launch. */
static sim_status make_ready(diffusion_work *w) {
  if (w->ready) return SIM_OK;
  SIM_TRY(sim_module_end(w->module));
  diffusion_programs_free(&w->programs);
  SIM_TRY(find_kernels(w));
  w->ready = true;
  if (w->fill && w->slots == 1 && w->method.stages > 0) make_tables(w, diffusion_dt(&w->p->integrate));
  return SIM_OK;
}

static sim_status create_fourier(diffusion_work *w) {
  long long n[3];
  int rank = 0;
  for (int i = 2; i >= 0; i--)
    if (w->place.n[i] > 1 && (i == 0 || i != w->place.apart)) n[rank++] = w->place.n[i];
  return diffusion_fourier_create(rank, n, diffusion_cuda_together(w->p) * w->members, w->single, &w->fourier);
}

static sim_status create_cufft_parts(diffusion_work *w) {
  SIM_TRY(create_fourier(w));
  return create_arrays(w);
}

static sim_status create_fused_parts(diffusion_work *w) {
  SIM_TRY(take_mixed(w, &w->array[0]));
  SIM_TRY(create_shown(w));
  return diffusion_fused_create(w->p, diffusion_dt(&w->p->integrate), w->array[0].data, w->real.data, &w->fused);
}

static sim_status create_axes_parts(diffusion_work *w) {
  SIM_TRY(take_mixed(w, &w->array[0]));
  SIM_TRY(create_shown(w));
  return diffusion_axes_create(w->p, diffusion_dt(&w->p->integrate), w->array[0].data, w->real.data, &w->axes);
}

static sim_status create_flat_parts(diffusion_work *w) {
  SIM_TRY(create_shown(w));
  return diffusion_flat_create(w->p, w->slots, w->real.data, &w->flat);
}

static sim_status create_by(const diffusion_parameters *p, sim_status (*create_parts)(diffusion_work *),
                            diffusion_work **out) {
  diffusion_work *w = *out = calloc(1, sizeof *w);
  if (!w) return sim_no_memory("the model");
  w->p = p;
  w->grid = diffusion_grid_of(p);
  w->place = diffusion_cuda_place(&w->grid);
  w->natural = diffusion_cuda_natural(&w->grid);
  w->spectrum = diffusion_cuda_spectrum(&w->place, diffusion_unfolded(p));
  w->method = diffusion_method_with(p, 0);
  w->slots = diffusion_adaptive(p) ? DIFFUSION_SLOTS : 1;
  w->fields = (int)p->fields.count;
  w->members = w->grid.apart ? (int)w->grid.n[w->grid.apart] : 1;
  w->single = diffusion_single(p);
  w->crossed = diffusion_crossed(p);
  w->gradients = diffusion_gradients_of(p);
  for (int f = 0; f < w->fields; f++) {
    w->lift[f] = diffusion_lift_of(p, f);
    if (diffusion_species_of(p, f)->fluctuation > 0) w->fluctuating |= 1u << f;
  }
  sim_status status = create_parts(w);
  if (status == SIM_OK && w->slots > 1) status = diffusion_cuda_norms_create(w);
  if (status == SIM_OK) status = begin_kernels(w);
  if (status != SIM_OK) destroy(out);
  return status;
}

static sim_status create(const diffusion_parameters *p, const sim_setup *setup, diffusion_work **out) {
  (void)setup;
  return create_by(p,
                   diffusion_flat_fits(p)    ? create_flat_parts
                   : diffusion_fused_fits(p) ? create_fused_parts
                   : diffusion_axes_fit(p)   ? create_axes_parts
                                             : create_cufft_parts,
                   out);
}
static sim_status create_axes(const diffusion_parameters *p, const sim_setup *setup, diffusion_work **out) {
  (void)setup;
  return create_by(p, create_axes_parts, out);
}
static sim_status create_cufft(const diffusion_parameters *p, const sim_setup *setup, diffusion_work **out) {
  (void)setup;
  return create_by(p, create_cufft_parts, out);
}

/* ---- passes ---- */

static sim_status forward(diffusion_work *w, void *fields, int count) {
  SIM_TRY(diffusion_fourier_forward(w->fourier, fields, count * w->members));
  if (w->natural.field == w->members) diffusion_cuda_blank(w, fields, count * w->members);
  diffusion_cuda_fold(w, fields, count, true);
  return SIM_OK;
}

static sim_status inverse(diffusion_work *w, void *fields, int count) {
  diffusion_cuda_fold(w, fields, count, false);
  return diffusion_fourier_inverse(w->fourier, fields, count * w->members);
}

static const sim_buffer *real_fields(const diffusion_work *w) { return &w->real; }
static const sim_buffer *state(const diffusion_work *w) {
  return w->flat ? diffusion_flat_state(w->flat) : &w->array[w->method.arrays > 0 ? 1 : 0];
}

static sim_status load(diffusion_work *w) {
  SIM_TRY(make_ready(w));
  diffusion_cuda_lift(w, -1);
  if (w->fused) {
    diffusion_fused_load(w->fused);
    return sim_queue_cuda.status();
  }
  if (w->axes) {
    diffusion_axes_load(w->axes);
    return sim_queue_cuda.status();
  }
  if (w->flat) {
    diffusion_flat_load(w->flat);
    return sim_queue_cuda.status();
  }
  diffusion_cuda_load(w);
  SIM_TRY(forward(w, w->array[0].data, w->fields));
  diffusion_cuda_visit(w, DIFFUSION_VISIT_LOAD);
  return sim_queue_cuda.status();
}

static sim_status resume(diffusion_work *w) {
  SIM_TRY(make_ready(w));
  if (w->flat)
    diffusion_flat_resume(w->flat);
  else if (w->method.arrays > 0)
    diffusion_cuda_visit(w, DIFFUSION_VISIT_RESUME);
  return sim_queue_cuda.status();
}

/* Array [0]: from coefficients of the fields to those of their rates. */
static sim_status take_rates(diffusion_work *w, const diffusion_moment *moment) {
  if (w->gradients.count > 0) {
    diffusion_cuda_derive(w);
    SIM_TRY(inverse(w, w->derivatives.data, w->gradients.count));
  }
  SIM_TRY(inverse(w, w->array[0].data, w->fields));
  diffusion_cuda_rates(w, w->array[0].data, &w->place, moment);
  return forward(w, w->array[0].data, w->fields);
}

static sim_status stage(diffusion_work *w, int index, const diffusion_moment *moment) {
  if (w->fused) {
    diffusion_fused_step(w->fused, moment);
    return sim_queue_cuda.status();
  }
  if (w->axes) {
    diffusion_axes_step(w->axes, moment);
    return sim_queue_cuda.status();
  }
  if (w->flat) {
    diffusion_flat_stage(w->flat, index, moment);
    return sim_queue_cuda.status();
  }
  if (w->method.stage[index].forward) SIM_TRY(take_rates(w, moment));
  if (index == w->method.stages - 1 && diffusion_fluctuates(w->p)) {
    diffusion_cuda_noise(w, moment->step);
    SIM_TRY(forward(w, w->array[DIFFUSION_NOISE].data, w->fields));
  }
  diffusion_cuda_visit(w, index);
  return sim_queue_cuda.status();
}

static sim_status jump(diffusion_work *w, double t) {
  make_tables(w, t);
  diffusion_cuda_visit(w, DIFFUSION_VISIT_JUMP);
  return sim_queue_cuda.status();
}

/* Array [0] is used up where the state is another one, from which it is made again. */
static sim_status show_cufft(diffusion_work *w) {
  const int batch = shown_together(w);
  const size_t bytes = (size_t)w->place.field * (w->single ? sizeof(float) : sizeof(double));
  for (int f = 0; f < w->fields; f += batch) {
    char *fields = (char *)w->array[0].data + (size_t)f * bytes;
    if (w->method.arrays == 0) {
      SIM_TRY(sim_queue_cuda.stage(w->scratch.data, fields, (size_t)batch * bytes));
      fields = w->scratch.data;
    }
    SIM_TRY(inverse(w, fields, batch));
    diffusion_cuda_store(w, fields, f, batch);
  }
  return resume(w);
}

static sim_status show(diffusion_work *w, const diffusion_moment *half) {
  if (w->fused)
    diffusion_fused_store(w->fused);
  else if (w->axes)
    diffusion_axes_store(w->axes);
  else if (w->flat)
    diffusion_flat_store(w->flat);
  else
    SIM_TRY(show_cufft(w));
  if (half) diffusion_cuda_rates(w, w->real.data, &w->natural, half);
  diffusion_cuda_lift(w, 1);
  return sim_queue_cuda.status();
}

static sim_status broken(diffusion_work *w, int *field) { return diffusion_cuda_broken(w, state(w), field); }

/* ---- steps that adapt ---- */

static sim_status use(diffusion_work *w, double h, int slot) {
  w->slot = slot;
  if (w->flat) diffusion_flat_use(w->flat, slot);
  if (w->length[slot] == h) return SIM_OK;
  w->length[slot] = h;
  make_tables(w, h);
  return sim_queue_cuda.status();
}

static void accept(diffusion_work *w) {
  if (w->flat) {
    diffusion_flat_accept(w->flat);
    return;
  }
  const sim_buffer old = w->array[1];
  w->array[1] = w->array[DIFFUSION_NEXT];
  w->array[DIFFUSION_NEXT] = old;
}

static const char *name(const diffusion_work *w) {
  if (w->axes) return "one pass an axis";
  if (w->flat) return "two passes a stage";
  return w->fused ? "two passes" : "cuFFT";
}

#define OPERATIONS(plans, creates)                                                                                     \
  {                                                                                                                    \
    .plan = plans, .create = creates, .destroy = destroy, .real = real_fields, .state = state, .load = load,           \
    .resume = resume, .stage = stage, .jump = jump, .show = show, .measure = diffusion_cuda_measure,                   \
    .lines = diffusion_cuda_lines, .name = name, .broken = broken, .use = use, .error = diffusion_cuda_error,          \
    .accept = accept                                                                                                   \
  }
const diffusion_ops diffusion_ops_cuda = OPERATIONS(diffusion_cuda_plan, create);
const diffusion_ops diffusion_ops_axes = OPERATIONS(diffusion_cuda_plan_axes, create_axes);
const diffusion_ops diffusion_ops_cufft = OPERATIONS(diffusion_cuda_plan_cufft, create_cufft);
