/* Regression of exercise rules on a GPU: paths stay in device memory, the host solves the normal equations. Each rank
 * keeps the paths of its share of the chunks; the chunks' sums of each date are gathered on the host, and every rank's
 * device adds them in the same order. Twin: cpu/exercise.c. */
#include "engine/device/cuda.h"
#include "kernels/option/cuda/regression.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void option_cuda_release(option_cuda_regression *f) {
  sim_backend_cuda.free(f->price);
  free(f->host);
  f->price = f->host = NULL;
}

static void release(void *self) { option_cuda_release(self); }

static size_t table_bytes(const option_cuda_regression *f) { return (f->plan.table + 4) * sizeof(double); }

/* Fills the table and the constants of a market's paths. */
static sim_status set_market(option_cuda_regression *f, const option_market *market) {
  f->bare->market[0] = *market; /* borrowed */
  memset(f->host_table, 0, table_bytes(f));
  option_cuda_plan_fill(&f->plan, NULL, f->host_table, f->constants);
  return sim_backend_cuda.copy(f->table, f->host_table, table_bytes(f));
}

/* Simulates the units [first, end) of OPTION_STARTS_UNIT paths, those of other ranks left out. */
static void run_paths(option_cuda_regression *f, const option_recorder *all, int first, int end) {
  static const sim_kernel recording = {"option_record", "exercise", SIM_LIMIT_FP64};
  enum { UNIT = OPTION_STARTS_UNIT, UNITS = OPTION_CHUNK / UNIT };
  _Static_assert((int)UNIT % (int)OPTION_CUDA_THREADS == 0, "a start has whole blocks of threads");
  const int mine = f->first * UNITS, last = mine + f->own * UNITS;
  first = first > mine ? first : mine;
  end = end < last ? end : last;
  if (first >= end) return;
  const size_t before = (size_t)(first - mine) * UNIT, paths = (size_t)(end - first) * UNIT;
  option_recorder to = *all;
  to.out += before;
  const uint64_t path = OPTION_REGRESSION_FIRST + (uint64_t)first * UNIT;
  unsigned high = (unsigned)(path >> 32), low = (unsigned)path;
  option_cuda_launch(&recording, 50.0 * (double)paths * f->plan.steps * f->plan.assets, f->record,
                     (int)paths / OPTION_CUDA_THREADS, OPTION_CUDA_THREADS,
                     (void *[]){f->constants, &f->keys, &f->table, &high, &low, &to});
}

static sim_status run_starts(option_cuda_regression *f, const option_recorder *to) {
  const int count = option_starts_count(f->starts, f->chunks);
  sim_status status = SIM_OK;
  for (int k = 0; k < count && status == SIM_OK; k++) {
    option_market market;
    int first, end;
    option_starts_units(k, count, f->chunks, &first, &end);
    if (count > 1) SIM_TRY(option_starts_market(f->starts, k, &market));
    status = set_market(f, count > 1 ? &market : f->market);
    if (status == SIM_OK) run_paths(f, to, first, end);
    f->bare->market[0] = *f->market;
    if (count > 1) option_market_free(&market);
  }
  return status;
}

sim_status option_cuda_simulate(option_cuda_regression *f, const option_rule *rule, int asset, int chunks) {
  size_t end;
  f->chunks = chunks;
  f->prices = asset < 0 ? option_rule_inputs(rule, f->plan.assets) + (f->market->rates != NULL) : 1;
  f->share = (int)sim_comm_share(f->comm, (size_t)chunks);
  f->first = (int)sim_comm_first(f->comm, (size_t)chunks, &end);
  f->own = (int)end - f->first;
  const size_t paths = option_cuda_regression_paths(f), kept = paths * (size_t)rule->dates * (size_t)f->prices;
  const size_t rows = (size_t)f->share * (size_t)f->comm->size, each = (size_t)f->sums_each;
  const size_t steps = (size_t)f->plan.steps * sizeof(int);
  void *device = NULL;
  if (f->comm->size > 1 && (f->host = calloc(rows, each * sizeof(double))) == NULL)
    return sim_no_memory("early exercise");
  SIM_TRY(sim_backend_cuda.alloc((kept + paths + (rows + 1) * each) * sizeof(double) + steps, &device));
  f->price = device;
  f->cash = f->price + kept;
  f->partial = f->cash + paths;
  f->sums = f->partial + rows * each;
  int *date = (int *)(void *)(f->sums + each);
  if (f->own == 0) return SIM_OK;
  sim_cuda_failed((int)cudaMemsetAsync(f->cash, 0, paths * sizeof(double), sim_cuda_stream()), "cudaMemsetAsync",
                  "cash");
  SIM_TRY(sim_backend_cuda.copy(date, rule->date, steps));
  option_recorder to = {f->price,           date,         (unsigned)paths, asset, f->prices,
                        rule->volatilities, rule->maxima, rule->rate};
  SIM_TRY(run_starts(f, &to));
  return sim_queue_cuda.status();
}

