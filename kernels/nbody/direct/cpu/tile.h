/* Between the driver of the direct sums (pair.c) and its inner loops (pair_tile.c, pair_plain.c). */
#ifndef NBODY_PAIR_TILE_H
#define NBODY_PAIR_TILE_H

#include "engine/expr/expr.h"

#include <stdint.h>

enum { NBODY_BLOCK_MIN = 64, NBODY_BLOCK_MAX = 512 };

/* Columns of the packed bodies, and of their sums. */
enum { NBODY_X, NBODY_MASS = 3, NBODY_V, NBODY_COLUMNS = 7, NBODY_SUMS = 6 };

/* A law of the scenario's own in place of gravity. */
typedef struct nbody_law {
  sim_expr_program *force;     /* r2 -> force [rate], in the precision of pair terms */
  sim_expr_program *potential; /* r2 -> potential, fp64 */
  char *room;                  /* [threads][stride]: scratch of both, from `columns` on NBODY_LAW_COLUMNS columns */
  size_t stride, columns;
  bool single, jerk;
  int threads;
} nbody_law;
/* Pairs at a time, and columns of as many numbers: r2, force, rate. */
enum { NBODY_LAW_PAIRS = NBODY_BLOCK_MAX, NBODY_LAW_COLUMNS = 3 };

/* Bodies made ready for the pair terms: positions less a common centre, all scaled by powers of two. Bodies from n on
 * have no mass, stand apart and fill the last block. */
typedef struct nbody_packed {
  int64_t n, padded;         /* padded: a multiple of block; n for the plain twin */
  int block;                 /* power of two, NBODY_BLOCK_MIN ... NBODY_BLOCK_MAX */
  double softening2;         /* scaled */
  const nbody_law *law;      /* NULL: gravity. With a law nothing is scaled */
  void *body[NBODY_COLUMNS]; /* [padded] each, 64-byte aligned: x y z mass vx vy vz, in the precision of pair terms */
  double *sum[NBODY_SUMS];   /* [padded] each: ax ay az jx jy jz; sum[0] alone for the potential */
} nbody_packed;

/* Adds the terms of block i with block j (first bodies i0, j0) to the sums of both; i0 == j0: of a block with itself.
 */
typedef void nbody_tile(const nbody_packed *packed, int64_t i0, int64_t j0);

typedef struct nbody_tiles {
  nbody_tile *acceleration, *jerk;
  nbody_tile *potential; /* sum_{j > i, or in the other block} m_i m_j / s goes to i's sum; fp64 only */
  double cube, inverse;  /* what sums of r^-3 and of r^-1 are still to be multiplied by */
} nbody_tiles;

/* Built in on x86-64: all; elsewhere: plain. */
extern const nbody_tiles nbody_tiles_double_plain, nbody_tiles_single_plain;
extern const nbody_tiles nbody_tiles_double_avx2, nbody_tiles_single_avx2;
extern const nbody_tiles nbody_tiles_double_avx512, nbody_tiles_single_avx512;

/* The same of a law; cube and inverse 1. */
extern const nbody_tiles nbody_law_tiles_double_plain, nbody_law_tiles_single_plain;
extern const nbody_tiles nbody_law_tiles_double_avx2, nbody_law_tiles_single_avx2;
extern const nbody_tiles nbody_law_tiles_double_avx512, nbody_law_tiles_single_avx512;

/* The plain twin: one loop over the pairs i < j, no blocks, nothing but sqrt and division. Same sums, cube and
 * inverse 1. */
typedef struct nbody_plain {
  void (*acceleration)(const nbody_packed *packed);
  void (*jerk)(const nbody_packed *packed);
  void (*potential)(const nbody_packed *packed);
} nbody_plain;
extern const nbody_plain nbody_plain_double_plain, nbody_plain_single_plain;

#endif
