/* What the host keeps of grains of any kind. */
#ifndef COLLISION_GENERAL_CUDA_WORK_CUH
#define COLLISION_GENERAL_CUDA_WORK_CUH

#include "kernels/collision/general/cuda/shared.cuh"
#include "kernels/collision/launch.cuh"
#include "kernels/collision/general/cuda/laws.h"
#include "kernels/collision/ops_cuda.h"
#include "kernels/collision/general/laws.inc"

template <typename real> struct general_work {
  collision_options options;
  collision_state state;
  general_numbers numbers;
  general_arrays<real> arrays;
  void *memory, *meshes;
  double *sums, *partial; /* [BED_SUMS], [quantities][blocks] */
  unsigned long long *deepest;
  int *any;
  uint32_t *moves, *start;   /* of an event: who stays; where the contacts of each begin */
  bool exchanged;            /* since the state was stored last */
  unsigned launch, blocks;   /* blocks: of the launch that makes lists */
  double ended;              /* length of the last step, whose second half is to be taken; 0: it was */
  double due;                /* length of the last step, whose contacts are to be computed; 0: they were */
  general_poses poses;       /* at its end */
  general_shear<real> shift; /* `offset`: there too */
  double time;               /* of its end */
  double smallest, largest;  /* radii */
  collision_cuda_laws laws;
};

#endif
