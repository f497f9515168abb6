/* `sim check`: memory, files and time of a run; with --at the values of its functions at a point. */
#include "cli/prepare.h"
#include "cli/run/launcher.h"

#include <math.h>
#include <stdio.h>

/* Bytes of attributes and HDF5's records in a snapshot or dataset, beyond the arrays; measured on small ones. */
static const double snapshot_overhead = 16e3;

/* Prints the plan's items in the memory of the GPU or of the host. */
static void check_items(const cli_job *job, sim_space space) {
  const sim_plan *plan = &job->plan;
  bool host = space == SIM_SPACE_HOST;
  const int ranks = job->setup.comm->size;
  const double bytes = sim_plan_bytes(plan, space) + (host ? job->resident : 0);
  char text[64], more[64], all[64];
  cli_bytes(bytes, text, sizeof text);
  cli_bytes((double)(host ? &sim_backend_cpu : job->setup.backend)->memory_free(), more, sizeof more);
  cli_bytes(sim_plan_host_bytes(plan, ranks, job->resident), all, sizeof all);
  if (ranks > 1 && host)
    cli_say("memory      %s on the fullest rank, %s on %d ranks, of %s free", text, all, ranks, more);
  else if (ranks > 1)
    cli_say("GPU memory  %s on the fullest rank, of %s free on its GPU", text, more);
  else
    cli_say("%s %s of %s free", host ? "memory     " : "GPU memory ", text, more);
  for (size_t i = 0; i < plan->count; i++) {
    if (plan->items[i].space != space) continue;
    cli_bytes(plan->items[i].bytes, text, sizeof text);
    cli_say("  %-24s %s", plan->items[i].what, text);
  }
  cli_bytes(job->resident, text, sizeof text);
  if (host) cli_say("  %-24s %s", "program and libraries", text);
  cli_bytes(plan->room_bytes, text, sizeof text);
  if (host && plan->room_bytes > 0) cli_say("  %-24s %s", "of it usually unused", text);
}

/* Prints the files of one cadence, each with a share of a snapshot's bytes plus the common overhead; slice "":
 * snapshots. */
static void check_files(const sim_plan *plan, const sim_cadence *cadence, const char *slice, double share) {
  const double once = share * plan->once_bytes, size = share * plan->snapshot_bytes - once + snapshot_overhead;
  const double count = cli_times_due(cadence, plan);
  const char *what = *slice ? "slices      " : "snapshots   ", *colon = *slice ? ": " : "";
  char text[64], more[64];
  cli_bytes(size, text, sizeof text);
  cli_bytes(size * count + once, more, sizeof more);
  if (isfinite(count))
    cli_say("%s%s%s%.0f of %s: %s", what, slice, colon, count, text, more);
  else
    cli_say("%s%s%sof %s each", what, slice, colon, text);
}

static void check_slices(const cli_job *job) {
  const sim_list *slices = &cli_common(job)->output.slices;
  sim_extent extent;
  if (slices->count > 0) job->model->extent(job->parameters, &extent);
  for (size_t i = 0; i < slices->count; i++) {
    const sim_slice *slice = slices->items[i].data;
    check_files(&job->plan, &slice->when, slice->name, sim_slice_share(slice, &extent));
  }
}

/* Prints the sizes of the datasets that a complete run writes. */
static void check_datasets(const sim_plan *plan) {
  char text[64];
  for (int i = 0; i < plan->file_count; i++) {
    cli_bytes(plan->files[i].bytes + snapshot_overhead, text, sizeof text);
    cli_say("at the end  %s: %s", plan->files[i].name, text);
  }
}

/* Assumed bytes per second, and seconds, of an exchange between ranks of one host. Through shared memory 2 to 6 GB/s
 * and 5 to 30 us were measured; between GPUs by peer pointers over NVLink 310 to 390 GB/s and 5 us. */
static const double exchange_rates[SIM_BACKEND_KINDS] = {[SIM_BACKEND_CPU] = 4e9, [SIM_BACKEND_CUDA] = 300e9},
                    exchange_times[SIM_BACKEND_KINDS] = {[SIM_BACKEND_CPU] = 2e-5, [SIM_BACKEND_CUDA] = 1e-5};

static const double worth = 1.33; /* speed-up over one rank below which the ranks are not advised */

/* Speed-up over one rank with the same number of threads, divided by the number of ranks. A rank computes its share and
 * the undivided part, and then waits for the exchange. NaN: unknown. */
static double efficiency(const sim_plan *plan, sim_backend_kind kind, int ranks) {
  if (ranks == 1) return 1;
  const double shares = sim_plan_shares(plan, ranks);
  const double alone =
      plan->work_per_step / plan->work_rate_guess * shares; /* the rate is that of all ranks together */
  const double own = alone * (plan->undivided + (1 - plan->undivided) / shares);
  const double bytes = fmax(plan->bytes_received / exchange_rates[kind] - plan->beside * own, 0);
  return alone / (ranks * (own + bytes + plan->exchanges * exchange_times[kind]));
}

/* The fewest ranks that are as fast as `ranks`, within 2 %: the exchange is taken as that of `ranks`. */
static int as_fast(const sim_plan *plan, sim_backend_kind kind, int ranks) {
  sim_plan fewer = *plan;
  const double alone = plan->work_per_step / plan->work_rate_guess * sim_plan_shares(plan, ranks),
               speed = efficiency(plan, kind, ranks) * ranks;
  for (int r = 1; r < ranks; r++) {
    fewer.work_rate_guess = plan->work_per_step / alone * sim_plan_shares(plan, r);
    if (efficiency(&fewer, kind, r) * r >= 0.98 * speed) return r;
  }
  return ranks;
}

