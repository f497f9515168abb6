/* A gas in whole numbers on an NVIDIA GPU: memory, state, and the queue of steps. */
#include "kernels/collision/fixed_point/cuda/work.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Gap up to which pairs of the greatest grains may stand in long lists, in radii of the least and the greatest grain
 * together; in a mix, of which large ones are slow, less: measured. */
static const double usual_skin = 0.42, mixed_skin = 0.21;
/* How often it is decided while lists last; a little above 2, so that they last for two times. */
static const double decisions = 2.15;
/* Volume in reach, over that of a grain with its share of the box: 12 neighbours. */
static const double crowd_most = 3.1;
/* Room of lists at first, in entries a grain: 6.5 neighbours and what differs between tiles. They grow where grains are
 * packed more closely. */
static const uint32_t usual_room[GAS_LISTS] = {10, 6};
static const uint32_t room_most = 255 * GAS_TILE; /* of all tiles: 32 bits */

/* ---- memory ---- */

static void *take(void *memory, size_t *at, size_t bytes) {
  void *const out = memory != NULL ? (char *)memory + *at : NULL;
  *at += (bytes + 255) / 256 * 256;
  return out;
}

/* Of cells: at most two a grain, and what fills up blocks. */
static uint64_t most_cells(uint64_t n) { return 2 * n + 65536; }

/* Places all arrays; with no memory yet, only counts. */
static size_t place(gas_work *w, uint64_t n, size_t grain) {
  gas_arrays *a = &w->arrays;
  const uint64_t tiles = (n + GAS_TILE - 1) / GAS_TILE, all = tiles * GAS_TILE;
  size_t at = 0;
  a->mass = (float *)take(w->memory, &at, grain == sizeof(gas_mixed_grain) ? all * 4 : 0);
  for (int k = 0; k < 2; k++) {
    a->grain[k] = take(w->memory, &at, all * grain);
    a->id[k] = (uint32_t *)take(w->memory, &at, all * 4);
    a->collisions[k] = (uint32_t *)take(w->memory, &at, all * 4);
  }
  a->place = (uint4 *)take(w->memory, &at, all * 16);
  a->rank = (uint16_t *)take(w->memory, &at, all * 2);
  a->cell = (uint32_t *)take(w->memory, &at, (most_cells(n) + GAS_SCAN + 4) * 4);
  a->row = (uint32_t *)take(w->memory, &at, (most_cells(n) + GAS_SCAN + 4) * 4);
  a->scan = (uint32_t *)take(w->memory, &at, (most_cells(n) / GAS_SCAN + 2) * 8);
  for (int k = 0; k < GAS_LISTS; k++) a->count[k] = (uint32_t *)take(w->memory, &at, tiles * 4);
  a->control = (gas_control *)take(w->memory, &at, 2 * sizeof(gas_control));
  a->motion = (unsigned *)take(w->memory, &at, 16);
  a->fault = (int *)take(w->memory, &at, 4);
  a->need = (unsigned *)take(w->memory, &at, GAS_LISTS * sizeof(unsigned));
  a->tally = (unsigned long long *)take(w->memory, &at, 32);
  a->classes = (gas_classes *)take(w->memory, &at, grain == sizeof(gas_mixed_grain) ? sizeof(gas_classes) : 0);
  if (grain != sizeof(gas_mixed_grain)) a->classes = NULL;
  w->looked = (long long *)take(w->memory, &at, GAS_LOOKS * 8);
  a->slot = (uint32_t *)take(w->memory, &at, all * 4);
  w->partial = (double *)take(w->memory, &at, (tiles + 1) * GAS_QUANTITIES * 8);
  w->staged = take(w->memory, &at, sizeof(gas_piece));
  return at;
}

/* The same of lists. */
static size_t place_lists(gas_work *w, uint64_t n, const uint32_t room[GAS_LISTS]) {
  gas_arrays *a = &w->arrays;
  const uint64_t tiles = (n + GAS_TILE - 1) / GAS_TILE;
  size_t at = 0;
  memcpy(a->room, room, sizeof a->room);
  for (int k = 0; k < GAS_LISTS; k++) a->pair[k] = (uint32_t *)take(w->lists, &at, tiles * room[k] * 4);
  return at;
}

