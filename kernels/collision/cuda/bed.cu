/* Operations for grains of any kind on an NVIDIA GPU, for one type of the state: REAL is float or double. */
typedef REAL real;
#include "kernels/collision/cuda/bed_observe.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Gap up to which two stand in a list, in radii of the least grain: measured. */
static const double usual_skin = 0.2;

static unsigned grid_of(uint64_t work) {
  const uint64_t most = 16 * (uint64_t)sim_cuda_multiprocessors(), blocks = (work + BED_THREADS - 1) / BED_THREADS;
  return (unsigned)(blocks < most ? blocks : most);
}

/* ---- memory ---- */

static void *take(const bed_work *w, size_t *at, size_t bytes) {
  void *const out = w->memory != NULL ? (char *)w->memory + *at : NULL;
  *at += (bytes + 255) / 256 * 256;
  return out;
}

template <typename T> static void take_array(const bed_work *w, size_t *at, T **out, uint64_t count) {
  *out = (T *)take(w, at, (size_t)count * sizeof(T));
}

/* Entries of a list: a slice is as long as its longest row, which radii make uneven. */
static uint64_t room_for(uint64_t n, double ratio) {
  return (ratio < 1.3 ? 11 : ratio < 2.5 ? 20 : 40) * (n + 32) + 4096;
}

/* Places all arrays; with no memory yet, only counts. */
static size_t place(bed_work *w) {
  bed_arrays *a = &w->arrays;
  const bed_numbers *b = &w->numbers;
  const uint64_t n = b->n;
  size_t at = 0;
  for (int s = 0; s < 2; s++) {
    bed_grains *g = &a->grains[s];
    four **const fours[] = {&g->place, &g->velocity, &g->spin, &g->seen, &g->turned};
    for (size_t k = 0; k < sizeof fours / sizeof *fours; k++) take_array(w, &at, fours[k], n);
    a->grains[1 - s].acceleration = g->seen;
    a->grains[1 - s].twirl = g->turned;
    take_array(w, &at, &g->dissipated, n);
    take_array(w, &at, &g->virial, n);
    take_array(w, &at, &g->collisions, n);
    take_array(w, &at, &g->id, n);
    take_array(w, &at, &g->material, n);
    take_array(w, &at, &g->wall_spring, n * (uint64_t)b->wall_numbers);
    bed_list *l = &a->list[s];
    take_array(w, &at, &l->base, (uint64_t)b->slices + 1);
    take_array(w, &at, &l->count, n);
    take_array(w, &at, &l->neighbour, b->room);
    take_array(w, &at, &l->spring, (uint64_t)b->room * (uint64_t)b->springs);
  }
  take_array(w, &at, &a->cell, (uint64_t)b->cells + 1);
  take_array(w, &at, &a->cell_of, n);
  take_array(w, &at, &a->rank, n + 1);
  take_array(w, &at, &a->order, n);
  a->slot = a->cell_of;
  take_array(w, &at, &a->partial, 4096);
  take_array(w, &at, &a->barrier, 2);
  take_array(w, &at, &a->control, 2);
  take_array(w, &at, &a->motion, 4);
  take_array(w, &at, &a->fault, 1);
  take_array(w, &at, (bed_numbers **)&a->numbers, 1);
  take_array(w, &at, (contact_law **)&a->law, COLLISION_MATERIALS_MAX * COLLISION_MATERIALS_MAX);
  take_array(w, &at, (collision_wall **)&a->wall, COLLISION_WALLS_MAX);
  take_array(w, &at, &w->sums, BED_SUMS);
  take_array(w, &at, &w->partial, (uint64_t)BED_SUMS * b->blocks);
  take_array(w, &at, &w->deepest, 1);
  return at;
}

static void count(bed_work *w, double ratio) {
  bed_numbers *b = &w->numbers;
  const collision_options *o = &w->options;
  b->n = (uint32_t)o->n;
  b->slices = (b->n + 31) / 32;
  b->blocks = (b->n + BED_THREADS - 1) / BED_THREADS;
  b->springs = o->springs;
  b->walls = o->walls;
  b->wall_numbers = o->wall_numbers;
  b->room = (uint32_t)room_for(b->n, ratio);
}

