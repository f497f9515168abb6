#include "engine/run/outputs.h"

#include "engine/log.h"
#include "engine/run/profile.h"
#include "engine/run/rows.h"
#include "engine/run/sinks.h"
#include "engine/run/stage.h"
#include "engine/thread.h"
#include "engine/wall_clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Shortest time in seconds between two flushes of tables, other than by checkpoints; longer if a flush takes more than
 * 1 % of it. */
static const double flush_interval = 10;

/* Outputs of one step, or a flush. */
typedef struct job {
  sim_clock clock;
  uint32_t due;
  bool save, flush, ended; /* ended: stop_when holds at this step */
  int stage;               /* index of the stage for this step's state; -1: rows only */
  double *values;          /* [columns of all tables]: the rows of this step */
} job;

struct sim_outputs {
  sim_run *run;
  bool staged;    /* outputs are copied to a stage: the state is in device memory, or several ranks divide it */
  double *values; /* [SIM_OUTPUTS_WAITING][columns of all tables] */

  /* used by the loop only */
  sim_array arrays[SIM_ARRAYS_MAX];
  sim_species species[SIM_SPECIES_MAX];
  sim_frame view;
  int64_t shown; /* step whose whole state is in host memory and checked; -1: none */
  sim_rows rows;
  double last_tick;
  bool running; /* whether the writer thread runs */

  /* protected by the lock while the writer runs */
  pthread_mutex_t lock;
  pthread_cond_t work, room;
  pthread_t writer;
  job jobs[SIM_OUTPUTS_WAITING]; /* ring; the job at `first` is being written */
  size_t first, count;
  bool stage_used[SIM_STAGES_MAX], closing;
  sim_error failure; /* the error that ends the run */
  int64_t checkpoint_step;
  double checkpoint_t, checkpoint_seconds;

  /* A stage belongs to the writer while a job uses it, else to the loop. Stage 0 has room for whole states. */
  sim_stage stages[SIM_STAGES_MAX];
  int stage_count, stage_most;
  double last_flush, flush_cost;
};

/* ---- outputs of one step, on the writing thread ---- */

static void flush_now_and_then(sim_outputs *o) {
  double now = sim_wall_clock();
  if (now - o->last_flush < 100 * o->flush_cost) return;
  sim_sinks_flush(o->run->sinks, o->run->sink_count, NULL);
  o->last_flush = sim_wall_clock();
  o->flush_cost = o->last_flush - now;
}

/* Calls all checkpoint sinks. */
static sim_status checkpoint(sim_outputs *o, const sim_frame *frame) {
  const double begin = sim_wall_clock();
  for (size_t i = 0; i < o->run->sink_count; i++) {
    sim_sink *sink = &o->run->sinks[i];
    if (sink->kind != SIM_SINK_CHECKPOINT) continue;
    if (sink->saved && sim_sink_saved(sink).failed)
      sink->write_failed = true; /* the last checkpoint failed in the background */
    SIM_TRY(sim_sink_write(sink, frame, !(frame->clock.t < frame->clock.t_end)));
    if (sink->write_failed || sink->saved) continue;
    pthread_mutex_lock(&o->lock);
    o->checkpoint_step = frame->clock.step;
    o->checkpoint_t = frame->clock.t;
    o->checkpoint_seconds = fmax(o->checkpoint_seconds, sim_wall_clock() - begin);
    pthread_mutex_unlock(&o->lock);
  }
  return SIM_OK;
}

/* Calls the sinks of a job. `state` NULL: the job has rows only. */
static sim_status deliver(sim_outputs *o, const job *j, const sim_frame *state) {
  sim_row rows[SIM_TABLES_MAX];
  sim_frame frame = state ? *state : (sim_frame){.clock = j->clock};
  const double *values = j->values;
  size_t count = 0;
  for (const sim_table *const *table = o->rows.tables; *table; table++) {
    rows[count++] = (sim_row){*table, values};
    for (const sim_field *column = (*table)->columns; column->name; column++) values++;
  }
  frame.rows = rows;
  for (size_t i = 0; i < o->run->sink_count; i++) {
    sim_sink *sink = &o->run->sinks[i];
    frame.row_count = sink->kind == SIM_SINK_TABLE ? count : 0;
    if (j->due & (UINT32_C(1) << i))
      SIM_TRY(sim_sink_write(sink, &frame, j->ended || !(frame.clock.t < frame.clock.t_end)));
  }
  frame.row_count = 0;
  if (j->ended) frame.clock.t_end = -INFINITY;
  return j->save ? checkpoint(o, &frame) : SIM_OK;
}