static sim_status make_lists(gas_work *w, const uint32_t room[GAS_LISTS]) {
  const uint64_t n = w->arrays.n;
  sim_backend_cuda.free(w->lists);
  w->lists = NULL;
  SIM_TRY(sim_backend_cuda.alloc(place_lists(w, n, room), &w->lists));
  (void)place_lists(w, n, room);
  return SIM_OK;
}

static double bytes(const collision_options *options) {
  gas_work w = {};
  uint32_t room[GAS_LISTS];
  for (int k = 0; k < GAS_LISTS; k++) room[k] = usual_room[k] * GAS_TILE;
  const uint64_t n = (uint64_t)options->n;
  return (double)(place(&w, n, sizeof(gas_mixed_grain)) + place_lists(&w, n, room));
}

/* ---- cells ---- */

static uint32_t cells_along(double size, double least, double most) {
  const double count = floor(size / least);
  return (uint32_t)(count > most ? most : count);
}

/* Edges of at least the reach, half of it along z; wider in a thin gas, so that cells are no more than twice the
 * grains. The skin shrinks where the box has no room for three cells. */
static void choose_cells(gas_work *w) {
  gas_arrays *a = &w->arrays;
  gas_cells *c = &a->cells;
  const collision_gas *g = &w->gas;
  const double most = 2 * g->radius[1];
  const double sum = g->radius[0] + g->radius[1], volume = g->size[0] * g->size[1] * g->size[2];
  const double crowd = cbrt(crowd_most * volume / (double)a->n) - most;
  double skin = w->options.skin;
  if (isnan(skin)) skin = fmin((g->equal ? usual_skin : mixed_skin) * sum, fmax(crowd, 0.1 * sum));
  for (int k = 0; k < 3; k++) skin = fmin(skin, g->size[k] / 3 * (1 - 1e-6) - most);
  const double thin = cbrt(volume / (double)a->n);
  const double edge = fmax((most + skin) * (1 + 1e-6), thin);
  for (int k = 0; k < 3; k++) {
    c->count[k] = cells_along(g->size[k], k == 2 ? edge / 2 : edge, k == 2 ? 80000 : 40000);
    if (c->count[k] < (k == 2 ? 6u : 3u)) c->count[k] = k == 2 ? 6 : 3;
  }
  const double filled = (double)a->n / ((double)c->count[0] * c->count[1] * c->count[2]);
  double side = round(sqrt(0.5 * cbrt((double)(GAS_TILE * GAS_TILE)) / filled));
  side = fmax(2, fmin(side, 16));
  for (int k = 1; k < 3; k++) {
    c->block[k] = (uint32_t)side * (k == 2 ? 2 : 1);
    if (c->block[k] > c->count[k]) c->block[k] = c->count[k];
    c->blocks[k - 1] = (c->count[k] + c->block[k] - 1) / c->block[k];
  }
  const uint64_t all = (uint64_t)c->blocks[0] * c->block[1] * c->blocks[1] * c->block[2] * c->count[0];
  c->all = (uint32_t)((all + GAS_SCAN - 1) / GAS_SCAN * GAS_SCAN);
  a->skin = (float)(skin * (1 - 1e-5));
  a->radius = (float)g->radius[1];
  a->rounding = 2 * (w->numbers.length[0] + w->numbers.length[1] + w->numbers.length[2]);
  if (!g->equal) a->rounding /= GAS_SHARE_LEAST;
}

/* ---- beginning and end ---- */

static void destroy(collision_work **work) {
  gas_work *w = (gas_work *)*work;
  if (w == NULL) return;
  sim_backend_cuda.free(w->memory);
  sim_backend_cuda.free(w->lists);
  free(w);
  *work = NULL;
}

