#include "engine/comm/forked.h"

#include "engine/comm/heartbeat.h"
#include "engine/log.h"
#include "engine/wall_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Every exchange has a number, the same on all ranks. A rank writes its bytes to its buffer number % 2, then raises
 * `arrived` to the number; the others wait for that, then read. A rank writes the same buffer again two exchanges
 * later, which begins after all ranks have arrived at the exchange in between: by then all have read it. */
enum { LINE = 64, BUFFER = 1 << 18, SPINS = 500 };
static const long tick = 100000000; /* nanoseconds of sleep after which a waiting rank checks for failures */

typedef struct seat {
  _Alignas(LINE) atomic_uint arrived; /* number of the last exchange that this rank has contributed to; a futex */
  atomic_uint sleepers;               /* ranks that sleep on `arrived` */
  _Alignas(LINE) atomic_uint posted;  /* number of the last round of post */
  atomic_ullong words[2];             /* [round % 2], posted */
  atomic_uint beats;                  /* signs of life */
  atomic_bool over;                   /* the run has ended on this rank */
} seat;

enum { NO_FAILURE, FAILURE_WRITTEN_NOW, FAILURE };
static const char magic[8] = "SIMRANK";

typedef struct block {
  char magic[8];
  int size;
  atomic_int failure; /* NO_FAILURE, FAILURE_WRITTEN_NOW or FAILURE */
  int failed_rank, failed_status;
  char host[64], message[1024];
  seat seats[]; /* [size], then the buffers [size][2][BUFFER] */
} block;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2, "atomics of several processes");

/* One process's view of the block. */
struct sim_forked {
  block *block;
  size_t bytes;
  int descriptor;     /* -1: closed */
  unsigned number;    /* number of the current exchange */
  unsigned round;     /* number of the current round of post */
  long delay;         /* longest delay in microseconds; 0: none */
  atomic_uint random; /* delays of two threads */
  sim_comm_totals totals;
  sim_pulse *pulse; /* NULL in the starting process */
  atomic_uint *beats;
  pthread_mutex_t looks;        /* protects what look_for_life knows: */
  unsigned own;                 /* its own count of signs of life at the last look */
  unsigned seen[SIM_RANKS_MAX]; /* those of all ranks */
  int silent[SIM_RANKS_MAX];    /* looks since they changed */
};

static size_t block_bytes(int size) {
  const size_t head = (sizeof(block) + (size_t)size * sizeof(seat) + LINE - 1) / LINE * LINE;
  return head + (size_t)size * 2 * BUFFER;
}

static char *buffer(const sim_forked *f, int rank) {
  char *end = (char *)f->block + f->bytes;
  return end - ((size_t)(f->block->size - rank) * 2 - f->number % 2) * BUFFER;
}

/* ---- futexes ---- */

static void wake(atomic_uint *word) { (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0); }

static void sleep_while(atomic_uint *word, unsigned value) {
  const struct timespec most = {.tv_nsec = tick};
  (void)syscall(SYS_futex, word, FUTEX_WAIT, value, &most, NULL, 0);
}

static void pause_a_little(void) {
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause();
#endif
}

/* ---- failures ---- */

void sim_forked_fail(sim_forked *f, int rank, sim_status status, const char *message) {
  block *b = f->block;
  int none = NO_FAILURE;
  if (!atomic_compare_exchange_strong(&b->failure, &none, FAILURE_WRITTEN_NOW)) return;
  b->failed_rank = rank;
  b->failed_status = (int)status;
  snprintf(b->message, sizeof b->message, "%s", message);
  atomic_store(&b->failure, FAILURE);
  for (int r = 0; r < b->size; r++) wake(&b->seats[r].arrived);
}

