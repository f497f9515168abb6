/* Operations of the general solver on an NVIDIA GPU, for one type of the state: REAL is float or double. CPU
 * counterpart: cpu/ops.c. */
#include "kernels/collision/general/cuda/exchange.cuh"
#include "kernels/collision/hill.h"

/* Gap up to which two grains are neighbours, in radii of the smallest grain: measured. */
static const double default_skin = 0.2;

/* ---- beginning and end ---- */

template <typename real> static void destroy(general_work<real> **work) {
  if (*work == NULL) return;
  if ((*work)->domain.turn != NULL) (*work)->memory = NULL; /* see sim_turn_destroy */
  destroy_domain(&(*work)->domain);
  sim_backend_cuda.free((*work)->memory);
  sim_backend_cuda.free((*work)->meshes);
  collision_cuda_laws_destroy(&(*work)->laws);
  free(*work);
  *work = NULL;
}

/* Whether pairs of grains have different laws. Materials of grains are numbered before those of walls alone. */
static bool laws_differ(const collision_options *o, const collision_state *s) {
  uint64_t last = 0;
  for (int64_t i = 0; i < s->n; i++)
    if (s->material[i] > last) last = s->material[i];
  /* inlets may have any material */
  const int materials = s->live != NULL || last >= (uint64_t)o->materials ? o->materials : (int)last + 1;
  for (int a = 0; a < materials; a++)
    for (int b = 0; b < materials; b++)
      if (memcmp(&o->law[a][b], &o->law[0][0], sizeof o->law[0][0]) != 0) return true;
  return false;
}

template <typename real> static sim_status upload_constants(general_work<real> *w) {
  const collision_options *o = &w->options;
  static contact_law<real> law[COLLISION_MATERIALS_MAX][COLLISION_MATERIALS_MAX];
  contact_laws<real>(o, law);
  if (w->smallest == w->largest) contact_usual_radius(law, o->materials, (real)w->smallest);
  general_typical_pair<real> *const u = &w->arrays.typical;
  const real r = ((const real *)w->state.radius)[0], m = ((const real *)w->state.mass)[0];
  *u = {r,     m,           r * r / (r + r), m * m / (m + m),          (real)sqrt(m * m / (m + m)),
        r + r, 1 / (r + r), law[0][0],       laws_differ(o, &w->state)};
  w->numbers.twist_first = turns_of(w) == TURNS_TWISTING;
  SIM_TRY(sim_backend_cuda.copy((void *)w->arrays.law, law, sizeof law));
  SIM_TRY(upload_walls(w));
  if (o->gates > 0) SIM_TRY(sim_backend_cuda.copy((void *)w->arrays.gate, o->gate, (size_t)o->gates * sizeof *o->gate));
  return sim_backend_cuda.copy((void *)w->arrays.numbers, &w->numbers, sizeof w->numbers);
}

/* Returns the offset of the image above at time t. */
template <typename real> static real offset_at(const general_work<real> *w, double t) {
  const collision_options *o = &w->options;
  if (o->shear == 0) return 0;
  const double displacement = collision_image_offset(o, t);
  return (real)(displacement < 0 ? displacement + o->size[o->along] : displacement);
}

template <typename real>
static sim_status create(const collision_options *options, const collision_state *state, general_work<real> **out) {
  general_work<real> *const w = *out = (general_work<real> *)calloc(1, sizeof *w);
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
  w->shift.jump = (real)(options->shear * options->size[options->across]);
  if (options->hill) w->shift.hill = hill_flow_of(options, 0);
  set_sizes(w, w->smallest, w->largest);
  general_numbers *b = &w->numbers;
  b->form = options->force;
  b->materials = options->materials;
  b->damped = options->damped;
  b->models = options->models;
  b->conductance = options->conductance;
  b->capacity = options->capacity;
  memcpy(b->wall_temperature, options->wall_temperature, sizeof b->wall_temperature);
  b->shear = options->shear;
  b->turn = options->hill ? 2 * (options->omega + options->vertical) : 0;
  b->skin = isnan(options->skin) ? default_skin * w->smallest : options->skin;
  general_box<real> *box = &w->arrays.box;
  box->room = b->room;
  box->damped = options->damped;
  box->turned = options->across == 0;
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
                      &resident, options->shear != 0 ? search<true, real> : search<false, real>, GENERAL_THREADS, 0),
                  "cudaOccupancyMaxActiveBlocksPerMultiprocessor", search_launch.name);
  w->blocks = (unsigned)resident * (unsigned)sim_cuda_multiprocessors();
  if (w->blocks > 4096) w->blocks = 4096;
  if (w->blocks > (b->n + 31) / 32 + 1) w->blocks = (b->n + 31) / 32 + 1;
  sim_status status = options->comm->size > 1 ? create_domain(w) : sim_backend_cuda.alloc(lay_out(w), &w->memory);
  if (status == SIM_OK) {
    (void)lay_out(w);
    status = upload_constants(w);
  }
  if (status == SIM_OK) status = collision_cuda_laws_create(options, sizeof(real) == 4, &w->laws);
  if (status != SIM_OK) destroy(out);
  return status;
}

