#include "engine/run/run.h"

#include "engine/log.h"
#include "engine/run/agreement.h"
#include "engine/run/outputs.h"
#include "engine/run/profile.h"
#include "engine/wall_clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool sim_cadence_due(const sim_cadence *cadence, const sim_clock *before, const sim_clock *now) {
  if (cadence->kind == SIM_EVERY_STEPS) {
    double steps = cadence->interval;
    return floor((double)now->step / steps) > floor((double)before->step / steps);
  }
  if (cadence->kind == SIM_EVERY_TIME) {
    /* k * dt may be less than a multiple by rounding: a time within 1e-9 of the interval counts as reached */
    return floor(now->t / cadence->interval + 1e-9) > floor(before->t / cadence->interval + 1e-9);
  }
  return false;
}

/* State of the loop beyond the caller's sim_run. */
typedef struct loop {
  sim_run *run;
  sim_outputs *outputs;
  double begin, last_progress;
  int64_t first_step;
  double first_t;
  bool any_wall;
  bool many; /* several ranks: sim_agreement decides about the wall clock and signals */
  sim_agreement *agreement;
  double last_round; /* wall-clock time of this rank's last round of requests */
  uint64_t decision; /* for this step */
} loop;

static bool is_over(const sim_run *run) { return run->ended || !(run->clock.t < run->clock.t_end); }

static void progress(loop *l, double now) {
  sim_run *run = l->run;
  sim_progress *p = &run->last;
  double elapsed = now - l->begin, done = run->clock.t - l->first_t,
         left = is_over(run) ? 0 : run->clock.t_end - run->clock.t;
  p->clock = run->clock;
  p->first_step = l->first_step;
  p->fraction = !is_over(run) && run->clock.t_end > 0 ? run->clock.t / run->clock.t_end : 1;
  p->elapsed = elapsed;
  p->eta = done > 0 ? elapsed * left / done : NAN;
  double work = (double)(run->clock.step - l->first_step);
  if (run->model->work_done != NULL) work = run->model->work_done(run->self, work);
  p->rate = elapsed > 0 ? work * run->work_per_step / elapsed : 0;
  if (run->progress) run->progress(run->progress_context, p);
}

/* ---- due outputs ---- */

/* Whether sink i is due by a cadence of the wall clock. */
static bool due_by_wall(const loop *l, size_t i, double now) {
  const sim_sink *sink = &l->run->sinks[i];
  return sink->cadence.kind == SIM_EVERY_WALL && now - sink->last_wall >= sink->cadence.interval;
}

/* Sets *due and *save for the outputs between two states; `all`: of every sink. */
static void collect(loop *l, const sim_clock *before, double now, bool all, uint32_t *due, bool *save) {
  sim_run *run = l->run;
  *due = 0;
  for (size_t i = 0; i < run->sink_count; i++) {
    sim_sink *sink = &run->sinks[i];
    const sim_cadence *cadence = &sink->cadence;
    bool wall = l->many ? l->decision >> (SIM_DECIDED_SINK + i) & 1 : due_by_wall(l, i, now);
    bool is_due = all || wall || sim_cadence_due(cadence, before, &run->clock);
    if (sink->kind == SIM_SINK_CHECKPOINT) is_due |= *save; /* due because a checkpoint is saved */
    if (cadence->kind == SIM_NEVER || !is_due) continue;
    sink->last_wall = now;
    if (sink->kind == SIM_SINK_CHECKPOINT)
      *save = true;
    else
      *due |= UINT32_C(1) << i;
  }
}

static bool any_table(const sim_run *run, uint32_t due) {
  for (size_t i = 0; i < run->sink_count; i++)
    if (run->sinks[i].kind == SIM_SINK_TABLE && due & (UINT32_C(1) << i)) return true;
  return false;
}

/* Rank 0 adopts what other ranks were asked for. */
static void adopt(const loop *l, uint64_t asked) {
  sim_requests *requests = l->run->requests;
  if (l->run->comm->rank > 0 || !requests) return;
  if (asked & SIM_ASKED_STOP) requests->stop = 1;
  if (asked & SIM_ASKED_WARNING) requests->warning = 1;
  if (asked & SIM_ASKED_CHECKPOINT) requests->checkpoint = 1;
}

/* Waits until all ranks are about to exchange for an output: parts of rows and fields, or hashes of their states. */
static sim_status meet(loop *l) {
  uint64_t asked;
  sim_run_wait_begin(l->run);
  const sim_status status = sim_agreement_meet(l->agreement, l->run->clock.step, &asked);
  sim_run_wait_end(l->run);
  SIM_TRY(status);
  adopt(l, asked);
  return SIM_OK;
}

