/* The exchange between GPUs: the choice of the way, mapping of memory, the staged way, and the watch over kernels that
 * wait. */
#include "engine/comm/exchange_parts.h"

#include "engine/device/cuda.h"
#include "engine/log.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const long look_interval = 50000000;                                   /* ns between looks at the other ranks */
static const unsigned long long trial = 20000000000, patience = 600000000000; /* ns of a meeting at most */

struct sim_exchange {
  const sim_comm *comm;
  sim_columns columns;
  bool by_peers;
  /* peer */
  sim_peers peers;
  bool watched;
  atomic_bool trusted; /* the trial has succeeded: a rank that does not answer is a failure */
  atomic_bool ends;
  pthread_t watch;
  /* staged: pinned host memory, [ranks][rows][share] each */
  int64_t *sent, *received;
};

/* ---- sizes ---- */

static size_t part_bytes(const sim_columns *c) { return (size_t)c->rows * c->share * sizeof(int64_t); }
static size_t all_bytes(const sim_comm *comm, const sim_columns *c) { return (size_t)comm->size * part_bytes(c); }
static size_t flag_bytes(const sim_comm *comm) { return ((size_t)comm->size * SIM_FLAG_STRIDE + 255) / 256 * 256; }
static size_t area_bytes(const sim_comm *comm, const sim_columns *c) { return (all_bytes(comm, c) + 255) / 256 * 256; }

/* Small blocks share one mapping of the driver with others. */
static size_t shared_bytes(const sim_comm *comm, const sim_columns *c) {
  const size_t page = (size_t)1 << 21, bytes = flag_bytes(comm) + 2 * area_bytes(comm, c);
  return (bytes + page - 1) / page * page;
}

double sim_exchange_bytes(const sim_comm *comm, const sim_columns *columns) {
  return comm->size > 1 ? (double)shared_bytes(comm, columns) : 0;
}

static size_t first_of(const sim_columns *c, int rank) {
  const size_t first = c->share * (size_t)rank;
  return first < c->n ? first : c->n;
}

static size_t count_of(const sim_columns *c, int rank) { return first_of(c, rank + 1) - first_of(c, rank); }

/* ---- staged ---- */

static bool checked(cudaError_t error, const char *call) { return sim_cuda_failed((int)error, call, "exchange") == 0; }

/* Copies the columns of `rank` between array[rows][n] on the device and part[rows][share] on the host. */
static bool copy_part(const sim_exchange *x, int rank, void *array, int64_t *part, bool out) {
  const sim_columns *c = &x->columns;
  const size_t size = sizeof(int64_t), count = count_of(c, rank);
  char *device = (char *)array + first_of(c, rank) * size;
  if (count == 0) return true;
  return checked(out ? cudaMemcpy2DAsync(part, c->share * size, device, c->n * size, count * size, (size_t)c->rows,
                                         cudaMemcpyDeviceToHost, sim_cuda_stream())
                     : cudaMemcpy2DAsync(device, c->n * size, part, c->share * size, count * size, (size_t)c->rows,
                                         cudaMemcpyHostToDevice, sim_cuda_stream()),
                 "cudaMemcpy2DAsync");
}

static int64_t *part_of(const sim_exchange *x, int64_t *parts, int rank) {
  return parts + (size_t)rank * (size_t)x->columns.rows * x->columns.share;
}

static bool wait_for_device(void) {
  return checked(cudaStreamSynchronize(sim_cuda_stream()), "cudaStreamSynchronize") &&
         sim_queue_cuda.status() == SIM_OK;
}

/* The failure of another rank becomes that of the queue. */
static bool agreed(sim_status status) {
  if (status != SIM_OK) sim_cuda_failed_by(status, sim_error_last()->message);
  return status == SIM_OK;
}

/* This rank's part of `sent` to all; then all others' parts to the device. */
static void share_parts(sim_exchange *x, void *array, bool own_too) {
  const sim_comm *comm = x->comm;
  const size_t bytes = part_bytes(&x->columns);
  if (!agreed(comm->ops->gather(comm, part_of(x, x->sent, comm->rank), bytes, x->sent))) return;
  for (int r = 0; r < comm->size; r++)
    if ((own_too || r != comm->rank) && !copy_part(x, r, array, part_of(x, x->sent, r), false)) return;
}

