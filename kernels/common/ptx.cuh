/* Every instruction that device code names by PTX: approximations, asynchronous copies, barriers that count bytes. Each
 * operation has its plain form in words; tests/emulated/include/kernels/common/ptx.cuh has it in C++, for tests without
 * a GPU. The one exception to the rule is diffusion/cuda/dft.c, which writes transforms as PTX. */
#ifndef KERNELS_COMMON_PTX_CUH
#define KERNELS_COMMON_PTX_CUH

#ifndef __CUDACC_RTC__
#include <cuda_runtime.h>
#endif

/* ---- order of kernels ---- */

/* Allows the next kernel to start, and waits until all kernels before have ended and their results can be read. */
__device__ inline void after_previous() {
#if __CUDA_ARCH__ >= 900
#ifdef __CUDACC_RTC__
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#else
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
#endif
}

/* ---- approximations ---- */

/* name(a) by one instruction; subnormal numbers count as 0. */
#define DEVICE_APPROXIMATION(type, constraint, name, instruction)                                                      \
  __device__ __forceinline__ type name(type a) {                                                                       \
    type y;                                                                                                            \
    asm(instruction " %0, %1;" : "=" constraint(y) : constraint(a));                                                   \
    return y;                                                                                                          \
  }
DEVICE_APPROXIMATION(float, "f", approximate_rsqrt, "rsqrt.approx.ftz.f32") /* 1 / sqrtf(a), within 2^-22.9 */
DEVICE_APPROXIMATION(float, "f", approximate_inverse, "rcp.approx.ftz.f32") /* 1 / a, within 2^-23 */
DEVICE_APPROXIMATION(float, "f", approximate_sqrt, "sqrt.approx.ftz.f32")   /* sqrtf(a) */
DEVICE_APPROXIMATION(float, "f", approximate_exp2, "ex2.approx.ftz.f32")    /* exp2f(a), within 2^-22 */
DEVICE_APPROXIMATION(float, "f", approximate_log2, "lg2.approx.ftz.f32")    /* log2f(a), within 2^-22 */
DEVICE_APPROXIMATION(float, "f", approximate_cos, "cos.approx.ftz.f32")     /* cosf(a), within 2^-20.9 */
DEVICE_APPROXIMATION(float, "f", approximate_sin, "sin.approx.ftz.f32")     /* sinf(a), within 2^-20.9 */
/* Inverse roots from the upper 32 bits of `a`: relative error about 2^-20. */
DEVICE_APPROXIMATION(double, "d", approximate_rsqrt, "rsqrt.approx.ftz.f64")
DEVICE_APPROXIMATION(double, "d", approximate_inverse, "rcp.approx.ftz.f64")
#undef DEVICE_APPROXIMATION

/* a / b; 0 for b beyond 2^126. */
__device__ __forceinline__ float approximate_quotient(float a, float b) {
  float y;
  asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}

/* ---- operations that a compiler does not find ---- */

/* The greater one; NaN where one is. */
__device__ __forceinline__ float max_nan(float a, float b) {
#if __CUDA_ARCH__ >= 800
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
#else
  return b > a ? b : a;
#endif
}

/* Two numbers in fp16 in the halves of a word, rounded toward zero, so that what is beyond 65504 becomes 65504; or to
 * the nearest, so that it becomes infinite. And back. */
__device__ __forceinline__ unsigned halves_toward_zero(float low, float high) {
#if __CUDA_ARCH__ >= 800
  unsigned out;
  asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
#else
  unsigned short a, b;
  asm("cvt.rz.f16.f32 %0, %1;" : "=h"(a) : "f"(low));
  asm("cvt.rz.f16.f32 %0, %1;" : "=h"(b) : "f"(high));
  const unsigned out = (unsigned)b << 16 | a;
#endif
  return out;
}
__device__ __forceinline__ unsigned halves_near(float low, float high) {
  unsigned short a, b;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(a) : "f"(low));
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(b) : "f"(high));
  return (unsigned)b << 16 | a;
}
__device__ __forceinline__ void halves_read(unsigned word, float *low, float *high) {
  asm("{ .reg .f16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }"
      : "=f"(*low), "=f"(*high)
      : "r"(word));
}

/* a b, in halves, by one instruction: a compiler that sees the product splits it, and makes the half that it needs
 * again later on. Plain: (unsigned long long)a * b. */
