/* Outputs of a state in a device's memory: a thread of their own writes them, and they are the same as on the CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/log.h"
#include "engine/run/outputs.h"
#include "engine/run/stage.h"
#include "tests/engine/fake_device.h"
#include "tests/engine/fake_model.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- sinks that record their calls ---- */

enum { TABLE, SNAPSHOT, CHECKPOINT, SINKS, RECORDS = 4096 };

typedef struct record {
  int sink;
  int64_t step;
  uint64_t hash; /* hash of the sink's data: rows, arrays of SIM_IN_SNAPSHOT, or all arrays */
  bool ended;    /* set where stop_when ended the run */
} record;

typedef struct probe {
  struct memory *all;
  int which;
  int64_t waits_for; /* a write waits, 20 s at most, until the model has made this many steps; then it sleeps */
  unsigned sleep_us;
  int64_t fails_at; /* step at which a write fails; -1: none */
  bool onwards;     /* every later write fails too */
  sim_status failure;
  int64_t steps_ahead; /* the largest number of steps by which the model was ahead when a write ended */
} probe;

typedef struct memory {
  const fake_state *model;
  record records[RECORDS];
  _Atomic size_t calls[SINKS]; /* successful writes, also those without room in records */
  size_t count;
  int flushes;
  int64_t written, durable; /* steps of checkpoints written by the thread behind the run */
  bool lost, told;          /* lost: these never become durable; told: that has been logged */
  bool failed_behind;       /* the last one failed */
  probe sinks[SINKS];
} memory;

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size) {
  for (size_t i = 0; i < size; i++) hash = (hash ^ ((const unsigned char *)data)[i]) * UINT64_C(1099511628211);
  return hash;
}

static sim_status remember(void *opaque, const sim_frame *frame) {
  probe *self = opaque;
  memory *m = self->all;
  for (int ms = 0; ms < 20000 && m->model->steps < self->waits_for; ms++) (void)usleep(1000);
  (void)usleep(self->sleep_us);
  const int64_t ahead = m->model->steps - frame->clock.step;
  if (ahead > self->steps_ahead) self->steps_ahead = ahead;
  if (frame->clock.step == self->fails_at ||
      (self->onwards && self->fails_at >= 0 && frame->clock.step > self->fails_at))
    return sim_fail(self->failure, "planted");
  uint64_t hash = hash_bytes(UINT64_C(14695981039346656037), &frame->clock.t, sizeof frame->clock.t);
  if (self->which == TABLE)
    hash = hash_bytes(hash, frame->rows[0].values, 2 * sizeof(double));
  else
    for (size_t i = 0; i < frame->array_count; i++)
      if (self->which == CHECKPOINT || frame->arrays[i].field->flags & SIM_IN_SNAPSHOT)
        hash = hash_bytes(hash, frame->arrays[i].data, sim_array_bytes(&frame->arrays[i]));
  m->calls[self->which]++;
  if (m->count < RECORDS)
    m->records[m->count++] = (record){self->which, frame->clock.step, hash, frame->clock.t_end == -INFINITY};
  return SIM_OK;
}

static sim_status count_flush(void *opaque) {
  const probe *self = opaque;
  self->all->flushes++;
  return SIM_OK;
}

/* ---- a run of both ---- */

typedef struct trial {
  fake_state model;
  memory memory;
  sim_sink sinks[SINKS];
  sim_run run;
  sim_status status;
  char message[1024];
} trial;

static sim_cadence steps(double interval) {
  return (sim_cadence){.kind = interval > 0 ? SIM_EVERY_STEPS : SIM_NEVER, .interval = interval};
}

