/* fake_exchange PLUGIN: a rank of an MPI world whose GPU is the stand-in's, where MPI reports that it takes GPU memory.
 * The exchange by MPI copies every column to the right place. Numbers to be added arrive, and the kernel that adds is
 * that of the exchange by NCCL. */
#include "engine/comm/cuda/exchange_ways.h"
#include "engine/comm/mpi.h"
#include "engine/device/cuda.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #condition, sim_error_last()->message);     \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

static uint64_t value(int rank, size_t at) { return (uint64_t)rank * 1000003 + at; }

static void try_columns(const sim_comm *comm, int rows, size_t n) {
  const sim_columns c = {rows, n, sim_comm_share(comm, n)};
  const size_t all = (size_t)rows * n;
  sim_exchange *x = NULL;
  void *memory = NULL;
  CHECK(sim_exchange_create(comm, &c, &x) == SIM_OK && x->way == &sim_exchange_mpi_way);
  CHECK(sim_backend_cuda.alloc(all * sizeof(uint64_t), &memory) == SIM_OK);
  uint64_t *array = memory;
  for (size_t i = 0; i < all; i++) array[i] = value(comm->rank, i);
  sim_exchange_gather(x, array);
  for (size_t i = 0; i < all; i++) CHECK(array[i] == value((int)(i % n / c.share), i));
  for (size_t i = 0; i < all; i++) array[i] = value(comm->rank, i);
  sim_exchange_add(x, memory);
  for (int r = 0; r < comm->size; r++)
    for (int row = 0; row < rows && r != comm->rank; row++)
      for (size_t k = 0; k < sim_column_count(&c, comm->rank); k++)
        CHECK(x->parts[((size_t)r * (size_t)rows + (size_t)row) * c.share + k] ==
              value(r, (size_t)row * n + sim_first_column(&c, comm->rank) + k));
  CHECK(sim_queue_cuda.status() == SIM_OK);
  sim_backend_cuda.free(memory);
  sim_exchange_destroy(&x);
}

static void on_lost(sim_status status, const char *message) {
  fprintf(stderr, "lost: %s: %s\n", sim_status_name(status), message);
}

int main(int argc, char **argv) {
  const sim_mpi_plugin *plugin;
  const sim_backend *backend;
  sim_comm comm = sim_comm_alone;
  CHECK(argc == 2 && sim_mpi_load(argv[1], &plugin) == SIM_OK &&
        sim_mpi_attach(plugin, on_lost, NULL, &comm) == SIM_OK);
  CHECK(sim_backend_select("cuda:0", &backend) == SIM_OK);
  try_columns(&comm, 3, 1001);
  try_columns(&comm, 1, 2); /* fewer columns than ranks */
  try_columns(&comm, 4, 300000);
  printf("rank %d: equal\n", comm.rank);
  (void)fflush(stdout);
  CHECK(sim_mpi_detach(&comm) == SIM_OK);
  return 0;
}
