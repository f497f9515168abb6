/* Regression of exercise rules on a GPU: paths stay in device memory, the host solves the normal equations. Twin:
 * cpu/exercise.c. */
#include "engine/device/cuda.h"
#include "kernels/option/cuda/plan.h"
#include "kernels/option/payoff/exercise.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct regression {
  option_cuda_plan plan;
  sim_module *module;
  void *record, *step, *total; /* kernels */
  option_keys keys;
  void *table, *constants; /* on the device; on the host */
  int chunks;
  double *price, *cash, *partial, *sums; /* on the device: [dates][paths], [paths], [chunks][SUMS], [SUMS] */
} regression;

static void release(void *self) {
  regression *f = self;
  sim_backend_cuda.free(f->price);
  f->price = NULL;
}

static sim_status simulate(void *self, const option_rule *rule, int asset, int chunks) {
  static const sim_kernel recording = {"option_record", "exercise", SIM_LIMIT_FP64};
  regression *f = self;
  const size_t paths = (size_t)chunks * OPTION_CHUNK, dates = (size_t)rule->dates;
  void *device = NULL;
  SIM_TRY(sim_backend_cuda.alloc((paths * (dates + 1) + ((size_t)chunks + 1) * OPTION_REGRESSION_SUMS) * sizeof(double),
                                 &device));
  f->price = device;
  f->cash = f->price + paths * dates;
  f->partial = f->cash + paths;
  f->sums = f->partial + (size_t)chunks * OPTION_REGRESSION_SUMS;
  f->chunks = chunks;
  sim_cuda_failed((int)cudaMemsetAsync(f->cash, 0, paths * sizeof(double), sim_cuda_stream()), "cudaMemsetAsync",
                  "cash");
  option_recorder to = {f->price, (unsigned)paths, asset, rule->every};
  unsigned high = (unsigned)(OPTION_REGRESSION_FIRST >> 32), low = (unsigned)OPTION_REGRESSION_FIRST;
  option_cuda_launch(&recording, 50.0 * (double)paths * f->plan.steps * f->plan.assets, f->record,
                     (int)paths / OPTION_CUDA_THREADS, OPTION_CUDA_THREADS,
                     (void *[]){f->constants, &f->keys, &f->table, &high, &low, &to});
  return sim_queue_cuda.status();
}

static sim_status sums(void *self, const option_rule *rule, int date, const double *beta, double discount,
                       double *sum) {
  static const sim_kernel stepping = {"option_exercise", "exercise", SIM_LIMIT_BYTES},
                          adding = {"option_exercise_total", "exercise", SIM_LIMIT_BYTES};
  regression *f = self;
  const size_t paths = (size_t)f->chunks * OPTION_CHUNK;
  const double *now = f->price + (size_t)date * paths, *next = beta != NULL ? now + paths : now;
  option_regression_step step = {rule->sign, rule->strike, rule->centre,      rule->scale,
                                 discount,   {0},          (int)rule->degree, beta != NULL};
  if (beta != NULL) memcpy(step.beta, beta, sizeof step.beta);
  option_cuda_launch(&stepping, 32.0 * (double)paths, f->step, f->chunks, OPTION_CUDA_THREADS,
                     (void *[]){&step, &now, &next, &f->cash, &f->partial});
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

double option_cuda_policy_bytes(const option_parameters *p) {
  double most = 0;
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const option_payoff *o = p->payoffs.items[i].data;
    if (p->payoffs.items[i].schema == &option_american_schema)
      most = fmax(most, ((double)o->fit_paths + OPTION_CHUNK) * (double)(p->steps / o->every + 2) * sizeof(double));
  }
  return most;
}

sim_status option_cuda_policy(const option_parameters *p, const option_estimate *estimate, option_policy *out) {
  *out = (option_policy){0};
  if (option_cuda_policy_bytes(p) == 0) return SIM_OK;
  option_estimate *bare = calloc(1, sizeof *bare);
  regression *f = calloc(1, sizeof *f);
  sim_status status = bare == NULL || f == NULL ? sim_no_memory("early exercise") : SIM_OK;
  if (status == SIM_OK) {
    bare->markets = bare->signs = 1;
    bare->market[0] = estimate->market[0]; /* borrowed */
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
