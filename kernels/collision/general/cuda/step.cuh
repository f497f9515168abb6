/* The launches of a step, as templates on the real type. */
#ifndef COLLISION_GENERAL_CUDA_STEP_CUH
#define COLLISION_GENERAL_CUDA_STEP_CUH

#include "kernels/collision/general/cuda/extras.cuh"
#include "kernels/collision/general/cuda/reader.cuh"
#include "kernels/collision/general/cuda/walls.cuh"

/* Writes grain i into set `to`: the second half of the velocities' step of length `ended` (0: done), then the first
 * half of a step of dt, and its displacement. dt 0: nothing moves, and predicted velocities are the present ones.
 * Returns the squared speed, INFINITY where a grain moved by more than a side of a periodic box; drifted [3]: position
 * before it is taken to its image. */
template <typename real>
static __device__ __forceinline__ double advance(const general_box<real> &b, const general_grains<real> &to, uint32_t i,
                                                 const vec4<real> &position, const vec4<real> &v, const vec4<real> &s,
                                                 const vec4<real> &acceleration, const vec4<real> &angular_acceleration,
                                                 real ended, real dt, real *drifted) {
  const real half = (real)0.5 * dt, rest = (real)0.5 * ended;
  real x[3], vs[3], ss[3], as[3], ts[3], v_pred[3], w_pred[3];
  copy_xyz(x, position);
  copy_xyz(vs, v);
  copy_xyz(ss, s);
  copy_xyz(as, acceleration);
  copy_xyz(ts, angular_acceleration);
  double square = 0;
  for (int c = 0; c < 3; c++) {
    vs[c] += rest * as[c];
    ss[c] += rest * ts[c];
    vs[c] += half * as[c];
    ss[c] += half * ts[c];
    x[c] += vs[c] * dt;
    drifted[c] = x[c];
    if (b.periodic[c] && x[c] < b.low[c]) x[c] += b.size[c];
    if (b.periodic[c] && x[c] >= b.high[c]) x[c] -= b.size[c];
    if (is_outside(b, c, x[c])) square = INFINITY;
    v_pred[c] = vs[c] + half * as[c];
    w_pred[c] = ss[c] + half * ts[c];
    square += (double)(vs[c] * vs[c]);
  }
  to.position[i] = {x[0], x[1], x[2], position.w};
  to.velocity[i] = {vs[0], vs[1], vs[2], v.w};
  to.spin[i] = {ss[0], ss[1], ss[2], s.w};
  to.v_pred[i] = {v_pred[0], v_pred[1], v_pred[2], v.w};
  to.w_pred[i] = {w_pred[0], w_pred[1], w_pred[2], 0};
  return square;
}

/* Publishes the greatest squared speed of a block for launch k. words [threads / 32]: shared memory, which the block
 * may use for something else before. */
template <typename real>
static __device__ void publish_fastest(const general_arrays<real> &a, double most, unsigned long long *words,
                                       unsigned k) {
  /* Positive numbers are ordered as their bits, and NaN is above them all. */
  const unsigned long long bits = warp_max_all((unsigned long long)__double_as_longlong(most) & 0x7fffffffffffffffull);
  __syncthreads();
  if (threadIdx.x % 32 == 0) words[threadIdx.x / 32] = bits;
  __syncthreads();
  if (threadIdx.x != 0) return;
  unsigned long long fastest = words[0];
  for (unsigned w = 1; w < blockDim.x / 32; w++) fastest = words[w] > fastest ? words[w] : fastest;
  if (fastest > 0) atomicMax(&a.motion[k & 3], fastest);
}

template <typename real>
static __device__ void publish_control(const general_arrays<real> &a, const general_control &next, unsigned k) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  a.control[(k + 1) & 1] = next;
  a.motion[(k + 1) & 3] = 0;
}

