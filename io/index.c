/* The layout is VTKHDF 2.0, UnstructuredGrid, with one poly-vertex cell a step. Points and point data are virtual
 * datasets over the snapshots' own; where a snapshot has been removed they read as NaN. */
#include "io/index.h"

#include "io/h5.h"
#include "io/snapshot.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct record {
  const char *name;
  sim_dtype dtype;
  int components;    /* 1 or 3 */
  uint64_t constant; /* bit k: one value for all of species k, so that there is no dataset to point to */
} record;

typedef struct entry {
  int64_t step;
  double time;
} entry;

struct io_index {
  io_folder *folder;
  const io_provenance *provenance;
  entry *entries; /* by step; all with the same particles */
  size_t count, capacity;
  sim_species species[SIM_SPECIES_MAX];
  size_t species_count;
  record records[SIM_ARRAYS_MAX];
  size_t record_count;
  size_t written; /* entries in the files */
  bool scanned, changed;
};

static const char *const axes[] = {"x", "y", "z"};

io_index *io_index_create(io_folder *folder, const io_provenance *provenance) {
  io_index *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->folder = folder;
  self->provenance = provenance;
  return self;
}

void io_index_destroy(io_index **index) {
  if (!*index) return;
  free((*index)->entries);
  free(*index);
  *index = NULL;
}

static sim_status append(io_index *self, entry added) {
  if (self->count == self->capacity) {
    size_t capacity = self->capacity ? 2 * self->capacity : 64;
    entry *more = realloc(self->entries, capacity * sizeof *more);
    if (!more) return sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
    self->entries = more;
    self->capacity = capacity;
  }
  self->entries[self->count++] = added;
  return SIM_OK;
}

/* Time of an earlier snapshot that holds the same particles. */
static bool examine(const io_index *self, int64_t step, double *time) {
  char name[64], path[4300], object[192];
  int fd;
  off_t size;
  io_vfd *vfd;
  snprintf(name, sizeof name, IO_SNAPSHOT_NAME, (long long)step);
  snprintf(path, sizeof path, "%s/%s", self->folder->snap_path, name);
  if (io_file_open(self->folder->snap, name, path, &fd, &size) != SIM_OK) return false;
  const io_h5_source source = {path, SIM_ERR_IO};
  hid_t group = -1, root = io_vfd_open(fd, path, &vfd);
  snprintf(object, sizeof object, "/data/%lld", (long long)step);
  if (root >= 0) group = H5Gopen2(root, object, H5P_DEFAULT);
  bool good = group >= 0 && io_h5_get(&source, group, "time", SIM_F64, 1, time) == SIM_OK;
  for (size_t i = 0; good && i < self->species_count; i++) {
    io_h5_shape shape;
    snprintf(object, sizeof object, "particles/%s/position/x", self->species[i].name);
    hid_t dataset = H5Dopen2(group, object, H5P_DEFAULT);
    good = dataset >= 0 && io_h5_check(&source, dataset, object, true, &shape) == SIM_OK && shape.rank == 1 &&
           shape.shape[0] == self->species[i].count;
    io_h5_drop(dataset);
  }
  io_h5_drop(group);
  (void)io_vfd_close(root, &vfd);
  (void)close(fd);
  return good;
}

static sim_status scan(io_index *self, int64_t before) {
  int64_t *steps;
  size_t count;
  SIM_TRY(io_list_steps(self->folder->snap, self->folder->snap_path, "snap_", &steps, &count));
  sim_status status = SIM_OK;
  for (size_t i = count; status == SIM_OK && i-- > 0;) {
    entry found = {.step = steps[i]};
    if (found.step < before && examine(self, found.step, &found.time)) status = append(self, found);
  }
  free(steps);
  self->scanned = true;
  return status;
}

static void read_species(io_index *self, const sim_frame *frame) {
  bool same = true;
  size_t count = 0;
  for (size_t i = 0; i < frame->species_count; i++) {
    const sim_species *from = &frame->species[i];
    if (from->count == 0) continue;
    sim_species *to = &self->species[count];
    same = same && count < self->species_count && strcmp(to->name, from->name) == 0 && to->count == from->count;
    self->species[count++] = *from;
  }
  if (!same || count != self->species_count) self->count = 0;
  self->species_count = count;
}

static void read_records(io_index *self, const sim_frame *frame) {
  self->record_count = 0;
  for (size_t i = 0; i < frame->array_count; i++) {
    const sim_array *array = &frame->arrays[i];
    int components = io_record_components(frame, array);
    if (components == 0) continue;
    record *to = &self->records[self->record_count++];
    *to = (record){array->field->name, array->dtype, components, 0};
    for (size_t k = 0; components == 1 && k < self->species_count; k++)
      if (io_record_is_constant(array, &self->species[k])) to->constant |= (uint64_t)1 << k;
  }
}

