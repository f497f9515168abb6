/* Inlets and outlets: packs the state after an event, by species, then by id. */
#include "kernels/collision/flow/flow.h"

#include <inttypes.h>
#include <string.h>

static bool add_move(collision_flow *f, int64_t from, int64_t end, int64_t to) {
  collision_move *move = collision_list_more(f->move, f->moves, &f->move_room, sizeof *move);
  if (move == NULL) return false;
  f->move = move;
  if (from < end) move[f->moves++] = (collision_move){from, end - from, to};
  return true;
}

/* Lists moves: of each species the remaining grains, then the new ones. Returns the number of grains; -1: out of
 * memory. */
static int64_t make_moves(collision_run *run) {
  collision_flow *f = run->flow;
  int64_t n = 0, gone = 0;
  f->moves = f->come.count = 0;
  for (size_t s = 0; s < run->species_count; s++) {
    sim_species *species = &run->species[s];
    const int64_t first = n, end = species->first + species->count;
    for (int64_t from = species->first, next; from < end; from = next + 1) {
      next = gone < f->going.count && f->going.at[gone] < end ? f->going.at[gone++] : end;
      if (!add_move(f, from, next, n)) return -1;
      n += next - from;
    }
    for (int64_t k = 0; k < f->newcomers; k++) {
      const collision_inlet *inlet = run->parameters->insert.items[f->newcomer[k].inlet].data;
      if (strcmp(inlet->group.species, species->name) != 0) continue;
      f->newcomer[k].index = n;
      if (!collision_indices_add(&f->come, n++)) return -1;
    }
    species->first = first;
    species->count = n - first;
  }
  return n;
}

/* New index of an old grain; -1: removed. */
static int64_t moved(const collision_flow *f, int64_t i) {
  int64_t low = 0, high = f->moves; /* searches for the last move with from <= i; its index becomes low - 1 */
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (f->move[middle].from <= i)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0 || i >= f->move[low - 1].from + f->move[low - 1].count) return -1;
  return f->move[low - 1].to + i - f->move[low - 1].from;
}

/* Packs one array in place. The order of grains stays the same: grains that move down are copied first, in increasing
 * order, then grains that move up, in decreasing order, so that none is overwritten before it is copied. New grains are
 * zero. */
static void pack_array(collision_run *run, int which, int64_t rows, int64_t n) {
  const collision_flow *f = run->flow;
  const size_t size = sim_dtype_size(run->array[which].dtype);
  char *data = run->array[which].data;
  for (int up = 0; up < 2; up++)
    for (int64_t k = 0; k < rows * f->moves; k++) {
      const int64_t at = up ? rows * f->moves - 1 - k : k, row = at / f->moves;
      const collision_move *move = &f->move[at % f->moves];
      const int64_t from = row * run->n + move->from, to = row * n + move->to;
      if (from != to && (to > from) == (up == 1))
        memmove(data + (size_t)to * size, data + (size_t)from * size, (size_t)move->count * size);
    }
  for (int64_t row = 0; row < rows; row++)
    for (int64_t k = 0; k < f->come.count; k++) memset(data + (size_t)(row * n + f->come.at[k]) * size, 0, size);
}

/* Moves rows of `kept` entries from a stride of `before` to a stride of `room`, and clears the entries behind them. */
static void space_rows(char *data, size_t size, int rows, int64_t before, int64_t room, int64_t kept) {
  for (int k = 0; k < rows; k++) {
    const int c = room > before ? rows - 1 - k : k;
    char *to = data + (size_t)(c * room) * size;
    memmove(to, data + (size_t)(c * before) * size, (size_t)kept * size);
    if (room > before) memset(to + (size_t)kept * size, 0, (size_t)(room - kept) * size);
  }
  for (int c = 0; c < rows && room <= before; c++)
    memset(data + (size_t)(c * room + kept) * size, 0, (size_t)(room - kept) * size);
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
  for (int64_t k = 0; k < run->room && grain[k] != UINT64_MAX; k++) {
    const int64_t one = moved(f, (int64_t)grain[k]), other = moved(f, (int64_t)partner[k]);
    if (one < 0 || other < 0) continue;
    grain[kept] = (uint64_t)one;
    partner[kept] = (uint64_t)other;
    for (int c = 0; c < springs; c++)
      memmove(spring + (size_t)(c * run->room + kept) * size, spring + (size_t)(c * run->room + k) * size, size);
    kept++;
  }
  if (kept > room) return sim_fail(SIM_ERR_DIVERGED, "more than %" PRId64 " contacts have a history", room);
  memset(grain + kept, 0xff, (size_t)(room - kept) * sizeof *grain);
  memset(partner + kept, 0xff, (size_t)(room - kept) * sizeof *partner);
  space_rows(spring, size, springs, run->room, room, kept);
  return SIM_OK;
}

