/* Snapshots: openPMD 1.1.0, one file each. An array of the frame that has SIM_OUTPUT and runs over all particles
 * becomes a record of every species, of none of whose particles may be there: rank 1 a scalar, {3, n} a vector. One
 * that stands on a grid becomes a mesh. */
#include "engine/log.h"
#include "io/h5.h"
#include "io/index.h"
#include "io/snapshot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct writer {
  io_folder *folder;
  const io_provenance *provenance;
  io_index *index;
  bool described;         /* run.pmd is there */
  const sim_slice *slice; /* NULL: all particles and fields */
  int slice_folder;
  char slice_path[4200];
  void *values; /* [value_bytes]: what a slice keeps of one field */
  size_t value_bytes;
} writer;

static const char *const axes[] = {"x", "y", "z"};

static sim_status write_record_attributes(hid_t record, sim_dimension dimension) {
  const double powers[7] = {dimension.length, dimension.mass, dimension.time};
  SIM_TRY(io_h5_attr(record, "unitDimension", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 7, powers));
  return io_h5_attr_f64(record, "timeOffset", 0);
}

/* A constant component or scalar record: a group that stands for `count` equal values. `record` NULL: a component. */
static sim_status write_constant(hid_t parent, const char *name, sim_dtype dtype, const void *value, int64_t count,
                                 double unit_si, const sim_dimension *record) {
  hid_t group;
  const uint64_t shape = (uint64_t)count;
  SIM_TRY(io_h5_group(parent, name, &group));
  sim_status status = io_h5_attr(group, "value", io_h5_file_type(dtype), io_h5_memory_type(dtype), 0, value);
  if (status == SIM_OK) status = io_h5_attr(group, "shape", H5T_STD_U64LE, H5T_NATIVE_UINT64, 1, &shape);
  if (status == SIM_OK) status = io_h5_attr_f64(group, "unitSI", unit_si);
  if (status == SIM_OK && record) status = write_record_attributes(group, *record);
  H5Gclose(group);
  return status;
}

/* Part of one row of an array, as a dataset. */
static sim_status write_values(hid_t parent, const char *name, sim_dtype dtype, const void *values, int64_t count,
                               double unit_si, const sim_dimension *record) {
  hid_t dataset;
  const hsize_t shape = (hsize_t)count;
  SIM_TRY(
      io_h5_dataset(parent, name, io_h5_file_type(dtype), io_h5_memory_type(dtype), 1, &shape, NULL, values, &dataset));
  sim_status status = io_h5_attr_f64(dataset, "unitSI", unit_si);
  if (status == SIM_OK && record) status = write_record_attributes(dataset, *record);
  H5Dclose(dataset);
  return status;
}

static const char *component(const sim_array *array, int row, const sim_species *species) {
  size_t size = sim_dtype_size(array->dtype);
  int64_t n = array->shape[array->rank - 1];
  return (const char *)array->data + (size_t)(row * n + species->first) * size;
}

static bool all_equal(const char *values, size_t size, int64_t count) {
  for (int64_t i = 1; i < count; i++)
    if (memcmp(values, values + (size_t)i * size, size) != 0) return false;
  return true;
}

static int64_t particle_count(const sim_frame *frame) {
  int64_t n = 0;
  for (size_t i = 0; i < frame->species_count; i++)
    if (frame->species[i].first + frame->species[i].count > n) n = frame->species[i].first + frame->species[i].count;
  return n;
}

int io_record_components(const sim_frame *frame, const sim_array *array) {
  const int64_t n = particle_count(frame);
  if (!(array->field->flags & SIM_OUTPUT) || frame->species_count == 0) return 0;
  if (array->rank == 1 && array->shape[0] == n) return 1;
  return array->rank == 2 && array->shape[0] == 3 && array->shape[1] == n ? 3 : 0;
}

bool io_record_is_constant(const sim_array *array, const sim_species *species) {
  return strcmp(array->field->name, "mass") == 0 &&
         all_equal(component(array, 0, species), sim_dtype_size(array->dtype), species->count);
}

