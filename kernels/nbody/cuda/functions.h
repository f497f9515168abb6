/* Functions of a scenario on the GPU: external force and observables. Their kernels are compiled when a run begins,
 * and launched instead of the built-in ones. */
#ifndef NBODY_CUDA_FUNCTIONS_H
#define NBODY_CUDA_FUNCTIONS_H

#include "engine/device/compile.h"
#include "kernels/nbody/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels (cudaKernel_t); NULL: not needed. */
typedef struct nbody_cuda_functions {
  sim_module *module;
  /* kernels for options.laws.external; energy: its potential energy */
  void *finish, *kick, *kick_drift, *correct, *energy;
  void *observe, *gather; /* kernels for options.observe */
} nbody_cuda_functions;

/* Compiles the scenario's kernels. `single`: fp32 state. SIM_ERR_SCENARIO where a function does not compile. */
sim_status nbody_cuda_functions_create(const nbody_options *options, bool single,
                                       nbody_cuda_functions *out) SIM_MUST_CHECK;
void nbody_cuda_functions_destroy(nbody_cuda_functions *functions);

/* Appends the source of these kernels to `text`; for tests too. */
sim_status nbody_cuda_functions_write(const nbody_options *options, bool single, sim_bytes *text) SIM_MUST_CHECK;
/* Returns the source for sim_compile; borrows the text. Multiply-adds are not contracted. */
sim_source nbody_cuda_functions_source(const sim_bytes *text);

/* Headers that the source includes, as they were when the program was built. */
extern const sim_source_file nbody_cuda_files[];

#ifdef __cplusplus
}
#endif

#endif
