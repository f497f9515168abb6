#include "engine/comm/exchange.cuh"

#include "engine/device/cuda.h"

#include <cuda/atomic>
#include <cuda_runtime.h>

typedef exchange_value value;
typedef cuda::atomic_ref<value, cuda::thread_scope_system> flag;

enum { THREADS = 256, LOOK = 256 /* polls between looks at the host's words */ };

__device__ inline size_t first_of(const sim_columns &c, int rank) {
  const size_t first = c.share * (size_t)rank;
  return first < c.n ? first : c.n;
}
__device__ inline size_t count_of(const sim_columns &c, int rank) { return first_of(c, rank + 1) - first_of(c, rank); }

/* All threads of all blocks: tells the other ranks that what the kernel has stored is there. The last block does. */
__device__ inline void raise_flags(const sim_peers &p, value meeting) {
  __shared__ bool last;
  if (p.silent) return;
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::atomic_ref<value, cuda::thread_scope_device> blocks(p.meetings[1]);
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
    p.meetings[1] = 0;
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

/* Loop over the columns of a row, which is blockIdx.y. */
#define EACH_COLUMN(i, count)                                                                                          \
  for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < (count); i += (size_t)gridDim.x * THREADS)

static __global__ void push(const sim_peers p, const value *array) {
  exchange_wait_a_little(p);
  const sim_columns &c = p.columns;
  const size_t row = blockIdx.y * c.n + first_of(c, p.rank), count = count_of(c, p.rank);
  const value meeting = p.meetings[0];
  EACH_COLUMN(i, count) {
    const value here = array[row + i];
    for (int k = 1; k < p.ranks; k++) exchange_area(p, (p.rank + k) % p.ranks, meeting)[row + i] = here;
  }
  raise_flags(p, meeting + 1);
}

static __global__ void pull(const sim_peers p, value *array) {
  const sim_columns &c = p.columns;
  const size_t row = blockIdx.y * c.n, first = first_of(c, p.rank), count = count_of(c, p.rank);
  const value meeting = p.meetings[0];
  await_flags(p, meeting);
  const value *area = exchange_area(p, p.rank, meeting - 1);
  EACH_COLUMN(i, c.n - count) {
    const size_t at = row + (i < first ? i : i + count);
    array[at] = area[at];
  }
}

static __global__ void push_parts(const sim_peers p, const value *array) {
  exchange_wait_a_little(p);
  const sim_columns &c = p.columns;
  const value meeting = p.meetings[0];
  for (int k = 1; k < p.ranks; k++) {
    const int to = (p.rank + k) % p.ranks;
    const value *row = array + blockIdx.y * c.n + first_of(c, to);
    value *slot = exchange_area(p, to, meeting) + ((size_t)p.rank * c.rows + blockIdx.y) * c.share;
    EACH_COLUMN(i, count_of(c, to)) slot[i] = row[i];
  }
  raise_flags(p, meeting + 1);
}

/* Sum of one column of row blockIdx.y over all ranks, modulo 2^64, as int64. */
__device__ inline value sum_of(const sim_columns &c, int rank, int ranks, const value *parts, value own, size_t i) {
  for (int k = 1; k < ranks; k++) own += parts[((size_t)((rank + k) % ranks) * c.rows + blockIdx.y) * c.share + i];
  return own;
}

static __global__ void add_push(const sim_peers p, value *array) {
  exchange_wait_a_little(p);
  const sim_columns &c = p.columns;
  const size_t row = blockIdx.y * c.n + first_of(c, p.rank), count = count_of(c, p.rank);
  const value meeting = p.meetings[0];
  await_flags(p, meeting);
  const value *parts = exchange_area(p, p.rank, meeting - 1);
  EACH_COLUMN(i, count) {
    const value sum = sum_of(c, p.rank, p.ranks, parts, array[row + i], i);
    array[row + i] = sum;
    for (int k = 1; k < p.ranks; k++) exchange_area(p, (p.rank + k) % p.ranks, meeting)[row + i] = sum;
  }
  raise_flags(p, meeting + 1);
}

static __global__ void add(const sim_columns c, int rank, int ranks, const value *parts, value *array) {
  const size_t row = blockIdx.y * c.n + first_of(c, rank);
  EACH_COLUMN(i, count_of(c, rank)) array[row + i] = sum_of(c, rank, ranks, parts, array[row + i], i);
}

static __global__ void meet(const sim_peers p) {
  const value meeting = p.meetings[0] + 1;
  raise_flags(p, meeting);
  await_flags(p, meeting);
}

/* ---- launches ---- */

/* A row of blocks for each row of the array, of at most `columns` columns. */
template <typename... Parameters, typename... Arguments>
static void launch(const sim_kernel *kernel, double bytes, const sim_columns *c, size_t columns,
                   void (*function)(Parameters...), Arguments... arguments) {
  const size_t blocks = (columns + THREADS - 1) / THREADS;
  const size_t most = 4 * (size_t)sim_cuda_multiprocessors() / (size_t)c->rows + 1;
  const dim3 grid((unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most), (unsigned)c->rows);
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
void sim_peers_pull(const sim_peers *p, void *array) {
  static const sim_kernel kernel = {"exchange_pull", "exchange", SIM_LIMIT_BYTES};
  const sim_columns *c = &p->columns;
  launch(&kernel, 2 * bytes_of(c, c->n), c, c->n, pull, *p, (value *)array);
}
void sim_peers_push_parts(const sim_peers *p, const void *array) {
  static const sim_kernel kernel = {"exchange_push_parts", "exchange", SIM_LIMIT_BYTES};
  const sim_columns *c = &p->columns;
  launch(&kernel, 2 * bytes_of(c, c->n), c, c->share, push_parts, *p, (const value *)array);
}
void sim_peers_add_push(const sim_peers *p, void *array) {
  static const sim_kernel kernel = {"exchange_add_push", "exchange", SIM_LIMIT_BYTES};
  const sim_columns *c = &p->columns;
  launch(&kernel, 2 * bytes_of(c, c->share) * p->ranks, c, c->share, add_push, *p, (value *)array);
}
void sim_peers_meet(const sim_peers *p) {
  static const sim_kernel kernel = {"exchange_meet", "exchange", SIM_LIMIT_BYTES};
  const sim_columns none = {1, 0, 0};
  launch(&kernel, 8.0 * p->ranks, &none, 0, meet, *p);
}
void sim_parts_add(const sim_columns *c, int rank, int ranks, const void *parts, void *array) {
  static const sim_kernel kernel = {"exchange_add", "exchange", SIM_LIMIT_BYTES};
  launch(&kernel, bytes_of(c, c->share) * (ranks + 1), c, c->share, add, *c, rank, ranks, (const value *)parts,
         (value *)array);
}