static void gather_staged(sim_exchange *x, void *array) {
  if (!copy_part(x, x->comm->rank, array, part_of(x, x->sent, x->comm->rank), true) || !wait_for_device()) return;
  share_parts(x, array, false);
}

static void add_staged(sim_exchange *x, void *array) {
  const sim_comm *comm = x->comm;
  const size_t bytes = part_bytes(&x->columns), values = bytes / sizeof(int64_t);
  sim_piece pieces[SIM_RANKS_MAX];
  size_t count = 0;
  for (int r = 0; r < comm->size; r++) {
    if (!copy_part(x, r, array, part_of(x, x->sent, r), true)) return;
    if (r == comm->rank) continue;
    pieces[count++] = (sim_piece){r, part_of(x, x->sent, r), part_of(x, x->received, r), bytes, bytes};
  }
  if (!wait_for_device() || !agreed(comm->ops->swap(comm, pieces, count))) return;
  uint64_t *own = (uint64_t *)part_of(x, x->sent, comm->rank); /* modulo 2^64, as int64 on the device */
  for (int r = 0; r < comm->size; r++) {
    const uint64_t *other = (const uint64_t *)part_of(x, x->received, r);
    if (r == comm->rank) continue;
    for (size_t i = 0; i < values; i++) own[i] += other[i];
  }
  share_parts(x, array, true);
}

static sim_status begin_staged(sim_exchange *x) {
  void *memory = NULL;
  const size_t bytes = all_bytes(x->comm, &x->columns);
  SIM_TRY(sim_backend_cuda.alloc_host(2 * bytes, &memory));
  x->sent = memory;
  x->received = x->sent + bytes / sizeof(int64_t);
  memset(memory, 0, 2 * bytes); /* parts that are not full are sent too */
  sim_cuda_refuse_graphs();
  return SIM_OK;
}

/* ---- peer ---- */

/* Ends the waits of kernels when another rank has failed: the host may be waiting for these kernels itself. The
 * failure is recorded first, so that nothing is taken from what they leave. */
static void *watch(void *context) {
  sim_exchange *x = context;
  sim_peer_words *words = x->peers.words;
  while (!atomic_load(&x->ends)) {
    const sim_status status = sim_comm_check(x->comm);
    const bool late = words->late && atomic_load(&x->trusted);
    if (status != SIM_OK)
      sim_cuda_failed_by(status, sim_error_last()->message);
    else if (late)
      sim_cuda_failed_by(SIM_ERR_RANK, "a rank has not answered on its GPU for ten minutes");
    if (status != SIM_OK || late) {
      words->abandoned = 1;
      return NULL;
    }
    (void)nanosleep(&(struct timespec){.tv_nsec = look_interval}, NULL);
  }
  return NULL;
}

static sim_status begin_watch(sim_exchange *x) {
  sigset_t all, before;
  sigfillset(&all); /* signals are handled by the thread of the time loop */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  x->watched = pthread_create(&x->watch, NULL, watch, x) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return x->watched ? SIM_OK : sim_fail(SIM_ERR_NO_MEMORY, "a thread that watches the ranks cannot be started");
}

/* What a rank tells the others of its memory. */
typedef struct offer {
  cudaIpcMemHandle_t handle;
  int valid;
} offer;

/* Writes why this rank cannot map the others' memory into why[capacity]; "": it has. */
static sim_status map_peers(sim_exchange *x, const offer *offers, char *why, size_t capacity) {
  for (int r = 0; r < x->comm->size; r++) {
    void *mapped = NULL;
    if (r == x->comm->rank) continue;
    cudaError_t error = cudaErrorInvalidResourceHandle;
    if (offers[r].valid) error = cudaIpcOpenMemHandle(&mapped, offers[r].handle, cudaIpcMemLazyEnablePeerAccess);
    if (error != cudaSuccess) {
      (void)cudaGetLastError();
      snprintf(why, capacity, "rank %d cannot map the memory of rank %d (%s)", x->comm->rank, r,
               cudaGetErrorName(error));
      return SIM_OK;
    }
    x->peers.memory[r] = mapped;
  }
  return SIM_OK;
}

