/* What a step has beside contacts: gates, a sheared box, and what a scenario adds to the acceleration. `real` is
 * defined before this is included. */
#ifndef COLLISION_CUDA_BED_MORE_CUH
#define COLLISION_CUDA_BED_MORE_CUH

#include "kernels/collision/general/cuda/contacts.cuh"
#include "kernels/collision/flow/gate.h"

static __device__ __forceinline__ void add_outer(const bed_numbers &b, const bed_arrays &a, uint32_t i,
                                                 four *acceleration) {
  if (!b.external) return;
  const four outer = a.outer[i];
  acceleration->x += outer.x, acceleration->y += outer.y, acceleration->z += outer.z;
}

/* Who passes a gate on the way of this step. */
static __device__ void count_gates(const bed_numbers &b, const bed_arrays &a, const bed_kept &kept, uint32_t i,
                                   const four &from, const real *to) {
  const double before[3] = {(double)from.x, (double)from.y, (double)from.z};
  const double after[3] = {(double)to[0], (double)to[1], (double)to[2]};
#pragma unroll 1
  for (int s = 0; s < b.gates; s++)
    kept.crossed[(size_t)s * b.n + i] += gate_passed(&a.gate[s], before, after, b.size, b.periodic);
}

/* Out of a sheared box at the top or at the bottom, and in again with the velocity of the image. */
static __device__ void cross_shear(const bed_numbers &b, const bed_arrays &a, const bed_kept &kept, uint32_t i,
                                   real mass, const bed_shift &shift, real *x, real *v, real *seen) {
  const real low = (real)b.low[1], high = (real)(b.low[1] + b.size[1]), size = a.box.size[0];
  const real side = x[1] >= high ? -1 : x[1] < low ? 1 : 0;
  if (side == 0) return;
  x[0] += side * shift.after;
  const real gain = side * shift.jump;
  kept.work[i] += (double)mass * (double)gain * ((double)v[0] + 0.5 * (double)gain);
  v[0] += gain;
  seen[0] += gain;
  if (x[0] < (real)b.low[0] - size) x[0] += size;
  if (x[0] >= (real)b.low[0] + 2 * size) x[0] -= size;
}

/* What gravity's potential gains where a grain is taken to its image in the box. */
static __device__ void count_lift(const bed_numbers &b, const bed_kept &kept, uint32_t i, real mass, const real *from,
                                  const real *to) {
  double lift = 0;
  for (int c = 0; c < 3; c++) lift += ((double)from[c] - (double)to[c]) * b.gravity[c];
  if (lift != 0) kept.work[i] += (double)mass * lift;
}

/* As advance() in bed_contacts.cuh. */
static __device__ double advance_more(const bed_numbers &b, const bed_arrays &a, const bed_kept &kept,
                                      const bed_grains &from, const bed_grains &to, uint32_t i,
                                      const four &acceleration, const four &twirl, real ended, real dt,
                                      const bed_shift &shift) {
  const real half = (real)0.5 * dt, rest = (real)0.5 * ended;
  const four place = from.place[i], v = from.velocity[i], s = from.spin[i];
  real x[3], vs[3], ss[3], as[3], ts[3], seen[3], turned[3];
  take_three(x, place);
  take_three(vs, v);
  take_three(ss, s);
  take_three(as, acceleration);
  take_three(ts, twirl);
  for (int c = 0; c < 3; c++) {
    vs[c] += rest * as[c];
    ss[c] += rest * ts[c];
    vs[c] += half * as[c];
    ss[c] += half * ts[c];
    x[c] += vs[c] * dt;
    seen[c] = vs[c] + half * as[c];
    turned[c] = ss[c] + half * ts[c];
  }
  const real drifted[3] = {x[0], x[1], x[2]};
  if (dt > 0 && b.shear != 0) cross_shear(b, a, kept, i, v.w, shift, x, vs, seen);
  const real middle = (real)(b.low[1] + 0.5 * b.size[1]);
  double square = 0;
  for (int c = 0; c < 3; c++) {
    const real low = (real)b.low[c], high = (real)(b.low[c] + b.size[c]);
    if (b.periodic[c] && x[c] < low) x[c] += (real)b.size[c];
    if (b.periodic[c] && x[c] >= high) x[c] -= (real)b.size[c];
  }
  /* The image's shift in a sheared box is no way that it went. */
  const bool jumps = b.shear != 0 && (drifted[1] < (real)b.low[1] || drifted[1] >= (real)(b.low[1] + b.size[1]));
  if (dt > 0) count_gates(b, a, kept, i, place, jumps ? drifted : x);
  if (b.worked) count_lift(b, kept, i, v.w, drifted, x);
  for (int c = 0; c < 3; c++) {
    const real flow = c == 0 ? (real)b.shear * (x[1] - middle) : 0, against = vs[c] - flow;
    square += (double)(against * against);
  }
  to.place[i] = {x[0], x[1], x[2], place.w};
  to.velocity[i] = {vs[0], vs[1], vs[2], v.w};
  to.spin[i] = {ss[0], ss[1], ss[2], s.w};
  to.seen[i] = {seen[0], seen[1], seen[2], v.w};
  to.turned[i] = {turned[0], turned[1], turned[2], 0};
  return square;
}

#endif
