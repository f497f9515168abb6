/* Large files that all hosts of a run write together. Rank 0 makes the file and tells the others where its arrays
 * stand; the first rank of every host, which has the same state, writes a range of whole MiB of it, makes it durable
 * and answers with the digests. Rank 0 writes HDF5's records, the ends of arrays and the seal: the bytes are those that
 * one rank writes. A host that cannot open the file (its disk is not shared) leaves its range to rank 0. */
#ifndef SIM_IO_HOSTS_H
#define SIM_IO_HOSTS_H

#include "engine/comm/comm.h"
#include "engine/frame.h"
#include "io/hdf5/image.h"

/* Whether the hosts write the files of this frame together: several hosts, and more than 256 MB,
 * of which every rank has the whole. Equal on all ranks. */
bool io_hosts_share(const sim_comm *comm, const sim_frame *frame);

/* One file on rank 0. All ranks exchange bytes for it once: by io_hosts_write, or in vain by io_hosts_end. */
typedef struct io_hosts {
  const sim_comm *comm; /* NULL: rank 0 writes it alone */
  const sim_frame *frame;
} io_hosts;
io_hosts io_hosts_begin(const sim_comm *comm, const sim_frame *frame);
/* io_image_write of an image whose large pieces are arrays of the frame. */
sim_status io_hosts_write(io_hosts *hosts, io_image *image, io_file *file) SIM_MUST_CHECK;
/* Returns `status`, with which the file ended. */
sim_status io_hosts_end(io_hosts *hosts, sim_status status) SIM_MUST_CHECK;

#endif
