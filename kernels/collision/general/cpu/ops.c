/* Operations of the general solver on the CPU, for one type of the state: REAL is float or double. GPU counterpart:
 * cuda/ops.cu.
 *
 * Grains are in the order of their cells. Each grain gathers the forces of its own contacts, in the order of its
 * neighbours' ids and then of the walls; see pairs.inc for pairs that are computed once. So no sum depends on threads,
 * on how grains are stored or on when lists were built, and momentum between grains is conserved.
 *
 * A step is velocity Verlet; contacts use v + a dt in place of the velocity at its end, which keeps dashpots at second
 * order: v' = v + a dt/2, x += v' dt, force(x, v' + a dt/2), v = v' + a dt/2. */
typedef REAL real;
#include "kernels/collision/general/cpu/lists.inc"
#include "kernels/collision/general/cpu/pairs.inc"
#include "kernels/collision/general/cpu/state.inc"
#include "kernels/collision/general/cpu/sums.inc"
#include "kernels/collision/general/cpu/touches.inc"
#include "kernels/collision/flow/gate.h"
#include "kernels/collision/hill.h"
#include "kernels/collision/scenario/spread.h"

enum { HISTORIES = 3 }; /* contacts with history a grain in a packing */

/* Bytes of the contacts that ranks gather for an output. */
static double gathered_bytes(const collision_options *o) {
  return o->comm->size > 1 && o->springs > 0 ? (double)HISTORIES * (double)o->n * (8.0 + o->springs * sizeof(real)) : 0;
}

static double bytes(const collision_options *o) {
  const double n = (double)o->n;
  const double grain = sizeof(position_radius) + sizeof(velocity_mass) + 5 * sizeof(vec3) + sizeof(tally) + 8 +
                       (double)wall_numbers(o) * sizeof(real) + 4.0 * o->gates + (o->heated ? 1.5 : 0) * sizeof(warmth);
  double more = gathered_bytes(o); /* on several ranks also rows of the sums, for outputs */
  if (o->comm->size > 1) more += fmin(n, 16.0 * SIM_REDUCE_BLOCK) * ((OBSERVED + 3.0 * o->walls) * sizeof(double) + 4);
  /* two lists, with history in both */
  const double old = sizeof(int64_t) + (o->springs > 0 ? COLLISION_NEIGHBOURS * sizeof(uint32_t) : 0),
               history = 2 * COLLISION_NEIGHBOURS * sizeof(real) * o->springs;
  return more + n * (2 * grain + 4 + old + history + o->meshes * sizeof(geometry_mesh_cache)) + bodies_bytes(o) +
         chunks_bytes(o) + collision_search_bytes(o->n) + collision_fields_bytes(o) +
         collision_domain_bytes(o->comm, n, collision_domain_halo(o), (double)halo_record(o));
}

/* Rows are as long as grains have neighbours, and a rank has those of its own grains. */
static double room(const collision_options *o) {
  const collision_spread spread = collision_spread_of(o);
  const double cutoff = o->reach + collision_search_skin(o, o->radius_least),
               near = spread.diameter > 0 ? collision_spread_neighbours(&spread, cutoff) : COLLISION_NEIGHBOURS,
               unused = fmax(0, COLLISION_NEIGHBOURS - near / o->comm->size),
               entry = (o->springs > 0 ? 3 : 2) * sizeof(uint32_t) + 2.0 * sizeof(real) * o->springs;
  return (double)o->n * unused * entry + results_bytes(o) + fmax(0, 1 - near / 8) * gathered_bytes(o);
}

static void free_grains(grains *g) {
  free(g->position), free(g->v_pred), free(g->w_pred), free(g->velocity), free(g->spin), free(g->acceleration);
  free(g->angular_acceleration), free(g->tally), free(g->id), free(g->material), free(g->wall_spring), free(g->crossed);
  free(g->warmth);
  *g = (grains){0};
}

static bool create_grains(const collision_options *o, grains *g) {
  const size_t n = (size_t)o->n;
  *g = (grains){.position = calloc(n, sizeof *g->position),
                .v_pred = calloc(n, sizeof *g->v_pred),
                .w_pred = calloc(n, sizeof *g->w_pred),
                .velocity = calloc(n, sizeof *g->velocity),
                .spin = calloc(n, sizeof *g->spin),
                .acceleration = calloc(n, sizeof *g->acceleration),
                .angular_acceleration = calloc(n, sizeof *g->angular_acceleration),
                .tally = calloc(n, sizeof *g->tally),
                .id = calloc(n, sizeof *g->id),
                .material = calloc(n, sizeof *g->material),
                .wall_spring = calloc(n * wall_numbers(o) + 1, sizeof *g->wall_spring),
                .crossed = calloc(n * (size_t)o->gates + 1, sizeof *g->crossed),
                .warmth = calloc(o->heated ? n : 1, sizeof *g->warmth)};
  return g->position && g->v_pred && g->w_pred && g->velocity && g->spin && g->acceleration &&
         g->angular_acceleration && g->tally && g->id && g->material && g->wall_spring && g->crossed && g->warmth;
}

