/* Whether the loop is computing, and how another thread then stops it. */
#include "engine/run/run.h"

#include <unistd.h>

enum { IDLE, COMPUTING, GIVEN_UP };

void sim_run_compute_begin(sim_run *run) { atomic_store_explicit(&run->computing, COMPUTING, memory_order_release); }

void sim_run_compute_end(sim_run *run) {
  int was = COMPUTING;
  if (atomic_compare_exchange_strong_explicit(&run->computing, &was, IDLE, memory_order_acq_rel, memory_order_acquire))
    return;
  for (;;) (void)pause(); /* the process is about to end */
}

void sim_run_wait_begin(sim_run *run) {
  atomic_fetch_add(&run->waits, 1);
  sim_run_compute_begin(run);
}

void sim_run_wait_end(sim_run *run) {
  sim_run_compute_end(run);
  atomic_fetch_add(&run->waits, 1);
}

bool sim_run_compute_give_up(sim_run *run) {
  int was = COMPUTING;
  return atomic_compare_exchange_strong_explicit(&run->computing, &was, GIVEN_UP, memory_order_acq_rel,
                                                 memory_order_acquire);
}
