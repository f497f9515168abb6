/* Kernels that were compiled while the program runs, on the process's GPU. */
#include "engine/compile.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#if CUDART_VERSION >= 12080

struct sim_module {
  cudaLibrary_t library;
  char name[64];
};

static sim_status check(cudaError_t error, const char *call, const char *what) {
  if (error == cudaSuccess) return SIM_OK;
  (void)cudaGetLastError();
  return sim_fail(SIM_ERR_DEVICE, "%s (%s): %s (%s)", call, what, cudaGetErrorString(error), cudaGetErrorName(error));
}

static sim_status capability(int *out) {
  int device = 0, major = 0, minor = 0;
  SIM_TRY(check(cudaGetDevice(&device), "cudaGetDevice", "compiling"));
  SIM_TRY(check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute",
                "compiling"));
  SIM_TRY(check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "cudaDeviceGetAttribute",
                "compiling"));
  *out = 10 * major + minor;
  return SIM_OK;
}

sim_status sim_module_create(const sim_source *source, sim_module **out) {
  int of_device = 0;
  sim_bytes code = {0};
  *out = NULL;
  SIM_TRY(capability(&of_device));
  sim_module *module = calloc(1, sizeof *module);
  sim_status status = module ? sim_compile(source, of_device, &code)
                             : sim_fail(SIM_ERR_NO_MEMORY, "no memory for the kernels of %s", source->name);
  if (status == SIM_OK) {
    snprintf(module->name, sizeof module->name, "%s", source->name);
    status = check(cudaLibraryLoadData(&module->library, code.data, NULL, NULL, 0, NULL, NULL, 0),
                   "cudaLibraryLoadData", source->name);
  }
  sim_bytes_free(&code);
  if (status == SIM_OK)
    *out = module;
  else
    free(module);
  return status;
}

void sim_module_free(sim_module **module) {
  if (*module && cudaLibraryUnload((*module)->library) != cudaSuccess) (void)cudaGetLastError();
  free(*module);
  *module = NULL;
}

/* Asking for its attributes loads it: nothing is left to do at a first launch, which may be within a capture. */
sim_status sim_module_kernel(const sim_module *module, const char *name, void **out) {
  cudaKernel_t kernel = NULL;
  struct cudaFuncAttributes attributes;
  *out = NULL;
  SIM_TRY(check(cudaLibraryGetKernel(&kernel, module->library, name), "cudaLibraryGetKernel", name));
  SIM_TRY(check(cudaFuncGetAttributes(&attributes, (const void *)kernel), "cudaFuncGetAttributes", name));
  *out = (void *)kernel;
  return SIM_OK;
}

#else

sim_status sim_module_create(const sim_source *source, sim_module **out) {
  *out = NULL;
  return sim_fail(SIM_ERR_NO_DEVICE,
                  "%s: functions of a scenario on a GPU need a program built with CUDA 12.8 or newer, this one has "
                  "%d.%d: use --device cpu",
                  source->name, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}
void sim_module_free(sim_module **module) { *module = NULL; }
sim_status sim_module_kernel(const sim_module *module, const char *name, void **out) {
  (void)module;
  *out = NULL;
  return sim_fail(SIM_ERR_INTERNAL, "no kernel %s", name);
}

#endif
