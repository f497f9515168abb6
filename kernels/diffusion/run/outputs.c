/* Outputs of a run: rows of tables, views of the state, and its description. */
#include "kernels/diffusion/run/run.h"

#include <math.h>
#include <stdio.h>

static sim_status lines_of(void *context, int field, int axis, int64_t count, void *out) {
  diffusion_run *run = context;
  return diffusion_fields_lines(run, field, axis, count, out);
}

/* Checks the resolution of the real fields. The check waits for the device, so it is made at table rows, where
 * statistics wait too, and at the end. */
static sim_status check_resolution(diffusion_run *run, const sim_clock *clock) {
  if (run->checked == clock->step) return SIM_OK;
  run->checked = clock->step;
  return diffusion_resolution_check(run->resolution, clock->t, clock->step > 0 && clock->t >= clock->t_end, lines_of,
                                    run);
}

/* Copies the whole fields to run->host. */
static sim_status copy_fields(diffusion_run *run) {
  const sim_buffer *real = diffusion_fields_of(run);
  if (run->comm->size == 1) return run->backend->copy(run->host.data, real->data, sim_buffer_bytes(real));
  const bool single = diffusion_single(run->p);
  const size_t row = (size_t)run->grid.n[0] * sim_dtype_size(real->dtype);
  const grid_range rows = diffusion_own_rows(&run->grid, single, run->comm);
  for (int f = 0; f < run->fields; f++) {
    char *whole = run_part(&run->host, f), *own = whole + (size_t)rows.first * row;
    SIM_TRY(run->backend->copy(own, run_part(real, f), (size_t)(rows.end - rows.first) * row));
    SIM_TRY(diffusion_gather_rows(&run->grid, single, run->comm, row, whole));
  }
  return SIM_OK;
}

/* Computes the whole fields of this step in host memory. */
static sim_status whole_fields(diffusion_run *run, const sim_clock *clock, const void **fields) {
  SIM_TRY(diffusion_fields_show(run, clock));
  const sim_buffer *real = diffusion_fields_of(run);
  if (run->host.data) SIM_TRY(copy_fields(run));
  for (int f = 0; f < run->fields; f++) fields[f] = run_part(run->host.data ? &run->host : real, f);
  return SIM_OK;
}

static sim_status observe_more(diffusion_run *run, const sim_clock *clock, int table, double *values) {
  const void *fields[DIFFUSION_FIELDS];
  SIM_TRY(whole_fields(run, clock, fields));
  return diffusion_observer_row(run->observer, (diffusion_tables_kind)run->p->kinds[table], fields, clock->t, values);
}

/* Computes the energy of the forced fields, the input of the forcing, and its input since the start. */
static sim_status observe_forcing(diffusion_run *run, const sim_clock *clock, double *values) {
  const unsigned forced = diffusion_forced(run->p);
  SIM_TRY(diffusion_fields_show(run, clock));
  values[0] = 0;
  for (int f = 0; f < run->fields; f++) {
    diffusion_statistics s;
    if (!(forced >> f & 1)) continue;
    SIM_TRY(diffusion_fields_measure(run, f, &s));
    values[0] += (s.variance + s.mean * s.mean) / 2;
  }
  values[1] = run->p->forcing.power;
  values[2] = run->p->forcing.power * clock->t;
  return SIM_OK;
}

/* SIM_ERR_DIVERGED where sums or squares of a field's finite values are out of range. */
static sim_status check_range(const diffusion_run *run, const sim_clock *clock, int f, const diffusion_statistics *s) {
  if ((isfinite(s->mean) && isfinite(s->variance) && isfinite(s->mass)) || !isfinite(s->least) ||
      !isfinite(s->greatest))
    return SIM_OK;
  return sim_fail(SIM_ERR_DIVERGED,
                  "sums or squares of the field %s exceed the range of double precision at t = %.9g: its values lie "
                  "between %.3g and %.3g: use other units",
                  run->p->state[f].name, clock->t, s->least, s->greatest);
}

/* Computes the numbers of diffusion_solved since the start: of this process, and of the run before a restart. */
static void count_solved(const diffusion_run *run, double out[3]) {
  diffusion_solved now = {0};
  if (run->ops->solved) run->ops->solved(run->work, &now);
  out[0] = run->before[0] + (double)now.systems;
  out[1] = run->before[1] + (double)now.iterations;
  out[2] = fmax(run->before[2], (double)now.most);
}

sim_status diffusion_run_observe(void *self, const sim_clock *clock, int table, double *values) {
  diffusion_run *run = self;
  if (run->p->kinds[table] == DIFFUSION_LYAPUNOV_TABLE) {
    diffusion_twin_row(&run->growth, values);
    return SIM_OK;
  }
  if (run->p->kinds[table] == DIFFUSION_IMPLICIT_TABLE) {
    count_solved(run, values);
    return SIM_OK;
  }
  if (run->p->kinds[table] == DIFFUSION_FORCING_TABLE) return observe_forcing(run, clock, values);
  if (run->p->kinds[table] != DIFFUSION_FIELD_TABLE) return observe_more(run, clock, table, values);
  SIM_TRY(diffusion_fields_show(run, clock));
  SIM_TRY(check_resolution(run, clock));
  for (int f = 0; f < run->fields; f++, values += DIFFUSION_STATISTICS) {
    diffusion_statistics s;
    SIM_TRY(diffusion_fields_measure(run, f, &s));
    SIM_TRY(check_range(run, clock, f, &s));
    values[0] = s.mean;
    values[1] = s.variance;
    values[2] = s.least;
    values[3] = s.greatest;
    values[4] = s.mass;
  }
  return SIM_OK;
}

