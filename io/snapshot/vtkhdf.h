/* VTKHDF 2.0 files over snapshots: what index.c knows of a run becomes <species>.hdf and grid.hdf, the latter of each
 * slice too. All values are virtual datasets over the snapshots' own; where a snapshot has been removed they read as
 * NaN. */
#ifndef SIM_IO_VTKHDF_H
#define SIM_IO_VTKHDF_H

#include "engine/frame.h"
#include "io/folder.h"

typedef struct io_vtk_step {
  int64_t step;
  double time;
} io_vtk_step;

typedef struct io_vtk_record {
  const char *name; /* of a vector on a grid that of its first component: "velocity/x" */
  sim_dtype dtype;
  int components; /* 1 or 3; on a grid also 2 */
} io_vtk_record;

typedef struct io_vtk_series {
  int folder; /* of the index */
  const char *folder_path;
  const char *below; /* "snap/": where the snapshots are from there; "": beside it */
  const io_provenance *provenance;
  io_later *later; /* makes the index durable; its files are under way when the functions below return */
  io_later_result *result;
  const io_vtk_step *steps; /* rising */
  size_t count;
} io_vtk_series;

/* The grid that meshes share; axes as in their arrays, x last. */
typedef struct io_vtk_grid {
  int rank;
  bool cut[3]; /* one plane of this axis is left, and the arrays in snapshots lack it */
  int64_t shape[3];
  sim_mesh mesh;
} io_vtk_grid;

/* NAME.hdf: an UnstructuredGrid of one poly-vertex cell a step. counts[stride * i]: its particles at step i;
 * constants[stride * i]: their IO_CONSTANT_RECORD at step i, NaN: in a dataset. */
sim_status io_vtk_particles(const io_vtk_series *series, const char *species, const io_vtk_record *records,
                            size_t record_count, const int64_t *counts, const double *constants,
                            size_t stride) SIM_MUST_CHECK;
/* grid.hdf: ImageData. Values are point data where they stand, in the middle of cells. */
sim_status io_vtk_image(const io_vtk_series *series, const io_vtk_grid *grid, const io_vtk_record *records,
                        size_t record_count) SIM_MUST_CHECK;

#endif