/* Creates a run with cadences of tables, snapshots and checkpoints in steps. */
static trial *trial_make(int64_t count, double rows, double snapshots, double checkpoints) {
  static const char *const names[] = {"tables", "snapshots", "checkpoint"};
  static const sim_sink_kind kinds[] = {SIM_SINK_TABLE, SIM_SINK_SNAPSHOT, SIM_SINK_CHECKPOINT};
  const double intervals[] = {rows, snapshots, checkpoints};
  trial *t = calloc(1, sizeof *t);
  assert_non_null(t);
  t->model.nan_step = t->model.stop_step = -1;
  t->memory.model = &t->model;
  for (int i = 0; i < SINKS; i++) {
    t->memory.sinks[i].all = &t->memory;
    t->memory.sinks[i].which = i;
    t->memory.sinks[i].fails_at = -1;
    t->sinks[i] = (sim_sink){.name = names[i],
                             .kind = kinds[i],
                             .cadence = steps(intervals[i]),
                             .self = &t->memory.sinks[i],
                             .write = remember,
                             .flush = i == TABLE ? count_flush : NULL};
  }
  t->run = (sim_run){.model = &fake_model,
                     .self = &t->model,
                     .clock = {.dt = 1, .t_end = (double)count},
                     .work_per_step = 1,
                     .sinks = t->sinks,
                     .sink_count = SINKS,
                     .requests = &t->model.requests,
                     .wall_limit = INFINITY,
                     .progress_interval = INFINITY};
  return t;
}

/* Runs on the device with these options; NULL: on the CPU. */
static trial *trial_run(trial *t, const fake_options *options) {
  const sim_backend *backend = t->run.backend = options ? &fake_device : &sim_backend_cpu;
  if (options) fake_start(options);
  assert_int_equal(fake_state_create(&t->model, backend, NULL), SIM_OK);
  t->status = sim_run_loop(&t->run);
  if (t->status != SIM_OK) snprintf(t->message, sizeof t->message, "%s", sim_error_last()->message);
  if (options) fake_stop();
  fake_state_destroy(&t->model);
  return t;
}

static void assert_same(const trial *a, const trial *b) {
  assert_int_equal(a->status, b->status);
  assert_string_equal(a->message, b->message);
  assert_int_equal(a->memory.count, b->memory.count);
  for (size_t i = 0; i < a->memory.count; i++) {
    assert_int_equal(a->memory.records[i].sink, b->memory.records[i].sink);
    assert_int_equal(a->memory.records[i].step, b->memory.records[i].step);
    assert_true(a->memory.records[i].hash == b->memory.records[i].hash);
  }
  assert_string_equal(a->run.digest, b->run.digest);
  assert_int_equal(a->run.checkpoint_step, b->run.checkpoint_step);
  assert_memory_equal(&a->run.last.health, &b->run.last.health, sizeof(double)); /* NaN without rows */
}

/* Returns the number of records of a sink up to and including a step. */
static int count_of(const trial *t, int sink, int64_t last) {
  int count = 0;
  for (size_t i = 0; i < t->memory.count; i++)
    count += t->memory.records[i].sink == sink && t->memory.records[i].step <= last;
  return count;
}

static const fake_options slow = {.step_us = 200, .leave_us = 1500};

/* ---- what is written ---- */

static void as_on_the_cpu(void **state) {
  (void)state;
  trial *cpu = trial_run(trial_make(60, 3, 7, 11), NULL), *device = trial_run(trial_make(60, 3, 7, 11), &slow);
  assert_int_equal(cpu->status, SIM_OK);
  assert_int_equal(count_of(cpu, TABLE, 60), 21);    /* 0, 3, ... 60 */
  assert_int_equal(count_of(cpu, SNAPSHOT, 60), 10); /* 0, 7, ... 56 and the last */
  assert_int_equal(count_of(cpu, CHECKPOINT, 60), 7);
  assert_same(device, cpu);
  free(cpu);
  free(device);
}

/* The loop itself writes the same outputs, rows alone and all of them, of a state in either memory. */
static void the_loop_writes_itself(void **state) {
  (void)state;
  for (int all = 0; all < 2; all++) {
    trial *cpu = trial_run(trial_make(60, 3, 7 * all, 11 * all), NULL);
    for (int on_device = 0; on_device < 2; on_device++) {
      trial *direct = trial_make(60, 3, 7 * all, 11 * all);
      direct->run.direct = true;
      trial_run(direct, on_device ? &slow : NULL);
      assert_int_equal(direct->status, SIM_OK);
      assert_same(direct, cpu);
      free(direct);
    }
    free(cpu);
  }
}

