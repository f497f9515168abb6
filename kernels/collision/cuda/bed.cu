/* Operations for grains of any kind on an NVIDIA GPU, for one type of the state: REAL is float or double. */
typedef REAL real;
#include "kernels/collision/cuda/bed_state.cuh"

/* Gap up to which two stand in a list, in radii of the least grain: measured. */
static const double usual_skin = 0.2;

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
  bed_usual *const u = &w->arrays.usual;
  const real r = ((const real *)w->state.radius)[0], m = ((const real *)w->state.mass)[0];
  *u = {r, m, r * r / (r + r), m * m / (m + m), r + r, 1 / (r + r), law[0][0], o->materials > 1};
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

/* ---- steps and sums ---- */

static void begin(collision_work *work, double t) {
  bed_work *w = (bed_work *)work;
  (void)t;
  w->poses = poses_of(w);
  touch(w, 0, 0);
}

static sim_status step(collision_work *work, double t, double dt) {
  bed_work *w = (bed_work *)work;
  (void)t;
  if (w->due > 0)
    touch(w, w->due, dt);
  else
    drift_alone(w, dt);
  launch_together(w, &searching, search, w->arrays, (real)dt, w->launch++);
  w->due = dt;
  w->ended = 0;
  w->poses = poses_of(w);
  return sim_backend_cuda.failed();
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
