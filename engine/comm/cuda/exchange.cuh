/* Device code of exchanges by peer pointers. */
#ifndef SIM_ENGINE_EXCHANGE_CUH
#define SIM_ENGINE_EXCHANGE_CUH

#include "engine/comm/cuda/exchange_parts.h"

#include <cuda/std/chrono>

typedef unsigned long long exchange_value;

__device__ inline exchange_value exchange_now() { /* nanoseconds */
  using namespace cuda::std::chrono;
  return (exchange_value)duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

/* Area of a rank for meeting number `meeting`, in the memory that the ranks share. */
__device__ inline exchange_value *exchange_area(const sim_peers &p, int rank, exchange_value meeting) {
  return (exchange_value *)(p.memory[rank] + p.flags + meeting % 2 * p.area);
}

/* Delays a block by a random time, for tests. */
__device__ inline void exchange_wait_a_little(const sim_peers &p) {
  if (p.delay == 0) return;
  if (threadIdx.x == 0) {
    const exchange_value begin = exchange_now(), random = (begin / 32 + blockIdx.x) * 0x9E3779B97F4A7C15ull;
    while (exchange_now() - begin < (random >> 32) % p.delay * 1000) {}
  }
  __syncthreads();
}

#endif
