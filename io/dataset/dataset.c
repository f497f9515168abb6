/* Datasets of a model: NAME.h5 has an array for each axis and for each variable. Axes are dimension scales of the HDF5
 * specification ("HDF5 Dimension Scale Specification", The HDF Group), which netCDF-4 readers see as coordinates. */
#include "io/hdf5/h5.h"
#include "io/io.h"

#include <stdio.h>
#include <string.h>

static sim_status cannot(const char *what) { return sim_fail(SIM_ERR_IO, "HDF5 cannot write %s", what); }

/* Writes a text that ends with a NUL, as the specification of dimension scales asks. */
static sim_status mark(hid_t object, const char *name, const char *text) {
  hid_t type = H5Tcopy(H5T_C_S1);
  sim_status status = type >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0
                          ? io_h5_attr(object, name, type, type, 0, text)
                          : cannot(name);
  io_h5_drop(type);
  return status;
}

/* Writes labels as texts of any length, in UTF-8. */
static sim_status write_labels(hid_t root, const sim_axis *axis, hid_t *out) {
  const hsize_t count = (hsize_t)axis->count;
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &count, NULL);
  if (type >= 0 && space >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0)
    *out = H5Dcreate2(root, axis->name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const bool good = *out >= 0 && H5Dwrite(*out, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, axis->labels) >= 0;
  io_h5_drop(space);
  io_h5_drop(type);
  return good ? SIM_OK : cannot(axis->name);
}

/* A variable that has an axis as its dimension number `dimension`. */
typedef struct reference {
  hobj_ref_t variable;
  int dimension;
} reference;

/* Lists the variables that have an axis, as the specification asks. */
static sim_status write_users(hid_t root, const sim_dataset *d, int axis, hid_t scale) {
  reference user[SIM_VARIABLES_MAX];
  hsize_t count = 0;
  for (int v = 0; v < d->variable_count; v++)
    for (int k = 0; k < d->variables[v].rank; k++) {
      if (d->variables[v].axis[k] != axis) continue;
      user[count].dimension = k;
      if (H5Rcreate(&user[count++].variable, root, d->variables[v].name, H5R_OBJECT, -1) < 0)
        return cannot("REFERENCE_LIST");
    }
  if (count == 0) return SIM_OK;
  hid_t type = H5Tcreate(H5T_COMPOUND, sizeof *user);
  const bool good = type >= 0 && H5Tinsert(type, "dataset", offsetof(reference, variable), H5T_STD_REF_OBJ) >= 0 &&
                    H5Tinsert(type, "dimension", offsetof(reference, dimension), H5T_NATIVE_INT) >= 0;
  const sim_status status =
      good ? io_h5_attr(scale, "REFERENCE_LIST", type, type, count, user) : cannot("REFERENCE_LIST");
  io_h5_drop(type);
  return status;
}

/* What an axis or a variable is, and the unit of its numbers as netCDF-4 names it. */
static sim_status describe(hid_t object, const char *doc, const char *unit) {
  SIM_TRY(io_h5_attr_text(object, "description", doc));
  return unit != NULL ? io_h5_attr_text(object, "units", unit) : SIM_OK;
}

static sim_status write_axis(hid_t root, const sim_dataset *d, int axis) {
  const sim_axis *of = &d->axes[axis];
  const hsize_t count = (hsize_t)of->count;
  hid_t scale = -1;
  sim_status status = of->labels != NULL ? write_labels(root, of, &scale)
                                         : io_h5_dataset(root, of->name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, &count,
                                                         NULL, of->values, &scale);
  if (status == SIM_OK) status = mark(scale, "CLASS", "DIMENSION_SCALE");
  if (status == SIM_OK) status = mark(scale, "NAME", of->name);
  if (status == SIM_OK) status = describe(scale, of->doc, of->unit);
  if (status == SIM_OK) status = write_users(root, d, axis, scale);
  io_h5_drop(scale);
  return status;
}

/* Names the axes of a variable: for each dimension a list of one reference. */
static sim_status write_dimensions(hid_t root, const sim_dataset *d, const sim_variable *variable, hid_t dataset) {
  hobj_ref_t target[SIM_AXES_MAX];
  hvl_t list[SIM_AXES_MAX];
  for (int k = 0; k < variable->rank; k++) {
    if (H5Rcreate(&target[k], root, d->axes[variable->axis[k]].name, H5R_OBJECT, -1) < 0)
      return cannot("DIMENSION_LIST");
    list[k] = (hvl_t){1, &target[k]};
  }
  hid_t type = H5Tvlen_create(H5T_STD_REF_OBJ);
  const sim_status status = type >= 0 ? io_h5_attr(dataset, "DIMENSION_LIST", type, type, (hsize_t)variable->rank, list)
                                      : cannot("DIMENSION_LIST");
  io_h5_drop(type);
  return status;
}

static sim_status write_variable(hid_t root, const sim_dataset *d, const sim_variable *variable, hid_t *out) {
  hsize_t shape[SIM_AXES_MAX];
  for (int k = 0; k < variable->rank; k++) shape[k] = (hsize_t)d->axes[variable->axis[k]].count;
  SIM_TRY(io_h5_dataset(root, variable->name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, variable->rank, shape, NULL,
                        variable->data, out));
  return describe(*out, variable->doc, variable->unit);
}

static sim_status write_all(hid_t root, const sim_dataset *d) {
  hid_t variable[SIM_VARIABLES_MAX];
  sim_status status = io_h5_attr_text(root, "description", d->doc);
  for (int v = 0; v < d->variable_count; v++) {
    variable[v] = -1;
    if (status == SIM_OK) status = write_variable(root, d, &d->variables[v], &variable[v]);
  }
  for (int a = 0; a < d->axis_count && status == SIM_OK; a++) status = write_axis(root, d, a);
  for (int v = 0; v < d->variable_count; v++) {
    if (status == SIM_OK) status = write_dimensions(root, d, &d->variables[v], variable[v]);
    io_h5_drop(variable[v]);
  }
  return status;
}

sim_status io_dataset_write(io_folder *folder, const io_provenance *provenance, const sim_dataset *dataset) {
  char name[64];
  io_h5_file file;
  snprintf(name, sizeof name, "%s.h5", dataset->name);
  SIM_TRY(io_h5_begin(folder->root, folder->path, name, true, &file));
  sim_status status = write_all(file.id, dataset);
  if (status == SIM_OK) status = io_provenance_write(file.id, provenance);
  SIM_TRY(io_h5_finish(&file, status));
  return io_file_commit(&file.file);
}
