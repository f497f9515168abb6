/* Contacts of a grain with walls, as templates on the real type. CPU counterpart: cpu/contacts.inc. */
#ifndef COLLISION_GENERAL_CUDA_WALLS_CUH
#define COLLISION_GENERAL_CUDA_WALLS_CUH

#include "kernels/collision/general/cuda/contacts.cuh"

/* A grain as contacts with walls use it. */
template <typename real> struct wall_grain {
  vec4<real> position, velocity; /* velocity: predicted, and mass */
  real velocity_before[3], w_pred[3];
  uint32_t material;
  double temperature;               /* with heat */
  const general_mobility *mobility; /* with clumps */
};

/* One contact; past: its history, if has_history. Adds the force on the wall to force_on_walls [forces][3]. */
template <int SPRINGS, typename Law, int FEATURES, bool LOOK, typename real>
static __device__ __forceinline__ void
grain_wall_contact(const general_numbers &b, const general_arrays<real> &a, const geometry_wall &wall,
                   const geometry_pose &pose, const geometry_contact &touch, const wall_grain<real> &g,
                   const history<SPRINGS, real> &past, bool has_history, real dt, real edge, contact_sum<real> *sum,
                   contact_observables *at, double *force_on_walls) {
  const int form = Law::form < 0 ? b.form : Law::form;
  const vec4<real> p = g.position, v = g.velocity;
  const real distance = (real)touch.distance, vi[3] = {v.x, v.y, v.z};
  const contact_law<real> &law = a.law[g.material * COLLISION_MATERIALS_MAX + wall.material];
  real spring[COLLISION_SPRINGS_MAX] = {}, gone[3];
  if (has_history) past.load(spring);
  const bool clear = all_clear<SPRINGS>(spring);
  contact_state<real> c = {};
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
  const bool holds = has_history && holds_on<SPRINGS, Law>(b, law, c, spring);
  if (!(holds || c.overlap > 0 || (edge > 0 && c.overlap > -(real)0.5 * edge * (real)fabs(approach)))) {
    if (clear || !(dt > 0)) return;
    sum->dissipated += (double)end_energy<SPRINGS, Law>(b, law, form, c.mass, c.radius, approach, dt, spring);
    const real none[COLLISION_SPRINGS_MAX] = {};
    if (has_history) past.store(none);
    return;
  }
  for (int k = 0; k < 3 && SPRINGS > 0; k++) {
    c.turning[k] = g.w_pred[k] - (real)(pose.spin * wall.turn[k]);
    c.surface[k] = distance * g.w_pred[k];
  }
  c.halfway = contact_dot(gone, c.normal);
  contact_result<real> r;
  if constexpr (general_clumps(FEATURES)) set_contact_mass(*g.mobility, nullptr, &c);
  if constexpr (Law::form == COLLISION_CUSTOM) evaluate_custom_law<Law>(&c, approach, LOOK);
  const real radius = evaluate_contact<SPRINGS, Law>(b, law, form, c, dt, edge, spring, &r);
  if constexpr (Law::named) {
    const double held = b.wall_temperature[&wall - a.wall];
    if (has_heat<Law>(b) && dt > 0 && !isnan(held)) {
      const double heat = (double)radius * (held - g.temperature);
      sum->heat += heat;
      sum->wall_heat += heat;
    }
  }
  if (has_history && dt > 0) past.store(spring);
  add_contact(sum, c, r, SPRINGS, distance, r.dissipated);
  if constexpr (FEATURES >= GENERAL_WORK)
    for (int k = 0; k < 3; k++)
      sum->work +=
          ((double)r.force[k] * touch.velocity[k] + (double)r.couple[k] * (pose.spin * wall.turn[k])) * (double)dt;
  if (!LOOK || !(c.overlap > 0 || holds)) return;
  at->elastic += (double)r.elastic;
  at->touching_walls += 1;
  at->overlap = fmax(at->overlap, (double)(c.overlap / p.w));
  for (int k = 0; k < 3; k++) force_on_walls[3 * wall.number + k] -= (double)r.force[k];
}

/* Contacts of a grain with a mesh, which stores each contact's normal with its history: the contact with nearly the
 * same normal continues the history, whichever triangle it is on. near: cache of the grain for this mesh. own: history
 * of the grain's contacts with the mesh, `stride` between its numbers. */
