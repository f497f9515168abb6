/* The model: steps and outputs, by the operations of a backend.
 *
 * A Strang step is R(h/2) exp(L h) R(h/2); two neighbouring R are one pass. The stored state is that before the
 * second R, which outputs add. */
#include "kernels/diffusion/observe.h"

#include "engine/log.h"
#include "engine/run/startup.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct diffusion_run {
  const diffusion_parameters *p;
  const diffusion_ops *ops;
  diffusion_work *work;
  const sim_backend *backend;
  diffusion_observer *observer;     /* NULL: statistics only */
  diffusion_resolution *resolution; /* NULL: no check */
  sim_buffer host;                  /* whole fields on the host, for observed functions on a GPU or on several ranks */
  const sim_comm *comm;
  diffusion_slab slab; /* of this rank */
  grid_shape grid;
  const diffusion_method *method;
  sim_mesh mesh;
  int64_t cells, shown;            /* step of the fields for outputs; -1: none */
  int64_t checked;                 /* step of the last resolution check */
  diffusion_controller controller; /* adaptive steps */
  double level;                    /* its level, as stored in checkpoints */
  sim_buffer kept;                 /* steps by the Courant number: [fields][numbers], the state before the step */
  double rate;                     /* the same: diffusion_courant_rate of step `rated` */
  int64_t rated;
  double jumped;  /* DIFFUSION_EXACT: time of array [0]; NaN: none */
  int64_t finite; /* last step whose state was finite */
  /* Fixed steps: t_end of `rest` counts from its beginning, which is not 0 where a restart has another t_end and so
   * another step. */
  diffusion_parameters rest;
  double begin[2], h; /* begin: time and step, as stored in checkpoints */
  int64_t last;
  int fields;
} diffusion_run;

static const sim_field state_fields[] = {
    /* renamed when their order changes, so that older checkpoints are refused */
    {.name = "coefficients",
     .type = SIM_REAL,
     .doc = "spectral coefficients of the fields, in the order of the solver"},
    {.name = "level", .type = SIM_REAL, .doc = "dt = \"auto\": the next step is 2^level"},
    {.name = "begin", .type = SIM_REAL, .doc = "time and step from which steps are counted, after a change of t_end"},
    {.name = NULL},
};

static const sim_table *const no_tables[] = {NULL};

static const diffusion_ops *ops_of(const sim_setup *setup) {
  static const diffusion_ops *const ops[SIM_BACKEND_KINDS] = {
      [SIM_BACKEND_CPU] = &diffusion_ops_cpu,
#ifdef SIM_HAS_CUDA
      [SIM_BACKEND_CUDA] = &diffusion_ops_cuda,
#endif
  };
  return ops[setup->backend->kind];
}

static void extent(const void *parameters, sim_extent *out) {
  const grid_shape grid = diffusion_grid_of(parameters);
  grid_extent(&grid, out);
}

/* Reports steps whose length differs from the scenario's, for the time left from `begin` on. */
static void say_steps(const diffusion_integrate *left, double t_end, double begin) {
  const double h = diffusion_dt(left);
  char from[64] = "";
  if (begin > 0) snprintf(from, sizeof from, " from t = %.9g on", begin);
  if (isnan(left->dt) || h == left->dt) return;
  if (left->dt > left->t_end)
    sim_log(SIM_LOG_WARN, "integrate.dt: %.9g is longer than the run%s, which ends at t_end = %.9g: one step of %.9g",
            left->dt, from, t_end, h);
  else
    sim_log(SIM_LOG_INFO, "integrate.dt: %.9g does not divide the run%s, to t_end = %.9g: %lld steps of %.9g", left->dt,
            from, t_end, (long long)diffusion_steps(left), h);
}

static sim_status check_device(const diffusion_parameters *p, const sim_setup *setup) {
  const diffusion_ops *ops = ops_of(setup);
  if (diffusion_forced(p) != 0 && setup->comm->size > 1)
    return sim_fail(SIM_ERR_USAGE, "%d ranks: forcing runs on one rank", setup->comm->size);
  return ops->check ? ops->check(p, setup) : SIM_OK;
}

