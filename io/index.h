/* VTKHDF indexes: <species>.hdf and grid.hdf, small files that point into the snapshots, so that ParaView and PyVista
 * show a run as a moving cloud of points or a changing image while no array is stored twice. */
#ifndef SIM_IO_INDEX_H
#define SIM_IO_INDEX_H

#include "engine/frame.h"
#include "io/folder.h"

typedef struct io_index io_index;

/* NULL: out of memory. */
io_index *io_index_create(io_folder *folder, const io_provenance *provenance);
void io_index_destroy(io_index **index);
/* Remembers a snapshot that was written; the first time also those that the folder holds of earlier steps. */
sim_status io_index_add(io_index *index, const sim_frame *frame) SIM_MUST_CHECK;
/* Writes the files anew where a snapshot came to it since; not `last`: only once a tenth more came, so that a long run
 * does not spend its time here. */
sim_status io_index_write(io_index *index, bool last) SIM_MUST_CHECK;

#endif
