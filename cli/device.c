#include "cli/prepare.h"
#include "cli/run/ranks.h"
#include "engine/device/cuda.h"
#include "engine/run/stage.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_gpus(void) {
  char name[CLI_GPU_NAME];
  int count = 0;
  while (cli_gpu(count, name)) count++;
  return count;
}

bool cli_gpu(int number, char name[CLI_GPU_NAME]) {
  const sim_backend *cuda = &sim_backend_cuda;
  char uuid[CLI_GPU_NAME - 8];
  if (cuda->identity == NULL || cuda->unavailable() != NULL || !cuda->identity(number, uuid, sizeof uuid)) return false;
  snprintf(name, CLI_GPU_NAME, "cuda:%s", uuid);
  return true;
}

/* Gives processes of a batch job that see the same GPUs of a host different ones: writes the name of this process's GPU
 * into `name` and returns it; else returns `device`. */
static const char *share_out(const cli_scheduler *scheduler, const char *device, char name[CLI_GPU_NAME]) {
  if (!scheduler->name || scheduler->local < 0) return device; /* a job not made for a run has no scheduler */
  if (strcmp(device, "auto") != 0 && strcmp(device, "cuda") != 0) return device;
  const int count = cli_gpus();
  return count > 1 && cli_gpu(scheduler->local % count, name) ? name : device;
}

bool cli_gpu_able(const cli_job *job) {
  char lacks[160];
  if (!job->model->backends[SIM_BACKEND_CUDA].runs) return false;
#ifndef SIM_HAS_CUDA
  return true;
#endif
  if (!job->model->supports || job->model->supports(job->parameters, SIM_BACKEND_CUDA, lacks, sizeof lacks))
    return true;
  if (!sim_backends[0]->unavailable()) sim_log(SIM_LOG_INFO, "on the CPU: %s not on a GPU", lacks);
  return false;
}

/* Refuses to leave the GPU of a batch job idle unasked. */
static sim_status fail_without_gpu(const cli_scheduler *scheduler, const char *why) {
  return sim_fail(SIM_ERR_NO_DEVICE, "%s's job %s was given a GPU, and %s; --device cpu runs without it",
                  scheduler->name, scheduler->job, why);
}

static void warn_idle_gpu(const cli_scheduler *scheduler) {
  sim_log(SIM_LOG_WARN, "%s's job %s was given a GPU, which this run does not use", scheduler->name, scheduler->job);
}

/* *out: whether the ranks use GPUs if no device is named: every rank of every host must have one. */
static sim_status gpus_suffice(const cli_job *job, bool *out) {
  const sim_comm *comm = job->setup.comm;
  const cli_scheduler *scheduler = &job->scheduler;
  const bool able = cli_gpu_able(job);
  const int count = able ? cli_gpus() : 0;
  uint64_t lacks = count < comm->host_size;
  if (comm->ops != sim_comm_alone.ops) SIM_TRY(sim_comm_agree(comm, lacks, &lacks)); /* else sim check or batch */
  *out = lacks == 0;
  if (scheduler->gpu && !able) warn_idle_gpu(scheduler);
  if (scheduler->gpu && able && !*out && count >= comm->host_size)
    return fail_without_gpu(scheduler, "another host has fewer GPUs than ranks");
  if (scheduler->gpu && able && !*out) {
    const char *reason = count == 0 ? sim_backend_cuda.unavailable() : NULL;
    char why[512];
    snprintf(why, sizeof why, "%d rank%s of this host see %d GPU%s%s%s", comm->host_size,
             comm->host_size == 1 ? "" : "s", count, count == 1 ? "" : "s", reason ? ": " : "", reason ? reason : "");
    return fail_without_gpu(scheduler, why);
  }
  if (count > 0 && !*out)
    sim_log(SIM_LOG_INFO, "on the CPU: %d ranks on this host, %d GPU%s", comm->host_size, count, count == 1 ? "" : "s");
  return SIM_OK;
}

/* Opens the GPU of this rank: the one with the rank's number on the host among the GPUs that the rank sees. Their
 * UUIDs tell whether two ranks have the same one. No GPU was used before: a context on another one would hold memory
 * there. */
static sim_status open_gpu_of_rank(cli_job *job) {
  const sim_comm *comm = job->setup.comm;
  static char names[SIM_RANKS_MAX][CLI_GPU_NAME];
  char own[CLI_GPU_NAME] = "";
  const int count = cli_gpus();
  bool shared = false;
  if (count > 0) (void)cli_gpu(comm->host_rank % count, own);
  if (comm->ops != sim_comm_alone.ops) {
    SIM_TRY(comm->ops->gather(comm, own, sizeof own, names));
    for (int r = 0; r < comm->size; r++)
      for (int q = 0; q < r; q++) shared |= *names[r] && strcmp(names[r], names[q]) == 0;
  }
  if (shared && !job->options->oversubscribe)
    return sim_fail(SIM_ERR_USAGE,
                    "%d ranks on this host and %d GPU%s: each rank needs one of its own; --oversubscribe "
                    "lets them share, slowly",
                    comm->host_size, count, count == 1 ? "" : "s");
  return sim_backend_select(*own ? own : "cuda", &job->setup.backend);
}

