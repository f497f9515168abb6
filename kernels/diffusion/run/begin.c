/* The beginning of a run: memory, and the first state or the state of a checkpoint. */
#include "kernels/diffusion/run/run.h"

#include "engine/run/startup.h"

#include <math.h>
#include <stdlib.h>

void diffusion_run_destroy(void **self) {
  diffusion_run *run = *self;
  if (!run) return;
  if (run->work) run->ops->destroy(&run->work);
  if (run->twin) run->ops->destroy(&run->twin);
  diffusion_fields_destroy(run);
  diffusion_observer_destroy(&run->observer);
  diffusion_resolution_destroy(&run->resolution);
  sim_buffer_destroy(&run->host);
  sim_buffer_destroy(&run->drawn);
  sim_buffer_destroy(&run->kept);
  free(run);
  *self = NULL;
}

/* Allocates memory for the state before a step by the Courant number. */
static sim_status make_kept(diffusion_run *run) {
  const sim_buffer *state = run->ops->state(run->work);
  int64_t numbers = run_numbers(state);
  /* several ranks of the CPU without arrays: the state is the slab itself */
  if (run->backend->space == SIM_SPACE_HOST && run->comm->size > 1 && run->method->arrays == 0) {
    const grid_shape grid = diffusion_grid_of(&run->rest);
    const bool single = diffusion_single(run->p);
    const diffusion_slab slab = diffusion_own_slab(&grid, single, run->comm);
    numbers = (int64_t)diffusion_slab_numbers(&grid, single, &slab);
  }
  return sim_buffer_create(run->backend, state->dtype, 2, (int64_t[]){run->fields, numbers}, &run->kept);
}

/* Creates the initial state on the host. */
static sim_status begin(diffusion_run *run, const sim_setup *setup) {
  const sim_buffer *real = diffusion_fields_of(run);
  sim_buffer host = *real;
  void *fields[DIFFUSION_FIELDS];
  const bool there = real->space != SIM_SPACE_HOST;
  if (there) SIM_TRY(sim_buffer_create(&sim_backend_cpu, real->dtype, real->rank, real->shape, &host));
  for (int f = 0; f < run->fields; f++) fields[f] = there ? run_part(&host, f) : diffusion_fields_own(run, f);
  sim_status status = diffusion_start(run->p, setup, fields);
  if (status == SIM_OK && run->resample) {
    status = diffusion_fields_begin(run);
    for (int f = 0; f < run->fields; f++) fields[f] = diffusion_fields_fine(run, f);
  }
  if (status == SIM_OK && there) status = setup->backend->copy(real->data, host.data, sim_buffer_bytes(real));
  if (status == SIM_OK && run->twin) status = diffusion_twin_begin(run, setup, fields);
  if (there) sim_buffer_destroy(&host);
  return status == SIM_OK && !run->twin ? run->ops->load(run->work, 0) : status;
}

/* Restores the coefficients of the run, or of its twin. Their order, and the shape of the array, depend on the
 * operations. */
static sim_status restore_state(diffusion_run *run, const sim_setup *setup, int number, diffusion_work *work) {
  sim_array own;
  sim_array_of(&diffusion_state[number], run->ops->state(work), &own);
  if (run->comm->size == 1) return sim_frame_restore(setup->saved, setup->backend, &own);
  const sim_array *saved;
  run->ops->whole(work, &own);
  SIM_TRY(sim_frame_find(setup->saved, &own, &saved));
  return run->ops->restore_slab(work, saved);
}

static sim_status restore_twin(diffusion_run *run, const sim_setup *setup) {
  const diffusion_growth *g = &run->growth;
  SIM_TRY(sim_frame_restore(setup->saved, setup->backend,
                            &(sim_array){.field = &diffusion_state[DIFFUSION_GROWTH],
                                         .dtype = SIM_F64,
                                         .rank = 1,
                                         .shape = {sizeof run->growth / sizeof(double)},
                                         .data = &run->growth}));
  if (!(g->blocks >= 0 && g->blocks < DIFFUSION_BLOCKS && g->blocks == floor(g->blocks) && g->distance > 0))
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's Lyapunov exponent is damaged");
  SIM_TRY(restore_state(run, setup, DIFFUSION_TWIN, run->twin));
  return run->ops->resume(run->twin);
}

static sim_status restore(diffusion_run *run, const sim_setup *setup, bool pending) {
  sim_array level;
  if (diffusion_adaptive(run->p)) {
    level = (sim_array){
        .field = &diffusion_state[DIFFUSION_LEVEL], .dtype = SIM_F64, .rank = 1, .shape = {1}, .data = &run->level};
    SIM_TRY(sim_frame_restore(setup->saved, setup->backend, &level));
    if (!(fabs(run->level) <= 1100 && run->level == floor(run->level)))
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's level is no power of two of a step");
    run->controller.level = (int)run->level;
  }
  if (restore_state(run, setup, DIFFUSION_COEFFICIENTS, run->work) != SIM_OK)
    return sim_fail_context("%s on %s", run->ops->name(run->work), setup->backend->name);
  SIM_TRY(run->ops->resume(run->work));
  if (run->twin) SIM_TRY(restore_twin(run, setup));
  if (diffusion_implicit(run->p))
    SIM_TRY(sim_frame_restore(setup->saved, setup->backend,
                              &(sim_array){.field = &diffusion_state[DIFFUSION_SOLVED],
                                           .dtype = SIM_F64,
                                           .rank = 1,
                                           .shape = {3},
                                           .data = run->before}));
  if (!pending) return SIM_OK;
  /* completes the second half of the last step, before the length of steps changes */
  const sim_clock *clock = &setup->saved->clock;
  SIM_TRY(run->ops->show(run->work, clock->t, &(diffusion_step_context){clock->t - clock->dt / 2, clock->dt / 2, 1}));
  return run->ops->load(run->work, clock->t);
}