/* The check above must detect copies from the live arrays: steps of 0.2 ms continue while a copy waits for 5 ms. */
static void a_copy_that_is_not_staged_is_seen(void **state) {
  (void)state;
  const fake_options planted = {.step_us = 200, .leave_us = 5000, .unstaged = true};
  trial *cpu = trial_run(trial_make(60, 0, 20, 0), NULL), *device = trial_run(trial_make(60, 0, 20, 0), &planted);
  assert_int_equal(device->memory.count, cpu->memory.count);
  int wrong = 0;
  for (size_t i = 0; i < cpu->memory.count; i++) wrong += device->memory.records[i].hash != cpu->memory.records[i].hash;
  assert_true(wrong > 0);
  free(cpu);
  free(device);
}

static void a_resumed_run_that_was_over(void **state) {
  (void)state;
  trial *t = trial_make(60, 3, 7, 11);
  t->run.resumed = true;
  t->run.clock.t = 60;
  t->run.clock.step = 60;
  trial_run(t, &slow);
  assert_int_equal(t->status, SIM_OK);
  assert_int_equal(t->memory.count, 1);
  assert_int_equal(t->memory.records[0].sink, SNAPSHOT);
  free(t);
}

/* ---- order of waiting ---- */

/* The snapshot at the start does not end before a hundred steps are made. */
static void steps_go_on_while_a_sink_sleeps(void **state) {
  (void)state;
  const fake_options fast = {.step_us = 20, .leave_us = 100};
  trial *t = trial_make(1000, 0, 1000, 0);
  t->memory.sinks[SNAPSHOT].waits_for = 100;
  trial_run(t, &fast);
  assert_int_equal(t->status, SIM_OK);
  assert_int_equal(t->memory.count, 2);
  assert_true(t->memory.sinks[SNAPSHOT].steps_ahead >= 100);
  free(t);
}

/* With a snapshot at every step the loop is ahead by as many states as there are stages, and waits with the next one.
 * The first snapshot does not end before the loop is ahead by more states than there were stages at the start. */
static void states_wait_for_a_stage(void **state) {
  (void)state;
  trial *cpu = trial_run(trial_make(90, 0, 1, 0), NULL), *t = trial_make(90, 0, 1, 0);
  t->memory.sinks[SNAPSHOT].waits_for = SIM_STAGES_MAX - 1;
  t->memory.sinks[SNAPSHOT].sleep_us = 2000;
  trial_run(t, &(fake_options){.step_us = 10, .leave_us = 10});
  assert_same(t, cpu);
  assert_int_equal(t->memory.sinks[SNAPSHOT].steps_ahead, SIM_STAGES_MAX - 1);
  free(cpu);
  free(t);
}

/* The row at the start does not end before the loop is as far ahead as possible: the queue of rows is full, and the
 * loop holds the row of the next step. Two milliseconds later it still does. */
static void rows_wait_until_the_queue_is_full(void **state) {
  (void)state;
  const int64_t count = SIM_OUTPUTS_WAITING + 100;
  trial *cpu = trial_run(trial_make(count, 1, 0, 0), NULL), *t = trial_make(count, 1, 0, 0);
  t->memory.sinks[TABLE].waits_for = SIM_OUTPUTS_WAITING;
  t->memory.sinks[TABLE].sleep_us = 2000;
  trial_run(t, &(fake_options){0});
  assert_same(t, cpu);
  assert_int_equal(t->memory.sinks[TABLE].steps_ahead, SIM_OUTPUTS_WAITING);
  free(cpu);
  free(t);
}

/* Once the loop knows the pace it checks at most every 5 ms, and is ahead by the steps that it queued in two checks: 2
 * x 5 steps of 1 ms. While it learns the pace, doubling its stride makes it at most four times farther ahead. */
static void the_host_is_not_far_ahead(void **state) {
  (void)state;
  trial *t = trial_run(trial_make(300, 0, 0, 0), &(fake_options){.step_us = 1000});
  assert_int_equal(t->status, SIM_OK);
  assert_true(fake_most_queued() <= 32);
  free(t);
  t = trial_run(trial_make(6, 0, 0, 0), &(fake_options){.step_us = 20000});
  assert_true(t->run.last.elapsed >= 0.12); /* contains the device's work up to the last step */
  free(t);
}

/* ---- failures ---- */

