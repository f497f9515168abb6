#include "kernels/diffusion/cuda/programs.h"

#include "engine/device/cuda.h"

#include <cuda_runtime_api.h>

sim_bytes *diffusion_programs_add(diffusion_programs *programs, bool rates) {
  const sim_bytes *begin = rates ? &programs->rates : &programs->plain;
  sim_bytes *text = &programs->text[programs->count++];
  if (begin->data) sim_bytes_add(text, begin->data, begin->size);
  return text;
}

void diffusion_programs_free(diffusion_programs *programs) {
  sim_bytes_free(&programs->plain);
  sim_bytes_free(&programs->rates);
  for (int i = 0; i < programs->count; i++) sim_bytes_free(&programs->text[i]);
  programs->count = 0;
}

sim_source diffusion_programs_source(const diffusion_programs *programs, int index) {
  return (sim_source){
      .name = "diffusion", .text = programs->text[index].data, .files = diffusion_cuda_files, .contract = true};
}

sim_status diffusion_programs_find(const sim_module *module, const char *name, size_t shared, int cluster, void **out) {
  SIM_TRY(sim_module_kernel(module, name, out));
  cudaError_t error = cudaFuncSetAttribute(*out, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
  if (!error && cluster > 8) error = cudaFuncSetAttribute(*out, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (error == cudaSuccess) return SIM_OK;
  (void)cudaGetLastError();
  return sim_fail(SIM_ERR_DEVICE, "cudaFuncSetAttribute (%s): %s", name, cudaGetErrorString(error));
}

void diffusion_cuda_launch(const sim_kernel *kernel, double amount, void *function, const unsigned grid[3], int threads,
                           size_t shared, void **arguments) {
  sim_cuda_begin(kernel);
  sim_cuda_failed(cudaLaunchKernel(function, (dim3){grid[0], grid[1], grid[2]}, (dim3){(unsigned)threads, 1, 1},
                                   arguments, shared, sim_cuda_stream()),
                  "cudaLaunchKernel", kernel->name);
  sim_cuda_end(kernel, amount);
}

void diffusion_cuda_launch_early(const sim_kernel *kernel, double amount, void *function, const unsigned grid[3],
                                 int threads, size_t shared, void **arguments) {
  cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeProgrammaticStreamSerialization};
  attribute.val.programmaticStreamSerializationAllowed = 1;
  const cudaLaunchConfig_t config = {.gridDim = {grid[0], grid[1], grid[2]},
                                     .blockDim = {(unsigned)threads, 1, 1},
                                     .dynamicSmemBytes = shared,
                                     .stream = sim_cuda_stream(),
                                     .attrs = &attribute,
                                     .numAttrs = 1};
  sim_cuda_begin(kernel);
  sim_cuda_failed(cudaLaunchKernelExC(&config, function, arguments), "cudaLaunchKernelExC", kernel->name);
  sim_cuda_end(kernel, amount);
}

sim_status diffusion_cuda_upload(const float *host, size_t count, void **out) {
  SIM_TRY(sim_backend_cuda.alloc(count * sizeof *host, out));
  return sim_backend_cuda.copy(*out, host, count * sizeof *host);
}