static double bytes(const collision_options *options) {
  bed_work w = {};
  w.options = *options;
  count(&w, options->radius_most > 0 && options->radius_least > 0 ? options->radius_most / options->radius_least : 1);
  w.numbers.cells = 2 * w.numbers.n + 4096;
  return (double)place(&w);
}

/* ---- cells ---- */

/* One grid for each class of radii, of cells as long as two of its largest reach; all together no more than two cells a
 * grain and some. */
static void lay_cells(bed_work *w, double smallest, double largest) {
  bed_numbers *b = &w->numbers;
  double top = largest;
  b->levels = 0;
  b->cells = 0;
  while (b->levels < BED_LEVELS) {
    b->level[b->levels++].radius = top;
    top /= 2;
    if (top < smallest) break;
  }
  for (int l = 0; l < b->levels; l++) {
    bed_level *level = &b->level[l];
    const double most = fmax(64, 2.0 * b->n / b->levels);
    double side = 2 * level->radius + b->skin, total;
    do {
      total = 1;
      for (int c = 0; c < 3; c++) {
        const double cells = fmax(1, fmin(floor(b->size[c] / side), 2e6));
        level->cells[c] = (uint32_t)cells;
        level->width[c] = b->size[c] / cells;
        total *= cells;
      }
      side *= 1.1;
    } while (total > most);
    level->first_cell = b->cells;
    b->cells += (uint32_t)total;
  }
}

/* ---- beginning and end ---- */

static void drop(bed_work **work) {
  if (*work == NULL) return;
  sim_backend_cuda.free((*work)->memory);
  free(*work);
  *work = NULL;
}

static void destroy(collision_work **work) { drop((bed_work **)work); }

static sim_status put_constants(bed_work *w) {
  const collision_options *o = &w->options;
  static contact_law law[COLLISION_MATERIALS_MAX][COLLISION_MATERIALS_MAX];
  for (int m = 0; m < o->materials; m++)
    for (int k = 0; k < o->materials; k++) {
      const collision_law *from = &o->law[m][k];
      law[m][k] = {(real)from->k0,   (real)from->km,         (real)from->g0,      (real)from->gh,
                   (real)from->gm,   (real)from->tangential, (real)from->E,       (real)from->G,
                   (real)from->beta, (real)from->friction,   (real)from->rolling, (real)from->twisting,
                   (real)from->pull};
    }
  SIM_TRY(sim_backend_cuda.copy((void *)w->arrays.law, law, sizeof law));
  SIM_TRY(sim_backend_cuda.copy((void *)w->arrays.wall, o->wall, sizeof o->wall));
  return sim_backend_cuda.copy((void *)w->arrays.numbers, &w->numbers, sizeof w->numbers);
}

