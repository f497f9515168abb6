/* Parts of a grid that are written beside the full snapshots, oftener: planes, lines, every k-th cell. */
#ifndef SIM_ENGINE_SLICE_H
#define SIM_ENGINE_SLICE_H

#include "engine/frame.h"

enum { SIM_SLICES_MAX = 16 };

/* The grid that a model's fields stand on; axes as in their arrays, x last. */
typedef struct sim_extent {
  int rank;
  int64_t n[3];
  sim_mesh mesh;
  int apart; /* axis that is none of space, such as that of members: every index of it stays; -1: none */
} sim_extent;

typedef struct sim_slice {
  char *name;   /* \w+ */
  double at[3]; /* plane x, y, z; NaN: the whole axis */
  int64_t stride;
  sim_cadence when;
  /* on the model's grid, axes as in arrays; filled by sim_slices_place */
  int rank;
  bool cut[3];
  int64_t first[3], step[3], count[3]; /* of cells that are kept; one where the axis is cut */
} sim_slice;
extern const sim_schema sim_slice_schema;

/* Checks the slices of a scenario against the grid (NULL: the model has none), and says which cells they keep. */
void sim_slices_place(const sim_list *slices, const char *model, const sim_extent *extent, sim_faults *faults);
/* What of the grid's cells a slice keeps. */
double sim_slice_share(const sim_slice *slice, const sim_extent *extent);

/* `out` becomes what a slice keeps of an array on its grid: axes that are cut are gone. `mesh` is for `out`. No data.
 */
void sim_slice_shape(const sim_slice *slice, const sim_array *from, sim_array *out, sim_mesh *mesh);
/* Its values, in order, to data[sim_array_bytes(out)]. */
void sim_slice_gather(const sim_slice *slice, const sim_array *from, void *data);

#endif
