/* Grains that come and go: the state stays packed, by species, then by id. */
#include "kernels/collision/flow.h"

#include <inttypes.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* Old grains of each species that stay, then its new ones. */
static int64_t make_order(collision_run *run) {
  collision_flow *f = run->flow;
  int64_t n = 0;
  for (size_t s = 0; s < run->species_count; s++) {
    sim_species *species = &run->species[s];
    const int64_t first = n;
    for (int64_t i = species->first; i < species->first + species->count; i++) {
      if (f->place[i] < 0) continue;
      f->place[i] = n;
      f->order[n++] = i;
    }
    for (int64_t k = 0; k < f->newcomers; k++) {
      const collision_inlet *inlet = run->parameters->insert.items[f->newcomer[k].inlet].data;
      if (strcmp(inlet->group.species, species->name) == 0) f->order[n++] = -1 - k;
    }
    species->first = first;
    species->count = n - first;
  }
  return n;
}

static void pack_array(collision_run *run, int which, int64_t rows, int64_t n) {
  collision_flow *f = run->flow;
  const size_t size = sim_dtype_size(run->array[which].dtype);
  char *data = run->array[which].data;
  for (int64_t row = 0; row < rows; row++)
    for (int64_t k = 0; k < n; k++) {
      char *to = f->room + (size_t)(row * n + k) * size;
      if (f->order[k] >= 0)
        memcpy(to, data + (size_t)(row * run->n + f->order[k]) * size, size);
      else
        memset(to, 0, size);
    }
  memcpy(data, f->room, (size_t)(rows * n) * size);
}

static sim_status pack_contacts(collision_run *run, int64_t n) {
  const collision_flow *f = run->flow;
  const int springs = run->options.springs;
  const int64_t room = collision_contact_room(n, springs);
  uint64_t *grain = run->array[COLLISION_CONTACT_GRAIN].data, *partner = run->array[COLLISION_CONTACT_PARTNER].data;
  const size_t size = sim_dtype_size(run->ops->dtype);
  char *spring = run->array[COLLISION_CONTACT_SPRING].data;
  int64_t kept = 0;
  if (springs == 0) return SIM_OK;
  for (int64_t k = 0; k < run->room; k++) {
    if (grain[k] == UINT64_MAX || f->place[grain[k]] < 0 || f->place[partner[k]] < 0) continue;
    grain[kept] = (uint64_t)f->place[grain[k]];
    partner[kept] = (uint64_t)f->place[partner[k]];
    for (int c = 0; c < springs; c++)
      memmove(spring + (size_t)(c * run->room + kept) * size, spring + (size_t)(c * run->room + k) * size, size);
    kept++;
  }
  if (kept > room) return sim_fail(SIM_ERR_DIVERGED, "more than %" PRId64 " contacts have a history", room);
  memset(grain + kept, 0xff, (size_t)(room - kept) * sizeof *grain);
  memset(partner + kept, 0xff, (size_t)(room - kept) * sizeof *partner);
  for (int c = 0; c < springs; c++) {
    memcpy(f->room + (size_t)(c * room) * size, spring + (size_t)(c * run->room) * size, (size_t)kept * size);
    memset(f->room + (size_t)(c * room + kept) * size, 0, (size_t)(room - kept) * size);
  }
  memcpy(spring, f->room, (size_t)(springs * room) * size);
  run->room = room;
  return SIM_OK;
}

static void put(collision_run *run, int which, int c, int64_t i, double value) {
  const int64_t at = c * run->n + i;
  if (run->ops->dtype == SIM_F32)
    ((float *)run->array[which].data)[at] = (float)value;
  else
    ((double *)run->array[which].data)[at] = value;
}

/* Where nothing touches: with this the first half step of a new grain begins. */
static void free_acceleration(const collision_run *run, const double x[3], double t, double out[3]) {
  double *place[3];
  const double *a[3];
  memcpy(out, run->options.gravity, sizeof run->options.gravity);
  if (run->flow->fields == NULL) return;
  collision_fields_places(run->flow->fields, place);
  for (int c = 0; c < 3; c++) place[c][0] = x[c];
  collision_fields_external(run->flow->fields, place, 1, t, a);
  for (int c = 0; c < 3; c++) out[c] += a[c][0];
}

static sim_status write_newcomer(collision_run *run, int64_t i, int64_t k, uint64_t id, double t) {
  const collision_newcomer *new = &run->flow->newcomer[k];
  const collision_inlet *inlet = run->parameters->insert.items[new->inlet].data;
  double *controls = run->array[COLLISION_CONTROLLER].data;
  const char *names[COLLISION_MATERIALS_MAX];
  int count;
  SIM_TRY(collision_materials(run->parameters, names, &count));
  const double mass = inlet->group.density * 4 * pi / 3 * new->r *new->r *new->r;
  double acceleration[3];
  free_acceleration(run, new->x, t, acceleration);
  ((uint64_t *)run->array[COLLISION_ID].data)[i] = id;
  ((uint64_t *)run->array[COLLISION_MATERIAL].data)[i] =
      (uint64_t)collision_material_index(names, count, inlet->group.material);
  put(run, COLLISION_RADIUS, 0, i, new->r);
  put(run, COLLISION_MASS, 0, i, mass);
  for (int c = 0; c < 3; c++) {
    put(run, COLLISION_POSITION, c, i, new->x[c]);
    put(run, COLLISION_VELOCITY, c, i, inlet->group.velocity[c]);
    put(run, COLLISION_ACCELERATION, c, i, acceleration[c]);
  }
  controls[COLLISION_INSERTED]++;
  controls[COLLISION_INSERTED_MASS] += mass;
  return SIM_OK;
}

sim_status collision_flow_pack(collision_run *run, uint64_t first_id, double t) {
  collision_flow *f = run->flow;
  const int64_t n = make_order(run);
  SIM_TRY(pack_contacts(run, n));
  for (int which = 0; which < COLLISION_ARRAYS; which++) {
    sim_array array;
    if (!collision_view_array(run, which, &array) || array.shape[array.rank - 1] != run->n) continue;
    if (which >= COLLISION_CONTACT_GRAIN && which <= COLLISION_CONTACT_SPRING) continue;
    if (which == COLLISION_POSES || which == COLLISION_MESHES || which == COLLISION_CONTROLLER) continue;
    pack_array(run, which, array.rank == 2 ? array.shape[0] : 1, n);
  }
  run->n = n;
  for (int64_t i = 0; i < n; i++)
    if (f->order[i] < 0) SIM_TRY(write_newcomer(run, i, -1 - f->order[i], first_id + (uint64_t)(-1 - f->order[i]), t));
  return n > 0 ? run->ops->load(run->work) : SIM_OK;
}