sim_status sim_forked_failure(const sim_forked *f) {
  const block *b = f->block;
  if (atomic_load(&b->failure) == NO_FAILURE) return SIM_OK;
  for (int i = 0; atomic_load(&b->failure) != FAILURE && i < 1000; i++) /* in case that rank dies while it writes */
    (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  if (atomic_load(&b->failure) != FAILURE) return sim_fail(SIM_ERR_RANK, "a rank has failed");
  return sim_fail((sim_status)b->failed_status, "rank %d on %s: %s", b->failed_rank, b->host, b->message);
}

void sim_forked_words(const sim_forked *f, uint64_t *words) {
  for (int r = 0; r < f->block->size; r++) words[r] = atomic_load(&f->block->seats[r].beats);
}

/* Notes that a rank gives no sign of life. The starting process notices that earlier and kills the rank, unless it does
 * not run itself. Counts in this rank's own signs of life, one a second: its clock may be wrong, and a job that is
 * suspended as a whole gives none. Any thread. */
static void look_for_life(sim_forked *f) {
  char message[96];
  if (pthread_mutex_trylock(&f->looks) != 0) return;
  const unsigned own = atomic_load(f->beats);
  for (int r = 0; r < f->block->size && own != f->own; r++) {
    const unsigned now = atomic_load(&f->block->seats[r].beats);
    const bool lives = now != f->seen[r] || now == 0 || sim_forked_ended(f, r); /* 0: it has not begun */
    f->silent[r] = lives ? 0 : f->silent[r] + 1;
    f->seen[r] = now;
    if (f->silent[r] <= sim_heartbeat_limit() + 5) continue;
    snprintf(message, sizeof message, "has given no sign of life for %d s", f->silent[r]);
    sim_forked_fail(f, r, SIM_ERR_RANK, message);
  }
  f->own = own;
  pthread_mutex_unlock(&f->looks);
}

static void beat(void *opaque) { atomic_fetch_add(((sim_forked *)opaque)->beats, 1); }

/* ---- exchange ---- */

static bool has_arrived(const seat *s, unsigned number) { return (int)(atomic_load(&s->arrived) - number) >= 0; }

static void delay(sim_forked *f) {
  if (f->delay <= 0) return;
  f->random = f->random * 1664525u + 1013904223u;
  (void)nanosleep(&(struct timespec){.tv_nsec = (long)(f->random >> 8) % f->delay * 1000}, NULL);
}

/* Tells the other ranks that this rank's buffer of the current exchange is complete. */
static void arrive(const sim_comm *comm) {
  const sim_forked *f = comm->self;
  seat *own = &f->block->seats[comm->rank];
  atomic_store(&own->arrived, f->number);
  if (atomic_load(&own->sleepers) > 0) wake(&own->arrived);
}

/* Logs that a rank is late, after one minute, then two, four, ...: its share of a step is long, or it hangs. */
static void say_late(int rank, double waited, double *next) {
  if (waited < *next) return;
  sim_log(SIM_LOG_INFO, "has waited %.0f s for rank %d, which still computes", waited, rank);
  *next *= 2;
}

static sim_status sleep_for(sim_forked *f, seat *s, int rank, double begin) {
  double next = 60;
  while (!has_arrived(s, f->number)) {
    SIM_TRY(sim_forked_failure(f));
    look_for_life(f);
    say_late(rank, sim_wall_clock() - begin, &next);
    atomic_fetch_add(&s->sleepers, 1);
    const unsigned now = atomic_load(&s->arrived);
    if ((int)(now - f->number) < 0) sleep_while(&s->arrived, now);
    atomic_fetch_sub(&s->sleepers, 1);
  }
  return SIM_OK;
}

/* Waits until a rank has arrived at the current exchange. */
static sim_status wait_for(sim_forked *f, int rank) {
  seat *s = &f->block->seats[rank];
  if (has_arrived(s, f->number)) return SIM_OK;
  const double begin = sim_wall_clock();
  for (int i = 0; i < SPINS && !has_arrived(s, f->number); i++) pause_a_little();
  const sim_status status = sleep_for(f, s, rank, begin);
  f->totals.waited += sim_wall_clock() - begin;
  return status;
}

/* For tests: what is to be received is no number until it has come, so that nobody uses what was there before. */
static void poison(const sim_forked *f, void *out, size_t bytes) {
  if (f->delay > 0 && bytes > 0) memset(out, 0xff, bytes);
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static sim_status gather_parts(const sim_comm *comm, void *data, const size_t *ends) {
  sim_forked *f = comm->self;
  size_t most = 0;
  for (int r = 0; r < comm->size; r++) {
    const size_t bytes = ends[r] - (r > 0 ? ends[r - 1] : 0);
    if (bytes > most) most = bytes;
  }
  f->totals.exchanges++;
  for (size_t at = 0; at < most; at += BUFFER) {
    delay(f);
    f->number++;
    for (int k = 0; k < comm->size; k++) { /* this rank's own part first */
      const int from = (comm->rank + k) % comm->size;
      const size_t first = (from > 0 ? ends[from - 1] : 0) + at;
      const size_t here = first < ends[from] ? least(ends[from] - first, BUFFER) : 0;
      char *part = (char *)data + first;
      if (k > 0) poison(f, part, here);
      if (k > 0) SIM_TRY(wait_for(f, from));
      if (k > 0 && here > 0) memcpy(part, buffer(f, from), here);
      if (k > 0) f->totals.bytes += (double)here;
      if (k == 0 && here > 0) memcpy(buffer(f, from), part, here);
      if (k == 0) arrive(comm);
    }
  }
  return SIM_OK;
}

static sim_status gather(const sim_comm *comm, const void *in, size_t bytes, void *out) {
  size_t ends[SIM_RANKS_MAX];
  char *own = (char *)out + (size_t)comm->rank * bytes;
  for (int r = 0; r < comm->size; r++) ends[r] = (size_t)(r + 1) * bytes;
  if (bytes > 0 && in != own) memcpy(own, in, bytes);
  return gather_parts(comm, out, ends);
}

/* Exchanges pieces through the buffers, each of which has a slot for every receiver. */
static sim_status swap(const sim_comm *comm, const sim_piece *pieces, size_t count) {
  sim_forked *f = comm->self;
  const size_t slot = BUFFER / (size_t)comm->size;
  uint64_t most = 0;
  for (size_t i = 0; i < count; i++) {
    if (pieces[i].in_bytes > most) most = pieces[i].in_bytes;
    if (pieces[i].out_bytes > most) most = pieces[i].out_bytes;
    f->totals.bytes += (double)pieces[i].out_bytes;
  }
  SIM_TRY(sim_comm_agree(comm, most, &most));
  for (size_t at = 0; at < most; at += slot) {
    delay(f);
    f->number++;
    for (size_t i = 0; i < count; i++)
      if (at < pieces[i].in_bytes)
        memcpy(buffer(f, comm->rank) + (size_t)pieces[i].rank * slot, (const char *)pieces[i].in + at,
               least(pieces[i].in_bytes - at, slot));
    arrive(comm);
    for (size_t i = 0; i < count; i++)
      if (at < pieces[i].out_bytes) poison(f, (char *)pieces[i].out + at, least(pieces[i].out_bytes - at, slot));
    for (int k = 0; k < comm->size; k++) SIM_TRY(wait_for(f, (comm->rank + k) % comm->size));
    for (size_t i = 0; i < count; i++)
      if (at < pieces[i].out_bytes)
        memcpy((char *)pieces[i].out + at, buffer(f, pieces[i].rank) + (size_t)comm->rank * slot,
               least(pieces[i].out_bytes - at, slot));
  }
  return SIM_OK;
}

/* Begins a round. All ranks have posted in the round before; the words of that round are kept until the next one. */
static sim_status post(const sim_comm *comm, uint64_t word) {
  sim_forked *f = comm->self;
  seat *own = &f->block->seats[comm->rank];
  delay(f);
  f->round++;
  atomic_store(&own->words[f->round % 2], word);
  atomic_store(&own->posted, f->round);
  return SIM_OK;
}

static sim_status test(const sim_comm *comm, bool *complete, uint64_t *words) {
  sim_forked *f = comm->self;
  SIM_TRY(sim_forked_failure(f));
  look_for_life(f);
  *complete = true;
  for (int r = 0; r < comm->size && *complete; r++)
    *complete = (int)(atomic_load(&f->block->seats[r].posted) - f->round) >= 0;
  for (int r = 0; r < comm->size && *complete; r++) words[r] = atomic_load(&f->block->seats[r].words[f->round % 2]);
  return SIM_OK;
}

static void abandon(const sim_comm *comm, sim_status status, const char *message) {
  sim_forked_fail(comm->self, comm->rank, status, message);
}

static sim_status check(const sim_comm *comm) { return sim_forked_failure(comm->self); }

static const sim_transport transport = {.name = "forked",
                                        .gather = gather,
                                        .gather_parts = gather_parts,
                                        .swap = swap,
                                        .post = post,
                                        .test = test,
                                        .abandon = abandon,
                                        .check = check};

/* ---- the end of a run ---- */

void sim_forked_end(const sim_comm *comm) {
  if (comm->ops != &transport) return;
  const sim_forked *f = comm->self;
  atomic_store(&f->block->seats[comm->rank].over, true);
}

bool sim_forked_ended(const sim_forked *f, int rank) { return atomic_load(&f->block->seats[rank].over); }

/* ---- the block ---- */

static sim_status map(int descriptor, size_t bytes, sim_forked **out) {
  sim_forked *f = *out = calloc(1, sizeof *f);
  if (!f) return sim_no_memory("the ranks");
  f->descriptor = descriptor;
  f->bytes = bytes;
  f->block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (f->block != MAP_FAILED) return SIM_OK;
  f->block = NULL;
  return sim_fail(SIM_ERR_NO_MEMORY, "memory shared by the ranks: %s", strerror(errno));
}

sim_status sim_forked_create(int size, sim_forked **out) {
  const size_t bytes = block_bytes(size);
  *out = NULL;
  const int descriptor = memfd_create("sim-ranks", 0);
  if (descriptor < 0 || ftruncate(descriptor, (off_t)bytes) != 0) {
    const int error = errno;
    if (descriptor >= 0) (void)close(descriptor);
    return sim_fail(SIM_ERR_NO_MEMORY, "memory shared by the ranks: %s", strerror(error));
  }
  const sim_status status = map(descriptor, bytes, out);
  if (status != SIM_OK) {
    if (!*out) (void)close(descriptor);
    sim_forked_destroy(out);
    return status;
  }
  (*out)->block->size = size;
  (void)gethostname((*out)->block->host, sizeof(*out)->block->host - 1);
  memcpy((*out)->block->magic, magic, sizeof magic);
  return SIM_OK;
}

int sim_forked_descriptor(const sim_forked *f) { return f->descriptor; }

void sim_forked_destroy(sim_forked **forked) {
  sim_forked *f = *forked;
  if (!f) return;
  sim_pulse_end(&f->pulse);
  if (f->block) (void)munmap(f->block, f->bytes);
  if (f->descriptor >= 0) (void)close(f->descriptor);
  free(f);
  *forked = NULL;
}

/* SIM_COMM_HOSTS: divides the ranks in order into hosts of about equal size. */
static void set_hosts(sim_comm *comm) {
  const char *text = getenv("SIM_COMM_HOSTS");
  const int hosts = text ? atoi(text) : 1;
  if (hosts <= 1 || hosts > comm->size) return;
  comm->host_rank = comm->host_size = 0;
  for (int r = 0; r < comm->size; r++) {
    if (r * hosts / comm->size != comm->rank * hosts / comm->size) continue;
    comm->host_rank += r < comm->rank;
    comm->host_size++;
  }
}

sim_status sim_forked_attach(int descriptor, int rank, sim_comm *comm) {
  struct stat info;
  sim_forked *f = NULL;
  if (fstat(descriptor, &info) != 0 || info.st_size < (off_t)sizeof(block))
    return sim_fail(SIM_ERR_USAGE, "descriptor %d is not memory shared by ranks", descriptor);
  const sim_status status = map(descriptor, (size_t)info.st_size, &f);
  if (status != SIM_OK) {
    sim_forked_destroy(&f);
    return status;
  }
  const int size = f->block->size;
  if (memcmp(f->block->magic, magic, sizeof magic) != 0 || size > SIM_RANKS_MAX || rank < 0 || rank >= size ||
      f->bytes != block_bytes(size)) {
    sim_forked_destroy(&f);
    return sim_fail(SIM_ERR_USAGE, "descriptor %d is not memory shared by ranks", descriptor);
  }
  const char *longest = getenv("SIM_COMM_DELAY");
  f->delay = longest ? strtol(longest, NULL, 10) : 0;
  if (f->delay > 900000) f->delay = 900000;
  f->random = (unsigned)rank * 2654435761u + (unsigned)getpid();
  f->beats = &f->block->seats[rank].beats;
  pthread_mutex_init(&f->looks, NULL);
  const sim_status beats = sim_pulse_begin(beat, f, &f->pulse);
  if (beats != SIM_OK) {
    sim_forked_destroy(&f);
    return beats;
  }
  (void)close(f->descriptor);
  f->descriptor = -1;
  *comm = (sim_comm){.rank = rank,
                     .size = size,
                     .host_rank = rank,
                     .host_size = size,
                     .ops = &transport,
                     .self = f,
                     .totals = &f->totals};
  set_hosts(comm);
  return SIM_OK;
}

void sim_forked_detach(sim_comm *comm) {
  sim_forked *f = comm->self;
  sim_forked_destroy(&f);
  *comm = sim_comm_alone;
}
