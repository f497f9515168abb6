/* Motion of clumps: rigid bodies, whose spheres are grains; in double. As templates on the real type.
 * CPU counterpart: cpu/bodies.inc, which has the definition; with the same bits.
 *
 * In a step with clumps the launch of contacts moves loose grains alone, and leaves forces and torques on the spheres
 * of clumps. `step_bodies` adds them up, completes the step of the clumps, and moves them by the next step. `slot` has
 * the index of each id. */
#ifndef COLLISION_GENERAL_CUDA_BODIES_CUH
#define COLLISION_GENERAL_CUDA_BODIES_CUH

#include "kernels/collision/general/cuda/step.cuh"

/* BODIES_THREADS: of a block; few, so that few clumps use all multiprocessors. BODIES_AHEAD: spheres of a clump that a
 * thread reads together. In a step, BODIES_BLOCK clumps share a block of BODIES_STEP_THREADS: of the number for clumps
 * of three spheres, five such blocks fit a multiprocessor. */
enum { BODIES_THREADS = 64, BODIES_AHEAD = 4, BODIES_BLOCK = 32, BODIES_STEP_THREADS = 96 };

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

/* Half of the momenta's step; time: of this half. */
static __device__ __forceinline__ void kick_body(collision_body *body, double time) {
  for (int c = 0; c < 3; c++) {
    body->velocity[c] += time * body->acceleration[c];
    body->angular[c] += time * body->torque[c];
  }
}

/* Adds up forces, completes a step of `ended` (0: no step), and sets the spheres' velocities and accelerations. */
template <typename real>
static __device__ void push_body(const general_arrays<real> &a, const general_grains<real> &g, uint32_t number,
                                 double ended) {
  moving_body body = read_body(a, number);
  double spin[3], turned[3], turn[3][3];
  turn_body(a, number, &body, turn); /* step_bodies does not store the inverse inertia */
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

/* ---- a step ---- */

/* How the spheres of a body follow it through a step. */
struct body_motion {
  double turn[3][3], inverse[3][3], position[3], velocity[3];
  double predicted[3], spin[3]; /* velocity and spin that are predicted for the end of the step */
  double inverse_mass;
};

/* Clumps of a thread block. Their states are read and written by all threads together, and so are their spheres: item t
 * of the block is sphere t - start[s] of the body s with start[s] <= t < start[s + 1]. */
struct body_block {
  collision_body state[BODIES_BLOCK];
  body_motion motion[BODIES_BLOCK];
  uint32_t start[BODIES_BLOCK + 1];
  double share[6][BODIES_STEP_THREADS]; /* force and torque about the body's centre, of items */
};

/* Returns the body of item t of a block with `count` bodies; *id: the sphere. */
static __device__ __forceinline__ uint32_t body_of_item(const body_block &block, uint32_t count, uint32_t t,
                                                        uint32_t *id) {
  uint32_t low = 0, high = count;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (block.start[middle] <= t)
      low = middle;
    else
      high = middle;
  }
  *id = (uint32_t)block.state[low].first + (t - block.start[low]);
  return low;
}

static __device__ __forceinline__ void copy_doubles(double *to, const double *from, uint32_t count) {
  for (uint32_t t = threadIdx.x; t < count; t += blockDim.x) to[t] = from[t];
}

/* Reads the states of bodies first ... first + count - 1, and numbers their spheres. */
static __device__ __forceinline__ void read_block(const collision_body *state, uint32_t count, body_block *block) {
  copy_doubles((double *)block->state, (const double *)state, count * COLLISION_BODY_NUMBERS);
  __syncthreads();
  if (threadIdx.x < 32) {
    const uint32_t own = threadIdx.x < count ? (uint32_t)block->state[threadIdx.x].count : 0;
    block->start[threadIdx.x + 1] = warp_prefix_sum(own);
    if (threadIdx.x == 0) block->start[0] = 0;
  }
  __syncthreads();
}

