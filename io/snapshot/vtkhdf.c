#include "io/snapshot/vtkhdf.h"

#include "io/hdf5/h5.h"
#include "io/snapshot/snapshot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const axes[] = {"x", "y", "z"};

static void drop_all(const hid_t *ids, size_t count) {
  for (size_t i = 0; i < count; i++) io_h5_drop(ids[i]);
}

static sim_status cannot_write(const char *name) { return sim_fail(SIM_ERR_IO, "HDF5 cannot write %s", name); }

/* Maps the whole dataset `object` of a step's snapshot to the selection of `target`. `shape` is that of the dataset. */
static bool map_snapshot(hid_t plist, hid_t target, const char *below, int64_t step, const char *object, int rank,
                         const hsize_t *shape) {
  char file[64], name[256];
  snprintf(file, sizeof file, "%s" IO_SNAPSHOT_NAME, below, (long long)step);
  snprintf(name, sizeof name, "/data/%lld/%s", (long long)step, object);
  hid_t source = H5Screate_simple(rank, shape, NULL);
  bool good = source >= 0 && H5Pset_virtual(plist, target, file, name, source) >= 0;
  io_h5_drop(source);
  return good;
}

static hid_t begin_virtual(sim_dtype dtype) {
  const double missing = NAN;
  hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
  if (plist >= 0 && (dtype == SIM_F32 || dtype == SIM_F64) &&
      H5Pset_fill_value(plist, H5T_NATIVE_DOUBLE, &missing) < 0) {
    H5Pclose(plist);
    return -1;
  }
  return plist;
}

static sim_status end_virtual(hid_t parent, const char *name, sim_dtype dtype, hid_t plist, hid_t space, bool good) {
  hid_t set = -1;
  if (good && H5Sselect_all(space) >= 0)
    set = H5Dcreate2(parent, name, io_h5_file_type(dtype), space, H5P_DEFAULT, plist, H5P_DEFAULT);
  drop_all((hid_t[]){set, space, plist}, 3);
  return set >= 0 ? SIM_OK : cannot_write(name);
}

/* Writes values[i], or without `values` first + i * step, for i < count; long lists are compressed to almost
 * nothing. */
static sim_status write_list(hid_t parent, const char *name, hsize_t count, const int64_t *values, int64_t first,
                             int64_t step) {
  enum { BLOCK = 8192 };
  int64_t block[BLOCK];
  const hsize_t chunk = BLOCK;
  hid_t plist = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &count, NULL), set = -1;
  bool good = plist >= 0 && space >= 0;
  if (good && count > BLOCK && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
    good = H5Pset_chunk(plist, 1, &chunk) >= 0 && H5Pset_shuffle(plist) >= 0 && H5Pset_deflate(plist, 1) >= 0;
  if (good) set = H5Dcreate2(parent, name, H5T_STD_I64LE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  good = set >= 0;
  for (hsize_t at = 0; good && at < count; at += BLOCK) {
    const hsize_t some = count - at < BLOCK ? count - at : BLOCK;
    for (hsize_t i = 0; i < some; i++) block[i] = values ? values[at + i] : first + (int64_t)(at + i) * step;
    hid_t part = H5Screate_simple(1, &some, NULL);
    good = part >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &some, NULL) >= 0 &&
           H5Dwrite(set, H5T_NATIVE_INT64, part, space, H5P_DEFAULT, block) >= 0;
    io_h5_drop(part);
  }
  drop_all((hid_t[]){set, space, plist}, 3);
  return good ? SIM_OK : cannot_write(name);
}

static sim_status write_integers(hid_t parent, const char *name, hsize_t count, const int64_t *values) {
  return write_list(parent, name, count, values, 0, 0);
}

static sim_status write_sequence(hid_t parent, const char *name, hsize_t count, int64_t first, int64_t step) {
  return write_list(parent, name, count, NULL, first, step);
}

static sim_status write_times(const io_vtk_series *series, hid_t steps) {
  const hsize_t count = series->count;
  double *times = malloc(series->count * sizeof *times);
  if (!times) return sim_no_memory("the index of snapshots");
  for (size_t i = 0; i < series->count; i++) times[i] = series->steps[i].time;
  sim_status status = io_h5_dataset(steps, "Values", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, &count, NULL, times, NULL);
  free(times);
  return status == SIM_OK ? io_h5_attr_i64(steps, "NSteps", (int64_t)count) : status;
}

