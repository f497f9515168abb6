/* The operations on an NVIDIA GPU, by the first way that supports the run. cpu/ops.c has the same operations. */
#include "kernels/diffusion/cuda/work.h"

#include "engine/device/cuda.h"
#include "kernels/diffusion/cuda/general/passes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last way supports every run. */
static const diffusion_way *const ways[] = {
    &diffusion_way_flat,        /* two axes */
    &diffusion_way_fused,       /* three axes */
    &diffusion_way_axes,        /* two or three axes, with walls */
    &diffusion_way_flow_planes, /* flows on two axes */
    &diffusion_way_flow_boxes,  /* flows on three axes */
    &diffusion_way_general,
};

static const diffusion_way *way_of(const diffusion_parameters *p) {
  int i = 0;
  if (p->integrate.method == DIFFUSION_AXES) return &diffusion_way_axes;
  if (p->integrate.method == DIFFUSION_CUFFT || p->integrate.method == DIFFUSION_SLABS || diffusion_implicit(p))
    return &diffusion_way_general;
  while (!ways[i]->supports(p)) i++;
  return ways[i];
}

/* Returns what a run lacks for the way `axes`, for messages; NULL: nothing. */
static const char *axes_lack(const diffusion_parameters *p) {
  const grid_shape grid = diffusion_grid_of(p);
  const int scheme = p->integrate.scheme;
  if (scheme != DIFFUSION_LIE && scheme != DIFFUSION_STRANG) return "scheme = \"lie\" or \"strang\"";
  if (!diffusion_single(p)) return "precision = \"single\"";
  if (p->fields.count > 2) return "one or two fields";
  if (p->members > 1) return "one member";
  for (int a = 0; a < grid.rank; a++)
    if (grid.rank < 2 || (grid.n[a] != 256 && grid.n[a] != 512 && grid.n[a] != 1024))
      return "two or three axes of 256, 512 or 1024 cells";
  if (diffusion_fluctuates(p)) return "fields without fluctuation";
  if (diffusion_forced(p) != 0) return "fields without forcing";
  if (p->integrate.courant > 0) return "steps of a given length";
  if (diffusion_has_gradients(p)) return "rates of the fields alone (no derivatives, derived, flux or solenoidal)";
  const diffusion_gradients none = {0};
  if (diffusion_aligned(p, &none)) return "walls that are of one kind for all fields";
  if (!diffusion_way_axes.supports(p))
    return "an L of one term for each axis (no drift, tensor, cross, hyper or linear), and a GPU of compute capability "
           "9.0";
  return NULL;
}

static sim_status check(const diffusion_parameters *p, const sim_setup *setup) {
  const grid_shape grid = diffusion_grid_of(p);
  const bool asked = p->integrate.method == DIFFUSION_AXES, slabs = p->integrate.method == DIFFUSION_SLABS;
  const char *lack = slabs ? diffusion_slabs_lack(p) : axes_lack(p);
  if (diffusion_implicit(p) && slabs)
    return sim_fail(SIM_ERR_SCENARIO,
                    "integrate.method = \"slabs\" on a GPU has no scheme = \"rodas3\": leave out method");
  if (diffusion_implicit(p) && setup->comm->size > 1)
    return sim_fail(SIM_ERR_USAGE, "%d ranks: integrate.scheme = \"rodas3\" runs on one GPU only: give one GPU",
                    setup->comm->size);
  if ((asked || slabs) && lack)
    return sim_fail(SIM_ERR_SCENARIO, "integrate.method = \"%s\" on a GPU needs %s", slabs ? "slabs" : "axes", lack);
  if (slabs) return SIM_OK;
  if (setup->comm->size == 1 || p->members > 1) return SIM_OK; /* ranks share out the members of an ensemble */
  if (!lack && grid.rank < 3) lack = "three axes";
  const char *neither = lack ? diffusion_slabs_lack(p) : NULL;
  if (neither)
    return sim_fail(SIM_ERR_USAGE, "%d ranks: sim.diffusion on several GPUs needs %s; give one GPU, or --device cpu",
                    setup->comm->size, neither);
  if (lack || way_of(p) != &diffusion_way_axes)
    return sim_fail(SIM_ERR_USAGE,
                    "%d ranks: this run goes on several GPUs with integrate.method = \"%s\" in the scenario, which one "
                    "GPU then takes too, with the same bits",
                    setup->comm->size, lack ? "slabs" : "axes");
  return SIM_OK;
}

