/* Reads the last row of every table, for programs other than the run. */
#include "io/hdf5/h5.h"
#include "io/seal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD = 8, NAME = 128 };

typedef struct reading {
  const io_h5_source *source;
  io_last_value *each;
  void *context;
} reading;

/* Type of a record in memory with every column as a double. */
static hid_t as_doubles(hid_t type, int columns, char names[][NAME]) {
  hid_t out = H5Tcreate(H5T_COMPOUND, (size_t)columns * WORD);
  bool good = out >= 0;
  for (int i = 0; good && i < columns; i++) {
    char *name = H5Tget_member_name(type, (unsigned)i);
    good = name && H5Tget_member_class(type, (unsigned)i) != H5T_COMPOUND &&
           H5Tinsert(out, name, (size_t)i * WORD, H5T_NATIVE_DOUBLE) >= 0;
    snprintf(names[i], NAME, "%s", name ? name : "");
    if (name) H5free_memory(name);
  }
  if (good) return out;
  io_h5_drop(out);
  return -1;
}

static sim_status read_last(const reading *r, hid_t dataset, const char *table, int64_t rows, int columns) {
  char(*names)[NAME] = calloc((size_t)columns, sizeof *names);
  double *row = calloc((size_t)columns, sizeof *row);
  const hsize_t start = (hsize_t)(rows - 1), one = 1;
  hid_t type = H5Dget_type(dataset), record = names && row ? as_doubles(type, columns, names) : -1;
  hid_t from = H5Dget_space(dataset), to = H5Screate_simple(1, &one, NULL);
  bool good = record >= 0 && H5Sselect_hyperslab(from, H5S_SELECT_SET, &start, NULL, &one, NULL) >= 0 &&
              H5Dread(dataset, record, to, from, H5P_DEFAULT, row) >= 0;
  sim_status status = good ? SIM_OK : io_h5_refuse(r->source, table, "cannot be read");
  for (int i = 0; good && i < columns; i++) r->each(r->context, table, names[i], row[i]);
  const hid_t ids[] = {to, from, record, type};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) io_h5_drop(ids[i]);
  free(names);
  free(row);
  return status;
}

static sim_status read_link(const reading *r, hid_t root, const char *name) {
  hid_t object;
  io_h5_shape shape;
  SIM_TRY(io_h5_open(r->source, root, name, &object));
  sim_status status = SIM_OK;
  if (H5Iget_type(object) == H5I_DATASET) {
    status = io_h5_check(r->source, object, name, false, &shape);
    hid_t type = status == SIM_OK ? H5Dget_type(object) : -1;
    int columns = type >= 0 && shape.type == H5T_COMPOUND ? H5Tget_nmembers(type) : 0;
    io_h5_drop(type);
    if (status == SIM_OK && columns > 0 && shape.rank == 1 && shape.shape[0] > 0)
      status = read_last(r, object, name, shape.shape[0], columns);
  }
  io_h5_drop(object);
  return status;
}

sim_status io_table_last(const char *folder, io_last_value *each, void *context) {
  char path[4200];
  int fd;
  off_t size;
  snprintf(path, sizeof path, "%s/tables.h5", folder);
  const io_h5_source source = {path, SIM_ERR_INCOMPATIBLE};
  const reading r = {&source, each, context};
  SIM_TRY(io_file_open(AT_FDCWD, path, path, &fd, &size));
  sim_status status = io_seal_check(fd, size, path);
  io_vfd *vfd = NULL;
  hid_t root = status == SIM_OK ? io_vfd_open(fd, path, &vfd) : -1;
  if (status == SIM_OK && root < 0) status = sim_fail(SIM_ERR_INCOMPATIBLE, "%s: HDF5 cannot open it", path);
  H5G_info_t info;
  if (status == SIM_OK && H5Gget_info(root, &info) < 0) status = io_h5_refuse(&source, "/", "cannot be read");
  for (hsize_t i = 0; status == SIM_OK && i < info.nlinks; i++) {
    char name[NAME];
    if (H5Lget_name_by_idx(root, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT) < 0)
      status = io_h5_refuse(&source, "/", "cannot be read");
    else
      status = read_link(&r, root, name);
  }
  if (vfd) (void)io_vfd_close(root, &vfd);
  (void)close(fd);
  return status;
}
