#include "cli/rows.h"

#include "engine/schema/decode.h"
#include "io/io.h"
#include "engine/expr/curve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes a function of the first input that is linear between the rows {t, value}. */
static sim_status make_curve(const sim_field *field, const char *path, const double *rows, size_t count,
                             sim_value **out) {
  const sim_curve_point *point = (const sim_curve_point *)(const void *)rows;
  sim_expr_builder *builder = NULL;
  sim_expr_ref t, value;
  sim_expr *expr = NULL;
  if (count < 1 || count > SIM_CURVE_MOST)
    return sim_fail(SIM_ERR_SCENARIO, "%s: expected 1 to %d rows of a time and a value, got %zu", path, SIM_CURVE_MOST,
                    count);
  for (size_t i = 1; i < count; i++)
    if (!(point[i].t > point[i - 1].t))
      return sim_fail(SIM_ERR_SCENARIO, "%s: row %zu: expected a time after that of the row before", path, i + 1);
  SIM_TRY(sim_expr_builder_create(&builder));
  sim_status status = sim_expr_builder_input(builder, field->signature->inputs[0], &t);
  if (status == SIM_OK) status = sim_curve_build(point, (int)count, false, builder, t, &value);
  if (status == SIM_OK) status = sim_expr_builder_finish(builder, &value, (const char *const[]){"result"}, 1, &expr);
  sim_expr_builder_free(&builder);
  if (status != SIM_OK) return status;
  *out = sim_encode_function(field->signature, expr);
  sim_expr_free(&expr);
  return *out != NULL ? SIM_OK : sim_no_memory("the curve of %s", path);
}

static sim_status read_file(const sim_field *field, const char *folder, sim_entry *entry, sim_bytes *files) {
  const char *name = entry->value->u.string.data;
  const bool curve = field->type == SIM_FUNCTION;
  const size_t columns = curve ? 2 : field->components > 1 ? (size_t)field->components : 1;
  const bool below = *name != '/' && *folder != '\0';
  char path[8192];
  double *rows;
  size_t count;
  if (strlen(name) != entry->value->u.string.size) return SIM_OK; /* contains a zero byte: the decoder refuses it */
  if ((size_t)snprintf(path, sizeof path, "%s%s%s", below ? folder : "", below ? "/" : "", name) >= sizeof path)
    return sim_fail(SIM_ERR_SCENARIO, "%s: the path is too long", field->name);
  sim_bytes_add(files, path, strlen(path) + 1);
  SIM_TRY(io_read_rows(path, columns, &rows, &count));
  sim_value *made = NULL;
  sim_status status = SIM_OK;
  if (curve) {
    status = make_curve(field, path, rows, count, &made);
  } else {
    made = sim_value_array(count, columns);
    if (made != NULL)
      memcpy(made->u.array.data, rows, count * columns * sizeof *rows);
    else
      status = sim_no_memory("%zu rows of %s", count, path);
  }
  if (made != NULL) {
    made->line = entry->value->line;
    sim_value_free(&entry->value);
    entry->value = made;
  }
  free(rows);
  return status;
}

/* Finds the schema of one item of a list; NULL: none fits. */
static const sim_schema *variant_of(const sim_field *field, const sim_value *item) {
  if (item->kind != SIM_VALUE_TABLE) return NULL;
  const bool named = item->u.table.count > 0 && item->u.table.entries[0].key != NULL; /* an item, not a list of items */
  const char *tag = item->u.table.tag != NULL ? item->u.table.tag : "";
  for (const sim_schema *const *variant = field->variants; *variant != NULL; variant++)
    if ((*tag != '\0' || named) && strcmp((*variant)->name, tag) == 0) return *variant;
  return NULL;
}

static sim_status read_list(const sim_field *field, const char *folder, sim_value *list, sim_bytes *files) {
  const sim_schema *alone = variant_of(field, list); /* a single item counts as a list of one */
  if (alone != NULL) return cli_read_rows(alone, folder, list, files);
  for (size_t i = 0; list->kind == SIM_VALUE_TABLE && i < list->u.table.count; i++) {
    sim_value *item = list->u.table.entries[i].value;
    const sim_schema *schema = variant_of(field, item);
    if (schema != NULL) SIM_TRY(cli_read_rows(schema, folder, item, files));
  }
  return SIM_OK;
}

static const sim_field *field_of(const sim_schema *schema, const char *name) {
  for (; schema != NULL; schema = schema->base)
    for (const sim_field *field = schema->fields; field->name != NULL; field++)
      if (strcmp(field->name, name) == 0) return field;
  return NULL;
}

sim_status cli_read_rows(const sim_schema *schema, const char *folder, sim_value *value, sim_bytes *files) {
  for (size_t i = 0; value->kind == SIM_VALUE_TABLE && i < value->u.table.count; i++) {
    sim_entry *entry = &value->u.table.entries[i];
    const sim_field *field = entry->key != NULL ? field_of(schema, entry->key) : NULL;
    if (field == NULL) continue;
    if (field->type == SIM_STRUCT) SIM_TRY(cli_read_rows(field->table, folder, entry->value, files));
    if (field->type == SIM_LIST) SIM_TRY(read_list(field, folder, entry->value, files));
    if (field->flags & SIM_OR_FILE && entry->value->kind == SIM_VALUE_STRING)
      SIM_TRY(read_file(field, folder, entry, files));
  }
  return SIM_OK;
}
