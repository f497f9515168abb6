#include "tests/engine/fake_model.h"

#include "tests/engine/fake_device.h"

#include <math.h>
#include <string.h>

enum { N = FAKE_N };
enum { POSITION, HIDDEN, ID, CONTROLLER, ARRAYS };

static const sim_field fields[] = {
    {.name = "position", .doc = "position", .type = SIM_REAL, .components = 3, .flags = SIM_IN_SNAPSHOT},
    {.name = "hidden", .doc = "hidden", .type = SIM_REAL},
    {.name = "id", .doc = "id", .type = SIM_INT, .flags = SIM_UNSIGNED | SIM_IN_SNAPSHOT},
    {.name = "controller", .doc = "controller", .type = SIM_REAL},
    {0}};
static const sim_field columns[] = {{.name = "first", .doc = "of position", .type = SIM_REAL},
                                    {.name = "error", .doc = "of that", .type = SIM_REAL, .flags = SIM_HEALTH},
                                    {0}};
static const sim_table table = {"size", "", columns};
static const sim_table *const tables[] = {&table, NULL};

static void advance(void *opaque, double step) {
  fake_state *s = opaque;
  for (int i = 0; i < 3 * N; i++) s->position[i] += 1;
  for (int i = 0; i < N; i++) s->hidden[i] -= 1;
  if ((double)s->nan_step == step) s->position[s->nan_at] = NAN;
}

static sim_status step(void *self, sim_clock *clock) {
  fake_state *s = self;
  clock->step++;
  clock->t += 1;
  s->controller[0] = clock->t; /* on the host, changed at once */
  if (clock->step == s->stop_step) s->requests.stop = 1;
  if (s->backend->queue)
    fake_queue(advance, s, clock->t);
  else
    advance(s, clock->t);
  s->steps++;
  return SIM_OK;
}

static sim_status observe(void *self, const sim_clock *clock, int which, double *values) {
  fake_state *s = self;
  (void)which;
  SIM_TRY(s->backend->copy(&values[0], s->position, sizeof *values));
  values[1] = values[0] - clock->t;
  return SIM_OK;
}

static sim_status view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  fake_state *s = self;
  const sim_space space = s->backend->space;
  arrays[POSITION] = (sim_array){&fields[POSITION], SIM_F64, 2, {3, N}, {3, N}, {0}, s->position, space};
  arrays[HIDDEN] = (sim_array){&fields[HIDDEN], SIM_F64, 1, {N}, {N}, {0}, s->hidden, space};
  arrays[ID] = (sim_array){&fields[ID], SIM_U64, 1, {N}, {N}, {0}, s->id, SIM_SPACE_HOST};
  arrays[CONTROLLER] = (sim_array){&fields[CONTROLLER], SIM_F64, 1, {2}, {2}, {0}, s->controller, SIM_SPACE_HOST};
  species[0] = (sim_species){"points", 0, N};
  frame->array_count = ARRAYS;
  frame->species_count = 1;
  return SIM_OK;
}

const sim_model fake_model = {.name = "ramp", .tables = tables, .step = step, .observe = observe, .view = view};

sim_status fake_state_create(fake_state *s, const sim_backend *backend, const sim_frame *saved) {
  void *position = NULL, *hidden = NULL;
  s->backend = backend;
  SIM_TRY(backend->alloc(3 * N * sizeof(double), &position));
  SIM_TRY(backend->alloc(N * sizeof(double), &hidden));
  s->position = position;
  s->hidden = hidden;
  for (int i = 0; i < 3 * N; i++) s->position[i] = i;
  for (int i = 0; i < N; i++) s->id[i] = (uint64_t)i;
  if (!saved) return SIM_OK;
  void *const to[ARRAYS] = {s->position, s->hidden, s->id, s->controller};
  for (int i = 0; i < ARRAYS; i++) {
    const sim_array *array = sim_frame_array(saved, fields[i].name);
    if (!array) return sim_fail(SIM_ERR_INCOMPATIBLE, "no %s", fields[i].name);
    memcpy(to[i], array->data, sim_array_bytes(array));
  }
  return SIM_OK;
}

void fake_state_destroy(fake_state *s) {
  s->backend->free(s->position);
  s->backend->free(s->hidden);
}