/* Describes the coefficients of a run, or of its twin, in this rank's slab. */
static sim_status view_state(diffusion_run *run, int number, diffusion_work *work, sim_array *out) {
  const sim_buffer *state = run->ops->state(work);
  *out = (sim_array){.field = &diffusion_state[number],
                     .dtype = state->dtype,
                     .rank = state->rank,
                     .data = state->data,
                     .space = state->space};
  for (int i = 0; i < state->rank; i++) out->shape[i] = out->global[i] = state->shape[i];
  return run->comm->size > 1 ? run->ops->state_slab(work, out) : SIM_OK;
}

/* Adds numbers of the run to the frame's arrays. */
static void add_numbers(sim_frame *frame, sim_array *arrays, int number, void *data, int64_t count) {
  arrays[frame->array_count++] = (sim_array){.field = &diffusion_state[number],
                                             .dtype = SIM_F64,
                                             .rank = 1,
                                             .shape = {count},
                                             .global = {count},
                                             .data = data,
                                             .space = SIM_SPACE_HOST};
}

/* Computes the fields of output.fields for this step. Every rank computes the whole fields. */
static sim_status draw(diffusion_run *run, const sim_clock *clock) {
  const void *fields[DIFFUSION_FIELDS];
  void *out[DIFFUSION_DRAWN];
  if (!run->drawn.data || run->drawn_at == clock->step) return SIM_OK;
  SIM_TRY(whole_fields(run, clock, fields));
  for (int i = 0; i < (int)run->drawn.shape[0]; i++) out[i] = run_part(&run->drawn, i);
  SIM_TRY(diffusion_observer_draw(run->observer, fields, clock->t, out));
  run->drawn_at = clock->step;
  return SIM_OK;
}

sim_status diffusion_run_view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  diffusion_run *run = self;
  const sim_buffer *real = diffusion_fields_of(run);
  (void)species;
  SIM_TRY(diffusion_fields_show(run, &frame->clock));
  if (frame->clock.t >= frame->clock.t_end) SIM_TRY(check_resolution(run, &frame->clock));
  SIM_TRY(view_state(run, DIFFUSION_COEFFICIENTS, run->work, &arrays[0]));
  SIM_TRY(draw(run, &frame->clock));
  const int shown = run->fields + (run->drawn.data ? (int)run->drawn.shape[0] : 0);
  const size_t before = (size_t)(run->slab.first * diffusion_plane_cells(&run->grid)) * sim_dtype_size(real->dtype);
  for (int f = 0; f < run->fields; f++)
    arrays[1 + f] =
        grid_view(&run->grid, &run->mesh, &run->p->state[f], real->dtype, diffusion_fields_own(run, f), real->space);
  for (int f = run->fields; f < shown; f++)
    arrays[1 + f] = grid_view(&run->grid, &run->mesh, &run->p->state[f], real->dtype,
                              (char *)run_part(&run->drawn, f - run->fields) + before, SIM_SPACE_HOST);
  frame->divided = run->comm->size > 1;
  for (int f = 0; f < shown && frame->divided; f++) {
    const int64_t row = run->grid.rank == 1 ? run->cells : 1; /* a grid of one axis is one row */
    arrays[1 + f].shape[0] = (run->slab.end - run->slab.first) * row;
    arrays[1 + f].offset[0] = run->slab.first * row;
  }
  frame->array_count = (size_t)shown + 1;
  if (diffusion_adaptive(run->p)) {
    run->level = run->controller.level;
    add_numbers(frame, arrays, DIFFUSION_LEVEL, &run->level, 1);
  } else if (run->begin[1] > 0) {
    add_numbers(frame, arrays, DIFFUSION_BEGIN, run->begin, 2);
  }
  if (run->twin) {
    SIM_TRY(view_state(run, DIFFUSION_TWIN, run->twin, &arrays[frame->array_count]));
    frame->array_count++;
    add_numbers(frame, arrays, DIFFUSION_GROWTH, &run->growth, sizeof run->growth / sizeof(double));
  }
  if (diffusion_implicit(run->p)) {
    count_solved(run, run->solved);
    add_numbers(frame, arrays, DIFFUSION_SOLVED, run->solved, 3);
  }
  frame->species_count = 0;
  return SIM_OK;
}

void diffusion_run_report(const void *self, const sim_clock *clock, sim_bytes *out) {
  const diffusion_run *run = self;
  double solved[3];
  (void)clock;
  count_solved(run, solved);
  if (solved[0] == 0) return;
  sim_bytes_format(out, "implicit equations: %.1f iterations a system, %.0f at most; %.0f systems\n",
                   solved[1] / solved[0], solved[2], solved[0]);
}

void diffusion_run_describe(const void *self, char *out, size_t capacity) {
  const diffusion_run *run = self;
  int used = snprintf(out, capacity, "%d field%s on ", run->fields, run->fields > 1 ? "s" : "");
  for (int axis = 0; axis < run->grid.rank && used > 0 && (size_t)used < capacity; axis++)
    if (!grid_is_member_axis(&run->grid, axis))
      used += snprintf(out + used, capacity - (size_t)used, "%s%lld", axis ? " x " : "", (long long)run->grid.n[axis]);
  if (run->grid.member_axis && used > 0 && (size_t)used < capacity)
    used += snprintf(out + used, capacity - (size_t)used, " cells of %lld members",
                     (long long)run->grid.n[run->grid.member_axis]);
  if (used > 0 && (size_t)used < capacity)
    (void)snprintf(out + used, capacity - (size_t)used, "%s%s, scheme %s, transforms by %s",
                   run->grid.member_axis ? "" : " cells", run->resample ? ", rates on 3/2 along each axis" : "",
                   run->method->name, run->ops->name(run->work));
}
