/* CUDA C++ on the host, for tests of device code where there is no GPU: the language's names, its built-in functions,
 * and launches. tests/emulated/compile.py translates what a C++ compiler does not take (launches by <<< >>>, shared
 * memory); tests/emulated/runtime/ runs the threads.
 *
 * Thread blocks run one after another, those of a cooperative launch or of a cluster at the same time, each in a thread
 * of the host. The threads of a block are fibers: a thread runs until it waits (for its block, its warp, or in a loop
 * that polls), and then the next one runs. SIM_EMULATED_ORDER=forward, backward or a number (a random order) says which
 * thread is next: results that depend on it show a race.
 *
 * It shows wrong results, deadlocks, and races for which another order of threads gives other results. Access behind an
 * array ends the program, as the pages there are closed, or is told when the array is freed. Memory that is read before
 * it is written holds 0xff (NaN, -1), but sim clears what it allocates on a device, so that this shows shared memory
 * above all. An asynchronous copy is made when it is waited for, so that a use before that shows. It does not show
 * time, occupancy, limits of registers, races between blocks that run one after another, the weak order of memory, and
 * the last bits of approximations. */
#ifndef SIM_EMULATED_DEVICE_H
#define SIM_EMULATED_DEVICE_H

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cuda_runtime_api.h"

/* ---- the language ---- */

#define __CUDACC__ 1
#define __CUDA_ARCH__ 900
#define __host__
#define __device__
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline
/* __global__, __shared__ and __noinline__ are for compile.py. */

#define EMULATED_VECTOR2(name, type, align)                                                                            \
  struct alignas(align) name##2 {                                                                                      \
    type x, y;                                                                                                         \
  };                                                                                                                   \
  static inline name##2 make_##name##2(type x, type y) { return {x, y}; }
#define EMULATED_VECTOR3(name, type)                                                                                   \
  struct name##3 {                                                                                                     \
    type x, y, z;                                                                                                      \
  };                                                                                                                   \
  static inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }
#define EMULATED_VECTOR4(name, type, align)                                                                            \
  struct alignas(align) name##4 {                                                                                      \
    type x, y, z, w;                                                                                                   \
  };                                                                                                                   \
  static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
EMULATED_VECTOR2(float, float, 8)
EMULATED_VECTOR3(float, float)
EMULATED_VECTOR4(float, float, 16)
EMULATED_VECTOR2(double, double, 16)
EMULATED_VECTOR3(double, double)
EMULATED_VECTOR4(double, double, 16)
EMULATED_VECTOR2(int, int, 8)
EMULATED_VECTOR3(int, int)
EMULATED_VECTOR4(int, int, 16)
EMULATED_VECTOR2(uint, unsigned, 8)
EMULATED_VECTOR4(uint, unsigned, 16)
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }

/* ---- threads and what they wait for ---- */

#define EMULATED_FAST __attribute__((tls_model("initial-exec"))) /* in libraries that are loaded later, too */
extern thread_local uint3 threadIdx EMULATED_FAST, blockIdx EMULATED_FAST;
extern thread_local dim3 blockDim EMULATED_FAST, gridDim EMULATED_FAST;

