/* Contacts of two grains, as templates on the real type. CPU counterpart: cpu/contacts.inc, whose results agree within
 * rounding. */
#ifndef COLLISION_GENERAL_CUDA_CONTACTS_CUH
#define COLLISION_GENERAL_CUDA_CONTACTS_CUH

#include "kernels/collision/general/cuda/search.cuh"

/* Sums over the contacts of one grain. The virial holds half of each contact of two grains, and no contact with
 * walls. */
template <typename real> struct contact_sum {
  real force[3], torque[3];
  double dissipated, virial, work;
  double heat, wall_heat; /* over time and conductance: by all contacts, by walls */
};

/* Quantities of a grain's contacts that only observations need. */
struct contact_observables {
  double elastic, stress[6], overlap, touching, touching_walls;
};

/* Adds a contact to a grain's sums. arm: distance of the contact from the centre; dissipated: the grain's share. */
template <typename real>
static __device__ void add_contact(contact_sum<real> *sum, const contact_state<real> &c, const contact_result<real> &r,
                                   int springs, real arm, real dissipated) {
  real torque[3];
  for (int k = 0; k < 3; k++) sum->force[k] += r.force[k];
  sum->dissipated += (double)dissipated;
  if (springs == 0) return;
  contact_cross(c.normal, r.force, torque);
  for (int k = 0; k < 3; k++)
    if (springs > 3)
      sum->torque[k] += r.couple[k] - arm * torque[k];
    else
      sum->torque[k] -= arm * torque[k]; /* equal to the bit, because couple is 0 */
}

template <typename real>
static __device__ void observe_contact(contact_observables *at, const contact_state<real> &c,
                                       const contact_result<real> &r, real distance, double smaller) {
  at->elastic += 0.5 * (double)r.elastic;
  at->touching += 1;
  at->overlap = fmax(at->overlap, (double)c.overlap / smaller);
  for (int k = 0; k < 3; k++) {
    at->stress[k] += 0.5 * (double)(distance * c.normal[k] * r.force[k]);
    const int a = k, b = (k + 1) % 3;
    at->stress[3 + k] += 0.5 * (double)(distance * c.normal[a] * r.force[b]);
  }
}

template <int SPRINGS, typename real> struct history {
  real *at;
  size_t stride;
  __device__ void load(real *spring) const {
#pragma unroll
    for (int k = 0; k < SPRINGS; k++) spring[k] = at[(size_t)k * stride];
  }
  __device__ void store(const real *spring) const {
#pragma unroll
    for (int k = 0; k < SPRINGS; k++) at[(size_t)k * stride] = spring[k];
  }
};

template <int SPRINGS, typename real> static __device__ bool any_of(const real *spring) {
  bool any = false;
#pragma unroll
  for (int k = 0; k < SPRINGS; k++) any = spring[k] != 0 || any;
  return any;
}

/* Whether all bits are 0: a negative zero counts as history. */
template <int SPRINGS, typename real> static __device__ bool all_clear(const real *spring) {
  bool clear = true;
#pragma unroll
  for (int k = 0; k < SPRINGS; k++)
    if constexpr (sizeof(real) == 4)
      clear = __float_as_uint((float)spring[k]) == 0 && clear;
    else
      clear = __double_as_longlong((double)spring[k]) == 0 && clear;
  return clear;
}

template <typename real> static __device__ void copy_xyz(real out[3], const vec4<real> &from) {
  out[0] = from.x, out[1] = from.y, out[2] = from.z;
}

/* Loads through the read-only cache: no thread of the launch writes this memory. */
template <typename real> static __device__ __forceinline__ vec4<real> load_constant(const vec4<real> *from) {
  vec4<real> out;
  if constexpr (sizeof(real) == 4) {
    const float4 v = __ldg((const float4 *)from);
    out = {(real)v.x, (real)v.y, (real)v.z, (real)v.w};
  } else {
    const double2 v = __ldg((const double2 *)from), w = __ldg((const double2 *)from + 1);
    out = {(real)v.x, (real)v.y, (real)w.x, (real)w.y};
  }
  return out;
}

/* A grain with its predicted velocity and spin, as contacts use it. */
template <typename real> struct predicted_grain { vec4<real> position, velocity, spin; };