sim_status io_index_add(io_index *self, const sim_frame *frame) {
  read_species(self, frame);
  read_records(self, frame);
  if (!self->scanned) SIM_TRY(scan(self, frame->clock.step));
  while (self->count > 0 && self->entries[self->count - 1].step >= frame->clock.step) self->count--;
  self->changed = true;
  return append(self, (entry){frame->clock.step, frame->clock.t});
}

/* Maps row `row` of all snapshots onto column `row` of a virtual dataset. */
static bool map_row(const io_index *self, hid_t plist, hid_t target, const char *species, const record *from, int row,
                    hsize_t n) {
  const hsize_t size[2] = {n, 1};
  hid_t source = H5Screate_simple(1, &n, NULL);
  bool good = source >= 0;
  for (size_t i = 0; good && i < self->count; i++) {
    char file[64], name[256];
    const hsize_t start[2] = {i * n, (hsize_t)row};
    long long step = (long long)self->entries[i].step;
    snprintf(file, sizeof file, "snap/" IO_SNAPSHOT_NAME, step);
    int used = snprintf(name, sizeof name, "/data/%lld/particles/%s/%s", step, species, from->name);
    if (from->components == 3) snprintf(name + used, sizeof name - (size_t)used, "/%s", axes[row]);
    good = H5Sselect_hyperslab(target, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
           H5Pset_virtual(plist, target, file, name, source) >= 0;
  }
  io_h5_drop(source);
  return good;
}

static sim_status write_virtual(const io_index *self, hid_t parent, const char *name, const char *species,
                                const record *from, hsize_t n) {
  const hsize_t shape[2] = {self->count * n, 3};
  const double missing = NAN;
  hid_t plist = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(from->components == 3 ? 2 : 1, shape, NULL);
  bool good = plist >= 0 && space >= 0;
  if (good && (from->dtype == SIM_F32 || from->dtype == SIM_F64))
    good = H5Pset_fill_value(plist, H5T_NATIVE_DOUBLE, &missing) >= 0;
  for (int row = 0; good && row < from->components; row++) good = map_row(self, plist, space, species, from, row, n);
  hid_t type = io_h5_file_type(from->dtype), set = -1;
  if (good && H5Sselect_all(space) >= 0) set = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  const hid_t ids[] = {set, space, plist};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) io_h5_drop(ids[i]);
  return set >= 0 ? SIM_OK : sim_fail(SIM_ERR_IO, "HDF5 cannot write %s", name);
}

/* first + i * step, for i < count; compressed to almost nothing where it is long. */
static sim_status write_sequence(hid_t parent, const char *name, hsize_t count, int64_t first, int64_t step) {
  enum { BLOCK = 8192 };
  int64_t values[BLOCK];
  const hsize_t chunk = BLOCK;
  hid_t plist = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &count, NULL), set = -1;
  bool good = plist >= 0 && space >= 0;
  if (good && count > BLOCK && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
    good = H5Pset_chunk(plist, 1, &chunk) >= 0 && H5Pset_shuffle(plist) >= 0 && H5Pset_deflate(plist, 1) >= 0;
  if (good) set = H5Dcreate2(parent, name, H5T_STD_I64LE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  good = set >= 0;
  for (hsize_t at = 0; good && at < count; at += BLOCK) {
    const hsize_t some = count - at < BLOCK ? count - at : BLOCK;
    for (hsize_t i = 0; i < some; i++) values[i] = first + (int64_t)(at + i) * step;
    hid_t part = H5Screate_simple(1, &some, NULL);
    good = part >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &some, NULL) >= 0 &&
           H5Dwrite(set, H5T_NATIVE_INT64, part, space, H5P_DEFAULT, values) >= 0;
    io_h5_drop(part);
  }
  const hid_t ids[] = {set, space, plist};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) io_h5_drop(ids[i]);
  return good ? SIM_OK : sim_fail(SIM_ERR_IO, "HDF5 cannot write %s", name);
}

