#include "tests/nbody/driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

void driver_everywhere_in(sim_precision precision, void (*test)(driver_place place)) {
  for (const sim_backend *const *b = sim_backends; *b != NULL; b++) {
    if ((*b)->unavailable() != NULL || !sim_model_runs(&nbody_model, (*b)->kind, NULL)) continue;
    if ((*b)->open != NULL) driver_must((*b)->open(NULL), "open");
    print_message("  on %s, %s\n", (*b)->name, sim_precision_name(precision));
    test((driver_place){*b, precision});
  }
}

void driver_everywhere(void (*test)(driver_place place)) {
  for (sim_precision precision = SIM_SINGLE; precision <= SIM_DOUBLE; precision++)
    driver_everywhere_in(precision, test);
}

driver driver_make(driver_place place, nbody_scheme scheme, double dt, double t_end, double softening) {
  driver d = {
      .setup = {.backend = place.backend, .comm = &sim_comm_alone, .isa = sim_isa_best(), .threads = 2, .folder = ""}};
  d.parameters.common.seed = 1;
  d.parameters.common.precision = (int)place.precision;
  d.parameters.gravity = (nbody_gravity){.G = 1, .softening = softening};
  d.parameters.integrate = (nbody_integrate){.scheme = (int)scheme,
                                             .dt = dt,
                                             .levels = SIM_INT_KEYWORD,
                                             .eta = NAN,
                                             .dt_max = NAN,
                                             .t_end = t_end,
                                             .max_energy_error = NAN};
  return d;
}

void driver_add(driver *d, const sim_schema *schema, void *data) {
  assert_true(d->parameters.bodies.count < sizeof d->items / sizeof *d->items);
  nbody_group_fields *group = data;
  if (group->species == NULL) group->species = "stars";
  d->items[d->parameters.bodies.count++] = (sim_item){.schema = schema, .data = data};
}

void driver_join(driver *d) { d->parameters.bodies.items = d->items; }

int64_t driver_count(driver *d) {
  driver_frame now;
  driver_look(d, &now);
  return sim_frame_array(&now.frame, "mass")->shape[0];
}
