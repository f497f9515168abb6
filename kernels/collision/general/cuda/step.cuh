/* The launches of a step. `real` is defined before this is included. */
#ifndef COLLISION_CUDA_BED_CONTACTS_CUH
#define COLLISION_CUDA_BED_CONTACTS_CUH

#include "kernels/collision/general/cuda/extras.cuh"
#include "kernels/collision/general/cuda/reader.cuh"
#include "kernels/collision/general/cuda/walls.cuh"

/* Grain i, as it is and with what acts on it, into a set: the second half of the step before of `ended` (0: it was
 * taken), the first half of the velocities' step, and the positions'. dt 0: none, and contacts see what is. Returns the
 * square of its speed; drifted: where it comes to before it is taken to its image. */
static __device__ __forceinline__ double advance(const bed_box &b, const bed_grains &to, uint32_t i, const four &place,
                                                 const four &v, const four &s, const four &acceleration,
                                                 const four &twirl, real ended, real dt, real *drifted) {
  const real half = (real)0.5 * dt, rest = (real)0.5 * ended;
  real x[3], vs[3], ss[3], as[3], ts[3], seen[3], turned[3];
  take_three(x, place);
  take_three(vs, v);
  take_three(ss, s);
  take_three(as, acceleration);
  take_three(ts, twirl);
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
    seen[c] = vs[c] + half * as[c];
    turned[c] = ss[c] + half * ts[c];
    square += (double)(vs[c] * vs[c]);
  }
  to.place[i] = {x[0], x[1], x[2], place.w};
  to.velocity[i] = {vs[0], vs[1], vs[2], v.w};
  to.spin[i] = {ss[0], ss[1], ss[2], s.w};
  to.seen[i] = {seen[0], seen[1], seen[2], v.w};
  to.turned[i] = {turned[0], turned[1], turned[2], 0};
  return square;
}

/* The greatest of a block's squares of speeds, to launch k's place; `fastest` is in shared memory, 0 before. */
static __device__ void tell_fastest(const bed_arrays &a, double most, unsigned long long *fastest, unsigned k) {
  /* Bits of positive numbers are in their order, and NaN is above them all. */
  unsigned long long bits = (unsigned long long)__double_as_longlong(most) & 0x7fffffffffffffffull;
  for (int step = 16; step > 0; step /= 2) bits = max(bits, __shfl_xor_sync(~0u, bits, step));
  if (threadIdx.x % 32 == 0) atomicMax(fastest, bits);
  __syncthreads();
  if (threadIdx.x == 0 && *fastest > 0) atomicMax(&a.motion[k & 3], *fastest);
}

static __device__ void tell_control(const bed_arrays &a, const bed_control &next, unsigned k) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  a.control[(k + 1) & 1] = next;
  a.motion[(k + 1) & 3] = 0;
}

template <int MORE>
static __device__ __forceinline__ double advance_any(const bed_numbers &b, const bed_arrays &a, const bed_control &now,
                                                     const bed_grains &to, uint32_t i, const four &place,
                                                     const bed_rest &rest, const four &acceleration, const four &twirl,
                                                     real ended, real dt, const bed_shift &shift) {
  if constexpr (MORE >= BED_MORE)
    return advance_more(b, a, a.kept[now.home], a.grains[now.order], to, i, acceleration, twirl, ended, dt, shift);
  else {
    real drifted[3];
    const double square =
        advance(a.box, to, i, place, rest.velocity, rest.spin, acceleration, twirl, ended, dt, drifted);
    if constexpr (MORE == BED_WORKED) {
      const real x[3] = {to.place[i].x, to.place[i].y, to.place[i].z};
      count_lift(b, a.kept[now.home], i, rest.velocity.w, drifted, x);
    }
    return square;
  }
}

/* From accelerations that are known. */
template <int MORE>
static __global__ void __launch_bounds__(BED_THREADS)
    drift(bed_arrays a, real ended, real dt, unsigned k, bed_shift shift) {
  __shared__ unsigned long long fastest;
  after_previous();
  const bed_numbers &b = *a.numbers;
  const bed_control now = a.control[k & 1];
  const bed_grains &g = a.grains[now.order];
  double most = 0;
  if (threadIdx.x == 0) fastest = 0;
  __syncthreads();
  for (uint32_t i = blockIdx.x * BED_THREADS + threadIdx.x; i < b.n; i += gridDim.x * BED_THREADS) {
    const bed_rest rest = {g.velocity[i], g.spin[i], 0, 0};
    const double square =
        advance_any<MORE>(b, a, now, g, i, g.place[i], rest, g.acceleration[i], g.twirl[i], ended, dt, shift);
    most = square > most || !(square >= 0) ? square : most; /* NaN goes on */
  }
  tell_control(a, now, k);
  tell_fastest(a, most, &fastest, k);
}

/* ---- contacts ---- */

/* Contacts of a step of dt (0: as they are). `next` > 0: the step after it follows at once, into the other set;
 * otherwise accelerations are written. */
