/* Spheres and moments, from the last cell to the first: P2M by 8 lanes for each leaf, M2M by one lane for each inner
 * cell, after its children. Device code. */
#ifndef NBODY_FMM_CUDA_UP_CUH
#define NBODY_FMM_CUDA_UP_CUH

#include "kernels/nbody/fmm/cuda/launch.cuh"
#include "kernels/nbody/fmm/cuda/operators.cuh"
#include "kernels/nbody/fmm/cuda/stages.cuh"

enum { FMM_UP_THREADS = 128, FMM_UP_CELLS = 8 /* cells of a warp at a time */ };

/* Returns the sum over the 8 lanes of a leaf, by halves. */
template <typename real> __device__ __forceinline__ real fmm_over_strands(real value) {
  for (int half = NBODY_FMM_P2M_STRANDS / 2; half > 0; half /= 2) value += warp_read_xor(value, half);
  return value;
}

template <typename real> __device__ __forceinline__ real fmm_bound(real distance) {
  return ((real)1 + (real)0x1p-19) * distance;
}

/* Makes the moments of leaf `c` if `is`. Called by all lanes; `is` and `c` are equal for the 8 lanes of a leaf. */
template <typename real, int P>
__device__ void fmm_moments_of_leaf(const nbody_fmm_tree<real> &t, bool is, unsigned c) {
  typedef fmm_row<real, P> row;
  typedef typename nbody_fmm_tree<real>::body_type body_type;
  const unsigned strand = fmm_lane() % NBODY_FMM_P2M_STRANDS;
  const uint4 me = is ? t.cell[c] : make_uint4(0, 0, 0, 0);
  const int level = is ? t.level[c] : 0;
  const body_type *const body = t.body + me.x;
  const body_type first = body[0];
  real w = 0, x = 0, y = 0, z = 0;
  bool walked = false;
  for (unsigned i = strand; i < me.y; i += NBODY_FMM_P2M_STRANDS) {
    const body_type b = body[i];
    w = w + b.w;
    x = fused(b.w, b.x - first.x, x), y = fused(b.w, b.y - first.y, y), z = fused(b.w, b.z - first.z, z);
    if (t.walked != nullptr) walked = walked || fmm_is_target(t, me.x + i);
  }
  w = fmm_over_strands(w), x = fmm_over_strands(x), y = fmm_over_strands(y), z = fmm_over_strands(z);
  body_type sphere = first;
  if (w != 0) sphere.x = first.x + x / w, sphere.y = first.y + y / w, sphere.z = first.z + z / w;
  const real per_edge = fmm_power<real>(level);
  real moment[row::moments], d2 = 0;
#pragma unroll
  for (int k = 0; k < row::moments; k++) moment[k] = 0;
  for (unsigned i = strand; i < me.y; i += NBODY_FMM_P2M_STRANDS) {
    const body_type b = body[i];
    const real d[3] = {sphere.x - b.x, sphere.y - b.y, sphere.z - b.z};
    const real at[3] = {d[0] * per_edge, d[1] * per_edge, d[2] * per_edge};
    d2 = fmax(d2, fmm_square(d[0], d[1], d[2]));
    fmm_device::fmm_p2m(P, b.w, at, moment);
  }
  for (int half = NBODY_FMM_P2M_STRANDS / 2; half > 0; half /= 2) d2 = fmax(d2, warp_read_xor(d2, half));
  sphere.w = fmax(fmm_bound(sqrt(d2)), (real)1 / (32 * per_edge));
#pragma unroll
  for (int k = 0; k < row::moments; k++) moment[k] = fmm_over_strands(moment[k]);
  const unsigned any = warp_ballot(walked) >> (fmm_lane() - strand) & ((1u << NBODY_FMM_P2M_STRANDS) - 1);
  if (!is) return;
  if (strand == 0) t.sphere[c] = sphere;
  if (strand == 0 && t.walked != nullptr) t.walked[c] = any != 0;
  real *const out = t.moment + (size_t)c * row::moment_stride;
#pragma unroll
  for (int k = 0; k < row::moments; k++)
    if (k % NBODY_FMM_P2M_STRANDS == (int)strand) out[k] = moment[k];
}

