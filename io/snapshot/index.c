#include "io/snapshot/index.h"

#include "io/hdf5/h5.h"
#include "io/snapshot/snapshot.h"
#include "io/snapshot/virtual.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct io_index {
  io_index_place place;
  const io_provenance *provenance;
  io_vtk_step *steps; /* in increasing order */
  int64_t *counts;    /* [step][species] */
  double *constants;  /* [step][species]: io_record_constant */
  size_t count, capacity;
  sim_species species[SIM_SPECIES_MAX];
  size_t species_count;
  io_vtk_record records[SIM_ARRAYS_MAX], fields[SIM_ARRAYS_MAX]; /* records of particles, and fields of the grid */
  size_t record_count, field_count;
  io_vtk_grid grid;
  io_vtk_file *files[SIM_SPECIES_MAX], *grid_file; /* files in progress; NULL: not begun */
  size_t written;                                  /* number of steps in the files */
  io_later_result result;
  int failures; /* failures of `result` already reported */
  int64_t once; /* step of the file that has the arrays that snapshots have once */
  bool scanned, changed;
};

io_index *io_index_create(const io_index_place *place, const io_provenance *provenance) {
  io_index *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->place = *place;
  self->provenance = provenance;
  return self;
}

/* Discards the files in progress: their blocks of steps are no longer valid, or failed. */
static void discard_files(io_index *self) {
  for (size_t i = 0; i < SIM_SPECIES_MAX; i++) io_vtk_discard(&self->files[i]);
  io_vtk_discard(&self->grid_file);
}

void io_index_destroy(io_index **index) {
  if (!*index) return;
  discard_files(*index);
  free((*index)->steps);
  free((*index)->counts);
  free((*index)->constants);
  free(*index);
  *index = NULL;
}

/* Makes room for one more step; the caller fills in its counts. */
static sim_status make_room(io_index *self) {
  if (self->count < self->capacity) return SIM_OK;
  size_t capacity = self->capacity ? 2 * self->capacity : 64, species = self->species_count ? self->species_count : 1;
  io_vtk_step *steps = realloc(self->steps, capacity * sizeof *steps);
  if (steps) self->steps = steps;
  int64_t *counts = realloc(self->counts, capacity * species * sizeof *counts);
  if (counts) self->counts = counts;
  double *constants = realloc(self->constants, capacity * species * sizeof *constants);
  if (constants) self->constants = constants;
  if (!steps || !counts || !constants) return sim_no_memory("the index of snapshots");
  self->capacity = capacity;
  return SIM_OK;
}

/* Number of particles of a species in an earlier snapshot; -1: unknown. */
static int64_t count_of(const io_h5_source *source, hid_t group, const char *species) {
  char object[192];
  io_h5_shape shape;
  snprintf(object, sizeof object, "particles/%s", species);
  if (H5Lexists(group, "particles", H5P_DEFAULT) <= 0 || H5Lexists(group, object, H5P_DEFAULT) <= 0) return 0;
  snprintf(object, sizeof object, "particles/%s/position/x", species);
  hid_t dataset = H5Dopen2(group, object, H5P_DEFAULT);
  bool good = dataset >= 0 && io_h5_check(source, dataset, object, true, &shape) == SIM_OK && shape.rank == 1;
  io_h5_drop(dataset);
  return good ? shape.shape[0] : -1;
}

/* The constant value of IO_CONSTANT_RECORD in an earlier snapshot; NaN: a dataset, or absent. */
static double constant_of(const io_h5_source *source, hid_t group, const char *species) {
  char object[192];
  double value = NAN;
  float single;
  snprintf(object, sizeof object, "particles/%s", species);
  if (H5Lexists(group, "particles", H5P_DEFAULT) <= 0 || H5Lexists(group, object, H5P_DEFAULT) <= 0) return 0;
  snprintf(object, sizeof object, "particles/%s/" IO_CONSTANT_RECORD, species);
  if (H5Lexists(group, object, H5P_DEFAULT) <= 0) return NAN;
  hid_t record = H5Oopen(group, object, H5P_DEFAULT);
  if (record >= 0 && H5Iget_type(record) == H5I_GROUP &&
      io_h5_get(source, record, "value", SIM_F64, 1, &value) != SIM_OK)
    value = io_h5_get(source, record, "value", SIM_F32, 1, &single) == SIM_OK ? (double)single : NAN;
  io_h5_drop(record);
  return value;
}

