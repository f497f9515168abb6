/* Launches of kernels, kernels that are found by an address or a name, and libraries of kernels. */
#include "runtime.h"

#include <dlfcn.h>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace emulated {

EXPORT cudaError_t launch(const shape &how, cudaStream_t stream, std::function<void()> thread) {
  const size_t threads = (size_t)how.block.x * how.block.y * how.block.z;
  const size_t blocks = (size_t)how.grid.x * how.grid.y * how.grid.z;
  if (threads == 0 || threads > THREADS_MOST || blocks == 0 || how.grid.x > 0x7fffffffu || how.grid.y > 65535 ||
      how.grid.z > 65535 || how.block.z > 64 || how.shared > SHARED_MOST || blocks % how.together != 0)
    return failed(cudaErrorInvalidConfiguration);
  enqueue(stream, [how, thread = std::move(thread)] { run_grid(how, thread); });
  return cudaSuccess;
}

EXPORT cudaError_t shape_of(const cudaLaunchConfig_t *config, shape *out) {
  *out = {config->gridDim, config->blockDim, config->dynamicSmemBytes};
  for (unsigned k = 0; k < config->numAttrs; k++) {
    const cudaLaunchAttribute &a = config->attrs[k];
    if (a.id == cudaLaunchAttributeCooperative && a.val.cooperative)
      out->together = out->grid.x * out->grid.y * out->grid.z;
    if (a.id == cudaLaunchAttributeClusterDimension)
      out->together = a.val.clusterDim.x * a.val.clusterDim.y * a.val.clusterDim.z;
  }
  return cudaSuccess;
}

static kernel *kernels; /* all; the newest first */
EXPORT kernel::kernel(const char *of, const void *function, std::function<void()> (*with)(void **))
    : name(of), address(function), bind(with), next(kernels) {
  kernels = this;
}

} // namespace emulated
using namespace emulated;

namespace {
std::mutex libraries_lock;
const kernel *find_kernel(const void *address) {
  for (const kernel *k = kernels; k; k = k->next)
    if (k->address == address) return k;
  return nullptr;
}
} // namespace

struct CUlib_st {
  void *loaded;
  std::vector<const kernel *> kernels;
};

extern "C" {

/* The code is a shared library, as nvrtc.cc makes it: its size first. */
EXPORT cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *, void **,
                                       unsigned, enum cudaLibraryOption *, void **, unsigned) {
  uint64_t bytes;
  memcpy(&bytes, code, sizeof bytes);
  const int file = memfd_create("kernels", MFD_CLOEXEC);
  const char *const at = (const char *)code + sizeof bytes;
  for (uint64_t done = 0; file >= 0 && done < bytes;) {
    const ssize_t wrote = write(file, at + done, bytes - done);
    if (wrote <= 0) break;
    done += (uint64_t)wrote;
  }
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  std::lock_guard<std::mutex> held(libraries_lock);
  const kernel *const before = kernels;
  void *const loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!loaded) fprintf(stderr, "emulated device: %s\n", dlerror());
  /* the file stays open: a library of the same name would be taken for this one */
  if (!loaded) return failed(cudaErrorInvalidKernelImage);
  *library = new CUlib_st{loaded, {}};
  for (const kernel *k = kernels; k != before; k = k->next) (*library)->kernels.push_back(k);
  return cudaSuccess;
}
/* Stays loaded: its kernels are in the list of all. */
EXPORT cudaError_t cudaLibraryUnload(cudaLibrary_t library) { return delete library, cudaSuccess; }
EXPORT cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library) {
  return *count = (unsigned)library->kernels.size(), cudaSuccess;
}
EXPORT cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned count, cudaLibrary_t library) {
  for (unsigned k = 0; k < count; k++) kernels[k] = (cudaKernel_t)library->kernels[k]->address;
  return cudaSuccess;
}
EXPORT cudaError_t cudaFuncGetName(const char **name, const void *kernel) {
  const emulated::kernel *k = find_kernel(kernel);
  return k ? (*name = k->name, cudaSuccess) : failed(cudaErrorInvalidResourceHandle);
}
EXPORT cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *) {
  *attributes = {};
  attributes->maxThreadsPerBlock = THREADS_MOST;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  return cudaSuccess;
}
EXPORT cudaError_t cudaFuncSetAttribute(const void *, enum cudaFuncAttribute which, int value) {
  if (which == cudaFuncAttributeMaxDynamicSharedMemorySize && value > (int)SHARED_MOST)
    return failed(cudaErrorInvalidValue);
  return cudaSuccess;
}
EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int, size_t) {
  return *blocks = 1, cudaSuccess;
}
EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments) {
  const emulated::kernel *k = find_kernel(kernel);
  if (!k) fault("a kernel is launched by an address that compile.py has not seen");
  shape how;
  const cudaError_t error = shape_of(config, &how);
  return error != cudaSuccess ? error : launch(how, config->stream, k->bind(arguments));
}
EXPORT cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                    cudaStream_t stream) {
  const cudaLaunchConfig_t config = {grid, block, shared, stream, nullptr, 0};
  return cudaLaunchKernelExC(&config, kernel, arguments);
}
EXPORT cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned, unsigned long long,
                                                    enum cudaDriverEntryPointQueryResult *result) {
  *out = strcmp(name, "cuTensorMapEncodeTiled") == 0 ? tensor_map_encoder() : nullptr;
  *result = *out ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

} // extern "C"
