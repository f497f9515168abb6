/* Parts of a step beside contacts, as templates on the real type: gates, a sheared box, Hill's equations, self-gravity
 * and external accelerations. */
#ifndef COLLISION_GENERAL_CUDA_EXTRAS_CUH
#define COLLISION_GENERAL_CUDA_EXTRAS_CUH

#include "kernels/collision/general/cuda/sums.cuh"
#include "kernels/collision/flow/gate.h"

template <typename real>
static __device__ __forceinline__ void add_external(const general_numbers &b, const general_arrays<real> &a, uint32_t i,
                                                    vec4<real> *acceleration) {
  if (!b.external) return;
  const vec4<real> external_acceleration = a.external_acceleration[i];
  acceleration->x += external_acceleration.x, acceleration->y += external_acceleration.y,
      acceleration->z += external_acceleration.z;
}

/* Counts passages of gates in this step: the grain moved from `from` to `to` [3]. */
template <typename real>
static __device__ void count_gates(const general_numbers &b, const general_arrays<real> &a,
                                   const general_records<real> &records, uint32_t i, const vec4<real> &from,
                                   const real *to) {
  const double before[3] = {(double)from.x, (double)from.y, (double)from.z};
  const double after[3] = {(double)to[0], (double)to[1], (double)to[2]};
#pragma unroll 1
  for (int s = 0; s < b.gates; s++)
    records.crossed[(size_t)s * b.n + i] += gate_passed(&a.gate[s], before, after, b.size, b.periodic);
}

/* Adds the kept acceleration by self-gravity of the grain with this id to a [3]. */
template <typename real>
static __device__ __forceinline__ void add_pull(const general_numbers &b, const general_arrays<real> &a, uint32_t id,
                                                real *acceleration) {
  for (int c = 0; c < 3; c++) acceleration[c] += (real)a.pull[(size_t)c * b.n + id];
}

/* Takes a grain that left a sheared box across the shear to its image, with the image's velocity. x, v, v_pred [3]. The
 * power of images of kept accelerations is that before: the rest of their time is counted here. */
template <typename real>
static __device__ void cross_shear(const general_numbers &b, const general_arrays<real> &a,
                                   const general_records<real> &records, uint32_t i, real mass,
                                   const general_shear<real> &shift, real *x, real *v, real *v_pred) {
  const general_box<real> &box = a.box;
  const real low = across_shear(box, box.low), high = across_shear(box, box.high), size = along_shear(box, box.size);
  const real at = across_shear(box, x), first = along_shear(box, box.low), side = at >= high ? -1 : at < low ? 1 : 0;
  if (side == 0) return;
  add_along(box, x, side * shift.after);
  const real gain = side * shift.jump;
  records.work[i] += (double)mass * (double)gain * ((double)along_shear(box, v) + 0.5 * (double)gain);
  if (a.pull != nullptr)
    records.work[i] +=
        (double)mass * (double)gain * shift.left * a.pull[(box.turned ? (size_t)b.n : 0) + records.id[i]];
  add_along(box, v, gain);
  add_along(box, v_pred, gain);
  if (along_shear(box, x) < first - size) add_along(box, x, size);
  if (along_shear(box, x) >= first + 2 * size) add_along(box, x, -size);
}

/* Adds the change of Hill's potential where a grain is taken from `from` to its image at `to` [3]. */
template <typename real>
static __device__ void count_tide(const hill_flow &flow, const general_records<real> &records, uint32_t i, real mass,
                                  const real *from, const real *to) {
  if (from[0] != to[0] || from[2] != to[2])
    records.work[i] += (double)mass * (hill_potential(&flow, (double)to[0], (double)to[2]) -
                                       hill_potential(&flow, (double)from[0], (double)from[2]));
}

/* Moves a grain along its epicycle. x, v [3]. */
template <typename real> static __device__ void follow_epicycle(const hill_flow &flow, real *x, real *v) {
  double to[3] = {(double)x[0], (double)x[1], (double)x[2]}, speed[3] = {(double)v[0], (double)v[1], (double)v[2]};
  hill_advance(&flow, to, speed);
  for (int c = 0; c < 3; c++) {
    x[c] = (real)to[c];
    v[c] = (real)speed[c];
  }
}

/* Adds the gain of gravity's potential where a grain is taken from `from` to its image at `to` [3]. */
template <typename real>
static __device__ void count_lift(const general_numbers &b, const general_records<real> &records, uint32_t i, real mass,
                                  const real *from, const real *to) {
  double lift = 0;
  for (int c = 0; c < 3; c++) lift += ((double)from[c] - (double)to[c]) * b.gravity[c];
  if (lift != 0) records.work[i] += (double)mass * lift;
}