static bool has_letters(hid_t object, const char *name, const char *expected, size_t count) {
  char found[4];
  hid_t attribute = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
  hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
  const bool good = type >= 0 && H5Tget_size(type) == 1 && H5Aget_storage_size(attribute) == count &&
                    H5Aread(attribute, type, found) >= 0 && memcmp(found, expected, count) == 0;
  io_h5_drop(type);
  io_h5_drop(attribute);
  return good;
}

/* Whether a mesh has the cells of this grid: a slice of this name may have been different in an earlier part of the
 * run. */
static bool same_cells(const io_h5_source *source, hid_t record, const io_h5_shape *shape, const io_vtk_grid *grid) {
  char planes[3];
  double at[3], position[3], spacing[3], found[3];
  int rank = 0, cut = 0;
  for (int a = 0; a < grid->rank; a++) {
    if (grid->cut[a]) {
      planes[cut] = "zyx"[3 - grid->rank + a];
      position[cut++] = grid->mesh.offset[a];
    } else {
      if (rank == shape->rank || shape->shape[rank] != grid->shape[a]) return false;
      spacing[rank++] = grid->mesh.spacing[a];
    }
  }
  if (rank != shape->rank || io_h5_get(source, record, "gridSpacing", SIM_F64, rank, found) != SIM_OK) return false;
  for (int i = 0; i < rank; i++)
    if (found[i] != spacing[i]) return false;
  if (cut == 0) return H5Aexists(record, "slicePosition") == 0;
  if (io_h5_get(source, record, "slicePosition", SIM_F64, cut, at) != SIM_OK) return false;
  for (int i = 0; i < cut; i++)
    if (at[i] != position[i]) return false;
  return has_letters(record, "sliceAxes", planes, (size_t)cut);
}

/* Whether a path leads to an object; HDF5 prints an error where a group on the way is missing. */
static bool exists(hid_t group, const char *path) {
  char name[128];
  for (const char *end = strchr(path, '/'); end; end = strchr(end + 1, '/')) {
    snprintf(name, sizeof name, "%.*s", (int)(end - path), path);
    if (!io_h5_has(group, name)) return false;
  }
  return io_h5_has(group, path);
}

static bool has_field(const io_h5_source *source, hid_t group, const io_index *self, const char *name) {
  char object[128];
  io_h5_shape shape;
  snprintf(object, sizeof object, "meshes/%s", name);
  if (!exists(group, object)) return false;
  hid_t dataset = H5Dopen2(group, object, H5P_DEFAULT);
  char *slash = strchr(name, '/') ? strrchr(object, '/') : NULL; /* a vector's attributes are those of its group */
  if (slash) *slash = '\0';
  hid_t record = slash && dataset >= 0 ? H5Gopen2(group, object, H5P_DEFAULT) : dataset;
  bool good = record >= 0 && io_h5_check(source, dataset, name, true, &shape) == SIM_OK &&
              same_cells(source, record, &shape, &self->grid);
  if (record != dataset) io_h5_drop(record);
  io_h5_drop(dataset);
  return good;
}

/* An earlier snapshot; group -1: it cannot be read. */
typedef struct earlier {
  char path[4300];
  int fd;
  io_vfd *vfd;
  hid_t root, group; /* group: of its step */
} earlier;

static void open_earlier(const io_index *self, int64_t step, earlier *out) {
  char name[64], object[64];
  off_t size;
  *out = (earlier){.fd = -1, .root = -1, .group = -1};
  snprintf(name, sizeof name, IO_SNAPSHOT_NAME, (long long)step);
  snprintf(out->path, sizeof out->path, "%s/%s", self->place.snaps_path, name);
  if (io_file_open(self->place.snaps, name, out->path, &out->fd, &size) != SIM_OK) {
    out->fd = -1;
    return;
  }
  out->root = io_vfd_open(out->fd, out->path, &out->vfd);
  snprintf(object, sizeof object, "/data/%lld", (long long)step);
  if (out->root >= 0) out->group = H5Gopen2(out->root, object, H5P_DEFAULT);
}

static void close_earlier(earlier *file) {
  if (file->fd < 0) return;
  io_h5_drop(file->group);
  (void)io_vfd_close(file->root, &file->vfd);
  (void)close(file->fd);
}

