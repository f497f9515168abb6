/* Solvers: methods that compute the forces between bodies. Integrators, observables, start-up checks and `sim check`
 * use the table below and depend on no method. A new solver is a table for each kind of device, listed in solver.c.
 *
 *   nbody_solver_choose -> bytes (sim check) -> create -> { accelerate | potential | start_time }... -> destroy */
#ifndef NBODY_SOLVER_H
#define NBODY_SOLVER_H

#include "kernels/nbody/fmm/fmm.h"
#include "kernels/nbody/ranks.h"
#include "kernels/nbody/raw_force.h"
#include "kernels/nbody/scenario/laws.h"

/* The bodies on a device. Vectors are stored by component: [3][n]. */
typedef struct nbody_state {
  int64_t n;
  sim_dtype dtype; /* of mass, position, velocity: SIM_F32 or SIM_F64 */
  void *mass, *position, *velocity;
  double *acceleration;
  double *jerk; /* for the Hermite scheme; else NULL */
  /* With a cutoff, else NULL: positions of the last search for pairs, and displacements from the start of the run to
   * that search. A solver that makes lists updates both. */
  double *searched, *travelled;
} nbody_state;

/* Parameters for creating solvers and operations. The pointers in it must outlive them. */
typedef struct nbody_options {
  int64_t n;
  bool single_pairs; /* pair terms in fp32: precision single and mixed */
  bool jerk;         /* Hermite scheme: solvers give the jerk too */
  bool few;          /* scheme for few bodies: the solver computes direct sums */
  sim_isa isa;
  int threads;          /* threads of this rank */
  const sim_comm *comm; /* ranks of the run; never NULL */
  double G, softening;
  double box;      /* edge of the periodic box, which has all positions in [0, box); 0: open space */
  double cutoff;   /* cutoff of the pair law, in a periodic box; 0: none */
  bool shifted;    /* the pair potential is reduced by its value at the cutoff */
  bool listed;     /* the run is resumed: state.searched has the positions of a search */
  bool individual; /* each body has a step of its own, of level 0 ... levels */
  int levels;
  double eta;    /* for individual steps */
  double spread; /* root mean square distance from the mean position at the start of the run: the size of the system */
  double crowd;  /* estimate of the most bodies in one smallest cell of a tree at the start; 0: unknown, or few */
  nbody_laws laws;
  nbody_method method;             /* method that the scenario asks for, or that a resumed run has begun with */
  bool begun;                      /* the run is resumed and keeps its method */
  nbody_fmm_settings fmm;          /* of the fast multipole method */
  const sim_function_map *observe; /* functions of NBODY_BODY_INPUTS with one result each; NULL: none */
  double far, near;                /* results of nbody_fmm_count for the bodies at the start; near 0: not counted */
  int depth;                       /* result of nbody_fmm_count: depth of the tree */
} nbody_options;

/* Most bodies on which a run measures the error of its forces. */
enum { NBODY_SAMPLES = 1000 };

/* Cost of one computation of forces. */
typedef struct nbody_cost {
  double interactions; /* number of interactions, the unit of work of the run */
  double rate;         /* interactions a second of the built-in forces on one rank, an order of magnitude */
  double additions;    /* additions in functions of the scenario, as sim_expr_work counts them */
  int most_ranks;      /* number of ranks beyond which a force is no faster; 0: not known */
  /* On several ranks; 0: not known. Bytes that a rank receives; exchanges that wait for all ranks; share of one rank's
   * force that every rank computes itself. */
  double bytes_received, exchanges, undivided;
} nbody_cost;

/* Bodies whose forces a substep of individual steps needs: level[i] >= least. */
typedef struct nbody_targets {
  const uint8_t *level; /* [n], on the device, in the state's order */
  int least;
  int64_t count; /* number of these bodies */
} nbody_targets;

/* A solver created for one run. Each solver completes this type. */
typedef struct nbody_solver_work nbody_solver_work;