/* Enqueues the outputs due between two states; `first`: before any step, `last`: after all steps. If stop_when holds in
 * a row of this step, the step also counts as the last. */
static sim_status outputs(loop *l, const sim_clock *before, bool first, bool last) {
  sim_run *run = l->run;
  double now = l->any_wall ? sim_wall_clock() : 0;
  bool save = l->many ? l->decision & SIM_DECIDED_CHECKPOINT : run->requests && run->requests->checkpoint;
  uint32_t due;
  if (save && !l->many) run->requests->checkpoint = 0;
  collect(l, before, now, first || last, &due, &save);
  if ((due || save) && l->many) SIM_TRY(meet(l));
  if (run->stop_when && !last && any_table(run, due)) {
    SIM_TRY(sim_outputs_check_stop(l->outputs, &run->ended));
    if (run->ended) collect(l, before, now, true, &due, &save);
  }
  return due || save ? sim_outputs_enqueue(l->outputs, due, save) : SIM_OK;
}

/* For a resumed run that had already ended: writes its last snapshots again, because the disk may have been full. */
static sim_status write_last_again(loop *l) {
  uint32_t due = 0;
  for (size_t i = 0; i < l->run->sink_count; i++) {
    const sim_sink *sink = &l->run->sinks[i];
    if (sink->kind == SIM_SINK_SNAPSHOT && sink->cadence.kind != SIM_NEVER) due |= UINT32_C(1) << i;
  }
  return due ? sim_outputs_enqueue(l->outputs, due, false) : SIM_OK;
}

/* ---- give up ---- */

bool sim_run_give_up(sim_run *run, double seconds) {
  if (!sim_run_compute_give_up(run)) return false;
  sim_run_settle(run, seconds);
  return true;
}

void sim_run_settle(sim_run *run, double seconds) { sim_outputs_wait(run->outputs, seconds); }

/* ---- steps ---- */

/* Steps between two readings of the wall clock: enough steps to cost nothing at a microsecond each, few enough for
 * signals and limits. */
typedef struct pace {
  int64_t every, left;
  double last, passed; /* passed: seconds between the last two readings */
  double longest;
} pace;

/* Waits for the device after each long step; short steps may be enqueued since the last reading. */
static sim_status follow_device(const sim_backend *backend, const pace *p) {
  if (!backend->queue) return SIM_OK;
  return p->every == 1 && p->passed > 0.05 ? backend->queue->finish() : backend->queue->throttle();
}

static bool reading_due(pace *p) { return --p->left <= 0; }

static double read_clock(pace *p) {
  double now = sim_wall_clock();
  p->passed = now - p->last;
  p->last = now;
  p->longest = fmax(p->longest, p->passed);
  if (p->passed < 1e-3 && p->every < (INT64_C(1) << 30)) p->every *= 2;
  if (p->passed > 5e-3) p->every = p->every > 1 ? p->every / 2 : 1;
  p->left = p->every;
  return now;
}

/* Seconds reserved for the end of the run: the last checkpoint, the same again for a busy disk, the current step, and
 * ten seconds or a tenth of a short limit. */
static double reserve(const sim_run *run, const pace *p) {
  if (!run->wall_reserve) return 0;
  return 2 * run->checkpoint_seconds + p->longest + fmin(10, 0.1 * run->wall_limit);
}

static sim_status step(sim_run *run) {
  sim_profile_range_begin("step");
  sim_run_compute_begin(run);
  sim_status status = run->model->step(run->self, &run->clock);
  sim_run_compute_end(run);
  sim_profile_range_end();
  return status;
}

/* Whether the run must stop. A warning shortly before a known limit is ignored: the run stops with its own margin. */
static bool asked_to_stop(const loop *l) {
  sim_run *run = l->run;
  sim_requests *requests = run->requests;
  if (!requests || requests->stop) return requests != NULL;
  if (!requests->warning) return false;
  requests->warning = 0;
  const double left = run->wall_limit - (sim_wall_clock() - l->begin);
  if (!run->wall_reserve || !(left <= SIM_WARNING_LEAD)) return true;
  sim_log(SIM_LOG_INFO, "warned of the limit, which is %.0f s away: continues, and stops in time for a checkpoint",
          fmax(left, 0));
  return false;
}

/* Whether the limit of wall-clock time is reached; then logs a line. */
static bool limit_reached(const loop *l, const pace *p, double now) {
  const sim_run *run = l->run;
  const double left = run->wall_limit - (now - l->begin);
  if (left > reserve(run, p)) return false;
  if (!run->wall_reserve)
    sim_log(SIM_LOG_INFO, "the wall limit of %.10g s is reached", run->wall_asked);
  else if (left > 0)
    sim_log(SIM_LOG_INFO, "the limit of the job is near: %.0f s are left", left);
  else
    sim_log(SIM_LOG_INFO, "the limit of the job is over");
  return true;
}