/* ---- steps and sums ---- */

template <typename real> static void begin(general_work<real> *w, double t) {
  w->time = t;
  w->poses = poses_of(w);
  w->domain.known = false;
  launch_contacts(w, 0, 0);
  share_forces(w, false);
  if (w->arrays.bodies.count > 0) launch_bodies(w, push_bodies<real>, 0.0);
}

template <typename real> static sim_status step(general_work<real> *w, double t, double dt) {
  const bool drifts = !(w->due > 0);
  w->domain.known = false;
  SIM_TRY(follow_decision(w));
  w->shift.after = offset_at(w, t);
  if (w->options.attracted) w->shift.left = *w->state.pull_left;
  if (w->options.hill) w->shift.hill = hill_flow_of(&w->options, (double)(real)dt); /* as on the CPU */
  if (drifts)
    launch_drift(w, dt);
  else if (w->domain.split)
    launch_split_contacts(w, w->due, dt);
  else
    launch_contacts(w, w->due, dt);
  if (!drifts) share_forces(w, true);
  if (w->arrays.bodies.count > 0) launch_step_bodies(w, (double)(real)w->due, (double)(real)dt);
  w->shift.offset = w->shift.after;
  if (w->domain.comm->size > 1)
    SIM_TRY(begin_decision(w, dt, drifts));
  else
    launch_search(w, dt);
  w->time = t;
  w->due = dt;
  w->ended = 0;
  w->poses = poses_of(w);
  return sim_queue_cuda.status();
}

/* External potential energy; NaN where the scenario gives only the acceleration. */
template <typename real> static sim_status external_potential(general_work<real> *w, double *out) {
  *out = w->options.external != NULL ? NAN : 0;
  if (w->laws.energy == NULL) return SIM_OK;
  SIM_TRY(gather_places(w));
  device_launch(&observe_launch, 0, w->numbers.blocks, GENERAL_THREADS, (energy_kernel<real> *)w->laws.energy,
                w->arrays, w->launch, w->time, w->partial);
  device_launch(&observe_launch, 0, 1, GENERAL_THREADS, sum_all, w->partial, w->numbers.blocks, w->sums);
  return sim_backend_cuda.copy(out, w->sums, sizeof *out);
}

/* Sums over blocks of ids, from terms that each rank computes for its own grains, `terms_count` ids at a time. */
template <typename real> static sim_status sum_with_ranks(general_work<real> *w, unsigned long long deepest[2]) {
  const general_domain *d = &w->domain;
  const int quantities = SUM_WALL + 3 * w->options.forces;
  for (uint32_t first = 0; first < w->numbers.n; first += d->terms_count) {
    const general_terms terms = {d->terms, first, d->terms_count};
    device_launch(&observe_launch, 0, d->terms_count / GENERAL_THREADS, GENERAL_THREADS, sums_of(w), w->arrays,
                  poses_of(w), w->shift, w->options.forces, terms, w->partial, w->deepest, w->launch);
    sim_exchange_add(d->exchange, (int64_t *)d->terms);
    device_launch(&observe_launch, 0, d->terms_count / GENERAL_THREADS, GENERAL_THREADS, sum_terms, terms,
                  w->numbers.blocks, quantities, w->partial);
  }
  SIM_TRY(sim_backend_cuda.copy(deepest, w->deepest, 2 * sizeof *deepest));
  for (int k = 0; k < 2; k++) {
    uint64_t most;
    SIM_TRY(sim_comm_agree(d->comm, deepest[k], &most));
    deepest[k] = most;
  }
  return SIM_OK;
}