template <int FEATURES, typename real>
static __device__ __forceinline__ double
advance_any(const general_numbers &b, const general_arrays<real> &a, const general_control &now,
            const general_grains<real> &to, uint32_t i, const vec4<real> &position, const grain_rest<real> &rest,
            const vec4<real> &acceleration, const vec4<real> &angular_acceleration, real ended, real dt,
            const general_shear<real> &shift) {
  if constexpr (general_extras(FEATURES))
    return advance_more(b, a, a.records[now.home], a.grains[now.order], to, i, acceleration, angular_acceleration,
                        ended, dt, shift);
  else {
    real drifted[3];
    const double square = advance(a.box, to, i, position, rest.velocity, rest.spin, acceleration, angular_acceleration,
                                  ended, dt, drifted);
    if constexpr (FEATURES >= GENERAL_WORK) {
      if (!b.worked) return square;
      const real x[3] = {to.position[i].x, to.position[i].y, to.position[i].z};
      count_lift(b, a.records[now.home], i, rest.velocity.w, drifted, x);
    }
    return square;
  }
}

/* Completes a step of `ended` and makes the first half of a step of dt, from known accelerations. Spheres of clumps are
 * moved by step_bodies. */
template <int FEATURES, typename real>
static __global__ void __launch_bounds__(GENERAL_THREADS)
    drift(general_arrays<real> a, real ended, real dt, unsigned k, general_shear<real> shift) {
  __shared__ unsigned long long words[GENERAL_THREADS / 32];
  after_previous();
  const general_numbers &b = *a.numbers;
  const general_control now = a.control[k & 1];
  const general_grains<real> &g = a.grains[now.order];
  double most = 0;
  for (uint32_t t = blockIdx.x * GENERAL_THREADS + threadIdx.x; t < a.own.threads; t += gridDim.x * GENERAL_THREADS) {
    const uint32_t i = own_grain(a.own, t);
    if (i == GENERAL_NONE) continue;
    const grain_rest<real> rest = {g.velocity[i], g.spin[i], 0, 0};
    if (general_clumps(FEATURES) && dt > 0 && a.records[now.home].mobility[i].body > 0) continue;
    const double square = advance_any<FEATURES>(b, a, now, g, i, g.position[i], rest, g.acceleration[i],
                                                g.angular_acceleration[i], ended, dt, shift);
    most = square > most || !(square >= 0) ? square : most; /* NaN is kept */
  }
  publish_control(a, now, k);
  publish_fastest(a, most, words, k);
}

/* ---- contacts ---- */

/* Adds the contacts of grain i with walls in launch k. No inline code, because walls need more registers than the loop
 * over neighbours, which would be left with fewer thread blocks a multiprocessor. */
template <int SPRINGS, typename Law, int FEATURES, typename real>
static __device__ __noinline__ void add_walls(const general_arrays<real> &a, const general_poses &poses, uint32_t i,
                                              real dt, real edge, real margin, unsigned k, contact_sum<real> *sum) {
  gather_walls<SPRINGS, Law, FEATURES, false>(*a.numbers, a, poses, a.control[k & 1], i, dt, edge, margin, sum, nullptr,
                                              nullptr);
}

/* What the threads of a block have in common: in shared memory, because the loop over neighbours has no registers left.
 * Values that it kept in local memory would be fetched from the L2 cache in each round, as springs pass through the L1
 * cache. `keeps`: also each thread's grain and the end of its row, because of the call of add_walls, around which
 * little stays in registers, or of cohesion. Not `serves`: a tangential spring alone leaves registers for all of it. */
template <int SPRINGS, int FEATURES, typename real> struct contact_block {
  static constexpr bool keeps = FEATURES > GENERAL_BARE || SPRINGS == 4;
  static constexpr bool serves = FEATURES > GENERAL_BARE || SPRINGS > 3;
  general_grains<real> grains;
  general_records<real> records;
  general_list<real> list;
  step_bounds<real> bounds;
  uint32_t own[keeps ? CONTACT_THREADS : 1], last[keeps ? CONTACT_THREADS : 1];
};

/* Contacts of a step of dt (0: as they are). next > 0: also moves the grains by the step after it into the other set;
 * else writes accelerations. For spheres of clumps writes forces and torques into the first set. */
