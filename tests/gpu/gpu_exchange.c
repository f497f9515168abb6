/* gpu_exchange PATH: arrays of several ranks on GPUs (shared, where there are fewer) arrive at the right place, by this
 * path of SIM_COMM_PATH, with and without random delays, from the queue and from a graph. With "early" it shows that
 * this test detects a flag that is set before its data. */
#include "engine/comm/cuda/exchange_parts.h"
#include "engine/comm/forked.h"
#include "tests/gpu/gpu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 3, TURNS = 24, STALE = 3, BROKEN = 4 };

typedef struct shape {
  size_t n, share; /* share 0: as few as cover all */
} shape;
static const shape shapes[] = {{1, 0}, {5, 4}, {1000, 0}, {4099, 2048}, {300001, 0}};

/* Returns the value of one column in one turn. No two turns or positions have the same value. */
static uint64_t value(uint64_t turn, uint64_t rank, uint64_t place) {
  uint64_t z = (turn * 64 + rank) * UINT64_C(0x9e3779b97f4a7c15) + place;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  return z ^ z >> 27;
}

#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    if ((call) != SIM_OK) {                                                                                            \
      fprintf(stderr, "%s\n", sim_error_last()->message);                                                              \
      return BROKEN;                                                                                                   \
    }                                                                                                                  \
  } while (0)

/* The faulty order: all ranks are told before the data are stored, into the areas of the previous exchange. */
static void gather_early(const sim_exchange *x, void *array) {
  sim_peers late = *sim_exchange_peers(x);
  late.flags += late.area;
  late.area = (size_t)0 - late.area;
  sim_peers_meet(sim_exchange_peers(x));
  sim_peers_push(&late, array);
  sim_peers_pull(sim_exchange_peers(x), array);
}

static int gather_once(const sim_comm *comm, sim_exchange *x, const sim_columns *c, uint64_t turn, bool early,
                       uint64_t *host, void *device) {
  const size_t all = ROWS * c->n;
  for (size_t i = 0; i < all; i++)
    host[i] = i % c->n / c->share == (size_t)comm->rank ? value(turn, 0, i) : UINT64_C(0xffffffffffffffff);
  TRY(sim_backend_cuda.copy(device, host, all * sizeof *host));
  if (early)
    gather_early(x, device);
  else
    sim_exchange_gather(x, device);
  TRY(sim_backend_cuda.copy(host, device, all * sizeof *host));
  for (size_t i = 0; i < all; i++)
    if (host[i] != value(turn, 0, i)) return STALE;
  return 0;
}

static int add_once(const sim_comm *comm, sim_exchange *x, const sim_columns *c, uint64_t turn, uint64_t *host,
                    void *device) {
  const size_t all = ROWS * c->n;
  for (size_t i = 0; i < all; i++) host[i] = value(turn, (uint64_t)comm->rank, i);
  TRY(sim_backend_cuda.copy(device, host, all * sizeof *host));
  sim_exchange_add(x, device);
  TRY(sim_backend_cuda.copy(host, device, all * sizeof *host));
  for (size_t i = 0; i < all; i++) {
    uint64_t sum = 0;
    for (int r = 0; r < comm->size; r++) sum += value(turn, (uint64_t)r, i);
    if (host[i] != sum) return STALE;
  }
  return 0;
}

/* Sums of sums, from a graph that is replayed: ranks^k times the first ones. Each has an odd number of exchanges, so
 * that both areas are used: two ranks add in one exchange, more ranks in two. */
static int replay(const sim_comm *comm, sim_exchange *x, const sim_columns *c, uint64_t *host, void *device) {
  const size_t all = ROWS * c->n;
  const sim_queue *queue = sim_backend_cuda.queue;
  sim_graph *graph = NULL;
  for (size_t i = 0; i < all; i++) host[i] = i + 1;
  TRY(sim_backend_cuda.copy(device, host, all * sizeof *host));
  TRY(queue->graph_begin());
  sim_exchange_add(x, device);
  sim_exchange_gather(x, device);
  if (comm->size == 2) sim_exchange_gather(x, device);
  TRY(queue->graph_end(&graph));
  const int times = graph != NULL ? 5 : 1; /* staged: it was done once, not captured */
  for (int k = 0; k < times && graph != NULL; k++) TRY(queue->graph_launch(graph));
  TRY(queue->finish());
  queue->graph_destroy(&graph);
  TRY(sim_backend_cuda.copy(host, device, all * sizeof *host));
  uint64_t factor = 1;
  for (int k = 0; k < times; k++) factor *= (uint64_t)comm->size;
  for (size_t i = 0; i < all; i++)
    if (host[i] != factor * (i + 1)) return STALE;
  return 0;
}