template <int SPRINGS, typename Law, int FEATURES, bool LOOK, typename real>
static __device__ __noinline__ void
grain_mesh_contacts(const general_numbers &b, const general_arrays<real> &a, const geometry_wall &wall,
                    const geometry_pose &pose, const wall_grain<real> &g, const double x[3], const double y[3],
                    geometry_mesh_cache *near, real *own, size_t stride, real dt, real edge, real margin,
                    contact_sum<real> *sum, contact_observables *at, double *force_on_walls) {
  const size_t numbers = (SPRINGS + 3) * stride;
  geometry_contact touch[GEOMETRY_CONTACTS_MAX];
  const int count = wall_mesh_contacts(&wall, &pose, x, y, (double)(g.position.w + margin), near, touch);
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
    real *const past = own + (size_t)(slot < 0 ? 0 : slot) * numbers;
    grain_wall_contact<SPRINGS, Law, FEATURES, LOOK>(b, a, wall, pose, touch[k], g,
                                                     history<SPRINGS, real>{past, stride}, slot >= 0, dt, edge, sum, at,
                                                     force_on_walls);
    if (slot < 0) continue;
    used |= 1u << slot;
    for (int c = 0; c < 3 && dt > 0; c++) past[(SPRINGS + c) * stride] = normal[c];
  }
  for (int s = 0; s < GEOMETRY_CONTACTS_MAX && SPRINGS > 0 && dt > 0; s++) {
    if (used >> s & 1) continue;
    const history<SPRINGS + 3, real> past = {own + (size_t)s * numbers, stride};
    const contact_law<real> &law = a.law[g.material * COLLISION_MATERIALS_MAX + wall.material];
    real spring[SPRINGS + 3];
    past.load(spring);
    if (all_clear<SPRINGS + 3>(spring)) continue;
    sum->dissipated += (double)end_energy<SPRINGS, Law>(b, law, Law::form < 0 ? b.form : Law::form, g.velocity.w,
                                                        g.position.w, (real)0, dt, spring);
    const real none[SPRINGS + 3] = {};
    past.store(none);
  }
}

/* Whether grain i neither touches a wall nor has a history with one. Only planes that rest are looked at; false with
 * other walls. */
template <int SPRINGS, typename Law, typename real>
static __device__ __forceinline__ bool far_from_walls(const general_numbers &b, const general_arrays<real> &a,
                                                      const general_poses &poses, const general_grains<real> &g,
                                                      const general_records<real> &records, uint32_t i, real edge) {
  const vec4<real> p = load_constant(g.position + i), v = load_constant(g.v_pred + i);
  const double x[3] = {(double)p.x, (double)p.y, (double)p.z};
  const real speed = (real)fabs(v.x) + (real)fabs(v.y) + (real)fabs(v.z); /* at least that of the approach */
  const double reach = 1.001 * (double)(p.w + (real)0.5 * edge * speed) + (Law::named ? b.reach : 0);
#pragma unroll 1
  for (int w = 0; w < b.walls; w++) {
    const geometry_wall &wall = a.wall[w];
    const geometry_pose &pose = poses.pose[w];
    if (wall.shape != GEOMETRY_PLANE || pose.angle != 0 || pose.spin != 0) return false;
    double y[3], normal[3], still = 0;
    for (int c = 0; c < 3; c++) y[c] = x[c] - pose.shift[c], still += fabs(pose.velocity[c]);
    if (still != 0 || !(wall_plane(&wall, y, normal) > reach)) return false;
    real spring[COLLISION_SPRINGS_MAX] = {};
    history<SPRINGS, real>{records.wall_spring + (size_t)wall.first * b.n + i, b.n}.load(spring);
    if (!all_clear<SPRINGS>(spring)) return false;
  }
  return true;
}

/* Adds the contacts of grain i with all walls to *sum; LOOK: and to *at and force_on_walls. */
template <int SPRINGS, typename Law, int FEATURES, bool LOOK, typename real>
static __device__ void gather_walls(const general_numbers &b, const general_arrays<real> &a, const general_poses &poses,
                                    const general_control &now, uint32_t i, real dt, real edge, real margin,
                                    contact_sum<real> *sum, contact_observables *at, double *force_on_walls) {
  const general_grains<real> &g = a.grains[now.order];
  const general_records<real> &records = a.records[now.home];
  wall_grain<real> grain = {g.position[i], g.v_pred[i], {}, {}, records.material[i], 0, nullptr};
  if (general_clumps(FEATURES)) grain.mobility = records.mobility + i;
  if (has_heat<Law>(b)) grain.temperature = g.temperature[i];
  const double x[3] = {(double)grain.position.x, (double)grain.position.y, (double)grain.position.z};
  copy_xyz(grain.velocity_before, g.velocity[i]);
  copy_xyz(grain.w_pred, g.w_pred[i]);
  geometry_mesh_cache *near = general_meshes(FEATURES) ? a.near + (size_t)records.id[i] * (size_t)b.meshes : nullptr;
#pragma unroll 1
  for (int w = 0; w < b.walls; w++) {
    const geometry_wall &wall = a.wall[w];
    real *const past = records.wall_spring + (size_t)wall.first * b.n + i;
    if constexpr (general_meshes(FEATURES))
      if (wall.shape == GEOMETRY_MESH) {
        double y[3];
        wall_rest_position(&wall, &poses.pose[w], x, y);
        if (!mesh_cache_idle(near, y, (double)(grain.position.w + margin))) {
          grain_mesh_contacts<SPRINGS, Law, FEATURES, LOOK>(b, a, wall, poses.pose[w], grain, x, y, near, past, b.n, dt,
                                                            edge, margin, sum, at, force_on_walls);
          if (dt > 0 && near->entry[0] == MESH_NONE) near->entry[0] = MESH_IDLE;
        }
        near++;
        continue;
      }
    geometry_contact touch;
    if (wall_contact(&wall, &poses.pose[w], x, INFINITY, &touch) == 0) continue;
    grain_wall_contact<SPRINGS, Law, FEATURES, LOOK>(b, a, wall, poses.pose[w], touch, grain,
                                                     history<SPRINGS, real>{past, b.n}, true, dt, edge, sum, at,
                                                     force_on_walls);
  }
}

#endif