static sim_status write_header(hid_t root, const char *type) {
  static const int64_t version[] = {2, 0};
  SIM_TRY(io_h5_attr(root, "Version", H5T_STD_I64LE, H5T_NATIVE_INT64, 2, version));
  return io_h5_attr_text(root, "Type", type);
}

typedef sim_status writer(const void *self, hid_t root);

static sim_status write_file(const io_vtk_series *series, const char *name, writer *write, const void *self) {
  io_h5_file file;
  hid_t root;
  SIM_TRY(io_h5_begin(series->folder, series->folder_path, name, true, &file));
  sim_status status = io_h5_group(file.id, "VTKHDF", &root);
  if (status == SIM_OK) {
    status = write(self, root);
    H5Gclose(root);
  }
  if (status == SIM_OK) status = io_provenance_write(file.id, series->provenance);
  SIM_TRY(io_h5_finish(&file, status));
  io_later_add(series->later, &file.file, NULL, series->result);
  return SIM_OK;
}

/* ---- particles ---- */

typedef struct cloud {
  const io_vtk_series *series;
  const char *species;
  const io_vtk_record *records;
  size_t record_count;
  int64_t *counts, *begins; /* of each step: points, and points before it */
  int64_t all, most;
  const double *constants; /* [stride * step] */
  size_t stride;
  hid_t root;
} cloud;

/* A dataset of the index filled with one value, which takes no space. */
typedef struct filled {
  char name[96];
  double value;
} filled;

/* Maps one value to all points of a step; successive steps with the same value share the dataset `last`. */
static bool map_constant(const cloud *self, hid_t plist, hid_t target, const io_vtk_record *from, size_t step,
                         filled *last) {
  const hsize_t all = (hsize_t)self->most, first = 0, count = (hsize_t)self->counts[step];
  const double value = self->constants[self->stride * step];
  hid_t space = H5Screate_simple(1, &all, NULL);
  bool good = space >= 0;
  if (!last->name[0] || value != last->value) {
    hid_t fill = H5Pcreate(H5P_DATASET_CREATE), set = -1;
    last->value = value;
    snprintf(last->name, sizeof last->name, "/constant_%s_%zu", from->name, step);
    if (good && fill >= 0 && H5Pset_fill_value(fill, H5T_NATIVE_DOUBLE, &value) >= 0)
      set = H5Dcreate2(self->root, last->name, io_h5_file_type(from->dtype), space, H5P_DEFAULT, fill, H5P_DEFAULT);
    good = set >= 0;
    drop_all((hid_t[]){set, fill}, 2);
  }
  good = good && H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0 &&
         H5Pset_virtual(plist, target, ".", last->name, space) >= 0;
  io_h5_drop(space);
  return good;
}

static sim_status write_values(const cloud *self, hid_t parent, const char *name, const io_vtk_record *from) {
  const hsize_t shape[2] = {(hsize_t)self->all, 3};
  hid_t plist = begin_virtual(from->dtype), space = H5Screate_simple(from->components == 3 ? 2 : 1, shape, NULL);
  bool good = plist >= 0 && space >= 0;
  const bool may_be_constant = strcmp(from->name, IO_CONSTANT_RECORD) == 0;
  filled constant = {0};
  for (int row = 0; good && row < from->components; row++) {
    char object[192];
    int used = snprintf(object, sizeof object, "particles/%s/%s", self->species, from->name);
    if (from->components == 3) snprintf(object + used, sizeof object - (size_t)used, "/%s", axes[row]);
    for (size_t i = 0; good && i < self->series->count; i++) {
      const hsize_t start[2] = {(hsize_t)self->begins[i], (hsize_t)row}, size[2] = {(hsize_t)self->counts[i], 1};
      if (size[0] == 0) continue;
      good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0;
      if (good && may_be_constant && !isnan(self->constants[self->stride * i]))
        good = map_constant(self, plist, space, from, i, &constant);
      else
        good = good && map_snapshot(plist, space, self->series->below, self->series->steps[i].step, object, 1, size);
    }
  }
  return end_virtual(parent, name, from->dtype, plist, space, good);
}

