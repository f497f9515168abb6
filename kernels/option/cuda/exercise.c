/* Regression of exercise rules on a GPU: paths stay in device memory, the host solves the normal equations. Each rank
 * keeps the paths of its share of the chunks; the chunks' sums of each date are gathered on the host, and every rank's
 * device adds them in the same order. Twin: cpu/exercise.c. */
#include "engine/device/cuda.h"
#include "kernels/option/cuda/plan.h"
#include "kernels/option/payoff/exercise.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct regression {
  const sim_comm *comm;
  option_cuda_plan plan;
  sim_module *module;
  void *record, *step, *total; /* kernels */
  option_keys keys;
  void *table, *constants; /* on the device; on the host */
  int chunks, share;       /* of all ranks; most of one rank */
  int first, own;          /* chunks of this rank: the first of them, and their number */
  double *price, *cash;    /* on the device, of this rank's paths: [dates][paths], [paths] */
  double *partial;         /* on the device, of all chunks: [ranks * share][SUMS] */
  double *sums;            /* on the device: [SUMS] */
  double *host;            /* on the host, as `partial`; only with several ranks */
} regression;

static void release(void *self) {
  regression *f = self;
  sim_backend_cuda.free(f->price);
  free(f->host);
  f->price = f->host = NULL;
}

static sim_status simulate(void *self, const option_rule *rule, int asset, int chunks) {
  static const sim_kernel recording = {"option_record", "exercise", SIM_LIMIT_FP64};
  regression *f = self;
  size_t end;
  f->chunks = chunks;
  f->share = (int)sim_comm_share(f->comm, (size_t)chunks);
  f->first = (int)sim_comm_first(f->comm, (size_t)chunks, &end);
  f->own = (int)end - f->first;
  const size_t paths = (size_t)f->own * OPTION_CHUNK, dates = (size_t)rule->dates;
  const size_t rows = (size_t)f->share * (size_t)f->comm->size, steps = (size_t)f->plan.steps * sizeof(int);
  void *device = NULL;
  if (f->comm->size > 1 && (f->host = calloc(rows, OPTION_REGRESSION_SUMS * sizeof(double))) == NULL)
    return sim_no_memory("early exercise");
  SIM_TRY(sim_backend_cuda.alloc((paths * (dates + 1) + (rows + 1) * OPTION_REGRESSION_SUMS) * sizeof(double) + steps,
                                 &device));
  f->price = device;
  f->cash = f->price + paths * dates;
  f->partial = f->cash + paths;
  f->sums = f->partial + rows * OPTION_REGRESSION_SUMS;
  int *date = (int *)(void *)(f->sums + OPTION_REGRESSION_SUMS);
  if (f->own == 0) return SIM_OK;
  sim_cuda_failed((int)cudaMemsetAsync(f->cash, 0, paths * sizeof(double), sim_cuda_stream()), "cudaMemsetAsync",
                  "cash");
  SIM_TRY(sim_backend_cuda.copy(date, rule->date, steps));
  option_recorder to = {f->price, date, (unsigned)paths, asset};
  const uint64_t path = OPTION_REGRESSION_FIRST + (uint64_t)f->first * OPTION_CHUNK;
  unsigned high = (unsigned)(path >> 32), low = (unsigned)path;
  option_cuda_launch(&recording, 50.0 * (double)paths * f->plan.steps * f->plan.assets, f->record,
                     (int)paths / OPTION_CUDA_THREADS, OPTION_CUDA_THREADS,
                     (void *[]){f->constants, &f->keys, &f->table, &high, &low, &to});
  return sim_queue_cuda.status();
}

/* Replaces this rank's sums of chunks by those of all ranks. */
static sim_status gather_chunks(regression *f) {
  const size_t sent = (size_t)f->share * OPTION_REGRESSION_SUMS * sizeof(double);
  char *own = (char *)f->host + (size_t)f->comm->rank * sent;
  if (f->comm->size == 1) return SIM_OK;
  if (f->own > 0)
    SIM_TRY(sim_backend_cuda.copy(own, (char *)f->partial + (size_t)f->comm->rank * sent,
                                  (size_t)f->own * OPTION_REGRESSION_SUMS * sizeof(double)));
  SIM_TRY(f->comm->ops->gather(f->comm, own, sent, f->host));
  return sim_backend_cuda.copy(f->partial, f->host, (size_t)f->comm->size * sent);
}