/* ---- the writer ---- */

/* Returns the bits of `due` that are table sinks. */
static uint32_t tables_of(const sim_run *run, uint32_t due) {
  uint32_t tables = 0;
  for (size_t i = 0; i < run->sink_count; i++)
    if (run->sinks[i].kind == SIM_SINK_TABLE) tables |= due & (UINT32_C(1) << i);
  return tables;
}

static sim_status work_on(sim_outputs *o, const job *j) {
  if (j->flush) {
    flush_now_and_then(o);
    return SIM_OK;
  }
  if (j->stage < 0) return deliver(o, j, NULL);
  sim_stage *stage = &o->stages[j->stage];
  /* A checkpoint's state was waited for before it was enqueued. After a device error only the rows, which were observed
   * before it, are written. */
  if (!j->save && sim_stage_wait(stage) != SIM_OK) {
    const sim_error cause = *sim_error_last();
    const job row = {.clock = j->clock, .due = tables_of(o->run, j->due), .stage = -1, .values = j->values};
    SIM_TRY(deliver(o, &row, NULL));
    return sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
  }
  SIM_TRY(sim_frame_check_finite(&stage->frame));
  stage->frame.finite = true;
  return deliver(o, j, &stage->frame);
}

static void *write_jobs(void *opaque) {
  sim_outputs *o = opaque;
  pthread_mutex_lock(&o->lock);
  for (;;) {
    while (o->count == 0 && !o->closing) pthread_cond_wait(&o->work, &o->lock);
    if (o->count == 0) break;
    const job *j = &o->jobs[o->first];
    sim_status status = SIM_OK;
    if (o->failure.status == SIM_OK) { /* after a failure later outputs are dropped */
      pthread_mutex_unlock(&o->lock);
      status = work_on(o, j);
      pthread_mutex_lock(&o->lock);
    }
    if (status != SIM_OK) o->failure = *sim_error_last();
    if (j->stage >= 0) o->stage_used[j->stage] = false;
    o->first = (o->first + 1) % SIM_OUTPUTS_WAITING;
    o->count--;
    pthread_cond_signal(&o->room);
  }
  pthread_mutex_unlock(&o->lock);
  return NULL;
}

static sim_status start_writer(sim_outputs *o) {
  const int error = sim_thread_create(&o->writer, NULL, write_jobs, o);
  if (error) return sim_fail(SIM_ERR_NO_MEMORY, "the thread that writes outputs cannot start: %s", strerror(error));
  o->running = true;
  return SIM_OK;
}

/* ---- called by the loop ---- */

static sim_status raise_failure(const sim_error *failure) {
  if (failure->status == SIM_OK) return SIM_OK;
  return sim_fail_at(failure->status, failure->file, failure->line, "%s", failure->message);
}

/* Reads the progress of checkpoints in the background; false if one is still being written. */
static bool look_at_saved(sim_outputs *o) {
  bool all = true;
  for (size_t i = 0; i < o->run->sink_count; i++) {
    if (!o->run->sinks[i].saved) continue;
    const sim_saved is = sim_sink_saved(&o->run->sinks[i]);
    if (is.step >= 0) {
      o->checkpoint_step = is.step;
      o->checkpoint_t = is.t;
    }
    o->checkpoint_seconds = fmax(o->checkpoint_seconds, is.seconds);
    all &= !is.under_way;
  }
  return all;
}

sim_status sim_outputs_poll(sim_outputs *o) {
  pthread_mutex_lock(&o->lock);
  (void)look_at_saved(o);
  const sim_error failure = o->failure;
  o->run->checkpoint_step = o->checkpoint_step;
  o->run->checkpoint_t = o->checkpoint_t;
  if (o->checkpoint_seconds > 0) o->run->checkpoint_seconds = o->checkpoint_seconds;
  pthread_mutex_unlock(&o->lock);
  return raise_failure(&failure);
}