/* Acceleration without contacts, for the first half step of a new grain. */
static void free_acceleration(const collision_run *run, const double x[3], double t, double out[3]) {
  double *place[3];
  const double *a[3];
  memcpy(out, run->options.gravity, sizeof run->options.gravity);
  if (run->flow->fields == NULL) return;
  collision_fields_positions(run->flow->fields, place);
  for (int c = 0; c < 3; c++) place[c][0] = x[c];
  collision_fields_external(run->flow->fields, place, 1, t, a);
  for (int c = 0; c < 3; c++) out[c] += a[c][0];
}

static sim_status write_newcomer(collision_run *run, const collision_newcomer *new, uint64_t id, double t) {
  const int64_t i = new->index;
  const collision_inlet *inlet = run->parameters->insert.items[new->inlet].data;
  double *controls = run->array[COLLISION_CONTROLLER].data;
  const char *names[COLLISION_MATERIALS_MAX];
  int count;
  SIM_TRY(collision_materials(run->parameters, names, &count));
  const double mass = inlet->group.density * 4 * COLLISION_PI / 3 * new->r *new->r *new->r;
  double acceleration[3];
  free_acceleration(run, new->x, t, acceleration);
  ((uint64_t *)run->array[COLLISION_ID].data)[i] = id;
  ((uint64_t *)run->array[COLLISION_MATERIAL].data)[i] =
      (uint64_t)collision_material_index(names, count, inlet->group.material);
  collision_put(run, COLLISION_RADIUS, 0, i, new->r);
  collision_put(run, COLLISION_MASS, 0, i, mass);
  for (int c = 0; c < 3; c++) {
    collision_put(run, COLLISION_POSITION, c, i, new->x[c]);
    collision_put(run, COLLISION_VELOCITY, c, i, inlet->group.velocity[c]);
    collision_put(run, COLLISION_ACCELERATION, c, i, acceleration[c]);
  }
  controls[COLLISION_INSERTED]++;
  controls[COLLISION_INSERTED_MASS] += mass;
  return SIM_OK;
}

/* Arrays that operations never write: the host's copy is always up to date. */
static bool stays(int which) {
  return which == COLLISION_ID || which == COLLISION_RADIUS || which == COLLISION_MASS || which == COLLISION_MATERIAL;
}

sim_status collision_flow_pack(collision_run *run, bool whole, uint64_t first_id, double t) {
  collision_flow *f = run->flow;
  const int64_t n = make_moves(run);
  if (n < 0) return sim_no_memory("grains that come and go");
  if (whole) SIM_TRY(pack_contacts(run, n));
  for (int which = 0; which < COLLISION_ARRAYS; which++) {
    sim_array array;
    if (collision_is_of_grains(which) && (whole || stays(which)) && collision_view_array(run, which, &array))
      pack_array(run, which, array.rank == 2 ? array.shape[0] : 1, n);
  }
  run->n = n;
  run->room = collision_contact_room(n, run->options.springs);
  for (int64_t k = 0; k < f->newcomers; k++) SIM_TRY(write_newcomer(run, &f->newcomer[k], first_id + (uint64_t)k, t));
  if (n == 0) return SIM_OK;
  return whole ? run->ops->load(run->work) : run->ops->exchange(run->work, f->move, f->moves, &f->come);
}
