/* Direct summation on an NVIDIA GPU: how a sum is done, and its memory. The table is nbody_direct_cuda (solver.h).
 *
 * The method, and how its work is cut, depend on the options alone and never on the device, so that a checkpoint goes
 * on with the same bits on a GPU with more or fewer multiprocessors. */
#ifndef NBODY_CUDA_DIRECT_H
#define NBODY_CUDA_DIRECT_H

#include "kernels/nbody/direct/cuda/custom_law.h"

typedef enum nbody_direct_method {
  NBODY_DIRECT_SYMMETRIC, /* Newton's third law, 64-bit fixed-point sums: fp32 terms, softened */
  NBODY_DIRECT_TILE,      /* every ordered pair, bodies in shared memory */
  NBODY_DIRECT_REFERENCE, /* a plain loop for every body: for tests */
  NBODY_DIRECT_NO_PAIRS   /* no forces between bodies */
} nbody_direct_method;

/* How a direct sum is done. */
typedef struct nbody_direct_plan {
  nbody_direct_method method;
  int bodies; /* in the registers of a thread: 4, 8, 12 (symmetric) or 1, 2, 4 (tile) */
  int chunk;  /* symmetric: bodies that a warp passes before it adds up its own sums; 32, 64, ... 1024 */
  int splits; /* tile: ranges of bodies that separate thread blocks sum over */
} nbody_direct_plan;

/* Powers of two: packed = (x - centre) position, so that fp32 terms do with any units. */
typedef struct nbody_scaling {
  double position, velocity, mass;
} nbody_scaling;

struct nbody_solver_work {
  nbody_options options;
  nbody_state state;
  nbody_direct_plan plan;
  nbody_scaling scaling;
  double fixed; /* integer = acceleration in packed units x fixed, a power of two */
  nbody_cuda_custom_law law;
  char description[96];
  void *memory;               /* one piece for all arrays below, on the device */
  float *group_mass;          /* symmetric: [nbody_cuda_groups] */
  double *parts, *parts_jerk; /* [splits][3][n]; with one split the state's own arrays */
  double *partial;            /* of reductions: [NBODY_POTENTIAL_PARTS][nbody_partials(n)] */
  double *result;             /* of a reduction, read back by the host */
};

enum { NBODY_POTENTIAL_PARTS = 13 }; /* at most, see nbody_potential_parts */

#ifdef __cplusplus
extern "C" {
#endif

/* The plan of a run, by the number of bodies. */
nbody_direct_plan nbody_direct_choose(const nbody_options *options);
/* nbody_solver.create with a plan of the caller's, for tests and benchmarks. */
sim_status nbody_direct_cuda_create(const nbody_options *options, const nbody_state *state,
                                    const nbody_direct_plan *plan, nbody_solver_work **out) SIM_MUST_CHECK;

/* Most bodies with 31-bit indices, and with 31-bit numbers of the tiles of a symmetric sum. */
#define NBODY_CUDA_MOST (INT64_C(1) << 30)
#define NBODY_CUDA_MOST_SYMMETRIC (INT64_C(1) << 25)

/* Groups of 32 bodies, with the bodies rounded up as a symmetric sum does. */
static inline int nbody_cuda_groups(const nbody_options *options, const nbody_direct_plan *plan) {
  const int64_t block = 32 * plan->bodies;
  return (int)((options->n + block - 1) / block * plan->bodies);
}

/* Parts that the blocks of a potential energy are cut into, so that few bodies fill the device too. */
static inline int nbody_potential_parts(int blocks) {
  const int wanted = 2048 / blocks;
  return wanted < 1 ? 1 : wanted > NBODY_POTENTIAL_PARTS ? NBODY_POTENTIAL_PARTS : wanted;
}

#ifdef __cplusplus
}

/* Direct sums into parts, or into fixed point in the state's acceleration, which the symmetric one adds to. real: the
 * type of the state; pair_real: that of the pair terms. */
template <typename real> void nbody_cuda_symmetric(nbody_solver_work *w);
template <typename real> void nbody_cuda_symmetric_prepare(nbody_solver_work *w); /* once, before all sums */
template <typename real, typename pair_real> void nbody_cuda_tile(nbody_solver_work *w);
template <typename real, typename pair_real> void nbody_cuda_reference(nbody_solver_work *w);
template <typename real> void nbody_cuda_custom_tile(nbody_solver_work *w);
/* Sum over pairs of m_i m_j / s, or of m_i m_j times the potential of the custom law, into *result. */
template <typename real> void nbody_cuda_potential(nbody_solver_work *w);
template <typename real> void nbody_cuda_custom_potential(nbody_solver_work *w);
/* Squares of nbody_solver.start_time, the least of each thread block into partial[0 .. nbody_partials(n)). */
template <typename real> void nbody_cuda_start(nbody_solver_work *w);
void nbody_cuda_custom_start(nbody_solver_work *w);

/* How the bodies are cut into tiles. */
typedef struct nbody_cuda_tiles {
  unsigned blocks, splits;
  int per_split;
} nbody_cuda_tiles;
nbody_cuda_tiles nbody_cuda_cut(const nbody_solver_work *w);
#endif

#endif
