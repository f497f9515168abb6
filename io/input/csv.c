#include "io/input/csv.h"

#include "io/input/foreign.h"
#include "io/io.h"
#include "io/sys.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 7, LINE_MOST = 1024, BLOCK = 1 << 16 };
static const char *const column_names[COLUMNS] = {"mass", "x", "y", "z", "vx", "vy", "vz"};

typedef struct reader {
  const char *path;
  int fd;
  int64_t offset; /* file offset of the end of `block` */
  size_t at, held;
  long line;
  char block[BLOCK], text[LINE_MOST];
  int column[COLUMNS]; /* column[k]: index in column_names of field k of a line */
  int fields;
  double *values[COLUMNS];
  int64_t count, capacity;
} reader;

/* Reports a fault. Messages never quote the file: it may be one that the scenario should not have named. */
static sim_status fault(const reader *self, const char *what) {
  return sim_fail(SIM_ERR_SCENARIO, "%s:%ld: %s", self->path, self->line, what);
}

/* Reads the next line without its end; *more is false at the end of the file. */
static sim_status next_line(reader *self, bool *more) {
  size_t length = 0;
  self->line++;
  for (;;) {
    if (self->at == self->held) {
      int error = io_sys_read(self->fd, self->block, BLOCK, self->offset, &self->held);
      if (error) return sim_fail(SIM_ERR_IO, "%s: %s", self->path, strerror(error));
      self->offset += (int64_t)self->held;
      self->at = 0;
      if (self->held == 0) break;
    }
    char c = self->block[self->at++];
    if (c == '\n') break;
    if (c == '\0') return fault(self, "holds a NUL: this is not a text file");
    if (length + 1 == LINE_MOST) return fault(self, "the line is too long");
    self->text[length++] = c;
  }
  *more = length > 0 || self->held > 0;
  if (length > 0 && self->text[length - 1] == '\r') length--;
  self->text[length] = '\0';
  return SIM_OK;
}

static bool is_empty(const char *text) {
  text += strspn(text, " \t");
  return *text == '\0' || *text == '#';
}

/* Reads the next line that is neither empty nor a comment. */
static sim_status next_record(reader *self, bool *more) {
  do SIM_TRY(next_line(self, more));
  while (*more && is_empty(self->text));
  return SIM_OK;
}

/* Cuts the next field off `*rest`, without surrounding blanks; NULL at the end of the line. */
static char *next_field(char **rest) {
  char *field = *rest;
  if (!field) return NULL;
  char *comma = strchr(field, ',');
  *rest = comma ? comma + 1 : NULL;
  if (comma) *comma = '\0';
  field += strspn(field, " \t");
  size_t length = strlen(field);
  while (length > 0 && (field[length - 1] == ' ' || field[length - 1] == '\t')) field[--length] = '\0';
  return field;
}

static sim_status read_header(reader *self) {
  bool more, seen[COLUMNS] = {false};
  SIM_TRY(next_record(self, &more));
  if (!more)
    return sim_fail(SIM_ERR_SCENARIO, "%s: is empty; expected a header line such as mass,x,y,z,vx,vy,vz", self->path);
  char *rest = self->text;
  if (strncmp(rest, "\xEF\xBB\xBF", 3) == 0) rest += 3; /* byte order mark */
  for (char *field; (field = next_field(&rest));) {
    int which = 0;
    while (which < COLUMNS && strcmp(field, column_names[which]) != 0) which++;
    if (which == COLUMNS) {
      const char *near = sim_nearest(field, column_names, COLUMNS);
      return sim_fail(SIM_ERR_SCENARIO,
                      "%s:%ld: column %d has an unknown name%s%s; expected some of mass, x, y, z, vx, vy, vz",
                      self->path, self->line, self->fields + 1, near ? ", nearest is " : "", near ? near : "");
    }
    if (seen[which]) return sim_fail(SIM_ERR_SCENARIO, "%s:%ld: column %s stands twice", self->path, self->line, field);
    seen[which] = true;
    self->column[self->fields++] = which;
  }
  if (!seen[1] || !seen[2] || !seen[3]) return fault(self, "the columns x, y and z are needed");
  if ((seen[4] || seen[5] || seen[6]) && !(seen[4] && seen[5] && seen[6]))
    return fault(self, "expected all of vx, vy and vz, or none");
  return SIM_OK;
}

static sim_status reserve(reader *self) {
  if (self->count < self->capacity) return SIM_OK;
  int64_t capacity = self->capacity ? 2 * self->capacity : 1024;
  for (int k = 0; k < self->fields; k++) {
    double **column = &self->values[self->column[k]];
    double *more = realloc(*column, (size_t)capacity * sizeof *more);
    if (!more) return sim_no_memory("%s from line %ld on", self->path, self->line);
    *column = more;
  }
  self->capacity = capacity;
  return SIM_OK;
}

