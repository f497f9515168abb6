/* Rows of numbers that a scenario takes from text files. */
#ifndef SIM_CLI_ROWS_H
#define SIM_CLI_ROWS_H

#include "engine/model.h"

/* Replaces the path of each text file in a scenario's table, if the schema has SIM_OR_FILE, by the rows in the file,
 * so that decoded and stored values do not depend on the file. Relative paths start at `folder`. Appends each file's
 * path with its final 0 to `files`. Errors of io_read_rows. */
sim_status cli_read_rows(const sim_schema *schema, const char *folder, sim_value *value,
                         sim_bytes *files) SIM_MUST_CHECK;

#endif
