/* Ring of tiles in shared memory: tiles are read from and written to global memory while another one is computed. From
 * sm_90 on by bulk copies, else by asynchronous copies of each thread. CPU counterpart: the prefetches of cpu/lanes.c.
 */
#ifndef COLLISION_FIXED_POINT_TILE_PIPELINE_CUH
#define COLLISION_FIXED_POINT_TILE_PIPELINE_CUH

#include "kernels/collision/fixed_point/cuda/ranks.cuh"
#include "kernels/collision/fixed_point/cuda/tile.cuh"

enum { FIXED_RING = 4, FIXED_CONTACTS = FIXED_TILE /* pairs in touch that wait for their impulses */ };

template <typename Grain> struct fixed_shared {
  fixed_tile<Grain> tile[FIXED_RING];
  fixed_tile_impulses impulse[2];       /* of the present tile and of the tile before, alternately */
  uint32_t contact[2][FIXED_CONTACTS];  /* touching pairs of the same tiles */
  unsigned long long ready[FIXED_RING]; /* barriers: the tile has arrived */
  unsigned contacts[2], listed, fastest;
  float half_short;
  float share[MASS_CLASSES], over[MASS_CLASSES]; /* share of each mass class; one over its square */
  /* on several ranks */
  uint32_t n, tiles, boundary; /* own grains and tiles; slots before which grains have ghosts */
  Grain *ghost[FIXED_SIDES];   /* by slot: where the grains' new states go */
  fixed_news news;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* bulk copies: one thread starts them */

template <typename Grain> static __device__ void init_pipeline(fixed_shared<Grain> *shared) {
  if (threadIdx.x == 0)
    for (int s = 0; s < FIXED_RING; s++) arrival_init(shared_address(&shared->ready[s]));
  fence_bulk();
  __syncthreads();
}

template <typename Grain>
static __device__ void fetch_tile(fixed_shared<Grain> *shared, uint32_t s, const Grain *from) {
  if (threadIdx.x != 0) return;
  const uint32_t ready = shared_address(&shared->ready[s]);
  arrival_expect(ready, sizeof(fixed_tile<Grain>));
  bulk_read(shared_address(&shared->tile[s]), from, sizeof(fixed_tile<Grain>), ready);
}

/* Waits until tile s of the ring has arrived; `parity`: of the number of times that it has been used. */
template <typename Grain> static __device__ void wait_tile(fixed_shared<Grain> *shared, uint32_t s, uint32_t parity) {
  arrival_wait(shared_address(&shared->ready[s]), parity);
}

/* Called after a barrier: then the fence of one thread covers the writes of all. */
template <typename Grain> static __device__ void write_tile(const fixed_shared<Grain> *shared, uint32_t s, Grain *to) {
  if (threadIdx.x != 0) return;
  fence_bulk();
  bulk_write(to, shared_address(&shared->tile[s]), sizeof(fixed_tile<Grain>));
  bulk_commit();
  bulk_wait_read<1>(); /* the write before this one has read its tile */
}
static __device__ void wait_written() { bulk_wait(); }
static __device__ void commit_fetches() {}

#else

template <typename Grain> static __device__ void init_pipeline(fixed_shared<Grain> *) { __syncthreads(); }

template <typename Grain>
static __device__ void fetch_tile(fixed_shared<Grain> *shared, uint32_t s, const Grain *from) {
  constexpr int pieces = (int)sizeof(fixed_tile<Grain>) / 16;
#pragma unroll
  for (int first = 0; first < pieces; first += FIXED_TILE) {
    const int piece = first + (int)threadIdx.x;
    if (piece < pieces) copy_async_through((uint4 *)&shared->tile[s] + piece, (const uint4 *)from + piece);
  }
}

/* Waits for a tile; the copy of the next tile may still be under way. */
template <typename Grain> static __device__ void wait_tile(fixed_shared<Grain> *, uint32_t, uint32_t) {
  wait_async<1>();
  __syncthreads();
}

/* Ends a group of fetches. */
static __device__ void commit_fetches() { commit_async(); }

template <typename Grain> static __device__ void write_tile(const fixed_shared<Grain> *shared, uint32_t s, Grain *to) {
  constexpr int pieces = (int)sizeof(fixed_tile<Grain>) / 16;
#pragma unroll
  for (int first = 0; first < pieces; first += FIXED_TILE) {
    const int piece = first + (int)threadIdx.x;
    if (piece < pieces) ((uint4 *)to)[piece] = ((const uint4 *)&shared->tile[s])[piece];
  }
}
static __device__ void wait_written() {}

#endif

#endif
