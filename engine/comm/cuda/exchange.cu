#include "engine/comm/cuda/exchange.cuh"

#include "engine/device/cuda.h"

#include <cuda_runtime.h>

typedef exchange_value value;

enum { THREADS = 256 };

__device__ inline size_t first_of(const sim_columns &c, int rank) {
  const size_t first = c.share * (size_t)rank;
  return first < c.n ? first : c.n;
}
__device__ inline size_t count_of(const sim_columns &c, int rank) { return first_of(c, rank + 1) - first_of(c, rank); }

static __global__ void push(const sim_peers p, const value *array) {
  exchange_wait_a_little(p);
  const sim_columns &c = p.columns;
  const size_t first = first_of(c, p.rank), count = count_of(c, p.rank);
  const value meeting = *p.meetings;
  for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < c.rows * count; i += (size_t)gridDim.x * THREADS) {
    const size_t at = i / count * c.n + first + i % count;
    const value here = array[at];
    for (int k = 1; k < p.ranks; k++) exchange_area(p, (p.rank + k) % p.ranks, meeting)[at] = here;
  }
}

static __global__ void pull(const sim_peers p, value *array) {
  const sim_columns &c = p.columns;
  const size_t first = first_of(c, p.rank), count = count_of(c, p.rank), others = c.n - count;
  const value *area = exchange_area(p, p.rank, *p.meetings - 1);
  for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < c.rows * others; i += (size_t)gridDim.x * THREADS) {
    const size_t column = i % others, at = i / others * c.n + (column < first ? column : column + count);
    array[at] = area[at];
  }
}

static __global__ void push_parts(const sim_peers p, const value *array) {
  exchange_wait_a_little(p);
  const sim_columns &c = p.columns;
  const value meeting = *p.meetings;
  for (int k = 1; k < p.ranks; k++) {
    const int to = (p.rank + k) % p.ranks;
    const size_t first = first_of(c, to), count = count_of(c, to);
    value *slot = exchange_area(p, to, meeting) + (size_t)p.rank * c.rows * c.share;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < c.rows * count; i += (size_t)gridDim.x * THREADS)
      slot[i / count * c.share + i % count] = array[i / count * c.n + first + i % count];
  }
}

static __global__ void add_parts(const sim_peers p, value *array) {
  const sim_columns &c = p.columns;
  const size_t first = first_of(c, p.rank), count = count_of(c, p.rank);
  const value *area = exchange_area(p, p.rank, *p.meetings - 1);
  for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < c.rows * count; i += (size_t)gridDim.x * THREADS) {
    value sum = array[i / count * c.n + first + i % count]; /* modulo 2^64, as int64 */
    for (int k = 1; k < p.ranks; k++)
      sum += area[(size_t)((p.rank + k) % p.ranks) * c.rows * c.share + i / count * c.share + i % count];
    array[i / count * c.n + first + i % count] = sum;
  }
}

/* With two ranks: stores all columns in the other rank's area, which then adds them to its own. The same bytes as by
 * parts, in one meeting. */
static __global__ void push_all(const sim_peers p, const value *array) {
  exchange_wait_a_little(p);
  value *area = exchange_area(p, 1 - p.rank, *p.meetings);
  const size_t all = p.columns.rows * p.columns.n;
  for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < all; i += (size_t)gridDim.x * THREADS)
    area[i] = array[i];
}

static __global__ void add_all(const sim_peers p, value *array) {
  const value *area = exchange_area(p, p.rank, *p.meetings - 1);
  const size_t all = p.columns.rows * p.columns.n;
  for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < all; i += (size_t)gridDim.x * THREADS)
    array[i] += area[i]; /* modulo 2^64, as int64 */
}

static __global__ void meet(const sim_peers p) { exchange_meet(p); }

static __global__ void mark(volatile int *word, int to) { *word = to; }

/* ---- launches ---- */

template <typename... Parameters, typename... Arguments>
static void launch(const sim_kernel *kernel, double bytes, unsigned blocks, unsigned threads,
                   void (*function)(Parameters...), Arguments... arguments) {
  sim_cuda_begin(kernel);
  function<<<blocks, threads, 0, (cudaStream_t)sim_cuda_stream()>>>(arguments...);
  sim_cuda_end(kernel, bytes);
}

