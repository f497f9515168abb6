#include "engine/run/startup.h"

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic(const char *) phase;
static _Atomic double part;

void sim_startup(const char *what, double done, double all) {
  atomic_store_explicit(&part, all > 0 ? done / all : NAN, memory_order_relaxed);
  atomic_store_explicit(&phase, what, memory_order_relaxed);
}

const char *sim_startup_phase(double *share) {
  *share = atomic_load_explicit(&part, memory_order_relaxed);
  return atomic_load_explicit(&phase, memory_order_relaxed);
}
