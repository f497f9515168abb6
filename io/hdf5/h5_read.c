#include "io/hdf5/h5.h"

#include <string.h>

static herr_t note_memory(unsigned depth, const H5E_error2_t *error, void *found) {
  (void)depth;
  if (error->maj_num == H5E_RESOURCE && error->min_num == H5E_NOSPACE) *(bool *)found = true;
  return 0;
}

sim_status io_h5_refuse(const io_h5_source *source, const char *what, const char *why) {
  bool memory = false;
  (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note_memory, &memory);
  if (memory) return sim_no_memory("%s of %s", what, source->path);
  return sim_fail(source->status, "%s: %s: %s", source->path, what, why);
}

sim_status io_h5_open(const io_h5_source *source, hid_t parent, const char *name, hid_t *out) {
  H5L_info_t info;
  *out = -1;
  if (H5Lexists(parent, name, H5P_DEFAULT) <= 0 || H5Lget_info(parent, name, &info, H5P_DEFAULT) < 0)
    return io_h5_refuse(source, name, "is missing");
  if (info.type != H5L_TYPE_HARD) return io_h5_refuse(source, name, "is a soft or external link");
  *out = H5Oopen(parent, name, H5P_DEFAULT);
  return *out < 0 ? io_h5_refuse(source, name, "cannot be opened") : SIM_OK;
}

bool io_h5_has(hid_t parent, const char *name) { return H5Lexists(parent, name, H5P_DEFAULT) > 0; }

static sim_status open_attribute(const io_h5_source *source, hid_t object, const char *name, int count,
                                 hid_t *attribute, hid_t *type) {
  *type = -1;
  *attribute = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
  if (*attribute < 0) return io_h5_refuse(source, name, "is missing");
  hid_t space = H5Aget_space(*attribute);
  bool fits = space >= 0 && H5Sget_simple_extent_npoints(space) == count;
  io_h5_drop(space);
  *type = H5Aget_type(*attribute);
  return fits && *type >= 0 ? SIM_OK : io_h5_refuse(source, name, "has another number of values than expected");
}

sim_status io_h5_get(const io_h5_source *source, hid_t object, const char *name, sim_dtype dtype, int count,
                     void *out) {
  hid_t attribute, type;
  sim_status status = open_attribute(source, object, name, count, &attribute, &type);
  if (status == SIM_OK && H5Tequal(type, io_h5_file_type(dtype)) <= 0)
    status = io_h5_refuse(source, name, "is of another type than expected");
  if (status == SIM_OK && H5Aread(attribute, io_h5_memory_type(dtype), out) < 0)
    status = io_h5_refuse(source, name, "cannot be read");
  io_h5_drop(type);
  io_h5_drop(attribute);
  return status;
}

sim_status io_h5_get_text(const io_h5_source *source, hid_t object, const char *name, char *out, size_t capacity) {
  hid_t attribute, type;
  sim_status status = open_attribute(source, object, name, 1, &attribute, &type);
  if (status == SIM_OK && (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0))
    status = io_h5_refuse(source, name, "is not a fixed-length text");
  size_t size = status == SIM_OK ? H5Tget_size(type) : 0;
  if (status == SIM_OK && size >= capacity) status = io_h5_refuse(source, name, "is too long");
  if (status == SIM_OK) {
    memset(out, 0, capacity);
    if (H5Aread(attribute, type, out) < 0) status = io_h5_refuse(source, name, "cannot be read");
  }
  io_h5_drop(type);
  io_h5_drop(attribute);
  return status;
}

static const char *bad_layout(hid_t plist, bool compressed) {
  H5D_layout_t layout = H5Pget_layout(plist);
  if (layout == H5D_VIRTUAL) return "is a virtual dataset";
  if (layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED && layout != H5D_COMPACT) return "has an unknown layout";
  if (layout == H5D_CONTIGUOUS && H5Pget_external_count(plist) != 0) return "has its data in another file";
  int filters = H5Pget_nfilters(plist);
  if (filters < 0) return "has unreadable filters";
  for (int i = 0; i < filters; i++) {
    unsigned flags, config;
    size_t values = 0;
    char name[1];
    H5Z_filter_t filter = H5Pget_filter2(plist, (unsigned)i, &flags, &values, NULL, 0, name, &config);
    bool allowed = filter == H5Z_FILTER_FLETCHER32 ||
                   (compressed && (filter == H5Z_FILTER_SHUFFLE || filter == H5Z_FILTER_DEFLATE));
    if (!allowed) return "has a filter that is not allowed";
  }
  return NULL;
}

static const char *read_type(hid_t type, io_h5_shape *out) {
  out->dtype = IO_H5_OTHER;
  out->type = H5Tget_class(type);
  out->size = H5Tget_size(type);
  for (int dtype = SIM_F32; dtype <= SIM_U64; dtype++)
    if (H5Tequal(type, io_h5_file_type((sim_dtype)dtype)) > 0) out->dtype = dtype;
  if (H5Tequal(type, H5T_STD_U8LE) > 0) out->dtype = IO_H5_BYTES;
  if (out->size == 0 || H5Tdetect_class(type, H5T_VLEN) != 0 || H5Tis_variable_str(type) > 0 ||
      H5Tdetect_class(type, H5T_REFERENCE) != 0)
    return "is of a type that is not allowed";
  return NULL;
}

static const char *read_shape(hid_t space, io_h5_shape *out) {
  hsize_t shape[H5S_MAX_RANK];
  H5S_class_t kind = H5Sget_simple_extent_type(space);
  out->rank = kind == H5S_SCALAR ? 0 : H5Sget_simple_extent_ndims(space);
  if ((kind != H5S_SCALAR && kind != H5S_SIMPLE) || out->rank < 0 || out->rank > SIM_RANK_MAX)
    return "has too many dimensions";
  if (out->rank > 0 && H5Sget_simple_extent_dims(space, shape, NULL) < 0) return "has no readable shape";
  uint64_t bytes = out->size;
  for (int i = 0; i < out->rank; i++) {
    if (shape[i] > INT64_MAX || __builtin_mul_overflow(bytes, (uint64_t)shape[i], &bytes) || bytes > INT64_MAX)
      return "is too large";
    out->shape[i] = (int64_t)shape[i];
  }
  out->bytes = (size_t)bytes;
  return NULL;
}

sim_status io_h5_check(const io_h5_source *source, hid_t dataset, const char *name, bool compressed, io_h5_shape *out) {
  memset(out, 0, sizeof *out);
  if (H5Iget_type(dataset) != H5I_DATASET) return io_h5_refuse(source, name, "is not a dataset");
  hid_t plist = H5Dget_create_plist(dataset), type = H5Dget_type(dataset), space = H5Dget_space(dataset);
  const char *why = plist < 0 || type < 0 || space < 0 ? "cannot be read" : bad_layout(plist, compressed);
  if (!why) why = read_type(type, out);
  if (!why) why = read_shape(space, out);
  /* unwritten data would read as fill values; deflate compresses by at most 1032 to 1 */
  if (!why && out->bytes / (compressed ? 1032 : 1) > H5Dget_storage_size(dataset))
    why = "is larger than what is stored of it";
  io_h5_drop(space);
  io_h5_drop(type);
  io_h5_drop(plist);
  return why ? io_h5_refuse(source, name, why) : SIM_OK;
}