template <int SPRINGS, typename real>
static __device__ __forceinline__ predicted_grain<real> predicted_at(const general_grains<real> &g, uint32_t i) {
  predicted_grain<real> out = {};
  out.position = load_constant(g.position + i);
  out.velocity = load_constant(g.v_pred + i);
  if (SPRINGS > 0) out.spin = load_constant(g.w_pred + i);
  return out;
}

/* margin: gap up to which a contact may act in a step; most: by how much two grains may have come nearer in it. */
template <typename real> struct step_bounds { real margin, most; };

/* Step of length dt; 0: contacts as they are, without advancing their history. edge: interval over which a contact that
 * begins or ends is averaged (contact_force). */
template <typename real> struct step_context {
  real dt, edge;
  const step_bounds<real> *bounds;
  const general_mobility *mobility; /* of the grains; with clumps */
};

/* The force law that a kernel has code for: its collision_force, or -1 for the run's own choice, general_numbers.form.
 * A custom law (see laws.c) has form COLLISION_CUSTOM and a function that returns the normal force. */
template <int FORM> struct built_in_law {
  static constexpr int form = FORM;
  static constexpr bool named = false, by_speed = false; /* by_speed: with Law::restitution(speed) */
};
/* The same for runs in which pairs of grains only roll, or only twist, with a spring. */
template <int FORM, int TURNS> struct turning_law : built_in_law<FORM> {};
/* Law with the laws of models.inc: general_numbers.models. */
struct named_law {
  static constexpr int form = -1;
  static constexpr bool named = true, by_speed = false, heats = true;
  static __device__ collision_models models(const general_numbers &b) { return b.models; }
};
/* The same for runs with these laws alone and without heat, so that the compiler leaves out the rest. */
template <int FORM, int ROLLING, int COHESION> struct fixed_law {
  static constexpr int form = FORM;
  static constexpr bool named = true, by_speed = false, heats = false;
  static __device__ constexpr collision_models models(const general_numbers &) {
    return {COLLISION_CONSERVING, ROLLING, COLLISION_NO_TURNING, COHESION};
  }
};

template <typename Law> inline constexpr bool fixed_models = false;
template <int FORM, int ROLLING, int COHESION>
inline constexpr bool fixed_models<fixed_law<FORM, ROLLING, COHESION>> = true;

/* Springs beside the tangential one that a kernel has code for. */
template <typename Law> inline constexpr int law_turns = TURNS_ANY;
template <int FORM, int TURNS> inline constexpr int law_turns<turning_law<FORM, TURNS>> = TURNS;
template <int FORM, int ROLLING, int COHESION>
inline constexpr int law_turns<fixed_law<FORM, ROLLING, COHESION>> =
    ROLLING == COLLISION_NO_TURNING ? TURNS_ANY : TURNS_ROLLING;

/* History of an entry of a list; spring_at says where its numbers lie. The springs that Law has not (law_turns) are 0
 * and are neither read nor written. */
template <int SPRINGS, typename Law, typename real> struct pair_history {
  static constexpr bool rolls = SPRINGS == 7 && law_turns<Law> == TURNS_ROLLING;
  static constexpr bool twists = SPRINGS == 7 && law_turns<Law> == TURNS_TWISTING;
  static constexpr int numbers = rolls ? 6 : twists ? 4 : SPRINGS;     /* that are read and written */
  static constexpr int groups = numbers / 4, paired = numbers / 2 * 2; /* paired: in groups and the pair behind them */
  real *spring;
  uint32_t room, entry;
  __device__ vec4<real> *group(int q) const { return (vec4<real> *)spring + (size_t)q * room + entry; }
  __device__ vec2<real> *pair() const { return (vec2<real> *)(spring + (size_t)(4 * groups) * room) + entry; }
  __device__ real *last() const { return spring + (size_t)paired * room + entry; } /* of an odd number */
  __device__ void load(real *out) const {
#pragma unroll
    for (int q = 0; q < groups; q++) spread(*group(q), q, out);
    if (paired > 4 * groups) spread(*pair(), out);
    if (numbers > paired) out[paired] = *last();
  }
  __device__ void store(const real *from) const {
#pragma unroll
    for (int q = 0; q < groups; q++)
      *group(q) = {from[4 * q], from[4 * q + 1], from[4 * q + 2], from[twists ? 6 : 4 * q + 3]};
    if (paired > 4 * groups) *pair() = {from[4 * groups], from[4 * groups + 1]};
    if (numbers > paired) *last() = from[paired];
  }
  static __device__ void spread(const vec2<real> &two, real *out) {
    out[4 * groups] = two.x, out[4 * groups + 1] = two.y;
  }
  static __device__ void spread(const vec4<real> &four, int q, real *out) {
    out[4 * q] = four.x, out[4 * q + 1] = four.y, out[4 * q + 2] = four.z, out[twists ? 6 : 4 * q + 3] = four.w;
  }
};

