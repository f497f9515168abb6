/* Failures of ranks: which one counts, and how it is told to the others. */
#include "engine/comm/mpi_world.h"

#include "engine/wall_clock.h"

#include <stdio.h>
#include <time.h>

static sim_mpi_world *const all = &sim_mpi_joined;

/* Whether a failure replaces the noted one: if several ranks report the same status of themselves, the lowest rank
 * counts, whichever was first. */
static bool counts(const sim_mpi_failure *f) {
  return !atomic_load(&all->failed) ||
         (f->status == all->first.status && f->status != SIM_ERR_RANK && f->rank < all->first.rank);
}

/* Call under the lock. */
static void note_failure(const sim_mpi_failure *f) {
  if (!counts(f)) return;
  all->first = *f;
  all->first.message[sizeof all->first.message - 1] = '\0';
  atomic_store(&all->failed, 1);
}

int sim_mpi_receive_failure(void) {
  return all->mpi->receive(&all->arriving, sizeof all->arriving, -1, SIM_MPI_TAG_FAILURE, &all->failure_receive);
}

void sim_mpi_look(void) {
  for (int arrived = 0; !all->parted && all->mpi->test(&all->failure_receive, &arrived) == 0 && arrived; arrived = 0) {
    all->parted = all->arriving.status == SIM_OK;
    if (all->parted) return;
    if (all->arriving.rank == all->rank) atomic_store(&all->given_up, true);
    note_failure(&all->arriving);
    if (sim_mpi_receive_failure() != 0) return;
  }
}

sim_mpi_failure sim_mpi_first(void) {
  pthread_mutex_lock(&all->lock);
  const sim_mpi_failure f = all->first;
  pthread_mutex_unlock(&all->lock);
  return f;
}

sim_status sim_mpi_check(void) {
  if (!atomic_load(&all->failed)) return SIM_OK;
  const sim_mpi_failure f = sim_mpi_first();
  if (f.rank != all->rank) atomic_store(&all->follows, true);
  if (f.rank == all->rank && !atomic_load(&all->given_up)) return sim_fail((sim_status)f.status, "%s", f.message);
  return sim_fail((sim_status)f.status, "rank %d on %s: %s", f.rank, all->members[f.rank].host, f.message);
}

/* Whether the process of another rank of this host has ended: no message leaves for it. Any thread. */
static bool has_ended(int rank) {
  struct pollfd process = {.fd = all->processes[rank].fd, .events = POLLIN};
  return process.fd == SIM_MPI_ENDED || (process.fd >= 0 && poll(&process, 1, 0) > 0);
}

void sim_mpi_tell(int rank, int dead, sim_status status, int patience, const char *message) {
  pthread_mutex_lock(&all->lock);
  sim_mpi_look();
  const sim_mpi_failure own = {.rank = rank, .status = (int32_t)status, .patience = patience};
  const bool told = counts(&own);
  if (told) {
    all->own = own;
    snprintf(all->own.message, sizeof all->own.message, "%s", message);
    for (int r = 0; r < all->size; r++)
      if (r != all->rank && r != dead)
        (void)all->mpi->send(&all->own, sizeof all->own, r, SIM_MPI_TAG_FAILURE, &all->failure_sends[r]);
    note_failure(&all->own);
  }
  pthread_mutex_unlock(&all->lock);
  const double until = sim_wall_clock() + 1;
  for (int r = 0; told && r < all->size && sim_wall_clock() < until;) {
    int gone = 1;
    pthread_mutex_lock(&all->lock);
    if (r != all->rank && r != rank) (void)all->mpi->test(&all->failure_sends[r], &gone);
    pthread_mutex_unlock(&all->lock);
    if (gone || has_ended(r))
      r++;
    else
      (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
  }
}
