/* Input files of other programs, HDF5 and PNG, are parsed by large libraries, which a malicious or damaged file can
 * crash or make run forever. A child process with limits parses them, and sends back numbers. A file with a seal of
 * this program is verified first. */
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
  size_t room;        /* limit of the child's memory in bytes */
  int64_t user_block; /* number of bytes before the HDF5 content */
  bool sealed;        /* the file has a seal and is undamaged */
} io_foreign;

/* Opens a regular file, detects its format and verifies its seal. SIM_ERR_SCENARIO: the file is damaged. */
sim_status io_foreign_open(const char *path, io_foreign *out) SIM_MUST_CHECK;
void io_foreign_close(io_foreign *file);

/* Work in a child. There `parse` does the work, and if it succeeds `send` writes the results to the pipe. In this
 * process `take` reads exactly these results with io_foreign_take. Errors of `parse` are passed on. A child that
 * crashes or exceeds its time or memory means a bad file: SIM_ERR_SCENARIO. */
typedef struct io_foreign_task {
  sim_status (*parse)(const io_foreign *file, void *context);
  void (*send)(const void *context, int pipe);
  sim_status (*take)(void *context, int pipe);
} io_foreign_task;
sim_status io_foreign_run(const io_foreign *file, const io_foreign_task *task, void *context) SIM_MUST_CHECK;

/* Write, or read, `size` bytes. After an error `send` ends the child; `take` returns the error. */
void io_foreign_send(int pipe, const void *data, size_t size);
sim_status io_foreign_take(int pipe, void *data, size_t size) SIM_MUST_CHECK;

/* In the child: opens the file as HDF5. A file of this program that has lost its seal is refused. */
sim_status io_foreign_hdf5(const io_foreign *file, io_vfd **vfd, hid_t *root) SIM_MUST_CHECK;

/* Reads an optional attribute that is a unit: a number > 0; 1 if it is absent. */
sim_status io_foreign_unit(const io_h5_source *source, hid_t object, const char *name, double *out) SIM_MUST_CHECK;
/* Finds the member of a group whose name is the largest integer; -1: none. Takes time proportional to the group's
 * size. */
int64_t io_foreign_last(hid_t group, char *name, size_t capacity);

#endif
