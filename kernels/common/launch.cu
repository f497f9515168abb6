#include "kernels/common/launch.cuh"

static __global__ void wait_for_previous() { after_previous(); }

/* All kernels are compiled for the same architectures, so that one kernel is enough to ask. Code for an older
 * architecture, which the driver has translated, does not wait. */
bool device_overlaps() {
  static int known = -1;
  if (known < 0) {
    cudaFuncAttributes of = {};
    known = sim_cuda_overlaps() && cudaFuncGetAttributes(&of, (const void *)wait_for_previous) == cudaSuccess &&
            of.ptxVersion >= 90;
  }
  return known != 0;
}
