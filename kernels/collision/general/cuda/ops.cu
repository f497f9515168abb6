/* Operations for grains of any kind on an NVIDIA GPU, for one type of the state: REAL is float or double. */
typedef REAL real;
#include "kernels/collision/general/cuda/meshes.cuh"
#include "kernels/collision/general/cuda/exchange.cuh"

/* Gap up to which two stand in a list, in radii of the least grain: measured. */
static const double usual_skin = 0.2;

/* ---- beginning and end ---- */

static void drop(bed_work **work) {
  if (*work == NULL) return;
  sim_backend_cuda.free((*work)->memory);
  sim_backend_cuda.free((*work)->meshes);
  collision_cuda_laws_destroy(&(*work)->laws);
  free(*work);
  *work = NULL;
}

static void destroy(collision_work **work) { drop((bed_work **)work); }

static sim_status put_constants(bed_work *w) {
  const collision_options *o = &w->options;
  static contact_law law[COLLISION_MATERIALS_MAX][COLLISION_MATERIALS_MAX];
  contact_laws(o, law);
  bed_usual *const u = &w->arrays.usual;
  const real r = ((const real *)w->state.radius)[0], m = ((const real *)w->state.mass)[0];
  *u = {r,     m,           r * r / (r + r), m * m / (m + m), (real)sqrt(m * m / (m + m)),
        r + r, 1 / (r + r), law[0][0],       o->materials > 1};
  SIM_TRY(sim_backend_cuda.copy((void *)w->arrays.law, law, sizeof law));
  SIM_TRY(put_walls(w));
  if (o->gates > 0) SIM_TRY(sim_backend_cuda.copy((void *)w->arrays.gate, o->gate, (size_t)o->gates * sizeof *o->gate));
  return sim_backend_cuda.copy((void *)w->arrays.numbers, &w->numbers, sizeof w->numbers);
}

/* Of images above in y at time t. */
static real offset_at(const bed_work *w, double t) {
  const collision_options *o = &w->options;
  if (o->shear == 0) return 0;
  const double way = fmod(o->shear * o->size[1] * t, o->size[0]);
  return (real)(way < 0 ? way + o->size[0] : way);
}

static sim_status create(const collision_options *options, const collision_state *state, collision_work **out) {
  bed_work *w = (bed_work *)calloc(1, sizeof *w);
  *out = (collision_work *)w;
  if (w == NULL) return sim_no_memory("the model");
  w->options = *options;
  w->state = *state;
  w->smallest = options->radius_most > 0 ? options->radius_least : INFINITY;
  w->largest = options->radius_most;
  for (int64_t i = 0; i < state->n; i++) {
    w->smallest = fmin(w->smallest, (double)((const real *)state->radius)[i]);
    w->largest = fmax(w->largest, (double)((const real *)state->radius)[i]);
  }
  w->time = state->time;
  w->shift.offset = w->shift.after = offset_at(w, state->time);
  w->shift.jump = (real)(options->shear * options->size[1]);
  count(w, w->largest / w->smallest);
  bed_numbers *b = &w->numbers;
  b->form = options->force;
  b->materials = options->materials;
  b->damped = options->damped;
  b->shear = options->shear;
  b->skin = isnan(options->skin) ? usual_skin * w->smallest : options->skin;
  bed_box *box = &w->arrays.box;
  box->room = b->room;
  box->damped = options->damped;
  for (int c = 0; c < 3; c++) {
    box->size[c] = (real)options->size[c];
    box->half[c] = options->periodic[c] ? (real)0.5 * (real)options->size[c] : (real)INFINITY;
    box->low[c] = (real)options->low[c];
    box->high[c] = (real)(options->low[c] + options->size[c]);
    box->gravity[c] = (real)options->gravity[c];
    box->periodic[c] = options->periodic[c];
    b->low[c] = options->low[c];
    b->size[c] = options->size[c];
    b->gravity[c] = options->gravity[c];
    b->periodic[c] = options->periodic[c];
  }
  lay_cells(w);
  int resident = 0;
  sim_cuda_failed(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                      &resident, options->shear != 0 ? search<true> : search<false>, BED_THREADS, 0),
                  "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "collision_bed_search");
  w->blocks = (unsigned)resident * (unsigned)sim_cuda_multiprocessors();
  if (w->blocks > 4096) w->blocks = 4096;
  if (w->blocks > (b->n + 31) / 32 + 1) w->blocks = (b->n + 31) / 32 + 1;
  sim_status status = sim_backend_cuda.alloc(place(w), &w->memory);
  if (status == SIM_OK) {
    (void)place(w);
    status = put_constants(w);
  }
  if (status == SIM_OK) status = collision_cuda_laws_create(options, sizeof(real) == 4, &w->laws);
  if (status != SIM_OK) destroy(out);
  return status;
}

/* ---- steps and sums ---- */

static void begin(collision_work *work, double t) {
  bed_work *w = (bed_work *)work;
  w->time = t;
  w->poses = poses_of(w);
  touch(w, 0, 0);
}

static sim_status step(collision_work *work, double t, double dt) {
  bed_work *w = (bed_work *)work;
  w->shift.after = offset_at(w, t);
  if (w->due > 0)
    touch(w, w->due, dt);
  else
    drift_alone(w, dt);
  w->shift.offset = w->shift.after;
  search_near(w, dt);
  w->time = t;
  w->due = dt;
  w->ended = 0;
  w->poses = poses_of(w);
  return sim_queue_cuda.status();
}

/* Potential energy in the scenario's field; NaN where only the acceleration is given. */
static sim_status sum_field(bed_work *w, double *out) {
  *out = w->options.external != NULL ? NAN : 0;
  if (w->laws.energy == NULL) return SIM_OK;
  collision_launch(&observing, 0, w->numbers.blocks, BED_THREADS, (field_sum *)w->laws.energy, w->arrays, w->launch,
                   w->time, w->partial);
  collision_launch(&observing, 0, 1, BED_THREADS, sum_all, w->partial, w->numbers.blocks, w->sums);
  return sim_backend_cuda.copy(out, w->sums, sizeof *out);
}

static sim_status sums(collision_work *work, double t, collision_sums *out) {
  bed_work *w = (bed_work *)work;
  (void)t; /* w->time */
  SIM_TRY(settle(w));
  const int forces = w->options.forces;
  double all[BED_SUMS] = {0}, external = 0;
  unsigned long long deepest = 0;
  SIM_TRY(sum_field(w, &external));
  SIM_TRY(sim_backend_cuda.copy(w->deepest, &deepest, sizeof deepest));
  collision_launch(&observing, 0, grid_of(w->numbers.n), BED_THREADS, sums_of(w), w->arrays, poses_of(w), w->shift,
                   forces, w->partial, w->deepest, w->launch);
  const int quantities = BED_WALL + 3 * forces;
  collision_launch(&observing, 0, (unsigned)quantities, BED_THREADS, sum_all, w->partial, w->numbers.blocks, w->sums);
  SIM_TRY(sim_backend_cuda.copy(all, w->sums, (size_t)quantities * sizeof *all));
  SIM_TRY(sim_backend_cuda.copy(&deepest, w->deepest, sizeof deepest));
  *out = {};
  out->external = external;
  out->mass = all[BED_MASS];
  out->work = all[BED_WORK];
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
  ops.within = within;
  ops.pick = pick;
  ops.exchange = exchange;
  return ops;
}
extern const collision_ops COLLISION_OPS;
const collision_ops COLLISION_OPS = table();
