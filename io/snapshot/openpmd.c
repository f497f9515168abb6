/* The records of one snapshot in openPMD 1.1.0. An array with SIM_IN_SNAPSHOT that runs over all particles becomes a
 * record of every species, even of a species without particles: a scalar if its rank is 1, a vector if its shape is {3,
 * n}. An array on a grid becomes a mesh; arrays named velocity/x, velocity/y, ... become the components of one mesh. */
#include "io/snapshot/openpmd.h"

#include "io/hdf5/h5.h"
#include "io/snapshot/snapshot.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const axes[] = {"x", "y", "z"};

static sim_status write_record_attributes(hid_t record, sim_dimension dimension) {
  const double powers[7] = {dimension.length, dimension.mass, dimension.time};
  SIM_TRY(io_h5_attr(record, "unitDimension", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 7, powers));
  return io_h5_attr_f64(record, "timeOffset", 0);
}

/* Writes a constant component or scalar record: a group that stands for `count` equal values. `record` NULL: a
 * component. */
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

/* Adds a dataset whose values come from `source`. */
static sim_status place(io_openpmd *self, hid_t parent, const char *name, sim_dtype dtype, int rank,
                        const hsize_t *shape, const io_source *source, hid_t *out) {
  int piece;
  SIM_TRY(io_image_dataset(&self->image, parent, name, io_h5_file_type(dtype), rank, shape, &piece, out));
  if (piece < 0) return SIM_OK;
  if ((size_t)piece == self->capacity) {
    const size_t more = self->capacity ? 2 * self->capacity : 64;
    io_source *sources = realloc(self->sources, more * sizeof *sources);
    if (!sources) {
      H5Dclose(*out);
      return sim_no_memory("a snapshot");
    }
    self->sources = sources;
    self->capacity = more;
  }
  self->sources[piece] = *source;
  return SIM_OK;
}

/* Writes part of one row of an array as a dataset; if `values` is given, writes these, which stay the same in all
 * files. */
static sim_status write_values(io_openpmd *self, hid_t parent, const char *name, sim_dtype dtype, const void *values,
                               const io_source *source, int64_t count, double unit_si, const sim_dimension *record) {
  hid_t dataset;
  const hsize_t shape = (hsize_t)count;
  SIM_TRY(values ? io_h5_dataset(parent, name, io_h5_file_type(dtype), io_h5_memory_type(dtype), 1, &shape, NULL,
                                 values, &dataset)
                 : place(self, parent, name, dtype, 1, &shape, source, &dataset));
  sim_status status = io_h5_attr_f64(dataset, "unitSI", unit_si);
  if (status == SIM_OK && record) status = write_record_attributes(dataset, *record);
  H5Dclose(dataset);
  return status;
}

static const void *component(const sim_array *array, int row, const sim_species *species) {
  size_t size = sim_dtype_size(array->dtype);
  int64_t n = array->shape[array->rank - 1];
  return (const char *)array->data + (size_t)(row * n + species->first) * size;
}

static int64_t particle_count(const sim_frame *frame) {
  int64_t n = 0;
  for (size_t i = 0; i < frame->species_count; i++)
    if (frame->species[i].first + frame->species[i].count > n) n = frame->species[i].first + frame->species[i].count;
  return n;
}

int io_record_components(const sim_frame *frame, const sim_array *array) {
  const int64_t n = particle_count(frame);
  if (!(array->field->flags & SIM_IN_SNAPSHOT) || frame->species_count == 0) return 0;
  if (array->rank == 1 && array->shape[0] == n) return 1;
  return array->rank == 2 && array->shape[0] == 3 && array->shape[1] == n ? 3 : 0;
}

bool io_record_is_constant(const sim_array *array, const sim_species *species) {
  if (strcmp(array->field->name, IO_CONSTANT_RECORD) != 0) return false;
  const size_t size = sim_dtype_size(array->dtype);
  const char *values = component(array, 0, species);
  return species->count < 2 || memcmp(values, values + size, (size_t)(species->count - 1) * size) == 0;
}

double io_record_constant(const sim_array *array, const sim_species *species) {
  if (!io_record_is_constant(array, species)) return NAN;
  if (species->count == 0) return 0;
  const void *value = component(array, 0, species);
  return array->dtype == SIM_F32 ? (double)*(const float *)value : *(const double *)value;
}

