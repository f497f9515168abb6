/* Files that others wrote, HDF5 and PNG, are parsed by large libraries that a file can make crash, fill the memory or
 * run for ever. They are parsed in a process of its own, with limits, which hands back numbers. A file that carries
 * our seal is held against it before. */
#ifndef SIM_IO_FOREIGN_H
#define SIM_IO_FOREIGN_H

#include "io/hdf5/h5.h"

#include <sys/types.h>

enum { IO_FORM_OTHER, IO_FORM_PNG, IO_FORM_HDF5 };

typedef struct io_foreign {
  const char *path;
  int fd, form;
  off_t size;
  double seconds;     /* of processor time that the child may take */
  size_t room;        /* and bytes */
  int64_t user_block; /* bytes before the HDF5 file */
  bool sealed;        /* and it is what was once written */
} io_foreign;

/* Opens a regular file, tells its form by what it begins with, and checks its seal. SIM_ERR_SCENARIO: it is damaged. */
sim_status io_foreign_open(const char *path, io_foreign *out) SIM_MUST_CHECK;
void io_foreign_close(io_foreign *file);

/* In a child: `parse` does the work, and where it succeeds `send` writes what was found to the pipe. Here: `take` reads
 * exactly that from the pipe, with io_foreign_take. Failures of `parse` come back as they are. A child that crashes, or
 * takes more than its time or memory, is a fault of the file: SIM_ERR_SCENARIO. */
typedef struct io_foreign_task {
  sim_status (*parse)(const io_foreign *file, void *context);
  void (*send)(const void *context, int pipe);
  sim_status (*take)(void *context, int pipe);
} io_foreign_task;
sim_status io_foreign_run(const io_foreign *file, const io_foreign_task *task, void *context) SIM_MUST_CHECK;

/* All of it, or the child's end. */
void io_foreign_send(int pipe, const void *data, size_t size);
sim_status io_foreign_take(int pipe, void *data, size_t size) SIM_MUST_CHECK;

/* Opens it as HDF5, in the child. A file of ours whose seal was lost is refused. */
sim_status io_foreign_hdf5(const io_foreign *file, io_vfd **vfd, hid_t *root) SIM_MUST_CHECK;

/* An attribute that is not there, or a number > 0: of units. */
sim_status io_foreign_unit(const io_h5_source *source, hid_t object, const char *name, double *out) SIM_MUST_CHECK;
/* The name of the member of a group that is the largest integer; -1: there is none. In time that grows as the group. */
int64_t io_foreign_last(hid_t group, char *name, size_t capacity);

#endif