static sim_status plan(const void *parameters, const sim_setup *setup, sim_plan *out) {
  const diffusion_parameters *p = parameters;
  const grid_shape grid = diffusion_grid_of(p);
  const double fields = (double)p->fields.count, number = diffusion_single(p) ? sizeof(float) : sizeof(double);
  const double cells = grid_cells_wanted(&grid);
  for (int axis = 0; axis < grid.rank; axis++)
    if (!grid_is_member_axis(&grid, axis) && !fft_smooth(grid.n[axis]))
      sim_log(SIM_LOG_WARN, "grid.n: %lld has a prime factor above 13, which makes transforms several times slower",
              (long long)grid.n[axis]);
  if (!setup->saved) diffusion_say_walls(p);
  if (!setup->saved && !diffusion_adaptive(p)) say_steps(&p->integrate, p->integrate.t_end, 0);
  if (!setup->saved) SIM_TRY(diffusion_read_files(p, setup, NULL));
  SIM_TRY(check_device(p, setup));
  ops_of(setup)->plan(p, setup, out);
  if (!setup->saved && diffusion_has_files(p)) sim_plan_add_host(out, "values of a file", sizeof(double) * cells);
  if (!setup->saved && diffusion_dealias(&p->integrate) > 0)
    sim_plan_add_host(out, "cut of the first state", diffusion_cut_bytes(p, setup));
  const diffusion_slab slab = diffusion_own_slab(&grid, diffusion_single(p), setup->comm);
  const bool whole = setup->comm->size == 1;
  const double slab_cells = (double)(slab.end - slab.first) * (double)diffusion_plane_cells(&grid);
  sim_plan_add(out, "fields for outputs", fields * number * (whole ? cells : slab_cells));
  if (diffusion_by_courant(p))
    sim_plan_add(out, "state before a step",
                 whole ? out->checkpoint_bytes
                       : fields * number *
                             fmax(diffusion_slab_numbers(&grid, diffusion_single(p), &slab),
                                  diffusion_column_numbers(&grid, diffusion_single(p), &slab)));
  if (diffusion_resolution_bytes(p) > 0)
    sim_plan_add_host(out, "lines of cells for the resolution", diffusion_resolution_bytes(p));
  if (out->space != SIM_SPACE_HOST)
    sim_plan_add_host(out, "fields at the start", fields * number * (whole ? cells : slab_cells));
  if (diffusion_observer_bytes(p, setup->threads) > 0)
    sim_plan_add_host(out, "observed fields",
                      diffusion_observer_bytes(p, setup->threads) +
                          (out->space == SIM_SPACE_HOST && whole ? 0 : fields * number * cells));
  out->snapshot_bytes = out->staged_bytes = out->unsaved_bytes = fields * number * cells;
  out->divided = !whole;
  out->work_per_step = cells * fields;
  out->t_end = p->integrate.t_end;
  out->steps = diffusion_adaptive(p) ? NAN : (double)diffusion_steps(&p->integrate);
  out->lazy = diffusion_method_of(p)->stages == 0;
  return SIM_OK;
}

static void destroy(void **self) {
  diffusion_run *run = *self;
  if (!run) return;
  if (run->work) run->ops->destroy(&run->work);
  diffusion_observer_destroy(&run->observer);
  diffusion_resolution_destroy(&run->resolution);
  sim_buffer_destroy(&run->host);
  sim_buffer_destroy(&run->kept);
  free(run);
  *self = NULL;
}

static void *part(const sim_buffer *buffer, int field) {
  return (char *)buffer->data + (size_t)field * (size_t)buffer->shape[1] * sim_dtype_size(buffer->dtype);
}

/* Makes room for the state before a step by the Courant number. */
static sim_status make_kept(diffusion_run *run) {
  const sim_buffer *state = run->ops->state(run->work);
  int64_t numbers = state->shape[1];
  if (run->comm->size > 1 && run->method->arrays == 0) /* the slab itself */
    numbers = (int64_t)diffusion_slab_numbers(&run->grid, diffusion_single(run->p), &run->slab);
  return sim_buffer_create(run->backend, state->dtype, 2, (int64_t[]){run->fields, numbers}, &run->kept);
}