static char logged[2048];
static int log_lines;
static void keep_log(void *context, sim_log_level level, const char *message) {
  (void)context;
  (void)level;
  log_lines++;
  snprintf(logged, sizeof logged, "%s", message);
}

/* Replaces pthread_create, by the linker's --wrap. */
static int thread_error;
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *context) {
  return thread_error ? thread_error : __real_pthread_create(thread, attributes, start, context);
}

static void a_thread_that_cannot_start(void **state) {
  (void)state;
  thread_error = EAGAIN;
  trial *t = trial_run(trial_make(60, 3, 10, 20), NULL);
  thread_error = 0;
  assert_int_equal(t->status, SIM_ERR_NO_MEMORY);
  assert_string_equal(t->message, "the thread that writes outputs cannot start: Resource temporarily unavailable");
  free(t);
}

static trial *run_failing(int sink, int64_t step, sim_status failure) {
  trial *t = trial_make(60, 3, 10, 20);
  t->memory.sinks[sink].fails_at = step;
  t->memory.sinks[sink].failure = failure;
  log_lines = 0;
  assert_true(sim_log_add(keep_log, NULL));
  trial_run(t, &slow);
  sim_log_remove(keep_log, NULL);
  return t;
}

static void a_failed_sink_is_tried_again(void **state) {
  (void)state;
  trial *t = run_failing(SNAPSHOT, 20, SIM_ERR_IO);
  assert_int_equal(t->status, SIM_OK);
  assert_int_equal(log_lines, 1);
  assert_string_equal(logged, "snapshots not written: planted; the run continues and tries again");
  assert_int_equal(count_of(t, SNAPSHOT, 60), 6); /* 0, 10, 30, 40, 50, 60 */
  assert_int_equal(t->run.lost, 1);
  free(t);
  t = run_failing(CHECKPOINT, 60, SIM_ERR_IO);
  assert_int_equal(t->status, SIM_ERR_IO);
  assert_string_equal(t->message, "at step 60: the last checkpoint could not be written: planted");
  assert_int_equal(log_lines, 0); /* the error has the whole message */
  assert_int_equal(t->run.checkpoint_step, 40);
  free(t);
}

/* A run that can no longer be saved must end: after one failed checkpoint it continues, after two in a row it ends. */
static void two_failed_checkpoints_end_the_run(void **state) {
  (void)state;
  trial *t = trial_make(60, 3, 10, 10);
  t->memory.sinks[CHECKPOINT].fails_at = 20;
  t->memory.sinks[CHECKPOINT].failure = SIM_ERR_IO;
  t->memory.sinks[CHECKPOINT].onwards = true;
  trial_run(t, NULL);
  assert_int_equal(t->status, SIM_ERR_IO);
  assert_string_equal(t->message, "two checkpoints in a row could not be written (planted)");
  assert_int_equal(t->run.checkpoint_step, 10);
  assert_true(t->run.checkpoint_t == 10);
  assert_true(t->run.clock.step < 60);
  free(t);
}

/* The thread that gives up a run's computation, in a process of its own. The loop then stops. */
static void *give_up(void *context) {
  trial *t = context;
  while (t->model.steps < 20) (void)usleep(100);
  while (!sim_run_give_up(&t->run, 20)) continue;
  const size_t checkpoints = (size_t)t->run.checkpoint_step / 10 + 1;
  const size_t written = t->memory.calls[CHECKPOINT];
  const int64_t steps = t->model.steps;
  (void)usleep(50000);
  const bool good = t->run.checkpoint_step >= 0 && t->run.checkpoint_step % 10 == 0 && written == checkpoints &&
                    t->run.checkpoint_t == (double)t->run.checkpoint_step && t->model.steps <= steps + 1;
  _exit(good ? 0 : 1);
}

/* Outputs already queued are written before the function returns, and no further step is made. */
static void a_step_is_given_up(void **state) {
  (void)state;
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    pthread_t thread;
    (void)alarm(60);
    trial *t = trial_make(INT64_C(1) << 40, 3, 0, 10);
    t->memory.sinks[CHECKPOINT].sleep_us = 2000;
    if (pthread_create(&thread, NULL, give_up, t) != 0) _exit(2);
    trial_run(t, NULL);
    _exit(3);
  }
  int end;
  assert_int_equal(waitpid(child, &end, 0), child);
  assert_true(WIFEXITED(end));
  assert_int_equal(WEXITSTATUS(end), 0);
}

