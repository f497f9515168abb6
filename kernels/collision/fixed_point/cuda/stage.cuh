/* Tiles of a gas that come into shared memory and leave it while others are computed. */
#ifndef COLLISION_CUDA_GAS_STAGE_CUH
#define COLLISION_CUDA_GAS_STAGE_CUH

#include "kernels/collision/fixed_point/cuda/tile.cuh"

#include <cuda_pipeline_primitives.h>

enum { GAS_STAGES = 4, GAS_CONTACTS = GAS_TILE /* that wait */ };

template <typename Grain> struct gas_shared {
  gas_tile<Grain> stage[GAS_STAGES];
  gas_impulse impulse[2];               /* of the tile that is tested and of that before it, by turns */
  uint32_t contact[2][GAS_CONTACTS];    /* of the same */
  unsigned long long ready[GAS_STAGES]; /* barriers at which a tile has come */
  unsigned contacts[2], listed, fastest;
  float half_short;
  float share[GAS_CLASSES], over[GAS_CLASSES]; /* of a reach; one over its square */
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* by the copying engine: one thread asks */

static __device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

template <typename Grain> static __device__ void prepare(gas_shared<Grain> *shared) {
  if (threadIdx.x == 0)
    for (int s = 0; s < GAS_STAGES; s++)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&shared->ready[s])) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}

template <typename Grain> static __device__ void fetch(gas_shared<Grain> *shared, uint32_t s, const Grain *from) {
  if (threadIdx.x != 0) return;
  const uint32_t ready = shared_address(&shared->ready[s]);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(ready),
               "r"((uint32_t)sizeof(gas_tile<Grain>))
               : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(&shared->stage[s])),
               "l"(from), "r"((uint32_t)sizeof(gas_tile<Grain>)), "r"(ready)
               : "memory");
}

/* Until a stage has come for the odd or the even time. */
template <typename Grain> static __device__ void await(gas_shared<Grain> *shared, uint32_t s, uint32_t parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again;\n"
               "}" ::"r"(shared_address(&shared->ready[s])),
               "r"(parity)
               : "memory");
}

/* After a barrier. The fence waits for all that the thread has asked for: one thread's is enough. */
template <typename Grain> static __device__ void leave(const gas_shared<Grain> *shared, uint32_t s, Grain *to) {
  if (threadIdx.x != 0) return;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(shared_address(&shared->stage[s])), "r"((uint32_t)sizeof(gas_tile<Grain>))
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory"); /* that before it has left */
}
static __device__ void all_left() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
static __device__ void asked() {}

#else

template <typename Grain> static __device__ void prepare(gas_shared<Grain> *) { __syncthreads(); }

template <typename Grain> static __device__ void fetch(gas_shared<Grain> *shared, uint32_t s, const Grain *from) {
  constexpr int pieces = (int)sizeof(gas_tile<Grain>) / 16;
#pragma unroll
  for (int first = 0; first < pieces; first += GAS_TILE) {
    const int piece = first + (int)threadIdx.x;
    if (piece < pieces) __pipeline_memcpy_async((uint4 *)&shared->stage[s] + piece, (const uint4 *)from + piece, 16);
  }
}

/* The stage after it may be on its way. */
template <typename Grain> static __device__ void await(gas_shared<Grain> *, uint32_t, uint32_t) {
  __pipeline_wait_prior(1);
  __syncthreads();
}

/* What was asked for at once. */
static __device__ void asked() { __pipeline_commit(); }

template <typename Grain> static __device__ void leave(const gas_shared<Grain> *shared, uint32_t s, Grain *to) {
  constexpr int pieces = (int)sizeof(gas_tile<Grain>) / 16;
#pragma unroll
  for (int first = 0; first < pieces; first += GAS_TILE) {
    const int piece = first + (int)threadIdx.x;
    if (piece < pieces) ((uint4 *)to)[piece] = ((const uint4 *)&shared->stage[s])[piece];
  }
}
static __device__ void all_left() {}

#endif

#endif
