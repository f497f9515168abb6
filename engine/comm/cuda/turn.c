/* The exchange of parts of arrays: mapping of memory, copies by the copy engine, and the staged path. */
#include "engine/comm/cuda/turn.h"

#include "engine/comm/cuda/exchange_parts.h"
#include "engine/device/calls.h"
#include "engine/device/cuda.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sim_turn {
  const sim_comm *comm;
  sim_exchange *exchange;
  int arrays;
  char *memory[SIM_TURN_ARRAYS]; /* this rank's arrays */
  /* members for peers */
  const sim_peers *peers; /* NULL: staged */
  char **mapped;          /* [ranks][SIM_TURN_ARRAYS]: arrays of all ranks */
  cudaStream_t copies;
  cudaEvent_t computed, copied;
  unsigned delay, draws; /* for tests: longest delay in microseconds, and number of delays so far */
  /* staged: pinned host memory of `most` bytes each */
  char *sent, *received;
  size_t most;
};

/* Rounds up to whole 2 MiB pages, as smaller blocks share a mapping of the driver with other memory. */
static size_t whole_pages(size_t bytes) {
  const size_t page = (size_t)1 << 21;
  return (bytes + page - 1) / page * page + (bytes == 0) * page;
}

double sim_turn_bytes(const sim_comm *comm, int arrays, const size_t *bytes) {
  double all = 0;
  for (int a = 0; a < arrays && comm->size > 1; a++) all += (double)whole_pages(bytes[a]);
  return all;
}

static bool checked(cudaError_t error, const char *call) { return sim_cuda_failed((int)error, call, "turn") == 0; }

/* ---- creation ---- */

/* What a rank tells the others about its arrays. */
typedef struct offer {
  cudaIpcMemHandle_t handle[SIM_TURN_ARRAYS];
} offer;

static sim_status map_arrays(sim_turn *t) {
  const sim_comm *comm = t->comm;
  offer own = {0}, *offers = calloc((size_t)comm->size, sizeof *offers);
  t->mapped = calloc((size_t)comm->size * SIM_TURN_ARRAYS, sizeof *t->mapped);
  cudaError_t error = cudaSuccess;
  sim_status status = offers && t->mapped ? SIM_OK : sim_no_memory("the exchange");
  for (int a = 0; a < t->arrays && status == SIM_OK && error == cudaSuccess; a++)
    error = cudaIpcGetMemHandle(&own.handle[a], t->memory[a]);
  if (status == SIM_OK) status = comm->ops->gather(comm, &own, sizeof own, offers);
  for (int r = 0; r < comm->size && status == SIM_OK; r++)
    for (int a = 0; a < t->arrays && error == cudaSuccess; a++) {
      void *there = t->memory[a];
      if (r != comm->rank) error = cudaIpcOpenMemHandle(&there, offers[r].handle[a], cudaIpcMemLazyEnablePeerAccess);
      t->mapped[r * SIM_TURN_ARRAYS + a] = there;
    }
  free(offers);
  if (status != SIM_OK || error == cudaSuccess) return status;
  (void)cudaGetLastError();
  return sim_fail(SIM_ERR_NO_DEVICE,
                  "rank %d cannot map the arrays of the other ranks (%s): SIM_COMM_PATH=staged goes without",
                  comm->rank, cudaGetErrorName(error));
}

static sim_status begin_peers(sim_turn *t) {
  int least, greatest;
  cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
  if (!error) error = cudaStreamCreateWithPriority(&t->copies, cudaStreamNonBlocking, greatest);
  if (!error) error = cudaEventCreateWithFlags(&t->computed, cudaEventDisableTiming);
  if (!error) error = cudaEventCreateWithFlags(&t->copied, cudaEventDisableTiming);
  if (!checked(error, "cudaStreamCreate")) return sim_queue_cuda.status();
  t->delay = t->peers->delay;
  return map_arrays(t);
}

sim_status sim_turn_create(const sim_comm *comm, sim_exchange *exchange, int arrays, const size_t *bytes, size_t most,
                           sim_turn **out) {
  sim_turn *t = *out = calloc(1, sizeof *t);
  if (t == NULL) return sim_no_memory("the exchange");
  t->comm = comm;
  t->exchange = exchange;
  t->arrays = arrays;
  t->peers = sim_exchange_peers(exchange);
  t->most = most;
  sim_status status = SIM_OK;
  for (int a = 0; a < arrays && status == SIM_OK; a++) {
    void *memory = NULL;
    status = sim_backend_cuda.alloc(whole_pages(bytes[a]), &memory);
    t->memory[a] = memory;
  }
  if (status == SIM_OK && t->peers) status = begin_peers(t);
  if (status == SIM_OK && !t->peers) {
    void *host = NULL;
    status = sim_backend_cuda.alloc_host(2 * most, &host);
    t->sent = host;
    t->received = status == SIM_OK ? t->sent + most : NULL;
  }
  if (status != SIM_OK) sim_turn_destroy(out);
  return status;
}

void sim_turn_destroy(sim_turn **turn) {
  sim_turn *t = *turn;
  if (t == NULL) return;
  for (int a = 0; a < t->arrays && !t->mapped; a++) sim_backend_cuda.free(t->memory[a]);
  sim_backend_cuda.free_host(t->sent);
  if (t->computed) (void)cudaEventDestroy(t->computed);
  if (t->copied) (void)cudaEventDestroy(t->copied);
  if (t->copies) (void)cudaStreamDestroy(t->copies);
  (void)cudaGetLastError();
  free(t->mapped);
  free(t);
  *turn = NULL;
}