/* Creates the initial state on the host. */
static sim_status begin(diffusion_run *run, const sim_setup *setup) {
  const sim_buffer *real = run->ops->real(run->work);
  sim_buffer host = *real;
  void *fields[DIFFUSION_FIELDS];
  const bool there = real->space != SIM_SPACE_HOST;
  if (there) SIM_TRY(sim_buffer_create(&sim_backend_cpu, real->dtype, real->rank, real->shape, &host));
  for (int f = 0; f < run->fields; f++) fields[f] = part(&host, f);
  sim_status status = diffusion_start(run->p, setup, fields);
  if (status == SIM_OK && there) status = setup->backend->copy(real->data, host.data, sim_buffer_bytes(real));
  if (there) sim_buffer_destroy(&host);
  return status == SIM_OK ? run->ops->load(run->work, 0) : status;
}

/* Restores the coefficients. Their order, and the rank of the array, depend on the operations. */
static sim_status restore_state(diffusion_run *run, const sim_setup *setup) {
  sim_array own;
  sim_array_of(&state_fields[0], run->ops->state(run->work), &own);
  if (run->comm->size == 1) return sim_frame_restore(setup->saved, setup->backend, &own);
  const sim_array *saved;
  run->ops->whole(run->work, &own);
  SIM_TRY(sim_frame_find(setup->saved, &own, &saved));
  return run->ops->restore_slab(run->work, saved);
}

static sim_status restore(diffusion_run *run, const sim_setup *setup, bool pending) {
  sim_array level;
  if (diffusion_adaptive(run->p)) {
    level = (sim_array){.field = &state_fields[1], .dtype = SIM_F64, .rank = 1, .shape = {1}, .data = &run->level};
    SIM_TRY(sim_frame_restore(setup->saved, setup->backend, &level));
    if (!(fabs(run->level) <= 1100 && run->level == floor(run->level)))
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's level is no power of two of a step");
    run->controller.level = (int)run->level;
  }
  if (restore_state(run, setup) != SIM_OK)
    return sim_fail_context("%s on %s", run->ops->name(run->work), setup->backend->name);
  SIM_TRY(run->ops->resume(run->work));
  if (!pending) return SIM_OK;
  /* completes the second half of the last step, before the length changes */
  const sim_clock *clock = &setup->saved->clock;
  SIM_TRY(run->ops->show(run->work, clock->t, &(diffusion_step_context){clock->t - clock->dt / 2, clock->dt / 2, 1}));
  return run->ops->load(run->work, clock->t);
}

/* Reads where steps are counted from: the beginning of the run unless the checkpoint says otherwise. */
static sim_status read_begin(diffusion_run *run, const sim_frame *saved) {
  const double *x = run->begin;
  if (!saved || !sim_frame_array(saved, state_fields[2].name)) return SIM_OK;
  SIM_TRY(sim_frame_restore(
      saved, &sim_backend_cpu,
      &(sim_array){.field = &state_fields[2], .dtype = SIM_F64, .rank = 1, .shape = {2}, .data = run->begin}));
  if (!(x[0] >= 0 && x[0] <= saved->clock.t) ||
      !(x[1] >= 0 && x[1] <= (double)saved->clock.step && x[1] == floor(x[1])))
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's begin is no time and step before it");
  return SIM_OK;
}

/* Sets the fixed step; returns whether it differs from the steps before the checkpoint. */
static bool set_course(diffusion_run *run, const sim_frame *saved) {
  const diffusion_integrate *rest = &run->rest.integrate;
  bool changed = false, stepped = false;
  for (;;) {
    run->rest = *run->p;
    run->rest.integrate.t_end -= run->begin[0];
    run->h = diffusion_dt(rest);
    run->last = (int64_t)run->begin[1] + diffusion_steps(rest);
    if (changed) say_steps(rest, run->p->integrate.t_end, run->begin[0]);
    if (changed || !saved || run->h == saved->clock.dt || !(saved->clock.t < run->p->integrate.t_end))
      return changed && stepped;
    changed = true;
    stepped = saved->clock.step > (int64_t)run->begin[1];
    run->begin[0] = saved->clock.t;
    run->begin[1] = (double)saved->clock.step;
  }
}

