/* The exchange between GPUs through pinned host memory. */
#include "engine/comm/cuda/exchange_ways.h"

#include "engine/device/calls.h"
#include "engine/device/cuda.h"

#include <cuda_runtime_api.h>
#include <string.h>

static bool checked(cudaError_t error, const char *call) { return sim_cuda_failed((int)error, call, "exchange") == 0; }

/* Copies the columns of `rank` from array[rows][n] on the device to part[rows][share] on the host (`out`), or back. */
static bool copy_part(const sim_columns *c, int rank, void *array, int64_t *part, bool out) {
  const size_t size = sizeof(int64_t), count = sim_column_count(c, rank);
  char *device = (char *)array + sim_first_column(c, rank) * size;
  if (count == 0) return true;
  return checked(out ? cudaMemcpy2DAsync(part, c->share * size, device, c->n * size, count * size, (size_t)c->rows,
                                         cudaMemcpyDeviceToHost, sim_cuda_stream())
                     : cudaMemcpy2DAsync(device, c->n * size, part, c->share * size, count * size, (size_t)c->rows,
                                         cudaMemcpyHostToDevice, sim_cuda_stream()),
                 "cudaMemcpy2DAsync");
}

static int64_t *part_of(const sim_columns *c, int64_t *parts, int rank) {
  return parts + (size_t)rank * (size_t)c->rows * c->share;
}

/* Whether an exchange succeeded; a failure of another rank becomes one of the queue. */
static bool agreed(sim_status status) {
  if (status != SIM_OK) sim_cuda_failed_by(status, sim_error_last()->message);
  return status == SIM_OK;
}

/* Gathers the parts of all ranks in `sent`, then copies the others' parts (own_too: all) to the device. */
static void share_parts(sim_exchange *x, const sim_columns *c, void *array, bool own_too) {
  const sim_comm *comm = x->comm;
  if (!agreed(comm->ops->gather(comm, part_of(c, x->sent, comm->rank), sim_part_bytes(c), x->sent))) return;
  for (int r = 0; r < comm->size; r++)
    if ((own_too || r != comm->rank) && !copy_part(c, r, array, part_of(c, x->sent, r), false)) return;
}

static void gather(sim_exchange *x, const sim_columns *c, void *array) {
  const int rank = x->comm->rank;
  if (!copy_part(c, rank, array, part_of(c, x->sent, rank), true) || !sim_cuda_wait("exchange")) return;
  share_parts(x, c, array, false);
}

static void add(sim_exchange *x, int64_t *array) {
  const sim_comm *comm = x->comm;
  const sim_columns *c = &x->columns;
  const size_t bytes = sim_part_bytes(c), values = bytes / sizeof(int64_t);
  sim_piece pieces[SIM_RANKS_MAX];
  size_t count = 0;
  for (int r = 0; r < comm->size; r++) {
    if (!copy_part(c, r, array, part_of(c, x->sent, r), true)) return;
    if (r == comm->rank) continue;
    pieces[count++] = (sim_piece){r, part_of(c, x->sent, r), part_of(c, x->received, r), bytes, bytes};
  }
  if (!sim_cuda_wait("exchange") || !agreed(comm->ops->swap(comm, pieces, count))) return;
  uint64_t *own = (uint64_t *)part_of(c, x->sent, comm->rank); /* sums modulo 2^64, as int64 on the device */
  for (int r = 0; r < comm->size; r++) {
    const uint64_t *other = (const uint64_t *)part_of(c, x->received, r);
    if (r == comm->rank) continue;
    for (size_t i = 0; i < values; i++) own[i] += other[i];
  }
  share_parts(x, c, array, true);
}

const sim_exchange_way sim_exchange_staged_way = {.name = "staged", .gather = gather, .add = add};

sim_status sim_exchange_staged_begin(sim_exchange *x) {
  void *memory = NULL;
  const size_t bytes = sim_all_bytes(x->comm, &x->columns);
  SIM_TRY(sim_backend_cuda.alloc_host(2 * bytes, &memory));
  x->way = &sim_exchange_staged_way;
  x->sent = memory;
  x->received = x->sent + bytes / sizeof(int64_t);
  memset(memory, 0, 2 * bytes); /* ranks with fewer columns send whole parts too */
  sim_cuda_refuse_graphs();
  return SIM_OK;
}