static sim_status write_scalar(hid_t group, const sim_array *array, const sim_species *species, double unit_si) {
  static const double none = 0; /* the constant of a species that is not there now */
  return (io_record_is_constant(array, species) ? write_constant : write_values)(
      group, array->field->name, array->dtype, species->count > 0 ? component(array, 0, species) : (const char *)&none,
      species->count, unit_si, &array->field->dimension);
}

static sim_status write_vector(hid_t group, const char *name, const sim_array *array, const sim_species *species,
                               double unit_si) {
  hid_t record;
  SIM_TRY(io_h5_group(group, name, &record));
  sim_status status = write_record_attributes(record, array->field->dimension);
  for (int row = 0; status == SIM_OK && row < 3; row++)
    status =
        write_values(record, axes[row], array->dtype, component(array, row, species), species->count, unit_si, NULL);
  H5Gclose(record);
  return status;
}

/* Required beside a position; all zero here. */
static sim_status write_offset(hid_t group, const sim_array *position, const sim_species *species, double unit_si) {
  static const double zero = 0;
  static const float zero_single = 0;
  hid_t record;
  SIM_TRY(io_h5_group(group, "positionOffset", &record));
  sim_status status = write_record_attributes(record, position->field->dimension);
  for (int row = 0; status == SIM_OK && row < 3; row++)
    status = write_constant(record, axes[row], position->dtype,
                            position->dtype == SIM_F32 ? (const void *)&zero_single : (const void *)&zero,
                            species->count, unit_si, NULL);
  H5Gclose(record);
  return status;
}

/* Least value and width of one row, over finite values. */
static void bounds(const sim_array *array, int row, const sim_species *species, double *least, double *width) {
  const void *values = component(array, row, species);
  double low = INFINITY, high = -INFINITY;
  for (int64_t i = 0; i < species->count; i++) {
    double x = array->dtype == SIM_F32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
    if (!isfinite(x)) continue;
    if (x < low) low = x;
    if (x > high) high = x;
  }
  *least = low <= high ? low : 0;
  *width = low <= high ? high - low : 0;
}

/* One patch: all that this process holds. */
static sim_status write_patches(hid_t group, const sim_array *position, const sim_species *species, double unit_si) {
  const uint64_t count = (uint64_t)species->count, first = 0;
  const sim_dimension none = {0};
  double least[3], width[3];
  hid_t patches, record;
  SIM_TRY(io_h5_group(group, "particlePatches", &patches));
  sim_status status = write_values(patches, "numParticles", SIM_U64, &count, 1, 1, &none);
  if (status == SIM_OK) status = write_values(patches, "numParticlesOffset", SIM_U64, &first, 1, 1, &none);
  for (int row = 0; row < 3; row++) bounds(position, row, species, &least[row], &width[row]);
  for (int k = 0; status == SIM_OK && k < 2; k++) {
    status = io_h5_group(patches, k ? "extent" : "offset", &record);
    if (status != SIM_OK) break;
    status = write_record_attributes(record, position->field->dimension);
    for (int row = 0; status == SIM_OK && row < 3; row++)
      status = write_values(record, axes[row], SIM_F64, k ? &width[row] : &least[row], 1, unit_si, NULL);
    H5Gclose(record);
  }
  H5Gclose(patches);
  return status;
}

static sim_status write_species(hid_t particles, const writer *self, const sim_frame *frame,
                                const sim_species *species) {
  hid_t group;
  sim_status status = SIM_OK;
  SIM_TRY(io_h5_group(particles, species->name, &group));
  for (size_t i = 0; status == SIM_OK && i < frame->array_count; i++) {
    const sim_array *array = &frame->arrays[i];
    const int components = io_record_components(frame, array);
    const double unit_si = sim_units_si(self->provenance->units, array->field->dimension);
    if (components == 1) status = write_scalar(group, array, species, unit_si);
    if (components != 3) continue;
    status = write_vector(group, array->field->name, array, species, unit_si);
    bool real = array->dtype == SIM_F32 || array->dtype == SIM_F64;
    if (strcmp(array->field->name, "position") != 0 || !real) continue;
    if (status == SIM_OK) status = write_offset(group, array, species, unit_si);
    if (status == SIM_OK) status = write_patches(group, array, species, unit_si);
  }
  H5Gclose(group);
  return status;
}

