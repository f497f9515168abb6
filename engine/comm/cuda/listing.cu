#include "engine/comm/cuda/listing.h"

#include "engine/comm/cuda/exchange.cuh"
#include "engine/device/calls.h"
#include "engine/device/cuda.h"

#include <cuda_runtime.h>
#include <stdlib.h>

typedef exchange_value value;

enum { THREADS = 256 };

struct sim_listing {
  const sim_comm *comm;
  sim_exchange *exchange;
  int rows;
  size_t n, words;
  /* Staged: the entries of all ranks in order, [rows] of each rank's entries, in device and in pinned host memory. */
  value *packed, *staged;
  uint32_t *ends; /* [ranks], pinned */
};

/* ---- sizes ---- */

static sim_columns columns_of(const sim_comm *comm, int rows, size_t n, size_t words) {
  const size_t least = (words * (size_t)comm->size + (size_t)rows - 1) / (size_t)rows, most = n > least ? n : least;
  const sim_columns columns = {rows, most, sim_comm_share(comm, most)};
  return columns;
}
static size_t area_bytes(const sim_comm *comm, int rows, size_t n, size_t words) {
  return (size_t)rows * columns_of(comm, rows, n, words).n * sizeof(value);
}

double sim_listing_bytes(const sim_comm *comm, int rows, size_t n, size_t words) {
  const sim_columns columns = columns_of(comm, rows, n, words);
  return sim_exchange_bytes(comm, &columns);
}

/* ---- device code ---- */

typedef struct entries {
  size_t first, end;
} entries;

__device__ inline entries entries_of(const sim_listed &which, int rank) {
  const entries own = {rank > 0 ? which.ends[rank - 1] : 0, which.ends[rank]};
  return own;
}
__device__ inline size_t column_of(const sim_listed &which, size_t entry) {
  return which.order != nullptr ? which.order[entry] : entry;
}
__device__ inline bool is_needed(const sim_listed &which, size_t column) {
  return which.mark == nullptr || which.mark[column] >= which.least;
}

static __global__ void push(const sim_peers p, const value *array, int rows, size_t n, const sim_listed which) {
  exchange_wait_a_little(p);
  const entries own = entries_of(which, p.rank);
  const value meeting = *p.meetings;
  for (size_t i = own.first + (size_t)blockIdx.x * THREADS + threadIdx.x; i < own.end;
       i += (size_t)gridDim.x * THREADS) {
    const size_t column = column_of(which, i);
    if (!is_needed(which, column)) continue;
    for (int row = 0; row < rows; row++) {
      const value here = array[row * n + column];
      for (int k = 1; k < p.ranks; k++) exchange_area(p, (p.rank + k) % p.ranks, meeting)[row * n + i] = here;
    }
  }
}

static __global__ void pull(const sim_peers p, value *array, int rows, size_t n, const sim_listed which) {
  const entries own = entries_of(which, p.rank);
  const value *const area = exchange_area(p, p.rank, *p.meetings - 1);
  const size_t count = own.end - own.first, others = n - count;
  for (size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x; k < others; k += (size_t)gridDim.x * THREADS) {
    const size_t i = k < own.first ? k : k + count, column = column_of(which, i);
    if (!is_needed(which, column)) continue;
    for (int row = 0; row < rows; row++) array[row * n + column] = area[row * n + i];
  }
}

/* Copies the listed entries of `rank` to `packed`, [rows][entries of the rank] from rows * first on; `back`: from
 * there. */
static __global__ void pack(int rank, value *array, int rows, size_t n, const sim_listed which, value *packed,
                            bool back) {
  const entries own = entries_of(which, rank);
  const size_t count = own.end - own.first;
  for (size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x; k < count; k += (size_t)gridDim.x * THREADS) {
    const size_t column = column_of(which, own.first + k);
    if (!is_needed(which, column)) continue;
    for (int row = 0; row < rows; row++) {
      value *const there = packed + rows * own.first + row * count + k, *const here = array + row * n + column;
      *(back ? here : there) = *(back ? there : here);
    }
  }
}

/* ---- launches ---- */

