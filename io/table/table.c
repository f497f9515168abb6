/* Time series. Rows go to a journal that only grows (io/table/journal.h). tables.h5 is created from the journal at the
 * end, and before that from time to time, in at most 1 % of the run's time. It replaces the old file by a rename, so
 * that a reader always sees a complete file. Attributes of a table's dataset, with one entry per column: columns,
 * units, description, display (text), unitSI (f64). */
#include "io/table/table.h"

#include "engine/log.h"
#include "engine/wall_clock.h"
#include "io/hdf5/h5.h"
#include "io/table/journal.h"
#include "io/seal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "tables.h5"
enum { WAITING_MAX = 4 << 20, TAIL_MAX = 64 << 10, CHUNK_LEAST = 16 << 10, CHUNK_MOST = 1 << 20 };

struct io_tables {
  io_folder *folder;
  const io_provenance *provenance;
  io_journal journal;
  int64_t rows[SIM_TABLES_MAX]; /* rows in the journal or in memory */
  bool changed;                 /* tables.h5 is not up to date */
  io_later_result result;       /* result of writing tables.h5 */
  double written, took;         /* of tables.h5: time of the last writing, and its duration; 0: never written */
};

size_t io_table_count(const sim_sink *table_sink) { return ((const io_tables *)table_sink->self)->journal.count; }

const char *io_table_name(const sim_sink *table_sink, size_t index) {
  return ((const io_tables *)table_sink->self)->journal.tables[index].model->name;
}

int64_t io_table_rows(const sim_sink *table_sink, size_t index) {
  return ((const io_tables *)table_sink->self)->rows[index];
}

/* Rows of one table in the format of a checkpoint. */
typedef struct tail {
  size_t table, width;
  double *rows;
  int64_t count;
} tail;

static sim_status add_to_tail(void *context, size_t table, const void *row) {
  tail *to = context;
  int64_t step;
  if (table != to->table) return SIM_OK;
  double *at = to->rows + (size_t)to->count++ * to->width;
  memcpy(at, row, to->width * IO_WORD);
  memcpy(&step, row, IO_WORD);
  *at = (double)step;
  return SIM_OK;
}

sim_status io_table_tail(const sim_sink *table_sink, size_t index, double **out, int64_t *rows, int64_t *width) {
  const io_tables *self = table_sink->self;
  const io_journal_table *of = &self->journal.tables[index];
  tail t = {.table = index, .width = io_journal_row(of) / IO_WORD};
  *out = NULL;
  *rows = self->rows[index] - of->rows;
  *width = (int64_t)t.width;
  if (*rows == 0) return SIM_OK;
  if (!(*out = t.rows = calloc((size_t)*rows, t.width * IO_WORD))) return sim_no_memory("rows of tables");
  return io_journal_read_waiting(&self->journal, add_to_tail, &t);
}

static sim_status add_row(io_tables *self, size_t table, const void *row) {
  SIM_TRY(io_journal_add(&self->journal, table, row));
  self->rows[table]++;
  self->changed = true;
  return SIM_OK;
}

/* Adds the rows of a frame. A large number of rows is flushed at once instead of staying in memory. */
static sim_status tables_write(void *opaque, const sim_frame *frame) {
  io_tables *self = opaque;
  unsigned char row[(SIM_COLUMNS_MAX + 2) * IO_WORD];
  for (size_t i = 0; i < frame->row_count; i++)
    for (size_t k = 0; k < self->journal.count; k++) {
      const io_journal_table *to = &self->journal.tables[k];
      if (frame->rows[i].table != to->model) continue;
      memcpy(row, &frame->clock.step, IO_WORD);
      memcpy(row + IO_WORD, &frame->clock.t, IO_WORD);
      if (to->columns) memcpy(row + 2 * IO_WORD, frame->rows[i].values, to->columns * IO_WORD);
      SIM_TRY(add_row(self, k, row));
    }
  return self->journal.waiting_bytes > WAITING_MAX ? io_journal_flush(&self->journal) : SIM_OK;
}

/* SIM_ERR_SCENARIO where HDF5 has no place for a table's columns: the type of a row is one message of a header, which
 * takes 52 bytes and the padded name for each. */
static sim_status check_names(const io_journal_table *self) {
  size_t bytes = 256;
  for (size_t i = 0; i < self->columns; i++) bytes += 52 + (strlen(self->model->columns[i].name) / 8 + 1) * 8;
  if (bytes < 65000) return SIM_OK;
  return sim_fail(
      SIM_ERR_SCENARIO,
      "table %s: the names of its %zu columns are too long for HDF5: expected shorter names, or fewer columns",
      self->model->name, self->columns);
}

