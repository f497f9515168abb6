/* The exchange between GPUs: choice and trial of a way, and the thread that watches for failures of other ranks. */
#include "engine/comm/cuda/exchange_ways.h"

#include "engine/comm/mpi.h"
#include "engine/device/cuda.h"
#include "engine/log.h"
#include "engine/thread.h"
#include "engine/wall_clock.h"

#include <cuda_runtime_api.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_INTERVAL = 50 }; /* milliseconds between checks of the other ranks */

/* ---- the watch ---- */

/* Watches the other ranks, and ends the waits in kernels when one has failed: the host may be waiting for these
 * kernels. The failure is recorded first, so that the results of kernels that ended early are not used. */
static void *watch(void *context) {
  sim_exchange *x = context;
  struct pollfd over = {.fd = x->over, .events = POLLIN};
  do {
    const sim_status status = sim_comm_check(x->comm);
    const bool late =
        x->way == &sim_exchange_peers_way && x->peers.words != NULL && x->peers.words->late && atomic_load(&x->trusted);
    if (status != SIM_OK)
      sim_cuda_failed_by(status, sim_error_last()->message);
    else if (late)
      sim_cuda_failed_by(SIM_ERR_RANK, "a rank has not answered on its GPU for ten minutes");
    if (status != SIM_OK || late) {
      if (x->way->abandon) x->way->abandon(x);
      return NULL;
    }
  } while (poll(&over, 1, LOOK_INTERVAL) <= 0);
  return NULL;
}

sim_status sim_exchange_thread(pthread_t *thread, void *(*work)(void *), void *context) {
  const int error = sim_thread_create(thread, NULL, work, context);
  return error == 0 ? SIM_OK : sim_fail(SIM_ERR_NO_MEMORY, "a thread that watches the ranks cannot be started");
}

sim_status sim_exchange_watch(sim_exchange *x) {
  if (x->watched) return SIM_OK;
  x->over = eventfd(0, EFD_CLOEXEC);
  const sim_status status = x->over < 0
                                ? sim_fail(SIM_ERR_NO_MEMORY, "the ranks cannot be watched: %s", strerror(errno))
                                : sim_exchange_thread(&x->watch, watch, x);
  x->watched = status == SIM_OK;
  if (!x->watched && x->over >= 0) (void)close(x->over);
  return status;
}

static void end_watch(sim_exchange *x) {
  if (!x->watched) return;
  (void)!write(x->over, &(uint64_t){1}, sizeof(uint64_t));
  (void)pthread_join(x->watch, NULL);
  (void)close(x->over);
  x->watched = false;
}

/* ---- trial ---- */

/* Waits for the queued work; false if it does not end. */
static bool ends_in_time(const sim_exchange *x) {
  const double until = sim_wall_clock() + 1.2e-9 * (double)sim_exchange_trial; /* waiting kernels end earlier */
  while (cudaStreamQuery(sim_cuda_stream()) == cudaErrorNotReady) {
    if (sim_wall_clock() > until || sim_comm_check(x->comm) != SIM_OK) return false;
    (void)nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
  }
  return true;
}

/* The comparison is needed: some hosts lose stores between their GPUs. */
sim_status sim_exchange_try(sim_exchange *x, char why[SIM_EXCHANGE_WHY]) {
  static uint64_t mark = UINT64_C(0x5157c0de00000001); /* differs in every trial */
  const int ranks = x->comm->size, rank = x->comm->rank;
  const size_t bytes = (size_t)ranks * sizeof(uint64_t);
  const sim_columns small = {1, (size_t)ranks, 1};
  uint64_t got[SIM_RANKS_MAX] = {0};
  void *device = NULL;
  mark += SIM_RANKS_MAX;
  got[rank] = mark + (uint64_t)rank;
  SIM_TRY(sim_backend_cuda.alloc(bytes, &device));
  sim_status status = sim_backend_cuda.copy(device, got, bytes);
  x->way->gather(x, &small, device);
  const bool ended = ends_in_time(x);
  if (status == SIM_OK) status = sim_comm_check(x->comm);
  if (!ended) {
    snprintf(why, SIM_EXCHANGE_WHY, "rank %d was not answered", rank);
    if (x->way->abandon) x->way->abandon(x);
  }
  if (status == SIM_OK && ended) status = sim_backend_cuda.copy(got, device, bytes);
  for (int r = 0; r < ranks && status == SIM_OK && ended; r++)
    if (got[r] != mark + (uint64_t)r)
      snprintf(why, SIM_EXCHANGE_WHY, "rank %d did not get what rank %d had sent", rank, r);
  if (ended) sim_backend_cuda.free(device);
  return status;
}

sim_status sim_exchange_unanimous(const sim_comm *comm, const char own[SIM_EXCHANGE_WHY], char why[SIM_EXCHANGE_WHY],
                                  bool *all) {
  char *reasons = calloc((size_t)comm->size, SIM_EXCHANGE_WHY);
  if (reasons == NULL) return sim_no_memory("the exchange");
  const sim_status status = comm->ops->gather(comm, own, SIM_EXCHANGE_WHY, reasons);
  *all = true;
  for (int r = 0; r < comm->size && status == SIM_OK && *all; r++) {
    *all = !reasons[(size_t)r * SIM_EXCHANGE_WHY];
    if (!*all) memcpy(why, reasons + (size_t)r * SIM_EXCHANGE_WHY, SIM_EXCHANGE_WHY);
  }
  free(reasons);
  return status;
}

/* ---- choice ---- */

static bool is(const char *asked, const char *way) { return asked != NULL && strcmp(asked, way) == 0; }

