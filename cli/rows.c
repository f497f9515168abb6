#include "cli/rows.h"

#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sim_status read_file(const sim_field *field, const char *folder, sim_entry *entry) {
  const char *name = entry->value->u.string.data;
  const size_t columns = field->components > 1 ? (size_t)field->components : 1;
  const bool below = *name != '/' && *folder != '\0';
  char path[8192];
  double *rows;
  size_t count;
  if (strlen(name) != entry->value->u.string.size) return SIM_OK; /* a zero byte: refused by the decoder */
  if ((size_t)snprintf(path, sizeof path, "%s%s%s", below ? folder : "", below ? "/" : "", name) >= sizeof path)
    return sim_fail(SIM_ERR_SCENARIO, "%s: the path is too long", field->name);
  SIM_TRY(io_read_rows(path, columns, &rows, &count));
  sim_value *array = sim_value_array(count, columns);
  if (array != NULL) {
    memcpy(array->u.array.data, rows, count * columns * sizeof *rows);
    array->line = entry->value->line;
    sim_value_free(&entry->value);
    entry->value = array;
  }
  free(rows);
  return array != NULL ? SIM_OK : sim_no_memory("%zu rows of %s", count, path);
}

/* Schema of one item of a list; NULL: none of them. */
static const sim_schema *variant_of(const sim_field *field, const sim_value *item) {
  for (const sim_schema *const *variant = field->variants; *variant != NULL; variant++)
    if (item->kind == SIM_VALUE_TABLE && item->u.table.tag != NULL && strcmp((*variant)->name, item->u.table.tag) == 0)
      return *variant;
  return NULL;
}

static sim_status read_list(const sim_field *field, const char *folder, sim_value *list) {
  const sim_schema *alone = variant_of(field, list); /* a single item is a list of one */
  if (alone != NULL) return cli_read_rows(alone, folder, list);
  for (size_t i = 0; list->kind == SIM_VALUE_TABLE && i < list->u.table.count; i++) {
    sim_value *item = list->u.table.entries[i].value;
    const sim_schema *schema = variant_of(field, item);
    if (schema != NULL) SIM_TRY(cli_read_rows(schema, folder, item));
  }
  return SIM_OK;
}

static const sim_field *field_of(const sim_schema *schema, const char *name) {
  for (; schema != NULL; schema = schema->base)
    for (const sim_field *field = schema->fields; field->name != NULL; field++)
      if (strcmp(field->name, name) == 0) return field;
  return NULL;
}

sim_status cli_read_rows(const sim_schema *schema, const char *folder, sim_value *value) {
  for (size_t i = 0; value->kind == SIM_VALUE_TABLE && i < value->u.table.count; i++) {
    sim_entry *entry = &value->u.table.entries[i];
    const sim_field *field = entry->key != NULL ? field_of(schema, entry->key) : NULL;
    if (field == NULL) continue;
    if (field->type == SIM_STRUCT) SIM_TRY(cli_read_rows(field->table, folder, entry->value));
    if (field->type == SIM_LIST) SIM_TRY(read_list(field, folder, entry->value));
    if (field->flags & SIM_OR_FILE && entry->value->kind == SIM_VALUE_STRING) SIM_TRY(read_file(field, folder, entry));
  }
  return SIM_OK;
}
