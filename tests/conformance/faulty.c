/* The template with one planted fault. The environment variable FAULT names it (faults.sh). */
#define template_model faulty_template /* a library exports what begins with its name */
#include "tests/template/model.c"

#include <omp.h>

static bool has_fault(const char *name) {
  const char *fault = getenv("FAULT");
  return fault != NULL && strcmp(fault, name) == 0;
}

/* State that no checkpoint holds. */
static int64_t steps_made;
static void *taken;
static const sim_comm *comm;

static double *positions(void *self) { return ((template_state *)self)->position.data; }

static sim_status faulty_validate(void *parameters, sim_faults *faults) {
  template_parameters *p = parameters;
  if (template_model.validate) SIM_TRY(template_model.validate(parameters, faults));
  if (has_fault("encode")) p->rate *= 2;
  return SIM_OK;
}

static sim_status faulty_create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  if (has_fault("memory") && (taken = calloc(1, 4 << 20)) == NULL) return SIM_ERR_NO_MEMORY;
  comm = setup->comm;
  SIM_TRY(create(parameters, setup, clock, self));
  if (has_fault("reseal") && positions(*self)[0] > 1e9) abort();
  return SIM_OK;
}

/* Every rank sums its share of the coordinates. Added rank by rank, as a reduction of floating-point numbers would do,
 * the sum depends on the number of ranks. */
static sim_status sum_by_ranks(void *self, double *sum) {
  double own = 0, sums[SIM_RANKS_MAX];
  size_t end;
  const size_t count = 3 * (size_t)((template_state *)self)->parameters->n;
  for (size_t i = sim_comm_first(comm, count, &end); i < end; i++) own += positions(self)[i];
  SIM_TRY(comm->ops->gather(comm, &own, sizeof own, sums));
  *sum = 0;
  for (int r = 0; r < comm->size; r++) *sum += sums[r];
  return SIM_OK;
}

static sim_status faulty_step(void *self, sim_clock *clock) {
  double sum;
  SIM_TRY(step(self, clock));
  SIM_TRY(sum_by_ranks(self, &sum));
  if (has_fault("ranks")) positions(self)[0] += 0x1p-10 * sum;
  steps_made++;
  if (has_fault("state")) positions(self)[0] *= 1 + 0x1p-40 * (double)steps_made;
  if (has_fault("threads")) positions(self)[0] *= 1 + 0x1p-40 * omp_get_max_threads();
  return SIM_OK;
}

static sim_status faulty_observe(void *self, const sim_clock *clock, int table, double *values) {
  SIM_TRY(observe(self, clock, table, values));
  if (has_fault("tables")) values[SIZE_ERROR] += (double)(steps_made % 2);
  if (has_fault("outputs")) positions(self)[0] *= 1 + 0x1p-40;
  return SIM_OK;
}

static void faulty_destroy(void **self) {
  free(taken);
  taken = NULL;
  destroy(self);
}

/* The list of models sees it as const; it is filled in before `main`. */
extern sim_model faulty_model;
sim_model faulty_model;

__attribute__((constructor)) static void fill_in(void) {
  faulty_model = template_model;
  faulty_model.validate = faulty_validate;
  faulty_model.create = faulty_create;
  faulty_model.step = faulty_step;
  faulty_model.observe = faulty_observe;
  faulty_model.destroy = faulty_destroy;
  faulty_model.ranks = true;
  if (has_fault("precision")) faulty_model.precisions[SIM_SINGLE] = true;
  if (has_fault("example")) faulty_model.example = "return sim.template { n = 100, rate = 0.5 }\n";
}