/* Reads time and particle counts of an earlier snapshot; false if its species or fields differ. */
static bool examine(const io_index *self, int64_t step, double *time, int64_t *counts, double *constants) {
  earlier file;
  open_earlier(self, step, &file);
  const io_h5_source source = {file.path, SIM_ERR_IO};
  const hid_t group = file.group;
  bool good = group >= 0 && io_h5_get(&source, group, "time", SIM_F64, 1, time) == SIM_OK;
  for (size_t i = 0; good && i < self->species_count; i++) {
    counts[i] = count_of(&source, group, self->species[i].name);
    good = counts[i] >= 0;
    constants[i] = constant_of(&source, group, self->species[i].name);
  }
  for (size_t i = 0; good && i < self->field_count; i++)
    good = self->fields[i].once || has_field(&source, group, self, self->fields[i].name);
  close_earlier(&file);
  return good;
}

static sim_status scan(io_index *self, int64_t before) {
  int64_t *steps;
  size_t count;
  SIM_TRY(io_list_steps(self->place.snaps, self->place.snaps_path, "snap_", &steps, &count));
  sim_status status = SIM_OK;
  for (size_t i = count; status == SIM_OK && i-- > 0;) {
    if (steps[i] >= before) continue;
    status = make_room(self);
    if (status != SIM_OK) break;
    io_vtk_step *to = &self->steps[self->count];
    to->step = steps[i];
    const size_t row = self->count * self->species_count;
    if (examine(self, to->step, &to->time, self->counts + row, self->constants + row)) self->count++;
  }
  free(steps);
  self->scanned = true;
  return status;
}

/* Starts a new index if the frame has other species; the number of particles may change. */
static void read_species(io_index *self, const sim_frame *frame) {
  bool same = self->species_count == frame->species_count;
  for (size_t i = 0; same && i < frame->species_count; i++)
    same = strcmp(self->species[i].name, frame->species[i].name) == 0;
  if (!same) {
    discard_files(self);
    free(self->steps);
    free(self->counts);
    free(self->constants);
    self->steps = NULL;
    self->counts = NULL;
    self->constants = NULL;
    self->count = self->capacity = 0;
  }
  self->species_count = frame->species_count;
  if (self->species_count) memcpy(self->species, frame->species, self->species_count * sizeof *self->species);
}

static void read_records(io_index *self, const sim_frame *frame) {
  self->record_count = 0;
  for (size_t i = 0; i < frame->array_count; i++) {
    const sim_array *array = &frame->arrays[i];
    int components = io_record_components(frame, array);
    if (components == 0) continue;
    io_vtk_record *to = &self->records[self->record_count++];
    *to = (io_vtk_record){.name = array->field->name, .dtype = array->dtype, .components = components};
  }
}

static void read_constants(const io_index *self, const sim_frame *frame, double *constants) {
  for (size_t k = 0; k < self->species_count; k++) constants[k] = NAN;
  for (size_t i = 0; i < frame->array_count; i++)
    for (size_t k = 0; io_record_components(frame, &frame->arrays[i]) == 1 && k < self->species_count; k++)
      if (io_record_is_constant(&frame->arrays[i], &self->species[k]))
        constants[k] = io_record_constant(&frame->arrays[i], &self->species[k]);
}

/* Restricts a grid to the cells of a slice; a cut plane is at the position of its cells. */
static void cut_grid(io_vtk_grid *grid, const sim_slice *slice) {
  sim_mesh *mesh = &grid->mesh;
  for (int a = 0; a < grid->rank; a++) {
    grid->cut[a] = slice->cut[a];
    grid->shape[a] = slice->count[a];
    if (slice->cut[a]) {
      mesh->offset[a] += ((double)slice->first[a] + mesh->position[a]) * mesh->spacing[a];
      mesh->position[a] = 0;
    } else {
      mesh->spacing[a] *= (double)slice->step[a];
      mesh->position[a] /= (double)slice->step[a];
    }
  }
}

/* Collects the fields that have the grid of the first one. */
static void read_fields(io_index *self, const sim_frame *frame) {
  io_vtk_grid *grid = &self->grid;
  const sim_array *first = NULL;
  self->field_count = 0;
  for (size_t i = 0; i < frame->array_count; i++) {
    const sim_array *array = &frame->arrays[i];
    const size_t bytes = (size_t)array->rank * sizeof *array->shape;
    if (!io_record_is_mesh(array) || array->rank > 3) continue;
    if (!first) {
      first = array;
      *grid = (io_vtk_grid){.rank = array->rank, .mesh = *array->mesh};
      memcpy(grid->shape, array->shape, bytes);
      if (self->place.slice) cut_grid(grid, self->place.slice);
    }
    if (array->rank != first->rank || memcmp(first->shape, array->shape, bytes) != 0) continue;
    const char *letter = io_record_component(array);
    if (letter && letter[0] != 'x' && self->field_count > 0)
      self->fields[self->field_count - 1].components++;
    else
      self->fields[self->field_count++] = (io_vtk_record){array->field->name, array->dtype, 1, array->once};
  }
}