static hid_t record_type(const io_journal_table *self, bool in_file) {
  hid_t real = in_file ? H5T_IEEE_F64LE : H5T_NATIVE_DOUBLE;
  hid_t type = H5Tcreate(H5T_COMPOUND, io_journal_row(self));
  bool good = type >= 0 && H5Tinsert(type, "step", 0, in_file ? H5T_STD_I64LE : H5T_NATIVE_INT64) >= 0 &&
              H5Tinsert(type, "time", IO_WORD, real) >= 0;
  for (size_t i = 0; good && i < self->columns; i++)
    good = H5Tinsert(type, self->model->columns[i].name, (i + 2) * IO_WORD, real) >= 0;
  if (good) return type;
  if (type >= 0) H5Tclose(type);
  return -1;
}

/* Writes a unit: "1"; "length^2 mass time^-2" without the scenario's units; "3.0857e+16 m s^-1" with them. */
static void unit_text(const sim_units *units, sim_dimension dimension, char *out, size_t capacity) {
  static const char *const plain[] = {"length", "mass", "time"}, *const si[] = {"m", "kg", "s"};
  const int powers[] = {dimension.length, dimension.mass, dimension.time};
  bool given = units && units->given;
  double factor = given ? sim_units_si(units, dimension) : 1;
  int used = 0;
  out[0] = '\0';
  for (int digits = 15; factor != 1 && digits <= 17; digits++) { /* the shortest digits that give this number */
    used = snprintf(out, capacity, "%.*g", digits, factor);
    if (strtod(out, NULL) == factor) break;
  }
  for (int i = 0; i < 3; i++) {
    if (powers[i] == 0) continue;
    used += snprintf(out + used, capacity - (size_t)used, "%s%s", used ? " " : "", (given ? si : plain)[i]);
    if (powers[i] != 1) used += snprintf(out + used, capacity - (size_t)used, "^%d", powers[i]);
  }
  if (used == 0) snprintf(out, capacity, "1");
}

static sim_status write_columns(hid_t dataset, const io_journal_table *self, const sim_units *units) {
  const size_t count = self->columns + 2;
  static const sim_field leading[] = {{.name = "step", .doc = "number of the step"},
                                      {.name = "time", .doc = "time of the simulation", .dimension = {0, 0, 1}}};
  const char *names[SIM_COLUMNS_MAX + 2], *unit[SIM_COLUMNS_MAX + 2], *docs[SIM_COLUMNS_MAX + 2];
  const char *display[SIM_COLUMNS_MAX + 2];
  char text[SIM_COLUMNS_MAX + 2][80];
  double si[SIM_COLUMNS_MAX + 2];
  for (size_t i = 0; i < count; i++) {
    const sim_field *field = i < 2 ? &leading[i] : &self->model->columns[i - 2];
    unit_text(units, field->dimension, text[i], sizeof text[i]);
    names[i] = field->name;
    unit[i] = text[i];
    docs[i] = field->doc ? field->doc : "";
    display[i] = sim_display_names[i < 2 ? SIM_DISPLAY_NUMBER : field->display];
    si[i] = units ? sim_units_si(units, field->dimension) : 1;
  }
  SIM_TRY(io_h5_attr_texts(dataset, "columns", names, count));
  SIM_TRY(io_h5_attr_texts(dataset, "units", unit, count));
  SIM_TRY(io_h5_attr_texts(dataset, "description", docs, count));
  SIM_TRY(io_h5_attr_texts(dataset, "display", display, count));
  return io_h5_attr(dataset, "unitSI", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, si);
}

/* ---- tables.h5 ---- */

/* A dataset to which rows are appended, one chunk at a time. */
typedef struct target {
  hid_t dataset, memory;
  size_t row, chunk; /* bytes of a row, and rows of a chunk */
  hsize_t written;
  size_t count;
  unsigned char *rows; /* [chunk] */
} target;

