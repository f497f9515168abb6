/* An HDF5 file that is built in memory and written at once. HDF5 writes its records into pages in memory, without
 * system calls; large arrays stay where they are until io_image_write sends pages and arrays to the file. An image can
 * be written many times with other values: then only the arrays change, and the records located with io_image_find. */
#ifndef SIM_IO_IMAGE_H
#define SIM_IO_IMAGE_H

#include "engine/status.h"
#include "io/file.h"
#include "io/hdf5/pages.h"
#include "io/hdf5/vfd.h"
#include "io/seal.h"

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An array of the file: its bytes [at, at + bytes) are at `data`, borrowed until the file is written. */
typedef struct io_piece {
  uint64_t at;
  size_t bytes;
  const void *data;
} io_piece;

typedef struct io_image {
  hid_t file; /* open while HDF5 builds the image */
  io_vfd *vfd;
  io_pages pages;   /* the HDF5 file without the seal; zeros in place of the arrays */
  io_piece *pieces; /* in the order in which they were created */
  size_t count, capacity;
} io_image;

/* Begins an image; `latest`: in HDF5's newest format. One thread at a time builds it. SIM_ERR_IO, SIM_ERR_NO_MEMORY. */
sim_status io_image_begin(bool latest, io_image *out) SIM_MUST_CHECK;
/* Adds a contiguous dataset of `shape`. *piece: number of the piece for its values; -1 if it has no values. `out`: see
 * io_h5_dataset. */
sim_status io_image_dataset(io_image *image, hid_t parent, const char *name, hid_t type, int rank, const hsize_t *shape,
                            int *piece, hid_t *out) SIM_MUST_CHECK;
/* Ends HDF5's part. If `status` is not SIM_OK, frees the image and returns `status`. */
sim_status io_image_end(io_image *image, sim_status status) SIM_MUST_CHECK;
/* Returns the offset of these bytes in HDF5's records if they occur exactly once; else 0. */
uint64_t io_image_find(const io_image *image, const void *bytes, size_t size);
void io_image_patch(io_image *image, uint64_t at, const void *bytes, size_t size);
/* Writes a file, with its seal (io/seal.h) as the last block. Every piece must have its data. On failure the file is
 * discarded: SIM_ERR_IO. */
sim_status io_image_write(io_image *image, io_file *file) SIM_MUST_CHECK;
/* Size in bytes from which several threads, and several hosts, write a file: 256 MB, or SIM_IO_SHARED_FROM. */
uint64_t io_image_shared_from(void);
/* Writes blocks[count] of the file (of IO_SEAL_BLOCK bytes each, ascending) and sets digests[block] for each. 0 or an
 * errno. */
int io_image_write_blocks(const io_image *image, int fd, const size_t *blocks, size_t count, io_seal_digest *digests);
/* Writes the seal from the digests of all blocks. 0 or an errno. */
int io_image_write_seal(const io_image *image, int fd, const io_seal_digest *digests);
void io_image_free(io_image *image);

#endif