/* ---- meshes ---- */

bool io_record_is_mesh(const sim_array *array) { return (array->field->flags & SIM_OUTPUT) && array->mesh; }

static bool has_meshes(const sim_frame *frame) {
  for (size_t i = 0; i < frame->array_count; i++)
    if (io_record_is_mesh(&frame->arrays[i])) return true;
  return false;
}

/* A scalar record of one component: it carries the attributes of both. */
static sim_status write_mesh_attributes(hid_t mesh, const writer *self, const sim_array *array,
                                        const char *const *labels) {
  const sim_mesh *grid = array->mesh;
  const sim_units *units = self->provenance->units;
  const hsize_t rank = (hsize_t)array->rank;
  double offset[3];
  for (int a = 0; a < array->rank; a++) offset[a] = grid->offset[a] + (double)array->offset[a] * grid->spacing[a];
  SIM_TRY(write_record_attributes(mesh, array->field->dimension));
  SIM_TRY(io_h5_attr_text(mesh, "geometry", "cartesian"));
  SIM_TRY(io_h5_attr_text(mesh, "dataOrder", "C"));
  SIM_TRY(io_h5_attr_texts(mesh, "axisLabels", labels, (size_t)rank));
  SIM_TRY(io_h5_attr(mesh, "gridSpacing", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, rank, grid->spacing));
  SIM_TRY(io_h5_attr(mesh, "gridGlobalOffset", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, rank, offset));
  SIM_TRY(io_h5_attr_f64(mesh, "gridUnitSI", sim_units_si(units, (sim_dimension){1, 0, 0})));
  SIM_TRY(io_h5_attr(mesh, "position", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, rank, grid->position));
  return io_h5_attr_f64(mesh, "unitSI", sim_units_si(units, array->field->dimension));
}

static const char *const labels_of_all[] = {"z", "y", "x"};

static sim_status write_mesh(hid_t meshes, const writer *self, const sim_array *array, const char *const *labels,
                             hid_t *out) {
  hsize_t shape[SIM_RANK_MAX];
  hid_t dataset;
  for (int a = 0; a < array->rank; a++) shape[a] = (hsize_t)array->shape[a];
  SIM_TRY(io_h5_dataset(meshes, array->field->name, io_h5_file_type(array->dtype), io_h5_memory_type(array->dtype),
                        array->rank, shape, NULL, array->data, &dataset));
  sim_status status = write_mesh_attributes(dataset, self, array, labels);
  if (status == SIM_OK)
    *out = dataset;
  else
    H5Dclose(dataset);
  return status;
}

/* Where the planes lie that were cut out: openPMD has no words for that, and allows others. */
static sim_status write_planes(hid_t mesh, const sim_slice *slice, const sim_mesh *grid) {
  const char *axis_names[3];
  double at[3];
  size_t count = 0;
  for (int a = 0; a < slice->rank; a++) {
    if (!slice->cut[a]) continue;
    axis_names[count] = labels_of_all[3 - slice->rank + a];
    at[count++] = grid->offset[a] + ((double)slice->first[a] + grid->position[a]) * grid->spacing[a];
  }
  if (count == 0) return SIM_OK;
  SIM_TRY(io_h5_attr_texts(mesh, "sliceAxes", axis_names, count));
  return io_h5_attr(mesh, "slicePosition", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, at);
}

/* What a slice keeps of a field. */
static sim_status write_part(hid_t meshes, writer *self, const sim_array *array) {
  const sim_slice *slice = self->slice;
  const char *labels[3];
  sim_mesh mesh;
  sim_array part;
  hid_t dataset;
  int rank = 0;
  if (array->rank != slice->rank) return sim_fail(SIM_ERR_INTERNAL, "%s is not on the grid", array->field->name);
  sim_slice_shape(slice, array, &part, &mesh);
  for (int a = 0; a < slice->rank; a++)
    if (!slice->cut[a]) labels[rank++] = labels_of_all[3 - slice->rank + a];
  const size_t bytes = sim_array_bytes(&part);
  if (bytes > self->value_bytes) {
    free(self->values);
    self->values = malloc(bytes);
    self->value_bytes = self->values ? bytes : 0;
    if (!self->values) return sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
  }
  sim_slice_gather(slice, array, self->values);
  part.data = self->values;
  SIM_TRY(write_mesh(meshes, self, &part, labels, &dataset));
  sim_status status = write_planes(dataset, slice, array->mesh);
  H5Dclose(dataset);
  return status;
}

