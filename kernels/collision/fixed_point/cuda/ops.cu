/* Fixed-point solver on an NVIDIA GPU: memory, state and queue of steps. CPU counterpart: cpu/ops.c. */
#include "kernels/collision/fixed_point/cuda/work.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Gap up to which pairs of the greatest grains may be in long lists, over the sum of the least and the greatest radius;
 * less among unequal grains, where large ones are slow. Chosen by measurement. */
static const double default_skin = 0.42, mixed_skin = 0.21;
/* Decisions during the life of a long list; slightly above 2, so that it lasts for two. */
static const double decisions = 2.15;
/* Volume in reach over the volume of the box a grain: 12 neighbours. */
static const double crowd_most = 3.1;
/* Initial room of lists, in entries a grain: 6.5 neighbours and a margin for differences between tiles. Lists grow
 * where grains are packed more closely. */
static const uint32_t default_room[FIXED_LISTS] = {10, 6};
static const uint32_t room_most = 255 * FIXED_TILE; /* offsets of entries have 32 bits */

/* ---- memory ---- */

static void *carve(void *memory, size_t *at, size_t bytes) {
  void *const out = memory != NULL ? (char *)memory + *at : NULL;
  *at += (bytes + 255) / 256 * 256;
  return out;
}

/* Divides w->memory into arrays; returns the bytes. NULL: only counts. On several ranks the grains are elsewhere. */
static size_t carve_arrays(collision_work *w, uint64_t n, size_t grain) {
  fixed_arrays *a = &w->arrays;
  const uint64_t tiles = (n + FIXED_TILE - 1) / FIXED_TILE, all = tiles * FIXED_TILE;
  const bool ranks = w->options.comm->size > 1;
  size_t at = 0;
  a->mass = (float *)carve(w->memory, &at, grain == sizeof(fixed_mixed_grain) ? all * 4 : 0);
  for (int k = 0; k < 2 && !ranks; k++) {
    a->grain[k] = carve(w->memory, &at, all * grain);
    a->id[k] = (uint32_t *)carve(w->memory, &at, all * 4);
    a->collisions[k] = (uint32_t *)carve(w->memory, &at, all * 4);
  }
  a->scratch = (uint4 *)carve(w->memory, &at, all * 16);
  a->rank = (uint16_t *)carve(w->memory, &at, all * 2);
  a->cell = (uint32_t *)carve(w->memory, &at, (fixed_cells_most(n) + FIXED_SCAN + 4) * 4);
  a->row = (uint32_t *)carve(w->memory, &at, (fixed_cells_most(n) + FIXED_SCAN + 4) * 4);
  a->scan = (uint32_t *)carve(w->memory, &at, (fixed_cells_most(n) / FIXED_SCAN + 2) * 8);
  for (int k = 0; k < FIXED_LISTS; k++) a->count[k] = (uint32_t *)carve(w->memory, &at, tiles * 4);
  a->control = (fixed_control *)carve(w->memory, &at, 2 * sizeof(fixed_control));
  a->motion = (unsigned *)carve(w->memory, &at, 16);
  a->fault = (int *)carve(w->memory, &at, 4);
  a->need = (unsigned *)carve(w->memory, &at, FIXED_LISTS * sizeof(unsigned));
  a->tally = (unsigned long long *)carve(w->memory, &at, 32);
  a->classes = (mass_classes *)carve(w->memory, &at, grain == sizeof(fixed_mixed_grain) ? sizeof(mass_classes) : 0);
  if (grain != sizeof(fixed_mixed_grain)) a->classes = NULL;
  w->pair_sums = (long long *)carve(w->memory, &at, FIXED_CONTACT_SUMS * 8);
  a->slot = (uint32_t *)carve(w->memory, &at, all * 4);
  w->partial = (double *)carve(w->memory, &at, (tiles + 1) * FIXED_GRAIN_SUMS * 8);
  w->output = carve(w->memory, &at, sizeof(fixed_output));
  if (ranks) {
    a->ranks.share = (fixed_share *)carve(w->memory, &at, sizeof(fixed_share));
    a->ranks.send = (uint32_t *)carve(w->memory, &at, all * 4);
    a->whole = (unsigned long long *)carve(w->memory, &at, FIXED_WHOLE * n * 8);
  }
  return at;
}

