/* A file that appears complete or not at all: written under a temporary name, made durable, then renamed. */
#ifndef SIM_IO_FILE_H
#define SIM_IO_FILE_H

#include "engine/status.h"

#include <sys/types.h>

typedef struct io_file {
  char path[4400]; /* for messages */
  char name[96], temporary[104];
  int folder, fd;
} io_file;

/* Temporary names start with '.' and end in this, so that they are not mistaken for outputs. */
#define IO_TEMPORARY_SUFFIX ".tmp"

/* Creates the temporary file. `folder` is a descriptor, `folder_path` is for messages. SIM_ERR_IO, or
 * SIM_ERR_CANT_CREATE if this process has lost the lock of its folder (io_lock_check), as for io_file_commit. */
sim_status io_file_create(int folder, const char *folder_path, const char *name, io_file *out) SIM_MUST_CHECK;
/* Makes the content durable (fsync); may be called more than once. On failure the file is discarded. */
sim_status io_file_sync(io_file *file) SIM_MUST_CHECK;
/* Sync, checked close, rename. On failure the temporary file is removed. */
sim_status io_file_place(io_file *file) SIM_MUST_CHECK;
/* Makes its name durable, and the names of all files placed in its folder before. */
sim_status io_file_settle(const io_file *file) SIM_MUST_CHECK;
/* io_file_place, then io_file_settle. */
sim_status io_file_commit(io_file *file) SIM_MUST_CHECK;
void io_file_discard(io_file *file);
/* Discards the file and records SIM_ERR_IO with the path and the text of `error` (an errno). */
sim_status io_file_fail(io_file *file, int error);

/* Opens an existing regular file for reading, without blocking on a FIFO. `folder` may be AT_FDCWD. SIM_ERR_NO_INPUT
 * (also for a file of another kind), SIM_ERR_PERMISSION or SIM_ERR_IO. */
sim_status io_file_open(int folder, const char *name, const char *path, int *fd, off_t *size) SIM_MUST_CHECK;

#endif
