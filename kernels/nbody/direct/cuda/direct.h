/* Direct summation on an NVIDIA GPU: the plan of a sum, and its memory. The table is nbody_direct_cuda (solver.h).
 *
 * The plan depends on the options alone and never on the device, so that a restart continues with the same bits on a
 * GPU with more or fewer multiprocessors. */
#ifndef NBODY_CUDA_DIRECT_H
#define NBODY_CUDA_DIRECT_H

#include "kernels/nbody/direct/cuda/custom_law.h"
#include "kernels/nbody/direct/cuda/ranks.h"

typedef enum nbody_direct_method {
  NBODY_DIRECT_SYMMETRIC, /* Newton's third law, 64-bit fixed-point sums: fp32 terms, softened */
  NBODY_DIRECT_TILE,      /* every ordered pair, bodies in shared memory */
  NBODY_DIRECT_REFERENCE, /* a plain loop for every body: for tests */
  NBODY_DIRECT_NO_PAIRS   /* no forces between bodies */
} nbody_direct_method;

/* Plan of a direct sum: method and sizes. */
typedef struct nbody_direct_plan {
  nbody_direct_method method;
  int bodies; /* bodies in the registers of a thread: 4, 8, 12 (symmetric) or 1, 2, 4 (tile) */
  int chunk;  /* symmetric: bodies that a warp visits before it stores its own sums; 32, 64, ... 1024 */
  int splits; /* tile: number of ranges of bodies that separate thread blocks sum over */
} nbody_direct_plan;

/* Powers of two: packed = (x - centre) position, so that fp32 terms are accurate in any units. */
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
  nbody_cuda_share share, potential_share; /* thread blocks of this rank: of the forces, and of the potential energy */
  char description[96];
  void *memory;               /* one allocation in device memory for all arrays below */
  float *group_mass;          /* symmetric: mass of each group of bodies, [nbody_cuda_groups] */
  double *parts, *parts_jerk; /* sums of each split, [splits][3][n]; with one split the state's own arrays */
  double *partial;            /* of reductions: [NBODY_POTENTIAL_PARTS][nbody_partials(n)] */
  double *result;             /* result of a reduction, copied to the host */
  double *some_parts;         /* individual steps: memory for nbody_cuda_some_parts(n) vectors */
  int *target;                /* individual steps: [n], bodies whose forces are computed */
  unsigned *target_count;     /* number of bodies in `target` */
};

enum { NBODY_POTENTIAL_PARTS = 13 }; /* upper bound of nbody_potential_parts */

#ifdef __cplusplus
extern "C" {
#endif

/* Chooses the plan of a run from the number of bodies and the options. */
nbody_direct_plan nbody_direct_choose(const nbody_options *options);
/* nbody_solver.create with a given plan, for tests and benchmarks. Device memory. SIM_ERR_NO_MEMORY. */
sim_status nbody_direct_cuda_create(const nbody_options *options, const nbody_state *state,
                                    const nbody_direct_plan *plan, nbody_solver_work **out) SIM_MUST_CHECK;

/* Largest number of bodies for which tile numbers of a symmetric sum have 31 bits. */
#define NBODY_CUDA_MOST_SYMMETRIC (INT64_C(1) << 25)

/* Number of groups of 32 bodies, padded for a symmetric sum. */
static inline int nbody_cuda_groups(const nbody_options *options, const nbody_direct_plan *plan) {
  const int64_t block = 32 * plan->bodies;
  return (int)((options->n + block - 1) / block * plan->bodies);
}

/* Number of parts that each block of a potential energy is cut into, so that a few bodies fill the device too. */
static inline int nbody_potential_parts(int blocks) {
  const int wanted = 2048 / blocks;
  return wanted < 1 ? 1 : wanted > NBODY_POTENTIAL_PARTS ? NBODY_POTENTIAL_PARTS : wanted;
}

#ifdef __cplusplus
}

/* Enqueue direct sums: into `parts`, or (symmetric) added in fixed point to the state's acceleration. real: type of the
 * state; pair_real: type of the pair terms. */
template <typename real> void nbody_cuda_symmetric(nbody_solver_work *w);
template <typename real> void nbody_cuda_symmetric_prepare(nbody_solver_work *w); /* once, before all sums */
template <typename real, typename pair_real> void nbody_cuda_tile(nbody_solver_work *w);
template <typename real, typename pair_real> void nbody_cuda_reference(nbody_solver_work *w);
template <typename real> void nbody_cuda_custom_tile(nbody_solver_work *w);
/* Enqueues direct sums for `targets` alone, times `unit`, into the state's acceleration. */
template <typename real, typename pair_real>
void nbody_cuda_some(nbody_solver_work *w, const nbody_targets *targets, double unit);
/* Most vectors of partial sums that nbody_cuda_some needs for n bodies. */
int64_t nbody_cuda_some_parts(int64_t n);
/* Compute *result: sum over pairs of m_i m_j / s, or with a custom law of m_i m_j times its potential. */
template <typename real> void nbody_cuda_potential(nbody_solver_work *w);
template <typename real> void nbody_cuda_custom_potential(nbody_solver_work *w);
/* Compute squares of nbody_solver.start_time: the minimum of each thread block into partial[0 .. nbody_partials(n)). */
template <typename real> void nbody_cuda_start(nbody_solver_work *w);
void nbody_cuda_custom_start(nbody_solver_work *w);

/* Share of the work that this rank does. */
inline double nbody_cuda_part(const nbody_solver_work *w) { return (double)w->share.count / w->share.blocks; }

/* Division of the bodies into tiles. */
typedef struct nbody_cuda_tiles {
  unsigned blocks, splits; /* blocks: of this rank */
  int per_split;
} nbody_cuda_tiles;
nbody_cuda_tiles nbody_cuda_cut(const nbody_solver_work *w);
#endif

#endif