/* Makes the moments of an inner cell by one lane; its children have their moments. */
template <typename real, int P> __device__ void fmm_moments_of_inner(const nbody_fmm_tree<real> &t, unsigned c) {
  typedef fmm_row<real, P> row;
  const unsigned range = t.cell[c].z, first = range >> 3, count = (range & 7) + 1;
  const real per_edge = fmm_power<real>(t.level[c]);
  real start[4], w = 0, x = 0, y = 0, z = 0;
  fmm_read_row<fmm_written>((const real *)(t.sphere + first), start);
  for (unsigned k = 0; k < count; k++) {
    real of[4], mass[1];
    fmm_read_row<fmm_written>((const real *)(t.sphere + first + k), of);
    mass[0] = __ldcg(t.moment + (size_t)(first + k) * row::moment_stride);
    w = w + mass[0];
    x = fused(mass[0], of[0] - start[0], x), y = fused(mass[0], of[1] - start[1], y);
    z = fused(mass[0], of[2] - start[2], z);
  }
  typename nbody_fmm_tree<real>::body_type sphere;
  sphere.x = start[0], sphere.y = start[1], sphere.z = start[2];
  if (w != 0) sphere.x = start[0] + x / w, sphere.y = start[1] + y / w, sphere.z = start[2] + z / w;
  real moment[row::moments], reach = 0;
  if (t.walked != nullptr) {
    unsigned any = 0;
    for (unsigned k = 0; k < count; k++) any |= __ldcg(t.walked + first + k);
    t.walked[c] = (unsigned char)any;
  }
#pragma unroll
  for (int k = 0; k < row::moments; k++) moment[k] = 0;
  for (unsigned k = 0; k < count; k++) {
    real of[4], child[row::moments];
    fmm_read_row<fmm_written>((const real *)(t.sphere + first + k), of);
    fmm_read_row<fmm_written>(t.moment + (size_t)(first + k) * row::moment_stride, child);
    const real d[3] = {sphere.x - of[0], sphere.y - of[1], sphere.z - of[2]};
    const real at[3] = {d[0] * per_edge, d[1] * per_edge, d[2] * per_edge};
    reach = fmax(reach, sqrt(fmm_square(d[0], d[1], d[2])) + of[3]);
    fmm_device::fmm_m2m(P, child, at, moment);
  }
  sphere.w = fmax(fmm_bound(reach), (real)1 / (32 * per_edge));
  t.sphere[c] = sphere;
  real *const out = t.moment + (size_t)c * row::moment_stride;
#pragma unroll
  for (int k = 0; k < row::moments; k++) out[k] = moment[k];
}

template <typename real, int P>
static __global__ void __launch_bounds__(FMM_UP_THREADS) fmm_up(const nbody_fmm_tree<real> t) {
  after_previous();
  const unsigned cells = t.counters->level_begin[NBODY_FMM_LEVEL_MAX + 1], lane = fmm_lane();
  for (;;) {
    unsigned taken = 0;
    if (lane == 0) taken = atomicAdd(&t.counters->ticket[FMM_TICKET_UP], (unsigned)FMM_UP_CELLS);
    taken = warp_read(taken, 0);
    if (taken >= cells) return;
    const bool is = lane < FMM_UP_CELLS && taken + lane < cells; /* one cell in each lane */
    const unsigned c = is ? cells - 1 - taken - lane : 0;
    const unsigned range = is ? t.cell[c].z : 0;
    const unsigned leaves = warp_ballot(is && range == 0);
    for (unsigned k = 0; k < FMM_UP_CELLS; k += 32 / NBODY_FMM_P2M_STRANDS) {
      const unsigned which = k + lane / NBODY_FMM_P2M_STRANDS;
      if ((leaves >> k & ((1u << 32 / NBODY_FMM_P2M_STRANDS) - 1)) != 0)
        fmm_moments_of_leaf<real, P>(t, (leaves >> which & 1) != 0, cells - 1 - taken - which);
    }
    __threadfence();
    warp_barrier();
    if (is && range == 0) *(volatile unsigned *)(t.stage + c) = FMM_STAGE_MOMENT;
    bool waits = range != 0;
    while (warp_any(waits)) { /* some of these cells may be children of others */
      bool ready = waits;
      if (waits)
        for (unsigned k = 0; k <= (range & 7); k++) ready = ready && fmm_stage_of(t.stage, (range >> 3) + k) != 0;
      if (ready) {
        __threadfence();
        fmm_moments_of_inner<real, P>(t, c);
        __threadfence();
        *(volatile unsigned *)(t.stage + c) = FMM_STAGE_MOMENT;
        waits = false;
      }
    }
  }
}

template <typename real, int P> void nbody_fmm_queue_up(const nbody_fmm_tree<real> *t) {
  static const sim_kernel kernel = {"nbody_fmm_up", "up", SIM_LIMIT_BYTES};
  nbody_fmm_launch(&kernel, fmm_up<real, P>, FMM_UP_THREADS / 32, 0, *t);
}

#endif
