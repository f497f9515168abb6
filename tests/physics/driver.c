#include "tests/physics/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The list that CMake makes for the command. */
const sim_model *const sim_models[] = {&nbody_model, NULL};

static void must(sim_status status, const char *what) {
  if (status != SIM_OK) fail_msg("%s: %s", what, sim_error_last()->message);
}

void driver_everywhere_in(sim_precision precision, void (*test)(driver_place place)) {
  for (const sim_backend *const *b = sim_backends; *b != NULL; b++) {
    if ((*b)->unavailable() != NULL || nbody_model.ops[(*b)->kind] == NULL) continue;
    if ((*b)->open != NULL) must((*b)->open(NULL), "open");
    print_message("  on %s, %s\n", (*b)->name, sim_precision_name(precision));
    test((driver_place){*b, precision});
  }
}

void driver_everywhere(void (*test)(driver_place place)) {
  for (sim_precision precision = SIM_SINGLE; precision <= SIM_DOUBLE; precision++)
    driver_everywhere_in(precision, test);
}

driver driver_make(driver_place place, nbody_scheme scheme, double dt, double t_end, double softening) {
  driver d = {.setup = {.backend = place.backend, .isa = sim_isa_best(), .threads = 2, .folder = ""}};
  d.parameters.common.seed = 1;
  d.parameters.common.precision = (int)place.precision;
  d.parameters.gravity = (nbody_gravity){.G = 1, .softening = softening};
  d.parameters.integrate = (nbody_integrate){
      .scheme = (int)scheme, .dt = dt, .eta = NAN, .dt_max = NAN, .t_end = t_end, .max_energy_error = NAN};
  return d;
}

void driver_add(driver *d, const sim_schema *schema, void *data) {
  assert_true(d->parameters.bodies.count < sizeof d->items / sizeof *d->items);
  nbody_group *group = data;
  if (group->species == NULL) group->species = "stars";
  d->items[d->parameters.bodies.count++] = (sim_item){.schema = schema, .data = data};
}

void driver_restore(driver *d, const sim_frame *saved) {
  sim_faults faults = {0};
  d->parameters.bodies.items = d->items;
  d->setup.saved = saved;
  must(nbody_model.validate(&d->parameters, &faults), "validate");
  if (faults.count > 0) fail_msg("%s", faults.text.data);
  must(nbody_model.create(&d->parameters, &d->setup, &d->clock, &d->self), "create");
}

void driver_create(driver *d) { driver_restore(d, NULL); }

void driver_step(driver *d) { must(nbody_model.step(d->self, &d->clock), "step"); }

void driver_run(driver *d) {
  while (d->clock.t < d->clock.t_end) driver_step(d);
}

void driver_destroy(driver *d) {
  nbody_model.destroy(&d->self);
  for (int k = 0; k < SIM_ARRAYS_MAX; k++) {
    free(d->copies[k]);
    d->copies[k] = NULL;
  }
}

double driver_value(driver *d, const char *table, const char *column) {
  double values[SIM_COLUMNS_MAX];
  const sim_table *const *tables = sim_model_tables(&nbody_model, &d->parameters);
  for (int t = 0; tables[t] != NULL; t++) {
    if (strcmp(tables[t]->name, table) != 0) continue;
    must(nbody_model.observe(d->self, &d->clock, t, values), "observe");
    for (int c = 0; tables[t]->columns[c].name != NULL; c++)
      if (strcmp(tables[t]->columns[c].name, column) == 0) return values[c];
  }
  fail_msg("no column %s in table %s", column, table);
  return NAN;
}

static void look(driver *d, driver_frame *out) {
  *out = (driver_frame){.frame.clock = d->clock};
  must(nbody_model.view(d->self, out->arrays, out->species, &out->frame), "view");
  out->frame.arrays = out->arrays;
  out->frame.species = out->species;
}

/* Bytes of an array, wherever it is. */
static void read_bytes(const driver *d, const sim_array *array, size_t first, size_t bytes, void *out) {
  const char *from = (const char *)array->data + first;
  if (array->space == SIM_SPACE_HOST)
    memcpy(out, from, bytes);
  else
    must(d->setup.backend->copy(out, from, bytes), "copy");
}

/* What an array holds, for the host to read; a device's is copied once a step. */
static const void *values_of(driver *d, driver_frame *now, const sim_array *array) {
  const size_t k = (size_t)(array - now->arrays);
  if (array->space == SIM_SPACE_HOST) return array->data;
  if (d->copies[k] != NULL && d->copied_at[k] == d->clock.step) return d->copies[k];
  if (d->copies[k] == NULL) d->copies[k] = malloc(sim_array_bytes(array));
  assert_non_null(d->copies[k]);
  read_bytes(d, array, 0, sim_array_bytes(array), d->copies[k]);
  d->copied_at[k] = d->clock.step;
  return d->copies[k];
}

double driver_get(driver *d, const char *array, int c, int64_t i) {
  driver_frame now;
  look(d, &now);
  const sim_array *a = sim_frame_array(&now.frame, array);
  assert_non_null(a);
  const void *values = values_of(d, &now, a);
  const int64_t at = c * a->shape[a->rank - 1] + i;
  return a->dtype == SIM_F32 ? (double)((const float *)values)[at] : ((const double *)values)[at];
}

int64_t driver_count(driver *d) {
  driver_frame now;
  look(d, &now);
  return sim_frame_array(&now.frame, "mass")->shape[0];
}

void driver_keep(driver *d, driver_frame *out) {
  look(d, out);
  for (size_t i = 0; i < out->frame.array_count; i++) {
    const size_t bytes = sim_array_bytes(&out->arrays[i]);
    void *copy = malloc(bytes);
    assert_non_null(copy);
    read_bytes(d, &out->arrays[i], 0, bytes, copy);
    out->arrays[i].data = copy;
    out->arrays[i].space = SIM_SPACE_HOST;
  }
  out->frame.arrays = out->arrays;
  out->frame.species = out->species;
}

void driver_frame_free(driver_frame *frame) {
  for (size_t i = 0; i < frame->frame.array_count; i++) free(frame->arrays[i].data);
  frame->frame.array_count = 0;
}

void driver_digest(driver *d, char out[33]) {
  driver_frame now;
  driver_keep(d, &now);
  must(sim_frame_check_finite(&now.frame), "state");
  sim_frame_digest(&now.frame, out);
  driver_frame_free(&now);
}
