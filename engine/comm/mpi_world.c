/* How a process joins the world of ranks, and leaves it. */
#include "engine/comm/mpi_world.h"

#include "engine/comm/heartbeat.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 1 << 30 }; /* bytes: MPI counts with int, and longer exchanges are cut into messages */

sim_mpi_world sim_mpi_joined = {.lock = PTHREAD_MUTEX_INITIALIZER};
static sim_mpi_world *const all = &sim_mpi_joined;

static sim_status no_world(void) { return sim_no_memory("the ranks"); }

static sim_status allocate(void) {
  const size_t n = (size_t)all->size;
  all->members = calloc(n, sizeof *all->members);
  all->words = calloc(n, sizeof *all->words);
  all->word_sends = calloc(n, sizeof *all->word_sends);
  all->word_receives = calloc(n, sizeof *all->word_receives);
  all->failure_sends = calloc(n, sizeof *all->failure_sends);
  all->processes = calloc(n, sizeof *all->processes);
  all->labelled = malloc((n + 1) * (sizeof(sim_mpi_label) + SIM_MPI_LABELLED));
  if (!all->members || !all->labelled || !all->words || !all->word_sends || !all->word_receives ||
      !all->failure_sends || !all->processes)
    return no_world();
  for (int r = 0; r < all->size; r++) all->processes[r].fd = -1;
  return SIM_OK;
}

/* Opens the processes of the other ranks of this host, so that poll reports their end. */
static void find_processes(const sim_comm *comm) {
  const sim_mpi_member *own = &all->members[all->rank];
  for (int r = 0; r < all->size; r++) {
    const sim_mpi_member *m = &all->members[r];
    if (r == all->rank || m->namespace != own->namespace || !sim_mpi_same_host(comm, r, all->rank)) continue;
    all->processes[r] = (struct pollfd){.fd = (int)syscall(SYS_pidfd_open, (pid_t)m->process, 0), .events = POLLIN};
  }
}

static void find_boot(char out[40]) {
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (file && fscanf(file, "%39s", out) != 1) *out = '\0';
  if (file) (void)fclose(file);
}

static long setting(const char *name, long most) {
  const char *text = getenv(name);
  const long value = text ? strtol(text, NULL, 10) : 0;
  return value < most ? value : most;
}

/* The wait for the other processes of the launcher, in seconds: the most, so far, and since a request to stop. */
static struct {
  int most, passed, since_request;
  bool (*stopped)(void);
} joining;

_Noreturn static void give_up(sim_status status, const char *message) {
  if (all->lost) all->lost(status, message);
  _exit(sim_status_exit_code(status));
}

/* Called once a second while the processes join. The start of a library cannot be given up otherwise. */
static void on_waiting(void *nothing) {
  char host[64] = "", message[256];
  (void)nothing;
  if (joining.stopped && joining.stopped() && joining.since_request++ >= sim_mpi_turn(all->rank))
    give_up(SIM_ERR_STOPPED, "stopped before the first step, while waiting for the other processes of the launcher: "
                             "nothing was saved; run the same command again");
  if (++joining.passed <= joining.most) return;
  (void)gethostname(host, sizeof host - 1);
  snprintf(message, sizeof message,
           "rank %d on %s: has waited %d s for the other processes of the launcher: all must make the same run",
           all->rank, host, joining.most);
  give_up(SIM_ERR_RANK, message);
}

