#include "engine/comm/exchange.cuh"

#include "engine/device/cuda.h"

#include <cuda/atomic>
#include <cuda_runtime.h>

typedef exchange_value value;
typedef cuda::atomic_ref<value, cuda::thread_scope_system> flag;

enum {
  THREADS = 256,
  RESIDENT = 2, /* blocks of a multiprocessor */
  LOOK = 256    /* polls between looks at the host's words */
};

__device__ inline size_t first_of(const sim_columns &c, int rank) {
  const size_t first = c.share * (size_t)rank;
  return first < c.n ? first : c.n;
}
__device__ inline size_t count_of(const sim_columns &c, int rank) { return first_of(c, rank + 1) - first_of(c, rank); }

/* ---- meetings ---- */

/* All threads of all blocks: tells the other ranks that what all blocks have stored is there. The last block does. Two
 * counters, used in turn: a block may be at the next meeting of its kernel while another still leaves this one. */
__device__ inline void raise_flags(const sim_peers &p, value meeting) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::atomic_ref<value, cuda::thread_scope_device> blocks(p.meetings[1 + meeting % 2]);
    __threadfence_system(); /* with the barrier: what this block has stored is seen by whoever sees the flag */
    last = blocks.fetch_add(1, cuda::memory_order_acq_rel) + 1 == (value)gridDim.x * gridDim.y;
  }
  __syncthreads();
  if (!last) return;
  const int other = threadIdx.x;
  if (other < p.ranks && other != p.rank) {
    __threadfence_system();
    flag(*(value *)(p.memory[other] + p.rank * SIM_FLAG_STRIDE)).store(meeting, cuda::memory_order_release);
  }
  if (threadIdx.x == 0) {
    p.meetings[0] = meeting;
    p.meetings[1 + meeting % 2] = 0;
  }
}

/* All threads of a block: waits until the other ranks have raised their flags. */
__device__ inline void await_flags(const sim_peers &p, value meeting) {
  const int other = threadIdx.x;
  if (other < p.ranks && other != p.rank) {
    flag own(*(value *)(p.memory[p.rank] + other * SIM_FLAG_STRIDE));
    const value begin = exchange_now();
    for (unsigned polls = 1; own.load(cuda::memory_order_acquire) < meeting; polls++) {
      if (polls % LOOK != 0) continue;
      if (p.words->abandoned) break;
      if (exchange_now() - begin > p.words->patience) {
        p.words->late = 1;
        break;
      }
    }
  }
  __syncthreads();
}

static __global__ void meet(const sim_peers p) {
  const value meeting = p.meetings[0] + 1;
  raise_flags(p, meeting);
  await_flags(p, meeting);
}

/* ---- what is stored, added and taken between meetings; a row of blocks for each row of the array ---- */

#define EACH_COLUMN(i, count)                                                                                          \
  for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < (count); i += (size_t)gridDim.x * THREADS)

__device__ inline void store_own(const sim_peers &p, const value *array, value meeting) {
  const sim_columns &c = p.columns;
  const size_t row = blockIdx.y * c.n + first_of(c, p.rank);
  EACH_COLUMN(i, count_of(c, p.rank)) {
    const value here = array[row + i];
    for (int k = 1; k < p.ranks; k++) exchange_area(p, (p.rank + k) % p.ranks, meeting)[row + i] = here;
  }
}

__device__ inline void take_others(const sim_peers &p, value *array, value meeting) {
  const sim_columns &c = p.columns;
  const size_t row = blockIdx.y * c.n, first = first_of(c, p.rank), count = count_of(c, p.rank);
  const value *area = exchange_area(p, p.rank, meeting);
  EACH_COLUMN(i, c.n - count) {
    const size_t at = row + (i < first ? i : i + count);
    array[at] = area[at];
  }
}

/* The others' columns to their owners: [ranks][rows][share], by the rank that stores. */
__device__ inline void store_parts(const sim_peers &p, const value *array, value meeting) {
  const sim_columns &c = p.columns;
  for (int k = 1; k < p.ranks; k++) {
    const int to = (p.rank + k) % p.ranks;
    const value *row = array + blockIdx.y * c.n + first_of(c, to);
    value *slot = exchange_area(p, to, meeting) + ((size_t)p.rank * c.rows + blockIdx.y) * c.share;
    EACH_COLUMN(i, count_of(c, to)) slot[i] = row[i];
  }
}

/* Sum of one column of row blockIdx.y over all ranks, modulo 2^64, as int64. */
__device__ inline value sum_of(const sim_columns &c, int rank, int ranks, const value *parts, value own, size_t i) {
  for (int k = 1; k < ranks; k++) own += parts[((size_t)((rank + k) % ranks) * c.rows + blockIdx.y) * c.share + i];
  return own;
}

