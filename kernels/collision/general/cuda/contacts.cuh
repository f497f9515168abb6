/* Contacts of two grains: cpu_forces.h. `real` is defined before this is included. */
#ifndef COLLISION_CUDA_BED_PAIR_CUH
#define COLLISION_CUDA_BED_PAIR_CUH

#include "kernels/collision/general/cuda/search.cuh"

/* Sums of one grain. The virial is of half of each contact of grains, and of walls not at all. */
struct bed_sum {
  real force[3], torque[3];
  double dissipated, virial, work;
  uint32_t begun;
};

/* What an observation wants beside. */
struct bed_look {
  double elastic, stress[6], overlap, touching, touching_walls;
};

/* `lost`: energy. */
static __device__ void add_contact(bed_sum *sum, const contact_state &c, const contact_result &r, int springs, real arm,
                                   real lost) {
  real torque[3];
  for (int k = 0; k < 3; k++) sum->force[k] += r.force[k];
  sum->dissipated += (double)lost;
  if (springs == 0) return;
  contact_cross(c.normal, r.force, torque);
  for (int k = 0; k < 3; k++)
    if (springs > 3)
      sum->torque[k] += r.couple[k] - arm * torque[k];
    else
      sum->torque[k] -= arm * torque[k]; /* the same to the bit: no couple */
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

/* A zero has a sign too. */
template <int SPRINGS> static __device__ bool all_clear(const real *spring) {
  bool clear = true;
#pragma unroll
  for (int k = 0; k < SPRINGS; k++)
    if constexpr (sizeof(real) == 4)
      clear = __float_as_uint((float)spring[k]) == 0 && clear;
    else
      clear = __double_as_longlong((double)spring[k]) == 0 && clear;
  return clear;
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

/* A grain as contacts see it. */
struct seen_grain {
  four place, velocity, spin;
};

template <int SPRINGS> static __device__ __forceinline__ seen_grain seen_at(const bed_grains &g, uint32_t i) {
  seen_grain out = {};
  out.place = constant(g.place + i);
  out.velocity = constant(g.seen + i);
  if (SPRINGS > 0) out.spin = constant(g.turned + i);
  return out;
}

/* How far a step goes. edge: over which contacts that begin or end are averaged; most: by which any two may have come
 * nearer in the step. dt 0: contacts as they are, without bringing history up to date. */
struct bed_step {
  real dt, edge, margin, most;
};

#ifdef BED_OWN
/* A law of the scenario's own, which `own_law` computes. `energy`: also what it holds, its work at rest from no overlap
 * on, by Gauss and Legendre. */
static __device__ __forceinline__ void ask_law(contact_state *c, real approach, bool energy) {
  const double node[8] = {0.01985507175123188, 0.10166676129318664, 0.2372337950418355, 0.4082826787521751,
                          0.5917173212478249,  0.7627662049581645,  0.8983332387068134, 0.9801449282487681};
  const double weight[8] = {0.05061426814518813, 0.11119051722668723, 0.15685332293894363, 0.1813418916891810,
                            0.1813418916891810,  0.15685332293894363, 0.11119051722668723, 0.05061426814518813};
  const double overlap = (double)c->overlap, radius = (double)c->radius, mass = (double)c->mass;
  double force, held = 0;
  own_law(overlap, -(double)approach, radius, mass, &force);
  c->own = (real)force;
  own_law(overlap, 0, radius, mass, &force);
  c->still = (real)force;
  for (int k = 0; k < 8 && energy; k++) {
    own_law(overlap * node[k], 0, radius, mass, &force);
    held += weight[k] * overlap * force;
  }
  c->held = (real)held;
}
#else
static __device__ __forceinline__ void ask_law(contact_state *, real, bool) {}
#endif

enum { BED_APART = 0, BED_ENDED = 1, BED_TOUCH = 2, BED_BEGUN = 4 };

/* A pair, as its first grain sees it. */
struct bed_meeting {
  contact_state c;
  contact_result r;
  real distance, arm, lost; /* lost, virial, work: half of the pair's */
  real virial;
  double work; /* only with BED_MORE */
};

/* The law of grains i and j; several materials are asked for with BED_WALLS at least. */
template <int MORE>
static __device__ __forceinline__ contact_law law_of(const bed_arrays &a, const uint32_t *material, uint32_t i,
                                                     uint32_t j) {
  if constexpr (MORE >= BED_WALLS)
    if (a.usual.materials) return a.law[material[i] * COLLISION_MATERIALS_MAX + material[j]];
  return a.usual.law;
}

/* They part, if they had met. */
template <int SPRINGS>
static __device__ __forceinline__ int part_from(const contact_law &law, int form, const bed_step &step, real mass,
                                                real radius, real *spring, bed_meeting *m) {
  if (!(step.dt > 0) || !any_of<SPRINGS>(spring)) return BED_APART;
  m->lost = (real)0.5 * contact_given_up(&law, form, SPRINGS, mass, radius, spring);
  for (int s = 0; s < SPRINGS; s++) spring[s] = 0;
  return BED_ENDED;
}

/* Grains i and j. FORM: of the law, -1: b.form. Returns what they do; `spring` is new unless they are apart. `energy`:
 * a law of the scenario's own has to say what it holds. */
template <int SPRINGS, int FORM, int MORE>
static __device__ __forceinline__ int meet(const bed_numbers &b, const bed_arrays &a, const bed_grains &g,
                                           const uint32_t *material, const bed_step &step, const bed_shift &shift,
                                           uint32_t i, uint32_t j, const seen_grain &one, const seen_grain &other,
                                           bool energy, real *spring, bed_meeting *m) {
  const int form = FORM < 0 ? b.form : FORM;
  const four p = one.place, q = other.place, vi = one.velocity, vj = other.velocity;
  contact_state &c = m->c;
  real d[3], jump = 0;
  c = {};
  if constexpr (MORE >= BED_MORE)
    jump = (real)apart_sheared(a.box, shift.offset, p, q, d) * shift.jump;
  else
    apart(a.box, p, q, d);
  const real square = contact_dot(d, d), both = p.w + q.w, reach = both + step.margin;
  const bool near = square < reach * reach;
  if (!near && !any_of<SPRINGS>(spring)) return BED_APART;
  const contact_law law = law_of<MORE>(a, material, i, j);
  const bool alike = p.w == a.usual.radius && q.w == p.w && vi.w == a.usual.mass && vj.w == vi.w;
  c.mass = a.usual.reduced_mass;
  c.root_mass = a.usual.root_mass;
  c.radius = a.usual.reduced_radius;
  if (!alike) {
    c.mass = vi.w * vj.w / (vi.w + vj.w);
    c.root_mass = (real)sqrt(c.mass);
    c.radius = p.w * q.w / both;
  }
  if (!near) return part_from<SPRINGS>(law, form, step, c.mass, c.radius, spring, m);
  real part, inverse;
  if (alike && middling(square)) {
    m->distance = root_of(square);
    inverse = inverse_of(m->distance);
    part = quotient_of(m->distance, a.usual.both, a.usual.inverse_both);
  } else {
    m->distance = (real)sqrt(square);
    inverse = m->distance > 0 ? 1 / m->distance : 0;
    part = m->distance / both;
  }
  m->arm = part * p.w;
  c.overlap = both - m->distance;
  for (int s = 0; s < 3; s++) c.normal[s] = d[s] * inverse;
  c.speed[0] = vi.x - vj.x, c.speed[1] = vi.y - vj.y, c.speed[2] = vi.z - vj.z;
  if constexpr (MORE >= BED_MORE) c.speed[0] -= jump;
  const real approach = contact_dot(c.speed, c.normal);
  if (!(c.overlap > 0 || (step.edge > 0 && c.overlap > -(real)0.5 * step.edge * (real)fabs(approach))))
    return part_from<SPRINGS>(law, form, step, c.mass, c.radius, spring, m);
  if (SPRINGS > 0) {
    real wi[3], wj[3];
    take_three(wi, one.spin);
    take_three(wj, other.spin);
    for (int s = 0; s < 3; s++) {
      c.surface[s] = part * (p.w * wi[s] + q.w * wj[s]);
      c.turning[s] = wi[s] - wj[s];
    }
  }
  /* With which they came here; Hertz's law asks for it only where they may have begun in this step. */
  const bool may_begin = step.dt > 0 && approach < 0 && c.overlap > 0 && c.overlap <= step.most;
  int what = BED_TOUCH;
  if (may_begin || form != COLLISION_HERTZ) {
    const four ui = constant(g.velocity + i), uj = constant(g.velocity + j);
    real gone[3] = {ui.x - uj.x, ui.y - uj.y, ui.z - uj.z}, then[3];
    if constexpr (MORE >= BED_MORE) gone[0] -= jump;
    c.halfway = contact_dot(gone, c.normal);
    for (int s = 0; s < 3; s++) then[s] = d[s] - gone[s] * step.dt;
    if (may_begin && contact_dot(then, then) >= both * both) what |= BED_BEGUN;
  }
  if constexpr (FORM == COLLISION_OWN) ask_law(&c, approach, energy);
  contact_force(&law, form, SPRINGS, &c, step.dt, step.edge, spring, &m->r);
  if constexpr (MORE >= BED_MORE) m->work = 0.5 * (double)(m->r.force[0] * jump * step.dt); /* the image moves */
  m->lost = (real)0.5 * m->r.dissipated;
  m->virial = (real)0.5 * m->distance * m->r.normal_force * step.dt;
  return what;
}

/* Contacts of grain i as they are. */
template <int SPRINGS, int FORM, int MORE>
static __device__ void look_at_pairs(const bed_numbers &b, const bed_arrays &a, const bed_control &now,
                                     const bed_shift &shift, uint32_t i, bed_look *at) {
  const bed_grains &g = a.grains[now.order];
  const bed_list &list = a.list[now.home];
  const uint32_t *const material = a.kept[now.home].material;
  const seen_grain one = seen_at<SPRINGS>(g, i);
  const bed_step step = {};
  const uint32_t base = list.base[i / 32] + i % 32;
#pragma unroll 1
  for (uint32_t k = 0; k < list.count[i]; k++) {
    const uint32_t e = base + 32 * k, j = list.neighbour[e];
    const seen_grain other = seen_at<SPRINGS>(g, j);
    real spring[7] = {};
    history<SPRINGS>{list.spring + e, b.room}.get(spring);
    bed_meeting m;
    const int what = meet<SPRINGS, FORM, MORE>(b, a, g, material, step, shift, i, j, one, other, true, spring, &m);
    if ((what & BED_TOUCH) && m.c.overlap > 0)
      look_at(at, m.c, m.r, m.distance, (double)(one.place.w < other.place.w ? one.place.w : other.place.w));
  }
}

#endif
