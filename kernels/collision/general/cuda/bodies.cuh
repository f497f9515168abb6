/* Motion of clumps: rigid bodies, whose spheres are grains; a thread a clump, in double. As templates on the real type.
 * CPU counterpart: cpu/bodies.inc, which has the definition; with the same bits.
 *
 * In a step with clumps the launch of contacts moves loose grains alone, and leaves forces and torques on the spheres
 * of clumps. `step_bodies` adds them up, completes the step of the clumps, and moves them by the next step. `slot` has
 * the index of each id. */
#ifndef COLLISION_GENERAL_CUDA_BODIES_CUH
#define COLLISION_GENERAL_CUDA_BODIES_CUH

#include "kernels/collision/general/cuda/step.cuh"

/* BODIES_THREADS: of a block; few, so that few clumps use all multiprocessors. BODIES_AHEAD: spheres of a clump that a
 * thread reads together. */
enum { BODIES_THREADS = 64, BODIES_AHEAD = 4 };

/* A body while its thread works on it. */
struct moving_body {
  collision_body state;
  double inverse[3][3]; /* of the tensor of inertia, in the axes of the box */
  uint32_t first, end;  /* ids of its spheres */
};

template <typename real>
static __device__ __forceinline__ moving_body read_body(const general_arrays<real> &a, uint32_t number) {
  moving_body body;
  body.state = a.bodies.state[number];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) body.inverse[r][c] = a.bodies.body[number].inverse[r][c];
  body.first = (uint32_t)body.state.first;
  body.end = body.first + (uint32_t)body.state.count;
  return body;
}

/* Sets the inverse inertia of a body, and the matrix of its orientation. */
template <typename real>
static __device__ __forceinline__ void turn_body(const general_arrays<real> &a, uint32_t number, moving_body *body,
                                                 double turn[3][3]) {
  rigid_matrix(body->state.orientation, turn);
  rigid_inverse(&body->state, turn, body->inverse);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) a.bodies.body[number].inverse[r][c] = body->inverse[r][c];
}

/* Sets lever [3] of sphere `id` of a body, and how forces on it move the body; i: its index; member: the lever along
 * the principal axes. */
template <typename real>
static __device__ __forceinline__ void set_lever(const general_arrays<real> &a, general_mobility *mobility,
                                                 uint32_t number, moving_body *body, uint32_t id, uint32_t i,
                                                 const double member[3], double turn[3][3], double *lever) {
  general_mobility m;
  rigid_apply(turn, member, lever);
  rigid_mobility(body->inverse, lever, m.form);
  m.inverse_mass = 1 / body->state.mass;
  m.body = number + 1;
  mobility[i] = m;
  for (int c = 0; c < 3; c++) a.bodies.lever[3 * (size_t)id + c] = lever[c];
}

/* Velocity of a sphere of a body with this velocity and spin; the w component is left. */
template <typename real>
static __device__ __forceinline__ void follow_body(const double *lever, const double velocity[3], const double spin[3],
                                                   vec4<real> *v, vec4<real> *s) {
  double round[3];
  rigid_cross(spin, lever, round);
  v->x = (real)(velocity[0] + round[0]), v->y = (real)(velocity[1] + round[1]), v->z = (real)(velocity[2] + round[2]);
  s->x = (real)spin[0], s->y = (real)spin[1], s->z = (real)spin[2];
}

/* After a load, when grains are in the order of ids in the first sets: inverse inertia, levers and mobilities. */
template <typename real> static __global__ void turn_bodies(general_arrays<real> a, unsigned k) {
  (void)k;
  after_previous();
  const uint32_t n = a.numbers->n, number = blockIdx.x * BODIES_THREADS + threadIdx.x;
  for (uint32_t id = number; id < n; id += gridDim.x * BODIES_THREADS)
    if (a.bodies.of[id] == 0)
      a.records[0].mobility[id] = {{0, 0, 0, 0, 0, 0}, 1 / (double)a.grains[0].velocity[id].w, 0};
  if (number >= a.bodies.count) return;
  moving_body body = read_body(a, number);
  double turn[3][3], lever[3];
  turn_body(a, number, &body, turn);
  a.bodies.body[number].mass = body.state.mass;
  for (uint32_t id = body.first; id < body.end; id++) {
    const double *const at = a.bodies.member;
    const double member[3] = {at[id], at[(size_t)n + id], at[2 * (size_t)n + id]};
    set_lever(a, a.records[0].mobility, number, &body, id, id, member, turn, lever);
  }
}

/* Adds up the forces on the spheres of a body, in the order of ids, to the acceleration of its centre and the torque
 * about it. */
