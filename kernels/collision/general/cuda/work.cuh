/* Host-side data of a run of the general solver on a GPU. Pointers are to device memory. */
#ifndef COLLISION_GENERAL_CUDA_WORK_CUH
#define COLLISION_GENERAL_CUDA_WORK_CUH

#include "engine/comm/cuda/turn.h"
#include "kernels/collision/general/cuda/domain.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/collision/general/cuda/laws.h"
#include "kernels/collision/solver.h"
#include "kernels/collision/general/laws.inc"

/* The ranks of a run, on the host; see domain.cuh. With one rank only `comm` is set. */
struct general_domain {
  const sim_comm *comm;
  sim_exchange *exchange; /* of the terms of sums */
  sim_turn *turn;         /* its arrays: `memory` of general_work, and the messages [ranks][slot] to this rank */
  bool peers;             /* ranks store into each other's memory; else messages go through the host */
  general_cuts cuts;
  general_sent sent;
  uint32_t received[SIM_RANKS_MAX], most; /* grains of the halo by rank; most: that any rank sends to another one */
  size_t slot;                            /* bytes of a message */
  uint32_t migrants;                      /* most migrants of a rank at a time */
  uint32_t contacts;                      /* most contacts with history of these */
  char *out;                              /* [ranks][slot]: messages to other ranks; without peers */
  char **to;                              /* [ranks], device memory: see general_mail */
  long long *shift;                       /* [ranks], device memory: see push_halo */
  unsigned long long *words;              /* [2][ranks], device memory: greatest speeds, for two steps in turn */
  uint32_t *list, *counts;                /* device memory: grains of `sent`; counters */
  double *terms;                          /* [quantities][terms_count]: see general_terms */
  uint32_t terms_count;
  general_decision *decision; /* pinned */
  unsigned long long steps;   /* decisions so far */
  bool pending;               /* the last one is not yet followed */
  bool listed;                /* there are lists */
  bool known;                 /* gather_grains has been called since the grains moved */
  /* The halo is sent beside the contacts of the grains that are not in it; with peers. */
  bool split; /* edge and inner are set: ranges with all grains of `sent`, and the rest of own grains */
  general_own edge, inner;
  void *beside; /* a stream, and events of it and of the stream of steps */
  void *begun, *done;
};

template <typename real> struct general_work {
  collision_options options;
  collision_state state;
  general_numbers numbers;
  general_arrays<real> arrays;
  void *memory, *meshes;
  double *sums, *partial; /* [SUMS], [quantities][numbers.blocks] */
  unsigned long long *deepest;
  int *any;
  uint32_t *moves, *start;   /* for an exchange: stretches of remaining grains; first contact of each id */
  bool exchanged;            /* grains came or went since the state was last stored */
  unsigned launch, blocks;   /* launch: number of the next one; blocks: of the launch that builds lists */
  double ended;              /* length of the last step whose velocities still need their second half; 0: none */
  double due;                /* length of the last step whose contacts are still to be computed; 0: none */
  general_poses poses;       /* at the end of that step */
  general_shear<real> shift; /* `offset`: likewise */
  double time;               /* likewise */
  double smallest, largest;  /* smallest and largest radius at any time */
  collision_cuda_laws laws;
  general_domain domain;
};

#endif