static void destroy(collision_work **work) {
  collision_work *w = *work;
  if (w == NULL) return;
  free_grains(&w->now);
  free_grains(&w->spare);
  collision_search_destroy(&w->search);
  collision_domain_destroy(&w->domain);
  collision_fields_destroy(&w->fields);
  destroy_bodies(&w->bodies);
  destroy_chunks(w);
  free(w->slot), free(w->old_neighbour), free(w->old_first), free(w->spring), free(w->old_spring), free(w->square),
      free(w->near), free(w->flow), free(w->begun);
  free(w);
  *work = NULL;
}

/* Moves the images above and below a sheared box to time t. */
static void shift_images(collision_work *w, double t) {
  if (w->o.shear == 0) return;
  const double across = w->o.size[w->o.across], along = w->o.size[w->o.along];
  const double displacement = collision_image_offset(&w->o, t);
  w->search.offset = displacement < 0 ? displacement + along : displacement;
  w->box.offset = (real)w->search.offset;
  w->jump = (real)(w->o.shear * across);
}

static sim_status create(const collision_options *options, const collision_state *state, collision_work **out) {
  const size_t n = (size_t)options->n;
  collision_work *w = calloc(1, sizeof *w);
  *out = w;
  if (w == NULL) return sim_no_memory("the model");
  w->o = *options;
  w->state = *state;
  contact_laws(options, w->law);
  double smallest = options->radius_most > 0 ? options->radius_least : INFINITY, largest = options->radius_most;
  for (int64_t i = 0; i < state->n; i++) {
    smallest = fmin(smallest, (double)((const real *)state->radius)[i]);
    largest = fmax(largest, (double)((const real *)state->radius)[i]);
  }
  if (smallest == largest) contact_usual_radius(w->law, options->materials, (real)smallest);
  sim_status status = collision_search_create(options, smallest, largest, &w->search);
  w->search.cutoff = options->reach + collision_search_skin(options, smallest);
  w->box = periodic_box_of(&w->search);
  w->slot = malloc(n * sizeof *w->slot);
  w->square = calloc(n / COLLISION_BLOCK + COLLISION_LEVELS, sizeof *w->square);
  w->begun = calloc(n / COLLISION_BLOCK + COLLISION_LEVELS, sizeof *w->begun);
  w->old_first = malloc((n + 1) * sizeof *w->old_first);
  w->near = calloc(n * (size_t)options->meshes + 1, sizeof *w->near);
  w->flow = calloc(options->heated ? n : 1, sizeof *w->flow);
  if (status == SIM_OK && (!w->slot || !w->flow || !w->square || !w->begun || !w->old_first || !w->near ||
                           !create_grains(options, &w->now) || !create_grains(options, &w->spare)))
    status = sim_no_memory("%zu grains", n);
  shift_images(w, state->time);
  if (status == SIM_OK) status = create_bodies(w);
  if (status == SIM_OK) status = create_chunks(w);
  if (status == SIM_OK) status = collision_domain_create(options->comm, options->n, &w->domain);
  if (status == SIM_OK) status = collision_fields_create(options, &w->fields);
  if (status != SIM_OK) destroy(out);
  return status;
}

/* ---- steps ---- */

/* Adds the external acceleration to that of grains first ... end - 1. */
static void add_external(collision_work *w, int64_t first, int64_t end, double t) {
  const grains *g = &w->now;
  for (; first < end; first += COLLISION_FIELD_BLOCK) {
    const int count = (int)(end - first < COLLISION_FIELD_BLOCK ? end - first : COLLISION_FIELD_BLOCK);
    double *x[3];
    const double *a[3];
    collision_fields_positions(w->fields, x);
    for (int k = 0; k < count; k++)
      for (int c = 0; c < 3; c++) x[c][k] = (double)g->position[first + k].x[c];
    collision_fields_external(w->fields, x, count, t, a);
    for (int k = 0; k < count; k++)
      for (int c = 0; c < 3; c++) g->acceleration[first + k].v[c] += (real)a[c][k];
  }
}