/* Sums over the pairs within the cutoff of a pair law, in fp64. */
typedef struct nbody_pair_sums {
  double potential;     /* energy of the pairs, shifted as the scenario asks */
  double shifted_by;    /* energy that the shift has subtracted */
  double virial;        /* sum of r_ij . F_ij, distances times forces */
  double weight;        /* sum of the products of masses */
  double displacement2; /* mean over the bodies of the squared displacement since the start */
} nbody_pair_sums;

/* One method on one kind of device. */
typedef struct nbody_solver {
  const char *name; /* for messages: "direct sum" */
  /* Whether the method supports these options; else SIM_ERR_SCENARIO with the reason. */
  sim_status (*supports)(const nbody_options *options);
  /* Memory in bytes that `create` allocates on the host and on the device (0 on the CPU). options->spread may be
   * unknown (0). */
  void (*bytes)(const nbody_options *options, double *host, double *device);
  /* Bytes of the host among them that a run usually leaves unused; NULL: none. */
  double (*room)(const nbody_options *options);
  sim_status (*estimate)(const nbody_options *options, double n, nbody_cost *out);
  /* Allocates all its memory, and borrows the arrays of `state`. SIM_ERR_NO_MEMORY. */
  sim_status (*create)(const nbody_options *options, const nbody_state *state, nbody_solver_work **out);
  void (*destroy)(nbody_solver_work **work);
  /* Describes the method for the run's header: "Newton's third law, blocks of 256". Lives as long as `work`. */
  const char *(*describe)(const nbody_solver_work *work);
  /* Computes the acceleration of all bodies by each other, and the jerk where the state has one, without external
   * forces. On the CPU the result is in the state's arrays; on the GPU it is enqueued, in the form *out. `zeroed`: the
   * state's acceleration is all zeros, so that the solver may add to it. Where forces can fail (`check`) the call waits
   * until this force cannot fail, and is no part of a captured step. Bodies at one point without softening give
   * infinities or NaN. All ranks call this and every function below, and have the same result. */
  void (*accelerate)(nbody_solver_work *work, bool zeroed, nbody_raw_force *out);
  /* Computes the acceleration of some bodies by all bodies, final in the state's array (on the GPU enqueued); the
   * acceleration of the other bodies is then undefined. A solver may keep its tree from call to call. The next
   * `accelerate` ends that, so that a run resumed from there has the same bits. NULL: the solver has no individual
   * steps. */
  void (*accelerate_some)(nbody_solver_work *work, const nbody_targets *targets);
  /* Returns the first error of a force or potential since the last check; such a force or potential is NaN. NULL:
   * forces cannot fail. SIM_ERR_NO_MEMORY where lists have outgrown their memory and get no more; SIM_ERR_DIVERGED. */
  sim_status (*check)(nbody_solver_work *work);
  /* Compares forces on a sample: for bodies numbers[count], count <= NBODY_SAMPLES, fills in position[3][count];
   * got[3][count], the state's acceleration, with external forces; exact[3][count], the direct sum over all bodies in
   * fp64. All arrays are on the host. Needs final values in the state's acceleration. Waits for the device. NULL: the
   * forces are direct sums. SIM_ERR_DEVICE. */
  sim_status (*sample)(nbody_solver_work *work, const int64_t *numbers, int count, double *position, double *got,
                       double *exact);
  /* Compares mass times potential on a sample of bodies numbers[count], count <= NBODY_SAMPLES: got[count], from the
   * last call of `potential`, after which no force was computed; exact[count], the direct sum over all bodies in fp64.
   * All arrays are on the host. NULL: not available. SIM_ERR_DEVICE. */
  sim_status (*sample_potential)(nbody_solver_work *work, const int64_t *numbers, int count, double *got,
                                 double *exact);
  /* Potential energy of all pairs; NaN where it is unknown. Computed in fp64 in every precision, with one exception:
   * multipoles on a CPU, in precision single and open space, compute the terms of bodies in fp32 and add them up in
   * fp64. Waits for the device. */
  double (*potential)(nbody_solver_work *work);
  /* With a cutoff: sums over the pairs within it; NaN where they are unknown. Waits for the device. NULL: no cutoff. */
  void (*pairs)(nbody_solver_work *work, nbody_pair_sums *out);
  /* Returns the shortest time in which the force on a body changes, for the first adaptive step of the Hermite scheme:
   * |a| / |j| of a body; of a pair its free-fall time (s^3 / (G (m_i + m_j)))^(1/2), or with a custom law ((|force| + 2
   * r2 |rate|) (m_i + m_j))^(-1/2). Needs final values in the state's acceleration and jerk. Waits for the device. */
  double (*start_time)(nbody_solver_work *work);
} nbody_solver;

