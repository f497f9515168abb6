#include DRIVER_HEADER

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The list of models that CMake makes for the command. */
const sim_model *const sim_models[] = {&DRIVER_MODEL, NULL};

void driver_must(sim_status status, const char *what) {
  if (status != SIM_OK) fail_msg("%s: %s", what, sim_error_last()->message);
}

void driver_restore(driver *d, const sim_frame *saved) {
  sim_faults faults = {0};
  driver_join(d);
  d->setup.saved = saved;
  driver_must(DRIVER_MODEL.validate(&d->parameters, &faults), "validate");
  if (faults.count > 0) fail_msg("%s", faults.text.data);
  driver_must(DRIVER_MODEL.create(&d->parameters, &d->setup, &d->clock, &d->self), "create");
}

void driver_create(driver *d) { driver_restore(d, NULL); }

void driver_step(driver *d) { driver_must(DRIVER_MODEL.step(d->self, &d->clock), "step"); }

void driver_run(driver *d) {
  while (d->clock.t < d->clock.t_end) driver_step(d);
}

void driver_until(driver *d, double t) {
  while (d->clock.t < t) driver_step(d);
}

void driver_destroy(driver *d) {
  DRIVER_MODEL.destroy(&d->self);
  for (int k = 0; k < SIM_ARRAYS_MAX; k++) {
    free(d->copies[k]);
    d->copies[k] = NULL;
  }
}

double driver_value(driver *d, const char *table, const char *column) {
  double values[SIM_COLUMNS_MAX];
  const sim_table *const *tables = sim_model_tables(&DRIVER_MODEL, &d->parameters);
  for (int t = 0; tables[t] != NULL; t++) {
    if (strcmp(tables[t]->name, table) != 0) continue;
    driver_must(DRIVER_MODEL.observe(d->self, &d->clock, t, values), "observe");
    for (int c = 0; tables[t]->columns[c].name != NULL; c++)
      if (strcmp(tables[t]->columns[c].name, column) == 0) return values[c];
  }
  fail_msg("no column %s in table %s", column, table);
  return NAN;
}

void driver_look(driver *d, driver_frame *out) {
  *out = (driver_frame){.frame.clock = d->clock};
  driver_must(DRIVER_MODEL.view(d->self, out->arrays, out->species, &out->frame), "view");
  out->frame.arrays = out->arrays;
  out->frame.species = out->species;
}

/* Copies a whole array to the host from any memory. */
static void read_array(const driver *d, const sim_array *array, void *out) {
  if (array->space == SIM_SPACE_HOST)
    memcpy(out, array->data, sim_array_bytes(array));
  else
    driver_must(d->setup.backend->copy(out, array->data, sim_array_bytes(array)), "copy");
}

/* Returns an array's values in host memory. A device's array is copied once a step. */
static const void *values_of(driver *d, driver_frame *now, const sim_array *array) {
  const size_t k = (size_t)(array - now->arrays);
  if (array->space == SIM_SPACE_HOST) return array->data;
  if (d->copies[k] != NULL && d->copied_at[k] == d->clock.step) return d->copies[k];
  if (d->copies[k] == NULL) d->copies[k] = malloc(sim_array_bytes(array));
  assert_non_null(d->copies[k]);
  read_array(d, array, d->copies[k]);
  d->copied_at[k] = d->clock.step;
  return d->copies[k];
}

double driver_get(driver *d, const char *array, int c, int64_t i) {
  driver_frame now;
  driver_look(d, &now);
  const sim_array *a = sim_frame_array(&now.frame, array);
  assert_non_null(a);
  const void *values = values_of(d, &now, a);
  const int64_t at = c * a->shape[a->rank - 1] + i;
  return a->dtype == SIM_F32   ? (double)((const float *)values)[at]
         : a->dtype == SIM_U64 ? (double)((const uint64_t *)values)[at]
                               : ((const double *)values)[at];
}

void driver_keep(driver *d, driver_frame *out) {
  driver_look(d, out);
  for (size_t i = 0; i < out->frame.array_count; i++) {
    void *copy = malloc(sim_array_bytes(&out->arrays[i]) + 1);
    assert_non_null(copy);
    read_array(d, &out->arrays[i], copy);
    out->arrays[i].data = copy;
    out->arrays[i].space = SIM_SPACE_HOST;
  }
}

void driver_frame_free(driver_frame *frame) {
  for (size_t i = 0; i < frame->frame.array_count; i++) free(frame->arrays[i].data);
  frame->frame.array_count = 0;
}

void driver_digest(driver *d, char out[33]) {
  driver_frame now;
  driver_keep(d, &now);
  driver_must(sim_frame_check_finite(&now.frame), "state");
  sim_frame_digest(&now.frame, out);
  driver_frame_free(&now);
}