template <typename... Parameters, typename... Arguments>
static void launch(const sim_kernel *kernel, int rows, size_t count, void (*function)(Parameters...),
                   Arguments... arguments) {
  const size_t blocks = (count + THREADS - 1) / THREADS, most = 8 * (size_t)sim_cuda_multiprocessors();
  const unsigned grid = (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
  sim_cuda_begin(kernel);
  function<<<grid, THREADS, 0, (cudaStream_t)sim_cuda_stream()>>>(arguments...);
  sim_cuda_end(kernel, (4 + 16.0 * rows) * (double)count);
}

static bool checked(cudaError_t error, const char *call) { return sim_cuda_failed(error, call, "exchange") == 0; }

static bool copy_staged(value *to, const value *from, size_t first, size_t end, cudaMemcpyKind kind) {
  return first == end || checked(cudaMemcpyAsync(to + first, from + first, (end - first) * sizeof *to, kind,
                                                 (cudaStream_t)sim_cuda_stream()),
                                 "cudaMemcpyAsync");
}

static void gather_staged(sim_listing *x, value *array, int rows, const sim_listed *which) {
  static const sim_kernel packing = {"exchange_pack", "exchange", SIM_LIMIT_BYTES},
                          unpacking = {"exchange_unpack", "exchange", SIM_LIMIT_BYTES};
  const sim_comm *comm = x->comm;
  const size_t ranks = (size_t)comm->size, all = (size_t)rows * x->n;
  size_t bytes[SIM_RANKS_MAX];
  launch(&packing, rows, sim_comm_share(comm, x->n), pack, comm->rank, array, rows, x->n, *which, x->packed, false);
  if (!checked(cudaMemcpyAsync(x->ends, which->ends, ranks * sizeof *x->ends, cudaMemcpyDeviceToHost,
                               (cudaStream_t)sim_cuda_stream()),
               "cudaMemcpyAsync") ||
      !sim_cuda_wait("exchange"))
    return;
  for (size_t r = 0; r < ranks; r++) bytes[r] = (size_t)rows * x->ends[r] * sizeof(value);
  const size_t end = (size_t)rows * x->ends[comm->rank],
               first = comm->rank > 0 ? (size_t)rows * x->ends[comm->rank - 1] : 0;
  if (!copy_staged(x->staged, x->packed, first, end, cudaMemcpyDeviceToHost) || !sim_cuda_wait("exchange")) return;
  const sim_status status = sim_comm_gather_parts(comm, x->staged, bytes);
  if (status != SIM_OK) {
    sim_cuda_failed_by(status, sim_error_last()->message);
    return;
  }
  if (!copy_staged(x->packed, x->staged, 0, first, cudaMemcpyHostToDevice) ||
      !copy_staged(x->packed, x->staged, end, all, cudaMemcpyHostToDevice))
    return;
  for (int r = 0; r < comm->size; r++)
    if (r != comm->rank)
      launch(&unpacking, rows, sim_comm_share(comm, x->n), pack, r, array, rows, x->n, *which, x->packed, true);
}

void sim_listing_gather(sim_listing *x, void *array, int rows, const sim_listed *which) {
  static const sim_kernel pushing = {"exchange_push_listed", "exchange", SIM_LIMIT_BYTES},
                          pulling = {"exchange_pull_listed", "exchange", SIM_LIMIT_BYTES};
  const sim_peers *const peers = sim_exchange_peers(x->exchange);
  const size_t share = sim_comm_share(x->comm, x->n);
  if (peers == NULL) {
    gather_staged(x, (value *)array, rows, which);
    return;
  }
  launch(&pushing, rows, share, push, *peers, (const value *)array, rows, x->n, *which);
  sim_peers_meet(peers);
  launch(&pulling, rows, x->n - share, pull, *peers, (value *)array, rows, x->n, *which);
}

static void gather_words_staged(sim_listing *x, value *array) {
  const sim_comm *comm = x->comm;
  const size_t first = (size_t)comm->rank * x->words;
  if (!copy_staged(x->staged, array, first, first + x->words, cudaMemcpyDeviceToHost) || !sim_cuda_wait("exchange"))
    return;
  const sim_status status = comm->ops->gather(comm, x->staged + first, x->words * sizeof *array, x->staged);
  if (status != SIM_OK)
    sim_cuda_failed_by(status, sim_error_last()->message);
  else
    copy_staged(array, x->staged, 0, x->words * (size_t)comm->size, cudaMemcpyHostToDevice);
}

void sim_listing_gather_words(sim_listing *x, void *array) {
  const sim_peers *const peers = sim_exchange_peers(x->exchange);
  if (peers == NULL) {
    gather_words_staged(x, (value *)array);
    return;
  }
  sim_peers few = *peers;
  few.columns = {1, x->words * (size_t)few.ranks, x->words};
  sim_peers_push(&few, array);
  sim_peers_meet(&few);
  sim_peers_pull(&few, array);
}

void sim_listing_meet(sim_listing *x) { sim_peers_meet(sim_exchange_peers(x->exchange)); }

/* ---- windows ---- */

/* What a rank tells the others about its window. */
typedef struct offer {
  cudaIpcMemHandle_t handle;
  int valid;
} offer;

/* Maps the windows of all ranks; returns whether that succeeded. */
static bool map_windows(const sim_comm *comm, const offer *offers, void **memory) {
  bool all = true;
  for (int r = 0; r < comm->size; r++) {
    if (r == comm->rank) continue;
    if (!offers[r].valid ||
        cudaIpcOpenMemHandle(&memory[r], offers[r].handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess)
      all = false;
  }
  (void)cudaGetLastError();
  return all;
}

sim_status sim_listing_window(sim_listing *x, size_t bytes, void **memory) {
  const sim_comm *comm = x->comm;
  const size_t page = (size_t)1 << 21; /* smaller blocks share a mapping of the driver with other memory */
  uint64_t without = 0;
  for (int r = 0; r < comm->size; r++) memory[r] = NULL;
  if (sim_exchange_peers(x->exchange) == NULL) return SIM_OK;
  offer *offers = (offer *)calloc((size_t)comm->size + 1, sizeof *offers), *own = offers + comm->size;
  if (offers == NULL) return sim_no_memory("the exchange");
  sim_status status = sim_backend_cuda.alloc((bytes + page - 1) / page * page, &memory[comm->rank]);
  if (status == SIM_OK) {
    own->valid = cudaIpcGetMemHandle(&own->handle, memory[comm->rank]) == cudaSuccess;
    status = comm->ops->gather(comm, own, sizeof *own, offers);
  }
  if (status == SIM_OK) status = sim_comm_agree(comm, !map_windows(comm, offers, memory), &without);
  for (int r = 0; r < comm->size && without != 0; r++) memory[r] = NULL;
  free(offers);
  return status;
}

/* ---- life ---- */

static sim_status begin_staged(sim_listing *x) {
  const size_t bytes = area_bytes(x->comm, x->rows, x->n, x->words);
  void *packed = NULL, *staged = NULL, *ends = NULL;
  sim_status status = sim_backend_cuda.alloc(bytes, &packed);
  x->packed = (value *)packed;
  if (status == SIM_OK) status = sim_backend_cuda.alloc_host(bytes, &staged);
  x->staged = (value *)staged;
  if (status == SIM_OK) status = sim_backend_cuda.alloc_host((size_t)x->comm->size * sizeof *x->ends, &ends);
  x->ends = (uint32_t *)ends;
  sim_cuda_refuse_graphs();
  return status;
}

sim_status sim_listing_create(const sim_comm *comm, int rows, size_t n, size_t words, sim_listing **out) {
  const sim_columns columns = columns_of(comm, rows, n, words);
  sim_listing *x = *out = (sim_listing *)calloc(1, sizeof *x);
  if (x == NULL) return sim_no_memory("the exchange");
  x->comm = comm;
  x->rows = rows;
  x->n = n;
  x->words = words;
  sim_status status = sim_exchange_create(comm, &columns, &x->exchange);
  if (status == SIM_OK && sim_exchange_peers(x->exchange) == NULL) status = begin_staged(x);
  if (status != SIM_OK) sim_listing_destroy(out);
  return status;
}

void sim_listing_destroy(sim_listing **listing) {
  sim_listing *x = *listing;
  if (x == NULL) return;
  sim_exchange_destroy(&x->exchange);
  sim_backend_cuda.free(x->packed);
  sim_backend_cuda.free_host(x->staged);
  sim_backend_cuda.free_host(x->ends);
  free(x);
  *listing = NULL;
}
