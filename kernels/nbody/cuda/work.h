/* Scratch memory of the operations on an NVIDIA GPU.
 *
 *   state (device) --solver--> raw force --kick, drift or finish--> acceleration, velocity, position
 *
 * A solver leaves its result raw: the kernel that uses the acceleration next converts it, and adds the external force,
 * so that a leapfrog step is three launches. */
#ifndef NBODY_CUDA_WORK_H
#define NBODY_CUDA_WORK_H

#include "kernels/nbody/cuda/functions.h"
#include "kernels/nbody/ops.h"

/* Indices into nbody_work.result. */
enum {
  NBODY_MASS,
  NBODY_KINETIC,
  NBODY_MOMENT,
  NBODY_MOMENTUM = NBODY_MOMENT + 3,
  NBODY_ANGULAR_MOMENTUM = NBODY_MOMENTUM + 3,
  NBODY_LEAST = NBODY_ANGULAR_MOMENTUM + 3,
  NBODY_EXTERNAL_ENERGY = NBODY_LEAST, /* shares a slot with NBODY_LEAST: the two are never needed at the same time */
  NBODY_QUANTITIES,                    /* number of quantities that are reduced from partial results */
  NBODY_RADIUS = NBODY_QUANTITIES,
  NBODY_RESULTS = NBODY_RADIUS + NBODY_RADII
};

/* Search for the distance that contains a given fraction of the mass, byte by byte. */
typedef struct nbody_search {
  unsigned long long prefix[NBODY_RADII], wanted[NBODY_RADII];
  unsigned long long mass[NBODY_RADII][256]; /* mass of the bodies by their next byte */
} nbody_search;

struct nbody_work {
  nbody_options options;
  nbody_state state;
  nbody_forces forces;
  nbody_cuda_functions functions;
  double mass_unit; /* power of two; the sum of all masses times mass_unit is below 2^62 */
  nbody_raw_force raw;
  double t;      /* time of the raw force */
  bool zeroed;   /* the state's acceleration is all zeros */
  void *memory;  /* one allocation in device memory for all arrays below */
  void *x0, *v0; /* Hermite scheme: positions and velocities before the step, [3][n] of the state's type */
  double *a0, *j0;
  double *partial; /* [NBODY_QUANTITIES][nbody_partials(n)] */
  double *result;  /* [NBODY_RESULTS], read back by the host */
  nbody_search *search;
  nbody_histogram *histogram; /* individual steps: bodies of each level */
  nbody_histogram counts;     /* the same on the host */
  uint8_t *level;             /* individual steps: level of each body, [n] */
  double *observed;           /* [count] results of options.observe, then [count][nbody_partials(n)] */
};

#endif
