/* The exchange between GPUs of one host by peer pointers: mapping of memory, and the order of its kernels. */
#include "engine/comm/cuda/exchange_ways.h"

#include "engine/device/calls.h"
#include "engine/device/cuda.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

static const unsigned long long patience = 600000000000; /* longest meeting, in nanoseconds */

static size_t flag_bytes(const sim_comm *comm) { return ((size_t)comm->size * SIM_FLAG_STRIDE + 255) / 256 * 256; }
static size_t area_bytes(const sim_comm *comm, const sim_columns *c) {
  return (sim_all_bytes(comm, c) + 255) / 256 * 256;
}

/* Bytes to allocate: whole 2 MiB pages, as smaller blocks share a mapping of the driver with other memory. */
static size_t shared_bytes(const sim_comm *comm, const sim_columns *c) {
  const size_t page = (size_t)1 << 21, bytes = flag_bytes(comm) + 2 * area_bytes(comm, c);
  return (bytes + page - 1) / page * page;
}

double sim_exchange_bytes(const sim_comm *comm, const sim_columns *columns) {
  return comm->size > 1 ? (double)shared_bytes(comm, columns) : 0;
}

/* What a rank tells the others about its memory. */
typedef struct offer {
  cudaIpcMemHandle_t handle;
  int valid;
} offer;

/* Maps the memory of all other ranks; writes into `why` if one of them cannot be mapped. */
static void map_peers(sim_exchange *x, const offer *offers, char why[SIM_EXCHANGE_WHY]) {
  for (int r = 0; r < x->comm->size; r++) {
    void *mapped = NULL;
    if (r == x->comm->rank) continue;
    cudaError_t error = cudaErrorInvalidResourceHandle;
    if (offers[r].valid) error = cudaIpcOpenMemHandle(&mapped, offers[r].handle, cudaIpcMemLazyEnablePeerAccess);
    if (error != cudaSuccess) {
      (void)cudaGetLastError();
      snprintf(why, SIM_EXCHANGE_WHY, "rank %d cannot map the memory of rank %d (%s)", x->comm->rank, r,
               cudaGetErrorName(error));
      return;
    }
    x->peers.memory[r] = mapped;
  }
}

/* Allocates this rank's memory and maps that of the others; writes into `why` if that is impossible. */
static sim_status share(sim_exchange *x, char why[SIM_EXCHANGE_WHY]) {
  const sim_comm *comm = x->comm;
  const size_t bytes = shared_bytes(comm, &x->columns);
  void *own = NULL, *meetings = NULL, *words = NULL;
  offer *offers = calloc((size_t)comm->size + 1, sizeof *offers);
  if (offers == NULL) return sim_no_memory("the exchange");
  sim_status status = sim_backend_cuda.alloc(bytes, &own);
  if (status == SIM_OK) status = sim_backend_cuda.alloc(3 * sizeof(unsigned long long), &meetings);
  if (status == SIM_OK) status = sim_backend_cuda.alloc_host(sizeof(sim_peer_words), &words);
  x->peers.memory[comm->rank] = own;
  x->peers.meetings = meetings;
  x->peers.words = words;
  if (status == SIM_OK) {
    *x->peers.words = (sim_peer_words){.patience = sim_exchange_trial};
    sim_calls_excused_by(&x->peers.words->waiting);
    offers[comm->size].valid = cudaIpcGetMemHandle(&offers[comm->size].handle, own) == cudaSuccess;
    (void)cudaGetLastError();
    status = comm->ops->gather(comm, &offers[comm->size], sizeof *offers, offers);
  }
  if (status == SIM_OK) map_peers(x, offers, why);
  free(offers);
  return status;
}

static void gather(sim_exchange *x, const sim_columns *columns, void *array) {
  sim_peers peers = x->peers;
  peers.columns = *columns;
  sim_peers_gather(&peers, array);
}

static void add(sim_exchange *x, int64_t *array) { sim_peers_add(&x->peers, array); }

static void abandon(sim_exchange *x) {
  if (x->peers.words != NULL) x->peers.words->abandoned = 1;
}

const sim_exchange_way sim_exchange_peers_way = {.name = "peer", .gather = gather, .add = add, .abandon = abandon};

sim_status sim_exchange_peers_begin(sim_exchange *x, char *why) {
  char own[SIM_EXCHANGE_WHY] = "";
  bool all;
  const char *delay = getenv("SIM_COMM_DELAY");
  x->way = &sim_exchange_peers_way;
  x->peers.rank = x->comm->rank;
  x->peers.ranks = x->comm->size;
  x->peers.flags = flag_bytes(x->comm);
  x->peers.area = area_bytes(x->comm, &x->columns);
  x->peers.columns = x->columns;
  x->peers.delay = delay ? (unsigned)strtoul(delay, NULL, 10) : 0;
  SIM_TRY(share(x, own));
  SIM_TRY(sim_exchange_unanimous(x->comm, own, why, &all));
  if (!all) return SIM_OK;
  SIM_TRY(sim_exchange_watch(x));                                         /* before the first meeting */
  for (int k = 0; k < 2 && !*own; k++) SIM_TRY(sim_exchange_try(x, own)); /* two trials, one through each area */
  if (x->peers.words->late) snprintf(own, sizeof own, "rank %d was not answered on the GPU", x->comm->rank);
  SIM_TRY(sim_exchange_unanimous(x->comm, own, why, &all));
  if (all) x->peers.words->patience = patience;
  return SIM_OK;
}