static sim_status write_whole(hid_t meshes, const writer *self, const sim_array *array) {
  hid_t dataset;
  SIM_TRY(write_mesh(meshes, self, array, labels_of_all + 3 - array->rank, &dataset));
  H5Dclose(dataset);
  return SIM_OK;
}

static sim_status write_meshes(hid_t iteration, writer *self, const sim_frame *frame) {
  hid_t meshes;
  if (!has_meshes(frame)) return SIM_OK;
  SIM_TRY(io_h5_group(iteration, "meshes", &meshes));
  sim_status status = SIM_OK;
  for (size_t i = 0; status == SIM_OK && i < frame->array_count; i++)
    if (io_record_is_mesh(&frame->arrays[i]))
      status = self->slice ? write_part(meshes, self, &frame->arrays[i]) : write_whole(meshes, self, &frame->arrays[i]);
  H5Gclose(meshes);
  return status;
}

static sim_status write_iteration(hid_t data, writer *self, const sim_frame *frame) {
  char name[32];
  hid_t group, particles = -1;
  sim_status status;
  const double second = sim_units_si(self->provenance->units, (sim_dimension){0, 0, 1});
  snprintf(name, sizeof name, "%lld", (long long)frame->clock.step);
  SIM_TRY(io_h5_group(data, name, &group));
  SIM_TRY_GOTO(status, io_h5_attr_f64(group, "time", frame->clock.t), done);
  SIM_TRY_GOTO(status, io_h5_attr_f64(group, "dt", frame->clock.dt), done);
  SIM_TRY_GOTO(status, io_h5_attr_f64(group, "timeUnitSI", second), done);
  SIM_TRY_GOTO(status, write_meshes(group, self, frame), done);
  if (frame->species_count == 0) goto done;
  SIM_TRY_GOTO(status, io_h5_group(group, "particles", &particles), done);
  for (size_t i = 0; status == SIM_OK && i < frame->species_count; i++)
    status = write_species(particles, self, frame, &frame->species[i]);
  H5Gclose(particles);
done:
  H5Gclose(group);
  return status;
}

static sim_status write_all(hid_t root, writer *self, const sim_frame *frame) {
  const io_provenance *from = self->provenance;
  const uint32_t extension = 0;
  char date[32];
  hid_t data;
  io_now(date);
  SIM_TRY(io_h5_attr_text(root, "openPMD", "1.1.0"));
  SIM_TRY(io_h5_attr(root, "openPMDextension", H5T_STD_U32LE, H5T_NATIVE_UINT32, 0, &extension));
  SIM_TRY(io_h5_attr_text(root, "basePath", "/data/%T/"));
  if (has_meshes(frame)) SIM_TRY(io_h5_attr_text(root, "meshesPath", "meshes/"));
  if (frame->species_count > 0) SIM_TRY(io_h5_attr_text(root, "particlesPath", "particles/"));
  SIM_TRY(io_h5_attr_text(root, "iterationEncoding", "fileBased"));
  SIM_TRY(io_h5_attr_text(root, "iterationFormat", "snap_%T.h5"));
  SIM_TRY(io_h5_attr_text(root, "author", from->author && from->author[0] ? from->author : "unknown"));
  SIM_TRY(io_h5_attr_text(root, "software", "sim"));
  SIM_TRY(io_h5_attr_text(root, "softwareVersion", from->version));
  SIM_TRY(io_h5_attr_text(root, "date", date));
  SIM_TRY(io_h5_group(root, "data", &data));
  sim_status status = write_iteration(data, self, frame);
  H5Gclose(data);
  return status == SIM_OK ? io_provenance_write(root, from) : status;
}

