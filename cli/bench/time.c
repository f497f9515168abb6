/* Times the steps of a scenario, of a model's row or of a file, by the same decoding, planning and stepping as a
 * run. */
#include "cli/bench/bench.h"
#include "cli/run/ranks.h"
#include "engine/wall_clock.h"
#include "kernels/common/fft/fft.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FOLLOW = 256 }; /* steps enqueued before the host waits for earlier ones */

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Creates a scenario file in memory: "/proc/self/fd/5". */
static sim_status open_scenario(const char *text, int *fd, char path[32]) {
  const size_t size = strlen(text);
  *fd = memfd_create("sim-bench", MFD_CLOEXEC);
  if (*fd < 0 || write(*fd, text, size) != (ssize_t)size)
    return sim_fail(SIM_ERR_IO, "no memory file for a scenario: %s", strerror(errno));
  snprintf(path, 32, "/proc/self/fd/%d", *fd);
  return SIM_OK;
}

/* ---- steps ---- */

typedef struct stepper {
  const sim_model *model;
  const sim_backend *backend;
  const sim_comm *comm;
  bool endless; /* resets the clock at the end of the run; a Monte Carlo run then draws the same paths again */
  bool lazy;    /* whether the plan also times the computation of the state, after each step and after a reset */
  sim_clock start, clock;
  void *self;
} stepper;

/* Computes the state at the present time. */
static sim_status view(stepper *s) {
  sim_array arrays[SIM_ARRAYS_MAX];
  sim_species species[SIM_SPECIES_MAX];
  sim_frame frame = {.clock = s->clock, .arrays = arrays, .species = species};
  return s->model->view(s->self, arrays, species, &frame);
}

/* Makes one step, or resets the clock at the end of the run. */
static sim_status advance(stepper *s) {
  const bool ended = s->clock.t >= s->clock.t_end;
  if (ended && !s->endless)
    return sim_fail(SIM_ERR_USAGE, "the run ends after %lld steps: expected a longer one, or fewer --warm and --steps",
                    (long long)s->clock.step);
  if (cli_requests.stop || cli_requests.warning) return sim_fail(SIM_ERR_STOPPED, "interrupted");
  if (ended) s->clock = s->start;
  if (!ended || !s->lazy) SIM_TRY(s->model->step(s->self, &s->clock));
  return s->lazy ? view(s) : SIM_OK;
}

/* Times `steps` steps. *seconds: duration on the slowest rank until the device has finished. *waited: seconds of these
 * in which this rank waited for others, also for the slowest one at the end; may be NULL. */
static sim_status take(stepper *s, long steps, double *seconds, double *waited) {
  uint64_t ns;
  SIM_TRY(sim_comm_agree(s->comm, 0, &ns)); /* all ranks begin together */
  const double begin = sim_wall_clock(), before = sim_comm_counted(s->comm).waited;
  for (long k = 0; k < steps; k++) {
    SIM_TRY(advance(s));
    if (s->backend->queue && k % FOLLOW == FOLLOW - 1) SIM_TRY(s->backend->queue->throttle());
  }
  if (s->backend->queue) SIM_TRY(s->backend->queue->finish());
  const double within = sim_comm_counted(s->comm).waited - before, own = sim_wall_clock() - begin;
  SIM_TRY(sim_comm_agree(s->comm, (uint64_t)(1e9 * own), &ns));
  *seconds = 1e-9 * (double)ns;
  if (waited) *waited = within + fmax(0, *seconds - own);
  return SIM_OK;
}