static void lack_of_memory_ends_the_run(void **state) {
  (void)state;
  trial *t = run_failing(SNAPSHOT, 20, SIM_ERR_NO_MEMORY);
  assert_int_equal(t->status, SIM_ERR_NO_MEMORY);
  assert_string_equal(t->message, "planted");
  assert_int_equal(count_of(t, SNAPSHOT, 60), 2);
  assert_int_equal(count_of(t, CHECKPOINT, 60), 1);
  assert_int_equal(count_of(t, TABLE, 60), count_of(t, TABLE, 20)); /* no later row */
  assert_true(t->memory.flushes > 0);
  free(t);
}

/* The writer detects a state that is not finite when it writes one. It gives the same message as the CPU's run, and
 * stops at the same output. */
static void a_state_that_is_not_finite_ends_the_run(void **state) {
  (void)state;
  for (int64_t at = 0; at <= 5; at += 5) { /* position[0] is observed */
    trial *both[2];
    for (int device = 0; device < 2; device++) {
      trial *t = trial_make(400, at ? 0 : 3, 10, 0);
      t->model.nan_step = 17;
      t->model.nan_at = at;
      both[device] = trial_run(t, device ? &slow : NULL);
    }
    assert_int_equal(both[1]->status, SIM_ERR_DIVERGED);
    assert_int_equal(count_of(both[1], SNAPSHOT, 400), 2);
    assert_string_equal(both[1]->message, both[0]->message);
    assert_int_equal(both[1]->memory.count, both[0]->memory.count);
    assert_non_null(strstr(both[1]->message, at ? "position of the particle with id 5 is not finite at step 20"
                                                : "position of the particle with id 0 is not finite at step 18"));
    assert_true(both[1]->memory.flushes > 0);
    free(both[0]);
    free(both[1]);
  }
}

/* Rows before the failure are kept, and no checkpoint is made of a later state. There is one operation for each step,
 * and one for each of the snapshots at 10 and 30, for which no checkpoint waits. So step 40 is the 42nd operation. */
static void a_failed_device_ends_the_run(void **state) {
  (void)state;
  for (int64_t at = 30; at < 50; at += 3) {
    const fake_options options = {.step_us = 2000, .leave_us = 500, .fails_at = at}; /* slow enough for the writer */
    trial *t = trial_make(400, 3, 10, 20);
    trial_run(t, &options);
    assert_int_equal(t->status, SIM_ERR_DEVICE);
    assert_non_null(strstr(t->message, "fake: operation"));
    assert_true(t->memory.flushes > 0);
    assert_true(count_of(t, TABLE, 400) >= 8); /* 0, 3, ... 21, of 28 steps at least */
    assert_int_equal(t->run.checkpoint_step, at > 42 ? 40 : 20);
    assert_string_equal(t->run.digest, "");
    free(t);
  }
}

/* ---- requests ---- */

static void a_stop_drains_and_saves(void **state) {
  (void)state;
  trial *both[2];
  for (int device = 0; device < 2; device++) {
    trial *t = trial_make(400, 3, 10, 0);
    t->model.stop_step = 33;
    both[device] = trial_run(t, device ? &slow : NULL);
  }
  assert_int_equal(both[1]->status, SIM_ERR_STOPPED);
  assert_int_equal(both[1]->run.checkpoint_step, 33);
  assert_same(both[1], both[0]);
  free(both[0]);
  free(both[1]);
}

/* A checkpoint flushes no other sink: its own sink takes care of the order. */
static void a_checkpoint_flushes_nothing(void **state) {
  (void)state;
  trial *t = trial_run(trial_make(60, 3, 7, 5), NULL);
  assert_int_equal(t->status, SIM_OK);
  assert_int_equal(count_of(t, CHECKPOINT, 60), 13);
  assert_int_equal(t->memory.flushes, 1);
  free(t);
}

/* ---- checkpoints that become durable while the run continues ---- */

/* protects memory.written and .durable, which the run's thread reads */
static pthread_mutex_t behind = PTHREAD_MUTEX_INITIALIZER;

