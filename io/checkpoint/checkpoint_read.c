#include "io/checkpoint/checkpoint.h"

#include "engine/device/backend.h"
#include "engine/log.h"
#include "io/hdf5/h5.h"
#include "io/seal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Memory of a loaded checkpoint: io_checkpoint.owner. */
typedef struct state {
  sim_array arrays[SIM_ARRAYS_MAX];
  sim_field fields[SIM_ARRAYS_MAX];
  char names[SIM_ARRAYS_MAX][64];
  sim_species species[SIM_SPECIES_MAX];
  uint64_t bytes_left; /* bytes that may still be allocated */
} state;

void io_checkpoint_free(io_checkpoint *checkpoint) {
  state *self = checkpoint->owner;
  for (size_t i = 0; self && i < SIM_ARRAYS_MAX; i++) free(self->arrays[i].data);
  for (size_t i = 0; i < SIM_TABLES_MAX; i++) free(checkpoint->tables[i].tail);
  free(self);
  free(checkpoint->scenario_text);
  free(checkpoint->scenario_path);
  sim_value_free(&checkpoint->parameters);
  memset(checkpoint, 0, sizeof *checkpoint);
}

static bool is_word(const char *name) {
  if (*name == '\0') return false;
  for (; *name; name++)
    if (!isalnum((unsigned char)*name) && *name != '_') return false;
  return true;
}

/* Allocates `bytes`, zeroed and aligned to 64, within the limit bytes_left. */
static sim_status allocate(state *self, const io_h5_source *source, const char *name, size_t bytes, void **out) {
  if (bytes > self->bytes_left)
    return sim_fail(SIM_ERR_NO_MEMORY, "%s: %s is larger than the memory that is free", source->path, name);
  self->bytes_left -= bytes;
  size_t rounded = (bytes + 64) / 64 * 64;
  *out = aligned_alloc(64, rounded);
  if (!*out) return sim_no_memory("%s of %s: %zu bytes", name, source->path, bytes);
  memset(*out, 0, rounded);
  return SIM_OK;
}

