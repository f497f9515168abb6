/* The transport by MPI: exchanges, and what other parts ask about it. */
#include "engine/comm/mpi_world.h"

#include "engine/comm/heartbeat.h"
#include "engine/log.h"
#include "engine/wall_clock.h"

#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SPINS = 2000 };
static const double grace = 0.25; /* seconds from a failure until it ends a wait: a lower rank may report the same */

static sim_mpi_world *const all = &sim_mpi_joined;

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

sim_status sim_mpi_fail(int error, const char *what) {
  char text[512];
  all->mpi->error_text(error, text, sizeof text);
  return sim_fail(SIM_ERR_RANK, "MPI: %s: %s", what, text);
}

static void abandon(const sim_comm *comm, sim_status status, const char *message) {
  if (!atomic_load(&all->follows)) sim_mpi_tell(comm->rank, -1, status, SIM_MPI_PATIENCE, message);
}

/* ---- exchange ---- */

static void delay(void) {
  if (all->delay <= 0) return;
  all->random = all->random * 1664525u + 1013904223u;
  (void)nanosleep(&(struct timespec){.tv_nsec = (long)(all->random >> 8) % all->delay * 1000}, NULL);
}

/* For tests: what is to be received is no number until it has come, so that nobody uses what was there before. */
static void poison(void *out, size_t bytes) {
  if (all->delay > 0 && bytes > 0) memset(out, 0xff, bytes);
}

/* Waits for an operation. After a failure of another rank it continues for `grace`, so that ranks that fail for the
 * same reason, in their shares or with the bytes of this exchange, have all failed by then. */
static sim_status wait_uncounted(sim_mpi_request *request, const char *what) {
  const double begin = sim_wall_clock();
  double end = INFINITY, next = 60;
  for (int64_t i = 0;; i++) {
    int complete = 0;
    pthread_mutex_lock(&all->lock);
    const int error = all->mpi->test(request, &complete);
    if (!complete && i % 64 == 63) sim_mpi_look();
    pthread_mutex_unlock(&all->lock);
    if (error != 0) return sim_mpi_fail(error, what);
    if (complete) return SIM_OK;
    if (i % 64 == 63) sim_comm_say_late(sim_wall_clock() - begin, &next);
    if (atomic_load(&all->failed) && all->introduced) {
      const double now = sim_wall_clock();
      end = fmin(end, now + grace);
      if (now >= end) return sim_mpi_check();
    }
    if (i < SPINS)
      (void)sched_yield();
    else
      (void)nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
  }
}

