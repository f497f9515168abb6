/* VTKHDF indexes: <species>.hdf and grid.hdf, small files that point into the snapshots. With them ParaView and PyVista
 * show a run as a moving cloud of points or a changing image, and no array is stored twice. Each slice has an index
 * too. */
#ifndef SIM_IO_INDEX_H
#define SIM_IO_INDEX_H

#include "engine/frame.h"
#include "engine/run/slice.h"
#include "io/folder.h"

typedef struct io_index io_index;

/* Place of an index, and what it describes; all borrowed. */
typedef struct io_index_place {
  int folder, snaps; /* descriptors: folder of the index, folder of the snapshots */
  io_later *later;
  const char *folder_path, *snaps_path, *below; /* below: path from the index to the snapshots, "snap/" or "" */
  const sim_slice *slice;                       /* the slice that the snapshots hold; NULL: whole fields */
} io_index_place;
/* NULL: out of memory. */
io_index *io_index_create(const io_index_place *place, const io_provenance *provenance);
void io_index_destroy(io_index **index);
/* Looks for the arrays that snapshots have once in the first snapshot of the folder, before that of `frame`; *step: of
 * that snapshot, -1: it has them not. */
sim_status io_index_find_once(io_index *index, const sim_frame *frame, int64_t *step) SIM_MUST_CHECK;
/* Adds a snapshot that was written; the first time also the snapshots of earlier steps in the folder. whole: the file
 * has the arrays that snapshots have once, too; at all steps the index shows those of the last such file. */
sim_status io_index_add(io_index *index, const sim_frame *frame, bool whole) SIM_MUST_CHECK;
/* Writes the files again if a snapshot was added or a file failed. If not `last`, only once their number of snapshots
 * has grown by a tenth, so that a long run does not spend its time here. The files become durable later. */
sim_status io_index_write(io_index *index, bool last) SIM_MUST_CHECK;
sim_status io_index_wait(io_index *index) SIM_MUST_CHECK; /* waits until all files are durable */

#endif