template <typename real>
static __device__ __forceinline__ void sum_forces(const general_arrays<real> &a, const general_grains<real> &g,
                                                  moving_body *body) {
  double force[3] = {0, 0, 0}, torque[3] = {0, 0, 0};
#pragma unroll 1
  for (uint32_t start = body->first; start < body->end; start += BODIES_AHEAD) {
    vec4<real> pull[BODIES_AHEAD], twist[BODIES_AHEAD]; /* a force and a torque */
    double lever[BODIES_AHEAD][3];
#pragma unroll
    for (uint32_t s = 0; s < BODIES_AHEAD; s++) {
      const uint32_t id = start + s < body->end ? start + s : start, i = a.slot[id];
      pull[s] = g.acceleration[i];
      twist[s] = g.angular_acceleration[i];
      for (int c = 0; c < 3; c++) lever[s][c] = a.bodies.lever[3 * (size_t)id + c];
    }
#pragma unroll
    for (uint32_t s = 0; s < BODIES_AHEAD; s++) {
      if (start + s >= body->end) break;
      const double f[3] = {(double)pull[s].x, (double)pull[s].y, (double)pull[s].z};
      const double own[3] = {(double)twist[s].x, (double)twist[s].y, (double)twist[s].z};
      double around[3];
      rigid_cross(lever[s], f, around);
      for (int c = 0; c < 3; c++) {
        force[c] += f[c];
        torque[c] += own[c] + around[c];
      }
    }
  }
  for (int c = 0; c < 3; c++) {
    body->state.acceleration[c] = force[c] / body->state.mass + a.numbers->gravity[c];
    body->state.torque[c] = torque[c];
  }
}

/* Half of the momenta's step. */
static __device__ __forceinline__ void kick_body(collision_body *body, double half) {
  for (int c = 0; c < 3; c++) {
    body->velocity[c] += half * body->acceleration[c];
    body->angular[c] += half * body->torque[c];
  }
}

/* Adds up forces, completes a step of `ended` (0: no step), and sets the spheres' velocities and accelerations. */
template <typename real>
static __device__ void push_body(const general_arrays<real> &a, const general_grains<real> &g, uint32_t number,
                                 double ended) {
  moving_body body = read_body(a, number);
  double spin[3], turned[3];
  sum_forces(a, g, &body);
  if (ended > 0) kick_body(&body.state, 0.5 * ended);
  a.bodies.state[number] = body.state;
  rigid_apply(body.inverse, body.state.angular, spin);
  rigid_apply(body.inverse, body.state.torque, turned);
  for (uint32_t id = body.first; id < body.end; id++) {
    const uint32_t i = a.slot[id];
    const double *const acceleration = body.state.acceleration;
    if (ended > 0) follow_body(a.bodies.lever + 3 * (size_t)id, body.state.velocity, spin, &g.velocity[i], &g.spin[i]);
    g.acceleration[i] = {(real)acceleration[0], (real)acceleration[1], (real)acceleration[2], 0};
    g.angular_acceleration[i] = {(real)turned[0], (real)turned[1], (real)turned[2], 0};
  }
}

template <typename real>
static __global__ void __launch_bounds__(BODIES_THREADS) push_bodies(general_arrays<real> a, unsigned k, double ended) {
  after_previous();
  const uint32_t number = blockIdx.x * BODIES_THREADS + threadIdx.x;
  if (number < a.bodies.count) push_body(a, a.grains[a.control[k & 1].order], number, ended);
}

/* Moves the body's centre into a periodic box; adds gravity's work on that way to its first sphere. */
template <typename real>
static __device__ __forceinline__ void wrap_body(const general_arrays<real> &a, double *work, moving_body *body) {
  const general_numbers &b = *a.numbers;
  double lift = 0;
  for (int c = 0; c < 3; c++) {
    if (!b.periodic[c]) continue;
    const double at = body->state.position[c];
    const double side = at < b.low[c] ? b.size[c] : at >= b.low[c] + b.size[c] ? -b.size[c] : 0;
    body->state.position[c] += side;
    lift -= side * b.gravity[c];
  }
  if (lift != 0 && b.worked) work[a.slot[body->first]] += body->state.mass * lift;
}

/* Writes the spheres of a body that has moved, with their velocities predicted for the end of the step, into set `to`;
 * `from`: the set that has radii and masses. Returns the greatest squared speed. */
