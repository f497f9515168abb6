/* Operations on the CPU, for one type of the state: REAL is float or double.
 *
 * Grains stand in the order of their cells. Each grain gathers the forces of its contacts by itself, in the order of
 * its neighbours' ids and then of the walls: a pair is computed twice, with opposite signs to the bit. So no sum
 * depends on threads, on how grains are stored or on when lists were made, and momentum between grains is conserved.
 *
 * A step is velocity Verlet; contacts see v + a dt in place of the velocity at its end, which keeps dashpots at second
 * order: v' = v + a dt/2, x += v' dt, force(x, v' + a dt/2), v = v' + a dt/2. */
typedef REAL real;
#include "kernels/collision/physics.h"
#include "kernels/collision/search_real.h"

#include "engine/reduce.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct motion {
  real v[3], m;
} motion;

typedef struct triple {
  real v[3];
} triple;

typedef struct tally {
  double dissipated, virial;
  uint64_t collisions;
} tally;

/* One grain's numbers, in the cells' order; two sets, for sorting. */
typedef struct grains {
  place *place;
  motion *seen;   /* velocity that contacts see, mass */
  triple *turned; /* angular velocity that contacts see */
  triple *velocity, *spin, *acceleration, *twirl;
  tally *tally;
  uint32_t *id, *material;
  real *wall_spring; /* [n][walls springs] */
} grains;

struct collision_work {
  collision_options o;
  collision_state state;
  contact_law law[COLLISION_MATERIALS_MAX][COLLISION_MATERIALS_MAX];
  image box;
  collision_search search;
  grains now, spare;
  uint32_t *slot;          /* [n]: where id i stands */
  uint32_t *old_neighbour; /* the list before this one, while history moves */
  int64_t *old_first, old_room;
  real *spring, *old_spring; /* [room of the list][springs] */
  int64_t spring_room, old_spring_room;
  int64_t blocks;
  double *block;  /* [blocks]: greatest square of a speed */
  double moved;   /* how much nearer two grains may have come since the list was made */
  double fastest; /* speed in the last step */
  bool listed;
};

enum { BLOCK = 1024 };

static size_t wall_numbers(const collision_options *o) { return (size_t)o->walls * (size_t)o->springs; }

static double bytes(const collision_options *o) {
  const double n = (double)o->n;
  const double grain =
      sizeof(place) + sizeof(motion) + 5 * sizeof(triple) + sizeof(tally) + 8 + (double)wall_numbers(o) * sizeof(real);
  return n * (2 * grain + 4 + 2 * 12 * sizeof(real) * o->springs) + collision_search_bytes(o->n) * 2;
}

static void free_grains(grains *g) {
  free(g->place), free(g->seen), free(g->turned), free(g->velocity), free(g->spin), free(g->acceleration);
  free(g->twirl), free(g->tally), free(g->id), free(g->material), free(g->wall_spring);
  *g = (grains){0};
}

static bool make_grains(const collision_options *o, grains *g) {
  const size_t n = (size_t)o->n;
  *g = (grains){.place = calloc(n, sizeof *g->place),
                .seen = calloc(n, sizeof *g->seen),
                .turned = calloc(n, sizeof *g->turned),
                .velocity = calloc(n, sizeof *g->velocity),
                .spin = calloc(n, sizeof *g->spin),
                .acceleration = calloc(n, sizeof *g->acceleration),
                .twirl = calloc(n, sizeof *g->twirl),
                .tally = calloc(n, sizeof *g->tally),
                .id = calloc(n, sizeof *g->id),
                .material = calloc(n, sizeof *g->material),
                .wall_spring = calloc(n * wall_numbers(o) + 1, sizeof *g->wall_spring)};
  return g->place && g->seen && g->turned && g->velocity && g->spin && g->acceleration && g->twirl && g->tally &&
         g->id && g->material && g->wall_spring;
}

static void destroy(collision_work **work) {
  collision_work *w = *work;
  if (w == NULL) return;
  free_grains(&w->now);
  free_grains(&w->spare);
  collision_search_destroy(&w->search);
  free(w->slot), free(w->old_neighbour), free(w->old_first), free(w->spring), free(w->old_spring), free(w->block);
  free(w);
  *work = NULL;
}

