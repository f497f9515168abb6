#include "engine/run/agreement.h"

#include "engine/wall_clock.h"

#include <time.h>

sim_agreement sim_agreement_begin(const sim_comm *comm) { return (sim_agreement){.comm = comm, .act_after = -1}; }

bool sim_agreement_idle(const sim_agreement *a) { return !a->posted && a->act_after < 0; }

sim_status sim_agreement_post(sim_agreement *a, uint64_t word) {
  a->posted = true;
  return a->comm->ops->post(a->comm, word);
}

/* Ends a round of requests; if it has a decision, begins the round that finds the step. */
static sim_status close_requests(sim_agreement *a, int64_t step, const uint64_t *words, uint64_t *asked) {
  for (int r = 0; r < a->comm->size; r++) *asked |= words[r] & SIM_ASKED;
  const uint64_t decision = words[0] & ~(uint64_t)(SIM_ASKED | SIM_ENDED | SIM_MEETS);
  if (!decision) return SIM_OK;
  a->decision = decision;
  a->meeting = true;
  a->wait_after = step + 1;
  return sim_agreement_post(a, (uint64_t)a->wait_after);
}

static void close_meeting(sim_agreement *a, const uint64_t *words) {
  a->meeting = false;
  for (int r = 0; r < a->comm->size; r++)
    if ((int64_t)words[r] > a->act_after) a->act_after = (int64_t)words[r];
}

static void wait_for(long nanoseconds) { (void)nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL); }

sim_status sim_agreement_look(sim_agreement *a, int64_t step, double patience, uint64_t *asked, uint64_t *decision) {
  const double until = patience > 0 ? sim_wall_clock() + patience : 0;
  uint64_t words[SIM_RANKS_MAX];
  *asked = *decision = 0;
  while (a->posted) {
    bool complete;
    SIM_TRY(a->comm->ops->test(a->comm, &complete, words));
    if (!complete) {
      const bool waits = a->meeting ? step >= a->wait_after : patience > 0 && sim_wall_clock() < until;
      if (!waits) break;
      wait_for(20000);
      continue;
    }
    a->posted = false;
    if (a->meeting)
      close_meeting(a, words);
    else
      SIM_TRY(close_requests(a, step, words, asked));
  }
  if (a->act_after != step) return SIM_OK;
  a->act_after = -1;
  *decision = a->decision;
  return SIM_OK;
}

/* Takes part in rounds until all ranks have posted `bit` in one. */
static sim_status go_on_until(sim_agreement *a, int64_t step, uint64_t bit, uint64_t *asked) {
  uint64_t words[SIM_RANKS_MAX];
  for (bool all = false; !all;) {
    bool complete = false;
    if (!a->posted) SIM_TRY(sim_agreement_post(a, bit));
    for (long looks = 0, wait = 20000;; looks++) { /* most often all are there */
      SIM_TRY(a->comm->ops->test(a->comm, &complete, words));
      if (complete) break;
      if (looks < 100) continue;
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
    SIM_TRY(close_requests(a, step, words, asked));
  }
  return SIM_OK;
}

sim_status sim_agreement_meet(sim_agreement *a, int64_t step, uint64_t *asked) {
  *asked = 0;
  return go_on_until(a, step, SIM_MEETS, asked);
}

sim_status sim_agreement_end(sim_agreement *a, int64_t step) {
  uint64_t asked = 0;
  return go_on_until(a, step, SIM_ENDED, &asked);
}
