/* The exchange between GPUs by an MPI library that accepts pointers to GPU memory: the host waits for the device, then
 * for MPI, which moves bytes and adds nothing. */
#include "engine/comm/cuda/exchange_ways.h"
#include "engine/comm/mpi.h"

#include "engine/device/calls.h"
#include "engine/device/cuda.h"

#include <stdio.h>

/* Address of one row of a rank's columns in an array. */
static uint64_t *row_of(const sim_columns *c, void *array, int row, int rank) {
  return (uint64_t *)array + (size_t)row * c->n + sim_first_column(c, rank);
}

/* Sends this rank's columns to all ranks and receives theirs into `array`. With `parts`: sends each rank its columns of
 * this array, and receives into x->parts, [ranks][rows][share], the other ranks' values of this rank's columns. A
 * failure of another rank becomes one of the queue. */
static void move(sim_exchange *x, const sim_columns *c, void *array, bool parts) {
  const sim_comm *comm = x->comm;
  const int own = comm->rank;
  sim_piece pieces[SIM_RANKS_MAX];
  if (!sim_cuda_wait("exchange")) return;
  for (int row = 0; row < c->rows; row++) {
    size_t count = 0;
    for (int r = 0; r < comm->size; r++) {
      uint64_t *part = x->parts + ((size_t)r * (size_t)c->rows + (size_t)row) * c->share;
      if (r == own) continue;
      pieces[count++] = (sim_piece){.rank = r,
                                    .in = row_of(c, array, row, parts ? r : own),
                                    .out = parts ? part : row_of(c, array, row, r),
                                    .in_bytes = sizeof(uint64_t) * sim_column_count(c, parts ? r : own),
                                    .out_bytes = sizeof(uint64_t) * sim_column_count(c, parts ? own : r)};
    }
    const sim_status status = comm->ops->swap(comm, pieces, count);
    if (status == SIM_OK) continue;
    sim_cuda_failed_by(status, sim_error_last()->message);
    return;
  }
}

static void gather(sim_exchange *x, const sim_columns *c, void *array) { move(x, c, array, false); }

static void add(sim_exchange *x, int64_t *array) { sim_exchange_add_parts(x, move, array); }

const sim_exchange_way sim_exchange_mpi_way = {.name = "mpi", .gather = gather, .add = add};

sim_status sim_exchange_mpi_begin(sim_exchange *x, char *why) {
  char own[SIM_EXCHANGE_WHY] = "";
  void *parts = NULL;
  bool all;
  x->way = &sim_exchange_mpi_way;
  if (!sim_mpi_takes_device(x->comm))
    snprintf(own, sizeof own, "the MPI library of rank %d does not say that it takes GPU memory", x->comm->rank);
  SIM_TRY(sim_exchange_unanimous(x->comm, own, why, &all));
  if (!all) return SIM_OK;
  if (x->parts == NULL) SIM_TRY(sim_backend_cuda.alloc(sim_all_bytes(x->comm, &x->columns), &parts));
  if (parts != NULL) x->parts = parts; /* else x->parts remains from a trial of NCCL */
  sim_cuda_refuse_graphs();
  SIM_TRY(sim_exchange_try(x, own));
  return sim_exchange_unanimous(x->comm, own, why, &all);
}