template <typename Law> static __device__ __forceinline__ bool has_heat(const general_numbers &b) {
  if constexpr (Law::named) return Law::heats && b.heated;
  return false;
}

/* The law of contacts with walls: only a function of the scenario is fixed at compile time. */
template <typename Law, bool OWN = Law::form == COLLISION_CUSTOM || Law::named || Law::by_speed> struct wall_law {
  typedef built_in_law<-1> type;
};
template <typename Law> struct wall_law<Law, true> { typedef Law type; };

/* Evaluates a custom law for a contact. `energy`: also its elastic energy, the work of the force at rest from no
 * overlap on, by Gauss-Legendre quadrature with eight nodes. */
template <typename Law, typename real>
static __device__ __forceinline__ void evaluate_custom_law(contact_state<real> *c, real approach, bool energy) {
  const double node[8] = {0.01985507175123188, 0.10166676129318664, 0.2372337950418355, 0.4082826787521751,
                          0.5917173212478249,  0.7627662049581645,  0.8983332387068134, 0.9801449282487681};
  const double weight[8] = {0.05061426814518813, 0.11119051722668723, 0.15685332293894363, 0.1813418916891810,
                            0.1813418916891810,  0.15685332293894363, 0.11119051722668723, 0.05061426814518813};
  const double overlap = (double)c->overlap, radius = (double)c->radius, mass = (double)c->mass;
  double work = 0;
  c->custom_force = (real)Law::force(overlap, -(double)approach, radius, mass);
  c->custom_rest_force = (real)Law::force(overlap, 0, radius, mass);
  for (int k = 0; k < 8 && energy; k++) work += weight[k] * overlap * Law::force(overlap * node[k], 0, radius, mass);
  c->custom_energy = (real)work;
}

enum { PAIR_SEPARATE = 0, PAIR_ENDED = 1, PAIR_TOUCHES = 2, PAIR_BEGAN = 4, PAIR_COUNTS = 8 };

/* Contact of two grains, as the first one sees it. */
template <typename real> struct pair_result {
  contact_state<real> c;
  contact_result<real> r;
  real distance, arm, dissipated; /* dissipated, virial, work: half of the contact's */
  real virial;
  real radius; /* radius of contact; only with named_law */
  double work; /* only with general_extras */
};

/* Returns the law of grains i and j; a kernel without GENERAL_WORK has one law for all grains. */
template <int FEATURES, typename real>
static __device__ __forceinline__ contact_law<real> pair_law(const general_arrays<real> &a, const uint32_t *material,
                                                             uint32_t i, uint32_t j) {
  if constexpr (FEATURES >= GENERAL_WORK)
    if (a.typical.materials) return a.law[material[i] * COLLISION_MATERIALS_MAX + material[j]];
  return a.typical.law;
}

/* Energy that a contact dissipates when it ends. parting: speed in the last step. */
template <int SPRINGS, typename Law, typename real>
static __device__ __forceinline__ real end_energy(const general_numbers &b, const contact_law<real> &law, int form,
                                                  real mass, real radius, real parting, real dt, const real *spring) {
  if constexpr (Law::named) {
    const collision_models models = Law::models(b);
    return contact_named_end(&law, &models, form, SPRINGS, mass, radius, parting, dt, spring);
  } else
    return contact_spring_energy(&law, form, SPRINGS - Law::by_speed, mass, radius, spring);
}

/* The linear law with the dashpot of a contact's restitution, by the speed with which it began; *memory: 1 and the
 * ratio of damping, 0 before. NaN where the restitution is not above 0 and at most 1. */
template <typename Law, typename real>
static __device__ __forceinline__ contact_law<real> damped_by_speed(const contact_law<real> &law,
                                                                    const contact_state<real> &c, real *memory) {
  contact_law<real> own = law;
  if (*memory == 0) {
    const double approach = -(double)contact_dot(c.speed, c.normal), pi = 3.14159265358979323846;
    const double e = Law::restitution(approach > 0 ? approach : 0), log_e = log(e);
    *memory = (real)(1 + (e > 0 && e <= 1 ? -log_e / sqrt(pi * pi + log_e * log_e) : (double)NAN));
  }
  own.g0 = 2 * (*memory - 1) * (real)sqrt((law.k0 + law.km * c.mass) * c.mass);
  own.gh = own.gm = 0;
  return own;
}

