/* Lists of the pairs within a reach, in a periodic box on the CPU.
 *
 * The box is cut into columns along z of a square cross-section, at least as wide as the reach. Bodies are sorted by
 * column, and within a column by z. The list of a body has the bodies in reach after it in its own column, and those in
 * four of the eight columns around it, so that each pair is in one list. Columns of one colour never add forces to the
 * same body. */
#ifndef NBODY_SHORT_LIST_H
#define NBODY_SHORT_LIST_H

#include "kernels/nbody/short/cpu/loop.h"

#include "engine/status.h"

#include <stddef.h>

/* Pairs of the bodies in one column. */
typedef struct nbody_short_column {
  int32_t *pairs; /* owned */
  size_t room;
} nbody_short_column;

/* Number of colours. With fewer than 3 columns along an axis a single column holds all bodies. */
enum { NBODY_SHORT_COLOURS = 15 };

typedef struct nbody_short_lists {
  int64_t n;
  int side; /* columns along x and along y: 1, or at least 3 */
  double box, reach;
  int threads;
  const nbody_short_loops *loops;      /* loops of fp64 */
  int64_t *first;                      /* [side^2 + 1]: first body of each column */
  int32_t *order;                      /* [n]: index in the state of each body */
  double *x[3];                        /* [n] each: positions of the search, in the sorted order */
  uint32_t *length;                    /* [n]: number of pairs of a body */
  uint8_t *image;                      /* [n]: whether a body has a pair with an image */
  nbody_short_column *column;          /* [side^2] */
  int *coloured;                       /* [side^2]: columns by colour */
  int colour[NBODY_SHORT_COLOURS + 1]; /* first entry of each colour in `coloured` */
  void *sorted;                        /* scratch, [n] */
} nbody_short_lists;

int nbody_short_side(int64_t n, double box, double reach);
/* Bytes of lists of about `pairs` pairs. */
double nbody_short_lists_bytes(int64_t n, double box, double reach, double pairs);
/* Allocates the lists. The caller sets n, box, reach, threads and loops, and zeroes the rest. SIM_ERR_NO_MEMORY. */
sim_status nbody_short_lists_create(nbody_short_lists *lists) SIM_MUST_CHECK;
void nbody_short_lists_destroy(nbody_short_lists *lists);
/* Sorts the bodies at position[3][n], in [0, box)^3, and finds their pairs. SIM_ERR_NO_MEMORY. */
sim_status nbody_short_lists_search(nbody_short_lists *lists, const double *position) SIM_MUST_CHECK;
/* Sorts the bodies at position[3][n], and calls visit(self, thread, r2, count) with the squared distances of all pairs
 * within the reach, each pair once, on `threads` threads and in any order. Makes no lists. SIM_ERR_NO_MEMORY. */
sim_status nbody_short_lists_visit(nbody_short_lists *lists, const double *position,
                                   void (*visit)(void *self, int thread, const double *r2, int64_t count),
                                   void *self) SIM_MUST_CHECK;
/* The lists of the bodies in a column. */
nbody_short_rows nbody_short_lists_rows(const nbody_short_lists *lists, int column);

#endif
