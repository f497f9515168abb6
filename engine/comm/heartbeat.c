#include "engine/comm/heartbeat.h"

#include "engine/log.h"
#include "engine/thread.h"
#include "engine/wall_clock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const double usual_limit = 30; /* seconds */
static const double start_limit = 120;
static const double longest_gap = 5; /* seconds; an observer looks every second */

/* ---- giving signs of life ---- */

struct sim_pulse {
  void (*beat)(void *context);
  void *context;
  pthread_t thread;
  int over; /* an eventfd: readable at the end */
};

/* Waits with poll, which follows the kernel's monotonic clock: setting the time of day delays no sign of life. */
static void *pulse(void *opaque) {
  sim_pulse *p = opaque;
  struct pollfd over = {.fd = p->over, .events = POLLIN};
  do p->beat(p->context);
  while (poll(&over, 1, 1000) <= 0);
  return NULL;
}

sim_status sim_pulse_begin(void (*beat)(void *context), void *context, sim_pulse **out) {
  sim_pulse *p = *out = calloc(1, sizeof *p);
  if (!p) return sim_no_memory("a rank");
  *p = (sim_pulse){.beat = beat, .context = context, .over = eventfd(0, EFD_CLOEXEC)};
  const int error = p->over < 0 ? errno : sim_thread_create(&p->thread, NULL, pulse, p);
  if (!error) return SIM_OK;
  if (p->over >= 0) (void)close(p->over);
  free(p);
  *out = NULL;
  return sim_fail(SIM_ERR_NO_MEMORY, "the thread of a rank's signs of life cannot start: %s", strerror(error));
}

void sim_pulse_end(sim_pulse **pulse_of) {
  sim_pulse *p = *pulse_of;
  if (!p) return;
  (void)!write(p->over, &(uint64_t){1}, sizeof(uint64_t));
  pthread_join(p->thread, NULL);
  (void)close(p->over);
  free(p);
  *pulse_of = NULL;
}

/* ---- observing them ---- */

void sim_heartbeat_begin(sim_heartbeat *h, int size, double now) {
  *h = (sim_heartbeat){.size = size, .looked = now};
  for (int r = 0; r < size; r++) h->changed[r] = now;
}

void sim_heartbeat_look(sim_heartbeat *h, const uint64_t *words, double now) {
  const bool suspended = now - h->looked > longest_gap;
  h->looked = now;
  for (int r = 0; r < h->size; r++) {
    if (suspended || words[r] != h->words[r]) h->changed[r] = now;
    h->words[r] = words[r];
  }
}

double sim_heartbeat_silence(const sim_heartbeat *h, int rank) {
  const double silence = h->looked - h->changed[rank];
  return h->words[rank] == 0 && silence < start_limit ? 0 : silence;
}

double sim_heartbeat_limit(void) {
  const char *text = getenv("SIM_COMM_PATIENCE");
  const double limit = text ? strtod(text, NULL) : 0;
  return limit > 0 ? limit : usual_limit;
}

void sim_comm_say_late(double waited, double *next) {
  if (waited < *next) return;
  sim_log(SIM_LOG_INFO, "has waited %.0f s for other ranks, which still compute", waited);
  *next *= 2;
}
