/* Inner loops over lists of pairs on the CPU, compiled for each precision of the pair terms and instruction set.
 *
 *   rows of a column --distances--> pairs within the cutoff, in batches --program--> force --> sums of both bodies
 *
 * Bodies are in the order of columns (list.h). The order of sums follows from the lists alone, not from the instruction
 * set. */
#ifndef NBODY_SHORT_LOOP_H
#define NBODY_SHORT_LOOP_H

#include "engine/expr/expr.h"

#include <stdint.h>

/* Pairs of a batch. The lists of a body are padded to a multiple of NBODY_SHORT_GROUP by its own number. */
enum { NBODY_SHORT_BATCH = 512, NBODY_SHORT_GROUP = 16, NBODY_SHORT_LANES = 8 };

typedef struct nbody_short_bodies {
  /* [n][4]: x y z and a free number. fp64: positions without a jump where a body leaves the box. fp32: int32_t, the
   * box is 2^32 long. */
  const void *position;
  const void *mass;                  /* [n] of the precision; NULL: all bodies have one mass, left out of all sums */
  double *sum;                       /* [n][4]: accelerations, the fourth unused */
  double cutoff2, box;               /* squared cutoff; edge of the box */
  const sim_expr_program *force;     /* r2 -> force, in the precision */
  const sim_expr_program *potential; /* fp64: r2 -> potential */
} nbody_short_bodies;

/* Lists of the bodies first ... first + count - 1. */
typedef struct nbody_short_rows {
  int64_t first, count;
  const uint32_t *length; /* [n]: pairs of a body */
  const uint8_t *image;   /* [n]: whether a pair of the body is one with an image */
  const int32_t *list;    /* of all these bodies, one after the other, padded; four times the numbers of bodies */
} nbody_short_rows;

/* Sums over pairs, without a common mass: of potential, of force times r2, and of m m' alone. */
typedef struct nbody_short_sums {
  double potential, virial, weight;
} nbody_short_sums;

typedef struct nbody_short_loops {
  /* Adds the accelerations of all pairs of these rows to bodies->sum. `scratch`: nbody_short_scratch bytes. */
  void (*accelerate)(const nbody_short_bodies *bodies, const nbody_short_rows *rows, void *scratch);
  /* fp64 only. */
  void (*observe)(const nbody_short_bodies *bodies, const nbody_short_rows *rows, void *scratch, nbody_short_sums *out);
  /* fp64 only: writes the numbers j of first <= j < end with a squared distance of at most reach2 from the point at[3],
   * of coordinates x[3][..], to `list`, which has room for end - first + 8; returns how many there are. box: distances
   * are those to the nearest images; 0: to the bodies themselves. */
  int64_t (*search)(const double *const x[3], int64_t first, int64_t end, const double at[3], double reach2, double box,
                    int32_t *list);
} nbody_short_loops;

/* Bytes of scratch of a thread, whose programs take `program` bytes: a multiple of 64. */
size_t nbody_short_scratch(size_t program);

extern const nbody_short_loops nbody_short_double_plain, nbody_short_single_plain;
extern const nbody_short_loops nbody_short_double_avx2, nbody_short_single_avx2;
extern const nbody_short_loops nbody_short_double_avx512, nbody_short_single_avx512;

#endif