namespace emulated {

/* Waits until all threads of the block, or all lanes of the warp, wait here; lets other threads run. */
void wait_block();
void wait_warp();
void yield();
/* A slot of 16 bytes for each thread of the block, by which threads of a warp exchange values. */
void *slot(unsigned thread);
/* Memory of the block: extern __shared__. */
void *dynamic_shared();
/* Number of the block among all that have run; for poison. */
extern thread_local unsigned long block_number EMULATED_FAST;
/* Ends the program with this line. */
[[noreturn]] void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Fills static shared memory with poison before its first use in a block. */
struct fresh {
  template <typename T> static void poison(T &memory, unsigned long &last) {
    if (last == block_number) return;
    last = block_number;
    memset((void *)&memory, 0xff, sizeof memory);
  }
};

template <typename T> inline T exchange(T value, int lane) { /* of lane `lane` of this warp */
  static_assert(sizeof(T) <= 16, "a slot");
  const unsigned first = threadIdx.x & ~31u;
  memcpy(slot(threadIdx.x), &value, sizeof value);
  wait_warp();
  T out;
  memcpy(&out, slot(first + ((unsigned)lane & 31)), sizeof out);
  wait_warp();
  return out;
}

/* ---- launches ---- */

struct shape {
  dim3 grid, block;
  size_t shared = 0;
  unsigned together = 1; /* blocks that run at the same time */
};
void enqueue(cudaStream_t stream, std::function<void()> work);
cudaError_t launch(const shape &how, cudaStream_t stream, std::function<void()> thread);

struct on { /* <<<grid, block, shared, stream>>> */
  shape how;
  cudaStream_t stream;
  on(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t to = nullptr) : how{grid, block, shared}, stream(to) {}
};
template <typename... A> struct arguments { std::tuple<A...> values; };
template <typename... A> arguments<A...> with(A... values) { return {{values...}}; }
template <typename F> struct calls {
  F kernel;
  explicit calls(F f) : kernel(f) {}
};
template <typename F> struct configured {
  F kernel;
  on where;
};
template <typename F> configured<F> operator->*(const calls<F> &c, const on &where) { return {c.kernel, where}; }
template <typename F, typename... A> void operator->*(const configured<F> &c, const arguments<A...> &given) {
  (void)launch(c.where.how, c.where.stream, [kernel = c.kernel, given] { std::apply(kernel, given.values); });
}

/* A kernel that is launched by its address or name. compile.py makes one for each kernel that is no template. */
struct kernel {
  const char *name;
  const void *address;
  std::function<void()> (*bind)(void **arguments); /* copies the arguments */
  kernel *next;
  kernel(const char *of, const void *function, std::function<void()> (*with)(void **));
};
template <auto FUNCTION> struct binder;
template <typename... P, void (*FUNCTION)(P...)> struct binder<FUNCTION> {
  template <size_t... I> static std::function<void()> copy(void **from, std::index_sequence<I...>) {
    return [values = std::tuple<std::remove_cv_t<P>...>(*(std::remove_cv_t<P> *)from[I]...)] {
      std::apply([](const auto &...v) { FUNCTION(v...); }, values);
    };
  }
  static std::function<void()> bind(void **from) { return copy(from, std::index_sequence_for<P...>()); }
};

cudaError_t shape_of(const cudaLaunchConfig_t *config, shape *out);

} // namespace emulated

template <typename... P, typename... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*function)(P...), A... given) {
  emulated::shape how;
  const cudaError_t error = emulated::shape_of(config, &how);
  if (error != cudaSuccess) return error;
  return emulated::launch(how, config->stream, [function, values = std::tuple<std::remove_cv_t<P>...>(given...)] {
    std::apply([&](const auto &...v) { function(v...); }, values);
  });
}
template <typename... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*function)(P...), int threads,
                                                          size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)function, threads, shared);
}
template <typename... P> cudaError_t cudaFuncSetAttribute(void (*function)(P...), cudaFuncAttribute which, int value) {
  return cudaFuncSetAttribute((const void *)function, which, value);
}
template <typename T> cudaError_t cudaMalloc(T **out, size_t bytes) { return cudaMalloc((void **)out, bytes); }

/* ---- blocks and warps ---- */

