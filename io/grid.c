/* Values on a grid from a PNG image or a dataset of an HDF5 file. */
#include "io/h5.h"
#include "io/io.h"
#include "io/png.h"
#include "io/sys.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The last iteration of an openPMD file; -1: none. */
static int64_t last_iteration(hid_t root) {
  H5G_info_t info;
  int64_t best = -1;
  hid_t data = H5Lexists(root, "data", H5P_DEFAULT) > 0 ? H5Gopen2(root, "data", H5P_DEFAULT) : -1;
  if (data < 0 || H5Gget_info(data, &info) < 0) info.nlinks = 0;
  for (hsize_t i = 0; i < info.nlinks; i++) {
    char name[64], *end;
    const ssize_t length = H5Lget_name_by_idx(data, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
    if (length <= 0 || (size_t)length >= sizeof name || !isdigit((unsigned char)name[0])) continue;
    errno = 0;
    const int64_t step = strtoll(name, &end, 10);
    if (*end == '\0' && errno == 0 && step > best) best = step;
  }
  io_h5_drop(data);
  return best;
}

/* "is missing; there are u, v", the first few names of a group. */
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

/* Opens what a path names, link by link: none of them may lead out of the file. */
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
  sim_status status = io_h5_check(source, dataset, name, true, &shape);
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

static sim_status read_hdf5(int fd, const sim_grid_source *grid, double *values) {
  const io_h5_source source = {grid->path, SIM_ERR_SCENARIO};
  if (grid->channel != SIM_NO_CHANNEL)
    return sim_fail(SIM_ERR_SCENARIO, "%s: is an HDF5 file, and a channel is of an image", grid->path);
  io_vfd *vfd;
  hid_t root = io_vfd_open(fd, grid->path, &vfd);
  sim_status status = root < 0 ? sim_fail(SIM_ERR_SCENARIO, "%s: an HDF5 file that is damaged or cut short", grid->path)
                               : read_dataset(&source, root, grid, values);
  (void)io_vfd_close(root, &vfd);
  return status;
}

static sim_status read_png(int fd, const sim_grid_source *source, double *values) {
  if (source->dataset)
    return sim_fail(SIM_ERR_SCENARIO, "%s: is an image, and a dataset is of an HDF5 file", source->path);
  if (source->rank != 2)
    return sim_fail(SIM_ERR_SCENARIO, "%s: an image fills a grid of two axes, not %d", source->path, source->rank);
  return io_png_read(fd, source->path, source->channel, source->n[0], source->n[1], values);
}

enum { UNKNOWN, PNG, HDF5 };

/* By the signature at the beginning; that of HDF5 may stand behind a user block of 512, 1024, 2048 ... bytes. */
static sim_status form_of(int fd, const char *path, off_t size, int *form) {
  static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'}, png[] = {0x89, 'P', 'N', 'G'};
  unsigned char start[sizeof hdf5];
  *form = UNKNOWN;
  for (off_t at = 0; at <= size && *form == UNKNOWN; at = at ? 2 * at : 512) {
    size_t got;
    memset(start, 0, sizeof start);
    const int error = io_sys_read(fd, start, sizeof start, at, &got);
    if (error) return sim_fail(SIM_ERR_IO, "%s: %s", path, strerror(error));
    if (at == 0 && memcmp(start, png, sizeof png) == 0) *form = PNG;
    if (memcmp(start, hdf5, sizeof hdf5) == 0) *form = HDF5;
  }
  return SIM_OK;
}

sim_status io_read_grid(const sim_grid_source *source, double *values) {
  int fd, form;
  off_t size;
  SIM_TRY(io_file_open(AT_FDCWD, source->path, source->path, &fd, &size));
  sim_status status = form_of(fd, source->path, size, &form);
  if (status == SIM_OK && form == UNKNOWN)
    status = sim_fail(SIM_ERR_SCENARIO, "%s: is neither a PNG image nor an HDF5 file", source->path);
  else if (status == SIM_OK)
    status = (form == PNG ? read_png : read_hdf5)(fd, source, values);
  (void)close(fd);
  return status;
}
