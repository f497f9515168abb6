#include "engine/run/agreement.h"

#include "engine/comm/heartbeat.h"
#include "engine/thread.h"
#include "engine/wall_clock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_INTERVAL = 20 }; /* milliseconds between two looks of the thread that answers */

struct sim_agreement {
  const sim_comm *comm;
  bool quiet;           /* of the loop alone: nothing is posted or decided, so that the thread changes nothing */
  pthread_mutex_t lock; /* protects all that follows; held by this rank's loop while it waits here */
  bool posted, meeting; /* posted: a round is under way; meeting: its words are numbers of steps */
  int64_t step;         /* last step that this rank has ended */
  int64_t wait_after;   /* step after which this rank waits for the round */
  int64_t act_after;    /* step after which all ranks act; -1: none */
  uint64_t decision;
  uint64_t asked;    /* of rounds that were complete since the last look */
  sim_error failure; /* of the thread that answers */

  pthread_t thread; /* if `over` >= 0 */
  int over;         /* an eventfd */
};

static sim_status post(sim_agreement *a, uint64_t word) {
  SIM_TRY(a->comm->ops->post(a->comm, word));
  a->posted = true;
  return SIM_OK;
}

/* Ends a round of requests; if it has a decision, begins the round that finds the step. */
static sim_status close_requests(sim_agreement *a, const uint64_t *words) {
  for (int r = 0; r < a->comm->size; r++) a->asked |= words[r] & SIM_ASKED;
  const uint64_t decision = words[0] & ~(uint64_t)(SIM_ASKED | SIM_ENDED | SIM_MEETS);
  if (!decision) return SIM_OK;
  a->decision = decision;
  a->meeting = true;
  a->wait_after = a->step + 1;
  return post(a, (uint64_t)a->wait_after);
}

static void close_meeting(sim_agreement *a, const uint64_t *words) {
  a->meeting = false;
  for (int r = 0; r < a->comm->size; r++)
    if ((int64_t)words[r] > a->act_after) a->act_after = (int64_t)words[r];
}

/* ---- while this rank is in a step ---- */

static sim_status answer_now(sim_agreement *a) {
  uint64_t words[SIM_RANKS_MAX];
  bool complete;
  if (!a->posted || a->meeting) return SIM_OK;
  SIM_TRY(a->comm->ops->test(a->comm, &complete, words));
  if (!complete) return SIM_OK;
  a->posted = false;
  return close_requests(a, words);
}

/* The thread. A loop that holds the lock answers itself. */
static void *answer(void *opaque) {
  sim_agreement *a = opaque;
  struct pollfd over = {.fd = a->over, .events = POLLIN};
  bool failed = false;
  while (!failed && poll(&over, 1, ANSWER_INTERVAL) <= 0) {
    if (pthread_mutex_trylock(&a->lock) != 0) continue;
    failed = answer_now(a) != SIM_OK;
    if (failed) a->failure = *sim_error_last();
    pthread_mutex_unlock(&a->lock);
  }
  return NULL;
}

static sim_status start_answers(sim_agreement *a) {
  a->over = eventfd(0, EFD_CLOEXEC);
  if (a->over < 0) return sim_fail(SIM_ERR_NO_MEMORY, "the ranks cannot agree: %s", strerror(errno));
  const int error = sim_thread_create(&a->thread, NULL, answer, a);
  if (error == 0) return SIM_OK;
  (void)close(a->over);
  a->over = -1;
  return sim_fail(SIM_ERR_NO_MEMORY, "the thread by which ranks agree cannot start: %s", strerror(error));
}

sim_status sim_agreement_create(const sim_comm *comm, int64_t step, sim_agreement **out) {
  sim_agreement *a = *out = calloc(1, sizeof *a);
  if (!a) return sim_no_memory("the ranks");
  *a = (sim_agreement){.comm = comm, .quiet = true, .step = step, .act_after = -1, .over = -1};
  pthread_mutex_init(&a->lock, NULL);
  const sim_status status = comm->size > 1 ? start_answers(a) : SIM_OK;
  if (status != SIM_OK) sim_agreement_destroy(out);
  return status;
}