static sim_status put_chunk(target *to) {
  const hsize_t count = to->count;
  if (count == 0) return SIM_OK;
  hid_t from = H5Screate_simple(1, &count, NULL), space = H5Dget_space(to->dataset);
  const bool good = from >= 0 && space >= 0 &&
                    H5Sselect_hyperslab(space, H5S_SELECT_SET, &to->written, NULL, &count, NULL) >= 0 &&
                    H5Dwrite(to->dataset, to->memory, from, space, H5P_DEFAULT, to->rows) >= 0;
  io_h5_drop(space);
  io_h5_drop(from);
  to->written += count;
  to->count = 0;
  return good ? SIM_OK : sim_fail(SIM_ERR_IO, "HDF5 cannot write rows of tables");
}

static sim_status put_row(void *context, size_t table, const void *row) {
  target *to = &((target *)context)[table];
  memcpy(to->rows + to->count * to->row, row, to->row);
  return ++to->count == to->chunk ? put_chunk(to) : SIM_OK;
}

/* Creates an empty dataset for all rows. Long tables have larger chunks, which keeps their index small. */
static sim_status begin_table(hid_t root, const io_journal_table *self, const sim_units *units, target *out) {
  hsize_t rows = (hsize_t)self->rows, most = H5S_UNLIMITED;
  *out = (target){.dataset = -1, .row = io_journal_row(self)};
  size_t bytes = (size_t)self->rows * out->row / 1024;
  bytes = bytes < CHUNK_LEAST ? CHUNK_LEAST : bytes > CHUNK_MOST ? CHUNK_MOST : bytes;
  const hsize_t chunk = out->chunk = bytes / out->row;
  out->rows = malloc(out->chunk * out->row);
  out->memory = record_type(self, false);
  hid_t type = record_type(self, true), space = H5Screate_simple(1, &rows, &most),
        plist = H5Pcreate(H5P_DATASET_CREATE);
  if (out->rows && out->memory >= 0 && type >= 0 && space >= 0 && plist >= 0 && H5Pset_chunk(plist, 1, &chunk) >= 0 &&
      H5Pset_fletcher32(plist) >= 0)
    out->dataset = H5Dcreate2(root, self->model->name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  const hid_t ids[] = {plist, space, type};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) io_h5_drop(ids[i]);
  if (!out->rows) return sim_no_memory("rows of tables");
  return out->dataset >= 0 ? write_columns(out->dataset, self, units)
                           : sim_fail(SIM_ERR_IO, "HDF5 cannot write table %s", self->model->name);
}

/* Waits until the last file is durable, and fails if it is not. */
static sim_status settle(io_tables *self) {
  io_later_wait_for(self->folder->later, &self->result);
  if (!self->result.failed) return SIM_OK;
  self->result.failed = false;
  self->changed = true;
  self->written = 0;
  return sim_fail(SIM_ERR_IO, "%s", self->result.why);
}

/* Creates tables.h5 from the journal; the file becomes durable in the background. */
static sim_status write_file(io_tables *self) {
  const double begin = sim_wall_clock();
  target targets[SIM_TABLES_MAX];
  io_h5_file file;
  size_t begun = 0;
  (void)!settle(self); /* the file in progress has the same temporary name */
  SIM_TRY(io_h5_begin(self->folder->root, self->folder->path, FILE_NAME, true, &file));
  sim_status status = SIM_OK;
  for (; status == SIM_OK && begun < self->journal.count; begun++)
    status = begin_table(file.id, &self->journal.tables[begun], self->provenance->units, &targets[begun]);
  if (status == SIM_OK) status = io_journal_read(&self->journal, put_row, targets);
  for (size_t i = 0; status == SIM_OK && i < begun; i++) status = put_chunk(&targets[i]);
  for (size_t i = 0; i < begun; i++) {
    io_h5_drop(targets[i].dataset);
    io_h5_drop(targets[i].memory);
    free(targets[i].rows);
  }
  if (status == SIM_OK) status = io_provenance_write(file.id, self->provenance);
  SIM_TRY(io_h5_finish(&file, status));
  io_later_add(self->folder->later, &file.file, NULL, &self->result);
  self->changed = self->journal.waiting_bytes > 0;
  self->written = sim_wall_clock();
  self->took = self->written - begin;
  return SIM_OK;
}

static sim_status tables_flush(void *opaque) {
  io_tables *self = opaque;
  SIM_TRY(io_journal_flush(&self->journal));
  if (self->changed && !(self->written > 0 && sim_wall_clock() - self->written < 100 * self->took))
    SIM_TRY(write_file(self));
  return settle(self);
}

/* Flushes the journal if many rows wait; the checkpoint stores the others. */
void io_table_shorten(const sim_sink *table_sink) {
  io_tables *self = table_sink->self;
  if (self->journal.waiting_bytes > TAIL_MAX)
    (void)!io_journal_flush(&self->journal); /* tables_flush reports failures */
}