/* As advance() in step.cuh, for steps with gates, a sheared box, Hill's equations and self-gravity. */
template <typename real>
static __device__ double advance_more(const general_numbers &b, const general_arrays<real> &a,
                                      const general_records<real> &records, const general_grains<real> &from,
                                      const general_grains<real> &to, uint32_t i, const vec4<real> &acceleration,
                                      const vec4<real> &angular_acceleration, real ended, real dt,
                                      const general_shear<real> &shift) {
  const real half = (real)0.5 * dt, rest = (real)0.5 * ended;
  const vec4<real> position = from.position[i], v = from.velocity[i], s = from.spin[i];
  real x[3], vs[3], ss[3], as[3], ts[3], v_pred[3], w_pred[3];
  copy_xyz(x, position);
  copy_xyz(vs, v);
  copy_xyz(ss, s);
  copy_xyz(as, acceleration);
  copy_xyz(ts, angular_acceleration);
  if (a.pull != nullptr) add_pull(b, a, records.id[i], as);
  const bool epicycle = shift.hill.omega > 0;
  for (int c = 0; c < 3; c++) {
    vs[c] += rest * as[c];
    ss[c] += rest * ts[c];
    vs[c] += half * as[c];
    ss[c] += half * ts[c];
    if (!epicycle) x[c] += vs[c] * dt;
    w_pred[c] = ss[c] + half * ts[c];
  }
  if (epicycle && dt > 0) follow_epicycle(shift.hill, x, vs);
  for (int c = 0; c < 3; c++) v_pred[c] = vs[c] + half * as[c];
  const real drifted[3] = {x[0], x[1], x[2]};
  if (dt > 0 && b.shear != 0) cross_shear(b, a, records, i, v.w, shift, x, vs, v_pred);
  double square = 0;
  for (int c = 0; c < 3; c++) {
    const real low = (real)b.low[c], high = (real)(b.low[c] + b.size[c]);
    if (b.periodic[c] && x[c] < low) x[c] += (real)b.size[c];
    if (b.periodic[c] && x[c] >= high) x[c] -= (real)b.size[c];
    if (is_outside(a.box, c, x[c])) square = INFINITY;
  }
  /* The image's shift in a sheared box is no displacement of the grain. */
  const real before = across_shear(a.box, drifted);
  const bool jumps =
      b.shear != 0 && (before < across_shear(a.box, a.box.low) || before >= across_shear(a.box, a.box.high));
  if (dt > 0) count_gates(b, a, records, i, position, jumps ? drifted : x);
  if (b.worked) count_lift(b, records, i, v.w, drifted, x);
  if (epicycle && dt > 0) count_tide(shift.hill, records, i, v.w, drifted, x);
  const real middle = (real)(a.box.turned ? b.low[0] + 0.5 * b.size[0] : b.low[1] + 0.5 * b.size[1]);
  const real flow = (real)b.shear * (across_shear(a.box, x) - middle);
  for (int c = 0; c < 3; c++) {
    const real against = vs[c] - (c == (int)a.box.turned ? flow : 0);
    square += (double)(against * against);
  }
  to.position[i] = {x[0], x[1], x[2], position.w};
  to.velocity[i] = {vs[0], vs[1], vs[2], v.w};
  to.spin[i] = {ss[0], ss[1], ss[2], s.w};
  to.v_pred[i] = {v_pred[0], v_pred[1], v_pred[2], v.w};
  to.w_pred[i] = {w_pred[0], w_pred[1], w_pred[2], 0};
  return square;
}

/* ---- functions of the scenario, for NVRTC ---- */

/* Stores the scenario's acceleration at the present positions. Law::acceleration(x, t, a): x, a [3]. */
template <typename Law, typename real>
static __device__ __forceinline__ void store_external_acceleration(const general_arrays<real> &a, unsigned k,
                                                                   double t) {
  after_previous();
  const vec4<real> *const position = a.grains[a.control[k & 1].order].position;
  const uint32_t i = blockIdx.x * GENERAL_THREADS + threadIdx.x;
  if (i >= a.numbers->n) return;
  const vec4<real> p = position[i];
  const double x[3] = {(double)p.x, (double)p.y, (double)p.z};
  double out[3];
  Law::acceleration(x, t, out);
  ((vec4<real> *)a.external_acceleration)[i] = {(real)out[0], (real)out[1], (real)out[2], 0};
}

/* partial [blocks]: sums of mass times Law::potential(x, t) over blocks of GENERAL_THREADS ids. */
template <typename Law, typename real>
static __device__ __forceinline__ void sum_external_energy(const general_arrays<real> &a, unsigned k, double t,
                                                           double *partial) {
  __shared__ double shared[GENERAL_THREADS / 32];
  after_previous();
  const general_grains<real> &g = a.grains[a.control[k & 1].order];
  const uint32_t id = blockIdx.x * GENERAL_THREADS + threadIdx.x;
  double energy = 0;
  if (id < a.numbers->n) {
    const vec4<real> p = g.position[a.slot[id]];
    const double x[3] = {(double)p.x, (double)p.y, (double)p.z};
    energy = (double)g.velocity[a.slot[id]].w * Law::potential(x, t);
  }
  energy = block_sum<GENERAL_THREADS>(energy, shared);
  if (threadIdx.x == 0) partial[blockIdx.x] = energy;
}

#endif
