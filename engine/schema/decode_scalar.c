/* Decodes numbers, units and words. */
#include "engine/schema/decode.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

static void range_text(const sim_field *field, char *out, size_t capacity) {
  if (isinf(field->max) && field->max > 0)
    snprintf(out, capacity, "%s %.15g", field->flags & SIM_MIN_OPEN ? "above" : "of at least", field->min);
  else if (isinf(field->min))
    snprintf(out, capacity, "%s %.15g", field->flags & SIM_MAX_OPEN ? "below" : "of at most", field->max);
  else
    snprintf(out, capacity, "in %c%.15g, %.15g%c", field->flags & SIM_MIN_OPEN ? '(' : '[', field->min, field->max,
             field->flags & SIM_MAX_OPEN ? ')' : ']');
}

bool sim_decode_in_range(const sim_field *field, double number) {
  if (!(field->flags & SIM_RANGE)) return true;
  bool low = field->flags & SIM_MIN_OPEN ? number > field->min : number >= field->min;
  bool high = field->flags & SIM_MAX_OPEN ? number < field->max : number <= field->max;
  return low && high;
}

static void check_range(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value,
                        double number) {
  char range[96] = "";
  if (sim_decode_in_range(field, number)) return;
  if (!sim_faults_full(d->faults)) range_text(field, range, sizeof range);
  sim_decode_expected(d, at, value, "%s %s", field->type == SIM_INT ? "an integer" : "a number", range);
}

static bool same_dimension(sim_dimension a, sim_dimension b) {
  return a.length == b.length && a.mass == b.mass && a.time == b.time;
}

static void expect_number(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value) {
  if (field->flags & SIM_OR_BOOL)
    sim_decode_expected(d, at, value, "true, false%s%s%s or a number", field->keyword ? ", \"" : "",
                        field->keyword ? field->keyword : "", field->keyword ? "\"" : "");
  else if (field->keyword)
    sim_decode_expected(d, at, value, "a number or \"%s\"", field->keyword);
  else
    sim_decode_expected(d, at, value, "a number");
}

/* Expects a unit of the field's dimension; one that is off by a density is told so, as of a dynamic viscosity. */
static void expect_dimension(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value,
                             sim_dimension given) {
  static const char *const names[] = {"length", "mass", "time"};
  const int powers[] = {field->dimension.length, field->dimension.mass, field->dimension.time};
  const int over[] = {given.length - powers[0], given.mass - powers[1], given.time - powers[2]};
  char text[64] = "", *hint = "";
  for (int i = 0; i < 3; i++) {
    const size_t used = strlen(text);
    if (powers[i] != 0) snprintf(text + used, sizeof text - used, " %s^%d", names[i], powers[i]);
  }
  if (over[0] == -3 && over[1] == 1 && over[2] == 0) hint = " (divide this one by the density)";
  if (over[0] == 3 && over[1] == -1 && over[2] == 0) hint = " (multiply this one by the density)";
  if (text[0])
    sim_decode_expected(d, at, value, "a unit of%s%s", text, hint);
  else
    sim_decode_expected(d, at, value, "a plain number, as it has no unit");
}

/* Decodes a quantity such as "8.5 kpc" into the scenario's units. */
static void decode_quantity(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value,
                            double *out) {
  sim_dimension dimension;
  double si;
  char *end;
  const char *text = sim_decode_text(value);
  double number = text ? sim_number_parse(text, &end) : 0;
  bool has_number = text && end != text;
  if (has_number) end += strspn(end, " ");
  /* no number, or no unit after it; a unit may itself begin with a number, which must not follow the first number */
  if (!has_number || !isalpha((unsigned char)*end)) {
    expect_number(d, field, at, value);
  } else if (sim_unit_parse(end, &si, &dimension) != SIM_OK) {
    sim_decode_fault(d, at, at->line, "%s", sim_error_last()->message);
  } else if (!d->units->given) {
    sim_decode_expected(d, at, value, "a plain number, as this scenario has no `units` table");
  } else if (!same_dimension(dimension, field->dimension)) {
    expect_dimension(d, field, at, value, dimension);
  } else {
    *out = number * (si / sim_units_si(d->units, field->dimension));
    if (!isfinite(*out))
      sim_decode_expected(d, at, value, "a finite number");
    else
      check_range(d, field, at, value, *out);
  }
}

void sim_decode_real(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value, double *out) {
  if (value->kind == SIM_VALUE_STRING) {
    const char *text = sim_decode_text(value);
    if (field->keyword && text && strcmp(text, field->keyword) == 0)
      *out = field->flags & SIM_OR_BOOL ? INFINITY : NAN;
    else
      decode_quantity(d, field, at, value, out);
    return;
  }
  if (field->flags & SIM_OR_BOOL && value->kind == SIM_VALUE_BOOL) {
    *out = value->u.boolean ? NAN : 0;
    return;
  }
  if (value->kind != SIM_VALUE_INT && value->kind != SIM_VALUE_REAL) {
    expect_number(d, field, at, value);
    return;
  }
  *out = value->kind == SIM_VALUE_INT ? (double)value->u.integer : value->u.real;
  if (!isfinite(*out))
    sim_decode_expected(d, at, value, "a finite number");
  else
    check_range(d, field, at, value, *out);
}