template <typename real> static sim_status sums(general_work<real> *w, double t, collision_sums *out) {
  (void)t; /* equals w->time */
  SIM_TRY(complete_steps(w));
  const int forces = w->options.forces;
  double all[SUMS] = {0}, external = 0;
  unsigned long long deepest[2] = {0, 0};
  SIM_TRY(external_potential(w, &external));
  SIM_TRY(sim_backend_cuda.copy(w->deepest, deepest, sizeof deepest));
  const int quantities = SUM_WALL + 3 * forces;
  if (w->domain.comm->size > 1)
    SIM_TRY(sum_with_ranks(w, deepest));
  else
    device_launch(&observe_launch, 0, grid_of(w->numbers.n), GENERAL_THREADS, sums_of(w), w->arrays, poses_of(w),
                  w->shift, forces, general_terms{NULL, 0, UINT32_MAX}, w->partial, w->deepest, w->launch);
  device_launch(&observe_launch, 0, (unsigned)quantities, GENERAL_THREADS, sum_all, w->partial, w->numbers.blocks,
                w->sums);
  SIM_TRY(sim_backend_cuda.copy(all, w->sums, (size_t)quantities * sizeof *all));
  if (w->domain.comm->size == 1) SIM_TRY(sim_backend_cuda.copy(deepest, w->deepest, sizeof deepest));
  *out = {};
  out->external = external;
  out->mass = all[SUM_MASS];
  out->work = all[SUM_WORK];
  out->kinetic = all[SUM_KINETIC];
  out->rotational = all[SUM_ROTATIONAL];
  out->elastic = all[SUM_ELASTIC];
  out->gravity = all[SUM_GRAVITY];
  out->dissipated = all[SUM_DISSIPATED];
  out->virial = all[SUM_VIRIAL];
  out->collisions = all[SUM_COLLISIONS];
  out->heat = all[SUM_HEAT];
  out->wall_heat = all[SUM_WALL_HEAT];
  out->height = all[SUM_HEIGHT];
  out->drift = all[SUM_DRIFT];
  memcpy(out->dispersion, all + SUM_DISPERSION, sizeof out->dispersion);
  out->touching = all[SUM_TOUCHING];
  out->touching_walls = all[SUM_TOUCHING_WALLS];
  memcpy(out->momentum, all + SUM_MOMENTUM, sizeof out->momentum);
  memcpy(out->angular, all + SUM_ANGULAR, sizeof out->angular);
  memcpy(out->flux, all + SUM_FLUX, sizeof out->flux);
  memcpy(out->stress, all + SUM_STRESS, sizeof out->stress);
  memcpy(out->wall, all + SUM_WALL, 3 * (size_t)forces * sizeof(double));
  memcpy(&out->overlap, &deepest[0], sizeof out->overlap);
  out->overlap_grain = deepest[0] != 0 ? (uint64_t)(uint32_t)~deepest[1] : 0;
  return SIM_OK;
}

/* Of grains in the order of ids, for self-gravity. All ranks. */
template <typename real>
static sim_status predict(general_work<real> *w, const collision_prediction *prediction, double *position, double *mass,
                          double **pull, struct sim_exchange **exchange) {
  SIM_TRY(complete_steps(w));
  SIM_TRY(gather_places(w));
  device_launch(&predict_launch, (double)w->numbers.n * (2 * sizeof(vec4<real>) + 36), grid_of(w->numbers.n),
                GENERAL_THREADS, predict_grains<real>, w->arrays, w->launch, *prediction, position, mass);
  *pull = (double *)w->arrays.pull;
  *exchange = w->domain.exchange;
  return sim_queue_cuda.status();
}

/* ---- the table ---- */

/* An operation on general_work as collision_ops has it, where the work's type is opaque. */
template <typename T> struct opaque { typedef T type; };
template <typename real> struct opaque<general_work<real> *> { typedef collision_work *type; };
template <typename real> struct opaque<general_work<real> **> { typedef collision_work **type; };
template <auto OPERATION> struct entry;
template <typename Result, typename... Parameters, Result (*OPERATION)(Parameters...)> struct entry<OPERATION> {
  static Result call(typename opaque<Parameters>::type... arguments) { return OPERATION((Parameters)arguments...); }
};

template <typename real> static constexpr collision_ops table() {
  collision_ops ops = {};
  ops.dtype = sizeof(real) == 4 ? SIM_F32 : SIM_F64;
  ops.bytes = bytes<real>;
  ops.create = entry<create<real>>::call;
  ops.destroy = entry<destroy<real>>::call;
  ops.load = entry<load<real>>::call;
  ops.begin = entry<begin<real>>::call;
  ops.step = entry<step<real>>::call;
  ops.store = entry<store<real>>::call;
  ops.sums = entry<sums<real>>::call;
  ops.predict = entry<predict<real>>::call;
  ops.within = entry<within<real>>::call;
  ops.pick = entry<pick<real>>::call;
  ops.exchange = entry<exchange<real>>::call;
  return ops;
}
extern const collision_ops COLLISION_OPS;
const collision_ops COLLISION_OPS = table<REAL>();