sim_status sim_mpi_attach(const sim_mpi_plugin *plugin, sim_mpi_on_lost *lost, bool (*stopped)(void), sim_comm *comm) {
  cpu_set_t cores;
  struct stat info;
  const bool known = sched_getaffinity(0, sizeof cores, &cores) == 0;
  all->mpi = plugin;
  all->lost = lost;
  sim_pulse *waiting;
  all->rank = comm->rank;
  joining.stopped = stopped;
  joining.most = (int)fmin(ceil(4 * sim_heartbeat_limit()), 1e8) + sim_mpi_turn(all->rank);
  SIM_TRY(sim_pulse_begin(on_waiting, NULL, &waiting));
  const int error = plugin->start(&comm->rank, &comm->size, &comm->host_rank, &comm->host_size);
  sim_pulse_end(&waiting);
  if (error != 0) return sim_mpi_fail(error, "start");
  if (known) (void)sched_setaffinity(0, sizeof cores, &cores); /* some libraries bind the process to one core */
  all->rank = comm->rank;
  all->size = comm->size;
  const long chunk = setting("SIM_COMM_CHUNK", CHUNK);
  all->chunk = CHUNK;
  all->patience = fmin(fmax(sim_heartbeat_limit(), 1e-3 * SIM_MPI_TICK), 1e8);
  all->delay = setting("SIM_COMM_DELAY", 900000);
  all->random = (unsigned)comm->rank * 2654435761u + (unsigned)getpid();
  comm->ops = &sim_mpi_transport;
  comm->totals = &all->totals;
  comm->self = all;
  if (all->size == 1 || all->size > SIM_RANKS_MAX) return SIM_OK;
  SIM_TRY(allocate());
  sim_mpi_member *own = &all->members[all->rank];
  (void)gethostname(own->host, sizeof own->host - 1);
  find_boot(own->boot);
  own->process = getpid();
  own->chunk = chunk > 0 ? (int)chunk : CHUNK;
  if (stat("/proc/self/ns/pid", &info) == 0) own->namespace = info.st_ino;
  SIM_TRY(sim_mpi_watch_listen());
  SIM_TRY(comm->ops->gather(comm, own, sizeof *own, all->members));
  all->chunk = all->members[0].chunk;
  all->introduced = true;
  find_processes(comm);
  return sim_mpi_watch_start();
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
  for (int k = 0; k < 2; k++) SIM_TRY(comm->ops->swap(comm, pieces, count));
  return SIM_OK;
}

/* Ends the receive of failures with a message to each next rank: some libraries keep the memory of a receive that is
 * cancelled, and warn of it. */
static sim_status part(void) {
  sim_mpi_request sent;
  all->own = (sim_mpi_failure){.rank = all->rank, .status = SIM_OK};
  pthread_mutex_lock(&all->lock);
  const int error = all->mpi->send(&all->own, sizeof all->own, (all->rank + 1) % all->size, SIM_MPI_TAG_FAILURE, &sent);
  pthread_mutex_unlock(&all->lock);
  if (error != 0) return sim_mpi_fail(error, "end");
  SIM_TRY(sim_mpi_wait(&sent, "end"));
  while (!all->parted) { /* a failure may arrive first */
    SIM_TRY(sim_mpi_wait(&all->failure_receive, "end"));
    pthread_mutex_lock(&all->lock);
    sim_mpi_look(); /* MPI says of an operation that has been seen as complete that it is complete */
    pthread_mutex_unlock(&all->lock);
    SIM_TRY(sim_mpi_check());
  }
  return SIM_OK;
}

sim_status sim_mpi_detach(sim_comm *comm) {
  uint64_t most;
  if (all->size > 1 && all->size <= SIM_RANKS_MAX) {
    sim_mpi_watch_stop();                       /* on all ranks, before any of them ends */
    (void)alarm((unsigned)ceil(all->patience)); /* from here on only this ends a wait for another rank */
    SIM_TRY(sim_mpi_watch_drain());
    SIM_TRY(sim_comm_agree(comm, 0, &most));
    SIM_TRY(part());
    SIM_TRY(settle(comm));
  }
  (void)all->mpi->end();
  (void)alarm(0);
  *comm = sim_comm_alone;
  return SIM_OK;
}

_Noreturn void sim_mpi_abort(sim_comm *comm, int exit_code) {
  if (comm->rank > 0 && !atomic_load(&all->watching)) /* rank 0 may have been told: it reports, and ends the world */
    (void)nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
  if ((comm->rank == 0 && !atomic_load(&all->given_up)) || !atomic_load(&all->watching)) sim_mpi_end_world(exit_code);
  for (;;) (void)pause(); /* until rank 0 or the watching thread ends the world */
}
