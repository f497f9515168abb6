/* Types shared by the driver of the direct sums (direct.c) and the inner loops (tile.c, custom_law_tile.c,
 * reference.c). */
#ifndef NBODY_DIRECT_TILE_H
#define NBODY_DIRECT_TILE_H

#include "engine/expr/expr.h"

#include <stdbool.h>
#include <stdint.h>

enum { NBODY_BLOCK_MIN = 64, NBODY_BLOCK_MAX = 512 };

/* Columns of packed bodies; number of sums. */
enum { NBODY_X, NBODY_MASS = 3, NBODY_V, NBODY_COLUMNS = 7, NBODY_SUMS = 6 };

/* A custom law instead of gravity, as programs. */
typedef struct nbody_custom_law {
  sim_expr_program *force;     /* r2 -> force [rate], in the precision of the pair terms */
  sim_expr_program *potential; /* r2 -> potential, fp64 */
  char *scratch;               /* [threads][stride] bytes: a program's memory; from byte `columns` on the columns */
  size_t stride, columns;
  bool single; /* pair terms in fp32 */
  int threads;
} nbody_custom_law;
/* Most pairs in one call of a program; number of columns (r2, force, rate) with room for so many pairs. */
enum { NBODY_CUSTOM_PAIRS = NBODY_BLOCK_MAX, NBODY_CUSTOM_COLUMNS = 3 };

/* Bodies in the form of the pair terms: positions relative to a common centre, all scaled by powers of two. Bodies from
 * n on fill the last block: they have no mass, and are far from all others. */
typedef struct nbody_packed {
  int64_t n, padded;           /* padded: a multiple of block; n for the reference form */
  int block;                   /* power of two, NBODY_BLOCK_MIN ... NBODY_BLOCK_MAX */
  double softening2;           /* scaled */
  const nbody_custom_law *law; /* NULL: gravity. With a custom law nothing is scaled */
  void *body[NBODY_COLUMNS];   /* [padded] each, 64-byte aligned: x y z mass vx vy vz, in the precision of pair terms */
  double *sum[NBODY_SUMS];     /* [padded] each: ax ay az jx jy jz; the potential is in sum[0] */
} nbody_packed;

/* Adds the terms of the block of bodies from i0 on with the block from j0 on to the sums of both. i0 == j0: all pairs
 * within one block. */
typedef void nbody_tile(const nbody_packed *packed, int64_t i0, int64_t j0);

/* Sums of the bodies body[NBODY_ROW_BODIES] over all bodies, each pair from one side: out[3][NBODY_ROW_BODIES], in the
 * units of the tiles' sums. */
enum { NBODY_ROW_BODIES = 16 };
typedef void nbody_rows(const nbody_packed *packed, const int64_t body[NBODY_ROW_BODIES], double *out);

typedef struct nbody_tiles {
  nbody_tile *acceleration, *jerk;
  nbody_rows *rows;      /* NULL for a custom law */
  nbody_tile *potential; /* sum of m_i m_j / s over j > i, or over the other block, added to i; fp64 only */
  double cube, inverse;  /* factors by which the sums of r^-3 and of r^-1 are still to be multiplied */
} nbody_tiles;

/* By precision of the pair terms and instruction set. x86-64 has all, other processors the plain ones. */
extern const nbody_tiles nbody_tiles_double_plain, nbody_tiles_single_plain;
extern const nbody_tiles nbody_tiles_double_avx2, nbody_tiles_single_avx2;
extern const nbody_tiles nbody_tiles_double_avx512, nbody_tiles_single_avx512;

/* As above for a custom law; cube and inverse are 1. */
extern const nbody_tiles nbody_custom_tiles_double_plain, nbody_custom_tiles_single_plain;
extern const nbody_tiles nbody_custom_tiles_double_avx2, nbody_custom_tiles_single_avx2;
extern const nbody_tiles nbody_custom_tiles_double_avx512, nbody_custom_tiles_single_avx512;

/* Reference form of the direct sums: one loop over all pairs i < j without blocks, by sqrt and division. Computes the
 * same sums as the tiles; cube and inverse are 1. */
typedef struct nbody_reference {
  void (*acceleration)(const nbody_packed *packed);
  void (*jerk)(const nbody_packed *packed);
  void (*potential)(const nbody_packed *packed);
} nbody_reference;
extern const nbody_reference nbody_reference_double_plain, nbody_reference_single_plain;

#endif
