/* Time series. Rows are kept in memory and the file is written anew at each flush, by rename: a reader always sees a
 * whole one. Attributes of a table's dataset, one entry a column: columns, units, description (text), unitSI (f64). */
#include "io/table.h"

#include "engine/log.h"
#include "io/h5.h"
#include "io/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "tables.h5"
enum { WORD = 8 }; /* a record is int64 step, f64 time and the columns, 8 bytes each */

typedef struct table {
  const sim_table *model;
  size_t columns;      /* beside step and time */
  unsigned char *data; /* [rows] records */
  size_t rows, capacity;
  size_t durable; /* the first rows of the file are these */
} table;

struct io_tables {
  io_folder *folder;
  const io_provenance *provenance;
  table tables[SIM_TABLES_MAX];
  size_t count;
  bool changed;
};

static size_t record_size(const table *self) { return (self->columns + 2) * WORD; }

size_t io_table_count(const sim_sink *table_sink) { return ((const io_tables *)table_sink->self)->count; }

const char *io_table_name(const sim_sink *table_sink, size_t index) {
  return ((const io_tables *)table_sink->self)->tables[index].model->name;
}

int64_t io_table_rows(const sim_sink *table_sink, size_t index) {
  return (int64_t)((const io_tables *)table_sink->self)->tables[index].rows;
}

sim_status io_table_tail(const sim_sink *table_sink, size_t index, double **out, int64_t *rows, int64_t *width) {
  const table *self = &((const io_tables *)table_sink->self)->tables[index];
  const size_t size = record_size(self), count = self->rows - self->durable;
  *out = NULL;
  *rows = (int64_t)count;
  *width = (int64_t)(size / WORD);
  if (count == 0) return SIM_OK;
  if (!(*out = malloc(count * size))) return sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
  memcpy(*out, self->data + self->durable * size, count * size);
  for (size_t i = 0; i < count; i++) {
    int64_t step;
    memcpy(&step, self->data + (self->durable + i) * size, WORD);
    (*out)[i * (size / WORD)] = (double)step;
  }
  return SIM_OK;
}

static sim_status reserve(table *self, size_t rows) {
  if (rows <= self->capacity) return SIM_OK;
  size_t capacity = self->capacity ? self->capacity : 64;
  while (capacity < rows) capacity *= 2;
  unsigned char *data = realloc(self->data, capacity * record_size(self));
  if (!data) return sim_fail(SIM_ERR_NO_MEMORY, "out of memory: table %s has %zu rows", self->model->name, rows);
  self->data = data;
  self->capacity = capacity;
  return SIM_OK;
}

static sim_status tables_write(void *opaque, const sim_frame *frame) {
  io_tables *self = opaque;
  for (size_t i = 0; i < frame->row_count; i++)
    for (size_t k = 0; k < self->count; k++) {
      table *to = &self->tables[k];
      if (frame->rows[i].table != to->model) continue;
      SIM_TRY(reserve(to, to->rows + 1));
      unsigned char *record = to->data + to->rows * record_size(to);
      memcpy(record, &frame->clock.step, WORD);
      memcpy(record + WORD, &frame->clock.t, WORD);
      if (to->columns) memcpy(record + 2 * WORD, frame->rows[i].values, to->columns * WORD);
      to->rows++;
      self->changed = true;
    }
  return SIM_OK;
}

static hid_t record_type(const table *self, bool in_file) {
  hid_t real = in_file ? H5T_IEEE_F64LE : H5T_NATIVE_DOUBLE;
  hid_t type = H5Tcreate(H5T_COMPOUND, record_size(self));
  bool good = type >= 0 && H5Tinsert(type, "step", 0, in_file ? H5T_STD_I64LE : H5T_NATIVE_INT64) >= 0 &&
              H5Tinsert(type, "time", WORD, real) >= 0;
  for (size_t i = 0; good && i < self->columns; i++)
    good = H5Tinsert(type, self->model->columns[i].name, (i + 2) * WORD, real) >= 0;
  if (good) return type;
  if (type >= 0) H5Tclose(type);
  return -1;
}

