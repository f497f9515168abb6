/* Operations by the kind of device. */
#include "kernels/option/ops.h"

const option_ops *option_ops_of(sim_backend_kind kind) {
  static const option_ops *const ops[SIM_BACKEND_KINDS] = {
      [SIM_BACKEND_CPU] = &option_ops_cpu,
#ifdef SIM_HAS_CUDA
      [SIM_BACKEND_CUDA] = &option_ops_cuda,
#endif
  };
  return ops[kind];
}
