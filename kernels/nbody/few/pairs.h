/* Direct sums over a few bodies, without packing and without threads. */
#ifndef NBODY_PAIRS_H
#define NBODY_PAIRS_H

#include <stdint.h>

/* Computes accelerations a[3][n] of n bodies by their gravity, in fp64: mass[n], x[3][n], eps2 the softening squared.
 * Pairs of two bodies below `skip`, and pairs of two bodies without mass, are left out; bodies without mass cost least
 * at the end of the list. Each pair is computed once (Newton's third law); sums run in the order of the bodies. Without
 * softening, two bodies at one point, one of them with mass, give infinities or NaN. */
void nbody_pairs(int64_t n, int64_t skip, double G, double eps2, const double *restrict mass, const double *restrict x,
                 double *restrict a);

#endif
