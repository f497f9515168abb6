/* sim batch: prints a job script for a run, from the estimates of `sim check`. */
#include "cli/prepare.h"
#include "cli/run/launcher.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REQUEUES_WITHOUT_PROGRESS = 3, TASK_MAX = 4000000 /* TASK_MAX: largest MaxArraySize of Slurm */ };

typedef struct script {
  const cli_job *job;
  char name[128];            /* name of the job */
  char sim[4096];            /* path of the program */
  char time[32], memory[32]; /* HH:MM:SS; MiB */
  char array[1024];          /* numbers of the tasks; "": no array */
  size_t sweep;              /* number of runs of a sweep; 0: one run, or one for each seed */
  int cpus, gpus;            /* cpus: of each task; gpus: of the job */
  int nodes, tasks;
  const char *mpi;   /* value of srun --mpi; NULL: one task, or unknown */
  char plugin[4096]; /* value of $SIM_MPI; "": one task */
  bool pbs, on_gpu;  /* on_gpu: the scenario can run on a GPU */
} script;

/* Checks that both schedulers accept an array: "0-9" or "3,5,8-12%4". */
static sim_status check_array(const char *text) {
  const char *at = text;
  for (bool more = true; more; at++) {
    char *end;
    unsigned long first = strtoul(at, &end, 10), last = first;
    if (!isdigit((unsigned char)*at) || end - at > 9) goto bad;
    at = end;
    if (*at == '-') {
      if (!isdigit((unsigned char)at[1])) goto bad;
      last = strtoul(at + 1, &end, 10);
      if (end - at > 10) goto bad;
      at = end;
    }
    if (last < first) return sim_fail(SIM_ERR_USAGE, "--array '%s': %lu-%lu is an empty range", text, first, last);
    if (last > TASK_MAX)
      return sim_fail(SIM_ERR_USAGE, "--array '%s': task %lu, the largest number that a cluster accepts is %d", text,
                      last, TASK_MAX);
    more = *at == ',';
    if (!more && *at == '%' && isdigit((unsigned char)at[1])) at += 1 + strspn(at + 1, "0123456789");
    if (!more && *at) goto bad;
    if (!more) break;
  }
  return SIM_OK;
bad:
  return sim_fail(SIM_ERR_USAGE, "--array '%s': expected numbers and ranges, as in 0-9 or 1,3,7-9", text);
}

/* Writes a name for jobs and files: letters, digits and - _ . only. */
static void plain_name(const char *path, char *out, size_t capacity) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  size_t used = 0;
  for (; *name && used + 1 < capacity && strcmp(name, ".lua") != 0 && strcmp(name, ".out") != 0; name++)
    out[used++] = isalnum((unsigned char)*name) || strchr("-_.", *name) ? *name : '_';
  out[used] = '\0';
  if (!isalpha((unsigned char)out[0])) {
    char first[128];
    snprintf(first, sizeof first, "%s", out);
    snprintf(out, capacity, "run_%.100s", first);
  }
}

/* Prints one word of the shell, quoted. */
static void quoted(const char *text) {
  putchar('\'');
  for (; *text; text++)
    if (*text == '\'')
      fputs("'\\''", stdout);
    else
      putchar(*text);
  putchar('\'');
}

/* Seconds for a job: twice the estimate plus 15 minutes, rounded up to quarters of an hour; one hour without an
 * estimate. */
static double job_seconds(const cli_job *job) {
  const sim_plan *plan = &job->plan;
  if (!isnan(job->options->time)) return job->options->time;
  double guess = plan->steps * plan->work_per_step / plan->work_rate_guess;
  if (!isfinite(guess) || plan->work_most > 0) return 3600;
  return fmin(900 * ceil((2 * guess + 900) / 900), 24 * 3600);
}

int cli_script_tasks(const cli_options *o) {
  if (o->ntasks > 0) return o->ntasks;
  return o->gpus > 1 || (o->nodes > 1 && o->gpus > 0) ? o->gpus : o->nodes > 1 ? o->nodes : 1;
}