/* Where each step begins in the arrays above. */
static sim_status write_steps(const io_index *self, hid_t group, hsize_t n) {
  const hsize_t count = self->count;
  double *times = malloc(self->count * sizeof *times);
  hid_t offsets;
  if (!times) return sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
  for (size_t i = 0; i < self->count; i++) times[i] = self->entries[i].time;
  sim_status status = io_h5_dataset(group, "Values", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, &count, NULL, times, NULL);
  free(times);
  if (status != SIM_OK) return status;
  SIM_TRY(io_h5_attr_i64(group, "NSteps", (int64_t)count));
  SIM_TRY(write_sequence(group, "PartOffsets", count, 0, 1));
  SIM_TRY(write_sequence(group, "NumberOfParts", count, 1, 0));
  SIM_TRY(write_sequence(group, "PointOffsets", count, 0, (int64_t)n));
  SIM_TRY(write_sequence(group, "CellOffsets", count, 0, 1));
  SIM_TRY(write_sequence(group, "ConnectivityIdOffsets", count, 0, 0));
  SIM_TRY(io_h5_group(group, "PointDataOffsets", &offsets));
  for (size_t i = 0; status == SIM_OK && i < self->record_count; i++)
    status = write_sequence(offsets, self->records[i].name, count, 0, (int64_t)n);
  H5Gclose(offsets);
  return status;
}

static sim_status write_cells(const io_index *self, hid_t grid, hsize_t n) {
  enum { POLY_VERTEX = 2 };
  const hsize_t count = self->count, ends = 2 * count;
  int64_t *offsets = calloc(2 * self->count, sizeof *offsets);
  unsigned char *types = malloc(self->count);
  sim_status status = offsets && types ? SIM_OK : sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
  for (size_t i = 0; status == SIM_OK && i < self->count; i++) {
    offsets[2 * i + 1] = (int64_t)n;
    types[i] = POLY_VERTEX;
  }
  if (status == SIM_OK)
    status = io_h5_dataset(grid, "Offsets", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &ends, NULL, offsets, NULL);
  if (status == SIM_OK)
    status = io_h5_dataset(grid, "Types", H5T_STD_U8LE, H5T_NATIVE_UINT8, 1, &count, NULL, types, NULL);
  free(offsets);
  free(types);
  if (status != SIM_OK) return status;
  SIM_TRY(write_sequence(grid, "NumberOfPoints", count, (int64_t)n, 0));
  SIM_TRY(write_sequence(grid, "NumberOfCells", count, 1, 0));
  SIM_TRY(write_sequence(grid, "NumberOfConnectivityIds", count, (int64_t)n, 0));
  return write_sequence(grid, "Connectivity", n, 0, 1);
}

static sim_status write_grid(const io_index *self, hid_t grid, size_t which) {
  static const int64_t version[] = {2, 0};
  const char *species = self->species[which].name;
  const hsize_t n = (hsize_t)self->species[which].count;
  hid_t group;
  SIM_TRY(io_h5_attr(grid, "Version", H5T_STD_I64LE, H5T_NATIVE_INT64, 2, version));
  SIM_TRY(io_h5_attr_text(grid, "Type", "UnstructuredGrid"));
  SIM_TRY(write_cells(self, grid, n));
  SIM_TRY(io_h5_group(grid, "PointData", &group));
  sim_status status = SIM_OK;
  for (size_t i = 0; status == SIM_OK && i < self->record_count; i++) {
    const record *from = &self->records[i];
    if (strcmp(from->name, "position") == 0)
      status = write_virtual(self, grid, "Points", species, from, n);
    else if (!(from->constant >> which & 1))
      status = write_virtual(self, group, from->name, species, from, n);
  }
  H5Gclose(group);
  if (status != SIM_OK) return status;
  SIM_TRY(io_h5_group(grid, "Steps", &group));
  status = write_steps(self, group, n);
  H5Gclose(group);
  return status;
}

static sim_status write_species(const io_index *self, size_t which) {
  char name[96];
  io_h5_file file;
  hid_t grid;
  snprintf(name, sizeof name, "%s.hdf", self->species[which].name);
  SIM_TRY(io_h5_begin(self->folder->root, self->folder->path, name, true, &file));
  sim_status status = io_h5_group(file.id, "VTKHDF", &grid);
  if (status == SIM_OK) {
    status = write_grid(self, grid, which);
    H5Gclose(grid);
  }
  if (status == SIM_OK) status = io_provenance_write(file.id, self->provenance);
  return io_h5_finish(&file, status);
}

sim_status io_index_write(io_index *self, bool last) {
  bool has_position = false;
  /* The files are written anew as a whole, which takes as long as there are snapshots. */
  if (!last && self->count >= self->written && self->count - self->written <= self->written / 10) return SIM_OK;
  for (size_t i = 0; i < self->record_count; i++)
    if (strcmp(self->records[i].name, "position") == 0 && self->records[i].components == 3) has_position = true;
  for (size_t i = 0; self->changed && has_position && i < self->species_count; i++) SIM_TRY(write_species(self, i));
  self->changed = false;
  self->written = self->count;
  return SIM_OK;
}