static double default_skin(const collision_options *o, double smallest) {
  return isnan(o->skin) ? 0.3 * smallest : o->skin;
}

static sim_status create(const collision_options *options, const collision_state *state, collision_work **out) {
  const size_t n = (size_t)options->n;
  collision_work *w = calloc(1, sizeof *w);
  *out = w;
  if (w == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the model");
  w->o = *options;
  w->state = *state;
  for (int a = 0; a < options->materials; a++)
    for (int b = 0; b < options->materials; b++) {
      const collision_law *from = &options->law[a][b];
      w->law[a][b] = (contact_law){(real)from->k0,   (real)from->km,         (real)from->g0,      (real)from->gh,
                                   (real)from->gm,   (real)from->tangential, (real)from->E,       (real)from->G,
                                   (real)from->beta, (real)from->friction,   (real)from->rolling, (real)from->twisting,
                                   (real)from->pull};
    }
  double smallest = INFINITY, largest = 0;
  for (size_t i = 0; i < n; i++) {
    smallest = fmin(smallest, (double)((const real *)state->radius)[i]);
    largest = fmax(largest, (double)((const real *)state->radius)[i]);
  }
  sim_status status = collision_search_create(options, smallest, largest, &w->search);
  w->search.cutoff = default_skin(options, smallest);
  w->box = image_of(&w->search);
  w->blocks = (options->n + BLOCK - 1) / BLOCK;
  w->slot = malloc(n * sizeof *w->slot);
  w->block = calloc((size_t)w->blocks, sizeof *w->block);
  w->old_first = malloc((n + 1) * sizeof *w->old_first);
  if (status == SIM_OK &&
      (!w->slot || !w->block || !w->old_first || !make_grains(options, &w->now) || !make_grains(options, &w->spare)))
    status = sim_fail(SIM_ERR_NO_MEMORY, "no memory for %zu grains", n);
  if (status != SIM_OK) destroy(out);
  return status;
}

/* ---- lists ---- */

/* All numbers of the grains into the order of the cells. */
static void rearrange(collision_work *w) {
  const grains *a = &w->now, *b = &w->spare;
  const uint32_t *order = w->search.order;
  const size_t springs = wall_numbers(&w->o);
#pragma omp parallel for schedule(static) num_threads(w->o.threads) if (w->o.n > 4096)
  for (int64_t i = 0; i < w->o.n; i++) {
    const uint32_t k = order[i];
    b->place[i] = a->place[k];
    b->seen[i] = a->seen[k];
    b->turned[i] = a->turned[k];
    b->velocity[i] = a->velocity[k];
    b->spin[i] = a->spin[k];
    b->acceleration[i] = a->acceleration[k];
    b->twirl[i] = a->twirl[k];
    b->tally[i] = a->tally[k];
    b->id[i] = a->id[k];
    b->material[i] = a->material[k];
    memcpy(b->wall_spring + (size_t)i * springs, a->wall_spring + k * springs, springs * sizeof(real));
  }
  const grains old = w->now;
  w->now = w->spare;
  w->spare = old;
}

/* History from the old rows to the new ones; both are in the order of ids. The old ids stand in `spare`. */
static void move_springs(collision_work *w) {
  const int springs = w->o.springs;
  const uint32_t *old_id = w->spare.id, *id = w->now.id;
#pragma omp parallel for schedule(static) num_threads(w->o.threads) if (w->o.n > 4096)
  for (int64_t i = 0; i < w->o.n; i++) {
    const int64_t k = w->search.order[i];
    int64_t at = w->old_first[k];
    for (int64_t e = w->search.first[i]; e < w->search.first[i + 1]; e++) {
      const uint32_t partner = id[w->search.neighbour[e]];
      real *to = w->spring + e * springs;
      while (at < w->old_first[k + 1] && old_id[w->old_neighbour[at]] < partner) at++;
      if (at < w->old_first[k + 1] && old_id[w->old_neighbour[at]] == partner)
        memcpy(to, w->old_spring + at * springs, (size_t)springs * sizeof(real));
      else
        memset(to, 0, (size_t)springs * sizeof(real));
    }
  }
}

static sim_status keep_list(collision_work *w) {
  uint32_t *neighbour = w->old_neighbour;
  const int64_t room = w->old_room;
  real *spring = w->old_spring;
  const int64_t spring_room = w->old_spring_room;
  int64_t *first = w->old_first;
  w->old_neighbour = w->search.neighbour;
  w->old_room = w->search.room;
  w->old_first = w->search.first;
  w->old_spring = w->spring;
  w->old_spring_room = w->spring_room;
  w->search.neighbour = neighbour;
  w->search.room = room;
  w->search.first = first;
  w->spring = spring;
  w->spring_room = spring_room;
  return SIM_OK;
}

static sim_status make_list(collision_work *w) {
  const int springs = w->o.springs;
  if (springs > 0 && w->listed) SIM_TRY(keep_list(w));
  SIM_TRY(sort_cells(&w->search, w->now.place));
  rearrange(w);
  for (int64_t i = 0; i < w->o.n; i++) w->slot[w->now.id[i]] = (uint32_t)i;
  SIM_TRY(list_neighbours(&w->search, w->now.place, w->now.id));
  const int64_t entries = w->search.first[w->o.n];
  if (springs > 0 && entries > w->spring_room) {
    free(w->spring);
    w->spring_room = entries + entries / 8;
    w->spring = malloc((size_t)(w->spring_room * springs) * sizeof *w->spring);
    if (w->spring == NULL) {
      w->spring_room = 0;
      return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the history of %" PRId64 " contacts", entries);
    }
  }
  if (springs > 0 && w->listed)
    move_springs(w);
  else if (springs > 0 && entries > 0)
    memset(w->spring, 0, (size_t)(entries * springs) * sizeof *w->spring);
  w->listed = true;
  w->moved = 0;
  return SIM_OK;
}

/* ---- forces ---- */

/* Sums of one grain. The virial is of half of each contact of grains, and of walls not at all. */
typedef struct gathered {
  real force[3], torque[3];
  double dissipated, virial;
  uint64_t begun;
} gathered;

/* What `sums` wants beside. */
typedef struct looked {
  double elastic, stress[6], overlap, touching, touching_walls;
  double (*wall)[3];
} looked;

static void add_contact(gathered *sum, const contact_state *c, const contact_result *r, bool turns, real arm,
                        real share) {
  real torque[3];
  for (int k = 0; k < 3; k++) sum->force[k] += r->force[k];
  sum->dissipated += (double)(share * r->dissipated);
  if (!turns) return;
  contact_cross(c->normal, r->force, torque);
  for (int k = 0; k < 3; k++) sum->torque[k] += r->couple[k] - arm * torque[k];
}

static void look(looked *at, const contact_state *c, const contact_result *r, real distance, double smaller) {
  at->elastic += 0.5 * (double)r->elastic;
  at->touching += 1;
  at->overlap = fmax(at->overlap, (double)c->overlap / smaller);
  for (int k = 0; k < 3; k++) {
    at->stress[k] += 0.5 * (double)(distance * c->normal[k] * r->force[k]);
    const int a = k == 2 ? 2 : k, b = k == 2 ? 0 : k + 1;
    at->stress[3 + k] += 0.5 * (double)(distance * c->normal[a] * r->force[b]);
  }
}

/* A contact that has ended gives up what its springs held: linear law only, as with Hertz they have weakened to 0. */
static double give_up(const collision_work *w, const contact_law *law, real mass, real radius, real *spring) {
  real slide = 0, turn = 0;
  for (int k = 0; k < 3; k++) slide += spring[k] * spring[k];
  for (int k = 3; k < w->o.springs; k++) turn += spring[k] * spring[k];
  if (slide == 0 && turn == 0) return 0;
  memset(spring, 0, (size_t)w->o.springs * sizeof *spring);
  if (w->o.force == COLLISION_HERTZ) return 0;
  const real kt = law->tangential * (law->k0 + law->km * mass);
  return (double)((real)0.5 * kt * (slide + turn * radius * radius));
}

/* Neighbours of grain i. dt 0: as they are, without bringing history up to date; `at` NULL: not wanted. */
static void gather_pairs(collision_work *w, int64_t i, real dt, real edge, real margin, gathered *sum, looked *at) {
  const grains *g = &w->now;
  const int springs = w->o.springs;
  const place p = g->place[i];
  for (int64_t e = w->search.first[i]; e < w->search.first[i + 1]; e++) {
    const uint32_t j = w->search.neighbour[e];
    const place q = g->place[j];
    contact_state c = {0};
    real d[3];
    for (int k = 0; k < 3; k++) d[k] = nearest_image(p.x[k] - q.x[k], w->box.size[k], w->box.half[k]);
    const real square = contact_dot(d, d), both = p.r + q.r, reach = both + margin;
    real kept[7] = {0}, *spring = springs > 0 ? w->spring + e * springs : kept;
    const bool near = square < reach * reach;
    if (!near && springs == 0) continue;
    const motion vi = g->seen[i], vj = g->seen[j];
    const contact_law *law = &w->law[g->material[i]][g->material[j]];
    c.mass = vi.m * vj.m / (vi.m + vj.m);
    c.radius = p.r * q.r / both;
    real distance = 0, approach = 0;
    bool touch = false;
    if (near) {
      distance = (real)sqrt(square);
      c.overlap = both - distance;
      for (int k = 0; k < 3; k++) {
        c.normal[k] = distance > 0 ? d[k] / distance : 0;
        c.speed[k] = vi.v[k] - vj.v[k];
      }
      approach = contact_dot(c.speed, c.normal);
      touch = c.overlap > 0 || (edge > 0 && c.overlap > -(real)0.5 * edge * (real)fabs(approach));
    }
    if (!touch) {
      if (springs > 0 && dt > 0) sum->dissipated += 0.5 * give_up(w, law, c.mass, c.radius, spring);
      continue;
    }
    if (springs > 0) {
      const real *wi = g->turned[i].v, *wj = g->turned[j].v, part = distance / both;
      for (int k = 0; k < 3; k++) {
        c.surface[k] = part * (p.r * wi[k] + q.r * wj[k]);
        c.turning[k] = wi[k] - wj[k];
      }
      if (dt == 0) {
        memcpy(kept, spring, (size_t)springs * sizeof *kept);
        spring = kept;
      }
    }
    c.halfway = 0;
    for (int k = 0; k < 3; k++) c.halfway += (g->velocity[i].v[k] - g->velocity[j].v[k]) * c.normal[k];
    contact_result r;
    contact_force(law, w->o.force == COLLISION_HERTZ, springs, &c, dt, edge, spring, &r);
    add_contact(sum, &c, &r, springs > 0, distance * p.r / both, (real)0.5);
    if (at != NULL && c.overlap > 0) look(at, &c, &r, distance, (double)(p.r < q.r ? p.r : q.r));
    if (dt == 0) continue;
    sum->virial += (double)((real)0.5 * distance * r.normal_force * dt);
    /* It began in this step: they stood apart before it. */
    if (c.overlap > 0 && approach < 0) {
      real then[3];
      for (int k = 0; k < 3; k++) then[k] = d[k] - (g->velocity[i].v[k] - g->velocity[j].v[k]) * dt;
      if (contact_dot(then, then) >= both * both) sum->begun++;
    }
  }
}

/* Walls that grain i meets. */
static void gather_walls(collision_work *w, int64_t i, double t, real dt, real edge, gathered *sum, looked *at) {
  const grains *g = &w->now;
  const int springs = w->o.springs;
  const place p = g->place[i];
  const double x[3] = {(double)p.x[0], (double)p.x[1], (double)p.x[2]};
  for (int b = 0; b < w->o.walls; b++) {
    const collision_wall *wall = &w->o.wall[b];
    double normal[3], velocity[3];
    const real distance = (real)collision_wall_distance(wall, t, x, normal, velocity);
    real kept[7], *spring = g->wall_spring + ((size_t)i * (size_t)w->o.walls + (size_t)b) * (size_t)springs;
    const motion vi = g->seen[i];
    const contact_law *law = &w->law[g->material[i]][wall->material];
    contact_state c = {.overlap = p.r - distance, .mass = vi.m, .radius = p.r};
    for (int k = 0; k < 3; k++) {
      c.normal[k] = (real)normal[k];
      c.speed[k] = vi.v[k] - (real)velocity[k];
    }
    const real approach = contact_dot(c.speed, c.normal);
    if (!(c.overlap > 0 || (edge > 0 && c.overlap > -(real)0.5 * edge * (real)fabs(approach)))) {
      if (springs > 0 && dt > 0) sum->dissipated += give_up(w, law, c.mass, c.radius, spring);
      continue;
    }
    if (springs > 0) {
      for (int k = 0; k < 3; k++) {
        c.turning[k] = g->turned[i].v[k];
        c.surface[k] = distance * c.turning[k];
      }
    }
    if (dt == 0 || springs == 0) {
      memcpy(kept, spring, (size_t)springs * sizeof *kept);
      spring = kept;
    }
    for (int k = 0; k < 3; k++) c.halfway += (g->velocity[i].v[k] - (real)velocity[k]) * c.normal[k];
    contact_result r;
    contact_force(law, w->o.force == COLLISION_HERTZ, springs, &c, dt, edge, spring, &r);
    add_contact(sum, &c, &r, springs > 0, distance, 1);
    if (at == NULL || !(c.overlap > 0)) continue;
    at->elastic += (double)r.elastic;
    at->touching_walls += 1;
    at->overlap = fmax(at->overlap, (double)(c.overlap / p.r));
    for (int k = 0; k < 3; k++) at->wall[b][k] -= (double)r.force[k];
  }
}

/* Acceleration at time t; then the second half of the velocities' step. */
static void forces(collision_work *w, double t, real dt, bool kick) {
  const grains *g = &w->now;
  const real edge = w->o.damped ? dt : 0, margin = edge * (real)w->fastest, half = (real)0.5 * dt;
#pragma omp parallel for schedule(dynamic, BLOCK) num_threads(w->o.threads) if (w->o.n > 4096)
  for (int64_t i = 0; i < w->o.n; i++) {
    gathered sum = {{0}, {0}, 0, 0, 0};
    gather_pairs(w, i, dt, edge, margin, &sum, NULL);
    if (w->o.walls > 0) gather_walls(w, i, t, dt, edge, &sum, NULL);
    const real m = g->seen[i].m, r = g->place[i].r, inverse = 1 / ((real)0.4 * m * r * r);
    for (int k = 0; k < 3; k++) {
      g->acceleration[i].v[k] = sum.force[k] / m + (real)w->o.gravity[k];
      g->twirl[i].v[k] = sum.torque[k] * inverse;
    }
    if (!kick) continue;
    g->tally[i].dissipated += sum.dissipated;
    g->tally[i].virial += sum.virial;
    g->tally[i].collisions += sum.begun;
  }
  if (!kick) return;
#pragma omp parallel for schedule(static) num_threads(w->o.threads) if (w->o.n > 4096)
  for (int64_t i = 0; i < w->o.n; i++)
    for (int k = 0; k < 3; k++) {
      g->velocity[i].v[k] += half * g->acceleration[i].v[k];
      g->spin[i].v[k] += half * g->twirl[i].v[k];
    }
}

/* First half of the velocities' step, and the positions'. */
static void drift(collision_work *w, real dt) {
  const grains *g = &w->now;
  const real half = (real)0.5 * dt;
  real low[3], high[3];
  for (int c = 0; c < 3; c++) {
    low[c] = w->o.periodic[c] ? (real)w->o.low[c] : (real)-INFINITY;
    high[c] = w->o.periodic[c] ? (real)(w->o.low[c] + w->o.size[c]) : (real)INFINITY;
  }
#pragma omp parallel for schedule(static) num_threads(w->o.threads) if (w->o.n > 4096)
  for (int64_t b = 0; b < w->blocks; b++) {
    const int64_t end = (b + 1) * BLOCK < w->o.n ? (b + 1) * BLOCK : w->o.n;
    double most = 0;
    for (int64_t i = b * BLOCK; i < end; i++) {
      double square = 0;
      for (int k = 0; k < 3; k++) {
        const real v = g->velocity[i].v[k] + half * g->acceleration[i].v[k];
        const real s = g->spin[i].v[k] + half * g->twirl[i].v[k];
        real x = g->place[i].x[k] + v * dt;
        if (x < low[k]) x += w->box.size[k];
        if (x >= high[k]) x -= w->box.size[k];
        g->place[i].x[k] = x;
        g->velocity[i].v[k] = v;
        g->spin[i].v[k] = s;
        g->seen[i].v[k] = v + half * g->acceleration[i].v[k];
        g->turned[i].v[k] = s + half * g->twirl[i].v[k];
        square += (double)(v * v);
      }
      most = square > most || !(square >= 0) ? square : most; /* NaN goes on */
    }
    w->block[b] = most;
  }
  double most = 0;
  for (int64_t b = 0; b < w->blocks; b++) most = w->block[b] > most || !(w->block[b] >= 0) ? w->block[b] : most;
  w->fastest = sqrt(most);
}

static sim_status step(collision_work *w, double t, double dt) {
  drift(w, (real)dt);
  const double moved = 2 * w->fastest * dt, edge = w->o.damped ? moved : 0;
  if (!(w->fastest < INFINITY)) return sim_fail(SIM_ERR_DIVERGED, "a grain's velocity is not finite at t = %.9g", t);
  w->moved += moved * (1 + 1e-6);
  if (w->moved + edge >= w->search.cutoff * (1 - 1e-3)) {
    /* Grains faster than the skin allows get a wider list, for this step at least. */
    const double skin = default_skin(&w->o, w->search.smallest);
    w->search.cutoff = edge * 2 >= skin ? edge * 2 + skin : skin;
    SIM_TRY(make_list(w));
  }
  forces(w, t, (real)dt, true);
  return SIM_OK;
}

static void begin(collision_work *w, double t) { forces(w, t, 0, false); }

/* ---- state ---- */

static sim_status load_springs(collision_work *w) {
  const collision_state *s = &w->state;
  const int springs = w->o.springs;
  const real *saved = s->contact_spring;
  for (int64_t k = 0; k < s->room && springs > 0; k++) {
    if (s->contact_grain[k] == UINT64_MAX) continue;
    if (s->contact_grain[k] >= (uint64_t)w->o.n || s->contact_partner[k] >= (uint64_t)w->o.n)
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's contacts name grains that are not there");
    const uint32_t ids[2] = {(uint32_t)s->contact_grain[k], (uint32_t)s->contact_partner[k]};
    for (int side = 0; side < 2; side++) {
      const int64_t i = w->slot[ids[side]];
      const uint32_t j = w->slot[ids[1 - side]];
      for (int64_t e = w->search.first[i]; e < w->search.first[i + 1]; e++) {
        if (w->search.neighbour[e] != j) continue;
        for (int c = 0; c < springs; c++) {
          const real value = saved[c * s->room + k];
          w->spring[e * springs + c] = side == 0 || c == 6 ? value : -value;
        }
      }
    }
  }
  return SIM_OK;
}

static sim_status load(collision_work *w) {
  const collision_state *s = &w->state;
  const grains *g = &w->now;
  const int64_t n = w->o.n;
  const int64_t springs = (int64_t)wall_numbers(&w->o);
  const real *x = s->position, *v = s->velocity, *spin = s->spin, *a = s->acceleration, *twirl = s->twirl;
  for (int64_t i = 0; i < n; i++) {
    if (s->material[i] >= (uint64_t)w->o.materials)
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint names a material that is not there");
    g->id[i] = (uint32_t)i;
    g->material[i] = (uint32_t)s->material[i];
    g->place[i].r = ((const real *)s->radius)[i];
    g->seen[i].m = ((const real *)s->mass)[i];
    for (int k = 0; k < 3; k++) {
      g->place[i].x[k] = x[k * n + i];
      g->velocity[i].v[k] = g->seen[i].v[k] = v[k * n + i];
      g->spin[i].v[k] = g->turned[i].v[k] = spin[k * n + i];
      g->acceleration[i].v[k] = a[k * n + i];
      g->twirl[i].v[k] = twirl[k * n + i];
    }
    g->tally[i] = (tally){s->dissipated[i], s->virial[i], s->collisions[i]};
    for (int64_t k = 0; k < springs; k++) g->wall_spring[i * springs + k] = ((const real *)s->wall_spring)[k * n + i];
  }
  w->listed = false;
  SIM_TRY(make_list(w));
  return load_springs(w);
}

static sim_status store_springs(collision_work *w) {
  const collision_state *s = &w->state;
  const int springs = w->o.springs;
  real *out = s->contact_spring;
  int64_t k = 0;
  if (springs == 0) return SIM_OK;
  memset(s->contact_grain, 0xff, (size_t)s->room * sizeof *s->contact_grain);
  memset(s->contact_partner, 0xff, (size_t)s->room * sizeof *s->contact_partner);
  memset(out, 0, (size_t)(s->room * springs) * sizeof *out);
  for (int64_t id = 0; id < w->o.n; id++) {
    const int64_t i = w->slot[id];
    for (int64_t e = w->search.first[i]; e < w->search.first[i + 1]; e++) {
      const uint32_t partner = w->now.id[w->search.neighbour[e]];
      const real *spring = w->spring + e * springs;
      bool any = false;
      for (int c = 0; c < springs; c++) any = any || spring[c] != 0;
      if (partner < id || !any) continue;
      if (k == s->room)
        return sim_fail(SIM_ERR_DIVERGED,
                        "more than %" PRId64 " contacts have a history: grains are pressed into "
                        "each other",
                        s->room);
      s->contact_grain[k] = (uint64_t)id;
      s->contact_partner[k] = partner;
      for (int c = 0; c < springs; c++) out[c * s->room + k] = spring[c];
      k++;
    }
  }
  return SIM_OK;
}

static sim_status store(collision_work *w) {
  const collision_state *s = &w->state;
  const grains *g = &w->now;
  const int64_t n = w->o.n, springs = (int64_t)wall_numbers(&w->o);
#pragma omp parallel for schedule(static) num_threads(w->o.threads) if (w->o.n > 4096)
  for (int64_t id = 0; id < n; id++) {
    const int64_t i = w->slot[id];
    for (int k = 0; k < 3; k++) {
      ((real *)s->position)[k * n + id] = g->place[i].x[k];
      ((real *)s->velocity)[k * n + id] = g->velocity[i].v[k];
      ((real *)s->spin)[k * n + id] = g->spin[i].v[k];
      ((real *)s->acceleration)[k * n + id] = g->acceleration[i].v[k];
      ((real *)s->twirl)[k * n + id] = g->twirl[i].v[k];
    }
    s->dissipated[id] = g->tally[i].dissipated;
    s->virial[id] = g->tally[i].virial;
    s->collisions[id] = g->tally[i].collisions;
    for (int64_t k = 0; k < springs; k++) ((real *)s->wall_spring)[k * n + id] = g->wall_spring[i * springs + k];
  }
  return store_springs(w);
}

/* ---- sums ---- */

enum {
  SUM_MASS,
  SUM_KINETIC,
  SUM_ROTATIONAL,
  SUM_ELASTIC,
  SUM_GRAVITY,
  SUM_DISSIPATED,
  SUM_VIRIAL,
  SUM_COLLISIONS,
  SUM_MOMENTUM,
  SUM_ANGULAR = SUM_MOMENTUM + 3,
  SUM_FLUX = SUM_ANGULAR + 3,
  SUM_STRESS = SUM_FLUX + 6,
  SUM_TOUCHING = SUM_STRESS + 6,
  SUM_TOUCHING_WALLS,
  SUM_WALL,
  SUMS = SUM_WALL + 3 * COLLISION_WALLS_MAX
};

static void add_grain(collision_work *w, int64_t i, double t, double *sums, double *overlap, int64_t *deepest) {
  const grains *g = &w->now;
  double wall[COLLISION_WALLS_MAX][3] = {{0}};
  looked at = {.wall = wall};
  gathered sum = {{0}, {0}, 0, 0, 0};
  gather_pairs(w, i, 0, 0, 0, &sum, &at);
  gather_walls(w, i, t, 0, 0, &sum, &at);
  const double m = (double)g->seen[i].m, r = (double)g->place[i].r, inertia = 0.4 * m * r * r;
  double v[3], x[3], s[3];
  for (int k = 0; k < 3; k++) {
    v[k] = (double)g->velocity[i].v[k];
    x[k] = (double)g->place[i].x[k];
    s[k] = (double)g->spin[i].v[k];
    sums[SUM_KINETIC] += 0.5 * m * v[k] * v[k];
    sums[SUM_ROTATIONAL] += 0.5 * inertia * s[k] * s[k];
    sums[SUM_GRAVITY] -= m * w->o.gravity[k] * x[k];
    sums[SUM_MOMENTUM + k] += m * v[k];
  }
  for (int k = 0; k < 3; k++) {
    const int b = (k + 1) % 3, c = (k + 2) % 3;
    sums[SUM_ANGULAR + k] += m * (x[b] * v[c] - x[c] * v[b]) + inertia * s[k];
    sums[SUM_FLUX + k] += m * v[k] * v[k];
    sums[SUM_FLUX + 3 + k] += m * v[k == 2 ? 2 : k] * v[k == 2 ? 0 : k + 1];
  }
  for (int k = 0; k < 6; k++) sums[SUM_STRESS + k] += at.stress[k];
  sums[SUM_MASS] += m;
  sums[SUM_ELASTIC] += at.elastic;
  sums[SUM_DISSIPATED] += g->tally[i].dissipated;
  sums[SUM_VIRIAL] += g->tally[i].virial;
  sums[SUM_COLLISIONS] += (double)g->tally[i].collisions;
  sums[SUM_TOUCHING] += at.touching;
  sums[SUM_TOUCHING_WALLS] += at.touching_walls;
  for (int b = 0; b < w->o.walls; b++)
    for (int k = 0; k < 3; k++) sums[SUM_WALL + 3 * b + k] += wall[b][k];
  if (at.overlap > *overlap) {
    *overlap = at.overlap;
    *deepest = g->id[i];
  }
}

/* In the order of ids, in blocks of a fixed size. */
static sim_status sums(collision_work *w, double t, collision_sums *out) {
  const int64_t n = w->o.n, blocks = (n + SIM_REDUCE_BLOCK - 1) / SIM_REDUCE_BLOCK;
  double *partial = calloc((size_t)blocks * SUMS, sizeof *partial), *deep = calloc((size_t)blocks, sizeof *deep);
  int64_t *deepest = calloc((size_t)blocks, sizeof *deepest);
  if (!partial || !deep || !deepest) {
    free(partial), free(deep), free(deepest);
    return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the sums");
  }
  for (int64_t i = 0; i < n; i++) {
    memcpy(w->now.seen[i].v, w->now.velocity[i].v, sizeof w->now.seen[i].v);
    w->now.turned[i] = w->now.spin[i];
  }
#pragma omp parallel for schedule(dynamic) num_threads(w->o.threads) if (w->o.n > 4096)
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t end = (b + 1) * SIM_REDUCE_BLOCK < n ? (b + 1) * SIM_REDUCE_BLOCK : n;
    double here[SUMS] = {0};
    for (int64_t id = b * SIM_REDUCE_BLOCK; id < end; id++) add_grain(w, w->slot[id], t, here, &deep[b], &deepest[b]);
    for (int s = 0; s < SUMS; s++) partial[s * blocks + b] = here[s];
  }
  double all[SUMS];
  for (int s = 0; s < SUMS; s++) all[s] = sim_reduce_tree(partial + s * blocks, (size_t)blocks);
  *out = (collision_sums){.mass = all[SUM_MASS],
                          .kinetic = all[SUM_KINETIC],
                          .rotational = all[SUM_ROTATIONAL],
                          .elastic = all[SUM_ELASTIC],
                          .gravity = all[SUM_GRAVITY],
                          .dissipated = all[SUM_DISSIPATED],
                          .virial = all[SUM_VIRIAL],
                          .collisions = all[SUM_COLLISIONS],
                          .touching = all[SUM_TOUCHING],
                          .touching_walls = all[SUM_TOUCHING_WALLS]};
  memcpy(out->momentum, all + SUM_MOMENTUM, sizeof out->momentum);
  memcpy(out->angular, all + SUM_ANGULAR, sizeof out->angular);
  memcpy(out->flux, all + SUM_FLUX, sizeof out->flux);
  memcpy(out->stress, all + SUM_STRESS, sizeof out->stress);
  memcpy(out->wall, all + SUM_WALL, sizeof out->wall);
  for (int64_t b = 0; b < blocks; b++) {
    if (!(deep[b] > out->overlap)) continue;
    out->overlap = deep[b];
    out->overlap_grain = (uint64_t)deepest[b];
  }
  free(partial), free(deep), free(deepest);
  return SIM_OK;
}

extern const collision_ops COLLISION_OPS;
const collision_ops COLLISION_OPS = {.dtype = COLLISION_DTYPE,
                                     .bytes = bytes,
                                     .create = create,
                                     .destroy = destroy,
                                     .load = load,
                                     .begin = begin,
                                     .step = step,
                                     .store = store,
                                     .sums = sums};
