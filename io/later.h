/* Files that are written and are made durable later: a thread of its own starts their way to the disk together, syncs
 * each, gives it its name, and syncs the folders, so that the journal of the file system is written once for many of
 * them and nobody waits. Until then they have temporary names. */
#ifndef SIM_IO_LATER_H
#define SIM_IO_LATER_H

#include "io/file.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct io_later io_later;

/* What became of the files of one owner; zeroed at first. The owner reads the last three after one of the waits. */
typedef struct io_later_result {
  int pending;   /* files under way */
  int64_t bytes; /* of these */
  int failures;  /* so far */
  bool failed;   /* the last file did */
  char why[512];
} io_later_result;

/* What became of one checkpoint. IO_LATER_DROPPED: newer ones are durable, and nobody would keep it. IO_LATER_NEWEST:
 * it is durable, and the newest one by now. */
typedef enum io_later_end { IO_LATER_FAILED, IO_LATER_DROPPED, IO_LATER_DURABLE, IO_LATER_NEWEST } io_later_end;
/* Called once for each checkpoint, by the thread that makes it durable. */
typedef void io_later_ended(void *context, io_later_end end);

/* NULL: out of memory. */
io_later *io_later_create(void);
/* Takes the written file over; waits where very many are under way. A failure is a line in the log and in `result`,
 * which lives until the wait. `what`, a literal: "snapshots". */
void io_later_add(io_later *later, const io_file *file, const char *what, io_later_result *result);
/* The same for a checkpoint: it gets its name only after every file that was added before it is durable, or has failed.
 * Of the checkpoints of one owner that wait together only the newest `keep` are made durable. */
void io_later_add_checkpoint(io_later *later, const io_file *file, const char *what, io_later_result *result, int keep,
                             io_later_ended *ended, void *context);
/* Until all that was added is durable, or has failed. */
void io_later_wait(io_later *later);
/* The same for one owner's files. */
void io_later_wait_for(io_later *later, const io_later_result *result);
/* Until this owner's files under way and `bytes` more are at most `most` bytes, or none is under way. */
void io_later_wait_below(io_later *later, const io_later_result *result, int64_t bytes, int64_t most);
void io_later_destroy(io_later **later); /* waits */

#endif