/* ---- several ranks ---- */

static const double round_interval = 0.1; /* seconds between rounds of requests */

/* On rank 0: what all ranks must do. */
static uint64_t decide(loop *l, const pace *p, double now) {
  sim_run *run = l->run;
  uint64_t word = 0;
  if (asked_to_stop(l) || limit_reached(l, p, now)) word |= SIM_DECIDED_STOP;
  if (run->requests && atomic_exchange(&run->requests->checkpoint, 0)) word |= SIM_DECIDED_CHECKPOINT;
  for (size_t i = 0; i < run->sink_count; i++)
    if (due_by_wall(l, i, now)) word |= UINT64_C(1) << (SIM_DECIDED_SINK + i);
  return word;
}

/* On the other ranks: the requests that reached them, for rank 0. */
static uint64_t ask(sim_requests *requests) {
  if (!requests) return 0;
  return (requests->stop ? SIM_ASKED_STOP : 0u) | (atomic_exchange(&requests->warning, 0) ? SIM_ASKED_WARNING : 0u) |
         (atomic_exchange(&requests->checkpoint, 0) ? SIM_ASKED_CHECKPOINT : 0u);
}

/* Polls the agreement after a step. */
static sim_status look_at_agreement(loop *l, double patience) {
  uint64_t asked;
  l->decision = 0;
  if (sim_agreement_quiet(l->agreement)) return SIM_OK;
  sim_run_wait_begin(l->run);
  const sim_status status = sim_agreement_look(l->agreement, l->run->clock.step, patience, &asked, &l->decision);
  sim_run_wait_end(l->run);
  SIM_TRY(status);
  adopt(l, asked);
  return SIM_OK;
}

/* Begins a round of requests if it is time. Ranks end long steps at about the same time, so that a short wait here
 * saves a step until they agree. */
static sim_status begin_round(loop *l, const pace *p, double now) {
  if (!sim_agreement_idle(l->agreement) || now - l->last_round < round_interval) return SIM_OK;
  l->last_round = now;
  const uint64_t word = l->run->comm->rank == 0 ? decide(l, p, now) : ask(l->run->requests);
  SIM_TRY(sim_agreement_post(l->agreement, l->run->clock.step, word));
  return look_at_agreement(l, p->every == 1 ? fmin(0.02 * p->passed, 0.1) : 0);
}

/* After the last step: waits until all ranks have made it. */
static sim_status wait_for_the_end(loop *l) {
  sim_run_wait_begin(l->run);
  const sim_status status = sim_agreement_end(l->agreement, l->run->clock.step);
  sim_run_wait_end(l->run);
  return status;
}

static sim_status step_until_done(loop *l, bool *stopped) {
  sim_run *run = l->run;
  pace p = {1, 1, l->begin, 0, 0};
  *stopped = false;
  while (!is_over(run)) {
    if (!l->many && asked_to_stop(l)) {
      *stopped = true;
      return SIM_OK;
    }
    sim_clock before = run->clock;
    SIM_TRY(step(run));
    if (run->backend->queue) SIM_TRY(run->backend->queue->status());
    bool last = is_over(run);
    if (isnan(run->clock.t))
      return sim_fail(SIM_ERR_DIVERGED, "the time is NaN after step %lld", (long long)before.step);
    if (l->many) SIM_TRY(look_at_agreement(l, 0));
    SIM_TRY(outputs(l, &before, false, last));
    *stopped = !is_over(run) && l->decision & SIM_DECIDED_STOP;
    if (*stopped) return SIM_OK;
    if (!reading_due(&p)) continue;
    SIM_TRY(follow_device(run->backend, &p));
    SIM_TRY(sim_outputs_poll(l->outputs));
    double now = read_clock(&p);
    sim_outputs_tick(l->outputs, now);
    if (now - l->last_progress >= run->progress_interval) {
      l->last_progress = now;
      progress(l, now);
    }
    if (l->many)
      SIM_TRY(begin_round(l, &p, now));
    else if (!is_over(run) && limit_reached(l, &p, now)) {
      *stopped = true;
      return SIM_OK;
    }
  }
  return l->many ? wait_for_the_end(l) : SIM_OK;
}

/* ---- end ---- */

/* Fails with the names of all sinks whose last output is missing, and the reasons. */
static sim_status refuse_failed(const sim_run *run) {
  char text[sizeof sim_error_last()->message] = "";
  size_t used = 0;
  for (size_t i = 0; i < run->sink_count && used < sizeof text; i++) {
    const sim_sink *sink = &run->sinks[i];
    if (!sink->write_failed && !sink->flush_failed) continue;
    used += (size_t)snprintf(text + used, sizeof text - used, "%sthe last %s could not be written: %s",
                             used ? "; " : "", sink->name, sink->why);
  }
  return used ? sim_fail(SIM_ERR_IO, "at step %lld: %s", (long long)run->clock.step, text) : SIM_OK;
}