static void saved_behind(void *opaque, sim_saved *out) {
  const memory *m = ((probe *)opaque)->all;
  pthread_mutex_lock(&behind);
  *out = (sim_saved){.step = m->durable, .t = (double)m->durable, .seconds = 7, .failed = m->failed_behind};
  pthread_mutex_unlock(&behind);
}

/* All but the last written state are durable, until the sink is waited for. */
static sim_status remember_behind(void *opaque, const sim_frame *frame) {
  memory *m = ((probe *)opaque)->all;
  pthread_mutex_lock(&behind);
  m->durable = m->written;
  m->written = frame->clock.step;
  pthread_mutex_unlock(&behind);
  return remember(opaque, frame);
}

static sim_status flush_behind(void *opaque) {
  memory *m = ((probe *)opaque)->all;
  if (m->lost && !m->told) sim_log(SIM_LOG_WARN, "checkpoint not written: planted"); /* as the writing thread does */
  m->told = m->lost;
  if (m->lost) return sim_fail(SIM_ERR_IO, "planted");
  pthread_mutex_lock(&behind);
  m->durable = m->written;
  pthread_mutex_unlock(&behind);
  return SIM_OK;
}

static trial *trial_behind(double checkpoints, bool lost) {
  trial *t = trial_make(60, 0, 0, checkpoints);
  t->memory.durable = t->memory.written = -1;
  t->memory.lost = lost;
  t->sinks[CHECKPOINT].write = remember_behind;
  t->sinks[CHECKPOINT].flush = flush_behind;
  t->sinks[CHECKPOINT].saved = saved_behind;
  return t;
}

static void a_checkpoint_behind_the_run(void **state) {
  (void)state;
  trial *t = trial_run(trial_behind(10, false), NULL); /* a run to its end */
  assert_int_equal(t->status, SIM_OK);
  assert_int_equal(t->run.checkpoint_step, 60);
  assert_true(t->run.checkpoint_seconds == 7);
  free(t);
  t = trial_behind(10, true);
  trial_run(t, NULL);
  assert_int_equal(t->status, SIM_ERR_IO);
  assert_string_equal(t->message, "at step 60: the last checkpoint could not be written: planted");
  assert_int_equal(t->run.checkpoint_step, 50);
  free(t);
  for (int64_t at = 20; at <= 23; at += 3) { /* stopped runs: a checkpoint that is under way is not made again */
    t = trial_behind(10, false);
    t->model.stop_step = at;
    trial_run(t, NULL);
    assert_int_equal(t->status, SIM_ERR_STOPPED);
    assert_int_equal(t->run.checkpoint_step, at);
    assert_true(t->run.checkpoint_t == (double)at);
    assert_int_equal(count_of(t, CHECKPOINT, 60), at == 20 ? 3 : 4);
    free(t);
  }
}

/* A checkpoint that cannot be made durable is reported once, by its sink, although a stop tries it twice. */
static void a_warning_is_said_once(void **state) {
  (void)state;
  trial *t = trial_behind(10, true);
  t->model.stop_step = 33;
  log_lines = 0;
  assert_true(sim_log_add(keep_log, NULL));
  trial_run(t, NULL);
  sim_log_remove(keep_log, NULL);
  assert_int_equal(t->status, SIM_ERR_IO);          /* at the end, because the last flush failed */
  assert_int_equal(count_of(t, CHECKPOINT, 60), 5); /* 0, 10, 20, 30, 33 */
  assert_int_equal(log_lines, 1);
  free(t);
}

/* A failure after the write counts as the first of two failures in a row. */
static void two_checkpoints_that_fail(void **state) {
  (void)state;
  trial *t = trial_behind(10, false);
  t->memory.failed_behind = true;
  t->memory.sinks[CHECKPOINT].fails_at = 30;
  t->memory.sinks[CHECKPOINT].failure = SIM_ERR_IO;
  trial_run(t, NULL);
  assert_int_equal(t->status, SIM_ERR_IO);
  assert_string_equal(t->message, "two checkpoints in a row could not be written (planted)");
  free(t);
}

static void ask_for_checkpoint(void *context, const sim_progress *progress) {
  trial *t = context;
  if (progress->clock.step < 300 && t->run.checkpoint_step < 1) t->model.requests.checkpoint = 1;
}

