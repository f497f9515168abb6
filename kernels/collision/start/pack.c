/* Random packing without overlap: spheres start small at random positions, then are pushed apart and grown in turn. */
typedef double real;
#include "kernels/collision/general/cpu/search.inc"
#include "kernels/collision/start/grains.h"
#include "kernels/common/geometry/geometry.h"

#include "engine/run/startup.h"

#include <stdlib.h>
#include <string.h>

enum { PASSES = 40000 };

typedef struct packing {
  const collision_options *o;
  collision_grains *g;
  const bool *loose;
  double *const *low, *const *high;
  collision_search search;
  position_radius *place, *sorted; /* [n]: by id; in the order of the cells */
  uint32_t *id;
  bool wide;               /* radii differ by more than a factor of 20 */
  double margin;           /* gap beyond touching that grains are pushed to */
  double *force[3], *deep; /* [n] in the order of the cells: force; deepest overlap over the radius */
  double *velocity[3];     /* [n] by id: velocity of the minimizer */
} packing;

static sim_status list(packing *k) {
  const int64_t n = k->g->n;
  SIM_TRY(sort_cells(&k->search, k->place));
  for (int64_t i = 0; i < n; i++) {
    k->id[i] = k->search.order[i];
    k->sorted[i] = k->place[k->id[i]];
  }
  return list_neighbours(&k->search, k->sorted, k->id);
}

static void push_walls(const packing *k, const position_radius *p, double radius, double force[3], double *deep) {
  for (int b = 0; b < k->o->walls; b++) {
    const double aim = radius * (1 + k->margin);
    const geometry_pose pose = geometry_wall_pose(&k->o->wall[b], 0);
    geometry_contact touch[GEOMETRY_CONTACTS_MAX];
    if (geometry_wall_contacts(&k->o->wall[b], &pose, p->x, aim, touch) == 0) continue;
    const double gap = touch->distance, *normal = touch->normal;
    *deep = fmax(*deep, (radius - gap) / radius);
    for (int c = 0; c < 3; c++) force[c] += (aim - gap) * normal[c];
  }
}

/* Computes the forces on the loose grains (springs of stiffness 1 between overlapping grains), and their deepest
 * overlaps. */
static void push(packing *k, double scale, const periodic_box *box) {
#pragma omp parallel for schedule(dynamic, 1024) num_threads(k->o->threads) if (k->g->n > 4096)
  for (int64_t i = 0; i < k->g->n; i++) {
    const position_radius p = k->sorted[i];
    double go[3] = {0}, deep = 0;
    int64_t pushed = 0;
    const bool loose = k->loose[k->id[i]];
    for (int64_t e = k->search.first[i]; e < k->search.first[i + 1]; e++) {
      const uint32_t j = k->search.neighbour[e];
      const position_radius q = k->sorted[j];
      double d[3];
      (void)minimum_image(box, &p, &q, d);
      const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      const double want = scale * (p.r + q.r), aim = want * (1 + k->margin);
      if (square >= aim * aim) continue;
      const double distance = sqrt(square), share = k->loose[k->id[j]] ? 0.5 : 1;
      pushed++;
      deep = fmax(deep, (want - distance) / (p.r < q.r ? p.r : q.r));
      if (distance > 0)
        for (int c = 0; c < 3; c++) go[c] += share * (aim - distance) * d[c] / distance;
      else
        go[k->id[i] % 3] += (k->id[i] < k->id[j] ? 1 : -1) * share * aim;
    }
    /* A large grain among many small ones gets more mass, so that its frequency stays below 2.5. */
    if (k->wide && pushed > 12)
      for (int c = 0; c < 3; c++) go[c] *= 12 / (double)pushed;
    if (loose) push_walls(k, &p, p.r * scale, go, &deep);
    for (int c = 0; c < 3; c++) k->force[c][i] = loose ? go[c] : 0;
    k->deep[i] = deep;
  }
}

/* State of the FIRE minimizer: time step, mixing parameter, steps since the last uphill step. */
typedef struct descent {
  double dt, mixed;
  int downhill;
} descent;

static const descent rest = {.dt = 0.3, .mixed = 0.1};

/* One step of FIRE (Bitzek, Koskinen, Gaehler, Moseler and Gumbsch, Phys. Rev. Lett. 97 (2006) 170201), with their
 * parameters; a time step of 0.6 is stable, because a grain with twelve neighbours has a frequency below 2.5. No
 * grain moves farther than 0.3 of its radius. Returns the largest displacement. */
