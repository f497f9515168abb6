/* Division of a grid among the ranks of a run. The pass over planes and the pass over columns (spectral.h) need other
 * parts of a field, between which a turn exchanges:
 *
 *   slab:     planes first <= i < end, whole: [end - first][plane]. With two axes, rows.
 *   columns:  points of all planes: [back][stride], of rows middle_first <= y < middle_end with three axes, and of
 * points group_first <= x < group_end of the rows with two.
 *
 * Each line is transformed whole by one rank, beside the same lines as on one rank, so that no bit depends on their
 * number. One rank has the whole field in both passes. Members of an ensemble are not transformed along their axis, so
 * that columns of own planes suffice; a grid of one axis is on rank 0. Both need no turn. */
#ifndef DIFFUSION_SLABS_H
#define DIFFUSION_SLABS_H

#include "engine/comm/comm.h"
#include "kernels/common/grid/grid.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct diffusion_slab {
  bool turned;        /* columns and slab differ */
  int64_t first, end; /* planes, or rows */
  int64_t middle_first, middle_end, group_first, group_end;
  int64_t origin, stride; /* of columns, in points: of the first one in a plane, and from plane to plane */
  int64_t backs;          /* points of a column */
} diffusion_slab;

/* Returns the share of rank `rank` of comm->size. Rank 0 has the largest share. */
diffusion_slab diffusion_slab_of(const grid_shape *grid, bool single, const sim_comm *comm, int rank);
/* Returns the share of this rank. */
static inline diffusion_slab diffusion_own_slab(const grid_shape *grid, bool single, const sim_comm *comm) {
  return diffusion_slab_of(grid, single, comm, comm->rank);
}

/* Returns the cells of one plane, or of one row of a grid of two axes. Real fields of a slab are [end - first][plane].
 */
static inline int64_t diffusion_plane_cells(const grid_shape *grid) {
  return grid->rank == 3 ? grid->n[0] * grid->n[1] : grid->n[0];
}

/* Rows of cells of this rank's slab. */
grid_range diffusion_own_rows(const grid_shape *grid, bool single, const sim_comm *comm);
/* Gathers rows[nz ny] of `bytes` each. Every rank has the rows of its slab before, and all rows after. */
sim_status diffusion_gather_rows(const grid_shape *grid, bool single, const sim_comm *comm, size_t bytes,
                                 void *rows) SIM_MUST_CHECK;

/* Joins lines of cells: every rank has some cells before, with zeros elsewhere, and all cells after. */
sim_status diffusion_join_lines(const sim_comm *comm, size_t bytes, void *lines) SIM_MUST_CHECK;
/* Sets *field to the first of `fields` fields that is broken on some rank, or to -1. `from`: `fields` minus the number
 * of the first field that is broken on this rank; 0: none is broken. */
sim_status diffusion_first_broken(const sim_comm *comm, int fields, uint64_t from, int *field) SIM_MUST_CHECK;

/* Return the numbers that a field takes: whole, in a slab, and in columns. The last slab includes the numbers behind
 * the last plane of the field. */
double diffusion_field_numbers(const grid_shape *grid, bool single);
double diffusion_slab_numbers(const grid_shape *grid, bool single, const diffusion_slab *slab);
double diffusion_column_numbers(const grid_shape *grid, bool single, const diffusion_slab *slab);
/* Returns the numbers of one table for the columns. Real tables have one entry for k and -k, `complex` tables one for
 * each. */
double diffusion_table_numbers(const grid_shape *grid, bool single, bool complex, const diffusion_slab *slab);
/* Returns the numbers of one table of a derived field. both: its coefficients have real and imaginary parts. */
double diffusion_symbol_numbers(const grid_shape *grid, bool single, bool both, const diffusion_slab *slab);
/* Return the points from row to row of a field, and from plane to plane, which are rows with two axes. */
int64_t diffusion_row_stride(const grid_shape *grid, bool single);
int64_t diffusion_plane_stride(const grid_shape *grid, bool single);
/* Returns the numbers of the whole field before the slab. */
double diffusion_slab_begin(const grid_shape *grid, bool single, const diffusion_slab *slab);

#ifdef __cplusplus
}
#endif

#endif
