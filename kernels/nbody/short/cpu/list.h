/* Lists of the pairs within a reach, in a periodic box on the CPU.
 *
 * Columns along z of a square cross-section, at least as wide as the reach. Bodies are in the order of their column, in
 * a column by z. A body's list has the bodies after it in its own column and those in reach in four of the eight
 * columns around it, so that each pair is in one list. Columns of one colour have no body in common that they add to.
 */
#ifndef NBODY_SHORT_LIST_H
#define NBODY_SHORT_LIST_H

#include "kernels/nbody/short/cpu/loop.h"

#include "engine/status.h"

#include <stddef.h>

/* Pairs of the bodies of one column. */
typedef struct nbody_short_column {
  int32_t *pairs; /* owned */
  size_t room;
} nbody_short_column;

/* Squares of a few columns have no neighbours on both sides: one column then holds all bodies. */
enum { NBODY_SHORT_COLOURS = 15 };

typedef struct nbody_short_lists {
  int64_t n;
  int side; /* columns along x and along y: 1, or at least 3 */
  double box, reach;
  int threads;
  const nbody_short_loops *loops;      /* of fp64 */
  int64_t *first;                      /* [side^2 + 1]: first body of each column */
  int32_t *order;                      /* [n]: number in the state of each body */
  double *x[3];                        /* [n]: positions of the search, in this order */
  uint32_t *length;                    /* [n] */
  uint8_t *image;                      /* [n] */
  nbody_short_column *column;          /* [side^2] */
  int *coloured;                       /* [side^2]: columns by colour */
  int colour[NBODY_SHORT_COLOURS + 1]; /* first of each colour in `coloured` */
  void *sorted;                        /* scratch, [n] */
} nbody_short_lists;

int nbody_short_side(int64_t n, double box, double reach);
/* Bytes that lists of about `pairs` pairs take. */
double nbody_short_lists_bytes(int64_t n, double box, double reach, double pairs);
/* `out` is zeroed; x[0] ... of out->n, box, reach, threads and loops. SIM_ERR_NO_MEMORY. */
sim_status nbody_short_lists_create(nbody_short_lists *lists) SIM_MUST_CHECK;
void nbody_short_lists_destroy(nbody_short_lists *lists);
/* Sorts the bodies at position[3][n], in [0, box)^3, and finds their pairs. SIM_ERR_NO_MEMORY. */
sim_status nbody_short_lists_search(nbody_short_lists *lists, const double *position) SIM_MUST_CHECK;
/* Sorts the bodies and calls visit(self, thread, r2, count) with the squared distances of all pairs within the reach
 * and of no others, each pair once, on `threads` threads and in any order. Makes no lists. SIM_ERR_NO_MEMORY. */
sim_status nbody_short_lists_visit(nbody_short_lists *lists, const double *position,
                                   void (*visit)(void *self, int thread, const double *r2, int64_t count),
                                   void *self) SIM_MUST_CHECK;
/* The rows of a column. */
nbody_short_rows nbody_short_lists_rows(const nbody_short_lists *lists, int column);

#endif