sim_status sim_mpi_wait(sim_mpi_request *request, const char *what) {
  const double begin = sim_wall_clock();
  const sim_status status = wait_uncounted(request, what);
  all->totals.waited += sim_wall_clock() - begin;
  return status;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Gathers rows of `bytes` bytes; `in` NULL: this rank's row is in `out` already. */
static sim_status gather_rows(const sim_comm *comm, const void *in, size_t bytes, void *out) {
  size_t chunk = (size_t)all->chunk / (size_t)comm->size;
  if (chunk == 0) chunk = 1;
  for (size_t at = 0; at < bytes; at += chunk) {
    sim_mpi_request request;
    pthread_mutex_lock(&all->lock);
    const int error = all->mpi->gather(in ? (const char *)in + at : NULL, (int)least(bytes - at, chunk),
                                       (char *)out + at, bytes, &request);
    pthread_mutex_unlock(&all->lock);
    if (error != 0) return sim_mpi_fail(error, "gather");
    SIM_TRY(sim_mpi_wait(&request, "gather"));
  }
  return SIM_OK;
}

/* Gathers a few bytes behind a label, and fails where the label of another rank differs. */
static sim_status gather_labelled(const sim_comm *comm, const void *in, size_t bytes, void *out) {
  const size_t head = sizeof all->label, row = head + bytes;
  char *sent = all->labelled + (size_t)comm->size * row;
  memcpy(sent, &all->label, head);
  memcpy(sent + head, in, bytes);
  SIM_TRY(gather_rows(comm, sent, row, all->labelled));
  for (int r = 0; r < comm->size; r++) {
    const char *from = all->labelled + (size_t)r * row;
    if (memcmp(from, &all->label, head) != 0)
      return sim_fail(SIM_ERR_INTERNAL, "rank %d and rank %d are at different exchanges, or exchange different sizes",
                      comm->rank, r);
    memcpy((char *)out + (size_t)r * bytes, from + head, bytes);
  }
  return SIM_OK;
}

static sim_status gather(const sim_comm *comm, const void *in, size_t bytes, void *out) {
  const size_t own = (size_t)comm->rank * bytes;
  const bool placed = in == (char *)out + own;
  all->totals.exchanges++;
  all->totals.bytes += (double)bytes * (comm->size - 1);
  all->label.number++;
  all->label.history = (all->label.history ^ bytes) * 0x9e3779b97f4a7c15u;
  delay();
  poison(out, own);
  poison((char *)out + own + bytes, ((size_t)comm->size - 1) * bytes - own);
  if (bytes == 0) return SIM_OK;
  if (all->labelled && bytes <= SIM_MPI_LABELLED) return gather_labelled(comm, in, bytes, out);
  return gather_rows(comm, placed ? NULL : in, bytes, out);
}

static size_t messages(size_t bytes) { return (bytes + (size_t)all->chunk - 1) / (size_t)all->chunk; }

/* Begins all messages of one piece in one direction. Returns their number, or -1 with an error. */
static int begin_piece(const sim_piece *piece, bool sends, sim_mpi_request *requests) {
  const size_t bytes = sends ? piece->in_bytes : piece->out_bytes;
  int count = 0;
  for (size_t at = 0; at < bytes; at += (size_t)all->chunk, count++) {
    const int here = (int)least(bytes - at, (size_t)all->chunk);
    const int error =
        sends ? all->mpi->send((const char *)piece->in + at, here, piece->rank, SIM_MPI_TAG_SWAP, &requests[count])
              : all->mpi->receive((char *)piece->out + at, here, piece->rank, SIM_MPI_TAG_SWAP, &requests[count]);
    if (error == 0) continue;
    sim_mpi_fail(error, "swap");
    return -1;
  }
  return count;
}

static sim_status swap(const sim_comm *comm, const sim_piece *pieces, size_t count) {
  size_t most = 0, begun = 0;
  sim_status status = SIM_OK;
  all->totals.exchanges++;
  all->label.number++;
  for (size_t i = 0; i < count; i++)
    if (pieces[i].rank != comm->rank) all->totals.bytes += (double)pieces[i].out_bytes;
  delay();
  if (count == 0) {
    pthread_mutex_lock(&all->lock);
    sim_mpi_look();
    pthread_mutex_unlock(&all->lock);
  }
  SIM_TRY(sim_mpi_check());
  for (size_t i = 0; i < count; i++) {
    if (pieces[i].rank != comm->rank) most += messages(pieces[i].in_bytes) + messages(pieces[i].out_bytes);
    if (pieces[i].rank != comm->rank) poison(pieces[i].out, pieces[i].out_bytes);
    if (pieces[i].rank == comm->rank && pieces[i].in_bytes > 0)
      memmove(pieces[i].out, pieces[i].in, pieces[i].in_bytes);
  }
  sim_mpi_request *requests = malloc((most + 1) * sizeof *requests);
  if (!requests) return sim_no_memory("%zu messages between ranks", most);
  for (int sends = 0; sends < 2 && status == SIM_OK; sends++)
    for (size_t i = 0; i < count && status == SIM_OK; i++) {
      if (pieces[i].rank == comm->rank) continue;
      pthread_mutex_lock(&all->lock);
      const int n = begin_piece(&pieces[i], sends == 1, &requests[begun]);
      pthread_mutex_unlock(&all->lock);
      if (n < 0) status = SIM_ERR_RANK;
      if (n > 0) begun += (size_t)n;
    }
  for (size_t i = 0; i < begun && status == SIM_OK; i++) status = sim_mpi_wait(&requests[i], "swap");
  if (status == SIM_OK) free(requests); /* else operations may still be under way; the process ends */
  return status;
}

/* Each rank sends its word to every other one. The rounds of different ranks overlap the gathers differently, so that
 * they cannot be collective operations. */
static sim_status post(const sim_comm *comm, uint64_t word) {
  delay();
  pthread_mutex_lock(&all->lock);
  all->word = all->words[comm->rank] = word;
  int error = 0;
  for (int r = 0; r < comm->size && error == 0; r++) {
    if (r == comm->rank) continue;
    error = all->mpi->receive(&all->words[r], sizeof word, r, SIM_MPI_TAG_WORD, &all->word_receives[r]);
    if (error == 0) error = all->mpi->send(&all->word, sizeof word, r, SIM_MPI_TAG_WORD, &all->word_sends[r]);
  }
  pthread_mutex_unlock(&all->lock);
  return error == 0 ? SIM_OK : sim_mpi_fail(error, "post");
}

static sim_status test(const sim_comm *comm, bool *complete, uint64_t *words) {
  int error = 0, done = 1;
  pthread_mutex_lock(&all->lock);
  sim_mpi_look();
  for (int r = 0; r < comm->size && error == 0 && done; r++) {
    if (r == comm->rank) continue;
    error = all->mpi->test(&all->word_receives[r], &done);
    if (error == 0 && done) error = all->mpi->test(&all->word_sends[r], &done);
  }
  pthread_mutex_unlock(&all->lock);
  SIM_TRY(sim_mpi_check());
  if (error != 0) return sim_mpi_fail(error, "test");
  *complete = done;
  if (done) memcpy(words, all->words, (size_t)comm->size * sizeof *words);
  return SIM_OK;
}

static sim_status check(const sim_comm *comm) {
  (void)comm;
  return sim_mpi_check();
}

const sim_transport sim_mpi_transport = {
    .name = "mpi", .gather = gather, .swap = swap, .post = post, .test = test, .abandon = abandon, .check = check};

bool sim_mpi_is(const sim_comm *comm) { return comm->ops == &sim_mpi_transport; }

bool sim_mpi_tells(const sim_comm *comm) { return sim_mpi_is(comm) && all->introduced; }

bool sim_mpi_takes_device(const sim_comm *comm) { return sim_mpi_is(comm) && all->mpi->cuda_aware(); }

const char *sim_mpi_host(const sim_comm *comm, int rank) { return sim_mpi_is(comm) ? all->members[rank].host : "here"; }

bool sim_mpi_same_host(const sim_comm *comm, int a, int b) {
  const sim_mpi_member *m = all->members;
  return !sim_mpi_is(comm) || (strcmp(m[a].host, m[b].host) == 0 && strcmp(m[a].boot, m[b].boot) == 0);
}

/* Receives failures first: two ranks, each of which believes the other one to be lost, must not both report it. */
bool sim_mpi_given_up(const sim_comm *comm) {
  if (!sim_mpi_is(comm) || comm->size == 1) return false;
  pthread_mutex_lock(&all->lock);
  sim_mpi_look();
  pthread_mutex_unlock(&all->lock);
  return atomic_load(&all->given_up);
}

int sim_mpi_hosts(const sim_comm *comm) {
  int hosts = 0;
  if (!sim_mpi_is(comm)) return 1;
  for (int r = 0; r < comm->size; r++) {
    int first = 0;
    while (!sim_mpi_same_host(comm, first, r)) first++;
    hosts += first == r;
  }
  return hosts;
}
