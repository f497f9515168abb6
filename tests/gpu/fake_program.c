/* Linked into the program in place of the CUDA runtime, with fake_runtime.c. It simulates FAKE_DEVICES devices whose
 * memory is the host's and whose kernels do nothing. So the numbers of a run mean nothing: it shows how a run ends.
 * While the file FAKE_HANG exists, calls of rank FAKE_HANG_RANK (without ranks: 0) that wait for the device do not
 * return. */
#include "tests/gpu/fake_runtime.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;

static void wait_for_device(void) {
  const char *file = getenv("FAKE_HANG"), *which = getenv("FAKE_HANG_RANK");
  while (file && rank == (which ? atoi(which) : 0) && access(file, F_OK) == 0) (void)usleep(20000);
}

__attribute__((constructor)) static void make_devices(void) {
  const char *count = getenv("FAKE_DEVICES"), *own = getenv("SIM_RANK"); /* "1:3": rank 1 */
  if (!own) own = getenv("OMPI_COMM_WORLD_RANK");
  if (!own) own = getenv("PMI_RANK");
  fake.device_count = count ? atoi(count) : 0;
  rank = own ? atoi(own) : 0;
  for (int i = 0; i < fake.device_count && i < FAKE_DEVICES_MAX; i++) {
    fake.devices[i] = (struct fake_device){.name = "Fake", .major = 9};
    memset(fake.devices[i].uuid, 0xab + i, sizeof fake.devices[i].uuid);
  }
  if (fake.device_count == 0) fake.count_error = cudaErrorNoDevice;
  fake.wait = wait_for_device;
}

/* ---- functions that nvcc's code calls ---- */

void **__cudaRegisterFatBinary(void *code);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, uint3 *thread,
                            uint3 *block, dim3 *threads, dim3 *blocks, int *warps);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes,
                       int constant, int global);
unsigned __cudaPushCallConfiguration(dim3 blocks, dim3 threads, size_t bytes, void *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *blocks, dim3 *threads, size_t *bytes, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 blocks, dim3 threads, void **arguments, size_t bytes,
                               cudaStream_t stream);

void **__cudaRegisterFatBinary(void *code) {
  static void *handle;
  return (void)code, &handle;
}
void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, uint3 *thread,
                            uint3 *block, dim3 *threads, dim3 *blocks, int *warps) {
  (void)handle, (void)host, (void)device, (void)name, (void)limit, (void)thread, (void)block, (void)threads,
      (void)blocks, (void)warps;
}
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes,
                       int constant, int global) {
  (void)handle, (void)host, (void)device, (void)name, (void)external, (void)bytes, (void)constant, (void)global;
}
unsigned __cudaPushCallConfiguration(dim3 blocks, dim3 threads, size_t bytes, void *stream) {
  return (void)blocks, (void)threads, (void)bytes, (void)stream, 1; /* so that the kernel is not called */
}
cudaError_t __cudaPopCallConfiguration(dim3 *blocks, dim3 *threads, size_t *bytes, void *stream) {
  return (void)blocks, (void)threads, (void)bytes, (void)stream, cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
  return (void)kernel, (void)function, cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 blocks, dim3 threads, void **arguments, size_t bytes,
                               cudaStream_t stream) {
  return (void)kernel, (void)blocks, (void)threads, (void)arguments, (void)bytes, (void)stream, cudaSuccess;
}

/* ---- the rest of the runtime ---- */

cudaError_t cudaPeekAtLastError(void) { return fake.pending; }
cudaError_t cudaDeviceSynchronize(void) { return wait_for_device(), cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return (void)stream, cudaSuccess; }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
  return (void)priority, cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return (void)stream, cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *most) { return *least = *most = 0, cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return free(event), cudaSuccess; }
cudaError_t cudaMemset(void *data, int value, size_t bytes) { return memset(data, value, bytes), cudaSuccess; }
cudaError_t cudaMemset2DAsync(void *data, size_t pitch, int value, size_t width, size_t rows, cudaStream_t stream) {
  for (size_t i = 0; i < rows; i++) memset((char *)data + i * pitch, value, width);
  return (void)stream, cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows,
                              enum cudaMemcpyKind kind, cudaStream_t stream) {
  for (size_t i = 0; i < rows; i++) memcpy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
  return (void)kind, (void)stream, cudaSuccess;
}
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *data) {
  return (void)handle, (void)data, cudaErrorNotSupported;
}
cudaError_t cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t handle, unsigned flags) {
  return (void)out, (void)handle, (void)flags, cudaErrorNotSupported;
}
cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute which, int value) {
  return (void)function, (void)which, (void)value, cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads,
                                                                   size_t bytes, unsigned flags) {
  return (void)function, (void)threads, (void)bytes, (void)flags, *blocks = 1, cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                          size_t bytes) {
  return (void)function, (void)threads, (void)bytes, *blocks = 1, cudaSuccess;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *result) {
  return (void)name, (void)version, (void)flags, (void)result, *out = NULL, cudaErrorNotSupported;
}
cudaError_t cudaLaunchKernel(const void *function, dim3 blocks, dim3 threads, void **arguments, size_t bytes,
                             cudaStream_t stream) {
  return (void)function, (void)blocks, (void)threads, (void)arguments, (void)bytes, (void)stream, cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *how, const void *function, void **arguments) {
  return (void)how, (void)function, (void)arguments, cudaSuccess;
}