/* Time at the beginning of a step. */
static double time_of(const diffusion_run *run, int64_t step) {
  return run->begin[0] + (double)(step - (int64_t)run->begin[1]) * run->h;
}

static sim_status create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  const diffusion_parameters *p = parameters;
  diffusion_run *run = calloc(1, sizeof *run);
  *self = run;
  if (!run) return sim_no_memory("the model");
  run->p = p;
  run->ops = ops_of(setup);
  run->backend = setup->backend;
  run->grid = diffusion_grid_of(p);
  run->fields = (int)p->fields.count;
  run->cells = grid_cells(&run->grid);
  run->comm = setup->comm;
  run->slab = diffusion_own_slab(&run->grid, diffusion_single(p), setup->comm);
  run->shown = run->checked = run->rated = -1;
  run->jumped = NAN;
  run->method = diffusion_method_of(p);
  run->controller.level = diffusion_first_level(&p->integrate);
  sim_extent whole;
  extent(p, &whole);
  run->mesh = whole.mesh;
  clock->t_end = p->integrate.t_end;
  sim_status status = check_device(p, setup);
  if (status == SIM_OK) status = read_begin(run, setup->saved);
  if (status != SIM_OK) {
    destroy(self);
    return status;
  }
  bool pending = !diffusion_adaptive(p) && set_course(run, setup->saved) && p->integrate.scheme == DIFFUSION_STRANG;
  if (diffusion_adaptive(p)) run->rest = *p;
  run->finite = setup->saved ? setup->saved->clock.step : 0;
  sim_startup("making the scheme's tables", 0, 0);
  status = run->ops->create(&run->rest, setup, &run->work);
  if (status == SIM_OK) status = diffusion_observer_create(p, setup->isa, setup->threads, &run->observer);
  if (status == SIM_OK) status = diffusion_resolution_create(p, setup->isa, &run->resolution);
  if (status == SIM_OK && run->observer && (setup->backend->space != SIM_SPACE_HOST || run->comm->size > 1)) {
    const int64_t all[2] = {run->fields, run->cells};
    status = sim_buffer_create(&sim_backend_cpu, run->ops->real(run->work)->dtype, 2, all, &run->host);
  }
  if (status == SIM_OK && diffusion_by_courant(p)) status = make_kept(run);
  sim_startup("making the initial state", 0, 0);
  if (status == SIM_OK) status = setup->saved ? restore(run, setup, pending) : begin(run, setup);
  if (status == SIM_OK && !setup->saved) clock->dt = diffusion_adaptive(p) ? ldexp(1, run->controller.level) : run->h;
  if (status != SIM_OK) destroy(self);
  return status;
}

/* SIM_ERR_DIVERGED where the state is not finite. */
static sim_status check_finite(diffusion_run *run, const sim_clock *clock) {
  int field = -1;
  if (!run->ops->broken || run->finite == clock->step) return SIM_OK;
  SIM_TRY(run->ops->broken(run->work, &field));
  if (field < 0) {
    run->finite = clock->step;
    return SIM_OK;
  }
  return sim_fail(SIM_ERR_DIVERGED,
                  "the field %s is not finite at step %lld, t = %.9g (it was at step %lld): dt = %.3g is too long for "
                  "%s, the grid is too coarse, or the solution itself grows without bound",
                  diffusion_field_of(run->p, field)->name, (long long)clock->step, clock->t, (long long)run->finite,
                  clock->dt, run->method->name);
}

/* Computes the real fields of this step. */
static sim_status show(diffusion_run *run, const sim_clock *clock) {
  const bool half = run->p->integrate.scheme == DIFFUSION_STRANG && clock->step > (int64_t)run->begin[1];
  if (run->shown == clock->step) return SIM_OK;
  SIM_TRY(check_finite(run, clock));
  if (run->p->integrate.scheme == DIFFUSION_EXACT && run->jumped != clock->t)
    SIM_TRY(run->ops->jump(run->work, clock->t));
  run->jumped = clock->t;
  if (run->controller.known) SIM_TRY(run->ops->resume(run->work)); /* the error estimate has overwritten array [0] */
  SIM_TRY(run->ops->show(run->work, clock->t,
                         half ? &(diffusion_step_context){clock->t - clock->dt / 2, clock->dt / 2, 1} : NULL));
  run->shown = clock->step;
  return SIM_OK;
}

