/* Slices: parts of a grid that are written more often than full snapshots (planes, lines, every k-th cell). */
#ifndef SIM_ENGINE_SLICE_H
#define SIM_ENGINE_SLICE_H

#include "engine/frame.h"

enum { SIM_SLICES_MAX = 16 };

/* Grid of a model's fields; axes as in their arrays, x last. */
typedef struct sim_extent {
  int rank;
  int64_t n[3];
  sim_mesh mesh;
  int apart; /* axis that is not spatial, such as members of an ensemble; slices keep all of it; -1: none */
} sim_extent;

typedef struct sim_slice {
  char *name;   /* \w+ */
  double at[3]; /* plane x, y, z; NaN: the whole axis */
  int64_t stride;
  sim_cadence when;
  /* on the model's grid, axes as in arrays; set by sim_slices_place */
  int rank;
  bool cut[3];
  int64_t first[3], step[3], count[3]; /* cells that are kept; one along a cut axis */
} sim_slice;
extern const sim_schema sim_slice_schema;

/* Checks the slices of a scenario against the grid (NULL: the model has none), and sets the cells that they keep. */
void sim_slices_place(const sim_list *slices, const char *model, const sim_extent *extent, sim_faults *faults);
/* Fraction of the grid's cells that a slice keeps. */
double sim_slice_share(const sim_slice *slice, const sim_extent *extent);

/* Shape and mesh of a slice of an array, without the axes that are cut; no data. */
void sim_slice_shape(const sim_slice *slice, const sim_array *from, sim_array *out, sim_mesh *mesh);
/* Copies the values of a slice to `data`, of sim_array_bytes(out) bytes. */
void sim_slice_gather(const sim_slice *slice, const sim_array *from, void *data);

#endif