static sim_status tables_finish(void *opaque) {
  io_tables *self = opaque;
  SIM_TRY(io_journal_flush(&self->journal));
  return self->changed ? write_file(self) : SIM_OK;
}

void io_table_renew(sim_sink *table_sink) { ((io_tables *)table_sink->self)->changed = true; }

/* Rows that are not durable by now could not be written; they are in the last checkpoint. */
static void tables_destroy(void **opaque) {
  io_tables *self = *opaque;
  if (self) {
    const sim_error cause = *sim_error_last();
    if (self->changed && self->journal.waiting_bytes == 0 && write_file(self) != SIM_OK)
      sim_log(SIM_LOG_WARN, "%s", sim_error_last()->message);
    (void)!settle(self);
    if (cause.status != SIM_OK) sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
    io_journal_close(&self->journal, !self->changed);
    free(self->journal.waiting);
  }
  free(self);
  *opaque = NULL;
}

sim_status io_table_sink(io_folder *folder, const io_provenance *provenance, const sim_table *const *tables,
                         sim_cadence cadence, sim_sink *out) {
  size_t count = 0;
  for (; tables && tables[count]; count++) {
    size_t columns = 0;
    while (tables[count]->columns[columns].name) columns++;
    if (columns > SIM_COLUMNS_MAX || count == SIM_TABLES_MAX)
      return sim_fail(SIM_ERR_INTERNAL, "table %s is one too many or has more than %d columns", tables[count]->name,
                      SIM_COLUMNS_MAX);
  }
  io_tables *self = calloc(1, sizeof *self);
  if (!self) return sim_no_memory("rows of tables");
  self->folder = folder;
  self->provenance = provenance;
  self->journal.folder = folder;
  self->journal.fd = -1;
  self->journal.count = count;
  for (size_t i = 0; i < count; i++) {
    io_journal_table *to = &self->journal.tables[i];
    to->model = tables[i];
    while (tables[i]->columns[to->columns].name) to->columns++;
    SIM_TRY(check_names(to));
  }
  *out = (sim_sink){.name = "tables",
                    .kind = SIM_SINK_TABLE,
                    .cadence = cadence,
                    .self = self,
                    .write = tables_write,
                    .flush = tables_flush,
                    .finish = tables_finish,
                    .destroy = tables_destroy};
  return SIM_OK;
}

/* ---- restart ---- */

/* Adds the first rows of a table in an earlier tables.h5, at most `wanted`. */
static sim_status read_table(const io_h5_source *source, hid_t root, io_tables *to, size_t index, int64_t wanted) {
  enum { SOME = 512 };
  const io_journal_table *self = &to->journal.tables[index];
  hid_t dataset;
  io_h5_shape shape;
  SIM_TRY(io_h5_open(source, root, self->model->name, &dataset));
  sim_status status = io_h5_check(source, dataset, self->model->name, false, &shape);
  hid_t expected = record_type(self, true), memory = record_type(self, false);
  hid_t found = status == SIM_OK ? H5Dget_type(dataset) : -1;
  if (status == SIM_OK && (shape.rank != 1 || expected < 0 || H5Tequal(expected, found) <= 0))
    status = io_h5_refuse(source, self->model->name, "has other columns than the model's table");
  const hsize_t rows = status == SIM_OK && shape.shape[0] < wanted ? (hsize_t)shape.shape[0] : (hsize_t)wanted;
  const size_t size = io_journal_row(self);
  unsigned char *block = malloc(SOME * size);
  if (!block) status = sim_no_memory("rows of tables");
  for (hsize_t at = 0; status == SIM_OK && at < rows; at += SOME) {
    hsize_t count = rows - at < SOME ? rows - at : SOME;
    hid_t from = H5Dget_space(dataset), space = H5Screate_simple(1, &count, NULL);
    bool good = from >= 0 && space >= 0 && H5Sselect_hyperslab(from, H5S_SELECT_SET, &at, NULL, &count, NULL) >= 0 &&
                H5Dread(dataset, memory, space, from, H5P_DEFAULT, block) >= 0;
    io_h5_drop(from);
    io_h5_drop(space);
    if (!good) status = io_h5_refuse(source, self->model->name, "cannot be read");
    for (hsize_t i = 0; status == SIM_OK && i < count; i++) status = add_row(to, index, block + i * size);
    if (status == SIM_OK && to->journal.waiting_bytes > WAITING_MAX) status = io_journal_flush(&to->journal);
  }
  free(block);
  const hid_t ids[] = {found, memory, expected, dataset};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) io_h5_drop(ids[i]);
  return status;
}

