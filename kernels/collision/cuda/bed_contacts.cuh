/* Contacts of a grain with others and with walls: cpu_forces.h, a thread a grain. `real` is defined before this is
 * included. */
#ifndef COLLISION_CUDA_BED_CONTACTS_CUH
#define COLLISION_CUDA_BED_CONTACTS_CUH

#include "kernels/collision/cuda/bed_search.cuh"

/* Sums of one grain. The virial is of half of each contact of grains, and of walls not at all. */
struct bed_sum {
  real force[3], torque[3];
  double dissipated, virial;
  uint32_t begun;
};

/* What an observation wants beside. */
struct bed_look {
  double elastic, stress[6], overlap, touching, touching_walls;
};

static __device__ void add_contact(bed_sum *sum, const contact_state &c, const contact_result &r, bool turns, real arm,
                                   real share) {
  real torque[3];
  for (int k = 0; k < 3; k++) sum->force[k] += r.force[k];
  sum->dissipated += (double)(share * r.dissipated);
  if (!turns) return;
  contact_cross(c.normal, r.force, torque);
  for (int k = 0; k < 3; k++) sum->torque[k] += r.couple[k] - arm * torque[k];
}

static __device__ void look_at(bed_look *at, const contact_state &c, const contact_result &r, real distance,
                               double smaller) {
  at->elastic += 0.5 * (double)r.elastic;
  at->touching += 1;
  at->overlap = fmax(at->overlap, (double)c.overlap / smaller);
  for (int k = 0; k < 3; k++) {
    at->stress[k] += 0.5 * (double)(distance * c.normal[k] * r.force[k]);
    const int a = k == 2 ? 2 : k, b = k == 2 ? 0 : k + 1;
    at->stress[3 + k] += 0.5 * (double)(distance * c.normal[a] * r.force[b]);
  }
}

/* Energy that a contact which has ended gives up: linear law only, as with Hertz springs have weakened to 0. */
template <int SPRINGS>
static __device__ double given_up(int form, const contact_law &law, real mass, real radius, const real *spring) {
  real slide = 0, turn = 0;
  for (int k = 0; k < 3 && k < SPRINGS; k++) slide += spring[k] * spring[k];
  for (int k = 3; k < SPRINGS; k++) turn += spring[k] * spring[k];
  if (form == COLLISION_HERTZ) return 0;
  const real kt = law.tangential * (law.k0 + law.km * mass);
  return (double)((real)0.5 * kt * (slide + turn * radius * radius));
}

template <int SPRINGS> struct history {
  real *at;
  size_t stride;
  __device__ void get(real *spring) const {
#pragma unroll
    for (int k = 0; k < SPRINGS; k++) spring[k] = at[(size_t)k * stride];
  }
  __device__ void put(const real *spring) const {
#pragma unroll
    for (int k = 0; k < SPRINGS; k++) at[(size_t)k * stride] = spring[k];
  }
};

template <int SPRINGS> static __device__ bool any_of(const real *spring) {
  bool any = false;
#pragma unroll
  for (int k = 0; k < SPRINGS; k++) any = spring[k] != 0 || any;
  return any;
}

static __device__ void take_three(real out[3], const four &from) { out[0] = from.x, out[1] = from.y, out[2] = from.z; }

/* What no thread of the launch writes. */
static __device__ __forceinline__ four constant(const four *from) {
  four out;
  if constexpr (sizeof(real) == 4) {
    const float4 v = __ldg((const float4 *)from);
    out = {(real)v.x, (real)v.y, (real)v.z, (real)v.w};
  } else {
    const double2 v = __ldg((const double2 *)from), w = __ldg((const double2 *)from + 1);
    out = {(real)v.x, (real)v.y, (real)w.x, (real)w.y};
  }
  return out;
}

/* Quotients of one divisor, rounded as the operator's: its own sequence for numbers far from the ends of the range,
 * which `sound` says that these are, with the reciprocal taken once. */
struct bed_divisor {
  real of, inverse;
  bool sound;
};

static __device__ __forceinline__ bed_divisor divisor(real of, bool sound) {
  bed_divisor out = {of, 0, sound};
  if constexpr (sizeof(real) == 4) {
    float first;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(first) : "f"((float)of));
    out.inverse = __fmaf_rn(first, __fmaf_rn(-(float)of, first, 1.0f), first);
  }
  return out;
}

static __device__ __forceinline__ real quotient(real a, const bed_divisor &by) {
  if constexpr (sizeof(real) == 4) {
    if (by.sound) {
      const float first = __fmul_rn((float)a, (float)by.inverse);
      return __fmaf_rn((float)by.inverse, __fmaf_rn(-(float)by.of, first, (float)a), first);
    }
  }
  return a / by.of;
}

