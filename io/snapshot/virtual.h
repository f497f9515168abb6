/* Virtual datasets over the arrays of snapshots. HDF5 needs about 7 us for each mapping, and a run has one mapping for
 * each snapshot, record and component. So there are two layers: one dataset for each IO_BLOCK_STEPS snapshots, made
 * during the run, and at its end one dataset that joins these blocks. */
#ifndef SIM_IO_VIRTUAL_H
#define SIM_IO_VIRTUAL_H

#include "io/snapshot/vtkhdf.h"

#include <hdf5.h>

enum { IO_BLOCK_STEPS = 16 };

/* The values of one record at all steps, one step after another along the first axis. */
typedef struct io_virtual {
  const io_vtk_series *series;
  const int64_t *begins;      /* [series->count + 1]: first row of each step; the last entry is the number of rows */
  char name[64], object[192]; /* in the index; in a snapshot: "meshes/u", for a vector without component */
  sim_dtype dtype;
  int components; /* 1 to 3; if more than 1, the last axis */
  int stored;     /* components in a snapshot; those behind them are 0 */
  int rank;
  hsize_t shape[5]; /* axis 0 is not used */
  int source_rank;
  hsize_t source[3];       /* shape in a snapshot; source[0] = 0 stands for the rows of the step */
  const double *constants; /* [stride * step]: value of all rows, NaN: in a dataset; NULL: all in datasets */
  size_t stride;
} io_virtual;

/* Writes block number `block`, the steps from IO_BLOCK_STEPS * block on, to the group `blocks`. */
sim_status io_virtual_block(const io_virtual *values, hid_t blocks, size_t block) SIM_MUST_CHECK;
/* Writes a dataset `name` that joins all blocks, which are in the group /IO_BLOCKS of the same file. */
sim_status io_virtual_join(const io_virtual *values, hid_t parent, const char *name) SIM_MUST_CHECK;

#define IO_BLOCKS "blocks"

#endif
