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
      status = io_h5_open(source, at, part, &next);
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
  const int64_t step = strchr(grid->dataset, '/') ? -1 : last_iteration(root);
  if (step >= 0)
    snprintf(name, sizeof name, "/data/%lld/meshes/%s", (long long)step, grid->dataset);
  else
    snprintf(name, sizeof name, "%s", grid->dataset);
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
  io_vfd *vfd;
  hid_t root = io_vfd_open(fd, grid->path, &vfd);
  sim_status status = root < 0 ? sim_fail(SIM_ERR_SCENARIO, "%s: HDF5 cannot open it", grid->path)
                               : read_dataset(&source, root, grid, values);
  (void)io_vfd_close(root, &vfd);
  return status;
}

sim_status io_read_grid(const sim_grid_source *source, double *values) {
  static const unsigned char hdf5[] = {0x89, 'H', 'D', 'F'}, png[] = {0x89, 'P', 'N', 'G'};
  unsigned char start[4] = {0};
  int fd;
  off_t size;
  size_t got;
  SIM_TRY(io_file_open(AT_FDCWD, source->path, source->path, &fd, &size));
  const int error = io_sys_read(fd, start, sizeof start, 0, &got);
  sim_status status;
  if (error)
    status = sim_fail(SIM_ERR_IO, "%s: %s", source->path, strerror(error));
  else if (memcmp(start, hdf5, sizeof start) == 0)
    status = read_hdf5(fd, source, values);
  else if (memcmp(start, png, sizeof start) != 0)
    status = sim_fail(SIM_ERR_SCENARIO, "%s: is neither a PNG image nor an HDF5 file", source->path);
  else if (source->rank != 2)
    status = sim_fail(SIM_ERR_SCENARIO, "%s: an image fills a grid of two axes, not %d", source->path, source->rank);
  else
    status = io_png_read(fd, source->path, source->channel, source->n[0], source->n[1], values);
  (void)close(fd);
  return status;
}