static sim_status write_scalar(io_openpmd *self, hid_t group, const sim_frame *frame, size_t a, size_t s,
                               double unit_si) {
  static const double none = 0; /* the constant of a species without particles */
  const sim_array *array = &frame->arrays[a];
  const sim_species *species = &frame->species[s];
  if (io_record_is_constant(array, species))
    return write_constant(group, array->field->name, array->dtype,
                          species->count > 0 ? component(array, 0, species) : (const void *)&none, species->count,
                          unit_si, &array->field->dimension);
  return write_values(self, group, array->field->name, array->dtype, NULL, &(io_source){IO_PARTICLES, a, 0, s},
                      species->count, unit_si, &array->field->dimension);
}

static sim_status write_vector(io_openpmd *self, hid_t group, const sim_frame *frame, size_t a, size_t s,
                               double unit_si) {
  const sim_array *array = &frame->arrays[a];
  hid_t record;
  SIM_TRY(io_h5_group(group, array->field->name, &record));
  sim_status status = write_record_attributes(record, array->field->dimension);
  for (int row = 0; status == SIM_OK && row < 3; row++)
    status = write_values(self, record, axes[row], array->dtype, NULL, &(io_source){IO_PARTICLES, a, row, s},
                          frame->species[s].count, unit_si, NULL);
  H5Gclose(record);
  return status;
}

/* Writes the record positionOffset, required with a position; here it is zero. */
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

/* Minimum and width of the range of one row, over finite values. */
enum { LANES = 8 };
static double low_or(double x, double other) { return fabs(x) <= DBL_MAX && x < other ? x : other; }
static double high_or(double x, double other) { return fabs(x) <= DBL_MAX && x > other ? x : other; }
#define BOUNDS(name, real, magnitude, largest)                                                                         \
  static void name(const real *x, int64_t count, double *low, double *high) {                                          \
    real least[LANES], most[LANES];                                                                                    \
    int64_t i = 0;                                                                                                     \
    for (int k = 0; k < LANES; k++) least[k] = INFINITY, most[k] = -INFINITY;                                          \
    for (; i + LANES <= count; i += LANES)                                                                             \
      for (int k = 0; k < LANES; k++) {                                                                                \
        const real v = x[i + k], size = magnitude(v);                                                                  \
        const real a = size <= largest ? v : INFINITY, b = size <= largest ? v : -INFINITY;                            \
        least[k] = a < least[k] ? a : least[k];                                                                        \
        most[k] = b > most[k] ? b : most[k];                                                                           \
      }                                                                                                                \
    for (int k = 0; k < LANES; k++) *low = low_or((double)least[k], *low), *high = high_or((double)most[k], *high);    \
    for (; i < count; i++) *low = low_or((double)x[i], *low), *high = high_or((double)x[i], *high);                    \
  }
BOUNDS(bounds_f32, float, fabsf, FLT_MAX)
BOUNDS(bounds_f64, double, fabs, DBL_MAX)
static void bounds(const sim_array *array, int row, const sim_species *species, double *least, double *width) {
  double low = INFINITY, high = -INFINITY;
  if (array->dtype == SIM_F32)
    bounds_f32(component(array, row, species), species->count, &low, &high);
  else
    bounds_f64(component(array, row, species), species->count, &low, &high);
  *least = low <= high ? low : 0;
  *width = low <= high ? high - low : 0;
}

/* Writes one patch with all particles. */
static sim_status write_patches(io_openpmd *self, hid_t group, const sim_frame *frame, size_t a, size_t s,
                                double unit_si) {
  const uint64_t count = (uint64_t)frame->species[s].count, first = 0;
  const sim_dimension none = {0};
  hid_t patches, record;
  SIM_TRY(io_h5_group(group, "particlePatches", &patches));
  sim_status status = write_values(self, patches, "numParticles", SIM_U64, &count, NULL, 1, 1, &none);
  if (status == SIM_OK) status = write_values(self, patches, "numParticlesOffset", SIM_U64, &first, NULL, 1, 1, &none);
  for (int k = 0; status == SIM_OK && k < 2; k++) {
    status = io_h5_group(patches, k ? "extent" : "offset", &record);
    if (status != SIM_OK) break;
    status = write_record_attributes(record, frame->arrays[a].field->dimension);
    for (int row = 0; status == SIM_OK && row < 3; row++)
      status = write_values(self, record, axes[row], SIM_F64, NULL, &(io_source){k ? IO_EXTENT : IO_LEAST, a, row, s},
                            1, unit_si, NULL);
    H5Gclose(record);
  }
  H5Gclose(patches);
  return status;
}

