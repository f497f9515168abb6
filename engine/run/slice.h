/* Slices: parts of a grid that are written more often than full snapshots (planes, lines, every k-th cell). */
#ifndef SIM_ENGINE_SLICE_H
#define SIM_ENGINE_SLICE_H

#include "engine/frame.h"

enum { SIM_SLICES_MAX = 16 };

/* Grid of a model's fields; axes in the order of the arrays, x last. */
typedef struct sim_extent {
  int rank;
  int64_t n[3];
  sim_mesh mesh;
  int apart; /* axis that is not spatial, such as members of an ensemble, which slices keep whole; -1: none */
} sim_extent;

typedef struct sim_slice {
  char *name;   /* \w+ */
  double at[3]; /* position of the plane along x, y, z; NaN: the whole axis */
  int64_t stride;
  sim_cadence when;
  /* set by sim_slices_place for the model's grid; axes in the order of the arrays */
  int rank;
  bool cut[3];
  int64_t first[3], step[3], count[3]; /* cells that the slice keeps; one along a cut axis */
} sim_slice;
extern const sim_schema sim_slice_schema;

/* Checks the slices of a scenario against the grid (NULL: the model has none), and sets the cells that each slice
 * keeps. */
void sim_slices_place(const sim_list *slices, const char *model, const sim_extent *extent, sim_faults *faults);
/* Fraction of the grid's cells that a slice keeps. */
double sim_slice_share(const sim_slice *slice, const sim_extent *extent);

/* Sets shape and mesh of a slice of an array, without the cut axes; out->data becomes NULL. */
void sim_slice_shape(const sim_slice *slice, const sim_array *from, sim_array *out, sim_mesh *mesh);
/* Copies the values of a slice to data[sim_array_bytes(out)], host memory, with `out` from sim_slice_shape. */
void sim_slice_gather(const sim_slice *slice, const sim_array *from, void *data);

#endif
