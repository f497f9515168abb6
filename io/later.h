/* Makes written files durable in the background. A thread starts the writeback of many files together, syncs and
 * renames each, and syncs the folders: the file system's journal is written once for many files, and no caller waits.
 * Until then the files have temporary names. */
#ifndef SIM_IO_LATER_H
#define SIM_IO_LATER_H

#include "io/file.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct io_later io_later;

/* State of the files of one owner; zeroed at first. The owner may read the last three members after
 * io_later_wait_for. */
typedef struct io_later_result {
  int pending;   /* files not yet durable */
  int64_t bytes; /* bytes of these files */
  int failures;  /* number of failures so far */
  bool failed;   /* the last file has failed */
  char why[512];
} io_later_result;

/* Result for one checkpoint. IO_LATER_DROPPED: newer ones are durable, so it is not needed. IO_LATER_NEWEST: durable,
 * and the newest so far. */
typedef enum io_later_end { IO_LATER_FAILED, IO_LATER_DROPPED, IO_LATER_DURABLE, IO_LATER_NEWEST } io_later_end;
/* Called once for each checkpoint, on the thread of io_later. */
typedef void io_later_ended(void *context, io_later_end end);

/* The thread starts when first needed. NULL: out of memory. */
io_later *io_later_create(void);
/* Takes ownership of a written file; waits while very many files are pending. A failure is logged and counted in
 * `result`, which must live until the wait. `what`, a literal, names the files ("snapshots"); NULL: the owner reports
 * failures. */
void io_later_add(io_later *later, const io_file *file, const char *what, io_later_result *result);
/* The same for a checkpoint, which is renamed only after every file added before it is durable or has failed. Of an
 * owner's checkpoints that wait together, only the newest `keep` are made durable. */
void io_later_add_checkpoint(io_later *later, const io_file *file, const char *what, io_later_result *result, int keep,
                             io_later_ended *ended, void *context);
/* Waits until all files are durable or have failed. */
void io_later_wait(io_later *later);
/* Waits until all files of one owner are durable or have failed. */
void io_later_wait_for(io_later *later, const io_later_result *result);
/* Waits until this owner's pending files plus `bytes` are at most `most` bytes, or no file of the owner is pending. */
void io_later_wait_below(io_later *later, const io_later_result *result, int64_t bytes, int64_t most);
void io_later_destroy(io_later **later); /* waits for all files first */

#endif
