#include "engine/comm/mpi.h"

#include "engine/comm/heartbeat.h"
#include "engine/wall_clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* MPI counts with int: longer exchanges are cut into messages. */
enum { CHUNK = 1 << 30, SPINS = 2000 };
enum { TAG_SWAP = 1, TAG_WORD, TAG_FAILURE, TAG_BEAT };
static const double tick = 0.25;  /* seconds between two rounds of the watching thread */
static const double grace = 0.25; /* seconds from a failure until it ends a wait: a lower rank may report the same */
enum { TICKS_A_BEAT = 4 };
/* Seconds that ranks 0, 1 and the others leave to each other, in this order, to report a failure and to end the world;
 * turn_of_late is for a rank that was given up. A launcher loses what is printed while another rank ends the world. */
static const double turns[3] = {0, 2, 4}, turn_of_late = 8;

/* What all ranks know of each rank. */
typedef struct member {
  char host[64];
  int64_t process;
  uint64_t namespace; /* inode of the namespace of process numbers */
} member;

/* A failure as sent between ranks. */
typedef struct failure {
  int32_t rank, status, patience; /* patience: seconds */
  char message[1012];
} failure;

/* The world that this process has joined. `lock` is held during every call of the plugin; none of these calls waits. */
typedef struct world {
  const sim_mpi_plugin *mpi;
  sim_mpi_on_lost *lost;
  pthread_mutex_t lock;
  int rank, size, chunk;
  member *members; /* [size] */
  bool introduced; /* members is complete: before, failures of other ranks do not end this one */
  /* post: one round */
  uint64_t word, *words;                       /* words[size] */
  sim_mpi_request *word_sends, *word_receives; /* [size] */
  /* failures */
  atomic_int failed;    /* `first` holds a failure */
  atomic_bool follows;  /* this rank fails because another one has, so it reports no failure of its own */
  atomic_bool given_up; /* another rank reports this one as lost; set before `failed` */
  failure first, arriving, own;
  sim_mpi_request failure_receive, *failure_sends; /* [size] */
  /* the watching thread */
  pthread_t watch;
  atomic_bool watching;
  char beat_in, beat_out;
  bool beats_over; /* the last sign of life of the watched rank has arrived */
  sim_mpi_request beat_receive, beat_send;
  struct pollfd *processes; /* [size]; fd -1: not watched */
  double patience;          /* seconds of silence after which a rank counts as lost */
  long delay;               /* longest delay in microseconds before an exchange; 0: none */
  unsigned random;
  sim_comm_totals totals;
} world;

static world all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the plugin ---- */

sim_status sim_mpi_load(const char *path, const sim_mpi_plugin **plugin) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return sim_fail(SIM_ERR_USAGE, "MPI plugin: %s", dlerror());
  const sim_mpi_plugin *found = dlsym(library, SIM_MPI_SYMBOL);
  if (!found) return sim_fail(SIM_ERR_USAGE, "%s: not an MPI plugin of sim", path);
  if (found->version != SIM_MPI_VERSION)
    return sim_fail(SIM_ERR_USAGE, "%s: an MPI plugin of version %d, and this sim needs version %d: build it again",
                    path, found->version, SIM_MPI_VERSION);
  *plugin = found;
  return SIM_OK;
}

static sim_status mpi_error(int error, const char *what) {
  char text[512];
  all.mpi->error_text(error, text, sizeof text);
  return sim_fail(SIM_ERR_RANK, "MPI: %s: %s", what, text);
}

/* ---- failures ---- */

/* Whether a failure replaces the noted one: if several ranks report the same status of themselves, the lowest rank
 * counts, whichever was first. */
static bool counts(const failure *f) {
  return !atomic_load(&all.failed) ||
         (f->status == all.first.status && f->status != SIM_ERR_RANK && f->rank < all.first.rank);
}

/* Call under the lock. */
static void note_failure(const failure *f) {
  if (!counts(f)) return;
  all.first = *f;
  all.first.message[sizeof all.first.message - 1] = '\0';
  atomic_store(&all.failed, 1);
}

static int receive_failure(void) {
  return all.mpi->receive(&all.arriving, sizeof all.arriving, -1, TAG_FAILURE, &all.failure_receive);
}

