/* The seal: a digest that shows whether a file is damaged. It is in the last 512 bytes of the file, after all of HDF5's
 * data, because some readers look for HDF5's signature at the beginning only; in files of earlier versions it is in the
 * first 512 bytes. The root's attribute "seal" says that the file has one.
 *
 *   0  "SIMSEAL\n"   8  u32 version   16  u64 length of the file   24  xxh3-128, canonical   40  zeros
 *
 * (little-endian). Version 2: the digest is the hash of a list: the digests of each MiB of the file before the block,
 * and then the block with zeros for its digest; so several processes can compute it. Version 1, which can still be
 * read: the digest is the hash of the whole file with zeros for these 16 bytes. */
#ifndef SIM_IO_SEAL_H
#define SIM_IO_SEAL_H

#include "engine/status.h"
#include "io/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IO_SEAL_SIZE = 512 };
#define IO_SEAL_MAGIC "SIMSEAL\n"
#define IO_SEAL_ATTRIBUTE "XXH3-128 of the list of XXH3-128 of each MiB, in the last 512 bytes of the file"

/* Computes the digest of the written file and appends the block with the seal. On failure the file is discarded. */
sim_status io_seal_write(io_file *file) SIM_MUST_CHECK;
/* The same for a file that is not written yet; several threads may hash its blocks before the seal. Each block has
 * IO_SEAL_BLOCK bytes, the last one fewer. A hash belongs to one thread; create returns NULL if memory is lacking. */
enum { IO_SEAL_BLOCK = 1 << 20 };
typedef struct io_seal_digest {
  unsigned char bytes[16];
} io_seal_digest;
typedef struct io_seal_hash io_seal_hash;
io_seal_hash *io_seal_hash_create(void);
void io_seal_hash_add(io_seal_hash *hash, const void *data, size_t size);
io_seal_digest io_seal_hash_end(io_seal_hash *hash); /* digest of all bytes added; later bytes begin another block */
void io_seal_hash_free(io_seal_hash *hash);
/* Fills the seal of a file of `size` bytes (with the seal) from the digests of all blocks in order. `hash` must be
 * empty. */
void io_seal_fill(io_seal_hash *hash, uint64_t size, const io_seal_digest *digests, size_t count,
                  unsigned char seal[IO_SEAL_SIZE]);
/* Reads only the block, and checks that it is a seal with the right length. Errors as in io_seal_check. */
sim_status io_seal_look(int fd, off_t size, const char *path) SIM_MUST_CHECK;
/* Reads the whole file. SIM_ERR_INCOMPATIBLE with the reason if it has changed since it was written. */
sim_status io_seal_check(int fd, off_t size, const char *path) SIM_MUST_CHECK;
/* Whether the file has a seal; the digest is not verified. */
bool io_seal_is_there(int folder, const char *name);

#endif