static sim_status sums(void *self, const option_rule *rule, int date, const double *beta, double discount,
                       double *sum) {
  static const sim_kernel stepping = {"option_exercise", "exercise", SIM_LIMIT_BYTES},
                          adding = {"option_exercise_total", "exercise", SIM_LIMIT_BYTES};
  regression *f = self;
  const size_t paths = (size_t)f->own * OPTION_CHUNK;
  const double *now = f->price + (size_t)date * paths, *next = beta != NULL ? now + paths : now;
  double *partial = f->partial + (size_t)f->first * OPTION_REGRESSION_SUMS;
  option_regression_step step = {rule->sign, rule->strike, rule->centre,      rule->scale,
                                 discount,   {0},          (int)rule->degree, beta != NULL};
  if (beta != NULL) memcpy(step.beta, beta, sizeof step.beta);
  if (f->own > 0)
    option_cuda_launch(&stepping, 32.0 * (double)paths, f->step, f->own, OPTION_CUDA_THREADS,
                       (void *[]){&step, &now, &next, &f->cash, &partial});
  SIM_TRY(gather_chunks(f));
  option_cuda_launch(&adding, 8.0 * f->chunks * OPTION_REGRESSION_SUMS, f->total, 1, 32 * OPTION_REGRESSION_SUMS,
                     (void *[]){&f->partial, &f->chunks, &f->sums});
  SIM_TRY(sim_backend_cuda.copy(sum, f->sums, OPTION_REGRESSION_SUMS * sizeof(double)));
  return sim_queue_cuda.status();
}

static sim_status load(regression *f) {
  sim_bytes text = {0};
  sim_status status = option_cuda_write_exercise(&f->plan, &text);
  sim_source source = option_cuda_source(&f->plan, &text);
  source.name = "option_exercise";
  if (status == SIM_OK) status = sim_module_create(&source, &f->module);
  if (status == SIM_OK) status = sim_module_kernel(f->module, "option_record", &f->record);
  f->step = option_cuda_regression_sums();
  f->total = option_cuda_regression_total();
  sim_bytes_free(&text);
  return status;
}

static sim_status make(regression *f, const option_parameters *p, const option_estimate *bare) {
  SIM_TRY(option_cuda_plan_record(p, bare, &f->plan));
  SIM_TRY(option_cuda_keys(p, &f->keys));
  SIM_TRY(load(f));
  const size_t table = (f->plan.table + 4) * sizeof(double);
  void *host = calloc(1, table);
  f->constants = calloc((size_t)f->plan.constants + 1, sizeof(double));
  sim_status status =
      host == NULL || f->constants == NULL ? sim_no_memory("the market") : sim_backend_cuda.alloc(table, &f->table);
  if (status == SIM_OK) {
    option_cuda_plan_fill(&f->plan, NULL, host, f->constants);
    status = sim_backend_cuda.copy(f->table, host, table);
  }
  free(host);
  return status;
}

double option_cuda_policy_bytes(const option_parameters *p, int ranks) {
  double most = 0;
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    if (p->payoffs.items[i].schema == &option_american_schema)
      most = fmax(most, (ceil((double)o->fit_paths / OPTION_CHUNK / ranks) + 1) * OPTION_CHUNK *
                            (double)(option_date_count(p, o) + 2) * sizeof(double));
  }
  return most;
}

sim_status option_cuda_policy(const option_parameters *p, const sim_comm *comm, const option_estimate *estimate,
                              option_policy *out) {
  *out = (option_policy){0};
  if (option_cuda_policy_bytes(p, comm->size) == 0) return SIM_OK;
  option_estimate *bare = calloc(1, sizeof *bare);
  regression *f = calloc(1, sizeof *f);
  sim_status status = bare == NULL || f == NULL ? sim_no_memory("early exercise") : SIM_OK;
  if (status == SIM_OK) {
    bare->markets = bare->signs = 1;
    bare->market[0] = estimate->market[0]; /* borrowed */
    f->comm = comm;
    status = make(f, p, bare);
  }
  if (status == SIM_OK)
    status = option_policy_regress(
        p, &estimate->market[0],
        &(option_regression){.self = f, .simulate = simulate, .sums = sums, .release = release}, out);
  if (f != NULL) {
    option_cuda_plan_free(&f->plan);
    sim_module_free(&f->module);
    sim_backend_cuda.free(f->table);
    sim_backend_cuda.free((void *)(uintptr_t)f->keys.mrg);
    free(f->constants);
  }
  free(f);
  free(bare);
  return status;
}