/* Adds blocks of steps to the files: in turn to those of one species after another, so that no output waits for all.
 * With `last`, adds to all files and completes them. */
static sim_status write_files(io_index *self, bool last) {
  const size_t turn = self->count % IO_BLOCK_STEPS;
  const io_index_place *place = &self->place;
  const io_vtk_series series = {.folder = place->folder,
                                .folder_path = place->folder_path,
                                .below = place->below,
                                .provenance = self->provenance,
                                .later = place->later,
                                .result = &self->result,
                                .steps = self->steps,
                                .count = self->count,
                                .once = self->once};
  bool has_position = false;
  for (size_t i = 0; i < self->record_count; i++)
    if (strcmp(self->records[i].name, "position") == 0 && self->records[i].components == 3) has_position = true;
  for (size_t i = 0; has_position && i < self->species_count; i++) {
    if (!last && i % IO_BLOCK_STEPS != turn) continue;
    SIM_TRY(io_vtk_particles(&series, self->species[i].name, self->records, self->record_count, self->counts + i,
                             self->constants + i, self->species_count, last, &self->files[i]));
  }
  return self->field_count && (last || turn == 0)
             ? io_vtk_image(&series, &self->grid, self->fields, self->field_count, last, &self->grid_file)
             : SIM_OK;
}

sim_status io_index_find_once(io_index *self, const sim_frame *frame, int64_t *step) {
  int64_t *steps;
  size_t count;
  *step = -1;
  read_fields(self, frame);
  SIM_TRY(io_list_steps(self->place.snaps, self->place.snaps_path, "snap_", &steps, &count));
  const int64_t first = count > 0 ? steps[count - 1] : frame->clock.step;
  free(steps);
  if (first >= frame->clock.step) return SIM_OK;
  earlier file;
  open_earlier(self, first, &file);
  const io_h5_source source = {file.path, SIM_ERR_IO};
  bool good = file.group >= 0;
  for (size_t i = 0; good && i < self->field_count; i++)
    good = !self->fields[i].once || has_field(&source, file.group, self, self->fields[i].name);
  close_earlier(&file);
  if (good) *step = self->once = first;
  return SIM_OK;
}

sim_status io_index_add(io_index *self, const sim_frame *frame, bool whole) {
  read_species(self, frame);
  read_records(self, frame);
  read_fields(self, frame);
  if (!self->scanned) SIM_TRY(scan(self, frame->clock.step));
  while (self->count > 0 && self->steps[self->count - 1].step >= frame->clock.step) {
    self->count--;
    discard_files(self);
  }
  SIM_TRY(make_room(self));
  if (whole && self->once != frame->clock.step) discard_files(self); /* their blocks point to another file */
  if (whole) self->once = frame->clock.step;
  self->changed = true;
  int64_t *counts = self->counts + self->count * self->species_count;
  for (size_t i = 0; i < self->species_count; i++) counts[i] = self->species[i].count;
  read_constants(self, frame, self->constants + self->count * self->species_count);
  self->steps[self->count++] = (io_vtk_step){frame->clock.step, frame->clock.t};
  if (self->count < IO_BLOCK_STEPS || self->count % IO_BLOCK_STEPS > self->species_count) return SIM_OK;
  io_later_wait_for(self->place.later, &self->result);         /* the files in progress have the same temporary names */
  if (write_files(self, false) != SIM_OK) discard_files(self); /* io_index_write tries again, and reports a failure */
  return SIM_OK;
}

sim_status io_index_wait(io_index *self) {
  io_later_wait_for(self->place.later, &self->result);
  if (self->result.failures == self->failures) return SIM_OK;
  self->failures = self->result.failures;
  self->changed = true;
  self->written = 0;
  return sim_fail(SIM_ERR_IO, "%s", self->result.why);
}

sim_status io_index_write(io_index *self, bool last) {
  (void)!io_index_wait(self); /* the files in progress have the same temporary names */
  /* All files are rewritten completely, which takes time proportional to the number of snapshots. */
  if (!last && self->count >= self->written && self->count - self->written <= self->written / 10) return SIM_OK;
  if (!self->changed) return SIM_OK;
  const sim_status status = write_files(self, true);
  if (status != SIM_OK) {
    discard_files(self);
    return status;
  }
  self->changed = false;
  self->written = self->count;
  return SIM_OK;
}