/* Chooses the device for several ranks: the same kind for all. */
static sim_status choose_for_ranks(cli_job *job) {
  const char *device = job->options->device;
  const int ranks = job->setup.comm->size;
  const bool automatic = strcmp(device, "auto") == 0;
  bool gpu = strcmp(device, "cuda") == 0;
  if (!job->model->ranks)
    return sim_fail(SIM_ERR_USAGE, "--ranks %d: sim.%s runs on one rank only", ranks, job->model->name);
  if (!automatic && !gpu && strcmp(device, "cpu") != 0)
    return sim_fail(SIM_ERR_USAGE, "--ranks %d and --device %s: each rank has a GPU of its own; give --device cuda",
                    ranks, device);
  if (automatic && job->has_saved)
    gpu = strcmp(job->saved.backend, "cuda") == 0;
  else if (automatic)
    SIM_TRY(gpus_suffice(job, &gpu));
  if (!gpu)
    SIM_TRY(sim_backend_select("cpu", &job->setup.backend));
  else if (open_gpu_of_rank(job) != SIM_OK) {
    const sim_error cause = *sim_error_last();
    if (!automatic || !job->has_saved || cause.status != SIM_ERR_NO_DEVICE) return cause.status;
    return sim_fail(SIM_ERR_INCOMPATIBLE,
                    "%s: the run began on another device: %s; --device cpu continues it with other last bits",
                    job->saved.path, cause.message);
  }
  if (job->has_saved && strcmp(job->saved.backend, job->setup.backend->name) != 0)
    sim_log(SIM_LOG_WARN, "the run began on %s and continues on %s: its last bits will differ", job->saved.backend,
            job->setup.backend->name);
  return SIM_OK;
}

/* Chooses the device. A restart uses the device of the first part unless the user requests another, because the last
 * bits differ. A job with a GPU does not run without it unless the user requests that. */
static sim_status choose_one_or_more(cli_job *job) {
  const char *device = job->options->device;
  const cli_scheduler *scheduler = &job->scheduler;
  const sim_backend **backend = &job->setup.backend;
  char name[CLI_GPU_NAME];
  if (job->setup.comm->size > 1) return choose_for_ranks(job);
  bool automatic = strcmp(device, "auto") == 0;
  if (automatic && job->has_saved) {
    if (sim_backend_select(share_out(scheduler, job->saved.backend, name), backend) == SIM_OK) return SIM_OK;
    return sim_fail(SIM_ERR_INCOMPATIBLE,
                    "%s: the run began on another device: %s; --device cpu continues it with other "
                    "last bits",
                    job->saved.path, sim_error_last()->message);
  }
  bool able = !automatic || cli_gpu_able(job);
  if (automatic && scheduler->gpu && able && sim_backend_select(share_out(scheduler, "cuda", name), backend) != SIM_OK)
    return fail_without_gpu(scheduler, sim_error_last()->message);
  if (automatic && scheduler->gpu && !able) warn_idle_gpu(scheduler);
  if (automatic && !able) device = "cpu";
  SIM_TRY(sim_backend_select(share_out(scheduler, device, name), backend));
  if (job->has_saved && strcmp(job->saved.backend, (*backend)->name) != 0)
    sim_log(SIM_LOG_WARN, "the run began on %s and continues on %s: its last bits will differ", job->saved.backend,
            (*backend)->name);
  return SIM_OK;
}

static sim_status choose_backend(cli_job *job) {
  SIM_TRY(choose_one_or_more(job));
  if (job->options->oversubscribe && job->setup.backend->kind == SIM_BACKEND_CPU)
    return sim_fail(SIM_ERR_USAGE, "--oversubscribe is for ranks that share GPUs: this run has %s",
                    job->setup.comm->size == 1 ? "one rank" : "none");
  return SIM_OK;
}

/* Chooses the instruction set. In double precision every one continues with the same bits; otherwise the first one is
 * required unless the user requests another. */