/* Refuses GPUs that stay idle and tasks without a GPU: each task takes one. */
static sim_status check_gpus(const script *s) {
  if (s->gpus % s->nodes != 0)
    return sim_fail(SIM_ERR_USAGE, "--nodes %d and --gpus %d: expected as many GPUs on each host", s->nodes, s->gpus);
  if (s->gpus > 1 && s->sweep > 0)
    return sim_fail(SIM_ERR_USAGE, "--gpus %d: a run of a sweep takes one GPU; give --gpus 1", s->gpus);
  if (s->gpus > 0 && s->tasks > 1 && !s->on_gpu)
    return sim_fail(SIM_ERR_USAGE, "--gpus %d: this scenario does not run on a GPU; --ntasks %d shares it among cores",
                    s->gpus, s->tasks);
  if (s->gpus > 0 && s->sweep == 0 && s->tasks != s->gpus)
    return sim_fail(SIM_ERR_USAGE,
                    "--gpus %d and --ntasks %d: each task takes one GPU; leave out --ntasks, or give --gpus %d",
                    s->gpus, s->tasks, s->tasks);
  if (s->gpus > 1 && s->pbs)
    return sim_fail(SIM_ERR_USAGE,
                    "--gpus %d: job scripts of several tasks are for Slurm; give --gpus 1, or start sim run --gpus %d "
                    "in a script of your own",
                    s->gpus, s->gpus);
  return SIM_OK;
}

/* Sets nodes and tasks: Slurm's srun starts one rank for each task, joined by the MPI plugin of this program. */
static sim_status fill_ranks(script *s) {
  const cli_options *o = s->job->options;
  const cli_launcher srun = {.name = "srun", .size = s->tasks};
  const sim_mpi_plugin *plugin;
  cli_mpi chosen;
  if (s->tasks < s->nodes)
    return sim_fail(SIM_ERR_USAGE, "--nodes %d and --ntasks %d: a host without a task would stay idle", s->nodes,
                    s->tasks);
  SIM_TRY(check_gpus(s));
  if (s->tasks == 1) return SIM_OK;
  if (s->pbs)
    return sim_fail(SIM_ERR_USAGE, "--%s: job scripts of several tasks are for Slurm",
                    o->ntasks > 0 ? "ntasks" : "nodes");
  SIM_TRY(cli_mpi_choose(&srun, &chosen));
  SIM_TRY(sim_mpi_load(chosen.path, &plugin));
  const char *given = getenv("SIM_MPI");
  snprintf(s->plugin, sizeof s->plugin, "%s", given && *given ? given : chosen.name);
  if (strchr(s->plugin, '\n'))
    return sim_fail(SIM_ERR_USAGE, "SIM_MPI has a line break and cannot stand in a job script");
  if (strcmp(plugin->family, "openmpi") == 0) s->mpi = "pmix";
  if (strcmp(plugin->family, "mpich") == 0) s->mpi = "pmi2";
  return SIM_OK;
}

