/* What a checkpoint needs to know about the tables. */
#ifndef SIM_IO_TABLE_H
#define SIM_IO_TABLE_H

#include "engine/run/sink.h"

size_t io_table_count(const sim_sink *table_sink);
const char *io_table_name(const sim_sink *table_sink, size_t table);
int64_t io_table_rows(const sim_sink *table_sink, size_t table);
/* Call before a checkpoint: writes rows to the journal if more are in memory than a checkpoint should store. Logs a
 * failure. */
void io_table_shorten(const sim_sink *table_sink);
/* Gives the rows of a table that are not in the journal yet, in the format of io/checkpoint/checkpoint.h:
 * (*out)[*rows][*width], which the caller frees; NULL if there are none. SIM_ERR_NO_MEMORY. */
sim_status io_table_tail(const sim_sink *table_sink, size_t table, double **out, int64_t *rows,
                         int64_t *width) SIM_MUST_CHECK;

#endif
