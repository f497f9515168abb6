/* What a scenario adds to the acceleration: Law::of(x, t, a), and Law::potential(x, t). Device code for NVRTC. `real`
 * is defined before this is included. */
#ifndef COLLISION_CUDA_BED_FIELD_CUH
#define COLLISION_CUDA_BED_FIELD_CUH

#include "kernels/collision/general/cuda/sums.cuh"

/* At the places of now. */
template <typename Law> static __device__ __forceinline__ void field_push(const bed_arrays &a, unsigned k, double t) {
  after_previous();
  const four *const place = a.grains[a.control[k & 1].order].place;
  const uint32_t i = blockIdx.x * BED_THREADS + threadIdx.x;
  if (i >= a.numbers->n) return;
  const four p = place[i];
  const double x[3] = {(double)p.x, (double)p.y, (double)p.z};
  double out[3];
  Law::of(x, t, out);
  ((four *)a.outer)[i] = {(real)out[0], (real)out[1], (real)out[2], 0};
}

/* partial[block of 256 ids]: sum of m times the potential. */
template <typename Law>
static __device__ __forceinline__ void field_energy(const bed_arrays &a, unsigned k, double t, double *partial) {
  __shared__ double shared[BED_THREADS / 32];
  after_previous();
  const bed_grains &g = a.grains[a.control[k & 1].order];
  const uint32_t id = blockIdx.x * BED_THREADS + threadIdx.x;
  double energy = 0;
  if (id < a.numbers->n) {
    const four p = g.place[a.slot[id]];
    const double x[3] = {(double)p.x, (double)p.y, (double)p.z};
    energy = (double)g.velocity[a.slot[id]].w * Law::potential(x, t);
  }
  energy = over_block(energy, shared);
  if (threadIdx.x == 0) partial[blockIdx.x] = energy;
}

#endif