/* Sends the digest of rank 0, which alone has all of a state that ranks divide, to the others. */
static sim_status share_digest(sim_run *run) {
  char digests[SIM_RANKS_MAX][sizeof run->digest];
  sim_run_wait_begin(run);
  const sim_status status = run->comm->ops->gather(run->comm, run->digest, sizeof run->digest, digests);
  sim_run_wait_end(run);
  SIM_TRY(status);
  memcpy(run->digest, digests[0], sizeof run->digest);
  return SIM_OK;
}

static sim_status finish(loop *l, bool stopped) {
  sim_run *run = l->run;
  const sim_frame *state;
  SIM_TRY(sim_outputs_state(l->outputs, &state));
  sim_frame_digest(state, run->digest);
  SIM_TRY(sim_outputs_compare(l->outputs, state));
  if (l->many && state->divided) SIM_TRY(share_digest(run));
  if (stopped) SIM_TRY(sim_outputs_save(l->outputs));
  SIM_TRY(sim_outputs_flush(l->outputs));
  SIM_TRY(refuse_failed(run));
  if (!stopped) return SIM_OK;
  return sim_fail(SIM_ERR_STOPPED, "stopped at step %lld, t = %.9g", (long long)run->clock.step, run->clock.t);
}

/* Writes the rows that led to a failure; keeps its error. */
static void keep_rows(loop *l) {
  sim_error cause = *sim_error_last();
  (void)!sim_outputs_flush(l->outputs);
  sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
}

/* Makes all steps with their outputs. An error of the writer takes precedence over the error of a later step. */
static sim_status run_steps(loop *l, bool *stopped) {
  sim_run *run = l->run;
  sim_status status = SIM_OK;
  bool over = is_over(run);
  if (!run->resumed)
    status = outputs(l, &run->clock, true, over);
  else if (over)
    status = write_last_again(l);
  if (status == SIM_OK) status = step_until_done(l, stopped);
  if (status == SIM_OK && run->backend->queue) status = run->backend->queue->finish();
  sim_status written = sim_outputs_end(l->outputs);
  return written != SIM_OK ? written : status;
}

/* seconds that a run waits for checkpoints in the background after its writes have failed */
static const double settle_most = 10;

/* Returns the cause of a failure. A GPU or NCCL may fail because another rank has died, before the message of that
 * arrives: waits 0.3 s for the message, and then returns that failure. */
static sim_status cause_of(const sim_run *run, sim_status status) {
  const sim_error own = *sim_error_last();
  if ((status != SIM_ERR_DEVICE && status != SIM_ERR_RANK) || !run->comm || run->comm->size == 1) return status;
  for (int i = 0; i < 30; i++) {
    const sim_status told = sim_comm_check(run->comm);
    if (told != SIM_OK) return told;
    (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  }
  return sim_fail_at(own.status, own.file, own.line, "%s", own.message);
}

sim_status sim_run_loop(sim_run *run) {
  loop l = {.run = run, .first_step = run->clock.step, .first_t = run->clock.t};
  run->last = (sim_progress){.clock = run->clock, .first_step = run->clock.step, .health = NAN, .eta = NAN};
  run->checkpoint_step = run->resumed ? run->clock.step : -1;
  run->checkpoint_t = run->resumed ? run->clock.t : 0;
  SIM_TRY(sim_outputs_create(run, &l.outputs));
  run->outputs = l.outputs;
  l.begin = l.last_progress = sim_wall_clock();
  l.many = run->comm && run->comm->size > 1;
  for (size_t i = 0; i < run->sink_count; i++) {
    run->sinks[i].last_wall = l.begin;
    l.any_wall |= run->sinks[i].cadence.kind == SIM_EVERY_WALL;
  }
  bool stopped = false;
  sim_status status = l.many ? sim_agreement_create(run->comm, run->clock.step, &l.agreement) : SIM_OK;
  if (status == SIM_OK) status = cause_of(run, run_steps(&l, &stopped));
  progress(&l, sim_wall_clock());
  if (status == SIM_OK) status = finish(&l, stopped);
  if (status != SIM_OK && status != SIM_ERR_STOPPED && status != SIM_ERR_IO && status != SIM_ERR_CANT_CREATE)
    keep_rows(&l);
  if (status == SIM_ERR_IO) sim_outputs_wait(l.outputs, settle_most); /* then the newest checkpoint is known */
  sim_agreement_destroy(&l.agreement);
  sim_outputs_destroy(&l.outputs);
  return status;
}
