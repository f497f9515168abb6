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

/* The bodies on a device. Vectors by component: [3][n]. */
typedef struct nbody_state {
  int64_t n;
  sim_dtype dtype; /* of mass, position, velocity: SIM_F32 or SIM_F64 */
  void *mass, *position, *velocity;
  double *acceleration;
  double *jerk; /* Hermite scheme only, else NULL */
  /* With a cutoff, else NULL: positions of the last search for pairs, and displacements from the start of the run to
   * there. A solver that makes lists changes them. */
  double *searched, *travelled;
} nbody_state;

/* Parameters for creating solvers and operations. Pointers in it must outlive them. */
typedef struct nbody_options {
  int64_t n;
  bool single_pairs; /* pair terms in fp32: precision single and mixed */
  bool jerk;         /* Hermite scheme: solvers give the jerk too */
  bool few;          /* schemes for few bodies: direct sums */
  sim_isa isa;
  int threads;          /* of this rank */
  const sim_comm *comm; /* ranks of the run; never NULL */
  double G, softening;
  double box;      /* edge of the periodic box, which has all positions in [0, box); 0: open space */
  double cutoff;   /* of the pair law, in a periodic box; 0: none */
  bool shifted;    /* the potential of the pair law is less by what it is at the cutoff */
  bool listed;     /* state.searched has the positions of a search: the run is resumed */
  bool individual; /* steps of each body's own, with levels 0 ... levels */
  int levels;
  double eta;    /* of individual steps */
  double spread; /* root mean square distance from the mean position at the start of the run: the size of the system */
  double crowd;  /* about the most bodies in one smallest cell of a tree at the start; 0: unknown, or few */
  nbody_laws laws;
  nbody_method method;             /* that the scenario asks for, or that a resumed run has begun with */
  bool begun;                      /* the run is resumed: its method stays */
  nbody_fmm_settings fmm;          /* of the fast multipole method */
  const sim_function_map *observe; /* functions of NBODY_BODY_INPUTS with one result each; NULL: none */
  double far, near;                /* what nbody_fmm_count has found for the bodies at the start; near 0: not counted */
  int depth;                       /* likewise: of the tree */
} nbody_options;

/* Most bodies on which a run measures the error of its forces. */
enum { NBODY_SAMPLES = 1000 };

/* Cost of one force computation. */
typedef struct nbody_cost {
  double interactions; /* what the run counts as work */
  double rate;         /* order of magnitude of the interactions a second of the built-in forces, on one rank */
  double additions;    /* in functions of the scenario, as sim_expr_work counts */
  int most_ranks;      /* a force is no faster with more ranks; 0: not known */
  /* On several ranks; 0: not known. Bytes that a rank receives; calls that wait for all ranks; the share of one rank's
   * force that every rank computes itself. */
  double bytes_received, exchanges, undivided;
} nbody_cost;

/* Bodies whose forces a substep of individual steps needs: those with level[i] >= least. */
typedef struct nbody_targets {
  const uint8_t *level; /* [n], on the device, in the state's order */
  int least;
  int64_t count; /* of these bodies */
} nbody_targets;

/* A solver created for one run. Each solver completes this type. */
typedef struct nbody_solver_work nbody_solver_work;

/* Sums of a pair law with a cutoff, in fp64. */
typedef struct nbody_pair_sums {
  double potential;     /* energy of all pairs within the cutoff, shifted as the scenario asks */
  double shifted_by;    /* what the shift has taken from it */
  double virial;        /* of forces times distances, r_ij . F_ij */
  double weight;        /* of the products of masses of these pairs */
  double displacement2; /* mean over the bodies of the squared displacement since the start */
} nbody_pair_sums;

