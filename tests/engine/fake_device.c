#include "tests/engine/fake_device.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS, COPIES, LANES, CAPACITY = 1024, STAGED = 32 };

typedef struct operation {
  void (*work)(void *data, double amount); /* NULL: a copy */
  void *data;
  double amount;
  void *to;
  const void *from;
  size_t bytes;
  int64_t after; /* number of the steps' operation after which it may run */
} operation;

typedef struct lane {
  operation operations[CAPACITY];
  int64_t queued, done;
  pthread_t thread;
} lane;

/* The work is done under the lock, so that the planted fault reads wrong values without a data race. */
static struct {
  fake_options options;
  lane lanes[LANES];
  bool closing, failed;
  int64_t marked, most, marks[SIM_MARKS];
  struct {
    const void *staged, *source;
  } planted[STAGED];
  pthread_mutex_t lock;
  pthread_cond_t changed;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void lock(void) { pthread_mutex_lock(&fake.lock); }
static void unlock(void) { pthread_mutex_unlock(&fake.lock); }
static void wait_for_change(void) { pthread_cond_wait(&fake.changed, &fake.lock); }

static void *work_off(void *opaque) {
  lane *l = opaque;
  const bool steps = l == &fake.lanes[STEPS];
  lock();
  for (;;) {
    while (l->queued == l->done && !fake.closing) wait_for_change();
    if (l->queued == l->done) break;
    const operation *o = &l->operations[l->done % CAPACITY];
    while (fake.lanes[STEPS].done < o->after) wait_for_change();
    unlock();
    (void)usleep(steps ? fake.options.step_us : fake.options.leave_us);
    lock();
    if (steps && l->done + 1 == fake.options.fails_at) fake.failed = true;
    if (!fake.failed && o->work) o->work(o->data, o->amount);
    if (!fake.failed && !o->work) memcpy(o->to, o->from, o->bytes);
    l->done++;
    pthread_cond_broadcast(&fake.changed);
  }
  unlock();
  return NULL;
}

static void queue(int which, const operation *o) {
  lane *l = &fake.lanes[which];
  lock();
  while (l->queued - l->done == CAPACITY) wait_for_change();
  l->operations[l->queued++ % CAPACITY] = *o;
  if (which == STEPS && l->queued - l->done > fake.most) fake.most = l->queued - l->done;
  pthread_cond_broadcast(&fake.changed);
  unlock();
}

void fake_start(const fake_options *options) {
  fake.options = *options;
  fake.closing = fake.failed = false;
  fake.marked = fake.most = 0;
  memset(fake.marks, 0, sizeof fake.marks);
  memset(fake.planted, 0, sizeof fake.planted);
  for (int i = 0; i < LANES; i++) {
    fake.lanes[i].queued = fake.lanes[i].done = 0;
    if (pthread_create(&fake.lanes[i].thread, NULL, work_off, &fake.lanes[i]) != 0) abort();
  }
}

void fake_stop(void) {
  lock();
  fake.closing = true;
  pthread_cond_broadcast(&fake.changed);
  unlock();
  for (int i = 0; i < LANES; i++) pthread_join(fake.lanes[i].thread, NULL);
}

void fake_queue(void (*work)(void *data, double amount), void *data, double amount) {
  queue(STEPS, &(operation){.work = work, .data = data, .amount = amount});
}

int64_t fake_most_queued(void) { return fake.most; }

static sim_status outcome(void) {
  return fake.failed ? sim_fail(SIM_ERR_DEVICE, "fake: operation %lld failed", (long long)fake.options.fails_at)
                     : SIM_OK;
}

static sim_status wait_until(int which, int64_t done) {
  lock();
  while (fake.lanes[which].done < done) wait_for_change();
  sim_status status = outcome();
  unlock();
  return status;
}

static int64_t queued(int which) {
  lock();
  int64_t count = fake.lanes[which].queued;
  unlock();
  return count;
}

static sim_status fake_alloc(size_t bytes, void **out) {
  *out = calloc(1, bytes ? bytes : 1);
  return *out ? SIM_OK : sim_no_memory("the fake device");
}

static sim_status fake_finish(void) { return wait_until(STEPS, queued(STEPS)); }

static sim_status fake_copy(void *destination, const void *source, size_t bytes) {
  SIM_TRY(fake_finish());
  lock();
  memcpy(destination, source, bytes);
  unlock();
  return SIM_OK;
}

static sim_status fake_status(void) { return wait_until(STEPS, 0); }

static sim_status fake_stage(void *staged, const void *source, size_t bytes) {
  if (!fake.options.unstaged) {
    queue(STEPS, &(operation){.to = staged, .from = source, .bytes = bytes});
    return SIM_OK;
  }
  int i = 0;
  while (fake.planted[i].staged && fake.planted[i].staged != staged) i++;
  fake.planted[i].staged = staged;
  fake.planted[i].source = source;
  return SIM_OK;
}

static sim_status fake_copy_out(void *host, const void *staged, size_t bytes) {
  const void *from = staged;
  for (int i = 0; fake.options.unstaged && i < STAGED; i++)
    if (fake.planted[i].staged == staged) from = fake.planted[i].source;
  queue(COPIES, &(operation){.to = host, .from = from, .bytes = bytes, .after = queued(STEPS)});
  return SIM_OK;
}

static sim_status fake_wait_copies(void) { return wait_until(COPIES, queued(COPIES)); }

static sim_status fake_mark_copies(int mark) {
  const int64_t now = queued(COPIES);
  lock();
  fake.marks[mark] = now;
  unlock();
  return SIM_OK;
}

static sim_status fake_wait_mark(int mark) {
  lock();
  const int64_t done = fake.marks[mark];
  unlock();
  return wait_until(COPIES, done);
}

static sim_status fake_throttle(void) {
  const int64_t before = fake.marked;
  fake.marked = queued(STEPS);
  return wait_until(STEPS, before);
}

static const sim_queue fake_queue_table = {
    .status = fake_status,
    .finish = fake_finish,
    .stage = fake_stage,
    .copy_out = fake_copy_out,
    .wait_copies = fake_wait_copies,
    .mark_copies = fake_mark_copies,
    .wait_mark = fake_wait_mark,
    .throttle = fake_throttle,
};

const sim_backend fake_device = {
    .name = "fake",
    .kind = SIM_BACKEND_CUDA,
    .space = SIM_SPACE_DEVICE,
    .queue = &fake_queue_table,
    .alloc = fake_alloc,
    .free = free,
    .alloc_host = fake_alloc,
    .free_host = free,
    .copy = fake_copy,
};
