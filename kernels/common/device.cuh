/* Operations of warps and thread blocks: with ptx.cuh, which it includes, the code to replace for another vendor's
 * device. nvcc compiles it with the program, and NVRTC with functions of a scenario, where only the given headers
 * exist.
 *
 * All lanes of a warp call the operations of a warp, all threads of a block those of a block. A warp has 32 lanes; lane
 * is threadIdx.x % 32. Reductions have one tree on all devices: with the lane 16 above, 8 above, ... */
#ifndef KERNELS_COMMON_DEVICE_CUH
#define KERNELS_COMMON_DEVICE_CUH

#include "kernels/common/ptx.cuh"

#ifndef __CUDACC_RTC__
#include <cuda_runtime.h>
#endif

/* ---- warps ---- */

/* Waits for the warp; memory that its lanes wrote before can be read after. */
__device__ __forceinline__ void warp_barrier() { __syncwarp(); }
/* The value of another lane, modulo 32; of lane ^ mask. */
template <typename T> __device__ __forceinline__ T warp_read(T value, int lane) {
  return __shfl_sync(~0u, value, lane);
}
template <typename T> __device__ __forceinline__ T warp_read_xor(T value, int mask) {
  return __shfl_xor_sync(~0u, value, mask);
}
/* Whether all lanes say so; whether any does; bit k: whether lane k does. */
__device__ __forceinline__ bool warp_all(bool says) { return __all_sync(~0u, says); }
__device__ __forceinline__ bool warp_any(bool says) { return __any_sync(~0u, says); }
__device__ __forceinline__ unsigned warp_ballot(bool says) { return __ballot_sync(~0u, says); }

/* Operations of reductions: of(a, b), and none(), which changes nothing. */
struct reduce_sum {
  template <typename T> __device__ static T of(T a, T b) { return a + b; }
  __device__ static double none() { return 0; }
};
struct reduce_max {
  template <typename T> __device__ static T of(T a, T b) { return max(a, b); }
};

/* Over the first LANES lanes, a power of two; lane 0 has the result. */
template <int LANES, typename T, typename Op> __device__ __forceinline__ T warp_reduce(T value, Op op) {
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) value = op.of(value, __shfl_down_sync(~0u, value, step));
  return value;
}
template <typename T> __device__ __forceinline__ T warp_sum(T value) { return warp_reduce<32>(value, reduce_sum()); }
template <typename T> __device__ __forceinline__ T warp_max(T value) { return warp_reduce<32>(value, reduce_max()); }

/* As warp_reduce; every lane has the result. */
template <typename T, typename Op> __device__ __forceinline__ T warp_reduce_all(T value, Op op) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value = op.of(value, warp_read_xor(value, step));
  return value;
}
template <typename T> __device__ __forceinline__ T warp_sum_all(T value) {
  return warp_reduce_all(value, reduce_sum());
}
template <typename T> __device__ __forceinline__ T warp_max_all(T value) {
  return warp_reduce_all(value, reduce_max());
}

/* Sum over this lane and all lower lanes. */
template <typename T> __device__ __forceinline__ T warp_prefix_sum(T value) {
  for (int step = 1; step < 32; step *= 2) {
    const T other = __shfl_up_sync(~0u, value, step);
    if ((threadIdx.x & 31) >= (unsigned)step) value += other;
  }
  return value;
}

/* Reserves an entry of *count for each lane that calls it, by one atomic addition; returns its number. Plain:
 * atomicAdd(count, 1). */
__device__ inline unsigned warp_append(unsigned *count) {
  const unsigned here = __activemask(), lane = threadIdx.x & 31;
  const int leader = __ffs((int)here) - 1;
  unsigned at = 0;
  if ((int)lane == leader) at = atomicAdd(count, (unsigned)__popc(here));
  return __shfl_sync(here, at, leader) + (unsigned)__popc(here & ((1u << lane) - 1));
}

/* ---- thread blocks ---- */

/* Over a block of THREADS threads, a power of two from 64 to 1024; thread 0 has the result. shared [THREADS / 32] may
 * be reused at once. */
template <int THREADS, typename Op> __device__ inline double block_reduce(double value, Op op, double *shared) {
  value = warp_reduce<32>(value, op);
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < THREADS / 32 ? shared[threadIdx.x] : op.none();
  return threadIdx.x < 32 ? warp_reduce<THREADS / 32>(value, op) : value;
}
template <int THREADS> __device__ inline double block_sum(double value, double *shared) {
  return block_reduce<THREADS>(value, reduce_sum(), shared);
}

#endif
