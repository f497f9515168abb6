/* Direct summation on an NVIDIA GPU: what its files share.
 *
 *   state (device) --direct sum--> raw sums --kick, drift or finish--> acceleration, velocity, position
 *
 * A direct sum leaves its result raw: the kernel that uses the acceleration next makes it a number, so that a leapfrog
 * step is three launches. Which method serves, and how its work is cut, depends on the options alone: never on the
 * device, so that a checkpoint goes on with the same bits on a GPU with more or fewer multiprocessors. */
#ifndef NBODY_CUDA_WORK_H
#define NBODY_CUDA_WORK_H

#include "kernels/nbody/cuda/laws.h"
#include "kernels/nbody/cuda/raw.h"
#include "kernels/nbody/nbody.h"

typedef enum nbody_method {
  NBODY_SYMMETRIC, /* Newton's third law, 64-bit fixed-point sums: fp32 terms, softened */
  NBODY_TILE,      /* every ordered pair, bodies in shared memory */
  NBODY_TWIN,      /* a plain loop for every body: for tests */
  NBODY_ALONE      /* none: bodies do not feel each other */
} nbody_method;

/* How a direct sum is done. */
typedef struct nbody_cuda_plan {
  nbody_method method;
  int bodies; /* in the registers of a thread: 4, 8, 12 (symmetric) or 1, 2, 4 (tile) */
  int chunk;  /* symmetric: bodies that a warp passes before it gives up its own sums; 32, 64, ... 1024 */
  int splits; /* tile: parts of the bodies that thread blocks of their own sum over */
} nbody_cuda_plan;

/* Powers of two: packed = (x - centre) position, so that fp32 terms do with any units. */
typedef struct nbody_scaling {
  double position, velocity, mass;
} nbody_scaling;

/* What reductions leave in `result`. */
enum {
  NBODY_MASS,
  NBODY_KINETIC,
  NBODY_MOMENT,
  NBODY_MOMENTUM = NBODY_MOMENT + 3,
  NBODY_ANGULAR_MOMENTUM = NBODY_MOMENTUM + 3,
  NBODY_POTENTIAL = NBODY_ANGULAR_MOMENTUM + 3,
  NBODY_LEAST,
  NBODY_OUTER = NBODY_LEAST, /* the energy in an external potential; never wanted at once */
  NBODY_QUANTITIES
};

/* To find the distance within which a share of the mass lies, byte by byte. */
typedef struct nbody_search {
  unsigned long long prefix[NBODY_RADII], wanted[NBODY_RADII];
  unsigned long long mass[NBODY_RADII][256]; /* whose next byte is this */
} nbody_search;

struct nbody_work {
  nbody_options options;
  nbody_state state;
  nbody_cuda_plan plan;
  nbody_scaling scaling;
  double mass_unit; /* power of two: the sum of all masses times it is below 2^62 */
  double fixed;     /* integer = acceleration in packed units x fixed, a power of two */
  nbody_raw raw;
  bool zeroed; /* the acceleration is all zeros */
  bool single; /* type of the state */
  double t;    /* of the raw result */
  nbody_cuda_laws laws;
  char name[96];
  void *memory;               /* all arrays below */
  float *group_mass;          /* symmetric: [nbody_cuda_groups] */
  double *parts, *parts_jerk; /* [splits][3][n]; with one split the state's own */
  void *x0, *v0;              /* Hermite: before the step, [3][n] of the state's type */
  double *a0, *j0;
  double *partial; /* [NBODY_QUANTITIES][nbody_partials(n)], of reductions */
  double *result;  /* [NBODY_QUANTITIES], what the host reads back */
  nbody_search *search;
  double *mapped; /* of options.observe: results, then [count][nbody_partials(n)] */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Chooses by the number of bodies. */
nbody_cuda_plan nbody_cuda_choose(const nbody_options *options);
/* With a plan of the caller's, for tests and benchmarks. `single`: type of the state. */
sim_status nbody_cuda_create(const nbody_options *options, const nbody_state *state, bool single,
                             const nbody_cuda_plan *plan, nbody_work **out) SIM_MUST_CHECK;
void nbody_cuda_destroy(nbody_work **work);

/* Bodies that can be numbered here, and those whose tiles a symmetric sum can number: 31 bits. */
#define NBODY_CUDA_MOST (INT64_C(1) << 30)
#define NBODY_CUDA_MOST_SYMMETRIC (INT64_C(1) << 25)

/* Of 32 bodies, that a symmetric sum rounds the bodies up to. */
static inline int nbody_cuda_groups(const nbody_options *options, const nbody_cuda_plan *plan) {
  const int64_t block = 32 * plan->bodies;
  return (int)((options->n + block - 1) / block * plan->bodies);
}

#ifdef __cplusplus
}

/* Direct sums, into raw form; the symmetric one adds to zeros. */
template <typename Real> void nbody_cuda_symmetric(nbody_work *w);
template <typename Real> void nbody_cuda_symmetric_prepare(nbody_work *w); /* once */
template <typename Real, typename Pair> void nbody_cuda_tile(nbody_work *w);
template <typename Real, typename Pair> void nbody_cuda_twin(nbody_work *w);
/* Into result[NBODY_POTENTIAL]. */
template <typename Real> void nbody_cuda_potential(nbody_work *w);

/* How the bodies are cut into tiles. */
typedef struct nbody_cuda_tiles {
  unsigned blocks, splits;
  int per_split;
} nbody_cuda_tiles;
nbody_cuda_tiles nbody_cuda_cut(const nbody_work *w);
#endif

#endif
