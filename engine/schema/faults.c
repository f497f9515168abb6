/* Faults of a scenario: where a value is, what was expected, and which known name is nearest to an unknown one. */
#include "engine/schema/decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAULTS_MAX = 50, NAME_MAX_SEEN = 64 };

/* ---- list of faults ---- */

static const sim_entry *find_entry(const sim_value *table, const char *key, size_t length, size_t index) {
  for (size_t i = 0; table->kind == SIM_VALUE_TABLE && i < table->u.table.count; i++) {
    const sim_entry *entry = &table->u.table.entries[i];
    if (length ? entry->key && strlen(entry->key) == length && strncmp(entry->key, key, length) == 0
               : !entry->key && --index == 0)
      return entry;
  }
  return NULL;
}

/* Returns the line of the value at a path such as "fields[2].drift", or of the innermost table on the path that exists;
 * 0: unknown. */
static int line_of(const sim_value *root, const char *path, bool *exact) {
  int line = 0;
  *exact = false;
  while (root && *path) {
    const bool item = *path == '[';
    char *end = (char *)path + strcspn(path, ".[");
    const size_t index = item ? strtoul(path + 1, &end, 10) : 0;
    const sim_entry *entry = item && index == 0 ? NULL : find_entry(root, path, item ? 0 : (size_t)(end - path), index);
    if (!entry) return line;
    path = end + (item && *end == ']');
    if (*path == '.') path++;
    *exact = *path == '\0' && entry->line > 0;
    if (entry->line > 0) line = entry->line;
    root = entry->value;
  }
  return line;
}

void sim_faults_add(sim_faults *faults, int line, const char *path, const char *format, ...) {
  bool full = sim_faults_full(faults);
  faults->count++;
  if (full) return;
  char text[512], where[256], name[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  sim_text_escape(name, sizeof name, faults->file ? faults->file : "", faults->file ? strlen(faults->file) : 0);
  sim_text_escape(where, sizeof where, path, strlen(path));
  sim_bytes_text(&faults->text, name);
  bool exact;
  const int found = line_of(faults->root, path, &exact);
  if (exact || line <= 0) line = found;
  if (line > 0) sim_bytes_format(&faults->text, ":%d", line);
  sim_bytes_format(&faults->text, ": %s%s", where, *where ? ": " : "");
  char clean[600];
  sim_text_escape(clean, sizeof clean, text, strlen(text));
  sim_bytes_format(&faults->text, "%s\n", clean);
}

void sim_faults_check_name(sim_faults *faults, int line, const char *path, const char *name) {
  const size_t length = name != NULL ? strlen(name) : 0;
  const char *const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  if (length == 0 || length > 63 || strspn(name, word) != length)
    sim_faults_add(faults, line, path, "expected 1 to 63 letters, digits or _, got \"%s\"", name != NULL ? name : "");
}

bool sim_faults_full(const sim_faults *faults) { return faults->count >= FAULTS_MAX; }

void sim_faults_free(sim_faults *faults) {
  sim_bytes_free(&faults->text);
  faults->count = 0;
}

/* ---- nearest name: edit distance with transpositions (optimal string alignment) ---- */

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static size_t distance(const char *a, const char *b) {
  size_t na = strlen(a), nb = strlen(b);
  if (na > NAME_MAX_SEEN || nb > NAME_MAX_SEEN) return SIZE_MAX;
  size_t rows[3][NAME_MAX_SEEN + 1];
  size_t *before = rows[0], *previous = rows[1], *row = rows[2];
  for (size_t j = 0; j <= nb; j++) previous[j] = j;
  for (size_t i = 1; i <= na; i++) {
    row[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      size_t change = previous[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = least(change, 1 + least(previous[j], row[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = least(row[j], before[j - 2] + 1);
    }
    size_t *old = before;
    before = previous;
    previous = row;
    row = old;
  }
  return previous[nb];
}

const char *sim_nearest(const char *name, const char *const *candidates, size_t count) {
  const char *best = NULL;
  size_t best_distance = 2 + strlen(name) / 4;
  for (size_t i = 0; i < count; i++) {
    size_t d = distance(name, candidates[i]);
    if (d >= best_distance) continue;
    best_distance = d;
    best = candidates[i];
  }
  return best;
}

/* ---- positions of values while they are decoded ---- */

sim_place sim_place_below(const sim_place *parent, const char *key, size_t index, int line) {
  return (sim_place){parent, key, index, line ? line : parent->line};
}

size_t sim_place_path(const sim_place *at, char *out, size_t capacity) {
  out[0] = '\0';
  if (!at->parent) return 0;
  size_t used = sim_place_path(at->parent, out, capacity);
  int more = at->key ? snprintf(out + used, capacity - used, "%s%s", used ? "." : "", at->key)
                     : snprintf(out + used, capacity - used, "[%zu]", at->index);
  if ((size_t)more < capacity - used) return used + (size_t)more;
  memcpy(out + capacity - 4, "...", 4);
  return capacity - 1;
}

void sim_decode_fault(sim_decoder *d, const sim_place *at, int line, const char *format, ...) {
  char path[SIM_PLACE_MAX] = "", text[512] = "";
  if (!sim_faults_full(d->faults)) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sim_place_path(at, path, sizeof path);
  }
  sim_faults_add(d->faults, line, path, "%s", text);
}

void sim_decode_expected(sim_decoder *d, const sim_place *at, const sim_value *value, const char *format, ...) {
  char wanted[256] = "", got[128] = "";
  if (!sim_faults_full(d->faults)) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wanted, sizeof wanted, format, arguments);
    va_end(arguments);
    sim_value_describe(value, got, sizeof got);
  }
  bool key_first = value->kind == SIM_VALUE_FUNCTION; /* prefer the key's line to the definition's */
  int line = value->line && !(key_first && at->line) ? value->line : at->line;
  sim_decode_fault(d, at, line, "expected %s, got %s", wanted, got);
}

const char *sim_decode_text(const sim_value *value) {
  bool plain = value->kind == SIM_VALUE_STRING && strlen(value->u.string.data) == value->u.string.size;
  return plain ? value->u.string.data : NULL;
}