/* Copies the state to `kept`, or back. Fields of a slab in memory that all ranks see lie apart. */
static sim_status keep(diffusion_run *run, bool back) {
  const sim_buffer *state = run->ops->state(run->work);
  const size_t bytes = (size_t)run->kept.shape[1] * sim_dtype_size(run->kept.dtype);
  for (int f = 0; f < run->fields; f++) {
    void *to = part(&run->kept, f), *of = part(state, f);
    SIM_TRY(run->backend->copy(back ? of : to, back ? to : of, bytes));
  }
  return SIM_OK;
}

/* A step by the Courant number, repeated with a shorter one where the velocity has grown too much within it. Going back
 * is what a restart does, so that both give the same bits. */
static sim_status courant_step(diffusion_run *run, sim_clock *clock) {
  const sim_clock before = *clock;
  const int level = run->controller.level;
  SIM_TRY(show(run, clock));
  if (run->rated != clock->step) SIM_TRY(diffusion_courant_rate(run->p, run->ops, run->work, &run->rate));
  SIM_TRY(keep(run, false));
  for (int most = INT_MAX;;) {
    double rate;
    SIM_TRY(diffusion_courant_step(run->p, run->ops, run->work, &run->controller, run->rate, most, clock));
    SIM_TRY(run->ops->show(run->work, clock->t, NULL));
    SIM_TRY(diffusion_courant_rate(run->p, run->ops, run->work, &rate));
    most = diffusion_courant_shorter(run->p, rate, clock->dt);
    if (most == INT_MAX) {
      run->shown = run->rated = clock->step;
      run->rate = rate;
      return check_finite(run, clock);
    }
    *clock = before;
    run->controller.level = level;
    SIM_TRY(keep(run, true));
    SIM_TRY(run->ops->resume(run->work));
  }
}

static sim_status step(void *self, sim_clock *clock) {
  enum { CHECK_EVERY = 64 }; /* steps between checks, where a check waits for the device */
  diffusion_run *run = self;
  if (diffusion_by_courant(run->p)) return courant_step(run, clock);
  if (diffusion_adaptive(run->p)) return diffusion_adaptive_step(run->p, run->ops, run->work, &run->controller, clock);
  const double h = run->h, t = time_of(run, clock->step);
  for (int s = 0; s < run->method->stages; s++) {
    diffusion_step_context context = {t + run->method->at[s] * h, h, 1, clock->step};
    if (run->p->integrate.scheme == DIFFUSION_STRANG)
      context = clock->step == (int64_t)run->begin[1] ? (diffusion_step_context){t, h / 2, 1, clock->step}
                                                      : (diffusion_step_context){t - h / 2, h / 2, 2, clock->step};
    SIM_TRY(run->ops->stage(run->work, s, &context));
  }
  clock->step++;
  clock->t = clock->step >= run->last ? run->p->integrate.t_end : time_of(run, clock->step);
  clock->dt = h;
  return run->backend->space == SIM_SPACE_HOST || clock->step % CHECK_EVERY == 0 ? check_finite(run, clock) : SIM_OK;
}

static sim_status lines_of(void *context, int field, int axis, int64_t count, void *out) {
  const diffusion_run *run = context;
  return run->ops->lines(run->work, field, axis, count, out);
}

/* Checks the resolution of the real fields. It waits for the device: at table rows, where statistics wait too, and
 * at the end. */
static sim_status check_resolution(diffusion_run *run, const sim_clock *clock) {
  if (run->checked == clock->step) return SIM_OK;
  run->checked = clock->step;
  return diffusion_resolution_check(run->resolution, clock->t, clock->step > 0 && clock->t >= clock->t_end, lines_of,
                                    run);
}