static sim_status snapshot_write(void *opaque, const sim_frame *frame) {
  static const char pattern[] = "snap/snap_%08T.h5\n";
  writer *self = opaque;
  char name[64];
  io_h5_file file;
  if (!self->described) SIM_TRY(io_folder_write(self->folder, "run.pmd", pattern, sizeof pattern - 1));
  self->described = true;
  snprintf(name, sizeof name, IO_SNAPSHOT_NAME, (long long)frame->clock.step);
  SIM_TRY(io_h5_begin(self->folder->snap, self->folder->snap_path, name, false, &file));
  SIM_TRY(io_h5_finish(&file, write_all(file.id, self, frame)));
  return io_index_add(self->index, frame);
}

/* The indexes are a convenience: a failure is reported and tried again, and keeps no checkpoint from being made. */
static void write_index(writer *self, bool last) {
  if (io_index_write(self->index, last) != SIM_OK)
    sim_log(SIM_LOG_WARN, "index of the snapshots not written: %s", sim_error_last()->message);
}

static sim_status snapshot_flush(void *opaque) {
  write_index(opaque, false);
  return SIM_OK;
}

static void snapshot_destroy(void **opaque) {
  writer *self = *opaque;
  const sim_error cause = *sim_error_last(); /* why the run ends: not to be lost here */
  if (self) {
    write_index(self, true);
    io_index_destroy(&self->index);
  }
  if (cause.status != SIM_OK) sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
  free(self);
  *opaque = NULL;
}

sim_status io_snapshot_sink(io_folder *folder, const io_provenance *provenance, sim_cadence cadence, sim_sink *out) {
  writer *self = calloc(1, sizeof *self);
  if (!self) return sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
  self->folder = folder;
  self->provenance = provenance;
  self->index = io_index_create(&(io_index_place){.folder = folder->root,
                                                  .snaps = folder->snap,
                                                  .folder_path = folder->path,
                                                  .snaps_path = folder->snap_path,
                                                  .below = "snap/"},
                                provenance);
  if (!self->index) {
    free(self);
    return sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
  }
  *out = (sim_sink){.name = "snapshots",
                    .kind = SIM_SINK_SNAPSHOT,
                    .cadence = cadence,
                    .self = self,
                    .write = snapshot_write,
                    .flush = snapshot_flush,
                    .destroy = snapshot_destroy};
  return SIM_OK;
}

/* ---- slices ---- */

static sim_status slice_write(void *opaque, const sim_frame *frame) {
  writer *self = opaque;
  sim_frame part = *frame;
  char name[64];
  io_h5_file file;
  part.species_count = 0;
  snprintf(name, sizeof name, IO_SNAPSHOT_NAME, (long long)frame->clock.step);
  SIM_TRY(io_h5_begin(self->slice_folder, self->slice_path, name, false, &file));
  SIM_TRY(io_h5_finish(&file, write_all(file.id, self, &part)));
  return io_index_add(self->index, &part);
}

static void slice_destroy(void **opaque) {
  writer *self = *opaque;
  if (self) free(self->values);
  const int slice_folder = self ? self->slice_folder : -1;
  snapshot_destroy(opaque);
  if (slice_folder >= 0) (void)close(slice_folder);
}

sim_status io_slice_sink(io_folder *folder, const io_provenance *provenance, const sim_slice *slice, sim_sink *out) {
  writer *self = calloc(1, sizeof *self);
  if (!self) return sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
  self->folder = folder;
  self->provenance = provenance;
  self->slice = slice;
  sim_status status =
      io_folder_slice(folder, slice->name, self->slice_path, sizeof self->slice_path, &self->slice_folder);
  if (status == SIM_OK) {
    self->index = io_index_create(&(io_index_place){.folder = self->slice_folder,
                                                    .snaps = self->slice_folder,
                                                    .folder_path = self->slice_path,
                                                    .snaps_path = self->slice_path,
                                                    .below = "",
                                                    .slice = slice},
                                  provenance);
    if (!self->index) {
      (void)close(self->slice_folder);
      status = sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
    }
  }
  if (status != SIM_OK) {
    free(self);
    return status;
  }
  *out = (sim_sink){.name = "slice",
                    .kind = SIM_SINK_SNAPSHOT,
                    .cadence = slice->when,
                    .self = self,
                    .write = slice_write,
                    .flush = snapshot_flush,
                    .destroy = slice_destroy};
  return SIM_OK;
}