/* Receives the failures that other ranks report. Call under the lock. */
static void look_for_failure(void) {
  for (int arrived = 0; all.mpi->test(&all.failure_receive, &arrived) == 0 && arrived; arrived = 0) {
    if (all.arriving.rank == all.rank) atomic_store(&all.given_up, true);
    note_failure(&all.arriving);
    if (receive_failure() != 0) return;
  }
}

static failure noted_failure(void) {
  pthread_mutex_lock(&all.lock);
  const failure f = all.first;
  pthread_mutex_unlock(&all.lock);
  return f;
}

static sim_status check_failure(void) {
  if (!atomic_load(&all.failed)) return SIM_OK;
  const failure f = noted_failure();
  if (f.rank != all.rank) atomic_store(&all.follows, true);
  if (f.rank == all.rank && !atomic_load(&all.given_up)) return sim_fail((sim_status)f.status, "%s", f.message);
  return sim_fail((sim_status)f.status, "rank %d on %s: %s", f.rank, all.members[f.rank].host, f.message);
}

/* Reports a failure of `rank` to all ranks but `dead` (-1: none), and waits up to a second until the messages have left
 * this process, except the one to `rank`, which may be frozen. */
static void tell(int rank, int dead, sim_status status, int patience, const char *message) {
  pthread_mutex_lock(&all.lock);
  look_for_failure();
  const failure own = {.rank = rank, .status = (int32_t)status, .patience = patience};
  const bool told = counts(&own);
  if (told) {
    all.own = own;
    snprintf(all.own.message, sizeof all.own.message, "%s", message);
    for (int r = 0; r < all.size; r++)
      if (r != all.rank && r != dead)
        (void)all.mpi->send(&all.own, sizeof all.own, r, TAG_FAILURE, &all.failure_sends[r]);
    note_failure(&all.own);
  }
  pthread_mutex_unlock(&all.lock);
  const double until = sim_wall_clock() + 1;
  for (int r = 0; told && r < all.size && sim_wall_clock() < until;) {
    int gone = 1;
    pthread_mutex_lock(&all.lock);
    if (r != all.rank && r != rank) (void)all.mpi->test(&all.failure_sends[r], &gone);
    pthread_mutex_unlock(&all.lock);
    if (gone)
      r++;
    else
      (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
  }
}

static void abandon(const sim_comm *comm, sim_status status, const char *message) {
  if (!atomic_load(&all.follows)) tell(comm->rank, -1, status, SIM_MPI_PATIENCE, message);
}

/* ---- exchange ---- */

static void delay(void) {
  if (all.delay <= 0) return;
  all.random = all.random * 1664525u + 1013904223u;
  (void)nanosleep(&(struct timespec){.tv_nsec = (long)(all.random >> 8) % all.delay * 1000}, NULL);
}

/* Waits for an operation. After a failure of another rank it continues for `grace`, so that ranks that fail for the
 * same reason, in their shares or with the bytes of this exchange, have all failed by then. */
static sim_status wait_uncounted(sim_mpi_request *request, const char *what) {
  double end = INFINITY;
  for (int i = 0;; i++) {
    int complete = 0;
    pthread_mutex_lock(&all.lock);
    const int error = all.mpi->test(request, &complete);
    if (!complete && i % 64 == 63) look_for_failure();
    pthread_mutex_unlock(&all.lock);
    if (error != 0) return mpi_error(error, what);
    if (complete) return SIM_OK;
    if (atomic_load(&all.failed) && all.introduced) {
      const double now = sim_wall_clock();
      end = fmin(end, now + grace);
      if (now >= end) return check_failure();
    }
    if (i < SPINS)
      (void)sched_yield();
    else
      (void)nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
  }
}

/* Waits for an operation and counts the time; fails once a rank has failed. */
static sim_status wait_for(sim_mpi_request *request, const char *what) {
  const double begin = sim_wall_clock();
  const sim_status status = wait_uncounted(request, what);
  all.totals.waited += sim_wall_clock() - begin;
  return status;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static sim_status gather(const sim_comm *comm, const void *in, size_t bytes, void *out) {
  const size_t own = (size_t)comm->rank * bytes;
  const bool placed = in == (char *)out + own;
  size_t chunk = (size_t)all.chunk / (size_t)comm->size;
  if (chunk == 0) chunk = 1;
  all.totals.exchanges++;
  all.totals.bytes += (double)bytes * (comm->size - 1);
  delay();
  for (size_t at = 0; at < bytes; at += chunk) {
    sim_mpi_request request;
    pthread_mutex_lock(&all.lock);
    const int error = all.mpi->gather(placed ? NULL : (const char *)in + at, (int)least(bytes - at, chunk),
                                      (char *)out + at, bytes, &request);
    pthread_mutex_unlock(&all.lock);
    if (error != 0) return mpi_error(error, "gather");
    SIM_TRY(wait_for(&request, "gather"));
  }
  return SIM_OK;
}

static size_t messages(size_t bytes) { return (bytes + (size_t)all.chunk - 1) / (size_t)all.chunk; }

/* Begins all messages of one piece in one direction. Returns their number, or -1 with an error. */
static int begin_piece(const sim_piece *piece, bool sends, sim_mpi_request *requests) {
  const size_t bytes = sends ? piece->in_bytes : piece->out_bytes;
  int count = 0;
  for (size_t at = 0; at < bytes; at += (size_t)all.chunk, count++) {
    const int here = (int)least(bytes - at, (size_t)all.chunk);
    const int error = sends ? all.mpi->send((const char *)piece->in + at, here, piece->rank, TAG_SWAP, &requests[count])
                            : all.mpi->receive((char *)piece->out + at, here, piece->rank, TAG_SWAP, &requests[count]);
    if (error == 0) continue;
    mpi_error(error, "swap");
    return -1;
  }
  return count;
}

static sim_status swap(const sim_comm *comm, const sim_piece *pieces, size_t count) {
  size_t most = 0, begun = 0;
  sim_status status = SIM_OK;
  all.totals.exchanges++;
  for (size_t i = 0; i < count; i++)
    if (pieces[i].rank != comm->rank) all.totals.bytes += (double)pieces[i].out_bytes;
  delay();
  if (count == 0) {
    pthread_mutex_lock(&all.lock);
    look_for_failure();
    pthread_mutex_unlock(&all.lock);
  }
  SIM_TRY(check_failure());
  for (size_t i = 0; i < count; i++) {
    if (pieces[i].rank != comm->rank) most += messages(pieces[i].in_bytes) + messages(pieces[i].out_bytes);
    if (pieces[i].rank == comm->rank && pieces[i].in_bytes > 0)
      memmove(pieces[i].out, pieces[i].in, pieces[i].in_bytes);
  }
  sim_mpi_request *requests = malloc((most + 1) * sizeof *requests);
  if (!requests) return sim_no_memory("%zu messages between ranks", most);
  for (int sends = 0; sends < 2 && status == SIM_OK; sends++)
    for (size_t i = 0; i < count && status == SIM_OK; i++) {
      if (pieces[i].rank == comm->rank) continue;
      pthread_mutex_lock(&all.lock);
      const int n = begin_piece(&pieces[i], sends == 1, &requests[begun]);
      pthread_mutex_unlock(&all.lock);
      if (n < 0) status = SIM_ERR_RANK;
      if (n > 0) begun += (size_t)n;
    }
  for (size_t i = 0; i < begun && status == SIM_OK; i++) status = wait_for(&requests[i], "swap");
  if (status == SIM_OK) free(requests); /* else operations may still be under way; the process ends */
  return status;
}

/* Each rank sends its word to every other one. The rounds of different ranks overlap the gathers differently, so that
 * they cannot be collective operations. */
static sim_status post(const sim_comm *comm, uint64_t word) {
  delay();
  pthread_mutex_lock(&all.lock);
  all.word = all.words[comm->rank] = word;
  int error = 0;
  for (int r = 0; r < comm->size && error == 0; r++) {
    if (r == comm->rank) continue;
    error = all.mpi->receive(&all.words[r], sizeof word, r, TAG_WORD, &all.word_receives[r]);
    if (error == 0) error = all.mpi->send(&all.word, sizeof word, r, TAG_WORD, &all.word_sends[r]);
  }
  pthread_mutex_unlock(&all.lock);
  return error == 0 ? SIM_OK : mpi_error(error, "post");
}

static sim_status test(const sim_comm *comm, bool *complete, uint64_t *words) {
  int error = 0, done = 1;
  pthread_mutex_lock(&all.lock);
  look_for_failure();
  for (int r = 0; r < comm->size && error == 0 && done; r++) {
    if (r == comm->rank) continue;
    error = all.mpi->test(&all.word_receives[r], &done);
    if (error == 0 && done) error = all.mpi->test(&all.word_sends[r], &done);
  }
  pthread_mutex_unlock(&all.lock);
  SIM_TRY(check_failure());
  if (error != 0) return mpi_error(error, "test");
  *complete = done;
  if (done) memcpy(words, all.words, (size_t)comm->size * sizeof *words);
  return SIM_OK;
}

static sim_status check(const sim_comm *comm) {
  (void)comm;
  return check_failure();
}

static const sim_transport transport = {
    .name = "mpi", .gather = gather, .swap = swap, .post = post, .test = test, .abandon = abandon, .check = check};

bool sim_mpi_is(const sim_comm *comm) { return comm->ops == &transport; }

bool sim_mpi_takes_device(const sim_comm *comm) { return sim_mpi_is(comm) && all.mpi->cuda_aware(); }

const char *sim_mpi_host(const sim_comm *comm, int rank) { return sim_mpi_is(comm) ? all.members[rank].host : "here"; }

/* Receives failures first: two ranks, each of which believes the other one to be lost, must not both report it. */
bool sim_mpi_given_up(const sim_comm *comm) {
  if (!sim_mpi_is(comm) || comm->size == 1) return false;
  pthread_mutex_lock(&all.lock);
  look_for_failure();
  pthread_mutex_unlock(&all.lock);
  return atomic_load(&all.given_up);
}

int sim_mpi_hosts(const sim_comm *comm) {
  int hosts = 0;
  if (!sim_mpi_is(comm)) return 1;
  for (int r = 0; r < comm->size; r++) {
    int first = 0;
    while (strcmp(all.members[first].host, all.members[r].host) != 0) first++;
    hosts += first == r;
  }
  return hosts;
}

/* Ends all processes of the world, this one too. Other ranks may wait in MPI for ever, and only MPI's abort ends them;
 * the watching thread has no caller to return a status to. The sleep lets the launcher pass on what was printed last.
 * Without a network the abort of some libraries waits for the launcher for ever: SIGALRM then ends this process. */
static void end_world(int exit_code) {
  (void)nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
  (void)alarm(2);
  all.mpi->abort(exit_code);
}

/* ---- the watching thread ---- */

/* Rank r checks the signs of life of rank r - 1. */
static int watched_rank(void) { return (all.rank + all.size - 1) % all.size; }

/* Notes a sign of life that has arrived and begins to receive the next; a sign of value 1 is the last. Returns MPI's
 * error. Call under the lock. */
static int next_beat(void) {
  all.beats_over = all.beat_in == 1;
  return all.beats_over ? 0 : all.mpi->receive(&all.beat_in, 1, watched_rank(), TAG_BEAT, &all.beat_receive);
}

/* Sends a sign of life if asked, and receives one of the watched rank. Returns whether one has arrived. */
static bool exchange_beats(bool send) {
  int done = 0, arrived = 0;
  pthread_mutex_lock(&all.lock);
  look_for_failure();
  if (!all.beats_over && all.mpi->test(&all.beat_receive, &arrived) == 0 && arrived) next_beat();
  if (send && all.mpi->test(&all.beat_send, &done) == 0 && done)
    (void)all.mpi->send(&all.beat_out, 1, (all.rank + 1) % all.size, TAG_BEAT, &all.beat_send);
  pthread_mutex_unlock(&all.lock);
  return arrived || all.beats_over;
}

/* Returns a rank of this host whose process has ended during the run; -1: none. Waits at most one tick. */
static int ended_process(void) {
  int n;
  do n = poll(all.processes, (nfds_t)all.size, (int)(1000 * tick));
  while (n < 0 && errno == EINTR); /* an interrupted poll is not a tick */
  if (n <= 0) return -1;
  for (int r = 0; r < all.size; r++)
    if (all.processes[r].revents) {
      (void)close(all.processes[r].fd);
      all.processes[r].fd = -1;
      return r;
    }
  return -1;
}

/* The watching thread. It counts silence in rounds and not by the clock: a job that is suspended as a whole and then
 * continues counts no silence. */
static void *watch(void *nothing) {
  (void)nothing;
  const long most = lrint(all.patience / tick);
  double since = 0;
  for (long looks = 0, silent = 0; atomic_load(&all.watching); looks++) {
    silent = exchange_beats(looks % TICKS_A_BEAT == 0) ? 0 : silent + 1;
    const int ended = ended_process();
    if (!atomic_load(&all.watching)) break;
    if (ended >= 0)
      tell(ended, ended, SIM_ERR_RANK, ended > 0 ? SIM_MPI_PATIENCE : 1, "has ended without a word (killed?)");
    if (silent == most) {
      char message[96];
      snprintf(message, sizeof message, "has given no sign of life for %.0f s", all.patience);
      tell(watched_rank(), -1, SIM_ERR_RANK, 1, message);
    }
    if (!atomic_load(&all.failed)) continue;
    const failure f = noted_failure();
    const double now = sim_wall_clock();
    if (since <= 0) since = now;
    const bool late = atomic_load(&all.given_up);
    if (now - since < f.patience + (late ? turn_of_late : turns[all.rank < 2 ? all.rank : 2])) continue;
    const sim_status status = check_failure();
    const bool speaks = all.rank == (f.rank == 0 ? 1 : 0) && !late;
    if (all.lost && speaks) all.lost(status, sim_error_last()->message);
    end_world(sim_status_exit_code(status));
  }
  return NULL;
}

/* ---- the world ---- */

static sim_status no_world(void) { return sim_no_memory("the ranks"); }

static sim_status allocate(void) {
  const size_t n = (size_t)all.size;
  all.members = calloc(n, sizeof *all.members);
  all.words = calloc(n, sizeof *all.words);
  all.word_sends = calloc(n, sizeof *all.word_sends);
  all.word_receives = calloc(n, sizeof *all.word_receives);
  all.failure_sends = calloc(n, sizeof *all.failure_sends);
  all.processes = calloc(n, sizeof *all.processes);
  if (!all.members || !all.words || !all.word_sends || !all.word_receives || !all.failure_sends || !all.processes)
    return no_world();
  for (int r = 0; r < all.size; r++) all.processes[r].fd = -1;
  return SIM_OK;
}

/* Opens the processes of the other ranks of this host, so that poll reports their end. */
static void find_processes(void) {
  const member *own = &all.members[all.rank];
  for (int r = 0; r < all.size; r++) {
    const member *m = &all.members[r];
    if (r == all.rank || m->namespace != own->namespace || strcmp(m->host, own->host) != 0) continue;
    all.processes[r] = (struct pollfd){.fd = (int)syscall(SYS_pidfd_open, (pid_t)m->process, 0), .events = POLLIN};
  }
}

static long setting(const char *name, long most) {
  const char *text = getenv(name);
  const long value = text ? strtol(text, NULL, 10) : 0;
  return value < most ? value : most;
}

static sim_status listen(void) {
  int error = receive_failure();
  if (error == 0) error = all.mpi->receive(&all.beat_in, 1, watched_rank(), TAG_BEAT, &all.beat_receive);
  if (error == 0) error = all.mpi->send(&all.beat_out, 1, (all.rank + 1) % all.size, TAG_BEAT, &all.beat_send);
  return error == 0 ? SIM_OK : mpi_error(error, "start");
}

static sim_status start_watching(void) {
  sigset_t every, before;
  atomic_store(&all.watching, true);
  sigfillset(&every); /* signals are handled by the thread of the time loop */
  pthread_sigmask(SIG_SETMASK, &every, &before);
  const int error = pthread_create(&all.watch, NULL, watch, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error == 0) return SIM_OK;
  atomic_store(&all.watching, false);
  return sim_no_memory("the thread that watches the ranks");
}

sim_status sim_mpi_attach(const sim_mpi_plugin *plugin, sim_mpi_on_lost *lost, sim_comm *comm) {
  cpu_set_t cores;
  struct stat info;
  const bool known = sched_getaffinity(0, sizeof cores, &cores) == 0;
  all.mpi = plugin;
  all.lost = lost;
  const int error = plugin->start(&comm->rank, &comm->size, &comm->host_rank, &comm->host_size);
  if (error != 0) return mpi_error(error, "start");
  if (known) (void)sched_setaffinity(0, sizeof cores, &cores); /* some libraries bind the process to one core */
  all.rank = comm->rank;
  all.size = comm->size;
  const long chunk = setting("SIM_COMM_CHUNK", CHUNK);
  all.chunk = chunk > 0 ? (int)chunk : CHUNK;
  all.patience = fmin(fmax(sim_heartbeat_limit(), tick), 1e8);
  all.delay = setting("SIM_COMM_DELAY", 900000);
  all.random = (unsigned)comm->rank * 2654435761u + (unsigned)getpid();
  comm->ops = &transport;
  comm->totals = &all.totals;
  comm->self = &all;
  if (all.size == 1 || all.size > SIM_RANKS_MAX) return SIM_OK;
  SIM_TRY(allocate());
  member *own = &all.members[all.rank];
  (void)gethostname(own->host, sizeof own->host - 1);
  own->process = getpid();
  if (stat("/proc/self/ns/pid", &info) == 0) own->namespace = info.st_ino;
  SIM_TRY(listen());
  SIM_TRY(gather(comm, own, sizeof *own, all.members));
  all.introduced = true;
  find_processes();
  return start_watching();
}

static void stop_watching(void) {
  if (!atomic_exchange(&all.watching, false)) return;
  (void)pthread_join(all.watch, NULL);
}

/* Sends and receives the last signs of life, so that none is under way in MPI_Finalize. The watching thread may already
 * have received the last sign of the watched rank, which may end earlier. */
static sim_status drain_beats(void) {
  SIM_TRY(wait_for(&all.beat_send, "end"));
  all.beat_out = 1;
  pthread_mutex_lock(&all.lock);
  int error = all.mpi->send(&all.beat_out, 1, (all.rank + 1) % all.size, TAG_BEAT, &all.beat_send);
  pthread_mutex_unlock(&all.lock);
  while (error == 0 && !all.beats_over) {
    SIM_TRY(wait_for(&all.beat_receive, "end"));
    pthread_mutex_lock(&all.lock);
    error = next_beat();
    pthread_mutex_unlock(&all.lock);
  }
  return error == 0 ? wait_for(&all.beat_send, "end") : mpi_error(error, "end");
}

/* Every rank exchanges with every other one, twice, so that a library's connections have completed what was under way,
 * such as the answer to their first message. MPI_Finalize of MPICH 4.0 over UCX closes a rank's connections, which may
 * wait for the other end, and then stops answering. */
static sim_status settle(const sim_comm *comm) {
  char in = 0, out[SIM_RANKS_MAX];
  sim_piece pieces[SIM_RANKS_MAX];
  size_t count = 0;
  for (int r = 0; r < comm->size; r++)
    if (r != comm->rank) pieces[count++] = (sim_piece){.rank = r, .in = &in, .out = &out[r], 1, 1};
  for (int k = 0; k < 2; k++) SIM_TRY(swap(comm, pieces, count));
  return SIM_OK;
}

sim_status sim_mpi_detach(sim_comm *comm) {
  uint64_t most;
  if (all.size > 1 && all.size <= SIM_RANKS_MAX) {
    stop_watching();                           /* on all ranks, before any of them ends */
    (void)alarm((unsigned)ceil(all.patience)); /* from here on only this ends a wait for another rank */
    SIM_TRY(drain_beats());
    SIM_TRY(sim_comm_agree(comm, 0, &most));
    (void)all.mpi->cancel(&all.failure_receive);
    SIM_TRY(settle(comm));
  }
  (void)all.mpi->end();
  (void)alarm(0);
  *comm = sim_comm_alone;
  return SIM_OK;
}

_Noreturn void sim_mpi_abort(sim_comm *comm, int exit_code) {
  if ((comm->rank == 0 && !atomic_load(&all.given_up)) || !atomic_load(&all.watching)) end_world(exit_code);
  for (;;) (void)pause(); /* until rank 0 or the watching thread ends the world */
}
