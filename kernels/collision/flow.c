/* Grains that come and go during a run. The state stays packed: by species, then by id. */
#include "kernels/collision/functions.h"
#include "kernels/collision/run.h"

#include "engine/rng.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 30, GRID = 34 }; /* places tried a grain; most cells along a side of an inlet */

/* Spheres that are in the way of an inlet, in cells. */
typedef struct obstacle {
  double x[3], r;
  int32_t next;
} obstacle;

typedef struct collision_flow {
  int64_t *order; /* [limit]: new index -> old one, or < 0: -1 - number of a new grain */
  int64_t *place; /* [limit]: old index -> new one; -1: gone */
  char *room;     /* for one array */
  obstacle *obstacle;
  int32_t count, most, head[GRID * GRID * GRID];
  /* New grains of one event, [limit]. */
  struct newcomer {
    double x[3], r;
    int inlet;
  } * newcomer;
  int64_t newcomers;
  collision_fields *fields; /* NULL: no external acceleration */
} collision_flow;

static const double pi = 3.14159265358979323846;

/* ---- bounds ---- */

void collision_inlet_bounds(const collision_inlet *inlet, double *least, double *most, double *mass) {
  const collision_radii *size = &inlet->size;
  *least = *most = size->radius;
  for (size_t i = 0; i < size->radii.rows; i++) {
    if (i == 0 || size->radii.data[i] < *least) *least = size->radii.data[i];
    if (i == 0 || size->radii.data[i] > *most) *most = size->radii.data[i];
  }
  if (size->distribution == COLLISION_LOGNORMAL) {
    *least = size->radii.data[0] / sqrt(20);
    *most = size->radii.data[0] * sqrt(20);
  }
  *mass = inlet->group.density * 4 * pi / 3 * *least * *least * *least;
}

static double total_of(const collision_inlet *inlet, double t) {
  const double end = inlet->stop < t ? inlet->stop : t;
  const double total = fmax(0, floor(inlet->rate * (end - inlet->start) * (1 + 1e-12)));
  return inlet->limit < total ? inlet->limit : total;
}

double collision_flow_limit(const collision_parameters *p, double n) {
  for (size_t i = 0; i < p->insert.count; i++) n += total_of(p->insert.items[i].data, p->integrate.t_end);
  return n;
}

bool collision_flow_varies(const collision_parameters *p) {
  bool varies = p->insert.count > 0 || p->remove.count > 0;
  for (int s = 0; s < 6; s++) varies = varies || p->box.sides[s] == COLLISION_OUTLET;
  return varies;
}

/* Of one number a grain in the widest array. */
static double widest(const collision_options *o, int real) {
  const double history = fmax(8.1 * fmax(o->springs, 1), o->wall_numbers) * real;
  return fmax(fmax(history, 66), 8.0 * o->gates);
}

double collision_flow_bytes(const collision_parameters *p, double limit, int real) {
  collision_options o;
  if (!collision_flow_varies(p) || collision_options_fill(p, &o) != SIM_OK) return 0;
  const double bytes = limit * (widest(&o, real) + 16 + sizeof(struct newcomer) + 2 * sizeof(obstacle));
  collision_options_free(&o);
  return bytes + sizeof(collision_flow);
}

