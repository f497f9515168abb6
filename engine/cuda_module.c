/* Kernels that were compiled while the program runs, on the process's GPU. */
#include "engine/compile.h"

#include "engine/log.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

#if CUDART_VERSION >= 12080

enum { KERNELS_MAX = 64 };

struct sim_module {
  cudaLibrary_t library;
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

/* A driver may look at code only when a kernel is asked for: all of them are, so that what it refuses shows here. */
static sim_status try_kernels(cudaLibrary_t library, const char *name) {
  cudaKernel_t kernels[KERNELS_MAX] = {0};
  struct cudaFuncAttributes attributes;
  unsigned count = 0;
  SIM_TRY(check(cudaLibraryGetKernelCount(&count, library), "cudaLibraryGetKernelCount", name));
  if (count == 0) return sim_fail(SIM_ERR_DEVICE, "%s: no kernels in its code", name);
  if (count > KERNELS_MAX) count = KERNELS_MAX;
  SIM_TRY(check(cudaLibraryEnumerateKernels(kernels, count, library), "cudaLibraryEnumerateKernels", name));
  for (unsigned i = 0; i < count; i++)
    SIM_TRY(check(cudaFuncGetAttributes(&attributes, (const void *)kernels[i]), "cudaFuncGetAttributes", name));
  return SIM_OK;
}

static sim_status load(const sim_source *source, const sim_bytes *code, bool cached, cudaLibrary_t *out) {
  SIM_TRY(
      check(cudaLibraryLoadData(out, code->data, NULL, NULL, 0, NULL, NULL, 0), "cudaLibraryLoadData", source->name));
  sim_status status = cached ? try_kernels(*out, source->name) : SIM_OK;
  if (status != SIM_OK && cudaLibraryUnload(*out) != cudaSuccess) (void)cudaGetLastError();
  return status;
}

sim_status sim_module_create(const sim_source *source, sim_module **out) {
  int of_device = 0;
  sim_bytes code = {0};
  *out = NULL;
  SIM_TRY(capability(&of_device));
  sim_module *module = calloc(1, sizeof *module);
  const long before = sim_compile_count();
  sim_status status = module ? sim_compile(source, of_device, &code)
                             : sim_fail(SIM_ERR_NO_MEMORY, "no memory for the kernels of %s", source->name);
  const bool cached = sim_compile_count() == before;
  if (status == SIM_OK) status = load(source, &code, cached, &module->library);
  if (status == SIM_ERR_DEVICE && cached) {
    sim_log(SIM_LOG_DEBUG, "%s, as it was kept, is refused: compiled anew", source->name);
    sim_bytes_free(&code);
    status = sim_compile_anew(source, of_device, &code);
    if (status == SIM_OK) status = load(source, &code, false, &module->library);
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
