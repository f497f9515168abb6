/* A gas in whole numbers: the contacts of spheres without history, in a periodic box, in fp32, with positions as
 * fractions of the box in 32 bits and momenta in quanta. Sums of whole numbers have no order: bits depend neither on
 * lists, nor on threads, nor on the device, and momentum is conserved to the last one. C and CUDA compile this text.
 *
 * Leapfrog: P, of step n - 1/2, takes the impulses at x of step n, and x moves by it. What is observed at step n is P
 * with half of these impulses. A dashpot sees the speed at step n, implicitly in its own contact's force. */
#ifndef COLLISION_GAS_H
#define COLLISION_GAS_H

#include "kernels/collision/solver.h"

#include <math.h>

#ifdef __CUDACC__
#define COLLISION_GAS_INLINE __host__ __device__ __forceinline__
#else
#define COLLISION_GAS_INLINE static inline __attribute__((always_inline))
#endif

/* Made in fp64 and rounded once. Impulses are of one step, in quanta of momentum; velocities in quanta over the largest
 * mass; the mass of a pair is 1/W of the largest, W = w_a + w_b, w: largest mass over that of the grain. */
typedef struct collision_gas_numbers {
  float length[3];           /* of a unit of position */
  float drift[3];            /* units of position a velocity moves in a step */
  float stiffness, k0, km;   /* impulse over overlap: one number, or k0 + km/W */
  float damping, g0, gh, gm; /* over a velocity: one number, or g0 + gh/sqrt(W) + gm/W */
  float way;                 /* length that a velocity moves in the step to now */
  float limited;             /* 1: dashpots never pull; 0: they may */
  float virial, lost;        /* units of the tallies over those of impulse times length, of impulse times velocity */
} collision_gas_numbers;

/* What does not depend on the step. */
typedef struct collision_gas {
  bool equal;       /* radii and masses are all equal */
  double radius[2]; /* least, greatest */
  double mass;      /* greatest */
  double quantum;   /* of momentum */
  double low[3], size[3];
  bool damped;
  collision_law law;
  double virial_unit, lost_unit; /* of the tallies */
} collision_gas;

#define COLLISION_GAS_SPEED_MOST (INT32_C(1) << 30) /* quanta of momentum, either sign */

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the options and these grains make a gas that can be computed so, and with which quanta. NULL: they do;
 * otherwise what they have that it has not. */
const char *collision_gas_fits(const collision_options *options, int64_t n, const float *mass, const float *radius,
                               collision_gas *out);
/* What is known before there are grains, or from a checkpoint's state. */
bool collision_gas_may(const collision_parameters *p, const sim_frame *saved);
/* Whether no velocity [3][n] is half the greatest momentum or more. */
bool collision_gas_holds(const collision_gas *gas, int64_t n, const float *mass, const float *velocity);
/* Of a step of dt after one of `before`. */
collision_gas_numbers collision_gas_step(const collision_gas *gas, double before, double dt);
/* Position and momentum of a grain, each component as one word: momentum << 32 | position. */
uint64_t collision_gas_word(const collision_gas *gas, int component, double position, double momentum);

#ifdef __cplusplus
}
#endif

typedef struct collision_gas_contact {
  float overlap, distance;
  float along;       /* impulse along the normal */
  float damped;      /* of it, the dashpot's */
  float share;       /* of the step in which the contact lasts */
  bool cut;          /* the dashpot would pull and may not */
  float scale;       /* impulse over the vector from b to a */
  float approach[3]; /* velocity of a against b */
  float speed;       /* of it, along the normal: > 0, they part */
} collision_gas_contact;

/* Vector from b to a, and its square. */
COLLISION_GAS_INLINE float collision_gas_apart(const collision_gas_numbers *g, const uint32_t *a, const uint32_t *b,
                                               float f[3]) {
  for (int c = 0; c < 3; c++) f[c] = (float)(int32_t)(a[c] - b[c]) * g->length[c];
  return fmaf(f[2], f[2], fmaf(f[1], f[1], f[0] * f[0]));
}

/* Impulse of a contact; false: there is none. `start`: the momenta are those of now. */
COLLISION_GAS_INLINE bool collision_gas_meet(const collision_gas_numbers *g, bool equal, bool damped, bool start,
                                             const float f[3], float square, float reach, const int32_t *pa,
                                             const int32_t *pb, float wa, float wb, collision_gas_contact *out) {
  const float distance = sqrtf(square), overlap = reach - distance;
  if (!(distance > 0)) return false;
  for (int c = 0; c < 3; c++)
    out->approach[c] = equal ? (float)pa[c] - (float)pb[c] : (float)pa[c] * wa - (float)pb[c] * wb;
  const float *u = out->approach;
  const float speed = fmaf(u[2], f[2], fmaf(u[1], f[1], u[0] * f[0])) / distance;
  const float pair = equal ? 2.0f : wa + wb;
  const float stiffness = equal ? g->stiffness : fmaf(g->km, 1 / pair, g->k0);
  out->speed = speed;
  out->distance = distance;
  out->overlap = overlap;
  out->share = 1;
  out->damped = 0;
  out->cut = false;
  if (!damped) {
    out->along = stiffness * overlap;
  } else {
    const float edge = 0.5f * g->way * fabsf(speed);
    float mean = overlap;
    if (overlap < edge) {
      if (overlap <= -edge) return false;
      out->share = 0.5f + 0.5f * overlap / edge;
      mean = edge * out->share * out->share;
    }
    const float damping = equal ? g->damping : fmaf(g->gm, 1 / pair, fmaf(g->gh, 1 / sqrtf(pair), g->g0));
    const float elastic = stiffness * mean, part = damping * out->share, half = start ? 0 : 0.5f * pair;
    out->damped = -part * fmaf(half, elastic, speed) / fmaf(half, part, 1.0f);
    out->along = elastic + out->damped;
    out->cut = g->limited > 0 && out->along < 0;
    if (out->cut) {
      out->along = 0;
      out->damped = -elastic;
    }
  }
  out->scale = out->along / distance;
  return true;
}

/* Returns the energy that the dashpot dissipates in one step, in units of the tally of dissipated energy. Where the
 * dashpot cancels the spring, no impulse changes the speed. */
COLLISION_GAS_INLINE float collision_gas_lost(const collision_gas_numbers *g, bool equal, float pair,
                                              const collision_gas_contact *m) {
  const float damping = equal ? g->damping : fmaf(g->gm, 1 / pair, fmaf(g->gh, 1 / sqrtf(pair), g->g0));
  const float part = damping * m->share;
  return part > 0 ? (m->cut ? -m->speed : m->damped / part) * m->damped * g->lost : 0;
}

/* Whether the contact has begun in the step to now. */
COLLISION_GAS_INLINE bool collision_gas_begun(const collision_gas_numbers *g, const float f[3], float reach,
                                              const collision_gas_contact *m) {
  if (!(m->overlap > 0 && m->speed < 0)) return false;
  float then[3];
  for (int c = 0; c < 3; c++) then[c] = fmaf(-g->way, m->approach[c], f[c]);
  return fmaf(then[2], then[2], fmaf(then[1], then[1], then[0] * then[0])) >= reach * reach;
}

#endif