static void plan(const diffusion_parameters *p, const sim_setup *setup, sim_plan *out) {
  const grid_shape grid = diffusion_grid_of(p);
  if (setup->comm->size > 1) {
    const diffusion_gradients read = diffusion_gradients_of(p);
    diffusion_layout layout, planes;
    diffusion_share parts;
    diffusion_cuda_divide(p, setup->comm, diffusion_cuda_aligned(p, &read), &layout, &planes, &parts);
    const sim_columns columns = diffusion_cuda_pieces(p, &parts, setup->comm);
    way_of(p)->plan_ranks(p, setup->comm, out);
    sim_plan_add(out, "exchange of statistics", sim_exchange_bytes(setup->comm, &columns));
  } else {
    way_of(p)->plan(p, out);
  }
  sim_plan_add(out, "statistics", diffusion_cuda_measure_bytes(p) + diffusion_lines_bytes(&grid, diffusion_single(p)));
}

static void destroy(diffusion_work **work) {
  diffusion_work *w = *work;
  if (!w) return;
  w->way->destroy(w);
  sim_module_free(&w->module);
  diffusion_programs_free(&w->programs);
  for (int a = 0; a < DIFFUSION_ARRAYS; a++) sim_buffer_destroy(&w->array[a]);
  for (int t = 0; t < DIFFUSION_TABLES; t++) sim_buffer_destroy(&w->table[t]);
  sim_buffer_destroy(&w->real);
  diffusion_bases_destroy(&w->bases);
  sim_backend_cuda.free(w->statistics);
  sim_backend_cuda.free(w->lines);
  sim_backend_cuda.free(w->norms);
  sim_backend_cuda.free(w->force);
  sim_exchange_destroy(&w->exchange);
  free(w);
  *work = NULL;
}

/* Creates the fields for outputs and their measurements. The rank of their array is 2. States have rank 3 or 4, with
 * another shape in each way, so that a restart detects the state of another way. */
static sim_status create_outputs(diffusion_work *w) {
  void *statistics = NULL;
  SIM_TRY(sim_buffer_create(&sim_backend_cuda, w->single ? SIM_F32 : SIM_F64, 2,
                            (int64_t[]){w->fields, w->natural.field}, &w->real));
  SIM_TRY(sim_backend_cuda.alloc((size_t)diffusion_cuda_measure_bytes(w->p), &statistics));
  w->statistics = statistics;
  return sim_backend_cuda.alloc((size_t)diffusion_lines_bytes(&w->grid, w->single), &w->lines);
}

/* Compiles kernels in the background while the caller prepares the run. */
static sim_status begin_kernels(diffusion_work *w) {
  sim_source sources[DIFFUSION_PROGRAMS];
  SIM_TRY(diffusion_cuda_write(w, &w->programs));
  for (int i = 0; i < w->programs.count; i++) sources[i] = diffusion_programs_source(&w->programs, i);
  return sim_module_begin(sources, w->programs.count, &w->module);
}

sim_status diffusion_cuda_create(const diffusion_parameters *p, const sim_comm *comm, int threads,
                                 const diffusion_way *way, diffusion_work **out) {
  diffusion_work *w = *out = calloc(1, sizeof *w);
  if (!w) return sim_no_memory("the model");
  w->p = p;
  w->way = way ? way : way_of(p);
  w->grid = diffusion_grid_of(p);
  w->comm = comm;
  const diffusion_slab slab = diffusion_own_slab(&w->grid, diffusion_single(p), comm);
  w->natural = diffusion_cuda_natural(&w->grid, &slab);
  w->slots = diffusion_adaptive(p) ? DIFFUSION_SLOTS : 1;
  w->fields = (int)p->fields.count;
  w->members = w->grid.member_axis ? (int)(slab.end - slab.first) : 1;
  w->single = diffusion_single(p);
  w->crossed = diffusion_crossed(p);
  w->gradients = diffusion_gradients_of(p);
  w->aligned = diffusion_cuda_series(p, &w->gradients, &w->series);
  w->slabs = p->integrate.method == DIFFUSION_SLABS;
  diffusion_cuda_divide(p, comm, w->aligned, &w->layout, &w->planes, &w->parts);
  for (int f = 0; f < w->fields; f++) {
    w->lift[f] = diffusion_lift_of(p, f);
    if (diffusion_field_of(p, f)->fluctuation > 0) w->fluctuating |= 1u << f;
  }
  const sim_columns pieces = diffusion_cuda_pieces(p, &w->parts, comm);
  sim_status status = comm->size > 1 ? sim_exchange_create(comm, &pieces, &w->exchange) : SIM_OK;
  if (status == SIM_OK) status = create_outputs(w);
  if (status == SIM_OK && diffusion_mixes(p)) status = diffusion_bases_create(w, threads);
  if (status == SIM_OK) status = w->way->create(w);
  if (w->parts.all == 1) w->parts.numbers = w->spectrum.field;
  if (status == SIM_OK && (diffusion_estimates(p) || p->lyapunov.given)) status = diffusion_cuda_norms_create(w);
  if (status == SIM_OK && diffusion_held(p)) status = diffusion_cuda_force_create(w);
  if (status == SIM_OK) status = begin_kernels(w);
  if (status != SIM_OK) destroy(out);
  return status;
}

