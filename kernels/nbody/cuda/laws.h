/* Functions of a scenario in the GPU's kernels: compiled when a run begins, and launched in place of the built-in
 * ones, or beside them. */
#ifndef NBODY_CUDA_LAWS_H
#define NBODY_CUDA_LAWS_H

#include "engine/device/compile.h"
#include "kernels/nbody/nbody.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels (cudaKernel_t); NULL: not needed. */
typedef struct nbody_cuda_laws {
  sim_module *pairs, *bodies;
  void *tile, *potential, *start;                     /* of nbody_laws.pair; no potential where it is not known */
  void *finish, *kick, *kick_drift, *correct, *outer; /* of nbody_laws.external; outer: its energy */
  void *observe, *gather;                             /* of nbody_options.observe */
  double factor; /* of the pair's force: drawn out of the kernel, goes to the masses */
} nbody_cuda_laws;

/* `single`: type of the state; `bodies` of a thread in the tiles. */
sim_status nbody_cuda_laws_create(const nbody_options *options, bool single, int bodies,
                                  nbody_cuda_laws *out) SIM_MUST_CHECK;
void nbody_cuda_laws_destroy(nbody_cuda_laws *laws);

/* The sources, for tests too. Those of single bodies are compiled without contraction, pairs with it. */
typedef struct nbody_cuda_pair_text {
  double factor;
  bool potential; /* it is known */
} nbody_cuda_pair_text;
sim_status nbody_cuda_write_pairs(const nbody_options *options, bool single, int bodies, sim_bytes *text,
                                  nbody_cuda_pair_text *out) SIM_MUST_CHECK;
sim_status nbody_cuda_write_bodies(const nbody_options *options, bool single, sim_bytes *text) SIM_MUST_CHECK;
sim_source nbody_cuda_pairs_source(const sim_bytes *text);
sim_source nbody_cuda_bodies_source(const sim_bytes *text);

/* The files that these include, as they stood when the program was built. */
extern const sim_source_file nbody_cuda_files[];

#ifdef __cplusplus
}
#endif

#endif