__device__ inline void add_parts(const sim_columns &c, int rank, int ranks, const value *parts, value *array) {
  const size_t row = blockIdx.y * c.n + first_of(c, rank);
  EACH_COLUMN(i, count_of(c, rank)) array[row + i] = sum_of(c, rank, ranks, parts, array[row + i], i);
}

static __global__ void push(const sim_peers p, const value *array) {
  exchange_wait_a_little(p);
  store_own(p, array, p.meetings[0]);
}

static __global__ void pull(const sim_peers p, value *array) { take_others(p, array, p.meetings[0] - 1); }

/* The blocks of the next two wait for other ranks, which wait for all blocks of this one: all are resident. */
static __global__ void __launch_bounds__(THREADS, RESIDENT) gather(const sim_peers p, value *array) {
  const value meeting = p.meetings[0];
  exchange_wait_a_little(p);
  store_own(p, array, meeting);
  raise_flags(p, meeting + 1);
  await_flags(p, meeting + 1);
  take_others(p, array, meeting);
}

/* A thread has the same columns when it adds and when it stores. */
static __global__ void __launch_bounds__(THREADS, RESIDENT) add_gather(const sim_peers p, value *array) {
  const value meeting = p.meetings[0];
  exchange_wait_a_little(p);
  store_parts(p, array, meeting);
  raise_flags(p, meeting + 1);
  await_flags(p, meeting + 1);
  add_parts(p.columns, p.rank, p.ranks, exchange_area(p, p.rank, meeting), array);
  exchange_wait_a_little(p);
  store_own(p, array, meeting + 1);
  raise_flags(p, meeting + 2);
  await_flags(p, meeting + 2);
  take_others(p, array, meeting + 1);
}

static __global__ void add(const sim_columns c, int rank, int ranks, const value *parts, value *array) {
  add_parts(c, rank, ranks, parts, array);
}

/* ---- launches ---- */

/* For rows of `columns` columns at most. */
template <typename... Parameters, typename... Arguments>
static void launch(const sim_kernel *kernel, double bytes, const sim_columns *c, size_t columns,
                   void (*function)(Parameters...), Arguments... arguments) {
  const size_t blocks = (columns + THREADS - 1) / THREADS, rows = (size_t)c->rows;
  const size_t most = (RESIDENT * (size_t)sim_cuda_multiprocessors()) / rows;
  const dim3 grid((unsigned)(blocks < 1 || most < 1 ? 1 : blocks < most ? blocks : most), (unsigned)rows);
  sim_cuda_begin(kernel);
  function<<<grid, THREADS, 0, (cudaStream_t)sim_cuda_stream()>>>(arguments...);
  sim_cuda_end(kernel, bytes);
}

static double bytes_of(const sim_columns *c, size_t columns) { return 8.0 * c->rows * (double)columns; }

void sim_peers_push(const sim_peers *p, const void *array) {
  static const sim_kernel kernel = {"exchange_push", "exchange", SIM_LIMIT_BYTES};
  const sim_columns *c = &p->columns;
  launch(&kernel, bytes_of(c, c->share) * p->ranks, c, c->share, push, *p, (const value *)array);
}
void sim_peers_meet(const sim_peers *p) {
  static const sim_kernel kernel = {"exchange_meet", "exchange", SIM_LIMIT_BYTES};
  const sim_columns none = {1, 0, 0};
  launch(&kernel, 8.0 * p->ranks, &none, 0, meet, *p);
}
void sim_peers_pull(const sim_peers *p, void *array) {
  static const sim_kernel kernel = {"exchange_pull", "exchange", SIM_LIMIT_BYTES};
  const sim_columns *c = &p->columns;
  launch(&kernel, 2 * bytes_of(c, c->n), c, c->n, pull, *p, (value *)array);
}
void sim_peers_gather(const sim_peers *p, void *array) {
  static const sim_kernel kernel = {"exchange_gather", "exchange", SIM_LIMIT_BYTES};
  const sim_columns *c = &p->columns;
  launch(&kernel, bytes_of(c, c->share) * p->ranks + 2 * bytes_of(c, c->n), c, c->n, gather, *p, (value *)array);
}
void sim_peers_add(const sim_peers *p, void *array) {
  static const sim_kernel kernel = {"exchange_add", "exchange", SIM_LIMIT_BYTES};
  const sim_columns *c = &p->columns;
  launch(&kernel, 3 * bytes_of(c, c->share) * p->ranks + 4 * bytes_of(c, c->n), c, c->n, add_gather, *p,
         (value *)array);
}
void sim_parts_add(const sim_columns *c, int rank, int ranks, const void *parts, void *array) {
  static const sim_kernel kernel = {"exchange_add_parts", "exchange", SIM_LIMIT_BYTES};
  launch(&kernel, bytes_of(c, c->share) * (ranks + 1), c, c->share, add, *c, rank, ranks, (const value *)parts,
         (value *)array);
}