void sim_agreement_destroy(sim_agreement **agreement) {
  sim_agreement *a = *agreement;
  if (!a) return;
  if (a->over >= 0) {
    (void)!write(a->over, &(uint64_t){1}, sizeof(uint64_t));
    (void)pthread_join(a->thread, NULL);
    (void)close(a->over);
  }
  pthread_mutex_destroy(&a->lock);
  free(a);
  *agreement = NULL;
}

/* ---- called by the loop ---- */

bool sim_agreement_idle(sim_agreement *a) {
  pthread_mutex_lock(&a->lock);
  const bool idle = !a->posted && a->act_after < 0;
  pthread_mutex_unlock(&a->lock);
  return idle;
}

bool sim_agreement_quiet(const sim_agreement *a) { return a->quiet; }

sim_status sim_agreement_post(sim_agreement *a, int64_t step, uint64_t word) {
  a->quiet = false;
  pthread_mutex_lock(&a->lock);
  a->step = step;
  const sim_status status = post(a, word);
  pthread_mutex_unlock(&a->lock);
  return status;
}

static sim_status raise_failure(const sim_error *failure) {
  if (failure->status == SIM_OK) return SIM_OK;
  return sim_fail_at(failure->status, failure->file, failure->line, "%s", failure->message);
}

static void wait_for(long nanoseconds) { (void)nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL); }

/* Takes part in a round that is under way, and in one that follows from it. */
static sim_status follow(sim_agreement *a, double patience) {
  const double until = patience > 0 ? sim_wall_clock() + patience : 0;
  uint64_t words[SIM_RANKS_MAX];
  SIM_TRY(raise_failure(&a->failure));
  while (a->posted) {
    bool complete;
    SIM_TRY(a->comm->ops->test(a->comm, &complete, words));
    if (!complete) {
      const bool waits = a->meeting ? a->step >= a->wait_after : patience > 0 && sim_wall_clock() < until;
      if (!waits) break;
      wait_for(20000);
      continue;
    }
    a->posted = false;
    if (a->meeting)
      close_meeting(a, words);
    else
      SIM_TRY(close_requests(a, words));
  }
  return SIM_OK;
}

sim_status sim_agreement_look(sim_agreement *a, int64_t step, double patience, uint64_t *asked, uint64_t *decision) {
  pthread_mutex_lock(&a->lock);
  a->step = step;
  const sim_status status = follow(a, patience);
  *asked = a->asked;
  a->asked = 0;
  *decision = a->act_after == step ? a->decision : 0;
  if (a->act_after == step) a->act_after = -1;
  a->quiet = status == SIM_OK && !a->posted && a->act_after < 0;
  pthread_mutex_unlock(&a->lock);
  return status;
}

/* Takes part in rounds until all ranks have posted `bit` in one. */
static sim_status follow_until(sim_agreement *a, uint64_t bit) {
  const double begin = sim_wall_clock();
  double next = 60;
  uint64_t words[SIM_RANKS_MAX];
  SIM_TRY(raise_failure(&a->failure));
  for (bool all = false; !all;) {
    bool complete = false;
    if (!a->posted) SIM_TRY(post(a, bit));
    for (long looks = 0, wait = 20000;; looks++) { /* most often all are there */
      SIM_TRY(a->comm->ops->test(a->comm, &complete, words));
      if (complete) break;
      if (looks < 100) continue;
      sim_comm_say_late(sim_wall_clock() - begin, &next);
      wait_for(wait);
      if (wait < 1000000) wait *= 2;
    }
    a->posted = false;
    if (a->meeting) {
      close_meeting(a, words);
      continue;
    }
    all = true;
    for (int r = 0; r < a->comm->size; r++) all &= (words[r] & bit) != 0;
    SIM_TRY(close_requests(a, words));
  }
  return SIM_OK;
}

static sim_status go_on_until(sim_agreement *a, int64_t step, uint64_t bit, uint64_t *asked) {
  a->quiet = false;
  pthread_mutex_lock(&a->lock);
  a->step = step;
  const sim_status status = follow_until(a, bit);
  *asked = a->asked;
  a->asked = 0;
  pthread_mutex_unlock(&a->lock);
  return status;
}

sim_status sim_agreement_meet(sim_agreement *a, int64_t step, uint64_t *asked) {
  return go_on_until(a, step, SIM_MEETS, asked);
}

sim_status sim_agreement_end(sim_agreement *a, int64_t step) {
  uint64_t asked;
  return go_on_until(a, step, SIM_ENDED, &asked);
}
