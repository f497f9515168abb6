/* Direct sums over all pairs in a periodic box: types that the inner loops (periodic_loop.c) share with the solver
 * (periodic.c) and with the fast multipole method, which measures its error against these sums.
 *
 *   a_i = sum over j of m_j [ d / (d^2 + h^2)^(3/2) - grad E(d) ],   d = x_j - x_i to the nearest image,
 *
 * in edges of the box, with E without its nearest image, by the expansions of periodic/lattice.h. */
#ifndef NBODY_DIRECT_CPU_PERIODIC_H
#define NBODY_DIRECT_CPU_PERIODIC_H

#include "kernels/nbody/periodic/lattice.h"
#include "kernels/nbody/solver.h"

#include <stdint.h>

enum { NBODY_PERIODIC_TARGETS = 16 };

/* Bodies by component, [n], in edges of the box and in a unit of mass; table of expansions: float or double. */
typedef struct nbody_periodic_bodies {
  int64_t n;
  double softening2;
  const void *position[3], *mass; /* [n] */
  const void *table;              /* 64-byte aligned */
} nbody_periodic_bodies;

/* Inner loops: sums over all bodies, in their order, for the bodies numbers[NBODY_PERIODIC_TARGETS]. */
typedef struct nbody_periodic {
  void (*acceleration)(const nbody_periodic_bodies *b, const int64_t *numbers, double (*out)[NBODY_PERIODIC_TARGETS]);
  /* Sum of m_j (1 / s + E), including the body's own images. fp64 only; else NULL. */
  void (*potential)(const nbody_periodic_bodies *b, const int64_t *numbers, double *out);
} nbody_periodic;

/* By instruction set and precision, as nbody_tiles (tile.h). */
extern const nbody_periodic nbody_periodic_double_plain, nbody_periodic_single_plain;
extern const nbody_periodic nbody_periodic_double_avx2, nbody_periodic_single_avx2;
extern const nbody_periodic nbody_periodic_double_avx512, nbody_periodic_single_avx512;

/* Computes exact[3][count]: fp64 accelerations of bodies numbers[count] of the present state, in host memory. `work`:
 * of nbody_direct_periodic_cpu, created with fp64 terms. */
sim_status nbody_direct_periodic_sample(nbody_solver_work *work, const int64_t *numbers, int count,
                                        double *exact) SIM_MUST_CHECK;
/* Computes exact[count]: mass times potential of bodies numbers[count], likewise. */
sim_status nbody_direct_periodic_sample_potential(nbody_solver_work *work, const int64_t *numbers, int count,
                                                  double *exact) SIM_MUST_CHECK;

#endif