static sim_status create(const collision_options *options, const collision_state *state, collision_work **out) {
  bed_work *w = (bed_work *)calloc(1, sizeof *w);
  *out = (collision_work *)w;
  if (w == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the model");
  w->options = *options;
  w->state = *state;
  double smallest = INFINITY, largest = 0;
  for (int64_t i = 0; i < options->n; i++) {
    smallest = fmin(smallest, (double)((const real *)state->radius)[i]);
    largest = fmax(largest, (double)((const real *)state->radius)[i]);
  }
  count(w, largest / smallest);
  bed_numbers *b = &w->numbers;
  b->form = options->force;
  b->materials = options->materials;
  b->damped = options->damped;
  b->skin = isnan(options->skin) ? usual_skin * smallest : options->skin;
  for (int c = 0; c < 3; c++) {
    w->arrays.box.size[c] = (real)options->size[c];
    w->arrays.box.half[c] = options->periodic[c] ? (real)0.5 * (real)options->size[c] : (real)INFINITY;
    b->low[c] = options->low[c];
    b->size[c] = options->size[c];
    b->gravity[c] = options->gravity[c];
    b->periodic[c] = options->periodic[c];
  }
  lay_cells(w, smallest, largest);
  int resident = 0;
  sim_cuda_failed(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, search, BED_THREADS, 0),
                  "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "collision_bed_search");
  w->blocks = (unsigned)resident * (unsigned)sim_cuda_multiprocessors();
  if (w->blocks > 4096) w->blocks = 4096;
  if (w->blocks > (b->n + 31) / 32 + 1) w->blocks = (b->n + 31) / 32 + 1;
  sim_status status = sim_backend_cuda.alloc(place(w), &w->memory);
  if (status == SIM_OK) {
    (void)place(w);
    status = put_constants(w);
  }
  if (status != SIM_OK) destroy(out);
  return status;
}

/* ---- the queue ---- */

static const sim_cuda_kernel searching = {"collision_bed_search", "search", SIM_LIMIT_BYTES};
static const sim_cuda_kernel drifting = {"collision_bed_drift", "move", SIM_LIMIT_BYTES};
static const sim_cuda_kernel touching = {"collision_bed_contacts", "contacts", SIM_LIMIT_BYTES};
static const sim_cuda_kernel observing = {"collision_bed_observe", "observe", SIM_LIMIT_BYTES};

template <typename... Parameters, typename... Arguments>
static void launch_together(const bed_work *w, const sim_cuda_kernel *kernel, void (*function)(Parameters...),
                            Arguments... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(w->blocks);
  config.blockDim = dim3(BED_THREADS);
  config.stream = (cudaStream_t)sim_cuda_stream();
  config.attrs = &attribute;
  config.numAttrs = 1;
  sim_cuda_begin(kernel);
  sim_cuda_failed(cudaLaunchKernelEx(&config, function, (Parameters)arguments...), "cudaLaunchKernelEx", kernel->name);
  sim_cuda_end(kernel, 0);
}

static bed_poses poses_of(const bed_work *w) {
  bed_poses poses = {};
  if (w->state.pose != NULL) memcpy(poses.pose, w->state.pose, (size_t)w->options.walls * sizeof *poses.pose);
  return poses;
}

static void move(bed_work *w, double dt) {
  const double n = w->numbers.n;
  collision_launch(&drifting, n * 12 * sizeof(four), grid_of(w->numbers.n), BED_THREADS, drift, w->arrays,
                   (real)w->ended, (real)dt, w->launch++);
  launch_together(w, &searching, search, w->arrays, (real)dt, w->launch++);
}

static void touch(bed_work *w, double dt) {
  const double n = w->numbers.n;
  typedef void kernel(bed_arrays, bed_poses, real, unsigned);
  static kernel *const of[][2] = {{contacts<0, -1, false>, contacts<0, -1, true>},
                                  {contacts<3, COLLISION_LINEAR, false>, contacts<3, COLLISION_LINEAR, true>},
                                  {contacts<3, COLLISION_HERTZ, false>, contacts<3, COLLISION_HERTZ, true>},
                                  {contacts<7, -1, false>, contacts<7, -1, true>}};
  const int s = w->options.springs, row = s == 0 ? 0 : s == 7 ? 3 : w->numbers.form == COLLISION_HERTZ ? 2 : 1;
  collision_launch(&touching, n * 8 * sizeof(four), (w->numbers.n + BED_THREADS - 1) / BED_THREADS, BED_THREADS,
                   of[row][w->numbers.walls > 0], w->arrays, poses_of(w), (real)dt, w->launch++);
}

static void begin(collision_work *work, double t) {
  (void)t;
  touch((bed_work *)work, 0);
}

static sim_status step(collision_work *work, double t, double dt) {
  bed_work *w = (bed_work *)work;
  (void)t;
  move(w, dt);
  touch(w, dt);
  w->ended = dt;
  return sim_backend_cuda.failed();
}

/* All that was queued, as the state is to show it. */
static sim_status settle(bed_work *w) {
  int fault = 0;
  if (w->ended > 0)
    collision_launch(&drifting, 0, grid_of(w->numbers.n), BED_THREADS, finish, w->arrays, (real)w->ended, w->launch);
  w->ended = 0;
  collision_launch(&observing, 0, grid_of(w->numbers.n), BED_THREADS, invert, w->arrays, w->launch);
  SIM_TRY(sim_backend_cuda.copy(&fault, w->arrays.fault, sizeof fault));
  if (fault & BED_WILD) return sim_fail(SIM_ERR_DIVERGED, "a grain's velocity is not finite");
  if (fault & BED_CROWDED)
    return sim_fail(SIM_ERR_DIVERGED,
                    "more grains are near to each other than fit the lists on a GPU: they are pressed "
                    "into each other, or run with --device cpu");
  return SIM_OK;
}

/* ---- state ---- */

enum { PIECE = 1 << 18 };

/* Vectors [3][n] and a fourth number [n] (or NULL) on the host, fours on the device. */
static sim_status copy_fours(four *device, void *vectors, void *fourth, int64_t n, bool out) {
  four *piece = (four *)malloc(PIECE * sizeof *piece);
  if (piece == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the grains on their way to or from the GPU");
  real *const v = (real *)vectors, *const f = (real *)fourth;
  sim_status status = SIM_OK;
  for (int64_t first = 0; first < n && status == SIM_OK; first += PIECE) {
    const int64_t here = n - first < PIECE ? n - first : (int64_t)PIECE;
    const size_t size = (size_t)here * sizeof *piece;
    if (out) status = sim_backend_cuda.copy(piece, device + first, size);
    for (int64_t k = 0; k < here && status == SIM_OK; k++) {
      const int64_t i = first + k;
      if (out)
        v[i] = piece[k].x, v[n + i] = piece[k].y, v[2 * n + i] = piece[k].z;
      else
        piece[k] = {v[i], v[n + i], v[2 * n + i], f != NULL ? f[i] : 0};
    }
    if (!out) status = sim_backend_cuda.copy(device + first, piece, size);
  }
  free(piece);
  return status;
}

/* 32-bit numbers on the device, 64-bit ones on the host; `from` NULL: 0, 1, 2 ... */
static sim_status put_words(uint32_t *device, const uint64_t *from, int64_t n) {
  uint32_t *piece = (uint32_t *)malloc(PIECE * sizeof *piece);
  if (piece == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the grains on their way to the GPU");
  sim_status status = SIM_OK;
  for (int64_t first = 0; first < n && status == SIM_OK; first += PIECE) {
    const int64_t here = n - first < PIECE ? n - first : (int64_t)PIECE;
    for (int64_t k = 0; k < here; k++) piece[k] = (uint32_t)(from != NULL ? from[first + k] : (uint64_t)(first + k));
    status = sim_backend_cuda.copy(device + first, piece, (size_t)here * sizeof *piece);
  }
  free(piece);
  return status;
}

static sim_status get_words(const uint32_t *device, uint64_t *to, int64_t n) {
  uint32_t *piece = (uint32_t *)malloc(PIECE * sizeof *piece);
  if (piece == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the grains on their way from the GPU");
  sim_status status = SIM_OK;
  for (int64_t first = 0; first < n && status == SIM_OK; first += PIECE) {
    const int64_t here = n - first < PIECE ? n - first : (int64_t)PIECE;
    status = sim_backend_cuda.copy(piece, device + first, (size_t)here * sizeof *piece);
    for (int64_t k = 0; k < here && status == SIM_OK; k++) to[first + k] = piece[k];
  }
  free(piece);
  return status;
}

/* Contacts of a checkpoint, which stand in the order of ids. */
static sim_status load_history(bed_work *w) {
  const collision_state *s = &w->state;
  const int64_t n = s->n;
  const int spare = 1; /* the first list is in use after a load */
  bed_control now;
  SIM_TRY(sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now));
  const bed_list *list = &w->arrays.list[now.order ^ spare];
  uint64_t *first = (uint64_t *)calloc((size_t)n + 1, sizeof *first), last = 0;
  if (first == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the history of contacts");
  int64_t count = 0;
  bool good = true;
  for (; count < s->room && s->contact_grain[count] != UINT64_MAX && good; count++) {
    const uint64_t grain = s->contact_grain[count];
    good = grain < (uint64_t)n && s->contact_partner[count] < (uint64_t)n && grain >= last;
    last = grain;
    if (good) first[grain + 1]++;
  }
  for (int64_t i = 0; i < n; i++) first[i + 1] += first[i];
  sim_status status = SIM_OK;
  if (!good || (uint64_t)count > w->numbers.room)
    status = sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's contacts are not those of its grains");
  if (status == SIM_OK) status = put_words(w->arrays.rank, first, n + 1);
  if (status == SIM_OK) status = put_words(list->neighbour, s->contact_partner, count);
  for (int c = 0; c < w->options.springs && status == SIM_OK; c++)
    status =
        sim_backend_cuda.copy(list->spring + (size_t)c * w->numbers.room,
                              (const real *)s->contact_spring + (int64_t)c * s->room, (size_t)count * sizeof(real));
  free(first);
  if (status == SIM_OK && count > 0)
    collision_launch(&observing, 0, grid_of((uint64_t)n), BED_THREADS, take_history, w->arrays, w->launch);
  return status;
}

static sim_status load(collision_work *work) {
  bed_work *w = (bed_work *)work;
  const collision_state *s = &w->state;
  const bed_grains *g = &w->arrays.grains[0];
  const int64_t n = s->n;
  for (int64_t i = 0; i < n; i++)
    if (s->material[i] >= (uint64_t)w->options.materials)
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint names a material that is not there");
  SIM_TRY(copy_fours(g->place, s->position, s->radius, n, false));
  SIM_TRY(copy_fours(g->velocity, s->velocity, s->mass, n, false));
  SIM_TRY(copy_fours(g->spin, s->spin, NULL, n, false));
  SIM_TRY(copy_fours(g->acceleration, s->acceleration, NULL, n, false));
  SIM_TRY(copy_fours(g->twirl, s->twirl, NULL, n, false));
  SIM_TRY(put_words(g->id, NULL, n));
  SIM_TRY(put_words(g->material, s->material, n));
  SIM_TRY(put_words(g->collisions, s->collisions, n));
  SIM_TRY(sim_backend_cuda.copy(g->dissipated, s->dissipated, (size_t)n * sizeof(double)));
  SIM_TRY(sim_backend_cuda.copy(g->virial, s->virial, (size_t)n * sizeof(double)));
  if (w->numbers.wall_numbers > 0)
    SIM_TRY(sim_backend_cuda.copy(g->wall_spring, s->wall_spring,
                                  (size_t)w->numbers.wall_numbers * (size_t)n * sizeof(real)));
  bed_control control[2] = {};
  for (int k = 0; k < 2; k++) control[k].moved = INFINITY, control[k].cutoff = w->numbers.skin;
  const unsigned long long none[4] = {0};
  w->launch = 0;
  w->ended = 0;
  SIM_TRY(sim_backend_cuda.copy(w->arrays.control, control, sizeof control));
  SIM_TRY(sim_backend_cuda.copy(w->arrays.motion, none, sizeof none));
  SIM_TRY(sim_backend_cuda.copy(w->arrays.fault, none, sizeof(int)));
  SIM_TRY(sim_backend_cuda.copy(w->arrays.barrier, none, 2 * sizeof(unsigned)));
  move(w, 0);
  SIM_TRY(settle(w));
  return w->options.springs > 0 ? load_history(w) : SIM_OK;
}

static sim_status store_history(bed_work *w) {
  const collision_state *s = &w->state;
  const int64_t n = s->n;
  bed_control now;
  uint32_t total = 0;
  launch_together(w, &observing, list_history, w->arrays, w->launch);
  SIM_TRY(sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now));
  SIM_TRY(sim_backend_cuda.copy(&total, w->arrays.rank + n, sizeof total));
  if (total > s->room)
    return sim_fail(SIM_ERR_DIVERGED, "more than %lld contacts have a history: grains are pressed into each other",
                    (long long)s->room);
  const bed_list *list = &w->arrays.list[now.order ^ 1];
  memset(s->contact_grain, 0xff, (size_t)s->room * sizeof *s->contact_grain);
  memset(s->contact_partner, 0xff, (size_t)s->room * sizeof *s->contact_partner);
  memset(s->contact_spring, 0, (size_t)(s->room * w->options.springs) * sizeof(real));
  uint32_t *first = (uint32_t *)malloc(((size_t)n + 1) * sizeof *first);
  if (first == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the history of contacts");
  sim_status status = sim_backend_cuda.copy(first, w->arrays.rank, ((size_t)n + 1) * sizeof *first);
  for (int64_t id = 0; id < n && status == SIM_OK; id++)
    for (uint32_t k = first[id]; k < first[id + 1]; k++) s->contact_grain[k] = (uint64_t)id;
  free(first);
  if (status == SIM_OK) status = get_words(list->neighbour, s->contact_partner, total);
  for (int c = 0; c < w->options.springs && status == SIM_OK; c++)
    status = sim_backend_cuda.copy((real *)s->contact_spring + (int64_t)c * s->room,
                                   list->spring + (size_t)c * w->numbers.room, (size_t)total * sizeof(real));
  return status;
}

static sim_status store(collision_work *work) {
  bed_work *w = (bed_work *)work;
  const collision_state *s = &w->state;
  const int64_t n = s->n;
  bed_control now;
  SIM_TRY(settle(w));
  SIM_TRY(sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now));
  collision_launch(&observing, 0, grid_of((uint64_t)n), BED_THREADS, by_id, w->arrays, w->launch);
  const bed_grains *g = &w->arrays.grains[now.order ^ 1];
  SIM_TRY(copy_fours(g->place, s->position, NULL, n, true));
  SIM_TRY(copy_fours(g->velocity, s->velocity, NULL, n, true));
  SIM_TRY(copy_fours(g->spin, s->spin, NULL, n, true));
  SIM_TRY(copy_fours(g->acceleration, s->acceleration, NULL, n, true));
  SIM_TRY(copy_fours(g->twirl, s->twirl, NULL, n, true));
  collision_launch(&observing, 0, grid_of((uint64_t)n), BED_THREADS, see_again, w->arrays, w->launch);
  SIM_TRY(sim_backend_cuda.copy(s->dissipated, g->dissipated, (size_t)n * sizeof(double)));
  SIM_TRY(sim_backend_cuda.copy(s->virial, g->virial, (size_t)n * sizeof(double)));
  SIM_TRY(get_words(g->collisions, s->collisions, n));
  if (w->numbers.wall_numbers > 0)
    SIM_TRY(sim_backend_cuda.copy(s->wall_spring, g->wall_spring,
                                  (size_t)w->numbers.wall_numbers * (size_t)n * sizeof(real)));
  return w->options.springs > 0 ? store_history(w) : SIM_OK;
}

static sim_status sums(collision_work *work, double t, collision_sums *out) {
  bed_work *w = (bed_work *)work;
  (void)t;
  SIM_TRY(settle(w));
  void (*const of[])(bed_arrays, bed_poses, int, double *, unsigned long long *,
                     unsigned) = {sum_blocks<0>, sum_blocks<3>, sum_blocks<7>};
  const int s = w->options.springs, forces = w->options.forces;
  double all[BED_SUMS] = {0};
  unsigned long long deepest = 0;
  SIM_TRY(sim_backend_cuda.copy(w->deepest, &deepest, sizeof deepest));
  collision_launch(&observing, 0, grid_of(w->numbers.n), BED_THREADS,
                   of[s == 0   ? 0
                      : s == 3 ? 1
                               : 2],
                   w->arrays, poses_of(w), forces, w->partial, w->deepest, w->launch);
  const int quantities = BED_WALL + 3 * forces;
  collision_launch(&observing, 0, (unsigned)quantities, BED_THREADS, sum_all, w->partial, w->numbers.blocks, w->sums);
  SIM_TRY(sim_backend_cuda.copy(all, w->sums, (size_t)quantities * sizeof *all));
  SIM_TRY(sim_backend_cuda.copy(&deepest, w->deepest, sizeof deepest));
  *out = {};
  out->mass = all[BED_MASS];
  out->kinetic = all[BED_KINETIC];
  out->rotational = all[BED_ROTATIONAL];
  out->elastic = all[BED_ELASTIC];
  out->gravity = all[BED_GRAVITY];
  out->dissipated = all[BED_DISSIPATED];
  out->virial = all[BED_VIRIAL];
  out->collisions = all[BED_COLLISIONS];
  out->touching = all[BED_TOUCHING];
  out->touching_walls = all[BED_TOUCHING_WALLS];
  memcpy(out->momentum, all + BED_MOMENTUM, sizeof out->momentum);
  memcpy(out->angular, all + BED_ANGULAR, sizeof out->angular);
  memcpy(out->flux, all + BED_FLUX, sizeof out->flux);
  memcpy(out->stress, all + BED_STRESS, sizeof out->stress);
  memcpy(out->wall, all + BED_WALL, 3 * (size_t)forces * sizeof(double));
  const uint32_t depth = (uint32_t)(deepest >> 32);
  float overlap;
  memcpy(&overlap, &depth, sizeof overlap);
  out->overlap = (double)overlap;
  out->overlap_grain = depth != 0 ? (uint64_t)(uint32_t)~deepest : 0;
  return SIM_OK;
}

static constexpr collision_ops table() {
  collision_ops ops = {};
  ops.dtype = sizeof(real) == 4 ? SIM_F32 : SIM_F64;
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
extern const collision_ops COLLISION_OPS;
const collision_ops COLLISION_OPS = table();