/* Adds up the forces on the spheres of all bodies of a block, as sum_forces. */
template <typename real>
static __device__ __forceinline__ void sum_block_forces(const general_arrays<real> &a, const general_grains<real> &g,
                                                        uint32_t count, body_block *block) {
  const uint32_t s = threadIdx.x, all = block->start[count];
  double sum[6] = {0, 0, 0, 0, 0, 0};
  for (uint32_t from = 0; from < all; from += BODIES_STEP_THREADS) {
    const uint32_t t = from + threadIdx.x, end = from + BODIES_STEP_THREADS;
    if (t < all) {
      uint32_t id;
      body_of_item(*block, count, t, &id);
      const uint32_t i = a.slot[id];
      const vec4<real> pull = g.acceleration[i], twist = g.angular_acceleration[i]; /* a force and a torque */
      const double *const lever = a.bodies.lever + 3 * (size_t)id;
      const double f[3] = {(double)pull.x, (double)pull.y, (double)pull.z};
      const double own[3] = {(double)twist.x, (double)twist.y, (double)twist.z},
                   arm[3] = {lever[0], lever[1], lever[2]};
      double around[3];
      rigid_cross(arm, f, around);
      for (int c = 0; c < 3; c++) {
        block->share[c][threadIdx.x] = f[c];
        block->share[3 + c][threadIdx.x] = own[c] + around[c];
      }
    }
    __syncthreads();
    if (s < count)
      for (uint32_t u = block->start[s] > from ? block->start[s] : from; u < block->start[s + 1] && u < end; u++)
        for (int c = 0; c < 6; c++) sum[c] += block->share[c][u - from];
    __syncthreads();
  }
  if (s >= count) return;
  collision_body &body = block->state[s];
  for (int c = 0; c < 3; c++) {
    body.acceleration[c] = sum[c] / body.mass + a.numbers->gravity[c];
    body.torque[c] = sum[3 + c];
  }
}

/* Moves the body's centre into a periodic box; adds gravity's work on that way to its first sphere. */
template <typename real>
static __device__ __forceinline__ void wrap_body(const general_arrays<real> &a, double *work, collision_body *body) {
  const general_numbers &b = *a.numbers;
  double lift = 0;
  for (int c = 0; c < 3; c++) {
    if (!b.periodic[c]) continue;
    const double at = body->position[c];
    const double side = at < b.low[c] ? b.size[c] : at >= b.low[c] + b.size[c] ? -b.size[c] : 0;
    body->position[c] += side;
    lift -= side * b.gravity[c];
  }
  if (lift != 0 && b.worked) work[a.slot[(uint32_t)body->first]] += body->mass * lift;
}

/* Completes a step of `ended` (0: already done) and moves the body by a step of dt. */
template <typename real>
static __device__ __forceinline__ void move_body(const general_arrays<real> &a, double *work, double ended, double dt,
                                                 collision_body *state, body_motion *motion) {
  collision_body body = *state;
  const double half = 0.5 * dt;
  double momentum[3], turn[3][3], inverse[3][3], spin[3];
  if (ended > 0) kick_body(&body, 0.5 * ended);
  kick_body(&body, half);
  for (int c = 0; c < 3; c++) {
    body.position[c] += body.velocity[c] * dt;
    motion->predicted[c] = body.velocity[c] + half * body.acceleration[c];
    momentum[c] = body.angular[c] + half * body.torque[c];
  }
  rigid_turn(&body, dt);
  wrap_body(a, work, &body);
  rigid_matrix(body.orientation, turn);
  rigid_inverse(&body, turn, inverse);
  rigid_apply(inverse, momentum, spin);
  for (int r = 0; r < 3; r++) {
    motion->position[r] = body.position[r];
    motion->velocity[r] = body.velocity[r];
    motion->spin[r] = spin[r];
    for (int c = 0; c < 3; c++) {
      motion->turn[r][c] = turn[r][c];
      motion->inverse[r][c] = inverse[r][c];
    }
  }
  motion->inverse_mass = 1 / body.mass;
  *state = body;
}

