#include "io/table/journal.h"

#include "io/lock.h"
#include "io/sys.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "tables.rows"
enum {
  HEAD = 16,
  HEAD_BITS = 8 /* bits of the head that may be wrong */,
  BLOCK = 1 << 20,
  RECORD_MAX = (SIM_COLUMNS_MAX + 4) * IO_WORD
};

size_t io_journal_row(const io_journal_table *table) { return (table->columns + 2) * IO_WORD; }

static size_t record_size(const io_journal_table *table) { return io_journal_row(table) + 2 * IO_WORD; }

static void make_head(const io_journal *self, unsigned char head[HEAD]) {
  sim_bytes text = {0};
  for (size_t i = 0; i < self->count; i++) {
    sim_bytes_format(&text, "%s:", self->tables[i].model->name);
    for (size_t k = 0; k < self->tables[i].columns; k++)
      sim_bytes_format(&text, " %s", self->tables[i].model->columns[k].name);
    sim_bytes_text(&text, "\n");
  }
  const uint64_t hash = XXH3_64bits(text.data ? text.data : "", text.size);
  memcpy(head, "SIMROWS1", 8);
  memcpy(head + 8, &hash, sizeof hash);
  sim_bytes_free(&text);
}

sim_status io_journal_add(io_journal *self, size_t table, const void *row) {
  const size_t bytes = io_journal_row(&self->tables[table]), size = bytes + 2 * IO_WORD;
  if (self->waiting_bytes + size > self->capacity) {
    const size_t more = self->capacity ? 2 * self->capacity : 1 << 14;
    char *waiting = realloc(self->waiting, more);
    if (!waiting) return sim_no_memory("rows of tables that are not written");
    self->waiting = waiting;
    self->capacity = more;
  }
  char *record = self->waiting + self->waiting_bytes;
  const uint32_t number[2] = {(uint32_t)table, 0};
  memcpy(record, number, IO_WORD);
  memcpy(record + IO_WORD, row, bytes);
  const uint64_t hash = XXH3_64bits(record, IO_WORD + bytes);
  memcpy(record + IO_WORD + bytes, &hash, IO_WORD);
  self->waiting_bytes += size;
  return SIM_OK;
}

/* Returns the table of the complete record at the start of `bytes`; -1: truncated or damaged. */
static int look(const io_journal *self, const char *bytes, size_t size) {
  uint32_t number[2];
  uint64_t hash;
  if (size < sizeof number) return -1;
  memcpy(number, bytes, sizeof number);
  if (number[0] >= self->count || number[1] != 0) return -1;
  const size_t whole = record_size(&self->tables[number[0]]);
  if (size < whole) return -1;
  memcpy(&hash, bytes + whole - IO_WORD, IO_WORD);
  return hash == XXH3_64bits(bytes, whole - IO_WORD) ? (int)number[0] : -1;
}

static sim_status cannot(const io_journal *self, int error) {
  return sim_fail(SIM_ERR_IO, "%s/" NAME ": %s", self->folder->path, strerror(error));
}

/* Creates an empty journal with its head. */
static sim_status create(io_journal *self) {
  unsigned char head[HEAD];
  int fd;
  make_head(self, head);
  int error = io_sys_create(self->folder->root, NAME, &fd);
  if (error) return cannot(self, error);
  error = io_sys_write(fd, head, sizeof head, 0);
  if (error == 0) error = io_sys_sync(self->folder->root);
  if (error) {
    (void)close(fd);
    (void)unlinkat(self->folder->root, NAME, 0);
    return cannot(self, error);
  }
  self->fd = fd;
  self->size = HEAD;
  return SIM_OK;
}

sim_status io_journal_flush(io_journal *self) {
  if (self->waiting_bytes == 0) return SIM_OK;
  SIM_TRY(io_lock_check());
  if (self->fd < 0) SIM_TRY(create(self));
  int error = io_sys_write(self->fd, self->waiting, self->waiting_bytes, self->size);
  if (error == 0) error = io_sys_sync(self->fd);
  if (error) { /* the next flush writes at the same offset again */
    (void)!ftruncate(self->fd, (off_t)self->size);
    return cannot(self, error);
  }
  for (size_t at = 0; at < self->waiting_bytes;) {
    uint32_t number;
    memcpy(&number, self->waiting + at, sizeof number);
    self->tables[number].rows++;
    at += record_size(&self->tables[number]);
  }
  self->size += (int64_t)self->waiting_bytes;
  self->waiting_bytes = 0;
  return SIM_OK;
}

/* Reads records from `at` up to `end`; *at is then the end of the last complete record. */
static sim_status scan(const io_journal *self, int64_t *at, int64_t end, io_journal_row_reader *each, void *context) {
  char *block = malloc(BLOCK + RECORD_MAX);
  sim_status status = block ? SIM_OK : sim_no_memory("rows of tables");
  for (bool more = true; status == SIM_OK && more;) {
    size_t got, used = 0;
    const size_t want = end - *at < BLOCK + RECORD_MAX ? (size_t)(end - *at) : BLOCK + RECORD_MAX;
    const int error = io_sys_read(self->fd, block, want, *at, &got);
    if (error) status = cannot(self, error);
    for (int table; status == SIM_OK && (table = look(self, block + used, got - used)) >= 0;) {
      status = each(context, (size_t)table, block + used + IO_WORD);
      used += record_size(&self->tables[table]);
    }
    more = used > 0;
    *at += (int64_t)used;
  }
  free(block);
  return status;
}

