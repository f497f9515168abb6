/* Files that are written and are made durable later: a thread of its own starts their way to the disk together, syncs
 * each, gives it its name, and syncs the folders, so that the journal of the file system is written once for many of
 * them and nobody waits. Until then they have temporary names. */
#ifndef SIM_IO_LATER_H
#define SIM_IO_LATER_H

#include "io/file.h"

#include <stdbool.h>

typedef struct io_later io_later;

/* What became of the files of one owner; zeroed at first. Read after io_later_wait. */
typedef struct io_later_result {
  bool failed; /* the last one did */
  char why[512];
} io_later_result;

/* NULL: out of memory. */
io_later *io_later_create(void);
/* Takes the written file over; waits where very many are under way. A failure is a line in the log and in `result`,
 * which lives until the wait. `what`, a literal: "snapshots". */
void io_later_add(io_later *later, const io_file *file, const char *what, io_later_result *result);
/* Until all that was added is durable, or has failed. */
void io_later_wait(io_later *later);
void io_later_destroy(io_later **later); /* waits */

#endif