/* The force of a contact by the laws of the run. Returns its radius, where some of them has a name. */
template <int SPRINGS, typename Law, typename real>
static __device__ __forceinline__ real evaluate_contact(const general_numbers &b, const contact_law<real> &law,
                                                        int form, const contact_state<real> &c, real dt, real edge,
                                                        real *spring, contact_result<real> *r) {
  real a = 0;
  if constexpr (Law::by_speed) {
    const contact_law<real> own = damped_by_speed<Law>(law, c, spring + SPRINGS - 1);
    contact_force(&own, form, SPRINGS - 1, &c, dt, edge, spring, r);
  } else if constexpr (Law::named) {
    const collision_models models = Law::models(b);
    contact_force_named(&law, &models, form, SPRINGS, &c, dt, edge, spring, r, &a);
  } else {
    contact_law<real> own = law;
    if (law_turns<Law> == TURNS_ROLLING) own.twisting = 0;
    if (law_turns<Law> == TURNS_TWISTING) own.rolling = 0;
    contact_force(&own, form, SPRINGS, &c, dt, edge, spring, r);
  }
  return a;
}

/* Whether surfaces that do not touch still have a contact. */
template <int SPRINGS, typename Law, typename real>
static __device__ __forceinline__ bool holds_on(const general_numbers &b, const contact_law<real> &law,
                                                const contact_state<real> &c, const real *spring) {
  if constexpr (Law::named) {
    const collision_models models = Law::models(b);
    return contact_holds(&law, &models, SPRINGS, c.radius, c.overlap, spring);
  }
  return false;
}

/* Whether a contact without history is inside a square well, where it has no force: between its edge and the surfaces,
 * which do not touch within this step. */
template <typename Law, typename real>
static __device__ __forceinline__ bool rests_in_well(const general_numbers &b, const contact_law<real> &law,
                                                     const contact_state<real> &c, real approach, real edge) {
  if constexpr (Law::named)
    return Law::models(b).cohesion == COLLISION_SQUARE_WELL && c.overlap <= -(real)0.5 * edge * (real)fabs(approach) &&
           c.overlap < 0 && law.bond[1] + c.overlap >= law.bond[2];
  return false;
}

/* Whether a contact's law reads contact_state.halfway: the linear law's damping, and a bond that may begin. */
template <int SPRINGS, typename Law, typename real>
static __device__ __forceinline__ bool needs_halfway(const general_numbers &b, int form, const real *spring) {
  if constexpr (Law::named && SPRINGS != 7) {
    const int cohesion = Law::models(b).cohesion;
    const bool lasting = cohesion == COLLISION_JKR || cohesion == COLLISION_BRIDGE;
    return form != COLLISION_HERTZ || (lasting && spring[contact_bond_at(SPRINGS)] == 0);
  }
  return form != COLLISION_HERTZ;
}

/* Ends a contact of which there is history; returns PAIR_ENDED or PAIR_SEPARATE. */
template <int SPRINGS, typename Law, typename real>
static __device__ __forceinline__ int end_contact(const general_numbers &b, const contact_law<real> &law, int form,
                                                  const step_context<real> &step, real mass, real radius, real parting,
                                                  real *spring, pair_result<real> *m) {
  if (!(step.dt > 0) || !any_of<SPRINGS>(spring)) return PAIR_SEPARATE;
  m->dissipated = (real)0.5 * end_energy<SPRINGS, Law>(b, law, form, mass, radius, parting, step.dt, spring);
  for (int s = 0; s < SPRINGS; s++) spring[s] = 0;
  return PAIR_ENDED;
}

/* Inverse mass of a grain in a contact along the normal; as on the CPU, where a loose grain has no form. */
template <typename real>
static __device__ __forceinline__ double inverse_mass(const general_mobility &m, const real normal[3]) {
  const double n[3] = {(double)normal[0], (double)normal[1], (double)normal[2]};
  return m.body == 0 ? m.inverse_mass : m.inverse_mass + rigid_along(m.form, n);
}