static sim_status write_species(io_openpmd *self, hid_t particles, const sim_frame *frame, size_t index) {
  const sim_species *species = &frame->species[index];
  hid_t group;
  sim_status status = SIM_OK;
  SIM_TRY(io_h5_group(particles, species->name, &group));
  for (size_t i = 0; status == SIM_OK && i < frame->array_count; i++) {
    const sim_array *array = &frame->arrays[i];
    const int components = io_record_components(frame, array);
    const double unit_si = sim_units_si(self->provenance->units, array->field->dimension);
    if (components == 1) status = write_scalar(self, group, frame, i, index, unit_si);
    if (components != 3) continue;
    status = write_vector(self, group, frame, i, index, unit_si);
    bool real = array->dtype == SIM_F32 || array->dtype == SIM_F64;
    if (strcmp(array->field->name, "position") != 0 || !real) continue;
    if (status == SIM_OK) status = write_offset(group, array, species, unit_si);
    if (status == SIM_OK) status = write_patches(self, group, frame, i, index, unit_si);
  }
  H5Gclose(group);
  return status;
}

/* ---- meshes ---- */

const char *io_record_component(const sim_array *array) {
  const char *slash = strchr(array->field->name, '/');
  return slash ? slash + 1 : NULL;
}

bool io_record_is_mesh(const sim_array *array) { return (array->field->flags & SIM_IN_SNAPSHOT) && array->mesh; }

static bool has_meshes(const sim_frame *frame) {
  for (size_t i = 0; i < frame->array_count; i++)
    if (io_record_is_mesh(&frame->arrays[i])) return true;
  return false;
}

/* Writes the attributes of a whole record; see io_record_component. */
static sim_status write_grid_attributes(hid_t mesh, const io_openpmd *self, const sim_array *array,
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
  return io_h5_attr_f64(mesh, "gridUnitSI", sim_units_si(units, (sim_dimension){1, 0, 0}));
}

static sim_status write_component_attributes(hid_t mesh, const io_openpmd *self, const sim_array *array) {
  const hsize_t rank = (hsize_t)array->rank;
  SIM_TRY(io_h5_attr(mesh, "position", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, rank, array->mesh->position));
  return io_h5_attr_f64(mesh, "unitSI", sim_units_si(self->provenance->units, array->field->dimension));
}

static const char *const labels_of_all[] = {"z", "y", "x"};

/* Writes the positions of cut planes. openPMD does not define such attributes, but allows others. */
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

/* Opens the group of a vector: NAME of the component NAME/x; creates it for the first component. */
static sim_status open_vector(hid_t meshes, const char *component, hid_t *out) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(component, "/"), component);
  *out = H5Lexists(meshes, name, H5P_DEFAULT) > 0 ? H5Gopen2(meshes, name, H5P_DEFAULT) : -1;
  return *out >= 0 ? SIM_OK : io_h5_group(meshes, name, out);
}

/* Writes a field, or the cells of the field that a slice keeps. */
static sim_status write_field(io_openpmd *self, hid_t meshes, const sim_frame *frame, size_t index) {
  const sim_array *array = &frame->arrays[index];
  const sim_slice *slice = self->slice;
  const char *labels[SIM_RANK_MAX];
  hsize_t shape[SIM_RANK_MAX];
  sim_mesh mesh;
  sim_array part = *array;
  hid_t dataset;
  int rank = 0;
  if (slice) {
    if (array->rank != slice->rank) return sim_fail(SIM_ERR_INTERNAL, "%s is not on the grid", array->field->name);
    sim_slice_shape(slice, array, &part, &mesh);
  }
  for (int a = 0; a < array->rank; a++)
    if (!slice || !slice->cut[a]) labels[rank++] = labels_of_all[3 - array->rank + a];
  for (int a = 0; a < part.rank; a++) shape[a] = (hsize_t)part.shape[a];
  const char *letter = io_record_component(array);
  hid_t record = meshes;
  sim_status status = SIM_OK;
  if (letter) status = open_vector(meshes, array->field->name, &record);
  if (status == SIM_OK)
    status = place(self, record, letter ? letter : array->field->name, array->dtype, part.rank, shape,
                   &(io_source){IO_FIELD, index, 0, 0}, &dataset);
  if (status == SIM_OK) {
    const hid_t owner = letter ? record : dataset;
    if (H5Aexists(owner, "geometry") == 0) {
      status = write_grid_attributes(owner, self, &part, labels);
      if (status == SIM_OK && slice) status = write_planes(owner, slice, array->mesh);
    }
    if (status == SIM_OK) status = write_component_attributes(dataset, self, &part);
    H5Dclose(dataset);
  }
  if (letter && record >= 0) H5Gclose(record);
  return status;
}

