/* One openPMD file of a snapshot or a slice, in memory. The records of HDF5 are made once for snapshots of one layout:
 * the same species, counts, arrays and constants; only step, times, date and values are then put in anew. */
#ifndef SIM_IO_OPENPMD_H
#define SIM_IO_OPENPMD_H

#include "engine/memory/bytes.h"
#include "engine/run/slice.h"
#include "io/hdf5/image.h"
#include "io/io.h"

/* Where the values of a dataset come from: `row` of an array for the particles of a species, the least value of that
 * and the width of its range, or a whole field. */
typedef struct io_source {
  enum { IO_PARTICLES, IO_LEAST, IO_EXTENT, IO_FIELD } kind;
  size_t array;
  int row;
  size_t species;
} io_source;

typedef struct io_openpmd {
  const io_provenance *provenance;
  const sim_slice *slice; /* that the files hold; NULL: all particles and fields */
  io_image image;
  io_source *sources; /* [capacity]; of the image's pieces */
  size_t capacity;
  bool built, again;             /* the image is of the layout `key`; can be used again */
  uint64_t name, time, dt, date; /* places in the image */
  sim_bytes key;
  double *bounds;              /* [2][pieces]: least values and widths */
  void *parts[SIM_ARRAYS_MAX]; /* what a slice keeps of each field */
  size_t part_bytes[SIM_ARRAYS_MAX];
} io_openpmd;

/* `self` with provenance and slice, all else zero. Writes the frame's file, whose values stay until then. */
sim_status io_openpmd_write(io_openpmd *self, const sim_frame *frame, io_file *file) SIM_MUST_CHECK;
void io_openpmd_free(io_openpmd *self);

#endif