static sim_status create(const collision_options *options, const collision_state *state, collision_work **out) {
  collision_gas fitted;
  const collision_gas *const gas = &fitted;
  *out = NULL;
  const char *lacks =
      collision_gas_fits(options, options->n, (const float *)state->mass, (const float *)state->radius, &fitted);
  if (lacks != NULL) return sim_fail(SIM_ERR_INTERNAL, "a gas cannot have %s", lacks);
  if (options->n >= 1 << 24)
    return sim_fail(SIM_ERR_SCENARIO, "a gas of %lld grains: at most %d on a GPU; run with --device cpu",
                    (long long)options->n, (1 << 24) - 1);
  gas_work *w = (gas_work *)calloc(1, sizeof *w);
  *out = (collision_work *)w;
  if (w == NULL) return sim_no_memory("the model");
  w->options = *options;
  w->state = *state;
  w->gas = *gas;
  w->before = options->before;
  w->numbers = collision_gas_step(gas, options->before, options->before);
  w->arrays.n = (uint32_t)options->n;
  w->arrays.tiles = (uint32_t)((options->n + GAS_TILE - 1) / GAS_TILE);
  choose_cells(w);
  if (w->arrays.cells.all > most_cells((uint64_t)options->n) + GAS_SCAN) {
    destroy(out);
    return sim_fail(SIM_ERR_INTERNAL, "more cells than memory was counted for");
  }
  const size_t grain = gas->equal ? sizeof(gas_grain) : sizeof(gas_mixed_grain);
  uint32_t room[GAS_LISTS];
  for (int k = 0; k < GAS_LISTS; k++) room[k] = usual_room[k] * GAS_TILE;
  sim_status status = sim_backend_cuda.alloc(place(w, (uint64_t)options->n, grain), &w->memory);
  if (status == SIM_OK) status = make_lists(w, room);
  if (status != SIM_OK) {
    destroy(out);
    return status;
  }
  (void)place(w, (uint64_t)options->n, grain);
  return SIM_OK;
}

/* ---- state ---- */

template <typename Grain> static void put_grain(const gas_work *w, int64_t i, Grain *out) {
  const collision_state *s = &w->state;
  for (int c = 0; c < 3; c++) {
    const uint64_t word = s->quanta[c * s->n + i];
    out->x[c] = (uint32_t)word;
    out->p[c] = (int32_t)(word >> 32);
  }
  if constexpr (!Grain::equal) {
    out->radius = ((const float *)s->radius)[i];
    out->weight = (float)(w->gas.mass / (double)((const float *)s->mass)[i]);
  }
}

/* A tally is 4 times a sum over time: what is at and above 2^32 units, and the rest, stand in two entries. */
static void put_tally(double *sum, int64_t n, double unit, unsigned long long word[2], bool load) {
  const double quarter = unit / 4, upper = quarter * 0x1p32;
  if (!load) {
    sum[0] = (double)(long long)word[1] * upper;
    if (n > 1) sum[1] = (double)word[0] * quarter;
    return;
  }
  const double whole = floor(sum[0] / upper + 0x1p-20), rest = sum[0] - whole * upper + (n > 1 ? sum[1] : 0);
  word[1] = (unsigned long long)(long long)whole;
  word[0] = (unsigned long long)llrint(fmax(rest, 0) / quarter);
}

template <typename Grain> static sim_status upload(gas_work *w, double *fastest) {
  const collision_state *s = &w->state;
  Grain *const piece = (Grain *)malloc(GAS_PIECE * (sizeof(Grain) + 2 * sizeof(uint32_t)));
  if (piece == NULL) return sim_no_memory("the grains on their way to the GPU");
  uint32_t *const id = (uint32_t *)(piece + GAS_PIECE), *const collisions = id + GAS_PIECE;
  sim_status status = SIM_OK;
  for (int64_t first = 0; first < s->n && status == SIM_OK; first += GAS_PIECE) {
    const int64_t count = s->n - first < GAS_PIECE ? s->n - first : (int64_t)GAS_PIECE;
    for (int64_t k = 0; k < count; k++) {
      put_grain(w, first + k, &piece[k]);
      id[k] = (uint32_t)(first + k);
      collisions[k] = (uint32_t)s->collisions[first + k];
      double square = 0;
      const double weight = w->gas.mass / (double)((const float *)s->mass)[first + k];
      for (int c = 0; c < 3; c++) square += piece[k].p[c] * weight * (piece[k].p[c] * weight);
      *fastest = fmax(*fastest, square);
    }
    const gas_arrays *a = &w->arrays;
    status = sim_backend_cuda.copy((Grain *)a->grain[0] + first, piece, (size_t)count * sizeof *piece);
    if (status == SIM_OK) status = sim_backend_cuda.copy(a->id[0] + first, id, (size_t)count * sizeof *id);
    if (status == SIM_OK)
      status = sim_backend_cuda.copy(a->collisions[0] + first, collisions, (size_t)count * sizeof *collisions);
  }
  free(piece);
  return status;
}

