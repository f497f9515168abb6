/* A file that appears whole or not at all: written under a temporary name, made durable, then renamed. */
#ifndef SIM_IO_FILE_H
#define SIM_IO_FILE_H

#include "engine/status.h"

#include <sys/types.h>

typedef struct io_file {
  char path[4400]; /* for messages */
  char name[96], temporary[104];
  int folder, fd;
} io_file;

/* Temporary names start with '.' and end in this: nobody takes one for an output. */
#define IO_TEMPORARY_SUFFIX ".tmp"

/* `folder` is a descriptor, `folder_path` only for messages. SIM_ERR_IO, or SIM_ERR_CANT_CREATE where this process has
 * lost the lock of its folder (io_lock_check); so fails io_file_commit too. */
sim_status io_file_create(int folder, const char *folder_path, const char *name, io_file *out) SIM_MUST_CHECK;
/* Makes the content durable; may be called more than once. On failure the file is discarded. */
sim_status io_file_sync(io_file *file) SIM_MUST_CHECK;
/* Sync, checked close, rename. On failure nothing is left of the temporary file. */
sim_status io_file_place(io_file *file) SIM_MUST_CHECK;
/* Makes its name durable, and those of all that were placed in its folder before. */
sim_status io_file_settle(const io_file *file) SIM_MUST_CHECK;
/* Both. */
sim_status io_file_commit(io_file *file) SIM_MUST_CHECK;
void io_file_discard(io_file *file);
/* Discards, and records SIM_ERR_IO with the path and what `error` (an errno) means. */
sim_status io_file_fail(io_file *file, int error);

/* Opens an existing regular file for reading; never waits, as a FIFO would make it. `folder` may be AT_FDCWD. Fails
 * with SIM_ERR_NO_INPUT, SIM_ERR_PERMISSION or SIM_ERR_IO; a file of another kind is SIM_ERR_NO_INPUT. */
sim_status io_file_open(int folder, const char *name, const char *path, int *fd, off_t *size) SIM_MUST_CHECK;

#endif