/* "1"; "length^2 mass time^-2" in the scenario's own units; "3.0857e+16 m s^-1" where these are stated. */
static void unit_text(const sim_units *units, sim_dimension dimension, char *out, size_t capacity) {
  static const char *const plain[] = {"length", "mass", "time"}, *const si[] = {"m", "kg", "s"};
  const int powers[] = {dimension.length, dimension.mass, dimension.time};
  bool given = units && units->given;
  double factor = given ? sim_units_si(units, dimension) : 1;
  int used = 0;
  out[0] = '\0';
  for (int digits = 15; factor != 1 && digits <= 17; digits++) { /* the shortest that is this number */
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

static sim_status write_columns(hid_t dataset, const table *self, const sim_units *units) {
  const size_t count = self->columns + 2;
  static const sim_field leading[] = {{.name = "step", .doc = "number of the step"},
                                      {.name = "time", .doc = "time of the simulation", .dimension = {0, 0, 1}}};
  const char *names[SIM_COLUMNS_MAX + 2], *unit[SIM_COLUMNS_MAX + 2], *docs[SIM_COLUMNS_MAX + 2];
  char text[SIM_COLUMNS_MAX + 2][80];
  double si[SIM_COLUMNS_MAX + 2];
  for (size_t i = 0; i < count; i++) {
    const sim_field *field = i < 2 ? &leading[i] : &self->model->columns[i - 2];
    unit_text(units, field->dimension, text[i], sizeof text[i]);
    names[i] = field->name;
    unit[i] = text[i];
    docs[i] = field->doc ? field->doc : "";
    si[i] = units ? sim_units_si(units, field->dimension) : 1;
  }
  SIM_TRY(io_h5_attr_texts(dataset, "columns", names, count));
  SIM_TRY(io_h5_attr_texts(dataset, "units", unit, count));
  SIM_TRY(io_h5_attr_texts(dataset, "description", docs, count));
  return io_h5_attr(dataset, "unitSI", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, si);
}

static sim_status write_table(hid_t root, const table *self, const sim_units *units) {
  hsize_t rows = self->rows, most = H5S_UNLIMITED, chunk = 16384 / record_size(self);
  hid_t in_file = record_type(self, true), in_memory = record_type(self, false);
  hid_t space = H5Screate_simple(1, &rows, &most), plist = H5Pcreate(H5P_DATASET_CREATE), dataset = -1;
  bool good = in_file >= 0 && in_memory >= 0 && space >= 0 && plist >= 0 && H5Pset_chunk(plist, 1, &chunk) >= 0 &&
              H5Pset_fletcher32(plist) >= 0;
  if (good) dataset = H5Dcreate2(root, self->model->name, in_file, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  good = dataset >= 0;
  if (good && rows > 0) good = H5Dwrite(dataset, in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, self->data) >= 0;
  sim_status status = good ? write_columns(dataset, self, units)
                           : sim_fail(SIM_ERR_IO, "HDF5 cannot write table %s", self->model->name);
  const hid_t ids[] = {dataset, plist, space, in_memory, in_file};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) io_h5_drop(ids[i]);
  return status;
}

static sim_status tables_flush(void *opaque) {
  io_tables *self = opaque;
  io_h5_file file;
  if (!self->changed) return SIM_OK;
  SIM_TRY(io_h5_begin(self->folder->root, self->folder->path, FILE_NAME, true, &file));
  sim_status status = SIM_OK;
  for (size_t i = 0; status == SIM_OK && i < self->count; i++)
    status = write_table(file.id, &self->tables[i], self->provenance->units);
  if (status == SIM_OK) status = io_provenance_write(file.id, self->provenance);
  SIM_TRY(io_h5_finish(&file, status));
  for (size_t i = 0; i < self->count; i++) self->tables[i].durable = self->tables[i].rows;
  self->changed = false;
  return SIM_OK;
}

void io_table_renew(sim_sink *table_sink) { ((io_tables *)table_sink->self)->changed = true; }

static void tables_destroy(void **opaque) {
  io_tables *self = *opaque;
  for (size_t i = 0; self && i < self->count; i++) free(self->tables[i].data);
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
  if (!self) return sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
  self->folder = folder;
  self->provenance = provenance;
  self->count = count;
  for (size_t i = 0; i < count; i++) {
    self->tables[i].model = tables[i];
    while (tables[i]->columns[self->tables[i].columns].name) self->tables[i].columns++;
  }
  *out = (sim_sink){.name = "tables",
                    .kind = SIM_SINK_TABLE,
                    .cadence = cadence,
                    .self = self,
                    .write = tables_write,
                    .flush = tables_flush,
                    .destroy = tables_destroy};
  return SIM_OK;
}

/* The first `wanted` rows of a table, or as many as there are. */
static sim_status read_table(const io_h5_source *source, hid_t root, table *self, size_t wanted) {
  hid_t dataset;
  io_h5_shape shape;
  SIM_TRY(io_h5_open(source, root, self->model->name, &dataset));
  sim_status status = io_h5_check(source, dataset, self->model->name, false, &shape);
  hid_t expected = record_type(self, true), memory = record_type(self, false);
  hid_t found = status == SIM_OK ? H5Dget_type(dataset) : -1;
  if (status == SIM_OK && (shape.rank != 1 || expected < 0 || H5Tequal(expected, found) <= 0))
    status = io_h5_refuse(source, self->model->name, "has other columns than the model's table");
  size_t rows = status == SIM_OK && (uint64_t)shape.shape[0] < wanted ? (size_t)shape.shape[0] : wanted;
  if (status == SIM_OK) status = reserve(self, rows);
  if (status == SIM_OK && rows > 0) {
    hsize_t start = 0, count = rows;
    hid_t from = H5Dget_space(dataset), to = H5Screate_simple(1, &count, NULL);
    bool good = from >= 0 && to >= 0 && H5Sselect_hyperslab(from, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0 &&
                H5Dread(dataset, memory, to, from, H5P_DEFAULT, self->data) >= 0;
    io_h5_drop(from);
    io_h5_drop(to);
    if (!good) status = io_h5_refuse(source, self->model->name, "cannot be read");
  }
  if (status == SIM_OK) self->rows = self->durable = rows;
  const hid_t ids[] = {found, memory, expected, dataset};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) io_h5_drop(ids[i]);
  return status;
}

/* Where the checkpoint has this table, or -1. */
static int find(const io_checkpoint *checkpoint, const table *self) {
  for (size_t i = 0; i < checkpoint->table_count; i++)
    if (strcmp(checkpoint->tables[i].name, self->model->name) == 0) return (int)i;
  return -1;
}

/* Rows that are to be in the file. */
static size_t wanted_rows(const io_checkpoint *checkpoint, const table *self) {
  int i = find(checkpoint, self);
  return i < 0 ? 0 : (size_t)(checkpoint->tables[i].rows - checkpoint->tables[i].tail_rows);
}

static sim_status add_tail(table *self, const io_checkpoint *checkpoint) {
  int index = find(checkpoint, self);
  const size_t size = record_size(self), count = index < 0 ? 0 : (size_t)checkpoint->tables[index].tail_rows;
  if (count == 0) return SIM_OK;
  if ((size_t)checkpoint->tables[index].tail_width != size / WORD) {
    sim_log(SIM_LOG_WARN, "%s: table %s has other columns than the model's: its last %zu rows are lost",
            checkpoint->path, self->model->name, count);
    return SIM_OK;
  }
  SIM_TRY(reserve(self, self->rows + count));
  for (size_t i = 0; i < count; i++) {
    const double *row = checkpoint->tables[index].tail + i * (size / WORD);
    const int64_t step = (int64_t)row[0];
    unsigned char *record = self->data + (self->rows + i) * size;
    memcpy(record, &step, WORD);
    memcpy(record + WORD, row + 1, size - WORD);
  }
  self->rows += count;
  return SIM_OK;
}

static sim_status read_file(io_tables *self, const io_checkpoint *checkpoint, const char *path) {
  const io_h5_source source = {path, SIM_ERR_INCOMPATIBLE};
  int fd;
  off_t size;
  SIM_TRY(io_file_open(self->folder->root, FILE_NAME, path, &fd, &size));
  sim_status status = io_seal_check(fd, size, path);
  io_vfd *vfd = NULL;
  hid_t root = status == SIM_OK ? io_vfd_open(fd, path, &vfd) : -1;
  if (status == SIM_OK && root < 0) status = sim_fail(SIM_ERR_INCOMPATIBLE, "%s: HDF5 cannot open it", path);
  for (size_t i = 0; status == SIM_OK && i < self->count; i++) {
    size_t wanted = wanted_rows(checkpoint, &self->tables[i]);
    if (wanted > 0) status = read_table(&source, root, &self->tables[i], wanted);
  }
  if (vfd) (void)io_vfd_close(root, &vfd);
  (void)close(fd);
  return status;
}

sim_status io_table_resume(sim_sink *table_sink, const io_checkpoint *checkpoint) {
  io_tables *self = table_sink->self;
  char path[sizeof self->folder->path + 16];
  snprintf(path, sizeof path, "%s/" FILE_NAME, self->folder->path);
  bool wanted = false;
  for (size_t i = 0; i < self->count; i++)
    if (wanted_rows(checkpoint, &self->tables[i]) > 0) wanted = true;
  sim_status status = read_file(self, checkpoint, path);
  if (status == SIM_ERR_NO_MEMORY) return status;
  self->changed = true; /* rows behind the checkpoint leave the file at the next flush */
  const bool lost = status != SIM_OK && (status != SIM_ERR_NO_INPUT || wanted);
  if (lost) {
    sim_log(SIM_LOG_WARN, "tables lost their earlier rows: %s", sim_error_last()->message);
    if (status != SIM_ERR_NO_INPUT) (void)renameat(self->folder->root, FILE_NAME, self->folder->root, FILE_NAME ".bad");
  }
  for (size_t i = 0; i < self->count; i++) {
    if (lost) self->tables[i].durable = 0;
    table *is = &self->tables[i];
    size_t rows = wanted_rows(checkpoint, is);
    if (status == SIM_OK && is->rows < rows)
      sim_log(SIM_LOG_WARN, "%s: table %s has %zu rows, %zu were written before the checkpoint: the rest is lost", path,
              is->model->name, is->rows, rows);
    SIM_TRY(add_tail(is, checkpoint));
  }
  return SIM_OK;
}