static inline void __syncthreads() { emulated::wait_block(); }
static inline int __syncthreads_or(int says) {
  const unsigned n = blockDim.x * blockDim.y * blockDim.z;
  const unsigned own = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  memcpy(emulated::slot(own), &says, sizeof says);
  emulated::wait_block();
  int any = 0;
  for (unsigned t = 0; t < n; t++) {
    int it;
    memcpy(&it, emulated::slot(t), sizeof it);
    any |= it != 0;
  }
  emulated::wait_block();
  return any;
}
static inline void __syncwarp() { emulated::wait_warp(); }
static inline unsigned __activemask() { return 1u << (threadIdx.x & 31); } /* each lane alone */
template <typename T> T __shfl_sync(unsigned mask, T value, int lane) {
  if (mask == __activemask()) return value;
  return emulated::exchange(value, lane);
}
template <typename T> T __shfl_xor_sync(unsigned, T value, int mask) {
  return emulated::exchange(value, (int)(threadIdx.x & 31) ^ mask);
}
template <typename T> T __shfl_down_sync(unsigned, T value, int step) {
  const int lane = (int)(threadIdx.x & 31);
  return emulated::exchange(value, lane + step < 32 ? lane + step : lane);
}
template <typename T> T __shfl_up_sync(unsigned, T value, int step) {
  const int lane = (int)(threadIdx.x & 31);
  return emulated::exchange(value, lane >= step ? lane - step : lane);
}
static inline unsigned __ballot_sync(unsigned, bool says) {
  const unsigned first = threadIdx.x & ~31u;
  *(unsigned *)emulated::slot(threadIdx.x) = says;
  emulated::wait_warp();
  unsigned out = 0;
  for (unsigned k = 0; k < 32; k++) out |= (*(unsigned *)emulated::slot(first + k) & 1) << k;
  emulated::wait_warp();
  return out;
}
static inline int __any_sync(unsigned mask, bool says) { return __ballot_sync(mask, says) != 0; }
static inline int __all_sync(unsigned mask, bool says) { return __ballot_sync(mask, !says) == 0; }
static inline void __threadfence() {}
static inline void __threadfence_system() {}
static inline void __nanosleep(unsigned) { emulated::yield(); }
static inline long long clock64() {
  static std::atomic<long long> ticks;
  return ticks += 1000;
}
static inline void cudaTriggerProgrammaticLaunchCompletion() {}
static inline void cudaGridDependencySynchronize() {}

