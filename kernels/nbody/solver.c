#include "kernels/nbody/solver.h"

/* In order of preference. */
static const nbody_solver *const solvers[][SIM_BACKEND_KINDS] = {
    {[SIM_BACKEND_CPU] = &nbody_direct_cpu,
#ifdef SIM_HAS_CUDA
     [SIM_BACKEND_CUDA] = &nbody_direct_cuda
#endif
    },
};

sim_status nbody_solver_choose(const nbody_options *options, sim_backend_kind kind, const nbody_solver **out) {
  sim_status status = SIM_ERR_SCENARIO;
  for (size_t i = 0; i < sizeof solvers / sizeof *solvers && status != SIM_OK; i++) {
    *out = solvers[i][kind];
    if (*out != NULL) status = (*out)->supports(options);
  }
  return status;
}
