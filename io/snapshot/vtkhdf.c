#include "io/snapshot/vtkhdf.h"

#include "io/hdf5/h5.h"
#include "io/snapshot/counting.h"
#include "io/snapshot/snapshot.h"
#include "io/snapshot/virtual.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void drop_all(const hid_t *ids, size_t count) {
  for (size_t i = 0; i < count; i++) io_h5_drop(ids[i]);
}

static sim_status cannot_write(const char *name) { return sim_fail(SIM_ERR_IO, "HDF5 cannot write %s", name); }

/* Writes values[i], or if `values` is NULL first + i * step, for i < count; long lists are compressed to almost
 * nothing. */
static sim_status write_list(hid_t parent, const char *name, hsize_t count, const int64_t *values, int64_t first,
                             int64_t step) {
  enum { BLOCK = IO_COUNTING_CHUNK };
  int64_t block[BLOCK];
  const hsize_t chunk = BLOCK;
  bool compressed = false;
  hid_t plist = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &count, NULL), set = -1;
  bool good = plist >= 0 && space >= 0;
  if (good && count > BLOCK && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
    good = compressed =
        H5Pset_chunk(plist, 1, &chunk) >= 0 && H5Pset_shuffle(plist) >= 0 && H5Pset_deflate(plist, 1) >= 0;
  if (good) set = H5Dcreate2(parent, name, H5T_STD_I64LE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  good = set >= 0;
  const hsize_t written = good && compressed && !values && first == 0 && step == 1 ? io_counting_write(set, count) : 0;
  for (hsize_t at = written; good && at < count; at += BLOCK) {
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

/* Makes `name` a link to an existing list of the same values, which costs a fifth of another list. */
static sim_status link_list(hid_t from, const char *list, hid_t parent, const char *name) {
  const bool good = H5Lcreate_hard(from, list, parent, name, H5P_DEFAULT, H5P_DEFAULT) >= 0;
  return good ? SIM_OK : cannot_write(name);
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

struct io_vtk_file {
  io_h5_file h5;
  size_t blocks; /* number of blocks in the file */
};

typedef sim_status writer(const void *self, hid_t root);

/* An index file: its values, and the function that writes everything else. */
typedef struct plan {
  const char *name;
  const io_virtual *values;
  size_t value_count;
  writer *write;
  const void *self;
} plan;

static sim_status begin_file(const io_vtk_series *series, const char *name, io_vtk_file **out) {
  hid_t group;
  io_vtk_file *file = calloc(1, sizeof *file);
  if (!file) return sim_no_memory("the index of snapshots");
  sim_status status = io_h5_begin(series->folder, series->folder_path, name, true, &file->h5);
  if (status != SIM_OK) {
    free(file);
    return status;
  }
  *out = file;
  SIM_TRY(io_h5_group(file->h5.id, IO_BLOCKS, &group));
  H5Gclose(group);
  return SIM_OK;
}

void io_vtk_discard(io_vtk_file **file) {
  if (!*file) return;
  (void)!io_h5_finish(&(*file)->h5, SIM_ERR_IO);
  free(*file);
  *file = NULL;
}

/* Adds the blocks that the file lacks. If not `last`: only whole blocks, and at most two, so that a file that is begun
 * again late in a run delays no output. */
static sim_status add_blocks(const io_vtk_series *series, const plan *p, bool last, io_vtk_file *file) {
  size_t all = (series->count + (last ? IO_BLOCK_STEPS - 1 : 0)) / IO_BLOCK_STEPS;
  if (!last && all > file->blocks + 2) all = file->blocks + 2;
  hid_t group = H5Gopen2(file->h5.id, IO_BLOCKS, H5P_DEFAULT);
  sim_status status = group >= 0 ? SIM_OK : cannot_write(p->name);
  for (; status == SIM_OK && file->blocks < all; file->blocks++)
    for (size_t i = 0; status == SIM_OK && i < p->value_count; i++)
      status = io_virtual_block(&p->values[i], group, file->blocks);
  io_h5_drop(group);
  return status;
}

static sim_status write_rest(const io_vtk_series *series, const plan *p, hid_t file) {
  hid_t root;
  SIM_TRY(io_h5_group(file, "VTKHDF", &root));
  sim_status status = p->write(p->self, root);
  H5Gclose(root);
  return status == SIM_OK ? io_provenance_write(file, series->provenance) : status;
}

static sim_status write_file(const io_vtk_series *series, const plan *p, bool last, io_vtk_file **file) {
  sim_status status = *file ? SIM_OK : begin_file(series, p->name, file);
  if (!*file) return status;
  if (status == SIM_OK) status = add_blocks(series, p, last, *file);
  if (status == SIM_OK && !last) return SIM_OK;
  if (status == SIM_OK) status = write_rest(series, p, (*file)->h5.id);
  status = io_h5_finish(&(*file)->h5, status);
  if (status == SIM_OK) io_later_add(series->later, &(*file)->h5.file, NULL, series->result);
  free(*file);
  *file = NULL;
  return status;
}

/* ---- particles ---- */

typedef struct cloud {
  const io_vtk_series *series;
  const io_virtual *values;
  size_t value_count;
  const int64_t *counts, *begins; /* per step: number of points, and number of points before it */
  int64_t most;
} cloud;

/* Writes the offsets of each step in the arrays. All steps share the connectivity 0, 1, 2, ... */
static sim_status write_cloud_steps(const cloud *self, hid_t root, hid_t group) {
  const hsize_t count = self->series->count;
  hid_t offsets;
  SIM_TRY(write_times(self->series, group));
  SIM_TRY(write_sequence(group, "PartOffsets", count, 0, 1));
  SIM_TRY(link_list(root, "NumberOfCells", group, "NumberOfParts"));
  SIM_TRY(write_integers(group, "PointOffsets", count, self->begins));
  SIM_TRY(link_list(group, "PartOffsets", group, "CellOffsets"));
  SIM_TRY(write_sequence(group, "ConnectivityIdOffsets", count, 0, 0));
  SIM_TRY(io_h5_group(group, "PointDataOffsets", &offsets));
  sim_status status = SIM_OK;
  for (size_t i = 0; status == SIM_OK && i < self->value_count; i++)
    status = link_list(group, "PointOffsets", offsets, self->values[i].name);
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
  SIM_TRY(link_list(root, "NumberOfPoints", root, "NumberOfConnectivityIds"));
  return write_sequence(root, "Connectivity", (hsize_t)self->most, 0, 1);
}

static sim_status write_cloud(const void *opaque, hid_t root) {
  const cloud *self = opaque;
  hid_t group;
  SIM_TRY(write_header(root, "UnstructuredGrid"));
  SIM_TRY(write_cells(self, root));
  SIM_TRY(io_h5_group(root, "PointData", &group));
  sim_status status = SIM_OK;
  for (size_t i = 0; status == SIM_OK && i < self->value_count; i++) {
    const io_virtual *values = &self->values[i];
    const bool points = strcmp(values->name, "position") == 0;
    status = io_virtual_join(values, points ? root : group, points ? "Points" : values->name);
  }
  H5Gclose(group);
  if (status != SIM_OK) return status;
  SIM_TRY(io_h5_group(root, "Steps", &group));
  status = write_cloud_steps(self, root, group);
  H5Gclose(group);
  return status;
}

static io_virtual values_of_particles(const io_vtk_series *series, const int64_t *begins, const char *species,
                                      const io_vtk_record *from) {
  io_virtual out = {.series = series,
                    .begins = begins,
                    .dtype = from->dtype,
                    .components = from->components,
                    .stored = from->components,
                    .rank = from->components > 1 ? 2 : 1,
                    .shape = {0, (hsize_t)from->components},
                    .source_rank = 1};
  snprintf(out.name, sizeof out.name, "%s", from->name);
  snprintf(out.object, sizeof out.object, "particles/%s/%s", species, from->name);
  return out;
}

sim_status io_vtk_particles(const io_vtk_series *series, const char *species, const io_vtk_record *records,
                            size_t record_count, const int64_t *counts, const double *constants, size_t stride,
                            bool last, io_vtk_file **file) {
  char name[96];
  io_virtual values[SIM_ARRAYS_MAX];
  int64_t *room = calloc(2 * series->count + 1, sizeof *room), *begins = room, *own = room + series->count + 1;
  if (!room) return sim_no_memory("the index of snapshots");
  cloud self = {.series = series, .values = values, .value_count = record_count, .counts = own, .begins = begins};
  for (size_t i = 0; i < series->count; i++) {
    own[i] = counts[stride * i];
    begins[i + 1] = begins[i] + own[i];
    if (own[i] > self.most) self.most = own[i];
  }
  for (size_t i = 0; i < record_count; i++) {
    values[i] = values_of_particles(series, begins, species, &records[i]);
    if (strcmp(records[i].name, IO_CONSTANT_RECORD) != 0) continue;
    values[i].constants = constants;
    values[i].stride = stride;
  }
  snprintf(name, sizeof name, "%s.hdf", species);
  const plan p = {name, values, record_count, write_cloud, &self};
  const sim_status status = self.most > 0 ? write_file(series, &p, last, file) : SIM_OK;
  free(room);
  return status;
}

/* ---- grids ---- */

typedef struct image {
  const io_vtk_series *series;
  const io_vtk_grid *grid;
  const io_virtual *values;
  const io_vtk_record *records; /* [value_count] */
  size_t value_count;
} image;

/* Describes the values of a field. The reader expects time as the first axis, no axes of length one, and the components
 * of a vector as the last axis: three, for arrows and stream lines, of which a grid of two axes has two. */
static io_virtual values_of_field(const io_vtk_series *series, const int64_t *begins, const io_vtk_grid *grid,
                                  const io_vtk_record *from) {
  io_virtual out = {.series = series,
                    .begins = begins,
                    .dtype = from->dtype,
                    .components = from->components > 1 ? 3 : 1,
                    .stored = from->components,
                    .rank = 1};
  for (int a = 0; a < grid->rank; a++) {
    if (!grid->cut[a]) out.source[out.source_rank++] = (hsize_t)grid->shape[a];
    if (grid->shape[a] > 1) out.shape[out.rank++] = (hsize_t)grid->shape[a];
  }
  if (out.components > 1) out.shape[out.rank++] = (hsize_t)out.components;
  /* a vector's name is without the letter of its component */
  snprintf(out.name, sizeof out.name, "%.*s", (int)strcspn(from->name, "/"), from->name);
  snprintf(out.object, sizeof out.object, "meshes/%s", from->components > 1 ? out.name : from->name);
  return out;
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
  for (size_t i = 0; status == SIM_OK && i < self->value_count; i++)
    status = write_sequence(offsets, self->values[i].name, self->series->count, 0, self->records[i].once ? 0 : 1);
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
  for (size_t i = 0; status == SIM_OK && i < self->value_count; i++)
    status = io_virtual_join(&self->values[i], group, self->values[i].name);
  H5Gclose(group);
  if (status != SIM_OK) return status;
  SIM_TRY(io_h5_group(root, "Steps", &group));
  status = write_image_steps(self, group);
  H5Gclose(group);
  return status;
}

sim_status io_vtk_image(const io_vtk_series *series, const io_vtk_grid *grid, const io_vtk_record *records,
                        size_t record_count, bool last, io_vtk_file **file) {
  io_virtual values[SIM_ARRAYS_MAX];
  int64_t *begins = malloc((2 * series->count + 2) * sizeof *begins), *once = begins + series->count + 1;
  if (!begins) return sim_no_memory("the index of snapshots");
  for (size_t i = 0; i <= series->count; i++) {
    begins[i] = (int64_t)i;
    once[i] = i > 0 && series->steps[i - 1].step >= series->once; /* one row, of that step; none: it is to come */
  }
  for (size_t i = 0; i < record_count; i++)
    values[i] = values_of_field(series, records[i].once ? once : begins, grid, &records[i]);
  const image self = {series, grid, values, records, record_count};
  const plan p = {"grid.hdf", values, record_count, write_image, &self};
  const sim_status status = write_file(series, &p, last, file);
  free(begins);
  return status;
}
