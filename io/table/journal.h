/* Journal of table rows: DIR/tables.rows, which only grows. It begins with 16 bytes: "SIMROWS1", u64 xxh3-64 of the
 * tables' names and columns. The records follow (all little-endian):
 *
 *   u32 table   u32 0   int64 step   f64 time   f64 columns...   u64 xxh3-64 of the preceding bytes of the record
 *
 * A record that a kill or power failure has truncated does not count. tables.h5 is created from the journal, which is
 * removed when the run ends without failures. */
#ifndef SIM_IO_JOURNAL_H
#define SIM_IO_JOURNAL_H

#include "engine/model.h"
#include "io/folder.h"

enum { IO_WORD = 8 };

/* A table in the journal, and the number of its rows. */
typedef struct io_journal_table {
  const sim_table *model;
  size_t columns; /* columns other than step and time */
  int64_t rows;
} io_journal_table;

typedef struct io_journal {
  io_folder *folder;
  io_journal_table tables[SIM_TABLES_MAX];
  size_t count;
  int fd;        /* -1: no file yet */
  int64_t size;  /* bytes that are durable */
  char *waiting; /* records that are not durable yet, [waiting_bytes] */
  size_t waiting_bytes, capacity;
} io_journal;

size_t io_journal_row(const io_journal_table *table); /* bytes of a row: step, time, columns */

/* Adds a row of io_journal_row bytes in memory, for io_journal_flush. SIM_ERR_NO_MEMORY. */
sim_status io_journal_add(io_journal *self, size_t table, const void *row) SIM_MUST_CHECK;
/* Makes all rows durable; rows that cannot be written stay in memory. SIM_ERR_IO. */
sim_status io_journal_flush(io_journal *self) SIM_MUST_CHECK;
/* Opens an existing journal and keeps the first wanted[i] rows of each table. SIM_ERR_NO_INPUT: no file;
 * SIM_ERR_INCOMPATIBLE: a file of other tables, or damaged; SIM_ERR_IO. */
sim_status io_journal_resume(io_journal *self, const int64_t *wanted) SIM_MUST_CHECK;
/* Calls `each` for all durable rows, in order. */
typedef sim_status io_journal_row_reader(void *context, size_t table, const void *row);
sim_status io_journal_read(const io_journal *self, io_journal_row_reader *each, void *context) SIM_MUST_CHECK;
/* Calls `each` for the rows in memory. */
sim_status io_journal_read_waiting(const io_journal *self, io_journal_row_reader *each, void *context) SIM_MUST_CHECK;
void io_journal_close(io_journal *self, bool remove);

#endif
