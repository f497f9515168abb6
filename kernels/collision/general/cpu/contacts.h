/* Contacts of a grain with others and with walls. Part of cpu.c, for one precision: `real` is defined before this is
 * included. */
#ifndef COLLISION_CPU_FORCES_H
#define COLLISION_CPU_FORCES_H

#include "kernels/collision/general/cpu/work.h"
#include "kernels/common/geometry/wall_contact.h"

/* Sums of one grain. The virial is of half of each contact of grains, and of walls not at all. */
typedef struct gathered {
  real force[3], torque[3];
  double dissipated, virial, work;
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

/* A contact that has ended gives up what its springs held. */
static double give_up(const collision_work *w, const contact_law *law, real mass, real radius, real *spring) {
  const real lost = contact_given_up(law, w->o.force, w->o.springs, mass, radius, spring);
  memset(spring, 0, (size_t)w->o.springs * sizeof *spring);
  return (double)lost;
}

/* A law of the scenario's own. `energy`: also what it holds, its work at rest from no overlap on. */
static void ask_law(const collision_work *w, contact_state *c, real approach, bool energy) {
  double own, still, held = 0;
  collision_fields_law(w->fields, (double)c->overlap, -(double)approach, (double)c->radius, (double)c->mass, &own,
                       &still, energy ? &held : NULL);
  c->own = (real)own;
  c->still = (real)still;
  c->held = (real)held;
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
    const real jump = (real)apart(&w->box, &p, &q, d) * w->jump;
    const real square = contact_dot(d, d), both = p.r + q.r, reach = both + margin;
    real kept[7] = {0}, *spring = springs > 0 ? w->spring + e * springs : kept;
    const bool near = square < reach * reach;
    if (!near && springs == 0) continue;
    const motion vi = g->seen[i], vj = g->seen[j];
    const contact_law *law = &w->law[g->material[i]][g->material[j]];
    c.mass = vi.m * vj.m / (vi.m + vj.m);
    c.root_mass = (real)sqrt(c.mass);
    c.radius = p.r * q.r / both;
    real distance = 0, approach = 0, part = 0;
    bool touch = false;
    if (near) {
      distance = (real)sqrt(square);
      c.overlap = both - distance;
      part = distance / both;
      const real inverse = distance > 0 ? 1 / distance : 0;
      for (int k = 0; k < 3; k++) {
        c.normal[k] = d[k] * inverse;
        c.speed[k] = vi.v[k] - vj.v[k];
      }
      c.speed[0] -= jump;
      approach = contact_dot(c.speed, c.normal);
      touch = c.overlap > 0 || (edge > 0 && c.overlap > -(real)0.5 * edge * (real)fabs(approach));
    }
    if (!touch) {
      if (springs > 0 && dt > 0) sum->dissipated += 0.5 * give_up(w, law, c.mass, c.radius, spring);
      continue;
    }
    if (springs > 0) {
      const real *wi = g->turned[i].v, *wj = g->turned[j].v;
      for (int k = 0; k < 3; k++) {
        c.surface[k] = part * (p.r * wi[k] + q.r * wj[k]);
        c.turning[k] = wi[k] - wj[k];
      }
      if (dt == 0) {
        memcpy(kept, spring, (size_t)springs * sizeof *kept);
        spring = kept;
      }
    }
    real gone[3]; /* velocity with which they came here */
    for (int k = 0; k < 3; k++) gone[k] = g->velocity[i].v[k] - g->velocity[j].v[k];
    gone[0] -= jump;
    c.halfway = contact_dot(gone, c.normal);
    contact_result r;
    if (w->o.own != NULL) ask_law(w, &c, approach, at != NULL);
    contact_force(law, w->o.force, springs, &c, dt, edge, spring, &r);
    add_contact(sum, &c, &r, springs > 0, part * p.r, (real)0.5);
    if (at != NULL && c.overlap > 0) look(at, &c, &r, distance, (double)(p.r < q.r ? p.r : q.r));
    if (dt == 0) continue;
    sum->virial += (double)((real)0.5 * distance * r.normal_force * dt);
    sum->work += 0.5 * (double)(r.force[0] * jump * dt); /* the image moves by the shear */
    /* It began in this step: they stood apart before it. */
    if (c.overlap > 0 && approach < 0) {
      real then[3];
      for (int k = 0; k < 3; k++) then[k] = d[k] - gone[k] * dt;
      if (contact_dot(then, then) >= both * both) sum->begun++;
    }
  }
}