/* Divides the memory of w->lists likewise. */
static size_t carve_lists(collision_work *w, uint64_t n, const uint32_t room[FIXED_LISTS]) {
  fixed_arrays *a = &w->arrays;
  const uint64_t tiles = (n + FIXED_TILE - 1) / FIXED_TILE;
  size_t at = 0;
  memcpy(a->room, room, sizeof a->room);
  for (int k = 0; k < FIXED_LISTS; k++) a->pair[k] = (uint32_t *)carve(w->lists, &at, tiles * room[k] * 4);
  return at;
}

static sim_status make_lists(collision_work *w, const uint32_t room[FIXED_LISTS]) {
  const uint64_t n = w->arrays.n;
  sim_backend_cuda.free(w->lists);
  w->lists = NULL;
  SIM_TRY(sim_backend_cuda.alloc(carve_lists(w, n, room), &w->lists));
  (void)carve_lists(w, n, room);
  return SIM_OK;
}

static double bytes(const collision_options *options) {
  collision_work w = {};
  uint32_t room[FIXED_LISTS];
  w.options.comm = options->comm;
  for (int k = 0; k < FIXED_LISTS; k++) room[k] = default_room[k] * FIXED_TILE;
  const uint64_t n = (uint64_t)options->n;
  return (double)(carve_arrays(&w, n, sizeof(fixed_mixed_grain)) + carve_lists(&w, n, room)) +
         collision_fixed_cuda_ranks_bytes(options, sizeof(fixed_mixed_grain));
}

/* ---- cells ---- */

static uint32_t cells_along(double size, double least, double most) {
  const double count = floor(size / least);
  return (uint32_t)(count > most ? most : count);
}

/* Chooses cells with edges of at least the reach, half of it along z; wider in dilute systems, to limit the cells to
 * two a grain. The skin shrinks where the box has no room for three cells. */
static void choose_cells(collision_work *w) {
  fixed_arrays *a = &w->arrays;
  fixed_cells *c = &a->cells;
  const fixed_point_system *g = &w->system;
  const double most = 2 * g->radius[1];
  const double sum = g->radius[0] + g->radius[1], volume = g->size[0] * g->size[1] * g->size[2];
  const double crowd = cbrt(crowd_most * volume / (double)a->n) - most;
  double skin = w->options.skin;
  if (isnan(skin)) skin = fmin((g->equal ? default_skin : mixed_skin) * sum, fmax(crowd, 0.1 * sum));
  for (int k = 0; k < 3; k++) skin = fmin(skin, g->size[k] / 3 * (1 - 1e-6) - most);
  const double thin = cbrt(volume / (double)a->n);
  const double edge = fmax((most + skin) * (1 + 1e-6), thin);
  for (int k = 0; k < 3; k++) {
    c->count[k] = cells_along(g->size[k], k == 2 ? edge / 2 : edge, k == 2 ? 80000 : 40000);
    if (c->count[k] < (k == 2 ? 6u : 3u)) c->count[k] = k == 2 ? 6 : 3;
  }
  const double filled = (double)a->n / ((double)c->count[0] * c->count[1] * c->count[2]);
  double side = round(sqrt(0.5 * cbrt((double)(FIXED_TILE * FIXED_TILE)) / filled));
  side = fmax(2, fmin(side, 16));
  for (int k = 1; k < 3; k++) {
    c->block[k] = (uint32_t)side * (k == 2 ? 2 : 1);
    if (c->block[k] > c->count[k]) c->block[k] = c->count[k];
    c->blocks[k - 1] = (c->count[k] + c->block[k] - 1) / c->block[k];
  }
  const uint64_t all = (uint64_t)c->blocks[0] * c->block[1] * c->blocks[1] * c->block[2] * c->count[0];
  c->all = (uint32_t)((all + FIXED_SCAN - 1) / FIXED_SCAN * FIXED_SCAN);
  c->layers = c->count[1];
  c->row[0] = c->count[1] * c->count[2];
  c->row[1] = c->count[2];
  a->skin = (float)(skin * (1 - 1e-5));
  a->radius = (float)g->radius[1];
  a->rounding = 2 * (w->numbers.length[0] + w->numbers.length[1] + w->numbers.length[2]);
  if (!g->equal) a->rounding /= MASS_CLASS_SHARE_MIN;
}

/* ---- beginning and end ---- */