static sim_status read_line(reader *self, bool keep) {
  char *rest = self->text, *field;
  int k = 0;
  if (keep) SIM_TRY(reserve(self));
  for (; (field = next_field(&rest)); k++) {
    if (k == self->fields) return fault(self, "has more values than the header has columns");
    const char *name = column_names[self->column[k]];
    char *end;
    double value = sim_number_parse(field, &end);
    if (end == field || *end != '\0')
      return sim_fail(SIM_ERR_SCENARIO, "%s:%ld: column %d, %s: expected a number", self->path, self->line, k + 1,
                      name);
    if (!isfinite(value))
      return sim_fail(SIM_ERR_SCENARIO, "%s:%ld: column %d, %s: expected a finite number", self->path, self->line,
                      k + 1, name);
    if (keep) self->values[self->column[k]][self->count] = value;
  }
  if (k < self->fields) return fault(self, "has fewer values than the header has columns");
  self->count++;
  return SIM_OK;
}

static sim_status read_all(reader *self, bool keep) {
  bool more;
  SIM_TRY(read_header(self));
  for (;;) {
    SIM_TRY(next_record(self, &more));
    if (!more) break;
    SIM_TRY(read_line(self, keep));
  }
  if (self->count == 0) return sim_fail(SIM_ERR_SCENARIO, "%s: holds no particles", self->path);
  return SIM_OK;
}

/* Reads the numbers of one line, separated by commas or blanks, into row[columns]. */
static sim_status read_row(const reader *self, const char *text, size_t columns, double *row) {
  for (size_t k = 0; k < columns; k++) {
    char *end;
    text += strspn(text, " \t");
    if (k > 0 && *text == ',') text++;
    row[k] = sim_number_parse(text, &end);
    if (end == text || (*end != '\0' && *end != ',' && *end != ' ' && *end != '\t') || !isfinite(row[k]))
      return sim_fail(SIM_ERR_SCENARIO, "%s:%ld: expected %zu finite numbers, column %zu is none", self->path,
                      self->line, columns, k + 1);
    text = end;
  }
  if (text[strspn(text, " \t")] == '\0') return SIM_OK;
  return sim_fail(SIM_ERR_SCENARIO, "%s:%ld: expected %zu numbers, got more", self->path, self->line, columns);
}

/* Sets *names to whether a line names columns: its first word is a name of letters, digits and _. "O.25" and "nan" are
 * faults: mistyped numbers. */
static sim_status find_names(const reader *self, const char *text, bool *names) {
  static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  char *end;
  text += strspn(text, " \t");
  const bool quoted = *text == '"';
  text += quoted + (quoted ? strspn(text + 1, " ") : 0);
  *names = isalpha((unsigned char)*text) != 0;
  if (!*names) return SIM_OK;
  const char *after = text + strspn(text, word);
  (void)strtod(text, &end);
  if (end != after && (*after == '\0' || strchr(quoted ? "\" ([" : ", \t([", *after) != NULL)) return SIM_OK;
  return fault(self, "column 1 is neither a number nor a name of letters, digits and _");
}

static sim_status read_rows(reader *self, size_t columns, double **rows, size_t *count) {
  bool more;
  SIM_TRY(next_record(self, &more));
  const char *text = self->text + (strncmp(self->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0); /* byte order mark */
  bool names = false;
  if (more) SIM_TRY(find_names(self, text, &names));
  if (names) {
    SIM_TRY(next_record(self, &more));
    text = self->text;
  }
  for (size_t capacity = 0; more; (*count)++, text = self->text) {
    if (*count == capacity) {
      capacity = capacity ? 2 * capacity : 1024;
      double *grown = realloc(*rows, capacity * columns * sizeof *grown);
      if (!grown) return sim_no_memory("%s from line %ld on", self->path, self->line);
      *rows = grown;
    }
    SIM_TRY(read_row(self, text, columns, *rows + *count * columns));
    SIM_TRY(next_record(self, &more));
  }
  return *count > 0 ? SIM_OK : sim_fail(SIM_ERR_SCENARIO, "%s: holds no numbers", self->path);
}

sim_status io_read_rows(const char *path, size_t columns, double **rows, size_t *count) {
  io_foreign file;
  reader *self = calloc(1, sizeof *self);
  *rows = NULL;
  *count = 0;
  if (!self) return sim_no_memory("the reader of a text file");
  sim_status status = io_foreign_open(path, &file);
  if (status == SIM_OK) {
    self->path = path;
    self->fd = file.fd;
    status = file.form == IO_FORM_OTHER ? read_rows(self, columns, rows, count)
                                        : sim_fail(SIM_ERR_SCENARIO, "%s: is not a text file of numbers", path);
    io_foreign_close(&file);
  }
  if (status != SIM_OK) {
    free(*rows);
    *rows = NULL;
  }
  free(self);
  return status;
}

sim_status io_csv_read(int fd, const char *path, sim_particles *out, int64_t *count) {
  reader *self = calloc(1, sizeof *self);
  if (!self) return sim_no_memory("the reader of a CSV file");
  self->path = path;
  self->fd = fd;
  sim_status status = read_all(self, out != NULL);
  if (status == SIM_OK) *count = self->count;
  if (status == SIM_OK && out) {
    *out = (sim_particles){.count = self->count, .mass = self->values[0]};
    for (int k = 0; k < 3; k++) {
      out->position[k] = self->values[1 + k];
      out->velocity[k] = self->values[4 + k];
    }
  } else {
    for (int k = 0; k < COLUMNS; k++) free(self->values[k]);
  }
  free(self);
  return status;
}
