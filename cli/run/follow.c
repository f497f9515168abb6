/* The run on a rank above 0: the same steps and decisions as on rank 0, which alone has the folder, log and
 * terminal. */
#include "cli/run/ranks.h"
#include "cli/run/watch.h"

#include "engine/wall_clock.h"

#include <math.h>
#include <stdlib.h>

enum { SINKS = 3 + SIM_SLICES_MAX };

static sim_status write_nothing(void *self, const sim_frame *frame) {
  (void)self;
  (void)frame;
  return SIM_OK;
}

/* Makes as many sinks as rank 0 opens, of the same kinds and cadences. */
static size_t mute_sinks(const cli_job *job, sim_sink sinks[SINKS]) {
  const sim_output *output = &cli_common(job)->output;
  size_t count = 0;
  const sim_sink mute = {.name = "nothing", .write = write_nothing};
  if (output->tables.kind != SIM_NEVER && sim_model_tables(job->model, job->parameters)[0]) {
    sinks[count] = mute;
    sinks[count].kind = SIM_SINK_TABLE;
    sinks[count++].cadence = output->tables;
  }
  io_hosts_sink(job->setup.comm, SIM_SINK_SNAPSHOT, output->snapshots, &sinks[count++]);
  for (size_t i = 0; i < output->slices.count; i++) {
    const sim_slice *slice = output->slices.items[i].data;
    if (slice->when.kind == SIM_NEVER) continue;
    sinks[count] = mute;
    sinks[count++].cadence = slice->when;
  }
  io_hosts_sink(job->setup.comm, SIM_SINK_CHECKPOINT, output->checkpoint, &sinks[count++]);
  return count;
}

static sim_status prepare(cli_job *job) {
  const bool fresh = job->options->command == CLI_RUN;
  if (fresh) SIM_TRY(cli_prepare_scenario(job));
  SIM_TRY(cli_ranks_share_checkpoint(job));
  SIM_TRY(!fresh ? cli_prepare_saved(job) : job->has_saved ? cli_prepare_same(job) : SIM_OK);
  SIM_TRY(cli_prepare_device(job));
  SIM_TRY(cli_prepare_memory(job));
  return cli_ranks_check_start(job);
}

sim_status cli_follow(cli_job *job) {
  SIM_TRY(prepare(job));
  sim_sink sinks[SINKS];
  sim_run *run = calloc(1, sizeof *run);
  if (!run) return sim_no_memory("a run");
  *run = (sim_run){.model = job->model,
                   .backend = job->setup.backend,
                   .comm = job->setup.comm,
                   .tables = sim_model_tables(job->model, job->parameters),
                   .stop_when = cli_common(job)->stop_when,
                   .resumed = job->has_saved,
                   .work_per_step = job->plan.work_per_step,
                   .sinks = sinks,
                   .sink_count = mute_sinks(job, sinks),
                   .requests = &cli_requests,
                   .wall_limit = INFINITY,
                   .progress_interval = INFINITY,
                   .checkpoint_step = -1};
  if (job->has_saved) {
    run->clock = job->saved.frame.clock;
    run->ended = run->clock.t_end == -INFINITY;
  }
  cli_watch *watch;
  sim_status status = cli_watch_begin(
      &(cli_watched){.device_alone = true, .comm = run->comm, .step = cli_step_seconds(job), .limit = INFINITY},
      &watch);
  if (status == SIM_OK) status = job->model->create(job->parameters, &job->setup, &run->clock, &run->self);
  if (status == SIM_OK && job->has_saved) {
    io_checkpoint_free(&job->saved); /* it needs as much memory as the state */
    job->has_saved = false;
  }
  const sim_comm_totals before = sim_comm_counted(run->comm);
  const double begin = sim_wall_clock();
  if (status == SIM_OK) status = sim_run_loop(run);
  cli_watch_end(watch);
  if (job->options->profile) status = cli_say_ranks(run->comm, &before, sim_wall_clock() - begin, status);
  if (run->self) job->model->destroy(&run->self);
  free(run);
  return status;
}