static void a_checkpoint_on_request(void **state) {
  (void)state;
  trial *t = trial_make(400, 0, 0, 0);
  t->run.progress = ask_for_checkpoint;
  t->run.progress_context = t;
  t->run.progress_interval = 0;
  trial_run(t, &slow);
  assert_int_equal(t->status, SIM_OK);
  assert_true(count_of(t, CHECKPOINT, 400) >= 1);
  assert_true(t->run.checkpoint_step > 0 && t->run.checkpoint_step <= 400);
  free(t);
}

/* ---- stop_when ---- */

/* first >= least; `first` is the number of the step. */
static sim_expr *at_least(double least) {
  static const char *const names[] = {"step", "time", "first", "error"};
  sim_expr_builder *builder;
  sim_expr_ref in[4], limit, holds;
  sim_expr *out;
  assert_int_equal(sim_expr_builder_create(&builder), SIM_OK);
  for (int i = 0; i < 4; i++) assert_int_equal(sim_expr_builder_input(builder, names[i], &in[i]), SIM_OK);
  assert_int_equal(sim_expr_builder_number(builder, least, &limit), SIM_OK);
  assert_int_equal(sim_expr_builder_call(builder, SIM_EXPR_LE, (const sim_expr_ref[]){limit, in[2]}, &holds), SIM_OK);
  assert_int_equal(sim_expr_builder_finish(builder, &holds, (const char *const[]){"holds"}, 1, &out), SIM_OK);
  sim_expr_builder_free(&builder);
  return out;
}

/* Rows every 3 steps: the first one from step 10 on is at step 12. It is the last of all outputs. Only its checkpoint
 * says that the run has ended, also where the checkpoint before is written later. */
static void stop_when_ends_the_run(void **state) {
  (void)state;
  sim_expr *stop = at_least(10);
  trial *trials[3];
  for (int i = 0; i < 3; i++) {
    trials[i] = trial_make(100, 3, 100, 4);
    trials[i]->run.stop_when = stop;
    if (i == 2) trials[i]->memory.sinks[TABLE].sleep_us = 20000;
    trial_run(trials[i], i ? &(fake_options){0} : NULL);
    const trial *t = trials[i];
    assert_int_equal(t->status, SIM_OK);
    assert_true(t->run.ended && t->run.clock.step == 12);
    int64_t last[SINKS] = {0};
    for (size_t k = 0; k < t->memory.count; k++) {
      const record *r = &t->memory.records[k];
      last[r->sink] = r->step;
      assert_int_equal(r->ended, r->sink == CHECKPOINT && r->step == 12);
    }
    for (int k = 0; k < SINKS; k++) assert_int_equal(last[k], 12);
    assert_same(trials[0], t);
  }
  for (int i = 0; i < 3; i++) free(trials[i]);

  trial *over = trial_make(100, 3, 100, 4); /* resumed: no step is left */
  over->run.stop_when = stop;
  over->run.ended = over->run.resumed = true;
  over->run.clock.step = 12;
  over->run.clock.t = 12;
  trial_run(over, NULL);
  assert_int_equal(over->status, SIM_OK);
  assert_int_equal(over->model.steps, 0);
  free(over);
  sim_expr_free(&stop);
}

/* ---- memory ---- */

