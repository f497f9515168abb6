#include "tests/nbody/functions.h"

#include "lua/scenario.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static scenario loaded;

static void must(sim_status status, const char *what) {
  if (status == SIM_OK) return;
  fprintf(stderr, "%s: %s\n", what, sim_error_last()->message);
  abort();
}

void functions_load(const char *lua) {
  static const char *const models[] = {"nbody", NULL};
  char path[] = "/tmp/sim-functions-XXXXXX";
  const int fd = mkstemp(path);
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (file == NULL || fprintf(file, "return sim.nbody {\n%s\n}\n", lua) < 0 || fclose(file) != 0) abort();
  const scenario_options options = {
      .constructors = models, .models = models, .seconds = 10, .memory = (size_t)128 << 20};
  sim_status status = scenario_load(path, &options, &loaded);
  (void)unlink(path);
  must(status, "functions");
}

void functions_free(void) { scenario_free(&loaded); }

static const sim_field *field_of(const char *name) {
  for (const sim_field *field = nbody_schema.fields; field->name != NULL; field++)
    if (strcmp(field->name, name) == 0) return field;
  return NULL;
}

sim_expr *functions_get(const char *field, const char *name) {
  const sim_value *value = sim_value_get(loaded.value, name);
  sim_bytes bytes = {0};
  sim_expr *out = NULL;
  sim_faults faults = {0};
  assert_non_null(value);
  if (value->u.function.expr == NULL) fail_msg("%s: %s", name, value->u.function.fault);
  must(sim_expr_write(value->u.function.expr, &bytes), name);
  must(sim_expr_read(bytes.data, bytes.size, &out), name);
  sim_bytes_free(&bytes);
  const sim_signature *signature =
      strcmp(field, "velocity_field") == 0 ? nbody_body_schema.base->fields[4].signature : field_of(field)->signature;
  must(sim_function_bind(&out, signature, &faults, 0, name), name);
  if (faults.count > 0) fail_msg("%s", faults.text.data);
  return out;
}

void driver_law(driver *d, const char *field, const char *name) {
  sim_expr *law = functions_get(field, name);
  if (strcmp(field, "external") == 0) {
    d->parameters.external = law;
    return;
  }
  if (strcmp(field, "pair") == 0)
    d->parameters.pair = law;
  else
    d->parameters.pair_force = law;
  d->parameters.gravity = (nbody_gravity){.G = NAN};
}

void driver_observe(driver *d, const char *name, sim_reduction reduce) {
  sim_function_map *map = &d->parameters.observe;
  map->items = realloc(map->items, (map->count + 1) * sizeof *map->items);
  assert_non_null(map->items);
  map->items[map->count++] = (sim_named_function){strdup(name), functions_get("observe", name), (int)reduce, 0};
}

void driver_forget(driver *d) {
  nbody_parameters *p = &d->parameters;
  sim_expr_free(&p->external);
  sim_expr_free(&p->pair);
  sim_expr_free(&p->pair_force);
  for (size_t i = 0; i < p->observe.count; i++) {
    free(p->observe.items[i].name);
    sim_expr_free(&p->observe.items[i].expr);
  }
  free(p->observe.items);
  p->observe = (sim_function_map){0};
}
