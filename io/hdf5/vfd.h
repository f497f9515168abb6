/* File driver for HDF5. HDF5 1.10 may crash, or report success, if a write by its driver fails. So this driver keeps
 * the first errno and reports success to HDF5; the caller checks the errno before the file is used. It locks no file:
 * the lock of the output folder covers all files. */
#ifndef SIM_IO_VFD_H
#define SIM_IO_VFD_H

#include "io/hdf5/pages.h"

#include <hdf5.h>
#include <stdbool.h>

/* State of the driver for one file; it lives as long as HDF5 may access the file. */
typedef struct io_vfd io_vfd;

/* Creates an HDF5 file on an open descriptor, which stays open. Negative on failure, as in HDF5. `latest`: in the
 * newest format of this HDF5 version, with checksums in all metadata. */
hid_t io_vfd_create(int fd, const char *name, bool latest, io_vfd **out);
/* The same in memory; `pages` is borrowed until io_vfd_close. */
hid_t io_vfd_create_pages(io_pages *pages, bool latest, io_vfd **out);
hid_t io_vfd_open(int fd, const char *name, io_vfd **out);
/* Closes the HDF5 file (and objects left open in it). Returns the kept errno; EIO if HDF5 could not close the file. */
int io_vfd_close(hid_t file, io_vfd **vfd);

#endif
