/* What all HDF5 files share: fixed ASCII strings, attributes, datasets, begin and end of a file. Errors of HDF5 become
 * SIM_ERR_IO; identifiers are closed even after errors. */
#ifndef SIM_IO_H5_H
#define SIM_IO_H5_H

#include "engine/frame.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/hdf5/vfd.h"

#include <hdf5.h>

/* Types of a value: little-endian in files, native in memory. */
hid_t io_h5_file_type(sim_dtype dtype);
hid_t io_h5_memory_type(sim_dtype dtype);

/* Closes an identifier of any kind; does nothing if it is negative. */
void io_h5_drop(hid_t id);

/* A file that is being written. `sealed`: in the newest format, with the block of io/seal.h at the end. */
typedef struct io_h5_file {
  io_file file;
  io_vfd *vfd;
  hid_t id;
  bool sealed;
} io_h5_file;
sim_status io_h5_begin(int folder, const char *folder_path, const char *name, bool sealed,
                       io_h5_file *out) SIM_MUST_CHECK;
/* Ends HDF5's work on the file: file->file is complete and sealed, ready for io_later_add or io_file_commit.
 * Discards the file if `status` is not SIM_OK or a write failed. */
sim_status io_h5_finish(io_h5_file *file, sim_status status) SIM_MUST_CHECK;

/* Writes an attribute. `count` 0: a scalar. Texts are fixed-length ASCII. */
sim_status io_h5_attr(hid_t object, const char *name, hid_t file_type, hid_t memory_type, hsize_t count,
                      const void *data) SIM_MUST_CHECK;
sim_status io_h5_attr_f64(hid_t object, const char *name, double value) SIM_MUST_CHECK;
sim_status io_h5_attr_i64(hid_t object, const char *name, int64_t value) SIM_MUST_CHECK;
sim_status io_h5_attr_u64(hid_t object, const char *name, uint64_t value) SIM_MUST_CHECK;
sim_status io_h5_attr_text(hid_t object, const char *name, const char *text) SIM_MUST_CHECK; /* text NULL: "" */
sim_status io_h5_attr_texts(hid_t object, const char *name, const char *const *texts, size_t count) SIM_MUST_CHECK;

sim_status io_h5_group(hid_t parent, const char *name, hid_t *out) SIM_MUST_CHECK;
/* Writes an array. chunk NULL: contiguous; else chunked with Fletcher32. `out` NULL: closes the dataset. */
sim_status io_h5_dataset(hid_t parent, const char *name, hid_t file_type, hid_t memory_type, int rank,
                         const hsize_t *shape, const hsize_t *chunk, const void *data, hid_t *out) SIM_MUST_CHECK;
/* Writes a scalar text of any length. */
sim_status io_h5_text(hid_t parent, const char *name, const char *text, size_t size) SIM_MUST_CHECK;

/* Writes the group "provenance" in `parent`. */
sim_status io_provenance_write(hid_t parent, const io_provenance *provenance) SIM_MUST_CHECK;
/* Writes the current time, "YYYY-MM-DD HH:mm:ss +ZZZZ". */
void io_now(char out[32]);

/* Source of reads. Every error is `status` with a message that begins with `path`. */
typedef struct io_h5_source {
  const char *path;
  sim_status status;
} io_h5_source;
/* Fails with "PATH: what: why"; with SIM_ERR_NO_MEMORY instead if HDF5's last call lacked memory. */
sim_status io_h5_refuse(const io_h5_source *source, const char *what, const char *why);
/* Opens the object behind a hard link; soft and external links are refused. */
sim_status io_h5_open(const io_h5_source *source, hid_t parent, const char *name, hid_t *out) SIM_MUST_CHECK;
bool io_h5_has(hid_t parent, const char *name);
/* Reads an attribute that must have this type and `count` values (1: also a scalar). */
sim_status io_h5_get(const io_h5_source *source, hid_t object, const char *name, sim_dtype dtype, int count,
                     void *out) SIM_MUST_CHECK;
/* Reads a fixed-length text; `capacity` includes the NUL. */
sim_status io_h5_get_text(const io_h5_source *source, hid_t object, const char *name, char *out,
                          size_t capacity) SIM_MUST_CHECK;

enum { IO_H5_OTHER = -1, IO_H5_BYTES = -2 };
typedef struct io_h5_shape {
  int dtype;        /* sim_dtype, IO_H5_BYTES (uint8), or IO_H5_OTHER for another type */
  H5T_class_t type; /* H5T_INTEGER, H5T_FLOAT, ... */
  size_t size;      /* of an element */
  int rank;
  int64_t shape[SIM_RANK_MAX];
  size_t bytes; /* of all elements */
} io_h5_shape;
/* Accepts a dataset whose data are all in this file: not external, virtual or unwritten. Allowed filters: Fletcher32;
 * with `compressed` also shuffle and deflate. Reads no data. */
sim_status io_h5_check(const io_h5_source *source, hid_t dataset, const char *name, bool compressed,
                       io_h5_shape *out) SIM_MUST_CHECK;

#endif