/* The forces between the bodies of one run. */
typedef struct nbody_forces {
  const nbody_solver *solver;
  nbody_solver_work *work;
} nbody_forces;

/* Result of nbody_solver_choose. */
typedef struct nbody_choice {
  const nbody_solver *solver;
  nbody_method method; /* NBODY_DIRECT or NBODY_FMM */
  /* With NBODY_AUTO, without counts of lists: the other method, which may be the faster one; NULL: it is not. */
  const nbody_solver *other;
  char name[48]; /* method and settings: "fast multipoles of order 5, angle 0.8" */
  char why[96];  /* "; auto: faster than direct sums by estimate"; empty where the scenario names the method */
} nbody_choice;

#ifdef __cplusplus
extern "C" {
#endif

/* Chooses the method that options->method asks for; for NBODY_AUTO the faster one of the methods that serve here, by
 * the estimates of fmm/settings.c for one thread. So the choice, and with it the result, is the same for any number of
 * threads and ranks, and needs no clock. With counts of lists it holds for any positions of the bodies, else for a
 * Plummer sphere. SIM_ERR_SCENARIO where no method serves. */
sim_status nbody_solver_choose(const nbody_options *options, sim_backend_kind kind, nbody_choice *out) SIM_MUST_CHECK;

/* Estimated cost of a force on n bodies, to compare methods: by options->fmm, single_pairs, isa and threads. */
typedef struct nbody_fmm_estimate {
  double far, near; /* a body: M2L; ordered pairs */
  double seconds;   /* seconds of a force by multipoles */
  double undivided; /* part of these seconds for keys, sort, tree and moments */
  double direct;    /* seconds of a force by direct sums */
} nbody_fmm_estimate;
nbody_fmm_estimate nbody_fmm_estimate_for(const nbody_options *options, sim_backend_kind kind, double n);
/* Number of near pairs that take as long as one M2L, by these estimates. */
double nbody_fmm_pairs_of_m2l(const nbody_options *options, sim_backend_kind kind);
/* SIM_ERR_SCENARIO where no device can use multipoles: with custom laws, and with the jerk. */
sim_status nbody_fmm_serves(const nbody_options *options) SIM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

/* Direct summation over all pairs, with gravity or a custom law. */
extern const nbody_solver nbody_direct_cpu;
/* Direct summation of gravity over few bodies, without packing: for schemes that need many forces. */
extern const nbody_solver nbody_few_cpu;
/* Direct summation of gravity in a periodic box, with the images of all bodies. */
extern const nbody_solver nbody_direct_periodic_cpu;
/* Fast multipole method, for gravity without the jerk. */
extern const nbody_solver nbody_fmm_cpu;
/* Pairs within a cutoff in a periodic box, with a custom law. */
extern const nbody_solver nbody_short_cpu;
#ifdef SIM_HAS_CUDA
extern const nbody_solver nbody_short_cuda, nbody_direct_cuda, nbody_direct_periodic_cuda, nbody_fmm_cuda;
#endif

#endif
