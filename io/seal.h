/* The digest that tells a whole file from a damaged one. It stands in the last 512 bytes of the file, behind all that
 * is HDF5's, since some readers look for HDF5's signature at the beginning only; in files of earlier versions in the
 * first 512 bytes. The root's attribute "seal" says that there is one.
 *
 *   0  "SIMSEAL\n"   8  u32 version   16  u64 length of the file   24  xxh3-128, canonical   40  zeros
 *
 * (little-endian). The digest is over the whole file, taken with its own 16 bytes zero. */
#ifndef SIM_IO_SEAL_H
#define SIM_IO_SEAL_H

#include "engine/status.h"
#include "io/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IO_SEAL_SIZE = 512 };
#define IO_SEAL_MAGIC "SIMSEAL\n"
#define IO_SEAL_ATTRIBUTE "XXH3-128 of the file, in its last 512 bytes"

/* Computes the digest of what was written and appends the block. On failure the file is discarded. */
sim_status io_seal_write(io_file *file) SIM_MUST_CHECK;
/* The same for a file that is not written yet: every byte before the block is added in order, and io_seal_end fills
 * `block` and frees. `size`: of the file, the block included. NULL: out of memory. */
typedef struct io_seal io_seal;
io_seal *io_seal_begin(uint64_t size);
void io_seal_add(io_seal *seal, const void *data, size_t size);
void io_seal_end(io_seal *seal, unsigned char block[IO_SEAL_SIZE]);
/* Reads the block alone: whether it is ours, and tells the file's length. Fails as io_seal_check does. */
sim_status io_seal_look(int fd, off_t size, const char *path) SIM_MUST_CHECK;
/* SIM_ERR_INCOMPATIBLE with the reason where the file is not exactly what was once written. */
sim_status io_seal_check(int fd, off_t size, const char *path) SIM_MUST_CHECK;
/* Whether the file has a seal's block; says nothing of the rest. */
bool io_seal_is_there(int folder, const char *name);

#endif
