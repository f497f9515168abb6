/* The thread of each rank that watches the others: signs of life, processes that end, and the end of the world. */
#include "engine/comm/mpi_world.h"

#include "engine/thread.h"
#include "engine/wall_clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { TICKS_A_BEAT = 4 };
enum { TURN_OF_LATE = 8 }; /* seconds: sim_mpi_turn of a rank that was given up */
static sim_mpi_world *const all = &sim_mpi_joined;

int sim_mpi_turn(int rank) { return rank < 2 ? 2 * rank : 4; }

/* Ends all processes of the world, this one too. Other ranks may wait in MPI for ever, and only MPI's abort ends them;
 * the watching thread has no caller to return a status to. The sleep lets the launcher pass on what was printed last.
 * Without a network the abort of some libraries waits for the launcher for ever: SIGALRM then ends this process. */
void sim_mpi_end_world(int exit_code) {
  (void)nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
  (void)alarm(2);
  all->mpi->abort(exit_code);
}

/* Rank r checks the signs of life of rank r - 1. */
static int watched_rank(void) { return (all->rank + all->size - 1) % all->size; }

/* Notes a sign of life that has arrived and begins to receive the next; a sign of value 1 is the last. Returns MPI's
 * error. Call under the lock. */
static int next_beat(void) {
  all->beats_over = all->beat_in == 1;
  return all->beats_over ? 0
                         : all->mpi->receive(&all->beat_in, 1, watched_rank(), SIM_MPI_TAG_BEAT, &all->beat_receive);
}

/* Sends a sign of life if asked, and receives one of the watched rank. Returns whether one has arrived. */
static bool exchange_beats(bool send) {
  int done = 0, arrived = 0;
  pthread_mutex_lock(&all->lock);
  sim_mpi_look();
  if (!all->beats_over && all->mpi->test(&all->beat_receive, &arrived) == 0 && arrived) next_beat();
  if (send && all->mpi->test(&all->beat_send, &done) == 0 && done)
    (void)all->mpi->send(&all->beat_out, 1, (all->rank + 1) % all->size, SIM_MPI_TAG_BEAT, &all->beat_send);
  pthread_mutex_unlock(&all->lock);
  return arrived || all->beats_over;
}

/* Returns a rank of this host whose process has ended during the run; -1: none. Waits at most one tick. */
static int ended_process(void) {
  int n;
  do n = poll(all->processes, (nfds_t)all->size, SIM_MPI_TICK);
  while (n < 0 && errno == EINTR); /* an interrupted poll is not a tick */
  if (n <= 0) return -1;
  for (int r = 0; r < all->size; r++)
    if (all->processes[r].revents) {
      (void)close(all->processes[r].fd);
      all->processes[r].fd = SIM_MPI_ENDED;
      return r;
    }
  return -1;
}

/* The watching thread. It counts silence in rounds and not by the clock: a job that is suspended as a whole and then
 * continues counts no silence. */
static void *watch(void *nothing) {
  (void)nothing;
  const long most = lrint(1000 * all->patience / SIM_MPI_TICK);
  double since = 0;
  for (long looks = 0, silent = 0; atomic_load(&all->watching); looks++) {
    silent = exchange_beats(looks % TICKS_A_BEAT == 0) ? 0 : silent + 1;
    const int ended = ended_process();
    if (!atomic_load(&all->watching)) break;
    if (ended >= 0)
      sim_mpi_tell(ended, ended, SIM_ERR_RANK, ended > 0 ? SIM_MPI_PATIENCE : 1, "has ended without a word (killed?)");
    if (silent == most) {
      char message[96];
      snprintf(message, sizeof message, "has given no sign of life for %.0f s", all->patience);
      sim_mpi_tell(watched_rank(), -1, SIM_ERR_RANK, 1, message);
    }
    if (!atomic_load(&all->failed)) continue;
    const sim_mpi_failure f = sim_mpi_first();
    const double now = sim_wall_clock();
    if (since <= 0) since = now;
    const bool late = atomic_load(&all->given_up);
    if (now - since < f.patience + (late ? TURN_OF_LATE : sim_mpi_turn(all->rank))) continue;
    const sim_status status = sim_mpi_check();
    const bool speaks = all->rank == (f.rank == 0 ? 1 : 0) && !late;
    if (all->lost && speaks) all->lost(status, sim_error_last()->message);
    sim_mpi_end_world(sim_status_exit_code(status));
  }
  return NULL;
}

sim_status sim_mpi_watch_listen(void) {
  int error = sim_mpi_receive_failure();
  if (error == 0) error = all->mpi->receive(&all->beat_in, 1, watched_rank(), SIM_MPI_TAG_BEAT, &all->beat_receive);
  if (error == 0)
    error = all->mpi->send(&all->beat_out, 1, (all->rank + 1) % all->size, SIM_MPI_TAG_BEAT, &all->beat_send);
  return error == 0 ? SIM_OK : sim_mpi_fail(error, "start");
}

sim_status sim_mpi_watch_start(void) {
  atomic_store(&all->watching, true);
  const int error = sim_thread_create(&all->watch, NULL, watch, NULL);
  if (error == 0) return SIM_OK;
  atomic_store(&all->watching, false);
  return sim_no_memory("the thread that watches the ranks");
}

void sim_mpi_watch_stop(void) {
  if (!atomic_exchange(&all->watching, false)) return;
  (void)pthread_join(all->watch, NULL);
}

/* The watching thread may already have received the last sign of the watched rank, which may end earlier. */
sim_status sim_mpi_watch_drain(void) {
  SIM_TRY(sim_mpi_wait(&all->beat_send, "end"));
  all->beat_out = 1;
  pthread_mutex_lock(&all->lock);
  int error = all->mpi->send(&all->beat_out, 1, (all->rank + 1) % all->size, SIM_MPI_TAG_BEAT, &all->beat_send);
  pthread_mutex_unlock(&all->lock);
  while (error == 0 && !all->beats_over) {
    SIM_TRY(sim_mpi_wait(&all->beat_receive, "end"));
    pthread_mutex_lock(&all->lock);
    error = next_beat();
    pthread_mutex_unlock(&all->lock);
  }
  return error == 0 ? sim_mpi_wait(&all->beat_send, "end") : sim_mpi_fail(error, "end");
}
