/* The list 0, 1, 2, ... as a dataset of 64-bit integers that HDF5's filters shuffle and deflate in chunks. Its chunks
 * differ in few bytes, so that they are put together from pieces that are compressed once. */
#ifndef SIM_IO_COUNTING_H
#define SIM_IO_COUNTING_H

#include <hdf5.h>

enum { IO_COUNTING_CHUNK = 8192 }; /* numbers in a chunk */

/* Writes the whole chunks of such a list into `set`, whose filters are shuffle and deflate, in this order. Returns how
 * many numbers are written, from the first on; the caller writes the others. */
hsize_t io_counting_write(hid_t set, hsize_t count);

#endif