static sim_status write_meshes(io_openpmd *self, hid_t iteration, const sim_frame *frame) {
  hid_t meshes;
  if (!has_meshes(frame)) return SIM_OK;
  SIM_TRY(io_h5_group(iteration, "meshes", &meshes));
  sim_status status = SIM_OK;
  for (size_t i = 0; status == SIM_OK && i < frame->array_count; i++)
    if (io_record_is_mesh(&frame->arrays[i])) status = write_field(self, meshes, frame, i);
  H5Gclose(meshes);
  return status;
}

/* What differs between the files of one layout: step, times, date. */
typedef struct moment {
  char name[32], date[32];
  double time, dt;
} moment;

static sim_status write_iteration(io_openpmd *self, hid_t data, const sim_frame *frame, const moment *when) {
  hid_t group, particles = -1;
  sim_status status;
  const double second = sim_units_si(self->provenance->units, (sim_dimension){0, 0, 1});
  SIM_TRY(io_h5_group(data, when->name, &group));
  SIM_TRY_GOTO(status, io_h5_attr_f64(group, "time", when->time), done);
  SIM_TRY_GOTO(status, io_h5_attr_f64(group, "dt", when->dt), done);
  SIM_TRY_GOTO(status, io_h5_attr_f64(group, "timeUnitSI", second), done);
  SIM_TRY_GOTO(status, write_meshes(self, group, frame), done);
  if (frame->species_count == 0) goto done;
  SIM_TRY_GOTO(status, io_h5_group(group, "particles", &particles), done);
  for (size_t i = 0; status == SIM_OK && i < frame->species_count; i++)
    status = write_species(self, particles, frame, i);
  H5Gclose(particles);
done:
  H5Gclose(group);
  return status;
}

static sim_status write_all(io_openpmd *self, const sim_frame *frame, const moment *when) {
  const io_provenance *from = self->provenance;
  const uint32_t extension = 0;
  const hid_t root = self->image.file;
  hid_t data;
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
  SIM_TRY(io_h5_attr_text(root, "date", when->date));
  SIM_TRY(io_h5_group(root, "data", &data));
  sim_status status = write_iteration(self, data, frame, when);
  H5Gclose(data);
  return status == SIM_OK ? io_provenance_write(root, from) : status;
}

/* ---- one layout, many files ---- */

/* Writes everything that HDF5's records depend on, except the moment. */
static void describe(const sim_frame *frame, const moment *when, sim_bytes *key) {
  sim_bytes_format(key, "%zu %zu %zu\n", strlen(when->name), strlen(when->date), frame->species_count);
  for (size_t s = 0; s < frame->species_count; s++)
    sim_bytes_format(key, "%s %lld %lld\n", frame->species[s].name, (long long)frame->species[s].first,
                     (long long)frame->species[s].count);
  for (size_t i = 0; i < frame->array_count; i++) {
    const sim_array *array = &frame->arrays[i];
    if (!(array->field->flags & SIM_IN_SNAPSHOT)) continue;
    sim_bytes_format(key, "%zu %s %d %d", i, array->field->name, (int)array->dtype, array->rank);
    for (int a = 0; a < array->rank; a++)
      sim_bytes_format(key, " %lld %lld", (long long)array->shape[a], (long long)array->offset[a]);
    if (array->mesh) sim_bytes_add(key, array->mesh, sizeof *array->mesh);
    if (io_record_components(frame, array) != 1) continue;
    for (size_t s = 0; s < frame->species_count; s++) {
      const bool constant = io_record_is_constant(array, &frame->species[s]);
      sim_bytes_text(key, constant ? "=" : "*");
      if (constant && frame->species[s].count > 0)
        sim_bytes_add(key, component(array, 0, &frame->species[s]), sim_dtype_size(array->dtype));
    }
  }
}

static sim_status build(io_openpmd *self, const sim_frame *frame, const moment *when) {
  io_image_free(&self->image);
  self->built = self->again = false;
  SIM_TRY(io_image_begin(false, &self->image));
  SIM_TRY(io_image_end(&self->image, write_all(self, frame, when)));
  free(self->bounds);
  self->bounds = calloc(self->image.count + 1, 2 * sizeof *self->bounds);
  if (!self->bounds) return sim_no_memory("a snapshot");
  self->built = true;
  return SIM_OK;
}