void sim_decode_reals(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value,
                      double *out) {
  size_t components = field->components > 1 ? (size_t)field->components : 1;
  if (components == 1) {
    sim_decode_real(d, field, at, value, out);
    return;
  }
  if (!sim_value_is_list(value) || value->u.table.count != components) {
    sim_decode_expected(d, at, value, "a list of %zu numbers", components);
    return;
  }
  for (size_t i = 0; i < components; i++) {
    const sim_entry *entry = &value->u.table.entries[i];
    sim_place item = sim_place_below(at, NULL, i + 1, entry->line);
    sim_decode_real(d, field, &item, entry->value, out + i);
  }
}

void sim_decode_unit(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value, double *out) {
  sim_dimension dimension = field->dimension;
  const char *text = sim_decode_text(value);
  if (text) {
    if (sim_unit_parse(text, out, &dimension) != SIM_OK) {
      sim_decode_fault(d, at, at->line, "%s", sim_error_last()->message);
      return;
    }
  } else if (value->kind == SIM_VALUE_INT || value->kind == SIM_VALUE_REAL) {
    *out = value->kind == SIM_VALUE_INT ? (double)value->u.integer : value->u.real;
  } else {
    sim_decode_expected(d, at, value, "a unit such as \"%s\", or its SI value",
                        field->initial ? field->initial : "kpc");
    return;
  }
  if (!same_dimension(dimension, field->dimension) || !(*out > 0) || !isnormal(*out)) {
    sim_decode_expected(d, at, value, "a unit of %s", field->name);
    *out = 1;
  }
}

void sim_decode_int(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value, void *out) {
  bool is_unsigned = field->flags & SIM_UNSIGNED;
  const char *text = sim_decode_text(value);
  if (is_unsigned && text) { /* Lua has no integers from 2^63 on: such numbers are given as text */
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && number > INT64_MAX) {
      *(uint64_t *)out = number;
      return;
    }
  }
  if (field->keyword && text && strcmp(text, field->keyword) == 0) {
    *(int64_t *)out = SIM_INT_KEYWORD;
    return;
  }
  double real;
  if (value->kind == SIM_VALUE_INT) {
    real = (double)value->u.integer;
  } else if (value->kind == SIM_VALUE_REAL) {
    real = value->u.real;
  } else if (field->keyword) {
    sim_decode_expected(d, at, value, "an integer or \"%s\"", field->keyword);
    return;
  } else {
    sim_decode_expected(d, at, value, "an integer");
    return;
  }
  double low = is_unsigned ? 0 : -0x1p63, high = is_unsigned ? 0x1p64 : 0x1p63;
  if (!(real >= low)) {
    sim_decode_expected(d, at, value, "an integer%s", is_unsigned ? " >= 0" : "");
  } else if (real != floor(real)) {
    sim_decode_expected(d, at, value, "an integer");
  } else if (value->kind == SIM_VALUE_REAL && real >= high) {
    sim_decode_expected(d, at, value, "an integer below 2^%d", is_unsigned ? 64 : 63);
  } else {
    check_range(d, field, at, value, real);
    if (is_unsigned)
      *(uint64_t *)out = value->kind == SIM_VALUE_INT ? (uint64_t)value->u.integer : (uint64_t)real;
    else
      *(int64_t *)out = value->kind == SIM_VALUE_INT ? value->u.integer : (int64_t)real;
  }
}

/* ---- words ---- */

void sim_decode_choice(sim_decoder *d, const sim_field *field, const sim_place *at, const sim_value *value, int *out) {
  const char *text = sim_decode_text(value);
  size_t count = 0;
  for (; field->choices[count]; count++) {
    if (!text || strcmp(text, field->choices[count]) != 0) continue;
    *out = (int)count;
    return;
  }
  bool full = sim_faults_full(d->faults);
  sim_bytes list = {0};
  for (size_t i = 0; i < count && !full; i++) sim_bytes_format(&list, "%s\"%s\"", i ? ", " : "", field->choices[i]);
  const char *nearest = text && !full ? sim_nearest(text, field->choices, count) : NULL;
  sim_decode_expected(d, at, value, "one of %s%s%s%s", list.data ? list.data : "", nearest ? " (nearest is \"" : "",
                      nearest ? nearest : "", nearest ? "\")" : "");
  sim_bytes_free(&list);
}

void sim_decode_string(sim_decoder *d, const sim_place *at, const sim_value *value, char **out) {
  const char *text = sim_decode_text(value);
  if (!text) {
    sim_decode_expected(d, at, value, value->kind == SIM_VALUE_STRING ? "a string without zero bytes" : "a string");
  } else {
    free(*out);
    *out = strdup(text);
    if (!*out) d->no_memory = true;
  }
}

void sim_decode_cadence(sim_decoder *d, const sim_place *at, const sim_value *value, sim_cadence *out) {
  const char *text = sim_decode_text(value);
  if (!text)
    sim_decode_expected(d, at, value,
                        "a string such as \"every 0.5\", \"every 100 steps\", \"every 5 min\" or \"never\"");
  else if (sim_cadence_parse(text, d->units, out) != SIM_OK)
    sim_decode_expected(d, at, value, "%s", sim_error_last()->message);
}