/* Makes untimed steps for `pace->warm` seconds, at most as many as the row requires; *batch: steps of one repeat. */
static sim_status warm_up(stepper *s, const sim_bench *row, const bench_pace *pace, long *warm, long *batch) {
  double spent = 0, last = 0;
  long steps = 1;
  if (pace->batch > 0) {
    *batch = pace->batch;
    return take(s, *warm = row->warm_steps, &spent, NULL);
  }
  SIM_TRY(take(s, 1, &last, NULL)); /* includes page faults, creation of threads, and graphs */
  for (*warm = 1; *warm < row->warm_steps && spent < pace->warm && last < pace->warm; *warm += steps) {
    if (last < 0.1 * pace->warm) steps *= 2;
    if (steps > row->warm_steps - *warm) steps = row->warm_steps - *warm;
    SIM_TRY(take(s, steps, &last, NULL));
    spent += last;
  }
  for (*batch = 1; last < pace->repeat || steps > 1; *batch *= 2) {
    steps = 1;
    SIM_TRY(take(s, *batch, &last, NULL));
    *warm += *batch;
    if (last >= 0.25 * pace->repeat) break;
  }
  *batch = (long)ceil(fmax(1, pace->repeat / last * (double)*batch));
  return SIM_OK;
}

static sim_status repeat(stepper *s, const bench_pace *pace, double work, bench_result *out) {
  double rates[64], spent = 0, waited = 0;
  long batch;
  SIM_TRY(warm_up(s, out->row, pace, &out->warm, &batch));
  while (out->repeats < pace->repeats && (out->repeats < 2 || spent < 3 * pace->repeat * pace->repeats)) {
    double seconds, idle;
    SIM_TRY(take(s, batch, &seconds, &idle));
    waited += idle;
    rates[out->repeats++] = work * (double)batch / seconds;
    spent += seconds;
  }
  out->waited = waited / spent;
  qsort(rates, (size_t)out->repeats, sizeof rates[0], compare);
  out->steps = batch * out->repeats;
  out->least = rates[0];
  out->median = 0.5 * (rates[out->repeats / 2] + rates[(out->repeats - 1) / 2]);
  out->most = rates[out->repeats - 1];
  out->step = work / out->median;
  return SIM_OK;
}

/* Prepares the scenario and times its steps. The caller destroys s->self, also after a failure. */
static sim_status time_job(cli_job *job, const bench_pace *pace, stepper *s, bench_result *out) {
  job->setup.comm = s->comm = cli_comm();
  SIM_TRY(cli_prepare_scenario(job));
  SIM_TRY(cli_prepare_device(job));
  SIM_TRY(cli_prepare_memory(job));
  s->model = out->model = job->model;
  s->backend = job->setup.backend;
  s->lazy = job->plan.lazy;
  s->endless |= s->lazy;
  out->device = job->setup.backend->kind;
  out->threads = job->setup.threads;
  out->isa = job->setup.isa;
  SIM_TRY(job->model->create(job->parameters, &job->setup, &s->clock, &s->self));
  s->start = s->clock;
  return repeat(s, pace, job->plan.work_per_step, out);
}

/* A row at one size, as a scenario file in memory. */
typedef struct row_job {
  cli_options given;
  cli_job job;
  char path[32], size[64];
  int fd;
} row_job;

static sim_status open_row(const sim_bench *row, const cli_options *options, const char *device, int threads, int n,
                           const char *grows, row_job *out) {
  *out = (row_job){.fd = -1};
  snprintf(out->size, sizeof out->size, "%s=%d", grows ? grows : "n", n);
  out->given = (cli_options){.command = CLI_RUN,
                             .target = out->path,
                             .sets = {out->size},
                             .device = device,
                             .isa = options->isa,
                             .isa_given = options->isa_given,
                             .threads = threads,
                             .oversubscribe = options->oversubscribe,
                             .wall = INFINITY,
                             .lua_seconds = options->lua_seconds};
  out->job.options = &out->given;
  return open_scenario(row->scenario, &out->fd, out->path);
}

static void close_row(row_job *r) {
  cli_prepare_free(&r->job);
  if (r->fd >= 0) close(r->fd);
}

sim_status cli_bench_time(const sim_model *model, const sim_bench *row, const cli_options *options, const char *device,
                          int threads, int n, const bench_pace *pace, bench_result *out) {
  static row_job r;
  stepper s = {.endless = true};
  *out = (bench_result){.model = model, .row = row, .n = n, .share = NAN};
  sim_status status = open_row(row, options, device, threads, n, pace->scaling ? row->grows : NULL, &r);
  if (status == SIM_OK) status = time_job(&r.job, pace, &s, out);
  out->cost = row->cost(out->device, out->isa, n);
  if (pace->scaling && row->grows) out->step *= r.job.plan.steps;
  if (s.self) model->destroy(&s.self);
  close_row(&r);
  return status;
}