/* Index of an unused stage, or -1. Stage 0 is reserved for whole states if there are others. */
static int free_stage(const sim_outputs *o, bool whole) {
  for (int i = whole || o->stage_count == 1 ? 0 : 1; i < (whole ? 1 : o->stage_count); i++)
    if (!o->stage_used[i]) return i;
  return -1;
}

/* Adds a stage for snapshots of o->view; *stage stays -1 at the maximum number. */
static sim_status add_stage(sim_outputs *o, int *stage) {
  const int at = o->stage_count;
  if (at >= o->stage_most) return SIM_OK;
  sim_status status = sim_stage_create(o->run->backend, o->run->comm, &o->view, false, at, &o->stages[at]);
  if (status == SIM_ERR_NO_MEMORY) {
    o->stage_most = at;
    return SIM_OK;
  }
  SIM_TRY(status);
  *stage = o->stage_count++;
  return SIM_OK;
}

/* Waits until the queue has room for a job and, with `stage`, until a stage for o->view is unused. */
static sim_status wait_for_room(sim_outputs *o, bool whole, int *stage) {
  sim_status status = SIM_OK;
  sim_profile_range_begin("wait for outputs");
  pthread_mutex_lock(&o->lock);
  if (stage) *stage = free_stage(o, whole);
  pthread_mutex_unlock(&o->lock);
  if (stage && *stage < 0 && !whole) status = add_stage(o, stage);
  pthread_mutex_lock(&o->lock);
  while (status == SIM_OK &&
         (o->count == SIM_OUTPUTS_WAITING || (stage && *stage < 0 && (*stage = free_stage(o, whole)) < 0)))
    pthread_cond_wait(&o->room, &o->lock);
  pthread_mutex_unlock(&o->lock);
  sim_profile_range_end();
  SIM_TRY(status);
  return sim_outputs_poll(o);
}

static sim_status view(sim_outputs *o, bool partial) {
  const sim_run *run = o->run;
  o->view = (sim_frame){.clock = run->clock, .arrays = o->arrays, .species = o->species, .partial = partial};
  sim_profile_range_begin("view");
  sim_status status = run->model->view(run->self, o->arrays, o->species, &o->view);
  sim_profile_range_end();
  return status;
}

/* Ranks that gather a state can be given up like a step. A large one may take longer than the patience with a step, and
 * is not given up; nor is one for which the stage has no memory yet. */
static sim_status copy_to_stage(sim_outputs *o, int stage, bool whole) {
  const size_t large = (size_t)1 << 28;
  const bool waits = o->stages[stage].host_bytes > 0 && o->stages[stage].host_bytes <= large;
  if (waits) sim_run_wait_begin(o->run);
  const sim_status status = sim_stage_copy(&o->stages[stage], &o->view, whole);
  if (waits) sim_run_wait_end(o->run);
  return status;
}

sim_status sim_outputs_state(sim_outputs *o, const sim_frame **out) {
  *out = o->staged ? &o->stages[0].frame : &o->view;
  if (o->shown == o->run->clock.step) return SIM_OK;
  o->shown = -1;
  SIM_TRY(view(o, false));
  if (o->staged) {
    int stage;
    SIM_TRY(wait_for_room(o, true, &stage));
    SIM_TRY(copy_to_stage(o, stage, true));
  }
  SIM_TRY(sim_frame_check_finite(*out));
  o->shown = o->run->clock.step;
  return SIM_OK;
}