/* Gap up to which contacts that have begun may act, or may have ended in the last step. */
static real reach_margin(const collision_work *w, real dt) {
  return w->o.reach > 0 ? (real)w->o.reach + 2 * (real)w->fastest * dt : 0;
}

/* Computes the acceleration of grain i by contacts and gravity, and adds its contacts to its tally; for a sphere of a
 * clump the force and torque of its contacts instead, for push_body. Returns whether it met a grain, with merge. */
static bool accelerate(collision_work *w, int64_t i, real dt, real edge, bool kick, pair_results *results) {
  const grains *g = &w->now;
  const real margin = edge * (real)w->fastest + reach_margin(w, dt);
  contact_sum sum = {0};
  gather_pairs(w, i, dt, edge, margin, results, &sum, NULL);
  if (w->o.walls > 0) gather_walls(w, i, dt, edge, margin, &sum, NULL);
  const real m = g->v_pred[i].m, r = g->position[i].r, inverse = 1 / ((real)0.4 * m * r * r);
  const bool bound = body_of(w, i) > 0;
  for (int k = 0; k < 3; k++) {
    g->acceleration[i].v[k] = bound ? sum.force[k] : sum.force[k] / m + (real)w->o.gravity[k];
    g->angular_acceleration[i].v[k] = bound ? sum.torque[k] : sum.torque[k] * inverse;
  }
  if (!kick) return false;
  if (w->o.heated) w->flow[i] = sum.heat;
  g->tally[i].dissipated += sum.dissipated;
  g->tally[i].virial += sum.virial;
  g->tally[i].work += sum.work;
  if (w->state.pull != NULL) g->tally[i].work += w->state.pull[3 * w->o.n + g->id[i]] * (double)dt;
  g->tally[i].collisions += sum.begun;
  return sum.met;
}

/* Computes the accelerations of the grains of a chunk. */
static void accelerate_chunk(collision_work *w, const pair_chunk *chunk, real dt, bool kick, pair_results *results) {
  const collision_span *block = w->search.block;
  const real edge = w->o.damped ? dt : 0;
  results->base = w->search.first[block[chunk->first].first];
  results->frees = results->used = 0;
  for (int64_t b = chunk->first; b < chunk->end; b++)
    for (int64_t i = block[b].first; i < block[b].end; i++) w->begun[b] |= accelerate(w, i, dt, edge, kick, results);
}

/* Adds the heat of a step to grain i. */
static void warm(collision_work *w, int64_t i, real dt) {
  const double m = (double)w->now.v_pred[i].m, part = w->o.conductance * (double)dt;
  w->now.warmth[i].temperature += part * w->flow[i].temperature / (m * w->o.capacity);
  w->now.warmth[i].from_walls += part * w->flow[i].from_walls;
}

/* Computes the accelerations of this rank's grains at time t and of all clumps; kick: also makes the second half of the
 * velocities' step. All ranks call it. */
static sim_status forces(collision_work *w, double t, real dt, bool kick) {
  const grains *g = &w->now;
  const real half = (real)0.5 * dt;
  const collision_span *block = w->search.block;
  const int64_t blocks = w->search.blocks;
  int threads = 0;
  memset(w->begun, 0, (size_t)blocks * sizeof *w->begun);
  w->one_sided |= dt > 0;
#pragma omp parallel num_threads(w->o.threads) if (w->o.n > 4096)
  {
    int thread;
#pragma omp atomic capture
    thread = threads++;
#pragma omp for schedule(dynamic)
    for (int64_t k = 0; k < w->chunks; k++) accelerate_chunk(w, &w->chunk[k], dt, kick, &w->results[thread]);
      /* contacts read the velocities, so that all contacts are computed before velocities change */
#pragma omp for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
      if (w->o.external != NULL) add_external(w, block[b].first, block[b].end, t);
      for (int64_t i = block[b].first; i < block[b].end && kick && w->o.heated; i++) warm(w, i, dt);
      for (int64_t i = block[b].first; i < block[b].end && kick; i++)
        for (int k = 0; k < 3 && body_of(w, i) == 0; k++) {
          g->velocity[i].v[k] += half * acceleration_of(w, i, k);
          g->spin[i].v[k] += half * g->angular_acceleration[i].v[k];
        }
    }
  }
  SIM_TRY(gather_forces(w));
  push_bodies(w, (double)dt, kick);
  return SIM_OK;
}