/* Whether this length is far from the ends of single precision's range. */
static __device__ __forceinline__ bool middling(real x) { return x > (real)0x1p-30 && x < (real)0x1p30; }

/* A grain as contacts see it. */
template <int SPRINGS> struct seen_grain {
  four place, velocity, spin;
  __device__ __forceinline__ void read(const bed_grains &g, uint32_t i) {
    place = constant(g.place + i);
    if (SPRINGS == 0) return;
    velocity = constant(g.seen + i);
    spin = constant(g.turned + i);
  }
};

/* Neighbours of grain i. FORM: of the law, -1: b.form. dt 0: as they are, without bringing history up to date; LOOK:
 * and what `at` wants. `most`: by which any two may have come nearer in the step. */
template <int SPRINGS, int FORM, bool LOOK>
static __device__ void gather_pairs(const bed_numbers &b, const bed_arrays &a, int order, uint32_t i, real dt,
                                    real edge, real margin, real most, bed_sum *sum, bed_look *at) {
  const bed_grains &g = a.grains[order];
  const bed_list &list = a.list[order];
  const int form = FORM < 0 ? b.form : FORM;
  const bool materials = b.materials > 1;
  const uint32_t base = list.base[i / 32] + i % 32, count = list.count[i], room = b.room;
  const uint32_t *const neighbour = list.neighbour + base;
  seen_grain<SPRINGS> one, other;
  one.read(g, i);
  if (SPRINGS == 0) one.velocity = constant(g.seen + i);
  const four p = one.place, vi = one.velocity;
  const real own_mass = vi.w * vi.w / (vi.w + vi.w), own_radius = p.w * p.w / (p.w + p.w);
  contact_law law = a.law[0];
  /* Differences of this place and another are then 0 or above 2^-54. */
  bool sound = middling(p.w);
  const real at_once[3] = {p.x, p.y, p.z};
  for (int s = 0; s < 3; s++) sound = sound && middling((real)fabs(at_once[s])) && middling(a.box.size[s]);
  const bed_divisor own_both = divisor(p.w + p.w, sound);
  uint32_t j, next = count > 0 ? __ldg(neighbour) : i;
#pragma unroll 1
  for (uint32_t k = 0; k < count; k++) {
    j = next;
    real d[3], spring[7] = {};
    const history<SPRINGS> kept = {list.spring + base + 32 * k, room};
    next = k + 1 < count ? __ldg(neighbour + 32 * (k + 1)) : i;
    other.read(g, j);
    kept.get(spring);
    const four q = other.place;
    contact_state c = {};
    apart(a.box, p, q, d);
    const real square = contact_dot(d, d), both = p.w + q.w, reach = both + margin;
    const bool near = square < reach * reach;
    const bool any = any_of<SPRINGS>(spring);
    if (!near && !any) continue;
    const four vj = SPRINGS == 0 ? constant(g.seen + j) : other.velocity;
    if (materials) law = a.law[g.material[i] * COLLISION_MATERIALS_MAX + g.material[j]];
    c.mass = own_mass;
    c.radius = own_radius;
    if (vj.w != vi.w) c.mass = vi.w * vj.w / (vi.w + vj.w);
    if (q.w != p.w) c.radius = p.w * q.w / both;
    real distance = 0, approach = 0;
    bool touch = false;
    if (near) {
      distance = (real)sqrt(square);
      c.overlap = both - distance;
      if (sound && middling(distance)) {
        const bed_divisor by = divisor(distance, true);
        for (int s = 0; s < 3; s++) c.normal[s] = quotient(d[s], by);
      } else {
        for (int s = 0; s < 3; s++) c.normal[s] = distance > 0 ? d[s] / distance : 0;
      }
      c.speed[0] = vi.x - vj.x, c.speed[1] = vi.y - vj.y, c.speed[2] = vi.z - vj.z;
      approach = contact_dot(c.speed, c.normal);
      touch = c.overlap > 0 || (edge > 0 && c.overlap > -(real)0.5 * edge * (real)fabs(approach));
    }
    if (!touch) {
      if (!any || !(dt > 0)) continue;
      sum->dissipated += 0.5 * given_up<SPRINGS>(form, law, c.mass, c.radius, spring);
      const real none[7] = {};
      kept.put(none);
      continue;
    }
    real arm = 0;
    if (SPRINGS > 0) {
      real part, wi[3], wj[3];
      if (sound && q.w == p.w && middling(distance)) {
        part = quotient(distance, own_both);
        arm = quotient(distance * p.w, own_both);
      } else {
        part = distance / both;
        arm = distance * p.w / both;
      }
      take_three(wi, one.spin);
      take_three(wj, other.spin);
      for (int s = 0; s < 3; s++) {
        c.surface[s] = part * (p.w * wi[s] + q.w * wj[s]);
        c.turning[s] = wi[s] - wj[s];
      }
    }
    real gone[3] = {0, 0, 0};
    const bool may_begin = dt > 0 && approach < 0 && c.overlap > 0 && c.overlap <= most;
    if (may_begin || form != COLLISION_HERTZ) {
      const four ui = constant(g.velocity + i), uj = constant(g.velocity + j);
      gone[0] = ui.x - uj.x, gone[1] = ui.y - uj.y, gone[2] = ui.z - uj.z;
    }
    c.halfway = contact_dot(gone, c.normal);
    contact_result r;
    contact_force(&law, form, SPRINGS, &c, dt, edge, spring, &r);
    if (dt > 0) kept.put(spring);
    add_contact(sum, c, r, SPRINGS > 0, arm, (real)0.5);
    if (LOOK && c.overlap > 0) look_at(at, c, r, distance, (double)(p.w < q.w ? p.w : q.w));
    if (dt == 0) continue;
    sum->virial += (double)((real)0.5 * distance * r.normal_force * dt);
    /* It began in this step: they stood apart before it. */
    if (may_begin) {
      real then[3];
      for (int s = 0; s < 3; s++) then[s] = d[s] - gone[s] * dt;
      if (contact_dot(then, then) >= both * both) sum->begun++;
    }
  }
}

