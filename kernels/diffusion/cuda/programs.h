/* Sources of a run's kernels, compiled in parallel. Kernels that take long have a source each. Sources without the
 * scenario's rates are shared with other scenarios through the cache. */
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
  sim_bytes plain, rates; /* beginning of each source: plain, and with `scenario_rates` */
  sim_bytes text[DIFFUSION_PROGRAMS];
} diffusion_programs;

/* Adds a source with its beginning. The caller appends a kernel. */
sim_bytes *diffusion_programs_add(diffusion_programs *programs, bool rates);
void diffusion_programs_free(diffusion_programs *programs);
sim_source diffusion_programs_source(const diffusion_programs *programs, int index);
/* Finds a kernel of a compiled module (*out: cudaKernel_t), with `shared` bytes of dynamic shared memory and clusters
 * of `cluster` thread blocks. SIM_ERR_DEVICE. */
sim_status diffusion_programs_find(const sim_module *module, const char *name, size_t shared, int cluster,
                                   void **out) SIM_MUST_CHECK;
/* Enqueues a kernel: a grid of grid[0] x grid[1] x grid[2] blocks, `shared` bytes. amount: see sim_cuda_end. */
void diffusion_cuda_launch(const sim_kernel *kernel, double amount, void *function, const unsigned grid[3], int threads,
                           size_t shared, void **arguments);
/* The same of a kernel that calls after_previous() first (common/device.cuh): its blocks start while the kernel before
 * ends. Needs sim_cuda_overlaps(). */
void diffusion_cuda_launch_early(const sim_kernel *kernel, double amount, void *function, const unsigned grid[3],
                                 int threads, size_t shared, void **arguments);
/* Copies host[count] to the device. The caller frees *out with sim_backend_cuda.free. */
sim_status diffusion_cuda_upload(const float *host, size_t count, void **out) SIM_MUST_CHECK;
extern const sim_source_file diffusion_cuda_files[]; /* included headers, as of the build of the program */

/* Writes the transforms in registers (dft.c). */
void diffusion_dft_write(sim_bytes *text);

#ifdef __cplusplus
}
#endif

#endif
