#include "engine/device/calls.h"

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { KERNELS = 512, PROBES = 16, EXCUSES = 16 };
static const uint64_t given_up = UINT64_C(1) << 63;
static const double first_limit = 600; /* seconds; long, because a driver may compile a kernel at its first launch */
static const double growth = 10;
static const double slowest =
    250e6; /* bytes per second: lowest rate at which host memory is moved, cleared or pinned */

/* Note of one thread. `state` grows by one at the beginning and at the end of a call: odd within a call. */
typedef struct note {
  _Atomic(uint64_t) state;
  _Atomic(const char *) name, kernel;
  atomic_bool waits;
  _Atomic(double) more; /* seconds beyond the limit, for the bytes that the call moves */
} note;

/* What is known about calls after one kernel. The key is the address of the kernel's name. */
typedef struct known {
  _Atomic(const char *) kernel; /* NULL: free entry. Set once a call after this kernel has returned */
  atomic_bool waited;           /* a call that waits has returned, too */
  double longest;               /* seconds of the longest call; used by the observer only */
} known;

static struct {
  note notes[SIM_CALL_THREADS];
  atomic_int threads;
  known known[KERNELS];
  _Atomic(const char *) device;
  _Atomic(const volatile int *) excuses[EXCUSES];
} calls;

static _Thread_local int own = -1, depth; /* own: index of this thread's note, -1: none */
static _Thread_local double more;

/* ---- notes ---- */

void sim_calls_move(size_t bytes) { more = (double)bytes / slowest; }

void sim_call_begin(sim_call_kind kind, const char *name, const char *kernel) {
  if (depth++ > 0) return;
  if (own < 0) own = atomic_fetch_add(&calls.threads, 1);
  if (own >= SIM_CALL_THREADS) return;
  note *n = &calls.notes[own];
  atomic_store_explicit(&n->name, name, memory_order_relaxed);
  atomic_store_explicit(&n->kernel, kernel, memory_order_relaxed);
  atomic_store_explicit(&n->waits, kind == SIM_CALL_WAITS, memory_order_relaxed);
  atomic_store_explicit(&n->more, more, memory_order_relaxed);
  atomic_fetch_add_explicit(&n->state, 1, memory_order_release);
}

/* Finds the entry of a kernel; `make`: adds one if there is none. NULL: no entry, or no free one near its hash. */
static known *find(const char *kernel, bool make) {
  const size_t place = ((size_t)kernel >> 3) * (size_t)0x9E3779B97F4A7C15u >> 32;
  for (size_t i = 0; i < PROBES; i++) {
    known *k = &calls.known[(place + i) % KERNELS];
    const char *here = atomic_load_explicit(&k->kernel, memory_order_relaxed);
    if (here == NULL && make && atomic_compare_exchange_strong(&k->kernel, &here, kernel)) return k;
    if (here == kernel) return k;
    if (here == NULL && !make) return NULL;
  }
  return NULL;
}

void sim_call_end(void) {
  if (--depth > 0 || own >= SIM_CALL_THREADS) return;
  note *n = &calls.notes[own];
  known *k = find(atomic_load_explicit(&n->kernel, memory_order_relaxed), true);
  if (k && atomic_load_explicit(&n->waits, memory_order_relaxed))
    atomic_store_explicit(&k->waited, true, memory_order_relaxed);
  const uint64_t state = atomic_fetch_add_explicit(&n->state, 1, memory_order_acq_rel);
  while (state & given_up) (void)pause(); /* the process is about to end */
}

void sim_calls_of(const char *device) { atomic_store(&calls.device, device); }

void sim_calls_excused_by(const volatile int *word) {
  for (int i = 0; i < EXCUSES; i++) {
    const volatile int *none = NULL;
    if (atomic_compare_exchange_strong(&calls.excuses[i], &none, word)) return;
  }
}

static bool excused(void) {
  for (int i = 0; i < EXCUSES; i++) {
    const volatile int *word = atomic_load(&calls.excuses[i]);
    if (word != NULL && *word != 0) return true;
  }
  return false;
}

/* ---- the observer ---- */

void sim_call_watch_begin(sim_call_watch *w, double shortest, double step) {
  const char *text = getenv("SIM_DEVICE_TIMEOUT");
  char *end = NULL;
  const double given = text ? strtod(text, &end) : NAN;
  *w = (sim_call_watch){.shortest = shortest, .step = step > 0 && isfinite(step) ? step : 0};
  w->misread = text && (end == text || *end != '\0' || !(given >= 0));
  w->fixed = text && !w->misread ? (given > 0 ? given : INFINITY) : NAN;
}

static double limit(const sim_call_watch *w, const note *n, const known *k) {
  if (!isnan(w->fixed)) return w->fixed;
  const bool waits = atomic_load_explicit(&n->waits, memory_order_relaxed);
  const bool first = k == NULL || (waits && !atomic_load_explicit(&k->waited, memory_order_relaxed));
  const double least = fmax(w->shortest, growth * w->step),
               usual = k == NULL ? least : fmax(least, growth * k->longest);
  return (first ? fmax(first_limit, usual) : usual) + atomic_load_explicit(&n->more, memory_order_relaxed);
}

static void describe(const note *n, double seconds, char *out, size_t capacity) {
  const char *device = atomic_load(&calls.device), *kernel = atomic_load(&n->kernel);
  snprintf(out, capacity, "%s has not finished its work for %.0f s (%s%s%s; SIM_DEVICE_TIMEOUT sets the limit)",
           device ? device : "the device", seconds, atomic_load(&n->name), kernel && *kernel ? ", last kernel " : "",
           kernel ? kernel : "");
}

bool sim_call_watch_look(sim_call_watch *w, double passed, sim_call_found *found) {
  const bool free = excused();
  for (int i = 0; i < SIM_CALL_THREADS; i++) {
    const note *n = &calls.notes[i];
    const uint64_t state = atomic_load_explicit(&n->state, memory_order_acquire);
    const char *kernel = atomic_load_explicit(&n->kernel, memory_order_relaxed);
    const bool goes_on = state % 2 == 1 && state == w->states[i];
    if (free || !goes_on) {
      known *before =
          w->held[i] > 0 && !free ? find(w->kernels[i], true) : NULL; /* the call seen before has returned */
      if (before) before->longest = fmax(before->longest, w->held[i] + passed);
      w->held[i] = 0;
      w->states[i] = state;
      w->kernels[i] = kernel;
      continue;
    }
    w->held[i] += passed;
    if (w->held[i] <= limit(w, n, find(kernel, false))) continue;
    *found = (sim_call_found){.thread = i, .state = state};
    describe(n, w->held[i], found->text, sizeof found->text);
    return true;
  }
  return false;
}

bool sim_call_give_up(const sim_call_found *found) {
  uint64_t state = found->state;
  return atomic_compare_exchange_strong(&calls.notes[found->thread].state, &state, state | given_up);
}
