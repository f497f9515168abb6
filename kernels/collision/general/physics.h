/* The law of a contact, for one precision: `real` is defined before this is included. */
#ifndef COLLISION_PHYSICS_H
#define COLLISION_PHYSICS_H

#include "kernels/collision/scenario/limits.h"
#include "kernels/common/integers.h"

#include <math.h>

#ifdef __CUDACC__
#include "kernels/collision/general/cuda/round.cuh"
#define COLLISION_INLINE static __device__ __forceinline__
#else
#define COLLISION_INLINE static inline __attribute__((always_inline))
#endif

typedef struct contact_law {
  real k0, km, g0, gh, gm, tangential; /* see collision_law */
  real kn, kt, gn, gt;                 /* Hertz: 4/3 E, 8 G, beta sqrt(2 E) and beta sqrt(8 G) */
  real friction, rolling, twisting, pull, limited;
} contact_law;

/* A contact as grain i sees it. Swapping i and j turns the sign of every vector and of no number, to the bit. */
typedef struct contact_state {
  real normal[3];        /* unit vector, towards i */
  real overlap;          /* may be a little below 0, see `share` */
  real mass, radius;     /* reduced */
  real root_mass;        /* the mass's root */
  real speed[3];         /* centre of i against that of j (or the wall's surface) */
  real halfway;          /* linear: the same along the normal, as positions moved in the step to now */
  real surface[3];       /* l_i w_i + l_j w_j, l: distance of the contact from the centre */
  real turning[3];       /* w_i - w_j */
  real own, still, held; /* COLLISION_OWN: the law's normal force, the same at rest, and the energy of that */
} contact_state;

typedef struct contact_result {
  real force[3], couple[3]; /* on i; couple: of rolling and twist, beside that of the force's arm */
  real normal_force;        /* along the normal */
  real elastic, dissipated; /* energy held; energy lost in dt */
} contact_result;