static void destroy(collision_work **work) {
  collision_work *w = *work;
  if (w == NULL) return;
  collision_fixed_cuda_ranks_destroy(w);
  sim_backend_cuda.free(w->memory);
  sim_backend_cuda.free(w->lists);
  free(w);
  *work = NULL;
}

static sim_status create(const collision_options *options, const collision_state *state, collision_work **out) {
  fixed_point_system fitted;
  const fixed_point_system *const system = &fitted;
  *out = NULL;
  const char *excluded = collision_fixed_point_excludes(options, options->n, (const float *)state->mass,
                                                        (const float *)state->radius, &fitted);
  if (excluded != NULL) return sim_fail(SIM_ERR_INTERNAL, "the fixed-point solver excludes %s", excluded);
  const int64_t most = (1 << 24) - 1 - (options->comm->size > 1 ? FIXED_TILE : 0); /* ghosts follow whole tiles */
  if (options->n > most)
    return sim_fail(SIM_ERR_SCENARIO,
                    "%lld grains: the fixed-point solver takes at most %lld on a GPU; run with --device cpu",
                    (long long)options->n, (long long)most);
  collision_work *w = (collision_work *)calloc(1, sizeof *w);
  *out = w;
  if (w == NULL) return sim_no_memory("the model");
  w->options = *options;
  w->state = *state;
  w->system = *system;
  w->before = options->before;
  w->numbers = collision_fixed_point_constants(system, options->before, options->before);
  w->arrays.n = (uint32_t)options->n;
  w->arrays.tiles = (uint32_t)((options->n + FIXED_TILE - 1) / FIXED_TILE);
  choose_cells(w);
  if (w->arrays.cells.all > fixed_cells_most((uint64_t)options->n) + FIXED_SCAN) {
    destroy(out);
    return sim_fail(SIM_ERR_INTERNAL, "more cells than memory was counted for");
  }
  const size_t grain = system->equal ? sizeof(fixed_grain) : sizeof(fixed_mixed_grain);
  uint32_t room[FIXED_LISTS];
  for (int k = 0; k < FIXED_LISTS; k++) room[k] = default_room[k] * FIXED_TILE;
  sim_status status = sim_backend_cuda.alloc(carve_arrays(w, (uint64_t)options->n, grain), &w->memory);
  if (status == SIM_OK) status = make_lists(w, room);
  if (status == SIM_OK) {
    (void)carve_arrays(w, (uint64_t)options->n, grain);
    status = collision_fixed_cuda_ranks_create(w, grain);
  }
  if (status != SIM_OK) destroy(out);
  return status;
}

/* ---- state ---- */

template <typename Grain> static void encode_grain(const collision_work *w, int64_t i, Grain *out) {
  const collision_state *s = &w->state;
  for (int c = 0; c < 3; c++) {
    const uint64_t word = s->quanta[c * s->n + i];
    out->x[c] = (uint32_t)word;
    out->p[c] = (int32_t)(word >> 32);
  }
  if constexpr (!Grain::equal) {
    out->radius = ((const float *)s->radius)[i];
    out->weight = (float)(w->system.mass / (double)((const float *)s->mass)[i]);
  }
}

/* Converts between a tally, four times a sum over time in two words, and the state: sum[0] holds the multiples of 2^32
 * units, sum[1] the rest. */