static sim_status try_peers(sim_exchange *x, char *why) {
  if (x->comm->host_size < x->comm->size) {
    snprintf(why, SIM_EXCHANGE_WHY, "the ranks are on several hosts");
    return SIM_OK;
  }
  if (x->comm->size > SIM_PEERS_MAX) {
    snprintf(why, SIM_EXCHANGE_WHY, "more than %d ranks", SIM_PEERS_MAX);
    return SIM_OK;
  }
  return sim_exchange_peers_begin(x, why);
}

static sim_status refuse(const char *asked, const char *why) {
  return sim_fail(SIM_ERR_NO_DEVICE, "SIM_COMM_PATH asks for %s: %s",
                  is(asked, "peer")  ? "peer pointers"
                  : is(asked, "mpi") ? "MPI"
                                     : "NCCL",
                  why);
}

/* Sets x->way to the first way that all ranks can use. */
static sim_status choose(sim_exchange *x) {
  const int ranks = x->comm->size;
  const char *asked = getenv("SIM_COMM_PATH");
  char peers[SIM_EXCHANGE_WHY] = "SIM_COMM_PATH asks for it", nccl[SIM_EXCHANGE_WHY] = "", mpi[SIM_EXCHANGE_WHY] = "";
  char text[64];
  if (asked && !*asked) asked = NULL;
  if (asked && !is(asked, "peer") && !is(asked, "nccl") && !is(asked, "mpi") && !is(asked, "staged"))
    return sim_fail(SIM_ERR_USAGE, "SIM_COMM_PATH = \"%.64s\": expected peer, nccl, mpi or staged", asked);
  if (!asked || is(asked, "peer")) {
    *peers = '\0';
    SIM_TRY(try_peers(x, peers));
    if (!*peers) {
      sim_log(SIM_LOG_INFO, "the GPUs of %d ranks exchange by peer pointers", ranks);
      return SIM_OK;
    }
    end_watch(x);
    if (asked) return refuse(asked, peers);
  }
  if (!asked || is(asked, "nccl")) {
    SIM_TRY(sim_exchange_nccl_begin(x, nccl));
    if (!*nccl) {
      sim_exchange_nccl_text(text, sizeof text);
      sim_log(SIM_LOG_INFO, "the GPUs of %d ranks exchange by %s: %s", ranks, text, peers);
      return SIM_OK;
    }
    end_watch(x);
    if (asked) return refuse(asked, nccl);
  }
  if (is(asked, "mpi") || (!asked && sim_mpi_is(x->comm))) {
    SIM_TRY(sim_exchange_mpi_begin(x, mpi));
    if (!*mpi) {
      sim_log(SIM_LOG_INFO, "the GPUs of %d ranks exchange by MPI, which takes GPU memory: %s%s%s", ranks, peers,
              *nccl ? "; not by NCCL: " : "", nccl);
      return SIM_OK;
    }
    if (asked) return refuse(asked, mpi);
    x->way = NULL;
  }
  int seen = 0;
  (void)cudaGetDeviceCount(&seen);
  sim_log(SIM_LOG_INFO, "the GPUs of %d ranks exchange through host memory: %s%s%s%s", ranks, peers,
          *nccl ? "; not by NCCL: " : "", nccl,
          seen == 1 && x->comm->host_size > 1 && !asked
              ? "; where each rank sees its own GPU alone, let it see all of them (--gpus-per-node, not "
                "--gpus-per-task)"
              : "");
  return sim_exchange_staged_begin(x);
}

/* ---- any way ---- */

sim_status sim_exchange_create(const sim_comm *comm, const sim_columns *columns, sim_exchange **out) {
  sim_exchange *x = *out = calloc(1, sizeof *x);
  if (x == NULL) return sim_no_memory("the exchange");
  x->comm = comm;
  x->columns = *columns;
  const sim_status status = choose(x);
  if (status == SIM_OK)
    atomic_store(&x->trusted, true);
  else
    sim_exchange_destroy(out);
  return status;
}

/* Memory that is mapped or shared is not freed: another rank may be storing into it. Kernels still in the queue wait
 * for a rank that does not come, so their waits are ended. */
void sim_exchange_destroy(sim_exchange **exchange) {
  sim_exchange *x = *exchange;
  if (x == NULL) return;
  end_watch(x);
  if (x->way != NULL && x->way->abandon != NULL && cudaStreamQuery(sim_cuda_stream()) != cudaSuccess)
    x->way->abandon(x);
  (void)cudaGetLastError();
  sim_backend_cuda.free_host(x->sent);
  sim_backend_cuda.free(x->parts);
  free(x);
  *exchange = NULL;
}

const sim_peers *sim_exchange_peers(const sim_exchange *x) {
  return x->way == &sim_exchange_peers_way ? &x->peers : NULL;
}
const char *sim_exchange_path(const sim_exchange *x) { return x->way->name; }

void sim_exchange_add_parts(sim_exchange *x, sim_exchange_move *move, int64_t *array) {
  const sim_columns *c = &x->columns;
  move(x, c, array, true);
  sim_parts_add(c, x->comm->rank, x->comm->size, x->parts, array);
  move(x, c, array, false);
}

void sim_exchange_gather(sim_exchange *x, void *array) { x->way->gather(x, &x->columns, array); }
void sim_exchange_gather_columns(sim_exchange *x, const sim_columns *columns, void *array) {
  x->way->gather(x, columns, array);
}
void sim_exchange_add(sim_exchange *x, int64_t *array) { x->way->add(x, array); }