/* Shares memory with all ranks. */
static sim_status share(sim_exchange *x, char *why, size_t capacity) {
  const sim_comm *comm = x->comm;
  const size_t bytes = shared_bytes(comm, &x->columns);
  void *own = NULL, *meetings = NULL, *words = NULL;
  offer *offers = calloc((size_t)comm->size + 1, sizeof *offers);
  if (offers == NULL) return sim_no_memory("the exchange");
  sim_status status = sim_backend_cuda.alloc(bytes, &own);
  if (status == SIM_OK) status = sim_backend_cuda.alloc(sizeof(unsigned long long), &meetings);
  if (status == SIM_OK) status = sim_backend_cuda.alloc_host(sizeof(sim_peer_words), &words);
  x->peers.memory[comm->rank] = own;
  x->peers.meetings = meetings;
  x->peers.words = words;
  if (status == SIM_OK) {
    *x->peers.words = (sim_peer_words){.patience = trial};
    offers[comm->size].valid = cudaIpcGetMemHandle(&offers[comm->size].handle, own) == cudaSuccess;
    (void)cudaGetLastError();
    status = comm->ops->gather(comm, &offers[comm->size], sizeof *offers, offers);
  }
  if (status == SIM_OK) status = map_peers(x, offers, why, capacity);
  free(offers);
  return status;
}

static void end_watch(sim_exchange *x) {
  atomic_store(&x->ends, true);
  if (x->watched) (void)pthread_join(x->watch, NULL);
  x->watched = false;
}

/* Sends one number to each rank, and compares what has come: some hosts lose stores between their GPUs. */
static sim_status try_peers(sim_exchange *x, char *why, size_t capacity) {
  const sim_comm *comm = x->comm;
  const uint64_t mark = UINT64_C(0x5157c0de00000001);
  uint64_t *got = calloc((size_t)comm->size, sizeof *got);
  void *device = NULL;
  sim_peers small = x->peers;
  small.columns = (sim_columns){1, (size_t)comm->size, 1};
  sim_status status = got == NULL ? sim_no_memory("the exchange") : SIM_OK;
  if (status == SIM_OK) status = sim_backend_cuda.alloc((size_t)comm->size * sizeof *got, &device);
  for (int k = 0; k < 2 && status == SIM_OK && !*why; k++) { /* through both areas */
    memset(got, 0, (size_t)comm->size * sizeof *got);
    got[comm->rank] = mark + (uint64_t)(2 * comm->rank + k);
    status = sim_backend_cuda.copy(device, got, (size_t)comm->size * sizeof *got);
    sim_peers_push(&small, device);
    sim_peers_meet(&small);
    sim_peers_pull(&small, device);
    if (status == SIM_OK) status = sim_backend_cuda.copy(got, device, (size_t)comm->size * sizeof *got);
    for (int r = 0; r < comm->size && status == SIM_OK; r++)
      if (got[r] != mark + (uint64_t)(2 * r + k))
        snprintf(why, capacity, "rank %d did not get what rank %d had stored", comm->rank, r);
  }
  sim_backend_cuda.free(device);
  free(got);
  if (x->peers.words->late) snprintf(why, capacity, "rank %d was not answered on the GPU", comm->rank);
  return status;
}

/* Whether no rank has a reason against it; else *out is the reason of the first one. */
static sim_status unanimous(const sim_comm *comm, const char own[256], char out[256], bool *all) {
  char *reasons = calloc((size_t)comm->size, 256);
  if (reasons == NULL) return sim_no_memory("the exchange");
  const sim_status status = comm->ops->gather(comm, own, 256, reasons);
  *all = true;
  for (int r = 0; r < comm->size && status == SIM_OK && *all; r++) {
    *all = !reasons[(size_t)r * 256];
    if (!*all) memcpy(out, reasons + (size_t)r * 256, 256);
  }
  free(reasons);
  return status;
}

