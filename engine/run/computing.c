/* Whether the loop is computing, and how another thread then stops it. */
#include "engine/run/run.h"

#include <unistd.h>

enum { IDLE, COMPUTING, GIVEN_UP };

void sim_run_compute_begin(sim_run *run) {
  if (run->computing_depth++ == 0) atomic_store_explicit(&run->computing, COMPUTING, memory_order_release);
}

void sim_run_compute_end(sim_run *run) {
  int was = COMPUTING;
  if (--run->computing_depth > 0) return;
  if (atomic_compare_exchange_strong_explicit(&run->computing, &was, IDLE, memory_order_acq_rel, memory_order_acquire))
    return;
  for (;;) (void)pause(); /* the process is about to end */
}

bool sim_run_compute_give_up(sim_run *run) {
  int was = COMPUTING;
  return atomic_compare_exchange_strong_explicit(&run->computing, &was, GIVEN_UP, memory_order_acq_rel,
                                                 memory_order_acquire);
}