/* Returns the number of usable GPUs; touches none. */
static int gpus(void) {
  char text[64];
  int count = 0;
  while (sim_backend_cuda.identity(count, text, sizeof text)) count++;
  return count;
}

static int play(const sim_comm *comm, const char *path) {
  const bool early = strcmp(path, "early") == 0;
  const sim_backend *gpu = NULL;
  char name[64] = "cuda";
  const int count = gpus();
  if (count > 1) snprintf(name, sizeof name, "cuda:%d", comm->rank % count);
  TRY(sim_backend_select(name, &gpu));
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    sim_columns c = {ROWS, shapes[s].n, shapes[s].share};
    if (c.share == 0) c.share = sim_comm_share(comm, c.n);
    if (c.share * (size_t)comm->size < c.n) c.share = sim_comm_share(comm, c.n);
    sim_exchange *x;
    void *device;
    uint64_t *host = malloc(ROWS * c.n * sizeof *host);
    if (host == NULL) return BROKEN;
    TRY(sim_exchange_create(comm, &c, &x));
    if (strcmp(sim_exchange_path(x), early ? "peer" : path) != 0) return BROKEN;
    TRY(gpu->alloc(ROWS * c.n * sizeof *host, &device));
    int code = 0;
    for (uint64_t turn = 1; turn <= TURNS && (code == 0 || (code == STALE && early)); turn++) {
      const int now = gather_once(comm, x, &c, turn, early, host, device);
      if (now != 0) code = now;
      if (code == 0 && !early) code = add_once(comm, x, &c, turn, host, device);
    }
    if (code == 0 && !early) code = replay(comm, x, &c, host, device);
    if (early) { /* all ranks make all turns */
      uint64_t stale = code == STALE;
      TRY(sim_comm_agree(comm, stale, &stale));
      code = stale ? STALE : code;
    }
    gpu->free(device);
    free(host);
    if (code != 0) return code;
    sim_exchange_destroy(&x);
  }
  return 0;
}

/* Exit codes of all ranks. */
static void run(int size, const char *path, int codes[]) {
  sim_forked *forked;
  if (sim_forked_create(size, &forked) != SIM_OK) exit(BROKEN);
  pid_t ranks[8];
  for (int r = 0; r < size; r++) {
    ranks[r] = fork();
    if (ranks[r] > 0) continue;
    sim_comm comm;
    if (ranks[r] < 0 || sim_forked_attach(dup(sim_forked_descriptor(forked)), r, &comm) != SIM_OK) _exit(BROKEN);
    const int code = play(&comm, path);
    if (code != 0) comm.ops->abandon(&comm, SIM_ERR_INTERNAL, code == STALE ? "has got wrong data" : "has failed");
    _exit(code);
  }
  for (int left = size; left > 0; left--) {
    int how;
    const pid_t ended = wait(&how);
    for (int r = 0; r < size; r++)
      if (ranks[r] == ended) {
        codes[r] = WIFEXITED(how) ? WEXITSTATUS(how) : BROKEN;
        if (how != 0) sim_forked_fail(forked, r, SIM_ERR_RANK, "has ended");
      }
  }
  sim_forked_destroy(&forked);
}

/* Returns 200 and the number of GPUs, found in a process of its own: ranks are forked from a process that has touched
 * none. Less: an exit code of this test. */
static int count_gpus(void) {
  const pid_t child = fork();
  int how = 0;
  if (child == 0) {
    const int code = gpu_open();
    _exit(code == 0 ? 200 + gpus() : code);
  }
  (void)waitpid(child, &how, 0);
  return WIFEXITED(how) ? WEXITSTATUS(how) : BROKEN;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "peer";
  const bool early = strcmp(path, "early") == 0;
  const int asked = count_gpus(), count = asked - 200;
  const int most = strcmp(path, "nccl") != 0 || count > 4 ? 4 : count;
  if (count < 0) return asked;
  if (most < 2) {
    puts("skipped: NCCL needs a GPU for each rank");
    return 77;
  }
  setenv("SIM_COMM_PATH", early ? "peer" : path, 1);
  for (int size = 2; size <= most; size++)
    for (int delayed = early; delayed < 2; delayed++) {
      int codes[8] = {0}, stale = 0;
      setenv("SIM_COMM_DELAY", delayed ? "3000" : "0", 1);
      run(size, path, codes);
      for (int r = 0; r < size; r++) {
        stale += codes[r] == STALE;
        if (codes[r] == 0 || early) continue;
        fprintf(stderr, "%s, %d ranks%s: rank %d %s\n", path, size, delayed ? ", delayed" : "", r,
                codes[r] == STALE ? "has got wrong data" : "has failed");
        return 1;
      }
      if (early && stale == 0) {
        fprintf(stderr, "%d ranks: a flag before its data is not seen\n", size);
        return 1;
      }
    }
  return 0;
}