sim_status io_journal_read(const io_journal *self, io_journal_row_reader *each, void *context) {
  int64_t at = HEAD;
  if (self->fd < 0) return SIM_OK;
  SIM_TRY(scan(self, &at, self->size, each, context));
  return at == self->size ? SIM_OK : sim_fail(SIM_ERR_IO, "%s/" NAME ": damaged", self->folder->path);
}

sim_status io_journal_read_waiting(const io_journal *self, io_journal_row_reader *each, void *context) {
  for (size_t at = 0; at < self->waiting_bytes;) {
    uint32_t number;
    memcpy(&number, self->waiting + at, sizeof number);
    SIM_TRY(each(context, number, self->waiting + at + IO_WORD));
    at += record_size(&self->tables[number]);
  }
  return SIM_OK;
}

/* ---- restart ---- */

typedef struct kept {
  io_journal *self;
  const int64_t *wanted;
  int64_t end;                  /* offset after the kept records that precede the first dropped one */
  bool cut, scattered, copying; /* cut: some records are dropped; scattered: kept records follow dropped ones */
  io_journal copy;              /* the kept records, if scattered */
} kept;

static sim_status keep(void *context, size_t table, const void *row) {
  kept *k = context;
  int64_t *rows = &(k->copying ? &k->copy : k->self)->tables[table].rows;
  if (*rows == k->wanted[table]) {
    k->cut = true;
    return SIM_OK;
  }
  ++*rows;
  if (k->copying) return io_journal_add(&k->copy, table, row);
  if (k->cut) k->scattered = true;
  k->end += (int64_t)record_size(&k->self->tables[table]);
  return SIM_OK;
}

/* Writes the kept rows to a new file, through memory. Needed only for a journal that was created from tables.h5 and is
 * then cut to an earlier checkpoint; otherwise the dropped rows are at the end. */
static sim_status rewrite(io_journal *self, kept *k, int64_t end) {
  unsigned char head[HEAD];
  io_file file;
  int64_t at = HEAD;
  k->copying = true;
  k->copy = *self;
  k->copy.waiting = NULL;
  k->copy.waiting_bytes = k->copy.capacity = 0;
  for (size_t i = 0; i < self->count; i++) k->copy.tables[i].rows = 0;
  make_head(self, head);
  sim_status status = scan(self, &at, end, keep, k);
  if (status == SIM_OK) status = io_file_create(self->folder->root, self->folder->path, NAME, &file);
  if (status == SIM_OK) {
    int error = io_sys_write(file.fd, head, sizeof head, 0);
    if (error == 0 && k->copy.waiting_bytes)
      error = io_sys_write(file.fd, k->copy.waiting, k->copy.waiting_bytes, HEAD);
    status = error ? io_file_fail(&file, error) : io_file_commit(&file);
  }
  const int64_t size = HEAD + (int64_t)k->copy.waiting_bytes;
  free(k->copy.waiting);
  SIM_TRY(status);
  (void)close(self->fd);
  self->fd = openat(self->folder->root, NAME, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (self->fd < 0) return cannot(self, errno);
  self->size = size;
  return SIM_OK;
}

/* Whether two heads are equal up to a few flipped bits; the head of other tables differs in about half the bits of its
 * hash. */
static bool same_head(const unsigned char *a, const unsigned char *b) {
  int differ = 0;
  for (int i = 0; i < HEAD; i++)
    for (unsigned bits = a[i] ^ b[i]; bits; bits &= bits - 1) differ++;
  return differ <= HEAD_BITS;
}

static sim_status go_on(io_journal *self, const int64_t *wanted) {
  unsigned char head[HEAD], found[HEAD];
  char path[4200];
  off_t size;
  size_t got;
  snprintf(path, sizeof path, "%s/" NAME, self->folder->path);
  struct stat about;
  const sim_status opened = io_file_open(self->folder->root, NAME, path, &self->fd, &size);
  if (opened == SIM_ERR_NO_INPUT && fstatat(self->folder->root, NAME, &about, AT_SYMLINK_NOFOLLOW) == 0)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: is no regular file", path);
  SIM_TRY(opened);
  (void)close(self->fd);
  self->fd = openat(self->folder->root, NAME, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (self->fd < 0) return cannot(self, errno);
  make_head(self, head);
  int error = io_sys_read(self->fd, found, sizeof found, 0, &got);
  if (error == 0 && (got < sizeof found || !same_head(head, found)))
    return sim_fail(SIM_ERR_INCOMPATIBLE, "%s: is of other tables, or damaged", path);
  if (error == 0 && memcmp(head, found, sizeof head) != 0) error = io_sys_write(self->fd, head, sizeof head, 0);
  if (error) return cannot(self, error);
  kept k = {.self = self, .wanted = wanted, .end = HEAD};
  int64_t end = HEAD;
  SIM_TRY(scan(self, &end, size, keep, &k));
  if (k.scattered) return rewrite(self, &k, end);
  self->size = k.end;
  return ftruncate(self->fd, (off_t)k.end) == 0 ? SIM_OK : cannot(self, errno);
}

sim_status io_journal_resume(io_journal *self, const int64_t *wanted) {
  const sim_status status = go_on(self, wanted);
  if (status != SIM_OK) io_journal_close(self, false);
  return status;
}

void io_journal_close(io_journal *self, bool remove) {
  if (self->fd >= 0) (void)close(self->fd);
  if (self->fd >= 0 && remove) (void)unlinkat(self->folder->root, NAME, 0);
  self->fd = -1;
  self->size = 0;
  for (size_t i = 0; i < self->count; i++) self->tables[i].rows = 0;
}
