/* What a checkpoint needs to know of the tables. */
#ifndef SIM_IO_TABLE_H
#define SIM_IO_TABLE_H

#include "engine/run/sink.h"

size_t io_table_count(const sim_sink *table_sink);
const char *io_table_name(const sim_sink *table_sink, size_t table);
int64_t io_table_rows(const sim_sink *table_sink, size_t table);
/* Before a checkpoint: writes rows to the journal where more wait than a checkpoint should bring along. A failure is a
 * line in the log. */
void io_table_shorten(const sim_sink *table_sink);
/* The rows of a table that are not in the journal yet, as a checkpoint stores them (io/checkpoint/checkpoint.h); owned
 * by the caller, NULL where there are none. */
sim_status io_table_tail(const sim_sink *table_sink, size_t table, double **out, int64_t *rows,
                         int64_t *width) SIM_MUST_CHECK;

#endif