template <typename real>
static __device__ __forceinline__ double move_spheres(const general_arrays<real> &a, const general_grains<real> &from,
                                                      const general_grains<real> &to, general_mobility *mobility,
                                                      uint32_t number, moving_body *body, double turn[3][3],
                                                      const double velocity[3], const double spin[3], double dt) {
  const general_box<real> &box = a.box;
  const size_t n = a.numbers->n;
  const double *const at = a.bodies.member;
  double most = 0;
#pragma unroll 1
  for (uint32_t start = body->first; start < body->end; start += BODIES_AHEAD) {
    uint32_t slot[BODIES_AHEAD];
    double old[BODIES_AHEAD][3], member[BODIES_AHEAD][3];
    real radius[BODIES_AHEAD], mass[BODIES_AHEAD];
#pragma unroll
    for (uint32_t s = 0; s < BODIES_AHEAD; s++) {
      const uint32_t id = start + s < body->end ? start + s : start;
      slot[s] = a.slot[id];
      for (size_t c = 0; c < 3; c++) {
        old[s][c] = a.bodies.lever[3 * (size_t)id + c];
        member[s][c] = at[c * n + id];
      }
      radius[s] = from.position[slot[s]].w;
      mass[s] = from.velocity[slot[s]].w;
    }
#pragma unroll
    for (uint32_t s = 0; s < BODIES_AHEAD; s++) {
      if (start + s >= body->end) break;
      const uint32_t i = slot[s];
      double lever[3], square = 0;
      real x[3], v[3];
      set_lever(a, mobility, number, body, start + s, i, member[s], turn, lever);
      for (int c = 0; c < 3; c++) {
        x[c] = (real)(body->state.position[c] + lever[c]);
        v[c] = (real)(body->state.velocity[c] + (lever[c] - old[s][c]) / dt); /* mean over the step */
        if (box.periodic[c] && x[c] < box.low[c]) x[c] += box.size[c];
        if (box.periodic[c] && x[c] >= box.high[c]) x[c] -= box.size[c];
        if (is_outside(box, c, x[c])) square = INFINITY;
        square += (double)(v[c] * v[c]);
      }
      vec4<real> v_pred = {0, 0, 0, mass[s]}, w_pred = {0, 0, 0, 0};
      follow_body(lever, velocity, spin, &v_pred, &w_pred);
      to.position[i] = {x[0], x[1], x[2], radius[s]};
      to.velocity[i] = {v[0], v[1], v[2], mass[s]};
      to.v_pred[i] = v_pred;
      to.w_pred[i] = w_pred;
      most = square > most || !(square >= 0) ? square : most; /* NaN is kept */
    }
  }
  return most;
}

/* Completes a step of `ended` (0: already done) with the forces on the spheres in set `from`, and moves the body and
 * its spheres by a step of dt into set `to`. Returns the greatest squared speed of its spheres. */
template <typename real>
static __device__ __forceinline__ double step_body(const general_arrays<real> &a, const general_grains<real> &from,
                                                   const general_grains<real> &to, const general_records<real> &records,
                                                   uint32_t number, double ended, double dt) {
  moving_body body = read_body(a, number);
  const double half = 0.5 * dt;
  double velocity[3], momentum[3], spin[3], turn[3][3];
  if (ended > 0) {
    sum_forces(a, from, &body);
    kick_body(&body.state, 0.5 * ended);
  }
  kick_body(&body.state, half);
  for (int c = 0; c < 3; c++) {
    body.state.position[c] += body.state.velocity[c] * dt;
    velocity[c] = body.state.velocity[c] + half * body.state.acceleration[c]; /* predicted for the end of the step */
    momentum[c] = body.state.angular[c] + half * body.state.torque[c];
  }
  rigid_turn(&body.state, dt);
  wrap_body(a, records.work, &body);
  a.bodies.state[number] = body.state;
  turn_body(a, number, &body, turn);
  rigid_apply(body.inverse, momentum, spin);
  return move_spheres(a, from, to, records.mobility, number, &body, turn, velocity, spin, dt);
}

/* Of launch k, after contacts (ended > 0), which have moved loose grains into the other set, or after `drift`. */
template <typename real>
static __global__ void __launch_bounds__(BODIES_THREADS)
    step_bodies(general_arrays<real> a, unsigned k, double ended, double dt) {
  __shared__ unsigned long long words[BODIES_THREADS / 32];
  after_previous();
  const general_control now = a.control[k & 1];
  const uint32_t number = blockIdx.x * BODIES_THREADS + threadIdx.x;
  double square = 0;
  if (number < a.bodies.count)
    square = step_body(a, a.grains[ended > 0 ? now.order ^ 1 : now.order], a.grains[now.order], a.records[now.home],
                       number, ended, dt);
  publish_fastest(a, square, words, k - 1);
}

#endif