static unsigned grid_of(size_t values) {
  const size_t blocks = (values + THREADS - 1) / THREADS, most = 4 * (size_t)sim_cuda_multiprocessors();
  return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

static size_t values_of(const sim_peers *p) { return (size_t)p->columns.rows * p->columns.n; }

void sim_peers_push(const sim_peers *p, const void *array) {
  static const sim_kernel kernel = {"exchange_push", "exchange", SIM_LIMIT_BYTES};
  const size_t own = (size_t)p->columns.rows * p->columns.share;
  launch(&kernel, 8.0 * (double)own * p->ranks, grid_of(own), THREADS, push, *p, (const value *)array);
}
void sim_peers_push_parts(const sim_peers *p, const void *array) {
  static const sim_kernel kernel = {"exchange_push_parts", "exchange", SIM_LIMIT_BYTES};
  const size_t part = (size_t)p->columns.rows * p->columns.share;
  launch(&kernel, 16.0 * (double)values_of(p), grid_of(part), THREADS, push_parts, *p, (const value *)array);
}
void sim_peers_meet(const sim_peers *p) {
  static const sim_kernel kernel = {"exchange_meet", "exchange", SIM_LIMIT_BYTES};
  launch(&kernel, 8.0 * p->ranks, 1, (unsigned)p->ranks, meet, *p);
}
void sim_peers_pull(const sim_peers *p, void *array) {
  static const sim_kernel kernel = {"exchange_pull", "exchange", SIM_LIMIT_BYTES};
  launch(&kernel, 16.0 * (double)values_of(p), grid_of(values_of(p)), THREADS, pull, *p, (value *)array);
}
void sim_peers_add_parts(const sim_peers *p, void *array) {
  static const sim_kernel kernel = {"exchange_add_parts", "exchange", SIM_LIMIT_BYTES};
  const size_t own = (size_t)p->columns.rows * p->columns.share;
  launch(&kernel, 8.0 * (double)own * (p->ranks + 1), grid_of(own), THREADS, add_parts, *p, (value *)array);
}

/* Adds parts that NCCL or MPI has brought. */
static __global__ void add(const sim_columns c, int rank, int ranks, const value *parts, value *array) {
  const size_t first = first_of(c, rank), count = count_of(c, rank);
  for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < c.rows * count; i += (size_t)gridDim.x * THREADS) {
    value sum = array[i / count * c.n + first + i % count]; /* modulo 2^64, as int64 */
    for (int k = 1; k < ranks; k++)
      sum += parts[(size_t)((rank + k) % ranks) * c.rows * c.share + i / count * c.share + i % count];
    array[i / count * c.n + first + i % count] = sum;
  }
}
void sim_parts_add(const sim_columns *c, int rank, int ranks, const void *parts, void *array) {
  static const sim_kernel kernel = {"exchange_add", "exchange", SIM_LIMIT_BYTES};
  const size_t own = (size_t)c->rows * c->share;
  launch(&kernel, 8.0 * (double)own * (ranks + 1), grid_of(own), THREADS, add, *c, rank, ranks, (const value *)parts,
         (value *)array);
}
void sim_parts_mark(volatile int *word, int to) {
  static const sim_kernel kernel = {"exchange_mark", "exchange", SIM_LIMIT_BYTES};
  launch(&kernel, 4, 1, 1, mark, word, to);
}
void sim_peers_gather(const sim_peers *p, void *array) {
  sim_peers_push(p, array);
  sim_peers_meet(p);
  sim_peers_pull(p, array);
}
static void add_by_two(const sim_peers *p, void *array) {
  static const sim_kernel pushed = {"exchange_push_all", "exchange", SIM_LIMIT_BYTES};
  static const sim_kernel added = {"exchange_add_all", "exchange", SIM_LIMIT_BYTES};
  const size_t all = values_of(p);
  launch(&pushed, 16.0 * (double)all, grid_of(all), THREADS, push_all, *p, (const value *)array);
  sim_peers_meet(p);
  launch(&added, 24.0 * (double)all, grid_of(all), THREADS, add_all, *p, (value *)array);
}
void sim_peers_add(const sim_peers *p, void *array) {
  if (p->ranks == 2) {
    add_by_two(p, array);
    return;
  }
  sim_peers_push_parts(p, array);
  sim_peers_meet(p);
  sim_peers_add_parts(p, array);
  sim_peers_gather(p, array);
}
