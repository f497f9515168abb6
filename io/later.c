#include "io/later.h"

#include "engine/log.h"
#include "engine/run/profile.h"
#include "engine/thread.h"
#include "io/sys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { FILES_MAX = 512, GROUP_MAX = 64 };

typedef struct entry {
  io_file file;
  const char *what;
  io_later_result *result;
  int64_t bytes;
  int keep;              /* for checkpoints: how many of those that wait together are kept; 0: not a checkpoint */
  io_later_ended *ended; /* for checkpoints */
  void *context;
  bool placed, dropped; /* placed: renamed; dropped: no longer needed */
} entry;

struct io_later {
  pthread_mutex_t lock;
  pthread_cond_t work, idle;
  pthread_t thread;
  bool running, closing;
  entry **entries; /* ring of `capacity` entries */
  size_t first, count, capacity;
};

/* Most waiting files, each of which is open: a quarter of the process's limit. */
static size_t most_files(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 16;
  const size_t quarter = (size_t)limit.rlim_cur / 4;
  return quarter < 1 ? 1 : quarter > FILES_MAX ? FILES_MAX : quarter;
}

static void fail(entry *e, const char *why, bool last, bool say) {
  e->placed = false;
  e->result->failures++;
  if (e->what && say) sim_log(SIM_LOG_WARN, "%s not written: %s; the run continues and tries again", e->what, why);
  if (!last) return;
  snprintf(e->result->why, sizeof e->result->why, "%.511s", why);
  e->result->failed = true;
}

static void place(entry *e, bool last) {
  e->placed = io_file_place(&e->file) == SIM_OK;
  if (!e->placed)
    fail(e, sim_error_last()->message, last, true);
  else if (last)
    e->result->failed = false;
}

/* Syncs the folders of the renamed files once each: of checkpoints if `checkpoints`, else of the other files. A failure
 * is reported once to each owner of files in the folder. */
static void settle(entry *const *group, size_t count, bool checkpoints) {
  for (size_t i = 0; i < count; i++) {
    bool done = !group[i]->placed || (group[i]->keep > 0) != checkpoints;
    for (size_t k = 0; k < i && !done; k++)
      done = group[k]->placed && (group[k]->keep > 0) == checkpoints && group[k]->file.folder == group[i]->file.folder;
    if (done || io_file_settle(&group[i]->file) == SIM_OK) continue;
    const io_later_result *told[GROUP_MAX];
    size_t owners = 0;
    for (size_t k = count; k-- > i;) {
      if (!group[k]->placed || (group[k]->keep > 0) != checkpoints || group[k]->file.folder != group[i]->file.folder)
        continue;
      size_t known = 0;
      while (known < owners && told[known] != group[k]->result) known++;
      fail(group[k], sim_error_last()->message, true, known == owners);
      if (known == owners) told[owners++] = group[k]->result;
    }
  }
}

/* Number of renamed files of the same owner after entry `at`. */
static int placed_behind(entry *const *group, size_t count, size_t at) {
  int placed = 0;
  for (size_t i = at + 1; i < count; i++) placed += group[i]->placed && group[i]->result == group[at]->result;
  return placed;
}

static bool is_last(entry *const *group, size_t count, size_t at) {
  for (size_t i = at + 1; i < count; i++)
    if (group[i]->result == group[at]->result) return false;
  return true;
}

/* Places the newest checkpoints first: one that would be removed again at once is not made durable, unless a newer one
 * fails. */
static void commit_checkpoints(entry *const *group, size_t count) {
  for (size_t i = count; i-- > 0;) {
    if (group[i]->keep == 0) continue;
    group[i]->dropped = placed_behind(group, count, i) >= group[i]->keep;
    if (group[i]->dropped)
      io_file_discard(&group[i]->file);
    else
      place(group[i], is_last(group, count, i));
  }
  settle(group, count, true);
  for (size_t i = 0; i < count; i++) {
    const entry *e = group[i];
    if (e->keep == 0) continue;
    const bool newest = e->placed && placed_behind(group, count, i) == 0;
    e->ended(e->context, newest       ? IO_LATER_NEWEST
                         : e->placed  ? IO_LATER_DURABLE
                         : e->dropped ? IO_LATER_DROPPED
                                      : IO_LATER_FAILED);
  }
}

/* Makes the files of a group durable, then their folders, once each; then the checkpoints, which depend on all files
 * before them. */
static void commit(entry *const *group, size_t count) {
  sim_profile_range_begin("make durable");
  for (size_t i = 0; i < count; i++) io_sys_start(group[i]->file.fd, 0, 0);
  for (size_t i = 0; i < count; i++)
    if (group[i]->keep == 0) place(group[i], true);
  settle(group, count, false);
  commit_checkpoints(group, count);
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
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < count; i++) {
      group[i]->result->pending--;
      group[i]->result->bytes -= group[i]->bytes;
      free(group[i]);
    }
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

/* Makes a file durable at once, if memory or a thread is lacking. */
static void commit_now(io_later *self, entry *e) {
  if (self->running) io_later_wait(self);
  commit(&e, 1);
}

static void add(io_later *self, const entry *file) {
  struct stat info;
  entry *e = malloc(sizeof *e);
  if (!self->running && e) self->running = sim_thread_create(&self->thread, NULL, work, self) == 0;
  if (!self->running || !e) {
    entry here = *file;
    commit_now(self, &here);
    free(e);
    return;
  }
  *e = *file;
  e->bytes = fstat(e->file.fd, &info) == 0 ? (int64_t)info.st_size : 0;
  pthread_mutex_lock(&self->lock);
  while (self->count == self->capacity) pthread_cond_wait(&self->idle, &self->lock);
  e->result->pending++;
  e->result->bytes += e->bytes;
  self->entries[(self->first + self->count++) % self->capacity] = e;
  pthread_cond_signal(&self->work);
  pthread_mutex_unlock(&self->lock);
}

void io_later_add(io_later *self, const io_file *file, const char *what, io_later_result *result) {
  add(self, &(entry){.file = *file, .what = what, .result = result});
}

void io_later_add_checkpoint(io_later *self, const io_file *file, const char *what, io_later_result *result, int keep,
                             io_later_ended *ended, void *context) {
  add(self, &(entry){.file = *file, .what = what, .result = result, .keep = keep, .ended = ended, .context = context});
}

void io_later_wait(io_later *self) {
  pthread_mutex_lock(&self->lock);
  while (self->count > 0) pthread_cond_wait(&self->idle, &self->lock);
  pthread_mutex_unlock(&self->lock);
}

void io_later_wait_for(io_later *self, const io_later_result *result) {
  pthread_mutex_lock(&self->lock);
  while (result->pending > 0) pthread_cond_wait(&self->idle, &self->lock);
  pthread_mutex_unlock(&self->lock);
}

void io_later_wait_below(io_later *self, const io_later_result *result, int64_t bytes, int64_t most) {
  pthread_mutex_lock(&self->lock);
  while (result->pending > 0 && result->bytes + bytes > most) pthread_cond_wait(&self->idle, &self->lock);
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