__device__ __forceinline__ void wide_product(unsigned a, unsigned b, unsigned *low, unsigned *high) {
  asm("{ .reg .u64 p; mul.wide.u32 p, %2, %3; mov.b64 {%0, %1}, p; }" : "=r"(*low), "=r"(*high) : "r"(a), "r"(b));
}

/* Keeps the numbers in registers, instead of computing them again. Plain: nothing. */
__device__ __forceinline__ void keep_in_registers(unsigned &a, unsigned &b, unsigned &c, unsigned &d) {
  asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
}

/* From here on the compiler does not know the number, and computes again what depends on it, instead of keeping it in
 * registers. Plain: nothing. */
__device__ __forceinline__ void compute_again(int &a) { asm volatile("" : "+r"(a)); }

/* ---- asynchronous copies of a thread, from global to shared memory ---- */

__device__ __forceinline__ unsigned shared_address(const void *at) { return (unsigned)__cvta_generic_to_shared(at); }

#if __CUDA_ARCH__ >= 800
/* *to = *from, of 4, 8 or 16 bytes. copy_async_through: 16 bytes that are read once, past the L1 cache. */
template <typename T> __device__ __forceinline__ void copy_async(T *to, const T *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from), "n"(sizeof(T))
               : "memory");
}
template <typename T> __device__ __forceinline__ void copy_async_through(T *to, const T *from) {
  static_assert(sizeof(T) == 16, "bytes");
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
/* Closes a group of copies. */
__device__ __forceinline__ void commit_async() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/* Waits for all groups but the last `LEFT`. */
template <int LEFT> __device__ __forceinline__ void wait_async() {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}
#else
template <typename T> __device__ __forceinline__ void copy_async(T *to, const T *from) { *to = *from; }
template <typename T> __device__ __forceinline__ void copy_async_through(T *to, const T *from) { *to = *from; }
__device__ __forceinline__ void commit_async() {}
template <int LEFT> __device__ __forceinline__ void wait_async() {}
#endif

/* ---- bulk copies, which one thread starts (compute capability 9.0) ---- */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/* Barrier of 8 bytes in shared memory that counts arriving bytes. Addresses are in shared memory. */
__device__ __forceinline__ void arrival_init(unsigned barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void arrival_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/* Waits until all that was expected has arrived; parity: of the number of times that the barrier was used before. */
__device__ __forceinline__ void arrival_wait(unsigned barrier, unsigned parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again;\n"
               "}" ::"r"(barrier),
               "r"(parity)
               : "memory");
}
/* Makes earlier uses of shared memory visible to later bulk copies, and barriers to those of the cluster. */
__device__ __forceinline__ void fence_bulk() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void fence_arrivals() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/* Copies from global to shared memory, `bytes` a multiple of 16, counted by the barrier. */
__device__ __forceinline__ void bulk_read(unsigned to, const void *from, unsigned bytes, unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
/* Begins to bring `bytes`, a multiple of 16, to the L2 cache. */
__device__ __forceinline__ void prefetch_bulk(const void *from, unsigned bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}
/* Copies from shared to global memory; bulk_commit closes a group of writes. */
__device__ __forceinline__ void bulk_write(void *to, unsigned from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes)
               : "memory");
}
/* A tile of a tensor of rank 3 from element x, y, z on; map: a CUtensorMap. */
__device__ __forceinline__ void tile_read(unsigned to, const void *map, int x, int y, int z, unsigned barrier) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
               "%4}], [%5];" ::"r"(to),
               "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
               : "memory");
}
__device__ __forceinline__ void tile_write(const void *map, int x, int y, int z, unsigned from) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map), "r"(x),
               "r"(y), "r"(z), "r"(from)
               : "memory");
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/* Waits until all groups but the last `LEFT` have read shared memory; until all have been written. */
template <int LEFT> __device__ __forceinline__ void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}
__device__ __forceinline__ void bulk_wait() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

/* Barrier of a cluster of thread blocks, in two halves: reads before it are done before others write after it. */
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("fence.acq_rel.cta;" ::: "memory");
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
/* Sends four floats to the same address in block `rank` of the cluster; its barrier at that address counts them. */
__device__ __forceinline__ void cluster_send(unsigned to, unsigned barrier, unsigned rank, float4 v) {
  unsigned there, counter;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(to), "r"(rank));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(counter) : "r"(barrier), "r"(rank));
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(there),
      "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w), "r"(counter)
      : "memory");
}
#endif
/* Four floats to an address in shared memory. */
__device__ __forceinline__ void shared_store(unsigned to, float4 v) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}

#endif
