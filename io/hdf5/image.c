#include "io/hdf5/image.h"

#include "io/hdf5/h5.h"
#include "io/seal.h"
#include "io/sys.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays go to the file as they are");

enum {
  VECTORS = 256,
  RUN = 256 << 10,
  WRITERS = 2, /* threads: one hashes while the system, which serves one writer of a file at a time, copies */
  DIRECT = 4,  /* threads for direct writes: each waits for the disk, which takes several blocks at a time */
  BEHIND = 16  /* blocks that start going to the disk together, while the blocks after them are being written */
};

uint64_t io_image_shared_from(void) {
  const char *text = getenv("SIM_IO_SHARED_FROM");
  return text ? strtoull(text, NULL, 10) : 256000000;
}

sim_status io_image_begin(bool latest, io_image *out) {
  *out = (io_image){0};
  out->file = io_vfd_create_pages(&out->pages, latest, &out->vfd);
  if (out->file >= 0 && io_h5_attr_text(out->file, "seal", IO_SEAL_ATTRIBUTE) == SIM_OK) return SIM_OK;
  int error = io_vfd_close(out->file, &out->vfd);
  io_image_free(out);
  return sim_fail(error == ENOMEM ? SIM_ERR_NO_MEMORY : SIM_ERR_IO, "HDF5 cannot begin a file in memory");
}

static sim_status add_piece(io_image *image, uint64_t at, size_t bytes) {
  if (image->count == image->capacity) {
    const size_t more = image->capacity ? 2 * image->capacity : 64;
    io_piece *pieces = realloc(image->pieces, more * sizeof *pieces);
    if (!pieces) return sim_no_memory("a file's image");
    image->pieces = pieces;
    image->capacity = more;
  }
  image->pieces[image->count++] = (io_piece){at, bytes, NULL};
  return SIM_OK;
}

sim_status io_image_dataset(io_image *image, hid_t parent, const char *name, hid_t type, int rank, const hsize_t *shape,
                            int *piece, hid_t *out) {
  hid_t dataset = -1, plist = H5Pcreate(H5P_DATASET_CREATE);
  hid_t space = rank ? H5Screate_simple(rank, shape, NULL) : H5Screate(H5S_SCALAR);
  bool good = plist >= 0 && space >= 0 && H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER) >= 0 &&
              H5Pset_obj_track_times(plist, false) >= 0 && H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY) >= 0;
  if (good) dataset = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  const hssize_t values = dataset >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
  const haddr_t at = values > 0 ? H5Dget_offset(dataset) : 0;
  good = values >= 0 && at != HADDR_UNDEF;
  io_h5_drop(plist);
  io_h5_drop(space);
  *piece = -1;
  sim_status status = good ? SIM_OK : sim_fail(SIM_ERR_IO, "HDF5 cannot write %s", name);
  if (status == SIM_OK && values > 0) {
    *piece = (int)image->count;
    status = add_piece(image, at, (size_t)values * H5Tget_size(type));
  }
  if (out && status == SIM_OK)
    *out = dataset;
  else
    io_h5_drop(dataset);
  return status;
}

sim_status io_image_end(io_image *image, sim_status status) {
  if (status == SIM_OK && H5Fget_obj_count(image->file, H5F_OBJ_ALL) != 1)
    status = sim_fail(SIM_ERR_INTERNAL, "an HDF5 object was left open");
  const int error = io_vfd_close(image->file, &image->vfd);
  if (status == SIM_OK && error)
    status = sim_fail(error == ENOMEM ? SIM_ERR_NO_MEMORY : SIM_ERR_IO, "HDF5 cannot make a file in memory");
  image->file = -1;
  if (status != SIM_OK) io_image_free(image);
  return status;
}

uint64_t io_image_find(const io_image *image, const void *bytes, size_t size) {
  unsigned char window[2 * IO_PAGE];
  const size_t pages = (size_t)((image->pages.size + IO_PAGE - 1) / IO_PAGE);
  uint64_t found = 0;
  for (size_t page = 0; page < pages && page < image->pages.count; page++) {
    if (!image->pages.page[page] && !(page + 1 < image->pages.count && image->pages.page[page + 1])) continue;
    io_pages_load(&image->pages, (uint64_t)page * IO_PAGE, sizeof window, window);
    for (size_t i = 0; i < IO_PAGE; i++) {
      if (window[i] != *(const unsigned char *)bytes || memcmp(window + i, bytes, size) != 0) continue;
      if (found) return 0;
      found = (uint64_t)page * IO_PAGE + i;
    }
  }
  return found;
}

void io_image_patch(io_image *image, uint64_t at, const void *bytes, size_t size) {
  (void)io_pages_store(&image->pages, at, size, bytes); /* cannot fail: the pages exist */
}

/* ---- writing ---- */

