/* Values on a grid from a PNG image or a dataset of an HDF5 file. */
#include "io/input/foreign.h"
#include "io/input/png.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns the number of the last iteration of an openPMD file; -1: none. */
static int64_t last_iteration(hid_t root) {
  char name[64];
  hid_t data = H5Lexists(root, "data", H5P_DEFAULT) > 0 ? H5Gopen2(root, "data", H5P_DEFAULT) : -1;
  const int64_t best = data < 0 ? -1 : io_foreign_last(data, name, sizeof name);
  io_h5_drop(data);
  return best;
}

/* Fails with "is missing; there are u, v": the first few names of the group. */
static sim_status missing(const io_h5_source *source, hid_t group, const char *name) {
  enum { SHOWN = 8 };
  char text[512] = "is missing", link[48];
  H5G_info_t info;
  if (H5Gget_info(group, &info) < 0) info.nlinks = 0;
  for (hsize_t i = 0; i < info.nlinks && i <= SHOWN; i++) {
    const size_t used = strlen(text);
    if (H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, link, sizeof link, H5P_DEFAULT) <= 0) break;
    snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "; there are ", i < SHOWN ? link : "...");
  }
  return io_h5_refuse(source, name, text);
}

/* Opens a path link by link, so that no link leads out of the file. */
static sim_status open_path(const io_h5_source *source, hid_t root, const char *path, hid_t *out) {
  char part[256];
  hid_t at = root;
  while (*path == '/') path++;
  *out = -1;
  if (!*path) return io_h5_refuse(source, "dataset", "is an empty name");
  while (*path) {
    const size_t length = strcspn(path, "/");
    hid_t next = -1;
    sim_status status = SIM_OK;
    if (length >= sizeof part)
      status = io_h5_refuse(source, "dataset", "has a name that is too long");
    else if (at != root && H5Iget_type(at) != H5I_GROUP)
      status = io_h5_refuse(source, part, "is not a group");
    else {
      memcpy(part, path, length);
      part[length] = '\0';
      status = io_h5_has(at, part) ? io_h5_open(source, at, part, &next) : missing(source, at, part);
    }
    if (at != root) H5Oclose(at);
    if (status != SIM_OK) return status;
    at = next;
    path += length;
    while (*path == '/') path++;
  }
  *out = at;
  return SIM_OK;
}

static sim_status check_shape(const io_h5_source *source, const sim_grid_source *grid, const char *name,
                              const io_h5_shape *shape) {
  char want[96] = "", got[160] = "";
  bool same = shape->rank == grid->rank;
  for (int a = grid->rank - 1; a >= 0; a--)
    snprintf(want + strlen(want), sizeof want - strlen(want), "%s%lld", *want ? " x " : "", (long long)grid->n[a]);
  for (int a = 0; a < shape->rank; a++) {
    snprintf(got + strlen(got), sizeof got - strlen(got), "%s%lld", *got ? " x " : "", (long long)shape->shape[a]);
    same = same && shape->shape[a] == grid->n[grid->rank - 1 - a];
  }
  if (same && (shape->type == H5T_FLOAT || shape->type == H5T_INTEGER)) return SIM_OK;
  if (same) return io_h5_refuse(source, name, "does not hold numbers");
  return sim_fail(source->status, "%s: %s: expected %s values, slowest axis first, one for each cell, got %s",
                  source->path, name, want, *got ? got : "a single one");
}

static sim_status read_dataset(const io_h5_source *source, hid_t root, const sim_grid_source *grid, double *values) {
  char name[512];
  hid_t dataset;
  io_h5_shape shape;
  const char *wanted = grid->dataset ? grid->dataset : grid->name;
  const int64_t step = strchr(wanted, '/') ? -1 : last_iteration(root);
  if (step >= 0)
    snprintf(name, sizeof name, "/data/%lld/meshes/%s", (long long)step, wanted);
  else
    snprintf(name, sizeof name, "%s", wanted);
  SIM_TRY(open_path(source, root, name, &dataset));
  double unit; /* only checked: a wrong unit means a wrong file */
  sim_status status = io_h5_check(source, dataset, name, true, &shape);
  if (status == SIM_OK) status = io_foreign_unit(source, dataset, "unitSI", &unit);
  if (status == SIM_OK) status = check_shape(source, grid, name, &shape);
  if (status == SIM_OK && values && H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
    status = io_h5_refuse(source, name, "cannot be read");
  H5Oclose(dataset);
  int64_t count = 1;
  for (int a = 0; a < grid->rank; a++) count *= grid->n[a];
  for (int64_t i = 0; status == SIM_OK && values && i < count; i++)
    if (!isfinite(values[i]))
      status = sim_fail(source->status, "%s: %s: holds %g at index %lld", source->path, name, values[i], (long long)i);
  return status;
}

static sim_status read_hdf5(const io_foreign *file, const sim_grid_source *grid, double *values) {
  const io_h5_source source = {grid->path, SIM_ERR_SCENARIO};
  if (grid->channel != SIM_NO_CHANNEL)
    return sim_fail(SIM_ERR_SCENARIO, "%s: is an HDF5 file, and a channel is of an image", grid->path);
  io_vfd *vfd;
  hid_t root;
  SIM_TRY(io_foreign_hdf5(file, &vfd, &root));
  return read_dataset(&source, root, grid, values);
}

static sim_status read_png(const io_foreign *file, const sim_grid_source *source, double *values) {
  if (source->dataset)
    return sim_fail(SIM_ERR_SCENARIO, "%s: is an image, and a dataset is of an HDF5 file", source->path);
  if (source->rank != 2)
    return sim_fail(SIM_ERR_SCENARIO, "%s: an image fills a grid of two axes, not %d", source->path, source->rank);
  return io_png_read(file->fd, source->path, source->channel, source->n[0], source->n[1], values);
}

/* ---- the task of a child ---- */

typedef struct request {
  const sim_grid_source *source;
  double *values; /* NULL: only checks that the values exist */
} request;

static sim_status parse(const io_foreign *file, void *opaque) {
  const request *self = opaque;
  return (file->form == IO_FORM_PNG ? read_png : read_hdf5)(file, self->source, self->values);
}

static int64_t count_of(const request *self) {
  int64_t count = 1;
  for (int a = 0; a < self->source->rank && self->values; a++) count *= self->source->n[a];
  return self->values ? count : 0;
}

static void send(const void *opaque, int pipe) {
  const request *self = opaque;
  io_foreign_send(pipe, self->values, (size_t)count_of(self) * sizeof *self->values);
}

static sim_status take(void *opaque, int pipe) {
  const request *self = opaque;
  const int64_t count = count_of(self);
  SIM_TRY(io_foreign_take(pipe, self->values, (size_t)count * sizeof *self->values));
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(self->values[i])) return sim_fail(SIM_ERR_SCENARIO, "%s: a value is not finite", self->source->path);
  return SIM_OK;
}

sim_status io_read_grid(const sim_grid_source *source, double *values) {
  static const io_foreign_task task = {parse, send, take};
  io_foreign file;
  SIM_TRY(io_foreign_open(source->path, &file));
  request self = {source, values};
  sim_status status = file.form == IO_FORM_OTHER
                          ? sim_fail(SIM_ERR_SCENARIO, "%s: is neither a PNG image nor an HDF5 file", source->path)
                          : io_foreign_run(&file, &task, &self);
  io_foreign_close(&file);
  return status;
}