/* Index of this table in the checkpoint; -1: not there. */
static int find(const io_checkpoint *checkpoint, const io_journal_table *self) {
  for (size_t i = 0; i < checkpoint->table_count; i++)
    if (strcmp(checkpoint->tables[i].name, self->model->name) == 0) return (int)i;
  return -1;
}

/* Number of rows of a table that the files should hold, without those that only the checkpoint has. */
static int64_t wanted_rows(const io_checkpoint *checkpoint, const io_journal_table *self) {
  int i = find(checkpoint, self);
  return i < 0 ? 0 : checkpoint->tables[i].rows - checkpoint->tables[i].tail_rows;
}

static sim_status add_tail(io_tables *self, size_t table, const io_checkpoint *checkpoint) {
  const io_journal_table *to = &self->journal.tables[table];
  const int index = find(checkpoint, to);
  const size_t width = io_journal_row(to) / IO_WORD,
               count = index < 0 ? 0 : (size_t)checkpoint->tables[index].tail_rows;
  unsigned char row[(SIM_COLUMNS_MAX + 2) * IO_WORD];
  if (count == 0) return SIM_OK;
  if ((size_t)checkpoint->tables[index].tail_width != width) {
    sim_log(SIM_LOG_WARN, "%s: table %s has other columns than the model's: its last %zu rows are lost",
            checkpoint->path, to->model->name, count);
    return SIM_OK;
  }
  for (size_t i = 0; i < count; i++) {
    const double *from = checkpoint->tables[index].tail + i * width;
    const int64_t step = (int64_t)from[0];
    memcpy(row, &step, IO_WORD);
    memcpy(row + IO_WORD, from + 1, (width - 1) * IO_WORD);
    SIM_TRY(add_row(self, table, row));
  }
  return SIM_OK;
}

/* Reads the rows of tables.h5. *failed: the file exists but could not be opened this time. */
static sim_status read_file(io_tables *self, const io_checkpoint *checkpoint, const char *path, bool *failed) {
  const io_h5_source source = {path, SIM_ERR_INCOMPATIBLE};
  int fd;
  off_t size;
  const sim_status opened = io_file_open(self->folder->root, FILE_NAME, path, &fd, &size);
  *failed = opened == SIM_ERR_IO || opened == SIM_ERR_PERMISSION;
  SIM_TRY(opened);
  sim_status status = io_seal_check(fd, size, path);
  io_vfd *vfd = NULL;
  hid_t root = status == SIM_OK ? io_vfd_open(fd, path, &vfd) : -1;
  if (status == SIM_OK && root < 0) status = sim_fail(SIM_ERR_INCOMPATIBLE, "%s: HDF5 cannot open it", path);
  for (size_t i = 0; status == SIM_OK && i < self->journal.count; i++) {
    const int64_t wanted = wanted_rows(checkpoint, &self->journal.tables[i]);
    if (wanted > 0) status = read_table(&source, root, self, i, wanted);
  }
  if (vfd) (void)io_vfd_close(root, &vfd);
  (void)close(fd);
  return status;
}

static void drop_rows(io_tables *self) {
  self->journal.waiting_bytes = 0;
  io_journal_close(&self->journal, true);
  memset(self->rows, 0, sizeof self->rows);
}

/* Reads the damaged journal again, up to the damage. */
static sim_status read_again(io_tables *self, const int64_t *wanted) {
  int64_t found = 0;
  drop_rows(self);
  if (renameat(self->folder->root, "tables.rows.bad", self->folder->root, "tables.rows") != 0)
    return sim_fail(SIM_ERR_IO, "%s/tables.rows.bad: %s", self->folder->path, strerror(errno));
  SIM_TRY(io_journal_resume(&self->journal, wanted));
  for (size_t i = 0; i < self->journal.count; i++) found += self->rows[i] = self->journal.tables[i].rows;
  sim_log(SIM_LOG_WARN, "%s/tables.rows: damaged after %lld rows: the tables continue from these", self->folder->path,
          (long long)found);
  return SIM_OK;
}

static sim_status cannot_keep(const io_tables *self, int error) {
  return sim_fail(SIM_ERR_IO, "%s/tables.rows: cannot be kept as tables.rows.bad: %s", self->folder->path,
                  strerror(error));
}

