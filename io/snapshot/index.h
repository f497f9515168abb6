/* VTKHDF indexes: <species>.hdf and grid.hdf, small files that point into the snapshots, so that ParaView and PyVista
 * show a run as a moving cloud of points or a changing image while no array is stored twice. A slice has one too. */
#ifndef SIM_IO_INDEX_H
#define SIM_IO_INDEX_H

#include "engine/frame.h"
#include "engine/run/slice.h"
#include "io/folder.h"

typedef struct io_index io_index;

/* Where an index is, and what it is of; all borrowed. */
typedef struct io_index_place {
  int folder, snaps; /* of the index, of the snapshots */
  io_later *later;
  const char *folder_path, *snaps_path, *below; /* below: from the one to the other, "snap/" or "" */
  const sim_slice *slice;                       /* that the snapshots hold; NULL: whole fields */
} io_index_place;
/* NULL: out of memory. */
io_index *io_index_create(const io_index_place *place, const io_provenance *provenance);
void io_index_destroy(io_index **index);
/* Remembers a snapshot that was written; the first time also those that the folder holds of earlier steps. */
sim_status io_index_add(io_index *index, const sim_frame *frame) SIM_MUST_CHECK;
/* Writes the files anew where a snapshot came to it since, or where they failed; not `last`: only once a tenth more
 * came, so that a long run does not spend its time here. They become durable later. */
sim_status io_index_write(io_index *index, bool last) SIM_MUST_CHECK;
sim_status io_index_wait(io_index *index) SIM_MUST_CHECK; /* until they are; fails where one could not be made so */

#endif
