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

/* Most pairs of a batch. The lists of a body are padded to a multiple of NBODY_SHORT_GROUP by the body's own index. */
enum { NBODY_SHORT_BATCH = 512, NBODY_SHORT_GROUP = 16, NBODY_SHORT_LANES = 8 };

typedef struct nbody_short_bodies {
  /* [n][4]: x y z and an unused number. fp64: positions without a jump where a body leaves the box. fp32: int32_t, with
   * the box 2^32 long. */
  const void *position;
  const void *mass;    /* [n] of the precision; NULL: all bodies have the same mass, which is left out of all sums */
  double *sum;         /* [n][4]: accelerations, the fourth unused */
  double cutoff2, box; /* squared cutoff; edge of the box */
  const sim_expr_program *force;     /* function r2 -> force, in the precision */
  const sim_expr_program *potential; /* function r2 -> potential, in fp64 */
} nbody_short_bodies;

/* Lists of the bodies first ... first + count - 1. */
typedef struct nbody_short_rows {
  int64_t first, count;
  const uint32_t *length; /* [n]: number of pairs of a body */
  const uint8_t *image;   /* [n]: whether a body has a pair with an image */
  const int32_t *list;    /* lists of all these bodies, padded; entries are four times the index of a body */
} nbody_short_rows;

/* Sums over pairs of potential, force times r2, and m m' alone; without m m' where all masses are the same. */
typedef struct nbody_short_sums {
  double potential, virial, weight;
} nbody_short_sums;

typedef struct nbody_short_loops {
  /* Adds the accelerations of all pairs of these rows to bodies->sum. `scratch`: nbody_short_scratch bytes. */
  void (*accelerate)(const nbody_short_bodies *bodies, const nbody_short_rows *rows, void *scratch);
  /* Computes the sums of these rows. fp64 only. */
  void (*observe)(const nbody_short_bodies *bodies, const nbody_short_rows *rows, void *scratch, nbody_short_sums *out);
  /* Writes the indices j, first <= j < end, of the bodies at x[3][..] with a squared distance of at most reach2 from
   * the point at[3] to `list`, which has room for end - first + 8; returns their number. box: distances are to the
   * nearest images; 0: to the bodies themselves. fp64 only. */
  int64_t (*search)(const double *const x[3], int64_t first, int64_t end, const double at[3], double reach2, double box,
                    int32_t *list);
} nbody_short_loops;

/* Bytes of scratch memory of a thread whose programs need `program` bytes: a multiple of 64. */
size_t nbody_short_scratch(size_t program);

extern const nbody_short_loops nbody_short_double_plain, nbody_short_single_plain;
extern const nbody_short_loops nbody_short_double_avx2, nbody_short_single_avx2;
extern const nbody_short_loops nbody_short_double_avx512, nbody_short_single_avx512;

#endif