/* Blocks of a cooperative launch run at the same time: these are atomic. */
template <typename T, typename F> T emulated_update(T *at, F change) {
  using bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  bits old = __atomic_load_n((bits *)at, __ATOMIC_SEQ_CST), made;
  do made = std::bit_cast<bits>(change(std::bit_cast<T>(old)));
  while (!__atomic_compare_exchange_n((bits *)at, &old, made, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return std::bit_cast<T>(old);
}
template <typename T> using emulated_same = std::type_identity_t<T>;
template <typename T> T atomicAdd(T *at, emulated_same<T> b) {
  return emulated_update(at, [=](T a) { return (T)(a + b); });
}
template <typename T> T atomicMin(T *at, emulated_same<T> b) {
  return emulated_update(at, [=](T a) { return b < a ? b : a; });
}
template <typename T> T atomicMax(T *at, emulated_same<T> b) {
  return emulated_update(at, [=](T a) { return a < b ? b : a; });
}
template <typename T> T atomicOr(T *at, emulated_same<T> b) {
  return emulated_update(at, [=](T a) { return (T)(a | b); });
}
template <typename T> T atomicAnd(T *at, emulated_same<T> b) {
  return emulated_update(at, [=](T a) { return (T)(a & b); });
}
template <typename T> T atomicExch(T *at, emulated_same<T> b) {
  return emulated_update(at, [=](T) { return b; });
}
template <typename T> T atomicCAS(T *at, emulated_same<T> from, emulated_same<T> to) {
  return emulated_update(at, [=](T a) { return a == from ? to : a; });
}

/* ---- loads and stores that name a cache ---- */

template <typename T> T __ldg(const T *at) { return *at; }
template <typename T> T __ldcg(const T *at) { return *at; }
template <typename T> T __ldcs(const T *at) { return *at; }
template <typename T> void __stcs(T *at, T value) { *at = value; }
template <typename T> void __stcg(T *at, T value) { *at = value; }

/* ---- numbers ---- */

static inline float __uint_as_float(unsigned a) { return std::bit_cast<float>(a); }
static inline unsigned __float_as_uint(float a) { return std::bit_cast<unsigned>(a); }
static inline float __int_as_float(int a) { return std::bit_cast<float>(a); }
static inline int __float_as_int(float a) { return std::bit_cast<int>(a); }
static inline double __longlong_as_double(long long a) { return std::bit_cast<double>(a); }
static inline long long __double_as_longlong(double a) { return std::bit_cast<long long>(a); }
static inline int __double2hiint(double a) { return (int)(std::bit_cast<uint64_t>(a) >> 32); }
static inline int __double2loint(double a) { return (int)std::bit_cast<uint64_t>(a); }
static inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>((uint64_t)(unsigned)high << 32 | (unsigned)low);
}
static inline int __ffs(int a) { return __builtin_ffs(a); }
static inline int __clz(int a) { return a ? __builtin_clz((unsigned)a) : 32; }
static inline int __clzll(long long a) { return a ? __builtin_clzll((unsigned long long)a) : 64; }
static inline int __popc(unsigned a) { return __builtin_popcount(a); }
static inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
static inline unsigned __brev(unsigned a) {
  unsigned out = 0;
  for (int k = 0; k < 32; k++) out |= (a >> k & 1) << (31 - k);
  return out;
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned which) {
  const uint64_t both = (uint64_t)b << 32 | a;
  unsigned out = 0;
  for (int i = 0; i < 4; i++) out |= (unsigned)(both >> 8 * (which >> 4 * i & 7) & 255) << 8 * i;
  return out;
}
static inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline float __fsqrt_rn(float a) { return std::sqrt(a); }
static inline double __dsqrt_rn(double a) { return std::sqrt(a); }
static inline double __drcp_rn(double a) { return 1 / a; }
static inline float __frcp_rn(float a) { return 1 / a; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline float __saturatef(float a) { return a > 0 ? a < 1 ? a : 1 : 0; } /* NaN: 0 */
/* To the nearest integer, the last one of the type beyond it; NaN: as the device, 0 or the least long long. */
template <typename I, typename R> static inline I emulated_round(R a) {
  const R most = (R)std::numeric_limits<I>::max(); /* rounded up */
  if (std::isnan(a)) return sizeof(I) == 8 ? std::numeric_limits<I>::min() : 0;
  return a >= most ? std::numeric_limits<I>::max() : a < -most ? std::numeric_limits<I>::min() : (I)std::nearbyint(a);
}
static inline int __float2int_rn(float a) { return emulated_round<int>(a); }
static inline long long __float2ll_rn(float a) { return emulated_round<long long>(a); }
static inline int __double2int_rn(double a) { return emulated_round<int>(a); }
static inline long long __double2ll_rn(double a) { return emulated_round<long long>(a); }

/* As CUDA's: of two numbers of which one is NaN, the other one. */
template <typename A, typename B, typename T = decltype(A() + B())> constexpr T min(A a, B b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmin((T)a, (T)b);
  return (T)b < (T)a ? (T)b : (T)a;
}
template <typename A, typename B, typename T = decltype(A() + B())> constexpr T max(A a, B b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmax((T)a, (T)b);
  return (T)a < (T)b ? (T)b : (T)a;
}
using std::abs;
using std::acos;
using std::atan;
using std::atan2;
using std::ceil;
using std::copysign;
using std::cos;
using std::erf;
using std::exp;
using std::exp2;
using std::expm1;
using std::fabs;
using std::floor;
using std::fma;
using std::fmod;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::log;
using std::log1p;
using std::log2;
using std::pow;
using std::sin;
using std::sqrt;
using std::tan;
/* Of these the C library's in double are wrong by up to 4 units in the last place, and the device's by 1 or 2. */
#define EMULATED_EXACT(name)                                                                                           \
  static inline double emulated_##name(double a) { return (double)std::name((long double)a); }                         \
  static inline float emulated_##name(float a) { return std::name(a); }
EMULATED_EXACT(cbrt)
EMULATED_EXACT(log10)
EMULATED_EXACT(tanh)
#define cbrt(a) emulated_cbrt(a)
#define log10(a) emulated_log10(a)
#define tanh(a) emulated_tanh(a)
static inline double rsqrt(double a) { return 1 / std::sqrt(a); }
static inline float rsqrt(float a) { return 1 / std::sqrt(a); }
static inline float rsqrtf(float a) { return 1 / std::sqrt(a); }
static inline double emulated_pi(double a) { return 3.14159265358979323846 * a; }
static inline double sinpi(double a) { return std::sin(emulated_pi(std::fmod(a, 2.0))); }
static inline double cospi(double a) { return std::cos(emulated_pi(std::fmod(a, 2.0))); }
static inline float sinpif(float a) { return (float)sinpi((double)a); }
static inline float cospif(float a) { return (float)cospi((double)a); }
static inline void sincospi(double a, double *s, double *c) { *s = sinpi(a), *c = cospi(a); }
static inline void sincospif(float a, float *s, float *c) { *s = sinpif(a), *c = cospif(a); }
static inline float __fdividef(float a, float b) { return a / b; }

#endif
