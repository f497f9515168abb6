#include "io/hdf5/h5.h"

#include "io/seal.h"

#include <errno.h>
#include <string.h>

hid_t io_h5_file_type(sim_dtype dtype) {
  switch (dtype) {
  case SIM_F32: return H5T_IEEE_F32LE;
  case SIM_F64: return H5T_IEEE_F64LE;
  case SIM_I64: return H5T_STD_I64LE;
  case SIM_U64: return H5T_STD_U64LE;
  case SIM_U8: return H5T_STD_U8LE;
  }
  return -1;
}

hid_t io_h5_memory_type(sim_dtype dtype) {
  switch (dtype) {
  case SIM_F32: return H5T_NATIVE_FLOAT;
  case SIM_F64: return H5T_NATIVE_DOUBLE;
  case SIM_I64: return H5T_NATIVE_INT64;
  case SIM_U64: return H5T_NATIVE_UINT64;
  case SIM_U8: return H5T_NATIVE_UINT8;
  }
  return -1;
}

void io_h5_drop(hid_t id) {
  if (id >= 0) (void)H5Idec_ref(id);
}

static sim_status cannot_write(const char *what) { return sim_fail(SIM_ERR_IO, "HDF5 cannot write %s", what); }

sim_status io_h5_begin(int folder, const char *folder_path, const char *name, bool sealed, io_h5_file *out) {
  SIM_TRY(io_file_create(folder, folder_path, name, &out->file));
  out->sealed = sealed;
  out->id = io_vfd_create(out->file.fd, out->file.path, sealed, &out->vfd);
  if (out->id >= 0 && (!sealed || io_h5_attr_text(out->id, "seal", IO_SEAL_ATTRIBUTE) == SIM_OK)) return SIM_OK;
  int error = io_vfd_close(out->id, &out->vfd);
  return io_file_fail(&out->file, error ? error : EIO);
}

sim_status io_h5_finish(io_h5_file *file, sim_status status) {
  if (status == SIM_OK && H5Fget_obj_count(file->id, H5F_OBJ_ALL) != 1)
    status = sim_fail(SIM_ERR_INTERNAL, "%s: an HDF5 object was left open", file->file.path);
  int error = io_vfd_close(file->id, &file->vfd);
  if (error) return io_file_fail(&file->file, error);
  if (status != SIM_OK) {
    io_file_discard(&file->file);
    return sim_fail_context("%s", file->file.path);
  }
  return file->sealed ? io_seal_write(&file->file) : SIM_OK;
}

sim_status io_h5_attr(hid_t object, const char *name, hid_t file_type, hid_t memory_type, hsize_t count,
                      const void *data) {
  hid_t space = count ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
  hid_t attribute = space < 0 ? -1 : H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool written = attribute >= 0 && H5Awrite(attribute, memory_type, data) >= 0;
  io_h5_drop(attribute);
  io_h5_drop(space);
  return written ? SIM_OK : cannot_write(name);
}

sim_status io_h5_attr_f64(hid_t object, const char *name, double value) {
  return io_h5_attr(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &value);
}

sim_status io_h5_attr_i64(hid_t object, const char *name, int64_t value) {
  return io_h5_attr(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, 0, &value);
}

sim_status io_h5_attr_u64(hid_t object, const char *name, uint64_t value) {
  return io_h5_attr(object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, 0, &value);
}

/* Fixed-length ASCII of `size` bytes, padded with NULs. */
static hid_t text_type(size_t size) {
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type >= 0 && (H5Tset_size(type, size ? size : 1) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)) {
    io_h5_drop(type);
    return -1;
  }
  return type;
}

sim_status io_h5_attr_text(hid_t object, const char *name, const char *text) {
  enum { MOST = 60000 }; /* an attribute of HDF5's classic format holds at most 64 KiB */
  size_t size = text ? strnlen(text, MOST) : 0;
  hid_t type = text_type(size);
  sim_status status = type < 0 ? cannot_write(name) : io_h5_attr(object, name, type, type, 0, size ? text : "");
  io_h5_drop(type);
  return status;
}

sim_status io_h5_attr_texts(hid_t object, const char *name, const char *const *texts, size_t count) {
  size_t longest = 1;
  for (size_t i = 0; i < count; i++)
    if (strlen(texts[i]) > longest) longest = strlen(texts[i]);
  sim_bytes packed = {0};
  for (size_t i = 0; i < count; i++) {
    static const char zeros[64] = {0};
    sim_bytes_text(&packed, texts[i]);
    for (size_t left = longest - strlen(texts[i]); left > 0;) {
      size_t some = left < sizeof zeros ? left : sizeof zeros;
      sim_bytes_add(&packed, zeros, some);
      left -= some;
    }
  }
  hid_t type = text_type(longest);
  sim_status status = type < 0        ? cannot_write(name)
                      : packed.failed ? sim_no_memory("a list of texts")
                                      : io_h5_attr(object, name, type, type, count, packed.data);
  io_h5_drop(type);
  sim_bytes_free(&packed);
  return status;
}

sim_status io_h5_group(hid_t parent, const char *name, hid_t *out) {
  hid_t plist = H5Pcreate(H5P_GROUP_CREATE);
  *out = plist < 0 || H5Pset_link_creation_order(plist, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) < 0
             ? -1
             : H5Gcreate2(parent, name, H5P_DEFAULT, plist, H5P_DEFAULT);
  io_h5_drop(plist);
  return *out < 0 ? cannot_write(name) : SIM_OK;
}

sim_status io_h5_dataset(hid_t parent, const char *name, hid_t file_type, hid_t memory_type, int rank,
                         const hsize_t *shape, const hsize_t *chunk, const void *data, hid_t *out) {
  hid_t dataset = -1, plist = H5Pcreate(H5P_DATASET_CREATE);
  hid_t space = rank ? H5Screate_simple(rank, shape, NULL) : H5Screate(H5S_SCALAR);
  bool good = plist >= 0 && space >= 0 && H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER) >= 0 &&
              H5Pset_obj_track_times(plist, false) >= 0;
  if (chunk) good = good && H5Pset_chunk(plist, rank, chunk) >= 0 && H5Pset_fletcher32(plist) >= 0;
  if (good) dataset = H5Dcreate2(parent, name, file_type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  good = dataset >= 0;
  if (good && H5Sget_simple_extent_npoints(space) > 0)
    good = H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  io_h5_drop(plist);
  io_h5_drop(space);
  if (out && good) {
    *out = dataset;
    return SIM_OK;
  }
  io_h5_drop(dataset);
  return good ? SIM_OK : cannot_write(name);
}

sim_status io_h5_text(hid_t parent, const char *name, const char *text, size_t size) {
  hid_t type = text_type(size);
  sim_status status =
      type < 0 ? cannot_write(name) : io_h5_dataset(parent, name, type, type, 0, NULL, NULL, size ? text : "", NULL);
  io_h5_drop(type);
  return status;
}
