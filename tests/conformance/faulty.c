/* The template with one planted fault, which the environment variable FAULT names (faults.sh). */
#include "tests/template/model.c"

#include <omp.h>

static bool has_fault(const char *name) {
  const char *fault = getenv("FAULT");
  return fault != NULL && strcmp(fault, name) == 0;
}

/* What no checkpoint holds. */
static int64_t steps_made;
static void *taken;

static double *positions(void *self) { return ((template_state *)self)->position.data; }

static sim_status faulty_validate(void *parameters, sim_faults *faults) {
  (void)faults;
  template_parameters *p = parameters;
  if (has_fault("encode")) p->rate *= 2;
  return SIM_OK;
}

static sim_status faulty_create(const void *parameters, const sim_setup *setup, sim_clock *clock, void **self) {
  if (has_fault("example")) return sim_fail(SIM_ERR_SCENARIO, "the example does not run");
  if (has_fault("memory") && (taken = calloc(1, 4 << 20)) == NULL) return SIM_ERR_NO_MEMORY;
  if (has_fault("reseal") && setup->saved && !(setup->saved->clock.dt < 1)) abort();
  return create(parameters, setup, clock, self);
}

static sim_status faulty_step(void *self, sim_clock *clock) {
  SIM_TRY(step(self, clock));
  steps_made++;
  if (has_fault("state")) positions(self)[0] *= 1 + 0x1p-40 * (double)steps_made;
  if (has_fault("threads")) positions(self)[0] *= 1 + 0x1p-40 * omp_get_max_threads();
  if (has_fault("device") && clock->step == 5) positions(self)[0] *= 2;
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

extern const sim_model faulty_model;
const sim_model faulty_model = {
    .name = "template",
    .doc = "the template with a planted fault",
    .example = "return sim.template { n = 100, rate = 0.5, integrate = { dt = 1/64, t_end = 2 } }\n",
    .references = (const char *const[]){NULL},
    .parameters = &parameter_schema,
    .tables = (const sim_table *const[]){&size_table, NULL},
    .state = state_fields,
    .work_unit = "points",
    .ops = {[SIM_BACKEND_CPU] = &ops_cpu},
    .validate = faulty_validate,
    .plan = plan,
    .create = faulty_create,
    .step = faulty_step,
    .observe = faulty_observe,
    .view = view,
    .describe = describe,
    .destroy = faulty_destroy,
};