template <int SPRINGS, int FORM, int MORE>
static __device__ __forceinline__ void touch_grains(const bed_arrays &a, const bed_poses &poses, real dt, real next,
                                                    unsigned k, const bed_shift &shift) {
  __shared__ unsigned long long fastest;
  __shared__ bed_reader<SPRINGS> reader;
  after_previous();
  const bed_numbers &b = *a.numbers;
  const bed_box &box = a.box;
  const bed_control now = a.control[k & 1];
  bed_control then = now;
  if (next > 0) then.order ^= 1;
  tell_control(a, then, k);
  if (threadIdx.x == 0) fastest = 0;
  __syncthreads();
  bed_step step;
  step.dt = dt;
  step.edge = box.damped ? dt : 0;
  step.margin = step.edge * (real)(dt > 0 ? 0.5 * now.step / (double)dt : 0);
  step.most = (real)(now.step * 1.001);
  double square = 0;
  const uint32_t i = blockIdx.x * BED_THREADS + threadIdx.x;
  if (i < b.n) {
    const bed_grains &g = a.grains[now.order];
    const bed_kept &kept = a.kept[now.home];
    const bed_list &list = a.list[now.home];
    const uint32_t base = list.base[i / 32] + i % 32, count = list.count[i], room = box.room;
    const uint32_t *const neighbour = list.neighbour + base;
    uint32_t ahead = count > 0 ? __ldg(neighbour) : i, after = count > 1 ? __ldg(neighbour + 32) : i;
    seen_grain one = {};
    reader.ask(g, i);
    if (count > 0)
      reader.ask_neighbour(0, g, ahead, {list.spring + base, room});
    else
      reader.ask_rest(0, g, kept, i);
    bed_sum sum = {};
#pragma unroll 1
    for (uint32_t e = 0; e < count; e++) {
      const uint32_t j = ahead;
      const history<SPRINGS> past = {list.spring + base + 32 * e, room};
      seen_grain other = {};
      real spring[7] = {};
      ahead = after;
      after = e + 2 < count ? __ldg(neighbour + 32 * (e + 2)) : i;
      if (e + 1 < count)
        reader.ask_neighbour(e + 1, g, ahead, {past.at + 32, room});
      else
        reader.ask_rest(e + 1, g, kept, i);
      reader.take(g, i, &one);
      reader.take_neighbour(e, g, j, past, &other, spring);
      bed_meeting m;
      const int what =
          meet<SPRINGS, FORM, MORE>(b, a, g, kept.material, step, shift, i, j, one, other, false, spring, &m);
      if (what == BED_APART) continue;
      if (dt > 0) past.put(spring);
      if (what == BED_ENDED) {
        sum.dissipated += (double)m.lost;
        continue;
      }
      add_contact(&sum, m.c, m.r, SPRINGS, m.arm, m.lost);
      sum.virial += (double)m.virial;
      if constexpr (MORE >= BED_MORE) sum.work += m.work;
      sum.begun += (what & BED_BEGUN) != 0;
    }
    if constexpr (MORE >= BED_WALLS)
      gather_walls<SPRINGS, FORM == COLLISION_OWN ? FORM : -1, MORE, false>(b, a, poses, now, i, dt, step.edge,
                                                                            step.margin, &sum, nullptr, nullptr);
    const bed_rest rest = reader.take_rest(count, g, kept, i);
    reader.take(g, i, &one);
    const real m = one.velocity.w, r = one.place.w, inverse = 1 / ((real)0.4 * m * r * r);
    four acceleration = {sum.force[0] / m + box.gravity[0], sum.force[1] / m + box.gravity[1],
                         sum.force[2] / m + box.gravity[2], 0};
    if constexpr (MORE >= BED_MORE) add_outer(b, a, i, &acceleration);
    const four twirl = {sum.torque[0] * inverse, sum.torque[1] * inverse, sum.torque[2] * inverse, 0};
    if (dt > 0) {
      if (sum.dissipated != 0) kept.dissipated[i] = rest.dissipated + sum.dissipated;
      if (sum.virial != 0) kept.virial[i] = rest.virial + sum.virial;
      if (sum.begun != 0) kept.collisions[i] += sum.begun;
      if constexpr (MORE >= BED_WORKED)
        if (sum.work != 0) kept.work[i] += sum.work;
    }
    if (next > 0) {
      square = advance_any<MORE>(b, a, now, a.grains[now.order ^ 1], i, one.place, rest, acceleration, twirl, dt, next,
                                 shift);
    } else {
      g.acceleration[i] = acceleration;
      g.twirl[i] = twirl;
    }
  }
  if (next > 0) tell_fastest(a, square, &fastest, k);
}

template <int SPRINGS, int FORM, int MORE>
static __global__ void __launch_bounds__(BED_THREADS, sizeof(real) > 4   ? 1
                                                      : MORE == BED_BARE ? 3
                                                                         : 2)
    contacts(bed_arrays a, const __grid_constant__ bed_poses poses, real dt, real next, unsigned k, bed_shift shift) {
  touch_grains<SPRINGS, FORM, MORE>(a, poses, dt, next, k, shift);
}

#endif
