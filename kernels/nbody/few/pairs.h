/* Direct sums over a few bodies, without packing and without threads. */
#ifndef NBODY_PAIRS_H
#define NBODY_PAIRS_H

#include <stdint.h>

/* Acceleration a[3][n] of n bodies by their gravity, in fp64: mass[n], x[3][n], eps2 the softening squared. Pairs of
 * two bodies below `skip`, and of two bodies from `heavy` on, are left out. Each pair is computed once (Newton's third
 * law); sums run in the order of the bodies. Bodies at one point without softening give infinities or NaN. */
void nbody_pairs(int64_t n, int64_t heavy, int64_t skip, double G, double eps2, const double *restrict mass,
                 const double *restrict x, double *restrict a);

#endif