static void the_plan_knows_where(void **state) {
  (void)state;
  sim_plan plan = {.space = SIM_SPACE_DEVICE, .snapshot_bytes = 300, .staged_bytes = 200, .checkpoint_bytes = 500};
  sim_plan_add(&plan, "bodies", 1000);
  sim_plan_add_host(&plan, "rows", 10);
  sim_stage_plan(&fake_device, &sim_comm_alone, false, true, &plan);
  assert_true(sim_plan_bytes(&plan, SIM_SPACE_DEVICE) == 1200);
  assert_true(sim_plan_bytes(&plan, SIM_SPACE_HOST) == 510);
  for (int i = 0; i < 40; i++) sim_plan_add_host(&plan, "more", 1);
  assert_true(sim_plan_bytes(&plan, SIM_SPACE_DEVICE) == 1200);
  assert_true(sim_plan_bytes(&plan, SIM_SPACE_HOST) == 550);
  sim_plan host = {.snapshot_bytes = 300, .checkpoint_bytes = 500};
  sim_stage_plan(&sim_backend_cpu, &sim_comm_alone, false, false, &host);
  assert_int_equal(host.count, 0);
  sim_stage_plan(&sim_backend_cpu, &sim_comm_alone, false, true, &host);
  assert_true(sim_plan_bytes(&host, SIM_SPACE_HOST) == 500);
  sim_stage_plan(&sim_backend_cpu, &sim_comm_alone, true, true,
                 &host); /* one for whole states, and all for snapshots */
  assert_true(sim_plan_bytes(&host, SIM_SPACE_HOST) == 500 + 500 + (SIM_STAGES_MAX - 1) * 300);
  /* no array belongs to both */
  sim_plan apart = {.snapshot_bytes = 300, .checkpoint_bytes = 200, .unsaved_bytes = 300};
  sim_stage_plan(&sim_backend_cpu, &sim_comm_alone, false, true, &apart);
  assert_true(sim_plan_bytes(&apart, SIM_SPACE_HOST) == 500);
  assert_int_equal(sim_stage_count(100 << 20, true), 3);
  assert_int_equal(sim_stage_count(10 << 20, true), SIM_STAGES_FIRST);
  assert_int_equal(sim_stage_count(4 << 20, true), 17);
  assert_int_equal(sim_stage_count(1e12, true), 1);
}

static void a_state_may_grow(void **state) {
  (void)state;
  static const sim_field field = {.name = "x", .flags = SIM_IN_SNAPSHOT};
  double data[100];
  for (int i = 0; i < 100; i++) data[i] = i;
  sim_species species = {.name = "all"};
  sim_array array = {.field = &field, .dtype = SIM_F64, .rank = 1, .shape = {4}, .data = data, .room = 50 * 8};
  const sim_frame view = {.arrays = &array, .array_count = 1, .species = &species, .species_count = 1};
  sim_stage stage;
  assert_int_equal(sim_stage_create(&fake_device, NULL, &view, true, 0, &stage), SIM_OK);
  const void *first = stage.host;
  for (int64_t n = 40; n <= 100; n += 60) { /* within the memory of the plan; then with more */
    array.shape[0] = n;
    if (n > 50) array.room = sizeof data;
    assert_int_equal(sim_stage_copy(&stage, &view, true), SIM_OK);
    assert_int_equal(stage.frame.arrays[0].shape[0], n);
    assert_memory_equal(stage.frame.arrays[0].data, data, (size_t)n * sizeof *data);
    if (n <= 50) assert_ptr_equal(stage.host, first);
  }
  sim_stage_destroy(&stage);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_on_the_cpu),
      cmocka_unit_test(the_loop_writes_itself),
      cmocka_unit_test(a_copy_that_is_not_staged_is_seen),
      cmocka_unit_test(a_resumed_run_that_was_over),
      cmocka_unit_test(steps_go_on_while_a_sink_sleeps),
      cmocka_unit_test(states_wait_for_a_stage),
      cmocka_unit_test(rows_wait_until_the_queue_is_full),
      cmocka_unit_test(the_host_is_not_far_ahead),
      cmocka_unit_test(a_thread_that_cannot_start),
      cmocka_unit_test(a_failed_sink_is_tried_again),
      cmocka_unit_test(two_failed_checkpoints_end_the_run),
      cmocka_unit_test(a_warning_is_said_once),
      cmocka_unit_test(a_step_is_given_up),
      cmocka_unit_test(lack_of_memory_ends_the_run),
      cmocka_unit_test(a_state_that_is_not_finite_ends_the_run),
      cmocka_unit_test(a_failed_device_ends_the_run),
      cmocka_unit_test(a_stop_drains_and_saves),
      cmocka_unit_test(a_checkpoint_on_request),
      cmocka_unit_test(a_checkpoint_flushes_nothing),
      cmocka_unit_test(a_checkpoint_behind_the_run),
      cmocka_unit_test(two_checkpoints_that_fail),
      cmocka_unit_test(stop_when_ends_the_run),
      cmocka_unit_test(a_state_may_grow),
      cmocka_unit_test(the_plan_knows_where),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