/* Writes the offset of each step in the arrays. All steps share the connectivity 0, 1, 2, ... */
static sim_status write_cloud_steps(const cloud *self, hid_t group) {
  const hsize_t count = self->series->count;
  hid_t offsets;
  SIM_TRY(write_times(self->series, group));
  SIM_TRY(write_sequence(group, "PartOffsets", count, 0, 1));
  SIM_TRY(write_sequence(group, "NumberOfParts", count, 1, 0));
  SIM_TRY(write_integers(group, "PointOffsets", count, self->begins));
  SIM_TRY(write_sequence(group, "CellOffsets", count, 0, 1));
  SIM_TRY(write_sequence(group, "ConnectivityIdOffsets", count, 0, 0));
  SIM_TRY(io_h5_group(group, "PointDataOffsets", &offsets));
  sim_status status = SIM_OK;
  for (size_t i = 0; status == SIM_OK && i < self->record_count; i++)
    status = write_integers(offsets, self->records[i].name, count, self->begins);
  H5Gclose(offsets);
  return status;
}

static sim_status write_cells(const cloud *self, hid_t root) {
  enum { POLY_VERTEX = 2 };
  const hsize_t count = self->series->count, ends = 2 * count;
  int64_t *offsets = calloc(2 * self->series->count, sizeof *offsets);
  unsigned char *types = malloc(self->series->count);
  sim_status status = offsets && types ? SIM_OK : sim_no_memory("the index of snapshots");
  for (size_t i = 0; status == SIM_OK && i < self->series->count; i++) {
    offsets[2 * i + 1] = self->counts[i];
    types[i] = POLY_VERTEX;
  }
  if (status == SIM_OK)
    status = io_h5_dataset(root, "Offsets", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &ends, NULL, offsets, NULL);
  if (status == SIM_OK)
    status = io_h5_dataset(root, "Types", H5T_STD_U8LE, H5T_NATIVE_UINT8, 1, &count, NULL, types, NULL);
  free(offsets);
  free(types);
  if (status != SIM_OK) return status;
  SIM_TRY(write_integers(root, "NumberOfPoints", count, self->counts));
  SIM_TRY(write_sequence(root, "NumberOfCells", count, 1, 0));
  SIM_TRY(write_integers(root, "NumberOfConnectivityIds", count, self->counts));
  return write_sequence(root, "Connectivity", (hsize_t)self->most, 0, 1);
}

static sim_status write_cloud(const void *opaque, hid_t root) {
  cloud with_root = *(const cloud *)opaque;
  const cloud *self = &with_root;
  with_root.root = root;
  hid_t group;
  SIM_TRY(write_header(root, "UnstructuredGrid"));
  SIM_TRY(write_cells(self, root));
  SIM_TRY(io_h5_group(root, "PointData", &group));
  sim_status status = SIM_OK;
  for (size_t i = 0; status == SIM_OK && i < self->record_count; i++) {
    const io_vtk_record *from = &self->records[i];
    if (strcmp(from->name, "position") == 0)
      status = write_values(self, root, "Points", from);
    else
      status = write_values(self, group, from->name, from);
  }
  H5Gclose(group);
  if (status != SIM_OK) return status;
  SIM_TRY(io_h5_group(root, "Steps", &group));
  status = write_cloud_steps(self, group);
  H5Gclose(group);
  return status;
}

sim_status io_vtk_particles(const io_vtk_series *series, const char *species, const io_vtk_record *records,
                            size_t record_count, const int64_t *counts, const double *constants, size_t stride) {
  char name[96];
  cloud self = {.series = series,
                .species = species,
                .records = records,
                .record_count = record_count,
                .constants = constants,
                .stride = stride};
  int64_t *room = calloc(2 * series->count, sizeof *room);
  if (!room) return sim_no_memory("the index of snapshots");
  self.counts = room;
  self.begins = room + series->count;
  for (size_t i = 0; i < series->count; i++) {
    self.counts[i] = counts[stride * i];
    self.begins[i] = self.all;
    self.all += self.counts[i];
    if (self.counts[i] > self.most) self.most = self.counts[i];
  }
  snprintf(name, sizeof name, "%s.hdf", species);
  sim_status status = self.all > 0 ? write_file(series, name, write_cloud, &self) : SIM_OK;
  free(room);
  return status;
}