/* Reads the time and step from which steps are counted: the beginning of the run unless the checkpoint has others. */
static sim_status read_begin(diffusion_run *run, const sim_frame *saved) {
  const double *x = run->begin;
  if (!saved || !sim_frame_array(saved, diffusion_state[DIFFUSION_BEGIN].name)) return SIM_OK;
  SIM_TRY(sim_frame_restore(
      saved, &sim_backend_cpu,
      &(sim_array){
          .field = &diffusion_state[DIFFUSION_BEGIN], .dtype = SIM_F64, .rank = 1, .shape = {2}, .data = run->begin}));
  if (!(x[0] >= 0 && x[0] <= saved->clock.t) ||
      !(x[1] >= 0 && x[1] <= (double)saved->clock.step && x[1] == floor(x[1])))
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's begin is no time and step before it");
  return SIM_OK;
}

/* Sets the fixed step. Returns whether it differs from the steps before the checkpoint. */
static bool set_course(diffusion_run *run, const sim_frame *saved) {
  const diffusion_integrate *rest = &run->rest.integrate;
  bool changed = false, stepped = false;
  for (;;) {
    run->rest = *run->p;
    diffusion_refine(&run->rest, run->refined);
    run->rest.integrate.t_end -= run->begin[0];
    run->h = diffusion_dt(rest);
    run->last = (int64_t)run->begin[1] + diffusion_steps(rest);
    if (changed) diffusion_say_steps(rest, run->p->integrate.t_end, run->begin[0]);
    if (changed || !saved || run->h == saved->clock.dt || !(saved->clock.t < run->p->integrate.t_end))
      return changed && stepped;
    changed = true;
    stepped = saved->clock.step > (int64_t)run->begin[1];
    run->begin[0] = saved->clock.t;
    run->begin[1] = (double)saved->clock.step;
  }
}

sim_status diffusion_run_create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  const diffusion_parameters *p = parameters;
  diffusion_run *run = calloc(1, sizeof *run);
  *self = run;
  if (!run) return sim_no_memory("the model");
  run->p = p;
  run->ops = diffusion_ops_of(setup);
  run->backend = setup->backend;
  run->grid = diffusion_grid_of(p);
  run->fields = (int)p->fields.count;
  run->cells = grid_cells(&run->grid);
  run->comm = setup->comm;
  run->slab = diffusion_own_slab(&run->grid, diffusion_single(p), setup->comm);
  run->shown = run->checked = run->rated = run->drawn_at = -1;
  run->jumped = NAN;
  run->method = diffusion_method_of(p);
  run->controller.level = diffusion_first_level(&p->integrate);
  sim_extent whole;
  diffusion_run_extent(p, &whole);
  run->mesh = whole.mesh;
  clock->t_end = p->integrate.t_end;
  sim_status status = diffusion_check_device(p, setup);
  if (status == SIM_OK) status = read_begin(run, setup->saved);
  if (status != SIM_OK) {
    diffusion_run_destroy(self);
    return status;
  }
  bool pending = !diffusion_adaptive(p) && set_course(run, setup->saved) && p->integrate.scheme == DIFFUSION_STRANG;
  if (diffusion_adaptive(p)) {
    run->rest = *p;
    diffusion_refine(&run->rest, run->refined);
  }
  run->finite = setup->saved ? setup->saved->clock.step : 0;
  sim_startup("making the scheme's tables", 0, 0);
  status = run->ops->create(&run->rest, setup, &run->work);
  if (status == SIM_OK && p->lyapunov.given) status = run->ops->create(&run->rest, setup, &run->twin);
  if (status == SIM_OK) status = diffusion_fields_create(run, setup);
  if (status == SIM_OK) status = diffusion_observer_create(p, setup->isa, setup->threads, &run->observer);
  if (status == SIM_OK) status = diffusion_resolution_create(p, setup->isa, &run->resolution);
  if (status == SIM_OK && run->observer && !run->resample &&
      (setup->backend->space != SIM_SPACE_HOST || run->comm->size > 1)) {
    const int64_t all[2] = {run->fields, run->cells};
    status = sim_buffer_create(&sim_backend_cpu, run->ops->real(run->work)->dtype, 2, all, &run->host);
  }
  int drawn[DIFFUSION_DRAWN];
  const int64_t count = diffusion_drawn(p, drawn);
  if (status == SIM_OK && count > 0)
    status = sim_buffer_create(&sim_backend_cpu, diffusion_single(p) ? SIM_F32 : SIM_F64, 2,
                               (int64_t[]){count, run->cells}, &run->drawn);
  if (status == SIM_OK && diffusion_by_courant(p)) status = make_kept(run);
  sim_startup("making the initial state", 0, 0);
  if (status == SIM_OK) status = setup->saved ? restore(run, setup, pending) : begin(run, setup);
  if (status == SIM_OK && !setup->saved) clock->dt = diffusion_adaptive(p) ? ldexp(1, run->controller.level) : run->h;
  if (status != SIM_OK) diffusion_run_destroy(self);
  return status;
}
