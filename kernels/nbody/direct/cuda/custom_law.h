/* A custom law between two bodies on the GPU. Its kernels are compiled when a run begins, and launched instead of
 * the built-in ones. */
#ifndef NBODY_CUDA_CUSTOM_LAW_H
#define NBODY_CUDA_CUSTOM_LAW_H

#include "kernels/nbody/cuda/functions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels (cudaKernel_t); NULL: not needed, or no custom law. */
typedef struct nbody_cuda_custom_law {
  sim_module *module;
  void *tile, *potential, *start; /* potential: NULL if unknown; start: with options.jerk */
  double factor; /* constant factor of the force: the kernel leaves it out, and masses are multiplied by it */
} nbody_cuda_custom_law;

/* Compiles the kernels. `single`: fp32 state; `bodies`: bodies a thread in the tiles. SIM_ERR_SCENARIO. */
sim_status nbody_cuda_custom_law_create(const nbody_options *options, bool single, int bodies,
                                        nbody_cuda_custom_law *out) SIM_MUST_CHECK;
void nbody_cuda_custom_law_destroy(nbody_cuda_custom_law *law);

typedef struct nbody_custom_law_text {
  double factor;
  bool potential; /* the potential is known */
} nbody_custom_law_text;
/* Appends the source of these kernels to `text`; for tests too. */
sim_status nbody_custom_law_write(const nbody_options *options, bool single, int bodies, sim_bytes *text,
                                  nbody_custom_law_text *out) SIM_MUST_CHECK;
/* Returns the source for sim_compile; borrows the text. Multiply-adds are contracted. */
sim_source nbody_custom_law_source(const sim_bytes *text);

#ifdef __cplusplus
}
#endif

#endif
