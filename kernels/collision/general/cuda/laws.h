/* Functions of a scenario in kernels of the general solver: compiled when a run begins, and launched instead of the
 * built-in kernels or beside them. CPU counterpart: functions.h. */
#ifndef COLLISION_CUDA_LAWS_H
#define COLLISION_CUDA_LAWS_H

#include "engine/device/compile.h"
#include "kernels/collision/scenario/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Compiled kernels (cudaKernel_t); NULL: the scenario has no such function. collision_cuda_laws_destroy frees them. */
typedef struct collision_cuda_laws {
  sim_module *field, *law;
  void *acceleration, *energy; /* kernels for options.external; energy NULL where only the acceleration is given */
  void *contacts, *sums;       /* kernels for options.custom or options.restitution */
} collision_cuda_laws;

/* Compiles the kernels that the options need, for a state in float (`single`) or double. Errors of the compiler. */
sim_status collision_cuda_laws_create(const collision_options *options, bool single,
                                      collision_cuda_laws *out) SIM_MUST_CHECK;
void collision_cuda_laws_destroy(collision_cuda_laws *laws);

/* Write the sources into *text, which the caller frees. */
sim_status collision_cuda_write_external(const collision_options *options, bool single, sim_bytes *text) SIM_MUST_CHECK;
sim_status collision_cuda_write_law(const collision_options *options, bool single, sim_bytes *text) SIM_MUST_CHECK;
sim_source collision_cuda_external_source(const sim_bytes *text);
sim_source collision_cuda_law_source(const sim_bytes *text);

/* Files that the sources include, as they were when the program was built. */
extern const sim_source_file collision_cuda_files[];

#ifdef __cplusplus
}
#endif

#endif
