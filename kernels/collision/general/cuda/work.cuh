/* Host-side data of a run of the general solver on a GPU. Pointers are to device memory. */
#ifndef COLLISION_GENERAL_CUDA_WORK_CUH
#define COLLISION_GENERAL_CUDA_WORK_CUH

#include "kernels/collision/general/cuda/shared.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/collision/general/cuda/laws.h"
#include "kernels/collision/solver.h"
#include "kernels/collision/general/laws.inc"

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
};

#endif