static sim_status create(const diffusion_parameters *p, const sim_setup *setup, diffusion_work **out) {
  return diffusion_cuda_create(p, setup->comm, setup->threads, NULL, out);
}

/* Waits for the kernels before the first launch. */
static sim_status make_ready(diffusion_work *w) {
  if (w->ready) return SIM_OK;
  SIM_TRY(sim_module_end(w->module));
  diffusion_programs_free(&w->programs);
  if (w->way->fill) SIM_TRY(sim_module_kernel(w->module, "diffusion_fill", &w->fill));
  if (diffusion_cuda_has_rates(w)) SIM_TRY(sim_module_kernel(w->module, "diffusion_rates", &w->rates));
  SIM_TRY(w->way->find(w));
  w->ready = true;
  if (w->way->fill && w->slots == 1 && w->method.stages > 0)
    diffusion_cuda_make_tables(w, diffusion_dt(&w->p->integrate));
  return SIM_OK;
}

static const sim_buffer *real_fields(const diffusion_work *w) { return &w->real; }
static const sim_buffer *state(const diffusion_work *w) { return &w->array[w->method.arrays > 0 ? 1 : 0]; }

static sim_status load(diffusion_work *w, double t) {
  SIM_TRY(make_ready(w));
  diffusion_cuda_lift(w, -1, t);
  return w->way->load(w);
}

static sim_status resume(diffusion_work *w) {
  SIM_TRY(make_ready(w));
  return w->method.arrays > 0 ? w->way->resume(w) : sim_queue_cuda.status();
}

static sim_status stage(diffusion_work *w, int index, const diffusion_step_context *context) {
  return w->way->stage(w, index, context);
}

static sim_status jump(diffusion_work *w, double t) {
  diffusion_cuda_make_tables(w, t);
  return w->way->jump(w);
}

static sim_status show(diffusion_work *w, double t, const diffusion_step_context *half) {
  SIM_TRY(w->way->store(w));
  if (half) diffusion_cuda_rates(w, w->real.data, NULL, &w->natural, half);
  diffusion_cuda_lift(w, 1, t);
  return sim_queue_cuda.status();
}

static const char *name(const diffusion_work *w) { return w->slabs ? "cuFFT in slabs" : w->way->name; }

static sim_status broken(diffusion_work *w, int *field) { return diffusion_cuda_broken(w, state(w), field); }

static sim_status use(diffusion_work *w, double h, int slot) {
  w->slot = slot;
  if (w->length[slot] == h) return SIM_OK;
  w->length[slot] = NAN; /* until the tables are complete */
  diffusion_cuda_make_tables(w, h);
  SIM_TRY(sim_queue_cuda.status());
  w->length[slot] = h;
  return SIM_OK;
}

static void whole(const diffusion_work *w, sim_array *out) {
  if (w->comm->size > 1) (void)w->way->state_slab((diffusion_work *)(uintptr_t)w, out);
  memcpy(out->shape, out->global, sizeof out->shape);
}

static sim_status state_slab(diffusion_work *w, sim_array *out) { return w->way->state_slab(w, out); }
static sim_status restore_slab(diffusion_work *w, const sim_array *from) { return w->way->restore_slab(w, from); }

static void accept(diffusion_work *w) {
  const sim_buffer old = w->array[1];
  w->array[1] = w->array[DIFFUSION_NEXT];
  w->array[DIFFUSION_NEXT] = old;
}

static void solved(const diffusion_work *w, diffusion_solved *out) {
  *out = diffusion_implicit(w->p) ? diffusion_linearized_solved(w->own.general->linearized) : (diffusion_solved){0};
}

const diffusion_ops diffusion_ops_cuda = {.plan = plan,
                                          .create = create,
                                          .destroy = destroy,
                                          .real = real_fields,
                                          .state = state,
                                          .load = load,
                                          .resume = resume,
                                          .stage = stage,
                                          .jump = jump,
                                          .show = show,
                                          .measure = diffusion_cuda_measure,
                                          .lines = diffusion_cuda_lines,
                                          .name = name,
                                          .broken = broken,
                                          .use = use,
                                          .error = diffusion_cuda_error,
                                          .accept = accept,
                                          .twin = diffusion_cuda_twin,
                                          .check = check,
                                          .whole = whole,
                                          .state_slab = state_slab,
                                          .restore_slab = restore_slab,
                                          .solved = solved};