/* At a fresh start there are no whole numbers yet: they come from the state's. */
static void first_words(gas_work *w) {
  collision_state *s = &w->state;
  for (int64_t k = 0; k < 3 * s->n; k++)
    if (s->quanta[k] != 0) return;
  for (int c = 0; c < 3; c++)
    for (int64_t i = 0; i < s->n; i++)
      s->quanta[c * s->n + i] =
          collision_gas_word(&w->gas, c, (double)((const float *)s->position)[c * s->n + i],
                             (double)((const float *)s->mass)[i] * (double)((const float *)s->velocity)[c * s->n + i]);
}

/* What of the classes never changes. */
static sim_status put_classes(const gas_work *w) {
  gas_classes classes = {};
  const float *const mass = (const float *)w->state.mass, *const radius = (const float *)w->state.radius;
  const double *const size = w->gas.size;
  int64_t count[GAS_CLASSES] = {};
  for (int64_t i = 0; i < w->state.n; i++) {
    const uint32_t c = gas_class_of((float)(w->gas.mass / (double)mass[i]));
    classes.radius[c] = fmaxf(classes.radius[c], radius[i]);
    count[c]++;
  }
  for (int c = 0; c < GAS_CLASSES; c++) classes.density[c] = (float)((double)count[c] / (size[0] * size[1] * size[2]));
  return sim_backend_cuda.copy(w->arrays.classes, &classes, sizeof classes);
}

static sim_status load(collision_work *work) {
  gas_work *w = (gas_work *)work;
  double fastest = 0;
  first_words(w);
  SIM_TRY(w->gas.equal ? upload<gas_grain>(w, &fastest) : upload<gas_mixed_grain>(w, &fastest));
  if (!w->gas.equal)
    SIM_TRY(sim_backend_cuda.copy(w->arrays.mass, w->state.mass, (size_t)w->state.n * sizeof *w->arrays.mass));
  gas_control control[2] = {};
  for (int k = 0; k < 2; k++) {
    control[k].moved = control[k].moved_short = INFINITY;
    control[k].reach_long = w->arrays.skin;
    control[k].step = (float)(w->numbers.way * sqrt(fastest) * 1.0001);
  }
  if (!w->gas.equal) SIM_TRY(put_classes(w));
  unsigned long long tally[4] = {};
  put_tally(w->state.virial, w->state.n, w->gas.virial_unit, tally, true);
  put_tally(w->state.dissipated, w->state.n, w->gas.lost_unit, tally + 2, true);
  w->launch = w->since = 0;
  w->chunk = GAS_CHUNK_LEAST;
  w->seen = 0;
  w->wanted = 0;
  SIM_TRY(sim_backend_cuda.copy(w->arrays.control, control, sizeof control));
  SIM_TRY(sim_backend_cuda.copy(w->arrays.tally, tally, sizeof tally));
  const unsigned none[4] = {};
  SIM_TRY(sim_backend_cuda.copy(w->arrays.motion, none, sizeof none));
  SIM_TRY(sim_backend_cuda.copy(w->arrays.need, none, sizeof none));
  return sim_backend_cuda.copy(w->arrays.fault, none, sizeof(int));
}

/* ---- steps ---- */

static void queue(gas_work *w) {
  if (w->since >= w->chunk) collision_cuda_rebuild(w);
  collision_cuda_step(w);
}

static sim_status fault_of(int fault) {
  if (fault & GAS_FAST)
    return sim_fail(SIM_ERR_DIVERGED, "a grain moves by more than 1/32 of the least radius in a step: choose a smaller "
                                      "integrate.dt");
  return sim_fail(SIM_ERR_DIVERGED, "more grains are near to each other than fit the lists on a GPU: they are pressed "
                                    "into each other, or run with --device cpu");
}

/* A list that had no room gets what it needs and some more; where there is not as much memory, pairs are listed less
 * far away. All lists are made anew then. */
