#include "io/hdf5/vfd.h"

#include "io/sys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

struct io_vfd {
  int fd;
  io_pages *pages; /* pages of a file in memory; else NULL */
  bool writing;    /* errors are kept in `error`; otherwise they are returned to HDF5 */
  int error;
};

typedef struct device {
  H5FD_t public; /* HDF5 requires its own part first */
  io_vfd *vfd;
  haddr_t eoa, eof; /* bytes in use by HDF5; bytes in the file */
} device;

typedef struct settings {
  io_vfd *vfd;
} settings;

static H5FD_t *device_open(const char *name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
  (void)name, (void)flags, (void)maxaddr;
  const settings *given = H5Pget_driver_info(fapl);
  struct stat info;
  info.st_size = 0;
  if (!given || (!given->vfd->pages && fstat(given->vfd->fd, &info) != 0)) return NULL;
  device *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->vfd = given->vfd;
  self->eof = (haddr_t)info.st_size;
  return &self->public;
}

static herr_t device_close(H5FD_t *file) {
  free(file);
  return 0;
}

static herr_t device_query(const H5FD_t *file, unsigned long *flags) {
  (void)file;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

static haddr_t device_get_eoa(const H5FD_t *file, H5FD_mem_t type) {
  (void)type;
  return ((const device *)(const void *)file)->eoa;
}

static herr_t device_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t address) {
  (void)type;
  ((device *)(void *)file)->eoa = address;
  return 0;
}

static haddr_t device_get_eof(const H5FD_t *file, H5FD_mem_t type) {
  (void)type;
  return ((const device *)(const void *)file)->eof;
}

static herr_t device_read(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t size, void *data) {
  (void)type, (void)dxpl;
  device *self = (device *)(void *)file;
  size_t got = 0;
  if (self->vfd->pages) {
    io_pages_load(self->vfd->pages, address, size, data);
    return 0;
  }
  int error = address > INT64_MAX || size > INT64_MAX - address
                  ? EOVERFLOW
                  : io_sys_read(self->vfd->fd, data, size, (int64_t)address, &got);
  if (error && !self->vfd->writing) return -1;
  if (error && self->vfd->error == 0) self->vfd->error = error;
  memset((char *)data + got, 0, size - got);
  return 0;
}

static herr_t device_write(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t size, const void *data) {
  (void)type, (void)dxpl;
  device *self = (device *)(void *)file;
  if (!self->vfd->writing) return -1;
  if (self->vfd->pages) {
    if (!io_pages_store(self->vfd->pages, address, size, data)) self->vfd->error = ENOMEM;
    if (address + size > self->eof) self->eof = address + size;
    return 0;
  }
  if (self->vfd->error == 0)
    self->vfd->error = address > INT64_MAX || size > INT64_MAX - address
                           ? EFBIG
                           : io_sys_write(self->vfd->fd, data, size, (int64_t)address);
  if (address + size > self->eof) self->eof = address + size;
  return 0;
}

static herr_t device_truncate(H5FD_t *file, hid_t dxpl, hbool_t closing) {
  (void)dxpl, (void)closing;
  device *self = (device *)(void *)file;
  if (!self->vfd->writing || self->eoa == self->eof) return 0;
  if (self->vfd->pages)
    self->vfd->pages->size = self->eoa;
  else if (self->vfd->error == 0)
    self->vfd->error = io_sys_truncate(self->vfd->fd, (int64_t)self->eoa);
  self->eof = self->eoa;
  return 0;
}

static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)511,
#endif
    .name = "sim",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(settings),
    .open = device_open,
    .close = device_close,
    .query = device_query,
    .get_eoa = device_get_eoa,
    .set_eoa = device_set_eoa,
    .get_eof = device_get_eof,
    .read = device_read,
    .write = device_write,
    .truncate = device_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* Returns a file access property list for this descriptor; negative on failure. */
static hid_t access_list(io_vfd *vfd) {
  static hid_t registered = -1;
  if (registered < 0 || H5Iis_valid(registered) <= 0) registered = H5FDregister(&driver);
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  if (registered < 0 || fapl < 0) return -1;
  settings given = {vfd};
  if (H5Pset_driver(fapl, registered, &given) < 0 || H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG) < 0) {
    (void)H5Pclose(fapl);
    return -1;
  }
  return fapl;
}

static io_vfd *vfd_new(int fd, io_pages *pages, bool writing) {
  io_vfd *vfd = calloc(1, sizeof *vfd);
  if (!vfd) return NULL;
  vfd->fd = fd;
  vfd->pages = pages;
  vfd->writing = writing;
  return vfd;
}

static hid_t create(io_vfd *vfd, const char *name, bool latest) {
  if (!vfd) return -1;
  hid_t file = -1, fapl = access_list(vfd);
  /* Frees the metadata of an object when the object is closed: files begun during a run then end faster. An HDF5 built
   * for MPI refuses this, which does no harm. */
  if (fapl >= 0 && !vfd->pages) (void)H5Pset_evict_on_close(fapl, true);
  if (fapl >= 0 && (!latest || H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0))
    file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  if (fapl >= 0) (void)H5Pclose(fapl);
  return file;
}

hid_t io_vfd_create(int fd, const char *name, bool latest, io_vfd **out) {
  return create(*out = vfd_new(fd, NULL, true), name, latest);
}

hid_t io_vfd_create_pages(io_pages *pages, bool latest, io_vfd **out) {
  return create(*out = vfd_new(-1, pages, true), "image", latest);
}

hid_t io_vfd_open(int fd, const char *name, io_vfd **out) {
  io_vfd *vfd = *out = vfd_new(fd, NULL, false);
  if (!vfd) return -1;
  hid_t fapl = access_list(vfd);
  hid_t file = fapl < 0 ? -1 : H5Fopen(name, H5F_ACC_RDONLY, fapl);
  if (fapl >= 0) (void)H5Pclose(fapl);
  return file;
}

int io_vfd_close(hid_t file, io_vfd **vfd) {
  if (!*vfd) return ENOMEM;
  bool closed = file < 0 || H5Fclose(file) >= 0;
  int error = (*vfd)->error;
  if (closed)
    free(*vfd);
  else
    (*vfd)->fd = -1; /* not freed on purpose: HDF5 reads it once more when the process ends */
  *vfd = NULL;
  return error ? error : closed ? 0 : EIO;
}
