/* Device code of exchanges by peer pointers. */
#ifndef SIM_ENGINE_EXCHANGE_CUH
#define SIM_ENGINE_EXCHANGE_CUH

#include "engine/comm/cuda/exchange_parts.h"

#include <cuda/atomic>
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

/* A meeting of all ranks, by a block with a thread for each of them: the thread of another rank sets this rank's flag
 * in that rank's memory, and waits until that rank's flag is set here. After the meeting each rank can read what any
 * rank stored before it. */
__device__ inline void exchange_meet(const sim_peers &p) {
  enum { LOOK = 256 /* polls between checks of the host's words */ };
  typedef cuda::atomic_ref<exchange_value, cuda::thread_scope_system> flag;
  const int other = threadIdx.x;
  const exchange_value meeting = *p.meetings + 1;
  int waited = 0;
  if (other != p.rank) {
    __threadfence_system(); /* makes earlier stores, those of earlier kernels too, visible before the flag */
    flag(*(exchange_value *)(p.memory[other] + p.rank * SIM_FLAG_STRIDE)).store(meeting, cuda::memory_order_release);
    flag own(*(exchange_value *)(p.memory[p.rank] + other * SIM_FLAG_STRIDE));
    const exchange_value begin = exchange_now();
    for (unsigned polls = 1; own.load(cuda::memory_order_acquire) < meeting; polls++) {
      if (polls % LOOK != 0) continue;
      if (!waited) p.words->waiting = waited = 1;
      if (p.words->abandoned) break;
      if (exchange_now() - begin > p.words->patience) {
        p.words->late = 1;
        break;
      }
    }
  }
  const int any = __syncthreads_or(waited);
  if (other == 0 && any) p.words->waiting = 0;
  if (other == 0) *p.meetings = meeting;
}

#endif