/* Builds an image whose moment has values that occur nowhere else, so that their offsets can be found. */
static sim_status build_for_many(io_openpmd *self, const sim_frame *frame, const moment *when) {
  static const unsigned char marks[2][8] = {{0x5a, 0x13, 0xc7, 0x68, 0x91, 0x2e, 0xf4, 0x41},
                                            {0xa6, 0xd9, 0x37, 0x8c, 0x1b, 0x72, 0xe5, 0x42}};
  moment marked = *when;
  memset(marked.name, '~', strlen(when->name));
  memset(marked.date, '^', strlen(when->date));
  memcpy(&marked.time, marks[0], sizeof marked.time);
  memcpy(&marked.dt, marks[1], sizeof marked.dt);
  SIM_TRY(build(self, frame, &marked));
  /* The byte before a name is its length, which distinguishes a short name from other bytes. */
  char name[sizeof marked.name + 1] = {(char)strlen(when->name)};
  memcpy(name + 1, marked.name, strlen(when->name));
  self->name = io_image_find(&self->image, name, strlen(when->name) + 1) + 1;
  self->date = io_image_find(&self->image, marked.date, strlen(when->date));
  self->time = io_image_find(&self->image, &marked.time, sizeof marked.time);
  self->dt = io_image_find(&self->image, &marked.dt, sizeof marked.dt);
  self->again = self->name > 1 && self->date && self->time && self->dt;
  return self->again ? SIM_OK : build(self, frame, when);
}

static void set_moment(io_openpmd *self, const moment *when) {
  io_image_patch(&self->image, self->name, when->name, strlen(when->name));
  io_image_patch(&self->image, self->date, when->date, strlen(when->date));
  io_image_patch(&self->image, self->time, &when->time, sizeof when->time);
  io_image_patch(&self->image, self->dt, &when->dt, sizeof when->dt);
}

static sim_status cut_part(io_openpmd *self, const sim_array *array, size_t index) {
  sim_array part;
  sim_mesh mesh;
  sim_slice_shape(self->slice, array, &part, &mesh);
  const size_t bytes = sim_array_bytes(&part);
  if (bytes > self->part_bytes[index]) {
    free(self->parts[index]);
    self->parts[index] = malloc(bytes);
    self->part_bytes[index] = self->parts[index] ? bytes : 0;
    if (!self->parts[index]) return sim_no_memory("a snapshot");
  }
  sim_slice_gather(self->slice, array, self->parts[index]);
  return SIM_OK;
}

/* Sets the data of every piece to the frame's values. */
static sim_status set_values(io_openpmd *self, const sim_frame *frame) {
  for (size_t i = 0; i < self->image.count; i++) {
    const io_source *source = &self->sources[i];
    const sim_array *array = &frame->arrays[source->array];
    const sim_species *species = &frame->species[source->species];
    const void **data = &self->image.pieces[i].data;
    double *least = &self->bounds[2 * i], *width = least + 1;
    switch (source->kind) {
    case IO_PARTICLES: *data = component(array, source->row, species); break;
    case IO_LEAST:
      bounds(array, source->row, species, least, width);
      *data = least;
      break;
    case IO_EXTENT: /* the dataset three pieces before holds the minima of the same rows */
      *least = self->bounds[2 * (i - 3) + 1];
      *data = least;
      break;
    case IO_FIELD:
      if (self->slice) SIM_TRY(cut_part(self, array, source->array));
      *data = self->slice ? self->parts[source->array] : array->data;
      break;
    }
  }
  return SIM_OK;
}

/* Makes the records of a layout reusable from its second file on: the counts of species may change with every file. */
static sim_status prepare(io_openpmd *self, const sim_frame *frame, const moment *when) {
  sim_bytes key = {0};
  describe(frame, when, &key);
  if (key.failed) {
    sim_bytes_free(&key);
    return sim_no_memory("a snapshot");
  }
  const bool same = self->built && key.size == self->key.size && memcmp(key.data, self->key.data, key.size) == 0;
  sim_bytes_free(&self->key);
  self->key = key;
  if (!same) return build(self, frame, when);
  if (!self->again) SIM_TRY(build_for_many(self, frame, when));
  if (self->again) set_moment(self, when);
  return SIM_OK;
}

sim_status io_openpmd_write(io_openpmd *self, const sim_frame *frame, io_hosts *hosts, io_file *file) {
  moment when = {.time = frame->clock.t, .dt = frame->clock.dt};
  snprintf(when.name, sizeof when.name, "%lld", (long long)frame->clock.step);
  io_now(when.date);
  sim_status status = prepare(self, frame, &when);
  if (status == SIM_OK) status = set_values(self, frame);
  if (status == SIM_OK) return io_hosts_write(hosts, &self->image, file);
  io_file_discard(file);
  return status;
}

void io_openpmd_free(io_openpmd *self) {
  io_image_free(&self->image);
  free(self->sources);
  free(self->bounds);
  sim_bytes_free(&self->key);
  for (size_t i = 0; i < SIM_ARRAYS_MAX; i++) free(self->parts[i]);
}