/* ---- grids ---- */

typedef struct image {
  const io_vtk_series *series;
  const io_vtk_grid *grid;
  const io_vtk_record *records;
  size_t record_count;
} image;

/* The reader expects time as the first axis, and no axes of length one. */
static sim_status write_field(const image *self, hid_t parent, const io_vtk_record *from) {
  const io_vtk_grid *grid = self->grid;
  hsize_t source[3], shape[4] = {self->series->count}, start[4] = {0};
  int rank = 1, axes_there = 0;
  char object[128];
  for (int a = 0; a < grid->rank; a++) {
    if (!grid->cut[a]) source[axes_there++] = (hsize_t)grid->shape[a];
    if (grid->shape[a] > 1) shape[rank++] = (hsize_t)grid->shape[a];
  }
  hid_t plist = begin_virtual(from->dtype), space = H5Screate_simple(rank, shape, NULL);
  bool good = plist >= 0 && space >= 0;
  snprintf(object, sizeof object, "meshes/%s", from->name);
  shape[0] = 1;
  for (size_t i = 0; good && i < self->series->count; i++) {
    start[0] = i;
    good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, shape, NULL) >= 0 &&
           map_snapshot(plist, space, self->series->below, self->series->steps[i].step, object, axes_there, source);
  }
  return end_virtual(parent, from->name, from->dtype, plist, space, good);
}

static sim_status write_image_attributes(const io_vtk_grid *grid, hid_t root) {
  static const double direction[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  int64_t extent[6] = {0};
  double origin[3] = {0}, spacing[3] = {1, 1, 1};
  for (int a = 0; a < grid->rank; a++) {
    const int axis = grid->rank - 1 - a; /* 0: x */
    const sim_mesh *mesh = &grid->mesh;
    extent[2 * axis + 1] = grid->shape[a] - 1;
    origin[axis] = mesh->offset[a] + mesh->position[a] * mesh->spacing[a];
    spacing[axis] = mesh->spacing[a];
  }
  SIM_TRY(io_h5_attr(root, "WholeExtent", H5T_STD_I64LE, H5T_NATIVE_INT64, 6, extent));
  SIM_TRY(io_h5_attr(root, "Origin", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, origin));
  SIM_TRY(io_h5_attr(root, "Spacing", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, spacing));
  return io_h5_attr(root, "Direction", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 9, direction);
}

static sim_status write_image_steps(const image *self, hid_t group) {
  hid_t offsets;
  SIM_TRY(write_times(self->series, group));
  SIM_TRY(io_h5_group(group, "PointDataOffsets", &offsets));
  sim_status status = SIM_OK;
  for (size_t i = 0; status == SIM_OK && i < self->record_count; i++)
    status = write_sequence(offsets, self->records[i].name, self->series->count, 0, 1);
  H5Gclose(offsets);
  return status;
}

static sim_status write_image(const void *opaque, hid_t root) {
  const image *self = opaque;
  hid_t group;
  SIM_TRY(write_header(root, "ImageData"));
  SIM_TRY(write_image_attributes(self->grid, root));
  SIM_TRY(io_h5_group(root, "PointData", &group));
  sim_status status = SIM_OK;
  for (size_t i = 0; status == SIM_OK && i < self->record_count; i++)
    status = write_field(self, group, &self->records[i]);
  H5Gclose(group);
  if (status != SIM_OK) return status;
  SIM_TRY(io_h5_group(root, "Steps", &group));
  status = write_image_steps(self, group);
  H5Gclose(group);
  return status;
}

sim_status io_vtk_image(const io_vtk_series *series, const io_vtk_grid *grid, const io_vtk_record *records,
                        size_t record_count) {
  const image self = {series, grid, records, record_count};
  return write_file(series, "grid.hdf", write_image, &self);
}
