/* Large files that all hosts of a run write together. Rank 0 makes the file and tells the others the offsets of its
 * arrays. The first rank of every host, which has the same state, writes a range of whole MiB, makes it durable and
 * sends back the digests. Rank 0 writes HDF5's records, the ends of arrays and the seal: the file has the same bytes
 * as if one rank had written it. If a host cannot open the file (its disk is not shared), rank 0 writes that host's
 * range. */
#ifndef SIM_IO_HOSTS_H
#define SIM_IO_HOSTS_H

#include "engine/comm/comm.h"
#include "engine/frame.h"
#include "io/hdf5/image.h"

/* Whether the hosts write the files of this frame together: there are several, and every rank holds the whole state of
 * more than 256 MB. The same on all ranks. */
bool io_hosts_share(const sim_comm *comm, const sim_frame *frame);

/* One file on rank 0. All ranks exchange bytes for it once: in io_hosts_write, or in io_hosts_end if there is no
 * file. */
typedef struct io_hosts {
  const sim_comm *comm; /* NULL: rank 0 writes the file alone */
  const sim_frame *frame;
} io_hosts;
io_hosts io_hosts_begin(const sim_comm *comm, const sim_frame *frame);
/* Calls io_image_write, or shares its work: the large pieces of the image must be arrays of the frame. */
sim_status io_hosts_write(io_hosts *hosts, io_image *image, io_file *file) SIM_MUST_CHECK;
/* Ends the exchange for the file. Returns `status`, the result of writing the file. */
sim_status io_hosts_end(io_hosts *hosts, sim_status status) SIM_MUST_CHECK;

#endif