static void fill(const cli_job *job, size_t sweep, script *s) {
  const cli_options *options = job->options;
  *s = (script){.job = job, .sweep = sweep, .pbs = options->scheduler && strcmp(options->scheduler, "pbs") == 0};
  plain_name(options->target, s->name, sizeof s->name);
  if (sweep > 0)
    snprintf(s->array, sizeof s->array, "1-%zu", sweep);
  else if (options->array)
    snprintf(s->array, sizeof s->array, "%s", options->array);
  ssize_t n = readlink("/proc/self/exe", s->sim, sizeof s->sim - 1);
  if (n <= 0) snprintf(s->sim, sizeof s->sim, "sim");
  long long whole = (long long)ceil(job_seconds(job));
  snprintf(s->time, sizeof s->time, "%02lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  const bool device = job->setup.backend->space == SIM_SPACE_DEVICE;
  s->on_gpu = cli_gpu_able(job);
  s->nodes = options->nodes > 0 ? options->nodes : 1;
  s->tasks = sweep > 0 ? 1 : cli_script_tasks(options);
  s->gpus = options->gpus >= 0 ? options->gpus : device ? s->tasks : 0;
  s->cpus = options->cpus > 0 ? options->cpus : s->gpus > 0 && options->threads == 0 ? 2 : job->setup.threads;
  /* 25 % above the plan, and 256 MiB for everything else */
  double bytes = 1.25 * (sim_plan_bytes(&job->plan, SIM_SPACE_HOST) + job->resident) + 0x1p28;
  bytes *= (s->tasks + s->nodes - 1) / s->nodes;                       /* for the tasks of one host */
  snprintf(s->memory, sizeof s->memory, "%.0f", ceil(bytes / 0x1p20)); /* MiB */
}

static void print_directives(const script *s) {
  const cli_options *o = s->job->options;
  printf("#!/bin/bash\n");
  if (s->pbs) {
    printf("#PBS -N %.15s\n#PBS -l walltime=%s\n#PBS -l select=1:ncpus=%d:mem=%smb", s->name, s->time, s->cpus,
           s->memory);
    if (s->gpus > 0) printf(":ngpus=%d", s->gpus);
    printf("\n#PBS -j oe\n#PBS -r y\n");
    if (o->partition) printf("#PBS -q %s\n", o->partition);
    if (o->account) printf("#PBS -A %s\n", o->account);
    if (*s->array) printf("#PBS -J %s\n", s->array);
    return;
  }
  printf("#SBATCH --job-name=%s\n#SBATCH --time=%s\n#SBATCH --nodes=%d\n#SBATCH --ntasks=%d\n", s->name, s->time,
         s->nodes, s->tasks);
  if (s->nodes > 1 && s->tasks % s->nodes == 0) printf("#SBATCH --ntasks-per-node=%d\n", s->tasks / s->nodes);
  printf("#SBATCH --cpus-per-task=%d\n#SBATCH --mem=%sM\n", s->cpus, s->memory);
  if (s->gpus > 0 && s->tasks > 1) /* tasks reach the memory of GPUs of their host only if they see them all */
    printf("#SBATCH --gpus-per-node=%d\n", s->gpus / s->nodes);
  else if (s->gpus > 0)
    printf("#SBATCH --gpus=%d\n", s->gpus);
  if (o->partition) printf("#SBATCH --partition=%s\n", o->partition);
  if (o->account) printf("#SBATCH --account=%s\n", o->account);
  if (*s->array) printf("#SBATCH --array=%s\n", s->array);
  printf("#SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --output=%s\n#SBATCH --signal=USR1@60\n",
         *s->array ? "%x.%A_%a.log" : "%x.%j.log");
}

static void print_comment(const script *s) {
  const sim_plan *plan = &s->job->plan;
  char memory[32], took[48] = "a time that is not known beforehand", target[4096];
  sim_text_escape(target, sizeof target, s->job->options->target, strlen(s->job->options->target));
  cli_bytes(sim_plan_bytes(plan, SIM_SPACE_HOST) + s->job->resident, memory, sizeof memory);
  if (isfinite(plan->steps) && !(plan->work_most > 0))
    cli_duration(plan->steps * plan->work_per_step / plan->work_rate_guess, took, sizeof took);
  printf("#\n# Brings %s to its end, over as many jobs as it takes. Made by sim %s; submit it with %s.\n"
         "# Estimate of sim check: %s of memory%s, %s in all on the machine where this was made.\n#\n",
         target, cli_version_text, s->pbs ? "qsub" : "sbatch", memory,
         s->job->setup.comm->size > 1 ? " for each process" : "", took);
  printf("# sim stops in time for the job's limit with a checkpoint and exit 75; then, and only then, the job is put\n"
         "# back into the queue, and the same command continues it. After %d jobs in a row without a new checkpoint it "
         "is not.\n",
         REQUEUES_WITHOUT_PROGRESS);
  if (s->pbs)
    printf("# The next job is a copy of this script: queue and account are kept, other options of qsub are not, so\n"
           "# write them here as lines of #PBS.\n");
  else
    printf(
        "# USR1 comes a minute or two before the limit: sim, which knows the limit, continues until its own margin.\n");
  if (s->tasks > 1)
    printf("# The %d tasks share the run, joined by the MPI plugin %s; when one of them dies srun ends all.\n",
           s->tasks, s->plugin);
  if (s->sweep > 0) printf("# Each task is a run of the sweep; the last one to end leaves sweep.csv whole.\n");
  if (*s->array && s->sweep == 0) printf("# Each task is the scenario with its number as the seed.\n");
}

static void print_option(const char *name, const char *value) {
  if (!value) return;
  printf(" %s ", name);
  quoted(value);
}

/* Prints the options of the run as given, and that a GPU of the job is to be used; every value is quoted. */
static void print_options(const script *s) {
  const cli_options *o = s->job->options;
  for (const char *const *set = o->sets; *set; set++) print_option("--set", *set);
  print_option("--precision", o->precision);
  if (o->seed_given) print_option("--seed", o->seed_text);
  if (strcmp(o->device, "auto") != 0)
    print_option("--device", o->device);
  else if (s->gpus > 0 && s->on_gpu)
    printf(" --device cuda");
  if (o->isa_given) print_option("--isa", sim_isa_name(o->isa));
  if (o->lua_seconds != 1.5) printf(" --lua-seconds %g", o->lua_seconds);
}

static void print_setting(const char *name, const char *value) {
  printf("%s=", name);
  quoted(value);
  printf("\n");
}

static void print_run(const script *s) {
  const cli_options *o = s->job->options;
  const char *task = s->pbs ? "PBS_ARRAY_INDEX" : "SLURM_ARRAY_TASK_ID", *output = s->job->output;
  printf("set -u\n");
  if (s->pbs) printf("cd \"$PBS_O_WORKDIR\" || exit 66\n");
  print_setting("sim", s->sim);
  print_setting("scenario", o->target);
  if (s->tasks > 1) print_setting("export SIM_MPI", s->plugin);
  if (s->sweep > 0) {
    print_setting("sweep", output);
    printf("out=$sweep/run_$(printf %%04d \"$%s\")\n", task);
  } else if (*s->array) {
    char stem[4096];
    size_t length = strlen(output);
    bool suffix = length > 4 && strcmp(output + length - 4, ".out") == 0;
    snprintf(stem, sizeof stem, "%.*s", (int)(suffix ? length - 4 : length), output);
    print_setting("stem", stem);
    printf("out=$stem.$%s.out\n", task);
  } else {
    print_setting("out", output);
  }
  printf("\nstep() { \"$sim\" status --value checkpoint_step \"$out\" 2>/dev/null; }\n"
         "before=$(step)\n");
  printf("echo \"job ${%s:-} on $(uname -n)%s, $(date)\"\n", s->pbs ? "PBS_JOBID" : "SLURM_JOB_ID",
         s->pbs ? "" : ", restart ${SLURM_RESTART_COUNT:-0}");
  if (!s->pbs) printf("srun%s ", s->tasks > 1 ? " --kill-on-bad-exit=1" : "");
  if (!s->pbs && s->mpi) printf("--mpi=%s ", s->mpi);
  if (!s->pbs) printf("--cpus-per-task=%d ", s->cpus);
  printf("\"$sim\" %s \"$scenario\"", s->sweep > 0 ? "sweep" : "run");
  print_options(s);
  if (s->sweep > 0)
    printf(" -o \"$sweep\" --only \"$%s\" --wall auto%s\n", task, o->yes ? " --yes" : "");
  else if (*s->array)
    printf(" --seed \"$%s\" -o \"$out\" --resume=auto --wall auto --no-progress\n", task);
  else
    printf(" -o \"$out\" --resume=auto --wall auto --no-progress\n");
  printf("code=$?\n");
  if (s->tasks > 1)
    printf("case $code in 9 | 15 | 137 | 143) # srun ends the tasks of a run that has ended in order by a signal\n"
           "  case $(\"$sim\" status --value state \"$out\" 2>/dev/null) in\n"
           "  done | stopped | failed) code=$(\"$sim\" status --value exit_code \"$out\") ;; # else it was killed\n"
           "  esac ;;\n"
           "esac\n");
}

static void print_requeue(const script *s) {
  printf("if [ \"$code\" -ne 75 ]; then\n"
         "  rm -f \"$out.idle\"\n"
         "  [ \"$code\" -eq 0 ] || echo \"exit $code: not put back into the queue; mend what is said above, then "
         "submit again\" >&2\n"
         "  exit \"$code\"\n"
         "fi\n\n"
         "idle=0\n"
         "[ \"$(step)\" != \"$before\" ] || idle=$(($(cat \"$out.idle\" 2>/dev/null || echo 0) + 1))\n"
         "echo \"$idle\" >\"$out.idle\" || exit 75\n"
         "if [ \"$idle\" -ge %d ]; then\n"
         "  echo \"no new checkpoint in %d jobs in a row: not requeued; give the job more time\" >&2\n"
         "  exit 75\n"
         "fi\n"
         "at=$(step)\n"
         "echo \"back into the queue; the next job continues ${at:+from step }${at:-from the start} in $out\"\n",
         REQUEUES_WITHOUT_PROGRESS, REQUEUES_WITHOUT_PROGRESS);
  if (!s->pbs)
    printf("scontrol requeue \"%s\"\n", *s->array ? "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
                                                  : "$SLURM_JOB_ID"); /* the last task has the array's id */
  else
    printf("queue=${PBS_O_QUEUE:-${PBS_QUEUE:-}}\n"
           "account=$(qstat -f \"${PBS_JOBID:-}\" 2>/dev/null | sed -n 's/^ *Account_Name = //p')\n"
           "sed '/^#PBS -J/d' \"$0\" >\"$out.job\"\n"
           "qsub ${queue:+-q \"$queue\"} ${account:+-A \"$account\"}%s \"$out.job\"\n",
           *s->array ? " -v PBS_ARRAY_INDEX=\"$PBS_ARRAY_INDEX\"" : "");
}

/* Refuses line breaks: they would end a comment and begin a line that the scheduler may interpret. */
static sim_status check_lines(const cli_job *job) {
  const cli_options *o = job->options;
  bool broken = strchr(o->target, '\n') || strchr(job->output, '\n');
  for (const char *const *set = o->sets; *set; set++) broken = broken || strchr(*set, '\n');
  return broken ? sim_fail(SIM_ERR_USAGE, "a name or a value with a line break cannot stand in a job script") : SIM_OK;
}

sim_status cli_script_print(const cli_job *job, size_t sweep) {
  const cli_options *o = job->options;
  script s;
  if (o->scheduler && strcmp(o->scheduler, "slurm") != 0 && strcmp(o->scheduler, "pbs") != 0)
    return sim_fail(SIM_ERR_USAGE, "--scheduler '%s': expected slurm or pbs", o->scheduler);
  if (o->array) SIM_TRY(check_array(o->array));
  if (o->array && strlen(o->array) >= sizeof s.array)
    return sim_fail(SIM_ERR_USAGE, "--array: longer than %zu characters", sizeof s.array - 1);
  if (sweep > TASK_MAX)
    return sim_fail(SIM_ERR_USAGE,
                    "--array: a sweep of %zu runs, the largest number of a task that a cluster accepts is %d", sweep,
                    TASK_MAX);
  SIM_TRY(check_lines(job));
  if (o->array && o->seed_given)
    return sim_fail(SIM_ERR_USAGE, "--array gives each task its number as the seed: it cannot be combined with --seed");
  fill(job, sweep, &s);
  SIM_TRY(fill_ranks(&s));
  print_directives(&s);
  print_comment(&s);
  print_run(&s);
  print_requeue(&s);
  return SIM_OK;
}
