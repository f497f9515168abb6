/* Kernels of a run as texts, which are compiled beside each other: those that take long have one each. Texts without
 * the scenario's rates are other scenarios' too, and found in the cache. */
#ifndef DIFFUSION_CUDA_PROGRAMS_H
#define DIFFUSION_CUDA_PROGRAMS_H

#include "engine/device/compile.h"
#include "engine/device/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DIFFUSION_PROGRAMS = 16 };

typedef struct diffusion_programs {
  int count;
  sim_bytes plain, rates; /* what each begins with; with rates it has `scenario_rates` */
  sim_bytes text[DIFFUSION_PROGRAMS];
} diffusion_programs;

/* A new text with its beginning, to which a kernel is added. */
sim_bytes *diffusion_programs_add(diffusion_programs *programs, bool rates);
void diffusion_programs_free(diffusion_programs *programs);
sim_source diffusion_programs_source(const diffusion_programs *programs, int index);
/* A kernel of a compiled module, out: cudaKernel_t, with so many bytes of dynamic shared memory, in clusters of so many
 * thread blocks. SIM_ERR_DEVICE. */
sim_status diffusion_programs_find(const sim_module *module, const char *name, size_t shared, int cluster,
                                   void **out) SIM_MUST_CHECK;
/* Queues such a kernel: a grid of grid[0] x grid[1] x grid[2] blocks, `shared` bytes; amount: sim_cuda_end. */
void diffusion_cuda_launch(const sim_kernel *kernel, double amount, void *function, const unsigned grid[3], int threads,
                           size_t shared, void **arguments);
/* out: a copy on the device of host[count], to be freed with sim_backend_cuda.free. */
sim_status diffusion_cuda_upload(const float *host, size_t count, void **out) SIM_MUST_CHECK;
extern const sim_source_file diffusion_cuda_files[]; /* that they include, as they stood when the program was built */

/* dft.c: the transforms that kernels with passes of their own are made of. */
void diffusion_dft_write(sim_bytes *text);

#ifdef __cplusplus
}
#endif

#endif
