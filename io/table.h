/* What a checkpoint needs to know of the tables. */
#ifndef SIM_IO_TABLE_H
#define SIM_IO_TABLE_H

#include "engine/sink.h"

size_t io_table_count(const sim_sink *table_sink);
const char *io_table_name(const sim_sink *table_sink, size_t table);
int64_t io_table_rows(const sim_sink *table_sink, size_t table);

#endif