/* Reads the rows of the files. A killed run leaves its journal; a finished run leaves tables.h5, from which a new
 * journal is created. *failed: one of the files exists but could not be read this time, and nothing was changed. */
static sim_status read_rows(io_tables *self, const io_checkpoint *checkpoint, const char *path, bool any,
                            bool *failed) {
  int64_t wanted[SIM_TABLES_MAX];
  bool all = true;
  for (size_t i = 0; i < self->journal.count; i++) wanted[i] = wanted_rows(checkpoint, &self->journal.tables[i]);
  const int root = self->folder->root;
  sim_status status = io_journal_resume(&self->journal, wanted);
  *failed = status != SIM_OK && status != SIM_ERR_NO_INPUT && status != SIM_ERR_INCOMPATIBLE;
  if (*failed) return status;
  if (status == SIM_ERR_INCOMPATIBLE && renameat(root, "tables.rows", root, "tables.rows.bad") != 0) {
    *failed = true;
    return cannot_keep(self, errno);
  }
  if (status == SIM_ERR_INCOMPATIBLE) sim_log(SIM_LOG_WARN, "%s; kept as tables.rows.bad", sim_error_last()->message);
  for (size_t i = 0; i < self->journal.count; i++) {
    self->rows[i] = self->journal.tables[i].rows;
    if (self->rows[i] < wanted[i]) all = false;
  }
  if (status == SIM_OK && all) return SIM_OK;
  if (!any) return SIM_OK;
  int64_t found = 0;
  for (size_t i = 0; i < self->journal.count; i++) found += self->rows[i];
  /* the damaged journal may have more rows than tables.h5 */
  const bool some = found > 0;
  if (some && renameat(root, "tables.rows", root, "tables.rows.bad") != 0) {
    *failed = true;
    status = cannot_keep(self, errno);
    io_journal_close(&self->journal, false);
    return status;
  }
  drop_rows(self);
  status = read_file(self, checkpoint, path, failed);
  if (*failed) {
    if (some) (void)renameat(root, "tables.rows.bad", root, "tables.rows");
    return status;
  }
  for (size_t i = 0; i < self->journal.count; i++) found -= self->rows[i];
  const bool more = status == SIM_OK ? found > 0 : status != SIM_ERR_NO_MEMORY;
  if (some && more) {
    status = read_again(self, wanted);
    *failed = status != SIM_OK;
    return status;
  }
  if (some)
    sim_log(SIM_LOG_WARN, "%s/tables.rows: damaged: kept as tables.rows.bad; the tables continue from tables.h5",
            self->folder->path);
  if (status == SIM_OK) status = io_journal_flush(&self->journal);
  return status == SIM_ERR_IO ? SIM_OK : status; /* rows that could not be written yet stay in memory */
}

sim_status io_table_resume(sim_sink *table_sink, const io_checkpoint *checkpoint) {
  io_tables *self = table_sink->self;
  char path[sizeof self->folder->path + 16];
  snprintf(path, sizeof path, "%s/" FILE_NAME, self->folder->path);
  bool wanted = false;
  for (size_t i = 0; i < self->journal.count; i++)
    if (wanted_rows(checkpoint, &self->journal.tables[i]) > 0) wanted = true;
  bool failed = false;
  sim_status status = read_rows(self, checkpoint, path, wanted, &failed);
  if (failed || status == SIM_ERR_NO_MEMORY) return status;
  self->changed = true; /* the next flush removes later rows from the file */
  if (status != SIM_OK) {
    sim_log(SIM_LOG_WARN, "tables lost their earlier rows: %s", sim_error_last()->message);
    if (status != SIM_ERR_NO_INPUT) (void)renameat(self->folder->root, FILE_NAME, self->folder->root, FILE_NAME ".bad");
    drop_rows(self);
  }
  for (size_t i = 0; i < self->journal.count; i++) {
    const io_journal_table *is = &self->journal.tables[i];
    const int64_t rows = wanted_rows(checkpoint, is);
    if (status == SIM_OK && self->rows[i] < rows)
      sim_log(SIM_LOG_WARN, "%s: table %s has %lld rows, %lld were written before the checkpoint: the rest is lost",
              path, is->model->name, (long long)self->rows[i], (long long)rows);
    SIM_TRY(add_tail(self, i, checkpoint));
  }
  return SIM_OK;
}
