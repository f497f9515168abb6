/* The potential of a point mass and all its images in a periodic cube, without the terms that solvers sum themselves: a
 * smooth function, by Ewald sums in fp64. Lengths are in edges of the cube, the mass is 1 and G = 1; the sign is that
 * of R = 1 / r, so that the potential energy is -G m m' / L times the value.
 *
 *   E(d) = sum over n of [ (r^2 + h^2)^(-1/2) - erf(a r) / r ] + 4 pi sum over k of exp(-k^2 / (4 a^2)) cos(k d) / k^2
 *          - pi / a^2,   r = |d + n|, k = 2 pi (integers), k != 0
 *
 * The mean of E over the cube is 0 for h = 0: a uniform background of mass -1 is in it, and the surroundings at
 * infinity conduct (tin foil), so that E is periodic and a uniform density feels no force. P. P. Ewald, Ann. Phys. 369
 * (1921) 253; L. Hernquist, F. R. Bouchet and Y. Suto, ApJS 75 (1991) 231. All images are softened by h: images up to
 * the third along each axis one by one, farther images as a continuum, with an error below 0.002 h^2 in the force. The
 * constant of E is that of the sums one by one. */
#ifndef NBODY_PERIODIC_LATTICE_H
#define NBODY_PERIODIC_LATTICE_H

/* Coefficients of ranks 0 ... P, in the order of fmm/operators.inc: 1 | x y z | xx xy xz yy yz zz | ... */
#define NBODY_LATTICE_COUNT(P) (((P) + 1) * ((P) + 2) * ((P) + 3) / 6)
enum { NBODY_LATTICE_ORDER_MAX = 10 };

/* Images whose softened terms (r^2 + h^2)^(-1/2) E lacks, because a solver sums them itself. */
typedef enum nbody_lattice_without {
  NBODY_LATTICE_NEAREST, /* n = 0 */
  NBODY_LATTICE_27       /* n from -1 to 1 along each axis */
} nbody_lattice_without;

#ifdef __cplusplus
extern "C" {
#endif

/* Computes out[NBODY_LATTICE_COUNT(order)]: derivatives of ranks 0 ... order of E without these images, at d, |d_c| <
 * 1. Rounding: about 1e-15 of the greatest term of a rank. */
void nbody_lattice_tensor(const double d[3], double softening, int order, nbody_lattice_without without, double *out);

/* Position of the derivative (x, y, z) in a tensor. */
static inline int nbody_lattice_position(int x, int y, int z) {
  const int rank = x + y + z, rest = y + z;
  return rank * (rank + 1) * (rank + 2) / 6 + rest * (rest + 1) / 2 + z;
}

/* Expansions of E without its nearest image, for direct sums: Taylor series of NBODY_TABLE_ORDER about nodes (i, j, k)
 * / (2 NBODY_TABLE_NODES), i, j, k = 0 ... NBODY_TABLE_NODES. For |d_c| <= 1/2 the nearest node is taken. A row of the
 * table is a field of the operators of fmm/operators.inc, padded with zeros. The truncation error is small: d is at
 * most 3^(1/2) / (4 NBODY_TABLE_NODES) from a node, the nearest image that E contains half an edge. */
enum { NBODY_TABLE_ORDER = 6, NBODY_TABLE_NODES = 16, NBODY_TABLE_ROW = 84 };
enum { NBODY_TABLE_ROWS = (NBODY_TABLE_NODES + 1) * (NBODY_TABLE_NODES + 1) * (NBODY_TABLE_NODES + 1) };

/* Computes table[NBODY_TABLE_ROWS][NBODY_TABLE_ROW] in host memory; node (i, j, k) is in row (i (NBODY_TABLE_NODES + 1)
 * + j) (NBODY_TABLE_NODES + 1) + k. softening: in edges of the box. */
void nbody_lattice_fill_table(double softening, int threads, double *table);

#ifdef __cplusplus
}
#endif

#endif