COLLISION_INLINE real contact_dot(const real a[3], const real b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
COLLISION_INLINE void contact_cross(const real a[3], const real b[3], real out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Root of x and the root of that. */
COLLISION_INLINE void contact_roots(real x, real *root, real *fourth) {
#ifdef __CUDACC__
  if (middling(x)) {
    *root = root_of(x);
    *fourth = root_of(*root);
    return;
  }
#endif
  *root = (real)sqrt(x);
  *fourth = (real)sqrt(*root);
}

/* A spring's vector turned into the plane of the contact, at its old length, whose square is returned. Turned by little
 * the length stays to the last bit: 1 + (along / length)^2 / 2 is nearer to 1 than to any other number. */
COLLISION_INLINE real contact_turn(real spring[3], const real normal[3]) {
  const real little = (real)(sizeof(real) == 4 ? 0x1p-24 : 0x1p-53);
  const real along = contact_dot(spring, normal), before = contact_dot(spring, spring);
  for (int c = 0; c < 3; c++) spring[c] -= along * normal[c];
  if (along * along > little * before) {
    const real after = contact_dot(spring, spring);
    const real scale = after > 0 ? (real)sqrt(before / after) : 1;
    for (int c = 0; c < 3; c++) spring[c] *= scale;
  }
  return before;
}

/* Stiffness of the tangential spring as history measures it: the same at every overlap. With Hertz's law history is
 * the stretch times the root of the contact's radius a, by which 8 G a of Mindlin is 8 G; see contact_slide. */
COLLISION_INLINE real contact_stiffness(const contact_law *law, int form, real mass) {
  return form == COLLISION_HERTZ ? law->kt : law->tangential * (law->k0 + law->km * mass);
}

/* Energy that a contact which has ended gives up. */
COLLISION_INLINE real contact_given_up(const contact_law *law, int form, int springs, real mass, real radius,
                                       const real *spring) {
  real slide = 0, turn = 0;
  for (int k = 0; k < springs && k < 3; k++) slide += spring[k] * spring[k];
  for (int k = 3; k < springs; k++) turn += spring[k] * spring[k];
  return (real)0.5 * contact_stiffness(law, form, mass) * (slide + turn * radius * radius);
}

/* A spring with a dashpot that slides at a force of `limit`; count 3, or 1 for a twist; `before`: square of the
 * spring's length. Adds to *held and *lost.
 *
 * The spring's stiffness now is weight^2 k and what is kept is weight times its stretch, so that k/2 spring^2 is what
 * it holds: where the stiffness changes, the stretch follows without gain or loss, and the power of the force is that
 * energy's rate to the letter (a spring kept by its stretch gains energy from nowhere while a contact loads: Elata and
 * Berryman, Mech. Mater. 24 (1996) 229). Coulomb's bound is on the spring first, then on spring and dashpot: two
 * projections on one ball, so that neither gives energy and no spring is driven along the slip. */
COLLISION_INLINE void contact_slide(real *spring, const real *rate, int count, real before, real k, real weight, real g,
                                    real limit, real dt, real *force, real *held, real *lost) {
  const real stiff = k * weight, stretch = weight * dt, most = limit * limit;
  for (int c = 0; c < count; c++) spring[c] += stretch * rate[c];
  real after = spring[0] * spring[0];
  for (int c = 1; c < count; c++) after += spring[c] * spring[c];
  if (dt > 0 && stiff * stiff * after > most) {
    const real bound = limit / (stiff * (real)sqrt(after));
    for (int c = 0; c < count; c++) spring[c] *= bound;
    after = spring[0] * spring[0];
    for (int c = 1; c < count; c++) after += spring[c] * spring[c];
  }
  for (int c = 0; c < count; c++) force[c] = -stiff * spring[c] - g * rate[c];
  real size = force[0] * force[0];
  for (int c = 1; c < count; c++) size += force[c] * force[c];
  if (size > most) {
    const real scale = limit / (real)sqrt(size);
    for (int c = 0; c < count; c++) force[c] *= scale;
  }
  real power = force[0] * rate[0];
  for (int c = 1; c < count; c++) power += force[c] * rate[c];
  *held += (real)0.5 * k * after;
  *lost -= power * dt + (real)0.5 * k * (after - before);
}

/* Share of the interval `edge` about now in which a contact of this overlap lasts, and the overlap's mean over all of
 * it. */
COLLISION_INLINE real contact_share(real overlap, real speed, real edge, real *mean) {
  const real reach = (real)0.5 * edge * (real)fabs(speed);
  *mean = overlap;
  if (overlap >= reach) return 1;
  *mean = 0;
  if (overlap <= -reach) return 0;
  const real share = (real)0.5 + (real)0.5 * overlap / reach;
  *mean = reach * share * share;
  return share;
}

/* Damping force of the linear law. The speed at the end of the step was predicted with this contact's force at its
 * beginning; that part is put right here, implicitly, from where the two stood then. `free`: the speed at the end of
 * the step if this contact has no force then. */
COLLISION_INLINE real contact_damping(real k, real g, bool limited, const contact_state *s, real speed, real share,
                                      real mean, real dt, real *free) {
  const real then = 2 * s->halfway - speed, half = (real)0.5 * dt / s->mass;
  real mean_then;
  const real share_then = contact_share(s->overlap + s->halfway * dt, then, dt, &mean_then);
  real force_then = k * mean_then - g * share_then * then;
  if (limited && force_then < 0) force_then = 0;
  *free = speed - force_then * half;
  return -g * share * (speed + (k * mean - force_then) * half) / (1 + g * share * half);
}

/* `spring`: springs numbers of history, brought up to date by dt (0: as it was). `dt` is also the interval, centred on
 * now, over which a contact that begins or ends in it is averaged, so that a dashpot's jump costs no order. */
COLLISION_INLINE void contact_force(const contact_law *law, int form, int springs, const contact_state *s, real dt,
                                    real edge, real *spring, contact_result *out) {
  const real speed = contact_dot(s->speed, s->normal); /* > 0: they part */
  real overlap = s->overlap, mean;
  real share = contact_share(overlap, speed, edge, &mean);
  const bool hertz = form == COLLISION_HERTZ, own = form == COLLISION_OWN;
  if (overlap < 0) overlap = 0;
  const real held_by = contact_stiffness(law, form, s->mass);
  real k, g, gt, elastic, weight = 1;
  if (hertz) {
    real a;
    contact_roots(s->radius * overlap, &a, &weight);
    k = law->kn * a;                           /* force over overlap */
    const real damped = weight * s->root_mass; /* beta sqrt(stiffness m), stiffness 2 E a and 8 G a */
    g = law->gn * damped;
    gt = law->gt * damped;
    mean = overlap;
    share = 1;
    elastic = (real)0.4 * k * overlap * overlap;
  } else {
    k = law->k0 + law->km * s->mass;
    g = law->g0 + law->gh * s->root_mass + law->gm * s->mass;
    gt = law->tangential * g;
    elastic = (real)0.5 * k * overlap * overlap;
  }
  const real pull = law->pull * s->radius;
  const bool limited = law->limited > 0;
  real free = speed;
  real damping = hertz || g == 0 || dt == 0 ? -g * share * speed
                                            : contact_damping(k, g, limited, s, speed, share, mean, dt, &free);
  const bool cut = limited && k * mean + damping < 0;
  if (cut) damping = -k * mean;
  out->normal_force = k * mean + damping - share * pull;
  out->elastic = elastic - pull * overlap;
  out->dissipated =
      g > 0 && share > 0 && !hertz ? damping * damping / (g * share) * dt : g * share * speed * speed * dt;
  if (cut) out->dissipated = -damping * free * dt;
  if (own) {
    out->normal_force = s->own;
    out->elastic = s->held;
    out->dissipated = (s->still - s->own) * speed * dt;
  }
  for (int c = 0; c < 3; c++) {
    out->force[c] = out->normal_force * s->normal[c];
    out->couple[c] = 0;
  }
  if (springs == 0) return;
  const real load = (real)fmax(own ? s->own : k * mean + damping, (real)0);
  real arm[3], slip[3], tangential[3];
  contact_cross(s->surface, s->normal, arm);
  for (int c = 0; c < 3; c++) slip[c] = s->speed[c] - speed * s->normal[c] - arm[c];
  contact_slide(spring, slip, 3, contact_turn(spring, s->normal), held_by, weight, gt, law->friction * load, dt,
                tangential, &out->elastic, &out->dissipated);
  for (int c = 0; c < 3; c++) out->force[c] += tangential[c];
  if (springs == 3) return;
  const real k2 = held_by * s->radius * s->radius, g2 = gt * s->radius * s->radius;
  const real twist = contact_dot(s->turning, s->normal);
  real roll[3], couple[3], twisting;
  for (int c = 0; c < 3; c++) roll[c] = s->turning[c] - twist * s->normal[c];
  contact_slide(spring + 3, roll, 3, contact_turn(spring + 3, s->normal), k2, weight, g2,
                law->rolling * s->radius * load, dt, couple, &out->elastic, &out->dissipated);
  contact_slide(spring + 6, &twist, 1, spring[6] * spring[6], k2, weight, g2, law->twisting * s->radius * load, dt,
                &twisting, &out->elastic, &out->dissipated);
  for (int c = 0; c < 3; c++) out->couple[c] = couple[c] + twisting * s->normal[c];
}

#endif
