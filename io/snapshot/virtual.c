#include "io/snapshot/virtual.h"

#include "io/hdf5/h5.h"
#include "io/snapshot/snapshot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct object_name {
  char text[320];
} object_name;

static size_t first_step(size_t block) { return block * IO_BLOCK_STEPS; }
/* Index after the last step of a block. */
static size_t end_step(const io_virtual *values, size_t block) {
  const size_t end = first_step(block + 1);
  return end < values->series->count ? end : values->series->count;
}

static object_name block_name(const io_virtual *values, size_t block) {
  object_name out;
  snprintf(out.text, sizeof out.text, "%s.%zu", values->name, block);
  return out;
}

static void drop_all(hid_t *ids, size_t count) {
  for (size_t i = 0; i < count; i++) io_h5_drop(ids[i]);
}

/* A virtual dataset that is being defined: its selection space and the list of its mappings. */
typedef struct draft {
  hid_t space, plist;
  bool good;
} draft;

/* Begins a virtual dataset. If a snapshot has been removed, the values of its step are NaN. */
static draft begin(const io_virtual *values, int64_t rows) {
  const double missing = NAN;
  hsize_t shape[5];
  memcpy(shape, values->shape, sizeof shape);
  shape[0] = (hsize_t)rows;
  draft out = {.space = H5Screate_simple(values->rank, shape, NULL), .plist = H5Pcreate(H5P_DATASET_CREATE)};
  out.good = out.space >= 0 && out.plist >= 0;
  if (out.good && (values->dtype == SIM_F32 || values->dtype == SIM_F64))
    out.good = H5Pset_fill_value(out.plist, H5T_NATIVE_DOUBLE, &missing) >= 0;
  return out;
}

static sim_status end(draft *d, const io_virtual *values, hid_t parent, const char *name) {
  hid_t set = -1;
  if (d->good && H5Sselect_all(d->space) >= 0)
    set = H5Dcreate2(parent, name, io_h5_file_type(values->dtype), d->space, H5P_DEFAULT, d->plist, H5P_DEFAULT);
  drop_all((hid_t[]){set, d->plist, d->space}, 3);
  return set >= 0 ? SIM_OK : sim_fail(SIM_ERR_IO, "HDF5 cannot write %s", name);
}

/* Maps all of a dataset of the shape `source` to `rows` rows from row `begin` on, of component `component`; -1: of
 * all. */
static void map(draft *d, const io_virtual *values, int64_t begin, int64_t rows, int component, const char *file,
                const char *object, int rank, const hsize_t *source) {
  hsize_t start[5] = {(hsize_t)begin}, size[5];
  memcpy(size, values->shape, sizeof size);
  size[0] = (hsize_t)rows;
  if (component >= 0 && values->components > 1) {
    start[values->rank - 1] = (hsize_t)component;
    size[values->rank - 1] = 1;
  }
  hid_t space = d->good ? H5Screate_simple(rank, source, NULL) : -1;
  d->good = space >= 0 && H5Sselect_hyperslab(d->space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
            H5Pset_virtual(d->plist, d->space, file, object, space) >= 0;
  io_h5_drop(space);
}

static void map_snapshot(draft *d, const io_virtual *values, size_t step, int64_t begin, int component) {
  static const char *const axes[] = {"x", "y", "z"};
  const io_vtk_series *series = values->series;
  const long long number = (long long)series->steps[step].step;
  const int64_t rows = values->begins[step + 1] - values->begins[step];
  hsize_t source[3];
  char file[64];
  object_name name;
  memcpy(source, values->source, sizeof source);
  if (source[0] == 0) source[0] = (hsize_t)rows;
  snprintf(file, sizeof file, "%s" IO_SNAPSHOT_NAME, series->below, number);
  snprintf(name.text, sizeof name.text, "/data/%lld/%s%s%s", number, values->object, values->components > 1 ? "/" : "",
           values->components > 1 ? axes[component] : "");
  map(d, values, begin, rows, component, file, name.text, values->source_rank, source);
}

/* Makes a dataset of equal values that takes no space, with the name of the record, `what` and a number, and maps it to
 * rows. */
static void map_equal(draft *d, const io_virtual *values, hid_t blocks, const char *what, size_t number, double value,
                      int64_t begin, int64_t rows, int component) {
  hsize_t count = (hsize_t)rows;
  object_name name, path;
  for (int a = 1; a < values->rank - 1; a++) count *= values->shape[a];
  snprintf(name.text, sizeof name.text, "%s.%s.%zu", values->name, what, number);
  hid_t fill = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &count, NULL), set = -1;
  if (fill >= 0 && space >= 0 && H5Pset_fill_value(fill, H5T_NATIVE_DOUBLE, &value) >= 0)
    set = H5Dcreate2(blocks, name.text, io_h5_file_type(values->dtype), space, H5P_DEFAULT, fill, H5P_DEFAULT);
  d->good = d->good && set >= 0;
  drop_all((hid_t[]){set, fill, space}, 3);
  snprintf(path.text, sizeof path.text, "/" IO_BLOCKS "/%.256s", name.text);
  map(d, values, begin, rows, component, ".", path.text, 1, &count);
}

static double constant_at(const io_virtual *values, size_t step) {
  return values->constants ? values->constants[values->stride * step] : (double)NAN;
}

/* Maps one value to the rows of all successive steps, from `*step` to before `end`, that have this value. */
static void map_constant(draft *d, const io_virtual *values, hid_t blocks, size_t *step, size_t end, int64_t begin) {
  const double value = constant_at(values, *step);
  const size_t first = *step;
  while (*step + 1 < end && constant_at(values, *step + 1) == value) ++*step;
  const int64_t rows = values->begins[*step + 1] - values->begins[first];
  if (rows > 0) map_equal(d, values, blocks, "constant", first, value, begin, rows, 0);
}

sim_status io_virtual_block(const io_virtual *values, hid_t blocks, size_t block) {
  const size_t first = first_step(block), last = end_step(values, block);
  const int64_t *begins = values->begins;
  if (begins[last] == begins[first]) return SIM_OK;
  draft d = begin(values, begins[last] - begins[first]);
  for (size_t i = first; d.good && i < last; i++) {
    const int64_t begin = begins[i] - begins[first];
    if (!isnan(constant_at(values, i)))
      map_constant(&d, values, blocks, &i, last, begin);
    else
      for (int c = 0; begins[i + 1] > begins[i] && c < values->stored; c++) map_snapshot(&d, values, i, begin, c);
  }
  for (int c = values->stored; c < values->components; c++)
    map_equal(&d, values, blocks, "zero", block, 0, 0, begins[last] - begins[first], c);
  return end(&d, values, blocks, block_name(values, block).text);
}

sim_status io_virtual_join(const io_virtual *values, hid_t parent, const char *name) {
  const int64_t *begins = values->begins;
  draft d = begin(values, begins[values->series->count]);
  for (size_t block = 0; d.good && first_step(block) < values->series->count; block++) {
    const int64_t first = begins[first_step(block)], rows = begins[end_step(values, block)] - first;
    hsize_t shape[5];
    object_name path;
    if (rows == 0) continue;
    memcpy(shape, values->shape, sizeof shape);
    shape[0] = (hsize_t)rows;
    snprintf(path.text, sizeof path.text, "/" IO_BLOCKS "/%.256s", block_name(values, block).text);
    map(&d, values, first, rows, -1, ".", path.text, values->rank, shape);
  }
  return end(&d, values, parent, name);
}