static void convert_tally(double *sum, int64_t n, double unit, unsigned long long word[2], bool load) {
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

template <typename Grain> static sim_status upload(collision_work *w, double *fastest) {
  const collision_state *s = &w->state;
  Grain *const piece = (Grain *)malloc(FIXED_OUTPUT * (sizeof(Grain) + 2 * sizeof(uint32_t)));
  if (piece == NULL) return sim_no_memory("the grains on their way to the GPU");
  uint32_t *const id = (uint32_t *)(piece + FIXED_OUTPUT), *const collisions = id + FIXED_OUTPUT;
  sim_status status = SIM_OK;
  int64_t to = 0, count = 0;
  for (int64_t i = 0; i < s->n && status == SIM_OK; i++) {
    encode_grain(w, i, &piece[count]);
    double square = 0;
    const double weight = w->system.mass / (double)((const float *)s->mass)[i];
    for (int c = 0; c < 3; c++) square += piece[count].p[c] * weight * (piece[count].p[c] * weight);
    *fastest = fmax(*fastest, square);
    id[count] = (uint32_t)i;
    collisions[count] = (uint32_t)s->collisions[i];
    if (collision_fixed_cuda_owns(w, i)) count++;
    if (count < FIXED_OUTPUT && (i + 1 < s->n || count == 0)) continue;
    const fixed_arrays *a = &w->arrays;
    status = sim_backend_cuda.copy((Grain *)a->grain[0] + to, piece, (size_t)count * sizeof *piece);
    if (status == SIM_OK) status = sim_backend_cuda.copy(a->id[0] + to, id, (size_t)count * sizeof *id);
    if (status == SIM_OK)
      status = sim_backend_cuda.copy(a->collisions[0] + to, collisions, (size_t)count * sizeof *collisions);
    to += count;
    count = 0;
  }
  free(piece);
  return status;
}

/* At a fresh start, encodes positions and velocities as integers; a restart has them. */
static void encode_state(collision_work *w) {
  collision_state *s = &w->state;
  for (int64_t k = 0; k < 3 * s->n; k++)
    if (s->quanta[k] != 0) return;
  for (int c = 0; c < 3; c++)
    for (int64_t i = 0; i < s->n; i++)
      s->quanta[c * s->n + i] = collision_fixed_point_encode(
          &w->system, c, (double)((const float *)s->position)[c * s->n + i],
          (double)((const float *)s->mass)[i] * (double)((const float *)s->velocity)[c * s->n + i]);
}

/* The constant part of the classes. */
static sim_status upload_mass_classes(const collision_work *w) {
  mass_classes classes = {};
  const float *const mass = (const float *)w->state.mass, *const radius = (const float *)w->state.radius;
  const double *const size = w->system.size;
  int64_t count[MASS_CLASSES] = {};
  for (int64_t i = 0; i < w->state.n; i++) {
    const uint32_t c = mass_class_of((float)(w->system.mass / (double)mass[i]));
    classes.radius[c] = fmaxf(classes.radius[c], radius[i]);
    count[c]++;
  }
  for (int c = 0; c < MASS_CLASSES; c++) classes.density[c] = (float)((double)count[c] / (size[0] * size[1] * size[2]));
  return sim_backend_cuda.copy(w->arrays.classes, &classes, sizeof classes);
}

static sim_status load(collision_work *w) {
  double fastest = 0;
  encode_state(w);
  SIM_TRY(collision_fixed_cuda_ranks_load(w));
  SIM_TRY(w->system.equal ? upload<fixed_grain>(w, &fastest) : upload<fixed_mixed_grain>(w, &fastest));
  if (!w->system.equal)
    SIM_TRY(sim_backend_cuda.copy(w->arrays.mass, w->state.mass, (size_t)w->state.n * sizeof *w->arrays.mass));
  fixed_control control[2] = {};
  for (int k = 0; k < 2; k++) {
    control[k].moved = control[k].moved_short = INFINITY;
    control[k].reach_long = w->arrays.skin;
    control[k].step = (float)(w->numbers.displacement * sqrt(fastest) * 1.0001);
  }
  if (!w->system.equal) SIM_TRY(upload_mass_classes(w));
  unsigned long long tally[4] = {};
  if (w->options.comm->rank == 0) { /* the sums of all ranks add up */
    convert_tally(w->state.virial, w->state.n, w->system.virial_unit, tally, true);
    convert_tally(w->state.dissipated, w->state.n, w->system.dissipated_unit, tally + 2, true);
  }
  w->launch = w->undecided = 0;
  w->chunk = FIXED_CHUNK_MIN;
  w->confirmed = 0;
  w->queued = 0;
  SIM_TRY(sim_backend_cuda.copy(w->arrays.control, control, sizeof control));
  SIM_TRY(sim_backend_cuda.copy(w->arrays.tally, tally, sizeof tally));
  const unsigned none[4] = {};
  SIM_TRY(sim_backend_cuda.copy(w->arrays.motion, none, sizeof none));
  SIM_TRY(sim_backend_cuda.copy(w->arrays.need, none, sizeof none));
  return sim_backend_cuda.copy(w->arrays.fault, none, sizeof(int));
}

/* ---- steps ---- */

static void queue(collision_work *w) {
  if (w->undecided >= w->chunk) collision_fixed_cuda_lists(w);
  collision_fixed_cuda_step(w);
}

static sim_status fault_of(int fault) {
  if (fault & FIXED_LOST) return sim_fail(SIM_ERR_INTERNAL, "the ranks have lost grains");
  if (fault & FIXED_FAST)
    return sim_fail(SIM_ERR_DIVERGED, "a grain moves by more than a thirty-second of a radius in a step: contacts are "
                                      "too stiff or grains too fast for this step");
  return sim_fail(SIM_ERR_DIVERGED, "more grains are near to each other than fit the lists on a GPU: they are pressed "
                                    "into each other, or run with --device cpu");
}

/* Enlarges lists that ran out of room; where memory does not suffice, shrinks the reach. Then all lists are rebuilt. */
static sim_status make_room(collision_work *w, fixed_control *now) {
  fixed_arrays *a = &w->arrays;
  unsigned need[FIXED_LISTS];
  uint32_t room[FIXED_LISTS], old[FIXED_LISTS];
  sim_status status = SIM_OK;
  uint64_t lacking;
  SIM_TRY(sim_backend_cuda.copy(need, a->need, sizeof need));
  bool fits = true;
  for (int k = 0; k < FIXED_LISTS; k++) {
    old[k] = room[k] = a->room[k];
    fits = fits && need[k] <= room_most;
    if (need[k] <= room[k]) continue;
    room[k] = (need[k] + need[k] / 8 + FIXED_TILE - 1) / FIXED_TILE * FIXED_TILE;
    if (room[k] > room_most) room[k] = room_most;
  }
  if (fits) status = make_lists(w, room);
  SIM_TRY(sim_comm_agree(w->options.comm, !fits || status == SIM_ERR_NO_MEMORY, &lacking));
  if (lacking) {
    a->skin *= 0.5f;
    if (a->skin < 1e-3f * a->radius) return status != SIM_OK ? status : fault_of(FIXED_CROWDED);
    now->reach_long = fminf(0.5f * now->reach_long, a->skin);
    status = make_lists(w, old);
  }
  SIM_TRY(status);
  now->moved = now->moved_short = INFINITY;
  const unsigned none[FIXED_LISTS] = {};
  SIM_TRY(sim_backend_cuda.copy(&a->control[w->launch & 1], now, sizeof *now));
  SIM_TRY(sim_backend_cuda.copy(a->need, none, sizeof none));
  SIM_TRY(collision_fixed_cuda_clear_fault(w));
  return sim_backend_cuda.copy(a->fault, none, sizeof(int));
}

/* Waits for all queued steps, enqueues steps that met invalid lists again, and leaves valid lists. */
static sim_status catch_up(collision_work *w) {
  fixed_control now;
  int fault = 0;
  long long done = -1;
  for (;;) {
    collision_fixed_cuda_lists(w);
    SIM_TRY(sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now));
    SIM_TRY(sim_backend_cuda.copy(&fault, w->arrays.fault, sizeof fault));
    SIM_TRY(collision_fixed_cuda_agree_fault(w, &fault));
    if (fault != 0 && fault != FIXED_CROWDED) return fault_of(fault);
    if (fault == FIXED_CROWDED) {
      SIM_TRY(make_room(w, &now));
      done = -1;
    } else {
      if (now.done == w->queued) break;
      if (now.done == done) return fault_of(FIXED_FAST);
      done = now.done;
    }
    for (long long k = now.done; k < w->queued; k++) queue(w);
  }
  const double last = now.step > 0 ? now.reach_long / (2 * now.step) : INFINITY;
  w->chunk = (int)fmax(FIXED_CHUNK_MIN, fmin((last - 2) / decisions, 100));
  return SIM_OK;
}