sim_status sim_outputs_compare(sim_outputs *o, const sim_frame *state) {
  sim_run *run = o->run;
  const sim_stage *stage = &o->stages[0];
  const bool staged = state == &stage->frame; /* as is every state that ranks divide */
  sim_array arrays[SIM_ARRAYS_MAX];
  const sim_block_digest *blocks[SIM_ARRAYS_MAX];
  sim_frame part = *state;
  char digest[33];
  bool same;
  if (!run->comm || run->comm->size == 1) return SIM_OK;
  part.arrays = arrays;
  part.array_count = 0;
  for (size_t i = 0; i < state->array_count; i++) {
    if (staged && !stage->undivided[i]) continue;
    blocks[part.array_count] = staged ? stage->blocks[i] : NULL;
    arrays[part.array_count++] = state->arrays[i];
  }
  sim_profile_range_begin("compare the ranks");
  sim_frame_digest_of(&part, blocks, digest);
  digest[16] = '\0';
  sim_run_wait_begin(run);
  const sim_status met = sim_comm_same(run->comm, strtoull(digest, NULL, 16), &same);
  sim_run_wait_end(run);
  sim_profile_range_end();
  SIM_TRY(met);
  if (same) return SIM_OK;
  run->differ = true;
  return sim_fail(SIM_ERR_INTERNAL, "the ranks differ at step %lld", (long long)run->clock.step);
}

/* Computes this step's rows, at most once a step. A value that is not finite may come from an invalid state, whose
 * error is then returned. */
static sim_status observe(sim_outputs *o) {
  const sim_frame *state;
  bool finite;
  if (o->rows.step == o->run->clock.step) return SIM_OK;
  const sim_status status = sim_rows_compute(&o->rows, &finite);
  if (finite) return status;
  SIM_TRY(sim_outputs_state(o, &state));
  sim_rows_accept(&o->rows);
  return status;
}

static sim_status copy_rows(sim_outputs *o, double *values) {
  SIM_TRY(observe(o));
  memcpy(values, o->rows.row + 2, o->rows.columns * sizeof *values);
  return SIM_OK;
}

sim_status sim_outputs_check_stop(sim_outputs *o, bool *stops) {
  SIM_TRY(observe(o));
  *stops = sim_rows_stop(&o->rows);
  return SIM_OK;
}

static sim_status give_now(sim_outputs *o, uint32_t due, bool save) {
  const job now = {
      .clock = o->run->clock, .due = due, .save = save, .ended = o->run->ended, .stage = -1, .values = o->values};
  const sim_frame *state = NULL;
  const uint32_t tables = tables_of(o->run, due);
  if (save || tables != due) SIM_TRY(sim_outputs_state(o, &state));
  if (save) SIM_TRY(sim_outputs_compare(o, state));
  if (tables) SIM_TRY(copy_rows(o, o->values));
  SIM_TRY(deliver(o, &now, state));
  return sim_outputs_poll(o);
}

/* Whether all ranks together write one of these outputs of o->view. */
static bool is_together(const sim_outputs *o, uint32_t due, bool save) {
  for (size_t i = 0; i < o->run->sink_count; i++) {
    const sim_sink *sink = &o->run->sinks[i];
    const bool called = sink->kind == SIM_SINK_CHECKPOINT ? save : due >> i & 1;
    if (called && sink->together && sink->together(sink->self, &o->view)) return true;
  }
  return false;
}

/* Writes outputs on this thread, after all earlier outputs. */
static sim_status write_together(sim_outputs *o, uint32_t due, bool save) {
  sim_profile_range_begin("wait for outputs");
  pthread_mutex_lock(&o->lock);
  while (o->count > 0) pthread_cond_wait(&o->room, &o->lock);
  pthread_mutex_unlock(&o->lock);
  sim_profile_range_end();
  SIM_TRY(sim_outputs_poll(o));
  return give_now(o, due, save);
}

static void post(sim_outputs *o, const job *j) {
  pthread_mutex_lock(&o->lock);
  o->jobs[(o->first + o->count) % SIM_OUTPUTS_WAITING] = *j;
  o->count++;
  if (j->stage >= 0) o->stage_used[j->stage] = true;
  pthread_cond_signal(&o->work);
  pthread_mutex_unlock(&o->lock);
}

