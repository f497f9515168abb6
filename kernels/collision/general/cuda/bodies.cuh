/* Motion of clumps: rigid bodies, whose spheres are grains; a thread a clump, in double. As templates on the real type.
 * CPU counterpart: cpu/bodies.inc, which has the definition; with the same bits.
 *
 * A step that has clumps does not move the grains in the launch of contacts. After contacts `push_bodies` adds up the
 * forces; then `move_bodies` and `drift_beside_bodies` make the next step. `slot` has the index of each id. */
#ifndef COLLISION_GENERAL_CUDA_BODIES_CUH
#define COLLISION_GENERAL_CUDA_BODIES_CUH

#include "kernels/collision/clumps/rigid.h"
#include "kernels/collision/general/cuda/step.cuh"

/* Sets the inverse inertia of a body, and the matrix of its orientation. */
static __device__ void turn_body(const general_bodies &bodies, uint32_t b, double turn[3][3]) {
  const collision_body &body = bodies.state[b];
  rigid_matrix(body.orientation, turn);
  rigid_inverse(&body, turn, bodies.body[b].inverse);
  bodies.body[b].mass = body.mass;
}

static __device__ void set_lever(const general_bodies &bodies, uint32_t n, uint32_t id, double turn[3][3]) {
  const double at[3] = {bodies.member[id], bodies.member[(size_t)n + id], bodies.member[2 * (size_t)n + id]};
  rigid_apply(turn, at, bodies.lever + 3 * (size_t)id);
}

/* Computes velocity and spin of a sphere from its body's velocity and spin. */
template <typename real>
static __device__ void follow_body(const general_bodies &bodies, uint32_t id, const double velocity[3],
                                   const double spin[3], vec4<real> *v, vec4<real> *s) {
  double round[3];
  rigid_cross(spin, bodies.lever + 3 * (size_t)id, round);
  v->x = (real)(velocity[0] + round[0]), v->y = (real)(velocity[1] + round[1]), v->z = (real)(velocity[2] + round[2]);
  s->x = (real)spin[0], s->y = (real)spin[1], s->z = (real)spin[2];
}

/* Inverse inertia and levers, after a load. */
template <typename real> static __global__ void turn_bodies(general_arrays<real> a, unsigned k) {
  (void)k;
  after_previous();
  for (uint32_t b = blockIdx.x * GENERAL_THREADS + threadIdx.x; b < a.bodies.count; b += gridDim.x * GENERAL_THREADS) {
    const uint32_t first = (uint32_t)a.bodies.state[b].first, end = first + (uint32_t)a.bodies.state[b].count;
    double turn[3][3];
    turn_body(a.bodies, b, turn);
    for (uint32_t id = first; id < end; id++) set_lever(a.bodies, a.numbers->n, id, turn);
  }
}

/* Moves the body's centre into a periodic box; adds gravity's work on that way to its first sphere. */
template <typename real>
static __device__ void wrap_body(const general_numbers &b, const general_arrays<real> &a, const double *work_of,
                                 collision_body *body) {
  double lift = 0;
  for (int c = 0; c < 3; c++) {
    if (!b.periodic[c]) continue;
    const double side = body->position[c] < b.low[c]                ? b.size[c]
                        : body->position[c] >= b.low[c] + b.size[c] ? -b.size[c]
                                                                    : 0;
    body->position[c] += side;
    lift -= side * b.gravity[c];
  }
  if (lift != 0 && b.worked) ((double *)work_of)[a.slot[(uint32_t)body->first]] += body->mass * lift;
}

/* First half of the momenta's step of each body, and its motion. Positions of its spheres may then be outside a
 * periodic box, by less than its side. */
template <typename real>
static __device__ void move_body(const general_arrays<real> &a, const general_control &now, uint32_t number,
                                 double dt) {
  const general_numbers &b = *a.numbers;
  const general_grains<real> &g = a.grains[now.order];
  collision_body body = a.bodies.state[number];
  const uint32_t first = (uint32_t)body.first, end = first + (uint32_t)body.count;
  const double half = 0.5 * dt;
  double velocity[3], momentum[3], spin[3], turn[3][3];
  for (int c = 0; c < 3; c++) {
    body.velocity[c] += half * body.acceleration[c];
    body.angular[c] += half * body.torque[c];
    body.position[c] += body.velocity[c] * dt;
    velocity[c] = body.velocity[c] + half * body.acceleration[c]; /* predicted for the end of the step */
    momentum[c] = body.angular[c] + half * body.torque[c];
  }
  rigid_turn(&body, dt);
  wrap_body(b, a, a.records[now.home].work, &body);
  a.bodies.state[number] = body;
  turn_body(a.bodies, number, turn);
  rigid_apply(a.bodies.body[number].inverse, momentum, spin);
  for (uint32_t id = first; id < end; id++) {
    const uint32_t i = a.slot[id];
    const double *const lever = a.bodies.lever + 3 * (size_t)id, old[3] = {lever[0], lever[1], lever[2]};
    set_lever(a.bodies, b.n, id, turn);
    vec4<real> x = g.position[i], v = g.velocity[i], v_pred = v, w_pred = {};
    x.x = (real)(body.position[0] + lever[0]);
    x.y = (real)(body.position[1] + lever[1]);
    x.z = (real)(body.position[2] + lever[2]);
    v.x = (real)(body.velocity[0] + (lever[0] - old[0]) / dt); /* mean over the step */
    v.y = (real)(body.velocity[1] + (lever[1] - old[1]) / dt);
    v.z = (real)(body.velocity[2] + (lever[2] - old[2]) / dt);
    follow_body(a.bodies, id, velocity, spin, &v_pred, &w_pred);
    g.position[i] = x;
    g.velocity[i] = v;
    g.v_pred[i] = v_pred;
    g.w_pred[i] = w_pred;
  }
}