/* Sets the mass of a contact in which a clump takes part; other: NULL for a wall. */
template <typename real>
static __device__ __forceinline__ void set_contact_mass(const general_mobility &one, const general_mobility *other,
                                                        contact_state<real> *c) {
  if (one.body == 0 && (other == nullptr || other->body == 0)) return;
  c->mass = (real)(1 / (inverse_mass(one, c->normal) + (other == nullptr ? 0 : inverse_mass(*other, c->normal))));
  c->root_mass = (real)sqrt(c->mass);
}

/* Correct the stress of a contact, or the virial of all contacts of a sphere with others, for a clump, on whose centre
 * the force acts: the lever x of the sphere shortens its half of the distance to the other sphere. */
template <typename real>
static __device__ __forceinline__ void shorten_stress(const double *x, const real force[3], contact_observables *at) {
  for (int k = 0; k < 3; k++) {
    const int s = k, t = (k + 1) % 3;
    at->stress[k] -= x[k] * (double)force[k];
    at->stress[3 + k] -= x[s] * (double)force[t];
  }
}
template <typename real>
static __device__ __forceinline__ void shorten_virial(const double *x, const real force[3], real dt, double *virial) {
  for (int k = 0; k < 3; k++) *virial -= x[k] * (double)force[k] * (double)dt;
}

/* Contact of grains i and j; returns PAIR_* flags. spring [SPRINGS]: history, replaced unless they are separate.
 * `energy`: evaluate the elastic energy of a custom law too. */
template <int SPRINGS, typename Law, int FEATURES, typename real>
static __device__ __forceinline__ int
pair_force(const general_numbers &b, const general_arrays<real> &a, const general_grains<real> &g,
           const uint32_t *material, const step_context<real> &step, const general_shear<real> &shift, uint32_t i,
           uint32_t j, const predicted_grain<real> &one, const predicted_grain<real> &other, bool energy, real *spring,
           pair_result<real> *m) {
  const int form = Law::form < 0 ? b.form : Law::form;
  const vec4<real> p = one.position, q = other.position, vi = one.velocity, vj = other.velocity;
  contact_state<real> &c = m->c;
  real d[3], jump = 0;
  c = {};
  if constexpr (general_extras(FEATURES))
    jump = (real)minimum_image_sheared(a.box, shift.offset, p, q, d) * shift.jump;
  else
    minimum_image(a.box, p, q, d);
  const real square = contact_dot(d, d), both = p.w + q.w, reach = both + step.bounds->margin;
  const bool near = square < reach * reach;
  if (!near && !any_of<SPRINGS>(spring)) return PAIR_SEPARATE;
  const contact_law<real> law = pair_law<FEATURES>(a, material, i, j);
  const bool alike = p.w == a.typical.radius && q.w == p.w && vi.w == a.typical.mass && vj.w == vi.w;
  c.mass = a.typical.reduced_mass;
  c.root_mass = a.typical.root_mass;
  c.radius = a.typical.reduced_radius;
  if (!alike) {
    c.mass = vi.w * vj.w / (vi.w + vj.w);
    c.root_mass = (real)sqrt(c.mass);
    c.radius = p.w * q.w / both;
  }
  if (!near) return end_contact<SPRINGS, Law>(b, law, form, step, c.mass, c.radius, (real)0, spring, m);
  /* Velocities that moved the positions in this step: those that the law needs are on their way from here on. */
  const bool halfway = needs_halfway<SPRINGS, Law>(b, form, spring);
  constexpr bool early = Law::form != COLLISION_HERTZ;
  vec4<real> ui = {}, uj = {};
  if (early && halfway) ui = load_constant(g.velocity + i), uj = load_constant(g.velocity + j);
  real part, inverse;
  if (alike && mid_range(square)) {
    m->distance = root_of(square);
    inverse = inverse_of(m->distance);
    part = quotient_of(m->distance, a.typical.both, a.typical.inverse_both);
  } else {
    m->distance = (real)sqrt(square);
    inverse = m->distance > 0 ? 1 / m->distance : 0;
    part = m->distance / both;
  }
  m->arm = part * p.w;
  c.overlap = both - m->distance;
  for (int s = 0; s < 3; s++) c.normal[s] = d[s] * inverse;
  c.speed[0] = vi.x - vj.x, c.speed[1] = vi.y - vj.y, c.speed[2] = vi.z - vj.z;
  if constexpr (general_extras(FEATURES)) add_along(a.box, c.speed, -jump);
  const real approach = contact_dot(c.speed, c.normal);
  const bool holds = holds_on<SPRINGS, Law>(b, law, c, spring);
  if (!(holds || c.overlap > 0 || (step.edge > 0 && c.overlap > -(real)0.5 * step.edge * (real)fabs(approach))))
    return end_contact<SPRINGS, Law>(b, law, form, step, c.mass, c.radius, approach, spring, m);
  if (holds && step.dt > 0 && rests_in_well<Law>(b, law, c, approach, step.edge) && !any_of<SPRINGS>(spring))
    return PAIR_SEPARATE;
  if (SPRINGS > 0) {
    real wi[3], wj[3];
    copy_xyz(wi, one.spin);
    copy_xyz(wj, other.spin);
    for (int s = 0; s < 3; s++) {
      c.surface[s] = part * (p.w * wi[s] + q.w * wj[s]);
      c.turning[s] = wi[s] - wj[s];
    }
  }
  const bool may_begin = step.dt > 0 && approach < 0 && c.overlap > 0 && c.overlap <= step.bounds->most;
  int what = c.overlap > 0 || holds ? PAIR_TOUCHES | PAIR_COUNTS : PAIR_TOUCHES;
  if (may_begin || halfway) {
    if (!early || !halfway) ui = load_constant(g.velocity + i), uj = load_constant(g.velocity + j);
    real gone[3] = {ui.x - uj.x, ui.y - uj.y, ui.z - uj.z}, then[3];
    if constexpr (general_extras(FEATURES)) add_along(a.box, gone, -jump);
    c.halfway = contact_dot(gone, c.normal);
    for (int s = 0; s < 3; s++) then[s] = d[s] - gone[s] * step.dt;
    if (may_begin && contact_dot(then, then) >= both * both) what |= PAIR_BEGAN;
  }
  if constexpr (general_clumps(FEATURES)) set_contact_mass(step.mobility[i], &step.mobility[j], &c);
  if constexpr (Law::form == COLLISION_CUSTOM) evaluate_custom_law<Law>(&c, approach, energy);
  m->radius = evaluate_contact<SPRINGS, Law>(b, law, form, c, step.dt, step.edge, spring, &m->r);
  if constexpr (general_extras(FEATURES))
    m->work = 0.5 * (double)(along_shear(a.box, m->r.force) * jump * step.dt); /* work of the moving image */
  m->dissipated = (real)0.5 * m->r.dissipated;
  m->virial = (real)0.5 * m->distance * m->r.normal_force * step.dt;
  return what;
}