/* Writes sphere `id` of body `number`, which has moved, with its velocity predicted for the end of the step, into set
 * `to`; `from`: the set that has its radius and mass. Returns its squared speed. */
template <typename real>
static __device__ __forceinline__ double
move_sphere(const general_arrays<real> &a, const general_grains<real> &from, const general_grains<real> &to,
            general_mobility *mobility, uint32_t number, uint32_t id, const body_motion &motion, double dt) {
  const general_box<real> &box = a.box;
  const size_t n = a.numbers->n;
  const uint32_t i = a.slot[id];
  double *const at = a.bodies.lever + 3 * (size_t)id;
  const double member[3] = {a.bodies.member[id], a.bodies.member[n + id], a.bodies.member[2 * n + id]};
  const double old[3] = {at[0], at[1], at[2]};
  const real radius = from.position[i].w, mass = from.velocity[i].w;
  double lever[3], turn[3][3], inverse[3][3], square = 0;
  general_mobility m;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) turn[r][c] = motion.turn[r][c], inverse[r][c] = motion.inverse[r][c];
  rigid_apply(turn, member, lever);
  rigid_mobility(inverse, lever, m.form);
  m.inverse_mass = motion.inverse_mass;
  m.body = number + 1;
  mobility[i] = m;
  real x[3], v[3];
  for (int c = 0; c < 3; c++) {
    at[c] = lever[c];
    x[c] = (real)(motion.position[c] + lever[c]);
    v[c] = (real)(motion.velocity[c] + (lever[c] - old[c]) / dt); /* mean over the step */
    if (box.periodic[c] && x[c] < box.low[c]) x[c] += box.size[c];
    if (box.periodic[c] && x[c] >= box.high[c]) x[c] -= box.size[c];
    if (is_outside(box, c, x[c])) square = INFINITY;
    square += (double)(v[c] * v[c]);
  }
  vec4<real> v_pred = {0, 0, 0, mass}, w_pred = {0, 0, 0, 0};
  follow_body(lever, motion.predicted, motion.spin, &v_pred, &w_pred);
  to.position[i] = {x[0], x[1], x[2], radius};
  to.velocity[i] = {v[0], v[1], v[2], mass};
  to.v_pred[i] = v_pred;
  to.w_pred[i] = w_pred;
  return square;
}

/* Completes a step of `ended` (0: already done) and moves the clumps and their spheres by a step of dt. Of launch k,
 * after contacts (ended > 0), which have moved loose grains into the other set, or after `drift`. */
template <typename real>
static __global__ void __launch_bounds__(BODIES_STEP_THREADS)
    step_bodies(general_arrays<real> a, unsigned k, double ended, double dt) {
  __shared__ body_block block;
  __shared__ unsigned long long words[BODIES_STEP_THREADS / 32];
  after_previous();
  const general_control now = a.control[k & 1];
  const general_grains<real> &from = a.grains[ended > 0 ? now.order ^ 1 : now.order], &to = a.grains[now.order];
  const general_records<real> &records = a.records[now.home];
  const uint32_t first = blockIdx.x * BODIES_BLOCK, rest = a.bodies.count - first;
  const uint32_t count = rest < BODIES_BLOCK ? rest : BODIES_BLOCK;
  read_block(a.bodies.state + first, count, &block);
  if (ended > 0) sum_block_forces(a, from, count, &block);
  if (threadIdx.x < count) move_body(a, records.work, ended, dt, &block.state[threadIdx.x], &block.motion[threadIdx.x]);
  __syncthreads();
  copy_doubles((double *)(a.bodies.state + first), (const double *)block.state, count * COLLISION_BODY_NUMBERS);
  double most = 0;
  for (uint32_t t = threadIdx.x; t < block.start[count]; t += BODIES_STEP_THREADS) {
    uint32_t id;
    const uint32_t s = body_of_item(block, count, t, &id);
    const double square = move_sphere(a, from, to, records.mobility, first + s, id, block.motion[s], dt);
    most = square > most || !(square >= 0) ? square : most; /* NaN is kept */
  }
  publish_fastest(a, most, words, k - 1);
}

#endif