void *sim_turn_array(const sim_turn *turn, int array) { return turn->memory[array]; }

void *sim_turn_peer(const sim_turn *turn, int rank, int array) {
  return turn->mapped ? turn->mapped[rank * SIM_TURN_ARRAYS + array] : NULL;
}

/* ---- peer ---- */

/* Sleeps a random time, for tests. */
static void wait_a_little(sim_turn *t) {
  if (t->delay == 0) return;
  const unsigned long long random = ((unsigned long long)t->comm->rank * 977 + ++t->draws) * 0x9E3779B97F4A7C15ull;
  (void)nanosleep(&(struct timespec){.tv_nsec = (long)((random >> 32) % t->delay % 1000000 * 1000)}, NULL);
}

static void copy_box(const sim_box *box, char *to, cudaStream_t stream) {
  if (box->rows > 0 && box->width > 0)
    (void)checked(cudaMemcpy2DAsync(to, box->to_pitch, box->from, box->from_pitch, box->width, box->rows,
                                    cudaMemcpyDefault, stream),
                  "cudaMemcpy2DAsync");
}

/* Each rank begins with the rank after it, so that not all send to the same one at a time. */
static void send_peers(sim_turn *t, int array, const sim_box *boxes) {
  const int size = t->comm->size;
  wait_a_little(t);
  (void)(checked(cudaEventRecord(t->computed, sim_cuda_stream()), "cudaEventRecord") &&
         checked(cudaStreamWaitEvent(t->copies, t->computed, 0), "cudaStreamWaitEvent"));
  for (int k = 1; k <= size; k++) {
    const int r = (t->comm->rank + k) % size;
    copy_box(&boxes[r], t->mapped[r * SIM_TURN_ARRAYS + array] + boxes[r].to, t->copies);
  }
}

/* ---- staged ---- */

/* Whether an exchange succeeded; a failure of another rank becomes one of the queue. */
static bool agreed(sim_status status) {
  if (status != SIM_OK) sim_cuda_failed_by(status, sim_error_last()->message);
  return status == SIM_OK;
}

/* Copies boxes to the host, row after row, and sets the pieces to send. */
static bool pack(sim_turn *t, const sim_box *boxes, sim_piece *pieces) {
  char *at = t->sent;
  for (int r = 0; r < t->comm->size; r++) {
    sim_box packed = boxes[r];
    packed.to_pitch = packed.width;
    pieces[r] = (sim_piece){.rank = r, .in = at, .in_bytes = r == t->comm->rank ? 0 : packed.width * packed.rows};
    if (r == t->comm->rank) continue;
    copy_box(&packed, at, sim_cuda_stream());
    at += packed.width * packed.rows;
  }
  return sim_cuda_wait("exchange");
}

static void send_staged(sim_turn *t, int array, const sim_box *boxes) {
  const sim_comm *comm = t->comm;
  const int own = comm->rank;
  const size_t bytes = (size_t)comm->size * sizeof(sim_box);
  sim_piece pieces[SIM_RANKS_MAX];
  sim_box *all = malloc((size_t)comm->size * bytes); /* all[r][s]: the box that rank r sends to rank s */
  if (all == NULL) {
    (void)agreed(sim_no_memory("the exchange"));
    return;
  }
  bool good = agreed(comm->ops->gather(comm, boxes, bytes, all)) && pack(t, boxes, pieces);
  char *at = t->received;
  size_t count = 0;
  for (int r = 0; r < comm->size && good; r++) {
    if (r == own) continue;
    const sim_box *box = &all[r * comm->size + own];
    pieces[r].out = at;
    pieces[r].out_bytes = box->width * box->rows;
    at += pieces[r].out_bytes;
    pieces[count++] = pieces[r];
  }
  good = good && agreed(comm->ops->swap(comm, pieces, count));
  copy_box(&boxes[own], t->memory[array] + boxes[own].to, sim_cuda_stream());
  at = t->received;
  for (int r = 0; r < comm->size && good; r++) {
    sim_box box = all[r * comm->size + own];
    if (r == own) continue;
    box.from = at;
    box.from_pitch = box.width;
    copy_box(&box, t->memory[array] + box.to, sim_cuda_stream());
    at += box.width * box.rows;
  }
  if (good) (void)sim_cuda_wait("exchange"); /* because the buffers are used again */
  free(all);
}

/* ---- any way ---- */

void sim_turn_begin(sim_turn *t) {
  if (t->peers) sim_peers_meet(t->peers);
}

void sim_turn_send(sim_turn *t, int array, const sim_box *boxes) {
  if (t->peers)
    send_peers(t, array, boxes);
  else
    send_staged(t, array, boxes);
}

void sim_turn_end(sim_turn *t) {
  if (!t->peers) return;
  wait_a_little(t);
  (void)(checked(cudaEventRecord(t->copied, t->copies), "cudaEventRecord") &&
         checked(cudaStreamWaitEvent(sim_cuda_stream(), t->copied, 0), "cudaStreamWaitEvent"));
  sim_peers_meet(t->peers);
  wait_a_little(t);
}
