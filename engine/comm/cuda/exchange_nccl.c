/* The exchange between GPUs by NCCL's send and receive; NCCL adds nothing. One communicator serves all exchanges of a
 * process and lives until the process ends. */
#include "engine/comm/cuda/exchange_ways.h"
#include "engine/comm/nccl.h"

#include "engine/device/calls.h"
#include "engine/device/cuda.h"
#include "engine/wall_clock.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double join_limit = 60; /* seconds in which ranks must find each other */

static struct {
  const sim_nccl *ops; /* NULL: not loaded */
  void *comm;          /* NULL: not joined */
  double bytes;        /* bytes of device memory that NCCL has taken */
  atomic_bool ended;   /* set by abandon: the communicator is no longer used */
  atomic_bool calling; /* the thread of the steps is in a call */
  volatile int *waits; /* pinned: not 0 while the device is in an exchange, which may wait for other ranks */
} nccl;

static void pause_for(long ns) { (void)nanosleep(&(struct timespec){.tv_nsec = ns}, NULL); }

void sim_exchange_nccl_text(char *out, size_t capacity) {
  const int version = nccl.ops->version;
  snprintf(out, capacity, "NCCL %d.%d.%d, which takes %.0f MB of each", version / 10000, version / 100 % 100,
           version % 100, 1e-6 * nccl.bytes);
}

/* ---- failures ---- */

/* Ends the communicator. It first waits up to a second for a call in progress; no new call begins. A call that waits
 * for a dead rank ends only with the communicator. */
static void abandon(sim_exchange *x) {
  (void)x;
  if (nccl.comm == NULL || atomic_exchange(&nccl.ended, true)) return;
  for (int i = 0; i < 1000 && atomic_load(&nccl.calling); i++) pause_for(1000000);
  (void)nccl.ops->CommAbort(nccl.comm);
}

static bool begin_calls(void) {
  atomic_store(&nccl.calling, true);
  if (!atomic_load(&nccl.ended)) return true;
  atomic_store(&nccl.calling, false);
  return false;
}

/* An error may be the end of another rank, which NCCL meets a moment before it is told. */
static sim_status another_rank_failed(const sim_exchange *x) {
  sim_status status = sim_comm_check(x->comm);
  for (int i = 0; i < 1000 && status == SIM_OK && !atomic_load(&nccl.ended); i++) {
    pause_for(1000000);
    status = sim_comm_check(x->comm);
  }
  return status;
}

static void end_calls(const sim_exchange *x, int error) {
  const sim_status status = error != 0 ? another_rank_failed(x) : SIM_OK;
  if (status != SIM_OK) {
    sim_cuda_failed_by(status, sim_error_last()->message);
  } else if (error != 0 && !atomic_load(&nccl.ended)) {
    char message[256];
    snprintf(message, sizeof message, "NCCL: %s", nccl.ops->GetErrorString(error));
    sim_cuda_failed_by(SIM_ERR_RANK, message);
  }
  atomic_store(&nccl.calling, false);
}

/* ---- exchange ---- */

/* Sleeps a random time, for tests. */
static void wait_a_little(const sim_exchange *x) {
  static unsigned random;
  const char *text = getenv("SIM_COMM_DELAY");
  const long asked = text ? strtol(text, NULL, 10) : 0, most = asked < 900000 ? asked : 900000; /* microseconds */
  if (most <= 0) return;
  random = (random + (unsigned)x->comm->rank + 1) * 1664525u + 1013904223u;
  pause_for((long)(random >> 8) % most * 1000);
}

static const sim_kernel kernel = {"exchange_nccl", "exchange", SIM_LIMIT_BYTES};

static int send(const uint64_t *from, size_t count, int rank) {
  return count > 0 ? nccl.ops->Send(from, count, SIM_NCCL_UINT64, rank, nccl.comm, sim_cuda_stream()) : 0;
}
static int receive(uint64_t *to, size_t count, int rank) {
  return count > 0 ? nccl.ops->Recv(to, count, SIM_NCCL_UINT64, rank, nccl.comm, sim_cuda_stream()) : 0;
}

/* Address of one row of a rank's columns in an array. */
static uint64_t *row_of(const sim_columns *c, void *array, int row, int rank) {
  return (uint64_t *)array + (size_t)row * c->n + sim_first_column(c, rank);
}

/* Sends this rank's columns to all ranks and receives theirs into `array`. With `parts`: sends each rank its columns of
 * this array, and receives into x->parts, [ranks][rows][share], the other ranks' values of this rank's columns. */
static void move(sim_exchange *x, const sim_columns *c, void *array, bool parts) {
  const int own = x->comm->rank, ranks = x->comm->size;
  wait_a_little(x);
  if (!begin_calls()) return;
  sim_parts_mark(nccl.waits, 1);
  sim_cuda_begin(&kernel);
  int error = nccl.ops->GroupStart();
  for (int k = 1; k < ranks; k++)
    for (int row = 0; row < c->rows; row++) {
      const int to = (own + k) % ranks, from = (own + ranks - k) % ranks;
      const int sent = parts ? to : own, received = parts ? own : from;
      uint64_t *part = x->parts + ((size_t)from * (size_t)c->rows + (size_t)row) * c->share;
      if (error == 0) error = send(row_of(c, array, row, sent), sim_column_count(c, sent), to);
      if (error == 0) error = receive(parts ? part : row_of(c, array, row, from), sim_column_count(c, received), from);
    }
  const int last = nccl.ops->GroupEnd();
  sim_cuda_end(&kernel, 8.0 * c->rows * (double)c->n);
  sim_parts_mark(nccl.waits, 0);
  end_calls(x, error != 0 ? error : last);
}

