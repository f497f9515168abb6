/* Virtual datasets over the arrays of snapshots. HDF5 takes some 7 us for each mapping, and a run has one for each
 * snapshot, record and component. So mappings come in two layers: one dataset for each IO_BLOCK_STEPS snapshots, made
 * while the run goes on, and at its end one that joins these blocks. */
#ifndef SIM_IO_VIRTUAL_H
#define SIM_IO_VIRTUAL_H

#include "io/snapshot/vtkhdf.h"

#include <hdf5.h>

enum { IO_BLOCK_STEPS = 16 };

/* The values of one record at all steps, one step after another along the first axis. */
typedef struct io_virtual {
  const io_vtk_series *series;
  const int64_t *begins;      /* [series->count + 1]: first row of each step; the last one: number of rows */
  char name[64], object[192]; /* in the index; in a snapshot: "meshes/u", of a vector without its component */
  sim_dtype dtype;
  int components; /* 1 to 3; more than 1: the last axis */
  int rank;
  hsize_t shape[5]; /* axis 0 is not used */
  int source_rank;
  hsize_t source[3];       /* shape in a snapshot; source[0] = 0: the rows of the step */
  const double *constants; /* [stride * step]: value of all rows, NaN: in a dataset; NULL: always in a dataset */
  size_t stride;
} io_virtual;

/* Writes block number `block`, of steps IO_BLOCK_STEPS * block and following, to the group `blocks`. */
sim_status io_virtual_block(const io_virtual *values, hid_t blocks, size_t block) SIM_MUST_CHECK;
/* Writes the dataset `values->name` over all blocks, which are in the group /IO_BLOCKS of the same file. */
sim_status io_virtual_join(const io_virtual *values, hid_t parent, const char *name) SIM_MUST_CHECK;

#define IO_BLOCKS "blocks"

#endif
