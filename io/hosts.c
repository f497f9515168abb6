#include "io/hosts.h"

#include "engine/log.h"
#include "io/io.h"
#include "io/seal.h"
#include "io/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What rank 0 tells about a file. Of the other ranks only `first` is used. */
typedef struct head {
  uint64_t size, inode; /* size: bytes without the seal; 0: there is no file */
  uint64_t places;
  int32_t first; /* whether the rank is the first of its host */
  char path[4400];
} head;

/* Offset of bytes of one of the frame's arrays in the file. */
typedef struct place {
  uint64_t at, bytes, array, from;
} place;

typedef struct answer {
  int32_t error, opened;
} answer;

/* What every rank knows about a file. */
typedef struct shared {
  const sim_comm *comm;
  head file;
  place *places; /* [file.places] */
  int hosts;     /* number of hosts that write; their first ranks are writers[0 ..], rank 0 first */
  int writers[SIM_RANKS_MAX];
  size_t *blocks, count; /* blocks[count]: the blocks that lie within one place, ascending; the hosts divide them */
} shared;

bool io_hosts_share(const sim_comm *comm, const sim_frame *frame) {
  double bytes = 0;
  if (!comm || comm->host_size == comm->size || frame->divided) return false;
  for (size_t i = 0; i < frame->array_count; i++) bytes += (double)sim_array_bytes(&frame->arrays[i]);
  return bytes >= (double)io_image_shared_from();
}

io_hosts io_hosts_begin(const sim_comm *comm, const sim_frame *frame) {
  return (io_hosts){io_hosts_share(comm, frame) ? comm : NULL, frame};
}

/* ---- on every rank ---- */

static void release(shared *s) {
  free(s->places);
  free(s->blocks);
}

/* Sets *first, *end: this host writes blocks[*first .. *end - 1]. */
static void range_of(const shared *s, int host, size_t *first, size_t *end) {
  *first = s->count * (size_t)host / (size_t)s->hosts;
  *end = s->count * ((size_t)host + 1) / (size_t)s->hosts;
}

static size_t largest_range(const shared *s) {
  size_t most = 0, first, end;
  for (int h = 0; h < s->hosts; h++) {
    range_of(s, h, &first, &end);
    if (end - first > most) most = end - first;
  }
  return most;
}

static sim_status find_blocks(shared *s) {
  s->blocks = malloc((size_t)(s->file.size / IO_SEAL_BLOCK + 1) * sizeof *s->blocks);
  if (!s->blocks) return sim_no_memory("a shared file");
  for (size_t i = 0; i < s->file.places; i++) {
    const uint64_t end = s->places[i].at + s->places[i].bytes;
    for (uint64_t b = (s->places[i].at + IO_SEAL_BLOCK - 1) / IO_SEAL_BLOCK; (b + 1) * IO_SEAL_BLOCK <= end; b++)
      s->blocks[s->count++] = (size_t)b;
  }
  return SIM_OK;
}

/* Exchanges heads and places; `places` and the rest of `own` are used from rank 0. */
static sim_status meet(const sim_comm *comm, const head *own, const place *places, shared *s) {
  head *heads = malloc((size_t)comm->size * sizeof *heads);
  *s = (shared){.comm = comm};
  if (!heads) return sim_no_memory("a shared file");
  sim_status status = comm->ops->gather(comm, own, sizeof *own, heads);
  s->file = heads[0];
  for (int r = 0; r < comm->size && status == SIM_OK; r++)
    if (heads[r].first) s->writers[s->hosts++] = r;
  free(heads);
  if (status != SIM_OK || s->file.size == 0) return status;
  const size_t bytes = (size_t)s->file.places * sizeof *places;
  place *all = calloc((size_t)comm->size, bytes + 1);
  if (!all) return sim_no_memory("a shared file");
  if (comm->rank == 0) memcpy(all, places, bytes);
  s->places = all;
  SIM_TRY(comm->ops->gather(comm, (const char *)all + (size_t)comm->rank * bytes, bytes, all));
  return find_blocks(s);
}

/* Returns the number of this rank's host; -1: this rank is not the first of its host. */
static int own_host(const shared *s) {
  for (int h = 0; h < s->hosts; h++)
    if (s->writers[h] == s->comm->rank) return h;
  return -1;
}

/* ---- rank 0 ---- */

