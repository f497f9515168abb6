/* Commands that make or describe one run. */
#include "cli/run/session.h"

#include "engine/run/startup.h"
#include "engine/wall_clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Loads a checkpoint; the folder is locked and unchanged. A signal ends the loading at any time. */
static sim_status load_saved(cli_session *s, const char *file) {
  cli_job *job = s->job;
  memset(&job->saved, 0, sizeof job->saved);
  job->has_saved = true; /* so that it is always released */
  cli_watch *watch;
  SIM_TRY(
      cli_watch_begin(&(cli_watched){.limit = INFINITY, .stopped = cli_session_start_stopped, .context = s}, &watch));
  sim_startup("reading the checkpoint", 0, 0);
  const sim_status read = file ? io_checkpoint_read(file, &job->saved) : io_checkpoint_newest(job->output, &job->saved);
  cli_watch_end(watch);
  SIM_TRY(read);
  if (file) SIM_TRY(io_checkpoint_check_run(job->output, &job->saved));
  SIM_TRY(sim_frame_check_finite(&job->saved.frame));
  return SIM_OK;
}

/* For --resume: opens the folder and loads a checkpoint. The lock is taken before anything is read. */
static sim_status open_to_resume(cli_session *s, io_folder_mode *mode) {
  cli_job *job = s->job;
  io_folder **folder = &s->folder;
  bool automatic = job->options->resume == CLI_RESUME_AUTO;
  const char *file = job->options->resume == CLI_RESUME_FILE ? job->options->resume_file : NULL;
  *mode = IO_FOLDER_RESUME;
  sim_status status = io_folder_open(job->output, *mode, folder);
  if (status == SIM_OK) status = load_saved(s, file);
  if (status == SIM_ERR_NO_INPUT && automatic) { /* no run there yet, or it was killed before its first checkpoint */
    job->has_saved = false;
    io_folder_abandon(folder);
    *mode = IO_FOLDER_AGAIN;
    return io_folder_open(job->output, *mode, folder);
  }
  SIM_TRY(status);
  return cli_prepare_same(job);
}

static sim_status open_and_run(cli_session *s) {
  cli_job *job = s->job;
  io_folder_mode mode = job->options->force ? IO_FOLDER_FORCE : IO_FOLDER_NEW;
  SIM_TRY(cli_prepare_scenario(job));
  SIM_TRY(cli_prepare_output(job, ".out"));
  if (job->options->resume != CLI_RESUME_NO) SIM_TRY(open_to_resume(s, &mode));
  SIM_TRY(cli_ranks_share_checkpoint(job));
  SIM_TRY(cli_prepare_device(job));
  SIM_TRY(cli_prepare_memory(job));
  SIM_TRY(cli_prepare_duration(job));
  if (!s->folder) SIM_TRY(io_folder_open(job->output, mode, &s->folder));
  return cli_session_run(s, mode);
}

static sim_status run_job(cli_job *job) {
  cli_session s = {.job = job, .begin = sim_wall_clock()};
  sim_status status = open_and_run(&s);
  cli_session_close(&s);
  return status;
}

static sim_status resume_job(cli_job *job) {
  cli_session s = {.job = job, .begin = sim_wall_clock()};
  struct stat info;
  int n = snprintf(job->output, sizeof job->output, "%s", job->options->target);
  if (n >= (int)sizeof job->output || stat(job->output, &info) != 0)
    return sim_fail(SIM_ERR_NO_INPUT, "%s: no such folder", job->options->target);
  if (!S_ISDIR(info.st_mode)) return sim_fail(SIM_ERR_NO_INPUT, "%s: not a folder of a run", job->output);
  SIM_TRY(io_folder_open(job->output, IO_FOLDER_RESUME, &s.folder)); /* takes the lock before anything is read */
  sim_status status = load_saved(&s, NULL);
  if (status == SIM_OK) status = cli_ranks_share_checkpoint(job);
  if (status == SIM_OK) status = cli_prepare_saved(job);
  if (status == SIM_OK) status = cli_prepare_device(job);
  if (status == SIM_OK) status = cli_prepare_memory(job);
  if (status == SIM_OK) status = cli_session_run(&s, IO_FOLDER_RESUME);
  cli_session_close(&s);
  return status;
}

/* Files that a process of a run has open at once: its folder, logs, lock, libraries and files being written. */
enum { FILES_NEEDED = 48 };

static sim_status check_files(const cli_options *options) {
  struct rlimit files;
  if (options->command != CLI_RUN && options->command != CLI_RESUME) return SIM_OK;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= FILES_NEEDED) return SIM_OK;
  return sim_fail(SIM_ERR_IO, "a process may have %llu open files (ulimit -n), and a run needs %d",
                  (unsigned long long)files.rlim_cur, FILES_NEEDED);
}

static sim_status with_job(const cli_options *options, sim_status (*work)(cli_job *)) {
  SIM_TRY(check_files(options));
  cli_job *job = calloc(1, sizeof *job);
  if (!job) return sim_no_memory("a run");
  job->options = options;
  job->setup.comm = cli_comm();
  job->scheduler = cli_scheduler_find();
  if (job->scheduler.name) {
    char name[96];
    snprintf(name, sizeof name, "%s job %s", job->scheduler.name, job->scheduler.job);
    io_lock_job(name, job->scheduler.restart);
  }
  cli_terminal_start(options);
  sim_status status = work(job);
  cli_terminal_stop();
  cli_prepare_free(job);
  free(job);
  return status;
}

/* Makes the run on this rank. */
static sim_status with_ranks(const cli_options *options, sim_status (*work)(cli_job *)) {
  return cli_ranks_end(with_job(options, cli_comm()->rank == 0 ? work : cli_follow));
}

sim_status cli_run(const cli_options *options) { return with_ranks(options, run_job); }
sim_status cli_resume(const cli_options *options) { return with_ranks(options, resume_job); }

static sim_status batch_job(cli_job *job) {
  static sim_comm ranks; /* only the sizes in it are used */
  const int nodes = job->options->nodes > 0 ? job->options->nodes : 1;
  ranks = sim_comm_alone;
  ranks.size = cli_script_tasks(job->options);
  ranks.host_size = (ranks.size + nodes - 1) / nodes;
  job->setup.comm = &ranks;
  SIM_TRY(cli_prepare_scenario(job));
  SIM_TRY(cli_prepare_output(job, ".out"));
  SIM_TRY(cli_prepare_device(job));
  return cli_script_print(job, 0);
}

sim_status cli_check(const cli_options *options) { return with_job(options, cli_check_job); }
sim_status cli_batch(const cli_options *options) { return with_job(options, batch_job); }
sim_status cli_sweep(const cli_options *options) { return with_job(options, cli_sweep_run); }
