/* Input files of other programs, HDF5 and PNG, are parsed by large libraries that a malicious or damaged file can
 * crash or make run forever. They are parsed in a child process with limits, which sends back numbers. A file with
 * our seal is verified first. */
#ifndef SIM_IO_FOREIGN_H
#define SIM_IO_FOREIGN_H

#include "io/hdf5/h5.h"

#include <sys/types.h>

enum { IO_FORM_OTHER, IO_FORM_PNG, IO_FORM_HDF5 };

typedef struct io_foreign {
  const char *path;
  int fd, form;
  off_t size;
  double seconds;     /* limit of the child's processor time */
  size_t room;        /* limit of its memory in bytes */
  int64_t user_block; /* bytes before the HDF5 file */
  bool sealed;        /* the file has a seal, and is undamaged */
} io_foreign;

/* Opens a regular file, detects its format and verifies its seal. SIM_ERR_SCENARIO: it is damaged. */
sim_status io_foreign_open(const char *path, io_foreign *out) SIM_MUST_CHECK;
void io_foreign_close(io_foreign *file);

/* In the child `parse` does the work, and on success `send` writes the results to the pipe. In this process `take`
 * reads exactly these from the pipe, with io_foreign_take. Errors of `parse` are passed on. A child that crashes or
 * exceeds its time or memory means a bad file: SIM_ERR_SCENARIO. */
typedef struct io_foreign_task {
  sim_status (*parse)(const io_foreign *file, void *context);
  void (*send)(const void *context, int pipe);
  sim_status (*take)(void *context, int pipe);
} io_foreign_task;
sim_status io_foreign_run(const io_foreign *file, const io_foreign_task *task, void *context) SIM_MUST_CHECK;

/* Write, or read, all of the data. An error ends the child in `send`; `take` returns it. */
void io_foreign_send(int pipe, const void *data, size_t size);
sim_status io_foreign_take(int pipe, void *data, size_t size) SIM_MUST_CHECK;

/* Opens the file as HDF5, in the child. A file of ours that has lost its seal is refused. */
sim_status io_foreign_hdf5(const io_foreign *file, io_vfd **vfd, hid_t *root) SIM_MUST_CHECK;

/* Reads an optional attribute that must be a number > 0: a unit. Absent: 1. */
sim_status io_foreign_unit(const io_h5_source *source, hid_t object, const char *name, double *out) SIM_MUST_CHECK;
/* Finds the member of a group whose name is the largest integer; -1: none. The time is linear in the size of the
 * group. */
int64_t io_foreign_last(hid_t group, char *name, size_t capacity);

#endif
