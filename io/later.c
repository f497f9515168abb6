#include "io/later.h"

#include "engine/log.h"
#include "engine/profile.h"
#include "io/sys.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { FILES_MAX = 512, GROUP_MAX = 64 };

typedef struct entry {
  io_file file;
  const char *what;
  io_later_result *result;
} entry;

struct io_later {
  pthread_mutex_t lock;
  pthread_cond_t work, idle;
  pthread_t thread;
  bool running, closing;
  entry **entries; /* a ring of `capacity` */
  size_t first, count, capacity;
};

/* Each file that waits is open: a quarter of what the process may have. */
static size_t most_files(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 16;
  const size_t quarter = (size_t)limit.rlim_cur / 4;
  return quarter < 1 ? 1 : quarter > FILES_MAX ? FILES_MAX : quarter;
}

static void fail(const entry *e, const char *why) {
  snprintf(e->result->why, sizeof e->result->why, "%.511s", why);
  e->result->failed = true;
  sim_log(SIM_LOG_WARN, "%s not written: %s; the run goes on and tries again", e->what, e->result->why);
}

/* All files of a group, then their folders, each once. */
static void commit(entry *const *group, size_t count) {
  int folders[GROUP_MAX];
  const entry *last[GROUP_MAX];
  size_t folder_count = 0;
  sim_profile_range_begin("make durable");
  for (size_t i = 0; i < count; i++) io_sys_start(group[i]->file.fd);
  for (size_t i = 0; i < count; i++) {
    entry *e = group[i];
    size_t k = 0;
    if (io_file_place(&e->file) != SIM_OK) {
      fail(e, sim_error_last()->message);
      continue;
    }
    e->result->failed = false;
    while (k < folder_count && folders[k] != e->file.folder) k++;
    if (k == folder_count) folders[folder_count++] = e->file.folder;
    last[k] = e;
  }
  for (size_t k = 0; k < folder_count; k++)
    if (io_file_settle(&last[k]->file) != SIM_OK) fail(last[k], sim_error_last()->message);
  sim_profile_range_end();
}

static void *work(void *opaque) {
  io_later *self = opaque;
  entry *group[GROUP_MAX];
  pthread_mutex_lock(&self->lock);
  for (;;) {
    while (self->count == 0 && !self->closing) pthread_cond_wait(&self->work, &self->lock);
    if (self->count == 0) break;
    const size_t count = self->count < GROUP_MAX ? self->count : GROUP_MAX;
    for (size_t i = 0; i < count; i++) group[i] = self->entries[(self->first + i) % self->capacity];
    pthread_mutex_unlock(&self->lock);
    commit(group, count);
    for (size_t i = 0; i < count; i++) free(group[i]);
    pthread_mutex_lock(&self->lock);
    self->first = (self->first + count) % self->capacity;
    self->count -= count;
    pthread_cond_broadcast(&self->idle);
  }
  pthread_mutex_unlock(&self->lock);
  return NULL;
}

io_later *io_later_create(void) {
  io_later *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->capacity = most_files();
  self->entries = calloc(self->capacity, sizeof(entry *));
  if (!self->entries) {
    free(self);
    return NULL;
  }
  pthread_mutex_init(&self->lock, NULL);
  pthread_cond_init(&self->work, NULL);
  pthread_cond_init(&self->idle, NULL);
  return self;
}

/* Signals are for the thread of the loop. */
static void start(io_later *self) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  self->running = pthread_create(&self->thread, NULL, work, self) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void io_later_add(io_later *self, const io_file *file, const char *what, io_later_result *result) {
  entry *e = malloc(sizeof *e);
  if (!self->running && e) start(self);
  if (!self->running || !e) { /* no memory, no thread: at once */
    entry here = {*file, what, result};
    commit((entry *[]){&here}, 1);
    free(e);
    return;
  }
  *e = (entry){*file, what, result};
  pthread_mutex_lock(&self->lock);
  while (self->count == self->capacity) pthread_cond_wait(&self->idle, &self->lock);
  self->entries[(self->first + self->count++) % self->capacity] = e;
  pthread_cond_signal(&self->work);
  pthread_mutex_unlock(&self->lock);
}

void io_later_wait(io_later *self) {
  pthread_mutex_lock(&self->lock);
  while (self->count > 0) pthread_cond_wait(&self->idle, &self->lock);
  pthread_mutex_unlock(&self->lock);
}

void io_later_destroy(io_later **later) {
  io_later *self = *later;
  if (!self) return;
  if (self->running) {
    pthread_mutex_lock(&self->lock);
    self->closing = true;
    pthread_cond_signal(&self->work);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
  }
  pthread_cond_destroy(&self->idle);
  pthread_cond_destroy(&self->work);
  pthread_mutex_destroy(&self->lock);
  free(self->entries);
  free(self);
  *later = NULL;
}