/* Walls that grain i meets. `wall`: what it does to them is added there. */
template <int SPRINGS, bool LOOK>
static __device__ void gather_walls(const bed_numbers &b, const bed_arrays &a, const bed_poses &poses, int order,
                                    uint32_t i, real dt, real edge, bed_sum *sum, bed_look *at, double *wall_force) {
  const bed_grains &g = a.grains[order];
  const four p = g.place[i], v = g.seen[i], u = g.velocity[i];
  const double x[3] = {(double)p.x, (double)p.y, (double)p.z};
  real vi[3], ui[3], turned[3];
  take_three(vi, v);
  take_three(ui, u);
  take_three(turned, g.turned[i]);
#pragma unroll 1
  for (int w = 0; w < b.walls; w++) {
    const collision_wall &wall = a.wall[w];
    collision_touch touch[COLLISION_TOUCHES_MAX];
    if (wall_touch(&wall, &poses.pose[w], x, INFINITY, touch) == 0) continue;
    const real distance = (real)touch[0].distance;
    const contact_law &law = a.law[g.material[i] * COLLISION_MATERIALS_MAX + wall.material];
    const history<SPRINGS> kept = {g.wall_spring + (size_t)wall.first * b.n + i, b.n};
    real spring[7] = {}, gone[3];
    kept.get(spring);
    const bool any = any_of<SPRINGS>(spring);
    contact_state c = {};
    c.overlap = p.w - distance;
    c.mass = v.w;
    c.radius = p.w;
    for (int k = 0; k < 3; k++) {
      c.normal[k] = (real)touch[0].normal[k];
      c.speed[k] = vi[k] - (real)touch[0].velocity[k];
      gone[k] = ui[k] - (real)touch[0].velocity[k];
    }
    const real approach = contact_dot(c.speed, c.normal);
    if (!(c.overlap > 0 || (edge > 0 && c.overlap > -(real)0.5 * edge * (real)fabs(approach)))) {
      if (!any || !(dt > 0)) continue;
      sum->dissipated += given_up<SPRINGS>(b.form, law, c.mass, c.radius, spring);
      const real none[7] = {};
      kept.put(none);
      continue;
    }
    for (int k = 0; k < 3 && SPRINGS > 0; k++) {
      c.turning[k] = turned[k];
      c.surface[k] = distance * c.turning[k];
    }
    c.halfway = contact_dot(gone, c.normal);
    contact_result r;
    contact_force(&law, b.form, SPRINGS, &c, dt, edge, spring, &r);
    if (dt > 0) kept.put(spring);
    add_contact(sum, c, r, SPRINGS > 0, distance, 1);
    if (!LOOK || !(c.overlap > 0)) continue;
    at->elastic += (double)r.elastic;
    at->touching_walls += 1;
    at->overlap = fmax(at->overlap, (double)(c.overlap / p.w));
    for (int k = 0; k < 3; k++) wall_force[3 * wall.number + k] -= (double)r.force[k];
  }
}

/* ---- the launches of a step ---- */

/* The second half of the step before of `ended` (0: it was taken), the first half of the velocities' step, and the
 * positions'. dt 0: none, and contacts see what is. */
