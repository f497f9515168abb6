#include "engine/run.h"

#include "engine/log.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* Tables are made durable at most this often between checkpoints, and only if that took less than a hundredth of it. */
static const double flush_interval = 10;

double sim_wall_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool sim_cadence_due(const sim_cadence *cadence, const sim_clock *before, const sim_clock *now) {
  if (cadence->kind == SIM_EVERY_STEPS) {
    double steps = cadence->interval;
    return floor((double)now->step / steps) > floor((double)before->step / steps);
  }
  if (cadence->kind == SIM_EVERY_TIME) {
    /* k * dt may fall short of a multiple by rounding: a time within 1e-9 of the interval counts as reached. */
    return floor(now->t / cadence->interval + 1e-9) > floor(before->t / cadence->interval + 1e-9);
  }
  return false;
}

/* What the loop carries from step to step beside the caller's sim_run. */
typedef struct loop {
  sim_run *run;
  sim_array arrays[SIM_ARRAYS_MAX];
  sim_species species[SIM_SPECIES_MAX];
  sim_frame frame;
  bool viewed; /* frame shows the state of this step */
  bool rowed;  /* and rows */
  sim_row rows[SIM_TABLES_MAX];
  double values[SIM_TABLES_MAX][SIM_COLUMNS_MAX];
  double begin, last_progress, last_flush, flush_cost;
  int64_t first_step;
  double first_t;
  bool any_wall;
} loop;

static sim_status view(loop *l) {
  if (l->viewed) return SIM_OK;
  sim_run *run = l->run;
  l->frame = (sim_frame){.clock = run->clock, .arrays = l->arrays, .species = l->species};
  SIM_TRY(run->model->view(run->self, l->arrays, l->species, &l->frame));
  SIM_TRY(sim_frame_check_finite(&l->frame));
  l->viewed = true;
  return SIM_OK;
}

static sim_status observe(loop *l) {
  sim_run *run = l->run;
  if (l->rowed) return SIM_OK;
  SIM_TRY(view(l));
  size_t count = 0;
  for (const sim_table *const *table = run->model->tables; *table; table++, count++) {
    double *values = l->values[count];
    sim_status status = run->model->observe(run->self, &run->clock, (int)count, values);
    for (size_t c = 0; (*table)->columns[c].name; c++) {
      if (!((*table)->columns[c].flags & SIM_HEALTH)) continue;
      run->last.health = values[c];
      run->last.health_name = (*table)->columns[c].name;
    }
    SIM_TRY(status);
    l->rows[count] = (sim_row){*table, values};
  }
  l->frame.rows = l->rows;
  l->frame.row_count = count;
  l->rowed = true;
  return SIM_OK;
}

static void report_failure(const sim_sink *sink) {
  sim_log(SIM_LOG_WARN, "%s not written: %s; the run goes on and tries again", sink->name, sim_error_last()->message);
}

static void flush_sink(sim_sink *sink) {
  if (!sink->flush) return;
  sink->flush_failed = sink->flush(sink->self) != SIM_OK;
  if (sink->flush_failed) report_failure(sink);
}

/* A state that must not be saved ends the run; any other failure of a sink is reported and tried again later. */
static sim_status write_sink(loop *l, sim_sink *sink) {
  SIM_TRY(sink->kind == SIM_SINK_TABLE ? observe(l) : view(l));
  sink->last_wall = sim_wall_clock();
  sim_status status = sink->write(sink->self, &l->frame);
  if (status == SIM_ERR_DIVERGED || status == SIM_ERR_NO_MEMORY) return status;
  sink->write_failed = status != SIM_OK;
  if (sink->write_failed) report_failure(sink);
  return SIM_OK;
}

/* All checkpoint sinks. Tables are made durable before, so that a restart finds every row up to it; where that fails
 * the state is worth saving all the same. */
static sim_status checkpoint(loop *l, bool *saved) {
  *saved = false;
  for (size_t i = 0; i < l->run->sink_count; i++)
    if (l->run->sinks[i].kind != SIM_SINK_CHECKPOINT) flush_sink(&l->run->sinks[i]);
  for (size_t i = 0; i < l->run->sink_count; i++) {
    sim_sink *sink = &l->run->sinks[i];
    if (sink->kind != SIM_SINK_CHECKPOINT) continue;
    SIM_TRY(write_sink(l, sink));
    *saved = !sink->write_failed;
    if (*saved) l->run->checkpoint_step = l->run->clock.step;
  }
  return SIM_OK;
}

static void progress(loop *l, double now) {
  sim_run *run = l->run;
  sim_progress *p = &run->last;
  double elapsed = now - l->begin, done = run->clock.t - l->first_t, left = run->clock.t_end - run->clock.t;
  p->clock = run->clock;
  p->first_step = l->first_step;
  p->fraction = run->clock.t_end > 0 ? run->clock.t / run->clock.t_end : 1;
  p->elapsed = elapsed;
  p->eta = done > 0 ? elapsed * left / done : NAN;
  p->rate = elapsed > 0 ? (double)(run->clock.step - l->first_step) * run->work_per_step / elapsed : 0;
  if (run->progress) run->progress(run->progress_context, p);
}

