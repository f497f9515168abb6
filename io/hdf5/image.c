#include "io/hdf5/image.h"

#include "io/hdf5/h5.h"
#include "io/seal.h"
#include "io/sys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays go to the file as they are");

enum { VECTORS = 256, RUN = 256 << 10 };

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
  (void)io_pages_store(&image->pages, at, size, bytes); /* its pages exist */
}

/* ---- writing ---- */

static int by_place(const void *a, const void *b) {
  const io_piece *x = *(const io_piece *const *)a, *y = *(const io_piece *const *)b;
  return x->at < y->at ? -1 : x->at > y->at;
}

/* The next part of the file: an array, or HDF5's records up to the end of a page or the next array. */
typedef struct walk {
  const io_image *image;
  const io_piece **order;
  size_t next;
  uint64_t at;
} walk;

/* Of at most `most` bytes. */
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

/* Adds each run of bytes to the digest and then writes it, while it is in the processor's cache; the last run with the
 * seal, which it frees. */
static int write_runs(walk *w, io_seal *seal, int fd) {
  struct iovec vectors[VECTORS + 1];
  unsigned char block[IO_SEAL_SIZE];
  const uint64_t size = w->image->pages.size;
  int error = 0;
  while (error == 0 && seal) {
    int count = 0;
    const uint64_t begin = w->at;
    for (; count < VECTORS && w->at < begin + RUN && advance(w, (size_t)(begin + RUN - w->at), &vectors[count]);
         count++)
      io_seal_add(seal, vectors[count].iov_base, vectors[count].iov_len);
    if (w->at == size) {
      io_seal_end(seal, block);
      seal = NULL;
      vectors[count++] = (struct iovec){block, sizeof block};
    }
    error = io_sys_writev(fd, vectors, count, (int64_t)begin);
  }
  if (seal) io_seal_end(seal, block);
  return error;
}

sim_status io_image_write(io_image *image, io_file *file) {
  const io_piece **order = malloc((image->count ? image->count : 1) * sizeof *order);
  io_seal *seal = order ? io_seal_begin(image->pages.size + IO_SEAL_SIZE) : NULL; /* pages: without the seal */
  if (!seal) {
    free(order);
    io_file_discard(file);
    return sim_no_memory("a file's image");
  }
  for (size_t i = 0; i < image->count; i++) order[i] = &image->pieces[i];
  if (image->count) qsort(order, image->count, sizeof *order, by_place);
  walk w = {image, order, 0, 0};
  const int error = write_runs(&w, seal, file->fd);
  free(order);
  return error ? io_file_fail(file, error) : SIM_OK;
}

void io_image_free(io_image *image) {
  io_pages_free(&image->pages);
  free(image->pieces);
  *image = (io_image){.file = -1};
}