static sim_status make_room(gas_work *w, gas_control *now) {
  gas_arrays *a = &w->arrays;
  unsigned need[GAS_LISTS];
  uint32_t room[GAS_LISTS], old[GAS_LISTS];
  sim_status status = SIM_OK;
  SIM_TRY(sim_backend_cuda.copy(need, a->need, sizeof need));
  bool fits = true;
  for (int k = 0; k < GAS_LISTS; k++) {
    old[k] = room[k] = a->room[k];
    fits = fits && need[k] <= room_most;
    if (need[k] <= room[k]) continue;
    room[k] = (need[k] + need[k] / 8 + GAS_TILE - 1) / GAS_TILE * GAS_TILE;
    if (room[k] > room_most) room[k] = room_most;
  }
  if (fits) status = make_lists(w, room);
  if (!fits || status == SIM_ERR_NO_MEMORY) {
    a->skin *= 0.5f;
    if (a->skin < 1e-3f * a->radius) return status != SIM_OK ? status : fault_of(GAS_CROWDED);
    now->reach_long = fminf(0.5f * now->reach_long, a->skin);
    status = make_lists(w, old);
  }
  SIM_TRY(status);
  now->moved = now->moved_short = INFINITY;
  const unsigned none[GAS_LISTS] = {};
  SIM_TRY(sim_backend_cuda.copy(&a->control[w->launch & 1], now, sizeof *now));
  SIM_TRY(sim_backend_cuda.copy(a->need, none, sizeof none));
  return sim_backend_cuda.copy(a->fault, none, sizeof(int));
}

/* Waits until all steps are done, in which the lists may have to be made anew, and leaves lists that hold. */
static sim_status catch_up(gas_work *w) {
  gas_control now;
  int fault = 0;
  long long done = -1;
  for (;;) {
    collision_cuda_rebuild(w);
    SIM_TRY(sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now));
    SIM_TRY(sim_backend_cuda.copy(&fault, w->arrays.fault, sizeof fault));
    if (fault != 0 && fault != GAS_CROWDED) return fault_of(fault);
    if (fault == GAS_CROWDED) {
      SIM_TRY(make_room(w, &now));
      done = -1;
    } else {
      if (now.done == w->wanted) break;
      if (now.done == done) return fault_of(GAS_FAST);
      done = now.done;
    }
    for (long long k = now.done; k < w->wanted; k++) queue(w);
  }
  const double last = now.step > 0 ? now.reach_long / (2 * now.step) : INFINITY;
  w->chunk = (int)fmax(GAS_CHUNK_LEAST, fmin((last - 2) / decisions, 100));
  return SIM_OK;
}

static void begin(collision_work *work, double t) {
  gas_work *w = (gas_work *)work;
  (void)t;
  w->failed = catch_up(w);
  if (w->failed == SIM_OK) collision_cuda_look(w, true);
}

static sim_status step(collision_work *work, double t, double dt) {
  gas_work *w = (gas_work *)work;
  (void)t;
  SIM_TRY(w->failed);
  if (dt != w->before || w->uneven) {
    SIM_TRY(catch_up(w));
    w->numbers = collision_gas_step(&w->gas, w->before, dt);
    w->uneven = dt != w->before;
    w->before = dt;
  }
  if (w->wanted - w->seen >= 1024) {
    SIM_TRY(catch_up(w));
    w->seen = w->wanted;
  }
  queue(w);
  w->wanted++;
  return sim_queue_cuda.status();
}

/* ---- what is seen ---- */

static sim_status look_now(gas_work *w) {
  SIM_TRY(catch_up(w));
  const collision_gas_numbers numbers = w->numbers;
  w->numbers = collision_gas_step(&w->gas, w->before, w->before);
  collision_cuda_look(w, false);
  w->numbers = numbers;
  return SIM_OK;
}