static sim_status simulate(void *self, const option_rule *rule, int asset, int chunks) {
  option_cuda_regression *f = self;
  f->sums_each = OPTION_REGRESSION_SUMS;
  return option_cuda_simulate(f, rule, asset, chunks);
}

double *option_cuda_partial(const option_cuda_regression *f, int each) {
  return f->partial + (size_t)f->first * (size_t)each;
}

/* Replaces this rank's sums of chunks by those of all ranks. */
static sim_status gather_chunks(option_cuda_regression *f, int each) {
  const size_t row = (size_t)each * sizeof(double), sent = (size_t)f->share * row;
  char *own = (char *)f->host + (size_t)f->comm->rank * sent;
  if (f->comm->size == 1) return SIM_OK;
  if (f->own > 0)
    SIM_TRY(sim_backend_cuda.copy(own, (char *)f->partial + (size_t)f->comm->rank * sent, (size_t)f->own * row));
  SIM_TRY(f->comm->ops->gather(f->comm, own, sent, f->host));
  return sim_backend_cuda.copy(f->partial, f->host, (size_t)f->comm->size * sent);
}

sim_status option_cuda_total(option_cuda_regression *f, int each, double *sum) {
  static const sim_kernel adding = {"option_exercise_total", "exercise", SIM_LIMIT_BYTES};
  SIM_TRY(gather_chunks(f, each));
  option_cuda_launch(&adding, 8.0 * f->chunks * each, f->total, (each + 31) / 32, OPTION_CUDA_THREADS,
                     (void *[]){&f->partial, &f->chunks, &each, &f->sums});
  SIM_TRY(sim_backend_cuda.copy(sum, f->sums, (size_t)each * sizeof(double)));
  return sim_queue_cuda.status();
}

static sim_status sums(void *self, const option_rule *rule, int date, const double *beta, double discount,
                       double *sum) {
  static const sim_kernel stepping = {"option_exercise", "exercise", SIM_LIMIT_BYTES};
  option_cuda_regression *f = self;
  const size_t paths = option_cuda_regression_paths(f);
  const double *now = f->price + (size_t)date * paths, *next = beta != NULL ? now + paths : now;
  double *partial = option_cuda_partial(f, OPTION_REGRESSION_SUMS);
  option_regression_step step = {rule->sign, rule->strike, rule->centre,      rule->scale,
                                 discount,   {0},          (int)rule->degree, beta != NULL};
  if (beta != NULL) memcpy(step.beta, beta, sizeof step.beta);
  if (f->own > 0)
    option_cuda_launch(&stepping, 32.0 * (double)paths, f->step, f->own, OPTION_CUDA_THREADS,
                       (void *[]){&step, &now, &next, &f->cash, &partial});
  return option_cuda_total(f, OPTION_REGRESSION_SUMS, sum);
}

static sim_status load(option_cuda_regression *f) {
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

static sim_status make(option_cuda_regression *f, const option_parameters *p) {
  SIM_TRY(option_cuda_plan_record(p, f->bare, &f->plan));
  SIM_TRY(option_cuda_keys(p, &f->keys));
  SIM_TRY(load(f));
  f->host_table = malloc(table_bytes(f));
  f->constants = calloc((size_t)f->plan.constants + 1, sizeof(double));
  if (f->host_table == NULL || f->constants == NULL) return sim_no_memory("the market");
  return sim_backend_cuda.alloc(table_bytes(f), &f->table);
}

sim_status option_cuda_policy(const option_starts *starts, const sim_comm *comm, option_policy *out) {
  const option_parameters *p = starts->p;
  *out = (option_policy){0};
  if (option_policy_bytes(p, comm->size) == 0) return SIM_OK;
  option_estimate *bare = calloc(1, sizeof *bare);
  option_cuda_regression *f = calloc(1, sizeof *f);
  sim_status status = bare == NULL || f == NULL ? sim_no_memory("early exercise") : SIM_OK;
  if (status == SIM_OK) {
    bare->markets = bare->signs = 1;
    bare->market[0] = *starts->market; /* borrowed */
    f->comm = comm;
    f->market = starts->market;
    f->starts = starts;
    f->bare = bare;
    status = make(f, p);
  }
  if (status == SIM_OK)
    status = option_policy_regress(
        p, f->market,
        &(option_regression){
            .self = f, .simulate = simulate, .sums = sums, .release = release, .joint = option_cuda_joint},
        out);
  if (f != NULL) {
    option_cuda_plan_free(&f->plan);
    sim_module_free(&f->module);
    sim_backend_cuda.free(f->table);
    sim_backend_cuda.free((void *)(uintptr_t)f->keys.mrg);
    free(f->host_table);
    free(f->constants);
  }
  free(f);
  free(bare);
  return status;
}
