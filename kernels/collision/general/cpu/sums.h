/* Sums over all grains. Part of cpu.c, for one precision: `real` is defined before this is included. */
#ifndef COLLISION_CPU_SUMS_H
#define COLLISION_CPU_SUMS_H

#include "kernels/collision/general/cpu/contacts.h"

#include "engine/reduce.h"

enum {
  SUM_MASS,
  SUM_KINETIC,
  SUM_ROTATIONAL,
  SUM_ELASTIC,
  SUM_GRAVITY,
  SUM_EXTERNAL,
  SUM_DISSIPATED,
  SUM_WORK,
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

static void add_grain(collision_work *w, int64_t i, double *sums, double *overlap, int64_t *deepest) {
  const grains *g = &w->now;
  double wall[COLLISION_WALLS_MAX][3] = {{0}};
  looked at = {.wall = wall};
  gathered sum = {0};
  gather_pairs(w, i, 0, 0, 0, &sum, &at);
  gather_walls(w, i, 0, 0, 0, &sum, &at);
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
  double u[3] = {v[0], v[1], v[2]}; /* against the flow of a sheared box */
  u[0] -= w->o.shear * (x[1] - w->o.low[1] - 0.5 * w->o.size[1]);
  for (int k = 0; k < 3; k++) {
    const int b = (k + 1) % 3, c = (k + 2) % 3;
    sums[SUM_ANGULAR + k] += m * (x[b] * v[c] - x[c] * v[b]) + inertia * s[k];
    sums[SUM_FLUX + k] += m * u[k] * u[k];
    sums[SUM_FLUX + 3 + k] += m * u[k == 2 ? 2 : k] * u[k == 2 ? 0 : k + 1];
  }
  for (int k = 0; k < 6; k++) sums[SUM_STRESS + k] += at.stress[k];
  sums[SUM_MASS] += m;
  sums[SUM_ELASTIC] += at.elastic;
  sums[SUM_DISSIPATED] += g->tally[i].dissipated;
  sums[SUM_WORK] += g->tally[i].work;
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

/* Potential energy in the scenario's field of ids first ... end; NaN where only the acceleration is given. */
static double potential_energy(collision_work *w, int64_t first, int64_t end, double t) {
  double *x[3], energy = 0;
  const double *potential;
  collision_fields_places(w->fields, x);
  for (int64_t id = first; id < end; id += COLLISION_FIELD_BLOCK) {
    const int count = (int)(end - id < COLLISION_FIELD_BLOCK ? end - id : COLLISION_FIELD_BLOCK);
    for (int k = 0; k < count; k++)
      for (int c = 0; c < 3; c++) x[c][k] = (double)w->now.place[w->slot[id + k]].x[c];
    if (!collision_fields_potential(w->fields, x, count, t, &potential)) return NAN;
    for (int k = 0; k < count; k++) energy += (double)w->now.seen[w->slot[id + k]].m * potential[k];
  }
  return energy;
}

/* In the order of ids, in blocks of a fixed size. */
static sim_status sums(collision_work *w, double t, collision_sums *out) {
  const int64_t n = w->o.n, blocks = (n + SIM_REDUCE_BLOCK - 1) / SIM_REDUCE_BLOCK;
  double *partial = calloc((size_t)blocks * SUMS + 1, sizeof *partial),
         *deep = calloc((size_t)blocks + 1, sizeof *deep);
  int64_t *deepest = calloc((size_t)blocks + 1, sizeof *deepest);
  if (!partial || !deep || !deepest) {
    free(partial), free(deep), free(deepest);
    return sim_no_memory("the sums");
  }
  for (int64_t i = 0; i < n; i++) {
    memcpy(w->now.seen[i].v, w->now.velocity[i].v, sizeof w->now.seen[i].v);
    w->now.turned[i] = w->now.spin[i];
  }
#pragma omp parallel for schedule(dynamic) num_threads(w->o.threads) if (w->o.n > 4096)
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t end = (b + 1) * SIM_REDUCE_BLOCK < n ? (b + 1) * SIM_REDUCE_BLOCK : n;
    double here[SUMS] = {0};
    for (int64_t id = b * SIM_REDUCE_BLOCK; id < end; id++) add_grain(w, w->slot[id], here, &deep[b], &deepest[b]);
    if (w->o.external != NULL) here[SUM_EXTERNAL] = potential_energy(w, b * SIM_REDUCE_BLOCK, end, t);
    for (int s = 0; s < SUMS; s++) partial[s * blocks + b] = here[s];
  }
  double all[SUMS];
  for (int s = 0; s < SUMS; s++) all[s] = sim_reduce_tree(partial + s * blocks, (size_t)blocks);
  *out = (collision_sums){.mass = all[SUM_MASS],
                          .kinetic = all[SUM_KINETIC],
                          .rotational = all[SUM_ROTATIONAL],
                          .elastic = all[SUM_ELASTIC],
                          .gravity = all[SUM_GRAVITY],
                          .external = all[SUM_EXTERNAL],
                          .dissipated = all[SUM_DISSIPATED],
                          .work = all[SUM_WORK],
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

#endif