/* One contact of grain i with wall b. */
static void meet_wall(collision_work *w, int64_t i, int b, const geometry_contact *touch, real dt, real edge,
                      real *spring, gathered *sum, looked *at) {
  const grains *g = &w->now;
  const int springs = w->o.springs;
  const geometry_wall *wall = &w->o.wall[b];
  const motion vi = g->seen[i];
  const real r = g->place[i].r, distance = (real)touch->distance;
  const contact_law *law = &w->law[g->material[i]][wall->material];
  real kept[7] = {0}, gone[3];
  contact_state c = {.overlap = r - distance, .mass = vi.m, .root_mass = (real)sqrt(vi.m), .radius = r};
  for (int k = 0; k < 3; k++) {
    c.normal[k] = (real)touch->normal[k];
    c.speed[k] = vi.v[k] - (real)touch->velocity[k];
    gone[k] = g->velocity[i].v[k] - (real)touch->velocity[k];
  }
  const real approach = contact_dot(c.speed, c.normal);
  if (!(c.overlap > 0 || (edge > 0 && c.overlap > -(real)0.5 * edge * (real)fabs(approach)))) {
    if (springs > 0 && dt > 0) sum->dissipated += give_up(w, law, c.mass, c.radius, spring);
    return;
  }
  const double spin = w->state.pose[b].spin;
  for (int k = 0; k < 3 && springs > 0; k++) {
    c.turning[k] = g->turned[i].v[k] - (real)(spin * wall->turn[k]);
    c.surface[k] = distance * g->turned[i].v[k];
  }
  if (dt == 0 || springs == 0) {
    if (spring != NULL) memcpy(kept, spring, (size_t)springs * sizeof *kept);
    spring = kept;
  }
  c.halfway = contact_dot(gone, c.normal);
  contact_result result;
  if (w->o.own != NULL) ask_law(w, &c, approach, at != NULL);
  contact_force(law, w->o.force, springs, &c, dt, edge, spring, &result);
  add_contact(sum, &c, &result, springs > 0, distance, 1);
  for (int k = 0; k < 3 && w->o.worked; k++)
    sum->work +=
        ((double)result.force[k] * touch->velocity[k] + (double)result.couple[k] * (spin * wall->turn[k])) * (double)dt;
  if (at == NULL || !(c.overlap > 0)) return;
  at->elastic += (double)result.elastic;
  at->touching_walls += 1;
  at->overlap = fmax(at->overlap, (double)(c.overlap / r));
  for (int k = 0; k < 3; k++) at->wall[wall->number][k] -= (double)result.force[k];
}

/* A mesh keeps the history of each contact beside its normal: it goes on with the contact whose normal is nearly the
 * same, whichever triangle that is of. */
static void meet_mesh(collision_work *w, int64_t i, int b, const geometry_contact *touch, int count, real dt, real edge,
                      gathered *sum, looked *at) {
  const int springs = w->o.springs, numbers = springs + 3;
  const geometry_wall *wall = &w->o.wall[b];
  real *history = w->now.wall_spring + (size_t)i * wall_numbers(&w->o) + (size_t)wall->first;
  bool used[GEOMETRY_CONTACTS_MAX] = {false};
  for (int k = 0; k < count; k++) {
    int slot = -1;
    real best = (real)0.9, normal[3];
    for (int c = 0; c < 3; c++) normal[c] = (real)touch[k].normal[c];
    for (int s = 0; s < GEOMETRY_CONTACTS_MAX && springs > 0; s++) {
      const real alike = contact_dot(history + s * numbers + springs, normal);
      if (used[s] || !(alike > best)) continue;
      best = alike;
      slot = s;
    }
    for (int s = 0; s < GEOMETRY_CONTACTS_MAX && slot < 0 && springs > 0; s++) {
      const real *old = history + s * numbers + springs;
      if (!used[s] && old[0] == 0 && old[1] == 0 && old[2] == 0) slot = s;
    }
    real none[7] = {0}, *spring = slot < 0 ? none : history + slot * numbers;
    meet_wall(w, i, b, &touch[k], dt, edge, spring, sum, at);
    if (slot < 0) continue;
    used[slot] = true;
    if (dt > 0) memcpy(spring + springs, normal, sizeof normal);
  }
  for (int s = 0; s < GEOMETRY_CONTACTS_MAX && springs > 0 && dt > 0; s++) {
    if (used[s]) continue;
    const real m = w->now.seen[i].m, r = w->now.place[i].r;
    real *spring = history + s * numbers;
    sum->dissipated += give_up(w, &w->law[w->now.material[i]][wall->material], m, r, spring);
    memset(spring + springs, 0, 3 * sizeof *spring);
  }
}

/* Walls that grain i meets. */
static void gather_walls(collision_work *w, int64_t i, real dt, real edge, real margin, gathered *sum, looked *at) {
  const place p = w->now.place[i];
  const int springs = w->o.springs;
  const double x[3] = {(double)p.x[0], (double)p.x[1], (double)p.x[2]};
  geometry_mesh_cache *near = w->near + (size_t)w->now.id[i] * (size_t)w->o.meshes;
  for (int b = 0; b < w->o.walls; b++) {
    const geometry_wall *wall = &w->o.wall[b];
    const geometry_pose *pose = &w->state.pose[b];
    geometry_contact touch[GEOMETRY_CONTACTS_MAX];
    if (wall->shape == GEOMETRY_MESH) {
      double y[3];
      wall_rest_position(wall, pose, x, y);
      if (!mesh_cache_idle(near, y, (double)(p.r + margin))) {
        const int count = wall_mesh_contacts(wall, pose, x, y, (double)(p.r + margin), near, touch);
        meet_mesh(w, i, b, touch, count, dt, edge, sum, at);
        if (dt > 0 && near->entry[0] == MESH_NONE) near->entry[0] = MESH_IDLE;
      }
      near++;
      continue;
    }
    (void)wall_contact(wall, pose, x, INFINITY, touch);
    real *spring = NULL;
    if (springs > 0) spring = w->now.wall_spring + (size_t)i * wall_numbers(&w->o) + (size_t)wall->first;
    meet_wall(w, i, b, touch, dt, edge, spring, sum, at);
  }
}

#endif