static int by_place(const void *a, const void *b) {
  const io_piece *x = *(const io_piece *const *)a, *y = *(const io_piece *const *)b;
  return x->at < y->at ? -1 : x->at > y->at;
}

/* Walk through the parts of a file: arrays, and HDF5's records up to the end of a page or the next array. */
typedef struct walk {
  const io_image *image;
  const io_piece **order;
  size_t next;
  uint64_t at;
} walk;

/* Gives the next part, at most `most` bytes; false at the end of the file. */
static bool advance(walk *w, size_t most, struct iovec *out) {
  static unsigned char zeros[IO_PAGE];
  const io_image *image = w->image;
  if (w->at >= image->pages.size) return false;
  const io_piece *piece = w->next < image->count ? w->order[w->next] : NULL;
  if (piece && piece->at <= w->at) {
    const size_t done = (size_t)(w->at - piece->at), left = piece->bytes - done;
    const char *data = piece->data;
    *out = (struct iovec){(void *)(uintptr_t)(data + done), left < most ? left : most};
    if (left <= most) w->next++;
  } else {
    const uint64_t page = w->at / IO_PAGE;
    uint64_t end = (page + 1) * IO_PAGE;
    if (end > image->pages.size) end = image->pages.size;
    if (piece && piece->at < end) end = piece->at;
    if (end - w->at > most) end = w->at + most;
    unsigned char *base = page < image->pages.count && image->pages.page[page] ? image->pages.page[page] : zeros;
    *out = (struct iovec){base + w->at % IO_PAGE, (size_t)(end - w->at)};
  }
  w->at += out->iov_len;
  return true;
}

/* Starts a walk at offset `at`. */
static walk walk_from(const io_image *image, const io_piece **order, uint64_t at) {
  size_t first = 0, end = image->count; /* finds the first piece that ends after `at` */
  while (first < end) {
    const size_t middle = (first + end) / 2;
    if (order[middle]->at + order[middle]->bytes > at)
      end = middle;
    else
      first = middle + 1;
  }
  return (walk){image, order, first, at};
}

/* A file that one or several threads write, block by block. */
typedef struct job {
  const io_image *image;
  const io_piece **order;
  const size_t *blocks;
  io_seal_digest *digests; /* [number of blocks of the file] */
  size_t count;
  int fd;
  int direct;         /* the same file, for whole blocks, which then pass by the page cache; -1: none */
  bool large;         /* several threads write, and writing to disk starts before they end */
  atomic_size_t next; /* index in `blocks` of the first block that no thread has taken */
  atomic_int error;
} job;

/* Writes one block, a part at a time: hashes each part and then writes it while it is in the processor's cache. */
static int write_block(job *j, size_t block, io_seal_hash *hash) {
  struct iovec vectors[VECTORS];
  const uint64_t size = j->image->pages.size;
  uint64_t end = (uint64_t)(block + 1) * IO_SEAL_BLOCK;
  if (end > size) end = size;
  walk w = walk_from(j->image, j->order, (uint64_t)block * IO_SEAL_BLOCK);
  while (w.at < end) {
    int count = 0;
    const uint64_t begin = w.at, stop = end - begin < RUN ? end : begin + RUN;
    for (; count < VECTORS && w.at < stop && advance(&w, (size_t)(stop - w.at), &vectors[count]); count++)
      io_seal_hash_add(hash, vectors[count].iov_base, vectors[count].iov_len);
    const int error = io_sys_writev(j->fd, vectors, count, (int64_t)begin);
    if (error) return error;
  }
  j->digests[block] = io_seal_hash_end(hash);
  return 0;
}

/* Copies a whole block into `buffer`, which is aligned for direct writes, and writes it. */
static int write_direct(job *j, size_t block, io_seal_hash *hash, char *buffer) {
  const uint64_t at = (uint64_t)block * IO_SEAL_BLOCK;
  struct iovec part;
  walk w = walk_from(j->image, j->order, at);
  for (size_t done = 0; advance(&w, IO_SEAL_BLOCK - done < RUN ? IO_SEAL_BLOCK - done : RUN, &part);) {
    memcpy(buffer + done, part.iov_base, part.iov_len);
    io_seal_hash_add(hash, buffer + done, part.iov_len);
    if ((done += part.iov_len) == IO_SEAL_BLOCK) break;
  }
  j->digests[block] = io_seal_hash_end(hash);
  const int error = io_sys_write(j->direct, buffer, IO_SEAL_BLOCK, (int64_t)at);
  return error == EINVAL ? io_sys_write(j->fd, buffer, IO_SEAL_BLOCK, (int64_t)at) : error; /* other alignment */
}

/* Starts to write earlier blocks to the disk while the next ones are hashed and copied: with much memory, the system
 * itself would start late. */
static void start_behind(const job *j, size_t i) {
  if (!j->large || j->direct >= 0 || i % BEHIND != 0 || i < 2 * BEHIND) return;
  const size_t first = j->blocks[i - 2 * BEHIND], last = j->blocks[i - BEHIND - 1];
  io_sys_start(j->fd, (int64_t)first * IO_SEAL_BLOCK, (int64_t)(last + 1 - first) * IO_SEAL_BLOCK);
}