sim_status collision_flow_create(collision_run *run) {
  const size_t limit = (size_t)run->limit;
  const int real = (int)sim_dtype_size(run->ops->dtype);
  if (!run->varies) return SIM_OK;
  collision_flow *f = run->flow = calloc(1, sizeof *f);
  if (f == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for grains that come and go");
  f->most = (int32_t)fmin(2.0 * (double)limit + 1024, 2e9);
  f->order = malloc(limit * sizeof *f->order);
  f->place = malloc(limit * sizeof *f->place);
  f->room = malloc(limit * (size_t)ceil(widest(&run->options, real)) + 4096);
  f->newcomer = malloc(limit * sizeof *f->newcomer);
  f->obstacle = malloc((size_t)f->most * sizeof *f->obstacle);
  if (run->options.external != NULL) SIM_TRY(collision_fields_create(&run->options, &f->fields));
  if (f->order && f->place && f->room && f->newcomer && f->obstacle) return SIM_OK;
  return sim_fail(SIM_ERR_NO_MEMORY, "no memory for grains that come and go");
}

void collision_flow_destroy(collision_run *run) {
  collision_flow *f = run->flow;
  if (f == NULL) return;
  free(f->order), free(f->place), free(f->room), free(f->newcomer), free(f->obstacle);
  collision_fields_destroy(&f->fields);
  free(f);
  run->flow = NULL;
}

/* ---- going ---- */

static bool leaves(const collision_run *run, int64_t i) {
  const collision_parameters *p = run->parameters;
  double x[3];
  for (int c = 0; c < 3; c++) {
    x[c] = collision_get(run, COLLISION_POSITION, c, i);
    const double low = p->box.origin[c], high = low + p->box.size[c];
    if (x[c] < low && p->box.sides[2 * c] == COLLISION_OUTLET) return true;
    if (x[c] >= high && p->box.sides[2 * c + 1] == COLLISION_OUTLET) return true;
  }
  for (size_t k = 0; k < p->remove.count; k++) {
    const collision_region *region = p->remove.items[k].data;
    bool in = true;
    for (int c = 0; c < 3; c++) in = in && x[c] >= region->low[c] && x[c] < region->high[c];
    if (in) return true;
  }
  return false;
}

static void take_account(collision_run *run, int64_t i) {
  double *controls = run->array[COLLISION_CONTROLLER].data;
  const double mass = collision_get(run, COLLISION_MASS, 0, i);
  controls[COLLISION_REMOVED]++;
  controls[COLLISION_REMOVED_MASS] += mass;
  controls[COLLISION_CARRIED_DISSIPATED] += ((const double *)run->array[COLLISION_DISSIPATED].data)[i];
  controls[COLLISION_CARRIED_VIRIAL] += ((const double *)run->array[COLLISION_VIRIAL].data)[i];
  controls[COLLISION_CARRIED_COLLISIONS] += (double)((const uint64_t *)run->array[COLLISION_COLLISIONS].data)[i];
  for (int b = 0; b < run->options.gates; b++) {
    const double times = (double)((const int64_t *)run->array[COLLISION_CROSSED].data)[b * run->n + i];
    controls[COLLISION_CARRIED_GRAINS + b] += times;
    controls[COLLISION_CARRIED_MASS + b] += times * mass;
  }
}

/* ---- coming ---- */

typedef struct grid {
  double low[3], width[3];
  int cells[3];
} grid;

static int cell_of(const grid *g, const double x[3], int at[3]) {
  for (int c = 0; c < 3; c++) {
    const double k = floor((x[c] - g->low[c]) / g->width[c]);
    at[c] = k < 0 ? 0 : k >= g->cells[c] ? g->cells[c] - 1 : (int)k;
  }
  return (at[0] * g->cells[1] + at[1]) * g->cells[2] + at[2];
}

static bool put_obstacle(collision_flow *f, const grid *g, const double x[3], double r) {
  int at[3];
  if (f->count == f->most) return false;
  obstacle *o = &f->obstacle[f->count];
  *o = (obstacle){{x[0], x[1], x[2]}, r, 0};
  int32_t *head = &f->head[cell_of(g, x, at)];
  o->next = *head;
  *head = f->count++;
  return true;
}

/* The grain and its images, where they may be in the way. */
static bool put_images(collision_run *run, const grid *g, const collision_inlet *inlet, double reach, const double x[3],
                       double r) {
  double y[3];
  for (int image = 0; image < 27; image++) {
    bool near = true;
    for (int c = 0, k = image; c < 3; c++, k /= 3) {
      const int way = k % 3 == 2 ? -1 : k % 3;
      if (way != 0 && !run->options.periodic[c]) near = false;
      y[c] = x[c] + way * run->options.size[c];
      near = near && y[c] > inlet->low[c] - reach && y[c] < inlet->high[c] + reach;
    }
    if (near && !put_obstacle(run->flow, g, y, r)) return false;
  }
  return true;
}

static bool has_room(const collision_run *run, const grid *g, const double x[3], double r) {
  const collision_flow *f = run->flow;
  const collision_pose *pose = run->array[COLLISION_POSES].data;
  int at[3], cell[3];
  (void)cell_of(g, x, at);
  for (cell[0] = at[0] - 1; cell[0] <= at[0] + 1; cell[0]++)
    for (cell[1] = at[1] - 1; cell[1] <= at[1] + 1; cell[1]++)
      for (cell[2] = at[2] - 1; cell[2] <= at[2] + 1; cell[2]++) {
        bool there = true;
        for (int c = 0; c < 3; c++) there = there && cell[c] >= 0 && cell[c] < g->cells[c];
        if (!there) continue;
        for (int32_t k = f->head[(cell[0] * g->cells[1] + cell[1]) * g->cells[2] + cell[2]]; k >= 0;
             k = f->obstacle[k].next) {
          const obstacle *o = &f->obstacle[k];
          double square = 0;
          for (int c = 0; c < 3; c++) square += (x[c] - o->x[c]) * (x[c] - o->x[c]);
          if (square < (r + o->r) * (r + o->r)) return false;
        }
      }
  for (int b = 0; b < run->options.walls; b++) {
    collision_touch touch[COLLISION_TOUCHES_MAX];
    if (collision_wall_touch(&run->options.wall[b], &pose[b], x, r, touch) > 0) return false;
  }
  return true;
}

/* Grains that this inlet owes and finds room for. */
static void come(collision_run *run, int which, const sim_clock *clock) {
  collision_flow *f = run->flow;
  const collision_inlet *inlet = run->parameters->insert.items[which].data;
  double *controls = run->array[COLLISION_CONTROLLER].data, *brought = &controls[COLLISION_OF_INLET + which];
  const double reach = 2 * run->options.radius_most, due = total_of(inlet, clock->t);
  if (!(*brought < due)) return;
  grid g;
  for (int c = 0; c < 3; c++) {
    const double size = inlet->high[c] - inlet->low[c] + 2 * reach;
    g.low[c] = inlet->low[c] - reach;
    g.cells[c] = (int)fmax(1, fmin(GRID, floor(size / reach)));
    g.width[c] = size / g.cells[c];
  }
  memset(f->head, 0xff, sizeof f->head);
  f->count = 0;
  for (int64_t i = 0; i < run->n; i++) {
    if (f->place[i] < 0) continue;
    double x[3];
    for (int c = 0; c < 3; c++) x[c] = collision_get(run, COLLISION_POSITION, c, i);
    if (!put_images(run, &g, inlet, reach, x, collision_get(run, COLLISION_RADIUS, 0, i))) return;
  }
  for (int64_t k = 0; k < f->newcomers; k++)
    if (!put_images(run, &g, inlet, reach, f->newcomer[k].x, f->newcomer[k].r)) return;
  while (*brought < due && run->n + f->newcomers < run->limit) {
    const uint64_t seed = run->parameters->common.seed, id = (uint64_t)controls[COLLISION_NEXT_ID];
    struct newcomer *new = &f->newcomer[f->newcomers];
    *new = (struct newcomer){.inlet = which, .r = collision_radius_of(&inlet->size, seed, id, (size_t)*brought)};
    bool found = false;
    for (uint32_t k = 0; k < TRIES && !found; k++) {
      double u[4];
      sim_rng_uniform(seed, id, (uint64_t)clock->step, 2 * k, u);
      sim_rng_uniform(seed, id, (uint64_t)clock->step, 2 * k + 1, u + 2);
      for (int c = 0; c < 3; c++)
        new->x[c] = inlet->low[c] + new->r + u[c] * (inlet->high[c] - inlet->low[c] - 2 * new->r);
      found = has_room(run, &g, new->x, new->r);
    }
    if (!found || !put_images(run, &g, inlet, reach, new->x, new->r)) return;
    f->newcomers++;
    (*brought)++;
    controls[COLLISION_NEXT_ID]++;
  }
}

/* ---- the state ---- */

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
  const struct newcomer *new = &run->flow->newcomer[k];
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

static sim_status change(collision_run *run, uint64_t first_id, double t) {
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
  return run->ops->load(run->work);
}

sim_status collision_flow_step(collision_run *run, const sim_clock *clock) {
  collision_flow *f = run->flow;
  double *controls = run->array[COLLISION_CONTROLLER].data;
  const uint64_t first_id = (uint64_t)controls[COLLISION_NEXT_ID];
  const collision_sums *sums;
  int64_t going = 0;
  SIM_TRY(run->ops->store(run->work));
  f->newcomers = 0;
  for (int64_t i = 0; i < run->n; i++) {
    const bool gone = leaves(run, i);
    f->place[i] = gone ? -1 : 0;
    going += gone;
  }
  if (going == run->n)
    return sim_fail(SIM_ERR_DIVERGED, "all grains have left at t = %.9g: nothing is there to go on with", clock->t);
  for (size_t k = 0; k < run->parameters->insert.count; k++) come(run, (int)k, clock);
  if (going == 0 && f->newcomers == 0) return SIM_OK;
  run->sums_step = -1;
  SIM_TRY(collision_sums_at(run, clock, &sums));
  const double before = collision_energy(sums);
  for (int64_t i = 0; i < run->n && going > 0; i++)
    if (f->place[i] < 0) take_account(run, i);
  SIM_TRY(change(run, first_id, clock->t));
  run->sums_step = run->profile_step = -1;
  SIM_TRY(collision_sums_at(run, clock, &sums));
  controls[COLLISION_INITIAL_ENERGY] += collision_energy(sums) - before;
  controls[COLLISION_ENERGY_SCALE] = fmax(controls[COLLISION_ENERGY_SCALE], collision_energy_scale(sums));
  return SIM_OK;
}