sim_status sim_outputs_enqueue(sim_outputs *o, uint32_t due, bool save) {
  if (!o->running) return give_now(o, due, save);
  const uint32_t tables = tables_of(o->run, due);
  job j = {.clock = o->run->clock, .due = due, .save = save, .ended = o->run->ended, .stage = -1};
  SIM_TRY(wait_for_room(o, false, NULL));
  pthread_mutex_lock(&o->lock);
  j.values = o->values + (o->first + o->count) % SIM_OUTPUTS_WAITING * o->rows.columns;
  pthread_mutex_unlock(&o->lock);
  /* Rows wait for the device, so copies are enqueued first. But a checkpoint must hold the state after its rows were
   * computed. */
  if (tables && save) SIM_TRY(copy_rows(o, j.values));
  if (save || tables != due) {
    o->shown = -1;
    SIM_TRY(view(o, !save));
    if (is_together(o, due, save)) return write_together(o, due, save);
    SIM_TRY(wait_for_room(o, save, &j.stage));
    SIM_TRY(copy_to_stage(o, j.stage, save));
    if (save) SIM_TRY(sim_outputs_compare(o, &o->stages[j.stage].frame));
  }
  if (tables) SIM_TRY(copy_rows(o, j.values));
  post(o, &j);
  return SIM_OK;
}

void sim_outputs_tick(sim_outputs *o, double now) {
  if (now - o->last_tick < flush_interval) return;
  o->last_tick = now;
  if (!o->running) {
    flush_now_and_then(o);
    return;
  }
  pthread_mutex_lock(&o->lock);
  const bool room = o->count < SIM_OUTPUTS_WAITING;
  pthread_mutex_unlock(&o->lock);
  if (room) post(o, &(job){.flush = true, .stage = -1});
}

/* Finishes the files that readers need while earlier files are being flushed; then waits until all are on disk. */
sim_status sim_outputs_flush(sim_outputs *o) {
  bool failed[SIM_SINKS_MAX] = {false};
  sim_profile_range_begin("finish");
  for (size_t i = 0; i < o->run->sink_count; i++) {
    sim_sink *sink = &o->run->sinks[i];
    failed[i] = sink->finish && sink->finish(sink->self) != SIM_OK;
    if (failed[i]) sim_sink_report(sink, sink->flush_failed);
  }
  sim_profile_range_end();
  sim_sinks_flush(o->run->sinks, o->run->sink_count, failed);
  o->run->lost = 0;
  for (size_t i = 0; i < o->run->sink_count; i++) {
    sim_sink *sink = &o->run->sinks[i];
    sink->flush_failed |= failed[i];
    o->run->lost += sink->lost + (sink->failures ? sink->failures(sink->self) : 0);
  }
  return sim_outputs_poll(o);
}

static sim_status agree(sim_run *run, uint64_t *most) {
  sim_run_wait_begin(run);
  const sim_status status = sim_comm_agree(run->comm, *most, most);
  sim_run_wait_end(run);
  return status;
}

sim_status sim_outputs_save(sim_outputs *o) {
  for (size_t i = 0; i < o->run->sink_count; i++) {
    sim_sink *sink = &o->run->sinks[i];
    if (sink->saved && sink->flush) sim_sink_flush(sink, false);
  }
  SIM_TRY(sim_outputs_poll(o));
  uint64_t missing = o->run->checkpoint_step != o->run->clock.step; /* all ranks agree, as they may write together */
  if (o->run->comm) SIM_TRY(agree(o->run, &missing));
  return missing ? sim_outputs_enqueue(o, 0, true) : SIM_OK;
}

