/* A tile of a gas in shared memory, and grains of other tiles. */
#ifndef COLLISION_CUDA_GAS_TILE_CUH
#define COLLISION_CUDA_GAS_TILE_CUH

#include "kernels/collision/fixed_point/cuda/work.cuh"

template <typename Grain> struct gas_tile { alignas(16) Grain grain[GAS_TILE]; };

/* Impulses that a tile's grains get. */
typedef int gas_impulse[3][GAS_TILE];

static __device__ inline gas_grain grain_at(const gas_grain *grain, uint32_t j) {
  const uint2 *const at = (const uint2 *)(grain + j);
  const uint2 a = at[0], b = at[1], c = at[2];
  return {{a.x, a.y, b.x}, {(int32_t)b.y, (int32_t)c.x, (int32_t)c.y}};
}
static __device__ inline gas_mixed_grain grain_at(const gas_mixed_grain *grain, uint32_t j) {
  const uint4 *const at = (const uint4 *)(grain + j);
  const uint4 a = at[0], b = at[1];
  return {{a.x, a.y, a.z}, {(int32_t)a.w, (int32_t)b.x, (int32_t)b.y}, __uint_as_float(b.z), __uint_as_float(b.w)};
}

#endif
