#include "tests/collision/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The list that CMake makes for the command. */
const sim_model *const sim_models[] = {&collision_model, NULL};

static void must(sim_status status, const char *what) {
  if (status != SIM_OK) fail_msg("%s: %s", what, sim_error_last()->message);
}

collision_values driver_values(void) {
  return (collision_values){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
}

driver driver_make(sim_precision precision, double dt, double t_end) {
  driver d = {.setup = {.backend = &sim_backend_cpu, .isa = sim_isa_best(), .threads = 2, .folder = ""}};
  d.parameters.common.seed = 1;
  d.parameters.common.precision = (int)precision;
  d.parameters.contact.values = driver_values();
  d.parameters.integrate = (collision_integrate){.dt = dt, .steps_per_contact = 50, .skin = NAN, .t_end = t_end};
  driver_box(&d, 100, COLLISION_OPEN);
  for (int c = 0; c < 3; c++) d.parameters.box.origin[c] = -50;
  return d;
}

void driver_box(driver *d, double size, collision_side side) {
  d->parameters.box = (collision_box){.size = {size, size, size}, .boundary = (int)side - 1};
}

void driver_add(driver *d, const sim_schema *schema, void *data) {
  assert_true(d->parameters.grains.count < sizeof d->items / sizeof *d->items);
  collision_group *group = data;
  if (group->species == NULL) group->species = "grains";
  if (group->material == NULL) group->material = "grain";
  if (group->density == 0) group->density = 1;
  d->items[d->parameters.grains.count++] = (sim_item){.schema = schema, .data = data};
}

void driver_wall(driver *d, const sim_schema *schema, void *data) {
  assert_true(d->parameters.walls.count < sizeof d->wall_items / sizeof *d->wall_items);
  collision_plane *wall = data; /* material comes first in all */
  if (wall->material == NULL) wall->material = "wall";
  d->wall_items[d->parameters.walls.count++] = (sim_item){.schema = schema, .data = data};
}

void driver_restore(driver *d, const sim_frame *saved) {
  sim_faults faults = {0};
  d->parameters.grains.items = d->items;
  d->parameters.walls.items = d->wall_items;
  d->setup.saved = saved;
  must(collision_model.validate(&d->parameters, &faults), "validate");
  if (faults.count > 0) fail_msg("%s", faults.text.data);
  must(collision_model.create(&d->parameters, &d->setup, &d->clock, &d->self), "create");
}

void driver_create(driver *d) { driver_restore(d, NULL); }

void driver_step(driver *d) { must(collision_model.step(d->self, &d->clock), "step"); }

void driver_run(driver *d) {
  while (d->clock.t < d->clock.t_end) driver_step(d);
}

void driver_until(driver *d, double t) {
  while (d->clock.t < t) driver_step(d);
}

void driver_destroy(driver *d) { collision_model.destroy(&d->self); }

double driver_value(driver *d, const char *table, const char *column) {
  double values[SIM_COLUMNS_MAX];
  const sim_table *const *tables = collision_model.tables_of(&d->parameters);
  for (int t = 0; tables[t] != NULL; t++) {
    if (strcmp(tables[t]->name, table) != 0) continue;
    must(collision_model.observe(d->self, &d->clock, t, values), "observe");
    for (int c = 0; tables[t]->columns[c].name != NULL; c++)
      if (strcmp(tables[t]->columns[c].name, column) == 0) return values[c];
  }
  fail_msg("no column %s in table %s", column, table);
  return NAN;
}

sim_expr *driver_function(const char *const *inputs, sim_expr_op op, int a, int b, double factor, int results) {
  sim_expr_builder *builder;
  sim_expr_ref in[4], number, product, zero, out[3];
  sim_expr *expr = NULL;
  assert_int_equal(sim_expr_builder_create(&builder), SIM_OK);
  for (int i = 0; inputs[i] != NULL; i++) assert_int_equal(sim_expr_builder_input(builder, inputs[i], &in[i]), SIM_OK);
  assert_int_equal(sim_expr_builder_number(builder, factor, &number), SIM_OK);
  assert_int_equal(sim_expr_builder_number(builder, 0, &zero), SIM_OK);
  const sim_expr_ref args[2] = {in[a], b < 0 ? number : in[b]};
  assert_int_equal(sim_expr_builder_call(builder, op, args, &product), SIM_OK);
  out[0] = out[1] = zero;
  out[results - 1] = product;
  assert_int_equal(sim_expr_builder_finish(builder, out, (const char *const[]){"r1", "r2", "r3"}, results, &expr),
                   SIM_OK);
  sim_expr_builder_free(&builder);
  return expr;
}

static void look(driver *d, driver_frame *out) {
  *out = (driver_frame){.frame.clock = d->clock};
  must(collision_model.view(d->self, out->arrays, out->species, &out->frame), "view");
  out->frame.arrays = out->arrays;
  out->frame.species = out->species;
}

double driver_get(driver *d, const char *array, int c, int64_t i) {
  driver_frame now;
  look(d, &now);
  const sim_array *a = sim_frame_array(&now.frame, array);
  assert_non_null(a);
  const int64_t k = c * a->shape[a->rank - 1] + i;
  return a->dtype == SIM_F32   ? (double)((const float *)a->data)[k]
         : a->dtype == SIM_U64 ? (double)((const uint64_t *)a->data)[k]
                               : ((const double *)a->data)[k];
}

void driver_keep(driver *d, driver_frame *out) {
  look(d, out);
  for (size_t i = 0; i < out->frame.array_count; i++) {
    const size_t bytes = sim_array_bytes(&out->arrays[i]);
    void *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, out->arrays[i].data, bytes);
    out->arrays[i].data = copy;
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
  look(d, &now);
  must(sim_frame_check_finite(&now.frame), "state");
  sim_frame_digest(&now.frame, out);
}