void sim_outputs_wait(sim_outputs *o, double seconds) {
  const double until = sim_wall_clock() + seconds;
  for (;;) {
    pthread_mutex_lock(&o->lock);
    const bool idle = look_at_saved(o) && o->count == 0;
    o->run->checkpoint_step = o->checkpoint_step;
    o->run->checkpoint_t = o->checkpoint_t;
    pthread_mutex_unlock(&o->lock);
    if (idle || sim_wall_clock() >= until) return;
    (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  }
}

sim_status sim_outputs_end(sim_outputs *o) {
  if (o->running) {
    pthread_mutex_lock(&o->lock);
    o->closing = true;
    pthread_cond_signal(&o->work);
    pthread_mutex_unlock(&o->lock);
    pthread_join(o->writer, NULL);
    o->running = false;
    const sim_error cause = *sim_error_last();
    if (o->run->backend->queue &&
        o->run->backend->queue->wait_copies() != SIM_OK) /* a failed writer may not have waited for copies */
      sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
  }
  return sim_outputs_poll(o);
}

/* ---- create and destroy ---- */

static bool any_sink(const sim_run *run, sim_sink_kind kind) {
  for (size_t i = 0; i < run->sink_count; i++)
    if (run->sinks[i].kind == kind && run->sinks[i].cadence.kind != SIM_NEVER) return true;
  return false;
}

/* Bytes of the whole array, over all ranks. */
static double whole_bytes(const sim_array *array) {
  double bytes = (double)sim_dtype_size(array->dtype);
  for (int i = 0; i < array->rank; i++) bytes *= (double)array->global[i];
  return bytes;
}

/* Creates the first stages. Staged outputs always need stage 0: its state is read at the end of the run. */
static sim_status create_stages(sim_outputs *o) {
  const sim_run *run = o->run;
  const bool snapshots = any_sink(run, SIM_SINK_SNAPSHOT), checkpoints = any_sink(run, SIM_SINK_CHECKPOINT);
  double bytes = 0;
  SIM_TRY(view(o, true));
  o->staged = run->backend->queue != NULL || o->view.divided;
  for (size_t i = 0; i < o->view.array_count; i++)
    if (o->view.arrays[i].field->flags & SIM_IN_SNAPSHOT)
      bytes += o->view.divided ? whole_bytes(&o->view.arrays[i]) : (double)sim_array_bytes(&o->view.arrays[i]);
  o->stage_most = sim_stage_count(bytes, snapshots);
  const int count = o->stage_most < SIM_STAGES_FIRST ? o->stage_most : SIM_STAGES_FIRST;
  for (; o->stage_count < count; o->stage_count++) {
    const int i = o->stage_count;
    sim_stage *stage = &o->stages[i];
    *stage = (sim_stage){.backend = run->backend, .comm = run->comm, .mark = i};
    if (i == 0 && !o->staged && !checkpoints && !(snapshots && count == 1)) continue; /* created when needed */
    SIM_TRY(sim_stage_create(run->backend, run->comm, &o->view, i == 0 && (o->staged || checkpoints), i, stage));
  }
  return SIM_OK;
}

sim_status sim_outputs_create(sim_run *run, sim_outputs **out) {
  if (run->sink_count > SIM_SINKS_MAX) return sim_fail(SIM_ERR_INTERNAL, "more than %d sinks", SIM_SINKS_MAX);
  sim_outputs *o = *out = calloc(1, sizeof *o);
  if (!o) return sim_no_memory("the outputs");
  pthread_mutex_init(&o->lock, NULL);
  pthread_cond_init(&o->work, NULL);
  pthread_cond_init(&o->room, NULL);
  o->run = run;
  o->shown = -1;
  o->last_tick = o->last_flush = sim_wall_clock();
  o->checkpoint_step = run->checkpoint_step;
  o->checkpoint_t = run->checkpoint_t;
  sim_status status = sim_rows_create(run, &o->rows);
  o->values = calloc(SIM_OUTPUTS_WAITING, (o->rows.columns + 1) * sizeof *o->values);
  if (status == SIM_OK && !o->values) status = sim_no_memory("rows of tables");
  if (status == SIM_OK) status = create_stages(o);
  if (status == SIM_OK && !run->direct) status = start_writer(o);
  if (status != SIM_OK) sim_outputs_destroy(out);
  return status;
}

void sim_outputs_destroy(sim_outputs **outputs) {
  sim_outputs *o = *outputs;
  if (!o) return;
  if (o->running) (void)!sim_outputs_end(o);
  for (int i = 0; i < SIM_STAGES_MAX; i++) sim_stage_destroy(&o->stages[i]);
  pthread_cond_destroy(&o->room);
  pthread_cond_destroy(&o->work);
  pthread_mutex_destroy(&o->lock);
  sim_rows_destroy(&o->rows);
  free(o->values);
  free(o);
  *outputs = NULL;
}
