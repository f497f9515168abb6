/* Contacts of a grain with walls: cpu_forces.h. `real` is defined before this is included. */
#ifndef COLLISION_CUDA_BED_WALLS_CUH
#define COLLISION_CUDA_BED_WALLS_CUH

#include "kernels/collision/general/cuda/contacts.cuh"

/* A grain as walls see it. */
struct wall_grain {
  four place, velocity; /* velocity: seen */
  real velocity_before[3], turned[3];
  uint32_t material;
};

/* One contact, whose history is `kept`; without, it has none. `wall_force`: what it does to walls is added there. */
template <int SPRINGS, int FORM, int MORE, bool LOOK>
static __device__ __forceinline__ void meet_wall(const bed_numbers &b, const bed_arrays &a, const geometry_wall &wall,
                                                 const geometry_pose &pose, const geometry_contact &touch,
                                                 const wall_grain &g, const history<SPRINGS> &kept, bool keeps, real dt,
                                                 real edge, bed_sum *sum, bed_look *at, double *wall_force) {
  const int form = FORM < 0 ? b.form : FORM;
  const four p = g.place, v = g.velocity;
  const real distance = (real)touch.distance, vi[3] = {v.x, v.y, v.z};
  const contact_law &law = a.law[g.material * COLLISION_MATERIALS_MAX + wall.material];
  real spring[7] = {}, gone[3];
  if (keeps) kept.get(spring);
  const bool clear = all_clear<SPRINGS>(spring);
  contact_state c = {};
  c.overlap = p.w - distance;
  c.mass = v.w;
  c.root_mass = (real)sqrt(v.w);
  c.radius = p.w;
  for (int k = 0; k < 3; k++) {
    c.normal[k] = (real)touch.normal[k];
    c.speed[k] = vi[k] - (real)touch.velocity[k];
    gone[k] = g.velocity_before[k] - (real)touch.velocity[k];
  }
  const real approach = contact_dot(c.speed, c.normal);
  if (!(c.overlap > 0 || (edge > 0 && c.overlap > -(real)0.5 * edge * (real)fabs(approach)))) {
    if (clear || !(dt > 0)) return;
    sum->dissipated += (double)contact_given_up(&law, form, SPRINGS, c.mass, c.radius, spring);
    const real none[7] = {};
    if (keeps) kept.put(none);
    return;
  }
  for (int k = 0; k < 3 && SPRINGS > 0; k++) {
    c.turning[k] = g.turned[k] - (real)(pose.spin * wall.turn[k]);
    c.surface[k] = distance * g.turned[k];
  }
  c.halfway = contact_dot(gone, c.normal);
  contact_result r;
  if constexpr (FORM == COLLISION_OWN) ask_law(&c, approach, LOOK);
  contact_force(&law, form, SPRINGS, &c, dt, edge, spring, &r);
  if (keeps && dt > 0) kept.put(spring);
  add_contact(sum, c, r, SPRINGS, distance, r.dissipated);
  if constexpr (MORE >= BED_WORKED)
    for (int k = 0; k < 3; k++)
      sum->work +=
          ((double)r.force[k] * touch.velocity[k] + (double)r.couple[k] * (pose.spin * wall.turn[k])) * (double)dt;
  if (!LOOK || !(c.overlap > 0)) return;
  at->elastic += (double)r.elastic;
  at->touching_walls += 1;
  at->overlap = fmax(at->overlap, (double)(c.overlap / p.w));
  for (int k = 0; k < 3; k++) wall_force[3 * wall.number + k] -= (double)r.force[k];
}

/* A mesh keeps the history of each contact beside its normal: it goes on with the contact whose normal is nearly the
 * same, whichever triangle that is of. `near`: what the grain remembers of it. `own`: history of the grain's contacts
 * with it, `stride` between its numbers. */