static sim_status choose_isa(cli_job *job) {
  const cli_options *options = job->options;
  sim_isa *isa = &job->setup.isa;
  *isa = options->isa < sim_isa_best() ? options->isa : sim_isa_best();
  if (options->isa_given && options->isa > *isa)
    return sim_fail(SIM_ERR_NO_DEVICE, "--isa %s: this processor does not have it", sim_isa_name(options->isa));
  if (!options->isa_given && *cli_ranks_isa_text()) sim_log(SIM_LOG_INFO, "%s", cli_ranks_isa_text());
  if (!job->has_saved || cli_common(job)->precision == SIM_DOUBLE) return SIM_OK;
  if (strcmp(job->saved.backend, "cpu") != 0 || job->setup.backend->kind != SIM_BACKEND_CPU) return SIM_OK;
  if (strcmp(job->saved.isa, sim_isa_name(*isa)) == 0) return SIM_OK;
  if (options->isa_given) {
    sim_log(SIM_LOG_WARN, "the run began with %s and continues with %s: its last bits will differ", job->saved.isa,
            sim_isa_name(*isa));
    return SIM_OK;
  }
  for (*isa = 0; *isa <= sim_isa_best(); ++*isa)
    if (strcmp(job->saved.isa, sim_isa_name(*isa)) == 0) return SIM_OK;
  return sim_fail(SIM_ERR_INCOMPATIBLE,
                  "%s: the run began with %s, which %s lacks; --isa %s continues with other last bits", job->saved.path,
                  job->saved.isa, cli_ranks_launched() ? "the processor of a rank" : "this processor",
                  sim_isa_name(sim_isa_best()));
}

static double resident_bytes(void) {
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  if (fscanf(file, "%*u %lu", &pages) != 1) pages = 0;
  fclose(file);
  return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

sim_status cli_prepare_device(cli_job *job) {
  const cli_options *options = job->options;
  sim_setup *setup = &job->setup;
  if (!setup->comm) setup->comm = &sim_comm_alone;
  const char *fault = getenv("SIM_COMM_FAULT");
  if (fault && *fault && setup->comm->size > 1)
    sim_log(SIM_LOG_WARN, "SIM_COMM_FAULT = %s: a fault of the exchange, planted for tests: results are wrong", fault);
  SIM_TRY(choose_backend(job));
  const char *reason;
  if (!sim_model_runs(job->model, setup->backend->kind, &reason))
    return sim_fail(SIM_ERR_NO_DEVICE, "model '%s' does not run on %s: %s", job->model->name, setup->backend->name,
                    reason);
  char lacks[160];
  if (job->model->supports && !job->model->supports(job->parameters, setup->backend->kind, lacks, sizeof lacks))
    return sim_fail(SIM_ERR_NO_DEVICE, "%s not on %s: use --device %s", lacks, setup->backend->name,
                    setup->backend->kind == SIM_BACKEND_CPU ? "cuda" : "cpu");
  SIM_TRY(choose_isa(job));
  const char *limit;
  int rank, ranks_here;
  cli_ranks_cores(setup->comm, &rank, &ranks_here);
  const int most = omp_get_max_threads(),
            cores = cli_scheduler_cores(&job->scheduler, rank, ranks_here, cli_ranks_launched(), &limit);
  setup->threads = options->threads ? options->threads
                   : most < cores   ? most
                                    : cores; /* OMP_NUM_THREADS may request fewer */
  omp_set_num_threads(setup->threads);     /* for loops without an explicit number of threads */
  if (limit && setup->threads == cores && !options->threads)
    sim_log(SIM_LOG_DEBUG, "%d thread%s by %s", cores, cores == 1 ? "" : "s", limit);
  setup->read_particles = io_read_particles;
  setup->count_particles = io_count_particles;
  setup->read_grid = io_read_grid;
  setup->inputs = setup->comm->size > 1 ? &job->inputs : NULL;
  char name[224], ranks[32];
  snprintf(ranks, sizeof ranks, "%d ranks, each ", setup->comm->size);
  const int shown = setup->comm->size > 1 ? (int)strlen(ranks) : 0;
  setup->backend->describe(name, sizeof name);
  if (setup->backend->kind == SIM_BACKEND_CPU)
    snprintf(job->device, sizeof job->device, "%.160s, %.*s%d thread%s, %s", name, shown, ranks, setup->threads,
             setup->threads == 1 ? "" : "s", sim_isa_name(setup->isa));
  else
    snprintf(job->device, sizeof job->device, "%.*s%s", shown, ranks, name);
  if (job->has_saved) setup->saved = &job->saved.frame;
  job->resident = resident_bytes() + 1.6e6; /* a run has threads, files and tables besides: 1.1 to 2.3 MB */
  job->plan.space = setup->backend->space;
  SIM_TRY(cli_of_scenario(job, job->model->plan(job->parameters, setup, &job->plan)));
  const sim_output *output = &cli_common(job)->output;
  bool snapshots = output->snapshots.kind != SIM_NEVER;
  for (size_t i = 0; i < output->slices.count; i++)
    snapshots |= ((const sim_slice *)output->slices.items[i].data)->when.kind != SIM_NEVER;
  sim_stage_plan(setup->backend, setup->comm, snapshots, output->checkpoint.kind != SIM_NEVER, &job->plan);
  double rows = cli_row_bytes(job);
  /* rows go to a file; some stay in memory, twice while they are appended */
  if (rows > 0) sim_plan_add_host(&job->plan, "rows of tables", fmin(rows, 16 << 20));
  double slices = 0;
  for (size_t i = 0; i < cli_common(job)->output.slices.count; i++) slices += cli_slice_bytes(job, i);
  if (slices > 0) sim_plan_add_host(&job->plan, "slices", slices);
  return SIM_OK;
}