template <int SPRINGS, typename Law, int FEATURES, typename real>
static __device__ __forceinline__ void compute_contacts(const general_arrays<real> &a, const general_poses &poses,
                                                        real dt, real next, unsigned k,
                                                        const general_shear<real> &shift) {
  __shared__ contact_reader<SPRINGS, Law, real> reader;
  constexpr bool keeps = contact_block<SPRINGS, FEATURES, real>::keeps;
  __shared__ contact_block<SPRINGS, FEATURES, real> block;
  constexpr bool in_block = contact_block<SPRINGS, FEATURES, real>::serves;
  step_bounds<real> local_bounds;
  after_previous();
  const general_numbers &b = *a.numbers;
  const general_box<real> &box = a.box;
  const general_control now = a.control[k & 1];
  general_control then = now;
  if (next > 0) then.order ^= 1;
  publish_control(a, then, k);
  step_bounds<real> &bounds = in_block ? block.bounds : local_bounds;
  step_context<real> step = {dt, box.damped ? dt : 0, &bounds, nullptr};
  if (!in_block || threadIdx.x == 0) {
    if (in_block) {
      block.grains = a.grains[now.order];
      block.records = a.records[now.home];
      block.list = a.list[now.home];
    }
    const real most = (real)(now.step * 1.001);
    bounds = {step.edge * (real)(dt > 0 ? 0.5 * now.step / (double)dt : 0), most};
    if (Law::named && b.reach > 0) bounds.margin += (real)b.reach + most;
  }
  if (in_block) __syncthreads();
  double square = 0;
  const uint32_t first = own_grain(a.own, blockIdx.x * CONTACT_THREADS + threadIdx.x);
  if (first != GENERAL_NONE) {
    uint32_t i = first;
    const general_grains<real> &g = in_block ? block.grains : a.grains[now.order];
    const general_records<real> &records = in_block ? block.records : a.records[now.home];
    const general_list<real> &list = in_block ? block.list : a.list[now.home];
    if (general_clumps(FEATURES)) step.mobility = records.mobility;
    const uint32_t room = box.room;
    /* Entries of a row are 32 apart; their numbers over 32 alternate between the stages of the reader. */
    uint32_t entry = list.base[i / 32] + i % 32;
    const uint32_t end = entry + 32 * (uint32_t)list.count[i];
    uint32_t ahead = entry < end ? __ldg(list.neighbour + entry) : i,
             after = entry + 32 < end ? __ldg(list.neighbour + entry + 32) : i;
    predicted_grain<real> one = {};
    reader.fetch_grain(g, i);
    if (entry < end)
      reader.fetch_neighbour(entry / 32, g, ahead, {list.spring, room, entry});
    else
      reader.fetch_rest(entry / 32, g, records, i);
    if constexpr (keeps) block.own[threadIdx.x] = i, block.last[threadIdx.x] = end;
    contact_sum<real> sum = {};
    reader.keep(sum);
#pragma unroll 1
    for (;; entry += 32) {
      const uint32_t j = ahead, last = keeps ? block.last[threadIdx.x] : end;
      if (entry >= last) break;
      const pair_history<SPRINGS, Law, real> past = {list.spring, room, entry};
      predicted_grain<real> other = {};
      real spring[COLLISION_SPRINGS_MAX] = {};
      ahead = after;
      after = entry + 64 < last ? __ldg(list.neighbour + entry + 64) : i;
      if (entry + 32 < last)
        reader.fetch_neighbour(entry / 32 + 1, g, ahead, {list.spring, room, entry + 32});
      else
        reader.fetch_rest(entry / 32 + 1, g, records, i);
      reader.read_grain(g, i, &one);
      reader.read_neighbour(entry / 32, g, j, past, &other, spring);
      pair_result<real> m;
      const int what = pair_force<SPRINGS, Law, FEATURES>(b, a, g, records.material, step, shift, i, j, one, other,
                                                          false, spring, &m);
      if (what == PAIR_SEPARATE) continue;
      if (dt > 0) past.store(spring);
      reader.take(&sum);
      if (what == PAIR_ENDED) {
        sum.dissipated += (double)m.dissipated;
        reader.keep(sum);
        continue;
      }
      add_contact(&sum, m.c, m.r, SPRINGS, m.arm, m.dissipated);
      if (has_heat<Law>(b) && dt > 0)
        sum.heat += (double)m.radius * (__ldg(g.temperature + j) - __ldg(g.temperature + i));
      sum.virial += (double)m.virial;
      if constexpr (general_extras(FEATURES)) sum.work += m.work;
      if (what & PAIR_BEGAN) records.collisions[i]++;
      reader.keep(sum);
    }
    reader.take(&sum);
    const grain_rest<real> rest = reader.read_rest(entry / 32, g, records, i);
    if constexpr (keeps) i = block.own[threadIdx.x];
    const bool bound = general_clumps(FEATURES) && records.mobility[i].body > 0;
    if (bound && dt > 0) shorten_virial(a.bodies.lever + 3 * (size_t)records.id[i], sum.force, dt, &sum.virial);
    if constexpr (FEATURES >= GENERAL_WALLS) {
      bool near = b.walls > 0;
      if constexpr (!general_meshes(FEATURES))
        near = near && !far_from_walls<SPRINGS, Law>(b, a, poses, g, records, i, step.edge);
      if (near) {
        contact_sum<real> all = sum;
        add_walls<SPRINGS, typename wall_law<Law>::type, FEATURES>(a, poses, i, dt, step.edge, bounds.margin, k, &all);
        sum = all;
      }
    }
    reader.read_grain(g, i, &one);
    const real m = one.velocity.w, r = one.position.w, inverse = 1 / ((real)0.4 * m * r * r);
    vec4<real> acceleration = {sum.force[0] / m + box.gravity[0], sum.force[1] / m + box.gravity[1],
                               sum.force[2] / m + box.gravity[2], 0};
    if constexpr (general_extras(FEATURES)) add_external(b, a, i, &acceleration);
    vec4<real> angular_acceleration = {sum.torque[0] * inverse, sum.torque[1] * inverse, sum.torque[2] * inverse, 0};
    if (bound) { /* force and torque, for sum_forces */
      acceleration = {sum.force[0], sum.force[1], sum.force[2], 0};
      angular_acceleration = {sum.torque[0], sum.torque[1], sum.torque[2], 0};
    }
    if (dt > 0) {
      if (sum.dissipated != 0) records.dissipated[i] = rest.dissipated + sum.dissipated;
      if (sum.virial != 0) records.virial[i] = rest.virial + sum.virial;
      if constexpr (FEATURES >= GENERAL_WORK)
        if (b.worked && sum.work != 0) records.work[i] += sum.work;
      if constexpr (general_extras(FEATURES))
        if (a.pull != nullptr && b.worked) records.work[i] += a.pull[3 * (size_t)b.n + records.id[i]] * (double)dt;
    }
    if (has_heat<Law>(b) && dt > 0) {
      const double part = b.conductance * (double)dt;
      const double now_at = __ldg(g.temperature + i) + part * sum.heat / ((double)m * b.capacity);
      records.wall_heat[i] += part * sum.wall_heat;
      (next > 0 ? a.grains[now.order ^ 1].temperature : a.warmed)[i] = now_at;
    }
    if (next > 0 && !bound) {
      square = advance_any<FEATURES>(b, a, now, a.grains[now.order ^ 1], i, one.position, rest, acceleration,
                                     angular_acceleration, dt, next, shift);
    } else {
      g.acceleration[i] = acceleration;
      g.angular_acceleration[i] = angular_acceleration;
    }
  }
  if (next > 0) publish_fastest(a, square, reader.words(), k);
}

/* Thread blocks a multiprocessor: as many as leave the loop over neighbours its registers. */
template <int FEATURES, typename Law, typename real> static __host__ __device__ constexpr int contacts_residents() {
  const bool few = FEATURES <= GENERAL_WORK && (!Law::named || fixed_models<Law>);
  if (sizeof(real) > 4) return few || (FEATURES == GENERAL_CLUMPS && !Law::named) ? 4 : 2;
  return FEATURES == GENERAL_BARE ? 7 : few ? 6 : 4;
}

template <int SPRINGS, typename Law, int FEATURES, typename real>
static __global__ void __launch_bounds__(CONTACT_THREADS, contacts_residents<FEATURES, Law, real>())
    contacts(const __grid_constant__ general_arrays<real> a, const __grid_constant__ general_poses poses, real dt,
             real next, unsigned k, general_shear<real> shift) {
  compute_contacts<SPRINGS, Law, FEATURES>(a, poses, dt, next, k, shift);
}

#endif