/* One method on one kind of device. */
typedef struct nbody_solver {
  const char *name; /* "direct sum" */
  /* SIM_ERR_SCENARIO, with the reason, where the method does not support these options. */
  sim_status (*supports)(const nbody_options *options);
  /* Memory in bytes that create will allocate on the host and on the device (0 on the CPU); options->spread may be
   * unknown (0). */
  void (*bytes)(const nbody_options *options, double *host, double *device);
  sim_status (*estimate)(const nbody_options *options, double n, nbody_cost *out);
  /* Allocates all its memory, and borrows the arrays of `state`. SIM_ERR_NO_MEMORY. */
  sim_status (*create)(const nbody_options *options, const nbody_state *state, nbody_solver_work **out);
  void (*destroy)(nbody_solver_work **work);
  /* How the method works in this run, for its header: "Newton's third law, blocks of 256". Lives as long as `work`. */
  const char *(*describe)(const nbody_solver_work *work);
  /* Acceleration of all bodies by each other, and the jerk where the state has one, without external forces. On the
   * CPU the result is in the state's arrays; on the GPU it is enqueued, in the form *out. `zeroed`: the state's
   * acceleration is all zeros, so that the solver may add to it. Where forces can fail (`check`) the call waits until
   * this one cannot, and is no part of a captured step. Bodies at one point without softening give infinities or NaN.
   * All ranks call every function below, and have the same result. */
  void (*accelerate)(nbody_solver_work *work, bool zeroed, nbody_raw_force *out);
  /* Acceleration of some bodies by all bodies, final in the state's array (on the GPU enqueued); that of the others is
   * undefined afterwards. A solver may keep its tree from call to call. The next `accelerate` ends that, so that a run
   * which is continued from there has the same bits. NULL: the solver has no individual steps, as that of schemes for
   * few bodies. */
  void (*accelerate_some)(nbody_solver_work *work, const nbody_targets *targets);
  /* The first failure of a force or potential since the last check; such a force or potential is NaN. NULL: forces
   * cannot fail. SIM_ERR_NO_MEMORY where lists that have outgrown their memory find no more; SIM_ERR_DIVERGED. */
  sim_status (*check)(nbody_solver_work *work);
  /* Of bodies numbers[count], count <= NBODY_SAMPLES: position[3][count]; got[3][count], the acceleration that the
   * state has, with external forces; and exact[3][count], the direct sum over all bodies in fp64; all on the host.
   * Needs final values in the state's acceleration. Waits for the device. NULL: the forces are direct sums.
   * SIM_ERR_DEVICE. */
  sim_status (*sample)(nbody_solver_work *work, const int64_t *numbers, int count, double *position, double *got,
                       double *exact);
  /* Of bodies numbers[count], count <= NBODY_SAMPLES, mass times potential: got[count], by the last call of
   * `potential`, since which no force was computed; exact[count], by the direct sum over all bodies in fp64; all on the
   * host. NULL: not known. SIM_ERR_DEVICE. */
  sim_status (*sample_potential)(nbody_solver_work *work, const int64_t *numbers, int count, double *got,
                                 double *exact);
  /* Potential energy of all pairs, in fp64 for all precisions; NaN where it is unknown. Waits for the device. */
  double (*potential)(nbody_solver_work *work);
  /* With a cutoff: sums of the pairs within; NaN where they are unknown. Waits for the device. NULL: no cutoff. */
  void (*pairs)(nbody_solver_work *work, nbody_pair_sums *out);
  /* Shortest time in which the force on a body changes, for the first adaptive step of the Hermite scheme: |a| / |j| of
   * a body, and of a pair the time of its free fall, (s^3 / (G (m_i + m_j)))^(1/2), or with a custom law ((|force| +
   * 2 r2 |rate|) (m_i + m_j))^(-1/2). Needs final values in the state's acceleration and jerk. Waits for the device. */
  double (*start_time)(nbody_solver_work *work);
} nbody_solver;

/* The forces between the bodies of one run. */
typedef struct nbody_forces {
  const nbody_solver *solver;
  nbody_solver_work *work;
} nbody_forces;

/* What nbody_solver_choose has decided. */
typedef struct nbody_choice {
  const nbody_solver *solver;
  nbody_method method; /* NBODY_DIRECT or NBODY_FMM */
  /* NBODY_AUTO, and options without counts of lists: the other method, which may be the faster one; NULL: it is not */
  const nbody_solver *other;
  char name[48]; /* of the method and its settings: "fast multipoles of order 5, angle 0.8" */
  char why[96];  /* "; auto: faster than direct sums by estimate", or nothing where the scenario names the method */
} nbody_choice;

#ifdef __cplusplus
extern "C" {
#endif

/* The method that options->method asks for; of NBODY_AUTO the faster one of those that serve here, by the estimates of
 * fmm/settings.c for one thread: the choice, and with it the result, is the same for any number of threads and ranks,
 * and knows no clock. With counts of lists it holds for any positions of the bodies, else for a Plummer sphere.
 * SIM_ERR_SCENARIO where none serves. */
sim_status nbody_solver_choose(const nbody_options *options, sim_backend_kind kind, nbody_choice *out) SIM_MUST_CHECK;

/* What a force on n bodies costs, to compare methods: by options->fmm, single_pairs, isa and threads. */
typedef struct nbody_fmm_estimate {
  double far, near; /* M2L, and ordered pairs, a body */
  double seconds;   /* of a force by multipoles */
  double undivided; /* of these, those of keys, sort, tree and moments */
  double direct;    /* seconds of direct sums */
} nbody_fmm_estimate;
nbody_fmm_estimate nbody_fmm_estimate_for(const nbody_options *options, sim_backend_kind kind, double n);
/* Pairs of a near list that take as long as one M2L, by these estimates. */
double nbody_fmm_pairs_of_m2l(const nbody_options *options, sim_backend_kind kind);
/* SIM_ERR_SCENARIO where multipoles serve on no device: custom laws, and the jerk. */
sim_status nbody_fmm_serves(const nbody_options *options) SIM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

/* Direct summation over all pairs, with gravity or a custom law. */
extern const nbody_solver nbody_direct_cpu;
/* Direct summation of gravity over a few bodies, without packing: for schemes that ask for many forces. */
extern const nbody_solver nbody_few_cpu;
/* The same in a periodic box, with the images of all bodies. */
extern const nbody_solver nbody_direct_periodic_cpu;
/* Fast multipole method, for gravity without the jerk. */
extern const nbody_solver nbody_fmm_cpu;
/* Pairs within a cutoff in a periodic box, with a custom law. */
extern const nbody_solver nbody_short_cpu;
#ifdef SIM_HAS_CUDA
extern const nbody_solver nbody_short_cuda, nbody_direct_cuda, nbody_direct_periodic_cuda, nbody_fmm_cuda;
#endif

#endif