static void begin(collision_work *w, double t) {
  (void)t;
  w->failed = catch_up(w);
  if (w->failed == SIM_OK) collision_fixed_cuda_contact_sums(w, true);
  if (w->failed == SIM_OK) w->failed = collision_fixed_cuda_outdate(w);
}

static sim_status step(collision_work *w, double t, double dt) {
  (void)t;
  SIM_TRY(w->failed);
  if (dt != w->before || w->uneven) {
    SIM_TRY(catch_up(w));
    w->numbers = collision_fixed_point_constants(&w->system, w->before, dt);
    w->uneven = dt != w->before;
    w->before = dt;
  }
  if (w->queued - w->confirmed >= 1024) {
    SIM_TRY(catch_up(w));
    w->confirmed = w->queued;
  }
  queue(w);
  w->queued++;
  return sim_queue_cuda.status();
}

/* ---- observations ---- */

static sim_status sum_contacts_now(collision_work *w) {
  SIM_TRY(catch_up(w));
  const fixed_point_constants numbers = w->numbers;
  w->numbers = collision_fixed_point_constants(&w->system, w->before, w->before);
  collision_fixed_cuda_contact_sums(w, false);
  w->numbers = numbers;
  collision_fixed_cuda_gather(w);
  return SIM_OK;
}