static __global__ void __launch_bounds__(BED_THREADS) drift(bed_arrays a, real ended, real dt, unsigned k) {
  __shared__ unsigned long long fastest;
  after_previous();
  const bed_numbers &b = *a.numbers;
  const bed_control now = a.control[k & 1];
  const bed_grains &g = a.grains[now.order];
  const real half = (real)0.5 * dt, rest = (real)0.5 * ended;
  double most = 0;
  if (threadIdx.x == 0) fastest = 0;
  __syncthreads();
  for (uint32_t i = blockIdx.x * BED_THREADS + threadIdx.x; i < b.n; i += gridDim.x * BED_THREADS) {
    const four v = g.velocity[i], s = g.spin[i];
    const four acceleration = g.acceleration[i], twirl = g.twirl[i], place = g.place[i];
    real x[3], vs[3], ss[3], as[3], ts[3];
    take_three(x, place);
    take_three(vs, v);
    take_three(ss, s);
    take_three(as, acceleration);
    take_three(ts, twirl);
    double square = 0;
    real seen[3], turned[3];
    for (int c = 0; c < 3; c++) {
      const real low = (real)b.low[c], high = (real)(b.low[c] + b.size[c]);
      vs[c] += rest * as[c];
      ss[c] += rest * ts[c];
      vs[c] += half * as[c];
      ss[c] += half * ts[c];
      x[c] += vs[c] * dt;
      if (b.periodic[c] && x[c] < low) x[c] += (real)b.size[c];
      if (b.periodic[c] && x[c] >= high) x[c] -= (real)b.size[c];
      seen[c] = vs[c] + half * as[c];
      turned[c] = ss[c] + half * ts[c];
      square += (double)(vs[c] * vs[c]);
    }
    most = square > most || !(square >= 0) ? square : most; /* NaN goes on */
    g.place[i] = {x[0], x[1], x[2], place.w};
    g.velocity[i] = {vs[0], vs[1], vs[2], v.w};
    g.spin[i] = {ss[0], ss[1], ss[2], s.w};
    g.seen[i] = {seen[0], seen[1], seen[2], v.w};
    g.turned[i] = {turned[0], turned[1], turned[2], 0};
  }
  /* Bits of positive numbers are in their order, and NaN is above them all. */
  unsigned long long bits = (unsigned long long)__double_as_longlong(most) & 0x7fffffffffffffffull;
  for (int step = 16; step > 0; step /= 2) bits = max(bits, __shfl_xor_sync(~0u, bits, step));
  if (threadIdx.x % 32 == 0) atomicMax(&fastest, bits);
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    a.control[(k + 1) & 1] = now;
    a.motion[(k + 1) & 3] = 0;
  }
  if (threadIdx.x == 0 && fastest > 0) atomicMax(&a.motion[k & 3], fastest);
}

/* Accelerations; dt 0: contacts as they are. */
template <int SPRINGS, int FORM, bool WALLS>
static __global__ void __launch_bounds__(BED_THREADS, WALLS || sizeof(real) > 4 ? 1 : 3)
    contacts(bed_arrays a, const __grid_constant__ bed_poses poses, real dt, unsigned k) {
  after_previous();
  const bed_numbers &b = *a.numbers;
  const bed_control now = a.control[k & 1];
  const bed_grains &g = a.grains[now.order];
  const real edge = b.damped ? dt : 0, margin = edge * (real)(dt > 0 ? 0.5 * now.step / (double)dt : 0);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    a.control[(k + 1) & 1] = now;
    a.motion[(k + 1) & 3] = 0;
  }
  const real most = (real)(now.step * 1.001);
  for (uint32_t i = blockIdx.x * BED_THREADS + threadIdx.x; i < b.n; i += gridDim.x * BED_THREADS) {
    bed_sum sum = {};
    gather_pairs<SPRINGS, FORM, false>(b, a, now.order, i, dt, edge, margin, most, &sum, nullptr);
    if (WALLS) gather_walls<SPRINGS, false>(b, a, poses, now.order, i, dt, edge, &sum, nullptr, nullptr);
    const real m = g.seen[i].w, r = g.place[i].w, inverse = 1 / ((real)0.4 * m * r * r);
    const four acceleration = {sum.force[0] / m + (real)b.gravity[0], sum.force[1] / m + (real)b.gravity[1],
                               sum.force[2] / m + (real)b.gravity[2], 0};
    const four twirl = {sum.torque[0] * inverse, sum.torque[1] * inverse, sum.torque[2] * inverse, 0};
    g.acceleration[i] = acceleration;
    g.twirl[i] = twirl;
    if (!(dt > 0)) continue;
    if (sum.dissipated != 0) g.dissipated[i] += sum.dissipated;
    if (sum.virial != 0) g.virial[i] += sum.virial;
    if (sum.begun != 0) g.collisions[i] += sum.begun;
  }
}

#endif