template <typename real> static __global__ void move_bodies(general_arrays<real> a, unsigned k, double dt) {
  after_previous();
  const general_control now = a.control[k & 1];
  for (uint32_t b = blockIdx.x * GENERAL_THREADS + threadIdx.x; b < a.bodies.count; b += gridDim.x * GENERAL_THREADS)
    move_body(a, now, b, dt);
}

/* As drift() in step.cuh: grains outside clumps complete a step of `ended` and move; spheres of clumps, which have
 * moved, are taken into a periodic box. */
template <typename real>
static __global__ void __launch_bounds__(GENERAL_THREADS)
    drift_beside_bodies(general_arrays<real> a, real ended, real dt, unsigned k, general_shear<real> shift) {
  __shared__ unsigned long long fastest;
  after_previous();
  const general_numbers &b = *a.numbers;
  const general_control now = a.control[k & 1];
  const general_grains<real> &g = a.grains[now.order];
  double most = 0;
  if (threadIdx.x == 0) fastest = 0;
  __syncthreads();
  for (uint32_t i = blockIdx.x * GENERAL_THREADS + threadIdx.x; i < b.n; i += gridDim.x * GENERAL_THREADS) {
    double square = 0;
    if (a.bodies.of[a.records[now.home].id[i]] == 0) {
      square = advance_more(b, a, a.records[now.home], g, g, i, g.acceleration[i], g.angular_acceleration[i], ended, dt,
                            shift);
    } else {
      vec4<real> p = g.position[i];
      const vec4<real> v = g.velocity[i];
      real x[3] = {p.x, p.y, p.z};
      for (int c = 0; c < 3; c++) {
        const real low = (real)b.low[c], high = (real)(b.low[c] + b.size[c]);
        if (b.periodic[c] && x[c] < low) x[c] += (real)b.size[c];
        if (b.periodic[c] && x[c] >= high) x[c] -= (real)b.size[c];
      }
      g.position[i] = {x[0], x[1], x[2], p.w};
      square = (double)(v.x * v.x);
      square += (double)(v.y * v.y);
      square += (double)(v.z * v.z);
    }
    most = square > most || !(square >= 0) ? square : most; /* NaN is kept */
  }
  publish_control(a, now, k);
  publish_fastest(a, most, &fastest, k);
}

/* Adds up the forces on the spheres of a body, in the order of ids; kick: also makes the second half of the momenta's
 * step, and sets the velocities of the spheres. */
template <typename real>
static __device__ void push_body(const general_arrays<real> &a, const general_grains<real> &g, uint32_t number,
                                 double dt, bool kick) {
  collision_body *const body = &a.bodies.state[number];
  const uint32_t first = (uint32_t)body->first, end = first + (uint32_t)body->count;
  double force[3] = {0}, torque[3] = {0}, spin[3], turned[3];
  for (uint32_t id = first; id < end; id++) {
    const uint32_t i = a.slot[id];
    const vec4<real> pull = g.acceleration[i], twist = g.angular_acceleration[i]; /* a force and a torque */
    const double f[3] = {(double)pull.x, (double)pull.y, (double)pull.z};
    const double own[3] = {(double)twist.x, (double)twist.y, (double)twist.z};
    double around[3];
    rigid_cross(a.bodies.lever + 3 * (size_t)id, f, around);
    for (int c = 0; c < 3; c++) {
      force[c] += f[c];
      torque[c] += own[c] + around[c];
    }
  }
  for (int c = 0; c < 3; c++) {
    body->acceleration[c] = force[c] / body->mass + a.numbers->gravity[c];
    body->torque[c] = torque[c];
    if (kick) body->velocity[c] += 0.5 * dt * body->acceleration[c];
    if (kick) body->angular[c] += 0.5 * dt * body->torque[c];
  }
  rigid_apply(a.bodies.body[number].inverse, body->angular, spin);
  rigid_apply(a.bodies.body[number].inverse, torque, turned);
  for (uint32_t id = first; id < end; id++) {
    const uint32_t i = a.slot[id];
    if (kick) follow_body(a.bodies, id, body->velocity, spin, &g.velocity[i], &g.spin[i]);
    g.acceleration[i] = {(real)body->acceleration[0], (real)body->acceleration[1], (real)body->acceleration[2], 0};
    g.angular_acceleration[i] = {(real)turned[0], (real)turned[1], (real)turned[2], 0};
  }
}

template <typename real> static __global__ void push_bodies(general_arrays<real> a, unsigned k, double dt, bool kick) {
  after_previous();
  const general_grains<real> &g = a.grains[a.control[k & 1].order];
  for (uint32_t b = blockIdx.x * GENERAL_THREADS + threadIdx.x; b < a.bodies.count; b += gridDim.x * GENERAL_THREADS)
    push_body(a, g, b, dt, kick);
}

#endif
