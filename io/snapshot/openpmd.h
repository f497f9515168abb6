/* One openPMD file of a snapshot or a slice, built in memory. The records of HDF5 are made once for all snapshots of
 * one layout: the same species, counts, arrays and constants. For each further file only step, times, date and values
 * change. */
#ifndef SIM_IO_OPENPMD_H
#define SIM_IO_OPENPMD_H

#include "engine/memory/bytes.h"
#include "engine/run/slice.h"
#include "io/hdf5/image.h"
#include "io/hosts.h"
#include "io/io.h"

/* Source of a dataset's values: `row` of an array for the particles of a species, the minimum or the width of the range
 * of these values, or a whole field. */
typedef struct io_source {
  enum { IO_PARTICLES, IO_LEAST, IO_EXTENT, IO_FIELD } kind;
  size_t array;
  int row;
  size_t species;
} io_source;

typedef struct io_openpmd {
  const io_provenance *provenance;
  const sim_slice *slice; /* the slice that the files hold; NULL: all particles and fields */
  io_image image;
  io_source *sources; /* [capacity]: one for each piece of the image */
  size_t capacity;
  bool built, again;             /* built: the image has the layout `key`; again: it can be reused */
  uint64_t name, time, dt, date; /* offsets in the image */
  sim_bytes key;
  double *bounds;              /* [pieces][2]: minima and widths of ranges */
  void *parts[SIM_ARRAYS_MAX]; /* the cells of each field that a slice keeps */
  size_t part_bytes[SIM_ARRAYS_MAX];
} io_openpmd;

/* Writes the frame's file; the frame's values must stay until then. `hosts`: see io_hosts_write. `self`: provenance and
 * slice are set; all else is zero at first. */
sim_status io_openpmd_write(io_openpmd *self, const sim_frame *frame, io_hosts *hosts, io_file *file) SIM_MUST_CHECK;
void io_openpmd_free(io_openpmd *self);

#endif
