/* Devices, and errors. */
#include "runtime.h"

#include <cstdarg>

namespace emulated {
namespace {

thread_local cudaError_t pending;
thread_local int device_now;

int number_of(const char *variable, int otherwise) {
  const char *given = getenv(variable);
  return given && *given ? atoi(given) : otherwise;
}
int device_count() {
  static const int count = [] {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    return visible && !*visible ? 0 : number_of("SIM_EMULATED_DEVICES", 2);
  }();
  return count;
}

} // namespace

EXPORT void fault(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("emulated device: ", stderr);
  vfprintf(stderr, format, list);
  fputs("\n", stderr);
  va_end(list);
  abort();
}

cudaError_t failed(cudaError_t error) {
  if (error != cudaSuccess) pending = error;
  return error;
}

} // namespace emulated
using namespace emulated;

extern "C" {

EXPORT cudaError_t cudaDriverGetVersion(int *version) { return *version = CUDART_VERSION, cudaSuccess; }
EXPORT cudaError_t cudaRuntimeGetVersion(int *version) { return *version = CUDART_VERSION, cudaSuccess; }
EXPORT cudaError_t cudaGetDeviceCount(int *count) {
  *count = device_count();
  return *count > 0 ? cudaSuccess : failed(cudaErrorNoDevice);
}
EXPORT cudaError_t cudaGetDevice(int *device) { return *device = device_now, cudaSuccess; }
EXPORT cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= device_count()) return failed(cudaErrorInvalidDevice);
  return device_now = device, cudaSuccess;
}
EXPORT cudaError_t cudaDeviceReset(void) { return cudaSuccess; }
EXPORT cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device) {
  *out = {};
  snprintf(out->name, sizeof out->name, "Emulated device");
  memset(out->uuid.bytes, 0x10 + device, sizeof out->uuid.bytes);
  out->major = 9;
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int) {
  switch (which) {
  case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
  case cudaDevAttrMultiProcessorCount: *value = number_of("SIM_EMULATED_MULTIPROCESSORS", 2); break;
  case cudaDevAttrClockRate: *value = 1000000; break; /* kHz */
  case cudaDevAttrMemoryClockRate: *value = 1000000; break;
  case cudaDevAttrGlobalMemoryBusWidth: *value = 1024; break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = SHARED_MOST; break;
  default: *value = 0;
  }
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int other) {
  return *can = device != other, cudaSuccess;
}
EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *most) { return *least = *most = 0, cudaSuccess; }

#define ERRORS(X)                                                                                                      \
  X(Success, "no error")                                                                                               \
  X(ErrorInvalidValue, "invalid argument")                                                                             \
  X(ErrorMemoryAllocation, "out of memory")                                                                            \
  X(ErrorInvalidConfiguration, "invalid configuration argument")                                                       \
  X(ErrorNoDevice, "no CUDA-capable device is detected")                                                               \
  X(ErrorInvalidDevice, "invalid device ordinal")                                                                      \
  X(ErrorInvalidKernelImage, "device kernel image is invalid")                                                         \
  X(ErrorInvalidResourceHandle, "invalid resource handle")                                                             \
  X(ErrorNotReady, "device not ready")                                                                                 \
  X(ErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region")                         \
  X(ErrorNotSupported, "operation not supported")                                                                      \
  X(ErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing")
EXPORT const char *cudaGetErrorName(cudaError_t error) {
#define NAME(name, text)                                                                                               \
  if (error == cuda##name) return "cuda" #name;
  ERRORS(NAME)
  return "unrecognized error code";
}
EXPORT const char *cudaGetErrorString(cudaError_t error) {
#define TEXT(name, text)                                                                                               \
  if (error == cuda##name) return text;
  ERRORS(TEXT)
  return "unrecognized error code";
}
EXPORT cudaError_t cudaPeekAtLastError(void) { return pending; }
EXPORT cudaError_t cudaGetLastError(void) { return std::exchange(pending, cudaSuccess); }
} // extern "C"
