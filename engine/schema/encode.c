/* Encodes a C struct that a schema describes as a tree of values; frees such a struct. */
#include "engine/schema/decode.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const sim_display_names[] = {"line",  "alone", "number",   "error",   "log",
                                         "ratio", "band",  "spectrum", "profile", NULL};

/* ---- encode ---- */

static sim_value *encode_text(const char *text) {
  return text ? sim_value_string(text, strlen(text)) : sim_value_nil();
}

static sim_value *encode_cadence(const sim_cadence *cadence) {
  char text[64];
  switch (cadence->kind) {
  case SIM_NEVER: return encode_text("never");
  case SIM_ENDS: return encode_text("ends");
  case SIM_EVERY_TIME: snprintf(text, sizeof text, "every %.17g", cadence->interval); break;
  case SIM_EVERY_STEPS: snprintf(text, sizeof text, "every %.17g steps", cadence->interval); break;
  case SIM_EVERY_WALL: snprintf(text, sizeof text, "every %.17g s", cadence->interval); break;
  }
  return encode_text(text);
}

static sim_value *encode_real(const sim_field *field, double real) {
  if (field->flags & SIM_OR_BOOL && isnan(real)) return sim_value_bool(true);
  if (field->flags & SIM_OR_BOOL && field->keyword && isinf(real)) return encode_text(field->keyword);
  return field->keyword && isnan(real) ? encode_text(field->keyword) : sim_value_real(real);
}

static sim_value *encode_int(const sim_field *field, int64_t number) {
  return field->keyword && number == SIM_INT_KEYWORD ? encode_text(field->keyword) : sim_value_int(number);
}

static sim_value *encode_reals(const sim_field *field, const double *reals) {
  if (field->components <= 1) return encode_real(field, *reals);
  sim_value *list = sim_value_table(NULL);
  for (int i = 0; list && i < field->components; i++)
    if (sim_value_add(list, NULL, 0, encode_real(field, reals[i])) != SIM_OK) sim_value_free(&list);
  return list;
}

static sim_value *encode_struct(const sim_schema *schema, const void *in, const char *tag);

static sim_value *encode_list(const sim_list *list) {
  sim_value *out = sim_value_table(NULL);
  for (size_t i = 0; out && i < list->count; i++) {
    const sim_item *item = &list->items[i];
    const char *tag = *item->schema->name ? item->schema->name : NULL;
    if (sim_value_add(out, NULL, 0, encode_struct(item->schema, item->data, tag)) != SIM_OK) sim_value_free(&out);
  }
  return out;
}

static sim_value *encode_array(const sim_doubles *in) {
  sim_value *out = sim_value_array(in->rows, in->cols);
  if (out && in->data) memcpy(out->u.array.data, in->data, in->rows * in->cols * sizeof(double));
  return out;
}

static sim_value *encode_unsigned(uint64_t number) {
  /* Lua integers are signed: larger numbers become text, which only unsigned fields decode. */
  if (number <= INT64_MAX) return sim_value_int((int64_t)number);
  char text[32];
  snprintf(text, sizeof text, "%" PRIu64, number);
  return encode_text(text);
}

static sim_value *encode_field(const sim_field *field, const char *at) {
  switch (field->type) {
  case SIM_BOOL: return sim_value_bool(*(const bool *)at);
  case SIM_INT:
    return field->flags & SIM_UNSIGNED ? encode_unsigned(*(const uint64_t *)(const void *)at)
                                       : encode_int(field, *(const int64_t *)(const void *)at);
  case SIM_REAL: return encode_reals(field, (const double *)(const void *)at);
  case SIM_UNIT: return sim_value_real(*(const double *)(const void *)at);
  case SIM_CHOICE: return encode_text(field->choices[*(const int *)(const void *)at]);
  case SIM_STRING: return encode_text(*(char *const *)(const void *)at);
  case SIM_CADENCE: return encode_cadence((const sim_cadence *)(const void *)at);
  case SIM_STRUCT: return encode_struct(field->table, at, NULL);
  case SIM_LIST: return encode_list((const sim_list *)(const void *)at);
  case SIM_NUMBERS: return encode_array((const sim_doubles *)(const void *)at);
  case SIM_FUNCTION: return sim_encode_function(field->signature, *(sim_expr *const *)(const void *)at);
  case SIM_FUNCTION_MAP: return sim_encode_function_map(field->signature, (const sim_function_map *)(const void *)at);
  }
  return NULL;
}

static bool encode_fields(const sim_schema *schema, const char *in, sim_value *out) {
  if (schema->base && !encode_fields(schema->base, in, out)) return false;
  for (const sim_field *field = schema->fields; field->name; field++) {
    const char *at = in + field->offset;
    if (field->flags & SIM_OPTIONAL && !*(const bool *)at) continue;
    sim_value *value = encode_field(field, at);
    if (value && value->kind == SIM_VALUE_NIL) { /* a string or function that is absent */
      sim_value_free(&value);
      continue;
    }
    if (sim_value_add(out, field->name, 0, value) != SIM_OK) return false;
  }
  return true;
}

static sim_value *encode_struct(const sim_schema *schema, const void *in, const char *tag) {
  sim_value *out = sim_value_table(tag);
  if (out && !encode_fields(schema, in, out)) sim_value_free(&out);
  return out;
}

sim_value *sim_schema_encode(const sim_schema *schema, const void *in) {
  return encode_struct(schema, in, schema->name);
}

/* ---- free ---- */

static void free_map(sim_function_map *map) {
  for (size_t i = 0; i < map->count; i++) {
    free(map->items[i].name);
    sim_expr_free(&map->items[i].expr);
  }
  free(map->items);
  *map = (sim_function_map){0};
}

void sim_schema_free(const sim_schema *schema, void *in) {
  if (schema->base) sim_schema_free(schema->base, in);
  for (const sim_field *field = schema->fields; field->name; field++) {
    void *at = (char *)in + field->offset;
    if (field->type == SIM_STRING) {
      free(*(char **)at);
      *(char **)at = NULL;
    } else if (field->type == SIM_STRUCT) {
      sim_schema_free(field->table, at);
    } else if (field->type == SIM_NUMBERS) {
      sim_doubles *array = at;
      free(array->data);
      *array = (sim_doubles){0};
    } else if (field->type == SIM_LIST) {
      sim_list *list = at;
      for (size_t i = 0; i < list->count; i++) {
        sim_schema_free(list->items[i].schema, list->items[i].data);
        free(list->items[i].data);
      }
      free(list->items);
      *list = (sim_list){0};
    } else if (field->type == SIM_FUNCTION) {
      sim_expr_free((sim_expr **)at);
    } else if (field->type == SIM_FUNCTION_MAP) {
      free_map(at);
    }
  }
}