sim_status cli_bench_work(const sim_bench *row, const cli_options *options, const char *device, int threads, int n,
                          double *work) {
  static row_job r;
  sim_status status = open_row(row, options, device, threads, n, NULL, &r);
  if (status == SIM_OK) status = cli_prepare_scenario(&r.job);
  if (status == SIM_OK) status = cli_prepare_device(&r.job);
  *work = r.job.plan.work_per_step;
  close_row(&r);
  return status;
}

/* ---- a scenario of the user ---- */

/* Computes and prints a row of each table, one line each: "contacts: collisions 12, rate 0.5". */
static sim_status print_tables(const cli_job *job, const stepper *s) {
  double values[SIM_COLUMNS_MAX];
  const sim_table *const *tables = sim_model_tables(job->model, job->parameters);
  for (size_t t = 0; tables[t]; t++) {
    SIM_TRY(s->model->observe(s->self, &s->clock, t, values));
    printf("  %s:", tables[t]->name);
    for (size_t c = 0; tables[t]->columns[c].name; c++)
      printf("%s %s %.6g", c ? "," : "", tables[t]->columns[c].name, values[c]);
    puts("");
  }
  return SIM_OK;
}

static sim_status print_scenario(const cli_job *job, const stepper *s, const bench_result *r) {
  printf("%s, %s, %d thread%s: %.4g %s/s (-%.1f +%.1f %%), %.4g ms a step, %ld steps after %ld\n", job->options->target,
         r->device == SIM_BACKEND_CPU ? "cpu" : "gpu", r->threads, r->threads == 1 ? "" : "s", r->median,
         r->model->work_unit, 100 * (1 - r->least / r->median), 100 * (r->most / r->median - 1), 1e3 * r->step,
         r->steps, r->warm);
  return print_tables(job, s);
}

sim_status cli_bench_scenario(const cli_options *options, const bench_pace *pace, bench_result *out) {
  const sim_bench row = {.warm_steps = options->steps ? options->warm : 1500};
  cli_job job = {.options = options};
  stepper s = {0};
  bench_result r = {.row = &row};
  sim_status status = time_job(&job, pace, &s, &r);
  if (status == SIM_OK && !out) status = print_scenario(&job, &s, &r);
  if (s.self) job.model->destroy(&s.self);
  cli_prepare_free(&job);
  r.row = NULL;
  if (out) *out = r;
  return status;
}

/* ---- transforms ---- */

sim_status cli_bench_fft(sim_isa isa, int threads, double seconds, double *out) {
  enum { N = 1024, TIMES = 32 };
  fft_plan *plan;
  SIM_TRY(fft_plan_create(N, FFT_PERIODIC, true, isa, &plan));
  const size_t column = (size_t)N * 128, each = 2 * column + (fft_work_bytes(plan) + 63) / 64 * 64;
  const double flop = 5.0 * N * 10 * fft_group(true) * TIMES, begin = sim_wall_clock();
  void *data;
  sim_status status = sim_backend_cpu.alloc(each * (size_t)threads, &data);
  *out = 0;
  while (status == SIM_OK && (*out == 0 || sim_wall_clock() - begin < seconds)) {
    double all = 0;
#pragma omp parallel num_threads(threads)
    {
      char *mine = (char *)data + each * (size_t)omp_get_thread_num();
      const double from = sim_wall_clock();
      for (int k = 0; k < TIMES; k++) fft_forward(plan, mine, 1, mine + column, 1, mine + 2 * column, NULL);
      const double rate = flop / (sim_wall_clock() - from);
#pragma omp critical
      all += rate;
    }
    *out = fmax(*out, all);
  }
  if (status == SIM_OK) sim_backend_cpu.free(data);
  fft_plan_destroy(&plan);
  return status;
}
