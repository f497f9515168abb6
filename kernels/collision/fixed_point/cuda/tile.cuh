/* A tile, 256 consecutive grains, in shared memory; grains of other tiles. CPU counterpart: a slab, fixed_slab. */
#ifndef COLLISION_FIXED_POINT_TILE_CUH
#define COLLISION_FIXED_POINT_TILE_CUH

#include "kernels/collision/fixed_point/cuda/work.cuh"

template <typename Grain> struct fixed_tile { alignas(16) Grain grain[FIXED_TILE]; };

/* Impulses on the grains of a tile, by component. */
typedef int fixed_tile_impulses[3][FIXED_TILE];

static __device__ inline fixed_grain grain_at(const fixed_grain *grain, uint32_t j) {
  const uint2 *const at = (const uint2 *)(grain + j);
  const uint2 a = at[0], b = at[1], c = at[2];
  return {{a.x, a.y, b.x}, {(int32_t)b.y, (int32_t)c.x, (int32_t)c.y}};
}
static __device__ inline fixed_mixed_grain grain_at(const fixed_mixed_grain *grain, uint32_t j) {
  const uint4 *const at = (const uint4 *)(grain + j);
  const uint4 a = at[0], b = at[1];
  return {{a.x, a.y, a.z}, {(int32_t)a.w, (int32_t)b.x, (int32_t)b.y}, __uint_as_float(b.z), __uint_as_float(b.w)};
}

#endif