/* Counts the passages of gates by grain i, which moved from `from` to `to` in this step. */
static void count_gates(collision_work *w, int64_t i, const real from[3], const real to[3]) {
  const double a[3] = {(double)from[0], (double)from[1], (double)from[2]};
  const double b[3] = {(double)to[0], (double)to[1], (double)to[2]};
  for (int k = 0; k < w->o.gates; k++)
    w->now.crossed[i * w->o.gates + k] += gate_passed(&w->o.gate[k], a, b, w->o.size, w->o.periodic);
}

/* Moves a grain that left a sheared box across the shear to its image inside, with the image's velocity. Of kept
 * accelerations by self-gravity the power of images is that before: the rest of their time is counted here. */
static void cross_shear(collision_work *w, int64_t i, real low, real high) {
  const int b = w->o.along;
  const real y = w->now.position[i].x[w->o.across];
  const real side = y >= high ? -1 : y < low ? 1 : 0;
  if (side == 0) return;
  real *x = &w->now.position[i].x[b];
  *x += side * w->box.offset;
  const real v = w->now.velocity[i].v[b], gain = side * w->jump;
  w->now.tally[i].work += (double)w->now.v_pred[i].m * (double)gain * ((double)v + 0.5 * (double)gain);
  if (w->o.attracted)
    w->now.tally[i].work +=
        (double)w->now.v_pred[i].m * (double)gain * *w->state.pull_left * w->state.pull[b * w->o.n + w->now.id[i]];
  w->now.velocity[i].v[b] += gain;
  w->now.v_pred[i].v[b] += gain;
  if (*x < (real)w->o.low[b] - w->box.size[b]) *x += w->box.size[b];
  if (*x >= (real)w->o.low[b] + 2 * w->box.size[b]) *x -= w->box.size[b];
}

/* Adds the change of Hill's potential to the work, where grain i was moved from `from` to its image. */
static void count_tide(collision_work *w, int64_t i, const hill_flow *flow, const real from[3]) {
  const real *to = w->now.position[i].x;
  if (from[0] != to[0] || from[2] != to[2])
    w->now.tally[i].work += (double)w->now.v_pred[i].m * (hill_potential(flow, (double)to[0], (double)to[2]) -
                                                          hill_potential(flow, (double)from[0], (double)from[2]));
}

/* Moves grain i along its epicycle. */
static void follow_epicycle(collision_work *w, int64_t i, const hill_flow *flow) {
  double x[3], v[3];
  for (int k = 0; k < 3; k++) {
    x[k] = (double)w->now.position[i].x[k];
    v[k] = (double)w->now.velocity[i].v[k];
  }
  hill_advance(flow, x, v);
  for (int k = 0; k < 3; k++) {
    w->now.position[i].x[k] = (real)x[k];
    w->now.velocity[i].v[k] = (real)v[k];
  }
}

/* Adds the gain of gravity's potential to the work, where grain i was moved from `from` to its image. */
static void count_lift(collision_work *w, int64_t i, const real from[3]) {
  double lift = 0;
  for (int c = 0; c < 3; c++) lift += ((double)from[c] - (double)w->now.position[i].x[c]) * w->o.gravity[c];
  if (lift != 0) w->now.tally[i].work += (double)w->now.v_pred[i].m * lift;
}

/* First half of the velocities' step of a grain outside clumps, and the step of its position. */
static void move_grain(collision_work *w, int64_t i, real dt, const hill_flow *flow) {
  const grains *g = &w->now;
  const real half = (real)0.5 * dt;
  for (int k = 0; k < 3; k++) {
    const real s = g->spin[i].v[k] + half * g->angular_acceleration[i].v[k];
    g->velocity[i].v[k] += half * acceleration_of(w, i, k);
    g->spin[i].v[k] = s;
    g->w_pred[i].v[k] = s + half * g->angular_acceleration[i].v[k];
  }
  if (w->o.hill)
    follow_epicycle(w, i, flow);
  else
    for (int k = 0; k < 3; k++) g->position[i].x[k] += g->velocity[i].v[k] * dt;
  for (int k = 0; k < 3; k++) g->v_pred[i].v[k] = g->velocity[i].v[k] + half * acceleration_of(w, i, k);
}