/* Finds the pieces of the image that are arrays of the frame, in the image's order. */
static place *find_places(const io_image *image, const sim_frame *frame, uint64_t *count) {
  place *out = calloc(image->count + 1, sizeof *out);
  *count = 0;
  for (size_t i = 0; out && i < image->count; i++) {
    const io_piece *piece = &image->pieces[i];
    for (size_t a = 0; a < frame->array_count; a++) {
      const char *data = frame->arrays[a].data, *from = piece->data;
      const size_t bytes = sim_array_bytes(&frame->arrays[a]);
      if (!data || from < data || from + piece->bytes > data + bytes) continue;
      out[(*count)++] = (place){piece->at, piece->bytes, a, (uint64_t)(from - data)};
      break;
    }
  }
  return out;
}

/* Lists the blocks that rank 0 always writes: those that lie within no place. */
static size_t other_blocks(const shared *s, size_t *out) {
  const size_t all = (size_t)((s->file.size + IO_SEAL_BLOCK - 1) / IO_SEAL_BLOCK);
  size_t count = 0;
  for (size_t b = 0, next = 0; b < all; b++) {
    if (next < s->count && s->blocks[next] == b)
      next++;
    else
      out[count++] = b;
  }
  return count;
}

static int by_offset(const void *a, const void *b) {
  const place *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

/* Gathers the answers of the hosts and the digests of their blocks: digests[ranks][largest_range]. */
static sim_status gather_answers(const shared *s, const answer *own, const io_seal_digest *mine, answer *answers,
                                 io_seal_digest *digests) {
  SIM_TRY(s->comm->ops->gather(s->comm, own, sizeof *own, answers));
  return s->comm->ops->gather(s->comm, mine, largest_range(s) * sizeof *mine, digests);
}

/* Copies the digests of another host's blocks to `all`, or writes these blocks here. 0 or an errno. */
static int take_range(const shared *s, int host, const answer *said, const io_seal_digest *theirs,
                      const io_image *image, int fd, io_seal_digest *all) {
  size_t first, end;
  range_of(s, host, &first, &end);
  if (said->opened && said->error) return said->error;
  if (!said->opened) {
    static bool told;
    if (!told)
      sim_log(SIM_LOG_INFO,
              "rank %d cannot open the output folder of rank 0 (%s), which writes its part of large files",
              s->writers[host], strerror(said->error));
    told = true;
    return io_image_write_blocks(image, fd, s->blocks + first, end - first, all);
  }
  for (size_t i = first; i < end; i++) all[s->blocks[i]] = theirs[i - first];
  return 0;
}

/* Writes rank 0's blocks, and completes the file with the digests of the others. */
static sim_status write_and_collect(const shared *s, const io_image *image, io_file *file) {
  const size_t all = (size_t)((s->file.size + IO_SEAL_BLOCK - 1) / IO_SEAL_BLOCK), most = largest_range(s);
  size_t first, end;
  size_t *own = malloc((all + 1) * sizeof *own);
  io_seal_digest *digests = calloc(all + 1, sizeof *digests),
                 *gathered = calloc((size_t)s->comm->size * most + 1, sizeof *gathered);
  answer answers[SIM_RANKS_MAX] = {{0}};
  const answer mine = {0, 1};
  if (!own || !digests || !gathered) {
    free(own), free(digests), free(gathered);
    io_file_discard(file);
    return sim_no_memory("a shared file");
  }
  size_t count = other_blocks(s, own);
  range_of(s, 0, &first, &end);
  memcpy(own + count, s->blocks + first, (end - first) * sizeof *own);
  count += end - first;
  int error = io_image_write_blocks(image, file->fd, own, count, digests);
  sim_status status = gather_answers(s, &mine, gathered, answers, gathered);
  for (int h = 1; h < s->hosts && status == SIM_OK && error == 0; h++)
    error =
        take_range(s, h, &answers[s->writers[h]], gathered + (size_t)s->writers[h] * most, image, file->fd, digests);
  if (error == 0 && status == SIM_OK) error = io_image_write_seal(image, file->fd, digests);
  free(own), free(digests), free(gathered);
  if (status != SIM_OK) {
    io_file_discard(file);
    return status;
  }
  return error ? io_file_fail(file, error) : SIM_OK;
}

sim_status io_hosts_write(io_hosts *hosts, io_image *image, io_file *file) {
  const sim_comm *comm = hosts->comm;
  if (!comm) return io_image_write(image, file);
  head own = {.size = image->pages.size, .first = 1};
  char link[64];
  struct stat info;
  shared s;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
  const ssize_t length = readlink(link, own.path, sizeof own.path - 1);
  /* the other ranks recognize the file by its length and inode */
  if (length <= 0 || ftruncate(file->fd, (off_t)own.size) != 0 || fstat(file->fd, &info) != 0)
    return io_file_fail(file, errno);
  own.inode = info.st_ino;
  place *places = find_places(image, hosts->frame, &own.places);
  if (!places) {
    io_file_discard(file);
    return sim_no_memory("a shared file");
  }
  qsort(places, (size_t)own.places, sizeof *places, by_offset);
  hosts->comm = NULL; /* so that io_hosts_end does not exchange again */
  sim_status status = meet(comm, &own, places, &s);
  if (status == SIM_OK)
    status = write_and_collect(&s, image, file);
  else
    io_file_discard(file);
  free(places);
  release(&s);
  return status;
}

sim_status io_hosts_end(io_hosts *hosts, sim_status status) {
  const sim_error cause = *sim_error_last();
  const head none = {.first = 1};
  shared s;
  if (!hosts->comm) return status;
  const sim_status met = meet(hosts->comm, &none, NULL, &s);
  hosts->comm = NULL;
  release(&s);
  if (met != SIM_OK || status == SIM_OK) return met;
  return sim_fail_at(status, cause.file, cause.line, "%s", cause.message);
}

/* ---- other ranks ---- */

/* Opens rank 0's file; ENOENT if the path leads to another file on this host. 0 or an errno. */
static int open_file(const head *file, int *fd) {
  struct stat info;
  *fd = open(file->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (*fd < 0) return errno;
  if (fstat(*fd, &info) == 0 && info.st_ino == file->inode && (uint64_t)info.st_size == file->size) return 0;
  (void)close(*fd);
  return ENOENT;
}

/* Makes an image of the file's arrays from this rank's data. */
static sim_status make_image(const shared *s, const sim_frame *frame, io_image *out) {
  *out = (io_image){.file = -1, .pages = {.size = s->file.size}, .count = (size_t)s->file.places};
  if (!(out->pieces = calloc(out->count + 1, sizeof *out->pieces))) return sim_no_memory("a shared file");
  for (size_t i = 0; i < out->count; i++) {
    const place *p = &s->places[i];
    if (p->array >= frame->array_count || p->from + p->bytes > sim_array_bytes(&frame->arrays[p->array]))
      return sim_fail(SIM_ERR_INTERNAL, "the ranks have other arrays");
    out->pieces[i] = (io_piece){p->at, p->bytes, (const char *)frame->arrays[p->array].data + p->from};
  }
  return SIM_OK;
}

/* Writes the blocks of this host, if this rank is its first. */
static sim_status write_range(const shared *s, const sim_frame *frame) {
  const int host = own_host(s);
  const size_t most = largest_range(s), all = (size_t)(s->file.size / IO_SEAL_BLOCK) + 1;
  size_t first = 0, end = 0;
  int fd = -1;
  answer own = {0, 1}, answers[SIM_RANKS_MAX];
  io_image image = {.file = -1};
  io_seal_digest *digests = calloc(all, sizeof *digests), *mine = calloc(most + 1, sizeof *mine),
                 *gathered = calloc((size_t)s->comm->size * most + 1, sizeof *gathered);
  sim_status status = digests && mine && gathered ? SIM_OK : sim_no_memory("a shared file");
  if (status == SIM_OK) status = make_image(s, frame, &image);
  if (host >= 0) range_of(s, host, &first, &end);
  if (status == SIM_OK && end > first) {
    own.error = open_file(&s->file, &fd);
    own.opened = own.error == 0;
    if (own.opened) own.error = io_image_write_blocks(&image, fd, s->blocks + first, end - first, digests);
    if (own.opened && own.error == 0) own.error = io_sys_sync(fd);
    if (own.opened) (void)close(fd);
    for (size_t i = first; i < end; i++) mine[i - first] = digests[s->blocks[i]];
  }
  if (status == SIM_OK) status = gather_answers(s, &own, mine, answers, gathered);
  free(digests), free(mine), free(gathered);
  free(image.pieces);
  return status;
}

static sim_status take_part(void *self, const sim_frame *frame) {
  const sim_comm *comm = self;
  const head own = {.first = comm->host_rank == 0};
  shared s;
  if (!io_hosts_share(comm, frame)) return SIM_OK;
  sim_status status = meet(comm, &own, NULL, &s);
  if (status == SIM_OK && s.file.size > 0) status = write_range(&s, frame);
  release(&s);
  return status;
}

static bool takes_part(const void *self, const sim_frame *frame) { return io_hosts_share(self, frame); }

void io_hosts_sink(const sim_comm *comm, sim_sink_kind kind, sim_cadence cadence, sim_sink *out) {
  *out = (sim_sink){.name = "files of rank 0",
                    .kind = kind,
                    .cadence = cadence,
                    .self = (void *)(uintptr_t)comm,
                    .write = take_part,
                    .together = takes_part};
}
