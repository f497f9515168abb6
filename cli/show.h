/* Texts from the models' tables, which `sim describe` prints as text and as Markdown. */
#ifndef SIM_CLI_SHOW_H
#define SIM_CLI_SHOW_H

#include "cli/cli.h"

/* Finds a model; SIM_ERR_USAGE with the nearest name if there is none of this name. */
sim_status cli_find_model(const char *name, const sim_model **out) SIM_MUST_CHECK;
/* Writes "length time^-1"; "" for a pure number. */
void cli_dimension_text(sim_dimension dimension, char *out, size_t capacity);
/* Writes what a parameter accepts: "number or \"auto\", length, > 0". */
void cli_type_text(const sim_field *field, char *out, size_t capacity);
/* Writes "required", "default 0.02" or "optional"; "" for a table whose keys have their own defaults. */
void cli_need_text(const sim_field *field, char *out, size_t capacity);

#endif