/* Reads a uint8 dataset into *out, with a NUL appended; the caller frees it. */
static sim_status read_bytes(state *self, const io_h5_source *source, hid_t root, const char *name, char **out,
                             size_t *size) {
  hid_t dataset;
  io_h5_shape shape;
  void *data = NULL;
  SIM_TRY(io_h5_open(source, root, name, &dataset));
  sim_status status = io_h5_check(source, dataset, name, false, &shape);
  if (status == SIM_OK && (shape.dtype != IO_H5_BYTES || shape.rank != 1))
    status = io_h5_refuse(source, name, "is not a row of bytes");
  if (status == SIM_OK) status = allocate(self, source, name, shape.bytes, &data);
  if (status == SIM_OK && shape.bytes > 0 &&
      H5Dread(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
    status = io_h5_refuse(source, name, "cannot be read");
  H5Oclose(dataset);
  if (status != SIM_OK) {
    free(data);
    return status;
  }
  *out = data;
  *size = shape.bytes;
  return SIM_OK;
}

static sim_status read_array(state *self, const io_h5_source *source, hid_t group, size_t index) {
  sim_array *array = &self->arrays[index];
  const char *name = self->names[index];
  hid_t dataset;
  io_h5_shape shape;
  SIM_TRY(io_h5_open(source, group, name, &dataset));
  sim_status status = io_h5_check(source, dataset, name, false, &shape);
  if (status == SIM_OK && shape.dtype < 0) status = io_h5_refuse(source, name, "is of a type that no state array has");
  if (status == SIM_OK && shape.rank > 0)
    status = io_h5_get(source, dataset, "global", SIM_I64, shape.rank, array->global);
  if (status == SIM_OK && shape.rank > 0)
    status = io_h5_get(source, dataset, "offset", SIM_I64, shape.rank, array->offset);
  for (int i = 0; status == SIM_OK && i < shape.rank; i++) {
    array->shape[i] = shape.shape[i];
    if (array->offset[i] < 0 || array->global[i] < shape.shape[i] ||
        array->offset[i] > array->global[i] - shape.shape[i])
      status = io_h5_refuse(source, name, "does not lie within the whole that it is a part of");
  }
  if (status == SIM_OK) status = allocate(self, source, name, shape.bytes, &array->data);
  if (status == SIM_OK && shape.bytes > 0 &&
      H5Dread(dataset, io_h5_memory_type((sim_dtype)shape.dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT, array->data) < 0)
    status = io_h5_refuse(source, name, "cannot be read");
  H5Oclose(dataset);
  if (status != SIM_OK) return status;
  array->dtype = (sim_dtype)shape.dtype;
  array->rank = shape.rank;
  self->fields[index].name = name;
  self->fields[index].doc = "";
  array->field = &self->fields[index];
  return SIM_OK;
}

static sim_status read_state(state *self, const io_h5_source *source, hid_t root, size_t *count) {
  hid_t group;
  H5G_info_t info;
  SIM_TRY(io_h5_open(source, root, "state", &group));
  sim_status status = SIM_OK;
  if (H5Iget_type(group) != H5I_GROUP || H5Gget_info(group, &info) < 0)
    status = io_h5_refuse(source, "state", "is not a group");
  else if (info.nlinks > SIM_ARRAYS_MAX)
    status = io_h5_refuse(source, "state", "holds too many arrays");
  for (size_t i = 0; status == SIM_OK && i < info.nlinks; i++) {
    char *name = self->names[i];
    ssize_t length =
        H5Lget_name_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, name, sizeof self->names[i], H5P_DEFAULT);
    if (length <= 0 || (size_t)length >= sizeof self->names[i] || !is_word(name))
      status = io_h5_refuse(source, "state", "holds an array whose name is not allowed");
    else
      status = read_array(self, source, group, i);
    *count = i + 1;
  }
  H5Oclose(group);
  return status;
}

/* Opens /<list>/<index> and reads its name. */
static sim_status open_entry(const io_h5_source *source, hid_t root, const char *list, size_t index, char name[64],
                             hid_t *out) {
  char number[24];
  hid_t group;
  snprintf(number, sizeof number, "%zu", index);
  SIM_TRY(io_h5_open(source, root, list, &group));
  sim_status status = H5Iget_type(group) == H5I_GROUP ? io_h5_open(source, group, number, out)
                                                      : io_h5_refuse(source, list, "is not a group");
  H5Oclose(group);
  if (status != SIM_OK) return status;
  status = io_h5_get_text(source, *out, "name", name, 64);
  if (status == SIM_OK && !is_word(name)) status = io_h5_refuse(source, list, "holds a name that is not allowed");
  if (status != SIM_OK) H5Oclose(*out);
  return status;
}

/* Reads the rows of a table that were not in tables.h5 when the checkpoint was made. */
static sim_status read_tail(state *self, const io_h5_source *source, hid_t entry, io_checkpoint *out, size_t index) {
  hid_t dataset;
  io_h5_shape shape;
  void *data = NULL;
  if (!io_h5_has(entry, "tail")) return SIM_OK;
  SIM_TRY(io_h5_open(source, entry, "tail", &dataset));
  sim_status status = io_h5_check(source, dataset, "tail", false, &shape);
  if (status == SIM_OK && (shape.dtype != SIM_F64 || shape.rank != 2 || shape.shape[0] < 1 || shape.shape[1] < 2 ||
                           shape.shape[0] > out->tables[index].rows))
    status = io_h5_refuse(source, "tail", "is not the last rows of a table");
  if (status == SIM_OK) status = allocate(self, source, "tail", shape.bytes, &data);
  if (status == SIM_OK && H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
    status = io_h5_refuse(source, "tail", "cannot be read");
  H5Oclose(dataset);
  out->tables[index].tail = data;
  if (status != SIM_OK) return status;
  out->tables[index].tail_rows = shape.shape[0];
  out->tables[index].tail_width = shape.shape[1];
  return SIM_OK;
}

static sim_status read_lists(state *self, const io_h5_source *source, hid_t root, io_checkpoint *out) {
  int64_t species, tables;
  hid_t entry;
  SIM_TRY(io_h5_get(source, root, "species", SIM_I64, 1, &species));
  SIM_TRY(io_h5_get(source, root, "tables", SIM_I64, 1, &tables));
  if (species < 0 || species > SIM_SPECIES_MAX) return io_h5_refuse(source, "species", "has a bad count");
  if (tables < 0 || tables > SIM_TABLES_MAX) return io_h5_refuse(source, "tables", "has a bad count");
  for (size_t i = 0; i < (size_t)species; i++) {
    sim_species *to = &self->species[i];
    SIM_TRY(open_entry(source, root, "species", i, to->name, &entry));
    sim_status status = io_h5_get(source, entry, "first", SIM_I64, 1, &to->first);
    if (status == SIM_OK) status = io_h5_get(source, entry, "count", SIM_I64, 1, &to->count);
    H5Oclose(entry);
    if (status != SIM_OK) return status;
    if (to->first < 0 || to->count < 0 || to->first > INT64_MAX - to->count)
      return io_h5_refuse(source, to->name, "has a range that is not allowed");
  }
  for (size_t i = 0; i < (size_t)tables; i++) {
    SIM_TRY(open_entry(source, root, "tables", i, out->tables[i].name, &entry));
    sim_status status = io_h5_get(source, entry, "rows", SIM_I64, 1, &out->tables[i].rows);
    if (status == SIM_OK && out->tables[i].rows < 0)
      status = io_h5_refuse(source, out->tables[i].name, "has a negative number of rows");
    if (status == SIM_OK) status = read_tail(self, source, entry, out, i);
    H5Oclose(entry);
    if (status != SIM_OK) return status;
  }
  out->frame.species = self->species;
  out->frame.species_count = (size_t)species;
  out->table_count = (size_t)tables;
  return SIM_OK;
}

static sim_status read_clock(const io_h5_source *source, hid_t root, sim_clock *clock) {
  SIM_TRY(io_h5_get(source, root, "step", SIM_I64, 1, &clock->step));
  SIM_TRY(io_h5_get(source, root, "t", SIM_F64, 1, &clock->t));
  SIM_TRY(io_h5_get(source, root, "dt", SIM_F64, 1, &clock->dt));
  SIM_TRY(io_h5_get(source, root, "t_end", SIM_F64, 1, &clock->t_end));
  if (clock->step < 0 || clock->step > INT64_C(1) << 62)
    return io_h5_refuse(source, "step", "is negative or too large");
  if (!isfinite(clock->t) || !isfinite(clock->dt) || isnan(clock->t_end))
    return io_h5_refuse(source, "t, dt or t_end", "is not a finite number");
  if (clock->t < 0 || clock->dt < 0) return io_h5_refuse(source, "t or dt", "is negative");
  return SIM_OK;
}

static sim_status read_all(state *self, const io_h5_source *source, hid_t root, io_checkpoint *out) {
  int64_t schema;
  char *blob = NULL;
  size_t size;
  SIM_TRY(io_h5_get(source, root, "schema_version", SIM_I64, 1, &schema));
  if (schema != IO_CHECKPOINT_SCHEMA)
    return sim_fail(source->status, "%s: has checkpoint schema %lld, this build reads %d", source->path,
                    (long long)schema, IO_CHECKPOINT_SCHEMA);
  SIM_TRY(read_clock(source, root, &out->frame.clock));
  SIM_TRY(io_h5_get(source, root, "seed", SIM_U64, 1, &out->seed));
  SIM_TRY(io_h5_get_text(source, root, "model", out->model, sizeof out->model));
  if (H5Aexists(root, "run") > 0) SIM_TRY(io_h5_get_text(source, root, "run", out->run, sizeof out->run));
  SIM_TRY(io_h5_get_text(source, root, "backend", out->backend, sizeof out->backend));
  SIM_TRY(io_h5_get_text(source, root, "precision", out->precision, sizeof out->precision));
  SIM_TRY(io_h5_get_text(source, root, "isa", out->isa, sizeof out->isa));
  SIM_TRY(read_lists(self, source, root, out));
  SIM_TRY(read_bytes(self, source, root, "scenario", &out->scenario_text, &out->scenario_size));
  SIM_TRY(read_bytes(self, source, root, "scenario_path", &out->scenario_path, &size));
  SIM_TRY(read_bytes(self, source, root, "parameters", &blob, &size));
  sim_status status = sim_value_read(blob, size, &out->parameters);
  free(blob);
  if (status == SIM_ERR_NO_MEMORY) return status;
  if (status != SIM_OK) return io_h5_refuse(source, "parameters", "cannot be decoded");
  out->frame.arrays = self->arrays;
  SIM_TRY(read_state(self, source, root, &out->frame.array_count));
  if (sim_frame_check_finite(&out->frame) == SIM_OK) return SIM_OK;
  char why[sizeof sim_error_last()->message];
  snprintf(why, sizeof why, "%s", sim_error_last()->message);
  return sim_fail(source->status, "%s: %s", source->path, why);
}

static sim_status read_open(int fd, off_t size, const char *path, io_checkpoint *out) {
  const io_h5_source source = {path, SIM_ERR_INCOMPATIBLE};
  size_t room = sim_backend_cpu.memory_free();
  SIM_TRY(io_seal_look(fd, size, path)); /* a wrong length means damage, not lack of memory */
  if ((uint64_t)size > room)
    return sim_fail(SIM_ERR_NO_MEMORY, "%s: is larger than the memory that is free: %lld bytes", path, (long long)size);
  SIM_TRY(io_seal_check(fd, size, path));
  state *self = out->owner = calloc(1, sizeof *self);
  if (!self) return sim_no_memory("the reader of a checkpoint");
  self->bytes_left = room;
  io_vfd *vfd;
  hid_t root = io_vfd_open(fd, path, &vfd);
  sim_status status = root >= 0 ? read_all(self, &source, root, out)
                      : vfd     ? io_h5_refuse(&source, "HDF5", "cannot open it")
                                : sim_no_memory("%s", path);
  (void)io_vfd_close(root, &vfd);
  return status;
}

static sim_status read_at(int folder, const char *name, const char *path, io_checkpoint *out) {
  int fd;
  off_t size;
  memset(out, 0, sizeof *out);
  SIM_TRY(io_file_open(folder, name, path, &fd, &size));
  sim_status status = read_open(fd, size, path, out);
  (void)close(fd);
  if (status != SIM_OK)
    io_checkpoint_free(out);
  else
    snprintf(out->path, sizeof out->path, "%s", path);
  return status;
}

sim_status io_checkpoint_read(const char *path, io_checkpoint *out) { return read_at(AT_FDCWD, path, path, out); }

sim_status io_checkpoint_check_run(const char *folder, const io_checkpoint *checkpoint) {
  char run[33];
  (void)io_folder_run(folder, run);
  if (!*run || strcmp(run, checkpoint->run) == 0) return SIM_OK;
  return sim_fail(SIM_ERR_INCOMPATIBLE,
                  "%s: belongs to another run than %s, whose run is named in run.id: resume it in its own folder",
                  checkpoint->path, folder);
}

sim_status io_checkpoint_newest(const char *folder, io_checkpoint *out) {
  char path[sizeof out->path];
  int64_t *steps = NULL;
  size_t count = 0;
  memset(out, 0, sizeof *out);
  if ((size_t)snprintf(path, sizeof path, "%s/ckpt", folder) >= sizeof path - 32)
    return sim_fail(SIM_ERR_NO_INPUT, "the name of the output folder is too long");
  int inner = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (inner < 0)
    return sim_fail(errno == EACCES ? SIM_ERR_PERMISSION : SIM_ERR_NO_INPUT, "%s: %s", path, strerror(errno));
  sim_status status = io_list_steps(inner, path, "ck_", &steps, &count);
  if (status == SIM_OK && count == 0) status = sim_fail(SIM_ERR_NO_INPUT, "%s: holds no checkpoint", folder);
  for (size_t i = 0; i < count; i++) {
    char name[64];
    snprintf(name, sizeof name, IO_CHECKPOINT_NAME, (long long)steps[i]);
    snprintf(path, sizeof path, "%s/ckpt/%s", folder, name);
    status = read_at(inner, name, path, out);
    if (status == SIM_OK && out->frame.clock.step != steps[i]) {
      status = sim_fail(SIM_ERR_INCOMPATIBLE, "%s: holds step %lld, not the one of its name", path,
                        (long long)out->frame.clock.step);
      io_checkpoint_free(out);
    }
    if (status == SIM_OK && (status = io_checkpoint_check_run(folder, out)) != SIM_OK) io_checkpoint_free(out);
    if (status == SIM_OK || status == SIM_ERR_NO_MEMORY) break;
    sim_log(SIM_LOG_WARN, "bad checkpoint, %s: %s", i + 1 < count ? "falling back to the one before" : "none is left",
            sim_error_last()->message);
    if (i + 1 == count)
      status = sim_fail(SIM_ERR_INCOMPATIBLE, "%s: none of its %zu checkpoints can be used; --force starts a new run",
                        folder, count);
  }
  free(steps);
  (void)close(inner);
  return status;
}