/* Copies the whole fields to run->host. */
static sim_status copy_fields(diffusion_run *run) {
  const sim_buffer *real = run->ops->real(run->work);
  if (run->comm->size == 1) return run->backend->copy(run->host.data, real->data, sim_buffer_bytes(real));
  const bool single = diffusion_single(run->p);
  const size_t row = (size_t)run->grid.n[0] * sim_dtype_size(real->dtype);
  const grid_range rows = diffusion_own_rows(&run->grid, single, run->comm);
  for (int f = 0; f < run->fields; f++) {
    char *whole = part(&run->host, f), *own = whole + (size_t)rows.first * row;
    SIM_TRY(run->backend->copy(own, part(real, f), (size_t)(rows.end - rows.first) * row));
    SIM_TRY(diffusion_gather_rows(&run->grid, single, run->comm, row, whole));
  }
  return SIM_OK;
}

static sim_status observe_more(diffusion_run *run, const sim_clock *clock, int table, double *values) {
  const void *fields[DIFFUSION_FIELDS];
  SIM_TRY(show(run, clock));
  const sim_buffer *real = run->ops->real(run->work);
  if (run->host.data) SIM_TRY(copy_fields(run));
  for (int f = 0; f < run->fields; f++) fields[f] = part(run->host.data ? &run->host : real, f);
  return diffusion_observer_row(run->observer, (diffusion_tables_kind)run->p->kinds[table], fields, clock->t, values);
}

/* Energy of the forced fields, and what the forcing gives and has given. */
static sim_status observe_forcing(diffusion_run *run, const sim_clock *clock, double *values) {
  const unsigned forced = diffusion_forced(run->p);
  SIM_TRY(show(run, clock));
  values[0] = 0;
  for (int f = 0; f < run->fields; f++) {
    diffusion_statistics s;
    if (!(forced >> f & 1)) continue;
    SIM_TRY(run->ops->measure(run->work, f, grid_cell_volume(&run->grid), &s));
    values[0] += (s.variance + s.mean * s.mean) / 2;
  }
  values[1] = run->p->forcing.power;
  values[2] = run->p->forcing.power * clock->t;
  return SIM_OK;
}

static sim_status observe(void *self, const sim_clock *clock, int table, double *values) {
  diffusion_run *run = self;
  const double cell = grid_cell_volume(&run->grid);
  if (run->p->kinds[table] == DIFFUSION_FORCING_TABLE) return observe_forcing(run, clock, values);
  if (run->p->kinds[table] != DIFFUSION_FIELD_TABLE) return observe_more(run, clock, table, values);
  SIM_TRY(show(run, clock));
  SIM_TRY(check_resolution(run, clock));
  for (int f = 0; f < run->fields; f++, values += DIFFUSION_STATISTICS) {
    diffusion_statistics s;
    SIM_TRY(run->ops->measure(run->work, f, cell, &s));
    values[0] = s.mean;
    values[1] = s.variance;
    values[2] = s.least;
    values[3] = s.greatest;
    values[4] = s.mass;
  }
  return SIM_OK;
}

static sim_status view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  diffusion_run *run = self;
  const sim_buffer *state = run->ops->state(run->work), *real = run->ops->real(run->work);
  (void)species;
  SIM_TRY(show(run, &frame->clock));
  if (frame->clock.t >= frame->clock.t_end) SIM_TRY(check_resolution(run, &frame->clock));
  arrays[0] = (sim_array){.field = &state_fields[0],
                          .dtype = state->dtype,
                          .rank = state->rank,
                          .data = state->data,
                          .space = state->space};
  for (int i = 0; i < state->rank; i++) arrays[0].shape[i] = arrays[0].global[i] = state->shape[i];
  for (int f = 0; f < run->fields; f++)
    arrays[1 + f] = grid_view(&run->grid, &run->mesh, &run->p->state[f], real->dtype, part(real, f), real->space);
  frame->divided = run->comm->size > 1;
  if (frame->divided) SIM_TRY(run->ops->state_slab(run->work, &arrays[0]));
  for (int f = 0; f < run->fields && frame->divided; f++) {
    const int64_t row = run->grid.rank == 1 ? run->cells : 1; /* a grid of one axis is one row */
    arrays[1 + f].shape[0] = (run->slab.end - run->slab.first) * row;
    arrays[1 + f].offset[0] = run->slab.first * row;
  }
  frame->array_count = (size_t)run->fields + 1;
  if (diffusion_adaptive(run->p)) {
    run->level = run->controller.level;
    arrays[frame->array_count++] = (sim_array){.field = &state_fields[1],
                                               .dtype = SIM_F64,
                                               .rank = 1,
                                               .shape = {1},
                                               .global = {1},
                                               .data = &run->level,
                                               .space = SIM_SPACE_HOST};
  } else if (run->begin[1] > 0) {
    arrays[frame->array_count++] = (sim_array){.field = &state_fields[2],
                                               .dtype = SIM_F64,
                                               .rank = 1,
                                               .shape = {2},
                                               .global = {2},
                                               .data = run->begin,
                                               .space = SIM_SPACE_HOST};
  }
  frame->species_count = 0;
  return SIM_OK;
}

