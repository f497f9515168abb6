#include "tests/collision/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

collision_values driver_values(void) {
  const collision_turning_values turning = {false, COLLISION_NO_TURNING, NAN, NAN, NAN};
  return (collision_values){
      NAN, NAN, NAN, NAN, NAN,     NAN,     NAN,
      NAN, NAN, NAN, NAN, turning, turning, {false, COLLISION_NO_COHESION, NAN, NAN, NAN, NAN, NAN, NAN, NAN}};
}

driver driver_make(sim_precision precision, double dt, double t_end) {
  driver d = {
      .setup = {
          .backend = &sim_backend_cpu, .comm = &sim_comm_alone, .isa = sim_isa_best(), .threads = 2, .folder = ""}};
  d.parameters.common.seed = 1;
  d.parameters.common.precision = (int)precision;
  d.parameters.contact.values = driver_values();
  d.parameters.contact.overlap_limit = 0.05;
  d.parameters.hill = (collision_hill){false, NAN, NAN, NAN};
  d.parameters.self_gravity = (collision_self_gravity){false, NAN, 0, 1e-3, NAN, 1};
  d.parameters.merge = (collision_merge){false, COLLISION_MERGE_NEVER, NAN};
  d.parameters.heat = (collision_heat){false, NAN, NAN, NULL};
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
  collision_plane *wall = data; /* the material is the first member of all walls */
  if (wall->material == NULL) wall->material = "wall";
  if (wall->temperature == 0) wall->temperature = NAN;
  if (schema == &collision_plane_schema && !(wall->servo.speed > 0))
    wall->servo = (collision_servo){false, NAN, NAN, NAN};
  d->wall_items[d->parameters.walls.count++] = (sim_item){.schema = schema, .data = data};
}

void driver_join(driver *d) {
  d->parameters.grains.items = d->items;
  d->parameters.walls.items = d->wall_items;
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