/* Sets x->by_peers, or writes into `why` what is against it. */
static sim_status begin_peers(sim_exchange *x, char why[256]) {
  char own[256] = "";
  bool all;
  const char *delay = getenv("SIM_COMM_DELAY");
  x->peers.rank = x->comm->rank;
  x->peers.ranks = x->comm->size;
  x->peers.flags = flag_bytes(x->comm);
  x->peers.area = area_bytes(x->comm, &x->columns);
  x->peers.columns = x->columns;
  x->peers.delay = delay ? (unsigned)strtoul(delay, NULL, 10) : 0;
  SIM_TRY(share(x, own, sizeof own));
  SIM_TRY(unanimous(x->comm, own, why, &all));
  if (!all) return SIM_OK;
  SIM_TRY(begin_watch(x)); /* before the first meeting */
  SIM_TRY(try_peers(x, own, sizeof own));
  SIM_TRY(unanimous(x->comm, own, why, &all));
  if (!all) return SIM_OK;
  x->peers.words->patience = patience;
  atomic_store(&x->trusted, true);
  x->by_peers = true;
  return SIM_OK;
}

/* ---- any way ---- */

static sim_status choose(sim_exchange *x) {
  const sim_comm *comm = x->comm;
  const char *asked = getenv("SIM_COMM_PATH");
  char why[256] = "";
  if (asked && !*asked) asked = NULL;
  if (asked && strcmp(asked, "peer") != 0 && strcmp(asked, "staged") != 0)
    return sim_fail(SIM_ERR_USAGE, "SIM_COMM_PATH = \"%.64s\": expected peer or staged", asked);
  if (asked && strcmp(asked, "staged") == 0)
    snprintf(why, sizeof why, "SIM_COMM_PATH asks for it");
  else if (comm->host_size < comm->size)
    snprintf(why, sizeof why, "the ranks are on several hosts");
  else if (comm->size > SIM_PEERS_MAX)
    snprintf(why, sizeof why, "more than %d ranks", SIM_PEERS_MAX);
  else
    SIM_TRY(begin_peers(x, why));
  if (x->by_peers) {
    sim_log(SIM_LOG_INFO, "the GPUs of %d ranks exchange by peer pointers", comm->size);
    return SIM_OK;
  }
  if (asked && strcmp(asked, "peer") == 0)
    return sim_fail(SIM_ERR_NO_DEVICE, "SIM_COMM_PATH asks for peer pointers: %s", why);
  int seen = 0;
  (void)cudaGetDeviceCount(&seen);
  sim_log(
      SIM_LOG_INFO, "the GPUs of %d ranks exchange through host memory: %s%s", comm->size, why,
      seen == 1 && comm->host_size > 1 && !asked
          ? "; where each rank sees its own GPU alone, let it see all of them (--gpus-per-node, not --gpus-per-task)"
          : "");
  end_watch(x);
  return begin_staged(x);
}

sim_status sim_exchange_create(const sim_comm *comm, const sim_columns *columns, sim_exchange **out) {
  sim_exchange *x = *out = calloc(1, sizeof *x);
  if (x == NULL) return sim_no_memory("the exchange");
  x->comm = comm;
  x->columns = *columns;
  const sim_status status = choose(x);
  if (status != SIM_OK) sim_exchange_destroy(out);
  return status;
}

/* Mapped and shared memory is not given back: another rank may be storing into it, and this one be failing. The words
 * are read by kernels until the device has ended them. */
void sim_exchange_destroy(sim_exchange **exchange) {
  sim_exchange *x = *exchange;
  if (x == NULL) return;
  if (x->peers.words != NULL) x->peers.words->abandoned = 1;
  end_watch(x);
  sim_backend_cuda.free_host(x->sent);
  free(x);
  *exchange = NULL;
}

const sim_peers *sim_exchange_peers(const sim_exchange *x) { return x->by_peers ? &x->peers : NULL; }
const char *sim_exchange_path(const sim_exchange *x) { return x->by_peers ? "peer" : "staged"; }

void sim_exchange_gather(sim_exchange *x, void *array) {
  if (!x->by_peers) {
    gather_staged(x, array);
    return;
  }
  sim_peers_push(&x->peers, array);
  sim_peers_meet(&x->peers);
  sim_peers_pull(&x->peers, array);
}

void sim_exchange_add(sim_exchange *x, int64_t *array) {
  if (!x->by_peers) {
    add_staged(x, array);
    return;
  }
  sim_peers_push_parts(&x->peers, array);
  sim_peers_meet(&x->peers);
  sim_peers_add_parts(&x->peers, array);
  sim_exchange_gather(x, array);
}