/* What all ranks together do in a second, by their efficiency. */
static double rate_of(const sim_plan *plan, sim_backend_kind kind, int ranks) {
  const double share = efficiency(plan, kind, ranks);
  return plan->work_rate_guess * (isfinite(share) ? share * ranks / sim_plan_shares(plan, ranks) : 1);
}

/* What is told of ranks is for a core for each thread. Says so where the ranks that this command would start here have
 * more threads than this process has cores; it may be a login node. */
static void check_cores(const cli_job *job, int ranks) {
  const char *limit;
  const int cores = cli_scheduler_cores(&job->scheduler, 0, 1, false, &limit), threads = ranks * job->setup.threads;
  if (job->options->ranks > 0 && job->setup.backend->kind == SIM_BACKEND_CPU && threads > cores)
    cli_say("  %-24s %d of this host%s%s for %d threads: efficiency and times are those of a host with %d", "cores",
            cores, limit ? " by " : "", limit ? limit : "", threads, threads);
}

static void check_ranks(const cli_job *job, int ranks) {
  const sim_plan *plan = &job->plan;
  const sim_backend_kind kind = job->setup.backend->kind;
  char text[64], limit[128] = "";
  const double share = efficiency(plan, kind, ranks);
  if (ranks == 1) return;
  if (plan->most_ranks > 0)
    snprintf(limit, sizeof limit, "; the work can be divided among %d%s",
             plan->most_ranks < SIM_RANKS_MAX ? plan->most_ranks : SIM_RANKS_MAX,
             kind == SIM_BACKEND_CPU ? ", and no more than there are free cores" : "");
  cli_say("ranks       %d%s", ranks, limit);
  cli_bytes(plan->bytes_received, text, sizeof text);
  cli_say("  %-24s %s received by a rank in a step, %.0f time%s waiting for all, without outputs", "communication",
          text, plan->exchanges, plan->exchanges == 1 ? "" : "s");
  if (plan->start_exchanges > 0) {
    cli_bytes(plan->start_received, text, sizeof text);
    cli_say("  %-24s %s received by a rank, %.0f times waiting for all", "before the first step", text,
            plan->start_exchanges);
  }
  check_cores(job, ranks);
  if (!isfinite(share)) return;
  cli_say(
      "  %-24s about %.0f %% of %d times one rank, with a core for each thread, at %.0f GB/s and %.0f us an exchange",
      "efficiency", 100 * share, ranks, 1e-9 * exchange_rates[kind], 1e6 * exchange_times[kind]);
  const int fewest = as_fast(plan, kind, ranks);
  if (fewest < ranks) cli_say("  %-24s than %d rank%s", "no faster", fewest, fewest == 1 ? "" : "s");
  if (share * ranks < worth)
    cli_say("  %-24s %d ranks make a step about %.1f times as fast as one%s", "not advised", ranks, share * ranks,
            plan->divided && plan->most_ranks > 1 ? "; they divide its memory" : "");
}

sim_status cli_check_job(cli_job *job) {
  static sim_comm ranks; /* only the sizes in it are used */
  ranks = sim_comm_alone;
  ranks.size = ranks.host_size = job->options->ranks > 0 ? job->options->ranks : cli_launcher_find().size;
  job->setup.comm = &ranks;
  SIM_TRY(cli_prepare_scenario(job));
  if (job->options->at) return cli_check_point(job);
  SIM_TRY(cli_prepare_output(job, ".out"));
  SIM_TRY(cli_prepare_device(job));
  const sim_plan *plan = &job->plan;
  const sim_output *output = &cli_common(job)->output;
  char text[64];
  cli_say("%s: no faults", job->options->target);
  cli_say("device      %s", job->device);
  if (job->setup.backend->space == SIM_SPACE_DEVICE) check_items(job, SIM_SPACE_DEVICE);
  check_items(job, SIM_SPACE_HOST);
  check_files(plan, &output->snapshots, "", 1);
  check_slices(job);
  cli_bytes(cli_row_bytes(job), text, sizeof text);
  if (output->tables.kind == SIM_NEVER)
    cli_say("tables      none");
  else if (isfinite(cli_times_due(&output->tables, plan)))
    cli_say("tables      %.0f rows: %s", cli_times_due(&output->tables, plan), text);
  else
    cli_say("tables      number of rows not known in advance");
  check_datasets(plan);
  cli_bytes(plan->checkpoint_bytes, text, sizeof text);
  cli_say("checkpoints %s each, the last three kept", text);
  check_ranks(job, ranks.size);
  if (plan->start_seconds > 0) {
    cli_duration(plan->start_seconds, text, sizeof text);
    cli_say("start       about %s before the first step", text);
  }
  const double rate = rate_of(plan, job->setup.backend->kind, ranks.size);
  if (plan->work_most > 0) {
    char most[64];
    cli_duration(plan->steps * plan->work_per_step / rate, text, sizeof text);
    cli_duration(plan->steps * plan->work_most / rate, most, sizeof most);
    cli_say("steps       %.0f, at least %s and at most %s at %.2g %s/s: what a step takes is not known in advance",
            plan->steps, text, most, rate, job->model->work_unit);
  } else if (isfinite(plan->steps)) {
    cli_duration(plan->steps * plan->work_per_step / rate, text, sizeof text);
    cli_say("steps       %.0f, about %s at %.2g %s/s", plan->steps, text, rate, job->model->work_unit);
  } else {
    cli_say("steps       adaptive; %.3g %s each", plan->work_per_step, job->model->work_unit);
  }
  SIM_TRY(cli_prepare_memory(job));
  return cli_prepare_duration(job);
}