static sim_status store(collision_work *w) {
  const collision_state *s = &w->state;
  SIM_TRY(sum_contacts_now(w));
  unsigned long long tally[4];
  const fixed_output *const piece = (const fixed_output *)w->output;
  for (int64_t first = 0; first < s->n; first += FIXED_OUTPUT) {
    const int64_t count = s->n - first < FIXED_OUTPUT ? s->n - first : (int64_t)FIXED_OUTPUT;
    collision_fixed_cuda_output(w, first, count);
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
  SIM_TRY(collision_fixed_cuda_add(w, NULL, tally));
  convert_tally(s->virial, s->n, w->system.virial_unit, tally, false);
  convert_tally(s->dissipated, s->n, w->system.dissipated_unit, tally + 2, false);
  return SIM_OK;
}

static sim_status sums(collision_work *w, double t, collision_sums *out) {
  (void)t;
  long long pair_sums[FIXED_CONTACT_SUMS];
  double all[FIXED_GRAIN_SUMS];
  unsigned long long tally[4];
  SIM_TRY(sum_contacts_now(w));
  collision_fixed_cuda_grain_sums(w);
  const size_t blocks = ((size_t)w->arrays.n + 255) / 256;
  SIM_TRY(sim_backend_cuda.copy(pair_sums, w->pair_sums, sizeof pair_sums));
  SIM_TRY(sim_backend_cuda.copy(all, w->partial + blocks * FIXED_GRAIN_SUMS, sizeof all));
  SIM_TRY(sim_backend_cuda.copy(tally, w->arrays.tally, sizeof tally));
  SIM_TRY(collision_fixed_cuda_add(w, pair_sums, tally));
  const fixed_point_system *g = &w->system;
  const double dt = w->before;
  /* Contacts are in halves; sums over time in quarters, with half of the current impulses. */
  const double virial = ((double)(long long)tally[1] * 0x1p32 + (double)tally[0] + (double)pair_sums[FIXED_VIRIAL]) / 4;
  const double dissipated =
      ((double)(long long)tally[3] * 0x1p32 + (double)tally[2] + (double)pair_sums[FIXED_DISSIPATED]) / 4;
  const double stiffness = g->law.k0 + g->law.km * 0.5 * g->mass;
  uint32_t deep = 0, not_id = 0;
  deep = (uint32_t)((unsigned long long)pair_sums[FIXED_OVERLAP] >> 32);
  not_id = (uint32_t)pair_sums[FIXED_OVERLAP];
  float overlap;
  memcpy(&overlap, &deep, sizeof overlap);
  *out = {};
  out->mass = all[FIXED_MASS];
  out->kinetic = all[FIXED_KINETIC];
  out->elastic = 0.25 * (double)pair_sums[FIXED_ELASTIC] * 0x1p-40 * stiffness * (4 * g->radius[1] * g->radius[1]);
  out->dissipated = dissipated * g->dissipated_unit;
  out->virial = virial * g->virial_unit;
  out->collisions = all[FIXED_COLLISIONS];
  for (int c = 0; c < 3; c++) {
    out->momentum[c] = 0.5 * (double)pair_sums[FIXED_MOMENTUM + c] * g->quantum;
    out->angular[c] = all[FIXED_ANGULAR + c];
  }
  for (int c = 0; c < 6; c++) {
    out->flux[c] = all[FIXED_FLUX + c];
    out->stress[c] = 0.5 * (double)pair_sums[FIXED_STRESS + c] * g->virial_unit / dt;
  }
  out->touching = (double)pair_sums[FIXED_TOUCHING];
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
const collision_ops collision_fixed_point_cuda = table();
