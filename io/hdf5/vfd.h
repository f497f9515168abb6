/* HDF5's way to the disk, our own. HDF5 1.10 may crash, or report success, when a write fails under it. So this driver
 * keeps the first errno and tells HDF5 that all is well; the caller looks at the errno before the file is used. It
 * locks no file: the lock on the output folder does that for all. */
#ifndef SIM_IO_VFD_H
#define SIM_IO_VFD_H

#include "io/hdf5/pages.h"

#include <hdf5.h>
#include <stdbool.h>

/* What the driver knows of one file. Lives as long as HDF5 may still look at it. */
typedef struct io_vfd io_vfd;

/* HDF5 file on an open descriptor, which stays open; negative on failure, as in HDF5. `latest`: the newest format that
 * this HDF5 writes, with checksums in all metadata. */
hid_t io_vfd_create(int fd, const char *name, bool latest, io_vfd **out);
/* The same in memory. `pages` is borrowed until io_vfd_close. */
hid_t io_vfd_create_pages(io_pages *pages, bool latest, io_vfd **out);
hid_t io_vfd_open(int fd, const char *name, io_vfd **out);
/* Closes the HDF5 file (and what was left open in it) and returns the errno kept; EIO where HDF5 could not close it. */
int io_vfd_close(hid_t file, io_vfd **vfd);

#endif
