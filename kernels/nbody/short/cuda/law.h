/* Kernels with the scenario's pair law, compiled when a run begins. */
#ifndef NBODY_CUDA_SHORT_LAW_H
#define NBODY_CUDA_SHORT_LAW_H

#include "kernels/nbody/cuda/functions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels (cudaKernel_t). */
typedef struct nbody_short_law {
  sim_module *module;
  void *force, *sums;
} nbody_short_law;

/* Compiles the kernels. `single`: fp32 state. SIM_ERR_SCENARIO where the law does not compile. */
sim_status nbody_short_law_create(const nbody_options *options, bool single, nbody_short_law *out) SIM_MUST_CHECK;
void nbody_short_law_destroy(nbody_short_law *law);
/* Appends the source of these kernels to `text`; for tests too. */
sim_status nbody_short_law_write(const nbody_options *options, bool single, sim_bytes *text) SIM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
