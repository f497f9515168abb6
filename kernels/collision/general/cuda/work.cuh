/* What the host keeps of grains of any kind. `real` is defined before this is included. */
#ifndef COLLISION_CUDA_BED_WORK_CUH
#define COLLISION_CUDA_BED_WORK_CUH

#include "kernels/collision/general/cuda/shared.cuh"
#include "kernels/collision/launch.cuh"
#include "kernels/collision/general/cuda/laws.h"
#include "kernels/collision/solver.h"
#include "kernels/collision/general/law_real.h"

namespace {

struct bed_work {
  collision_options options;
  collision_state state;
  bed_numbers numbers;
  bed_arrays arrays;
  void *memory, *meshes;
  double *sums, *partial; /* [BED_SUMS], [quantities][blocks] */
  unsigned long long *deepest;
  int *any;
  uint32_t *moves, *start;  /* of an event: who stays; where the contacts of each begin */
  bool exchanged;           /* since the state was stored last */
  unsigned launch, blocks;  /* blocks: of the launch that makes lists */
  double ended;             /* length of the last step, whose second half is to be taken; 0: it was */
  double due;               /* length of the last step, whose contacts are to be computed; 0: they were */
  bed_poses poses;          /* at its end */
  bed_shift shift;          /* `offset`: there too */
  double time;              /* of its end */
  double smallest, largest; /* radii */
  collision_cuda_laws laws;
};

} // namespace

#endif