static void describe(const void *self, char *out, size_t capacity) {
  const diffusion_run *run = self;
  int used = snprintf(out, capacity, "%d field%s on ", run->fields, run->fields > 1 ? "s" : "");
  for (int axis = 0; axis < run->grid.rank && used > 0 && (size_t)used < capacity; axis++)
    if (!grid_is_member_axis(&run->grid, axis))
      used += snprintf(out + used, capacity - (size_t)used, "%s%lld", axis ? " x " : "", (long long)run->grid.n[axis]);
  if (run->grid.member_axis && used > 0 && (size_t)used < capacity)
    used += snprintf(out + used, capacity - (size_t)used, " cells of %lld members",
                     (long long)run->grid.n[run->grid.member_axis]);
  if (used > 0 && (size_t)used < capacity)
    (void)snprintf(out + used, capacity - (size_t)used, "%s, scheme %s, transforms by %s",
                   run->grid.member_axis ? "" : " cells", run->method->name, run->ops->name(run->work));
}

static const char *const references[] = {
    "Cox and Matthews, J. Comput. Phys. 176 (2002) 430: exponential time differencing",
    "Kassam and Trefethen, SIAM J. Sci. Comput. 26 (2005) 1214: where its coefficients cancel",
    "Makhoul, IEEE Trans. ASSP 28 (1980) 27: cosine transforms",
    NULL,
};

const sim_model diffusion_model = {
    .name = "diffusion",
    .doc = "reaction-diffusion equations of fields on a grid, by spectral methods",
    .example =
        "-- Spots that divide (Gray and Scott).\n"
        "local F, k = 0.0367, 0.0649\n"
        "return sim.diffusion {\n"
        "  grid      = { n = {128, 128}, size = {1.25, 1.25} },\n"
        "  fields    = {\n"
        "    { name = \"u\", D = 2e-5, initial = function(x, y) return 1 - 0.5 * sim.box(x, y, 0.5, 0.75) end },\n"
        "    { name = \"v\", D = 1e-5, initial = function(x, y) return 0.25 * sim.box(x, y, 0.5, 0.75) end },\n"
        "  },\n"
        "  rates     = function(u, v) return -u*v^2 + F*(1 - u), u*v^2 - (F + k)*v end,\n"
        "  integrate = { scheme = \"etdrk2\", dt = 1, t_end = 500 },\n"
        "}\n",
    .references = references,
    .parameters = &diffusion_schema,
    .tables = no_tables,
    .described = diffusion_described,
    .tables_of = diffusion_tables_of,
    .state = state_fields,
    .work_unit = "cells",
    .backends = {[SIM_BACKEND_CPU] = {.runs = true}, [SIM_BACKEND_CUDA] = {.runs = true}},
    .precisions = {[SIM_SINGLE] = true, [SIM_DOUBLE] = true},
    .ranks = true,
    .bench = diffusion_bench,
    .validate = diffusion_validate,
    .extent = extent,
    .plan = plan,
    .create = create,
    .step = step,
    .observe = observe,
    .view = view,
    .describe = describe,
    .destroy = destroy,
};
