/* VTKHDF 2.0 index files over snapshots: index.c describes a run, and these functions write <species>.hdf and grid.hdf,
 * the latter also for each slice. All values are virtual datasets over those of the snapshots (io/snapshot/virtual.h);
 * values of a removed snapshot read as NaN. A file is begun during the run and completed at its end. */
#ifndef SIM_IO_VTKHDF_H
#define SIM_IO_VTKHDF_H

#include "engine/frame.h"
#include "io/folder.h"

typedef struct io_vtk_step {
  int64_t step;
  double time;
} io_vtk_step;

typedef struct io_vtk_record {
  const char *name; /* of a vector on a grid the name of its first component: "velocity/x" */
  sim_dtype dtype;
  int components; /* 1 or 3; of a mesh 1 to 3 */
  bool once;      /* a mesh that is in one snapshot alone */
} io_vtk_record;

typedef struct io_vtk_series {
  int folder; /* descriptor of the index's folder */
  const char *folder_path;
  const char *below; /* path of the snapshots from there: "snap/", or "" for the same folder */
  const io_provenance *provenance;
  io_later *later; /* makes the index durable in the background */
  io_later_result *result;
  const io_vtk_step *steps; /* in increasing order */
  size_t count;
  int64_t once; /* step of the snapshot with the meshes that are in one alone */
} io_vtk_series;

/* Grid shared by all meshes; axes in the order of their arrays, x last. */
typedef struct io_vtk_grid {
  int rank;
  bool cut[3]; /* only a single plane along this axis, which the arrays in snapshots lack */
  int64_t shape[3];
  sim_mesh mesh;
} io_vtk_grid;

/* An index file in progress; NULL: none. */
typedef struct io_vtk_file io_vtk_file;

/* Writes NAME.hdf: an UnstructuredGrid with one poly-vertex cell per step. counts[stride * i]: particles at step i;
 * constants[stride * i]: IO_CONSTANT_RECORD at step i, NaN if in a dataset. If not `last`, adds at most two whole
 * blocks of steps to `*file`; if `last`, completes the file and sets `*file` to NULL. A failure also ends the file. */
sim_status io_vtk_particles(const io_vtk_series *series, const char *species, const io_vtk_record *records,
                            size_t record_count, const int64_t *counts, const double *constants, size_t stride,
                            bool last, io_vtk_file **file) SIM_MUST_CHECK;
/* The same for grid.hdf: ImageData with values as point data at the centres of cells. */
sim_status io_vtk_image(const io_vtk_series *series, const io_vtk_grid *grid, const io_vtk_record *records,
                        size_t record_count, bool last, io_vtk_file **file) SIM_MUST_CHECK;
void io_vtk_discard(io_vtk_file **file);

#endif