static void gather(sim_exchange *x, const sim_columns *c, void *array) { move(x, c, array, false); }

static void add(sim_exchange *x, int64_t *array) { sim_exchange_add_parts(x, move, array); }

const sim_exchange_way sim_exchange_nccl_way = {.name = "nccl", .gather = gather, .add = add, .abandon = abandon};

/* ---- start ---- */

/* Arguments of the thread in which a rank joins; the thread remains if the ranks do not find each other. */
typedef struct joining {
  int device, rank, ranks, error;
  sim_nccl_id id;
  void *comm;
  atomic_bool over;
} joining;

static void *join(void *opaque) {
  joining *j = opaque;
  j->error = cudaSetDevice(j->device) == cudaSuccess ? nccl.ops->CommInitRank(&j->comm, j->ranks, j->id, j->rank) : -1;
  atomic_store(&j->over, true);
  return NULL;
}

/* Sets nccl.comm, or writes the reason into `why`. */
static sim_status join_ranks(sim_exchange *x, const sim_nccl_id *id, char why[SIM_EXCHANGE_WHY]) {
  pthread_t thread;
  joining *j = calloc(1, sizeof *j); /* the thread may outlive this call */
  if (j == NULL) return sim_no_memory("the exchange");
  *j = (joining){.rank = x->comm->rank, .ranks = x->comm->size, .id = *id};
  (void)cudaGetDevice(&j->device);
  const double until = sim_wall_clock() + join_limit;
  const sim_status begun = sim_exchange_thread(&thread, join, j);
  if (begun != SIM_OK) {
    free(j);
    return begun;
  }
  (void)pthread_detach(thread);
  sim_status status = SIM_OK;
  while (!atomic_load(&j->over) && status == SIM_OK && sim_wall_clock() < until) {
    pause_for(1000000);
    status = sim_comm_check(x->comm);
  }
  if (status != SIM_OK) return status;
  if (!atomic_load(&j->over)) {
    snprintf(why, SIM_EXCHANGE_WHY, "rank %d found no other rank in %.0f s", x->comm->rank, join_limit);
    return SIM_OK;
  }
  if (j->error != 0)
    snprintf(why, SIM_EXCHANGE_WHY, "rank %d: %.180s", x->comm->rank,
             j->error < 0 ? "its GPU cannot be used" : nccl.ops->GetErrorString(j->error));
  else
    nccl.comm = j->comm;
  free(j);
  return SIM_OK;
}

/* What a rank tells the others before they join. */
typedef struct greeting {
  sim_nccl_id id; /* made by rank 0 */
  int version;    /* 0: the rank has no NCCL */
  char why[SIM_EXCHANGE_WHY];
} greeting;

/* Loads the library on all ranks, and sets *id to that of rank 0. */
static sim_status greet(sim_exchange *x, sim_nccl_id *id, char why[SIM_EXCHANGE_WHY]) {
  const int ranks = x->comm->size;
  greeting *all = calloc((size_t)ranks + 1, sizeof *all), *own = &all[ranks];
  if (all == NULL) return sim_no_memory("the exchange");
  if (sim_nccl_load(&nccl.ops) != SIM_OK) {
    snprintf(own->why, sizeof own->why, "%.200s (rank %d)", sim_error_last()->message, x->comm->rank);
    sim_error_clear();
  } else {
    own->version = nccl.ops->version;
    const int error = x->comm->rank == 0 ? nccl.ops->GetUniqueId(&own->id) : 0;
    if (error != 0) snprintf(own->why, sizeof own->why, "%.200s", nccl.ops->GetErrorString(error));
  }
  const sim_status status = x->comm->ops->gather(x->comm, own, sizeof *own, all);
  for (int r = 0; r < ranks && status == SIM_OK && !*why; r++) {
    if (*all[r].why)
      memcpy(why, all[r].why, SIM_EXCHANGE_WHY);
    else if (all[r].version != all[0].version)
      snprintf(why, SIM_EXCHANGE_WHY, "rank %d has version %d of NCCL, rank 0 version %d", r, all[r].version,
               all[0].version);
  }
  *id = all[0].id;
  free(all);
  return status;
}

static sim_status begin_memory(sim_exchange *x) {
  void *parts = NULL, *waits = NULL;
  const sim_status status = sim_backend_cuda.alloc(sim_all_bytes(x->comm, &x->columns), &parts);
  x->parts = parts;
  if (status != SIM_OK || nccl.waits != NULL) return status;
  SIM_TRY(sim_backend_cuda.alloc_host(sizeof *nccl.waits, &waits));
  nccl.waits = waits;
  *nccl.waits = 0;
  sim_calls_excused_by(nccl.waits);
  return SIM_OK;
}

sim_status sim_exchange_nccl_begin(sim_exchange *x, char *why) {
  char own[SIM_EXCHANGE_WHY] = "";
  const bool first = nccl.comm == NULL;
  bool all;
  sim_nccl_id id;
  x->way = &sim_exchange_nccl_way;
  SIM_TRY(sim_exchange_watch(x));
  const double before = (double)sim_backend_cuda.memory_free();
  if (first) {
    SIM_TRY(greet(x, &id, why));
    if (*why) return SIM_OK;
    SIM_TRY(join_ranks(x, &id, own));
    SIM_TRY(sim_exchange_unanimous(x->comm, own, why, &all));
    if (!all) return SIM_OK;
  }
  SIM_TRY(begin_memory(x));
  SIM_TRY(sim_exchange_try(x, own));
  if (first) nccl.bytes = before - (double)sim_backend_cuda.memory_free();
  return sim_exchange_unanimous(x->comm, own, why, &all);
}