/* Outputs due between two states; `first`: before any step, `last`: after all of them. */
static sim_status outputs(loop *l, const sim_clock *before, bool first, bool last) {
  sim_run *run = l->run;
  double now = l->any_wall ? sim_wall_clock() : 0;
  bool save = run->requests && run->requests->checkpoint;
  for (size_t i = 0; i < run->sink_count; i++) {
    sim_sink *sink = &run->sinks[i];
    const sim_cadence *cadence = &sink->cadence;
    bool wall = cadence->kind == SIM_EVERY_WALL && now - sink->last_wall >= cadence->interval;
    bool due = first || last || wall || sim_cadence_due(cadence, before, &run->clock);
    if (cadence->kind == SIM_NEVER) due = false;
    if (!due) continue;
    if (sink->kind == SIM_SINK_CHECKPOINT) {
      save = true;
      sink->last_wall = now;
    } else {
      SIM_TRY(write_sink(l, sink));
    }
  }
  bool saved;
  if (save && run->requests && run->requests->checkpoint) run->requests->checkpoint = 0;
  if (save) SIM_TRY(checkpoint(l, &saved));
  return SIM_OK;
}

static void flush_now_and_then(loop *l, double now) {
  if (now - l->last_flush < flush_interval || now - l->last_flush < 100 * l->flush_cost) return;
  for (size_t i = 0; i < l->run->sink_count; i++)
    if (l->run->sinks[i].kind != SIM_SINK_CHECKPOINT) flush_sink(&l->run->sinks[i]);
  l->last_flush = sim_wall_clock();
  l->flush_cost = l->last_flush - now;
}

static sim_status refuse_failed(const sim_run *run) {
  for (size_t i = 0; i < run->sink_count; i++)
    if (run->sinks[i].write_failed || run->sinks[i].flush_failed)
      return sim_fail(SIM_ERR_IO, "at step %lld: the last %s could not be written", (long long)run->clock.step,
                      run->sinks[i].name);
  return SIM_OK;
}

static sim_status finish(loop *l, bool stopped) {
  sim_run *run = l->run;
  bool saved;
  SIM_TRY(view(l));
  sim_frame_digest(&l->frame, run->digest);
  if (stopped && run->checkpoint_step != run->clock.step)
    SIM_TRY(checkpoint(l, &saved));
  else
    for (size_t i = 0; i < run->sink_count; i++) flush_sink(&run->sinks[i]);
  SIM_TRY(refuse_failed(run));
  if (!stopped) return SIM_OK;
  return sim_fail(SIM_ERR_STOPPED, "stopped at step %lld, t = %.9g", (long long)run->clock.step, run->clock.t);
}

/* A run that was over when it was resumed: its end may have met a full disk. */
static sim_status write_last_again(loop *l) {
  for (size_t i = 0; i < l->run->sink_count; i++) {
    sim_sink *sink = &l->run->sinks[i];
    if (sink->kind == SIM_SINK_SNAPSHOT && sink->cadence.kind != SIM_NEVER) SIM_TRY(write_sink(l, sink));
  }
  return SIM_OK;
}

/* Looks at the clock rarely enough not to be seen in a step of a microsecond, often enough for signals and limits. */
typedef struct pace {
  int64_t every, left;
  double last;
} pace;

static bool look(pace *p, double *now) {
  if (--p->left > 0) return false;
  *now = sim_wall_clock();
  double passed = *now - p->last;
  p->last = *now;
  if (passed < 1e-3 && p->every < (INT64_C(1) << 30)) p->every *= 2;
  if (passed > 5e-3) p->every = p->every > 1 ? p->every / 2 : 1;
  p->left = p->every;
  return true;
}

static sim_status step_until_done(loop *l, bool *stopped) {
  sim_run *run = l->run;
  pace p = {1, 1, l->begin};
  *stopped = false;
  while (run->clock.t < run->clock.t_end) {
    if (run->requests && run->requests->stop) {
      *stopped = true;
      return SIM_OK;
    }
    sim_clock before = run->clock;
    SIM_TRY(run->model->step(run->self, &run->clock));
    l->viewed = l->rowed = false;
    bool last = !(run->clock.t < run->clock.t_end);
    if (isnan(run->clock.t))
      return sim_fail(SIM_ERR_DIVERGED, "the time is NaN after step %lld", (long long)before.step);
    SIM_TRY(outputs(l, &before, false, last));
    double now;
    if (!look(&p, &now)) continue;
    flush_now_and_then(l, now);
    if (now - l->last_progress >= run->progress_interval) {
      l->last_progress = now;
      progress(l, now);
    }
    if (!last && now - l->begin >= run->wall_limit) {
      sim_log(SIM_LOG_INFO, "the wall limit of %.0f s is reached", run->wall_limit);
      *stopped = true;
      return SIM_OK;
    }
  }
  return SIM_OK;
}

/* A run that fails keeps the rows that led there. */
static void keep_rows(loop *l) {
  sim_error cause = *sim_error_last();
  for (size_t i = 0; i < l->run->sink_count; i++) flush_sink(&l->run->sinks[i]);
  sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
}

sim_status sim_run_loop(sim_run *run) {
  loop l = {.run = run, .first_step = run->clock.step, .first_t = run->clock.t};
  l.begin = l.last_progress = l.last_flush = sim_wall_clock();
  run->last = (sim_progress){.clock = run->clock, .first_step = run->clock.step, .health = NAN, .eta = NAN};
  run->checkpoint_step = run->resumed ? run->clock.step : -1;
  for (size_t i = 0; i < run->sink_count; i++) {
    run->sinks[i].last_wall = l.begin;
    l.any_wall |= run->sinks[i].cadence.kind == SIM_EVERY_WALL;
  }
  bool stopped = false;
  sim_status status = SIM_OK;
  bool over = !(run->clock.t < run->clock.t_end);
  if (!run->resumed)
    status = outputs(&l, &run->clock, true, over);
  else if (over)
    status = write_last_again(&l);
  if (status == SIM_OK) status = step_until_done(&l, &stopped);
  progress(&l, sim_wall_clock());
  if (status == SIM_OK) return finish(&l, stopped);
  keep_rows(&l);
  return status;
}