/* Adds the contacts of grain i, without advancing them, to *at. */
template <int SPRINGS, typename Law, int FEATURES, typename real>
static __device__ void observe_pairs(const general_numbers &b, const general_arrays<real> &a,
                                     const general_control &now, const general_shear<real> &shift, uint32_t i,
                                     contact_observables *at) {
  const general_grains<real> &g = a.grains[now.order];
  const general_list<real> &list = a.list[now.home];
  const uint32_t *const material = a.records[now.home].material;
  const predicted_grain<real> one = predicted_at<SPRINGS>(g, i);
  const step_bounds<real> bounds = {Law::named ? (real)b.reach : 0, 0};
  step_context<real> step = {0, 0, &bounds, nullptr};
  if (general_clumps(FEATURES)) step.mobility = a.records[now.home].mobility;
  const uint32_t base = list.base[i / 32] + i % 32;
#pragma unroll 1
  for (uint32_t k = 0; k < list.count[i]; k++) {
    const uint32_t e = base + 32 * k, j = list.neighbour[e];
    const predicted_grain<real> other = predicted_at<SPRINGS>(g, j);
    real spring[COLLISION_SPRINGS_MAX] = {};
    for (int s = 0; s < SPRINGS; s++) spring[s] = list.spring[spring_at(b, e, s)];
    pair_result<real> m;
    const int what =
        pair_force<SPRINGS, Law, FEATURES>(b, a, g, material, step, shift, i, j, one, other, true, spring, &m);
    if (what & PAIR_COUNTS)
      observe_contact(at, m.c, m.r, m.distance,
                      (double)(one.position.w < other.position.w ? one.position.w : other.position.w));
    if constexpr (general_clumps(FEATURES))
      if (what & PAIR_COUNTS && step.mobility[i].body > 0)
        shorten_stress(a.bodies.lever + 3 * (size_t)a.records[now.home].id[i], m.r.force, at);
  }
}

#endif
