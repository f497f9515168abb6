/* The fixed-point solver: frictionless linear contacts of spheres in a periodic box, computed in fp32 and stored as
 * integers: positions as 32-bit fractions of the box, momenta as multiples of a quantum. Sums of integers do not depend
 * on their order, so results depend neither on lists, nor on threads, nor on the device, and momentum is conserved
 * exactly. C and CUDA compile this text; cpu/ and cuda/ hold the two implementations, in files of the same names.
 *
 * Leapfrog: the momentum p at step n - 1/2 takes the impulses at positions x of step n, then x moves by p. Observables
 * of step n use p with half of these impulses. A dashpot sees the velocity at step n, solved for implicitly in its own
 * contact. */
#ifndef COLLISION_FIXED_POINT_H
#define COLLISION_FIXED_POINT_H

#include "kernels/collision/solver.h"

#include <math.h>

#ifdef __CUDACC__
#define FIXED_POINT_INLINE __host__ __device__ __forceinline__
#else
#define FIXED_POINT_INLINE static inline __attribute__((always_inline))
#endif

/* Constants of one step, computed in fp64 and rounded once. Units: impulses of a step in quanta of momentum; velocities
 * in quanta over the largest mass M. A grain of mass m has the weight w = M/m; a pair has the reduced mass M/W,
 * W = w_a + w_b. */
typedef struct fixed_point_constants {
  float length[3];           /* length of one unit of position */
  float drift[3];            /* displacement in a step, in units of position, over velocity */
  float stiffness, k0, km;   /* impulse over overlap: `stiffness` for equal grains; else k0 + km/W */
  float damping, g0, gh, gm; /* impulse over velocity: `damping` for equal grains; else g0 + gh/sqrt(W) + gm/W */
  float displacement;        /* length over velocity, in the step that ends now */
  float limited;             /* 1: dashpots never pull; 0: they may */
  float virial, dissipated;  /* units of the tallies, over impulse times length; over impulse times velocity */
} fixed_point_constants;

/* Properties of the grains that do not depend on the step. */
typedef struct fixed_point_system {
  bool equal;       /* radii and masses are all equal */
  double radius[2]; /* least, greatest */
  double mass;      /* greatest */
  double quantum;   /* of momentum */
  double low[3], size[3];
  bool damped;
  collision_law law;
  double virial_unit, dissipated_unit; /* of the tallies of virial and dissipated energy */
} fixed_point_system;

#define FIXED_POINT_MOMENTUM_MAX (INT32_C(1) << 30) /* quanta, either sign */

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the first property of the options or of the n grains that this solver does not support, for messages; NULL:
 * none, and *out is filled in. mass, radius [n]: host memory; n = 0 checks the options alone. */
const char *collision_fixed_point_excludes(const collision_options *options, int64_t n, const float *mass,
                                           const float *radius, fixed_point_system *out);
/* Whether the scenario may run with this solver, before grains exist; `saved`: it resumes from this checkpoint. */
bool collision_fixed_point_possible(const collision_parameters *p, const sim_frame *saved);
/* Whether all momenta are below half of the representable range. mass [n], velocity [3][n]: host memory. */
bool collision_fixed_point_in_range(const fixed_point_system *system, int64_t n, const float *mass,
                                    const float *velocity);
/* Constants of a step of length dt that follows a step of length `before`. */
fixed_point_constants collision_fixed_point_constants(const fixed_point_system *system, double before, double dt);
/* Encodes a component of position and momentum: momentum << 32 | position. */
uint64_t collision_fixed_point_encode(const fixed_point_system *system, int component, double position,
                                      double momentum);

#ifdef __cplusplus
}
#endif

typedef struct fixed_point_contact {
  float overlap, distance;
  float along;       /* normal impulse, > 0: repulsive */
  float damped;      /* part of `along` that comes from the dashpot */
  float share;       /* fraction of the step in which there is contact */
  bool cut;          /* the dashpot was limited so that it does not pull */
  float scale;       /* impulse over the vector from b to a */
  float approach[3]; /* velocity of a relative to b */
  float speed;       /* normal component of `approach`; > 0: separating */
} fixed_point_contact;

/* Minimum-image vector f from b to a; returns its square. */
FIXED_POINT_INLINE float fixed_point_minimum_image(const fixed_point_constants *g, const uint32_t *a, const uint32_t *b,
                                                   float f[3]) {
  for (int c = 0; c < 3; c++) f[c] = (float)(int32_t)(a[c] - b[c]) * g->length[c];
  return fmaf(f[2], f[2], fmaf(f[1], f[1], f[0] * f[0]));
}

/* Computes the impulse of a pair; false: no contact. f, square: of fixed_point_minimum_image; reach: sum of the radii;
 * p: momenta; w: weights. `start`: the momenta are of this step, not of half a step before. */
FIXED_POINT_INLINE bool fixed_point_pair_impulse(const fixed_point_constants *g, bool equal, bool damped, bool start,
                                                 const float f[3], float square, float reach, const int32_t *pa,
                                                 const int32_t *pb, float wa, float wb, fixed_point_contact *out) {
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
    const float edge = 0.5f * g->displacement * fabsf(speed);
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

/* Returns the energy that the dashpot dissipates in one step, in units of the tally. Where the dashpot cancels the
 * spring, no impulse changes the speed. */
FIXED_POINT_INLINE float fixed_point_dissipated(const fixed_point_constants *g, bool equal, float pair,
                                                const fixed_point_contact *m) {
  const float damping = equal ? g->damping : fmaf(g->gm, 1 / pair, fmaf(g->gh, 1 / sqrtf(pair), g->g0));
  const float part = damping * m->share;
  return part > 0 ? (m->cut ? -m->speed : m->damped / part) * m->damped * g->dissipated : 0;
}

/* Whether the contact began in the step that ends now. */
FIXED_POINT_INLINE bool fixed_point_contact_begun(const fixed_point_constants *g, const float f[3], float reach,
                                                  const fixed_point_contact *m) {
  if (!(m->overlap > 0 && m->speed < 0)) return false;
  float then[3];
  for (int c = 0; c < 3; c++) then[c] = fmaf(-g->displacement, m->approach[c], f[c]);
  return fmaf(then[2], then[2], fmaf(then[1], then[1], then[0] * then[0])) >= reach * reach;
}

#endif