static sim_status store(collision_work *work) {
  gas_work *w = (gas_work *)work;
  const collision_state *s = &w->state;
  SIM_TRY(look_now(w));
  unsigned long long tally[4];
  const gas_piece *const piece = (const gas_piece *)w->staged;
  for (int64_t first = 0; first < s->n; first += GAS_PIECE) {
    const int64_t count = s->n - first < GAS_PIECE ? s->n - first : (int64_t)GAS_PIECE;
    collision_cuda_stage(w, first, count);
    const size_t words = (size_t)count * 8, reals = (size_t)count * 4;
    for (int c = 0; c < 3; c++) {
      const int64_t at = c * s->n + first;
      SIM_TRY(sim_backend_cuda.copy(s->quanta + at, piece->word[c], words));
      SIM_TRY(sim_backend_cuda.copy((float *)s->position + at, piece->position[c], reals));
      SIM_TRY(sim_backend_cuda.copy((float *)s->velocity + at, piece->velocity[c], reals));
    }
    SIM_TRY(sim_backend_cuda.copy(s->collisions + first, piece->collisions, words));
  }
  SIM_TRY(sim_backend_cuda.copy(tally, w->arrays.tally, sizeof tally));
  put_tally(s->virial, s->n, w->gas.virial_unit, tally, false);
  put_tally(s->dissipated, s->n, w->gas.lost_unit, tally + 2, false);
  return SIM_OK;
}

static sim_status sums(collision_work *work, double t, collision_sums *out) {
  gas_work *w = (gas_work *)work;
  (void)t;
  long long looked[GAS_LOOKS];
  double all[GAS_QUANTITIES];
  unsigned long long tally[4];
  SIM_TRY(look_now(w));
  collision_cuda_sums(w);
  const size_t blocks = ((size_t)w->arrays.n + 255) / 256;
  SIM_TRY(sim_backend_cuda.copy(looked, w->looked, sizeof looked));
  SIM_TRY(sim_backend_cuda.copy(all, w->partial + blocks * GAS_QUANTITIES, sizeof all));
  SIM_TRY(sim_backend_cuda.copy(tally, w->arrays.tally, sizeof tally));
  const collision_gas *g = &w->gas;
  const double dt = w->before;
  /* Contacts in half units; sums over time in quarters, with half of what now would add. */
  const double virial = ((double)(long long)tally[1] * 0x1p32 + (double)tally[0] + (double)looked[GAS_VIRIAL]) / 4;
  const double lost = ((double)(long long)tally[3] * 0x1p32 + (double)tally[2] + (double)looked[GAS_LOST]) / 4;
  const double stiffness = g->law.k0 + g->law.km * 0.5 * g->mass;
  uint32_t deep = 0, not_id = 0;
  deep = (uint32_t)((unsigned long long)looked[GAS_OVERLAP] >> 32);
  not_id = (uint32_t)looked[GAS_OVERLAP];
  float overlap;
  memcpy(&overlap, &deep, sizeof overlap);
  *out = {};
  out->mass = all[GAS_MASS];
  out->kinetic = all[GAS_KINETIC];
  out->elastic = 0.25 * (double)looked[GAS_ELASTIC] * 0x1p-40 * stiffness * (4 * g->radius[1] * g->radius[1]);
  out->dissipated = lost * g->lost_unit;
  out->virial = virial * g->virial_unit;
  out->collisions = all[GAS_COLLISIONS];
  for (int c = 0; c < 3; c++) {
    out->momentum[c] = 0.5 * (double)looked[GAS_MOMENTUM + c] * g->quantum;
    out->angular[c] = all[GAS_ANGULAR + c];
  }
  for (int c = 0; c < 6; c++) {
    out->flux[c] = all[GAS_FLUX + c];
    out->stress[c] = 0.5 * (double)looked[GAS_STRESS + c] * g->virial_unit / dt;
  }
  out->touching = (double)looked[GAS_TOUCHING];
  out->overlap = (double)overlap;
  out->overlap_grain = overlap > 0 ? (uint64_t)(uint32_t)~not_id : 0;
  return SIM_OK;
}

static constexpr collision_ops table() {
  collision_ops ops = {};
  ops.dtype = SIM_F32;
  ops.exact = true;
  ops.bytes = bytes;
  ops.create = create;
  ops.destroy = destroy;
  ops.load = load;
  ops.begin = begin;
  ops.step = step;
  ops.store = store;
  ops.sums = sums;
  return ops;
}
const collision_ops collision_gas_ops_cuda = table();