template <int SPRINGS, int FORM, int MORE, bool LOOK>
static __device__ __noinline__ void
meet_mesh(const bed_numbers &b, const bed_arrays &a, const geometry_wall &wall, const geometry_pose &pose,
          const wall_grain &g, const double x[3], const double y[3], geometry_mesh_cache *near, real *own,
          size_t stride, real dt, real edge, real margin, bed_sum *sum, bed_look *at, double *wall_force) {
  const size_t numbers = (SPRINGS + 3) * stride;
  geometry_contact touch[GEOMETRY_CONTACTS_MAX];
  const int count = wall_mesh_contacts(&wall, &pose, x, y, (double)(g.place.w + margin), near, touch);
  unsigned used = 0;
#pragma unroll 1
  for (int k = 0; k < count; k++) {
    int slot = -1;
    real best = (real)0.9, normal[3];
    for (int c = 0; c < 3; c++) normal[c] = (real)touch[k].normal[c];
    for (int s = 0; s < GEOMETRY_CONTACTS_MAX && SPRINGS > 0; s++) {
      const real *const old = own + (size_t)s * numbers + SPRINGS * stride;
      const real was[3] = {old[0], old[stride], old[2 * stride]}, alike = contact_dot(was, normal);
      if (used >> s & 1 || !(alike > best)) continue;
      best = alike;
      slot = s;
    }
    for (int s = 0; s < GEOMETRY_CONTACTS_MAX && slot < 0 && SPRINGS > 0; s++) {
      const real *const old = own + (size_t)s * numbers + SPRINGS * stride;
      if (!(used >> s & 1) && old[0] == 0 && old[stride] == 0 && old[2 * stride] == 0) slot = s;
    }
    real *const kept = own + (size_t)(slot < 0 ? 0 : slot) * numbers;
    meet_wall<SPRINGS, FORM, MORE, LOOK>(b, a, wall, pose, touch[k], g, history<SPRINGS>{kept, stride}, slot >= 0, dt,
                                         edge, sum, at, wall_force);
    if (slot < 0) continue;
    used |= 1u << slot;
    for (int c = 0; c < 3 && dt > 0; c++) kept[(SPRINGS + c) * stride] = normal[c];
  }
  for (int s = 0; s < GEOMETRY_CONTACTS_MAX && SPRINGS > 0 && dt > 0; s++) {
    if (used >> s & 1) continue;
    const history<SPRINGS + 3> kept = {own + (size_t)s * numbers, stride};
    const contact_law &law = a.law[g.material * COLLISION_MATERIALS_MAX + wall.material];
    real spring[SPRINGS + 3];
    kept.get(spring);
    if (all_clear<SPRINGS + 3>(spring)) continue;
    sum->dissipated +=
        (double)contact_given_up(&law, FORM < 0 ? b.form : FORM, SPRINGS, g.velocity.w, g.place.w, spring);
    const real none[SPRINGS + 3] = {};
    kept.put(none);
  }
}

/* Walls that grain i meets. */
template <int SPRINGS, int FORM, int MORE, bool LOOK>
static __device__ void gather_walls(const bed_numbers &b, const bed_arrays &a, const bed_poses &poses,
                                    const bed_control &now, uint32_t i, real dt, real edge, real margin, bed_sum *sum,
                                    bed_look *at, double *wall_force) {
  const bed_grains &g = a.grains[now.order];
  const bed_kept &kept_by = a.kept[now.home];
  wall_grain own = {g.place[i], g.seen[i], {}, {}, kept_by.material[i]};
  const double x[3] = {(double)own.place.x, (double)own.place.y, (double)own.place.z};
  take_three(own.velocity_before, g.velocity[i]);
  take_three(own.turned, g.turned[i]);
  geometry_mesh_cache *near = MORE == BED_ALL ? a.near + (size_t)kept_by.id[i] * (size_t)b.meshes : nullptr;
#pragma unroll 1
  for (int w = 0; w < b.walls; w++) {
    const geometry_wall &wall = a.wall[w];
    real *const kept = kept_by.wall_spring + (size_t)wall.first * b.n + i;
    if constexpr (MORE == BED_ALL)
      if (wall.shape == GEOMETRY_MESH) {
        double y[3];
        wall_rest_position(&wall, &poses.pose[w], x, y);
        if (!mesh_cache_idle(near, y, (double)(own.place.w + margin))) {
          meet_mesh<SPRINGS, FORM, MORE, LOOK>(b, a, wall, poses.pose[w], own, x, y, near, kept, b.n, dt, edge, margin,
                                               sum, at, wall_force);
          if (dt > 0 && near->entry[0] == MESH_NONE) near->entry[0] = MESH_IDLE;
        }
        near++;
        continue;
      }
    geometry_contact touch;
    if (wall_contact(&wall, &poses.pose[w], x, INFINITY, &touch) == 0) continue;
    meet_wall<SPRINGS, FORM, MORE, LOOK>(b, a, wall, poses.pose[w], touch, own, history<SPRINGS>{kept, b.n}, true, dt,
                                         edge, sum, at, wall_force);
  }
}

#endif