/* First half of the velocities' step of this rank's grains, and the step of their positions. All ranks. */
static sim_status drift(collision_work *w, real dt) {
  const grains *g = &w->now;
  const int across = w->o.across, along = w->o.along;
  const real shear = (real)w->o.shear;
  const real middle = (real)(w->o.low[across] + 0.5 * w->o.size[across]);
  const hill_flow flow = hill_flow_of(&w->o, (double)dt);
  real low[3], high[3], slack[3]; /* slack: of rounding */
  for (int c = 0; c < 3; c++) {
    slack[c] = (real)1e-3 * (real)w->o.size[c];
    low[c] = w->o.periodic[c] ? (real)w->o.low[c] : (real)-INFINITY;
    high[c] = w->o.periodic[c] ? (real)(w->o.low[c] + w->o.size[c]) : (real)INFINITY;
  }
  move_bodies(w, (double)dt);
#pragma omp parallel for schedule(static) num_threads(w->o.threads) if (w->o.n > 4096)
  for (int64_t b = 0; b < w->search.blocks; b++) {
    double most = 0;
    for (int64_t i = w->search.block[b].first; i < w->search.block[b].end; i++) {
      double square = 0;
      const real before[3] = {g->position[i].x[0], g->position[i].x[1], g->position[i].x[2]};
      const bool bound = body_of(w, i) > 0;
      if (!bound) move_grain(w, i, dt, &flow);
      const real from[3] = {g->position[i].x[0], g->position[i].x[1], g->position[i].x[2]};
      if (w->jump != 0) cross_shear(w, i, low[across], high[across]);
      for (int k = 0; k < 3; k++) {
        real *x = &g->position[i].x[k];
        if (*x < low[k]) *x += w->box.size[k];
        if (*x >= high[k]) *x -= w->box.size[k];
        if (*x < low[k] - slack[k] || *x > high[k] + slack[k]) square = INFINITY; /* by more than a side in a step */
      }
      /* In a sheared box the shift to the image is no displacement of the grain. */
      const bool jumps = w->jump != 0 && (from[across] < low[across] || from[across] >= high[across]);
      if (w->o.gates > 0) count_gates(w, i, before, jumps ? from : g->position[i].x);
      if (w->o.worked && !bound) count_lift(w, i, from);
      if (w->o.hill) count_tide(w, i, &flow, from);
      for (int k = 0; k < 3; k++) {
        const real sheared = k == along ? shear * (g->position[i].x[across] - middle) : 0;
        const real v = g->velocity[i].v[k] - sheared;
        square += (double)(v * v);
      }
      most = square > most || !(square >= 0) ? square : most; /* NaN is kept */
    }
    w->square[b] = most;
  }
  double most = 0;
  for (int64_t b = 0; b < w->search.blocks; b++)
    most = w->square[b] > most || !(w->square[b] >= 0) ? w->square[b] : most;
  if (w->domain.comm->size > 1) w->known = KNOWN_OWN;
  SIM_TRY(collision_domain_greatest(&w->domain, &most));
  /* Velocities of neighbours in a sheared box also differ by the flow over their distance. */
  w->fastest = sqrt(most) + 0.5 * fabs(w->o.shear) * (2 * w->search.largest + w->search.cutoff);
  if (w->o.hill) w->fastest *= 1 + 2 * (w->o.omega + w->o.vertical) * (double)dt; /* velocities turn in the step */
  return SIM_OK;
}

static sim_status step(collision_work *w, double t, double dt) {
  shift_images(w, t);
  SIM_TRY(drift(w, (real)dt));
  const double moved = 2 * w->fastest * dt, edge = w->o.damped ? moved : 0;
  if (!(w->fastest < INFINITY)) return sim_fail(SIM_ERR_DIVERGED, "a grain's velocity is not finite at t = %.9g", t);
  w->moved += moved * (1 + 1e-6);
  if (w->moved + edge + w->o.reach >= w->search.cutoff * (1 - 1e-3)) {
    /* Grains that move farther than the skin allows need a wider list, at least for this step. Pairs with history stay
     * in the list. */
    const double skin = collision_search_skin(&w->o, w->search.smallest), wide = 2 * fmax(edge, w->held + moved);
    w->search.cutoff = w->o.reach + (wide >= skin ? wide + skin : skin);
    SIM_TRY(rebuild_lists(w));
  }
  w->length = dt;
  w->held = 0.5 * edge; /* the margin of `forces` */
  SIM_TRY(exchange_halo(w));
  return forces(w, t, (real)dt, true);
}

static void begin(collision_work *w, double t) {
  (void)!forces(w, t, 0, false); /* an exchange that fails fails all others */
  if (w->domain.comm->size > 1) w->known = KNOWN_OWN;
}

extern const collision_ops COLLISION_OPS;
const collision_ops COLLISION_OPS = {.dtype = COLLISION_DTYPE,
                                     .bytes = bytes,
                                     .room = room,
                                     .create = create,
                                     .destroy = destroy,
                                     .load = load,
                                     .begin = begin,
                                     .step = step,
                                     .store = store,
                                     .sums = sums,
                                     .touches = touches};
