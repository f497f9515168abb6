/* Memory: arrays, copies, memory of other processes. Device memory is shared memory of the process's own file, which
 * other processes map (cudaIpc), with a page without access behind each array. */
#include "runtime.h"

#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace emulated;

namespace {

constexpr size_t ALIGNMENT = 256;           /* of arrays */
constexpr size_t MEMORY = (size_t)16 << 30; /* bytes of a device, as it says */

/* An array: a file of its own, mapped so that it ends, but for its alignment, at a page without access. */
struct array {
  char *data, *mapping;
  size_t bytes, mapped;
  int file; /* -1: not of this process */
};
struct {
  std::mutex lock;
  std::map<void *, array> arrays;
  size_t used;
} memory;

struct offer { /* within a cudaIpcMemHandle_t */
  char name[40];
  uint64_t offset, mapped;
};
static_assert(sizeof(offer) <= sizeof(cudaIpcMemHandle_t), "a handle");

char *map_file(int file, size_t mapped) {
  char *at = (char *)mmap(nullptr, mapped + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  if (mmap(at, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) return nullptr;
  return at;
}

void check_behind(const array &a) {
  for (char *at = a.data + a.bytes; at < a.mapping + a.mapped; at++)
    if ((unsigned char)*at != POISON) fault("a write behind an array of %zu bytes", a.bytes);
}

} // namespace

extern "C" {

EXPORT cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  std::lock_guard<std::mutex> held(memory.lock);
  *total = MEMORY, *available = MEMORY - memory.used;
  return cudaSuccess;
}
EXPORT cudaError_t cudaMalloc(void **out, size_t bytes) {
  if (refused_in_capture() != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  std::lock_guard<std::mutex> held(memory.lock);
  *out = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (bytes > MEMORY - memory.used) return failed(cudaErrorMemoryAllocation);
  const size_t whole = rounded(bytes, ALIGNMENT), mapped = rounded(whole, PAGE);
  array a = {nullptr, nullptr, bytes, mapped, memfd_create("emulated device", MFD_CLOEXEC)};
  if (a.file < 0 || ftruncate(a.file, (off_t)mapped) != 0 || !(a.mapping = map_file(a.file, mapped)))
    return failed(cudaErrorMemoryAllocation);
  a.data = a.mapping + mapped - whole;
  memset(a.mapping, POISON, mapped);
  memory.used += bytes;
  memory.arrays[a.data] = a;
  *out = a.data;
  return cudaSuccess;
}
EXPORT cudaError_t cudaFree(void *data) {
  if (!data) return cudaSuccess;
  std::lock_guard<std::mutex> held(memory.lock);
  const auto found = memory.arrays.find(data);
  if (found == memory.arrays.end()) return failed(cudaErrorInvalidValue);
  const array a = found->second;
  check_behind(a);
  (void)munmap(a.mapping, a.mapped + PAGE);
  if (a.file >= 0) (void)close(a.file);
  if (a.file >= 0) memory.used -= a.bytes;
  memory.arrays.erase(found);
  return cudaSuccess;
}
EXPORT cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned) {
  *out = nullptr;
  if (posix_memalign(out, PAGE, bytes ? bytes : 1) != 0) return failed(cudaErrorMemoryAllocation);
  memset(*out, POISON, bytes);
  return cudaSuccess;
}
EXPORT cudaError_t cudaFreeHost(void *data) { return free(data), cudaSuccess; }
EXPORT cudaError_t cudaHostRegister(void *, size_t, unsigned) { return cudaSuccess; }
EXPORT cudaError_t cudaHostUnregister(void *) { return cudaSuccess; }

EXPORT cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *data) {
  std::lock_guard<std::mutex> held(memory.lock);
  const auto found = memory.arrays.find(data);
  if (found == memory.arrays.end() || found->second.file < 0) return failed(cudaErrorInvalidValue);
  offer o = {};
  snprintf(o.name, sizeof o.name, "/proc/%ld/fd/%d", (long)getpid(), found->second.file);
  o.offset = (uint64_t)(found->second.data - found->second.mapping);
  o.mapped = found->second.mapped;
  *handle = {};
  memcpy(handle, &o, sizeof o);
  return cudaSuccess;
}
EXPORT cudaError_t cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t handle, unsigned) {
  offer o;
  memcpy(&o, &handle, sizeof o);
  const int file = open(o.name, O_RDWR | O_CLOEXEC);
  if (file < 0) return failed(cudaErrorInvalidValue);
  std::lock_guard<std::mutex> held(memory.lock);
  char *const mapping = map_file(file, o.mapped);
  (void)close(file);
  if (!mapping) return failed(cudaErrorMemoryAllocation);
  *out = mapping + o.offset;
  memory.arrays[*out] = {mapping + o.offset, mapping, o.mapped - o.offset, o.mapped, -1};
  return cudaSuccess;
}
EXPORT cudaError_t cudaIpcCloseMemHandle(void *data) { return cudaFree(data); }

EXPORT cudaError_t cudaMemset2DAsync(void *data, size_t pitch, int value, size_t width, size_t rows,
                                     cudaStream_t stream) {
  enqueue(stream, [=] {
    for (size_t k = 0; k < rows; k++) memset((char *)data + k * pitch, value, width);
  });
  return cudaSuccess;
}
EXPORT cudaError_t cudaMemsetAsync(void *data, int value, size_t bytes, cudaStream_t stream) {
  return cudaMemset2DAsync(data, bytes, value, bytes, 1, stream);
}
EXPORT cudaError_t cudaMemset(void *data, int value, size_t bytes) {
  return cudaMemsetAsync(data, value, bytes, nullptr);
}
EXPORT cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t rows, enum cudaMemcpyKind, cudaStream_t stream) {
  if (width > to_pitch || width > from_pitch) return failed(cudaErrorInvalidValue);
  enqueue(stream, [=] {
    for (size_t k = 0; k < rows; k++) memmove((char *)to + k * to_pitch, (const char *)from + k * from_pitch, width);
  });
  return cudaSuccess;
}
EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, bytes > 0, kind, stream);
}
EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
  if (refused_in_capture() != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

} // extern "C"