static void *write_blocks(void *opaque) {
  job *j = opaque;
  io_seal_hash *hash = io_seal_hash_create();
  char *buffer = j->direct >= 0 ? aligned_alloc(IO_PAGE, IO_SEAL_BLOCK) : NULL;
  int error = hash ? 0 : ENOMEM;
  for (size_t i; error == 0 && atomic_load(&j->error) == 0 && (i = atomic_fetch_add(&j->next, 1)) < j->count;) {
    const bool whole = (uint64_t)(j->blocks[i] + 1) * IO_SEAL_BLOCK <= j->image->pages.size;
    error = buffer && whole ? write_direct(j, j->blocks[i], hash, buffer) : write_block(j, j->blocks[i], hash);
    if (error == 0) start_behind(j, i);
  }
  int none = 0;
  if (error) (void)atomic_compare_exchange_strong(&j->error, &none, error);
  io_seal_hash_free(hash);
  free(buffer);
  return NULL;
}

/* Writes with this thread, and for large files with others. */
static void write_with_threads(job *j) {
  pthread_t threads[DIRECT];
  int count = 0;
  const int more = !j->large ? 0 : (j->direct >= 0 ? DIRECT : WRITERS) - 1;
  while (count < more && pthread_create(&threads[count], NULL, write_blocks, j) == 0) count++;
  (void)write_blocks(j);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

/* Opens a large file for direct writes, and reserves its place on the disk: blocks within a reserved range can be
 * written at once. 0 or an errno: the disk is full. */
static int begin_large(job *j) {
  size_t first = j->count ? j->blocks[0] : 0, last = first;
  for (size_t i = 0; i < j->count; i++) {
    if (j->blocks[i] < first) first = j->blocks[i];
    if (j->blocks[i] > last) last = j->blocks[i];
  }
  const uint64_t from = (uint64_t)first * IO_SEAL_BLOCK, end = (uint64_t)(last + 1) * IO_SEAL_BLOCK,
                 size = j->image->pages.size;
  j->direct = io_sys_open_direct(j->fd);
  if (j->direct < 0 || j->count == 0) return 0;
  return io_sys_reserve(j->fd, (int64_t)from, (int64_t)((end < size ? end : size) - from));
}

int io_image_write_blocks(const io_image *image, int fd, const size_t *blocks, size_t count, io_seal_digest *digests) {
  job j = {.image = image, .blocks = blocks, .count = count, .digests = digests, .fd = fd, .direct = -1};
  j.large = image->pages.size >= io_image_shared_from();
  j.order = malloc((image->count + 1) * sizeof *j.order);
  if (!j.order) return ENOMEM;
  for (size_t i = 0; i < image->count; i++) j.order[i] = &image->pieces[i];
  if (image->count) qsort(j.order, image->count, sizeof *j.order, by_place);
  const int full = j.large ? begin_large(&j) : 0;
  if (full == 0) write_with_threads(&j);
  if (j.direct >= 0) (void)close(j.direct);
  free(j.order);
  return full ? full : atomic_load(&j.error);
}

/* Number of blocks of the file without the seal. */
static size_t block_count(const io_image *image) {
  return (size_t)((image->pages.size + IO_SEAL_BLOCK - 1) / IO_SEAL_BLOCK);
}

int io_image_write_seal(const io_image *image, int fd, const io_seal_digest *digests) {
  unsigned char seal[IO_SEAL_SIZE];
  const uint64_t size = image->pages.size;
  io_seal_hash *hash = io_seal_hash_create();
  if (!hash) return ENOMEM;
  io_seal_fill(hash, size + IO_SEAL_SIZE, digests, block_count(image), seal);
  io_seal_hash_free(hash);
  return io_sys_write(fd, seal, sizeof seal, (int64_t)size);
}

sim_status io_image_write(io_image *image, io_file *file) {
  const size_t count = block_count(image);
  size_t *blocks = malloc(count * sizeof *blocks);
  io_seal_digest *digests = malloc(count * sizeof *digests);
  int error = blocks && digests ? 0 : ENOMEM;
  for (size_t b = 0; error == 0 && b < count; b++) blocks[b] = b;
  if (error == 0) error = io_image_write_blocks(image, file->fd, blocks, count, digests);
  if (error == 0) error = io_image_write_seal(image, file->fd, digests);
  free(blocks);
  free(digests);
  if (error == ENOMEM) {
    io_file_discard(file);
    return sim_no_memory("a file's image");
  }
  return error ? io_file_fail(file, error) : SIM_OK;
}

void io_image_free(io_image *image) {
  io_pages_free(&image->pages);
  free(image->pieces);
  *image = (io_image){.file = -1};
}