static double advance(packing *k, const periodic_box *box, descent *f) {
  double power = 0, forces = 0, speeds = 0, most = 0;
  for (int64_t i = 0; i < k->g->n; i++)
    for (int c = 0; c < 3; c++) {
      const double v = k->velocity[c][k->id[i]], w = k->force[c][i];
      power += v * w, forces += w * w, speeds += v * v;
    }
  if (power > 0) {
    if (++f->downhill > 5) f->dt = fmin(1.1 * f->dt, 0.6), f->mixed *= 0.99;
  } else {
    *f = (descent){.dt = fmax(0.5 * f->dt, 0.05), .mixed = 0.1};
  }
  const double kept = power > 0 ? 1 - f->mixed : 0;
  const double turned = (power > 0 && forces > 0 ? f->mixed * sqrt(speeds / forces) : 0) + f->dt;
  for (int64_t i = 0; i < k->g->n; i++) {
    const uint32_t id = k->id[i];
    if (!k->loose[id]) continue;
    position_radius *p = &k->sorted[i];
    double way[3], size = 0;
    for (int c = 0; c < 3; c++) {
      k->velocity[c][id] = kept * k->velocity[c][id] + turned * k->force[c][i];
      way[c] = f->dt * k->velocity[c][id];
      size += way[c] * way[c];
    }
    const double bound = 0.3 * p->r, factor = size > bound * bound ? bound / sqrt(size) : 1;
    most = fmax(most, factor * factor * size);
    for (int c = 0; c < 3; c++) {
      double x = fmin(fmax(p->x[c] + factor * way[c], k->low[c][id]), k->high[c][id]);
      if (k->o->periodic[c]) {
        if (x < k->o->low[c]) x += box->size[c];
        if (x >= k->o->low[c] + box->size[c]) x -= box->size[c];
      }
      p->x[c] = x;
    }
  }
  return sqrt(most);
}

static double deepest_of(const packing *k, int64_t *at) {
  double deepest = 0;
  for (int64_t i = 0; i < k->g->n; i++)
    if (k->deep[i] > deepest) deepest = k->deep[i], *at = i;
  return deepest;
}

static sim_status relax(packing *k) {
  const periodic_box box = periodic_box_of(&k->search);
  descent fire = rest;
  double scale = 0.6, moved = INFINITY, deepest = 0;
  int stuck = 0;
  int64_t at = 0;
  for (int pass = 0; pass < PASSES; pass++) {
    if (moved >= k->search.cutoff) {
      for (int64_t i = 0; i < k->g->n && pass > 0; i++) k->place[k->id[i]] = k->sorted[i];
      SIM_TRY(list(k));
      moved = 0;
    }
    sim_startup("placing grains", pass, PASSES);
    push(k, scale, &box);
    deepest = deepest_of(k, &at);
    if (deepest <= 0 && scale >= 1) return SIM_OK;
    if (deepest < 1e-3 || ++stuck > 30) {
      if (deepest < 0.05) scale = fmin(1, scale * (scale < 0.9 ? 1.05 : deepest < 1e-3 ? 1.01 : 1.002));
      stuck = 0;
    }
    moved += 2 * advance(k, &box, &fire);
  }
  return sim_fail(SIM_ERR_SCENARIO,
                  "random_spheres: no places without overlap found, %.2g of a radius is left about {%.6g, %.6g, %.6g}: "
                  "give fewer or smaller grains, more room, or, where that is inside a wall, another seed or region",
                  deepest, k->sorted[at].x[0], k->sorted[at].x[1], k->sorted[at].x[2]);
}

sim_status collision_pack(const collision_options *options, collision_grains *g, const bool *loose,
                          double *const low[3], double *const high[3], double filled) {
  const size_t n = (size_t)g->n;
  packing k = {.o = options, .g = g, .loose = loose, .low = low, .high = high};
  double smallest = INFINITY, largest = 0;
  for (size_t i = 0; i < n; i++) {
    smallest = fmin(smallest, g->radius[i]);
    largest = fmax(largest, g->radius[i]);
  }
  collision_options now = *options; /* also counts grains that inlets insert later */
  now.n = g->n;
  SIM_TRY(collision_search_create(&now, smallest, largest, &k.search));
  k.wide = largest > 20 * smallest;
  k.search.halved = true; /* sums depend on the order of the grains */
  k.search.cutoff = 0.4 * smallest;
  /* a fraction of the gap that evenly spread grains have, up to random close packing */
  k.margin = fmin(0.1, fmax(1e-4, 0.3 * (cbrt(0.64 / filled) - 1)));
  k.place = malloc(n * sizeof *k.place);
  k.sorted = malloc(n * sizeof *k.sorted);
  k.id = malloc(n * sizeof *k.id);
  k.deep = malloc(n * sizeof *k.deep);
  bool made = k.place && k.sorted && k.id && k.deep;
  for (int c = 0; c < 3; c++) {
    k.force[c] = malloc(n * sizeof(double)), k.velocity[c] = calloc(n, sizeof(double));
    made = made && k.force[c] && k.velocity[c];
  }
  sim_status status = made ? SIM_OK : sim_no_memory("the places of %zu grains", n);
  for (size_t i = 0; i < n && made; i++)
    k.place[i] = (position_radius){{g->position[0][i], g->position[1][i], g->position[2][i]}, g->radius[i]};
  if (made) status = relax(&k);
  for (size_t i = 0; i < n && status == SIM_OK; i++)
    for (int c = 0; c < 3; c++) g->position[c][k.id[i]] = k.sorted[i].x[c];
  free(k.place), free(k.sorted), free(k.id), free(k.deep);
  for (int c = 0; c < 3; c++) free(k.force[c]), free(k.velocity[c]);
  collision_search_destroy(&k.search);
  return status;
}
